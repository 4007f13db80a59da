"""Execute one statement with many parameter rows, pipelined.

Every row is a group of its own, ``ID BIND EXECUTE EOT``, and gets its own reply. A row that fails does not
affect later ones (SQLI section 11). Groups are sent in chunks, one chunk ahead of the replies being read, and
the transport receives replies while it sends. So the server always has a next row to work on, unread replies
are bounded by two chunks, and neither side can end up waiting for the other to read.

The size of a chunk is adapted to time (:mod:`.adaptive_window`): a call that is cancelled does not wait for
rows that were sent long ago.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..rows.parameters import ParameterizedStatement, RowCheck, Values, parse
from ..wire import messages as m
from ..wire.assignment import Inexact
from ..wire.bind_values import bind_value
from ..wire.describe import StatementType
from ..wire.errors import (
    INTERRUPTED,
    DataError,
    Error,
    InterfaceError,
    InternalError,
    ProgrammingError,
    prefix_location,
)
from ..wire.messages import BoundValue
from .adaptive_window import AdaptiveWindow
from .batch_replies import BatchReplyReader, ManyOutcome
from .batch_savepoint import BatchSavepoint
from .bulk_insert import send_group
from .cancel import cancel_requested, raise_if_cancelled
from .column_binding import ColumnBinder, ParameterBinding
from .instrument import report, report_rows
from .io_steps import Exchange
from .lob_parameters import refuse_contents
from .message_stream import with_outbox
from .object_execute import ObjectStatement, complex_targets, execute_rows, peek
from .parameter_checks import parameter_check
from .prepare import acquire, release_after, release_statement, return_statement
from .replayable_iterator import ReplayableIterator
from .request_reply import drain_pending_replies
from .session import Session
from .statement_cache import STALE, PreparedStatement
from .transaction import after_failure, begin_if_needed, track_statement

CHUNK_ROWS = 4096  # maximum rows in one send of an INSERT
OTHER_CHUNK_ROWS = 512  # of other statements, whose rows may take very different times
CHUNK_BYTES = 256 << 10  # a chunk is closed early beyond this many bytes
_PIECE_ROWS = 64  # maximum rows that are taken from the user's iterable without a look at the time
_PIECE_SECONDS = 0.001  # a piece that takes longer is followed by a single row
_FIRST_INSERTS = 64  # rows of the first chunk, when the time per row is unknown; 1 for other statements

ParameterRows = list[Sequence[object]]


def execute_many(
    session: Session,
    sql: str,
    parameters: int,
    rows: Iterable[Values],
    *,
    stop_on_error: bool = False,
    inexact: Inexact | None = None,
) -> Exchange[ManyOutcome]:
    """Execute ``sql`` once for each of ``rows``, which are consumed along the way.

    A row that cannot be bound, and an error of the iterable itself, ends the run: the rows before it are sent,
    their replies read, then the error is raised (with ``row`` set if it is a database error). The server's
    errors are collected in the outcome instead. With ``stop_on_error`` the first one ends the run, and no row
    after it is in effect: in a transaction by a savepoint, else by sending one row at a time. ``inexact`` is as
    in :func:`.execute.run_statement`.

    A call that is interrupted is undone in a transaction. The error says what is in effect (``rows``). Raises
    ``InterfaceError`` at the call, before the operation begins, if ``rows`` is not an iterable of rows.
    """
    if isinstance(rows, Mapping | str | bytes):
        raise InterfaceError(f"executemany() takes rows of parameters, got {type(rows).__name__}.")
    try:
        source = iter(rows)
    except TypeError:
        raise InterfaceError(
            f"executemany() takes an iterable of rows of parameters, got {type(rows).__name__}."
        ) from None
    return _execute_many(session, sql, parameters, source, stop_on_error, inexact or session.inexact)


def _execute_many(
    session: Session, sql: str, parameters: int, rows: Iterator[object], stop: bool, inexact: Inexact
) -> Exchange[ManyOutcome]:
    statement = parse(sql)
    report(session, "executemany", sql)
    check = RowCheck(statement, parameters)
    try:
        prepared = yield from acquire(session, statement.text, parameters)
        first = ReplayableIterator(rows) if prepared.reused else None
        try:
            return (
                yield from _with_prepared(
                    session, statement, prepared, first or rows, check, first, stop, inexact
                )
            )
        except _StaleStatement:
            assert first is not None
        prepared = yield from acquire(session, statement.text, parameters, anew=True)
        return (
            yield from _with_prepared(
                session, statement, prepared, first.replay(), check, None, stop, inexact
            )
        )
    except Error as error:
        statement.explain(error)
        raise


class _StaleStatement(Exception):
    """The server no longer knows the statement, or an outdated description may have refused the first row.

    No row was executed.
    """


def _with_prepared(
    session: Session,
    statement: ParameterizedStatement,
    prepared: PreparedStatement,
    rows: Iterator[object],
    check: RowCheck,
    first: ReplayableIterator[object] | None,
    stop: bool,
    inexact: Inexact,
) -> Exchange[ManyOutcome]:
    """Execute for all rows, then return the statement to the cache or release it.

    ``first`` holds the rows if the statement may be outdated. If it is, ``_StaleStatement`` is raised.
    """
    describe, statement_id = prepared.describe, prepared.statement_id
    kind = describe.statement_type
    outcome, savepoint = ManyOutcome(), None
    try:
        if describe.has_rows:
            raise ProgrammingError(
                "executemany() takes a statement without a result. Run queries one at a time."
            )
        row, rows = peek(rows)
        targets = yield from complex_targets(session, describe, check.count, check.sample(row))
        if targets is not None and first is not None:
            raise _StaleStatement  # contents are consumed by an attempt: use a new statement
        assigned = yield from parameter_check(session, prepared, check.count, None, inexact)
        bind = ParameterBinding(session.framing.encoding, inexact, assigned)
        yield from begin_if_needed(session, kind, statement.text)
        savepoint = BatchSavepoint(session)
        savepoint.begin()
        inserts = kind == StatementType.INSERT and bool(describe.columns)
        most = CHUNK_ROWS if inserts else OTHER_CHUNK_ROWS
        if stop and not savepoint.in_transaction:
            most = 1
        window = AdaptiveWindow(
            session, _FIRST_INSERTS if inserts and most > 1 else 1, most, prepared.row_seconds
        )
        if targets is not None:
            objects = ObjectStatement(statement.text, statement_id, targets)
            yield from execute_rows(
                session, objects, kind, rows, lambda row: bind.values(check(row)), outcome, window, stop
            )
        else:
            pipeline = _Pipeline(session, statement, prepared, check, bind, outcome, savepoint, window, stop)
            yield from pipeline.run(rows, first)
        prepared.row_seconds = window.seconds_per_row
        interruption = next((error for error in outcome.errors if error.sqlcode == INTERRUPTED), None)
        if interruption is not None:
            raise interruption
        savepoint.release()
    except _StaleStatement:
        yield from release_statement(session, statement_id)
        raise
    except Exception as error:
        if savepoint is not None:
            yield from savepoint.handle_failure(outcome, error)
        yield from release_after(session, statement_id, error)
        if session.usable_after(error):
            yield from after_failure(session)
        raise
    for refused in outcome.errors:
        statement.explain(refused)
    yield from return_statement(session, prepared)
    yield from track_statement(session, kind, statement.text)
    report_rows(session, outcome.rows)
    return outcome


class _Pipeline:
    """Sends rows in chunks, ahead of the replies to earlier ones."""

    def __init__(
        self,
        session: Session,
        statement: ParameterizedStatement,
        prepared: PreparedStatement,
        check: RowCheck,
        bind: ParameterBinding,
        outcome: ManyOutcome,
        savepoint: BatchSavepoint,
        window: AdaptiveWindow,
        stop: bool,
    ) -> None:
        self._session, self._outcome, self._savepoint, self._window = session, outcome, savepoint, window
        self._replies = BatchReplyReader(session, statement.text, prepared.describe.statement_type)
        self._encoder = _RowEncoder(session, prepared.statement_id, check, bind)
        self._stop = stop
        self._pending_chunks: deque[int] = deque()  # pending replies of each chunk in flight

    def run(self, rows: Iterator[object], first: ReplayableIterator[object] | None) -> Exchange[None]:
        session, outcome, pace = self._session, self._outcome, self._window
        refused: list[Exception] = []
        for data, piece in _chunks(session, self._encoder, rows, pace, refused):
            if cancel_requested(session):
                yield from self._read_replies(0)
                if not outcome.interrupted:
                    yield from raise_if_cancelled(session)
            if outcome.interrupted:
                return
            if self._stop and self._savepoint.in_transaction:
                self._savepoint.begin_chunk()
            before = replace(outcome) if self._stop else outcome
            yield from self._send(data, len(piece))
            if first is not None:
                yield from self._check_first_reply()
                first.commit()
                first = None
            yield from self._read_replies(0 if self._stop or not pace.is_calibrated else 1)
            if self._stop and outcome.errors and not outcome.interrupted:
                yield from self._undo_after_error(before, piece)
                return
        yield from self._read_replies(0)
        if refused and first is not None and isinstance(refused[0], Error):
            raise _StaleStatement
        if refused and not outcome.interrupted:
            session.caller_error = refused[0]
            raise refused[0]

    def _send(self, data: bytes | bytearray, count: int) -> Exchange[None]:
        """Send a chunk behind the queued groups. Short pending replies are read at once."""
        session = self._session
        if session.pending_replies and any(reply.bulky for reply in session.pending_replies):
            yield from drain_pending_replies(session)
        session.outstanding_requests += count
        self._pending_chunks.append(count)
        self._window.record_sent(count)
        yield from send_group(session, with_outbox(session, data))
        if session.pending_replies:
            yield from drain_pending_replies(session)

    def _check_first_reply(self) -> Exchange[None]:
        """Read the reply to the very first row. Raises ``_StaleStatement`` if the statement is outdated."""
        outcome = self._outcome
        yield from self._replies.read(outcome, 1)
        self._pending_chunks[0] -= 1
        if outcome.errors and outcome.errors[0].sqlcode in STALE:
            yield from self._replies.read(outcome, self._pending_chunks.popleft())
            raise _StaleStatement

    def _read_replies(self, most: int) -> Exchange[None]:
        """Read replies until at most ``most`` chunks are in flight."""
        while len(self._pending_chunks) > most:
            yield from self._replies.read(self._outcome, self._pending_chunks[0])
            self._pending_chunks.popleft()
            self._window.record_answered()

    def _undo_after_error(self, before: ManyOutcome, piece: ParameterRows) -> Exchange[None]:
        """Undo the rows after the refused one in ``piece``, the chunk that was sent last.

        The whole chunk is undone, and the rows before the refused one are sent again.
        """
        outcome, error = self._outcome, self._outcome.errors[0]
        outcome.stopped = True
        assert error.row is not None
        good = error.row - before.executed
        if outcome.executed == error.row + 1:
            return  # it was the last one
        if not (yield from self._savepoint.undo_chunk()):
            raise InternalError(
                "The server did not undo the rows after the one that it refused. Roll the transaction back."
            ) from error
        outcome.executed, outcome.rows, outcome.serial = before.executed, before.rows, before.serial
        outcome.truncated_rows[:] = [row for row in outcome.truncated_rows if row < before.executed]
        outcome.errors.clear()
        for data, count in self._encoder.encode(piece[:good]):
            yield from self._send(data, count)
            yield from self._read_replies(0)
        outcome.errors.append(error)
        outcome.executed += 1


def _chunks(
    session: Session,
    encoder: _RowEncoder,
    rows: Iterator[object],
    window: AdaptiveWindow,
    refused: list[Exception],
) -> Iterator[tuple[bytes | bytearray, ParameterRows]]:
    """Yield chunks of encoded groups with their rows.

    The error of a row that cannot be encoded is added to ``refused`` and ends the chunks.
    """
    number = 0  # of the next row to be encoded
    fitting = 1 << 30  # rows that fit into CHUNK_BYTES
    while not refused:
        chunk_rows, failure = _next_rows(session, rows, min(window.rows, fitting), encoder.check)
        if not chunk_rows and failure is None:
            return
        first, done, size = number, 0, 0
        try:
            for data, count in encoder.encode(chunk_rows):
                number += count
                size += len(data)
                yield data, chunk_rows[done : done + count]
                done += count
        except Exception as error:  # noqa: BLE001 - raised again by the pipeline
            failure = error
            if isinstance(error, Error):
                number = first + (error.row or 0)
        if failure is not None:
            if isinstance(failure, Error):
                failure.row = number
                prefix_location(failure, f"Row {number}")
            refused.append(failure)
        fitting = max(1, CHUNK_BYTES * len(chunk_rows) // max(size, 1))


def _next_rows(
    session: Session, rows: Iterator[object], limit: int, check: RowCheck
) -> tuple[list[Sequence[object]], Exception | None]:
    """Return the next valid rows, at most ``limit``, and the error that ended them early, if any.

    If the call is to end, the rows so far are returned, at least one.
    """
    rows_read: list[object] = []
    failure: Exception | None = None
    piece, now = 1, session.clock()
    try:
        while len(rows_read) < limit:
            before, count = now, len(rows_read) + min(piece, limit - len(rows_read))
            rows_read.extend(
                itertools.islice(rows, count - len(rows_read))
            )  # rows before an error stay in the list
            if len(rows_read) < count or cancel_requested(session):
                break
            now = session.clock()
            piece = min(2 * piece, _PIECE_ROWS) if now - before < _PIECE_SECONDS else 1
    except Exception as error:  # noqa: BLE001  - raised again by the pipeline, after the rows before it
        failure = error
    good, refused = check.check_rows(rows_read)
    return good, refused or failure


class _RowEncoder:
    """Encodes rows of parameters as groups that execute one statement."""

    def __init__(self, session: Session, statement_id: int, check: RowCheck, bind: ParameterBinding) -> None:
        self.check, self._bind = check, bind
        framing = session.framing
        self._framing = framing
        self._head = m.Id(statement_id).encode(framing)
        self._tail = m.Execute().encode(framing) + m.EndOfTurn().encode(framing)
        self._columns = ColumnBinder(bind, check.count, self._head, self._tail)

    def encode(self, rows: ParameterRows) -> Iterator[tuple[bytes | bytearray, int]]:
        """Yield the groups of valid rows and their number, a piece at a time. An ``Error`` names its row."""
        done = 0
        if rows and self._columns.load(rows):
            try:
                while (piece := self._columns.encode(CHUNK_BYTES))[1]:
                    done += piece[1]
                    yield piece
            except DataError:  # checking single values finds what is wrong with the row
                pass
        if done < len(rows):
            try:
                yield from self._encode_by_values(rows[done:])
            except Error as error:
                error.row = done + (error.row or 0)
                raise

    def _encode_by_values(self, rows: ParameterRows) -> Iterator[tuple[bytes | bytearray, int]]:
        """Encode rows value by value. An ``Error`` names its row."""
        framing = self._framing
        chunk, count = bytearray(), 0
        failure: Exception | None = None
        for number, row in enumerate(rows):
            try:
                bound = self._bind_values(self._bind.values(row))
                refuse_contents(bound)
                binding = m.Bind(bound).encode(framing) if bound else b""
            except Exception as error:  # noqa: BLE001  - raised below, after the rows before it were sent
                failure = error
                if isinstance(error, Error):
                    error.row = number
                break
            chunk += self._head + binding + self._tail
            count += 1
            if len(chunk) >= CHUNK_BYTES:
                yield bytes(chunk), count
                chunk, count = bytearray(), 0
        if count:
            yield bytes(chunk), count
        if failure is not None:
            raise failure

    def _bind_values(self, values: Sequence[object]) -> tuple[BoundValue, ...]:
        """Return the values of a row in the form in which they are sent. An ``Error`` names the parameter."""
        bound, encoding = [], self._framing.encoding
        for number, value in enumerate(values, 1):
            try:
                bound.append(bind_value(value, encoding))
            except Error as error:
                prefix_location(error, f"Parameter {number}")
                raise
        return tuple(bound)
