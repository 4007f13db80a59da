"""jupysql in IPython: queries into Polars and pandas, snippets with ``--with``, and metadata of tables."""

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
    lines = [line.removeprefix("result ") for line in printed.splitlines() if line.startswith("result ")]
    reported = dict(item for line in lines for item in json.loads(line).items())

    assert reported["rows"] == ROWS
    assert reported["informix"] == [[3, "b", "2024-02-29"]]
    assert reported["variable"] == reported["parameter"] == [[2], [3]]
    assert reported["polars"] == [
        [[row[0], *row[2:4]] for row in ROWS],
        ["Int64", "Decimal(precision=38, scale=2)", "Date"],
    ]
    assert reported["pandas"] == [[1, 2, 3], ["id", "total", "day"]]
    assert reported["autopolars"] == "polars"
    assert reported["with"] == [["2"]]
    assert reported["with of with"] == reported["name in quotes"] == [[1, "12.50"]]
    assert reported["found by its name"] == [[1]]
    assert "`" not in reported["snippet"]
    assert reported["tables"] == [["orders"]]
    assert reported["columns"] == [["id"], ["customer"], ["total"], ["day"], ["paid"]]
    assert reported["view"] == [["id"], ["total"]]
    assert [line[:3] for line in reported["profile"]] == [
        ["count", "3", "2"],
        ["min", 1, None],
        ["max", 3, None],
    ]
    assert reported["after"] == [["neu"]]
    assert reported["persisted"] == [[1], [2], [3]]
    assert reported["assigned"] == [[1]]
