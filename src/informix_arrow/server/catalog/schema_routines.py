"""The routines of a real server that read syscolumns for DatabaseMetaData: names, sizes and numbers of types.

They are known only by how the vendor's driver uses their values (JDBC section 12).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb

from ...wire.qualifiers import Qualifier
from ...wire.types import ColumnType, TypeCode
from ..types.quoting import quote_string
from .catalog import FIRST_USER_TYPE, SqlConnection, duck_database

_MAX_SIZE = 2147483647
_NAMES = {
    TypeCode.CHAR: "char", TypeCode.SMALLINT: "smallint", TypeCode.INTEGER: "integer", TypeCode.FLOAT: "float",
    TypeCode.SMALLFLOAT: "smallfloat", TypeCode.DECIMAL: "decimal", TypeCode.SERIAL: "serial", TypeCode.DATE: "date",
    TypeCode.MONEY: "money", TypeCode.DATETIME: "datetime", TypeCode.BYTE: "byte", TypeCode.TEXT: "text",
    TypeCode.VARCHAR: "varchar", TypeCode.INTERVAL: "interval", TypeCode.NCHAR: "nchar",
    TypeCode.NVARCHAR: "nvarchar", TypeCode.INT8: "int8", TypeCode.SERIAL8: "serial8", TypeCode.SET: "set",
    TypeCode.MULTISET: "multiset", TypeCode.LIST: "list", TypeCode.ROW: "row", TypeCode.COLLECTION: "collection",
    TypeCode.LVARCHAR: "lvarchar", TypeCode.BOOL: "boolean", TypeCode.BIGINT: "bigint",
    TypeCode.BIGSERIAL: "bigserial",
}  # fmt: skip
# java.sql.Types
_JAVA = {
    "char": 1, "nchar": -15, "varchar": 12, "nvarchar": -9, "lvarchar": -1, "smallint": 5, "integer": 4, "serial": 4,
    "bigint": -5, "bigserial": -5, "int8": -5, "serial8": -5, "float": 6, "smallfloat": 7, "decimal": 3, "money": 3,
    "date": 91, "datetime": 93, "interval": 1111, "byte": -4, "text": -1, "boolean": 16, "blob": 2004, "clob": 2005,
    "row": 2002,
}  # fmt: skip
_DISTINCT, _JDBC_OTHER = 2001, 1111
_FLOATING = 255  # the scale of a DECIMAL without one, as in syscolumns
_DIGITS = {
    "smallint": 5, "integer": 10, "serial": 10, "bigint": 19, "bigserial": 19, "int8": 19, "serial8": 19, "float": 15,
    "smallfloat": 7, "date": 10, "boolean": 1, "text": _MAX_SIZE, "byte": _MAX_SIZE, "blob": _MAX_SIZE,
    "clob": _MAX_SIZE,
}  # fmt: skip
_NUMBERS = frozenset(
    {
        "smallint", "integer", "serial", "bigint", "bigserial", "int8", "serial8", "float", "smallfloat", "decimal",
        "money",
    }
)  # fmt: skip


def install(con: duckdb.DuckDBPyConnection) -> None:
    """Register the routines with the instance of `con`."""
    for name, function, arguments, result in _FUNCTIONS:
        con.create_function(name, function, arguments, result, null_handling="special")


def type_name_sql(names: str, word: str, extended_id: str) -> str:
    """Return SQL for a type's name: a user type is found by its number, any other by its type word.

    `names` is SQL for the list that `user_type_names` returns. A subquery for each row would be most of the cost of
    such a statement.
    """
    named = f"list_extract(CAST({names} AS VARCHAR[]), {extended_id} - {FIRST_USER_TYPE - 1})"
    return f"coalesce({named}, _ifx_type_name({word}, {extended_id}))"


def user_type_names(con: SqlConnection, database: str) -> list[str | None]:
    """Return the names of a database's user types by number, beginning with the first possible number."""
    query = f"SELECT extended_id, name FROM {duck_database(database)}._ifx.xtdtypes WHERE mode IN ('R', 'D')"
    found = dict(con.execute(query).fetchall())
    return [found.get(number) for number in range(FIRST_USER_TYPE, max(found, default=0) + 1)]


def declared_types_sql(database: str, procid: str, attributes: Sequence[int]) -> str:
    """Return SQL for the types of a routine's parameters or return values, as a comma-separated text
    (sysproccolumns.paramattr). JDBC splits it at the commas, so types have no sizes."""
    attribute_list = ", ".join(map(str, attributes))
    sizes = quote_string(r"^(\w+)\(.*\)$")
    aggregate = (
        f"SELECT string_agg(regexp_replace(lower(x.declared), {sizes}, '\\1'), ',' ORDER BY x.paramid) "
        f"FROM {duck_database(database)}._ifx.proccolumns x "
        f"WHERE x.procid = {procid} AND x.paramattr IN ({attribute_list})"
    )
    return f"coalesce(({aggregate}), '')"


def _type(word: int, extended_id: int = 0, length: int = 0) -> ColumnType:
    return ColumnType.from_word(word, length & 0xFFFF, extended_id)


def _fields(t: ColumnType) -> Qualifier | None:
    """Return the qualifier of a DATETIME or INTERVAL, None for an invalid number. Users may call these functions with
    any number."""
    try:
        return t.qualifier
    except ValueError:
        return None


def _name(t: ColumnType) -> str:
    if t.is_boolean or t.is_lvarchar:
        return "boolean" if t.is_boolean else "lvarchar"
    if t.is_blob or t.is_clob:
        return "blob" if t.is_blob else "clob"
    if t.is_json or t.is_bson:
        return "json" if t.is_json else "bson"
    return _NAMES.get(TypeCode(t.code), "") if t.code in _NAMES else ""


def _type_name(word: int | None, extended_id: int | None) -> str | None:
    return None if word is None else _name(_type(word, extended_id or 0))


def _java_type(word: int | None, extended_id: int | None) -> int | None:
    if word is None:
        return None
    t = _type(word, extended_id or 0)
    return _DISTINCT if t.flags & 0x0800 else _JAVA.get(_name(t), _JDBC_OTHER)


def _precision(word: int | None, extended_id: int | None, length: int | None) -> int | None:
    if word is None or length is None:
        return None
    t = _type(word, extended_id or 0, length)
    if t.precision is not None:
        return t.precision
    if t.code in (TypeCode.DATETIME, TypeCode.INTERVAL):
        return length  # the driver derives name and size from the qualifier
    return _DIGITS.get(_name(t), t.content_width)


def _scale(word: int | None, length: int | None) -> int | None:
    if word is None or length is None:
        return None
    t = _type(word, 0, length)
    if t.precision is not None:
        return _FLOATING if t.scale is None else t.scale
    if t.code == TypeCode.DATETIME:
        fields = _fields(t)
        return None if fields is None else fields.fraction_digits
    return 0 if _name(t) in _DIGITS else None


def _radix(word: int | None) -> int | None:
    return 10 if word is not None and _name(_type(word)) in _NUMBERS else None


def _qualifier(word: int | None, length: int | None) -> int | None:
    """Return the encoded qualifier. The driver completes the type name with it: ``datetime year to second``."""
    return length if word is not None and word & 0xFF in (TypeCode.DATETIME, TypeCode.INTERVAL) else None


def _octets(word: int | None, extended_id: int | None, length: int | None) -> int | None:
    if word is None or length is None:
        return None
    t = _type(word, extended_id or 0, length)
    return None if t.is_complex else t.content_width or None


def _buffer(word: int | None, length: int | None) -> int | None:
    """Return the storage size of a value in bytes."""
    if word is None or length is None:
        return None
    t = _type(word, 0, length)
    if t.precision is not None:
        return (t.precision + (t.scale or 0) % 2) // 2 + 1
    if t.code in (TypeCode.DATETIME, TypeCode.INTERVAL):
        return None if _fields(t) is None else (length >> 8) // 2 + 1 + (length >> 8) % 2
    return t.content_width or length


def _default(word: int | None, extended_id: int | None, length: int | None, stored: str | None) -> str | None:
    if word is None or stored is None:
        return stored
    text = stored.rstrip(" ")
    if _type(word, extended_id or 0, length or 0).content_width:
        return text
    return text.partition(" ")[2] if " " in text else text


_FUNCTIONS: tuple[tuple[str, Callable[..., Any], list[Any], str], ...] = (
    ("_ifx_type_name", _type_name, ["INTEGER", "INTEGER"], "VARCHAR"),
    ("_ifx_java_type", _java_type, ["INTEGER", "INTEGER"], "INTEGER"),
    ("_ifx_type_precision", _precision, ["INTEGER", "INTEGER", "INTEGER"], "INTEGER"),
    ("_ifx_type_scale", _scale, ["INTEGER", "INTEGER"], "INTEGER"),
    ("_ifx_type_radix", _radix, ["INTEGER"], "INTEGER"),
    ("_ifx_type_datetime", _qualifier, ["INTEGER", "INTEGER"], "INTEGER"),
    ("_ifx_type_octets", _octets, ["INTEGER", "INTEGER", "INTEGER"], "INTEGER"),
    ("_ifx_type_buffer", _buffer, ["INTEGER", "INTEGER"], "INTEGER"),
    ("_ifx_type_default", _default, ["INTEGER", "INTEGER", "INTEGER", "VARCHAR"], "VARCHAR"),
)
