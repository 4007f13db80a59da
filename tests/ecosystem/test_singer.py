"""A Singer tap, as Meltano runs them, syncs tables through the SQLAlchemy dialect."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment

JOB = Path(__file__).with_name("singer_job.py")
SINGER_SDK = "singer-sdk==0.54.6"


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_tap_syncs_two_tables_without_a_traceback(tmp_path: Path) -> None:
    python = environment("singer-sdk", SINGER_SDK)
    with Server() as server:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as conn:
            conn.execute(
                "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, customer VARCHAR(20), total DECIMAL(8,2))"
            )
            conn.execute("CREATE TABLE items (num SERIAL PRIMARY KEY, day DATE, paid BOOLEAN)")
            conn.execute("INSERT INTO orders VALUES (1, 'é', 12.5)")
            conn.execute("INSERT INTO orders VALUES (2, NULL, NULL)")
            conn.execute("INSERT INTO items VALUES (0, MDY(2, 29, 2024), 't')")
        done = subprocess.run(
            [str(python), str(JOB), server.url("shop")],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            encoding="utf-8",
        )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    records: dict[str, list[object]] = {}
    for message in messages:
        if message["type"] == "RECORD":
            records.setdefault(message["stream"].rpartition("-")[2], []).append(message["record"])
    assert records == {
        "orders": [
            {"id": 1, "customer": "é", "total": 12.5},
            {"id": 2, "customer": None, "total": None},
        ],
        "items": [{"num": 1, "day": "2024-02-29", "paid": True}],
    }
    keys = {
        message["stream"]: message["key_properties"] for message in messages if message["type"] == "SCHEMA"
    }
    assert sorted(keys.values()) == [["id"], ["num"]]
