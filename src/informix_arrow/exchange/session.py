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
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from ..wire import messages as m
from ..wire.capabilities import Framing
from ..wire.describe import Describe
from ..wire.errors import Error, InterfaceError, ProtocolError, database_error
from ..wire.message_base import Message
from ..wire.primitives import NeedMoreData, Reader
from . import client_files
from .buffer import MAX_MESSAGE, ReceiveBuffer
from .object_sources import ClientFiles
from .steps import ConnectionLost, Exchange, Receive, Send


class Owed(Protocol):
    """Somebody to whom the reply at the head of the line belongs."""

    @property
    def bulky(self) -> bool:
        """Whether the reply may be large, so that it must be read before anything else is sent."""
        ...

    def take_in(self, session: Session) -> Exchange[None]:
        """Read the reply to its SQ_EOT and take it off ``session.owed``."""
        ...


class Orphan(Protocol):
    """A server cursor that nobody will read any more."""

    def close(self, session: Session) -> Exchange[None]:
        """Close and release it on the server."""
        ...


class Transaction(Enum):
    """Whether a transaction is open on the server, as far as the client can tell."""

    NONE = "none"
    OPEN = "open"
    UNKNOWN = "unknown"  # after a ROLLBACK typed as SQL, which may only have gone back to a savepoint


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
    logged: bool = False
    ansi: bool = False
    autocommit: bool = False
    transaction: Transaction = Transaction.NONE
    owed: deque[Owed] = field(default_factory=deque)
    own: int = 0  # groups sent by the running exchange whose replies were not read to their end
    orphans: deque[Orphan] = field(default_factory=deque)  # cursors whose Result was dropped half read
    cursor_names: int = 0
    routines: dict[str, tuple[str, int]] = field(
        default_factory=dict
    )  # handles of the fast path, by signature
    files: ClientFiles = field(default_factory=ClientFiles)  # what SQ_FILE may be answered from
    patience: float | None = None  # seconds of silence borne now; None = as the user said
    passed_on: Exception | None = None  # an error of the caller's own, handed back in good order

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


def ask(session: Session, messages: Sequence[Message]) -> Exchange[Reply]:
    """Send one group and read its reply to the end. An SQ_ERR is in the reply, not raised.

    Owed rows are taken in before sending, so that the server is never stuck with a full fetch reply while we
    send; short owed answers are read after sending and cost no wait of their own.
    """
    data = group(session, messages)
    if any(reply.bulky for reply in session.owed):
        yield from settle(session)
    session.own += 1
    yield Send(data)
    yield from settle(session)
    return (yield from read_reply(session))


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


_UNINFORMATIVE = frozenset({m.Cost, m.XactStat, m.TupleId, m.Close})


def settle(session: Session) -> Exchange[None]:
    """Take in every owed reply, in wire order. Errors in them concern their cursor, or nobody."""
    while session.owed:
        yield from session.owed[0].take_in(session)


def clear_orphans(session: Session) -> Exchange[None]:
    """Close the cursors that were dropped half read."""
    while session.orphans:
        yield from session.orphans.popleft().close(session)


class Discard:
    """An owed reply that nobody waits for, such as the answer to a RELEASE: read and dropped, errors
    included.
    """

    bulky = False

    def take_in(self, session: Session) -> Exchange[None]:
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
