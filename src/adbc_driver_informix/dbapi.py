"""PEP 249 with ADBC's extensions: ``adbc_driver_informix.dbapi.connect("informix://...")``.

The classes are those of informix-arrow. They also inherit from the classes of ``adbc_driver_manager.dbapi``, only
because Polars and pandas check for these. There is no native driver, and the manager's ``__init__`` is never called.
Each public name of the manager's classes is either implemented here or in informix-arrow, or raises
``NotSupportedError``. Errors are those of informix-arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pyarrow as pa

import informix_arrow as ifx
from informix_arrow.connection import open_connection
from informix_arrow.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    DatabaseError,
    DataError,
    Date,
    DateFromTicks,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    Warning,
    apilevel,
    paramstyle,
    threadsafety,
)
from informix_arrow.dsn import resolve
from informix_arrow.identifiers import needs_no_quotes, quote_exactly

try:
    import adbc_driver_manager
    from adbc_driver_manager import dbapi as manager
except ImportError as error:
    raise ImportError(
        "adbc_driver_informix needs adbc-driver-manager: pip install 'informix-arrow[adbc]'"
    ) from error

from .names import unquoted

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "TableNotFound",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

_NO_SUCH_TABLE = -206


class TableNotFound(ifx.ProgrammingError, manager.ProgrammingError):  # type: ignore[misc]
    """A table does not exist.

    This is the only error that is also an exception of the driver manager. Its status is NOT_FOUND, which Polars checks
    before it appends.
    """

    def __init__(self, error: ifx.Error) -> None:
        # Called directly: the __init__ of ifx.ProgrammingError would call the manager's without a status.
        manager.ProgrammingError.__init__(
            self, str(error), status_code=adbc_driver_manager.AdbcStatusCode.NOT_FOUND
        )
        self.__dict__.update(vars(error))
        self.args = error.args


class Connection(ifx.Connection, manager.Connection):  # type: ignore[misc]
    """An :class:`informix_arrow.Connection` that is also an ``adbc_driver_manager.dbapi.Connection``."""

    def cursor(
        self,
        name: str = "",
        *,
        adbc_stmt_kwargs: Mapping[str, Any] | None = None,
        scrollable: bool = False,
        **options: Any,
    ) -> Any:
        """Return a cursor; see :meth:`informix_arrow.Connection.cursor`.

        ``adbc_stmt_kwargs`` are options of native drivers. None are supported. A scrollable cursor is informix-arrow's
        own class.
        """
        if adbc_stmt_kwargs:
            raise NotSupportedError(
                f"adbc_stmt_kwargs: there is no option {', '.join(map(repr, adbc_stmt_kwargs))}"
            )
        if scrollable:
            return super().cursor(name, scrollable=True, **options)
        if self._runner._closed:
            self._require_open()
        return Cursor(self, name, **options)

    def execute(
        self,
        operation: str,
        parameters: Any = None,
        *,
        adbc_stmt_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Cursor:
        """Run one statement in a new cursor and return the cursor; see :meth:`Cursor.execute`."""
        cursor: Cursor = self.cursor(adbc_stmt_kwargs=adbc_stmt_kwargs)
        return cursor.execute(operation, parameters, **options)

    def adbc_cancel(self) -> None:
        """Cancel the running statement; see :meth:`informix_arrow.Connection.cancel`."""
        self.cancel()

    def adbc_get_objects(
        self, *, table_name_filter: str | None = None, **filters: Any
    ) -> pa.RecordBatchReader:
        """Return the nested schema of objects; see :meth:`informix_arrow.Connection.adbc_get_objects`.

        Without DELIMIDENT all names are in lower case. If a plain name with capitals matches nothing, it is looked up
        in lower case and returned as the caller wrote it.
        """
        reader = super().adbc_get_objects(table_name_filter=table_name_filter, **filters)
        name = table_name_filter
        if name is None or self._parameters.delimident or not needs_no_quotes(name) or name == name.lower():
            return reader
        catalogs = reader.read_all().to_pylist()
        if not _tables(catalogs):
            found = super().adbc_get_objects(table_name_filter=name.lower(), **filters)
            catalogs = found.read_all().to_pylist()
            for table in _tables(catalogs):
                if table["table_name"] == name.lower():
                    table["table_name"] = name
        batch = pa.RecordBatch.from_pylist(catalogs, reader.schema)
        return pa.RecordBatchReader.from_batches(reader.schema, [batch])

    def adbc_get_table_schema(
        self, table_name: str, *, catalog_filter: str | None = None, db_schema_filter: str | None = None
    ) -> pa.Schema:
        """Return the schema of a table; see :meth:`informix_arrow.Connection.adbc_get_table_schema`.

        Under DELIMIDENT the name is exact. Raises :class:`TableNotFound` if there is no such table.
        """
        try:
            return super().adbc_get_table_schema(
                quote_exactly(table_name, self._parameters.delimident),
                catalog_filter=catalog_filter,
                db_schema_filter=db_schema_filter,
            )
        except ifx.ProgrammingError as error:
            if error.sqlcode != _NO_SUCH_TABLE:
                raise
            raise TableNotFound(error) from None

    @property
    def adbc_current_catalog(self) -> str:
        """The current database, "" if none is open. Setting it runs DATABASE."""
        return self.database

    @adbc_current_catalog.setter
    def adbc_current_catalog(self, catalog: str) -> None:
        if not isinstance(catalog, str) or not needs_no_quotes(catalog):
            raise InterfaceError(f"not a database's name: {catalog!r}")
        self.execute(f"DATABASE {catalog}").close()

    @property
    def adbc_current_db_schema(self) -> str:
        """Not supported: Informix has no current schema."""
        raise NotSupportedError("Informix has no current schema: write owner.table where it matters")

    @adbc_current_db_schema.setter
    def adbc_current_db_schema(self, db_schema: str) -> None:
        raise NotSupportedError("Informix has no current schema: write owner.table where it matters")

    def adbc_clone(self) -> NoReturn:
        """Not supported: the password is not kept."""
        raise NotSupportedError("adbc_clone() would need the password, which is not kept: connect again")

    @property
    def adbc_connection(self) -> NoReturn:
        """Not supported: there is no native driver."""
        raise NotSupportedError("there is no native ADBC connection: this driver is written in Python")

    @property
    def adbc_database(self) -> NoReturn:
        """Not supported: there is no native driver."""
        raise NotSupportedError("there is no native ADBC database: this driver is written in Python")


class Cursor(ifx.Cursor[Connection], manager.Cursor):  # type: ignore[misc]
    """An :class:`informix_arrow.Cursor` that is also an ``adbc_driver_manager.dbapi.Cursor``."""

    # Attributes as in ifx.Cursor; the manager's class has properties with these names.
    arraysize: int = 1
    rowcount: int = -1

    def __del__(self) -> None:
        """Do nothing: the connection closes an unfinished result before its next statement."""

    def execute(self, operation: str, parameters: Any = None, **options: Any) -> Self:
        """Run one statement; see :meth:`informix_arrow.Cursor.execute`.

        ``parameters`` may be Arrow data with one row. Without DELIMIDENT the double quotes of statements that pandas
        generates are removed.
        """
        if parameters is not None and _is_arrow(parameters):
            parameters = _one_row(parameters)
        if isinstance(operation, str) and '"' in operation:
            no_parameters = parameters is None or (
                isinstance(parameters, Sequence | Mapping) and not parameters
            )
            if no_parameters and not self.connection._parameters.delimident:
                operation = unquoted(operation)
        return super().execute(operation, parameters, **options)

    def executemany(self, operation: str, seq_of_parameters: Any, **options: Any) -> Self:
        """Run a statement for each row; see :meth:`informix_arrow.Cursor.executemany`. Also takes Arrow data."""
        if _is_arrow(seq_of_parameters):
            seq_of_parameters = _rows(seq_of_parameters)
        return super().executemany(operation, seq_of_parameters, **options)

    def adbc_cancel(self) -> None:
        """Cancel the running statement of the connection; see :meth:`informix_arrow.Connection.cancel`."""
        self.connection.cancel()

    def fetchallarrow(self) -> pa.Table:
        """Return the remaining rows: turbodbc's name for :meth:`fetch_arrow_table`."""
        return self.fetch_arrow_table()

    def next(self) -> Any:
        """Return the next row. Raises ``StopIteration`` at the end."""
        return self.__next__()

    def nextset(self) -> NoReturn:
        """Not supported: a statement has one result."""
        raise NotSupportedError("nextset() is not supported: a statement has one result")

    def adbc_execute_partitions(self, operation: object, parameters: object = None) -> NoReturn:
        """Not supported."""
        raise NotSupportedError("results in partitions are not supported: use execute()")

    def adbc_read_partition(self, partition: object) -> NoReturn:
        """Not supported."""
        raise NotSupportedError("results in partitions are not supported: use execute()")

    @property
    def adbc_statement(self) -> NoReturn:
        """Not supported: there is no native driver."""
        raise NotSupportedError("there is no native ADBC statement: this driver is written in Python")

    def executescript(self, operation: object) -> NoReturn:
        """Not supported."""
        raise NotSupportedError("executescript() is not supported: execute() the statements one by one")


def connect(
    uri: str | None = None,
    *,
    db_kwargs: Mapping[str, Any] | None = None,
    conn_kwargs: Mapping[str, Any] | None = None,
    autocommit: bool = False,
    **keywords: Any,
) -> Connection:
    """Open a connection that is also an ADBC connection:
    ``connect("informix://user:pw@host:9088/stores?server=ol_x")``.

    Parameters
    ----------
    uri
        A URL or another string that :func:`informix_arrow.connect` takes; ``db_kwargs["uri"]`` by default.
    db_kwargs, conn_kwargs
        Keywords of :func:`informix_arrow.connect`, passed as in ADBC. ``username`` is an alias of ``user``.
    autocommit
        False by default.
    keywords
        Keywords of :func:`informix_arrow.connect`.

    Raises
    ------
    InterfaceError
        A keyword or a key of the URL is unknown (the text suggests the nearest known one), given twice, or malformed.
    OperationalError, NotSupportedError
        As in :func:`informix_arrow.connect`.
    """
    keyword_values: dict[str, Any] = {}
    for where, options in (("db_kwargs", db_kwargs), ("conn_kwargs", conn_kwargs), ("connect()", keywords)):
        for key, value in (options or {}).items():
            key = "user" if key == "username" else key
            if key in keyword_values:
                raise InterfaceError(f"{key!r} is given twice, the second time in {where}")
            keyword_values[key] = value
    default_uri = keyword_values.pop("uri", None)
    if autocommit or "autocommit" not in keyword_values:
        keyword_values["autocommit"] = autocommit
    parameters = resolve(uri if uri is not None else default_uri, **keyword_values)
    return cast("Connection", open_connection(parameters, Connection))


def _tables(catalogs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tables in a result of GetObjects."""
    return [
        table
        for catalog in catalogs
        for schema in catalog["catalog_db_schemas"] or ()
        for table in schema["db_schema_tables"] or ()
    ]


def _is_arrow(value: object) -> bool:
    return hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")


def _batches(data: Any) -> Iterable[pa.RecordBatch]:
    if hasattr(data, "__arrow_c_stream__"):
        reader: Iterable[pa.RecordBatch] = pa.RecordBatchReader.from_stream(data)
        return reader
    return (pa.record_batch(data),)


def _rows(data: Any) -> Iterable[Sequence[object]]:
    """Yield the rows of Arrow data as parameters."""
    try:
        batches = _batches(data)
    except (pa.ArrowInvalid, TypeError) as error:
        raise InterfaceError(
            f"a {type(data).__name__} is one column, not rows of parameters: pass a table or a batch, or its values"
        ) from error
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _one_row(data: Any) -> Sequence[object]:
    rows = list(_rows(data))
    if len(rows) != 1:
        raise NotSupportedError(f"execute() takes one row of parameters, not {len(rows)}: use executemany()")
    return rows[0]
