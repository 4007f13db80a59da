"""UPDATE, DELETE and MERGE: the rows are locked, then changed by their identities, then written into the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from ...wire.quoting import double_quoted
from ..catalog.catalog import TableInfo, duplicate_key_query, first_row
from ..errors import SqlError, not_supported
from ..plan.plans import (
    WARN_CUT,
    CursorModify,
    KeyedModify,
    MergeChange,
    MergePlan,
    ModifyPlan,
    RowsModify,
    RowwiseModify,
    SetModify,
    ViewModify,
)
from ..plan.row_identity import bound_key_condition, identity_names, identity_sql, in_rows_condition
from .duck_executor import DuckExecutor, select_values
from .duplicate_keys import check_duplicate_keys, check_duplicates_within, duplicate_error
from .foreign_keys import ForeignKeyEnforcer
from .insert import InsertExecutor
from .isolation import Isolation
from .journal import check_row_count
from .locks import RowKey
from .prepared_plan import StatementOutcome
from .schema_version import SessionSchema
from .session_values import SessionValues
from .spool import BatchSpool
from .table_appender import TOO_LONG, constraint_error
from .transaction import SessionTransaction
from .triggers import TriggerExecutor, TriggerFiring
from .update_cursor import PositionedCursor

_NO_CURSOR, _NO_CURRENT_ROW = -507, -266
_CHANGED_TWICE = -410


@dataclass(eq=False, repr=False)
class Modifier:
    """Runs UPDATE, DELETE and MERGE of one session. `cursors` are those that WHERE CURRENT OF may name."""

    _executor: DuckExecutor
    _values: SessionValues
    _transaction: SessionTransaction
    _schema: SessionSchema
    _isolation: Isolation
    _inserts: InsertExecutor
    _references: ForeignKeyEnforcer
    _triggers: TriggerExecutor
    _cursors: MutableMapping[str, PositionedCursor]
    _truncated_column: str = field(default="", init=False)  # the column that a text was too long for

    def run(self, plan: ModifyPlan, params: Sequence[object]) -> StatementOutcome:
        """Run a statement with the triggers that it fires, as a statement of its own or as a part of one.

        Raises -244 for rows that others have locked.
        """
        self._executor.was_cut, self._truncated_column = False, ""
        self._executor.truncated_params.clear()
        if isinstance(plan, MergePlan):
            return self._run_merge(plan, self._executor.bind(plan.needs, params))
        firing = self._find_firing(plan)
        # The parameters of a RowwiseModify are bound for each row.
        values = {} if isinstance(plan, RowwiseModify) else self._executor.bind(plan.needs, params)
        if isinstance(plan, KeyedModify) and firing is None and not self._schema.uncommitted:
            key = tuple(values[part] if isinstance(part, str) else part for part in plan.key)
            if all(type(part) is int for part in key):
                return self._transaction.write(lambda: self._run_by_key(plan, key, values), single=True)

        def changed() -> StatementOutcome:
            if isinstance(plan, ViewModify):
                return StatementOutcome(
                    rows=self._run_instead_of(plan, values, firing), warnings=plan.warnings
                )
            rows = self._change_and_check(plan, lambda: self._change_rows(plan, params, values, firing))
            return StatementOutcome(rows=rows, warnings=self._warnings(plan, rows))

        return self._run_statement(plan, [column.name for column in plan.columns], [firing], changed)

    def _find_firing(self, plan: ModifyPlan) -> TriggerFiring | None:
        """Return the triggers that an UPDATE or DELETE fires."""
        names = [column.name for column in plan.columns]
        return self._triggers.find_firing(plan.info, "U" if names else "D", names)

    def _run_statement(
        self,
        plan: ModifyPlan,
        changed: Sequence[str],
        firings: Sequence[TriggerFiring | None],
        body: Callable[[], StatementOutcome],
    ) -> StatementOutcome:
        """Run `body`, which changes rows and sets the columns `changed`, with the triggers' actions before and after
        it.
        """

        def run() -> StatementOutcome:
            try:
                if plan.read:
                    self._isolation.before_reading(plan.read)
                return body()
            except duckdb.ConstraintException as e:
                self._isolation.require_fresh(plan.info)
                raise constraint_error(plan.info, e, changed) from e

        fired = [firing for firing in firings if firing is not None]
        if fired:
            return self._transaction.write(lambda: self._triggers.run_with_triggers(fired, run))
        return self._transaction.write(run)

    def _change_and_check(self, plan: ModifyPlan, change: Callable[[], int], *, cascades: bool = True) -> int:
        """Run `change`, then check foreign keys, and keys that DuckDB does not check.

        Return the number of changed rows.

        With `cascades`, rows that depend on deleted ones are deleted, too.
        """
        changed = {column.name for column in plan.columns}
        with self._executor.routine_results.result_scope():
            rows = change()
            if rows:
                self._check_new_indexes(plan)
                check_duplicate_keys(self._transaction, self._isolation, plan.info, changed)
                if changed:
                    locked = not isinstance(plan, RowwiseModify)
                    self._references.after_update(plan.info, changed, parents_locked=locked)
                else:
                    self._references.after_delete(plan.info, cascades=cascades)
        return rows

    def _change_rows(
        self,
        plan: ModifyPlan,
        params: Sequence[object],
        values: dict[str, object],
        firing: TriggerFiring | None,
    ) -> int:
        """Run an UPDATE or DELETE of a table and return the number of changed rows."""
        if isinstance(plan, CursorModify):
            return self._change_current_row(plan, values, firing)
        if isinstance(plan, RowwiseModify):
            return self._run_rowwise(plan, params)
        assert isinstance(plan, SetModify)
        return self._change_where(plan, values, firing)

    def _run_merge(self, plan: MergePlan, values: dict[str, object]) -> StatementOutcome:
        """Run a MERGE."""
        changing = None if plan.change is None else self._find_firing(plan.change)
        inserting = None if plan.insert is None else self._triggers.find_firing(plan.info, "I")

        def merged() -> StatementOutcome:
            rows, change = 0, plan.change
            new = self._read_unmatched(plan, values)
            try:
                if change is not None:
                    matched = partial(self._change_matched, change, values, changing)
                    rows = self._change_and_check(change, matched, cascades=False)
                if plan.insert is None or new is None:
                    return StatementOutcome(rows=rows, warnings=self._warnings(plan, rows))
                inserted = self._inserts.insert_spooled(plan.insert, new, inserting)
                inserted.rows += rows
                inserted.warnings |= self._warnings(plan, rows, inserted.rows)
                return inserted
            finally:
                if new is not None:
                    new.close()

        names = [] if plan.change is None else [column.name for column in plan.change.columns]
        return self._run_statement(plan, names, [changing, inserting], merged)

    def _run_by_key(self, plan: KeyedModify, key: RowKey, values: dict[str, object]) -> StatementOutcome:
        """Run the statement for the row of a primary key, which can be locked without a query."""
        undo = self._isolation.lock_key(plan.info, key)
        self._transaction.change_logger.require_current_logging(plan.info)
        try:
            ((rows,),) = self._transaction.recorder.execute_cached(plan.sql, select_values(plan.sql, values))
        except duckdb.ConstraintException as e:
            raise constraint_error(plan.info, e) from e
        if not rows:
            self._transaction.recorder.discard_last()
            if undo is not None:
                undo()
        return StatementOutcome(rows=rows, warnings=self._warnings(plan, rows))

    def _warnings(self, plan: ModifyPlan, changed: int, all_rows: int = 0) -> int:
        """Return the warnings for truncated text, given the number of changed rows and, in `all_rows`, with inserted
        ones.

        Raises -1279 for text that was truncated in an ANSI database.
        """
        warnings = plan.warnings | (WARN_CUT if self._executor.was_cut else 0)
        was_truncated = (changed and warnings & WARN_CUT) or (all_rows and self._executor.was_cut)
        if was_truncated and self._transaction.is_ansi:
            raise SqlError(TOO_LONG, 0, 0, self._find_truncated_column(plan))
        return warnings

    def _find_truncated_column(self, plan: ModifyPlan) -> str:
        """Return the column that a text was too long for."""
        for candidate in plan.cuts:
            if candidate.literal or not candidate.params.isdisjoint(self._executor.truncated_params):
                return candidate.column
        return self._truncated_column

    def _read_unmatched(self, plan: MergePlan, values: dict[str, object]) -> BatchSpool | None:
        """Return the rows that a MERGE will insert, from its tables before it changes any."""
        if plan.insert is None or plan.insert.select is None:
            return None
        self._isolation.require_fresh_tables(plan.tables)
        return self._inserts.read_source(plan.insert.select, values)

    def _change_where(self, plan: SetModify, values: dict[str, object], firing: TriggerFiring | None) -> int:
        """Change the rows that match a WHERE."""
        self._collect_routine_results(plan.probe, values)
        keys, by_row = self._lock_rows(plan, values, always=plan.reads_rows)
        if keys is not None and not keys.num_rows:
            return 0
        self._note_truncation(plan, values)
        if keys is None:
            return self._execute(plan.sql, values)
        return self._change_rows_by_key(plan, keys, values, firing, lock_new_keys=by_row)

    def _change_matched(
        self, plan: MergeChange, values: dict[str, object], firing: TriggerFiring | None
    ) -> int:
        """Change the rows that match in a MERGE."""
        keys, by_row = self._lock_rows(plan, values, always=True)
        assert keys is not None
        if not keys.num_rows:
            return 0
        if keys.group_by(keys.column_names).aggregate([]).num_rows < keys.num_rows:
            raise SqlError(_CHANGED_TWICE, detail="Several rows of the source match one row of the target.")
        self._note_truncation(plan, values)
        return self._change_rows_by_key(plan, keys, values, firing, lock_new_keys=by_row)

    def _lock_rows(
        self, plan: SetModify | MergeChange, values: dict[str, object], *, always: bool
    ) -> tuple[pa.Table | None, bool]:
        """Lock the rows that a statement will change; return their identities and whether they were locked one by one.

        If they were not, their identities are only read if `always` says so.
        """
        keys = self._isolation.lock_changed_rows(plan.info, plan.row_ids, values, plan.tables)
        self._transaction.change_logger.require_current_logging(plan.info)
        if keys is not None:
            return keys, True
        return (self._executor.query_table(plan.row_ids, values) if always else None), False

    def _check_new_indexes(self, plan: ModifyPlan) -> None:
        """Raise -239 for a repeated key.

        DuckDB does not check rows of a transaction against an index that was created in the same transaction.
        """
        changes_keys = plan.changes_keys if isinstance(plan, RowsModify) else True
        if not self._schema.uncommitted or not changes_keys:
            return
        for key in plan.info.keys:
            own_index = key.kind == "I" or not plan.info.blank_padded.isdisjoint(key.columns)
            if own_index and first_row(self._transaction.con, duplicate_key_query(plan.info, key.columns)):
                raise duplicate_error(key.kind, key.name)

    def _change_current_row(
        self, plan: CursorModify, values: dict[str, object], firing: TriggerFiring | None
    ) -> int:
        """Run WHERE CURRENT OF.

        Raises -507 for a cursor that is not open on that table FOR UPDATE, and -266 if it has no current row.
        """
        cursor = self._cursors.get(plan.cursor)
        if cursor is None or cursor.info.duck_name != plan.info.duck_name:
            raise SqlError(_NO_CURSOR, 0, 0, plan.cursor)
        key = cursor.current
        if key is None:
            raise SqlError(_NO_CURRENT_ROW, 0, 0, plan.cursor)
        self._isolation.lock_current_row(plan.info, key)
        self._transaction.change_logger.require_current_logging(plan.info)
        values.update((f"k{i}", part) for i, part in enumerate(key))
        self._collect_routine_results(plan.probe, values)
        self._note_truncation(plan, values)
        if plan.values_query:
            keys = pa.table({f"k{i}": [part] for i, part in enumerate(key)})
            count = self._change_rows_by_key(plan, keys, values, firing, lock_new_keys=True)
        else:
            count = self._execute(plan.sql, values)
        if not count:
            raise SqlError(_NO_CURRENT_ROW, 0, 0, plan.cursor)
        if not plan.columns:  # a DELETE
            cursor.current = None
        return count

    def _collect_routine_results(self, probe: str, values: Mapping[str, object]) -> None:
        """Get the results of the user routines that the statement will call."""
        if probe:
            self._executor.collect_routine_results(probe, dict(values))

    def _note_truncation(self, plan: RowsModify, values: Mapping[str, object]) -> None:
        """Find out whether a text will be truncated, and the column that it is for."""
        if plan.cut_query:
            row = first_row(
                self._transaction.recorder, plan.cut_query, select_values(plan.cut_query, dict(values))
            )
            if row is not None:
                self._executor.was_cut, self._truncated_column = True, row[0]

    def _execute(self, sql: str, values: dict[str, object]) -> int:
        sql = self._executor.routine_results.bind_results(sql)
        counted = first_row(self._transaction.recorder, sql, select_values(sql, values)) if sql else None
        return int(counted[0]) if counted else 0

    def _execute_over(self, sql: str, rows: Any, values: dict[str, object]) -> int:
        text = self._executor.routine_results.bind_results(sql)
        return int(
            self._transaction.recorder.execute_with_rows(text, rows, select_values(text, values))[0][0]
        )

    def _execute_per_row(self, sql: str, rows: Any) -> int:
        """Change one existing row for each of `rows`."""
        return self._transaction.recorder.execute_per_row(
            self._executor.routine_results.bind_results(sql), rows
        )

    def _run_rowwise(self, plan: RowwiseModify, params: Sequence[object]) -> int:
        """Run an UPDATE that creates an object of its own for every row."""
        self._isolation.lock_changed_table(plan.info, plan.tables)
        self._transaction.change_logger.require_current_logging(plan.info)
        self._values.statement_values = dict.fromkeys(
            [*(f"file{i}" for i in range(len(plan.needs.files))), "row"]
        )
        rows = self._transaction.con.execute(
            plan.row_ids, select_values(plan.row_ids, self._executor.bind(plan.needs, params))
        ).fetchall()
        for (row,) in rows:
            self._executor.load_files(plan.needs, params)
            self._values.statement_values["row"] = row
            before = self._read_logged_row(plan.info, row)
            self._execute(plan.sql, self._executor.bind(plan.needs, params))
            if before is not None:
                after = self._read_logged_row(plan.info, row)
                if after is None or not after.num_rows:  # DuckDB has assigned it another row id
                    raise not_supported(
                        "files as new values of a key in a table whose rows are logged in full"
                    )
                self._transaction.change_logger.log_updated(plan.info, before, after)
        return len(rows)

    def _read_logged_row(self, info: TableInfo, rowid: object) -> pa.Table | None:
        """Return all columns of a logged row; None for a table whose rows are not logged."""
        if not info.is_fully_logged:
            return None
        names = ", ".join(double_quoted(column.name) for column in info.columns)
        query = f"SELECT {names} FROM {info.duck_name} WHERE rowid = $rowid"
        table: pa.Table = self._transaction.con.sql(query, params={"rowid": rowid}).to_arrow_table()
        return table

    def _change_rows_by_key(
        self,
        plan: RowsModify,
        keys: pa.Table,
        values: dict[str, object],
        firing: TriggerFiring | None,
        *,
        lock_new_keys: bool,
    ) -> int:
        """Change the rows whose identities are `keys`. An UPDATE locks their new keys if `lock_new_keys`.

        The new values of an UPDATE may be computed first (`RowsModify.values_query`): a replay might read other rows,
        and the parents must be locked.
        """
        if firing is not None and firing.each_row:
            return self._change_with_triggers(plan, keys, values, firing, lock_new_keys=lock_new_keys)
        if plan.values_query:
            rows = self._read_new_values(plan, keys, values)
            if keys.num_rows > 1 and not isinstance(plan, MergeChange):
                # raises if DuckDB does not find all of several rows again
                check_row_count(rows.num_rows, keys.num_rows)
            if not plan.columns:
                return self._delete_rows(plan, rows)
            return self._update_rows(plan, rows, lock_new_keys=lock_new_keys)
        if keys.num_rows == 1:
            identity = {name: keys.column(name)[0].as_py() for name in keys.column_names}
            return self._execute(
                plan.head + bound_key_condition(plan.info, plan.alias), {**values, **identity}
            )
        return self._execute_over(plan.head + in_rows_condition(plan.info, plan.alias), keys, values)

    def _read_new_values(self, plan: RowsModify, keys: pa.Table, values: dict[str, object]) -> pa.Table:
        """Return the rows of `values_query` that have these identities."""
        text = self._executor.routine_results.bind_results(
            plan.values_query + in_rows_condition(plan.info, plan.alias)
        )
        rows: pa.Table = self._transaction.recorder.table_with_rows(text, keys, select_values(text, values))
        return rows

    def _delete_rows(self, plan: RowsModify, rows: pa.Table) -> int:
        """Delete rows that `_read_new_values` returned."""
        count = self._execute_per_row(plan.head + in_rows_condition(plan.info, plan.alias), rows)
        if plan.info.is_fully_logged:
            self._transaction.change_logger.log_deleted(plan.info, _old_rows(plan.info, rows))
        return count

    def _update_rows(self, plan: RowsModify, rows: pa.Table, *, lock_new_keys: bool) -> int:
        """Write new values from `_read_new_values` into their rows."""
        new_values = {column.name: rows.column(f"m{i}") for i, column in enumerate(plan.columns)}
        if plan.changes_keys:
            other_columns = {n[1:]: rows.column(n) for n in rows.column_names if n.startswith("_")}
            if lock_new_keys:
                self._isolation.lock_changed_keys(plan.info, set(new_values), {**other_columns, **new_values})
            check_duplicates_within(plan.info, set(new_values), {**other_columns, **new_values})
        for foreign in plan.info.foreign_keys:
            if not new_values.keys().isdisjoint(foreign.columns):
                parts = [
                    new_values[name] if name in new_values else rows.column(f"_{name}")
                    for name in foreign.columns
                ]
                self._isolation.lock_parents(plan.info, foreign, parts)
        names = identity_sql(plan.info, plan.alias)
        sets = ", ".join(f"{double_quoted(column.name)} = r.m{i}" for i, column in enumerate(plan.columns))
        match = " AND ".join(f"{name} = r.k{i}" for i, name in enumerate(names))
        head = f"UPDATE {plan.info.duck_name} AS {double_quoted(plan.alias)}"
        count = self._execute_per_row(f"{head} SET {sets} FROM _ifx_rows AS r WHERE {match}", rows)
        if plan.info.is_fully_logged:
            before = _old_rows(plan.info, rows)
            after = pa.table(
                [new_values.get(name, before.column(name)) for name in before.column_names],
                before.column_names,
            )
            self._transaction.change_logger.log_updated(plan.info, before, after)
        return count

    def _run_instead_of(
        self, plan: ViewModify, values: dict[str, object], firing: TriggerFiring | None
    ) -> int:
        """Pass the rows of a view to its INSTEAD OF triggers."""
        if firing is None:
            return 0
        self._isolation.require_fresh_tables(plan.tables)
        rows = self._executor.query_table(plan.rows_query, values)
        for row in _single_rows(rows):
            self._triggers.run_row_actions(firing, *_old_and_new(plan, row))
        return int(rows.num_rows)

    def _change_with_triggers(
        self,
        plan: RowsModify,
        keys: pa.Table,
        values: dict[str, object],
        firing: TriggerFiring,
        *,
        lock_new_keys: bool,
    ) -> int:
        """Change rows one after the other, each followed by its trigger actions.

        If keys are changed, all rows are written first: one may take the key that another gives up.
        """
        rows = self._read_new_values(plan, keys, values)
        if plan.changes_keys:
            self._update_rows(plan, rows, lock_new_keys=lock_new_keys)
        count = 0
        for row in _single_rows(rows):
            if firing.changed_own_table and not plan.changes_keys:
                row = self._read_new_values(plan, row, values)
            old, new = _old_and_new(plan, row)
            if not plan.columns:
                count += self._delete_rows(plan, row)
            elif plan.changes_keys:
                count += 1
            else:
                count += self._update_rows(plan, row, lock_new_keys=False)
            assigned = self._triggers.run_row_actions(firing, old, new)
            if assigned:
                identity = _written_row_identity(plan, row.column("k0")[0].as_py(), new)
                self._triggers.update_row(plan.info, identity, new, assigned)
        return count


def _single_rows(rows: pa.Table) -> Iterator[pa.Table]:
    """Return a table for each row."""
    return (rows.slice(number, 1) for number in range(rows.num_rows))


def _old_and_new(plan: RowsModify | ViewModify, row: pa.Table) -> tuple[dict[str, object], dict[str, object]]:
    """Return the old and the new values of the only row of a table. A deleted row has no new values."""
    old = {c.name: row.column(f"_{c.name}")[0].as_py() for c in plan.info.columns}
    new = {c.name: row.column(f"m{i}")[0].as_py() for i, c in enumerate(plan.columns)}
    return old, {**old, **new} if plan.columns else {}


def _old_rows(info: TableInfo, rows: pa.Table) -> pa.Table:
    """Return all columns, before the change, of rows that `RowsModify.values_query` returned."""
    names = [column.name for column in info.columns]
    return pa.table([rows.column(f"_{name}") for name in names], names)


def _written_row_identity(plan: RowsModify, rowid: object, row: Mapping[str, object]) -> dict[str, object]:
    """Return the identity of a row that was written. DuckDB assigns another row id if one of its keys was changed."""
    names = identity_names(plan.info)
    if names != ("rowid",):
        return {name: row[name] for name in names}
    if not plan.changes_keys:
        return {"rowid": rowid}
    for unique in plan.info.keys:
        if all(row[name] is not None for name in unique.columns):
            return {name: row[name] for name in unique.columns}
    raise not_supported(
        "actions that give new values to a row without a primary key and with NULL in all of its keys"
    )
