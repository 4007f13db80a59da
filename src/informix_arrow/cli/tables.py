"""``informix-arrow tables``."""

from __future__ import annotations

import argparse

import pyarrow as pa

from . import connecting, output
from .helping import Commands, command

EXAMPLE = "  informix-arrow tables informix://user@host:9088/stores 'order%' --format csv"
_SHOWN = ("table_schema", "table_name", "table_type", "row_count")


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "tables", EXAMPLE)
    parser.add_argument(
        "words",
        nargs="*",
        metavar="URL [PATTERN]",
        help=f"{connecting.URL_HELP}, and a pattern of LIKE for the names",
    )
    parser.add_argument("--owner", metavar="NAME", help="only those of this owner")
    parser.add_argument("--system", action="store_true", help="those of the system catalogue, too")
    output.add_options(parser)
    connecting.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List them."""
    url, *rest = connecting.take_url(options.words, ("PATTERN",), optional=1)
    with connecting.connect_from_options(url, options) as connection:
        found = connection.tables(rest[0] if rest else None, owner=options.owner)
        if options.system:
            system = connection.tables(
                rest[0] if rest else None, owner=options.owner, types=("SYSTEM TABLE",)
            )
            found = pa.concat_tables([found, system])
    output.show(found, options, columns=_SHOWN)
    return 0
