"""The figures of a report: read from pytest-benchmark's files, and stored beside the pages."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[1]
STORED = ROOT / "docs" / "benchmarks" / "figures.json"
PACKAGES = ("informix-arrow", "pyarrow", "numpy", "duckdb", "polars", "pandas", "informix-driver")

Line: TypeAlias = dict[str, Any]
"""One figure: `subject`, `who`, and what was measured."""


def load(paths: list[str]) -> tuple[list[Line], Line]:
    """Return the figures of all files, and the machine. A figure in a later file replaces an earlier one."""
    found: dict[tuple[str, str], Line] = {}
    machine: Line = {}
    commits: dict[str, None] = {}  # a set that keeps its order
    for path in paths:
        data = json.loads(Path(path).read_text())
        commit = data["commit_info"]
        dirty = " with uncommitted changes" if commit.get("dirty") else ""
        commits[str(commit.get("id"))[:12] + dirty] = None
        machine = {
            "cpu": {key: data["machine_info"].get("cpu", {}).get(key) for key in ("brand_raw", "count")},
            "system": data["machine_info"]["system"],
            "release": data["machine_info"]["release"],
            "software": software(),
            "commits": " and ".join(commits),
            "datetime": data["datetime"][:10],
        }
        for entry in data["benchmarks"]:
            info, stats = entry["extra_info"], entry["stats"]
            if "who" in info:
                line = {**info, "median": stats["median"], "iqr": stats["iqr"], "rounds": stats["rounds"]}
                found[info["subject"], info["who"]] = line
            for line in info.get("lines", ()):  # several, measured in turns
                found[line["subject"], line["who"]] = line
    return list(found.values()), machine


def store(lines: list[Line], machine: Line) -> None:
    """Store the figures, so that the pages can be written again without measuring. One line of the file for each."""
    body = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    STORED.write_text(f'{{"machine": {json.dumps(machine)},\n"lines": [\n{body}\n]}}\n')


def stored() -> tuple[list[Line], Line]:
    """Return what `store` wrote."""
    data = json.loads(STORED.read_text())
    return data["lines"], data["machine"]


def software() -> str:
    """Return the versions of Python, the compiler and the packages."""
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False).stdout
    packages = []
    for package in PACKAGES:
        try:
            packages.append(f"{package} {version(package)}")
        except ImportError:
            packages.append(f"{package} not installed")
    return (
        f"Python {platform.python_version()}; {compiler.splitlines()[0] if compiler else 'no cc'}; "
        f"{', '.join(packages)}"
    )


def provenance(machine: Line) -> str:
    """Return where the figures come from, in one paragraph."""
    cpu = machine["cpu"]
    return (
        f"{cpu['brand_raw'] or 'unknown processor'}, {cpu['count'] or '?'} cores, {machine['system']} "
        f"{machine['release']}; {machine['software']}; commit {machine['commits']}, {machine['datetime']}."
    )


def seconds(value: float) -> str:
    """Return three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def factor(value: float) -> str:
    """Return how many times as large something is, in whole numbers from 10 on."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def group(lines: list[Line], pattern: str) -> dict[str, list[Line]]:
    """Return the figures whose subject matches, by subject."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if re.fullmatch(pattern, line["subject"]):
            found[line["subject"]].append(line)
    return dict(found)


def flat(lines: list[Line], pattern: str) -> list[Line]:
    """Return the figures whose subject matches, those of one subject together."""
    return [line for found in group(lines, pattern).values() for line in found]


def by_name(lines: list[Line]) -> dict[tuple[str, str], Line]:
    """Return the figures by subject and who."""
    return {(line["subject"], line["who"]): line for line in lines}


def typical(line: Line) -> float:
    """Return the median of one call, in seconds."""
    return float(line["p50"]) * 1e-6 if "p50" in line else float(line["median"])


def markdown_table(heads: list[str], rows: list[list[str]], left: int = 1) -> str:
    """Return a table whose first columns are aligned left, the others right."""
    marks = "---|" * left + "---:|" * (len(heads) - left)
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    lines.insert(1, f"|{marks}")
    return "\n".join(lines)
