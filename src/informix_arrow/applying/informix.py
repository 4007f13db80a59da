"""Another Informix database as a target of changes: one connection. The database must be logged.

Tables are made of the declared types of their source, SERIAL as INTEGER. A table is locked while many rows of it
change: a lock for each of them might be more than the server has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from ..connection import Connection, open_plain
from ..copies.database import LOCK_SECONDS
from ..copies.informix import InformixSession, logged_name, settings_of
from ..wire.errors import Error
from .database import GONE, STATES, Database

LOCKED_ROWS = 1000  # of one table in one transaction, from which on the table is locked
_NUMBERED = {b"SERIAL": b"INTEGER", b"SERIAL8": b"INT8", b"BIGSERIAL": b"BIGINT"}
_VARYING = (b"VARCHAR", b"NVARCHAR", b"LVARCHAR")


def opened(url: str) -> Database:
    """The database; errors are those of ``connect()``, and ``NotSupportedError`` for one without a log."""
    return Database(Informix(url))


class Informix:
    """One connection, whose transactions are those of the source."""

    def __init__(self, url: str) -> None:
        settings = settings_of(url)
        self._connection = open_plain(settings)
        try:
            self.name = logged_name(self._connection, settings)
            self._connection.lock_wait = LOCK_SECONDS
            with self.session() as session:
                if not session.has(STATES):
                    session.change(
                        f"CREATE TABLE {STATES} (name VARCHAR(128) PRIMARY KEY, token VARCHAR(64) NOT NULL)"
                    )
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def session(self) -> Iterator[Session]:
        try:
            yield Session(self._connection)
            self._connection.commit()
        except BaseException:
            with suppress(Error):  # the first error counts; a connection that is gone has rolled back
                self._connection.rollback()
            raise


class Session:
    """A transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._session = InformixSession(connection)
        self.quoted = self._session.quoted
        self.has = self._session.has

    def equal(self, there: str, gone: str, field: pa.Field) -> str:
        if pa.types.is_string(field.type) and _declared(field).startswith(_VARYING):
            return f"({there} = {gone} AND OCTET_LENGTH({there}) = OCTET_LENGTH({gone}))"  # blanks at the end count
        return f"{there} = {gone}"

    def same(self, there: str, gone: str, field: pa.Field) -> str:
        return f"({self.equal(there, gone, field)} OR ({there} IS NULL AND {gone} IS NULL))"

    def token(self, name: str) -> str | None:
        found = self._first(f"SELECT token FROM {STATES} WHERE name = ?", [name])
        return None if found is None else str(found[0])

    def keep(self, name: str, before: str | None, token: str) -> bool:
        if before is not None:
            sql = f"UPDATE {STATES} SET token = ? WHERE name = ? AND token = ?"
            return self.change(sql, [token, name, before]) == 1
        if self.token(name) is not None:
            return False
        return self.change(f"INSERT INTO {STATES} VALUES (?, ?)", [name, token]) == 1

    def prepare(self, table: str, schema: pa.Schema, rows: int) -> None:
        name = self.quoted(table)
        if not self.has(table):
            self._connection.write_arrow(name, _plain(schema).empty_table(), mode="create")
        if rows >= LOCKED_ROWS:
            self.change(f"LOCK TABLE {name} IN EXCLUSIVE MODE")

    def change(self, sql: str, values: Sequence[object] = ()) -> int:
        with self._connection.execute(sql, list(values)) as cursor:
            return cursor.rowcount

    def _first(self, sql: str, values: Sequence[object]) -> tuple[Any, ...] | None:
        with self._connection.execute(sql, list(values)) as cursor:
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def pairs(self, sql: str) -> list[tuple[int, int]]:
        with self._connection.execute(sql) as cursor:
            return [(int(one), int(other)) for one, other in cursor.fetchall()]

    @contextmanager
    def stage(self, rows: pa.Table) -> Iterator[None]:
        rows = rows.cast(_plain(rows.schema))
        self._connection.write_arrow(GONE, rows, mode="create", temporary=True)
        yield
        self.change(f"DROP TABLE {GONE}")

    def insert(self, table: str, rows: pa.Table) -> None:
        self._connection.write_arrow(self.quoted(table), rows)


def _declared(field: pa.Field) -> bytes:
    said: bytes = (field.metadata or {}).get(b"informix.type", b"VARCHAR")
    return said.upper()


def _plain(schema: pa.Schema) -> pa.Schema:
    """The columns as they are declared, without numbers of their own."""
    fields: list[Any] = []
    for field in schema:
        number = _NUMBERED.get(_declared(field).partition(b"(")[0])
        fields.append(
            field if number is None else field.with_metadata({**field.metadata, b"informix.type": number})
        )
    return pa.schema(fields)
