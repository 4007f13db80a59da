"""Statements that fire triggers: BEFORE actions, each row with its actions, AFTER actions, all of it one statement.

A row is written before its actions run, so that these find it there; what they give its columns (INTO, trigger
routines) is written into it afterwards. What the actions are is not known here (routines/trigger_actions.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import duckdb
import pyarrow as pa

from ..errors import SqlError
from ..planning.keyed import identity
from ..schema.catalog import TableInfo, first_row, key_part, key_text
from ..schema.trigger_tables import TriggerInfo
from ..types.conversions import arrow_storage
from ..types.names import quote
from .appending import constraint_error
from .calling import TriggerActions
from .isolation import Isolation
from .null_keys import refuse_repeated
from .references import References
from .running import Runner
from .session_values import SessionValues
from .transaction import Transaction

T = TypeVar("T")

MOST = 61
"""Statements whose triggers fire each other."""

_FAILED, _SAME_TABLE, _TOO_DEEP = -745, -747, -748


@dataclass(eq=False, slots=True)
class Firing:
    """A statement that fires triggers: what it changes (`event` is I, U or D), and which those are.

    Attributes
    ----------
    disturbed
        Whether an action has changed the statement's own table.
    """

    info: TableInfo
    event: str
    columns: frozenset[str] = frozenset()
    triggers: tuple[TriggerInfo, ...] = ()
    disturbed: bool = field(default=False)

    @property
    def each_row(self) -> bool:
        """Whether there is something to do for each row."""
        return any(trigger.each_row for trigger in self.triggers)


class Triggers:
    """The triggers of one session's statements."""

    def __init__(
        self,
        runner: Runner,
        values: SessionValues,
        transaction: Transaction,
        isolation: Isolation,
        references: References,
        actions: TriggerActions,
    ) -> None:
        self._runner = runner
        self._values = values
        self._transaction = transaction
        self._isolation = isolation
        self._references = references
        self._actions = actions
        self._running: list[Firing] = []  # the innermost is the last

    def firing(self, info: TableInfo, event: str, columns: Sequence[str] = ()) -> Firing | None:
        """The triggers that a statement fires, None where there are none. -747 for a statement that an action may not
        run: it would change what a statement around it is changing."""
        if not self._running and not info.triggers:
            return None
        changed = frozenset(columns)
        for other in self._running:
            if (other.info.database, other.info.tabid) != (info.database, info.tabid):
                continue
            if event == "U" and other.event == "U" and changed.isdisjoint(other.columns):
                other.disturbed = True
                continue
            raise SqlError(_SAME_TABLE, 0, 0, info.name)
        fired = info.fired_by(event, changed)
        return Firing(info, event, changed, fired) if fired else None

    def around(self, firings: Sequence[Firing], body: Callable[[], T]) -> T:
        """Run what changes rows with the actions before and after it, as one statement; inside `Transaction.write`."""
        return self._transaction.nested(lambda: self._around(firings, body))

    def _around(self, firings: Sequence[Firing], body: Callable[[], T]) -> T:
        if len(self._running) >= MOST:
            raise SqlError(_TOO_DEEP, 0, 0, firings[0].info.name)
        depth = len(self._running)
        self._running += firings
        try:
            for firing in firings:
                firing.disturbed = False
                self._run(firing, "before", {}, {})
            result = body()
            for firing in firings:
                self._run(firing, "after", {}, {})
            return result
        finally:
            del self._running[depth:]

    def row(self, firing: Firing, old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
        """Run the actions for one row, with its values in storage form; the columns that they gave other values."""
        return self._run(firing, "each", old, new)

    def _run(
        self, firing: Firing, section: str, old: Mapping[str, object], new: Mapping[str, object]
    ) -> dict[str, object]:
        given: dict[str, object] = {}
        with self._kept():
            for trigger in firing.triggers:
                if section != "each" or trigger.each_row:
                    given |= self._actions.act(firing.info, trigger, section, old, {**new, **given})
        return given

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """What a statement tells of itself is not what its triggers' statements told."""
        values, cut = self._values, self._runner.cut
        kept = values.sqlerrd1, values.sqlerrd2, values.serial8, values.bigserial
        try:
            yield
        finally:
            values.sqlerrd1, values.sqlerrd2, values.serial8, values.bigserial = kept
            self._runner.cut = cut

    # ---- new values -----------------------------------------------------------------------------
    def place_of(self, info: TableInfo, row: Mapping[str, object]) -> dict[str, object]:
        """What a row is found by that has just been inserted."""
        names = identity(info)
        if names != ("rowid",):
            return {name: row[name] for name in names}
        found = first_row(self._transaction.con, f"SELECT max(rowid) FROM {info.duck}")
        assert found is not None
        return {"rowid": found[0]}

    def rewrite(
        self,
        info: TableInfo,
        place: Mapping[str, object],
        row: Mapping[str, object],
        given: Mapping[str, object],
    ) -> None:
        """Give columns of a row the values that actions have `given` them; it is found by `place`, and `row` is what it
        is otherwise."""
        kinds = {c.name: arrow_storage(c.type) for c in info.columns}
        whole = {**row, **given}
        arrays = {name: pa.array([whole[name]], kinds[name]) for name in kinds if name in whole}
        changed = set(given)
        for column in info.columns:
            if column.type.not_null and column.name in given and given[column.name] is None:
                raise SqlError(-391, 0, 0, column.name)
        if any(not changed.isdisjoint(unique.columns) for unique in info.keys):
            self._isolation.lock_rekeyed(info, changed, arrays)
        foreigns = [f for f in info.foreigns if not changed.isdisjoint(f.columns)]
        for foreign in foreigns:
            self._isolation.lock_parents(info, foreign, [arrays[name] for name in foreign.columns])
        sets = ", ".join(f"{quote(name)} = r.{quote(name)}" for name in given)
        match = " AND ".join(
            f"{key_part(info, name, 't')} = {key_text(f'$k{i}')}"
            if name in info.blank_padded
            else f"t.{name if name == 'rowid' else quote(name)} = $k{i}"
            for i, name in enumerate(place)
        )
        rows = pa.table({name: arrays[name] for name in given})
        try:
            ((written,),) = self._transaction.writer.execute_over(
                f"UPDATE {info.duck} AS t SET {sets} FROM _ifx_rows AS r WHERE {match}",
                rows,
                {f"k{i}": part for i, part in enumerate(place.values())},
            )
        except duckdb.ConstraintException as e:
            self._isolation.require_fresh(info)
            raise constraint_error(info, e) from e
        refuse_repeated(self._transaction, self._isolation, info, changed)
        if written != 1:
            raise SqlError(_FAILED, 0, 0, "", f"{written} rows of {info.name} for one that a trigger changes")
        if info.full_rows:
            before = pa.table({name: pa.array([row[name]], kinds[name]) for name in kinds})
            self._transaction.changes.updated(info, before, pa.table({name: arrays[name] for name in kinds}))
        self._references.check_children(info, self._references.due(info, foreigns))
