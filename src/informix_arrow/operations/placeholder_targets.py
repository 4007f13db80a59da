"""Find the parameters that a statement assigns unchanged to a column or argument, and their types.

Only those are checked before they are sent (:mod:`..wire.assignment`): a parameter that is compared or computed
with (``WHERE price > ?``, ``SET n = n + ?``) may have any digits. The statement's text shows which parameters
are assigned; the types come from the server's description or are requested from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..wire.assignment import Assigner
from ..wire.errors import Error, prefix_location
from ..wire.sql_text import code_tokens
from ..wire.types import ColumnType

_LONGEST = 1 << 16  # characters of a text that is cached
_BRANCHES = ("MATCHED", "NOT")  # after the WHEN of a MERGE
_CALLS = ("PROCEDURE", "FUNCTION", "ROUTINE", "CALL")


@dataclass(frozen=True, slots=True)
class Assigned:
    """Placeholders that are assigned unchanged."""

    numbers: tuple[int, ...]  # numbers of the placeholders, from 0
    columns: tuple[
        int, ...
    ]  # for each the described column that it is assigned to; () if the description has none
    described: int  # number of columns that the description must have for ``columns`` to be valid


_NONE = Assigned((), (), 0)


def assigned_placeholders(text: str) -> Assigned:
    """Find the assigned placeholders of a statement: in an INSERT's VALUES, after SET, and in a routine's
    arguments.
    """
    if "?" not in text:
        return _NONE
    return _remembered(text) if len(text) <= _LONGEST else _find(text)


def _find(text: str) -> Assigned:
    tokens = code_tokens(text)
    words = [token.upper() for token in tokens]
    first = words[0] if words else ""
    if first == "INSERT" and "VALUES" in words:
        numbered = list(enumerate(_list_behind(tokens, words.index("VALUES"))))
        return _of_items(tokens, numbered, len(numbered))
    if first == "UPDATE" and "SET" in words:
        numbered, known = _set_items(tokens, words, words.index("SET"))
        return _of_items(tokens, numbered, len(numbered) if known else 0)
    if first == "MERGE":
        numbered = [
            item
            for at, word in enumerate(words)
            if word == "SET"
            for item in _set_items(tokens, words, at)[0]
        ]
        for at, word in enumerate(words):
            if word == "VALUES":
                numbered += enumerate(_list_behind(tokens, at))
        return _of_items(tokens, numbered, 0)
    if first in ("EXECUTE", "CALL", "?"):
        call = next((at for at, word in enumerate(words) if word in _CALLS), None)
        if call is not None and "(" in tokens[call:]:
            items = _list_behind(tokens, call)
            return _of_items(tokens, list(enumerate(items)), 0)
    return _NONE


_remembered = lru_cache(maxsize=512)(_find)
_Span = tuple[int, int]  # of an item: its first token and the one after its last


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
    """Return the items of the first parenthesized list after token ``at``."""
    try:
        start = tokens.index("(", at) + 1
    except ValueError:
        return []
    return _items(tokens, start)[0]


def _items(tokens: Sequence[str], start: int, ends: Sequence[str] = (")",)) -> tuple[list[_Span], int]:
    """Return comma-separated items up to the token of ``ends`` that closes them, and the position of that."""
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
    """Return the numbered right-hand sides of a SET clause, and whether each one belongs to exactly one column."""
    items: list[tuple[int, _Span]] = []
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
                items.append((len(items), item))
        else:
            items.append((len(items), (equals + 1, end)))
    return items, known


@dataclass(slots=True)
class Check:
    """The check of one statement's values against the types that they are assigned to."""

    targets: tuple[ColumnType | None, ...]  # of all parameters; None: not assigned, or unknown
    assigners: tuple[tuple[int, Assigner], ...]  # those that have something to check
    names: tuple[str, ...]  # column of each parameter; "" if unknown

    def row(self, values: Sequence[object]) -> Sequence[object]:
        """Return the values to be sent: the same sequence if nothing changes.

        Raises ``DataError`` naming parameter (1-based) and column.
        """
        changed: list[object] | None = None
        for number, assign in self.assigners:
            value = values[number]
            if value is None:
                continue
            try:
                assigned = assign(value)
            except Error as error:
                raise self.named(error, number) from None
            if assigned is not value:
                if changed is None:
                    changed = list(values)
                changed[number] = assigned
        return values if changed is None else changed

    def named(self, error: Error, number: int) -> Error:
        """Return the error with its parameter named."""
        name = self.names[number]
        where = f"Parameter {number + 1}{f' (column {name!r})' if name else ''}"
        prefix_location(error, where)
        error.column = name or error.column
        return error
