"""RENAME CONSTRAINT."""

from __future__ import annotations

from dataclasses import replace

from ...errors import SqlError
from ...parse.ddl_nodes import RenameObject
from .ddl_context import DdlContext
from .object_modes import reject_disabled

_NO_CONSTRAINT, _NAME_TAKEN = -623, -625


def rename(context: DdlContext, statement: RenameObject) -> int:
    """RENAME CONSTRAINT: -623 if there is none of that name, -625 if the new name is taken."""
    info = context.tables.constraint_owner(statement.name)
    if info is None:
        raise SqlError(_NO_CONSTRAINT, 0, 0, statement.name)
    reject_disabled(info, "RENAME CONSTRAINT")
    if context.tables.constraint_owner(statement.new) is not None:
        raise SqlError(_NAME_TAKEN, 0, 0, statement.new)

    def named(name: str) -> str:
        return statement.new if name == statement.name else name

    new = replace(
        info,
        unique_constraints=tuple(
            replace(unique, name=named(unique.name)) for unique in info.unique_constraints
        ),
        checks=tuple(replace(check, name=named(check.name)) for check in info.checks),
        foreign_keys=tuple(replace(foreign, name=named(foreign.name)) for foreign in info.foreign_keys),
    )
    context.replace_table(info, new)
    return 0
