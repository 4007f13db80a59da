"""Write .unl files from anything that exports Arrow data."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from .._unl import Writer
from ..core.disk import name_file_in_errors
from ..ingest.batch_sources import open_source
from ..ingest.convert import UNFIT
from ..wire.datetimes import format_datetime, parse_datetime
from ..wire.errors import DataError, InterfaceError, ProgrammingError
from ..wire.nested import format_literal
from ..wire.plan_ops import Kind, arrow_type_of_op, plan_op
from ..wire.types import TypeCode
from .casts import Step, first_invalid, to_arrow
from .columns import UnlColumn, columns_of
from .dialect import Dialect
from .large_objects import ObjectWriter, directory_of

_SLICE_BYTES = 4 << 20  # Arrow bytes converted at once
_NUMBER = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"


def write_unl(
    batches: Any,
    path: str | os.PathLike[str] | BinaryIO,
    types: Mapping[str, str] | None = None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    dbdate: str | None = None,
    dbcentury: str | None = None,
    dbmoney: str | None = None,
    lob_directory: str | os.PathLike[str] | None = None,
) -> int:
    """Write a .unl file, as LOAD and dbimport read it.

    Parameters
    ----------
    batches
        Anything with ``__arrow_c_stream__`` (a Result, Table, RecordBatchReader, data frame) or an iterable of record
        batches. It is read once, batch by batch.
    path
        The file, or a binary file object. A file is called ``<path>.part`` until it is complete.
    types
        Informix types by column name, which override the fields' ``informix.type``. Without either, the types are
        those that ``write_arrow(mode="create")`` would use.
    delimiter, encoding, dbdate, dbcentury, dbmoney
        As in :func:`read_unl`. Two-digit years are refused where they would be read as another century.
    lob_directory
        The directory for the contents of BLOB and CLOB columns, in files ``blob..`` and ``clob..``. Default: that of
        the file.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    DataError
        A value cannot be expressed in the file or does not match its type; ``row`` (from 0) and ``column`` are set. No
        file is left under its name.
    InterfaceError, ProgrammingError, NotSupportedError
        An argument or a type is invalid, or a type has no form in a .unl file.
    OSError
        The file cannot be written.
    """
    dialect = Dialect.of(
        delimiter=delimiter, encoding=encoding, dbdate=dbdate, dbcentury=dbcentury, dbmoney=dbmoney
    )
    source = open_source(batches)
    for field in source.schema:
        if pa.types.is_timestamp(field.type) and field.type.tz is not None:
            raise ProgrammingError(
                f"Column {field.name!r} is a timestamp with the zone {field.type.tz}, which a .unl file "
                "cannot represent. Convert it to local time and drop the zone.",
                column=field.name,
            )
    _, columns = columns_of(source.schema, types)
    columns = tuple(_written_column(column) for column in columns)
    directory = Path(lob_directory) if lob_directory is not None else directory_of(path)
    with ExitStack() as stack:
        conversions = [
            _ColumnConversion(column, _step(column, number, path, directory, dialect, stack))
            for number, column in enumerate(columns)
        ]
        file = stack.enter_context(_target(path))
        writer = Writer(
            [column.op.as_tuple() for column in columns],
            [column.name for column in columns],
            [column.type.sql for column in columns],
            dialect.as_tuple(),
        )
        plain = pa.schema([pa.field(column.name, column.codec_type) for column in columns])
        rows = 0
        for batch in source.batches:
            for part in _slices(batch):
                arrays = [each.convert(part.column(k), rows) for k, each in enumerate(conversions)]
                converted = pa.RecordBatch.from_arrays(arrays, schema=plain)
                schema_capsule, array_capsule = converted.__arrow_c_array__()
                lines: bytes | bytearray = writer.write(schema_capsule, array_capsule, rows)
                if dialect.encoding != "utf-8":
                    lines = _encode_lines(lines, converted, dialect.encoding, rows)
                file.write(lines)
                rows += part.num_rows
    return rows


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield slices of a batch that are small enough for the cache and for memory."""
    if batch.num_rows == 0:
        return
    rows = max(1, batch.num_rows * _SLICE_BYTES // max(batch.nbytes, 1))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


@contextmanager
def _target(path: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """Yield the file to write to. It gets its name when the block succeeds."""
    if not isinstance(path, str | os.PathLike):
        yield path
        return
    part = f"{os.fsdecode(path)}.part"
    try:
        with name_file_in_errors(path), open(part, "wb") as file:
            yield file
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    os.replace(part, path)


@dataclass(frozen=True, slots=True)
class _ColumnConversion:
    """The conversion of one column to the Arrow type that the codec writes."""

    column: UnlColumn
    step: Step | None

    def convert(self, array: pa.Array, first_row: int) -> pa.Array:
        """Convert all values. Raises ``DataError`` for the first that cannot be converted."""
        if self.step is None:
            return array
        try:
            return self.step(array)
        except UNFIT as error:
            row, reason = first_invalid(array, self.step, error)
        name, row = self.column.name, first_row + row
        raise DataError(f"Column {name!r}, row {row}: {reason}", row=row, column=name)


def _written_column(column: UnlColumn) -> UnlColumn:
    """Return the column with the op that the codec writes it by. Floats and integers of FLOAT columns are written as
    floats, all other types of such columns as text."""
    source = column.final
    if column.type.code not in (TypeCode.FLOAT, TypeCode.SMALLFLOAT) or not (
        pa.types.is_floating(source) or pa.types.is_integer(source)
    ):
        return column
    op = plan_op(column.type)
    return replace(column, op=op, codec_type=arrow_type_of_op(op))


def _step(
    column: UnlColumn,
    number: int,
    path: object,
    directory: Path | None,
    dialect: Dialect,
    stack: ExitStack,
) -> Step | None:
    """Return the conversion to the codec's array. None if there is nothing to convert."""
    ct, source_type, plain = column.type, column.final, column.codec_type
    if ct.is_blob or ct.is_clob:
        if directory is None:
            raise InterfaceError(
                f"Column {column.name!r} has the type {ct.sql}, whose contents are written to separate files. Name "
                "their directory with lob_directory=."
            )
        source = Path(os.fspath(path)).name if isinstance(path, str | os.PathLike) else uuid.uuid4().hex
        objects = ObjectWriter(directory, "blob" if ct.is_blob else "clob", source, number)
        stack.push(lambda kind, *_: objects.finish() if kind is None else objects.abandon())
        encoding = dialect.encoding if ct.is_clob else None
        return lambda array: _pointers(array, objects, encoding)
    if ct.is_complex and pa.types.is_nested(source_type) and not pa.types.is_dictionary(source_type):
        return lambda array: pa.array(
            [None if value is None else format_literal(value, ct) for value in array.to_pylist()], plain
        )
    if column.op.kind == Kind.DECIMAL_STRING:
        return lambda array: _numbers(array, ct.code)
    qualifier = ct.qualifier
    if column.op.kind == Kind.DATETIME_TEXT and qualifier is not None:
        return lambda array: pa.array(
            [
                None if text is None else format_datetime(parse_datetime(text, qualifier), qualifier)
                for text in array.cast(pa.utf8()).to_pylist()
            ],
            pa.utf8(),
        )
    if source_type == plain:
        return None
    if column.op.kind in (Kind.FLOAT64, Kind.FLOAT32):
        exact = pa.types.is_integer(source_type)
        return lambda array: array.cast(plain, safe=exact)
    return lambda array: to_arrow(array, plain)


def _pointers(array: pa.Array, objects: ObjectWriter, encoding: str | None) -> pa.Array:
    contents = to_arrow(array, pa.large_binary() if encoding is None else pa.large_utf8())
    fields: list[str | None] = []
    for value in contents:
        content = value.as_py()
        if content is not None:
            content = content if encoding is None else content.encode(encoding)
        fields.append(None if content is None else objects.put(content))
    return pa.array(fields, pa.large_utf8())


def _numbers(array: pa.Array, code: int) -> pa.Array:
    """Convert floats to the shortest text that reads back as the same number, and floating DECIMALs to their digits."""
    text = _number_texts(array, code)
    if code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT):
        return text
    # As UNLOAD and dbexport: no trailing zeros in the fraction, and at least one digit (docs/unl.md).
    text = pc.replace_substring_regex(text, r"^([-+]?[0-9]+)\.?$", r"\1.0")
    return pc.replace_substring_regex(text, r"^([-+]?[0-9]*\.[0-9]+?)0+$", r"\1")


def _number_texts(array: pa.Array, code: int) -> pa.Array:
    if (
        pa.types.is_string(array.type)
        or pa.types.is_large_string(array.type)
        or array.type == pa.string_view()
    ):
        text = array.cast(pa.utf8())
        odd = pc.invert(pc.match_substring_regex(text, _NUMBER))
        if pc.any(odd).as_py():
            raise pa.ArrowInvalid(f"{text.filter(odd)[0].as_py()!r} is not a number.")
        return pc.utf8_trim_whitespace(text)
    if pa.types.is_decimal(array.type):
        return array.cast(pa.utf8())
    target = pa.float32() if code == TypeCode.SMALLFLOAT else pa.float64()
    if not (
        pa.types.is_integer(array.type) or pa.types.is_floating(array.type) or pa.types.is_null(array.type)
    ):
        raise pa.ArrowInvalid(f"The Arrow type {array.type} is not a number. Cast it first.")
    if not pa.types.is_integer(array.type) or code != TypeCode.DECIMAL:
        array = array.cast(target, safe=not pa.types.is_floating(array.type))
        if pc.any(pc.invert(pc.is_finite(array))).as_py():
            raise pa.ArrowInvalid("NaN and infinity cannot be written to a .unl file.")
    return array.cast(pa.utf8())


def _encode_lines(lines: bytes | bytearray, batch: pa.RecordBatch, encoding: str, first_row: int) -> bytes:
    """Encode lines in the file's code set. Raises ``DataError`` for the first value with a character that it
    lacks."""
    text = lines.decode()
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
    for row in range(batch.num_rows):
        for column in batch.schema.names:
            value = batch.column(batch.schema.get_field_index(column))[row].as_py()
            if isinstance(value, str) and character in value:
                raise DataError(
                    f"Column {column!r}, row {first_row + row}: The character U+{ord(character):04X} does not exist in "
                    f"{encoding}. Choose another code set with encoding=.",
                    row=first_row + row,
                    column=column,
                )
    raise DataError(
        f"The character U+{ord(character):04X} does not exist in {encoding}. Choose another code set with encoding=."
    )
