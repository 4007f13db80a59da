"""Checks of every type: stored by the insert cursor and by pipelined executions, and read back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

from .harness import Harness, check, expect_equal, skip_unsupported

_MONTHS, _SPAN = pa.int32(), pa.duration("us")
_TEXT = pa.utf8()
_MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5)

#: Name, Arrow type that is sent, and values, to which NULL is added.
TYPES: tuple[tuple[str, Any, list[Any]], ...] = (
    ("SMALLINT", pa.int16(), [-32767, 0, 32767]),
    ("INTEGER", pa.int32(), [-(2**31) + 1, 0, 2**31 - 1]),
    ("BIGINT", pa.int64(), [-(2**63) + 1, 0, 2**63 - 1]),
    ("INT8", pa.int64(), [-(2**63) + 1, 0, 2**63 - 1]),
    ("SMALLFLOAT", pa.float32(), [-1.5, 0.0, 2.0**120]),
    ("FLOAT", pa.float64(), [-0.1, 0.0, 1e300]),
    ("DECIMAL(32,2)", pa.decimal128(32, 2), [Decimal("-" + "9" * 30 + ".99"), Decimal("0.01")]),
    ("DECIMAL(5,5)", pa.decimal128(5, 5), [Decimal("-0.00001"), Decimal("0.99999")]),
    ("DECIMAL(16)", _TEXT, ["-0.000012345678901234", "1234567890123456000", "0"]),
    ("MONEY(10,2)", pa.decimal128(10, 2), [Decimal("-1.50"), Decimal("99999999.99")]),
    ("DATE", pa.date32(), [dt.date(1, 1, 1), dt.date(1899, 12, 31), dt.date(9999, 12, 31)]),
    ("BOOLEAN", pa.bool_(), [True, False]),
    ("CHAR(5)", _TEXT, ["", "ab", "abcde"]),
    ("NCHAR(5)", _TEXT, ["", "ab", "abcde"]),
    ("VARCHAR(255)", _TEXT, ["", "a ", "b" * 255]),
    ("NVARCHAR(200)", _TEXT, ["", "a ", "b" * 200]),
    ("LVARCHAR(3000)", _TEXT, ["", "a ", "b" * 3000]),
    ("DATETIME YEAR TO DAY", pa.date32(), [dt.date(2026, 1, 2)]),
    ("DATETIME YEAR TO SECOND", pa.timestamp("s"), [dt.datetime(1, 1, 1), _MOMENT]),
    (
        "DATETIME YEAR TO FRACTION(3)",
        pa.timestamp("ms"),
        [_MOMENT, _MOMENT.replace(microsecond=1000), dt.datetime(9999, 12, 31, 23, 59, 59, 999000)],
    ),
    ("DATETIME YEAR TO FRACTION(5)", pa.timestamp("us"), [_MOMENT, _MOMENT.replace(microsecond=10)]),
    ("DATETIME HOUR TO SECOND", pa.time32("s"), [dt.time(0), dt.time(23, 59, 59)]),
    ("DATETIME MONTH TO DAY", _TEXT, ["12-25", "01-02"]),
    ("INTERVAL YEAR TO MONTH", _MONTHS, [-63, 0, 9999 * 12 + 11]),
    (
        "INTERVAL DAY TO FRACTION(5)",
        _SPAN,
        [dt.timedelta(days=-99999, microseconds=-10), dt.timedelta(0), dt.timedelta(seconds=1)],
    ),
    ("INTERVAL HOUR TO MINUTE", _SPAN, [dt.timedelta(hours=-100), dt.timedelta(0)]),
)
#: The same for types that an insert cursor cannot send.
OBJECT_TYPES: tuple[tuple[str, Any, list[Any]], ...] = (
    ("BYTE", pa.large_binary(), [b"", b"\x00\xff" * 3000]),
    ("TEXT", pa.large_utf8(), ["", "ab " * 3000]),
    ("BLOB", pa.large_binary(), [b"\x00\xff" * 3000]),
    ("CLOB", pa.large_utf8(), ["ab " * 3000]),
    ("SET", pa.list_(pa.int32()), [[], [1, 2]]),
    ("LIST", pa.list_(_TEXT), [[], ["a", "b"]]),
    ("ROW", pa.struct([("a", pa.int32()), ("b", _TEXT)]), [{"a": 1, "b": "x"}]),
)
#: Declarations of types that are not declared by their names.
_DECLARED = {
    "VARCHAR(255)": "VARCHAR(255,10)",
    "INTERVAL YEAR TO MONTH": "INTERVAL YEAR(4) TO MONTH",
    "INTERVAL DAY TO FRACTION(5)": "INTERVAL DAY(5) TO FRACTION(5)",
    "INTERVAL HOUR TO MINUTE": "INTERVAL HOUR(3) TO MINUTE",
    "SET": "SET(INTEGER NOT NULL)",
    "LIST": "LIST(VARCHAR(10) NOT NULL)",
    "ROW": "ROW(a INTEGER, b VARCHAR(10))",
}


def _declare(name: str, kind: Any, values: list[Any], *, put: bool) -> None:
    declared = _DECLARED.get(name, name)
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
            with skip_unsupported():
                found.append(bench.connection.write_arrow(table, data, method=method).method)
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
    _declare(*_case, put=True)
for _case in OBJECT_TYPES:
    _declare(*_case, put=False)
