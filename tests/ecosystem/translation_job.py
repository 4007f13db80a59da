"""Executes statements on PySpark: reads [[setup], [queries]] from a file of JSON, writes the rows or the errors of the
queries to another. Runs in an environment with pyspark and nothing of this package."""

from __future__ import annotations

import datetime as dt
import json
import sys
from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:
    """A value as [type, text], which JSON keeps."""
    if value is None:
        return None
    if isinstance(value, (dt.datetime, dt.date)):
        return [type(value).__name__, value.isoformat()]
    if isinstance(value, Decimal):
        return ["Decimal", str(value)]
    return ["plain", value]


def main(source: str, out: str) -> None:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", out + ".warehouse")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    with open(source) as file:
        setup, queries = json.load(file)
    for sql in setup:
        spark.sql(sql)
    found: list[Any] = []
    for sql in queries:
        try:
            found.append([[plain(value) for value in row] for row in spark.sql(sql).collect()])
        except Exception as error:  # noqa: BLE001 (every error is an outcome)
            found.append(str(error).split("\n")[0])
    with open(out, "w") as file:
        json.dump(found, file)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
