"""A recorded dialogue: what a server said, group by group, to be said again by something that does no work.

`record` puts a proxy between a client and the embedded server and keeps the bytes of both directions. `Replay` plays
the server's half to any number of clients, from a process of its own. It only counts the client's bytes where the
client says the same every time; where a client fetches ahead on a guess, it looks at the requests: each fetch gets the
next recorded rows, every other request its recorded reply. `drain` is the floor of all reading: it sends the
same requests and throws the same replies away.
"""

from __future__ import annotations

import os
import pickle
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.login import packet_length
from informix_arrow.wire.primitives import NeedMoreData, Reader

HOLE = 1 << 20
# Created once. Clearing it would cost a session of a few messages more than the messages do, and would evict the caches
# of other processes on the same core.
_HOLE = bytearray(HOLE)
_LARGE = 64 << 10  # bytes of a reply that is worth a file


Parse: TypeAlias = Callable[[Reader, Framing], m.Message]


@dataclass(frozen=True)
class Turn:
    """One request group of the client, and the reply to it."""

    request: bytes
    reply: bytes
    fetch: bool = False  # whether it asks for rows, and more of them


@dataclass(frozen=True)
class Dialogue:
    """A whole session, login to SQ_EXIT."""

    turns: tuple[Turn, ...]
    framing: Framing  # what both ends agreed on
    exhausted: bytes  # the answer to one fetch too many

    @property
    def reply_bytes(self) -> int:
        """Bytes that the server sent."""
        return sum(len(turn.reply) for turn in self.turns)


def record(address: tuple[str, int], session: Callable[[str, int], object]) -> Dialogue:
    """Run ``session(host, port)`` through a proxy to the server at ``address``."""
    said, answered = bytearray(), bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def relay() -> None:
            client, _ = listening.accept()
            with client, socket.create_connection(address) as server:
                back = threading.Thread(target=_pump, args=(server, client, answered))
                back.start()
                _pump(client, server, said)
                back.join()

        thread = threading.Thread(target=relay)
        thread.start()
        session(*listening.getsockname()[:2])
        thread.join()
    turns, framing = _turns(bytes(said), bytes(answered))
    rows = [turn.reply for turn in turns if turn.fetch]
    return Dialogue(tuple(turns), framing, _done(rows[-1], framing) if rows else b"")


def _pump(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
    while data := source.recv(HOLE):
        kept += data
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


def _turns(said: bytes, answered: bytes) -> tuple[list[Turn], Framing]:
    """Cut both streams at their SQ_EOTs; the login and the goodbye have none."""
    asked, reported, framing = packet_length(said[:2]), packet_length(answered[:2]), Framing()
    turns = [Turn(said[:asked], answered[:reported])]
    while asked < len(said):
        request, reply = Reader(said, asked), Reader(answered, reported)
        offer = _group(m.parse_client_message, request, framing)[0]
        answer = _group(m.parse_server_message, reply, framing)[0]
        if isinstance(offer, m.Protocols) and isinstance(answer, m.Protocols):
            framing = Framing.negotiate(offer.mask, answer.mask, "utf-8")
        group = said[asked : request.pos]
        turns.append(Turn(group, answered[reported : reply.pos], _is_fetch(group)))
        asked, reported = request.pos, reply.pos
    assert reported == len(answered), "the dialogue was not understood to its end"
    return turns, framing


def _group(parse: Parse, reader: Reader, framing: Framing) -> list[m.Message]:
    """The first and the last message of a group, or of the goodbye."""
    first = message = parse(reader, framing)
    while not isinstance(message, m.EndOfTurn | m.Exit):
        message = parse(reader, framing)
    return [first, message]


class Replay:
    """A process that plays the server's half of a dialogue; ``address`` is where.

    Of several dialogues that are held against each other all are played by one process, to one client at a time: how
    its memory happens to lie is a tenth of the time of a short session. ``addresses`` has a place for each.

    With ``count`` it counts the bytes of the requests and does not look at them.
    """

    def __init__(self, *dialogues: Dialogue, count: bool = False) -> None:
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "dialogues"
        path.write_bytes(pickle.dumps(dialogues))
        command = [sys.executable, "-m", "benchmarks.dialogue", str(path), "count" if count else "look"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
        )
        assert self._process.stdout is not None
        ports = self._process.stdout.readline().split()
        assert len(ports) == len(dialogues), "the replay did not start"
        self.addresses = [("127.0.0.1", int(port)) for port in ports]
        self.address = self.addresses[0]
        self.pid = self._process.pid

    def __enter__(self) -> Replay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


class Replies:
    """Sends the replies of a dialogue.

    Large ones come from a file in memory, whose pages the kernel passes to the client without copying them first. So
    the player uses as little CPU as possible.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self._places: dict[int, int] = {}
        self._file = -1
        if hasattr(os, "memfd_create"):
            self._file = os.memfd_create("replies")
            for turn in dialogue.turns:
                if len(turn.reply) >= _LARGE:
                    self._places[id(turn.reply)] = os.lseek(self._file, 0, os.SEEK_CUR)
                    with open(self._file, "wb", closefd=False) as file:
                        file.write(turn.reply)

    def send(self, client: socket.socket, reply: bytes) -> None:
        """Send one of them, or any other bytes."""
        at, left = self._places.get(id(reply)), len(reply)
        if at is None:
            client.sendall(reply)
            return
        while left:
            count = os.sendfile(client.fileno(), self._file, at, left)
            at, left = at + count, left - count


@lru_cache(maxsize=1)
def _replies(dialogue: Dialogue) -> Replies:
    return Replies(dialogue)


def play(dialogue: Dialogue, client: socket.socket) -> None:
    """Serve one client. The reply to a speculative fetch after the last one says that there are no more rows. A client
    that leaves before the recorded one did, because others read the rest, receives only the reply to its goodbye."""
    replies = _replies(dialogue)
    login, protocols, *_ = dialogue.turns
    fetches: deque[tuple[bytes, bool]] = deque()
    others: deque[tuple[bytes, bool]] = deque()
    for turn, last in _without_surplus(dialogue):
        (fetches if turn.fetch else others).append((turn.reply, last))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    requests = Requests(client, dialogue.framing)
    requests.login()
    client.sendall(login.reply)
    requests.next()
    client.sendall(protocols.reply)
    ended: dict[bytes, bool] = {}  # whether a statement's cursor has sent its last row
    goodbye = m.Exit().encode(dialogue.framing)
    while others or fetches:
        request = requests.next()
        if request == goodbye:
            client.sendall(goodbye)
            return
        fetch, statement = _is_fetch(request), request[2:4]
        if fetch and ended.get(statement):
            client.sendall(dialogue.exhausted)
        else:
            reply, ended[statement] = (fetches if fetch else others).popleft()
            replies.send(client, reply)


@lru_cache(maxsize=1)
def _without_surplus(dialogue: Dialogue) -> list[tuple[Turn, bool]]:
    """The turns behind the login, without fetches that the recorded client sent in vain, and whether the reply to each
    has a result's last row."""
    found: list[tuple[Turn, bool]] = []
    ended: dict[bytes, bool] = {}
    for turn in dialogue.turns[2:]:
        statement = turn.request[2:4]
        if not (turn.fetch and ended.get(statement)):
            behind = Reader(_done(turn.reply, dialogue.framing))
            of_statement = turn.request[:2] == b"\0\4"
            last = of_statement and isinstance(m.parse_server_message(behind, dialogue.framing), m.Done)
            found.append((turn, last))
            ended[statement] = last
    return found


def play_blindly(dialogue: Dialogue, client: socket.socket) -> None:
    """Serve one client that says exactly what was recorded: a reply leaves when the bytes of its request are there."""
    come = due = 0
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for turn in dialogue.turns:
        due += len(turn.request)
        while come < due:
            count = client.recv_into(_HOLE)
            if not count:
                raise ConnectionError("the client has gone")
            come += count
        client.sendall(turn.reply)


class Requests:
    """The groups of a client, cut out of its stream."""

    def __init__(self, client: socket.socket, framing: Framing) -> None:
        self._client = client
        self._framing = framing
        self._left = b""

    def login(self) -> None:
        """Pass over the login packet."""
        while len(self._left) < 2 or len(self._left) < packet_length(self._left[:2]):
            self._more()
        self._left = self._left[packet_length(self._left[:2]) :]

    def next(self) -> bytes:
        """The next group, SQ_EOT included."""
        while True:
            reader = Reader(self._left)
            try:
                _group(m.parse_client_message, reader, self._framing)
            except NeedMoreData:
                self._more()
                continue
            found, self._left = self._left[: reader.pos], self._left[reader.pos :]
            return found

    def _more(self) -> None:
        data = self._client.recv(HOLE)
        if not data:
            raise ConnectionError("the client has gone")
        self._left += data


def _is_fetch(group: bytes) -> bool:
    """Whether a group is SQ_ID and SQ_NFETCH and nothing else (SQLI section 7.5)."""
    return group[:2] == b"\0\4" and group[4:6] == b"\0\t"


def _done(reply: bytes, framing: Framing) -> bytes:
    """What stands behind the last row of a fetch reply (SQLI section 7.5)."""
    header, at = struct.Struct(">hhi" if framing.large_fetch else ">hhh"), 0
    while reply[at : at + 2] == b"\0\x0e":
        size = header.unpack_from(reply, at)[2]
        at += header.size + size + (size & 1)
    return reply[at:]


def drain(dialogue: Dialogue, address: tuple[str, int]) -> int:
    """The same session by somebody who does not look: the bytes that came. Fetches are asked for one ahead, as our
    client does."""
    hole, drained = memoryview(_HOLE), 0
    turns = dialogue.turns
    with socket.create_connection(address) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = 0
        for number, turn in enumerate(turns):
            while asked <= number or (asked == number + 1 < len(turns) and turns[asked].fetch):
                link.sendall(turns[asked].request)
                asked += 1
            left = len(turn.reply)
            while left:
                count = link.recv_into(hole[: min(left, HOLE)])
                if not count:
                    raise ConnectionError("the replay ended too early")
                left -= count
            drained += len(turn.reply)
    return drained


def _main(path: str, how: str) -> None:
    serve = play_blindly if how == "count" else play
    dialogues = pickle.loads(Path(path).read_bytes())
    with ExitStack() as stack, selectors.DefaultSelector() as waiting:
        ports = []
        for dialogue in dialogues:
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            waiting.register(listening, selectors.EVENT_READ, dialogue)
            ports.append(str(listening.getsockname()[1]))
        print(*ports, flush=True)
        while True:
            for key, _ in waiting.select():
                client, _ = key.fileobj.accept()
                with client:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
                    try:
                        serve(key.data, client)
                        client.recv(1)  # the client hangs up
                    except ConnectionError:
                        pass


if __name__ == "__main__":
    _main(*sys.argv[1:])
