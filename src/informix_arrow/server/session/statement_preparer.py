"""Preparation of a session's statements, with caches of its own and of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..plan.plans import CallPlan, InsertPlan, ModifyPlan, SelectPlan, UtilityPlan
from ..types.row_values import RowConverter
from .current_database import CurrentDatabase
from .environment import SessionEnvironment
from .plan_cache import MAX_TEXT, PlanCache, SharedPlans
from .prepared_plan import PreparedPlan
from .schema_version import SessionSchema
from .session_privileges import SessionPrivileges
from .statement_planner import StatementPlanner
from .transaction import SessionTransaction


@dataclass(eq=False, repr=False)
class StatementPreparer:
    """Prepares statements and caches those of one session as long as they are valid."""

    _environment: SessionEnvironment
    _database: CurrentDatabase
    _schema: SessionSchema
    _transaction: SessionTransaction
    _privileges: SessionPrivileges
    _planner: StatementPlanner
    _shared_plans: SharedPlans
    # Plans for this session: its own, and shared ones.
    _session_plans: PlanCache = field(default_factory=PlanCache, init=False)
    # The statement that was prepared last, and the state that it is valid for.
    _last_prepared: tuple[PreparedPlan | None, object] = field(default=(None, None), init=False)

    def prepare(self, sql: str) -> PreparedPlan:
        """Parse, plan and describe a statement. Errors of names, syntax and types are raised here."""
        state = self._schema_state()
        prepared = self._prepare(sql)
        self._last_prepared = prepared, state
        return prepared

    def is_last_prepared(self, prepared: PreparedPlan) -> bool:
        """Return whether a statement was prepared last and nothing that it depends on has changed since."""
        latest, state = self._last_prepared
        return prepared is latest and state == self._schema_state()

    def refresh_schema(self) -> None:
        """Notice the schema changes of other sessions."""
        if self._database.name is not None:
            self._transaction.refresh_schema()
            self._schema.refresh()

    def _schema_state(self) -> tuple[int, int]:
        """The state that the session's plans are valid for."""
        self.refresh_schema()
        return self._schema.stamp, self._database.databases.version

    def _prepare(self, sql: str) -> PreparedPlan:
        cached = self._session_plans.get((self._database.name, sql), self._schema.stamp)
        if cached is not None:
            return cached
        fixed, databases = self._plan_key(sql), self._database.databases.version
        prepared = self._shared_plans.catalog_plans.get(fixed, databases)
        if prepared is not None and self._schema.temp_tables.keys().isdisjoint(
            t.name for t in prepared.plan.tables
        ):
            return prepared
        shared = fixed if self._can_share_plans(sql) else None
        version = self._shared_plans.version.number
        prepared = self._shared_plans.by_text.get(shared, version) if shared else None
        if prepared is None:
            prepared = plan_statement(sql, self._planner)
            # After a concurrent schema change it is unknown which state was read.
            if shared and not prepared.session_only and version == self._shared_plans.version.number:
                self._shared_plans.by_text.put(shared, version, prepared)
        if len(sql) <= MAX_TEXT:
            if isinstance(prepared.plan, SelectPlan) and prepared.plan.catalog_only:
                self._shared_plans.catalog_plans.put(fixed, databases, prepared)
            if not isinstance(prepared.plan, UtilityPlan):
                self._session_plans.put((self._database.name, sql), self._schema.stamp, prepared)
        return prepared

    def _can_share_plans(self, sql: str) -> bool:
        """Return whether the plan of a text may be shared with other sessions.

        The session must see the same schema as they do, and a current one.
        """
        return not self._schema.temp_tables and self._transaction.is_clean and len(sql) <= MAX_TEXT

    def _plan_key(self, text: str) -> tuple[object, ...]:
        """Return the key of a text's plan: the text and the settings that the plan depends on."""
        environment = self._environment
        return (
            self._database.name,
            environment.user,
            self._privileges.role,
            environment.dbdate,
            environment.delimident,
            environment.codec,
            text,
        )


def plan_statement(sql: str, planner: StatementPlanner) -> PreparedPlan:
    """Parse and plan a statement and find its columns and parameters, by its text alone."""
    kind, plan, session_only = planner.plan_typed(sql)
    columns: tuple[Column, ...] = ()
    parameters: tuple[ColumnType, ...] = ()
    if not isinstance(plan, UtilityPlan):
        parameters = tuple(t for t in plan.needs.params if t is not None)
    if isinstance(plan, SelectPlan):
        columns = () if plan.into else plan.columns
    elif isinstance(plan, CallPlan):
        columns = plan.columns
    elif isinstance(plan, InsertPlan):
        targets = ((name, plan.info.column(name)) for name in plan.targets)
        columns = tuple(Column(name, column.type) for name, column in targets if column is not None)
    elif isinstance(plan, ModifyPlan):
        columns = plan.columns
    returns_rows = (isinstance(plan, SelectPlan) and plan.into is None) or (
        isinstance(plan, CallPlan) and bool(columns)
    )
    for_update = isinstance(plan, SelectPlan) and plan.for_update
    values = None
    if (
        isinstance(plan, SelectPlan)
        and not (plan.into or plan.client_sql or any(plan.row_calls))
        and (plan.at_most_one_row or plan.catalog_only)
    ):
        values = RowConverter.for_columns(columns, plan.packed_decimals)
    return PreparedPlan(
        sql, int(kind), columns, parameters, returns_rows, for_update, plan, session_only, values
    )
