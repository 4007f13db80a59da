"""CSV, written and read by pyarrow: RFC 4180, a header, NULL as an empty field and an empty text as ``""``."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv

from ..exits import Failure, UsageError
from .decoded import Decoded
from .rows import Broken, Lines, Numbers, Options, Rows, with_places
from .texts import qualifier_of, texts

BLOCK = 4 << 20  # bytes of text parsed at a time; a row has to fit in


class CsvWriter:
    """Batches as CSV. What pyarrow makes no CSV of is made a text first."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, options: Options) -> None:
        check_delimiter(options.delimiter)
        self._fields = list(schema)
        self._schema = pa.schema([pa.field(each.name, _written(each)) for each in schema])
        self._writer = pc_csv.CSVWriter(
            file, self._schema, write_options=pc_csv.WriteOptions(delimiter=options.delimiter or ",")
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        arrays = [
            texts(column, field) if wanted.type == pa.utf8() else column
            for column, field, wanted in zip(batch.columns, self._fields, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Write what is left; the file stays open."""
        self._writer.close()


def _written(field: pa.Field) -> pa.DataType:
    """The type under which pyarrow writes a column."""
    kind = field.type
    plain = (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
        or pa.types.is_time(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_large_string(kind)
    )
    return kind if plain and qualifier_of(field) is None else pa.utf8()


def check_delimiter(delimiter: str) -> None:
    """``UsageError`` for what cannot stand between fields."""
    if delimiter and (
        len(delimiter) != 1 or delimiter.isalnum() or delimiter in '\\"\r\n\0' or ord(delimiter) > 127
    ):
        raise UsageError(
            f"--delimiter {delimiter!r}: it must be one character that is no letter, digit, quote, backslash or end "
            "of line"
        )


def read_csv(file: IO[bytes], name: str, options: Options) -> Rows:
    """The rows of a CSV file, all columns as text: nothing is guessed.

    An empty field is NULL and ``""`` an empty text, unless ``options.null`` says what stands for NULL. A line that has
    too few or too many fields is a ``Failure`` that names it, or is collected in ``Rows.broken``.
    """
    check_delimiter(options.delimiter)
    watched = Watched(file, name, options.encoding)
    names, height = _header(watched, name, options)
    rows = Rows(pa.schema([pa.field(each, pa.utf8()) for each in names]), iter(()))
    lines = Lines(watched.blank, 1 + height)
    pending: list[Broken] = []  # found by the parser, which is ahead of the batches

    def refused(row: Any) -> str:
        found, wanted = row.actual_columns, row.expected_columns
        problem = f"{found} field{'s' if found != 1 else ''} in place of {wanted}"
        pending.append(Broken(row.text, problem, row.number - 2))  # the header is row 1
        return "skip"

    reader = _opened(watched, names, options, refused)
    rows.batches = _batches(reader, watched, name, lines, pending, rows, options.collect)
    return rows


def _opened(watched: Watched, names: list[str], options: Options, refused: Any) -> Any:
    return pc_csv.open_csv(
        pa.PythonFile(watched, "r"),
        read_options=pc_csv.ReadOptions(block_size=BLOCK, use_threads=False),
        parse_options=pc_csv.ParseOptions(
            delimiter=options.delimiter or ",", newlines_in_values=True, invalid_row_handler=refused
        ),
        convert_options=pc_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.utf8()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=options.null is not None,
            null_values=["" if options.null is None else options.null],
            check_utf8=False,  # a value that is none is refused by itself, with its row
        ),
    )


def _batches(
    reader: Any, watched: Watched, name: str, lines: Lines, pending: list[Broken], rows: Rows, collect: bool
) -> Iterator[pa.RecordBatch]:
    ordinal = 0  # of the next row, those that are none counted
    goes_on = False  # the last row is one of several lines
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            batch = pa.RecordBatch.from_arrays(
                [pa.array([], each.type) for each in rows.schema], rows.schema.names
            )
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise
            raise Failure(
                f"{name}: a row is longer than {BLOCK >> 20} MiB, or a quote is never closed"
            ) from None
        taken: list[Numbers] = []
        inside, at = _inside(batch), 0
        if inside is not None and len(inside):
            goes_on = bool(inside[-1])
        if watched.ended and watched.quoted and goes_on:
            raise Failure(f"{name}: a quote is never closed: the last row goes on to the end of the file")
        while True:
            behind = batch.num_rows - at
            count = min(behind, pending[0].ordinal - ordinal) if pending else behind
            taken.append(lines.take(count, None if inside is None else inside[at : at + count]))
            at, ordinal = at + count, ordinal + count
            if not pending or pending[0].ordinal != ordinal:
                break
            broken = pending.pop(0)
            broken.line = lines.skip(broken.text)
            ordinal += 1
            if not collect:
                if at:
                    yield with_places(batch.slice(0, at), np.concatenate(taken))
                raise Failure(f"{name}, line {broken.line}: {broken.problem}: {_shown(broken.text)}")
            rows.broken.append(broken)
        if not batch.num_rows:
            if not pending:
                return
            continue
        yield with_places(batch, np.concatenate(taken))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _inside(batch: pa.RecordBatch) -> Numbers | None:
    """How many ends of lines stand within each row's values; None where there are none at all."""
    found: Numbers | None = None
    for column in batch.columns:
        if pc.any(pc.match_substring(column.cast(pa.binary()), "\n")).as_py():
            counts = pc.fill_null(pc.count_substring(column.cast(pa.binary()), "\n"), 0)
            number = counts.to_numpy(zero_copy_only=False).astype(np.int64)
            found = number if found is None else found + number
    return found


def _header(watched: Watched, name: str, options: Options) -> tuple[list[str], int]:
    """The names of the columns, and how many lines they take, blank ones left out."""
    head = watched.peek().lstrip(b"\r\n")
    end = -1
    while (end := head.find(b"\n", end + 1)) >= 0 and head.count(b'"', 0, end) % 2:
        pass
    line = head if end < 0 else head[:end]
    if not line.strip(b"\xef\xbb\xbf \r\n"):
        raise Failure(f"{name} is empty: it needs a header, the names of its columns")
    try:
        schema = pc_csv.read_csv(
            io.BytesIO(line + b"\n"), parse_options=pc_csv.ParseOptions(delimiter=options.delimiter or ",")
        ).schema
        return list(schema.names), 1 + line.count(b"\n")
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise Failure(f"{name}, line 1: the header cannot be read: {error}") from None


class Watched(io.RawIOBase):
    """A file of text on its way into a parser, as UTF-8. It notes the numbers of blank lines, which parsers pass over.

    A line within quotes is a part of a value, blank or not: quotes are counted.
    """

    def __init__(self, file: IO[bytes], name: str, encoding: str) -> None:
        self.blank: list[int] = []
        self._name = name
        self._text = (
            None if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else Decoded(file, encoding)
        )
        self._file = file
        self._head = b""
        self._line = 1  # that begins next
        self.ended = False  # all has been read
        self.quoted = False  # what comes next is within quotes
        self._line_is_empty = True  # so far
        self._encoding = encoding

    def peek(self) -> bytes:
        """The first bytes, which are read again afterwards."""
        if not self._head:
            self._head = self._get(BLOCK)
        return self._head

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = BLOCK if size is None or size < 0 else size
        if self._head:
            data, self._head = self._head[:wanted], self._head[wanted:]
        else:
            data = self._get(wanted)
        self._watch(data)
        self.ended = not data
        return data

    def _get(self, size: int) -> bytes:
        if self._text is None:
            return self._file.read(size)
        try:
            return self._text.read(size).encode()
        except UnicodeDecodeError as error:
            raise Failure(
                f"{self._name}: it is not in {self._encoding}, behind line {self._line}: {error.reason}; say --encoding"
            ) from None

    def _watch(self, data: bytes) -> None:
        """Count lines; look at each of them only where a blank one may be among them."""
        ends = data.count(b"\n")
        if ends and (b"\n\n" in data or b"\n\r\n" in data or self._line_is_empty):
            quoted, empty, line = self.quoted, self._line_is_empty, self._line
            for number, piece in enumerate(data.split(b"\n")):
                if number:
                    if empty and not quoted:
                        self.blank.append(line)
                    line, empty = line + 1, True
                empty = empty and not piece.strip(b"\r") and not quoted
                quoted ^= bool(piece.count(b'"') % 2)
            self.quoted, self._line_is_empty, self._line = quoted, empty, line
            return
        self._line += ends
        self.quoted ^= bool(data.count(b'"') % 2)
        if data:
            last = data.rpartition(b"\n")[2] if ends else data
            self._line_is_empty = (
                (bool(ends) or self._line_is_empty) and not last.strip(b"\r") and not self.quoted
            )
