"""What a translation carries: an expression with its type, the sources in scope, and the statement's
parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ...wire.types import ColumnType
from ..catalog import SequenceInfo, TableInfo, quote, text
from ..conversions import Converter
from ..errors import SqlError, no_column, not_supported
from .intervals import is_interval, parse, qualifier_of, same_class
from .literals import date, datetime_fields, number, to_storage
from .names import value_sql
from .nested_types import FindType, is_nested, is_simple_large, lob_kind
from .packed import encode
from .result_types import (
    PADDED,
    datetime_storage,
    is_character,
    is_floating_decimal,
    is_number,
    storage_type,
)

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator
    from .lob_functions import Call, ClientFile
    from .views import Target

CallRoutine = Callable[["ExpressionTranslator", str, list[exp.Expression], "Scope"], "Ex | None"]
"""Translates a call of a user routine; None where there is none of that name."""

RoutineTable = Callable[
    ["ExpressionTranslator", str, list[exp.Expression], "Scope"], "tuple[str, tuple[Output, ...]]"
]
"""Translates a routine in FROM: a query and its columns."""


def no_routine_rows(
    tr: ExpressionTranslator, name: str, nodes: list[exp.Expression], scope: Scope
) -> tuple[str, tuple[Output, ...]]:
    """Where the text is kept for other sessions."""
    raise not_supported(f"the user routine {name} in a view or constraint")


CONSTANT = "(constant)"
_WRONG_TYPES = -9634
_NO_OBJECTS_HERE = -615  # BYTE and TEXT can be compared with NULL only
EXPRESSION = "(expression)"


@dataclass(frozen=True, slots=True)
class Ex:
    """A translated expression.

    `sql` is DuckDB text over storage values (see result_types.duck_type). `type` is None where nothing is
    known (a parameter, NULL). `name` is what DESCRIBE calls the column. `param` is the number of a bare
    `?`, else -1. `literal` is the text of a bare string literal.
    """

    sql: str
    type: ColumnType | None
    name: str = EXPRESSION
    param: int = -1
    literal: str | None = None
    number: bool = False  # a bare numeric literal
    packed: bool = False  # the key of a floating decimal (packed.py), not yet a number
    source: ColumnType | None = None  # the declared type when the expression is a bare column
    value: object = None  # what a literal that is neither number nor text stands for, as a parameter would be


@dataclass(frozen=True, slots=True)
class Output:
    """One column of a query's result, or of a source in FROM."""

    name: str
    type: ColumnType | None
    sql: str = ""
    packed: bool = False
    call: Call | None = None  # the engine calls out for each row; the SQL gives the arguments


def table_outputs(info: TableInfo) -> tuple[Output, ...]:
    """The columns of a table or view as a source has them."""
    return tuple(Output(c.name, c.type, "", is_floating_decimal(c.type)) for c in info.columns)


@dataclass(slots=True)
class Source:
    """Something in a FROM list: how it is called, its columns, its DuckDB alias."""

    alias: str
    outputs: tuple[Output, ...]
    table: TableInfo | None = None

    def find(self, name: str) -> Output | None:
        for output in self.outputs:
            if output.name == name:
                return output
        return None

    @property
    def duck(self) -> str:
        return quote(self.alias)


@dataclass(slots=True)
class Scope:
    """The sources of one SELECT and, behind them, those of the SELECTs around it."""

    sources: list[Source] = field(default_factory=list)
    parent: Scope | None = None
    ctes: dict[str, tuple[Output, ...]] = field(default_factory=dict)

    def cte(self, name: str) -> tuple[Output, ...] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.ctes:
                return scope.ctes[name]
            scope = scope.parent
        return None

    def resolve(self, name: str, qualifier: str, offset: int = 0) -> Ex:
        """A column by name and optional table or alias. -217 unknown, -324 ambiguous."""
        scope: Scope | None = self
        while scope is not None:
            hits = [
                (source, output)
                for source in scope.sources
                if (not qualifier or source.alias == qualifier) and (output := source.find(name)) is not None
            ]
            if len(hits) > 1 and not qualifier:
                raise SqlError(-324, 0, offset, name)
            if hits:
                source, output = hits[0]
                sql = f"{source.duck}.{quote(output.name)}"
                return Ex(sql, output.type, output.name, packed=output.packed, source=output.type)
            if name == "rowid":
                tables = [s for s in scope.sources if s.table and (not qualifier or s.alias == qualifier)]
                if len(tables) == 1:
                    # a row id is page and slot; the first row of a table is page 1, slot 1
                    sql = f"CAST({tables[0].duck}.rowid + 257 AS INTEGER)"
                    return Ex(sql, ColumnType.integer(), "rowid")
            scope = scope.parent
        raise no_column(name, offset)


@dataclass(slots=True)
class Context:
    """Everything one statement's translation needs and finds out."""

    find_table: Callable[[str | None, str], TableInfo | None]
    codec: str  # Python codec of the database's code set: lengths of character types count its bytes
    dbdate: str = ""
    constants: dict[str, str] = field(default_factory=dict)  # DBINFO texts that are fixed for the session
    params: list[ColumnType | None] = field(default_factory=list)
    assigned: set[int] = field(default_factory=set)  # parameters that go into a column as they are
    packed: set[int] = field(
        default_factory=set
    )  # parameters that are compared with the key of a floating decimal
    seen: set[int] = field(default_factory=set)  # parameters that stand in the DuckDB text
    uses: set[str] = field(default_factory=set)  # names of session values: now, today, sqlerrd1, ...
    literal_cut: bool = False  # a text was cut to its column already
    cuts: list[str] = field(default_factory=list)  # conditions under which a text will be cut
    files: list[ClientFile] = field(default_factory=list)  # what filetoblob and filetoclob read
    find_type: FindType = lambda name: None  # user types of the open database
    call_routine: CallRoutine = lambda tr, name, nodes, scope: None  # a user routine in SQL
    routine_rows: RoutineTable = no_routine_rows  # a user routine in FROM
    find_sequence: Callable[[str | None, str], SequenceInfo | None] = lambda database, name: None
    view_target: Callable[[TableInfo], Target] | None = None
    server_name: str = ""  # DBSERVERNAME
    user: str = "informix"
    own: bool = False  # user routines are called: the text means something in this session only
    sequences: dict[str, list[str]] = field(
        default_factory=dict
    )  # NEXTVAL and CURRVAL of each in the statement
    tables: dict[str, TableInfo] = field(default_factory=dict)  # those that were found, by their DuckDB names

    # ---- parameters -----------------------------------------------------------------------
    def hint(self, ex: Ex, t: ColumnType | None) -> Ex:
        """Give a bare parameter the type of what it stands beside."""
        if ex.param >= 0 and t is not None:
            if self.params[ex.param] is None:
                self.params[ex.param] = t
            return replace(ex, type=t)
        return ex

    def value(self, name: str) -> str:
        """A value that the session knows when the statement runs."""
        self.uses.add(name)
        return f"$s_{name}"

    def byte_length(self, value: str) -> int:
        return len(value.encode(self.codec, "replace"))

    # ---- bringing two sides together --------------------------------------------------------
    def meet(self, a: Ex, b: Ex) -> tuple[str, str]:
        """SQL of both sides of a comparison: literals and parameters take the other side's type, characters
        compare without trailing blanks."""
        a, b = self.hint(a, b.type), self.hint(b, a.type)
        if a.packed or b.packed:
            return self._meet_packed(a, b)
        if a.type is None or b.type is None:
            return a.sql, b.sql
        if is_simple_large(a.type) or is_simple_large(b.type):
            raise SqlError(_NO_OBJECTS_HERE)
        if is_nested(a.type) or is_nested(b.type):
            raise SqlError(_WRONG_TYPES)  # operators.py compares these
        if is_interval(a.type) and is_interval(b.type):
            same_class(qualifier_of(a.type), qualifier_of(b.type))
            return a.sql, b.sql
        if is_character(a.type) and is_character(b.type):
            return self.trimmed(a), self.trimmed(b)
        if is_character(a.type) and a.param < 0:
            return self.as_type_of(a, b.type), b.sql
        if is_character(b.type) and b.param < 0:
            return a.sql, self.as_type_of(b, a.type)
        return a.sql, b.sql

    def _meet_packed(self, a: Ex, b: Ex) -> tuple[str, str]:
        if a.packed and b.packed:
            return a.sql, b.sql
        if b.packed:
            right, left = self._meet_packed(b, a)
            return left, right
        if b.param >= 0:
            self.packed.add(b.param)
            return a.sql, b.sql
        if b.number or b.literal is not None:
            value = number(b.literal if b.literal is not None else b.sql.strip("()"))
            return a.sql, text(encode(value, 32))
        if b.sql == "NULL":
            return a.sql, b.sql
        if b.type is not None and not (is_number(b.type) or is_character(b.type)):
            raise SqlError(-1260)
        return a.sql, f"_ifx_key(CAST({b.sql} AS VARCHAR))"

    def trimmed(self, ex: Ex) -> str:
        """A character expression without trailing blanks."""
        if ex.literal is not None:
            return text(ex.literal.rstrip(" "))
        if ex.source is not None and ex.source.code in PADDED:
            return ex.sql  # stored without them
        return f"rtrim({ex.sql}, ' ')"

    def as_type_of(self, ex: Ex, t: ColumnType) -> str:
        """A character expression where a value of another type is wanted; a literal is read now (-1213,
        -1218...)."""
        if ex.literal is not None:
            return self.read_literal(ex.literal, t)
        if is_number(t):
            return f"CAST(trim({ex.sql}) AS DOUBLE)"
        if t.is_boolean:
            return f"(CASE lower(trim({ex.sql})) WHEN 't' THEN TRUE WHEN 'f' THEN FALSE END)"
        if is_interval(t):
            return f"_ifx_interval({ex.sql}, {t.encoded_length})"
        if t.qualifier is not None:
            return f"CAST(trim({ex.sql}) AS {datetime_storage(t.qualifier)})"
        return f"CAST(trim({ex.sql}) AS DATE)"

    def read_literal(self, value: str, t: ColumnType) -> str:
        """DuckDB literal of a character literal that stands for a value of type `t`."""
        if is_number(t):
            return f"{number(value):f}"
        if t.is_boolean:
            lowered = value.strip().lower()
            if lowered not in ("t", "f"):
                raise SqlError(-9634, 0, 0, "", "a BOOLEAN is 't' or 'f'")
            return "TRUE" if lowered == "t" else "FALSE"
        if is_nested(t) or lob_kind(t):
            stored = Converter(t, self.codec, self.dbdate).one(value)
            return f"CAST({value_sql(stored)} AS {storage_type(t)})"
        if is_interval(t):
            return f"CAST({parse(value, qualifier_of(t))} AS BIGINT)"
        if t.code == 10 and t.qualifier is not None:
            stored = to_storage(datetime_fields(value, t.qualifier), t.qualifier)
            return f"{datetime_storage(t.qualifier)} {text(str(stored))}"
        if t.code == 7:
            return f"DATE {text(date(value, self.dbdate).isoformat())}"
        return text(value)


def offset_of(node: exp.Expression) -> int:
    """1-based position of a node in the statement's text, 0 when the parser did not keep it."""
    for candidate in (node, node.args.get("this")):
        if isinstance(candidate, exp.Expression):
            start = candidate.meta.get("start")
            if isinstance(start, int):
                return start + 1
    return 0
