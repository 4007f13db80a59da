"""Appends whole columns in storage form to a table, with an outcome for every row.

Each row is treated as if it were inserted alone, in order. A row that is NULL where it must not be, repeats a key, or
violates a CHECK or a foreign key is left out and reported; the others are inserted. Python runs per row only for rows
with an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...wire.quoting import double_quoted
from ...wire.types import TypeCode
from ..catalog.catalog import (
    ColumnInfo,
    TableInfo,
    key_part,
    key_texts,
    nullable_columns,
    parent_condition,
    same_key_condition,
)
from ..errors import SqlError, from_duckdb
from ..plan.plans import WARN_CUT
from ..types.column_converter import ConvertedColumn, as_array
from ..types.conversions import arrow_storage
from ..types.result_types import LONGS, SERIALS
from .deferred_constraints import DeferredConstraints
from .duplicate_keys import duplicate_error
from .foreign_keys import parent_name
from .isolation import Isolation
from .journal import WriteRecorder
from .prepared_plan import StatementOutcome
from .serials import SerialCounters, counter_after
from .session_values import SessionValues
from .transaction import SessionTransaction

_ROW = "_ifx_row"
TOO_LONG = -1279
"""SQLCODE for text that is too long for its column, in an ANSI database."""
_NO_ROWS: frozenset[int] = frozenset()

_ONE_ROW = StatementOutcome(1)
"""The outcome of most rows."""

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(slots=True)
class BatchOutcome:
    """Outcome of `rows` rows that were inserted as if each had been alone.

    `errors` and `truncated_rows` hold row numbers from 0. Rows in neither were inserted unchanged. `serial`, `serial8`
    and `bigserial` have one int64 per row, None for a table without such a column. `inserted_table` has the rows in
    storage form if triggers need them.
    """

    rows: int
    errors: dict[int, SqlError] = field(default_factory=dict)
    truncated_rows: frozenset[int] = _NO_ROWS
    serial: Integers | None = None
    serial8: Integers | None = None
    bigserial: Integers | None = None
    inserted_table: pa.Table | None = None

    @property
    def inserted(self) -> int:
        """Number of inserted rows."""
        return self.rows - len(self.errors)

    @property
    def last_inserted(self) -> int | None:
        """Number of the last inserted row."""
        for row in range(self.rows - 1, -1, -1):
            if row not in self.errors:
                return row
        return None

    def outcome(self, row: int) -> StatementOutcome | SqlError:
        """Return the outcome of one row, as if it had been inserted alone."""
        error = self.errors.get(row)
        if error is not None:
            return error
        serial, serial8, bigserial = (
            0 if numbers is None else int(numbers[row])
            for numbers in (self.serial, self.serial8, self.bigserial)
        )
        return StatementOutcome(1, serial, serial8, bigserial, WARN_CUT if row in self.truncated_rows else 0)

    def outcomes(self) -> list[StatementOutcome | SqlError]:
        """Return all outcomes, in order."""
        return [self.outcome(row) for row in range(self.rows)]

    @classmethod
    def from_outcomes(cls, outcomes: Sequence[StatementOutcome | SqlError]) -> BatchOutcome:
        """Combine the outcomes of single executions of one INSERT."""
        if len(outcomes) == 1 and outcomes[0] == _ONE_ROW:
            return cls(1)

        def numbers(name: str) -> Integers | None:
            serials = [0 if isinstance(o, SqlError) else int(getattr(o, name)) for o in outcomes]
            return np.array(serials, np.int64) if any(serials) else None

        return cls(
            len(outcomes),
            {row: o for row, o in enumerate(outcomes) if isinstance(o, SqlError)},
            frozenset(
                row for row, o in enumerate(outcomes) if isinstance(o, StatementOutcome) and o.warnings
            ),
            numbers("serial"),
            numbers("serial8"),
            numbers("bigserial"),
        )


@dataclass(eq=False, repr=False)
class TableAppender:
    """Inserts rows for one session."""

    _values: SessionValues
    _serials: SerialCounters
    _transaction: SessionTransaction
    _isolation: Isolation

    def append(
        self,
        info: TableInfo,
        columns: Mapping[str, ConvertedColumn],
        n: int,
        stop_at_error: bool,
        *,
        further: bool = False,
        repeated: bool = True,
    ) -> BatchOutcome:
        """Insert `n` rows, inside `SessionTransaction.write`.

        `columns` are those that the INSERT names. With `stop_at_error` nothing after the first error is inserted or
        checked. `further` says that other rows of the statement are already inserted. `repeated` is that of
        `WriteRecorder.execute_with_rows`.
        """
        transaction, isolation, writer = self._transaction, self._isolation, self._transaction.recorder
        careful = transaction.must_preserve_work or further
        errors: dict[int, SqlError] = {}
        truncated: set[int] = set()
        arrays: dict[str, Any] = {}
        serials: dict[str, Integers] = {}
        given_back: dict[str, tuple[int, int]] = {}
        for column in info.columns:
            converted = columns.get(column.name)
            if converted is None:
                converted = self._default_column(column, n)
            _add_errors(errors, converted.errors)
            if converted.truncated_rows and transaction.is_ansi:
                _add_errors(
                    errors, dict.fromkeys(converted.truncated_rows, SqlError(TOO_LONG, 0, 0, column.name))
                )
            else:
                truncated |= converted.truncated_rows
            array = as_array(converted.array)
            if column.type.code in SERIALS:
                numbers, first, following = self._serials.assign(transaction.con, info, column, array)
                given_back[column.name] = (first, following)
                serials[column.name] = numbers
                array = _serial_array(column, numbers, errors)
            elif column.type.not_null and array.null_count:
                missing = SqlError(-391, 0, 0, column.name)
                _add_errors(errors, dict.fromkeys(_true_positions(array.is_null()), missing))
            arrays[column.name] = array
        isolation.lock_inserted_keys(info, arrays)
        transaction.change_logger.require_current_logging(info)
        table = pa.table([*arrays.values(), np.arange(n, dtype=np.int64)], names=[*arrays, _ROW])
        rules = _constraint_checks(info, arrays, transaction.deferred_constraints)
        nulls = any(rule.nulls for rule in rules)
        if nulls:  # DuckDB would not find a duplicate that another session has committed since
            isolation.require_fresh(info)
        check_first = careful or info.has_engine_checks
        broken = (
            _find_violations(writer, self._values, rules, table, nulls=True)
            if nulls and not check_first
            else {}
        )
        if check_first or broken:  # the first violated constraint is reported
            broken = _find_violations(writer, self._values, rules, table)
        if broken:
            isolation.require_fresh(info)
            isolation.wait_for_freed_keys(info, table)
        wrong = _rejected_rows(rules, arrays, n, errors, broken)
        limit = _rows_to_insert(wrong, n, stop_at_error)
        try:
            _write(transaction, info, table, wrong, limit, repeated)
        except duckdb.ConstraintException as e:
            isolation.require_fresh(info)
            if careful:
                raise constraint_error(info, e) from e
            # outside a transaction the insert is tried first; the failing rows are searched for only now
            transaction.restart_statement()
            broken = _find_violations(writer, self._values, rules, table)
            isolation.wait_for_freed_keys(info, table)
            if not broken:
                raise constraint_error(info, e) from e
            wrong = _rejected_rows(rules, arrays, n, errors, broken)
            limit = _rows_to_insert(wrong, n, stop_at_error)
            _write(transaction, info, table, wrong, limit, repeated)
        if limit < n:
            for name, (first, following) in given_back.items():
                column = next(c for c in info.columns if c.name == name)
                used = counter_after(first, serials[name][:limit], column)
                self._serials.return_unused(info, name, following, used)
        outcome = BatchOutcome(
            limit,
            {row: error for row, error in wrong.items() if row < limit},
            frozenset(row for row in truncated if row < limit) if truncated else _NO_ROWS,
        )
        self._report_serials(info, outcome, serials)
        if info.has_triggers:
            outcome.inserted_table = table
        return outcome

    def _default_column(self, column: ColumnInfo, n: int) -> ConvertedColumn:
        """Return the values of a column that the INSERT does not name: its default, the next serial or NULL."""
        kind = arrow_storage(column.type)
        value = None if column.is_serial else self._values.default(column)
        if value is not None:
            return ConvertedColumn(pa.repeat(pa.scalar(value, kind), n))
        result = ConvertedColumn(pa.nulls(n, kind))
        if column.type.not_null and not column.is_serial:
            result.errors = dict.fromkeys(range(n), SqlError(-292, 0, 0, column.name))
        return result

    def _report_serials(
        self, info: TableInfo, outcome: BatchOutcome, serials: Mapping[str, Integers]
    ) -> None:
        """Set the serials of each row, and the session's last ones (DBINFO)."""
        for column in info.columns:
            numbers = serials.get(column.name)
            if numbers is None:
                continue
            if column.type.code == TypeCode.SERIAL:
                outcome.serial = numbers
            elif column.type.code == TypeCode.SERIAL8:
                outcome.serial8 = numbers
            elif column.type.code in LONGS:
                outcome.bigserial = numbers
        last = outcome.last_inserted if serials else None
        if last is not None:
            last_outcome = outcome.outcome(last)
            assert isinstance(last_outcome, StatementOutcome)
            values = self._values
            values.sqlerrd1 = last_outcome.serial or values.sqlerrd1
            values.serial8 = last_outcome.serial8 or values.serial8
            values.bigserial = last_outcome.bigserial or values.bigserial


def _add_errors(errors: dict[int, SqlError], more: Mapping[int, SqlError]) -> dict[int, SqlError]:
    """Add errors of rows that have none yet."""
    for row, error in more.items():
        errors.setdefault(row, error)
    return errors


def _true_positions(mask: Any) -> list[int]:
    """Return the row numbers where a boolean Arrow array is true."""
    positions: list[int] = np.flatnonzero(mask.to_numpy(zero_copy_only=False)).tolist()
    return positions


def _rows_to_insert(errors: Mapping[int, SqlError], n: int, stop_at_error: bool) -> int:
    """Return the number of rows to check: all, or up to and including the first error."""
    return min(errors) + 1 if stop_at_error and errors else n


# ---- columns -----------------------------------------------------------------------------------


def _serial_array(column: ColumnInfo, numbers: Integers, errors: dict[int, SqlError]) -> Any:
    """Return serial numbers in storage form; -1215 for those beyond a SERIAL's range."""
    kind = arrow_storage(column.type)
    if pa.types.is_int32(kind):
        beyond = np.abs(numbers) > 2**31 - 1
        if beyond.any():
            _add_errors(errors, dict.fromkeys(np.flatnonzero(beyond).tolist(), SqlError(-1215)))
            return pa.array(np.where(beyond, 0, numbers), kind)
    return pa.array(numbers).cast(kind)


# ---- keys and constraints ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ConstraintCheck:
    """A constraint that a row may violate.

    `query` finds the rows of the batch that violate it together with the stored table. `columns` are those of a key;
    `nulls` says that a row of the batch has a NULL in it. Trailing blanks in the texts of `padded` columns do not
    matter.
    """

    error: SqlError
    query: str
    columns: tuple[str, ...] = ()
    nulls: bool = False
    padded: frozenset[str] = frozenset()


def _constraint_checks(
    info: TableInfo, arrays: Mapping[str, Any], deferred: DeferredConstraints
) -> list[_ConstraintCheck]:
    """Return keys, CHECKs and foreign keys that are not deferred, in the order in which they are checked.

    `arrays` are the columns of the rows.
    """
    rules: list[_ConstraintCheck] = []
    for unique in info.keys:
        nulls = any(arrays[name].null_count for name in nullable_columns(info, unique.columns))
        match = same_key_condition(info, unique.columns, "t", "b", nulls=nulls)
        query = f"SELECT b.{_ROW} FROM _ifx_rows b SEMI JOIN {info.duck_name} t ON {match}"
        padded = info.blank_padded.intersection(unique.columns)
        rules.append(
            _ConstraintCheck(duplicate_error(unique.kind, unique.name), query, unique.columns, nulls, padded)
        )
    for check in info.checks:
        query = f"SELECT {_ROW} FROM _ifx_rows WHERE NOT ({check.duck_sql})"
        rules.append(_ConstraintCheck(SqlError(check.sqlcode, 0, 0, f"informix.{check.name}"), query))
    for foreign in info.foreign_keys:
        if deferred.defer(info, foreign):
            continue
        match = parent_condition(info, foreign, "b", "t")
        present = " AND ".join(f"b.{double_quoted(c)} IS NOT NULL" for c in foreign.columns)
        parent = parent_name(info, foreign)
        if foreign.parent == info.name:  # an earlier row of the batch, or the row itself, may be the parent
            names = ", ".join(map(double_quoted, foreign.parent_columns))
            parent = f"(SELECT {names}, -1 AS _ifx_at FROM {parent} UNION ALL SELECT {names}, {_ROW} FROM _ifx_rows)"
            match += f" AND t._ifx_at <= b.{_ROW}"
        query = f"SELECT b.{_ROW} FROM _ifx_rows b ANTI JOIN {parent} t ON {match} WHERE {present}"
        rules.append(_ConstraintCheck(SqlError(-691, -111, 0, f"informix.{foreign.name}"), query))
    return rules


def _find_violations(
    writer: WriteRecorder,
    values: SessionValues,
    rules: Sequence[_ConstraintCheck],
    table: Any,
    *,
    nulls: bool = False,
) -> dict[int, int]:
    """Return the first constraint that each row violates together with the stored table.

    With `nulls` only keys that contain a NULL are checked, which DuckDB does not enforce.
    """
    broken: dict[int, int] = {}
    for number, rule in enumerate(rules):
        if nulls and not rule.nulls:
            continue
        for (row,) in writer.query_with_rows(rule.query, table, values.bound(rule.query)):
            broken.setdefault(row, number)
    return broken


def _rejected_rows(
    rules: Sequence[_ConstraintCheck],
    arrays: Mapping[str, Any],
    n: int,
    errors: Mapping[int, SqlError],
    broken: Mapping[int, int],
) -> dict[int, SqlError]:
    """Return the errors of all rows that are not inserted.

    These are the rows in `errors`, and those that violate a constraint together with the stored table or with an
    earlier inserted row of the batch.
    """
    violations = {**broken, **_find_duplicates(rules, arrays, n, errors, broken)}
    return {**{row: rules[number].error for row, number in violations.items()}, **errors}


def _find_duplicates(
    rules: Sequence[_ConstraintCheck],
    arrays: Mapping[str, Any],
    n: int,
    errors: Mapping[int, SqlError],
    broken: Mapping[int, int],
) -> dict[int, int]:
    """Return the rows that repeat a key of an earlier inserted row of the batch, and the first constraint violated."""
    keys = [rule for rule in rules if rule.columns]  # they come first
    if n < 2 or not keys:
        return {}
    good = np.ones(n, np.bool_)
    if errors:
        good[np.fromiter(errors, np.int64, len(errors))] = False
    coded: list[tuple[Integers, Mask]] = []
    repeated = np.zeros(n, np.bool_)
    for rule in keys:
        values = [key_texts(arrays[name]) if name in rule.padded else arrays[name] for name in rule.columns]
        codes, present = _key_codes(values, nulls=rule.nulls)
        present &= good
        counts = np.bincount(codes[present], minlength=1)
        repeated |= present & (counts[np.where(present, codes, 0)] > 1)
        coded.append((codes, present))
    # Only rows that share a key are examined in order: the outcome of one decides that of the next.
    violations: dict[int, int] = {}
    accepted_codes: list[set[int]] = [set() for _ in keys]
    none = len(rules)
    for row in np.flatnonzero(repeated).tolist():
        row_codes = [int(codes[row]) if present[row] else -1 for codes, present in coded]
        first = next(
            (number for number, code in enumerate(row_codes) if code in accepted_codes[number]), none
        )
        first = min(first, broken.get(row, none))
        if first < none:
            violations[row] = first
            continue
        for code, known in zip(row_codes, accepted_codes, strict=True):
            if code >= 0:
                known.add(code)
    return violations


def _key_codes(columns: Iterable[Any], *, nulls: bool = False) -> tuple[Integers, Mask]:
    """Return a small number for each row, equal for equal keys, and a mask of the rows without NULL in the key.

    With `nulls`, NULL is a value like others, and the mask has all rows.
    """
    codes: Integers | None = None
    present: Mask | None = None
    for column in columns:
        part, valid = _column_codes(column)
        if nulls:
            part, valid = np.where(valid, part + 1, 0), np.ones(len(part), np.bool_)
        if codes is None or present is None:
            codes, present = part, valid
        else:
            pair = codes * (int(part.max(initial=0)) + 1) + part
            codes, _ = _column_codes(pa.array(pair))
            present = present & valid
    assert codes is not None
    assert present is not None
    return codes, present


def _column_codes(column: Any) -> tuple[Integers, Mask]:
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 equals 0.0
    encoded = column.dictionary_encode()
    valid: Mask = column.is_valid().to_numpy(zero_copy_only=False)
    codes: Integers = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, valid


def constraint_error(
    info: TableInfo, error: duckdb.Error, changed: Collection[str] | None = None
) -> SqlError:
    """Return the Informix error for a constraint that only DuckDB found (two sessions, UPDATE of the columns
    `changed`).
    """
    problem = from_duckdb(error)
    if problem.sqlcode == -268:
        message = str(error).replace('"', "")
        keys = [key for key in info.keys if changed is None or not set(key.columns).isdisjoint(changed)]
        for unique in keys:
            parts = [key_part(info, name) for name in unique.columns]
            if all(f"{part}: ".replace('"', "") in message for part in parts) or len(keys) == 1:
                return duplicate_error(unique.kind, unique.name)
    elif problem.sqlcode == -530 and info.checks:
        message = str(error)
        for check in info.checks:
            if len(info.checks) == 1 or check.duck_sql.replace('"', "") in message.replace('"', ""):
                return SqlError(-530, 0, 0, f"informix.{check.name}")
    return problem


# ---- writing ---------------------------------------------------------------------------------------


def _write(
    transaction: SessionTransaction,
    info: TableInfo,
    table: Any,
    errors: Mapping[int, SqlError],
    limit: int,
    repeated: bool,
) -> None:
    writer = transaction.recorder
    if errors:
        good = np.ones(table.num_rows, np.bool_)
        good[np.fromiter(errors, np.int64, len(errors))] = False
        good[limit:] = False
        table = table.filter(pa.array(good))
    elif limit < table.num_rows:
        table = table.slice(0, limit)
    if not table.num_rows:
        return
    names = ", ".join(double_quoted(c.name) for c in info.columns)
    if table.num_rows == 1:
        # one row is faster as bound values than as a registered table
        values = [column[0].as_py() for column in table.columns[:-1]]
        places = ", ".join("?" * len(values))
        writer.execute(f"INSERT INTO {info.duck_name} ({names}) VALUES ({places})", values).fetchall()
    else:
        text = f"INSERT INTO {info.duck_name} ({names}) SELECT {names} FROM _ifx_rows"
        writer.execute_per_row(text, table, repeated=repeated)
    transaction.change_logger.log_inserted(info, table)
