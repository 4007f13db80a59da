"""Rows with values that a target cannot hold: an error, or left out and logged."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..core.disk import name_file_in_errors, sync_directory
from ..wire.errors import DataError, error_at

try:
    import fcntl
except ImportError:  # Windows, where no copy locks the other out
    fcntl = None  # type: ignore[assignment]

PART_SUFFIX = ".part"
MAX_SHOWN_CHARACTERS = 200  # characters of a value


@dataclass(frozen=True, slots=True)
class UnrepresentableValue:
    """A value that the target cannot hold: the index of its row in a batch, its column and the reason."""

    row: int
    column: str
    reason: str


class RejectLog:
    """A file of rejected values, one line of JSON each. Thread-safe.

    The lines of a copy of a table are written to a file of their own, ``FILE.RUN.TABLE.part``, before the copy counts.
    The target's state names that file. Once the copy counts, its lines are moved to the file; after a crash by the next
    copy of the table. So no line is lost, and none comes twice.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(path)
        self._lock = threading.Lock()
        self._handles: list[int] = []  # locks of the parts that this process has written
        with name_file_in_errors(self._path), open(self._path, "ab"):
            pass  # the file can be written

    def write(self, table: str, run: str, lines: Sequence[str]) -> str:
        """Write the lines of a table to a file of their own, wait until they are on disk, and return its path."""
        part = f"{self._path}.{run}.{_tag(table)}{PART_SUFFIX}"
        with name_file_in_errors(self._path):
            handle = _create_locked(part)
            with self._lock:
                self._handles.append(handle)
            with open(part, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            sync_directory(Path(part).parent)
        return part

    def unfinished(self, table: str) -> list[tuple[str, int]]:
        """Return the files of a table whose process has ended, each with a handle that locks it.

        The state of the table must be read afterwards: a copy that counts may have ended just now.
        """
        found = []
        for part in glob.glob(f"{glob.escape(self._path)}.*.{_tag(table)}{PART_SUFFIX}"):
            handle = _open_locked(part)
            if handle is not None:
                found.append((part, handle))
        return found

    def close(self) -> None:
        """Release the locks."""
        for handle in self._handles:
            os.close(handle)


def publish(part: str) -> None:
    """Move the lines of a copy that counts to the file of rejects. Does nothing if that was done. May be repeated."""
    base = part.removesuffix(PART_SUFFIX)
    path = base.rpartition(".")[0].rpartition(".")[0]
    moving = glob.glob(f"{glob.escape(base)}.at*{PART_SUFFIX}")
    if not moving and not os.path.exists(part):
        return
    with name_file_in_errors(path), open(path, "a+b") as file:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        # Those of other processes, too: they have died, because who moves lines holds the lock.
        for each in sorted(glob.glob(f"{glob.escape(path)}.*.at*{PART_SUFFIX}")):
            _append(file, each)
        if os.path.exists(part):
            to = f"{base}.at{file.seek(0, os.SEEK_END)}{PART_SUFFIX}"
            os.replace(part, to)
            sync_directory(Path(part).parent)
            _append(file, to)


def _append(file: IO[bytes], part: str) -> None:
    """Append the lines of a file whose name says where they begin, as far as they are not there, and remove it."""
    start = int(part.removesuffix(PART_SUFFIX).rpartition(".at")[2])
    lines = Path(part).read_bytes()
    file.seek(start)
    there = file.read(len(lines))
    if lines != there:
        file.write(lines[len(there) :] if lines.startswith(there) else lines)
        file.flush()
        os.fsync(file.fileno())
    os.unlink(part)


def _tag(table: str) -> str:
    """Return a part of a file's name, a different one for each table."""
    return hashlib.sha256(table.encode()).hexdigest()[:12]


def _create_locked(path: str) -> int:
    """Create a file and lock it until the handle is closed."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if fcntl is None:
            return handle
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        except FileNotFoundError:  # another copy has taken it for an abandoned one
            pass
        os.close(handle)


def _open_locked(path: str) -> int | None:
    """Lock a file until the handle is closed; None if another process has locked it, or it is gone."""
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
    return handle


class RejectFilter:
    """A filter for the rows of one table that do not fit. It counts them in ``rows``."""

    def __init__(
        self,
        table: str,
        key_of: Callable[[], Sequence[str]],
        key: Sequence[str],
        find_unrepresentable: Callable[[pa.RecordBatch], Sequence[UnrepresentableValue]],
        rejects: RejectLog | None,
        run: str,
    ) -> None:
        self.rows = 0
        self._run = run
        self._part = ""
        self._table = table
        self._find_key = key_of
        self._key = tuple(key) or None
        self._find_unrepresentable = find_unrepresentable
        self._rejects = rejects
        self._lines: list[str] = []

    def filter_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that fit. Without a log, raise ``DataError`` for the first one that does not."""
        values = self._find_unrepresentable(batch)
        if not values:
            return batch
        for each in values:
            row = batch.slice(each.row, 1).to_pylist()[0]
            key = {name: row[name] for name in self._key_of(batch)}
            if self._rejects is None:
                text = ", ".join(f"{name}={value!r}" for name, value in key.items())
                raise error_at(
                    DataError,
                    self._table,
                    f"{each.column} {each.reason}, in the row {text[:MAX_SHOWN_CHARACTERS]}. "
                    "Use rejects= to leave such rows out.",
                    column=each.column,
                )
            entry = {
                "table": self._table,
                "key": key,
                "column": each.column,
                "value": row[each.column],
                "reason": each.reason,
            }
            self._lines.append(json.dumps(entry, ensure_ascii=False, default=_json_value))
        rows = {each.row for each in values}
        self.rows += len(rows)
        return batch.filter(pa.array(row_number not in rows for row_number in range(batch.num_rows)))

    def flush(self) -> str:
        """Write the rows that were left out to disk, before the copy counts. Return the file's path; "" for none."""
        if self._lines and self._rejects is not None:
            self._part = self._rejects.write(self._table, self._run, self._lines)
            self._lines = []
        return self._part

    def _key_of(self, batch: pa.RecordBatch) -> tuple[str, ...]:
        """Return the columns that identify a row: the key of the call, the table's primary key, or all columns."""
        if self._key is None:
            self._key = tuple(self._find_key()) or tuple(batch.schema.names)
        return self._key


def find_characters(batch: pa.RecordBatch, pattern: str, reason: str) -> list[UnrepresentableValue]:
    """Return the texts that contain a character which ``pattern`` describes."""
    values = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            rows = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(column, pattern), False))
            values += [UnrepresentableValue(row, field.name, reason) for row in rows.to_pylist()]
    return sorted(values, key=lambda each: each.row)


def _json_value(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
