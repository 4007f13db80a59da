"""One statement with many parameter rows, pipelined.

Every row is a group of its own, ``ID BIND EXECUTE EOT``, and gets a reply of its own; a row that fails
neither stops nor poisons the later ones (SQLI section 11). Groups leave in chunks, one chunk ahead of the
replies being read, and the transport takes replies in while it sends. So the server always finds a next row
to work on, unread replies stay bounded by two chunks, and neither side can end up waiting for the other to
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..parameters import check_row
from ..wire import messages as m
from ..wire.describe import Describe
from ..wire.errors import Error, InterfaceError, ProgrammingError
from ..wire.values import bind_value
from .session import Session, error_of, read_reply, settle
from .statement import outcome_of, prepare, release_after, release_statement
from .steps import Exchange, Send
from .transaction import begin_if_needed, track

CHUNK_ROWS = 1024  # rows in one send
CHUNK_BYTES = 256 << 10  # a chunk is closed early beyond this many bytes
# Room kept for each unread reply, bytes; one has about 60, or 20 and a name when it is an error.
REPLY_BYTES = 256


@dataclass(slots=True)
class ManyOutcome:
    """What the executions did, all replies read."""

    executed: int = 0  # rows sent and answered, failed ones included
    rows: int = 0  # rows inserted, updated or deleted, summed over the executions that succeeded
    serial: int = 0  # as in Outcome, of the last execution that made one
    cut: list[int] = field(default_factory=list)  # numbers of the rows of which text was cut, in order
    errors: list[Error] = field(default_factory=list)  # one per failed row, in order; ``row`` is set


def execute_many(
    session: Session, sql: str, parameters: int, rows: Iterable[Sequence[object]]
) -> Exchange[ManyOutcome]:
    """Execute ``sql`` once for each of ``rows``, consuming them as it goes.

    A row that cannot be bound, and an error of the iterable itself, ends the run: the rows before it are
    sent, their replies read, then the error is raised (with ``row`` set if it is one of ours). The server's
    errors are collected in the outcome instead. Raises ``InterfaceError`` at the call, before the exchange
    begins, when ``rows`` is no iterable of rows.
    """
    if isinstance(rows, Mapping | str | bytes):
        raise InterfaceError(f"executemany() takes rows of parameters, got {type(rows).__name__}")
    try:
        source = iter(rows)
    except TypeError:
        raise InterfaceError(
            f"executemany() takes an iterable of rows of parameters, got {type(rows).__name__}"
        ) from None
    return _execute_many(session, sql, parameters, source)


def _execute_many(
    session: Session, sql: str, parameters: int, rows: Iterator[Sequence[object]]
) -> Exchange[ManyOutcome]:
    describe = yield from prepare(session, sql, parameters)
    statement_id = describe.statement_id
    try:
        if describe.has_rows:
            raise ProgrammingError(
                "executemany() takes a statement without a result; run queries one at a time"
            )
        yield from begin_if_needed(session, describe.statement_type)
        outcome = yield from _pipeline(session, sql, parameters, describe, rows)
    except Exception as error:
        yield from release_after(session, statement_id, error)
        raise
    yield from release_statement(session, statement_id)
    yield from track(session, describe.statement_type)
    return outcome


def _pipeline(
    session: Session, sql: str, parameters: int, describe: Describe, rows: Iterator[Sequence[object]]
) -> Exchange[ManyOutcome]:
    statement_id, kind = describe.statement_id, describe.statement_type
    yield from settle(session)
    outcome = ManyOutcome()
    refused: list[Exception] = []
    before = 0  # replies owed to the chunk sent before the current one
    for data, count in _chunks(session, sql, parameters, statement_id, rows, refused):
        session.own += count
        yield from _send(session, data)
        yield from _collect(session, sql, kind, outcome, before)
        before = count
    yield from _collect(session, sql, kind, outcome, before)
    if refused:
        session.passed_on = refused[0]
        raise refused[0]
    return outcome


def _chunks(
    session: Session,
    sql: str,
    parameters: int,
    statement_id: int,
    rows: Iterator[Sequence[object]],
    refused: list[Exception],
) -> Iterator[tuple[bytes, int]]:
    """Encode groups into chunks; a row that cannot be encoded lands in ``refused`` and ends the chunks."""
    framing, encoding = session.framing, session.framing.encoding
    head = m.Id(statement_id).encode(framing)
    tail = m.Execute().encode(framing) + m.EndOfTurn().encode(framing)
    chunk, count = bytearray(), 0
    number = 0
    while True:
        try:
            row = next(rows)
            bound = tuple([bind_value(value, encoding) for value in check_row(sql, parameters, row)])
            binding = m.Bind(bound).encode(framing) if bound else b""
            chunk += head + binding + tail
        except StopIteration:
            break
        except Exception as error:  # noqa: BLE001 - raised again by _pipeline
            if isinstance(error, Error):
                error.row = number
            refused.append(error)
            break
        number += 1
        count += 1
        if count >= CHUNK_ROWS or len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk), count
            chunk, count = bytearray(), 0
    if count:
        yield bytes(chunk), count


def _send(session: Session, data: bytes) -> Exchange[None]:
    """Send a chunk, keeping what arrives meanwhile."""
    with session.buffer.room(session.own * REPLY_BYTES) as room:
        arrived = yield Send(data, room)
    session.buffer.end += arrived


def _collect(session: Session, sql: str, kind: int, outcome: ManyOutcome, replies: int) -> Exchange[None]:
    for _ in range(replies):
        reply = yield from read_reply(session)
        if reply.error is not None:
            error = error_of(reply.error, sql)
            error.row = outcome.executed
            outcome.errors.append(error)
        else:
            result = outcome_of(reply, kind)
            outcome.rows += result.rows
            outcome.serial = result.serial or outcome.serial
            if result.cut:
                outcome.cut.append(outcome.executed)
        outcome.executed += 1
