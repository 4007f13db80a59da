"""The sides of a comparison: the tables of a database, an export or a directory of files, and single files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from ..connection import Connection
from ..transfer.schema_file import SchemaFile, find_script, parse, plain_name
from ..unl import read_unl
from ..wire.errors import DataError, InterfaceError

SUFFIXES = (".parquet", ".unl")
_MOST_RANGES = 50  # in one WHERE clause
_PRIMARY_KEY = re.compile(
    r"alter\s+table\s+(\S+)\s+add\s+constraint\s+primary\s+key\s*\(([^)]*)\)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of values of a column to read, both ends included."""

    column: str
    spans: tuple[tuple[int, int], ...]


class TableSide(Protocol):
    """A table of one side."""

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key. () if there is none or it is not known."""

    def schema(self, other: pa.Schema | None) -> pa.Schema | None:
        """Return the columns.

        A table without types of its own returns ``other``, the columns of the other side, or None if those are not
        known either.
        """

    def bounds(self, column: str) -> tuple[int, int] | None:
        """Return the smallest and largest value of an integer column. None if that would take reading the table."""

    def batches(self, schema: pa.Schema, ranges: Ranges | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows within ``ranges``. Rows outside of them may be included."""


class Side(Protocol):
    """One side of a comparison."""

    def tables(self) -> dict[str, TableSide]:
        """Return the tables by lower-case name."""


class DatabaseSide:
    """The tables of a connection's database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._keys: dict[tuple[str, str], tuple[str, ...]] | None = None

    def tables(self) -> dict[str, TableSide]:
        """Return the tables by lower-case name. A name that several owners use is prefixed with the owner."""
        listed = [each for each in self._connection.tables().to_pylist() if each["table_type"] == "TABLE"]
        names = [each["table_name"].lower() for each in listed]
        sides: dict[str, TableSide] = {}
        for name, each in zip(names, listed, strict=True):
            owner = each["table_schema"].strip()
            shown = f"{owner}.{name}" if names.count(name) > 1 else name
            sides[shown] = DatabaseTable(self._connection, owner, each["table_name"], self._key)
        return sides

    def _key(self, owner: str, name: str) -> tuple[str, ...]:
        """Return the primary key of a table. Those of all tables are read at once."""
        if self._keys is None:
            self._keys = {}
            for part in self._connection.primary_key().to_pylist():
                table = part["table_schema"].strip(), part["table_name"]
                self._keys[table] = (*self._keys.get(table, ()), part["column_name"])
        return self._keys.get((owner, name), ())


class DatabaseTable:
    """A table of a database. See :class:`TableSide`."""

    def __init__(
        self, connection: Connection, owner: str, name: str, key: Callable[[str, str], tuple[str, ...]]
    ) -> None:
        self._connection = connection
        self._owner, self._name = owner, name
        self._sql = f'"{owner}".{name}'
        self._key = key

    @property
    def key(self) -> tuple[str, ...]:
        return self._key(self._owner, self._name)

    def schema(self, other: pa.Schema | None) -> pa.Schema:
        sql = f"SELECT * FROM {self._sql} WHERE 1 = 0"  # a query with rows would make the server send some
        self._connection.prepare((sql, f"SELECT * FROM {self._sql}"))
        with self._connection.query(sql, floating_decimals="string") as result:
            return result.schema

    def bounds(self, column: str) -> tuple[int, int] | None:
        rows = self._connection.execute(f"SELECT MIN({column}), MAX({column}) FROM {self._sql}").fetchall()
        least, most = rows[0]
        return None if least is None else (int(least), int(most))

    def batches(self, schema: pa.Schema, ranges: Ranges | None) -> Iterator[pa.RecordBatch]:
        sql = f"SELECT * FROM {self._sql}"
        if ranges is not None:
            spans = ranges.spans
            if len(spans) > _MOST_RANGES:
                spans = ((spans[0][0], spans[-1][1]),)
            sql += " WHERE " + " OR ".join(f"{ranges.column} BETWEEN {low} AND {high}" for low, high in spans)
        with self._connection.query(sql, floating_decimals="string") as result:
            yield from result.batches()


class FileSide:
    """One file. Its table is called ``name``, or else like the file."""

    def __init__(self, path: str | Path, name: str | None = None) -> None:
        self._path = Path(path)
        self._name = name

    def tables(self) -> dict[str, TableSide]:
        """Return the single table."""
        return {(self._name or self._path.stem).lower(): _file(self._path)}


class DirectorySide:
    """The tables of an export, or the ``.parquet`` and ``.unl`` files of a directory."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def tables(self) -> dict[str, TableSide]:
        """Return the tables of the export in the directory, or of its files. Raises ``InterfaceError`` if there
        are none."""
        directories = (self._path, *sorted(self._path.glob("*.exp")))
        script = next((each for each in map(find_script, directories) if each is not None), None)
        if script is not None:
            exported = parse(script.read_text(encoding="utf-8-sig", errors="replace"), str(script))
            return _exported_tables(script.parent, exported)
        sides: dict[str, TableSide] = {}
        for path in sorted(self._path.iterdir()):
            if path.suffix.lower() in SUFFIXES:
                if path.stem.lower() in sides:
                    raise InterfaceError(f"{self._path} has two files for the table {path.stem}. Remove one.")
                sides[path.stem.lower()] = _file(path)
        if not sides:
            raise InterfaceError(f"{self._path} holds neither an export nor files {' or '.join(SUFFIXES)}.")
        return sides


def _exported_tables(directory: Path, exported: SchemaFile) -> dict[str, TableSide]:
    keys = {}
    for statement in exported.after:
        match = _PRIMARY_KEY.match(statement)
        if match is not None:
            keys[plain_name(match[1])] = tuple(name.strip() for name in match[2].split(","))
    names = [plain_name(table.name)[1] for table in exported.tables]
    sides: dict[str, TableSide] = {}
    for table, name in zip(exported.tables, names, strict=True):
        owner, _ = plain_name(table.name)
        shown = f"{owner}.{name}" if names.count(name) > 1 else name
        key = keys.get(plain_name(table.name), ())
        sides[shown] = _file(directory / table.file, key, exported.delimiter, exported.dbdate or None)
    return sides


def _file(
    path: Path, key: tuple[str, ...] = (), delimiter: str | None = None, dbdate: str | None = None
) -> TableSide:
    if not path.is_file():
        raise InterfaceError(f"{path} is not a file.")
    if path.suffix.lower() == ".parquet":
        return ParquetTable(path, key)
    if path.suffix.lower() == ".unl":
        return UnlTable(path, key, delimiter, dbdate)
    raise InterfaceError(f"{path}: compare reads {' and '.join(SUFFIXES)} files.")


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A Parquet file. See :class:`TableSide`."""

    path: Path
    key: tuple[str, ...]

    def schema(self, other: pa.Schema | None) -> pa.Schema:
        try:
            return pq.read_schema(self.path)
        except pa.ArrowInvalid as error:
            raise DataError(f"{self.path} is not a Parquet file ({error}).") from None

    def bounds(self, column: str) -> tuple[int, int] | None:
        return None

    def batches(self, schema: pa.Schema, ranges: Ranges | None) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(self.path) as file:
            yield from file.iter_batches()


@dataclass(frozen=True, slots=True)
class UnlTable:
    """A ``.unl`` file. Its types come from the other side. See :class:`TableSide`."""

    path: Path
    key: tuple[str, ...]
    delimiter: str | None
    dbdate: str | None = None

    def schema(self, other: pa.Schema | None) -> pa.Schema | None:
        return other

    def bounds(self, column: str) -> tuple[int, int] | None:
        return None

    def batches(self, schema: pa.Schema, ranges: Ranges | None) -> Iterator[pa.RecordBatch]:
        yield from read_unl(self.path, schema, delimiter=self.delimiter, dbdate=self.dbdate)


def text_columns(tables: Sequence[TableSide]) -> pa.Schema:
    """Return a schema for two ``.unl`` files whose types are not known: one text column per field of the first
    row."""
    for table in tables:
        if isinstance(table, UnlTable):
            with table.path.open("rb") as file:
                line = file.readline().rstrip(b"\r\n")
            delimiter = (table.delimiter or "|").encode()
            fields = len(re.sub(rb"\\.", b"", line).split(delimiter)) - (1 if line.endswith(delimiter) else 0)
            if line:
                return pa.schema([pa.field(f"field{k + 1}", pa.large_utf8()) for k in range(fields)])
    return pa.schema([pa.field("field1", pa.large_utf8())])
