"""A session of the SQL engine without sockets, and short functions to run statements on it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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


class Engines:
    """Engines that tests use one after another, as a new one costs as much as a hundred statements. Call `close` at the
    end."""

    EMPTY = "kept_empty"

    def __init__(self) -> None:
        self.idle: list[Engine] = []
        self.copy_empty = ""

    @contextmanager
    def borrow(self) -> Iterator[Engine]:
        """Yield an engine without sessions, with stores_demo as the last test left it."""
        engine = self.idle.pop() if self.idle else self.create()
        try:
            yield engine
            clean(engine)
        except BaseException:  # if it cannot be cleaned, the next test gets another one
            engine.close()
            raise
        self.idle.append(engine)

    def create(self) -> Engine:
        engine = new_engine()
        self.copy_empty = keep(engine, self.EMPTY)
        return engine

    def close(self) -> None:
        for engine in self.idle:
            engine.close()


class Copies:
    """A database that is created once for each engine and copied for each test. A copy costs as much as one CREATE
    TABLE.

    `fill` creates the content, in an empty stores_demo. Call `close` at the end.
    """

    def __init__(self, engines: Engines, fill: Callable[[Db], None]) -> None:
        self.engines, self.fill = engines, fill
        self.kept = f"kept_{next(_NUMBERS)}"
        self.kept_in: list[Engine] = []
        self.copy_again = ""

    def engine(self) -> Iterator[Engine]:
        """Yield an engine for one test or one module, with stores_demo as `fill` left it."""
        with self.engines.borrow() as engine:
            if engine in self.kept_in:
                replace(engine, self.copy_again)
            else:
                self.create(engine)
            yield engine

    def create(self, engine: Engine) -> None:
        replace(engine, self.engines.copy_empty)
        db = connect(engine)
        self.fill(db)
        db.session.close()
        self.copy_again = keep(engine, self.kept)
        self.kept_in.append(engine)

    def close(self) -> None:
        for engine in self.kept_in:
            if engine in self.engines.idle:
                engine.databases._con.execute(f"DETACH {self.kept}")


_NUMBERS = itertools.count()


def keep(engine: Engine, name: str) -> str:
    """Copy the current stores_demo into a database that only DuckDB knows. Return SQL that copies it back.

    COPY FROM DATABASE with the rows takes twice as long: it copies each empty table too, and most tables of the
    catalogue are empty.
    """
    con, target = engine.databases._con, duck_database("stores_demo")
    con.execute(f"ATTACH ':memory:' AS {name}; COPY FROM DATABASE {target} TO {name}")
    statements = [f"ATTACH ':memory:' AS {target}", f"COPY FROM DATABASE {name} TO {target} (SCHEMA)"]
    tables = con.execute(
        f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{name}'"
    ).fetchall()
    for schema, table in tables:
        place = f"{double_quoted(schema)}.{double_quoted(table)}"
        if con.execute(f"SELECT 1 FROM {name}.{place} LIMIT 1").fetchone():
            statements.append(f"INSERT INTO {target}.{place} FROM {name}.{place}")
    return "; ".join(statements)


def replace(engine: Engine, copy: str) -> None:
    """Replace stores_demo by a copy that the SQL ``copy`` creates."""
    databases = engine.databases
    databases._con.execute(f"DETACH {duck_database('stores_demo')}; {copy}")
    databases.version += 1
    for known in (engine.change_log, engine.serials, engine.numbers):
        known.forget("stores_demo")
    engine.schema_version.increment()


def copies(engines: Engines, fill: Callable[[Db], None]) -> Iterator[Copies]:
    """Yield the copies for a fixture of a module."""
    made = Copies(engines, fill)
    yield made
    made.close()


def clean(engine: Engine) -> None:
    """End all sessions and drop all databases but sysmaster and stores_demo."""
    for session in engine.sessions.all():
        session.close()
    engine.databases.get("stores_demo")  # a test that drops it must open its own engine
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
