"""A pool of connections for programs with many threads.

    pool = informix_arrow.Pool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8)
    with pool.connection() as conn:
        table = conn.read_arrow("SELECT * FROM orders")

No thread of its own: connections are opened, checked and retired when somebody asks for one or gives one back.
Whoever waits is served in the order of asking.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .connection import Connection, connect
from .wire.errors import Error, InterfaceError, OperationalError

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(slots=True)
class PoolStatistics:
    """What a pool has and what it has done so far."""

    size: int = 0  # connections open or being opened
    idle: int = 0  # of these, waiting in the pool
    waiting: int = 0  # callers waiting for one
    served: int = 0  # connections handed out
    opened: int = 0  # connections made
    broken: int = 0  # found closed or lost when checked or given back
    retired: int = 0  # closed for their age, or for having been idle too long
    timeouts: int = 0  # callers that waited in vain
    waited_seconds: float = 0.0  # summed over all callers

    @property
    def in_use(self) -> int:
        """Connections that somebody holds or that are being opened for somebody."""
        return self.size - self.idle


@dataclass(slots=True)
class _Member:
    """One connection of the pool."""

    connection: Connection
    born: float  # times of time.monotonic()
    idle_since: float = 0.0


@dataclass(slots=True, eq=False)
class _Waiter:
    """A caller in the line. ``member`` is set, or stays None when it may open a connection of its own."""

    ready: threading.Event = field(default_factory=threading.Event)
    member: _Member | None = None
    served: bool = False


class Pool:
    """Connections that are opened once and lent many times.

    Parameters
    ----------
    url, keywords
        As for :func:`informix_arrow.connect`; every connection is made with them.
    min_size
        Connections opened at once and kept when idle, 0 by default.
    max_size
        Most connections open at a time, 10 by default; further callers wait.
    timeout
        Seconds that a caller waits for a connection, 30 by default; None = for ever.
    max_idle
        Seconds after which an unused connection is closed (beyond ``min_size``), 600 by default; None = never.
    max_age
        Seconds after which a connection is not lent again, 3600 by default; None = never.
    check_after
        A connection that was idle for longer than so many seconds is asked for a sign of life before it is lent,
        30 by default; 0 = always, None = never.
    on_connect
        Called with each new connection, to set it up.

    Given back with a transaction open, a connection is rolled back, which closes its results. What else a session
    remembers (temporary tables, SET statements, with autocommit also results that somebody still holds) stays with it.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        min_size: int = 0,
        max_size: int = 10,
        timeout: float | None = 30.0,
        max_idle: float | None = 600.0,
        max_age: float | None = 3600.0,
        check_after: float | None = 30.0,
        on_connect: Callable[[Connection], object] | None = None,
        **keywords: Any,
    ) -> None:
        if not 0 <= min_size <= max_size or max_size < 1:
            raise InterfaceError(
                f"min_size={min_size}, max_size={max_size}: needs 0 <= min_size <= max_size, 1 <= max_size"
            )
        self._open: Callable[[], Connection] = partial(connect, url, **keywords)
        self._on_connect = on_connect
        self._min_size, self._max_size = min_size, max_size
        self._timeout, self._max_idle, self._max_age = timeout, max_idle, max_age
        self._check_after = check_after
        self._lock = threading.Lock()
        self._idle: deque[_Member] = deque()  # the one that was used last stands at the right
        self._lent: dict[int, _Member] = {}  # by id() of the connection
        self._waiters: deque[_Waiter] = deque()
        self._statistics = PoolStatistics()
        self._closed = False
        try:
            for _ in range(min_size):
                self._statistics.size += 1
                self._keep(self._new_member())
        except BaseException:
            self._statistics.size -= 1
            self.close()
            raise

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        """Lend a connection for a block: committed when the block ends well, rolled back when it raises.

        ``timeout`` overrules the pool's. Raises as :meth:`acquire`.
        """
        connection = self.acquire(timeout)
        try:
            yield connection
            if not connection.closed:
                connection.commit()
        finally:
            self.release(connection)

    def acquire(self, timeout: float | None = None) -> Connection:
        """Lend a connection; give it back with :meth:`release`.

        Raises
        ------
        OperationalError
            None became free within ``timeout`` seconds (the pool's timeout by default), or none could be opened.
        InterfaceError
            The pool is closed.
        """
        limit = self._timeout if timeout is None else timeout
        began = time.monotonic()
        try:
            while True:
                member = self._take(None if limit is None else began + limit, limit)
                if member is None:
                    member = self._open_for_caller()
                if self._is_alive(member):
                    break
                self._discard(member, "broken")
        finally:
            with self._lock:
                self._statistics.waited_seconds += time.monotonic() - began
        with self._lock:
            self._statistics.served += 1
            self._lent[id(member.connection)] = member
        return member.connection

    def release(self, connection: Connection) -> None:
        """Take a connection back: rolled back if a transaction is open, discarded if it is closed, lost or too old.

        Raises ``InterfaceError`` for a connection that this pool has not lent, or that was given back already.
        """
        with self._lock:
            member = self._lent.pop(id(connection), None)
        if member is None:
            raise InterfaceError("the connection was not lent by this pool, or was given back already")
        if not connection.closed:
            try:
                connection.rollback()
            except Error:
                connection.close()
        if connection.closed:
            self._discard(member, "broken")
        elif self._closed or self._too_old(member):
            self._discard(member, "retired")
        else:
            self._keep(member)

    @property
    def statistics(self) -> PoolStatistics:
        """A snapshot of the pool's numbers."""
        with self._lock:
            return replace(self._statistics, idle=len(self._idle), waiting=len(self._waiters))

    def close(self) -> None:
        """Close the idle connections and lend no more; those that are lent are closed when they come back."""
        with self._lock:
            self._closed = True
            members = list(self._idle)
            self._idle.clear()
            waiters = list(self._waiters)
            self._waiters.clear()
        for waiter in waiters:
            waiter.ready.set()
        for member in members:
            self._discard(member, "retired")

    # ---- the line --------------------------------------------------------------------------------------------

    def _take(self, deadline: float | None, limit: float | None) -> _Member | None:
        """An idle connection, or None when the caller may open one; waits for its turn."""
        with self._lock:
            self._require_open()
            stale = self._stale()
            if not self._waiters and self._idle:
                member: _Member | None = self._idle.pop()
                waiter = None
            elif not self._waiters and self._statistics.size < self._max_size:
                self._statistics.size += 1
                member, waiter = None, None
            else:
                waiter = _Waiter()
                self._waiters.append(waiter)
                member = None
        for old in stale:
            self._discard(old, "retired")
        if waiter is None:
            return member
        try:
            in_time = waiter.ready.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except BaseException:
            self._give_up(waiter)
            raise
        with self._lock:
            if waiter.served:
                return waiter.member
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            self._require_open()
            self._statistics.timeouts += 1
        assert not in_time
        raise OperationalError(
            f"no connection of the pool became free within {limit:g} seconds: all {self._max_size} are lent; "
            "give them back sooner, or raise max_size or timeout"
        )

    def _give_up(self, waiter: _Waiter) -> None:
        """The caller was interrupted: leave the line, and pass on what may have been given meanwhile."""
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            served, member = waiter.served, waiter.member
        if served and member is not None:
            self._keep(member)
        elif served:
            self._freed()

    def _keep(self, member: _Member) -> None:
        """Hand the connection to the first in line, else put it by."""
        member.idle_since = time.monotonic()
        with self._lock:
            if not self._closed:
                if self._waiters:
                    self._serve(self._waiters.popleft(), member)
                else:
                    self._idle.append(member)
                return
        self._discard(member, "retired")

    def _freed(self) -> None:
        """A place is free: the first in line may open a connection."""
        with self._lock:
            if self._waiters and not self._closed:
                self._serve(self._waiters.popleft(), None)
            else:
                self._statistics.size -= 1

    @staticmethod
    def _serve(waiter: _Waiter, member: _Member | None) -> None:
        waiter.member, waiter.served = member, True
        waiter.ready.set()

    def _require_open(self) -> None:
        if self._closed:
            raise InterfaceError("the pool is closed")

    # ---- members ---------------------------------------------------------------------------------------------

    def _new_member(self) -> _Member:
        connection = self._open()
        try:
            if self._on_connect is not None:
                self._on_connect(connection)
                if connection.in_transaction:
                    connection.commit()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._statistics.opened += 1
        return _Member(connection, time.monotonic())

    def _open_for_caller(self) -> _Member:
        try:
            member = self._new_member()
        except BaseException:
            self._freed()
            raise
        member.idle_since = time.monotonic()
        return member

    def _is_alive(self, member: _Member) -> bool:
        connection, idle = member.connection, time.monotonic() - member.idle_since
        if connection.closed:
            return False
        if self._check_after is None or (self._check_after and idle <= self._check_after):
            return True
        try:
            connection.ping()
        except Error:
            return False
        return True

    def _too_old(self, member: _Member) -> bool:
        return self._max_age is not None and time.monotonic() - member.born > self._max_age

    def _stale(self) -> list[_Member]:
        """Take out the idle connections that are too old or idle for too long; the lock is held."""
        now, out = time.monotonic(), []
        for member in list(self._idle):
            unused = self._max_idle is not None and now - member.idle_since > self._max_idle
            if self._too_old(member) or (unused and len(self._idle) > self._min_size):
                self._idle.remove(member)
                out.append(member)
        return out

    def _discard(self, member: _Member, why: str) -> None:
        try:
            member.connection.close()
        except Error:
            pass  # it is gone all the same
        finally:
            with self._lock:
                setattr(self._statistics, why, getattr(self._statistics, why) + 1)
            self._freed()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        s = self.statistics
        state = "closed" if self._closed else f"{s.in_use} of {self._max_size} in use, {s.idle} idle"
        return f"<informix_arrow.Pool {state}>"
