"""Retry whole transactions after transient errors."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from ..core.async_flag import ASYNC
from ..observing import error_summary
from ..wire.errors import Error, InterfaceError
from .connection import AsyncConnection, connect
from .pool import AsyncPool

log = logging.getLogger("informix_arrow.retry")

T = TypeVar("T")


async def run_transaction(
    where: AsyncPool | AsyncConnection | str,
    work: Callable[[AsyncConnection], Awaitable[T]],
    *,
    retries: int = 3,
    backoff: float = 0.1,
    max_backoff: float = 5.0,
) -> T:
    """Run ``await work(connection)`` in a transaction of its own and commit it. Retry after transient errors.

    An error is transient if the same transaction would probably succeed later (:attr:`Error.transient`: locks, a
    deadlock, a lost connection). The transaction is rolled back before it is repeated, so ``work`` must have no effects
    outside the database, or only effects that may happen twice. A transaction whose COMMIT is in doubt
    (:class:`CommitUnknown`) is never repeated.

    Parameters
    ----------
    where
        A pool or a URL, which provide a working connection for each attempt, or an open connection without a
        transaction, which is used as long as it is open.
    work
        Called with the connection. Its return value is returned.
    retries
        Number of retries after the first attempt, 3 by default. 0 = no retries.
    backoff
        Seconds to wait before the first retry, 0.1 by default. The time doubles before each further one, up to
        ``max_backoff`` (5 by default). The actual wait is a random part of it, at least half, so that two conflicting
        transactions do not collide again.

    Raises
    ------
    Error
        The error of the last attempt, or the first one that is not transient. Other exceptions of ``work`` are passed
        on after a rollback.
    InterfaceError
        An argument is wrong, or the connection has an open transaction, which could not be repeated as a whole.
    """
    if not isinstance(retries, int) or retries < 0:
        raise InterfaceError(f"retries must be a number of at least 0, got {retries!r}.")
    if not (backoff >= 0 and max_backoff >= 0):
        raise InterfaceError(
            f"backoff and max_backoff must be seconds of at least 0, got {backoff!r} and {max_backoff!r}."
        )
    for attempt in range(retries + 1):
        try:
            async with _connection_for_attempt(where) as conn, conn.transaction():
                return await work(conn)
        except Error as error:
            lost = isinstance(where, AsyncConnection) and where.closed
            if attempt == retries or lost or not error.transient:
                raise
            pause = min(backoff * 2**attempt, max_backoff) * random.uniform(0.5, 1.0)
            log.debug(
                "Attempt %d failed (%s). The next one begins in %.2f s.",
                attempt + 1,
                error_summary(error),
                pause,
            )
        if ASYNC:
            await asyncio.sleep(pause)
        else:
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


@asynccontextmanager
async def _connection_for_attempt(where: AsyncPool | AsyncConnection | str) -> AsyncIterator[AsyncConnection]:
    """Provide a connection for one attempt."""
    if isinstance(where, AsyncConnection):
        if where.in_transaction:
            raise InterfaceError("The connection has a transaction open. Commit it or roll it back first.")
        yield where
    elif isinstance(where, AsyncPool):
        async with where.connection() as conn:
            yield conn
    elif isinstance(where, str):
        async with connect(where) as conn:
            yield conn
    else:
        raise InterfaceError(
            f"run_transaction() takes a pool, a connection or a URL, got {type(where).__name__}."
        )
