"""A connection pool for programs with many threads, or many tasks.

    pool = await informix_arrow.aio.AsyncPool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8)
    async with pool.connection() as conn:
        table = await conn.read_arrow("SELECT * FROM orders")

The pool has no thread of its own: connections are opened, checked and retired when a caller acquires or releases one.
Callers are served first come, first served.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.async_flag import ASYNC
from ..core.pool_core import (
    CHECK_AFTER_SECONDS,
    OPTIONS,
    Deadline,
    PoolCore,
    PooledConnection,
    PoolLimits,
    PoolStatistics,
    Waiter,
    check_hooks,
    with_login_deadline,
)
from ..core.signals import AsyncSignal
from ..dsn import Parameters, refuse_unknown, resolve
from ..dsn.keywords import ConnectKeywords
from ..operations.ping import ping
from ..operations.reset import reset as reset_session
from ..wire.errors import Error
from .connection import AsyncConnection, open_connection

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Hook = Callable[[AsyncConnection], object]


class AsyncPool:
    """A pool of connections that are opened once and used many times::

        async with AsyncPool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8) as pool:
            async with pool.connection() as conn:
                table = await conn.read_arrow("SELECT * FROM orders")

    In asyncio, ``min_size`` connections are opened by ``async with pool`` or ``await pool``. Without either,
    connections are opened on demand. ``configure`` and ``reset`` may be coroutine functions. Tasks may be cancelled at
    any ``await``: a waiting task leaves the queue, a connection in use is returned, and a connection whose statement
    could not be ended cleanly is replaced.

    Parameters
    ----------
    url, keywords
        As for :func:`informix_arrow.connect`. Every connection is opened with them.
    min_size
        Connections opened at once and kept open when idle, 0 by default.
    max_size
        Maximum open connections, 10 by default. Further callers wait.
    timeout
        Seconds that a caller waits for a connection, including the time to open one; 30 by default. None = no limit. 0
        = do not wait for other callers.
    max_idle
        Seconds after which an unused connection is closed (beyond ``min_size``), 600 by default. None = never.
    max_age
        Seconds after which a connection is not used again, 3600 by default. None = never.
    check_after
        A connection that was idle for longer than this many seconds is checked by a round trip before it is handed out,
        30 by default. 0 = always, None = never. If the server closed an idle connection, the pool detects it without
        this check.
    configure
        Called with each new connection, to set it up. Uncommitted changes that it makes are committed.
    reset
        Called with each connection that is returned, after it was rolled back. If it raises, the connection is closed,
        and the caller that returned the connection gets the exception. Uncommitted changes that it makes are committed.

    Notes
    -----
    When a connection is returned, an open transaction is rolled back, and results that were not read to the end are
    closed: reading on raises an error. ``autocommit``, ``isolation``, ``lock_wait`` and ``row_factory`` are reset. A
    connection that is closed, lost or in another database is discarded. The rest of the session's state (temporary
    tables, SET statements) is kept.
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
        configure: Hook | None = None,
        reset: Hook | None = None,
        **keywords: Unpack[ConnectKeywords],
    ) -> None:
        refuse_unknown(keywords, "AsyncPool()", OPTIONS)
        check_hooks(configure=configure, reset=reset)
        limits = PoolLimits(min_size, max_size, timeout, max_idle, max_age, check_after)
        self._core: PoolCore[AsyncConnection] = PoolCore(limits)
        # Resolved again for each connection: connecting to a server group starts at a random member.
        self._resolve: Callable[[], Parameters] = partial(resolve, url, **keywords)
        self._resolve()  # raises for wrong keywords here, and not at the first connection
        self._configure, self._reset = configure, reset
        if not ASYNC:
            self._fill()

    @asynccontextmanager
    async def connection(self, timeout: float | None = None) -> AsyncIterator[AsyncConnection]:
        """Use a connection for a block. It is committed when the block ends normally, and rolled back when the block
        raises.

        ``timeout`` overrides the pool's timeout. Raises the errors of :meth:`acquire` and of the commit.
        """
        waiter: Waiter[AsyncConnection] = Waiter()
        try:
            connection = await self._acquire(waiter, timeout)
        except BaseException:  # also of a signal, after the connection was assigned
            self._leave(waiter)
            raise
        try:
            yield connection
            if not connection.closed or connection.in_transaction:  # a lost transaction must raise, too
                await connection.commit()
        finally:
            try:
                await self.release(connection)
            except BaseException:  # also of a signal, before the return began
                member = self._core.find_lent(connection)
                if member is not None:
                    self._drop(member, "broken")
                raise

    async def acquire(self, timeout: float | None = None) -> AsyncConnection:
        """Take a connection from the pool. Return it with :meth:`release`.

        Raises
        ------
        OperationalError
            No connection became available within ``timeout`` seconds (by default the pool's timeout), or none could be
            opened.
        InterfaceError
            The pool is closed.
        """
        return await self._acquire(Waiter(), timeout)

    async def _acquire(self, waiter: Waiter[AsyncConnection], timeout: float | None) -> AsyncConnection:
        core = self._core
        try:
            with core.deadline(timeout) as deadline:
                await self._retire()
                ready = AsyncSignal()
                waiter.notify = ready.set
                core.request(waiter)
                if not waiter.is_served:
                    await ready.wait(deadline.remaining)
                member = core.claim(waiter, deadline)
                if member is not None and core.needs_check(member) and not await self._is_alive(member):
                    core.mark_broken(waiter)
                    member = None
                if member is None:
                    waiter.member = member = await self._open_member(deadline)
                return core.lend(member)
        except BaseException:
            self._leave(waiter)
            raise

    async def release(self, connection: AsyncConnection) -> None:
        """Return a connection to the pool, which resets and keeps it, or discards it.

        After this the connection object, its cursors and its results raise ``InterfaceError``. The next caller gets a
        new object.

        Raises ``InterfaceError`` for a connection that this pool did not hand out, or that was already returned, and
        the error of the ``reset`` hook.

        In asyncio, the connection is closed if the task is cancelled during the release.
        """
        member = self._core.begin_return(connection)
        try:
            member.connection = await connection._transfer_ownership()
            if member.is_healthy:
                await self._clean(member)
            if member.is_healthy:
                await self._return_idle(member)
            else:
                await self._discard(member, "broken")
        except BaseException:
            if member.is_lent:
                self._drop(member, "broken")
            raise

    @property
    def statistics(self) -> PoolStatistics:
        """A snapshot of the pool's counters."""
        return self._core.statistics

    async def close(self, timeout: float = 0.0) -> None:
        """Close the idle connections and hand out no more. Connections in use are closed when they are returned.

        ``timeout`` is the number of seconds to wait for that.
        """
        all_back = AsyncSignal()
        if self._core.close(all_back.set):
            all_back.set()
        await self._retire()
        if timeout != 0:
            await all_back.wait(Deadline(timeout).remaining)

    async def _fill(self) -> None:
        """Open connections up to ``min_size``."""
        try:
            while self._core.reserve():
                await self._return_idle(await self._open_reserved())
        except BaseException:
            self._core.close(lambda: None)
            while (member := self._core.pop_surplus()) is not None:
                self._drop(member, "retired")
            raise

    async def _open_reserved(self) -> PooledConnection[AsyncConnection]:
        try:
            return await self._open_member()
        except BaseException:
            self._core.failed_to_open()
            raise

    async def _open_member(self, deadline: Deadline | None = None) -> PooledConnection[AsyncConnection]:
        connection = await open_connection(with_login_deadline(self._resolve(), deadline))
        try:
            await _call(self._configure, connection)
        except BaseException:
            _end(connection)
            raise
        return self._core.add(connection)

    async def _is_alive(self, member: PooledConnection[AsyncConnection]) -> bool:
        try:
            if not member.connection.closed:
                await member.connection._run(ping(member.connection._session, CHECK_AFTER_SECONDS))
        except Error:
            _end(member.connection)
        return not member.connection.closed

    async def _clean(self, member: PooledConnection[AsyncConnection]) -> None:
        connection = member.connection
        connection.row_factory = member.row_factory
        try:
            await connection._run(reset_session(connection._session, member.initial_state))
        except Error:
            _end(connection)
            return
        try:
            await _call(self._reset, connection)
        except Error:
            if not connection.closed:  # a lost connection is replaced without an error
                raise

    def _leave(self, waiter: Waiter[AsyncConnection]) -> None:
        """Leave the queue, and drop a connection that was already assigned."""
        unwanted = self._core.cancel(waiter)
        if unwanted is not None:
            self._drop(unwanted, "broken" if unwanted.connection.closed else "retired")

    async def _retire(self) -> None:
        while (member := self._core.pop_surplus()) is not None:
            await self._discard(member, "retired")

    async def _return_idle(self, member: PooledConnection[AsyncConnection]) -> None:
        if not self._core.put(member):
            await self._discard(member, "retired")

    async def _discard(self, member: PooledConnection[AsyncConnection], why: str) -> None:
        try:
            await member.connection.close()
        except Error:
            pass  # the connection is discarded anyway
        finally:
            self._drop(member, why)

    def _drop(self, member: PooledConnection[AsyncConnection], why: str) -> None:
        try:
            _end(member.connection)
        except Error:
            pass  # the connection is discarded anyway
        finally:
            self._core.remove(member, why)

    if ASYNC:

        def __await__(self) -> Generator[Any, Any, Self]:
            return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        if ASYNC:
            await self._fill()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("A pool cannot be copied or pickled. Create another one there.")

    def __repr__(self) -> str:
        return f"<informix_arrow.aio.AsyncPool {self._core!r}>"


async def _call(hook: Hook | None, connection: AsyncConnection) -> None:
    """Call a user's hook with a connection, and commit what the hook leaves uncommitted."""
    if hook is not None:
        if ASYNC:
            outcome = hook(connection)
            if inspect.isawaitable(outcome):
                await outcome
        else:
            hook(connection)
        if connection.in_transaction:
            await connection.commit()


def _end(connection: AsyncConnection) -> None:
    """Close a connection that is no longer usable."""
    if ASYNC:
        connection._runner.abandon()  # close() would wait, and the task may be cancelled
    else:
        connection.close()
