"""Large objects among a result's columns: from the engine's form to that in a tuple.

BYTE and TEXT contents stay here, and descriptors of 56 bytes are sent in their place (TYPES section 12, JDBC section
7). SQ_FETCHBLOB requests the content for a descriptor. BLOB and CLOB locators are sent as hexadecimal digits, or
unchanged if SQ_RETTYPE asked for type 44 (TYPES section 13, JDBC section 5).
"""

from __future__ import annotations

import binascii
import itertools
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ...wire.describe import Column
from ...wire.types import TypeCode
from ..errors import SqlError

DESCRIPTOR_SIZE = 56
"""Bytes of a descriptor. Bit 70, which makes it 68, is never in force with our reply to SQ_PROTOCOLS."""

NO_SUCH_OBJECT = -602
"""A descriptor that this cursor has not sent, or that represents NULL."""

_LAYOUT = np.dtype(
    {
        "names": ["first", "last", "size", "null", "opening", "column", "row"],
        "formats": [">i4", ">i4", ">i4", "u1", ">u4", ">u4", ">u8"],
        "offsets": [8, 12, 16, 39, 40, 44, 48],
        "itemsize": DESCRIPTOR_SIZE,
    }
)
_HANDLE = struct.Struct(">IIQ")
_HANDLE_OFFSET, _SIZE_OFFSET = 40, 16
_MAX_INT = 0x7FFF_FFFF

_cursor_ids = itertools.count(1)


class LobColumns:
    """The large object columns of one open cursor, and the contents of its returned rows.

    Parameters
    ----------
    columns
        All columns of the result.
    result_types
        Type codes that SQ_RETTYPE asked for, by position.
    """

    def __init__(self, columns: Sequence[Column], result_types: Mapping[int, int]) -> None:
        self._names = [column.name for column in columns]
        self._content_columns = [
            position
            for position, column in enumerate(columns)
            if column.type.code in (TypeCode.BYTE, TypeCode.TEXT)
        ]
        self._locator_columns = [
            position
            for position, column in enumerate(columns)
            if is_locator(column) and result_types.get(position) != TypeCode.SENDRECV
        ]
        self._cursor_id = next(_cursor_ids) & 0xFFFF_FFFF
        self._batch_starts: list[int] = []
        self._rows = 0
        self._batch_contents: list[dict[int, pa.Array]] = []

    def __bool__(self) -> bool:
        """Return whether any column must be converted."""
        return bool(self._content_columns or self._locator_columns)

    def wire_form(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the next batch of the result in the encoder's form; its BYTE and TEXT contents are kept."""
        arrays = batch.columns
        if self._content_columns:
            self._batch_starts.append(self._rows)
            self._batch_contents.append({position: arrays[position] for position in self._content_columns})
        for position in self._content_columns:
            arrays[position] = self._make_descriptors(position, arrays[position])
        for position in self._locator_columns:
            arrays[position] = to_hexadecimal(arrays[position])
        self._rows += batch.num_rows
        return pa.RecordBatch.from_arrays(arrays, names=self._names)

    def _make_descriptors(self, position: int, contents: pa.Array) -> pa.Array:
        """Return a descriptor for each value: positions 0 to size - 1, as IBM's JDBC driver requires."""
        rows = len(contents)
        descriptors = np.zeros(rows, dtype=_LAYOUT)
        offsets = np.frombuffer(contents.buffers()[1], np.int64, rows + 1, contents.offset * 8)
        sizes = np.diff(offsets)
        nulls = np.asarray(contents.is_null())
        sizes[nulls] = 0
        if rows and int(sizes.max()) > _MAX_INT:
            raise SqlError(
                NO_SUCH_OBJECT, near=self._names[position], detail="The content has 2 GiB or more."
            )
        descriptors["last"] = sizes - 1
        descriptors["size"] = sizes
        descriptors["null"] = nulls
        descriptors["opening"] = self._cursor_id
        descriptors["column"] = position
        descriptors["row"] = np.arange(self._rows, self._rows + rows)
        kind = pa.binary(DESCRIPTOR_SIZE)
        if not nulls.any():
            return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(descriptors.tobytes())])
        valid = pa.py_buffer(np.packbits(~nulls, bitorder="little").tobytes())
        return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(descriptors.tobytes())])

    def content(self, descriptor: bytes) -> memoryview:
        """Return the content for a descriptor of this cursor. SqlError -602 for any other descriptor."""
        opening, column, row = _HANDLE.unpack_from(descriptor, _HANDLE_OFFSET)
        if opening != self._cursor_id or column not in self._content_columns or row >= self._rows:
            raise SqlError(NO_SUCH_OBJECT, detail="The descriptor was not returned by this cursor.")
        index = bisect_right(self._batch_starts, row) - 1
        value = self._batch_contents[index][column][row - self._batch_starts[index]]
        content = value.as_buffer()
        size = int.from_bytes(descriptor[_SIZE_OFFSET : _SIZE_OFFSET + 4], "big", signed=True)
        if content is None or size != content.size:
            raise SqlError(NO_SUCH_OBJECT, near=self._names[column], detail="The descriptor was changed.")
        return memoryview(content)


def is_locator(column: Column) -> bool:
    """Return whether a column holds BLOB or CLOB locators."""
    return column.type.code == TypeCode.UDTFIXED and column.type.extended_name in ("blob", "clob")


def to_hexadecimal(values: pa.Array) -> pa.Array:
    """Return a binary array with each value as hexadecimal digits."""
    rows = len(values)
    valid, offsets, data = values.buffers()
    begins = np.frombuffer(offsets, np.int32, rows + 1, values.offset * 4)
    digits = binascii.hexlify(memoryview(data)[begins[0] : begins[-1]]) if data is not None else b""
    doubled = ((begins - begins[0]) * 2).astype(np.int32)
    if not values.null_count:
        valid = None
    elif values.offset:
        valid = pa.py_buffer(np.packbits(np.asarray(values.is_valid()), bitorder="little").tobytes())
    return pa.Array.from_buffers(
        pa.binary(), rows, [valid, pa.py_buffer(doubled.tobytes()), pa.py_buffer(digits)], values.null_count
    )
