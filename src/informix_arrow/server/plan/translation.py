"""The state of the translation of one statement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from sqlglot import exp

from ..catalog.catalog import ColumnInfo, TableInfo
from ..errors import SqlError, not_supported
from ..types.quoting import quote_string
from .assignments import single_assignments
from .context import TranslationContext
from .plans import BindRequirements, TruncationCause
from .queries import QueryTranslator
from .scope import FromSource, Scope, TypedExpression, table_outputs
from .views import rewrite_through_views, trigger_event

Describe = Callable[[str, BindRequirements], list[str]]
"""Returns DuckDB's types of a query's columns."""


class StatementTranslator:
    """The parts of a translation that SELECT, INSERT, UPDATE, DELETE and MERGE share.

    Attributes
    ----------
    ctx
        Inputs and results of the statement's translation.
    queries
        Translates its queries.
    changed_view, view_checks
        The view through which rows are changed, "" for none, and its WITH CHECK OPTION conditions.
    truncation_causes
        How new values of columns may be truncated.
    """

    def __init__(self, ctx: TranslationContext, describe: Describe) -> None:
        self.ctx = ctx
        self.describe = describe
        self.queries = QueryTranslator(ctx)
        self.changed_view = ""
        self.view_checks: list[exp.Expression] = []
        self.truncation_causes: list[TruncationCause] = []

    def rewrite_view_change(self, tree: exp.Expression) -> exp.Expression:
        """Rewrite a change of a view as a change of its table."""
        if not isinstance(tree, (exp.Insert, exp.Update, exp.Delete)):
            return tree
        node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if not isinstance(node, exp.Table):
            return tree
        info = self.queries.resolve_table(node, node.catalog or None, node.name)
        if info.kind != "V" or info.fired_by(trigger_event(tree)):
            return tree
        self._require_on_view(tree, node, info)
        self.changed_view = info.name
        tree, self.view_checks = rewrite_through_views(tree, info, self.ctx.schema.view_target)
        return tree

    def changed_table(self, tree: exp.Expression, node: exp.Expression) -> TableInfo:
        """Return the table that an INSERT, UPDATE or DELETE changes, or a view whose INSTEAD OF triggers replace the
        change.

        Raises the errors of `target_table`.
        """
        if isinstance(node, exp.Table):
            info = self.queries.resolve_table(node, node.catalog or None, node.name)
            if info.kind == "V" and info.fired_by(trigger_event(tree)):
                if self.view_checks:
                    raise not_supported("WITH CHECK OPTION over a view with INSTEAD OF triggers")
                return info
        return self.target_table(node)

    def _require_on_view(self, tree: exp.Expression, node: exp.Table, info: TableInfo) -> None:
        """Check the privileges for a change of a view's rows. Those on its table are checked for the view's owner."""
        if self.ctx.privileges is None:
            return
        assigned = (
            [left for left, _ in single_assignments(tree.expressions)] if isinstance(tree, exp.Update) else []
        )
        letter = {exp.Insert: "i", exp.Update: "u"}.get(type(tree), "d")
        self.ctx.privileges.require(info, letter, {left.name for left in assigned})
        read = {
            column.name
            for column in tree.find_all(exp.Column)
            if not any(column is left for left in assigned)
            and (column.table == (node.alias or node.name) or column.find_ancestor(exp.Select) is None)
            and info.column(column.name) is not None
        }
        if read and letter != "i":
            self.ctx.privileges.require(info, "s", read)

    def require_privilege(self, info: TableInfo, letter: str, columns: Collection[str] = ()) -> None:
        """Raise -273 or a similar error for a change that the user may not make. For a view the check is already
        done."""
        if self.ctx.privileges is not None and not self.changed_view:
            self.ctx.privileges.require(info, letter, columns)

    def view_check_conditions(
        self, info: TableInfo, assigned: dict[str, exp.Expression], alias: str
    ) -> list[str]:
        """Return the conditions under which rows stay in the changed view.

        They use the new values of the assigned columns and the current values of the others. `alias` is the table in
        the statement.
        """
        conditions = []
        for check in self.view_checks:
            changed = check.transform(
                lambda node: (
                    exp.Paren(this=assigned[node.name].copy())
                    if isinstance(node, exp.Column) and node.name in assigned
                    else node
                )
            )
            scope = self.scope(info, alias)
            conditions.append(self.queries.expressions.condition(changed, scope))
        return conditions

    def target_table(self, node: exp.Expression) -> TableInfo:
        """Return the table whose rows a statement changes. Raises -206 if there is none, -274 for a system view."""
        if not isinstance(node, exp.Table):
            raise SqlError(-201, 0, 1)
        info = self.queries.resolve_table(node, node.catalog or None, node.name)
        if info.kind != "T":
            raise not_supported(f"changing rows of the view {info.name}", -274 if info.kind == "S" else -201)
        self.ctx.tables.pop(info.duck_name, None)  # tables resolved from here on are read
        return info

    def scope(self, info: TableInfo, alias: str) -> Scope:
        """Return the scope of a change of the table's rows."""
        source = FromSource(alias or info.name, table_outputs(info), info)
        if not self.changed_view:
            self.ctx.require_read_later(info, source, always=False)
        return Scope([source])

    def where(self, tree: exp.Expression, scope: Scope) -> str:
        """Return the WHERE clause with a leading blank, "" if there is none."""
        where = tree.args.get("where")
        if where is None:
            return ""
        return " WHERE " + self.queries.expressions.filter(where.this, scope)

    def assigned_value(self, node: exp.Expression, scope: Scope, column: ColumnInfo) -> str:
        """Translate an expression as a new value of a column."""
        with self.collecting_truncations(column):
            ex: TypedExpression = self.queries.expressions.expr(node, scope)
            return self.queries.expressions.values.assign(ex, column.type)

    @contextmanager
    def collecting_truncations(self, column: ColumnInfo) -> Iterator[None]:
        """Record in `truncation_causes` how the column's value, which is translated inside the block, may be
        truncated."""
        ctx = self.ctx
        literal, ctx.literal_truncated = ctx.literal_truncated, False
        params, conditions = set(ctx.assigned_params), len(ctx.truncation_conditions)
        yield
        new = frozenset(ctx.assigned_params - params)
        self.truncation_causes.append(
            TruncationCause(
                column.name, ctx.literal_truncated, new, tuple(ctx.truncation_conditions[conditions:])
            )
        )
        ctx.literal_truncated = ctx.literal_truncated or literal

    def truncated_column_sql(self) -> str:
        """Return SQL of the name of the column whose text a row truncates, NULL for none. The SQL is "" if no text can
        be."""
        cases = [
            (quote_string(cut.column), f"({' OR '.join(cut.conditions)})")
            for cut in self.truncation_causes
            if cut.conditions
        ]
        return f"CASE {' '.join(f'WHEN {sql} THEN {name}' for name, sql in cases)} END" if cases else ""
