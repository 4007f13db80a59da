"""File formats of commands: each is written and read as a stream of record batches.

``open_writer`` and ``open_reader`` choose by the format's name, and ``format_of`` finds the name by a file's suffix.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import IO, Any, Protocol

import pyarrow as pa

from ...wire.errors import Error
from ..exit_codes import Failure, UsageError
from ..files import STDIO, new_file, open_input
from ..pipe_input import ReadLimit
from .columnar import ArrowWriter, ParquetWriter, read_arrow, read_parquet
from .csv_text import CsvWriter, read_csv
from .file_rows import FileRows, Options
from .json_text import JsonWriter, read_json
from .table_text import TextTableWriter
from .unl_text import UnlWriter, content_directory, read_unl_rows

__all__ = [
    "FORMATS",
    "READABLE",
    "BatchWriter",
    "FileRows",
    "Options",
    "format_of",
    "open_file",
    "open_reader",
    "open_stream_writer",
    "open_writer",
    "write_file",
]

#: The formats and their suffixes.
FORMATS = {
    "table": (),
    "csv": (".csv",),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "unl": (".unl",),
    "markdown": (".md",),
}
READABLE = ("csv", "json", "jsonl", "parquet", "arrow", "unl")
_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_TEXTS = ("csv", "json", "jsonl", "unl", "markdown", "table")


class BatchWriter(Protocol):
    """A writer of a format."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""

    def close(self) -> None:
        """Write what is left. The file stays open."""


def format_of(
    path: str, given: str | None, allowed: Iterable[str] = FORMATS, default: str | None = None
) -> str:
    """Return the format of a file: the given one, else the one of its suffix (``.csv.gz`` is CSV), else ``default``.

    Raises ``UsageError`` if none of them is known.
    """
    known = list(allowed)
    if given is not None:
        return given
    name = path.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    for each in known:
        if name.endswith(FORMATS[each]) and FORMATS[each]:
            return each
    if default is not None:
        return default
    raise UsageError(
        f"{path}: The format is not known. Use --format {'|'.join(known)}, or a suffix such as .csv."
    )


def open_writer(
    kind: str, file: IO[bytes], schema: pa.Schema, options: Options, *, stream: bool = False
) -> BatchWriter:
    """Return a writer for batches of this schema. ``stream`` is True if readers cannot seek in the file."""
    makers: dict[str, Any] = {
        "table": TextTableWriter,
        "markdown": partial(TextTableWriter, markdown=True),
        "csv": CsvWriter,
        "json": partial(JsonWriter, array=True),
        "jsonl": JsonWriter,
        "parquet": ParquetWriter,
        "arrow": partial(ArrowWriter, stream=stream),
        "unl": UnlWriter,
    }
    writer: BatchWriter = makers[kind](file, schema, options)
    return writer


def open_reader(kind: str, file: IO[bytes], name: str, options: Options) -> FileRows:
    """Return the rows of a file in a format."""
    readers: dict[str, Any] = {
        "csv": read_csv,
        "json": read_json,
        "jsonl": read_json,
        "parquet": read_parquet,
        "arrow": read_arrow,
        "unl": read_unl_rows,
    }
    if kind not in readers:
        raise UsageError(f"{name}: {kind} can be written only, not read. Use {', '.join(READABLE)}.")
    rows: FileRows = readers[kind](file, name, options)
    return rows


@contextlib.contextmanager
def open_file(path: str, kind: str, options: Options, limit: ReadLimit | None = None) -> Iterator[FileRows]:
    """Open the file of a path, ``-`` for standard input, and provide its rows. Compressed files are decompressed.

    ``limit`` ends the wait for the data of a pipe.
    """
    name = "standard input" if path == STDIO else path
    with contextlib.ExitStack() as stack:
        file: Any = open_input(path, limit)
        if path != STDIO:
            stack.enter_context(file)
        packed = _compression(path)
        if packed is not None:
            file = stack.enter_context(pa.CompressedInputStream(pa.PythonFile(file, "r"), packed))
        try:
            directory = options.content_directory or content_directory(path)
            file_options = replace(options, content_directory=directory)
            if packed is None:
                yield open_reader(kind, file, name, file_options)
                return
            with _decompression_errors(name, packed):
                rows = open_reader(kind, file, name, file_options)
            rows.batches = _decompressed(rows.batches, name, packed)
            yield rows
        except UnicodeDecodeError as error:
            raise Failure(f"{name}: {error}. Name its code set with --encoding.") from None


@contextlib.contextmanager
def _decompression_errors(name: str, packed: str) -> Iterator[None]:
    """Raise ``Failure`` for a compressed file that is truncated or damaged. Arrow's error does not name the file."""
    try:
        yield
    except OSError as error:
        if error.errno is not None or isinstance(error, Error):
            raise
        raise Failure(
            f"{name} is truncated or damaged. It cannot be decompressed as {packed} ({error})."
        ) from error


def _decompressed(batches: Iterator[pa.RecordBatch], name: str, packed: str) -> Iterator[pa.RecordBatch]:
    with _decompression_errors(name, packed):
        yield from batches


@contextlib.contextmanager
def write_file(
    path: str, kind: str, schema: pa.Schema, options: Options, *, overwrite: bool = False
) -> Iterator[BatchWriter]:
    """Provide a writer into the file of a path, which gets its name if the block ends without an error.

    ``-`` is standard output. A suffix such as ``.gz`` compresses text formats.
    """
    with (
        new_file(path, overwrite=overwrite) as plain,
        open_stream_writer(plain, path, kind, schema, options) as writer,
    ):
        yield writer


@contextlib.contextmanager
def open_stream_writer(
    plain: Any, path: str, kind: str, schema: pa.Schema, options: Options
) -> Iterator[BatchWriter]:
    """Provide a writer into an open file, compressed if ``path``, its name to be, has such a suffix."""
    with contextlib.ExitStack() as stack:
        file: Any = plain
        packed = _compression(path)
        if packed is not None:
            if kind not in _TEXTS:
                raise UsageError(
                    f"{path}: {kind} compresses its contents itself. Use --compression {packed}, without "
                    "the suffix."
                )
            sink = pa.PythonFile(_LeftOpen(plain), "w")
            file = stack.enter_context(pa.CompressedOutputStream(sink, packed))
        file_options = replace(options, content_directory=content_directory(path))
        writer = open_writer(kind, file, schema, file_options, stream=path == STDIO)
        try:
            yield writer
        except BaseException:
            # The file is dropped after an error. Closing the writer only frees its buffers.
            with contextlib.suppress(Exception):
                writer.close()
            raise
        writer.close()


class _LeftOpen(io.RawIOBase):
    """A file that stays open when its writer closes it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


def _compression(path: str) -> str | None:
    return next((packed for suffix, packed in _COMPRESSED.items() if path.lower().endswith(suffix)), None)
