"""One session of the engine: statements prepared, described, run. No sockets and no bytes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import pyarrow as pa

from ..wire.capabilities import locale_code
from ..wire.describe import Column
from ..wire.types import ColumnType
from . import controls, ddl
from .appending import BatchOutcome
from .catalog import attached, first_row
from .conversions import Stored
from .databases import OTHER_LOCALE
from .engine_types import Outcome, Prepared, QueryResult
from .errors import SqlError
from .lob_calls import CallingResult, call
from .modifying import modify
from .nested_writes import NestedWrites
from .plan_cache import LONGEST_TEXT, PlanCache
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
from .spl import calls as spl_calls
from .spl import catalog as spl_catalog
from .spl.nodes import DropRoutine, Routine
from .spl.space import Routines
from .sql.classify import Control
from .sql.plans import CallPlan, InsertPlan, ModifyPlan, Plan, SelectPlan, StatementPlan

if TYPE_CHECKING:
    from .engine import Engine


class EngineSession(NestedWrites, RunningSession):
    """One session. Used by one thread at a time; only `interrupt` may come from another."""

    def __init__(self, engine: Engine, user: str, environment: dict[str, str], session_id: int) -> None:
        super().__init__(engine, user, environment, session_id)
        self.routines = Routines(self)
        self._plans = PlanCache()  # this session's, its own and shared ones
        self.cursors: WeakValueDictionary[str, UpdateRows] = WeakValueDictionary()

    # ---- databases ----------------------------------------------------------------------------
    def open_database(self, name: str) -> int:
        """Open a database and close the one that is open; the warnings of SQ_DBOPEN's answer. -329
        unknown."""
        name = name.strip().lower().partition("@")[0]
        record = self.engine.databases.get(name)
        if self.database is not None:
            self.close_database()
        self.con.execute(f"USE {attached(name)}")
        self.database = name
        self.locale = locale_code(record.locale)
        self._converters.clear()
        self._forget_tables()
        return record.warnings | (0 if self._expects(record.locale) else OTHER_LOCALE)

    def _expects(self, locale: str) -> bool:
        """Whether the login named no DB_LOCALE, or this one."""
        named = self.environment.get("DB_LOCALE")
        try:
            return named is None or locale_code(named) == locale_code(locale)
        except ValueError:  # a name that nobody knows
            return False

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
        kept = self._plans.get(sql, self.stamp)
        if kept is not None:
            return kept
        shared, version = self._shared_key(sql), self.engine.schema_version
        prepared = self.engine.plans.get(shared, version) if shared else None
        if prepared is None:
            prepared = self._planned(sql)
            # Of a change of the schema in the meantime nobody knows which side of it was seen.
            if shared and not prepared.own and version == self.engine.schema_version:
                self.engine.plans.put(shared, version, prepared)
        if not isinstance(prepared.plan, StatementPlan) and len(sql) <= LONGEST_TEXT:
            self._plans.put(sql, self.stamp, prepared)
        return prepared

    def _shared_key(self, sql: str) -> tuple[object, ...] | None:
        """What a text's plan depends on besides the schema; None where this session sees another schema than others, or
        may see an old one."""
        if self.temp_tables or self.defining or self._open or len(sql) > LONGEST_TEXT:
            return None
        return self.database, self.user, self.dbdate, self.delimident, sql

    def _planned(self, sql: str) -> Prepared:
        kind, plan, own = self.plan_typed(sql)
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
        return Prepared(sql, int(kind), columns, parameters, returns_rows, for_update, plan, own)

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
