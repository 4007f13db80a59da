"""The plots of the report, as SVG, from the report's lines."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[1]
PLOTS = ROOT / "docs" / "benchmarks"

Line: TypeAlias = dict[str, Any]

PLOTTED = (
    ("read_by_rows", "Seconds to read a result, by rows"),
    ("load", "Seconds to load 100,000 rows"),
    ("types", "Nanoseconds per value, by type"),
    ("latency", "Latency of SELECT 1"),
    ("memory", "Memory while reading 1,000,000 rows"),
)


def draw(lines: list[Line], machine: Line) -> None:
    """The plots of PLOTTED, for which there is data."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "informix-arrow"
    import matplotlib.pyplot as plt

    PLOTS.mkdir(exist_ok=True)
    note = f"commit {machine['commits']}, {machine['datetime'][:10]}"

    def save(figure: Any, name: str, command: str) -> None:
        figure.text(
            0.01,
            -0.01,  # beneath the name of the axis
            f"{command} · {machine.get('cpu', {}).get('brand_raw', '')} · {note}",
            fontsize=6,
            color="grey",
            verticalalignment="top",
        )
        figure.savefig(PLOTS / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)

    by_rows: dict[str, dict[int, float]] = defaultdict(dict)
    for line in lines:
        if re.fullmatch(r"read [\d,]+ rows", line["subject"]):
            by_rows[line["who"]][line["rows"]] = line["median"]
    if by_rows:
        figure, axes = plt.subplots(figsize=(7, 4))
        for who, points in by_rows.items():
            axes.loglog(sorted(points), [points[n] for n in sorted(points)], "o-", label=who)
        axes.set(xlabel="rows", ylabel="seconds", title=PLOTTED[0][1])
        axes.legend()
        axes.grid(alpha=0.3)
        save(figure, "read_by_rows", "benchmarks/test_select.py")
    loads = sorted(
        (line for line in lines if line["subject"] == "load 100,000 rows"), key=lambda line: -line["median"]
    )
    if loads:
        figure, axes = plt.subplots(figsize=(7, 3.5))
        axes.barh(
            [line["who"] for line in loads],
            [line["median"] for line in loads],
            xerr=[line["iqr"] / 2 for line in loads],
        )
        axes.set(xscale="log", xlabel="seconds", title=PLOTTED[1][1])
        save(figure, "load", "benchmarks/test_insert.py")
    types: dict[str, dict[str, float]] = defaultdict(dict)
    for line in lines:
        if match := re.fullmatch(r"decode (?!rows)(.*)", line["subject"]):
            types[match[1]][line["who"]] = line["ns_per_row"]
    if types:
        figure, axes = plt.subplots(figsize=(7, 8))
        names = sorted(types, key=lambda name: -types[name].get("C", 0))
        axes.barh(names, [types[name].get("C", 0) for name in names], label="decode in C")
        axes.barh(
            names,
            [types[name].get("memcpy", 0) for name in names],
            height=0.3,
            label="memcpy of the same bytes",
        )
        axes.set(xlabel="ns per value", title=PLOTTED[2][1])
        axes.legend()
        save(figure, "types", "benchmarks/test_codec.py")
    latencies = [line for line in lines if line["subject"] == "SELECT 1" and "p50" in line]
    if latencies:
        figure, axes = plt.subplots(figsize=(7, 3.5))
        marks = ("p50", "p90", "p95", "p99", "max")
        for line in latencies:
            axes.semilogy(marks, [line[p] / 1000 for p in marks], "o-", label=line["who"])
        axes.set(ylabel="ms", title=PLOTTED[3][1])
        axes.legend()
        axes.grid(alpha=0.3)
        save(figure, "latency", "benchmarks/test_latency.py")
    growing = [
        line for line in lines if line["subject"] == "memory for 1,000,000 rows" and line.get("over_time")
    ]
    if growing:
        figure, axes = plt.subplots(figsize=(7, 3.5))
        for line in growing:
            points = line["over_time"]
            axes.plot(
                [100 * i / max(1, len(points) - 1) for i in range(len(points))], points, label=line["who"]
            )
        axes.set(xlabel="% of the run", ylabel="MB more than before", title=PLOTTED[4][1])
        axes.legend()
        axes.grid(alpha=0.3)
        save(figure, "memory", "benchmarks/test_memory.py")
