"""Convert Arrow columns to texts that people can read and that a load accepts for the same type."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from ...wire.describe import declared_type
from ...wire.intervals import DAY9_TO_FRACTION5, YEAR9_TO_MONTH, interval_of
from ...wire.qualifiers import Qualifier


def qualifier_of(field: pa.Field) -> Qualifier | None:
    """Return the qualifier of a field that holds an INTERVAL, None for any other."""
    declared = declared_type(field)
    if declared is not None and declared.sql.upper().startswith("INTERVAL"):
        return declared.qualifier
    return DAY9_TO_FRACTION5 if pa.types.is_duration(field.type) else None


def texts(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return the values as utf8. NULL stays NULL.

    Times are in ISO 8601, INTERVAL as Informix's literal, bytes as hexadecimal digits, lists and structs as JSON. The
    last four take one Python object per value.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return texts(column.dictionary_decode(), field)
    if pa.types.is_string(kind):
        return column
    qualifier = qualifier_of(field)
    if qualifier is not None:
        return _map_values(column, lambda value: interval_of(value, qualifier).text)
    if kind == pa.month_day_nano_interval():
        return _map_values(column, _interval_text)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _map_values(column, bytes.hex)
    if pa.types.is_nested(kind):
        return _map_values(column, lambda value: json.dumps(value, default=str, ensure_ascii=False))
    return column.cast(pa.utf8())


def _map_values(column: pa.Array, text: Any) -> pa.Array:
    return pa.array([None if value is None else text(value) for value in column.to_pylist()], pa.utf8())


def _interval_text(value: Any) -> str:
    return interval_of(value, YEAR9_TO_MONTH if value[0] else DAY9_TO_FRACTION5).text


def is_number(field: pa.Field) -> bool:
    """Return whether the values are numbers, including those of a floating DECIMAL that was read as text."""
    kind = field.type
    if pa.types.is_integer(kind):
        return qualifier_of(field) is None
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return True
    declared = (field.metadata or {}).get(b"informix.type", b"").upper()
    return bool(pa.types.is_string(kind) and declared.startswith((b"DECIMAL", b"MONEY")))
