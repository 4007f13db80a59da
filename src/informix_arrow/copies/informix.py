"""Another Informix database as a target: a connection for each table. The database must be logged.

Tables are made of the declared types of their source. A full copy of a table whose columns are the same empties it and
keeps what belongs to it: keys, indexes, grants. A table is locked while rows are put into it: a lock for each of them
might be more than the server has.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa

from ..bulk.target import quote
from ..connection import Connection, open_plain
from ..dsn import Parameters, resolve
from ..wire.errors import Error, InterfaceError, NotSupportedError
from .database import LOCK_SECONDS, STAGE, STATES, is_floating_decimal
from .rejects import Misfit
from .state import Rows

_EXISTS = -310


def settings_of(url: str) -> Parameters:
    """With what to connect to a target; ``InterfaceError`` when it names no database."""
    settings = replace(resolve(url), autocommit=False)
    if not settings.database:
        raise InterfaceError(
            "the target names no database: write informix://user@host:9088/database?server=.."
        )
    return settings


def logged_name(connection: Connection, settings: Parameters) -> str:
    """What a target is called; ``NotSupportedError`` when it has no log, and nothing can be undone."""
    name = f"{connection.server_name or settings.server}/{connection.database}"
    if not connection.logged:
        raise NotSupportedError(
            f"{name} is a database without logging, where no copy can be undone: give it a log, or choose another"
        )
    return name


class Informix:
    """Where it is; every session has a connection of its own."""

    def __init__(self, url: str) -> None:
        self._settings = settings_of(url)
        with open_plain(self._settings) as connection:
            connection.lock_wait = LOCK_SECONDS  # others may make the table of states
            self.name = logged_name(connection, self._settings)
            self._codec = connection._session.framing.encoding
            if not InformixSession(connection).has(STATES):
                try:
                    connection.execute(f"CREATE TABLE {STATES} (name VARCHAR(128) PRIMARY KEY, state TEXT)")
                except Error as error:
                    if error.sqlcode != _EXISTS:  # somebody else was first
                        raise
            connection.commit()

    @contextmanager
    def session(self) -> Iterator[InformixSession]:
        with open_plain(self._settings) as connection:  # what was not committed is undone
            connection.lock_wait = LOCK_SECONDS
            yield InformixSession(connection)
            connection.commit()

    def misfits(self, batch: pa.RecordBatch) -> Sequence[Misfit]:
        return _not_in(self._codec, batch)

    def close(self) -> None:
        """Nothing is open between sessions."""


class InformixSession:
    """A transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def quoted(self, name: str) -> str:
        return quote(name, self._connection._parameters.delimident)

    def has(self, table: str) -> bool:
        found = self._run("SELECT COUNT(*) FROM systables WHERE tabname = ?", [table])
        return bool(found and found[0])

    def columns(self, table: str) -> list[tuple[str, str]]:
        with self._connection.query(f"SELECT * FROM {self.quoted(table)} WHERE 1 = 0") as result:
            return [(column.name, column.type.sql) for column in result.columns]

    def first(self, sql: str) -> tuple[Any, ...] | None:
        return self._run(sql)

    def change(self, sql: str) -> None:
        self._run(sql)

    def claim(self, table: str) -> str | None:
        count = self._connection.execute(f"UPDATE {STATES} SET name = name WHERE name = ?", [table]).rowcount
        if not count:
            self._run(f"INSERT INTO {STATES} VALUES (?, ?)", [table, ""])
            return None
        if self.has(table):
            self._lock(table)
        return self.state(table)

    def state(self, table: str) -> str | None:
        found = self._run(f"SELECT state FROM {STATES} WHERE name = ?", [table])
        return None if found is None else str(found[0])

    def keep(self, table: str, state: str) -> None:
        self._run(f"UPDATE {STATES} SET state = ? WHERE name = ?", [state, table])

    def fill(self, table: str, rows: Rows) -> None:
        name = self.quoted(table)
        with rows.stream() as reader:
            self._connection.write_arrow(name, reader.schema.empty_table(), mode="replace")
            self._lock(table)
            self._connection.write_arrow(name, reader)

    def stage(self, rows: Rows) -> None:
        with rows.stream() as reader:
            self._connection.write_arrow(STAGE, reader, mode="create", temporary=True)

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        sql = f"SELECT * FROM {self.quoted(table)}"
        with self._connection.query(sql, floating_decimals=_floating(schema)) as result:
            yield from result.batches()

    def _lock(self, table: str) -> None:
        self._run(f"LOCK TABLE {self.quoted(table)} IN EXCLUSIVE MODE")

    def _run(self, sql: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        with self._connection.execute(sql, list(values)) as cursor:
            return cursor.fetchone() if cursor.description else None


def _floating(schema: pa.Schema) -> Literal["float64", "string"] | pa.Decimal128Type:
    """How DECIMALs without a scale were read, to read them again so."""
    texts = [field for field in schema if is_floating_decimal(field)]
    kinds = [field.type for field in schema if is_floating_decimal(field.with_type(pa.utf8()))]
    if texts:
        return "string"
    return next((kind for kind in kinds if pa.types.is_decimal(kind)), "float64")


def _not_in(codec: str, batch: pa.RecordBatch) -> list[Misfit]:
    """Texts with characters that the code set of the target's database has not."""
    if codecs.lookup(codec).name == "utf-8":
        return []
    found = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        if _is_encoded("".join(column.drop_null().to_pylist()), codec):
            continue
        reason = f"has a character that the target's code set ({codec}) has not"
        values = enumerate(column.to_pylist())
        found += [
            Misfit(place, field.name, reason)
            for place, text in values
            if text is not None and not _is_encoded(text, codec)
        ]
    return sorted(found, key=lambda misfit: misfit.row)


def _is_encoded(text: str, codec: str) -> bool:
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return False
    return True
