"""INSERT: rows converted column by column, checked, and appended by one DuckDB statement.

Each row has its own outcome, as if it had been executed alone: a row that cannot be converted, is NULL
where it must not be, or repeats a key is left out and reported, the others go in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from ..wire.types import TypeCode
from .catalog import ColumnInfo, TableInfo, first_row, quote
from .conversions import Converted, arrow_storage, plain_value
from .engine_types import WARN_CUT, Outcome
from .errors import ISAM_DUPLICATE, SqlError, from_duckdb
from .result_cast import cast_column, numbers_of_keys
from .sql.plans import InsertPlan
from .sql.result_types import LONGS, SERIALS

if TYPE_CHECKING:
    from .running import RunningSession

_ROW = "_ifx_row"


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
    return _append(session, plan.info, columns, n, stop_at_error)


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
            columns[name] = Converted(_flat(array))
            continue
        if packed:
            array = numbers_of_keys(array)
        if same and array.type == arrow_storage(t):
            columns[name] = Converted(_flat(cast_column(array, source.type, array.type, session.codec)))
        else:
            values_ = array.to_pylist()
            if source.type.is_boolean:
                values_ = [None if v is None else "t" if v else "f" for v in values_]
            columns[name] = session.converter(t).column(values_)
    outcomes = _append(session, plan.info, columns, table.num_rows, stop_at_error=True)
    for outcome in outcomes:
        if isinstance(outcome, SqlError):
            raise outcome
    total = Outcome(rows=table.num_rows)
    for outcome in outcomes:
        assert isinstance(outcome, Outcome)
        total.warnings |= outcome.warnings
    if outcomes:
        last = outcomes[-1]
        assert isinstance(last, Outcome)
        total.serial, total.serial8, total.bigserial = last.serial, last.serial8, last.bigserial
    return total


def _column(info: TableInfo, name: str) -> ColumnInfo:
    column = info.column(name)
    assert column is not None
    return column


def _flat(array: Any) -> Any:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


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
    same = not plan.needs.used
    for row in rows:
        if same and found:
            found.append(found[0])
            continue
        values = session.bind(plan.needs, row)
        answer = first_row(session.con, sql, values or None)
        assert answer is not None
        found.append(answer)
    return {place: [row[i] for row in found] for i, place in enumerate(places)}


def _append(
    session: RunningSession, info: TableInfo, columns: dict[str, Converted], n: int, stop_at_error: bool
) -> list[Outcome | SqlError]:
    errors: dict[int, SqlError] = {}
    cut: set[int] = set()
    arrays: list[Any] = []
    serial: dict[str, list[int | None]] = {}
    for column in info.columns:
        converted = columns.get(column.name)
        if converted is None:
            converted = _omitted(session, column, n, errors)
        for row, error in converted.errors.items():
            errors.setdefault(row, error)
        cut |= converted.cut
        array = _flat(converted.array)
        if column.type.code in SERIALS:
            numbers = session.engine.serials.assign(session, info, column, array.to_pylist())
            serial[column.name] = numbers
            array = pa.array(numbers, arrow_storage(column.type))
        elif column.type.not_null and array.null_count:
            for row in array.is_null().to_numpy(zero_copy_only=False).nonzero()[0].tolist():
                errors.setdefault(row, SqlError(-391, 0, 0, column.name))
        arrays.append(array)
    fields = [(c.name, a.type) for c, a in zip(info.columns, arrays, strict=True)]
    table = pa.table([*arrays, pa.array(range(n), pa.int64())], names=[name for name, _ in fields] + [_ROW])
    _duplicates_inside(info, arrays, n, errors)
    limit = _limit(errors, n, stop_at_error)
    if session.in_transaction:
        _violations(session, info, table, errors)
        _repair_order(info, arrays, n, errors)
    limit = _limit(errors, n, stop_at_error)
    try:
        _write(session, info, table, errors, limit)
    except duckdb.ConstraintException as e:
        if session.in_transaction:
            raise _constraint_error(info, e) from e
        # outside a transaction the insert is tried first; only now is it worth asking which rows are wrong
        session.restart_statement()
        before = len(errors)
        _violations(session, info, table, errors)
        _repair_order(info, arrays, n, errors)
        if len(errors) == before:
            raise _constraint_error(info, e) from e
        limit = _limit(errors, n, stop_at_error)
        _write(session, info, table, errors, limit)
    return _outcomes(session, info, serial, errors, cut, n if not stop_at_error else limit)


def _limit(errors: dict[int, SqlError], n: int, stop_at_error: bool) -> int:
    """Rows to look at: all, or up to and with the first error."""
    return min(errors) + 1 if stop_at_error and errors else n


def _omitted(session: RunningSession, column: ColumnInfo, n: int, errors: dict[int, SqlError]) -> Converted:
    """A column that the INSERT does not name: its default, the next serial or NULL."""
    kind = arrow_storage(column.type)
    value = None if column.is_serial else session.default_value(column)
    if value is None and column.type.not_null and not column.is_serial:
        for row in range(n):
            errors.setdefault(row, SqlError(-292, 0, 0, column.name))
    return Converted(pa.array([value] * n, kind) if value is not None else pa.nulls(n, kind))


def _duplicates_inside(info: TableInfo, arrays: list[Any], n: int, errors: dict[int, SqlError]) -> None:
    """A later row with a key of an earlier good one is the duplicate."""
    if n < 2 or not info.keys:
        return
    names = [c.name for c in info.columns]
    key_columns = [[arrays[names.index(c)].to_pylist() for c in key.columns] for key in info.keys]
    seen: list[set[tuple[object, ...]]] = [set() for _ in info.keys]
    for row in range(n):
        if row in errors:
            continue
        keys = [tuple(column[row] for column in columns) for columns in key_columns]
        for key, known, unique in zip(keys, seen, info.keys, strict=True):
            if None not in key and key in known:
                errors[row] = duplicate(unique.kind, unique.name)
                break
        else:
            for key, known in zip(keys, seen, strict=True):
                known.add(key)


def _repair_order(info: TableInfo, arrays: list[Any], n: int, errors: dict[int, SqlError]) -> None:
    """A row was called duplicate of one that failed since: decide those again."""
    kept = {row: e for row, e in errors.items() if not getattr(e, "inside", False)}
    if len(kept) == len(errors):
        return
    errors.clear()
    errors.update(kept)
    _duplicates_inside(info, arrays, n, errors)


def duplicate(kind: str, name: str) -> SqlError:
    """-239 for a unique index, -268 for a constraint."""
    if kind == "I":
        error = SqlError(-239, ISAM_DUPLICATE, 0, f"informix.{name}")
    else:
        error = SqlError(-268, ISAM_DUPLICATE, 0, f"informix.{name}")
    return error


def _violations(session: RunningSession, info: TableInfo, table: Any, errors: dict[int, SqlError]) -> None:
    """Rows that break a key, CHECK or foreign key of the table as it stands."""
    writer = session.writer
    for unique in info.keys:
        match = " AND ".join(f"t.{quote(c)} = b.{quote(c)}" for c in unique.columns)
        sql = f"SELECT b.{_ROW} FROM _ifx_rows b SEMI JOIN {info.duck} t ON {match}"
        for (row,) in writer.read_with(sql, table):
            errors[row] = duplicate(unique.kind, unique.name)
    for check in info.checks:
        for (row,) in writer.read_with(f"SELECT {_ROW} FROM _ifx_rows WHERE NOT ({check.duck})", table):
            errors.setdefault(row, SqlError(-530, 0, 0, f"informix.{check.name}"))
    place = info.duck.rpartition(".")[0]
    for foreign in info.foreigns:
        match = " AND ".join(
            f"t.{quote(there)} = b.{quote(here)}"
            for here, there in zip(foreign.columns, foreign.parent_columns, strict=True)
        )
        present = " AND ".join(f"b.{quote(c)} IS NOT NULL" for c in foreign.columns)
        parent = f"{place}.{quote(foreign.parent)}"
        sql = f"SELECT b.{_ROW} FROM _ifx_rows b ANTI JOIN {parent} t ON {match} WHERE {present}"
        for (row,) in writer.read_with(sql, table):
            errors.setdefault(row, SqlError(-691, -111, 0, f"informix.{foreign.name}"))


def _write(
    session: RunningSession, info: TableInfo, table: Any, errors: dict[int, SqlError], limit: int
) -> None:
    if limit < table.num_rows:
        table = table.slice(0, limit)
    if errors:
        good = [row for row in range(table.num_rows) if row not in errors]
        if not good:
            return
        table = table.take(pa.array(good, pa.int64()))
    if not table.num_rows:
        return
    names = ", ".join(quote(c.name) for c in info.columns)
    if table.num_rows == 1:
        # one row is cheaper as bound values than as a registered table
        values = [column[0].as_py() for column in table.columns[:-1]]
        places = ", ".join("?" * len(values))
        session.writer.execute(f"INSERT INTO {info.duck} ({names}) VALUES ({places})", values).fetchall()
        return
    session.writer.insert(f"INSERT INTO {info.duck} ({names}) SELECT {names} FROM _ifx_rows", table)


def _constraint_error(info: TableInfo, error: duckdb.Error) -> SqlError:
    """The Informix error for a constraint that only DuckDB saw (two sessions, UPDATE)."""
    found = from_duckdb(error)
    if found.sqlcode == -268:
        message = str(error)
        for unique in info.keys:
            if all(f"{c}: " in message for c in unique.columns) or len(info.keys) == 1:
                return duplicate(unique.kind, unique.name)
    elif found.sqlcode == -530 and info.checks:
        message = str(error)
        for check in info.checks:
            if len(info.checks) == 1 or check.duck.replace('"', "") in message.replace('"', ""):
                return SqlError(-530, 0, 0, f"informix.{check.name}")
    elif found.sqlcode == -691 and info.foreigns:
        return SqlError(-691, -111, 0, f"informix.{info.foreigns[0].name}")
    return found


constraint_error = _constraint_error


def _outcomes(
    session: RunningSession,
    info: TableInfo,
    serial: dict[str, list[int | None]],
    errors: dict[int, SqlError],
    cut: set[int],
    n: int,
) -> list[Outcome | SqlError]:
    plain = [None] * n
    four = eight = big = plain  # type: Sequence[int | None]
    for column in info.columns:
        if column.name in serial:
            if column.type.code == TypeCode.SERIAL:
                four = serial[column.name]
            elif column.type.code == TypeCode.SERIAL8:
                eight = serial[column.name]
            elif column.type.code in LONGS:
                big = serial[column.name]
    if not (serial or errors or cut):
        results: list[Outcome | SqlError] = [Outcome(rows=1) for _ in range(n)]
    else:
        results = [
            errors[row]
            if row in errors
            else Outcome(1, four[row] or 0, eight[row] or 0, big[row] or 0, WARN_CUT if row in cut else 0)
            for row in range(n)
        ]
    for result in reversed(results):
        if isinstance(result, Outcome):
            session.sqlerrd1 = result.serial or session.sqlerrd1
            session.serial8 = result.serial8 or session.serial8
            session.bigserial = result.bigserial or session.bigserial
            break
    return results


__all__ = ["constraint_error", "duplicate", "insert_table", "insert_values", "plain_value"]
