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
    "query": CommandInfo("query", "run SQL and show its rows or write them to a file"),
    "load": CommandInfo("load", "load files into a table"),
    "unload": CommandInfo("unload", "write the rows of a table or a query to files"),
    "copy": CommandInfo("copy", "copy tables to Parquet files or other databases, in full or incrementally"),
    "capture": CommandInfo("capture", "stream the committed changes of tables"),
    "export": CommandInfo(
        "export_command", "export a database to DIR/DATABASE.exp in the layout of dbexport"
    ),
    "import": CommandInfo(
        "import_command", "import an export, or files of dbexport, into a new or empty database"
    ),
    "compare": CommandInfo("compare", "compare tables between two databases, exports or files"),
    "translate": CommandInfo("translate", "translate a script of Informix SQL for another database"),
    "tables": CommandInfo("tables", "list tables, views and synonyms"),
    "describe": CommandInfo("describe", "show the columns, keys and indexes of a table"),
    "ping": CommandInfo("ping", "log in and check that the server answers"),
    "doctor": CommandInfo("doctor", "check which features work with a server"),
    "serve": CommandInfo("serve", "run the embedded SQLI server until SIGTERM or SIGINT"),
    "demo": CommandInfo("demo", "load sample data into an embedded server and read it into Polars"),
    "adbc-manifest": CommandInfo(
        "adbc_manifest", "write the manifest by which ADBC driver managers find the driver"
    ),
    "completion": CommandInfo("completion", "print a completion script for a shell"),
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
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1.")
    return value


def split_names(text: str) -> list[str]:
    """Split a list of names at its commas."""
    return [name.strip() for name in text.split(",")]
