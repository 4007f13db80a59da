"""All that a session has of its routines (session/routine_protocols.py says what for)."""

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
    """The routines of an engine: makes those of its sessions (engine.parts.RoutineLibrary)."""

    def __init__(self) -> None:
        self._parsed = ParsedRoutineCache()

    def install(self, root: duckdb.DuckDBPyConnection) -> None:
        """Give DuckDB the function that stands for calls in SQL."""
        install(root)

    def for_session(self, parts: SessionServices) -> SplSessionRoutines:
        """The routines of a new session."""
        return SplSessionRoutines(parts, self._parsed)


class SplSessionRoutines:
    """The routines that one session can call, its global variables, and its calls from SQL
    (engine.calling.SessionRoutines)."""

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
        """Whether there is a routine of that name."""
        return self._sql_calls.has_routine(name)

    def resolve_call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """The routine that a call in SQL means."""
        return self._sql_calls.resolve_call(name, types, rows=rows)

    def plan_call(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """EXECUTE or CALL by a client: the statement's type and its plan."""
        return self._client_calls.plan(statement)

    # ---- answers in SQL -----------------------------------------------------------------------
    def run_with_results(
        self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None
    ) -> T:
        """See `engine.calling.RoutineAnswers`."""
        return self._sql_calls.run_with_results(sql, run, ahead)

    def result_scope(self) -> AbstractContextManager[None]:
        """Around one statement: answers are remembered until its end."""
        return self._sql_calls.result_scope()

    def bind_results(self, sql: str) -> str:
        """A write's text with the answers that its calls have now."""
        return self._sql_calls.bind_results(sql)

    # ---- statements ---------------------------------------------------------------------------
    def execute(self, plan: CallPlan, params: Sequence[object]) -> StatementOutcome:
        """Run a call that returns nothing."""
        return self._client_calls.execute(plan, params)

    def query(self, plan: CallPlan, params: Sequence[object]) -> QueryResult:
        """Run a call to its end; the rows that it returned."""
        return self._client_calls.query(plan, params)

    def define_routine(self, statement: Routine | DropRoutine) -> int:
        """CREATE or DROP of a routine, inside a write."""
        return catalog.run(self._session, self._registry, statement)

    def find_routines(
        self, name: str, types: Sequence[ColumnType] | None, *, specific: bool
    ) -> list[tuple[int, str]]:
        """Number and owner of the database's routines of a name."""
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
        """Run the actions of a trigger's section, inside a write; the columns that were given other values."""
        return self._trigger_actions.run_actions(info, trigger, section, old, new)

    # ---- by a handle --------------------------------------------------------------------------
    def require_routine(self, wanted: RoutineReference) -> None:
        """-674 when there is no such routine, and for a bare name that several have."""
        find_routine(self._registry, wanted)

    def call_named(self, wanted: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row."""
        return call_routine(self._session, find_routine(self._registry, wanted), self._caller, arguments)
