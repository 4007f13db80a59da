"""``informix-arrow compare``."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import os
from typing import TYPE_CHECKING

from . import connection_options, progress
from .exit_codes import UsageError
from .parser import Commands, command, split_names, whole_number

if TYPE_CHECKING:
    from ..comparison import Side, TableResult

SAME, DIFFERENT = 0, 1

EXAMPLE = """\
  informix-arrow compare informix://user@host/stores informix://user@other/stores --tables 'cust*'
  informix-arrow compare informix://user@host/stores backup/stores.exp
  informix-arrow compare orders.parquet orders.unl --key order_num"""
_VALUE_WIDTH = 60


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "compare", EXAMPLE)
    parser.add_argument(
        "sides",
        nargs=2,
        metavar="URL_OR_PATH",
        help="a URL, the directory of an export or of files, or a .parquet or .unl file",
    )
    parser.add_argument(
        "--tables",
        metavar="GLOB",
        help="tables to compare (default: all); with a file: the table of the file",
    )
    parser.add_argument(
        "--key", metavar="COLUMNS", help="columns that identify a row: a,b (default: the primary key)"
    )
    parser.add_argument(
        "--limit",
        type=whole_number,
        default=100,
        metavar="N",
        help="rows shown for each table (default: 100)",
    )
    progress.add_options(parser.add_argument_group("other"))
    connection_options.add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Compare, and print the rows that differ."""
    from ..comparison import compare_tables

    key = split_names(options.key) if options.key else []
    with contextlib.ExitStack() as stack:
        a, b = (_side(words, options, stack).tables() for words in options.sides)
        pattern = (options.tables or "*").lower()
        names = sorted(name for name in a.keys() | b.keys() if fnmatch.fnmatchcase(name, pattern))
        if len(a) == len(b) == 1 and not options.tables:  # two files are compared whatever their names are
            (chosen_a,), (chosen_b,) = a, b
            b = {chosen_a: b[chosen_b]}
            names = [chosen_a]
        if not names:
            raise UsageError(
                f"Neither side has a table {options.tables or ''}. Check the name and --tables.".rstrip()
            )
        same = True
        for name in names:
            if name not in a or name not in b:
                print(f"{name}: only in {'A' if name in a else 'B'}")
                same = False
                continue
            with progress.ProgressReporter(options.progress) as reporter:
                result = compare_tables(a[name], b[name], key=key, limit=options.limit, progress=reporter)
            same &= result.same
            _print_result(name, result)
    return SAME if same else DIFFERENT


def _side(words: str, options: argparse.Namespace, stack: contextlib.ExitStack) -> Side:
    from ..comparison import DatabaseSide, DirectorySide, FileSide

    if connection_options.looks_like_url(words):
        return DatabaseSide(stack.enter_context(connection_options.connect_from_options(words, options)))
    if os.path.isdir(words):
        return DirectorySide(words)
    if not os.path.exists(words):
        raise UsageError(f"{words} is neither an existing file or directory nor a URL.")
    plain = options.tables if options.tables and not set(options.tables) & set("*?[") else None
    return FileSide(words, plain)


def _print_result(name: str, result: TableResult) -> None:
    for side, columns in (("A", result.only_a), ("B", result.only_b)):
        if columns:
            print(f"{name}: columns only in {side}: {', '.join(columns)}")
    if not result.differences:
        words = "the same" if result.same else "the same in the columns that both have"
        print(f"{name}: {result.rows_a} rows, {words}")
        return
    many = f"{'' if result.complete else 'at least '}{len(result.differences)}"
    print(f"{name}: {many} rows differ (A has {result.rows_a} rows, B {result.rows_b})")
    for each in result.differences:
        key = ", ".join(f"{column}={_format_value(value)}" for column, value in each.key.items())
        if each.kind != "changed":
            print(f"  {key}: {each.kind}")
        for column, in_a, in_b in each.columns:
            print(f"  {key}: {column}: A {_format_value(in_a)} B {_format_value(in_b)}")


def _format_value(value: object) -> str:
    if value is None:
        return "NULL"
    text = repr(value) if isinstance(value, str | bytes) else str(value)
    return text if len(text) <= _VALUE_WIDTH else f"{text[:_VALUE_WIDTH]}.. ({len(text)} characters)"
