"""Conversion of a routine's results to the types of the variables that receive them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...wire.types import ColumnType
from ..session.session_services import SessionServices
from .registry import Callee, RoutineRegistry
from .sql_compiler import CompiledExpressions, SqlCompiler


class ResultConversions:
    """Converts values between types in one session, with a cache of compiled conversions."""

    def __init__(self, parts: SessionServices, registry: RoutineRegistry) -> None:
        self._session = parts
        self._registry = registry
        self._compiled_rows: dict[tuple[ColumnType, ColumnType], CompiledExpressions] = {}

    def convert(self, value: object, source: ColumnType, target: ColumnType) -> object:
        """Convert a value between the storage forms of two types."""
        if value is None or source == target:
            return value
        row = self._compiled_rows.get((source, target))
        if row is None:
            item = exp.Column(this=exp.Identifier(this="value", quoted=False))
            row = SqlCompiler(self._session, self._registry, {"value": source}).compile_expressions(
                [item], [target]
            )
            self._compiled_rows[source, target] = row
        return row.evaluate(self._session, lambda _: value, _no_call)[0]


def _no_call(callee: Callee, arguments: Sequence[object]) -> tuple[object, ...]:
    raise AssertionError("A conversion calls no routine.")
