"""CSV, written and read by pyarrow: RFC 4180, a header, NULL as an empty field and an empty text as ``""``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv

from ..exit_codes import Failure, UsageError
from .file_rows import BrokenLine, FileRows, LineCounter, Numbers, Options, with_positions
from .text_columns import qualifier_of, texts
from .text_decoding import NAME_CODE_SET, ByteEscaper, TextDecoder, describe_undecodable

BLOCK = 4 << 20  # bytes of text parsed at a time
LONGEST = 64 << 20  # bytes of a row, approximately; a longer one means a quote that is never closed


class CsvWriter:
    """A writer of CSV. Types that pyarrow cannot write as CSV are converted to text first."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, options: Options) -> None:
        check_delimiter(options.delimiter)
        self._fields = list(schema)
        self._schema = pa.schema([pa.field(each.name, _written_type(each)) for each in schema])
        self._writer = pc_csv.CSVWriter(
            file, self._schema, write_options=pc_csv.WriteOptions(delimiter=options.delimiter or ",")
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        arrays = [
            texts(column, field) if expected.type == pa.utf8() else column
            for column, field, expected in zip(batch.columns, self._fields, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Write what is left. The file stays open."""
        self._writer.close()


def _written_type(field: pa.Field) -> pa.DataType:
    """Return the type as which pyarrow writes a column."""
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
    """Raise ``UsageError`` for a text that cannot separate fields."""
    if delimiter and (
        len(delimiter) != 1 or delimiter.isalnum() or delimiter in '\\"\r\n\0' or ord(delimiter) > 127
    ):
        raise UsageError(
            f"--delimiter {delimiter!r}: It must be one character, and not a letter, digit, quote, "
            "backslash or end of line."
        )


def read_csv(file: IO[bytes], name: str, options: Options) -> FileRows:
    """Return the rows of a CSV file, with all columns as text. No types are inferred.

    An empty field is NULL and ``""`` an empty text, unless ``options.null`` is set. A line with too few or too many
    fields is a ``Failure`` that names it, or is collected in ``FileRows.broken``.
    """
    check_delimiter(options.delimiter)
    watched = LineTracker(file, name, options.encoding, options.delimiter or ",")
    names, height = _header(watched, name, options)
    rows = FileRows(pa.schema([pa.field(each, pa.utf8()) for each in names]), iter(()))
    lines = LineCounter(watched.blank, 1 + height)
    pending: list[BrokenLine] = []  # found by the parser, which is ahead of the batches

    def refused(row: Any) -> str:
        actual, expected = row.actual_columns, row.expected_columns
        problem = f"The row has {actual} field{'s' if actual != 1 else ''}, but the header has {expected}"
        pending.append(
            BrokenLine(watched.bytes.text(row.text), problem, row.number - 2)
        )  # the header is row 1
        return "skip"

    reader = _open_reader(watched, names, options, refused)
    rows.batches = _batches(reader, watched, name, lines, pending, rows, options)
    return rows


def _open_reader(watched: LineTracker, names: list[str], options: Options, refused: Any) -> Any:
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
            check_utf8=False,  # a value that is invalid is refused with its row
        ),
    )


def _batches(
    reader: Any,
    watched: LineTracker,
    name: str,
    lines: LineCounter,
    pending: list[BrokenLine],
    rows: FileRows,
    options: Options,
) -> Iterator[pa.RecordBatch]:
    ordinal = 0  # of the next row, with invalid ones counted
    goes_on = False  # the last row extends over several lines
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
                f"{name}, line {lines.next}: The row is longer than {LONGEST >> 20} MiB, or a quote is "
                "never closed."
            ) from None
        doubtful = None
        if watched.bytes.used:
            doubtful = None if options.collect else watched.bytes.find_undecodable(batch, options.encoding)
            columns = [watched.bytes.column(column) for column in batch.columns]
            batch = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
        line_numbers: list[Numbers] = []
        inside, at = _inner_line_ends(batch), 0
        if inside is not None and len(inside):
            goes_on = bool(inside[-1])
        if watched.ended and watched.quoted and goes_on:
            raise Failure(f"{name}: A quote is never closed. The last row continues to the end of the file.")
        while True:
            behind = batch.num_rows - at
            count = min(behind, pending[0].ordinal - ordinal) if pending else behind
            line_numbers.append(lines.next_lines(count, None if inside is None else inside[at : at + count]))
            at, ordinal = at + count, ordinal + count
            if not pending or pending[0].ordinal != ordinal:
                break
            broken = pending.pop(0)
            broken.line = lines.skip(broken.text)
            ordinal += 1
            if not options.collect:
                if at:
                    yield with_positions(batch.slice(0, at), np.concatenate(line_numbers))
                raise Failure(f"{name}, line {broken.line}: {broken.problem}: {_printable(broken.text)}.")
            rows.broken.append(broken)
        if not batch.num_rows:
            if not pending:
                return
            continue
        numbers = np.concatenate(line_numbers)
        if doubtful is not None:
            place, problem = doubtful
            if place:
                yield with_positions(batch.slice(0, place), numbers[:place])
            raise Failure(f"{name}, line {numbers[place]}: {problem}. {NAME_CODE_SET}")
        yield with_positions(batch, numbers)


def _printable(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _inner_line_ends(batch: pa.RecordBatch) -> Numbers | None:
    """Return how many line ends are within each row's values; None if there are none at all."""
    line_ends: Numbers | None = None
    for column in batch.columns:
        if pc.any(pc.match_substring(column.cast(pa.binary()), "\n")).as_py():
            counts = pc.fill_null(pc.count_substring(column.cast(pa.binary()), "\n"), 0)
            number = counts.to_numpy(zero_copy_only=False).astype(np.int64)
            line_ends = number if line_ends is None else line_ends + number
    return line_ends


def _header(watched: LineTracker, name: str, options: Options) -> tuple[list[str], int]:
    """Return the names of the columns, and the number of lines of the header without blank ones."""
    head = watched.peek().lstrip(b"\r\n")
    ends = (match.start() for match in re.finditer(rb"[\r\n]", head))
    line = head[: next((end for end in ends if not head.count(b'"', 0, end) % 2), len(head))]
    if watched.bytes.used and (
        problem := describe_undecodable(watched.bytes.text(line.decode()), options.encoding)
    ):
        raise Failure(f"{name}, line 1: The header cannot be read. {problem}. {NAME_CODE_SET}")
    if not line.strip(b"\xef\xbb\xbf \r\n"):
        raise Failure(f"{name} is empty. It needs a header with the names of its columns.")
    try:
        schema = pc_csv.read_csv(
            io.BytesIO(line + b"\n"), parse_options=pc_csv.ParseOptions(delimiter=options.delimiter or ",")
        ).schema
        return list(schema.names), 1 + line.count(b"\n")
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise Failure(f"{name}, line 1: The header cannot be read ({error}).") from None


class LineTracker(io.RawIOBase):
    """A text file on its way into a parser, as UTF-8. It records the numbers of blank lines, which parsers skip.

    A line within quotes is part of a value, blank or not, so quotes are counted. Each read contains the end of a row,
    as the parser requires, however long it is. The last line gets a line end if it has none.
    """

    def __init__(self, file: IO[bytes], name: str, encoding: str, delimiter: str = ",") -> None:
        self.blank: list[int] = []
        self.bytes = ByteEscaper(encoding)
        self._name = name
        self._text = None if self.bytes.is_utf8 else TextDecoder(file, encoding)
        self._file = file
        self._head = b""
        self._line = 1  # the number of the line that begins next
        self.ended = False  # the file was read to its end
        self.quoted = False  # the next byte is within quotes
        self._line_is_empty = True  # so far
        self._encoding = encoding
        self._before_quote = np.frombuffer(f'{delimiter}\r\n"'.encode(), np.uint8)
        self._last = ord("\n")  # the last byte

    def peek(self) -> bytes:
        """Return the first bytes without consuming them."""
        if not self._head:
            self._head = self._read_utf8(BLOCK)
        return self._head

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block_size = BLOCK if size is None or size < 0 else size
        data, self._head = self._head or self._read_utf8(block_size), b""
        plain = self._mask_stray_quotes(data)
        while data and not self._has_line_end(plain) and len(data) < LONGEST:
            more = self._read_utf8(block_size)
            if not more:
                break
            data += more
            plain = self._mask_stray_quotes(data)
        if (data and not self._has_line_end(plain) and len(data) < LONGEST) or (
            not data and self._last not in b"\r\n"
        ):
            data, plain = data + b"\n", plain + b"\n"
        self._count_lines(self._normalize_line_ends(plain))
        self._last = plain[-1] if plain else self._last
        self.ended = not data
        return data

    def _normalize_line_ends(self, data: bytes) -> bytes:
        """Replace a CR that ends a row by LF. Parsers accept both."""
        if self._last == ord("\r") and data.startswith(b"\n"):
            data = data[1:]  # that line has ended already
        if data.count(b"\r") == data.count(b"\r\n"):
            return data
        pieces = data.split(b'"')
        for position in range(int(self.quoted), len(pieces), 2):
            pieces[position] = pieces[position].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return b'"'.join(pieces)

    def _has_line_end(self, data: bytes) -> bool:
        """Return whether there is a line end outside of quotes."""
        if not self.quoted and b'"' not in data:
            return b"\n" in data or b"\r" in data
        last = max(data.rfind(b"\n"), data.rfind(b"\r"))
        if last < 0 or data.count(b'"', 0, last) % 2 == self.quoted:
            return last >= 0
        return any(b"\n" in each or b"\r" in each for each in data.split(b'"')[int(self.quoted) :: 2])

    def _mask_stray_quotes(self, data: bytes) -> bytes:
        """Mask quotes within a field that does not begin with one, because they have no meaning."""
        start = 3 if self._line == 1 and data.startswith(b"\xef\xbb\xbf") else 0
        if data.find(b'"', start) < 0:
            return data
        codes = np.frombuffer(data, np.uint8)
        positions = start + np.flatnonzero(codes[start:] == ord('"'))
        before = codes[positions - 1]
        if positions[0] == start:
            before[0] = self._last
        if np.isin(before[int(self.quoted) :: 2], self._before_quote).all():
            return data
        quoted, closed = self.quoted, start - 1 if self._last == ord('"') else -2
        fits, stray = np.isin(before, self._before_quote[:-1]).tolist(), []
        for place, begins in zip(positions.tolist(), fits, strict=True):
            if quoted:
                quoted, closed = False, place
            elif begins or place == closed + 1:
                quoted = True
            else:
                stray.append(place)
        masked = codes.copy()
        masked[stray] = ord("_")
        return bytes(masked)

    def _read_utf8(self, size: int) -> bytes:
        if self._text is None:
            while True:
                data = self._file.read(size)
                decoded = self.bytes.of_utf8(data, final=not data)
                if decoded or not data:
                    return decoded
        try:
            return self.bytes.of_text(self._text.read(size))
        except UnicodeDecodeError as error:
            raise Failure(
                f"{self._name}: The text after line {self._line} is not in {self._encoding} "
                f"({error.reason}). Name the code set of the file with --encoding."
            ) from None

    def _count_lines(self, data: bytes) -> None:
        """Count lines. Single lines are inspected only if a blank one may be among them."""
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
