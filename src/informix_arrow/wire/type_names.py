"""Declared types as text, both ways: ``DATETIME YEAR TO SECOND``, ``character varying (20, 5) not null``,
``SET(ROW(a INTEGER, b VARCHAR(20)) NOT NULL)``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from .column_types import ColumnType
from .qualifiers import Qualifier
from .type_codes import (
    CHAR_TYPES,
    COLLECTION_TYPES,
    DECIMAL_TYPES,
    FIXED_TYPES,
    FLAG_DISTINCT,
    FLAG_NAMED_ROW,
    FLAG_NOT_NULL,
    VARCHAR_TYPES,
    TypeCode,
)

_NOT_NULL = re.compile(r"\s+NOT\s+NULL\s*$", re.IGNORECASE)
_CALL = re.compile(r"([A-Z0-9 ]+?)\s*(?:\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?", re.IGNORECASE)
_COMPLEX = re.compile(r"\s*(SET|MULTISET|LIST|COLLECTION|ROW)\s*\((.+)\)\s*", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r'\s*("(?:[^"]|"")+"|[^\W\d][\w$]*)\s+(\S.*)', re.DOTALL)
_TYPE_NAME = re.compile(r"(?:[^\W\d][\w$]*\s*\.\s*)?[^\W\d][\w$]*")

_PLAIN: dict[str, Callable[[], ColumnType]] = {
    "SMALLINT": ColumnType.smallint,
    "INT": ColumnType.integer,
    "INTEGER": ColumnType.integer,
    "BIGINT": ColumnType.bigint,
    "INT8": ColumnType.int8,
    "REAL": ColumnType.smallfloat,
    "SMALLFLOAT": ColumnType.smallfloat,
    "DATE": ColumnType.date,
    "BOOLEAN": ColumnType.boolean,
    "BYTE": ColumnType.byte,
    "TEXT": ColumnType.text,
    "BLOB": ColumnType.blob,
    "CLOB": ColumnType.clob,
    "JSON": lambda: ColumnType(TypeCode.UDTVAR.value, 4096, 0, 0, "informix", "json"),
    "BSON": lambda: ColumnType(TypeCode.UDTVAR.value, 4096, 0, 0, "informix", "bson"),
}
# These take a number that the type word does not keep: the first value of a serial, the old digits of
# FLOAT(n).
_NUMBER_IGNORED: dict[str, Callable[[], ColumnType]] = {
    "SERIAL": ColumnType.serial,
    "SERIAL8": ColumnType.serial8,
    "BIGSERIAL": ColumnType.bigserial,
    "FLOAT": ColumnType.float_,
    "DOUBLE PRECISION": ColumnType.float_,
}
_SIZED: dict[str, Callable[..., ColumnType]] = {
    "CHAR": ColumnType.char,
    "CHARACTER": ColumnType.char,
    "NCHAR": ColumnType.nchar,
    "NATIONAL CHAR": ColumnType.nchar,
    "NATIONAL CHARACTER": ColumnType.nchar,
    "LVARCHAR": ColumnType.lvarchar,
}
_TWO_SIZES: dict[str, Callable[..., ColumnType]] = {
    "VARCHAR": ColumnType.varchar,
    "CHAR VARYING": ColumnType.varchar,
    "CHARACTER VARYING": ColumnType.varchar,
    "NVARCHAR": ColumnType.nvarchar,
    "NCHAR VARYING": ColumnType.nvarchar,
    "NATIONAL CHAR VARYING": ColumnType.nvarchar,
    "NATIONAL CHARACTER VARYING": ColumnType.nvarchar,
    "DECIMAL": ColumnType.decimal,
    "DEC": ColumnType.decimal,
    "NUMERIC": ColumnType.decimal,
    "MONEY": ColumnType.money,
}
_COMPLEX_CODES = {
    "SET": TypeCode.SET,
    "MULTISET": TypeCode.MULTISET,
    "LIST": TypeCode.LIST,
    "COLLECTION": TypeCode.COLLECTION,
    "ROW": TypeCode.ROW,
}


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type that only its name tells: DISTINCT, named ROW or opaque, inside a definition."""

    name: str
    not_null: bool = False

    @property
    def sql(self) -> str:
        """The name."""
        return self.name


Member = ColumnType | NamedType


@dataclass(frozen=True, slots=True)
class Definition:
    """What a collection or an unnamed ROW is made of.

    ``kind`` is SET, MULTISET, LIST, COLLECTION or ROW. ``members`` holds the element's type under the name "",
    or the ROW's fields in their order.
    """

    kind: str
    members: tuple[tuple[str, Member], ...]

    @property
    def is_row(self) -> bool:
        """ROW and no collection."""
        return self.kind == "ROW"

    @property
    def element(self) -> Member:
        """The element's type of a collection."""
        return self.members[0][1]

    @property
    def sql(self) -> str:
        """``SET(INTEGER NOT NULL)``, ``ROW(name VARCHAR(20), age INTEGER)``."""
        parts = []
        for name, member in self.members:
            text = f"{name} {member.sql}" if name else member.sql
            parts.append(f"{text} NOT NULL" if member.not_null else text)
        return f"{self.kind}({', '.join(parts)})"


def parse_type(text: str) -> ColumnType:
    """See :meth:`ColumnType.parse_sql`."""
    body, not_null = _NOT_NULL.subn("", text.strip())
    found = _parse(body, text)
    return replace(found, flags=found.flags | FLAG_NOT_NULL) if not_null else found


def _parse(body: str, text: str) -> ColumnType:
    if _COMPLEX.fullmatch(body):
        definition = parse_definition(body)
        return ColumnType(_COMPLEX_CODES[definition.kind].value, 0, extended_name=definition.sql)
    body = " ".join(body.split())
    first, _, rest = body.partition(" ")
    if first.upper() == "DATETIME":
        return ColumnType.datetime(rest)
    if first.upper() == "INTERVAL":
        return ColumnType.interval(rest)
    match = _CALL.fullmatch(body)
    if match is None:
        raise ValueError(f"not an Informix type: {text!r}")
    name = match.group(1).upper()
    sizes = [int(number) for number in match.groups()[1:] if number is not None]
    if name in _PLAIN and not sizes:
        return _PLAIN[name]()
    if name in _NUMBER_IGNORED and len(sizes) <= 1:
        return _NUMBER_IGNORED[name]()
    if name in _SIZED and len(sizes) <= 1:
        return _SIZED[name](*sizes)
    if name in _TWO_SIZES:
        return _TWO_SIZES[name](*sizes)
    raise ValueError(f"not an Informix type: {text!r}")


_OPAQUE_CODES = (TypeCode.UDTVAR, TypeCode.UDTFIXED, TypeCode.SENDRECV)
_BUILTIN_OPAQUE = frozenset({"json", "bson"})


def declared(ct: ColumnType) -> str:
    """See :attr:`ColumnType.sql`."""
    code = ct.code
    if ct.flags & FLAG_DISTINCT and ct.extended_name:
        return ct.extended_name
    if code in FIXED_TYPES:
        return FIXED_TYPES[code][0]
    if code in CHAR_TYPES:
        return f"{CHAR_TYPES[TypeCode(code)]}({ct.encoded_length})"
    if code in VARCHAR_TYPES:
        name, reserve = VARCHAR_TYPES[TypeCode(code)], ct.encoded_length >> 8 & 0xFF
        return f"{name}({ct.content_width},{reserve})" if reserve else f"{name}({ct.content_width})"
    if code in DECIMAL_TYPES:
        scale = "" if ct.scale is None else f",{ct.scale}"
        return f"{DECIMAL_TYPES[TypeCode(code)]}({ct.precision}{scale})"
    if code == TypeCode.DATETIME:
        return f"DATETIME {Qualifier.from_encoded(ct.encoded_length).sql}"
    if code == TypeCode.INTERVAL:
        return f"INTERVAL {Qualifier.from_encoded(ct.encoded_length).interval_sql}"
    if ct.is_boolean:
        return "BOOLEAN"
    if ct.is_lvarchar:
        return f"LVARCHAR({ct.content_width})"
    if ct.is_blob or ct.is_clob:
        return "BLOB" if ct.is_blob else "CLOB"
    if code in _OPAQUE_CODES and ct.extended_name:
        return ct.type_name.upper() if ct.type_name in _BUILTIN_OPAQUE else ct.extended_name
    if ct.is_complex:
        return _declared_complex(ct)
    return "NULL" if code == TypeCode.NULL else f"type {code}"


def _declared_complex(ct: ColumnType) -> str:
    """The definition in its usual spelling; a name, or a text that cannot be read, as it is."""
    if not ct.extended_name:
        return COLLECTION_TYPES[TypeCode(ct.code)]
    if ct.flags & FLAG_NAMED_ROW:
        return ct.extended_name
    try:
        return parse_definition(ct.extended_name).sql
    except ValueError:
        return ct.extended_name


@lru_cache(maxsize=1024)
def parse_definition(text: str) -> Definition:
    """Read the definition of a collection or an unnamed ROW in any case and spacing (SQLI section 8).

    ``ValueError`` for what is none. A word that is no built-in type is taken as the name of another type.
    """
    match = _COMPLEX.fullmatch(text)
    if match is None:
        raise ValueError(f"not the definition of a collection or ROW: {text!r}")
    kind, inner = match.group(1).upper(), match.group(2)
    parts = _split(inner, text)
    if kind != "ROW":
        if len(parts) != 1:
            raise ValueError(f"a collection has one element type: {text!r}")
        return Definition(kind, (("", _member(parts[0], text)),))
    members = []
    for part in parts:
        field = _FIELD.fullmatch(part)
        if field is None:
            raise ValueError(f"not a field of a ROW: {part.strip()!r} in {text!r}")
        members.append((field.group(1), _member(field.group(2), text)))
    return Definition(kind, tuple(members))


def _member(text: str, whole: str) -> Member:
    try:
        return parse_type(text)
    except ValueError:
        name, not_null = _NOT_NULL.subn("", text.strip())
        if _TYPE_NAME.fullmatch(name) is None or name.upper() in _BUILTIN_WORDS:
            raise ValueError(f"not an Informix type: {text.strip()!r} in {whole!r}") from None
        return NamedType(re.sub(r"\s", "", name), bool(not_null))


_BUILTIN_WORDS = frozenset(
    {*_PLAIN, *_NUMBER_IGNORED, *_SIZED, *_TWO_SIZES, *_COMPLEX_CODES, "DATETIME", "INTERVAL"}
)


def _split(inner: str, whole: str) -> list[str]:
    """Cut at the commas outside parentheses and quoted names."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(inner):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                break
        elif character == "," and depth == 0:
            parts.append(inner[start:at])
            start = at + 1
    if depth or quoted:
        raise ValueError(f"parentheses or quotes do not match: {whole!r}")
    return [*parts, inner[start:]]
