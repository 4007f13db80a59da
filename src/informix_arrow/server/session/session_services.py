"""What a session is made of, as far as its routines work on it; and who makes a session's routines."""

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
    """A session as its routines have it: its parts, and a way to run a statement."""

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
        """Run a plan without rows as it stands."""


class RoutineLibrary(Protocol):
    """Makes the routines of sessions. An engine has one; where engines are made, it is handed in."""

    def install(self, root: duckdb.DuckDBPyConnection) -> None:
        """Give DuckDB the functions that routines need."""

    def for_session(self, parts: SessionServices) -> SessionRoutines:
        """The routines of a new session, whose parts are made after that."""
