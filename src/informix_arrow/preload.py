"""Initial tables of a server: ``Server(load=...)`` and ``serve --load DIR``.

They are loaded by a client, with `write_arrow`, over a listener that only this client can log in to, before the server
accepts other connections. So a table is declared and filled exactly as by a user, and the rules of docs/writing.md
apply. This module knows only the URL of the server.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from .connection import connect
from .wire.errors import Error

log = logging.getLogger("informix_arrow.server")

_SUFFIXES = (".parquet", ".csv", ".arrow", ".feather")
_NAME = re.compile(r"[A-Za-z_]\w*")
_CREATE = "CREATE DATABASE {} WITH LOG"
_ENVIRONMENT = {"DB_LOCALE": "en_US.utf8"}


def tables_of_directory(directory: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the files ``DATABASE/TABLE.parquet`` (or .csv, .arrow, .feather) of a directory: ``{"database.table":
    path}``.

    Raises ValueError if the directory has no such file, a file of another kind, or two files for one table.
    """
    top = Path(directory)
    if not top.is_dir():
        raise ValueError(
            f"{top} is not a directory. --load needs one with files DATABASE/TABLE.parquet, .csv or .arrow."
        )
    files: dict[str, Path] = {}
    for path in sorted(top.glob("[!.]*/[!.]*")):
        if path.suffix.lower() not in _SUFFIXES:
            raise ValueError(f"{path} cannot be loaded. It is none of {', '.join(_SUFFIXES)}.")
        name = f"{path.parent.name}.{path.stem}"
        if name in files:
            raise ValueError(f"{files[name]} and {path} are both for the table {name}.")
        files[name] = path
    if not files:
        raise ValueError(f"{top} has no files DATABASE/TABLE.parquet, .csv or .arrow to load.")
    return files


def load(url: str, tables: Mapping[str, Any]) -> None:
    """Create and load tables. Databases that do not exist are created with a log, in UTF-8.

    Parameters
    ----------
    url
        URL of the server, without a database.
    tables
        By ``"database.table"``: any data that `Connection.write_arrow` takes, or the path of a Parquet, CSV or Arrow
        file. A table that already exists (in a `directory`) is left unchanged, with a warning in the log.

    Raises ValueError for a wrong name or file. Errors of `write_arrow` are raised with the table's name.
    """
    by_database: dict[str, dict[str, Any]] = {}
    for name, data in tables.items():
        database, table = _split(name)
        by_database.setdefault(database, {})[table] = data
    for database, database_tables in by_database.items():
        _load_database(url, database, database_tables)


def _split(name: str) -> tuple[str, str]:
    parts = name.split(".")
    if len(parts) != 2 or not all(_NAME.fullmatch(part) for part in parts):
        raise ValueError(f"load: {name!r} must be 'database.table'.")
    return parts[0].lower(), parts[1].lower()


def _load_database(url: str, database: str, tables: Mapping[str, Any]) -> None:
    if not _exists(url, database):
        # CREATE DATABASE gives the new database the locale of the session.
        with connect(url, database="sysmaster", env=_ENVIRONMENT, autocommit=True) as connection:
            connection.cursor().execute(_CREATE.format(database))
    with connect(url, database=database, autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT tabname FROM informix.systables WHERE tabid >= 100")
        existing = {str(row[0]).strip() for row in cursor.fetchall()}
        for table, data in tables.items():
            if table in existing:
                log.warning("load: The table %s.%s exists already and was not changed.", database, table)
                continue
            try:
                report = connection.write_arrow(table, _to_arrow_source(data), mode="create")
            except (Error, pa.ArrowException, OSError, TypeError, ValueError) as problem:
                raise ValueError(f"load: {database}.{table}: {problem}") from problem
            log.info("load: %d rows were loaded into %s.%s.", report.rows, database, table)


def _exists(url: str, database: str) -> bool:
    with connect(url, database="sysmaster", autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT COUNT(*) FROM sysdatabases WHERE name = ?", (database,))
        row = cursor.fetchone()
        return row is not None and int(row[0]) > 0


def _to_arrow_source(data: Any) -> Any:
    """Return data for `write_arrow`: the contents of a file for a path, other data unchanged."""
    if not isinstance(data, (str, os.PathLike)):
        return data
    path = Path(data)
    kind = path.suffix.lower()
    if kind == ".parquet":
        import pyarrow.parquet as pq

        file = pq.ParquetFile(path)
        return pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
    if kind == ".csv":
        import pyarrow.csv as pc

        table = pc.read_csv(path)  # at once: the type of a column depends on all its values
        for column in table.schema:
            if pa.types.is_binary(column.type):
                raise ValueError(f"{path}: The column {column.name!r} has text that is not UTF-8.")
        return table
    if kind in (".arrow", ".feather"):
        return _arrow_file(path)
    raise ValueError(f"{path} is none of {', '.join(_SUFFIXES)}.")


def _arrow_file(path: Path) -> pa.RecordBatchReader:
    """Return the batches of an Arrow file, in the file format or the stream format."""
    source = pa.memory_map(str(path))
    try:
        file = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(file.num_record_batches):
            yield file.get_batch(number)

    return pa.RecordBatchReader.from_batches(file.schema, batches())
