"""Conversion of values to a column's storage form: Python objects (parameters) and Arrow columns (INSERT ... SELECT).

A whole column is converted at once. If one value does not fit, the values are converted one by one, so that each bad
row gets its own Informix code and the others are stored. Texts that are too long are truncated, as in databases that
are not ANSI.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from ...wire.datetimes import DatetimeValue, IntervalValue
from ...wire.qualifiers import Field
from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError, not_supported
from . import intervals
from .column_converter import LIMITS, LONG_LIMIT, ColumnConverter, ConvertedColumn
from .documents import is_document, storage_value
from .literals import date, datetime_fields, extend_fields, fields_of, money, number, text_of, to_storage
from .locators import as_locator
from .nested_types import (
    element_type,
    is_collection,
    is_nested,
    is_row,
    is_simple_large,
    lob_kind,
    row_fields,
)
from .nested_values import to_storage as to_storage_of_nested
from .packed_decimal import encode
from .parameter_values import DAY, FRACTION5, date_text, datetime_value_fields, interval_units
from .result_types import DECIMALS, FLOATS, INTEGERS, LONGS, PADDED, datetime_storage, is_character

_NO_LARGE_OBJECT = -617
_TRUNCATED_NUMBER = -1207  # too many digits before the point
_SMALLEST, _LARGEST = 1e-5, 1e20
"""Range in which DuckDB's DECIMAL holds all digits of a FLOAT and still has room for those of a column."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value that is already in the column's storage form."""

    value: object


def arrow_storage(t: ColumnType) -> Any:
    """Return the Arrow type of a column's storage. Raises SqlError -9628 for a type that this server cannot store."""
    code = t.code
    if t.is_boolean:
        return pa.bool_()
    if is_character(t):
        return pa.string()
    if code in INTEGERS:
        if code == TypeCode.SMALLINT:
            return pa.int16()
        return pa.int64() if code in LONGS else pa.int32()
    if code == TypeCode.SMALLFLOAT:
        return pa.float32()
    if code == TypeCode.FLOAT:
        return pa.float64()
    if code in DECIMALS:
        return pa.string() if t.scale is None else pa.decimal128(t.precision, t.scale)
    if code == TypeCode.DATE:
        return pa.date32()
    if code == TypeCode.DATETIME and t.qualifier is not None:
        return {
            "DATE": pa.date32(),
            "TIMESTAMP": pa.timestamp("us"),
            "TIME": pa.time64("us"),
            "VARCHAR": pa.string(),
        }[datetime_storage(t.qualifier)]
    if code == TypeCode.INTERVAL:
        return pa.int64()
    if is_simple_large(t) or lob_kind(t) or t.is_bson:
        return pa.binary()
    if t.is_json:
        return pa.string()
    if is_collection(t):
        return pa.list_(arrow_storage(element_type(t)))
    if is_row(t):
        return pa.struct([pa.field(name, arrow_storage(member)) for name, member in row_fields(t)])
    raise not_supported(f"a column of type {t.sql}", -9628)


class ValueConverter:
    """Converts values to one column type."""

    def __init__(self, t: ColumnType, codec: str, dbdate: str = "") -> None:
        self.type = t
        self.codec = codec
        self.dbdate = dbdate
        self.arrow = arrow_storage(t)
        self._column_converter = ColumnConverter(t, self.arrow, codec)
        self.was_truncated = False
        self._leaves: dict[ColumnType, ValueConverter] = {}
        self._convert = self._select_conversion()

    # ---- columns ----------------------------------------------------------------------------
    def convert_column(self, values: Sequence[object]) -> ConvertedColumn:
        """Convert Python values to an Arrow array in the column's storage form."""
        fast = self._column_converter.convert(values)
        if fast is not None:
            return fast
        out: list[object] = []
        result = ConvertedColumn(None)
        one = self._convert
        for row, value in enumerate(values):
            if value is None:
                out.append(None)
                continue
            if type(value) is StoredValue:
                out.append(value.value)
                continue
            try:
                self.was_truncated = False
                out.append(one(value))
                if self.was_truncated:
                    result.truncated_rows.add(row)
            except SqlError as e:
                result.errors[row] = e
                out.append(None)
        result.array = pa.array(out, self.arrow)
        return result

    def convert(self, value: object) -> object:
        """Convert one value to storage form. Raises SqlError if that is impossible. `was_truncated` is set if a text
        was cut."""
        self.was_truncated = False
        if type(value) is StoredValue:
            return value.value
        return None if value is None else self._convert(value)

    # ---- single values ----------------------------------------------------------------------
    def _select_conversion(self) -> Any:
        t = self.type
        if t.is_boolean:
            return self._boolean
        if is_character(t):
            return self._text
        if t.code in INTEGERS:
            return self._integer
        if t.code in FLOATS:
            return self._float
        if t.code in DECIMALS:
            return self._floating if t.scale is None else self._decimal
        if t.code == TypeCode.DATE:
            return self._date
        if t.code == TypeCode.INTERVAL:
            return self._interval
        if is_simple_large(t):
            return self._simple_large
        if lob_kind(t):
            return self._large
        if is_document(t):
            return self._document
        if is_nested(t):
            return self._nested
        return self._datetime

    def _number(self, value: object) -> Decimal | int | float:
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, (int, float, Decimal)):
            return value
        if isinstance(value, str):
            return money(value) if self.type.code == TypeCode.MONEY else number(value)
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return (value - dt.date(1899, 12, 31)).days
        raise SqlError(-1260)

    def _integer(self, value: object) -> int:
        limit, code = LIMITS.get(TypeCode(self.type.code), LONG_LIMIT)
        plain = self._number(value)
        try:
            truncated = int(plain)  # fractions are cut
        except (ValueError, OverflowError, InvalidOperation):
            raise SqlError(code) from None
        if not -limit <= truncated <= limit:
            raise SqlError(code)
        return truncated

    def _float(self, value: object) -> float:
        plain = self._number(value)
        try:
            return float(plain)
        except OverflowError:
            raise SqlError(-1226) from None

    def _decimal(self, value: object) -> Decimal:
        plain = self._number(value)
        exact = plain if isinstance(plain, Decimal) else Decimal(repr(plain))
        precision, scale = self.type.precision or 16, self.type.scale or 0
        if not exact.is_finite():
            raise SqlError(-1226)
        if exact and exact.adjusted() >= precision - scale:
            raise SqlError(-1226)
        try:
            rounded = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except InvalidOperation:
            # the default context has only 28 digits
            rounded = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(prec=60))
        if rounded and rounded.adjusted() >= precision - scale:
            raise SqlError(-1226)
        return rounded

    def _floating(self, value: object) -> str:
        plain = self._number(value)
        exact = plain if isinstance(plain, Decimal) else Decimal(repr(plain))
        return encode(exact, self.type.precision or 16)

    def _boolean(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().lower() in ("t", "f"):
            return value.strip().lower() == "t"
        if isinstance(value, int) and value in (0, 1):
            # a client that binds SMALLINT for setBoolean; the SQL text has no such conversion
            return bool(value)
        raise SqlError(-9634, 0, 0, "boolean")

    def _date(self, value: object) -> dt.date:
        if isinstance(value, DatetimeValue):
            value = to_storage(extend_fields(datetime_value_fields(value), DAY), DAY)
        if isinstance(value, dt.datetime):
            return value.date()
        if isinstance(value, dt.date):
            return value
        if isinstance(value, str):
            return date(value, self.dbdate)
        number = self._number(value)
        try:
            return dt.date(1899, 12, 31) + dt.timedelta(days=int(number))
        except (OverflowError, ValueError):  # not a valid date or number
            raise SqlError(-1218) from None

    def _datetime(self, value: object) -> object:
        qualifier = self.type.qualifier
        if qualifier is None:
            raise SqlError(-1260)
        if isinstance(value, str):
            return to_storage(datetime_fields(value, qualifier), qualifier)
        if isinstance(value, DatetimeValue):
            fields = datetime_value_fields(value)
        elif isinstance(value, (dt.date, dt.time)):
            fields = fields_of(value)
        else:
            raise SqlError(-1260)
        return to_storage(extend_fields(fields, qualifier), qualifier)

    def _interval(self, value: object) -> int:
        """Return storage units. A parameter may have other fields than the column, a text must have the column's
        form."""
        qualifier = intervals.qualifier_of(self.type)
        if isinstance(value, str):
            return intervals.parse(value, qualifier)
        if isinstance(value, pa.MonthDayNano) and not any(value):
            return 0  # zero, valid for both classes
        return intervals.convert_units(*interval_units(value), qualifier)

    def _simple_large(self, value: object) -> bytes:
        """Return the content of a BYTE or TEXT, text in the database's code set. Raises -617 for anything but bytes and
        text."""
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        if isinstance(value, str) and self.type.code == TypeCode.TEXT:
            try:
                return value.encode(self.codec)
            except UnicodeEncodeError as e:
                raise SqlError(-23103, detail=str(e)) from None
        raise SqlError(_NO_LARGE_OBJECT)

    def _large(self, value: object) -> bytes:
        """Return the locator of a BLOB or CLOB."""
        kind = lob_kind(self.type)
        assert kind is not None
        return as_locator(value, kind)

    def _document(self, value: object) -> str | bytes:
        return storage_value(value, self.type)

    def _nested(self, value: object) -> object:
        return to_storage_of_nested(value, self.type, self._leaf)

    def _leaf(self, t: ColumnType, value: object) -> object:
        converter = self._leaves.get(t)
        if converter is None:
            converter = self._leaves[t] = ValueConverter(t, self.codec, self.dbdate)
        found = converter.convert(value)
        self.was_truncated = self.was_truncated or converter.was_truncated
        return found

    def _text(self, value: object) -> str:
        if isinstance(value, str):
            plain = value
        elif isinstance(value, bool):
            plain = "t" if value else "f"
        elif isinstance(value, Decimal):
            plain = f"{value:f}"
        elif isinstance(value, dt.datetime):
            plain = text_of(fields_of(value), FRACTION5).removesuffix(".00000")
        elif isinstance(value, dt.date):
            plain = date_text(value, self.dbdate)
        elif isinstance(value, (IntervalValue, dt.timedelta, pa.MonthDayNano)):
            plain = intervals.format_units(*interval_units(value))
        elif isinstance(value, (bytes, bytearray, memoryview)):
            # clients that know no other form bind text as BYTE
            try:
                plain = bytes(value).decode(self.codec)
            except UnicodeDecodeError as e:
                raise SqlError(-415, detail=str(e)) from None
        else:
            plain = str(value)
        if "\0" in plain:
            raise SqlError(-415, detail="A character type cannot store a NUL character.")
        if self.type.code in PADDED:
            plain = plain.rstrip(" ")
        width = self.type.content_width
        if len(plain) * 4 > width:
            encoded = plain.encode(self.codec, "replace")
            if len(encoded) > width:
                if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
                    integer_part, _, fraction = plain.partition(".")
                    if len(integer_part) > width or not fraction or "e" in fraction:
                        raise SqlError(_TRUNCATED_NUMBER)
                self.was_truncated = True
                plain = encoded[:width].decode(self.codec, "ignore")
                if self.type.code in PADDED:
                    plain = plain.rstrip(" ")
        return plain


def for_comparison(value: object, t: ColumnType | None, codec: str, dbdate: str) -> object:
    """Convert a parameter that is compared with a column or expression of type `t`, without truncation, rounding or
    range check."""
    if value is None or t is None:
        return untyped_value(value)
    if is_character(t):
        converter = ValueConverter(ColumnType.lvarchar(32739), codec, dbdate)
        return converter.convert(value)
    if t.code in INTEGERS or t.code in FLOATS or t.code in DECIMALS:
        if type(value) is int:
            return value
        found = ValueConverter(t, codec, dbdate)._number(value)
        if isinstance(found, float) and t.code not in FLOATS and _SMALLEST <= abs(found) < _LARGEST:
            found = Decimal(repr(found))  # DuckDB compares only 15 digits with a DOUBLE
        return (
            int(found)
            if isinstance(found, Decimal) and found == found.to_integral_value() and abs(found) < 2**62
            else found
        )
    if t.code == TypeCode.INTERVAL and not isinstance(value, str):
        units, qualifier = interval_units(value)
        intervals.same_class(qualifier, intervals.qualifier_of(t))
        return units
    if t.code in (TypeCode.DATE, TypeCode.DATETIME):
        return _moment_for_comparison(value, t, codec, dbdate)
    return ValueConverter(t, codec, dbdate).convert(value)


def _moment_for_comparison(value: object, t: ColumnType, codec: str, dbdate: str) -> object:
    """Convert a DATETIME with the fields that it has, even fields finer than the column's last one."""
    plain = ValueConverter(t, codec, dbdate)
    start = Field.YEAR if t.qualifier is None else t.qualifier.start
    if isinstance(value, DatetimeValue):
        same = value.qualifier.start == start
    elif isinstance(value, str):
        same = t.qualifier is not None and "." in value
    else:
        same = isinstance(value, dt.time) if start == Field.HOUR else isinstance(value, dt.datetime)
    if not same or start not in (Field.YEAR, Field.HOUR):
        return plain.convert(value)
    finest = ColumnType.datetime(f"{Field(start).name} TO FRACTION(5)")
    found = ValueConverter(finest, codec, dbdate).convert(value)
    midnight = isinstance(found, dt.datetime) and found.time() == dt.time(0)
    return plain.convert(value) if midnight else found


def untyped_value(value: object) -> object:
    """Convert a parameter of unknown type to a form that DuckDB accepts."""
    if isinstance(value, DatetimeValue):
        stored = to_storage(datetime_value_fields(value), value.qualifier)
        return stored
    if isinstance(value, (IntervalValue, dt.timedelta, pa.MonthDayNano)):
        return intervals.format_units(*interval_units(value))
    return value
