"""Kills Spark writes at each of their exchanges with the server and repeats them. test_spark_death.py runs it with
PySpark.

Arguments: a URL, the number of the first write, the first step, how many kills, and whether the last one ends the whole
job. Each write appends its rows to the table `nights`, with its own number and its own writeId; number 0 has none.
Spark runs the driver's part of a write, its tasks and its commit in Python processes of their own: one of them dies,
the write fails, and is repeated. Prints a line of JSON for each attempt.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType
from spark_session import session
from tests.subprocess_server import die, die_at

from informix_arrow.spark import InformixDataSource

Deaths = list[
    tuple[str, str, int, bool]
]  # the stage, the moment, the exchange, and whether the driver dies with it
ROWS = 20
EXCHANGE = "informix_arrow.transport.blocking:BlockingTransport._perform"
STAGES, MOMENTS = ("begin", "task", "commit"), ("before", "after")
EXCHANGES = 40  # exchanges of each stage that are tried
EXCHANGES_OF_ABORT = 5  # exchanges of abort() at which the process is sometimes killed, too


def die_with_driver() -> None:
    """End all processes of this job by SIGKILL, including the JVM."""
    me, mine = os.getpid(), os.getsid(0)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != me:
            try:
                if os.getsid(int(folder.name)) == mine:
                    os.kill(int(folder.name), signal.SIGKILL)
            except ProcessLookupError:
                pass
    die()


class KilledWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """A writer whose process dies at one exchange of some stages of the write."""

    def __init__(self, writer: DataSourceArrowWriter, dies: Deaths) -> None:
        self.writer = writer
        self.dies = dies

    def write(self, iterator: Any) -> WriterCommitMessage:
        enter("task", self.dies)
        return self.writer.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        enter("commit", self.dies)
        self.writer.commit(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        enter("abort", self.dies)
        self.writer.abort(messages)


class KilledSource(InformixDataSource):  # type: ignore[misc]
    """A data source that writes with `KilledWriter`."""

    @classmethod
    def name(cls) -> str:
        return "killed"

    def writer(self, schema: StructType, overwrite: bool) -> KilledWriter:
        options = dict(self.options)
        dies = json.loads(options.pop("dies"))
        enter("begin", dies)
        return KilledWriter(InformixDataSource(options).writer(schema, overwrite), dies)


def enter(stage: str, dies: Deaths) -> None:
    """Make this process die in this stage if ``dies`` says so."""
    for wanted, moment, call, whole in dies:
        if stage == wanted:
            die_at(EXCHANGE, moment, call, die_with_driver if whole else die)


class Steps:
    """Iterates over the exchanges of a write again and again, with a death before and after each exchange."""

    def __init__(self, first: int) -> None:
        steps = itertools.product(range(1, EXCHANGES + 1), STAGES, MOMENTS)
        self.steps = itertools.cycle((stage, moment, call) for call, stage, moment in steps)
        self.ends: dict[tuple[str, str], int] = {}
        self.kept: list[tuple[str, str, int]] = []
        for _ in range(first):
            next(self.steps)

    def next(self) -> tuple[str, str, int]:
        """Return the next step: the stage, the moment, the exchange."""
        if self.kept:
            return self.kept.pop()
        while True:
            stage, moment, call = next(self.steps)
            if call < self.ends.get((stage, moment), EXCHANGES + 1):
                return stage, moment, call

    def not_reached(self, death: tuple[str, str, int, bool], *, repeated: bool) -> None:
        """Note that a write has ended without reaching this step. The stage has no such exchange, unless the write was
        a repetition, which needs fewer."""
        stage, moment, call, _ = death
        if repeated:
            self.kept.append((stage, moment, call))
        else:
            self.ends[stage, moment] = call


def main(url: str, first: str, step: str, kills: str, last: str) -> None:
    spark = session(python_worker_reuse="false")
    spark.dataSource.register(InformixDataSource)
    spark.dataSource.register(KilledSource)
    steps, died = Steps(int(step)), 0
    for number in itertools.count(int(first)):
        frame = spark.range(ROWS, numPartitions=2).selectExpr(
            f"{number} AS night", "CAST(id AS INT) k", "CAST(id AS INT) tail"
        )
        options = {"url": url, "dbtable": "nights"}
        if number:
            options["writeId"] = f"night {number}"
        for attempt in itertools.count():
            dies: Deaths = []
            if attempt < 3 and died < int(kills):
                whole = last == "driver" and died + 1 == int(kills)
                stage, moment, call = steps.next()
                dies.append((stage, moment, call, whole))
                if died % 3 == 2:  # Spark calls abort() after the kill
                    dies.append(("abort", MOMENTS[died % 2], 1 + died // 3 % EXCHANGES_OF_ABORT, False))
            tell(number, dies, "begins")
            write = frame.write.mode("append").options(**options)
            if dies:
                write = write.format("killed").option("dies", json.dumps(dies))
            else:
                write = write.format("informix")
            try:
                write.save()
            except (PySparkException, Py4JJavaError) as error:
                if not dies or not re.search("exited unexpectedly|EOFException", str(error)):
                    raise
                tell(number, dies, "killed")
                died += 1
                continue
            tell(number, dies, "written")
            if dies:
                steps.not_reached(dies[0], repeated=attempt > 0)
            break
        if died >= int(kills):
            break
    spark.stop()


def tell(number: int, dies: Deaths, what: str) -> None:
    print(json.dumps({"number": number, "dies": dies, "what": what, "time": round(time.time())}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
