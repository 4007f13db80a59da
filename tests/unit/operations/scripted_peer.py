"""A scripted peer for exchanges: it replies to the client's groups by a script, splits its replies as requested, and
checks that the client follows the protocol."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from informix_arrow.operations.io_steps import (
    Connect,
    Exchange,
    ExcludeFromTimeout,
    Receive,
    Send,
    SendReceive,
)
from informix_arrow.operations.receive_buffer import ReceiveBuffer
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column, StatementType
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

T = TypeVar("T")
Group = list[m.Message]
Answer = Callable[[Group], Iterable[m.Message]]

FRAMING = Framing(encoding="latin-1")
COLUMNS = (
    Column("id", ColumnType.integer(not_null=True)),
    Column("name", ColumnType.varchar(20)),
    Column("sentinel", ColumnType.integer()),
)


def select(statement_id: int = 0, columns: tuple[Column, ...] = COLUMNS) -> list[m.Message]:
    """Return the reply to a PREPARE of a query."""
    return [Describe.of_columns(StatementType.SELECT, statement_id, columns), m.Done(), m.Cost()]


def insert(statement_id: int = 0) -> list[m.Message]:
    """Return the reply to a PREPARE of an INSERT: columns, but no rows."""
    return [Describe.of_columns(StatementType.INSERT, statement_id, COLUMNS), m.InsertDone(), m.Done()]


def other(statement_type: int, statement_id: int = 0) -> list[m.Message]:
    """Return the reply to a PREPARE of any other statement."""
    return [Describe.of_columns(statement_type, statement_id, ()), m.Done()]


def rows(*numbers: int, columns: tuple[Column, ...] = COLUMNS) -> list[m.Message]:
    """Return SQ_TUPLEs of the test table."""
    return [
        m.Tuple(0, encode_tuple((number, f"n{number}", 12345), columns, FRAMING.encoding))
        for number in numbers
    ]


def new_session(**state: object) -> Session:
    """Return a session after login, in a logged database.

    One fetch is sent ahead, however long replies take. Tests of larger windows are in test_fetch_window.py.
    """
    session = Session(ReceiveBuffer(0), FRAMING, database="d", logged=True, fetch_window=1)
    for name, value in state.items():
        setattr(session, name, value)
    return session


def arrived(session: Session, *messages: m.Message) -> None:
    """Put ``messages`` into the session's buffer, as if the server had sent them before."""
    data = b"".join(message.encode(FRAMING) for message in messages)
    with session.buffer.reserve() as room:
        room[: len(data)] = data
    session.buffer.end += len(data)


class Peer:
    """Plays the server for exchanges of one session.

    ``answers`` has one item for each client group other than CLOSE and RELEASE: a list of the reply's messages without
    SQ_EOT, or a function of the group's messages. ``piece`` is the number of bytes that one receive returns.
    """

    def __init__(self, answers: Sequence[Iterable[m.Message]] | Answer, piece: int = 1 << 20) -> None:
        self.answers = answers
        self.piece = piece
        self.groups: list[Group] = []
        self.steps: list[str] = []
        self.outgoing = bytearray()
        self.hang_up = False  # return 0 from receives once the replies are used up
        self.answered = 0

    def run(self, exchange: Exchange[T]) -> T:
        try:
            step = next(exchange)
            while True:
                step = exchange.send(self.do(step))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def names(self) -> list[str]:
        """Return the class names of all received messages, one string for each group."""
        return [" ".join(type(message).__name__ for message in group) for group in self.groups]

    def do(self, step: object) -> int:
        if isinstance(step, SendReceive):
            self.do(Send(step.data))
            return self.do(Receive(step.into, step.idle_timeout))
        self.steps.append(type(step).__name__)
        if isinstance(step, Connect | ExcludeFromTimeout):
            return 0
        if isinstance(step, Send):
            self.take(step.data)
            return self.deliver(step.into) if step.into is not None else 0
        assert isinstance(step, Receive)
        assert len(step.into)
        if not self.outgoing:
            assert self.hang_up, "the exchange waits for bytes that nobody will send"
            return 0
        return self.deliver(step.into)

    def deliver(self, into: memoryview) -> int:
        count = min(self.piece, len(into), len(self.outgoing))
        into[:count] = self.outgoing[:count]
        del self.outgoing[:count]
        return count

    def take(self, data: bytes) -> None:
        reader = Reader(data)
        group: Group = []
        while reader.remaining:
            message = m.parse_client_message(reader, FRAMING)
            if not isinstance(message, m.EndOfTurn):
                group.append(message)
            if isinstance(message, m.EndOfTurn | m.Exit):
                self.answer(group)
                group = []
        assert not group, "a group without SQ_EOT"

    def answer(self, group: Group) -> None:
        self.groups.append(group)
        if callable(self.answers):
            answer = self.answers(group)
        elif all(isinstance(message, m.Id | m.Close | m.Release) for message in group):
            answer = ()  # not scripted, as it is always the same
        elif self.answered < len(self.answers):
            answer = self.answers[self.answered]
            self.answered += 1
        elif self.hang_up:
            return
        else:
            assert isinstance(group[-1], m.Fetch), f"no answer for {group}"
            answer = (m.Err(-259),)  # a surplus fetch
        self.outgoing += b"".join(message.encode(FRAMING) for message in (*answer, m.EndOfTurn()))


class DistantPeer(Peer):
    """A peer whose replies never arrive while the client is sending."""

    def do(self, step: object) -> int:
        return super().do(Send(step.data) if isinstance(step, Send) else step)

    @property
    def round_trips(self) -> int:
        """Return how often the exchange has waited for the reply to what it had sent."""
        return sum(pair == ("Send", "Receive") for pair in itertools.pairwise(self.steps))
