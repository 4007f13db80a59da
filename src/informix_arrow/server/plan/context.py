"""What the translation of one statement is told, and what it finds out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ...wire.types import ColumnType
from ..catalog.catalog import SequenceInfo, TableInfo
from ..errors import not_supported
from ..types.result_types import character
from .plans import BindRequirements, ClientFile
from .scope import FromSource, TypedExpression
from .views import ViewTarget


@dataclass(frozen=True, slots=True)
class RoutineCall:
    """The user routine that a call in SQL means: the types of all its parameters, names and types of what it returns,
    and how the call begins for DuckDB, up to the list of its arguments. `out_positions` are the places of its OUT and INOUT
    parameters; with any of them the answer is a JSON list of what it returns and what it gives these."""

    parameters: tuple[ColumnType, ...]
    returns: tuple[tuple[str, ColumnType], ...]
    call_prefix: str
    out_positions: tuple[int, ...] = ()


class UserRoutines(Protocol):
    """The user routines that a statement can call."""

    def has_routine(self, name: str) -> bool:
        """Whether there is a routine of this name."""

    def resolve_call(self, name: str, types: Sequence[ColumnType | None], *, rows: bool) -> RoutineCall:
        """The one that a call with arguments of these types means, -674 for none; all its `rows`, or its only one."""


class NoRoutines:
    """Where a text is kept for other sessions, which know other routines: -201 for a call of one.

    Parameters
    ----------
    named
        What has a true value for the name of a routine.
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
    """What the user of a statement may do."""

    def require(self, info: TableInfo, letter: str, columns: Collection[str] = ()) -> None:
        """-272 and its like without the privilege of a letter of systabauth on a table, or on these columns."""


class Tables(Protocol):
    """The tables, views and sequences of a session."""

    def find(self, database: str | None, name: str) -> TableInfo | None:
        """A table, view or synonym, None when there is none; `database` is None for the open one."""

    def base_tables(self, info: TableInfo) -> Sequence[TableInfo]:
        """A table, or those that a view reads."""

    def find_sequence(self, database: str | None, name: str) -> SequenceInfo | None:
        """A sequence, None when there is none."""

    def view_target(self, info: TableInfo) -> ViewTarget:
        """What changes of a view go to; -274 for a view that is not of one table's rows."""


class Types(Protocol):
    """The named types of a session's database."""

    def find(self, name: str) -> ColumnType | None:
        """A type, None when there is none."""


@dataclass(slots=True)
class TranslationContext:
    """Everything one statement's translation needs and finds out."""

    schema: Tables
    types: Types
    codec: str  # Python codec of the database's code set: lengths of character types count its bytes
    dbdate: str = ""
    constants: dict[str, str] = field(default_factory=dict)  # DBINFO texts that are fixed for the session
    params: list[ColumnType | None] = field(default_factory=list)
    assigned_params: set[int] = field(default_factory=set)  # parameters that go into a column as they are
    packed_params: set[int] = field(
        default_factory=set
    )  # parameters that are compared with the key of a floating decimal
    used_params: set[int] = field(default_factory=set)  # parameters that stand in the DuckDB text
    session_values: set[str] = field(
        default_factory=set
    )  # names of session values: now, today, sqlerrd1, ...
    literal_truncated: bool = False  # a text was cut to its column already
    truncation_conditions: list[str] = field(
        default_factory=list
    )  # conditions under which a text will be cut
    files: list[ClientFile] = field(default_factory=list)  # what filetoblob and filetoclob read
    routines: UserRoutines = field(default_factory=NoRoutines)
    server_name: str = ""  # DBSERVERNAME
    user: str = "informix"
    roles: Callable[[], tuple[str, str]] = lambda: ("", "")  # the user's: that is set, and by default
    session_only: bool = False  # user routines are called: the text means something in this session only
    database_specific_names: list[str] = field(
        default_factory=list
    )  # names found that not every database has: tables and types of users
    sequences: dict[str, list[str]] = field(
        default_factory=dict
    )  # NEXTVAL and CURRVAL of each in the statement
    tables: dict[str, TableInfo] = field(default_factory=dict)  # those that were found, by their DuckDB names

    remaining_sql_chars: int = 1 << 20  # characters that long expressions may have in DuckDB's text
    check_interrupt: Callable[[], None] = lambda: None  # raises when the statement is to end
    privileges: PrivilegeChecker | None = None  # None where everything is allowed
    read_checks: list[tuple[TableInfo, FromSource, bool]] = field(default_factory=list)

    def find_table(self, database: str | None, name: str) -> TableInfo | None:
        """The table, view or synonym of a name, which the statement depends on from now on."""
        info = self.schema.find(database, name)
        if info is None or info.kind != "S" or info.name != name:
            self.database_specific_names.append(name)
        if info is not None:
            self.tables.update((table.duck_name, table) for table in self.schema.base_tables(info))
        return info

    def find_type(self, name: str) -> ColumnType | None:
        """The type of a name, which the statement depends on from now on."""
        self.database_specific_names.append(name)
        return self.types.find(name)

    @property
    def catalog_only(self) -> bool:
        """Whether nothing was found so far that not every database has."""
        return not self.database_specific_names

    def require_read_later(self, info: TableInfo, source: FromSource, *, always: bool = True) -> None:
        """Want the privilege to read a table, or no more than its columns that will be named; without `always` none
        where no column is."""
        if self.privileges is not None:
            source.read_columns = set()
            self.read_checks.append((info, source, always))

    def require_read(self) -> None:
        """-272 for a table that the statement reads and its user may not; when all of it is translated."""
        if self.privileges is not None:
            for info, source, always in self.read_checks:
                if always or source.read_columns:
                    self.privileges.require(info, "s", source.read_columns or ())

    def hint(self, ex: TypedExpression, t: ColumnType | None) -> TypedExpression:
        """Give a bare parameter the type of what it stands beside."""
        if ex.param >= 0 and t is not None:
            if self.params[ex.param] is None:
                self.params[ex.param] = t
            return replace(ex, type=t)
        return ex

    def as_count(self, ex: TypedExpression) -> TypedExpression:
        """As `hint`, for what counts something: the fraction of a parameter is cut."""
        if ex.param >= 0 and self.params[ex.param] is None:
            self.assigned_params.add(ex.param)
            return self.hint(ex, ColumnType.bigint())
        return self.as_integer(ex)

    def as_integer(self, ex: TypedExpression) -> TypedExpression:
        """A whole number: a parameter is one, of a floating decimal the fraction is cut."""
        if ex.is_packed_decimal:
            number = f"trunc({ex.duck_number})" if ex.duck_number else f"_ifx_whole({ex.sql}, 'down')"
            return TypedExpression(f"CAST({number} AS BIGINT)", ColumnType.bigint())
        return self.hint(ex, ColumnType.integer())

    def is_untyped_param(self, ex: TypedExpression) -> bool:
        """Whether an expression is a parameter of which nothing says what it is: its value will."""
        return ex.param >= 0 and self.params[ex.param] is None

    def session_value(self, name: str) -> str:
        """A value that the session knows when the statement runs."""
        self.session_values.add(name)
        return f"$s_{name}"

    def byte_length(self, value: str) -> int:
        return len(value.encode(self.codec, "replace"))

    def bind_requirements(self) -> BindRequirements:
        """What the text needs when it runs; parameters that nothing gave a type are texts."""
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
