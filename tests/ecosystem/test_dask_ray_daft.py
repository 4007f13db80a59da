"""Dask, Ray and Daft read our tables: each row in one partition, Arrow's types, clear errors."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

HERE = Path(__file__).parent
DASK, RAY, DAFT = "dask[dataframe]==2026.8.0", "ray[data]==2.60.0", "daft==0.7.26"
COLUMNS = (
    "k INT, n DECIMAL(12,2), v VARCHAR(20), d DATE, t DATETIME YEAR TO FRACTION(5), o BOOLEAN, after INT"
)
TYPES = ["int32", "decimal128(12, 2)", "string", "date32[day]", "timestamp[us]", "bool", "int32"]
ROWS: list[tuple[object, ...]] = [
    (1, "-0.01", "réveil", "2026-01-31", "2026-01-31 12:34:56.12345", True, 7),
    (2, None, None, None, None, None, 7),
    (3, "1234567890.12", "", "0001-01-01", "9999-12-31 23:59:59.99999", False, 7),
]
VALUES = [
    [1, "-0.01", "réveil", "2026-01-31", "2026-01-31 12:34:56.123450", True, 7],
    [2, None, None, None, None, None, 7],
    [3, "1234567890.12", "", "0001-01-01", "9999-12-31 23:59:59.999990", False, 7],
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server() as server:
        server.create_database("shop")
        url = server.url("shop")
        with ifx.connect(url, autocommit=True) as conn:
            conn.execute(f"CREATE TABLE plain ({COLUMNS})")
            for row in ROWS:
                conn.execute(f"INSERT INTO plain VALUES ({', '.join('?' * len(row))})", row)
            conn.execute("CREATE TABLE many (k INT, after INT)")
            keys = [None if n % 10 == 0 else n for n in range(1000)]
            conn.write_arrow("many", pa.table({"k": keys, "after": range(1000)}))
        yield url


def checked(found: dict[str, Any]) -> None:
    assert found["partitions"] == 4
    assert found["sums"][:2] == [sum(range(1000)), 1000]
    assert [each.removesuffix("[pyarrow]") for each in found["types"]] == TYPES
    assert found["planned"] in (found["types"], ["int32", "int32"])
    assert _plain(found["rows"]) == VALUES
    assert _plain(found["query"]) == [[2, None, None], [3, 1234567890.12, "0001-01-01"]]
    assert found["none"] == 0
    assert not any("in4mix" in text for text in found["shown"])
    for text, part in zip(
        found["failures"], ("'nowhere' does not exist", "There is no column", "Division by zero"), strict=True
    ):
        assert part in text
        assert "in4mix" not in text


def _plain(rows: list[list[object]]) -> list[list[object]]:
    """Return rows with None for pandas' missing values."""
    return [[None if each == "<NA>" else each for each in row] for row in rows]


@pytest.mark.ecosystem
@pytest.mark.timeout(300)
def test_dask_reads_tables_in_parts(url: str, tmp_path: Path) -> None:
    python = environment("dask", DASK)
    found = json.loads(run(str(python), str(HERE / "dask_job.py"), url, cwd=tmp_path))
    checked(found)
    assert found["sums"][2] == 900


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.timeout(600)
def test_ray_reads_tables_in_parts(url: str, tmp_path: Path) -> None:
    python = environment("ray", RAY)
    with tempfile.TemporaryDirectory(prefix="ray") as place:  # a short name, as paths of sockets are limited
        job = str(HERE / "ray_job.py")
        printed = run(str(python), job, url, cwd=tmp_path, env={"RAY_TMPDIR": place})
    found = json.loads(printed.splitlines()[-1])
    checked(found)
    assert found["wished"] == 3


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.timeout(600)
def test_the_recipe_for_daft_reads_tables_in_parts(url: str, tmp_path: Path) -> None:
    found = json.loads(run(str(environment("daft", DAFT)), str(HERE / "daft_job.py"), url, cwd=tmp_path))
    assert (found["partitions"], found["sums"]) == (4, [sum(range(1000)), 1000])
    assert found["types"] == [
        "Int32", "Decimal[precision: 12, scale: 2]", "String", "Date", "Timestamp[us]", "Bool", "Int32"
    ]  # fmt: skip
    assert found["rows"] == VALUES
    assert found["chosen"] == [{"k": 7}]
