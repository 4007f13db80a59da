"""Conditions that divide rows: each row meets exactly one of them, whatever its values, also NULL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .keys import CutPoint


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of one part, the values of its ``?``, and its number of rows (None = an equal share)."""

    sql: str
    parameters: tuple[object, ...] = ()
    rows: int | None = None


def ranges(column: str, cuts: Sequence[CutPoint], *, nulls: bool = True) -> list[Condition]:
    """Return half-open ranges between cuts in ascending order.

    The outer ranges are open. The first one includes NULL if ``nulls``. Without cuts there is a single empty condition.
    """
    if not cuts:
        return [Condition("")]
    lowest = f"{column} < {cuts[0].sql}"
    first = Condition(f"({lowest} OR {column} IS NULL)" if nulls else lowest, cuts[0].parameters)
    inner = [
        Condition(f"{column} >= {low.sql} AND {column} < {high.sql}", low.parameters + high.parameters)
        for low, high in pairwise(cuts)
    ]
    return [first, *inner, Condition(f"{column} >= {cuts[-1].sql}", cuts[-1].parameters)]


def remainders(column: str, parts: int) -> list[Condition]:
    """Return one condition for each remainder of a division. The first one includes NULL."""
    if parts == 1:
        return [Condition("")]
    # ABS, as MOD has the sign of the dividend.
    tests = [f"ABS(MOD({column}, {parts})) = {number}" for number in range(parts)]
    return [Condition(f"({tests[0]} OR {column} IS NULL)"), *map(Condition, tests[1:])]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A row of sysfragments. ``position`` is the order of evaluation, negative for texts about all fragments."""

    position: int
    strategy: str
    text: str
    rows: int | None


#: Strategies whose fragments can be selected by conditions on their rows.
ADDRESSABLE = frozenset("ELN")
_KEY_POSITION = -3  # position of the key expression of a list or interval strategy
_VALUES = re.compile(r"\bVALUES\b", re.IGNORECASE)


def fragments(rows: Sequence[Fragment], parts: int | None) -> list[Condition]:
    """Return conditions made of the fragments' own expressions, or [] if the fragments cannot be addressed.

    If there are more fragments than ``parts``, neighbours share a part. A row is in the first fragment whose expression
    it meets, so expressions may overlap. The server skips the fragments that a condition excludes. Rows that meet no
    expression, usually NULL, form a part of their own: the remainder. A table without a remainder fragment has no such
    rows. If it has some after all, they are still read exactly once.
    """
    keys = [row.text for row in rows if row.position == _KEY_POSITION]
    found = [row for row in rows if row.position >= 0]
    if not found or any(fragment.strategy not in ADDRESSABLE for fragment in found):
        return []
    expressions: list[tuple[str, int | None]] = []
    remainder_rows: int | None = 0
    for fragment in found:
        if fragment.text.strip().lower() in ("remainder", "(remainder)"):
            remainder_rows = fragment.rows
        else:
            expressions.append((_expression(fragment, keys[0] if keys else ""), fragment.rows))
    if not expressions or any(not text for text, _ in expressions):
        return []
    numbers = list(range(len(expressions) + 1))  # the last one is the remainder
    number_of_row = "CASE " + " ".join(f"WHEN {text} THEN {n}" for n, (text, _) in enumerate(expressions))
    number_of_row += f" ELSE {len(expressions)} END"
    row_counts = [*(count for _, count in expressions), remainder_rows]
    conditions = []
    for group in _group_fragments(numbers, parts):
        in_group = f"= {group[0]}" if len(group) == 1 else f"IN ({', '.join(map(str, group))})"
        condition = f"{number_of_row} {in_group}"
        if group[-1] < len(expressions):
            texts = " OR ".join(expressions[n][0] for n in group)
            condition = f"{texts if len(group) == 1 else f'({texts})'} AND {condition}"
        counts = [row_counts[n] for n in group]
        total = None if None in counts else sum(count or 0 for count in counts)
        conditions.append(Condition(condition, (), total))
    return conditions


def _expression(fragment: Fragment, key: str) -> str:
    """Return the condition that the text of a fragment states about its rows.

    The text of a list or interval fragment states it about VALUES, which is replaced by the key.
    """
    text = fragment.text.strip()
    if fragment.strategy == "E" or not _VALUES.search(text):
        return f"({text})" if text else ""
    return f"({_VALUES.sub(lambda _: f'({key.strip()})', text)})" if key.strip() else ""


def _group_fragments(numbers: Sequence[int], parts: int | None) -> list[Sequence[int]]:
    count = len(numbers) if parts is None else min(parts, len(numbers))
    return [numbers[len(numbers) * at // count : len(numbers) * (at + 1) // count] for at in range(count)]
