"""The rows of a file, with the line of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]

#: Columns that readers of text append to their batches: the line on which a row begins (the first line of a file is 1),
#: and its text, if available.
LINE, TEXT = "informix-arrow line", "informix-arrow text"


@dataclass(frozen=True)
class Options:
    """Options of a text file that is written or read. A format ignores those that do not apply to it.

    Attributes
    ----------
    delimiter
        Between the fields of CSV and .unl; "" is the format's own, ``,`` and ``|``.
    null
        The text for NULL in CSV, quoted or not. None: an empty field without quotes.
    encoding
        Python codec of a file that is read.
    compression
        Of Parquet and Arrow files; None is the format's own.
    collect
        True: lines that are no rows are collected in ``FileRows.broken``. False: they end the reading.
    nested
        Arrow types of columns that hold lists and structs, by lower-case name, for JSON.
    types
        The columns of a .unl file, which has no header.
    date_format
        Of dates in .unl, as in DBDATE; "" is the default of ``read_unl``.
    beside
        The directory of large objects of a .unl file; "" for none.
    """

    delimiter: str = ""
    null: str | None = None
    encoding: str = "utf-8"
    compression: str | None = None
    collect: bool = False
    nested: dict[str, pa.DataType] = field(default_factory=dict)
    types: pa.Schema | None = None
    date_format: str = ""
    content_directory: str = ""


@dataclass
class BrokenLine:
    """A line that cannot be read as a row: its text, the error, and its number among the file's rows, from 0."""

    text: str
    problem: str
    ordinal: int
    line: int = 0


@dataclass
class FileRows:
    """The content of a file: batches with the columns of ``schema`` first, then :data:`LINE` and :data:`TEXT`."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    total: int | None = None
    broken: list[BrokenLine] = field(default_factory=list)

    def reader(self) -> pa.RecordBatchReader:
        """Return the batches without the position columns."""
        width = len(self.schema)

        def bare() -> Iterator[pa.RecordBatch]:
            for batch in self.batches:
                yield pa.RecordBatch.from_arrays(batch.columns[:width], schema=self.schema)

        return pa.RecordBatchReader.from_batches(self.schema, bare())


class LineCounter:
    """A counter of a file's lines along with its rows.

    ``blank`` holds the numbers of blank lines, which are no rows. The object that reads the file's bytes appends to it.
    """

    def __init__(self, blank: list[int], first: int) -> None:
        self._blank = blank
        self._next = first  # of the next row, blank lines not counted

    def next_lines(self, count: int, inside: Numbers | None) -> Numbers:
        """Return the lines on which the next rows begin. ``inside`` has the number of line ends within each."""
        lines = np.arange(self._next, self._next + count, dtype=np.int64)
        self._next += count
        if inside is not None:
            lines[1:] += np.cumsum(inside)[:-1]
            self._next += int(inside.sum())
        return self._with_blank(lines)

    @property
    def next(self) -> int:
        """Return the line of the next row."""
        return int(self._with_blank(np.array([self._next], np.int64))[0])

    def skip(self, text: str) -> int:
        """Return the line of the next row, which is skipped."""
        line = self.next
        self._next += 1 + text.count("\n")
        return line

    def _with_blank(self, lines: Numbers) -> Numbers:
        if not self._blank:
            return lines
        before = np.array(self._blank, np.int64) - np.arange(len(self._blank))
        return lines + np.searchsorted(before, lines, side="right")


def with_positions(batch: pa.RecordBatch, lines: Numbers, text: pa.Array | None = None) -> pa.RecordBatch:
    """Return the batch with :data:`LINE` and :data:`TEXT` appended."""
    arrays, names = [*batch.columns, pa.array(lines)], [*batch.schema.names, LINE]
    if text is not None:
        arrays.append(text)
        names.append(TEXT)
    return pa.RecordBatch.from_arrays(arrays, names)
