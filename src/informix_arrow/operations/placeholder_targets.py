"""Which parameters are assigned to a column or argument as they are, and what type that has.

Only those are checked before they are sent (:mod:`..wire.assignment`): a parameter that is compared or computed with
(``WHERE price > ?``, ``SET n = n + ?``) may have any digits. The statement's text tells which is which; the types come
from the description of the INSERT or UPDATE itself, or are asked for once per prepared statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..wire.assignment import Assigner
from ..wire.errors import Error, prefix_location
from ..wire.sql_text import code_tokens
from ..wire.types import ColumnType

_LONGEST = 1 << 16  # characters of a text that is worth remembering
_BRANCHES = ("MATCHED", "NOT")  # behind a MERGE's WHEN
_CALLS = ("PROCEDURE", "FUNCTION", "ROUTINE", "CALL")


@dataclass(frozen=True, slots=True)
class Assigned:
    """Placeholders that are assigned as they are."""

    numbers: tuple[int, ...]  # of the placeholders, from 0
    columns: tuple[int, ...]  # for each the described column that it goes into; () where no description tells
    described: int  # how many columns the description must have for ``columns`` to hold


_NONE = Assigned((), (), 0)


def assigned_placeholders(text: str) -> Assigned:
    """What a statement assigns: an INSERT's VALUES, what stands behind SET, a routine's arguments."""
    if "?" not in text:
        return _NONE
    return _remembered(text) if len(text) <= _LONGEST else _find(text)


def _find(text: str) -> Assigned:
    tokens = code_tokens(text)
    words = [token.upper() for token in tokens]
    first = words[0] if words else ""
    if first == "INSERT" and "VALUES" in words:
        found = list(enumerate(_list_behind(tokens, words.index("VALUES"))))
        return _of_items(tokens, found, len(found))
    if first == "UPDATE" and "SET" in words:
        found, known = _set_items(tokens, words, words.index("SET"))
        return _of_items(tokens, found, len(found) if known else 0)
    if first == "MERGE":
        found = [
            item
            for at, word in enumerate(words)
            if word == "SET"
            for item in _set_items(tokens, words, at)[0]
        ]
        for at, word in enumerate(words):
            if word == "VALUES":
                found += enumerate(_list_behind(tokens, at))
        return _of_items(tokens, found, 0)
    if first in ("EXECUTE", "CALL", "?"):
        call = next((at for at, word in enumerate(words) if word in _CALLS), None)
        if call is not None and "(" in tokens[call:]:
            items = _list_behind(tokens, call)
            return _of_items(tokens, list(enumerate(items)), 0)
    return _NONE


_remembered = lru_cache(maxsize=512)(_find)
_Span = tuple[int, int]  # of an item: from its first token to behind its last one


def _of_items(tokens: Sequence[str], items: Sequence[tuple[int, _Span]], described: int) -> Assigned:
    numbers, columns = [], []
    for column, (start, end) in sorted(items, key=lambda item: item[1]):
        at = end - 1
        named = end - start == 3 and tokens[start + 1] == "="  # an argument by its name
        if tokens[at] == "?" and (end - start == 1 or named):
            numbers.append(sum(token == "?" for token in tokens[:at]))
            columns.append(column)
    return Assigned(tuple(numbers), tuple(columns) if described else (), described)


def _list_behind(tokens: Sequence[str], at: int) -> list[_Span]:
    """The items of the first list in parentheses behind token ``at``."""
    try:
        start = tokens.index("(", at) + 1
    except ValueError:
        return []
    return _items(tokens, start)[0]


def _items(tokens: Sequence[str], start: int, ends: Sequence[str] = (")",)) -> tuple[list[_Span], int]:
    """Items with commas between them, up to the token of ``ends`` that closes them, and where that is."""
    items: list[_Span] = []
    depth, begin = 0, start
    for at in range(start, len(tokens)):
        token = tokens[at].upper()
        over = token in ends or (
            token == "WHEN" and tokens[at + 1 : at + 2] and tokens[at + 1].upper() in _BRANCHES
        )
        if depth == 0 and (over or token == ","):
            if at > begin:
                items.append((begin, at))
            begin = at + 1
            if token != ",":
                return items, at
        elif token[-1:] in ("(", "{"):
            depth += 1
        elif token in (")", "}"):
            depth -= 1
    if len(tokens) > begin:
        items.append((begin, len(tokens)))
    return items, len(tokens)


def _set_items(tokens: Sequence[str], words: Sequence[str], at: int) -> tuple[list[tuple[int, _Span]], bool]:
    """What stands behind each ``=`` of a SET clause, numbered in its order, and whether each is one column's."""
    found: list[tuple[int, _Span]] = []
    known = True
    for start, end in _items(tokens, at + 1, ("WHERE", "FROM", ";"))[0]:
        try:
            equals = tokens.index("=", start, end)
        except ValueError:
            return [], False
        if tokens[equals - 1] == ")":  # (a, b) = (?, ?)
            if tokens[equals + 1 : equals + 2] != ["("] or words[equals + 2 : equals + 3] == ["SELECT"]:
                known = False
                continue
            for item in _items(tokens, equals + 2)[0]:
                found.append((len(found), item))
        else:
            found.append((len(found), (equals + 1, end)))
    return found, known


@dataclass(slots=True)
class Check:
    """The values of one statement's rows, held against what they are assigned to."""

    targets: tuple[ColumnType | None, ...]  # of all parameters; None: not assigned, or nobody tells
    assigners: tuple[tuple[int, Assigner], ...]  # those that have something to check
    names: tuple[str, ...]  # of the column of each parameter; "" where it is not known

    def row(self, values: Sequence[object]) -> Sequence[object]:
        """The values to be sent: the very same sequence where nothing is changed.

        Raises ``DataError`` naming parameter (1-based) and column.
        """
        changed: list[object] | None = None
        for number, assign in self.assigners:
            value = values[number]
            if value is None:
                continue
            try:
                made = assign(value)
            except Error as error:
                raise self.named(error, number) from None
            if made is not value:
                if changed is None:
                    changed = list(values)
                changed[number] = made
        return values if changed is None else changed

    def named(self, error: Error, number: int) -> Error:
        """The error, with the parameter that it is about."""
        name = self.names[number]
        where = f"parameter {number + 1}{f' (column {name!r})' if name else ''}"
        prefix_location(error, where)
        error.column = name or error.column
        return error
