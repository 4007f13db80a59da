"""Rows of results: created in chunks, untracked by the garbage collector, and otherwise like SQLAlchemy's own."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.engine import Row, RowMapping
from sqlalchemy.ext.asyncio import create_async_engine

from informix_arrow.sqlalchemy import DeclaredType, results

CHUNK_ROWS = 64
"""Rows of a chunk in these tests: an eighth of the real number, which tests the same boundaries."""

COUNT = 3 * CHUNK_ROWS + 7
LINES = sa.Table(
    "lines_of_results",
    sa.MetaData(),
    sa.Column("k", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(20)),
    sa.Column("price", sa.Numeric(10, 2)),
    sa.Column("at", sa.DateTime),
    sa.Column("flag", sa.Boolean),
    sa.Column("after", sa.Integer),
)
EXPECTED = [
    (k, f"line {k}", Decimal(k) / 4, dt.datetime(2026, 1, 1) + dt.timedelta(minutes=k), k % 2 == 0, -k)
    for k in range(COUNT)
]
QUERY = sa.select(LINES).order_by(LINES.c.k)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "CHUNK_ROWS", CHUNK_ROWS)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    LINES.create(engine)
    names = [column.name for column in LINES.columns]
    with engine.begin() as connection:
        connection.execute(LINES.insert(), [dict(zip(names, row, strict=True)) for row in EXPECTED])
    return engine


def looked_at(rows: Any) -> int:
    return sum(map(gc.is_tracked, rows))


def test_rows_of_plain_values_are_not_looked_at(filled: Engine) -> None:
    with filled.connect() as connection:
        rows = connection.execute(QUERY).fetchall()
        assert rows == EXPECTED
        assert {type(row) for row in rows} == {Row}
        assert looked_at(rows) == 0
        assert (rows[-1].price, rows[-1]._mapping[LINES.c.after]) == (EXPECTED[-1][2], 1 - COUNT)
        assert looked_at(connection.execute(sa.text(f"SELECT * FROM {LINES.name}")).all()) == 0
        mappings = connection.execute(QUERY).mappings().all()
        assert {type(row) for row in mappings} == {RowMapping}
        assert looked_at(mappings) == 0
        assert [tuple(row.values()) for row in mappings] == EXPECTED
    assert gc.isenabled()


def test_parts_of_every_size_are_all_rows_in_order(filled: Engine) -> None:
    with filled.connect() as connection:
        for size in (1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 2 * CHUNK_ROWS + 3, COUNT, COUNT + 1):
            result = connection.execute(QUERY)
            parts = list(iter(lambda result=result, size=size: result.fetchmany(size), []))
            assert result.fetchmany(size) == []
            assert result.fetchall() == []
            assert [len(part) for part in parts] == [min(size, COUNT - at) for at in range(0, COUNT, size)]
            assert [row for part in parts for row in part] == EXPECTED
            assert sum(map(looked_at, parts)) == 0
            again = connection.execute(QUERY).partitions(size)
            assert [len(part) for part in again] == list(map(len, parts))
            taken = connection.execute(QUERY)
            assert [*taken.fetchmany(size), *taken.all()] == EXPECTED
            streamed = connection.execute(QUERY, execution_options={"yield_per": size})
            assert [*streamed.fetchmany(), *streamed.fetchmany(3), *streamed.all()] == EXPECTED
        one = connection.execute(QUERY)
        assert [one.fetchone(), *one.all()] == EXPECTED


def test_columns_scalars_unique_and_processed_values(filled: Engine) -> None:
    with filled.connect() as connection:
        assert connection.execute(QUERY).scalars().all() == list(range(COUNT))
        assert connection.execute(QUERY).scalars("flag").unique().all() == [True, False]
        assert connection.scalars(QUERY).fetchmany(CHUNK_ROWS + 1) == list(range(CHUNK_ROWS + 1))
        narrow = connection.execute(QUERY).columns("after", "k").all()
        assert narrow == [(row[5], row[0]) for row in EXPECTED]
        assert looked_at(narrow) == 0
        counted = sa.select(LINES.c.k, sa.func.count(), sa.func.sum(LINES.c.k)).group_by(LINES.c.k)
        rows = connection.execute(counted.order_by(LINES.c.k)).all()  # DECIMALs converted to integers
        assert rows == [(k, 1, k) for k in range(COUNT)]
        assert looked_at(rows) == 0
        once = connection.execute(sa.select(LINES.c.flag)).unique().fetchmany(CHUNK_ROWS + 1)
        assert [row[0] for row in once] == [True, False]
        frozen = connection.execute(QUERY).freeze()
        assert frozen().all() == EXPECTED
        last = QUERY.where(LINES.c.k >= COUNT - CHUNK_ROWS - 3)  # each row is fetched and locked alone
        assert connection.execute(last.with_for_update()).all() == EXPECTED[-CHUNK_ROWS - 3 :]
        connection.rollback()


def test_rows_that_hold_lists_are_looked_at(filled: Engine) -> None:
    table = sa.Table(
        "sets_of_results",
        sa.MetaData(),
        sa.Column("k", sa.Integer),
        sa.Column("words", DeclaredType("SET(INTEGER NOT NULL)")),
        sa.Column("after", sa.Integer),
    )
    table.create(filled)
    with filled.connect() as connection:
        connection.exec_driver_sql("INSERT INTO sets_of_results VALUES (1, 'SET{1}', 3)")
        rows = connection.execute(sa.select(table)).all()
        assert (rows[0].k, list(rows[0].words), rows[0].after) == (1, [1], 3)
        assert looked_at(rows) == 1


def test_asyncio(filled: Engine) -> None:
    async def main() -> None:
        engine = create_async_engine(filled.url)
        async with engine.connect() as connection:
            rows = (await connection.execute(QUERY)).all()
            assert rows == EXPECTED
            assert looked_at(rows) == 0
            streamed = await connection.stream(QUERY)
            assert [*await streamed.fetchmany(CHUNK_ROWS + 1), *await streamed.all()] == EXPECTED
        await engine.dispose()

    asyncio.run(main())
