"""Collections, ROWs and named types: from a declaration to a column type that includes its element and field types.

A ColumnType has only code, length and the name that DESCRIBE reports. The parts of a SET, a named ROW or a DISTINCT
type are in its `definition`. That text contains no user type names: each is replaced by its own definition, so that the
code below does not need the catalogue.

    column type          extended name (as described)              definition
    SET(INT NOT NULL)    SET(integer not null)                     the same
    person_t             person_t                                  ROW(name varchar(50), age integer)
    SET(person_t ...)    SET(person_t not null)                    SET(ROW(name varchar(50), ...) not null)
    dollar (DISTINCT)    dollar                                    decimal(10,2)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from ...wire.types import (
    FLAG_DISTINCT,
    FLAG_DISTINCT_BOOLEAN,
    FLAG_DISTINCT_LVARCHAR,
    FLAG_NAMED_ROW,
    FLAG_NOT_NULL,
    ColumnType,
    TypeCode,
)
from ..errors import SqlError

COLLECTIONS = frozenset({TypeCode.SET.value, TypeCode.MULTISET.value, TypeCode.LIST.value})
FindType = Callable[[str], ColumnType | None]

_KINDS = {"SET": TypeCode.SET, "MULTISET": TypeCode.MULTISET, "LIST": TypeCode.LIST, "ROW": TypeCode.ROW}
_CONSTRUCTOR = re.compile(r"\s*(SET|MULTISET|LIST|ROW)\s*\(", re.IGNORECASE)
_NOT_NULL = re.compile(r"\s+NOT\s+NULL\s*$", re.IGNORECASE)
_NAME = re.compile(r'\s*(?:"([^"]+)"|([A-Za-z_][A-Za-z0-9_$]*))\s+')
_USER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
LENGTH = 2048
"""Described length of collections and ROWs. Their values may be longer."""


@dataclass(frozen=True, slots=True)
class UserDefinedType(ColumnType):
    """A type whose parts are in `definition`."""

    definition: str = ""


def is_collection(t: ColumnType | None) -> bool:
    """Return whether the type is SET, MULTISET or LIST."""
    return t is not None and t.code in COLLECTIONS


def is_row(t: ColumnType | None) -> bool:
    return t is not None and t.code == TypeCode.ROW


def is_nested(t: ColumnType | None) -> bool:
    return is_collection(t) or is_row(t)


def definition_of(t: ColumnType) -> str:
    """Return the text that defines the parts of a type."""
    return t.definition if isinstance(t, UserDefinedType) and t.definition else t.extended_name


def same_type(a: ColumnType, b: ColumnType) -> bool:
    """Return whether two types have the same storage: code, length and, for nested types, definition."""
    if (a.code, a.encoded_length) != (b.code, b.encoded_length):
        return False
    return not is_nested(a) or definition_of(a) == definition_of(b)


def element_type(t: ColumnType) -> ColumnType:
    """Return the type of a collection's elements."""
    return _parse_parts(definition_of(t))[0][1]


def row_fields(t: ColumnType) -> tuple[tuple[str, ColumnType], ...]:
    """Return names and types of a ROW's fields."""
    return _parse_parts(definition_of(t))


@lru_cache(maxsize=512)
def _parse_parts(definition: str) -> tuple[tuple[str, ColumnType], ...]:
    found = _CONSTRUCTOR.match(definition)
    if not found or not definition.rstrip().endswith(")"):
        raise SqlError(-9628, 0, 0, definition)
    inner = definition[found.end() : definition.rstrip().rindex(")")]
    if found.group(1).upper() != "ROW":
        return (("", declare(inner, _find_no_type)),)
    return tuple((name, declare(text, _find_no_type)) for name, text in _fields(inner))


def _find_no_type(name: str) -> ColumnType | None:
    return None


def _fields(inner: str) -> list[tuple[str, str]]:
    """Split `a INT, b VARCHAR(20)` into names and type texts. Raises -201 for an invalid list."""
    declared_fields: list[tuple[str, str]] = []
    depth, start = 0, 0
    for i, ch in enumerate(inner + ","):
        depth += {"(": 1, ")": -1}.get(ch, 0)
        if ch == "," and not depth:
            piece = inner[start:i]
            start = i + 1
            name = _NAME.match(piece)
            if not name:
                raise SqlError(-201, 0, 1, "", f"{piece!r} is not a field of a ROW.")
            declared_fields.append((name.group(1) or name.group(2).lower(), piece[name.end() :].strip()))
    if len({name for name, _ in declared_fields}) < len(declared_fields):
        raise SqlError(-328, 0, 0, declared_fields[-1][0])
    return declared_fields


def declare(text: str, find_type: FindType) -> ColumnType:
    """Return the column type of a declaration. User types are looked up. Raises -9628 for an unknown type, -201 for
    wrong sizes."""
    body, required = _NOT_NULL.subn("", text.strip())
    t = _declare(body, find_type)
    return replace(t, flags=t.flags | FLAG_NOT_NULL) if required else t


def _declare(body: str, find_type: FindType) -> ColumnType:
    found = _CONSTRUCTOR.match(body)
    if found is not None:
        if not body.endswith(")"):
            raise SqlError(-201, 0, 1, "", body)
        kind = found.group(1).upper()
        inner = body[found.end() : -1]
        if kind == "ROW":
            fields = [(name, declare(text, find_type)) for name, text in _fields(inner)]
            for name, t in fields:
                _storable(t, name)
            shown = ", ".join(f"{name} {_display_text(t)}" for name, t in fields)
            expanded = ", ".join(f"{name} {_expanded(t)}" for name, t in fields)
        else:
            t = declare(inner, find_type)
            _storable(t, kind)
            shown, expanded = _display_text(t), _expanded(t)
        return UserDefinedType(
            _KINDS[kind].value, LENGTH, 0, 0, "informix", f"{kind}({shown})", 0, f"{kind}({expanded})"
        )
    try:
        return ColumnType.parse_sql(body)
    except ValueError as e:
        if _USER_NAME.fullmatch(body):
            known = find_type(body.lower())
            if known is not None:
                return known
            raise SqlError(-9628, 0, 0, body.lower(), "The type does not exist.") from None
        raise SqlError(-201, 0, 1, "", str(e)) from None


def _storable(t: ColumnType, where: str) -> None:
    """Raise -9628 for large objects and serials, which this server does not store inside other types."""
    large = t.code in (TypeCode.BYTE, TypeCode.TEXT) or lob_kind(t) is not None
    if large or t.code in (TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL):
        raise SqlError(
            -9628, 0, 0, t.sql.lower(), f"{t.sql} cannot be used inside a collection or ROW ({where})."
        )


def _display_text(t: ColumnType) -> str:
    named = isinstance(t, UserDefinedType)
    return (t.extended_name if named else t.sql.lower()) + (" not null" if t.not_null else "")


def _expanded(t: ColumnType) -> str:
    text = definition_of(t) if isinstance(t, UserDefinedType) else t.sql.lower()
    return text + (" not null" if t.not_null else "")


def lob_kind(t: ColumnType | None) -> Literal["blob", "clob"] | None:
    """Return "blob" or "clob" for a type whose values are locators, else None."""
    if t is None or t.code != TypeCode.UDTFIXED:
        return None
    return "blob" if t.is_blob else "clob" if t.is_clob else None


def is_simple_large(t: ColumnType | None) -> bool:
    """Return whether the type is BYTE or TEXT."""
    return t is not None and t.code in (TypeCode.BYTE, TypeCode.TEXT)


def named_row(name: str, definition: str, extended_id: int) -> UserDefinedType:
    """Return the type that CREATE ROW TYPE creates from a ROW(...) definition."""
    return UserDefinedType(
        TypeCode.ROW.value, LENGTH, FLAG_NAMED_ROW, extended_id, "informix", name, 0, definition
    )


def distinct(name: str, source: ColumnType, extended_id: int) -> UserDefinedType:
    """Return the type that CREATE DISTINCT TYPE creates from its source: the same values under another name.

    The number of the source type is set only for an opaque type. Else it is 0 and the type code identifies the source:
    JDBC decodes by the number if there is one.
    """
    flags = FLAG_DISTINCT
    if source.is_boolean:
        flags |= FLAG_DISTINCT_BOOLEAN
    elif source.is_lvarchar:
        flags |= FLAG_DISTINCT_LVARCHAR
    definition = definition_of(source) if isinstance(source, UserDefinedType) else source.sql
    opaque = source.code in (TypeCode.UDTVAR, TypeCode.UDTFIXED)
    return UserDefinedType(
        source.code, source.encoded_length, flags, extended_id, "informix", name,
        source.extended_id if opaque else 0, definition,
    )  # fmt: skip
