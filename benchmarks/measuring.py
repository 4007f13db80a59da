"""How a piece of work is measured, and what is kept of it besides the times.

Every benchmark belongs to a *subject* (pytest-benchmark's group: "read 100,000 rows") and has a *who* (the driver,
the way, or the floor that does the same work). `extra_info` holds what the report needs: rows, the time and the
client's CPU per row, and the spread. Rounds are chosen by cost: at least MIN_ROUNDS, and as many more as fit into
SECONDS.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

MIN_ROUNDS = 10
MAX_ROUNDS = 100
SECONDS = 2.0

PAIRS: list[str] = []
"""What was measured beside other work in this run, as pytest says at its end."""


def measure(
    benchmark: BenchmarkFixture,
    subject: str,
    who: str,
    work: Callable[[], object],
    *,
    rows: int = 1,
    rounds: int | None = None,
    beside: tuple[str, Callable[[], object]] | None = None,
    **facts: object,
) -> Any:
    """Time ``work`` after a warm-up; what it returned last.

    Parameters
    ----------
    subject, who
        What is done, and by whom: the report's table and the line in it.
    rows
        Rows (values, queries) that one round handles; times are divided by it.
    rounds
        Instead of as many as fit into ``SECONDS``. Never fewer than ``MIN_ROUNDS``, whatever is said here.
    beside
        Other work, by its name, that is done before each round and timed for itself: ``extra_info["times"]`` is the
        median of the rounds over its median. Two pieces of work in turns meet the same load.
    facts
        More for the report.
    """
    began = time.perf_counter()
    work()
    once = time.perf_counter() - began
    chosen = max(MIN_ROUNDS, min(MAX_ROUNDS, rounds or int(SECONDS / max(once, 1e-9))))
    cpu: list[float] = []
    other: list[float] = []

    def before() -> None:
        if beside is not None:
            at = time.perf_counter()
            beside[1]()
            other.append(time.perf_counter() - at)

    def timed() -> object:
        at = time.process_time()
        found = work()
        cpu.append(time.process_time() - at)
        return found

    benchmark.group = subject
    result = benchmark.pedantic(timed, setup=before, rounds=chosen, warmup_rounds=1)
    stats: Any = benchmark.stats
    stats = stats.stats
    if beside is not None:
        times = stats.median / statistics.median(other[1:])
        facts.update(times=times)
        doer = "it" if who == beside[0] else who  # ours, by the name of what it is held against
        PAIRS.append(f"{subject}: {doer} takes {times:.2f} times as long as {beside[0]}")
    benchmark.extra_info.update(
        subject=subject,
        who=who,
        rows=rows,
        ns_per_row=stats.median / rows * 1e9,
        ns_per_row_iqr=stats.iqr / rows * 1e9,
        client_cpu_ns_per_row=statistics.median(cpu[1:]) / rows * 1e9,
        rows_per_second=rows / stats.median,
        **facts,
    )
    return result


def percentiles(samples: list[float]) -> dict[str, float]:
    """p50, p90, p95, p99 and max of some seconds, in microseconds."""
    ordered = sorted(samples)
    at = {f"p{p}": ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1e6 for p in (50, 90, 95, 99)}
    return {**at, "max": ordered[-1] * 1e6}


@contextmanager
def on_one_core() -> Iterator[None]:
    """Keep this process, and those that it starts meanwhile, on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
