"""SQL functions that Informix does not have, or has under another name."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

VALUES = sa.Table(
    "values_of_functions",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("part", sa.String(9)),
    sa.Column("whole", sa.Integer),
    sa.Column("exact", sa.Numeric(12, 4)),
    sa.Column("real", sa.Double),
)
ROWS: list[tuple[Any, ...]] = [
    (1, "a", 2, Decimal("1000000.0001"), 1e9),
    (2, "a", 4, Decimal("1000000.0002"), 1e9 + 1),
    (3, "a", 4, Decimal("1000000.0004"), 1e9 + 3),
    (4, "a", None, None, None),
    (5, "same", 7, Decimal("0.1"), 0.1),
    (6, "same", 7, Decimal("0.1"), 0.1),
    (7, "one", -3, Decimal(5), 5.5),
    (8, "none", None, None, None),
]
SPREADS = {
    "stddev_samp": statistics.stdev,
    "var_samp": statistics.variance,
    "stddev_pop": statistics.pstdev,
    "var_pop": statistics.pvariance,
}


@pytest.fixture
def connection(engine: Engine) -> Iterator[sa.Connection]:
    with engine.begin() as connection:
        VALUES.create(connection)
        names = [column.name for column in VALUES.columns]
        connection.execute(VALUES.insert(), [dict(zip(names, row, strict=True)) for row in ROWS])
        yield connection


@pytest.mark.parametrize("column", ["whole", "exact", "real"])
@pytest.mark.parametrize("name", SPREADS)
def test_spreads_are_those_of_a_sample_or_of_a_population(
    connection: sa.Connection, name: str, column: str
) -> None:
    """Results equal those of Python's statistics, and NULL if there are too few values."""
    query = sa.select(VALUES.c.part, getattr(sa.func, name)(VALUES.c[column])).group_by(VALUES.c.part)
    found = {row[0]: row[1] for row in connection.execute(query)}
    position = list(VALUES.columns).index(VALUES.c[column])
    for part in ("a", "same", "one", "none"):
        values = [row[position] for row in ROWS if row[1] == part and row[position] is not None]
        if len(values) < (2 if name.endswith("samp") else 1):
            assert found[part] is None
        else:
            assert found[part] == pytest.approx(float(SPREADS[name](values)), rel=1e-9)


def test_a_spread_has_parameters_and_a_place_in_having_and_order_by(connection: sa.Connection) -> None:
    spread = sa.func.stddev_samp(VALUES.c.whole * 10 + sa.literal(1))
    query = (
        sa.select(VALUES.c.part, spread.label("spread"), sa.func.var_samp(VALUES.c.whole + 0.5))
        .where(VALUES.c.id > 0)
        .group_by(VALUES.c.part)
        .having(sa.func.var_pop(VALUES.c.whole) >= 0)
        .having(sa.func.count() > 1)
        .order_by(sa.desc("spread"))
    )
    rows = connection.execute(query).all()
    assert [row.part for row in rows] == ["a", "same"]
    assert [row.spread for row in rows] == pytest.approx([statistics.stdev([20, 40, 40]), 0])
    assert [row[2] for row in rows] == pytest.approx([statistics.variance([2, 4, 4]), 0])


@pytest.mark.parametrize("name", SPREADS)
def test_a_spread_that_would_be_another_value_is_refused(engine: Engine, name: str) -> None:
    function = getattr(sa.func, name)
    for refused in (
        function(sa.distinct(VALUES.c.whole)),
        function(VALUES.c.whole, VALUES.c.real),
        function(VALUES.c.whole).over(partition_by=VALUES.c.part),
    ):
        with pytest.raises(sa.exc.CompileError, match=name):
            sa.select(refused).compile(engine)
