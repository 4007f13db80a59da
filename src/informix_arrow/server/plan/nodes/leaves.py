"""Literals, NULL, names, parameters and variables."""

from __future__ import annotations

from dataclasses import replace
from math import isinf

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError, not_supported
from ...parse import dialect_nodes as d
from ...types.documents import is_document
from ...types.nested_types import is_row
from ...types.quoting import quote_string
from ...types.result_types import storage_type
from .. import sequences
from ..scope import CONSTANT, EXPRESSION, Scope, TypedExpression, source_offset, stored_value
from ..translator import NodeTranslators, Translator
from ..values.nested import Constructor, field
from ..variables import RoutineVariable
from .calls import call

_ROLES = ("current_role", "default_role")
_SESSION_WORDS = frozenset({"user", "current_user", "dbservername", "sitename", *_ROLES})


def _literal(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    value = str(node.this)
    if node.is_string:
        n = max(1, tr.ctx.byte_length(value))
        kind = ColumnType.char(n) if n <= 32767 else ColumnType.lvarchar(32739)
        return TypedExpression(quote_string(value), kind, CONSTANT, literal=value)
    lowered = value.lower()
    if "e" in lowered:
        if isinf(float(lowered)):
            raise SqlError(-204)
        return TypedExpression(value, ColumnType.float_(), CONSTANT, is_number_literal=True)
    integer_part, _, fraction = lowered.partition(".")
    digits = len(integer_part.lstrip("0")) + len(fraction)
    if not fraction and digits <= 10 and int(integer_part or 0) <= 2147483647:
        return TypedExpression(integer_part or "0", ColumnType.integer(), CONSTANT, is_number_literal=True)
    if digits > 32:
        if fraction or len(integer_part.strip("0")) > 32:
            raise SqlError(-1226, 0, 0)
        return TypedExpression(
            f"_ifx_key({quote_string(integer_part)})",
            ColumnType.decimal(32),
            CONSTANT,
            is_packed_decimal=True,
        )
    scale = len(fraction)
    return TypedExpression(
        value, ColumnType.decimal(max(1, digits, scale), scale), CONSTANT, is_number_literal=True
    )


def _column(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    parts = [part.name for part in node.parts]
    if len(parts) == 1 and parts[0] in _SESSION_WORDS and not node.this.args.get("quoted"):
        found = _session_word(tr, parts[0], scope)
        if found is not None:
            return found
    number = sequences.translate_reference(tr.ctx, node, parts, scope) if len(parts) > 1 else None
    return number if number is not None else _path(tr, parts, scope, source_offset(node))


def _session_word(tr: Translator, word: str, scope: Scope) -> TypedExpression | None:
    """Translate USER, DBSERVERNAME and similar words. Return None if a column of that name is in scope."""
    try:
        scope.resolve(word, "")
    except SqlError:
        if word in ("dbservername", "sitename"):
            return TypedExpression(quote_string(tr.ctx.server_name), ColumnType.varchar(128), CONSTANT)
        tr.ctx.uses_user = True
        if word in _ROLES:
            tr.ctx.session_only = True  # valid for no other session
            role = tr.ctx.roles()[_ROLES.index(word)]
            return TypedExpression(
                quote_string(role) if role else "CAST(NULL AS VARCHAR)", ColumnType.char(32), CONSTANT
            )
        return TypedExpression(quote_string(tr.ctx.user), ColumnType.char(32), CONSTANT)
    return None


def _path(tr: Translator, parts: list[str], scope: Scope, offset: int) -> TypedExpression:
    """Translate `column`, `[owner.]table.column`, and fields of ROWs after either."""
    if len(parts) == 1:
        return scope.resolve(parts[0], "", offset)
    try:
        base, rest = scope.resolve(parts[1], parts[0], offset), parts[2:]
    except SqlError as e:
        try:
            base, rest = scope.resolve(parts[0], "", offset), parts[1:]
        except SqlError:
            if len(parts) < 3:
                raise e from None
            base, rest = scope.resolve(parts[2], parts[1], offset), parts[3:]
    for name in rest:
        if is_document(base.type):
            raise _no_field_by_dots(offset)
        if not is_row(base.type):
            raise SqlError(-217, 0, offset, name)
        base = field(base, name)
    return base


def _no_field_by_dots(offset: int) -> SqlError:
    return not_supported("the field of a document after a dot (use BSON_GET or BSON_VALUE_..)", offset=offset)


def _dot(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate `owner.function(...)`, or a field of a ROW."""
    if isinstance(node.expression, exp.Anonymous):
        return call(tr, node.expression, scope)
    base = tr.expr(node.this, scope)
    if is_document(base.type):
        raise _no_field_by_dots(source_offset(node) or 1)
    if not is_row(base.type):
        raise not_supported("a name with this many parts", offset=source_offset(node) or 1)
    return field(base, node.expression.name)


def _collection(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    parts = tuple(tr.expr(item, scope) for item in node.expressions)
    return TypedExpression("NULL", None, CONSTANT, value=Constructor(str(node.args["kind"]), parts))


def _placeholder(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    index = int(node.meta["index"])
    tr.ctx.used_params.add(index)
    return TypedExpression(f"$p{index}", tr.ctx.params[index], EXPRESSION, param=index)


def _variable(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate a variable like a column of the variable's type."""
    number: int = node.meta["index"]
    t: ColumnType = node.meta["type"]
    tr.ctx.params[number] = t
    tr.ctx.assigned_params.add(number)
    tr.ctx.used_params.add(number)
    return stored_value(f"CAST($p{number} AS {storage_type(t)})", t)


def _null(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    return TypedExpression("NULL", None, CONSTANT)


def _boolean(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    return TypedExpression("TRUE" if node.this else "FALSE", ColumnType.boolean(), CONSTANT)


def _paren(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    inner = tr.expr(node.this, scope)
    if inner.param >= 0:
        return inner
    return replace(inner, sql=f"({inner.sql})")


NODES: NodeTranslators = {
    exp.Literal: _literal,
    exp.Column: _column,
    exp.Dot: _dot,
    exp.Placeholder: _placeholder,
    RoutineVariable: _variable,
    exp.Null: _null,
    exp.Boolean: _boolean,
    exp.Paren: _paren,
    d.CollectionLiteral: _collection,
}
