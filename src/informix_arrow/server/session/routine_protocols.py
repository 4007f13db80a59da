"""What a session asks of whoever runs routines, and what it is told of them. How they run is not known here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..catalog.trigger_tables import TriggerInfo
from ..parse.spl.nodes import DropRoutine, ExecuteRoutine, Routine
from ..plan.context import UserRoutines
from ..plan.plans import CallPlan, SelectPlan
from .prepared_plan import QueryResult, StatementOutcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PythonRoutine:
    """A Python callable under the name of a routine."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[ColumnType, ...]
    returns: tuple[ColumnType, ...]


def python_routine(
    name: str, function: Callable[..., Any], parameters: Sequence[str], returns: Sequence[str]
) -> PythonRoutine:
    """A Python callable as a routine, from Informix's names of its types. ValueError for a type that is none."""
    return PythonRoutine(
        name.strip().lower(),
        function,
        tuple(ColumnType.parse_sql(t) for t in parameters),
        tuple(ColumnType.parse_sql(t) for t in returns),
    )


@dataclass(frozen=True, slots=True)
class RoutineReference:
    """What a signature names: `types` are those of its arguments (None: not known), None when it gives none. Or the
    routine of a `number` in a database, whose name stands in place of the routine's."""

    name: str
    types: tuple[ColumnType | None, ...] | None
    number: int = 0


@dataclass(frozen=True, slots=True)
class RoutineCallResult:
    """One row of a call without SQL, as types and values: what OUT and INOUT parameters have at its end, and what the
    routine returned. `arguments` are the types of those that were given, and whether each is OUT or INOUT."""

    arguments: tuple[tuple[ColumnType, bool], ...]
    out_values: tuple[tuple[ColumnType, object], ...]
    returned: tuple[tuple[ColumnType, object], ...]


class RoutineCallPlanner(UserRoutines, Protocol):
    """Calls of routines, when a statement is planned."""

    def plan_call(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """EXECUTE or CALL by a client: the statement's type and its plan. -674 for a routine that is not there."""


class RoutineResultProvider(Protocol):
    """Answers of the routines that a text calls, when it is run (a routine cannot run while DuckDB does)."""

    def run_with_results(
        self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None
    ) -> T:
        """What `run` gives, which runs `sql`, once every call in it has its answer. `ahead` is run before, again and
        again, where what `run` does must be done once."""

    def result_scope(self) -> AbstractContextManager[None]:
        """Around one statement: answers are remembered until its end."""

    def bind_results(self, sql: str) -> str:
        """A write's text with the answers that its calls have now; inside `result_scope`, behind `run_with_results`."""


class TriggerActions(Protocol):
    """What triggers do."""

    def run_actions(
        self,
        info: TableInfo,
        trigger: TriggerInfo,
        section: str,
        old: Mapping[str, object],
        new: Mapping[str, object],
    ) -> dict[str, object]:
        """Run the actions of a trigger's `section` (before, each, after), inside a write, with the values of a row
        before and after; the columns that were given other values."""


class SessionRoutines(RoutineCallPlanner, RoutineResultProvider, TriggerActions, Protocol):
    """All that a session has of its routines."""

    def execute(self, plan: CallPlan, params: Sequence[object]) -> StatementOutcome:
        """Run a call that returns nothing."""

    def query(self, plan: CallPlan, params: Sequence[object]) -> QueryResult:
        """Run a call to its end; the rows that it returned."""

    def define_routine(self, statement: Routine | DropRoutine) -> int:
        """CREATE or DROP of a routine, inside a write; rows affected."""

    def find_routines(
        self, name: str, types: Sequence[ColumnType] | None, *, specific: bool
    ) -> list[tuple[int, str]]:
        """Number and owner of the database's routines of a name, with arguments of these types where they are given,
        or of a `specific` name."""

    def require_routine(self, wanted: RoutineReference) -> None:
        """-674 when there is no such routine, and for a bare name that several have."""

    def call_named(self, wanted: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row. -664 for a wrong number of arguments, -686 for several
        rows."""
