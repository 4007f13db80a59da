"""One session's socket: an inbox that is parsed in place and an outbox that is written when the peer accepts data.

A client may write tens of thousands of groups before it reads a reply (SQLI section 11), so a write must never block
reading. Every wait is therefore for both directions. No thread is needed for that.

TLS, if used, sits between the boxes and the socket. Everything else is the same with and without it.
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

from ..handlers.client_stream import ClientDisconnected, ClientSilent
from .tls import TlsError, TlsLayer

INTERRUPT = 0x42
"""The urgent byte that asks to stop the running statement (SQLI section 2, JDBC section 10)."""

RECEIVE_SIZE = 256 << 10
"""Bytes per read from the kernel."""

HIGH_WATER = 64 << 20
"""Unsent reply bytes above which reading stops. 100,000 pipelined inserts leave about 6 MB."""

SEND_BACKLOG = 2 << 20
"""Unsent reply bytes above which the producer of a long reply waits (`Stream.wait_until_sent`), so that a large object
is never in memory twice.
"""

_SEND_SLICE = 1 << 20
_BROKEN = select.POLLHUP | select.POLLERR | select.POLLNVAL


class TlsFailed(ClientDisconnected):
    """The TLS handshake with this peer failed."""


class SendLimiter(Protocol):
    """Ends a connection in the middle of a reply, for tests (faults.py)."""

    def allowed(self, size: int) -> int:
        """Return how many of `size` bytes, at least 1, may be sent now; 0 to close the connection."""

    def sent(self, size: int) -> None:
        """Count sent bytes."""


def _ignore_urgent() -> None:
    """Ignore an urgent byte after the end."""


class Stream:
    """Buffered input and output of a non-blocking socket.

    Used by one thread; only `shutdown` may be called from another.

    ``inbox[pos:]`` has not been parsed yet. `idle` is true exactly while the thread waits for the peer with nothing
    received and nothing to do; the watcher of urgent bytes reads it. `awaiting_client` is set while a statement waits
    for the peer, which does not count as idle (SQ_FILE). `idle_timeout` is the number of seconds for which the peer may
    do nothing while it is waited for, None for no limit.

    `urgent` is called when an urgent byte is in the kernel's buffer, and takes it: a plain read that meets it would
    discard it. `urgent_lock` is held around that call and around every read, so that the byte takes effect before
    anything after it is read.

    `limiter` may close the connection after a certain byte. `last_received` is the time at which bytes arrived last.
    `client_closed` is set by the watcher when the peer has closed its end: requests sent ahead are then not served.
    """

    def __init__(
        self,
        sock: socket.socket,
        urgent: Callable[[], object],
        limiter: SendLimiter | None = None,
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
        self._received_chunks: list[bytes] = []  # to be appended to the inbox, see `require_bytes`
        self._received_chunks_size = 0
        self._bytes_needed = 0
        self._sock = sock
        self._outbox = bytearray()
        self._tls: TlsLayer | None = None
        self._encrypted_out = bytearray()  # with TLS: encrypted bytes that are not sent yet
        self._chunk = bytearray(RECEIVE_SIZE)
        self._view = memoryview(self._chunk)
        self._poll = select.poll()
        self._on_urgent = urgent
        self._limiter = limiter
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN | select.POLLPRI)

    @property
    def unread(self) -> int:
        """Received bytes that have not been parsed yet."""
        return len(self.inbox) - self.pos + self._received_chunks_size

    @property
    def ready(self) -> bool:
        """True if there is something to parse: unread bytes, and as many more as `require_bytes` asked for."""
        return len(self.inbox) > self.pos and self._received_chunks_size >= self._bytes_needed

    def require_bytes(self, size: int) -> None:
        """Keep the inbox unchanged until `size` more bytes have arrived.

        A large message that arrives in small pieces would otherwise be copied, and parsed from its start, for each of
        them.
        """
        self._bytes_needed = size

    @property
    def unsent(self) -> int:
        """Reply bytes that the kernel has not accepted yet."""
        return len(self._outbox) + len(self._encrypted_out)

    @property
    def is_backlogged(self) -> bool:
        """True if so many replies are unsent that nothing more should be read from the peer."""
        return len(self._outbox) + len(self._encrypted_out) > HIGH_WATER

    def start_tls(self, context: ssl.SSLContext, deadline: float) -> None:
        """Run the handshake, before anything else was received.

        Raises `TlsFailed` if it fails; the peer has been sent the reason.
        """
        tls = TlsLayer(context, INTERRUPT)
        try:
            while not tls.handshake(self._drain_inbox()):
                self._encrypted_out += tls.outgoing()
                if not self.receive(deadline):
                    raise ClientDisconnected("The client closed the connection during the TLS handshake.")
        except TlsError as problem:
            self._encrypted_out += tls.outgoing()
            with contextlib.suppress(ClientDisconnected):
                self._flush_encrypted()
            raise TlsFailed(f"The TLS handshake failed: {problem}") from problem
        self._encrypted_out += tls.outgoing()
        self._tls = tls
        # The client's first bytes may have arrived with the end of its handshake.
        self._decrypt(b"")

    def queue(self, data: bytes | bytearray) -> None:
        """Append reply bytes; `flush` or any wait sends them.

        A bytearray must not be used afterwards, as rows are not copied.
        """
        if type(data) is bytearray and not self._outbox:
            self._outbox = data
        else:
            self._outbox += data

    def flush(self) -> None:
        """Send what the socket accepts now, without waiting."""
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
        """Send encrypted bytes; return whether all are sent."""
        self._send(self._encrypted_out)
        return not self._encrypted_out

    def _send(self, outbox: bytearray) -> None:
        try:
            while outbox:
                size = min(len(outbox), _SEND_SLICE)
                if self._limiter is not None:
                    size = self._limiter.allowed(size)
                    if not size:
                        self.shutdown()
                        raise ClientDisconnected("The connection was closed by a rule of server.faults.")
                with memoryview(outbox) as whole, whole[:size] as part:
                    sent = self._sock.send(part)
                if self._limiter is not None:
                    self._limiter.sent(sent)
                del outbox[:sent]
        except BlockingIOError:
            pass
        except OSError as problem:
            raise ClientDisconnected(str(problem)) from problem

    def receive(self, deadline: float | None = None, *, kernel_empty: bool = False) -> bool:
        """Wait for at least one more byte and append it to `inbox`; return False at the end of the peer's stream.

        Queued replies are sent during the wait. `deadline` is a time of `time.monotonic`, after which
        `ClientSilent` is raised. `kernel_empty` says that the kernel's buffer was found empty just now.
        """
        while True:
            self.flush()
            reading = not self.is_backlogged
            if reading and kernel_empty:
                kernel_empty = False
            elif reading:
                received = self.try_receive(self._is_idle)
                if received is not None:
                    return received
            self._wait(reading, deadline)

    def wait_until_sent(self) -> None:
        """Wait until little is left unsent.

        Up to HIGH_WATER bytes from the peer are received meanwhile, so that a peer that pipelines requests for long
        replies before it reads any does not deadlock.
        """
        self.flush()
        while self.unsent > SEND_BACKLOG:
            reading = self.unread < HIGH_WATER
            if reading and self.try_receive() is False:
                raise ClientDisconnected("The client closed the connection in the middle of a reply.")
            self._wait(reading, None)
            self.flush()

    def drain(self, seconds: float) -> None:
        """Send all queued bytes, waiting at most `seconds`. What the peer does not accept by then is dropped."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(ClientDisconnected):
            self.flush()
            while self.unsent:
                self._wait(False, deadline)
                self.flush()

    def finish(self) -> None:
        """End the stream from this side's thread. TLS sends its closing message if nothing else is unsent."""
        if self._tls is not None and not self.unsent:
            self._tls.close()
            self._encrypted_out += self._tls.outgoing()
            with contextlib.suppress(ClientDisconnected):
                self._flush_encrypted()
        self.shutdown()
        self._on_urgent = _ignore_urgent  # the previous callback refers to this stream

    def skip_interrupts(self) -> bool:
        """Skip interrupts that arrived as data where a message should begin; return whether there were any.

        TCP distinguishes only the last of several urgent bytes from data. Earlier ones may stand between messages, none
        of which begins with that byte.
        """
        start = self.pos
        while self.pos < len(self.inbox) and self.inbox[self.pos] == INTERRUPT:
            self.pos += 1
        return self.pos > start

    def has_kernel_data(self) -> bool:
        """Return whether bytes are in the kernel's buffer, without reading them. For the watcher's thread."""
        probe = select.poll()
        with contextlib.suppress(OSError, ValueError):
            probe.register(self._sock, select.POLLIN)
            return any(events & select.POLLIN for _, events in probe.poll(0))
        return False

    def shutdown(self) -> None:
        """End both directions, which wakes a waiting thread. May be called from any thread while the socket is open."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def try_receive(self, idle: bool = False) -> bool | None:
        """Read once without waiting.

        Returns True if bytes arrived, False at the end of the stream, None if there is nothing. `idle` is the value of
        the attribute while an urgent byte is taken.
        """
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
            # A part of a record: only an empty kernel buffer means that nothing has arrived.

    def _decrypt(self, data: bytes) -> bool | None:
        """Decrypt received bytes; returns the same as `try_receive`."""
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
        """Read from the kernel: empty at the end of the stream, None if there is nothing. `urgent_lock` is held."""
        arrived = self._arrivals.poll(0)
        if not arrived:
            return None
        # Bytes that POLLIN reports precede an urgent byte that arrives later, and the kernel ends the read there. One
        # that has arrived already is taken first.
        if arrived[0][1] & select.POLLPRI:
            self.idle = idle
            try:
                self._on_urgent()
            finally:
                self.idle = False
            if arrived[0][1] == select.POLLPRI:
                return None
        unread = self.unread
        try:
            # A message longer than the chunk is parsed again from its start whenever bytes arrive: read as much as
            # there is already, so that the copying stays linear.
            if unread <= RECEIVE_SIZE:
                count = self._sock.recv_into(self._chunk)
                return bytes(self._view[:count])
            return self._sock.recv(unread)
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
            raise ClientDisconnected("The socket is closed.") from problem
        self.idle = self._is_idle
        try:
            ready = self._poll.poll(None if seconds is None else seconds * 1000)
        finally:
            self.idle = False
        if not ready:
            raise ClientSilent("the peer was silent for too long")
        if ready[0][1] & _BROKEN and not ready[0][1] & events:
            raise ClientDisconnected("The connection was broken.")
