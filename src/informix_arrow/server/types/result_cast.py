"""Casts of DuckDB's Arrow columns to the Arrow types that the encoder expects for the described types."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...wire.code_sets import is_multibyte
from ...wire.describe import Column
from ...wire.plan_ops import arrow_type
from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from . import intervals
from .literals import fields_of, text_of
from .nested_types import is_nested, is_simple_large, lob_kind
from .packed_decimal import decimal_text, to_decimal_text
from .result_types import DECIMALS, INTEGERS, PADDED, RESULT_OPTIONS, is_character

_MONTH_DAY_NANO = np.dtype([("months", "i4"), ("days", "i4"), ("nanos", "i8")])
_MAX_MONTHS = 2**31 - 1
MAX_CHARACTER_BYTES = 4  # per character, in any code set


def cast_table(
    table: Any,
    columns: Sequence[Column],
    codec: str,
    packed: Sequence[bool] = (),
    unconverted: Sequence[object] = (),
) -> Any:
    """Return a table with the described columns, cast to their Arrow types and with their names.

    `packed` columns hold keys of floating decimals. Columns with a true entry in `unconverted` are not cast.
    """
    arrays = []
    fields = []
    for position, (column, array) in enumerate(zip(columns, table.columns, strict=True)):
        if unconverted and unconverted[position]:
            arrays.append(array)
            fields.append(pa.field(column.name, array.type))
            continue
        target_type = result_type(column.type)
        if packed and packed[position]:
            array = numbers_of_keys(array)
        arrays.append(cast_column(array, column.type, target_type, codec))
        fields.append(pa.field(column.name, target_type))
    return pa.table(arrays, schema=pa.schema(fields))


def result_type(t: ColumnType) -> Any:
    """Return the Arrow type of a result column, the input of plan_op(t, RESULT_OPTIONS).

    BYTE and TEXT are their content, BLOB and CLOB their locators, collections and ROWs literal text.
    """
    if is_simple_large(t):
        return pa.large_binary()
    if lob_kind(t):
        return pa.binary()
    if is_nested(t):
        return pa.string()
    return arrow_type(t, RESULT_OPTIONS)


def cast_column(array: Any, t: ColumnType, target_type: Any, codec: str) -> Any:
    """Cast one column. Raises SqlError (-1226, -1215, ...) if a value does not fit the described type."""
    if array.type == target_type and not (is_character(t) and t.code != TypeCode.LVARCHAR):
        return array
    try:
        if t.code == TypeCode.INTERVAL:
            return _intervals(array, t)
        if is_simple_large(t) or lob_kind(t) or is_nested(t):
            return array.cast(target_type)
        if is_character(t):
            return _characters(array, t, target_type, codec)
        if t.code in DECIMALS and t.scale is None:
            return pa.chunked_array(
                [
                    pa.array([_decimal_text(v) for v in chunk.to_pylist()], pa.string())
                    for chunk in array.chunks
                ],
                pa.string(),
            )
        if (
            pa.types.is_decimal(target_type)
            and not pa.types.is_decimal(array.type)
            and not pa.types.is_floating(array.type)
        ):
            return array.cast(pa.decimal128(38, 0)).cast(target_type)
        if pa.types.is_floating(array.type) and pa.types.is_decimal(target_type):
            return array.cast(target_type)
        if pa.types.is_string(target_type):
            return _moments_as_text(array, t)
        if t.code in INTEGERS:
            if pa.types.is_decimal(array.type):
                array = array.cast(pa.int64(), safe=False)
            return array.cast(target_type)
        return array.cast(target_type, safe=False)
    except pa.ArrowInvalid as e:
        code = {TypeCode.SMALLINT: -1214, TypeCode.INTEGER: -1215, TypeCode.BIGINT: -1284}.get(
            TypeCode(t.code), -1226
        )
        raise SqlError(code, detail=str(e)) from None


def _intervals(array: Any, t: ColumnType) -> Any:
    """Convert stored intervals to month_day_nano: months only, or days and nanoseconds below one day, of the same sign.

    Raises -1267 for more than 2^31 - 1 months, which Arrow's type cannot hold (178,956,970 years).
    """
    months = intervals.qualifier_of(t).is_year_month
    chunks = []
    for chunk in array.cast(pa.int64()).chunks:
        units = chunk.fill_null(0).to_numpy(zero_copy_only=False)
        out = np.zeros(len(units), _MONTH_DAY_NANO)
        if months:
            if len(units) and max(units.max(), -units.min()) > _MAX_MONTHS:
                raise SqlError(-1267, detail=f"An INTERVAL of the result has more than {_MAX_MONTHS} months.")
            out["months"] = units
        else:
            out["days"] = units // intervals.DAY + ((units < 0) & (units % intervals.DAY != 0))
            out["nanos"] = (units - out["days"].astype("i8") * intervals.DAY) * 10_000
        valid = None
        if chunk.null_count:
            valid = pa.array(chunk.is_valid().to_numpy(zero_copy_only=False)).buffers()[1]
        buffers = [valid, pa.py_buffer(out.tobytes())]
        chunks.append(pa.Array.from_buffers(pa.month_day_nano_interval(), len(units), buffers))
    return pa.chunked_array(chunks, pa.month_day_nano_interval())


def _characters(array: Any, t: ColumnType, target_type: Any, codec: str) -> Any:
    if pa.types.is_boolean(array.type):
        array = pc.if_else(array, "t", "f")
    if array.type != target_type:
        array = array.cast(target_type)
    width = t.content_width
    utf8 = codec in ("utf-8", "utf8")
    max_char_bytes = 1 if utf8 or not is_multibyte(codec) else MAX_CHARACTER_BYTES
    longest = pc.max(pc.binary_length(array)).as_py()  # an upper bound of the characters, faster to compute
    if longest is None or longest * max_char_bytes <= width:
        return array
    if not utf8 and pc.max(pc.utf8_length(array)).as_py() * max_char_bytes <= width:
        return array
    if t.code in PADDED:
        array = pc.utf8_rtrim(array, characters=" ")
    cut = [None if v is None else _truncate(v, width, codec) for v in array.to_pylist()]
    return pa.chunked_array([pa.array(cut, target_type)])


def _truncate(text: str, width: int, codec: str) -> str:
    """Cut `text` to `width` bytes. Characters that the code set lacks stay, as the encoder rejects them later."""
    try:
        encoded = text.encode(codec)
    except UnicodeEncodeError:
        return text
    return text if len(encoded) <= width else encoded[:width].decode(codec, "ignore")


def numbers_of_keys(array: Any) -> Any:
    """Convert keys of a floating decimal column to plain decimal text."""
    return pa.chunked_array(
        [
            pa.array([None if v is None else to_decimal_text(v) for v in chunk.to_pylist()], pa.string())
            for chunk in array.chunks
        ],
        pa.string(),
    )


def _decimal_text(value: object) -> str | None:
    """Format a number as plain decimal text.

    A computed double has 15 digits. The 16th and 17th are noise in a decimal (0.1 + 0.2).
    """
    if value is None:
        return None
    exact = value if isinstance(value, Decimal) else Decimal(f"{value:.15g}")
    if not exact.is_finite():
        raise SqlError(-1202 if exact.is_infinite() else -1226)
    if not exact:
        return "0"  # never -0
    return decimal_text(exact)


def _moments_as_text(array: Any, t: ColumnType) -> Any:
    if pa.types.is_string(array.type):
        return array
    qualifier = t.qualifier
    if qualifier is None:
        return array.cast(pa.string())
    return pa.chunked_array(
        [
            pa.array(
                [None if v is None else text_of(fields_of(v), qualifier) for v in chunk.to_pylist()],
                pa.string(),
            )
            for chunk in array.chunks
        ],
        pa.string(),
    )
