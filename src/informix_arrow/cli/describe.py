"""``informix-arrow describe``."""

from __future__ import annotations

import argparse

from . import connection_options, output
from .parser import Commands, command

_COLUMNS = ("column_name", "data_type", "is_nullable", "column_default", "arrow_type")
_DETAIL_COLUMNS = (
    "index_name",
    "constraint_name",
    "column_name",
    "is_unique",
    "referenced_table_name",
    "referenced_column_name",
)

EXAMPLE = "  informix-arrow describe informix://user@host:9088/stores orders"


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "describe", EXAMPLE)
    output.add_options(parser)
    connection_options.add_options(parser, "URL TABLE", ", and the table")


def run(options: argparse.Namespace) -> int:
    """Print the columns, and on a terminal also keys and indexes of the table."""
    url, table = connection_options.take_url(options.words, ("TABLE",))
    with connection_options.connect_from_options(url, options) as connection:
        columns = connection.columns(table)
        parts = {
            "primary key": connection.primary_key(table),
            "foreign keys": connection.foreign_keys(table),
            "indexes": connection.indexes(table),
        }
    output.show(columns, options, _COLUMNS)
    if output.for_people(options):
        for name, part in parts.items():
            if part.num_rows:
                print(f"\n{name}")
                output.show(part, options, [each for each in _DETAIL_COLUMNS if each in part.schema.names])
    return 0
