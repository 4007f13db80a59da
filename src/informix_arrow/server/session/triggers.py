"""Statements that fire triggers: BEFORE actions, each row with its actions, AFTER actions, as one atomic statement.

A row is written before its actions run, so that they find it. Values that they assign to its columns (INTO, trigger
routines) are written afterwards. The actions are run by routines/trigger_actions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import duckdb
import pyarrow as pa

from ...wire.quoting import double_quoted
from ..catalog.catalog import TableInfo, first_row, key_part, key_text
from ..catalog.trigger_tables import TriggerInfo
from ..errors import SqlError
from ..plan.row_identity import identity_names
from ..types.conversions import arrow_storage
from .duck_executor import DuckExecutor
from .duplicate_keys import check_duplicate_keys
from .foreign_keys import ForeignKeyEnforcer
from .isolation import Isolation
from .routine_protocols import TriggerActions
from .session_values import SessionValues
from .table_appender import constraint_error
from .transaction import SessionTransaction

T = TypeVar("T")

MAX_DEPTH = 61
"""Largest depth of statements whose triggers fire each other."""

_FAILED, _SAME_TABLE, _TOO_DEEP = -745, -747, -748


@dataclass(eq=False, slots=True)
class TriggerFiring:
    """A statement that fires triggers: the table, the `event` (I, U or D), and the triggers.

    Attributes
    ----------
    changed_own_table
        True if an action has changed the statement's own table.
    """

    info: TableInfo
    event: str
    columns: frozenset[str] = frozenset()
    triggers: tuple[TriggerInfo, ...] = ()
    changed_own_table: bool = field(default=False)

    @property
    def each_row(self) -> bool:
        """True if there are actions for each row."""
        return any(trigger.each_row for trigger in self.triggers)


@dataclass(eq=False, repr=False)
class TriggerExecutor:
    """Runs the triggers of one session's statements."""

    _executor: DuckExecutor
    _values: SessionValues
    _transaction: SessionTransaction
    _isolation: Isolation
    _foreign_key_enforcer: ForeignKeyEnforcer
    _actions: TriggerActions
    # The innermost is the last.
    _active_firings: list[TriggerFiring] = field(default_factory=list, init=False)

    def find_firing(self, info: TableInfo, event: str, columns: Sequence[str] = ()) -> TriggerFiring | None:
        """Return the triggers that a statement fires, None if there are none.

        Raises -747 for a statement of an action that would change what an outer statement is changing.
        """
        if not self._active_firings and not info.triggers:
            return None
        changed = frozenset(columns)
        for other in self._active_firings:
            if (other.info.database, other.info.tabid) != (info.database, info.tabid):
                continue
            if event == "U" and other.event == "U" and changed.isdisjoint(other.columns):
                other.changed_own_table = True
                continue
            raise SqlError(_SAME_TABLE, 0, 0, info.name)
        fired = info.fired_by(event, changed)
        return TriggerFiring(info, event, changed, fired) if fired else None

    def run_with_triggers(self, firings: Sequence[TriggerFiring], body: Callable[[], T]) -> T:
        """Run a function that changes rows with the actions before and after it, as one statement.

        For use inside `SessionTransaction.write`.
        """
        return self._transaction.run_nested(lambda: self._run_with_triggers(firings, body))

    def _run_with_triggers(self, firings: Sequence[TriggerFiring], body: Callable[[], T]) -> T:
        if len(self._active_firings) >= MAX_DEPTH:
            raise SqlError(_TOO_DEEP, 0, 0, firings[0].info.name)
        depth = len(self._active_firings)
        self._active_firings += firings
        try:
            for firing in firings:
                firing.changed_own_table = False
                self._run_actions(firing, "before", {}, {})
            result = body()
            for firing in firings:
                self._run_actions(firing, "after", {}, {})
            return result
        finally:
            del self._active_firings[depth:]

    def run_row_actions(
        self, firing: TriggerFiring, old: Mapping[str, object], new: Mapping[str, object]
    ) -> dict[str, object]:
        """Run the actions for one row, given its values in storage form. Return the columns that they assigned."""
        return self._run_actions(firing, "each", old, new)

    def _run_actions(
        self, firing: TriggerFiring, section: str, old: Mapping[str, object], new: Mapping[str, object]
    ) -> dict[str, object]:
        new_values: dict[str, object] = {}
        with self._preserved_values():
            for trigger in firing.triggers:
                if section != "each" or trigger.each_row:
                    new_values |= self._actions.run_actions(
                        firing.info, trigger, section, old, {**new, **new_values}
                    )
        return new_values

    @contextmanager
    def _preserved_values(self) -> Iterator[None]:
        """Restore the values of DBINFO that the triggers' statements changed."""
        values, was_cut = self._values, self._executor.was_cut
        saved = values.sqlerrd1, values.sqlerrd2, values.serial8, values.bigserial
        try:
            yield
        finally:
            values.sqlerrd1, values.sqlerrd2, values.serial8, values.bigserial = saved
            self._executor.was_cut = was_cut

    # ---- new values -----------------------------------------------------------------------------
    def row_identity(self, info: TableInfo, row: Mapping[str, object]) -> dict[str, object]:
        """Return the identity of a row that has just been inserted."""
        names = identity_names(info)
        if names != ("rowid",):
            return {name: row[name] for name in names}
        row_id = first_row(self._transaction.con, f"SELECT max(rowid) FROM {info.duck_name}")
        assert row_id is not None
        return {"rowid": row_id[0]}

    def update_row(
        self,
        info: TableInfo,
        identity: Mapping[str, object],
        row: Mapping[str, object],
        assigned: Mapping[str, object],
    ) -> None:
        """Write the `assigned` values, which actions assigned, into a row that is found by `identity`.

        `row` has its other values.
        """
        kinds = {c.name: arrow_storage(c.type) for c in info.columns}
        new_row = {**row, **assigned}
        arrays = {name: pa.array([new_row[name]], kinds[name]) for name in kinds if name in new_row}
        changed = set(assigned)
        for column in info.columns:
            if column.type.not_null and column.name in assigned and assigned[column.name] is None:
                raise SqlError(-391, 0, 0, column.name)
        if any(not changed.isdisjoint(unique.columns) for unique in info.keys):
            self._isolation.lock_changed_keys(info, changed, arrays)
        foreigns = [f for f in info.foreign_keys if not changed.isdisjoint(f.columns)]
        for foreign in foreigns:
            self._isolation.lock_parents(info, foreign, [arrays[name] for name in foreign.columns])
        sets = ", ".join(f"{double_quoted(name)} = r.{double_quoted(name)}" for name in assigned)
        match = " AND ".join(
            f"{key_part(info, name, 't')} = {key_text(f'$k{i}')}"
            if name in info.blank_padded
            else f"t.{name if name == 'rowid' else double_quoted(name)} = $k{i}"
            for i, name in enumerate(identity)
        )
        rows = pa.table({name: arrays[name] for name in assigned})
        try:
            ((written,),) = self._transaction.recorder.execute_with_rows(
                f"UPDATE {info.duck_name} AS t SET {sets} FROM _ifx_rows AS r WHERE {match}",
                rows,
                {f"k{i}": part for i, part in enumerate(identity.values())},
            )
        except duckdb.ConstraintException as e:
            self._isolation.require_fresh(info)
            raise constraint_error(info, e) from e
        check_duplicate_keys(self._transaction, self._isolation, info, changed)
        if written != 1:
            raise SqlError(
                _FAILED, 0, 0, "", f"{written} rows of {info.name} match a row that a trigger changes."
            )
        if info.is_fully_logged:
            before = pa.table({name: pa.array([row[name]], kinds[name]) for name in kinds})
            self._transaction.change_logger.log_updated(
                info, before, pa.table({name: arrays[name] for name in kinds})
            )
        self._foreign_key_enforcer.check_children(
            info, self._foreign_key_enforcer.immediate_keys(info, foreigns)
        )
