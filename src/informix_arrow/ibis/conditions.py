"""Give every part of a compiled query the form that its place requires.

Ibis has one kind of boolean. Informix has two: conditions, which only stand where a condition is expected, and values
of the type BOOLEAN, which are compared with 't'. Informix also requires FROM, and a type for NULL in a list of columns.
"""

from __future__ import annotations

from typing import Any

import sqlglot.expressions as sge

_TRUE = "t"
_FALSE = "f"
_NEVER_NULL = (sge.Is, sge.Exists)


def boolean(value: bool) -> Any:
    """Return a literal of the type BOOLEAN."""
    return sge.Cast(this=sge.Literal.string(_TRUE if value else _FALSE), to=sge.DataType.build("boolean"))


def complete(tree: Any) -> Any:
    """Return ``tree``, changed in place. It may be a new root."""
    for select in list(tree.find_all(sge.Select)):
        _complete_select(select)
    for node in reversed(list(tree.walk(bfs=False))):  # the inner nodes first
        if isinstance(node, sge.Paren) and _is_condition(node.this):
            continue  # its content is complete by itself, and its own place decides below
        if isinstance(node.parent, sge.Escape):
            continue  # LIKE and its ESCAPE are one condition
        wanted = _wants_condition(node)
        if isinstance(node, sge.Boolean):
            replacement = _constant_condition(bool(node.this)) if wanted else boolean(bool(node.this))
            node.replace(replacement)
        elif wanted and not _is_condition(node):
            node.replace(sge.EQ(this=node.copy(), expression=sge.Literal.string(_TRUE)))
        elif not wanted and _is_condition(node):
            outer = node
            while isinstance(outer.parent, sge.Paren):
                outer = outer.parent
            outer.replace(_as_value(node))
    return tree


def _complete_select(select: Any) -> None:
    if not (select.args.get("from_") or select.args.get("from")):
        dual = sge.Table(this=sge.to_identifier("sysdual"), catalog=sge.to_identifier("sysmaster"), db=None)
        select.from_(dual, copy=False)
    for column in list(select.expressions):
        value = column.this if isinstance(column, sge.Alias) else column
        if isinstance(value, sge.Null):
            value.replace(sge.Cast(this=sge.Null(), to=sge.DataType.build("varchar(1)")))


def _is_condition(node: Any) -> bool:
    if isinstance(node, sge.Paren):
        return _is_condition(node.this)
    return isinstance(node, (sge.Predicate, sge.And, sge.Or, sge.Not, sge.Escape)) and not isinstance(
        node, sge.Boolean
    )


def _wants_condition(node: Any) -> bool:
    parent, key = node.parent, node.arg_key
    while isinstance(parent, sge.Paren):
        parent, key = parent.parent, parent.arg_key
    if isinstance(parent, (sge.Where, sge.Having, sge.Qualify, sge.And, sge.Or, sge.Not)):
        return True
    if isinstance(parent, sge.Join):
        return bool(key == "on")
    if isinstance(parent, sge.If) and key == "this":
        return not (isinstance(parent.parent, sge.Case) and parent.parent.args.get("this") is not None)
    return False


def _constant_condition(value: bool) -> Any:
    return sge.EQ(this=sge.Literal.number(1), expression=sge.Literal.number(1 if value else 0))


def _as_value(condition: Any) -> Any:
    """Return a CASE with the condition's result: true, false, or NULL if it is unknown."""
    inner = condition
    while isinstance(inner, sge.Paren):
        inner = inner.this
    case = sge.Case(ifs=[sge.If(this=inner.copy(), true=boolean(True))])
    core = inner.this if isinstance(inner, sge.Not) else inner
    while isinstance(core, sge.Paren):
        core = core.this
    if isinstance(core, _NEVER_NULL):
        case.set("default", boolean(False))
    else:
        opposite = sge.Not(this=sge.Paren(this=inner.copy()))
        case.append("ifs", sge.If(this=opposite, true=boolean(False)))
    return case
