"""CREATE TEMP TABLE and DROP TABLE of small plain tables, of which DuckDB is told later or never (late_tables.py)."""

from __future__ import annotations

import re

from ...grammar.ddl_nodes import CreateTable, Drop
from ...types.result_types import kept_as_it_is
from . import permits
from .descriptions import describe
from .duck_tables import create_sql
from .workbench import Workbench

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""DuckDB takes names that differ in case for the same one, and has some of its own that begin otherwise."""


def run(bench: Workbench, statement: object) -> bool:
    """Run the statement as one of its own, if it is of that kind; else nothing is done."""
    if not bench.transaction.alone:
        return False
    if isinstance(statement, CreateTable):
        return _create(bench, statement)
    return isinstance(statement, Drop) and _drop(bench, statement)


def _create(bench: Workbench, statement: CreateTable) -> bool:
    name = statement.name
    if not statement.temporary or statement.query or statement.constraints or bench.tables.taken(name):
        return False
    names = [name, *(column.name for column in statement.columns)]
    if not all(map(_PLAIN_NAME.fullmatch, names)) or "rowid" in names:
        return False
    if any(other.lower() == name for other in bench.schema.temp_tables):
        return False
    if not all(kept_as_it_is(column.type) for column in statement.columns):
        return False
    permits.require(bench, statement)
    info = describe(bench, name, bench.new_tabid(), statement.columns, [], True, statement.storage)
    bench.transaction.create_later(info.duck, create_sql(info, info.duck))
    bench.register(info)
    bench.schema.publish()
    return True


def _drop(bench: Workbench, statement: Drop) -> bool:
    info = bench.schema.temp_tables.get(statement.name)
    if info is None or statement.kind != "TABLE" or not bench.transaction.drop_late(info.duck):
        return False
    del bench.schema.temp_tables[info.name]
    bench.schema.dropped(info)
    bench.schema.change(temporary=True)
    bench.schema.publish()
    return True
