"""A pool of connections for programs with many threads.

    pool = informix_arrow.Pool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8)
    with pool.connection() as conn:
        table = conn.read_arrow("SELECT * FROM orders")

No thread of its own: connections are opened, checked and retired when somebody asks for one or gives one back.
Whoever waits is served in the order of asking. For asyncio: :class:`informix_arrow.aio.AsyncPool`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .connection import Connection
from .dsn import Parameters, resolve
from .exchange.ping import ping
from .exchange.reset import reset as reset_session
from .pool_core import CHECK, Member, Patience, PoolCore, PoolLimits, PoolStatistics, hurried
from .wire.errors import Error

if TYPE_CHECKING:
    from typing_extensions import Self


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
        Seconds that a caller waits for a connection, one that has to be opened included, 30 by default; None = for
        ever, 0 = not for others.
    max_idle
        Seconds after which an unused connection is closed (beyond ``min_size``), 600 by default; None = never.
    max_age
        Seconds after which a connection is not lent again, 3600 by default; None = never.
    check_after
        A connection that was idle for longer than so many seconds is asked for a sign of life before it is lent,
        30 by default; 0 = always, None = never. One whose server has closed it is noticed without that.
    configure
        Called with each new connection, to set it up. What it leaves uncommitted is committed.
    reset
        Called with each connection that comes back, after it was rolled back. An error closes the connection and
        reaches whoever gave it back. What it leaves uncommitted is committed.

    Given back, a connection is rolled back if a transaction is open, its results that were not read to their end are
    closed (reading on is an error), and ``autocommit``, ``isolation``, ``lock_wait`` and ``row_factory`` are as they
    were. One that is closed, lost or in another database is discarded. What else a session remembers (temporary
    tables, SET statements) stays with it.
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
        configure: Callable[[Connection], object] | None = None,
        reset: Callable[[Connection], object] | None = None,
        **keywords: Any,
    ) -> None:
        limits = PoolLimits(min_size, max_size, timeout, max_idle, max_age, check_after)
        self._core: PoolCore[Connection] = PoolCore(limits)
        # Anew for each connection: a server group is begun at a random member.
        self._resolve: Callable[[], Parameters] = partial(resolve, url, **keywords)
        self._configure, self._reset = configure, reset
        try:
            while self._core.reserve():
                self._put_by(self._reserved())
        except BaseException:
            self.close()
            raise

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        """Lend a connection for a block: committed when the block ends well, rolled back when it raises.

        ``timeout`` overrules the pool's. Raises as :meth:`acquire`, and the error of the commit.
        """
        connection = self.acquire(timeout)
        try:
            yield connection
            if not connection.closed or connection.in_transaction:  # lost work is an error, too
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
        core = self._core
        with core.patience(timeout) as patience:
            self._retire()
            ready = threading.Event()
            place = core.ask(ready.set)
            try:
                if not place.served:
                    ready.wait(patience.left)
                member = core.claim(place, patience)
                if member is not None and core.needs_check(member) and not self._is_alive(member):
                    core.broken(place)
                    member = None
                if member is None:
                    place.member = member = self._opened(patience)
                return core.lend(member)
            except BaseException:
                unwanted = core.leave(place)
                if unwanted is not None:
                    self._discard(unwanted, "broken" if unwanted.connection.closed else "retired")
                raise

    def release(self, connection: Connection) -> None:
        """Take a connection back: reset, and put by or discarded.

        Raises ``InterfaceError`` for a connection that this pool has not lent, or that was given back already, and the
        error of the ``reset`` hook.
        """
        member = self._core.give_back(connection)
        try:
            if member.usable:
                self._clean(member)
        except BaseException:
            self._discard(member, "broken")
            raise
        if member.usable:
            self._put_by(member)
        else:
            self._discard(member, "broken")

    @property
    def statistics(self) -> PoolStatistics:
        """A snapshot of the pool's numbers."""
        return self._core.statistics

    def close(self, timeout: float = 0.0) -> None:
        """Close the idle connections and lend no more; those that are lent are closed when they come back.

        ``timeout`` is how many seconds to wait for that.
        """
        all_back = threading.Event()
        if self._core.close(all_back.set):
            all_back.set()
        self._retire()
        all_back.wait(timeout)

    def _opened(self, patience: Patience | None = None) -> Member[Connection]:
        connection = Connection(hurried(self._resolve(), patience))
        try:
            _call(self._configure, connection)
        except BaseException:
            connection.close()
            raise
        return self._core.opened(connection)

    def _reserved(self) -> Member[Connection]:
        try:
            return self._opened()
        except BaseException:
            self._core.failed_to_open()
            raise

    def _is_alive(self, member: Member[Connection]) -> bool:
        try:
            if not member.connection.closed:
                member.connection._run(ping(member.connection._session, CHECK))
        except Error:
            member.connection.close()
        return not member.connection.closed

    def _clean(self, member: Member[Connection]) -> None:
        connection = member.connection
        connection.row_factory = member.row_factory
        try:
            connection._run(reset_session(connection._session, member.ground))
        except Error:
            connection.close()
            return
        try:
            _call(self._reset, connection)
        except Error:
            if not connection.closed:  # else it was lost, and is replaced like any other
                raise

    def _retire(self) -> None:
        while (member := self._core.surplus()) is not None:
            self._discard(member, "retired")

    def _put_by(self, member: Member[Connection]) -> None:
        if not self._core.keep(member):
            self._discard(member, "retired")

    def _discard(self, member: Member[Connection], why: str) -> None:
        try:
            member.connection.close()
        except Error:
            pass  # it is gone all the same
        finally:
            self._core.discarded(why)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<informix_arrow.Pool {self._core!r}>"


def _call(hook: Callable[[Connection], object] | None, connection: Connection) -> None:
    """Let a hook of the user's set a connection up; what it leaves uncommitted is committed."""
    if hook is not None:
        hook(connection)
        if connection.in_transaction:
            connection.commit()
