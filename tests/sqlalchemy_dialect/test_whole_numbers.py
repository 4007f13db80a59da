"""COUNT and SUM of integers, which Informix returns as DECIMALs, and NULL as a value and in a condition."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine


@pytest.fixture
def orders(engine: Engine) -> Iterator[tuple[Connection, sa.Table]]:
    table = sa.Table(
        "whole_numbers",
        sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("small", sa.SmallInteger),
        sa.Column("big", sa.BigInteger),
        sa.Column("total", sa.Numeric(8, 2)),
    )
    with engine.connect() as connection:
        table.create(connection)
        rows = [(1, 1, 2**62, "0.50"), (2, None, 2**62, None), (3, 3, 2**62, "2.00")]
        values = [dict(zip(table.columns.keys(), row, strict=True)) for row in rows]
        connection.execute(
            table.insert(), [{**row, "total": row["total"] and Decimal(row["total"])} for row in values]
        )
        yield connection, table


def test_counts_and_sums_of_whole_numbers_are_ints(orders: tuple[Connection, sa.Table]) -> None:
    connection, t = orders
    found = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.count(t.c.small),
            sa.func.count(sa.distinct(t.c.big)),
            sa.func.sum(t.c.id),
            sa.func.sum(t.c.small),
            sa.func.sum(t.c.big),
            sa.func.max(t.c.big),
            sa.func.sum(t.c.total),
        )
    ).one()
    assert tuple(found) == (3, 2, 1, 6, 4, 3 * 2**62, 2**62, Decimal("2.50"))
    assert [type(value) for value in found] == [int] * 7 + [Decimal]


def test_a_decimal_that_is_said_to_be_an_integer_and_is_not_whole_stays_what_it_is(
    orders: tuple[Connection, sa.Table],
) -> None:
    connection, t = orders
    found = (
        connection.execute(sa.select(sa.type_coerce(t.c.total, sa.Integer)).order_by(t.c.id)).scalars().all()
    )
    assert found == [Decimal("0.50"), None, 2]
    assert type(found[2]) is int


def test_null_can_be_asked_for_in_a_list_of_columns(orders: tuple[Connection, sa.Table]) -> None:
    connection, t = orders
    missing = sa.func.sum(sa.case((t.c.small.is_(sa.null()), 1), else_=0))
    there = sa.func.sum(sa.case((sa.and_(t.c.small.is_not(sa.null()), t.c.id > 0), 1), else_=0))
    assert tuple(connection.execute(sa.select(missing, there)).one()) == (1, 2)


def test_null_in_a_case_does_not_make_text_of_the_other_values(orders: tuple[Connection, sa.Table]) -> None:
    connection, t = orders
    value = sa.case((t.c.id == 1, sa.null()), else_=t.c.id)
    other = sa.case((t.c.id == 1, t.c.total), else_=sa.null())
    found = connection.execute(sa.select(value, other, sa.null(), t.c.id).order_by(t.c.id)).all()
    assert [tuple(row) for row in found] == [
        (None, Decimal("0.50"), None, 1),
        (2, None, None, 2),
        (3, None, None, 3),
    ]


def test_null_alone_in_a_subquery_of_a_condition_keeps_its_type(orders: tuple[Connection, sa.Table]) -> None:
    connection, t = orders
    inner = sa.select(sa.null()).select_from(t).where(t.c.id == 1).scalar_subquery()
    value = sa.case((t.c.id == 1, sa.null()), else_=t.c.id)
    query = sa.select(value).where(inner.is_(None)).order_by(t.c.id)
    assert connection.execute(query).scalars().all() == [None, 2, 3]
