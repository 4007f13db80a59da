"""From the user's Arrow data to groups of encoded rows, and from a row of a group back to the data it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast

import pyarrow as pa

from .._encode import Encoder
from ..operations.bulk_insert import RowFraming, RowGroup
from ..operations.io_steps import Exchange, Pause
from ..wire.code_sets import is_multibyte
from ..wire.codepages import encoder_table
from ..wire.errors import DataError, Error
from .batch_sources import AsyncBatchSource, SharedBatchSource
from .convert import UNFIT, Converter
from .report import RejectedRows, describe_row, show_value, take_values

#: Rows that are converted and encoded at a time: what is made of them is all that a load holds besides the
#: batch at hand.
CHUNK_ROWS = 65_536


@dataclass(slots=True, eq=False)
class ConvertedChunk:
    """Some rows of the data, as they came and as the encoder takes them."""

    original: pa.RecordBatch
    ready: pa.RecordBatch
    first_row: int  # number of the first original row in the whole load
    original_rows: Sequence[int] | None = (
        None  # for each ready row its place in the original; None = all are there
    )

    def original_row(self, index: int) -> int:
        """Where ready row ``index`` stands in the original."""
        return index if self.original_rows is None else self.original_rows[index]


@dataclass(frozen=True, slots=True)
class EncodedSpan:
    """Ready rows ``start`` .. ``start + count`` of a piece."""

    chunk: ConvertedChunk
    start: int
    count: int


@dataclass(slots=True)
class _EncoderState:
    """What an encoder has been given, and how far it is."""

    encoder: Encoder | None  # None: there is nothing to be encoded
    columns: Sequence[int]  # of the ready rows, those that the encoder takes
    chunk: ConvertedChunk | None = None
    next_row: int = 0  # the encoder's next row, in ready rows of the piece
    end_row: int = 0  # behind the last row that it was given

    def load(self, piece: ConvertedChunk, at: int, count: int) -> None:
        if self.encoder is not None:
            batch = piece.ready.select(self.columns).slice(at, count)
            self.encoder.load(*batch.__arrow_c_array__(), first_row=0)
        self.chunk, self.next_row, self.end_row = piece, at, at + count


@dataclass(slots=True)
class ArrowRowSource:
    """The feed of a load (:class:`informix_arrow.operations.bulk_insert.Feed`).

    Parameters
    ----------
    batches
        The data: record batches of one schema, pulled when they are needed.
    converters
        One for each column of the INSERT, by the data's column names.
    encoding
        The connection's code set.
    head, tail
        What stands around a row in BIND form.
    rejects
        Where rows go that cannot be written; None makes the first of them an error.
    piece_rows
        Rows converted at a time.
    """

    batches: Iterator[pa.RecordBatch]
    converters: Sequence[Converter]
    encoding: str
    head: bytes
    tail: bytes
    rejects: RejectedRows | None = None
    piece_rows: int = CHUNK_ROWS
    failed_row: tuple[ConvertedChunk, int, Error] | None = None  # the row that ended the load
    source_error: Exception | None = None  # what the data itself raised
    _failed: Exception | None = None  # to be raised when the rows before it are on their way
    _rows_pulled: int = 0  # rows of all batches pulled
    _batch: pa.RecordBatch | None = None
    _batch_first_row: int = 0  # number of its first row in the whole load
    _offset: int = 0  # rows of the batch already made into pieces
    _chunk: ConvertedChunk | None = None
    _next: int = 0  # ready rows of the piece already given to the encoder
    _main: _EncoderState = field(init=False)

    def __post_init__(self) -> None:
        self._main = self._new_encoder_state()

    def wait(self) -> Exchange[None]:
        """Let the next batches arrive when the data is an async iterable."""
        if isinstance(self.batches, AsyncBatchSource | SharedBatchSource) and self.batches.is_starved:
            yield Pause(self.batches.wait_for_batches)

    def next_group(self, form: RowFraming, budget: int, most: int) -> RowGroup | None:
        """The next rows as one group, or None.

        Raises the ``DataError`` of a row that cannot be written, unless rejects are collected, and whatever
        the data raises.
        """
        chunks: list[bytes | bytearray] = []
        spans: list[EncodedSpan] = []
        count = size = 0
        while count < most and size < budget:
            if self._main.next_row >= self._main.end_row:
                try:
                    if not self._load_encoder(most - count):
                        break
                except Exception as error:
                    if not count:
                        raise
                    self._failed = error  # the rows before it first; the next call raises it
                    break
            try:
                data, rows, part = self._encode(self._main, form, budget - size)
            except DataError as error:
                if count and self.rejects is None:
                    break  # the rows before it first; the next call begins with it
                self._reject(error)
                continue
            chunks.append(data)
            spans.append(part)
            count += rows
            size += len(data)
        return RowGroup(b"".join(chunks) if len(chunks) != 1 else chunks[0], count, spans) if count else None

    def resend_from(self, group: RowGroup, start: int, budget: int, most: int) -> Iterator[RowGroup]:
        """The rows of ``group`` from ``start`` on in BIND form; each was encoded before, so each can be.

        Rows that the encoder has refused among them lie between parts: where there are many, parts are short.
        """
        loaded = self._new_encoder_state()
        chunks: list[bytes | bytearray] = []
        spans: list[EncodedSpan] = []
        count = size = 0
        for part in self._spans(group):
            skipped = min(start, part.count)
            start -= skipped
            at, end = part.start + skipped, part.start + part.count
            while at < end:
                loaded.load(part.chunk, at, min(most - count, end - at))
                at = loaded.end_row
                while loaded.next_row < loaded.end_row:
                    data, rows, encoded = self._encode(loaded, RowFraming.BIND, budget - size)
                    chunks.append(data)
                    spans.append(encoded)
                    count += rows
                    size += len(data)
                    if count >= most or size >= budget:
                        yield RowGroup(b"".join(chunks), count, spans)
                        chunks, spans, count, size = [], [], 0, 0
        if count:
            yield RowGroup(b"".join(chunks), count, spans)

    def contents(self, group: RowGroup) -> list[memoryview | None]:
        """The contents for the BLOB and CLOB columns of a group of one row, None for NULL."""
        (part,) = self._spans(group)
        values = [
            part.chunk.ready.column(number)[part.start]
            for number, each in enumerate(self.converters)
            if each.content
        ]
        return [memoryview(value.as_buffer()) if value.is_valid else None for value in values]

    def record_rejected(self, group: RowGroup, index: int, error: Error) -> None:
        """Set a row aside that the server refused."""
        assert self.rejects is not None
        piece, place = self._find(group, index)
        self.rejects.add(piece.original, place, piece.first_row + place, error)

    def locate_error(self, group: RowGroup, index: int, error: Error) -> Error:
        """Set the row of an error of the server's, and remember it for :meth:`describe_failed_row`."""
        return self._locate(*self._find(group, index), error)

    def describe_failed_row(self, key: Sequence[str]) -> None:
        """Put the number and the ``key`` columns of the row that ended the load in front of its error's text."""
        if self.failed_row is not None:
            piece, place, error = self.failed_row
            row = describe_row(piece.original, place, key, [each.source for each in self.converters])
            error.args = (f"row {error.row} ({row}): {error.args[0]}",)

    @property
    def rows_seen(self) -> int:
        """Rows of all batches pulled so far."""
        return self._rows_pulled

    # ---- rows ----------------------------------------------------------------------------------------------

    def _new_encoder_state(self) -> _EncoderState:
        plain = [number for number, each in enumerate(self.converters) if not each.content]
        if not plain:
            return _EncoderState(None, plain)
        encoder = Encoder(
            [self.converters[number].op.as_tuple() for number in plain],
            [self.converters[number].column.name for number in plain],
            codepage=None if is_multibyte(self.encoding) else encoder_table(self.encoding),
        )
        return _EncoderState(encoder, plain)

    def _encode(
        self, loaded: _EncoderState, form: RowFraming, budget: int
    ) -> tuple[bytearray, int, EncodedSpan]:
        assert loaded.chunk is not None
        if loaded.encoder is None:
            data, rows = bytearray(), 1
        elif form is RowFraming.BIND:
            data, rows = loaded.encoder.encode(budget, int(form), self.head, self.tail)
        else:
            data, rows = loaded.encoder.encode(budget, int(form))
        part = EncodedSpan(loaded.chunk, loaded.next_row, rows)
        loaded.next_row += rows
        return data, rows, part

    def _load_encoder(self, most: int) -> bool:
        """Give the encoder at most ``most`` rows more; False when there are none."""
        while self._chunk is None or self._next >= self._chunk.ready.num_rows:
            self._chunk = self._pull_chunk()
            self._next = 0
            if self._chunk is None:
                return False
        count = min(most, self._chunk.ready.num_rows - self._next)
        self._main.load(self._chunk, self._next, count)
        self._next += count
        return True

    def _pull_chunk(self) -> ConvertedChunk | None:
        """The next piece of the data, converted."""
        if self._failed is not None:
            raise self._failed
        while self._batch is None or self._offset >= self._batch.num_rows:
            try:
                self._batch, self._offset = next(self.batches, None), 0
            except Exception as error:
                self.source_error = error
                raise
            if self._batch is None:
                return None
            self._batch_first_row = (
                self.batches.first_row if isinstance(self.batches, SharedBatchSource) else self._rows_pulled
            )
            self._rows_pulled += self._batch.num_rows
        original = self._batch.slice(self._offset, self.piece_rows)
        first = self._batch_first_row + self._offset
        self._offset += original.num_rows
        return self._convert(original, first)

    def _convert(self, original: pa.RecordBatch, first: int) -> ConvertedChunk:
        """Convert rows. Without rejects, those before the first bad one, whose error is raised after them."""
        names = original.schema.names
        arrays, bad = [], dict[int, tuple[Converter, str]]()
        for each in self.converters:
            array = original.column(names.index(each.source))
            try:
                arrays.append(each.convert(array))
            except UNFIT:
                arrays.append(array)  # converted below, without the bad rows
                for place, why in each.bad_rows(array):
                    bad.setdefault(place, (each, why))
                    if self.rejects is None:
                        break
        columns = [each.column.name for each in self.converters]
        if not bad:
            return ConvertedChunk(original, pa.RecordBatch.from_arrays(arrays, columns), first)
        for place in sorted(bad):
            each, why = bad[place]
            error = DataError(f"column {each.column.name!r}: {why}", row=place, column=each.column.name)
            if self.rejects is None:
                told = self._conversion_error(ConvertedChunk(original, original, first), place, error)
                if not place:
                    raise told
                self._failed = told
                return self._convert(original.slice(0, place), first)
            self.rejects.add(original, place, first + place, self._add_value(original, place, error))
        kept = [place for place in range(original.num_rows) if place not in bad]
        ready = [
            each.convert(take_values(original.column(names.index(each.source)), kept))
            for each in self.converters
        ]
        return ConvertedChunk(original, pa.RecordBatch.from_arrays(ready, columns), first, kept)

    # ---- rows that cannot be written -----------------------------------------------------------------------

    def _reject(self, error: DataError) -> None:
        """The encoder refused the row that it is at: set it aside and go on behind it, or raise."""
        main = self._main
        assert main.chunk is not None
        piece, place = main.chunk, main.chunk.original_row(main.next_row)
        told = DataError(_without_place(error), row=place, column=error.column)
        if self.rejects is None:
            raise self._conversion_error(piece, place, told)
        self.rejects.add(
            piece.original, place, piece.first_row + place, self._add_value(piece.original, place, told)
        )
        if main.next_row + 1 < main.end_row:
            main.load(piece, main.next_row + 1, main.end_row - main.next_row - 1)
        else:
            main.next_row = main.end_row

    def _add_value(self, original: pa.RecordBatch, place: int, error: DataError) -> DataError:
        """The error with the value that was refused."""
        source = next((each.source for each in self.converters if each.column.name == error.column), None)
        if source is not None:
            value = show_value(original.column(original.schema.names.index(source)), place, 100)
            error.args = (f"{error.args[0]}; the value is {value}",)
        return error

    def _conversion_error(self, piece: ConvertedChunk, place: int, error: DataError) -> Error:
        """The error that ends a load which does not collect rejects."""
        self._add_value(piece.original, place, error)
        error.args = (
            f"{error.args[0]}\nChange the value or the column; on_error='collect' sets such rows aside and loads "
            "the others.",
        )
        return self._locate(piece, place, error)

    def _locate(self, piece: ConvertedChunk, place: int, error: Error) -> Error:
        error.row = piece.first_row + place
        self.failed_row = piece, place, error
        return error

    def _spans(self, group: RowGroup) -> list[EncodedSpan]:
        return cast("list[EncodedSpan]", group.origin)

    def _find(self, group: RowGroup, index: int) -> tuple[ConvertedChunk, int]:
        """The piece of a group's row, and its place in the original."""
        parts = self._spans(group)
        for part, end in zip(parts, accumulate(part.count for part in parts), strict=True):
            if index < end:
                return part.chunk, part.chunk.original_row(part.start + index - (end - part.count))
        raise AssertionError(f"row {index} of a group of {group.count}")


def _without_place(error: DataError) -> str:
    """The encoder's text, its row number left out: it counts the rows of what it was given."""
    text = str(error.args[0]) if error.args else ""
    return text.replace(f", row {error.row}:", ":", 1)
