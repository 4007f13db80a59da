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
        "words", nargs="*", metavar="URL DIR", help=f"{connection_options.URL_HELP}, and the directory"
    )
    parser.add_argument(
        "--format",
        choices=("parquet", "unl"),
        default="parquet",
        help="of the tables' files; unl is what dbimport reads",
    )
    parser.add_argument(
        "--lock",
        action="store_true",
        help="lock all tables in share mode meanwhile, so that they are of one moment",
    )
    parser.add_argument(
        "--dbdate",
        metavar="DBDATE",
        help="how dates are written in .unl files (default: as in the literals of the schema, else MDY4/)",
    )
    progress.add_options(parser)
    connection_options.add_options(parser)
    parser.set_defaults(run=run)


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
        print_error(f"not carried over: {each}")
    print(f"{len(report.tables)} tables, {sum(report.tables.values())} rows: {report.directory}")
    return 0
