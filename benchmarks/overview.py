"""docs/benchmarks.md: the comparisons that people ask for. And the table of README."""

from __future__ import annotations

from .figures import Line, by_name, factor, markdown_table, provenance, seconds, typical
from .plots import CPU, LATENCY, LOAD, MEMORY, READ, picture

BENCH = "python -m pytest benchmarks/{} --benchmark-only"

SUMMARY = (
    ("read 1 rows", "read one row"),
    ("read 1,000 rows", "read 1,000 rows"),
    ("read 100,000 rows", "read 100,000 rows"),
    ("read 1,000,000 rows", "read 1,000,000 rows"),
    ("load 100,000 rows", "load 100,000 rows"),
    ("SELECT 1", "`SELECT 1`"),
    ("connect and close", "connect and close"),
)
COLUMNS = (
    ("informix-arrow, Arrow", ("read_arrow", "write_arrow, put")),
    ("informix-arrow, cursor", ("cursor", "executemany", "informix-arrow")),
    ("informix-driver", ("informix-driver",)),
    ("IBM JDBC", ("JDBC", "JDBC addBatch, IFX_USEPUT")),
)
READS = (
    "read 1 rows",
    "read 10 rows",
    "read 1,000 rows",
    "read 10,000 rows",
    "read 100,000 rows",
    "read 1,000,000 rows",
)
KINDS = (
    ("read 5 columns", "5 columns"),
    ("read 20 columns", "20 columns"),
    ("read 100 columns", "100 columns"),
    ("read every type", "10 columns of different types"),
    ("read short text", "5 columns of short text"),
    ("read long text", "5 columns of long text"),
    ("read mostly NULL", "10 columns, mostly NULL"),
)
CPUS = (
    ("read 1,000 rows", "read 1,000 rows", ("read_arrow", "cursor", "informix-driver")),
    ("read 100,000 rows", "read 100,000 rows", ("read_arrow", "cursor", "informix-driver")),
    ("read 100 columns", "read 100 columns", ("read_arrow", "", "informix-driver")),
    ("load 100,000 rows", "load 100,000 rows", ("write_arrow, put", "executemany", "informix-driver")),
)
SMALL = ("SELECT 1", "prepared again", "connect and close", "SELECT 1 through a pool")
MODES = {
    "stream": ("`query()`, batch by batch", "read"),
    "partition_read": ("`partition_read`, two connections", "read"),
    "read_arrow": ("`read_arrow`", "read"),
    "cursor": ("cursor, `fetchall()`", "read"),
    "write_arrow, streamed": ("`write_arrow` from a stream", "loaded"),
}


def page(lines: list[Line], machine: Line) -> str:
    """Return docs/benchmarks.md."""
    parts = [
        "# Benchmarks",
        "How informix-arrow compares with IBM's JDBC driver and `informix-driver`: reads, loads, latency, memory and "
        "client CPU. `make bench bench-report` measures on your machine and writes this page.",
        "- [All tables](benchmarks-details.md): columns, types, fetch buffers, transactions, Polars, pandas, "
        "SQLAlchemy, codec.\n"
        "- [How the figures are measured](../benchmarks/README.md).\n"
        "- [Why it is fast](how-it-is-fast.md).",
        *_against_whom(lines),
        *_read(lines),
        *_load(lines),
        *_latency(lines),
        *_memory(lines),
        *_cpu(lines),
        "## How to read the figures",
        "- Figures are medians of at least 10 rounds after a warm-up.\n"
        "- All drivers use the same embedded server and the same tables, in the same run. Its work is part of every "
        "figure. On two cores it takes about one of them.\n"
        "- The embedded server prepares statements more slowly than a real one, because it translates SQL in Python. "
        "Small statements therefore look slower for all drivers than they are.\n"
        "- There is no real Informix server, no real network and no disk in these figures.\n"
        "- Compare figures within one table only. Absolute times on shared machines vary by half.",
        "## Machine and versions",
        provenance(machine),
    ]
    return "\n\n".join(parts) + "\n"


def _against_whom(lines: list[Line]) -> list[str]:
    return [
        "## Against whom",
        "| driver | how it is used here |\n|---|---|\n"
        "| informix-arrow, Arrow | `read_arrow` and `write_arrow` |\n"
        "| informix-arrow, cursor | `fetchall` and `executemany` with Python tuples |\n"
        "| informix-driver | another driver in pure Python: `fetchall` and `executemany` |\n"
        "| IBM JDBC | IBM's driver in a warm JVM, with a getter for every value. Loads use `addBatch` |",
        "IfxPy and ODBC need IBM's Client SDK and were not measured.",
        _summary(lines, factors=True),
        "In parentheses: times as long as the fastest way of informix-arrow. The load of JDBC uses `IFX_USEPUT`, which "
        "is not its default.",
    ]


def _summary(lines: list[Line], *, factors: bool) -> str:
    by = by_name(lines)
    rows = []
    for subject, shown in SUMMARY:
        found = [
            next((by[subject, who] for who in whos if (subject, who) in by), None) for _, whos in COLUMNS
        ]
        ours = min((typical(line) for line in found[:2] if line), default=0.0)
        cells = [_cell(None if line is None else typical(line), ours if factors else 0.0) for line in found]
        if any(cells):
            rows.append([shown, *cells])
    return markdown_table(["", *(name for name, _ in COLUMNS)], rows)


def _cell(value: float | None, ours: float) -> str:
    """Return a time in seconds, with how many times as long as `ours` it is if it is longer. 0: without."""
    if value is None:
        return ""
    return seconds(value) + (f" ({factor(value / ours)}×)" if ours and value > 1.05 * ours else "")


def _read(lines: list[Line]) -> list[str]:
    by = by_name(lines)
    whos = ("read_arrow", "cursor", "informix-driver", "JDBC")
    return [
        "## Read",
        "A whole SELECT of five columns (INT, VARCHAR, INT, FLOAT, DATE): execute and fetch all rows.",
        *picture(READ),
        _times(by, [(subject, _one(subject.removeprefix("read "))) for subject in READS], whos, "result"),
        "20,000 rows of other tables:",
        _times(by, list(KINDS), ("read_arrow", "informix-driver", "JDBC"), "table"),
        f"`{BENCH.format('test_select.py')}`",
    ]


def _one(text: str) -> str:
    return "1 row" if text == "1 rows" else text


def _times(
    by: dict[tuple[str, str], Line], subjects: list[tuple[str, str]], whos: tuple[str, ...], head: str
) -> str:
    """Return a table of medians: a row for each subject, a column for each of `whos`, of whom the first is ours."""
    rows = []
    for subject, shown in subjects:
        found = [by.get((subject, who)) for who in whos]
        ours = typical(found[0]) if found[0] else 0.0
        if any(found):
            rows.append([shown, *(_cell(None if line is None else typical(line), ours) for line in found)])
    return markdown_table([head, *whos], rows)


def _load(lines: list[Line]) -> list[str]:
    by = by_name(lines)
    loads = [line for line in lines if line["subject"] == "load 100,000 rows"]
    rows = [
        [line["who"], seconds(typical(line)), f"{0.1 / typical(line):.2f} million"]
        for line in sorted(loads, key=typical)
        if not line["who"].startswith(("floor", "our encoding"))
    ]
    batches = [(f"load {count} rows", f"{count} rows") for count in ("100", "1,000", "10,000", "100,000")]
    return [
        "## Load",
        "The same five columns into an empty table, in one transaction.",
        *picture(LOAD),
        markdown_table(["100,000 rows", "time", "rows per second"], rows),
        "`put` is Informix's insert cursor, the default where it is possible. `pipeline` sends executions ahead of "
        "their replies.",
        "Smaller loads with `executemany`:",
        _times(by, batches, ("executemany", "informix-driver"), ""),
        f"`{BENCH.format('test_insert.py')}`",
    ]


def _latency(lines: list[Line]) -> list[str]:
    by = by_name(lines)
    rows = []
    for subject in SMALL:
        cells = []
        for who in ("informix-arrow", "informix-driver", "JDBC"):
            line = by.get((subject, who))
            cells.append(f"{seconds(line['p50'] * 1e-6)} / {seconds(line['p99'] * 1e-6)}" if line else "")
        if any(cells):
            rows.append([subject, *cells])
    slow = []
    for subject in ("SELECT 1", "prepared again", "1,000 rows", "load 1,000 rows", "connect and close"):
        cells = []
        for who in ("informix-arrow", "informix-driver"):
            line = by.get((f"{subject} over 20 ms", who))
            cells.append(f"{seconds(line['median'])}, {line['round_trips']} round trips" if line else "")
        if any(cells):
            slow.append([subject, *(cell.replace(" 1 round trips", " 1 round trip") for cell in cells)])
    return [
        "## Latency",
        "One small call on the same machine. *prepared again* executes a statement that is already prepared.",
        *picture(LATENCY),
        markdown_table(["median / 99th percentile", "informix-arrow", "informix-driver", "JDBC"], rows),
        "Over a link with 20 ms round-trip time the number of round trips decides:",
        markdown_table(["over 20 ms", "informix-arrow", "informix-driver"], slow),
        f"`{BENCH.format('test_latency.py')}`",
    ]


def _memory(lines: list[Line]) -> list[str]:
    by = by_name(lines)
    rows = []
    for mode, (shown, verb) in MODES.items():
        for count in (100_000, 1_000_000):
            if line := by.get((f"memory for {count:,} rows", mode)):
                held = max(line["arrow_mb"], line["objects_mb"])
                rows.append(
                    [
                        shown,
                        f"{count:,} {verb}",
                        f"{line['growth_mb']:.0f} MB",
                        f"{held:.0f} MB" if held else "",
                    ]
                )
    return [
        "## Memory",
        "Growth of a fresh process, from before the call to its peak. Streams need the same memory for any number of "
        "rows. Other drivers were not measured.",
        *picture(MEMORY),
        markdown_table(["call", "rows", "growth", "of which data"], rows, left=2),
        f"`{BENCH.format('test_memory.py')}`",
    ]


def _cpu(lines: list[Line]) -> list[str]:
    by = by_name(lines)
    rows = []
    for subject, shown, whos in CPUS:
        values = [by.get((subject, who), {}).get("client_cpu_ns_per_row") for who in whos]
        if any(values):
            ours = (values[0] or 0.0) * 1e-9
            rows.append([shown, *(_cell(None if value is None else value * 1e-9, ours) for value in values)])
    return [
        "## CPU",
        "CPU time of the client process for each row, all threads. The server's speed does not affect it. That of the "
        "JVM was not measured.",
        *picture(CPU),
        markdown_table(["for each row", "Arrow", "cursor", "informix-driver"], rows),
        f"`{BENCH.format('test_select.py')}` and `test_insert.py`",
    ]


def readme(lines: list[Line], machine: Line) -> str:
    """Return the figures of README."""
    return "\n".join(
        [
            f"Medians, including the work of the embedded server, commit {machine['commits']}. More in "
            "[Benchmarks](docs/benchmarks.md). `make bench bench-report` measures on your machine.",
            "",
            _summary(lines, factors=False),
            "",
            *(link.replace("](benchmarks/", "](docs/benchmarks/") for link in picture(READ)),
        ]
    )
