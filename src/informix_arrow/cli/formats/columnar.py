"""Parquet and Arrow files, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..exit_codes import Failure, UsageError
from .file_rows import FileRows, Options

_PARQUET = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
_ARROW = ("none", "lz4", "zstd")


class ParquetWriter:
    """A writer of Parquet, with a row group for each batch."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, options: Options) -> None:
        compression = _check_compression(options.compression, _PARQUET, "Parquet")
        self._schema = schema
        # Row groups are small here. With the default dictionary of up to a megabyte, most values would be looked up in
        # a dictionary that is dropped in the end. Files are smaller and written faster with a smaller one.
        self._writer = pq.ParquetWriter(
            file, schema, compression=compression or "snappy", dictionary_pagesize_limit=1 << 17
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch as a row group."""
        self._writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))

    def close(self) -> None:
        """Write the footer. The file stays open."""
        self._writer.close()


class ArrowWriter:
    """A writer of Arrow's file format, or of its stream format, for readers that cannot seek."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, options: Options, *, stream: bool) -> None:
        compression = _check_compression(options.compression, _ARROW, "Arrow")
        write_options = pa.ipc.IpcWriteOptions(
            compression=None if compression in (None, "none") else compression
        )
        make = pa.ipc.new_stream if stream else pa.ipc.new_file
        self._writer = make(file, schema, options=write_options)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the end. The file stays open."""
        self._writer.close()


def _check_compression(compression: str | None, allowed: tuple[str, ...], kind: str) -> str | None:
    if compression is not None and compression not in allowed:
        raise UsageError(f"--compression {compression}: {kind} files support {', '.join(allowed)}.")
    return compression


def read_parquet(file: IO[bytes], name: str, options: Options) -> FileRows:
    """Return the batches of a Parquet file. Raises ``Failure`` for any other file."""
    source: Any = file if file.seekable() else pa.BufferReader(file.read())
    try:
        opened = pq.ParquetFile(source, pre_buffer=False)
    except (pa.ArrowInvalid, OSError) as error:
        raise Failure(f"{name} is not a Parquet file ({error}).") from None
    return FileRows(opened.schema_arrow, opened.iter_batches(batch_size=1 << 16), opened.metadata.num_rows)


def read_arrow(file: IO[bytes], name: str, options: Options) -> FileRows:
    """Return the batches of an Arrow file or stream. Raises ``Failure`` for any other file."""
    try:
        if file.seekable():
            start = file.read(6)
            file.seek(0)
            if start == b"ARROW1":
                opened = pa.ipc.open_file(file)
                return FileRows(opened.schema, _file_batches(opened))
        stream = pa.ipc.open_stream(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise Failure(f"{name} is not an Arrow file ({error}).") from None
    return FileRows(stream.schema, iter(stream))


def _file_batches(opened: Any) -> Iterator[pa.RecordBatch]:
    for number in range(opened.num_record_batches):
        yield opened.get_batch(number)
