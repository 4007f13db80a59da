"""Read rows: a server cursor and the fetches that feed its decoder.

A fetch reply is a run of SQ_TUPLE, then SQ_DONE if the cursor is exhausted, then SQ_EOT. A reply without
SQ_DONE means that more rows follow. One without any tuple also ends the data, as do SQ_CLOSE and SQ_ERR 100
(SQLI section 7.5). The next NFETCH is sent as soon as the current reply is likely not the last, so that the
server and the network work while we decode. Over a distance several are on their way at a time
(:mod:`.fetch_window`). A surplus fetch gets DONE or -259 as its reply, which is ignored.

Results with large objects keep their cursor open until the contents were read: their descriptors are invalid
afterwards (SQLI section 14).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .._decode import FULL, NEED_MORE, OTHER, Decoder, skip_rows
from ..rows.python_rows import DecodedRows
from ..wire import messages as m
from ..wire.describe import Column, Plan
from ..wire.errors import DataError, Error, InterfaceError, NotSupportedError, ProtocolError
from ..wire.messages import Message
from ..wire.plan_ops import TypeOptions
from . import client_files
from .cancel import cancel_requested, canceled_error, raise_if_cancelled
from .cursor_session_state import CursorSessionState, restoring_groups, send_ignored_groups
from .fetch_window import FetchWindow
from .instrument import report, report_rows
from .io_steps import ConnectionLost, Exchange, Send
from .large_objects import ObjectReader
from .message_stream import (
    encode_group,
    next_message,
    receive,
    require_no_extra_data,
    server_error,
    server_exit_error,
    with_outbox,
)
from .receive_buffer import OBJECT_BYTES, reply_too_large
from .request_reply import drain_pending_replies, queue, request
from .result_description import ResultDescription
from .session import Session, TransactionStatus
from .statement_cache import PreparedStatement
from .transaction import commit_now

NO_MORE_ROWS = 100  # SQLCODE of "not found"

#: Seconds that the replies to fetches of a large window may take when their rows are no longer wanted.
DISCARD_SECONDS = 10.0

# Isolation levels that do not keep read rows locked; "" is the default of a database that is not ANSI.
LOCKLESS = ("", "DIRTY READ", "COMMITTED READ", "COMMITTED READ LAST COMMITTED")

_TUPLE, _DONE, _COST, _EOT = b"\x00\x0e", b"\x00\x0f", b"\x00\x37", b"\x00\x0c"

_HEADER, _LARGE_HEADER = 6, 8  # bytes of a tuple before its payload: tag, warnings, size


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of a read."""

    types: TypeOptions = field(default_factory=TypeOptions)
    batch_bytes: int = 16 << 20  # target size of one batch, bytes of Arrow buffers
    batch_rows: int = 1 << 20  # maximum rows of one batch
    fetch_bytes: int = 1 << 20  # bytes of tuples requested in one fetch
    with_hold: bool = False  # the cursor outlives COMMIT and ROLLBACK
    scroll: bool = False  # rows are requested by their number (scroll.py)
    name: str = ""  # of the cursor, for WHERE CURRENT OF: rows are then fetched one by one
    isolation: str = ""  # while the result is open: a key of dsn.ISOLATIONS; "" = the session's
    lock_wait: int | None = None  # seconds, 0 = do not wait, -1 = for ever; None = the session's


DecodedBatch: TypeAlias = tuple[object, int]
"""A batch as the decoder hands it over, a PyCapsule ``arrow_array``, and how many rows it has."""


@dataclass(slots=True, eq=False)
class ServerCursor:
    """One open cursor of the server, the decoder of its rows, and decoded batches that were not returned yet."""

    statement_id: int
    sql: str
    shape: ResultDescription  # of its rows
    fetch_bytes: int
    decoder: Decoder | None  # None = the rows are not wanted: they are skipped by their headers
    ready_batches: deque[DecodedBatch] = field(default_factory=deque)  # finished batches
    in_flight: int = 0  # fetches sent whose replies were not read to their end
    requested_at: float | None = None  # when the first of them was sent, by the session's clock
    arriving_since: float | None = None  # when rows began to arrive, by the session's clock
    window: FetchWindow | None = None  # how many may be sent ahead; None = one
    one_ahead: bool = False  # for results FOR UPDATE or with large objects, and those read among other work
    discard_until: float = 0.0  # when replies whose rows are not wanted must have arrived
    reply_rows: int = 0  # tuples in the reply being read
    reply_bytes: int = 0  # and their bytes
    answered: bool = False  # the reply to the OPEN or the first fetch has begun
    end_seen: bool = False  # the end of the rows was reported in the reply being read
    ended: bool = False  # and that reply was read to its end
    released: bool = False  # CLOSE and RELEASE were sent
    error: Error | None = None  # raised at the next read
    objects: ObjectReader | None = None  # of large objects that are read with the rows
    lazy: bool = False  # large objects are read later: the cursor stays open until it is closed
    read_options: ReadOptions = field(default_factory=ReadOptions)
    prepared: PreparedStatement | None = None  # its statement, if that may be used again
    session_state: CursorSessionState | None = None  # session state to be restored
    closed_by_server: bool = False  # the server has closed it with its transaction
    rows_reported: bool = False  # the number of rows was reported by the call that received them

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns' names and Informix types, as the server described them."""
        return self.shape.columns

    @property
    def plan(self) -> Plan:
        """The plan compiled from the columns."""
        return self.shape.plan

    @property
    def bulky(self) -> bool:
        """Return whether a reply may fill socket buffers. Those to surplus fetches, behind the last row, do not."""
        return not self.ended or self.error is not None

    @property
    def stepwise(self) -> bool:
        """Return whether the server's position matters, so that nothing may be fetched ahead of need."""
        return self.read_options.scroll or bool(self.read_options.name)

    @property
    def keeps_cursor_open(self) -> bool:
        """Return whether the server's cursor must stay open after all its rows were received."""
        return self.lazy or self.objects is not None

    @property
    def is_complete(self) -> bool:
        """Return whether the server has nothing more to send about its rows."""
        return self.ended and self.released and self.objects is None

    def pop_all_rows(self) -> DecodedRows | None:
        """Return all rows if they have arrived, no batch was made of them, and C can convert them; else None."""
        decoder, c_schema = self.decoder, self.shape.c_schema
        if c_schema is None or decoder is None or not self.is_complete:
            return None
        if self.ready_batches or self.lazy or self.error is not None:
            return None
        self.decoder = None
        return DecodedRows(self.shape.plan.schema, c_schema, *_export_batch(decoder))

    def read_reply(self, session: Session) -> Exchange[None]:
        """Read the rest of the next fetch reply. Its rows are kept for their reader.

        Another operation waits for that. From now on little is fetched ahead: all of it takes memory whenever
        the connection is used for something else.
        """
        self.one_ahead, self.window = True, None
        if self.decoder is None and self.in_flight > 2:
            yield from self._discard_reply(session)
            return
        while not (yield from read_reply_chunk(session, self, ahead=False)):
            if (
                self.reply_bytes > session.buffer.max_bytes + 2 * self.fetch_bytes
            ):  # protects from a server that never stops
                raise reply_too_large(session.buffer.max_bytes)

    def _discard_reply(self, session: Session) -> Exchange[None]:
        """Read the rest of the next fetch reply, whose rows are not wanted.

        The replies to many fetches may take no longer than ``DISCARD_SECONDS``. Raises ``ConnectionLost`` if
        they do.
        """
        before = session.idle_timeout
        self.discard_until = self.discard_until or session.clock() + DISCARD_SECONDS
        try:
            while True:
                left = max(0.0, self.discard_until - session.clock())
                session.idle_timeout = left if before is None else min(left, before)
                if (yield from read_reply_chunk(session, self, ahead=False)):
                    return
                if session.clock() >= self.discard_until:
                    raise _not_discarded_error()
        except ConnectionLost as error:
            if session.clock() < self.discard_until:
                raise
            raise _not_discarded_error() from error
        finally:
            session.idle_timeout = before

    def close(self, session: Session) -> Exchange[None]:
        """Close the cursor, release the statement, drop unread rows. Does nothing the second time."""
        report(session, "close", self.sql)
        self.decoder = None
        self.ready_batches.clear()
        if not self.released:
            yield from release_cursor(session, self)
            yield from drain_pending_replies(session)
        self.end_seen = self.ended = True

    def fail(self, error: Error) -> None:
        """Stop decoding: the remaining rows are skipped."""
        self.error = self.error or error
        self.decoder = None

    def transaction_ended(self) -> None:
        """Note that the server has closed it, unless it is WITH HOLD. A later fetch then gets the server's error."""
        self.closed_by_server = not self.read_options.with_hold


def _not_discarded_error() -> ConnectionLost:
    return ConnectionLost(
        f"Rows of a result that was not read to its end still arrived after {DISCARD_SECONDS:g} s. The "
        "connection is closed. Read results to their end, or set a smaller fetch_window_bytes."
    )


def _export_batch(decoder: Decoder) -> DecodedBatch:
    """Return the batch that the decoder has built and its number of rows."""
    rows = decoder.rows
    return decoder.take(), rows


def report_if_complete(session: Session, cursor: ServerCursor) -> None:
    """Report the number of rows if all came with the reply to the statement: no fetch will report them."""
    if cursor.is_complete:
        rest = 0 if cursor.decoder is None else cursor.decoder.rows
        report_rows(session, sum(rows for _, rows in cursor.ready_batches) + rest)
        cursor.rows_reported = True


def next_batch(session: Session, cursor: ServerCursor) -> Exchange[DecodedBatch | None]:
    """Return the next batch; None after the last row."""
    if cursor.stepwise:
        return (yield from _next_row(session, cursor))
    if cursor.window is not None:
        cursor.window.resume(cursor.in_flight)
    while cursor.error is None:
        if cursor.in_flight > 2 and not cursor.ended and cancel_requested(session):
            # Batches may be complete before the server's error arrives behind all that is on its way, and if it
            # had sent all of that, the interrupt found nothing to end.
            cursor.fail(canceled_error())
            yield from cursor.close(session)
            yield from raise_if_cancelled(session)
        elif cursor.ready_batches:
            break
        elif cursor.in_flight and not cursor.ended:
            # Replies to earlier requests are read first.
            while session.pending_replies[0] is not cursor:
                yield from session.pending_replies[0].read_reply(session)
            yield from read_reply_chunk(session, cursor, ahead=True)
        elif not cursor.ended:
            yield from drain_pending_replies(session)
            yield from raise_if_cancelled(session)
            yield from request_fetch(session, cursor)
        elif cursor.decoder is not None and cursor.decoder.rows:
            cursor.ready_batches.append(_export_batch(cursor.decoder))
            cursor.decoder = None
        else:
            if not cursor.released and not cursor.lazy:
                yield from release_cursor(session, cursor)
                if cursor.error is not None:
                    raise cursor.error
            return None
    if cursor.ready_batches:
        if cursor.window is not None:
            cursor.window.pause()
        return cursor.ready_batches.popleft()
    assert cursor.error is not None
    yield from cursor.close(session)
    raise cursor.error


def _next_row(session: Session, cursor: ServerCursor) -> Exchange[DecodedBatch | None]:
    """Return the next row of a named cursor, fetched now; None after the last row.

    ``WHERE CURRENT OF`` means the server's position, which must be the row that the caller got last. For the
    same reason the cursor stays open after its last row.
    """
    decoder = cursor.decoder
    if decoder is None:
        raise cursor.error or InterfaceError("The cursor was closed while it was being read.")
    if not cursor.ended:
        yield from raise_if_cancelled(session)
        reply = yield from request(session, (m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)))
        cursor.ended = reply.done is not None or not reply.tuples
        try:
            if reply.error is not None and reply.error.sqlcode != NO_MORE_ROWS:
                reply.check(cursor.sql)
            if len(reply.tuples) > 1:
                raise NotSupportedError(
                    f"The server sent {len(reply.tuples)} rows of cursor {cursor.read_options.name!r} at "
                    "once, so WHERE CURRENT OF would address another row than the one returned. Add FOR "
                    "UPDATE to the query, or use a cursor without a name."
                )
            for payload in reply.tuples:
                data = m.Tuple(0, payload).encode(session.framing)
                decoder.feed(data, 0, len(data))
                return _export_batch(decoder)
        except Error as error:
            error.statement = cursor.sql
            yield from cursor.close(session)
            raise
    if not cursor.released and not cursor.lazy:
        yield from release_cursor(session, cursor)
    return None


def read_reply_chunk(session: Session, cursor: ServerCursor, *, ahead: bool) -> Exchange[bool]:
    """Read one more chunk or message of the next fetch reply. Returns True if its SQ_EOT was read.

    With ``ahead``, the next fetch is sent if more rows seem to follow.
    """
    decoder = cursor.decoder
    if decoder is not None and not cursor.ended:
        status = decode_available(session, cursor, decoder)
        if status == FULL:
            return False
        if status == NEED_MORE:
            yield from receive(session)
            if ahead and not cursor.end_seen:
                missing = fetches_missing(session, cursor, reading=True)
                if missing and likely_has_more(session):
                    cursor.arriving_since = cursor.arriving_since or session.clock()
                    yield from request_fetch(session, cursor, missing)
            return False
        if status == OTHER and skip_end_of_rows(session):
            cursor.answered = cursor.end_seen = True
            yield from _reply_ended(session, cursor, ahead)
            return True
    else:
        if session.buffer.start == session.buffer.end:
            yield from receive(session)
        if _pass_rows(session, cursor):
            return False
    message = yield from next_message(session)
    cursor.answered = True
    cursor.reply_bytes += OBJECT_BYTES
    match message:
        case m.Tuple():
            cursor.reply_rows += 1
            cursor.reply_bytes += len(message.payload)
        case m.Done() | m.Close():
            cursor.end_seen = True
        case m.Err():
            # After the end of the rows this is the reply to the surplus fetch: -259, or any other.
            if not cursor.end_seen and message.sqlcode != NO_MORE_ROWS:
                cursor.fail(server_error(message, cursor.sql))
            cursor.end_seen = True
        case m.EndOfTurn():
            yield from _reply_ended(session, cursor, ahead)
            return True
        case m.Exit():
            raise server_exit_error()
        case m.FileRequest():
            yield from client_files.handle_file_request(session, message)
        case m.Cost() | m.XactStat() | m.TupleId() | m.InsertDone():
            pass
        case _:
            raise ProtocolError(f"{type(message).__name__} does not belong in the reply to a fetch.")
    return False


def decode_available(session: Session, cursor: ServerCursor, decoder: Decoder) -> int:
    """Decode the available rows and return what to do next.

    That is to receive bytes (``NEED_MORE``), parse the message that is not a row (``OTHER``), or call again
    (``FULL``). A value that cannot be converted is reported when the rows are read.
    """
    buffer = session.buffer
    before = decoder.total_rows
    try:
        position, status = decoder.feed(buffer.data, buffer.start, buffer.end)
    except DataError as error:
        error.statement = cursor.sql
        if decoder.rows:  # the rows before it are valid
            cursor.ready_batches.append(_export_batch(decoder))
        cursor.fail(error)
        cursor.answered = True
        return FULL
    cursor.reply_bytes += position - buffer.start
    buffer.start = position
    cursor.reply_rows += decoder.total_rows - before
    cursor.answered = cursor.answered or cursor.reply_rows > 0
    if status == FULL:
        cursor.ready_batches.append(_export_batch(decoder))
    return status


def _reply_ended(session: Session, cursor: ServerCursor, ahead: bool) -> Exchange[None]:
    """Handle the SQ_EOT of a fetch reply."""
    session.pending_replies.popleft()
    require_no_extra_data(session)
    if cursor.ended and cursor.reply_rows and cursor.error is None:
        # The reader of the rows already got the end of the result.
        error = ProtocolError(f"The server sent {cursor.reply_rows} more rows after the end of a result.")
        error.statement = cursor.sql
        raise error
    cursor.in_flight -= 1
    cursor.end_seen = cursor.ended = cursor.end_seen or not cursor.reply_rows
    cursor.reply_rows = cursor.reply_bytes = 0
    refused = client_files.pop_refusal(session, failed=cursor.error is not None)
    if refused is not None:
        cursor.fail(refused)
    if cursor.ended and not cursor.released and not cursor.keeps_cursor_open:
        yield from release_cursor(session, cursor)
    elif ahead and not cursor.ended:
        if cursor.window is None and not cursor.one_ahead and session.fetch_window:
            limit = session.fetch_window // cursor.fetch_bytes
            cursor.window = FetchWindow(session, limit, cursor.requested_at, cursor.arriving_since)
        if cursor.window is not None:
            cursor.window.record_reply()
        missing = fetches_missing(session, cursor, reading=False)
        if missing:
            yield from request_fetch(session, cursor, missing)
        if cursor.window is not None:
            cursor.window.begin_round(cursor.in_flight)


def _pass_rows(session: Session, cursor: ServerCursor) -> bool:
    """Skip rows that have arrived completely and are not wanted. Returns whether there were any.

    A cursor that is closed early has fetches in flight: millions of short rows, which are not parsed.
    """
    buffer, begin = session.buffer, session.buffer.start
    header = _LARGE_HEADER if session.framing.large_fetch else _HEADER
    at, rows = skip_rows(buffer.data, begin, buffer.end, header)
    if not rows:
        return False
    buffer.start = at
    cursor.answered = True
    cursor.reply_rows += rows
    cursor.reply_bytes += at - begin
    return True


def skip_end_of_rows(session: Session) -> bool:
    """Skip ``DONE [COST] EOT``, the end of nearly every result, if it comes next and has arrived completely.

    All three have fixed sizes, so nothing needs to be parsed.
    """
    buffer = session.buffer
    data, at = buffer.data, buffer.start
    if not data.startswith(_DONE, at):
        return False
    at += done_size(session)
    if data.startswith(_COST, at):
        at += 10
    if at + 2 > buffer.end or not data.startswith(_EOT, at):
        return False
    buffer.start = at + 2
    return True


def done_size(session: Session) -> int:
    """Return the size of an SQ_DONE, its tag included, in bytes."""
    return 24 if session.framing.long_rowid else 16


def release_cursor(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Send CLOSE without waiting for the reply, with RELEASE unless the statement is kept, and restore the
    session's state.

    These are groups of their own, because after an error the server skips the rest of a group, and they must
    always be executed. If the cursor's rows are used up and it holds no locks, they are queued in front of the
    session's next request.
    """
    cursor.released = True
    session.cursors.discard(cursor)
    statement, state = m.Id(cursor.statement_id), cursor.session_state
    failed = cursor.error is not None and cursor.error.sqlcode is not None
    groups: list[Sequence[Message]] = [(statement, m.Close())]
    if cursor.prepared is None or failed or cursor.stepwise:
        groups.append((statement, m.Release()))
    else:
        ids = session.statements.put(cursor.prepared, logged=session.logged)
        groups += [(m.Id(number), m.Release()) for number in ids]
    ending = restoring_groups(session, state) if state is not None else []
    if not ending and cursor.ended and not failed and _holds_no_locks(session, cursor):
        prepared = cursor.prepared
        if prepared is not None and len(groups) == 1:  # kept: the next execution sends the same
            prepared.close_request = prepared.close_request or encode_group(session, groups[0])
            queue(session, prepared.close_request)
            return
        for messages in groups:
            queue(session, encode_group(session, messages))
        return
    yield from send_ignored_groups(session, groups + ending)
    if state is not None and state.may_write and session.transaction is TransactionStatus.IMPLICIT_READ:
        try:
            yield from commit_now(session)
        except Error as error:
            if not session.usable_after(error):
                raise
            cursor.fail(error)  # the procedure's work is not permanent: its reader must know


def _holds_no_locks(session: Session, cursor: ServerCursor) -> bool:
    """Return whether the server's cursor, whose rows are used up, can stay open until the session's next
    request.

    It then blocks only a session that wants to change the table itself (DDL).
    """
    unlocking = cursor.prepared is not None and not cursor.prepared.may_hold_locks
    plain = unlocking and not (session.ansi or cursor.stepwise or cursor.read_options.with_hold)
    return plain and session.settings.isolation_now in LOCKLESS


def fetches_missing(session: Session, cursor: ServerCursor, *, reading: bool) -> int:
    """Return how many more fetches should be on their way now.

    ``reading`` says that the next reply has begun to arrive. None is sent for a call that is to end.
    """
    if cancel_requested(session):
        return 0
    if cursor.window is not None:
        return cursor.window.missing(cursor.in_flight, reading=reading)
    if reading and not session.fetch_window:
        return 0
    return max(0, 1 + reading - cursor.in_flight)


def request_fetch(session: Session, cursor: ServerCursor, count: int = 1) -> Exchange[None]:
    """Send ``count`` more fetches; their replies are pending for the cursor."""
    data = encode_group(session, (m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)))
    session.pending_replies.extend((cursor,) * count)
    cursor.in_flight += count
    yield Send(with_outbox(session, data * count))


def likely_has_more(session: Session) -> bool:
    """Return whether the buffered bytes look like rows of a reply that is not the cursor's last.

    This is only a guess: they begin with a tuple and do not end with ``DONE [COST] EOT``. If it is wrong, a
    fetch is sent later than possible, or is one too many. Small results, which arrive in one piece, never cost
    a surplus fetch, and neither do errors.
    """
    buffer = session.buffer
    if buffer.data[buffer.start : buffer.start + 2] != _TUPLE:
        return False
    end = buffer.tail(38)
    if not end.endswith(_EOT):
        return True
    done = done_size(session)
    body = end[:-12] if end[-12:-10] == _COST else end[:-2]
    return body[-done : len(body) - done + 2] != _DONE
