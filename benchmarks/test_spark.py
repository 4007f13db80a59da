"""Spark reads and writes the seed's five columns, by our data source and by its own JDBC source with IBM's driver: in
one session (local[2], two partitions, a warm JVM), in turns, from one embedded server that is a process of its own.

A read goes to Spark's sink that keeps nothing, all columns of all rows; sums over each column are the same on both
sides. Beside the seconds stands the CPU of those who share the machine, the server and Spark with its Python workers,
and a read of one row: planning, and Python workers that are started or woken. ``jdbc, tuned`` has a fetch buffer of
1 MiB and IFX_USEPUT, which nobody gets without asking.

pyspark comes from an environment of its own, as in tests/ecosystem; needs Java 17 and Maven. It takes minutes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import informix_arrow as ifx

from .conftest import Address, serving
from .peers import jdbc
from .tables import SEED, seed_table

pytestmark = pytest.mark.timeout(1800)
ROWS, WRITTEN = 5_000_000, 1_000_000
ROUNDS = 5
WHOS = ("ours", "jdbc", "jdbc, tuned")
_TICK = os.sysconf("SC_CLK_TCK")


class Spark(jdbc.Spoken):
    """A running spark_job.py."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(command, stderr=subprocess.DEVNULL)
        self.pid = self._process.pid

    def request(self, **command: object) -> Any:
        """What it answers."""
        return json.loads(self.ask(json.dumps(command)))


class Machine:
    """The server, Spark, and what each has used."""

    def __init__(self, address: Address, server: int, spark: Spark, conn: ifx.Connection) -> None:
        self.address = address
        self.spark = spark
        self.conn = conn
        self._server = server

    def cpu(self) -> dict[str, float]:
        """Seconds of the server and of Spark's processes, those that have ended among them."""
        found = {"server": 0.0, "spark": 0.0}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    fields = (folder / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                used = sum(map(int, fields[11:15])) / _TICK
                if int(folder.name) == self._server:
                    found["server"] += used
                elif int(fields[3]) == self.spark.pid:
                    found["spark"] += used
        return found


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A server with the tables, and a Spark session."""
    toolchain = pytest.importorskip("tests.interop.jdbc.toolchain")
    environments = pytest.importorskip("tests.ecosystem.environments")
    try:
        toolchain.program("java", "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)")
        jars = toolchain.fetch_jars(toolchain.cache_directory())
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    python = str(environments.environment("spark", "pyspark==4.3.0"))
    with serving() as (address, pid), address.ours(autocommit=True) as conn:
        for name, rows in (("bench_spark", ROWS), ("bench_spark_one", 1)):
            conn.execute(f"CREATE TABLE {name} ({SEED})")
            for batch in seed_table(rows).to_batches(1_000_000):
                conn.write_arrow(name, batch)
        conn.execute(f"CREATE TABLE bench_spark_written ({SEED})")
        ours = f"informix://informix:in4mix@{address.host}:{address.port}/stores_demo?server=informix"
        plain = jdbc.url(address.host, address.port, DELIMIDENT="Y")
        tuned = jdbc.url(address.host, address.port, DELIMIDENT="Y", FET_BUF_SIZE=1 << 20, IFX_USEPUT=1)
        script = str(Path(jdbc.__file__).with_name("spark_job.py"))
        # A session of its own, by which its JVM and its workers are known.
        beside = Path(environments.__file__).parent  # where spark_session.py is
        command = ["setsid", "env", f"PYTHONPATH={beside}", f"PYSPARK_PYTHON={python}", "TZ=UTC"]
        spark = Spark([*command, python, script, ours, plain, tuned, *map(str, jars)])
        yield Machine(address, pid, spark, conn)
        spark.close()


def line(
    what: str, rows: int, who: str, seconds: list[float], cpu: list[dict[str, float]]
) -> dict[str, object]:
    """One of the report's."""
    name, single, _ = who.partition(", one row")
    rows = 1 if single else rows
    median = statistics.median(seconds)
    first, _, third = statistics.quantiles(seconds, n=4)
    return {
        "subject": f"Spark: {what} {rows:,} rows",
        "who": {"ours": "our data source"}.get(name, f"Spark's {name}"),
        "rows": rows,
        "rounds": len(seconds),
        "median": median,
        "iqr": third - first,
        "ns_per_row": 1e9 * median / rows,
        "client_cpu_ns_per_row": 1e9 * statistics.median(each["spark"] for each in cpu) / rows,
    }


def turns(
    benchmark: Any, machine: Machine, what: str, rows: int, works: dict[str, Callable[[], float]]
) -> None:
    """Each of the works in turn, a warm-up and ROUNDS times; medians, and what each has used."""
    seconds: dict[str, list[float]] = {who: [] for who in works}
    cpu: dict[str, list[dict[str, float]]] = {who: [] for who in works}

    def turn() -> None:
        for who, work in works.items():
            before = machine.cpu()
            seconds[who].append(work())
            cpu[who].append({name: used - before[name] for name, used in machine.cpu().items()})

    benchmark.group = f"Spark: {what} {rows:,} rows"
    benchmark.pedantic(turn, rounds=ROUNDS, warmup_rounds=1)
    for who in works:
        found = {
            "median": statistics.median(seconds[who][1:]),
            "least": min(seconds[who][1:]),
            **{
                f"{name}_cpu": statistics.median(each[name] for each in cpu[who][1:])
                for name in ("server", "spark")
            },
        }
        benchmark.extra_info[who] = found
        print(f"{what} {who}: " + ", ".join(f"{name} {value:.2f} s" for name, value in found.items()))
    benchmark.extra_info["lines"] = [line(what, rows, who, seconds[who][1:], cpu[who][1:]) for who in works]
    mine = benchmark.extra_info["ours"]["median"]
    started = benchmark.extra_info.get("ours, one row", {}).get("median", 0.0)
    for who in works:
        if "ours" not in who and "one row" not in who:
            times = benchmark.extra_info[who]["median"] / mine
            apart = benchmark.extra_info[who]["median"] / (mine - started)
            benchmark.extra_info[f"times of {who}"] = times
            print(f"{what}: ours is {times:.1f} times as fast as {who}; {apart:.1f} behind the first row")


def test_reading(benchmark: Any, machine: Machine) -> None:
    at = time.perf_counter()
    machine.spark.request(do="read", who="ours", table="bench_spark_one", rows=1)
    print(f"the first read of a session, of one row: {time.perf_counter() - at:.2f} s")
    sums = [machine.spark.request(do="sum", who=who, table="bench_spark", rows=ROWS) for who in WHOS]
    assert sums[0] == sums[1] == sums[2]
    assert sums[0][:2] == [ROWS, ROWS * (ROWS - 1) // 2]

    def work(who: str, table: str, rows: int) -> Callable[[], float]:
        return lambda: float(machine.spark.request(do="read", who=who, table=table, rows=rows))

    works = {who: work(who, "bench_spark", ROWS) for who in WHOS}
    works |= {f"{who}, one row": work(who, "bench_spark_one", 1) for who in WHOS[:2]}
    turns(benchmark, machine, "read", ROWS, works)


def test_writing(benchmark: Any, machine: Machine) -> None:
    def work(who: str) -> Callable[[], float]:
        def one() -> float:
            machine.conn.execute("TRUNCATE TABLE bench_spark_written")
            found = machine.spark.request(do="write", who=who, table="bench_spark_written", rows=WRITTEN)
            table = machine.conn.read_arrow(
                "SELECT COUNT(*)::INT c, SUM(k)::BIGINT k, SUM(x) x FROM bench_spark_written"
            )
            total = WRITTEN * (WRITTEN - 1) // 2
            assert table.to_pylist() == [{"c": WRITTEN, "k": total, "x": total / 8}]
            return float(found)

        return one

    turns(benchmark, machine, "write", WRITTEN, {who: work(who) for who in WHOS})
