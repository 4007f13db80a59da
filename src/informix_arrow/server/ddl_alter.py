"""ALTER TABLE and RENAME: the table is built anew with its other shape, and its rows are copied."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import references
from .catalog import TableInfo, quote
from .ddl import (
    add_constraint,
    column_info,
    create_sql,
    index_name,
    make_index,
    replace_description,
    user_table,
)
from .ddl_objects import rename_sequence
from .errors import SqlError, no_column, not_supported
from .sql.ddl_nodes import AlterTable, ColumnDef, ConstraintDef, Rename

if TYPE_CHECKING:
    from .session_state import SessionState


def alter(session: SessionState, statement: AlterTable) -> int:
    info = user_table(session, statement.name)
    new = info
    source: dict[str, str] = {c.name: quote(c.name) for c in info.columns}
    for action in statement.actions:
        kind = action[0]
        if kind == "add":
            definition, constraints = action[1], action[2]
            assert isinstance(definition, ColumnDef)
            assert isinstance(constraints, list)
            if new.column(definition.name) is not None:
                raise SqlError(-328, 0, 0, definition.name)
            column = column_info(definition, session)
            before = str(action[3])
            place = len(new.columns)
            if before:
                place = next((i for i, c in enumerate(new.columns) if c.name == before), -1)
                if place < 0:
                    raise no_column(before)
            new = replace(new, columns=(*new.columns[:place], column, *new.columns[place:]))
            source[definition.name] = session.default_sql(column)
            for constraint in constraints:
                new = add_constraint(session, new, constraint)
        elif kind == "drop":
            name = str(action[1])
            if new.column(name) is None:
                raise no_column(name)
            new = _without_column(new, name)
        elif kind == "modify":
            definition, constraints = action[1], action[2]
            assert isinstance(definition, ColumnDef)
            assert isinstance(constraints, list)
            old = new.column(definition.name)
            if old is None:
                raise no_column(definition.name)
            column = column_info(definition, session)
            new = replace(new, columns=tuple(column if c.name == column.name else c for c in new.columns))
            source[column.name] = session.convert_sql(quote(column.name), old.type, column.type)
            for constraint in constraints:
                new = add_constraint(session, new, constraint)
        elif kind == "constraint":
            constraint = action[1]
            assert isinstance(constraint, ConstraintDef)
            new = add_constraint(session, new, constraint)
        elif kind == "storage":
            assert isinstance(action[1], dict)
            new = replace(new, storage=replace(new.storage, **action[1]))
        else:
            new = _without_constraint(new, str(action[1]))
    if not new.columns:
        raise SqlError(-201, 0, 1)
    if (new.columns, new.uniques, new.checks, new.foreigns) == (
        info.columns,
        info.uniques,
        info.checks,
        info.foreigns,
    ):
        replace_description(session, info, new)
        return 0
    orphaned = references.without_keys(session, info, [unique.columns for unique in new.uniques])
    rebuild(session, info, new, [source[c.name] for c in new.columns])
    for child in orphaned:
        replace_description(session, child, child)
    try:
        references.check_children(session, new, [f for f in new.foreigns if f not in info.foreigns])
    except SqlError as e:
        raise SqlError(_NOT_SATISFIED, e.isamcode, 0, e.near) from e
    return 0


_NOT_SATISFIED = -525
"""A foreign key that is added and does not hold for the rows that are there."""


def _without_column(info: TableInfo, name: str) -> TableInfo:
    return replace(
        info,
        columns=tuple(c for c in info.columns if c.name != name),
        uniques=tuple(u for u in info.uniques if name not in u.columns),
        indexes=tuple(i for i in info.indexes if name not in [c for c, _ in i.parts]),
        foreigns=tuple(f for f in info.foreigns if name not in f.columns),
        checks=tuple(c for c in info.checks if quote(name) not in c.duck),
    )


def _without_constraint(info: TableInfo, name: str) -> TableInfo:
    new = replace(
        info,
        uniques=tuple(u for u in info.uniques if u.name != name),
        checks=tuple(c for c in info.checks if c.name != name),
        foreigns=tuple(f for f in info.foreigns if f.name != name),
    )
    if new == info:
        raise SqlError(-623, 0, 0, name)
    return new


def rebuild(session: SessionState, old: TableInfo, new: TableInfo, expressions: list[str]) -> None:
    """Make the table anew with another shape and copy its rows."""
    place, _, _ = old.duck.rpartition(".")
    passing = f"{place}.{quote(f'_new_{old.tabid}')}"
    writer = session.writer
    for index in old.indexes:
        if index.unique:
            writer.execute(f"DROP INDEX {place}.{index_name(old, index.name)}")
    writer.execute(create_sql(new, passing))
    writer.execute(f"INSERT INTO {passing} SELECT {', '.join(expressions)} FROM {old.duck}")
    writer.execute(f"DROP TABLE {old.duck}")
    writer.execute(f"ALTER TABLE {passing} RENAME TO {quote(new.name)}")
    new = replace(new, duck=f"{place}.{quote(new.name)}")
    for index in new.indexes:
        if index.unique:
            make_index(session, new, index)
    replace_description(session, old, new)


def _rename_index(session: SessionState, statement: Rename) -> int:
    info = session.index_owner(statement.name)
    if info is None:
        raise SqlError(-319, 0, 0, statement.name)
    if session.index_owner(statement.new) is not None:
        raise SqlError(-316, 0, 0, statement.new)
    old = next((i for i in info.indexes if i.name == statement.name), None)
    if old is None:
        raise not_supported("RENAME INDEX of the index of a constraint")
    named = replace(old, name=statement.new)
    if old.unique:
        place, _, _ = info.duck.rpartition(".")
        session.writer.execute(f"DROP INDEX {place}.{index_name(info, old.name)}")
        make_index(session, info, named)
    replace_description(
        session, info, replace(info, indexes=tuple(named if i is old else i for i in info.indexes))
    )
    return 0


def rename(session: SessionState, statement: Rename) -> int:
    if statement.kind == "INDEX":
        return _rename_index(session, statement)
    if statement.kind == "SEQUENCE":
        return rename_sequence(session, statement)
    info = user_table(session, statement.name)
    expressions = [quote(c.name) for c in info.columns]
    if statement.kind == "TABLE":
        if session.find_table(None, statement.new) is not None:
            raise SqlError(-310, 0, 0, statement.new)
        children = references.rename(session, info, statement.new, {})
        own = tuple(replace(f, parent=statement.new) if f.parent == info.name else f for f in info.foreigns)
        rebuild(session, info, replace(info, name=statement.new, foreigns=own), expressions)
        for child in children:
            replace_description(session, child, child)
        return 0
    if info.column(statement.column) is None:
        raise no_column(statement.column)
    if info.column(statement.new) is not None:
        raise SqlError(-328, 0, 0, statement.new)

    def renamed(name: str) -> str:
        return statement.new if name == statement.column else name

    new = replace(
        info,
        columns=tuple(replace(c, name=renamed(c.name)) for c in info.columns),
        uniques=tuple(replace(u, columns=tuple(map(renamed, u.columns))) for u in info.uniques),
        indexes=tuple(replace(i, parts=tuple((renamed(c), d) for c, d in i.parts)) for i in info.indexes),
        foreigns=tuple(replace(f, columns=tuple(map(renamed, f.columns))) for f in info.foreigns),
        checks=tuple(
            replace(c, duck=c.duck.replace(quote(statement.column), quote(statement.new)))
            for c in info.checks
        ),
    )
    children = references.rename(session, info, info.name, {statement.column: statement.new})
    own = tuple(
        replace(f, parent_columns=tuple(map(renamed, f.parent_columns))) if f.parent == info.name else f
        for f in new.foreigns
    )
    rebuild(session, info, replace(new, foreigns=own), expressions)
    for child in children:
        replace_description(session, child, child)
    return 0
