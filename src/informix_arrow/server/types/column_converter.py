"""Conversion of whole columns of values of one Python type, where no value can fail."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...wire.datetimes import DatetimeValue
from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from .parameter_values import modulo
from .result_types import DECIMALS, FLOATS, INTEGERS, PADDED, datetime_storage, is_character

_NONE = type(None)
LIMITS = {
    TypeCode.SMALLINT: (32767, -1214),
    TypeCode.INTEGER: (2147483647, -1215),
    TypeCode.SERIAL: (2147483647, -1215),
}
LONG_LIMIT = (2**63 - 1, -1284)


def as_array(array: Any) -> Any:
    """Return a possibly chunked array as one Arrow array."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


@dataclass(slots=True)
class ConvertedColumn:
    """One converted column: `array` in storage form (NULL where a row failed), with errors and truncated texts by row
    number."""

    array: Any
    errors: dict[int, SqlError] = field(default_factory=dict)
    truncated_rows: set[int] = field(default_factory=set)

    def row(self, number: int) -> ConvertedColumn:
        """Return one row of the column, as row 0."""
        errors = {0: self.errors[number]} if number in self.errors else {}
        return ConvertedColumn(
            self.array.slice(number, 1), errors, {0} if number in self.truncated_rows else set()
        )


class ColumnConverter:
    """Converts columns of values of one Python type to a column type, all values at once or not at all.

    Parameters
    ----------
    t, arrow
        The column's type, and the Arrow type of its storage.
    codec
        Python codec of the database's code set. Lengths of texts count its bytes.
    """

    def __init__(self, t: ColumnType, arrow: pa.DataType, codec: str) -> None:
        self.type = t
        self.arrow = arrow
        self.codec = codec
        self._single_byte = codec.replace("-", "") in ("latin1", "iso88591", "ascii") or codec.startswith(
            ("cp125", "iso8859", "iso-8859", "koi8")
        )

    def convert(self, values: Sequence[object]) -> ConvertedColumn | None:
        """Convert a column. Return None if its values must be converted one by one."""
        kinds = set(map(type, values))
        kinds.discard(_NONE)
        if not kinds:
            return ConvertedColumn(pa.nulls(len(values), self.arrow))
        if len(kinds) > 1:
            return None
        kind = next(iter(kinds))
        t = self.type
        try:
            if kind is int and t.code in INTEGERS:
                array = pa.array(values, self.arrow)
                limit = LIMITS.get(TypeCode(t.code), LONG_LIMIT)[0]
                lowest = pc.min(array).as_py()
                return None if lowest is not None and lowest < -limit else ConvertedColumn(array)
            if kind is float and t.code in FLOATS:
                array = pa.array(values, pa.float64())
                return ConvertedColumn(
                    array if t.code == TypeCode.FLOAT else array.cast(pa.float32(), safe=False)
                )
            if kind is str and is_character(t):
                return self._text(values)
            if kind is Decimal and t.code in DECIMALS and t.scale is not None:
                return ConvertedColumn(pa.array(values, self.arrow))
            if kind is dt.date and t.code == TypeCode.DATE:
                return ConvertedColumn(pa.array(values, self.arrow))
            if kind is bool and t.is_boolean:
                return ConvertedColumn(pa.array(values, self.arrow))
            if kind is DatetimeValue and t.code == TypeCode.DATETIME:
                return self._datetime([None if v is None else v.to_datetime() for v in values])  # type: ignore[attr-defined]
            if kind is dt.datetime and t.code == TypeCode.DATETIME:
                return self._datetime(values)
        except Exception:  # noqa: BLE001 - the values are then converted one by one
            return None
        return None

    def _text(self, values: Sequence[object]) -> ConvertedColumn | None:
        array = pa.array(values, pa.string())
        if pc.any(pc.match_substring(array, "\0")).as_py():
            return None
        t = self.type
        if t.code in PADDED:
            array = pc.utf8_rtrim(array, characters=" ")
        if self._single_byte:
            longest = pc.max(pc.utf8_length(array)).as_py()
        elif self.codec in ("utf-8", "utf8"):
            longest = pc.max(pc.binary_length(array)).as_py()
        else:
            return None
        return None if longest is not None and longest > t.content_width else ConvertedColumn(array)

    def _datetime(self, values: Sequence[object]) -> ConvertedColumn | None:
        qualifier = self.type.qualifier
        if qualifier is None or datetime_storage(qualifier) != "TIMESTAMP":
            return None
        array = pa.array(values, pa.timestamp("us"))
        if qualifier.has_seconds_fraction:
            unit = 10 ** (6 - qualifier.fraction_digits)
            if unit > 1:
                microseconds = array.cast(pa.int64())
                array = pc.subtract(microseconds, modulo(microseconds, unit)).cast(pa.timestamp("us"))
        elif qualifier.end >= 4:
            unit_name = {4: "day", 6: "hour", 8: "minute", 10: "second"}[qualifier.end]
            array = pc.floor_temporal(array, unit=unit_name)
        else:
            return None
        return ConvertedColumn(array)
