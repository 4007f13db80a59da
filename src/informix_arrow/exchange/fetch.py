"""Reading rows: a server cursor and the fetches that feed its decoder.

A fetch reply is a run of SQ_TUPLE, then SQ_DONE when the cursor is exhausted, then SQ_EOT. A reply without
SQ_DONE means that more rows follow; one without any tuple ends the data as well, as do SQ_CLOSE and SQ_ERR
100 (SQLI section 7.5). The next NFETCH leaves as soon as it is likely that the reply at hand is not the last,
so that the server works and the network carries while we decode. A fetch that turns out to be one too many is
answered with DONE or -259, and either is dropped in silence.

Results with large objects keep their cursor open until the contents were read: their descriptors are good for
nothing afterwards (SQLI section 14).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from .. import _decode
from ..wire import messages as m
from ..wire.code_sets import is_multibyte
from ..wire.codepages import decoder_table
from ..wire.describe import Column, Plan, compile_plan
from ..wire.errors import DataError, Error, InterfaceError, ProtocolError
from ..wire.message_base import Message
from ..wire.types import TypeOptions
from . import client_files
from .large_objects import ObjectReader, object_columns
from .lob_parameters import Parameters, send_bound
from .session import DISCARD, Session, error_of, group, next_message, receive, server_exit, settle
from .steps import Exchange, Send

NEED_MORE, OTHER, FULL = 0, 1, 2  # the decoder's status
OBJECT_ROWS = 4096  # most rows of a batch whose large objects have to be fetched one by one
NO_MORE_ROWS = 100  # SQLCODE of "not found"

_TUPLE, _DONE, _COST, _EOT = b"\x00\x0e", b"\x00\x0f", b"\x00\x37", b"\x00\x0c"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How rows are to be read."""

    types: TypeOptions = field(default_factory=TypeOptions)
    batch_bytes: int = 16 << 20  # target size of one batch, bytes of Arrow buffers
    batch_rows: int = 1 << 20  # cap on the rows of one batch
    fetch_bytes: int = 1 << 20  # bytes of tuples asked for in one fetch


@dataclass(slots=True, eq=False)
class ServerCursor:
    """One open cursor of the server, the decoder of its rows, and what was decoded but not handed out yet."""

    statement_id: int
    sql: str
    columns: tuple[Column, ...]
    plan: Plan
    fetch_bytes: int
    decoder: _decode.Decoder | None  # None = nobody wants the rows: they are passed over by their headers
    ready: deque[object] = field(default_factory=deque)  # PyCapsules of finished batches
    in_flight: int = 0  # fetches sent whose replies were not read to their end
    reply_rows: int = 0  # tuples met in the reply being read
    answered: bool = False  # the server said something about the OPEN or the first fetch
    last: bool = False  # the server said that the rows are used up, in the reply being read
    ended: bool = False  # and that reply was read to its end
    released: bool = False  # CLOSE and RELEASE were sent
    error: Error | None = None  # raised when the rows are asked for next
    options: TypeOptions = field(default_factory=TypeOptions)
    encoding: str = "utf-8"  # of its text
    objects: ObjectReader | None = None  # of large objects that are read with the rows
    lazy: bool = False  # large objects are read later: the cursor stays open until it is closed

    bulky = True  # a fetch reply fills socket buffers

    @property
    def holds(self) -> bool:
        """Whether the server's cursor has to stay open when all its rows are here."""
        return self.lazy or self.objects is not None

    def take_in(self, session: Session) -> Exchange[None]:
        """Read the rest of the fetch reply at the head of the line; its rows wait here for their reader."""
        while not (yield from turn(session, self, ahead=False)):
            pass

    def close(self, session: Session) -> Exchange[None]:
        """Close the cursor, release the statement, drop unread rows. Does nothing the second time."""
        self.decoder = None
        self.ready.clear()
        if not self.released:
            yield from release(session, self)
            yield from settle(session)
        self.last = self.ended = True

    def fail(self, error: Error) -> None:
        """Stop decoding: the rest of the rows is passed over."""
        self.error = self.error or error
        self.decoder = None


def make_cursor(
    session: Session, statement_id: int, sql: str, columns: tuple[Column, ...], options: ReadOptions
) -> ServerCursor:
    """Compile the plan and set up the decoder.

    Raises ``NotSupportedError`` naming a column whose type cannot be read, ``InterfaceError`` when the options
    leave no column.
    """
    encoding = session.framing.encoding
    multibyte = is_multibyte(encoding)
    plan = compile_plan(columns, options.types, raw_text=multibyte)
    if columns and not plan.kept:
        raise InterfaceError(
            'lobs="skip" leaves no column of this result: select another one, or lobs="inline"'
        )
    objects, batch_rows = None, options.batch_rows
    if options.types.lobs == "inline" and (found := object_columns(columns)):
        objects = ObjectReader(statement_id, sql, found, options.batch_bytes)
        batch_rows = min(batch_rows, OBJECT_ROWS)
    decoder = _decode.Decoder(
        [op.as_tuple() for op in plan.ops],
        [column.name for column in columns],
        batch_rows=batch_rows,
        batch_bytes=options.batch_bytes,
        max_tuple=plan.max_tuple,
        codepage=None if multibyte else decoder_table(encoding),
    )
    # Less than a tuple would fetch row by row; without bit 63 the size is a signed short (SQLI section 5.1).
    wanted = max(options.fetch_bytes, plan.max_tuple)
    limit = 0x7FFF_FFFF if session.framing.large_fetch else 0x7FFF
    return ServerCursor(
        statement_id,
        sql,
        columns,
        plan,
        min(wanted, limit),
        decoder,
        options=options.types,
        encoding=encoding,
        objects=objects,
        lazy=options.types.lobs == "lazy" and bool(object_columns(columns)),
    )


def open_cursor(session: Session, cursor: ServerCursor, parameters: Parameters) -> Exchange[None]:
    """Bind, open and fetch in one group, then wait for the first sign of an answer.

    An SQ_ERR in place of the first rows is raised here, the statement released.
    """
    before: list[Message] = [m.Id(cursor.statement_id), m.CursorName(session.next_cursor_name())]
    after: list[Message] = [m.Open(), m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)]
    failure: Exception | None = None
    if parameters.sources:
        yield from settle(session)
        session.own += 1  # until all is sent
        failure = yield from send_bound(session, before, parameters, after)
        parameters.close()
        session.own -= 1
        session.owed.append(cursor)
        cursor.in_flight += 1
    else:
        data = group(session, [*before, *([m.Bind(parameters.values)] if parameters.values else []), *after])
        yield from settle(session)
        session.owed.append(cursor)
        cursor.in_flight += 1
        yield Send(data)
    while not cursor.answered:
        yield from turn(session, cursor, ahead=True)
    if failure is not None:
        yield from cursor.close(session)
        session.passed_on = failure
        raise failure
    # A value that cannot be converted waits for the rows' reader: how early it shows depends on the network.
    if cursor.error is not None and cursor.error.sqlcode is not None:
        yield from cursor.close(session)
        raise cursor.error


def next_batch(session: Session, cursor: ServerCursor) -> Exchange[object | None]:
    """The next batch as a PyCapsule ``arrow_array``; None when the rows are used up."""
    while not cursor.ready and cursor.error is None:
        if cursor.in_flight and not cursor.ended:
            # Replies to others that stand before ours are taken in first.
            while session.owed[0] is not cursor:
                yield from session.owed[0].take_in(session)
            yield from turn(session, cursor, ahead=True)
        elif not cursor.ended:
            yield from settle(session)
            yield from _request(session, cursor)
        elif cursor.decoder is not None and cursor.decoder.rows:
            cursor.ready.append(cursor.decoder.take())
            cursor.decoder = None
        else:
            if not cursor.released and not cursor.lazy:
                yield from release(session, cursor)
            return None
    if cursor.ready:
        return cursor.ready.popleft()
    assert cursor.error is not None
    yield from cursor.close(session)
    raise cursor.error


def turn(session: Session, cursor: ServerCursor, *, ahead: bool) -> Exchange[bool]:
    """Take one step in the fetch reply at the head of the line; True when its SQ_EOT was read.

    With ``ahead``, the next fetch is requested when more rows seem to come.
    """
    buffer = session.buffer
    decoder = cursor.decoder
    if decoder is not None and not cursor.ended:
        before = decoder.total_rows
        try:
            position, status = decoder.feed(buffer.data, buffer.start, buffer.end)
        except DataError as error:
            error.statement = cursor.sql
            if decoder.rows:  # the rows before it are as good as any
                cursor.ready.append(decoder.take())
            cursor.fail(error)
            cursor.answered = True
            return False
        buffer.start = position
        cursor.reply_rows += decoder.total_rows - before
        cursor.answered = cursor.answered or cursor.reply_rows > 0
        if status == FULL:
            cursor.ready.append(decoder.take())
            return False
        if status == NEED_MORE:
            yield from receive(session)
            if ahead and cursor.in_flight == 1 and not cursor.last and _more_likely(session):
                yield from _request(session, cursor)
            return False
    message = yield from next_message(session)
    cursor.answered = True
    match message:
        case m.Tuple():
            cursor.reply_rows += 1
        case m.Done() | m.Close():
            cursor.last = True
        case m.Err():
            # After the end of the rows this answers the surplus fetch: -259, or whatever the server likes.
            if not cursor.last and message.sqlcode != NO_MORE_ROWS:
                cursor.fail(error_of(message, cursor.sql))
            cursor.last = True
        case m.EndOfTurn():
            session.owed.popleft()
            cursor.in_flight -= 1
            cursor.last = cursor.ended = cursor.last or not cursor.reply_rows
            cursor.reply_rows = 0
            refused = client_files.take_refusal(session, failed=cursor.error is not None)
            if refused is not None:
                cursor.fail(refused)
            if cursor.ended and not cursor.released and not cursor.holds:
                yield from release(session, cursor)
            elif ahead and not cursor.ended and not cursor.in_flight:
                yield from _request(session, cursor)
            return True
        case m.Exit():
            raise server_exit()
        case m.FileRequest():
            yield from client_files.answer(session, message, next_message)
        case m.Cost() | m.XactStat() | m.TupleId() | m.InsertDone():
            pass
        case _:
            raise ProtocolError(f"{type(message).__name__} does not belong into the reply to a fetch")
    return False


def release(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Send CLOSE and RELEASE without waiting for the answers.

    Two groups, as after an error the server skips what is left of a group, and the statement must go in any
    case.
    """
    cursor.released = True
    statement = m.Id(cursor.statement_id)
    data = group(session, (statement, m.Close())) + group(session, (statement, m.Release()))
    session.owed += (DISCARD, DISCARD)
    yield Send(data)


def _request(session: Session, cursor: ServerCursor) -> Exchange[None]:
    """Send one more fetch; its reply is owed to the cursor."""
    data = group(session, (m.Id(cursor.statement_id), m.Fetch(cursor.fetch_bytes)))
    session.owed.append(cursor)
    cursor.in_flight += 1
    yield Send(data)


def _more_likely(session: Session) -> bool:
    """Whether the bytes at hand look like rows of a reply that is not the cursor's last.

    Only a guess, by whether they begin with a tuple and do not end with ``DONE [COST] EOT``: when it is
    wrong, a fetch leaves later than it could, or is one too many. Small results, which come whole in one
    piece, thereby never cost a surplus fetch, and neither do errors.
    """
    buffer = session.buffer
    if buffer.data[buffer.start : buffer.start + 2] != _TUPLE:
        return False
    end = buffer.tail(38)
    if not end.endswith(_EOT):
        return True
    done = 2 + (24 if session.framing.long_rowid else 14)
    body = end[:-12] if end[-12:-10] == _COST else end[:-2]
    return body[-done : len(body) - done + 2] != _DONE
