"""SET CONSTRAINTS and SET INDEXES with ENABLED or DISABLED."""

from __future__ import annotations

from ....wire.quoting import double_quoted
from ...catalog.catalog import TableInfo, with_disabled
from ...errors import SqlError, not_supported
from ...parse.ddl_nodes import SetObjects
from ...parse.spl.trigger_nodes import SetTriggers
from ..session_tables import constraint_names
from . import triggers
from .alter import replace_with_keys
from .ddl_context import DdlContext

_NO_CONSTRAINT, _NO_INDEX = -623, -319


def objects(context: DdlContext, statement: SetObjects) -> list[tuple[TableInfo, set[str]]]:
    """Return the tables of the objects that a statement names, and the names in each.

    Raises -206, -623 or -319 for an unknown name.
    """
    if statement.table:
        info = context.require_here(statement.table)
        names = constraint_names(info) if "CONSTRAINTS" in statement.kinds else set()
        if "INDEXES" in statement.kinds:
            names |= {index.name for index in (*info.indexes, *info.disabled.indexes)}
        return [(info, names)]
    found: dict[str, tuple[TableInfo, set[str]]] = {}
    for name in statement.names:
        owner = None
        if "INDEXES" in statement.kinds:
            owner = context.tables.index_owner(name)
        if owner is None and "CONSTRAINTS" in statement.kinds:
            owner = context.tables.constraint_owner(name)
        if owner is None:
            raise SqlError(_NO_INDEX if "INDEXES" in statement.kinds else _NO_CONSTRAINT, 0, 0, name)
        found.setdefault(owner.name, (owner, set()))[1].add(name)
    return list(found.values())


def set_modes(context: DdlContext, statement: SetObjects) -> int:
    """Enable or disable objects. Rows that violate an enabled one raise the errors of ADD CONSTRAINT."""
    for info, names in objects(context, statement):
        current = set(info.disabled.names)
        wanted = current - names if statement.enabled else current | names
        if wanted != current:
            context.require_alterable_table(info.name)
            new = with_disabled(info, wanted)
            replace_with_keys(context, info, new, [double_quoted(c.name) for c in info.columns])
    if "TRIGGERS" in statement.kinds:
        triggers.set_enabled(context, SetTriggers(statement.enabled, (), statement.table))
    return 0


def reject_disabled(info: TableInfo, what: str) -> None:
    """Raise -201 for a change of a table that would have to change its disabled objects, too."""
    if info.disabled.names:
        raise not_supported(
            f"{what} of a table with disabled objects: SET CONSTRAINTS, INDEXES .. ENABLED first"
        )
