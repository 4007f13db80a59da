"""A million rows of INT, VARCHAR(64), INT, FLOAT and DATE are inserted and read back over TCP."""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import informix_arrow as ifx

ROWS = 1_000_000
CHUNK = 20_000
DRAWN = 40_000
"""Random rows to insert. The table is appended to itself with other keys until it has `ROWS` rows."""
SCHEMA = pa.schema(
    [("k", pa.int32()), ("name", pa.string()), ("n", pa.int32()), ("x", pa.float64()), ("d", pa.date32())]
)
MEMORY_LIMIT_MB = 100

pytestmark = pytest.mark.slow

STREAM = """
import json, resource, sys
import informix_arrow as ifx

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

with ifx.connect(sys.argv[1]) as conn:
    conn.read_arrow("SELECT FIRST 10 * FROM million")
    before = peak()
    rows = total = 0
    with conn.query("SELECT * FROM million") as result:
        for batch in result.batches():
            rows += batch.num_rows
            total += batch.nbytes
    print(json.dumps({"rows": rows, "bytes": total, "growth": peak() - before}))
"""


def chunk_of_rows(seed: int) -> list[tuple[object, ...]]:
    """Return `CHUNK` rows of varied values: lengths 0..64 odd and even, multi-byte text, NULLs, extremes of every
    type."""
    r = random.Random(seed)
    alphabet = "abcdefghijklmnopqrstuvwxyz äöüß€日本"
    text = "".join(r.choices(alphabet, k=4096))
    first_day, last_day = datetime.date(1, 1, 1).toordinal(), datetime.date(9999, 12, 31).toordinal()
    rows: list[tuple[object, ...]] = []
    for i in range(CHUNK):
        at, length = r.randrange(4000), r.randrange(21)
        rows.append(
            (
                seed * CHUNK + i,
                None
                if i % 17 == 0
                else text[at : at + length],  # at most 21 characters of 3 bytes: 64 bytes hold them
                None
                if i % 13 == 0
                else r.choice((r.randint(-100, 100), 2**31 - 1, 1 - 2**31, r.getrandbits(30))),
                None if i % 11 == 0 else r.choice((0.0, -0.0, r.uniform(-1e9, 1e9), 1e300, 5e-324)),
                None if i % 7 == 0 else datetime.date.fromordinal(r.randint(first_day, last_day)),
            )
        )
    return rows


@pytest.fixture(scope="module")
def million(server_process: str) -> Iterator[tuple[str, pa.Table]]:
    """URL of a database with the table `million`, and the Arrow table that was inserted."""
    url = server_process
    batches = []
    with ifx.connect(url) as conn:
        cursor = conn.cursor()
        cursor.execute("CREATE TABLE million (k INT, name VARCHAR(64), n INT, x FLOAT, d DATE)")
        for seed in range(DRAWN // CHUNK):
            rows = chunk_of_rows(seed)
            cursor.executemany("INSERT INTO million VALUES (?, ?, ?, ?, ?)", rows)
            columns = [
                pa.array(values, type_)
                for values, type_ in zip(zip(*rows, strict=True), SCHEMA.types, strict=True)
            ]
            batches.append(pa.record_batch(columns, schema=SCHEMA))
        drawn = pa.Table.from_batches(batches)
        copies = [drawn]
        for first in range(DRAWN, ROWS, DRAWN):
            cursor.execute(
                f"INSERT INTO million SELECT k + {first}, name, n, x, d FROM million WHERE k < {DRAWN}"
            )
            assert cursor.rowcount == DRAWN
            copies.append(
                drawn.set_column(0, SCHEMA.field("k"), pc.cast(pc.add(drawn["k"], first), pa.int32()))
            )
        conn.commit()
    yield url, pa.concat_tables(copies)
    with ifx.connect(url) as conn:
        conn.cursor().execute("DROP TABLE million")
        conn.commit()


def test_a_million_rows_come_out_equal_to_what_was_put_in(million: tuple[str, pa.Table]) -> None:
    url, expected = million
    with ifx.connect(url) as conn:
        table = conn.read_arrow("SELECT k, name, n, x, d FROM million ORDER BY k")
    assert table.num_rows == ROWS
    assert table.replace_schema_metadata().cast(SCHEMA).equals(expected)


def test_streaming_a_million_rows_keeps_memory_bounded(million: tuple[str, pa.Table]) -> None:
    url, _ = million
    run = subprocess.run(
        [sys.executable, "-c", STREAM, url], capture_output=True, text=True, check=True, timeout=300
    )
    seen = json.loads(run.stdout)
    assert seen["rows"] == ROWS
    assert seen["growth"] < MEMORY_LIMIT_MB, seen
