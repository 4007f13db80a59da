"""Parquet files written by copies: pyarrow and other readers read the values that were written."""

from __future__ import annotations

import datetime as dt
import errno
import io
import itertools
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import informix_arrow as ifx
from informix_arrow.replicate import folders, parquet_tables, parquet_writer
from informix_arrow.replicate.checksums import ColumnChecksums
from informix_arrow.replicate.folders import Syncing
from informix_arrow.replicate.parquet_writer import TableWriter
from informix_arrow.replicate.prefetch import PrefetchBuffer, SourceFailed, process_in_thread
from informix_arrow.replicate.state import CopyRows

pytestmark = pytest.mark.slow

DAY = dt.date(2026, 1, 31)

#: Types, and functions that return the value with the given number.
KINDS: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "int8": (pa.int8(), lambda n: n % 256 - 128),
    "int16": (pa.int16(), lambda n: n % 65536 - 32768),
    "int32": (pa.int32(), lambda n: n * 70_001 % 2**32 - 2**31),
    "int64": (pa.int64(), lambda n: n * 0x9E3779B97F4A7C15 % 2**64 - 2**63),
    "float32": (pa.float32(), lambda n: n - 3.5),
    "float64": (pa.float64(), lambda n: n / 7 - 1e300),
    "bool": (pa.bool_(), lambda n: n % 2 == 0),
    "date": (pa.date32(), lambda n: DAY - dt.timedelta(n)),
    "seconds": (pa.timestamp("s"), lambda n: dt.datetime(9999, 12, 31) - dt.timedelta(seconds=n)),
    "micro": (pa.timestamp("us"), lambda n: dt.datetime(2026, 1, 1) - dt.timedelta(microseconds=n)),
    "time": (pa.time64("us"), lambda n: dt.time(n % 24, 5, 6, n % 1_000_000)),
    "span": (pa.duration("us"), lambda n: dt.timedelta(seconds=n, microseconds=-n)),
    "narrow": (pa.decimal128(5, 2), lambda n: Decimal(n % 99_999 - 50_000).scaleb(-2)),
    "wide": (pa.decimal128(32, 10), lambda n: Decimal((n - 5) * 10**25 + n).scaleb(-10)),
    "text": (pa.string(), lambda n: "é" * (n % 12) + str(n)),
    "large": (pa.large_string(), lambda n: f"{n}"),
    "bytes": (pa.binary(), lambda n: n.to_bytes(4, "little")),
    "long": (pa.large_binary(), lambda n: bytes([n % 256]) * 100),
}


def made(rows: int, different: int, nulls: float, seed: int) -> pa.Table:
    """Return a table of every type, with a sentinel as last column."""
    chosen = random.Random(f"{seed}")
    columns = {}
    for name, (kind, value) in KINDS.items():
        values = [
            None if chosen.random() < nulls else value(chosen.randrange(different)) for _ in range(rows)
        ]
        columns[name] = pa.array(values, kind)
    columns["after"] = pa.array(range(rows), pa.int32())
    return pa.table(columns)


def written(table: pa.Table, batches: Iterator[pa.RecordBatch] | None = None) -> bytes:
    file = pa.BufferOutputStream()
    with TableWriter(file, table.schema) as writer:
        for batch in batches or table.to_batches():
            writer.write(batch)
    return bytes(file.getvalue())


def assert_is_read(data: bytes, table: pa.Table) -> None:
    found = pq.read_table(io.BytesIO(data))
    found.validate(full=True)
    for name in table.column_names:
        assert found[name].to_pylist() == table[name].to_pylist(), name


@pytest.mark.parametrize("nulls", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("different", [1, 3, 200, 100_000])
def test_what_is_read_is_what_was_written(different: int, nulls: float, monkeypatch: Any) -> None:
    """The table has NULLs, its batches are sliced at any offset, and the file has several row groups."""
    monkeypatch.setattr(parquet_writer, "GROUP_BYTES", 1 << 20)
    table = made(9000, different, nulls, different)
    whole = table.combine_chunks().to_batches()[0]
    cuts = [0, 1, 10, 2058, 2063, 6001, 9000]
    pieces = [whole.slice(start, end - start) for start, end in itertools.pairwise(cuts)]
    data = written(table, iter(pieces))
    reported = pq.read_metadata(io.BytesIO(data))
    assert reported.num_rows == 9000
    assert reported.num_row_groups >= 2 or nulls == 1
    assert_is_read(data, table)


def test_a_file_without_rows_has_its_columns_and_lists_are_written() -> None:
    table = made(0, 1, 0, 0)
    found = pq.read_table(io.BytesIO(written(table)))
    assert (found.num_rows, found.schema.names) == (0, table.schema.names)
    nested = pa.table({"l": [[1, 2], None, []], "after": [1, 2, 3]})
    assert_is_read(written(nested), nested)


def test_columns_that_may_not_be_null_and_names_of_any_kind() -> None:
    schema = pa.schema(
        [pa.field("a.b", pa.int32(), nullable=False), pa.field("ü", pa.string(), nullable=False)]
    )
    table = pa.table({"a.b": pa.array([1, 2], pa.int32()), "ü": ["x", "y"]}, schema=schema)
    data = written(table)
    assert_is_read(data, table)
    assert not pq.read_schema(io.BytesIO(data)).field("ü").nullable


def test_other_readers_find_the_same(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    table = made(5000, 300, 0.2, 3).drop_columns(["span"])
    place = tmp_path / "t.parquet"
    place.write_bytes(written(table))
    found = duckdb.sql(f"SELECT * FROM '{place}'").to_arrow_table()
    few = duckdb.sql(f"SELECT count(*) FROM '{place}' WHERE int16 > 0 AND text >= 'é'").fetchall()
    for name in table.column_names:
        assert found[name].to_pylist() == table[name].to_pylist(), name
    rows = zip(table["int16"].to_pylist(), table["text"].to_pylist(), strict=True)
    assert few == [
        (sum(1 for n, text in rows if n is not None and n > 0 and text is not None and text >= "é"),)
    ]


def test_sums_are_those_of_plain_python() -> None:
    table = made(500, 100, 0.2, 4)
    checks = ColumnChecksums(table.schema)
    for batch in table.slice(13, 400).to_batches():
        checks.add(batch)
    reported = checks.to_json()
    for name in ("text", "large", "bytes", "long"):
        values = [each for each in table[name].slice(13, 400).to_pylist() if each is not None]
        data = [each.encode() if isinstance(each, str) else each for each in values]
        assert reported[name] == {
            "values": len(data),
            "sum": sum(sum(each) + 257 * len(each) for each in data),
        }
    for name, bits in (("int8", 8), ("int16", 16), ("int32", 32), ("int64", 64)):
        values = [each for each in table[name].slice(13, 400).to_pylist() if each is not None]
        assert reported[name]["sum"] == sum(each % 2**bits for each in values) % 2**64
    by_dictionary = pa.record_batch(
        {name: table[name].combine_chunks().dictionary_encode() for name in ("text", "long")}
    )
    same = ColumnChecksums(table.select(["text", "long"]).schema)
    same.add(by_dictionary.slice(13, 400))
    assert {name: reported[name] for name in ("text", "long")} == same.to_json()


# ---- reading and writing at once ----------------------------------------------------------------


def _batches(count: int) -> Iterator[pa.RecordBatch]:
    for number in range(count):
        yield pa.record_batch({"n": pa.array([number] * 1000)})


def _nothing_to_cancel() -> None:
    pass


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_batches_arrive_in_order_within_their_room(pool: ThreadPoolExecutor) -> None:
    def work(ahead: PrefetchBuffer) -> list[int]:
        return [batch["n"][0].as_py() for batch in ahead]

    assert process_in_thread(_batches(50), work, pool, _nothing_to_cancel, room=20_000) == list(range(50))


def test_the_first_error_of_either_side_ends_both(pool: ThreadPoolExecutor) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from _batches(3)
        raise RuntimeError("reading")

    met: list[BaseException] = []

    def work(ahead: PrefetchBuffer) -> None:
        try:
            for _ in ahead:
                pass
        except SourceFailed as error:
            met.append(error)
            raise

    with pytest.raises(RuntimeError, match="reading"):
        process_in_thread(broken(), work, pool, _nothing_to_cancel)
    assert len(met) == 1

    taken = 0

    def fails(ahead: PrefetchBuffer) -> None:
        nonlocal taken
        for _ in ahead:
            taken += 1
            if taken == 2:
                raise OSError("writing")

    with pytest.raises(OSError, match="writing"):
        process_in_thread(_batches(1000), fails, pool, _nothing_to_cancel, room=20_000)


def test_an_error_of_the_writer_ends_the_wait_for_rows(pool: ThreadPoolExecutor) -> None:
    cancelled = threading.Event()

    def waiting() -> Iterator[pa.RecordBatch]:
        yield from _batches(1)
        if not cancelled.wait(60):
            raise AssertionError("nobody has ended the wait")
        raise RuntimeError("canceled")

    def fails(ahead: PrefetchBuffer) -> None:
        next(ahead)
        raise OSError("writing")

    with pytest.raises(OSError, match="writing"):
        process_in_thread(waiting(), fails, pool, cancelled.set)


# ---- how columns are encoded --------------------------------------------------------------------


def _encodings(data: bytes) -> dict[str, set[str]]:
    reported = pq.read_metadata(io.BytesIO(data))
    group = reported.row_group(0)
    return {
        group.column(place).path_in_schema: {*group.column(place).encodings, group.column(place).compression}
        for place in range(reported.num_columns)
    }


def _without_bounds(data: bytes) -> set[str]:
    group = pq.read_metadata(io.BytesIO(data)).row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    return {each.path_in_schema for each in columns if not each.is_stats_set}


def test_the_first_rows_say_how_columns_are_encoded() -> None:
    """Numbers are encoded by their differences if these are small, and by a dictionary if there are few values far
    apart. Texts have no dictionary if all differ, and bounds if they are in order. For readers that cannot unpack
    numbers, none is packed, and all have bounds."""
    chosen, count = random.Random(7), 20_000
    far = [chosen.randrange(2**40) for _ in range(9)]
    table = pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "few": pa.array([chosen.choice(far) for _ in range(count)], pa.int64()),
            "nothing": pa.nulls(count, pa.int32()),
            "day": pa.array([DAY - dt.timedelta(n // 900) for n in range(count)], pa.date32()),
            "at": pa.array(
                [dt.datetime(2026, 1, 1) + dt.timedelta(seconds=n) for n in range(count)], "timestamp[s]"
            ),
            "code": [str(n % 40) for n in range(count)],
            "text": [f"{chosen.random()}" for _ in range(count)],
            "in order": [f"{n:07}" for n in range(count)],
            "extremes": pa.array([(-1) ** n * (2**63 - 1) for n in range(count)], pa.int64()),
            "after": pa.array(range(count), pa.int32()),
        }
    )
    data = written(table)
    found = _encodings(data)
    packed = {name for name, used in found.items() if "DELTA_BINARY_PACKED" in used}
    assert packed == {"id", "day", "at", "extremes", "after"}  # differences overflow, as the format allows
    assert {name for name, used in found.items() if "RLE_DICTIONARY" in used} == {
        "few",
        "nothing",
        "code",
    }
    assert {name for name, used in found.items() if "SNAPPY" in used} == packed | {"few", "nothing", "code"}
    assert _without_bounds(data) == {"code", "text"}
    assert_is_read(data, table)
    file = pa.BufferOutputStream()
    with TableWriter(file, table.schema, packed=False) as writer:
        writer.write(table.to_batches()[0])
    plain = bytes(file.getvalue())
    assert not any({"DELTA_BINARY_PACKED", "SNAPPY"} & used for used in _encodings(plain).values())
    assert not _without_bounds(plain)
    assert_is_read(plain, table)


class _Memory:
    """A table of files in memory."""

    has_empty_files = packed = True
    partition_by: tuple[str, ...] = ()
    parquet_tables: tuple[str, ...] = ()

    def __init__(self, schema: pa.Schema, damage: Callable[[bytes], bytes] = lambda data: data) -> None:
        self.schema = schema
        self.kept: dict[str, bytes] = {}
        self.synced = False
        self.damage = damage

    @contextmanager
    def create(self, name: str) -> Iterator[Any]:
        with io.BytesIO() as file:
            yield file
            self.kept[name] = self.damage(file.getvalue())

    def open(self, name: str) -> Any:
        return io.BytesIO(self.kept[name])

    def sync(self) -> None:
        self.synced = True

    def commit(self, state: Any, adding: Any, removing: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("readers", [1, 3])
def test_each_row_group_is_read_back(readers: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(parquet_writer, "GROUP_BYTES", 8000)
    monkeypatch.setattr(parquet_tables, "READERS", readers)
    table = pa.table({"n": pa.array(range(8000), pa.int64()), "after": ["x"] * 8000})

    def copied(other: int | None) -> _Memory:
        """Return the copied table. With ``other`` the stored file has another value in that row."""

        def damage(data: bytes) -> bytes:
            assert pq.read_metadata(io.BytesIO(data)).num_row_groups > 5
            if other is None:
                return data
            numbers = [-1 if n == other else n for n in range(8000)]
            out = pa.BufferOutputStream()
            pq.write_table(table.set_column(0, "n", pa.array(numbers, pa.int64())), out, row_group_size=500)
            return bytes(out.getvalue())

        change, checks = _Memory(table.schema, damage), ColumnChecksums(table.schema)

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in table.to_batches(max_chunksize=100):
                checks.add(batch)
                yield batch

        assert len(parquet_tables.write_files("t", change, CopyRows(table.schema, batches(), checks))) == 1
        return change

    assert copied(None).synced
    for other in (3, 4000, 7999):
        with pytest.raises(ifx.OperationalError, match="the column n is not what was read"):
            copied(other)


def test_what_cannot_be_brought_to_the_disk_is_reported(tmp_path: Path, monkeypatch: Any) -> None:
    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "no room")

    syncing = Syncing()
    with syncing.create(tmp_path / "a") as file:
        file.write(b"x")
    syncing.wait()
    monkeypatch.setattr(folders, "sync_path", full)
    with syncing.create(tmp_path / "b") as file:
        file.write(b"x")
    with pytest.raises(OSError, match="No space left") as reported:
        syncing.wait()
    assert reported.value.filename == str(tmp_path / "b")
