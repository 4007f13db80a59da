"""A session's statements read and described, or found again by their text, also in what other sessions have read."""

from __future__ import annotations

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..planning.plans import CallPlan, InsertPlan, ModifyPlan, SelectPlan, StatementPlan
from ..types.row_values import RowValues
from .current_database import CurrentDatabase
from .environment import Environment
from .plan_cache import LONGEST_TEXT, PlanCache, SharedPlans
from .prepared import Prepared
from .rights import Rights
from .schema_changes import SchemaChanges
from .statement_planner import StatementPlanner
from .transaction import Transaction


class Preparing:
    """What one session has read and described, as long as it holds."""

    def __init__(
        self,
        environment: Environment,
        current: CurrentDatabase,
        schema: SchemaChanges,
        transaction: Transaction,
        rights: Rights,
        planner: StatementPlanner,
        shared: SharedPlans,
    ) -> None:
        self._environment = environment
        self._current = current
        self._schema = schema
        self._transaction = transaction
        self._rights = rights
        self._planner = planner
        self._shared = shared
        self._own = PlanCache()  # this session's, its own and shared ones
        self._latest: tuple[Prepared | None, object] = None, None  # what was prepared last, and as of what

    def prepare(self, sql: str) -> Prepared:
        """Read and describe a statement; errors of names, syntax and types come from here."""
        state = self._state()
        prepared = self._read(sql)
        self._latest = prepared, state
        return prepared

    def holds(self, prepared: Prepared) -> bool:
        """Whether a statement is the one that was prepared last, and nothing that it depends on has changed since."""
        latest, state = self._latest
        return prepared is latest and state == self._state()

    def look(self) -> None:
        """Take notice of what other sessions have done to the schema."""
        if self._current.name is not None:
            self._transaction.see_schema()
            self._schema.look()

    def _state(self) -> tuple[int, int]:
        """What plans that the session has hold for, as others leave it just now."""
        self.look()
        return self._schema.stamp, self._current.databases.changes

    def _read(self, sql: str) -> Prepared:
        kept = self._own.get((self._current.name, sql), self._schema.stamp)
        if kept is not None:
            return kept
        fixed, databases = self._text_key(sql), self._current.databases.changes
        prepared = self._shared.fixed.get(fixed, databases)
        if prepared is not None and self._schema.temp_tables.keys().isdisjoint(
            t.name for t in prepared.plan.tables
        ):
            return prepared
        shared = fixed if self._sees_what_others_see(sql) else None
        version = self._shared.version.number
        prepared = self._shared.by_text.get(shared, version) if shared else None
        if prepared is None:
            prepared = described(sql, self._planner)
            # Of a change of the schema in the meantime nobody knows which side of it was seen.
            if shared and not prepared.own and version == self._shared.version.number:
                self._shared.by_text.put(shared, version, prepared)
        if len(sql) <= LONGEST_TEXT:
            if isinstance(prepared.plan, SelectPlan) and prepared.plan.fixed:
                self._shared.fixed.put(fixed, databases, prepared)
            if not isinstance(prepared.plan, StatementPlan):
                self._own.put((self._current.name, sql), self._schema.stamp, prepared)
        return prepared

    def _sees_what_others_see(self, sql: str) -> bool:
        """Whether the plan of a text may be other sessions', too: this one sees the same schema as they do, and no old
        one."""
        return not self._schema.temp_tables and self._transaction.untouched and len(sql) <= LONGEST_TEXT

    def _text_key(self, text: str) -> tuple[object, ...]:
        """What a text's plan depends on besides what it names."""
        environment = self._environment
        return (
            self._current.name,
            environment.user,
            self._rights.role,
            environment.dbdate,
            environment.delimident,
            environment.codec,
            text,
        )


def described(sql: str, planner: StatementPlanner) -> Prepared:
    """A statement by its text alone: parsed, planned, and its columns and parameters found."""
    kind, plan, own = planner.plan_typed(sql)
    columns: tuple[Column, ...] = ()
    parameters: tuple[ColumnType, ...] = ()
    if not isinstance(plan, StatementPlan):
        parameters = tuple(t for t in plan.needs.params if t is not None)
    if isinstance(plan, SelectPlan):
        columns = () if plan.into else plan.columns
    elif isinstance(plan, CallPlan):
        columns = plan.columns
    elif isinstance(plan, InsertPlan):
        columns = _target_columns(plan)
    elif isinstance(plan, ModifyPlan):
        columns = plan.columns
    returns_rows = (isinstance(plan, SelectPlan) and plan.into is None) or (
        isinstance(plan, CallPlan) and bool(columns)
    )
    for_update = isinstance(plan, SelectPlan) and plan.for_update
    values = None
    if (
        isinstance(plan, SelectPlan)
        and not (plan.into or plan.shown or any(plan.calls))
        and (plan.few or plan.fixed)
    ):
        values = RowValues.of(columns, plan.packed)
    return Prepared(sql, int(kind), columns, parameters, returns_rows, for_update, plan, own, values)


def _target_columns(plan: InsertPlan) -> tuple[Column, ...]:
    found = []
    for name in plan.targets:
        column = plan.info.column(name)
        if column is not None:
            found.append(Column(name, column.type))
    return tuple(found)
