"""The plots of the report, as SVG: horizontal bars on a linear scale, each with its figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .figures import ROOT, Line, by_name, factor, flat, seconds, typical

PLOTS = ROOT / "docs" / "benchmarks"
WIDTH, HEIGHT = 6.4, 3.8  # inches, of every plot but the one with a bar for each type

READ, LOAD, LATENCY, MEMORY, CPU, TYPES = ("read_by_rows", "load", "latency", "memory", "cpu", "types")
TITLES = {
    READ: "Time to read a result",
    LOAD: "Time to load 100,000 rows",
    LATENCY: "Latency of one call: median (dark) and 99th percentile (light)",
    MEMORY: "Memory for 1,000,000 rows: process (light), Arrow data (dark)",
    CPU: "CPU time of the client for each row",
    TYPES: "Nanoseconds to decode one value (dark: memcpy of the same bytes)",
}
DARK = {"ours": "#2b6cb0", "informix-driver": "#c05621", "JDBC": "#4a5568"}
LIGHT = {"ours": "#90cdf4", "informix-driver": "#fbd38d", "JDBC": "#cbd5e0"}


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its length, the figure beside it, and the length of its light part behind it."""

    who: str
    length: float
    figure: str
    behind: float = 0.0

    @property
    def family(self) -> str:
        """Which driver it belongs to, for its colour."""
        return next((name for name in ("informix-driver", "JDBC") if name in self.who), "ours")


def picture(name: str) -> list[str]:
    """Return the Markdown of a plot, or nothing if it was not drawn."""
    return [f"![{TITLES[name]}](benchmarks/{name}.svg)"] if (PLOTS / f"{name}.svg").exists() else []


def draw(lines: list[Line], folder: Path = PLOTS, kind: str = "svg") -> None:
    """Draw every plot for which there are figures."""
    panels = {
        READ: _reads(lines),
        LOAD: _loads(lines),
        LATENCY: _latencies(lines),
        MEMORY: _memory(lines),
        CPU: _cpu(lines),
        TYPES: _types(lines),
    }
    for name, found in panels.items():
        if found := {title: bars for title, bars in found.items() if bars}:
            _draw(name, found, folder / f"{name}.{kind}")


def _compared(lines: list[Line], subject: str, whos: tuple[str, ...]) -> list[Bar]:
    """Return a bar for each of `whos`, in this order, with how many times as long as the first one it took."""
    by = by_name(lines)
    found = [by[subject, who] for who in whos if (subject, who) in by]
    return [
        Bar(line["who"], typical(line), f"{seconds(typical(line))}{_times(typical(line), typical(found[0]))}")
        for line in found
    ]


def _times(value: float, ours: float) -> str:
    return f"  ({factor(value / ours)}×)" if value > 1.05 * ours else ""


def _reads(lines: list[Line]) -> dict[str, list[Bar]]:
    whos = ("read_arrow", "cursor", "JDBC", "informix-driver")
    return {
        title: _compared(lines, subject, whos)
        for title, subject in (
            ("1 row", "read 1 rows"),
            ("1,000 rows", "read 1,000 rows"),
            ("100,000 rows", "read 100,000 rows"),
        )
    }


def _loads(lines: list[Line]) -> dict[str, list[Bar]]:
    whos = (
        "write_arrow, put",
        "write_arrow, pipeline",
        "executemany",
        "JDBC addBatch, IFX_USEPUT",
        "JDBC addBatch",
        "informix-driver",
    )
    return {"": _compared(lines, "load 100,000 rows", whos)}


def _latencies(lines: list[Line]) -> dict[str, list[Bar]]:
    by = by_name(lines)
    panels = {}
    for title, subject in (
        ("SELECT 1", "SELECT 1"),
        ("a prepared SELECT", "prepared again"),
        ("connect and close", "connect and close"),
    ):
        found = [by.get((subject, who)) for who in ("informix-arrow", "JDBC", "informix-driver")]
        panels[title] = [
            Bar(
                line["who"],
                line["p50"] * 1e-6,
                f"{seconds(line['p50'] * 1e-6)}, {seconds(line['p99'] * 1e-6)}",
                line["p99"] * 1e-6,
            )
            for line in found
            if line and "p50" in line
        ]
    return panels


def _memory(lines: list[Line]) -> dict[str, list[Bar]]:
    names = {
        "stream": "query, batch by batch",
        "partition_read": "partition_read, 2 connections",
        "read_arrow": "read_arrow, whole table",
        "write_arrow, streamed": "write_arrow, streamed",
    }
    by = by_name(lines)
    bars = []
    for who, name in names.items():
        if line := by.get(("memory for 1,000,000 rows", who)):
            data = f" ({line['arrow_mb']:.0f} MB)" if line["arrow_mb"] else ""
            bars.append(Bar(name, line["arrow_mb"], f"{line['growth_mb']:.0f} MB{data}", line["growth_mb"]))
    return {"": bars}


def _cpu(lines: list[Line]) -> dict[str, list[Bar]]:
    by = by_name(lines)
    panels = {}
    for title, subject, whos in (
        ("read 100,000 rows", "read 100,000 rows", ("read_arrow", "cursor", "informix-driver")),
        ("load 100,000 rows", "load 100,000 rows", ("write_arrow, put", "executemany", "informix-driver")),
    ):
        found = [by[subject, who] for who in whos if (subject, who) in by]
        values = [(line["who"], line["client_cpu_ns_per_row"]) for line in found]
        panels[title] = [
            Bar(who, value, f"{seconds(value * 1e-9)}{_times(value, values[0][1])}") for who, value in values
        ]
    return panels


def _types(lines: list[Line]) -> dict[str, list[Bar]]:
    """The types that take longest come first. The dark part is memcpy, the light one decoding."""
    by = by_name(lines)
    found = sorted(
        (line for line in flat(lines, r"decode (?!rows).*") if line["who"] == "C"),
        key=lambda line: -float(line["ns_per_row"]),
    )
    bars = []
    for line in found:
        copied = by.get((line["subject"], "memcpy"), {"ns_per_row": 0.0})
        name = line["subject"].partition(" ")[2]
        bars.append(Bar(name, copied["ns_per_row"], f"{line['ns_per_row']:.3g}", line["ns_per_row"]))
    return {"": bars}


def _draw(name: str, panels: dict[str, list[Bar]], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg" if path.suffix == ".png" else "svg")
    matplotlib.rcParams["svg.hashsalt"] = "informix-arrow"
    matplotlib.rcParams["font.size"] = 9
    import matplotlib.pyplot as plt

    slots = sum(len(bars) + bool(title) for title, bars in panels.items())
    figure, rows = plt.subplots(
        len(panels),
        1,
        figsize=(WIDTH, max(HEIGHT, slots * 0.22 + 0.5)),
        height_ratios=[len(bars) for bars in panels.values()],
        squeeze=False,
        layout="constrained",
    )
    figure.suptitle(TITLES[name], x=0.01, horizontalalignment="left", fontsize=11, fontweight="bold")
    for (axes,), (title, bars) in zip(rows, panels.items(), strict=True):
        _panel(axes, title, bars)
    figure.savefig(path, **({"dpi": 100} if path.suffix == ".png" else {"metadata": {"Date": None}}))
    plt.close(figure)


def _panel(axes: Any, title: str, bars: list[Bar]) -> None:
    """Draw bars from top to bottom. Their figures replace the axis."""
    longest = max(max(bar.length, bar.behind) for bar in bars)
    places = range(len(bars), 0, -1)
    for place, bar in zip(places, bars, strict=True):
        end = max(bar.length, bar.behind)
        axes.barh(place, end, height=0.7, color=LIGHT[bar.family])
        axes.barh(place, bar.length, height=0.7, color=DARK[bar.family])
        axes.text(end + longest * 0.015, place, bar.figure, verticalalignment="center", fontsize=9)
    axes.set(xlim=(0, longest * 1.35), ylim=(0.5, len(bars) + 0.5), xticks=[])
    axes.set_yticks(list(places), [bar.who for bar in bars])
    axes.tick_params(length=0)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    if title:
        axes.set_title(title, loc="left", fontsize=9, fontstyle="italic")
