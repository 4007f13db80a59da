"""Two million rows through the insert cursor: no deadlock, no lost rows, and it takes only seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import informix_arrow as ifx

ROWS = 2_000_000
BATCH = 100_000

pytestmark = pytest.mark.slow


def batches() -> Iterator[pa.RecordBatch]:
    for start in range(0, ROWS, BATCH):
        keys = pa.array(range(start, start + BATCH), pa.int32())
        yield pa.record_batch({"k": keys, "n": pc.negate(keys), "tail": pc.add(keys, 7)})


def test_two_million_rows_never_deadlock(server_process: str) -> None:
    """The transport gives up after 30 seconds of silence. The server has the same count, sum and extremes."""
    with ifx.connect(server_process, autocommit=True, read_timeout=30.0) as conn:
        conn.execute("CREATE TABLE two_million (k INTEGER, n INTEGER, tail INTEGER)")
        try:
            report = conn.write_arrow("two_million", batches(), method="put")
            assert (report.rows, report.method, report.commits) == (ROWS, "put", 1)
            found = conn.read_arrow(
                "SELECT COUNT(*)::BIGINT AS c, COUNT(DISTINCT k)::BIGINT AS keys, SUM(k::BIGINT)::BIGINT AS s, "
                "SUM(n::BIGINT)::BIGINT AS n, MIN(tail - k) AS low, MAX(tail - k) AS high FROM two_million"
            ).to_pylist()
        finally:
            conn.execute("DROP TABLE two_million")
    total = ROWS * (ROWS - 1) // 2
    assert found == [{"c": ROWS, "keys": ROWS, "s": total, "n": -total, "low": 7, "high": 7}]
