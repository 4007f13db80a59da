"""TransactionState: the common part of ``transaction()`` blocks, and the exception that undoes one."""

from __future__ import annotations

from ..operations.session import Session
from ..operations.transaction_blocks import OpenBlock
from ..wire.errors import InterfaceError


class Rollback(Exception):
    """Raise this in a ``transaction()`` block to undo the block's work and continue after it, without an error::

        with conn.transaction():
            ...
            if nothing_to_do:
                raise Rollback

    ``Rollback(block)`` undoes the blocks up to and including ``block``, the object returned by its ``with``.
    """

    def __init__(self, block: TransactionState | None = None) -> None:
        super().__init__("rolled back" if block is None else f"rolled back up to {block!r}")
        self.block = block


class TransactionState:
    """The state of a block, blocking or asyncio."""

    _entered: tuple[Session, OpenBlock] | None = None  # set when the operation that begins it is created

    def __init__(self, savepoint_name: str | None, force_rollback: bool) -> None:
        if savepoint_name is not None and (not isinstance(savepoint_name, str) or not savepoint_name):
            raise InterfaceError(f"savepoint_name must be a name, got {savepoint_name!r}.")
        self._requested_savepoint = savepoint_name
        self._force_rollback = force_rollback
        self._block: OpenBlock | None = None
        self._ended = False

    @property
    def savepoint_name(self) -> str | None:
        """The savepoint of the block; None for a transaction of its own, and before the block was entered."""
        return None if self._block is None else self._block.savepoint

    def _enter(self, session: Session) -> tuple[str | None, OpenBlock]:
        """Return the name of the savepoint and the block to begin."""
        if self._block is not None:
            raise InterfaceError("A transaction() block can be entered only once. Create another one.")
        block = OpenBlock(None)
        self._entered = session, block
        return self._requested_savepoint, block

    def _leave(self, error: BaseException | None) -> tuple[OpenBlock, bool]:
        """Return the block to end, and whether its work is to be kept."""
        assert self._block is not None
        self._ended = True
        return self._block, error is None and not self._force_rollback

    def _abandon(self) -> None:
        """Undo the block, if it is still open, before the connection's next statement."""
        if self._entered is not None:
            session, block = self._entered
            if block in session.blocks:
                session.orphans.append(block)

    def __del__(self) -> None:
        # A signal may strike just before ``with`` calls __exit__(), so that nothing else ends the block.
        self._abandon()

    def _suppresses(self, error: BaseException | None) -> bool:
        """Return whether the block suppresses the error."""
        return isinstance(error, Rollback) and error.block in (None, self)

    def _keeps_own_error(self, error: BaseException | None, lost: bool) -> bool:
        """Return whether the block's own exception is raised instead of the one raised by ending the block.

        It is if the connection was lost: the server then undoes the work, which was to be undone.
        """
        return lost and error is not None and not self._suppresses(error)

    def __repr__(self) -> str:
        kind = f"savepoint {self.savepoint_name}" if self.savepoint_name else "transaction"
        state = "over" if self._ended else "open" if self._block is not None else "not begun"
        return f"<informix_arrow transaction() block: {kind}, {state}>"
