"""The routines of a session, as session/routine_protocols.py requires them."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from ...wire.types import ColumnType
from ..parse.spl.nodes import DropRoutine, Routine
from ..session.routine_protocols import (
    ClientCalls,
    RoutineCallResult,
    RoutineReference,
    RoutinesInSql,
    TriggerActions,
)
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
        self.in_sql: RoutinesInSql = SqlRoutineCalls(parts, self._registry, self._caller)
        self.client_calls: ClientCalls = ClientRoutineCalls(parts, self._registry, self._caller)
        self.trigger_actions: TriggerActions = TriggerActionRunner(parts, self._caller)

    # ---- definitions --------------------------------------------------------------------------
    def define_routine(self, statement: Routine | DropRoutine) -> int:
        """Execute CREATE or DROP of a routine inside a write."""
        return catalog.run(self._session, self._registry, statement)

    def find_routines(
        self, name: str, types: Sequence[ColumnType] | None, *, specific: bool
    ) -> list[tuple[int, str]]:
        """Return number and owner of the database's routines with a name."""
        return catalog.find_routines(self._session, self._registry, name, types, specific=specific)

    # ---- fast path ----------------------------------------------------------------------------
    def require_routine(self, reference: RoutineReference) -> None:
        """Raise -674 if there is no such routine, or if a bare name has several."""
        find_routine(self._registry, reference)

    def call_named(self, reference: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row."""
        return call_routine(self._session, find_routine(self._registry, reference), self._caller, arguments)
