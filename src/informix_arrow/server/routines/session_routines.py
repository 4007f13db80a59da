"""All that a session has of its routines (engine/calling.py says what for)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import duckdb

from ...wire.types import ColumnType
from ..engine.calling import RoutineAnswer, UserRoutine
from ..engine.parts import SessionParts
from ..engine.prepared import Outcome, QueryResult
from ..grammar.spl.nodes import DropRoutine, ExecuteRoutine, Routine
from ..planning.context import RoutineCall
from ..planning.plans import CallPlan, SelectPlan
from ..schema.catalog import TableInfo
from ..schema.trigger_tables import TriggerInfo
from . import catalog
from .calls import ClientCalls
from .conversions import Conversions
from .fast_path import call_routine, find_routine
from .frames import Globals
from .interpreter import Caller
from .registry import Parsed, Registry
from .sql_calls import SqlCalls, install
from .trigger_actions import TriggerRunner

T = TypeVar("T")


class Library:
    """The routines of an engine: makes those of its sessions (engine.parts.RoutineLibrary)."""

    def __init__(self) -> None:
        self._parsed = Parsed()

    def install(self, root: duckdb.DuckDBPyConnection) -> None:
        """Give DuckDB the function that stands for calls in SQL."""
        install(root)

    def for_session(self, parts: SessionParts) -> Routines:
        """The routines of a new session."""
        return Routines(parts, self._parsed)


class Routines:
    """The routines that one session can call, its global variables, and its calls from SQL
    (engine.calling.SessionRoutines)."""

    def __init__(self, parts: SessionParts, parsed: Parsed) -> None:
        self._parts = parts
        self._registry = Registry(parts, parsed)
        self._caller = Caller(parts, self._registry, Conversions(parts, self._registry), Globals())
        self._from_sql = SqlCalls(parts, self._registry, self._caller)
        self._from_client = ClientCalls(parts, self._registry, self._caller)
        self._triggers = TriggerRunner(parts, self._caller)

    # ---- planning -----------------------------------------------------------------------------
    def is_known(self, name: str) -> bool:
        """Whether there is a routine of that name."""
        return self._from_sql.is_known(name)

    def call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """The routine that a call in SQL means."""
        return self._from_sql.call(name, types, rows=rows)

    def plan_call(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """EXECUTE or CALL by a client: the statement's type and its plan."""
        return self._from_client.plan(statement)

    # ---- answers in SQL -----------------------------------------------------------------------
    def settled(self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None) -> T:
        """See `engine.calling.RoutineAnswers`."""
        return self._from_sql.settled(sql, run, ahead)

    def remembering(self) -> AbstractContextManager[None]:
        """Around one statement: answers are remembered until its end."""
        return self._from_sql.remembering()

    def answered(self, sql: str) -> str:
        """A write's text with the answers that its calls have now."""
        return self._from_sql.answered(sql)

    # ---- statements ---------------------------------------------------------------------------
    def execute(self, plan: CallPlan, params: Sequence[object]) -> Outcome:
        """Run a call that returns nothing."""
        return self._from_client.execute(plan, params)

    def query(self, plan: CallPlan, params: Sequence[object]) -> QueryResult:
        """Run a call to its end; the rows that it returned."""
        return self._from_client.query(plan, params)

    def define(self, statement: Routine | DropRoutine) -> int:
        """CREATE or DROP of a routine, inside a write."""
        return catalog.run(self._parts, self._registry, statement)

    def known(
        self, name: str, types: Sequence[ColumnType] | None, *, specific: bool
    ) -> list[tuple[int, str]]:
        """Number and owner of the database's routines of a name."""
        return catalog.known(self._parts, self._registry, name, types, specific=specific)

    # ---- triggers -----------------------------------------------------------------------------
    def act(
        self,
        info: TableInfo,
        trigger: TriggerInfo,
        section: str,
        old: Mapping[str, object],
        new: Mapping[str, object],
    ) -> dict[str, object]:
        """Run the actions of a trigger's section, inside a write; the columns that were given other values."""
        return self._triggers.act(info, trigger, section, old, new)

    # ---- by a handle --------------------------------------------------------------------------
    def require(self, wanted: UserRoutine) -> None:
        """-674 when there is no such routine, and for a bare name that several have."""
        find_routine(self._registry, wanted)

    def call_named(self, wanted: UserRoutine, arguments: Sequence[object]) -> RoutineAnswer:
        """Call a routine that returns at most one row."""
        return call_routine(self._parts, find_routine(self._registry, wanted), self._caller, arguments)
