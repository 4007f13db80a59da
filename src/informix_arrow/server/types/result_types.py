"""The Informix type of each expression (TYPES section 2, SERVER-BEHAVIOUR section 5), and its type in DuckDB.

`duck_type` is the type in which a column is stored. wire.plan_ops.plan_op decides the Arrow type of results. Character
columns are VARCHAR (CHAR without its trailing blanks). DATETIMEs from YEAR are TIMESTAMP (TO DAY: DATE), those from
HOUR TIME, and all others literal text of fixed width, which sorts correctly.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...wire.plan_ops import TypeOptions
from ...wire.qualifiers import Field, Qualifier
from ...wire.quoting import double_quoted
from ...wire.types import FLAG_NOT_NULL, ColumnType, TypeCode
from .documents import is_document
from .intervals import interval_type, qualifier_of, widest
from .nested_types import (
    element_type,
    is_collection,
    is_nested,
    is_row,
    is_simple_large,
    lob_kind,
    row_fields,
    same_type,
)

RESULT_OPTIONS = TypeOptions(
    char_padding="keep", floating_decimals="string", intervals="month_day_nano", nested="text"
)
"""The options of casts of query results. The encoder's plan must be compiled with the same options."""

INTEGERS = frozenset(
    {
        TypeCode.SMALLINT, TypeCode.INTEGER, TypeCode.SERIAL, TypeCode.BIGINT, TypeCode.BIGSERIAL,
        TypeCode.INT8, TypeCode.SERIAL8,
    }
)  # fmt: skip
LONGS = frozenset({TypeCode.BIGINT, TypeCode.BIGSERIAL, TypeCode.INT8, TypeCode.SERIAL8})
SERIALS = frozenset({TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL})
FLOATS = frozenset({TypeCode.FLOAT, TypeCode.SMALLFLOAT})
DECIMALS = frozenset({TypeCode.DECIMAL, TypeCode.MONEY})
PADDED = frozenset({TypeCode.CHAR, TypeCode.NCHAR})
VARYING = frozenset({TypeCode.VARCHAR, TypeCode.NVARCHAR})


def is_character(t: ColumnType) -> bool:
    return t.code in PADDED or t.code in VARYING or t.is_lvarchar


def may_end_in_blanks(t: ColumnType) -> bool:
    """Return whether values are stored with trailing blanks, which comparisons ignore."""
    return t.code in VARYING or t.is_lvarchar


def is_number(t: ColumnType) -> bool:
    return t.code in INTEGERS or t.code in FLOATS or t.code in DECIMALS


def is_floating_decimal(t: ColumnType) -> bool:
    return t.code in DECIMALS and t.scale is None


def is_exact(t: ColumnType) -> bool:
    """Return whether a number has a fixed number of digits after the point."""
    return t.code in INTEGERS or (t.code in DECIMALS and t.scale is not None)


def is_date_or_datetime(t: ColumnType) -> bool:
    return t.code in (TypeCode.DATE, TypeCode.DATETIME)


def has_own_storage(t: ColumnType) -> bool:
    """Return whether DuckDB's values of the type need conversion for clients. Intervals are integers there, large
    objects bytes, collections and ROWs contain such values."""
    return (
        t.code == TypeCode.INTERVAL
        or is_nested(t)
        or is_simple_large(t)
        or lob_kind(t) is not None
        or is_document(t)
    )


def nullable(t: ColumnType) -> ColumnType:
    """Return the type without NOT NULL."""
    return replace(t, flags=t.flags & ~FLAG_NOT_NULL) if t.not_null else t


def not_null(t: ColumnType) -> ColumnType:
    return t if t.not_null else replace(t, flags=t.flags | FLAG_NOT_NULL)


LONGEST_TEXT = 32739
"""Bytes of the longest LVARCHAR."""


def character(n: int) -> ColumnType:
    """Return VARCHAR if the length fits, else LVARCHAR."""
    n = max(1, n)
    return ColumnType.varchar(n) if n <= 255 else ColumnType.lvarchar(min(n, LONGEST_TEXT))


_TEXT_WIDTHS: dict[int, int] = {
    TypeCode.DATE: 10,
    TypeCode.SMALLINT: 6,
    TypeCode.INTEGER: 11,
    TypeCode.FLOAT: 24,
}
"""Length of the longest text of a type, where it is below the width of `text_type`."""


def text_type(t: ColumnType) -> ColumnType:
    """Return the character type that holds the text of every value of another type."""
    if is_floating_decimal(t):
        return ColumnType.lvarchar(320)
    if t.code in DECIMALS:
        return character((t.precision or 32) + (4 if t.code == TypeCode.MONEY else 3))
    if is_nested(t) or t.is_json:
        return ColumnType.lvarchar(32739)
    return character(32)


def datetime_storage(qualifier: Qualifier) -> str:
    """Return the DuckDB type that holds a DATETIME of this qualifier."""
    if qualifier.start == Field.YEAR:
        return "DATE" if qualifier.end == Field.DAY else "TIMESTAMP"
    return "TIME" if qualifier.start == Field.HOUR else "VARCHAR"


def duck_type(t: ColumnType) -> str:
    """Return the DuckDB type that stores and compares values of `t`. Raises ValueError for a type without one."""
    code = t.code
    if t.is_boolean:
        return "BOOLEAN"
    if is_character(t):
        return "VARCHAR"
    if code == TypeCode.SMALLINT:
        return "SMALLINT"
    if code in LONGS:
        return "BIGINT"
    if code in INTEGERS:
        return "INTEGER"
    if code == TypeCode.SMALLFLOAT:
        return "FLOAT"
    if code == TypeCode.FLOAT:
        return "DOUBLE"
    if code == TypeCode.DATE:
        return "DATE"
    if code in DECIMALS:
        return "DOUBLE" if t.scale is None else f"DECIMAL({t.precision},{t.scale})"
    if code == TypeCode.DATETIME and t.qualifier is not None:
        return datetime_storage(t.qualifier)
    if code == TypeCode.INTERVAL:
        return "BIGINT"  # intervals.py
    if is_simple_large(t) or lob_kind(t) or t.is_bson:
        return "BLOB"
    if t.is_json:
        return "VARCHAR"
    if is_collection(t):
        return f"{storage_type(element_type(t))}[]"
    if is_row(t):
        fields = ", ".join(f"{double_quoted(name)} {storage_type(member)}" for name, member in row_fields(t))
        return f"STRUCT({fields})"
    raise ValueError(f"{t.sql} cannot be stored.")


def storage_type(t: ColumnType) -> str:
    """Return the DuckDB type of a column: `duck_type`, but VARCHAR for the keys of floating decimals
    (packed_decimal.py)."""
    return "VARCHAR" if is_floating_decimal(t) else duck_type(t)


def as_decimal(t: ColumnType) -> tuple[int, int] | None:
    """Return (precision, scale) of an exact number, None for floating numbers."""
    if t.code in DECIMALS:
        return None if t.scale is None else (t.precision or 16, t.scale)
    if t.code == TypeCode.SMALLINT:
        return (5, 0)
    if t.code in LONGS:
        return (19, 0)
    return (10, 0)


def arithmetic_type(op: str, a: ColumnType, b: ColumnType) -> ColumnType:
    """Return the type of `a op b` for numbers. Integers stay integers except with /, and FLOAT wins over DECIMAL."""
    if a.code in FLOATS or b.code in FLOATS:
        return ColumnType.float_()
    both_integers = a.code in INTEGERS and b.code in INTEGERS
    if op == "/":
        return ColumnType.decimal(32)
    if both_integers:
        return ColumnType.bigint() if a.code in LONGS or b.code in LONGS else ColumnType.integer()
    x, y = as_decimal(a), as_decimal(b)
    if x is None or y is None:
        return ColumnType.decimal(32)
    if op == "*":
        scale = x[1] + y[1]
        precision = x[0] + y[0]
        if precision > 38 or scale > 32:
            return ColumnType.decimal(32)
    else:
        scale = max(x[1], y[1])
        precision = max(x[0] - x[1], y[0] - y[1]) + scale + 1
    return ColumnType.decimal(min(32, max(precision, scale)), scale)


def common_type(a: ColumnType | None, b: ColumnType | None) -> ColumnType | None:
    """Return the common type of both arms of a CASE, NVL or UNION, None if neither is known."""
    if a is None or b is None:
        return a if b is None else b
    if a == b:
        return a
    a, b = nullable(a), nullable(b)
    if same_type(a, b):
        return a
    if is_character(a) or is_character(b):
        return _common_text(a, b)
    if is_number(a) and is_number(b):
        return _common_number(a, b)
    if is_date_or_datetime(a) and is_date_or_datetime(b):
        return a if a.code == TypeCode.DATETIME else b
    if TypeCode.DATE in (a.code, b.code) and (is_number(a) or is_number(b)):
        return a if a.code == TypeCode.DATE else b  # the number is that of a day
    if a.code == TypeCode.INTERVAL and b.code == TypeCode.INTERVAL:
        return interval_type(widest(qualifier_of(a), qualifier_of(b)))
    return b


def _common_text(a: ColumnType, b: ColumnType) -> ColumnType:
    """Return the text type that holds both values, at least one of which is a text."""
    if is_character(a) and is_character(b):
        width = max(a.content_width, b.content_width)
        if a.code in PADDED and a.code == b.code:
            return replace(a, encoded_length=width)
        return character(width)
    text, other = (a, b) if is_character(a) else (b, a)
    needed = _TEXT_WIDTHS.get(other.code) or text_type(other).content_width
    return text if text.content_width >= needed else character(needed)


def _common_number(a: ColumnType, b: ColumnType) -> ColumnType:
    """Return the numeric type that holds both values."""
    if a.code in INTEGERS and b.code in INTEGERS:
        return ColumnType.bigint() if a.code in LONGS or b.code in LONGS else ColumnType.integer()
    if a.code in FLOATS or b.code in FLOATS:
        return ColumnType.float_()
    x, y = as_decimal(a), as_decimal(b)
    if x is None or y is None:
        return ColumnType.decimal(32)
    scale = max(x[1], y[1])
    both = ColumnType.money if a.code == b.code == TypeCode.MONEY else ColumnType.decimal
    return both(min(32, max(x[0] - x[1], y[0] - y[1]) + scale), scale)


def without_serial(t: ColumnType) -> ColumnType:
    """Return the integer type of a serial, for computed columns."""
    if t.code == TypeCode.SERIAL:
        return ColumnType.integer()
    if t.code == TypeCode.SERIAL8:
        return ColumnType.int8()
    if t.code == TypeCode.BIGSERIAL:
        return ColumnType.bigint()
    return nullable(t)


_INTEGER_OF_SERIAL: dict[int, ColumnType] = {
    TypeCode.SERIAL: ColumnType.integer(),
    TypeCode.SERIAL8: ColumnType.parse_sql("INT8"),
    TypeCode.BIGSERIAL: ColumnType.parse_sql("BIGINT"),
}


def variable_type(t: ColumnType) -> ColumnType:
    """Return the type of an SPL variable for a column's values."""
    return _INTEGER_OF_SERIAL.get(t.code) or without_serial(t)


_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def from_duck_type(name: str) -> ColumnType | None:
    """Return the nearest Informix type of a DuckDB type name, for expressions without a type rule."""
    simple = {
        "BOOLEAN": ColumnType.boolean,
        "TINYINT": ColumnType.smallint,
        "UTINYINT": ColumnType.smallint,
        "SMALLINT": ColumnType.smallint,
        "INTEGER": ColumnType.integer,
        "USMALLINT": ColumnType.integer,
        "BIGINT": ColumnType.bigint,
        "UINTEGER": ColumnType.bigint,
        "FLOAT": ColumnType.smallfloat,
        "DOUBLE": ColumnType.float_,
        "DATE": ColumnType.date,
    }
    if name in simple:
        return simple[name]()
    if name in ("HUGEINT", "UBIGINT", "UHUGEINT"):
        return ColumnType.decimal(32, 0)
    if name == "VARCHAR":
        return ColumnType.lvarchar(2048)
    if name in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"):
        return ColumnType.datetime("YEAR TO FRACTION(5)")
    if name == "TIME":
        return ColumnType.datetime("HOUR TO FRACTION(5)")
    found = _DECIMAL.fullmatch(name)
    if found:
        p, s = int(found.group(1)), int(found.group(2))
        return ColumnType.decimal(min(p, 32), s) if s <= min(p, 32) else ColumnType.decimal(32)
    return None
