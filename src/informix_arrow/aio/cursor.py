"""AsyncCursor: the cursor of PEP 249, with ADBC's names for Arrow results, for asyncio."""

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
from ..operations.describe_statement import StatementDescription, describe_statement
from ..operations.fetch import ServerCursor
from ..operations.prepare import Outcome
from ..operations.reexecute import SmallResult
from ..operations.transaction import begin_without_autocommit
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
    """Runs statements and returns their rows, as Python objects or as Arrow (PEP 249).

    Made by :meth:`AsyncConnection.cursor`. Values have the types of ``read_arrow(...).to_pylist()``. The methods
    ``fetch_arrow*``, ``fetch_record_batch``, ``fetch_df`` and ``fetch_polars`` are extensions with ADBC's names. They
    return the rows that were not fetched yet. The cursor is an async iterator over the remaining rows.

    In asyncio ``lobs = "lazy"`` is refused, because its files read with blocking calls. ``"inline"`` streams the
    contents batch by batch. A file object among the parameters, and the rows of :meth:`executemany`, are read between
    awaits, which blocks the event loop.

    COMMIT and ROLLBACK close a result on the server. Rows that were not received yet cannot be fetched after that. With
    ``withhold=True`` the result stays open.

    With a ``name``, each row is fetched only when you ask for it. ``UPDATE ... WHERE CURRENT OF name`` and ``DELETE
    ... WHERE CURRENT OF name``, executed by another cursor of the connection, then refer to the row that was fetched
    last. The query needs ``FOR UPDATE`` for that.
    """

    # Class attributes until a statement sets them, as in CursorBase.
    _timeout: float | None = None
    _cursor: ServerCursor | SmallResult | None = None
    # The rows of the result: all of them if they are few and already received, else an iterator over batches.
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
        """0-based number of the row that the next fetch returns, or None without a result (PEP 249)."""
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
            Any one statement. Placeholders are ``?``, or ``:1``, ``:2`` ..., or ``:name``.
        parameters
            One value for each placeholder, or a mapping for ``:name``: int, float, Decimal, str, bool, date, datetime,
            time, timedelta, :class:`~informix_arrow.YearMonthInterval`, ``pyarrow.MonthDayNano`` or None. For BYTE,
            TEXT, BLOB and CLOB: bytes, bytearray, memoryview, str (TEXT, CLOB) or a file object open for reading, which
            is read from its current position to its end. Contents are sent in pieces and never copied as a whole. For
            SET, MULTISET and LIST a list or set, for ROW a dict or tuple; or a str with the literal. Scalars of numpy,
            pyarrow and pandas are converted to Python values, a UUID to its text.
        inexact
            How to handle digits that do not fit the column or argument that a value is assigned to: ``"error"`` (a
            ``DataError``), ``"round"`` (halves away from zero) or ``"truncate"`` (toward zero). The default is the
            setting of the connection, which is ``"error"`` by default.

        Raises
        ------
        ProgrammingError
            The number of parameters is wrong (then nothing was sent), or the server refused the statement.
        DataError
            A value cannot be sent: it is out of range, has a type that the target cannot hold, or contains a character
            that the database's code set does not have. An error of a file object is passed on. The row then has no
            effect.
        Error
            Any other error that the server reports, with the class for its number.

        Warns
        -----
        Warning
            The server truncated text that was too long for its column. It does so in databases that are not ANSI.
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
        """Execute one statement for each row of parameters, pipelined: a few round trips for any number of rows.

        ``seq_of_parameters`` is consumed while rows are sent. It may be a generator. ``rowcount`` becomes the sum over
        all rows. Values may have the types that :meth:`execute` takes. Rows with BLOB and CLOB values cost a round trip
        each.

        Parameters
        ----------
        operation, seq_of_parameters
            The statement and its rows of values.
        stop_on_error
            False (default): every row that the server does not refuse is executed, then one error is raised for the
            refused rows. True: the call ends with the first refused row. No later row takes effect, and the earlier
            rows stay. In a transaction this is ensured by a savepoint. With autocommit the rows are sent one at a time,
            which costs a round trip each.
        inexact
            As in :meth:`execute`.
        timeout
            Seconds for the whole call. None (default): the connection's ``call_timeout``.

        Raises
        ------
        Error
            The server's error for the first row that it refused, with ``row`` its 0-based number. ``refused`` has the
            number and the codes of every refused row, ``rows`` the rows that took effect, and ``rowcount`` the number
            of changed rows. In a transaction ``rollback()`` can undo them. With autocommit they are final. A row that
            cannot be sent (a value of a wrong type, a wrong number of values, an error of the iterable itself) ends the
            call: the rows before it are in effect, those after it are not.
        QueryCanceled, QueryTimeout
            The call was interrupted. In a transaction the whole call was undone: none of its rows is in effect, and the
            transaction stays open. With autocommit ``rows`` says which rows are in effect: their number if they are the
            first ones, else their numbers, from 0. At the time of the interrupt at most about 50 ms of the server's
            work have been sent ahead, plus the row that is being executed.

        In asyncio, a slow iterable of rows blocks the event loop. If the task is cancelled in a transaction, the call
        is undone before ``CancelledError`` is raised. With autocommit the rows that were sent are in effect.

        Warns
        -----
        Warning
            As in :meth:`execute`, once, with the number of affected rows.
        """
        await self._reset()
        exchange = self._executemany_exchange(
            self._connection, operation, seq_of_parameters, stop_on_error, inexact
        )
        try:
            self._set_many_outcome(await self._connection._run(exchange, timeout))
        except QueryCanceled as error:
            if error.rows is None and not self._connection.closed:
                error.rows = 0  # it was cancelled before its first row was sent
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
        """Call a procedure or function. Return the parameters, which a routine never changes.

        Returned values are rows to be fetched. ``description`` is None if the routine returns nothing (PEP 249).

        ``procname`` is ``[database[@server]:][owner.]name``. The routine is called with EXECUTE PROCEDURE. If the
        server has no such procedure, EXECUTE FUNCTION is used. Errors, parameters and ``inexact`` are as in
        :meth:`execute`.
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
        timeout: float | None = None,
    ) -> int:
        """Load Arrow data into a table with ADBC's method. Return the number of rows loaded.

        The same as :meth:`AsyncConnection.write_arrow`, except for transactions. With autocommit off the load is part
        of the transaction, as ADBC requires: rows, and a new table, are permanent after :meth:`AsyncConnection.commit`.
        :meth:`AsyncConnection.rollback` undoes them. A failed load undoes itself, and the transaction stays open.

        ``catalog_name`` is the database, ``db_schema_name`` the owner, whose case is kept. Under DELIMIDENT the case of
        the table's name is kept too. Without it the server folds the name to lower case. ``timeout`` is the time of the
        load in seconds, as in :meth:`AsyncConnection.write_arrow`.
        """
        await self._reset()
        table = quote_exactly(table_name, self._connection._parameters.delimident)
        if db_schema_name:
            table = f"{exact_owner(db_schema_name)}.{table}"
        if catalog_name:
            table = f"{catalog_name}:{table}"
        await self._connection._run(begin_without_autocommit(self._connection._session))
        report = await self._connection.write_arrow(
            table, data, mode=mode, temporary=temporary, inexact=inexact, timeout=timeout
        )
        self.rowcount = report.rows
        return report.rows

    async def adbc_execute_schema(self, operation: str, parameters: object = None) -> pa.Schema:
        """Return the Arrow schema that a query would have, without executing it.

        ``parameters`` are ignored: the schema does not depend on them. The schema has no fields if the statement
        returns no rows. Raises the server's error if it refuses the statement.
        """
        rows = (await self._describe(operation)).rows
        return pa.schema([]) if rows is None else rows

    async def adbc_prepare(self, operation: str) -> pa.Schema:
        """Prepare a statement for its first execution, and return the Arrow schema of its parameters.

        There is one field for each ``?``, named after the column that the value is assigned to, "" otherwise. The type
        is null if the server does not report one.
        """
        return (await self._describe(operation)).parameters

    async def _describe(self, operation: str) -> StatementDescription:
        self._require_open()
        types = self._options(self._connection).types
        return await self._connection._run(describe_statement(self._connection._session, operation, types))

    async def fetchone(self) -> Any:
        """Return the next row, or None if there is none."""
        row = self._rows.next_row()
        if row is NO_ROW:  # also without a result, and in a closed cursor
            row = await self._next_row()
        return None if row is NO_ROW else row

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return the next ``size`` rows (``arraysize`` by default), or fewer at the end.

        Raises ``InterfaceError`` if ``size`` is not a valid number.
        """
        self._require_rows()
        count = self._number_of_rows(size)
        rows = self._rows.fetch(count)
        while len(rows) < count and await self._load_next_batch():
            rows += self._rows.fetch(count - len(rows))
        return rows

    async def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        if self._complete_rows is not None:  # these are all rows of the result
            return self._rows.all_rows(self._pop_complete_rows())
        self._require_rows()
        rows = self._rows.fetch()
        while await self._load_next_batch():
            rows += self._rows.fetch()
        return rows

    if ASYNC:

        async def fetch_arrow_table(self) -> pa.Table:
            """Return the remaining rows as a ``pyarrow.Table``."""
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
            """Return the remaining rows for an Arrow consumer: ``polars.DataFrame(cur.fetch_arrow())``."""
            cursor = self._require_rows()
            if cursor.lazy:
                raise NotSupportedError(
                    'lobs = "lazy" cannot be used with Arrow columns. Set cursor.lobs to "inline" or '
                    '"skip" before execute(), or use connection.query().'
                )
            return ArrowStream(cursor.plan.schema, self._rest())

        def fetch_arrow_table(self) -> pa.Table:
            """Return the remaining rows as a ``pyarrow.Table``."""
            return self.fetch_record_batch().read_all()

        def fetch_record_batch(self) -> pa.RecordBatchReader:
            """Return the remaining rows as a ``pyarrow.RecordBatchReader``, streamed."""
            return self.fetch_arrow().reader()

    async def fetch_df(self) -> Any:
        """Return the remaining rows as a ``pandas.DataFrame``. Requires pandas.

        A BIGINT column with NULLs becomes ``Int64``, because float64, pandas' default, cannot hold all its digits.
        """
        import pandas  # type: ignore[import-untyped]

        table = await self.fetch_arrow_table()
        frame = table.to_pandas()
        nullable = {pa.int64(): pandas.Int64Dtype()}
        for number, column in enumerate(table.columns):
            if column.type in nullable and column.null_count:
                frame.isetitem(number, column.to_pandas(types_mapper=nullable.get))
        return frame

    async def fetch_polars(self) -> Any:
        """Return the remaining rows as a ``polars.DataFrame``. Requires polars."""
        import polars

        if ASYNC:
            return polars.DataFrame(await self.fetch_arrow_table())
        else:
            return polars.DataFrame(self.fetch_arrow())

    async def nextset(self) -> None:
        """Discard the rows that are left and return None, because each statement has one result (PEP 249)."""
        self._require_open()
        self._description = None
        await self._drop_result()

    if not ASYNC:

        def scroll(self, value: int, mode: str = "relative") -> None:
            """Not supported: this cursor reads forward only. Use ``connection.cursor(scrollable=True)``."""
            self._require_rows()
            raise NotSupportedError(
                "This cursor can read forward only. Create one with connection.cursor(scrollable=True) to "
                "scroll."
            )

    async def close(self) -> None:
        """Release the statement and close the cursor. Any later use raises ``InterfaceError``."""
        if not self._closed:
            self._closed = True
            self._description = None
            await self._drop_result()

    if ASYNC:

        def _refuse_lazy(self) -> None:
            if self.lobs == "lazy":
                raise NotSupportedError(
                    'lobs = "lazy" returns files that block, which asyncio does not allow. Use lobs = '
                    '"inline", which streams the contents batch by batch.'
                )

    async def _reset(self) -> None:
        self._reset_outcome()
        await self._drop_result()

    def _set_result(self, outcome: Outcome | ServerCursor | SmallResult) -> None:
        """Store the outcome of a statement, or its result."""
        if isinstance(outcome, Outcome):
            self._set_outcome(outcome)
            return
        try:
            self._set_description(outcome)
        except BaseException:  # the row factory does not fit these columns
            if ASYNC:
                if not isinstance(outcome, SmallResult):
                    self._connection._session.orphans.append(outcome)  # closed before the next request
            else:
                self._connection._run(outcome.close(self._connection._session))
            raise
        if isinstance(outcome, SmallResult):
            self._cursor = self._complete_rows = outcome
            self._rows = RowBuffer(self._make_row)
        else:
            self._open_result(outcome)

    def _open_result(self, cursor: ServerCursor) -> None:
        """Start reading a result, whose description is already set."""
        self._cursor = cursor
        exact = self._decimal_converters(cursor)
        rows = None if exact else cursor.pop_all_rows()
        if rows is not None:
            self._complete_rows, self._rows = rows, RowBuffer(self._make_row)
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
        """Return the rows of a result that was received completely.

        Raises ``InterfaceError`` if the connection could not fetch rows now either.
        """
        assert self._complete_rows is not None
        self._connection._runner.require_idle()
        rows, self._complete_rows = self._complete_rows, None
        return rows

    async def _next_row(self) -> Any:
        """Return the next row, or ``NO_ROW`` at the end."""
        self._require_rows()
        while (row := self._rows.next_row()) is NO_ROW and await self._load_next_batch():
            pass
        return row

    async def _load_next_batch(self) -> bool:
        """Add the next batch to the rows. Return False at the end of the result."""
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
            """Iterate over the batches of the remaining rows."""
            if self._complete_rows is not None:  # no row was returned yet
                return self._whole_batch(self._require_rows())
            rest = self._rows.remaining_batch()
            return itertools.chain(() if rest is None else (rest,), map(as_batch, self._batches or ()))

        def _whole_batch(self, cursor: ServerCursor | SmallResult) -> Iterator[pa.RecordBatch]:
            """Yield the rows of a result that was received completely, once the consumer asks for them.

            Raises ``InterfaceError`` if the cursor has another result by then.
            """
            if self._cursor is not cursor:
                raise InterfaceError("The result was closed while it was being read.")
            if self._complete_rows is not None:
                yield as_batch(self._pop_complete_rows())

    def __aiter__(self) -> Self:
        """Return the cursor itself: an async iterator over the remaining rows."""
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
            # Cancelled: leave without waiting again.
            self._closed = True
            self._description = None
            self._abandon()
            return
        await self.close()

    if ASYNC:

        def _abandon(self) -> None:
            """Drop the result without waiting."""
            self._cursor = self._complete_rows = self._result = self._batches = None
            self._rows = NO_ROWS
