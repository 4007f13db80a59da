"""Functions over type words that the vendor's JDBC driver calls in catalogue queries (JDBC section 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire.types import ColumnType
from .context import Ex
from .names import quote
from .names import text as literal
from .number_functions import Handler
from .result_types import character

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator


def _number(tr: ExpressionTranslator, ex: Ex) -> str:
    return f"CAST({tr.ctx.hint(ex, ColumnType.integer()).sql} AS INTEGER)"


def _call(duck: str, used: int, result: Callable[[], ColumnType]) -> Handler:
    """A function of DuckDB over the first ``used`` arguments, all of them whole numbers."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        return Ex(f"{duck}({', '.join(_number(tr, each) for each in args[:used])})", result())

    return handler


def _type_name(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """A type of the user by its name, any other by the word for its code."""
    word, extended_id = (_number(tr, each) for each in args)
    types = f"{quote('d_' + tr.ctx.constants['dbname'])}._ifx.xtdtypes"
    named = f"(SELECT max(name) FROM {types} x WHERE x.extended_id = {extended_id} AND x.mode IN ('R', 'D'))"
    return Ex(f"coalesce({named}, _ifx_type_name({word}, {extended_id}))", character(128))


def _nullable(yes: str, no: str, result: Callable[[], ColumnType]) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        return Ex(f"(CASE WHEN {_number(tr, args[0])} & 256 = 0 THEN {yes} ELSE {no} END)", result())

    return handler


def _serial(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    yes, no = literal("YES"), literal("NO")
    return Ex(
        f"(CASE WHEN {_number(tr, args[0])} & 255 IN (6, 18, 53) THEN {yes} ELSE {no} END)", character(3)
    )


def _default(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    numbers = ", ".join(_number(tr, each) for each in args[:3])
    return Ex(f"_ifx_type_default({numbers}, CAST({args[3].sql} AS VARCHAR))", character(255))


def _declared(*attributes: int) -> Handler:
    """The types of a routine's parameters, or of what it returns, as a list in text (sysproccolumns.paramattr).

    JDBC takes it apart at its commas, so types have no sizes.
    """
    chosen = ", ".join(map(str, attributes))
    sizes = literal(r"^(\w+)\(.*\)$")

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        columns = f"{quote('d_' + tr.ctx.constants['dbname'])}._ifx.proccolumns"
        listed = (
            "SELECT string_agg("
            f"regexp_replace(lower(x.declared), {sizes}, '\\1'), ',' ORDER BY x.paramid) FROM {columns} x "
            f"WHERE x.procid = {_number(tr, args[0])} AND x.paramattr IN ({chosen})"
        )
        return Ex(f"coalesce(({listed}), '')", ColumnType.lvarchar(2048))

    return handler


FUNCTIONS: dict[str, tuple[int, int, Handler]] = {
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
    "ifx_param_types": (1, 1, _declared(1, 2, 4)),
    "ifx_ret_types": (1, 1, _declared(3, 5)),
    "get_default_value": (4, 4, _default),
}
