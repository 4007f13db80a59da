"""SQLAlchemy beside our own calls that do the same work, and what of that is SQLAlchemy's own.

A Core SELECT has to take 1.5 times as long as our cursor's `fetchall` at most (measured in turns with it, and said at
the end of the run); the ORM's bulk insert should be at least 5 times as fast as one statement for each row. What
SQLAlchemy costs whatever the driver shows a driver that does nothing: its rows are there before the SELECT. Python's
own sqlite3 is shown for comparison.
"""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import sqlalchemy as sa
from pytest_benchmark.fixture import BenchmarkFixture
from sqlalchemy.dialects import registry
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.orm import DeclarativeBase, Session

import informix_arrow as ifx

from .conftest import Address
from .measuring import measure
from .tables import seed_rows

READ_ROWS, WRITTEN_ROWS, SINGLE_ROWS = 100_000, 10_000, 500
INTO = "bench_sqlalchemy"
READERS = (
    "fetchall",
    "SQLAlchemy Core",
    "SQLAlchemy Core, scalars",
    "SQLAlchemy Core, mappings",
    "SQLAlchemy Core, yield_per=1_000",
    "SQLAlchemy Core, rows already there",
    "sqlite3 fetchall",
    "sqlite3, SQLAlchemy Core",
)
LIMITS = {"SQLAlchemy Core": 1.5}  # times as long as fetchall


def columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("k", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(64)),
        sa.Column("n", sa.Integer),
        sa.Column("x", sa.Float),
        sa.Column("d", sa.Date),
    ]


class Base(DeclarativeBase):
    pass


class Line(Base):
    __table__ = sa.Table(INTO, Base.metadata, *columns())


@pytest.fixture(scope="module")
def engine(address: Address) -> Iterator[sa.Engine]:
    given = address.arguments
    url = sa.URL.create(
        "informix",
        username=given["user"],
        password=given["password"],
        host=given["host"],
        port=given["port"],
        database=given["database"],
        query={"server": given["server"]},
    )
    made = sa.create_engine(url)
    yield made
    made.dispose()


class NullCursor:
    """A PEP 249 cursor whose rows are there."""

    description: Any = None
    rows: Any = ()
    arraysize = 1
    rowcount = -1

    def execute(self, statement: str, parameters: object) -> None:
        """Nothing."""

    def fetchall(self) -> list[Any]:
        return list(self.rows)

    def close(self) -> None:
        """Nothing."""


def null_connection(**keywords: object) -> Any:
    return SimpleNamespace(
        cursor=NullCursor, commit=lambda: None, rollback=lambda: None, close=lambda: None, autocommit=False
    )


class NullDialect(DefaultDialect):
    """SQLAlchemy's plain dialect over a driver that does nothing."""

    name = driver = "null"
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> Any:
        return SimpleNamespace(paramstyle="qmark", connect=null_connection, Error=Exception)


registry.impls["null"] = lambda: NullDialect


@pytest.fixture(params=["", ", gc off"], ids=["gc", "no gc"])
def collector(request: pytest.FixtureRequest) -> Iterator[str]:
    """With Python's cyclic garbage collector and without: it goes through other dialects' 100,000 Row objects over and
    over while they are made, which takes several times as long as to make them.
    """
    suffix: str = request.param
    if suffix:
        gc.disable()
    yield suffix
    gc.enable()


@pytest.fixture
def sqlite() -> Iterator[sqlite3.Connection]:
    """The same rows in Python's own sqlite3, days as text."""
    with sqlite3.connect(":memory:", check_same_thread=False) as connection:
        connection.execute("CREATE TABLE lines (k INTEGER, name TEXT, n INTEGER, x REAL, d TEXT)")
        rows = ((*row[:4], str(row[4])) for row in seed_rows(READ_ROWS))
        connection.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?)", rows)
    yield connection
    connection.close()


@pytest.mark.parametrize("who", READERS)
def test_selecting(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    engine: sa.Engine,
    sqlite: sqlite3.Connection,
    seeded: Callable[[int], str],
    who: str,
    collector: str,
) -> None:
    query = sa.select(sa.Table(seeded(READ_ROWS), sa.MetaData(), *columns()))
    text = str(query.compile(engine))
    cursor = conn.cursor().execute(text)
    described = [(column[0], *(None,) * 6) for column in cursor.description or ()]
    null = sa.create_engine("null://")
    lite = sa.create_engine("sqlite://", creator=lambda: sqlite, poolclass=sa.StaticPool)
    lines = sa.select(sa.Table("lines", sa.MetaData(), *columns()[:4], sa.Column("d", sa.String)))

    def core(of: sa.Engine, wanted: sa.Select[Any]) -> int:
        with of.connect() as connection:
            return len(connection.execute(wanted).fetchall())

    def yielding() -> int:
        with engine.connect() as connection:
            return sum(1 for _ in connection.execution_options(yield_per=1_000).execute(query))

    def scalars() -> int:
        with engine.connect() as connection:
            return len(connection.scalars(query).all())

    def mappings() -> int:
        with engine.connect() as connection:
            return len(connection.execute(query).mappings().all())

    ways: dict[str, Callable[[], int]] = {
        "fetchall": lambda: len(conn.cursor().execute(text).fetchall()),
        "SQLAlchemy Core": lambda: core(engine, query),
        "SQLAlchemy Core, scalars": scalars,
        "SQLAlchemy Core, mappings": mappings,
        "SQLAlchemy Core, yield_per=1_000": yielding,
        "SQLAlchemy Core, rows already there": lambda: core(null, query),
        "sqlite3 fetchall": lambda: len(sqlite.execute("SELECT k, name, n, x, d FROM lines").fetchall()),
        "sqlite3, SQLAlchemy Core": lambda: core(lite, lines),
    }
    rows = cursor.fetchall() if "already there" in who else []
    cursor.close()
    beside = ("fetchall", ways["fetchall"]) if who in LIMITS else None
    with mock.patch.multiple(NullCursor, description=described, rows=rows):
        found = measure(
            benchmark,
            "SQLAlchemy: read 100,000 rows",
            f"{who}{collector}",
            ways[who],
            rows=READ_ROWS,
            beside=beside,
        )
    assert found == READ_ROWS
    assert beside is None or benchmark.extra_info["times"] < LIMITS[who]


@pytest.mark.parametrize("who", ["a statement a row", "executemany", "ORM bulk insert"])
def test_inserting(benchmark: BenchmarkFixture, conn: ifx.Connection, engine: sa.Engine, who: str) -> None:
    table = Line.__table__
    number = SINGLE_ROWS if who == "a statement a row" else WRITTEN_ROWS
    rows = seed_rows(number)
    names = [column.name for column in table.columns]
    mappings = [dict(zip(names, row, strict=True)) for row in rows]
    insert = sa.insert(Line)
    text = str(sa.insert(sa.Table(INTO, sa.MetaData(), *columns())).compile(engine))

    def row_by_row() -> None:
        with Session(engine) as session:
            for mapping in mappings:
                session.execute(insert, mapping)
            session.commit()

    def many() -> None:
        with conn.transaction():
            conn.cursor().executemany(text, rows)

    def bulk() -> None:
        with Session(engine) as session:
            session.execute(insert, mappings)
            session.commit()

    ways: dict[str, Callable[[], None]] = {
        "a statement a row": row_by_row,
        "executemany": many,
        "ORM bulk insert": bulk,
    }

    def work() -> None:
        conn.execute(f"TRUNCATE TABLE {INTO}")
        ways[who]()

    Base.metadata.create_all(engine)
    try:
        measure(benchmark, "SQLAlchemy: insert rows", who, work, rows=number)
        (stored,) = conn.read_arrow(f"SELECT COUNT(*) c, SUM(k + n) s FROM {INTO}").to_pylist()
    finally:
        Base.metadata.drop_all(engine)
    assert (stored["c"], stored["s"]) == (number, 0)
