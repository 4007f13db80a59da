"""Postprocess decoded batches into the batches that users get.

The C decoder returns the contents of tuples: descriptors of large objects, collections as literal text, bytes
of multi-byte code sets. A :class:`BatchPostprocessor`, created once per result, turns such a batch into the
final one, column by column. A result without such columns passes unchanged, at no cost.
"""

from __future__ import annotations

import codecs
import contextlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ..wire.describe import Column, Plan
from ..wire.errors import DataError, NotSupportedError
from ..wire.nested import parse_literal
from ..wire.plan_ops import TypeOptions
from ..wire.types import ColumnType
from . import arrow_compute as pc
from .documents import json_of_bson

_Types = pa.types

#: Maximum bytes of one utf8 column, whose offsets have 32 bits.
TEXT_LIMIT = 2**31 - 1


@dataclass(slots=True)
class Content:
    """The contents of one large-object column, row by row, as received from the server."""

    data: bytearray = field(default_factory=bytearray)
    ends: array[int] = field(default_factory=lambda: array("q", (0,)))  # the end of each value; 0 in front
    valid: bytearray = field(default_factory=bytearray)  # 1 per value, 0 per NULL

    def end_value(self, *, valid: bool = True) -> None:
        """End the value of the current row."""
        self.ends.append(len(self.data))
        self.valid.append(valid)

    def __len__(self) -> int:
        return len(self.valid)

    def to_arrow(self, rows: int) -> pa.Array:
        """Return the first ``rows`` values as large_binary, without copying the bytes."""
        return pa.Array.from_buffers(
            pa.large_binary(),
            rows,
            [_bitmap(self.valid[:rows]), pa.py_buffer(self.ends), pa.py_buffer(self.data)],
        )


Step = Callable[[pa.Array, int], pa.Array]  # the decoded column and the number of its first row


class BatchPostprocessor:
    """Makes the final batches of one result.

    Parameters
    ----------
    columns, plan
        The result's columns and the plan compiled from them. ``plan.decoded`` is the schema of decoded batches,
        ``plan.schema`` that of final ones, which lacks columns left out by ``lobs="skip"``.
    options
        The options that the plan was compiled with.
    encoding
        Python codec of text on the wire.
    """

    def __init__(self, columns: Sequence[Column], plan: Plan, options: TypeOptions, encoding: str) -> None:
        self.schema: pa.Schema = plan.schema
        self.decoded_schema: pa.Schema = plan.decoded
        self._errors = options.encoding_errors
        self._encoding = encoding
        self._steps: list[tuple[int, Step | None]] = []
        changed = False
        for place, index in enumerate(plan.column_indexes):
            decoded, final = self.decoded_schema.field(index).type, self.schema.field(place).type
            step = self._step(columns[index], decoded, final, options)
            self._steps.append((index, step))
            changed = changed or step is not None
        objects = [column for column in columns if column.type.is_large_object]
        #: True if decoded batches are already final: import them with :attr:`schema` then.
        self.is_identity = len(plan.column_indexes) == len(columns) and not changed and not objects

    def process(
        self, batch: pa.RecordBatch, first_row: int, contents: Mapping[int, Content] = {}
    ) -> pa.RecordBatch:
        """Make the final batch of a decoded one.

        Parameters
        ----------
        batch
            A batch (or slice of one) of the schema :attr:`decoded_schema`.
        first_row
            The number of its first row in the whole result, for errors.
        contents
            For each large-object column, by its index in ``batch``, the contents of at least the batch's rows.

        Raises
        ------
        DataError
            A value is not valid text of the code set or cannot be parsed; ``row`` (of the whole result) and
            ``column`` are set. The rows before it can be processed as a slice.
        """
        if self.is_identity:
            return batch
        arrays = []
        for index, step in self._steps:
            content = contents.get(index)
            column = batch.column(index) if content is None else content.to_arrow(batch.num_rows)
            arrays.append(column if step is None else step(column, first_row))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _step(
        self, column: Column, decoded: pa.DataType, final: pa.DataType, options: TypeOptions
    ) -> Step | None:
        """Return the processing step of one column; None if it needs none."""
        name = column.name
        if options.lobs == "inline" and decoded != final and column.type.is_large_object:
            if not is_text(final):
                return None
            return lambda values, row: self._text(values, final, name, row)
        if _Types.is_nested(final) and not _Types.is_dictionary(final):
            return lambda values, row: self._nested(values, final, column.type, options, name, row)
        if decoded == final:
            return None
        if isinstance(final, pa.BaseExtensionType):  # Arrow's JSON
            inner = self._step(column, decoded, final.storage_type, options)
            return lambda values, row: pa.ExtensionArray.from_storage(
                final, values if inner is None else inner(values, row)
            )
        steps: list[Step] = []
        if column.type.is_bson:
            steps.append(lambda values, row: json_of_bson(values, name, row))
            decoded = pa.utf8()
        if _is_binary(decoded) and not _is_binary(final) and options.encoding_errors != "binary":
            text = pa.large_utf8() if _Types.is_large_binary(decoded) else pa.utf8()
            steps.append(lambda values, row: self._text(values, text, name, row))
        if _Types.is_dictionary(final):
            steps.append(lambda values, row: values.cast(final.value_type).dictionary_encode())
        else:
            steps.append(lambda values, row: values if values.type == final else _cast(values, final))
        return lambda values, row: _apply_steps(steps, values, row)

    def _text(self, values: pa.Array, final: pa.DataType, name: str, first_row: int) -> pa.Array:
        """Decode bytes in the result's code set."""
        return as_text(values, final, self._encoding, self._errors, name, first_row)

    def _nested(
        self,
        values: pa.Array,
        final: pa.DataType,
        ct: ColumnType,
        options: TypeOptions,
        name: str,
        first_row: int,
    ) -> pa.Array:
        """Convert collections and ROWs from their literal text.

        This is the one place of the read path with Python code per value: the server sends these types as SQL
        literals, which have to be parsed by a grammar. They are rare and small, and ``nested="text"`` reads the
        literals themselves at full speed.
        """
        if _is_binary(values.type):
            values = self._text(values, pa.utf8(), name, first_row)
        parsed: list[object] = []
        for number, text in enumerate(values.to_pylist(), first_row):
            try:
                parsed.append(None if text is None else parse_literal(text, ct, options))
            except DataError as error:
                raise DataError(f"Column {name!r}, row {number}: {error}", row=number, column=name) from None
        try:
            return pa.array(parsed, final)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            number = next((i for i, value in enumerate(parsed) if not _fits(value, final)), 0) + first_row
            raise DataError(f"Column {name!r}, row {number}: {error}", row=number, column=name) from None


def as_text(
    values: pa.Array,
    final: pa.DataType,
    encoding: str,
    errors: str,
    name: str,
    first_row: int,
    limit: int = TEXT_LIMIT,
) -> pa.Array:
    """Convert a binary or large_binary array to the text type ``final`` (utf8, large_utf8 or utf8_view).

    Pure ASCII keeps its buffers. UTF-8 is validated at once and kept. Otherwise Python's codec decodes, which
    is C code: multi-byte code sets, many values at once, and the contents of large objects. ``errors`` is the
    option ``encoding_errors``: ``"strict"`` raises ``DataError`` with row and column, ``"replace"`` inserts
    U+FFFD. A value of more than ``limit`` bytes is a ``DataError`` in a type with 32-bit offsets.
    """
    text = pa.large_utf8() if _Types.is_large_binary(values.type) else pa.utf8()
    if _is_ascii(values) and _extends_ascii(encoding):
        decoded = pa.Array.from_buffers(text, len(values), values.buffers(), values.null_count, values.offset)
    else:
        decoded = None
        if codecs.lookup(encoding).name == "utf-8":
            with contextlib.suppress(pa.ArrowInvalid):  # then find the position, or replace
                decoded = values.cast(text)
        if decoded is None:
            decoded = _decode_text(values, text, encoding, errors, name, first_row, limit)
    return decoded if decoded.type == final else _cast(decoded, final)


def _decode_text(
    values: pa.Array,
    text: pa.DataType,
    encoding: str,
    errors: str,
    name: str,
    first_row: int,
    limit: int = TEXT_LIMIT,
) -> pa.Array:
    data, ends = bytearray(), array("q", (0,))
    together = codecs.lookup(encoding).name in _JOINABLE_ENCODINGS
    for begin, count in _chunk_ranges(values):
        some = values.slice(begin, count)
        if not (together and count > 1 and _decode_together(some, encoding, data, ends)):
            _decode_singly(some, encoding, errors, name, first_row + begin, data, ends)
    valid = bytearray(values.is_valid().cast(pa.uint8()).to_numpy()) if values.null_count else bytearray()
    decoded = pa.Array.from_buffers(
        pa.large_utf8(), len(values), [_bitmap(valid), pa.py_buffer(ends), pa.py_buffer(data)]
    )
    if text == pa.utf8() and len(data) > limit:
        # Decoded batches end before their text could exceed the limit, so the value is alone in its batch.
        place = bisect_right(ends, limit) - 1
        raise DataError(
            f"Column {name!r}, row {first_row + place}: A value of {ends[place + 1] - ends[place]:,} bytes "
            f'as UTF-8 is longer than the {limit:,} that a utf8 column holds. Read it with strings="large".',
            row=first_row + place,
            column=name,
        )
    return decoded.cast(text)


#: Code sets in which several values may be decoded as one text with U+0000 between them: no byte affects those
#: after the next zero byte, and a zero byte never ends a multi-byte character.
_JOINABLE_ENCODINGS = frozenset(codecs.lookup(each).name for each in (
    "big5", "cp950", "cp932", "shift_jis", "euc_jp", "cp949", "gbk", "gb18030",
))  # fmt: skip
_CHUNK_BYTES = 1 << 18  # decoded together: the GIL is held for a millisecond, and copies are small


def _chunk_ranges(values: pa.Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of values that have about _CHUNK_BYTES together: first index and count."""
    if not len(values):
        return
    width = np.int64 if _Types.is_large_binary(values.type) else np.int32
    ends = np.frombuffer(values.buffers()[1], width)[values.offset : values.offset + len(values) + 1]
    begin = 0
    while begin < len(values):
        end = int(np.searchsorted(ends, int(ends[begin]) + _CHUNK_BYTES, "right")) - 1
        end = min(max(end, begin + 1), len(values))
        yield begin, end - begin
        begin = end


def _decode_together(values: pa.Array, encoding: str, data: bytearray, ends: array[int]) -> bool:
    """Append the decoded values to ``data``, and their ends to ``ends``.

    Returns False if one must be decoded singly.
    """
    full = values.fill_null(b"")
    single_list = pa.ListArray.from_arrays(pa.array([0, len(full)], pa.int32()), full)
    joined = pc.binary_join(single_list, pa.scalar(b"\0", full.type))[0].as_buffer()
    try:
        decoded = codecs.decode(memoryview(joined), encoding).encode()
    except UnicodeDecodeError:
        return False
    zeros = np.flatnonzero(np.frombuffer(decoded, np.uint8) == 0)
    if len(zeros) != len(values) - 1:
        return False
    before = len(data)
    data += decoded.translate(None, b"\0")
    places = np.empty(len(values), np.int64)
    places[:-1] = zeros - np.arange(len(zeros)) + before
    places[-1] = len(data)
    ends.frombytes(places.tobytes())
    return True


def _decode_singly(
    values: pa.Array,
    encoding: str,
    errors: str,
    name: str,
    first_row: int,
    data: bytearray,
    ends: array[int],
) -> None:
    """Append the decoded values as :func:`_decode_together` does, one by one."""
    handling = "replace" if errors == "replace" else "strict"
    for number, value in enumerate(values, first_row):
        raw = value.as_buffer()
        if raw is not None:
            try:
                data += codecs.decode(memoryview(raw), encoding, handling).encode()
            except UnicodeDecodeError as error:
                raise DataError(
                    f"Column {name!r}, row {number}: The byte 0x{raw.to_pybytes()[error.start]:02x} at "
                    f"position {error.start + 1} is not {encoding} text. Read it with "
                    'encoding_errors="replace" or "binary". If the code set is wrong, set encoding=...',
                    row=number,
                    column=name,
                ) from None
        ends.append(len(data))


def _cast(values: pa.Array, final: pa.DataType) -> pa.Array:
    try:
        return values.cast(final)
    except pa.ArrowNotImplementedError:
        raise NotSupportedError(f"pyarrow {pa.__version__} cannot make {final} columns. Update it.") from None


def _apply_steps(steps: Sequence[Step], values: pa.Array, row: int) -> pa.Array:
    for step in steps:
        values = step(values, row)
    return values


def _fits(value: object, final: pa.DataType) -> bool:
    try:
        pa.array([value], final)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return False
    return True


def _bitmap(valid: bytearray) -> pa.Buffer | None:
    if 0 not in valid:
        return None
    return pa.py_buffer(np.packbits(np.frombuffer(valid, np.uint8), bitorder="little"))


def is_text(final: pa.DataType) -> bool:
    """Return whether a type is text."""
    return bool(_Types.is_string(final) or _Types.is_large_string(final) or _Types.is_string_view(final))


def _is_binary(final: pa.DataType) -> bool:
    return bool(_Types.is_binary(final) or _Types.is_large_binary(final))


def _is_ascii(values: pa.Array) -> bool:
    """Return whether the bytes that the array refers to are ASCII, including those between NULLs."""
    _, offsets, data = values.buffers()
    if data is None or not len(values):
        return True
    width = np.int64 if _Types.is_large_binary(values.type) else np.int32
    ends = np.frombuffer(offsets, width)
    begin, end = int(ends[values.offset]), int(ends[values.offset + len(values)])
    return begin == end or int(np.frombuffer(data, np.uint8)[begin:end].max()) < 0x80


def _extends_ascii(encoding: str) -> bool:
    """Return whether bytes below 0x80 are ASCII: true for all code sets of servers but not, for example, for UTF-16."""
    return bytes(range(128)).decode(encoding, "replace") == bytes(range(128)).decode("ascii")
