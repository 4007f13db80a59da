"""One session of the engine: what it is made of, and its statements prepared, described, run."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
import time
from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary, proxy

import duckdb
import pyarrow as pa

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..errors import SqlError
from ..grammar.classify import Control
from ..grammar.spl.nodes import DropRoutine, Routine
from ..planning.plans import ROUTINE_CALL, CallPlan, InsertPlan, ModifyPlan, Plan, SelectPlan, StatementPlan
from ..schema.catalog import TableInfo
from ..types.result_cast import cast_table, result_type
from ..types.row_values import RowValues
from .appending import Appender, BatchOutcome
from .calling import Registered, RoutineAnswer, UserRoutine
from .capture_calls import CaptureCalls
from .controls import Controls
from .current_database import CurrentDatabase
from .ddl import late, permits
from .ddl import statements as ddl
from .ddl.tables import create_from_select
from .ddl.workbench import Workbench
from .duck_transaction import DuckTransaction
from .engine import Engine
from .environment import Environment
from .isolation import Isolation
from .literal_rows import literal_row
from .lob_calls import CallingResult, ObjectCalls
from .lobs import LargeObjects
from .lock_owner import LockOwner
from .modifying import Modifier
from .one_row import OneRow
from .opening import Opening
from .plan_cache import LONGEST_TEXT, PlanCache
from .positioned import Positioned, UpdateRows
from .prepared import FewRows, Outcome, PlainRows, Prepared, QueryResult
from .reading import TextReader
from .references import References
from .refused_objects import RefusedObjects
from .renamed_plans import RenamedPlans, about
from .rights import Rights
from .row_changes import RowChanges
from .row_inserts import Inserts, python_rows, takes_batches
from .running import Runner, plain_table, values_in
from .schema_changes import SchemaChanges
from .session_tables import SessionTables
from .session_values import SessionValues
from .statement_planner import StatementPlanner
from .streamed_result import StreamedResult, batch_rows, whole_result
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

    def __init__(self, engine: Engine, user: str, environment: Mapping[str, str], session_id: int) -> None:
        self.engine = engine
        self.session_id = session_id
        self.since = time.time()
        self.closed = False
        self.interrupted = threading.Event()
        self.cursors: MutableMapping[str, Positioned] = WeakValueDictionary()
        self._plans = PlanCache()  # this session's, its own and shared ones
        self._renamed = RenamedPlans()
        self._latest: tuple[Prepared | None, object] = None, None  # what was prepared last, and as of what

        # who it is, and what it has open
        self.environment = Environment(user, environment, session_id, engine.server_name, engine.version)
        self.values = SessionValues(self.environment)
        self.current = CurrentDatabase(engine.databases)
        self.schema = SchemaChanges(engine.schema_version)
        self.numbers = engine.numbers
        self.registered: Mapping[str, Sequence[Registered]] = engine.registered

        # its transaction
        self.owner = LockOwner(engine.locks, self.interrupted)
        self._duck = DuckTransaction(engine.connect(), engine.locks, self.interrupted, engine.temporary)
        changes = RowChanges(engine.changes, engine.databases, user, engine.temporary)
        self.transaction = Transaction(self._duck, self.owner, self.current, self.schema, changes)
        self.rights = Rights(
            self.environment, self.transaction, self.current, self.schema, engine.administrators
        )

        # what its statements can name
        self.reader = TextReader(self.environment, self.current)
        self.tables = SessionTables(self.transaction, self.current, self.schema, self.reader, engine.changes)
        self.types = UserTypes(self.transaction, self.current, self.schema, self.numbers)
        self.lobs = LargeObjects(self.transaction, self.current, self.numbers)
        self.objects = ObjectCalls(self.lobs)
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
        self._inserts = Inserts(self.environment, self.runner, self.transaction, appender, one_row, triggers)
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
        state = self._state()
        prepared = self._read(sql)
        self._latest = prepared, state
        return prepared

    def _state(self) -> tuple[int, int]:
        """What plans that the session has hold for, as others leave it just now."""
        if self.current.name is not None:
            self.schema.look()
        return self.schema.stamp, self.current.databases.changes

    def _read(self, sql: str) -> Prepared:
        row = literal_row(sql)
        key: Hashable = sql if row is None else row.pattern
        kept = self._plans.get((self.current.name, key), self.schema.stamp)
        if kept is not None:
            return kept if row is None else row.filled(kept, sql)
        fixed, databases = self._text_key(key), self.current.databases.changes
        subject = about(sql, row, self.schema.temp_tables)
        alike = None if subject is None else self._text_key(subject.pattern)
        prepared = None if subject is None else self._renamed.get(alike, subject.table, sql)
        if prepared is not None:
            self._plans.put((self.current.name, key), self.schema.stamp, prepared)
            return prepared if row is None else row.filled(prepared, sql)
        prepared = self.engine.fixed_plans.get(fixed, databases)
        if prepared is not None and self.schema.temp_tables.keys().isdisjoint(
            t.name for t in prepared.plan.tables
        ):
            return prepared
        shared = fixed if self._shared(sql) else None
        version = self.engine.schema_version.number
        prepared = self.engine.plans.get(shared, version) if shared else None
        if prepared is None:
            prepared = self._planned(sql)
            if row is not None and not row.is_of(prepared):
                return prepared
            # Of a change of the schema in the meantime nobody knows which side of it was seen.
            if shared and not prepared.own and version == self.engine.schema_version.number:
                self.engine.plans.put(shared, version, prepared)
            if subject is not None:
                self._renamed.put(alike, subject.table, prepared)
        if len(sql) <= LONGEST_TEXT:
            if isinstance(prepared.plan, SelectPlan) and prepared.plan.fixed:
                self.engine.fixed_plans.put(fixed, databases, prepared)
            if not isinstance(prepared.plan, StatementPlan):
                self._plans.put((self.current.name, key), self.schema.stamp, prepared)
        return prepared if row is None else row.filled(prepared, sql)

    def _shared(self, sql: str) -> bool:
        """Whether the plan of a text may be other sessions', too: this one sees the same schema as they do, and no old
        one."""
        return not self.schema.temp_tables and self.transaction.untouched and len(sql) <= LONGEST_TEXT

    def _text_key(self, text: Hashable) -> tuple[object, ...]:
        """What a text's plan depends on besides what it names."""
        environment = self.environment
        return (
            self.current.name,
            environment.user,
            self.rights.role,
            environment.dbdate,
            environment.delimident,
            environment.codec,
            text,
        )

    def _planned(self, sql: str) -> Prepared:
        kind, plan, own = self.planner.plan_typed(sql)
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
            columns = () if plan.merges else plan.columns
        returns_rows = (isinstance(plan, SelectPlan) and plan.into is None) or (
            isinstance(plan, CallPlan) and bool(columns)
        )
        for_update = isinstance(plan, SelectPlan) and plan.for_update
        values = None
        if (
            isinstance(plan, SelectPlan)
            and not (plan.into or plan.shown or any(plan.calls))
            and (plan.few or plan.fixed or (plan.tables and all(table.temporary for table in plan.tables)))
        ):
            values = RowValues.of(columns, plan.packed)
        return Prepared(sql, int(kind), columns, parameters, returns_rows, for_update, plan, own, values)

    def _current(self, prepared: Prepared, params: Sequence[object]) -> Prepared:
        """The statement as it must be run now: planned again when the schema has changed since."""
        if len(params) != len(prepared.parameters):
            raise SqlError(-254)
        if isinstance(prepared.plan, StatementPlan):
            self.start_statement()
            if not isinstance(prepared.plan.statement, Control):
                self.transaction.begin_implicitly()
            return prepared
        self.transaction.begin_implicitly()
        self.start_statement()
        latest, state = self._latest
        if prepared is latest and state == self._state():
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
        values = self.runner.bind(plan.needs, params)
        if plan.for_update:
            self.isolation.lock_all(plan, values)
        self.isolation.before_query(plan, values)
        sql, codec = plan.shown or plan.sql, self.environment.codec
        if plan.fixed and sql == plan.sql:
            found = self._few_of_kept(prepared, plan, values)
            if found is None:
                found = self._few_fixed(prepared, plan, sql, values)
            if found is not None:
                return found
        objects = prepared.values  # another session may run the same
        if objects is not None and ROUTINE_CALL not in sql:
            few = self._late(prepared, objects, plan)
            if few is None:
                few = self._few(prepared, objects, plan, sql, values)
            if few is not None:
                return few
        if not any(plan.calls):
            rows = self.runner.stream(sql, values, batch_rows(prepared.columns))
            if rows is None:
                spool = self.runner.spooled(sql, values, batch_rows(prepared.columns))
                return whole_result(prepared.columns, spool, codec, plan.packed)
            table = rows.whole()
            prepared.ran(table, plan)
            if table is None:
                return StreamedResult(prepared.columns, rows, codec, plan.packed)
            return QueryResult(prepared.columns, cast_table(table, prepared.columns, codec, plan.packed))
        table = self._whole(sql, values)
        kept = cast_table(table, prepared.columns, codec, plan.packed, plan.calls)
        schema = pa.schema([(c.name, result_type(c.type)) for c in prepared.columns])
        return CallingResult(prepared.columns, kept, schema, plan.calls, self.objects.call)

    def _late(self, prepared: Prepared, objects: RowValues, plan: SelectPlan) -> QueryResult | None:
        """The rows of a query of a temporary table that DuckDB has not been told of; None for any other."""
        rows = None if plan.plain is None else self.transaction.late_rows(plan.tables[0].duck)
        if rows is None or plan.plain is None:
            return None
        return self._of_objects(prepared, objects, plan.plain.of(rows))

    def _of_objects(
        self, prepared: Prepared, objects: RowValues, rows: Sequence[Sequence[Any]]
    ) -> QueryResult | None:
        """Few rows as a result; None where they have to be taken as others are."""
        codec = self.environment.codec
        if objects.plain(rows, codec):
            return PlainRows(prepared.columns, rows, objects, codec)
        batch = objects.batch(rows, codec)
        return None if batch is None else FewRows(prepared.columns, batch)

    def _few(
        self, prepared: Prepared, objects: RowValues, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult | None:
        """The rows of a query that has few; None where they have to be taken as others are."""
        named = values_in(sql, values)
        if plan.few:
            return self._of_objects(prepared, objects, self.transaction.rows(sql, named))
        most = prepared.most_objects
        if not prepared.few and not 0 <= self.schema.most_rows(plan.tables) < most:
            return None
        _, rows = self.transaction.first_rows(sql, named, most)
        few = None if len(rows) == most else self._of_objects(prepared, objects, rows)
        if few is None:  # not tried again: it was run in vain
            prepared.few, prepared.values = False, None
        return few

    def _few_of_kept(
        self, prepared: Prepared, plan: SelectPlan, values: dict[str, object]
    ) -> QueryResult | None:
        """The rows of a query of the catalogue from rows that are kept; None where it must be run as it is."""
        if plan.kept is None or not self.transaction.untouched:
            return None
        of_schema = {f"s_{name}": values[f"s_{name}"] for name in plan.needs.uses}
        found = self.engine.catalogue_rows.query(plan.kept, self.current.name, of_schema, values)
        if found is None:
            return None
        objects = prepared.values
        if found.chosen is not None and objects is not None:
            few = self._of_objects(prepared, objects, found.chosen)
            if few is not None:
                return few
        try:
            _, places = self.runner.at_once(found.places, values) if found.places and objects else ([], None)
            if places is not None and objects is not None:
                few = self._of_objects(prepared, objects, [found.rows[place] for (place,) in places])
                if few is not None:
                    return few
            return self._few_fixed(prepared, plan, found.sql, values)
        except SqlError as problem:
            if problem.sqlcode == -213:
                raise
            return (
                None  # the schema has changed in this moment, and they are gone; or the query says it itself
            )

    def _few_fixed(
        self, prepared: Prepared, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult | None:
        """The rows of a query of the catalogue; None where they are many, or of types that have to be taken as others
        are."""
        names, rows = self.runner.at_once(sql, values)
        if rows is None:
            return None
        codec, objects = self.environment.codec, prepared.values
        few = None if objects is None else self._of_objects(prepared, objects, rows)
        if few is not None:
            return few
        small = plain_table(names, rows)
        if small is None:
            return None
        return QueryResult(prepared.columns, cast_table(small, prepared.columns, codec, plan.packed))

    def _whole(self, sql: str, values: dict[str, object]) -> pa.Table:
        return self.transaction.read(lambda: self.runner.arrow(sql, values))

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
            self.schema.grew(plan.info, outcome.rows)
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
            later = late.run(self._bench, statement)
            outcome = Outcome() if later else Outcome(self.transaction.write(lambda: self._define(statement)))
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
                self.schema.grew(plan.info, len(rows))
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
                self.schema.grew(plan.info, outcome.inserted)
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
        return ddl.run(self._bench, statement)

    def _select_into(self, plan: SelectPlan, params: Sequence[object]) -> Outcome:
        assert plan.into is not None
        name, temporary = plan.into
        values = self.runner.bind(plan.needs, params)
        self.isolation.before_query(plan, values)
        make = partial(create_from_select, self._bench, name, plan, temporary, values)
        rows = self.transaction.write(make)
        made = self.schema.temp_tables.get(name)
        if made is not None:
            self.schema.grew(made, rows)
        return Outcome(rows=rows)

    # ---- end ------------------------------------------------------------------------------------
    def start_statement(self) -> None:
        """What was meant for an earlier statement is over."""
        self.values.now = dt.datetime.now()
        if self.interrupted.is_set():
            self.interrupted.clear()
        self.transaction.take_up()

    def interrupt(self) -> None:
        """Make the running statement fail with -213; nothing happens when none is running."""
        self.interrupted.set()
        if not self.closed:
            self.owner.locks.wake()
            self.capture.wake()
            self._duck.interrupt()

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


def open_session(engine: Engine, user: str, environment: Mapping[str, str]) -> EngineSession:
    """Begin a session; `environment` is that of the login (DBDATE, DB_LOCALE, DELIMIDENT)."""
    return engine.adopt(EngineSession(engine, user, environment, engine.new_session_id()))


def _insert_columns(plan: InsertPlan) -> tuple[Column, ...]:
    found = []
    for name in plan.targets:
        column = plan.info.column(name)
        if column is not None:
            found.append(Column(name, column.type))
    return tuple(found)
