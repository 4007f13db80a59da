"""Whole transactions, repeated when what was in their way has passed."""

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
    """Run ``await work(connection)`` in a transaction of its own and commit; again from the start when that fails for a
    reason that passes by itself (:attr:`Error.transient`: locks, a deadlock, a lost connection).

    The transaction is rolled back before it is repeated, so ``work`` must have no effects outside the database, or such
    as may happen twice. One whose COMMIT is in doubt (:class:`CommitUnknown`) is never repeated.

    Parameters
    ----------
    where
        A pool or a URL, which give each attempt a connection that is well; or an open connection without a transaction,
        which is used for as long as it is open.
    work
        Called with the connection. What it returns is returned.
    retries
        How often to try again after the first time, 3 by default; 0 = not.
    backoff
        Seconds to wait before the first repetition, 0.1 by default; twice as long before each further one, up to
        ``max_backoff`` (5 by default). Between half of that and all of it by chance, so that two who met do not meet
        again.

    Raises
    ------
    Error
        The last attempt's, or the first that does not pass by itself. What ``work`` raises otherwise, after a rollback.
    InterfaceError
        A wrong argument, or a connection that has a transaction open: that one could not be repeated whole.
    """
    if not isinstance(retries, int) or retries < 0:
        raise InterfaceError(f"retries must be a number from 0, got {retries!r}")
    if not (backoff >= 0 and max_backoff >= 0):
        raise InterfaceError(
            f"backoff and max_backoff are seconds from 0, got {backoff!r} and {max_backoff!r}"
        )
    for attempt in range(retries + 1):
        try:
            async with _connection_for_attempt(where) as conn, conn.transaction():
                return await work(conn)
        except Error as error:
            gone = isinstance(where, AsyncConnection) and where.closed
            if attempt == retries or gone or not error.transient:
                raise
            pause = min(backoff * 2**attempt, max_backoff) * random.uniform(0.5, 1.0)
            log.debug(
                "attempt %d failed (%s), the next one in %.2f s", attempt + 1, error_summary(error), pause
            )
        if ASYNC:
            await asyncio.sleep(pause)
        else:
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


@asynccontextmanager
async def _connection_for_attempt(where: AsyncPool | AsyncConnection | str) -> AsyncIterator[AsyncConnection]:
    """A connection for one attempt."""
    if isinstance(where, AsyncConnection):
        if where.in_transaction:
            raise InterfaceError("the connection has a transaction open: commit it or roll it back first")
        yield where
    elif isinstance(where, AsyncPool):
        async with where.connection() as conn:
            yield conn
    elif isinstance(where, str):
        async with connect(where) as conn:
            yield conn
    else:
        raise InterfaceError(
            f"run_transaction() takes a pool, a connection or a URL, got {type(where).__name__}"
        )
