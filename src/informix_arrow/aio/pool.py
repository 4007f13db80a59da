"""A pool of connections for programs with many threads, or many tasks.

    pool = await informix_arrow.aio.AsyncPool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8)
    async with pool.connection() as conn:
        table = await conn.read_arrow("SELECT * FROM orders")

No thread of its own: connections are opened, checked and retired when somebody asks for one or gives one back.
Whoever waits is served in the order of asking.
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
    """Connections that are opened once and lent many times::

        async with AsyncPool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8) as pool:
            async with pool.connection() as conn:
                table = await conn.read_arrow("SELECT * FROM orders")

    In asyncio, ``min_size`` connections are opened by ``async with pool`` or ``await pool``; without either, all are
    opened when they are asked for. ``configure`` and ``reset`` may be coroutine functions. Tasks may be cancelled at
    any ``await``: whoever waited leaves the line, what was lent comes back, and a connection whose statement could not
    be ended in good order is replaced.

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

    Notes
    -----
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
        configure: Hook | None = None,
        reset: Hook | None = None,
        **keywords: Unpack[ConnectKeywords],
    ) -> None:
        refuse_unknown(keywords, "AsyncPool()", OPTIONS)
        check_hooks(configure=configure, reset=reset)
        limits = PoolLimits(min_size, max_size, timeout, max_idle, max_age, check_after)
        self._core: PoolCore[AsyncConnection] = PoolCore(limits)
        # Anew for each connection: a server group is begun at a random member.
        self._resolve: Callable[[], Parameters] = partial(resolve, url, **keywords)
        self._resolve()  # what is wrong with them is told here, and not by the first connection
        self._configure, self._reset = configure, reset
        if not ASYNC:
            self._fill()

    @asynccontextmanager
    async def connection(self, timeout: float | None = None) -> AsyncIterator[AsyncConnection]:
        """Lend a connection for a block: committed when the block ends well, rolled back when it raises.

        ``timeout`` overrules the pool's. Raises as :meth:`acquire`, and the error of the commit.
        """
        waiter: Waiter[AsyncConnection] = Waiter()
        try:
            connection = await self._acquire(waiter, timeout)
        except BaseException:  # perhaps a signal's, behind it
            self._leave(waiter)
            raise
        try:
            yield connection
            if not connection.closed or connection.in_transaction:  # lost work is an error, too
                await connection.commit()
        finally:
            try:
                await self.release(connection)
            except BaseException:  # perhaps a signal's, in front of it
                member = self._core.find_lent(connection)
                if member is not None:
                    self._drop(member, "broken")
                raise

    async def acquire(self, timeout: float | None = None) -> AsyncConnection:
        """Lend a connection; give it back with :meth:`release`.

        Raises
        ------
        OperationalError
            None became free within ``timeout`` seconds (the pool's timeout by default), or none could be opened.
        InterfaceError
            The pool is closed.
        """
        return await self._acquire(Waiter(), timeout)

    async def _acquire(self, place: Waiter[AsyncConnection], timeout: float | None) -> AsyncConnection:
        core = self._core
        try:
            with core.deadline(timeout) as patience:
                await self._retire()
                ready = AsyncSignal()
                place.notify = ready.set
                core.request(place)
                if not place.is_served:
                    await ready.wait(patience.remaining)
                member = core.claim(place, patience)
                if member is not None and core.needs_check(member) and not await self._is_alive(member):
                    core.mark_broken(place)
                    member = None
                if member is None:
                    place.member = member = await self._open_member(patience)
                return core.lend(member)
        except BaseException:
            self._leave(place)
            raise

    async def release(self, connection: AsyncConnection) -> None:
        """Take a connection back: reset, and put by or discarded. What the caller still has of it, its cursors and
        results too, is refused from now on (``InterfaceError``): whoever gets it next gets another object.

        Raises ``InterfaceError`` for a connection that this pool has not lent, or that was given back already, and the
        error of the ``reset`` hook.

        In asyncio, when the task is cancelled meanwhile, the connection is closed.
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
        """A snapshot of the pool's numbers."""
        return self._core.statistics

    async def close(self, timeout: float = 0.0) -> None:
        """Close the idle connections and lend no more; those that are lent are closed when they come back.

        ``timeout`` is how many seconds to wait for that.
        """
        all_back = AsyncSignal()
        if self._core.close(all_back.set):
            all_back.set()
        await self._retire()
        if timeout != 0:
            await all_back.wait(Deadline(timeout).remaining)

    async def _fill(self) -> None:
        """Open ``min_size`` connections, if they are not there yet."""
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

    async def _open_member(self, patience: Deadline | None = None) -> PooledConnection[AsyncConnection]:
        connection = await open_connection(with_login_deadline(self._resolve(), patience))
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
            if not connection.closed:  # else it was lost, and is replaced like any other
                raise

    def _leave(self, place: Waiter[AsyncConnection]) -> None:
        """Give up a place in the line."""
        unwanted = self._core.cancel(place)
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
            pass  # it is gone all the same
        finally:
            self._drop(member, why)

    def _drop(self, member: PooledConnection[AsyncConnection], why: str) -> None:
        try:
            _end(member.connection)
        except Error:
            pass  # it is gone all the same
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
        raise TypeError("a pool cannot be copied or pickled: make another one there")

    def __repr__(self) -> str:
        return f"<informix_arrow.aio.AsyncPool {self._core!r}>"


async def _call(hook: Hook | None, connection: AsyncConnection) -> None:
    """Let a hook of the user's set a connection up; what it leaves uncommitted is committed."""
    if hook is not None:
        if ASYNC:
            done = hook(connection)
            if inspect.isawaitable(done):
                await done
        else:
            hook(connection)
        if connection.in_transaction:
            await connection.commit()


def _end(connection: AsyncConnection) -> None:
    """Close a connection that is of no more use."""
    if ASYNC:
        connection._runner.abandon()  # without a goodbye, which would be a wait: the task may be cancelled
    else:
        connection.close()
