"""A network link with a delay: bytes pass through a proxy, each way later by half the round trip.

Round trips are counted, not only timed: a change of direction towards the server is one.
"""

from __future__ import annotations

import fcntl
import selectors
import socket
import struct
import sys
import threading
import time
from collections import deque
from types import TracebackType

_SIOCATMARK = 0x8905  # of Linux


def _at_mark(source: socket.socket) -> bool:
    """Whether the next byte is an urgent one: that is how a client interrupts a statement."""
    if not sys.platform.startswith("linux"):
        return False
    return struct.unpack("i", fcntl.ioctl(source, _SIOCATMARK, struct.pack("i", 0)))[0] != 0


class SlowLink:
    """A proxy in front of ``target``. ``address`` is where to connect; one thread serves all connections.

    Parameters
    ----------
    target
        Host and port of the server.
    round_trip
        Seconds added to a round trip.
    """

    def __init__(self, target: tuple[str, int], round_trip: float) -> None:
        self._target = target
        self._delay = round_trip / 2
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._wake, self._waker = socket.socketpair()
        self._ended = False
        self.address = ("127.0.0.1", int(self._listening.getsockname()[1]))
        self.round_trips = 0
        self.bytes_to_client = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> SlowLink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._waker.send(b"x")
        self._thread.join()
        self._listening.close()
        self._wake.close()
        self._waker.close()

    def _run(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._listening, selectors.EVENT_READ)
        selector.register(self._wake, selectors.EVENT_READ)
        towards: dict[socket.socket, tuple[socket.socket, bool]] = {}
        speaking: dict[socket.socket, bool] = {}  # by the client's socket: whether the client spoke last
        waiting: deque[tuple[float, socket.socket, bytes, bool]] = deque()
        while not self._ended:
            timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            for key, _ in selector.select(timeout):
                source = key.fileobj
                if source is self._listening:
                    client, _ = self._listening.accept()
                    server = socket.create_connection(self._target)
                    for one, other, asks in ((client, server, True), (server, client, False)):
                        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
                        towards[one] = (other, asks)
                        selector.register(one, selectors.EVENT_READ)
                elif isinstance(source, socket.socket) and source in towards:
                    other, asks = towards[source]
                    urgent = asks and _at_mark(source)
                    try:
                        data = source.recv(1 if urgent else 1 << 20)
                    except ConnectionError:
                        data = b""
                    pair = source if asks else other
                    if asks and data and not speaking.get(pair):
                        self.round_trips += 1
                    if not asks:
                        self.bytes_to_client += len(data)
                    if data:
                        speaking[pair] = asks
                    else:
                        selector.unregister(source)
                    waiting.append((time.monotonic() + self._delay, other, data, urgent))
            while waiting and waiting[0][0] <= time.monotonic():
                _, target, data, urgent = waiting.popleft()
                try:
                    if data:
                        target.setblocking(True)
                        if urgent:
                            target.send(data, socket.MSG_OOB)
                        else:
                            target.sendall(data)
                    else:
                        target.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
        for one in towards:
            one.close()
        selector.close()
