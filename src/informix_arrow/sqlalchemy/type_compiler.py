"""Compile SQLAlchemy's types to declarations of columns."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sqltypes
from sqlalchemy.sql import compiler

from .types import (
    BIGSERIAL,
    BSON,
    DATETIME,
    DATETIME_QUALIFIER,
    INT8,
    INTERVAL,
    INTERVAL_QUALIFIER,
    LVARCHAR,
    MONEY,
    SERIAL,
    SERIAL8,
    TIME,
    TIME_QUALIFIER,
)

VARCHAR_LIMIT = 255
LVARCHAR_LIMIT = 32_739
CHAR_LIMIT = 32_767
DECIMAL_LIMIT = 32


class InformixTypeCompiler(compiler.GenericTypeCompiler):
    """The compiler of declarations. A length counts bytes, as everywhere in Informix.

    Raises CompileError for a type without its required length, and for a type that no column can have.
    """

    # ---- numbers -------------------------------------------------------------------------------------------------

    def visit_SERIAL(self, type_: SERIAL, **kw: Any) -> str:
        return _serial("SERIAL", type_.start)

    def visit_BIGSERIAL(self, type_: BIGSERIAL, **kw: Any) -> str:
        return _serial("BIGSERIAL", type_.start)

    def visit_SERIAL8(self, type_: SERIAL8, **kw: Any) -> str:
        return _serial("SERIAL8", type_.start)

    def visit_INT8(self, type_: INT8, **kw: Any) -> str:
        return "INT8"

    def visit_REAL(self, type_: sqltypes.REAL[Any], **kw: Any) -> str:
        return "SMALLFLOAT"

    visit_SMALLFLOAT = visit_REAL

    def visit_FLOAT(self, type_: sqltypes.Float[Any], **kw: Any) -> str:
        return "FLOAT"

    visit_DOUBLE = visit_DOUBLE_PRECISION = visit_FLOAT

    def visit_NUMERIC(self, type_: sqltypes.Numeric[Any], **kw: Any) -> str:
        return _decimal("DECIMAL", type_.precision, type_.scale)

    visit_DECIMAL = visit_NUMERIC

    def visit_MONEY(self, type_: MONEY, **kw: Any) -> str:
        return _decimal("MONEY", type_.precision or 16, 2 if type_.scale is None else type_.scale)

    # ---- texts and bytes -----------------------------------------------------------------------------------------

    def visit_VARCHAR(self, type_: sqltypes.String, **kw: Any) -> str:
        return _varying("VARCHAR", type_)

    visit_unicode = visit_VARCHAR

    def visit_NVARCHAR(self, type_: sqltypes.String, **kw: Any) -> str:
        return _varying("NVARCHAR", type_)

    def visit_LVARCHAR(self, type_: LVARCHAR, **kw: Any) -> str:
        return _sized("LVARCHAR", 2048 if type_.length is None else type_.length, LVARCHAR_LIMIT)

    def visit_CHAR(self, type_: sqltypes.String, **kw: Any) -> str:
        return _sized("CHAR", 1 if type_.length is None else type_.length, CHAR_LIMIT)

    def visit_NCHAR(self, type_: sqltypes.String, **kw: Any) -> str:
        return _sized("NCHAR", 1 if type_.length is None else type_.length, CHAR_LIMIT)

    def visit_enum(self, type_: sqltypes.Enum, **kw: Any) -> str:
        widest = max((len(name.encode()) for name in type_.enums), default=1)
        return _varying("VARCHAR", sqltypes.String(max(widest, type_.length or 0)))

    visit_ENUM = visit_enum

    def visit_TEXT(self, type_: sqltypes.Text, **kw: Any) -> str:
        return "TEXT"

    def visit_CLOB(self, type_: sqltypes.Text, **kw: Any) -> str:
        return "CLOB"

    visit_NCLOB = visit_CLOB

    def visit_JSON(self, type_: sqltypes.JSON, **kw: Any) -> str:
        return "JSON"

    def visit_BSON(self, type_: BSON, **kw: Any) -> str:
        return "BSON"

    def visit_BYTE(self, type_: Any, **kw: Any) -> str:
        return "BYTE"

    visit_large_binary = visit_BINARY = visit_VARBINARY = visit_BYTE

    def visit_UUID(self, type_: sqltypes.Uuid[Any], **kw: Any) -> str:
        return "CHAR(32)"

    # ---- times ---------------------------------------------------------------------------------------------------

    def visit_DATETIME(self, type_: sqltypes.DateTime, **kw: Any) -> str:
        return f"DATETIME {DATETIME_QUALIFIER}"

    visit_TIMESTAMP = visit_DATETIME

    def visit_INFORMIX_DATETIME(self, type_: DATETIME | TIME, **kw: Any) -> str:
        return f"DATETIME {type_.qualifier}"

    visit_INFORMIX_TIME = visit_INFORMIX_DATETIME

    def visit_TIME(self, type_: sqltypes.Time, **kw: Any) -> str:
        return f"DATETIME {TIME_QUALIFIER}"

    def visit_interval(self, type_: sqltypes.Interval, **kw: Any) -> str:
        return f"INTERVAL {INTERVAL_QUALIFIER}"

    visit_INTERVAL = visit_interval

    def visit_INFORMIX_INTERVAL(self, type_: INTERVAL, **kw: Any) -> str:
        return f"INTERVAL {type_.qualifier}"


def _serial(name: str, start: int | None) -> str:
    return name if start is None or start == 1 else f"{name}({int(start)})"


def _decimal(name: str, precision: int | None, scale: int | None) -> str:
    if precision is None:
        precision = DECIMAL_LIMIT
    if not 1 <= precision <= DECIMAL_LIMIT:
        raise exc.CompileError(f"{name} can have 1 to {DECIMAL_LIMIT} digits, not {precision}.")
    if scale is None:
        return f"{name}({precision})"
    if not 0 <= scale <= precision:
        raise exc.CompileError(
            f"{name}({precision}) can have 0 to {precision} digits after the point, not {scale}."
        )
    return f"{name}({precision}, {scale})"


def _varying(name: str, type_: sqltypes.String) -> str:
    """Return VARCHAR(n), or LVARCHAR(n) if that is too short."""
    if type_.length is None:
        raise exc.CompileError(
            f"{name} needs a length on dialect informix. Use String(n), where n counts bytes, or Text."
        )
    if type_.length > VARCHAR_LIMIT:
        if name != "VARCHAR":
            raise exc.CompileError(
                f"{name} can have at most {VARCHAR_LIMIT} bytes, not {type_.length}. LVARCHAR can have more."
            )
        return _sized("LVARCHAR", type_.length, LVARCHAR_LIMIT)
    return _sized(name, type_.length, VARCHAR_LIMIT)


def _sized(name: str, length: int, limit: int) -> str:
    if not 1 <= length <= limit:
        raise exc.CompileError(f"{name} can have 1 to {limit} bytes, not {length}. Text has no limit.")
    return f"{name}({length})"
