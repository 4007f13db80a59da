"""One session's socket: an inbox that is parsed in place and an outbox that is written when the peer can take
it.

A client may write tens of thousands of groups before it reads a reply (SQLI section 11), so a write must
never stop the reading: whoever waits here waits for both directions at once. No thread is needed for that.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable

CHUNK = 256 << 10
"""Bytes asked of the kernel at a time."""

HIGH_WATER = 64 << 20
"""Unsent reply bytes above which reading stops. 100,000 pipelined inserts leave about 6 MB."""

PACE = 2 << 20
"""Unsent reply bytes above which whoever makes a long reply waits (`Stream.pace`): a large object is never
held twice."""

_SEND_SLICE = 1 << 20
_BROKEN = select.POLLHUP | select.POLLERR | select.POLLNVAL


class PeerGone(Exception):
    """The connection ended: closed, reset, or silent beyond the time limit given."""


class Stream:
    """Bytes in, bytes out, on a non-blocking socket. Used by one thread; only `shutdown` may come from
    another.

    ``inbox[pos:]`` is what has not been parsed yet. `idle` is true exactly while the thread waits for the
    peer with nothing received and nothing to do: the watcher of urgent bytes looks at it. `asking` is set
    while a statement waits for the peer, which is no idleness (SQ_FILE). `urgent` is called when an urgent byte
    lies in the kernel, and takes it: a plain read that comes upon it would throw it away.
    """

    def __init__(self, sock: socket.socket, urgent: Callable[[], object]) -> None:
        sock.setblocking(False)
        self.inbox = b""
        self.pos = 0
        self.idle = False
        self.asking = False
        self._sock = sock
        self._outbox = bytearray()
        self._chunk = bytearray(CHUNK)
        self._view = memoryview(self._chunk)
        self._poll = select.poll()
        self._urgent = urgent
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN | select.POLLPRI)

    @property
    def unread(self) -> int:
        """Received bytes that nobody has parsed yet."""
        return len(self.inbox) - self.pos

    @property
    def full(self) -> bool:
        """So many replies wait for the peer that nothing more should be read from it."""
        return len(self._outbox) > HIGH_WATER

    def queue(self, data: bytes | bytearray) -> None:
        """Append reply bytes; `flush` or any wait sends them."""
        self._outbox += data

    def flush(self) -> None:
        """Send what the socket takes now, without waiting."""
        outbox = self._outbox
        try:
            while outbox:
                with memoryview(outbox) as whole, whole[:_SEND_SLICE] as part:
                    sent = self._sock.send(part)
                del outbox[:sent]
        except BlockingIOError:
            pass
        except OSError as problem:
            raise PeerGone(str(problem)) from problem

    def receive(self, deadline: float | None = None) -> bool:
        """Wait for at least one more byte and append it to `inbox`; False at the end of the peer's stream.

        Queued replies go out while it waits. `deadline` is a time of `time.monotonic`; past it PeerGone is
        raised.
        """
        while True:
            self.flush()
            reading = not self.full
            if reading:
                received = self.receive_now(self._nothing_to_do)
                if received is not None:
                    return received
            self._wait(reading, deadline)

    def pace(self) -> None:
        """Wait until little is left unsent. What the peer sends meanwhile is taken in, up to HIGH_WATER bytes
        of it: a peer that pipelines requests for long replies before it reads any is not left hanging."""
        self.flush()
        while len(self._outbox) > PACE:
            reading = self.unread < HIGH_WATER
            if reading and self.receive_now() is False:
                raise PeerGone("the client closed the connection in the middle of a reply")
            self._wait(reading, None)
            self.flush()

    def drain(self, seconds: float) -> None:
        """Send all that is queued, waiting at most `seconds`; what the peer does not take by then is
        dropped."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(PeerGone):
            self.flush()
            while self._outbox:
                self._wait(False, deadline)
                self.flush()

    def arrived(self) -> bool:
        """Whether bytes wait in the kernel. For the watcher's thread: it takes nothing."""
        probe = select.poll()
        with contextlib.suppress(OSError, ValueError):
            probe.register(self._sock, select.POLLIN)
            return any(events & select.POLLIN for _, events in probe.poll(0))
        return False

    def shutdown(self) -> None:
        """End both directions, which wakes the thread that waits. Safe from any thread while the socket is
        open."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def receive_now(self, idle: bool = False) -> bool | None:
        """One read without waiting: True when bytes came, False at the end of the stream, None when there is
        nothing. `idle` is what the attribute says while an urgent byte is taken."""
        arrived = self._arrivals.poll(0)
        if not arrived:
            return None
        # What POLLIN announces stands before an urgent byte that comes later, and the kernel ends the read there.
        # One that is there already is taken first.
        if arrived[0][1] & select.POLLPRI:
            self.idle = idle
            try:
                self._urgent()
            finally:
                self.idle = False
            if arrived[0][1] == select.POLLPRI:
                return None
        left = self.unread
        try:
            # A message longer than the chunk is parsed again from its start whenever bytes arrive: ask for as
            # much as there is already, so that the copying stays linear.
            if left <= CHUNK:
                count = self._sock.recv_into(self._chunk)
                data = bytes(self._view[:count])
            else:
                data = self._sock.recv(left)
        except BlockingIOError:
            return None
        except OSError as problem:
            raise PeerGone(str(problem)) from problem
        if not data:
            return False
        self.inbox = self.inbox[self.pos :] + data if left else data
        self.pos = 0
        return True

    @property
    def _nothing_to_do(self) -> bool:
        return not (self.unread or self._outbox or self.asking)

    def _wait(self, reading: bool, deadline: float | None) -> None:
        events = (select.POLLIN if reading else 0) | (select.POLLOUT if self._outbox else 0)
        timeout = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        try:
            self._poll.register(self._sock, events)
        except (OSError, ValueError) as problem:
            raise PeerGone("the socket is closed") from problem
        self.idle = self._nothing_to_do
        try:
            ready = self._poll.poll(timeout)
        finally:
            self.idle = False
        if not ready:
            raise PeerGone("the peer was silent for too long")
        if ready[0][1] & _BROKEN and not ready[0][1] & events:
            raise PeerGone("the connection broke")
