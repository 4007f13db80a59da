"""Each type of SQLAlchemy's and of Informix's is written to a table and read back, with a column after it."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Column, Engine, Integer, MetaData, Table, types

from informix_arrow import YearMonthInterval
from informix_arrow.sqlalchemy import (
    BIGSERIAL,
    BSON,
    BYTE,
    DATETIME,
    INT8,
    INTERVAL,
    LVARCHAR,
    MONEY,
    SERIAL8,
    SMALLFLOAT,
    TIME,
    DeclaredType,
)


class Colour(enum.Enum):
    rouge = "rouge"
    grün = "grün"  # five bytes


ROUND_TRIPS: list[tuple[str, Any, list[Any]]] = [
    ("SMALLINT", types.SmallInteger(), [0, 32767, -32767]),
    ("INTEGER", types.Integer(), [0, 2**31 - 1, -(2**31) + 1]),
    ("BIGINT", types.BigInteger(), [0, 2**63 - 1, -(2**63) + 1]),
    ("INT8", INT8(), [0, 2**63 - 1]),
    ("FLOAT", types.Float(), [0.0, 1.7976931348623157e308, -5e-300]),
    ("FLOAT", types.Double(), [0.1, -0.1]),
    ("SMALLFLOAT", types.REAL(), [0.5, -(2.0**100)]),
    ("SMALLFLOAT", SMALLFLOAT(), [0.25]),
    ("DECIMAL(12, 2)", types.Numeric(12, 2), [Decimal("0.00"), Decimal("9999999999.99"), Decimal("-0.01")]),
    (
        "DECIMAL(32)",
        types.Numeric(),
        [Decimal("1.5"), Decimal("12345678901234567890123456789012"), Decimal("1E-20")],
    ),
    ("MONEY(16, 2)", MONEY(), [Decimal("3.50")]),
    ("VARCHAR(8)", types.String(8), ["", "réveil", "12345678", " pad "]),
    ("LVARCHAR(2000)", types.String(2000), ["", "é" * 1000]),
    ("LVARCHAR(300)", LVARCHAR(300), ["", "x" * 300]),
    ("CHAR(4)", types.CHAR(4), ["ab", "abcd"]),
    ("NCHAR(4)", types.NCHAR(4), ["ab"]),
    ("NVARCHAR(9)", types.NVARCHAR(9), ["", "été"]),
    ("TEXT", types.Text(), ["x", "é" * 100_000]),
    ("CLOB", types.CLOB(), ["x", "é" * 100_000]),
    ("BYTE", types.LargeBinary(), [b"\0\xff", b"x" * 100_000]),
    ("BYTE", BYTE(), [b"\0"]),
    ("BLOB", types.BLOB(), [b"\0\xff"]),
    ("BOOLEAN", types.Boolean(), [True, False]),
    ("DATE", types.Date(), [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2024, 2, 29)]),
    (
        "DATETIME YEAR TO FRACTION(5)",
        types.DateTime(),
        [dt.datetime(1, 1, 1), dt.datetime(2026, 1, 31, 23, 59, 59, 999_990)],
    ),
    ("DATETIME HOUR TO FRACTION(5)", types.Time(), [dt.time(0), dt.time(23, 59, 59, 999_990)]),
    ("DATETIME YEAR TO MINUTE", DATETIME("YEAR TO MINUTE"), [dt.datetime(2026, 1, 31, 23, 59)]),
    ("DATETIME HOUR TO SECOND", DATETIME("HOUR TO SECOND"), [dt.time(23, 59, 58)]),
    ("DATETIME HOUR TO MINUTE", TIME("HOUR TO MINUTE"), [dt.time(0), dt.time(23, 59)]),
    (
        "INTERVAL DAY(9) TO FRACTION(5)",
        types.Interval(),
        [dt.timedelta(0), dt.timedelta(days=-3, microseconds=10), dt.timedelta(days=999_999)],
    ),
    ("INTERVAL HOUR(4) TO MINUTE", INTERVAL("HOUR(4) TO MINUTE"), [dt.timedelta(hours=1000, minutes=5)]),
    ("CHAR(32)", types.Uuid(), [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)]),
    ("VARCHAR(5)", types.Enum(Colour), [Colour.rouge, Colour.grün]),
    ("VARCHAR(5)", types.Enum("a", "grün"), ["a", "grün"]),
    ("SET(INTEGER NOT NULL)", DeclaredType("SET(INTEGER NOT NULL)"), [[1, 2]]),
    ("JSON", types.JSON(), [{"a": [1, None, "é"]}, [], [{"b": 1.5}]]),
    ("BSON", BSON(), [{"a": [1, None, "é"], "t": dt.datetime(2026, 1, 2, 3, 4, 5)}, {}, {"n": 2**40}]),
]


@pytest.mark.parametrize(
    ("declared", "type_", "values"), ROUND_TRIPS, ids=[f"{n}-{each[0]}" for n, each in enumerate(ROUND_TRIPS)]
)
def test_values_come_back_as_they_went_in_and_leave_the_next_column_alone(
    engine: Engine, declared: str, type_: Any, values: list[Any]
) -> None:
    assert type_.compile(engine.dialect) == declared
    table = Table("t", MetaData(), Column("id", Integer), Column("x", type_), Column("tail", Integer))
    rows = [(number, value, 7) for number, value in enumerate([*values, None])]
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(table.insert(), [dict(zip(("id", "x", "tail"), row, strict=True)) for row in rows])
        assert [tuple(row) for row in connection.execute(sa.select(table).order_by(table.c.id))] == rows
        one = connection.execute(sa.select(table.c.x, table.c.tail).where(table.c.id == 0)).one()
        assert tuple(one) == (values[0], 7)


@pytest.mark.parametrize(
    ("type_", "declared"),
    [
        (types.String(255), "VARCHAR(255)"),
        (types.String(256), "LVARCHAR(256)"),
        (types.String(32739), "LVARCHAR(32739)"),
        (BIGSERIAL(5), "BIGSERIAL(5)"),
        (SERIAL8(), "SERIAL8"),
        (types.Numeric(5), "DECIMAL(5)"),
        (types.Unicode(20), "VARCHAR(20)"),
        (types.TIMESTAMP(), "DATETIME YEAR TO FRACTION(5)"),
    ],
)
def test_a_type_is_declared_as(engine: Engine, type_: Any, declared: str) -> None:
    assert type_.compile(engine.dialect) == declared


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (types.String(), r"needs a length.*Text"),
        (types.String(32740), r"1 to 32739 bytes, not 32740"),
        (types.NVARCHAR(256), r"at most 255 bytes"),
        (types.Numeric(38, 10), r"1 to 32 digits, not 38"),
        (types.Numeric(5, 6), r"0 to 5 digits after the point"),
    ],
)
def test_a_type_that_no_column_can_have_is_refused(engine: Engine, type_: Any, message: str) -> None:
    with pytest.raises(sa.exc.CompileError, match=message):
        type_.compile(engine.dialect)


def test_a_datetime_is_rounded_to_five_digits_and_nothing_else_is(engine: Engine) -> None:
    table = Table(
        "t",
        MetaData(),
        Column("moment", types.DateTime),
        Column("hour", types.Time),
        Column("span", types.Interval),
        Column("day", types.Date),
        Column("tail", Integer),
    )
    table.create(engine)
    given = [dt.datetime(2026, 1, 31, 23, 59, 59, micros) for micros in (999_995, 123_454, 123_455, 123_450)]
    with engine.begin() as connection:
        for number, moment in enumerate(given):
            connection.execute(table.insert().values(moment=moment, tail=number))
        found = connection.scalars(sa.select(table.c.moment).order_by(table.c.tail)).all()
    assert found == [
        dt.datetime(2026, 2, 1),
        dt.datetime(2026, 1, 31, 23, 59, 59, 123_450),
        dt.datetime(2026, 1, 31, 23, 59, 59, 123_460),
        dt.datetime(2026, 1, 31, 23, 59, 59, 123_450),
    ]
    for name, value in [
        ("hour", dt.time(1, 2, 3, 4)),
        ("span", dt.timedelta(microseconds=1)),
        ("day", dt.datetime(2026, 1, 31, 1)),
    ]:
        with pytest.raises(sa.exc.DataError), engine.begin() as connection:
            connection.execute(table.insert().values({name: value, "tail": 9}))
    with engine.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(table)) == len(given)


@pytest.mark.filterwarnings("ignore:The server truncated text")
def test_a_text_counts_bytes_and_one_that_would_be_cut_is_an_error(engine: Engine) -> None:
    table = Table("t", MetaData(), Column("name", types.String(8)), Column("tail", Integer))
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert().values(name="réveil", tail=1))
    for statement, values in [
        (table.insert(), {"name": "réveillé", "tail": 2}),
        (table.insert(), [{"name": "kurz", "tail": 2}, {"name": "réveillé", "tail": 3}]),
        (table.update(), {"name": "réveillé"}),
        (sa.text("INSERT INTO t VALUES (:name, :tail)"), {"name": "réveillé", "tail": 2}),
        (sa.text("INSERT INTO t VALUES ('réveillé', 2)"), {}),
    ]:
        with (
            pytest.raises(sa.exc.DataError, match=r"too long for VARCHAR\(8\)|truncated text"),
            engine.begin() as one,
        ):
            one.execute(statement, values)
    with engine.connect() as connection:
        assert [tuple(row) for row in connection.execute(sa.select(table))] == [("réveil", 1)]
        # A condition with a text that the column cannot hold is not an error.
        assert connection.execute(sa.select(table).where(table.c.name == "a text of more bytes")).all() == []


def test_literals_are_what_parameters_are(engine: Engine) -> None:
    values: list[tuple[Any, Any]] = [
        (types.Date(), dt.date(2026, 1, 31)),
        (types.DateTime(), dt.datetime(2026, 1, 31, 1, 2, 3, 123_450)),
        (types.Time(), dt.time(1, 2, 3, 40)),
        (types.Interval(), dt.timedelta(days=-1, hours=-2, microseconds=-50)),
        (types.Boolean(), True),
        (types.Boolean(), False),
        (types.String(30), "it's 'quoted' \\ \"here\""),
        (types.String(30), "two\nlines\r\n"),
        (types.Numeric(12, 3), Decimal("-12.345")),
        (types.Integer(), -5),
        (types.Uuid(), uuid.UUID(int=7)),
    ]
    with engine.begin() as connection:
        for number, (type_, value) in enumerate(values):
            table = Table(f"t{number}", MetaData(), Column("x", type_), Column("tail", Integer))
            table.create(connection)
            statement = table.insert().values(x=sa.literal(value, type_, literal_execute=True), tail=7)
            connection.execute(statement)
            same = table.c.x == sa.literal(value, type_, literal_execute=True)
            assert tuple(connection.execute(sa.select(table).where(same)).one()) == (value, 7)
            assert tuple(connection.execute(sa.select(table).where(table.c.x == value)).one()) == (value, 7)


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (types.DateTime(), dt.datetime(2026, 1, 31, 23, tzinfo=dt.timezone.utc), "has a time zone"),
        (DATETIME("YEAR TO SECOND"), dt.datetime(2026, 1, 31, 23, tzinfo=dt.timezone.utc), "has a time zone"),
        (types.Time(), dt.time(23, 1, tzinfo=dt.timezone.utc), "has a time zone"),
        (types.Date(), dt.datetime(2026, 1, 31, 1), "more precision"),
        (types.Time(), dt.time(1, 2, 3, 4), "more precision"),
        (DATETIME("YEAR TO SECOND"), dt.datetime(2026, 1, 31, 1, 2, 3, 4), "more precision"),
        (DATETIME("YEAR TO MINUTE"), dt.datetime(2026, 1, 31, 1, 2, 3), "more precision"),
        (DATETIME("YEAR TO SECOND"), dt.time(1, 2, 3), "has no YEAR"),
    ],
)
def test_a_literal_that_would_lose_a_part_is_refused(
    engine: Engine, type_: Any, value: Any, message: str
) -> None:
    shown = sa.select(sa.literal(value, type_, literal_execute=True), sa.literal(7))
    with pytest.raises(sa.exc.CompileError) as refused:
        shown.compile(engine, compile_kwargs={"literal_binds": True})
    assert message in str(refused.value.__cause__)


def test_months_are_intervals_of_their_own(engine: Engine) -> None:
    table = Table("t", MetaData(), Column("age", INTERVAL("YEAR TO MONTH")), Column("tail", Integer))
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(table.insert().values(age=YearMonthInterval(41), tail=1))
        assert tuple(connection.execute(sa.select(table)).one()) == (41, 1)
