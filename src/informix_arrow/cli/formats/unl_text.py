"""``.unl``, the format of LOAD and UNLOAD, row by row with line numbers. `informix_arrow.unl` converts the values."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import IO

import numpy as np
import pyarrow as pa

from ...unl import read_unl, write_unl
from ...wire.errors import DataError, InterfaceError, set_place
from ..exit_codes import Failure, UsageError
from ..files import STDIO, is_remote
from .file_rows import BrokenLine, FileRows, Numbers, Options, with_positions
from .text_decoding import NAME_CODE_SET, TextDecoder, describe_undecodable

_CHUNK = 4 << 20  # bytes of text read at a time
_MARK = "\ufeff"  # byte order mark
_AFTER_ERROR = 1000  # rows read at a time where rows were refused: each of them restarts the parser


class UnlWriter:
    """A writer of .unl. Contents of BLOB and CLOB columns are written to files next to it."""

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
        """Do nothing: no rows are buffered. The file stays open."""


def content_directory(path: str) -> str:
    """Return the directory of a file, where the contents of large objects are; "" if there is none."""
    return "" if path == STDIO or is_remote(path) else os.path.dirname(path) or "."


def read_unl_rows(file: IO[bytes], name: str, options: Options) -> FileRows:
    """Return the rows of a .unl file, with the columns ``options.types``.

    An invalid row is a ``Failure`` that names its line, or is collected in ``FileRows.broken``.
    """
    if options.types is None:
        raise UsageError(
            f"{name}: A .unl file has no names and types of columns. Load it into an existing table, which "
            "gives them."
        )
    rows = FileRows(options.types, iter(()))
    rows.batches = _batches(file, name, options, rows)
    return rows


def _batches(file: IO[bytes], name: str, options: Options, rows: FileRows) -> Iterator[pa.RecordBatch]:
    line = 1
    for texts in _rows(TextDecoder(file, options.encoding)):
        heights = np.array([1 + text.count("\n") for text in texts], np.int64)
        lines = np.cumsum(heights) - heights + line
        line += int(heights.sum())
        for start, end in _decodable_ranges(texts, lines, name, options, rows):
            yield from _parse_rows(texts[start:end], lines[start:end], name, options, rows)


def _decodable_ranges(
    texts: list[str], lines: Numbers, name: str, options: Options, rows: FileRows
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows between those with undecodable bytes."""
    start = 0
    if not all(map(str.isascii, texts)):
        for number, text in enumerate(texts):
            undecodable = describe_undecodable(text, options.encoding)
            if undecodable:
                problem = f"{undecodable}. {NAME_CODE_SET}"
                if start < number:
                    yield start, number
                start = number + 1
                _refuse(text, problem, int(lines[number]), name, options, rows)
    if start < len(texts):
        yield start, len(texts)


def _refuse(text: str, problem: str, line: int, name: str, options: Options, rows: FileRows) -> None:
    if not options.collect:
        raise Failure(f"{name}, line {line}: {problem.removesuffix('.')}.")
    rows.broken.append(BrokenLine(text, problem, -1, line))


def _rows(text: TextDecoder) -> Iterator[list[str]]:
    """Yield the rows as in the file, without the last line end, many at a time."""
    rest = ""
    chunk = text.read(_CHUNK).removeprefix(_MARK)
    while chunk:
        *lines, rest = (rest + chunk).split("\n")
        complete = _join_lines(lines)
        if complete and _escapes_line_end(complete[-1]):
            rest = f"{complete.pop()}\n{rest}"
        if complete:
            yield complete
        chunk = text.read(_CHUNK)
    if rest:
        yield [rest]


def _join_lines(lines: list[str]) -> list[str]:
    """Join lines that end with a backslash with the next ones."""
    if not any(line.endswith("\\") for line in lines):
        return lines
    joined: list[str] = []
    for line in lines:
        if joined and _escapes_line_end(joined[-1]):
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined


def _escapes_line_end(text: str) -> bool:
    """Return whether the line end is escaped: an odd number of backslashes stands before it."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _parse_rows(
    texts: list[str], lines: Numbers, name: str, options: Options, rows: FileRows
) -> Iterator[pa.RecordBatch]:
    start, size = 0, len(texts)
    while start < len(texts):
        at, behind = start, min(start + size, len(texts))
        # The parser removes a byte order mark at the start, which this chunk may have as data, so one is added.
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
        except InterfaceError as error:
            if error.place:  # of the dialect's settings, only dbdate= is passed on
                set_place(error, f"date_format={options.date_format!r}")
            raise UsageError(str(error)) from None
        except DataError as error:
            if error.row is None:
                raise
            bad = start + error.row
            _refuse(
                texts[bad],
                _reason(error),
                int(lines[bad]),
                name,
                options,
                rows,
            )
            start, size = bad + 1, _AFTER_ERROR


#: The command's hints, by the argument of read_unl() that the parser's hint names. There is none for join_lines.
_HINTS = {
    "dbdate": " Name the order of the file's dates with date_format=.",
    "dbmoney": " Set DBMONEY=, in the environment to read decimal commas.",
}


def _reason(error: DataError) -> str:
    """Return the text of a parser's error without its place, which is that in a chunk, and with the command's hint."""
    whole = str(error)
    text = whole[len(error.place) : len(whole) - len(error.hint)].strip(":, ") + _HINTS.get(
        error.hint_argument, ""
    )
    return text[:1].upper() + text[1:]
