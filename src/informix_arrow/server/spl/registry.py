"""Which routines a session can call: those of its database's catalogue, and those that a tester has registered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...wire.types import ColumnType, TypeCode
from ..catalog import ColumnInfo, attached
from ..errors import SqlError, no_column, no_table
from ..sql.ddl_types import UNRESOLVED
from ..sql.nested_types import declare
from ..sql.result_types import INTEGERS, is_character, is_moment, is_number, plain
from . import codes
from . import nodes as n
from .parser import read_routine

if TYPE_CHECKING:
    from ..engine_session import EngineSession


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter with its type as it is now. `default` is a column's default (catalog.ColumnInfo)."""

    name: str
    type: ColumnType
    default: tuple[str, str] | None = None
    mode: str = ""


@dataclass(eq=False, slots=True)
class Callee:
    """A routine that can be called: one in SPL, or a Python callable.

    `plans` keeps what `embedded` made of the routine's texts; a callee lives until the schema changes.
    """

    name: str
    parameters: tuple[Argument, ...]
    returns: tuple[tuple[str, ColumnType], ...]
    routine: n.Routine | None = None
    function: Callable[..., Any] | None = None
    procid: int = 0
    is_function: bool = True
    plans: dict[object, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Registered:
    """A Python callable under the name of a routine."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[ColumnType, ...]
    returns: tuple[ColumnType, ...]

    def callee(self) -> Callee:
        arguments = tuple(Argument(f"p{i}", t) for i, t in enumerate(self.parameters, 1))
        return Callee(
            self.name, arguments, tuple(("(expression)", t) for t in self.returns), function=self.function,
            is_function=bool(self.returns),
        )  # fmt: skip


class Parsed:
    """Routines of all databases as they were read, shared by the sessions of an engine. A number is never given
    twice, so nothing in here grows old."""

    def __init__(self) -> None:
        self._routines: dict[tuple[str, int, bool], n.Routine] = {}

    def get(self, database: str, procid: int, text: str, delimident: bool) -> n.Routine:
        key = (database, procid, delimident)
        found = self._routines.get(key)
        if found is None or found.text != text:
            found = self._routines[key] = read_routine(text, delimident)
        return found


class Registry:
    """The routines of one session. `Routines` (space.py) is the whole of what a session has for them."""

    def __init__(self, session: EngineSession) -> None:
        self.session = session
        self.depth = 0  # of calls inside calls, now
        self._stamp = -1
        self._database: str | None = None
        self._found: dict[str, list[Callee]] = {}

    # ---- finding ------------------------------------------------------------------------------
    def named(self, name: str) -> list[Callee]:
        """All routines of a name, in the order of their creation; registered ones when the database has none."""
        session = self.session
        if (session.stamp, session.database) != (self._stamp, self._database):
            self._stamp, self._database = session.stamp, session.database
            self._found.clear()
        found = self._found.get(name)
        if found is None:
            found = self._load(name) or [r.callee() for r in session.engine.registered.get(name, ())]
            self._found[name] = found
        return found

    def _load(self, name: str) -> list[Callee]:
        session = self.session
        if session.database is None:
            return []
        rows = session.read(
            lambda: session.con.execute(
                f"SELECT procid, body, delimident FROM {attached(session.require_database())}._ifx.procedures "
                "WHERE procname = ? ORDER BY procid",
                [name],
            ).fetchall()
        )
        found = []
        for procid, body, delimident in rows:
            routine = session.engine.parsed_routines.get(
                session.require_database(), procid, body, bool(delimident)
            )
            found.append(self.callee(routine, procid))
        return found

    def callee(self, routine: n.Routine, procid: int) -> Callee:
        """A routine with its types looked up. -206 and -217 for LIKE, -9628 for a type that is not there."""
        return Callee(
            routine.name,
            tuple(Argument(p.name, self.type_of(p.type), p.default, p.mode) for p in routine.parameters),
            tuple((name, self.type_of(t)) for name, t in routine.returns),
            routine,
            procid=procid,
            is_function=routine.kind == "FUNCTION",
        )

    def type_of(self, declared: n.Declared) -> ColumnType:
        """The type that a declaration means now."""
        if isinstance(declared, n.Like):
            info = self.session.find_table(None, declared.table)
            if info is None:
                raise no_table(declared.table)
            column = info.column(declared.column)
            if column is None:
                raise no_column(declared.column)
            return plain(column.type)
        if declared.extended_id != UNRESOLVED:
            return declared
        return declare(declared.extended_name, self.session.types.find)

    # ---- choosing -----------------------------------------------------------------------------
    def choose(self, name: str, types: Sequence[ColumnType | None], names: Sequence[str] = ()) -> Callee:
        """The routine that a call means: `types` of its arguments (None: not known), `names` of those that are given
        by name, at the end. -674 when there is none."""
        best: Callee | None = None
        least = 0
        for callee in self.named(name):
            cost = _cost(callee, types, names)
            if cost is not None and (best is None or cost < least):
                best, least = callee, cost
        if best is None:
            raise SqlError(codes.NO_ROUTINE, 0, 0, name)
        return best

    def default(self, argument: Argument) -> object:
        """A parameter's default in storage form."""
        return self.session.default_value(ColumnInfo(argument.name, argument.type, argument.default))


def _cost(callee: Callee, types: Sequence[ColumnType | None], names: Sequence[str]) -> int | None:
    """How far a call's arguments are from a routine's parameters; None when the call cannot mean it."""
    if len(types) > len(callee.parameters):
        return None
    known = [p.name for p in callee.parameters]
    first = len(types) - len(names)
    places = [*range(first), *(known.index(name) if name in known else -1 for name in names)]
    if -1 in places or len(set(places)) < len(places):
        return None
    left = [p for i, p in enumerate(callee.parameters) if i not in places]
    if any(p.default is None for p in left):
        return None  # an argument that is left out and has no default would be undefined
    return len(left) + sum(
        10 * _distance(t, callee.parameters[i].type) for t, i in zip(types, places, strict=True)
    )


def _distance(have: ColumnType | None, want: ColumnType) -> int:
    if have is None or have.code == want.code:
        return 0
    if have.code in INTEGERS and want.code in INTEGERS:
        wider = (
            want.code in (TypeCode.INTEGER, TypeCode.BIGINT, TypeCode.INT8) and want.code != TypeCode.SMALLINT
        )
        return 1 if wider else 2
    if (is_number(have) and is_number(want)) or (is_character(have) and is_character(want)):
        return 2 if is_number(have) else 1
    if is_moment(have) and is_moment(want):
        return 2
    return 5 if is_character(have) or is_character(want) else 9


def registered(
    name: str, function: Callable[..., Any], parameters: Sequence[str], returns: Sequence[str]
) -> Registered:
    """A Python callable as a routine, from Informix's names of its types. ValueError for a type that is none."""
    return Registered(
        name.strip().lower(),
        function,
        tuple(ColumnType.parse_sql(t) for t in parameters),
        tuple(ColumnType.parse_sql(t) for t in returns),
    )
