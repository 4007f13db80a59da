"""Spark writes that are killed at their exchanges with the server, and repeated; test_spark_death.py runs it where
pyspark is installed.

Arguments: a URL, the number of the first write, a seed, how many kills, and whether the last one ends the whole job.
Each write appends its rows to the table `nights`, with its own number. Spark runs the driver's part of a write, its
tasks and its commit in Python processes of their own: one of them dies, the write fails, and is repeated. Prints a line
of JSON for each attempt.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import sys
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
STAGES = {"begin": 20, "task": 20, "commit": 30, "abort": 10}  # exchanges that are tried


def die_with_driver() -> None:
    """End all processes of this job by SIGKILL, the JVM among them."""
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
    """A writer, whose process dies at one exchange of some stages of the write."""

    def __init__(self, writer: DataSourceArrowWriter, dies: Deaths) -> None:
        self._writer = writer
        self._dies = dies

    def write(self, iterator: Any) -> WriterCommitMessage:
        enter("task", self._dies)
        return self._writer.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        enter("commit", self._dies)
        self._writer.commit(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        enter("abort", self._dies)
        self._writer.abort(messages)


class KilledSource(InformixDataSource):  # type: ignore[misc]
    """Whose writers do."""

    @classmethod
    def name(cls) -> str:
        return "killed"

    def writer(self, schema: StructType, overwrite: bool) -> KilledWriter:
        options = dict(self.options)
        dies = json.loads(options.pop("dies"))
        enter("begin", dies)
        return KilledWriter(InformixDataSource(options).writer(schema, overwrite), dies)


def enter(stage: str, dies: Deaths) -> None:
    """Let this process die if it is to in this stage."""
    for wanted, moment, call, whole in dies:
        if stage == wanted:
            die_at(EXCHANGE, moment, call, die_with_driver if whole else die)


def main(url: str, first: str, seed: str, kills: str, last: str) -> None:
    spark = session(python_worker_reuse="false")
    spark.dataSource.register(InformixDataSource)
    spark.dataSource.register(KilledSource)
    chance, exchanges, died = random.Random(seed), dict(STAGES), 0

    def draw(stage: str, *, whole: bool) -> tuple[str, str, int, bool]:
        return stage, chance.choice(("before", "after")), chance.randrange(exchanges[stage]) + 1, whole

    for number in itertools.count(int(first)):
        frame = spark.range(ROWS, numPartitions=2).selectExpr(
            f"{number} AS night", "CAST(id AS INT) k", "CAST(id AS INT) tail"
        )
        options = {"url": url, "dbtable": "nights"}
        if number % 5:
            options["writeId"] = f"night {number}"
        for attempt in itertools.count():
            dies: Deaths = []
            if attempt < 3 and died < int(kills):
                whole = last == "driver" and died + 1 == int(kills)
                dies.append(draw(chance.choice(["begin", "task", "commit", "commit"]), whole=whole))
                if chance.random() < 0.3:
                    dies.append(draw("abort", whole=False))
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
            if dies:  # it has not so many exchanges
                exchanges[dies[0][0]] = max(1, dies[0][2] - 1)
            break
        if died >= int(kills):
            break
    spark.stop()


def tell(number: int, dies: Deaths, what: str) -> None:
    print(json.dumps({"number": number, "dies": dies, "what": what}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
