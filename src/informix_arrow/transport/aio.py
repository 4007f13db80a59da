"""Runs exchanges on an asyncio event loop: the same conversations as the blocking transport, no threads."""

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
    Send,
    SendReceive,
    Step,
)
from .limits import GRACE, URGENT, TimeLimits
from .sockets import has_unsolicited_data, is_address, send_urgent, set_up
from .tls import TlsSettings, explain

T = TypeVar("T")

#: Bytes that are taken in ahead of need; more stay with the operating system until somebody asks for them.
RECEIVE_BUFFER_BYTES = 256 << 10


class AsyncTransport:
    """One TCP connection, used by one task at a time, all of it in one event loop.

    Parameters
    ----------
    connect_timeout
        Seconds until the TCP connection, with its TLS handshake, must stand; None leaves it to the operating system.
    read_timeout
        Seconds of silence that are borne while bytes are awaited or cannot be sent; None waits for ever.
    keepalive
        False, True (as the system has it) or seconds of silence after which TCP asks for a sign of life.
    tls
        How to speak TLS where a ``Connect`` asks for it.
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

    async def run(self, exchange: Exchange[T], call: Call | None = None, *, whole: float | None = None) -> T:
        """Drive ``exchange`` to its end and return its result.

        When the network fails or a time limit is over, ``ConnectionLost`` is thrown into the exchange, which may
        know what to do.

        With a ``call`` the exchange can be interrupted: by :meth:`interrupt`, when the call's timeout is over, and by
        the cancellation of the task. Then the server is asked once to stop, and the exchange is driven on, so that it
        reads the answer; a wait that goes on for more than ``GRACE`` seconds from then on is a ``ConnectionLost``.
        The cancellation is kept in ``call.broken``, for the caller to raise. A second one ends the exchange where it
        is and passes through.

        Without a ``call`` the run may take ``whole`` seconds, and a cancellation passes through.
        """
        self._limits = TimeLimits(call, self._read_timeout, whole)
        self._call = call
        try:
            step = next(exchange)
            while True:
                try:
                    answer = await self._perform(step)
                except ConnectionLost as error:
                    step = exchange.throw(error)
                else:
                    step = exchange.send(answer)
        except StopIteration as stop:
            return cast(T, stop.value)
        finally:
            self._call = None
            exchange.close()

    def interrupt(self) -> None:
        """Let the call that runs end; nothing when none runs. From within the event loop."""
        if self._call is not None:
            self._call.cancel_reason = self._call.cancel_reason or CancelReason.CANCEL
            if self._cancel_wait is not None:
                self._cancel_wait()
            elif self._wire is not None:
                self._wire.wake()

    def close(self) -> None:
        """Close the socket; nothing is sent. May be called again, also when the loop is gone."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.abort()

    def has_unsolicited_data(self, *, expecting: bool) -> bool:
        """Whether the connection is gone, or bytes wait that nobody asked for; ``expecting`` some, only the former."""
        return self._wire is None or self._wire.has_unsolicited_data(expecting=expecting)

    def detach_after_fork(self) -> None:
        """Forget a socket that this process shares with the one that it was forked from. It is not closed by way of the
        event loop: its selector is shared, too, and the parent's would forget the socket.
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
        wire = self._wire
        if wire is None:
            raise ConnectionLost("the connection is closed")
        if isinstance(step, Send):
            return await self._send(wire, step)
        if isinstance(step, SendReceive):
            await self._send(wire, Send(step.data))
        into = step.into
        return await self._retry_until_done(wire, lambda: wire.read_into(into), step.idle_timeout)

    async def _pause(self, step: Pause) -> None:
        """Wait for the user's data, unless the call is to end; as soon as it is, the wait is cancelled."""
        call, task = self._call, asyncio.current_task()
        if call is None or task is None:
            await step.wait()
            return
        left = self._limits.remaining(time.monotonic(), math.inf)
        if call.cancel_reason is not None:
            return
        struck = False

        def strike() -> None:
            nonlocal struck
            if not struck:
                struck = True
                call.cancel_reason = call.cancel_reason or CancelReason.TIMEOUT
                task.cancel()

        self._cancel_wait = strike
        timer = None if left == math.inf else asyncio.get_running_loop().call_later(left, strike)
        try:
            await step.wait()
        finally:
            self._cancel_wait = None
            if timer is not None:
                timer.cancel()
            uncancel = getattr(task, "uncancel", None)  # Python 3.11
            if struck and uncancel is not None and uncancel():  # somebody else has cancelled the task as well
                call.pending_exception = call.pending_exception or asyncio.CancelledError()

    async def _send(self, wire: _Wire, step: Send) -> int:
        """Send all of ``step.data``; with ``into``, take in what arrives while that waits."""
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
        self, wire: _Wire, action: Callable[[], int | None], patience: float | None = None
    ) -> int:
        """Do ``action`` until it has a result, each time that something happened on the wire."""
        began, seen = time.monotonic(), wire.progress
        while True:
            result = action()
            if result is not None:
                return result
            if wire.progress != seen:  # it was not silence
                began, seen = time.monotonic(), wire.progress
            left = self._limits.remaining(began, patience)
            call = self._call
            if call is not None and call.cancel_reason is not None and not call.interrupt_sent:
                call.interrupt_sent = wire.send_urgent()
                if not call.interrupt_sent:
                    left = min(left, 0.5)  # the system has no room for it now
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
        # A name may have several addresses, some of them dead. uvloop does not know that option.
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
                    raise ConnectionLost(f"no connection to {where} within {limit:g} s (connect_timeout)")
                # Not wait_for(), which before Python 3.12 may swallow a cancellation. It may return a little early.
                await asyncio.wait({connecting}, timeout=None if left == math.inf else left)
        except (asyncio.CancelledError, ConnectionLost):
            _give_up(connecting)
            # It ends at its next turns: who waited here finds no task of ours left. No longer than that, though.
            await asyncio.wait({connecting}, timeout=GRACE)
            raise
        try:
            _, self._wire = connecting.result()
        except ssl.SSLError as error:
            raise ConnectionLost(explain(error, name or step.host)) from error
        except UnicodeError:
            raise ConnectionLost(f"cannot connect to {where}: the host name is malformed") from None
        except OSError as error:
            if context is not None and isinstance(error, ConnectionResetError | ConnectionAbortedError):
                raise ConnectionLost(explain(error, name or step.host)) from error
            raise ConnectionLost(f"cannot connect to {where}: {error.strerror or error}") from error


def _give_up(connecting: asyncio.Future[tuple[asyncio.Transport, _Wire]]) -> None:
    """Nobody waits for the connection any more."""

    def end(late: asyncio.Future[tuple[asyncio.Transport, _Wire]]) -> None:
        if not late.cancelled() and late.exception() is None:
            late.result()[0].abort()

    connecting.add_done_callback(end)
    connecting.cancel()


class _Wire(asyncio.BufferedProtocol):
    """The socket as the event loop drives it: bytes wait in ``_spare`` until they are asked for."""

    def __init__(self, keepalive: bool | float) -> None:
        self.drained = True  # nothing that was written waits in this process
        self.progress = 0  # counts what has arrived or left
        self._keepalive = keepalive
        self._spare = bytearray(RECEIVE_BUFFER_BYTES)
        self._start = self._end = 0
        self._transport: asyncio.Transport | None = None
        self._secure = False
        self._paused = False
        self._ended = False  # the peer will send no more
        self._lost: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def waiting(self) -> int:
        """Bytes that have come and were not taken."""
        return self._end - self._start

    def read_into(self, into: memoryview) -> int | None:
        """Move what has come to ``into``: how many bytes; 0 at the end of the peer's stream; None: wait."""
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
        """Begin to send; :attr:`drained` turns true when the operating system has all of it."""
        self._require()
        assert self._transport is not None
        self._transport.write(data)

    def send_urgent(self) -> bool:
        """Send the byte that interrupts (SQLI section 2), beside TLS if there is any; False: not now."""
        link = None if self._transport is None else self._transport.get_extra_info("socket")
        if link is None or self._lost is not None:
            return True  # whoever waits will be told
        # What asyncio hands out cannot send, but it has the descriptor.
        with contextlib.closing(socket.fromfd(link.fileno(), link.family, link.type)) as copy:
            return send_urgent(copy, URGENT)

    def has_unsolicited_data(self, *, expecting: bool) -> bool:
        """As the transport's."""
        link = None if self._transport is None else self._transport.get_extra_info("socket")
        if link is None or self._lost is not None or self._ended or (self.waiting and not expecting):
            return True
        return has_unsolicited_data(link, expecting=expecting)

    async def event(self, seconds: float) -> None:
        """Wait until something happens: bytes, room to send, the end, a wake-up, or so many seconds gone by."""
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
                # The loop is closed; what is left of the transport closes its socket when it is collected.
                link = self._transport.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)  # the server need not wait for that

    def _require(self) -> None:
        if self._lost is not None and not self.waiting:
            if isinstance(self._lost, ssl.SSLError):
                raise ConnectionLost(
                    f"the connection broke: {explain(self._lost, 'the server', established=True)}"
                ) from self._lost
            if self._ended:
                raise ConnectionLost("the server closed the connection")
            raise ConnectionLost(f"the connection broke: {self._lost}") from self._lost

    def _resume_reading(self) -> None:
        if self._paused and self._transport is not None and not self._ended:
            self._paused = False
            self._transport.resume_reading()

    # ---- what the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._secure = transport.get_extra_info("sslcontext") is not None
        # pause_writing() as soon as anything waits, resume_writing() when nothing does: that is "sent" here.
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
        # Stay open: what was asked of the server before may still be answered. TLS ends both ways at once.
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
