"""Prepare and release statements, and read the outcome of executions (SQLI section 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..rows.parameters import parse
from ..wire import messages as m
from ..wire.describe import StatementType
from ..wire.errors import ProtocolError
from ..wire.messages import Describe
from ..wire.primitives import encode_strictly
from .cancel import raise_if_cancelled
from .io_steps import Exchange
from .message_stream import encode_group
from .request_reply import Reply, flush, pipeline, queue, request
from .session import Session
from .statement_cache import PreparedStatement

WARNING_TRUNCATED = 0x01  # sqlwarn1 in the DONE of a statement that stores values (SQLI section 10)
_STORES = (StatementType.INSERT, StatementType.UPDATE, StatementType.UPDATE_ALL, StatementType.UPDATE_CURRENT)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a statement without rows."""

    rows: int = 0  # inserted, updated or deleted; 0 for other statements; -1 if the server did not report it
    serial: int = 0  # the last SERIAL, SERIAL8 or BIGSERIAL value that an INSERT generated; 0 = none
    truncated: bool = False  # text was too long for its column, and the server stored a part


def prepare(session: Session, sql: str, parameters: int) -> Exchange[Describe]:
    """Prepare and describe a statement that contains ``parameters`` placeholders.

    Raises the server's error, and ``DataError`` if the connection's code set lacks a character of ``sql``.
    """
    encode_strictly(sql, session.framing.encoding, "the statement")
    yield from raise_if_cancelled(session)
    reply = yield from request(session, (m.Prepare(parameters, sql), m.NDescribe(), m.WantDone()))
    reply.check(sql)
    if reply.describe is None:
        raise ProtocolError("The server's answer to a PREPARE holds no DESCRIBE.")
    return reply.describe


def acquire(
    session: Session, text: str, parameters: int, *, anew: bool = False
) -> Exchange[PreparedStatement]:
    """Return a prepared statement, from the session's cache if possible; ``anew`` always prepares it.

    Raises as :func:`prepare`. The statement must be passed to :func:`return_statement` or
    :func:`release_after`.
    """
    cached = session.statements.pop(text)
    if cached is not None:
        if not anew:
            return cached
        yield from release_statement(session, cached.statement_id)
    generation = session.statements.generation
    describe = yield from prepare(session, text, parameters)
    return PreparedStatement(text, describe, generation)


def return_statement(session: Session, prepared: PreparedStatement) -> Exchange[None]:
    """Keep a statement whose execution succeeded for the next time, or release it."""
    yield from release_all(session, session.statements.put(prepared, logged=session.logged))


def prepare_ahead(session: Session, statements: Iterable[str]) -> Exchange[None]:
    """Prepare statements in one round trip and keep them in the session's cache for their first execution.

    Skipped are those that are in the cache already, that the cache does not keep, and that the server refuses: their
    execution prepares them again and raises the error. No more are prepared than the cache has room for.
    """
    texts: dict[str, int] = {}
    for sql in statements:
        statement = parse(sql)
        if len(texts) < session.statements.size and session.statements.find(statement.text) is None:
            encode_strictly(statement.text, session.framing.encoding, "the statement")
            texts[statement.text] = statement.count
    if len(texts) < 2:
        return  # a single one is prepared by its execution
    yield from raise_if_cancelled(session)
    generation = session.statements.generation
    replies = yield from pipeline(
        session,
        [(m.Prepare(count, text), m.NDescribe(), m.WantDone()) for text, count in texts.items()],
    )
    for text, reply in zip(texts, replies, strict=True):
        if reply.error is None and reply.describe is not None:
            yield from return_statement(session, PreparedStatement(text, reply.describe, generation))


def outcome_of(reply: Reply, kind: int) -> Outcome:
    """Return the outcome of an execution of a statement of type ``kind`` from its reply."""
    done, inserted = reply.done, reply.insert_done
    serial = done.serial if done else 0
    if not serial and inserted:
        serial = inserted.serial8 or inserted.bigserial
    cut = done is not None and kind in _STORES and bool(done.warnings & WARNING_TRUNCATED)
    return Outcome(done.rows if done else -1, serial, cut)


def release_statement(session: Session, statement_id: int) -> Exchange[None]:
    """Send a RELEASE without waiting for its reply."""
    queue(session, encode_group(session, (m.Id(statement_id), m.Release())))
    yield from flush(session)


def release_all(session: Session, statement_ids: Iterable[int]) -> Exchange[None]:
    """Send a RELEASE for each statement, without waiting for the replies."""
    for statement_id in statement_ids:
        yield from release_statement(session, statement_id)


def release_after(session: Session, statement_id: int, error: BaseException) -> Exchange[None]:
    """Release a statement that failed with ``error``, if the session is still in step."""
    if session.usable_after(error):
        yield from release_statement(session, statement_id)
