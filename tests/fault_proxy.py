"""A proxy between a client and a server that breaks the connection at a chosen byte.

    with FaultProxy(server.address) as proxy:
        proxy.fault = Fault("server", 120, "cut")     # after 120 bytes from the server
        ifx.connect(url, host=proxy.host, port=proxy.port)

It does not forward urgent data (the interrupt), so a server behind it does not see a cancel.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

Side = Literal["client", "server"]

_PIECE = 64 << 10


@dataclass(frozen=True)
class Fault:
    """What happens to a connection once ``after`` bytes from one side were forwarded.

    ``"cut"`` shuts both sockets down, ``"reset"`` resets them. ``"hang"`` forwards nothing more in either direction and
    leaves both ends open, like a half-open connection. ``"spoil"`` inverts the bits ``bits`` of the next byte and then
    forwards everything unchanged.
    """

    side: Side
    after: int
    action: Literal["cut", "reset", "hang", "spoil"] = "cut"
    bits: int = 0xFF


@dataclass(frozen=True)
class Boundary:
    """A point of a dialogue at which the other side begins to send: the bytes forwarded from each side until then."""

    client: int
    server: int
    next: Side  # the side that sends next


class FaultProxy:
    """Listens on a free port and forwards everything to ``target``.

    Attributes
    ----------
    fault
        Fault of connections made from now on; None for none.
    piece
        Maximum number of bytes forwarded at a time; 1 splits everything into single bytes.
    delay
        Seconds to wait before each piece.
    connections
        Connections accepted so far.
    strikes
        Faults other than ``"spoil"`` that have taken effect so far.
    boundaries
        Where the sender changed in the connection made last. Exact for dialogues in which the sides take turns.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.fault: Fault | None = None
        self.piece = _PIECE
        self.delay = 0.0
        self.connections = 0
        self.strikes = 0
        self.boundaries: list[Boundary] = []
        self.links: list[_Link] = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.accept, name="fault proxy")
        self.thread.start()

    @property
    def host(self) -> str:
        return str(self.listening.getsockname()[0])

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    def cut_all(self) -> None:
        """Close all current connections."""
        for link in list(self.links):
            link.end()

    def close(self) -> None:
        """Stop the proxy and close all its connections."""
        with contextlib.suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listening.close()
        for link in list(self.links):
            link.end()
            link.join()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            for link in [link for link in self.links if link.over]:
                link.join()
                self.links.remove(link)
            try:
                server = socket.create_connection(self.target)
            except OSError:
                client.close()
                continue
            self.connections += 1
            self.boundaries = []
            self.links.append(_Link(client, server, self))

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Link:
    """One connection, with a thread for each direction."""

    def __init__(self, client: socket.socket, server: socket.socket, proxy: FaultProxy) -> None:
        self.sockets: dict[Side, socket.socket] = {"client": client, "server": server}
        self.proxy, self.struck = proxy, False
        self.fault, self.piece, self.delay = proxy.fault, proxy.piece, proxy.delay
        self.boundaries = proxy.boundaries
        self.passed: dict[Side, int] = {"client": 0, "server": 0}
        self.speaks: Side = "client"
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.hangs = False
        for link in self.sockets.values():
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pumps: list[tuple[Side, Side]] = [("client", "server"), ("server", "client")]
        self.threads = [threading.Thread(target=self.pump, args=pump, name="fault proxy") for pump in pumps]
        self.left = len(self.threads)
        self.strike("client", 0)
        self.strike("server", 0)
        for thread in self.threads:
            thread.start()

    @property
    def over(self) -> bool:
        return self.left == 0

    def end(self, *, reset: bool = False) -> None:
        """Shut both sockets down; the threads close them."""
        self.ended.set()
        for link in self.sockets.values():
            with contextlib.suppress(OSError):
                if reset:
                    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                link.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)

    def join(self) -> None:
        for thread in self.threads:
            thread.join()

    def strike(self, side: Side, passed: int) -> bool:
        """Apply the fault if it is due. Return whether nothing more is to be forwarded."""
        fault = self.fault
        if fault is None or fault.action == "spoil" or fault.side != side or passed < fault.after:
            return self.hangs
        with self.lock:
            self.proxy.strikes += not self.struck
            self.struck = True
        if fault.action == "hang":
            self.hangs = True
        else:
            self.end(reset=fault.action == "reset")
        return True

    def pump(self, side: Side, other: Side) -> None:
        source, sink = self.sockets[side], self.sockets[other]
        try:
            while not self.ended.is_set():
                most = self.piece
                if self.fault is not None and self.fault.side == side and self.fault.action != "spoil":
                    most = max(1, min(most, self.fault.after - self.passed[side]))
                data = source.recv(most)
                if self.hangs:
                    if not data:
                        break
                    continue  # data is read and dropped, so that the end of the stream is noticed
                if not data:
                    with contextlib.suppress(OSError):
                        sink.shutdown(socket.SHUT_WR)
                    return
                if self.delay:
                    self.ended.wait(self.delay)
                self.note(side, other)
                data = self.spoilt(side, data)
                self.passed[side] += len(data)
                sink.sendall(data)
                if self.strike(side, self.passed[side]):
                    continue
        except OSError:
            pass
        finally:
            self.leave(side == "client" or self.hangs or self.ended.is_set())

    def spoilt(self, side: Side, data: bytes) -> bytes:
        fault = self.fault
        if fault is None or fault.action != "spoil" or fault.side != side:
            return data
        at = fault.after - self.passed[side]
        if not 0 <= at < len(data):
            return data
        return data[:at] + bytes([data[at] ^ fault.bits]) + data[at + 1 :]

    def note(self, side: Side, other: Side) -> None:
        with self.lock:
            if self.speaks != side:
                self.speaks = side
                self.boundaries.append(Boundary(self.passed["client"], self.passed["server"], side))

    def leave(self, whole: bool) -> None:
        """End a thread; the last one closes the sockets. With ``whole``, the other thread ends as well."""
        if whole and not self.ended.is_set():
            self.end()
        with self.lock:
            last = self.left == 1
            if last:
                for link in self.sockets.values():
                    link.close()
            self.left -= 1


def eventually(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait until ``holds()`` is true. Raises AssertionError if that takes too long."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, f"not within {seconds:g} s: {what}"
        time.sleep(0.01)


def open_files() -> int:
    """Return the number of open file descriptors of this process, 0 where the system does not report it."""
    gc.collect()
    with contextlib.suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return 0
