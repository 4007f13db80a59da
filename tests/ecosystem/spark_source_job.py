"""What Spark gets from our data source; test_spark_source.py runs it where pyspark is installed.

Argument: a URL. The tables ``plain`` and ``many`` are there. What it finds is printed as JSON, a line for each step.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from informix_arrow.spark import InformixDataSource


def told(what: str, found: object) -> None:
    print(json.dumps({what: found}, default=str), flush=True)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def failure(frame: Any) -> str:
    try:
        frame().collect()
    except Exception as error:  # noqa: BLE001 - its text is looked at
        return str(error)
    return "nothing failed"


def main(url: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -Duser.timezone=UTC")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "America/New_York")
        .getOrCreate()
    )
    spark.dataSource.register(InformixDataSource)

    def read(**options: Any) -> DataFrame:
        return spark.read.format("informix").options(url=url, **options).load()

    plain = read(dbtable="plain")
    told("types", [field.dataType.simpleString() for field in plain.schema])
    told("rows", rows(plain))
    told("query", rows(read(query="SELECT k, sentinel FROM plain WHERE k > 1")))
    many = read(dbtable="many", partitionColumn="k", lowerBound="100", upperBound="900", numPartitions="4")
    told("partitions", many.rdd.getNumPartitions())
    told("many", rows(many.groupBy().agg({"*": "count", "after": "sum"})))
    told("filter", rows(many.filter(col("after") == 7).select("k", "after")))
    told("rowid", rows(read(dbtable="many", partitionBy="rowid", numPartitions="3").groupBy().count()))
    told("failures", [
        failure(lambda: read(dbtable="nowhere")),
        failure(lambda: read(dbtable="many", query="SELECT 1")),
        failure(lambda: read(dbtable="many", partitionColumn="nowhere", numPartitions="2")),
    ])  # fmt: skip
    spark.stop()


main(*sys.argv[1:])
