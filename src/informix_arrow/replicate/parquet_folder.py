"""A folder of Parquet files as a target: ``DIR/table/*.parquet``, and ``_informix_arrow.json`` next to them.

Files are written under names that no reader takes for data. The copy takes effect when the state is written, which
names the files to be added and removed. Then they are renamed and deleted. If that is interrupted, the next copy
finishes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..wire.errors import OperationalError
from . import hive_paths
from .folders import OUR_FILE, FolderLock, Syncing, folder_of, remove_empty, sync_folders, write_whole
from .parquet_tables import stored_schema
from .state import State

STATE = "_informix_arrow.json"
NEW = ".new"


class ParquetFolder:
    """A folder with a folder for each table."""

    def __init__(self, path: str, partition_by: Sequence[str] = ()) -> None:
        self._path = Path(path)
        self._partition_by = partition_by
        self._lock = FolderLock(self._path)

    def state(self, table: str) -> State | None:
        folder = folder_of(self._path, table)
        try:
            text = (folder / STATE).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            # A first copy may have died while it wrote its rows, or the state.
            _delete_files(folder, [*_unfinished(folder), folder / (STATE + NEW)])
            if folder.exists() and any(folder.iterdir()):
                raise OperationalError(
                    f"{folder} holds files that were not written by a copy. Move them away, or choose "
                    "another target."
                ) from None
            return None
        return _finished(folder, State.from_json(text, str(folder / STATE)))

    def change(self, table: str, schema: pa.Schema, *, whole: bool) -> FolderChange:
        before = self.state(table)
        folder = folder_of(self._path, table)
        by = hive_paths.columns_of(table, schema, self._partition_by)
        if before is not None and not whole and before.partition_by != by:
            raise OperationalError(
                f"{folder}: The last copy was partitioned by "
                f"{', '.join(before.partition_by) or 'no column'}. Copy the table in full to change that."
            )
        files = () if before is None else before.files
        missing = [] if whole else [name for name in files if not (folder / name).exists()]
        if missing:
            raise OperationalError(
                f"{folder}: {missing[0]}, which the last copy wrote, is gone. Restore it, or copy the table "
                "in full, which replaces all files."
            )
        folder.mkdir(parents=True, exist_ok=True)
        stored = stored_schema(table, schema, _type, "Parquet")
        return FolderChange(folder, files, stored, by, self._lock)

    def close(self) -> None:
        self._lock.release()


@dataclass(eq=False, repr=False)
class FolderChange:
    """A change of one table's folder: a `TableChange`."""

    has_empty_files = True  # otherwise the columns of a table without rows would be unknown
    packed = True

    _folder: Path
    files: Sequence[str]
    schema: pa.Schema
    partition_by: Sequence[str]
    _lock: FolderLock
    _syncing: Syncing = field(default_factory=Syncing, init=False)

    @contextmanager
    def create(self, name: str) -> Iterator[Any]:
        path = self._folder / (name + NEW)
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._syncing.create(path) as file:
            yield file

    def sync(self) -> None:
        self._syncing.wait()

    def open(self, name: str) -> AbstractContextManager[Any]:
        return open(self._folder / (name if name in self.files else name + NEW), "rb")

    def commit(self, state: State, adding: Sequence[str], removing: Sequence[str]) -> State:
        decided = replace(
            state,
            files=(*(name for name in self.files if name not in removing), *adding),
            adding=tuple(adding),
            removing=tuple(removing),
            partition_by=tuple(self.partition_by),
        )
        sync_folders(self._folder, adding)
        self._lock.require()
        write_whole(self._folder / STATE, decided.to_json())
        return _finished(self._folder, decided)


def _finished(folder: Path, state: State) -> State:
    """Rename and delete files as the state says. May be repeated."""
    for name in state.adding:
        if not (folder / name).exists() and (folder / (name + NEW)).exists():
            os.replace(folder / (name + NEW), folder / name)
    _delete_files(folder, [*(folder / name for name in state.removing), *_unfinished(folder)])
    return state  # the state keeps its lists: repeating them does nothing


def _delete_files(folder: Path, files: Sequence[Path]) -> None:
    """Remove files, and the folders within this one that become empty."""
    for path in files:
        path.unlink(missing_ok=True)
    for parent in {path.parent for path in files} - {folder}:
        remove_empty(parent, folder)


def _unfinished(folder: Path) -> list[Path]:
    """Return the files of runs that died before they wrote the state.

    The ending alone does not identify them, because other programs may use it, too.
    """
    if not folder.exists():
        return []
    return sorted(
        path for path in folder.rglob("part-*" + NEW) if OUR_FILE.fullmatch(path.name.removesuffix(NEW))
    )


def _type(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_time32(kind):
        return pa.time32("ms")  # Parquet has no times in seconds
    return None if pa.types.is_interval(kind) else kind
