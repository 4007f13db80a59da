"""What a ``transaction()`` block is apart from waiting, and the exception that ends one without an error."""

from __future__ import annotations

from ..operations.session import Session
from ..operations.transaction_blocks import OpenBlock
from ..wire.errors import InterfaceError


class Rollback(Exception):
    """Raise it in a ``transaction()`` block to undo the block's work and go on behind it, without an error::

        with conn.transaction():
            ...
            if nothing_to_do:
                raise Rollback

    ``Rollback(block)`` undoes the blocks up to and with ``block``, the object that its ``with`` gave.
    """

    def __init__(self, block: TransactionState | None = None) -> None:
        super().__init__("rolled back" if block is None else f"rolled back up to {block!r}")
        self.block = block


class TransactionState:
    """What a block is, blocking or asynchronous."""

    _entered: tuple[Session, OpenBlock] | None = None  # where the server was asked to begin it

    def __init__(self, savepoint_name: str | None, force_rollback: bool) -> None:
        if savepoint_name is not None and (not isinstance(savepoint_name, str) or not savepoint_name):
            raise InterfaceError(f"savepoint_name must be a name, got {savepoint_name!r}")
        self._requested_savepoint = savepoint_name
        self._force_rollback = force_rollback
        self._block: OpenBlock | None = None
        self._ended = False

    @property
    def savepoint_name(self) -> str | None:
        """The savepoint that the block is; None for a transaction of its own, and before the block was entered."""
        return None if self._block is None else self._block.savepoint

    def _enter(self, session: Session) -> tuple[str | None, OpenBlock]:
        """The name to begin with, and what to begin."""
        if self._block is not None:
            raise InterfaceError("a transaction() block can be entered once: make a new one")
        block = OpenBlock(None)
        self._entered = session, block
        return self._requested_savepoint, block

    def _leave(self, error: BaseException | None) -> tuple[OpenBlock, bool]:
        """What to end, and whether its work is to be kept."""
        assert self._block is not None
        self._ended = True
        return self._block, error is None and not self._force_rollback

    def _abandon(self) -> None:
        """If it is open still, it is undone before the connection's next statement."""
        if self._entered is not None:
            session, block = self._entered
            if block in session.blocks:
                session.orphans.append(block)

    def __del__(self) -> None:
        # A signal that strikes where ``with`` is about to call us leaves nobody to end the block.
        self._abandon()

    def _suppresses(self, error: BaseException | None) -> bool:
        """Whether the error ends with the block."""
        return isinstance(error, Rollback) and error.block in (None, self)

    def _keeps_own_error(self, error: BaseException | None, lost: bool) -> bool:
        """Whether the block's own exception says more than the one that ending the block has raised: the connection
        was lost then, so the server undoes the work, which was to be undone."""
        return lost and error is not None and not self._suppresses(error)

    def __repr__(self) -> str:
        kind = f"savepoint {self.savepoint_name}" if self.savepoint_name else "transaction"
        state = "over" if self._ended else "open" if self._block is not None else "not begun"
        return f"<informix_arrow transaction() block: {kind}, {state}>"
