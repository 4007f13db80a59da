"""Link and AsyncLink: one session and the transport under it, used by one caller at a time."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ..dsn.parameters import check_value
from ..observing import Observers, Operation, Target
from ..operations import connect as login
from ..operations.cancel import (
    connection_lost_message,
    discard_result,
    interruptible,
    record_interrupt,
    translate_error,
)
from ..operations.instrument import instrument
from ..operations.io_steps import Call, Exchange, run_without_io
from ..operations.session import Session
from ..transport.aio import AsyncTransport
from ..transport.blocking import BlockingTransport
from ..transport.tls import TlsSettings
from ..wire.errors import InterfaceError, OperationalError, QueryTimeout

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..dsn import Parameters
    from ..trace.recorder import TraceWriter

T = TypeVar("T")

_BUSY = (
    "the connection is in the middle of a statement; rows for executemany() cannot be read from the same connection "
    "while they are sent: read them first, or use another connection"
)


class _TransportOptions(TypedDict):
    connect_timeout: float | None
    read_timeout: float | None
    keepalive: bool | float
    tls: TlsSettings | None


def _transport_options(parameters: Parameters) -> _TransportOptions:
    """What a transport needs to know of the connection's parameters."""
    return {
        "connect_timeout": parameters.connect_timeout,
        "read_timeout": parameters.read_timeout,
        "keepalive": parameters.keepalive,
        "tls": _tls(parameters) if parameters.tls or parameters.endpoints else None,
    }


def _tls(parameters: Parameters) -> TlsSettings:
    return TlsSettings(
        ca=parameters.tls_ca,
        ca_password=parameters.tls_ca_password,
        cert=parameters.tls_cert,
        key=parameters.tls_key,
        key_password=parameters.tls_key_password,
        pkcs12=parameters.tls_pkcs12,
        pkcs12_password=parameters.tls_pkcs12_password,
        context=parameters.tls_context,
        verify=parameters.tls_verify,
        hostname=parameters.tls_hostname,
    )


def _in_use_error(timeout: float) -> QueryTimeout:
    return QueryTimeout(
        f"the connection was in use by others for {timeout:g} s (timeout); nothing was sent for this call"
    )


_OTHER_PROCESS = (
    "the connection was lost: it belongs to the process that this one was forked from; open another one after "
    "the fork"
)
_GIVEN_BACK = (
    "the connection was given back to its pool, and may be somebody else's now: get another one from the pool"
)
_OTHER_LOOP = (
    "the connection belongs to another event loop, the one that it was opened in: open another one for each event "
    "loop that needs one"
)


@lru_cache(maxsize=16)
def _endpoint(host: str, port: int, server: str, user: str) -> Target:
    """The same for most connections of a process."""
    return Target(host, port, server, user)


class SessionRunnerBase:
    """What both links remember: whether they can be used, and why not."""

    _transferred = False  # to a pool: the conversation goes on by another link

    def __init__(self, parameters: Parameters) -> None:
        self._closed = True  # until the session stands
        self._close_reason = ""  # why it was lost; "" when it was closed on purpose
        self._call_timeout = parameters.call_timeout
        target = _endpoint(parameters.host, parameters.port, parameters.server, parameters.user)
        self.observers = Observers(target, parameters.log_parameters)
        self._trace = _trace(parameters) if parameters.trace else None
        self.session: Session
        self.transport: BlockingTransport | AsyncTransport
        _runners.add(self)

    @property
    def closed(self) -> bool:
        """Whether it was closed or lost."""
        return self._closed

    def require_open(self) -> None:
        """``InterfaceError`` when it was closed, ``OperationalError`` with the reason when it was lost."""
        if self._closed:
            if self._transferred:
                raise InterfaceError(_GIVEN_BACK)
            if self._close_reason:
                raise OperationalError(self._close_reason, transient=True)
            raise InterfaceError("the connection is closed")

    @property
    def is_transferred(self) -> bool:
        """Whether it was handed on: its session is another holder's."""
        return self._transferred

    def _transfer_ownership(self) -> Self:
        """Another link with the same conversation; this one is refused whatever it is asked for."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        _runners.add(other)
        self._closed = self._transferred = True
        return other

    @property
    def has_unsolicited_data(self) -> bool:
        """Whether something has come from the server that nobody asked for: its goodbye, as a rule. Costs no round
        trip and says so only between exchanges; a network that is gone without a word shows when it is used.
        """
        return self._closed or self.transport.has_unsolicited_data(
            expecting=bool(self.session.pending_replies)
        )

    def call_timeout(self, timeout: float | None) -> float | None:
        """The seconds that a call may take. ``InterfaceError`` for what is no time limit, 0 among it: to some drivers
        that means none."""
        if timeout is None:
            return self._call_timeout
        seconds: float | None = check_value("call_timeout", timeout, "timeout")
        return seconds

    def _trace_exchange(self, exchange: Exchange[T], call: Call | None = None) -> Exchange[T]:
        """The exchange as the transport runs it: with somebody looking on, where the user asked for that."""
        if self._trace is None:
            return exchange
        return self._trace.follow(exchange, self.session.framing.encoding, call)

    def _login_exchange(self, exchange: Exchange[Session]) -> AbstractContextManager[Exchange[Session]]:
        """The login, for the transport to be run within the block."""
        if self._trace is not None:
            exchange = self._trace.follow(exchange)
        if not self.observers.is_login_observed():
            return nullcontext(exchange)
        return self._observed_login(exchange, self.observers.begin())

    @contextmanager
    def _observed_login(
        self, exchange: Exchange[Session], operation: Operation
    ) -> Iterator[Exchange[Session]]:
        operation.describe("connect")
        error: BaseException | None = None
        try:
            yield instrument(exchange, operation)
        except BaseException as failure:
            error = failure
            raise
        finally:
            self.observers.end(operation, self.session.database if error is None else "", error)

    def _detach_after_fork(self) -> None:
        """This is a child process now: the conversation is its parent's, and nothing may be said in it."""
        if not self._closed:
            self._closed, self._close_reason = True, _OTHER_PROCESS
        self.transport.detach_after_fork()

    def _handle_failure(self, call: Call, error: BaseException) -> BaseException:
        """Take notice of what left an exchange; what the caller gets for it."""
        record_interrupt(call, error)
        if isinstance(error, MemoryError) and error is not self.session.caller_error:
            error = OperationalError(
                "there was not enough memory for the server's reply; the connection is closed"
            )
            self._closed, self._close_reason = True, connection_lost_message(error)
            return error
        if not self.session.usable_after(error):
            self._closed = True
            self._close_reason = connection_lost_message(error)
        return translate_error(call, error)


def _trace(parameters: Parameters) -> TraceWriter:
    from ..trace.recorder import TraceWriter  # nobody else pays for it

    passwords = (
        parameters.password,
        parameters.tls_ca_password,
        parameters.tls_key_password,
        parameters.tls_pkcs12_password,
    )
    return TraceWriter(
        parameters.trace, values=parameters.log_parameters, encoding=parameters.encoding, secrets=passwords
    )


_runners: weakref.WeakSet[SessionRunnerBase] = weakref.WeakSet()


def _after_fork() -> None:
    for link in list(_runners):
        link._detach_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class SessionRunner(SessionRunnerBase):
    """One logged-in session: exchanges run over it one after the other, whichever thread they come from.

    Made by :meth:`open`. After an error it is either usable as before or closed, nothing in between, and remembers why.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.lock = threading.RLock()
        """Held around each exchange, and by whoever looks at the session or changes it."""
        self._busy = False
        self.transport: BlockingTransport = BlockingTransport(**_transport_options(parameters))

    @classmethod
    def open(cls, parameters: Parameters) -> SessionRunner:
        """Log in. Errors are those of :func:`.exchange.connect.connect`."""
        link = cls(parameters)
        try:
            if link._trace is None and not link.observers.is_login_observed():
                exchange = login.connect(parameters)
                link.session = link.transport.run(exchange, whole=parameters.login_timeout)
            else:
                with link._login_exchange(login.connect(parameters)) as exchange:
                    link.session = link.transport.run(exchange, whole=parameters.login_timeout)
        except BaseException:
            link.transport.close()
            raise
        link._closed = False
        return link

    def run(self, exchange: Exchange[T], *, timeout: float | None = None) -> T:
        """Run one exchange while nobody else does; close if it ends out of step.

        ``timeout`` is how many seconds the call may take, the time included that it waits for other threads; None =
        the connection's ``call_timeout``. Then, after :meth:`interrupt`, and when Ctrl-C strikes a wait, the statement
        is ended on the server by an interrupt, and the call raises ``QueryTimeout``, ``QueryCanceled`` or
        KeyboardInterrupt; the link stays usable if the server reacts within ``GRACE`` seconds, else it closes. A call
        that ends well in spite of an interrupt returns its result, except after Ctrl-C.

        Whoever gets no result of an exchange that has state (a batch of a result) must take that state for broken.
        """
        if timeout is not None or self._call_timeout is not None:
            timeout = self.call_timeout(timeout)
        if timeout is None:
            # Python lets no signal in where ``with`` takes a lock: one that Ctrl-C left taken would stay so for ever.
            with self.lock:
                return self._run_locked(exchange, Call())
        call = Call(timeout, started_at=time.monotonic())
        lock: Any = self.lock
        mine = lock._is_owned()
        try:
            taken = lock.acquire(timeout=min(timeout, threading.TIMEOUT_MAX))
        except BaseException:  # Ctrl-C, which may have come when the lock was taken
            if lock._is_owned() and not mine:
                lock.release()
            raise
        if not taken:
            raise _in_use_error(timeout)
        try:
            return self._run_locked(exchange, call)
        finally:
            lock.release()

    def _run_locked(self, exchange: Exchange[T], call: Call) -> T:
        if self._closed:
            self.require_open()
        if self._busy:
            # The same thread, from within an exchange: the rows of an executemany(), a signal handler.
            raise InterfaceError(_BUSY)
        self._busy = True
        try:
            if self.observers.is_observed():
                return self._run_instrumented(exchange, call)
            return self._execute(interruptible(self.session, call, exchange), call)
        finally:
            self._busy = False

    def require_idle(self) -> None:
        """Refuse what :meth:`run_without_io` would."""
        if self._closed:
            self.require_open()
        if self._busy:
            with self.lock:  # unless that is another thread's
                if self._busy:
                    raise InterfaceError(_BUSY)

    def run_without_io(self, exchange: Exchange[T]) -> T:
        """Run an exchange that needs nothing of the server: no time limit, nothing to interrupt, no step."""
        with self.lock:
            if self._closed:
                self.require_open()
            if self._busy:
                raise InterfaceError(_BUSY)
            return run_without_io(exchange)

    def _run_instrumented(self, exchange: Exchange[T], call: Call) -> T:
        operation = call.operation = self.observers.begin(self.session.database)
        error: BaseException | None = None
        try:
            return self._execute(instrument(interruptible(self.session, call, exchange), operation), call)
        except BaseException as failure:
            error = failure
            raise
        finally:
            call.operation = None
            self.observers.end(operation, self.session.database, error)
            del error  # it knows this frame

    def _execute(self, exchange: Exchange[T], call: Call) -> T:
        if self._trace is not None:
            exchange = self._trace_exchange(exchange, call)
        try:
            result = self.transport.run(exchange, call)
        except BaseException as error:
            better: BaseException | None = None
            try:
                better = self._handle_failure(call, error)
            finally:
                if better is None:  # Ctrl-C again, before it was clear what the first error has left
                    self._closed, self._close_reason = True, connection_lost_message(error)
                if self._closed:
                    self.transport.close()
            # The error refers to this frame. With a name for it here the frame would refer to the error, too, and both,
            # with the connection, would stay until the garbage collector runs.
            if better is error:
                better = None
                raise
            try:
                raise better from error
            finally:
                better = None
        if call.pending_exception is not None:
            discard_result(self.session, result)
            raise call.pop_pending_exception()
        return result

    def _detach_after_fork(self) -> None:
        self.lock = threading.RLock()  # a thread that is not here may have held it
        super()._detach_after_fork()

    def transfer_ownership(self) -> SessionRunner:
        """The same conversation for its next holder, once nothing runs in it; whoever still has this link, or waits
        for it, gets an ``InterfaceError``, and can neither interrupt nor close what it was.
        """
        with self.lock:
            other = self._transfer_ownership()
            self.lock = threading.RLock()  # nobody waits for what the next holder does
            return other

    def interrupt(self) -> None:
        """End the statement that runs now, from any thread; nothing when none runs."""
        if not self._transferred:
            self.transport.interrupt()

    def close(self) -> None:
        """End the session; the server rolls back an open transaction. May be called again."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            try:
                if not self._busy:  # else from within an exchange: no goodbye can be said in the middle of it
                    self.transport.run(self._trace_exchange(login.disconnect(self.session)))
            finally:
                self.transport.close()

    def abandon(self) -> None:
        """Close the socket and say nothing: for finalizers, which may run in the middle of anything."""
        self._closed = True
        if not self._transferred:
            self.transport.close()


class AsyncSessionRunner(SessionRunnerBase):
    """:class:`SessionRunner` for asyncio: one session, used by one task at a time, in one event loop.

    Made by ``await AsyncLink.open(parameters)``. Tasks that ask at the same time are served in their order.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.lock = asyncio.Lock()
        """Held around each exchange; not reentrant."""
        self._runner: asyncio.Task[object] | None = None
        self._loop = asyncio.get_running_loop()
        self.transport: AsyncTransport = AsyncTransport(**_transport_options(parameters))

    @classmethod
    async def open(cls, parameters: Parameters) -> AsyncSessionRunner:
        """Log in. Errors as :class:`SessionRunner`; a cancellation closes the socket and passes through."""
        link = cls(parameters)
        try:
            with link._login_exchange(login.connect(parameters)) as exchange:
                link.session = await link.transport.run(exchange, whole=parameters.login_timeout)
        except BaseException:
            link.transport.close()
            raise
        link._closed = False
        return link

    async def run(self, exchange: Exchange[T], *, timeout: float | None = None) -> T:
        """As :meth:`SessionRunner.run`. A task that is cancelled meanwhile interrupts its statement on the server and gets its
        ``CancelledError`` when the answer has been read: the link stays usable.
        """
        timeout = self.call_timeout(timeout)
        if self._transferred:
            self.require_open()  # and not behind what the next holder does
        if asyncio.get_running_loop() is not self._loop:
            self.require_open()
            raise InterfaceError(_OTHER_LOOP)
        if self._runner is not None and self._runner is asyncio.current_task():
            raise InterfaceError(_BUSY)
        began = time.monotonic()
        await self._acquire_lock(timeout)
        try:
            self.require_open()
            self._runner = asyncio.current_task()
            return await self._run(exchange, Call(timeout, started_at=began))
        finally:
            self._runner = None
            self.lock.release()

    def require_idle(self) -> None:
        """Refuse what :meth:`run_without_io` would."""
        self.require_open()
        if self._runner is not None and self._runner is asyncio.current_task():
            raise InterfaceError(_BUSY)

    def run_without_io(self, exchange: Exchange[T]) -> T:
        """As :meth:`SessionRunner.run_without_io`. Another task's exchange may be waiting meanwhile: ``exchange`` must not touch what
        the session shares.
        """
        self.require_idle()
        return run_without_io(exchange)

    async def _acquire_lock(self, timeout: float | None) -> None:
        """Not by wait_for(), which before Python 3.12 may swallow a cancellation, or lose the lock over one."""
        if timeout is None:
            await self.lock.acquire()
            return
        taking = asyncio.ensure_future(self.lock.acquire())
        try:
            done, _ = await asyncio.wait({taking}, timeout=timeout)
        except asyncio.CancelledError:
            if not taking.cancel():
                self.lock.release()
            raise
        if not done:
            taking.cancel()
            raise _in_use_error(timeout)

    async def _run(self, exchange: Exchange[T], call: Call) -> T:
        if not self.observers.is_observed():
            return await self._execute(interruptible(self.session, call, exchange), call)
        operation = call.operation = self.observers.begin(self.session.database)
        error: BaseException | None = None
        try:
            return await self._execute(
                instrument(interruptible(self.session, call, exchange), operation), call
            )
        except BaseException as failure:
            error = failure
            raise
        finally:
            call.operation = None
            self.observers.end(operation, self.session.database, error)
            del error  # it knows this frame

    async def _execute(self, exchange: Exchange[T], call: Call) -> T:
        try:
            result = await self.transport.run(self._trace_exchange(exchange, call), call)
        except BaseException as error:
            better = self._handle_failure(call, error)
            if self._closed:
                self.transport.close()
            if better is error:
                del better  # no name for the error, as in the blocking link
                raise
            try:
                raise better from error
            finally:
                del better
        if call.pending_exception is not None:
            discard_result(self.session, result)
            raise call.pop_pending_exception()
        return result

    @property
    def has_unsolicited_data(self) -> bool:
        return super().has_unsolicited_data or asyncio.get_running_loop() is not self._loop

    async def transfer_ownership(self) -> AsyncSessionRunner:
        """As :meth:`SessionRunner.transfer_ownership`."""
        mine = self._runner is not None and self._runner is asyncio.current_task()
        if mine or asyncio.get_running_loop() is not self._loop:
            return self._transfer_ownership()  # whose next step tells what is wrong
        async with self.lock:
            return self._transfer_ownership()

    def _detach_after_fork(self) -> None:
        self.lock = asyncio.Lock()
        super()._detach_after_fork()

    def interrupt(self) -> None:
        """End the statement that runs now; nothing when none runs. From within the event loop."""
        if not self._transferred:
            self.transport.interrupt()

    async def close(self) -> None:
        """End the session; the server rolls back an open transaction. May be called again."""
        if self._transferred:
            return
        if self._runner is not None and self._runner is asyncio.current_task():
            self.abandon()
            return
        if asyncio.get_running_loop() is not self._loop and not self._closed:
            if not self._loop.is_closed():
                raise InterfaceError(_OTHER_LOOP)
            self.abandon()  # with the loop went whoever could say goodbye
            return
        async with self.lock:
            if self._closed:
                return
            self._closed = True
            try:
                await self.transport.run(self._trace_exchange(login.disconnect(self.session)))
            finally:
                self.transport.close()

    def abandon(self) -> None:
        """Close the socket and say nothing: for finalizers, and when there is no time for a goodbye."""
        self._closed = True
        if not self._transferred:
            self.transport.close()
