"""Parquet files that copies write: what pyarrow and others read from them is what was written."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from informix_arrow.copies import tables
from informix_arrow.copies.checks import Checks
from informix_arrow.copies.overlapping import Abandoned, Ahead, overlapped
from informix_arrow.copies.tables import TableWriter

DAY = dt.date(2026, 1, 31)

#: Types, and what makes a value of so many different ones.
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
    """A table of every type; a column after those under test."""
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
    """NULLs, pieces of batches that begin anywhere, row groups."""
    monkeypatch.setattr(tables, "GROUP_BYTES", 1 << 20)
    table = made(9000, different, nulls, different)
    whole = table.combine_chunks().to_batches()[0]
    cuts = [0, 1, 10, 2058, 2063, 6001, 9000]
    pieces = [whole.slice(start, end - start) for start, end in itertools.pairwise(cuts)]
    data = written(table, iter(pieces))
    told = pq.read_metadata(io.BytesIO(data))
    assert told.num_rows == 9000
    assert told.num_row_groups >= 2 or nulls == 1
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
    checks = Checks(table.schema)
    for batch in table.slice(13, 400).to_batches():
        checks.add(batch)
    told = checks.to_json()
    for name in ("text", "large", "bytes", "long"):
        values = [each for each in table[name].slice(13, 400).to_pylist() if each is not None]
        data = [each.encode() if isinstance(each, str) else each for each in values]
        assert told[name] == {"values": len(data), "sum": sum(sum(each) + 257 * len(each) for each in data)}
    for name, bits in (("int8", 8), ("int16", 16), ("int32", 32), ("int64", 64)):
        values = [each for each in table[name].slice(13, 400).to_pylist() if each is not None]
        assert told[name]["sum"] == sum(each % 2**bits for each in values) % 2**64
    by_dictionary = pa.record_batch(
        {name: table[name].combine_chunks().dictionary_encode() for name in ("text", "long")}
    )
    same = Checks(table.select(["text", "long"]).schema)
    same.add(by_dictionary.slice(13, 400))
    assert {name: told[name] for name in ("text", "long")} == same.to_json()


# ---- reading and writing at once ----------------------------------------------------------------


def _batches(count: int) -> Iterator[pa.RecordBatch]:
    for number in range(count):
        yield pa.record_batch({"n": pa.array([number] * 1000)})


def test_batches_arrive_in_order_within_their_room() -> None:
    def work(ahead: Ahead) -> list[int]:
        return [batch["n"][0].as_py() for batch in ahead]

    assert overlapped(_batches(50), work, room=20_000) == list(range(50))


def test_the_first_error_of_either_side_ends_both() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from _batches(3)
        raise RuntimeError("reading")

    met: list[BaseException] = []

    def work(ahead: Ahead) -> None:
        try:
            for _ in ahead:
                pass
        except Abandoned as error:
            met.append(error)
            raise

    with pytest.raises(RuntimeError, match="reading"):
        overlapped(broken(), work)
    assert len(met) == 1

    taken = 0

    def fails(ahead: Ahead) -> None:
        nonlocal taken
        for _ in ahead:
            taken += 1
            if taken == 2:
                raise OSError("writing")

    with pytest.raises(OSError, match="writing"):
        overlapped(_batches(1000), fails, room=20_000)
