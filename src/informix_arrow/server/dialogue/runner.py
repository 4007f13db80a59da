"""Who runs what a client asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..engine.appending import BatchOutcome
from ..engine.positioned import UpdateRows
from ..engine.prepared import Outcome, Prepared, QueryResult
from ..errors import SqlError


class Runner(Protocol):
    """The calls of an engine's session by which a client's statements run, as `EngineSession` has them; somebody may
    stand between, who writes them down or makes them fail."""

    def prepare(self, sql: str, nparams: int = 0) -> Prepared: ...

    def query(self, prepared: Prepared, params: Sequence[object]) -> QueryResult: ...

    def open_for_update(self, prepared: Prepared, params: Sequence[object]) -> UpdateRows: ...

    def execute(self, prepared: Prepared, params: Sequence[object]) -> Outcome: ...

    def execute_many(
        self, prepared: Prepared, rows: Sequence[Sequence[object]], *, stop_at_error: bool = False
    ) -> list[Outcome | SqlError]: ...

    def execute_batch(
        self, prepared: Prepared, batch: Any, *, stop_at_error: bool = False
    ) -> BatchOutcome: ...

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...
