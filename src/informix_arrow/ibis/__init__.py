"""A backend for Ibis: ``ibis.informix.connect("informix://..")``, found by its entry point. Extra ``[ibis]``.

Results come from :meth:`Connection.query` as Arrow. Names are always quoted, so sessions have DELIMIDENT. Ibis's
catalogs are Informix's databases, and Ibis's databases are owners.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import ParseResult, parse_qsl

try:
    import ibis
    import ibis.common.exceptions as exc
    import ibis.expr.operations as ops
    import ibis.expr.schema as sch
    import ibis.expr.types as ir
    from ibis import util
    from ibis.backends import (
        CanListCatalog,
        CanListDatabase,
        HasCurrentCatalog,
        HasCurrentDatabase,
        PyArrowExampleLoader,
    )
    from ibis.backends.sql import SQLBackend
    from ibis.formats.pyarrow import PyArrowSchema
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] not in ("ibis", "public", "sqlglot", "toolz"):
        raise
    raise ModuleNotFoundError(
        "informix_arrow.ibis needs Ibis: pip install 'informix-arrow[ibis]'", name=missing.name
    ) from None

import pyarrow as pa

from .. import connect
from ..connection import Connection
from ..cursor import Cursor
from ..wire.errors import InterfaceError
from .compiler import compiler, strip_semicolon, table_name
from .types import declaration

__all__ = ["Backend"]

_SERIALS = {"SERIAL": "INTEGER", "SERIAL8": "INT8", "BIGSERIAL": "BIGINT"}
_READABLE = ("TABLE", "VIEW", "SYNONYM", "PRIVATE SYNONYM")


class Backend(
    SQLBackend,  # type: ignore[misc]
    CanListCatalog,  # type: ignore[misc]
    CanListDatabase,  # type: ignore[misc]
    HasCurrentCatalog,  # type: ignore[misc]
    HasCurrentDatabase,  # type: ignore[misc]
    PyArrowExampleLoader,  # type: ignore[misc]
):
    """Informix as a backend of Ibis."""

    name = "informix"
    compiler = compiler
    supports_create_or_replace = False
    supports_temporary_tables = True
    con: Connection

    # ---- connections ---------------------------------------------------------------------------------------------

    def do_connect(self, url: str | None = None, /, **keywords: Any) -> None:
        """Connect to a server.

        Parameters
        ----------
        url
            A connection string of :func:`informix_arrow.connect`.
        keywords
            Keywords of :func:`informix_arrow.connect`. ``autocommit`` is True by default.
        """
        keywords.setdefault("autocommit", True)
        if hasattr(self, "con"):
            self.con.close()  # this is a reconnection
        keywords["env"] = {"DELIMIDENT": "y", **(keywords.get("env") or {})}
        self._adopt(connect(url, **keywords))

    def _adopt(self, con: Connection) -> None:
        if not con._parameters.delimident:
            raise InterfaceError(
                "Ibis quotes all names, which needs DELIMIDENT in the session. Connect with env={'DELIMIDENT': 'y'}."
            )
        self.con = con
        self._padded: dict[tuple[str | None, ...], frozenset[str]] = {}

    @classmethod
    def from_connection(cls, con: Connection, /) -> Backend:
        """Return a backend on an open connection, which must have DELIMIDENT. Its transactions stay yours."""
        backend = cls()
        backend._can_reconnect = False
        backend._adopt(con)
        return backend

    def _from_url(self, url: ParseResult, **keywords: Any) -> Backend:
        """Connect for ``ibis.connect("informix://..")``. Keywords that are only part of the URL stay there."""
        query = dict(parse_qsl(url.query))
        further = {
            name: value for name, value in keywords.items() if name not in query or value not in query[name]
        }
        backend: Backend = self.connect(url.geturl(), **further)
        return backend

    @property
    def version(self) -> str:
        """The version of the server."""
        return self.con.server_version

    # ---- names ---------------------------------------------------------------------------------------------------

    @property
    def current_catalog(self) -> str:
        """The open database."""
        return self.con.database

    @property
    def current_database(self) -> str:
        """The user, who owns what is created."""
        with self.con.query("SELECT USER AS owner FROM sysmaster:sysdual") as result:
            return str(result.read_all()[0][0].as_py()).strip()

    def list_catalogs(self, *, like: str | None = None) -> list[str]:
        """Return the databases of the server."""
        names: list[str] = self._filter_with_like(self.con.databases()["database_name"].to_pylist(), like)
        return names

    def list_databases(self, *, like: str | None = None, catalog: str | None = None) -> list[str]:
        """Return the owners of tables in a database."""
        names: list[str] = self._filter_with_like(
            set(self._tables(catalog)["table_schema"].to_pylist()), like
        )
        return names

    def list_tables(
        self, *, like: str | None = None, database: tuple[str, str] | str | None = None
    ) -> list[str]:
        """Return the tables, views and synonyms of an owner, by default of all.

        In a MODE ANSI database the default is the user's own, because other users' objects can only be named with their
        owner.
        """
        catalog, owner = self._to_catalog_db_tuple(self._to_sqlglot_table(database))
        if owner is None and catalog is None and self.con.ansi:
            owner = self.current_database
        found = self._tables(catalog, owner)
        names: list[str] = self._filter_with_like(set(found["table_name"].to_pylist()), like)
        return names

    def _tables(self, catalog: str | None, owner: str | None = None) -> pa.Table:
        return self.con.tables(owner=owner, types=_READABLE, database=catalog or "")

    def _name(self, name: str, database: tuple[str, str] | str | None = None) -> str:
        catalog, owner = self._to_catalog_db_tuple(self._to_sqlglot_table(database))
        return str(table_name(name, catalog, owner).sql(self.dialect))

    # ---- schemas -------------------------------------------------------------------------------------------------

    def _describe(self, query: str) -> pa.Schema:
        """Return the Arrow schema of a query, of which the server computes at most one row."""
        with self.con.query(f"SELECT FIRST 1 * FROM ({strip_semicolon(query)}) AS q") as result:
            return result.schema

    def get_schema(self, name: str, *, catalog: str | None = None, database: str | None = None) -> sch.Schema:
        """Return the columns of a table. Raises ``TableNotFound`` if there is none of that name."""
        try:
            found = self._describe(f"SELECT * FROM {table_name(name, catalog, database).sql(self.dialect)}")
        except Connection.ProgrammingError as error:
            if error.sqlcode == -206:
                raise exc.TableNotFound(name) from error
            raise
        return self._learn((name, catalog, database), found)

    def _get_schema_using_query(self, query: str) -> sch.Schema:
        return self._learn((query,), self._describe(query))

    def _learn(self, key: tuple[str | None, ...], found: pa.Schema) -> sch.Schema:
        self._padded[key] = frozenset(
            field.name for field in found if _declared(field).startswith(("CHAR", "NCHAR"))
        )
        return PyArrowSchema.to_ibis(found)

    def padded_columns(self, relation: ops.DatabaseTable | ops.SQLQueryResult) -> frozenset[str]:
        """Return the CHAR columns, as far as the backend has described the table or query."""
        if isinstance(relation, ops.SQLQueryResult):
            return self._padded.get((relation.query,), frozenset())
        where = relation.namespace
        return self._padded.get((relation.name, where.catalog, where.database), frozenset())

    # ---- results -------------------------------------------------------------------------------------------------

    def to_pyarrow_batches(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Mapping[ir.Scalar, Any] | None = None,
        limit: int | str | None = None,
        chunk_size: int = 1_000_000,
        **_: Any,
    ) -> pa.RecordBatchReader:
        """Return the rows as a stream. The server sends them while you read.

        ``chunk_size`` is the largest number of rows in a batch.
        """
        self._run_pre_execute_hooks(expr)
        table = expr.as_table()
        schema = table.schema().to_pyarrow()
        sql = self.compile(table, params=params, limit=limit)

        def batches() -> Iterator[pa.RecordBatch]:
            with self.con.query(sql, batch_rows=chunk_size) as result:
                for batch in result.batches():
                    columns = [
                        _cast(column, field) for column, field in zip(batch.columns, schema, strict=True)
                    ]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())

    def to_pyarrow(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Mapping[ir.Scalar, Any] | None = None,
        limit: int | str | None = None,
        **_: Any,
    ) -> Any:
        """Return the rows as a table, a column or a scalar of pyarrow."""
        table = self.to_pyarrow_batches(expr, params=params, limit=limit).read_all()
        return expr.__pyarrow_result__(table)

    def execute(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Mapping[ir.Scalar, Any] | None = None,
        limit: int | str | None = None,
        **_: Any,
    ) -> Any:
        """Return the rows as a frame, a series or a scalar of pandas. A BIGINT column with NULLs is ``Int64``."""
        import pandas as pd  # type: ignore[import-untyped]

        table = self.to_pyarrow_batches(expr, params=params, limit=limit).read_all()
        frame = pd.DataFrame(
            {
                i: column.to_pandas(
                    types_mapper={pa.int64(): pd.Int64Dtype()}.get if column.null_count else None
                )
                for i, column in enumerate(table.columns)
            },
        )
        frame.columns = table.column_names
        return expr.__pandas_result__(frame)

    def raw_sql(self, query: Any, **_: Any) -> Cursor[Connection]:
        """Run a statement as it is, and return its cursor. Close it."""
        with contextlib.suppress(AttributeError):
            query = query.sql(dialect=self.dialect)
        return self.con.execute(query)

    @contextlib.contextmanager
    def _safe_raw_sql(self, query: Any, **options: Any) -> Iterator[Cursor[Connection]]:
        with contextlib.closing(self.raw_sql(query, **options)) as cursor:
            yield cursor

    def _run(self, sql: str) -> None:
        util.log(sql)
        self.con.execute(sql).close()

    # ---- tables --------------------------------------------------------------------------------------------------

    def _register_in_memory_table(self, op: ops.InMemoryTable) -> None:
        self._load(op.name, op.data.to_pyarrow(op.schema), op.schema, temp=True)

    def _make_memtable_finalizer(self, name: str) -> Callable[..., None] | None:
        return None  # a temporary table goes with its session

    def _finalize_memtable(self, name: str) -> None:
        with contextlib.suppress(Connection.Error):
            self._run(f"DROP TABLE IF EXISTS {self._name(name)}")

    def _load(self, name: str, data: pa.Table, schema: sch.Schema | None, *, temp: bool) -> None:
        """Make a table and load Arrow data into it."""
        types = None
        if schema is not None:
            types = {
                column: declaration(dtype)
                for column, dtype in schema.items()
                if not (dtype.is_string() and dtype.length is None) and not dtype.is_null()
            }
        self.con.write_arrow(self._name(name), data, mode="create", temporary=temp, types=types or None)

    def create_table(
        self,
        name: str,
        /,
        obj: Any = None,
        *,
        schema: Any = None,
        database: tuple[str, str] | str | None = None,
        temp: bool = False,
        overwrite: bool = False,
    ) -> ir.Table:
        """Create a table from an expression, Arrow data or a frame, or an empty one from a schema.

        Parameters
        ----------
        name
            The name, exactly as it is.
        obj
            The rows. Columns of an expression get the types that the server gives its results.
        schema
            The columns. Text without a length is an LVARCHAR of 2048 bytes.
        database
            The owner, or (database, owner).
        temp
            Create a temporary table of this session.
        overwrite
            Replace the table if there is one, in one transaction if the database is logged.
        """
        if obj is None and schema is None:
            raise exc.IbisInputError("create_table() needs rows (obj) or a schema.")
        if temp and database is not None:
            raise exc.UnsupportedArgumentError("A temporary table has neither a database nor an owner.")
        schema = None if schema is None else ibis.schema(schema)
        target = self._name(name, database)
        if obj is not None and not isinstance(obj, ir.Expr):
            obj = ibis.memtable(obj, schema=schema)
        with self.con.transaction() if overwrite and self.con.logged else contextlib.nullcontext():
            made = target
            if overwrite and obj is not None and not temp:
                made = self._name(util.gen_name("ibis"), database)
            elif overwrite:
                self._run(f"DROP TABLE IF EXISTS {target}")
            self._create(made, obj, schema, temp)
            if made != target:
                self._run(f"DROP TABLE IF EXISTS {target}")
                self._run(f"RENAME TABLE {made} TO {self._name(name)}")
        if schema is None:
            return self.table(name, database=database)
        catalog, owner = self._to_catalog_db_tuple(self._to_sqlglot_table(database))
        namespace = ops.Namespace(catalog=catalog, database=owner)
        return ops.DatabaseTable(name, schema=schema, source=self, namespace=namespace).to_expr()

    def _create(self, target: str, obj: ir.Table | None, schema: sch.Schema | None, temp: bool) -> None:
        kind = "TEMP TABLE" if temp else "TABLE"
        logging = " WITH NO LOG" if temp else ""
        if obj is None:
            self._run(f"CREATE {kind} {target} ({_columns(schema)}){logging}")
            return
        self._run_pre_execute_hooks(obj)
        query = self.compile(obj.as_table())
        found = self._describe(query)
        described = {field.name: _declared(field) for field in found}
        if schema is not None:
            kinds = PyArrowSchema.to_ibis(found)
            described = {
                name: described[name] if kinds.get(name) == dtype.copy(nullable=True) else declaration(dtype)
                for name, dtype in schema.items()
            }
        columns = ", ".join(f"{_quote(name)} {declared}" for name, declared in described.items())
        self._run(f"CREATE {kind} {target} ({columns}){logging}")
        self._run(f"INSERT INTO {target} ({', '.join(map(_quote, described))}) {query}")

    def insert(
        self,
        name: str,
        /,
        obj: Any,
        *,
        database: tuple[str, str] | str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Insert the rows of an expression, Arrow data or a frame.

        Columns are matched by name if the table has all of them, else by position. With ``overwrite`` the table's rows
        are deleted first, in the same transaction if the database is logged.
        """
        target = self._name(name, database)
        catalog, owner = self._to_catalog_db_tuple(self._to_sqlglot_table(database))
        local = not isinstance(obj, ir.Expr)
        source = ibis.memtable(obj) if local else obj
        if overwrite and not local and any(each.name == name for each in source.op().find(ops.DatabaseTable)):
            source = source.cache()  # its rows are read before they are deleted
        columns = self._get_columns_to_insert(target=name, source=source, catalog=catalog, db=owner)
        with self.con.transaction() if overwrite and self.con.logged else contextlib.nullcontext():
            if overwrite:
                self._run(f"DELETE FROM {target}")
            if local:
                op = source.op()
                data = op.data.to_pyarrow(op.schema).rename_columns(list(columns))
                self.con.write_arrow(target, data, columns=list(columns))
                return
            self._run_pre_execute_hooks(source)
            self._run(
                f"INSERT INTO {target} ({', '.join(map(_quote, columns))}) {self.compile(source.as_table())}"
            )

    def upsert(
        self, name: str, /, obj: Any, on: str, *, database: tuple[str, str] | str | None = None
    ) -> None:
        """Update the rows whose column ``on`` has the same value, and insert the others, in one MERGE."""
        if not isinstance(obj, ir.Expr):
            obj = ibis.memtable(obj)
        self.con.write_arrow(self._name(name, database), self.to_pyarrow(obj), mode="upsert", key=[on])

    def truncate_table(self, name: str, /, *, database: tuple[str, str] | str | None = None) -> None:
        """Delete all rows of a table."""
        self._run(f"TRUNCATE TABLE {self._name(name, database)}")

    def drop_table(
        self, name: str, /, *, database: tuple[str, str] | str | None = None, force: bool = False
    ) -> None:
        """Drop a table. With ``force`` it may be missing."""
        self._run(f"DROP TABLE {'IF EXISTS ' if force else ''}{self._name(name, database)}")

    def rename_table(self, old_name: str, new_name: str) -> None:
        """Rename a table."""
        self._run(f"RENAME TABLE {self._name(old_name)} TO {self._name(new_name)}")

    def create_view(
        self,
        name: str,
        /,
        obj: ir.Table,
        *,
        database: tuple[str, str] | str | None = None,
        overwrite: bool = False,
    ) -> ir.Table:
        """Create a view from an expression. Views of Informix cannot read temporary tables, so no memtables."""
        self._run_pre_execute_hooks(obj)
        query = self.compile(obj)
        columns = ", ".join(map(_quote, obj.columns))
        with self.con.transaction() if overwrite and self.con.logged else contextlib.nullcontext():
            if overwrite:
                self.drop_view(name, database=database, force=True)
            self._run(f"CREATE VIEW {self._name(name, database)} ({columns}) AS {query}")
        return self.table(name, database=database)

    def drop_view(
        self, name: str, /, *, database: tuple[str, str] | str | None = None, force: bool = False
    ) -> None:
        """Drop a view. With ``force`` it may be missing."""
        self._run(f"DROP VIEW {'IF EXISTS ' if force else ''}{self._name(name, database)}")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(schema: sch.Schema) -> str:
    return ", ".join(
        f"{_quote(name)} {declaration(dtype)}{'' if dtype.nullable else ' NOT NULL'}"
        for name, dtype in schema.items()
    )


def _declared(field: pa.Field) -> str:
    """Return the type with which a result's column can be created."""
    declared: str = (field.metadata or {}).get(b"informix.type", b"").decode()
    return _SERIALS.get(declared.partition("(")[0], declared)


def _cast(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return the column in the type that Ibis expects. Raises ``ArrowInvalid`` for a value that does not fit."""
    return column if column.type == field.type else column.cast(field.type)
