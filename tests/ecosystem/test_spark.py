"""Spark's JDBC source with IBM's driver: tables of all plain types are read, also in partitions, and written."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.ecosystem.environments import environment
from tests.interop.jdbc import toolchain

import informix_arrow as ifx
from informix_arrow.server import Server

PYSPARK = "pyspark==4.3.0"
JOB = Path(__file__).with_name("spark_job.py")
COLUMNS = (
    "k INT PRIMARY KEY, s SMALLINT, i INTEGER, b BIGINT, i8 INT8, f FLOAT, sf SMALLFLOAT, dec DECIMAL(12,2), "
    "m MONEY(10,2), c CHAR(5), v VARCHAR(20), nv NVARCHAR(20), lv LVARCHAR(300), d DATE, dt DATETIME YEAR TO SECOND, "
    "df DATETIME YEAR TO FRACTION(5), t BOOLEAN, sentinel INT"
)
TYPES = (
    ["int", "int", "int", "bigint", "bigint", "double", "double", "decimal(12,2)", "decimal(10,2)"]
    + ["string"] * 4
    + ["date", "timestamp", "timestamp", "boolean", "int"]
)
ROWS: list[tuple[Any, ...]] = [
    (
        1, 7, -2147483647, 9223372036854775807, -5, 1.5, 0.25, Decimal("1234567890.12"), Decimal("3.50"), "ab   ",
        "réveil", "é", "x" * 300, dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12, 34, 56),
        dt.datetime(2026, 1, 31, 12, 34, 56, 123450), True, 11,
    ),
    (2, *[None] * 16, 12),
    (
        3, -32767, 0, -9223372036854775807, 5, -1e300, 0.0, Decimal("-0.01"), Decimal("0.00"), "     ", "", "", "",
        dt.date(1, 1, 1), dt.datetime(1900, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999990), False, 13,
    ),
]  # fmt: skip


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_spark_reads_and_writes_tables_of_plain_types() -> None:
    try:
        toolchain.program("java", "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)")
        jars = toolchain.fetch_jars(toolchain.cache_directory())
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    python = environment("spark", PYSPARK)
    with Server() as server, tempfile.TemporaryDirectory() as place:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as connection:
            for name in ("plain", "copied"):
                connection.execute(f"CREATE TABLE {name} ({COLUMNS})")
            places = ", ".join("?" * len(ROWS[0]))
            connection.cursor().executemany(f"INSERT INTO plain VALUES ({places})", ROWS)
        host, port = server.address
        # Spark quotes names
        url = f"jdbc:informix-sqli://{host}:{port}/shop:INFORMIXSERVER=informix;user=informix;password=in4mix;DELIMIDENT=Y"
        done = subprocess.run(
            [str(python), str(JOB), url, *map(str, jars)],
            capture_output=True,
            text=True,
            check=False,
            cwd=place,
            env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, "TZ": "UTC"},
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        reported = dict(item for line in done.stdout.splitlines() for item in json.loads(line).items())
        with ifx.connect(server.url("shop")) as connection:
            stored = connection.execute("SELECT * FROM plain ORDER BY k").fetchall()
            copied = connection.execute("SELECT * FROM copied ORDER BY k").fetchall()
            made = connection.execute("SELECT * FROM made ORDER BY k").fetchall()
    assert reported["types"] == TYPES
    shown = json.loads(json.dumps(ROWS, default=str))
    assert reported["rows"] == reported["copied"] == shown
    assert (reported["partitions"], reported["filter"]) == (3, [[1]])
    assert copied == stored
    wanted = [tuple(row[n] for n in (0, 10, 7, 13, 5)) for row in ROWS]
    assert [tuple(row) for row in made] == wanted
    assert reported["made"] == json.loads(json.dumps(wanted, default=str))
