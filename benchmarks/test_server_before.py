"""What today's server costs beside that of another commit: CPU of small statements and of 1,000,000 rows, by turns.

Both servers are processes of their own and have the same client, today's, which sends the same messages to both: each
round asks one and then the other, so both find the machine in the same state. CPU is that of a server's process, all
its threads. The other commit needs a checkout with a venv:

    git worktree add ../before fdc02b2 && make -C ../before venv
    INFORMIX_ARROW_BENCH_BEFORE=../before python -m pytest benchmarks/test_server_before.py -s --benchmark-only
"""

from __future__ import annotations

import itertools
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .conftest import Address
from .tables import SEED, seed_table

BEFORE = os.environ.get("INFORMIX_ARROW_BENCH_BEFORE", "")
ROUNDS, EXECUTIONS = 24, 100
MANY = 1_000_000

Work = Callable[[ifx.Connection, int], object]


@dataclass(frozen=True)
class Side:
    """One of the two servers, a connection to it, and its clock."""

    commit: str
    connection: ifx.Connection
    clock: int

    def cost(self, work: Work, numbers: list[int]) -> float:
        """Seconds of the server's CPU for some executions."""
        began = time.clock_gettime(self.clock)
        for number in numbers:
            work(self.connection, number)
        return time.clock_gettime(self.clock) - began


def _start(stack: ExitStack, root: Path, python: str) -> Side:
    command = [python, "-m", "informix_arrow.cli", "serve", "--port", "0"]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix", "PYTHONPATH": ""}
    process = stack.enter_context(
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=root)
    )
    stack.callback(process.terminate)
    assert process.stdout is not None
    ready = re.fullmatch(r"listening on (\S+):(\d+)\n", process.stdout.readline())
    assert ready is not None
    connection = stack.enter_context(Address(ready[1], int(ready[2])).ours(autocommit=True))
    connection.execute("CREATE TABLE small (id INTEGER PRIMARY KEY, name VARCHAR(20), n INTEGER)")
    rows = [(i, f"row {i}", i) for i in range(1000)]
    connection.cursor().executemany("INSERT INTO small VALUES (?, ?, ?)", rows)
    connection.execute(f"CREATE TABLE many ({SEED})")
    connection.write_arrow("many", seed_table(MANY))
    reported = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    )
    return Side(
        reported.stdout.strip(), connection, (~process.pid << 3) | 2
    )  # as clock_getcpuclockid(3) makes it


@pytest.fixture(scope="module")
def sides() -> Iterator[tuple[Side, Side]]:
    """The other commit's server, and today's."""
    if not BEFORE or not sys.platform.startswith("linux"):
        pytest.skip(
            "INFORMIX_ARROW_BENCH_BEFORE names no checkout of another commit, or the CPU clock is not Linux's"
        )
    before = Path(BEFORE).resolve()
    with ExitStack() as stack:
        yield (
            _start(stack, before, str(before / ".venv" / "bin" / "python")),
            _start(stack, Path(__file__).parents[1], sys.executable),
        )


_fresh = itertools.count(1_000_000)


def _one(connection: ifx.Connection, number: int) -> object:
    return connection.execute("SELECT 1").fetchall()


def _by_key(connection: ifx.Connection, number: int) -> object:
    return connection.execute("SELECT id, name, n FROM small WHERE id = ?", (number % 1000,)).fetchall()


def _insert(connection: ifx.Connection, number: int) -> object:
    return connection.execute("INSERT INTO small VALUES (?, ?, ?)", (next(_fresh), "abc", number))


def _literals(connection: ifx.Connection, number: int) -> object:
    return connection.execute(f"INSERT INTO small VALUES ({next(_fresh)}, 'abc', {number})")


def _update(connection: ifx.Connection, number: int) -> object:
    return connection.execute("UPDATE small SET n = ? WHERE id = ?", (number, number % 1000))


def _many(connection: ifx.Connection, number: int) -> object:
    found = connection.read_arrow("SELECT * FROM many")
    assert found.num_rows == MANY
    return found


@pytest.mark.parametrize(
    ("what", "work", "executions"),
    [
        ("SELECT 1", _one, EXECUTIONS),
        ("SELECT by key", _by_key, EXECUTIONS),
        ("INSERT", _insert, EXECUTIONS),
        ("INSERT of literals", _literals, EXECUTIONS),
        ("UPDATE by key", _update, EXECUTIONS),
        ("SELECT of 1,000,000 rows", _many, 1),
    ],
)
def test_server_beside_another_commit_s(
    benchmark: BenchmarkFixture, sides: tuple[Side, Side], what: str, work: Work, executions: int
) -> None:
    figures: list[tuple[float, float]] = []
    numbers = itertools.count()

    def one_round() -> None:
        some = [next(numbers) for _ in range(executions)]
        turn = 1 if len(figures) % 2 else -1  # each is the first as often as the other
        costs = [side.cost(work, some) / executions for side in sides[::turn]][::turn]
        figures.append((costs[0], costs[1]))

    benchmark.group = "server beside another commit's"
    benchmark.pedantic(one_round, rounds=ROUNDS, warmup_rounds=2)
    measured = figures[2:]
    before, today = (statistics.median(side) for side in zip(*measured, strict=True))
    least_before, least_today = (min(side) for side in zip(*measured, strict=True))
    ratio = statistics.median(now / then for then, now in measured)
    benchmark.extra_info.update(
        subject=f"server beside another commit's: {what}",
        who="today",
        rows=1,
        commits=[side.commit for side in sides],
        before=before,
        today=today,
        least_before=least_before,
        least_today=least_today,
        ratio=ratio,
    )
    print(
        f"\n{what}: {before * 1e3:.3f} ms then, {today * 1e3:.3f} ms today (least {least_before * 1e3:.3f}, "
        f"{least_today * 1e3:.3f}), ratio of pairs {ratio:.2f}"
    )
