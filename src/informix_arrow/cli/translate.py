"""``informix-arrow translate``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .exit_codes import DONE, REJECTS, Failure, UsageError, print_error
from .parser import Commands, command

EXAMPLE = """  informix-arrow translate --to postgres schema.sql queries.sql > for_postgres.sql
  dbschema -d stores | informix-arrow translate --to duckdb -"""
TARGETS = ("postgres", "duckdb", "spark", "snowflake", "bigquery")


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "translate", EXAMPLE)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="files of SQL statements, in one script in this order; - or none for stdin",
    )
    parser.add_argument("--to", required=True, choices=TARGETS, help="the database that the SQL is for")
    parser.add_argument(
        "--schema",
        action="append",
        default=[],
        metavar="FILE",
        help="a file with the CREATE TABLE statements of tables that are used; it is not translated",
    )
    parser.add_argument("--delimident", action="store_true", help="double quotes enclose names (DELIMIDENT)")
    parser.add_argument("--pretty", action="store_true", help="break queries into lines")


def run(options: argparse.Namespace) -> int:
    """Print the translated statements, and on stderr those that have no translation."""
    try:
        from sqlglot.errors import ParseError

        from ..sqlglot import script
    except ModuleNotFoundError as missing:
        raise Failure(str(missing)) from None
    if options.files.count("-") > 1:
        raise UsageError("Standard input (-) can be named only once.")
    known = script.catalogue_of(None)
    refused = 0
    for name in options.schema:
        try:
            known = script.learned(_read(name), known, delimident=options.delimident)
        except ParseError as error:
            raise Failure(f"{name}: {error}") from None
    for name in options.files or ["-"]:
        try:
            for statement in script.translated_statements(
                _read(name), options.to, known, delimident=options.delimident, pretty=options.pretty
            ):
                known = statement.catalogue
                if statement.sql is None:
                    refused += 1
                    print_error(f"{_shown(name)}:{statement.line}: {statement.problem}")
                else:
                    print(f"{statement.sql};", flush=True)
        except ParseError as error:
            raise Failure(f"{_shown(name)}: {error}") from None
    if refused:
        print_error(
            f"{refused} statement{'s have' if refused > 1 else ' has'} no translation for {options.to}."
        )
    return REJECTS if refused else DONE


def _shown(name: str) -> str:
    return "stdin" if name == "-" else name


def _read(name: str) -> str:
    """Return the text of a file: UTF-8, else Latin-1, which Informix's scripts often are."""
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
