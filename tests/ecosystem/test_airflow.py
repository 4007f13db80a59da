"""Airflow with our provider: the hook's rows, frames and loads, and a DAG with operators of the common SQL provider."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

DAG = Path(__file__).with_name("airflow_dag.py")
JOB = Path(__file__).with_name("airflow_job.py")
AIRFLOW = ("apache-airflow==3.3.2", "apache-airflow-providers-common-sql==2.4.0")
TABLE = (
    "id INT, customer VARCHAR(20), total DECIMAL(32,2), day DATE, at DATETIME YEAR TO SECOND, large BIGINT, "
    "sentinel INT"
)
ROWS = [
    [1, "é", "123456789012345678901234567890.12", "2026-01-31", "2026-01-31 23:59:58", (1 << 60) + 1, 7],
    [2, None, None, None, None, None, 7],
    [3, "", "-0.01", "0001-01-01", "2026-01-31 00:00:00", -1, 7],
]


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_airflow_reads_by_arrow_loads_and_runs_a_dag(tmp_path: Path) -> None:
    python = environment("airflow", *AIRFLOW)
    with Server() as server:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as conn:
            conn.execute(f"CREATE TABLE orders ({TABLE})")
            for row in ROWS:
                marks = "?, ?, ?, ?, ?, ?, ?"
                conn.execute(f"INSERT INTO orders VALUES ({marks})", row)
        env = {
            "AIRFLOW_HOME": str(tmp_path),
            "AIRFLOW_CONN_INFORMIX_DEFAULT": server.url("shop"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags"),
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "HOME": str(tmp_path),
        }
        run(str(python.with_name("airflow")), "db", "migrate", env=env, cwd=tmp_path)
        printed = run(str(python), str(JOB), env=env, cwd=tmp_path)
        (tmp_path / "dags").mkdir()
        shutil.copy(DAG, tmp_path / "dags")
        for command in (("reserialize",), ("test", "nightly")):
            run(str(python.with_name("airflow")), "dags", *command, env=env, cwd=tmp_path)
    lines = [line.removeprefix("result ") for line in printed.splitlines() if line.startswith("result ")]
    reported = dict(item for line in lines for item in json.loads(line).items())
    assert reported["provider"] is True
    assert reported["hook"] == "informix_arrow.airflow.hook.InformixHook"
    assert reported["test"] == [True, "Connection successfully tested"]
    assert reported["records"] == ROWS
    frame, types = reported["pandas"]
    assert [row[0] for row in frame] == [1, 2, 3]
    assert [frame[0], frame[2]] == [ROWS[0], ROWS[2]]
    assert types[-2:] == ["Int64", "int32"]
    assert reported["exact"][1:4] == [
        "decimal128(32, 2)[pyarrow]",
        "date32[day][pyarrow]",
        "timestamp[s][pyarrow]",
    ]
    assert reported["polars"][0] == ROWS
    assert reported["polars"][1][2] == "Decimal(precision=32, scale=2)"
    assert reported["chunks"] == [[2, 7], [1, 7]]
    assert reported["none"] == [[0, 7]]
    assert "'parse_dates'" in reported["option"]
    assert reported["inserted"] == [
        [4, "d", "0.10", "2026-02-01", "2026-02-01 01:00:00", 4, 7],
        [5, None, None, None, None, None, 7],
    ]
    assert "upsert" in reported["replace"]
    assert reported["written"] == 1
    assert reported["run"][-1] == [["5"]]
    assert reported["schema"][2] == {"name": "total", "type": "DECIMAL(32, 2)"}
    assert reported["sqlalchemy"] == [1, 2, 3, 4, 5]
    assert reported["other"] == ["sysmaster"]
    assert json.loads((tmp_path / "found.json").read_text()) == {
        "selected": [row[:2] for row in ROWS],
        "frame": [1, 2, 3],
    }
