"""Conditions that divide rows: whatever the values are, NULL among them, each row meets exactly one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .keys import CutPoint


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of one part, the values of its ``?``, and its share of all rows (None = as many as the others)."""

    sql: str
    parameters: tuple[object, ...] = ()
    rows: int | None = None


def ranges(column: str, cuts: Sequence[CutPoint], *, nulls: bool = True) -> list[Condition]:
    """Half-open ranges between cuts in ascending order. The outer ones are open, and the first has the ``nulls``.

    With no cut at all there is no condition.
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
    """By the remainder of a division. MOD has the sign of what is divided; the first part has the NULLs."""
    if parts == 1:
        return [Condition("")]
    each = [f"ABS(MOD({column}, {parts})) = {number}" for number in range(parts)]
    return [Condition(f"({each[0]} OR {column} IS NULL)"), *map(Condition, each[1:])]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A row of sysfragments: ``position`` of evaluation, negative for what is said of all of them."""

    position: int
    strategy: str
    text: str
    rows: int | None


#: Strategies whose fragments can be told apart by conditions on their rows.
ADDRESSABLE = frozenset("ELN")
_KEY_POSITION = -3  # what the fragments of a list or an interval strategy are divided by
_VALUES = re.compile(r"\bVALUES\b", re.IGNORECASE)


def fragments(found: Sequence[Fragment], parts: int | None) -> list[Condition]:
    """By the fragments' own expressions, with neighbours in one part when there are more than ``parts``; [] when they
    cannot be addressed.

    A row is in the first fragment whose expression it meets, so expressions may overlap; the server leaves out the
    fragments that one of them excludes. What meets none, NULLs as a rule, is a part of its own: the remainder. A
    table without one has no such rows, but then nothing is read twice or lost either when this is not so.
    """
    keys = [each.text for each in found if each.position == _KEY_POSITION]
    placed = [each for each in found if each.position >= 0]
    if not placed or any(each.strategy not in ADDRESSABLE for each in placed):
        return []
    expressions: list[tuple[str, int | None]] = []
    rest: int | None = 0
    for each in placed:
        if each.text.strip().lower() in ("remainder", "(remainder)"):
            rest = each.rows
        else:
            expressions.append((_expression(each, keys[0] if keys else ""), each.rows))
    if not expressions or any(not text for text, _ in expressions):
        return []
    numbers = list(range(len(expressions) + 1))  # the last one is the remainder
    which = "CASE " + " ".join(f"WHEN {text} THEN {n}" for n, (text, _) in enumerate(expressions))
    which += f" ELSE {len(expressions)} END"
    rows = [*(count for _, count in expressions), rest]
    made = []
    for group in _group_fragments(numbers, parts):
        among = f"= {group[0]}" if len(group) == 1 else f"IN ({', '.join(map(str, group))})"
        condition = f"{which} {among}"
        if group[-1] < len(expressions):
            texts = " OR ".join(expressions[n][0] for n in group)
            condition = f"{texts if len(group) == 1 else f'({texts})'} AND {condition}"
        counts = [rows[n] for n in group]
        known = None if None in counts else sum(count or 0 for count in counts)
        made.append(Condition(condition, (), known))
    return made


def _expression(fragment: Fragment, key: str) -> str:
    """What a fragment's text says of its rows. A list or interval says it of VALUES, which stands for the key."""
    text = fragment.text.strip()
    if fragment.strategy == "E" or not _VALUES.search(text):
        return f"({text})" if text else ""
    return f"({_VALUES.sub(lambda _: f'({key.strip()})', text)})" if key.strip() else ""


def _group_fragments(numbers: Sequence[int], parts: int | None) -> list[Sequence[int]]:
    count = len(numbers) if parts is None else min(parts, len(numbers))
    return [numbers[len(numbers) * at // count : len(numbers) * (at + 1) // count] for at in range(count)]
