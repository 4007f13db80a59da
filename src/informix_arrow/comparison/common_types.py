"""Cast the columns of both sides to common types, so that equal values have equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ..wire.describe import declared_type
from ..wire.errors import DataError

_UNITS = ("s", "ms", "us", "ns")


@dataclass(frozen=True, slots=True)
class CommonColumns:
    """The columns that both sides have, in the order of the first side, and those that only one side has."""

    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    digits: tuple[bool, ...]  # whether the column may hold numbers in text form
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @classmethod
    def of(cls, a: pa.Schema, b: pa.Schema) -> CommonColumns:
        """Match the columns of two schemas by name, ignoring case."""
        fields_of_b = {each.name.lower(): each for each in b}
        both = [(each, fields_of_b[each.name.lower()]) for each in a if each.name.lower() in fields_of_b]
        names = tuple(each.name.lower() for each, _ in both)
        return cls(
            names,
            tuple(one_type(x.type, y.type) for x, y in both),
            tuple(_is_floating(x) or _is_floating(y) for x, y in both),
            tuple(each.name for each in a if each.name.lower() not in fields_of_b),
            tuple(each.name for each in b if each.name.lower() not in names),
        )

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Cast a batch of either side to the common types.

        Raises ``DataError`` for a value that does not fit them.
        """
        places = {name.lower(): place for place, name in enumerate(batch.schema.names)}
        arrays = []
        for name, target, digits in zip(self.names, self.types, self.digits, strict=True):
            array = batch.column(places[name])
            try:
                array = (
                    _decode_dictionary(array)
                    if array.type == target
                    else _decode_dictionary(array).cast(target)
                )
            except pa.ArrowInvalid as error:
                raise DataError(
                    f"Column {name!r} cannot be compared as {target} ({error}).", column=name
                ) from None
            arrays.append(_shortest(array) if digits and pa.types.is_large_string(target) else array)
        return pa.RecordBatch.from_arrays(arrays, names=list(self.names))


def column_indexes(names: Sequence[str], selected: Sequence[str]) -> list[int]:
    """Return the indexes of the ``selected`` columns. Raises ``DataError`` for one that is missing."""
    lower = [name.lower() for name in names]
    for each in selected:
        if each.lower() not in lower:
            raise DataError(
                f"Both sides must have the key column {each!r}. Their common columns are "
                f"{', '.join(names) or 'none'}."
            )
    return [lower.index(each.lower()) for each in selected]


def one_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """Return a type that holds the values of both types."""
    a, b = _canonical_layout(a), _canonical_layout(b)
    types = pa.types
    if a == b:
        return a
    if types.is_integer(a) and types.is_integer(b):
        return pa.int64()
    if types.is_decimal(a) and types.is_decimal(b):
        return pa.decimal128(38, max(a.scale, b.scale))
    for number, other in ((a, b), (b, a)):
        if types.is_decimal(number) and types.is_integer(other):
            return pa.decimal128(38, number.scale)
        if types.is_floating(number) and (
            types.is_floating(other) or types.is_integer(other) or types.is_decimal(other)
        ):
            return pa.float64()
    if types.is_timestamp(a) and types.is_timestamp(b):
        return pa.timestamp(max(a.unit, b.unit, key=_UNITS.index))
    if types.is_duration(a) and types.is_duration(b):
        return pa.duration(max(a.unit, b.unit, key=_UNITS.index))
    if types.is_time(a) and types.is_time(b):
        return pa.time64("ns") if "ns" in (a.unit, b.unit) else pa.time64("us")
    if (
        {types.is_date(a), types.is_timestamp(a)}
        == {types.is_date(b), types.is_timestamp(b)}
        == {True, False}
    ):
        return a if types.is_timestamp(a) else b if types.is_timestamp(b) else pa.date32()
    return pa.large_utf8()


def _canonical_layout(t: pa.DataType) -> pa.DataType:
    """Return the layout that stands for all layouts of a type's values."""
    while pa.types.is_dictionary(t) or pa.types.is_run_end_encoded(t):
        t = t.value_type
    if pa.types.is_string(t) or t == pa.string_view():
        return pa.large_utf8()
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t) or t == pa.binary_view():
        return pa.large_binary()
    if pa.types.is_decimal(t) and not pa.types.is_decimal256(t):
        return pa.decimal128(38, t.scale) if not pa.types.is_decimal128(t) else t
    return t


def _decode_dictionary(array: pa.Array) -> pa.Array:
    return pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array


def _is_floating(field: pa.Field) -> bool:
    """Return whether a field is a floating DECIMAL. Its digits are text, and 1.50 and 1.5 must be equal."""
    declared = declared_type(field)
    return declared is not None and declared.is_floating_decimal


def _shortest(array: pa.Array) -> pa.Array:
    """Remove trailing zeros after the decimal point from numbers in text form."""
    trimmed = pc.replace_substring_regex(array, r"(\.[0-9]*?)0+$", r"\1")
    return pc.replace_substring_regex(trimmed, r"\.$", "")
