"""INSERT: rows converted column by column to the target's storage, then appended (table_appender.py).

Each row has its own outcome, as if it had been executed alone. A row that cannot be converted, is NULL where it must
not be, or repeats a key is left out and reported; the others are inserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..errors import SqlError
from ..plan.plans import WARN_CUT, InsertPlan, SelectPlan
from ..types.column_converter import ConvertedColumn, as_array
from ..types.conversions import StoredValue, arrow_storage
from ..types.result_cast import cast_column, numbers_of_keys
from ..types.result_types import INTEGERS, LONGS, is_character, is_floating_decimal
from .duck_executor import DuckExecutor, select_values
from .environment import SessionEnvironment
from .isolation import Isolation
from .prepared_plan import PreparedPlan, StatementOutcome
from .single_row_insert import SingleRowInserter
from .spool import BatchSpool
from .streamed_result import batch_rows
from .table_appender import BatchOutcome, TableAppender
from .transaction import SessionTransaction
from .triggers import TriggerExecutor, TriggerFiring

_MAX_INSERT_BYTES = 16 << 20
"""Bytes of a query's rows that are inserted together."""

_MAX_INSERT_ROWS = 1 << 18
"""Rows of a query that are inserted together, however narrow they are: some may become Python objects."""

_NEXT_NUMBER = "nextval("
"""Text in a value that differs for each row (plan/sequences.py)."""


def accepts_batches(plan: object) -> bool:
    """Return whether `InsertExecutor.insert_batch` can execute a statement.

    That is an INSERT ... VALUES in which every `?` is a column's whole value, no value is evaluated row by row, and no
    trigger fires.
    """
    if (
        not isinstance(plan, InsertPlan)
        or plan.values is None
        or plan.needs.used_params
        or plan.evaluates_per_row
    ):
        return False
    if any(kind == "expr" and _NEXT_NUMBER in str(value) for kind, value in plan.values):
        return False
    if plan.info.fired_by("I"):
        return False
    numbers = [value for kind, value in plan.values if kind == "param"]
    return sorted(map(str, numbers)) == sorted(map(str, range(len(plan.needs.params))))


def inserts_one_row(prepared: PreparedPlan) -> bool:
    """Return whether each execution of a statement inserts one row: INSERT ... VALUES."""
    return isinstance(prepared.plan, InsertPlan) and prepared.plan.values is not None


def accepts_python_row(prepared: PreparedPlan) -> bool:
    """Return whether one row of Python objects is inserted without Arrow (single_row_insert.py)."""
    return isinstance(prepared.plan, InsertPlan) and prepared.plan.row is not None


def python_rows(batch: Any, types: Sequence[ColumnType]) -> list[tuple[object, ...]]:
    """Return the rows of a batch in the form that `InsertExecutor.insert_values` takes."""
    columns = [_python_values(array, t) for array, t in zip(batch.columns, types, strict=True)]
    return list(zip(*columns, strict=True)) if columns else [()] * batch.num_rows


@dataclass(eq=False, repr=False)
class InsertExecutor:
    """Executes the INSERT statements of one session."""

    _environment: SessionEnvironment
    _executor: DuckExecutor
    _transaction: SessionTransaction
    _appender: TableAppender
    _single_row_inserter: SingleRowInserter
    _isolation: Isolation
    _trigger_executor: TriggerExecutor

    def run(self, plan: InsertPlan, params: Sequence[object]) -> StatementOutcome:
        """Run an INSERT with the triggers that it fires, as a statement of its own or as a part of one."""
        write = self._transaction.write
        firing = self._trigger_executor.find_firing(plan.info, "I")
        if plan.values is None:
            values = self._executor.bind(plan.needs, params)
            if firing is None:
                return write(lambda: self.insert_select(plan, values))
            return write(
                lambda: self._trigger_executor.run_with_triggers(
                    [firing], lambda: self.insert_select(plan, values, firing)
                )
            )
        if firing is None:
            outcome = self._single_row_inserter.insert(plan, params)
            if outcome is not None:
                return outcome
            outcome_or_error = write(lambda: self._insert_single(plan, params))
            if isinstance(outcome_or_error, SqlError):
                try:
                    raise outcome_or_error
                finally:
                    # it refers to this frame: the cycle would keep both, and the session, until garbage collection
                    del outcome_or_error
            return outcome_or_error
        return write(
            lambda: self._trigger_executor.run_with_triggers(
                [firing], lambda: self._insert_with_triggers(plan, params, firing)
            )
        )

    def _insert_single(self, plan: InsertPlan, params: Sequence[object]) -> StatementOutcome | SqlError:
        """Run an INSERT ...

        VALUES of one row, with the objects that are created for it. Those of a refused row are deleted.
        """
        found = self.insert_values(self._evaluate_calls(plan, params), [params])[0]
        if plan.needs.files and isinstance(found, SqlError):
            try:
                raise found
            finally:
                del found  # see `run`
        return found

    def _insert_with_triggers(
        self, plan: InsertPlan, params: Sequence[object], firing: TriggerFiring
    ) -> StatementOutcome:
        """Run an INSERT ... VALUES with the trigger actions for its row."""
        plan = self._evaluate_calls(plan, params)
        return self._insert_row(plan.info, self._convert_rows(plan, [params]), firing)

    def _insert_row(
        self, info: TableInfo, columns: dict[str, ConvertedColumn], firing: TriggerFiring
    ) -> StatementOutcome:
        """Insert one row, run its trigger actions, and write the values that they assigned to its columns.

        The row of a view is passed to the view's INSTEAD OF triggers.
        """
        if info.kind == "V":
            self._trigger_executor.run_row_actions(firing, {}, _view_row(info, columns))
            return StatementOutcome(rows=1)
        batch_outcome = self._appender.append(info, columns, 1, stop_at_error=True)
        if batch_outcome.errors:
            raise batch_outcome.errors.pop(0)  # no local variable keeps it: see `run`
        outcome = batch_outcome.outcome(0)
        assert isinstance(outcome, StatementOutcome)
        if firing.each_row:
            assert batch_outcome.inserted_table is not None
            row = {c.name: batch_outcome.inserted_table.column(c.name)[0].as_py() for c in info.columns}
            assigned = self._trigger_executor.run_row_actions(firing, {}, row)
            if assigned:
                # an action may not have inserted another row in between (-747)
                self._trigger_executor.update_row(
                    info, self._trigger_executor.row_identity(info, row), row, assigned
                )
        return outcome

    def _evaluate_calls(self, plan: InsertPlan, params: Sequence[object]) -> InsertPlan:
        """Return the plan with the values that are evaluated beforehand as constants."""
        if not plan.evaluates_per_row or plan.values is None:
            return plan
        self._isolation.before_reading(plan.read_tables)
        self._executor.load_files(plan.needs, params)
        expressions = [sql for kind, sql in plan.values if kind == "stored"]
        values = self._executor.bind(plan.needs, params)
        text = f"SELECT {', '.join(map(str, expressions))}"
        values_row = iter(self._executor.query_first(text, select_values(text, values)))
        return replace(
            plan,
            values=tuple(
                ("const", None if (v := next(values_row)) is None else StoredValue(v))
                if kind == "stored"
                else (kind, value)
                for kind, value in plan.values
            ),
        )

    def insert_values(
        self, plan: InsertPlan, rows: Sequence[Sequence[object]], stop_at_error: bool = False
    ) -> list[StatementOutcome | SqlError]:
        """Run INSERT ... VALUES for each row of parameters, inside `SessionTransaction.write`; no trigger fires."""
        columns = self._convert_rows(plan, rows)
        return self._appender.append(plan.info, columns, len(rows), stop_at_error).outcomes()

    def _convert_rows(self, plan: InsertPlan, rows: Sequence[Sequence[object]]) -> dict[str, ConvertedColumn]:
        """Return the columns of INSERT ... VALUES for the rows of parameters."""
        assert plan.values is not None
        n = len(rows)
        evaluated = self._evaluate_expressions(plan, rows)
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
        return {
            name: self._environment.converter(plan.info.require_column(name).type).convert_column(values)
            for name, values in sources.items()
        }

    def insert_batch(self, plan: InsertPlan, batch: Any, stop_at_error: bool = False) -> BatchOutcome:
        """Run INSERT ... VALUES for each row of a record batch with one column per parameter.

        For use inside `SessionTransaction.write`, with a plan that `accepts_batches`.
        """
        assert plan.values is not None
        n = batch.num_rows
        evaluated = self._evaluate_expressions(plan, [()])
        columns: dict[str, ConvertedColumn] = {}
        for position, (name, (kind, value)) in enumerate(zip(plan.targets, plan.values, strict=True)):
            t = plan.info.require_column(name).type
            if kind == "param":
                assert isinstance(value, int)
                columns[name] = self._to_storage(t, batch.column(value))
            else:
                constant = value if kind == "const" else evaluated[position][0]
                columns[name] = _repeat_constant(self._environment.converter(t).convert_column([constant]), n)
        return self._appender.append(plan.info, columns, n, stop_at_error)

    def insert_select(
        self, plan: InsertPlan, values: dict[str, object], firing: TriggerFiring | None = None
    ) -> StatementOutcome:
        """Run INSERT ... SELECT inside `SessionTransaction.write`: all rows are inserted, or none."""
        assert plan.select is not None
        self._isolation.before_query(plan.select, values)
        return self.insert_spooled(plan, self.read_source(plan.select, values), firing)

    def read_source(self, select: SelectPlan, values: dict[str, object]) -> BatchSpool:
        """Read all rows of a query now, inside `SessionTransaction.write`, so that inserted rows do not add to them."""
        return self._executor.query_spool_in_write(select.sql, values, batch_rows(select.columns))

    def insert_spooled(
        self, plan: InsertPlan, rows: BatchSpool, firing: TriggerFiring | None = None
    ) -> StatementOutcome:
        """Insert the rows that a query has returned, like `insert_select`, with their triggers.

        The spool is emptied.
        """
        total = StatementOutcome()
        try:
            while rows.has_next:
                # No local variable holds the rows during the insert.
                part = self._insert_table(
                    plan, rows.pop_table(_MAX_INSERT_BYTES, _MAX_INSERT_ROWS), firing, further=total.rows > 0
                )
                part.rows += total.rows
                part.warnings |= total.warnings
                total = part
        finally:
            rows.close()
        return total

    def _insert_table(
        self, plan: InsertPlan, table: pa.Table, firing: TriggerFiring | None, *, further: bool
    ) -> StatementOutcome:
        """Insert some of the rows of a query. The outcome has the serials of the last one.

        `further` says that other rows of the statement are already inserted.
        """
        assert plan.select is not None
        columns: dict[str, ConvertedColumn] = {}
        n, arrays = table.num_rows, table.columns[::-1]
        del table  # releases each column once it is converted: otherwise both copies are in memory
        for name, source, packed in zip(
            plan.targets, plan.select.columns, plan.select.packed_decimals, strict=True
        ):
            columns[name] = self._convert_column(
                plan.info.require_column(name).type, source.type, arrays.pop(), packed
            )
        if firing is not None and firing.each_row:
            total = StatementOutcome()
            for row in range(n):
                outcome_of_row = self._insert_row(
                    plan.info, {name: c.row(row) for name, c in columns.items()}, firing
                )
                outcome_of_row.rows += total.rows
                outcome_of_row.warnings |= total.warnings
                total = outcome_of_row
            return total
        # a failure of a later part would otherwise repeat it
        repeated = firing is not None or self._transaction.must_preserve_work
        outcome = self._appender.append(
            plan.info, columns, n, stop_at_error=True, further=further, repeated=repeated
        )
        if outcome.errors:
            raise outcome.errors.pop(min(outcome.errors))  # no local variable keeps it: see `run`
        total = StatementOutcome(rows=n)
        if outcome.rows:
            last = outcome.outcome(outcome.rows - 1)
            assert isinstance(last, StatementOutcome)
            total.serial, total.serial8, total.bigserial = last.serial, last.serial8, last.bigserial
            total.warnings = WARN_CUT if outcome.truncated_rows else 0
        return total

    def _convert_column(
        self, t: ColumnType, source: ColumnType, array: pa.ChunkedArray, packed: bool
    ) -> ConvertedColumn:
        """Convert a column of type `source` from a query to type `t`; `packed` as for `cast_table`."""
        same = (t.code, t.encoded_length) == (source.code, source.encoded_length)
        if packed and same:
            stored = arrow_storage(t)
            return ConvertedColumn(as_array(array if array.type == stored else array.cast(stored)))
        if packed:
            array = numbers_of_keys(array)
        if same and array.type == arrow_storage(t) and not _has_null_pattern(array, t):
            return ConvertedColumn(as_array(cast_column(array, source, array.type, self._environment.codec)))
        values = array.to_pylist()
        if source.is_boolean:
            values = [None if v is None else "t" if v else "f" for v in values]
        return self._environment.converter(t).convert_column(values)

    def _evaluate_expressions(
        self, plan: InsertPlan, rows: Sequence[Sequence[object]]
    ) -> dict[int, Sequence[object]]:
        """Evaluate the items that are neither literals nor bare parameters, by position, with one query per row."""
        assert plan.values is not None
        positions = [i for i, (kind, _) in enumerate(plan.values) if kind == "expr"]
        if not positions:
            return {}
        self._isolation.before_reading(plan.read_tables)
        sql = "SELECT " + ", ".join(str(plan.values[i][1]) for i in positions)
        evaluated_rows: list[tuple[Any, ...]] = []
        same = not plan.needs.used_params and _NEXT_NUMBER not in sql
        for row in rows:
            if same and evaluated_rows:
                evaluated_rows.append(evaluated_rows[0])
                continue
            values = self._executor.bind(plan.needs, row)
            evaluated_rows.append(self._executor.query_first(sql, select_values(sql, values)))
        return {position: [row[i] for row in evaluated_rows] for i, position in enumerate(positions)}

    def _to_storage(self, t: ColumnType, array: Any) -> ConvertedColumn:
        """Convert a parameter's column to the target's storage form, with the rules of `ValueConverter`."""
        if is_character(t):
            return self._convert_texts(t, array)
        storage = arrow_storage(t)
        if array.type == storage and not is_floating_decimal(t):
            lowest = pc.min(array).as_py() if t.code in LONGS else None
            if lowest is None or lowest > -(2**63):
                return ConvertedColumn(array)
        elif (pa.types.is_timestamp(array.type) and pa.types.is_timestamp(storage)) or (
            pa.types.is_time(array.type) and pa.types.is_time(storage)
        ):
            return ConvertedColumn(array.cast(storage))  # to the finer unit
        return self._environment.converter(t).convert_column(_python_values(array, t))

    def _convert_texts(self, t: ColumnType, array: Any) -> ConvertedColumn:
        """Truncate texts that have more bytes in the database's code set than their column allows."""
        if pc.any(pc.match_substring(array, "\0")).as_py():
            # Which refuses some of them.
            return self._environment.converter(t).convert_column(array.to_pylist())
        utf8 = self._environment.codec in ("utf-8", "utf8")
        # other code sets have one byte per character
        lengths = pc.binary_length(array) if utf8 else pc.utf8_length(array)
        longest = pc.max(lengths).as_py()
        if longest is None or longest <= t.content_width:
            return ConvertedColumn(array)
        too_long = pc.greater(lengths, t.content_width).fill_null(False)
        rows = np.flatnonzero(too_long.to_numpy(zero_copy_only=False)).tolist()
        converter = self._environment.converter(t)
        truncated = [converter.convert(text) for text in array.filter(too_long).to_pylist()]
        return ConvertedColumn(
            pc.replace_with_mask(array, too_long, pa.array(truncated, array.type)), truncated_rows=set(rows)
        )


def _has_null_pattern(array: Any, t: ColumnType) -> bool:
    """Return whether a column of integers contains the value that is NULL on the wire."""
    if t.code not in INTEGERS:
        return False
    lowest = pc.min(array).as_py()
    return lowest is not None and lowest == -(1 << (array.type.bit_width - 1))


def _view_row(info: TableInfo, columns: Mapping[str, ConvertedColumn]) -> dict[str, object]:
    """Return the only row of these columns, with NULL for all other columns of a view."""
    for converted in columns.values():
        for error in converted.errors.values():
            raise error
    row: dict[str, object] = dict.fromkeys(column.name for column in info.columns)
    return {**row, **{name: converted.array[0].as_py() for name, converted in columns.items()}}


def _repeat_constant(one: ConvertedColumn, n: int) -> ConvertedColumn:
    """Return a converted constant repeated for every row."""
    return ConvertedColumn(
        pa.repeat(one.array[0], n),
        dict.fromkeys(range(n), one.errors[0]) if one.errors else {},
        set(range(n)) if one.truncated_rows else set(),
    )


def _python_values(array: Any, t: ColumnType) -> Sequence[object]:
    """Return the Python objects that `ValueConverter` accepts for a column of the bulk reader."""
    values: list[object] = array.to_pylist()
    if is_floating_decimal(t):
        return [None if v is None else Decimal(str(v)) for v in values]
    return values
