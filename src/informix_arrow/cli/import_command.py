"""``informix-arrow import``."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ..connection import Connection
from . import connection_options, progress
from .exit_codes import DONE, FAILED, UsageError, print_error
from .parser import Commands, command

EXAMPLE = "  informix-arrow import backup/stores.exp informix://user@host:9088/stores2"


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "import", EXAMPLE)
    parser.add_argument(
        "words",
        nargs="+",
        metavar="DIR URL",
        help=f"the directory, and {connection_options.URL_HELP}; the database is created if it does not exist",
    )
    parser.add_argument(
        "--db-locale",
        metavar="LOCALE",
        help="locale of a new database (default: DB_LOCALE, else the code set of the files)",
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep a new database if the import fails (default: drop it)"
    )
    unl = parser.add_argument_group("format of the .sql and .unl files")
    unl.add_argument("--encoding", metavar="CODE_SET", help="code set (default: CLIENT_LOCALE, else UTF-8)")
    unl.add_argument(
        "--dbdate",
        metavar="DBDATE",
        help="format of dates (default: from the .sql file, else DBDATE, else detected from the dates)",
    )
    unl.add_argument(
        "--dbcentury", metavar="C", help="century of two-digit years: R, P, F, C (default: DBCENTURY, else R)"
    )
    unl.add_argument("--dbmoney", metavar="DBMONEY", help="decimal separator and currency (default: DBMONEY)")
    unl.add_argument(
        "--join-lines",
        action="store_true",
        help="accept line ends inside values without a backslash before them",
    )
    progress.add_options(parser.add_argument_group("other"))
    connection_options.add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Import, and print what the server refused."""
    from ..transfer import import_new_database

    directory, *rest = options.words
    url, *more = connection_options.take_url(rest, ())
    if more:
        raise UsageError(f"There are too many arguments, from {more[0]!r} on. Write DIR URL.")
    parameters = connection_options.resolve_parameters(url, options, autocommit=True)
    if not parameters.database:
        raise UsageError(
            "The URL names no database. Name the database to import into. It is created if it does not exist."
        )

    def connect(name: str) -> Connection:
        return connection_options.open_from_parameters(replace(parameters, database=name))

    with progress.ProgressReporter(options.progress) as reporter:
        report = import_new_database(
            directory,
            connect,
            parameters.database,
            db_locale=options.db_locale,
            keep=options.keep,
            encoding=options.encoding,
            dbdate=options.dbdate,
            dbcentury=options.dbcentury,
            dbmoney=options.dbmoney,
            join_lines=options.join_lines,
            progress=reporter,
        )
    for statement, reason in report.refused:
        print_error(f"refused: {' '.join(statement.split())}: {reason}")
    rows = sum(report.tables.values())
    print(f"{len(report.tables)} tables, {rows} rows, {report.statements} keys, indexes, views and others")
    if report.refused:
        print_error(
            f"{len(report.refused)} statements were refused. Tables and rows are complete, but the objects "
            "of these statements are missing."
        )
        return FAILED
    return DONE
