"""Translation of `sequence.NEXTVAL` and `sequence.CURRVAL`.

All references to one sequence in one row have the same number. DuckDB's nextval() draws a number at each place, so it
is used if a statement names its sequence once. Otherwise the number is drawn once before execution. That is correct for
statements of one row, and a second row is rejected.
"""

from __future__ import annotations

import re

from sqlglot import exp

from ...wire.types import ColumnType
from ..parse.query_names import table_name
from ..types.quoting import quote_string
from .context import TranslationContext
from .scope import Scope, TypedExpression

NEXTVAL_PREFIX, CURRVAL_PREFIX = "drawn_", "current_"
"""Prefixes of the session values of numbers, before the sequence's tabid."""

_NEXT = re.compile(r"nextval\('(?:[^']|'')*'\)")

_WORDS = ("nextval", "currval")
_SEVERAL_ROWS = "IFX-201"


def collect_references(ctx: TranslationContext, tree: exp.Expression) -> None:
    """Count the possible references to sequences in a statement before its translation."""
    for column in tree.find_all(exp.Column):
        if column.name in _WORDS and column.table:
            name = ctx.schema.stored_name(None, table_name(column, column.table))
            ctx.sequences.setdefault(name, []).append(column.name)


def translate_reference(
    ctx: TranslationContext, node: exp.Expression, parts: list[str], scope: Scope
) -> TypedExpression | None:
    """Translate `[owner.]name.NEXTVAL` or CURRVAL. Return None if the name is no sequence."""
    if len(parts) < 2 or parts[-1] not in _WORDS or not isinstance(node, exp.Column):
        return None
    name = ctx.schema.stored_name(None, table_name(node, node.table))
    known = ctx.schema.find_sequence(None, name)
    if known is None:
        return None
    words, t = ctx.sequences.get(name, [parts[-1]]), ColumnType.int8()
    if words == ["nextval"]:
        return TypedExpression(f"nextval({quote_string(known.duck_name)})", t, "nextval")
    if "nextval" not in words:
        return TypedExpression(
            f"CAST({ctx.session_value(f'{CURRVAL_PREFIX}{known.tabid}')} AS BIGINT)", t, "currval"
        )
    sql = f"CAST({ctx.session_value(f'{NEXTVAL_PREFIX}{known.tabid}')} AS BIGINT)"
    if scope.sources:
        sql = f"(CASE WHEN row_number() OVER () = 1 THEN {sql} ELSE CAST(error('{_SEVERAL_ROWS}') AS BIGINT) END)"
    return TypedExpression(sql, t, parts[-1])


def without_nextval(sql: str) -> str:
    """Return SQL that draws no numbers, for an execution whose values do not matter."""
    return _NEXT.sub("CAST(1 AS BIGINT)", sql)
