"""``.unl``, the format of LOAD and UNLOAD, row by row with its lines; the values are ``informix_arrow.unl``'s."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from typing import IO

import numpy as np
import pyarrow as pa

from ...unl import read_unl, write_unl
from ...wire.errors import DataError
from ..exit_codes import Failure, UsageError
from ..files import STDIO, is_remote
from .file_rows import BrokenLine, FileRows, Numbers, Options, with_positions
from .text_decoding import TextDecoder, describe_undecodable

_CHUNK = 4 << 20  # bytes of text read at a time
_MARK = "\ufeff"  # of byte order
_AFTER_ERROR = 1000  # rows read at a time in a piece that has refused ones: each begins a new reading
_LOCATION_PREFIX = re.compile(r"^[^:]*?, (?:line|row) \d+(?:, |: )")  # of a piece, which says nothing here


class UnlWriter:
    """Batches as .unl. Contents of BLOB and CLOB columns go into files beside it."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, options: Options) -> None:
        self._file = file
        self._options = options

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        beside = self._options.content_directory
        write_unl(
            [batch],
            self._file,  # type: ignore[arg-type]
            delimiter=self._options.delimiter or None,
            encoding="utf-8",
            lob_directory=beside or None,
        )

    def close(self) -> None:
        """Nothing is left; the file stays open."""


def content_directory(path: str) -> str:
    """The directory of a file, where the contents of large objects are; "" where there is none."""
    return "" if path == STDIO or is_remote(path) else os.path.dirname(path) or "."


def read_unl_rows(file: IO[bytes], name: str, options: Options) -> FileRows:
    """The rows of a .unl file, whose columns are ``options.types``. A row that is none of these is a ``Failure`` that
    names its line, or is collected in ``Rows.broken``."""
    if options.types is None:
        raise UsageError(f"{name}: a .unl file does not say its columns: they must be those of a table")
    rows = FileRows(options.types, iter(()))
    rows.batches = _batches(file, name, options, rows)
    return rows


def _batches(file: IO[bytes], name: str, options: Options, rows: FileRows) -> Iterator[pa.RecordBatch]:
    line = 1
    for texts in _rows(TextDecoder(file, options.encoding)):
        heights = np.array([1 + text.count("\n") for text in texts], np.int64)
        lines = np.cumsum(heights) - heights + line
        line += int(heights.sum())
        for start, end in _of_text(texts, lines, name, options, rows):
            yield from _parse_rows(texts[start:end], lines[start:end], name, options, rows)


def _of_text(
    texts: list[str], lines: Numbers, name: str, options: Options, rows: FileRows
) -> Iterator[tuple[int, int]]:
    """Where rows begin and end between those that have bytes which are no text."""
    start = 0
    if not all(map(str.isascii, texts)):
        for number, text in enumerate(texts):
            problem = describe_undecodable(text, options.encoding)
            if problem:
                if start < number:
                    yield start, number
                start = number + 1
                _refuse(text, problem, int(lines[number]), name, options, rows)
    if start < len(texts):
        yield start, len(texts)


def _refuse(text: str, problem: str, line: int, name: str, options: Options, rows: FileRows) -> None:
    if not options.collect:
        raise Failure(f"{name}, line {line}: {problem}")
    rows.broken.append(BrokenLine(text, problem, -1, line))


def _rows(text: TextDecoder) -> Iterator[list[str]]:
    """The rows as they stand in the file, without the last end of line, many at a time."""
    rest = ""
    chunk = text.read(_CHUNK).removeprefix(_MARK)
    while chunk:
        *lines, rest = (rest + chunk).split("\n")
        whole = _join_lines(lines)
        if whole and _continues(whole[-1]):
            rest = f"{whole.pop()}\n{rest}"
        if whole:
            yield whole
        chunk = text.read(_CHUNK)
    if rest:
        yield [rest]


def _join_lines(lines: list[str]) -> list[str]:
    """Lines that end with a backslash, joined with those behind them."""
    if not any(line.endswith("\\") for line in lines):
        return lines
    joined: list[str] = []
    for line in lines:
        if joined and _continues(joined[-1]):
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined


def _continues(text: str) -> bool:
    """Whether a backslash takes the end of the line into the text: an odd number of them stands before it."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _parse_rows(
    texts: list[str], lines: Numbers, name: str, options: Options, rows: FileRows
) -> Iterator[pa.RecordBatch]:
    start, size = 0, len(texts)
    while start < len(texts):
        at, behind = start, min(start + size, len(texts))
        # What begins with a mark is not the file, where it is left out: so much is put before it.
        data = io.BytesIO((_MARK + "".join(f"{text}\n" for text in texts[start:behind])).encode())
        try:
            for batch in read_unl(
                data,
                options.types,
                delimiter=options.delimiter or None,
                encoding="utf-8",
                dbdate=options.date_format or None,
                lob_directory=options.content_directory or None,
            ):
                end = at + batch.num_rows
                yield with_positions(batch, lines[at:end], pa.array(texts[at:end], pa.utf8()))
                at = end
            start = behind
        except DataError as error:
            if error.row is None:
                raise
            bad = start + error.row
            _refuse(
                texts[bad],
                _LOCATION_PREFIX.sub("", str(error), count=1),
                int(lines[bad]),
                name,
                options,
                rows,
            )
            start, size = bad + 1, _AFTER_ERROR
