"""Import an export's directory, written by this package or dbexport, into a database."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..connection import Connection, open_base_connection
from ..core.text_files import codec_of, decode_text
from ..unl import read_unl
from ..unl.dialect import Dialect
from ..wire.code_sets import locale_of_codec
from ..wire.errors import DataError, Error, InterfaceError, OperationalError
from .database_export import Progress
from .date_format import DEFAULT_DBDATE, DateFormats, column_count, date_columns, date_literals
from .schema_file import SchemaFile, TableEntry, find_script, parse, plain_name

_NO_DATABASE = -329
_UNION = 50  # tables in one UNION ALL
_PREPARED = 32  # queries that are prepared together, in one round trip
_NAME = re.compile(r"[A-Za-z_]\w*")
_SYSTEM = "sysmaster"
_NEW_LOCALE = "en_US.utf8"
_SESSION_DBDATE = "Y4MD-"  # what connect() sets where the user sets nothing
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
        The format of the directory, as in :func:`informix_arrow.unl.read_unl`: of the ``.unl`` files, and of the
        literals in the ``.sql`` file, whose statements run in a session with these settings. Default of ``dbdate``:
        what the ``.sql`` file says, else ``GL_DATE`` or ``DBDATE`` of the environment, else the format that the dates
        of the directory have.
    progress
        Called with the number of rows and bytes so far.

    Returns
    -------
    ImportReport
        What was created. A statement after the tables that the server refuses does not end the import: see ``refused``.

    Raises
    ------
    InterfaceError
        The database is not empty, the directory contains no export, or its dates have several possible formats and
        ``dbdate`` is not given.
    DataError
        A file does not fit its table, or its number of rows differs from the export's.
    Error
        A table cannot be created or loaded. What was created before remains.
    """
    export = _Export.open(directory, encoding)
    where, schema = export.directory, export.schema
    existing = [
        each["table_name"] for each in connection.tables().to_pylist() if each["table_type"] == "TABLE"
    ]
    if existing:
        raise InterfaceError(
            f"The database {connection.adbc_current_catalog} is not empty. It has {len(existing)} tables "
            f"({existing[0]}). Import into a new database."
        )
    options: dict[str, Any] = {
        "delimiter": schema.delimiter,
        "encoding": export.codec,
        "dbdate": dbdate or export.dbdate(join_lines=join_lines),
        "dbcentury": dbcentury,
        "dbmoney": dbmoney or schema.dbmoney or None,
        "join_lines": join_lines,
    }
    settings = ("delimiter", "encoding", "dbdate", "dbcentury", "dbmoney")
    Dialect.of(**{name: options[name] for name in settings})  # raises before anything is created
    report = ImportReport(where)
    with _schema_session(connection, options) as session:
        for statement in (*schema.before, *(table.create for table in schema.tables)):
            session.execute(statement)
        _load_all(connection, where, schema, options, report, progress)
        for statement in schema.after:
            _run(session, statement, report)
        for table, count in _row_counts(connection, schema.tables):
            if count != table.rows:
                raise DataError(
                    f"{table.name} has {count} rows now, but the export has {table.rows}. Triggers or other "
                    "sessions wrote to it."
                )
        _run(connection, "UPDATE STATISTICS", report)
    return report


def import_new_database(
    directory: str | os.PathLike[str],
    connect: Connect,
    database: str,
    *,
    db_locale: str | None = None,
    keep: bool = False,
    encoding: str | None = None,
    **options: Any,
) -> ImportReport:
    """Import into a database that is created if it does not exist, and dropped again if the import fails.

    Parameters
    ----------
    directory, encoding, options
        As in :func:`import_database`. The export is read before a database is created.
    connect, database
        As in :func:`open_or_create`.
    db_locale
        The locale of a new database. Default: the one that ``connect`` asks for, else one with the code set of the
        files.
    keep
        True: a database that was created stays, with what was imported until the error.
    """
    export = _Export.open(directory, encoding)
    locale = encoding if encoding and "_" in encoding and "." in encoding else locale_of_codec(export.codec)
    connection, created = _open_or_create(connect, database, db_locale, locale or _NEW_LOCALE)
    try:
        with connection:
            return import_database(directory, connection, encoding=encoding, **options)
    except BaseException:
        if created and not keep:
            with suppress(Error), connect(_SYSTEM) as master:
                master.execute(f"DROP DATABASE {database}")
        raise


def open_or_create(connect: Connect, database: str, *, db_locale: str | None = None) -> Connection:
    """Return a connection in autocommit to a database. If it does not exist, create it with a log and in UTF-8.

    Parameters
    ----------
    connect
        Opens a connection to the named database.
    database
        Its name.
    db_locale
        The locale of a new database. Default: the ``DB_LOCALE`` that ``connect`` asks for, else ``en_US.utf8``.
    """
    return _open_or_create(connect, database, db_locale, _NEW_LOCALE)[0]


def _open_or_create(
    connect: Connect, database: str, db_locale: str | None, default: str
) -> tuple[Connection, bool]:
    """Return a connection, and whether the database was created."""
    if not _NAME.fullmatch(database):
        raise InterfaceError(f"{database!r} is not the name of a database.")
    try:
        return connect(database), False
    except OperationalError as error:
        if error.sqlcode != _NO_DATABASE:
            raise
    with connect(_SYSTEM) as master:
        parameters = master._reconnect_parameters()
    asked = parameters.db_locale or parameters.env.get("DB_LOCALE")
    locale = db_locale or asked or default
    # CREATE DATABASE gives the new database the locale of the session.
    env = {**parameters.env, "DB_LOCALE": locale}
    with open_base_connection(replace(parameters, env=env, autocommit=True)) as maker:
        maker.execute(f"CREATE DATABASE {database} WITH LOG")
    return connect(database), True


@contextmanager
def _schema_session(connection: Connection, options: dict[str, Any]) -> Iterator[Connection]:
    """Yield a session in which the literals of the ``.sql`` file have the format of the export."""
    parameters = connection._reconnect_parameters()
    env = dict(parameters.env)
    dbdate = options["dbdate"] or env.get("DBDATE", _SESSION_DBDATE)
    wanted = {
        "GL_DATE" if "%" in dbdate else "DBDATE": dbdate,
        **({"DBCENTURY": options["dbcentury"]} if options["dbcentury"] else {}),
        **({"DBMONEY": options["dbmoney"]} if options["dbmoney"] else {}),
    }
    if {"DBDATE": _SESSION_DBDATE, **env} == {"DBDATE": _SESSION_DBDATE, **env, **wanted}:
        yield connection
        return
    with open_base_connection(replace(parameters, autocommit=True, env={**env, **wanted})) as session:
        yield session


def _load_all(
    connection: Connection,
    where: Path,
    schema: SchemaFile,
    options: dict[str, Any],
    report: ImportReport,
    progress: Progress | None,
) -> None:
    rows = size = 0
    for number, table in enumerate(schema.tables):
        if number % _PREPARED == 0:
            connection.prepare(_empty_sql(each) for each in schema.tables[number : number + _PREPARED])
        loaded = _load(connection, where, table, options)
        report.tables[table.name] = loaded
        rows, size = rows + loaded, size + (where / table.file).stat().st_size
        if progress is not None:
            progress(rows, size)


@dataclass(frozen=True, slots=True)
class _Export:
    """The directory of an export, the contents of its ``.sql`` file, and the codec of its texts."""

    directory: Path
    schema: SchemaFile
    codec: str

    @classmethod
    def open(cls, directory: str | os.PathLike[str], encoding: str | None) -> _Export:
        """Find and parse the export in a directory, or in the only ``.exp`` in it."""
        where = Path(directory)
        if not where.is_dir():
            raise InterfaceError(f"{where} is not a directory.")
        if not any(where.glob("*.sql")):
            inner = [each for each in sorted(where.glob("*.exp")) if each.is_dir()]
            if len(inner) == 1:
                return cls.open(inner[0], encoding)
        path = find_script(where)
        if path is None:
            count = len(sorted(where.glob("*.sql")))
            raise InterfaceError(
                f"{where} is not an export. Expected one .sql file in it, or one directory .exp, and found "
                f"{count} .sql files."
            )
        codec = codec_of(encoding or os.environ.get("CLIENT_LOCALE") or "utf-8")
        schema = parse(decode_text(path.read_bytes(), codec, str(path)), str(path))
        for table in schema.tables:
            if not (where / table.file).is_file():
                raise InterfaceError(
                    f"{where / table.file} is missing. It should have the {table.rows} rows of {table.name}."
                )
        return cls(where, schema, codec)

    def dbdate(self, *, join_lines: bool) -> str | None:
        """Return the format of dates that the ``.sql`` file names, or that the dates have. None = the environment's."""
        if self.schema.dbdate:
            return self.schema.dbdate
        if os.environ.get("GL_DATE") or os.environ.get("DBDATE"):
            return None
        formats = DateFormats()
        creates = [table.create for table in self.schema.tables]
        formats.add(date_literals((*self.schema.before, *creates, *self.schema.after)))
        for table in self.schema.tables:
            if not formats.decided:
                self._look_into(table, formats, join_lines)
        if formats.conflict is not None and len(formats.choices) != 1:  # else the load names the wrong date
            first, second = formats.conflict
            raise InterfaceError(
                f"{self.directory} has dates such as {first!r} and {second!r}, which no single format can "
                "read. Name the format with dbdate="
            )
        if len(formats.choices) > 1:
            raise InterfaceError(
                f"{self.directory} does not record the format of its dates. {formats.example!r} may be "
                f"{' or '.join(formats.choices)}. Name the format with dbdate="
            )
        return formats.choices[0] if formats.choices else DEFAULT_DBDATE

    def _look_into(self, table: TableEntry, formats: DateFormats, join_lines: bool) -> None:
        """Take the dates of a table's file into account, until the format is known."""
        numbers = date_columns(table.create)
        if not numbers or not table.file.endswith(".unl"):
            return
        columns = {f"c{number}": "TEXT" for number in range(column_count(table.create))}
        with read_unl(
            self.directory / table.file,
            columns,
            delimiter=self.schema.delimiter,
            encoding=self.codec,
            join_lines=join_lines,
        ) as reader:
            for batch in reader:
                for number in numbers:
                    formats.add(pc.unique(batch.column(number)).to_pylist())
                if formats.decided:
                    return


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
        raise _about(table, error, _advice(connection, options["encoding"])) from error
    if rows != table.rows:
        raise DataError(
            f"{path} has {rows} rows, but {where.name} records {table.rows}. It is not the file that was "
            "exported."
        )
    return rows


def _row_counts(connection: Connection, tables: Sequence[TableEntry]) -> Iterator[tuple[TableEntry, int]]:
    """Yield each table with its number of rows, by one query for many tables."""
    for start in range(0, len(tables), _UNION):
        part = tables[start : start + _UNION]
        selects = [f"SELECT {number}, COUNT(*) FROM {table.name}" for number, table in enumerate(part)]
        for number, count in connection.execute(" UNION ALL ".join(selects)).fetchall():
            yield part[int(number)], int(count)


def _advice(connection: Connection, codec: str) -> str:
    """Return what may help where texts do not fit: letters that take one byte in the files take two in UTF-8."""
    locale = locale_of_codec(codec)
    if codec == "utf-8" or connection.encoding != "utf-8" or locale is None:
        return ""
    return (
        f"\nThe files are in {codec} and the database is in UTF-8, where the same text may take more bytes. If it is "
        f"too long for its column, import into a new database with db_locale={locale}"
    )


def _about(table: TableEntry, error: Error | pa.ArrowException, advice: str) -> Error:
    """Return the same error with the table's name in front."""
    text = f"{table.name}: {error}{advice if isinstance(error, DataError) else ''}"
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
