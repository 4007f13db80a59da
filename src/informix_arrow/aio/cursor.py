"""AsyncCursor: PEP 249's cursor, with ADBC's names for Arrow results, for asyncio."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal

import pyarrow as pa

from ..core.async_flag import ASYNC
from ..core.connection_protocol import AsyncConnectionT
from ..core.cursor_base import CursorBase, no_result_error
from ..identifiers import exact_owner, quote_exactly
from ..operations.fetch import ServerCursor
from ..operations.prepare import Outcome
from ..operations.reexecute import SmallResult
from ..rows.parameters import Values
from ..rows.python_rows import NO_ROW, NO_ROWS, DecodedRows, RowBuffer, RowFactory, as_batch
from ..wire.assignment import Inexact
from ..wire.errors import InterfaceError, NotSupportedError, QueryCanceled
from .result import AsyncResult

if not ASYNC:
    from ..core.arrow_stream import ArrowStream as ArrowStream

if TYPE_CHECKING:
    from typing_extensions import Self


class AsyncCursor(CursorBase, Generic[AsyncConnectionT]):
    """Runs statements and hands out their rows, as Python objects or as Arrow (PEP 249).

    Made by :meth:`AsyncConnection.cursor`. Values are those of ``read_arrow(...).to_pylist()``. The ``fetch_arrow*``,
    ``fetch_record_batch``, ``fetch_df`` and ``fetch_polars`` methods are extensions by ADBC's names; they take the rows
    that were not fetched yet. An async iterator over the rows that are left.

    In asyncio ``lobs = "lazy"`` is refused: its files read with blocking calls; ``"inline"`` streams the contents batch
    by batch. A file object among the parameters is read, and the rows of :meth:`executemany` are taken, between awaits,
    while the event loop stands still.

    A result is closed on the server by COMMIT and ROLLBACK; rows that are not here yet cannot be fetched then. With
    ``withhold=True`` it outlives both.

    With a ``name``, rows are fetched one by one, each when it is asked for, so that ``UPDATE ... WHERE CURRENT OF
    name`` and ``DELETE ... WHERE CURRENT OF name``, executed by another cursor of the connection, mean the row that was
    fetched last. The query must say ``FOR UPDATE`` for that.
    """

    # Of the class until a statement sets them, as in CursorBase.
    _timeout: float | None = None
    _cursor: ServerCursor | SmallResult | None = None
    # Its rows: all of them, where they are few and here, or what makes batches of them.
    _complete_rows: DecodedRows | None = None
    _result: AsyncResult | None = None
    _batches: AsyncIterator[pa.RecordBatch | DecodedRows] | None = None
    _rows = NO_ROWS

    def __init__(
        self,
        connection: AsyncConnectionT,
        name: str = "",
        *,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
        scrollable: bool = False,
    ) -> None:
        self._connection = connection
        self.messages = []
        chosen = connection.row_factory if row_factory is None else row_factory
        if name or scrollable or withhold or chosen != "tuple":
            self._configure(name, scrollable, withhold, chosen)

    @property
    def connection(self) -> AsyncConnectionT:
        """The connection that this cursor works on."""
        return self._connection

    @property
    def rownumber(self) -> int | None:
        """0-based number of the row that the next fetch gives; None without a result (PEP 249)."""
        return None if self._description is None else self._rows.rows_returned

    async def execute(
        self,
        operation: str,
        parameters: Values | None = None,
        *,
        inexact: Inexact | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Run one statement and return the cursor itself.

        Parameters
        ----------
        operation
            Any one statement, with ``?`` for each parameter, or ``:1``, ``:2`` ..., or ``:name``.
        parameters
            One value for each placeholder, a mapping for ``:name``: int, float, Decimal, str, bool, date, datetime,
            time, timedelta, :class:`~informix_arrow.YearMonthInterval`, ``pyarrow.MonthDayNano`` or None. For BYTE,
            TEXT, BLOB and CLOB: bytes, bytearray, memoryview, str (TEXT, CLOB) or a file object open for reading, from
            where it stands to its end; contents are sent in pieces and never copied as a whole. For SET,
            MULTISET and LIST a list or set, for ROW a dict or tuple; or a str with the literal. Scalars of numpy,
            pyarrow and pandas stand for what they hold, a UUID for its text.
        inexact
            What becomes of digits that a column or argument has no room for, where a value is assigned to it as it is:
            ``"error"`` (a ``DataError``), ``"round"`` (halves away from zero) or ``"truncate"`` (toward zero). By
            default what the connection was opened with, which is ``"error"`` by default.

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
        await self._reset()
        if ASYNC:
            self._refuse_lazy()
        exchange = self._execute_exchange(self._connection, operation, parameters, inexact)
        self._timeout = timeout
        self._set_result(await self._connection._run(exchange, timeout))
        return self

    async def executemany(
        self,
        operation: str,
        seq_of_parameters: Iterable[Values],
        *,
        stop_on_error: bool = False,
        inexact: Inexact | None = None,
        timeout: float | None = None,
    ) -> Self:
        """Execute one statement for each row of parameters, pipelined: a few round trips, however many rows.

        ``seq_of_parameters`` is consumed while rows are sent; it may be a generator. ``rowcount`` becomes the
        sum over all rows. Values are those of :meth:`execute`; rows with BLOB and CLOB values cost a round
        trip each.

        Parameters
        ----------
        operation, seq_of_parameters
            The statement and its rows of values.
        stop_on_error
            False (default): every row that the server does not refuse goes in, then one error is raised for those
            that it did. True: the call ends with the first refused row, no row behind it goes in, and those before it
            stay. That is exact: in a transaction by a savepoint; with autocommit rows are sent one at a time then,
            which costs a round trip each.
        inexact
            As :meth:`execute`.
        timeout
            Seconds for the whole call. None (default): the connection's ``call_timeout``.

        Raises
        ------
        Error
            The server's error for the first row that it refused, with ``row`` its 0-based number. ``refused`` has the
            number and the codes of every refused row, ``rows`` tells which rows went in, and ``rowcount`` how many
            were changed: as part of the open transaction, which ``rollback()`` undoes, or for good with autocommit. A
            row that cannot be sent at all (a value of a wrong type, a wrong number of values, an error of the
            iterable itself) ends the call: the rows before it are in effect then, those after it are not.
        QueryCanceled, QueryTimeout
            The call was interrupted. In a transaction it was undone to its beginning: none of its rows is in effect
            and the transaction stays open. With autocommit ``rows`` says which ones are in effect: how many, where
            they are the first ones, else their numbers, from 0. At most some 50 ms of the server's work are on
            their way at a time, and a row that has begun.

        In asyncio, rows are taken between awaits, while the event loop stands still. A task that is cancelled meanwhile
        gets its ``CancelledError`` when the call was undone, in a transaction; with autocommit the rows that were sent
        are in effect.

        Warns
        -----
        Warning
            As :meth:`execute`, once, with the number of rows that it happened to.
        """
        await self._reset()
        exchange = self._executemany_exchange(
            self._connection, operation, seq_of_parameters, stop_on_error, inexact
        )
        try:
            self._set_many_outcome(await self._connection._run(exchange, timeout))
        except QueryCanceled as error:
            if error.rows is None and not self._connection.closed:
                error.rows = 0  # it was ended before its first row was sent
            raise
        return self

    async def callproc(
        self,
        procname: str,
        parameters: Sequence[object] | None = None,
        *,
        inexact: Inexact | None = None,
        timeout: float | None = None,
    ) -> list[object]:
        """Call a procedure or function; the parameters, which no routine changes. What it returns are rows, to be
        fetched; ``description`` is None when it returns nothing (PEP 249).

        ``procname`` is ``[database[@server]:][owner.]name``. The routine is called by EXECUTE PROCEDURE, and where the
        server knows no such procedure, by EXECUTE FUNCTION. Errors, parameters and ``inexact`` as :meth:`execute`.
        """
        await self._reset()
        if ASYNC:
            self._refuse_lazy()
        exchange = self._callproc_exchange(self._connection, procname, parameters, inexact)
        self._timeout = timeout
        self._set_result(await self._connection._run(exchange, timeout))
        return list(parameters or ())

    async def adbc_ingest(
        self,
        table_name: str,
        data: Any,
        mode: Literal["append", "create", "replace", "create_append"] = "create",
        *,
        catalog_name: str | None = None,
        db_schema_name: str | None = None,
        temporary: bool = False,
        inexact: Inexact | None = None,
    ) -> int:
        """Load Arrow data into a table under ADBC's name; the number of rows loaded.

        The same as :meth:`AsyncConnection.write_arrow`, its transactions included. ``catalog_name`` is the database,
        ``db_schema_name`` the owner, who is exact. Under DELIMIDENT the table's name is exact too; without it the
        server folds it to lower case.
        """
        await self._reset()
        whole = quote_exactly(table_name, self._connection._parameters.delimident)
        if db_schema_name:
            whole = f"{exact_owner(db_schema_name)}.{whole}"
        if catalog_name:
            whole = f"{catalog_name}:{whole}"
        report = await self._connection.write_arrow(
            whole, data, mode=mode, temporary=temporary, inexact=inexact
        )
        self.rowcount = report.rows
        return report.rows

    async def fetchone(self) -> Any:
        """The next row, None when there is none."""
        row = self._rows.next_row()
        if row is NO_ROW:  # as it is without a result and in a closed cursor, too
            row = await self._next_row()
        return None if row is NO_ROW else row

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """The next ``size`` rows (``arraysize`` by default), fewer at the end; ``InterfaceError`` for no number."""
        self._require_rows()
        wanted = self._number_of_rows(size)
        rows = self._rows.fetch(wanted)
        while len(rows) < wanted and await self._load_next_batch():
            rows += self._rows.fetch(wanted - len(rows))
        return rows

    async def fetchall(self) -> list[Any]:
        """All rows that are left."""
        if self._complete_rows is not None:  # nothing comes before it, and nothing after
            return self._rows.all_rows(self._pop_complete_rows())
        self._require_rows()
        rows = self._rows.fetch()
        while await self._load_next_batch():
            rows += self._rows.fetch()
        return rows

    if ASYNC:

        async def fetch_arrow_table(self) -> pa.Table:
            """The rows that are left as a ``pyarrow.Table``."""
            cursor = self._require_rows()
            rest = self._rows.remaining_batch()
            batches = [] if rest is None else [rest]
            if self._batches is not None:
                batches += [as_batch(batch) async for batch in self._batches]
            elif self._complete_rows is not None:
                batches.append(as_batch(self._pop_complete_rows()))
            return pa.Table.from_batches(batches, cursor.plan.schema)
    else:

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

    async def fetch_df(self) -> Any:
        """The rows that are left as a ``pandas.DataFrame``; needs pandas. A BIGINT column with NULLs becomes ``Int64``:
        pandas' own default, float64, has not all digits of it.
        """
        import pandas  # type: ignore[import-untyped]

        table = await self.fetch_arrow_table()
        frame = table.to_pandas()
        whole = {pa.int64(): pandas.Int64Dtype()}
        for number, column in enumerate(table.columns):
            if column.type in whole and column.null_count:
                frame.isetitem(number, column.to_pandas(types_mapper=whole.get))
        return frame

    async def fetch_polars(self) -> Any:
        """The rows that are left as a ``polars.DataFrame``; needs polars."""
        import polars

        if ASYNC:
            return polars.DataFrame(await self.fetch_arrow_table())
        else:
            return polars.DataFrame(self.fetch_arrow())

    if not ASYNC:

        def scroll(self, value: int, mode: str = "relative") -> None:
            """Refused: rows of this cursor come once, in order. ``connection.cursor(scrollable=True)`` has it."""
            self._require_rows()
            raise NotSupportedError(
                "this cursor reads forward only: make one with connection.cursor(scrollable=True) to scroll"
            )

    async def close(self) -> None:
        """Release the statement and end the cursor's life; later use is an ``InterfaceError``."""
        if not self._closed:
            self._closed = True
            self._description = None
            await self._drop_result()

    if ASYNC:

        def _refuse_lazy(self) -> None:
            if self.lobs == "lazy":
                raise NotSupportedError(
                    'lobs = "lazy" makes files that block, which asyncio must not: use lobs = "inline", which streams '
                    "the contents batch by batch"
                )

    async def _reset(self) -> None:
        self._reset_outcome()
        await self._drop_result()

    def _set_result(self, done: Outcome | ServerCursor | SmallResult) -> None:
        """Take what a statement did, or its result."""
        if isinstance(done, Outcome):
            self._set_outcome(done)
            return
        try:
            self._set_description(done)
        except BaseException:  # no row could be made
            if ASYNC:
                if not isinstance(done, SmallResult):
                    self._connection._session.orphans.append(done)  # closed before what comes next
            else:
                self._connection._run(done.close(self._connection._session))
            raise
        if isinstance(done, SmallResult):
            self._cursor = self._complete_rows = done
            self._rows = RowBuffer(self._make_row)
        else:
            self._open_result(done)

    def _open_result(self, cursor: ServerCursor) -> None:
        """Begin to read a result; how its rows are made is known."""
        self._cursor = cursor
        exact = self._decimal_converters(cursor)
        whole = None if exact else cursor.pop_all_rows()
        if whole is not None:
            self._complete_rows, self._rows = whole, RowBuffer(self._make_row)
            return
        self._result = result = AsyncResult(self._connection, cursor, self._timeout)
        if not ASYNC:
            lazy = {
                index: partial(result.open_lazily, column) for index, column in result.lazy_columns.items()
            }
            exact = {**lazy, **exact}
        self._batches = result.batches() if exact else result._decoded()
        self._rows = RowBuffer(self._make_row, exact)

    async def _drop_result(self) -> None:
        if self._cursor is None:
            return
        result, self._result = self._result, None
        self._cursor = self._complete_rows = self._batches = None
        self._rows = NO_ROWS
        if result is not None:
            await result.close()

    def _require_rows(self) -> ServerCursor | SmallResult:
        if self._closed:
            self._require_open()
        if self._cursor is None:
            raise no_result_error()
        return self._cursor

    def _pop_complete_rows(self) -> DecodedRows:
        """The rows that are all here. ``InterfaceError`` where the connection would not be asked for others either."""
        assert self._complete_rows is not None
        self._connection._runner.require_idle()
        whole, self._complete_rows = self._complete_rows, None
        return whole

    async def _next_row(self) -> Any:
        """The next row, ``NO_ROW`` at the end."""
        self._require_rows()
        while (row := self._rows.next_row()) is NO_ROW and await self._load_next_batch():
            pass
        return row

    async def _load_next_batch(self) -> bool:
        """Take the next batch; False at the end of the result."""
        if self._complete_rows is not None:
            self._rows.add(self._pop_complete_rows())
            return True
        if self._batches is None:
            self._connection._require_open()
            return False
        batch = await anext(self._batches, None)
        if batch is None:
            return False
        self._rows.add(batch)
        return True

    if not ASYNC:

        def _rest(self) -> Iterator[pa.RecordBatch]:
            """Batches of the rows of which none was handed out."""
            if self._complete_rows is not None:  # of which none was handed out
                return self._whole_batch(self._require_rows())
            rest = self._rows.remaining_batch()
            return itertools.chain(() if rest is None else (rest,), map(as_batch, self._batches or ()))

        def _whole_batch(self, cursor: ServerCursor | SmallResult) -> Iterator[pa.RecordBatch]:
            """Rows that are all here, when they are asked for; ``InterfaceError`` once there is another result."""
            if self._cursor is not cursor:
                raise InterfaceError("the result was closed while it was being read")
            if self._complete_rows is not None:
                yield as_batch(self._pop_complete_rows())

    def __aiter__(self) -> Self:
        """The cursor itself: an async iterator over the rows that are left."""
        return self

    async def __anext__(self) -> Any:
        row = self._rows.next_row()
        if row is NO_ROW and (row := await self._next_row()) is NO_ROW:
            raise StopAsyncIteration
        return row

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if ASYNC and error is not None and not isinstance(error, Exception):
            # Canceled: leave without another wait.
            self._closed = True
            self._description = None
            self._abandon()
            return
        await self.close()

    if ASYNC:

        def _abandon(self) -> None:
            """Drop the result without a wait."""
            self._cursor = self._complete_rows = self._result = self._batches = None
            self._rows = NO_ROWS
