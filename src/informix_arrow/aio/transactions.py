"""Transaction blocks, ``async with conn.transaction():``, which can be nested."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Generic

from ..core.connection_protocol import AsyncConnectionT
from ..core.transaction_state import Rollback, TransactionState
from ..operations.transaction_blocks import begin_block, end_block
from ..wire.errors import OperationalError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AsyncTransactionBlock", "Rollback"]


class AsyncTransactionBlock(TransactionState, Generic[AsyncConnectionT]):
    """One ``async with conn.transaction():`` block. Made by :meth:`AsyncConnection.transaction`."""

    def __init__(
        self, connection: AsyncConnectionT, savepoint_name: str | None, force_rollback: bool
    ) -> None:
        super().__init__(savepoint_name, force_rollback)
        self._connection = connection

    @property
    def connection(self) -> AsyncConnectionT:
        """The connection of the block."""
        return self._connection

    async def __aenter__(self) -> Self:
        connection = self._connection
        connection._require_open()
        session = connection._session
        name, block = self._enter(session)
        try:
            self._block = await connection._run(begin_block(session, name, block))
        except BaseException:  # also of a signal, after the server's reply
            self._abandon()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        connection = self._connection
        try:
            block, keep = self._leave(error)
            if error is None or not connection.closed:  # a lost connection is rolled back by the server
                await connection._run(end_block(connection._session, block, keep=keep))
        except BaseException as failure:
            self._abandon()
            if not isinstance(failure, OperationalError) or not self._keeps_own_error(
                error, connection.closed
            ):
                raise
        return self._suppresses(error)
