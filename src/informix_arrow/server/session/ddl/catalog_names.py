"""Names in systables that DuckDB does not have: synonyms and sequences."""

from __future__ import annotations

from ...catalog import stored_names
from .ddl_context import DdlContext


def remove_listed_name(context: DdlContext, name: str, kinds: tuple[str, ...]) -> int:
    """Remove a name from systables. Return its tabid, 0 if there is none of these kinds."""
    database = context.current_database.require()
    tabid = stored_names.number_of(context.transaction.catalog, database, name, kinds)
    if tabid is None:
        return 0
    stored_names.remove(context.transaction.recorder, database, tabid)
    context.schema.mark_changed()
    return tabid
