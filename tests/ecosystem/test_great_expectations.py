"""Great Expectations through the SQLAlchemy dialect: expectations about a table and a query, met and not met."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

JOB = Path(__file__).with_name("great_expectations_job.py")
GREAT_EXPECTATIONS = "great_expectations==1.24.1"
NOT_MET = {"expect_column_values_to_not_be_null customer", "expect_column_values_to_be_between day"}


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_great_expectations_asks_a_table_and_a_query(tmp_path: Path) -> None:
    python = environment("great-expectations", GREAT_EXPECTATIONS)
    with Server() as server:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as conn:
            conn.execute(
                "CREATE TABLE orders (id INT, customer VARCHAR(20), total DECIMAL(12,2), day DATE, "
                "at DATETIME YEAR TO SECOND, sentinel INT)"
            )
            for row in (
                (1, "r\u00e9veil", "12.50", "2026-01-31", "2026-01-31 10:00:00", 7),
                (2, None, None, None, None, 7),
                (3, "", "-0.01", "2026-02-01", None, 7),
                (4, "b'c", "1.00", "2026-12-31", None, 7),
            ):
                conn.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", row)
        env = {
            "INFORMIX_URL": server.url("shop"),
            "HOME": str(tmp_path),
            "GX_ANALYTICS_ENABLED": "False",
        }
        printed = run(str(python), str(JOB), env=env, cwd=tmp_path)
    (line,) = [line.removeprefix("result ") for line in printed.splitlines() if line.startswith("result ")]
    reported = json.loads(line)
    assert reported.pop("query") == [1, 1, "12.50"]
    assert len(reported) == 23
    assert {name: met for name, met in reported.items() if met is not True} == dict.fromkeys(NOT_MET, False)
