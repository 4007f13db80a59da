"""Loads tables of an Informix database into DuckDB with dlt. test_dlt.py runs it where dlt is installed.

Arguments: the URL of a database with the table ``orders``, and a folder to work in. The content of DuckDB is printed
as JSON, a line for each step.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Iterator
from typing import Any

import dlt
import pyarrow as pa
from dlt.sources.sql_database import sql_table

import informix_arrow

CHANGES = (
    "UPDATE orders SET customer = 'neu', changed = DATETIME(2026-01-03 10:00:00) YEAR TO FRACTION(5) WHERE id = 1",
    "INSERT INTO orders (id, customer, changed, sentinel) VALUES "
    "(3, '', DATETIME(2026-01-04 10:00:00.00001) YEAR TO FRACTION(5), 7)",
)


def report(what: str, found: object) -> None:
    print(json.dumps({what: found}, default=str), flush=True)


def main(url: str, folder: str) -> None:
    asked: list[object] = []
    batches: list[str] = []

    @dlt.resource(
        name="orders",
        primary_key="id",
        write_disposition="merge",
        columns={"changed": {"data_type": "timestamp", "timezone": False}},
    )
    def orders(
        changed: Any = dlt.sources.incremental("changed", initial_value=dt.datetime(1, 1, 1)),  # noqa: B008
    ) -> Iterator[pa.RecordBatch]:
        asked.append(changed.last_value)
        with (
            informix_arrow.connect(url) as conn,
            conn.query("SELECT * FROM orders WHERE changed >= ?", [changed.last_value]) as result,
        ):
            for batch in result.batches():
                batches.append(type(batch).__name__)
                yield batch

    def pipeline(name: str) -> Any:
        return dlt.pipeline(
            name,
            destination=dlt.destinations.duckdb(f"{folder}/{name}.duckdb"),
            dataset_name="stage",
            pipelines_dir=f"{folder}/pipelines",
        )

    def stored(name: str) -> tuple[list[Any], list[Any]]:
        with pipeline(name).sql_client() as client:
            kinds = dict(row[:2] for row in client.execute_sql("DESCRIBE orders"))
            names = [each for each in kinds if not each.startswith("_dlt")]
            rows = client.execute_sql(f"SELECT {', '.join(names)} FROM orders ORDER BY id")
            return [list(row) for row in rows], [kinds[each] for each in names]

    pipeline("arrow").run(orders()).raise_on_failed_jobs()
    report("first", stored("arrow"))
    with informix_arrow.connect(url) as conn:
        for change in CHANGES:
            conn.execute(change)
        conn.commit()
    pipeline("arrow").run(orders()).raise_on_failed_jobs()
    report("second", stored("arrow"))
    pipeline("arrow").run(orders()).raise_on_failed_jobs()
    report("third", stored("arrow"))
    report("asked", asked)
    report("batches", batches)

    for backend in ("sqlalchemy", "pyarrow"):
        table = sql_table(
            credentials=url,
            table="orders",
            backend=backend,  # type: ignore[arg-type]
            reflection_level="full_with_precision",
            incremental=dlt.sources.incremental("id"),
        )
        pipeline(backend).run(table).raise_on_failed_jobs()
        report(backend, stored(backend))


main(*sys.argv[1:])
