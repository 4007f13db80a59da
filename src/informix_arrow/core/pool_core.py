"""What a pool of threads and a pool of tasks have in common: who has which connection, and who is next in line.

Every method here is an instant and thread-safe: nothing waits, nothing is sent. The fronts (``pool.py``,
``aio/pool.py``) open, check, reset and close connections, and wait for their place in the line to be served.
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
    """A link, blocking or asynchronous."""

    @property
    def has_unsolicited_data(self) -> bool: ...


class Poolable(Protocol):
    """A connection, blocking or asynchronous."""

    row_factory: RowFactory

    @property
    def closed(self) -> bool: ...

    @property
    def _session(self) -> Session: ...

    @property
    def _runner(self) -> HealthCheckable: ...


C = TypeVar("C", bound=Poolable)

#: Seconds of silence after which a member that was asked for a sign of life is given up.
CHECK_AFTER_SECONDS = 5.0


@dataclass(slots=True)
class PoolStatistics:
    """What a pool has and what it has done so far."""

    size: int = 0  # connections open or being opened
    idle: int = 0  # of these, waiting in the pool
    waiting: int = 0  # callers waiting for one
    served: int = 0  # connections handed out
    opened: int = 0  # connections made
    broken: int = 0  # found closed, lost or beyond repair when checked or given back
    retired: int = 0  # closed for their age, for having been idle too long, or with the pool
    timeouts: int = 0  # callers that waited in vain
    waited_seconds: float = 0.0  # summed over all callers

    @property
    def in_use(self) -> int:
        """Connections that somebody holds or that are being opened for somebody."""
        return self.size - self.idle


#: What a pool takes besides the keywords of a connection.
OPTIONS = ("min_size", "max_size", "timeout", "max_idle", "max_age", "check_after", "configure", "reset")


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Sizes and times of a pool, as its front documents them."""

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
                raise InterfaceError(f"{name} must be a whole number of connections, got {value!r}")
        if not 0 <= self.min_size <= self.max_size or self.max_size < 1:
            raise InterfaceError(
                f"min_size={self.min_size}, max_size={self.max_size}: needs 0 <= min_size <= max_size, 1 <= max_size"
            )
        for name in ("timeout", "max_idle", "max_age", "check_after"):
            _check_seconds(name, getattr(self, name))


def check_hooks(**hooks: object) -> None:
    """``InterfaceError`` for one that cannot be called: it would be met by the first connection only."""
    for name, hook in hooks.items():
        if hook is not None and not callable(hook):
            raise InterfaceError(f"{name} must be a function of a connection, or None, got {hook!r}")


def _check_seconds(name: str, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InterfaceError(f"{name} must be a number of seconds, at least 0, or None, got {value!r}")


@dataclass(slots=True, eq=False)
class PooledConnection(Generic[C]):
    """One connection of the pool, made just now."""

    connection: C
    created_at: float  # times of time.monotonic()
    idle_since: float
    initial_state: InitialState  # to which its session is brought back
    row_factory: RowFactory  # and what its rows are made into
    lent_id: int = 0  # id() of the connection that a caller has, or had last
    is_lent: bool = False  # until it is put by, handed on or gone
    being_returned: bool = False
    removed: bool = False  # it does not count any more

    @classmethod
    def create(cls, connection: C) -> PooledConnection[C]:
        now = time.monotonic()
        return cls(connection, now, now, InitialState.capture(connection._session), connection.row_factory)

    @property
    def is_healthy(self) -> bool:
        """Whether it is open, and in the database that it was opened with."""
        return not self.connection.closed and self.connection._session.database == self.initial_state.database


@dataclass(slots=True, eq=False)
class Waiter(Generic[C]):
    """A caller's place in the line. Once ``served``, ``member`` is its connection; None: it may open one."""

    notify: Callable[[], object] = lambda: None
    member: PooledConnection[C] | None = None
    is_served: bool = False


class Deadline:
    """How long one caller waits."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.began = time.monotonic()

    @property
    def remaining(self) -> float | None:
        """Seconds that are left; None without a limit."""
        if self.limit is None:
            return None
        return min(max(0.0, self.began + self.limit - time.monotonic()), threading.TIMEOUT_MAX)


def with_login_deadline(parameters: Parameters, patience: Deadline | None) -> Parameters:
    """The parameters for a login that must be over when the caller's patience is. Whoever does not wait for others at
    all (a limit of 0) waits for a login as long as anybody.
    """
    left = None if patience is None or not patience.limit else patience.remaining
    if left is None or (parameters.login_timeout is not None and parameters.login_timeout <= left):
        return parameters
    return replace(parameters, login_timeout=left)


class PoolCore(Generic[C]):
    """The members of one pool and the line of those who want one.

    A signal's handler may raise between any two calls. So a caller's place is made before it is asked for, what is
    counted is changed without a call in between, and a member is taken from one collection when it is known elsewhere.
    """

    def __init__(self, limits: PoolLimits) -> None:
        self.limits = limits
        self.closed = False
        self._lock = threading.Lock()
        self._idle: deque[PooledConnection[C]] = deque()  # the one that was used last stands at the right
        self._lent: dict[int, PooledConnection[C]] = {}  # by id() of the connection
        self._waiters: deque[Waiter[C]] = deque()
        # Called when a closed pool has no member left.
        self._when_empty: list[Callable[[], object]] = []
        self._statistics = PoolStatistics()

    @property
    def statistics(self) -> PoolStatistics:
        """A snapshot."""
        with self._lock:
            return replace(self._statistics, idle=len(self._idle), waiting=len(self._waiters))

    @contextmanager
    def deadline(self, timeout: float | None) -> Iterator[Deadline]:
        """Around one caller's acquiring: its time limit, and what its wait adds to the statistics."""
        _check_seconds("timeout", timeout)
        patience = Deadline(self.limits.timeout if timeout is None else timeout)
        try:
            yield patience
        finally:
            with self._lock:
                self._statistics.waited_seconds += time.monotonic() - patience.began

    # ---- getting one ------------------------------------------------------------------------------------------

    def request(self, place: Waiter[C]) -> None:
        """Put a place into the line, or serve it at once if possible; else its ``wake`` is called when it is worth
        looking again.

        Whoever has a place must end with :meth:`claim` and :meth:`lend`, or with :meth:`cancel`.
        """
        with self._lock:
            self._require_open()
            if not self._waiters and self._idle:
                place.member, place.is_served = self._idle[-1], True
                self._idle.pop()
            elif not self._waiters and self._statistics.size < self.limits.max_size:
                self._statistics.size += 1
                place.is_served = True
            else:
                self._waiters.append(place)

    def claim(self, place: Waiter[C], patience: Deadline) -> PooledConnection[C] | None:
        """What the place was served with: a member, or None when the caller may open one.

        Raises ``OperationalError`` when it was not served in time, ``InterfaceError`` when the pool was closed.
        """
        with self._lock:
            if place.is_served:
                return place.member
            if place in self._waiters:
                self._waiters.remove(place)
            self._require_open()
            self._statistics.timeouts += 1
        log.debug(
            "no connection became free within %g s: all %d are lent", patience.limit, self.limits.max_size
        )
        raise OperationalError(
            f"no connection of the pool became free within {patience.limit:g} seconds: all {self.limits.max_size} are "
            "lent; give them back sooner, or raise max_size or timeout",
            transient=True,
        )

    def add(self, connection: C) -> PooledConnection[C]:
        """Take in a connection that was just made and set up."""
        with self._lock:
            self._statistics.opened += 1
            log.debug("a connection was opened: the pool has %d", self._statistics.size)
        return PooledConnection.create(connection)

    def lend(self, member: PooledConnection[C]) -> C:
        """Hand a member out."""
        with self._lock:
            self._statistics.served += 1
            member.lent_id = id(member.connection)
            member.is_lent, member.being_returned = True, False
            self._lent[member.lent_id] = member
        return member.connection

    def cancel(self, place: Waiter[C]) -> PooledConnection[C] | None:
        """Give the place up, whatever became of it: a member goes to the next in line, and so does the right to open
        one. Returned is a member that has to be closed and reported to :meth:`remove`. May be called again.
        """
        with self._lock:
            if place in self._waiters:
                self._waiters.remove(place)
            member, served = place.member, place.is_served
            place.member, place.is_served = None, False
        if member is None:
            if served:
                self._release_slot()
            return None
        return None if member.is_healthy and self.put(member) else member

    def needs_check(self, member: PooledConnection[C]) -> bool:
        """Whether it must be asked for a sign of life before it is lent: it has been idle for so long, or the server
        has said something in the meantime, which costs no round trip to find out.
        """
        after, idle = self.limits.check_after, time.monotonic() - member.idle_since
        return member.connection._runner.has_unsolicited_data or (
            after is not None and (not after or idle > after)
        )

    def mark_broken(self, place: Waiter[C]) -> None:
        """The member that a place was served with was closed because it is of no use: another one may be opened in its
        place, without a new wait.
        """
        with self._lock:
            self._statistics.broken += 1
        place.member = None

    # ---- giving it back ---------------------------------------------------------------------------------------

    def begin_return(self, connection: C) -> PooledConnection[C]:
        """The member of a lent connection, which must go on to :meth:`put` or :meth:`remove`.

        ``InterfaceError`` when it was not lent, or given back before.
        """
        with self._lock:
            member = self.find_lent(connection)
            if member is None or member.being_returned:
                raise InterfaceError("the connection was not lent by this pool, or was given back already")
            member.being_returned = True
        return member

    def find_lent(self, connection: C) -> PooledConnection[C] | None:
        """The member of a connection that is lent, or on its way back."""
        number = id(connection)
        member = self._lent.get(number)
        return member if member is not None and member.is_lent and member.lent_id == number else None

    def put(self, member: PooledConnection[C]) -> bool:
        """Hand a member to the first in line, else put it by. False: it is too old, or the pool is closed."""
        member.idle_since = time.monotonic()
        with self._lock:
            if self.closed or self._is_expired(member):
                return False
            if self._waiters:
                place = self._waiters[0]
                place.member, place.is_served, member.is_lent = member, True, False
                self._waiters.popleft()
                place.notify()
            else:
                self._idle.append(member)
                member.is_lent = False
            self._forget(member)
        return True

    def remove(self, member: PooledConnection[C], why: str) -> None:
        """A member was closed: ``"broken"`` or ``"retired"``. The first in line may open another one. May be called
        again."""
        with self._lock:
            if member.removed:
                return
            member.removed, member.is_lent = True, False
            self._statistics.size -= 1
            setattr(self._statistics, why, getattr(self._statistics, why) + 1)
            log.debug("a connection was closed (%s)", why)
            if member in self._idle:
                self._idle.remove(member)
            self._forget(member)
        self._grant_slot()

    def pop_surplus(self) -> PooledConnection[C] | None:
        """Take out an idle member that is too old, idle for too long, or of a closed pool: to be closed and
        :meth:`remove`. None when there is none."""
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
        """A place for one more of the ``min_size`` connections; False when there are enough."""
        with self._lock:
            self._require_open()
            if self._statistics.size >= self.limits.min_size:
                return False
            self._statistics.size += 1
            return True

    def failed_to_open(self) -> None:
        """A reserved place stays empty: the first in line may try."""
        self._release_slot()

    def close(self, wake: Callable[[], object]) -> bool:
        """Lend no more and send those away who wait: all idle members are :meth:`pop_surplus` now. True when nothing is
        lent; else ``wake`` is called when that is so."""
        with self._lock:
            self.closed = True
            line = list(self._waiters)
            self._waiters.clear()
            out = self._statistics.size - len(self._idle)
            if out:
                self._when_empty.append(wake)
        for place in line:
            place.notify()
        return not out

    def __repr__(self) -> str:
        s = self.statistics
        return "closed" if self.closed else f"{s.in_use} of {self.limits.max_size} in use, {s.idle} idle"

    def _require_open(self) -> None:
        if self.closed:
            raise InterfaceError("the pool is closed")

    def _forget(self, member: PooledConnection[C]) -> None:
        """It is lent no more; its number may be another's by now."""
        if self._lent.get(member.lent_id) is member:
            del self._lent[member.lent_id]

    def _release_slot(self) -> None:
        """A place is free."""
        with self._lock:
            self._statistics.size -= 1
        self._grant_slot()

    def _grant_slot(self) -> None:
        """The first in line may open a connection, where there is room for one more."""
        with self._lock:
            if self._waiters and not self.closed:
                if self._statistics.size < self.limits.max_size:
                    self._statistics.size += 1
                    place = self._waiters.popleft()
                    place.is_served = True
                    place.notify()
                return
            wakers = []
            if not self._statistics.size:
                wakers, self._when_empty = self._when_empty, []
        for wake in wakers:
            wake()

    def _is_expired(self, member: PooledConnection[C]) -> bool:
        return self.limits.max_age is not None and time.monotonic() - member.created_at > self.limits.max_age
