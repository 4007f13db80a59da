"""Read .unl files as a stream of record batches, in bounded memory whatever the size of the file."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from .._unl import Reader
from ..ingest.convert import UNFIT
from ..wire.errors import DataError, InterfaceError
from ..wire.nested import parse_literal
from ..wire.plan_ops import Kind
from ..wire.types import TypeCode
from .casts import Step, first_invalid, to_arrow
from .columns import UnlColumn, columns_of
from .dialect import Dialect
from .large_objects import ObjectFiles, directory_of

_CHUNK = 1 << 20  # bytes read at once
_BOM = b"\xef\xbb\xbf"
_TRAILING_ZEROS = r"(?:(\.[0-9]*?[1-9])0+|\.0*)$"

Source = str | os.PathLike[str] | BinaryIO


def read_unl(
    path: Source,
    schema: pa.Schema | Mapping[str, str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    dbdate: str | None = None,
    dbcentury: str | None = None,
    dbmoney: str | None = None,
    empty_text: bool = False,
    join_lines: bool = False,
    lob_directory: str | os.PathLike[str] | None = None,
    batch_rows: int = 1 << 20,
    batch_bytes: int = 16 << 20,
) -> pa.RecordBatchReader:
    """Read a .unl file, as UNLOAD and dbexport write it, as a stream of record batches.

    Parameters
    ----------
    path
        The file, or a binary file object (which is not closed).
    schema
        The columns in order: a schema, such as ``connection.query("SELECT * FROM t").schema``, or a dict of Informix
        types by name (``{"id": "SERIAL", "day": "DATE"}``). The types of a schema come from its ``informix.type``
        metadata, or else are those that ``write_arrow(mode="create")`` would use.
    delimiter
        The character after each field. Default: ``DBDELIMITER`` of the environment, else ``|``.
    encoding
        The file's code set: a Python codec or an Informix locale (``de_DE.8859-1``). Default: ``CLIENT_LOCALE`` of the
        environment, else UTF-8.
    dbdate
        The format of dates: ``"MDY4/"``, ``"DMY2."``, ``"Y4MD-"``. Default: ``GL_DATE`` or ``DBDATE`` of the
        environment, else ``"MDY4/"``.
    dbcentury
        The century of two-digit years: ``"R"`` the present century, ``"P"`` the past, ``"F"`` the future, ``"C"`` the
        closest. Default: ``DBCENTURY`` of the environment, else ``"R"``.
    dbmoney
        Decimal separator and currency: ``","``, ``"$."``, ``",DM"``. Default: ``DBMONEY`` of the environment, else
        ``"."``.
    empty_text
        True reads an empty field of a text column as the empty text. The default reads it as NULL. Very old files
        write both as an empty field.
    join_lines
        Join lines while a row has too few fields and a text is being read, because I4GL wrote line ends in TEXT without
        a backslash. Every row must end with a delimiter then.
    lob_directory
        The directory of the files ``blob..`` and ``clob..``. Default: that of the file. No file outside it is opened.
    batch_rows, batch_bytes
        Maximum rows and target bytes of one batch (default 16 MiB). Memory is bounded by two batches and the longest
        row.

    Returns
    -------
    pyarrow.RecordBatchReader
        Its schema is ``schema``. The file is opened when the first batch is read.

    Raises
    ------
    DataError
        While reading: a field does not match its type, or a row has too many or too few fields. The text names file,
        line and column; ``row`` (from 0) and ``column`` are set. All rows before it have been returned.
    InterfaceError, ProgrammingError
        An argument or a type is invalid.
    OSError
        The file cannot be opened or read.
    """
    dialect = Dialect.of(
        delimiter=delimiter, encoding=encoding, dbdate=dbdate, dbcentury=dbcentury, dbmoney=dbmoney
    )
    schema, columns = columns_of(schema)
    if batch_rows < 1 or batch_bytes < 1:
        raise InterfaceError("batch_rows and batch_bytes must be positive.")
    if isinstance(path, str | os.PathLike):
        os.stat(path)  # raise here if the file does not exist, not at the first batch
    directory = Path(lob_directory) if lob_directory is not None else directory_of(path)
    file = _UnlFile(
        path,
        dialect,
        schema,
        columns,
        join_lines=join_lines,
        empty_text=empty_text,
        batch_rows=batch_rows,
        batch_bytes=batch_bytes,
        objects=ObjectFiles(directory),
    )
    return pa.RecordBatchReader.from_batches(schema, file.batches())


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as it is in the file."""

    row: int  # number of the row, from 0
    line: int  # number of the line in which it begins, from 1
    text: str  # including the end of the line


def raw_rows(
    path: Source,
    schema: pa.Schema | Mapping[str, str],
    rows: Iterable[int],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    join_lines: bool = False,
) -> Iterator[RawRow]:
    """Yield the rows with given numbers as they are in a .unl file, for example rows that a table refused.

    ``rows`` are their numbers from 0, in ascending order. The other arguments are those of :func:`read_unl`. Raises
    ``IndexError`` if a row does not exist. Raises ``DataError`` if an earlier row has too many or too few fields.
    """
    dialect = Dialect.of(delimiter=delimiter, encoding=encoding)
    _, columns = columns_of(schema)
    reader = _reader(display_name(path), dialect, columns, join_lines=join_lines)
    at, row = 0, 0
    with (
        _open_input(path) as file,
        closing(_text_chunks(file, dialect.encoding, reader, display_name(path))) as chunks,
    ):
        chunk = next(chunks)
        for target in rows:
            if target < row:
                raise InterfaceError("rows must be in ascending order.")
            while True:
                at, passed = reader.skip(chunk.data, at, len(chunk.data), chunk.final, target - row)
                row += passed
                line = reader.line
                end, count = (at, 0)
                if row == target:
                    end, count = reader.skip(chunk.data, at, len(chunk.data), chunk.final, 1)
                if count:
                    break
                if chunk.final:
                    raise IndexError(
                        f"{display_name(path)} has {row} rows, but no row with the number {target}."
                    )
                chunk, at = chunks.send(at), 0
            yield RawRow(row, line, bytes(chunk.data[at:end]).decode())
            at, row = end, row + 1


class _TextChunk(NamedTuple):
    data: bytes  # UTF-8
    final: bool  # True for the last chunk of the file


@dataclass(eq=False, repr=False)
class _UnlFile:
    """Reads one file: decodes its rows and converts the batches to the user's types."""

    _path: Source
    _dialect: Dialect
    _schema: pa.Schema
    _columns: tuple[UnlColumn, ...]
    _: KW_ONLY
    join_lines: bool
    empty_text: bool
    batch_rows: int
    batch_bytes: int
    objects: ObjectFiles

    def __post_init__(self) -> None:
        self._codec_schema = pa.schema([pa.field(column.name, column.codec_type) for column in self._columns])
        self._steps = [_step(column, self.objects, self._dialect.encoding) for column in self._columns]
        self._pointers = [
            k for k, column in enumerate(self._columns) if column.type.is_blob or column.type.is_clob
        ]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all batches. The file is open while they are read."""
        name = display_name(self._path)
        reader = _reader(
            name,
            self._dialect,
            self._columns,
            join_lines=self.join_lines,
            empty_text=self.empty_text,
            batch_rows=self.batch_rows,
            batch_bytes=self.batch_bytes,
        )
        row = 0
        with _open_input(self._path) as file, closing(self.objects):
            chunks = _text_chunks(file, self._dialect.encoding, reader, name)
            with closing(chunks):
                chunk = next(chunks)
                while True:
                    at, full = 0, True
                    while full:
                        try:
                            at, full = reader.feed(chunk.data, at, len(chunk.data), chunk.final)
                        except DataError:
                            if reader.rows:
                                yield from self._finish_batches(reader, row)
                            raise
                        if full:
                            count = reader.rows
                            yield from self._finish_batches(reader, row)
                            row += count
                    if chunk.final:
                        break
                    chunk = chunks.send(at)
            if reader.rows:
                yield from self._finish_batches(reader, row)

    def _finish_batches(self, reader: Reader, first_row: int) -> Iterator[pa.RecordBatch]:
        batch = pa.RecordBatch._import_from_c_capsule(self._codec_schema.__arrow_c_schema__(), reader.take())
        for part in self._split_by_objects(batch, first_row):
            arrays = [self._finish(k, part.column(k), first_row) for k in range(len(self._columns))]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)
            first_row += part.num_rows

    def _split_by_objects(self, batch: pa.RecordBatch, first_row: int) -> Iterator[pa.RecordBatch]:
        """Split a batch so that the large objects of each part have about ``batch_bytes``, but at least one row."""
        if not self._pointers:
            yield batch
            return
        start, size = 0, 0
        columns = [(k, batch.column(k).to_pylist()) for k in self._pointers]
        for row in range(batch.num_rows):
            for k, texts in columns:
                if texts[row]:
                    try:
                        size += self.objects.size(texts[row])
                    except DataError as error:
                        raise self._value_error(k, first_row + row, str(error)) from None
            if size >= self.batch_bytes:
                yield batch.slice(start, row + 1 - start)
                start, size = row + 1, 0
        if start < batch.num_rows:
            yield batch.slice(start)

    def _finish(self, k: int, array: pa.Array, first_row: int) -> pa.Array:
        step = self._steps[k]
        if step is None:
            return array
        try:
            return step(array)
        except UNFIT as error:
            row, reason = first_invalid(array, step, error)
            raise self._value_error(k, first_row + row, reason) from None

    def _value_error(self, k: int, row: int, reason: str) -> DataError:
        """Return the error for a value that the codec accepted and a later step refused.

        Its line is searched for only now.
        """
        column = self._columns[k]
        where = f"row {row}"
        if isinstance(self._path, str | os.PathLike):
            rows = raw_rows(
                self._path,
                self._schema,
                [row],
                delimiter=self._dialect.delimiter,
                encoding=self._dialect.encoding,
                join_lines=self.join_lines,
            )
            where = f"line {next(rows).line}"
        place = f"{display_name(self._path)}, {where}"
        error = DataError(f"{place}, column {column.name!r} (field {k + 1}, {column.type.sql}): {reason}")
        error.place = place
        error.row, error.column = row, column.name
        return error


def _reader(
    name: str,
    dialect: Dialect,
    columns: tuple[UnlColumn, ...],
    *,
    join_lines: bool,
    empty_text: bool = False,
    batch_rows: int = 1,
    batch_bytes: int = 1,
) -> Reader:
    return Reader(
        name,
        [column.op.as_tuple() for column in columns],
        [column.name for column in columns],
        [column.type.sql for column in columns],
        dialect.as_tuple(),
        batch_rows=batch_rows,
        batch_bytes=batch_bytes,
        join_lines=join_lines,
        empty_text=empty_text,
    )


# ---- bytes -----------------------------------------------------------------------------------------------------------


def display_name(path: object) -> str:
    """Return the name of a file in errors."""
    if isinstance(path, str | os.PathLike):
        return os.fsdecode(path)
    name = getattr(path, "name", None)
    return name if isinstance(name, str) else "the file"


@contextmanager
def _open_input(path: Source) -> Iterator[BinaryIO]:
    if isinstance(path, str | os.PathLike):
        with open(path, "rb", buffering=0) as file:
            yield file
    elif isinstance(path, io.TextIOBase) or not hasattr(path, "read"):
        raise InterfaceError(
            f"A {type(path).__name__} is neither a path nor a binary file object. Pass one of them."
        )
    else:
        yield path


def _text_chunks(
    file: BinaryIO, encoding: str, reader: Reader, name: str
) -> Generator[_TextChunk, int, None]:
    """Yield the file in chunks of UTF-8. The consumer sends back how many bytes of each it used.

    The rest is prepended to the next chunk, which is at least as long as the rest, so that a row of any length
    fits in the end.
    """
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("strict")
    rest = b""
    begun = False
    while True:
        chunk = file.read(max(_CHUNK, len(rest)))
        final = not chunk
        if not begun and chunk and chunk.startswith(_BOM):  # the mark says that the rest is UTF-8
            chunk, decoder = chunk[len(_BOM) :], None
        if decoder is not None:
            try:
                chunk = decoder.decode(chunk or b"", final).encode()
            except UnicodeDecodeError as error:
                raise _undecodable(error, rest, reader, name, encoding) from None
        begun = True
        data = rest + chunk if rest else chunk or b""
        if final or data:
            used = yield _TextChunk(data, final)
            rest = data[used:]


def _undecodable(
    error: UnicodeDecodeError, rest: bytes, reader: Reader, name: str, encoding: str
) -> DataError:
    """Return the error for a byte that is invalid in the encoding, with its line."""
    before = bytes(error.object[: error.start]).count(b"\n")
    line = reader.line + rest.count(b"\n") + before
    return DataError(
        f"{name}, line {line}: The byte {error.object[error.start]:02x} is not text in {encoding}. Name the "
        "file's code set with encoding=."
    )


# ---- values ----------------------------------------------------------------------------------------------------------


def _step(column: UnlColumn, objects: ObjectFiles, encoding: str) -> Step | None:
    """Return the conversion from the codec's array to the user's. None if there is nothing to convert."""
    ct, final = column.type, column.final
    if ct.is_blob or ct.is_clob:
        return lambda array: _contents(array, objects, encoding if ct.is_clob else None, final)
    if ct.is_complex and pa.types.is_nested(final) and not pa.types.is_dictionary(final):
        return lambda array: pa.array(
            [None if text is None else parse_literal(text, ct) for text in array.to_pylist()], final
        )
    if column.op.kind == Kind.DECIMAL_STRING:
        if pa.types.is_floating(final):
            return lambda array: _floats(array, final)
        if ct.code in (TypeCode.DECIMAL, TypeCode.MONEY):
            return lambda array: to_arrow(_plain_digits(array), final)
    if column.codec_type == final:
        return None
    return lambda array: to_arrow(array, final)


def _contents(array: pa.Array, objects: ObjectFiles, encoding: str | None, final: pa.DataType) -> pa.Array:
    contents = [None if text is None else objects.content(text) for text in array.to_pylist()]
    if encoding is None:
        return to_arrow(pa.array(contents, pa.large_binary()), final)
    texts = [None if content is None else content.decode(encoding) for content in contents]
    return to_arrow(pa.array(texts, pa.large_utf8()), final)


def _floats(array: pa.Array, final: pa.DataType) -> pa.Array:
    floats = array.cast(final)
    lost = pc.is_inf(floats)
    if pc.any(lost).as_py():
        raise pa.ArrowInvalid(f"{array.filter(lost)[0].as_py()!r} is outside the range of {final}.")
    return floats


def _plain_digits(array: pa.Array) -> pa.Array:
    """Write the numbers of a floating DECIMAL as the driver returns them: no exponents, no trailing zeros behind the
    point."""
    if pc.any(pc.match_substring(array, "e")).as_py():
        array = pa.array(
            [None if text is None else f"{Decimal(text):f}" for text in array.to_pylist()], pa.utf8()
        )
    if not pc.any(pc.match_substring_regex(array, _TRAILING_ZEROS)).as_py():
        return array
    return pc.replace_substring_regex(array, _TRAILING_ZEROS, r"\1")
