"""Cast Arrow arrays exactly, and find the value that cannot be cast."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from ..ingest.convert import UNFIT

Step = Callable[[pa.Array], pa.Array]


def first_invalid(array: pa.Array, step: Step, error: Exception) -> tuple[int, str]:
    """Return the index of the first value that a step refuses, and the reason. It is found by bisection."""
    start, count = 0, len(array)
    while count > 1:
        half = count // 2
        try:
            step(array.slice(start, half))
        except UNFIT as refused:
            error, count = refused, half
        else:
            start, count = start + half, count - half
            try:
                step(array.slice(start, count))
            except UNFIT as refused:
                error = refused
    return start, str(error).partition("\n")[0]


def to_arrow(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast values to another type exactly. Raises ``ArrowInvalid`` for one that it cannot hold."""
    if array.type == target:
        return array
    if pa.types.is_dictionary(target):
        return to_arrow(array, target.value_type).dictionary_encode().cast(target)
    if pa.types.is_dictionary(array.type) or pa.types.is_run_end_encoded(array.type):
        plain = pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array
        return to_arrow(plain.cast(array.type.value_type), target)
    if pa.types.is_decimal(target) and not pa.types.is_decimal(array.type):
        # Through text, which keeps all digits: a cast of floats rounds, and one of integers refuses values that fit.
        return array.cast(pa.utf8()).cast(target)
    result = array.cast(target)
    if pa.types.is_temporal(array.type) and not result.cast(array.type).equals(array):
        raise pa.ArrowInvalid(
            f"A value of the Arrow type {array.type} has more precision than {target} can store."
        )
    return result
