"""One session's socket: an inbox that is parsed in place and an outbox that is written when the peer can take
it.

A client may write tens of thousands of groups before it reads a reply (SQLI section 11), so a write must
never stop the reading: whoever waits here waits for both directions at once. No thread is needed for that.

TLS, where there is any, sits between the boxes and the socket; everything else is the same with and without it.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Protocol

from ..handlers.client_stream import ClientDisconnected
from .tls import TlsError, TlsLayer

INTERRUPT = 0x42
"""The urgent byte that asks to stop the running statement (SQLI section 2, JDBC section 10)."""

RECEIVE_SIZE = 256 << 10
"""Bytes asked of the kernel at a time."""

HIGH_WATER = 64 << 20
"""Unsent reply bytes above which reading stops. 100,000 pipelined inserts leave about 6 MB."""

SEND_BACKLOG = 2 << 20
"""Unsent reply bytes above which whoever makes a long reply waits (`Stream.wait_until_sent`): a large object is never
held twice."""

_SEND_SLICE = 1 << 20
_BROKEN = select.POLLHUP | select.POLLERR | select.POLLNVAL


class TlsFailed(ClientDisconnected):
    """There was no TLS to be had with this peer."""


class SendLimiter(Protocol):
    """What ends a connection in the middle of a reply, for testers (faults.py)."""

    def allowed(self, size: int) -> int:
        """How many of `size` bytes, at least 1, may be sent now; 0 to cut the connection."""

    def sent(self, size: int) -> None:
        """So many were."""


def _ignore_urgent() -> None:
    """Who is told of an urgent byte when all is over."""


class Stream:
    """Bytes in, bytes out, on a non-blocking socket. Used by one thread; only `shutdown` may come from
    another.

    ``inbox[pos:]`` is what has not been parsed yet. `idle` is true exactly while the thread waits for the peer with
    nothing received and nothing to do: the watcher of urgent bytes looks at it. `awaiting_client` is set while a statement
    waits for the peer, which is no idleness (SQ_FILE). `urgent` is called when an urgent byte lies in the kernel,
    and takes it: a plain read that comes upon it would throw it away. `urgent_lock` is held around that and around
    every read: whoever takes the byte has heeded it before anything behind it is read. `idle_timeout` is how many
    seconds the peer may do nothing while it is waited for, None for ever. `cutter` may cut the connection behind
    some byte. `last_received` is when bytes came last. `client_closed` is set by the watcher when the peer has closed its end:
    nothing of what it had sent ahead is served then.
    """

    def __init__(
        self,
        sock: socket.socket,
        urgent: Callable[[], object],
        cutter: SendLimiter | None = None,
    ) -> None:
        sock.setblocking(False)
        self.urgent_lock = threading.RLock()
        self.inbox = b""
        self.pos = 0
        self.idle = False
        self.awaiting_client = False
        self.client_closed = False
        self.last_received = time.monotonic()
        self.idle_timeout: float | None = None
        self._received_chunks: list[bytes] = []  # behind the inbox, see `require_bytes`
        self._received_chunks_size = 0
        self._bytes_needed = 0
        self._sock = sock
        self._outbox = bytearray()
        self._tls: TlsLayer | None = None
        self._encrypted_out = bytearray()  # with TLS: what is encrypted and not sent yet
        self._chunk = bytearray(RECEIVE_SIZE)
        self._view = memoryview(self._chunk)
        self._poll = select.poll()
        self._on_urgent = urgent
        self._cutter = cutter
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN | select.POLLPRI)

    @property
    def unread(self) -> int:
        """Received bytes that nobody has parsed yet."""
        return len(self.inbox) - self.pos + self._received_chunks_size

    @property
    def ready(self) -> bool:
        """Whether there is something to parse: unread bytes, and as many more as `require_bytes` asked for."""
        return len(self.inbox) > self.pos and self._received_chunks_size >= self._bytes_needed

    def require_bytes(self, size: int) -> None:
        """So many bytes more are needed before there is anything to parse: until then the inbox stays as it is. A
        large message that comes in small pieces would be copied, and parsed from its start, at each of them."""
        self._bytes_needed = size

    @property
    def unsent(self) -> int:
        """Reply bytes that the kernel has not taken yet."""
        return len(self._outbox) + len(self._encrypted_out)

    @property
    def is_backlogged(self) -> bool:
        """So many replies wait for the peer that nothing more should be read from it."""
        return len(self._outbox) + len(self._encrypted_out) > HIGH_WATER

    def start_tls(self, context: ssl.SSLContext, deadline: float) -> None:
        """The handshake, before anything else was received. PeerGone when it fails; the peer has been told
        why."""
        tls = TlsLayer(context, INTERRUPT)
        try:
            while not tls.handshake(self._drain_inbox()):
                self._encrypted_out += tls.outgoing()
                if not self.receive(deadline):
                    raise ClientDisconnected("the client left during the TLS handshake")
        except TlsError as problem:
            self._encrypted_out += tls.outgoing()
            with contextlib.suppress(ClientDisconnected):
                self._flush_encrypted()
            raise TlsFailed(f"TLS handshake failed: {problem}") from problem
        self._encrypted_out += tls.outgoing()
        self._tls = tls
        # The client's first bytes may have come with the end of its handshake.
        self._decrypt(b"")

    def queue(self, data: bytes | bytearray) -> None:
        """Append reply bytes; `flush` or any wait sends them. A bytearray is given away, as rows are not copied."""
        if type(data) is bytearray and not self._outbox:
            self._outbox = data
        else:
            self._outbox += data

    def flush(self) -> None:
        """Send what the socket takes now, without waiting."""
        if not self._outbox and not self._encrypted_out:
            return
        if self._tls is None and not self._encrypted_out:
            self._send(self._outbox)
            return
        while self._flush_encrypted() and self._tls is not None and self._outbox:
            with memoryview(self._outbox) as whole, whole[:_SEND_SLICE] as part:
                self._tls.encrypt(part)
            del self._outbox[:_SEND_SLICE]
            self._encrypted_out += self._tls.outgoing()

    def _flush_encrypted(self) -> bool:
        """Send what is encrypted; whether all of it is gone."""
        self._send(self._encrypted_out)
        return not self._encrypted_out

    def _send(self, outbox: bytearray) -> None:
        try:
            while outbox:
                size = min(len(outbox), _SEND_SLICE)
                if self._cutter is not None:
                    size = self._cutter.allowed(size)
                    if not size:
                        self.shutdown()
                        raise ClientDisconnected("the connection was cut, as server.faults was told")
                with memoryview(outbox) as whole, whole[:size] as part:
                    sent = self._sock.send(part)
                if self._cutter is not None:
                    self._cutter.sent(sent)
                del outbox[:sent]
        except BlockingIOError:
            pass
        except OSError as problem:
            raise ClientDisconnected(str(problem)) from problem

    def receive(self, deadline: float | None = None, *, looked: bool = False) -> bool:
        """Wait for at least one more byte and append it to `inbox`; False at the end of the peer's stream.

        Queued replies go out while it waits. `deadline` is a time of `time.monotonic`; past it PeerGone is
        raised. `looked` tells that the kernel was found empty just now.
        """
        while True:
            self.flush()
            reading = not self.is_backlogged
            if reading and looked:
                looked = False
            elif reading:
                received = self.try_receive(self._is_idle)
                if received is not None:
                    return received
            self._wait(reading, deadline)

    def wait_until_sent(self) -> None:
        """Wait until little is left unsent. What the peer sends meanwhile is taken in, up to HIGH_WATER bytes
        of it: a peer that pipelines requests for long replies before it reads any is not left hanging."""
        self.flush()
        while self.unsent > SEND_BACKLOG:
            reading = self.unread < HIGH_WATER
            if reading and self.try_receive() is False:
                raise ClientDisconnected("the client closed the connection in the middle of a reply")
            self._wait(reading, None)
            self.flush()

    def drain(self, seconds: float) -> None:
        """Send all that is queued, waiting at most `seconds`; what the peer does not take by then is
        dropped."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(ClientDisconnected):
            self.flush()
            while self.unsent:
                self._wait(False, deadline)
                self.flush()

    def finish(self) -> None:
        """The end, from this side's thread: TLS says goodbye where nothing else is left unsent."""
        if self._tls is not None and not self.unsent:
            self._tls.close()
            self._encrypted_out += self._tls.outgoing()
            with contextlib.suppress(ClientDisconnected):
                self._flush_encrypted()
        self.shutdown()
        self._on_urgent = _ignore_urgent  # who it was holds on to this stream

    def skip_interrupts(self) -> bool:
        """Where a message should begin: pass over interrupts that came as data; whether there were any.

        TCP tells only the last of several urgent bytes from data. Those before it may stand among the messages, none
        of which begins so.
        """
        start = self.pos
        while self.pos < len(self.inbox) and self.inbox[self.pos] == INTERRUPT:
            self.pos += 1
        return self.pos > start

    def has_kernel_data(self) -> bool:
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

    def try_receive(self, idle: bool = False) -> bool | None:
        """One read without waiting: True when bytes came, False at the end of the stream, None when there is
        nothing. `idle` is what the attribute says while an urgent byte is taken."""
        if self._tls is not None and self._tls.ended:
            return False
        while True:
            with self.urgent_lock:
                data = self._read(idle)
            if data is None:
                return None
            if not data:
                return False
            if self._tls is None:
                self._append(data)
                return True
            received = self._decrypt(data)
            if received is not None:
                return received
            # A part of a record: only an empty kernel means that nothing has come.

    def _decrypt(self, data: bytes) -> bool | None:
        """Decrypt; as `try_receive`."""
        assert self._tls is not None
        try:
            plain = self._tls.decrypt(data)
        except TlsError as problem:
            raise TlsFailed(f"TLS failed: {problem}") from problem
        finally:
            self._encrypted_out += self._tls.outgoing()
        if plain:
            self._append(plain)
            return True
        return False if self._tls.ended else None

    def _read(self, idle: bool) -> bytes | None:
        """What the kernel has, empty at the end of the stream, None when there is nothing. `urgent_lock` is held."""
        arrived = self._arrivals.poll(0)
        if not arrived:
            return None
        # What POLLIN announces stands before an urgent byte that comes later, and the kernel ends the read there.
        # One that is there already is taken first.
        if arrived[0][1] & select.POLLPRI:
            self.idle = idle
            try:
                self._on_urgent()
            finally:
                self.idle = False
            if arrived[0][1] == select.POLLPRI:
                return None
        left = self.unread
        try:
            # A message longer than the chunk is parsed again from its start whenever bytes arrive: ask for as
            # much as there is already, so that the copying stays linear.
            if left <= RECEIVE_SIZE:
                count = self._sock.recv_into(self._chunk)
                return bytes(self._view[:count])
            return self._sock.recv(left)
        except BlockingIOError:
            return None
        except OSError as problem:
            raise ClientDisconnected(str(problem)) from problem

    def _append(self, data: bytes) -> None:
        self.last_received = time.monotonic()
        self._received_chunks.append(data)
        self._received_chunks_size += len(data)
        if self._received_chunks_size < self._bytes_needed:
            return
        self.inbox = b"".join([self.inbox[self.pos :], *self._received_chunks])
        self.pos = self._received_chunks_size = self._bytes_needed = 0
        self._received_chunks.clear()

    def _drain_inbox(self) -> bytes:
        data, self.inbox, self.pos = self.inbox[self.pos :], b"", 0
        return data

    @property
    def _is_idle(self) -> bool:
        return not (self.awaiting_client or self._outbox or self._encrypted_out or self.unread)

    def _wait(self, reading: bool, deadline: float | None) -> None:
        events = (select.POLLIN if reading else 0) | (select.POLLOUT if self.unsent else 0)
        seconds = self.idle_timeout if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            self._poll.register(self._sock, events)
        except (OSError, ValueError) as problem:
            raise ClientDisconnected("the socket is closed") from problem
        self.idle = self._is_idle
        try:
            ready = self._poll.poll(None if seconds is None else seconds * 1000)
        finally:
            self.idle = False
        if not ready:
            raise ClientDisconnected("the peer was silent for too long")
        if ready[0][1] & _BROKEN and not ready[0][1] & events:
            raise ClientDisconnected("the connection broke")
