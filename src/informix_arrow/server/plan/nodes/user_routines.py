"""Calls of user routines in SQL: arguments are converted to the parameters' types, results are parsed from text."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ...errors import SqlError
from ...parse.dialect_nodes import LocalVariable
from ...parse.spl import codes
from ...types.nested_types import declare
from ...types.result_types import is_floating_decimal, storage_type
from ..context import RoutineCall
from ..scope import OutputColumn, Scope, TypedExpression, stored_value
from ..translator import Translator


def translate_call(
    tr: Translator, name: str, nodes: list[exp.Expression], scope: Scope
) -> TypedExpression | None:
    """Translate a call that returns one value. Return None if there is no routine of that name."""
    if not tr.ctx.routines.has_routine(name):
        return None
    found, sql = _resolve_call(tr, name, nodes, scope, rows=False)
    if len(found.returns) != 1:
        raise SqlError(codes.TOO_MANY_VALUES if found.returns else codes.RETURNS_NOTHING, 0, 0, name)
    t = found.returns[0][1]
    if found.out_positions:
        return _with_out_parameters(tr, found, nodes, sql, scope)
    return stored_value(f"CAST({sql} AS {storage_type(t)})", t)


def _with_out_parameters(
    tr: Translator, found: RoutineCall, nodes: list[exp.Expression], sql: str, scope: Scope
) -> TypedExpression:
    """Translate a call of a routine with OUT parameters. Their values are variables of the statement from here on.

    Raises -324 for a name that also means something else.
    """
    types = [found.returns[0][1], *(found.parameters[position] for position in found.out_positions)]
    answer = f"from_json({sql}, '[\"VARCHAR\"]')"
    values = [stored_value(f"CAST({answer}[{i}] AS {storage_type(t)})", t) for i, t in enumerate(types, 1)]
    for position, value in zip(found.out_positions, values[1:], strict=True):
        node = nodes[position]
        assert isinstance(node, LocalVariable)
        if node.meta.get("declared"):  # by `declare_variables`
            continue
        node.meta["declared"] = True
        name, declared = node.name, node.args["to"].meta.get("informix")
        if not declared or name in scope.variables or any(source.find(name) for source in scope.sources):
            raise SqlError(-324 if declared else -201, 0, 0 if declared else 1, name)
        variable = tr.values.cast(value, declare(str(declared), tr.ctx.find_type))
        scope.variables[name] = replace(variable, name=name)
    return values[0]


def declare_variables(tr: Translator, where: exp.Expression, scope: Scope) -> None:
    """Declare the variables in a query's WHERE before other parts that may use them are translated."""
    for node in where.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.Anonymous) and any(isinstance(n, LocalVariable) for n in node.expressions):
            tr.expr(node, scope)


def translate_rows(
    tr: Translator, name: str, nodes: list[exp.Expression], scope: Scope
) -> tuple[str, tuple[OutputColumn, ...]]:
    """Translate `TABLE (f(...))` to a query and its columns. The routine returns all rows as text, a JSON list of
    lists."""
    found, sql = _resolve_call(tr, name, nodes, scope, rows=True)
    if not found.returns:
        raise SqlError(codes.RETURNS_NOTHING, 0, 0, name)
    names = [column for column, _ in found.returns]
    if len(set(names)) < len(names) or "(expression)" in names:
        names = [f"unnamed_col_{i}" for i in range(1, len(names) + 1)]
    types = [t for _, t in found.returns]
    items = ", ".join(f"CAST(r[{i}] AS {storage_type(t)})" for i, t in enumerate(types, 1))
    outputs = tuple(
        OutputColumn(column, t, "", is_floating_decimal(t)) for column, t in zip(names, types, strict=True)
    )
    return f"SELECT {items} FROM (SELECT unnest(from_json({sql}, '[[\"VARCHAR\"]]')) AS r)", outputs


def _resolve_call(
    tr: Translator, name: str, nodes: list[exp.Expression], scope: Scope, *, rows: bool
) -> tuple[RoutineCall, str]:
    """Return the routine that a call resolves to, and SQL of the text that it returns."""
    ctx, values = tr.ctx, tr.values
    arguments = [
        TypedExpression("NULL", None)
        if isinstance(node, LocalVariable)
        else values.with_inferred_type(tr.expr(node, scope))
        for node in nodes
    ]
    found = ctx.routines.resolve_call(name, [argument.type for argument in arguments], rows=rows)
    places = tuple(i for i, node in enumerate(nodes) if isinstance(node, LocalVariable))
    if places != found.out_positions:
        raise SqlError(
            codes.NO_ROUTINE, 0, 0, name, "OUT parameters, and only those, must be written as `name # type`."
        )
    ctx.session_only = True
    cuts = len(ctx.truncation_conditions)
    texts = []
    for argument, parameter in zip(arguments, found.parameters, strict=False):
        texts.append(f"CAST({values.assign(ctx.hint(argument, parameter), parameter)} AS VARCHAR)")
    del ctx.truncation_conditions[cuts:]  # arguments are truncated without a warning
    return found, f"{found.call_prefix}CAST([{', '.join(texts)}] AS VARCHAR[]))"
