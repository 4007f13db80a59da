"""Scripted peers for large objects: contents behind descriptors and locators, and servers that request client files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from tests.unit.operations.scripted_peer import FRAMING, Group, Peer

from informix_arrow.wire import messages as m
from informix_arrow.wire.messages import parse_file_answer
from informix_arrow.wire.primitives import NeedMoreData, Reader

CLOSE = "function informix.ifx_lo_close(integer)"


def descriptor(number: int, size: int) -> bytes:
    """Return a BYTE/TEXT descriptor: the number in the handle, the size at 16 (TYPES section 12)."""
    data = bytearray(56)
    data[16:20] = size.to_bytes(4, "big", signed=True)
    data[40:44] = number.to_bytes(4, "big")
    return bytes(data)


def locator(number: int) -> bytes:
    """Return a BLOB/CLOB locator of 72 bytes."""
    return number.to_bytes(4, "big") * 18


class LobServer:
    """Replies to everything that reads large objects, and records which are open.

    ``simple`` holds BYTE and TEXT contents by number, ``smart`` BLOB and CLOB contents. An ``Err`` in place of a
    content refuses the request. ``most`` is the maximum number of bytes of one SQ_LODATA read, ``most_open`` the
    maximum number of open objects.
    """

    def __init__(
        self,
        simple: dict[int, bytes | m.Err] | None = None,
        smart: dict[int, bytes | m.Err] | None = None,
        *,
        piece: int = 1000,
        most: int = 1 << 30,
        most_open: int = 1 << 30,
    ) -> None:
        self.simple = simple or {}
        self.smart = smart or {}
        self.piece = piece
        self.most = most
        self.most_open = most_open
        self.open: dict[int, list[int]] = {}  # descriptor -> object, position
        self.opened = 0
        self.asked: list[int] = []  # numbers of BYTE and TEXT values, in order
        self.read_errors: dict[int, m.Err] = {}  # objects that can be opened but not read
        self.next = 7
        self.signatures: list[str] = []

    def __call__(self, group: Group) -> Iterable[m.Message]:
        first = group[0]
        if isinstance(first, m.GetRoutine):
            self.signatures.append(first.signature)
            return [m.RoutineHandle("d", len(self.signatures))]
        if isinstance(first, m.ExecuteRoutine):
            assert isinstance(group[1], m.Bind)
            assert first.nparams == len(group[1].values)
            return self.call(self.signatures[first.handle - 1], group[1].values)
        if isinstance(first, m.LoData):
            return self.read(first)
        if isinstance(group[-1], m.FetchBlob):
            return self.fetch(group[-1].descriptor)
        assert all(isinstance(message, m.Id | m.Close | m.Release) for message in group), group
        return []

    def fetch(self, handle: bytes) -> list[m.Message]:
        number = int.from_bytes(handle[40:44], "big")
        self.asked.append(number)
        content = self.simple[number]
        if isinstance(content, m.Err):
            return [content]
        pieces = [content[at : at + self.piece] for at in range(0, len(content), self.piece)]
        return [*map(m.BlobChunk, pieces), m.BlobChunk(b""), m.Done(), m.Cost()]

    def call(self, signature: str, values: tuple[m.BoundValue, ...]) -> list[m.Message]:
        data = values[0].data
        assert data is not None
        if signature == CLOSE:
            del self.open[int.from_bytes(data, "big", signed=True)]
            return [m.RoutineResult((m.BoundValue(2, bytes(4), 0x0A00),))]
        kind = values[0].extended_name
        assert signature == f"function informix.ifx_lo_open({kind} ,integer)"
        assert data[:4] == (72).to_bytes(4, "big")
        number = int.from_bytes(data[4:8], "big")
        content = self.smart[number]
        if isinstance(content, m.Err):
            return [content]
        if len(self.open) >= self.most_open:
            return [m.Err(-9810, -12, 0, "too many")]
        self.next += 1
        self.opened += 1
        self.open[self.next] = [number, 0]
        return [m.RoutineResult((m.BoundValue(2, self.next.to_bytes(4, "big"), 0x0A00),)), m.Done()]

    def read(self, request: m.LoData) -> list[m.Message]:
        state = self.open[request.fd]
        if state[0] in self.read_errors:
            return [self.read_errors[state[0]]]
        content = self.smart[state[0]]
        assert isinstance(content, bytes)
        if request.op == m.LoOp.SEEK_READ:
            state[1] = request.offset
        data = content[state[1] : state[1] + min(request.count, self.most)]
        state[1] += len(data)
        return [m.LoDataReply.of_data(request.op, data)]


Dialogue = Generator[list[m.Message], "m.FileAnswer | m.Err", list[m.Message]]


class FilePeer(Peer):
    """A peer that requests files in the middle of a reply.

    ``dialogue`` is called with each client group and may return a generator. The generator yields the messages of one
    request without SQ_EOT, receives the client's whole answer, and returns the end of the reply. None leaves the group
    to ``answers``.
    """

    def __init__(
        self, answers: object, dialogue: Callable[[Group], Dialogue | None], piece: int = 1 << 20
    ) -> None:
        super().__init__(answers, piece)  # type: ignore[arg-type]
        self.dialogue = dialogue
        self.running: Dialogue | None = None
        self.op = 0
        self.incoming = b""
        self.answers_seen: list[m.FileAnswer | m.Err] = []

    def take(self, data: bytes) -> None:
        self.incoming += data
        while self.incoming:
            if self.running is not None:
                if not self.take_answer():
                    return
                continue
            reader = Reader(self.incoming)
            group: Group = []
            try:
                while True:
                    message = m.parse_client_message(reader, FRAMING)
                    if isinstance(message, m.EndOfTurn):
                        break
                    group.append(message)
            except NeedMoreData:
                return  # the content is sent in several pieces
            self.incoming = self.incoming[reader.pos :]
            self.running = self.dialogue(group)
            if self.running is None:
                self.answer(group)
            else:
                self.groups.append(group)
                self.step(None)

    def take_answer(self) -> bool:
        reader = Reader(self.incoming)
        answer: m.FileAnswer | m.Err
        try:
            if self.incoming[:2] == b"\x00\x0d":
                answer = m.parse_as(m.Err, reader, FRAMING)
                m.expect_tag(m.EndOfTurn.TAG, reader)
            else:
                answer = parse_file_answer(self.op, reader, FRAMING)
        except NeedMoreData:
            return False
        self.incoming = self.incoming[reader.pos :]
        self.answers_seen.append(answer)
        self.step(answer)
        return True

    def step(self, answer: m.FileAnswer | m.Err | None) -> None:
        assert self.running is not None
        try:
            request = next(self.running) if answer is None else self.running.send(answer)
        except StopIteration as stop:
            self.running = None
            request = stop.value
        else:
            assert isinstance(request[0], m.FileRequest)
            self.op = request[0].op
        self.outgoing += b"".join(message.encode(FRAMING) for message in (*request, m.EndOfTurn()))
