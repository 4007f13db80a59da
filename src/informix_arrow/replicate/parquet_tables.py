"""Tables of Parquet files as targets: rows are written to new files, read back and then added to the table.

`parquet_folder`, `delta` and `iceberg` know which files a table has, and how it adds and removes files in one step.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..wire.errors import DataError, NotSupportedError, OperationalError, error_at
from . import hive_paths
from .checksums import ColumnChecksums
from .parquet_writer import TableWriter, texts_by_dictionary
from .prefetch import PrefetchBuffer, process_in_thread
from .state import CopyRows, State, reconcile

if TYPE_CHECKING:
    from typing_extensions import Self

    from .rejects import UnrepresentableValue

FILE_BYTES = 1 << 30  # bytes of Arrow data in a file
READERS = min(4, os.cpu_count() or 1)  # threads that read a file back
WRITERS = 64  # tables that are written at the same time, at most
MAX_OPEN_FILES = 32  # open at a time, for folders that are named after values


class TableChange(Protocol):
    """A change of one table. Nothing of it is visible before ``commit``."""

    files: Sequence[str]
    schema: pa.Schema
    partition_by: Sequence[str]
    has_empty_files: bool
    packed: bool  # whether all readers of such tables support packed numbers: see `parquet_encoding`

    def create(self, name: str) -> AbstractContextManager[Any]:
        """Open a new file for writing. It can be read at the end of the block."""

    def sync(self) -> None:
        """Wait until the new files are on disk."""

    def open(self, name: str) -> AbstractContextManager[Any]:
        """Open a file of the table, or a new one, for reading."""

    def commit(self, state: State, adding: Sequence[str], removing: Sequence[str]) -> State:
        """Add files, remove files and store the state, in one step."""


class TableStore(Protocol):
    """A place with tables of files."""

    def state(self, table: str) -> State | None:
        """Return the state of a table's last copy, as a `CopyTarget` does."""

    def change(self, table: str, schema: pa.Schema, *, whole: bool) -> TableChange:
        """Begin a change of a table to rows of this schema, in place of all others if it is the ``whole`` table."""

    def close(self) -> None:
        """Release what the store holds."""


class CopyThreads:
    """Threads that write tables and read them back.

    They are reused from table to table: new threads would begin with new memory, which the system clears first, and
    that takes as long as decoding.
    """

    def __init__(self) -> None:
        self.writing = ThreadPoolExecutor(WRITERS, "copy-writer")
        self.checking = ThreadPoolExecutor(READERS, "copy-check")  # these wait for no other thread

    def close(self) -> None:
        """End the threads."""
        self.writing.shutdown()
        self.checking.shutdown()


class FileTarget:
    """A copy target whose tables are Parquet files."""

    overlapping = True

    def __init__(self, tables: TableStore) -> None:
        self._tables = tables
        self._threads = CopyThreads()

    def state(self, table: str) -> State | None:
        return self._tables.state(table)

    def replace(
        self, table: str, rows: CopyRows, state: Callable[[], State], key: Sequence[str] = ()
    ) -> State:
        change = self._tables.change(table, rows.schema, whole=True)
        added = self._write(table, change, rows, empty=change.has_empty_files)
        if key and added:
            _read_keys(table, change, added, key)
        return _commit(change, state, added, change.files)

    def append(self, table: str, rows: CopyRows, state: Callable[[], State]) -> State:
        change = self._tables.change(table, rows.schema, whole=False)
        added = self._write(table, change, rows, empty=change.has_empty_files and not change.files)
        return _commit(change, state, added, ())

    def merge(self, table: str, rows: CopyRows, state: Callable[[], State], key: Sequence[str]) -> State:
        change = self._tables.change(table, rows.schema, whole=False)
        added = self._write(table, change, rows, empty=change.has_empty_files and not change.files)
        removed: list[str] = []
        if added:
            keys = _read_keys(table, change, added, key)
            for name in change.files:
                remaining = _rows_without_keys(change, name, keys, key)
                if remaining is None:
                    continue
                removed.append(name)
                if remaining.num_rows:
                    rewritten = CopyRows.counted(remaining.schema, remaining.to_batches())
                    added += self._write(table, change, rewritten, own=True)
        return _commit(change, state, added, removed)

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        return ()

    def cancel(self) -> None:
        """Do nothing: a disk is not waited for for long."""

    def close(self) -> None:
        self._threads.close()
        self._tables.close()

    def _write(
        self, table: str, change: TableChange, rows: CopyRows, *, empty: bool = False, own: bool = False
    ) -> list[str]:
        return write_files(table, change, rows, self._threads, empty=empty, own=own)


def stored_schema(
    table: str, schema: pa.Schema, rule: Callable[[pa.DataType], pa.DataType | None], what: str
) -> pa.Schema:
    """Return the schema in types that files of a table can have.

    Raises ``NotSupportedError`` with the name of a column that has no such type.
    """
    fields = []
    for each in schema:
        kind = _stored_type(each.type, rule)
        if kind is None:
            raise NotSupportedError(f"{table}.{each.name}: {what} has no type for {each.type}.")
        fields.append(each.with_type(kind))
    return pa.schema(fields, schema.metadata)


def _stored_type(kind: pa.DataType, rule: Callable[[pa.DataType], pa.DataType | None]) -> pa.DataType | None:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _stored_type(kind.value_type, rule)
        return inner and pa.list_(kind.value_field.with_type(inner))
    if pa.types.is_struct(kind):
        parts = [(each, _stored_type(each.type, rule)) for each in kind]
        return (
            None if any(part is None for _, part in parts) else pa.struct([e.with_type(p) for e, p in parts])
        )
    return rule(kind)


def _commit(
    change: TableChange, state: Callable[[], State], adding: Sequence[str], removing: Sequence[str]
) -> State:
    count = 0
    for name in (*(each for each in change.files if each not in removing), *adding):
        with change.open(name) as file:
            try:
                count += pq.read_metadata(file).num_rows
            except pa.ArrowException as error:
                raise OperationalError(
                    f"{name}, which the last copy wrote, is not a Parquet file any more ({error}). Copy the "
                    "table in full to replace it."
                ) from error
    return change.commit(replace(state(), rows=count), adding, removing)


def write_files(
    table: str,
    change: TableChange,
    rows: CopyRows,
    threads: CopyThreads | None = None,
    *,
    empty: bool = False,
    own: bool = False,
) -> list[str]:
    """Write rows to new files, read them back, and return the names of the files.

    Without rows, one file with the schema is written if ``empty`` is True. Rows of the table's ``own`` files keep their
    older columns.
    """
    if threads is None:
        with closing(CopyThreads()) as some:
            return write_files(table, change, rows, some, empty=empty, own=own)
    schema = rows.schema if own else change.schema

    def write(batches: PrefetchBuffer) -> tuple[list[str], ColumnChecksums]:
        return _write(table, change, batches, rows.schema, schema, threads, empty=empty)

    names, stored = process_in_thread(rows.batches, write, threads.writing, rows.cancel)
    reconcile(table, rows.checks, stored)
    change.sync()
    return names


def _write(
    table: str,
    change: TableChange,
    batches: PrefetchBuffer,
    schema: pa.Schema,
    stored: pa.Schema,
    threads: CopyThreads,
    *,
    empty: bool,
) -> tuple[list[str], ColumnChecksums]:
    """Write new files. Return their names and the checksums of what is read back from them."""
    found = ColumnChecksums(schema)

    def closed(name: str) -> None:
        found.merge(_file_checksums(change, name, schema, threads))

    run = uuid.uuid4().hex[:12]
    with _OpenFiles(change, stored, run, closed) as writing:
        for batch in batches:
            for folder, rows in hive_paths.split(table, batch, change.partition_by):
                writing.write(folder, rows)
        if empty and not writing.names:
            writing.write("", None)
    return writing.names, found


class _OpenFiles:
    """The files that are open for writing, one for each folder."""

    def __init__(
        self, change: TableChange, stored: pa.Schema, run: str, closed: Callable[[str], None]
    ) -> None:
        self.names: list[str] = []
        self._change = change
        fields = [each for each in stored if each.name not in change.partition_by]
        self._schema = pa.schema(fields, stored.metadata)
        self._run = run
        self._closed = closed
        self._open: dict[str, _OpenParquetFile] = {}

    def write(self, folder: str, rows: pa.RecordBatch | None) -> None:
        """Add rows to the folder's file. None makes a file without rows."""
        file = self._open.pop(folder, None)
        if file is None:
            if len(self._open) >= MAX_OPEN_FILES:
                self._close(next(iter(self._open)))
            name = f"{folder}/" * bool(folder) + f"part-{self._run}-{len(self.names):05}.parquet"
            self.names.append(name)
            file = _OpenParquetFile(self._change, name, self._schema)
        self._open[folder] = file  # ordered by last use
        if rows is not None:
            file.write(rows)
        if file.size >= FILE_BYTES:
            self._close(folder)

    def _close(self, folder: str) -> None:
        file = self._open.pop(folder)
        file.close()
        self._closed(file.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            for folder in list(self._open):
                self._close(folder)
        for file in self._open.values():
            file.drop(kind, error, trace)


class _OpenParquetFile:
    """A file that rows are written to."""

    def __init__(self, change: TableChange, name: str, schema: pa.Schema) -> None:
        self.name = name
        self.size = 0
        self._stack = ExitStack()
        self._writer = self._stack.enter_context(
            TableWriter(self._stack.enter_context(change.create(name)), schema, packed=change.packed)
        )

    def write(self, rows: pa.RecordBatch) -> None:
        try:
            self._writer.write(rows)
        except BaseException:
            if not self._stack.__exit__(*sys.exc_info()):
                raise
        self.size += rows.nbytes

    def close(self) -> None:
        """Complete the file."""
        self._stack.close()

    def drop(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file after an error. Further errors are ignored."""
        with suppress(BaseException):
            self._stack.__exit__(kind, error, trace)


def _read_keys(table: str, change: TableChange, names: Sequence[str], key: Sequence[str]) -> pa.Table:
    """Return the keys of new rows. Raises ``DataError`` for a missing or repeated one."""
    keys = pa.concat_tables([_read_columns(change, name, key) for name in names])
    for name in key:
        if keys[name].null_count:
            raise error_at(
                DataError,
                table,
                f"A row has NULL in {name}, a column of the key, so rows cannot be merged by it.",
                column=name,
            )
    for each in keys.schema:
        if pa.types.is_nested(each.type):
            raise error_at(
                NotSupportedError,
                table,
                f"Rows cannot be merged by {each.name}, which is {each.type}.",
                column=each.name,
            )
    counted = keys.group_by(list(key)).aggregate([([], "count_all")])
    if counted.num_rows != keys.num_rows:
        duplicate = (
            counted.filter(pc.greater(counted["count_all"], 1)).slice(0, 1).select(list(key)).to_pylist()[0]
        )
        text = ", ".join(f"{name}={value!r}" for name, value in duplicate.items())
        raise error_at(DataError, table, f"Two rows have the key {text}, so {', '.join(key)} is not a key.")
    return keys


def _rows_without_keys(change: TableChange, name: str, keys: pa.Table, key: Sequence[str]) -> pa.Table | None:
    """Return the rows of a file whose key is not among these, or None if that is all of them."""
    old = _read_columns(change, name, key)
    numbered = old.append_column("row number", pa.array(range(old.num_rows), pa.int64()))
    remaining = numbered.join(keys.cast(old.schema), list(key), join_type="left anti")["row number"]
    if len(remaining) == old.num_rows:
        return None
    numbers = remaining.combine_chunks()
    return _read_columns(change, name, None).take(numbers.take(pc.sort_indices(numbers)))


def _read_columns(change: TableChange, name: str, columns: Sequence[str] | None) -> pa.Table:
    by = change.partition_by
    with change.open(name) as file, pq.ParquetFile(file) as parquet:
        if not by:
            return parquet.read(None if columns is None else list(columns))
        rows = parquet.read()
    fields = [each for each in change.schema if each.name in by or each.name in rows.schema.names]
    batches = [
        hive_paths.add_partition_columns(name, each, pa.schema(fields), by) for each in rows.to_batches()
    ]
    table = pa.Table.from_batches(batches) if batches else pa.schema(fields).empty_table()
    return table if columns is None else table.select(list(columns))


def _file_checksums(
    change: TableChange, name: str, schema: pa.Schema, threads: CopyThreads
) -> ColumnChecksums:
    """Return the checksums of a file. Several threads read its row groups."""
    with change.open(name) as file:
        metadata = pq.read_metadata(file)
    by_dictionary = texts_by_dictionary(metadata)
    waiting = iter(range(metadata.num_row_groups))
    lock = threading.Lock()

    def some() -> ColumnChecksums:
        checks = ColumnChecksums(schema)
        with (
            change.open(name) as file,
            pq.ParquetFile(file, metadata=metadata, read_dictionary=by_dictionary) as parquet,
        ):
            while True:
                with lock:
                    group = next(waiting, None)
                if group is None:
                    return checks
                size = max(metadata.row_group(group).num_rows, 1)
                for batch in parquet.iter_batches(size, [group], use_threads=False):
                    checks.add(hive_paths.add_partition_columns(name, batch, schema, change.partition_by))

    count = min(READERS, metadata.num_row_groups)
    if count <= 1:
        return some()
    total = ColumnChecksums(schema)
    others = [threads.checking.submit(some) for _ in range(count - 1)]
    for each in (some(), *(other.result() for other in others)):
        total.merge(each)
    return total
