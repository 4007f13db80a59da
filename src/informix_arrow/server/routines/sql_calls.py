"""User routines inside SQL: `SELECT f(x) FROM t`, `WHERE f(x) = 1`.

A routine's statements cannot run while DuckDB runs the query that calls it. So the query is run with a function that
only looks up: an answer that is not known yet is NULL, and its arguments are noted. The routines are called for what
was noted, with the session's own connection and transaction, and the query is run again, until nothing was missing.
A routine is called once for each combination of arguments in a statement.
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
from ..engine.parts import SessionParts
from ..errors import not_supported
from ..planning.context import RoutineCall
from ..planning.plans import ROUTINE_CALL
from ..types.names import value_sql
from ..types.result_types import storage_type
from .frames import Frame
from .interpreter import Caller
from .registry import Callee, Registry

T = TypeVar("T")

_MOST_ROUNDS = 100

Key = tuple[int, tuple[str | None, ...]]
"""The number of a call's place and its arguments as text."""

_numbers = itertools.count(1)
_lookers: WeakValueDictionary[int, SqlCalls | Answers] = WeakValueDictionary()


def install(con: duckdb.DuckDBPyConnection) -> None:
    """Register the looking-up function with the instance of `con`."""
    con.create_function(
        "_ifx_routine",
        _look_up,
        ["INTEGER", "INTEGER", "VARCHAR[]"],
        "VARCHAR",
        null_handling="special",
        side_effects=True,  # or DuckDB would call it for branches that are not taken
    )


def _look_up(looker: int, place: int, arguments: list[str | None]) -> str | None:
    found = _lookers.get(looker)
    if found is None:
        raise _NOBODY
    return found.look_up((place, tuple(arguments)))


_NOBODY = ValueError(
    "IFX-768: nobody knows the answers of this call any more"
)  # errors.from_duckdb reads this


class Answers:
    """The answers that a write was run with, for when its transaction has to be done again (journal.py)."""

    def __init__(self, known: dict[Key, str | None]) -> None:
        self._known = known

    def look_up(self, key: Key) -> str | None:
        if key not in self._known:
            raise _NOBODY
        return self._known[key]


class AnsweredText(str):
    """A text whose calls have answers of their own. Who keeps the text keeps them."""

    answers: Answers


class SqlCalls:
    """The calls from SQL of one session."""

    def __init__(self, parts: SessionParts, registry: Registry, caller: Caller) -> None:
        self._parts = parts
        self._registry = registry
        self._caller = caller
        self._number = next(_numbers)
        self._places: list[tuple[Callee, int, bool]] = []  # arguments given; whether all its rows are wanted
        self._numbers: dict[tuple[Callee, int, bool], int] = {}
        self._known: dict[Key, str | None] | None = None  # answers; None outside of a statement that calls
        self._missing: dict[Key, None] = {}
        _lookers[self._number] = self

    def look_up(self, key: Key) -> str | None:
        if self._known is None:
            raise _NOBODY
        if key not in self._known:
            self._missing[key] = None
        return self._known.get(key)

    # ---- translation (planning.context.UserRoutines) --------------------------------------------
    def is_known(self, name: str) -> bool:
        """Whether there is a routine of this name."""
        return bool(self._registry.named(name))

    def call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """The routine that a call means; a place for its answers."""
        callee = self._registry.choose(name, types)
        head = f"{ROUTINE_CALL}{self._number}, {self._place(callee, len(types), rows)}, "
        outs = tuple(i for i, p in enumerate(callee.parameters) if p.mode)
        return RoutineCall(tuple(p.type for p in callee.parameters), callee.returns, head, outs)

    def _place(self, callee: Callee, given: int, rows: bool) -> int:
        key = (callee, given, rows)
        if key not in self._numbers:
            self._numbers[key] = len(self._places)
            self._places.append(key)
        return self._numbers[key]

    # ---- running ------------------------------------------------------------------------------
    def settled(self, sql: str, run: Callable[[], T], ahead: Callable[[], object] | None = None) -> T:
        """See `engine.calling.RoutineAnswers`."""
        if ROUTINE_CALL not in sql:
            return run()
        with nullcontext() if self._known is not None else self.remembering():
            if ahead is not None:
                self.until_known(ahead)
            return self.until_known(run)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Around one statement: answers are remembered until its end."""
        with self._state({}):
            yield

    @contextmanager
    def _state(self, known: dict[Key, str | None] | None) -> Iterator[None]:
        kept = self._known, self._missing
        self._known, self._missing = known, {}
        try:
            yield
        finally:
            self._known, self._missing = kept

    def answered(self, sql: str) -> str:
        """A write's text with the answers that its calls have now; inside `remembering`, behind `settled`."""
        if ROUTINE_CALL not in sql:
            return sql
        number = next(_numbers)
        text = AnsweredText(sql.replace(f"{ROUTINE_CALL}{self._number},", f"{ROUTINE_CALL}{number},"))
        text.answers = _lookers[number] = Answers(dict(self._known or {}))
        return text

    def until_known(self, run: Callable[[], T]) -> T:
        """See `settled`; inside `remembering`."""
        for _ in range(_MOST_ROUNDS):
            found = run()
            if not self._missing:
                return found
            missing, self._missing = list(self._missing), {}
            for place in {key[0] for key in missing}:
                self._answer(place, [key[1] for key in missing if key[0] == place])
        raise not_supported("a query that calls routines with other arguments each time it is run")

    def _answer(self, place: int, wanted: list[tuple[str | None, ...]]) -> None:
        callee, given, rows_wanted = self._places[place]
        parts = self._parts
        types = [parameter.type for parameter in callee.parameters[:given]]
        defaults = [parts.values.default(p.declared) for p in callee.parameters[given:]]
        rows: list[tuple[Any, ...]] = [() for _ in wanted]
        if types:
            items = ", ".join(f"CAST(a[{i}] AS {storage_type(t)})" for i, t in enumerate(types, 1))
            sql = f"SELECT {items} FROM (SELECT unnest($rows::VARCHAR[][]) AS a)"
            rows = parts.transaction.con.execute(sql, {"rows": [list(w) for w in wanted]}).fetchall()
        for key, row in zip(wanted, rows, strict=True):
            parts.owner.check_interrupt()
            with self._state(None):  # the routine's own statements are others
                found = parts.transaction.write(partial(self._called, callee, [*row, *defaults], rows_wanted))
            assert self._known is not None
            texts = [[self._text(value) for value in values] for values in found]
            if any(parameter.mode for parameter in callee.parameters):
                self._known[place, key] = json.dumps(texts[0])
            else:
                self._known[place, key] = json.dumps(texts) if rows_wanted else texts[0][0]

    def _called(self, callee: Callee, arguments: list[object], rows_wanted: bool) -> list[tuple[object, ...]]:
        outs = [parameter.name for parameter in callee.parameters if parameter.mode]
        if rows_wanted and outs:
            raise not_supported("a routine with OUT parameters in FROM")
        if rows_wanted:
            return list(self._caller.rows(callee, arguments, from_query=True))
        given: list[object] = []

        def over(frame: Frame) -> None:
            given.extend(frame.value(name) for name in outs)

        return [(*self._caller.one(callee, arguments, from_query=True, over=over), *given)]

    def _text(self, value: object) -> str | None:
        """A value as DuckDB reads it from text."""
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
        found = self._parts.transaction.con.execute(f"SELECT CAST({value_sql(value)} AS VARCHAR)").fetchone()
        assert found is not None
        return str(found[0])
