"""A PostgreSQL database as a target of changes: one connection, COPY in binary.

Text that stands for a DECIMAL without a scale is kept as ``numeric``, which has all its digits. Indexes of the tables
are used to find rows. Foreign keys among them would have to be deferred: tables are written one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa

from ..copies.checks import Checks
from ..copies.database import LOCK_SECONDS, is_floating_decimal
from ..copies.postgres import PostgresPlace, PostgresSession, declared
from ..copies.state import Rows
from .database import GONE, STATES, Database

COME = "informix_arrow_come"

#: A value for NULLs while they are compared, so that joins find their rows by hashes; as text.
_STANDING = (
    (pa.types.is_boolean, "f"),
    (pa.types.is_date, "2000-01-01"),
    (pa.types.is_timestamp, "2000-01-01"),
    (pa.types.is_time, "00:00"),
    (pa.types.is_string, ""),
    (pa.types.is_large_string, ""),
    (pa.types.is_binary, ""),
    (pa.types.is_large_binary, ""),
)


def opened(url: str) -> Database:
    """The database; ``OperationalError`` when it cannot be connected to."""
    return Database(Postgres(url))


class Postgres:
    """One connection, whose transactions are those of the source."""

    def __init__(self, url: str) -> None:
        self._place = PostgresPlace(url)
        self.name = self._place.name
        self._connection = self._place.connect()
        with self.session() as session:
            session.change(
                f"CREATE TABLE IF NOT EXISTS {STATES} (name text PRIMARY KEY, token text NOT NULL)"
            )
            session.change(f"SET lock_timeout = '{LOCK_SECONDS}s'")

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def session(self) -> Iterator[Session]:
        with self._place.telling():
            try:
                yield Session(PostgresSession(self._connection))
                self._connection.commit()
            except BaseException:
                with suppress(
                    adbc.Error
                ):  # the first error counts; a connection that is gone has rolled back
                    self._connection.rollback()
                raise


class Session:
    """A transaction."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self.quoted = session.quoted

    def equal(self, there: str, gone: str, field: pa.Field) -> str:
        return f"{there} = {_value(gone, field)}"

    def same(self, there: str, gone: str, field: pa.Field) -> str:
        standing = next((text for fits, text in _STANDING if fits(field.type)), "0")
        if is_floating_decimal(field):
            standing = "0"
        hashed = f"COALESCE({there}, '{standing}') = COALESCE({_value(gone, field)}, '{standing}')"
        return f"({hashed} AND ({there} IS NULL) = ({gone} IS NULL))"

    def token(self, name: str) -> str | None:
        found = self._session.run(f"SELECT token FROM {STATES} WHERE name = $1", [name])
        return None if found is None else str(found[0])

    def keep(self, name: str, before: str | None, token: str) -> bool:
        if before is None:
            sql = f"INSERT INTO {STATES} (token, name) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1"
            return self._session.run(sql, [token, name]) is not None
        sql = f"UPDATE {STATES} SET token = $1 WHERE name = $2 AND token = $3 RETURNING 1"
        return self._session.run(sql, [token, name, before]) is not None

    def prepare(self, table: str, schema: pa.Schema, rows: int) -> None:
        if self._session.has(table):
            return
        kinds = declared(table, schema)
        listed = ", ".join(
            f"{self.quoted(name)} {'numeric' if is_floating_decimal(field) else kind}"
            for (name, kind), field in zip(kinds, schema, strict=True)
        )
        self.change(f"CREATE TABLE {self.quoted(table)} ({listed})")

    def change(self, sql: str) -> int:
        if not sql.startswith("DELETE"):
            self._session.run(sql)
            return 0
        found = self._session.run(f"WITH gone AS ({sql} RETURNING 1) SELECT COUNT(*) FROM gone")
        assert found is not None
        return int(found[0])

    def pairs(self, sql: str) -> list[tuple[int, int]]:
        return [(int(one), int(other)) for one, other in self._session.rows(sql)]

    @contextmanager
    def stage(self, rows: pa.Table) -> Iterator[None]:
        with self._staged(GONE, rows):
            yield

    def insert(self, table: str, rows: pa.Table) -> None:
        if not any(map(is_floating_decimal, rows.schema)):
            self._session.take(table, _as_rows(rows))
            return
        names = [f"c{place}" for place in range(rows.num_columns)]
        listed = ", ".join(map(self.quoted, rows.column_names))
        values = ", ".join(map(_value, names, rows.schema))
        with self._staged(COME, rows.rename_columns(names)):
            self.change(f"INSERT INTO {self.quoted(table)} ({listed}) SELECT {values} FROM {COME}")

    @contextmanager
    def _staged(self, name: str, rows: pa.Table) -> Iterator[None]:
        listed = ", ".join(f"{column} {kind}" for column, kind in declared("a table", rows.schema))
        self.change(f"CREATE TEMP TABLE {name} ({listed})")
        self._session.take(name, _as_rows(rows), temporary=True)
        self.change(f"ANALYZE {name}")
        yield
        self.change(f"DROP TABLE {name}")


def _as_rows(rows: pa.Table) -> Rows:
    return Rows(rows.schema, iter(rows.to_batches()), Checks(rows.schema))


def _value(column: str, field: pa.Field) -> str:
    """A staged value as the table's column has it."""
    return f"{column}::numeric" if is_floating_decimal(field) else column
