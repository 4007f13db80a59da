"""CREATE and DROP TRIGGER, SET TRIGGERS, and changes to triggers when their table changes."""

from __future__ import annotations

from ...catalog import privileges, stored_triggers
from ...catalog.catalog import SqlConnection, TableInfo
from ...errors import SqlError
from ...parse.spl import nodes as n
from ...parse.spl.trigger_nodes import CreateTrigger, DropTrigger, SetTriggers
from .ddl_context import DdlContext

_EXISTS_ALREADY, _CASCADES, _NOT_FOUND, _FOR_VIEW = -743, -742, -634, -322
_NOT_OWNER, _TEMPORARY, _CATALOGUE = -635, -548, -511


def create(context: DdlContext, statement: CreateTrigger) -> int:
    """CREATE TRIGGER: -743 if the name is taken, -206 and -217 for an unknown table or column."""
    database = context.current_database.require()
    info = context.require_here(statement.table)
    owner = context.tables.owner(statement.name)
    if _find_trigger(context, statement.name) is not None:
        if statement.if_not_exists:
            return 0
        raise SqlError(_EXISTS_ALREADY, 0, 0, statement.name)
    if info.temporary:
        raise SqlError(_TEMPORARY, 0, 0, info.name)
    if info.kind == "S":
        raise SqlError(_CATALOGUE, 0, 0, info.name)
    if (info.kind == "V") != statement.instead or info.with_check_option:
        raise SqlError(_FOR_VIEW, 0, 0, info.name)
    if statement.event == "D" and any(foreign.cascade for foreign in info.foreign_keys):
        raise SqlError(_CASCADES, 0, 0, info.name)
    for name in (*statement.columns, *_into_columns(statement.each_row)):
        info.require_column(name)
    stored_triggers.store(
        context.transaction.recorder,
        database,
        [
            context.numbers.new_trigid(database),
            str(statement.name),
            owner,
            info.tabid,
            statement.event,
            statement.old,
            statement.new,
            list(statement.columns),
            statement.instead,
            statement.enabled,
            context.environment.delimident,
            bool(statement.each_row.statements),
            statement.header,
            statement.text,
        ],
    )
    # The owner of a view with such a trigger may change it even if he may not change its tables.
    if info.kind == "V":
        letter = statement.event
        letters = {*context.privileges.granted(info.database, owner).tables.get(info.tabid, ()), letter}
        privileges.set_table_grants(
            context.transaction.recorder,
            info.database,
            info.tabid,
            owner,
            owner,
            letters - {letter.lower()},
            {},
        )
    context.schema.mark_changed()
    return 0


def _into_columns(block: n.StatementBlock) -> list[str]:
    """Return the columns that INTO of an action names."""
    columns: list[str] = []
    for statement in block.statements:
        if isinstance(statement, n.If):
            for _, inner in statement.arms:
                columns += _into_columns(inner)
        elif isinstance(statement, n.CallStatement):
            columns += [name.partition(".")[2] for name in statement.into]
    return columns


def drop(context: DdlContext, statement: DropTrigger) -> int:
    """DROP TRIGGER: -634 if there is none of that name."""
    row = _find_trigger(context, statement.name)
    if row is None:
        if statement.if_exists:
            return 0
        raise SqlError(_NOT_FOUND, 0, 0, statement.name)
    trigid, owner, _ = row
    context.privileges.require_owner(owner, statement.name, _NOT_OWNER)
    stored_triggers.forget(context.transaction.recorder, context.current_database.require(), trigid)
    context.schema.mark_changed()
    return 0


def set_enabled(context: DdlContext, statement: SetTriggers) -> int:
    """SET TRIGGERS ... ENABLED or DISABLED."""
    trigids: list[int] = []
    if statement.table:
        info = context.require_here(statement.table)
        if not info.temporary:
            context.privileges.require_owner(info.owner, info.name)
        trigids = [trigger.trigid for trigger in info.triggers]
    for name in statement.names:
        row = _find_trigger(context, name)
        if row is None:
            raise SqlError(_NOT_FOUND, 0, 0, name)
        context.privileges.require_owner(row[1], name, _NOT_OWNER)
        trigids.append(row[0])
    for trigid in trigids:
        stored_triggers.enable(
            context.transaction.recorder, context.current_database.require(), trigid, statement.enabled
        )
    context.schema.mark_changed()
    return 0


def tables_of(context: DdlContext, statement: CreateTrigger | DropTrigger | SetTriggers) -> list[str]:
    """Return the tables whose triggers a statement changes."""
    if isinstance(statement, CreateTrigger):
        return [statement.table]
    names = [statement.name] if isinstance(statement, DropTrigger) else list(statement.names)
    rows = [_find_trigger(context, name) for name in names]
    tables = [row[2] for row in rows if row is not None]
    if isinstance(statement, SetTriggers) and statement.table:
        tables.append(statement.table)
    return tables


# ---- changes of a table ----------------------------------------------------------------------------
def forget_table(writer: SqlConnection, info: TableInfo) -> None:
    """Remove the triggers of a table or view that is dropped."""
    if info.triggers:
        stored_triggers.forget_all(writer, info.database, info.tabid)


def rename_column(writer: SqlConnection, info: TableInfo, old: str, new: str) -> None:
    """Rename a column in UPDATE OF. The text of the actions is not changed."""
    for trigger in info.triggers:
        if old in trigger.columns:
            columns = [new if name == old else name for name in trigger.columns]
            stored_triggers.set_columns(writer, info.database, trigger.trigid, columns)


def forget_columns(writer: SqlConnection, info: TableInfo, kept: list[str]) -> None:
    """Remove dropped columns from UPDATE OF, and a trigger with its last column."""
    for trigger in info.triggers:
        columns = [name for name in trigger.columns if name in kept]
        if len(columns) == len(trigger.columns):
            continue
        if columns:
            stored_triggers.set_columns(writer, info.database, trigger.trigid, columns)
        else:
            stored_triggers.forget(writer, info.database, trigger.trigid)


def reject_cascade(info: TableInfo) -> None:
    """Raise -742 for a foreign key with ON DELETE CASCADE of a table that has a trigger for DELETE."""
    if any(f.cascade for f in info.foreign_keys) and any(trigger.event == "D" for trigger in info.triggers):
        raise SqlError(_CASCADES, 0, 0, info.name)


def _find_trigger(context: DdlContext, name: str) -> tuple[int, str, str] | None:
    """Return number, owner and table of a trigger. In a MODE ANSI database its name has the owner that the statement
    names or implies."""
    owner = context.tables.owner(name) if context.tables.is_ansi else None
    database = context.current_database.require()
    return stored_triggers.find(context.transaction.catalog, database, str(name), owner)
