"""Lookup of the routines that a session can call: those in its database's catalogue, and those that the tester has
registered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from ...wire.types import ColumnType, TypeCode
from ..catalog import stored_routines
from ..catalog.catalog import ColumnInfo
from ..errors import SqlError, no_table
from ..parse.ddl_tokens import SYSTEM_OWNER
from ..parse.ddl_types import UNRESOLVED
from ..parse.spl import codes
from ..parse.spl import nodes as n
from ..parse.spl.parser import parse_routine
from ..session.routine_protocols import PythonRoutine
from ..session.session_services import SessionServices
from ..types.nested_types import declare
from ..types.result_types import INTEGERS, is_character, is_date_or_datetime, is_number, without_serial
from .cross_database import in_database


@dataclass(frozen=True, slots=True)
class CalleeParameter:
    """A parameter with its resolved type. `default` has the form of a column's default (catalog.ColumnInfo)."""

    name: str
    type: ColumnType
    default: tuple[str, str] | None = None
    mode: str = ""

    @property
    def as_column(self) -> ColumnInfo:
        """A column with the same type and default."""
        return ColumnInfo(self.name, self.type, self.default)


@dataclass(eq=False, slots=True)
class Callee:
    """A routine that can be called: an SPL routine or a Python callable.

    `plans` caches the plans of the routine's texts (sql_compiler.py). A callee lives until the schema changes.
    `references` are the names that a trigger's actions or a trigger routine use for the old and new row. `table` is the
    table whose triggers may call it, "" if it is no trigger routine.
    """

    name: str
    parameters: tuple[CalleeParameter, ...]
    returns: tuple[tuple[str, ColumnType], ...]
    routine: n.Routine | None = None
    function: Callable[..., Any] | None = None
    procid: int = 0
    owner: str = ""  # owner of an SPL routine
    database: str = ""  # database whose catalogue has it; "" if none has
    plans: dict[object, Any] = field(default_factory=dict)
    references: tuple[str, str] | None = None
    table: str = ""


def callee_of(routine: PythonRoutine) -> Callee:
    """Return a Python callable as a routine."""
    arguments = tuple(CalleeParameter(f"p{i}", t) for i, t in enumerate(routine.parameters, 1))
    returns = tuple(("(expression)", t) for t in routine.returns)
    return Callee(routine.name, arguments, returns, function=routine.function)


class ParsedRoutineCache:
    """Parsed routines of all databases, shared by the sessions of a server. Numbers are never reused, so entries never
    become stale."""

    def __init__(self) -> None:
        self._routines: dict[tuple[str, int, bool], n.Routine] = {}

    def get(self, database: str, procid: int, text: str, delimident: bool) -> n.Routine:
        key = (database, procid, delimident)
        found = self._routines.get(key)
        if found is None or found.text != text:
            found = self._routines[key] = parse_routine(text, delimident)
        return found


class RoutineRegistry:
    """The routines that one session can call."""

    def __init__(self, parts: SessionServices, parsed: ParsedRoutineCache) -> None:
        self._session = parts
        self._parsed_routines = parsed
        self._stamp = -1
        self._callees: dict[tuple[str | None, str], list[Callee]] = {}

    # ---- finding ------------------------------------------------------------------------------
    def find_by_name(self, name: str, database: str | None = None) -> list[Callee]:
        """Return the routines that a call of this name may mean in a database, in the order of creation.

        `database` is None for the current one. If it has none, registered Python routines are returned. In a MODE ANSI
        database a name without an owner means the routines of the user, or of the owner of the routine that runs, or
        else those of ``informix``.
        """
        found = self._find(name, database)
        own = self.owned_by(self._session.tables.owner(name), found, database)
        if own or self._session.tables.named_owner(name, database):
            return own
        return self.owned_by(SYSTEM_OWNER, found, database)

    def find_named(self, name: str) -> list[Callee]:
        """Return the routines that a statement other than a call names, such as CREATE or DROP. In a MODE ANSI database
        a name without an owner means the user's own ones."""
        return self.owned_by(self._session.tables.owner(name), self._find(name, None))

    def owned_by(self, owner: str, callees: list[Callee], database: str | None = None) -> list[Callee]:
        """Return the routines of an owner in a MODE ANSI database, and all in others."""
        current = self._session.current_database
        database = database or current.name
        if database is None or not current.databases.get(database).ansi:
            return callees
        return [callee for callee in callees if callee.routine is None or callee.owner == owner]

    def _find(self, name: str, database: str | None) -> list[Callee]:
        """Return all routines with a name in a database, of all owners."""
        name = str(name)
        stamp, target_database = self._session.schema.stamp, database or self._session.current_database.name
        if stamp != self._stamp:
            self._stamp = stamp
            self._callees.clear()
        found = self._callees.get((target_database, name))
        if found is None:
            own = self._session.capture_routines.find_routines(target_database, name)
            if own:
                self._session.current_database.databases.get(target_database or "")
                found = [callee_of(r) for r in own]
            else:
                with in_database(self._session, target_database):
                    found = self._load(name) or [
                        callee_of(r) for r in self._session.python_routines.get(name, ())
                    ]
            self._callees[target_database, name] = found
        return found

    def find_by_number(self, database: str, procid: int) -> Callee:
        """Return the routine with a number in a database. Raises -674 if there is none."""
        with in_database(self._session, database):
            transaction = self._session.transaction
            name = transaction.read(lambda: stored_routines.name(transaction.catalog, database, procid))
        for callee in self._find(name, database) if name else ():
            if callee.procid == procid:
                return callee
        raise SqlError(codes.NO_ROUTINE, 0, 0, str(procid))

    def _load(self, name: str) -> list[Callee]:
        database, transaction = self._session.current_database.name, self._session.transaction
        if database is None:
            return []
        return [
            self._stored_callee(self._parsed_routines.get(database, procid, body, delimident), procid, owner)
            for procid, body, delimident, owner in transaction.read(
                lambda: stored_routines.texts(transaction.catalog, database, name)
            )
        ]

    def _stored_callee(self, routine: n.Routine, procid: int, owner: str) -> Callee:
        """Return a routine of the catalogue. What its parameters name without an owner is its owner's."""
        with nullcontext() if routine.dba else self._session.tables.names_of(owner):
            return self.make_callee(routine, procid, owner)

    def make_callee(self, routine: n.Routine, procid: int, owner: str = "") -> Callee:
        """Return a routine with resolved types. Raises -206 and -217 for LIKE, -9628 for an unknown type."""
        tables = self._session.tables
        return Callee(
            str(routine.name),
            tuple(
                CalleeParameter(p.name, self.resolve_type(p.type), p.default, p.mode)
                for p in routine.parameters
            ),
            tuple((name, self.resolve_type(t)) for name, t in routine.returns),
            routine,
            procid=procid,
            owner=owner,
            database=self._session.current_database.name or "",
            references=(routine.old, routine.new) if routine.table else None,
            table=tables.stored_name(None, routine.table) if routine.table else "",
        )

    def resolve_type(self, declared: n.DeclaredVariableType) -> ColumnType:
        """Return the current type of a declaration."""
        if isinstance(declared, n.Like):
            tables = self._session.tables
            info = tables.find(declared.database, tables.stored_name(declared.database, declared.table))
            if info is None:
                raise no_table(declared.table)
            return without_serial(info.require_column(declared.column).type)
        if declared.extended_id != UNRESOLVED:
            return declared
        return declare(declared.extended_name, self._session.types.find)

    # ---- overload resolution ------------------------------------------------------------------
    def resolve_overload(
        self,
        name: str,
        types: Sequence[ColumnType | None],
        names: Sequence[str] = (),
        database: str | None = None,
    ) -> Callee:
        """Return the routine that a call resolves to.

        `types` are the types of its arguments (None: unknown), `names` the names of the last ones, which are given by
        name. `database` is None for the current one. Raises -674 if there is none, -706 if the user may not call it.
        """
        best: Callee | None = None
        best_cost = 0
        for callee in self.find_by_name(name, database):
            cost = _match_cost(callee, types, names)
            if cost is not None and (best is None or cost < best_cost):
                best, best_cost = callee, cost
        if best is None:
            raise SqlError(codes.NO_ROUTINE, 0, 0, name)
        self.require_execute(best)
        return best

    def require_execute(self, callee: Callee) -> None:
        """Raise -706 if the session's user may not call a routine."""
        if callee.routine is not None:
            with in_database(self._session, callee.database):
                self._session.privileges.require_execute(callee.name, callee.procid, callee.owner)


def _match_cost(callee: Callee, types: Sequence[ColumnType | None], names: Sequence[str]) -> int | None:
    """Return the cost of converting a call's arguments to a routine's parameters, None if the call does not match."""
    if len(types) > len(callee.parameters):
        return None
    known = [p.name for p in callee.parameters]
    first = len(types) - len(names)
    positions = [*range(first), *(known.index(name) if name in known else -1 for name in names)]
    if -1 in positions or len(set(positions)) < len(positions):
        return None
    omitted = [p for i, p in enumerate(callee.parameters) if i not in positions]
    if any(p.default is None for p in omitted):
        return None  # an omitted argument without a default would be undefined
    return len(omitted) + sum(
        10 * _conversion_cost(t, callee.parameters[i].type) for t, i in zip(types, positions, strict=True)
    )


def _conversion_cost(have: ColumnType | None, want: ColumnType) -> int:
    if have is None or have.code == want.code:
        return 0
    if have.code in INTEGERS and want.code in INTEGERS:
        wider = (
            want.code in (TypeCode.INTEGER, TypeCode.BIGINT, TypeCode.INT8) and want.code != TypeCode.SMALLINT
        )
        return 1 if wider else 2
    if (is_number(have) and is_number(want)) or (is_character(have) and is_character(want)):
        return 2 if is_number(have) else 1
    if is_date_or_datetime(have) and is_date_or_datetime(want):
        return 2
    return 5 if is_character(have) or is_character(want) else 9
