"""Spark jobs that are killed and repeated: each write takes effect once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.interop.jdbc import toolchain

import informix_arrow as ifx
from informix_arrow.partition import staged_load
from informix_arrow.server import Server

from .environments import environment, run
from .test_spark import PYSPARK

JOB = str(Path(__file__).with_name("spark_death_job.py"))
KILLS_JOB = str(Path(__file__).with_name("spark_kills_job.py"))
OLD, NEW = 3, 1000
ROOT = Path(__file__).parents[2]
ROWS_OF_NIGHT = 20
WORKERS = Path(__file__).with_name("spark_workers")
KILLS = int(os.environ.get("INFORMIX_ARROW_SPARK_KILLS") or 68)  # in each session
SESSIONS = 3  # at the last kill of each session but the last, the driver dies


def killed(python: Path, url: str, place: Path, moment: str) -> None:
    """Run the job until it waits, and kill everything that it has started."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    log = (place / f"{moment}.log").open("w")
    job = subprocess.Popen(
        [str(python), JOB, url, str(place), "die", moment],
        env={**kept, "PYSPARK_PYTHON": str(python)},
        cwd=place,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        while not (place / moment).exists():
            assert job.poll() is None, (place / f"{moment}.log").read_text()
            time.sleep(0.1)
    finally:
        for process in session_of(job.pid):
            os.kill(process, signal.SIGKILL)
        job.wait()
        log.close()


def session_of(leader: int) -> list[int]:
    """Return the processes of a session: Spark's Python workers have their own process groups."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if os.getsid(int(folder.name)) == leader:
                    found.append(int(folder.name))
            except ProcessLookupError:
                pass
    return found


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="who belongs to the job is looked up in /proc")
def test_a_driver_that_dies_leaves_all_or_nothing_and_the_same_job_again_writes_once(tmp_path: Path) -> None:
    python = spark_python()
    with Server() as server:
        server.create_database("shop")
        url = server.url("shop")
        with ifx.connect(url, autocommit=True, lock_wait=60) as conn:
            for table in ("before", "after"):
                conn.execute(f"CREATE TABLE {table} (k INT, after INT)")
                conn.execute(f"INSERT INTO {table} SELECT FIRST {OLD} -tabid, 7 FROM systables")

            def rows(table: str) -> tuple[int, int]:
                found = conn.execute(f"SELECT COUNT(*), COUNT(DISTINCT k) FROM {table}").fetchone()
                assert found is not None
                return int(found[0]), int(found[1])

            killed(python, url, tmp_path, "before")
            assert rows("before") == (OLD, OLD)
            staged = staged_load.sweep(conn, -60.0)
            assert len(staged) == 2, "two tasks had staged their rows"
            killed(python, url, tmp_path, "after")
            assert rows("after") == (OLD + NEW, OLD + NEW)
            assert staged_load.sweep(conn, -60.0) == [], "what was taken is dropped"
            job = (str(python), JOB, url, str(tmp_path), "again", "before", "after")
            run(*job, env={"PYSPARK_PYTHON": str(python)}, cwd=tmp_path)
            assert rows("before") == rows("after") == (OLD + NEW, OLD + NEW)
            assert staged_load.sweep(conn, -60.0) == []
            ids = conn.execute("SELECT id FROM informix_arrow_writes ORDER BY id").fetchall()
            assert ids == [("nightly after",), ("nightly before",)]


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="who belongs to the job is looked up in /proc")
def test_writes_that_are_killed_at_each_exchange_are_made_once(tmp_path: Path) -> None:
    python = spark_python()
    with Server() as server:
        server.create_database("shop")
        url = server.url("shop")
        with ifx.connect(url, autocommit=True, lock_wait=60) as conn:
            conn.execute("CREATE TABLE nights (night INT, k INT, tail INT)")

            def counts() -> dict[int, tuple[int, int]]:
                found = conn.execute("SELECT night, COUNT(*), COUNT(DISTINCT k) FROM nights GROUP BY night")
                return {int(night): (int(rows), int(keys)) for night, rows, keys in found.fetchall()}

            told: list[Any] = []
            skipped = 0  # writes repeated after they had been committed
            for session in range(SESSIONS):
                first = told[-1]["number"] if told else 1
                last = "driver" if session < SESSIONS - 1 else "write"
                log, ended = run_kills(python, tmp_path, url, first, session * KILLS, KILLS, last)
                told += [json.loads(line) for line in log.splitlines() if line.startswith("{")]
                skipped += log.count("was made before.")
                assert ended == (-signal.SIGKILL if last == "driver" else 0), log
                whole = (ROWS_OF_NIGHT, ROWS_OF_NIGHT)
                wrong = {night: found for night, found in counts().items() if found != whole}
                assert not wrong, told
                if last == "driver":  # all of its write is in effect, or none; the next session repeats it
                    assert counts().keys() - {told[-1]["number"]} == set(range(1, told[-1]["number"])), told
            nights = told[-1]["number"]
            assert counts() == dict.fromkeys(range(1, nights + 1), (ROWS_OF_NIGHT, ROWS_OF_NIGHT))
            ids = {id for (id,) in conn.execute("SELECT id FROM informix_arrow_writes").fetchall()}
            assert ids == {f"night {night}" for night in range(1, nights + 1)}
            assert skipped
            # Tables of writers that died before Spark could call abort(). A later write drops them once they are old.
            staged_load.sweep(conn, -60.0)
            assert conn.execute("SELECT COUNT(*) FROM nights").fetchone() == (nights * ROWS_OF_NIGHT,)
            died = [each["dies"][0] for each in told if each["what"] == "killed"]
            places = {(stage, moment, call) for stage, moment, call, _ in died}
            print(f"{len(died) + SESSIONS - 1} kills of {nights} writes, at {len(places)} places")
            print({stage: max(call for each, _, call in places if each == stage) for stage, _, _ in places})
            assert len(died) + SESSIONS - 1 == KILLS * SESSIONS


def run_kills(
    python: Path, place: Path, url: str, first: int, step: int, kills: int, last: str
) -> tuple[str, int]:
    """Run the job. Return its output and its exit status."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    kept |= {"PYSPARK_PYTHON": str(python), "PYTHONPATH": os.pathsep.join((str(WORKERS), str(ROOT)))}
    log = place / f"{first}.log"
    with log.open("w") as out:
        done = subprocess.run(
            [str(python), KILLS_JOB, url, str(first), str(step), str(kills), last],
            env=kept,
            cwd=place,
            stdout=out,
            stderr=out,
            check=False,
            start_new_session=True,
        )
    return log.read_text(), done.returncode


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_append_without_a_write_id_warns(tmp_path: Path) -> None:
    python = spark_python()
    with Server() as server:
        server.create_database("shop")
        url = server.url("shop")
        with ifx.connect(url, autocommit=True, lock_wait=60) as conn:
            conn.execute("CREATE TABLE nights (night INT, k INT, tail INT)")
            without, ended = run_kills(python, tmp_path, url, 0, 0, 0, "write")
            assert ended == 0, without
            assert "This append has no option writeId." in without
            named, ended = run_kills(python, tmp_path, url, 1, 0, 0, "write")
            assert ended == 0, named
            assert "no option writeId" not in named
            assert conn.execute("SELECT COUNT(*) FROM nights").fetchone() == (2 * ROWS_OF_NIGHT,)


def spark_python() -> Path:
    """The python of an environment with PySpark."""
    try:
        toolchain.program("java", "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    return environment("spark", PYSPARK)
