"""`.unl` files written and read on one core: `pytest benchmarks/test_unl.py`.

The limits are in MB of the file for each second of CPU: 200 to write, 150 to read. The file lies where temporary files
do; its disk is not what is measured.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from informix_arrow.unl import read_unl, write_unl

ROWS = 300_000
WRITE, READ = 200, 150  # MB/s

TYPES = {
    "id": "SERIAL", "amount": "BIGINT", "price": "DECIMAL(12,2)", "rate": "FLOAT", "day": "DATE",
    "moment": "DATETIME YEAR TO FRACTION(3)", "paid": "BOOLEAN", "code": "CHAR(10)", "name": "VARCHAR(40)",
    "note": "LVARCHAR(300)",
}  # fmt: skip
WORDS = np.array(["alpha", "beta", "the quick brown fox", "jumps over", "the lazy dog|and more", "x"])


def orders() -> pa.Table:
    random = np.random.default_rng(1)
    cents = pa.array(random.integers(-(10**9), 10**9, ROWS)).cast(pa.decimal128(21, 2))
    return pa.table(
        {
            "id": pa.array(np.arange(ROWS), pa.int32()),
            "amount": random.integers(-(10**12), 10**12, ROWS),
            "price": cents.cast(pa.decimal128(12, 2)),
            "rate": np.round(random.normal(size=ROWS) * 1000, 3),
            "day": pa.array(random.integers(0, 20_000, ROWS), pa.int32()).cast(pa.date32()),
            "moment": pa.array(random.integers(0, 16 * 10**11, ROWS)).cast(pa.timestamp("ms")),
            "paid": random.integers(0, 2, ROWS).astype(bool),
            "code": WORDS[random.integers(0, 6, ROWS)],
            "name": WORDS[random.integers(0, 6, ROWS)],
            "note": WORDS[random.integers(0, 6, ROWS)],
        }
    )


def floats() -> pa.Table:
    values = np.random.default_rng(1).normal(size=ROWS) * 1000
    return pa.table({"all_digits": values, "three": np.round(values, 3)})


TABLES = {"orders": (orders, TYPES), "floats": (floats, {"all_digits": "FLOAT", "three": "FLOAT"})}


def drain(path: Path, types: dict[str, str]) -> int:
    return sum(batch.num_rows for batch in read_unl(path, types))


@pytest.mark.parametrize("way", ["write", "read"])
@pytest.mark.parametrize("name", TABLES)
def test_unl(benchmark: Any, tmp_path: Path, name: str, way: str) -> None:
    make, types = TABLES[name]
    table, path = make(), tmp_path / f"{name}.unl"
    write_unl(table, path, types)
    size = path.stat().st_size / 1e6
    seconds: list[float] = []

    def run() -> None:
        begin = time.thread_time()
        rows = write_unl(table, path, types) if way == "write" else drain(path, types)
        seconds.append(time.thread_time() - begin)
        assert rows == ROWS

    benchmark.pedantic(run, rounds=10, warmup_rounds=1)
    rate = size / min(seconds)
    benchmark.extra_info["MB/s of CPU"] = round(rate)
    assert rate > (WRITE if way == "write" else READ)
