"""Delta tables in a local folder as targets: ``DIR/table``, each copy one commit.

A commit names a version of the application "informix-arrow" (Delta's ``txn`` action, which checkpoints keep). The state
of the copy is in a file of that version next to the table. It is written before the commit that makes it valid.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from ..wire.errors import NotSupportedError, OperationalError
from .folders import OUR_FILE, FolderLock, Syncing, folder_of, write_whole
from .parquet_tables import stored_schema
from .state import State

APPLICATION = "informix-arrow"
STATES = "_informix_arrow"  # readers and VACUUM ignore names that begin with an underscore


class DeltaFolder:
    """A folder with a Delta table for each table."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._lock = FolderLock(self._path)

    def state(self, table: str) -> State | None:
        folder = folder_of(self._path, table)
        delta = _open_table(folder)
        if delta is None:
            for file in _unfinished_files(folder):
                file.unlink()
            if folder.exists() and any(each.name != STATES for each in folder.iterdir()):
                raise OperationalError(
                    f"{folder} holds files that were not written by a copy. Move them away, or choose "
                    "another target."
                )
            return None
        version = delta.transaction_version(APPLICATION)
        if version is None:
            raise OperationalError(
                f"{folder} is a Delta table that was not created by a copy. Choose another target."
            )
        path = folder / STATES / f"{version}.json"
        try:
            return State.from_json(path.read_text(encoding="utf-8", errors="replace"), str(path))
        except FileNotFoundError:
            raise OperationalError(
                f"{path}, which records the last copy, is gone. Restore it, or choose another target."
            ) from None

    def change(self, table: str, schema: pa.Schema, *, whole: bool) -> DeltaChange:
        folder = folder_of(self._path, table)
        (folder / STATES).mkdir(parents=True, exist_ok=True)
        return DeltaChange(folder, stored_schema(table, schema, _type, "Delta"), whole=whole)

    def close(self) -> None:
        self._lock.release()


class DeltaChange:
    """A change of one Delta table: a `TableChange`."""

    has_empty_files = False
    packed = True
    partition_by: Sequence[str] = ()

    def __init__(self, folder: Path, schema: pa.Schema, *, whole: bool) -> None:
        self._folder = folder
        self._syncing = Syncing()
        self._delta = _open_table(folder)
        self._replaces_table = whole
        self.schema = schema
        self.files: Sequence[str] = ()
        if self._delta is not None:
            if not whole and pa.table(self._delta.deletion_vectors()).num_rows:
                raise NotSupportedError(
                    f"{folder}: Rows were deleted with deletion vectors, which copies do not read. Rewrite "
                    "the files (REORG .. APPLY (PURGE)), or copy the table in full."
                )
            actions = pa.table(self._delta.get_add_actions(flatten=True))
            self.files = tuple(unquote(path) for path in actions["path"].to_pylist())

    def create(self, name: str) -> AbstractContextManager[Any]:
        return self._syncing.create(self._folder / name)

    def sync(self) -> None:
        self._syncing.wait()

    def open(self, name: str) -> AbstractContextManager[Any]:
        return open(self._folder / name, "rb")

    def commit(self, state: State, adding: Sequence[str], removing: Sequence[str]) -> State:
        version = 1 + (self.version(APPLICATION) or 0)
        write_whole(self._folder / STATES / f"{version}.json", state.to_json())
        self.publish(adding, removing, CommitProperties(app_transactions=[Transaction(APPLICATION, version)]))
        (self._folder / STATES / f"{version - 1}.json").unlink(missing_ok=True)
        return state

    def version(self, application: str) -> int | None:
        """Return the version that an application set in its last commit."""
        if self._delta is None:
            return None
        found: int | None = self._delta.transaction_version(application)
        return found

    def publish(self, adding: Sequence[str], removing: Sequence[str], properties: CommitProperties) -> None:
        """Add new files and remove old ones, in one commit."""
        delta = self._delta
        schema = Schema.from_arrow(self.schema)
        added = [self._add_action(name) for name in adding]
        try:
            if delta is None:
                create_table_with_add_actions(
                    str(self._folder),
                    schema,
                    added,
                    mode="error",
                    partition_by=[],
                    commit_properties=properties,
                )
            elif self._replaces_table:
                delta.create_write_transaction(added, "overwrite", schema, commit_properties=properties)
            else:
                names = {each.name.lower() for each in delta.schema().fields}
                new = [each for each in schema.fields if each.name.lower() not in names]
                if new:  # a commit of its own: new columns without values do no harm
                    delta.alter.add_columns(new)
                now = int(time.time() * 1000)
                removed = [
                    RemoveAction(name, True, now, (self._folder / name).stat().st_size) for name in removing
                ]
                delta.create_write_transaction(
                    [*added, *removed], "append", delta.schema(), commit_properties=properties
                )
        except DeltaError as error:
            raise OperationalError(f"{self._folder}: {error}") from error

    def _add_action(self, name: str) -> AddAction:
        path = self._folder / name
        stats = _stats(pq.read_metadata(path), self.schema)
        return AddAction(
            path=name,
            size=path.stat().st_size,
            partition_values={},
            modification_time=int(path.stat().st_mtime * 1000),
            data_change=True,
            stats=json.dumps(stats, default=str),  # a date as 2026-01-31
        )


def _stats(metadata: pq.FileMetaData, schema: pa.Schema) -> dict[str, Any]:
    """Return the statistics by which readers skip a file: its row count, and the bounds of its integers and dates."""
    bounds: dict[str, tuple[Any, Any]] = {}
    columns = [metadata.schema.column(index).path for index in range(metadata.num_columns)]
    for field in schema:
        if not (pa.types.is_integer(field.type) or pa.types.is_date32(field.type)):
            continue
        index = columns.index(field.name)
        statistics = [
            metadata.row_group(group).column(index).statistics for group in range(metadata.num_row_groups)
        ]
        bounded = [each for each in statistics if each is not None and each.has_min_max]
        if bounded and all(
            each is not None and (each.has_min_max or not each.num_values) for each in statistics
        ):
            bounds[field.name] = min(each.min for each in bounded), max(each.max for each in bounded)
    return {
        "numRecords": metadata.num_rows,
        "minValues": {name: low for name, (low, _) in bounds.items()},
        "maxValues": {name: high for name, (_, high) in bounds.items()},
    }


def _open_table(folder: Path) -> DeltaTable | None:
    try:
        return DeltaTable(str(folder)) if DeltaTable.is_deltatable(str(folder)) else None
    except DeltaError as error:
        raise OperationalError(f"{folder}: {error}") from error


def _unfinished_files(folder: Path) -> list[Path]:
    """Return the files of a first copy that died before its commit.

    Files of later copies are left to VACUUM. Files of others are left alone: a folder of Parquet files is no copy into
    Delta, and neither is one whose log was removed.
    """
    states = folder / STATES
    if not states.is_dir() or (folder / "_delta_log").exists():
        return []
    if any(each.name not in ("1.json", "1.json.new") for each in states.iterdir()):
        return []
    return sorted(path for path in folder.glob("part-*.parquet") if OUR_FILE.fullmatch(path.name))


def _type(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return pa.timestamp("us")
    refused = pa.types.is_time(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind)
    return None if refused else kind
