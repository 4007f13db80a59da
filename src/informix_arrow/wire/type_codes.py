"""Type codes, flags and fixed properties of each type (SQLI section 8, TYPES section 2)."""

from __future__ import annotations

import datetime as dt
from enum import IntEnum


class TypeCode(IntEnum):
    """Low byte of the type word."""

    CHAR = 0
    SMALLINT = 1
    INTEGER = 2
    FLOAT = 3
    SMALLFLOAT = 4
    DECIMAL = 5
    SERIAL = 6
    DATE = 7
    MONEY = 8
    NULL = 9
    DATETIME = 10
    BYTE = 11
    TEXT = 12
    VARCHAR = 13
    INTERVAL = 14
    NCHAR = 15
    NVARCHAR = 16
    INT8 = 17
    SERIAL8 = 18
    SET = 19
    MULTISET = 20
    LIST = 21
    ROW = 22
    COLLECTION = 23
    UDTVAR = 40
    UDTFIXED = 41
    LVARCHAR = 43
    SENDRECV = 44
    BOOL = 45
    BIGINT = 52
    BIGSERIAL = 53


# Flags in the high byte of the type word (SQLI section 8).
FLAG_NOT_NULL = 0x0100
FLAG_HOST_VARIABLE = 0x0200
FLAG_DISTINCT = 0x0800
FLAG_NAMED_ROW = 0x1000
FLAG_DISTINCT_LVARCHAR = 0x2000
FLAG_DISTINCT_BOOLEAN = 0x4000
FLAG_CLIENT_COLLECTION = 0x8000

LVARCHAR_MAX = 32739
"""Bytes of the longest LVARCHAR."""
FLOATING_SCALE = 255
"""Scale of a DECIMAL without one."""
ENVELOPE_MIN = 32768
"""Bytes that a collection, a ROW or an opaque value is taken to need at least: their described length says
little."""
LOCATOR_SIZE = 72
"""Bytes of a BLOB or CLOB locator; as hexadecimal text it is twice as long (TYPES section 13)."""
DOCUMENT_LENGTH = 4096
"""Described length of JSON and BSON: what Informix stores in the row. Values may be longer."""
LOB_DESCRIPTOR_SIZE = 56
"""Bytes of a BYTE or TEXT descriptor without bit 70 (TYPES section 12)."""
LOB_SIZE_OFFSET = 16
"""Where in it the size of the content stands, 4 bytes."""
LOB_NULL_BYTE = 39
"""Byte of a BYTE or TEXT descriptor whose bit 0 means NULL (TYPES section 12)."""
DATE_EPOCH = dt.date(1899, 12, 31).toordinal()
"""Ordinal of day 0 of DATE (TYPES section 8)."""


class ExtendedId(IntEnum):
    """Extended ids of built-in types (SQLI section 8)."""

    LVARCHAR = 1
    BOOLEAN = 5
    BLOB = 10
    CLOB = 11
    JSON = 25  # this and the next one as in IBM's JDBC driver
    BSON = 26


def has_type_name(code: int) -> bool:
    """Return whether BIND and RET_TYPE carry owner and type name after this type word: above 18, but not 52 and
    53."""
    low = code & 0xFF
    return low > TypeCode.SERIAL8 and low not in (TypeCode.BIGINT, TypeCode.BIGSERIAL)


FIXED_TYPES: dict[int, tuple[str, int, int]] = {  # code -> (SQL name, encoded length, tuple bytes)
    TypeCode.SMALLINT: ("SMALLINT", 2, 2),
    TypeCode.INTEGER: ("INTEGER", 4, 4),
    TypeCode.FLOAT: ("FLOAT", 8, 8),
    TypeCode.SMALLFLOAT: ("SMALLFLOAT", 4, 4),
    TypeCode.SERIAL: ("SERIAL", 4, 4),
    TypeCode.DATE: ("DATE", 4, 4),
    TypeCode.INT8: ("INT8", 10, 10),
    TypeCode.SERIAL8: ("SERIAL8", 10, 10),
    TypeCode.BIGINT: ("BIGINT", 8, 8),
    TypeCode.BIGSERIAL: ("BIGSERIAL", 8, 8),
    TypeCode.BYTE: ("BYTE", 56, 56),
    TypeCode.TEXT: ("TEXT", 56, 56),
}
COLLECTION_TYPES = {
    TypeCode.SET: "SET",
    TypeCode.MULTISET: "MULTISET",
    TypeCode.LIST: "LIST",
    TypeCode.ROW: "ROW",
    TypeCode.COLLECTION: "COLLECTION",
}
COMPLEX_CODES = frozenset(code.value for code in COLLECTION_TYPES)
"""Collections and ROW: their values travel as text in Informix's literal form (TYPES section 11)."""
CHAR_TYPES = {TypeCode.CHAR: "CHAR", TypeCode.NCHAR: "NCHAR"}
VARCHAR_TYPES = {TypeCode.VARCHAR: "VARCHAR", TypeCode.NVARCHAR: "NVARCHAR"}
DECIMAL_TYPES = {TypeCode.DECIMAL: "DECIMAL", TypeCode.MONEY: "MONEY"}
