"""ALTER TABLE: the table is built anew with its other shape, and its rows are copied."""

from __future__ import annotations

from dataclasses import replace

import duckdb

from ...errors import ISAM_DUPLICATE, SqlError, from_duckdb, no_column
from ...grammar.ddl_nodes import AlterTable, ColumnDef, ConstraintDef
from ...schema import privileges
from ...schema.catalog import TableInfo, first_row, nullable_columns, repeated_key
from ...types.names import quote
from . import triggers
from .descriptions import add_constraint, column_info, one_serial_of_a_kind
from .duck_tables import rebuild
from .workbench import Workbench

_CHECK_FAILED = -530

_NO_SERIAL_NOW = -287
"""A serial column for a table that has rows."""

_DUPLICATE, _DUPLICATES_THERE = -268, -371

_NOT_SATISFIED = -525
"""A foreign key that is added and does not hold for the rows that are there."""


def alter(bench: Workbench, statement: AlterTable) -> int:
    """ALTER TABLE: -19816 for a table whose rows are logged in full."""
    info = bench.alterable(statement.name)
    new = info
    source: dict[str, str] = {c.name: quote(c.name) for c in info.columns}
    unchecked: set[str] = set()  # foreign keys that the rows that are there need not hold
    for action in statement.actions:
        kind = action[0]
        if kind == "add":
            definition, constraints = action[1], action[2]
            assert isinstance(definition, ColumnDef)
            assert isinstance(constraints, list)
            if new.column(definition.name) is not None:
                raise SqlError(-328, 0, 0, definition.name)
            column = column_info(definition, bench)
            before = str(action[3])
            place = len(new.columns)
            if before:
                place = next((i for i, c in enumerate(new.columns) if c.name == before), -1)
                if place < 0:
                    raise no_column(before)
            new = replace(new, columns=(*new.columns[:place], column, *new.columns[place:]))
            if column.is_serial and first_row(bench.transaction.writer, f"SELECT 1 FROM {info.duck} LIMIT 1"):
                raise SqlError(_NO_SERIAL_NOW, 0, 0, column.name)
            source[definition.name] = bench.values.default_sql(column)
            for constraint in constraints:
                new = add_constraint(bench, new, constraint)
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
            column = column_info(definition, bench)
            new = replace(new, columns=tuple(column if c.name == column.name else c for c in new.columns))
            source[column.name] = bench.planner.convert_sql(quote(column.name), old.type, column.type)
            for constraint in constraints:
                new = add_constraint(bench, new, constraint)
        elif kind == "constraint":
            constraint = action[1]
            assert isinstance(constraint, ConstraintDef)
            new = add_constraint(bench, new, constraint)
            if constraint.unchecked:
                unchecked.add(new.foreigns[-1].name)
        elif kind == "storage":
            assert isinstance(action[1], dict)
            new = replace(new, storage=replace(new.storage, **action[1]))
        else:
            new = _without_constraint(new, str(action[1]))
    if not new.columns:
        raise SqlError(-370)
    one_serial_of_a_kind(new.columns)
    triggers.refuse_cascade(new)
    if (new.columns, new.uniques, new.checks, new.foreigns) == (
        info.columns,
        info.uniques,
        info.checks,
        info.foreigns,
    ):
        bench.replace_description(info, new)
        return 0
    keys = [unique for unique in new.uniques if unique not in info.uniques]
    orphaned = bench.references.without_keys(info, [unique.columns for unique in new.uniques])
    try:
        rebuild(bench, info, new, [source[c.name] for c in new.columns])
    except duckdb.ConstraintException as problem:
        if keys and from_duckdb(problem).sqlcode == _DUPLICATE:
            raise SqlError(_DUPLICATES_THERE, ISAM_DUPLICATE, 0, keys[0].name) from problem
        added = [check for check in new.checks if check not in info.checks]
        if from_duckdb(problem).sqlcode != _CHECK_FAILED or not added:
            raise
        raise SqlError(
            _CHECK_FAILED, 0, 0, f"informix.{added[0].name}" if len(added) == 1 else ""
        ) from problem
    for unique in keys:
        # what DuckDB does not see: NULLs, and rows that were there before the index was, in the same transaction
        unseen = nullable_columns(new, unique.columns) or not new.blank_padded.isdisjoint(unique.columns)
        if unseen and first_row(bench.transaction.con, repeated_key(new, unique.columns)):
            raise SqlError(_DUPLICATES_THERE, ISAM_DUPLICATE, 0, unique.name)
    if not new.temporary:
        kept = [column.name for column in new.columns]
        privileges.forget_columns(bench.transaction.writer, new.database, new.tabid, kept)
        triggers.forget_columns(bench.transaction.writer, info, kept)
    for child in orphaned:
        bench.replace_description(child, child)
    try:
        added_keys = [f for f in new.foreigns if f not in info.foreigns and f.name not in unchecked]
        bench.references.check_children(new, added_keys)
    except SqlError as e:
        raise SqlError(_NOT_SATISFIED, e.isamcode, 0, e.near) from e
    return 0


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
