"""A directory of an export, ours or dbexport's, into a database."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
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
_NAME = re.compile(r"[A-Za-z_]\w*")
_SYSTEM = "sysmaster"
Connect = Callable[[str], Connection]
"""Opens a connection to the database of a name."""


@dataclass(slots=True)
class ImportReport:
    """What :func:`import_database` did.

    Attributes
    ----------
    directory
        The directory that was read.
    tables
        Rows of each table, by its name as SQL has it. They are as many as the export says.
    statements
        Statements that ran besides those that made the tables: keys, indexes, views, routines, triggers, privileges.
    refused
        Statements that the server refused, with its reason: what they make is not there.
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
    """Make the tables of an export in an empty database, load them, and make what belongs to them.

    The order is: types and sequences, tables, their rows; then keys, indexes, views, routines, triggers and
    privileges, as they stand in the file; row counts are compared with those of the export; UPDATE STATISTICS.

    Parameters
    ----------
    directory
        ``<database>.exp``, of :func:`export_database` or dbexport, or the directory in which it is.
    connection
        A connection to an empty database, of any name, in autocommit. :func:`open_or_create` makes one.
    encoding, dbdate, dbcentury, dbmoney, join_lines
        How ``.unl`` files are written, as of :func:`informix_arrow.unl.read_unl`.
    progress
        Called with the rows and bytes so far.

    Returns
    -------
    ImportReport
        What was made. A statement behind the tables that the server refuses does not end the import: look at
        ``refused``.

    Raises
    ------
    InterfaceError
        The database is not empty, or the directory is none of an export.
    DataError
        A file does not fit its table, or has not as many rows as the export says.
    Error
        A table cannot be made or loaded. What was made until then is there.
    """
    where, schema, text_encoding = _read(Path(directory), encoding)
    there = [each["table_name"] for each in connection.tables().to_pylist() if each["table_type"] == "TABLE"]
    if there:
        raise InterfaceError(
            f"the database {connection.adbc_current_catalog} is not empty, it has {len(there)} tables ({there[0]}): "
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
    for table in schema.tables:
        loaded = _load(connection, where, table, options)
        report.tables[table.name] = loaded
        rows, size = rows + loaded, size + (where / table.file).stat().st_size
        if progress is not None:
            progress(rows, size)
    for statement in schema.after:
        _run(connection, statement, report)
    for table in schema.tables:
        ((count,),) = connection.execute(f"SELECT COUNT(*) FROM {table.name}").fetchall()
        if int(count) != table.rows:
            raise DataError(
                f"{table.name} has {int(count)} rows now, the export says {table.rows}: triggers or others wrote to it"
            )
    _run(connection, "UPDATE STATISTICS", report)
    return report


def open_or_create(connect: Connect, database: str) -> Connection:
    """A connection in autocommit to a database, which is made, with a log and in UTF-8, when there is none.

    ``connect`` opens a connection to the database of a name. A new database gets the locale of the session that makes
    it: ``connect`` asks for one by ``DB_LOCALE``, if it is to have another.
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
    """The export in a directory, and the code set of its texts."""
    if not directory.is_dir():
        raise InterfaceError(f"{directory} is no directory")
    found = sorted(directory.glob("*.sql"))
    if not found:
        inner = [each for each in sorted(directory.glob("*.exp")) if each.is_dir()]
        if len(inner) == 1:
            return _read(inner[0], encoding)
    if len(found) != 1:
        raise InterfaceError(
            f"{directory} is no export: expected one .sql file in it, or one directory .exp, and found "
            f"{len(found)} .sql files"
        )
    path = found[0]
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


def _load(connection: Connection, where: Path, table: TableEntry, options: dict[str, Any]) -> int:
    path = where / table.file
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        data = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
    else:
        with connection.query(
            f"SELECT * FROM {table.name} WHERE 1 = 0", floating_decimals="string"
        ) as result:
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


def _about(table: TableEntry, error: Error | pa.ArrowException) -> Error:
    """The same error, which says the table that was loaded."""
    text = f"{table.name}: {error}"
    made = type(error)(text) if isinstance(error, Error) else DataError(text)
    made.__dict__.update(error.__dict__)
    return made


def _run(connection: Connection, statement: str, report: ImportReport) -> None:
    try:
        connection.execute(statement)
    except Error as error:
        if connection.closed:
            raise
        report.refused.append((statement, str(error).partition("\n")[0]))
    else:
        report.statements += 1
