"""SQLAlchemy beside our own calls that do the same work.

A Core SELECT may take 1.5 times as long as our cursor's `fetchall`; the ORM's bulk insert has to be at least 5 times as
fast as one statement for each row. The fastest round of each, measured in one run, is held against that.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from pytest_benchmark.fixture import BenchmarkFixture
from sqlalchemy.orm import DeclarativeBase, Session

import informix_arrow as ifx

from .conftest import Address
from .measuring import measure
from .tables import seed_rows

READ_ROWS, WRITTEN_ROWS, SINGLE_ROWS = 100_000, 10_000, 500
READING, BULK = 1.5, 5.0
INTO = "bench_sqlalchemy"

fastest: dict[str, float] = {}


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


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Python's cyclic garbage collector off: it goes through SQLAlchemy's 100,000 Row objects over and over while they
    are made, which takes several times as long as to make them, whatever the dialect. The report shows that as well.
    """
    gc.disable()
    yield
    gc.enable()


def selecting(
    benchmark: BenchmarkFixture, conn: ifx.Connection, engine: sa.Engine, table_name: str, who: str
) -> float:
    query = sa.select(sa.Table(table_name, sa.MetaData(), *columns()))
    text = str(query.compile(engine))

    def ours() -> int:
        return len(conn.cursor().execute(text).fetchall())

    def core() -> int:
        with engine.connect() as connection:
            return len(connection.execute(query).fetchall())

    work = core if who.startswith("SQLAlchemy") else ours
    assert measure(benchmark, "SQLAlchemy: read 100,000 rows", who, work, rows=READ_ROWS) == READ_ROWS
    stats: Any = benchmark.stats
    least: float = stats.stats.min
    return least


@pytest.mark.parametrize("who", ["fetchall", "SQLAlchemy Core"])
def test_selecting(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    engine: sa.Engine,
    seeded: Callable[[int], str],
    who: str,
) -> None:
    selecting(benchmark, conn, engine, seeded(READ_ROWS), who)


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("who", ["fetchall, gc off", "SQLAlchemy Core, gc off"])
def test_selecting_without_the_collector(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    engine: sa.Engine,
    seeded: Callable[[int], str],
    who: str,
) -> None:
    fastest[who] = selecting(benchmark, conn, engine, seeded(READ_ROWS), who)
    if who.startswith("SQLAlchemy") and "fetchall, gc off" in fastest:
        ratio = fastest[who] / fastest["fetchall, gc off"]
        assert ratio <= READING, f"Core takes {ratio:.2f} x fetchall"


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
    stats: Any = benchmark.stats
    fastest[who] = stats.stats.min / number
    if who == "ORM bulk insert" and "a statement a row" in fastest:
        ratio = fastest["a statement a row"] / fastest[who]
        assert ratio >= BULK, f"the bulk insert is {ratio:.1f} times as fast as a statement a row"
