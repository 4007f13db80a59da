"""The PEP 249 cursor, with ADBC's names for Arrow results."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from .cursor_base import CursorBase, nothing_to_fetch
from .exchange.fetch import ServerCursor
from .exchange.statement import Outcome
from .parameters import Values
from .result import Result
from .rows import NO_ROW, RowFactory, Rows
from .wire.errors import InterfaceError, NotSupportedError

if TYPE_CHECKING:
    from typing_extensions import Self

    from .connection import Connection


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


class Cursor(CursorBase):
    """Runs statements and hands out their rows, as Python objects or as Arrow (PEP 249).

    Made by :meth:`Connection.cursor`. Values are those of ``read_arrow(...).to_pylist()``. The
    ``fetch_arrow*``, ``fetch_record_batch``, ``fetch_df`` and ``fetch_polars`` methods are extensions by
    ADBC's names; they take the rows that were not fetched yet. An iterator over the rows that are left.

    A result is closed on the server by COMMIT and ROLLBACK; rows that are not here yet cannot be fetched then. With
    ``withhold=True`` it outlives both.

    With a ``name``, rows are fetched one by one, each when it is asked for, so that ``UPDATE ... WHERE CURRENT OF
    name`` and ``DELETE ... WHERE CURRENT OF name``, executed by another cursor of the connection, mean the row that was
    fetched last. The query must say ``FOR UPDATE`` for that.
    """

    def __init__(
        self,
        connection: Connection,
        name: str = "",
        *,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
        scrollable: bool = False,
    ) -> None:
        chosen = connection.row_factory if row_factory is None else row_factory
        super().__init__(name, scrollable=scrollable, withhold=withhold, row_factory=chosen)
        self._connection = connection
        self._timeout: float | None = None
        self._result: Result | None = None
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._rows = Rows()

    @property
    def connection(self) -> Connection:
        """The connection that this cursor works on."""
        return self._connection

    @property
    def rownumber(self) -> int | None:
        """0-based number of the row that the next fetch gives; None without a result (PEP 249)."""
        return None if self._description is None else self._rows.given

    def execute(
        self, operation: str, parameters: Values | None = None, *, timeout: float | None = None
    ) -> Self:
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
        self._reset()
        exchange = self._statement(self._connection, operation, parameters)
        self._timeout = timeout
        self._take(self._connection._run(exchange, timeout))
        return self

    def executemany(
        self,
        operation: str,
        seq_of_parameters: Iterable[Values],
        *,
        timeout: float | None = None,
    ) -> Self:
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
        exchange = self._many(self._connection, operation, seq_of_parameters)
        self._did_many(self._connection._run(exchange, timeout))
        return self

    def callproc(
        self, procname: str, parameters: Sequence[object] | None = None, *, timeout: float | None = None
    ) -> list[object]:
        """Call a procedure or function; the parameters, which no routine changes. What it returns are rows, to be
        fetched; ``description`` is None when it returns nothing (PEP 249).

        ``procname`` is ``[database[@server]:][owner.]name``. The routine is called by EXECUTE PROCEDURE, and where the
        server knows no such procedure, by EXECUTE FUNCTION. Errors and parameters as :meth:`execute`.
        """
        self._reset()
        exchange = self._procedure(self._connection, procname, parameters)
        self._timeout = timeout
        self._take(self._connection._run(exchange, timeout))
        return list(parameters or ())

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

    def fetchone(self) -> Any:
        """The next row, None when there is none."""
        row = self._rows.one()
        if row is NO_ROW:  # as it is without a result and in a closed cursor, too
            row = self._next_row()
        return None if row is NO_ROW else row

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """The next ``size`` rows (``arraysize`` by default), fewer at the end."""
        self._require_rows()
        wanted = self.arraysize if size is None else size
        rows = self._rows.take(wanted)
        while len(rows) < wanted and self._more():
            rows += self._rows.take(wanted - len(rows))
        return rows

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        self._require_rows()
        rows = self._rows.take()
        while self._more():
            rows += self._rows.take()
        return rows

    def fetch_arrow(self) -> ArrowStream:
        """The rows that are left as an object for Arrow consumers:
        ``polars.DataFrame(cur.fetch_arrow())``.
        """
        cursor = self._require_rows()
        if cursor.lazy:
            raise NotSupportedError(
                'large objects are lobs = "lazy" here, which has no place in Arrow columns: set cursor.lobs to '
                '"inline" or "skip" before execute(), or use connection.query()'
            )
        return ArrowStream(cursor.plan.schema, self._rest())

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

    def scroll(self, value: int, mode: str = "relative") -> None:
        """Refused: rows of this cursor come once, in order. ``connection.cursor(scrollable=True)`` has it."""
        self._require_rows()
        raise NotSupportedError(
            "this cursor reads forward only: make one with connection.cursor(scrollable=True) to scroll"
        )

    def close(self) -> None:
        """Release the statement and end the cursor's life; later use is an ``InterfaceError``."""
        if not self._closed:
            self._drop_result()
            self._description = None
            self._closed = True

    def _reset(self) -> None:
        self._forget()
        self._drop_result()

    def _take(self, done: Outcome | ServerCursor) -> None:
        """Take what a statement did, or its result."""
        if isinstance(done, Outcome):
            self._did(done)
            return
        try:
            self._describes(done)
        except BaseException:  # no row could be made
            self._connection._run(done.close(self._connection._session))
            raise
        self._open(done)

    def _open(self, cursor: ServerCursor) -> None:
        """Begin to read a result; how its rows are made is known."""
        self._result = result = Result(self._connection, cursor, self._timeout)
        lazy = {index: partial(result.open_lazily, column) for index, column in result.lazy_columns.items()}
        self._batches, self._rows = result.batches(), Rows(self._make, lazy)

    def _drop_result(self) -> None:
        result, self._result = self._result, None
        self._batches, self._rows = iter(()), Rows()
        if result is not None:
            result.close()

    def _require_rows(self) -> ServerCursor:
        self._require_open()
        if self._result is None:
            raise nothing_to_fetch()
        return self._result._cursor

    def _next_row(self) -> Any:
        """The next row, ``NO_ROW`` at the end."""
        self._require_rows()
        while (row := self._rows.one()) is NO_ROW and self._more():
            pass
        return row

    def _more(self) -> bool:
        """Take the next batch; False at the end of the result."""
        batch = next(self._batches, None)
        if batch is None:
            return False
        self._rows.add(batch)
        return True

    def _rest(self) -> Iterator[pa.RecordBatch]:
        """Batches of the rows of which none was handed out."""
        rest = self._rows.rest()
        return itertools.chain(() if rest is None else (rest,), self._batches)

    def __iter__(self) -> Self:
        """The cursor itself: an iterator over the rows that are left."""
        return self

    def __next__(self) -> Any:
        row = self._rows.one()
        if row is NO_ROW and (row := self._next_row()) is NO_ROW:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
