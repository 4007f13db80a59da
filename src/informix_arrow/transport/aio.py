"""Run operations on an asyncio event loop: the same operations as the blocking transport, without threads."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..operations.io_steps import (
    Call,
    CancelReason,
    Connect,
    ConnectionLost,
    Exchange,
    ExcludeFromTimeout,
    Pause,
    Poll,
    Send,
    SendReceive,
    Step,
)
from ..wire.errors import InternalError
from .limits import GRACE, URGENT, TimeLimits
from .sockets import has_unsolicited_data, is_address, send_urgent, set_up
from .tls import TlsSettings, explain

T = TypeVar("T")

#: Bytes received ahead of need; more stay with the operating system until they are wanted.
RECEIVE_BUFFER_BYTES = 256 << 10


class AsyncTransport:
    """One TCP connection, used by one task at a time, always in the same event loop.

    Parameters
    ----------
    connect_timeout
        Seconds to establish the TCP connection, with its TLS handshake; None leaves it to the operating system.
    read_timeout
        Seconds of silence allowed while bytes are awaited or cannot be sent; None waits for ever.
    keepalive
        False, True (the system's setting) or seconds of silence before the first keepalive probe.
    tls
        TLS settings for a ``Connect`` that requests TLS.
    """

    def __init__(
        self,
        *,
        connect_timeout: float | None,
        read_timeout: float | None,
        keepalive: bool | float = True,
        tls: TlsSettings | None = None,
    ) -> None:
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._keepalive = keepalive
        self._tls = tls or TlsSettings()
        self._wire: _Wire | None = None
        self._limits = TimeLimits(None, None)
        self._call: Call | None = None
        self._cancel_wait: Callable[[], None] | None = None  # ends the wait for the user's data

    async def run(
        self, exchange: Exchange[T], call: Call | None = None, *, total_timeout: float | None = None
    ) -> T:
        """Run ``exchange`` to its end and return its result.

        If the network fails or a time limit passes, ``ConnectionLost`` is thrown into the operation, which may
        handle it.

        With a ``call`` the operation can be interrupted: by :meth:`interrupt`, by the call's timeout, and by
        cancellation of the task. Then an interrupt is sent to the server once, and the operation runs on to
        read the reply. A wait of more than ``GRACE`` seconds from then on raises ``ConnectionLost``. The
        cancellation is stored in ``call.pending_exception``, for the caller to raise. A second one ends the
        operation at once and passes through.

        Without a ``call`` the run may take ``total_timeout`` seconds, and a cancellation passes through.
        """
        self._limits = TimeLimits(call, self._read_timeout, total_timeout)
        self._call = call
        try:
            step = next(exchange)
            while True:
                try:
                    received = await self._perform(step)
                except ConnectionLost as error:
                    step = exchange.throw(error)
                else:
                    step = exchange.send(received)
        except StopIteration as stop:
            return cast(T, stop.value)
        finally:
            self._call = None
            exchange.close()

    def interrupt(self) -> None:
        """Interrupt the running call; does nothing if none runs. Call it from within the event loop."""
        if self._call is not None:
            self._call.cancel_reason = self._call.cancel_reason or CancelReason.CANCEL
            if self._cancel_wait is not None:
                self._cancel_wait()
            elif self._wire is not None:
                self._wire.wake()

    def close(self) -> None:
        """Close the socket without sending anything. May be called again, also after the loop was closed."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.abort()

    def has_unsolicited_data(self, *, expecting: bool) -> bool:
        """Return whether the connection is gone or, unless ``expecting`` bytes, unexpected bytes have arrived."""
        return self._wire is None or self._wire.has_unsolicited_data(expecting=expecting)

    def detach_after_fork(self) -> None:
        """Drop a socket that is shared with the parent process after a fork.

        It is not closed through the event loop: the selector is shared, too, and the parent's would lose the
        socket.
        """
        self._wire = None

    # ---- steps -----------------------------------------------------------------------------------------------

    async def _perform(self, step: Step) -> int:
        if isinstance(step, Connect):
            await self._connect(step)
            return 0
        if isinstance(step, ExcludeFromTimeout):
            self._limits.exclude(step.seconds)
            return 0
        if isinstance(step, Pause):
            await self._pause(step)
            return 0
        if isinstance(step, Poll):
            raise InternalError("An exchange for blocking code was run by the asyncio transport.")
        wire = self._wire
        if wire is None:
            raise ConnectionLost("The connection is closed.")
        if isinstance(step, Send):
            return await self._send(wire, step)
        if isinstance(step, SendReceive):
            await self._send(wire, Send(step.data))
        into = step.into
        return await self._retry_until_done(wire, lambda: wire.read_into(into), step.idle_timeout)

    async def _pause(self, step: Pause) -> None:
        """Wait for the user's data, unless the call is to end. The wait is cancelled as soon as it is."""
        call, task = self._call, asyncio.current_task()
        if call is None or task is None:
            await step.wait()
            return
        left = self._limits.remaining(time.monotonic(), math.inf)
        if call.cancel_reason is not None:
            return
        canceled = False

        def cancel() -> None:
            nonlocal canceled
            if not canceled:
                canceled = True
                call.cancel_reason = call.cancel_reason or CancelReason.TIMEOUT
                task.cancel()

        self._cancel_wait = cancel
        timer = None if left == math.inf else asyncio.get_running_loop().call_later(left, cancel)
        try:
            await step.wait()
        finally:
            self._cancel_wait = None
            if timer is not None:
                timer.cancel()
            uncancel = getattr(task, "uncancel", None)  # Python 3.11
            if (
                canceled and uncancel is not None and uncancel()
            ):  # the task was cancelled by other code as well
                call.pending_exception = call.pending_exception or asyncio.CancelledError()

    async def _send(self, wire: _Wire, step: Send) -> int:
        """Send all of ``step.data``; with ``into``, also receive what arrives meanwhile."""
        room = step.into if step.into is not None else memoryview(bytearray())
        received = 0

        def progress() -> int | None:
            nonlocal received
            if received < len(room) and wire.waiting:
                received += wire.read_into(room[received:]) or 0
            return received if wire.drained else None

        wire.write(step.data)
        return await self._retry_until_done(wire, progress)

    async def _retry_until_done(
        self, wire: _Wire, action: Callable[[], int | None], idle_timeout: float | None = None
    ) -> int:
        """Call ``action`` until it has a result, again after each event of the connection."""
        began, seen = time.monotonic(), wire.progress
        while True:
            result = action()
            if result is not None:
                return result
            if wire.progress != seen:  # the peer was not silent
                began, seen = time.monotonic(), wire.progress
            left = self._limits.remaining(began, idle_timeout)
            call = self._call
            if call is not None and call.wants_interrupt:
                call.interrupt_sent = wire.send_urgent()
                if not call.interrupt_sent:
                    left = min(left, 0.5)  # the system cannot send it now
            try:
                await wire.event(left)
            except asyncio.CancelledError as error:
                if call is None or call.pending_exception is not None:
                    raise
                call.pending_exception = error
                call.cancel_reason = call.cancel_reason or CancelReason.BREAK

    # ---- connecting ------------------------------------------------------------------------------------------

    async def _connect(self, step: Connect) -> None:
        self.close()
        context = self._tls.make_context() if step.tls else None
        name = (self._tls.hostname or step.host) if context is not None else None
        where = f"{step.host}:{step.port}"
        limit = math.inf if self._connect_timeout is None else self._connect_timeout
        ends = time.monotonic() + limit
        loop = asyncio.get_running_loop()
        # A name may have several addresses, some of them unreachable. uvloop does not have that option.
        racing = not is_address(step.host) and isinstance(loop, asyncio.BaseEventLoop)
        options: dict[str, Any] = {"happy_eyeballs_delay": 0.25} if racing else {}
        connecting = asyncio.ensure_future(
            loop.create_connection(
                lambda: _Wire(self._keepalive),
                step.host,
                step.port,
                ssl=context,
                server_hostname=name,
                **options,
            )
        )
        try:
            while not connecting.done():
                now = time.monotonic()
                left = min(self._limits.remaining(now, math.inf), ends - now)
                if left <= 0:
                    raise ConnectionLost(f"No connection to {where} within {limit:g} s (connect_timeout).")
                # Not wait_for(), which before Python 3.12 may swallow a cancellation. The wait may end a little
                # early.
                await asyncio.wait({connecting}, timeout=None if left == math.inf else left)
        except (asyncio.CancelledError, ConnectionLost):
            _give_up(connecting)
            # Let the cancelled task end, so that the caller finds no task of ours left; but do not wait longer
            # than that.
            await asyncio.wait({connecting}, timeout=GRACE)
            raise
        try:
            _, self._wire = connecting.result()
        except ssl.SSLError as error:
            raise ConnectionLost(explain(error, name or step.host)) from error
        except UnicodeError:
            raise ConnectionLost(f"Cannot connect to {where} (the host name is malformed).") from None
        except OSError as error:
            if context is not None and isinstance(error, ConnectionResetError | ConnectionAbortedError):
                raise ConnectionLost(explain(error, name or step.host)) from error
            raise ConnectionLost(f"Cannot connect to {where} ({error.strerror or error}).") from error


def _give_up(connecting: asyncio.Future[tuple[asyncio.Transport, _Wire]]) -> None:
    """Close the connection when it is established: it is not wanted any more."""

    def end(connected: asyncio.Future[tuple[asyncio.Transport, _Wire]]) -> None:
        if not connected.cancelled() and connected.exception() is None:
            connected.result()[0].abort()

    connecting.add_done_callback(end)
    connecting.cancel()


class _Wire(asyncio.BufferedProtocol):
    """The socket of an event loop: received bytes wait in ``_spare`` until they are read."""

    def __init__(self, keepalive: bool | float) -> None:
        self.drained = True  # all written data was handed to the operating system
        self.progress = 0  # counts bytes received and sent
        self._keepalive = keepalive
        self._spare = bytearray(RECEIVE_BUFFER_BYTES)
        self._start = self._end = 0
        self._transport: asyncio.Transport | None = None
        self._secure = False
        self._paused = False
        self._ended = False  # the peer will not send any more
        self._lost: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def waiting(self) -> int:
        """The number of bytes that were received and not read."""
        return self._end - self._start

    def read_into(self, into: memoryview) -> int | None:
        """Move received bytes to ``into``.

        Returns their number; 0 at the end of the stream; None if there are none yet.
        """
        count = min(len(into), self.waiting)
        if count:
            into[:count] = memoryview(self._spare)[self._start : self._start + count]
            self._start += count
            if self._start == self._end:
                self._start = self._end = 0
                self._resume_reading()
            return count
        self._require()
        return 0 if self._ended else None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Begin to send; :attr:`drained` becomes True when the operating system has all of it."""
        self._require()
        assert self._transport is not None
        self._transport.write(data)

    def send_urgent(self) -> bool:
        """Send the urgent byte (SQLI section 2), outside of TLS. Returns False if it cannot be sent now."""
        link = None if self._transport is None else self._transport.get_extra_info("socket")
        if link is None or self._lost is not None:
            return True  # the wait for the reply will raise
        # asyncio's socket wrapper cannot send, but has the descriptor.
        with contextlib.closing(socket.fromfd(link.fileno(), link.family, link.type)) as copy:
            return send_urgent(copy, URGENT)

    def has_unsolicited_data(self, *, expecting: bool) -> bool:
        """Return the same as :meth:`AsyncTransport.has_unsolicited_data`."""
        link = None if self._transport is None else self._transport.get_extra_info("socket")
        if link is None or self._lost is not None or self._ended or (self.waiting and not expecting):
            return True
        return has_unsolicited_data(link, expecting=expecting)

    async def event(self, seconds: float) -> None:
        """Wait for an event: bytes, room to send, the end, :meth:`wake`, or the end of ``seconds``."""
        self._require()
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = None if seconds == math.inf else loop.call_later(max(0.0, seconds), self.wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def wake(self) -> None:
        """End the wait for an event."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            try:
                self._transport.abort()
            except RuntimeError:
                # The loop is closed; its transport closes the socket when it is garbage-collected.
                link = self._transport.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)  # the server need not wait for the garbage collector

    def _require(self) -> None:
        if self._lost is not None and not self.waiting:
            if isinstance(self._lost, ssl.SSLError):
                raise ConnectionLost(
                    f"The connection broke. {explain(self._lost, 'the server', established=True)}"
                ) from self._lost
            if self._ended:
                raise ConnectionLost("The server closed the connection.")
            raise ConnectionLost(f"The connection broke ({self._lost}).") from self._lost

    def _resume_reading(self) -> None:
        if self._paused and self._transport is not None and not self._ended:
            self._paused = False
            self._transport.resume_reading()

    # ---- callbacks of the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._secure = transport.get_extra_info("sslcontext") is not None
        # Call pause_writing() as soon as anything waits, and resume_writing() when nothing does: that means
        # "sent" here.
        self._transport.set_write_buffer_limits(high=0)
        link = transport.get_extra_info("socket")
        if link is not None:
            set_up(link, self._keepalive)

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._spare)[self._end :]

    def buffer_updated(self, nbytes: int) -> None:
        self._end += nbytes
        self.progress += 1
        if self._end == RECEIVE_BUFFER_BYTES and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self.wake()

    def eof_received(self) -> bool:
        self._ended = True
        self.wake()
        # Stay open, because earlier requests may still get replies. TLS ends both directions at once.
        return not self._secure

    def pause_writing(self) -> None:
        self.drained = False

    def resume_writing(self) -> None:
        self.drained = True
        self.progress += 1
        self.wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = exc or ConnectionAbortedError("it was closed")
        self.drained = True
        self.wake()
