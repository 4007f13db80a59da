"""Typed expressions, and the sources to which names are resolved."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from ...wire.quoting import double_quoted
from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..errors import SqlError, no_column
from ..types.result_types import is_floating_decimal
from .plans import RowCall

CONSTANT = "(constant)"

EXPRESSION = "(expression)"

_DIGITS = 32

_FIRST_OWN_ROW = 36028797018960000
"""DuckDB's row id of the first row that a transaction has added to a table, until COMMIT. The next ones follow."""


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """A translated expression.

    `sql` is DuckDB SQL over storage values (see result_types.duck_type). `type` is None if it is unknown (a parameter,
    NULL). `name` is the column's name in DESCRIBE. `param` is the number of a bare `?`, else -1. `literal` is the text
    of a bare string literal.
    """

    sql: str
    type: ColumnType | None
    name: str = EXPRESSION
    param: int = -1
    literal: str | None = None
    is_number_literal: bool = False  # a bare numeric literal
    is_packed_decimal: bool = False  # a floating decimal's key (types/packed_decimal.py), not yet a number
    source: ColumnType | None = None  # the declared type if the expression is a bare column
    # the value of a literal that is neither number nor text, as a parameter would have it
    value: object = None
    # for a key: the number in DuckDB's SQL, whose type is known only with the parameters
    duck_number: str = ""


def stored_value(sql: str, t: ColumnType) -> TypedExpression:
    """Return the expression of a value that is stored as a column of its type is."""
    return TypedExpression(sql, t, is_packed_decimal=is_floating_decimal(t), source=t)


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of a query's result, or of a source in FROM."""

    name: str
    type: ColumnType | None
    sql: str = ""
    is_packed_decimal: bool = False
    row_call: RowCall | None = None  # the session calls it for each row; the SQL returns the arguments


def table_outputs(info: TableInfo) -> tuple[OutputColumn, ...]:
    """Return the columns of a table or view as a source."""
    return tuple(OutputColumn(c.name, c.type, "", is_floating_decimal(c.type)) for c in info.columns)


@dataclass(slots=True)
class FromSource:
    """An item of a FROM list: its alias, columns and table.

    `read_columns` collects the columns that the statement names. It is None if nobody needs them.
    """

    alias: str
    outputs: tuple[OutputColumn, ...]
    table: TableInfo | None = None
    read_columns: set[str] | None = None

    def find(self, name: str) -> OutputColumn | None:
        for output in self.outputs:
            if output.name == name:
                return output
        return None

    def column(self, output: OutputColumn) -> TypedExpression:
        """Return a column as an expression."""
        return TypedExpression(
            f"{self.quoted_alias}.{double_quoted(output.name)}",
            output.type,
            output.name,
            is_packed_decimal=output.is_packed_decimal,
            source=output.type,
        )

    @property
    def quoted_alias(self) -> str:
        return double_quoted(self.alias)


@dataclass(slots=True)
class Scope:
    """The sources of one SELECT. `parent` is the scope of the enclosing SELECT."""

    sources: list[FromSource] = field(default_factory=list)
    parent: Scope | None = None
    ctes: dict[str, tuple[OutputColumn, ...]] = field(default_factory=dict)
    variables: dict[str, TypedExpression] = field(default_factory=dict)  # declared as `name # type`
    groups: dict[str, str] | None = None  # texts in GROUP BY: the SQL that replaces them outside of GROUP BY

    def cte(self, name: str) -> tuple[OutputColumn, ...] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.ctes:
                return scope.ctes[name]
            scope = scope.parent
        return None

    def resolve(self, name: str, qualifier: str, offset: int = 0) -> TypedExpression:
        """Resolve a column by name and optional table or alias.

        Raises -217 if it is unknown, -324 if it is ambiguous, -522 for a table that is in no FROM list.
        """
        scope: Scope | None = self
        known = not qualifier
        while scope is not None:
            known = known or any(source.alias == qualifier for source in scope.sources)
            hits = [
                (source, output)
                for source in scope.sources
                if (not qualifier or source.alias == qualifier) and (output := source.find(name)) is not None
            ]
            if len(hits) > 1 and not qualifier:
                raise SqlError(-324, 0, offset, name)
            if hits:
                source, output = hits[0]
                if source.read_columns is not None:
                    source.read_columns.add(output.name)
                return source.column(output)
            if not qualifier and name in scope.variables:
                return scope.variables[name]
            if name == "rowid":
                tables = [s for s in scope.sources if s.table and (not qualifier or s.alias == qualifier)]
                if len(tables) == 1:
                    if tables[0].table is not None and tables[0].table.storage.strategy:
                        raise SqlError(-857, 0, offset)
                    # a rowid is page and slot; the first row of a table is page 1, slot 1
                    row = f"{tables[0].quoted_alias}.rowid"
                    sql = (
                        f"CAST(CASE WHEN {row} < {_FIRST_OWN_ROW} THEN {row} + 257"
                        f" ELSE {_FIRST_OWN_ROW + 2**31 - 1} - {row} END AS INTEGER)"
                    )
                    return TypedExpression(sql, ColumnType.integer(), "rowid")
            scope = scope.parent
        raise no_column(name, offset) if known else SqlError(-522, 0, offset, qualifier)


def integer_literal(node: exp.Expression) -> int | None:
    """Return the value of an integer literal, None for anything else or too many digits."""
    digits = "" if not isinstance(node, exp.Literal) or node.is_string else str(node.this)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else None


def source_offset(node: exp.Expression) -> int:
    """Return the 1-based position of a node in the statement's text, 0 if the parser did not keep it."""
    for candidate in (node, node.args.get("this")):
        if isinstance(candidate, exp.Expression):
            start = candidate.meta.get("start")
            if isinstance(start, int):
                return start + 1
    return 0
