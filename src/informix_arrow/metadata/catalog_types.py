"""Column types from the catalogue (TYPES section 2).

A type is built from the type word, the length and the extended id of syscolumns, and from sysxtdtypes and sysattrtypes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..wire.type_codes import COLLECTION_TYPES
from ..wire.types import COMPLEX_CODES, ColumnType, ExtendedId, TypeCode

_BUILTIN = {
    ExtendedId.LVARCHAR.value: "lvarchar",
    ExtendedId.BOOLEAN.value: "boolean",
    ExtendedId.BLOB.value: "blob",
    ExtendedId.CLOB.value: "clob",
}
_MAX_DEPTH = 32  # nesting of types; guards against a catalogue with a cycle


@dataclass(frozen=True, slots=True)
class ExtendedType:
    """A row of sysxtdtypes. Unnamed types have the name ""."""

    name: str
    owner: str
    code: int
    source: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """A row of sysattrtypes: a field of a ROW, or the element of a collection, whose name is ""."""

    seqno: int
    level: int
    parent: int
    name: str
    word: int
    length: int
    extended_id: int


@dataclass(frozen=True, slots=True)
class TypeCatalogue:
    """The extended types of a database by id."""

    types: Mapping[int, ExtendedType]
    attributes: Mapping[int, Sequence[Attribute]]

    @classmethod
    def of_rows(cls, types: Iterable[Sequence[Any]], attributes: Iterable[Sequence[Any]]) -> TypeCatalogue:
        """Return the types of rows of sysxtdtypes, and of rows of sysattrtypes, which begin with the type's id."""
        members: dict[int, list[Attribute]] = {}
        for extended_id, seqno, level, parent, name, word, length, inner in attributes:
            members.setdefault(extended_id, []).append(
                Attribute(seqno, level or 0, parent or 0, name or "", word, length, inner or 0)
            )
        return cls(
            {
                key: ExtendedType(name or "", owner or "", code, source or 0)
                for key, name, owner, code, source in types
            },
            members,
        )

    def column_type(self, word: int, length: int, extended_id: int, depth: int = 0) -> ColumnType:
        """Return the type of a column, as DESCRIBE would describe it.

        A type that the catalogue does not explain keeps its code and has no name.
        """
        word, length = word & 0xFFFF, length & 0xFFFF
        if extended_id in _BUILTIN:
            return ColumnType.from_word(word, length, extended_id, "informix", _BUILTIN[extended_id])
        known = self.types.get(extended_id)
        name = known.name if known else ""
        if not name and extended_id and word & 0xFF in COMPLEX_CODES and depth < _MAX_DEPTH:
            name = self._definition(word & 0xFF, extended_id, depth)
        return ColumnType.from_word(
            word, length, extended_id, known.owner if known else "", name, known.source if known else 0
        )

    def _definition(self, code: int, extended_id: int, depth: int) -> str:
        """Return ``SET(INTEGER NOT NULL)``, ``ROW(a INTEGER)``, or "" without attributes."""
        rows = self.attributes.get(extended_id, ())
        top = min((row.level for row in rows), default=0)
        return self._members(code, [row for row in rows if row.level == top], rows, depth)

    def _members(self, code: int, members: Sequence[Attribute], rows: Sequence[Attribute], depth: int) -> str:
        if not members:
            return ""
        parts = []
        for member in members:
            inner = [row for row in rows if row.parent == member.seqno and row.level > member.level]
            member_code = member.word & 0xFF
            if inner and member_code in COMPLEX_CODES and depth < _MAX_DEPTH:
                text = self._members(member_code, inner, rows, depth + 1)
                not_null = bool(member.word & 0x0100)
            else:
                t = self.column_type(member.word, member.length, member.extended_id, depth + 1)
                text, not_null = t.sql, t.not_null
            parts.append(f"{member.name} {text}".strip() + (" NOT NULL" if not_null else ""))
        return f"{COLLECTION_TYPES[TypeCode(code)]}({', '.join(parts)})"


NO_EXTENDED = TypeCatalogue({}, {})


def needs_catalogue(extended_id: int) -> bool:
    """Return whether sysxtdtypes is needed for a column."""
    return extended_id > 0 and extended_id not in _BUILTIN


def default_text(kind: str, stored: str | None, t: ColumnType) -> str | None:
    """Return a column's default as SQL.

    A literal of a type other than text is stored behind its internal form and a blank. A text is stored as it is.
    """
    if kind == "L":
        text = stored or ""
        if t.content_width:
            return "'" + text.replace("'", "''") + "'"
        text = text.partition(" ")[2] if " " in text else text
        text = text.strip()
        quoted = t.code in (TypeCode.DATE, TypeCode.DATETIME, TypeCode.INTERVAL) or t.is_boolean
        return f"'{text}'" if quoted and not text.startswith(("'", '"')) else text
    if kind == "C":
        try:
            qualifier = t.qualifier if t.code == TypeCode.DATETIME else None
        except ValueError:  # the catalogue has an invalid qualifier
            qualifier = None
        return f"CURRENT {qualifier.sql}" if qualifier else "CURRENT"
    return {"U": "USER", "T": "TODAY", "N": None, "S": "DBSERVERNAME"}.get(kind)
