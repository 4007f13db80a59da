"""Functions written in Python for the translated SQL, which DuckDB does not have.

Arguments and results are storage values (result_types.py). A SqlError inside a function reaches the client with its
code. A call costs about a microsecond a row, so nothing common uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import duckdb
import pyarrow.compute as pc
from duckdb.func import PythonUDFType

from ...wire.qualifiers import Qualifier
from ..errors import SqlError
from . import documents, intervals, number_masks, packed_decimal
from .literals import date, datetime_fields, money, to_storage
from .result_types import LONGEST_TEXT

_ARROW = PythonUDFType.ARROW


def install(con: duckdb.DuckDBPyConnection) -> None:
    """Register all functions with the instance of `con`."""
    for name, function, arguments, result in _FUNCTIONS:
        con.create_function(name, _coded(function), arguments, result)
    for name, function, arguments, result in _DOCUMENT_FUNCTIONS:  # whose result may be NULL
        con.create_function(name, _null_of_null(_coded(function)), arguments, result, null_handling="special")
    for name, column in (("_ifx_finite", _finite), ("_ifx_number", _number)):
        con.create_function(name, _coded(column), ["DOUBLE"], "DOUBLE", type=_ARROW)


def _coded(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # DuckDB reads the parameters from the signature
    def call(*values: Any) -> Any:
        try:
            return function(*values)
        except SqlError as e:
            raise ValueError(f"IFX{e.sqlcode}") from e  # errors.from_duckdb reads this

    return call


def _null_of_null(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is NULL if an argument is NULL."""

    @wraps(function)
    def call(*values: Any) -> Any:
        return None if None in values else function(*values)

    return call


def _interval(text: str, encoded: int) -> int:
    return intervals.parse(text, Qualifier.from_encoded(encoded))


def _moment(text: str, encoded: int) -> str:
    """Convert a DATETIME text to the text of its storage."""
    qualifier = Qualifier.from_encoded(encoded)
    return str(to_storage(datetime_fields(text, qualifier), qualifier))


def _money(text: str) -> str:
    return f"{money(text):f}"


def _bytes(text: str, codec: str) -> int:
    """Return the length of a text in bytes of a multi-byte code set. A missing character counts as its replacement."""
    return len(text.encode(codec, "replace"))


def _truncate(text: str, width: int, codec: str) -> str:
    """Cut a text to `width` bytes of a multi-byte code set."""
    encoded = text.encode(codec, "replace")
    return text if len(encoded) <= width else encoded[:width].decode(codec, "ignore")


def _bytes_of(text: str, start: int, count: int, codec: str) -> str:
    """SUBSTRB in a multi-byte code set. Partial characters are dropped."""
    encoded = text.encode(codec, "replace")
    first = start - 1 if start > 0 else max(0, len(encoded) + start) if start else 0
    return encoded[first : first + max(0, count)].decode(codec, "ignore")


def _slice(text: str, first: int, size: int, codec: str) -> str:
    """Return `text[first, first + size - 1]` counted in bytes from 1. Blanks replace the parts of cut characters."""
    pieces = []
    end, at = first - 1 + size, 0
    for character in text:
        width = len(character.encode(codec, "replace"))
        if at >= first - 1 and at + width <= end:
            pieces.append(character)
        else:
            pieces.append(" " * max(0, min(at + width, end) - max(at, first - 1)))
        at += width
    return "".join(pieces)


def _instr(text: str, part: str, start: int, count: int) -> int:
    """INSTR: return the position of the count-th `part` from `start` on, backwards from the end if `start` is
    negative."""
    if not part or not start or count < 1:
        return 0
    at = start - 2 if start > 0 else len(text) + start + 1
    for _ in range(count):
        at = text.find(part, at + 1) if start > 0 else text.rfind(part, 0, max(0, at - 1 + len(part)))
        if at < 0:
            return 0
    return at + 1


def _substring_index(text: str, part: str, count: int) -> str:
    """Return the text before the count-th `part`, or after it counted from the end if `count` is negative."""
    if not part or not count:
        return ""
    pieces = text.split(part)
    return part.join(pieces[:count] if count > 0 else pieces[count:])


def _replace(text: str, old: str, new: str) -> str:
    """REPLACE with a size check: raises -881 before it builds a result that is too long."""
    if not old:
        return text
    if len(text) + text.count(old) * (len(new) - len(old)) > LONGEST_TEXT:
        raise SqlError(-881)
    return text.replace(old, new)


def _initcap(text: str) -> str:
    """INITCAP: a word begins after every character that is no letter. A letter stays if its other case is several
    letters."""
    out, inside = [], False
    for letter in text:
        other = letter.lower() if inside else letter.upper()
        out.append(other if len(other) == 1 else letter)
        inside = letter.isalpha()
    return "".join(out)


def _finite(numbers: Any) -> Any:
    """Check the results of a DOUBLE function, a column at a time. Raises -1223 for infinity and NaN."""
    return _all_finite(numbers, -1223)


def _number(numbers: Any) -> Any:
    """Check numbers that DuckDB has read from texts, a column at a time. Raises -1213 for words such as inf and nan."""
    return _all_finite(numbers, -1213)


def _all_finite(numbers: Any, code: int) -> Any:
    if not pc.all(pc.is_finite(numbers)).as_py() and numbers.null_count < len(numbers):
        raise SqlError(code)
    return numbers


_FUNCTIONS: tuple[tuple[str, Callable[..., Any], list[Any], str], ...] = (
    ("_ifx_masked", number_masks.format_number, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_money", _money, ["VARCHAR"], "VARCHAR"),
    ("_ifx_date", date, ["VARCHAR", "VARCHAR"], "DATE"),
    ("_ifx_moment", _moment, ["VARCHAR", "INTEGER"], "VARCHAR"),
    ("_ifx_interval", _interval, ["VARCHAR", "INTEGER"], "BIGINT"),
    ("_ifx_bytes", _bytes, ["VARCHAR", "VARCHAR"], "INTEGER"),
    ("_ifx_cut", _truncate, ["VARCHAR", "INTEGER", "VARCHAR"], "VARCHAR"),
    ("_ifx_bytes_of", _bytes_of, ["VARCHAR", "BIGINT", "BIGINT", "VARCHAR"], "VARCHAR"),
    ("_ifx_slice", _slice, ["VARCHAR", "BIGINT", "BIGINT", "VARCHAR"], "VARCHAR"),
    ("_ifx_json", documents.check_json, ["VARCHAR"], "VARCHAR"),
    ("_ifx_to_bson", documents.to_bson, ["VARCHAR"], "BLOB"),
    ("_ifx_to_json", documents.to_json, ["BLOB"], "VARCHAR"),
    ("_ifx_initcap", _initcap, ["VARCHAR"], "VARCHAR"),
    ("_ifx_instr", _instr, ["VARCHAR", "VARCHAR", "BIGINT", "BIGINT"], "INTEGER"),
    ("_ifx_substring_index", _substring_index, ["VARCHAR", "VARCHAR", "BIGINT"], "VARCHAR"),
    ("_ifx_replaced", _replace, ["VARCHAR", "VARCHAR", "VARCHAR"], "VARCHAR"),
    # floating decimals as keys (packed_decimal.py)
    ("_ifx_key", packed_decimal.key_of, ["VARCHAR"], "VARCHAR"),
    ("_ifx_plain", packed_decimal.to_decimal_text, ["VARCHAR"], "VARCHAR"),
    ("_ifx_add", packed_decimal.add, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_subtract", packed_decimal.subtract, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_multiply", packed_decimal.multiply, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_divide", packed_decimal.divide, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_remainder", packed_decimal.remainder, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_negated", packed_decimal.negate, ["VARCHAR"], "VARCHAR"),
    ("_ifx_magnitude", packed_decimal.magnitude, ["VARCHAR"], "VARCHAR"),
    ("_ifx_total", packed_decimal.sum_keys, ["VARCHAR[]"], "VARCHAR"),
    ("_ifx_fit", packed_decimal.round_to_precision, ["VARCHAR", "INTEGER"], "VARCHAR"),
    ("_ifx_rounded", packed_decimal.round_key, ["VARCHAR", "INTEGER"], "VARCHAR"),
    ("_ifx_truncated", packed_decimal.truncate_key, ["VARCHAR", "INTEGER"], "VARCHAR"),
    ("_ifx_whole", packed_decimal.to_integral_text, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    ("_ifx_fixed", packed_decimal.to_fixed_text, ["VARCHAR", "INTEGER", "INTEGER"], "VARCHAR"),
)

_FIELD = ["BLOB", "VARCHAR"]
_DOCUMENT_FUNCTIONS: tuple[tuple[str, Callable[..., Any], list[Any], str], ...] = (
    ("_ifx_bson_bigint", documents.field_bigint, _FIELD, "BIGINT"),
    ("_ifx_bson_int", documents.field_int, _FIELD, "INTEGER"),
    ("_ifx_bson_double", documents.field_double, _FIELD, "DOUBLE"),
    ("_ifx_bson_varchar", documents.field_varchar, _FIELD, "VARCHAR"),
    ("_ifx_bson_lvarchar", documents.field_text, _FIELD, "VARCHAR"),
    ("_ifx_bson_objectid", documents.field_object_id, _FIELD, "VARCHAR"),
    ("_ifx_bson_date", documents.field_date, _FIELD, "DATE"),
    ("_ifx_bson_timestamp", documents.field_timestamp, _FIELD, "TIMESTAMP"),
    ("_ifx_bson_boolean", documents.field_boolean, _FIELD, "BOOLEAN"),
    ("_ifx_bson_size", documents.size, _FIELD, "INTEGER"),
    ("_ifx_bson_get", documents.field_document, [*_FIELD, "VARCHAR"], "BLOB"),
)
