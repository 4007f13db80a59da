"""The routines of a session, as session/routine_protocols.py requires them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import duckdb

from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..catalog.trigger_tables import TriggerInfo
from ..parse.spl.nodes import DropRoutine, ExecuteRoutine, Routine
from ..plan.context import RoutineCall
from ..plan.plans import CallPlan, SelectPlan
from ..session.prepared_plan import QueryResult, StatementOutcome
from ..session.routine_protocols import RoutineCallResult, RoutineReference
from ..session.session_services import SessionServices
from . import catalog
from .calls import ClientRoutineCalls
from .conversions import ResultConversions
from .fast_path import call_routine, find_routine
from .frames import GlobalVariables
from .interpreter import RoutineCaller
from .registry import ParsedRoutineCache, RoutineRegistry
from .sql_calls import SqlRoutineCalls, install
from .trigger_actions import TriggerActionRunner

T = TypeVar("T")


class SplLibrary:
    """The routines of a server, which creates those of its sessions (session_services.RoutineLibrary)."""

    def __init__(self) -> None:
        self._parsed = ParsedRoutineCache()

    def install(self, root: duckdb.DuckDBPyConnection) -> None:
        """Register the function that calls in SQL use with DuckDB."""
        install(root)

    def for_session(self, parts: SessionServices) -> SplSessionRoutines:
        """Return the routines of a new session."""
        return SplSessionRoutines(parts, self._parsed)


class SplSessionRoutines:
    """The routines that one session can call, its global variables, and its calls from SQL
    (routine_protocols.SessionRoutines)."""

    def __init__(self, parts: SessionServices, parsed: ParsedRoutineCache) -> None:
        self._session = parts
        self._registry = RoutineRegistry(parts, parsed)
        self._caller = RoutineCaller(
            parts, self._registry, ResultConversions(parts, self._registry), GlobalVariables()
        )
        self._sql_calls = SqlRoutineCalls(parts, self._registry, self._caller)
        self._client_calls = ClientRoutineCalls(parts, self._registry, self._caller)
        self._trigger_actions = TriggerActionRunner(parts, self._caller)

    # ---- planning -----------------------------------------------------------------------------
    def has_routine(self, name: str) -> bool:
        """Return whether there is a routine of that name."""
        return self._sql_calls.has_routine(name)

    def resolve_call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """Return the routine that a call in SQL resolves to."""
        return self._sql_calls.resolve_call(name, types, rows=rows)

    def plan_call(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """Return statement type and plan of an EXECUTE or CALL by a client."""
        return self._client_calls.plan(statement)

    # ---- results in SQL -----------------------------------------------------------------------
    def run_with_results(
        self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None
    ) -> T:
        """Implements `routine_protocols.RoutineResultProvider`."""
        return self._sql_calls.run_with_results(sql, run, ahead)

    def result_scope(self) -> AbstractContextManager[None]:
        """Enclose one statement. Results of calls are cached until its end."""
        return self._sql_calls.result_scope()

    def bind_results(self, sql: str) -> str:
        """Return a write's SQL bound to the current results of its calls."""
        return self._sql_calls.bind_results(sql)

    # ---- statements ---------------------------------------------------------------------------
    def execute(self, plan: CallPlan, params: Sequence[object]) -> StatementOutcome:
        """Execute a call that returns nothing."""
        return self._client_calls.execute(plan, params)

    def query(self, plan: CallPlan, params: Sequence[object]) -> QueryResult:
        """Execute a call to its end and return its rows."""
        return self._client_calls.query(plan, params)

    def define_routine(self, statement: Routine | DropRoutine) -> int:
        """Execute CREATE or DROP of a routine inside a write."""
        return catalog.run(self._session, self._registry, statement)

    def find_routines(
        self, name: str, types: Sequence[ColumnType] | None, *, specific: bool
    ) -> list[tuple[int, str]]:
        """Return number and owner of the database's routines with a name."""
        return catalog.find_routines(self._session, self._registry, name, types, specific=specific)

    # ---- triggers -----------------------------------------------------------------------------
    def run_actions(
        self,
        info: TableInfo,
        trigger: TriggerInfo,
        section: str,
        old: Mapping[str, object],
        new: Mapping[str, object],
    ) -> dict[str, object]:
        """Execute the actions of a trigger's section inside a write. Return the columns that were assigned new
        values."""
        return self._trigger_actions.run_actions(info, trigger, section, old, new)

    # ---- fast path ----------------------------------------------------------------------------
    def require_routine(self, reference: RoutineReference) -> None:
        """Raise -674 if there is no such routine, or if a bare name has several."""
        find_routine(self._registry, reference)

    def call_named(self, reference: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row."""
        return call_routine(self._session, find_routine(self._registry, reference), self._caller, arguments)
