"""Execute a small query again with the least work.

Most statements of most programs are small queries that were prepared before and whose reply arrives in one
piece. The decisions made for the first execution still hold, so the request is built from an
:class:`~.statement_cache.OpenRequestTemplate`. A complete reply is decoded in one call, without a cursor on the
server to manage. :func:`can_reexecute` decides when that is possible. Everything else takes the general path
(:mod:`.open_cursor`), as do replies that turn out to be larger, incomplete or an error.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from .._decode import OTHER, Decoder
from ..rows.python_rows import DecodedRows
from ..wire import messages as m
from ..wire.assignment import Inexact
from ..wire.describe import Column, Plan
from ..wire.errors import Error
from .cancel import cancel_requested
from .cursor_session_state import CursorSessionState
from .fetch import (
    LOCKLESS,
    DecodedBatch,
    ReadOptions,
    ServerCursor,
    done_size,
    report_if_complete,
    skip_end_of_rows,
)
from .instrument import report_rows
from .io_steps import Exchange, SendReceive
from .lob_parameters import BoundParameters
from .message_stream import encode_message, require_no_extra_data
from .open_cursor import SMALL_REPLY, close_after, read_first_rows
from .request_reply import IGNORED_REPLY
from .result_description import ResultDescription
from .session import Session
from .statement_cache import OpenRequestTemplate, PreparedStatement

_EOT = b"\x00\x0c"
_MOST_ROWS = SMALL_REPLY // 8  # rows that such a reply can hold, each with its header
_ONE_BATCH = 1 << 30  # bytes: more than these rows take as Arrow
_MOST_COLUMNS = 64  # of a query whose decoder is kept: a decoder's memory grows with its columns


class SmallResult(DecodedRows):
    """All rows of a small result, as tuples. The server's cursor is closed already.

    Parameters
    ----------
    sql, shape
        The query and the description of its rows.
    rows
        The rows.
    reply
        The reply that they were decoded from, from which a batch can still be built.
    """

    __slots__ = ("_reply", "shape", "sql")

    lazy = False

    def __init__(self, sql: str, shape: ResultDescription, rows: list[tuple[Any, ...]], reply: bytes) -> None:
        self.sql, self.shape, self.python_rows, self._reply = sql, shape, rows, reply
        self.num_rows, self._schema = len(rows), shape.plan.schema
        self._capsules = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them."""
        return self.shape.columns

    @property
    def plan(self) -> Plan:
        """The plan compiled from the columns."""
        return self.shape.plan

    def _build_capsules(self) -> tuple[Any, Any]:
        decoder = self.shape.decoder(_MOST_ROWS, _ONE_BATCH)
        decoder.feed(self._reply, 0, len(self._reply))
        return self.shape.c_schema, decoder.take()

    def close(self, _: Session) -> Exchange[None]:
        """Do nothing: no cursor is open on the server."""
        yield from ()


def can_reexecute(
    session: Session,
    prepared: PreparedStatement,
    options: ReadOptions,
    bound: BoundParameters,
    inexact: Inexact,
) -> bool:
    """Return whether the last request can be sent with other values, with nothing else before or after it."""
    template, settings, pending = prepared.template, session.settings, session.pending_replies
    return (
        template is not None
        and template.reusable
        and (template.options is options or template.options == options)
        and bool(prepared.close_request)  # its last execution succeeded, and its cursor holds no locks
        and not (bound.sources or bound.files or session.ansi)
        and (not bound.values or (inexact == "error" and prepared.targets is None))
        and settings.isolation_now in LOCKLESS
        and settings.isolation_now == settings.isolation  # no open result has changed the session's isolation
        and settings.lock_mode_now == settings.lock_mode
        and (not pending or (len(pending) == 1 and pending[0] is IGNORED_REPLY))
        and not cancel_requested(session)
    )


def reexecute(
    session: Session,
    sql: str,
    prepared: PreparedStatement,
    options: ReadOptions,
    bound: BoundParameters,
    as_rows: bool = False,
) -> Exchange[ServerCursor | SmallResult]:
    """Open the cursor of a query for which :func:`can_reexecute` is true. Raises as
    :func:`.execute.run_statement`.

    With ``as_rows`` a small result is returned as Python rows if the C code supports all of its types.
    """
    template, buffer, pending = prepared.template, session.buffer, session.pending_replies
    assert template is not None
    binding = encode_message(session, m.Bind(bound.values)) if bound.values else b""
    data = b"".join((session.outbox, template.before, binding, template.after))
    session.outbox.clear()
    requested_at = session.clock()
    count = yield SendReceive(data, buffer.reserve(), session.idle_timeout)
    buffer.end += count
    if pending and buffer.end - buffer.start > 1 and buffer.data.startswith(_EOT, buffer.start):
        buffer.start += 2
        pending.clear()
    size = buffer.end - buffer.start
    if not pending and 0 < size <= SMALL_REPLY:
        result = _small_result(session, sql, prepared, template, options, as_rows)
        if result is not None:
            session.outbox += prepared.close_request
            pending.append(IGNORED_REPLY)
            return result
    session.statements.pop(prepared.text)  # it is in use from now on
    decoder = template.shape.decoder(options.batch_rows, options.batch_bytes)
    cursor = ServerCursor(
        prepared.statement_id, sql, template.shape, template.fetch_bytes, decoder, read_options=options
    )
    cursor.prepared, cursor.session_state = prepared, CursorSessionState()
    session.cursors.add(cursor)
    pending.append(cursor)
    cursor.in_flight, cursor.requested_at = 1, requested_at
    try:
        yield from read_first_rows(session, cursor)
    except Exception as error:
        yield from close_after(session, cursor, error)
        raise
    report_if_complete(session, cursor)
    return cursor


def _small_result(
    session: Session,
    sql: str,
    prepared: PreparedStatement,
    template: OpenRequestTemplate,
    options: ReadOptions,
    as_rows: bool,
) -> ServerCursor | SmallResult | None:
    """Return the result of a reply that has arrived completely. None for anything else, which stays buffered."""
    shape = template.shape
    if len(shape.columns) > _MOST_COLUMNS:
        return None
    decoder, template.decoder = template.decoder, None
    if decoder is None:
        decoder = shape.decoder(min(options.batch_rows, _MOST_ROWS), options.batch_bytes)
    result: ServerCursor | SmallResult | None
    if as_rows and shape.c_schema is not None:
        result = _decode_rows(session, sql, shape, decoder)
    else:
        result = _decode_batch(session, sql, prepared, template, options, decoder)
    if result is not None and not shape.floating_columns:
        template.decoder = decoder
    return result


def _decode_rows(
    session: Session, sql: str, shape: ResultDescription, decoder: Decoder
) -> SmallResult | None:
    buffer = session.buffer
    decoded = decoder.reply(shape.c_schema, buffer.data, buffer.start, buffer.end, done_size(session))
    if decoded is None:
        return None
    rows, reply, buffer.start = decoded
    require_no_extra_data(session)
    report_rows(session, len(rows))  # no fetch follows that could report them
    return SmallResult(sql, shape, rows, reply)


def _decode_batch(
    session: Session,
    sql: str,
    prepared: PreparedStatement,
    template: OpenRequestTemplate,
    options: ReadOptions,
    decoder: Decoder,
) -> ServerCursor | None:
    buffer, start = session.buffer, session.buffer.start
    try:
        buffer.start, status = decoder.feed(buffer.data, start, buffer.end)
    except Error:  # decoded again in the general path, which returns the rows before it
        return None
    if status != OTHER or not skip_end_of_rows(session):
        buffer.start = start
        return None
    require_no_extra_data(session)
    rows = decoder.rows
    report_rows(session, rows)
    ready = deque[DecodedBatch]([(decoder.take(), rows)] if rows else ())
    float_decoder = (
        decoder if template.shape.floating_columns else None
    )  # it counts the digits that this result has lost
    cursor = ServerCursor(
        prepared.statement_id,
        sql,
        template.shape,
        template.fetch_bytes,
        float_decoder,
        ready,
        read_options=options,
    )
    cursor.answered = cursor.end_seen = cursor.ended = cursor.released = cursor.rows_reported = True
    return cursor
