"""The adapter of Informix, with a connection for each table that is being copied. The database must be logged.

Tables are created with the declared types of their source. A full copy of a table whose columns are the same empties it
and keeps its keys, indexes and grants. A table is locked while rows are inserted, because the server might not have
enough locks for each row.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa

from ..connection import Connection, open_base_connection
from ..dsn import resolve
from ..ingest.target_table import quote
from ..wire.code_sets import can_encode
from ..wire.errors import Error, InterfaceError, NotSupportedError
from .engine import LOCK_SECONDS, ServerEngine, StateTable
from .rejects import UnrepresentableValue
from .state import CopyRows, is_floating_decimal

_EXISTS = -310
_VARYING = (b"VARCHAR", b"NVARCHAR", b"LVARCHAR")


class Informix(ServerEngine["InformixSession"]):
    """An Informix database with logging. Without logging nothing could be rolled back."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._settings = replace(resolve(url), autocommit=False, lock_wait=LOCK_SECONDS)
        if not self._settings.database:
            raise InterfaceError(
                "The target names no database. Write informix://user@host:9088/database?server=.."
            )
        with self.session() as session:
            connection = session.connection
            self.name = f"{connection.server_name or self._settings.server}/{connection.database}"
            self._codec = connection._session.framing.encoding
            if not connection.logged:
                raise NotSupportedError(
                    f"{self.name} is a database without transaction logging, where a copy cannot be rolled "
                    "back. Add logging, or choose another database."
                )

    def create_states(self, states: StateTable) -> None:
        kind = "TEXT" if states.length is None else f"VARCHAR({states.length}) NOT NULL"
        with self.session() as session:
            if session.has(states.name):
                return
            try:
                session.change(
                    f"CREATE TABLE {states.name} (name VARCHAR(128) PRIMARY KEY, {states.column} {kind})"
                )
            except Error as error:
                if error.sqlcode != _EXISTS:  # another process was first
                    raise

    def _connect(self) -> InformixSession:
        return InformixSession(open_base_connection(self._settings))

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        return _unencodable_values(self._codec, batch)


class InformixSession:
    """A connection in a transaction."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def commit(self) -> None:
        self.connection.commit()

    def cancel(self) -> None:
        with suppress(Error, OSError):  # it has ended
            self.connection.cancel()

    def close(self) -> None:
        with suppress(Error):  # the first error counts
            self.connection.close()

    def quoted(self, name: str) -> str:
        return quote(name, self.connection._parameters.delimident)

    def has(self, table: str) -> bool:
        row = self.first("SELECT COUNT(*) FROM informix.systables WHERE tabname = ?", [table])
        return bool(row and row[0])

    def columns(self, table: str) -> list[tuple[str, str]]:
        with self.connection.query(f"SELECT * FROM {self.quoted(table)} WHERE 1 = 0") as result:
            return [(column.name, column.type.sql) for column in result.columns]

    def first(self, sql: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        with self.connection.execute(sql, list(values)) as cursor:
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.connection.execute(sql) as cursor:
            return list(cursor.fetchall())

    def change(self, sql: str, values: Sequence[object] = ()) -> int:
        with self.connection.execute(sql, list(values)) as cursor:
            return cursor.rowcount

    def state(self, states: StateTable, name: str) -> str | None:
        row = self.first(f"SELECT {states.column} FROM {states.name} WHERE name = ?", [name])
        return None if row is None else str(row[0])

    def claim(self, states: StateTable, name: str) -> str | None:
        if self.change(f"UPDATE {states.name} SET name = name WHERE name = ?", [name]):
            return self.state(states, name)
        self.change(f"INSERT INTO {states.name} VALUES (?, ?)", [name, ""])
        return None

    def store(self, states: StateTable, name: str, text: str) -> None:
        self.change(f"UPDATE {states.name} SET {states.column} = ? WHERE name = ?", [text, name])

    def lock(self, table: str) -> None:
        if self.has(table):
            self.change(f"LOCK TABLE {self.quoted(table)} IN EXCLUSIVE MODE")

    def create(self, table: str, schema: pa.Schema) -> None:
        self.connection.write_arrow(self.quoted(table), schema.empty_table(), mode="create")

    def fill(self, table: str, rows: CopyRows) -> None:
        with rows.stream() as reader:
            self.connection.write_arrow(self.quoted(table), reader.schema.empty_table(), mode="replace")
            self.lock(table)
            self.connection.write_arrow(self.quoted(table), reader)

    def insert(self, table: str, rows: CopyRows) -> None:
        with rows.stream() as reader:
            self.connection.write_arrow(self.quoted(table), reader)

    def stage(self, name: str, rows: CopyRows) -> None:
        with rows.stream() as reader:
            self.connection.write_arrow(name, reader, mode="create", temporary=True)

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        sql = f"SELECT * FROM {self.quoted(table)}"
        with self.connection.query(sql, floating_decimals=_floating(schema)) as result:
            yield from result.batches()

    def equal(self, there: str, staged: str, field: pa.Field) -> str:
        declared: bytes = (field.metadata or {}).get(b"informix.type", b"VARCHAR")
        if pa.types.is_string(field.type) and declared.upper().startswith(_VARYING):
            # Trailing blanks count.
            return f"({there} = {staged} AND OCTET_LENGTH({there}) = OCTET_LENGTH({staged}))"
        return f"{there} = {staged}"

    def same(self, there: str, staged: str, field: pa.Field) -> str:
        return f"({self.equal(there, staged, field)} OR ({there} IS NULL AND {staged} IS NULL))"


def _floating(schema: pa.Schema) -> Literal["float64", "string"] | pa.Decimal128Type:
    """Return the ``floating_decimals`` with which the rows were read."""
    texts = [field for field in schema if is_floating_decimal(field)]
    kinds = [field.type for field in schema if is_floating_decimal(field.with_type(pa.utf8()))]
    if texts:
        return "string"
    return next((kind for kind in kinds if pa.types.is_decimal(kind)), "float64")


def _unencodable_values(codec: str, batch: pa.RecordBatch) -> list[UnrepresentableValue]:
    """Return the texts with characters that the code set of the target's database lacks."""
    if codecs.lookup(codec).name == "utf-8":
        return []
    unrepresentable = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        if can_encode("".join(column.drop_null().to_pylist()), codec):
            continue
        reason = f"has a character that the target's code set ({codec}) has not"
        values = enumerate(column.to_pylist())
        unrepresentable += [
            UnrepresentableValue(row, field.name, reason)
            for row, text in values
            if text is not None and not can_encode(text, codec)
        ]
    return sorted(unrepresentable, key=lambda each: each.row)
