"""One client session: what both ends agreed on, which replies are still to come, and how a reply is read.

After login SQLI has neither packets nor lengths: the client sends groups of messages, each closed by SQ_EOT,
and the server answers group by group, in order (SQLI section 1). So a session must know at every moment which
replies are on their way. They are of two sorts:

*own*
    the reply that the running exchange waits for. There is none between exchanges.
*owed*
    replies that were asked for ahead of need: a prefetched NFETCH, which belongs to a server cursor, or the
    answer to a CLOSE or RELEASE that nobody waits for. ``Session.owed`` lists them in wire order. The next
    exchange takes them in before it reads its own reply; rows go to their cursor, so several results can be
    read alternately.

Between exchanges the buffer stands at the start of a message and the first owed reply may be half read. An
exchange that ends in any other state has broken the session, and its runner must close it
(:meth:`Session.usable_after`).

What nobody waits for need not leave at once: a CLOSE behind the last row, a RELEASE. Such groups lie in
``Session.outbox``, their answers on ``owed`` already, and leave in front of the next group, which saves them a system
call of their own (:func:`queue`). So whoever sends a group either settles first or sends what :func:`outgoing` makes
of it. Groups that end locks or a transaction are not left lying there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

from ..wire import messages as m
from ..wire.capabilities import Framing
from ..wire.describe import Describe
from ..wire.errors import Error, InterfaceError, ProtocolError, database_error
from ..wire.message_base import Message
from ..wire.primitives import NeedMoreData, Reader
from . import client_files
from .buffer import MAX_MESSAGE, ReceiveBuffer
from .object_sources import ClientFiles
from .statement_cache import StatementCache
from .steps import Call, ConnectionLost, Exchange, Receive, Send


class Owed(Protocol):
    """Somebody to whom the reply at the head of the line belongs."""

    @property
    def bulky(self) -> bool:
        """Whether the reply may be large, so that it must be read before anything else is sent."""
        ...

    def take_in(self, session: Session) -> Exchange[None]:
        """Read the reply to its SQ_EOT and take it off ``session.owed``."""
        ...


@runtime_checkable
class Orphan(Protocol):
    """A server cursor that nobody will read any more."""

    def close(self, session: Session) -> Exchange[None]:
        """Close and release it on the server."""
        ...


class OpenCursor(Orphan, Protocol):
    """A server cursor that may still be read."""

    def fail(self, error: Error) -> None:
        """Let whoever reads on get ``error``."""
        ...


class Transaction(Enum):
    """Whether a transaction is open on the server, as far as the client can tell."""

    NONE = "none"
    OPEN = "open"
    UNKNOWN = "unknown"  # it was open, and a procedure ran that may have ended it
    READING = "reading"  # autocommit in an ANSI database: results began it, and it ends with the last of them


@dataclass(slots=True, eq=False)
class Block:
    """One ``transaction()`` block (:mod:`.blocks`)."""

    savepoint: str | None  # None: it is a transaction of its own


@dataclass(slots=True)
class Settings:
    """How the session reads, in the words of SET ISOLATION TO and SET LOCK MODE TO; "" is the server's default."""

    isolation: str = ""
    lock_mode: str = ""
    isolation_now: str = ""  # differs while a result is open that asked for another one
    lock_mode_now: str = ""
    wishes: list[tuple[str, str]] = field(default_factory=list)  # of open results that asked for something
    readers: int = 0  # open results that hold a transaction of the kind READING


@dataclass(slots=True)
class Session:
    """The state that the exchanges of one connection share. No sockets here, and no locks: one exchange at a
    time.
    """

    buffer: ReceiveBuffer
    framing: Framing
    database: str = ""
    server_name: str = ""
    server_version: str = ""  # as announced at login; not the product version (SQLI section 4)
    locale: str = ""  # of the open database, "" when none is open
    own_encoding: bool = False  # the user has said how text is encoded, whatever databases say
    logged: bool = False
    ansi: bool = False
    autocommit: bool = False
    transaction: Transaction = Transaction.NONE
    blocks: list[Block] = field(
        default_factory=list
    )  # transaction() blocks that are open, the innermost last
    statements: StatementCache = field(
        default_factory=StatementCache
    )  # prepared and idle; keeps none by default
    settings: Settings = field(default_factory=Settings)  # isolation and lock mode
    owed: deque[Owed] = field(default_factory=deque)
    outbox: bytearray = field(default_factory=bytearray)  # groups to be sent in front of the next one
    own: int = 0  # groups sent by the running exchange whose replies were not read to their end
    orphans: deque[Orphan] = field(default_factory=deque)  # cursors whose Result was dropped half read
    cursors: set[OpenCursor] = field(default_factory=set)  # all that are open on the server, orphans included
    cursor_names: int = 0
    routines: dict[str, tuple[str, int]] = field(
        default_factory=dict
    )  # handles of the fast path, by signature
    files: ClientFiles = field(default_factory=ClientFiles)  # what SQ_FILE may be answered from
    patience: float | None = None  # seconds of silence borne now; None = as the user said
    call: Call | None = None  # the call that runs, between exchanges the last one
    passed_on: BaseException | None = None  # an error of the caller's own, handed back in good order

    def usable_after(self, error: BaseException) -> bool:
        """Whether the conversation is still in step after ``error`` left an exchange.

        Only errors that the exchanges raise on purpose can leave it so; an interruption such as
        KeyboardInterrupt may have struck between any two instructions.
        """
        if error is self.passed_on:
            return self.own == 0
        lost = isinstance(error, ProtocolError | ConnectionLost)
        return isinstance(error, Error) and not lost and self.own == 0

    def next_cursor_name(self) -> str:
        """A cursor name that this session has not used: ``_ifxc`` and 13 digits (SQLI section 7.0)."""
        self.cursor_names += 1
        return f"_ifxc{self.cursor_names:013d}"


@dataclass(slots=True)
class Reply:
    """What one reply group held, its closing SQ_EOT read. Costs and transaction events are left out."""

    describe: Describe | None = None
    done: m.Done | None = None
    insert_done: m.InsertDone | None = None
    error: m.Err | None = None
    tuples: list[bytes] = field(default_factory=list)
    others: list[object] = field(default_factory=list)

    def check(self, statement: str | None = None) -> None:
        """Raise the database error that the reply holds, if it holds one."""
        if self.error is not None:
            raise error_of(self.error, statement)


def error_of(message: m.Err, statement: str | None = None) -> Error:
    """The exception for an SQ_ERR."""
    return database_error(message.sqlcode, message.isamcode, message.offset, message.near, statement)


def group(session: Session, messages: Sequence[Message]) -> bytes:
    """Encode one client group, SQ_EOT included.

    Raises ``InterfaceError`` when a value does not fit its message, ``DataError`` when the connection's code
    set lacks a character. Nothing was sent then.
    """
    framing = session.framing
    try:
        return b"".join([*(message.encode(framing) for message in messages), m.EndOfTurn().encode(framing)])
    except ValueError as error:
        raise InterfaceError(f"this cannot be sent: {error}") from error


def encoded_for(session: Session, message: Message) -> bytes:
    """One message of a group. Raises as :func:`group`."""
    try:
        return message.encode(session.framing)
    except ValueError as error:
        raise InterfaceError(f"this cannot be sent: {error}") from error


def receive(session: Session, missing: int = 1) -> Exchange[None]:
    """Wait for bytes, of which at least ``missing`` are needed. The server closing instead is an error."""
    if missing > MAX_MESSAGE:
        raise ProtocolError(f"a message that needs {missing} bytes more: the stream is out of step")
    with session.buffer.room() as room:
        count = yield Receive(room, session.patience)
    if not count:
        raise ConnectionLost("the server closed the connection while its answer was awaited")
    session.buffer.end += count


def next_message(session: Session) -> Exchange[object]:
    """Read one whole message, waiting for its bytes."""
    buffer = session.buffer
    while True:
        reader = Reader(buffer.data, buffer.start, buffer.end)
        try:
            message = m.parse_server_message(reader, session.framing)
        except NeedMoreData as need:
            yield from receive(session, need.missing)
            continue
        buffer.start = reader.pos
        return message


def outgoing(session: Session, data: bytes) -> bytes:
    """``data``, a group about to be sent, behind what is to leave before it."""
    if session.outbox:
        data = bytes(session.outbox) + data
        session.outbox.clear()
    return data


def queue(session: Session, data: bytes, groups: int = 1) -> None:
    """Let ``data``, so many groups, leave in front of the next one; nobody waits for their answers."""
    session.outbox += data
    session.owed.extend((DISCARD,) * groups)


def flush(session: Session) -> Exchange[None]:
    """Send what is queued, now; for when nothing may come after it for long."""
    if session.outbox:
        yield Send(outgoing(session, b""))


def ask(session: Session, messages: Sequence[Message]) -> Exchange[Reply]:
    """Send one group and read its reply to the end. An SQ_ERR is in the reply, not raised.

    Owed rows are taken in before sending, so that the server is never stuck with a full fetch reply while we
    send; short owed answers are read after sending and cost no wait of their own.
    """
    data = group(session, messages)
    if any(reply.bulky for reply in session.owed):
        yield from settle(session)
    session.own += 1
    yield Send(outgoing(session, data))
    if session.owed:
        yield from settle(session)
    return (yield from read_reply(session))


def ask_all(session: Session, groups: Sequence[Sequence[Message]]) -> Exchange[list[Reply]]:
    """Send several groups in one flight and read their replies. None of them may depend on how another fared."""
    data = b"".join([group(session, messages) for messages in groups])
    yield from settle(session)
    session.own += len(groups)
    yield Send(data)
    replies = []
    for _ in groups:
        replies.append((yield from read_reply(session)))
    return replies


def read_reply(session: Session) -> Exchange[Reply]:
    """Read the exchange's own reply to its SQ_EOT.

    Written flat, without a generator per message: a load reads a reply for each of its rows.
    """
    reply, buffer, framing = Reply(), session.buffer, session.framing
    reader = Reader(buffer.data, buffer.start, buffer.end)
    while True:
        try:
            message = m.parse_server_message(reader, framing)
        except NeedMoreData as need:
            yield from receive(session, need.missing)
            reader = Reader(buffer.data, buffer.start, buffer.end)
            continue
        buffer.start = reader.pos
        kind = type(message)
        if kind is m.EndOfTurn:
            session.own -= 1
            refused = client_files.take_refusal(session, failed=reply.error is not None)
            if refused is not None:
                raise refused
            return reply
        if kind is m.Exit:
            raise server_exit()
        if isinstance(message, m.FileRequest):
            yield from client_files.answer(session, message, next_message)
            reader = Reader(buffer.data, buffer.start, buffer.end)
            continue
        if isinstance(message, m.Done):
            reply.done = message
        elif isinstance(message, m.Err):
            reply.error = reply.error or message
        elif isinstance(message, m.InsertDone):
            reply.insert_done = message
        elif isinstance(message, Describe):
            reply.describe = message
        elif isinstance(message, m.Tuple):
            reply.tuples.append(message.payload)
        elif kind not in _UNINFORMATIVE:
            reply.others.append(message)


_UNINFORMATIVE = frozenset({m.Cost, m.XactStat, m.Close})


def settle(session: Session) -> Exchange[None]:
    """Take in every owed reply, in wire order. Errors in them concern their cursor, or nobody."""
    while session.owed:
        if session.outbox:
            yield Send(outgoing(session, b""))
        yield from session.owed[0].take_in(session)


def clear_orphans(session: Session) -> Exchange[None]:
    """Close the cursors that were dropped half read."""
    while session.orphans:
        yield from session.orphans.popleft().close(session)


def close_cursors(session: Session, why: Error) -> Exchange[None]:
    """Close every cursor that is open; who reads on gets ``why``, not the end of the rows."""
    for cursor in list(session.cursors):
        cursor.fail(why)
        yield from cursor.close(session)


_EOT = b"\x00\x0c"


class Discard:
    """An owed reply that nobody waits for, such as the answer to a RELEASE: read and dropped, errors
    included.
    """

    bulky = False

    def take_in(self, session: Session) -> Exchange[None]:
        buffer = session.buffer
        if not len(buffer):
            yield from receive(session)
        if buffer.data[buffer.start : buffer.start + 2] == _EOT and len(buffer) > 1:  # nearly always
            buffer.start += 2
            session.owed.popleft()
            return
        while not isinstance(message := (yield from next_message(session)), m.EndOfTurn):
            if isinstance(message, m.Exit):
                raise server_exit()
            if isinstance(message, m.FileRequest):  # its SQ_EOT would pass for the reply's
                raise ProtocolError("the server asked for a client file where it had nothing to do with any")
        session.owed.popleft()


DISCARD = Discard()


def server_exit() -> Error:
    """The error for an SQ_EXIT that nobody asked for."""
    return ConnectionLost("the server ended the session (SQ_EXIT)")
