"""Statements of a client with logging (query_log.py) and fault injection (faults.py)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from ...wire.redaction import hide_secrets
from ..errors import ISAM_INTERRUPTED, UNSUPPORTED, SqlError
from ..handlers.interrupts import INTERRUPTED
from ..session.engine_session import EngineSession
from ..session.insert import python_rows
from ..session.prepared_plan import PreparedPlan, QueryResult, StatementOutcome
from ..session.table_appender import BatchOutcome
from ..session.update_cursor import UpdateCursorRows
from .faults import Fault, Faults
from .query_log import Query, QueryLog

log = logging.getLogger("informix_arrow.server")

T = TypeVar("T")

_CONNECTION_LOST = -408
"""SQLCODE in the log for a statement whose connection was closed by a fault; the client gets no reply."""

_POLL_SECONDS = 0.05


@dataclass(eq=False, repr=False)
class InstrumentedExecutor:
    """A `StatementExecutor` between a protocol session and its engine session.

    Only requests of the client pass through it, so statements inside routines and triggers are not logged and do not
    fail.

    Parameters
    ----------
    session
        Runs the statements.
    faults, queries
        Those of the server.
    cut
        Closes the connection.
    """

    _session: EngineSession
    _faults: Faults
    _query_log: QueryLog
    _close_connection: Callable[[], None]
    _released: threading.Event = field(default_factory=threading.Event, init=False)
    # The connection was closed by a fault: nothing more runs.
    _dropped: bool = field(default=False, init=False)

    def release(self) -> None:
        """End a delay now because the session has to end. Called from another thread."""
        self._released.set()

    # ---- requests of the client ------------------------------------------------------------------------------

    def prepare(self, sql: str, nparams: int = 0) -> PreparedPlan:
        began = time.perf_counter()
        try:
            return self._session.prepare(sql, nparams)
        except SqlError as problem:
            log.log(
                logging.WARNING if problem.detail.startswith(UNSUPPORTED) else logging.INFO,
                "Session %d: A statement was refused (%s): %s",
                self._session.session_id,
                hide_secrets(str(problem)),
                hide_secrets(sql),
            )
            self._log_query(sql, nparams, began, problem=problem)
            raise

    def query(self, prepared: PreparedPlan, params: Sequence[object]) -> QueryResult:
        return self._run_logged(
            prepared.sql,
            len(params),
            partial(self._session.query, prepared, params),
            lambda result: result.rows,
        )

    def open_for_update(self, prepared: PreparedPlan, params: Sequence[object]) -> UpdateCursorRows:
        return self._run_logged(
            prepared.sql, len(params), lambda: self._session.open_for_update(prepared, params)
        )

    def execute(self, prepared: PreparedPlan, params: Sequence[object]) -> StatementOutcome:
        return self._run_logged(
            prepared.sql,
            len(params),
            lambda: self._session.execute(prepared, params),
            lambda outcome: max(outcome.rows, 0),
        )

    def execute_many(
        self, prepared: PreparedPlan, rows: Sequence[Sequence[object]], *, stop_at_error: bool = False
    ) -> list[StatementOutcome | SqlError]:
        if self._faults.has_matching(prepared.sql):
            return self._one_by_one(prepared, rows, stop_at_error)
        return self._run_logged(
            prepared.sql,
            len(prepared.parameters),
            lambda: self._session.execute_many(prepared, rows, stop_at_error=stop_at_error),
            lambda outcomes: sum(o.rows for o in outcomes if isinstance(o, StatementOutcome)),
            len(rows),
            lambda outcomes: next((o for o in outcomes if isinstance(o, SqlError)), None),
        )

    def execute_batch(
        self, prepared: PreparedPlan, batch: Any, *, stop_at_error: bool = False
    ) -> BatchOutcome:
        if self._faults.has_matching(prepared.sql):
            rows = python_rows(batch, prepared.parameters)
            return BatchOutcome.from_outcomes(self._one_by_one(prepared, rows, stop_at_error))
        return self._run_logged(
            prepared.sql,
            len(prepared.parameters),
            lambda: self._session.execute_batch(prepared, batch, stop_at_error=stop_at_error),
            lambda outcome: outcome.inserted,
            batch.num_rows,
            lambda outcome: next(iter(outcome.errors.values()), None),
        )

    def _one_by_one(
        self, prepared: PreparedPlan, rows: Sequence[Sequence[object]], stop_at_error: bool
    ) -> list[StatementOutcome | SqlError]:
        outcomes: list[StatementOutcome | SqlError] = []
        for row in rows:
            try:
                outcomes.append(self.execute(prepared, row))
            except SqlError as problem:
                outcomes.append(problem)
                if stop_at_error or self._dropped:
                    break
        return outcomes

    def begin(self) -> None:
        self._run_logged("BEGIN WORK", 0, self._session.begin)

    def commit(self) -> None:
        self._run_logged("COMMIT WORK", 0, self._session.commit)

    def rollback(self) -> None:
        self._run_logged("ROLLBACK WORK", 0, self._session.rollback)

    # ---- logging and faults ----------------------------------------------------------------------------------

    def _run_logged(
        self,
        sql: str,
        parameters: int,
        run: Callable[[], T],
        rows: Callable[[T], int] | None = None,
        executions: int = 1,
        failure: Callable[[T], SqlError | None] | None = None,
    ) -> T:
        if self._dropped:  # the client had sent this request ahead
            raise SqlError(_CONNECTION_LOST)
        began = time.perf_counter()
        try:
            fault = self._faults.pop_matching(sql)
            if fault is not None:
                self._apply_fault(fault)
            result = run()
            if fault is not None and fault.drops_connection:
                raise self._drop()
        except SqlError as problem:
            if problem.detail.startswith(UNSUPPORTED):
                log.warning(
                    "Session %d: A statement was refused (%s): %s",
                    self._session.session_id,
                    hide_secrets(str(problem)),
                    hide_secrets(sql),
                )
            self._log_query(sql, parameters, began, 0, executions, problem)
            raise
        count = 0 if rows is None else rows(result)
        problem_in = None if failure is None else failure(result)
        self._log_query(sql, parameters, began, count, executions, problem_in)
        return result

    def _apply_fault(self, fault: Fault) -> None:
        if fault.seconds:
            self._delay(fault.seconds)
        if fault.sqlcode:
            raise SqlError(
                fault.sqlcode, fault.isam, detail="The error was raised by a rule of server.faults."
            )
        if fault.drops_connection and not fault.after:
            raise self._drop()

    def _delay(self, seconds: float) -> None:
        # An earlier interrupt was meant for an earlier statement. One for this statement is repeated.
        self._session.interrupted.clear()
        end = time.monotonic() + seconds
        while not self._released.is_set() and (remaining := end - time.monotonic()) > 0:
            if self._session.interrupted.wait(min(remaining, _POLL_SECONDS)):
                raise SqlError(INTERRUPTED, ISAM_INTERRUPTED)

    def _drop(self) -> SqlError:
        self._dropped = True
        self._close_connection()
        return SqlError(_CONNECTION_LOST, detail="The connection was closed by a rule of server.faults.")

    def _log_query(
        self,
        sql: str,
        parameters: int,
        began: float,
        rows: int = 0,
        executions: int = 1,
        problem: SqlError | None = None,
    ) -> None:
        unsupported = problem is not None and problem.detail.startswith(UNSUPPORTED)
        self._query_log.add(
            Query(
                self._session.session_id,
                self._session.database,
                hide_secrets(sql),
                parameters,
                rows,
                time.perf_counter() - began,
                0 if problem is None else problem.sqlcode,
                0 if problem is None else problem.isamcode,
                executions,
                # Other details may quote the values of parameters.
                problem.detail if problem is not None and unsupported else "",
            )
        )
