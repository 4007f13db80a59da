"""The dialect for ``create_async_engine``: the asyncio front of this package behind SQLAlchemy's adapters."""

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
from sqlalchemy.util import await_

from .. import aio, dbapi
from .dialect import InformixDialect, InformixExecutionContext


class _CursorOptions:
    """What the execution sets and asks of a cursor."""

    __slots__ = ()

    _cursor: Any

    @property
    def messages(self) -> Sequence[Any]:
        """What the server warned about."""
        return () if self._cursor is None else self._cursor.messages

    @property
    def floating_decimals(self) -> str:
        """How DECIMALs without a scale are read."""
        value: str = self._cursor.floating_decimals
        return value

    @floating_decimals.setter
    def floating_decimals(self, value: str) -> None:
        self._cursor.floating_decimals = value


class _Cursor(_CursorOptions, AsyncAdapt_dbapi_cursor):
    """All rows are fetched with the execution."""

    __slots__ = ()

    def _aenter_cursor(self, cursor: Any) -> Any:
        return cursor


class _StreamingCursor(_CursorOptions, AsyncAdapt_dbapi_ss_cursor):
    """Rows are fetched as they are asked for."""

    __slots__ = ()

    def _aenter_cursor(self, cursor: Any) -> Any:
        return cursor


class _Connection(AsyncAdapt_terminate, AsyncAdapt_dbapi_connection):
    __slots__ = ("__weakref__",)

    _cursor_cls = _Cursor
    _ss_cursor_cls = _StreamingCursor
    _connection: Any

    @property
    def closed(self) -> bool:
        """Whether the connection was closed or lost."""
        return bool(self._connection.closed)

    @property
    def logged(self) -> bool:
        """Whether the database has transactions."""
        return bool(self._connection.logged)

    @property
    def ansi(self) -> bool:
        """Whether the database is of the kind MODE ANSI."""
        return bool(self._connection.ansi)

    @property
    def autocommit(self) -> bool:
        """Whether every statement is final."""
        return bool(self._connection.autocommit)

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self._connection.autocommit = value

    @property
    def isolation(self) -> str | None:
        """As of the connection behind."""
        value: str | None = self._connection.isolation
        return value

    @isolation.setter
    def isolation(self, value: str) -> None:
        await_(self._connection.set_isolation(value))

    @property
    def lock_wait(self) -> int | None:
        """As of the connection behind."""
        value: int | None = self._connection.lock_wait
        return value

    @lock_wait.setter
    def lock_wait(self, value: int) -> None:
        await_(self._connection.set_lock_wait(value))

    def ping(self) -> None:
        """One round trip."""
        await_(self._connection.ping())

    def _terminate_handled_exceptions(self) -> tuple[type[BaseException], ...]:
        return (*super()._terminate_handled_exceptions(), dbapi.Error)

    async def _terminate_graceful_close(self) -> None:
        await self._connection.close()

    def _terminate_force_close(self) -> None:
        self._connection._runner.abandon()


class _Module(AsyncAdapt_dbapi_module):
    """PEP 249's module: names of the blocking one, connections of the other."""

    paramstyle = dbapi.paramstyle

    def __init__(self) -> None:
        super().__init__(aio, dbapi_module=dbapi)
        for name in dbapi.__all__:
            if not hasattr(self, name) and name != "connect":
                setattr(self, name, getattr(dbapi, name))

    def connect(self, *arguments: Any, **keywords: Any) -> _Connection:
        """Open a connection, in a greenlet of SQLAlchemy's."""
        opening = keywords.pop("async_creator_fn", aio.connect)
        return _Connection(self, await_(_open(opening(*arguments, **keywords))))


async def _open(connection: Any) -> Any:
    return await connection


class InformixExecutionContextAsync(InformixExecutionContext):
    """One execution."""

    def create_server_side_cursor(self) -> DBAPICursor:
        """A cursor that fetches as it is asked."""
        connection: Any = self._dbapi_connection
        made = connection.cursor(server_side=True)
        made.floating_decimals = "decimal"
        cursor: DBAPICursor = made
        return cursor


class InformixDialectAsync(InformixDialect):
    """``informix+aio://``, and ``informix://`` in ``create_async_engine``."""

    driver = "aio"
    is_async = True
    has_terminate = True
    supports_statement_cache = True
    supports_server_side_cursors = True
    execution_ctx_cls = InformixExecutionContextAsync

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """An object with PEP 249's names."""
        adapter: Any = _Module()
        module: ModuleType = adapter
        return module

    @classmethod
    def get_pool_class(cls, url: URL) -> type[Pool]:
        """A queue that does not block the event loop."""
        return AsyncAdaptedQueuePool

    def connect(self, *cargs: Any, **cparams: Any) -> DBAPIConnection:
        """As :meth:`InformixDialect.connect`, awaited."""
        cparams["env"] = self._environment(cparams.get("env"))
        connection: Any = self.loaded_dbapi.connect(*cargs, **cparams)
        opened: DBAPIConnection = connection
        return opened

    def do_terminate(self, dbapi_connection: DBAPIConnection) -> None:
        """Without waiting, where nobody can."""
        connection: Any = dbapi_connection
        connection.terminate()

    def get_driver_connection(self, connection: DBAPIConnection) -> Any:
        """The :class:`informix_arrow.aio.AsyncConnection`."""
        adapted: Any = connection
        return adapted._connection
