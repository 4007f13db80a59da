"""A Spark job that writes and waits to be killed. test_spark_death.py runs it where PySpark is installed.

Arguments: a URL, a folder, `die` or `again`, and moments (`before`, `after` the commit), each with a table of its name.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType
from spark_session import session

from informix_arrow.spark import InformixDataSource, InformixWriter, StagedMessage, _SourceOptions

ROWS = 1000


class DyingWriter(InformixWriter):  # type: ignore[misc]
    """A writer that waits to be killed before or after it commits, in the process in which Spark commits."""

    marks: tuple[str, str]  # the file that signals that it waits, and when

    def commit(self, messages: list[StagedMessage | None]) -> None:
        file, moment = self.marks
        if moment == "after":
            super().commit(messages)
        Path(file).touch()
        time.sleep(600)


class DyingSource(InformixDataSource):  # type: ignore[misc]
    """A data source that writes with `DyingWriter`."""

    @classmethod
    def name(cls) -> str:
        return "dying"

    def writer(self, schema: StructType, overwrite: bool) -> DyingWriter:
        options = dict(self.options)
        marks = options.pop("file"), options.pop("moment")
        made = DyingWriter(_SourceOptions(options), schema, overwrite=overwrite)
        made.marks = marks
        return made


def main(url: str, place: str, again: str, *moments: str) -> None:
    spark = session()
    spark.dataSource.register(InformixDataSource)
    spark.dataSource.register(DyingSource)
    frame = spark.range(ROWS, numPartitions=2).selectExpr("CAST(id AS INT) k", "CAST(id AS INT) after")
    for moment in moments:
        options: dict[str, Any] = {"url": url, "dbtable": moment, "writeId": f"nightly {moment}"}
        if again == "again":
            frame.write.format("informix").mode("append").options(**options).save()
        else:
            more = {"file": f"{place}/{moment}", "moment": moment}
            frame.write.format("dying").mode("append").options(**options, **more).save()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
