"""Collections and ROWs as DuckDB SQL: constructors, casts, literal text and comparison.

types/nested_values.py describes their storage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from ....wire.quoting import double_quoted
from ....wire.types import FLAG_NOT_NULL, ColumnType, TypeCode
from ...errors import SqlError
from ...types.nested_types import (
    UserDefinedType,
    declare,
    element_type,
    is_collection,
    is_nested,
    is_row,
    row_fields,
    same_type,
)
from ...types.nested_values import mismatch
from ...types.quoting import lambda_sql, quote_string
from ...types.result_types import (
    DECIMALS,
    FLOATS,
    INTEGERS,
    common_type,
    is_floating_decimal,
    storage_type,
    without_serial,
)
from ..scope import TypedExpression, stored_value

_INTEGER_WIDTHS = {TypeCode.SMALLINT: 6, TypeCode.INTEGER: 11}
"""Integers inside a literal are padded to their display width (TYPES section 11). Other values are not."""


class PartConverter(Protocol):
    """Converts the parts of a nested value to their types (casts.Values)."""

    def cast(self, ex: TypedExpression, t: ColumnType) -> TypedExpression: ...

    def assign(self, ex: TypedExpression, t: ColumnType) -> str: ...


@dataclass(frozen=True, slots=True)
class Constructor:
    """A constructor such as `SET{...}` or `ROW(...)` before its type is known."""

    kind: str
    elements: tuple[TypedExpression, ...]


def inferred_type(constructor: Constructor) -> ColumnType:
    """Return the type of a constructor from the types of its parts."""
    types = [
        inferred_type(p.value) if isinstance(p.value, Constructor) else p.type for p in constructor.elements
    ]
    if constructor.kind == "ROW":
        fields = [f"f{i} {_text_of(t)}" for i, t in enumerate(types, 1)]
        return declare(f"ROW({', '.join(fields)})", lambda name: None)
    element: ColumnType | None = None
    for t in types:
        element = common_type(element, t)
    if element is None:
        raise SqlError(-9634, near=constructor.kind.lower(), detail="An empty collection needs a cast.")
    return declare(f"{constructor.kind}({_text_of(element)} not null)", lambda name: None)


def _text_of(t: ColumnType | None) -> str:
    if t is None:
        return "lvarchar"
    return (t.definition or t.sql) if isinstance(t, UserDefinedType) else without_serial(t).sql


def build_value(parts: PartConverter, constructor: Constructor, t: ColumnType) -> str:
    """Return SQL of a constructor as a value of `t`. Raises -9634 for another kind or number of parts, -391 for a NULL
    element."""
    if constructor.kind != TypeCode(t.code).name:
        raise mismatch(t, f"{t.sql} was expected, not a {constructor.kind}.")
    if is_row(t):
        fields = row_fields(t)
        if len(fields) != len(constructor.elements):
            raise mismatch(t, f"{len(fields)} fields were expected, not {len(constructor.elements)}.")
        items = [
            f"{double_quoted(name)} := {_convert_part(parts, part, member, name)}"
            for part, (name, member) in zip(constructor.elements, fields, strict=True)
        ]
        return f"CAST(struct_pack({', '.join(items)}) AS {storage_type(t)})"
    member = element_type(t)
    items = [_convert_part(parts, part, member, constructor.kind) for part in constructor.elements]
    return canonical(f"CAST(list_value({', '.join(items)}) AS {storage_type(t)})", t)


def _convert_part(parts: PartConverter, part: TypedExpression, t: ColumnType, where: str) -> str:
    if not t.not_null:
        return parts.assign(part, t)
    if part.sql == "NULL" and part.param < 0 and part.value is None:
        raise SqlError(-391, 0, 0, where)
    sql = parts.assign(part, t)
    if part.literal is not None or part.is_number_literal or part.value is not None:
        return sql
    return f"(CASE WHEN {sql} IS NULL THEN error('IFX-391') ELSE {sql} END)"


def canonical(sql: str, t: ColumnType) -> str:
    """Return SQL of the elements in storage order, in a SET without duplicates."""
    if t.code == TypeCode.LIST:
        return sql
    if t.code == TypeCode.MULTISET:
        return f"list_sort({sql}, 'ASC', 'NULLS LAST')"
    found = f"list_sort(list_distinct({sql}))"
    if element_type(t).not_null:
        return found
    has_null = f"list_contains(list_transform({sql}, {lambda_sql('x', 'x IS NULL')}), TRUE)"
    return f"list_concat({found}, CASE WHEN {has_null} THEN [NULL] ELSE [] END)"


def convert(parts: PartConverter, sql: str, source: ColumnType, t: ColumnType, depth: int = 0) -> str:
    """Return SQL that converts a stored value between nested types of the same kind, part by part."""
    if same_type(source, t):
        return sql
    if source.code != t.code and not (is_collection(source) and is_collection(t)):
        raise mismatch(t, f"{t.sql} was expected, not {source.sql}.")
    if is_row(t):
        source_fields, target_fields = row_fields(source), row_fields(t)
        if len(source_fields) != len(target_fields):
            raise mismatch(t, f"{len(target_fields)} fields were expected, not {len(source_fields)}.")
        items = [
            f"{double_quoted(new)} := "
            + _convert_by_kind(parts, f"struct_extract({sql}, {quote_string(old)})", a, b, depth)
            for (old, a), (new, b) in zip(source_fields, target_fields, strict=True)
        ]
        return f"(CASE WHEN {sql} IS NOT NULL THEN CAST(struct_pack({', '.join(items)}) AS {storage_type(t)}) END)"
    variable = f"e{depth}"
    body = _convert_by_kind(parts, variable, element_type(source), element_type(t), depth + 1)
    found = f"CAST(list_transform({sql}, {lambda_sql(variable, body)}) AS {storage_type(t)})"
    return canonical(found, t)


def _convert_by_kind(parts: PartConverter, sql: str, source: ColumnType, t: ColumnType, depth: int) -> str:
    if is_nested(source) and is_nested(t):
        return convert(parts, sql, source, t, depth)
    return parts.assign(stored_value(sql, source), t)


def literal_text(parts: PartConverter, sql: str, t: ColumnType, depth: int = 0) -> str:
    """Return SQL of a stored value's literal text: `SET{1          ,2          }`, `ROW('Alice',30         )`."""
    if is_row(t):
        items = [
            f"coalesce({_part_text(parts, f'struct_extract({sql}, {quote_string(name)})', member, depth)}, 'NULL')"
            for name, member in row_fields(t)
        ]
        joined = " || ',' || ".join(items)
        return f"(CASE WHEN {sql} IS NOT NULL THEN 'ROW(' || {joined} || ')' END)"
    variable = f"e{depth}"
    body = f"coalesce({_part_text(parts, variable, element_type(t), depth + 1)}, 'NULL')"
    items_sql = f"array_to_string(list_transform({sql}, {lambda_sql(variable, body)}), ',')"
    return f"('{TypeCode(t.code).name}{{' || {items_sql} || '}}')"


def _part_text(parts: PartConverter, sql: str, t: ColumnType, depth: int) -> str:
    if is_nested(t):
        return literal_text(parts, sql, t, depth)
    written = parts.cast(stored_value(sql, t), ColumnType.lvarchar(32739)).sql
    if t.code in INTEGERS:
        return f"rpad({written}, {_INTEGER_WIDTHS.get(TypeCode(t.code), 20)}, ' ')"
    if t.code in DECIMALS or t.code in FLOATS:
        return written
    return f"('''' || replace({written}, '''', '''''') || '''')"


def field(base: TypedExpression, name: str) -> TypedExpression:
    """Translate `row.field`. Raises -217 for an unknown field."""
    assert base.type is not None
    for field_name, t in row_fields(base.type):
        if field_name == name:
            return TypedExpression(
                f"struct_extract({base.sql}, {quote_string(name)})",
                replace(t, flags=t.flags & ~FLAG_NOT_NULL),
                name,
                is_packed_decimal=is_floating_decimal(t),
                source=t,
            )
    raise SqlError(-217, 0, 0, name)
