"""CREATE and DROP TRIGGER, SET TRIGGERS, and what becomes of triggers when their table changes."""

from __future__ import annotations

from ...errors import SqlError, no_column, no_table
from ...grammar.spl import nodes as n
from ...grammar.spl.trigger_nodes import CreateTrigger, DropTrigger, SetTriggers
from ...schema import privileges, stored_triggers
from ...schema.catalog import TableInfo, Writer
from .workbench import Workbench

_EXISTS_ALREADY, _CASCADES, _NOT_FOUND, _FOR_VIEW = -743, -742, -634, -322
_NOT_OWNER, _TEMPORARY, _CATALOGUE = -635, -548, -511


def create(bench: Workbench, statement: CreateTrigger) -> int:
    """CREATE TRIGGER: -743 when the name is taken, -206 and -217 for a table or column that is not there."""
    database = bench.database.require()
    info = bench.tables.find(None, statement.table)
    if info is None:
        raise no_table(statement.table)
    if _row(bench, statement.name) is not None:
        if statement.if_not_exists:
            return 0
        raise SqlError(_EXISTS_ALREADY, 0, 0, statement.name)
    if info.temporary:
        raise SqlError(_TEMPORARY, 0, 0, info.name)
    if info.kind == "S":
        raise SqlError(_CATALOGUE, 0, 0, info.name)
    if (info.kind == "V") != statement.instead or info.checked:
        raise SqlError(_FOR_VIEW, 0, 0, info.name)
    if statement.event == "D" and any(foreign.cascade for foreign in info.foreigns):
        raise SqlError(_CASCADES, 0, 0, info.name)
    for name in (*statement.columns, *_given(statement.each)):
        if info.column(name) is None:
            raise no_column(name)
    stored_triggers.store(
        bench.transaction.writer,
        database,
        [
            bench.numbers.new_trigid(database),
            statement.name,
            bench.environment.user,
            info.tabid,
            statement.event,
            statement.old,
            statement.new,
            list(statement.columns),
            statement.instead,
            statement.enabled,
            bench.environment.delimident,
            bool(statement.each.statements),
            statement.header,
            statement.text,
        ],
    )
    if (
        info.kind == "V"
    ):  # its owner may do to all views with such triggers what he may not do to their tables
        owner, letter = bench.environment.user, statement.event
        letters = {*bench.rights.held(info.database, owner).tables.get(info.tabid, ()), letter}
        privileges.set_on_table(
            bench.transaction.writer, info.database, info.tabid, owner, owner, letters - {letter.lower()}, {}
        )
    bench.schema.change()
    return 0


def _given(block: n.Block) -> list[str]:
    """The columns that INTO of an action names."""
    found: list[str] = []
    for statement in block.statements:
        if isinstance(statement, n.If):
            for _, inner in statement.arms:
                found += _given(inner)
        elif isinstance(statement, n.Call):
            found += [name.partition(".")[2] for name in statement.into]
    return found


def drop(bench: Workbench, statement: DropTrigger) -> int:
    """DROP TRIGGER: -634 for none of that name."""
    row = _row(bench, statement.name)
    if row is None:
        if statement.if_exists:
            return 0
        raise SqlError(_NOT_FOUND, 0, 0, statement.name)
    trigid, owner, _ = row
    bench.rights.require_owner(owner, statement.name, _NOT_OWNER)
    stored_triggers.forget(bench.transaction.writer, bench.database.require(), trigid)
    bench.schema.change()
    return 0


def switch(bench: Workbench, statement: SetTriggers) -> int:
    """SET TRIGGERS ... ENABLED or DISABLED."""
    wanted: list[int] = []
    if statement.table:
        info = bench.tables.find(None, statement.table)
        if info is None:
            raise no_table(statement.table)
        if not info.temporary:
            bench.rights.require_owner(info.owner, info.name)
        wanted = [trigger.trigid for trigger in info.triggers]
    for name in statement.names:
        row = _row(bench, name)
        if row is None:
            raise SqlError(_NOT_FOUND, 0, 0, name)
        bench.rights.require_owner(row[1], name, _NOT_OWNER)
        wanted.append(row[0])
    for trigid in wanted:
        stored_triggers.enable(bench.transaction.writer, bench.database.require(), trigid, statement.enabled)
    bench.schema.change()
    return 0


def tables_of(bench: Workbench, statement: CreateTrigger | DropTrigger | SetTriggers) -> list[str]:
    """The tables whose triggers a statement changes."""
    if isinstance(statement, CreateTrigger):
        return [statement.table]
    names = [statement.name] if isinstance(statement, DropTrigger) else list(statement.names)
    rows = [_row(bench, name) for name in names]
    found = [row[2] for row in rows if row is not None]
    if isinstance(statement, SetTriggers) and statement.table:
        found.append(statement.table)
    return found


# ---- changes of a table ----------------------------------------------------------------------------
def forget_table(writer: Writer, info: TableInfo) -> None:
    """The triggers of a table or view that is dropped go with it."""
    if info.triggers:
        stored_triggers.forget_all(writer, info.database, info.tabid)


def rename_column(writer: Writer, info: TableInfo, old: str, new: str) -> None:
    """UPDATE OF follows a column's name; what the actions call it does not."""
    for trigger in info.triggers:
        if old in trigger.columns:
            columns = [new if name == old else name for name in trigger.columns]
            stored_triggers.set_columns(writer, info.database, trigger.trigid, columns)


def forget_columns(writer: Writer, info: TableInfo, kept: list[str]) -> None:
    """A trigger for UPDATE OF columns goes with the last of them."""
    for trigger in info.triggers:
        columns = [name for name in trigger.columns if name in kept]
        if len(columns) == len(trigger.columns):
            continue
        if columns:
            stored_triggers.set_columns(writer, info.database, trigger.trigid, columns)
        else:
            stored_triggers.forget(writer, info.database, trigger.trigid)


def refuse_cascade(info: TableInfo) -> None:
    """-742 for a foreign key with ON DELETE CASCADE of a table that has a trigger for DELETE."""
    if any(f.cascade for f in info.foreigns) and any(trigger.event == "D" for trigger in info.triggers):
        raise SqlError(_CASCADES, 0, 0, info.name)


def _row(bench: Workbench, name: str) -> tuple[int, str, str] | None:
    """Number, owner and table of a trigger."""
    return stored_triggers.find(bench.transaction.con, bench.database.require(), name)
