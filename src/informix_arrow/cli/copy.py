"""``informix-arrow copy``."""

from __future__ import annotations

import argparse
import json
import threading
from typing import TYPE_CHECKING

from . import connection_options, progress
from .exit_codes import DONE, FAILED, add_note, one_line, print_error, with_option_names
from .parser import Commands, command, split_names, whole_number

if TYPE_CHECKING:
    from ..replicate.copy import TableCopy

EXAMPLE = """\
  informix-arrow copy informix://user@host:9088/stores lake/
  informix-arrow copy informix://user@host:9088/stores lake/ orders items --jobs 2
  informix-arrow copy informix://user@host:9088/stores stores.duckdb orders --mode incremental --watermark changed \\
      --key order_num --overlap 3600"""

_NO_RUN_ID = (
    "This append has no --run-id. If the command is run again, it adds its rows again, also after an error. Use "
    "--run-id with a name of this run, such as its day, to add them once."
)


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "copy", EXAMPLE)
    parser.add_argument(
        "--mode",
        choices=("full", "incremental", "append", "merge"),
        default="full",
        help="full: replace the last copy (default). incremental: copy the rows above the last watermark. append: add "
        "to the existing rows. merge: replace rows with the same key",
    )
    parser.add_argument("--key", metavar="COLUMNS", help="columns that identify a row, separated by commas")
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        help="copy only rows that meet a condition in Informix SQL (default: all)",
    )
    parser.add_argument(
        "--jobs", type=whole_number, default=1, metavar="N", help="copy N tables in parallel (default: 1)"
    )
    parser.add_argument(
        "--connections",
        type=whole_number,
        default=1,
        metavar="N",
        help="read each table over N connections (default: 1)",
    )
    increments = parser.add_argument_group("incremental copies")
    increments.add_argument("--watermark", metavar="COLUMN", help="column whose values only grow")
    increments.add_argument(
        "--overlap",
        default="0",
        metavar="N",
        help="start this far below the last watermark: a number, days of a DATE, seconds of a DATETIME; needs --key",
    )
    increments.add_argument(
        "--evolve",
        action="store_true",
        help="accept columns that were added or changed since the last copy",
    )
    form = parser.add_argument_group("target")
    form.add_argument(
        "--partition-by",
        metavar="COLUMNS",
        help="partition Parquet files into directories col=value/ by these columns",
    )
    form.add_argument(
        "--floating-decimals",
        choices=("string", "float64"),
        default="string",
        help="read DECIMAL without a scale as string, with all digits, or as float64 (default: string)",
    )
    form.add_argument(
        "--rejects",
        metavar="FILE",
        help="leave out rows with values that the target cannot store, and append them to FILE as JSON lines "
        "(default: they are an error)",
    )
    appends = parser.add_argument_group("appends")
    appends.add_argument(
        "--run-id",
        metavar="NAME",
        help="name this run, such as by its day. The rows of a name are added once, also if the command is repeated",
    )
    appends.add_argument(
        "--again", action="store_true", help="add the rows again, even if this --run-id has added them before"
    )
    other = parser.add_argument_group("other")
    other.add_argument("--log", metavar="FILE", help="append a JSON line for each table to FILE")
    progress.add_options(other)
    connection_options.add_options(
        parser,
        "URL TARGET TABLE",
        "; the target: DIR/, delta:DIR, iceberg:DIR/, FILE.duckdb, postgresql://.. or informix://..; and the tables "
        "(default: all of the database)",
    )


def run(options: argparse.Namespace) -> int:
    """Copy, and print the outcome of each table."""
    from ..replicate.copy import CopyFailed, copy

    url, target, *tables = connection_options.take_url(
        options.words, ("TARGET", "TABLE"), optional=1, more=True
    )
    lock = threading.Lock()
    whole = 0
    log = open(options.log, "a", encoding="utf-8") if options.log else None  # noqa: SIM115 - closed below
    with (
        connection_options.connect_from_options(url, options) as connection,
        progress.ProgressReporter(options.progress) as bar,
    ):

        def more(rows: int, size: int) -> None:
            with lock:
                bar.add(rows, size)

        def done(table: TableCopy) -> None:
            nonlocal whole
            whole += table.error is None
            if log is not None:
                print(json.dumps(table.to_json(), ensure_ascii=False), file=log, flush=True)

        if options.mode == "append" and options.run_id is None:
            print_error(_NO_RUN_ID)
        try:
            copies = copy(
                connection,
                target,
                tables or None,
                mode=options.mode,
                watermark=options.watermark,
                overlap=options.overlap,
                key=split_names(options.key) if options.key else None,
                where=options.where,
                partition_by=split_names(options.partition_by) if options.partition_by else None,
                rejects=options.rejects,
                floating_decimals=options.floating_decimals,
                evolve=options.evolve,
                run_id=options.run_id,
                again=options.again,
                jobs=options.jobs,
                connections=options.connections,
                progress=more,
                done=done,
            )
        except CopyFailed as failed:
            copies = failed.copies
        except KeyboardInterrupt as interrupt:
            add_note(
                interrupt,
                f"{whole} tables were copied; each other one is as it was, or was copied as a whole.",
            )
            raise
        finally:
            if log is not None:
                log.close()
    for line in _summary(copies):
        print(line)
    if any(each.already_copied for each in copies):
        print(f"The rows of --run-id {options.run_id} were added before. Use --again to add them once more.")
    failures = [each for each in copies if each.error is not None]
    for each in failures:
        assert each.error is not None
        print_error(with_option_names(each.error_text(one_line(each.error)), vars(options).keys()))
    return FAILED if failures else DONE


def _summary(copies: tuple[TableCopy, ...]) -> list[str]:
    """Return the outcomes as an aligned table."""
    lines: list[tuple[str, ...]] = [
        ("table", "mode", "rows read", "rejected", "rows there", "seconds", "watermark")
    ]
    for each in copies:
        if each.error is not None:
            lines.append((each.table, each.mode, "failed", "", "", f"{each.seconds:.1f}", ""))
            continue
        if each.already_copied:
            lines.append(
                (each.table, each.mode, "already", "", f"{each.target_rows:,}", f"{each.seconds:.1f}", "")
            )
            continue
        numbers = (f"{each.rows:,}", f"{each.rejected:,}", f"{each.target_rows:,}", f"{each.seconds:.1f}")
        lines.append((each.table, each.mode, *numbers, each.watermark or ""))
    if not any(each.rejected for each in copies):
        lines = [(*line[:3], *line[4:]) for line in lines]
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    last = len(widths) - 2  # the last column of numbers
    rows = []
    for line in lines:
        cells = [text.rjust(width) if 2 <= index <= last else text.ljust(width)
                 for index, (text, width) in enumerate(zip(line, widths, strict=True))]  # fmt: skip
        rows.append("  ".join(cells).rstrip())
    return rows
