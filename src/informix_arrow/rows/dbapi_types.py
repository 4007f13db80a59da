"""PEP 249's type objects and constructors."""

from __future__ import annotations

import datetime
import time

from ..wire.describe import Column
from ..wire.types import TypeCode


class SqlType(str):
    """The type of a column in ``Cursor.description``: the text of its declaration, ``"DECIMAL(8,2)"``.

    It is equal to its type object (``description[0][1] == NUMBER``) and to its own text.
    """

    code: int
    __slots__ = ("code",)

    def __new__(cls, sql: str, code: int) -> SqlType:
        self = super().__new__(cls, sql)
        self.code = code
        return self

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        return str(self), self.code  # for copy and pickle

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return self.code in other.codes
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class TypeObject:
    """A group of column types that a program distinguishes (PEP 249)."""

    def __init__(self, name: str, *codes: int) -> None:
        self.name = name
        self.codes = frozenset(codes)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SqlType):
            return other.code in self.codes
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"informix_arrow.dbapi.{self.name}"


# Their type codes in clients (TYPES section 2); on the wire both are an extended type like others.
_CLOB, _BLOB = 101, 102

STRING = TypeObject(
    "STRING",
    TypeCode.CHAR,
    TypeCode.VARCHAR,
    TypeCode.NCHAR,
    TypeCode.NVARCHAR,
    TypeCode.LVARCHAR,
    TypeCode.TEXT,
    _CLOB,
)
BINARY = TypeObject("BINARY", TypeCode.BYTE, _BLOB)
NUMBER = TypeObject(
    "NUMBER",
    TypeCode.SMALLINT,
    TypeCode.INTEGER,
    TypeCode.BIGINT,
    TypeCode.INT8,
    TypeCode.SERIAL,
    TypeCode.SERIAL8,
    TypeCode.BIGSERIAL,
    TypeCode.FLOAT,
    TypeCode.SMALLFLOAT,
    TypeCode.DECIMAL,
    TypeCode.MONEY,
)
DATETIME = TypeObject("DATETIME", TypeCode.DATE, TypeCode.DATETIME, TypeCode.INTERVAL)
ROWID = TypeObject("ROWID")  # Informix describes a ROWID as INTEGER: they cannot be distinguished

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """Return the local date of a time given in seconds since 1970-01-01 UTC."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    """Return the local time of day of a time given in seconds since 1970-01-01 UTC, in whole seconds."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """Return the local date and time of a time given in seconds since 1970-01-01 UTC, in whole seconds."""
    return Timestamp(*time.localtime(ticks)[:6])


DescriptionItem = tuple[str, SqlType, None, int, int | None, int | None, bool]


def describe(columns: tuple[Column, ...]) -> tuple[DescriptionItem, ...]:
    """Return ``Cursor.description``: name, type, None, maximum bytes in a tuple, precision, scale, nullable."""
    return tuple(
        (
            column.name,
            SqlType(column.type.sql, _code(column)),
            None,
            column.type.max_width,
            column.type.precision,
            column.type.scale,
            not column.type.not_null,
        )
        for column in columns
    )


def _code(column: Column) -> int:
    """Return the type code; LVARCHAR, BOOLEAN, BLOB and CLOB, which travel as an extended type, have their own."""
    if column.type.is_blob:
        return _BLOB
    if column.type.is_clob:
        return _CLOB
    if column.type.is_lvarchar:
        return TypeCode.LVARCHAR
    if column.type.is_boolean:
        return TypeCode.BOOL
    return column.type.code
