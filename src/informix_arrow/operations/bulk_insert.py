"""Load rows by an insert cursor fed with SQ_PUT, or by pipelined executions (SQLI section 11, JDBC section 8).

Both methods send *groups* of encoded rows and keep a few of them in flight, so that the server always has work
and memory holds one window, whatever the size of the load. Replies are received while a group is sent: neither
side can end up waiting for the other to read.

PUT
    ``ID CURNAME OPEN RET_TYPE EOT`` once, then ``ID PUT* EOT`` for each group. A group has one reply, whose
    DONEs add up to the inserted rows. Before an SQ_ERR they count the rows before the refused one. The rest of
    its group was not looked at; later groups are served as if nothing had happened.
BIND
    ``ID BIND EXECUTE EOT`` for each row: a reply for each, the refused ones with their own error.

With ``collect``, PUT groups are sent one at a time, each after the reply to the one before. So the rows after a
refused one, which are sent again row by row, still precede all later ones, and the result is the same as
inserting row after row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol, TypeVar

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, CommitUnknown, DataError, Error, InternalError, ProtocolError
from ..wire.types import ColumnType, TypeCode
from .batch_replies import WARNING_TRUNCATED, BatchReplyReader, ManyOutcome, read_reply_messages
from .cancel import cancel_requested, raise_if_cancelled
from .io_steps import ConnectionLost, Exchange, Send
from .load_transaction import LoadTransaction, LoadTransactionKind
from .message_stream import encode_group, server_error, with_outbox
from .request_reply import DeferredReply, drain_pending_replies, read_reply, request, send_deferred
from .session import Session
from .statement_cache import STALE

T = TypeVar("T")

# Bytes reserved for each unread reply. One has about 60, or 20 and a name for an error.
REPLY_BYTES = 256
_NO_MORE_SPACE = (
    -131,
    -134,
    -136,
)  # ISAM: disk full, no more locks, no more extents: every later row would fail too
TRUNCATED_TEXT = "The server truncated text although it fits into the column as the server described it"
_OUT_OF_DATE = STALE | {-206, -217}  # no such table, no such column: of a statement that was valid before
_FATAL = (INTERRUPTED, -457, -458)  # interrupted, connection gone, long transaction


class RowFraming(IntEnum):
    """The ways to send rows. The numbers are the encoder's framings."""

    PUT = 1
    BIND = 2


@dataclass(slots=True)
class RowGroup:
    """Rows encoded together. ``origin`` identifies the rows to the source that made them."""

    data: bytes | bytearray
    count: int
    origin: object = None


class RowSource(Protocol):
    """The source of a load's rows. Row numbers within a group count from 0.

    ``source_error`` is the error raised by the data itself, if any: not an error of this session, whatever its
    class.
    """

    source_error: Exception | None

    def wait(self) -> Exchange[None]:
        """Wait for rows that arrive on their own (an async iterable)."""

    def next_group(self, form: RowFraming, budget: int, most: int) -> RowGroup | None:
        """Return the next rows, at most ``most`` and about ``budget`` bytes, or None if there are no more.

        Once the call is to end, no further data is read: the result is then without meaning.
        """

    def resend_from(self, group: RowGroup, start: int, budget: int, most: int) -> Iterator[RowGroup]:
        """Return the rows of ``group`` from ``start`` on, as groups in BIND form."""

    def record_rejected(self, group: RowGroup, index: int, error: Error) -> None:
        """Record that the server refused a row."""

    def locate_error(self, group: RowGroup, index: int, error: Error) -> Error:
        """Return ``error`` with the row that caused it named."""


class CachedTableMetadata(Protocol):
    """The description of a table from an earlier load with the same statement.

    If the statement is outdated, the server reports that at the first rows. Some servers prepare it again
    silently, and then a value that fits may be refused here.
    """

    @property
    def had_rejections(self) -> bool:
        """Return whether rows were refused because of the cached description."""

    def verify(self) -> Exchange[None]:
        """Query the server. Raises an ``Error`` if the cached description is outdated."""


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """One prepared INSERT and the options of its load."""

    statement_id: int
    sql: str
    kind: int
    types: tuple[ColumnType, ...]  # of the columns, in the order of the row
    method: str = "auto"  # or "put", "pipeline"
    collect: bool = False  # collect refused rows and continue
    commit_every: int | None = None  # rows
    group_bytes: int = 1 << 20  # of encoded rows in one PUT group
    window_bytes: int = 512 << 10  # of encoded rows sent ahead of their replies with BIND
    window_rows: int = 4096  # rows sent ahead of their replies with BIND
    groups_ahead: int = 3  # PUT groups in flight at a time
    cached_metadata: CachedTableMetadata | None = (
        None  # an earlier load used this statement: the reply to the first request is not waited for
    )


@dataclass(slots=True)
class LoadOutcome:
    """The outcome of a load, as far as the server has replied."""

    rows: int = 0  # rows inserted
    answered: int = 0  # rows inserted or refused
    groups: int = 0
    bytes: int = 0  # of encoded rows sent
    method: str = ""
    serial: int = 0  # as in ManyOutcome
    commits: int = 0  # commits between rows
    committed: int = 0  # rows inserted before the last of them


def send_group(session: Session, data: bytes | bytearray) -> Exchange[None]:
    """Send a group and keep what arrives meanwhile."""
    with session.buffer.reserve(session.outstanding_requests * REPLY_BYTES) as room:
        arrived = yield Send(data, room)
    session.buffer.end += arrived


def is_connection_lost(error: BaseException) -> bool:
    """Return whether ``error`` means that nothing more can be read from the server."""
    return isinstance(error, ProtocolError | ConnectionLost | CommitUnknown)


class Loader:
    """Runs one load. The outcome can be read at any time, also after a failure."""

    def __init__(
        self,
        session: Session,
        job: LoadSpec,
        rows: RowSource,
        transaction: LoadTransaction,
        progress: Callable[[LoadOutcome], None],
    ) -> None:
        self.outcome = LoadOutcome()
        self._session, self._job, self._feed, self._transaction = session, job, rows, transaction
        self._progress = progress
        self._replies = BatchReplyReader(session, job.sql, job.kind)
        self._pending_groups: deque[tuple[RowFraming, RowGroup]] = deque()
        self._failure: Exception | None = None  # the first one, in the order of the data
        self._cursor_open = self._types_sent = False  # the insert cursor; SQ_RET_TYPE was sent for it
        self._single_group_ahead = job.collect or transaction.kind is LoadTransactionKind.NONE
        self._uncommitted = 0  # rows sent since the last commit
        self._open_reply: DeferredReply | None = None  # to the cursor's OPEN, sent ahead
        self._close_queued = False  # the cursor's CLOSE was sent behind the rows
        self._unverified_metadata = job.cached_metadata  # until it is verified
        #: True if the server has accepted rows by this statement.
        self.first_rows_accepted = job.cached_metadata is None

    def run(self) -> Exchange[LoadOutcome]:
        """Load everything. The caller then commits or undoes the transaction.

        Raises the server's first error, or that of the source or the progress callback, after all replies were
        read and the cursor was closed.
        """
        try:
            yield from self._run()
        except Exception as error:
            if error is self._session.caller_error or (
                isinstance(error, Error) and not is_connection_lost(error)
            ):
                self._failure = self._failure or error
                yield from self._read_replies(0, report=False)
                yield from self._close()
            raise
        return self.outcome

    def _run(self) -> Exchange[None]:
        job = self._job
        yield from self._transaction.begin_next()
        form = (
            RowFraming.BIND
            if job.method == "pipeline" or not (yield from self._open_cursor())
            else RowFraming.PUT
        )
        self.outcome.method = "put" if form is RowFraming.PUT else "pipeline"
        while True:
            rows = yield from self._next_group(form)
            if self._unverified_metadata is not None and (
                self._unverified_metadata.had_rejections or (rows is not None and self.outcome.groups)
            ):
                yield from self._verify(self._unverified_metadata)
            if rows is None or self._failure:
                break
            yield from self._read_replies(self._max_groups_ahead(form) - 1)
            if self._failure:
                break
            yield from self._transaction.begin_next()
            if form is RowFraming.PUT and not self._cursor_open:  # closed by a commit, or after a refused row
                yield from self._open_cursor()
            yield from self._send(form, rows)
            self._uncommitted += rows.count
            if job.commit_every is not None and self._uncommitted >= job.commit_every:
                yield from self._read_replies(0)
                if self._failure:
                    break
                yield from self._commit()
        yield from self._queue_close()
        yield from self._read_replies(0)
        yield from self._close()
        if self._failure:
            raise self._failure

    @property
    def metadata_verified(self) -> bool:
        """Return whether the cached description is known to be up to date."""
        return self.first_rows_accepted and self._unverified_metadata is None

    def _verify(self, known: CachedTableMetadata) -> Exchange[None]:
        """Verify the cached description if a load turns out to be large or rows were refused.

        Small loads are kept until then.
        """
        yield from self._read_replies(0)
        if self._failure is None:
            yield from known.verify()
            yield from drain_pending_replies(self._session)  # the replies to its own requests come first
            self._unverified_metadata = None

    def _next_group(self, form: RowFraming) -> Exchange[RowGroup | None]:
        """Return the next rows.

        If the data fails, the replies to rows in flight are read first: a row that the server refused among
        them is the load's first failure, and all inserted rows are counted.
        """
        job = self._job
        budget = job.group_bytes if form is RowFraming.PUT else job.window_bytes
        most = 1 << 40 if form is RowFraming.PUT else job.window_rows
        if job.commit_every is not None:
            most = min(most, job.commit_every - self._uncommitted)
        yield from self._feed.wait()
        yield from self._raise_if_cancelled()  # it may have been cancelled while waiting for rows
        try:
            group = self._call_user_code(lambda: self._feed.next_group(form, budget, most))
        except Exception as error:
            yield from self._read_replies(0)
            if self._failure:
                raise self._failure from error
            raise
        yield from self._raise_if_cancelled()  # the source stops giving rows then
        return group

    def _raise_if_cancelled(self) -> Exchange[None]:
        """Raise if the call is to end, after the replies to rows in flight."""
        if cancel_requested(self._session):
            yield from self._read_replies(0)
            if self._failure:
                raise self._failure
            yield from raise_if_cancelled(self._session)

    def _call_user_code(self, action: Callable[[], T]) -> T:
        """Call the user's code. Its errors leave the session in step."""
        try:
            return action()
        except Exception as error:
            if not isinstance(error, Error) or error is self._feed.source_error:
                self._session.caller_error = error
            raise

    def _max_groups_ahead(self, form: RowFraming) -> int:
        """Return the number of groups that may be in flight."""
        if form is RowFraming.PUT:
            return 1 if self._single_group_ahead else self._job.groups_ahead
        return 1 if self._single_group_ahead and not self._job.collect else 2

    def _send(self, form: RowFraming, rows: RowGroup) -> Exchange[None]:
        data = rows.data
        if form is RowFraming.PUT:
            framing = self._session.framing
            head = m.Id(self._job.statement_id).encode(framing)
            data = b"".join((head, data, m.EndOfTurn().encode(framing)))
        self._session.outstanding_requests += 1 if form is RowFraming.PUT else rows.count
        self._pending_groups.append((form, rows))
        self.outcome.groups += 1
        self.outcome.bytes += len(data)
        yield from send_group(self._session, with_outbox(self._session, data))

    # ---- replies -------------------------------------------------------------------------------------------

    def _read_replies(self, limit: int, *, report: bool = True) -> Exchange[None]:
        """Read replies until at most ``limit`` groups are in flight, and report the progress."""
        while len(self._pending_groups) > limit:
            yield from self._read_deferred_replies()
            form, rows = self._pending_groups[0]
            if form is RowFraming.PUT:
                yield from self._read_put_reply(rows)
            else:
                yield from self._read_bind_replies(rows)
            if report:
                self.first_rows_accepted = (
                    self.first_rows_accepted or getattr(self._failure, "sqlcode", None) not in _OUT_OF_DATE
                )
            if report:
                self._call_user_code(lambda: self._progress(self.outcome))

    def _read_deferred_replies(self) -> Exchange[None]:
        """Read the replies to requests sent ahead of the first rows: to BEGIN or SAVEPOINT, and to OPEN."""
        yield from self._transaction.read_deferred_reply()
        opening, self._open_reply = self._open_reply, None
        if opening is not None:
            yield from drain_pending_replies(self._session)
            if opening.error is not None:
                raise server_error(opening.error, self._job.sql)

    def _read_put_reply(self, rows: RowGroup) -> Exchange[None]:
        messages = yield from read_reply_messages(self._session)
        self._pending_groups.popleft()
        done = [message for message in messages if isinstance(message, m.Done)]
        error = next((message for message in messages if isinstance(message, m.Err)), None)
        went_in = sum(each.rows for each in done)
        self.outcome.rows += went_in
        self.outcome.serial = next(
            (each.serial for each in reversed(done) if each.serial), self.outcome.serial
        )
        if any(each.warnings & WARNING_TRUNCATED for each in done) and not self._failure:
            self._failure = DataError(f"{TRUNCATED_TEXT}, in one of {rows.count:,} rows.")
        if error is None or went_in >= rows.count:
            self.outcome.answered += rows.count
            if error is not None or went_in != rows.count:
                self._handle_count_mismatch(rows.count, went_in, error)
            return
        self.outcome.answered += went_in + 1
        self._record_rejected(rows, went_in, server_error(error, self._job.sql))
        if self._failure is None:
            yield from self._close()
            job = self._job
            for rest in self._feed.resend_from(rows, went_in + 1, job.window_bytes, job.window_rows):
                yield from self._read_replies(self._max_groups_ahead(RowFraming.BIND) - 1)
                if self._failure:
                    return
                yield from self._send(RowFraming.BIND, rest)
            yield from self._read_replies(0)

    def _read_bind_replies(self, rows: RowGroup) -> Exchange[None]:
        outcome = ManyOutcome()
        yield from self._replies.read(outcome, rows.count)
        self._pending_groups.popleft()
        self.outcome.rows += outcome.rows
        self.outcome.answered += rows.count
        self.outcome.serial = outcome.serial or self.outcome.serial
        if outcome.truncated_rows and not self._failure:
            self._failure = self._feed.locate_error(
                rows, outcome.truncated_rows[0], DataError(f"{TRUNCATED_TEXT}, in this row at least.")
            )
        if outcome.rows != rows.count - len(outcome.errors):
            self._handle_count_mismatch(rows.count - len(outcome.errors), outcome.rows, None)
        for error in outcome.errors:
            assert error.row is not None
            self._record_rejected(rows, error.row, error)

    def _record_rejected(self, rows: RowGroup, index: int, error: Error) -> None:
        """Collect a refused row, or record the load's first failure."""
        if self._failure:
            return
        fatal = error.sqlcode in _FATAL or error.isamcode in _NO_MORE_SPACE
        fatal = fatal or (
            not self.first_rows_accepted and error.sqlcode in _OUT_OF_DATE
        )  # not caused by the row
        if error.sqlcode == INTERRUPTED:
            error.row = None  # not caused by the current row
            self._failure = error
        elif self._job.collect and not fatal:
            self._call_user_code(lambda: self._feed.record_rejected(rows, index, error))
        else:
            self._failure = self._feed.locate_error(rows, index, error)

    def _handle_count_mismatch(self, sent: int, went_in: int, error: m.Err | None) -> None:
        if self._failure:
            return
        self._failure = InternalError(
            f"The server reports that {went_in} of {sent} rows were inserted, and no error for the others. "
            "Check the table. It may be a view or a synonym, or have a trigger."
            if error is None
            else f"The server reports that {went_in} of {sent} rows were inserted, but refused one (SQLCODE "
            f"{error.sqlcode})."
        )

    # ---- cursor and transaction ----------------------------------------------------------------------------

    def _open_cursor(self) -> Exchange[bool]:
        """Open the insert cursor.

        Returns False if the server has none for this statement and another method may be used.
        """
        session, job = self._session, self._job
        messages: list[m.Message] = [
            m.Id(job.statement_id), m.CursorName(session.next_cursor_name()), m.Open()
        ]  # fmt: skip
        if not self._types_sent:
            messages.append(m.RetType(m.RetType.PUT, tuple(put_type(ct) for ct in job.types)))
        if not self.first_rows_accepted:
            self._open_reply = send_deferred(session, messages)
            self._cursor_open = self._types_sent = True
            return True
        reply = yield from request(session, messages)
        if reply.error is not None:
            if job.method == "auto" and not self._types_sent:
                return False
            raise server_error(reply.error, job.sql)
        self._cursor_open = self._types_sent = True
        return True

    def _queue_close(self) -> Exchange[None]:
        """Send the CLOSE right after the last rows, before their replies."""
        if self._cursor_open and self._pending_groups:
            session = self._session
            self._cursor_open, self._close_queued = False, True
            session.outstanding_requests += 1
            close = encode_group(session, (m.Id(self._job.statement_id), m.Close()))
            yield from send_group(session, close)

    def _close(self) -> Exchange[None]:
        if self._close_queued:  # its reply comes after those to the rows, which were read
            self._close_queued = False
            reply = yield from read_reply(self._session)
            if self._failure is None:
                reply.check(self._job.sql)
        elif self._cursor_open:
            self._cursor_open = False
            reply = yield from request(self._session, (m.Id(self._job.statement_id), m.Close()))
            if self._failure is None:
                reply.check(self._job.sql)

    def _commit(self) -> Exchange[None]:
        self._uncommitted = 0
        if self._transaction.kind is LoadTransactionKind.OWN_TRANSACTION:
            yield from self._transaction.commit()
            self._cursor_open = False  # a commit closes cursors
            self.outcome.commits += 1
            self.outcome.committed = self.outcome.rows


def put_type(ct: ColumnType) -> ColumnType:
    """Return the form in which a column is put, as in SQ_RET_TYPE: that of JDBC (JDBC sections 5 and 8).

    BOOLEAN is requested as type 45, which makes it a byte 0 or 1, and LVARCHAR as 43 without names. Others are
    sent as described, without flags.
    """
    if ct.is_boolean:
        return ColumnType(TypeCode.BOOL.value, 1, 0, 0, "informix", "boolean")
    if ct.is_lvarchar:
        return ColumnType(TypeCode.LVARCHAR.value, ct.content_width)
    return replace(ct, flags=0)
