"""The data of the benchmarks: made, never random between runs."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute

SEED = "k INT, name VARCHAR(64), n INT, x FLOAT, d DATE"
"""The five columns that every driver in this field is measured with."""

DAY = dt.date(2026, 1, 1)


def seed_table(rows: int) -> pa.Table:
    """Rows of SEED; names are 17 to 23 bytes long, none is NULL."""
    numbers = np.arange(rows, dtype=np.int32)
    return pa.table(
        {
            "k": pa.array(numbers),
            "name": pa.array([f"customer number {i}" for i in range(rows)]),
            "n": pa.array(-numbers),
            "x": pa.array(numbers / 8.0),
            "d": pa.array(np.full(rows, 20454, np.int32)).cast(pa.date32()),
        }
    )


def seed_rows(rows: int) -> list[tuple[object, ...]]:
    """The same as tuples."""
    return [(i, f"customer number {i}", -i, i / 8.0, DAY) for i in range(rows)]


def wide(columns: int, rows: int) -> tuple[str, pa.Table]:
    """Declarations and rows of a wide table: INTEGER, VARCHAR(20), FLOAT, DECIMAL(12,2), DATE in turn."""
    kinds = ("INTEGER", "VARCHAR(20)", "FLOAT", "DECIMAL(12,2)", "DATE")
    numbers = np.arange(rows, dtype=np.int32)
    arrays = (
        pa.array(numbers),
        pa.array([f"value {i}" for i in range(rows)]),
        pa.array(numbers / 4.0),
        pa.array([Decimal(i).scaleb(-2) for i in range(rows)], pa.decimal128(12, 2)),
        pa.array(numbers % 20000).cast(pa.date32()),
    )
    names = [f"c{i}" for i in range(columns)]
    declared = ", ".join(f"{name} {kinds[i % 5]}" for i, name in enumerate(names))
    return declared, pa.table([arrays[i % 5] for i in range(columns)], names)


def mixture(kind: str, rows: int) -> tuple[str, pa.Table]:
    """Declarations and rows of one kind of data: "every type", "short text", "long text" or "mostly NULL"."""
    numbers = np.arange(rows, dtype=np.int64)
    if kind == "short text":
        texts = pa.array([f"v{i % 1000}" for i in range(rows)])
        return ", ".join(f"c{i} VARCHAR(16)" for i in range(5)), pa.table(
            [texts] * 5, [f"c{i}" for i in range(5)]
        )
    if kind == "long text":
        texts = pa.array([("long text " * 24)[: 180 + i % 60] for i in range(rows)])
        return ", ".join(f"c{i} VARCHAR(255)" for i in range(5)), pa.table(
            [texts] * 5, [f"c{i}" for i in range(5)]
        )
    declared = (
        "c0 SMALLINT, c1 INTEGER, c2 BIGINT, c3 FLOAT, c4 DECIMAL(16,2), c5 CHAR(20), c6 VARCHAR(40), "
        "c7 DATE, c8 DATETIME YEAR TO FRACTION(5), c9 BOOLEAN"
    )
    stamps = pa.array(numbers * 1_000_010 + 1_700_000_000_000_000).cast(pa.timestamp("us"))
    columns = [
        pa.array(numbers % 30000, pa.int16()),
        pa.array(numbers, pa.int32()),
        pa.array(numbers * 1_000_003),
        pa.array(numbers / 7.0),
        pa.array([Decimal(int(i)).scaleb(-2) for i in numbers], pa.decimal128(16, 2)),
        pa.array([f"code {i}" for i in range(rows)]),
        pa.array([f"description {i}" for i in range(rows)]),
        pa.array(numbers % 20000, pa.int32()).cast(pa.date32()),
        stamps,
        pa.array(numbers % 2 == 0),
    ]
    if kind == "mostly NULL":
        keep = pa.array(numbers % 10 == 0)
        columns = [pa.compute.if_else(keep, column, pa.scalar(None, column.type)) for column in columns]
    return declared, pa.table(columns, [f"c{i}" for i in range(10)])
