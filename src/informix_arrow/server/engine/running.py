"""DuckDB text run with an Informix statement's parameters: the values bound for it, and whole results as Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from ...wire.types import ColumnType
from ..planning.functions.type_words import TYPE_NAMES
from ..planning.plans import ROUTINE_CALL, Needs
from ..planning.sequences import CURRENT, DRAWN, without_numbers
from ..schema.catalog import attached, first_row
from ..schema.schema_routines import user_type_names
from ..types.conversions import for_comparison
from ..types.names import quote, text
from ..types.result_types import INTEGERS
from .calling import RoutineAnswers
from .current_database import CurrentDatabase
from .environment import Environment
from .lob_calls import ObjectCalls
from .open_rows import OpenRows, duckdb_error
from .plan_cache import LONGEST_TEXT
from .session_values import SessionValues
from .spool import MEMORY, Spool
from .transaction import Transaction


class Closable(Protocol):
    """What holds something until it is closed."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)

_BATCH_ROWS = 65536
_WANTED_AT_ONCE = 32 << 20
"""Bytes of rows in memory that are written somewhere in a moment."""

_WIDEST = ColumnType.decimal(32)
_VALUE = re.compile(r"\$(\w+)")


def values_in(sql: str, values: dict[str, object]) -> dict[str, object] | None:
    """The values that a text names: DuckDB refuses others. None when it names none."""
    if not values:
        return None
    wanted = _named(sql) if len(sql) <= LONGEST_TEXT else set(_VALUE.findall(sql))
    return {name: value for name, value in values.items() if name in wanted} or None


@lru_cache(maxsize=1024)
def _named(sql: str) -> frozenset[str]:
    return frozenset(_VALUE.findall(sql))


class Runner:
    """Runs text for one session.

    Attributes
    ----------
    cut
        Set when a parameter that was bound was cut to its column; who wants to know clears it before.
    cut_params
        The numbers of such parameters, and perhaps of others before.
    answers
        Those of the routines that a text calls.
    temporary
        The directory for rows that have to wait and are too many for memory.
    """

    def __init__(
        self,
        environment: Environment,
        values: SessionValues,
        transaction: Transaction,
        database: CurrentDatabase,
        objects: ObjectCalls,
        answers: RoutineAnswers,
        temporary: str,
    ) -> None:
        self._environment = environment
        self._values = values
        self._transaction = transaction
        self._database = database
        self._objects = objects
        self.answers = answers
        self.temporary = temporary
        self.cut = False
        self.cut_params: set[int] = set()

    def bind(self, needs: Needs, params: Sequence[object]) -> dict[str, object]:
        """DuckDB's named values for one run: parameters in storage form, and what the session knows."""
        environment = self._environment
        values: dict[str, object] = {}
        for number in needs.used:
            t = needs.params[number]
            if (
                t is not None
                and t.code in INTEGERS
                and type(params[number]) is int
                and number not in needs.assigned
            ):
                values[f"p{number}"] = params[number]
            elif t is not None and (number in needs.assigned or number in needs.packed):
                # what is compared keeps all its digits
                converter = environment.converter(t if number in needs.assigned else _WIDEST)
                values[f"p{number}"] = converter.one(params[number])
                if converter.was_cut:
                    self.cut = True
                    self.cut_params.add(number)
            else:
                values[f"p{number}"] = for_comparison(
                    params[number], t, environment.codec, environment.dbdate
                )
        for name in needs.uses:
            numbered = name.startswith((DRAWN, CURRENT))
            if name == TYPE_NAMES:
                values[f"s_{name}"] = self._type_names()
            else:
                values[f"s_{name}"] = self._sequence_value(name) if numbered else self._values.value(name)
        return values

    def _type_names(self) -> list[str | None]:
        transaction, database = self._transaction, self._database.require()
        return transaction.read(lambda: user_type_names(transaction.con, database))

    def _sequence_value(self, name: str) -> object:
        """A number of a sequence that is drawn once for the statement, or the one drawn last."""
        kind, _, tabid = name.rpartition("_")
        duck = f"{attached(self._database.require())}.main.{quote(f'_sequence_{tabid}')}"
        function = "nextval" if f"{kind}_" == DRAWN else "currval"
        transaction = self._transaction
        row = transaction.read(lambda: first_row(transaction.con, f"SELECT {function}({text(duck)})"))
        assert row is not None
        return row[0]

    def load_files(self, needs: Needs, params: Sequence[object]) -> None:
        """Make the objects of filetoblob and filetoclob; their locators become session values."""
        for number, file in enumerate(needs.files):
            self._values.made[f"file{number}"] = self._objects.load_file(file, params)

    def arrow(self, sql: str, values: dict[str, object]) -> Any:
        """Run a query; the whole result as an Arrow table."""
        transaction, named = self._transaction, values_in(sql, values)

        def run() -> Any:
            con = transaction.con
            relation = con.sql(sql, params=named) if named else con.sql(sql)
            return relation.to_arrow_reader(_BATCH_ROWS).read_all()

        return self.answers.settled(sql, run, self._ahead(sql, values))

    def spooled(self, sql: str, values: dict[str, object], batch_rows: int) -> Spool:
        """Run a query to its end; its rows, which take little memory however many they are. SqlError -271 where there
        is no room for them."""
        return self.last_made(
            sql, lambda: self._transaction.read(lambda: self._spool(sql, values, batch_rows, MEMORY)), values
        )

    def spooled_inside(self, sql: str, values: dict[str, object], batch_rows: int) -> Spool:
        """As `spooled`, inside `Transaction.write`, which has errors of DuckDB as they are. The rows are wanted at
        once: more of them stay in memory."""
        return self.last_made(sql, lambda: self._spool(sql, values, batch_rows, _WANTED_AT_ONCE), values)

    def _spool(self, sql: str, values: dict[str, object], batch_rows: int, memory: int) -> Spool:
        con, spool, named = self._transaction.con, Spool(memory, self.temporary), values_in(sql, values)
        relation = con.sql(sql, params=named) if named else con.sql(sql)
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
            reader.close()  # not left to the collector: see OpenRows
        return spool

    def _ahead(self, sql: str, values: dict[str, object] | None) -> Callable[[], object] | None:
        """What finds out which routines a text calls where that draws numbers of sequences, and so is to be run once;
        None for others."""
        plain = without_numbers(sql) if ROUTINE_CALL in sql else sql
        if plain == sql:
            return None
        named = values_in(plain, values or {}) or {}
        return lambda: self._transaction.con.execute(plain, named).fetchall()

    def last_made(self, sql: str, make: Callable[[], C], values: dict[str, object]) -> C:
        """What is made of a text once every call in it has its answer; what was made of it before is closed."""
        made: list[C] = []

        def run() -> C:
            while made:
                made.pop().close()
            made.append(make())
            return made[0]

        try:
            return self.answers.settled(sql, run, self._ahead(sql, values))
        except BaseException:
            while made:
                made.pop().close()
            raise

    def stream(self, sql: str, values: dict[str, object], batch_rows: int) -> OpenRows | None:
        """Begin a query whose rows are made while they are read; None for one that calls routines: it may have to be
        run again when it comes to arguments whose answer is not known."""
        if ROUTINE_CALL in sql:
            return None
        return self._transaction.stream(sql, values_in(sql, values), batch_rows)

    def first(self, sql: str, values: dict[str, object] | None) -> tuple[Any, ...]:
        """Run a query that has a row; its first."""
        con = self._transaction.con
        row = self.answers.settled(sql, lambda: first_row(con, sql, values), self._ahead(sql, values))
        assert row is not None
        return row

    def probe(self, sql: str, values: dict[str, object]) -> None:
        """Run a query for the sake of the routines that it calls: their answers are known then."""
        con, plain = self._transaction.con, without_numbers(sql)
        named = values_in(plain, values) or {}
        self.answers.settled(plain, lambda: con.execute(plain, named).fetchall())
