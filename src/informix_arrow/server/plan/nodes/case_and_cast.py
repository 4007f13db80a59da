"""Expressions with a syntax of their own: CASE, CAST, `col[2,5]`, TRIM and SUBSTRING."""

from __future__ import annotations

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.nested_types import declare
from ...types.result_types import PADDED, character, is_character, text_type
from ..functions.strings import substring
from ..scope import Scope, TypedExpression, integer_literal
from ..translator import NodeTranslators, Translator
from ..values.single_evaluation import evaluate_once
from ..values.text_truncation import slice_sql


def _case(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    operand = tr.expr(node.this, scope) if node.args.get("this") is not None else None
    arms: list[tuple[str, TypedExpression]] = []
    for branch in node.args.get("ifs") or ():
        if operand is None:
            test = tr.condition(branch.this, scope)
        else:
            a, b = tr.values.meet(operand, tr.expr(branch.this, scope))
            test = f"{a} = {b}"
        arms.append((test, tr.expr(branch.args["true"], scope)))
    default = node.args.get("default")
    otherwise = tr.expr(default, scope) if default is not None else None
    return tr.values.choose(arms, otherwise)


def _cast(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    declared = node.args["to"].meta.get("informix")
    if not declared:
        raise SqlError(-201, 0, 1)
    values, t = tr.values, declare(str(declared), tr.ctx.find_type)
    return evaluate_once(tr.ctx, lambda given: values.cast(given[0], t), [tr.expr(node.this, scope)])


def _bracket(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate `col[2,5]` and `col[3]`: bytes from, to, 1-based and inclusive."""
    inner = tr.expr(node.this, scope)
    bounds = node.expressions
    positions = [integer_literal(bound) for bound in bounds]
    if not 1 <= len(positions) <= 2 or None in positions:
        raise SqlError(-201, 0, 1)
    first, last = positions[0] or 0, positions[-1] or 0
    width = inner.type.content_width if inner.type is not None and is_character(inner.type) else 0
    if not width:
        raise SqlError(-305, 0, 0, inner.name)
    if first < 1 or last < first:
        raise SqlError(-307)
    n = last - first + 1
    sql, t = slice_sql(inner.sql, first, n, tr.ctx.codec), ColumnType.char(n)
    if inner.source is not None and inner.source.code in PADDED:  # a piece of a CHAR includes its blanks
        return TypedExpression(f"rtrim({sql}, ' ')", t, inner.name, source=t)
    return TypedExpression(sql, t, inner.name)


def _trim(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    inner = tr.ctx.hint(tr.expr(node.this, scope), character(255))
    if inner.type is not None and not is_character(inner.type):
        inner = tr.values.cast(inner, text_type(inner.type))
    what = node.args.get("expression")
    characters = tr.expr(what, scope).sql if what is not None else "' '"
    position = str(node.args.get("position") or "").upper()
    function = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(position, "trim")
    width = inner.type.content_width if inner.type is not None else 255
    return TypedExpression(f"{function}({inner.sql}, {characters})", character(width))


def _substring(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    parts = [node.this, node.args.get("start"), node.args.get("length")]
    arguments = [part for part in parts if part is not None]
    if len(arguments) < 2:
        raise SqlError(-664, 0, 0, "substring")
    return substring(tr.values, [tr.expr(part, scope) for part in arguments])


NODES: NodeTranslators = {
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Bracket: _bracket,
    exp.Trim: _trim,
    exp.Substring: _substring,
}
