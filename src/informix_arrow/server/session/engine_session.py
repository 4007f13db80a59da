"""One session of the engine: its parts, and its statements prepared, described and run."""

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
from .ddl.owned_names import resolved_names
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
    """One session, used by one thread at a time. `interrupt` and `client_disconnected` may be called from others.

    The constructor creates the parts in the order of their dependencies. Each part gets its collaborators through its
    constructor.

    Attributes
    ----------
    engine
        The engine that it is a session of.
    session_id, started_at
        Its number, and when it began, in seconds since 1970.
    cursors
        Cursors FOR UPDATE by name, for WHERE CURRENT OF. References are weak.
    lobs, lob_calls
        The smart large objects that it can reach, and the functions that read and write them from SQL.
    interrupted
        Set while the running statement is to end.
    closed
        True after `close`.
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

        # its user, its environment and the open database
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
        self.privileges = privileges = SessionPrivileges(
            self.environment, self.transaction, self.current_database, self.schema, engine.administrators
        )

        # the names that its statements can use
        self.sql_reader = SqlReader(self.environment, self.current_database, self.interrupted)
        self.tables = SessionTables(
            self.transaction,
            self.current_database,
            self.schema,
            self.sql_reader,
            engine.change_log,
            lambda: privileges.acting_owner,  # not by way of the session, which would then refer to itself
        )
        self.types = UserTypes(self.transaction, self.current_database, self.schema, self.numbers)
        self.lobs = SmartObjectStore(self.transaction, self.current_database, self.numbers)
        self.lob_calls = LobCalls(self.lobs, client)
        # A routine runs statements, and a statement calls routines. The routines therefore refer to the session and
        # find the parts that are created below when they are first called. The reference is weak, so that it does not
        # keep the session alive.
        self.routines = engine.routines.for_session(proxy(self))

        # planning and running
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
            self.routines.in_sql,
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
        foreign_keys = ForeignKeyEnforcer(self.transaction, self.tables, self.lock_owner, self.isolation)
        appender = TableAppender(self.values, engine.serials, self.transaction, self.isolation)
        triggers = TriggerExecutor(
            self.executor,
            self.values,
            self.transaction,
            self.isolation,
            foreign_keys,
            self.routines.trigger_actions,
        )
        single_row = SingleRowInserter(
            self.environment, self.values, engine.serials, self.transaction, self.isolation
        )
        self._unreferenced_objects = UnreferencedObjects(
            self.transaction,
            self.tables,
            self.lobs,
            partial(engine.sessions.temp_tables, except_session=session_id),
            partial(engine.sessions.has_open_transaction, except_session=session_id),
        )
        self._insert_executor = InsertExecutor(
            self.environment, self.executor, self.transaction, appender, single_row, self.isolation, triggers
        )
        self._modifier = Modifier(
            self.executor,
            self.values,
            self.transaction,
            self.schema,
            self.isolation,
            self._insert_executor,
            foreign_keys,
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
            foreign_keys,
            self.numbers,
            self.routines,
            self.privileges,
            self.isolation,
            partial(engine.sessions.temp_tables, except_session=session_id),
            self.executor.bind,
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
            foreign_keys,
        )
        self._interruption.set_wake_functions(
            engine.locks.wake, self.capture_routines.wake, self._duck.interrupt
        )

    # ---- databases ----------------------------------------------------------------------------
    @property
    def database(self) -> str | None:
        """Name of the open database; None if there is none."""
        return self.current_database.name

    def open_database(self, name: str) -> int:
        """Open a database and close the one that is open. Return the warnings of the reply to SQ_DBOPEN.

        Raises -329 if it is unknown.
        """
        return self._database_statements.open(name)

    def close_database(self) -> None:
        """Close the open database, if any, and drop the temporary tables. Raises -377 inside a transaction."""
        self._database_statements.close()

    def find_table(self, database: str | None, name: str) -> TableInfo | None:
        """Find a table or view; temporary ones come first. Raises -329 for an unknown database."""
        return self.tables.find(database, self.tables.stored_name(database, name))

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
        """ROLLBACK WORK: the same errors as `commit`."""
        self.transaction.rollback()

    # ---- routines, without SQL ----------------------------------------------------------------
    def require_routine(self, reference: RoutineReference) -> None:
        """Raise -674 if there is no such routine, or if several have a name that is given without parameter types."""
        self.current_database.require()
        self.routines.require_routine(reference)

    def call_routine(self, reference: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row.

        Raises -664 for a wrong number of arguments and -686 for several rows.
        """
        self.start_statement()
        self.transaction.begin_implicitly()
        self.current_database.require()
        return self.routines.call_named(reference, arguments)

    # ---- prepare --------------------------------------------------------------------------------
    def prepare(self, sql: str, nparams: int = 0) -> PreparedPlan:
        """Parse, plan and describe a statement without executing it.

        Errors of names, syntax and types are raised here.
        """
        self.start_statement()
        self.sql_reader.check_newlines(sql)
        return self._preparer.prepare(sql)

    def _replan_if_stale(self, prepared: PreparedPlan, params: Sequence[object]) -> PreparedPlan:
        """Return the statement as it must be run now: planned again if the schema has changed since it was prepared."""
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
        # The rows would not match the description that the client has.
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
            return self.transaction.write(lambda: self.routines.client_calls.query(plan, params))
        assert isinstance(plan, SelectPlan)
        return self._query_executor.run(prepared, plan, params)

    def open_for_update(self, prepared: PreparedPlan, params: Sequence[object]) -> UpdateCursorRows:
        """Open a cursor on a SELECT ... FOR UPDATE: -398 without a transaction.

        To name it for WHERE CURRENT OF, put it into `cursors`, which holds a weak reference.
        """
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
        """Run a plan without rows as it is: that of a statement, or of one inside a routine."""
        if isinstance(plan, CallPlan):
            outcome = self.transaction.write(lambda: self.routines.client_calls.execute(plan, params))
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
        """Run a statement once per row of parameters. Return one outcome or error for each, in order.

        INSERT ... VALUES runs as one batch with the effects of single executions. With `stop_at_error` the list ends
        with the first error, and no later row is executed.
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
            was_active = self.transaction.active
            try:
                outcomes = self.transaction.write(
                    lambda: self._insert_executor.insert_values(plan, rows, stop_at_error)
                )
                if any(isinstance(each, SqlError) for each in outcomes):
                    self._unreferenced_objects.note_rejected_row(plan.info)
                return outcomes
            except SqlError as problem:
                if len(rows) == 1 or self._is_not_retryable(problem, was_active):
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
        """Run `execute_many` for an INSERT and a record batch of rows, one column per parameter."""
        current = self._replan_if_stale(prepared, batch.columns)
        plan = current.plan
        was_active = self.transaction.active
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
                if self._is_not_retryable(problem, was_active):
                    raise
        rows = python_rows(batch, prepared.parameters)
        return BatchOutcome.from_outcomes(self.execute_many(prepared, rows, stop_at_error=stop_at_error))

    def _run_catching(self, plan: Plan, params: Sequence[object]) -> StatementOutcome | SqlError:
        try:
            return self.run_plan(plan, params)
        except SqlError as problem:
            # The traceback is dropped: its frames would form a reference cycle.
            return problem.with_traceback(None)

    def _is_not_retryable(self, problem: SqlError, was_active: bool) -> bool:
        """Return whether a batch that failed as a whole must not be tried row by row.

        That is so if it was interrupted or if the transaction that it belongs to is lost.
        """
        return problem.sqlcode == -213 or self.transaction.active != was_active

    def _run_ddl(self, statement: Any) -> int:
        statement = resolved_names(self.tables, statement)
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
        """Prepare for a statement: set its time, clear an earlier interrupt, restart a detached transaction."""
        self.values.now = dt.datetime.now()
        if self.interrupted.is_set():
            self.interrupted.clear()
        self.transaction.resume()

    def interrupt(self) -> None:
        """Make the running statement fail with -213. It does nothing if none is running."""
        self._interruption.request()

    def client_disconnected(self) -> None:
        """Note that the client is gone: waits for locks and reads of changes that have not arrived fail with -213."""
        self.lock_owner.client_disconnected.set()
        self.lock_owner.locks.wake()
        self.capture_routines.wake()

    def detach(self) -> None:
        """End what the session has open in a database that was detached from DuckDB. The session must be idle."""
        self.transaction.detach()

    def close(self) -> None:
        """End the session: an open transaction is rolled back, temporary tables are dropped."""
        if self.closed:
            return
        self.closed = True
        self._interruption.set_wake_functions()
        try:
            self._duck.close_open_rows()
            if self.transaction.active:
                self.transaction.rollback()
            # If the database is gone, so are its objects.
            with contextlib.suppress(SqlError, duckdb.Error):
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
    """Open a session.

    `environment` is that of the login (DBDATE, DB_LOCALE, DELIMIDENT). `client` is the client whose files statements
    can read and write. `interruption` stops statements from another thread.
    """
    return engine.add_session(
        EngineSession(engine, user, environment, engine.new_session_id(), client, interruption)
    )
