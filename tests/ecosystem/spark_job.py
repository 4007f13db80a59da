"""Reads and writes tables with Spark's JDBC source. test_spark.py runs it where PySpark is installed.

Arguments: a JDBC URL, and the driver's jars. The tables ``plain`` and ``copied`` are there; it creates ``made``. The
results are printed as JSON, a line for each step.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from spark_session import session


def report(what: str, found: object) -> None:
    print(json.dumps({what: found}, default=str), flush=True)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def main(url: str, *jars: str) -> None:
    spark = session(jars=jars, sql_shuffle_partitions=1)
    options = {"url": url, "driver": "com.informix.jdbc.IfxDriver"}

    def table(name: str, **more: Any) -> DataFrame:
        return spark.read.format("jdbc").options(**options, dbtable=name, **more).load()

    plain = table("plain")
    report("types", [field.dataType.simpleString() for field in plain.schema])
    report("rows", rows(plain))
    report(
        "partitions", table("plain", partitionColumn="k", lowerBound=0, upperBound=4, numPartitions=2).count()
    )
    report(
        "filter",
        rows(plain.where((col("i") < 0) & col("v").isNotNull() & (col("d") > "2000-01-01")).select("k")),
    )
    plain.write.format("jdbc").options(**options, dbtable="copied", batchsize=2).mode("append").save()
    report("copied", rows(table("copied")))
    made = {"dbtable": "made", "createTableColumnTypes": "v VARCHAR(20)"}
    for mode in ("append", "overwrite"):
        plain.select("k", "v", "dec", "d", "f").write.format("jdbc").options(**options, **made).mode(
            mode
        ).save()
    report("made", rows(table("made")))
    spark.stop()


main(*sys.argv[1:])
