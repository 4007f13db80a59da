"""The dialect for ``create_async_engine``: the asyncio classes of this package wrapped in SQLAlchemy's adapters."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from sqlalchemy.connectors.asyncio import (
    AsyncAdapt_dbapi_connection,
    AsyncAdapt_dbapi_cursor,
    AsyncAdapt_dbapi_module,
    AsyncAdapt_dbapi_ss_cursor,
    AsyncAdapt_terminate,
)
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.pool import AsyncAdaptedQueuePool, Pool

from .. import aio, dbapi
from .dialect import InformixDialect, InformixExecutionContext
from .releases import RELEASE, await_


class _CursorOptions:
    """The attributes of a cursor that an execution reads and sets."""

    __slots__ = ()

    _cursor: Any

    @property
    def messages(self) -> Sequence[Any]:
        """The warnings of the server."""
        return () if self._cursor is None else self._cursor.messages

    @property
    def floating_decimals(self) -> str:
        """How DECIMALs without a scale are read."""
        value: str = self._cursor.floating_decimals
        return value

    @floating_decimals.setter
    def floating_decimals(self, value: str) -> None:
        self._cursor.floating_decimals = value

    def _aenter_cursor(self, cursor: Any) -> Any:
        return cursor


class _Cursor(_CursorOptions, AsyncAdapt_dbapi_cursor):
    """A cursor that fetches all rows with the execution."""

    __slots__ = ()


class _StreamingCursor(_CursorOptions, AsyncAdapt_dbapi_ss_cursor):
    """A cursor that fetches rows on demand."""

    __slots__ = ()


class _Connection(AsyncAdapt_terminate, AsyncAdapt_dbapi_connection):
    __slots__ = ("__weakref__",)

    _cursor_cls = _Cursor
    _ss_cursor_cls = _StreamingCursor
    _connection: Any

    @property
    def closed(self) -> bool:
        """True if the connection was closed or lost."""
        return bool(self._connection.closed)

    @property
    def logged(self) -> bool:
        """True if the database has transactions."""
        return bool(self._connection.logged)

    @property
    def ansi(self) -> bool:
        """True if the database is MODE ANSI."""
        return bool(self._connection.ansi)

    @property
    def autocommit(self) -> bool:
        """True if every statement is committed at once."""
        return bool(self._connection.autocommit)

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self._connection.autocommit = value

    @property
    def isolation(self) -> str | None:
        """The isolation level of the wrapped connection."""
        value: str | None = self._connection.isolation
        return value

    @isolation.setter
    def isolation(self, value: str) -> None:
        await_(self._connection.set_isolation(value))

    @property
    def lock_wait(self) -> int | None:
        """The lock mode of the wrapped connection."""
        value: int | None = self._connection.lock_wait
        return value

    @lock_wait.setter
    def lock_wait(self, value: int) -> None:
        await_(self._connection.set_lock_wait(value))

    def prepare(self, statements: Sequence[str]) -> None:
        """Prepare statements in one round trip."""
        await_(self._connection.prepare(statements))

    def ping(self) -> None:
        """Make one round trip."""
        await_(self._connection.ping())

    def _terminate_handled_exceptions(self) -> tuple[type[BaseException], ...]:
        return (*super()._terminate_handled_exceptions(), dbapi.Error)

    async def _terminate_graceful_close(self) -> None:
        await self._connection.close()

    def _terminate_force_close(self) -> None:
        self._connection._runner.abandon()


class _Module(AsyncAdapt_dbapi_module):
    """A PEP 249 module: the names of the blocking one, with asyncio connections."""

    paramstyle = dbapi.paramstyle

    def __init__(self) -> None:
        if RELEASE >= (2, 1):
            super().__init__(aio, dbapi_module=dbapi)
        for name in dbapi.__all__:
            if not hasattr(self, name) and name != "connect":
                setattr(self, name, getattr(dbapi, name))

    def connect(self, *arguments: Any, **keywords: Any) -> _Connection:
        """Open a connection, within a greenlet of SQLAlchemy."""
        opening = keywords.pop("async_creator_fn", aio.connect)
        return _Connection(self, await_(_open(opening(*arguments, **keywords))))


async def _open(connection: Any) -> Any:
    return await connection


class InformixExecutionContextAsync(InformixExecutionContext):
    """The context of one execution."""

    def create_server_side_cursor(self) -> DBAPICursor:
        """Return a cursor that fetches on demand."""
        connection: Any = self._dbapi_connection
        adapted = connection.cursor(server_side=True)
        adapted.floating_decimals = "decimal"
        cursor: DBAPICursor = adapted
        return cursor


class InformixDialectAsync(InformixDialect):
    """The dialect of ``informix+aio://``, and of ``informix://`` in ``create_async_engine``."""

    driver = "aio"
    is_async = True
    has_terminate = True
    supports_statement_cache = True
    supports_server_side_cursors = True
    execution_ctx_cls = InformixExecutionContextAsync

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return an object with PEP 249's names."""
        adapter: Any = _Module()
        module: ModuleType = adapter
        return module

    @classmethod
    def get_pool_class(cls, url: URL) -> type[Pool]:
        """Return the class of pools that do not block the event loop."""
        return AsyncAdaptedQueuePool

    def connect(self, *cargs: Any, **cparams: Any) -> DBAPIConnection:
        """Open a connection as :meth:`InformixDialect.connect` does, and await it."""
        cparams["env"] = self._environment(cparams.get("env"))
        connection: Any = self.loaded_dbapi.connect(*cargs, **cparams)
        opened: DBAPIConnection = connection
        return opened

    def do_terminate(self, dbapi_connection: DBAPIConnection) -> None:
        """Close a connection, without waiting outside of a greenlet."""
        connection: Any = dbapi_connection
        connection.terminate()

    def get_driver_connection(self, connection: DBAPIConnection) -> Any:
        """Return the :class:`informix_arrow.aio.AsyncConnection`."""
        adapted: Any = connection
        return adapted._connection
