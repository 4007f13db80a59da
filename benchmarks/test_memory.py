"""Memory: what a read or a load adds to the process, in a fresh process each.

The figure is the growth of the resident set from after the connect (and a small read, so that all code is loaded) to
its peak, sampled by the kernel (VmHWM). 10,000,000 rows only with INFORMIX_ARROW_BENCH_LARGE=1. Times are
pytest-benchmark's for the whole child and mean nothing here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from .conftest import Address
from .memory_child import BUDGET

CHILD = Path(__file__).parent / "memory_child.py"
MODES = ["read_arrow", "stream", "partition_read", "cursor", "write_arrow, streamed"]


BESIDES = 32.0  # MB that two more connections, threads and the allocator take, whatever is read
LARGE = [10_000_000] if os.environ.get("INFORMIX_ARROW_BENCH_LARGE") else []


@pytest.mark.parametrize("rows", [100_000, 1_000_000, *LARGE])
@pytest.mark.parametrize("mode", MODES)
def test_growth(
    benchmark: BenchmarkFixture, address: Address, seeded: Callable[[int], str], mode: str, rows: int
) -> None:
    if mode == "cursor" and rows > 100_000:
        pytest.skip("a million Python rows say nothing new")
    command = [sys.executable, str(CHILD), mode, seeded(rows), str(rows), json.dumps(address.arguments)]

    def child() -> dict[str, float]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    benchmark.group = "memory"
    found = benchmark.pedantic(child, rounds=3)
    benchmark.extra_info.update(
        subject=f"memory for {rows:,} rows",
        who=mode,
        rows=rows,
        growth_mb=found["peak_mb"] - found["before_mb"],
        arrow_mb=found["arrow_mb"],
        bytes_per_row=(found["peak_mb"] - found["before_mb"]) * 1e6 / rows,
        objects_mb=found["objects_mb"],  # what of it are the rows that a cursor gave
        taken_mb=found["taken_mb"],  # what these take of the allocator
    )
    if mode == "partition_read":
        assert found["peak_mb"] - found["before_mb"] < BUDGET / 1e6 + BESIDES, found
