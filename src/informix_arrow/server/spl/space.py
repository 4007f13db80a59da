"""All that a session has for routines."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

from ...wire.types import ColumnType
from ..errors import ISAM_INTERRUPTED, SqlError, not_supported
from ..sql.plans import CallPlan, SelectPlan
from . import codes
from .calls import plan_call
from .embedded import Reader, Row
from .frames import Globals
from .nodes import ExecuteRoutine
from .registry import Callee, Registry
from .sql_calls import SqlCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..engine_session import EngineSession

T = TypeVar("T")


class Routines(Registry):
    """The routines that a session can call, its global variables, and its calls from SQL."""

    def __init__(self, session: EngineSession) -> None:
        super().__init__(session)
        self.globals = Globals()
        self.calls = SqlCalls(session)
        self._conversions: dict[tuple[ColumnType, ColumnType], Row] = {}

    def plan_call(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """EXECUTE or CALL of a client (calls.py)."""
        return plan_call(self.session, statement)

    def require_here(self, database: str | None) -> None:
        """Refuse a routine of another database than the open one."""
        if database is not None and database != self.session.database:
            raise not_supported(f"a routine of another database, {database}")

    def settled(self, sql: str, run: Callable[[], T]) -> T:
        """Run a query whose text may call routines (sql_calls.py)."""
        return self.calls.settled(sql, run)

    def check_interrupt(self) -> None:
        """SqlError -213 when the session has been asked to stop."""
        if self.session.interrupted.is_set():
            raise SqlError(codes.INTERRUPTED, ISAM_INTERRUPTED)

    def converted(self, value: object, source: ColumnType, target: ColumnType) -> object:
        """A value in the storage form of one type in that of another."""
        if value is None or source == target:
            return value
        row = self._conversions.get((source, target))
        if row is None:
            item = exp.Column(this=exp.Identifier(this="value", quoted=False))
            row = Reader(self.session, {"value": source}).row([item], [target])
            self._conversions[source, target] = row

        def none(callee: Callee, arguments: Sequence[object]) -> tuple[object, ...]:
            raise AssertionError("a conversion calls nothing")

        return row.values(self.session, lambda _: value, none)[0]
