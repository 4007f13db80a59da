"""Descriptions of new tables: types of columns, and constraints with their names."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from dataclasses import replace

from ....wire.quoting import double_quoted
from ....wire.types import TypeCode
from ...catalog.catalog import (
    CheckConstraint,
    ColumnInfo,
    ForeignKey,
    TableInfo,
    UniqueConstraint,
    duck_database,
    with_disabled,
)
from ...errors import SqlError, not_supported, syntax_error
from ...parse.ddl_nodes import ColumnDef, ConstraintDef, StorageOptions
from ...plan.rename_references import rename_condition_column
from ...plan.scope import FromSource, Scope, table_outputs
from ...types.conversions import arrow_storage
from ...types.nested_types import is_nested, is_simple_large, lob_kind
from ...types.result_types import not_null
from ..session_tables import constraint_names
from .ddl_context import DdlContext

_NAME_TAKEN = -625
_CHECKED = "SELECT 1 FROM checked WHERE "


def column_info(definition: ColumnDef, context: DdlContext) -> ColumnInfo:
    t = context.types.resolve(definition.type)
    arrow_storage(t)  # -9628 for a type that cannot be stored
    column = ColumnInfo(definition.name, t, definition.default, definition.serial_start)
    only_null = is_simple_large(t) or lob_kind(t) or is_nested(t)
    if definition.default is not None and definition.default[0] != "N" and only_null:
        raise SqlError(-591, 0, 0, definition.name, "The only possible default of such a column is NULL.")
    if definition.default is not None and definition.default[0] == "L":
        value = context.environment.converter(column.type).convert(definition.default[1])
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime) and t.code == TypeCode.DATE:
            # The day is stored, not the text: sessions with another DBDATE read the same default.
            column = replace(column, default=("L", value.isoformat()))
    return column


def check_serial_columns(columns: Sequence[ColumnInfo]) -> None:
    """Raise -362 for a second SERIAL, SERIAL8 or BIGSERIAL column."""
    kinds = [column.type.code for column in columns if column.is_serial]
    if len(set(kinds)) < len(kinds):
        raise SqlError(-362)


def describe(
    context: DdlContext,
    name: str,
    tabid: int,
    columns: list[ColumnDef],
    constraints: list[ConstraintDef],
    temporary: bool,
    storage: StorageOptions | None = None,
) -> TableInfo:
    """Return the description of a new table, with names for its constraints."""
    infos: list[ColumnInfo] = []
    for definition in columns:
        if any(c.name == definition.name for c in infos):
            raise SqlError(-328, 0, 0, definition.name)
        infos.append(column_info(definition, context))
    check_serial_columns(infos)
    database = context.current_database.require()
    duck = (
        f"temp.main.{double_quoted(name)}"
        if temporary
        else f"{duck_database(database)}.main.{double_quoted(name)}"
    )
    info = TableInfo(name, tabid, "T", tuple(infos), database, duck, temporary=temporary)
    if storage is not None:
        # Fragments get numbers of their own, so that their partn differs from that of every table.
        if storage.strategy and not temporary:
            storage = replace(storage, parts=[context.new_tabid() for _ in storage.fragments])
        info = replace(info, storage=storage)
    for constraint in constraints:
        info = add_constraint(context, info, constraint)
    return info


def add_constraint(context: DdlContext, info: TableInfo, constraint: ConstraintDef) -> TableInfo:
    """Return the description with one more constraint."""
    name = _constraint_name(context, info, constraint)
    new = _with_constraint(context, info, constraint, name)
    return with_disabled(new, {*new.disabled.names, name}) if constraint.disabled else new


def _with_constraint(context: DdlContext, info: TableInfo, constraint: ConstraintDef, name: str) -> TableInfo:
    for column in constraint.columns:
        if is_simple_large(info.require_column(column).type) and constraint.kind != "C":
            raise SqlError(-610, 0, 0, column)
    if len(set(constraint.columns)) < len(constraint.columns):
        raise SqlError(-542)
    if constraint.kind in "PU":
        if constraint.kind == "P":
            if any(u.kind == "P" for u in (*info.unique_constraints, *info.disabled.unique_constraints)):
                raise SqlError(-704, 0, 0, info.name)
            columns = tuple(
                replace(c, type=not_null(c.type)) if c.name in constraint.columns else c for c in info.columns
            )
            info = replace(info, columns=columns)
        return replace(
            info,
            unique_constraints=(
                *info.unique_constraints,
                UniqueConstraint(name, constraint.kind, tuple(constraint.columns)),
            ),
        )
    if constraint.kind == "C":
        return replace(
            info,
            checks=(
                *info.checks,
                CheckConstraint(
                    name, _check_condition_sql(context, info, constraint.condition), constraint.condition
                ),
            ),
        )
    if info.temporary:
        raise not_supported("foreign keys of temporary tables")
    parent = info if constraint.parent == info.name else context.require_here(constraint.parent)
    columns_there = tuple(constraint.parent_columns)
    if not columns_there:
        primary = [u for u in parent.unique_constraints if u.kind == "P"]
        if not primary:
            raise SqlError(-297, 0, 0, constraint.parent)
        columns_there = primary[0].columns
    if not any(set(u.columns) == set(columns_there) for u in parent.unique_constraints):
        raise SqlError(-297, 0, 0, constraint.parent)
    if len(columns_there) != len(constraint.columns):
        raise SqlError(-297, 0, 0, constraint.parent)
    foreign = ForeignKey(name, tuple(constraint.columns), parent.name, columns_there, constraint.cascade)
    return replace(info, foreign_keys=(*info.foreign_keys, foreign))


def _constraint_name(context: DdlContext, info: TableInfo, constraint: ConstraintDef) -> str:
    """Return the name of a new constraint, generated if it has none. -625 if the name is taken."""
    own_names = {*constraint_names(info), *info.disabled.names}
    if constraint.name:
        other = None if info.temporary else context.tables.constraint_owner(constraint.name)
        # One of the table itself that is not in `own_names` is dropped by the same ALTER TABLE.
        if constraint.name in own_names or (other is not None and other.tabid != info.tabid):
            raise SqlError(_NAME_TAKEN, 0, 0, constraint.name)
        return constraint.name
    letter = {"P": "u", "U": "u", "C": "c", "R": "r"}[constraint.kind]
    numbers = itertools.count(len(own_names) + 1)
    return next(name for n in numbers if (name := f"{letter}{info.tabid}_{n}") not in own_names)


def _check_condition_sql(context: DdlContext, info: TableInfo, condition: str) -> str:
    """Return a CHECK condition as DuckDB SQL over bare column names."""
    tree = context.sql_reader.parse(f"{_CHECKED}{condition}")
    if {name for name, value in tree.args.items() if value} != {"expressions", "from_", "where"}:
        raise syntax_error(1, "CHECK takes one condition.")
    where = tree.args["where"].this
    translator = context.planner.query_translator()
    translator.ctx.allows_lambdas = False
    scope = Scope([FromSource(info.name, table_outputs(info), info)])
    sql = translator.expressions.condition(where, scope)
    if translator.ctx.session_values:
        raise not_supported("CURRENT and TODAY in CHECK")
    return sql.replace(f"{double_quoted(info.name)}.", "")


def check_with_column(context: DdlContext, check: CheckConstraint, old: str, new: str) -> CheckConstraint:
    """Return a CHECK after a column of its table was renamed."""
    query = f"{_CHECKED}{check.informix_sql}"
    text = rename_condition_column(check.informix_sql, query, context.sql_reader.parse(query), old, new)
    return replace(
        check,
        duck_sql=check.duck_sql.replace(double_quoted(old), double_quoted(new)),
        informix_sql=text,
    )
