"""Execution of queries: few rows as Python objects, others as a stream of record batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ..plan.plans import ROUTINE_CALL, SelectPlan
from ..types.result_cast import cast_table, result_type
from .duck_executor import DuckExecutor, select_values
from .environment import SessionEnvironment
from .isolation import Isolation
from .lob_calls import LobCalls, RowCallResult
from .prepared_plan import PreparedPlan, PythonRowsResult, QueryResult, SingleBatchResult
from .streamed_result import StreamedResult, batch_rows, spooled_result
from .transaction import SessionTransaction

_CATALOGUE_ROWS = 4096
"""Number of rows of a catalogue query from which on Arrow is faster than Python objects. It is larger than for other
queries: reading Arrow makes DuckDB plan the query twice, and catalogue queries join many tables.
"""


@dataclass(eq=False, repr=False)
class QueryExecutor:
    """Runs the queries of a session.

    Few rows are read as Python objects, which is faster than Arrow. `PreparedPlan` records the query's last run.
    """

    _environment: SessionEnvironment
    _transaction: SessionTransaction
    _isolation: Isolation
    _executor: DuckExecutor
    _lob_calls: LobCalls

    def run(self, prepared: PreparedPlan, plan: SelectPlan, params: Sequence[object]) -> QueryResult:
        """Run a query with the locks that it needs."""
        values = self._executor.bind(plan.needs, params)
        if plan.for_update:
            self._isolation.lock_all_rows(plan, values)
        self._isolation.before_query(plan, values)
        sql = plan.client_sql or plan.sql
        result = self._run_small(prepared, plan, sql, values)
        if result is not None:
            return result
        if any(plan.row_calls):
            return self._run_with_row_calls(prepared, plan, sql, values)
        return self._run_streamed(prepared, plan, sql, values)

    def _run_streamed(
        self, prepared: PreparedPlan, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult:
        columns, codec = prepared.columns, self._environment.codec
        rows = self._executor.stream(sql, values, batch_rows(columns))
        if rows is None:
            spool = self._executor.query_spool(sql, values, batch_rows(columns))
            return spooled_result(columns, spool, codec, plan.packed_decimals)
        table = rows.read_if_small()
        prepared.record_row_count(table, plan)
        if table is None:
            return StreamedResult(columns, rows, codec, plan.packed_decimals)
        return QueryResult(columns, cast_table(table, columns, codec, plan.packed_decimals))

    def _run_with_row_calls(
        self, prepared: PreparedPlan, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult:
        """Return rows with values that are computed from large objects for the client when the rows are fetched."""
        table = self._transaction.read(lambda: self._executor.query_table(sql, values))
        cast = cast_table(
            table, prepared.columns, self._environment.codec, plan.packed_decimals, plan.row_calls
        )
        schema = pa.schema([(c.name, result_type(c.type)) for c in prepared.columns])
        return RowCallResult(prepared.columns, cast, schema, plan.row_calls, self._lob_calls.call)

    # ---- few rows -------------------------------------------------------------------------------
    def _run_small(
        self, prepared: PreparedPlan, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult | None:
        """Return the rows as Python objects if few are expected; None if they have to be streamed."""
        converter = prepared.row_values  # read once: another session may run the same plan
        if (
            converter is None
            or ROUTINE_CALL in sql
            or not (plan.at_most_one_row or plan.catalog_only or prepared.returned_few_rows)
        ):
            return None
        max_rows = _CATALOGUE_ROWS if plan.catalog_only else prepared.max_python_rows
        rows = self._transaction.fetch_first(sql, select_values(sql, values), max_rows)
        if len(rows) < max_rows:
            codec = self._environment.codec
            if converter.is_converted(rows, codec):
                return PythonRowsResult(prepared.columns, rows, converter, codec)
            batch = converter.to_batch(rows, codec)
            if batch is not None:
                return SingleBatchResult(prepared.columns, batch)
        if not plan.at_most_one_row:  # not tried again: the run was wasted
            prepared.returned_few_rows, prepared.row_values = False, None
        return None
