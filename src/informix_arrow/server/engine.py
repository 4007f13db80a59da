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
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import duckdb
import pyarrow as pa

from ..wire.capabilities import locale_code
from ..wire.describe import Column
from ..wire.types import ColumnType
from . import controls, ddl, sql_functions, system_catalog
from .appending import BatchOutcome
from .catalog import Writer, attached, first_row, max_tabid, max_type_id
from .conversions import Stored
from .databases import Databases
from .engine_types import Outcome, Prepared, QueryResult
from .errors import SqlError
from .lob_calls import CallingResult, call
from .lobs import max_number
from .locks import Locks
from .modifying import modify
from .nested_writes import NestedWrites
from .positioned import UpdateRows
from .result_cast import cast_table, result_type
from .row_inserts import (
    insert_batch,
    insert_table,
    insert_values,
    python_rows,
    takes_batches,
)
from .running import RunningSession, values_in
from .serials import Serials
from .spl import calls as spl_calls
from .spl import catalog as spl_catalog
from .spl.nodes import DropRoutine, Routine
from .spl.registry import Parsed, Registered
from .spl.space import Routines
from .spl.sql_calls import install as install_calls
from .sql.classify import Control
from .sql.plans import CallPlan, InsertPlan, ModifyPlan, Plan, SelectPlan, StatementPlan

__all__ = ["Engine", "EngineSession", "Outcome", "Prepared", "QueryResult", "SqlError"]

S = TypeVar("S", bound="EngineSession")

_PLANS_KEPT = 256


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


class EngineSession(NestedWrites, RunningSession):
    """One session. Used by one thread at a time; only `interrupt` may come from another."""

    def __init__(self, engine: Engine, user: str, environment: dict[str, str], session_id: int) -> None:
        super().__init__(engine, user, environment, session_id)
        self.routines = Routines(self)
        self._plans: dict[str, tuple[int, int, Prepared]] = {}
        self.cursors: WeakValueDictionary[str, UpdateRows] = WeakValueDictionary()

    # ---- databases ----------------------------------------------------------------------------
    def open_database(self, name: str) -> int:
        """Open a database and close the one that is open; the warnings of SQ_DBOPEN's answer. -329
        unknown."""
        name = name.strip().lower().partition("@")[0]
        record = self.engine.databases.get(name)
        self.close_database()
        self.con.execute(f"USE {attached(name)}")
        self.database = name
        self.locale = locale_code(record.locale)
        self._converters.clear()
        self._forget_tables()
        return record.warnings

    def close_database(self) -> None:
        """Close the open database, if any; -377 inside a transaction. Temporary tables go with it."""
        if self.in_transaction:
            raise SqlError(-377)
        for info in self.temp_tables.values():
            self.con.execute(f"DROP TABLE IF EXISTS {info.duck}")
        self.temp_tables = {}
        self.kept_locks.clear()
        self.engine.locks.release(self, committed=False)
        self.isolation.forget()
        self.database = None
        self.con.execute("USE memory")
        self._forget_tables()

    def database_names(self) -> list[str]:
        return self.engine.databases.names()

    # ---- prepare --------------------------------------------------------------------------------
    def prepare(self, sql: str, nparams: int = 0) -> Prepared:
        """Read and describe a statement; it is not executed. Errors of names, syntax and types come from
        here."""
        self.start_statement()
        if self.database is not None:
            self._check_version()
        kept = self._plans.get(sql)
        if kept is not None and kept[0] == self.stamp:
            return kept[2]
        kind, plan = self.plan_typed(sql)
        columns: tuple[Column, ...] = ()
        parameters: tuple[ColumnType, ...] = ()
        if not isinstance(plan, StatementPlan):
            parameters = tuple(t for t in plan.needs.params if t is not None)
        if isinstance(plan, SelectPlan):
            columns = () if plan.into else plan.columns
        elif isinstance(plan, CallPlan):
            columns = plan.columns
        elif isinstance(plan, InsertPlan):
            columns = _insert_columns(plan)
        elif isinstance(plan, ModifyPlan):
            columns = plan.columns
        returns_rows = (isinstance(plan, SelectPlan) and plan.into is None) or (
            isinstance(plan, CallPlan) and bool(columns)
        )
        for_update = isinstance(plan, SelectPlan) and plan.for_update
        prepared = Prepared(sql, int(kind), columns, parameters, returns_rows, for_update, plan)
        if not isinstance(plan, StatementPlan):
            if len(self._plans) >= _PLANS_KEPT:
                self._plans.pop(next(iter(self._plans)))
            self._plans[sql] = (self.stamp, len(parameters), prepared)
        return prepared

    def _current(self, prepared: Prepared, params: Sequence[object]) -> Prepared:
        """The statement as it must be run now: planned again when the schema has changed since."""
        if len(params) != len(prepared.parameters):
            raise SqlError(-254)
        if isinstance(prepared.plan, StatementPlan):
            self.start_statement()
            if not isinstance(prepared.plan.statement, Control):
                self.begin_implicitly()
            return prepared
        self.begin_implicitly()
        current = self.prepare(prepared.sql, len(prepared.parameters))
        # Rows would not be what the client was told.
        if prepared.returns_rows and current.columns != prepared.columns:
            raise SqlError(-710)
        return current

    # ---- run ------------------------------------------------------------------------------------
    def query(self, prepared: Prepared, params: Sequence[object]) -> QueryResult:
        """Run a statement that returns rows."""
        if not prepared.returns_rows:
            raise SqlError(-363)
        prepared = self._current(prepared, params)
        plan = prepared.plan
        if isinstance(plan, CallPlan):
            return self.write(lambda: spl_calls.query(self, plan, params))
        assert isinstance(plan, SelectPlan)
        values = self.bind(plan.needs, params)
        if plan.for_update:
            self.isolation.lock_all(plan, values)
        self.isolation.before_query(plan, values)
        table = self.read(lambda: self.fetch_arrow(plan.shown or plan.sql, values))
        if not any(plan.calls):
            return QueryResult(prepared.columns, cast_table(table, prepared.columns, self.codec, plan.packed))
        kept = cast_table(table, prepared.columns, self.codec, plan.packed, plan.calls)
        schema = pa.schema([(c.name, result_type(c.type)) for c in prepared.columns])
        return CallingResult(
            prepared.columns, kept, schema, plan.calls, lambda what, given: call(self, what, given)
        )

    def open_for_update(self, prepared: Prepared, params: Sequence[object]) -> UpdateRows:
        """Open a cursor on a SELECT ... FOR UPDATE: -398 without a transaction. Who gives it a name puts it into
        `cursors`, which knows it as long as somebody holds on to it."""
        prepared = self._current(prepared, params)
        plan = prepared.plan
        assert isinstance(plan, SelectPlan)
        self.isolation.require_transaction()
        return UpdateRows(self, plan, self.bind(plan.needs, params))

    def execute(self, prepared: Prepared, params: Sequence[object]) -> Outcome:
        """Run a statement that returns no rows."""
        return self.run(self._current(prepared, params).plan, params)

    def run(self, plan: Plan, params: Sequence[object]) -> Outcome:
        """Run a plan without rows as it stands: of a statement, or of one inside a routine."""
        if isinstance(plan, CallPlan):
            outcome = self.write(lambda: spl_calls.execute(self, plan, params))
        elif isinstance(plan, InsertPlan):
            outcome = self._insert(plan, params)
        elif isinstance(plan, ModifyPlan):
            outcome = modify(self, plan, params)
        elif isinstance(plan, SelectPlan):
            if plan.into is None:
                raise SqlError(-260)
            outcome = self._select_into(plan, params)
        elif isinstance(plan.statement, Control):
            outcome = controls.run(self, plan.statement)
        elif isinstance(plan.statement, (Routine, DropRoutine)):
            routine = plan.statement
            self.require_database()
            outcome = Outcome(rows=self.write(lambda: spl_catalog.run(self, routine)))
        else:
            statement = plan.statement
            self.require_database()
            outcome = Outcome(rows=self.write(lambda: self._define(statement)))
        self.sqlerrd2 = outcome.rows
        return outcome

    def execute_many(
        self, prepared: Prepared, rows: Sequence[Sequence[object]], *, stop_at_error: bool = False
    ) -> list[Outcome | SqlError]:
        """Run a statement once per row of parameters; one outcome or error each, in order.

        INSERT ... VALUES is taken as one batch with the effects that single executions would have. With
        `stop_at_error` the list ends with the first error, and nothing behind it is done.
        """
        if not rows:
            return []
        prepared = self._current(prepared, rows[0])
        plan = prepared.plan
        if (
            isinstance(plan, InsertPlan)
            and plan.values is not None
            and not plan.by_row
            and all(len(r) == len(rows[0]) for r in rows)
        ):
            inside = self.in_transaction
            try:
                return self.write(lambda: insert_values(self, plan, rows, stop_at_error))
            except SqlError as problem:
                if len(rows) == 1 or self._is_final(problem, inside):
                    raise
        results: list[Outcome | SqlError] = []
        for row in rows:
            try:
                results.append(self.execute(prepared, row))
            except SqlError as e:
                results.append(e)
                if stop_at_error:
                    break
        return results

    def execute_batch(self, prepared: Prepared, batch: Any, *, stop_at_error: bool = False) -> BatchOutcome:
        """`execute_many` for an INSERT and a record batch of rows, one column per parameter (bulk.py)."""
        current = self._current(prepared, batch.columns)
        plan = current.plan
        inside = self.in_transaction
        if takes_batches(plan) and current.parameters == prepared.parameters:
            try:
                outcome = self.write(lambda: insert_batch(self, plan, batch, stop_at_error))
                if outcome.inserted:
                    self.sqlerrd2 = 1
                return outcome
            except SqlError as problem:
                if self._is_final(problem, inside):
                    raise
        rows = python_rows(batch, prepared.parameters)
        return BatchOutcome.gathered(self.execute_many(prepared, rows, stop_at_error=stop_at_error))

    def _is_final(self, problem: SqlError, inside: bool) -> bool:
        """Whether a batch that failed as a whole must not be tried row by row: it was interrupted, or the
        transaction that it belongs to is lost."""
        return problem.sqlcode == -213 or self.in_transaction != inside

    def _insert(self, plan: InsertPlan, params: Sequence[object]) -> Outcome:
        if plan.values is None:
            values = self.bind(plan.needs, params)
            return self.write(lambda: insert_table(self, plan, values))
        found = self.write(lambda: insert_values(self, self._with_values(plan, params), [params]))[0]
        if isinstance(found, SqlError):
            raise found
        return found

    def _with_values(self, plan: InsertPlan, params: Sequence[object]) -> InsertPlan:
        """The plan with the values that have to be made beforehand, as constants."""
        if not plan.by_row or plan.values is None:
            return plan
        self.load_files(plan.needs, params)
        wanted = [sql for kind, sql in plan.values if kind == "stored"]
        values = self.bind(plan.needs, params)
        text = f"SELECT {', '.join(map(str, wanted))}"
        answer = self.routines.settled(text, lambda: first_row(self.con, text, values_in(text, values)))
        assert answer is not None
        made = iter(answer)
        return replace(
            plan,
            values=tuple(
                ("const", None if (v := next(made)) is None else Stored(v))
                if kind == "stored"
                else (kind, value)
                for kind, value in plan.values
            ),
        )

    def _define(self, statement: Any) -> int:
        self.isolation.lock_names(ddl.names_of(self, statement))
        return ddl.run(self, statement)

    def _select_into(self, plan: SelectPlan, params: Sequence[object]) -> Outcome:
        assert plan.into is not None
        name, temporary = plan.into
        values = self.bind(plan.needs, params)
        self.isolation.before_query(plan, values)
        return Outcome(rows=self.write(lambda: ddl.create_from_select(self, name, plan, temporary, values)))

    # ---- end ------------------------------------------------------------------------------------
    def interrupt(self) -> None:
        """Make the running statement fail with -213; nothing happens when none is running."""
        self.interrupted.set()
        if not self.closed:
            self.engine.locks.wake()
            self.interrupt_engine()

    def client_left(self) -> None:
        """Nobody is there for whom to wait: statements that need another session's locks fail with -213."""
        self.left.set()
        self.engine.locks.wake()

    def close(self) -> None:
        """End the session: an open transaction is rolled back, temporary tables go."""
        if self.closed:
            return
        self.closed = True
        try:
            if self.in_transaction:
                self.rollback()
        finally:
            self.engine.locks.release(self, committed=False)
            self.engine.forget(self)
            self.con.close()


def _insert_columns(plan: InsertPlan) -> tuple[Column, ...]:
    found = []
    for name in plan.targets:
        column = plan.info.column(name)
        if column is not None:
            found.append(Column(name, column.type))
    return tuple(found)
