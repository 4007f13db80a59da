"""AsyncPool: connections lent to the tasks of one event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..dsn import Parameters, resolve
from ..exchange.ping import ping
from ..exchange.reset import reset as reset_session
from ..link import AsyncLink
from ..pool_core import CHECK, Member, Patience, Place, PoolCore, PoolLimits, PoolStatistics, hurried
from ..wire.errors import Error
from .connection import AsyncConnection

if TYPE_CHECKING:
    from typing_extensions import Self

Hook = Callable[[AsyncConnection], object]


class AsyncPool:
    """Connections that are opened once and lent many times, for asyncio::

        async with aio.AsyncPool("informix://user:pw@host:9088/stores?server=ol_x", max_size=8) as pool:
            async with pool.connection() as conn:
                table = await conn.read_arrow("SELECT * FROM orders")

    Parameters, order of waiting, checks and statistics are those of :class:`informix_arrow.Pool`. ``min_size``
    connections are opened by ``async with pool`` or ``await pool``; without either, all are opened when they are asked
    for. ``configure`` and ``reset`` may be coroutine functions.

    Tasks may be cancelled at any ``await``: whoever waited leaves the line, what was lent comes back, and a connection
    whose statement could not be ended in good order is replaced.
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
        **keywords: Any,
    ) -> None:
        limits = PoolLimits(min_size, max_size, timeout, max_idle, max_age, check_after)
        self._core: PoolCore[AsyncConnection] = PoolCore(limits)
        self._configure, self._reset = configure, reset
        # Anew for each connection: a server group is begun at a random member.
        self._resolve: Callable[[], Parameters] = partial(resolve, url, **keywords)

    def connection(self, timeout: float | None = None) -> AbstractAsyncContextManager[AsyncConnection]:
        """Lend a connection for a block: committed when the block ends well, rolled back when it raises.

        ``timeout`` overrules the pool's. Raises as :meth:`acquire`, and the error of the commit.
        """
        return self._lent(timeout)

    @asynccontextmanager
    async def _lent(self, timeout: float | None) -> AsyncIterator[AsyncConnection]:
        connection = await self.acquire(timeout)
        try:
            yield connection
            if not connection.closed or connection.in_transaction:  # lost work is an error, too
                await connection.commit()
        finally:
            await self.release(connection)

    async def acquire(self, timeout: float | None = None) -> AsyncConnection:
        """Lend a connection; give it back with :meth:`release`. Errors are those of
        :meth:`informix_arrow.Pool.acquire`.
        """
        core = self._core
        with core.patience(timeout) as patience:
            await self._retire()
            ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            place = core.ask(partial(_wake, ready))
            try:
                if not place.served:
                    await _within(patience, ready)
                member = core.claim(place, patience)
                if member is not None and core.needs_check(member) and not await self._is_alive(member):
                    core.broken(place)
                    member = None
                if member is None:
                    place.member = member = await self._opened(patience)
                return core.lend(member)
            except BaseException:
                self._leave(place)
                raise

    async def release(self, connection: AsyncConnection) -> None:
        """Take a connection back: reset, and put by or discarded. Errors are those of
        :meth:`informix_arrow.Pool.release`.

        When the task is cancelled meanwhile, the connection is closed.
        """
        member = self._core.give_back(connection)
        try:
            if member.usable:
                await self._clean(member)
        except BaseException:
            self._drop(member, "broken")
            raise
        if not member.usable:
            await self._discard(member, "broken")
        elif not self._core.keep(member):
            await self._discard(member, "retired")

    @property
    def statistics(self) -> PoolStatistics:
        """A snapshot of the pool's numbers."""
        return self._core.statistics

    async def close(self, timeout: float = 0.0) -> None:
        """Close the idle connections and lend no more; those that are lent are closed when they come back.

        ``timeout`` is how many seconds to wait for that.
        """
        all_back: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._core.close(partial(_wake, all_back)):
            _wake(all_back)
        await self._retire()
        if timeout:
            await _within(Patience(timeout), all_back)

    async def _filled(self) -> Self:
        """Open ``min_size`` connections, if they are not there yet."""
        try:
            while self._core.reserve():
                try:
                    member = await self._opened()
                except BaseException:
                    self._core.failed_to_open()
                    raise
                if not self._core.keep(member):
                    await self._discard(member, "retired")
        except BaseException:
            self._core.close(lambda: None)
            while (member_left := self._core.surplus()) is not None:
                self._drop(member_left, "retired")
            raise
        return self

    async def _opened(self, patience: Patience | None = None) -> Member[AsyncConnection]:
        parameters = hurried(self._resolve(), patience)
        connection = AsyncConnection(parameters, await AsyncLink.open(parameters))
        try:
            await _call(self._configure, connection)
        except BaseException:
            connection._link.abandon()
            raise
        return self._core.opened(connection)

    async def _is_alive(self, member: Member[AsyncConnection]) -> bool:
        try:
            if not member.connection.closed:
                await member.connection._run(ping(member.connection._session, CHECK))
        except Error:
            member.connection._link.abandon()
        return not member.connection.closed

    async def _clean(self, member: Member[AsyncConnection]) -> None:
        connection = member.connection
        connection.row_factory = member.row_factory
        try:
            await connection._run(reset_session(connection._session, member.ground))
        except Error:
            connection._link.abandon()
            return
        try:
            await _call(self._reset, connection)
        except Error:
            if not connection.closed:  # else it was lost, and is replaced like any other
                raise

    def _leave(self, place: Place[AsyncConnection]) -> None:
        """Give up a place in the line, without waiting: the task may be cancelled."""
        unwanted = self._core.leave(place)
        if unwanted is not None:
            self._drop(unwanted, "broken" if unwanted.connection.closed else "retired")

    async def _retire(self) -> None:
        while (member := self._core.surplus()) is not None:
            await self._discard(member, "retired")

    async def _discard(self, member: Member[AsyncConnection], why: str) -> None:
        try:
            await member.connection.close()
        except Error:
            pass  # it is gone all the same
        finally:
            self._drop(member, why)

    def _drop(self, member: Member[AsyncConnection], why: str) -> None:
        """Close without a goodbye."""
        member.connection._link.abandon()
        self._core.discarded(why)

    def __await__(self) -> Generator[Any, Any, Self]:
        return self._filled().__await__()

    async def __aenter__(self) -> Self:
        return await self._filled()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<informix_arrow.aio.AsyncPool {self._core!r}>"


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


async def _within(patience: Patience, ready: asyncio.Future[None]) -> None:
    """Wait until something is ready or patience is over; the caller finds out which.

    No wait_for(): before Python 3.12 it may swallow a cancellation.
    """
    left = patience.left
    timer = None
    if left is not None:
        timer = ready.get_loop().call_later(left, _wake, ready)
    try:
        await ready
    finally:
        if timer is not None:
            timer.cancel()


async def _call(hook: Hook | None, connection: AsyncConnection) -> None:
    """Let a hook of the user's set a connection up; what it leaves uncommitted is committed."""
    if hook is not None:
        done = hook(connection)
        if inspect.isawaitable(done):
            await done
        if connection.in_transaction:
            await connection.commit()
