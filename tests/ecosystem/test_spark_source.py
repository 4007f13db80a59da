"""Our data source in a real Spark: values of all types, each row in one task, clear errors."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from tests.ecosystem.environments import environment
from tests.ecosystem.test_spark import COLUMNS, PYSPARK, ROWS
from tests.interop.jdbc import toolchain

import informix_arrow as ifx
from informix_arrow.server import Server

JOB = Path(__file__).with_name("spark_source_job.py")
MORE = ", tm DATETIME HOUR TO MINUTE, iv INTERVAL DAY TO SECOND, te TEXT, li LIST(INTEGER NOT NULL), tail INT"
TYPES = (
    ["int", "smallint", "int", "bigint", "bigint", "double", "float", "decimal(12,2)", "decimal(10,2)"]
    + ["string"] * 4
    + ["date", "timestamp_ntz", "timestamp_ntz", "boolean", "int"]
    + ["time(6)", "interval day to second", "string", "array<int>", "int"]
)


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_spark_reads_and_writes_tables_by_our_source() -> None:
    try:
        toolchain.program("java", "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    python = environment("spark", PYSPARK)
    with Server() as server, tempfile.TemporaryDirectory() as place:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as connection:
            connection.execute(f"CREATE TABLE plain ({COLUMNS}{MORE})")
            marks = ", ".join("?" * (len(ROWS[0])))
            for number, row in enumerate(ROWS):
                more = "NULL, NULL, NULL, NULL" if number == 1 else (
                    "DATETIME(23:59) HOUR TO MINUTE, INTERVAL(-1 00:00:01) DAY TO SECOND, ?, LIST{1, 2}"
                )  # fmt: skip
                text = () if number == 1 else ("long é",)
                connection.execute(f"INSERT INTO plain VALUES ({marks}, {more}, 77)", (*row, *text))
            connection.execute("CREATE TABLE many (k INT, after INT)")
            keys = [None if n % 10 == 0 else n for n in range(1000)]
            connection.write_arrow("many", pa.table({"k": keys, "after": range(1000)}))
            connection.execute("CREATE TABLE written (k INT, after INT)")
            connection.execute(f"CREATE TABLE copied ({COLUMNS}, tm DATETIME HOUR TO MINUTE, tail INT)")
        done = subprocess.run(
            [str(python), str(JOB), server.url("shop")],
            capture_output=True,
            text=True,
            check=False,
            cwd=place,
            env={
                **os.environ,
                "TZ": "UTC",
                "PYSPARK_PYTHON": str(python),
            },
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        with ifx.connect(server.url("shop")) as connection:
            names = ", ".join(
                each.split()[0] for each in COLUMNS.replace("12,2", "").replace("10,2", "").split(", ")
            )
            made = connection.execute("SELECT * FROM copied ORDER BY k").fetchall()
            stored = connection.execute(f"SELECT {names}, tm, tail FROM plain ORDER BY k").fetchall()
            tables = connection.tables(types=("TABLE",))["table_name"].to_pylist()
        reported = dict(item for line in done.stdout.splitlines() for item in json.loads(line).items())
    assert reported["types"] == TYPES
    width = len(ROWS[0])
    assert [row[:width] for row in reported["rows"]] == json.loads(
        json.dumps([_stripped(row) for row in ROWS], default=str)
    )
    more = [row[width:] for row in reported["rows"]]
    assert more[0] == ["23:59:00", "-2 days, 23:59:59", "long é", [1, 2], 77]
    assert more[1] == [None, None, None, None, 77]
    assert reported["query"] == [[2, 12], [3, 13]]
    assert reported["partitions"] == 4
    assert reported["many"] == [[1000, sum(range(1000))]]
    assert reported["filter"] == [[7, 7]]
    assert reported["rowid"] == [[1000]]
    for text, part in zip(
        reported["failures"],
        (
            "'nowhere' does not exist",
            "either the option dbtable",
            "There is no column",
            "stays open until the last task",
        ),
        strict=True,
    ):
        assert part in text
        assert "in4mix" not in text

    assert reported["again"] == [5, 1, 1000]
    assert reported["last committed"] == 1000
    small = sum(range(100))
    assert reported["appended"][0][0] == 105
    assert reported["overwritten"] == reported["after a death"] == [[100, small]]
    assert "a task dies" in reported["died"]
    assert reported["once"][0][0] == 107
    assert (
        "A write with the id 'nightly' was made before. The 7 rows of this one were not written."
        in done.stderr
    )
    assert reported["streamed"][0][0] == reported["not taken"][0][0] == 116
    assert "may have had other rows" in reported["another checkpoint"]
    assert reported["another stream"][0][0] == 125
    assert "200 bytes" in reported["wrong"][0]
    assert "has no column nowhere" in reported["wrong"][1]
    assert sorted(tables) == ["copied", "informix_arrow_writes", "many", "plain", "written"]
    assert [tuple(row) for row in made] == [tuple(row) for row in stored]
    assert [tuple(row)[1:9] for row in made] == [row[1:9] for row in ROWS]


def _stripped(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return the row with CHAR values stripped of blanks."""
    return tuple(
        value.rstrip() if place == 9 and isinstance(value, str) else value for place, value in enumerate(row)
    )
