"""The SQL engine: databases in DuckDB and the sessions that run Informix SQL on them. It knows no sockets and no bytes.

    engine = Engine(None, "informix", "IBM Informix Dynamic Server Version 14.10.FC7W1", SplLibrary())
    session = open_session(engine, "informix", {})
    session.open_database("stores_demo")
    outcome = session.execute(session.prepare("INSERT INTO t VALUES (?, ?)"), (1, "a"))
    result = session.query(session.prepare("SELECT * FROM t"), ())

Text is Python `str`. The protocol session encodes and decodes it with the code set of the connection. Every failure is
a `SqlError`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

import duckdb

from ..catalog import system_catalog
from ..catalog.databases import Databases
from ..cdc_log.log import ChangeLog
from ..errors import SqlError
from ..parse.database_names import parse_database_name
from ..types import sql_functions
from .captures import CaptureSessions
from .database_recovery import DatabaseRecovery
from .duck_instance import DuckInstance, ResourceLimits
from .locks import LockMode, LockRequest, Locks
from .numbers import ObjectNumbers
from .plan_cache import SharedPlans
from .routine_protocols import PythonRoutine
from .row_changes import recover
from .schema_version import SchemaVersion
from .serials import SerialCounters
from .session_services import RoutineLibrary
from .sessions import RegisteredSession, SessionRegistry

S = TypeVar("S", bound=RegisteredSession)


class Engine:
    """One DuckDB instance with all databases attached, and the state that its sessions share.

    It is thread-safe. Every session has a DuckDB connection of its own.

    Parameters
    ----------
    directory
        Folder of the databases; None keeps them in memory.
    server_name, version
        Name and version that the server reports.
    routines
        Runs routines for the sessions.
    limits
        Memory and threads that statements may use.
    administrators
        Users who are DBAs in every database.
    """

    def __init__(
        self,
        directory: Path | None,
        server_name: str,
        version: str,
        routines: RoutineLibrary,
        limits: ResourceLimits = ResourceLimits(),  # noqa: B008 (it is frozen)
        administrators: Collection[str] = ("informix",),
    ) -> None:
        self.server_name = server_name
        self.version = version
        self.routines = routines
        self.administrators = frozenset(administrators)
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        self._instance = DuckInstance(directory, limits)
        self.temporary = self._instance.temporary
        root = self._instance.root
        self.sessions = SessionRegistry()
        self.change_log = ChangeLog(None if directory is None else directory / "changes", self.temporary)
        sql_functions.install(root)
        routines.install(root)
        self.capture_sessions = CaptureSessions(self.change_log, self.set_full_logging)
        system_catalog.install_functions(
            root,
            self.sessions.session_rows,
            lambda: self.sessions.lock_rows(self.locks.held_locks()),
            server_name,
            directory,
            self.change_log.files,
            self.capture_sessions.session_rows,
            self.capture_sessions.table_rows,
            self.change_log.fully_logged_tables,
            lambda: self.databases.names(),
        )
        self._lock = threading.Lock()
        self._session_ids = itertools.count(21)
        self.schema_version = SchemaVersion()
        self.shared_plans = SharedPlans(self.schema_version)
        self.serials = SerialCounters()
        self.locks = Locks()
        self.numbers = ObjectNumbers(root)
        # Python callables, by the names of routines.
        self.python_routines: dict[str, tuple[PythonRoutine, ...]] = {}
        try:
            self.databases = Databases(root, directory)
            if self.change_log.durable:
                recover(self.change_log, self.databases, root)
        except BaseException:
            self.change_log.close()
            self._instance.close()  # otherwise the files stay open: DuckDB's functions refer to all of this
            raise
        self.recovery = DatabaseRecovery(self.databases, self.sessions.all)

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a new DuckDB connection for a session."""
        with self._lock:
            return self._instance.connect()

    # ---- sessions -----------------------------------------------------------------------------
    def new_session_id(self) -> int:
        return next(self._session_ids)

    def add_session(self, session: S) -> S:
        """Register a session until it is closed."""
        self.sessions.add(session)
        return session

    # ---- routines -----------------------------------------------------------------------------
    def register(self, routine: PythonRoutine) -> None:
        """Make a Python callable a routine of every database.

        A second routine of the same name with other parameter types is an overload. One with the same parameter types
        replaces the first.
        """
        with self._lock:
            overloads = self.python_routines.get(routine.name, ())
            other_overloads = tuple(r for r in overloads if r.parameters != routine.parameters)
            self.python_routines[routine.name] = (*other_overloads, routine)
        self.schema_version.increment()

    # ---- changes ------------------------------------------------------------------------------
    def set_full_logging(self, database: str, tabid: int, on: bool) -> None:
        """Start or stop logging all changes of a table's rows. Statements that are running are not affected."""
        self.change_log.set_fully_logged(database, tabid, on)
        self.schema_version.increment()

    # ---- databases ----------------------------------------------------------------------------
    def create_database(self, name: str, options: tuple[str, ...], locale: str, creator: str = "") -> None:
        """Create a database; `creator` becomes its DBA, and with "" every user is one.

        `options` are those of CREATE DATABASE. Raises -330 if the name is taken and -354 if it is not a valid database
        name.
        """
        self.databases.create(
            name,
            logged="log" in options or "buffered" in options,
            buffered="buffered" in options,
            ansi="ansi" in options,
            locale=locale,
            creator=creator,
        )

    def drop_database(self, name: str) -> None:
        """Drop a database: -329 if unknown, -389 for sysmaster, -425 while a session has it open."""
        name = self.databases.require_user_database(parse_database_name(name)).name
        if self.sessions.using_database(name):
            raise SqlError(-425, 0, 0, name)
        self.databases.drop(name)
        self.change_log.forget(name)
        self.serials.forget(name)
        self.numbers.forget(name)
        self.schema_version.increment()

    def rename_database(self, name: str, new: str) -> None:
        """Rename a database: -329 if unknown, -389 for sysmaster, -330 if the new name is taken, -354 if it is not a
        valid name, -425 while a session has the database open or changes its rows.
        """
        name, new = parse_database_name(name), parse_database_name(new)
        self.databases.require_user_database(name)
        # Every writer takes a lock first. Holding all of them ensures that no concurrent write is lost.
        owner = object()
        claim = LockRequest(owner, 0.0, lambda: False, -425)
        try:
            for table in self.databases.tables(name):
                self.locks.lock_table(claim, (name, table), LockMode.EXCLUSIVE)
            if self.sessions.using_database(name):
                raise SqlError(-425, 0, 0, name)
            self.databases.rename(name, new)
        finally:
            self.locks.release(owner, committed=False)
        self.change_log.rename(name, new)
        self.serials.rename(name, new)
        self.numbers.rename(name, new)
        self.schema_version.increment()

    def close(self) -> None:
        """Close all sessions and the DuckDB instance."""
        try:
            for session in self.sessions.all():
                session.close()
        finally:
            self.change_log.close()
            try:
                self.databases.close()
            finally:
                self._instance.close()
