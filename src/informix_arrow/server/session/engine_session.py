"""One session of the engine: what it is made of, and its statements prepared, described, run."""

from __future__ import annotations

import contextlib
import datetime as dt
import time
from collections.abc import Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary, proxy

import duckdb

from ..catalog.catalog import TableInfo
from ..errors import SqlError
from ..parse.classify import ControlStatement
from ..parse.spl.nodes import DropRoutine, Routine
from ..plan.plans import CallPlan, InsertPlan, ModifyPlan, Plan, SelectPlan, UtilityPlan
from .capture_routines import CaptureRoutines
from .current_database import CurrentDatabase
from .database_statements import DatabaseStatements
from .ddl import dispatch as ddl
from .ddl import privilege_checks
from .ddl.ddl_context import DdlContext
from .ddl.tables import create_from_select
from .duck_executor import DuckExecutor
from .duck_transaction import DuckTransaction
from .engine import Engine
from .environment import SessionEnvironment
from .foreign_keys import ForeignKeyEnforcer
from .insert import InsertExecutor, accepts_batches, python_rows
from .isolation import Isolation
from .lob_calls import Client, LobCalls
from .lock_owner import Interruption, LockOwner
from .prepared_plan import PreparedPlan, QueryResult, StatementOutcome
from .routine_protocols import PythonRoutine, RoutineCallResult, RoutineReference
from .row_changes import RowChangeLogger
from .schema_version import SessionSchema
from .select import QueryExecutor
from .session_privileges import SessionPrivileges
from .session_statements import SessionStatements
from .session_tables import SessionTables
from .session_values import SessionValues
from .single_row_insert import SingleRowInserter
from .smart_object_store import SmartObjectStore
from .sql_reader import SqlReader
from .statement_planner import StatementPlanner
from .statement_preparer import StatementPreparer
from .table_appender import BatchOutcome, TableAppender
from .transaction import SessionTransaction
from .triggers import TriggerExecutor
from .unreferenced_objects import UnreferencedObjects
from .update_cursor import PositionedCursor, UpdateCursorRows
from .update_delete import Modifier
from .user_types import UserTypes


class EngineSession:
    """One session. Used by one thread at a time; only `interrupt` and `client_disconnected` may come from another.

    Its parts are made in the order in which they need each other: each gets by its constructor what it works with.

    Attributes
    ----------
    engine
        The engine that it is a session of.
    session_id, since
        Its number, and when it began, in seconds since 1970.
    cursors
        Cursors FOR UPDATE by their names, for WHERE CURRENT OF: as long as somebody holds on to them.
    lobs, objects
        The smart large objects that it can reach, and what of a client it takes to call them from SQL.
    capture
        Its sessions of change capture.
    interrupted
        Set while the running statement is to end.
    closed
        Whether it was ended by `close`.
    """

    def __init__(
        self,
        engine: Engine,
        user: str,
        environment: Mapping[str, str],
        session_id: int,
        client: Client | None = None,
        interruption: Interruption | None = None,
    ) -> None:
        self.engine = engine
        self.session_id = session_id
        self.started_at = time.time()
        self.closed = False
        self._interruption = Interruption() if interruption is None else interruption
        self.interrupted = self._interruption.requested
        self.cursors: MutableMapping[str, PositionedCursor] = WeakValueDictionary()

        # who it is, and what it has open
        self.environment = SessionEnvironment(
            user, environment, session_id, engine.server_name, engine.version
        )
        self.values = SessionValues(self.environment)
        self.current_database = CurrentDatabase(engine.databases)
        self.schema = SessionSchema(engine.schema_version)
        self.numbers = engine.numbers
        self.python_routines: Mapping[str, Sequence[PythonRoutine]] = engine.python_routines

        # its transaction
        self.lock_owner = LockOwner(engine.locks, self.interrupted)
        self._duck = DuckTransaction(engine.connect(), engine.locks, engine.temporary, engine.schema_version)
        changes = RowChangeLogger(engine.change_log, engine.databases, user, engine.temporary)
        self.transaction = SessionTransaction(
            self._duck, self.lock_owner, self.current_database, self.schema, changes
        )
        self.privileges = SessionPrivileges(
            self.environment, self.transaction, self.current_database, self.schema, engine.administrators
        )

        # what its statements can name
        self.sql_reader = SqlReader(self.environment, self.current_database, self.interrupted)
        self.tables = SessionTables(
            self.transaction, self.current_database, self.schema, self.sql_reader, engine.change_log
        )
        self.types = UserTypes(self.transaction, self.current_database, self.schema, self.numbers)
        self.lobs = SmartObjectStore(self.transaction, self.current_database, self.numbers)
        self.lob_calls = LobCalls(self.lobs, client)
        # A routine runs statements, and a statement calls routines: the routines know the session, and find the parts
        # that are made below when they are first called. They do not keep it: it goes when nobody else holds it.
        self.routines = engine.routines.for_session(proxy(self))

        # what plans and runs them
        self.planner = StatementPlanner(
            self.environment,
            self.current_database,
            self.sql_reader,
            self.tables,
            self.types,
            self.values,
            self.transaction,
            self.routines,
            self.privileges,
        )
        self._preparer = StatementPreparer(
            self.environment,
            self.current_database,
            self.schema,
            self.transaction,
            self.privileges,
            self.planner,
            engine.shared_plans,
        )
        self.executor = DuckExecutor(
            self.environment,
            self.values,
            self.transaction,
            self.current_database,
            self.lob_calls,
            self.routines,
            engine.temporary,
        )
        self.isolation = Isolation(
            self.lock_owner, self.transaction, self.current_database, self.schema, self.tables, self.executor
        )
        self._query_executor = QueryExecutor(
            self.environment,
            self.transaction,
            self.isolation,
            self.executor,
            self.lob_calls,
        )
        references = ForeignKeyEnforcer(self.transaction, self.tables, self.lock_owner, self.isolation)
        appender = TableAppender(self.values, engine.serials, self.transaction, self.isolation)
        triggers = TriggerExecutor(
            self.executor, self.values, self.transaction, self.isolation, references, self.routines
        )
        one_row = SingleRowInserter(
            self.environment, self.values, engine.serials, self.transaction, self.isolation
        )
        self._unreferenced_objects = UnreferencedObjects(
            self.transaction,
            self.tables,
            self.lobs,
            partial(engine.sessions.temp_tables, beside=session_id),
            partial(engine.sessions.has_open_transaction, beside=session_id),
        )
        self._insert_executor = InsertExecutor(
            self.environment, self.executor, self.transaction, appender, one_row, self.isolation, triggers
        )
        self._modifier = Modifier(
            self.executor,
            self.values,
            self.transaction,
            self.schema,
            self.isolation,
            self._insert_executor,
            references,
            triggers,
            self.cursors,
        )
        self._ddl_context = DdlContext(
            self.environment,
            self.values,
            self.current_database,
            self.schema,
            self.tables,
            self.types,
            self.sql_reader,
            self.planner,
            self.transaction,
            references,
            self.numbers,
            self.routines,
            self.privileges,
            self.isolation,
            partial(engine.sessions.temp_tables, beside=session_id),
        )
        self.capture_routines = CaptureRoutines(
            engine.capture_sessions,
            engine.databases,
            self.tables,
            self.privileges,
            self.lock_owner,
            engine.server_name,
            engine.recovery.paused,
        )
        self._database_statements = DatabaseStatements(
            self.environment,
            self.current_database,
            self.schema,
            self.transaction,
            self.lock_owner,
            self.isolation,
            self.privileges,
            engine,
        )
        self._session_statements = SessionStatements(
            self.transaction,
            self.isolation,
            self.lock_owner,
            self.current_database,
            self._database_statements,
            self.tables,
            self.sql_reader,
            self.privileges,
            references,
        )
        self._interruption.wakes(engine.locks.wake, self.capture_routines.wake, self._duck.interrupt)

    # ---- what others know of it ---------------------------------------------------------------
    @property
    def user(self) -> str:
        return self.environment.user

    @property
    def temp_tables(self) -> Mapping[str, TableInfo]:
        return self.schema.temp_tables

    # ---- databases ----------------------------------------------------------------------------
    @property
    def database(self) -> str | None:
        """The open database's name, None while there is none."""
        return self.current_database.name

    @property
    def locale(self) -> str:
        """The open database's locale."""
        return self.environment.locale

    def open_database(self, name: str) -> int:
        """Open a database and close the one that is open; the warnings of SQ_DBOPEN's answer. -329
        unknown."""
        return self._database_statements.open(name)

    def close_database(self) -> None:
        """Close the open database, if any; -377 inside a transaction. Temporary tables go with it."""
        self._database_statements.close()

    def database_names(self) -> list[str]:
        return self.current_database.databases.names()

    def find_table(self, database: str | None, name: str) -> TableInfo | None:
        """A table or view; temporary ones come first. -329 for an unknown database."""
        return self.tables.find(database, name)

    # ---- transactions -------------------------------------------------------------------------
    @property
    def in_transaction(self) -> bool:
        return self.transaction.active

    def begin(self) -> None:
        """BEGIN WORK: -535 in a transaction, -256 in a database without logging."""
        self.transaction.begin()

    def commit(self) -> None:
        """COMMIT WORK: -255 without a transaction, -256 in a database without logging."""
        self.transaction.commit()

    def rollback(self) -> None:
        """ROLLBACK WORK: errors as those of `commit`."""
        self.transaction.rollback()

    def buffer_open_rows(self, *, ending: bool) -> None:
        """Set aside the rows that a query still makes, before the transaction ends or goes back to a savepoint. An
        interrupt costs those that are not made yet: who fetches them is told -213. -271 where there is no room for
        them. Rows that end with the transaction are left as they are where that is `ending`."""
        self.transaction.buffer_open_rows(ending=ending)

    def savepoint(self, name: str, unique: bool = False) -> None:
        """SAVEPOINT: -255 outside a transaction, -16399 for a name that is taken."""
        self.transaction.savepoint(name, unique)

    def release_savepoint(self, name: str) -> None:
        """RELEASE SAVEPOINT: -16398 for none of that name."""
        self.transaction.release_savepoint(name)

    def rollback_to_savepoint(self, name: str = "") -> None:
        """ROLLBACK TO SAVEPOINT; without a name the last one."""
        self.transaction.rollback_to_savepoint(name)

    # ---- routines, without SQL ----------------------------------------------------------------
    def require_routine(self, wanted: RoutineReference) -> None:
        """-674 when there is no such routine, and for a bare name that several have."""
        self.current_database.require()
        self.routines.require_routine(wanted)

    def call_routine(self, wanted: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row. -664 for a wrong number of arguments, -686 for several
        rows."""
        self.start_statement()
        self.transaction.begin_implicitly()
        self.current_database.require()
        return self.routines.call_named(wanted, arguments)

    # ---- prepare --------------------------------------------------------------------------------
    def prepare(self, sql: str, nparams: int = 0) -> PreparedPlan:
        """Read and describe a statement; it is not executed. Errors of names, syntax and types come from
        here."""
        self.start_statement()
        self.sql_reader.check_newlines(sql)
        return self._preparer.prepare(sql)

    def _replan_if_stale(self, prepared: PreparedPlan, params: Sequence[object]) -> PreparedPlan:
        """The statement as it must be run now: planned again when the schema has changed since."""
        if len(params) != len(prepared.parameters):
            raise SqlError(-254)
        if isinstance(prepared.plan, UtilityPlan):
            self.start_statement()
            if not isinstance(prepared.plan.statement, ControlStatement):
                self.transaction.begin_implicitly()
                self._preparer.refresh_schema()
            return prepared
        self.transaction.begin_implicitly()
        self.start_statement()
        if self._preparer.is_last_prepared(prepared):
            return prepared
        current = self.prepare(prepared.sql, len(prepared.parameters))
        # Rows would not be what the client was told.
        if prepared.returns_rows and current.columns != prepared.columns:
            raise SqlError(-710)
        return current

    # ---- run ------------------------------------------------------------------------------------
    def query(self, prepared: PreparedPlan, params: Sequence[object]) -> QueryResult:
        """Run a statement that returns rows."""
        if not prepared.returns_rows:
            raise SqlError(-363)
        prepared = self._replan_if_stale(prepared, params)
        plan = prepared.plan
        if isinstance(plan, CallPlan):
            return self.transaction.write(lambda: self.routines.query(plan, params))
        assert isinstance(plan, SelectPlan)
        return self._query_executor.run(prepared, plan, params)

    def open_for_update(self, prepared: PreparedPlan, params: Sequence[object]) -> UpdateCursorRows:
        """Open a cursor on a SELECT ... FOR UPDATE: -398 without a transaction. Who gives it a name puts it into
        `cursors`, which knows it as long as somebody holds on to it."""
        prepared = self._replan_if_stale(prepared, params)
        plan = prepared.plan
        assert isinstance(plan, SelectPlan)
        self.isolation.require_transaction()
        return UpdateCursorRows(
            self.environment,
            self.transaction,
            self.isolation,
            self.executor,
            plan,
            self.executor.bind(plan.needs, params),
        )

    def execute(self, prepared: PreparedPlan, params: Sequence[object]) -> StatementOutcome:
        """Run a statement that returns no rows."""
        return self.run_plan(self._replan_if_stale(prepared, params).plan, params)

    def run_plan(self, plan: Plan, params: Sequence[object]) -> StatementOutcome:
        """Run a plan without rows as it stands: of a statement, or of one inside a routine."""
        if isinstance(plan, CallPlan):
            outcome = self.transaction.write(lambda: self.routines.execute(plan, params))
        elif isinstance(plan, InsertPlan):
            try:
                outcome = self._insert_executor.run(plan, params)
            except SqlError:
                self._unreferenced_objects.note_rejected_row(plan.info)
                raise
        elif isinstance(plan, ModifyPlan):
            outcome = self._modifier.run(plan, params)
        elif isinstance(plan, SelectPlan):
            if plan.into is None:
                raise SqlError(-260)
            outcome = self._select_into(plan, params)
        elif isinstance(plan.statement, ControlStatement):
            outcome = self._session_statements.run(plan.statement)
        elif isinstance(plan.statement, (Routine, DropRoutine)):
            routine = plan.statement
            self.current_database.require()
            outcome = StatementOutcome(
                rows=self.transaction.write(lambda: self.routines.define_routine(routine))
            )
        else:
            statement = plan.statement
            self.current_database.require()
            outcome = StatementOutcome(self.transaction.write(lambda: self._run_ddl(statement)))
        self.values.sqlerrd2 = outcome.rows
        return outcome

    def execute_many(
        self, prepared: PreparedPlan, rows: Sequence[Sequence[object]], *, stop_at_error: bool = False
    ) -> list[StatementOutcome | SqlError]:
        """Run a statement once per row of parameters; one outcome or error each, in order.

        INSERT ... VALUES is taken as one batch with the effects that single executions would have. With
        `stop_at_error` the list ends with the first error, and nothing behind it is done.
        """
        if not rows:
            return []
        prepared = self._replan_if_stale(prepared, rows[0])
        plan = prepared.plan
        if (
            isinstance(plan, InsertPlan)
            and plan.values is not None
            and not plan.evaluates_per_row
            and not plan.info.fired_by("I")
            and all(len(r) == len(rows[0]) for r in rows)
        ):
            inside = self.transaction.active
            try:
                found = self.transaction.write(
                    lambda: self._insert_executor.insert_values(plan, rows, stop_at_error)
                )
                if any(isinstance(each, SqlError) for each in found):
                    self._unreferenced_objects.note_rejected_row(plan.info)
                return found
            except SqlError as problem:
                if len(rows) == 1 or self._is_not_retryable(problem, inside):
                    raise
        results: list[StatementOutcome | SqlError] = []
        for row in rows:
            try:
                results.append(self.execute(prepared, row))
            except SqlError as e:
                results.append(e.with_traceback(None))
                if stop_at_error:
                    break
        return results

    def execute_batch(
        self, prepared: PreparedPlan, batch: Any, *, stop_at_error: bool = False
    ) -> BatchOutcome:
        """`execute_many` for an INSERT and a record batch of rows, one column per parameter."""
        current = self._replan_if_stale(prepared, batch.columns)
        plan = current.plan
        inside = self.transaction.active
        if batch.num_rows == 1 and isinstance(plan, InsertPlan) and plan.row is not None:
            row = python_rows(batch, prepared.parameters)[0]
            return BatchOutcome.from_outcomes([self._run_catching(plan, row)])
        if accepts_batches(plan) and current.parameters == prepared.parameters:
            try:
                outcome = self.transaction.write(
                    lambda: self._insert_executor.insert_batch(plan, batch, stop_at_error)
                )
                if outcome.inserted:
                    self.values.sqlerrd2 = 1
                if outcome.errors:
                    self._unreferenced_objects.note_rejected_row(plan.info)
                return outcome
            except SqlError as problem:
                if self._is_not_retryable(problem, inside):
                    raise
        rows = python_rows(batch, prepared.parameters)
        return BatchOutcome.from_outcomes(self.execute_many(prepared, rows, stop_at_error=stop_at_error))

    def _run_catching(self, plan: Plan, params: Sequence[object]) -> StatementOutcome | SqlError:
        try:
            return self.run_plan(plan, params)
        except SqlError as problem:
            return problem.with_traceback(None)  # an outcome: the frames would keep what keeps it

    def _is_not_retryable(self, problem: SqlError, inside: bool) -> bool:
        """Whether a batch that failed as a whole must not be tried row by row: it was interrupted, or the
        transaction that it belongs to is lost."""
        return problem.sqlcode == -213 or self.transaction.active != inside

    def _run_ddl(self, statement: Any) -> int:
        privilege_checks.check_privileges(self._ddl_context, statement)
        self.isolation.lock_names(ddl.affected_names(self._ddl_context, statement))
        self.isolation.lock_catalog_names(ddl.catalog_names(self._ddl_context, statement))
        return ddl.run(self._ddl_context, statement)

    def _select_into(self, plan: SelectPlan, params: Sequence[object]) -> StatementOutcome:
        assert plan.into is not None
        name, temporary = plan.into
        values = self.executor.bind(plan.needs, params)
        self.isolation.before_query(plan, values)
        make = partial(create_from_select, self._ddl_context, name, plan, temporary, values)
        return StatementOutcome(rows=self.transaction.write(make))

    # ---- end ------------------------------------------------------------------------------------
    def start_statement(self) -> None:
        """What was meant for an earlier statement is over."""
        self.values.now = dt.datetime.now()
        if self.interrupted.is_set():
            self.interrupted.clear()
        self.transaction.resume()

    def interrupt(self) -> None:
        """Make the running statement fail with -213; nothing happens when none is running."""
        self._interruption.request()

    def client_disconnected(self) -> None:
        """Nobody is there for whom to wait: statements that need another session's locks, and reads of changes that are
        not there yet, fail with -213."""
        self.lock_owner.client_disconnected.set()
        self.lock_owner.locks.wake()
        self.capture_routines.wake()

    def detach(self) -> None:
        """Its database has gone from DuckDB: what it has open there ends. While it is at nothing."""
        self.transaction.detach()

    def close(self) -> None:
        """End the session: an open transaction is rolled back, temporary tables go."""
        if self.closed:
            return
        self.closed = True
        self._interruption.wakes()
        try:
            self._duck.close_open_rows()
            if self.transaction.active:
                self.transaction.rollback()
            with contextlib.suppress(
                SqlError, duckdb.Error
            ):  # the database may have gone; then the objects have, too
                self._unreferenced_objects.delete_unreferenced()
        finally:
            self.capture_routines.close()
            self.lock_owner.release(committed=False)
            self.engine.sessions.discard(self)
            self._duck.close()


def open_session(
    engine: Engine,
    user: str,
    environment: Mapping[str, str],
    client: Client | None = None,
    interruption: Interruption | None = None,
) -> EngineSession:
    """Begin a session; `environment` is that of the login (DBDATE, DB_LOCALE, DELIMIDENT). `client` is whom its
    statements can ask for files, `interruption` what stops them from outside."""
    return engine.add_session(
        EngineSession(engine, user, environment, engine.new_session_id(), client, interruption)
    )
