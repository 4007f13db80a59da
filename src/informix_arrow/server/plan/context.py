"""Inputs and results of the translation of one statement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from ...wire.types import ColumnType
from ..catalog.catalog import SequenceInfo, TableInfo
from ..errors import not_supported
from ..types.result_types import character
from .plans import BindRequirements, ClientFile
from .scope import FromSource, TypedExpression
from .views import ViewTarget


@dataclass(frozen=True, slots=True)
class RoutineCall:
    """The user routine that a call in SQL resolves to.

    `parameters` are the types of all parameters, `returns` the names and types of the return values. `call_prefix` is
    the DuckDB SQL of the call before its arguments. `out_positions` are the positions of OUT and INOUT parameters: if
    there are any, the call returns a JSON list of its return value and the values of these parameters.
    """

    parameters: tuple[ColumnType, ...]
    returns: tuple[tuple[str, ColumnType], ...]
    call_prefix: str
    out_positions: tuple[int, ...] = ()


class UserRoutines(Protocol):
    """The user routines that a statement can call."""

    def has_routine(self, name: str) -> bool:
        """Return whether there is a routine of this name."""

    def resolve_call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """Return the routine for a call with arguments of these types. Raises -674 if there is none.

        With `rows` the call returns all rows of the routine, else its only row.
        """


class NoRoutines:
    """Rejects user routines in SQL that is stored for other sessions, which may have other routines: -201 for a call.

    Parameters
    ----------
    named
        Returns a true value for the name of a routine.
    """

    def __init__(self, named: Callable[[str], object] = lambda name: None) -> None:
        self._named = named

    def has_routine(self, name: str) -> bool:
        if self._named(name):
            raise self._unsupported(name)
        return False

    def resolve_call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        raise self._unsupported(name)

    @staticmethod
    def _unsupported(name: str) -> Exception:
        return not_supported(f"the user routine {name} in a view or constraint")


class PrivilegeChecker(Protocol):
    """Checks what the user of a statement may do."""

    def require(self, info: TableInfo, letter: str, columns: Collection[str] = ()) -> None:
        """Raise -272 or a similar error if the user lacks a privilege (a letter of systabauth) on a table or on these
        columns."""


class Tables(Protocol):
    """The tables, views and sequences of a session."""

    def find(self, database: str | None, name: str) -> TableInfo | None:
        """Return a table, view or synonym, None if there is none. `database` is None for the current database."""

    def stored_name(self, database: str | None, name: str) -> str:
        """Return the name under which the table, view, synonym or sequence is stored that a statement names."""

    def base_tables(self, info: TableInfo) -> Sequence[TableInfo]:
        """Return the tables that a view reads, or the table itself."""

    def find_sequence(self, database: str | None, name: str) -> SequenceInfo | None:
        """Return a sequence, None if there is none."""

    def view_query(self, info: TableInfo) -> exp.Expression:
        """Return a view's query with the database of each table."""

    def view_target(self, info: TableInfo) -> ViewTarget:
        """Return the table that changes of a view apply to. Raises -274 for a view that cannot be changed."""


class Types(Protocol):
    """The named types of a session's database."""

    def find(self, name: str) -> ColumnType | None:
        """Return a type, None if there is none."""


@dataclass(slots=True)
class TranslationContext:
    """Inputs of the translation of one statement, and the requirements that it collects."""

    schema: Tables
    types: Types
    codec: str  # Python codec of the database's code set: lengths of character types count its bytes
    dbdate: str = ""
    constants: dict[str, str] = field(default_factory=dict)  # DBINFO texts that are fixed for the session
    params: list[ColumnType | None] = field(default_factory=list)
    assigned_params: set[int] = field(default_factory=set)  # parameters assigned to a column unchanged
    packed_params: set[int] = field(default_factory=set)  # parameters compared with a floating decimal's key
    used_params: set[int] = field(default_factory=set)  # parameters used in the DuckDB SQL
    session_values: set[str] = field(default_factory=set)  # their names: now, today, sqlerrd1, ...
    literal_truncated: bool = False  # a literal was truncated to its column
    truncation_conditions: list[str] = field(default_factory=list)  # SQL conditions for truncation of a text
    files: list[ClientFile] = field(default_factory=list)  # files that filetoblob and filetoclob read
    routines: UserRoutines = field(default_factory=NoRoutines)
    server_name: str = ""  # DBSERVERNAME
    user: str = "informix"
    uses_user: bool = False  # the SQL has the user's name or role
    roles: Callable[[], tuple[str, str]] = lambda: ("", "")  # the user's current role and default role
    session_only: bool = False  # the SQL is valid only in this session, as it calls user routines
    database_specific_names: list[str] = field(default_factory=list)  # resolved user tables and types
    sequences: dict[str, list[str]] = field(default_factory=dict)  # uses of NEXTVAL and CURRVAL by sequence
    tables: dict[str, TableInfo] = field(default_factory=dict)  # resolved tables by DuckDB name

    allows_lambdas: bool = True  # DuckDB rejects them in a CHECK
    remaining_sql_chars: int = 1 << 20  # limit for the SQL of long expressions
    check_interrupt: Callable[[], None] = lambda: None  # raises if the statement was interrupted
    privileges: PrivilegeChecker | None = None  # None if everything is allowed
    read_checks: list[tuple[TableInfo, FromSource, bool]] = field(default_factory=list)

    def find_table(self, database: str | None, name: str) -> TableInfo | None:
        """Return a table, view or synonym by name. The statement depends on it from now on."""
        name = self.schema.stored_name(database, name)
        info = self.schema.find(database, name)
        if info is None or info.kind != "S" or info.name != name:
            self.database_specific_names.append(name)
        if info is not None:
            self.tables.update((table.duck_name, table) for table in self.schema.base_tables(info))
        return info

    def find_type(self, name: str) -> ColumnType | None:
        """Return a type by name. The statement depends on it from now on."""
        self.database_specific_names.append(name)
        return self.types.find(name)

    @property
    def uses_session(self) -> bool:
        """True if the SQL has values of the session, such as TODAY or USER."""
        return bool(self.session_values) or self.uses_user

    @property
    def catalog_only(self) -> bool:
        """True if the statement names only tables and types that every database has."""
        return not self.database_specific_names

    def require_read_later(self, info: TableInfo, source: FromSource, *, always: bool = True) -> None:
        """Request the read privilege for a table, limited to the columns that the statement names later.

        Without `always`, no privilege is required if it names none.
        """
        if self.privileges is not None:
            source.read_columns = set()
            self.read_checks.append((info, source, always))

    def require_read(self) -> None:
        """Check the requested read privileges once the whole statement is translated. Raises -272 if one is missing."""
        if self.privileges is not None:
            for info, source, always in self.read_checks:
                if always or source.read_columns:
                    self.privileges.require(info, "s", source.read_columns or ())

    def hint(self, ex: TypedExpression, t: ColumnType | None) -> TypedExpression:
        """Give a bare parameter the type of its counterpart in the expression."""
        if ex.param >= 0 and t is not None:
            if self.params[ex.param] is None:
                self.params[ex.param] = t
            return replace(ex, type=t)
        return ex

    def as_count(self, ex: TypedExpression) -> TypedExpression:
        """Convert a count to an integer. Like `hint`, but the fraction of a parameter is cut."""
        if ex.param >= 0 and self.params[ex.param] is None:
            self.assigned_params.add(ex.param)
            return self.hint(ex, ColumnType.bigint())
        return self.as_integer(ex)

    def as_integer(self, ex: TypedExpression) -> TypedExpression:
        """Convert to an integer: a parameter becomes an integer, the fraction of a floating decimal is cut."""
        if ex.is_packed_decimal:
            number = f"trunc({ex.duck_number})" if ex.duck_number else f"_ifx_whole({ex.sql}, 'down')"
            return TypedExpression(f"CAST({number} AS BIGINT)", ColumnType.bigint())
        return self.hint(ex, ColumnType.integer())

    def is_untyped_param(self, ex: TypedExpression) -> bool:
        """Return whether an expression is a parameter without a known type. Its value decides the type."""
        return ex.param >= 0 and self.params[ex.param] is None

    def session_value(self, name: str) -> str:
        """Return the placeholder of a value that the session supplies at execution."""
        self.session_values.add(name)
        return f"$s_{name}"

    def byte_length(self, value: str) -> int:
        return len(value.encode(self.codec, "replace"))

    def bind_requirements(self) -> BindRequirements:
        """Return what the SQL needs at execution. Parameters without a known type are texts."""
        params = [t if t is not None else character(255) for t in self.params]
        used = {number for number in range(len(params)) if number in self.used_params}
        return BindRequirements(
            list(params),
            used,
            set(self.assigned_params),
            set(self.session_values),
            set(self.packed_params),
            tuple(self.files),
        )
