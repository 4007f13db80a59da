"""Collections and ROWs: their types from the description, and their values as SQL literals (TYPES section 11).

On the wire such a value is its literal: ``SET{1          ,2          }``, ``ROW('Alice',30         )``, with
numbers blank-padded to their display width. The types of its members are in the extended type's name, as DESCRIBE
reports it: ``SET(INTEGER NOT NULL)``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pyarrow as pa

from .errors import DataError, NotSupportedError, ProtocolError
from .nested_values import format_value, parse_value
from .plan_ops import DEFAULT_OPTIONS, TypeOptions, arrow_type, plan_op
from .type_codes import COLLECTION_TYPES, FLAG_NAMED_ROW, TypeCode
from .types import ColumnType, Definition, NamedType, parse_definition

_OPENING = {"{": "}", "(": ")"}
_WORD = re.compile(r"[A-Za-z_]+")
_CALL = re.compile(r"(DATETIME|INTERVAL)\s*\(([^()]*)\)\s*", re.IGNORECASE)
_QUALIFIER = re.compile(r"[A-Z]+\s*(?:\(\s*\d+\s*\))?\s+TO\s+[A-Z]+(?:\s*\(\s*\d+\s*\))?", re.IGNORECASE)


@lru_cache(maxsize=1024)
def definition_of(ct: ColumnType) -> Definition | None:
    """Return the member types of a collection or ROW. None if its description does not have them."""
    if not ct.is_complex or ct.flags & FLAG_NAMED_ROW or not ct.extended_name:
        return None
    try:
        definition = parse_definition(ct.extended_name)
    except ValueError:
        return None
    if ct.code != TypeCode.COLLECTION and definition.kind != COLLECTION_TYPES[TypeCode(ct.code)]:
        return None
    return definition


@lru_cache(maxsize=1024)
def nested_type(ct: ColumnType, options: TypeOptions = DEFAULT_OPTIONS) -> Any:
    """Return the Arrow type of a collection (list) or ROW (struct). None if it is read as its literal text.

    That is so if ``options`` ask for it (``nested="text"``, ``encoding_errors="binary"``), if the description does
    not have the types of all members, and for members that have no literal form. Members have the Arrow types that
    columns of their type would have, except that string views and dictionaries become plain utf8.
    """
    if options.nested == "text" or options.encoding_errors == "binary":
        return None
    definition = definition_of(ct)
    if definition is None:
        return None
    types = []
    for _, member in definition.members:
        member_type = None if isinstance(member, NamedType) else _member_type(member, options)
        if member_type is None:
            return None
        types.append(member_type)
    if not definition.is_row:
        return pa.list_(types[0])
    names = [field_name(name) for name, _ in definition.members]
    if len(set(names)) != len(names):
        return None
    return pa.struct([pa.field(name, kind) for name, kind in zip(names, types, strict=True)])


def _member_type(ct: ColumnType, options: TypeOptions) -> Any:
    if ct.is_complex:
        return nested_type(ct, options)
    if not _has_literal(ct):
        return None
    try:
        return arrow_type(ct, _member_options(options))
    except (NotSupportedError, ProtocolError):
        return None


def _member_options(options: TypeOptions) -> TypeOptions:
    return replace(
        options, strings="large" if options.strings == "large" else "utf8", encoding_errors="strict"
    )


def _has_literal(ct: ColumnType) -> bool:
    """Return whether values of a type have a known literal.

    Large objects do not, nor opaque types other than LVARCHAR, BOOLEAN and JSON.
    """
    if ct.is_large_object:
        return False
    return (
        ct.is_lvarchar or ct.is_boolean or ct.is_json or ct.code not in (TypeCode.UDTVAR, TypeCode.UDTFIXED)
    )


def field_name(name: str) -> str:
    """Return a ROW field's name, without the quotes of a delimited one."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def parse_literal(text: str, ct: ColumnType, options: TypeOptions = DEFAULT_OPTIONS) -> object:
    """Parse the literal of a collection (to a list) or ROW (to a dict by field names).

    Members become what a column of their type would return under ``options``. Keywords in any case are accepted,
    blanks around values, either kind of quotes, doubled inside, ``NULL``, nested literals quoted or bare, and
    moments as ``'2026-01-02 03:04'`` or ``DATETIME (2026-01-02 03:04) YEAR TO MINUTE``.

    Raises ``DataError`` with the position that does not parse, and for a type whose members are not known.
    """
    scanner = _Scanner(text)
    value = _complex(scanner, ct, _member_options(options))
    scanner.skip_blanks()
    if not scanner.at_end:
        raise scanner.error("Unexpected text follows the value.")
    return value


def format_literal(value: object, ct: ColumnType, encoding: str | None = None) -> str:
    """Format the literal of a collection or ROW: ``SET{1,2}``, ``ROW('Alice',30)``.

    Collections take lists, tuples and sets. ROWs take mappings with all their fields, or sequences in their order.
    Strings are always quoted. With ``encoding`` the sizes of strings are checked in bytes. :func:`parse_literal`
    is the reverse.

    Raises ``DataError`` for a value that the type cannot hold, and for None if the element is NOT NULL.
    """
    definition = definition_of(ct)
    if definition is None:
        raise DataError(f"The members of {ct.sql} are not known. Pass the value as an SQL literal in a str.")
    if definition.is_row:
        members = _row_members(value, ct, definition)
        opening, closing = "ROW(", ")"
    else:
        if not isinstance(value, (list, tuple, set, frozenset)):
            raise DataError(
                f"A value of type {type(value).__name__} cannot be stored in {ct.sql}. Pass a list or a set."
            )
        members = [(definition.element, item) for item in value]
        opening, closing = f"{definition.kind}{{", "}"
    return opening + ",".join(_format(member, item, ct, encoding) for member, item in members) + closing


def _row_members(value: object, ct: ColumnType, definition: Definition) -> list[tuple[Any, object]]:
    names = [field_name(name) for name, _ in definition.members]
    if isinstance(value, dict):
        missing = [name for name in names if name not in value]
        extra = [str(name) for name in value if name not in names]
        if missing or extra:
            problems = [
                f"{text} {', '.join(listed)}"
                for text, listed in (("missing fields", missing), ("unknown fields", extra))
                if listed
            ]
            raise DataError(f"The value does not match {ct.sql}: {' and '.join(problems)}.")
        items = [value[name] for name in names]
    elif isinstance(value, (list, tuple)):
        items = list(value)
        if len(items) != len(names):
            raise DataError(f"{ct.sql} has {len(names)} fields, but the value has {len(items)}.")
    else:
        raise DataError(
            f"A value of type {type(value).__name__} cannot be stored in {ct.sql}. Pass a dict by field names."
        )
    return [(member, item) for (_, member), item in zip(definition.members, items, strict=True)]


def _format(member: ColumnType | NamedType, value: object, ct: ColumnType, encoding: str | None) -> str:
    if value is None:
        if member.not_null:
            raise DataError(f"{ct.sql}: None cannot be stored in a NOT NULL member.")
        return "NULL"
    if isinstance(member, NamedType):
        raise DataError(
            f"{ct.sql}: The members of {member.name} are not known. Pass the value as an SQL literal in a str."
        )
    if member.is_complex:
        return format_literal(value, member, encoding)
    if not _has_literal(member):
        raise DataError(f"{ct.sql}: A value of type {member.sql} has no SQL literal.")
    return format_value(value, member, encoding)


class _Scanner:
    """A position in a literal."""

    __slots__ = ("pos", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    @property
    def at_end(self) -> bool:
        return self.pos >= len(self.text)

    @property
    def next(self) -> str:
        """The next character. "" at the end."""
        return self.text[self.pos : self.pos + 1]

    def error(self, what: str, at: int | None = None) -> DataError:
        """Return a DataError with the 1-based position and the text there."""
        place = self.pos if at is None else at
        rest = self.text[place : place + 20]
        where = f"before {rest!r}" if rest else "at the end"
        return DataError(
            f"{what} The error is at position {place + 1} {where} of a literal of {len(self.text)} characters."
        )

    def skip_blanks(self) -> None:
        text, pos = self.text, self.pos
        while pos < len(text) and text[pos].isspace():
            pos += 1
        self.pos = pos

    def word(self) -> str:
        """Return the word at the position without moving past it. "" if there is none."""
        match = _WORD.match(self.text, self.pos)
        return match.group().upper() if match else ""

    def quoted(self) -> str:
        """Read a quoted string. Quotes within it are doubled."""
        quote, start = self.next, self.pos
        parts = []
        at = start + 1
        while True:
            end = self.text.find(quote, at)
            if end < 0:
                raise self.error("The closing quote of a string is missing.", start)
            parts.append(self.text[at:end])
            if self.text[end + 1 : end + 2] != quote:
                self.pos = end + 1
                return quote.join(parts)
            at = end + 2

    def bare(self) -> str:
        """Read the text up to the next comma or closing bracket."""
        start = self.pos
        while not self.at_end and self.next not in ",})":
            self.pos += 1
        return self.text[start : self.pos].strip()


def _complex(scanner: _Scanner, ct: ColumnType, options: TypeOptions) -> object:
    definition = definition_of(ct)
    if definition is None:
        raise DataError(f"The members of {ct.sql} are not known.")
    scanner.skip_blanks()
    word = scanner.word()
    if word != definition.kind and not (
        definition.kind == "COLLECTION" and word in ("SET", "MULTISET", "LIST")
    ):
        raise scanner.error(f"{definition.kind} was expected.")
    scanner.pos += len(word)
    scanner.skip_blanks()
    opening = scanner.next
    if opening != ("(" if definition.is_row else "{"):
        raise scanner.error(f"{'(' if definition.is_row else '{'} was expected.")
    scanner.pos += 1
    members = [member for _, member in definition.members]
    values = _members(scanner, members, _OPENING[opening], not definition.is_row, options)
    if not definition.is_row:
        return values
    names = [field_name(name) for name, _ in definition.members]
    return dict(zip(names, values, strict=True))


def _members(
    scanner: _Scanner, members: list[Any], closing: str, repeated: bool, options: TypeOptions
) -> list[object]:
    """Parse the values up to the closing bracket: any number of one member, or one of each."""
    values: list[object] = []
    scanner.skip_blanks()
    if repeated and scanner.next == closing:
        scanner.pos += 1
        return values
    while True:
        if not repeated and len(values) == len(members):
            raise scanner.error(f"The literal has more values than the ROW has fields ({len(members)}).")
        values.append(_value(scanner, members[0 if repeated else len(values)], options))
        scanner.skip_blanks()
        mark = scanner.next
        if mark not in (",", closing) or not mark:
            raise scanner.error(f"A comma or {closing} was expected.")
        scanner.pos += 1
        if mark == closing:
            break
    if not repeated and len(values) < len(members):
        raise scanner.error(
            f"The ROW has {len(members)} fields, but the literal has only {len(values)} values.",
            scanner.pos - 1,
        )
    return values


def _value(scanner: _Scanner, member: ColumnType | NamedType, options: TypeOptions) -> object:
    scanner.skip_blanks()
    if scanner.word() == "NULL":
        scanner.pos += 4
        return None
    if isinstance(member, NamedType):
        raise scanner.error(f"The members of {member.name} are not known.")
    start = scanner.pos
    quoted = scanner.next in ("'", '"') and bool(scanner.next)
    if member.is_complex:
        if not quoted:
            return _complex(scanner, member, options)
        inner = _Scanner(scanner.quoted())
        value = _complex(inner, member, options)
        inner.skip_blanks()
        if not inner.at_end:
            raise inner.error("Unexpected text follows a quoted value.")
        return value
    qualifier = ""
    if quoted:
        text = scanner.quoted()
    elif (call := _CALL.match(scanner.text, scanner.pos)) is not None:
        text = call.group(2)
        scanner.pos = call.end()
        match = _QUALIFIER.match(scanner.text, scanner.pos)
        if match is None:
            raise scanner.error(f"The qualifier of {call.group(1).upper()} is missing.")
        qualifier = f"{call.group(1)} {match.group()}"
        scanner.pos = match.end()
    else:
        text = scanner.bare()
        if not text:
            raise scanner.error("A value was expected.", start)
    try:
        return parse_value(
            text, member, plan_op(member, options), options, quoted=quoted, qualifier=qualifier
        )
    except DataError as e:
        raise scanner.error(str(e), start) from None
