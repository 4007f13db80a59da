"""Calls of user routines inside SQL: `SELECT f(x) FROM t`, `WHERE f(x) = 1`.

A routine's statements cannot run while DuckDB runs the query that calls it. So the query runs with a function that only
looks up results. A result that is not known yet is NULL, and its arguments are recorded. Then the routines are called
for the recorded arguments, with the session's connection and transaction, and the query runs again, until no result is
missing. A statement calls a routine once for each combination of arguments.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import duckdb

from ...wire.types import ColumnType
from ..errors import not_supported
from ..plan.context import RoutineCall
from ..plan.plans import ROUTINE_CALL
from ..session.session_services import SessionServices
from ..types.quoting import value_sql
from ..types.result_types import storage_type
from .frames import CallFrame
from .interpreter import RoutineCaller
from .registry import Callee, RoutineRegistry

T = TypeVar("T")

_MAX_ROUNDS = 100

CallKey = tuple[int, tuple[str | None, ...]]
"""The number of the call site, and the arguments as text."""

_lookup_ids = itertools.count(1)
_result_lookups: WeakValueDictionary[int, SqlRoutineCalls | RecordedResults] = WeakValueDictionary()


def install(con: duckdb.DuckDBPyConnection) -> None:
    """Register the lookup function with the instance of `con`."""
    con.create_function(
        "_ifx_routine",
        _look_up,
        ["INTEGER", "INTEGER", "VARCHAR[]"],
        "VARCHAR",
        null_handling="special",
        side_effects=True,  # otherwise DuckDB would call it for branches that are not taken
    )


def _look_up(lookup_id: int, site: int, arguments: list[str | None]) -> str | None:
    found = _result_lookups.get(lookup_id)
    if found is None:
        raise _NO_RESULTS
    return found.look_up((site, tuple(arguments)))


# errors.from_duckdb parses this text
_NO_RESULTS = ValueError("IFX-768: The results of this call are no longer known.")


class RecordedResults:
    """The results that a write was executed with, for a replay of its transaction (session/journal.py)."""

    def __init__(self, results: dict[CallKey, str | None]) -> None:
        self._results = results

    def look_up(self, key: CallKey) -> str | None:
        if key not in self._results:
            raise _NO_RESULTS
        return self._results[key]


class SqlWithResults(str):
    """SQL with the results of its calls. They live as long as the text."""

    results: RecordedResults


class SqlRoutineCalls:
    """The calls from SQL of one session."""

    def __init__(self, parts: SessionServices, registry: RoutineRegistry, caller: RoutineCaller) -> None:
        self._session = parts
        self._registry = registry
        self._caller = caller
        self._lookup_id = next(_lookup_ids)
        # the routine, the number of arguments, and whether all rows are requested
        self._call_sites: list[tuple[Callee, int, bool]] = []
        self._call_site_ids: dict[tuple[Callee, int, bool], int] = {}
        self._results: dict[CallKey, str | None] | None = None  # None outside of a statement with calls
        self._missing_results: dict[CallKey, None] = {}
        _result_lookups[self._lookup_id] = self

    def look_up(self, key: CallKey) -> str | None:
        if self._results is None:
            raise _NO_RESULTS
        if key not in self._results:
            self._missing_results[key] = None
        return self._results.get(key)

    # ---- translation (plan.context.UserRoutines) ------------------------------------------------
    def has_routine(self, name: str) -> bool:
        """Return whether there is a routine of this name."""
        return bool(self._registry.find_by_name(name))

    def resolve_call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """Return the routine that a call resolves to, with a call site for its results."""
        callee = self._registry.resolve_overload(name, types)
        head = f"{ROUTINE_CALL}{self._lookup_id}, {self._call_site(callee, len(types), rows)}, "
        outs = tuple(i for i, p in enumerate(callee.parameters) if p.mode)
        return RoutineCall(tuple(p.type for p in callee.parameters), callee.returns, head, outs)

    def _call_site(self, callee: Callee, argument_count: int, rows: bool) -> int:
        key = (callee, argument_count, rows)
        if key not in self._call_site_ids:
            self._call_site_ids[key] = len(self._call_sites)
            self._call_sites.append(key)
        return self._call_site_ids[key]

    # ---- execution ----------------------------------------------------------------------------
    def run_with_results(
        self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None
    ) -> T:
        """Implements `routine_protocols.RoutinesInSql`."""
        if ROUTINE_CALL not in sql:
            return run()
        with nullcontext() if self._results is not None else self.result_scope():
            if ahead is not None:
                self.run_until_resolved(ahead)
            return self.run_until_resolved(run)

    @contextmanager
    def result_scope(self) -> Iterator[None]:
        """Enclose one statement. Results of calls are cached until its end."""
        with self._using_results({}):
            yield

    @contextmanager
    def _using_results(self, results: dict[CallKey, str | None] | None) -> Iterator[None]:
        outer = self._results, self._missing_results
        self._results, self._missing_results = results, {}
        try:
            yield
        finally:
            self._results, self._missing_results = outer

    def bind_results(self, sql: str) -> str:
        """Return a write's SQL bound to the current results of its calls. Call it in `result_scope` after
        `run_with_results`."""
        if ROUTINE_CALL not in sql:
            return sql
        number = next(_lookup_ids)
        text = SqlWithResults(sql.replace(f"{ROUTINE_CALL}{self._lookup_id},", f"{ROUTINE_CALL}{number},"))
        text.results = _result_lookups[number] = RecordedResults(dict(self._results or {}))
        return text

    def run_until_resolved(self, run: Callable[[], T]) -> T:
        """Run a query again until all results of its calls are known. Requires `result_scope`."""
        for _ in range(_MAX_ROUNDS):
            found = run()
            if not self._missing_results:
                return found
            missing, self._missing_results = list(self._missing_results), {}
            for site in {key[0] for key in missing}:
                self._resolve_calls(site, [key[1] for key in missing if key[0] == site])
        raise not_supported("a query that calls routines with different arguments each time it runs")

    def _resolve_calls(self, site: int, argument_rows: list[tuple[str | None, ...]]) -> None:
        callee, argument_count, all_rows = self._call_sites[site]
        parts = self._session
        types = [parameter.type for parameter in callee.parameters[:argument_count]]
        defaults = [parts.values.default(p.as_column) for p in callee.parameters[argument_count:]]
        rows: list[tuple[Any, ...]] = [() for _ in argument_rows]
        if types:
            items = ", ".join(f"CAST(a[{i}] AS {storage_type(t)})" for i, t in enumerate(types, 1))
            sql = f"SELECT {items} FROM (SELECT unnest($rows::VARCHAR[][]) AS a)"
            rows = parts.transaction.con.execute(sql, {"rows": [list(w) for w in argument_rows]}).fetchall()
        for key, row in zip(argument_rows, rows, strict=True):
            parts.lock_owner.check_interrupt()
            with self._using_results(None):  # the routine's own statements have separate results
                found = parts.transaction.write(
                    partial(self._call_routine, callee, [*row, *defaults], all_rows)
                )
            assert self._results is not None
            texts = [[self._to_duck_text(value) for value in values] for values in found]
            if any(parameter.mode for parameter in callee.parameters):
                self._results[site, key] = json.dumps(texts[0])
            else:
                self._results[site, key] = json.dumps(texts) if all_rows else texts[0][0]

    def _call_routine(
        self, callee: Callee, arguments: list[object], all_rows: bool
    ) -> list[tuple[object, ...]]:
        outs = [parameter.name for parameter in callee.parameters if parameter.mode]
        if all_rows and outs:
            raise not_supported("a routine with OUT parameters in FROM")
        if all_rows:
            return list(self._caller.call_rows(callee, arguments, from_query=True))
        out_values: list[object] = []

        def read_outputs(frame: CallFrame) -> None:
            out_values.extend(frame.value(name) for name in outs)

        return [
            (
                *self._caller.call_single_row(callee, arguments, from_query=True, at_end=read_outputs),
                *out_values,
            )
        ]

    def _to_duck_text(self, value: object) -> str | None:
        """Format a value as text that DuckDB can cast."""
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return value
        if isinstance(value, (int, Decimal)):
            return f"{value:f}" if isinstance(value, Decimal) else str(value)
        if isinstance(value, (float, dt.date, dt.time)):
            return str(value)
        found = self._session.transaction.con.execute(
            f"SELECT CAST({value_sql(value)} AS VARCHAR)"
        ).fetchone()
        assert found is not None
        return str(found[0])
