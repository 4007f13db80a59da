"""The SQL engine: databases in DuckDB, sessions that speak Informix SQL to it. No sockets and no bytes here.

    engine = Engine(None, "informix", "IBM Informix Dynamic Server Version 14.10.FC7W1")
    session = engine.session("informix", {})
    session.open_database("stores_demo")
    outcome = session.execute(session.prepare("INSERT INTO t VALUES (?, ?)"), (1, "a"))
    result = session.query(session.prepare("SELECT * FROM t"), ())

Text is Python `str`; the code set of a connection is the conversation's business. All failures are
`SqlError`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from . import sql_functions, system_catalog
from .catalog import Writer, max_tabid, max_type_id
from .databases import Databases
from .engine_session import EngineSession
from .errors import SqlError
from .lobs import max_number
from .locks import Locks
from .plan_cache import PlanCache
from .serials import Serials
from .spl import catalog as spl_catalog
from .spl.registry import Parsed, Registered
from .spl.sql_calls import install as install_calls

S = TypeVar("S", bound="EngineSession")


class Engine:
    """One DuckDB instance with all databases attached. Thread-safe; every session has its own connection."""

    def __init__(self, directory: Path | None, server_name: str, version: str) -> None:
        self.server_name = server_name
        self.version = version
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        self._root = duckdb.connect(":memory:")
        # A vacuum gives rows new ids, which locks and journals know.
        self._root.execute("SET max_vacuum_tasks = 0")
        sql_functions.install(self._root)
        install_calls(self._root)
        system_catalog.install_functions(self._root, self._session_rows)
        self._lock = threading.Lock()
        self._numbers: dict[tuple[str, str], int] = {}
        self._session_ids = itertools.count(21)
        self._sessions: set[EngineSession] = set()
        self.schema_version = 0
        self.plans = PlanCache()  # for all sessions
        self.serials = Serials()
        self.locks = Locks()
        self.registered: dict[str, tuple[Registered, ...]] = {}
        self.parsed_routines = Parsed()
        try:
            self.databases = Databases(self._root, directory)
        except BaseException:
            self._root.close()  # else the files stay open: the functions that DuckDB was given hold all of this
            raise

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for a session."""
        with self._lock:
            return self._root.cursor()

    def session(self, user: str, environment: dict[str, str]) -> EngineSession:
        """Begin a session; `environment` is that of the login (DBDATE, DB_LOCALE, DELIMIDENT)."""
        return self.adopt(EngineSession(self, user, environment, self.new_session_id()))

    def new_session_id(self) -> int:
        return next(self._session_ids)

    def adopt(self, session: S) -> S:
        """Know a session that was made elsewhere, until it is closed."""
        with self._lock:
            self._sessions.add(session)
        return session

    def forget(self, session: EngineSession) -> None:
        with self._lock:
            self._sessions.discard(session)

    def _session_rows(self) -> list[dict[str, Any]]:
        """The rows of sysmaster's syssessions. Called from within DuckDB: no lock is taken."""
        return [
            {
                "sid": session.session_id,
                "username": session.user,
                "pid": 0,
                "hostname": "localhost",
                "connected": int(session.since),
                "feprogram": "",
            }
            for session in list(self._sessions)
        ]

    def users_of(self, database: str) -> list[EngineSession]:
        with self._lock:
            return [s for s in self._sessions if s.database == database]

    def bump_schema(self) -> None:
        """A change of some schema was committed: cached descriptions and plans no longer hold."""
        with self._lock:
            self.schema_version += 1

    def _next_number(self, what: str, database: str, last: Callable[[Writer, str], int]) -> int:
        """A number that nothing of its kind ever had in the database while this engine runs."""
        with self._lock:
            key = (what, database)
            if key not in self._numbers:
                self._numbers[key] = last(self._root.cursor(), database)
            self._numbers[key] += 1
            return self._numbers[key]

    def new_tabid(self, database: str) -> int:
        """The number of a new table."""
        return self._next_number("table", database, max_tabid)

    def new_lob(self, database: str) -> int:
        """The number of a new large object."""
        return self._next_number("lob", database, max_number)

    def new_type_id(self, database: str) -> int:
        """The number of a new extended type."""
        return self._next_number("type", database, max_type_id)

    def register(self, routine: Registered) -> None:
        """Make a Python callable a routine of every database. A second one of a name is another by the types of its
        arguments, or takes the place of the one that has the same."""
        with self._lock:
            others = self.registered.get(routine.name, ())
            kept = tuple(r for r in others if r.parameters != routine.parameters)
            self.registered[routine.name] = (*kept, routine)
        self.bump_schema()

    def new_procid(self, database: str) -> int:
        """The number of a new routine."""
        return self._next_number("procedure", database, spl_catalog.max_procid)

    def create_database(self, name: str, options: tuple[str, ...], locale: str) -> None:
        self.databases.create(
            name,
            logged="log" in options or "buffered" in options,
            buffered="buffered" in options,
            ansi="ansi" in options,
            locale=locale,
        )

    def drop_database(self, name: str) -> None:
        self.databases.get(name)
        if self.users_of(name):
            raise SqlError(-425, 0, 0, name)
        self.databases.drop(name)
        self.serials.forget(name)
        with self._lock:
            self._numbers = {key: n for key, n in self._numbers.items() if key[1] != name}
            self.schema_version += 1

    def close(self) -> None:
        """End all sessions and the instance."""
        with self._lock:
            sessions = list(self._sessions)
        try:
            for session in sessions:
                session.close()
        finally:
            self.databases.close()
