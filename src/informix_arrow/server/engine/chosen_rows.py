"""Rows that are kept as Python objects, chosen by values and patterns of their columns (planning/kept_rows.py)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..planning.plans import Match

Row = tuple[Any, ...]

MOST_CHOSEN = 4096
"""Rows of a result from which on Arrow from DuckDB is the cheaper way to have them."""

_MOST_TRIED = 2048
"""Different values that a pattern is held against: DuckDB takes no longer for more."""

_LONGEST = 256
"""Characters of a value, and of a pattern, that is tried: nothing interrupts a regular expression."""

_MOST_GAPS = 2
"""Of any number of characters in a pattern that is tried: the time grows with the power of it."""


@dataclass(slots=True)
class _Column:
    """The values of one column, and the places of their rows; `kind` is the type of all but NULLs, None where they have
    several."""

    values: list[Any]
    kind: type | None = None
    places: dict[Any, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, value in enumerate(self.values):
            if value is not None:
                self.places.setdefault(value, []).append(place)
        kinds = {type(value) for value in self.places}
        long = any(len(value) > _LONGEST for value in self.places if type(value) is str)
        self.kind = kinds.pop() if len(kinds) == 1 and not long else None

    def accepted(self, match: Match, value: object) -> Collection[Any] | None:
        """The values that meet a condition; None where that is DuckDB's to say."""
        if type(value) is not self.kind or self.kind not in (int, str):
            return None
        if not match.like:
            return (value,) if value in self.places else ()
        if self.kind is not str or not isinstance(value, str):
            return None
        if "%" not in value and "_" not in value and "\\" not in value:
            return (value,) if value in self.places else ()
        if value == "%":
            return self.places
        pattern = _pattern(value) if len(value) <= _LONGEST else None
        if pattern is None or len(self.places) > _MOST_TRIED:
            return None
        return {each for each in self.places if pattern.fullmatch(each)}


class ChosenRows:
    """Rows in the order of the result.

    Parameters
    ----------
    rows
        The values of columns c0, c1, ..., which a result has, and behind these p0, p1, ..., by which it is chosen.
    wide
        How many are the result's.
    """

    def __init__(self, rows: Sequence[Row], wide: int) -> None:
        self.rows: list[Row] = [row[:wide] for row in rows]
        others = range(wide, len(rows[0])) if rows else ()
        self._columns = [_Column([row[place] for row in rows]) for place in others]

    def matching(self, matches: Sequence[Match], values: Mapping[str, object]) -> list[Row] | None:
        """The rows that meet all conditions, of which there is one at least, in their order; None where they are too
        many, or a condition is DuckDB's to say."""
        if not self.rows:
            return []
        found: list[tuple[int, _Column, Collection[Any]]] = []
        for match in matches:
            column = self._columns[match.column]
            accepted = column.accepted(match, values[match.value])
            if accepted is None:
                return None
            every = accepted is column.places
            count = len(self.rows) if every else sum(len(column.places[each]) for each in accepted)
            found.append((count, column, accepted))
        found.sort(key=lambda each: each[0])
        count, column, accepted = found[0]
        if count >= MOST_CHOSEN:
            return None
        chosen = sorted(place for each in accepted for place in column.places[each])
        for _, column, accepted in found[1:]:
            chosen = [place for place in chosen if column.values[place] in accepted]
        return [self.rows[place] for place in chosen]


@lru_cache(maxsize=256)
def _pattern(like: str) -> re.Pattern[str] | None:
    """The regular expression of a pattern of LIKE; None where it has an escape character, or may take long."""
    if "\\" in like:
        return None
    parts = re.split("%+", like)
    if len(parts) > _MOST_GAPS + 1:
        return None
    texts = (re.escape(part).replace("_", ".") for part in parts)
    return re.compile(".*".join(texts), re.DOTALL)
