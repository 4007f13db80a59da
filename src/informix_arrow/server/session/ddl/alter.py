"""ALTER TABLE: the table is rebuilt with its new shape, and its rows are copied."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import duckdb

from ....wire.quoting import double_quoted
from ...catalog import privileges
from ...catalog.catalog import TableInfo, duplicate_key_query, first_row, nullable_columns, with_disabled
from ...errors import ISAM_DUPLICATE, SqlError, from_duckdb, not_supported
from ...parse.ddl_nodes import (
    AddColumn,
    AddConstraint,
    AlterAction,
    AlterTable,
    ConstraintDef,
    DropColumn,
    DropConstraint,
    ModifyColumn,
)
from . import triggers
from .ddl_context import DdlContext
from .descriptions import add_constraint, check_serial_columns, column_info
from .duck_tables import rebuild

_CHECK_FAILED = -530

_NO_SERIAL_NOW = -287
"""SQLCODE for adding a serial column to a table that has rows."""

_DUPLICATE, _DUPLICATES_THERE = -268, -371

_NOT_SATISFIED = -525
"""SQLCODE for adding a foreign key that existing rows violate."""


def alter(context: DdlContext, statement: AlterTable) -> int:
    """ALTER TABLE: -19816 for a table whose rows are logged in full."""
    info = context.require_alterable_table(statement.name)
    altered = _AlteredTable(context, info)
    for action in statement.actions:
        altered.apply(action)
    new = altered.new
    if not new.columns:
        raise SqlError(-370)
    check_serial_columns(new.columns)
    triggers.reject_cascade(new)
    if (new.columns, new.unique_constraints, new.checks, new.foreign_keys) == (
        info.columns,
        info.unique_constraints,
        info.checks,
        info.foreign_keys,
    ):
        context.replace_table(info, new)
        return 0
    orphaned = context.foreign_key_enforcer.children_without_keys(
        info, [unique.columns for unique in new.unique_constraints]
    )
    replace_with_keys(
        context, info, new, [altered.values[c.name] for c in new.columns], unchecked=altered.unchecked
    )
    if not new.temporary:
        column_names = [column.name for column in new.columns]
        privileges.forget_columns(context.transaction.recorder, new.database, new.tabid, column_names)
        triggers.forget_columns(context.transaction.recorder, info, column_names)
    for child in orphaned:
        context.replace_table(child, child)
    return 0


def replace_with_keys(
    context: DdlContext,
    info: TableInfo,
    new: TableInfo,
    values: list[str],
    *,
    unchecked: Collection[str] = (),
) -> None:
    """Rebuild a table with other columns or constraints. Raises the errors of new constraints that rows violate.

    `unchecked` are the foreign keys that existing rows need not satisfy.
    """
    _rebuild(context, info, new, values)
    try:
        added = [f for f in new.foreign_keys if f not in info.foreign_keys and f.name not in unchecked]
        context.foreign_key_enforcer.check_children(new, added)
    except SqlError as e:
        raise SqlError(_NOT_SATISFIED, e.isamcode, 0, e.near) from e


class _AlteredTable:
    """The description of a table while the actions of ALTER TABLE are applied one after the other.

    Attributes
    ----------
    new
        The description so far.
    values
        SQL over the old table for the values of each column in existing rows.
    unchecked
        The foreign keys that existing rows need not satisfy.
    """

    def __init__(self, context: DdlContext, info: TableInfo) -> None:
        self._context = context
        self._info = info
        self.new = info
        self.values: dict[str, str] = {c.name: double_quoted(c.name) for c in info.columns}
        self.unchecked: set[str] = set()

    def apply(self, action: AlterAction) -> None:
        """Change the description by one action."""
        if isinstance(action, AddColumn):
            self._add_column(action)
        elif isinstance(action, ModifyColumn):
            self._modify_column(action)
        elif isinstance(action, DropColumn):
            self.new.require_column(action.name)
            if self.new.disabled.names:
                raise not_supported("dropping a column while constraints or indexes are disabled")
            self.new = _without_column(self.new, action.name)
        elif isinstance(action, AddConstraint):
            self._add_constraints([action.constraint])
            if action.constraint.no_validate and not action.constraint.disabled:
                self.unchecked.add(self.new.foreign_keys[-1].name)
        elif isinstance(action, DropConstraint):
            self.new = _without_constraint(self.new, action.name)
        else:
            self.new = replace(self.new, storage=replace(self.new.storage, **action.fields))

    def _add_column(self, action: AddColumn) -> None:
        context, columns = self._context, self.new.columns
        if self.new.column(action.column.name) is not None:
            raise SqlError(-328, 0, 0, action.column.name)
        column = column_info(action.column, context)
        position = len(columns)
        if action.before:
            position = columns.index(self.new.require_column(action.before))
        self.new = replace(self.new, columns=(*columns[:position], column, *columns[position:]))
        if column.is_serial and first_row(
            context.transaction.recorder, f"SELECT 1 FROM {self._info.duck_name} LIMIT 1"
        ):
            raise SqlError(_NO_SERIAL_NOW, 0, 0, column.name)
        self.values[column.name] = context.values.default_sql(column)
        self._add_constraints(action.constraints)

    def _modify_column(self, action: ModifyColumn) -> None:
        old = self.new.require_column(action.column.name)
        column = column_info(action.column, self._context)
        self.new = replace(
            self.new, columns=tuple(column if c.name == column.name else c for c in self.new.columns)
        )
        self.values[column.name] = self._context.planner.modify_column_sql(
            double_quoted(column.name), old.type, column.type
        )
        self._add_constraints(action.constraints)

    def _add_constraints(self, constraints: Iterable[ConstraintDef]) -> None:
        for constraint in constraints:
            self.new = add_constraint(self._context, self.new, constraint)


def _rebuild(context: DdlContext, info: TableInfo, new: TableInfo, values: list[str]) -> None:
    """Rebuild the table and copy its rows. -371 if they repeat a new key, -530 if they violate a new CHECK."""
    keys = [unique for unique in new.keys if unique not in info.keys]
    try:
        rebuild(context, info, new, values)
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
        # not checked by DuckDB: NULLs, and rows older than the index in the same transaction
        unseen = nullable_columns(new, unique.columns) or not new.blank_padded.isdisjoint(unique.columns)
        if unseen and first_row(context.transaction.con, duplicate_key_query(new, unique.columns)):
            raise SqlError(_DUPLICATES_THERE, ISAM_DUPLICATE, 0, unique.name)


def _without_column(info: TableInfo, name: str) -> TableInfo:
    return replace(
        info,
        columns=tuple(c for c in info.columns if c.name != name),
        unique_constraints=tuple(u for u in info.unique_constraints if name not in u.columns),
        indexes=tuple(i for i in info.indexes if name not in [c for c, _ in i.key_columns]),
        foreign_keys=tuple(f for f in info.foreign_keys if name not in f.columns),
        checks=tuple(c for c in info.checks if double_quoted(name) not in c.duck_sql),
    )


def _without_constraint(info: TableInfo, name: str) -> TableInfo:
    """Return a table without a constraint, which may be disabled. Raises -623 if there is none of that name."""
    enabled = with_disabled(info, ())
    new = replace(
        enabled,
        unique_constraints=tuple(u for u in enabled.unique_constraints if u.name != name),
        checks=tuple(c for c in enabled.checks if c.name != name),
        foreign_keys=tuple(f for f in enabled.foreign_keys if f.name != name),
    )
    if new == enabled:
        raise SqlError(-623, 0, 0, name)
    return with_disabled(new, info.disabled.names)
