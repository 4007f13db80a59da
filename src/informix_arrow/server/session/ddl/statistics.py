"""UPDATE STATISTICS: only checks the names in the statement, as DuckDB keeps its own statistics."""

from __future__ import annotations

from ...errors import SqlError
from ...parse.ddl_nodes import UpdateStatistics
from .ddl_context import DdlContext

_NO_ROUTINE = -674


def update(context: DdlContext, statement: UpdateStatistics) -> int:
    """Raise -206 for an unknown table, -217 for an unknown column of it, -674 for an unknown routine."""
    if statement.table:
        info = context.require_here(statement.table)
        for name in statement.columns:
            info.require_column(name)
    elif statement.routine:
        given = statement.types
        types = None if given is None else [context.types.resolve(t) for t in given]
        if not context.routines.find_routines(statement.routine, types, specific=statement.specific):
            raise SqlError(_NO_ROUTINE, 0, 0, statement.routine)
    return 0
