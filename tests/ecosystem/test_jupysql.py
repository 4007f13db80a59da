"""jupysql in IPython: queries into Polars and pandas, snippets with ``--with``, and what it says of tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

JOB = Path(__file__).with_name("jupysql_job.py")
JUPYSQL = ("jupysql==0.11.1", "ipython")
TABLE = "id INT NOT NULL PRIMARY KEY, customer VARCHAR(20), total DECIMAL(8,2), day DATE, paid BOOLEAN"
ROWS = [
    [1, "é", "12.50", "2024-02-29", True],
    [2, None, None, None, None],
    [3, "", "0.10", "1900-01-01", True],
]


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_notebook_queries_composes_and_writes(tmp_path: Path) -> None:
    python = environment("jupysql", *JUPYSQL)
    with Server() as server:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as conn:
            conn.execute(f"CREATE TABLE orders ({TABLE})")
            for row in ROWS:
                conn.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", row)
            conn.execute("CREATE VIEW valued (id, total) AS SELECT id, total FROM orders WHERE total > 0")
        home = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path), "PLOOMBER_STATS_ENABLED": "false"}
        printed = run(str(python), str(JOB), server.url("shop"), env=home, cwd=tmp_path)
    lines = [line[5:] for line in printed.splitlines() if line.startswith("told ")]
    told = dict(item for line in lines for item in json.loads(line).items())

    assert told["rows"] == ROWS
    assert told["informix"] == [[3, "b", "2024-02-29"]]
    assert told["variable"] == told["parameter"] == [[2], [3]]
    assert told["polars"] == [
        [[row[0], *row[2:4]] for row in ROWS],
        ["Int64", "Decimal(precision=38, scale=2)", "Date"],
    ]
    assert told["pandas"] == [[1, 2, 3], ["id", "total", "day"]]
    assert told["autopolars"] == "polars"
    assert told["with"] == [["2"]]
    assert told["with of with"] == told["name in quotes"] == [[1, "12.50"]]
    assert told["found by its name"] == [[1]]
    assert "`" not in told["snippet"]
    assert told["tables"] == [["orders"]]
    assert told["columns"] == [["id"], ["customer"], ["total"], ["day"], ["paid"]]
    assert told["view"] == [["id"], ["total"]]
    assert [line[:3] for line in told["profile"]] == [["count", "3", "2"], ["min", 1, None], ["max", 3, None]]
    assert told["after"] == [["neu"]]
    assert told["persisted"] == [[1], [2], [3]]
    assert told["assigned"] == [[1]]
