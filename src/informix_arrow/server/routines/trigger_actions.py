"""Execution of triggers. Their actions are statements of a nameless routine, with the columns of a row as variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..catalog.trigger_tables import TriggerInfo
from ..parse.spl.nodes import Routine, StatementBlock
from ..parse.spl.trigger_nodes import NO_NAME, CreateTrigger
from ..parse.spl.triggers import parse_trigger
from ..session.session_services import SessionServices
from ..types.nested_types import is_simple_large
from ..types.result_types import variable_type
from .frames import TriggerRow, VariableCell
from .interpreter import RoutineCaller
from .registry import Callee


class TriggerActionRunner:
    """Executes the trigger actions of one session (routine_protocols.TriggerActions)."""

    def __init__(self, parts: SessionServices, caller: RoutineCaller) -> None:
        self._session = parts
        self._caller = caller
        self._stamp = -1
        self._callees: dict[tuple[str, int], dict[str, Callee]] = {}

    def run_actions(
        self,
        info: TableInfo,
        trigger: TriggerInfo,
        section: str,
        old: Mapping[str, object],
        new: Mapping[str, object],
    ) -> dict[str, object]:
        """Execute the actions of a trigger's `section` with the values of a row. Return the columns that were assigned
        new values."""
        callee = self._section_callees(info, trigger).get(section)
        if callee is None:
            return {}
        types = {c.name: variable_type(c.type) for c in info.columns}
        row = None
        if section == "each":
            row = TriggerRow(
                info.name,
                trigger.event,
                {name: _cell(types[name], value) for name, value in old.items()},
                {name: _cell(types[name], value) for name, value in new.items()},
            )
        before = {name: cell.value for name, cell in row.new.items()} if row is not None else {}
        self._caller.run_trigger_actions(callee, row)
        if row is None:
            return {}
        return {name: cell.value for name, cell in row.new.items() if cell.value != before[name]}

    def _section_callees(self, info: TableInfo, trigger: TriggerInfo) -> dict[str, Callee]:
        """Return the sections of a trigger that have actions. They are parsed when first needed."""
        stamp = self._session.schema.stamp
        if stamp != self._stamp:
            self._stamp = stamp
            self._callees.clear()
        key = (info.database, trigger.trigid)
        found = self._callees.get(key)
        if found is None:
            tree = parse_trigger(trigger.text, trigger.delimident)
            blocks = {"before": tree.before, "each": tree.each_row, "after": tree.after}
            found = self._callees[key] = {
                section: _callee(trigger, tree, block, each=section == "each")
                for section, block in blocks.items()
                if block.statements
            }
        return found


def _callee(trigger: TriggerInfo, tree: CreateTrigger, block: StatementBlock, *, each: bool) -> Callee:
    routine = Routine("PROCEDURE", trigger.name, (), (), block, trigger.text)
    references = (tree.old, tree.new or NO_NAME) if each else None
    return Callee(trigger.name, (), (), routine, owner=trigger.owner, references=references)


def _cell(t: ColumnType, value: Any) -> VariableCell:
    """Return a variable for a column's value. BYTE and TEXT are NULL in actions."""
    return VariableCell(t, None if is_simple_large(t) else value)
