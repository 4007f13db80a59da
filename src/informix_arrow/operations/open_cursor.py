"""Open a server cursor: bind, open and fetch in one group, then read the first part of the reply (SQLI section
7).
"""

from __future__ import annotations

from ..wire import messages as m
from ..wire.code_sets import is_multibyte
from ..wire.describe import Column, StatementType, compile_plan
from ..wire.errors import InterfaceError
from ..wire.messages import Message
from .cancel import cancel_requested, canceled_error, raise_if_cancelled
from .client_files import may_request_files
from .fetch import (
    ReadOptions,
    ServerCursor,
    fetches_missing,
    likely_has_more,
    read_reply_chunk,
    request_fetch,
)
from .io_steps import Exchange, Send
from .large_objects import ObjectReader
from .lob_parameters import BoundParameters, send_bound
from .message_stream import encode_group, encode_message, with_outbox
from .placeholder_targets import assigned_placeholders
from .request_reply import drain_pending_replies, read_reply, request
from .result_description import ResultDescription
from .session import Session
from .statement_cache import OpenRequestTemplate

SMALL_REPLY = 4096  # bytes of a reply that is expected to arrive in one piece
OBJECT_ROWS = 4096  # most rows of a batch whose large objects have to be fetched one by one


def make_cursor(
    session: Session,
    statement_id: int,
    sql: str,
    columns: tuple[Column, ...],
    options: ReadOptions,
    shape: ResultDescription | None = None,
) -> ServerCursor:
    """Make a cursor with its decoder. Compiles the plan unless ``shape`` for the same columns and options is
    given.

    Raises ``NotSupportedError`` naming a column whose type cannot be read, and ``InterfaceError`` if the
    options leave no column.
    """
    encoding = session.framing.encoding
    if shape is None:
        plan = compile_plan(columns, options.types, raw_text=is_multibyte(encoding))
        shape = ResultDescription(columns, plan, options.types, encoding)
    plan = shape.plan
    if columns and not plan.column_indexes:
        raise InterfaceError(
            'lobs="skip" leaves no column of this result. Select another one, or lobs="inline".'
        )
    objects, batch_rows = None, options.batch_rows
    object_columns, lobs = shape.objects, options.types.lobs
    if object_columns and lobs == "inline":
        objects = ObjectReader(statement_id, sql, object_columns, options.batch_bytes)
        batch_rows = min(batch_rows, OBJECT_ROWS)
    decoder = shape.decoder(batch_rows, options.batch_bytes)
    # A size below one tuple would fetch row by row, which only named cursors need; without bit 63 the size is a
    # signed short (SQLI section 5.1).
    fetch_bytes = max(1 if options.name else options.fetch_bytes, plan.max_tuple)
    limit = 0x7FFF_FFFF if session.framing.large_fetch else 0x7FFF
    return ServerCursor(
        statement_id,
        sql,
        shape,
        min(fetch_bytes, limit),
        decoder,
        objects=objects,
        lazy=bool(object_columns) and lobs == "lazy",
        read_options=options,
    )


def open_cursor(session: Session, cursor: ServerCursor, parameters: BoundParameters) -> Exchange[None]:
    """Bind, open and fetch in one group, then read until the outcome of the OPEN is known.

    Named cursors are opened without fetching, because the server's position must be the row that was fetched
    last.

    An SQ_ERR in place of the first rows is raised here, with the statement released.
    """
    try:
        yield from raise_if_cancelled(session)
        session.cursors.add(cursor)
        if cursor.stepwise:
            yield from _open_only(session, cursor, parameters)
        elif parameters.sources:
            yield from _open_with_contents(session, cursor, parameters)
        else:
            yield from _open_and_fetch(session, cursor, parameters)
        yield from end_if_cancelled(session, cursor)
    except Exception as error:
        yield from close_after(session, cursor, error)
        raise


def end_if_cancelled(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Close the cursor and raise ``QueryCanceled`` if the call was to end while the cursor was opened.

    The interrupt may have found nothing to end on the server, which then answers as if nothing had been asked. The
    complete rows of a procedure are returned nevertheless: what the procedure has done is done.
    """
    if not cancel_requested(session):
        return
    prepared = cursor.prepared
    if cursor.ended and prepared is not None and prepared.describe.statement_type != StatementType.SELECT:
        return
    if not cursor.ended:
        cursor.fail(canceled_error())
    yield from cursor.close(session)
    yield from raise_if_cancelled(session)


def close_after(session: Session, cursor: ServerCursor, error: BaseException) -> Exchange[None]:
    """Close a cursor whose opening failed with ``error``, if the session is still in step."""
    if session.usable_after(error):
        yield from cursor.close(session)  # does nothing if it was closed already


def _open_and_fetch(session: Session, cursor: ServerCursor, parameters: BoundParameters) -> Exchange[None]:
    """Open in the usual way: one group whose bytes are the same each time except for the values."""
    template = _template_for(session, cursor)
    binding = encode_message(session, m.Bind(parameters.values)) if parameters.values else b""
    if session.pending_replies and any(reply.bulky for reply in session.pending_replies):
        yield from drain_pending_replies(session)
    session.pending_replies.append(cursor)
    cursor.in_flight += 1
    cursor.requested_at = session.clock()
    yield Send(with_outbox(session, b"".join((template.before, binding, template.after))))
    yield from read_first_rows(session, cursor)


def _template_for(session: Session, cursor: ServerCursor) -> OpenRequestTemplate:
    """Return the open request for a cursor; that of the last execution if the rows are read in the same way."""
    read, prepared = cursor.read_options, cursor.prepared
    last = None if prepared is None else prepared.template
    if last is not None and last.options == read:
        return last
    if last is not None and last.fetch_bytes == cursor.fetch_bytes and not read.with_hold:
        before, after = last.before, last.after
    else:
        statement, name = m.Id(cursor.statement_id), m.CursorName(session.next_cursor_name())
        hold = [m.Hold()] if read.with_hold else []
        before = b"".join([message.encode(session.framing) for message in (statement, name)])
        after = encode_group(session, (*hold, m.Open(), statement, m.Fetch(cursor.fetch_bytes)))
    template = OpenRequestTemplate(read, cursor.shape, cursor.fetch_bytes, before, after, _is_usual(cursor))
    if prepared is not None and not read.with_hold:
        prepared.template = template
    return template


def _is_usual(cursor: ServerCursor) -> bool:
    """Return whether an execution only opens this query's cursor, reads and closes it."""
    read, prepared = cursor.read_options, cursor.prepared
    if (
        prepared is None
        or cursor.keeps_cursor_open
        or read.with_hold
        or read.isolation
        or read.lock_wait is not None
    ):
        return False
    return not (assigned_placeholders(prepared.text).numbers or may_request_files(cursor.sql))


def _open_with_contents(
    session: Session, cursor: ServerCursor, parameters: BoundParameters
) -> Exchange[None]:
    """Open and fetch with parameters whose contents are sent in pieces."""
    yield from drain_pending_replies(session)
    before, after = _naming(session, cursor)
    after += [m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)]
    session.outstanding_requests += 1  # until all is sent
    failure = yield from send_bound(session, before, parameters, after)
    parameters.close()
    session.outstanding_requests -= 1
    session.pending_replies.append(cursor)
    cursor.in_flight += 1
    while not cursor.answered:
        yield from read_reply_chunk(session, cursor, ahead=True)
    if failure is not None:
        yield from cursor.close(session)
        session.caller_error = failure
        raise failure
    yield from check_opened(session, cursor)


def _naming(session: Session, cursor: ServerCursor) -> tuple[list[Message], list[Message]]:
    """Return the messages to send before the values, which name the cursor, and after them, which open it."""
    read = cursor.read_options
    after: list[Message] = [m.Open()]
    if read.scroll:
        after.insert(0, m.Scroll())
    if read.with_hold:
        after.insert(0, m.Hold())
    return [m.Id(cursor.statement_id), m.CursorName(read.name or session.next_cursor_name())], after


def read_first_rows(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Read until the first reply about the cursor has arrived; raise its error, if it is one."""
    while (
        session.pending_replies[0] is not cursor
    ):  # short replies, such as the one to the CLOSE before: no wait of their own
        yield from session.pending_replies[0].read_reply(session)
    if session.buffer.end - session.buffer.start > SMALL_REPLY and likely_has_more(session):
        missing = fetches_missing(session, cursor, reading=True)
        if missing:
            yield from request_fetch(session, cursor, missing)
    while not cursor.answered:
        yield from read_reply_chunk(session, cursor, ahead=True)
    yield from check_opened(session, cursor)


def check_opened(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Raise the server's error if it came in place of the first rows."""
    # A value that cannot be converted is reported when the rows are read: when it shows up here depends on the
    # network.
    if cursor.error is not None and cursor.error.sqlcode is not None:
        yield from cursor.close(session)
        problem, cursor.error = cursor.error, None
        try:
            raise problem
        finally:
            # The error refers to this frame. A local name for it would be a reference cycle, kept until garbage
            # collection.
            del problem


def _open_only(session: Session, cursor: ServerCursor, parameters: BoundParameters) -> Exchange[None]:
    """Open without fetching."""
    failure: Exception | None = None
    before, after = _naming(session, cursor)
    if parameters.sources:
        yield from drain_pending_replies(session)
        session.outstanding_requests += 1
        failure = yield from send_bound(session, before, parameters, after)
        parameters.close()
        reply = yield from read_reply(session)
    else:
        binding = [m.Bind(parameters.values)] if parameters.values else []
        reply = yield from request(session, [*before, *binding, *after])
    if failure is not None or reply.error is not None:
        yield from cursor.close(session)
    if failure is not None:
        session.caller_error = failure
        raise failure
    reply.check(cursor.sql)
