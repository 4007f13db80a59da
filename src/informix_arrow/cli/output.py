"""The output of a command's rows: a terminal, a pipe or a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import pyarrow as pa

from .files import STDIO
from .formats import FORMATS, Options, format_of, write_file

FOR_PEOPLE = ("table", "markdown")
#: Formats that can hold lists and structs. For others they are read as Informix's literals.
NESTED = ("json", "jsonl", "parquet", "arrow")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the file and the format."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STDIO,
        help="write the rows to FILE (default: standard output)",
    )
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help="format of the rows (default: by the suffix of FILE; a table on a terminal, CSV into a pipe)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")


def chosen(options: argparse.Namespace) -> str:
    """Return the format of the rows."""
    if options.output == STDIO:
        return options.format or ("table" if sys.stdout.isatty() else "csv")
    return format_of(options.output, options.format)


def for_people(options: argparse.Namespace) -> bool:
    """Return whether the rows are for people and not for programs."""
    return chosen(options) in FOR_PEOPLE


def show(table: pa.Table, options: argparse.Namespace, columns: Sequence[str] | None = None) -> None:
    """Write a table. For people it has only ``columns``."""
    kind = chosen(options)
    if columns is not None and kind in FOR_PEOPLE:
        table = table.select(list(columns))
    sys.stdout.flush()
    with write_file(options.output, kind, table.schema, Options(), overwrite=options.overwrite) as writer:
        for batch in table.to_batches():
            writer.write(batch)
