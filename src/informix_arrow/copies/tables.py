"""Rows into one Parquet file, encoded while they come: by dictionaries and compressed as far as it pays.

Tables of numbers, texts and times are encoded by `_parquet`, a page for each batch, so that little is left to do when
the last rows have come. pyarrow encodes those with lists and structs, and makes the schema of every file.
"""

from __future__ import annotations

import struct as layout
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._parquet import add, finish
from .._parquet import column as column_of
from .thrift import BINARY, I16, I32, I64, LIST, STRUCT, Fields, binary, fields_of, items, number, struct

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._parquet import Column

GROUP_BYTES = 64 << 20  # of Arrow data in a row group
PAGE_ROWS = 1 << 16
PAGE_BYTES = 8 << 20  # of Arrow data of all columns in the rows of a page
WORTH = 0.8  # of its size, which a page must not exceed when it is compressed
MAGIC = b"PAR1"
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
UNCOMPRESSED = 0
CODECS = {"zstd": (6, pa.Codec("zstd", compression_level=1))} if pa.Codec.is_available("zstd") else {}
_PHYSICAL = {
    "BOOLEAN": 0,
    "INT32": 1,
    "INT64": 2,
    "FLOAT": 4,
    "DOUBLE": 5,
    "BYTE_ARRAY": 6,
    "FIXED_LEN_BYTE_ARRAY": 7,
}
_KINDS = {"INT32": "integer", "INT64": "integer", "FLOAT": "float", "DOUBLE": "float", "BOOLEAN": "boolean",
          "BYTE_ARRAY": "text", "FIXED_LEN_BYTE_ARRAY": "decimal"}  # fmt: skip


class TableWriter:
    """A file that rows are added to, which are cast to its schema."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._schema = schema
        empty = pa.BufferOutputStream()
        pq.ParquetWriter(empty, schema).close()
        template = empty.getvalue()
        told = pq.read_metadata(pa.BufferReader(template))
        kinds = (
            [_column(each, told.schema.column(place)) for place, each in enumerate(schema)]
            if (told.num_columns == len(schema))
            else [None]
        )
        columns = [kind for kind in kinds if kind is not None]
        self._encoder: _Encoder | _Groups = (
            _Encoder(file, template.to_pybytes(), columns)
            if len(columns) == len(kinds)
            else _Groups(file, schema)
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        if batch.schema.types != self._schema.types:
            batch = batch.cast(self._schema)
        self._encoder.write(batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._encoder.close()


class _Groups:
    """What pyarrow encodes, when a row group is together."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(file, schema, compression="zstd", compression_level=1)
        self._schema = schema
        self._group: list[pa.RecordBatch] = []
        self._held = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._group.append(batch)
        self._held += batch.nbytes
        if self._held >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        whole = pa.Table.from_batches(self._group, self._group[0].schema).cast(self._schema)
        self._writer.write_table(whole, row_group_size=max(len(whole), 1))
        self._group, self._held = [], 0

    def close(self) -> None:
        if self._group:
            self._flush()
        self._writer.close()


@dataclass(slots=True)
class _Column:
    """A column of the file, and its chunk of the row group that is being made."""

    path: str
    physical: str
    encoder: Column
    codec: tuple[int, pa.Codec] | None = None  # of this chunk, once it has a page
    pages: list[bytes] = field(default_factory=list)  # with their heads
    sizes: list[int] = field(default_factory=list)  # of them, were they not compressed
    encodings: set[int] = field(default_factory=set)

    def add(self, array: pa.Array) -> None:
        """Rows as a page."""
        buffers = array.buffers()
        validity = buffers[0] if array.null_count else None
        offsets, values = (buffers[1], buffers[2]) if len(buffers) == 3 else (None, buffers[1])
        data, by_dictionary = add(self.encoder, len(array), array.offset, validity, values, offsets)
        encoding = RLE_DICTIONARY if by_dictionary else PLAIN
        self.encodings |= {encoding, RLE}
        told = {1: len(array), 2: encoding, 3: RLE, 4: RLE}
        self._page(data, DATA_PAGE, 5, told)

    def finish(self, start: int, rows: int) -> tuple[list[bytes], bytes, int]:
        """The chunk at a place of the file: its bytes, what a footer says of it, and its size uncompressed."""
        dictionary, entries, nulls, low, high = finish(self.encoder)
        first = 0
        if dictionary is not None:
            self._page(dictionary, DICTIONARY_PAGE, 7, {1: entries, 2: PLAIN})
            self.pages.insert(0, self.pages.pop())
            self.encodings.add(PLAIN)
            first = len(self.pages[0])
        told: Fields = {
            1: (I32, number(_PHYSICAL[self.physical])),
            2: (LIST, items(I32, [number(each) for each in sorted(self.encodings)])),
            3: (LIST, items(BINARY, [binary(self.path)])),
            4: (I32, number(self.codec[0] if self.codec else UNCOMPRESSED)),
            5: (I64, number(rows)),
            6: (I64, number(sum(self.sizes))),
            7: (I64, number(sum(map(len, self.pages)))),
            9: (I64, number(start + first)),
        }
        if dictionary is not None:
            told[11] = I64, number(start)
        statistics: Fields = {3: (I64, number(nulls))}
        if low is not None and high is not None:
            statistics |= {5: (BINARY, binary(high)), 6: (BINARY, binary(low))}
        told[12] = STRUCT, struct(statistics)
        chunk = struct({2: (I64, number(start)), 3: (STRUCT, struct(told))})
        pages, size = self.pages, sum(self.sizes)
        self.pages, self.sizes, self.encodings = [], [], set()
        return pages, chunk, size

    def _page(self, data: bytes, kind: int, place: int, told: dict[int, int]) -> None:
        size, packed = len(data), data
        if not self.pages:  # all pages of a chunk are compressed, or none
            self.codec = None
            for codec in CODECS.values():
                packed = codec[1].compress(data, asbytes=True)
                self.codec = codec if len(packed) < WORTH * size else None
                packed = packed if self.codec else data
        elif self.codec:
            packed = self.codec[1].compress(data, asbytes=True)
        head = struct({
            1: (I32, number(kind)),
            2: (I32, number(size)),
            3: (I32, number(len(packed))),
            place: (STRUCT, struct({each: (I32, number(value)) for each, value in told.items()})),
        })  # fmt: skip
        self.pages.append(head + packed)
        self.sizes.append(len(head) + size)


class _Encoder:
    """What `_parquet` encodes, as it comes."""

    def __init__(self, file: Any, template: bytes, columns: list[_Column]) -> None:
        (length,) = layout.unpack("<I", template[-8:-4])
        self._footer = fields_of(template[-8 - length : -8])
        self._file = file
        self._columns = columns
        self._at = 0
        self._rows = self._held = 0  # of the row group that is being made
        self._all = 0
        self._groups: list[bytes] = []
        self._put(MAGIC)

    def write(self, batch: pa.RecordBatch) -> None:
        for piece in _pieces(batch):
            for column, array in zip(self._columns, piece.columns, strict=True):
                column.add(array)
            self._rows += piece.num_rows
            self._held += piece.nbytes
            if self._held >= GROUP_BYTES:
                self._flush()

    def _flush(self) -> None:
        start, size, chunks = self._at, 0, []
        for column in self._columns:
            pages, chunk, unpacked = column.finish(self._at, self._rows)
            self._put(b"".join(pages))
            chunks.append(chunk)
            size += unpacked
        group: Fields = {
            1: (LIST, items(STRUCT, chunks)),
            2: (I64, number(size)),
            3: (I64, number(self._rows)),
            5: (I64, number(start)),
            6: (I64, number(self._at - start)),
            7: (I16, number(len(self._groups))),
        }
        self._groups.append(struct(group))
        self._all += self._rows
        self._rows = self._held = 0

    def close(self) -> None:
        if self._rows:
            self._flush()
        told: Fields = {
            **self._footer,
            3: (I64, number(self._all)),
            4: (LIST, items(STRUCT, self._groups)),
            6: (BINARY, binary("informix-arrow version " + version("informix-arrow"))),
        }
        footer = struct(told)
        self._put(footer + layout.pack("<I", len(footer)) + MAGIC)

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._at += len(data)


def _column(each: pa.Field, told: pq.ColumnSchema) -> _Column | None:
    """How a column is encoded; None for one that pyarrow is to encode."""
    kind, physical = each.type, told.physical_type
    t = pa.types
    is_text = t.is_string(kind) or t.is_large_string(kind) or t.is_binary(kind) or t.is_large_binary(kind)
    is_number = t.is_signed_integer(kind) or t.is_float32(kind) or t.is_float64(kind) or t.is_boolean(kind)
    is_time = t.is_date32(kind) or t.is_time(kind) or t.is_timestamp(kind) or t.is_duration(kind)
    if physical not in _KINDS or not (is_text or is_number or is_time or t.is_decimal128(kind)):
        return None
    factor, out = 1, {"INT32": 4, "FLOAT": 4}.get(physical, 8)
    if is_text:
        width = 8 if t.is_large_string(kind) or t.is_large_binary(kind) else 4
    else:
        width = kind.bit_width // 8
    if t.is_decimal128(kind):
        if physical != "FIXED_LEN_BYTE_ARRAY":
            return None
        out = told.length
    elif t.is_timestamp(kind) and kind.unit == "s":
        factor = 1000  # Parquet has milliseconds
    elif t.is_time32(kind) and kind.unit == "s":
        return None
    return _Column(told.path, physical, column_of(_KINDS[physical], width, out, factor, each.nullable))


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, so many at a time as a page has."""
    rows = batch.num_rows
    each = min(PAGE_ROWS, max(rows * PAGE_BYTES // max(batch.nbytes, 1), 1))
    for start in range(0, rows, each):
        yield batch if each >= rows else batch.slice(start, each)


def texts_by_dictionary(told: pq.FileMetaData) -> list[str]:
    """Columns of texts or bytes that each row group keeps a dictionary of: they need not be unpacked to be summed."""
    found = []
    for place in range(told.num_columns):
        column = told.schema.column(place)
        groups = range(told.num_row_groups)
        if (
            column.physical_type == "BYTE_ARRAY"
            and column.max_repetition_level == 0
            and "." not in column.path
            and told.num_row_groups
            and all(told.row_group(group).column(place).has_dictionary_page for group in groups)
        ):
            found.append(column.path)
    return found
