"""Built-in functions of BSON: the values of fields, BSON_GET and BSON_SIZE."""

from __future__ import annotations

from collections.abc import Callable

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.result_types import LONGEST_TEXT, character
from ..scope import TypedExpression
from ..values.casts import Values
from .handler import FunctionTable, FunctionTranslator
from .strings import text_argument


def _document(v: Values, ex: TypedExpression) -> str:
    """Return SQL of a BSON argument. JSON is cast. Raises -9634 for any other type."""
    t = ColumnType.bson()
    if ex.param >= 0 or ex.sql == "NULL":
        return v.cast(ex, t).sql
    if ex.type is None or not (ex.type.is_json or ex.type.is_bson):
        raise SqlError(-9634, 0, 0, "bson")
    return v.cast(ex, t).sql


def _field(name: str, result: Callable[[], ColumnType]) -> FunctionTranslator:
    """Translate a function of a document and the path of a field."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        path = text_argument(v, args[1]).sql if len(args) > 1 else "''"
        return TypedExpression(f"{name}({_document(v, args[0])}, {path})", result())

    return handler


def _get(v: Values, args: list[TypedExpression]) -> TypedExpression:
    new = text_argument(v, args[2]).sql if len(args) > 2 else "''"
    path = text_argument(v, args[1]).sql
    return TypedExpression(f"_ifx_bson_get({_document(v, args[0])}, {path}, {new})", ColumnType.bson())


def _longest() -> ColumnType:
    return ColumnType.lvarchar(LONGEST_TEXT)


FUNCTIONS: FunctionTable = {
    "bson_value_bigint": (2, 2, _field("_ifx_bson_bigint", ColumnType.bigint)),
    "bson_value_int": (2, 2, _field("_ifx_bson_int", ColumnType.integer)),
    "bson_value_double": (2, 2, _field("_ifx_bson_double", ColumnType.float_)),
    "bson_value_varchar": (2, 2, _field("_ifx_bson_varchar", lambda: character(255))),
    "bson_value_lvarchar": (2, 2, _field("_ifx_bson_lvarchar", _longest)),
    "bson_value_objectid": (2, 2, _field("_ifx_bson_objectid", lambda: character(24))),
    "bson_value_date": (2, 2, _field("_ifx_bson_date", ColumnType.date)),
    "bson_value_timestamp": (
        2,
        2,
        _field("_ifx_bson_timestamp", lambda: ColumnType.datetime("YEAR TO FRACTION(5)")),
    ),
    "bson_value_boolean": (2, 2, _field("_ifx_bson_boolean", ColumnType.boolean)),
    "bson_size": (1, 2, _field("_ifx_bson_size", ColumnType.integer)),
    "bson_get": (2, 3, _get),
}
