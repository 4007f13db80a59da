"""Built-in functions that choose among their arguments, and CARDINALITY."""

from __future__ import annotations

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.nested_types import is_collection
from ...types.result_types import without_serial
from ..scope import TypedExpression
from ..values.casts import Values
from .handler import FunctionTable, FunctionTranslator


def _cardinality(v: Values, args: list[TypedExpression]) -> TypedExpression:
    if not is_collection(args[0].type):
        raise SqlError(-9634, 0, 0, "cardinality")
    return TypedExpression(f"CAST(len({args[0].sql}) AS INTEGER)", ColumnType.integer())


def _nvl(v: Values, args: list[TypedExpression]) -> TypedExpression:
    return v.one_of(args, lambda sqls: f"coalesce({', '.join(sqls)})")


def _decode(v: Values, args: list[TypedExpression]) -> TypedExpression:
    this, rest = args[0], args[1:]
    arms = []
    for i in range(0, len(rest) - 1, 2):
        a, b = v.meet(this, rest[i])
        arms.append((f"{a} IS NOT DISTINCT FROM {b}", rest[i + 1]))
    return v.choose(arms, rest[-1] if len(rest) % 2 else None)


def _nullif(v: Values, args: list[TypedExpression]) -> TypedExpression:
    a, b = v.meet(args[0], args[1])
    t = args[0].type
    sql = f"(CASE WHEN {a} = {b} THEN NULL ELSE {args[0].sql} END)"
    return TypedExpression(
        sql, without_serial(t) if t is not None else None, is_packed_decimal=args[0].is_packed_decimal
    )


def _greatest_or_least(order: str) -> FunctionTranslator:
    """Translate GREATEST and LEAST. They are NULL if any argument is NULL, unlike DuckDB's functions.

    The SQL names each argument once, as it may be a sequence's NEXTVAL.
    """
    return lambda v, args: v.one_of(
        args, lambda sqls: f"list_sort([{', '.join(sqls)}], '{order}', 'NULLS FIRST')[1]"
    )


FUNCTIONS: FunctionTable = {
    "cardinality": (1, 1, _cardinality),
    "nvl": (2, 2, _nvl),
    "coalesce": (1, 64, _nvl),
    "nvl2": (3, 3, lambda v, a: v.choose([(f"{a[0].sql} IS NOT NULL", a[1])], a[2])),
    "nullif": (2, 2, _nullif),
    "decode": (3, 129, _decode),
    "greatest": (1, 64, _greatest_or_least("DESC")),
    "least": (1, 64, _greatest_or_least("ASC")),
}
