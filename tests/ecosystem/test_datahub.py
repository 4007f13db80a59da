"""DataHub's source ``sqlalchemy`` scans and profiles all tables and views of a database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

JOB = Path(__file__).with_name("datahub_job.py")
DATAHUB = "acryl-datahub[sqlalchemy]==1.7.0.17"
#: A column of every type that has its own name in the catalogue.
TYPES = (
    "id INT NOT NULL PRIMARY KEY, customer VARCHAR(20), total DECIMAL(8,2), ratio DECIMAL, price MONEY, day DATE, "
    "paid BOOLEAN, small SMALLINT, large BIGINT, older INT8, real SMALLFLOAT, double FLOAT, fixed CHAR(3), "
    "name NVARCHAR(20), long LVARCHAR(300), at DATETIME YEAR TO FRACTION(5), clock DATETIME HOUR TO MINUTE, "
    "took INTERVAL DAY TO SECOND, note TEXT, picture BYTE, document CLOB, scan BLOB, parts LIST(INT NOT NULL), "
    "place ROW(x INT, y VARCHAR(3)), details JSON, stored BSON, sentinel INT"
)
DEFINITIONS = (
    f"CREATE TABLE orders ({TYPES})",
    "CREATE TABLE items (num SERIAL PRIMARY KEY, order_id INT REFERENCES orders (id), what CHAR(10))",
    'CREATE TABLE "Mixed Case" ("A b" INT, "select" VARCHAR(10))',
    "CREATE VIEW valued (id, total) AS SELECT id, total FROM orders WHERE total > 0",
    "CREATE VIEW joined AS SELECT o.id, i.what FROM orders o, OUTER items i WHERE o.id = i.order_id",
    'CREATE VIEW "Mixed View" ("X y") AS SELECT "A b" FROM "Mixed Case"',
    "CREATE SYNONYM purchases FOR orders",
    "INSERT INTO orders (id, customer, total, day, paid, sentinel) VALUES (1, 'é', 12.5, MDY(2, 29, 2024), 't', 7)",
    "INSERT INTO orders (id, sentinel) VALUES (2, 7)",
    "INSERT INTO \"Mixed Case\" VALUES (3, '')",
)
TABLES = {"orders": 27, "items": 3, "Mixed Case": 2, "valued": 2, "joined": 2, "Mixed View": 1}
PROFILED = {"orders": 2, "items": 0, "Mixed Case": 1, "valued": 1, "joined": 2, "Mixed View": 1}
#: DataHub's warnings for databases whose tables have an owner and a name.
WARNINGS = {"Failed to get default db and schema names for view"}


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_all_tables_and_views_are_scanned_without_a_failure(tmp_path: Path) -> None:
    python = environment("datahub", DATAHUB)
    found = tmp_path / "found.json"
    with Server() as server:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True, env={"DELIMIDENT": "y"}) as conn:
            for definition in DEFINITIONS:
                conn.execute(definition)
        home = {"HOME": str(tmp_path), "DATAHUB_TELEMETRY_ENABLED": "false"}
        printed = run(str(python), str(JOB), server.url("shop"), str(found), env=home, cwd=tmp_path)
    [reported] = [
        json.loads(line.removeprefix("result "))
        for line in printed.splitlines()
        if line.startswith("result ")
    ]
    assert reported["failures"] == []
    assert (reported["tables"], reported["views"]) == (3, 3)
    assert set(reported["warnings"]) <= WARNINGS, reported["warnings"]

    records = json.loads(found.read_text(encoding="utf-8"))
    columns: dict[str, int] = {}
    rows: dict[str, int] = {}
    for record in records:
        for aspect in aspects(record):
            if "fields" in aspect and "schemaName" in aspect:
                columns[aspect["schemaName"].partition(".")[2]] = len(
                    [each for each in aspect["fields"] if "." not in plain(each["fieldPath"])]
                )
        if record.get("aspectName") == "datasetProfile":
            name = record["entityUrn"].split(",")[1].partition(".")[2]
            rows[name] = record["aspect"]["json"]["rowCount"]
    assert columns == TABLES
    assert rows.items() <= PROFILED.items()
    assert {"orders", "Mixed Case"} <= rows.keys()


def aspects(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the aspects of a dataset in a record: the one of a change, or those of a snapshot."""
    if "aspect" in record:
        return [record["aspect"]["json"]]
    [snapshot] = record["proposedSnapshot"].values()
    return [content for aspect in snapshot["aspects"] for content in aspect.values()]


def plain(path: str) -> str:
    """Return the path of a field without DataHub's notes on its types."""
    return "".join(part.rpartition("]")[2] for part in path.split("[version=2.0]")).strip(".")
