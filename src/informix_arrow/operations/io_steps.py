"""What an exchange may ask of the transport that runs it.

An exchange is a generator: it yields one of the steps below, is sent back an ``int``, and returns its result.
It never touches a socket or a thread and waits for no clock, so the blocking and the asyncio transport run the
very same conversations.

========================  ==============================================================================
step                      what the runner answers
========================  ==============================================================================
``Connect(host, port)``   0, once a fresh connection to that address stands, its TLS handshake included (an
                          earlier one is closed)
``Send(data)``            0, once all of ``data`` was handed to the operating system
``Send(data, into)``      bytes that arrived *meanwhile* and now lie at the start of ``into``
``Receive(into)``         bytes that now lie at the start of ``into``, at least 1; 0 = the peer closed
``Ask(data, into)``       what ``Send(data)`` and then ``Receive(into)`` would: the two of most statements, in one
``Uncounted(seconds)``    0, at once
``Pause(wait)``           0, once ``wait()`` was awaited; for exchanges that only asyncio runs
========================  ==============================================================================

A step that fails is answered by :class:`ConnectionLost`, thrown into the exchange.

``Send`` with ``into`` is how a pipeline stays free of deadlock: a server that cannot get rid of its replies
stops reading, so whoever sends much must take in replies while sending (SQLI section 11).
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
    """The connection could not be made, or broke or fell silent under an exchange; it cannot be used any
    more.
    """

    _transient = True


@dataclass(frozen=True, slots=True)
class Connect:
    """Open the transport to ``host``:``port``; a connection that is open already is closed first."""

    host: str
    port: int
    tls: bool = False


# Not frozen, for what that costs each statement; nobody changes them.
@dataclass(slots=True)
class Send:
    """Send all of ``data``; with ``into``, also take in what arrives while the sending waits."""

    data: bytes | bytearray | memoryview
    into: memoryview | None = None


@dataclass(slots=True)
class Receive:
    """Wait until at least one byte arrives and put as many as there are into ``into``.

    ``patience`` is how many seconds of silence end the connection from here on; None leaves it at the user's
    setting.
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
    """Let the user's own data arrive; nothing is awaited from the server. ``wait`` must not raise."""

    wait: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ExcludeFromTimeout:
    """A person has used so many seconds of a login, by answering a question: no time limit counts them."""

    seconds: float


Step: TypeAlias = Connect | Send | Receive | SendReceive | Pause | ExcludeFromTimeout
Exchange: TypeAlias = Generator[Step, int, T]


def split_send_receive(exchange: Exchange[T]) -> Exchange[T]:
    """The exchange, with the two steps that each :class:`SendReceive` stands for: for those who look at steps."""
    try:
        step = next(exchange)
        while True:
            try:
                if isinstance(step, SendReceive):
                    yield Send(step.data)
                    answer = yield Receive(step.into, step.idle_timeout)
                else:
                    answer = yield step
            except GeneratorExit:
                exchange.close()
                raise
            except BaseException as error:  # noqa: BLE001 - it is the exchange's
                step = exchange.throw(error)
            else:
                step = exchange.send(answer)
    except StopIteration as stop:
        result: T = stop.value
        return result


def run_without_io(exchange: Exchange[T]) -> T:
    """The result of an exchange that is known to ask for no step. ``InternalError`` when it does all the same."""
    try:
        next(exchange)
    except StopIteration as stop:
        result: T = stop.value
        return result
    exchange.close()
    raise InternalError("an exchange that had all it needs asked for more")


class CancelReason(Enum):
    """Who wants the running call to end."""

    CANCEL = "cancel"  # somebody called cancel()
    TIMEOUT = "timeout"  # its time is over
    BREAK = "break"  # an exception struck a wait: KeyboardInterrupt, CancelledError


@dataclass(slots=True, eq=False)
class Call:
    """One exchange that may be interrupted, as its transport, its session and its canceller know it.

    The transport sends the urgent byte (SQLI section 2) for it at most once, only while bytes are awaited or cannot
    be sent, and notes that in ``sent``. So the byte always follows the request that it is meant for.
    """

    timeout: float | None = None  # seconds that the call may take; None = no limit
    started_at: float = 0.0  # the moment from which they count, of time.monotonic()
    cancel_reason: CancelReason | None = None  # the first one that asked
    interrupt_sent: bool = False  # the urgent byte has left, or must not leave now
    interrupted: bool = False  # a statement was ended by it
    acknowledged: bool = False  # the exchange was told to begin nothing new
    grace_expired: bool = False  # the grace is over: the server did not react
    operation: Operation | None = None  # for those who look at it
    pending_exception: BaseException | None = None  # what struck a wait; raised when the exchange has ended

    def pop_pending_exception(self) -> BaseException:
        """``broken``, to be raised. The error comes to know the frames that know this call: were it still named here,
        all that they hold, a cursor for one, would wait for the collector of garbage.
        """
        assert self.pending_exception is not None
        taken = [self.pending_exception]
        self.pending_exception = None
        return taken.pop()
