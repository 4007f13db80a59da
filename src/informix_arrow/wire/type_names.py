"""Reading declared type texts such as ``DATETIME YEAR TO SECOND`` or ``character varying (20, 5) not
null``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from .column_types import FLAG_NOT_NULL, ColumnType, TypeCode

_NOT_NULL = re.compile(r"\s+NOT\s+NULL\s*$", re.IGNORECASE)
_CALL = re.compile(r"([A-Z0-9 ]+?)\s*(?:\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?", re.IGNORECASE)

_PLAIN: dict[str, Callable[[], ColumnType]] = {
    "SMALLINT": ColumnType.smallint,
    "INT": ColumnType.integer,
    "INTEGER": ColumnType.integer,
    "BIGINT": ColumnType.bigint,
    "INT8": ColumnType.int8,
    "REAL": ColumnType.smallfloat,
    "SMALLFLOAT": ColumnType.smallfloat,
    "DOUBLE PRECISION": ColumnType.float_,
    "DATE": ColumnType.date,
    "BOOLEAN": ColumnType.boolean,
    "BYTE": ColumnType.byte,
    "TEXT": ColumnType.text,
}
# These take a number that the type word does not keep: the first value of a serial, the old digits of
# FLOAT(n).
_NUMBER_IGNORED: dict[str, Callable[[], ColumnType]] = {
    "SERIAL": ColumnType.serial,
    "SERIAL8": ColumnType.serial8,
    "BIGSERIAL": ColumnType.bigserial,
    "FLOAT": ColumnType.float_,
}
_SIZED: dict[str, Callable[..., ColumnType]] = {
    "CHAR": ColumnType.char,
    "CHARACTER": ColumnType.char,
    "NCHAR": ColumnType.nchar,
    "LVARCHAR": ColumnType.lvarchar,
}
_TWO_SIZES: dict[str, Callable[..., ColumnType]] = {
    "VARCHAR": ColumnType.varchar,
    "CHARACTER VARYING": ColumnType.varchar,
    "NVARCHAR": ColumnType.nvarchar,
    "DECIMAL": ColumnType.decimal,
    "DEC": ColumnType.decimal,
    "NUMERIC": ColumnType.decimal,
    "MONEY": ColumnType.money,
}
_LOBS = {"BLOB": (TypeCode.UDTFIXED, 10, 72), "CLOB": (TypeCode.UDTFIXED, 11, 72)}
_OPAQUE = {"JSON": TypeCode.UDTVAR, "BSON": TypeCode.UDTVAR}
_COLLECTIONS = {
    "SET": TypeCode.SET,
    "MULTISET": TypeCode.MULTISET,
    "LIST": TypeCode.LIST,
    "ROW": TypeCode.ROW,
}


def parse_type(text: str) -> ColumnType:
    """See :meth:`ColumnType.parse_sql`."""
    body, not_null = _NOT_NULL.subn("", text.strip())
    found = _parse(" ".join(body.split()), text)
    return replace(found, flags=found.flags | FLAG_NOT_NULL) if not_null else found


def _parse(body: str, text: str) -> ColumnType:
    first, _, rest = body.partition(" ")
    if first.upper() == "DATETIME":
        return ColumnType.datetime(rest)
    if first.upper() == "INTERVAL":
        return ColumnType.interval(rest)
    collection = re.match(r"(SET|MULTISET|LIST|ROW)\s*\(.+\)$", body, re.IGNORECASE)
    if collection:
        return ColumnType(_COLLECTIONS[collection.group(1).upper()].value, 0, extended_name=body)
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
    if name in _LOBS and not sizes:
        code, extended_id, length = _LOBS[name]
        return ColumnType(code.value, length, 0, extended_id, "informix", name.lower())
    if name in _OPAQUE and not sizes:
        return ColumnType(_OPAQUE[name].value, 4096, 0, 0, "informix", name.lower())
    raise ValueError(f"not an Informix type: {text!r}")
