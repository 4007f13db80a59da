"""INSERT, UPDATE and DELETE of a view, rewritten as changes of the underlying table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from ..catalog.catalog import CheckConstraint, TableInfo
from ..catalog.system_views import VIEW_COLUMNS
from ..errors import OWNER_MARK, SqlError

_NOT_UPDATABLE = -274
VIEW_CHECK_FAILED = -385
"""Error of a row that would leave the view WITH CHECK OPTION through which it was changed."""

OF_VIEW = "of_view"
"""Marks a table that is read through a view. The privileges of the view's owner were checked when it was created."""

_VIEW_COLUMNS = re.compile(VIEW_COLUMNS)

FindTable = Callable[[str | None, str], TableInfo | None]


@dataclass(frozen=True, slots=True)
class ViewTarget:
    """The table or view under a view.

    `columns` maps columns of the view to columns of the table, `expressions` its other columns to their expressions.
    `where` is the WHERE of the view.
    """

    table: TableInfo
    columns: dict[str, str]
    expressions: dict[str, exp.Expression]
    where: exp.Expression | None


def trigger_event(tree: exp.Expression) -> str:
    """Return the letter of a trigger event for an INSERT, UPDATE or DELETE."""
    return {exp.Insert: "I", exp.Update: "U"}.get(type(tree), "D")


def view_query(view: TableInfo) -> str:
    """Return the query of a CREATE VIEW."""
    columns = _VIEW_COLUMNS.match(view.viewtext, len("create view ") + len(view.name))
    return view.viewtext[columns.end() :] if columns else ""


def expandable_query(tree: exp.Expression, view: TableInfo) -> exp.Expression:
    """Return the query of a view for use inside another one. Its tables are those of the view's database, and its
    privileges were checked when the view was created."""
    ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if table.catalog or table.args.get("db") or table.name not in ctes:
            table.meta[OF_VIEW] = True
            if not table.catalog:
                table.set("catalog", exp.to_identifier(view.database, quoted=True))
    return tree


def view_target(
    tree: exp.Expression, view: TableInfo, find_table: Callable[[exp.Table], TableInfo | None]
) -> ViewTarget:
    """Return the target of changes of a view. Raises -274 unless the view shows single rows of one table."""
    refused = SqlError(_NOT_UPDATABLE, 0, 0, view.name)
    parts = ("with_", "distinct", "group", "having", "joins", "connect", "limit", "offset")
    if not isinstance(tree, exp.Select) or any(tree.args.get(part) for part in parts):
        raise refused
    clause = tree.args.get("from_") or tree.args.get("from")
    source = clause.this if clause is not None else None
    if not isinstance(source, exp.Table) or source.args.get("joins"):
        raise refused
    table = find_table(source)
    if table is None or table.kind == "S":
        raise refused
    column_sources: list[str | exp.Expression] = []
    for item in tree.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        if inner.is_star:
            column_sources += [column.name for column in table.columns]
        elif inner.find(exp.AggFunc):
            raise refused
        else:
            column_sources.append(inner.name if isinstance(inner, exp.Column) else _unqualified(inner))
    named = [(column.name, found) for column, found in zip(view.columns, column_sources, strict=True)]
    columns = {name: found for name, found in named if isinstance(found, str)}
    expressions = {name: found for name, found in named if not isinstance(found, str)}
    where = tree.args.get("where")
    return ViewTarget(table, columns, expressions, None if where is None else _unqualified(where.this))


def _unqualified(node: exp.Expression) -> exp.Expression:
    """Return a copy of a part of a view's query with unqualified column names."""
    copy: exp.Expression = node.copy()
    for column in copy.find_all(exp.Column):
        if column.find_ancestor(exp.Select) is None:
            column.set("table", None)
    for table in copy.find_all(exp.Table):
        table.meta[OF_VIEW] = True
    return copy


def rewrite_through_views(
    tree: exp.Expression, view: TableInfo, target_of: Callable[[TableInfo], ViewTarget]
) -> tuple[exp.Expression, list[exp.Expression]]:
    """Rewrite a change of a view as a change of its table, or of an underlying view with INSTEAD OF triggers for it.

    Also returns the WITH CHECK OPTION conditions for the changed rows, over the table's column names.
    """
    checks: list[exp.Expression] = []
    checked = False
    while view.kind == "V" and not view.fired_by(trigger_event(tree)):
        found = target_of(view)
        checked = checked or view.with_check_option  # applies also if set on a view over this one
        checks = [_substitute_columns(check, found, "") for check in checks]
        if checked and found.where is not None:
            checks.append(found.where.copy())
        tree = _rewrite_once(tree, view, found)
        view = found.table
    return tree, checks


def _rewrite_once(tree: exp.Expression, view: TableInfo, found: ViewTarget) -> exp.Expression:
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    alias = node.alias or node.name
    base = exp.Table(
        this=exp.to_identifier(found.table.name.partition(OWNER_MARK)[0], quoted=True),
        db=exp.to_identifier(found.table.owner, quoted=True),
        catalog=exp.to_identifier(found.table.database, quoted=True),
    )
    if isinstance(tree, exp.Insert):
        named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
        names = [n.name for n in named] or [c.name for c in view.columns]
        columns = [exp.to_identifier(_column(found, view, name), quoted=True) for name in names]
        tree.set("this", exp.Schema(this=base, expressions=columns))
        return tree
    base.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    for assignment in tree.args.get("expressions") or ():
        lefts = assignment.this.expressions if isinstance(assignment.this, exp.Tuple) else [assignment.this]
        for left in lefts:
            _column(found, view, left.name)
    tree = _substitute_columns(tree, found, alias)
    tree.set("this", base)
    if found.where is not None:
        where = tree.args.get("where")
        condition = found.where.copy()
        if where is not None:
            condition = exp.And(this=exp.Paren(this=condition), expression=exp.Paren(this=where.this))
        tree.set("where", exp.Where(this=condition))
    return tree


def _column(found: ViewTarget, view: TableInfo, name: str) -> str:
    if name not in found.columns:
        raise SqlError(-217 if view.column(name) is None else _NOT_UPDATABLE, 0, 0, name)
    return found.columns[name]


def _substitute_columns(tree: exp.Expression, found: ViewTarget, alias: str) -> exp.Expression:
    """Replace a view's columns by those of its table or by their expressions. Inside subqueries only qualified names
    are replaced."""
    for column in list(tree.find_all(exp.Column)):
        outside_subquery = column.find_ancestor(exp.Select) is None
        if not (column.table == alias if column.table else outside_subquery):
            continue
        if column.name in found.columns:
            column.set("this", exp.to_identifier(found.columns[column.name], quoted=True))
        elif column.name in found.expressions:
            computed = found.expressions[column.name].copy()
            for part in list(computed.find_all(exp.Column)):
                if alias and part.find_ancestor(exp.Select) is None:
                    part.set("table", exp.to_identifier(alias, quoted=True))
            replacement = exp.Paren(this=computed)
            if column is tree:
                tree = replacement
            column.replace(replacement)
    return tree


def with_checks(table: TableInfo, view: str, conditions: list[str]) -> TableInfo:
    """Return a table's description with the checks of a view WITH CHECK OPTION, for one INSERT."""
    more = tuple(CheckConstraint(view, condition, "", VIEW_CHECK_FAILED) for condition in conditions)
    return replace(table, checks=(*table.checks, *more))
