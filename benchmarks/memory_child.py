"""The child of test_memory.py: one mode, one table, its memory as JSON. Arguments: mode, table, rows, connection."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import informix_arrow as ifx

MEGA = 1e6
BUDGET = 64 << 20  # of a parallel read
ALIGNMENT = 16  # bytes in which CPython's allocator gives memory to objects


def resident(field: str) -> float:
    """VmRSS or VmHWM in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / MEGA
    raise RuntimeError(f"no {field} here")


def size_of(rows: list[tuple[object, ...]], step: int = 1) -> int:
    """Bytes of the Python objects of rows, each counted once, in whole steps."""
    objects = {id(each): each for row in rows for each in (row, *row)}
    return sum(-(-sys.getsizeof(each) // step) * step for each in (rows, *objects.values()))


def batches(rows: int) -> Iterator[pa.RecordBatch]:
    step = 10_000
    for start in range(0, rows, step):
        numbers = pa.array(range(start, start + step), pa.int32())
        yield pa.record_batch(
            {"k": numbers, "name": [f"customer number {i}" for i in range(start, start + step)]}
        )


def main(mode: str, table: str, rows: int, arguments: dict[str, object]) -> dict[str, object]:
    sql = f"SELECT k, name, n, x, d FROM {table}"
    with ifx.connect(autocommit=True, **arguments) as conn:  # type: ignore[arg-type]
        conn.read_arrow(f"SELECT FIRST 10 k, name, n, x, d FROM {table}").to_pylist()
        if mode == "cursor":  # a huge page of 2 MB is for whichever rows come first
            conn.execute(f"SELECT FIRST 10 k, name, n, x, d FROM {table}").fetchall()
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before, arrow = resident("VmRSS"), 0
        kept: list[tuple[object, ...]] = []
        if mode == "read_arrow":
            whole = conn.read_arrow(sql)
            assert whole.num_rows == rows
            arrow = whole.nbytes
        elif mode == "stream":
            seen = 0
            for batch in conn.query(sql, batch_bytes=4 << 20).batches():
                seen += batch.num_rows
                arrow = max(arrow, batch.nbytes)
            assert seen == rows
        elif mode == "partition_read":
            seen = 0
            with ifx.partition_read(conn, table, "k", 16, connections=2, memory_budget=BUDGET) as result:
                for batch in result.batches():
                    seen += batch.num_rows
                    arrow = max(arrow, batch.nbytes)
            assert seen == rows
        elif mode == "cursor":
            kept = conn.execute(sql).fetchall()
            assert len(kept) == rows
        else:
            conn.execute("CREATE TEMP TABLE memory_load (k INT, name VARCHAR(64))")
            reader = pa.RecordBatchReader.from_batches(next(batches(10_000)).schema, batches(rows))
            assert conn.write_arrow("memory_load", reader).rows == rows
        peak = resident("VmHWM")
    return {
        "before_mb": before,
        "peak_mb": peak,
        "arrow_mb": arrow / MEGA,
        "objects_mb": size_of(kept) / MEGA,
        "taken_mb": size_of(kept, ALIGNMENT) / MEGA,
    }


if __name__ == "__main__":
    name, source, count, connection = sys.argv[1:]
    print(json.dumps(main(name, source, int(count), json.loads(connection))))
