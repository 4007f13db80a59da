"""RENAME CONSTRAINT."""

from __future__ import annotations

from dataclasses import replace

from ...errors import SqlError
from ...grammar.ddl_nodes import Rename
from .workbench import Workbench

_NO_CONSTRAINT, _NAME_TAKEN = -623, -625


def rename(bench: Workbench, statement: Rename) -> int:
    """RENAME CONSTRAINT: -623 for none of that name, -625 when the new one is taken."""
    info = bench.tables.constraint_owner(statement.name)
    if info is None:
        raise SqlError(_NO_CONSTRAINT, 0, 0, statement.name)
    if bench.tables.constraint_owner(statement.new) is not None:
        raise SqlError(_NAME_TAKEN, 0, 0, statement.new)

    def named(name: str) -> str:
        return statement.new if name == statement.name else name

    new = replace(
        info,
        uniques=tuple(replace(unique, name=named(unique.name)) for unique in info.uniques),
        checks=tuple(replace(check, name=named(check.name)) for check in info.checks),
        foreigns=tuple(replace(foreign, name=named(foreign.name)) for foreign in info.foreigns),
    )
    bench.replace_description(info, new)
    return 0
