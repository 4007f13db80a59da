"""BETWEEN, IN, LIKE, MATCHES, and subqueries: EXISTS, ANY, ALL and scalar subqueries."""

from __future__ import annotations

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.nested_types import element_type, is_collection, is_nested
from ...types.quoting import quote_string
from ...types.result_types import (
    character,
    is_character,
    is_floating_decimal,
    nullable,
    text_type,
    without_serial,
)
from ..scope import Scope, TypedExpression, source_offset
from ..translator import NodeTranslators, Translator
from ..values.single_evaluation import evaluate_once
from .operators import comparison, operand_and_rows


def _between(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    this = tr.expr(node.this, scope)
    low, high = tr.expr(node.args["low"], scope), tr.expr(node.args["high"], scope)
    values = tr.values

    def between(given: list[TypedExpression]) -> TypedExpression:
        a, b = values.meet(given[0], given[1])
        c, e = values.meet(given[0], given[2])
        return TypedExpression(f"({a} >= {b} AND {c} <= {e})", ColumnType.boolean())

    return evaluate_once(tr.ctx, between, (this, low, high))


def _in(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    if isinstance(node.this, exp.Tuple) and node.args.get("query") is None:
        tests = [exp.EQ(this=node.this, expression=item) for item in node.expressions]
        return TypedExpression(
            "(" + " OR ".join(comparison(tr, t, scope).sql for t in tests) + ")", ColumnType.boolean()
        )
    if isinstance(node.this, exp.Tuple):
        return _in_rows(tr, node, scope)
    this = tr.expr(node.this, scope)
    if node.args.get("field") is not None:
        return _in_collection(tr, this, tr.values.with_inferred_type(tr.expr(node.args["field"], scope)))
    query = node.args.get("query")
    if query is not None:
        left, rows = operand_and_rows(tr, this, query, scope)
        return TypedExpression(f"({left} IN ({rows}))", ColumnType.boolean())
    pairs = [tr.values.meet(this, tr.expr(item, scope)) for item in node.expressions]
    if not pairs:
        raise SqlError(-201, 0, 1)
    if len({left for left, _ in pairs}) == 1:
        return TypedExpression(
            f"({pairs[0][0]} IN ({', '.join(right for _, right in pairs)}))", ColumnType.boolean()
        )
    return TypedExpression("(" + " OR ".join(f"{x} = {y}" for x, y in pairs) + ")", ColumnType.boolean())


def _in_rows(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate `(a, b) IN (SELECT x, y ...)`."""
    query = node.args["query"]
    query = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(query, exp.Select) or len(query.expressions) != len(node.this.expressions):
        raise SqlError(-201, 0, 1)
    sql, outputs = tr.rows(query, scope)
    lefts, rights = [], []
    for i, (item, output) in enumerate(zip(node.this.expressions, outputs, strict=True)):
        a, b = tr.values.meet(
            tr.expr(item, scope),
            TypedExpression(f"q.v{i}", output.type, is_packed_decimal=output.is_packed_decimal),
        )
        lefts.append(a)
        rights.append(b)
    names = ", ".join(f"v{i}" for i in range(len(outputs)))
    return TypedExpression(
        f"(({', '.join(lefts)}) IN (SELECT {', '.join(rights)} FROM ({sql}) AS q({names})))",
        ColumnType.boolean(),
    )


def _in_collection(tr: Translator, this: TypedExpression, collection: TypedExpression) -> TypedExpression:
    """Translate `x IN setcol`."""
    if not is_collection(collection.type) or collection.type is None:
        raise SqlError(-9634)
    element = nullable(element_type(collection.type))
    if is_nested(element):
        value = tr.values.cast(this, element).sql
    else:
        value, _ = tr.values.meet(
            this, TypedExpression("NULL", element, is_packed_decimal=is_floating_decimal(element))
        )
    return TypedExpression(f"list_contains({collection.sql}, {value})", ColumnType.boolean())


def _like(tr: Translator, node: exp.Expression, scope: Scope, escape: str | None = None) -> TypedExpression:
    left, right = _text_and_pattern(tr, node, scope)
    escape_text = quote_string(escape if escape is not None else "\\")
    return TypedExpression(f"({left.sql} LIKE {right.sql} ESCAPE {escape_text})", ColumnType.boolean())


def _text_and_pattern(tr: Translator, node: exp.Expression, scope: Scope) -> list[TypedExpression]:
    """Translate the operands of LIKE or MATCHES to texts."""
    left, right = tr.expr(node.this, scope), tr.expr(node.expression, scope)
    return [
        ex if ex.type is None or is_character(ex.type) else tr.values.cast(ex, text_type(ex.type))
        for ex in (left, tr.ctx.hint(right, character(255)))
    ]


def _glob(tr: Translator, node: exp.Expression, scope: Scope, escape: str | None = None) -> TypedExpression:
    """Translate MATCHES: `*`, `?`, `[a-z]`, `[^a-z]`. A backslash escapes."""
    left, right = _text_and_pattern(tr, node, scope)
    if right.literal is not None:
        pattern = right.literal
        if escape and escape != "\\":
            pattern = pattern.replace("\\", "\\\\").replace(escape, "\\")
        right_sql = quote_string(pattern.replace("[^", "[!"))
    else:
        right_sql = f"replace({right.sql}, '[^', '[!')"
    return TypedExpression(f"({left.sql} GLOB {right_sql})", ColumnType.boolean())


def _escape(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    if not (isinstance(node.expression, exp.Literal) and node.expression.is_string):
        raise SqlError(-201, 0, 1)
    character_ = str(node.expression.this)
    if len(character_.encode()) != 1:
        raise SqlError(-201, 0, source_offset(node) or 1, "", "ESCAPE needs one single-byte character.")
    if isinstance(node.this, exp.Like):
        return _like(tr, node.this, scope, character_)
    if isinstance(node.this, exp.Glob):
        return _glob(tr, node.this, scope, character_)
    raise SqlError(-201, 0, 1)


def _exists(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    return TypedExpression(f"EXISTS ({tr.rows(inner, scope)[0]})", ColumnType.boolean())


def _subquery(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    sql, output = tr.query(node.this if isinstance(node, exp.Subquery) else node, scope)
    t = output.type
    return TypedExpression(
        f"({sql})", without_serial(t) if t is not None else None, is_packed_decimal=output.is_packed_decimal
    )


NODES: NodeTranslators = {
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.Glob: _glob,
    exp.Escape: _escape,
    exp.Exists: _exists,
    exp.Subquery: _subquery,
    exp.Select: _subquery,
}
