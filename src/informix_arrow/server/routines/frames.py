"""Variables: the local ones of one call, and the global ones of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...wire.types import ColumnType
from ..errors import SqlError
from ..parse.spl import codes
from ..types.result_types import PADDED, is_character
from .registry import Callee
from .sql_compiler import SQLCODE


class _Undefined:
    """Value of a variable before its first assignment. NULL is a value."""


_UNDEFINED = _Undefined()


@dataclass(slots=True)
class VariableCell:
    """A variable. Its value is in storage form."""

    type: ColumnType
    value: Any = _UNDEFINED


class SubstringCell:
    """A part of a variable as the target of an assignment, `name[first,last]`, in bytes of the database's code set.

    The rest of the variable keeps its value. Positions without a value become blanks. Raises SqlError -305 for a
    variable that holds no text, -307 for a part beyond its type.
    """

    def __init__(self, cell: VariableCell, first: int, last: int, codec: str) -> None:
        if not is_character(cell.type):
            raise SqlError(-305)
        if last > cell.type.content_width:
            raise SqlError(-307)
        self._cell, self._first, self._last, self._codec = cell, first, last, codec
        self.type = ColumnType.char(last - first + 1)

    @property
    def value(self) -> object:
        return _UNDEFINED  # a part is never read by its name

    @value.setter
    def value(self, piece: object) -> None:
        old_value = self._cell.value
        old = old_value.encode(self._codec, "replace") if isinstance(old_value, str) else b""
        new = piece.encode(self._codec, "replace") if isinstance(piece, str) else b""
        head = old[: self._first - 1].ljust(self._first - 1) + new.ljust(self._last - self._first + 1)
        text = (head + old[self._last :]).decode(self._codec, "replace").replace("\ufffd", " ")
        self._cell.value = text.rstrip(" ") if self._cell.type.code in PADDED else text


@dataclass(slots=True)
class TriggerRow:
    """The row for which a trigger's actions run: its columns' values before and after the change, by name.

    `event` is I, U or D. There are no new values after a DELETE and no old values before an INSERT.
    """

    table: str
    event: str
    old: dict[str, VariableCell]
    new: dict[str, VariableCell]

    def cells(self, old: str, new: str) -> dict[str, VariableCell]:
        """Return the values as variables, qualified by the names of the old and new row. "" omits them."""
        found = {f"{old}.{name}": cell for name, cell in self.old.items()} if old else {}
        if new:
            found |= {f"{new}.{name}": cell for name, cell in self.new.items()}
        return found

    def event_operators(self) -> dict[str, VariableCell]:
        """Return INSERTING, UPDATING, DELETING and SELECTING."""
        words = {"inserting": "I", "updating": "U", "deleting": "D", "selecting": "S"}
        return {
            name: VariableCell(ColumnType.boolean(), event == self.event) for name, event in words.items()
        }


class GlobalVariables:
    """The global variables of a session."""

    def __init__(self) -> None:
        self._cells: dict[str, VariableCell] = {}

    def define(self, name: str, t: ColumnType, value: object) -> VariableCell:
        """Return a global variable. The first routine that declares it initialises it with `value`.

        Raises -689 if the type differs from that of the first declaration.
        """
        cell = self._cells.setdefault(name, VariableCell(t, value))
        if (cell.type.code, cell.type.encoded_length) != (t.code, t.encoded_length):
            raise SqlError(codes.INCONSISTENT_GLOBAL, 0, 0, name)
        return cell

    def clear(self) -> None:
        self._cells.clear()


class CallFrame:
    """The variables and state of a running call.

    Attributes
    ----------
    cells
        The currently visible variables.
    from_query
        True if a query or a change of rows makes the call. The call may then change nothing.
    row
        The row for which the actions of a trigger run, here and in a trigger routine.
    sqlcode
        The result of the last SQL statement: SQLCODE.
    """

    def __init__(
        self, callee: Callee, from_query: bool, row: TriggerRow | None = None, codec: str = "utf-8"
    ) -> None:
        self._codec = codec
        self.callee = callee
        self.from_query = from_query
        self.row = row
        self.sqlcode = VariableCell(ColumnType.integer(), 0)
        self.cells: dict[str, VariableCell] = {SQLCODE: self.sqlcode}

    def cell(self, name: str) -> VariableCell | SubstringCell:
        """Return a variable. Raises SqlError -667 if it is not declared."""
        found = self.cells.get(name)
        if found is None:
            if name.endswith("]"):
                variable, _, bounds = name[:-1].partition("[")
                first, _, last = bounds.partition(",")
                cell = self.cell(variable)
                assert isinstance(cell, VariableCell)
                return SubstringCell(cell, int(first), int(last), self._codec)
            raise SqlError(codes.NOT_DECLARED, 0, 0, name)
        return found

    def value(self, name: str) -> object:
        """Return the value of a variable. Raises SqlError -696 if it has none."""
        value = self.cell(name).value
        if value is _UNDEFINED:
            raise SqlError(codes.UNDEFINED, 0, 0, name)
        return value

    def types(self) -> dict[str, ColumnType]:
        return {name: cell.type for name, cell in self.cells.items()}
