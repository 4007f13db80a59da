"""From the user's Arrow data to groups of encoded rows, and from a row of a group back to the data it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast

import pyarrow as pa

from .._encode import Encoder
from ..exchange.load import Form, Group
from ..exchange.steps import Exchange, Pause
from ..wire.code_sets import is_multibyte
from ..wire.codepages import encoder_table
from ..wire.errors import DataError, Error
from .convert import UNFIT, Converter
from .report import Rejects, describe_row, show_value, taken
from .source import Arriving, Dealt

#: Rows that are converted and encoded at a time: what is made of them is all that a load holds besides the
#: batch at hand.
PIECE_ROWS = 65_536


@dataclass(slots=True, eq=False)
class Piece:
    """Some rows of the data, as they came and as the encoder takes them."""

    original: pa.RecordBatch
    ready: pa.RecordBatch
    first: int  # number of the first original row in the whole load
    kept: Sequence[int] | None = None  # for each ready row its place in the original; None = all are there

    def place(self, index: int) -> int:
        """Where ready row ``index`` stands in the original."""
        return index if self.kept is None else self.kept[index]


@dataclass(frozen=True, slots=True)
class Part:
    """Ready rows ``start`` .. ``start + count`` of a piece."""

    piece: Piece
    start: int
    count: int


@dataclass(slots=True)
class _Loaded:
    """What an encoder has been given, and how far it is."""

    encoder: Encoder | None  # None: there is nothing to be encoded
    columns: Sequence[int]  # of the ready rows, those that the encoder takes
    piece: Piece | None = None
    at: int = 0  # the encoder's next row, in ready rows of the piece
    end: int = 0  # behind the last row that it was given

    def load(self, piece: Piece, at: int, count: int) -> None:
        if self.encoder is not None:
            batch = piece.ready.select(self.columns).slice(at, count)
            self.encoder.load(*batch.__arrow_c_array__(), first_row=0)
        self.piece, self.at, self.end = piece, at, at + count


@dataclass(slots=True)
class RowFeed:
    """The feed of a load (:class:`informix_arrow.exchange.load.Feed`).

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
    rejects: Rejects | None = None
    piece_rows: int = PIECE_ROWS
    culprit: tuple[Piece, int, Error] | None = None  # the row that ended the load
    foreign: Exception | None = None  # what the data itself raised
    _failed: Exception | None = None  # to be raised when the rows before it are on their way
    _seen: int = 0  # rows of all batches pulled
    _batch: pa.RecordBatch | None = None
    _first: int = 0  # number of its first row in the whole load
    _offset: int = 0  # rows of the batch already made into pieces
    _piece: Piece | None = None
    _next: int = 0  # ready rows of the piece already given to the encoder
    _main: _Loaded = field(init=False)

    def __post_init__(self) -> None:
        self._main = self._loaded()

    def wait(self) -> Exchange[None]:
        """Let the next batches arrive when the data is an async iterable."""
        if isinstance(self.batches, Arriving | Dealt) and self.batches.dry:
            yield Pause(self.batches.more)

    def take(self, form: Form, budget: int, most: int) -> Group | None:
        """The next rows as one group, or None.

        Raises the ``DataError`` of a row that cannot be written, unless rejects are collected, and whatever
        the data raises.
        """
        chunks: list[bytes | bytearray] = []
        parts: list[Part] = []
        count = size = 0
        while count < most and size < budget:
            if self._main.at >= self._main.end:
                try:
                    if not self._load(most - count):
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
            parts.append(part)
            count += rows
            size += len(data)
        return Group(b"".join(chunks) if len(chunks) != 1 else chunks[0], count, parts) if count else None

    def again(self, group: Group, start: int, budget: int, most: int) -> Iterator[Group]:
        """The rows of ``group`` from ``start`` on in BIND form; each was encoded before, so each can be.

        Rows that the encoder has refused among them lie between parts: where there are many, parts are short.
        """
        loaded = self._loaded()
        chunks: list[bytes | bytearray] = []
        parts: list[Part] = []
        count = size = 0
        for part in self._parts(group):
            skipped = min(start, part.count)
            start -= skipped
            at, end = part.start + skipped, part.start + part.count
            while at < end:
                loaded.load(part.piece, at, min(most - count, end - at))
                at = loaded.end
                while loaded.at < loaded.end:
                    data, rows, encoded = self._encode(loaded, Form.BIND, budget - size)
                    chunks.append(data)
                    parts.append(encoded)
                    count += rows
                    size += len(data)
                    if count >= most or size >= budget:
                        yield Group(b"".join(chunks), count, parts)
                        chunks, parts, count, size = [], [], 0, 0
        if count:
            yield Group(b"".join(chunks), count, parts)

    def contents(self, group: Group) -> list[memoryview | None]:
        """The contents for the BLOB and CLOB columns of a group of one row, None for NULL."""
        (part,) = self._parts(group)
        values = [
            part.piece.ready.column(number)[part.start]
            for number, each in enumerate(self.converters)
            if each.content
        ]
        return [memoryview(value.as_buffer()) if value.is_valid else None for value in values]

    def refused(self, group: Group, index: int, error: Error) -> None:
        """Set a row aside that the server refused."""
        assert self.rejects is not None
        piece, place = self._find(group, index)
        self.rejects.add(piece.original, place, piece.first + place, error)

    def blame(self, group: Group, index: int, error: Error) -> Error:
        """Set the row of an error of the server's, and remember it for :meth:`name_culprit`."""
        return self._blamed(*self._find(group, index), error)

    def name_culprit(self, key: Sequence[str]) -> None:
        """Put the number and the ``key`` columns of the row that ended the load in front of its error's text."""
        if self.culprit is not None:
            piece, place, error = self.culprit
            row = describe_row(piece.original, place, key, [each.source for each in self.converters])
            error.args = (f"row {error.row} ({row}): {error.args[0]}",)

    @property
    def rows_seen(self) -> int:
        """Rows of all batches pulled so far."""
        return self._seen

    # ---- rows ----------------------------------------------------------------------------------------------

    def _loaded(self) -> _Loaded:
        plain = [number for number, each in enumerate(self.converters) if not each.content]
        if not plain:
            return _Loaded(None, plain)
        encoder = Encoder(
            [self.converters[number].op.as_tuple() for number in plain],
            [self.converters[number].column.name for number in plain],
            codepage=None if is_multibyte(self.encoding) else encoder_table(self.encoding),
        )
        return _Loaded(encoder, plain)

    def _encode(self, loaded: _Loaded, form: Form, budget: int) -> tuple[bytearray, int, Part]:
        assert loaded.piece is not None
        if loaded.encoder is None:
            data, rows = bytearray(), 1
        elif form is Form.BIND:
            data, rows = loaded.encoder.encode(budget, int(form), self.head, self.tail)
        else:
            data, rows = loaded.encoder.encode(budget, int(form))
        part = Part(loaded.piece, loaded.at, rows)
        loaded.at += rows
        return data, rows, part

    def _load(self, most: int) -> bool:
        """Give the encoder at most ``most`` rows more; False when there are none."""
        while self._piece is None or self._next >= self._piece.ready.num_rows:
            self._piece = self._pull()
            self._next = 0
            if self._piece is None:
                return False
        count = min(most, self._piece.ready.num_rows - self._next)
        self._main.load(self._piece, self._next, count)
        self._next += count
        return True

    def _pull(self) -> Piece | None:
        """The next piece of the data, converted."""
        if self._failed is not None:
            raise self._failed
        while self._batch is None or self._offset >= self._batch.num_rows:
            try:
                self._batch, self._offset = next(self.batches, None), 0
            except Exception as error:
                self.foreign = error
                raise
            if self._batch is None:
                return None
            self._first = self.batches.first if isinstance(self.batches, Dealt) else self._seen
            self._seen += self._batch.num_rows
        original = self._batch.slice(self._offset, self.piece_rows)
        first = self._first + self._offset
        self._offset += original.num_rows
        return self._convert(original, first)

    def _convert(self, original: pa.RecordBatch, first: int) -> Piece:
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
            return Piece(original, pa.RecordBatch.from_arrays(arrays, columns), first)
        for place in sorted(bad):
            each, why = bad[place]
            error = DataError(f"column {each.column.name!r}: {why}", row=place, column=each.column.name)
            if self.rejects is None:
                told = self._unfit(Piece(original, original, first), place, error)
                if not place:
                    raise told
                self._failed = told
                return self._convert(original.slice(0, place), first)
            self.rejects.add(original, place, first + place, self._valued(original, place, error))
        kept = [place for place in range(original.num_rows) if place not in bad]
        ready = [
            each.convert(taken(original.column(names.index(each.source)), kept)) for each in self.converters
        ]
        return Piece(original, pa.RecordBatch.from_arrays(ready, columns), first, kept)

    # ---- rows that cannot be written -----------------------------------------------------------------------

    def _reject(self, error: DataError) -> None:
        """The encoder refused the row that it is at: set it aside and go on behind it, or raise."""
        main = self._main
        assert main.piece is not None
        piece, place = main.piece, main.piece.place(main.at)
        told = DataError(_without_place(error), row=place, column=error.column)
        if self.rejects is None:
            raise self._unfit(piece, place, told)
        self.rejects.add(
            piece.original, place, piece.first + place, self._valued(piece.original, place, told)
        )
        if main.at + 1 < main.end:
            main.load(piece, main.at + 1, main.end - main.at - 1)
        else:
            main.at = main.end

    def _valued(self, original: pa.RecordBatch, place: int, error: DataError) -> DataError:
        """The error with the value that was refused."""
        source = next((each.source for each in self.converters if each.column.name == error.column), None)
        if source is not None:
            value = show_value(original.column(original.schema.names.index(source)), place, 100)
            error.args = (f"{error.args[0]}; the value is {value}",)
        return error

    def _unfit(self, piece: Piece, place: int, error: DataError) -> Error:
        """The error that ends a load which does not collect rejects."""
        self._valued(piece.original, place, error)
        error.args = (
            f"{error.args[0]}\nChange the value or the column; on_error='collect' sets such rows aside and loads "
            "the others.",
        )
        return self._blamed(piece, place, error)

    def _blamed(self, piece: Piece, place: int, error: Error) -> Error:
        error.row = piece.first + place
        self.culprit = piece, place, error
        return error

    def _parts(self, group: Group) -> list[Part]:
        return cast("list[Part]", group.origin)

    def _find(self, group: Group, index: int) -> tuple[Piece, int]:
        """The piece of a group's row, and its place in the original."""
        parts = self._parts(group)
        for part, end in zip(parts, accumulate(part.count for part in parts), strict=True):
            if index < end:
                return part.piece, part.piece.place(part.start + index - (end - part.count))
        raise AssertionError(f"row {index} of a group of {group.count}")


def _without_place(error: DataError) -> str:
    """The encoder's text, its row number left out: it counts the rows of what it was given."""
    text = str(error.args[0]) if error.args else ""
    return text.replace(f", row {error.row}:", ":", 1)
