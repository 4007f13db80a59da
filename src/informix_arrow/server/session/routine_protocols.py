"""Protocols between a session and the layer that runs routines. The session knows nothing of how they run."""

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
    """A Python callable registered as a routine."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[ColumnType, ...]
    returns: tuple[ColumnType, ...]


def python_routine(
    name: str, function: Callable[..., Any], parameters: Sequence[str], returns: Sequence[str]
) -> PythonRoutine:
    """Return a Python callable as a routine, given Informix names of its types.

    Raises ValueError for an invalid type.
    """
    return PythonRoutine(
        name.strip().lower(),
        function,
        tuple(ColumnType.parse_sql(t) for t in parameters),
        tuple(ColumnType.parse_sql(t) for t in returns),
    )


@dataclass(frozen=True, slots=True)
class RoutineReference:
    """A reference to a routine by signature.

    `types` are the argument types (a None in it: unknown), or None if the reference has none. Alternatively a `number`
    identifies a routine of a database, and `name` is then the database.
    """

    name: str
    types: tuple[ColumnType | None, ...] | None
    number: int = 0


@dataclass(frozen=True, slots=True)
class RoutineCallResult:
    """One row of a call without SQL, as types and values: the final OUT and INOUT values, and the returned values.

    `arguments` has the type of each argument and whether it is OUT or INOUT.
    """

    arguments: tuple[tuple[ColumnType, bool], ...]
    out_values: tuple[tuple[ColumnType, object], ...]
    returned: tuple[tuple[ColumnType, object], ...]


class RoutinesInSql(UserRoutines, Protocol):
    """The routines that SQL calls, and their results. A routine cannot run while DuckDB runs the text."""

    def run_with_results(
        self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None
    ) -> T:
        """Return the result of `run`, which runs `sql`, once every call in it has its result.

        If `run` must be executed only once, `ahead` is run before it, repeatedly, to find the calls.
        """

    def result_scope(self) -> AbstractContextManager[None]:
        """Remember results for the duration of one statement."""

    def bind_results(self, sql: str) -> str:
        """Return a write's text with the current results of its calls.

        For use inside `result_scope`, after `run_with_results`.
        """


class ClientCalls(Protocol):
    """EXECUTE FUNCTION, EXECUTE PROCEDURE and CALL as statements of a client."""

    def plan(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """Return statement type and plan. Raises -674 for an unknown routine."""

    def execute(self, plan: CallPlan, params: Sequence[object]) -> StatementOutcome:
        """Run a call that returns nothing."""

    def query(self, plan: CallPlan, params: Sequence[object]) -> QueryResult:
        """Run a call to its end and return its rows."""


class TriggerActions(Protocol):
    """Runs the actions of triggers."""

    def run_actions(
        self,
        info: TableInfo,
        trigger: TriggerInfo,
        section: str,
        old: Mapping[str, object],
        new: Mapping[str, object],
    ) -> dict[str, object]:
        """Run the actions of a trigger's `section` (before, each, after) inside a write, with the old and new values of
        a row.

        Returns the columns that the actions assigned other values to.
        """


class SessionRoutines(Protocol):
    """All operations on routines that a session needs."""

    in_sql: RoutinesInSql
    client_calls: ClientCalls
    trigger_actions: TriggerActions

    def define_routine(self, statement: Routine | DropRoutine) -> int:
        """Create or drop a routine, inside a write; return the rows affected."""

    def find_routines(
        self, name: str, types: Sequence[ColumnType] | None, *, specific: bool
    ) -> list[tuple[int, str]]:
        """Return number and owner of the database's routines of a name.

        `types` restricts them to those with these argument types; `specific` means that it is a specific name.
        """

    def require_routine(self, reference: RoutineReference) -> None:
        """Raise -674 if there is no such routine, or if several have a name that is given without parameter types."""

    def call_named(self, reference: RoutineReference, arguments: Sequence[object]) -> RoutineCallResult:
        """Call a routine that returns at most one row.

        Raises -664 for a wrong number of arguments and -686 for several rows.
        """
