"""The state that a pool of threads and a pool of tasks share: lent connections and waiting callers.

Methods return at once and are thread-safe: they neither wait nor send. The pool classes (``pool.py``,
``aio/pool.py``) open, check, reset and close connections, and wait until they are served.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from ..dsn import Parameters
from ..operations.reset import InitialState
from ..operations.session import Session
from ..rows.python_rows import RowFactory
from ..wire.errors import InterfaceError, OperationalError

log = logging.getLogger("informix_arrow.pool")


class HealthCheckable(Protocol):
    """A session runner, blocking or asyncio."""

    @property
    def has_unsolicited_data(self) -> bool: ...


class Poolable(Protocol):
    """A connection, blocking or asyncio."""

    row_factory: RowFactory

    @property
    def closed(self) -> bool: ...

    @property
    def _session(self) -> Session: ...

    @property
    def _runner(self) -> HealthCheckable: ...


C = TypeVar("C", bound=Poolable)

#: Seconds of silence after which an idle connection that is being checked is discarded.
CHECK_AFTER_SECONDS = 5.0


@dataclass(slots=True)
class PoolStatistics:
    """The present state of a pool and its counters."""

    size: int = 0  # connections open or being opened
    idle: int = 0  # of these, idle in the pool
    waiting: int = 0  # callers waiting for one
    served: int = 0  # connections handed out
    opened: int = 0  # connections made
    broken: int = 0  # found closed, lost or unusable when checked or returned
    retired: int = 0  # closed for their age, for being idle too long, or with the pool
    timeouts: int = 0  # callers that timed out
    waited_seconds: float = 0.0  # summed over all callers

    @property
    def in_use(self) -> int:
        """Connections that are lent or being opened for a caller."""
        return self.size - self.idle


#: The options of a pool besides the keywords of a connection.
OPTIONS = ("min_size", "max_size", "timeout", "max_idle", "max_age", "check_after", "configure", "reset")


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Sizes and times of a pool, as documented by the pool classes."""

    min_size: int
    max_size: int
    timeout: float | None
    max_idle: float | None
    max_age: float | None
    check_after: float | None

    def __post_init__(self) -> None:
        for name in ("min_size", "max_size"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InterfaceError(f"{name} must be a whole number of connections, got {value!r}.")
        if not 0 <= self.min_size <= self.max_size or self.max_size < 1:
            raise InterfaceError(
                f"min_size={self.min_size}, max_size={self.max_size}: min_size must be at least 0, and max_size at "
                "least 1 and min_size."
            )
        for name in ("timeout", "max_idle", "max_age", "check_after"):
            _check_seconds(name, getattr(self, name))


def check_hooks(**hooks: object) -> None:
    """Raise ``InterfaceError`` for a hook that cannot be called, which would otherwise fail at the first connection."""
    for name, hook in hooks.items():
        if hook is not None and not callable(hook):
            raise InterfaceError(f"{name} must be a function of a connection, or None, got {hook!r}.")


def _check_seconds(name: str, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InterfaceError(f"{name} must be a number of seconds of at least 0, or None, got {value!r}.")


@dataclass(slots=True, eq=False)
class PooledConnection(Generic[C]):
    """One connection of the pool."""

    connection: C
    created_at: float  # times by time.monotonic()
    idle_since: float
    initial_state: InitialState  # to which its session is reset
    row_factory: RowFactory  # to which its row factory is reset
    lent_id: int = 0  # id() of the connection that a caller has, or had last
    is_lent: bool = False  # until it is idle, handed on or gone
    being_returned: bool = False
    removed: bool = False  # it no longer counts

    @classmethod
    def create(cls, connection: C) -> PooledConnection[C]:
        now = time.monotonic()
        return cls(connection, now, now, InitialState.capture(connection._session), connection.row_factory)

    @property
    def is_healthy(self) -> bool:
        """Return whether it is open and in the database that it was opened with."""
        return not self.connection.closed and self.connection._session.database == self.initial_state.database


@dataclass(slots=True, eq=False)
class Waiter(Generic[C]):
    """A waiting caller. Once ``is_served``, ``member`` is its connection; None: it may open one."""

    notify: Callable[[], object] = lambda: None
    member: PooledConnection[C] | None = None
    is_served: bool = False


class Deadline:
    """The time limit of one caller."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.began = time.monotonic()

    @property
    def remaining(self) -> float | None:
        """The seconds left; None without a limit."""
        if self.limit is None:
            return None
        return min(max(0.0, self.began + self.limit - time.monotonic()), threading.TIMEOUT_MAX)


def with_login_deadline(parameters: Parameters, deadline: Deadline | None) -> Parameters:
    """Return the parameters for a login that must end with the caller's time limit.

    With a limit of 0, which means not to wait for others, the login is not limited.
    """
    remaining = None if deadline is None or not deadline.limit else deadline.remaining
    if remaining is None or (parameters.login_timeout is not None and parameters.login_timeout <= remaining):
        return parameters
    return replace(parameters, login_timeout=remaining)


class PoolCore(Generic[C]):
    """The connections of one pool and the queue of waiting callers.

    A signal's handler may raise between any two calls. So a waiter is created before it is queued, counters are
    changed without a call in between, and a connection is removed from one collection only after it is known
    elsewhere.
    """

    def __init__(self, limits: PoolLimits) -> None:
        self.limits = limits
        self.closed = False
        self._lock = threading.Lock()
        self._idle: deque[PooledConnection[C]] = deque()  # the one used last is at the right
        self._lent: dict[int, PooledConnection[C]] = {}  # by id() of the connection
        self._waiters: deque[Waiter[C]] = deque()
        # Called when a closed pool has no connection left.
        self._when_empty: list[Callable[[], object]] = []
        self._statistics = PoolStatistics()

    @property
    def statistics(self) -> PoolStatistics:
        """A snapshot of the counters."""
        with self._lock:
            return replace(self._statistics, idle=len(self._idle), waiting=len(self._waiters))

    @contextmanager
    def deadline(self, timeout: float | None) -> Iterator[Deadline]:
        """Return the time limit of one caller's wait, and add the wait to the statistics."""
        _check_seconds("timeout", timeout)
        deadline = Deadline(self.limits.timeout if timeout is None else timeout)
        try:
            yield deadline
        finally:
            with self._lock:
                self._statistics.waited_seconds += time.monotonic() - deadline.began

    # ---- acquiring ---------------------------------------------------------------------------------------------

    def request(self, waiter: Waiter[C]) -> None:
        """Serve a waiter at once if possible, else put it into the queue. Its ``notify`` is called when it is
        worth trying again.

        The caller must then use :meth:`claim` and :meth:`lend`, or :meth:`cancel`.
        """
        with self._lock:
            self._require_open()
            if not self._waiters and self._idle:
                waiter.member, waiter.is_served = self._idle[-1], True
                self._idle.pop()
            elif not self._waiters and self._statistics.size < self.limits.max_size:
                self._statistics.size += 1
                waiter.is_served = True
            else:
                self._waiters.append(waiter)

    def claim(self, waiter: Waiter[C], deadline: Deadline) -> PooledConnection[C] | None:
        """Return the connection that a waiter was served with, or None if the caller may open one.

        Raises ``OperationalError`` if it was not served in time, ``InterfaceError`` if the pool was closed.
        """
        with self._lock:
            if waiter.is_served:
                return waiter.member
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            self._require_open()
            self._statistics.timeouts += 1
        log.debug(
            "No connection became free within %g s. All %d are in use.", deadline.limit, self.limits.max_size
        )
        raise OperationalError(
            f"No connection of the pool became free within {deadline.limit:g} seconds. All "
            f"{self.limits.max_size} are in use. Return them sooner, or raise max_size or timeout.",
            transient=True,
        )

    def add(self, connection: C) -> PooledConnection[C]:
        """Add a connection that was just opened and set up."""
        with self._lock:
            self._statistics.opened += 1
            log.debug("A connection was opened. The pool has %d.", self._statistics.size)
        return PooledConnection.create(connection)

    def lend(self, member: PooledConnection[C]) -> C:
        """Lend a connection to a caller."""
        with self._lock:
            self._statistics.served += 1
            member.lent_id = id(member.connection)
            member.is_lent, member.being_returned = True, False
            self._lent[member.lent_id] = member
        return member.connection

    def cancel(self, waiter: Waiter[C]) -> PooledConnection[C] | None:
        """Cancel a waiter in any state. A connection goes to the next waiter, and so does the right to open
        one.

        Returns a connection that has to be closed and reported to :meth:`remove`, or None. May be called again.
        """
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            member, served = waiter.member, waiter.is_served
            waiter.member, waiter.is_served = None, False
        if member is None:
            if served:
                self._release_slot()
            return None
        return None if member.is_healthy and self.put(member) else member

    def needs_check(self, member: PooledConnection[C]) -> bool:
        """Return whether a connection must be checked before it is lent.

        It must if it has been idle for long enough, or if the server has sent something meanwhile, which is
        detected without a round trip.
        """
        after, idle = self.limits.check_after, time.monotonic() - member.idle_since
        return member.connection._runner.has_unsolicited_data or (
            after is not None and (not after or idle > after)
        )

    def mark_broken(self, waiter: Waiter[C]) -> None:
        """Record that the waiter's connection was unusable and closed: it may open another one without a new wait."""
        with self._lock:
            self._statistics.broken += 1
        waiter.member = None

    # ---- returning ---------------------------------------------------------------------------------------------

    def begin_return(self, connection: C) -> PooledConnection[C]:
        """Return the entry of a lent connection, which must then be passed to :meth:`put` or :meth:`remove`.

        Raises ``InterfaceError`` if it was not lent, or was already returned.
        """
        with self._lock:
            member = self.find_lent(connection)
            if member is None or member.being_returned:
                raise InterfaceError("The connection does not belong to this pool, or was already returned.")
            member.being_returned = True
        return member

    def find_lent(self, connection: C) -> PooledConnection[C] | None:
        """Return the entry of a connection that is lent or being returned, or None."""
        number = id(connection)
        member = self._lent.get(number)
        return member if member is not None and member.is_lent and member.lent_id == number else None

    def put(self, member: PooledConnection[C]) -> bool:
        """Hand a connection to the first waiter, else keep it idle.

        Returns False if it is too old or the pool is closed.
        """
        member.idle_since = time.monotonic()
        with self._lock:
            if self.closed or self._is_expired(member):
                return False
            if self._waiters:
                waiter = self._waiters[0]
                waiter.member, waiter.is_served, member.is_lent = member, True, False
                self._waiters.popleft()
                waiter.notify()
            else:
                self._idle.append(member)
                member.is_lent = False
            self._forget(member)
        return True

    def remove(self, member: PooledConnection[C], why: str) -> None:
        """Record that a connection was closed, ``"broken"`` or ``"retired"``. The first waiter may open another
        one.

        May be called again.
        """
        with self._lock:
            if member.removed:
                return
            member.removed, member.is_lent = True, False
            self._statistics.size -= 1
            setattr(self._statistics, why, getattr(self._statistics, why) + 1)
            log.debug("A connection was closed (%s).", why)
            if member in self._idle:
                self._idle.remove(member)
            self._forget(member)
        self._grant_slot()

    def pop_surplus(self) -> PooledConnection[C] | None:
        """Remove and return an idle connection that is too old, idle for too long, or of a closed pool; else
        None.

        The caller closes it and calls :meth:`remove`.
        """
        now, limits = time.monotonic(), self.limits
        with self._lock:
            for member in self._idle:
                unused = limits.max_idle is not None and now - member.idle_since > limits.max_idle
                if self.closed or self._is_expired(member) or (unused and len(self._idle) > limits.min_size):
                    self._idle.remove(member)
                    return member
        return None

    # ---- beginning and end ------------------------------------------------------------------------------------

    def reserve(self) -> bool:
        """Reserve a slot for one more of the ``min_size`` connections. Returns False if there are enough."""
        with self._lock:
            self._require_open()
            if self._statistics.size >= self.limits.min_size:
                return False
            self._statistics.size += 1
            return True

    def failed_to_open(self) -> None:
        """Release the slot of a connection that could not be opened: the first waiter may try."""
        self._release_slot()

    def close(self, wake: Callable[[], object]) -> bool:
        """Close the pool: stop lending and wake all waiters. All idle connections are then returned by
        :meth:`pop_surplus`.

        Returns True if nothing is lent; else ``wake`` is called as soon as that is so.
        """
        with self._lock:
            self.closed = True
            waiters = list(self._waiters)
            self._waiters.clear()
            lent = self._statistics.size - len(self._idle)
            if lent:
                self._when_empty.append(wake)
        for waiter in waiters:
            waiter.notify()
        return not lent

    def __repr__(self) -> str:
        s = self.statistics
        return "closed" if self.closed else f"{s.in_use} of {self.limits.max_size} in use, {s.idle} idle"

    def _require_open(self) -> None:
        if self.closed:
            raise InterfaceError("The pool is closed.")

    def _forget(self, member: PooledConnection[C]) -> None:
        """Forget a connection that is no longer lent; its id() may already belong to another one."""
        if self._lent.get(member.lent_id) is member:
            del self._lent[member.lent_id]

    def _release_slot(self) -> None:
        """Release a slot."""
        with self._lock:
            self._statistics.size -= 1
        self._grant_slot()

    def _grant_slot(self) -> None:
        """Let the first waiter open a connection, if there is room for one more."""
        with self._lock:
            if self._waiters and not self.closed:
                if self._statistics.size < self.limits.max_size:
                    self._statistics.size += 1
                    waiter = self._waiters.popleft()
                    waiter.is_served = True
                    waiter.notify()
                return
            wakers = []
            if not self._statistics.size:
                wakers, self._when_empty = self._when_empty, []
        for wake in wakers:
            wake()

    def _is_expired(self, member: PooledConnection[C]) -> bool:
        return self.limits.max_age is not None and time.monotonic() - member.created_at > self.limits.max_age
