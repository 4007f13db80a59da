"""Compares filters of DataFrames that Spark evaluates with those that it pushes down. test_spark_filters.py runs it
with PySpark.

Arguments: a URL, and filters in Spark's SQL. The results are printed as JSON, a line for each step.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import DataFrame
from spark_session import session

from informix_arrow.spark import InformixDataSource


def report(what: str, found: object) -> None:
    print(json.dumps({what: found}, default=str), flush=True)


def main(url: str, *filters: str) -> None:
    spark = session(time_zone="America/New_York")
    spark.dataSource.register(InformixDataSource)

    def keys(condition: str, **options: Any) -> list[int]:
        # Load again: Spark keeps the plan with the DataFrame.
        frame: DataFrame = spark.read.format("informix").options(url=url, **options).load()
        return sorted(row.k for row in frame.where(condition).collect() if row.tail == 77)

    pushed = {"pushDownPredicate": "true"}
    report(
        "not enabled", [keys("k >= 0", dbtable="plain", **pushed), keys("i < 0", dbtable="plain", **pushed)]
    )
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    for each in filters:
        report(each, [keys(each, dbtable="plain"), keys(each, dbtable="plain", **pushed)])
    parts = {"partitionColumn": "k", "numPartitions": "2"}
    query = "SELECT k, i + 1 AS more, tail FROM plain WHERE k > 0"
    report("in parts", keys("more < 2 AND tail = 77", query=query, **parts, **pushed))
    typed = spark.read.format("informix").options(url=url, dbtable="plain", **pushed)
    report(
        "typed",
        [row.k for row in typed.schema("k INT, i STRING, tail INT").load().where("i = '0'").collect()],
    )
    spark.stop()


main(*sys.argv[1:])
