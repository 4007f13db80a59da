"""``transaction()`` blocks: a transaction, or a savepoint in the open one (SQLI section 12, JDBC section 9)."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import messages as m
from ..wire.errors import Error, NotSupportedError, ProgrammingError
from .instrument import report
from .io_steps import Exchange
from .request_reply import request
from .session import Session, TransactionBlockState, TransactionStatus
from .transaction import after_undo, begin, commit_now, end


@dataclass(slots=True, eq=False)
class OpenBlock(TransactionBlockState):
    """A block created by :func:`begin_block`. It is undone if it is left in ``session.orphans``."""

    def close(self, session: Session) -> Exchange[None]:
        """Undo and end the block, unless that was done."""
        if self in session.blocks:
            yield from end_block(session, self, keep=False)


def begin_block(
    session: Session, savepoint: str | None = None, block: OpenBlock | None = None
) -> Exchange[OpenBlock]:
    """Begin a block: a transaction if none is open, else a savepoint, named ``savepoint`` if given.

    The caller may create ``block`` before, to keep a reference even if a signal discards the result.

    Raises ``NotSupportedError`` in a database without transactions, and the server's errors. No block is open
    then.
    """
    report(session, "begin")
    if session.database and not session.logged:
        raise _unlogged_error(session)
    if savepoint and savepoint.lower() in [(block.savepoint or "").lower() for block in session.blocks]:
        raise ProgrammingError(f"An outer transaction() block already uses the savepoint {savepoint!r}.")
    if session.transaction is TransactionStatus.IMPLICIT_READ:
        yield from commit_now(session)  # it is read-only; open results stay open
    block = block or OpenBlock(None)
    if session.transaction is TransactionStatus.OPEN or not (yield from begin(session)):
        if not session.logged:
            raise _unlogged_error(session)
        block.savepoint = savepoint or f"ifx_block_{len(session.blocks) + 1}"
        reply = yield from request(session, (m.SetSavepoint(block.savepoint),))
        reply.check()
    session.blocks.append(block)
    return block


def end_block(session: Session, block: TransactionBlockState, *, keep: bool) -> Exchange[None]:
    """End a block: keep its work, or undo it.

    The work of an outermost block is then permanent, or undone. That of an inner block is kept or undone with
    the block around it. A COMMIT that fails is rolled back before its error is raised.

    Raises ``ProgrammingError`` if a block whose work is to be kept was ended before, or if blocks inside it are
    still open. All of its work is undone then.
    """
    report(session, "savepoint" if block.savepoint else "commit" if keep else "rollback")
    if block not in session.blocks:
        if not keep:
            return  # undone by what ended it
        raise ProgrammingError(
            "This transaction() block was already ended by the block around it. Leave blocks in the "
            "reverse order."
        )
    at = session.blocks.index(block)
    nested = len(session.blocks) - at - 1
    del session.blocks[at:]
    if block.savepoint is None:
        yield from _end_transaction(session, keep=keep and not nested)
    elif keep and not nested:
        reply = yield from request(session, (m.ReleaseSavepoint(block.savepoint),))
        reply.check()
    else:
        reply = yield from request(session, (m.RollbackToSavepoint(block.savepoint),))
        reply.check()
        yield from after_undo(session)
        reply = yield from request(session, (m.ReleaseSavepoint(block.savepoint),))
        reply.check()
    if keep and nested:
        raise ProgrammingError(
            "A transaction() block was left while a block inside it was still open. Its work was rolled "
            "back. Leave blocks in the reverse order."
        )


def _end_transaction(session: Session, *, keep: bool) -> Exchange[None]:
    if not keep:
        yield from end(session, m.Rollback())
        return
    try:
        yield from end(session, m.Commit())
    except Error as error:
        if session.usable_after(error):
            yield from end(session, m.Rollback())
        raise


def _unlogged_error(session: Session) -> NotSupportedError:
    return NotSupportedError(
        f"The database {session.database} has no transaction log, so it has no transactions. Every "
        "statement is final at once. ondblog or ontape on the server adds a log."
    )
