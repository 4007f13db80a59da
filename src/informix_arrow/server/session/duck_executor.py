"""Execution of DuckDB text with the parameters of an Informix statement: bound values, and whole results as Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from ...wire.quoting import double_quoted
from ...wire.types import ColumnType
from ..catalog.catalog import duck_database, first_row
from ..catalog.schema_routines import user_type_names
from ..plan.functions.type_names import TYPE_NAMES
from ..plan.plans import ROUTINE_CALL, BindRequirements
from ..plan.sequences import CURRVAL_PREFIX, NEXTVAL_PREFIX, without_nextval
from ..types.conversions import for_comparison
from ..types.quoting import quote_string
from ..types.result_types import INTEGERS
from .current_database import CurrentDatabase
from .environment import SessionEnvironment
from .lob_calls import LobCalls
from .open_result import OpenResult, duckdb_error
from .plan_cache import MAX_TEXT
from .routine_protocols import RoutinesInSql
from .session_values import SessionValues
from .spool import MEMORY, BatchSpool
from .transaction import SessionTransaction


class Closeable(Protocol):
    """Anything with a `close` method."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Closeable)

_BATCH_ROWS = 65536
_SPOOL_MEMORY = 32 << 20
"""Bytes of rows kept in memory if they are written to a table right away."""

_WIDEST = ColumnType.decimal(32)
_VALUE = re.compile(r"\$(\w+)")


def select_values(sql: str, values: dict[str, object]) -> dict[str, object] | None:
    """Return the values that a text names, as DuckDB refuses others; None if it names none."""
    if not values:
        return None
    names = _parameter_names(sql) if len(sql) <= MAX_TEXT else set(_VALUE.findall(sql))
    return {name: value for name, value in values.items() if name in names} or None


@lru_cache(maxsize=1024)
def _parameter_names(sql: str) -> frozenset[str]:
    return frozenset(_VALUE.findall(sql))


@dataclass(eq=False, repr=False)
class DuckExecutor:
    """Runs DuckDB text for one session.

    Attributes
    ----------
    was_cut
        Set when a bound parameter was truncated to its column. Callers that need it clear it before.
    truncated_params
        The numbers of such parameters. It may contain those of earlier statements.
    routine_results
        The results of the routines that a text calls.
    temporary
        Directory for buffered rows that are too many for memory.
    """

    _environment: SessionEnvironment
    _values: SessionValues
    _transaction: SessionTransaction
    _database: CurrentDatabase
    _lob_calls: LobCalls
    routine_results: RoutinesInSql
    temporary: str
    was_cut: bool = field(default=False, init=False)
    truncated_params: set[int] = field(default_factory=set, init=False)

    def bind(self, needs: BindRequirements, params: Sequence[object]) -> dict[str, object]:
        """Return DuckDB's named values for one run: parameters in storage form, and values of the session."""
        environment = self._environment
        values: dict[str, object] = {}
        for number in needs.used_params:
            t = needs.params[number]
            if (
                t is not None
                and t.code in INTEGERS
                and type(params[number]) is int
                and number not in needs.assigned_params
            ):
                values[f"p{number}"] = params[number]
            elif t is not None and (number in needs.assigned_params or number in needs.packed_params):
                # a value in a comparison keeps all its digits
                converter = environment.converter(t if number in needs.assigned_params else _WIDEST)
                values[f"p{number}"] = converter.convert(params[number])
                if converter.was_truncated:
                    self.was_cut = True
                    self.truncated_params.add(number)
            else:
                values[f"p{number}"] = for_comparison(
                    params[number], t, environment.codec, environment.dbdate
                )
        for name in needs.session_values:
            numbered = name.startswith((NEXTVAL_PREFIX, CURRVAL_PREFIX))
            if name == TYPE_NAMES:
                values[f"s_{name}"] = self._type_names()
            else:
                values[f"s_{name}"] = self._sequence_value(name) if numbered else self._values.value(name)
        return values

    def _type_names(self) -> list[str | None]:
        transaction, database = self._transaction, self._database.require()
        return transaction.read(lambda: user_type_names(transaction.con, database))

    def _sequence_value(self, name: str) -> object:
        """Return the next number of a sequence, drawn once for the statement, or the one drawn last."""
        kind, _, tabid = name.rpartition("_")
        duck = f"{duck_database(self._database.require())}.main.{double_quoted(f'_sequence_{tabid}')}"
        function = "nextval" if f"{kind}_" == NEXTVAL_PREFIX else "currval"
        transaction = self._transaction
        row = transaction.read(lambda: first_row(transaction.con, f"SELECT {function}({quote_string(duck)})"))
        assert row is not None
        return row[0]

    def load_files(self, needs: BindRequirements, params: Sequence[object]) -> None:
        """Create the objects of filetoblob and filetoclob; their locators become session values."""
        for number, file in enumerate(needs.files):
            self._values.statement_values[f"file{number}"] = self._lob_calls.load_file(file, params)

    def query_table(self, sql: str, values: dict[str, object]) -> Any:
        """Run a query and return the whole result as an Arrow table."""
        transaction, bound = self._transaction, select_values(sql, values)

        def run() -> Any:
            con = transaction.con
            relation = con.sql(sql, params=bound) if bound else con.sql(sql)
            return relation.to_arrow_reader(_BATCH_ROWS).read_all()

        return self.routine_results.run_with_results(sql, run, self._collect_calls(sql, values))

    def query_spool(self, sql: str, values: dict[str, object], batch_rows: int) -> BatchSpool:
        """Run a query to its end and buffer its rows with little memory.

        Raises SqlError -271 if there is no room for them.
        """
        return self.build_with_results(
            sql, lambda: self._transaction.read(lambda: self._spool(sql, values, batch_rows, MEMORY)), values
        )

    def query_spool_in_write(self, sql: str, values: dict[str, object], batch_rows: int) -> BatchSpool:
        """Run `query_spool` inside `SessionTransaction.write`, which handles DuckDB's errors itself.

        The rows are used right away, so more of them stay in memory.
        """
        return self.build_with_results(
            sql, lambda: self._spool(sql, values, batch_rows, _SPOOL_MEMORY), values
        )

    def _spool(self, sql: str, values: dict[str, object], batch_rows: int, memory: int) -> BatchSpool:
        con, spool, bound = (
            self._transaction.con,
            BatchSpool(memory, self.temporary),
            select_values(sql, values),
        )
        relation = con.sql(sql, params=bound) if bound else con.sql(sql)
        reader = relation.to_arrow_reader(batch_rows)
        try:
            for batch in reader:
                spool.append(batch)
            if not len(spool):
                none = [pa.array([], field.type) for field in reader.schema]
                spool.append(pa.RecordBatch.from_arrays(none, schema=reader.schema))
        except BaseException as problem:
            spool.close()
            if isinstance(problem, (OSError, MemoryError, pa.ArrowException)):
                raise duckdb_error(problem) from problem
            raise
        finally:
            reader.close()  # not left to the garbage collector: see OpenResult
        return spool

    def _collect_calls(self, sql: str, values: dict[str, object] | None) -> Callable[[], object] | None:
        """Return a function that finds the routine calls of a text that may run only once; None for other texts.

        Such a text draws numbers of sequences. The function runs it without drawing any.
        """
        plain = without_nextval(sql) if ROUTINE_CALL in sql else sql
        if plain == sql:
            return None
        bound = select_values(plain, values or {}) or {}
        return lambda: self._transaction.con.execute(plain, bound).fetchall()

    def build_with_results(self, sql: str, make: Callable[[], C], values: dict[str, object]) -> C:
        """Build something from a text once every call in it has its result. Objects built before that are closed."""
        built: list[C] = []

        def run() -> C:
            while built:
                built.pop().close()
            built.append(make())
            return built[0]

        try:
            return self.routine_results.run_with_results(sql, run, self._collect_calls(sql, values))
        except BaseException:
            while built:
                built.pop().close()
            raise

    def stream(self, sql: str, values: dict[str, object], batch_rows: int) -> OpenResult | None:
        """Run a query whose rows are produced while they are read.

        Returns None if it calls routines: it may have to run again for arguments whose result is not known.
        """
        if ROUTINE_CALL in sql:
            return None
        return self._transaction.stream(sql, select_values(sql, values), batch_rows)

    def query_first(self, sql: str, values: dict[str, object] | None) -> tuple[Any, ...]:
        """Run a query that has a row and return its first one."""
        con = self._transaction.con
        row = self.routine_results.run_with_results(
            sql, lambda: first_row(con, sql, values), self._collect_calls(sql, values)
        )
        assert row is not None
        return row

    def collect_routine_results(self, sql: str, values: dict[str, object]) -> None:
        """Run a query only to get the results of the routines that it calls."""
        con, plain = self._transaction.con, without_nextval(sql)
        bound = select_values(plain, values) or {}
        self.routine_results.run_with_results(plain, lambda: con.execute(plain, bound).fetchall())
