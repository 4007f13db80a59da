"""AsyncResult: the rows of one query as a stream of Arrow record batches, for asyncio."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..exchange.batches import Batches
from ..exchange.fetch import ServerCursor
from ..wire.describe import Column

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from typing_extensions import Self

    from .connection import AsyncConnection


class AsyncResult:
    """The rows of one query, streamed, to be read once. Made by :meth:`AsyncConnection.query`.

    ``async for batch in result.batches()``, or ``await result.read_all()``. Several results of one connection may be
    read in turns, also by several tasks. Everything else is as with :class:`informix_arrow.Result`.

    When a task is cancelled while it reads, the rows that were on their way to it are lost: the result is over, and
    reading on is an ``InterfaceError``. The connection stays usable.
    """

    def __init__(
        self, connection: AsyncConnection, cursor: ServerCursor, timeout: float | None = None
    ) -> None:
        self._connection = connection
        self._cursor = cursor
        self._timeout = timeout  # seconds for each batch
        self._rows = Batches(cursor)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema: known at once, the same for every batch."""
        return self._rows.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them; those left out are missing."""
        return self._rows.columns

    def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Iterate over the record batches with ``async for``; errors as :meth:`informix_arrow.Result.batches`."""
        self._rows.take()
        return _Reader(self)

    async def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors as :meth:`batches`."""
        return pa.Table.from_batches([batch async for batch in self.batches()], self.schema)

    async def close(self) -> None:
        """Drop the rows that were not read and release the statement. May be called again."""
        if self._rows.closed:
            return
        self._rows.closed = self._rows.taken = True
        if not self._cursor.released and not self._connection.closed:
            try:
                await self._connection._run(self._rows.close(self._connection._session))
            except BaseException:
                self._rows.abandon(self._connection._session)
                raise

    def __arrow_c_schema__(self) -> Any:
        """Export the schema; the rows stay untouched."""
        return self.schema.__arrow_c_schema__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception):
            await self.close()
        else:  # cancelled: leave without another wait
            self._rows.closed = self._rows.taken = True
            self._rows.abandon(self._connection._session)

    def __del__(self) -> None:
        self._rows.abandon(self._connection._session)

    def __repr__(self) -> str:
        rows = self._rows
        state = "closed" if rows.closed else "read" if rows.taken else "unread"
        return f"<informix_arrow.aio.AsyncResult of {len(self.columns)} columns, {state}>"


class _Reader:
    """Iterates over the batches of a result, one exchange each.

    No async generator: those have to be closed by the event loop when somebody leaves a loop half way.
    """

    def __init__(self, result: AsyncResult) -> None:
        self._result = result

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> pa.RecordBatch:
        result = self._result
        connection, rows = result._connection, result._rows
        try:
            if rows.all_here:
                batch = connection._link.run_here(rows.next(connection._session))
            else:
                batch = await connection._run(rows.next(connection._session), result._timeout)
        except BaseException as error:
            rows.fail(error)
            raise
        if batch is None:
            raise StopAsyncIteration
        return batch

    def __del__(self) -> None:
        self._result._rows.abandon(self._result._connection._session)
