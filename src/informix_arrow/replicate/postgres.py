"""The adapter of PostgreSQL, by the ADBC driver: binary COPY, with a connection for each table that is being copied.

Tables are in the first schema of the connection's ``search_path``. A full copy of a table whose columns are the same
empties it and keeps its indexes, grants and views. Text that stands for a DECIMAL without a scale is stored as
``numeric``, which keeps all digits.

Changes find the rows that they remove by the tables' indexes. Foreign keys between the tables would have to be
deferred, because tables are written one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa
import pyarrow.compute as pc

from ..wire.errors import DataError, NotSupportedError, OperationalError, error_at
from ..wire.quoting import double_quoted
from .engine import LOCK_SECONDS, STAGE, ServerEngine, StateTable
from .rejects import UnrepresentableValue, find_characters
from .state import CopyRows, is_floating_decimal

#: Arrow types, and PostgreSQL's names for them.
_KINDS = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.date32(): "date",
    pa.utf8(): "text",
    pa.large_utf8(): "text",
    pa.binary(): "bytea",
    pa.large_binary(): "bytea",
}


#: A value, as text, that stands for NULL while rows are compared, so that the planner can use hash joins.
_NULL_STAND_INS = (
    (pa.types.is_boolean, "f"),
    (pa.types.is_date, "2000-01-01"),
    (pa.types.is_timestamp, "2000-01-01"),
    (pa.types.is_time, "00:00"),
    (pa.types.is_string, ""),
    (pa.types.is_large_string, ""),
    (pa.types.is_binary, ""),
    (pa.types.is_large_binary, ""),
)


class Postgres(ServerEngine["PostgresSession"]):
    """A PostgreSQL database. No error shows a password."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        parts = urlsplit(url)
        self.name = f"postgresql://{parts.hostname or ''}{parts.path}"
        self._secrets = [each for each in (parts.password, parts.username and parts.netloc) if each]

    def _connect(self) -> PostgresSession:
        session = PostgresSession(adbc.connect(self._url))
        session.run(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        session.commit()
        return session

    @contextmanager
    def _driver_errors(self) -> Iterator[None]:
        """Raise the driver's errors as ``OperationalError``, without secrets."""
        try:
            yield
        except adbc.Error as error:
            text = str(error)
            for secret in self._secrets:
                text = text.replace(secret, "***")
            raise OperationalError(f"{self.name}: {text}") from None

    def create_states(self, states: StateTable) -> None:
        sql = (
            f"CREATE TABLE IF NOT EXISTS {states.name} (name text PRIMARY KEY, {states.column} text NOT NULL)"
        )
        try:
            self._run(sql)
        except OperationalError:  # two processes at once: one of them fails with a duplicate key
            self._run(sql)

    def _run(self, sql: str) -> None:
        with self.session() as session:
            session.run(sql)

    @contextmanager
    def session(self) -> Iterator[PostgresSession]:
        with self._driver_errors(), super().session() as session:
            yield session

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        return find_characters(
            batch, "\\x00", "has the character U+0000, which PostgreSQL's text cannot hold"
        )


class PostgresSession:
    """A connection in a transaction."""

    def __init__(self, connection: adbc.Connection) -> None:
        self._connection = connection

    def commit(self) -> None:
        self._connection.commit()

    def cancel(self) -> None:
        with suppress(adbc.Error):  # nothing runs
            self._connection.adbc_cancel()

    def close(self) -> None:
        self._connection.close()

    def quoted(self, name: str) -> str:
        return double_quoted(name)

    def has(self, table: str) -> bool:
        row = self.run("SELECT to_regclass($1) IS NOT NULL", [self.quoted(table)])
        return bool(row and row[0])

    def columns(self, table: str) -> list[tuple[str, str]]:
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
                "WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                [self.quoted(table)],
            )
            return [(str(name), str(kind)) for name, kind in cursor.fetchall()]

    def first(self, sql: str) -> tuple[Any, ...] | None:
        return self.run(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def change(self, sql: str) -> int:
        if not sql.startswith("DELETE"):
            self.run(sql)
            return 0
        row = self.run(f"WITH gone AS ({sql} RETURNING 1) SELECT COUNT(*) FROM gone")
        assert row is not None
        return int(row[0])

    def state(self, states: StateTable, name: str) -> str | None:
        row = self.run(f"SELECT {states.column} FROM {states.name} WHERE name = $1", [name])
        return None if row is None else str(row[0])

    def claim(self, states: StateTable, name: str) -> str | None:
        sql = f"SELECT {states.column} FROM {states.name} WHERE name = $1 FOR UPDATE"
        found = self.run(sql, [name])
        if found is None:
            made = f"INSERT INTO {states.name} VALUES ($1, '') ON CONFLICT DO NOTHING RETURNING 1"
            if self.run(made, [name]) is None:  # another process was first
                found = self.run(sql, [name])
        return None if found is None else str(found[0])

    def store(self, states: StateTable, name: str, text: str) -> None:
        self.run(f"UPDATE {states.name} SET {states.column} = $1 WHERE name = $2", [text, name])

    def lock(self, table: str) -> None:
        """Do nothing: PostgreSQL locks any number of rows."""

    def create(self, table: str, schema: pa.Schema) -> None:
        self.run(f"CREATE TABLE {self.quoted(table)} ({self._column_list(stored_columns(table, schema))})")

    def fill(self, table: str, rows: CopyRows) -> None:
        there = self.columns(table)
        if there == stored_columns(table, rows.schema):
            self.run(f"DELETE FROM {self.quoted(table)}")
        else:
            if there:
                self.run(f"DROP TABLE {self.quoted(table)}")
            self.create(table, rows.schema)
        self.insert(table, rows)

    def insert(self, table: str, rows: CopyRows) -> None:
        if declared(table, rows.schema) == stored_columns(table, rows.schema):
            self._insert_rows(table, rows)
            return
        listed = ", ".join(map(self.quoted, rows.schema.names))
        self.stage(STAGE, rows)
        self.run(f"INSERT INTO {self.quoted(table)} ({listed}) SELECT {listed} FROM {STAGE}")
        self.run(f"DROP TABLE {STAGE}")

    def stage(self, name: str, rows: CopyRows) -> None:
        sent = declared("a table", rows.schema)
        self.run(f"CREATE TEMP TABLE {name} ({self._column_list(sent)})")
        self._insert_rows(name, rows, temporary=True)
        for (column, kind), (_, wanted) in zip(sent, stored_columns("a table", rows.schema), strict=True):
            if kind != wanted:  # binary COPY does not accept text for it
                quoted = self.quoted(column)
                self.run(f"ALTER TABLE {name} ALTER COLUMN {quoted} TYPE {wanted} USING {quoted}::{wanted}")
        self.run(f"ANALYZE {name}")

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.quoted(table)}")
            for batch in cursor.fetch_record_batch():
                columns = [
                    _unwrap_numeric(column, field.type)
                    for column, field in zip(batch.columns, schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, names=schema.names)

    def run(self, sql: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Run a statement. Return its first row, None if it has none."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql, list(values) or None)
            if not cursor.description:
                return None
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def equal(self, there: str, staged: str, field: pa.Field) -> str:
        return f"{there} = {staged}"

    def same(self, there: str, staged: str, field: pa.Field) -> str:
        standing = next((text for fits, text in _NULL_STAND_INS if fits(field.type)), "0")
        if is_floating_decimal(field):
            standing = "0"
        hashed = f"COALESCE({there}, '{standing}') = COALESCE({staged}, '{standing}')"
        return f"({hashed} AND ({there} IS NULL) = ({staged} IS NULL))"

    def _column_list(self, columns: Sequence[tuple[str, str]]) -> str:
        return ", ".join(f"{self.quoted(name)} {kind}" for name, kind in columns)

    def _insert_rows(self, table: str, rows: CopyRows, *, temporary: bool = False) -> None:
        """Add rows to a table."""
        schema = pa.schema([(each.name, _driver_type(each.type)) for each in rows.schema])

        def fitting(batch: pa.RecordBatch) -> pa.RecordBatch:
            _refuse_zeros(table, batch)
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
            return pa.RecordBatch.from_arrays(columns, schema=schema)

        with rows.stream(schema, fitting) as reader, self._connection.cursor() as cursor:
            cursor.adbc_ingest(table, reader, mode="append", temporary=temporary)


def stored_columns(table: str, schema: pa.Schema) -> list[tuple[str, str]]:
    """Return the columns of a table, with ``numeric`` for the text of DECIMALs without a scale."""
    columns = declared(table, schema)
    return [
        (name, "numeric" if is_floating_decimal(field) else kind)
        for (name, kind), field in zip(columns, schema, strict=True)
    ]


def declared(table: str, schema: pa.Schema) -> list[tuple[str, str]]:
    """Return the columns for a schema. Raises ``NotSupportedError`` where there is no type."""
    found = []
    for each in schema:
        kind = _kind(each.type)
        if kind is None:
            raise NotSupportedError(f"{table}.{each.name}: PostgreSQL has no type for {each.type}.")
        found.append((each.name, kind))
    return found


def _kind(kind: pa.DataType) -> str | None:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_time(kind):
        return "time without time zone"
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return "timestamp without time zone"
    if pa.types.is_duration(kind):
        return "interval"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = None if pa.types.is_nested(kind.value_type) else _kind(kind.value_type)
        return inner and f"{inner}[]"
    return _KINDS.get(kind)


def _driver_type(kind: pa.DataType) -> pa.DataType:
    """Return the type in which the driver gets values: PostgreSQL's times have microseconds."""
    if pa.types.is_time(kind):
        return pa.time64("us")
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    return kind


def _unwrap_numeric(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Unwrap NUMERIC, which arrives as text within an extension type of the driver."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.cast(wanted) if pa.types.is_decimal(wanted) else column


def _refuse_zeros(table: str, batch: pa.RecordBatch) -> None:
    """Raise ``DataError`` for U+0000, the one character that PostgreSQL's text cannot hold."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        place = pc.index(pc.match_substring(column, "\0"), True).as_py()
        if place >= 0:
            row = ", ".join(
                f"{name}={value!r}" for name, value in batch.slice(place, 1).to_pylist()[0].items()
            )
            raise error_at(
                DataError,
                table,
                f"{field.name} contains the character U+0000, which PostgreSQL cannot store, in "
                f"the row {row[:200]}.",
                column=field.name,
            )
