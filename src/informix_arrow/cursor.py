"""The PEP 249 cursor, with ADBC's names for Arrow results."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from .dbapi_types import DescriptionItem, describe
from .exchange.client_files import refuse_in_pipeline
from .exchange.fetch import ReadOptions
from .exchange.many import execute_many
from .exchange.run import run
from .exchange.statement import Outcome
from .parameters import check_parameters, count_placeholders
from .result import Result
from .wire import errors
from .wire.errors import InterfaceError, NotSupportedError, ProgrammingError

if TYPE_CHECKING:
    from typing_extensions import Self

    from .connection import Connection

# Python rows are made in pieces of this many, so that a batch of Arrow rows does not become all objects at
# once.
_ROWS_AT_ONCE = 1024
# Small batches: the first row is there soon, and rows are consumed piece by piece.
_BATCH_BYTES = 1 << 20


class ArrowStream:
    """A cursor's rows as an Arrow stream, to be read once. Exports only; deliberately not iterable."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self._schema = schema
        self._batches: Iterator[pa.RecordBatch] | None = batches

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        return self._schema

    def reader(self) -> pa.RecordBatchReader:
        """Hand the rows to pyarrow. Raises ``InterfaceError`` the second time."""
        batches, self._batches = self._batches, None
        if batches is None:
            raise InterfaceError("the stream was read already: run the query again")
        return pa.RecordBatchReader.from_batches(self._schema, batches)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Export the rows, once."""
        return self.reader().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """Export the schema; the rows stay untouched."""
        return self._schema.__arrow_c_schema__()


class Cursor:
    """Runs statements and hands out their rows, as Python tuples or as Arrow (PEP 249).

    Made by :meth:`Connection.cursor`. Values are those of ``read_arrow(...).to_pylist()``. The
    ``fetch_arrow*``, ``fetch_record_batch``, ``fetch_df`` and ``fetch_polars`` methods are extensions by
    ADBC's names; they take the rows that were not fetched yet.

    Attributes
    ----------
    arraysize
        Rows that ``fetchmany()`` returns when not told otherwise, 1 by default.
    rowcount
        Rows inserted, updated or deleted by the last statement; -1 after a query and before any statement.
    lastrowid
        The SERIAL, SERIAL8 or BIGSERIAL value that the last INSERT made, None when it made none.
    lobs
        Large objects in the rows of the next ``execute``: ``"inline"`` (default) bytes and str, ``"skip"`` no
        such columns, ``"lazy"`` :class:`~informix_arrow.LargeObject` files that are read when they are asked
        (rows only, not Arrow).
    intervals, nested, char_padding, encoding_errors, integer_aggregates
        As in :meth:`Connection.query`, for the next ``execute``. Interval values are int months and
        ``timedelta``; with ``intervals = "month_day_nano"`` ``pyarrow.MonthDayNano``.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._result: Result | None = None
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._batch: pa.RecordBatch | None = None  # the batch that rows are being made of
        self._offset = 0  # its rows already made
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self._closed = False
        self.arraysize = 1
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.lobs: Literal["inline", "skip", "lazy"] = "inline"
        self.intervals: Literal["native", "month_day_nano"] = "native"
        self.nested: Literal["arrow", "text"] = "arrow"
        self.char_padding: Literal["strip", "keep"] = "strip"
        self.encoding_errors: Literal["strict", "replace", "binary"] | None = None
        self.integer_aggregates = False

    @property
    def connection(self) -> Connection:
        """The connection that this cursor works on."""
        return self._connection

    @property
    def description(self) -> tuple[DescriptionItem, ...] | None:
        """Seven items per result column, None when the last statement returned no rows (PEP 249). The type is
        a :class:`~informix_arrow.dbapi.SqlType`, whose text is the declaration: ``DECIMAL(8,2)``.
        """
        return None if self._result is None else describe(self._result.columns)

    def execute(self, operation: str, parameters: Sequence[object] | None = None) -> Self:
        """Run one statement and return the cursor itself.

        Parameters
        ----------
        operation
            Any one statement, with ``?`` for each parameter.
        parameters
            One value for each ``?``: int, float, Decimal, str, bool, date, datetime, time, timedelta,
            :class:`~informix_arrow.YearMonthInterval`, ``pyarrow.MonthDayNano`` or None. For BYTE, TEXT, BLOB
            and CLOB: bytes, bytearray, memoryview, str (TEXT, CLOB) or a file object open for reading, from
            where it stands to its end; contents are sent in pieces and never copied as a whole. For SET,
            MULTISET and LIST a list or set, for ROW a dict or tuple; or a str with the literal.

        Raises
        ------
        ProgrammingError
            The number of parameters is wrong (nothing was sent then), or the server refused the statement.
        DataError
            A value cannot be sent: out of range, of a kind that the target cannot hold, or with a character
            that the database's code set lacks. Also an error of a file object passes through; the row has no
            effect then.
        Error
            Whatever else the server reports, by the class of its error.

        Warns
        -----
        Warning
            The server cut text that was too long for its column, as it does in a database that is not ANSI.
        """
        values = check_parameters(operation, parameters)
        self._reset()
        connection = self._connection
        types = connection._type_options(
            lobs=self.lobs,
            intervals=self.intervals,
            nested=self.nested,
            char_padding=self.char_padding,
            encoding_errors=self.encoding_errors,
            integer_aggregates=self.integer_aggregates,
        )
        options = connection._read_options(ReadOptions(types, _BATCH_BYTES))
        done = connection._run(run(connection._session, operation, len(values), values, options))
        if isinstance(done, Outcome):
            self.rowcount = done.rows
            self.lastrowid = done.serial or None
            if done.cut:
                _warn_of_cut_text("")
        else:
            self._result = Result(connection, done)
            self._batches = self._result.batches()
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Sequence[object]]) -> Self:
        """Execute one statement for each row of parameters, pipelined: a few round trips, however many rows.

        ``seq_of_parameters`` is consumed while rows are sent; it may be a generator. ``rowcount`` becomes the
        sum over all rows. Values are those of :meth:`execute`; rows with BLOB and CLOB values cost a round
        trip each.

        Raises
        ------
        Error
            The server's error for the first row that failed, with ``row`` its 0-based number. All rows have
            been sent and answered by then, and *all rows that did not fail are in effect*, those after the
            failed one too: as part of the open transaction, which ``rollback()`` undoes, or for good with
            autocommit. ``rowcount`` tells how many. A row that cannot be sent at all (a value of a wrong
            type, a wrong number of values, an error of the iterable itself) ends the run: the rows before it
            are in effect then, those after it are not.

        Warns
        -----
        Warning
            As :meth:`execute`, once, with the number of rows that it happened to.
        """
        self._reset()
        connection, count = self._connection, count_placeholders(operation)
        refuse_in_pipeline(operation)
        outcome = connection._run(execute_many(connection._session, operation, count, seq_of_parameters))
        self.rowcount = outcome.rows
        self.lastrowid = outcome.serial or None
        if outcome.cut:
            _warn_of_cut_text(
                f" in {len(outcome.cut)} of {outcome.executed} rows, first in row {outcome.cut[0]}"
            )
        if outcome.errors:
            raise outcome.errors[0]
        return self

    def adbc_ingest(
        self,
        table_name: str,
        data: Any,
        mode: Literal["append", "create", "replace", "create_append"] = "create",
        *,
        catalog_name: str | None = None,
        db_schema_name: str | None = None,
        temporary: bool = False,
    ) -> int:
        """Load Arrow data into a table under ADBC's name; the number of rows loaded.

        The same as :meth:`Connection.write_arrow`, its transactions included. ``catalog_name`` is the database,
        ``db_schema_name`` the owner.
        """
        self._reset()
        owned = f"{db_schema_name}.{table_name}" if db_schema_name else table_name
        whole = f"{catalog_name}:{owned}" if catalog_name else owned
        report = self._connection.write_arrow(whole, data, mode=mode, temporary=temporary)
        self.rowcount = report.rows
        return report.rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, None when there is none."""
        self._require_result()
        row = next(self._rows, None)
        while row is None and self._more_rows():
            row = next(self._rows, None)
        return row

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next ``size`` rows (``arraysize`` by default), fewer at the end."""
        wanted = self.arraysize if size is None else size
        rows: list[tuple[Any, ...]] = []
        self._require_result()
        while len(rows) < wanted:
            before = len(rows)
            rows += itertools.islice(self._rows, wanted - before)
            if len(rows) == before and not self._more_rows():
                break
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        self._require_result()
        rows = list(self._rows)
        while self._more_rows():
            rows += self._rows
        return rows

    def fetch_arrow(self) -> ArrowStream:
        """The rows that are left as an object for Arrow consumers:
        ``polars.DataFrame(cur.fetch_arrow())``.
        """
        result = self._require_result()
        if result.lazy_columns:
            raise NotSupportedError(
                'large objects are lobs = "lazy" here, which has no place in Arrow columns: set cursor.lobs to '
                '"inline" or "skip" before execute(), or use connection.query()'
            )
        pieces = [] if self._batch is None else [self._rest_of_batch()]
        return ArrowStream(result.schema, itertools.chain(pieces, self._batches))

    def fetch_arrow_table(self) -> pa.Table:
        """The rows that are left as a ``pyarrow.Table``."""
        return self.fetch_record_batch().read_all()

    def fetch_record_batch(self) -> pa.RecordBatchReader:
        """The rows that are left as a ``pyarrow.RecordBatchReader``, streamed."""
        return self.fetch_arrow().reader()

    def fetch_df(self) -> Any:
        """The rows that are left as a ``pandas.DataFrame``; needs pandas."""
        return self.fetch_arrow_table().to_pandas()

    def fetch_polars(self) -> Any:
        """The rows that are left as a ``polars.DataFrame``; needs polars."""
        import polars

        return polars.DataFrame(self.fetch_arrow())

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Does nothing: the server converts parameters to the types that it needs (PEP 249 allows that)."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing: values are never cut (PEP 249 allows that)."""

    def close(self) -> None:
        """Release the statement and end the cursor's life; later use is an ``InterfaceError``."""
        if not self._closed:
            self._drop_result()
            self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed")

    def _reset(self) -> None:
        self._require_open()
        self._drop_result()
        self.rowcount = -1
        self.lastrowid = None

    def _drop_result(self) -> None:
        result, self._result = self._result, None
        self._batches, self._batch, self._rows = iter(()), None, iter(())
        if result is not None:
            result.close()

    def _require_result(self) -> Result:
        self._require_open()
        if self._result is None:
            raise ProgrammingError("there is nothing to fetch: the last statement returned no rows")
        return self._result

    def _rest_of_batch(self) -> pa.RecordBatch:
        """Take the part of the current batch of which no Python row was handed out."""
        assert self._batch is not None
        unread = sum(1 for _ in self._rows)
        rest = self._batch.slice(self._offset - unread)
        self._batch = None
        return rest

    def _more_rows(self) -> bool:
        """Make Python rows of the next piece; False at the end of the result."""
        if self._batch is None or self._offset >= self._batch.num_rows:
            self._batch, self._offset = next(self._batches, None), 0
            if self._batch is None:
                return False
        piece = self._batch.slice(self._offset, _ROWS_AT_ONCE)
        self._offset += piece.num_rows
        columns = [column.to_pylist() for column in piece.columns]
        if self._result is not None:
            for index, column in self._result.lazy_columns.items():
                columns[index] = self._result.open_lazily(column, columns[index])
        self._rows = zip(*columns, strict=True)
        return True

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows that are left."""
        return iter(self.fetchone, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _warn_of_cut_text(where: str) -> None:
    text = f"the server cut text that is too long for its column{where}"
    warnings.warn(text, errors.Warning, stacklevel=3)
