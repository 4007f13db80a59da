"""Export a database to a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from ..connection import Connection
from ..core.disk import name_file_in_errors
from ..unl import write_unl
from ..wire.errors import InterfaceError
from .database_description import DatabaseDescription, TableDescription, describe
from .date_format import DEFAULT_DBDATE, DateFormats, date_literals
from .schema_file import SchemaFile, TableEntry, file_name

Format = Literal["parquet", "unl"]
Progress = Callable[[int, int], None]
"""Called with rows and bytes, both of all tables so far."""

FORMATS = ("parquet", "unl")
_DBMONEY = "."
_PREPARED = 32  # queries of tables that are prepared together, in one round trip


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The outcome of :func:`export_database`.

    Attributes
    ----------
    database
        The database's name.
    directory
        The directory that was created, ``<database>.exp``.
    tables
        Number of rows of each table, by its name as SQL has it: ``"owner".t``.
    omitted
        What the export does not contain, one text each.
    """

    database: str
    directory: Path
    tables: dict[str, int]
    omitted: tuple[str, ...]


def export_database(
    connection: Connection,
    directory: str | os.PathLike[str],
    *,
    format: Format = "parquet",
    lock: bool = False,
    dbdate: str | None = None,
    progress: Progress | None = None,
) -> ExportReport:
    """Write a whole database to ``directory/<database>.exp``, in the layout of dbexport.

    Parameters
    ----------
    connection
        A connection to the database whose user has the SELECT privilege on every table.
    directory
        Where to create the directory. It gets its name once it is complete.
    format
        ``"unl"`` is what dbimport reads, with text in UTF-8. ``"parquet"`` differs only in the tables' files.
    lock
        Lock all tables in share mode while they are read, so that they are consistent with each other. Other sessions
        cannot write meanwhile. Without it each table is exported as it was when it was read.
    dbdate
        The format of dates in the ``.unl`` files. Default: that of the date literals in the database's schema, which
        are exported as they are stored, or ``MDY4/`` if there are none. The ``.sql`` file says which it is, so that
        dbimport with that DBDATE reads both.
    progress
        Called with the number of rows and bytes so far.

    Raises
    ------
    InterfaceError
        The directory exists, or the connection has no database.
    Error
        Any error of reading. Nothing is left under the directory's name.
    """
    if format not in FORMATS:
        raise InterfaceError(f"format={format!r}: expected one of {', '.join(FORMATS)}.")
    description = describe(connection)
    dbdate = _dbdate_of(description, dbdate)
    target = Path(directory) / f"{description.database}.exp"
    rows: dict[str, int] = {}
    with _new_directory(target) as part:
        entries = []
        with _locked_tables(connection, description, lock):
            done = [0, 0]
            for number, table in enumerate(description.tables):
                if number % _PREPARED == 0:
                    following = description.tables[number : number + _PREPARED]
                    connection.prepare(_rows_sql(each) for each in following)
                file = part / file_name(table.name, table.tabid, f".{format}")
                count = _table(connection, table, file, format, dbdate)
                done[0] += count
                done[1] += file.stat().st_size
                if progress is not None:
                    progress(done[0], done[1])
                rows[table.sql] = count
                entries.append(
                    TableEntry(
                        table.sql,
                        table.create(dbdate),
                        file.name,
                        count,
                        table.row_size,
                        len(table.column_list),
                        table.index_size,
                    )
                )
        schema = SchemaFile(
            description.database,
            "|",
            tuple(description.before),
            tuple(entries),
            tuple(description.after),
            tuple(description.omitted),
            dbdate,
            _DBMONEY,
        )
        (part / f"{description.database}.sql").write_text(schema.text(), encoding="utf-8")
    return ExportReport(description.database, target, rows, tuple(description.omitted))


@contextmanager
def _new_directory(target: Path) -> Iterator[Path]:
    """Yield a temporary directory that gets its name when the block succeeds."""
    if target.exists():
        raise InterfaceError(f"{target} exists already. Remove it, or choose another directory.")
    part = target.with_name(f"{target.name}.part")
    part.mkdir(parents=True, exist_ok=True)
    with _directory_lock(part):
        try:
            _empty(part)  # files of an export that was killed
            yield part
        except BaseException:
            _empty(part)
            part.rmdir()
            raise
        part.rename(target)


def _empty(directory: Path) -> None:
    for file in directory.iterdir():
        file.unlink()


@contextmanager
def _directory_lock(directory: Path) -> Iterator[None]:
    """Lock a directory for the block. Raises ``InterfaceError`` if another export uses it.

    On systems without directory locks, a directory that is not empty counts as used.
    """
    busy = f"{directory}: Another export is writing to it"
    if fcntl is None:
        if any(directory.iterdir()):
            raise InterfaceError(f"{busy}, or one was killed. In that case remove it.")
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InterfaceError(f"{busy}.") from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _locked_tables(connection: Connection, description: DatabaseDescription, lock: bool) -> Iterator[None]:
    if not lock:
        yield
        return
    with connection.transaction(force_rollback=True):
        for table in description.tables:
            connection.execute(f"LOCK TABLE {table.sql} IN SHARE MODE")
        yield


def _dbdate_of(description: DatabaseDescription, asked: str | None) -> str:
    """Return the format of the date literals in a database's schema, with four digits of the year.

    Defaults of DATE columns do not count: they are written in the format that is chosen.
    """
    formats = DateFormats()
    fixed = [
        f"create table t ({column.declaration} default {column.default})"
        for table in description.tables
        for column in table.column_list
        if column.day is None and column.default is not None
    ]
    formats.add(date_literals((*description.before, *fixed, *description.after)))
    if asked:
        if not formats.admits(asked):
            description.omitted.append(
                f"one format of dates: the schema has the literal {formats.example!r}, which DBDATE {asked} does not "
                "read. The files have that format"
            )
        return asked
    # A session reads two digits of the year whatever its DBDATE says, and writes four that mean one year.
    choices = [choice.replace("Y2", "Y4") for choice in formats.choices]
    if formats.conflict is not None:
        first, second = formats.conflict
        description.omitted.append(
            f"one format of dates: the schema has the literals {first!r} and {second!r}, which no DBDATE reads both. "
            f"The files have {DEFAULT_DBDATE}"
        )
        return DEFAULT_DBDATE
    if len(choices) > 1:
        chosen = DEFAULT_DBDATE if DEFAULT_DBDATE in choices else choices[0]
        description.omitted.append(
            f"the format of dates in the schema: a literal such as {formats.example!r} may be {' or '.join(choices)}. "
            f"The files have {chosen}"
        )
        return chosen
    return choices[0] if choices else DEFAULT_DBDATE


def _rows_sql(table: TableDescription) -> str:
    return f"SELECT * FROM {table.sql}"


def _table(connection: Connection, table: TableDescription, file: Path, format: Format, dbdate: str) -> int:
    with connection.query(_rows_sql(table), floating_decimals="string") as result:
        if format == "unl":
            return write_unl(result, file, delimiter="|", encoding="utf-8", dbdate=dbdate, dbmoney=_DBMONEY)
        return _write_parquet(result.schema, result.batches(), file)


def _write_parquet(schema: pa.Schema, batches: Iterator[pa.RecordBatch], file: Path) -> int:
    rows = 0
    with name_file_in_errors(file), pq.ParquetWriter(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows
