"""How a query comes by its rows: few as Python objects, or a stream of record batches."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ..planning.plans import ROUTINE_CALL, SelectPlan
from ..types.result_cast import cast_table, result_type
from .environment import Environment
from .isolation import Isolation
from .lob_calls import CallingResult, ObjectCalls
from .prepared import FewRows, PlainRows, Prepared, QueryResult
from .running import Runner, values_in
from .streamed_result import StreamedResult, batch_rows, whole_result
from .transaction import Transaction

_CATALOGUE_ROWS = 4096
"""Rows of a query of the catalogue from which on Arrow is the cheaper way to take them. It is more than elsewhere: what
reads Arrow has DuckDB plan the query twice, and queries of the catalogue are joins of many tables."""


class Queries:
    """A session's queries, run. Few rows are taken as Python objects, for which Arrow would be the dearer way; what is
    told about a query's last run is in its `Prepared`."""

    def __init__(
        self,
        environment: Environment,
        transaction: Transaction,
        isolation: Isolation,
        runner: Runner,
        objects: ObjectCalls,
    ) -> None:
        self._environment = environment
        self._transaction = transaction
        self._isolation = isolation
        self._runner = runner
        self._objects = objects

    def run(self, prepared: Prepared, plan: SelectPlan, params: Sequence[object]) -> QueryResult:
        """Run a query, whose plan is its own, under the locks that it takes."""
        values = self._runner.bind(plan.needs, params)
        if plan.for_update:
            self._isolation.lock_all(plan, values)
        self._isolation.before_query(plan, values)
        sql = plan.shown or plan.sql
        few = self._few(prepared, plan, sql, values)
        if few is not None:
            return few
        if any(plan.calls):
            return self._calling(prepared, plan, sql, values)
        return self._streamed(prepared, plan, sql, values)

    def _streamed(
        self, prepared: Prepared, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult:
        columns, codec = prepared.columns, self._environment.codec
        rows = self._runner.stream(sql, values, batch_rows(columns))
        if rows is None:
            spool = self._runner.spooled(sql, values, batch_rows(columns))
            return whole_result(columns, spool, codec, plan.packed)
        table = rows.whole()
        prepared.ran(table, plan)
        if table is None:
            return StreamedResult(columns, rows, codec, plan.packed)
        return QueryResult(columns, cast_table(table, columns, codec, plan.packed))

    def _calling(
        self, prepared: Prepared, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult:
        """Rows of which the client's large objects make values when they are fetched."""
        table = self._transaction.read(lambda: self._runner.arrow(sql, values))
        kept = cast_table(table, prepared.columns, self._environment.codec, plan.packed, plan.calls)
        schema = pa.schema([(c.name, result_type(c.type)) for c in prepared.columns])
        return CallingResult(prepared.columns, kept, schema, plan.calls, self._objects.call)

    # ---- few rows -------------------------------------------------------------------------------
    def _few(
        self, prepared: Prepared, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult | None:
        """The rows as Python objects, where few are expected; None where they have to be taken as others are."""
        objects = prepared.values  # another session may run the same
        if objects is None or ROUTINE_CALL in sql or not (plan.few or plan.fixed or prepared.few):
            return None
        most = _CATALOGUE_ROWS if plan.fixed else prepared.most_objects
        rows = self._transaction.first_rows(sql, values_in(sql, values), most)
        if len(rows) < most:
            codec = self._environment.codec
            if objects.plain(rows, codec):
                return PlainRows(prepared.columns, rows, objects, codec)
            batch = objects.batch(rows, codec)
            if batch is not None:
                return FewRows(prepared.columns, batch)
        if not plan.few:  # not tried again: it was run in vain
            prepared.few, prepared.values = False, None
        return None
