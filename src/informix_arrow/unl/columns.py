"""The columns of a .unl file: their Informix types, the Arrow types of the C codec, and those of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from ..ingest.create_table import declared_type
from ..rows.postprocess import is_text
from ..wire.describe import Column, compile_plan
from ..wire.errors import InterfaceError, NotSupportedError, ProgrammingError
from ..wire.plan_ops import (
    FLAG_LARGE,
    TEXT_KINDS,
    Kind,
    PlanOp,
    TypeOptions,
    arrow_type_of_op,
    plan_op,
)
from ..wire.types import ColumnType, TypeCode

FLAG_MONEY = 128
"""A flag of an op in addition to those of plan.h: amounts may have a currency symbol."""

_DECIMALS = (TypeCode.DECIMAL, TypeCode.MONEY)


@dataclass(frozen=True, slots=True)
class UnlColumn:
    """One column: its name and Informix type, and the Arrow types on both sides of :mod:`informix_arrow._unl`.

    ``codec_type`` is the type of the codec's arrays, ``final`` that of the user's.
    """

    name: str
    type: ColumnType
    op: PlanOp
    codec_type: pa.DataType
    final: pa.DataType


def columns_of(
    schema: pa.Schema | Mapping[str, str], types: Mapping[str, str] | None = None
) -> tuple[pa.Schema, tuple[UnlColumn, ...]]:
    """Return the Arrow schema and the columns of a file.

    ``schema`` has fields with their type in ``informix.type``, or else their Arrow type, or is a mapping from
    names to declared types. ``types``, by name, overrides both.

    Raises ``ProgrammingError`` for an invalid type, and ``NotSupportedError`` for a type that a .unl file cannot hold.
    """
    if isinstance(schema, Mapping):
        described = [Column(name, _parse_type(name, text)) for name, text in schema.items()]
        schema = compile_plan(described).schema
    if not isinstance(schema, pa.Schema):
        raise InterfaceError(
            "The schema must be a pyarrow.Schema or a dict of Informix types by name, not "
            f"{type(schema).__name__}."
        )
    if not schema.names:
        raise InterfaceError("The schema has no columns.")
    types_by_name = {name.lower(): text for name, text in (types or {}).items()}
    unknown = sorted(types_by_name.keys() - {name.lower() for name in schema.names})
    if unknown:
        raise InterfaceError(f"types= names columns that the data does not have: {', '.join(unknown)}.")
    return schema, tuple(_column(each, types_by_name.get(each.name.lower())) for each in schema)


def _parse_type(name: str, text: str) -> ColumnType:
    try:
        return ColumnType.parse_sql(text)
    except ValueError as error:
        raise ProgrammingError(f"Column {name!r}: {error}", column=name) from None


def _column(field: pa.Field, declared: str | None) -> UnlColumn:
    source = (field.metadata or {}).get(b"informix.source_type")
    if declared is not None:
        ct = _parse_type(field.name, declared)
    elif source is not None:  # a DISTINCT type is written as its source
        ct = _parse_type(field.name, source.decode())
    else:
        ct = _named_row(field) or _parse_type(field.name, declared_type(field)[0])
    op = _op(ct, field)
    return UnlColumn(field.name, ct, op, arrow_type_of_op(op), field.type)


def _named_row(field: pa.Field) -> ColumnType | None:
    """Return a text type for values that come as SQL literals, such as named ROWs. None for other fields."""
    metadata = field.metadata or {}
    if metadata.get(b"informix.nested") == b"literal" and pa.types.is_large_string(field.type):
        return ColumnType.text()
    return ColumnType.lvarchar() if metadata.get(b"informix.nested") == b"literal" else None


def _op(ct: ColumnType, field: pa.Field) -> PlanOp:
    final = _value_type(field.type)
    document = ct.is_json or (ct.is_bson and is_text(final))  # BSON that was read as JSON
    if ct.is_blob or ct.is_clob or ct.is_complex or document or ct.is_lvarchar or ct.code == TypeCode.TEXT:
        wide = FLAG_LARGE if not (ct.is_lvarchar or document) or _is_large(final) else 0
        return PlanOp(Kind.LVARCHAR, 32739, 0, wide)
    if ct.code == TypeCode.BYTE:
        return PlanOp(Kind.OPAQUE, 32739, 0, FLAG_LARGE)
    if ct.is_bson:
        raise NotSupportedError(
            f"Column {field.name!r} is a BSON column, which a .unl file cannot represent. Read it with "
            'bson="json", or cast it to JSON on the server.',
            column=field.name,
        )
    if ct.code in (TypeCode.UDTVAR, TypeCode.UDTFIXED) and not ct.is_boolean:
        raise NotSupportedError(
            f"Column {field.name!r} has the opaque type {ct.sql}, whose text form in a .unl file is not "
            "known. Leave it out, or cast it to LVARCHAR on the server.",
            column=field.name,
        )
    if ct.code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT):
        # As text, because PyArrow's cast finds the nearest float and rounds once only.
        return PlanOp(Kind.DECIMAL_STRING, 9, 0, 0)
    if ct.code in _DECIMALS:
        return _decimal(ct, final)
    options = TypeOptions(
        intervals="month_day_nano" if pa.types.is_interval(final) else "native",
        strings="large" if _is_large(final) else "utf8",
    )
    op = plan_op(ct, options, column=field.name)
    if op.kind in TEXT_KINDS:
        return op
    return replace(op, flags=0)


def _decimal(ct: ColumnType, final: pa.DataType) -> PlanOp:
    money = FLAG_MONEY if ct.code == TypeCode.MONEY else 0
    if ct.scale is not None:
        op = plan_op(ct)
        return replace(op, flags=money)
    if pa.types.is_decimal(final) and 0 <= final.scale <= final.precision <= 38:
        return PlanOp(Kind.DECIMAL128, 17, final.precision << 8 | final.scale, money)
    return PlanOp(Kind.DECIMAL_STRING, 9, 0, money)


def _value_type(final: pa.DataType) -> pa.DataType:
    if isinstance(final, pa.BaseExtensionType):  # Arrow's JSON
        final = final.storage_type
    while pa.types.is_dictionary(final) or pa.types.is_run_end_encoded(final):
        final = final.value_type
    return final


def _is_large(final: pa.DataType) -> bool:
    return (
        pa.types.is_large_string(final)
        or pa.types.is_large_binary(final)
        or final in (pa.string_view(), pa.binary_view())
    )
