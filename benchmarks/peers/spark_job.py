"""A Spark session that reads and writes on command. test_spark.py runs it where pyspark is installed,
with tests/ecosystem on its path.

Arguments: our URL, a JDBC URL, one that is tuned, and the driver's jars. Each line of the input is a command in JSON,
answered by a line: ``{"do": "read" | "sum" | "write", "who": ..., "table": ..., "rows": ...}``, and the seconds that it
took, or the sums.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from spark_session import session

from informix_arrow.spark import InformixDataSource

PARTS = 2
SUMS = (
    "COUNT(*) c", "SUM(k) k", "SUM(LENGTH(name)) name", "SUM(CAST(n AS BIGINT)) n", "SUM(x) x",
    "SUM(DATEDIFF(d, DATE'1970-01-01')) d",
)  # fmt: skip


class Job:
    """What the commands do, by name."""

    def __init__(self, spark: SparkSession, urls: dict[str, str]) -> None:
        self._spark = spark
        self._urls = urls
        self._made: DataFrame | None = None

    def _options(self, who: str, table: str) -> tuple[str, dict[str, Any]]:
        if who == "ours":
            return "informix", {"url": self._urls[who], "dbtable": table}
        return "jdbc", {"url": self._urls[who], "driver": "com.informix.jdbc.IfxDriver", "dbtable": table}

    def _frame(self, who: str, table: str, rows: int) -> DataFrame:
        format, options = self._options(who, table)
        if rows > PARTS:
            options |= {
                "partitionColumn": "k",
                "lowerBound": "0",
                "upperBound": str(rows),
                "numPartitions": PARTS,
            }
        return self._spark.read.format(format).options(**options).load()

    def read(self, who: str, table: str, rows: int) -> float:
        """Every column of every row, to Spark's sink that keeps none."""
        at = time.perf_counter()
        self._frame(who, table, rows).write.format("noop").mode("overwrite").save()
        return time.perf_counter() - at

    def sum(self, who: str, table: str, rows: int) -> list[float]:
        """Of each column."""
        return list(self._frame(who, table, rows).selectExpr(*SUMS).first() or ())

    def write(self, who: str, table: str, rows: int) -> float:
        """The seed's rows, made and kept by Spark before."""
        if self._made is None or self._made.count() != rows:
            self._made = (
                self._spark.range(rows, numPartitions=PARTS)
                .selectExpr(
                    "CAST(id AS INT) k", "CONCAT('customer number ', id) name", "CAST(-id AS INT) n",
                    "id / 8.0D x", "DATE'2026-01-01' d",
                )
                .cache()
            )  # fmt: skip
            self._made.count()
        format, options = self._options(who, table)
        at = time.perf_counter()
        self._made.write.format(format).mode("append").options(**options).save()
        return time.perf_counter() - at


def main(ours: str, jdbc: str, tuned: str, *jars: str) -> None:
    spark = session(jars=jars, long=True, driver_memory="3g", sql_shuffle_partitions=1)
    spark.dataSource.register(InformixDataSource)
    job = Job(spark, {"ours": ours, "jdbc": jdbc, "jdbc, tuned": tuned})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = json.dumps(getattr(job, command.pop("do"))(**command), default=str)
        except Exception as error:  # noqa: BLE001 - whoever asked raises it
            answer = "error " + " ".join(str(error).split())
        print(answer, flush=True)
    spark.stop()


main(*sys.argv[1:])
