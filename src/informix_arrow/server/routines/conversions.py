"""Values of one type as values of another, where a routine's result goes into a variable."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...wire.types import ColumnType
from ..engine.parts import SessionParts
from .embedded import Reader, Row
from .registry import Callee, Registry


class Conversions:
    """Those of one session."""

    def __init__(self, parts: SessionParts, registry: Registry) -> None:
        self._parts = parts
        self._registry = registry
        self._rows: dict[tuple[ColumnType, ColumnType], Row] = {}

    def converted(self, value: object, source: ColumnType, target: ColumnType) -> object:
        """A value in the storage form of one type in that of another."""
        if value is None or source == target:
            return value
        row = self._rows.get((source, target))
        if row is None:
            item = exp.Column(this=exp.Identifier(this="value", quoted=False))
            row = Reader(self._parts, self._registry, {"value": source}).row([item], [target])
            self._rows[source, target] = row
        return row.values(self._parts, lambda _: value, _nothing)[0]


def _nothing(callee: Callee, arguments: Sequence[object]) -> tuple[object, ...]:
    raise AssertionError("a conversion calls nothing")
