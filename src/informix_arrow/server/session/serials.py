"""Counters of SERIAL columns: shared by all sessions and never rolled back (gaps stay), as on a real server."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from ...wire.quoting import double_quoted
from ...wire.types import TypeCode
from ..catalog.catalog import ColumnInfo, SqlConnection, TableInfo, first_row

_LARGEST = 2**63 - 1
_LARGEST_SERIAL = 2**31 - 1


def _max_serial(column: ColumnInfo) -> int:
    """Return the largest number of a column. After it the counter starts again at 1."""
    return _LARGEST_SERIAL if column.type.code == TypeCode.SERIAL else _LARGEST


def _next_number(number: int, largest: int) -> int:
    return number + 1 if number < largest else 1


def counter_after(first: int, numbers: npt.NDArray[np.int64], column: ColumnInfo) -> int:
    """Return the value of a counter that was at `first` after rows with these numbers."""
    largest, top = _max_serial(column), int(numbers.max(initial=0))
    if top < largest:
        return max(first, top + 1)
    for number in numbers.tolist():
        if number >= first:
            first = _next_number(number, largest)
    return first


class SerialCounters:
    """Next values by table and column. A counter starts after the largest value in the table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[tuple[str, int, str], int] = {}
        self._starts: dict[tuple[str, int, str], int] = {}  # set by CREATE or ALTER TABLE

    def assign_one(
        self, con: SqlConnection, info: TableInfo, column: ColumnInfo, given: int
    ) -> tuple[int, int, int]:
        """Do the same as `assign` for one row; 0 takes the next value."""
        key = self._require_counter(con, info, column)
        with self._lock:
            first = self._next[key]
            number = given or first
            following = self._next[key] = (
                _next_number(number, _max_serial(column)) if number >= first else first
            )
        return number, first, following

    def assign(
        self, con: SqlConnection, info: TableInfo, column: ColumnInfo, values: Any
    ) -> tuple[npt.NDArray[np.int64], int, int]:
        """Return the values of one serial column for an Arrow array of given ones, and the counter before and after.

        NULL and 0 take the next value. Others are kept, and the counter follows them.
        """
        key = self._require_counter(con, info, column)
        numbers: npt.NDArray[np.int64] = values.cast("int64").fill_null(0).to_numpy(zero_copy_only=False)
        takes_next = numbers == 0
        before = np.cumsum(takes_next) - takes_next  # rows before this one that take the next value
        with self._lock:
            first = self._next[key]
            if len(numbers) + max(first, int(numbers.max(initial=0))) >= _max_serial(column):
                numbers, following = self._assign_with_wraparound(numbers, first, _max_serial(column))
                self._next[key] = following
                return numbers, first, following
            # Ignoring the rows that take a value, the counter is the largest given value so far, plus one.
            steps = np.where(takes_next, first, numbers + 1 - before)
            reached = np.maximum.accumulate(np.concatenate(([first], steps)))
            numbers = np.where(takes_next, reached[:-1] + before, numbers)
            following = int(reached[-1]) + int(takes_next.sum())
            self._next[key] = following
        return numbers, first, following

    @staticmethod
    def _assign_with_wraparound(
        numbers: npt.NDArray[np.int64], first: int, largest: int
    ) -> tuple[npt.NDArray[np.int64], int]:
        """Assign values near the end of a column's range: the values, and the counter after them."""
        values, following = [], first
        for value in numbers.tolist():
            number = value or following
            values.append(number)
            if number >= following:
                following = _next_number(number, largest)
        return np.array(values, np.int64), following

    def _require_counter(
        self, con: SqlConnection, info: TableInfo, column: ColumnInfo
    ) -> tuple[str, int, str]:
        """Make sure that a column's counter exists. Return its key, its value, and the start set by ALTER TABLE."""
        key = (info.database, info.tabid, column.name)
        if key not in self._next:
            row = first_row(con, f"SELECT max({double_quoted(column.name)}) FROM {info.duck_name}")
            top = row[0] if row and row[0] is not None else 0
            with self._lock:
                self._next.setdefault(
                    key, max(column.serial_start, _next_number(int(top), _max_serial(column)))
                )
                self._starts[key] = column.serial_start
        elif self._starts.get(key) != column.serial_start:
            with self._lock:
                self._next[key] = max(self._next[key], column.serial_start)
                self._starts[key] = column.serial_start
        return key

    def return_unused(self, info: TableInfo, column: str, following: int, unused: int) -> None:
        """Set the counter back to `unused`, unless a value was taken since it became `following`."""
        key = (info.database, info.tabid, column)
        with self._lock:
            if self._next.get(key) == following:
                self._next[key] = unused

    def rename(self, database: str, new: str) -> None:
        """Keep the counters of a database that was renamed."""
        with self._lock:
            for key in [k for k in self._next if k[0] == database]:
                self._next[new, key[1], key[2]] = self._next.pop(key)
                self._starts[new, key[1], key[2]] = self._starts.pop(key)

    def forget(self, database: str) -> None:
        """Forget the counters of a database that was dropped."""
        with self._lock:
            for key in [k for k in self._next if k[0] == database]:
                del self._next[key], self._starts[key]
