"""Recorded dialogues with a server: ``pytest --informix URL --record DIR`` writes them, ``--replay DIR`` replays them.

The owner of a dialogue is the test that opened the connection, or the fixture that several tests share. Each owner has
a file: a line of JSON about the server, then for each connection a line that begins it and lines with the bytes of each
side in turn, with the names of their messages. The file contains no secrets: the login is left out, the password of the
URL and host names are overwritten with as many letters, and a dialogue with another password in a statement is not
kept. The run's prefix of database names is overwritten, too, so that other runs can replay the dialogue.
"""

from __future__ import annotations

import base64
import json
import re
import select
import socket
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from informix_arrow.trace.dialogue import Dialogue
from informix_arrow.trace.redactor import Redactor
from informix_arrow.wire.login import packet_length
from informix_arrow.wire.redaction import holds_secret

FORM = 1
"""Version of the file format. Other versions are rejected."""
LARGEST = 16 << 20
"""Maximum size of a dialogue in bytes; larger ones are not kept. A fixture's connection has those of all its tests."""

_PIECE = 64 << 10
_PREFIX = re.compile(rb"ia_test_[0-9a-f]{6}_[0-9a-f]{2}_")
REPLAYED_PREFIX = "ia_test_000000_00_"
"""Beginning of the names of databases in recordings."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Way = Literal["->", "<-"]


class NotKept(Exception):
    """A dialogue cannot be replayed or must not be kept."""


@dataclass
class Recorded:
    """The bytes that each side of a connection sent, in turn. The first request is the login."""

    chunks: list[tuple[Way, bytearray]] = field(default_factory=list)
    closed_by_server: bool = False
    interrupted: bool = False
    size: int = 0

    def add(self, way: Way, data: bytes) -> None:
        """Add bytes that one side sent."""
        self.size += len(data)
        if self.size > LARGEST:
            return
        if not self.chunks or self.chunks[-1][0] != way:
            self.chunks.append((way, bytearray()))
        self.chunks[-1][1].extend(data)


class Hiding:
    """Overwrites secrets and host names with as many letters, so that lengths in messages remain correct."""

    def __init__(self, password: str, hosts: Iterable[str]) -> None:
        self.words: list[tuple[bytes, bytes]] = []
        for words, letter in (((password,), b"x"), (hosts, b"h")):
            for word in words:
                if len(word) >= 3 and word not in _LOOPBACK:
                    for form in {word.encode("utf-8"), word.encode("latin-1", "replace")}:
                        self.words.append((form, letter * len(form)))

    def __call__(self, data: bytes) -> bytes:
        """Return the data without secrets and host names, with the database prefix of recordings."""
        for word, instead in self.words:
            data = data.replace(word, instead)
        return _PREFIX.sub(REPLAYED_PREFIX.encode("ascii"), data)


class RecordingProxy:
    """Forwards connections to a server and records their dialogues by owner."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.owner = ""
        self.kept: dict[str, list[Recorded]] = {}
        self.target = target
        self.lock = threading.Lock()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.listening.getsockname()[:2]
        self.links: list[threading.Thread] = []
        threading.Thread(target=self.accept, name="recording proxy", daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self.listening.close()

    def settle(self) -> None:
        """Wait up to a second for connections that were closed just now."""
        ends = time.monotonic() + 1
        for link in self.links:
            link.join(max(0.0, ends - time.monotonic()))
        self.links = [link for link in self.links if link.is_alive()]

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            recorded = Recorded()
            with self.lock:
                self.kept.setdefault(self.owner, []).append(recorded)
            link = threading.Thread(target=self.pass_on, args=(client, recorded), daemon=True)
            self.links.append(link)
            link.start()

    def pass_on(self, client: socket.socket, recorded: Recorded) -> None:
        with client:
            try:
                server = socket.create_connection(self.target, timeout=30)
            except OSError:
                return
            server.settimeout(None)
            with server:
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                back = threading.Thread(target=self.pump, args=(server, client, "<-", recorded), daemon=True)
                back.start()
                self.pump(client, server, "->", recorded)
                back.join()

    def pump(self, source: socket.socket, target: socket.socket, way: Way, recorded: Recorded) -> None:
        with suppress(OSError):
            while True:
                _, _, urgent = select.select([source], [], [source])
                if urgent:  # an interrupt
                    recorded.interrupted = True
                    target.send(source.recv(1, socket.MSG_OOB), socket.MSG_OOB)
                    continue
                data = source.recv(_PIECE)
                if not data:
                    break
                with self.lock:
                    recorded.add(way, data)
                target.sendall(data)
        with self.lock:
            recorded.closed_by_server |= way == "<-" and source.fileno() >= 0
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def file_of(folder: Path, owner: str) -> Path:
    """Return the file of an owner, in a folder of its test module."""
    module, _, name = owner.partition("::")
    plain = re.sub(r"\W+", "_", name)[:80]
    return folder / module / f"{plain}-{zlib.crc32(owner.encode()):08x}.jsonl"


def write(
    folder: Path, owner: str, about: dict[str, Any], connections: list[Recorded], hide: Hiding
) -> Path | None:
    """Write an owner's dialogues and return the file, None for a fixture without dialogues.

    A test without dialogues gets a file, because it may use the connection of a fixture.

    Raises
    ------
    NotKept
        The dialogues contain a secret, are too long, or depend on when an interrupt arrives.
    """
    lines: list[dict[str, Any]] = [{"form": FORM, "owner": owner, **about}]
    for number, recorded in enumerate(connections, 1):
        if recorded.interrupted:
            raise NotKept("interrupts a statement")
        if recorded.size > LARGEST:
            raise NotKept(f"has more than {LARGEST} bytes")
        lines += _lines(number, recorded, hide)
    if len(lines) == 1 and owner.startswith("fixture::"):
        return None
    path = file_of(folder, owner)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    return path


def _lines(number: int, recorded: Recorded, hide: Hiding) -> Iterator[dict[str, Any]]:
    yield {"connection": number, "closed_by_server": recorded.closed_by_server}
    dialogue = Dialogue(Redactor(values=False))  # names the messages for readers of the file
    login = True
    for way, chunk in recorded.chunks:
        data = bytes(chunk)
        if way == "->":
            messages = [entry.what for entry in dialogue.sent(data)]
            if login:
                login, data = False, data[packet_length(data[:2]) :] if len(data) > 1 else b""
            if holds_secret(data.decode("latin-1")):
                raise NotKept("has a password in a statement")
        else:
            messages = [entry.what for entry in dialogue.received(data)]
        yield {"way": way, "messages": messages, "bytes": base64.b64encode(hide(data)).decode("ascii")}


@dataclass
class Script:
    """A recorded connection for replay. `replies` has each reply with the number of request bytes that precede it."""

    requests: bytes
    replies: list[tuple[int, bytes]]
    closed_by_server: bool
    used: bool = False


def read(path: Path) -> tuple[dict[str, Any], list[Script]]:
    """Return the server's description and the connections of a file. Raises ValueError for another format."""
    with path.open(encoding="ascii") as file:
        about = json.loads(next(file))
        if about.get("form") != FORM:
            raise ValueError(f"{path} is no recording, or one of another version.")
        scripts: list[Script] = []
        for line in map(json.loads, file):
            if "connection" in line:
                scripts.append(Script(b"", [], line["closed_by_server"]))
                continue
            data = base64.b64decode(line["bytes"])
            if line["way"] == "->":
                scripts[-1].requests += data
            else:
                scripts[-1].replies.append((len(scripts[-1].requests), data))
    return about, scripts


class Player:
    """A server that replays the recordings of a folder.

    A connection gets the first dialogue of its owner that has not been replayed and whose requests are those of the
    client. A request that no dialogue has is added to ``problems`` and ends the connection.
    """

    def __init__(self, folder: Path) -> None:
        self.owner = ""
        self.problems: list[str] = []
        self.folder = folder
        self.scripts: dict[str, list[Script]] = {}
        self.lock = threading.Lock()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.listening.getsockname()[:2]
        threading.Thread(target=self.accept, name="player", daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self.listening.close()

    def begin(self, owner: str) -> None:
        """Start the dialogues of an owner from the beginning."""
        with self.lock:
            self.scripts.pop(owner, None)

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client, self.owner), daemon=True).start()

    def serve(self, client: socket.socket, owner: str) -> None:
        with client, suppress(OSError):
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            problem = self.play(client, owner)
            if problem:
                with self.lock:
                    self.problems.append(f"{owner}: {problem}")

    def play(self, client: socket.socket, owner: str) -> str:
        """Replay a dialogue. Return how the client differed from the recording, "" if it did not."""
        with self.lock:
            if owner not in self.scripts:
                path = file_of(self.folder, owner)
                self.scripts[owner] = read(path)[1] if path.exists() else []
            candidates = [script for script in self.scripts[owner] if not script.used]
        login = b""
        while len(login) < 2 or len(login) < packet_length(login[:2]):
            data = client.recv(_PIECE)
            if not data:
                return ""  # the client only tested whether a server listens
            login += data
        data, said, sent = login[packet_length(login[:2]) :], 0, 0
        playing: Script | None = None
        while True:
            candidates = [each for each in candidates if each.requests[said : said + len(data)] == data]
            with self.lock:
                if playing is not None and playing not in candidates:
                    playing.used, playing = False, None
                if playing is None:
                    playing = next((each for each in candidates if not each.used), None)
                if playing is None:
                    return f"no recorded dialogue goes on after {said} bytes with {data[:200]!r}"
                playing.used = True
            said += len(data)
            while sent < len(playing.replies) and playing.replies[sent][0] <= said:
                client.sendall(playing.replies[sent][1])
                sent += 1
            if sent == len(playing.replies) and said == len(playing.requests) and playing.closed_by_server:
                client.shutdown(socket.SHUT_WR)
            data = client.recv(_PIECE)
            if not data:
                return ""
