"""UPDATE, DELETE and MERGE: the rows are locked, then changed by their identities, then written into the journal."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from ..errors import SqlError, not_supported
from ..planning.keyed import among, columns, identity, single
from ..planning.plans import WARN_CUT, ModifyPlan
from ..schema.catalog import TableInfo, first_row, repeated_key
from ..types.names import quote
from .appending import TOO_LONG, constraint_error
from .isolation import Isolation
from .journal import require_count
from .locks import Key
from .null_keys import duplicate, refuse_repeated, refuse_same
from .positioned import Positioned
from .prepared import Outcome
from .references import References
from .row_inserts import Inserts
from .running import Runner, values_in
from .schema_changes import SchemaChanges
from .session_values import SessionValues
from .spool import Spool
from .transaction import Transaction
from .triggers import Firing, Triggers

_NO_CURSOR, _NO_CURRENT_ROW = -507, -266
_CHANGED_TWICE = -410


class Modifier:
    """UPDATE, DELETE and MERGE of one session. `cursors` are those that WHERE CURRENT OF may name."""

    def __init__(
        self,
        runner: Runner,
        values: SessionValues,
        transaction: Transaction,
        schema: SchemaChanges,
        isolation: Isolation,
        inserts: Inserts,
        references: References,
        triggers: Triggers,
        cursors: MutableMapping[str, Positioned],
    ) -> None:
        self._runner = runner
        self._values = values
        self._transaction = transaction
        self._schema = schema
        self._isolation = isolation
        self._inserts = inserts
        self._references = references
        self._triggers = triggers
        self._cursors = cursors
        self._cut = ""  # the column that a text was too long for

    def run(self, plan: ModifyPlan, params: Sequence[object]) -> Outcome:
        """Run one of them as a statement of its own, or as a part of one, with the triggers that it fires. -244 for
        rows that others have locked."""
        self._runner.cut, self._cut = False, ""
        self._runner.cut_params.clear()
        values = {} if plan.each else self._runner.bind(plan.needs, params)
        columns = [column.name for column in plan.columns]
        change = insert = None
        if plan.sql or plan.touched or plan.rows:
            change = self._triggers.firing(plan.info, "U" if columns else "D", columns)
        if plan.then_insert is not None:
            insert = self._triggers.firing(plan.info, "I")
        firings = [firing for firing in (change, insert) if firing is not None]
        if plan.by_key and not firings and not self._schema.uncommitted:
            key = tuple(values[part] if isinstance(part, str) else part for part in plan.by_key)
            if all(type(part) is int for part in key):
                return self._transaction.write(lambda: self._by_key(plan, key, values), single=True)

        def changed() -> Outcome:
            new = None
            try:
                if plan.read:
                    self._isolation.before_reading(plan.read)
                if plan.info.kind == "V" and change is not None:
                    return Outcome(rows=self._instead(plan, values, change), warnings=plan.warnings)
                new = self._unmatched(plan, values)
                with self._runner.answers.remembering():
                    rows = self._run(plan, params, values, change) if plan.sql or plan.touched else 0
                    if rows:
                        self._check_new_indexes(plan)
                        refuse_repeated(
                            self._transaction, self._isolation, plan.info, [c.name for c in plan.columns]
                        )
                        self._references.settle(plan)
                if plan.then_insert is not None and new is not None:
                    inserted = self._inserts.found(plan.then_insert, new, insert)
                    inserted.rows += rows
                    inserted.warnings |= self._warnings(plan, rows, inserted.rows)
                    return inserted
            except duckdb.ConstraintException as e:
                self._isolation.require_fresh(plan.info)
                raise constraint_error(plan.info, e, columns) from e
            finally:
                if new is not None:
                    new.close()
            return Outcome(rows=rows, warnings=self._warnings(plan, rows))

        if firings:
            return self._transaction.write(lambda: self._triggers.around(firings, changed))
        return self._transaction.write(changed)

    def _by_key(self, plan: ModifyPlan, key: Key, values: dict[str, object]) -> Outcome:
        """As `run`, for the row of a primary key: which row it is need not be found out to lock it."""
        undo = self._isolation.lock_one(plan, key)
        self._transaction.changes.require_current(plan.info)
        try:
            ((rows,),) = self._transaction.writer.execute_kept(plan.sql, values_in(plan.sql, values))
        except duckdb.ConstraintException as e:
            raise constraint_error(plan.info, e) from e
        if not rows:
            self._transaction.writer.forget_last()
            if undo is not None:
                undo()
        return Outcome(rows=rows, warnings=self._warnings(plan, rows))

    def _warnings(self, plan: ModifyPlan, changed: int, all_rows: int = 0) -> int:
        """What is told of texts, where so many rows were changed, `all_rows` with those inserted; -1279 for one that
        was cut in an ANSI database."""
        warnings = plan.warnings | (WARN_CUT if self._runner.cut else 0)
        met = (changed and warnings & WARN_CUT) or (all_rows and self._runner.cut)
        if met and self._transaction.ansi:
            raise SqlError(TOO_LONG, 0, 0, self._cut_column(plan))
        return warnings

    def _cut_column(self, plan: ModifyPlan) -> str:
        """The column that a text had no room in."""
        for cut in plan.cuts:
            if cut.literal or not cut.params.isdisjoint(self._runner.cut_params):
                return cut.column
        return self._cut

    def _unmatched(self, plan: ModifyPlan, values: dict[str, object]) -> Spool | None:
        """The rows that a MERGE will insert, as its tables are before it changes any."""
        if plan.then_insert is None or plan.then_insert.select is None:
            return None
        self._isolation.see_all(plan.tables)
        return self._inserts.source(plan.then_insert.select, values)

    def _run(
        self,
        plan: ModifyPlan,
        params: Sequence[object],
        values: dict[str, object],
        firing: Firing | None,
    ) -> int:
        """The number of rows changed."""
        if plan.cursor:
            return self._current_of(plan, values, firing)
        self._make_calls(plan, values)
        keys = self._isolation.lock_touched(plan, values)
        self._transaction.changes.require_current(plan.info)
        by_row = keys is not None
        own = plan.rekeys and plan.info.temporary  # few of its keys are changed, and an error says which
        if keys is None and plan.touched and (plan.looks or plan.rows or own):
            keys = self._runner.arrow(plan.touched, values)
        if keys is not None and not keys.num_rows:
            return 0
        if plan.merges and keys is not None:
            _refuse_repeated(keys)
        self._note_cut(plan, values)
        if plan.each:
            return self._each(plan, params)
        if keys is None:
            return self._changed(plan.sql, values)
        if plan.rows and firing is not None and firing.each_row:
            return self._row_by_row(plan, keys, values, firing, rekeys=plan.rekeys and by_row)
        if plan.rows:
            return self._seen(plan, keys, values, rekeys=plan.rekeys and by_row)
        if plan.made:
            return self._written(plan, keys, values, rekeys=plan.rekeys and by_row)
        if keys.num_rows == 1:
            one = {name: keys.column(name)[0].as_py() for name in keys.column_names}
            return self._changed(plan.head + single(plan.info, plan.alias), {**values, **one})
        return self._changed_over(plan.head + among(plan.info, plan.alias), keys, values)

    def _check_new_indexes(self, plan: ModifyPlan) -> None:
        """-239 for a repeated key. DuckDB does not hold rows of a transaction against an index that the same
        transaction has made."""
        if not self._schema.uncommitted or not (plan.whole or plan.rekeys):
            return
        for key in plan.info.keys:
            own_index = key.kind == "I" or not plan.info.blank_padded.isdisjoint(key.columns)
            if own_index and first_row(self._transaction.con, repeated_key(plan.info, key.columns)):
                raise duplicate(key.kind, key.name)

    def _current_of(self, plan: ModifyPlan, values: dict[str, object], firing: Firing | None) -> int:
        """WHERE CURRENT OF: -507 for a cursor that is not open on that table FOR UPDATE, -266 where it has no current
        row."""
        cursor = self._cursors.get(plan.cursor)
        if cursor is None or cursor.info.duck != plan.info.duck:
            raise SqlError(_NO_CURSOR, 0, 0, plan.cursor)
        key = cursor.current
        if key is None:
            raise SqlError(_NO_CURRENT_ROW, 0, 0, plan.cursor)
        self._isolation.lock_current(plan, key)
        self._transaction.changes.require_current(plan.info)
        values.update((f"k{i}", part) for i, part in enumerate(key))
        self._make_calls(plan, values)
        self._note_cut(plan, values)
        here = pa.table({f"k{i}": [part] for i, part in enumerate(key)})
        if plan.rows and firing is not None and firing.each_row:
            count = self._row_by_row(plan, here, values, firing, rekeys=plan.rekeys)
        elif plan.rows:
            count = self._seen(plan, here, values, rekeys=plan.rekeys)
        elif plan.made:
            count = self._written(plan, here, values, rekeys=plan.rekeys)
        else:
            count = self._changed(plan.sql, values)
        if not count:
            raise SqlError(_NO_CURRENT_ROW, 0, 0, plan.cursor)
        if not plan.columns:  # it was a DELETE
            cursor.current = None
        return count

    def _make_calls(self, plan: ModifyPlan, values: Mapping[str, object]) -> None:
        """Have the answers of the user routines that the statement will call."""
        if plan.probe:
            self._runner.probe(plan.probe, dict(values))

    def _note_cut(self, plan: ModifyPlan, values: Mapping[str, object]) -> None:
        if plan.cut:
            found = first_row(self._transaction.writer, plan.cut, values_in(plan.cut, dict(values)))
            if found is not None:
                self._runner.cut, self._cut = True, found[0]

    def _changed(self, sql: str, values: dict[str, object]) -> int:
        sql = self._runner.answers.answered(sql)
        done = first_row(self._transaction.writer, sql, values_in(sql, values)) if sql else None
        return int(done[0]) if done else 0

    def _changed_over(self, sql: str, rows: Any, values: dict[str, object]) -> int:
        text = self._runner.answers.answered(sql)
        return int(self._transaction.writer.execute_over(text, rows, values_in(text, values))[0][0])

    def _changed_each(self, sql: str, rows: Any) -> int:
        """As `_changed_over`, of rows that are there, each named once."""
        return self._transaction.writer.execute_each(self._runner.answers.answered(sql), rows)

    def _each(self, plan: ModifyPlan, params: Sequence[object]) -> int:
        """UPDATE with an object of its own for every row."""
        self._values.made = dict.fromkeys([*(f"file{i}" for i in range(len(plan.needs.files))), "row"])
        rows = self._transaction.con.execute(
            plan.each, values_in(plan.each, self._runner.bind(plan.needs, params))
        ).fetchall()
        for (row,) in rows:
            self._runner.load_files(plan.needs, params)
            self._values.made["row"] = row
            before = self._row_of(plan.info, row)
            self._changed(plan.sql, self._runner.bind(plan.needs, params))
            if before is not None:
                after = self._row_of(plan.info, row)
                if after is None or not after.num_rows:  # DuckDB has given it another row id
                    raise not_supported(
                        "files as new values of a key in a table whose rows are logged in full"
                    )
                self._transaction.changes.updated(plan.info, before, after)
        return len(rows)

    def _row_of(self, info: TableInfo, rowid: object) -> pa.Table | None:
        """All columns of a row that is logged; None for a table whose rows are not."""
        if not info.full_rows:
            return None
        names = ", ".join(quote(column.name) for column in info.columns)
        query = f"SELECT {names} FROM {info.duck} WHERE rowid = $rowid"
        found: pa.Table = self._transaction.con.sql(query, params={"rowid": rowid}).to_arrow_table()
        return found

    def _seen(self, plan: ModifyPlan, keys: Any, values: dict[str, object], *, rekeys: bool) -> int:
        """Run an UPDATE or DELETE of rows that are logged: they are read first, with their new values."""
        rows = self._all_made(plan, plan.rows, keys, values)
        return self._write(plan, rows, rekeys=rekeys) if plan.columns else self._delete(plan, rows)

    def _delete(self, plan: ModifyPlan, rows: pa.Table) -> int:
        """Delete rows that were found by `_made`."""
        count = self._changed_each(plan.head + among(plan.info, plan.alias), rows)
        if plan.info.full_rows:
            self._transaction.changes.deleted(plan.info, _as_it_was(plan.info, rows))
        return count

    def _written(self, plan: ModifyPlan, keys: Any, values: dict[str, object], *, rekeys: bool) -> int:
        """Run an UPDATE that looks at other rows, too, or changes keys. What it makes of its rows is found out first: a
        replay might see others, and their parents are locked; so are, with `rekeys`, their new keys."""
        return self._write(plan, self._all_made(plan, plan.made, keys, values), rekeys=rekeys)

    def _all_made(self, plan: ModifyPlan, query: str, keys: Any, values: dict[str, object]) -> pa.Table:
        """As `_made`, of rows that were just found. Differs where DuckDB does not find all of several again."""
        rows = self._made(plan, query, keys, values)
        if keys.num_rows > 1 and not plan.merges:
            require_count(rows.num_rows, keys.num_rows)
        return rows

    def _made(self, plan: ModifyPlan, query: str, keys: Any, values: dict[str, object]) -> pa.Table:
        """The rows of `plan.made` or `plan.rows` that have these identities."""
        text = self._runner.answers.answered(query + among(plan.info, plan.alias))
        rows: pa.Table = self._transaction.writer.table_with(text, keys, values_in(text, values))
        return rows

    def _write(self, plan: ModifyPlan, rows: pa.Table, *, rekeys: bool) -> int:
        """Write new values, found by `_made`, into their rows."""
        made = {column.name: rows.column(f"m{i}") for i, column in enumerate(plan.columns)}
        if plan.rekeys:
            kept = {n[1:]: rows.column(n) for n in rows.column_names if n.startswith("_")}
            if rekeys:
                self._isolation.lock_rekeyed(plan.info, set(made), {**kept, **made})
            refuse_same(plan.info, set(made), {**kept, **made})
        for foreign in plan.info.foreigns:
            if not made.keys().isdisjoint(foreign.columns):
                parts = [made[name] if name in made else rows.column(f"_{name}") for name in foreign.columns]
                self._isolation.lock_parents(plan.info, foreign, parts)
        names = columns(plan.info, plan.alias)
        sets = ", ".join(f"{quote(column.name)} = r.m{i}" for i, column in enumerate(plan.columns))
        match = " AND ".join(f"{name} = r.k{i}" for i, name in enumerate(names))
        head = f"UPDATE {plan.info.duck} AS {quote(plan.alias)}"
        count = self._changed_each(f"{head} SET {sets} FROM _ifx_rows AS r WHERE {match}", rows)
        if plan.info.full_rows:
            before = _as_it_was(plan.info, rows)
            after = pa.table(
                [made.get(name, before.column(name)) for name in before.column_names], before.column_names
            )
            self._transaction.changes.updated(plan.info, before, after)
        return count

    def _instead(self, plan: ModifyPlan, values: dict[str, object], firing: Firing) -> int:
        """Give the rows of a view to its INSTEAD OF triggers."""
        self._isolation.see_all(plan.tables)
        rows = self._runner.arrow(plan.rows, values)
        for number in range(rows.num_rows):
            row = rows.slice(number, 1)
            old = {c.name: row.column(f"_{c.name}")[0].as_py() for c in plan.info.columns}
            new = {c.name: row.column(f"m{i}")[0].as_py() for i, c in enumerate(plan.columns)}
            self._triggers.row(firing, old, {**old, **new} if plan.columns else {})
        return int(rows.num_rows)

    def _row_by_row(
        self,
        plan: ModifyPlan,
        keys: Any,
        values: dict[str, object],
        firing: Firing,
        *,
        rekeys: bool,
    ) -> int:
        """Change rows one after the other, each followed by the actions of triggers. Where keys are changed all rows
        are written first: one may take the key that another gives up."""
        rows = self._made(plan, plan.rows, keys, values)
        if plan.rekeys:
            self._write(plan, rows, rekeys=rekeys)
        count = 0
        for number in range(rows.num_rows):
            row = rows.slice(number, 1)
            if firing.disturbed and not plan.rekeys:
                row = self._made(plan, plan.rows, row, values)
            old = {c.name: row.column(f"_{c.name}")[0].as_py() for c in plan.info.columns}
            new = {c.name: row.column(f"m{i}")[0].as_py() for i, c in enumerate(plan.columns)}
            if not plan.columns:
                count += self._delete(plan, row)
            elif plan.rekeys:
                count += 1
            else:
                count += self._write(plan, row, rekeys=False)
            whole = {**old, **new} if plan.columns else {}
            given = self._triggers.row(firing, old, whole)
            if given:
                place = _place(plan, row.column("k0")[0].as_py(), whole)
                self._triggers.rewrite(plan.info, place, whole, given)
        return count


def _as_it_was(info: TableInfo, rows: pa.Table) -> pa.Table:
    """All columns of rows that were found by `ModifyPlan.rows`, before they were changed."""
    names = [column.name for column in info.columns]
    return pa.table([rows.column(f"_{name}") for name in names], names)


def _place(plan: ModifyPlan, rowid: object, row: Mapping[str, object]) -> dict[str, object]:
    """What a row that was written is found by: DuckDB gives it another row id when one of its keys was changed."""
    names = identity(plan.info)
    if names != ("rowid",):
        return {name: row[name] for name in names}
    if not plan.rekeys:
        return {"rowid": rowid}
    for unique in plan.info.keys:
        if all(row[name] is not None for name in unique.columns):
            return {name: row[name] for name in unique.columns}
    raise not_supported(
        "actions that give new values to a row without a primary key and with NULL in all of its keys"
    )


def _refuse_repeated(keys: pa.Table) -> None:
    """-410 for a row of a MERGE that several rows of its source would change: `keys` has it once for each."""
    if keys.group_by(keys.column_names).aggregate([]).num_rows < keys.num_rows:
        raise SqlError(_CHANGED_TWICE, detail="several rows of the source match one row of the target")
