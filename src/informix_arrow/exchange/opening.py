"""Opening a server cursor: what is bound, opened and fetched in one group, and the first sign of an answer
(SQLI section 7)."""

from __future__ import annotations

from ..wire import messages as m
from ..wire.code_sets import is_multibyte
from ..wire.describe import Column, compile_plan
from ..wire.errors import InterfaceError
from ..wire.messages import Message
from .assigned import assigned_placeholders
from .cancel import heed
from .client_files import asks_for_files
from .fetch import ReadOptions, ServerCursor, more_likely, read_reply_chunk, request
from .large_objects import ObjectReader
from .lob_parameters import Parameters, send_bound
from .session import Session
from .shape import Shape
from .statement_cache import OpenRequestTemplate
from .steps import Exchange, Send
from .stream import encoded_for, group, outgoing
from .turns import ask, read_reply, settle

SMALL_REPLY = 4096  # bytes of a reply that is expected to arrive in one piece
OBJECT_ROWS = 4096  # most rows of a batch whose large objects have to be fetched one by one


def make_cursor(
    session: Session,
    statement_id: int,
    sql: str,
    columns: tuple[Column, ...],
    options: ReadOptions,
    shape: Shape | None = None,
) -> ServerCursor:
    """Compile the plan, unless there is a ``shape`` of the same columns and options already, and set up the decoder.

    Raises ``NotSupportedError`` naming a column whose type cannot be read, ``InterfaceError`` when the options
    leave no column.
    """
    encoding = session.framing.encoding
    if shape is None:
        plan = compile_plan(columns, options.types, raw_text=is_multibyte(encoding))
        shape = Shape(columns, plan, options.types, encoding)
    plan = shape.plan
    if columns and not plan.kept:
        raise InterfaceError(
            'lobs="skip" leaves no column of this result: select another one, or lobs="inline"'
        )
    objects, batch_rows = None, options.batch_rows
    found, lobs = shape.objects, options.types.lobs
    if found and lobs == "inline":
        objects = ObjectReader(statement_id, sql, found, options.batch_bytes)
        batch_rows = min(batch_rows, OBJECT_ROWS)
    decoder = shape.decoder(batch_rows, options.batch_bytes)
    # Less than a tuple would fetch row by row, which only named cursors want; without bit 63 the size is a signed
    # short (SQLI section 5.1).
    wanted = max(1 if options.name else options.fetch_bytes, plan.max_tuple)
    limit = 0x7FFF_FFFF if session.framing.large_fetch else 0x7FFF
    return ServerCursor(
        statement_id,
        sql,
        shape,
        min(wanted, limit),
        decoder,
        objects=objects,
        lazy=bool(found) and lobs == "lazy",
        read=options,
    )


def open_cursor(session: Session, cursor: ServerCursor, parameters: Parameters) -> Exchange[None]:
    """Bind, open and fetch in one group, then read until the server has said how the OPEN went.

    Cursors that go row by row are opened only: the server's position is the row that was fetched last.

    An SQ_ERR in place of the first rows is raised here, the statement released.
    """
    try:
        yield from heed(session)
        session.cursors.add(cursor)
        if cursor.stepwise:
            yield from _open_only(session, cursor, parameters)
        elif parameters.sources:
            yield from _open_with_contents(session, cursor, parameters)
        else:
            yield from _open_and_fetch(session, cursor, parameters)
    except Exception as error:
        yield from close_after(session, cursor, error)
        raise


def close_after(session: Session, cursor: ServerCursor, error: BaseException) -> Exchange[None]:
    """Close a cursor whose opening failed with ``error``, if the conversation is still in step."""
    if session.usable_after(error):
        yield from cursor.close(session)  # does nothing if it was closed already


def _open_and_fetch(session: Session, cursor: ServerCursor, parameters: Parameters) -> Exchange[None]:
    """The usual way: one group, whose bytes are the same each time but for the values."""
    template = _template_for(session, cursor)
    binding = encoded_for(session, m.Bind(parameters.values)) if parameters.values else b""
    if session.owed and any(reply.bulky for reply in session.owed):
        yield from settle(session)
    session.owed.append(cursor)
    cursor.in_flight += 1
    yield Send(outgoing(session, b"".join((template.before, binding, template.after))))
    yield from read_first_rows(session, cursor)


def _template_for(session: Session, cursor: ServerCursor) -> OpenRequestTemplate:
    """The request for a cursor: that of the statement's last execution, where its rows are read alike."""
    read, prepared = cursor.read, cursor.prepared
    last = None if prepared is None else prepared.template
    if last is not None and last.options == read:
        return last
    if last is not None and last.fetch_bytes == cursor.fetch_bytes and not read.hold:
        before, after = last.before, last.after
    else:
        statement, name = m.Id(cursor.statement_id), m.CursorName(session.next_cursor_name())
        hold = [m.Hold()] if read.hold else []
        before = b"".join([message.encode(session.framing) for message in (statement, name)])
        after = group(session, (*hold, m.Open(), statement, m.Fetch(cursor.fetch_bytes)))
    template = OpenRequestTemplate(read, cursor.shape, cursor.fetch_bytes, before, after, _is_usual(cursor))
    if prepared is not None and not read.hold:
        prepared.template = template
    return template


def _is_usual(cursor: ServerCursor) -> bool:
    """Whether to open the cursor of this query, to read and to close it is all that an execution takes."""
    read, prepared = cursor.read, cursor.prepared
    if prepared is None or cursor.holds or read.hold or read.isolation or read.lock_wait is not None:
        return False
    return not (assigned_placeholders(prepared.text).numbers or asks_for_files(cursor.sql))


def _open_with_contents(session: Session, cursor: ServerCursor, parameters: Parameters) -> Exchange[None]:
    """Open and fetch with parameters whose contents are sent in pieces."""
    yield from settle(session)
    before, after = _naming(session, cursor)
    after += [m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)]
    session.own += 1  # until all is sent
    failure = yield from send_bound(session, before, parameters, after)
    parameters.close()
    session.own -= 1
    session.owed.append(cursor)
    cursor.in_flight += 1
    while not cursor.answered:
        yield from read_reply_chunk(session, cursor, ahead=True)
    if failure is not None:
        yield from cursor.close(session)
        session.passed_on = failure
        raise failure
    yield from check_opened(session, cursor)


def _naming(session: Session, cursor: ServerCursor) -> tuple[list[Message], list[Message]]:
    """What names the cursor, before the values, and what opens it, after them."""
    read = cursor.read
    after: list[Message] = [m.Open()]
    if read.scroll:
        after.insert(0, m.Scroll())
    if read.hold:
        after.insert(0, m.Hold())
    return [m.Id(cursor.statement_id), m.CursorName(read.name or session.next_cursor_name())], after


def read_first_rows(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Read until the server has said something about the cursor; raise its error, if it is one."""
    while session.owed[0] is not cursor:  # short replies, to the CLOSE before: no wait of their own
        yield from session.owed[0].take_in(session)
    if session.buffer.end - session.buffer.start > SMALL_REPLY and more_likely(session):
        yield from request(session, cursor)
    while not cursor.answered:
        yield from read_reply_chunk(session, cursor, ahead=True)
    yield from check_opened(session, cursor)


def check_opened(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Raise the error of the server that came in place of the first rows."""
    # A value that cannot be converted waits for the rows' reader: how early it shows depends on the network.
    if cursor.error is not None and cursor.error.sqlcode is not None:
        yield from cursor.close(session)
        problem, cursor.error = cursor.error, None
        try:
            raise problem
        finally:
            # The error refers to this frame. With a name for it here both would stay until the garbage collector runs.
            del problem


def _open_only(session: Session, cursor: ServerCursor, parameters: Parameters) -> Exchange[None]:
    """Open without fetching."""
    failure: Exception | None = None
    before, after = _naming(session, cursor)
    if parameters.sources:
        yield from settle(session)
        session.own += 1
        failure = yield from send_bound(session, before, parameters, after)
        parameters.close()
        reply = yield from read_reply(session)
    else:
        binding = [m.Bind(parameters.values)] if parameters.values else []
        reply = yield from ask(session, [*before, *binding, *after])
    if failure is not None or reply.error is not None:
        yield from cursor.close(session)
    if failure is not None:
        session.passed_on = failure
        raise failure
    reply.check(cursor.sql)
