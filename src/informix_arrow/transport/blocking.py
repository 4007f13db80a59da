"""Run operations on a blocking TCP socket, with or without TLS."""

from __future__ import annotations

import errno
import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..operations.io_steps import (
    Call,
    CancelReason,
    Connect,
    ConnectionLost,
    Exchange,
    ExcludeFromTimeout,
    Pause,
    Poll,
    Receive,
    Send,
    SendReceive,
    Step,
)
from ..wire.errors import InternalError
from .limits import URGENT, TimeLimits
from .sockets import (
    NOT_WAITING,
    Readiness,
    has_unsolicited_data,
    resolve,
    send_urgent,
    set_up,
    waits_by_itself,
)
from .tls import TlsSettings, explain

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")

_COMMON_STEPS = (SendReceive, Send, Receive)

#: Maximum seconds of one wait; longer ones are repeated. Ctrl-C ends a wait only where the system call can be
#: interrupted: never on Windows, and nowhere after a library such as Polars has installed its own signal handler.
WAKE_SECONDS = 0.5

_IN_PROGRESS = (errno.EINPROGRESS, errno.EWOULDBLOCK, 10035)  # the last is WSAEWOULDBLOCK of Windows
#: Maximum seconds until a wait for the user's data notices that the call is to end.
_POLL_SECONDS = 0.05

_WOULD_BLOCK = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class BlockingTransport:
    """One TCP connection, used by one thread at a time; only :meth:`interrupt` may be called from others.

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
        self._tls = tls
        self._socket: socket.socket | None = None
        self._readiness: Readiness | None = None
        self._socket_waits = False  # a receive waits on its own for WAKE_SECONDS
        self._limits: TimeLimits | None = None  # of the run; created when it has to wait for long
        self._may_skip_limits = read_timeout is None or read_timeout >= WAKE_SECONDS
        self._call: Call | None = None
        self._waiting = False
        self._interrupt_lock = threading.RLock()  # around the urgent byte; reentrant for signal handlers

    def run(
        self, exchange: Exchange[T], call: Call | None = None, *, total_timeout: float | None = None
    ) -> T:
        """Run ``exchange`` to its end and return its result.

        If the network fails or a time limit passes, ``ConnectionLost`` is thrown into the operation, which may
        handle it.

        With a ``call`` the operation can be interrupted: by :meth:`interrupt`, by the call's timeout, and by an
        exception (such as KeyboardInterrupt) during a wait. Then an interrupt is sent to the server once, and
        the operation runs on to read the reply. A wait of more than ``GRACE`` seconds from then on raises
        ``ConnectionLost``. The exception is stored in ``call.pending_exception``, for the caller to raise. A
        second one, and any that does not occur during a wait, ends the operation at once and passes through.

        Without a ``call`` the run may take ``total_timeout`` seconds.
        """
        self._limits = None if call is not None else TimeLimits(None, self._read_timeout, total_timeout)
        self._call = call
        try:
            step = next(exchange)
            while True:
                try:
                    received = self._perform(step)
                except ConnectionLost as error:
                    step = exchange.throw(error)
                else:
                    step = exchange.send(received)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            if call is not None:
                with self._interrupt_lock:
                    self._call = None  # no byte is sent for it from now on
            exchange.close()

    def interrupt(self) -> None:
        """Interrupt the running call; does nothing if none runs.

        May be called from any thread and from signal handlers.
        """
        with self._interrupt_lock:
            call = self._call
            if call is not None:
                call.cancel_reason = call.cancel_reason or CancelReason.CANCEL
                if self._waiting:
                    self._send_interrupt(call)

    def close(self) -> None:
        """Close the socket without sending anything. May be called again."""
        with self._interrupt_lock:
            link, self._socket = self._socket, None
            self._readiness = None
        if link is not None:
            link.close()

    def has_unsolicited_data(self, *, expecting: bool) -> bool:
        """Return whether the connection is gone or, unless ``expecting`` bytes, unexpected bytes have arrived."""
        link = self._socket
        return link is None or has_unsolicited_data(link, expecting=expecting)

    def detach_after_fork(self) -> None:
        """Close this process's copy of a socket that is shared with the parent process after a fork."""
        self._interrupt_lock = threading.RLock()  # a thread of the parent may have held it
        self.close()

    # ---- steps -----------------------------------------------------------------------------------------------

    def _perform(self, step: Step) -> int:
        if not isinstance(step, _COMMON_STEPS):
            return self._perform_rare(step)
        link = self._socket
        if link is None:
            raise ConnectionLost("The connection is closed.")
        try:
            if isinstance(step, SendReceive):
                return self._send_receive(link, step)
            if isinstance(step, Receive):
                return self._receive(link, step)
            return self._send(link, step)
        except ssl.SSLError as error:
            raise ConnectionLost(
                f"The connection broke. {explain(error, 'the server', established=True)}"
            ) from error
        except OSError as error:
            raise ConnectionLost(f"The connection broke ({error.strerror or error}).") from error

    def _perform_rare(self, step: Connect | ExcludeFromTimeout | Pause | Poll) -> int:
        if isinstance(step, Connect):
            self._connect(step)
        elif isinstance(step, Poll):
            self._poll(step)
        elif isinstance(step, ExcludeFromTimeout):
            self._limit().exclude(step.seconds)
        else:
            raise InternalError("An exchange for asyncio was run by the blocking transport.")
        return 0

    def _poll(self, step: Poll) -> None:
        """Wait for the user's data, unless the call is to end. No interrupt is sent: nothing runs on the server."""
        call, limits = self._call, self._limit()
        while call is None or call.cancel_reason is None:
            left = limits.remaining(time.monotonic(), math.inf)
            try:
                if step.ready(min(left, _POLL_SECONDS)):
                    return
            except BaseException as error:
                if call is None or call.pending_exception is not None:
                    raise
                call.pending_exception = error
                call.cancel_reason = call.cancel_reason or CancelReason.BREAK

    def _send_receive(self, link: socket.socket, step: SendReceive) -> int:
        """Send and receive. The socket itself waits for the first half second if only an interrupt could end
        that wait.

        Then no clock is read before that has passed.
        """
        call, data = self._call, step.data
        limited = (
            call is None
            or call.timeout is not None
            or not self._may_skip_limits
            or step.idle_timeout is not None
        )
        if limited or not self._socket_waits:
            self._send(link, Send(data))
            return self._receive(link, step)
        try:
            sent = link.send(data, NOT_WAITING)
        except _WOULD_BLOCK:
            sent = 0
        if sent < len(data):
            self._send(link, Send(memoryview(data)[sent:]))
            return self._receive(link, step)
        received: list[int] = []
        # One call of C code: the count is in the list before Python handles signals, so that no signal loses it.
        self._wait_interruptibly(call, received.extend, map(link.recv_into, (step.into,)))
        if received:
            return received[0]
        return self._receive(link, step, 0.0 if call is None or call.cancel_reason else WAKE_SECONDS)

    def _receive(self, link: socket.socket, step: Receive | SendReceive, waited: float = 0.0) -> int:
        began = time.monotonic() - waited
        # Login and logout are not interrupted: there the socket itself waits, for half a second at most.
        itself = (
            self._socket_waits
            and self._call is None
            and self._limit().remaining(began, step.idle_timeout) >= WAKE_SECONDS
        )
        if isinstance(link, ssl.SSLSocket):  # there may be bytes that were already decrypted
            self._check_limits(began, step.idle_timeout)
        elif not itself:
            self._wait(True, False, began, step.idle_timeout)
        while True:
            try:
                return link.recv_into(step.into) if itself else self._receive_available(link, step.into)
            except _WOULD_BLOCK as problem:
                writing, itself = isinstance(problem, ssl.SSLWantWriteError), False
                self._wait(not writing, writing, began, step.idle_timeout)

    def _send(self, link: socket.socket, step: Send) -> int:
        """Send all of ``step.data``; whenever that would wait, receive what has arrived."""
        flags = NOT_WAITING if self._socket_waits else 0
        try:  # usually all of it is sent at once
            sent = link.send(step.data, flags)
        except _WOULD_BLOCK:
            sent = 0
        if sent == len(step.data):
            return 0
        data, into, received = memoryview(step.data)[sent:], step.into, 0
        began = time.monotonic()
        while data:
            reading = writing = False
            try:
                data = data[link.send(data, flags) :]
                began = time.monotonic()
                continue
            except ssl.SSLWantReadError:
                reading = True
            except _WOULD_BLOCK:
                writing = True
            if into is not None and received < len(into):
                try:
                    count = self._receive_available(link, into[received:])
                    if not count:
                        raise ConnectionLost("The server closed the connection while data was being sent.")
                    received += count
                    began = time.monotonic()
                    continue
                except _WOULD_BLOCK:  # TLS that must write before it can read waits for writing anyway
                    reading = True
            self._wait(reading, writing, began, None)
        return received

    def _receive_available(self, link: socket.socket, into: Buffer) -> int:
        """Receive the available bytes. Raises one of ``_WOULD_BLOCK`` if there are none."""
        return link.recv_into(into, 0, NOT_WAITING) if self._socket_waits else link.recv_into(into)

    def _wait(self, reading: bool, writing: bool, began: float, idle_timeout: float | None) -> None:
        """Wait until the socket is ready, or may be. Raises ``ConnectionLost`` if a time limit passes."""
        readiness, call, limits = self._readiness, self._call, self._limit()
        if readiness is None:
            raise ConnectionLost("The connection is closed.")
        while not self._ready(
            readiness, call, min(limits.remaining(began, idle_timeout), WAKE_SECONDS), reading, writing
        ):
            pass

    def _ready(
        self,
        readiness: Readiness,
        call: Call | None,
        seconds: float,
        reading: bool = True,
        writing: bool = False,
    ) -> bool:
        """Wait for ``seconds``, or until an interrupt. Returns whether the socket is ready."""
        return bool(self._wait_interruptibly(call, readiness.wait, reading, writing, seconds))

    def _wait_interruptibly(self, call: Call | None, wait: Callable[..., T], *arguments: object) -> T | None:
        """Return ``wait(*arguments)``, or None if it ended without a result or was interrupted."""
        try:
            self._waiting = True
            if call is not None and call.wants_interrupt:
                self._send_interrupt(call)
            return wait(*arguments)
        except _WOULD_BLOCK:
            return None
        except BaseException as error:
            of_the_system = isinstance(error, OSError) and error.errno is not None
            if call is None or call.pending_exception is not None or of_the_system:
                raise
            call.pending_exception = error
            call.cancel_reason = call.cancel_reason or CancelReason.BREAK
            return None
        finally:
            self._waiting = False

    def _check_limits(self, began: float, idle_timeout: float | None) -> None:
        """Check the time limits as :meth:`_wait` does: a peer that sends without a pause must not evade them."""
        self._limit().remaining(began, idle_timeout)
        call = self._call
        if call is not None and call.wants_interrupt:
            self._send_interrupt(call)

    def _send_interrupt(self, call: Call) -> None:
        with self._interrupt_lock:
            if self._call is call and call.wants_interrupt and self._socket is not None:
                call.interrupt_sent = send_urgent(self._socket, URGENT)

    def _limit(self) -> TimeLimits:
        """Return the limits of this run."""
        if self._limits is None:
            self._limits = TimeLimits(self._call, self._read_timeout)
        return self._limits

    # ---- connecting ------------------------------------------------------------------------------------------

    def _connect(self, step: Connect) -> None:
        if self._socket is not None:
            self.close()
        self._socket_waits = False
        context, name = None, step.host
        if step.tls:  # first, because its files may be missing
            tls = self._tls or TlsSettings()
            context, name = tls.make_context(), tls.hostname or step.host
        limit, now = self._connect_timeout, time.monotonic()
        ends = math.inf if limit is None else now + limit
        addresses = resolve(step.host, step.port, min(ends - now, self._limit().remaining(now, math.inf)))
        for number, (family, kind, protocol, address) in enumerate(addresses):
            link = socket.socket(family, kind, protocol)
            self._socket, self._readiness = link, Readiness(link)
            share = ends
            if number + 1 < len(addresses):
                # Each address gets a share of the time, so that an unreachable one does not use up the time of
                # the next.
                now = time.monotonic()
                share = now + (ends - now) / (len(addresses) - number)
            try:
                self._connect_socket(link, address, share)
                set_up(link, self._keepalive)
                if context is None:
                    self._socket_waits = waits_by_itself(link, WAKE_SECONDS)
                else:
                    link.setblocking(False)
                    self._handshake(link, context, name, step, ends)
                return
            except ConnectionLost:
                self.close()
                if number + 1 == len(addresses):
                    raise
            except OSError as error:
                self.close()
                where = f"{step.host}:{step.port}"
                if number + 1 < len(addresses):
                    continue
                if isinstance(error, TimeoutError) and error.errno is None:
                    raise ConnectionLost(
                        f"No connection to {where} within {limit:g} s (connect_timeout)."
                    ) from None
                raise ConnectionLost(f"Cannot connect to {where} ({error.strerror or error}).") from error

    def _connect_socket(self, link: socket.socket, address: Any, ends: float) -> None:
        """Make the TCP connection. Raises TimeoutError without errno if it is not established at ``ends``.

        A connection within half a second, the usual case, needs only one call from Python.
        """
        link.settimeout(max(self._remaining(ends), 0.001))
        code = link.connect_ex(address)
        if code in _IN_PROGRESS:
            link.setblocking(False)
            self._await(False, ends)
            code = link.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))

    def _handshake(
        self, link: socket.socket, context: ssl.SSLContext, name: str, step: Connect, ends: float
    ) -> None:
        try:
            wrapped = context.wrap_socket(link, server_hostname=name, do_handshake_on_connect=False)
            self._socket, self._readiness = wrapped, Readiness(wrapped)
            while True:
                try:
                    wrapped.do_handshake()
                    return
                except ssl.SSLWantReadError:
                    self._await(True, ends)
                except ssl.SSLWantWriteError:
                    self._await(False, ends)
        except TimeoutError as error:
            if error.errno is not None:
                raise
            silence = OSError("it did not answer a TLS handshake in time (connect_timeout)")
            raise ConnectionLost(explain(silence, step.host)) from None
        except OSError as error:
            raise ConnectionLost(explain(error, name)) from error

    def _await(self, reading: bool, ends: float) -> None:
        """Wait until the socket being connected is ready. Raises TimeoutError without errno at ``ends``."""
        assert self._readiness is not None
        while True:
            left = self._remaining(ends)
            if left <= 0:
                raise TimeoutError
            if self._readiness.wait(reading, not reading, left):
                return

    def _remaining(self, ends: float) -> float:
        """Return the seconds left to establish a connection by ``ends``, at most half a second at a time."""
        now = time.monotonic()
        return min(self._limit().remaining(now, math.inf), ends - now, WAKE_SECONDS)
