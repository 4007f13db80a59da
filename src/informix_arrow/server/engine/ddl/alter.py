"""ALTER TABLE: the table is built anew with its other shape, and its rows are copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import duckdb

from ...errors import ISAM_DUPLICATE, SqlError, from_duckdb, no_column
from ...grammar.ddl_nodes import (
    AddColumn,
    AddConstraint,
    AlterAction,
    AlterTable,
    ConstraintDef,
    DropColumn,
    DropConstraint,
    ModifyColumn,
)
from ...schema import privileges
from ...schema.catalog import ColumnInfo, TableInfo, first_row, nullable_columns, repeated_key
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
    altered = _AlteredTable(bench, info)
    for action in statement.actions:
        altered.apply(action)
    new = altered.new
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
    orphaned = bench.references.without_keys(info, [unique.columns for unique in new.uniques])
    _rebuild(bench, info, new, [altered.values[c.name] for c in new.columns])
    if not new.temporary:
        kept = [column.name for column in new.columns]
        privileges.forget_columns(bench.transaction.writer, new.database, new.tabid, kept)
        triggers.forget_columns(bench.transaction.writer, info, kept)
    for child in orphaned:
        bench.replace_description(child, child)
    try:
        added = [f for f in new.foreigns if f not in info.foreigns and f.name not in altered.unchecked]
        bench.references.check_children(new, added)
    except SqlError as e:
        raise SqlError(_NOT_SATISFIED, e.isamcode, 0, e.near) from e
    return 0


class _AlteredTable:
    """A table as the actions of ALTER TABLE change it, one after the other.

    Attributes
    ----------
    new
        Its description so far.
    values
        Where the rows that are there get the value of each column from: SQL over the table as it was.
    unchecked
        The foreign keys that these rows need not hold.
    """

    def __init__(self, bench: Workbench, info: TableInfo) -> None:
        self._bench = bench
        self._info = info
        self.new = info
        self.values: dict[str, str] = {c.name: quote(c.name) for c in info.columns}
        self.unchecked: set[str] = set()

    def apply(self, action: AlterAction) -> None:
        """Change the description by one action."""
        if isinstance(action, AddColumn):
            self._add_column(action)
        elif isinstance(action, ModifyColumn):
            self._modify_column(action)
        elif isinstance(action, DropColumn):
            self._require_column(action.name)
            self.new = _without_column(self.new, action.name)
        elif isinstance(action, AddConstraint):
            self._add_constraints([action.constraint])
            if action.constraint.unchecked:
                self.unchecked.add(self.new.foreigns[-1].name)
        elif isinstance(action, DropConstraint):
            self.new = _without_constraint(self.new, action.name)
        else:
            self.new = replace(self.new, storage=replace(self.new.storage, **action.fields))

    def _add_column(self, action: AddColumn) -> None:
        bench, columns = self._bench, self.new.columns
        if self.new.column(action.column.name) is not None:
            raise SqlError(-328, 0, 0, action.column.name)
        column = column_info(action.column, bench)
        place = len(columns)
        if action.before:
            place = columns.index(self._require_column(action.before))
        self.new = replace(self.new, columns=(*columns[:place], column, *columns[place:]))
        if column.is_serial and first_row(
            bench.transaction.writer, f"SELECT 1 FROM {self._info.duck} LIMIT 1"
        ):
            raise SqlError(_NO_SERIAL_NOW, 0, 0, column.name)
        self.values[column.name] = bench.values.default_sql(column)
        self._add_constraints(action.constraints)

    def _modify_column(self, action: ModifyColumn) -> None:
        old = self._require_column(action.column.name)
        column = column_info(action.column, self._bench)
        self.new = replace(
            self.new, columns=tuple(column if c.name == column.name else c for c in self.new.columns)
        )
        self.values[column.name] = self._bench.planner.convert_sql(quote(column.name), old.type, column.type)
        self._add_constraints(action.constraints)

    def _add_constraints(self, constraints: Iterable[ConstraintDef]) -> None:
        for constraint in constraints:
            self.new = add_constraint(self._bench, self.new, constraint)

    def _require_column(self, name: str) -> ColumnInfo:
        column = self.new.column(name)
        if column is None:
            raise no_column(name)
        return column


def _rebuild(bench: Workbench, info: TableInfo, new: TableInfo, values: list[str]) -> None:
    """Build the table anew and copy its rows. -371 where they repeat a new key, -530 where they fail a new CHECK."""
    keys = [unique for unique in new.uniques if unique not in info.uniques]
    try:
        rebuild(bench, info, new, values)
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
