"""The dialect: connections, features of the database, and reflection."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import exc
from sqlalchemy.engine import URL, Connection, cursor, default, reflection
from sqlalchemy.engine.interfaces import (
    ConnectArgsType,
    DBAPIConnection,
    DBAPICursor,
    Dialect,
    IsolationLevel,
)
from sqlalchemy.engine.reflection import ObjectKind, ObjectScope, ReflectionDefaults

from ..connection import Connection as DriverConnection
from ..connection import open_connection
from ..dsn import ISOLATIONS, resolve
from ..dsn.parameters import resolve_name
from ..wire.errors import DataError, Error, InterfaceError
from . import catalogue
from .catalogue import SEQUENCES, SYNONYMS, TABLES, VIEWS, Catalogue, TableFilter
from .compiler import InformixCompiler, InformixIdentifierPreparer
from .ddl import InformixDDLCompiler
from .results import InformixCursorResult
from .type_compiler import InformixTypeCompiler
from .types import COLSPECS

DELIMIDENT = "DELIMIDENT"
NO_TABLE = -206
_LEVELS = {
    "READ UNCOMMITTED": "dirty",
    "READ COMMITTED": "committed",
    "LAST COMMITTED": "last committed",
    "CURSOR STABILITY": "cursor stability",
    "REPEATABLE READ": "repeatable",
    "SERIALIZABLE": "repeatable",
}
_RETAIN = " RETAIN UPDATE LOCKS"


class InformixExecutionContext(default.DefaultExecutionContext):
    """The context of one execution."""

    _lock_wait_before: int | None = None

    def create_default_cursor(self) -> DBAPICursor:
        """Return a cursor that reads DECIMALs as Decimals, floating ones too."""
        dbapi_cursor: Any = super().create_default_cursor()
        dbapi_cursor.floating_decimals = "decimal"
        cursor: DBAPICursor = dbapi_cursor
        return cursor

    def fire_sequence(self, seq: Any, type_: Any) -> Any:
        """Query the next number of a sequence."""
        return self._execute_scalar(
            f"SELECT {self.identifier_preparer.format_sequence(seq)}.NEXTVAL FROM sysmaster:sysdual", type_
        )

    def pre_exec(self) -> None:
        """Prepare FOR UPDATE: its locks are held to the end of the transaction, and NOWAIT sets the lock mode."""
        arg = self._for_update()
        if arg is None:
            return
        connection: Any = self.root_connection.connection.dbapi_connection
        dialect: Any = self.dialect
        dialect.retain_update_locks(connection)
        if arg.nowait and connection.lock_wait not in (None, 0):
            self._lock_wait_before = connection.lock_wait
            connection.lock_wait = 0

    def post_exec(self) -> None:
        """Fetch the rows of a FOR UPDATE now, because fetching is what locks them.

        Raises DataError for text that the server truncated.
        """
        if self._for_update() is not None:
            try:
                rows = self.cursor.fetchall()
            finally:
                self._restore_lock_wait()
            self.cursor_fetch_strategy = cursor.FullyBufferedCursorFetchStrategy(
                self.cursor, initial_buffer=collections.deque(rows)
            )
        messages: Any = getattr(self.cursor, "messages", None)
        if messages:
            raise DataError(
                f"{messages[0][1]} The truncated value is stored. Roll back. A column's length counts bytes."
            )

    def _setup_result_proxy(self) -> Any:
        # SQLAlchemy has no attribute by which a dialect could set the class of results.
        result: Any = super()._setup_result_proxy()
        if type(result) is cursor.CursorResult:
            result.__class__ = InformixCursorResult
            result._reset_memoizations()
        return result

    def handle_dbapi_exception(self, e: BaseException) -> None:
        """Restore the lock mode after an error."""
        self._restore_lock_wait()

    def _restore_lock_wait(self) -> None:
        before, self._lock_wait_before = self._lock_wait_before, None
        if before is not None:
            connection: Any = self.root_connection.connection.dbapi_connection
            if not connection.closed:
                connection.lock_wait = before

    def _for_update(self) -> Any:
        compiled: Any = self.compiled
        return getattr(getattr(compiled, "statement", None), "_for_update_arg", None)


class InformixDialect(default.DefaultDialect):
    """The dialect of ``informix://`` and ``informix+informix_arrow://``, blocking."""

    name = "informix"
    driver = "informix_arrow"

    statement_compiler = InformixCompiler
    ddl_compiler = InformixDDLCompiler
    type_compiler_cls = InformixTypeCompiler
    preparer = InformixIdentifierPreparer
    execution_ctx_cls = InformixExecutionContext
    colspecs = COLSPECS

    default_paramstyle = "qmark"
    supports_statement_cache = True
    max_identifier_length = 128

    supports_native_boolean = True
    supports_native_decimal = True
    returns_native_bytes = True
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True

    postfetch_lastrowid = True
    supports_sequences = True
    sequences_optional = True
    supports_default_values = False
    supports_empty_insert = True
    supports_multivalues_insert = False
    cte_follows_insert = True
    div_is_floordiv = False
    supports_is_distinct_from = True
    supports_for_update_of = True

    supports_schemas = True
    supports_views = True
    supports_alter = True
    supports_comments = False

    #: Whether names may be in double quotes: DELIMIDENT of the URL.
    delimident = True
    #: Whether the database has transactions, and is MODE ANSI; set by the first connection.
    logged = True
    ansi = False

    def __init__(
        self,
        json_serializer: Callable[[Any], str] | None = None,
        json_deserializer: Callable[[str], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        # The type JSON of SQLAlchemy uses these; None is the json module.
        self._json_serializer = json_serializer
        self._json_deserializer = json_deserializer
        # SERIALIZABLE and REPEATABLE READ are the same level. The name that was requested is reported.
        self._requested_levels: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    # ---- connecting --------------------------------------------------------------------------------------------------

    @classmethod
    def get_async_dialect_cls(cls, url: URL) -> type[Dialect]:
        """Return the dialect of ``create_async_engine("informix://...")``."""
        return url.set(drivername="informix+aio").get_dialect()

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return the PEP 249 module."""
        from .. import dbapi

        return dbapi

    def create_connect_args(self, url: URL) -> ConnectArgsType:
        """Return the keywords of :func:`informix_arrow.connect` for a URL. Upper-case keys are session variables.

        Raises ArgumentError for an unknown key. The text suggests the nearest name.
        """
        keywords: dict[str, Any] = {
            name: value
            for name, value in (
                ("user", url.username),
                ("password", None if url.password is None else str(url.password)),
                ("host", url.host),
                ("port", url.port),
                ("database", url.database),
            )
            if value not in (None, "")
        }
        env: dict[str, str] = {}
        for key, value in url.query.items():
            if not isinstance(value, str):
                raise exc.ArgumentError(f"The URL gives {key!r} twice.")
            if key.startswith("env."):
                env[key[4:]] = value
            elif key.isupper():
                env[key] = value
            else:
                if key.upper() == DELIMIDENT:
                    raise exc.ArgumentError(
                        f"Session variables are upper-case in the URL: {DELIMIDENT}, not {key}."
                    )
                try:
                    name = resolve_name(key, "the URL")
                except InterfaceError as error:
                    raise exc.ArgumentError(str(error)) from None
                if name in keywords:
                    raise exc.ArgumentError(f"The URL gives {name!r} twice.")
                keywords[name] = value
        env.setdefault(DELIMIDENT, "y")
        self.delimident = _is_on(env[DELIMIDENT])
        keywords["env"] = env
        return [], keywords

    def connect(self, *cargs: Any, **cparams: Any) -> DBAPIConnection:
        """Open a connection of informix-arrow's own class, even if an ADBC library was imported.

        Double quotes enclose names (DELIMIDENT=y), unless ``env`` says otherwise.
        """
        cparams["env"] = self._environment(cparams.get("env"))
        connection: Any = open_connection(resolve(*cargs, **cparams), DriverConnection)
        return connection  # type: ignore[no-any-return]

    def _environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        environment = {DELIMIDENT: "y" if self.delimident else "n", **(env or {})}
        self.delimident = _is_on(environment[DELIMIDENT])
        if not self.delimident:
            del environment[DELIMIDENT]  # servers test only whether it is set
        return environment

    def initialize(self, connection: Connection) -> None:
        """Find out the kind of database."""
        driver_connection: Any = connection.connection.driver_connection
        self.logged, self.ansi = driver_connection.logged, driver_connection.ansi
        super().initialize(connection)

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        text = connection.exec_driver_sql(
            "SELECT DBINFO('version', 'full') FROM informix.systables WHERE tabid = 1"
        ).scalar_one()
        match = re.search(r"Version\s+([0-9]+(?:\.[0-9]+)*)", text)
        return tuple(int(part) for part in match[1].split(".")) if match else ()

    def _get_default_schema_name(self, connection: Connection) -> str:
        user: str = connection.exec_driver_sql(
            "SELECT USER FROM informix.systables WHERE tabid = 1"
        ).scalar_one()
        return user.rstrip(" ")

    def is_disconnect(self, e: Exception, connection: Any, cursor: DBAPICursor | None) -> bool:
        """Return whether the connection is lost."""
        return connection is not None and isinstance(e, Error) and bool(connection.closed)

    def do_ping(self, dbapi_connection: DBAPIConnection) -> bool:
        """Make one round trip that has no effect."""
        connection: Any = dbapi_connection
        connection.ping()
        return True

    # ---- isolation ---------------------------------------------------------------------------------------------------

    def get_isolation_level_values(self, dbapi_conn: DBAPIConnection) -> list[IsolationLevel]:
        """Return all levels. A database without logging has no transactions, and only AUTOCOMMIT."""
        connection: Any = dbapi_conn
        levels: list[Any] = ["AUTOCOMMIT", *_LEVELS] if connection.logged else ["AUTOCOMMIT"]
        return levels

    def set_isolation_level(self, dbapi_connection: DBAPIConnection, level: IsolationLevel) -> None:
        """Set autocommit for AUTOCOMMIT, and SET ISOLATION for others."""
        connection: Any = dbapi_connection
        if level == "AUTOCOMMIT":
            connection.autocommit = True
            return
        connection.autocommit = False
        connection.isolation = _LEVELS[level]
        self._requested_levels[connection] = level

    def get_isolation_level(self, dbapi_connection: DBAPIConnection) -> IsolationLevel:
        """Return the level by SQLAlchemy's name."""
        connection: Any = dbapi_connection
        if connection.autocommit or not connection.logged:
            return "AUTOCOMMIT"
        now = _isolation(connection)
        requested: Any = self._requested_levels.get(connection)
        if requested is None or _LEVELS[requested] != now:
            requested = next(name for name, value in _LEVELS.items() if value == now)
        level: IsolationLevel = requested
        return level

    def detect_autocommit_setting(self, dbapi_conn: DBAPIConnection) -> bool:
        """Return whether every statement is committed at once."""
        connection: Any = dbapi_conn
        return bool(connection.autocommit or not connection.logged)

    def retain_update_locks(self, dbapi_connection: Any) -> None:
        """Make FOR UPDATE hold its locks to the end of the transaction.

        Otherwise Informix releases the lock of an unchanged row as soon as the next row is fetched.
        """
        level = _isolation(dbapi_connection)
        if level == "repeatable" or str(dbapi_connection.isolation).endswith(_RETAIN):
            return
        statement = dbapi_connection.cursor()
        try:
            statement.execute(f"SET ISOLATION TO {ISOLATIONS[level]}{_RETAIN}")
        finally:
            statement.close()

    # ---- reflection --------------------------------------------------------------------------------------------------

    def _table_filter(
        self,
        names: Iterable[str] | None,
        schema: str | None,
        kinds: str = TABLES + VIEWS,
    ) -> TableFilter:
        owner = schema or ((self.default_schema_name or "") if self.ansi else "")
        return TableFilter(None if names is None else frozenset(names), owner, kinds)

    @reflection.cache
    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        """Return whether there is a table, a view, a synonym or a temporary table of this name."""
        self._ensure_has_table_connection(connection)
        if catalogue.tables(
            _catalogue(connection, kw), self._table_filter([table_name], schema, TABLES + VIEWS + SYNONYMS)
        ):
            return True
        return schema is None and self._describe_relation(connection, table_name) is not None

    @reflection.cache
    def has_sequence(
        self, connection: Connection, sequence_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        """Return whether there is a sequence of this name."""
        return bool(
            catalogue.tables(
                _catalogue(connection, kw), self._table_filter([sequence_name], schema, SEQUENCES)
            )
        )

    @reflection.cache
    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        """Return the owners."""
        return catalogue.owners(_catalogue(connection, kw))

    @reflection.cache
    def get_table_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Return users' tables. Temporary tables are left out, because no catalogue lists them."""
        return catalogue.tables(_catalogue(connection, kw), self._table_filter(None, schema, TABLES))

    @reflection.cache
    def get_view_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Return views of users."""
        return catalogue.tables(_catalogue(connection, kw), self._table_filter(None, schema, VIEWS))

    def get_materialized_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        """Return no names: Informix has no materialized views."""
        return []

    @reflection.cache
    def get_sequence_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Return sequences."""
        return catalogue.tables(_catalogue(connection, kw), self._table_filter(None, schema, SEQUENCES))

    @reflection.cache
    def get_view_definition(
        self, connection: Connection, view_name: str, schema: str | None = None, **kw: Any
    ) -> str:
        """Return the CREATE VIEW statement as the server stores it."""
        text = catalogue.view_text(_catalogue(connection, kw), self._table_filter([view_name], schema, VIEWS))
        if not text:
            raise exc.NoSuchTableError(f"{schema}.{view_name}" if schema else view_name)
        return text

    def _reflect_many(
        self,
        ask: Callable[[Catalogue, TableFilter], Mapping[str, Any]],
        default: Callable[[], Any],
        connection: Connection,
        *,
        schema: str | None = None,
        filter_names: Collection[str] | None = None,
        kind: ObjectKind = ObjectKind.TABLE,
        scope: ObjectScope = ObjectScope.DEFAULT,
        **kw: Any,
    ) -> list[tuple[tuple[str | None, str], Any]]:
        """Return something of each of many tables, ``default()`` for a table that has none."""
        if ObjectScope.DEFAULT not in scope:
            return []
        table_filter = self._table_filter(filter_names, schema, _kinds(kind))
        reading = _catalogue(connection, kw)
        reading.prepare(table_filter)
        found = ask(reading, table_filter)
        return [
            ((schema, name), found[name] if name in found else default())
            for name in catalogue.described_tables(reading, table_filter)
        ]

    def get_multi_columns(self, connection: Connection, **kw: Any) -> Any:
        """Return the columns of many tables by one query; see :meth:`Inspector.get_multi_columns`."""
        return self._reflect_many(catalogue.columns, ReflectionDefaults.columns, connection, **kw)

    def get_multi_pk_constraint(self, connection: Connection, **kw: Any) -> Any:
        """Return primary keys of many tables by one query."""
        return self._reflect_many(catalogue.primary_keys, ReflectionDefaults.pk_constraint, connection, **kw)

    def get_multi_foreign_keys(self, connection: Connection, **kw: Any) -> Any:
        """Return foreign keys of many tables by one query."""
        found = self._reflect_many(catalogue.foreign_keys, ReflectionDefaults.foreign_keys, connection, **kw)
        for (schema, _), keys in found:
            for key in keys:
                if schema is None and (not self.ansi or key["referred_schema"] == self.default_schema_name):
                    key["referred_schema"] = None
        return found

    def get_multi_indexes(self, connection: Connection, **kw: Any) -> Any:
        """Return indexes of many tables by one query."""
        return self._reflect_many(catalogue.indexes, ReflectionDefaults.indexes, connection, **kw)

    def get_multi_unique_constraints(self, connection: Connection, **kw: Any) -> Any:
        """Return UNIQUE constraints of many tables by one query."""
        return self._reflect_many(
            catalogue.unique_constraints, ReflectionDefaults.unique_constraints, connection, **kw
        )

    def get_multi_check_constraints(self, connection: Connection, **kw: Any) -> Any:
        """Return CHECK constraints of many tables by one query."""
        return self._reflect_many(
            catalogue.check_constraints, ReflectionDefaults.check_constraints, connection, **kw
        )

    def _reflect_one(
        self,
        ask: Callable[..., Any],
        default: Any,
        connection: Connection,
        table: str,
        schema: str | None,
        kw: dict[str, Any],
    ) -> Any:
        """Return something of one table, by a method for many of them.

        ``default`` is for tables that are in no catalogue, such as temporary ones. None stands for their columns.
        """
        found = ask(
            connection,
            schema=schema,
            filter_names=[table],
            scope=ObjectScope.ANY,
            kind=ObjectKind.ANY,
            info_cache=kw.get("info_cache"),
        )
        of_table = dict(found).get((schema, table))
        if of_table is not None:
            return of_table
        described = self._describe_relation(connection, table) if schema is None else None
        if described is None:
            raise exc.NoSuchTableError(f"{schema}.{table}" if schema else table)
        return described if default is None else default

    def _describe_relation(self, connection: Connection, table: str) -> list[dict[str, Any]] | None:
        """Return the columns of anything that can be selected from by this name, such as temporary tables and synonyms.

        None if there is no such table.
        """
        name = self.identifier_preparer.quote(table)
        try:
            with connection.exec_driver_sql(f"SELECT * FROM {name} WHERE 1 = 0") as result:
                return catalogue.described_columns(result.cursor.description)
        except exc.ProgrammingError as error:
            if getattr(error.orig, "sqlcode", None) != NO_TABLE:
                raise
            return None

    @reflection.cache
    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the columns of one table."""
        return self._reflect_one(self.get_multi_columns, None, connection, table_name, schema, kw)

    @reflection.cache
    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the primary key of one table."""
        return self._reflect_one(
            self.get_multi_pk_constraint,
            ReflectionDefaults.pk_constraint(),
            connection,
            table_name,
            schema,
            kw,
        )

    @reflection.cache
    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the foreign keys of one table."""
        return self._reflect_one(self.get_multi_foreign_keys, [], connection, table_name, schema, kw)

    @reflection.cache
    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the indexes of one table."""
        return self._reflect_one(self.get_multi_indexes, [], connection, table_name, schema, kw)

    @reflection.cache
    def get_unique_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the UNIQUE constraints of one table."""
        return self._reflect_one(self.get_multi_unique_constraints, [], connection, table_name, schema, kw)

    @reflection.cache
    def get_check_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the CHECK constraints of one table."""
        return self._reflect_one(self.get_multi_check_constraints, [], connection, table_name, schema, kw)

    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Raise NotImplementedError: Informix has no comments."""
        raise NotImplementedError()


def _isolation(connection: Any) -> str:
    """Return the connection's name of the isolation level in force, including the database's default."""
    now = connection.isolation
    if now is None:
        return "repeatable" if connection.ansi else "committed" if connection.logged else "dirty"
    phrase = str(now).removesuffix(_RETAIN)
    return next((name for name, words in ISOLATIONS.items() if words == phrase), phrase)


def _catalogue(connection: Connection, keywords: Mapping[str, Any]) -> Catalogue:
    """Return the catalogue of a connection, with the cache of the Inspector that asks."""
    return Catalogue(connection, keywords.get("info_cache"))


def _kinds(kind: ObjectKind) -> str:
    return (TABLES if ObjectKind.TABLE in kind else "") + (VIEWS if ObjectKind.VIEW in kind else "") or "-"


def _is_on(value: str) -> bool:
    return value.lower() not in ("n", "no", "0", "")
