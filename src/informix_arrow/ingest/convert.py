"""Convert Arrow columns to the types that the C encoder takes for a column of the table.

The encoder takes most types as they are: integers, decimals and floats of any size, dates, timestamps, times,
durations, text and bytes in every layout, dictionaries of text. Everything else is cast here, column by column. A
value that would change is refused with its row, as the encoder does later.

There is one exception: FLOAT and SMALLFLOAT columns get the nearest number that they can hold.
"""

from __future__ import annotations

import codecs
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from .._encode import Encoder
from ..rows import arrow_compute as pc
from ..wire import bson
from ..wire.assignment import Inexact, interval_of_text
from ..wire.code_sets import is_multibyte
from ..wire.describe import Column
from ..wire.errors import DataError, Error, ProgrammingError, unfit_value
from ..wire.intervals import to_month_day_nano
from ..wire.json_text import json_text
from ..wire.nested import format_literal
from ..wire.plan_ops import FLAG_ROUND, FLAG_TRUNCATE, Kind, PlanOp, TypeOptions, plan_op
from ..wire.qualifiers import Qualifier
from ..wire.types import COMPLEX_CODES, ColumnType, TypeCode
from .report import show_value

Step = Callable[[pa.Array], pa.Array]

_ROUNDING_FLAGS = {"error": 0, "round": FLAG_ROUND, "truncate": FLAG_TRUNCATE}
_VIEWS = {pa.string_view(): pa.utf8(), pa.binary_view(): pa.binary()}

_SMALL_ARRAY = 64  # values; in fewer, looking for equal ones saves nothing

#: The errors that a conversion raises for a value that cannot be converted.
UNFIT = (pa.ArrowException, ValueError, OverflowError, DataError)
_INTEGERS = (Kind.INT16, Kind.INT32, Kind.INT64, Kind.INT8)
_TEXTS = (Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR)
SERIALS = (TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL)
_INTEGER_TYPES = {
    Kind.INT16: pa.int16(),
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.INT8: pa.int64(),
}


@dataclass(frozen=True, slots=True)
class Converter:
    """The conversion of one column: ``steps`` one after the other, then the encoder with ``op``."""

    column: Column  # of the table written to
    source: str  # name in the data
    op: PlanOp
    steps: tuple[Step, ...] = ()
    type: pa.DataType = field(default_factory=pa.null)  # of the data
    content: bool = False  # a BLOB or CLOB: sent as contents, not by the encoder

    def convert(self, array: pa.Array) -> pa.Array:
        """Convert all values. Raises an error of :data:`UNFIT` if one cannot be converted."""
        for step in self.steps:
            array = step(array)
        return array

    def bad_rows(self, array: pa.Array) -> Iterator[tuple[int, str]]:
        """Yield the rows that cannot be converted, in order, with the reason. Text that occurs repeatedly is tried
        once."""
        if len(array) > _SMALL_ARRAY and (
            pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        ):
            values = array.dictionary_encode()
            if len(values.dictionary) <= len(array) // 2:
                bad = dict(self._find_bad_rows(values.dictionary))
                places = pc.indices_nonzero(pc.is_in(values.indices, pa.array(list(bad), pa.int32())))
                numbers = values.indices.take(places).to_pylist()
                for place, number in zip(places.to_pylist(), numbers, strict=True):
                    yield place, bad[number]
                return
        yield from self._find_bad_rows(array)

    def _find_bad_rows(self, array: pa.Array) -> Iterator[tuple[int, str]]:
        """Yield the values that cannot be converted. They are found by halving, which is fast if there are few."""
        pending = [(0, len(array))]
        while pending:
            start, count = pending.pop()
            try:
                self.convert(array.slice(start, count))
            except UNFIT as error:
                if count == 1:
                    yield start, self._reason(array, start, error)
                else:
                    half = count // 2
                    pending += [(start + half, count - half), (start, half)]

    def _reason(self, array: pa.Array, place: int, error: Exception) -> str:
        """Return why a value cannot be converted, as a text that begins with the value."""
        text = str(error).partition("\n")[0]
        if isinstance(error, Error) and error.shows_value:
            return text
        value = show_value(array, place, 100)
        if text.startswith("Failed to parse string"):  # Arrow does not say what was expected
            return f"{value} is not {_EXPECTED.get(self.op.kind, f'a value of {self.column.type.sql}')}"
        return f"{value} cannot be stored in {self.column.type.sql}: {text}"


#: What a text must be, by the kind of column that it is parsed for.
_EXPECTED = {
    Kind.DATE: "a date (expected YYYY-MM-DD)",
    Kind.DATETIME_DATE32: "a date (expected YYYY-MM-DD)",
    Kind.DATETIME_TIMESTAMP: "a date and time (expected YYYY-MM-DD HH:MM:SS)",
    Kind.DATETIME_TIME32: "a time of day (expected HH:MM:SS)",
    Kind.DATETIME_TIME64: "a time of day (expected HH:MM:SS)",
    Kind.FLOAT32: "a number",
    Kind.FLOAT64: "a number",
}


def converter(
    column: Column,
    name: str,
    source: pa.DataType,
    encoding: str,
    *,
    inexact: Inexact = "error",
    time_zone: str | None = None,
) -> Converter:
    """Return the conversion of ``source`` data into ``column`` of a database with the code set ``encoding``.

    ``inexact`` chooses what happens to digits that the column cannot hold. ``time_zone`` is the zone to whose
    local time timestamps with a zone are converted. Without it they are refused.

    Raises ``ProgrammingError`` for a type that does not fit the column, with advice, and ``NotSupportedError`` for
    a column type that the codecs do not support.
    """
    ct = column.type
    if ct.is_blob or ct.is_clob:
        return _content_converter(column, name, source, encoding)
    steps: list[Step] = []
    plain = _plain_layout(source, steps)
    if time_zone is not None and pa.types.is_timestamp(plain) and plain.tz is not None:
        steps.append(lambda array: _local(array, time_zone))
        plain = pa.timestamp(plain.unit)
    if getattr(source, "extension_name", "") == "arrow.uuid" and ct.content_width:
        steps[:] = [_uuid_texts]
        plain = pa.utf8()
    # In a row that is put, BOOLEAN is the byte that SQ_RET_TYPE asks for. In BIND form it is always 't' or 'f'.
    op = plan_op(ct, _options(ct, plain), bool_binary=True, column=column.name)
    if op.kind in (Kind.INTERVAL_MONTHS, Kind.INTERVAL_DURATION) and _is_text(plain):
        op = plan_op(ct, TypeOptions(intervals="month_day_nano"), column=column.name)
    if op.kind == Kind.DECIMAL128 and _is_text(plain):  # the digits are sent as written
        op = PlanOp(Kind.DECIMAL_STRING, ct.max_width, ct.encoded_length & 0xFFFF, 0)
    if _is_text(plain) and op.kind in (*_TEXTS, Kind.LOB) and is_multibyte(encoding):
        steps.append(
            lambda array: _in_code_set(array, encoding)
        )  # the encoder does not support multi-byte code sets
        plain = pa.binary()
        op = plan_op(ct, _options(ct, plain), column=column.name)
    elif _is_text(plain):
        steps.append(_check_utf8)
    if _refusal(op, name, plain) is not None:
        step = _cast(op, ct, plain, inexact)
        if step is None:
            raise ProgrammingError(_unsupported_conversion(op, column, name, source), column=column.name)
        steps.append(step)
    if ct.code in SERIALS:
        steps.append(_next_serial)
    op = replace(op, flags=op.flags | _ROUNDING_FLAGS[inexact])
    return Converter(column, name, op, tuple(steps), source)


def _content_converter(column: Column, name: str, source: pa.DataType, encoding: str) -> Converter:
    """Return the conversion of data into a BLOB or CLOB: the bytes of the contents."""
    steps: list[Step] = []
    plain = _plain_layout(source, steps)
    op = PlanOp(
        Kind.OPAQUE, column.type.max_width - 5, 0, 0
    )  # only so that there is one; the encoder skips this column
    if _is_text(plain) and column.type.is_clob:
        steps.append(lambda array: array.cast(pa.large_utf8()))
        if codecs.lookup(encoding).name == "utf-8":
            steps.append(_check_utf8)
        else:
            steps.append(lambda array: _in_code_set(array, encoding))
    elif not (_is_bytes(plain) or pa.types.is_fixed_size_binary(plain) or pa.types.is_null(plain)):
        accepted = "text or bytes" if column.type.is_clob else "bytes"
        raise ProgrammingError(
            f"{source} data cannot be written to the column {column.name!r}, a {column.type.sql}. It takes "
            f"{accepted}.",
            column=column.name,
        )
    steps.append(lambda array: array.cast(pa.large_binary()))
    return Converter(column, name, op, tuple(steps), source, True)


def _plain_layout(source: pa.DataType, steps: list[Step]) -> pa.DataType:
    """Append steps that unpack extension types, run-end encoding and dictionaries of anything but text.

    Returns the resulting type.
    """
    while True:
        if isinstance(source, pa.BaseExtensionType):
            steps.append(lambda array: array.storage)
            source = source.storage_type
        elif pa.types.is_run_end_encoded(source):
            steps.append(pc.run_end_decode)
            source = source.value_type
        elif pa.types.is_dictionary(source) and not (_is_text(source) or _is_bytes(source)):
            value = source.value_type
            steps.append(lambda array, value=value: array.cast(value))  # type: ignore[misc]
            source = value
        elif pa.types.is_dictionary(source) and source.value_type in _VIEWS:  # pyarrow cannot unify those
            wide = _VIEWS[source.value_type]
            steps.append(lambda array, wide=wide: _without_views(array, wide))  # type: ignore[misc]
            source = pa.dictionary(source.index_type, wide)
        else:
            return source


def _is_text(t: pa.DataType) -> bool:
    if pa.types.is_dictionary(t):
        t = t.value_type
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t))


def _is_bytes(t: pa.DataType) -> bool:
    if pa.types.is_dictionary(t):
        t = t.value_type
    return bool(pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t))


def _options(ct: ColumnType, source: pa.DataType) -> TypeOptions:
    """Return the type options whose op takes this source."""
    decimals = ct.code in (TypeCode.DECIMAL, TypeCode.MONEY)
    return TypeOptions(
        decimals="float64" if decimals and pa.types.is_floating(source) else "decimal128",
        floating_decimals="string" if decimals else "float64",
        intervals="month_day_nano" if source == pa.month_day_nano_interval() else "native",
        encoding_errors="binary" if _is_bytes(source) else "strict",
    )


def _refusal(op: PlanOp, name: str, source: pa.DataType) -> str | None:
    """Return why the encoder does not take this type for this op, by trying it with no rows. None if it does."""
    try:
        empty = pa.record_batch([pa.array([], source)], [name])
        Encoder([op.as_tuple()], [name]).load(*empty.__arrow_c_array__())
    except (ValueError, NotImplementedError) as error:
        return str(error)
    return None


def _unsupported_conversion(op: PlanOp, column: Column, name: str, source: pa.DataType) -> str:
    """Return the error text for a missing conversion, with the encoder's reason if it has one."""
    reason = _refusal(op, name, source)
    advice = "Convert it before writing." + (f" ({reason.removesuffix('.')}.)" if reason is not None else "")
    if pa.types.is_timestamp(source) and source.tz is not None:
        advice = "Informix stores no time zone. Name the zone to convert it to, for example time_zone='Europe/Berlin'"
    return f"{source} data cannot be written to the column {column.name!r}, a {column.type.sql}. {advice}"


def _next_serial(array: pa.Array) -> pa.Array:
    """Replace NULL with 0, which asks for the next number of a serial column."""
    if not array.null_count:
        return array
    if _is_text(array.type):
        return pc.fill_null(array.cast(pa.utf8()), "0")
    return pc.fill_null(array, pa.scalar(0, pa.int64()).cast(array.type))


def _without_views(array: pa.Array, wide: pa.DataType) -> pa.Array:
    return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(wide))


def _local(array: pa.Array, time_zone: str) -> pa.Array:
    """Convert timestamps with a zone to the local time of another zone."""
    return pc.local_timestamp(array.cast(pa.timestamp(array.type.unit, time_zone)))


def _uuid_texts(array: pa.Array) -> pa.Array:
    values = array.storage.to_pylist()
    return pa.array([None if value is None else str(uuid.UUID(bytes=value)) for value in values], pa.utf8())


def _cast(op: PlanOp, ct: ColumnType, source: pa.DataType, inexact: Inexact) -> Step | None:
    """Return the conversion to a type that the encoder takes. None if it would lose something or need a guess."""
    kind = op.kind
    if ct.code in COMPLEX_CODES:
        return (lambda array: _literals(array, ct)) if pa.types.is_nested(source) else None
    if ct.is_json or ct.is_bson:
        return _to_document(ct, source)
    if kind in _INTEGERS:
        return _to_integer(_INTEGER_TYPES[kind], source)
    if kind in (Kind.FLOAT32, Kind.FLOAT64):
        return _to_float(pa.float32() if kind == Kind.FLOAT32 else pa.float64(), source)
    if kind in (Kind.DECIMAL128, Kind.DECIMAL_STRING, Kind.DECIMAL_FLOAT64, Kind.DECIMAL_INT64):
        if pa.types.is_boolean(source):
            return lambda array: array.cast(pa.int8())
        return (lambda array: array.cast(pa.float32())) if pa.types.is_float16(source) else None
    if kind in _TEXTS:
        if pa.types.is_integer(source) or pa.types.is_date32(source):
            return lambda array: array.cast(pa.utf8())
        return None
    if kind == Kind.OPAQUE and _is_text(source):
        return lambda array: array.cast(pa.utf8()).cast(pa.binary())
    if kind == Kind.LOB and pa.types.is_fixed_size_binary(source):
        return lambda array: array.cast(pa.binary())
    if kind == Kind.DATE and pa.types.is_timestamp(source) and source.tz is None:
        return _to_date
    return _from_text(kind, ct, source, inexact)


def _to_document(ct: ColumnType, source: pa.DataType) -> Step | None:
    """Convert structs and lists to JSON, and structs and JSON text to BSON. Makes one Python object per value."""
    if ct.is_bson and _is_text(source):
        return lambda array: _each(array, bson.from_json, pa.binary())
    if ct.is_json and (pa.types.is_struct(source) or _is_list(source)):
        return lambda array: _each(array, json_text, pa.utf8())
    if ct.is_bson and pa.types.is_struct(source):
        return lambda array: _each(array, bson.encode, pa.binary())
    return None


def _is_list(t: pa.DataType) -> bool:
    return bool(pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t))


def _each(array: pa.Array, convert: Callable[[Any], object], target: pa.DataType) -> pa.Array:
    values = array.to_pylist()
    return pa.array([None if value is None else convert(value) for value in values], target)


def _to_integer(target: pa.DataType, source: pa.DataType) -> Step | None:
    if pa.types.is_boolean(source):
        return lambda array: array.cast(target)
    return (lambda array: array.cast(pa.float32())) if pa.types.is_float16(source) else None


def _to_float(target: pa.DataType, source: pa.DataType) -> Step | None:
    if pa.types.is_decimal(source):
        return lambda array: _nearest(array.cast(pa.utf8()).cast(pa.float64()), target)
    if _is_text(source):
        return lambda array: _nearest(_finite(array.cast(pa.utf8())), target)
    if pa.types.is_floating(source):
        return lambda array: _nearest(array, target)
    if pa.types.is_integer(source) or pa.types.is_boolean(source):
        return lambda array: array.cast(pa.int8() if pa.types.is_boolean(source) else source).cast(target)
    return None


def _finite(array: pa.Array) -> pa.Array:
    """Cast text to doubles. Raises ``DataError`` for a number out of range, which a cast would make infinite."""
    doubles = array.cast(pa.float64())
    lost = pc.and_(pc.is_inf(doubles), pc.match_substring_regex(array, "[0-9]"))
    if pc.any(lost).as_py():
        raise unfit_value(array.filter(lost)[0].as_py(), "is beyond the range of FLOAT.")
    return doubles


def _check_utf8(array: pa.Array) -> pa.Array:
    """Return the text unchanged. Raises ``ArrowInvalid`` if it is not UTF-8, which some producers do not check."""
    array.validate(full=True)
    return array


def _nearest(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast to the nearest numbers of a float type. Raises ``DataError`` for one out of range."""
    rounded = array.cast(target, safe=False)
    if array.type == pa.float64() and target == pa.float32():
        lost = pc.and_(pc.is_inf(rounded), pc.is_finite(array))
        if pc.any(lost).as_py():
            raise unfit_value(array.filter(lost)[0].as_py(), "is beyond the range of SMALLFLOAT.")
    return rounded


def _to_date(array: pa.Array) -> pa.Array:
    days = array.cast(pa.date32())
    if not days.cast(array.type).equals(array):
        raise pa.ArrowInvalid("It has a time of day.")
    return days


def _from_text(kind: Kind, ct: ColumnType, source: pa.DataType, inexact: Inexact) -> Step | None:
    if not _is_text(source):
        return None
    if kind == Kind.BOOL:
        return _booleans
    if kind in (Kind.DATETIME_TIME32, Kind.DATETIME_TIME64):
        return _times
    if kind == Kind.INTERVAL_MDN and ct.qualifier is not None:
        qualifier = ct.qualifier
        return lambda array: _intervals(array, qualifier, inexact)
    target = {
        Kind.DATE: pa.date32(),
        Kind.DATETIME_DATE32: pa.date32(),
        Kind.DATETIME_TIMESTAMP: pa.timestamp("us"),
    }.get(kind)
    return None if target is None else lambda array: array.cast(pa.utf8()).cast(target)


def _booleans(array: pa.Array) -> pa.Array:
    """Convert t, f, true, false, 1 and 0 in any case to BOOLEAN. Raises ``DataError`` for any other text."""
    text = pc.utf8_lower(array.cast(pa.utf8()))
    true = pc.is_in(text, pa.array(["t", "true", "1"]))
    odd = pc.invert(pc.or_(pc.or_(true, pc.is_in(text, pa.array(["f", "false", "0"]))), pc.is_null(text)))
    if pc.any(odd).as_py():
        raise unfit_value(
            array.filter(odd)[0].as_py(), "is not a BOOLEAN (expected t or f, true or false, 1 or 0)."
        )
    return pc.if_else(pc.is_null(text), pa.scalar(None, pa.bool_()), true)


def _times(array: pa.Array) -> pa.Array:
    """Convert ISO texts (``10:15:30.5``) to times of day, through timestamps, because Arrow has no direct cast."""
    return (
        pc.binary_join_element_wise("1970-01-01", array.cast(pa.utf8()), "T")
        .cast(pa.timestamp("us"))
        .cast(pa.time64("us"))
    )


def _intervals(array: pa.Array, qualifier: Qualifier, inexact: Inexact) -> pa.Array:
    """Convert Informix's literals (``5-03``, ``-3 04:05:06``) to intervals. Makes one Python object per value."""
    return pa.array(
        [
            None if text is None else to_month_day_nano(interval_of_text(text, qualifier, inexact))
            for text in array.to_pylist()
        ],
        pa.month_day_nano_interval(),
    )


def _in_code_set(array: pa.Array, encoding: str) -> pa.Array:
    """Encode text in a multi-byte code set. Makes one Python object per value."""
    return pa.array([None if v is None else v.encode(encoding) for v in array.to_pylist()], pa.binary())


def _literals(array: pa.Array, ct: ColumnType) -> pa.Array:
    """Convert lists and structs to Informix's literals. Makes one Python object per value."""
    return pa.array([None if v is None else format_literal(v, ct) for v in array.to_pylist()], pa.utf8())
