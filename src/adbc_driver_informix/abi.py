"""The Python half of ``libadbc_driver_informix``, the driver as a shared library.

``driver.c`` has the functions of ADBC 1.1. Each calls a method of one of these classes through :func:`call`. Streams
and schemas are exported to addresses that the caller passes, by Arrow's C data interface. Nothing here needs
``adbc_driver_manager``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa

import informix_arrow as ifx
from informix_arrow.connection import open_connection
from informix_arrow.dsn import resolve
from informix_arrow.identifiers import needs_no_quotes, quote_exactly

from . import options as o
from .status import AdbcError, Failure, Status, failure_of
from .streams import Stream, info_stream, table_types_stream

__all__ = ["Connection", "Database", "Statement", "call"]

#: Number of the interface between driver.c and this module. A copy of the library may be older than the package.
INTERFACE = 1

Row = tuple[object, ...]
_WHOLE_TABLE = re.compile(r"""\s*SELECT\s+\*\s+FROM\s+(?P<name>[\w$.:@'"]+)\s*;?\s*""", re.IGNORECASE)


def call(target: object, method: str, arguments: tuple[object, ...]) -> tuple[int, Any | Failure]:
    """Call a method for C. Return the status code, and the result or the exception's fields for AdbcError."""
    try:
        return int(Status.OK), getattr(target, method)(*arguments)
    except BaseException as error:  # noqa: BLE001 - C has nobody to raise it to
        return failure_of(error)


class Database:
    """Options for the connections opened from it: the keywords of ``informix_arrow.connect()``."""

    def __init__(self) -> None:
        self.options: dict[str, o.Value] = {}

    def set_option(self, key: str, value: o.Value) -> None:
        """Set a connection keyword, ``uri`` or ``env.NAME``. None removes it."""
        if not o.is_connect_keyword(key):
            o.refuse(key, "database")
        _set(self.options, key, value)

    def get_option(self, key: str, kind: o.Kind) -> bytes | int | float:
        """Return a value that was set, but never a password."""
        return _get(self.options, key, kind, "database")

    def init(self) -> None:
        """Check the options."""
        parameters(self.options)

    def release(self) -> None:
        """Forget the options."""
        self.options.clear()


class Connection:
    """One session with a server, which :meth:`init` opens."""

    def __init__(self) -> None:
        self.options: dict[str, o.Value] = {}
        self._connection: ifx.Connection | None = None
        self._catalog: str | None = None  # to be opened at init
        self._isolation = next(iter(o.ISOLATION_LEVELS))
        self._autocommit: bool | None = None
        self._statements = 0

    def init(self, database: Database) -> None:
        """Open the session."""
        if self._connection is not None:
            raise AdbcError(Status.INVALID_STATE, "The connection is open already.")
        keywords = {**database.options, **self.options}
        if self._autocommit is not None:
            keywords["autocommit"] = self._autocommit
        self._connection = open_connection(parameters(keywords), ifx.Connection)
        try:
            if self._catalog is not None:
                self._set_catalog(self._catalog)
            if level := o.ISOLATION_LEVELS[self._isolation]:
                self._connection.isolation = level
        except BaseException:
            self._connection.close()
            self._connection = None
            raise

    @property
    def opened(self) -> ifx.Connection:
        """The open session. Raises if there is none."""
        if self._connection is None:
            raise AdbcError(Status.INVALID_STATE, "The connection is not open. Initialize it first.")
        return self._connection

    def release(self) -> None:
        """Close the session. An open transaction is rolled back."""
        if self._connection is not None:
            self._connection.close()

    # ---- options -----------------------------------------------------------------------------------------------------

    def set_option(self, key: str, value: o.Value) -> None:
        """Set an option of ADBC, or before :meth:`init` a connection keyword."""
        if key == o.AUTOCOMMIT:
            self._set_autocommit(o.boolean(key, value))
        elif key == o.ISOLATION_LEVEL:
            self._set_isolation(o.text(key, value))
        elif key == o.CURRENT_CATALOG:
            self._set_catalog(o.text(key, value))
        elif key == o.CURRENT_DB_SCHEMA:
            raise AdbcError(
                Status.NOT_IMPLEMENTED,
                f"{key}: Informix has no current schema. Write owner.table where it matters.",
            )
        elif key == o.READ_ONLY:
            if o.boolean(key, value):
                raise AdbcError(
                    Status.NOT_IMPLEMENTED,
                    f"{key}: Informix has no read-only sessions. Use a user without privileges.",
                )
        elif not o.is_connect_keyword(key):
            o.refuse(key, "connection")
        elif self._connection is not None:
            raise AdbcError(
                Status.INVALID_STATE, f"The option {key!r} can only be set before the connection is open."
            )
        else:
            _set(self.options, key, value)

    def get_option(self, key: str, kind: o.Kind) -> bytes | int | float:
        """Return the value of an option."""
        connection = self._connection
        current: dict[str, object] = {o.READ_ONLY: False, o.ISOLATION_LEVEL: self._isolation}
        if connection is not None:
            current |= {o.AUTOCOMMIT: connection.autocommit, o.CURRENT_CATALOG: connection.database}
        elif key == o.AUTOCOMMIT:
            current[key] = self._autocommit is not False
        if key in current:
            return o.converted(key, current[key], kind)
        return _get(self.options, key, kind, "connection")

    def _set_autocommit(self, value: bool) -> None:
        self._autocommit = value
        if self._connection is not None and self._connection.autocommit != value:
            if value:
                self._connection.commit()
            self._connection.autocommit = value

    def _set_isolation(self, level: str) -> None:
        if level not in o.ISOLATION_LEVELS:
            raise AdbcError(
                Status.NOT_IMPLEMENTED,
                f"{o.ISOLATION_LEVEL}: Informix has no level {level!r}, only {', '.join(o.ISOLATION_LEVELS)}.",
            )
        if self._connection is not None:
            default = (
                "repeatable" if self._connection.ansi else "committed" if self._connection.logged else "dirty"
            )
            self._connection.isolation = o.ISOLATION_LEVELS[level] or default
        self._isolation = level

    def _set_catalog(self, catalog: str) -> None:
        if not needs_no_quotes(catalog.partition("@")[0]):
            raise AdbcError(
                Status.INVALID_ARGUMENT, f"{o.CURRENT_CATALOG}: not a database's name: {catalog!r}."
            )
        if self._connection is None:
            self._catalog = catalog
        else:
            self._connection.execute(f"DATABASE {catalog}").close()

    # ---- transactions ------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Commit the transaction. Raises if autocommit is on."""
        self._require_transactions().commit()

    def rollback(self) -> None:
        """Roll the transaction back. Raises if autocommit is on."""
        self._require_transactions().rollback()

    def _require_transactions(self) -> ifx.Connection:
        if self.opened.autocommit:
            raise AdbcError(
                Status.INVALID_STATE,
                f"Every statement is committed, because autocommit is on. Set {o.AUTOCOMMIT!r} to 'false' first.",
            )
        return self.opened

    def cancel(self) -> None:
        """Cancel what runs on the connection, from any thread."""
        self.opened.cancel()

    # ---- metadata ----------------------------------------------------------------------------------------------------

    def get_info(self, address: int, codes: Sequence[int] | None = None) -> Stream:
        """Export GetInfo's table."""
        return info_stream(self.opened.adbc_get_info(), codes).export(address)

    def get_objects(
        self,
        address: int,
        depth: int,
        catalog: str | None,
        db_schema: str | None,
        table: str | None,
        column: str | None,
        types: Sequence[str] | None = None,
    ) -> Stream:
        """Export GetObjects' table."""
        if not 0 <= depth < 4:
            raise AdbcError(Status.INVALID_ARGUMENT, f"The depth of GetObjects is 0 to 3, got {depth}.")
        found = self.opened.adbc_get_objects(
            depth=("all", "catalogs", "db_schemas", "tables")[depth],
            catalog_filter=catalog,
            db_schema_filter=db_schema,
            table_name_filter=table,
            table_types_filter=types,
            column_name_filter=column,
        )
        return Stream(found.schema, found).export(address)

    def get_table_schema(
        self, address: int, catalog: str | None, db_schema: str | None, table: str | None
    ) -> None:
        """Export the schema of a table."""
        if table is None:
            raise AdbcError(Status.INVALID_ARGUMENT, "GetTableSchema needs the name of a table.")
        connection = self.opened
        connection.adbc_get_table_schema(
            quote_exactly(table, connection._parameters.delimident),
            catalog_filter=catalog,
            db_schema_filter=db_schema,
        )._export_to_c(address)

    def get_table_types(self, address: int) -> Stream:
        """Export GetTableTypes' table."""
        return table_types_stream(self.opened.adbc_get_table_types()).export(address)

    def get_statistics(
        self, address: int, catalog: str | None, db_schema: str | None, table: str | None, approximate: int
    ) -> Stream:
        """Export GetStatistics' table."""
        found = self.opened.adbc_get_statistics(
            catalog_filter=catalog,
            db_schema_filter=db_schema,
            table_name_filter=table,
            approximate=bool(approximate),
        )
        return Stream(found.schema, found).export(address)

    def get_statistic_names(self, address: int) -> Stream:
        """Export GetStatisticNames' table, which is empty."""
        found = self.opened.adbc_get_statistic_names()
        return Stream(found.schema, found).export(address)

    # ---- statements --------------------------------------------------------------------------------------------------

    def statement(self) -> Statement:
        """Return a new statement."""
        _ = self.opened
        return Statement(self)

    def read_partition(self, address: int, partition: bytes) -> Stream:
        """Export the rows of a partition that :meth:`Statement.execute_partitions` returned."""
        sql, values = _parsed_partition(partition)
        statement = self.statement()
        statement.set_sql_query(sql)
        return statement.run(values).export(address)


class Statement:
    """A query or an ingestion, with its parameters and options."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._options: dict[str, Any] = {}
        self._sql: str | None = None
        self._bound: pa.RecordBatchReader | None = None
        self._cursor: _Cursor | None = None
        self._stream: Stream | None = None
        self._running = 0

    def release(self) -> None:
        """Forget the parameters. A result that is still read stays open until its stream is released."""
        self._bound = None

    # ---- what to execute ---------------------------------------------------------------------------------------------

    def set_sql_query(self, sql: str) -> None:
        """Set the statement to execute, instead of an ingestion."""
        self._sql = sql
        self._options.pop(o.TARGET_TABLE, None)

    def set_option(self, key: str, value: o.Value) -> None:
        """Set an option of :data:`.options.STATEMENT_OPTIONS`. None removes it."""
        check = o.STATEMENT_OPTIONS.get(key)
        if check is None:
            o.refuse(key, "statement")
        if value is None:
            self._options.pop(key, None)
            return
        checked = check(key, value)
        if key == o.INCREMENTAL and checked:
            raise AdbcError(Status.NOT_IMPLEMENTED, f"{key}: all partitions are returned at once.")
        self._options[key] = checked
        if key == o.TARGET_TABLE:
            self._sql = None

    def get_option(self, key: str, kind: o.Kind) -> bytes | int | float:
        """Return a value that was set."""
        return _get(self._options, key, kind, "statement")

    def bind(self, array: int, schema: int) -> None:
        """Take the record batch at two addresses as parameters, or as the rows to ingest."""
        batch = pa.RecordBatch._import_from_c(array, schema)
        self._bound = pa.RecordBatchReader.from_batches(batch.schema, [batch])

    def bind_stream(self, address: int) -> None:
        """Take the stream at an address as parameters, or as the rows to ingest."""
        self._bound = pa.RecordBatchReader._import_from_c(address)

    def prepare(self) -> None:
        """Prepare the statement on the server."""
        self._new_cursor().adbc_prepare(self._query())

    def get_parameter_schema(self, address: int) -> None:
        """Export the schema of the parameters."""
        self._new_cursor().adbc_prepare(self._query())._export_to_c(address)

    # ---- execution ---------------------------------------------------------------------------------------------------

    def execute_query(self, address: int) -> Stream:
        """Execute it, and export its rows. The stream has no columns if there are none."""
        self._running += 1
        try:
            stream = self._ingest() if o.TARGET_TABLE in self._options else self.run()
        finally:
            self._running -= 1
        self._stream = stream
        return stream.export(address)

    def execute_update(self) -> int:
        """Execute it, discard its rows, and return the number of rows that it affected."""
        self._running += 1
        try:
            if o.TARGET_TABLE in self._options:
                return self._ingest().rows_affected()
            stream = self.run()
            for _ in stream:  # a function takes effect while its rows are read
                pass
            self._close_result()
            return stream.rows_affected()
        finally:
            self._running -= 1

    def execute_schema(self, address: int) -> None:
        """Export the schema that the rows would have, without executing the statement."""
        self._new_cursor().adbc_execute_schema(self._query())._export_to_c(address)

    def execute_partitions(self, schema: int) -> list[bytes]:
        """Divide a query, export the schema of the rows, and return a descriptor for each part."""
        sql, values = self._query(), self._one_row()
        on = self._options.get("adbc.informix.partition_on")
        count = self._options.get("adbc.informix.partition_num")
        by = self._options.get("adbc.informix.partition_by", "auto")
        table = _WHOLE_TABLE.fullmatch(sql)
        if table is None and on is None and by == "auto":
            parts = [(sql, values)]  # a query other than of a whole table is divided by a column only
        else:
            planned = ifx.plan_partitions(
                self._connection.opened, table["name"] if table else sql, on, count, by=by, parameters=values
            )
            parts = [(part.sql, part.parameters) for part in planned]
        self._new_cursor().adbc_execute_schema(parts[0][0])._export_to_c(schema)
        return [_partition(*part) for part in parts]

    def cancel(self) -> None:
        """Cancel the statement, or the reading of its result, from any thread."""
        stream = self._stream
        if stream is not None and not stream.finished:
            stream.cancel()
        elif not self._running:
            raise AdbcError(
                Status.INVALID_STATE, "The statement does not run, so there is nothing to cancel."
            )
        self._connection.opened.cancel()

    def run(self, values: Row | None = None) -> Stream:
        """Execute the statement with its bound parameters, or those given."""
        sql = self._query()
        rows = iter(()) if values is not None else self._rows()
        first, second = (values, None) if values is not None else (next(rows, None), next(rows, None))
        if first is not None and second is not None:
            return self._run_many(sql, chain((first, second), rows))
        if first is None and self._bound is not None and len(self._bound.schema):
            self._bound = None  # no row of parameters: nothing is executed
            schema = self._new_cursor().adbc_execute_schema(sql)
            return Stream(schema, (), 0 if not len(schema) else -1)
        self._bound = None
        cursor = self._new_cursor()
        cursor.execute(sql, first, inexact=self._inexact, timeout=self._timeout)
        if cursor.description is None:
            return Stream(pa.schema([]), (), cursor.rowcount)
        reader = cursor.fetch_record_batch()
        return Stream(reader.schema, filter(len, reader))  # a result without rows has no batch

    def _run_many(self, sql: str, rows: Iterator[Row]) -> Stream:
        """Execute the statement for each row of parameters: the results follow each other."""
        self._bound = None
        cursor = self._new_cursor()
        schema = cursor.adbc_execute_schema(sql)
        if not len(schema):
            cursor.executemany(sql, rows, inexact=self._inexact, timeout=self._timeout)
            return Stream(schema, (), cursor.rowcount)

        def execute(row: Row) -> Iterator[pa.RecordBatch]:
            cursor.execute(sql, row, inexact=self._inexact, timeout=self._timeout)
            return filter(len, cursor.fetch_record_batch())

        first = execute(next(rows))  # its error is that of the call, not of the stream

        def results() -> Iterator[pa.RecordBatch]:
            yield from first
            for row in rows:
                yield from execute(row)

        return Stream(schema, results())

    def _ingest(self) -> Stream:
        data, self._bound = self._bound, None
        if data is None:
            raise AdbcError(
                Status.INVALID_STATE, "There are no rows to ingest. Bind a batch or a stream first."
            )
        mode = o.INGEST_MODES[self._options.get(o.INGEST_MODE, "adbc.ingest.mode.create")]
        catalog, owner = self._options.get(o.TARGET_CATALOG), self._options.get(o.TARGET_DB_SCHEMA)
        temporary = self._options.get(o.INGEST_TEMPORARY, False)
        if temporary and (catalog or owner):
            raise AdbcError(
                Status.INVALID_STATE,
                "A temporary table has neither a catalog nor a schema. Unset one of the options.",
            )
        self._close_result()
        try:
            rows = ifx.Cursor(self._connection.opened).adbc_ingest(
                self._options[o.TARGET_TABLE],
                data,
                mode,  # type: ignore[arg-type]
                catalog_name=catalog,
                db_schema_name=owner,
                temporary=temporary and mode != "append",  # a TEMP table is found by its name
                inexact=self._inexact,
                timeout=self._timeout,
            )
        finally:
            # The error of a refused row refers to the frames that hold the data. The stream must not wait for Python to
            # collect that. After a time limit a thread may still be reading from it.
            if self._timeout is None:
                data.close()
        return Stream(pa.schema([]), (), rows)

    # ---- helpers -----------------------------------------------------------------------------------------------------

    @property
    def _inexact(self) -> Any:
        return self._options.get("adbc.informix.inexact")

    @property
    def _timeout(self) -> float | None:
        seconds: float | None = self._options.get("adbc.informix.timeout")
        return seconds

    def _query(self) -> str:
        if self._sql is None:
            raise AdbcError(Status.INVALID_STATE, "There is no statement to execute. Set a query first.")
        return self._sql

    def _new_cursor(self) -> _Cursor:
        """Return a cursor for the next execution. It ends the result of the one before."""
        connection = self._connection.opened
        self._close_result()
        cursor = self._cursor = _Cursor(connection)
        for name in o.CURSOR_OPTIONS:
            value = self._options.get(f"adbc.informix.{name}")
            if value is not None:
                setattr(cursor, name, value)
        chosen = {name: self._options.get(f"adbc.informix.{name}") for name in o.READ_OPTIONS}
        cursor.read_options = {name: value for name, value in chosen.items() if value is not None}
        return cursor

    def _close_result(self) -> None:
        cursor, self._cursor, self._stream = self._cursor, None, None
        if cursor is not None and not cursor.connection.closed:
            cursor.close()

    def _rows(self) -> Iterator[Row]:
        """Yield the bound rows as parameters."""
        for batch in self._bound or ():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def _one_row(self) -> Row:
        rows = list(self._rows())
        self._bound = None
        if len(rows) > 1:
            raise AdbcError(
                Status.NOT_IMPLEMENTED, f"Partitions take one row of parameters, not {len(rows)}."
            )
        return rows[0] if rows else ()


class _Cursor(ifx.Cursor[ifx.Connection]):
    """A cursor with the read options that only ``Connection.query()`` has otherwise, and its batches."""

    read_options: dict[str, Any]

    def _options(self, connection: Any) -> Any:
        own = dict(self.read_options)
        found = self._build_options(connection)
        sizes = {name: own.pop(name) for name in ("batch_bytes", "batch_rows") if name in own}
        try:
            types = replace(found.types, **own)
        except ValueError as error:
            raise ifx.InterfaceError(str(error)) from None
        return replace(found, types=types, **{"batch_bytes": 16 << 20, **sizes})


def parameters(options: dict[str, o.Value]) -> Any:
    """Return the parameters of a connection from options. Autocommit is on unless they say otherwise."""
    keywords = o.connect_keywords(options)
    uri = options.get(o.URI)
    if "autocommit" not in keywords and "autocommit" not in str(uri).lower():
        keywords["autocommit"] = True
    return resolve(uri, **keywords)  # type: ignore[arg-type]


def _set(options: dict[str, o.Value], key: str, value: o.Value) -> None:
    options.pop(key, None)
    if value is not None:
        options[key] = value.decode() if isinstance(value, bytes) else value


def _get(options: dict[str, Any], key: str, kind: o.Kind, handle: str) -> bytes | int | float:
    if key not in options:
        o.not_found(key, handle)
    if "password" in key or key == "pwd":
        raise AdbcError(Status.NOT_FOUND, f"The option {key!r} cannot be read.")
    value = options[key]
    if key == o.URI:
        value = str(ifx.InterfaceError(value))  # whose text hides passwords
    return o.converted(key, value, kind)


_SQL = b"informix.sql"


def _partition(sql: str, values: Sequence[object]) -> bytes:
    """Return the descriptor of a partition: a record batch with its parameters, and the statement as metadata."""
    columns = {str(number): pa.array([value]) for number, value in enumerate(values)}
    batch = pa.record_batch(columns).replace_schema_metadata({_SQL: sql.encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _parsed_partition(partition: bytes) -> tuple[str, Row]:
    try:
        table = pa.ipc.open_stream(partition).read_all()
        sql = table.schema.metadata[_SQL].decode()
        return sql, tuple(column[0].as_py() for column in table.columns)
    except (pa.ArrowException, LookupError, TypeError, ValueError) as error:
        raise AdbcError(Status.INVALID_ARGUMENT, f"This is no partition of this driver: {error}.") from None
