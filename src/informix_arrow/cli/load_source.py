"""The files of a load as one stream of rows, converted for the table, each with its place in the files.

The type of the table's column decides how a text is converted: bytes are written as hexadecimal digits, dates as
``--date-format`` says. Rows whose text cannot be converted, and lines that are no rows, are refused here. The file's
own values travel with the other rows, so that a row that is refused later can be reported as it is in the file.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..wire.types import ColumnType, TypeCode
from .exit_codes import Failure
from .files import STDIO
from .formats import FileRows, Options, open_file
from .formats.file_rows import LINE, TEXT, Numbers
from .pipe_input import ReadLimit

FILE, ROW = "informix-arrow file", "informix-arrow row"
_CONVERTED_NAME = "{}, read as {}"  # a converted column, as errors name it

#: A conversion of texts: the values, and the positions of texts that cannot be converted.
Conversion = Callable[[pa.Array], tuple[pa.Array, Numbers]]


@dataclass
class RefusedInput:
    """Something in a file that cannot become a row."""

    file: int
    line: int | None  # of the file; None for formats without lines
    row: int | None  # of the file, from 0; None for formats with lines
    column: str | None
    problem: str
    position: int  # number of rows that were passed on before it
    text: str | None = None  # as it is in the file
    values: pa.RecordBatch | None = None  # the file's columns


class LoadFiles:
    """Rows of several files, one file after another.

    Parameters
    ----------
    paths, kind, options
        The files, their format, and how it is read. Their columns must be the same.
    timeout
        Seconds that a wait for the data of a pipe may take outside of calls; None for no limit.
    """

    def __init__(
        self, paths: Sequence[str], kind: str, options: Options, timeout: float | None = None
    ) -> None:
        self.paths, self.kind = paths, kind
        self.options = options
        self.refused: list[RefusedInput] = []
        self.limit = ReadLimit()  # of the current call, for the data of a pipe
        self._stack = contextlib.ExitStack()
        with self.limit.applied(timeout):
            self._first = self._stack.enter_context(open_file(paths[0], kind, options, self.limit))
        self.schema = self._first.schema
        self.total = self._first.total if len(paths) == 1 else None  # rows, if known
        self._conversions: dict[str, Conversion] = {}
        self._converted_names: dict[str, str] = {}
        self._date_format = ""
        self._origins: list[tuple[int, int, Numbers]] = []  # position, file and lines or rows of each batch
        self.position = 0  # rows passed on

    def close(self) -> None:
        """Close the files."""
        self._stack.close()

    def convert(self, targets: Mapping[str, ColumnType], date_format: str) -> None:
        """Convert texts to the types of the table's columns. Must be called before the first batch.

        Parameters
        ----------
        targets
            The type of the table's column, by the name of the file's column.
        date_format
            Format of texts that become a DATE, for ``strptime``; "" is ISO 8601.
        """
        for name, target in targets.items():
            if not pa.types.is_string(self.schema.field(name).type):
                continue
            if target.code == TypeCode.BYTE or target.is_blob:
                self._conversions[name] = _from_hexadecimal
                self._converted_names[name] = _CONVERTED_NAME.format(name, "bytes")
            elif date_format and target.code == TypeCode.DATE:
                self._date_format = date_format
                self._conversions[name] = _dates(date_format)
                self._converted_names[name] = _CONVERTED_NAME.format(name, "date")

    def name_of(self, column: str) -> str:
        """Return the name of a column's converted values in the batches."""
        return self._converted_names.get(column, column)

    @property
    def batch_schema(self) -> pa.Schema:
        """The schema of the batches: the file's columns, converted columns, and the positions."""
        made = [
            pa.field(
                self._converted_names[name],
                pa.binary() if "bytes" in self._converted_names[name] else pa.date32(),
            )
            for name in self._converted_names
        ]
        position_fields = [
            pa.field(FILE, pa.int32()),
            pa.field(LINE, pa.int64()),
            pa.field(ROW, pa.int64()),
            pa.field(TEXT, pa.utf8()),
        ]
        return pa.schema([*self.schema, *made, *position_fields])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that can be loaded, in order."""
        for number, path in enumerate(self.paths):
            if number == 0:
                yield from self._file_batches(0, self._first)
                continue
            with open_file(path, self.kind, self.options, self.limit) as rows:
                self._require_same(path, rows.schema)
                yield from self._file_batches(number, rows)

    def origin_of(self, position: int) -> str:
        """Return the place in the files of row number ``position``, for an error."""
        found = bisect_right([first for first, _, _ in self._origins], position) - 1
        if found < 0:
            return ""
        first, file, numbers = self._origins[found]
        if position - first >= len(numbers):
            return ""
        return self.format_location(file, int(numbers[position - first]))

    def format_location(self, file: int, number: int) -> str:
        """Return a place as text."""
        path = "standard input" if self.paths[file] == STDIO else self.paths[file]
        return f"{path}, {'line' if self._has_lines else 'row'} {number}"

    @property
    def _has_lines(self) -> bool:
        return self.kind not in ("parquet", "arrow")

    def _require_same(self, path: str, schema: pa.Schema) -> None:
        names, expected = list(schema.names), list(self.schema.names)
        if sorted(names) != sorted(expected):
            odd = sorted(set(names) ^ set(expected)) or names
            raise Failure(
                f"{path} has other columns than {self.paths[0]}: {', '.join(odd)}. Load it in a command of "
                "its own."
            )
        for each in self.schema:
            if schema.field(each.name).type != each.type:
                raise Failure(
                    f"{path}: The column {each.name!r} is {schema.field(each.name).type}, but in "
                    f"{self.paths[0]} it is {each.type}. Load the file in a command of its own."
                )

    def _file_batches(self, number: int, rows: FileRows) -> Iterator[pa.RecordBatch]:
        seen = recorded = 0
        for batch in rows.batches:
            recorded = self._record_broken(
                number,
                rows,
                recorded,
                int(batch.column(LINE)[0].as_py()) if LINE in batch.schema.names else None,
            )
            converted = self._convert_batch(number, batch, seen)
            seen += batch.num_rows
            if converted.num_rows:
                yield converted
                self.position += converted.num_rows
        self._record_broken(number, rows, recorded, None)

    def _record_broken(self, file: int, rows: FileRows, recorded: int, until: int | None) -> int:
        """Record broken lines up to line ``until``. Return how many were recorded in total."""
        for each in rows.broken[recorded:]:
            if until is not None and each.line > until:
                break
            self.refused.append(
                RefusedInput(file, each.line, None, None, each.problem, self.position, each.text)
            )
            recorded += 1
        return recorded

    def _convert_batch(self, file: int, batch: pa.RecordBatch, seen: int) -> pa.RecordBatch:
        count = batch.num_rows
        columns = {name: batch.column(batch.schema.get_field_index(name)) for name in self.schema.names}
        lined = LINE in batch.schema.names
        numbers = batch.column(LINE).to_numpy() if lined else np.arange(seen, seen + count, dtype=np.int64)
        texts = batch.column(TEXT) if TEXT in batch.schema.names else pa.nulls(count, pa.utf8())
        converted: list[pa.Array] = []
        invalid: dict[int, str] = {}
        for name, convert in self._conversions.items():
            values, positions = convert(columns[name])
            converted.append(values)
            for row in positions.tolist():
                invalid.setdefault(row, name)
        empty = pa.nulls(count, pa.int64())
        position_columns = [
            pa.array(np.full(count, file, np.int32)),
            pa.array(numbers) if lined else empty,
            empty if lined else pa.array(numbers),
            texts,
        ]
        result = pa.RecordBatch.from_arrays(
            [*columns.values(), *converted, *position_columns], schema=self.batch_schema
        )
        before = self.position
        for index, row in enumerate(sorted(invalid)):
            name = invalid[row]
            value = columns[name][row].as_py()
            expected = f"a date (expected {self._date_format})"
            mismatch = "not hexadecimal" if "bytes" in self._converted_names[name] else f"not {expected}"
            number = int(numbers[row])
            problem = f"Column {name!r}: {value!r} is {mismatch}."
            if not self.options.collect:
                raise Failure(f"{self.format_location(file, number)}: {problem}")
            values = pa.RecordBatch.from_arrays(
                [column.slice(row, 1) for column in columns.values()], schema=self.schema
            )
            self.refused.append(
                RefusedInput(
                    file,
                    number if lined else None,
                    None if lined else number,
                    name,
                    problem,
                    before + row - index,
                    texts[row].as_py(),
                    values,
                )
            )
        if invalid:
            keep = np.ones(count, bool)
            keep[list(invalid)] = False
            result, numbers = result.filter(pa.array(keep)), numbers[keep]
        self._origins.append((self.position, file, _compact_numbers(numbers)))
        return result


def _compact_numbers(numbers: Numbers) -> Numbers:
    """Return the same numbers, with a run of successive ones stored without memory for each."""
    if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1:
        return _NumberRun(int(numbers[0]), len(numbers))  # type: ignore[return-value]
    return numbers


class _NumberRun:
    def __init__(self, first: int, count: int) -> None:
        self._first, self._count = first, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> int:
        return self._first + place


def _from_hexadecimal(column: pa.Array) -> tuple[pa.Array, Numbers]:
    decoded: list[bytes | None] = []
    invalid: list[int] = []
    for index, text in enumerate(column.to_pylist()):
        try:
            decoded.append(None if text is None else bytes.fromhex(text))
        except ValueError:
            decoded.append(None)
            invalid.append(index)
    return pa.array(decoded, pa.binary()), np.array(invalid, np.int64)


def _dates(date_format: str) -> Conversion:
    """Return a conversion to dates by a format.

    Python parses them, because Arrow turns the 31st of February into the 3rd of March. Each text is parsed once in a
    batch, as dates repeat.
    """

    def convert(column: pa.Array) -> tuple[pa.Array, Numbers]:
        encoded = column.dictionary_encode()
        dates: list[dt.date | None] = []
        for text in encoded.dictionary.to_pylist():
            try:
                moment = dt.datetime.strptime(text, date_format)
                dates.append(moment.date() if moment.time() == dt.time() else None)
            except ValueError:
                dates.append(None)
        converted = pa.array(dates, pa.date32()).take(encoded.indices)
        invalid = pc.and_(pc.is_null(converted), pc.is_valid(column)).to_numpy(zero_copy_only=False)
        return converted, np.flatnonzero(invalid)

    return convert
