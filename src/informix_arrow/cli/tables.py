"""``informix-arrow tables``."""

from __future__ import annotations

import argparse

import pyarrow as pa

from . import connection_options, output
from .parser import Commands, command

EXAMPLE = "  informix-arrow tables informix://user@host:9088/stores 'order%' --format csv"
_SHOWN = ("table_schema", "table_name", "table_type", "row_count")


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "tables", EXAMPLE)
    parser.add_argument("--owner", metavar="NAME", help="show tables of this owner only")
    parser.add_argument("--system", action="store_true", help="include the system catalog")
    output.add_options(parser)
    connection_options.add_options(parser, "URL [PATTERN]", ", and a LIKE pattern for table names")


def run(options: argparse.Namespace) -> int:
    """Print the tables."""
    url, *rest = connection_options.take_url(options.words, ("PATTERN",), optional=1)
    with connection_options.connect_from_options(url, options) as connection:
        tables = connection.tables(rest[0] if rest else None, owner=options.owner)
        if options.system:
            system = connection.tables(
                rest[0] if rest else None, owner=options.owner, types=("SYSTEM TABLE",)
            )
            tables = pa.concat_tables([tables, system])
    output.show(tables, options, columns=_SHOWN)
    return 0
