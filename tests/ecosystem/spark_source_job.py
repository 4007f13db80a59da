"""Reads and writes with our Spark data source. test_spark_source.py runs it where PySpark is installed.

Argument: a URL. The tables ``plain`` and ``many`` are there. The results are printed as JSON, a line for each step.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, udf
from spark_session import session

from informix_arrow.spark import InformixDataSource


def report(what: str, found: object) -> None:
    print(json.dumps({what: found}, default=str), flush=True)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def failure(frame: Any) -> str:
    try:
        found = frame()
        if found is not None:
            found.collect()
    except Exception as error:  # noqa: BLE001 - its text is looked at
        return str(error)
    return "nothing failed"


def writing(spark: SparkSession, url: str, many: DataFrame) -> None:
    """Write in all ways: append, overwrite, fail, repeat, and stream."""

    def write(frame: DataFrame, mode: str = "append", **options: Any) -> None:
        frame.write.format("informix").mode(mode).options(url=url, dbtable="written", **options).save()

    def there() -> list[tuple[Any, ...]]:
        frame = spark.read.format("informix").options(url=url, dbtable="written").load()
        return rows(frame.groupBy().agg({"*": "count", "after": "sum"}))

    small = many.filter(col("after") < 100)
    write(small)
    write(small.limit(5))
    report("appended", there())
    write(small, "overwrite")
    report("overwritten", there())

    def dies(value: int) -> int:
        if value == 50:
            raise ValueError("a task dies")
        return value

    dying = small.withColumn("after", udf(dies, "int")(col("after")))
    report("died", failure(lambda: write(dying, "overwrite")))
    report("after a death", there())
    for _ in range(2):
        write(small.limit(7), writeId="nightly")
    report("once", there())
    types = spark.read.format("informix").options(url=url, dbtable="plain").load()
    types.drop("iv", "te", "li").write.format("informix").mode("append").options(
        url=url, dbtable="copied"
    ).save()
    with tempfile.TemporaryDirectory() as place:
        small.limit(9).write.parquet(f"{place}/data")
        stream = spark.readStream.schema(small.schema).parquet(f"{place}/data")

        def streamed(checkpoint: str, id: str = "stream") -> None:
            query = (
                stream.writeStream.format("informix")
                .options(url=url, dbtable="written", writeId=id, checkpointLocation=f"{place}/{checkpoint}")
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()

        streamed("first")
        for name in ("0", ".0.crc"):  # as if Spark had died before it recorded the commit of the batch
            Path(f"{place}/first/commits/{name}").unlink()
        streamed("first")
        report("streamed", there())
        report("another checkpoint", failure(lambda: streamed("second")))
        report("not taken", there())
        streamed("third", "another stream")
    report("another stream", there())
    report("wrong", [
        failure(lambda: write(small, writeId="é" * 101)),
        failure(lambda: write(small.withColumnRenamed("k", "nowhere"))),
    ])  # fmt: skip


def main(url: str) -> None:
    spark = session(time_zone="America/New_York")
    spark.dataSource.register(InformixDataSource)

    def read(**options: Any) -> DataFrame:
        return spark.read.format("informix").options(url=url, **options).load()

    plain = read(dbtable="plain")
    report("types", [field.dataType.simpleString() for field in plain.schema])
    report("rows", rows(plain))
    report("query", rows(read(query="SELECT k, sentinel FROM plain WHERE k > 1")))
    many = read(dbtable="many", partitionColumn="k", lowerBound="100", upperBound="900", numPartitions="4")
    report("partitions", many.rdd.getNumPartitions())
    report("many", rows(many.groupBy().agg({"*": "count", "after": "sum"})))
    report("filter", rows(many.filter(col("after") == 7).select("k", "after")))
    report("rowid", rows(read(dbtable="many", partitionBy="rowid", numPartitions="3").groupBy().count()))
    report(
        "again",
        [
            read(dbtable="many").filter(col("after") < 5).count(),
            many.filter(col("k") == 2).count(),
            many.count(),
        ],
    )
    report("last committed", read(dbtable="many", consistency="last committed").count())
    report("failures", [
        failure(lambda: read(dbtable="nowhere")),
        failure(lambda: read(dbtable="many", query="SELECT 1")),
        failure(lambda: read(dbtable="many", partitionColumn="nowhere", numPartitions="2")),
        failure(lambda: read(dbtable="many", consistency="lock")),
    ])  # fmt: skip
    writing(spark, url, many)
    spark.stop()


main(*sys.argv[1:])
