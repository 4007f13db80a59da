"""`make bench-report`: docs/benchmarks.md and its plots, and the table in README, from raw results. Nothing by hand.

    python -m benchmarks.report RESULTS.json [RESULTS.json ...]

Takes pytest-benchmark's files. Each plot and table says which command, machine, versions and commit it is from.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from .plots import PLOTS, PLOTTED, Line, draw

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
OURS = ("read_arrow", "write_arrow, put", "informix-arrow", "our data source")
PACKAGES = ("informix-arrow", "pyarrow", "numpy", "duckdb", "polars", "pandas", "informix-driver")


def load(paths: list[str]) -> tuple[list[Line], Line]:
    """The lines of all files that say who did what, and what is known of the machine. Later files win."""
    found: dict[tuple[str, str], Line] = {}
    machine: Line = {}
    commits: dict[str, None] = {}  # in their order
    for path in paths:
        data = json.loads(Path(path).read_text())
        commit = data["commit_info"]
        commits[str(commit.get("id"))[:12] + (" with uncommitted changes" if commit.get("dirty") else "")] = (
            None
        )
        machine = {**data["machine_info"], "commits": " and ".join(commits), "datetime": data["datetime"]}
        for entry in data["benchmarks"]:
            info, stats = entry["extra_info"], entry["stats"]
            if "who" in info:
                line = {**info, "median": stats["median"], "iqr": stats["iqr"], "rounds": stats["rounds"]}
                found[info["subject"], info["who"]] = line
            for line in info.get("lines", ()):  # several in turns
                found[line["subject"], line["who"]] = line
    return list(found.values()), machine


def provenance(machine: Line) -> str:
    """Where the figures come from, in one paragraph."""
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False).stdout
    packages = []
    for package in PACKAGES:
        try:
            packages.append(f"{package} {version(package)}")
        except ImportError:
            packages.append(f"{package} not installed")
    cpu = machine.get("cpu", {})
    return (
        f"{cpu.get('brand_raw', 'unknown processor')}, {cpu.get('count', '?')} cores, {machine['system']} "
        f"{machine['release']}; Python {platform.python_version()}; "
        f"{compiler.splitlines()[0] if compiler else 'no cc'}; "
        f"{', '.join(packages)}; commit {machine['commits']}, {machine['datetime'][:10]}."
    )


def seconds(value: float) -> str:
    """Three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def table(lines: list[Line]) -> str:
    """One subject: who, time, spread, per row, CPU, and how many times the first line's time."""
    ours = next((line for line in lines if line["who"] in OURS), lines[0])
    out = [
        "| who | median | IQR | per row | client CPU per row | times |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for line in sorted(lines, key=lambda line: line["median"]):
        times = line.get("times", line["median"] / ours["median"])
        cpu = line.get("client_cpu_ns_per_row")
        # The CPU of a JVM is that of another process, which nobody measured.
        shown = "" if cpu is None or "JDBC" in line["who"] else seconds(cpu * 1e-9)
        out.append(
            f"| {line['who']} | {seconds(line['median'])} | {seconds(line['iqr'])} "
            f"| {seconds(line['ns_per_row'] * 1e-9)} | {shown} | {times:.3g} |"
        )
    return "\n".join(out)


def latency_table(lines: list[Line]) -> str:
    """Percentiles of one call."""
    out = ["| who | p50 | p90 | p95 | p99 | max | client CPU |", "|---|---:|---:|---:|---:|---:|---:|"]
    for line in sorted(lines, key=lambda line: line["ns_per_row"]):
        if "p50" in line:
            cells = " | ".join(seconds(line[p] * 1e-6) for p in ("p50", "p90", "p95", "p99", "max"))
        else:  # a floor, timed as a whole
            cells = f"{seconds(line['ns_per_row'] * 1e-9)} | | | |"
        cpu = line.get("client_cpu_ns_per_row")
        out.append(
            f"| {line['who']} | {cells} | {'' if cpu is None or 'JDBC' in line['who'] else seconds(cpu * 1e-9)} |"
        )
    return "\n".join(out)


def group(lines: list[Line], pattern: str) -> dict[str, list[Line]]:
    """By subject, those whose subject matches."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if re.fullmatch(pattern, line["subject"]):
            found[line["subject"]].append(line)
    return dict(found)


def section(title: str, lead: str, command: str, lines: list[Line], pattern: str) -> str:
    """A chapter with a table for each subject; empty when nothing of it was measured."""
    subjects = group(lines, pattern)
    if not subjects:
        return ""
    parts = [f"## {title}", lead, f"`{command}`"]
    parts += [f"### {subject}\n\n{table(found)}" for subject, found in subjects.items()]
    return "\n\n".join(parts) + "\n\n"


def codec(lines: list[Line]) -> str:
    """The chapter on decoding and encoding: tables of the whole rows, and one line for each type."""
    rows = group(lines, r"(de|en)code rows .*")
    parts = []
    if rows:
        parts.append(
            "## Codec\n\nNo server, no socket: `make bench-codec`. Encoded are the server's tuples, PUT rows and "
            "executions with their BIND; memcpy is a copy of the same bytes."
        )
    for subject, found in rows.items():
        parts.append(
            f"### {subject}\n\n| who | per row | IQR | MB/s of wire | times |\n|---|---:|---:|---:|---:|"
        )
        ours = found[0]["ns_per_row"]
        for line in sorted(found, key=lambda line: line["ns_per_row"]):
            parts[-1] += (
                f"\n| {line['who']} | {seconds(line['ns_per_row'] * 1e-9)} | {seconds(line['ns_per_row_iqr'] * 1e-9)} "
                f"| {line['mb_per_s']:,} | {line['ns_per_row'] / ours:.3g} |"
            )
    for verb in ("decode", "encode"):
        types = group(lines, rf"{verb} (?!rows ).*")
        if not types:
            continue
        whos = [
            who
            for who in ("C", "C, bind", "memcpy", "Python reference")
            if any(line["who"] == who for found in types.values() for line in found)
        ]
        parts.append(
            f"### {verb}, a value of each type\n\n| type | "
            + " | ".join(whos)
            + " |\n|---|"
            + "---:|" * len(whos)
        )
        for subject, found in types.items():
            by = {line["who"]: seconds(line["ns_per_row"] * 1e-9) for line in found}
            parts[-1] += (
                f"\n| {subject.partition(' ')[2]} | " + " | ".join(by.get(who, "") for who in whos) + " |"
            )
    return "\n\n".join(parts) + "\n\n" if parts else ""


def then_and_today(
    lines: list[Line], subject: str, words: str, columns: dict[str, Callable[[Line], str]]
) -> str:
    """Today's work beside that of an earlier commit; empty when that was not measured.

    `subject` is what the lines' subjects begin with, `columns` what they give under each head. In `words`, which stand
    above the table, and in the heads {then}, {today} and {rounds} are the commits and how often each had its turn.
    """
    found = [line for some in group(lines, rf"{subject}: .*").values() for line in some]
    if not found:
        return ""
    then, today = found[0]["commits"]
    heads = ["what", *(head.format(then=then, today=today) for head in columns)]
    rows = [
        [line["subject"].partition(": ")[2], *(cell(line) for cell in columns.values())] for line in found
    ]
    table = [f"| {' | '.join(row)} |\n" for row in (heads, *rows)]
    table.insert(1, f"|---{'|---:' * len(columns)}|\n")
    return f"{words.format(then=then, today=today, rounds=found[0]['rounds'])}\n\n{''.join(table)}\n"


def server_before(lines: list[Line], bench: str) -> str:
    """The embedded server beside that of an earlier commit."""
    return then_and_today(
        lines,
        "server beside another commit's",
        "### The embedded server, then and today\n\nCPU of the server's process for one statement, in one run: "
        "commit {then} and commit {today} by turns, asked by the same client; medians, the least "
        "of {rounds} rounds, and the median of the rounds' ratios. "
        f"`INFORMIX_ARROW_BENCH_BEFORE=<checkout of {{then}}> {bench.format('test_server_before.py')}`",
        {
            "{then}": lambda line: seconds(line["before"]),
            "{today}": lambda line: seconds(line["today"]),
            "least, {then}": lambda line: seconds(line["least_before"]),
            "least, {today}": lambda line: seconds(line["least_today"]),
            "ratio": lambda line: f"{line['ratio']:.2f}",
        },
    )


def codecs_before(lines: list[Line], bench: str) -> str:
    """The codecs beside those of an earlier commit."""
    return then_and_today(
        lines,
        "codecs beside another commit's",
        "### The codecs, then and today\n\nBoth modules in one process, in turns: commit {then} and commit {today}; "
        "the least of {rounds} rounds, CPU of a row, or of a value where a type is named; memcpy copies "
        "the bytes of the wire. "
        f"`INFORMIX_ARROW_BENCH_BEFORE=<checkout of {{then}}> {bench.format('test_codec_before.py')}`",
        {
            "{then}": lambda line: seconds(line["least_before"]),
            "{today}": lambda line: seconds(line["least_today"]),
            "memcpy": lambda line: seconds(line["least_memcpy"]),
            "times as fast": lambda line: f"{line['faster']:.2f}",
        },
    )


def page(lines: list[Line], machine: Line) -> str:
    """docs/benchmarks.md."""
    bench = "python -m pytest benchmarks/{} --benchmark-only"
    parts = [
        "# Benchmarks\n\nMade by `make bench-report` from raw results; no figure here is typed by hand. `make bench` "
        "measures again, on your machine. How things are measured, and what the figures leave out: "
        "[benchmarks/README.md](../benchmarks/README.md).\n\n"
        f"{provenance(machine)}\n\n"
        "Medians and interquartile ranges of at least 10 rounds after a warm-up. *times* is the median over ours, "
        "measured in turns with it where a limit is held. "
        "Every live figure includes the embedded server's work, which is the same for all. Compare within a table; "
        "absolute times of shared machines move by half.\n\n",
    ]
    for plot, title in PLOTTED:
        if (PLOTS / f"{plot}.svg").exists():
            parts.append(f"![{title}](benchmarks/{plot}.svg)\n\n")
    parts += [
        section(
            "Reading",
            "A whole SELECT: execute and all rows, into Arrow, Python tuples, or through every getter of JDBC.",
            bench.format("test_select.py"),
            lines,
            r"read (?!.*recorded)(?!.* over ).*",
        ),
        section(
            "Reading without a server",
            "A recorded session played back by a process that only sends; the floor reads the same bytes only.",
            bench.format("test_select.py -k recorded"),
            lines,
            r"read .*recorded.*",
        ),
        section(
            "Loading",
            "INT, VARCHAR(64), INT, FLOAT, DATE.",
            bench.format("test_insert.py"),
            lines,
            r"(load|insert|write_arrow|the embedded server takes) (?!.* over ).*",
        ),
        section(
            "Polars and pandas",
            "Their own functions for databases beside our calls that do the same work.",
            bench.format("test_consumers.py"),
            lines,
            r"frames: .*",
        ),
        section(
            "SQLAlchemy",
            "Its Core and ORM beside our cursor.",
            bench.format("test_sqlalchemy.py"),
            lines,
            r"SQLAlchemy: .*",
        ),
        section(
            "Spark",
            "Five columns, two tasks in a warm session (`local[2]`), in turns; the CPU is that of the JVM and of "
            "its Python workers. *tuned*: a fetch buffer of 1 MiB (FET_BUF_SIZE) and IFX_USEPUT.",
            bench.format("test_spark.py"),
            lines,
            r"Spark: .*",
        ),
    ]
    live = group(lines, r"SELECT 1( through a pool)?|prepared again|connect and close")
    if live:
        parts.append(f"## Latency\n\n`{bench.format('test_latency.py')}`\n\n")
        parts += [f"### {subject}\n\n{latency_table(found)}\n\n" for subject, found in live.items()]
    alone = [line for found in group(lines, r".*, the client alone").values() for line in found]
    if alone:
        rows = [
            f"| {line['subject'].partition(',')[0]} | {line['who']} | {seconds(line['ns_per_row'] * 1e-9)} "
            f"| {seconds(line['client_cpu_ns_per_row'] * 1e-9)} | {seconds(line['floor_ns_per_row'] * 1e-9)} |"
            for line in alone
        ]
        parts.append(
            "### The client alone\n\nThe same statements against a recorded session; the floor is a bare socket that "
            "plays ping-pong with the very bytes of that driver.\n\n| what | who | one | client CPU | floor |\n"
            "|---|---|---:|---:|---:|\n" + "\n".join(rows) + "\n\n"
        )
    more = [line for found in group(lines, r".*, one more").values() for line in found]
    if more:
        rows = [
            f"| {line['subject'].partition(',')[0]} | {seconds(line['ns_per_row'] * 1e-9)} "
            f"| {seconds(line['client_cpu_ns_per_row'] * 1e-9)} | {line['who']} | {line['times']:.2f} |"
            for line in more
        ]
        parts.append(
            "### One statement more\n\n2,000 statements of one session, played back, all on one core: the median "
            "of ours, and over that of a bare socket that plays the same bytes, in turns. So with a connection: over "
            "that of informix-driver, which plays its own session.\n\n"
            "| what | one | client CPU | beside | times |\n|---|---:|---:|---|---:|\n"
            + "\n".join(rows)
            + "\n\n"
        )
    slow = [line for found in group(lines, r".* over \d+ ms").values() for line in found]
    if slow:
        rows = [
            f"| {line['subject']} | {line['who']} | {seconds(line['median'])} | {line['round_trips']} |"
            for line in slow
        ]
        parts.append(
            "### Over a slow link\n\nThe round trips of one such operation, counted at the link.\n\n"
            "| what | who | median | round trips |\n|---|---|---:|---:|\n" + "\n".join(rows) + "\n\n"
        )
    parts.append(server_before(lines, bench))
    fair = ", ".join(
        f"{line['who']} {line['fairness']:.2f}"
        for line in lines
        if line.get("workers", 1) > 1 and "fairness" in line
    )
    lead = (
        "A pool, each who takes the next read when done. Two recorded reads have two processes that send, on the "
        "same cores."
    )
    lead += f" Fairness, the fewest reads of one over the most: {fair}." if fair else ""
    parts.append(section("Several at once", lead, bench.format("test_concurrency.py"), lines, r"(64|two) .*"))
    memory = [line for found in group(lines, r"memory for .* rows").values() for line in found]
    if memory:
        rows = [
            f"| {line['who']} | {line['rows']:,} | {line['growth_mb']:.0f} MB "
            f"| {max(line['arrow_mb'], line['objects_mb']):.0f} MB | {line['bytes_per_row']:.0f} |"
            for line in sorted(memory, key=lambda line: (line["who"], line["rows"]))
        ]
        parts.append(
            "## Memory\n\nGrowth of the resident set to its peak, a process each; beside it the largest Arrow object, "
            "or the Python objects of a cursor's rows. "
            f"`{bench.format('test_memory.py')}`\n\n"
            "| mode | rows | growth | objects | bytes per row |\n|---|---:|---:|---:|---:|\n"
            + "\n".join(rows)
            + "\n\n"
        )
    scaling = [line for found in group(lines, r"scaling .*").values() for line in found]
    if scaling:
        rows = [
            f"| {line['who']} | {line['subject'].split()[-1]} | {line['exponent']:.2f} "
            f"| {line['exponent_of_the_last_step']:.2f} |"
            for line in scaling
        ]
        parts.append(
            f"## Scaling\n\ncost = a · n^exponent; 1 is linear, less where a fixed cost is shared. "
            f"`{bench.format('test_scaling.py')}`\n\n"
            "| what | with | exponent | of the last step |\n|---|---|---:|---:|\n" + "\n".join(rows) + "\n\n"
        )
    parts.append(codec(lines))
    parts.append(codecs_before(lines, bench))
    world = r"another world: .*"
    peers = [line for found in group(lines, world).values() for line in found if "server" in line]
    if peers:
        server = ", ".join(sorted({line["server"] for line in peers}))
        packages = ", ".join(sorted({line["package"] for line in peers}))
        parts.append(
            section(
                "Another world",
                f"For orientation only: a different server with other wire formats. {packages} read the same five "
                f"columns over the binary COPY of {server}; `read_arrow` reads as many rows from the embedded server. "
                "The times include each server's own work, so only the client's CPU per row (all threads) says "
                "something, best at 1,000,000 rows: connectorx connects anew for each read, the others do not.",
                bench.format("test_other_world.py"),
                lines,
                world,
            )
        )
    return "".join(parts).rstrip() + "\n"


def readme(lines: list[Line], machine: Line) -> str:
    """The table between README's marks: what is won and what is lost."""
    wanted = (
        ("read 1 rows", "read one row"),
        ("read 1,000 rows", "read 1,000 rows"),
        ("read 100,000 rows", "read 100,000 rows"),
        ("read 1,000,000 rows", "read 1,000,000 rows"),
        ("load 100,000 rows", "load 100,000 rows"),
        ("SELECT 1", "`SELECT 1`, cursor"),
        ("connect and close", "connect and close"),
    )
    columns = (
        ("ours, Arrow", ("read_arrow", "write_arrow, put")),
        ("our cursor", ("cursor", "executemany", "informix-arrow")),
        ("informix-driver", ("informix-driver",)),
        ("IBM JDBC", ("JDBC", "JDBC addBatch, IFX_USEPUT")),
    )
    by = {(line["subject"], line["who"]): line for line in lines}
    out = [
        "Medians, the embedded server's work included, commit "
        f"{machine['commits']}. All figures and what they were measured on: "
        "[docs/benchmarks.md](docs/benchmarks.md); `make bench bench-report` makes them anew.",
        "",
        "| | " + " | ".join(name for name, _ in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for subject, shown in wanted:
        cells = []
        for _, whos in columns:
            line = next((by[subject, who] for who in whos if (subject, who) in by), None)
            cells.append(
                "" if line is None else seconds(line["p50"] * 1e-6 if "p50" in line else line["median"])
            )
        if any(cells):
            out.append(f"| {shown} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n\n![Seconds to read a result, by rows](docs/benchmarks/read_by_rows.svg)"


def main(paths: list[str]) -> None:
    """Write everything."""
    lines, machine = load(paths)
    if not lines:
        sys.exit("no benchmark of these files has a subject: nothing to report")
    draw(lines, machine)
    PAGE.write_text(page(lines, machine))
    text = README.read_text()
    if BEGIN in text:
        before, _, rest = text.partition(BEGIN)
        README.write_text(f"{before}{BEGIN}\n{readme(lines, machine)}\n{END}{rest.partition(END)[2]}")
    print(f"{PAGE.relative_to(ROOT)}: {len(lines)} figures")


if __name__ == "__main__":
    main(sys.argv[1:])
