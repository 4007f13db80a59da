"""Checks of every type: stored by the insert cursor and by pipelined executions, and read back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

from ...wire.errors import Error
from .harness import CheckSkipped, Harness, check, expect_equal, first_line, is_unsupported

_MONTHS, _SPAN = pa.int32(), pa.duration("us")
_TEXT, _BYTES = pa.utf8(), pa.binary()
_MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5)

#: Name, declaration, Arrow type that is sent, and values, to which NULL is added. The last is False for types that an
#: insert cursor cannot send.
TYPES: tuple[tuple[str, str, Any, list[Any], bool], ...] = (
    ("SMALLINT", "SMALLINT", pa.int16(), [-32767, 0, 32767], True),
    ("INTEGER", "INTEGER", pa.int32(), [-(2**31) + 1, 0, 2**31 - 1], True),
    ("BIGINT", "BIGINT", pa.int64(), [-(2**63) + 1, 0, 2**63 - 1], True),
    ("INT8", "INT8", pa.int64(), [-(2**63) + 1, 0, 2**63 - 1], True),
    ("SMALLFLOAT", "SMALLFLOAT", pa.float32(), [-1.5, 0.0, 2.0**120], True),
    ("FLOAT", "FLOAT", pa.float64(), [-0.1, 0.0, 1e300], True),
    (
        "DECIMAL(32,2)",
        "DECIMAL(32,2)",
        pa.decimal128(32, 2),
        [Decimal("-" + "9" * 30 + ".99"), Decimal("0.01")],
        True,
    ),
    ("DECIMAL(5,5)", "DECIMAL(5,5)", pa.decimal128(5, 5), [Decimal("-0.00001"), Decimal("0.99999")], True),
    ("DECIMAL(16)", "DECIMAL(16)", _TEXT, ["-0.000012345678901234", "1234567890123456000", "0"], True),
    ("MONEY(10,2)", "MONEY(10,2)", pa.decimal128(10, 2), [Decimal("-1.50"), Decimal("99999999.99")], True),
    ("DATE", "DATE", pa.date32(), [dt.date(1, 1, 1), dt.date(1899, 12, 31), dt.date(9999, 12, 31)], True),
    ("BOOLEAN", "BOOLEAN", pa.bool_(), [True, False], True),
    ("CHAR(5)", "CHAR(5)", _TEXT, ["", "ab", "abcde"], True),
    ("NCHAR(5)", "NCHAR(5)", _TEXT, ["", "ab", "abcde"], True),
    ("VARCHAR(255)", "VARCHAR(255,10)", _TEXT, ["", "a ", "b" * 255], True),
    ("NVARCHAR(200)", "NVARCHAR(200)", _TEXT, ["", "a ", "b" * 200], True),
    ("LVARCHAR(3000)", "LVARCHAR(3000)", _TEXT, ["", "a ", "b" * 3000], True),
    ("DATETIME YEAR TO DAY", "DATETIME YEAR TO DAY", pa.date32(), [dt.date(2026, 1, 2)], True),
    (
        "DATETIME YEAR TO SECOND",
        "DATETIME YEAR TO SECOND",
        pa.timestamp("s"),
        [dt.datetime(1, 1, 1), _MOMENT],
        True,
    ),
    (
        "DATETIME YEAR TO FRACTION(3)",
        "DATETIME YEAR TO FRACTION(3)",
        pa.timestamp("ms"),
        [_MOMENT, _MOMENT.replace(microsecond=1000), dt.datetime(9999, 12, 31, 23, 59, 59, 999000)],
        True,
    ),
    (
        "DATETIME YEAR TO FRACTION(5)",
        "DATETIME YEAR TO FRACTION(5)",
        pa.timestamp("us"),
        [_MOMENT, _MOMENT.replace(microsecond=10)],
        True,
    ),
    (
        "DATETIME HOUR TO SECOND",
        "DATETIME HOUR TO SECOND",
        pa.time32("s"),
        [dt.time(0), dt.time(23, 59, 59)],
        True,
    ),
    ("DATETIME MONTH TO DAY", "DATETIME MONTH TO DAY", _TEXT, ["12-25", "01-02"], True),
    ("INTERVAL YEAR TO MONTH", "INTERVAL YEAR(4) TO MONTH", _MONTHS, [-63, 0, 9999 * 12 + 11], True),
    (
        "INTERVAL DAY TO FRACTION(5)",
        "INTERVAL DAY(5) TO FRACTION(5)",
        _SPAN,
        [dt.timedelta(days=-99999, microseconds=-10), dt.timedelta(0), dt.timedelta(seconds=1)],
        True,
    ),
    (
        "INTERVAL HOUR TO MINUTE",
        "INTERVAL HOUR(3) TO MINUTE",
        _SPAN,
        [dt.timedelta(hours=-100), dt.timedelta(0)],
        True,
    ),
    ("BYTE", "BYTE", pa.large_binary(), [b"", b"\x00\xff" * 3000], False),
    ("TEXT", "TEXT", pa.large_utf8(), ["", "ab " * 3000], False),
    ("BLOB", "BLOB", pa.large_binary(), [b"\x00\xff" * 3000], False),
    ("CLOB", "CLOB", pa.large_utf8(), ["ab " * 3000], False),
    ("SET", "SET(INTEGER NOT NULL)", pa.list_(pa.int32()), [[], [1, 2]], False),
    ("LIST", "LIST(VARCHAR(10) NOT NULL)", pa.list_(_TEXT), [[], ["a", "b"]], False),
    (
        "ROW",
        "ROW(a INTEGER, b VARCHAR(10))",
        pa.struct([("a", pa.int32()), ("b", _TEXT)]),
        [{"a": 1, "b": "x"}],
        False,
    ),
)


def _declare(name: str, declared: str, kind: Any, values: list[Any], put: bool) -> None:
    about = ["types", *(_ABOUT.get(name, ()))]

    @check(f"type {name}", f"{name}: stored {'by PUT and ' if put else ''}by pipeline, and read back", *about)
    def _(bench: Harness) -> str:
        table = bench.table(f"id INTEGER, v {declared}, tail CHAR(1)")
        expected = [*values, None]
        methods: list[Literal["put", "pipeline", "auto"]] = ["put", "pipeline"] if put else ["auto"]
        found = []
        for position, method in enumerate(methods):
            ids = range(position * len(expected), (position + 1) * len(expected))
            data = pa.table(
                {
                    "id": pa.array(ids, pa.int32()),
                    "v": pa.array(expected, kind),
                    "tail": pa.array(["x"] * len(expected)),
                }
            )
            try:
                found.append(bench.connection.write_arrow(table, data, method=method).method)
            except Error as error:
                if is_unsupported(error):
                    raise CheckSkipped(first_line(error)) from error
                raise
        actual = bench.connection.read_arrow(
            f"SELECT id, v, tail FROM {table} ORDER BY id", floating_decimals="string"
        )
        expect_equal(actual.num_rows, len(methods) * len(expected), "rows")
        for position, method in enumerate(methods):
            part = actual.slice(position * len(expected), len(expected))
            expect_equal(
                part.column("tail").to_pylist(), ["x"] * len(expected), f"the column behind it ({method})"
            )
            expect_equal(
                _digits(part.column("v").to_pylist(), declared),
                _digits(expected, declared),
                f"values ({method})",
            )
        return " and ".join(dict.fromkeys(found))


def _digits(values: list[Any], declared: str) -> list[Any]:
    if declared == "DECIMAL(16)":
        return [None if value is None else Decimal(value) for value in values]
    return values


_ABOUT = {
    "DECIMAL(32,2)": ("C11",),
    "DATETIME YEAR TO SECOND": ("C8", "C21", "TYPES 6"),
    "INTERVAL DAY TO FRACTION(5)": ("C12", "C21"),
    "BLOB": ("C14",),
}

for _case in TYPES:
    _declare(*_case)
