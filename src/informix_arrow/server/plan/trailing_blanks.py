"""DISTINCT, GROUP BY and set operations over texts. Informix treats texts that differ only in trailing blanks as one
value.

Of such texts, the shortest is returned. CHAR columns are stored without trailing blanks, so they need nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...wire.quoting import double_quoted
from ..types.result_types import is_character
from .scope import OutputColumn, Scope, TypedExpression, integer_literal
from .translator import Translator
from .values.casts import Values

_MAX_REPEATED_CHARS = 200
"""Maximum length of an expression that may be repeated in DuckDB's SQL."""


def has_trailing_blanks(values: Values, ex: TypedExpression) -> bool:
    """Return whether a value may have insignificant trailing blanks."""
    is_text = ex.type is not None and is_character(ex.type) and ex.literal is None and ex.param < 0
    return is_text and values.trimmed(ex) != ex.sql


def trim_blanks_sql(sql: str) -> str:
    """Return SQL that removes trailing blanks. Most texts have none, which DuckDB sees in a quarter of the time of
    RTRIM."""
    trimmed = f"rtrim({sql}, ' ')"
    return (
        f"(CASE WHEN suffix({sql}, ' ') THEN {trimmed} ELSE {sql} END)"
        if len(sql) <= _MAX_REPEATED_CHARS
        else trimmed
    )


def text_group_keys(tr: Translator, node: exp.Select, scope: Scope) -> dict[int, str]:
    """Return the text keys of GROUP BY without trailing blanks, by position.

    A later translation with the same scope replaces each of these keys by a value of the group. Returns an empty dict
    if a subquery may need the keys unchanged.
    """
    group = node.args.get("group")
    if group is None:
        return {}
    others = (*node.expressions, node.args.get("having"), node.args.get("order"))
    if any(other is not None and other.find(exp.Query) is not None for other in others):
        return {}
    keys: dict[int, str] = {}
    groups: dict[str, str] = {}
    for position, key in enumerate(group.expressions):
        expression = _resolve_group_key(node, key)
        if expression is None:
            continue
        ex = tr.expr(expression, scope)
        if has_trailing_blanks(tr.values, ex):
            keys[position] = trim_blanks_sql(ex.sql)
            groups[ex.sql] = f"min({ex.sql})"
    scope.groups = groups
    return keys


def _resolve_group_key(node: exp.Select, key: exp.Expression) -> exp.Expression | None:
    """Return the expression of a GROUP BY key. Return None for a position that is invalid or follows a star."""
    if not isinstance(key, exp.Literal) or key.is_string:
        return key
    position = integer_literal(key) or 0
    items = node.expressions[:position]
    if not 1 <= position <= len(node.expressions) or any(item.is_star for item in items):
        return None
    return items[-1].this if isinstance(items[-1], exp.Alias) else items[-1]


def distinct_rows(sql: str, outputs: Sequence[OutputColumn], *, top: bool) -> str:
    """Return SQL of the distinct rows of a query. Columns are named like those of other queries (queries.py)."""
    names = [f"c{i}" if top else double_quoted(output.name) for i, output in enumerate(outputs)]
    items = [
        f"{f'min(k{i})' if _is_text(output) else f'k{i}'} AS {name}"
        for i, (output, name) in enumerate(zip(outputs, names, strict=True))
    ]
    columns = ", ".join(f"k{i}" for i in range(len(outputs)))
    keys = ", ".join(_key(f"k{i}", output) for i, output in enumerate(outputs))
    return f"SELECT {', '.join(items)} FROM ({sql}) AS _ifx_d({columns}) GROUP BY {keys}"


def distinct_set_operation(
    word: str, left: str, right: str, outputs: Sequence[OutputColumn], *, top: bool
) -> str:
    """Return SQL of `left UNION right`, or with EXCEPT or INTERSECT."""
    if word == "UNION":
        return distinct_rows(f"({left}) UNION ALL ({right})", outputs, top=top)
    columns = ", ".join(f"k{i}" for i in range(len(outputs)))
    same = " AND ".join(
        f"{_key(f'_ifx_l.k{i}', output)} IS NOT DISTINCT FROM {_key(f'_ifx_r.k{i}', output)}"
        for i, output in enumerate(outputs)
    )
    exists = f"EXISTS (SELECT 1 FROM ({right}) AS _ifx_r({columns}) WHERE {same})"
    condition = exists if word == "INTERSECT" else f"NOT {exists}"
    return distinct_rows(f"SELECT * FROM ({left}) AS _ifx_l({columns}) WHERE {condition}", outputs, top=top)


def ordered_rows(
    sql: str, outputs: Sequence[OutputColumn], positions: Sequence[str], *, top: bool
) -> tuple[str, list[str]]:
    """Return a query that can be ordered by its own columns at the positions `places` (from 1), and the sort keys.

    Texts that another key follows are compared without their trailing blanks.
    """
    columns = [int(position) - 1 for position in positions]
    if not any(_is_text(outputs[column]) for column in columns[:-1]):
        return sql, list(positions)
    names = ", ".join(f"k{i}" for i in range(len(outputs)))
    items = ", ".join(
        f"k{i} AS {f'c{i}' if top else double_quoted(output.name)}" for i, output in enumerate(outputs)
    )
    keys = [_key(f"k{column}", outputs[column]) for column in columns[:-1]] + [f"k{columns[-1]}"]
    return f"SELECT {items} FROM ({sql}) AS _ifx_o({names})", keys


def _is_text(output: OutputColumn) -> bool:
    return output.type is not None and is_character(output.type)


def _key(sql: str, output: OutputColumn) -> str:
    return trim_blanks_sql(sql) if _is_text(output) else sql
