"""One call of a routine: its variables, and what its statements compute with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ...wire.types import ColumnType
from ..engine.parts import SessionParts
from ..engine.waiting_rows import WaitingRows
from ..errors import SqlError
from ..grammar.spl import codes
from ..grammar.spl import nodes as n
from .conversions import Conversions
from .embedded import Arguments, Invoke, Query, Reader, Row
from .frames import Frame
from .registry import Callee, Registry

T = TypeVar("T")
Values = tuple[object, ...]

_CURRENT_OF = re.compile(r"\bCURRENT\s+OF\s+(\w+)", re.IGNORECASE)


class Evaluation:
    """Of one call: `frame` has its variables, `invoke` calls other routines where one row is wanted.

    The plans of a routine's texts are kept with the routine, for all its calls.
    """

    def __init__(
        self,
        parts: SessionParts,
        registry: Registry,
        conversions: Conversions,
        callee: Callee,
        frame: Frame,
        invoke: Invoke,
    ) -> None:
        self._parts = parts
        self._registry = registry
        self._conversions = conversions
        self._callee = callee
        self._plans = callee.plans
        self.invoke = invoke
        self.frame = frame

    # ---- variables ----------------------------------------------------------------------------
    def assign(self, name: str, value: object) -> None:
        """Give a variable a Python value."""
        cell = self.frame.cell(name)
        cell.value = self._parts.environment.converter(cell.type).one(value)

    def take(self, names: Sequence[str], values: Sequence[object]) -> None:
        """Give variables values in their storage form."""
        for name, value in zip(names, values, strict=True):
            self.frame.cell(name).value = value

    def receive(self, callee: Callee, names: Sequence[str], values: Sequence[object]) -> None:
        """Values that a routine gave, for variables that may have other types."""
        if len(names) != len(values):
            raise SqlError(
                codes.TOO_MANY_VALUES if len(values) > len(names) else codes.TOO_FEW_VALUES, 0, 0, callee.name
            )
        sources = [t for _, t in callee.returns]
        for name, value, source in zip(names, values, sources, strict=True):
            cell = self.frame.cell(name)
            cell.value = self._conversions.converted(value, source, cell.type)

    # ---- plans --------------------------------------------------------------------------------
    def planned(self, key: object, make: Callable[[Reader], T]) -> T:
        """A plan for one place in the routine."""
        kept = self._plans.get(key)
        stamp = self._parts.schema.stamp
        if kept is None or kept[0] != stamp:
            kept = (stamp, make(self.reader(self.frame.types())))
            self._plans[key] = kept
        found: T = kept[1]
        return found

    def row(self, row: Row) -> Values:
        """Values of expressions, in storage form."""
        return self._parts.transaction.nested(lambda: row.values(self._parts, self.frame.value, self.invoke))

    def values(self, text: n.Text, targets: Sequence[ColumnType | None]) -> Values:
        """Values of a list of expressions, for variables of the types `targets`."""
        return self.row(self.planned(text, lambda reader: reader.values(text, targets)))

    def true(self, text: n.Text) -> bool:
        """Whether a condition holds; NULL does not."""
        return bool(self.row(self.planned(text, lambda reader: reader.condition(text)))[0])

    def plan_query(self, reader: Reader, source: n.Query, body: n.Block | None = None) -> Query:
        """A SELECT for the variables that take its columns; `body` is that of a loop, which may name its cursor."""
        types = [self.frame.cell(name).type for name in source.into]
        routine = self._callee.routine
        assert routine is not None
        positioned = bool(source.cursor) and any(
            name.lower() == source.cursor for name in _CURRENT_OF.findall(routine.text)
        )
        return reader.query(source.text, types, positioned=positioned and body is not None)

    def fetch(self, query: Query, limit: int) -> list[Values]:
        """The first `limit` rows of a query."""
        return self._parts.transaction.nested(lambda: query.rows(self._parts, self.frame.value, limit))

    def waiting(self, query: Query) -> WaitingRows:
        """All rows of a query, as they are now."""
        return self._parts.transaction.nested(lambda: query.waiting(self._parts, self.frame.value))

    def reader(self, types: Mapping[str, ColumnType]) -> Reader:
        """What plans texts in which variables of these types are visible."""
        return Reader(self._parts, self._registry, types)

    def equality(self, operand: n.Text, value: n.Text) -> n.Text:
        """The condition that an arm of CASE stands for."""
        key = (operand, value)
        if key not in self._plans:
            self._plans[key] = n.Text(f"({operand.sql}) = ({value.sql})", value.start)
        found: n.Text = self._plans[key]
        return found

    # ---- calls --------------------------------------------------------------------------------
    def call_values(self, arguments: Arguments) -> Values:
        """Call a routine where one row is wanted."""
        given = self.given(arguments)
        return self._parts.transaction.nested(lambda: self.invoke(arguments.callee, given))

    def given(self, arguments: Arguments) -> list[object]:
        """The arguments of a call, in storage form."""
        return self._parts.transaction.nested(
            lambda: arguments.values(self._parts, self.frame.value, self.invoke)
        )
