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
            found = list(dict.fromkeys(found))
        for place, descending, nulls_first in reversed(self.order):
            found.sort(key=_key(place, descending is not nulls_first), reverse=descending)
        return found


def _key(place: int, nulls_low: bool) -> Callable[[Row], tuple[bool, Any]]:
    def key(row: Row) -> tuple[bool, Any]:
        value = row[place]
        return (value is None) is not nulls_low, "" if value is None else value

    return key
