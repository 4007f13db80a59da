"""docs/benchmarks-details.md: all tables of the report."""

from __future__ import annotations

from collections.abc import Callable

from .figures import Line, flat, group, markdown_table, provenance, seconds
from .plots import TYPES, picture

OURS = ("read_arrow", "write_arrow, put", "informix-arrow", "our data source")
BENCH = "python -m pytest benchmarks/{} --benchmark-only"


def page(lines: list[Line], machine: Line) -> str:
    """Return the page."""
    parts = [
        "# Benchmarks in detail",
        "All tables. [Benchmarks](benchmarks.md) has the comparisons that matter most, with plots. `make bench "
        "bench-report` writes both pages. [benchmarks/README.md](../benchmarks/README.md) explains how the figures "
        "are measured.",
        provenance(machine),
        "- Figures are medians of at least 10 rounds after a warm-up. IQR is the interquartile range.\n"
        "- *times* is the median divided by the median of the line whose *times* is 1. Pairs whose ratio a test limits "
        "are measured in alternating rounds.\n"
        "- *floor* is the lowest possible time: the same bytes over a plain socket.\n"
        "- Figures with a server include the work of the embedded server, which is the same for all drivers.\n"
        "- Compare figures within one table only. Absolute times on shared machines vary by half.",
        *_reading(lines),
        *_loading(lines),
        *_integrations(lines),
        *_latency(lines),
        *_server_before(lines),
        *_concurrency(lines),
        *_memory(lines),
        *_scaling(lines),
        *_codec(lines),
        *_codecs_before(lines),
        *_another_server(lines),
    ]
    return "\n\n".join(parts) + "\n"


def _reading(lines: list[Line]) -> list[str]:
    return [
        *_section(
            "Read",
            "A whole SELECT: execute and fetch all rows, into Arrow, Python tuples, or with the getters of JDBC.",
            "test_select.py",
            lines,
            r"read (?!.*recorded)(?!.* over ).*",
        ),
        *_section(
            "Read without a server",
            "A process replays a recorded session and only sends. The floor receives the same bytes and drops them.",
            "test_select.py -k recorded",
            lines,
            r"read .*recorded.*",
        ),
    ]


def _loading(lines: list[Line]) -> list[str]:
    return _section(
        "Load",
        "The columns are INT, VARCHAR(64), INT, FLOAT and DATE.",
        "test_insert.py",
        lines,
        r"(load|insert|write_arrow|the embedded server takes) (?!.* over ).*",
    )


def _integrations(lines: list[Line]) -> list[str]:
    return [
        *_section(
            "Polars and pandas",
            "The database functions of Polars and pandas, compared with the driver's calls for the same work.",
            "test_consumers.py",
            lines,
            r"frames: .*",
        ),
        *_section(
            "SQLAlchemy",
            "Core and ORM, compared with the driver's cursor.",
            "test_sqlalchemy.py",
            lines,
            r"SQLAlchemy: .*",
        ),
        *_section(
            "Spark",
            "Five columns and two tasks in a warm `local[2]` session, measured in alternating rounds. CPU is that of "
            "the JVM and of its Python workers. *tuned*: a fetch buffer of 1 MiB (FET_BUF_SIZE) and IFX_USEPUT.",
            "test_spark.py",
            lines,
            r"Spark: .*",
        ),
    ]


def _section(title: str, lead: str, command: str, lines: list[Line], pattern: str) -> list[str]:
    """Return a chapter with a table for each subject, or nothing if none was measured."""
    subjects = group(lines, pattern)
    if not subjects:
        return []
    return [
        f"## {title}",
        lead,
        f"`{BENCH.format(command)}`",
        *(f"### {subject}\n\n{_table(found)}" for subject, found in subjects.items()),
    ]


def _table(lines: list[Line]) -> str:
    ours = next((line for line in lines if line["who"] in OURS), lines[0])
    rows = [
        [
            line["who"],
            seconds(line["median"]),
            seconds(line["iqr"]),
            seconds(line["ns_per_row"] * 1e-9),
            _client_cpu(line),
            f"{line.get('times', line['median'] / ours['median']):.3g}",
        ]
        for line in sorted(lines, key=lambda line: float(line["median"]))
    ]
    return markdown_table(["who", "median", "IQR", "per row", "client CPU per row", "times"], rows)


def _client_cpu(line: Line) -> str:
    # The JVM is another process, whose CPU is not measured.
    cpu = None if "JDBC" in line["who"] else line.get("client_cpu_ns_per_row")
    return "" if cpu is None else seconds(cpu * 1e-9)


def _latency(lines: list[Line]) -> list[str]:
    parts = []
    live = group(lines, r"SELECT 1( through a pool)?|prepared again|connect and close")
    if live:
        parts += [
            "## Latency",
            "Percentiles of one call. *prepared again* executes a statement that is already prepared.",
            f"`{BENCH.format('test_latency.py')}`",
        ]
        parts += [f"### {subject}\n\n{_percentiles(found)}" for subject, found in live.items()]
    if alone := flat(lines, r".*, the client alone"):
        rows = [
            [
                line["subject"].partition(",")[0],
                line["who"],
                *(
                    seconds(line[key] * 1e-9)
                    for key in ("ns_per_row", "client_cpu_ns_per_row", "floor_ns_per_row")
                ),
            ]
            for line in alone
        ]
        parts += [
            "### The client alone",
            "The same statements, with a replayed session as the server. The floor is a plain socket that exchanges "
            "the bytes of the same driver.",
            markdown_table(["what", "who", "time", "client CPU", "floor"], rows, left=2),
        ]
    if more := flat(lines, r".*, one more"):
        rows = [
            [
                line["subject"].partition(",")[0],
                line["who"],
                seconds(line["ns_per_row"] * 1e-9),
                seconds(line["client_cpu_ns_per_row"] * 1e-9),
                f"{line['times']:.2f}",
            ]
            for line in more
        ]
        parts += [
            "### One more statement",
            "2,000 statements of one replayed session, all on one core. *times* is the driver's median divided by that "
            "of a plain socket that exchanges the same bytes, measured in alternating rounds. For connections it is "
            "divided by that of informix-driver with its own session.",
            markdown_table(["what", "compared with", "time", "client CPU", "times"], rows, left=2),
        ]
    if slow := flat(lines, r".* over \d+ ms"):
        rows = [
            [line["subject"], line["who"], seconds(line["median"]), str(line["round_trips"])] for line in slow
        ]
        parts += [
            "### Over a slow link",
            "Round trips of one operation, counted at the link. *ahead* sends requests for many large objects at once. "
            "*one step at a time* is `lob_window_bytes=0`.",
            markdown_table(["what", "who", "median", "round trips"], rows, left=2),
        ]
    return parts


def _percentiles(lines: list[Line]) -> str:
    rows = []
    for line in sorted(lines, key=lambda line: float(line["ns_per_row"])):
        if "p50" in line:
            cells = [seconds(line[p] * 1e-6) for p in ("p50", "p90", "p95", "p99", "max")]
        else:  # a floor, timed as a whole
            cells = [seconds(line["ns_per_row"] * 1e-9), "", "", "", ""]
        rows.append([line["who"], *cells, _client_cpu(line)])
    return markdown_table(["who", "p50", "p90", "p95", "p99", "max", "client CPU"], rows)


def _concurrency(lines: list[Line]) -> list[str]:
    fair = ", ".join(
        f"{line['who']} {line['fairness']:.2f}"
        for line in lines
        if line.get("workers", 1) > 1 and "fairness" in line
    )
    lead = (
        "Threads or tasks share a pool. Each takes the next read when it has finished one. For *two recorded reads*, "
        "two processes replay a session on the same cores."
    )
    if fair:
        lead += f"\n\nFairness is the fewest reads of a worker divided by the most: {fair}."
    return _section("Concurrency", lead, "test_concurrency.py", lines, r"(64|two) .*")


def _memory(lines: list[Line]) -> list[str]:
    memory = flat(lines, r"memory for .* rows")
    if not memory:
        return []
    rows = [
        [
            line["who"],
            f"{line['rows']:,}",
            f"{line['growth_mb']:.0f} MB",
            f"{max(line['arrow_mb'], line['objects_mb']):.0f} MB",
            f"{line['bytes_per_row']:.0f}",
        ]
        for line in sorted(memory, key=lambda line: (line["who"], line["rows"]))
    ]
    return [
        "## Memory",
        "*growth* is the peak of the resident set minus its size before, in a fresh process. *objects* is the size of "
        "the largest Arrow object, or of the Python objects of a cursor's rows.",
        f"`{BENCH.format('test_memory.py')}`",
        markdown_table(["mode", "rows", "growth", "objects", "bytes per row"], rows),
    ]


def _scaling(lines: list[Line]) -> list[str]:
    scaling = flat(lines, r"scaling .*")
    if not scaling:
        return []
    rows = [
        [
            line["who"],
            line["subject"].split()[-1],
            f"{line['exponent']:.2f}",
            f"{line['exponent_of_the_last_step']:.2f}",
        ]
        for line in scaling
    ]
    return [
        "## Scaling",
        "cost = a · n^exponent. 1 is linear. Below 1, a fixed cost is spread over more rows or columns.",
        f"`{BENCH.format('test_scaling.py')}`",
        markdown_table(["what", "by", "exponent", "exponent of the last step"], rows, left=2),
    ]


def _codec(lines: list[Line]) -> list[str]:
    """Return the tables of decoding and encoding whole rows, and one value of each type."""
    parts = []
    if rows := group(lines, r"(de|en)code rows .*"):
        parts += [
            "## Codec",
            "Decoding and encoding alone, without server and socket (`make bench-codec`). *tuple*, *put* and *bind* "
            "are rows of a fetch reply, of an insert cursor, and of an execution with parameters. *memcpy* copies "
            "the same bytes.",
        ]
    for subject, found in rows.items():
        ours = found[0]["ns_per_row"]
        cells = [
            [
                line["who"],
                seconds(line["ns_per_row"] * 1e-9),
                seconds(line["ns_per_row_iqr"] * 1e-9),
                f"{line['mb_per_s']:,}",
                f"{line.get('times', line['ns_per_row'] / ours):.3g}",
            ]
            for line in sorted(found, key=lambda line: float(line["ns_per_row"]))
        ]
        parts.append(
            f"### {subject}\n\n{markdown_table(['who', 'per row', 'IQR', 'MB/s of wire', 'times'], cells)}"
        )
    for verb in ("decode", "encode"):
        types = group(lines, rf"{verb} (?!rows ).*")
        if not types:
            continue
        measured = {line["who"] for found in types.values() for line in found}
        whos = [who for who in ("C", "C, bind", "memcpy", "Python reference") if who in measured]
        cells = []
        for subject, found in types.items():
            by = {line["who"]: seconds(line["ns_per_row"] * 1e-9) for line in found}
            cells.append([subject.partition(" ")[2], *(by.get(who, "") for who in whos)])
        parts.append(f"### {verb}, a value of each type")
        if verb == "decode":
            parts += picture(TYPES)
        parts.append(markdown_table(["type", *whos], cells))
    return parts


def _then_and_today(
    lines: list[Line],
    subject: str,
    title: str,
    words: str,
    command: str,
    columns: dict[str, Callable[[Line], str]],
) -> list[str]:
    """Return a table that compares today's work with that of an earlier commit, or nothing if it was not measured.

    `subject` is the beginning of the lines' subjects. `columns` are heads and cells. In `words` and the heads, {then},
    {today} and {rounds} are replaced by the commits and the number of rounds.
    """
    found = flat(lines, rf"{subject}: .*")
    if not found:
        return []
    then, today = found[0]["commits"]
    heads = ["what", *(head.format(then=then, today=today) for head in columns)]
    rows = [
        [line["subject"].partition(": ")[2], *(cell(line) for cell in columns.values())] for line in found
    ]
    return [
        title,
        words.format(then=then, today=today, rounds=found[0]["rounds"]),
        f"`INFORMIX_ARROW_BENCH_BEFORE=<checkout of {then}> {BENCH.format(command)}`",
        markdown_table(heads, rows),
    ]


def _server_before(lines: list[Line]) -> list[str]:
    return _then_and_today(
        lines,
        "server beside another commit's",
        "### The embedded server, before and after",
        "CPU of the server process for one statement from the same client, commits {then} and {today} in alternating "
        "rounds: medians, the minimum of {rounds} rounds, and the median of the ratios.",
        "test_server_before.py",
        {
            "{then}": lambda line: seconds(line["before"]),
            "{today}": lambda line: seconds(line["today"]),
            "minimum, {then}": lambda line: seconds(line["least_before"]),
            "minimum, {today}": lambda line: seconds(line["least_today"]),
            "ratio": lambda line: f"{line['ratio']:.2f}",
        },
    )


def _codecs_before(lines: list[Line]) -> list[str]:
    return _then_and_today(
        lines,
        "codecs beside another commit's",
        "### The codecs, before and after",
        "Both modules in one process, in alternating rounds, commits {then} and {today}. The figure is the minimum of "
        "{rounds} rounds: CPU for one row, or for one value if the line names a type. *memcpy* copies the bytes of "
        "the wire.",
        "test_codec_before.py",
        {
            "{then}": lambda line: seconds(line["least_before"]),
            "{today}": lambda line: seconds(line["least_today"]),
            "memcpy": lambda line: seconds(line["least_memcpy"]),
            "times as fast": lambda line: f"{line['faster']:.2f}",
        },
    )


def _another_server(lines: list[Line]) -> list[str]:
    world = r"another world: .*"
    peers = [line for line in flat(lines, world) if "server" in line]
    if not peers:
        return []
    server = ", ".join(sorted({line["server"] for line in peers}))
    packages = ", ".join(sorted({line["package"] for line in peers}))
    return _section(
        "Another database",
        f"For orientation only: a different server with another wire format. {packages} read the same five columns "
        f"with the binary COPY of {server}. `read_arrow` reads as many rows from the embedded server. The times "
        "include each server's own work. Compare only the client's CPU per row (all threads), best at 1,000,000 "
        "rows: connectorx opens a connection for each read, the others do not.",
        "test_other_world.py",
        lines,
        world,
    )
