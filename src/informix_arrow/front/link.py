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
from ..exchange import connect as login
from ..exchange.cancel import drop, interruptible, note, verdict, why_lost
from ..exchange.observed import observed
from ..exchange.session import Session
from ..exchange.steps import Call, Exchange, at_once
from ..observing import Observers, Operation, Target
from ..transport.aio import AsyncTransport
from ..transport.blocking import BlockingTransport
from ..transport.tls import TlsSettings
from ..wire.errors import InterfaceError, OperationalError, QueryTimeout

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..dsn import Parameters
    from ..trace.recording import Trace

T = TypeVar("T")

_BUSY = (
    "the connection is in the middle of a statement; rows for executemany() cannot be read from the same connection "
    "while they are sent: read them first, or use another connection"
)


class _Settings(TypedDict):
    connect_timeout: float | None
    read_timeout: float | None
    keepalive: bool | float
    tls: TlsSettings | None


def _settings(parameters: Parameters) -> _Settings:
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


def _in_use(timeout: float) -> QueryTimeout:
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
def _target(host: str, port: int, server: str, user: str) -> Target:
    """The same for most connections of a process."""
    return Target(host, port, server, user)


class LinkState:
    """What both links remember: whether they can be used, and why not."""

    _given_back = False  # to a pool: the conversation goes on by another link

    def __init__(self, parameters: Parameters) -> None:
        self._closed = True  # until the session stands
        self._why_closed = ""  # why it was lost; "" when it was closed on purpose
        self._call_timeout = parameters.call_timeout
        target = _target(parameters.host, parameters.port, parameters.server, parameters.user)
        self.observers = Observers(target, parameters.log_parameters)
        self._trace = _trace(parameters) if parameters.trace else None
        self.session: Session
        self.transport: BlockingTransport | AsyncTransport
        _links.add(self)

    @property
    def closed(self) -> bool:
        """Whether it was closed or lost."""
        return self._closed

    def require_open(self) -> None:
        """``InterfaceError`` when it was closed, ``OperationalError`` with the reason when it was lost."""
        if self._closed:
            if self._given_back:
                raise InterfaceError(_GIVEN_BACK)
            if self._why_closed:
                raise OperationalError(self._why_closed, transient=True)
            raise InterfaceError("the connection is closed")

    @property
    def given_back(self) -> bool:
        """Whether it was handed on: its session is another holder's."""
        return self._given_back

    def _hand_on(self) -> Self:
        """Another link with the same conversation; this one is refused whatever it is asked for."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        _links.add(other)
        self._closed = self._given_back = True
        return other

    @property
    def suspicious(self) -> bool:
        """Whether something has come from the server that nobody asked for: its goodbye, as a rule. Costs no round
        trip and says so only between exchanges; a network that is gone without a word shows when it is used.
        """
        return self._closed or self.transport.stirs(expecting=bool(self.session.owed))

    def limit(self, timeout: float | None) -> float | None:
        """The seconds that a call may take. ``InterfaceError`` for what is no time limit, 0 among it: to some drivers
        that means none."""
        if timeout is None:
            return self._call_timeout
        seconds: float | None = check_value("call_timeout", timeout, "timeout")
        return seconds

    def _traced(self, exchange: Exchange[T], call: Call | None = None) -> Exchange[T]:
        """The exchange as the transport runs it: with somebody looking on, where the user asked for that."""
        if self._trace is None:
            return exchange
        return self._trace.follow(exchange, self.session.framing.encoding, call)

    def _logging_in(self, exchange: Exchange[Session]) -> AbstractContextManager[Exchange[Session]]:
        """The login, for the transport to be run within the block."""
        if self._trace is not None:
            exchange = self._trace.follow(exchange)
        if not self.observers.looking_at_login():
            return nullcontext(exchange)
        return self._observed_login(exchange, self.observers.begin())

    @contextmanager
    def _observed_login(
        self, exchange: Exchange[Session], operation: Operation
    ) -> Iterator[Exchange[Session]]:
        operation.tell("connect")
        error: BaseException | None = None
        try:
            yield observed(exchange, operation)
        except BaseException as failure:
            error = failure
            raise
        finally:
            self.observers.end(operation, self.session.database if error is None else "", error)

    def _forked(self) -> None:
        """This is a child process now: the conversation is its parent's, and nothing may be said in it."""
        if not self._closed:
            self._closed, self._why_closed = True, _OTHER_PROCESS
        self.transport.disown()

    def _failed(self, call: Call, error: BaseException) -> BaseException:
        """Take notice of what left an exchange; what the caller gets for it."""
        note(call, error)
        if isinstance(error, MemoryError) and error is not self.session.passed_on:
            error = OperationalError(
                "there was not enough memory for the server's reply; the connection is closed"
            )
            self._closed, self._why_closed = True, why_lost(error)
            return error
        if not self.session.usable_after(error):
            self._closed = True
            self._why_closed = why_lost(error)
        return verdict(call, error)


def _trace(parameters: Parameters) -> Trace:
    from ..trace.recording import Trace  # nobody else pays for it

    passwords = (
        parameters.password,
        parameters.tls_ca_password,
        parameters.tls_key_password,
        parameters.tls_pkcs12_password,
    )
    return Trace(
        parameters.trace, values=parameters.log_parameters, encoding=parameters.encoding, secrets=passwords
    )


_links: weakref.WeakSet[LinkState] = weakref.WeakSet()


def _after_fork() -> None:
    for link in list(_links):
        link._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Link(LinkState):
    """One logged-in session: exchanges run over it one after the other, whichever thread they come from.

    Made by :meth:`open`. After an error it is either usable as before or closed, nothing in between, and remembers why.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.lock = threading.RLock()
        """Held around each exchange, and by whoever looks at the session or changes it."""
        self._busy = False
        self.transport: BlockingTransport = BlockingTransport(**_settings(parameters))

    @classmethod
    def open(cls, parameters: Parameters) -> Link:
        """Log in. Errors are those of :func:`.exchange.connect.connect`."""
        link = cls(parameters)
        try:
            if link._trace is None and not link.observers.looking_at_login():
                exchange = login.connect(parameters)
                link.session = link.transport.run(exchange, whole=parameters.login_timeout)
            else:
                with link._logging_in(login.connect(parameters)) as exchange:
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
            timeout = self.limit(timeout)
        if timeout is None:
            # Python lets no signal in where ``with`` takes a lock: one that Ctrl-C left taken would stay so for ever.
            with self.lock:
                return self._run_alone(exchange, Call())
        call = Call(timeout, since=time.monotonic())
        lock: Any = self.lock
        mine = lock._is_owned()
        try:
            taken = lock.acquire(timeout=min(timeout, threading.TIMEOUT_MAX))
        except BaseException:  # Ctrl-C, which may have come when the lock was taken
            if lock._is_owned() and not mine:
                lock.release()
            raise
        if not taken:
            raise _in_use(timeout)
        try:
            return self._run_alone(exchange, call)
        finally:
            lock.release()

    def _run_alone(self, exchange: Exchange[T], call: Call) -> T:
        if self._closed:
            self.require_open()
        if self._busy:
            # The same thread, from within an exchange: the rows of an executemany(), a signal handler.
            raise InterfaceError(_BUSY)
        self._busy = True
        try:
            if self.observers.looking():
                return self._observed(exchange, call)
            return self._carry_out(interruptible(self.session, call, exchange), call)
        finally:
            self._busy = False

    def require_idle(self) -> None:
        """Refuse what :meth:`run_here` would."""
        if self._closed:
            self.require_open()
        if self._busy:
            with self.lock:  # unless that is another thread's
                if self._busy:
                    raise InterfaceError(_BUSY)

    def run_here(self, exchange: Exchange[T]) -> T:
        """Run an exchange that needs nothing of the server: no time limit, nothing to interrupt, no step."""
        with self.lock:
            if self._closed:
                self.require_open()
            if self._busy:
                raise InterfaceError(_BUSY)
            return at_once(exchange)

    def _observed(self, exchange: Exchange[T], call: Call) -> T:
        operation = call.operation = self.observers.begin(self.session.database)
        error: BaseException | None = None
        try:
            return self._carry_out(observed(interruptible(self.session, call, exchange), operation), call)
        except BaseException as failure:
            error = failure
            raise
        finally:
            call.operation = None
            self.observers.end(operation, self.session.database, error)
            del error  # it knows this frame

    def _carry_out(self, exchange: Exchange[T], call: Call) -> T:
        if self._trace is not None:
            exchange = self._traced(exchange, call)
        try:
            result = self.transport.run(exchange, call)
        except BaseException as error:
            better: BaseException | None = None
            try:
                better = self._failed(call, error)
            finally:
                if better is None:  # Ctrl-C again, before it was clear what the first error has left
                    self._closed, self._why_closed = True, why_lost(error)
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
        if call.broken is not None:
            drop(self.session, result)
            raise call.take_broken()
        return result

    def _forked(self) -> None:
        self.lock = threading.RLock()  # a thread that is not here may have held it
        super()._forked()

    def hand_on(self) -> Link:
        """The same conversation for its next holder, once nothing runs in it; whoever still has this link, or waits
        for it, gets an ``InterfaceError``, and can neither interrupt nor close what it was.
        """
        with self.lock:
            other = self._hand_on()
            self.lock = threading.RLock()  # nobody waits for what the next holder does
            return other

    def interrupt(self) -> None:
        """End the statement that runs now, from any thread; nothing when none runs."""
        if not self._given_back:
            self.transport.interrupt()

    def close(self) -> None:
        """End the session; the server rolls back an open transaction. May be called again."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            try:
                if not self._busy:  # else from within an exchange: no goodbye can be said in the middle of it
                    self.transport.run(self._traced(login.leave(self.session)))
            finally:
                self.transport.close()

    def abandon(self) -> None:
        """Close the socket and say nothing: for finalizers, which may run in the middle of anything."""
        self._closed = True
        if not self._given_back:
            self.transport.close()


class AsyncLink(LinkState):
    """:class:`Link` for asyncio: one session, used by one task at a time, in one event loop.

    Made by ``await AsyncLink.open(parameters)``. Tasks that ask at the same time are served in their order.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.lock = asyncio.Lock()
        """Held around each exchange; not reentrant."""
        self._runner: asyncio.Task[object] | None = None
        self._loop = asyncio.get_running_loop()
        self.transport: AsyncTransport = AsyncTransport(**_settings(parameters))

    @classmethod
    async def open(cls, parameters: Parameters) -> AsyncLink:
        """Log in. Errors as :class:`Link`; a cancellation closes the socket and passes through."""
        link = cls(parameters)
        try:
            with link._logging_in(login.connect(parameters)) as exchange:
                link.session = await link.transport.run(exchange, whole=parameters.login_timeout)
        except BaseException:
            link.transport.close()
            raise
        link._closed = False
        return link

    async def run(self, exchange: Exchange[T], *, timeout: float | None = None) -> T:
        """As :meth:`Link.run`. A task that is cancelled meanwhile interrupts its statement on the server and gets its
        ``CancelledError`` when the answer has been read: the link stays usable.
        """
        timeout = self.limit(timeout)
        if self._given_back:
            self.require_open()  # and not behind what the next holder does
        if asyncio.get_running_loop() is not self._loop:
            self.require_open()
            raise InterfaceError(_OTHER_LOOP)
        if self._runner is not None and self._runner is asyncio.current_task():
            raise InterfaceError(_BUSY)
        began = time.monotonic()
        await self._take_lock(timeout)
        try:
            self.require_open()
            self._runner = asyncio.current_task()
            return await self._run(exchange, Call(timeout, since=began))
        finally:
            self._runner = None
            self.lock.release()

    def require_idle(self) -> None:
        """Refuse what :meth:`run_here` would."""
        self.require_open()
        if self._runner is not None and self._runner is asyncio.current_task():
            raise InterfaceError(_BUSY)

    def run_here(self, exchange: Exchange[T]) -> T:
        """As :meth:`Link.run_here`. Another task's exchange may be waiting meanwhile: ``exchange`` must not touch what
        the session shares.
        """
        self.require_idle()
        return at_once(exchange)

    async def _take_lock(self, timeout: float | None) -> None:
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
            raise _in_use(timeout)

    async def _run(self, exchange: Exchange[T], call: Call) -> T:
        if not self.observers.looking():
            return await self._carry_out(interruptible(self.session, call, exchange), call)
        operation = call.operation = self.observers.begin(self.session.database)
        error: BaseException | None = None
        try:
            return await self._carry_out(
                observed(interruptible(self.session, call, exchange), operation), call
            )
        except BaseException as failure:
            error = failure
            raise
        finally:
            call.operation = None
            self.observers.end(operation, self.session.database, error)
            del error  # it knows this frame

    async def _carry_out(self, exchange: Exchange[T], call: Call) -> T:
        try:
            result = await self.transport.run(self._traced(exchange, call), call)
        except BaseException as error:
            better = self._failed(call, error)
            if self._closed:
                self.transport.close()
            if better is error:
                del better  # no name for the error, as in the blocking link
                raise
            try:
                raise better from error
            finally:
                del better
        if call.broken is not None:
            drop(self.session, result)
            raise call.take_broken()
        return result

    @property
    def suspicious(self) -> bool:
        return super().suspicious or asyncio.get_running_loop() is not self._loop

    async def hand_on(self) -> AsyncLink:
        """As :meth:`Link.hand_on`."""
        mine = self._runner is not None and self._runner is asyncio.current_task()
        if mine or asyncio.get_running_loop() is not self._loop:
            return self._hand_on()  # whose next step tells what is wrong
        async with self.lock:
            return self._hand_on()

    def _forked(self) -> None:
        self.lock = asyncio.Lock()
        super()._forked()

    def interrupt(self) -> None:
        """End the statement that runs now; nothing when none runs. From within the event loop."""
        if not self._given_back:
            self.transport.interrupt()

    async def close(self) -> None:
        """End the session; the server rolls back an open transaction. May be called again."""
        if self._given_back:
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
                await self.transport.run(self._traced(login.leave(self.session)))
            finally:
                self.transport.close()

    def abandon(self) -> None:
        """Close the socket and say nothing: for finalizers, and when there is no time for a goodbye."""
        self._closed = True
        if not self._given_back:
            self.transport.close()
