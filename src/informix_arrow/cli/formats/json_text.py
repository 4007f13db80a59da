"""JSON: an object for each row, on a line of its own (``jsonl``) or all in one array (``json``).

It is written by Arrow's kernels and read by Python's ``json``, which keeps all digits of numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..exit_codes import Failure
from .file_rows import BrokenLine, FileRows, Options, with_positions
from .text_columns import is_number, texts
from .text_decoding import TextDecoder, describe_undecodable

_BLOCK_ROWS = 10_000
_CHUNK = 1 << 20  # characters of an array read at a time
_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
_SHORT = {'"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class JsonWriter:
    """A writer of JSON lines, or of one array of objects. Numbers keep all digits."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, options: Options, *, array: bool = False) -> None:
        duplicate = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if duplicate:
            raise Failure(
                f"Two columns are called {duplicate[0]!r}. JSON needs different names. Rename one with AS."
            )
        self._file = file
        self._array = array
        self._fields = list(schema)
        self._before = [
            ("{" if number == 0 else ", ") + json.dumps(each.name, ensure_ascii=False) + ": "
            for number, each in enumerate(schema)
        ]
        self._begun = False

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        if not batch.num_rows:
            return
        columns: list[Any] = []
        for before, column, field in zip(self._before, batch.columns, self._fields, strict=True):
            columns += [pa.scalar(before), pc.fill_null(json_texts(column, field), "null")]
        lines = pc.binary_join_element_wise(*columns, pa.scalar("}"), "")
        mark = ",\n" if self._array else "\n"
        text = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), mark)[0].as_buffer()
        if self._array:
            self._file.write(b",\n" if self._begun else b"[\n")
        self._file.write(text)
        if not self._array:
            self._file.write(b"\n")
        self._begun = True

    def close(self) -> None:
        """Write the end. The file stays open."""
        if self._array:
            self._file.write(b"\n]\n" if self._begun else b"[]\n")


def json_texts(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return the values as JSON, NULL as NULL. Numbers that JSON cannot express, such as NaN, become texts."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.utf8())
    if pa.types.is_nested(kind):
        return texts(column, field)
    plain = texts(column, field)
    if pa.types.is_integer(kind) and is_number(field):
        return plain
    quoted = _quote_texts(plain)
    if not is_number(field):
        return quoted
    return pc.if_else(pc.fill_null(pc.match_substring_regex(plain, _NUMBER), False), plain, quoted)


def _quote_texts(column: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(column, r'[\\"\x00-\x1f]')).as_py():
        column = pc.replace_substring(column, "\\", "\\\\")
        for character, escape in _SHORT.items():
            column = pc.replace_substring(column, character, escape)
        for code in range(32):
            if chr(code) not in _SHORT:
                column = pc.replace_substring(column, chr(code), f"\\u{code:04x}")
    return pc.binary_join_element_wise('"', column, '"', "")


def read_json(file: IO[bytes], name: str, options: Options) -> FileRows:
    """Return the rows of JSON lines, or of an array of objects. Values are text, with the digits of the file.

    The columns are the keys of the first 10,000 rows. A later new key, and a value that is no object, is a ``Failure``
    or is collected in ``FileRows.broken``.
    """
    text = TextDecoder(file, options.encoding)
    broken: list[BrokenLine] = []
    objects = _objects(text, name, broken, options)
    first = _block(objects)
    names = list(dict.fromkeys(key for _, _, row in first for key in row))
    if not names:
        detail = f", line {broken[0].line}: {broken[0].problem}." if broken else " is empty."
        raise Failure(f"{name}{detail} The file has no object.")
    rows = FileRows(pa.schema([_field(each, options) for each in names]), iter(()), None, broken)
    rows.batches = _batches(first, objects, rows, name, options.collect)
    return rows


def _field(name: str, options: Options) -> pa.Field:
    return pa.field(name, options.nested.get(name.lower(), pa.utf8()))


_Object = tuple[int, str, "dict[str, Any]"]


def _block(objects: Iterator[_Object]) -> list[_Object]:
    return [row for row, _ in zip(objects, range(_BLOCK_ROWS), strict=False)]


def _batches(
    first: list[_Object], objects: Iterator[_Object], rows: FileRows, name: str, collect: bool
) -> Iterator[pa.RecordBatch]:
    known = set(rows.schema.names)
    nested = [each for each in rows.schema if pa.types.is_nested(each.type)]
    block = first
    while block:
        fitting = []
        doubtful = {
            each.name for each in nested if not _fits([row.get(each.name) for _, _, row in block], each)
        }
        for line, text, row in block:
            strange = row.keys() - known
            problem, advice = "", ""
            if strange:
                problem = f"The key {sorted(strange)[0]!r} is in none of the first {_BLOCK_ROWS:,} rows"
                advice = ". Add it to one of them, with NULL or a value."
            else:
                problems = (_mismatch(row.get(each.name), each, each.name in doubtful) for each in nested)
                problem = next(filter(None, problems), "")
            if not problem:
                fitting.append((line, text, row))
                continue
            if not collect:
                raise Failure(f"{name}, line {line}: {problem}{advice}")
            rows.broken.append(BrokenLine(text, problem, -1, line))
        if fitting:
            arrays = [_column([row.get(each.name) for _, _, row in fitting], each) for each in rows.schema]
            lines = np.array([line for line, _, _ in fitting], np.int64)
            batch = pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
            yield with_positions(batch, lines, pa.array([text for _, text, _ in fitting], pa.utf8()))
        block = _block(objects)


def _mismatch(value: Any, field: pa.Field, doubtful: bool) -> str:
    """Return why a value does not fit a column of lists or structs, "" if it fits."""
    unknown = _unknown_key(value, field.type)
    if unknown:
        return f"Column {field.name!r}: {unknown!r} is not a field of {field.type}."
    if doubtful and not _fits([value], field):
        return f"Column {field.name!r}: {json.dumps(value, ensure_ascii=False)[:80]} is not a value of {field.type}."
    return ""


def _fits(values: list[Any], field: pa.Field) -> bool:
    try:
        _column(values, field)
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def _unknown_key(value: Any, kind: pa.DataType) -> str:
    """Return a key of an object that is no field of its type, because Arrow would ignore it."""
    if pa.types.is_struct(kind) and isinstance(value, dict):
        fields = {each.name: each.type for each in kind}
        unknown = next((key for key in value if key not in fields), "")
        return unknown or next(filter(None, (_unknown_key(value[key], fields[key]) for key in value)), "")
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and isinstance(value, list):
        return next(filter(None, (_unknown_key(each, kind.value_type) for each in value)), "")
    return ""


def _column(values: list[Any], field: pa.Field) -> pa.Array:
    if pa.types.is_nested(field.type):
        return _cast(pa.array(values, _as_text(field.type)), field.type)
    return pa.array([None if value is None else _text(value) for value in values], pa.utf8())


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast a column. Arrow's own cast also parses what is under the NULL of a struct: empty texts, which are no
    numbers.
    """
    if pa.types.is_struct(kind):
        fields = [_cast(each, field.type) for each, field in zip(column.flatten(), kind, strict=True)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=column.is_null())
    if pa.types.is_list(kind):
        values = _cast(column.values, kind.value_type)
        return pa.ListArray.from_arrays(column.offsets, values, type=kind, mask=column.is_null())
    return column.cast(kind)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def _as_text(kind: pa.DataType) -> pa.DataType:
    """Return the type with text in place of all values, as which numbers are read."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_as_text(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([each.with_type(_as_text(each.type)) for each in kind])
    return kind if pa.types.is_boolean(kind) else pa.utf8()


def _objects(text: TextDecoder, name: str, broken: list[BrokenLine], options: Options) -> Iterator[_Object]:
    """Yield line, text and content of each object."""
    decoder = json.JSONDecoder(
        parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_unique_keys
    )
    start = text.read(_CHUNK)
    source = _elements if start.lstrip("\ufeff \r\n\t").startswith("[") else _lines
    for line, piece in source(start.removeprefix("\ufeff"), text, name):
        problem = describe_undecodable(piece, options.encoding)
        try:
            row: Any = None if problem else decoder.decode(piece)
        except _DuplicateKeyError as error:
            problem = str(error)
        except ValueError as error:
            problem = f"The text is not JSON ({error})"
        except RecursionError:
            problem = "Its lists or objects are nested too deeply"
        else:
            problem = problem or ("" if isinstance(row, dict) else "The text is not an object")
        if not problem and "\\ud" in piece.lower():
            problem = describe_undecodable(json.dumps(row, ensure_ascii=False), options.encoding)
        if not problem:
            yield line, piece, row
            continue
        if not options.collect:
            raise Failure(f"{name}, line {line}: {problem}: {piece[:80]!r}.")
        broken.append(BrokenLine(piece, problem, -1, line))


class _DuplicateKeyError(ValueError):
    """An object has a key twice, and one of the values would be lost."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _DuplicateKeyError(f"The key {twice!r} occurs twice")
    return result


def _lines(start: str, text: TextDecoder, name: str) -> Iterator[tuple[int, str]]:
    """Yield lines that are not blank, with their numbers."""
    number, rest = 1, start
    while True:
        *whole, rest = rest.split("\n")
        for line in whole:
            if line.strip():
                yield number, line.rstrip("\r")
            number += 1
        more = text.read(_CHUNK)
        if not more:
            break
        rest += more
    if rest.strip():
        yield number, rest.rstrip("\r")


def _elements(start: str, text: TextDecoder, name: str) -> Iterator[tuple[int, str]]:
    """Yield the elements of an array, which must be all that the file has."""
    decoder = json.JSONDecoder()
    buffer, at, line = start, start.index("[") + 1, 1 + start[: start.index("[")].count("\n")
    while True:
        while at < len(buffer) and buffer[at] in ", \r\n\t":
            line += buffer[at] == "\n"
            at += 1
        if at < len(buffer) and buffer[at] == "]":
            _require_end(buffer[at + 1 :], text, line, name)
            return
        try:
            _, end = decoder.raw_decode(buffer, at)
        except RecursionError:
            raise Failure(f"{name}, line {line}: Its lists or objects are nested too deeply.") from None
        except ValueError as error:
            more = text.read(max(_CHUNK, len(buffer) - at))
            if not more:
                raise Failure(f"{name}, line {line}: The array is incomplete ({error}).") from None
            buffer, at = buffer[at:] + more, 0
            continue
        piece = buffer[at:end]
        yield line, piece
        line += piece.count("\n")
        at = end


def _require_end(rest: str, text: TextDecoder, line: int, name: str) -> None:
    """Raise ``Failure`` for content after an array, because its rows would not be loaded."""
    while not rest.strip():
        line += rest.count("\n")
        rest = text.read(_CHUNK)
        if not rest:
            return
    line += rest[: len(rest) - len(rest.lstrip())].count("\n")
    raise Failure(f"{name}, line {line}: There is text after the end of the array: {rest.strip()[:80]!r}.")
