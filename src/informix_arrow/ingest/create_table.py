"""CREATE TABLE statements from Arrow schemas.

A field that was read from Informix has its declared type in ``informix.type`` and gets exactly that type. Other
fields get the smallest type that holds all values of their Arrow type. ``types=`` overrides both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from ..wire.errors import InterfaceError, ProgrammingError
from ..wire.types import ColumnType, TypeCode
from .target_table import quote_new

_FIXED: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "SMALLINT",
    pa.uint8(): "SMALLINT",
    pa.int16(): "SMALLINT",
    pa.uint16(): "INTEGER",
    pa.int32(): "INTEGER",
    pa.uint32(): "BIGINT",
    pa.int64(): "BIGINT",
    pa.uint64(): "DECIMAL(20,0)",
    pa.float16(): "SMALLFLOAT",
    pa.float32(): "SMALLFLOAT",
    pa.float64(): "FLOAT",
    pa.utf8(): "LVARCHAR(2048)",
    pa.large_utf8(): "LVARCHAR(2048)",
    pa.string_view(): "LVARCHAR(2048)",
    pa.binary(): "BYTE",
    pa.large_binary(): "BYTE",
    pa.binary_view(): "BYTE",
    pa.date32(): "DATE",
    pa.date64(): "DATE",
    pa.time32("s"): "DATETIME HOUR TO SECOND",
    pa.time32("ms"): "DATETIME HOUR TO FRACTION(3)",
    pa.time64("us"): "DATETIME HOUR TO FRACTION(5)",
    pa.time64("ns"): "DATETIME HOUR TO FRACTION(5)",
}
_TIMESTAMPS = {
    "s": "DATETIME YEAR TO SECOND",
    "ms": "DATETIME YEAR TO FRACTION(3)",
    "us": "DATETIME YEAR TO FRACTION(5)",
    "ns": "DATETIME YEAR TO FRACTION(5)",
}
_DURATION = "INTERVAL DAY(9) TO FRACTION(5)"
_SERIALS = {"INTEGER": "SERIAL", "BIGINT": "BIGSERIAL", "SMALLINT": "SERIAL", "INT8": "SERIAL8"}
# The text of a type may come from a file, so a statement gets only words, numbers, commas and parentheses.
_HARMLESS = re.compile(r"[\w\s(),.]+")


def declared_type(field: pa.Field) -> tuple[str, bool]:
    """Return the Informix type of a field and whether it is NOT NULL.

    Raises ``ProgrammingError`` for an Arrow type that has none, with the advice to name one.
    """
    metadata = field.metadata or {}
    not_null = not field.nullable or metadata.get(b"informix.not_null") == b"true"
    stored = metadata.get(b"informix.type")
    if stored is not None and not _lost_digits(field.type, stored.decode()):
        return _check_type_text(field.name, stored.decode(), b"informix.source_type" in metadata), not_null
    t = field.type
    while isinstance(t, pa.BaseExtensionType):
        if t.extension_name == "arrow.json":
            return "JSON", not_null
        t = t.storage_type
    while pa.types.is_dictionary(t) or pa.types.is_run_end_encoded(t):
        t = t.value_type
    text = _FIXED.get(t)
    if pa.types.is_decimal(t):
        precision, scale = (t.precision, t.scale) if t.scale >= 0 else (t.precision - t.scale, 0)
        text = f"DECIMAL({max(precision, scale)},{scale})" if max(precision, scale) <= 32 else None
    elif pa.types.is_timestamp(t) and t.tz is None:
        text = _TIMESTAMPS[t.unit]
    elif pa.types.is_duration(t):
        text = _DURATION
    elif pa.types.is_fixed_size_binary(t):
        text = "BYTE"
    elif pa.types.is_struct(t):
        inner = ", ".join(f"{quote_new(each.name, False)} {declared_type(each)[0]}" for each in t)
        text = f"ROW({inner})" if t.num_fields else None
    elif pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        text = f"LIST({declared_type(t.value_field.with_nullable(True))[0]} NOT NULL)"
    if text is None:
        raise ProgrammingError(
            f"Column {field.name!r}: There is no Informix type for {field.type}. Name one for it with types=.",
            column=field.name,
        )
    return text, not_null


def _lost_digits(arrow: pa.DataType, declared: str) -> bool:
    """Return whether a field was a floating DECIMAL(p) and is a float now.

    A DECIMAL created from it would promise digits that may be lost.
    """
    if not pa.types.is_floating(arrow):
        return False
    try:
        ct = ColumnType.parse_sql(declared)
    except ValueError:
        return False
    return ct.is_floating_decimal


def _check_type_text(name: str, text: str, distinct: bool) -> str:
    """Return the text of a type if it is safe to put into a statement. Raises ``ProgrammingError`` otherwise."""
    balanced = text.count("(") == text.count(")") and not re.search(r"^[^(]*\)", text)
    if not _HARMLESS.fullmatch(text) or not balanced:
        raise ProgrammingError(f"Column {name!r}: {text!r} is not an Informix type.", column=name)
    if not distinct:
        try:
            ColumnType.parse_sql(text)
        except ValueError as error:
            raise ProgrammingError(f"Column {name!r}: {error}", column=name) from None
    return text


def create_table(
    table: str,
    schema: pa.Schema,
    *,
    types: Mapping[str, str] | None = None,
    primary_key: Sequence[str] = (),
    serial: str | None = None,
    temporary: bool = False,
    delimident: bool = False,
) -> str:
    """Return the CREATE TABLE statement for a schema.

    Parameters
    ----------
    types
        Declared types by column name (in any case). They override those of the schema.
    primary_key
        Columns of the primary key. They become NOT NULL.
    serial
        The column that numbers the rows: SERIAL, or BIGSERIAL for 64-bit data. A name that the data lacks becomes
        a SERIAL column in front of the others, which the server fills.
    temporary
        Create a TEMP table, which exists until the session ends.
    """
    columns = new_columns(schema, types=types, primary_key=primary_key, serial=serial)
    lines = [
        f"{quote_new(name, delimident)} {text}{' NOT NULL' if not_null else ''}"
        for name, text, not_null in columns
    ]
    if primary_key:
        spelling = {name.lower(): name for name, _, _ in reversed(columns)}
        keys = [spelling.get(name.lower(), name) for name in primary_key]
        lines.append(f"PRIMARY KEY ({', '.join(quote_new(name, delimident) for name in keys)})")
    return f"CREATE {'TEMP ' if temporary else ''}TABLE {table} ({', '.join(lines)})"


def new_columns(
    schema: pa.Schema,
    *,
    types: Mapping[str, str] | None = None,
    primary_key: Sequence[str] = (),
    serial: str | None = None,
) -> list[tuple[str, str, bool]]:
    """Return name, type and NOT NULL of each column that :func:`create_table` creates."""
    if not schema.names:
        raise ProgrammingError("The data has no columns, so no table can be created.")
    declared = {name.lower(): text for name, text in (types or {}).items()}
    keys = {name.lower() for name in primary_key}
    present = {name.lower() for name in schema.names}
    unknown = sorted((declared.keys() | keys) - present - {(serial or "").lower()})
    if unknown:
        raise ProgrammingError(
            f"types= and primary_key= name columns that the data does not have: {', '.join(unknown)}."
        )
    columns = []
    if serial is not None and serial.lower() not in present:
        text = _check_type_text(serial, declared.get(serial.lower(), "SERIAL"), False)
        columns.append((serial, text, True))
    for each in schema:
        name = each.name.lower()
        text, not_null = (
            _check_given_type(each.name, declared[name]) if name in declared else declared_type(each)
        )
        if serial is not None and name == serial.lower():
            text, not_null = _serial(each.name, text), True
        columns.append((each.name, text, not_null or name in keys))
    return columns


def _check_given_type(name: str, text: object) -> tuple[str, bool]:
    if not isinstance(text, str):
        raise InterfaceError(f"types[{name!r}] must be an Informix type as a string, got {text!r}.")
    body = re.sub(r"\s+NOT\s+NULL\s*$", "", text, flags=re.IGNORECASE)
    return _check_type_text(name, body, False), body != text


def _serial(name: str, text: str) -> str:
    code = ColumnType.parse_sql(text).code
    if code in (TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL):
        return text
    serial = _SERIALS.get(text.upper())
    if serial is None:
        raise ProgrammingError(
            f"The serial column {name!r} is a {text}. It must be of whole numbers.", column=name
        )
    return serial


def staging_table(name: str, columns: Sequence[ColumnType], names: Sequence[str], key: Sequence[str]) -> str:
    """Return the CREATE for an upsert's temporary table: the target's columns, the key unique and NOT NULL."""
    plain = {TypeCode.SERIAL: "INTEGER", TypeCode.SERIAL8: "INT8", TypeCode.BIGSERIAL: "BIGINT"}
    lines = []
    for text, ct in zip(names, columns, strict=True):
        serial = ct.code in plain  # NULL is allowed in those: it asks for the next number
        declared = plain[TypeCode(ct.code)] if serial else ct.sql
        not_null = text in key or (ct.not_null and not serial)
        lines.append(f"{text} {declared}{' NOT NULL' if not_null else ''}")
    return f"CREATE TEMP TABLE {name} ({', '.join(lines)}, UNIQUE ({', '.join(key)})) WITH NO LOG"


def merge_statement(
    table: str, staging: str, names: Sequence[str], key: Sequence[str], serials: Sequence[str] = ()
) -> str:
    """Return the MERGE that updates the rows whose key exists in the table and inserts the others.

    ``serials`` are serial columns. Existing rows keep their numbers, and 0 asks for a new one.
    """
    on = " AND ".join(f"t.{name} = s.{name}" for name in key)
    serials = [name for name in serials if name not in key]
    others = [name for name in names if name not in key and name not in serials]
    update = f" WHEN MATCHED THEN UPDATE SET {', '.join(f't.{n} = s.{n}' for n in others)}" if others else ""
    values = ", ".join(f"NVL(s.{name}, 0)" if name in serials else f"s.{name}" for name in names)
    return (
        f"MERGE INTO {table} t USING {staging} s ON {on}{update} "
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(names)}) VALUES ({values})"
    )
