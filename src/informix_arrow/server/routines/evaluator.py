"""Evaluation of the expressions and queries of one call of a routine, with its variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...wire.types import ColumnType
from ..errors import SqlError
from ..parse.spl import codes
from ..parse.spl import nodes as n
from ..session.row_spool import RowSpool
from ..session.session_services import SessionServices
from .conversions import ResultConversions
from .frames import CallFrame
from .registry import Callee, RoutineRegistry
from .sql_compiler import CompiledArguments, CompiledExpressions, CompiledQuery, InvokeRoutine, SqlCompiler

T = TypeVar("T")
StoredValues = tuple[object, ...]

_CURRENT_OF = re.compile(r"\bCURRENT\s+OF\s+(\w+)", re.IGNORECASE)


@dataclass(eq=False, repr=False)
class RoutineEvaluator:
    """Evaluates expressions for one call. `frame` has its variables. `invoke` calls other routines for a single row.

    The plans of a routine's texts are cached with the routine, for all its calls.
    """

    _session: SessionServices
    _registry: RoutineRegistry
    _conversions: ResultConversions
    _callee: Callee
    frame: CallFrame
    invoke: InvokeRoutine

    # ---- variables ----------------------------------------------------------------------------
    def assign(self, name: str, value: object) -> None:
        """Assign a Python value to a variable."""
        cell = self.frame.cell(name)
        cell.value = self._session.environment.converter(cell.type).convert(value)

    def assign_stored(self, names: Sequence[str], values: Sequence[object]) -> None:
        """Assign values in storage form to variables."""
        for name, value in zip(names, values, strict=True):
            self.frame.cell(name).value = value

    def assign_converted(self, callee: Callee, names: Sequence[str], values: Sequence[object]) -> None:
        """Assign a routine's return values to variables, which may have other types."""
        if len(names) != len(values):
            raise SqlError(
                codes.TOO_MANY_VALUES if len(values) > len(names) else codes.TOO_FEW_VALUES, 0, 0, callee.name
            )
        sources = [t for _, t in callee.returns]
        for name, value, source in zip(names, values, sources, strict=True):
            cell = self.frame.cell(name)
            cell.value = self._conversions.convert(value, source, cell.type)

    # ---- plans --------------------------------------------------------------------------------
    def cached_plan(self, key: object, make: Callable[[SqlCompiler], T]) -> T:
        """Return the cached plan for a place in the routine. It is created again after a change of the schema."""
        cached = self._callee.plans.get(key)
        stamp = self._session.schema.stamp
        if cached is None or cached[0] != stamp:
            cached = (stamp, make(self.compiler(self.frame.types())))
            self._callee.plans[key] = cached
        plan: T = cached[1]
        return plan

    def evaluate(self, row: CompiledExpressions) -> StoredValues:
        """Return the values of expressions in storage form."""
        return self._session.transaction.run_nested(
            lambda: row.evaluate(self._session, self.frame.value, self.invoke)
        )

    def evaluate_list(self, text: n.SqlText, targets: Sequence[ColumnType | None]) -> StoredValues:
        """Return the values of a list of expressions, for variables of the types `targets`."""
        return self.evaluate(self.cached_plan(text, lambda compiler: compiler.compile_list(text, targets)))

    def is_true(self, text: n.SqlText) -> bool:
        """Return whether a condition is true. NULL is not."""
        return bool(
            self.evaluate(self.cached_plan(text, lambda compiler: compiler.compile_condition(text)))[0]
        )

    def plan_query(
        self, compiler: SqlCompiler, source: n.SelectInto, body: n.StatementBlock | None = None
    ) -> CompiledQuery:
        """Plan a SELECT for the variables of its INTO. `body` is the body of a loop over it, which may name its
        cursor."""
        types = [self.frame.cell(name).type for name in source.into]
        routine = self._callee.routine
        assert routine is not None
        positioned = bool(source.cursor) and any(
            name.lower() == source.cursor for name in _CURRENT_OF.findall(routine.text)
        )
        return compiler.compile_query(source.text, types, positioned=positioned and body is not None)

    def fetch(self, query: CompiledQuery, limit: int) -> list[StoredValues]:
        """Return the first `limit` rows of a query."""
        return self._session.transaction.run_nested(
            lambda: query.fetch(self._session, self.frame.value, limit)
        )

    def spool_rows(self, query: CompiledQuery) -> RowSpool:
        """Return all current rows of a query."""
        return self._session.transaction.run_nested(lambda: query.spool_rows(self._session, self.frame.value))

    def compiler(self, types: Mapping[str, ColumnType]) -> SqlCompiler:
        """Return a compiler for texts in which variables of these types are visible."""
        return SqlCompiler(self._session, self._registry, types)

    def equality_text(self, operand: n.SqlText, value: n.SqlText) -> n.SqlText:
        """Return the condition of an arm of CASE."""
        key = (operand, value)
        if key not in self._callee.plans:
            self._callee.plans[key] = n.SqlText(f"({operand.sql}) = ({value.sql})", value.start)
        condition: n.SqlText = self._callee.plans[key]
        return condition

    # ---- calls --------------------------------------------------------------------------------
    def call_values(self, arguments: CompiledArguments) -> StoredValues:
        """Call a routine for a single row."""
        argument_values = self.argument_values(arguments)
        return self._session.transaction.run_nested(lambda: self.invoke(arguments.callee, argument_values))

    def argument_values(self, arguments: CompiledArguments) -> list[object]:
        """Return the arguments of a call in storage form."""
        return self._session.transaction.run_nested(
            lambda: arguments.evaluate(self._session, self.frame.value, self.invoke)
        )
