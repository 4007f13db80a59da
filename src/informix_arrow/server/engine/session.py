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

from ..errors import SqlError
from ..grammar.classify import Control
from ..grammar.spl.nodes import DropRoutine, Routine
from ..planning.plans import CallPlan, InsertPlan, ModifyPlan, Plan, SelectPlan, StatementPlan
from ..schema.catalog import TableInfo
from .appending import Appender, BatchOutcome
from .calling import Registered, RoutineAnswer, UserRoutine
from .capture_calls import CaptureCalls
from .controls import Controls
from .current_database import CurrentDatabase
from .ddl import permits
from .ddl import statements as ddl
from .ddl.tables import create_from_select
from .ddl.workbench import Workbench
from .duck_transaction import DuckTransaction
from .engine import Engine
from .environment import Environment
from .isolation import Isolation
from .lob_calls import Client, ObjectCalls
from .lobs import LargeObjects
from .lock_owner import Interruption, LockOwner
from .modifying import Modifier
from .one_row import OneRow
from .opening import Opening
from .positioned import Positioned, UpdateRows
from .prepared import Outcome, Prepared, QueryResult
from .preparing import Preparing
from .querying import Queries
from .reading import TextReader
from .references import References
from .refused_objects import RefusedObjects
from .rights import Rights
from .row_changes import RowChanges
from .row_inserts import Inserts, python_rows, takes_batches
from .running import Runner
from .schema_changes import SchemaChanges
from .session_tables import SessionTables
from .session_values import SessionValues
from .statement_planner import StatementPlanner
from .transaction import Transaction
from .triggers import Triggers
from .user_types import UserTypes


class EngineSession:
    """One session. Used by one thread at a time; only `interrupt` and `client_left` may come from another.

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
        self.since = time.time()
        self.closed = False
        self._interruption = Interruption() if interruption is None else interruption
        self.interrupted = self._interruption.requested
        self.cursors: MutableMapping[str, Positioned] = WeakValueDictionary()

        # who it is, and what it has open
        self.environment = Environment(user, environment, session_id, engine.server_name, engine.version)
        self.values = SessionValues(self.environment)
        self.current = CurrentDatabase(engine.databases)
        self.schema = SchemaChanges(engine.schema_version)
        self.numbers = engine.numbers
        self.registered: Mapping[str, Sequence[Registered]] = engine.registered

        # its transaction
        self.owner = LockOwner(engine.locks, self.interrupted)
        self._duck = DuckTransaction(engine.connect(), engine.locks, engine.temporary, engine.schema_version)
        changes = RowChanges(engine.changes, engine.databases, user, engine.temporary)
        self.transaction = Transaction(self._duck, self.owner, self.current, self.schema, changes)
        self.rights = Rights(
            self.environment, self.transaction, self.current, self.schema, engine.administrators
        )

        # what its statements can name
        self.reader = TextReader(self.environment, self.current, self.interrupted)
        self.tables = SessionTables(self.transaction, self.current, self.schema, self.reader, engine.changes)
        self.types = UserTypes(self.transaction, self.current, self.schema, self.numbers)
        self.lobs = LargeObjects(self.transaction, self.current, self.numbers)
        self.objects = ObjectCalls(self.lobs, client)
        # A routine runs statements, and a statement calls routines: the routines know the session, and find the parts
        # that are made below when they are first called. They do not keep it: it goes when nobody else holds it.
        self.routines = engine.routines.for_session(proxy(self))

        # what plans and runs them
        self.planner = StatementPlanner(
            self.environment,
            self.current,
            self.reader,
            self.tables,
            self.types,
            self.values,
            self.transaction,
            self.routines,
            self.rights,
        )
        self._preparing = Preparing(
            self.environment,
            self.current,
            self.schema,
            self.transaction,
            self.rights,
            self.planner,
            engine.plans,
        )
        self.runner = Runner(
            self.environment,
            self.values,
            self.transaction,
            self.current,
            self.objects,
            self.routines,
            engine.temporary,
        )
        self.isolation = Isolation(
            self.owner, self.transaction, self.current, self.schema, self.tables, self.runner
        )
        self._queries = Queries(
            self.environment,
            self.transaction,
            self.isolation,
            self.runner,
            self.objects,
        )
        references = References(self.transaction, self.tables, self.owner, self.isolation)
        appender = Appender(self.values, engine.serials, self.transaction, self.isolation)
        triggers = Triggers(
            self.runner, self.values, self.transaction, self.isolation, references, self.routines
        )
        one_row = OneRow(self.environment, self.values, engine.serials, self.transaction, self.isolation)
        self._refused = RefusedObjects(
            self.transaction,
            self.tables,
            self.lobs,
            partial(engine.sessions.temp_tables, beside=session_id),
            partial(engine.sessions.busy, beside=session_id),
        )
        self._inserts = Inserts(
            self.environment, self.runner, self.transaction, appender, one_row, self.isolation, triggers
        )
        self._modifier = Modifier(
            self.runner,
            self.values,
            self.transaction,
            self.schema,
            self.isolation,
            self._inserts,
            references,
            triggers,
            self.cursors,
        )
        self._bench = Workbench(
            self.environment,
            self.values,
            self.current,
            self.schema,
            self.tables,
            self.types,
            self.reader,
            self.planner,
            self.transaction,
            references,
            self.numbers,
            self.routines,
            self.rights,
            self.isolation,
            partial(engine.sessions.temp_tables, beside=session_id),
        )
        self.capture = CaptureCalls(
            engine.captures,
            engine.databases,
            self.tables,
            self.rights,
            self.owner,
            engine.server_name,
            engine.revival.waiting,
        )
        self._opening = Opening(
            self.environment,
            self.current,
            self.schema,
            self.transaction,
            self.owner,
            self.isolation,
            self.rights,
            engine,
        )
        self._controls = Controls(
            self.transaction,
            self.isolation,
            self.owner,
            self.current,
            self._opening,
            self.tables,
            self.reader,
            self.rights,
            references,
        )
        self._interruption.wakes(engine.locks.wake, self.capture.wake, self._duck.interrupt)

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
        return self.current.name

    @property
    def locale(self) -> str:
        """The open database's locale."""
        return self.environment.locale

    def open_database(self, name: str) -> int:
        """Open a database and close the one that is open; the warnings of SQ_DBOPEN's answer. -329
        unknown."""
        return self._opening.open(name)

    def close_database(self) -> None:
        """Close the open database, if any; -377 inside a transaction. Temporary tables go with it."""
        self._opening.close()

    def database_names(self) -> list[str]:
        return self.current.databases.names()

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

    def settle(self, *, ending: bool) -> None:
        """Set aside the rows that a query still makes, before the transaction ends or goes back to a savepoint. An
        interrupt costs those that are not made yet: who fetches them is told -213. -271 where there is no room for
        them. Rows that end with the transaction are left as they are where that is `ending`."""
        self.transaction.settle(ending=ending)

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
    def require_routine(self, wanted: UserRoutine) -> None:
        """-674 when there is no such routine, and for a bare name that several have."""
        self.current.require()
        self.routines.require(wanted)

    def call_routine(self, wanted: UserRoutine, arguments: Sequence[object]) -> RoutineAnswer:
        """Call a routine that returns at most one row. -664 for a wrong number of arguments, -686 for several
        rows."""
        self.start_statement()
        self.transaction.begin_implicitly()
        self.current.require()
        return self.routines.call_named(wanted, arguments)

    # ---- prepare --------------------------------------------------------------------------------
    def prepare(self, sql: str, nparams: int = 0) -> Prepared:
        """Read and describe a statement; it is not executed. Errors of names, syntax and types come from
        here."""
        self.start_statement()
        self.reader.check_newlines(sql)
        return self._preparing.prepare(sql)

    def _current(self, prepared: Prepared, params: Sequence[object]) -> Prepared:
        """The statement as it must be run now: planned again when the schema has changed since."""
        if len(params) != len(prepared.parameters):
            raise SqlError(-254)
        if isinstance(prepared.plan, StatementPlan):
            self.start_statement()
            if not isinstance(prepared.plan.statement, Control):
                self.transaction.begin_implicitly()
                self._preparing.look()
            return prepared
        self.transaction.begin_implicitly()
        self.start_statement()
        if self._preparing.holds(prepared):
            return prepared
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
            return self.transaction.write(lambda: self.routines.query(plan, params))
        assert isinstance(plan, SelectPlan)
        return self._queries.run(prepared, plan, params)

    def open_for_update(self, prepared: Prepared, params: Sequence[object]) -> UpdateRows:
        """Open a cursor on a SELECT ... FOR UPDATE: -398 without a transaction. Who gives it a name puts it into
        `cursors`, which knows it as long as somebody holds on to it."""
        prepared = self._current(prepared, params)
        plan = prepared.plan
        assert isinstance(plan, SelectPlan)
        self.isolation.require_transaction()
        return UpdateRows(
            self.environment,
            self.transaction,
            self.isolation,
            self.runner,
            plan,
            self.runner.bind(plan.needs, params),
        )

    def execute(self, prepared: Prepared, params: Sequence[object]) -> Outcome:
        """Run a statement that returns no rows."""
        return self.run(self._current(prepared, params).plan, params)

    def run(self, plan: Plan, params: Sequence[object]) -> Outcome:
        """Run a plan without rows as it stands: of a statement, or of one inside a routine."""
        if isinstance(plan, CallPlan):
            outcome = self.transaction.write(lambda: self.routines.execute(plan, params))
        elif isinstance(plan, InsertPlan):
            try:
                outcome = self._inserts.run(plan, params)
            except SqlError:
                self._refused.refused(plan.info)
                raise
        elif isinstance(plan, ModifyPlan):
            outcome = self._modifier.run(plan, params)
        elif isinstance(plan, SelectPlan):
            if plan.into is None:
                raise SqlError(-260)
            outcome = self._select_into(plan, params)
        elif isinstance(plan.statement, Control):
            outcome = self._controls.run(plan.statement)
        elif isinstance(plan.statement, (Routine, DropRoutine)):
            routine = plan.statement
            self.current.require()
            outcome = Outcome(rows=self.transaction.write(lambda: self.routines.define(routine)))
        else:
            statement = plan.statement
            self.current.require()
            outcome = Outcome(self.transaction.write(lambda: self._define(statement)))
        self.values.sqlerrd2 = outcome.rows
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
            and not plan.info.fired_by("I")
            and all(len(r) == len(rows[0]) for r in rows)
        ):
            inside = self.transaction.active
            try:
                found = self.transaction.write(lambda: self._inserts.values(plan, rows, stop_at_error))
                if any(isinstance(each, SqlError) for each in found):
                    self._refused.refused(plan.info)
                return found
            except SqlError as problem:
                if len(rows) == 1 or self._is_final(problem, inside):
                    raise
        results: list[Outcome | SqlError] = []
        for row in rows:
            try:
                results.append(self.execute(prepared, row))
            except SqlError as e:
                results.append(e.with_traceback(None))
                if stop_at_error:
                    break
        return results

    def execute_batch(self, prepared: Prepared, batch: Any, *, stop_at_error: bool = False) -> BatchOutcome:
        """`execute_many` for an INSERT and a record batch of rows, one column per parameter."""
        current = self._current(prepared, batch.columns)
        plan = current.plan
        inside = self.transaction.active
        if batch.num_rows == 1 and isinstance(plan, InsertPlan) and plan.row is not None:
            row = python_rows(batch, prepared.parameters)[0]
            return BatchOutcome.gathered([self._outcome_of(plan, row)])
        if takes_batches(plan) and current.parameters == prepared.parameters:
            try:
                outcome = self.transaction.write(lambda: self._inserts.batch(plan, batch, stop_at_error))
                if outcome.inserted:
                    self.values.sqlerrd2 = 1
                if outcome.errors:
                    self._refused.refused(plan.info)
                return outcome
            except SqlError as problem:
                if self._is_final(problem, inside):
                    raise
        rows = python_rows(batch, prepared.parameters)
        return BatchOutcome.gathered(self.execute_many(prepared, rows, stop_at_error=stop_at_error))

    def _outcome_of(self, plan: Plan, params: Sequence[object]) -> Outcome | SqlError:
        try:
            return self.run(plan, params)
        except SqlError as problem:
            return problem.with_traceback(None)  # an outcome: the frames would keep what keeps it

    def _is_final(self, problem: SqlError, inside: bool) -> bool:
        """Whether a batch that failed as a whole must not be tried row by row: it was interrupted, or the
        transaction that it belongs to is lost."""
        return problem.sqlcode == -213 or self.transaction.active != inside

    def _define(self, statement: Any) -> int:
        permits.require(self._bench, statement)
        self.isolation.lock_names(ddl.names_of(self._bench, statement))
        self.isolation.lock_catalogued(ddl.catalogued(self._bench, statement))
        return ddl.run(self._bench, statement)

    def _select_into(self, plan: SelectPlan, params: Sequence[object]) -> Outcome:
        assert plan.into is not None
        name, temporary = plan.into
        values = self.runner.bind(plan.needs, params)
        self.isolation.before_query(plan, values)
        make = partial(create_from_select, self._bench, name, plan, temporary, values)
        return Outcome(rows=self.transaction.write(make))

    # ---- end ------------------------------------------------------------------------------------
    def start_statement(self) -> None:
        """What was meant for an earlier statement is over."""
        self.values.now = dt.datetime.now()
        if self.interrupted.is_set():
            self.interrupted.clear()
        self.transaction.take_up()

    def interrupt(self) -> None:
        """Make the running statement fail with -213; nothing happens when none is running."""
        self._interruption.request()

    def client_left(self) -> None:
        """Nobody is there for whom to wait: statements that need another session's locks, and reads of changes that are
        not there yet, fail with -213."""
        self.owner.left.set()
        self.owner.locks.wake()
        self.capture.wake()

    def let_go(self) -> None:
        """Its database has gone from DuckDB: what it has open there ends. While it is at nothing."""
        self.transaction.let_go()

    def close(self) -> None:
        """End the session: an open transaction is rolled back, temporary tables go."""
        if self.closed:
            return
        self.closed = True
        self._interruption.wakes()
        try:
            self._duck.drop()
            if self.transaction.active:
                self.transaction.rollback()
            with contextlib.suppress(
                SqlError, duckdb.Error
            ):  # the database may have gone; then the objects have, too
                self._refused.give_back()
        finally:
            self.capture.close()
            self.owner.release(committed=False)
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
    return engine.adopt(
        EngineSession(engine, user, environment, engine.new_session_id(), client, interruption)
    )
