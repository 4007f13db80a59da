"""Protocols of a session as its routines use it, and of the library that creates a session's routines."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Protocol

import duckdb

from ..plan.plans import Plan
from .capture_routines import CaptureRoutines
from .current_database import CurrentDatabase
from .duck_executor import DuckExecutor
from .environment import SessionEnvironment
from .isolation import Isolation
from .lock_owner import LockOwner
from .numbers import ObjectNumbers
from .prepared_plan import StatementOutcome
from .routine_protocols import PythonRoutine, SessionRoutines
from .schema_version import SessionSchema
from .session_privileges import SessionPrivileges
from .session_tables import SessionTables
from .session_values import SessionValues
from .sql_reader import SqlReader
from .statement_planner import StatementPlanner
from .transaction import SessionTransaction
from .update_cursor import PositionedCursor
from .user_types import UserTypes


class SessionServices(Protocol):
    """A session as its routines use it: its parts, and a method to run a statement."""

    environment: SessionEnvironment
    values: SessionValues
    current_database: CurrentDatabase
    schema: SessionSchema
    tables: SessionTables
    types: UserTypes
    sql_reader: SqlReader
    planner: StatementPlanner
    executor: DuckExecutor
    transaction: SessionTransaction
    lock_owner: LockOwner
    isolation: Isolation
    numbers: ObjectNumbers
    cursors: MutableMapping[str, PositionedCursor]
    privileges: SessionPrivileges
    python_routines: Mapping[str, Sequence[PythonRoutine]]
    capture_routines: CaptureRoutines

    def run_plan(self, plan: Plan, params: Sequence[object]) -> StatementOutcome:
        """Run a plan without rows as it is."""


class RoutineLibrary(Protocol):
    """Creates the routines of sessions. An engine has one and gets it through its constructor."""

    def install(self, root: duckdb.DuckDBPyConnection) -> None:
        """Register the functions that routines need in DuckDB."""

    def for_session(self, parts: SessionServices) -> SessionRoutines:
        """Return the routines of a new session. Its parts are created later."""
