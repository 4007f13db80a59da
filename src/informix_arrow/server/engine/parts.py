"""What a session is made of, as far as its routines work on it; and who makes a session's routines."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Protocol

import duckdb

from ..planning.plans import Plan
from .calling import Registered, SessionRoutines
from .capture_calls import CaptureCalls
from .current_database import CurrentDatabase
from .environment import Environment
from .isolation import Isolation
from .lock_owner import LockOwner
from .numbers import Numbers
from .positioned import Positioned
from .prepared import Outcome
from .reading import TextReader
from .rights import Rights
from .running import Runner
from .schema_changes import SchemaChanges
from .session_tables import SessionTables
from .session_values import SessionValues
from .statement_planner import StatementPlanner
from .transaction import Transaction
from .user_types import UserTypes


class SessionParts(Protocol):
    """A session as its routines have it: its parts, and a way to run a statement."""

    environment: Environment
    values: SessionValues
    current: CurrentDatabase
    schema: SchemaChanges
    tables: SessionTables
    types: UserTypes
    reader: TextReader
    planner: StatementPlanner
    runner: Runner
    transaction: Transaction
    owner: LockOwner
    isolation: Isolation
    numbers: Numbers
    cursors: MutableMapping[str, Positioned]
    rights: Rights
    registered: Mapping[str, Sequence[Registered]]
    capture: CaptureCalls

    def run(self, plan: Plan, params: Sequence[object]) -> Outcome:
        """Run a plan without rows as it stands."""


class RoutineLibrary(Protocol):
    """Makes the routines of sessions. An engine has one; where engines are made, it is handed in."""

    def install(self, root: duckdb.DuckDBPyConnection) -> None:
        """Give DuckDB the functions that routines need."""

    def for_session(self, parts: SessionParts) -> SessionRoutines:
        """The routines of a new session, whose parts are made after that."""
