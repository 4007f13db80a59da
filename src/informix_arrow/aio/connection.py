"""AsyncConnection: one session with a database server, for asyncio, and the function that makes one."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

import pyarrow as pa

from .. import connecting as blocking
from ..bulk.api import WriteKeywords, writing
from ..bulk.report import WriteReport
from ..bulk.source import Arriving, Interrupted
from ..dsn import Parameters, resolve
from ..dsn.parameters import CHECKS
from ..exchange.ping import ping
from ..exchange.read_scope import set_reading
from ..exchange.routines import fast_path_call
from ..exchange.session import Session
from ..exchange.steps import Exchange
from ..exchange.transaction import commit, rollback
from ..facts import ErrorClasses, SessionFacts
from ..link import AsyncLink
from ..metadata.aio import AsyncMetadata
from ..parameters import Values
from ..reading import ReadArguments, ReadKeywords
from ..rows import RowFactory
from ..wire.errors import InterfaceError
from .cursor import AsyncCursor
from .opening import Opening
from .result import AsyncResult
from .scroll_cursor import AsyncScrollCursor
from .transactions import AsyncTransactionBlock

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Self, Unpack

    P = ParamSpec("P")

T = TypeVar("T")


class AsyncConnection(ReadArguments, SessionFacts, AsyncMetadata, ErrorClasses):
    """One session with a database server, for asyncio. Made by :func:`connect`.

    Tasks of one event loop may share it: exchanges with the server run one after the other, in the order in which they
    were asked for, so statements of several tasks interleave, and open results can be read in turns. They share one
    transaction. For statements that run side by side there is :class:`AsyncPool`.

    A task may be cancelled at any ``await`` here. The server is asked to stop, what it still sends is read on
    (5 seconds at most), and then ``CancelledError`` is raised; the connection is usable as before, or closed.
    Everything else is as with :class:`informix_arrow.Connection`: transactions, errors, types.

    ``async with`` commits when the block ends well, rolls back when it raises, and closes.

    Attributes
    ----------
    row_factory
        What the rows of new cursors are made into, ``"tuple"`` by default; see :attr:`AsyncCursor.row_factory`.
    """

    row_factory: RowFactory = "tuple"

    def __init__(self, parameters: Parameters, link: AsyncLink) -> None:
        self._parameters = replace(parameters, password="")  # needed once, kept nowhere
        self._link = link

    def query(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        **options: Unpack[ReadKeywords],
    ) -> Opening[AsyncResult]:
        """Run a query and stream its rows as Arrow record batches::

            async with conn.query("SELECT * FROM orders WHERE day >= ?", (day,)) as result:
                async for batch in result.batches():
                    ...

        or ``result = await conn.query(...)``. Parameters, options and errors are those of
        :meth:`informix_arrow.Connection.query`; wrong arguments are refused at once, before the ``await``.
        """
        self._require_open()
        exchange = self._start_query(sql, parameters, **options)

        async def open() -> AsyncResult:
            return AsyncResult(self, await self._run(exchange, timeout), timeout)

        return Opening(open)

    async def read_arrow(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        **options: Unpack[ReadKeywords],
    ) -> pa.Table:
        """Run a query and read all its rows into one table. As :meth:`query`, which streams instead."""
        async with self.query(sql, parameters, timeout=timeout, **options) as result:
            return await result.read_all()

    async def write_arrow(
        self, table: str, data: Any, *, timeout: float | None = None, **options: Unpack[WriteKeywords]
    ) -> WriteReport:
        """Load Arrow data into a table, by the fastest way that the server has.

        ``data`` is what :meth:`informix_arrow.Connection.write_arrow` takes, read between awaits while the event loop
        stands still: memory is at once there, a slow iterator is not. Or an async iterable of record batches, which is
        awaited, such as ``result.batches()`` of another connection, or an :class:`AsyncResult` itself. Options and
        errors are those of :meth:`informix_arrow.Connection.write_arrow`.

        Cancelled, the load is undone where the database can, up to its last commit.
        """
        self._require_open()
        if isinstance(data, AsyncResult):
            if data._connection is self:
                raise InterfaceError(
                    "a result cannot be written through the connection that reads it: read it first (read_all()), or "
                    "use another connection"
                )
            data = await Arriving.open(data.batches(), data.schema)
        elif hasattr(data, "__aiter__"):
            data = await Arriving.open(data)
        delimident = self._parameters.env.get("DELIMIDENT", "n").lower() not in ("n", "no", "0", "")
        with writing(self._session, table, data, delimident, options) as exchange:
            try:
                return await self._run(exchange, timeout)
            except Interrupted as interruption:
                raise asyncio.CancelledError from interruption

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: Literal[False] = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncCursor: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: Literal[True],
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncScrollCursor: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: bool = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncCursor: ...

    def cursor(
        self,
        name: str = "",
        *,
        scrollable: bool = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncCursor:
        """A new cursor on this connection. Any number may be open at a time. Parameters as
        :meth:`informix_arrow.Connection.cursor`.
        """
        self._require_open()
        kind = AsyncScrollCursor if scrollable else AsyncCursor
        return kind(self, name, withhold=withhold, row_factory=row_factory)

    async def execute(
        self, operation: str, parameters: Values | None = None, *, timeout: float | None = None
    ) -> AsyncCursor:
        """Run one statement in a new cursor and return it: ``await conn.execute("DROP TABLE t")``."""
        return await self.cursor().execute(operation, parameters, timeout=timeout)

    async def fast_path_call(self, signature: str, *arguments: object, timeout: float | None = None) -> Any:
        """Call a routine of the server without SQL, as :meth:`informix_arrow.Connection.fast_path_call`."""
        self._require_open()
        return await self._run(fast_path_call(self._session, signature, arguments), timeout)

    def transaction(
        self, savepoint_name: str | None = None, *, force_rollback: bool = False
    ) -> AsyncTransactionBlock:
        """A block whose statements are in effect together, or not at all: ``async with conn.transaction():``. As
        :meth:`informix_arrow.Connection.transaction`; a cancellation undoes it, too. Statements of other tasks on this
        connection are part of it: give each task a connection of an :class:`AsyncPool`.
        """
        return AsyncTransactionBlock(self, savepoint_name, force_rollback)

    async def commit(self) -> None:
        """Make the work of the open transaction permanent; does nothing when none is open."""
        await self._run(commit(self._session))

    async def rollback(self) -> None:
        """Undo the work of the open transaction; does nothing when none is open."""
        await self._run(rollback(self._session))

    async def ping(self) -> None:
        """Ask the server for a sign of life, in one round trip that touches nothing.

        Raises ``OperationalError`` when the connection is lost; it is closed then.
        """
        await self._run(ping(self._session))

    def cancel(self) -> None:
        """End the statement that runs now for another task, which gets ``QueryCanceled``; the connection stays usable.

        Nothing happens when none runs. Does not wait.
        """
        self._link.interrupt()

    async def close(self) -> None:
        """End the session; an open transaction is rolled back. Waits for what runs. May be called again."""
        try:
            await self._link.close()
        except InterfaceError:  # it is another event loop's
            raise
        except BaseException:
            self._link.abandon()
            raise

    @property
    def closed(self) -> bool:
        """Whether the connection was closed or lost."""
        return self._link.closed

    @property
    def autocommit(self) -> bool:
        """Whether every statement is final. May be set while no transaction is open and no statement runs."""
        return self._session.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self._require_open()
        if self._link.lock.locked():
            raise InterfaceError("a statement of another task runs: set autocommit before or after it")
        self._check_autocommit(bool(value))
        self._session.autocommit = bool(value)

    @property
    def isolation(self) -> str | None:
        """How reads see the work of others, as :attr:`informix_arrow.Connection.isolation`; None when nobody has set
        it.
        """
        return self._isolation

    async def set_isolation(self, value: str) -> None:
        """Set :attr:`isolation`."""
        await self._run(set_reading(self._session, isolation=CHECKS["isolation"]("isolation", value)))

    @property
    def lock_wait(self) -> int | None:
        """Seconds that a statement waits for another session's lock, as :attr:`informix_arrow.Connection.lock_wait`;
        None when nobody has set it.
        """
        return self._lock_wait

    async def set_lock_wait(self, value: int) -> None:
        """Set :attr:`lock_wait`."""
        await self._run(set_reading(self._session, lock_wait=CHECKS["lock_wait"]("lock_wait", value)))

    @contextmanager
    def client_files(self, files: Mapping[str, object]) -> Iterator[None]:
        """Let the statements of a (plain ``with``) block read and write "files" of this side that are no files: see
        :meth:`informix_arrow.Connection.client_files`. File objects are used while the event loop stands still.
        """
        self._require_open()
        self._session.files.register(files, self._session.framing.encoding)
        try:
            yield
        finally:
            self._session.files.forget(list(files))

    @property
    def _session(self) -> Session:
        return self._link.session

    def _require_open(self) -> None:
        self._link.require_open()

    async def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T:
        return await self._link.run(exchange, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # After an error closing is enough: the server rolls back, and nothing can hide the error.
            if error is None and not self.closed:
                await self.commit()
        finally:
            await self.close()

    def __del__(self) -> None:
        link: AsyncLink | None = getattr(self, "_link", None)
        if link is not None and not link.closed:
            text = f"unclosed {self!r}"
            link.abandon()
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        p, state = self._parameters, "closed" if self.closed else "open"
        return f"<informix_arrow.aio.AsyncConnection {p.user}@{p.host}:{p.port}/{self._session.database} {state}>"


def _with_the_parameters_of(
    function: Callable[P, object],
) -> Callable[[Callable[..., T]], Callable[P, T]]:
    """Give a function that passes everything on the signature of the one that it stands for."""

    def decorate(passing: Callable[..., T]) -> Callable[P, T]:
        signature = inspect.signature(function).replace(return_annotation="Opening[AsyncConnection]")
        passing.__signature__ = signature  # type: ignore[attr-defined]
        return cast("Callable[P, T]", passing)

    return decorate


@_with_the_parameters_of(blocking.connect)
def connect(url: str | None = None, **keywords: Any) -> Opening[AsyncConnection]:
    """Open a connection: ``conn = await connect(...)``, or ``async with connect(...) as conn``.

    Parameters and errors are those of :func:`informix_arrow.connect`; wrong arguments are refused at once, before the
    ``await``. A host's name is resolved by the event loop, which asks the operating system in a thread of its default
    executor; nothing else here uses threads, and an IP address needs none.
    """
    parameters = resolve(url, **keywords)

    async def open() -> AsyncConnection:
        return AsyncConnection(parameters, await AsyncLink.open(parameters))

    return Opening(open)
