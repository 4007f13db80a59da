"""INSERT: rows converted column by column to the target's storage, then appended (appending.py).

Each row has its own outcome, as if it had been executed alone: a row that cannot be converted, is NULL
where it must not be, or repeats a key is left out and reported, the others go in.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..wire.types import ColumnType
from .appending import BatchOutcome, append, constraint_error, duplicate, flat
from .catalog import ColumnInfo, TableInfo, first_row
from .conversions import Converted, arrow_storage, plain_value
from .engine_types import WARN_CUT, Outcome
from .errors import SqlError
from .result_cast import cast_column, numbers_of_keys
from .sql.plans import InsertPlan
from .sql.result_types import LONGS, is_character, is_floating_decimal

if TYPE_CHECKING:
    from .running import RunningSession


_NEXT_NUMBER = "nextval("
"""What a value has in it that is another one for each row (sql/sequences.py)."""


def insert_values(
    session: RunningSession, plan: InsertPlan, rows: Sequence[Sequence[object]], stop_at_error: bool = False
) -> list[Outcome | SqlError]:
    """INSERT ... VALUES for each row of parameters, inside `session.write`."""
    assert plan.values is not None
    n = len(rows)
    evaluated = _expressions(session, plan, rows)
    sources: dict[str, Sequence[object]] = {}
    for position, (name, (kind, value)) in enumerate(zip(plan.targets, plan.values, strict=True)):
        if kind == "param":
            number = value
            assert isinstance(number, int)
            sources[name] = [row[number] for row in rows]
        elif kind == "const":
            sources[name] = [value] * n
        else:
            sources[name] = evaluated[position]
    columns = {
        name: session.converter(_column(plan.info, name).type).column(values)
        for name, values in sources.items()
    }
    return append(session, plan.info, columns, n, stop_at_error).each()


def takes_batches(plan: object) -> bool:
    """Whether `insert_batch` can do a statement: INSERT ... VALUES in which every `?` is a column's whole
    value, and no value has to be made row by row."""
    if not isinstance(plan, InsertPlan) or plan.values is None or plan.needs.used or plan.by_row:
        return False
    if any(kind == "expr" and _NEXT_NUMBER in str(value) for kind, value in plan.values):
        return False
    numbers = [value for kind, value in plan.values if kind == "param"]
    return sorted(map(str, numbers)) == sorted(map(str, range(len(plan.needs.params))))


def insert_batch(
    session: RunningSession, plan: InsertPlan, batch: Any, stop_at_error: bool = False
) -> BatchOutcome:
    """INSERT ... VALUES for each row of a record batch with one column per parameter (bulk.py), inside
    `session.write`. The plan is one that `takes_batches`."""
    assert plan.values is not None
    n = batch.num_rows
    evaluated = _expressions(session, plan, [()])
    columns: dict[str, Converted] = {}
    for position, (name, (kind, value)) in enumerate(zip(plan.targets, plan.values, strict=True)):
        t = _column(plan.info, name).type
        if kind == "param":
            assert isinstance(value, int)
            columns[name] = _stored(session, t, batch.column(value))
        else:
            constant = value if kind == "const" else evaluated[position][0]
            columns[name] = _repeated(session.converter(t).column([constant]), n)
    return append(session, plan.info, columns, n, stop_at_error)


def python_rows(batch: Any, types: Sequence[ColumnType]) -> list[tuple[object, ...]]:
    """The rows of a batch as `insert_values` takes them."""
    columns = [_python_values(array, t) for array, t in zip(batch.columns, types, strict=True)]
    return list(zip(*columns, strict=True)) if columns else [()] * batch.num_rows


def insert_table(session: RunningSession, plan: InsertPlan, values: dict[str, object]) -> Outcome:
    """INSERT ... SELECT: all rows or none."""
    assert plan.select is not None
    table = session.fetch_arrow(plan.select.sql, values)
    columns: dict[str, Converted] = {}
    for name, source, array, packed in zip(
        plan.targets, plan.select.columns, table.columns, plan.select.packed, strict=True
    ):
        t = _column(plan.info, name).type
        same = (t.code, t.encoded_length) == (source.type.code, source.type.encoded_length)
        if packed and same:
            columns[name] = Converted(flat(array))
            continue
        if packed:
            array = numbers_of_keys(array)
        if same and array.type == arrow_storage(t):
            columns[name] = Converted(flat(cast_column(array, source.type, array.type, session.codec)))
        else:
            values_ = array.to_pylist()
            if source.type.is_boolean:
                values_ = [None if v is None else "t" if v else "f" for v in values_]
            columns[name] = session.converter(t).column(values_)
    outcome = append(session, plan.info, columns, table.num_rows, stop_at_error=True)
    for error in outcome.errors.values():
        raise error
    total = Outcome(rows=table.num_rows)
    if outcome.rows:
        last = outcome.of(outcome.rows - 1)
        assert isinstance(last, Outcome)
        total.serial, total.serial8, total.bigserial = last.serial, last.serial8, last.bigserial
        total.warnings = WARN_CUT if outcome.cut else 0
    return total


def _column(info: TableInfo, name: str) -> ColumnInfo:
    column = info.column(name)
    assert column is not None
    return column


def _expressions(
    session: RunningSession, plan: InsertPlan, rows: Sequence[Sequence[object]]
) -> dict[int, Sequence[object]]:
    """Values of the items that are neither literals nor bare parameters, by position, from one query per
    row."""
    assert plan.values is not None
    places = [i for i, (kind, _) in enumerate(plan.values) if kind == "expr"]
    if not places:
        return {}
    sql = "SELECT " + ", ".join(str(plan.values[i][1]) for i in places)
    found: list[tuple[Any, ...]] = []
    same = not plan.needs.used and _NEXT_NUMBER not in sql
    for row in rows:
        if same and found:
            found.append(found[0])
            continue
        values = session.bind(plan.needs, row)
        answer = session.routines.settled(sql, partial(first_row, session.con, sql, values or None))
        assert answer is not None
        found.append(answer)
    return {place: [row[i] for row in found] for i, place in enumerate(places)}


# ---- Arrow columns -------------------------------------------------------------------------------


def _stored(session: RunningSession, t: ColumnType, array: Any) -> Converted:
    """A parameter's column in the target's storage form, with what `Converter` does to each value."""
    if is_character(t):
        return _texts(session, t, array)
    wanted = arrow_storage(t)
    if array.type == wanted and not is_floating_decimal(t):
        lowest = pc.min(array).as_py() if t.code in LONGS else None
        if lowest is None or lowest > -(2**63):
            return Converted(array)
    elif (pa.types.is_timestamp(array.type) and pa.types.is_timestamp(wanted)) or (
        pa.types.is_time(array.type) and pa.types.is_time(wanted)
    ):
        return Converted(array.cast(wanted))  # to the finer unit
    return session.converter(t).column(_python_values(array, t))


def _texts(session: RunningSession, t: ColumnType, array: Any) -> Converted:
    """Texts, those cut that have more bytes in the database's code set than their column."""
    utf8 = session.codec in ("utf-8", "utf8")
    lengths = pc.binary_length(array) if utf8 else pc.utf8_length(array)  # the others have one byte each
    longest = pc.max(lengths).as_py()
    if longest is None or longest <= t.content_width:
        return Converted(array)
    too_long = pc.greater(lengths, t.content_width).fill_null(False)
    rows = np.flatnonzero(too_long.to_numpy(zero_copy_only=False)).tolist()
    converter = session.converter(t)
    cut = [converter.one(text) for text in array.filter(too_long).to_pylist()]
    return Converted(pc.replace_with_mask(array, too_long, pa.array(cut, array.type)), cut=set(rows))


def _repeated(one: Converted, n: int) -> Converted:
    """A converted constant for every row."""
    return Converted(
        pa.repeat(one.array[0], n),
        dict.fromkeys(range(n), one.errors[0]) if one.errors else {},
        set(range(n)) if one.cut else set(),
    )


def _python_values(array: Any, t: ColumnType) -> Sequence[object]:
    """The Python objects that `Converter` takes for what the bulk reader made of them."""
    values: list[object] = array.to_pylist()
    if is_floating_decimal(t):
        return [None if v is None else Decimal(str(v)) for v in values]
    return values


__all__ = [
    "constraint_error",
    "duplicate",
    "insert_batch",
    "insert_table",
    "insert_values",
    "plain_value",
    "python_rows",
    "takes_batches",
]
