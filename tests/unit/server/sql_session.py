"""A session of the SQL engine without sockets, and short functions to run statements on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from informix_arrow.server.catalog.catalog import duck_database
from informix_arrow.server.errors import SqlError
from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.duck_instance import ResourceLimits
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import EngineSession, open_session
from informix_arrow.server.session.lob_calls import Client
from informix_arrow.server.session.prepared_plan import StatementOutcome
from informix_arrow.wire.quoting import double_quoted

VERSION = "IBM Informix Dynamic Server Version 14.10.FC7W1DE"


class Db:
    """One engine session; `rows` for queries, `run` for everything else, `fails` for the code of an error."""

    def __init__(self, session: EngineSession) -> None:
        self.session = session

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        result = self.session.query(self.session.prepare(sql), params)
        return [
            row for b in result.batches() for row in zip(*[c.to_pylist() for c in b.columns], strict=True)
        ]

    def value(self, sql: str, *params: object) -> Any:
        ((value,),) = self.rows(sql, *params)
        return value

    def types(self, sql: str) -> list[tuple[str, str]]:
        return [(c.name, c.type.sql) for c in self.session.prepare(sql).columns]

    def run(self, sql: str, *params: object) -> StatementOutcome:
        return self.session.execute(self.session.prepare(sql), params)

    def many(
        self, sql: str, rows: Sequence[Sequence[object]], **options: bool
    ) -> list[StatementOutcome | SqlError]:
        return self.session.execute_many(self.session.prepare(sql), rows, **options)

    def fails(self, sql: str, *params: object) -> SqlError:
        """Return the error that preparing or running the statement raises."""
        with pytest.raises(SqlError) as caught:
            self.attempt(sql, params)
        return caught.value

    def attempt(self, sql: str, params: tuple[object, ...]) -> None:
        prepared = self.session.prepare(sql)
        if prepared.returns_rows:
            self.session.query(prepared, params)
        else:
            self.session.execute(prepared, params)


def new_engine() -> Engine:
    # Each core has a worker with tests of small tables: more threads of DuckDB would only cost time.
    return Engine(None, "informix", VERSION, SplLibrary(), ResourceLimits(threads=1))


def open_engine() -> Iterator[Engine]:
    engine = new_engine()
    yield engine
    engine.close()


class Copies:
    """A database that is created once and copied for each test. A copy costs as much as one CREATE TABLE.

    `fill` creates the content, in stores_demo. Call `close` at the end.
    """

    KEPT = "kept_for_tests"

    def __init__(self, fill: Callable[[Db], None]) -> None:
        self.fill = fill
        self.kept: Engine | None = None
        self.copy_again = ""

    def engine(self) -> Iterator[Engine]:
        """Yield an engine for one test, with stores_demo as `fill` left it."""
        engine = self.kept = self.kept or self.made()
        try:
            yield engine
        finally:
            self.kept = None  # if it cannot be cleaned, the next test gets another one
            try:
                clean(engine)
                record = engine.databases.get("stores_demo")
                engine.drop_database("stores_demo")
                engine.databases._con.execute(self.copy_again)
                engine.databases._register(record)
                self.kept = engine
            finally:
                if self.kept is None:
                    engine.close()

    def made(self) -> Engine:
        engine = new_engine()
        try:
            db = connect(engine)
            self.fill(db)
            db.session.close()
            engine.databases._con.execute(
                f"ATTACH ':memory:' AS {self.KEPT}; COPY FROM DATABASE {duck_database('stores_demo')} TO {self.KEPT}"
            )
            self.copy_again = self.copy_statements(engine)
        except BaseException:
            engine.close()
            raise
        return engine

    def copy_statements(self, engine: Engine) -> str:
        """Return SQL that copies the kept database. COPY FROM DATABASE with the rows takes twice as long: it copies
        each empty table too, and most tables of the catalogue are empty."""
        target = duck_database("stores_demo")
        tables = engine.databases._con.execute(
            f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{self.KEPT}'"
        ).fetchall()
        statements = [
            f"ATTACH ':memory:' AS {target}",
            f"COPY FROM DATABASE {self.KEPT} TO {target} (SCHEMA)",
        ]
        for schema, name in tables:
            table = f"{double_quoted(schema)}.{double_quoted(name)}"
            if engine.databases._con.execute(f"SELECT 1 FROM {self.KEPT}.{table} LIMIT 1").fetchone():
                statements.append(f"INSERT INTO {target}.{table} FROM {self.KEPT}.{table}")
        return "; ".join(statements)

    def close(self) -> None:
        if self.kept is not None:
            self.kept.close()


def copies(fill: Callable[[Db], None]) -> Iterator[Copies]:
    """Yield the copies for a fixture of a module."""
    made = Copies(fill)
    yield made
    made.close()


def clean(engine: Engine) -> None:
    """End all sessions and drop all databases but sysmaster and stores_demo."""
    for session in engine.sessions.all():
        session.close()
    for name in engine.databases.names():
        if name not in ("sysmaster", "stores_demo"):
            engine.drop_database(name)
    engine.python_routines.clear()


def connect(
    engine: Engine, database: str = "stores_demo", client: Client | None = None, **environment: str
) -> Db:
    session = open_session(engine, "informix", environment, client)
    session.open_database(database)
    return Db(session)
