"""Convert the user's Arrow data to groups of encoded rows, and find the data of a row of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast

import pyarrow as pa

from .._encode import Encoder
from ..operations.bulk_insert import RowFraming, RowGroup
from ..operations.io_steps import Exchange, Pause, Poll
from ..wire.code_sets import is_multibyte
from ..wire.codepages import encoder_table
from ..wire.encode_fault import EncodeFault
from ..wire.errors import DataError, Error, set_place
from .batch_sources import AsyncBatchSource, SharedBatchSource, ThreadedBatchSource
from .convert import UNFIT, Converter
from .report import RejectedRows, describe_row, show_value, take_values

#: Number of rows that are converted and encoded at a time. Besides the current batch, a load holds only their
#: converted copies in memory.
CHUNK_ROWS = 65_536


@dataclass(slots=True, eq=False)
class ConvertedChunk:
    """Some rows of the data: the original ones, and the ready ones that the encoder takes."""

    original: pa.RecordBatch
    ready: pa.RecordBatch
    first_row: int  # number of the first original row, counted over the whole load
    original_rows: Sequence[int] | None = (
        None  # each ready row's index in the original; None: all rows are ready
    )

    def original_row(self, index: int) -> int:
        """Return the index in the original of ready row ``index``."""
        return index if self.original_rows is None else self.original_rows[index]


@dataclass(frozen=True, slots=True)
class EncodedSpan:
    """Ready rows ``start`` .. ``start + count`` of a chunk."""

    chunk: ConvertedChunk
    start: int
    count: int


@dataclass(slots=True)
class _EncoderState:
    """An encoder, the rows that it was given, and its position in them."""

    encoder: Encoder | None  # None: no column is written by the encoder
    columns: Sequence[int]  # those of the ready rows that the encoder writes
    chunk: ConvertedChunk | None = None
    next_row: int = 0  # the encoder's next row, in ready rows of the chunk
    end_row: int = 0  # one past the last row that it was given

    def load(self, chunk: ConvertedChunk, start: int, count: int) -> None:
        if self.encoder is not None:
            batch = chunk.ready.select(self.columns).slice(start, count)
            self.encoder.load(*batch.__arrow_c_array__(), first_row=0)
        self.chunk, self.next_row, self.end_row = chunk, start, start + count


@dataclass(slots=True)
class ArrowRowSource:
    """The row source of a load from Arrow data (see :class:`informix_arrow.operations.bulk_insert.RowSource`).

    Parameters
    ----------
    batches
        The data: record batches of one schema, pulled when they are needed.
    converters
        One for each column of the INSERT, by the data's column names.
    encoding
        The connection's code set.
    head, tail
        Bytes before and after each row in BIND form.
    rejects
        Collects rows that cannot be written. None: the first such row raises an error.
    piece_rows
        Number of rows converted at a time.
    is_cancelled
        Returns whether the call is to end. Asked before each batch is pulled and each piece is converted.
    """

    batches: Iterator[pa.RecordBatch]
    converters: Sequence[Converter]
    encoding: str
    head: bytes
    tail: bytes
    rejects: RejectedRows | None = None
    piece_rows: int = CHUNK_ROWS
    is_cancelled: Callable[[], bool] = lambda: False
    failed_row: tuple[ConvertedChunk, int, Error] | None = None  # the row that ended the load
    source_error: Exception | None = None  # raised by the data itself
    _failed: Exception | None = None  # raised by the next call, once the rows before it were sent
    _rows_pulled: int = 0  # number of rows of all batches pulled
    _batch: pa.RecordBatch | None = None
    _batch_first_row: int = 0  # number of the batch's first row, counted over the whole load
    _offset: int = 0  # rows of the batch already made into chunks
    _chunk: ConvertedChunk | None = None
    _next: int = 0  # ready rows of the chunk already given to the encoder
    _main: _EncoderState = field(init=False)

    def __post_init__(self) -> None:
        self._main = self._new_encoder_state()

    def wait(self) -> Exchange[None]:
        """Wait for more batches if the data arrives on its own (an async iterable, a thread) and none is ready."""
        if isinstance(self.batches, AsyncBatchSource | SharedBatchSource) and self.batches.is_starved:
            yield Pause(self.batches.wait_for_batches)
        elif isinstance(self.batches, ThreadedBatchSource) and self.batches.is_starved:
            yield Poll(self.batches.wait_for_batches)

    def next_group(self, form: RowFraming, budget: int, most: int) -> RowGroup | None:
        """Return the next rows as one group. None if there are no more.

        Raises the ``DataError`` of a row that cannot be written, unless rejects are collected, and any error of
        the data.
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
                    self._failed = error  # return the rows before it first; the next call raises it
                    break
            try:
                data, rows, part = self._encode(self._main, form, budget - size)
            except DataError as error:
                if count and self.rejects is None:
                    break  # return the rows before it first; the next call meets it again
                self._reject(error)
                continue
            chunks.append(data)
            spans.append(part)
            count += rows
            size += len(data)
        return RowGroup(b"".join(chunks) if len(chunks) != 1 else chunks[0], count, spans) if count else None

    def resend_from(self, group: RowGroup, start: int, budget: int, most: int) -> Iterator[RowGroup]:
        """Yield the rows of ``group`` from ``start`` on in BIND form. All of them were encoded before, so encoding
        succeeds.

        Rows that the encoder refused lie between the spans of a group. With many of them, the spans are short.
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
        """Return the contents for the BLOB and CLOB columns of a group of one row, None for NULL."""
        (part,) = self._spans(group)
        values = [
            part.chunk.ready.column(number)[part.start]
            for number, each in enumerate(self.converters)
            if each.content
        ]
        return [memoryview(value.as_buffer()) if value.is_valid else None for value in values]

    def record_rejected(self, group: RowGroup, index: int, error: Error) -> None:
        """Collect a row that the server refused."""
        assert self.rejects is not None
        chunk, place = self._find(group, index)
        self.rejects.add(chunk.original, place, chunk.first_row + place, error)

    def locate_error(self, group: RowGroup, index: int, error: Error) -> Error:
        """Set the row of an error from the server, and remember it for :meth:`describe_failed_row`."""
        return self._locate(*self._find(group, index), error)

    def describe_failed_row(self, key: Sequence[str]) -> None:
        """Prefix the error that ended the load with the row's number and its ``key`` columns."""
        if self.failed_row is not None:
            chunk, place, error = self.failed_row
            row = describe_row(chunk.original, place, key, [each.source for each in self.converters])
            column = f", column {error.column!r}" if error.place else ""  # a server's text has no place
            set_place(error, f"Row {error.row}", f" ({row}){column}")

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
        """Give the encoder at most ``most`` more rows. Returns False if there are none."""
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
        """Return the next chunk of the data, converted. None at the end."""
        if self._failed is not None:
            raise self._failed
        if self.is_cancelled():
            return None
        while self._batch is None or self._offset >= self._batch.num_rows:
            try:
                self._batch, self._offset = next(self.batches, None), 0
            except Exception as error:
                self.source_error = error
                raise
            if self._batch is None or self.is_cancelled():
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
        """Convert rows.

        Without rejects, only the rows before the first bad one are returned. Its error is raised by the next call.
        """
        names = original.schema.names
        arrays, bad = [], dict[int, tuple[Converter, str]]()
        for each in self.converters:
            array = original.column(names.index(each.source))
            try:
                arrays.append(each.convert(array))
            except UNFIT:
                arrays.append(array)  # converted again below, without the bad rows
                for place, why in each.bad_rows(array):
                    bad.setdefault(place, (each, why))
                    if self.rejects is None:
                        break
        columns = [each.column.name for each in self.converters]
        if not bad:
            return ConvertedChunk(original, pa.RecordBatch.from_arrays(arrays, columns), first)
        for place in sorted(bad):
            each, why = bad[place]
            error = self._value_error(original, place, each.column.name, why)
            if self.rejects is None:
                failure = self._conversion_error(ConvertedChunk(original, original, first), place, error)
                if not place:
                    raise failure
                self._failed = failure
                return self._convert(original.slice(0, place), first)
            self.rejects.add(original, place, first + place, error)
        good = [place for place in range(original.num_rows) if place not in bad]
        ready = [
            each.convert(take_values(original.column(names.index(each.source)), good))
            for each in self.converters
        ]
        return ConvertedChunk(original, pa.RecordBatch.from_arrays(ready, columns), first, good)

    # ---- rows that cannot be written -----------------------------------------------------------------------

    def _reject(self, error: DataError) -> None:
        """Collect the row that the encoder just refused and continue after it. Raises its error without rejects."""
        main = self._main
        assert main.chunk is not None
        chunk, place = main.chunk, main.chunk.original_row(main.next_row)
        assert error.fault is not None
        assert error.column is not None
        located = self._value_error(chunk.original, place, error.column, error.fault)
        if self.rejects is None:
            raise self._conversion_error(chunk, place, located)
        self.rejects.add(chunk.original, place, chunk.first_row + place, located)
        if main.next_row + 1 < main.end_row:
            main.load(chunk, main.next_row + 1, main.end_row - main.next_row - 1)
        else:
            main.next_row = main.end_row

    def _value_error(
        self, original: pa.RecordBatch, place: int, column: str, reason: str | EncodeFault
    ) -> DataError:
        """Return the error for a value that was refused. Its text shows the value."""
        source = next(each.source for each in self.converters if each.column.name == column)
        value = show_value(original.column(original.schema.names.index(source)), place, 100)
        text = reason.describe(value) if isinstance(reason, EncodeFault) else reason
        error = DataError(f"Column {column!r}: {text.removesuffix('.')}.", row=place, column=column)
        error.place = f"Column {column!r}"
        return error

    def _conversion_error(self, chunk: ConvertedChunk, place: int, error: DataError) -> Error:
        """Return the error that ends a load that does not collect rejects."""
        error.args = (
            f"{error.args[0]}\nCorrect the value, or use on_error='collect' to set such rows aside and load the "
            "others.",
        )
        return self._locate(chunk, place, error)

    def _locate(self, chunk: ConvertedChunk, place: int, error: Error) -> Error:
        error.row = chunk.first_row + place
        self.failed_row = chunk, place, error
        return error

    def _spans(self, group: RowGroup) -> list[EncodedSpan]:
        return cast("list[EncodedSpan]", group.origin)

    def _find(self, group: RowGroup, index: int) -> tuple[ConvertedChunk, int]:
        """Return the chunk of a group's row, and the row's index in the original."""
        parts = self._spans(group)
        for part, end in zip(parts, accumulate(part.count for part in parts), strict=True):
            if index < end:
                return part.chunk, part.chunk.original_row(part.start + index - (end - part.count))
        raise AssertionError(f"row {index} of a group of {group.count}")
