"""Rows for both backends: NULLs, ends of months, leap days, negative numbers, halves, and letters of two bytes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa

_DAYS = [
    (2024, 1, 31),
    (2024, 2, 29),
    (2023, 12, 31),
    (2021, 1, 3),
    (2020, 2, 28),
    (1999, 10, 1),
    (2024, 5, 15),
    None,
]
_TEXTS = ["Anna", "b c", "", "Zoë", "x_y%z", "a\\b", " lead", "tail\t", None, "aaa", "ÄÖ", "quote's"]
_HALVES = [0.5, 1.5, -2.5, 2.25, None, -0.125, 1000000.0, 3.75]


def _day(i: int) -> dt.date | None:
    found = _DAYS[i % len(_DAYS)]
    return None if found is None else dt.date(*found)


def _moment(i: int) -> dt.datetime | None:
    day = _day(i + 1)
    if day is None:
        return None
    micro = [0, 123450, 500000, 999990][i % 4]
    return dt.datetime(day.year, day.month, day.day, (i * 7) % 24, (i * 11) % 60, (i * 13) % 60, micro)


N = 24
ROWS = pa.table(
    {
        "id": pa.array(range(1, N + 1), pa.int32()),
        "g": pa.array([None if i % 7 == 6 else "abc"[i % 3] for i in range(N)], pa.string()),
        "s": pa.array([_TEXTS[i % len(_TEXTS)] for i in range(N)], pa.string()),
        "p": pa.array([[None, "a", "b", "", "_"][i % 5] for i in range(N)], pa.string()),
        "small": pa.array([None if i % 5 == 4 else i - 9 for i in range(N)], pa.int16()),
        "i": pa.array([None if i % 6 == 5 else (i * 37) % 11 - 5 for i in range(N)], pa.int32()),
        "j": pa.array([1 + i % 4 for i in range(N)], pa.int32()),
        "big": pa.array([None if i == 3 else i * 10_000_000_000 for i in range(N)], pa.int64()),
        "f": pa.array([_HALVES[i % len(_HALVES)] for i in range(N)], pa.float64()),
        "m": pa.array(
            [None if i % 9 == 8 else Decimal(i * 125 - 700).scaleb(-2) for i in range(N)], pa.decimal128(8, 2)
        ),
        "b": pa.array([[True, False, None][i % 3] for i in range(N)], pa.bool_()),
        "d": pa.array([_day(i) for i in range(N)], pa.date32()),
        "ts": pa.array([_moment(i) for i in range(N)], pa.timestamp("us")),
    }
)
OTHERS = pa.table(
    {
        "k": pa.array([1, 2, 2, 5, None, 30], pa.int32()),
        "name": pa.array(["one", "two", "zwei", "five", "none", "thirty"], pa.string()),
        "w": pa.array([1.5, None, 2.5, -1.0, 0.0, 7.0], pa.float64()),
    }
)
