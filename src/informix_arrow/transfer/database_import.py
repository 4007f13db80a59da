"""Import an export's directory, written by this package or dbexport, into a database."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..connection import Connection
from ..unl import read_unl
from ..wire.code_sets import codec_of_locale
from ..wire.errors import DataError, Error, InterfaceError, OperationalError
from .database_export import Progress
from .schema_file import SchemaFile, TableEntry, parse, plain_name

_NO_DATABASE = -329
_UNION = 50  # tables in one UNION ALL
_PREPARED = 32  # queries that are prepared together, in one round trip
_NAME = re.compile(r"[A-Za-z_]\w*")
_SYSTEM = "sysmaster"
Connect = Callable[[str], Connection]
"""Opens a connection to the named database."""


@dataclass(slots=True)
class ImportReport:
    """The outcome of :func:`import_database`.

    Attributes
    ----------
    directory
        The directory that was read.
    tables
        Number of rows of each table, by its name as SQL has it. It equals the export's row count.
    statements
        Number of statements that ran after the tables were loaded: keys, indexes, views, routines, triggers and so on.
    refused
        Statements that the server refused, each with the reason. The objects that they create are missing.
    """

    directory: Path
    tables: dict[str, int] = field(default_factory=dict)
    statements: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def import_database(
    directory: str | os.PathLike[str],
    connection: Connection,
    *,
    encoding: str | None = None,
    dbdate: str | None = None,
    dbcentury: str | None = None,
    dbmoney: str | None = None,
    join_lines: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Create the tables of an export in an empty database, load them, and create the objects that depend on them.

    The order is: types and sequences, tables, their rows, then keys, indexes, views, routines, triggers and
    privileges in the order of the file. Then row counts are compared with those of the export, and UPDATE
    STATISTICS runs.

    Parameters
    ----------
    directory
        ``<database>.exp``, of :func:`export_database` or dbexport, or the directory that contains it.
    connection
        A connection to an empty database, of any name, in autocommit. :func:`open_or_create` makes one.
    encoding, dbdate, dbcentury, dbmoney, join_lines
        The format of the ``.unl`` files, as in :func:`informix_arrow.unl.read_unl`.
    progress
        Called with the number of rows and bytes so far.

    Returns
    -------
    ImportReport
        What was created. A statement after the tables that the server refuses does not end the import: see ``refused``.

    Raises
    ------
    InterfaceError
        The database is not empty, or the directory contains no export.
    DataError
        A file does not fit its table, or its number of rows differs from the export's.
    Error
        A table cannot be created or loaded. What was created before remains.
    """
    where, schema, text_encoding = _read(Path(directory), encoding)
    existing = [
        each["table_name"] for each in connection.tables().to_pylist() if each["table_type"] == "TABLE"
    ]
    if existing:
        raise InterfaceError(
            f"the database {connection.adbc_current_catalog} is not empty, it has {len(existing)} tables "
            f"({existing[0]}): "
            "import into a new one"
        )
    for table in schema.tables:
        if not (where / table.file).is_file():
            raise InterfaceError(
                f"{where / table.file} is missing: it has the {table.rows} rows of {table.name}"
            )
    report = ImportReport(where)
    for statement in (*schema.before, *(table.create for table in schema.tables)):
        connection.execute(statement)
    options = {
        "delimiter": schema.delimiter,
        "encoding": text_encoding,
        "dbdate": dbdate,
        "dbcentury": dbcentury,
        "dbmoney": dbmoney,
        "join_lines": join_lines,
    }
    rows = size = 0
    for number, table in enumerate(schema.tables):
        if number % _PREPARED == 0:
            connection.prepare(_empty_sql(each) for each in schema.tables[number : number + _PREPARED])
        loaded = _load(connection, where, table, options)
        report.tables[table.name] = loaded
        rows, size = rows + loaded, size + (where / table.file).stat().st_size
        if progress is not None:
            progress(rows, size)
    for statement in schema.after:
        _run(connection, statement, report)
    for table, count in _row_counts(connection, schema.tables):
        if count != table.rows:
            raise DataError(
                f"{table.name} has {count} rows now, the export says {table.rows}: triggers or others wrote to it"
            )
    _run(connection, "UPDATE STATISTICS", report)
    return report


def open_or_create(connect: Connect, database: str) -> Connection:
    """Return a connection in autocommit to a database. If it does not exist, create it with a log and in UTF-8.

    ``connect`` opens a connection to the named database. A new database gets the locale of the session that
    creates it. For another locale, ``connect`` must ask for it with ``DB_LOCALE``.
    """
    if not _NAME.fullmatch(database):
        raise InterfaceError(f"{database!r} is no name of a database")
    try:
        return connect(database)
    except OperationalError as error:
        if error.sqlcode != _NO_DATABASE:
            raise
    with connect(_SYSTEM) as master:
        master.execute(f"CREATE DATABASE {database} WITH LOG")
    return connect(database)


def _read(directory: Path, encoding: str | None) -> tuple[Path, SchemaFile, str]:
    """Find and parse the export in a directory. Returns its directory, its contents and the code set of its texts."""
    if not directory.is_dir():
        raise InterfaceError(f"{directory} is no directory")
    scripts = sorted(directory.glob("*.sql"))
    if not scripts:
        inner = [each for each in sorted(directory.glob("*.exp")) if each.is_dir()]
        if len(inner) == 1:
            return _read(inner[0], encoding)
    if len(scripts) != 1:
        raise InterfaceError(
            f"{directory} is no export: expected one .sql file in it, or one directory .exp, and found "
            f"{len(scripts)} .sql files"
        )
    path = scripts[0]
    try:
        codec = _codec(encoding or os.environ.get("CLIENT_LOCALE") or "utf-8")
        text = path.read_text(encoding=codec)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: {error}: name its code set with encoding=") from None
    return directory, parse(text, str(path)), codec


def _codec(encoding: str) -> str:
    try:
        return codec_of_locale(encoding)
    except ValueError:
        return encoding


def _empty_sql(table: TableEntry) -> str:
    """Return a query that describes a table and returns no rows."""
    return f"SELECT * FROM {table.name} WHERE 1 = 0"


def _load(connection: Connection, where: Path, table: TableEntry, options: dict[str, Any]) -> int:
    path = where / table.file
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        data = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
    else:
        with connection.query(_empty_sql(table), floating_decimals="string") as result:
            schema = result.schema
        data = read_unl(path, schema, **options)
    owner, name = plain_name(table.name)
    try:
        rows = connection.write_arrow(f"{owner}.{name}" if owner else name, data).rows
    except (Error, pa.ArrowException) as error:
        raise _about(table, error) from error
    if rows != table.rows:
        raise DataError(
            f"{path} has {rows} rows, {where.name} says {table.rows}: it is not the file that was exported"
        )
    return rows


def _row_counts(connection: Connection, tables: Sequence[TableEntry]) -> Iterator[tuple[TableEntry, int]]:
    """Yield each table with its number of rows, by one query for many tables."""
    for start in range(0, len(tables), _UNION):
        part = tables[start : start + _UNION]
        selects = [f"SELECT {number}, COUNT(*) FROM {table.name}" for number, table in enumerate(part)]
        for number, count in connection.execute(" UNION ALL ".join(selects)).fetchall():
            yield part[int(number)], int(count)


def _about(table: TableEntry, error: Error | pa.ArrowException) -> Error:
    """Return the same error with the table's name in front."""
    text = f"{table.name}: {error}"
    located = type(error)(text) if isinstance(error, Error) else DataError(text)
    located.__dict__.update(error.__dict__)
    return located


def _run(connection: Connection, statement: str, report: ImportReport) -> None:
    try:
        connection.execute(statement)
    except Error as error:
        if connection.closed:
            raise
        report.refused.append((statement, str(error).partition("\n")[0]))
    else:
        report.statements += 1
