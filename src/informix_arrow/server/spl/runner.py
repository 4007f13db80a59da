"""What every statement of a running routine needs: its variables, its plans, and calls of other routines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ...wire.types import ColumnType
from ..errors import SqlError
from . import codes
from . import nodes as n
from .embedded import Arguments, Query, Reader, Row
from .frames import Frame
from .registry import Callee

if TYPE_CHECKING:
    from ..engine_session import EngineSession

T = TypeVar("T")
Values = tuple[object, ...]
Run = Iterator[Values]

_CURRENT_OF = re.compile(r"\bCURRENT\s+OF\s+(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leave:
    """EXIT or CONTINUE on its way to its loop."""

    verb: str
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Over:
    """A block is over because of its handler."""

    block: n.Block


class Returned:
    """The routine is over."""


RETURNED = Returned()


class Runner:
    """One call of a routine: what its statements share."""

    def __init__(self, session: EngineSession, callee: Callee, from_query: bool) -> None:
        self.session = session
        self.callee = callee
        self.frame = Frame(callee, from_query)
        self._plans = callee.plans

    def _rows_of(self, callee: Callee, arguments: Sequence[object]) -> Run:
        """The rows of a call of another routine."""
        raise NotImplementedError

    def _block(self, block: n.Block) -> Any:
        """Run a block's statements; how it ended."""
        raise NotImplementedError

    # ---- variables ----------------------------------------------------------------------------
    def _assign(self, name: str, value: object) -> None:
        """Give a variable a Python value."""
        cell = self.frame.cell(name)
        cell.value = self.session.converter(cell.type).one(value)

    def _take(self, names: Sequence[str], values: Sequence[object]) -> None:
        """Give variables values in their storage form."""
        for name, value in zip(names, values, strict=True):
            self.frame.cell(name).value = value

    def _receive(self, callee: Callee, names: Sequence[str], values: Sequence[object]) -> None:
        """Values that a routine gave, for variables that may have other types."""
        if len(names) != len(values):
            raise SqlError(
                codes.TOO_MANY_VALUES if len(values) > len(names) else codes.TOO_FEW_VALUES, 0, 0, callee.name
            )
        sources = [t for _, t in callee.returns]
        for name, value, source in zip(names, values, sources, strict=True):
            cell = self.frame.cell(name)
            cell.value = self.session.routines.converted(value, source, cell.type)

    # ---- plans --------------------------------------------------------------------------------
    def _planned(self, key: object, make: Callable[[Reader], T]) -> T:
        """A plan for one place in the routine."""
        kept = self._plans.get(key)
        stamp = self.session.stamp
        if kept is None or kept[0] != stamp:
            kept = (stamp, make(Reader(self.session, self.frame.types())))
            self._plans[key] = kept
        found: T = kept[1]
        return found

    def _row(self, row: Row) -> Values:
        return self.session.nested(lambda: row.values(self.session, self.frame.value, self._invoke))

    def _values(self, text: n.Text, targets: Sequence[ColumnType | None]) -> Values:
        return self._row(self._planned(text, lambda reader: reader.values(text, targets)))

    def _true(self, text: n.Text) -> bool:
        """Whether a condition holds; NULL does not."""
        return bool(self._row(self._planned(text, lambda reader: reader.condition(text)))[0])

    def _plan_query(self, reader: Reader, source: n.Query, body: n.Block | None = None) -> Query:
        types = [self.frame.cell(name).type for name in source.into]
        routine = self.callee.routine
        assert routine is not None
        positioned = bool(source.cursor) and any(
            name.lower() == source.cursor for name in _CURRENT_OF.findall(routine.text)
        )
        return reader.query(source.text, types, positioned=positioned and body is not None)

    def _fetch(self, query: Query, limit: int = 0) -> list[Values]:
        return self.session.nested(lambda: query.rows(self.session, self.frame.value, limit))

    # ---- calls --------------------------------------------------------------------------------
    def _invoke(self, callee: Callee, arguments: Sequence[object]) -> Values:
        """Call a routine where one row is wanted."""
        return one_row(callee, self._rows_of(callee, arguments))

    def _call_values(self, arguments: Arguments) -> Values:
        given = self._given(arguments)
        return self.session.nested(lambda: self._invoke(arguments.callee, given))

    def _given(self, arguments: Arguments) -> list[object]:
        return self.session.nested(lambda: arguments.values(self.session, self.frame.value, self._invoke))


def one_row(callee: Callee, rows: Iterator[Values]) -> Values:
    """The only row of a call; NULLs when it gives none, -686 when it gives several."""
    first = next(rows, None)
    if first is None:
        return (None,) * len(callee.returns)
    if next(rows, None) is not None:
        raise SqlError(codes.MORE_ROWS, 0, 0, callee.name)
    return first
