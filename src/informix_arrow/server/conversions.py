"""Values on their way into a column: Python objects (parameters) and Arrow columns (INSERT ... SELECT) to
the column's storage.

A whole column is tried at once; only when one value does not fit are values looked at singly, so that each
bad row gets its own Informix code and the others go in. Texts that are too long are cut, as in databases
that are not ANSI.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..wire.datetimes import DatetimeValue
from ..wire.types import ColumnType, Qualifier, TypeCode
from .errors import SqlError, not_supported
from .sql.literals import date, datetime_fields, fields_of, fit, number, text_of, to_storage
from .sql.packed import encode
from .sql.result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    LONGS,
    PADDED,
    datetime_storage,
    is_character,
)

_NONE = type(None)
_LIMITS = {
    TypeCode.SMALLINT: (32767, -1214),
    TypeCode.INTEGER: (2147483647, -1215),
    TypeCode.SERIAL: (2147483647, -1215),
}
_LONG_LIMIT = (2**63 - 1, -1284)


@dataclass(slots=True)
class Converted:
    """One column of rows: `array` in storage form (NULL where a row failed), errors and cut texts by row
    number."""

    array: Any
    errors: dict[int, SqlError] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)


def arrow_storage(t: ColumnType) -> Any:
    """Arrow type of a column's storage; SqlError -9628 for a type that this server cannot store."""
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
    raise not_supported(f"a column of type {t.sql}", -9628)


class Converter:
    """Converts values to one column type."""

    def __init__(self, t: ColumnType, codec: str, dbdate: str = "") -> None:
        self.type = t
        self.codec = codec
        self.dbdate = dbdate
        self.arrow = arrow_storage(t)
        self.was_cut = False
        self._one = self._pick()
        self._single_byte = codec.replace("-", "") in ("latin1", "iso88591", "ascii") or codec.startswith(
            ("cp125", "iso8859", "iso-8859", "koi8")
        )

    # ---- columns ----------------------------------------------------------------------------
    def column(self, values: Sequence[object]) -> Converted:
        """Python values to an Arrow array of the column's storage."""
        fast = self._fast(values)
        if fast is not None:
            return fast
        out: list[object] = []
        result = Converted(None)
        one = self._one
        for row, value in enumerate(values):
            if value is None:
                out.append(None)
                continue
            try:
                self.was_cut = False
                out.append(one(value))
                if self.was_cut:
                    result.cut.add(row)
            except SqlError as e:
                result.errors[row] = e
                out.append(None)
        result.array = pa.array(out, self.arrow)
        return result

    def one(self, value: object) -> object:
        """One value in storage form; SqlError for what cannot be converted. `was_cut` tells about a cut
        text."""
        self.was_cut = False
        return None if value is None else self._one(value)

    def _fast(self, values: Sequence[object]) -> Converted | None:
        kinds = set(map(type, values))
        kinds.discard(_NONE)
        if not kinds:
            return Converted(pa.nulls(len(values), self.arrow))
        if len(kinds) > 1:
            return None
        kind = next(iter(kinds))
        t = self.type
        try:
            if kind is int and t.code in INTEGERS:
                array = pa.array(values, self.arrow)
                limit = _LIMITS.get(TypeCode(t.code), _LONG_LIMIT)[0]
                lowest = pc.min(array).as_py()
                return None if lowest is not None and lowest < -limit else Converted(array)
            if kind is float and t.code in FLOATS:
                array = pa.array(values, pa.float64())
                return Converted(array if t.code == TypeCode.FLOAT else array.cast(pa.float32(), safe=False))
            if kind is str and is_character(t):
                return self._fast_text(values)
            if kind is Decimal and t.code in DECIMALS and t.scale is not None:
                return Converted(pa.array(values, self.arrow))
            if kind is dt.date and t.code == TypeCode.DATE:
                return Converted(pa.array(values, self.arrow))
            if kind is bool and t.is_boolean:
                return Converted(pa.array(values, self.arrow))
            if kind is DatetimeValue and t.code == TypeCode.DATETIME:
                return self._fast_datetime([None if v is None else v.to_datetime() for v in values])  # type: ignore[attr-defined]
            if kind is dt.datetime and t.code == TypeCode.DATETIME:
                return self._fast_datetime(values)
        except Exception:  # noqa: BLE001 - whatever does not go in one piece is looked at value by value
            return None
        return None

    def _fast_text(self, values: Sequence[object]) -> Converted | None:
        array = pa.array(values, pa.string())
        t = self.type
        if t.code in PADDED:
            array = pc.utf8_rtrim(array, characters=" ")
        if self._single_byte:
            longest = pc.max(pc.utf8_length(array)).as_py()
        elif self.codec in ("utf-8", "utf8"):
            longest = pc.max(pc.binary_length(array)).as_py()
        else:
            return None
        return None if longest is not None and longest > t.content_width else Converted(array)

    def _fast_datetime(self, values: Sequence[object]) -> Converted | None:
        qualifier = self.type.qualifier
        if qualifier is None or datetime_storage(qualifier) != "TIMESTAMP":
            return None
        array = pa.array(values, pa.timestamp("us"))
        if qualifier.has_seconds_fraction:
            unit = 10 ** (6 - qualifier.fraction_digits)
            if unit > 1:
                whole = array.cast(pa.int64())
                array = pc.subtract(whole, _modulo(whole, unit)).cast(pa.timestamp("us"))
        elif qualifier.end >= 4:
            unit_name = {4: "day", 6: "hour", 8: "minute", 10: "second"}[qualifier.end]
            array = pc.floor_temporal(array, unit=unit_name)
        else:
            return None
        return Converted(array)

    # ---- single values ----------------------------------------------------------------------
    def _pick(self) -> Any:
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
        return self._datetime

    def _number(self, value: object) -> Decimal | int | float:
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, (int, float, Decimal)):
            return value
        if isinstance(value, str):
            return number(value)
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return (value - dt.date(1899, 12, 31)).days
        raise SqlError(-1260)

    def _integer(self, value: object) -> int:
        limit, code = _LIMITS.get(TypeCode(self.type.code), _LONG_LIMIT)
        plain = self._number(value)
        try:
            whole = int(plain)  # fractions are cut
        except (ValueError, OverflowError, InvalidOperation):
            raise SqlError(code) from None
        if not -limit <= whole <= limit:
            raise SqlError(code)
        return whole

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
            # 28 digits are the default context's; do it with enough of them
            from decimal import Context

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
            value = to_storage(fit(_datetime_value_fields(value), _DAY), _DAY)
        if isinstance(value, dt.datetime):
            return value.date()
        if isinstance(value, dt.date):
            return value
        if isinstance(value, str):
            return date(value, self.dbdate)
        days = int(self._number(value))
        try:
            return dt.date(1899, 12, 31) + dt.timedelta(days=days)
        except OverflowError:
            raise SqlError(-1218) from None

    def _datetime(self, value: object) -> object:
        qualifier = self.type.qualifier
        if qualifier is None:
            raise SqlError(-1260)
        if isinstance(value, str):
            return to_storage(datetime_fields(value, qualifier), qualifier)
        if isinstance(value, DatetimeValue):
            fields = _datetime_value_fields(value)
        elif isinstance(value, (dt.date, dt.time)):
            fields = fields_of(value)
        else:
            raise SqlError(-1260)
        return to_storage(fit(fields, qualifier), qualifier)

    def _text(self, value: object) -> str:
        if isinstance(value, str):
            plain = value
        elif isinstance(value, bool):
            plain = "t" if value else "f"
        elif isinstance(value, Decimal):
            plain = f"{value:f}"
        elif isinstance(value, dt.datetime):
            plain = text_of(fields_of(value), _FRACTION5).removesuffix(".00000")
        elif isinstance(value, dt.date):
            plain = date_text(value, self.dbdate)
        else:
            plain = str(value)
        if self.type.code in PADDED:
            plain = plain.rstrip(" ")
        width = self.type.content_width
        if len(plain) * 4 > width:
            encoded = plain.encode(self.codec, "replace")
            if len(encoded) > width:
                self.was_cut = True
                plain = encoded[:width].decode(self.codec, "ignore")
                if self.type.code in PADDED:
                    plain = plain.rstrip(" ")
        return plain


_DAY = Qualifier.parse("YEAR TO DAY")
_FRACTION5 = Qualifier.parse("YEAR TO FRACTION(5)")


def _modulo(array: Any, unit: int) -> Any:
    """array mod unit, never negative (times before 1970 are floored, too)."""
    quotient = pc.floor(pc.divide(array.cast(pa.float64(), safe=False), float(unit))).cast(pa.int64())
    rest = pc.subtract(array, pc.multiply(quotient, unit))
    # the float quotient may be one off for large values
    rest = pc.if_else(pc.less(rest, 0), pc.add(rest, unit), rest)
    return pc.if_else(pc.greater_equal(rest, unit), pc.subtract(rest, unit), rest)


def _datetime_value_fields(value: DatetimeValue) -> dict[str, int]:
    fields = {
        name: part
        for name, part in zip(value.qualifier.field_names, value.fields, strict=True)
        if name != "FRACTION"
    }
    fields["MICRO"] = value.microsecond
    return fields


def date_text(value: dt.date, dbdate: str = "") -> str:
    """A DATE as text in the order of DBDATE; MDY4/ when it is not set."""
    order = (dbdate or "MDY4/").upper()
    last = order[-1]
    separator = last if last in "/-." else ("" if last == "0" else "/")
    year = f"{value.year % 100:02d}" if "2" in order else f"{value.year:04d}"
    pieces = {"M": f"{value.month:02d}", "D": f"{value.day:02d}", "Y": year}
    return separator.join(pieces[c] for c in order if c in pieces)


def for_comparison(value: object, t: ColumnType | None, codec: str, dbdate: str) -> object:
    """A parameter beside a column or expression of type `t`: read, but neither cut nor rounded nor
    range-checked."""
    if value is None or t is None:
        return plain_value(value)
    if is_character(t):
        converter = Converter(ColumnType.lvarchar(32739), codec, dbdate)
        return converter.one(value)
    if t.code in INTEGERS or t.code in FLOATS or t.code in DECIMALS:
        found = Converter(t, codec, dbdate)._number(value)
        return (
            int(found)
            if isinstance(found, Decimal) and found == found.to_integral_value() and abs(found) < 2**62
            else found
        )
    return Converter(t, codec, dbdate).one(value)


def plain_value(value: object) -> object:
    """A parameter of unknown purpose in a form that DuckDB takes."""
    if isinstance(value, DatetimeValue):
        stored = to_storage(_datetime_value_fields(value), value.qualifier)
        return stored
    return value
