"""The protocol for the execution of a client's statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..errors import SqlError
from ..session.prepared_plan import PreparedPlan, QueryResult, StatementOutcome
from ..session.table_appender import BatchOutcome
from ..session.update_cursor import UpdateCursorRows


class StatementExecutor(Protocol):
    """Runs a client's statements: the methods of `EngineSession`, or of a wrapper that logs them or makes them fail."""

    def prepare(self, sql: str, nparams: int = 0) -> PreparedPlan: ...

    def query(self, prepared: PreparedPlan, params: Sequence[object]) -> QueryResult: ...

    def open_for_update(self, prepared: PreparedPlan, params: Sequence[object]) -> UpdateCursorRows: ...

    def execute(self, prepared: PreparedPlan, params: Sequence[object]) -> StatementOutcome: ...

    def execute_many(
        self, prepared: PreparedPlan, rows: Sequence[Sequence[object]], *, stop_at_error: bool = False
    ) -> list[StatementOutcome | SqlError]: ...

    def execute_batch(
        self, prepared: PreparedPlan, batch: Any, *, stop_at_error: bool = False
    ) -> BatchOutcome: ...

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...
