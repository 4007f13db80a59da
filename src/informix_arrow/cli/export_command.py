"""``informix-arrow export``."""

from __future__ import annotations

import argparse

from . import connection_options, progress
from .exit_codes import print_error
from .parser import Commands, command

EXAMPLE = "  informix-arrow export informix://user@host:9088/stores backup --format unl"


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "export", EXAMPLE)
    parser.add_argument(
        "--format",
        choices=("parquet", "unl"),
        default="parquet",
        help="format of the tables' files; dbimport reads unl (default: parquet)",
    )
    parser.add_argument(
        "--lock",
        action="store_true",
        help="lock all tables in share mode during the export, so that they are consistent with each other",
    )
    parser.add_argument(
        "--dbdate",
        metavar="DBDATE",
        help="format of dates in .unl files (default: as in the literals of the schema, else MDY4/)",
    )
    progress.add_options(parser.add_argument_group("other"))
    connection_options.add_options(parser, "URL DIR", ", and the directory")


def run(options: argparse.Namespace) -> int:
    """Export, and print what could not be exported."""
    from ..transfer import export_database

    url, directory = connection_options.take_url(options.words, ("DIR",))
    with (
        connection_options.connect_from_options(url, options) as connection,
        progress.ProgressReporter(options.progress) as reporter,
    ):
        report = export_database(
            connection,
            directory,
            format=options.format,
            lock=options.lock,
            dbdate=options.dbdate,
            progress=reporter,
        )
    for each in report.omitted:
        print_error(f"not exported: {each}")
    print(f"{len(report.tables)} tables, {sum(report.tables.values())} rows: {report.directory}")
    return 0
