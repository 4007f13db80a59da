"""AsyncCursor: PEP 249's cursor with ``await``, and ADBC's names for Arrow results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ..cursor_base import CursorBase, nothing_to_fetch
from ..exchange.fetch import ServerCursor
from ..exchange.statement import Outcome
from ..parameters import Values
from ..rows import NO_ROW, RowFactory, Rows
from ..wire.errors import NotSupportedError
from .result import AsyncResult

if TYPE_CHECKING:
    from typing_extensions import Self

    from .connection import AsyncConnection


class AsyncCursor(CursorBase):
    """Runs statements and hands out their rows, as Python objects or as Arrow. Made by
    :meth:`AsyncConnection.cursor`.

    As :class:`informix_arrow.Cursor`, whose attributes, parameters and errors are the same; what may wait for the
    server is awaited. An async iterator over the rows that are left. ``lobs = "lazy"`` is refused: its files read with
    blocking calls; ``"inline"`` streams the contents batch by batch.
    """

    def __init__(
        self,
        connection: AsyncConnection,
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
        self._result: AsyncResult | None = None
        self._batches: AsyncIterator[pa.RecordBatch] | None = None
        self._rows = Rows()

    @property
    def connection(self) -> AsyncConnection:
        """The connection that this cursor works on."""
        return self._connection

    @property
    def rownumber(self) -> int | None:
        """0-based number of the row that the next fetch gives; None without a result."""
        return None if self._description is None else self._rows.given

    async def execute(
        self, operation: str, parameters: Values | None = None, *, timeout: float | None = None
    ) -> Self:
        """Run one statement and return the cursor itself, as :meth:`informix_arrow.Cursor.execute`. A file object among
        the parameters is read while the event loop stands still.
        """
        await self._reset()
        self._refuse_lazy()
        self._timeout = timeout
        self._take(
            await self._connection._run(self._statement(self._connection, operation, parameters), timeout)
        )
        return self

    async def executemany(
        self,
        operation: str,
        seq_of_parameters: Iterable[Values],
        *,
        timeout: float | None = None,
    ) -> Self:
        """Execute one statement for each row of parameters, pipelined, as :meth:`informix_arrow.Cursor.executemany`.

        Rows are taken between awaits, while the event loop stands still. Cancelled, the rows that were sent are in
        effect, as part of the open transaction, or for good with autocommit.
        """
        await self._reset()
        exchange = self._many(self._connection, operation, seq_of_parameters)
        self._did_many(await self._connection._run(exchange, timeout))
        return self

    async def callproc(
        self, procname: str, parameters: Sequence[object] | None = None, *, timeout: float | None = None
    ) -> list[object]:
        """Call a procedure or function, as :meth:`informix_arrow.Cursor.callproc`; what it returns are rows."""
        await self._reset()
        self._refuse_lazy()
        self._timeout = timeout
        exchange = self._procedure(self._connection, procname, parameters)
        self._take(await self._connection._run(exchange, timeout))
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
    ) -> int:
        """Load Arrow data into a table under ADBC's name; the number of rows loaded. As
        :meth:`AsyncConnection.write_arrow`.
        """
        await self._reset()
        owned = f"{db_schema_name}.{table_name}" if db_schema_name else table_name
        whole = f"{catalog_name}:{owned}" if catalog_name else owned
        report = await self._connection.write_arrow(whole, data, mode=mode, temporary=temporary)
        self.rowcount = report.rows
        return report.rows

    async def fetchone(self) -> Any:
        """The next row, None when there is none."""
        row = await self._next_row()
        return None if row is NO_ROW else row

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """The next ``size`` rows (``arraysize`` by default), fewer at the end."""
        self._require_rows()
        wanted = self.arraysize if size is None else size
        rows = self._rows.take(wanted)
        while len(rows) < wanted and await self._more():
            rows += self._rows.take(wanted - len(rows))
        return rows

    async def fetchall(self) -> list[Any]:
        """All rows that are left."""
        self._require_rows()
        rows = self._rows.take()
        while await self._more():
            rows += self._rows.take()
        return rows

    async def fetch_arrow_table(self) -> pa.Table:
        """The rows that are left as a ``pyarrow.Table``."""
        cursor = self._require_rows()
        rest = self._rows.rest()
        batches = [] if rest is None else [rest]
        assert self._batches is not None
        batches += [batch async for batch in self._batches]
        return pa.Table.from_batches(batches, cursor.plan.schema)

    async def fetch_df(self) -> Any:
        """The rows that are left as a ``pandas.DataFrame``; needs pandas."""
        return (await self.fetch_arrow_table()).to_pandas()

    async def fetch_polars(self) -> Any:
        """The rows that are left as a ``polars.DataFrame``; needs polars."""
        import polars

        return polars.DataFrame(await self.fetch_arrow_table())

    async def close(self) -> None:
        """Release the statement and end the cursor's life; later use is an ``InterfaceError``."""
        if not self._closed:
            self._closed = True
            self._description = None
            await self._drop_result()

    def _refuse_lazy(self) -> None:
        if self.lobs == "lazy":
            raise NotSupportedError(
                'lobs = "lazy" makes files that block, which asyncio must not: use lobs = "inline", which streams the '
                "contents batch by batch"
            )

    async def _reset(self) -> None:
        self._forget()
        await self._drop_result()

    def _take(self, done: Outcome | ServerCursor) -> None:
        """Take what a statement did, or its result."""
        if isinstance(done, Outcome):
            self._did(done)
            return
        result = AsyncResult(self._connection, done, self._timeout)  # dropped when no row can be made
        self._describes(done)
        self._result, self._batches, self._rows = result, result.batches(), Rows(self._make)

    async def _drop_result(self) -> None:
        result, self._result = self._result, None
        self._batches, self._rows = None, Rows()
        if result is not None:
            await result.close()

    def _require_rows(self) -> ServerCursor:
        self._require_open()
        if self._result is None:
            raise nothing_to_fetch()
        return self._result._cursor

    async def _next_row(self) -> Any:
        """The next row, ``NO_ROW`` at the end."""
        self._require_rows()
        while (row := self._rows.one()) is NO_ROW and await self._more():
            pass
        return row

    async def _more(self) -> bool:
        """Take the next batch; False at the end of the result."""
        assert self._batches is not None
        batch = await anext(self._batches, None)
        if batch is None:
            return False
        self._rows.add(batch)
        return True

    def __aiter__(self) -> Self:
        """The cursor itself: an async iterator over the rows that are left."""
        return self

    async def __anext__(self) -> Any:
        row = await self._next_row()
        if row is NO_ROW:
            raise StopAsyncIteration
        return row

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception):
            await self.close()
        else:  # cancelled: leave without another wait; the result is dropped
            self._closed = True
            self._description = None
            self._abandon()

    def _abandon(self) -> None:
        """Drop the result without a wait."""
        self._result = self._batches = None
