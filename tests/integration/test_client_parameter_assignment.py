"""Parameters are never changed silently: they are refused, or rounded and truncated if an option allows it."""

from __future__ import annotations

import asyncio
import datetime as dt
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test

import informix_arrow as ifx
import informix_arrow.aio
from informix_arrow.server import Server

DECLARED = """
    whole INT, small SMALLINT, money DECIMAL(10,2), name VARCHAR(5), padded CHAR(4),
    moment DATETIME YEAR TO FRACTION(3), minute DATETIME YEAR TO MINUTE, at DATETIME HOUR TO SECOND,
    span INTERVAL DAY TO MINUTE, fine INTERVAL DAY TO FRACTION(2), months INTERVAL YEAR TO MONTH,
    day DATE, short DATETIME MINUTE TO FRACTION(2), narrow SMALLFLOAT, wide FLOAT, floating DECIMAL(16)
"""


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    """A connection and a table that all tests share, because creating them takes longer than most statements."""
    with ifx.connect(server.url("stores_demo")) as connection:
        connection.execute(f"CREATE TEMP TABLE assigned (k INT, {DECLARED}, tail INT)")
        connection.execute("INSERT INTO assigned (k, tail) VALUES (0, 12345)")
        connection.commit()
        yield connection


@pytest.fixture
def conn(shared_connection: ifx.Connection) -> Iterator[ifx.Connection]:
    yield shared_connection
    shared_connection.rollback()


@pytest.fixture
def cur(conn: ifx.Connection) -> ifx.Cursor:
    return conn.cursor()


LOST: list[tuple[str, Any]] = [
    ("whole", 1.9),
    ("whole", -0.5),
    ("whole", Decimal("1.5")),
    ("whole", "7.25"),
    ("whole", float("nan")),
    ("whole", float("inf")),
    ("whole", 2**31),
    ("whole", -(2**31)),
    ("small", 32768),
    ("small", 1e300),
    ("money", Decimal("12.345")),
    ("money", 12.345),
    ("money", "12.345"),
    ("money", Decimal("123456789")),
    ("money", Decimal("NaN")),
    ("name", "abcdef"),
    ("name", "ééé"),
    ("name", "\0"),
    ("name", 123456),
    ("name", uuid.UUID(int=7)),
    ("name", 0.12345),
    ("name", -123.25),
    ("name", Decimal("1E-130")),
    ("name", Decimal("1E+125")),
    ("name", Decimal("-12.25")),
    ("name", dt.datetime(2024, 1, 1)),
    ("name", dt.time(1, 2, 3)),
    ("name", dt.timedelta(hours=1)),
    ("padded", "abcde"),
    ("padded", dt.datetime(2024, 1, 1, 10)),
    ("padded", np.float32(0.1)),
    ("moment", dt.datetime(2024, 1, 1, 1, 1, 1, 999990)),
    ("moment", pd.Timestamp("2024-01-01 01:01:01.123000456")),
    ("moment", np.datetime64("2024-01-01T01:01:01.123456")),
    ("moment", "2024-01-01 10:00:00.99999"),
    ("moment", np.datetime64("2024-01-01T01:01:01.123000001")),
    ("moment", pa.scalar(1_700_000_000_123_000_001, pa.timestamp("ns"))),
    ("minute", dt.datetime(2024, 1, 1, 1, 1, 1)),
    ("minute", "2024-01-01 10:20:30"),
    ("minute", "2024-01-01 10:20:00.5"),
    ("at", "10:20:30.5"),
    ("short", "20:30.125"),
    ("fine", np.timedelta64(10_000_001, "ns")),
    ("at", dt.datetime(2024, 1, 1, 1, 1, 1)),
    ("at", dt.time(1, 1, 1, 500000)),
    ("span", dt.timedelta(hours=1, seconds=59)),
    ("span", dt.timedelta(days=100)),
    ("fine", dt.timedelta(microseconds=1)),
    ("fine", "1 02:03:04.125"),
    ("fine", "-0 00:00:00.001"),
    ("months", dt.timedelta(days=1)),
    ("months", ifx.YearMonthInterval(12 * 10000)),
    ("day", dt.datetime(2024, 1, 1, 23, 59)),
    ("day", 1.5),
    ("day", Decimal("-0.25")),
    ("day", float("nan")),
    ("day", float("-inf")),
    ("day", 1e300),
    ("narrow", 1e300),
    ("narrow", 2**24 + 1),
    ("narrow", "1e300"),
    ("wide", 2**53 + 1),
    ("floating", Decimal("12345678901234567")),
    ("floating", 2**62 + 1),
]


@parametrize_in_one_test(("column", "value"), LOST, ids=[f"{column}-{value!r}" for column, value in LOST])
@parametrize_in_one_test("many", [False, True], ids=["execute", "executemany"])
@parametrize_in_one_test(
    "sql",
    [
        "INSERT INTO assigned (k, {}, tail) VALUES (1, ?, 12345)",
        "UPDATE assigned SET {} = ?, tail = 1 WHERE k = 0",
    ],
    ids=["insert", "update"],
)
def test_a_value_that_its_column_would_change_is_refused(
    cur: ifx.Cursor, column: str, value: Any, many: bool, sql: str
) -> None:
    call, given = (cur.executemany, [(value,), (value,)]) if many else (cur.execute, (value,))
    row = "Row 0: " if many else ""
    with pytest.raises(ifx.DataError, match=rf"^{row}Parameter 1( \(column '{column}'\))?: "):
        call(sql.format(column), given)
    assert cur.execute(f"SELECT k, {column}, tail FROM assigned").fetchall() == [(0, None, 12345)]


KEPT: list[tuple[str, Any, Any]] = [
    ("whole", True, 1),
    ("whole", 5.0, 5),
    ("whole", Decimal("-7.00"), -7),
    ("whole", "+5", 5),
    ("whole", np.int64(5), 5),
    ("whole", pd.NA, None),
    ("whole", pd.NaT, None),
    ("whole", None, None),
    ("small", -32767, -32767),
    ("day", 1.0, dt.date(1900, 1, 1)),
    ("day", Decimal("2.00"), dt.date(1900, 1, 2)),
    ("name", 1.125, "1.125"),
    ("name", Decimal("-1.50"), "-1.5"),
    ("money", True, Decimal("1.00")),
    ("money", Decimal("12.3400"), Decimal("12.34")),
    ("money", 0.07, Decimal("0.07")),
    ("money", "99999999.99", Decimal("99999999.99")),
    ("name", "ééx", "ééx"),
    ("name", 12345, "12345"),
    ("padded", "", ""),
    ("moment", dt.datetime(9999, 12, 31, 23, 59, 59, 999000), dt.datetime(9999, 12, 31, 23, 59, 59, 999000)),
    ("moment", dt.date(2024, 2, 29), dt.datetime(2024, 2, 29)),
    ("moment", "2024-01-01 10:00:00.990", dt.datetime(2024, 1, 1, 10, 0, 0, 990000)),
    ("at", "10:20:30.000", dt.time(10, 20, 30)),
    ("short", "20:30.120", "20:30.12"),
    ("day", dt.datetime(2024, 1, 1), dt.date(2024, 1, 1)),
    ("day", pd.Timestamp("2024-01-01"), dt.date(2024, 1, 1)),
    ("span", dt.timedelta(days=-99, minutes=1), dt.timedelta(days=-99, minutes=1)),
    ("months", 63, 63),
    ("months", "5-03", 63),
    ("fine", " -1 02:03:04.120 ", -dt.timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=120)),
    ("fine", "1 02:03:04", dt.timedelta(days=1, hours=2, minutes=3, seconds=4)),
    ("narrow", 2**24, float(2**24)),
    ("wide", 2**53, float(2**53)),
    ("wide", Decimal("0.1"), 0.1),
    ("wide", 1e300, 1e300),
]


@pytest.mark.parametrize(("column", "value", "stored"), KEPT, ids=[f"{c}-{v!r}" for c, v, _ in KEPT])
@pytest.mark.parametrize("many", [False, True], ids=["execute", "executemany"])
def test_a_value_that_fits_goes_in_as_it_is(
    cur: ifx.Cursor, column: str, value: Any, stored: Any, many: bool
) -> None:
    sql = f"INSERT INTO assigned (k, {column}, tail) VALUES (1, ?, 12345)"
    if many:
        cur.executemany(sql, [(value,), (value,)])
    else:
        cur.execute(sql, (value,))
        cur.execute(f"UPDATE assigned SET {column} = ? WHERE k = 0", (value,))
    rows = cur.execute(f"SELECT {column}, tail FROM assigned WHERE k = 1 OR {1 - many} = 1").fetchall()
    assert rows == [(stored, 12345)] * 2


def test_what_is_compared_is_not_checked(cur: ifx.Cursor) -> None:
    cur.execute("UPDATE assigned SET money = 12.34, whole = 1, name = 'abcde', narrow = 1")
    for where, value in (
        ("money < ?", Decimal("12.345")),
        ("money < ?", 12.3456),
        ("whole < ?", 1.5),
        ("name < ?", "abcdefgh"),
        ("narrow < ?", 1e300),
    ):
        assert cur.execute(f"SELECT tail FROM assigned WHERE {where}", (value,)).fetchall() == [(12345,)]
        assert cur.execute(f"UPDATE assigned SET k = ? WHERE {where}", (7, value)).rowcount == 1
        assert cur.executemany(f"UPDATE assigned SET k = ? WHERE {where}", [(7, value)]).rowcount == 1


def test_a_moment_is_compared_with_all_digits_of_its_parameter(cur: ifx.Cursor) -> None:
    cur.execute(
        "INSERT INTO assigned (k, moment, minute, at, day) VALUES (3, ?, ?, ?, ?)",
        (
            dt.datetime(2026, 1, 2, 3, 4, 5, 678000),
            dt.datetime(2026, 1, 2, 3, 4),
            dt.time(3, 4, 5),
            dt.date(2026, 1, 2),
        ),
    )
    finer = dt.datetime(2026, 1, 2, 3, 4, 5, 678920)
    for column, value in (
        ("moment", finer),
        ("moment", "2026-01-02 03:04:05.67892"),
        ("minute", dt.datetime(2026, 1, 2, 3, 4, 1)),
        ("at", dt.time(3, 4, 5, 10)),
        ("day", dt.datetime(2026, 1, 2, 0, 0, 1)),
    ):
        for where, found in ((f"{column} < ?", [(3,)]), (f"{column} = ?", []), (f"? <= {column}", [])):
            assert cur.execute(f"SELECT k FROM assigned WHERE {where}", (value,)).fetchall() == found, where
        for where in (f"{column} BETWEEN ? AND ?", f"{column} IN (?, ?)"):
            assert cur.execute(f"SELECT k FROM assigned WHERE {where}", (value, value)).fetchall() == []
    assert cur.execute("SELECT k FROM assigned WHERE day = ?", (dt.datetime(2026, 1, 2),)).fetchall() == [
        (3,)
    ]
    assert cur.execute(
        "SELECT k FROM assigned WHERE moment = ?", (finer.replace(microsecond=678000),)
    ).fetchall() == [(3,)]


def test_a_column_that_was_made_wider_takes_the_longer_text(conn: ifx.Connection, server: Server) -> None:
    """A prepared statement's description of the column may be outdated by then."""
    cursor = conn.cursor()
    cursor.execute("DROP TABLE IF EXISTS assigned_wide")
    cursor.execute("CREATE TABLE assigned_wide (name VARCHAR(3), tail INT)")
    conn.commit()
    insert = "INSERT INTO assigned_wide VALUES (?, 12345)"
    cursor.execute(insert, ("abc",))
    conn.commit()
    with ifx.connect(server.url("stores_demo"), autocommit=True) as other:
        other.execute("ALTER TABLE assigned_wide MODIFY (name VARCHAR(9))")
    cursor.execute(insert, ("abcdef",))
    cursor.executemany(insert, [("abcdefgh",), ("x",)])
    assert cursor.execute("SELECT name FROM assigned_wide").fetchall() == [
        ("abc",), ("abcdef",), ("abcdefgh",), ("x",),
    ]  # fmt: skip
    conn.rollback()
    cursor.execute("DROP TABLE assigned_wide")
    conn.commit()


MOMENT = dt.datetime(2024, 1, 1, 23, 59, 59, 999999)
ROUNDED: list[tuple[str, Any, Any, Any]] = [
    ("whole", 1.5, 2, 1),
    ("whole", "-1.5", -2, -1),
    ("money", Decimal("-12.345"), Decimal("-12.35"), Decimal("-12.34")),
    ("money", 2.675, Decimal("2.68"), Decimal("2.67")),
    ("money", "0.005", Decimal("0.01"), Decimal("0.00")),
    ("floating", Decimal("12345678901234565"), 12345678901234570.0, 12345678901234560.0),
    ("moment", MOMENT, dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 1, 23, 59, 59, 999000)),
    ("moment", "2024-01-01 23:59:59.9999", dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 1, 23, 59, 59, 999000)),
    ("moment", pd.Timestamp("2024-01-01 00:00:00.0005"), dt.datetime(2024, 1, 1, 0, 0, 0, 1000),
     dt.datetime(2024, 1, 1)),
    ("moment", np.datetime64("2024-01-01T01:01:01.123500499"), dt.datetime(2024, 1, 1, 1, 1, 1, 124000),
     dt.datetime(2024, 1, 1, 1, 1, 1, 123000)),
    ("moment", np.datetime64("1969-12-31T23:59:59.999499999"), dt.datetime(1969, 12, 31, 23, 59, 59, 999000),
     dt.datetime(1969, 12, 31, 23, 59, 59, 999000)),
    ("moment", pa.scalar(-1, pa.timestamp("ns")), dt.datetime(1970, 1, 1),
     dt.datetime(1969, 12, 31, 23, 59, 59, 999000)),
    ("fine", np.timedelta64(-15_000_001, "ns"), dt.timedelta(microseconds=-20000),
     dt.timedelta(microseconds=-10000)),
    ("fine", pa.scalar(-14_999_999, pa.duration("ns")), dt.timedelta(microseconds=-10000),
     dt.timedelta(microseconds=-10000)),
    ("at", "01:59:59.5", dt.time(2), dt.time(1, 59, 59)),
    ("short", "20:30.125", "20:30.13", "20:30.12"),
    ("short", "20:59.994", "20:59.99", "20:59.99"),
    ("short", "20:58.999", "20:59.00", "20:58.99"),
    ("at", dt.time(1, 59, 59, 500000), dt.time(2), dt.time(1, 59, 59)),
    ("fine", "-1 23:59:59.995", dt.timedelta(days=-2), -dt.timedelta(days=1, seconds=86399, milliseconds=990)),
    ("fine", "0 00:00:00.0149", dt.timedelta(milliseconds=10), dt.timedelta(milliseconds=10)),
    ("fine", dt.timedelta(microseconds=-5000), dt.timedelta(microseconds=-10000), dt.timedelta(0)),
    ("narrow", 2**24 + 1, float(2**24 + 2), float(2**24)),
    ("wide", 2**53 + 1, float(2**53 + 2), float(2**53)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "value", "rounded", "cut"), ROUNDED, ids=[f"{c}-{v!r}" for c, v, _, _ in ROUNDED]
)
def test_digits_are_rounded_or_cut_where_that_is_asked_for(
    cur: ifx.Cursor, server: Server, column: str, value: Any, rounded: Any, cut: Any
) -> None:
    sql = f"INSERT INTO assigned (k, {column}, tail) VALUES (1, ?, 12345)"
    choices: list[tuple[Any, Any]] = [("round", rounded), ("truncate", cut)]
    for inexact, wanted in choices:
        cur.execute("DELETE FROM assigned")
        cur.execute(sql, (value,), inexact=inexact)
        cur.connection.execute(sql, (value,), inexact=inexact)
        cur.executemany(sql, [(value,), (None,), (value,)], inexact=inexact)
        rows = cur.execute(f"SELECT {column}, tail FROM assigned WHERE {column} IS NOT NULL").fetchall()
        assert rows == [(wanted, 12345)] * 4
        with ifx.connect(f"{server.url('stores_demo')}&inexact={inexact}") as other:
            other.execute(f"CREATE TEMP TABLE assigned (k INT, {DECLARED}, tail INT)")
            other.execute(sql, (value,))
            assert other.execute(f"SELECT {column} FROM assigned").fetchall() == [(wanted,)]
            with pytest.raises(ifx.DataError, match="inexact="):
                other.execute(sql, (value,), inexact="error")


def test_text_is_rounded_to_the_next_minute_only_where_nothing_else_is_lost(cur: ifx.Cursor) -> None:
    sql = "INSERT INTO assigned (k, minute) VALUES (5, ?)"
    cur.execute(sql, ("2024-01-01 23:59:59.5",), inexact="round")
    assert cur.execute("SELECT minute FROM assigned WHERE k = 5").fetchall() == [(dt.datetime(2024, 1, 2),)]
    for inexact, text in (("truncate", "23:59:59.5"), ("round", "23:59:59.4"), ("error", "23:59:59.5")):
        with pytest.raises(ifx.DataError, match="more precision than"):
            cur.execute(sql, (f"2024-01-01 {text}",), inexact=inexact)  # type: ignore[arg-type]


def test_a_moment_of_now_can_be_stored_and_compared_by_saying_so(cur: ifx.Cursor) -> None:
    now = dt.datetime(2026, 1, 2, 3, 4, 5, 678916)
    cur.execute("INSERT INTO assigned (k, moment) VALUES (2, ?)", (now,), inexact="truncate")
    found = cur.execute("SELECT k FROM assigned WHERE moment <= ?", (now,), inexact="round").fetchall()
    assert found == [(2,)]


def test_arguments_of_routines_are_checked(cur: ifx.Cursor) -> None:
    cur.execute("DROP FUNCTION IF EXISTS assigned_twice")
    cur.execute("CREATE FUNCTION assigned_twice(n INT) RETURNING INT; RETURN n * 2; END FUNCTION")
    with pytest.raises(ifx.DataError, match="has a fraction"):
        cur.callproc("assigned_twice", (1.5,))
    cur.callproc("assigned_twice", (1.5,), inexact="round")
    assert cur.fetchall() == [(4,)]
    cur.connection.rollback()


def test_an_error_lists_the_values_of_inexact(cur: ifx.Cursor, server: Server) -> None:
    with pytest.raises(ifx.InterfaceError, match="inexact='nearest'"):
        cur.execute("INSERT INTO assigned (k) VALUES (?)", (1,), inexact="nearest")  # type: ignore[arg-type]
    with pytest.raises(ifx.InterfaceError, match="inexact"):
        ifx.connect(f"{server.url('stores_demo')}&inexact=nearest")


def test_a_list_for_one_placeholder_is_refused_with_advice(cur: ifx.Cursor) -> None:
    for sql in ("SELECT k FROM assigned WHERE k IN (?)", "DELETE FROM assigned WHERE k IN (?)"):
        with pytest.raises(ifx.DataError, match=r"IN \(\?, \?, \?\), or load them into a temporary table"):
            cur.execute(sql, ([0, 1, 2],))


async def _aio(url: str) -> list[Any]:
    async with ifx.aio.connect(url, inexact="truncate") as conn:
        await conn.execute(f"CREATE TEMP TABLE assigned (k INT, {DECLARED}, tail INT)")
        sql = "INSERT INTO assigned (k, whole) VALUES (?, ?)"
        await conn.execute(sql, (1, 1.9))
        cursor = conn.cursor()
        await cursor.executemany(sql, [(2, 2.9), (3, 3.5)], inexact="round")
        await cursor.execute("SELECT whole FROM assigned ORDER BY k")
        return list(await cursor.fetchall())


def test_asyncio_has_the_same_option(server: Server) -> None:
    assert asyncio.run(_aio(server.url("stores_demo"))) == [(1,), (3,), (4,)]
