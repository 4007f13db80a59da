"""INSERT of one row by bound values, without Arrow columns, which pay off for many rows (table_appender.py).

A row that may be wrong is left to the general path: only locks raise errors here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from ...wire.types import TypeCode
from ..catalog.catalog import ColumnInfo, TableInfo, key_texts
from ..errors import SqlError
from ..plan.plans import WARN_CUT, InsertPlan, SingleRowPlan
from .environment import SessionEnvironment
from .isolation import Isolation
from .prepared_plan import StatementOutcome
from .serials import SerialCounters
from .session_values import SessionValues
from .table_appender import constraint_error
from .transaction import SessionTransaction


@dataclass(eq=False, repr=False)
class SingleRowInserter:
    """Inserts single rows for one session."""

    _environment: SessionEnvironment
    _values: SessionValues
    _serials: SerialCounters
    _transaction: SessionTransaction
    _isolation: Isolation

    def insert(self, plan: InsertPlan, params: Sequence[object]) -> StatementOutcome | None:
        """Insert the row as a statement of its own. Returns None, with nothing done, if that needs the general path.

        Raises SqlError if another session's locks conflict.
        """
        row = plan.row
        if row is None or (row.has_checks and self._transaction.must_preserve_work):
            return None
        storage = self._storage_values(row, params)
        if storage is None:
            return None
        values, was_truncated = storage
        if was_truncated and self._transaction.is_ansi:
            return None
        outcome = self._transaction.write(lambda: self._insert(plan.info, row, list(values)), single=True)
        if outcome is not None and was_truncated:
            outcome.warnings = WARN_CUT
        return outcome

    def _storage_values(
        self, row: SingleRowPlan, params: Sequence[object]
    ) -> tuple[list[object], bool] | None:
        """Return the values of all columns in storage form, and whether one was truncated; None for a row to be
        refused.
        """
        values: list[object] = []
        was_truncated = False
        try:
            for column, kind, source in row.columns:
                if kind == "omitted":
                    value = None if column.is_serial else self._values.default(column)
                else:
                    converter = self._environment.converter(column.type)
                    value = converter.convert(
                        params[source] if isinstance(source, int) and kind == "param" else source
                    )
                    was_truncated = was_truncated or converter.was_truncated
                if value is None and column.type.not_null and not column.is_serial:
                    return None
                values.append(value)
        except SqlError:
            return None
        return values, was_truncated

    def _insert(self, info: TableInfo, row: SingleRowPlan, values: list[object]) -> StatementOutcome | None:
        """Insert the row inside `SessionTransaction.write`. Returns None if it violates a constraint."""
        transaction = self._transaction
        assigned_serials: list[tuple[ColumnInfo, int, int]] = []
        for position, column in row.serials:
            value = values[position]
            assert value is None or isinstance(value, int)
            number, first, following = self._serials.assign_one(transaction.con, info, column, value or 0)
            values[position] = number
            assigned_serials.append((column, first, following))
        keys = {name: _key_columns(info, positions, values) for name, positions, _, _ in row.keys}
        self._isolation.lock_inserted_row_keys(info, keys)
        transaction.change_logger.require_current_logging(info)
        for _, positions, query, with_null in row.keys:
            key = [values[i] for i in positions]
            if None in key:  # DuckDB accepts duplicates of it
                self._isolation.require_fresh(info)
                query = with_null
            elif not transaction.must_preserve_work:  # an error would abort all earlier work
                continue
            if transaction.fetch_rows(query, key):
                self._return_serials(info, assigned_serials)
                return None
        try:
            transaction.recorder.execute_cached(row.sql, values)
        except duckdb.ConstraintException as e:
            if not transaction.must_preserve_work:
                self._return_serials(info, assigned_serials)  # DuckDB has undone the insert
                return None
            self._isolation.require_fresh(info)
            raise constraint_error(info, e) from e
        return self._report_serials(row, values)

    def _return_serials(self, info: TableInfo, given: Sequence[tuple[ColumnInfo, int, int]]) -> None:
        """Return the serials of a row that takes the general path, where it gets them again."""
        for column, first, following in given:
            self._serials.return_unused(info, column.name, following, first)

    def _report_serials(self, row: SingleRowPlan, values: Sequence[object]) -> StatementOutcome:
        """Return the outcome of the row with its serials, and set those of DBINFO."""
        outcome, session_values = StatementOutcome(1), self._values
        for position, column in row.serials:
            number = values[position]
            assert isinstance(number, int)
            if column.type.code == TypeCode.SERIAL:
                outcome.serial = number
            elif column.type.code == TypeCode.SERIAL8:
                outcome.serial8 = number
            else:
                outcome.bigserial = number
        session_values.sqlerrd1 = outcome.serial or session_values.sqlerrd1
        session_values.serial8 = outcome.serial8 or session_values.serial8
        session_values.bigserial = outcome.bigserial or session_values.bigserial
        return outcome


def _key_columns(info: TableInfo, positions: Sequence[int], values: Sequence[object]) -> list[list[object]]:
    """Return the columns of a key of the row in the form that locks use."""
    padded = info.blank_padded
    return [
        key_texts([values[position]]) if info.columns[position].name in padded else [values[position]]
        for position in positions
    ]
