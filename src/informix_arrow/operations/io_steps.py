"""The steps that an operation may request from the transport that runs it.

An operation is a generator: it yields one of the steps below, is sent an ``int``, and returns its result. It
never uses a socket, thread or clock, so the blocking and the asyncio transport run the same operations.

===============================  =======================================================================
step                             what the transport sends back
===============================  =======================================================================
``Connect(host, port)``          0, once a new connection to that address is established, with its TLS
                                 handshake (an earlier one is closed)
``Send(data)``                   0, once all of ``data`` was handed to the operating system
``Send(data, into)``             bytes that arrived *meanwhile* and are now at the start of ``into``
``Receive(into)``                bytes that are now at the start of ``into``, at least 1; 0 = the peer closed
``SendReceive(data, into)``      as ``Send(data)`` and then ``Receive(into)``, in one step
``ExcludeFromTimeout(seconds)``  0, at once
``Pause(wait)``                  0, once ``wait()`` was awaited; for operations that only asyncio runs
``Poll(ready)``                  0, once ``ready(seconds)`` was true; for operations that only threads run
===============================  =======================================================================

If a step fails, :class:`ConnectionLost` is thrown into the operation.

``Send`` with ``into`` keeps a pipeline free of deadlock: a server that cannot send its replies stops reading,
so a client that sends much must receive replies while it sends (SQLI section 11).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, TypeVar

from ..observing import Operation
from ..wire.errors import InternalError, OperationalError

T = TypeVar("T")


class ConnectionLost(OperationalError):
    """The connection could not be established, broke or timed out; it cannot be used any more."""

    _transient = True


@dataclass(frozen=True, slots=True)
class Connect:
    """Open the transport to ``host``:``port``; a connection that is open already is closed first."""

    host: str
    port: int
    tls: bool = False


# Not frozen, because that would cost time in each statement; never modified.
@dataclass(slots=True)
class Send:
    """Send all of ``data``; with ``into``, also receive what arrives while sending waits."""

    data: bytes | bytearray | memoryview
    into: memoryview | None = None


@dataclass(slots=True)
class Receive:
    """Wait until at least one byte arrives and receive as many as are available into ``into``.

    ``idle_timeout`` is the number of seconds of silence after which the connection is lost; None keeps the
    user's setting.
    """

    into: memoryview
    idle_timeout: float | None = None


@dataclass(slots=True)
class SendReceive:
    """:class:`Send` of ``data``, then :class:`Receive`."""

    data: bytes | bytearray
    into: memoryview
    idle_timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for the user's own data; nothing is expected from the server. ``wait`` must not raise."""

    wait: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Poll:
    """Wait for the user's own data, as :class:`Pause`, in blocking code.

    ``ready`` waits for at most the given number of seconds and returns whether the data has arrived. It is called
    again until then, or until the call is to end. It must not raise.
    """

    ready: Callable[[float], bool]


@dataclass(frozen=True, slots=True)
class ExcludeFromTimeout:
    """Exclude ``seconds`` from the time limits: a person used them to answer a question during login."""

    seconds: float


Step: TypeAlias = Connect | Send | Receive | SendReceive | Pause | Poll | ExcludeFromTimeout
Exchange: TypeAlias = Generator[Step, int, T]


def split_send_receive(exchange: Exchange[T]) -> Exchange[T]:
    """Run the operation with each :class:`SendReceive` split into two steps, for callers that inspect them."""
    try:
        step = next(exchange)
        while True:
            try:
                if isinstance(step, SendReceive):
                    yield Send(step.data)
                    received = yield Receive(step.into, step.idle_timeout)
                else:
                    received = yield step
            except GeneratorExit:
                exchange.close()
                raise
            except BaseException as error:  # noqa: BLE001 - belongs to the operation
                step = exchange.throw(error)
            else:
                step = exchange.send(received)
    except StopIteration as stop:
        result: T = stop.value
        return result


def run_without_io(exchange: Exchange[T]) -> T:
    """Return the result of an operation that yields no step. Raises ``InternalError`` if it does."""
    try:
        next(exchange)
    except StopIteration as stop:
        result: T = stop.value
        return result
    exchange.close()
    raise InternalError("An exchange that was complete asked for more data.")


class CancelReason(Enum):
    """The reason why the running call is to end."""

    CANCEL = "cancel"  # cancel() was called
    TIMEOUT = "timeout"  # its time limit has passed
    BREAK = "break"  # an exception interrupted a wait: KeyboardInterrupt, CancelledError


@dataclass(slots=True, eq=False)
class Call:
    """One running operation that may be interrupted, shared by its transport, session and canceller.

    The transport sends the urgent byte (SQLI section 2) for it at most once, and only while it waits to receive
    or send bytes. It records that in ``interrupt_sent``. So the byte always follows the request that it is
    meant for.
    """

    timeout: float | None = None  # seconds that the call may take; None = no limit
    started_at: float = 0.0  # start of that time, by time.monotonic()
    cancel_reason: CancelReason | None = None  # the first reason
    interrupt_sent: bool = False  # the urgent byte was sent, or must not be sent now
    interrupted: bool = False  # a statement was ended by it
    acknowledged: bool = False  # the operation knows that it must begin nothing new
    grace_expired: bool = False  # the server did not react in time
    operation: Operation | None = None  # for observers
    pending_exception: BaseException | None = None  # interrupted a wait; raised after the operation

    @property
    def wants_interrupt(self) -> bool:
        """Return whether an interrupt is to be sent to the server.

        An operation that has acknowledged the end of the call only cleans up, which must not be interrupted.
        """
        return self.cancel_reason is not None and not self.interrupt_sent and not self.acknowledged

    def check_timeout(self, now: float) -> None:
        """Mark the call as one that is to end if its time is over. ``now`` is by time.monotonic()."""
        if self.cancel_reason is None and self.timeout is not None and now >= self.started_at + self.timeout:
            self.cancel_reason = CancelReason.TIMEOUT

    def pop_pending_exception(self) -> BaseException:
        """Return ``pending_exception``, to be raised, and clear it.

        Its traceback refers to frames that refer to this call. If the call still referred to the exception, the
        reference cycle would keep everything in those frames alive until garbage collection.
        """
        assert self.pending_exception is not None
        popped = [self.pending_exception]
        self.pending_exception = None
        return popped.pop()
