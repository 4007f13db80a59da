"""Reading floating-point DECIMALs as float64 warns if digits are lost, once for each column."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow._decode import Decoder
from informix_arrow.server import Server
from informix_arrow.wire.describe import Column, assign_offsets, compile_plan
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(server.url("stores_demo")) as connection:
        connection.execute(
            "CREATE TEMP TABLE digits (k INT, a DECIMAL(32), b DECIMAL(20), exact DECIMAL(20,2), tail INT)"
        )
        yield connection


def load(conn: ifx.Connection, values: list[Any]) -> None:
    rows = [
        (number, value, Decimal(1), Decimal("9007199254740993.01"), 12345)
        for number, value in enumerate(values)
    ]
    conn.cursor().executemany("INSERT INTO digits VALUES (?, ?, ?, ?, ?)", rows)


QUERY = "SELECT a, b, exact, tail FROM digits ORDER BY k"


def test_a_column_that_lost_digits_warns_once(conn: ifx.Connection) -> None:
    load(
        conn,
        [Decimal("1.5"), None, Decimal(9007199254740993), Decimal("0.1"), Decimal("1234567890.12345678")],
    )
    with pytest.warns(ifx.InexactWarning) as told:
        conn.read_arrow(QUERY)
    assert len(told) == 1
    text = str(told[0].message)
    assert "Column 'a', a DECIMAL(32)" in text
    assert "2 of the first 5 rows, first in row 2" in text
    assert "floating_decimals=" in text
    assert told[0].filename == __file__ or "informix_arrow" in told[0].filename
    with pytest.warns(ifx.InexactWarning):
        conn.execute(QUERY).fetchall()


@pytest.mark.parametrize("choice", ["string", pa.decimal128(38, 10)], ids=str)
def test_an_exact_read_does_not_warn(conn: ifx.Connection, choice: Any) -> None:
    load(conn, [Decimal(9007199254740993), Decimal("0.1")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = conn.read_arrow(QUERY, floating_decimals=choice)
    assert [Decimal(value) for value in table.column("a").to_pylist()] == [
        Decimal(9007199254740993),
        Decimal("0.1"),
    ]


def test_digits_that_come_back_are_no_loss(conn: ifx.Connection) -> None:
    load(
        conn,
        [
            Decimal("999999999999999"),
            Decimal("-1E+125"),
            Decimal("1E-130"),
            Decimal(2**60),
            Decimal("0.3"),
            None,
            0,
        ],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conn.read_arrow(QUERY)


def test_a_warning_made_an_error_ends_the_result_and_not_the_connection(conn: ifx.Connection) -> None:
    load(conn, [Decimal(9007199254740993)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ifx.InexactWarning)
        with pytest.raises(ifx.InexactWarning):
            conn.read_arrow(QUERY)
    assert conn.execute("SELECT tail FROM digits").fetchall() == [(12345,)]


def test_the_decoder_finds_what_python_finds() -> None:
    """Random numbers of 1 to 32 digits. Digits are lost if the double, formatted with as many digits, differs."""
    rng = random.Random(7)
    numbers = []
    for _ in range(4000):
        digits = rng.randint(1, 32)
        number = Decimal(rng.choice((-1, 1)) * rng.randrange(10 ** (digits - 1), 10**digits))
        numbers.append(number.scaleb(rng.randint(-40, 40)))
    columns, size = assign_offsets(
        [Column("n", ColumnType.decimal(32)), Column("tail", ColumnType.integer())]
    )
    plan = compile_plan(columns)
    decoder = Decoder(
        [op.as_tuple() for op in plan.ops],
        ["n", "tail"],
        batch_rows=1 << 20,
        batch_bytes=1 << 24,
        max_tuple=size,
    )
    lost = []
    for row, number in enumerate(numbers):
        payload = encode_tuple((number, 12345), columns, "utf-8")
        message = b"\0\x0e\0\0" + len(payload).to_bytes(4, "big") + payload + bytes(len(payload) & 1)
        decoder.feed(message, 0, len(message))
        digits = len(number.normalize().as_tuple().digits)
        if Decimal(f"{float(number):.{max(digits, 1) - 1}e}") != number:
            lost.append(row)
    assert decoder.inexact() == [(0, len(lost), lost[0])]
    assert 1000 < len(lost) < 3500


def test_whole_numbers_with_nulls_are_exact_in_a_frame(conn: ifx.Connection) -> None:
    conn.execute("CREATE TEMP TABLE wide (k INT, a BIGINT, b BIGINT, tail INT)")
    conn.cursor().executemany(
        "INSERT INTO wide VALUES (?, ?, ?, 12345)", [(1, 2**53 + 1, 5), (2, None, -(2**63) + 1)]
    )
    cursor = conn.cursor()
    frame = cursor.execute("SELECT a, b, tail FROM wide ORDER BY k").fetch_df()
    assert [str(each) for each in frame.dtypes] == ["Int64", "int64", "int32"]
    assert frame["a"].to_list()[0] == 2**53 + 1
    assert frame["a"].isna().to_list() == [False, True]
    assert frame["b"].to_list() == [5, -(2**63) + 1]
