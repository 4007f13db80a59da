"""Conversion of DuckDB rows, fetched as Python objects, to the Arrow types of their described columns. For few rows
this is cheaper than fetching Arrow from DuckDB.

Only values that need no change are converted. Whatever must be cast, cut or rejected is left to result_cast.py.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from ...wire.code_sets import is_multibyte
from ...wire.describe import Column
from ...wire.types import ColumnType, TypeCode
from .documents import is_document
from .nested_types import is_nested, is_simple_large, lob_kind
from .packed_decimal import to_decimal_text
from .result_cast import MAX_CHARACTER_BYTES, result_type
from .result_types import DECIMALS, FLOATS, INTEGERS, is_character

_MAX_VALUES = 96
"""Number of values from which fetching Arrow is cheaper."""

# Arrow types that take the values unchanged. Integers must be below the limit and not below its negative.
_LIMITS = {
    pa.int16(): 1 << 15, pa.int32(): 1 << 31, pa.int64(): 1 << 63,
    pa.float64(): 0, pa.bool_(): 0, pa.date32(): 0, pa.string(): 0,
    pa.binary(): 0,
}  # fmt: skip

ColumnReader = Callable[[Sequence[Any], str], Sequence[Any] | None]
"""Function from a column's values and a code set to the input of an Arrow array. It returns None if a value needs a
cast."""


class RowConverter:
    """Converts the rows of one query. Thread-safe."""

    def __init__(self, schema: pa.Schema, columns: Sequence[ColumnReader]) -> None:
        self._schema = schema
        self._columns = columns
        self._types = [field.type for field in schema]
        limits = [_LIMITS.get(t) for t in self._types]
        self._limits = None if None in limits else limits
        self._row: Any = None  # a row as one struct, if the column names are unique
        if len(set(schema.names)) == len(schema.names):
            self._row = pa.struct(list(schema))

    @classmethod
    def for_columns(cls, columns: Sequence[Column], packed: Sequence[bool]) -> RowConverter | None:
        """Return a converter, or None if a column has a type that needs a cast."""
        schema = pa.schema([pa.field(column.name, result_type(column.type)) for column in columns])
        readers = [
            _column_reader(column.type, bool(packed) and packed[i], schema.field(i).type)
            for i, column in enumerate(columns)
        ]
        return cls(schema, [reader for reader in readers if reader]) if all(readers) else None

    def is_converted(self, rows: Sequence[Sequence[Any]], codec: str) -> bool:
        """Return whether the rows are few and `to_batch` would not change any value. The caller then needs no Arrow."""
        limits = self._limits
        if limits is None or len(rows) * len(limits) > _MAX_VALUES:
            return False
        # without rows there are no values to check
        for read_column, limit, values in zip(self._columns, limits, zip(*rows, strict=True), strict=False):
            if read_column(values, codec) is None:
                return False
            if limit:
                for value in values:
                    if value is not None and not -limit <= value < limit:
                        return False
        return True

    def to_batch(self, rows: Sequence[Sequence[Any]], codec: str) -> pa.RecordBatch | None:
        """Return the rows as a batch, or None if a value needs result_cast.py. `codec` is the Python codec of the code
        set."""
        if not rows:
            none = [pa.array([], field.type) for field in self._schema]
            return pa.RecordBatch.from_arrays(none, schema=self._schema)
        try:
            columns: list[Sequence[Any]] = []
            for read_column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
                column = read_column(values, codec)
                if column is None:
                    return None
                columns.append(column)
            if len(rows) == 1 and self._row is not None:  # one call of Arrow instead of one for each column
                row = {name: column[0] for name, column in zip(self._schema.names, columns, strict=True)}
                return pa.RecordBatch.from_struct_array(pa.array([row], self._row))
            arrays = [pa.array(column, t) for column, t in zip(columns, self._types, strict=True)]
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            return None
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _column_reader(t: ColumnType, packed: bool, arrow_type: Any) -> ColumnReader | None:
    """Return the reader of a type, None for a type that needs a cast."""
    if t.code == TypeCode.INTERVAL or is_simple_large(t) or lob_kind(t) or is_nested(t):
        return None
    if is_character(t):
        return _text_reader(t)
    if t.code in DECIMALS and t.scale is None:
        return _read_packed if packed else None
    kind: type | None = None
    if is_document(t):
        kind = str if t.is_json else bytes
    elif t.is_boolean:
        kind = bool
    elif t.code in INTEGERS:
        kind = int
    elif t.code in FLOATS:
        kind = float
    elif t.code in DECIMALS:
        kind = Decimal
    elif pa.types.is_date(arrow_type):
        kind = dt.date
    elif pa.types.is_timestamp(arrow_type) and arrow_type.unit == "us":
        kind = dt.datetime
    return None if kind is None else _instances_of(kind)


def _instances_of(kind: type) -> ColumnReader:
    def read_column(values: Sequence[Any], _: str) -> Sequence[Any] | None:
        for value in values:
            if type(value) is not kind and value is not None:
                return None
        return values

    return read_column


def _text_reader(t: ColumnType) -> ColumnReader:
    unlimited, width = t.code == TypeCode.LVARCHAR, t.content_width

    def read_column(values: Sequence[Any], codec: str) -> Sequence[Any] | None:
        max_char_bytes = MAX_CHARACTER_BYTES if is_multibyte(codec) else 1
        for value in values:
            if value is None:
                continue
            if type(value) is not str:
                return None
            if (
                not unlimited
                and len(value) * max_char_bytes > width
                and len(value.encode(codec, "replace")) > width
            ):
                return None
        return values

    return read_column


def _read_packed(values: Sequence[Any], _: str) -> Sequence[Any]:
    return [None if value is None else to_decimal_text(value) for value in values]
