"""SessionRunner and AsyncSessionRunner: one session and its transport, used by one caller at a time."""

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
    "The connection is in the middle of a statement. Rows for executemany() cannot be read from the same connection "
    "while they are sent. Read them first, or use another connection."
)


class _TransportOptions(TypedDict):
    connect_timeout: float | None
    read_timeout: float | None
    keepalive: bool | float
    tls: TlsSettings | None


def _transport_options(parameters: Parameters) -> _TransportOptions:
    """Return the transport's options from the connection's parameters."""
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
        f"The connection was in use by another call for {timeout:g} s (timeout). Nothing was sent for this "
        "call."
    )


_OTHER_PROCESS = (
    "The connection was lost: It belongs to the process that this one was forked from. Open another one after "
    "the fork."
)
_GIVEN_BACK = (
    "The connection was returned to its pool and may be in use by others. Get another one from the pool."
)
_OTHER_LOOP = (
    "The connection belongs to another event loop, the one in which it was opened. Open a connection in each event "
    "loop that needs one."
)


@lru_cache(maxsize=16)
def _endpoint(host: str, port: int, server: str, user: str) -> Target:
    """Return the target; cached, because most connections of a process share it."""
    return Target(host, port, server, user)


class SessionRunnerBase:
    """The common part of both runners: whether the session can be used, and if not, why."""

    _transferred = False  # to a pool: another runner has the session

    def __init__(self, parameters: Parameters) -> None:
        self._closed = True  # until the session is open
        self._close_reason = ""  # why it was lost; "" if it was closed on purpose
        self._call_timeout = parameters.call_timeout
        target = _endpoint(parameters.host, parameters.port, parameters.server, parameters.user)
        self.observers = Observers(target, parameters.log_parameters)
        self._trace = _trace(parameters) if parameters.trace else None
        self.session: Session
        self.transport: BlockingTransport | AsyncTransport
        _runners.add(self)

    @property
    def closed(self) -> bool:
        """True if it was closed or lost."""
        return self._closed

    def require_open(self) -> None:
        """Raise ``InterfaceError`` if it was closed, ``OperationalError`` with the reason if it was lost."""
        if self._closed:
            if self._transferred:
                raise InterfaceError(_GIVEN_BACK)
            if self._close_reason:
                raise OperationalError(self._close_reason, transient=True)
            raise InterfaceError("The connection is closed.")

    @property
    def is_transferred(self) -> bool:
        """True if the session was transferred to another runner."""
        return self._transferred

    def _transfer_ownership(self) -> Self:
        """Return another runner of the same session. This one then refuses all calls."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        _runners.add(other)
        self._closed = self._transferred = True
        return other

    @property
    def has_unsolicited_data(self) -> bool:
        """Return whether the server has sent something unexpected, usually its goodbye.

        Costs no round trip and is valid only between operations. A network that fails silently shows at the
        next use.
        """
        return self._closed or self.transport.has_unsolicited_data(
            expecting=bool(self.session.pending_replies)
        )

    def interrupt(self) -> None:
        """End the running statement, from any thread, or with asyncio from within the event loop.

        Does nothing if none runs.
        """
        if not self._transferred:
            self.transport.interrupt()

    def abandon(self) -> None:
        """Close the socket without sending anything: for finalizers, and if there is no time to log off."""
        self._closed = True
        if not self._transferred:
            self.transport.close()

    def call_timeout(self, timeout: float | None) -> float | None:
        """Return the seconds that a call may take.

        Raises ``InterfaceError`` for an invalid time limit. 0 is invalid, because it means no limit in some
        drivers.
        """
        if timeout is None:
            return self._call_timeout
        seconds: float | None = check_value("call_timeout", timeout, "timeout")
        return seconds

    def _trace_exchange(self, exchange: Exchange[T], call: Call | None = None) -> Exchange[T]:
        """Return the operation, traced if the user requested that."""
        if self._trace is None:
            return exchange
        return self._trace.follow(exchange, self.session.framing.encoding, call)

    def _login_exchange(self, exchange: Exchange[Session]) -> AbstractContextManager[Exchange[Session]]:
        """Return a context in which the transport runs the login, traced and observed."""
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
        """Close after a fork: this is a child process, and the session belongs to its parent."""
        if not self._closed:
            self._closed, self._close_reason = True, _OTHER_PROCESS
        self.transport.detach_after_fork()

    def _handle_failure(self, call: Call, error: BaseException) -> BaseException:
        """Record the failure of an operation. Returns the error for the caller."""
        record_interrupt(call, error)
        if isinstance(error, MemoryError) and error is not self.session.caller_error:
            error = OperationalError(
                "There was not enough memory for the server's reply. The connection is closed."
            )
            self._closed, self._close_reason = True, connection_lost_message(error)
            return error
        if not self.session.usable_after(error):
            self._closed = True
            self._close_reason = connection_lost_message(error)
        return translate_error(call, error)


def _trace(parameters: Parameters) -> TraceWriter:
    from ..trace.recorder import TraceWriter  # loaded only if it is used

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
    """One logged-in session: runs operations one after the other, from any thread.

    Created by :meth:`open`. After an error it is either usable as before or closed, and remembers why.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.lock = threading.RLock()
        """Held during each operation, and by code that reads or changes the session."""
        self._busy = False
        self.source_thread: int | None = None
        """The thread that reads the data of the running load, if that is not the thread of the load."""
        self.transport: BlockingTransport = BlockingTransport(**_transport_options(parameters))

    @classmethod
    def open(cls, parameters: Parameters) -> SessionRunner:
        """Log in. Raises as :func:`.operations.connect.connect`."""
        link = cls(parameters)
        try:
            if link._trace is None and not link.observers.is_login_observed():
                exchange = login.connect(parameters)
                link.session = link.transport.run(exchange, total_timeout=parameters.login_timeout)
            else:
                with link._login_exchange(login.connect(parameters)) as exchange:
                    link.session = link.transport.run(exchange, total_timeout=parameters.login_timeout)
        except BaseException:
            link.transport.close()
            raise
        link._closed = False
        return link

    def run(self, exchange: Exchange[T], *, timeout: float | None = None, began: float | None = None) -> T:
        """Run one operation while no other runs; close if it ends out of step.

        ``timeout`` is the number of seconds that the call may take, with its wait for other threads; None = the
        connection's ``call_timeout``. They count from ``began`` (by time.monotonic()), by default from now. After
        the timeout, after :meth:`interrupt`, and if Ctrl-C interrupts a wait, the statement is interrupted on the
        server, and the call raises ``QueryTimeout``, ``QueryCanceled`` or KeyboardInterrupt. The session stays
        usable if the server reacts within ``GRACE`` seconds, else it is closed. A call that succeeds in spite of an
        interrupt returns its result, except after Ctrl-C.

        A caller that gets no result of an operation with state (a batch of a result) must treat that state as
        broken.
        """
        if timeout is not None or self._call_timeout is not None:
            timeout = self.call_timeout(timeout)
        if self._busy and self.source_thread == threading.get_ident():
            raise InterfaceError(_BUSY)  # the running operation waits for this thread
        if timeout is None:
            # Python handles no signals while ``with`` takes a lock: otherwise Ctrl-C could leave it locked for
            # ever.
            with self.lock:
                return self._run_locked(exchange, Call())
        call = Call(timeout, started_at=time.monotonic() if began is None else began)
        lock: Any = self.lock
        owned_before = lock._is_owned()
        try:
            acquired = lock.acquire(timeout=min(timeout, threading.TIMEOUT_MAX))
        except BaseException:  # Ctrl-C, perhaps just after the lock was taken
            if lock._is_owned() and not owned_before:
                lock.release()
            raise
        if not acquired:
            raise _in_use_error(timeout)
        try:
            return self._run_locked(exchange, call)
        finally:
            lock.release()

    def _run_locked(self, exchange: Exchange[T], call: Call) -> T:
        if self._closed:
            self.require_open()
        if self._busy:
            # A call by the same thread during an operation: the rows of an executemany(), a signal handler.
            raise InterfaceError(_BUSY)
        self._busy = True
        try:
            if self.observers.is_observed():
                return self._run_instrumented(exchange, call)
            return self._execute(interruptible(self.session, call, exchange), call)
        finally:
            self._busy = False

    def require_idle(self) -> None:
        """Raise if :meth:`run_without_io` would refuse to run now."""
        if self._closed:
            self.require_open()
        if self._busy:
            with self.lock:  # unless another thread is busy
                if self._busy:
                    raise InterfaceError(_BUSY)

    def run_without_io(self, exchange: Exchange[T]) -> T:
        """Run an operation that yields no step: it has no time limit and cannot be interrupted."""
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
            del error  # it refers to this frame

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
                if better is None:  # Ctrl-C again, before the state after the first error was known
                    self._closed, self._close_reason = True, connection_lost_message(error)
                if self._closed:
                    self.transport.close()
            # The error refers to this frame. A local name for it would be a reference cycle that keeps both, and
            # the connection, until garbage collection.
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
        self.lock = threading.RLock()  # a thread of the parent may have held it
        super()._detach_after_fork()

    def transfer_ownership(self) -> SessionRunner:
        """Return a new runner of the same session, for its next owner, once no operation runs.

        Code that still has this runner, or waits for it, gets an ``InterfaceError``, and can neither interrupt
        nor close the session.
        """
        with self.lock:
            other = self._transfer_ownership()
            self.lock = threading.RLock()  # no one waits for the next owner's operations
            return other

    def close(self) -> None:
        """End the session; the server rolls back an open transaction. May be called again."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            try:
                if not self._busy:  # else during an operation, in which no SQ_EXIT can be sent
                    self.transport.run(self._trace_exchange(login.disconnect(self.session)))
            finally:
                self.transport.close()


class AsyncSessionRunner(SessionRunnerBase):
    """One session for asyncio, used by one task at a time in one event loop. As :class:`SessionRunner`.

    Created by ``await AsyncSessionRunner.open(parameters)``. Waiting tasks are served first come, first served.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.lock = asyncio.Lock()
        """Held during each operation; not reentrant."""
        self._runner: asyncio.Task[object] | None = None
        self._loop = asyncio.get_running_loop()
        self.transport: AsyncTransport = AsyncTransport(**_transport_options(parameters))

    @classmethod
    async def open(cls, parameters: Parameters) -> AsyncSessionRunner:
        """Log in. Raises as :class:`SessionRunner`; a cancellation closes the socket and passes through."""
        link = cls(parameters)
        try:
            with link._login_exchange(login.connect(parameters)) as exchange:
                link.session = await link.transport.run(exchange, total_timeout=parameters.login_timeout)
        except BaseException:
            link.transport.close()
            raise
        link._closed = False
        return link

    async def run(
        self, exchange: Exchange[T], *, timeout: float | None = None, began: float | None = None
    ) -> T:
        """Run one operation, as :meth:`SessionRunner.run`.

        A task that is cancelled meanwhile interrupts its statement on the server, and gets its
        ``CancelledError`` after the reply was read: the session stays usable.
        """
        timeout = self.call_timeout(timeout)
        if self._transferred:
            self.require_open()  # now, not after the next owner's operations
        if asyncio.get_running_loop() is not self._loop:
            self.require_open()
            raise InterfaceError(_OTHER_LOOP)
        if self._runner is not None and self._runner is asyncio.current_task():
            raise InterfaceError(_BUSY)
        began = time.monotonic() if began is None else began
        await self._acquire_lock(timeout)
        try:
            self.require_open()
            self._runner = asyncio.current_task()
            return await self._run(exchange, Call(timeout, started_at=began))
        finally:
            self._runner = None
            self.lock.release()

    def require_idle(self) -> None:
        """Raise if :meth:`run_without_io` would refuse to run now."""
        self.require_open()
        if self._runner is not None and self._runner is asyncio.current_task():
            raise InterfaceError(_BUSY)

    def run_without_io(self, exchange: Exchange[T]) -> T:
        """Run an operation, as :meth:`SessionRunner.run_without_io`.

        Another task's operation may be waiting meanwhile, so ``exchange`` must not use shared state of the
        session.
        """
        self.require_idle()
        return run_without_io(exchange)

    async def _acquire_lock(self, timeout: float | None) -> None:
        """Acquire the lock. wait_for() may swallow a cancellation, or lose the lock, before Python 3.12."""
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
            del error  # it refers to this frame

    async def _execute(self, exchange: Exchange[T], call: Call) -> T:
        try:
            result = await self.transport.run(self._trace_exchange(exchange, call), call)
        except BaseException as error:
            better = self._handle_failure(call, error)
            if self._closed:
                self.transport.close()
            if better is error:
                del better  # no name for the error, as in the blocking runner
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
        """Return a new runner of the same session, as :meth:`SessionRunner.transfer_ownership`."""
        current = self._runner is not None and self._runner is asyncio.current_task()
        if current or asyncio.get_running_loop() is not self._loop:
            return self._transfer_ownership()  # whose next operation reports what is wrong
        async with self.lock:
            return self._transfer_ownership()

    def _detach_after_fork(self) -> None:
        self.lock = asyncio.Lock()
        super()._detach_after_fork()

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
            self.abandon()  # the loop that could send SQ_EXIT is closed
            return
        async with self.lock:
            if self._closed:
                return
            self._closed = True
            try:
                await self.transport.run(self._trace_exchange(login.disconnect(self.session)))
            finally:
                self.transport.close()
