"""Queries of a temporary table's columns as they are, in some order: rows that DuckDB has not been told of need it for
that neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class PlainRows:
    """What a query makes of all rows of its table: `columns` are their places in a row of the table, `order` the keys
    by their places in the result, the first counts most: place, whether it descends, whether NULLs are first.

    Only for values that DuckDB keeps as they are: texts, ordered by their characters' numbers, and integers.
    """

    columns: tuple[int, ...]
    distinct: bool
    order: tuple[tuple[int, bool, bool], ...]

    def of(self, rows: Sequence[Row]) -> list[Row]:
        """The result's rows from the table's."""
        found: list[Row] = [tuple(row[place] for place in self.columns) for row in rows]
        if self.distinct:
            found = list(_without_repetitions(found).values())
        for number, (place, descending, nulls_first) in reversed(list(enumerate(self.order, 1))):
            blanks = number == len(self.order)  # before another key they decide nothing
            found.sort(key=_key(place, descending is not nulls_first, blanks), reverse=descending)
        return found


def _without_repetitions(rows: Sequence[Row]) -> dict[Row, Row]:
    """Rows that differ in the blanks behind their texts are one, with the shortest of these."""
    found: dict[Row, Row] = {}
    for row in rows:
        key = tuple(value.rstrip(" ") if isinstance(value, str) else value for value in row)
        before = found.get(key)
        found[key] = row if before is None else tuple(map(_shorter, before, row))
    return found


def _shorter(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, str) else a


def _key(place: int, nulls_low: bool, blanks: bool) -> Callable[[Row], tuple[bool, Any]]:
    def key(row: Row) -> tuple[bool, Any]:
        value = row[place]
        if not blanks and isinstance(value, str):
            value = value.rstrip(" ")
        return (value is None) is not nulls_low, "" if value is None else value

    return key
