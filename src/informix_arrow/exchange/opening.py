"""Opening a server cursor: what is bound, opened and fetched in one group, and the first sign of an answer
(SQLI section 7)."""

from __future__ import annotations

from collections.abc import Sequence

from ..wire import messages as m
from ..wire.code_sets import is_multibyte
from ..wire.describe import Column, compile_plan
from ..wire.errors import InterfaceError
from ..wire.messages import Message
from .assigned import assigned_placeholders
from .cancel import heed, wanted
from .client_files import asks_for_files
from .fetch import ReadOptions, ServerCursor, turn
from .large_objects import ObjectReader
from .lob_parameters import Parameters, send_bound
from .session import Session
from .shape import Shape
from .statement_cache import Opening
from .steps import Exchange, Send
from .stream import encoded_for, group, outgoing
from .turns import ask, read_reply, settle

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
    """Bind, open and fetch in one group, then wait for the first sign of an answer.

    Cursors that go row by row are opened only: the server's position is the row that was fetched last.

    An SQ_ERR in place of the first rows is raised here, the statement released.
    """
    if wanted(session):
        yield from heed(session)
    session.cursors.add(cursor)
    if not (cursor.stepwise or cursor.read.hold or parameters.sources):
        yield from _open_plainly(session, cursor, parameters)
        return
    name = cursor.read.name or session.next_cursor_name()
    before: list[Message] = [m.Id(cursor.statement_id), m.CursorName(name)]
    after: list[Message] = [m.Open()]
    if cursor.read.scroll:
        after.insert(0, m.Scroll())
    if cursor.read.hold:
        after.insert(0, m.Hold())
    if cursor.stepwise:
        yield from _open_only(session, cursor, before, parameters, after)
        return
    after += [m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)]
    if not parameters.sources:
        binding = [m.Bind(parameters.values)] if parameters.values else []
        yield from _open_and_fetch(session, cursor, group(session, [*before, *binding, *after]))
        return
    yield from settle(session)
    session.own += 1  # until all is sent
    failure = yield from send_bound(session, before, parameters, after)
    parameters.close()
    session.own -= 1
    session.owed.append(cursor)
    cursor.in_flight += 1
    while not cursor.answered:
        yield from turn(session, cursor, ahead=True)
    if failure is not None:
        yield from cursor.close(session)
        session.passed_on = failure
        raise failure
    yield from check_opened(session, cursor)


def _open_plainly(session: Session, cursor: ServerCursor, parameters: Parameters) -> Exchange[None]:
    """The usual way to open, whose bytes are the same each time but for the values."""
    prepared = cursor.prepared
    opening = None if prepared is None else prepared.opening
    if opening is None or opening.options is not cursor.read:
        opening = _opening(session, cursor, opening)
        if prepared is not None:
            prepared.opening = opening
    binding = b""
    if parameters.values:
        binding = encoded_for(session, m.Bind(parameters.values))
    yield from _open_and_fetch(session, cursor, b"".join((opening.before, binding, opening.after)))


def _opening(session: Session, cursor: ServerCursor, last: Opening | None) -> Opening:
    """How to open it: by the same bytes as the ``last`` time, where as much is fetched."""
    read, prepared = cursor.read, cursor.prepared
    if last is not None and last.fetch_bytes == cursor.fetch_bytes:
        before, after = last.before, last.after
    else:
        statement, name = m.Id(cursor.statement_id), m.CursorName(session.next_cursor_name())
        before = b"".join([message.encode(session.framing) for message in (statement, name)])
        after = group(session, (m.Open(), statement, m.Fetch(cursor.fetch_bytes)))
    usual = not (cursor.holds or read.isolation or read.lock_wait is not None or prepared is None)
    usual = usual and not (prepared and assigned_placeholders(prepared.text).numbers)
    usual = usual and not asks_for_files(cursor.sql)
    return Opening(read, cursor.shape, cursor.fetch_bytes, before, after, usual)


def _open_and_fetch(session: Session, cursor: ServerCursor, data: bytes) -> Exchange[None]:
    """Send the group that opens and fetches, and wait for the first sign of an answer."""
    if session.owed and any(reply.bulky for reply in session.owed):
        yield from settle(session)
    session.owed.append(cursor)
    cursor.in_flight += 1
    yield Send(outgoing(session, data))
    while session.owed[0] is not cursor:  # short answers, to the CLOSE before: no wait of their own
        yield from session.owed[0].take_in(session)
    while not cursor.answered:
        yield from turn(session, cursor, ahead=True)
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


def _open_only(
    session: Session,
    cursor: ServerCursor,
    before: Sequence[Message],
    parameters: Parameters,
    after: Sequence[Message],
) -> Exchange[None]:
    failure: Exception | None = None
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
