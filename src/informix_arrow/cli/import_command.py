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
        help=f"the directory, and {connection_options.URL_HELP}; its database is made when there is none",
    )
    parser.add_argument(
        "--db-locale",
        metavar="LOCALE",
        help="of a database that is made (default: DB_LOCALE, else the code set of the files)",
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep a database that was made, though the import has failed"
    )
    unl = parser.add_argument_group("format of the .sql and .unl files")
    unl.add_argument(
        "--encoding", metavar="CODE_SET", help="their code set (default: CLIENT_LOCALE, else UTF-8)"
    )
    unl.add_argument(
        "--dbdate",
        metavar="DBDATE",
        help="how dates are written (default: as the .sql says, else DBDATE, else as the dates show)",
    )
    unl.add_argument(
        "--dbcentury", metavar="C", help="century of two-digit years: R, P, F, C (default: DBCENTURY, else R)"
    )
    unl.add_argument("--dbmoney", metavar="DBMONEY", help="decimal separator and currency (default: DBMONEY)")
    unl.add_argument(
        "--join-lines", action="store_true", help="texts have ends of lines without a backslash before them"
    )
    progress.add_options(parser)
    connection_options.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Import, and print what the server refused."""
    from ..transfer import import_new_database

    directory, *rest = options.words
    url, *more = connection_options.take_url(rest, ())
    if more:
        raise UsageError(f"too many words, from {more[0]!r} on: give DIR URL")
    parameters = connection_options.resolve_parameters(url, options, autocommit=True)
    if not parameters.database:
        raise UsageError("the URL names no database: say into which, it is made when there is none")

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
            f"{len(report.refused)} statements were refused: tables and rows are complete, what those make is not there"
        )
        return FAILED
    return DONE
