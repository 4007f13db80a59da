"""Conversion of collections and ROWs to storage form, from literal texts and Python containers.

A collection is stored as a DuckDB LIST, a ROW as a STRUCT, with their parts in storage form. A SET holds no value
twice. SETs and MULTISETs are stored sorted, so that equal ones are equal to DuckDB too. LISTs keep their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from .nested_types import element_type, is_collection, row_fields

_KIND = re.compile(r"\s*(?:(SET|MULTISET|LIST)\s*\{|(ROW)\s*\()", re.IGNORECASE)
_MOMENT = re.compile(r"\s*(?:DATETIME|INTERVAL)\s*\(([^)]*)\)[^,{}()]*(?:\(\d\)[^,{}()]*)*", re.IGNORECASE)
_BARE = re.compile(r"[^,{}()'\"]+")
_MISMATCH = -9634
_NULL_ELEMENT = -391


@dataclass(frozen=True, slots=True)
class NestedLiteral:
    """A parsed literal of a collection or ROW. `kind` is SET, MULTISET, LIST or ROW."""

    kind: str
    items: tuple[object, ...]


def parse_literal(text: str) -> NestedLiteral:
    """Parse `SET{1,'a',ROW(2,NULL)}`. Scalars stay text, NULL is None. Raises -9634 for an invalid literal."""
    literal, at = _literal(text, 0)
    if text[at:].strip():
        raise _bad_literal(text, at)
    return literal


def _bad_literal(text: str, at: int) -> SqlError:
    return SqlError(
        _MISMATCH,
        detail=f"The text is not a literal of a collection or ROW at character {at + 1}: {text[:80]!r}",
    )


def mismatch(t: ColumnType, detail: str) -> SqlError:
    """Return the error for a value of another shape than its type."""
    return SqlError(_MISMATCH, near=t.sql.lower(), detail=detail)


def _literal(text: str, at: int) -> tuple[NestedLiteral, int]:
    found = _KIND.match(text, at)
    if not found:
        raise _bad_literal(text, at)
    kind = (found.group(1) or found.group(2)).upper()
    close = ")" if kind == "ROW" else "}"
    at = _blanks(text, found.end())
    items: list[object] = []
    if text[at : at + 1] == close:
        return NestedLiteral(kind, ()), at + 1
    while True:
        item, at = _item(text, at)
        items.append(item)
        at = _blanks(text, at)
        mark = text[at : at + 1]
        at += 1
        if mark == close:
            return NestedLiteral(kind, tuple(items)), at
        if mark != ",":
            raise _bad_literal(text, at - 1)


def _blanks(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _item(text: str, at: int) -> tuple[object, int]:
    at = _blanks(text, at)
    if _KIND.match(text, at):
        return _literal(text, at)
    quote = text[at : at + 1]
    if quote in ("'", '"') and quote:
        out, at = "", at + 1
        while True:
            end = text.find(quote, at)
            if end < 0:
                raise _bad_literal(text, at)
            out += text[at:end]
            at = end + 1
            if text[at : at + 1] != quote:
                return out, at
            out += quote
            at += 1
    moment = _MOMENT.match(text, at)
    if moment:
        return moment.group(1).strip(), moment.end()
    bare = _BARE.match(text, at)
    if not bare or not bare.group().strip():
        raise _bad_literal(text, at)
    word = bare.group().strip()
    return (None if word.upper() == "NULL" else word), bare.end()


ConvertScalar = Callable[[ColumnType, object], object]


def to_storage(value: object, t: ColumnType, leaf: ConvertScalar) -> object:
    """Convert a literal text, NestedLiteral, list, tuple, set or dict to the storage of `t`. `leaf` converts scalars.

    Raises -9634 for a value of another shape, -391 for NULL where an element or field is NOT NULL.
    """
    if isinstance(value, str):
        value = parse_literal(value)
    kind = TypeCode(t.code).name
    if isinstance(value, NestedLiteral):
        if value.kind != kind:
            raise mismatch(t, f"A {kind} was expected, not a {value.kind}.")
        items: Any = value.items
    else:
        items = value
    if is_collection(t):
        if not isinstance(items, (list, tuple, set, frozenset)):
            raise mismatch(t, f"A {kind} was expected, not a value of type {type(value).__name__}.")
        member = element_type(t)
        return canonical([_convert_part(item, member, leaf, kind) for item in items], t)
    fields = row_fields(t)
    if isinstance(items, dict):
        if set(items) != {name for name, _ in fields}:
            raise mismatch(t, f"The fields {sorted(map(str, items))} do not match.")
        items = [items[name] for name, _ in fields]
    if not isinstance(items, (list, tuple)) or len(items) != len(fields):
        raise mismatch(t, f"The value does not have the {len(fields)} fields of {t.sql}.")
    return {
        name: _convert_part(item, member, leaf, name)
        for item, (name, member) in zip(items, fields, strict=True)
    }


def _convert_part(item: object, t: ColumnType, leaf: ConvertScalar, where: str) -> object:
    if item is None:
        if t.not_null:
            raise SqlError(_NULL_ELEMENT, 0, 0, where)
        return None
    return leaf(t, item)


def canonical(items: list[object], t: ColumnType) -> list[object]:
    """Return the elements as they are stored: sorted, and in a SET without duplicates."""
    if t.code == TypeCode.LIST:
        return items
    ordered = sorted(items, key=_sort_key)
    if t.code == TypeCode.MULTISET:
        return ordered
    return [item for i, item in enumerate(ordered) if not i or item != ordered[i - 1]]


def _sort_key(value: object) -> Any:
    """Sort key for DuckDB's order of LISTs and STRUCTs: part by part, NULL last."""
    if value is None:
        return (1,)
    if isinstance(value, dict):
        return (0, tuple(map(_sort_key, value.values())))
    if isinstance(value, list):
        return (0, tuple(map(_sort_key, value)))
    return (0, value)
