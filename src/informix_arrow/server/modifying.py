"""UPDATE, DELETE and MERGE: the rows are locked, then changed by their identities, then written into the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from . import references
from .catalog import TableInfo, first_row, quote, repeated_key
from .engine_types import WARN_CUT, Outcome
from .errors import SqlError
from .row_inserts import constraint_error, duplicate, insert_table
from .running import values_in
from .sql.keyed import among, columns, single
from .sql.plans import ModifyPlan

if TYPE_CHECKING:
    from .engine_session import EngineSession

_NO_CURSOR, _NO_CURRENT_ROW = -507, -266


def modify(session: EngineSession, plan: ModifyPlan, params: Sequence[object]) -> Outcome:
    """Run one of them as a statement of its own, or as a part of one. -244 for rows that others have locked."""
    session.cut = False
    values = {} if plan.each else session.bind(plan.needs, params)

    def run() -> Outcome:
        try:
            with session.routines.calls.remembering():
                rows = _run(session, plan, params, values)
                if rows:
                    _check_new_indexes(session, plan)
                    references.settle(session, plan)
            if plan.then_insert is not None:
                inserted = insert_table(
                    session, plan.then_insert, session.bind(plan.then_insert.needs, params)
                )
                inserted.rows += rows
                inserted.warnings |= plan.warnings
                return inserted
        except duckdb.ConstraintException as e:
            session.isolation.require_fresh(plan.info)
            raise _constraint(plan.info, e) from e
        return Outcome(rows=rows, warnings=plan.warnings | (WARN_CUT if session.cut else 0))

    return session.write(run)


def _run(
    session: EngineSession, plan: ModifyPlan, params: Sequence[object], values: dict[str, object]
) -> int:
    """The number of rows changed."""
    if plan.cursor:
        return _current_of(session, plan, values)
    _make_calls(session, plan, values)
    keys = session.isolation.lock_touched(plan, values)
    if keys is None and plan.looks and plan.touched:
        keys = session.fetch_arrow(plan.touched, values)
    if keys is not None and not keys.num_rows:
        return 0
    _note_cut(session, plan, values)
    if plan.each:
        return _each(session, plan, params)
    if keys is None:
        if plan.source and session.careful:
            rows = session.fetch_arrow(plan.source, values)
            return _changed_over(session, plan.over, rows, values)
        return _changed(session, plan.sql, values)
    if plan.made:
        return _written(session, plan, keys, values)
    if keys.num_rows == 1:
        one = {name: keys.column(name)[0].as_py() for name in keys.column_names}
        return _changed(session, plan.head + single(plan.info, plan.alias), {**values, **one})
    return _changed_over(session, plan.head + among(plan.info, plan.alias), keys, values)


def _check_new_indexes(session: EngineSession, plan: ModifyPlan) -> None:
    """-239 for a repeated key. DuckDB does not hold rows of a transaction against an index that the same transaction
    has made."""
    if not session.defining or not plan.whole:
        return
    for key in plan.info.keys:
        if key.kind == "I" and first_row(session.con, repeated_key(plan.info, key.columns)):
            raise duplicate(key.kind, key.name)


def _current_of(session: EngineSession, plan: ModifyPlan, values: dict[str, object]) -> int:
    """WHERE CURRENT OF: -507 for a cursor that is not open on that table FOR UPDATE, -266 where it has no current
    row."""
    cursor = session.cursors.get(plan.cursor)
    if cursor is None or cursor.info.duck != plan.info.duck:
        raise SqlError(_NO_CURSOR, 0, 0, plan.cursor)
    key = cursor.current
    if key is None:
        raise SqlError(_NO_CURRENT_ROW, 0, 0, plan.cursor)
    session.isolation.lock_current(plan, key)
    values.update((f"k{i}", part) for i, part in enumerate(key))
    _make_calls(session, plan, values)
    _note_cut(session, plan, values)
    if plan.made:
        here = pa.table({f"k{i}": [part] for i, part in enumerate(key)})
        count = _written(session, plan, here, values)
    else:
        count = _changed(session, plan.sql, values)
    if not count:
        raise SqlError(_NO_CURRENT_ROW, 0, 0, plan.cursor)
    if not plan.columns:  # it was a DELETE
        cursor.current = None
    return count


def _make_calls(session: EngineSession, plan: ModifyPlan, values: Mapping[str, object]) -> None:
    """Have the answers of the user routines that the statement will call."""
    if plan.probe:
        bound = values_in(plan.probe, dict(values)) or {}
        session.routines.settled(plan.probe, lambda: session.con.execute(plan.probe, bound).fetchall())


def _note_cut(session: EngineSession, plan: ModifyPlan, values: Mapping[str, object]) -> None:
    if plan.cut and first_row(session.writer, plan.cut, values_in(plan.cut, dict(values))):
        session.cut = True


def _changed(session: EngineSession, sql: str, values: dict[str, object]) -> int:
    sql = session.routines.calls.answered(sql)
    done = first_row(session.writer, sql, values_in(sql, values)) if sql else None
    return int(done[0]) if done else 0


def _changed_over(session: EngineSession, sql: str, rows: Any, values: dict[str, object]) -> int:
    text = session.routines.calls.answered(sql)
    return int(session.writer.execute_over(text, rows, values_in(text, values))[0][0])


def _each(session: EngineSession, plan: ModifyPlan, params: Sequence[object]) -> int:
    """UPDATE with an object of its own for every row."""
    session.made = dict.fromkeys([*(f"file{i}" for i in range(len(plan.needs.files))), "row"])
    rows = session.con.execute(plan.each, values_in(plan.each, session.bind(plan.needs, params))).fetchall()
    for (row,) in rows:
        session.load_files(plan.needs, params)
        session.made["row"] = row
        _changed(session, plan.sql, session.bind(plan.needs, params))
    return len(rows)


def _written(session: EngineSession, plan: ModifyPlan, keys: Any, values: dict[str, object]) -> int:
    """Run an UPDATE that looks at other rows, too. What it makes of its rows is found out first: a replay might see
    others, and their parents are locked."""
    text = session.routines.calls.answered(plan.made + among(plan.info, plan.alias))
    rows = session.writer.table_with(text, keys, values_in(text, values))
    made = {column.name: rows.column(f"m{i}") for i, column in enumerate(plan.columns)}
    for foreign in plan.info.foreigns:
        if not made.keys().isdisjoint(foreign.columns):
            parts = [made[name] if name in made else rows.column(f"_{name}") for name in foreign.columns]
            session.isolation.lock_parents(plan.info, foreign, parts)
    names = columns(plan.info, plan.alias)
    sets = ", ".join(f"{quote(column.name)} = r.m{i}" for i, column in enumerate(plan.columns))
    match = " AND ".join(f"{name} = r.k{i}" for i, name in enumerate(names))
    head = f"UPDATE {plan.info.duck} AS {quote(plan.alias)}"
    return _changed_over(session, f"{head} SET {sets} FROM _ifx_rows AS r WHERE {match}", rows, {})


def _constraint(info: TableInfo, error: duckdb.Error) -> SqlError:
    return constraint_error(info, error)
