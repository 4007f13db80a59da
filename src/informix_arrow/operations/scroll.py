"""Scroll cursors: the server keeps the result, rows are requested by their number (SQLI section 13, JDBC
section 10).

Every SQ_SFETCH has one row and its number as its reply, so a run of rows is requested by as many requests sent
together: one round trip. All of them name the number (ABSOLUTE), so nothing depends on the server's position,
and a row that was read ahead costs nothing but its bytes. Numbers count from 1 on the wire, from 0 here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa

from ..wire import messages as m
from ..wire.errors import DataError, InterfaceError, ProtocolError
from .cancel import raise_if_cancelled
from .client_files import may_request_files
from .fetch import NO_MORE_ROWS, ServerCursor
from .instrument import report, report_rows
from .io_steps import Exchange, Send
from .message_stream import encode_group, server_error
from .request_reply import Reply, drain_pending_replies, read_reply
from .session import Session

MAX_ROWS_AHEAD = 256  # rows requested at a time
AHEAD_BYTES = 1 << 20  # or as many as this many bytes hold at their full width
_REPLY_BYTES = 4096  # of an SQ_SFETCH, as sent by JDBC; more for a larger row
_LAST_NUMBER = 0x7FFF_FFFF

MakeRows: TypeAlias = Callable[[pa.RecordBatch], list[Any]]


class Scroller:
    """The rows of one scroll cursor and a position among them.

    Attributes
    ----------
    at
        0-based number of the current row: -1 before the first, :attr:`total` behind the last.
    total
        How many rows there are; None until the end was seen.
    """

    def __init__(self, cursor: ServerCursor, make_rows: MakeRows) -> None:
        self.cursor = cursor
        self.position = -1
        self.total: int | None = None
        self._make_rows = make_rows
        self._postprocessor = cursor.shape.postprocessor
        self._max_rows_ahead = max(1, min(MAX_ROWS_AHEAD, AHEAD_BYTES // max(cursor.plan.max_tuple, 1)))
        if may_request_files(cursor.sql):
            self._max_rows_ahead = 1
        self._window: list[Any] = []  # buffered rows, in order
        self._start = 0  # number of the first of them

    @property
    def rownumber(self) -> int:
        """The 0-based number of the row that the next fetch returns (PEP 249)."""
        return self.position if self.total is not None and self.position >= self.total else self.position + 1

    def fetch_row(self, session: Session, number: int, *, from_end: bool = False) -> Exchange[list[Any]]:
        """Move to a row and return it in a list, which is empty if there is no such row.

        The position is then before the first row or after the last one, at the end that was missed. A negative
        ``number`` is before the first; with ``from_end``, -1 is the last one. Nothing moves if an error is
        raised.
        """
        number = _check_row_number(number)
        if from_end:
            number += yield from self.row_count(session)
        rows = yield from self._rows(session, number, 1)
        if rows:
            self.position = number
        elif number < 0:
            self.position = -1
        else:
            self.position = yield from self.row_count(session)
        return rows

    def fetch(self, session: Session, count: int | None) -> Exchange[list[Any]]:
        """Return the ``count`` rows after the position (None: all) and move it, unless an error is raised."""
        rows: list[Any] = []
        before = self.position
        count = None if count is None else _check_row_number(count)
        try:
            while count is None or len(rows) < count:
                missing = self._max_rows_ahead if count is None else count - len(rows)
                new_rows = yield from self._rows(session, self.position + 1, missing)
                if not new_rows:
                    assert self.total is not None  # a miss right after a row
                    self.position = self.total
                    break
                self.position += len(new_rows)
                rows += new_rows
        except BaseException:
            self.position = before  # the caller does not get these rows
            raise
        return rows

    def scroll(self, session: Session, value: int, mode: str) -> Exchange[None]:
        """Move the position: to the row number ``value``, by ``value`` rows, or to the first or last row,
        depending on ``mode``.

        Raises ``IndexError`` if there is no such row; nothing moves then.
        """
        value = _check_row_number(value)
        if mode == "last":
            number = (yield from self.row_count(session)) - 1
        elif mode in ("relative", "absolute", "first"):
            number = {"relative": self.rownumber + value, "absolute": value, "first": 0}[mode]
        else:
            raise InterfaceError(f'mode must be "relative", "absolute", "first" or "last", got {mode!r}.')
        if not (yield from self._rows(session, number, 1)):
            session.caller_error = error = IndexError(f"Row {number} is outside of this result.")
            raise error  # the caller's own mistake, detected between two replies
        self.position = number - 1

    def row_count(self, session: Session) -> Exchange[int]:
        """Return the number of rows, by requesting the last one."""
        if self.total is None:
            (reply,) = yield from self._fetch_targets(session, [(m.ScrollFetch.LAST, 0)])
            self._check(session, reply)
            if not reply.tuples:
                self.total = 0
            else:
                number = _row_number(reply)
                if number is None or len(reply.tuples) > 1:
                    raise ProtocolError("The last row of a scroll cursor came without its number.")
                self.total = number
        return self.total

    def next_batch(self, session: Session) -> Exchange[pa.RecordBatch | None]:
        """Return the next rows as a record batch; None after the last one."""
        batch = yield from self._fetch(session, self.position + 1, self._max_rows_ahead)
        if batch is None:
            assert self.total is not None
            self.position = self.total
        else:
            self.position += batch.num_rows
        return batch

    def _rows(self, session: Session, number: int, count: int) -> Exchange[list[Any]]:
        """Return rows from ``number`` on, at most ``wanted``, at least one if there is one."""
        at = number - self._start
        if not 0 <= at < len(self._window):
            # A reader that continues after the last buffered row gets twice as many as the last time.
            ahead = 2 * len(self._window) if self._window and at == len(self._window) else 1
            batch = yield from self._fetch(session, number, min(self._max_rows_ahead, max(count, ahead)))
            if batch is None:
                return []
            try:
                self._window = self._make_rows(batch)
            except Exception as error:  # the caller's row factory failed, between two replies
                session.caller_error = error
                raise
            self._start, at = number, 0
        return self._window[at : at + count]

    def _fetch(self, session: Session, number: int, count: int) -> Exchange[pa.RecordBatch | None]:
        """Return at most ``wanted`` rows from ``number`` on; None if there is no such row.

        There are fewer at the end, before an error, or if their large objects are large. An error of the first
        of these rows is raised. One of a later row is raised when that row is requested.
        """
        if self.cursor.error is not None:
            raise self.cursor.error
        if self.cursor.released:
            raise InterfaceError("The cursor was closed. Run the query again.")
        if not 0 <= number < (_LAST_NUMBER if self.total is None else self.total):
            return None
        count = min(count, (_LAST_NUMBER if self.total is None else self.total) - number)
        numbers = range(number, number + count)
        replies = yield from self._fetch_targets(session, [(m.ScrollFetch.ABSOLUTE, n + 1) for n in numbers])
        payloads: list[bytes] = []
        for n, reply in zip(numbers, replies, strict=True):
            if payloads and reply.error is not None and reply.error.sqlcode != NO_MORE_ROWS:
                break
            self._check(session, reply)
            if not reply.tuples:
                if n == 0 or payloads or n == self.position + 1:
                    self.total = n  # the row before it exists
                break
            came = _row_number(reply)
            if came is not None and came - 1 not in (n, n + len(reply.tuples) - 1):
                raise ProtocolError(f"Row {n + 1} of a scroll cursor was requested, but row {came} came.")
            payloads.append(reply.tuples[0])
        if not payloads:
            return None
        batch = yield from self._decoded(session, number, payloads)
        report_rows(session, batch.num_rows)
        return batch

    def _fetch_targets(self, session: Session, targets: list[tuple[int, int]]) -> Exchange[list[Reply]]:
        report(session, "fetch", self.cursor.sql)
        size = max(_REPLY_BYTES, self.cursor.plan.max_tuple)
        statement = m.Id(self.cursor.statement_id)
        data = [
            encode_group(session, (statement, m.ScrollFetch(how, target, size))) for how, target in targets
        ]
        yield from raise_if_cancelled(session)
        yield from drain_pending_replies(session)
        session.outstanding_requests += len(data)
        yield Send(b"".join(data))
        replies = []
        for _ in data:
            replies.append((yield from read_reply(session)))
        return replies

    def _check(self, session: Session, reply: Reply) -> None:
        if reply.error is not None and reply.error.sqlcode != NO_MORE_ROWS:
            raise server_error(reply.error, self.cursor.sql)

    def _decoded(self, session: Session, number: int, payloads: list[bytes]) -> Exchange[pa.RecordBatch]:
        """Return the final batch of these tuples, the first of which is row ``number``."""
        cursor, finisher = self.cursor, self._postprocessor
        decoder = cursor.shape.decoder(len(payloads) + 1, _LAST_NUMBER, first_row=number)
        data = b"".join([m.Tuple(0, payload).encode(session.framing) for payload in payloads])
        try:
            decoder.feed(data, 0, len(data))
        except DataError as error:
            if not decoder.rows:
                error.statement = cursor.sql
                raise
        schema = finisher.schema if finisher.is_identity else finisher.decoded_schema
        batch = pa.RecordBatch._import_from_c_capsule(schema.__arrow_c_schema__(), decoder.take())
        contents = {}
        if cursor.objects is not None:
            filled = yield from cursor.objects.read(session, batch, 0, number)
            if not filled.rows:
                assert filled.error is not None
                raise filled.error
            batch, contents = batch.slice(0, filled.rows), filled.contents
        while True:
            try:
                return finisher.process(batch, number, contents)
            except DataError as error:
                batch = batch.slice(0, (error.row or number) - number)
                if not batch.num_rows:
                    error.statement = cursor.sql
                    raise


def _check_row_number(number: object) -> int:
    """Raise ``InterfaceError`` for a value that is not a row count."""
    if not isinstance(number, int):
        raise InterfaceError(f"Rows are counted in whole numbers, got {number!r}.")
    return number


def _row_number(reply: Reply) -> int | None:
    """Return the 1-based number of the row in a reply, None if the server did not send it."""
    return next((message.row for message in reply.other_messages if isinstance(message, m.TupleId)), None)
