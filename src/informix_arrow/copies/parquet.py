"""A folder of Parquet files as a target: ``DIR/table/*.parquet``, and beside them ``_informix_arrow.json``.

Files are written under names that no reader takes for data, and read back. Writing the state is what decides: it
names the files to be added and removed. Then they are renamed and deleted, which whoever comes next goes on with.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from ..wire.errors import DataError, NotSupportedError, OperationalError
from .checks import Checks
from .state import Rows, State, reconcile

STATE = "_informix_arrow.json"
LOCK = "_informix_arrow.lock"
NEW = ".new"
GROUP_BYTES = 64 << 20  # of Arrow data in a row group
FILE_BYTES = 1 << 30  # and in a file


class ParquetFolder:
    """See the module."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._path.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self._path / LOCK)

    def state(self, table: str) -> State | None:
        folder = self._folder(table)
        try:
            text = (folder / STATE).read_text(encoding="utf-8")
        except FileNotFoundError:
            for left in self._unfinished(folder):
                left.unlink()
            if folder.exists() and any(folder.iterdir()):
                raise OperationalError(
                    f"{folder} holds files that no copy has made: empty it, or choose another target"
                ) from None
            return None
        state = State.from_json(text, str(folder / STATE))
        return self._finished(table, state)

    def replace(self, table: str, rows: Rows, state: Callable[[], State]) -> State:
        before = self.state(table)
        return self._decide(table, state, self._written(table, rows), before.files if before else (), ())

    def append(self, table: str, rows: Rows, state: Callable[[], State]) -> State:
        before = self.state(table)
        added = self._written(table, rows, empty=before is None)
        return self._decide(table, state, added, (), before.files if before else ())

    def merge(self, table: str, rows: Rows, state: Callable[[], State], key: Sequence[str]) -> State:
        before = self.state(table)
        added = self._written(table, rows, empty=before is None)
        folder = self._folder(table)
        keys = _keys(table, [folder / (name + NEW) for name in added], key) if added else pa.table({})
        removed: list[str] = []
        kept: list[str] = []
        for name in before.files if before else ():
            if not added:
                kept.append(name)
                continue
            remaining = _without(folder / name, keys, key)
            if remaining is None:
                kept.append(name)
                continue
            removed.append(name)
            if remaining.num_rows:
                checks = Checks(remaining.schema)
                batches = _counted(remaining.to_batches(), checks)
                added += self._written(table, Rows(remaining.schema, batches, checks))
        return self._decide(table, state, added, removed, kept)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def _folder(self, table: str) -> Path:
        return self._path / table

    def _unfinished(self, folder: Path) -> list[Path]:
        """Files of runs that died before they decided."""
        return sorted(folder.glob("*" + NEW)) if folder.exists() else []

    def _written(self, table: str, rows: Rows, *, empty: bool = True) -> list[str]:
        """New files with these rows, read back. Without rows one that has the schema, if an ``empty`` one is wanted."""
        folder = self._folder(table)
        folder.mkdir(parents=True, exist_ok=True)
        names: list[str] = []
        run = uuid.uuid4().hex[:12]
        schema = _storable(table, rows.schema)
        batches = iter(rows.batches)
        following = next(batches, None)
        while following is not None or (empty and not names):
            name = f"part-{run}-{len(names):05}.parquet"
            with pq.ParquetWriter(folder / (name + NEW), schema, compression="zstd") as writer:
                size = 0
                group: list[pa.RecordBatch] = []
                held = 0
                while following is not None and size < FILE_BYTES:
                    group.append(following)
                    held += following.nbytes
                    size += following.nbytes
                    following = next(batches, None)
                    if held >= GROUP_BYTES or following is None or size >= FILE_BYTES:
                        whole = pa.Table.from_batches(group, rows.schema)
                        writer.write_table(whole.cast(schema), row_group_size=max(len(whole), 1))
                        group, held = [], 0
            _sync(folder / (name + NEW))
            names.append(name)
        reconcile(table, rows.checks, rows.checks.of(_read(folder / (name + NEW) for name in names)))
        return names

    def _decide(
        self,
        table: str,
        state: Callable[[], State],
        adding: Sequence[str],
        removing: Sequence[str],
        kept: Sequence[str],
    ) -> State:
        folder = self._folder(table)
        paths = [*(folder / name for name in kept), *(folder / (name + NEW) for name in adding)]
        count = sum(pq.read_metadata(path).num_rows for path in paths)
        decided = replace(
            state(),
            rows=count,
            files=(*kept, *adding),
            adding=tuple(adding),
            removing=tuple(removing),
        )
        _write(folder / STATE, decided.to_json())
        return self._finished(table, decided)

    def _finished(self, table: str, state: State) -> State:
        """Do what was decided, however often it was begun."""
        folder = self._folder(table)
        for name in state.adding:
            if not (folder / name).exists():
                os.replace(folder / (name + NEW), folder / name)
        for name in state.removing:
            (folder / name).unlink(missing_ok=True)
        for left in self._unfinished(folder):
            left.unlink()
        missing = [name for name in state.files if not (folder / name).exists()]
        if missing:
            raise OperationalError(
                f"{folder}: {missing[0]} is gone, which the last copy has made: remove the folder and copy anew"
            )
        if state.adding or state.removing:
            state = replace(state, adding=(), removing=())
            _write(folder / STATE, state.to_json())
        return state


def _storable(table: str, schema: pa.Schema) -> pa.Schema:
    """The schema as Parquet has it; ``NotSupportedError`` for what it cannot hold."""
    fields = []
    for each in schema:
        if pa.types.is_time32(each.type):
            each = each.with_type(pa.time32("ms"))  # Parquet has no times in seconds
        if pa.types.is_interval(each.type):
            raise NotSupportedError(f"{table}.{each.name}: Parquet has no type for {each.type}")
        fields.append(each)
    return pa.schema(fields, schema.metadata)


def _keys(table: str, paths: Sequence[Path], key: Sequence[str]) -> pa.Table:
    """The keys of new rows; each must be there, and once."""
    found = pa.concat_tables([pq.read_table(path, columns=list(key)) for path in paths])
    for name in key:
        if found[name].null_count:
            raise DataError(
                f"{table}: a row has no {name}, which is in the key: rows cannot be merged by it", column=name
            )
    counted = found.group_by(list(key)).aggregate([([], "count_all")])
    if counted.num_rows != found.num_rows:
        twice = (
            counted.filter(pc.greater(counted["count_all"], 1)).slice(0, 1).select(list(key)).to_pylist()[0]
        )
        text = ", ".join(f"{name}={value!r}" for name, value in twice.items())
        raise DataError(f"{table}: two rows have the key {text}: {', '.join(key)} is no key")
    return found


def _without(path: Path, keys: pa.Table, key: Sequence[str]) -> pa.Table | None:
    """The rows of a file whose key is not among these; None when that is all of them."""
    old = pq.read_table(path, columns=list(key))
    numbered = old.append_column("row number", pa.array(range(old.num_rows), pa.int64()))
    kept = numbered.join(keys.cast(old.schema), list(key), join_type="left anti")["row number"]
    if len(kept) == old.num_rows:
        return None
    numbers = kept.combine_chunks()
    return pq.read_table(path).take(numbers.take(pc.sort_indices(numbers)))


def _counted(batches: Sequence[pa.RecordBatch], checks: Checks) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        checks.add(batch)
        yield batch


def _read(paths: Iterator[Path]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=1 << 17)


def _locked(path: Path) -> int | None:
    """Keep others out for as long as this program lives; where files cannot be locked, nobody is kept out."""
    if fcntl is None:
        return None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise OperationalError(f"{path.parent}: another copy is writing to it") from None
    return handle


def _write(path: Path, text: str) -> None:
    """A small file, whole or not at all."""
    new = path.with_name(path.name + NEW)
    new.write_text(text, encoding="utf-8")
    _sync(new)
    os.replace(new, path)
    if os.name == "posix":
        _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
