"""Long operands of functions and operators are evaluated once, however often DuckDB's SQL names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...types.quoting import lambda_sql
from ..context import TranslationContext
from ..scope import TypedExpression

_MAX_REPEATED_CHARS = 200
"""Length of SQL up to which repeating it costs less than a lambda."""
_VARIABLE = "_ifx_once"


def evaluate_once(
    ctx: TranslationContext,
    translate: Callable[[list[TypedExpression]], TypedExpression],
    args: Sequence[TypedExpression],
) -> TypedExpression:
    """Translate a function of `args`. If its SQL repeats a long argument, a lambda computes each argument once.

    Without it the SQL of nested calls grows exponentially. DuckDB rejects lambdas in a CHECK and over a subquery, so
    there the arguments are repeated.
    """
    long = [i for i, ex in enumerate(args) if len(ex.sql) > _MAX_REPEATED_CHARS and _is_plain(ex)]
    if not long or not ctx.allows_lambdas or any("SELECT" in ex.sql or ex.duck_number for ex in args):
        return translate(list(args))
    depth = sum(ex.sql.count(f"lambda {_VARIABLE}") for ex in args)
    variable = f"{_VARIABLE}{depth}"  # unlike those of lambdas inside the arguments
    found = translate(_named(args, long, variable))
    if found.duck_number or "SELECT" in found.sql:
        return translate(list(args))
    if all(found.sql.count(_name(i, variable)) <= 1 for i in long):
        sql = found.sql
        for i in long:
            sql = sql.replace(_name(i, variable), args[i].sql)
        return replace(found, sql=sql)
    # DuckDB rejects aggregates inside a lambda, so all arguments are computed outside
    outside = [i for i, ex in enumerate(args) if _is_plain(ex)]
    found = translate(_named(args, outside, variable))
    fields = ", ".join(f"a{i} := {args[i].sql}" for i in outside)
    return replace(
        found, sql=f"list_transform([struct_pack({fields})], {lambda_sql(variable, found.sql)})[1]"
    )


def _name(number: int, variable: str) -> str:
    return f"({variable}['a{number}'])"  # with a dot, DuckDB looks for a column in a HAVING


def _named(args: Sequence[TypedExpression], numbers: Sequence[int], variable: str) -> list[TypedExpression]:
    return [replace(ex, sql=_name(i, variable)) if i in numbers else ex for i, ex in enumerate(args)]


def _is_plain(ex: TypedExpression) -> bool:
    """Return whether an expression is known by its SQL alone: it is no literal, parameter or constructor."""
    return (
        ex.param < 0
        and ex.literal is None
        and ex.value is None
        and ex.type is not None
        and not (ex.is_number_literal or ex.duck_number)
    )
