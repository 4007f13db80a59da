"""dlt: a resource of ours that yields record batches, and its own source ``sql_database`` through the dialect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

JOB = Path(__file__).with_name("dlt_job.py")
DLT = "dlt[duckdb]==1.31.0"
TABLE = (
    "id INT NOT NULL PRIMARY KEY, customer VARCHAR(20), total DECIMAL(32,2), day DATE, "
    "changed DATETIME YEAR TO FRACTION(5), clock DATETIME HOUR TO SECOND, paid BOOLEAN, large BIGINT, sentinel INT"
)
FIRST = (
    1, "é", "123456789012345678901234567890.12", "2026-01-31",
    "2026-01-01 10:00:00.123450", "23:59:58", True, 1 << 60, 7,
)  # fmt: skip
EMPTY = (2, None, None, None, "2026-01-02 10:00:00", None, None, None, 7)
CHANGED = (FIRST[0], "neu", *FIRST[2:4], "2026-01-03 10:00:00", *FIRST[5:])
ADDED = (3, "", None, None, "2026-01-04 10:00:00.000010", None, None, None, 7)


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_dlt_loads_record_batches_and_only_what_has_changed(tmp_path: Path) -> None:
    python = environment("dlt", DLT)
    with Server() as server:
        server.create_database("shop")
        url = server.url("shop")
        with ifx.connect(url, autocommit=True) as conn:
            conn.execute(f"CREATE TABLE orders ({TABLE})")
            conn.execute(
                "INSERT INTO orders VALUES (1, 'é', 123456789012345678901234567890.12, MDY(1, 31, 2026), "
                "DATETIME(2026-01-01 10:00:00.12345) YEAR TO FRACTION(5), DATETIME(23:59:58) HOUR TO SECOND, 't', "
                "1152921504606846976, 7)"
            )
            conn.execute(
                "INSERT INTO orders (id, changed, sentinel) VALUES "
                "(2, DATETIME(2026-01-02 10:00:00) YEAR TO FRACTION(5), 7)"
            )
        home = {"HOME": str(tmp_path), "DLT_DATA_DIR": str(tmp_path), "RUNTIME__DLTHUB_TELEMETRY": "false"}
        printed = run(str(python), str(JOB), url, str(tmp_path), env=home, cwd=tmp_path)
    reported = dict(
        item for line in printed.splitlines() if line[:1] == "{" for item in json.loads(line).items()
    )

    rows, types = reported["first"]
    assert rows == [list(FIRST), list(EMPTY)]
    assert types == [
        "INTEGER", "VARCHAR", "DECIMAL(32,2)", "DATE", "TIMESTAMP", "TIME", "BOOLEAN", "BIGINT", "INTEGER"
    ]  # fmt: skip
    assert reported["second"][0] == [list(row) for row in (CHANGED, EMPTY, ADDED)]
    assert reported["third"][0] == reported["second"][0]
    assert reported["asked"] == ["0001-01-01 00:00:00", "2026-01-02 10:00:00", "2026-01-04 10:00:00.000010"]
    assert set(reported["batches"]) == {"RecordBatch"}
    for backend in ("sqlalchemy", "pyarrow"):
        assert reported[backend][0] == reported["second"][0], backend
