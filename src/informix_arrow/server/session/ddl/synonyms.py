"""CREATE and DROP SYNONYM."""

from __future__ import annotations

import json

from ...catalog import stored_names
from ...catalog.catalog import SYNONYMS
from ...errors import SqlError, no_table
from ...parse.ddl_nodes import CreateSynonym, DropObject
from .ddl_context import DdlContext

_NO_SYNONYM = -218
_TEMPORARY = -510


def create(context: DdlContext, statement: CreateSynonym) -> int:
    """Create a synonym for a table or view of any database. A synonym for a synonym refers to its table."""
    if context.tables.is_name_taken(statement.name):
        if statement.if_not_exists:
            return 0
        raise SqlError(-310, 0, 0, statement.name)
    target = context.tables.find(statement.database, statement.table)
    if target is None:
        raise no_table(statement.table)
    if target.temporary:
        raise SqlError(_TEMPORARY, 0, 0, target.name)
    details = json.dumps({"stands for": [target.database, target.name]})
    kind = "P" if statement.private else "S"
    database = context.current_database.require()
    stored_names.register(
        context.transaction.recorder,
        database,
        statement.name,
        context.new_tabid(),
        kind,
        statement.owner or context.privileges.acting_owner,
        details,
    )
    context.schema.mark_changed()
    return 0


def drop(context: DdlContext, statement: DropObject) -> int:
    """DROP SYNONYM."""
    if not context.remove_listed_name(statement.name, SYNONYMS) and not statement.if_exists:
        raise SqlError(_NO_SYNONYM, 0, 0, statement.name)
    return 0
