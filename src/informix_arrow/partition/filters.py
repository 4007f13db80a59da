"""Translate the comparisons of another engine to conditions, which are true for each row that meets the comparison.

The engine filters the rows once more, so a condition may let too many rows pass. For example, texts are equal here
whatever blanks they end with. But it must never drop a row that the engine wants. Comparisons for which this cannot be
ensured are not translated: the order of texts depends on the collation; floating-point numbers, times of day and
intervals are left out; so are values that a column of the type cannot hold, such as a timestamp with a finer fraction,
which the server would truncate.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from ..wire.describe import Column
from ..wire.type_codes import CHAR_TYPES, FLAG_DISTINCT, VARCHAR_TYPES, TypeCode
from ..wire.types import ColumnType
from .conditions import Condition
from .partition import Partition

MOST_VALUES = 1000
"""Maximum values of one ``IN``. Each is a parameter."""

_BITS: Mapping[int, int] = MappingProxyType(
    {
        TypeCode.SMALLINT: 15,
        TypeCode.INTEGER: 31,
        TypeCode.SERIAL: 31,
        TypeCode.INT8: 63,
        TypeCode.SERIAL8: 63,
        TypeCode.BIGINT: 63,
        TypeCode.BIGSERIAL: 63,
    }
)
_SCALARS = frozenset({*_BITS, *CHAR_TYPES, *VARCHAR_TYPES}) | {
    TypeCode.FLOAT, TypeCode.SMALLFLOAT, TypeCode.DECIMAL, TypeCode.MONEY, TypeCode.DATE, TypeCode.DATETIME,
    TypeCode.INTERVAL,
}  # fmt: skip
_ORDERED = ("=", "<", "<=", ">", ">=")
_MAX_TEXT = 8000  # characters, at most four bytes each
_YEAR, _DAY, _SECOND = 0, 4, 10  # fields of a qualifier


def is_null_condition(type: ColumnType, name: str, *, wanted: bool) -> Condition | None:
    """Return ``name IS NULL``, or IS NOT NULL, or None for types whose NULLs may differ from the engine's."""
    if type.code not in _SCALARS and not type.is_boolean and not type.is_lvarchar:
        return None
    return Condition(f"{name} IS NULL" if wanted else f"{name} IS NOT NULL")


def comparison(type: ColumnType, name: str, operator: str, value: object) -> Condition | None:
    """Return ``name operator ?`` for ``=``, ``<``, ``<=``, ``>`` and ``>=``, or None if the result could differ."""
    if operator not in _ORDERED or not _is_exact(type, value, equal=operator == "="):
        return None
    return Condition(f"{name} {operator} ?", (value,))


def in_list(type: ColumnType, name: str, values: Sequence[object]) -> Condition | None:
    """Return ``name IN (?, ..)``, or None if the result could differ. NULL among the values matches no row."""
    values = [value for value in values if value is not None]
    if not 0 < len(values) <= MOST_VALUES or not all(_is_exact(type, value, equal=True) for value in values):
        return None
    return Condition(f"{name} IN ({', '.join('?' * len(values))})", tuple(values))


def starts_with(type: ColumnType, name: str, value: object) -> Condition | None:
    """Return ``name LIKE ?`` for texts that begin with ``value``, or None if the value has a wildcard."""
    if not _is_text(type) or not _is_exact(type, value, equal=True) or set(str(value)) & set("%_\\"):
        return None
    return Condition(f"{name} LIKE ?", (f"{value}%",))


def with_conditions(part: Partition, conditions: Iterable[Condition]) -> Partition:
    """Return the part limited to the rows that also meet all conditions. Its number of rows is unknown."""
    added = list(conditions)
    if not added:
        return part
    source = part.sql.removesuffix(f" WHERE {part.condition}") if part.condition else part.sql
    all_of = " AND ".join(each.sql for each in added)
    condition = f"({part.condition}) AND {all_of}" if part.condition else all_of
    parameters = tuple(value for each in added for value in each.parameters)
    return replace(
        part,
        sql=f"{source} WHERE {condition}",
        parameters=part.parameters + parameters,
        condition=condition,
        rows=None,
    )


def by_name(columns: Iterable[Column]) -> dict[str, ColumnType]:
    """Return types by column name, without names that two columns have."""
    columns = tuple(columns)
    uses = Counter(column.name for column in columns)
    return {column.name: column.type for column in columns if uses[column.name] == 1}


def _is_text(type: ColumnType) -> bool:
    return type.code in CHAR_TYPES or type.code in VARCHAR_TYPES or type.is_lvarchar


def _is_exact(type: ColumnType, value: object, *, equal: bool) -> bool:
    """Return whether a column of this type can hold exactly this value, and compares it as other engines do."""
    if type.flags & FLAG_DISTINCT:
        return False
    if type.is_boolean:
        return equal and isinstance(value, bool)
    if isinstance(value, str):
        # U+FFFD may stand for an undecodable byte, NUL ends a text, and long texts would be bound as LVARCHAR.
        is_intact = 0 < len(value) <= _MAX_TEXT and not set(value) & {"\0", "\ufffd"}
        return equal and is_intact and _is_text(type)
    if isinstance(value, bool):
        return False
    if type.code in _BITS:
        return isinstance(value, int) and abs(value) < 1 << _BITS[type.code]  # the lowest number is NULL
    if isinstance(value, Decimal):
        return _is_decimal(type, value)
    if isinstance(value, dt.datetime):
        return _is_moment(type, value)
    return type.code == TypeCode.DATE and isinstance(value, dt.date)


def _is_decimal(type: ColumnType, value: Decimal) -> bool:
    scale, precision = type.scale, type.precision
    if scale is None or precision is None or not value.is_finite():
        return False
    _, digits, exponent = value.normalize().as_tuple()
    assert isinstance(exponent, int)
    return -exponent <= scale and len(digits) + exponent <= precision - scale


def _is_moment(type: ColumnType, value: dt.datetime) -> bool:
    qualifier = type.qualifier
    if type.code != TypeCode.DATETIME or qualifier is None or value.tzinfo is not None:
        return False
    if qualifier.start != _YEAR or qualifier.end < _DAY:
        return False
    fields = (value.hour, value.minute, value.second)
    stored = max(0, min(3, (qualifier.end - _DAY) // 2))
    fraction = max(0, qualifier.end - _SECOND)
    return not any(fields[stored:]) and value.microsecond % 10 ** (6 - fraction) == 0
