"""An engine session whose statements are written down (query_log.py) and can be told to fail (faults.py)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .appending import BatchOutcome
from .engine import Engine
from .engine_session import EngineSession
from .engine_types import Outcome, Prepared, QueryResult
from .errors import ISAM_INTERRUPTED, UNSUPPORTED, SqlError
from .faults import Fault, Faults
from .interrupts import INTERRUPTED
from .positioned import UpdateRows
from .query_log import Query, QueryLog, without_secrets
from .row_inserts import python_rows

log = logging.getLogger("informix_arrow.server")

T = TypeVar("T")

_LOST = -408
"""What the log says of a statement whose connection was cut to order; nobody is answered."""

_LOOK_SECONDS = 0.05


@dataclass(slots=True)
class _Watch:
    """What a watched session has beside an engine's, in one place: its names cannot get in the engine's way."""

    faults: Faults
    queries: QueryLog
    cut: Callable[[], None]
    released: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    inside: bool = False  # a statement that is written down is running
    dropped: bool = False  # the connection was cut to order: nothing more is run


class WatchedSession(EngineSession):
    """Only what the client asks for is written down and fails, not what a statement does in its turn.

    `cut` ends the connection. `release` comes from another thread when the session has to end, and ends a
    delay.
    """

    def __init__(
        self,
        engine: Engine,
        user: str,
        environment: dict[str, str],
        session_id: int,
        *,
        faults: Faults,
        queries: QueryLog,
        cut: Callable[[], None],
    ) -> None:
        super().__init__(engine, user, environment, session_id)
        self._watch = _Watch(faults, queries, cut)

    def release(self) -> None:
        self._watch.released.set()

    def end(self, seconds: float) -> None:
        """End the connection from another thread, and wait until the session is closed, at most so long."""
        self._watch.cut()
        self._watch.ended.wait(seconds)

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._watch.ended.set()

    # ---- what a client asks for ------------------------------------------------------------------------------

    def prepare(self, sql: str, nparams: int = 0) -> Prepared:
        if self._watch.inside:
            return super().prepare(sql, nparams)
        began = time.perf_counter()
        try:
            return super().prepare(sql, nparams)
        except SqlError as problem:
            log.log(
                logging.WARNING if problem.detail.startswith(UNSUPPORTED) else logging.INFO,
                "session %d: %s; the statement: %s",
                self.session_id,
                without_secrets(str(problem)),
                without_secrets(sql),
            )
            self._write_down(sql, nparams, began, problem=problem)
            raise

    def query(self, prepared: Prepared, params: Sequence[object]) -> QueryResult:
        return self._watched(
            prepared.sql,
            len(params),
            lambda: EngineSession.query(self, prepared, params),
            lambda result: result.rows,
        )

    def open_for_update(self, prepared: Prepared, params: Sequence[object]) -> UpdateRows:
        return self._watched(
            prepared.sql, len(params), lambda: EngineSession.open_for_update(self, prepared, params)
        )

    def execute(self, prepared: Prepared, params: Sequence[object]) -> Outcome:
        return self._watched(
            prepared.sql,
            len(params),
            lambda: EngineSession.execute(self, prepared, params),
            lambda outcome: outcome.rows,
        )

    def execute_many(
        self, prepared: Prepared, rows: Sequence[Sequence[object]], *, stop_at_error: bool = False
    ) -> list[Outcome | SqlError]:
        if not self._watch.inside and self._watch.faults.concerns(prepared.sql):
            return self._one_by_one(prepared, rows, stop_at_error)
        return self._watched(
            prepared.sql,
            len(prepared.parameters),
            lambda: EngineSession.execute_many(self, prepared, rows, stop_at_error=stop_at_error),
            lambda outcomes: sum(o.rows for o in outcomes if isinstance(o, Outcome)),
            len(rows),
            lambda outcomes: next((o for o in outcomes if isinstance(o, SqlError)), None),
        )

    def execute_batch(self, prepared: Prepared, batch: Any, *, stop_at_error: bool = False) -> BatchOutcome:
        if not self._watch.inside and self._watch.faults.concerns(prepared.sql):
            rows = python_rows(batch, prepared.parameters)
            return BatchOutcome.gathered(self._one_by_one(prepared, rows, stop_at_error))
        return self._watched(
            prepared.sql,
            len(prepared.parameters),
            lambda: EngineSession.execute_batch(self, prepared, batch, stop_at_error=stop_at_error),
            lambda outcome: outcome.inserted,
            batch.num_rows,
            lambda outcome: next(iter(outcome.errors.values()), None),
        )

    def _one_by_one(
        self, prepared: Prepared, rows: Sequence[Sequence[object]], stop_at_error: bool
    ) -> list[Outcome | SqlError]:
        outcomes: list[Outcome | SqlError] = []
        for row in rows:
            try:
                outcomes.append(self.execute(prepared, row))
            except SqlError as problem:
                outcomes.append(problem)
                if stop_at_error or self._watch.dropped:
                    break
        return outcomes

    def begin(self) -> None:
        self._watched("BEGIN WORK", 0, super().begin)

    def commit(self) -> None:
        self._watched("COMMIT WORK", 0, super().commit)

    def rollback(self) -> None:
        if self.closed:  # nobody has asked for it
            super().rollback()
        else:
            self._watched("ROLLBACK WORK", 0, super().rollback)

    # ---- watching --------------------------------------------------------------------------------------------

    def _watched(
        self,
        sql: str,
        parameters: int,
        run: Callable[[], T],
        rows: Callable[[T], int] = lambda _: 0,
        executions: int = 1,
        failure: Callable[[T], SqlError | None] = lambda _: None,
    ) -> T:
        if self._watch.inside:
            return run()
        if self._watch.dropped:  # what the client had sent behind it
            raise SqlError(_LOST)
        began = time.perf_counter()
        self._watch.inside = True
        try:
            fault = self._watch.faults.take(sql)
            if fault is not None:
                self._before(fault)
            result = run()
            if fault is not None and fault.drop:
                raise self._dropped()
        except SqlError as problem:
            if problem.detail.startswith(UNSUPPORTED):
                log.warning(
                    "session %d: %s; the statement: %s", self.session_id, problem, without_secrets(sql)
                )
            self._write_down(sql, parameters, began, 0, executions, problem)
            raise
        finally:
            self._watch.inside = False
        self._write_down(sql, parameters, began, max(rows(result), 0), executions, failure(result))
        return result

    def _before(self, fault: Fault) -> None:
        if fault.seconds:
            self._delay(fault.seconds)
        if fault.sqlcode:
            raise SqlError(fault.sqlcode, fault.isam, detail="as server.faults was told")
        if fault.drop and not fault.after:
            raise self._dropped()

    def _delay(self, seconds: float) -> None:
        self.interrupted.clear()  # what was meant for an earlier statement; a watcher that means this one says it again
        end = time.monotonic() + seconds
        while not self._watch.released.is_set() and (left := end - time.monotonic()) > 0:
            if self.interrupted.wait(min(left, _LOOK_SECONDS)):
                raise SqlError(INTERRUPTED, ISAM_INTERRUPTED)

    def _dropped(self) -> SqlError:
        self._watch.dropped = True
        self._watch.cut()
        return SqlError(_LOST, detail="the connection was cut, as server.faults was told")

    def _write_down(
        self,
        sql: str,
        parameters: int,
        began: float,
        rows: int = 0,
        executions: int = 1,
        problem: SqlError | None = None,
    ) -> None:
        unsupported = problem is not None and problem.detail.startswith(UNSUPPORTED)
        self._watch.queries.add(
            Query(
                self.session_id,
                self.database,
                without_secrets(sql),
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
