"""Tables for people: aligned columns on a terminal, and Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import IO

import pyarrow as pa

from .file_rows import Options
from .text_columns import is_number, texts

_MEASURED_ROWS = 1000  # rows from which the widths of columns are computed
_CONTROL = {code: repr(chr(code))[1:-1] for code in (*range(32), 127)}


class TextTableWriter:
    """A writer of aligned tables.

    The first 1,000 rows determine the widths of columns. Longer values later on are written in full.
    """

    def __init__(
        self, file: IO[bytes], schema: pa.Schema, options: Options, *, markdown: bool = False
    ) -> None:
        self._file = file
        self._fields = list(schema)
        self._right = [is_number(each) for each in schema]
        self._markdown = markdown
        self._waiting: list[Sequence[str]] = []
        self._widths: list[int] | None = None
        self._rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        columns = [
            [self._cell(value) for value in texts(column, field).to_pylist()]
            for column, field in zip(batch.columns, self._fields, strict=True)
        ]
        self._rows += batch.num_rows
        self._waiting += zip(*columns, strict=True)
        if self._widths is not None or len(self._waiting) >= _MEASURED_ROWS:
            self._flush()

    def close(self) -> None:
        """Write what is left, and the number of rows below a table."""
        self._flush()
        if not self._markdown:
            self._file.write(f"({self._rows:,} row{'s' if self._rows != 1 else ''})\n".encode())

    def _cell(self, value: str | None) -> str:
        text = "NULL" if value is None else value.translate(_CONTROL)
        return text.replace("|", "\\|") if self._markdown else text

    def _flush(self) -> None:
        lines: list[str] = []
        if self._widths is None:
            names = [self._cell(each.name) for each in self._fields]
            self._widths = [
                max(3, width(name), *(width(row[number]) for row in self._waiting))
                for number, name in enumerate(names)
            ]
            lines += [self._line(names), self._rule()]
        lines += [self._line(row) for row in self._waiting]
        self._waiting = []
        self._file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def _rule(self) -> str:
        assert self._widths is not None
        if not self._markdown:
            return "-+-".join("-" * each for each in self._widths)
        rules = (
            "-" * (each - 1) + (":" if right else "-")
            for each, right in zip(self._widths, self._right, strict=True)
        )
        return f"| {' | '.join(rules)} |"

    def _line(self, cells: Sequence[str]) -> str:
        assert self._widths is not None
        padded = []
        for cell, expected, right in zip(cells, self._widths, self._right, strict=True):
            blanks = " " * (expected - width(cell))
            padded.append(blanks + cell if right else cell + blanks)
        return f"| {' | '.join(padded)} |" if self._markdown else " | ".join(padded).rstrip()


def width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )
