"""How a query comes by its rows: kept ones of the catalogue, few as Python objects, or a stream of record batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ..errors import SqlError
from ..planning.plans import ROUTINE_CALL, SelectPlan
from ..types.result_cast import cast_table, result_type
from ..types.row_values import RowValues
from .catalogue_rows import CatalogueRows
from .current_database import CurrentDatabase
from .environment import Environment
from .isolation import Isolation
from .lob_calls import CallingResult, ObjectCalls
from .prepared import FewRows, PlainRows, Prepared, QueryResult
from .running import Runner, plain_table, values_in
from .schema_changes import SchemaChanges
from .streamed_result import StreamedResult, batch_rows, whole_result
from .transaction import Transaction


class Queries:
    """A session's queries, run. Few rows are taken as Python objects, for which Arrow would be the dearer way; what is
    told about a query's last run is in its `Prepared`."""

    def __init__(
        self,
        environment: Environment,
        current: CurrentDatabase,
        schema: SchemaChanges,
        transaction: Transaction,
        isolation: Isolation,
        runner: Runner,
        objects: ObjectCalls,
        catalogue: CatalogueRows,
    ) -> None:
        self._environment = environment
        self._current = current
        self._schema = schema
        self._transaction = transaction
        self._isolation = isolation
        self._runner = runner
        self._objects = objects
        self._catalogue = catalogue

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
        """The rows where they are few, or kept; None where they have to be taken as others are."""
        if plan.fixed and sql == plan.sql:
            found = self._kept(prepared, plan, values)
            if found is None:
                found = self._fixed(prepared, plan, sql, values)
            if found is not None:
                return found
        objects = prepared.values  # another session may run the same
        if objects is None or ROUTINE_CALL in sql:
            return None
        few = self._late(prepared, objects, plan)
        return self._taken(prepared, objects, plan, sql, values) if few is None else few

    def _late(self, prepared: Prepared, objects: RowValues, plan: SelectPlan) -> QueryResult | None:
        """The rows of a query of a temporary table that DuckDB has not been told of; None for any other."""
        rows = None if plan.plain is None else self._transaction.late_rows(plan.tables[0].duck)
        if rows is None or plan.plain is None:
            return None
        return self._of_objects(prepared, objects, plan.plain.of(rows))

    def _taken(
        self, prepared: Prepared, objects: RowValues, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult | None:
        """The rows of a query that is expected to have few; None where it has more."""
        named = values_in(sql, values)
        if plan.few:
            return self._of_objects(prepared, objects, self._transaction.rows(sql, named))
        most = prepared.most_objects
        if not prepared.few and not 0 <= self._schema.most_rows(plan.tables) < most:
            return None
        _, rows = self._transaction.first_rows(sql, named, most)
        few = None if len(rows) == most else self._of_objects(prepared, objects, rows)
        if few is None:  # not tried again: it was run in vain
            prepared.few, prepared.values = False, None
        return few

    def _kept(self, prepared: Prepared, plan: SelectPlan, values: dict[str, object]) -> QueryResult | None:
        """The rows of a query of the catalogue from rows that are kept; None where it must be run as it is."""
        if plan.kept is None or not self._transaction.untouched:
            return None
        of_schema = {f"s_{name}": values[f"s_{name}"] for name in plan.needs.uses}
        found = self._catalogue.query(plan.kept, self._current.name, of_schema, values)
        if found is None:
            return None
        objects = prepared.values
        if found.chosen is not None and objects is not None:
            few = self._of_objects(prepared, objects, found.chosen)
            if few is not None:
                return few
        try:
            _, places = self._runner.at_once(found.places, values) if found.places and objects else ([], None)
            if places is not None and objects is not None:
                few = self._of_objects(prepared, objects, [found.rows[place] for (place,) in places])
                if few is not None:
                    return few
            return self._fixed(prepared, plan, found.sql, values)
        except SqlError as problem:
            if problem.sqlcode == -213:
                raise
            # The schema has changed in this moment, and they are gone; or the query says it itself.
            return None

    def _fixed(
        self, prepared: Prepared, plan: SelectPlan, sql: str, values: dict[str, object]
    ) -> QueryResult | None:
        """The rows of a query of the catalogue; None where they are many, or of types that have to be taken as others
        are."""
        names, rows = self._runner.at_once(sql, values)
        if rows is None:
            return None
        objects = prepared.values
        few = None if objects is None else self._of_objects(prepared, objects, rows)
        if few is not None:
            return few
        small = plain_table(names, rows)
        if small is None:
            return None
        table = cast_table(small, prepared.columns, self._environment.codec, plan.packed)
        return QueryResult(prepared.columns, table)

    def _of_objects(
        self, prepared: Prepared, objects: RowValues, rows: Sequence[Sequence[Any]]
    ) -> QueryResult | None:
        """Few rows as a result; None where they have to be taken as others are."""
        codec = self._environment.codec
        if objects.plain(rows, codec):
            return PlainRows(prepared.columns, rows, objects, codec)
        batch = objects.batch(rows, codec)
        return None if batch is None else FewRows(prepared.columns, batch)
