"""Planning of a statement from its syntax tree."""

from __future__ import annotations

from sqlglot import exp

from ...wire.describe import StatementType
from . import sequences
from .context import TranslationContext
from .insert_plan import insert
from .merge_plan import merge
from .modify_plan import cursor, delete, update
from .plans import InsertPlan, ModifyPlan, SelectPlan
from .select_plan import select
from .translation import Describe, StatementTranslator


class Planner:
    """Plans one statement."""

    def __init__(self, ctx: TranslationContext, describe: Describe) -> None:
        self._work = StatementTranslator(ctx, describe)

    def plan(self, tree: exp.Expression) -> tuple[int, SelectPlan | InsertPlan | ModifyPlan]:
        """Return statement type and plan. Raises -272 to -275 for missing privileges."""
        found = self._plan(tree)
        self._work.ctx.require_read()
        return found

    def _plan(self, tree: exp.Expression) -> tuple[int, SelectPlan | InsertPlan | ModifyPlan]:
        count = sum(1 for _ in tree.find_all(exp.Placeholder))
        self._work.ctx.params = [None] * count
        tree = self._work.rewrite_view_change(tree)
        sequences.collect_references(self._work.ctx, tree)
        if isinstance(tree, exp.Insert):
            return StatementType.INSERT, insert(self._work, tree)
        if isinstance(tree, exp.Update):
            kind = StatementType.UPDATE if tree.args.get("where") else StatementType.UPDATE_ALL
            return StatementType.UPDATE_CURRENT if cursor(tree) else kind, update(self._work, tree)
        if isinstance(tree, exp.Delete):
            kind = StatementType.DELETE if tree.args.get("where") else StatementType.DELETE_ALL
            return StatementType.DELETE_CURRENT if cursor(tree) else kind, delete(self._work, tree)
        if isinstance(tree, exp.Merge):
            return StatementType.UPDATE, merge(self._work, tree)
        plan = select(self._work, tree)
        return (StatementType.SELECT_INTO_TEMP if plan.into else StatementType.SELECT), plan

    def select(self, tree: exp.Expression) -> SelectPlan:
        """Return the plan of a query whose parameters are already numbered."""
        plan = select(self._work, tree)
        self._work.ctx.require_read()
        return plan
