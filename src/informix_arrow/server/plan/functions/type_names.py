"""Functions over type words that the vendor's JDBC driver calls in catalogue queries (JDBC section 12)."""

from __future__ import annotations

from collections.abc import Callable

from ....wire.types import ColumnType
from ...catalog.schema_routines import declared_types_sql, type_name_sql
from ...types.quoting import quote_string
from ...types.result_types import character
from ..scope import TypedExpression
from ..values.casts import Values
from .handler import FunctionTable, FunctionTranslator

TYPE_NAMES = "type_names"
"""Session value with the names of the user types."""


def _number(v: Values, ex: TypedExpression) -> str:
    return f"CAST({v.ctx.as_integer(ex).sql} AS INTEGER)"


def _call(duck: str, used: int, result: Callable[[], ColumnType]) -> FunctionTranslator:
    """Translate to a function of DuckDB over the first ``used`` arguments, all of them integers."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        return TypedExpression(f"{duck}({', '.join(_number(v, each) for each in args[:used])})", result())

    return handler


def _type_name(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate a type's name: a user type by its number, any other by its type word."""
    word, extended_id = (_number(v, argument) for argument in args)
    return TypedExpression(type_name_sql(v.ctx.session_value(TYPE_NAMES), word, extended_id), character(128))


def _nullable(yes: str, no: str, result: Callable[[], ColumnType]) -> FunctionTranslator:
    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        return TypedExpression(
            f"(CASE WHEN {_number(v, args[0])} & 256 = 0 THEN {yes} ELSE {no} END)", result()
        )

    return handler


def _serial(v: Values, args: list[TypedExpression]) -> TypedExpression:
    yes, no = quote_string("YES"), quote_string("NO")
    return TypedExpression(
        f"(CASE WHEN {_number(v, args[0])} & 255 IN (6, 18, 53) THEN {yes} ELSE {no} END)", character(3)
    )


def _default(v: Values, args: list[TypedExpression]) -> TypedExpression:
    numbers = ", ".join(_number(v, argument) for argument in args[:3])
    return TypedExpression(f"_ifx_type_default({numbers}, CAST({args[3].sql} AS VARCHAR))", character(255))


def _declared_types(*attributes: int) -> FunctionTranslator:
    """Translate the list of the types of a routine's parameters or return values."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        sql = declared_types_sql(v.ctx.constants["dbname"], _number(v, args[0]), attributes)
        return TypedExpression(sql, ColumnType.lvarchar(2048))

    return handler


FUNCTIONS: FunctionTable = {
    "get_data_type": (3, 3, _call("_ifx_java_type", 2, ColumnType.integer)),
    "schema_coltypename": (2, 2, _type_name),
    "schema_precision": (3, 3, _call("_ifx_type_precision", 3, ColumnType.integer)),
    "schema_numscale": (2, 2, _call("_ifx_type_scale", 2, ColumnType.integer)),
    "schema_numprecradix": (1, 1, _call("_ifx_type_radix", 1, ColumnType.integer)),
    "schema_isnullable": (1, 1, _nullable("1", "0", ColumnType.integer)),
    "schema_nullable": (1, 1, _nullable("'YES'", "'NO'", lambda: character(3))),
    "schema_datetype": (2, 2, _call("_ifx_type_datetime", 2, ColumnType.integer)),
    "schema_charlen": (3, 3, _call("_ifx_type_octets", 3, ColumnType.integer)),
    "schema_isautoincr": (1, 1, _serial),
    "schema_bufflen": (2, 2, _call("_ifx_type_buffer", 2, ColumnType.integer)),
    "ifx_param_types": (1, 1, _declared_types(1, 2, 4)),
    "ifx_ret_types": (1, 1, _declared_types(3, 5)),
    "get_default_value": (4, 4, _default),
}
