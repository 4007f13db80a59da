"""The list of commands, and how they are declared: each with an example in its ``--help``."""

from __future__ import annotations

import argparse
from typing import NamedTuple, NoReturn, TypeAlias

from ..wire.redaction import hide_credentials


class CommandInfo(NamedTuple):
    """A command: the module that declares and runs it, and its line in ``--help``."""

    module: str
    summary: str


COMMANDS = {
    "query": CommandInfo("query", "run SQL and show, pipe or store its rows"),
    "load": CommandInfo("load", "load files into a table"),
    "unload": CommandInfo("unload", "write the rows of a table or a query into files"),
    "copy": CommandInfo("copy", "copy tables into Parquet or other databases, and go on from the last copy"),
    "capture": CommandInfo("capture", "the committed changes of tables, as they are made"),
    "export": CommandInfo(
        "export_command", "a whole database into DIR/DATABASE.exp, as dbexport lays it out"
    ),
    "import": CommandInfo(
        "import_command", "an export, or what dbexport wrote, into a new or empty database"
    ),
    "compare": CommandInfo("compare", "whether tables of two databases, exports or files are the same"),
    "tables": CommandInfo("tables", "list tables, views and synonyms"),
    "describe": CommandInfo("describe", "the columns, keys and indexes of a table"),
    "ping": CommandInfo("ping", "log in and ask the server for a sign of life"),
    "doctor": CommandInfo("doctor", "say line by line what works against a server"),
    "serve": CommandInfo("serve", "run the embedded SQLI server until SIGTERM or SIGINT"),
    "demo": CommandInfo("demo", "load real data into an embedded server and read it into Polars"),
    "completion": CommandInfo("completion", "print what makes a shell complete commands and options"),
}

#: The result of ``add_subparsers``, to which each command adds itself.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class ArgumentParser(argparse.ArgumentParser):
    """A parser whose errors hide passwords. argparse shows what it does not understand, such as a URL."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit."""
        super().error(hide_credentials(message))


def command(commands: Commands, name: str, example: str = "") -> argparse.ArgumentParser:
    """Declare a command of `COMMANDS`. ``example`` is shown below its options, unchanged."""
    summary = COMMANDS[name].summary
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n{example}" if example else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def whole_number(text: str) -> int:
    """Parse a number of at least 1, with or without underscores, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return value
