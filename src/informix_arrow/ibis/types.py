"""Ibis's types as Informix's."""

from __future__ import annotations

from typing import Any

import ibis.common.exceptions as com
import sqlglot.expressions as sge
from ibis.backends.sql.datatypes import SqlglotType

LONGEST_TEXT = 32739
_SIMPLE = {
    "Boolean": "BOOLEAN",
    "Int8": "SMALLINT",
    "Int16": "SMALLINT",
    "Int32": "INTEGER",
    "Int64": "BIGINT",
    "UInt8": "SMALLINT",
    "UInt16": "INTEGER",
    "UInt32": "BIGINT",
    "UInt64": "DECIMAL(20,0)",
    "Float16": "SMALLFLOAT",
    "Float32": "SMALLFLOAT",
    "Float64": "FLOAT",
    "Date": "DATE",
    "Time": "DATETIME HOUR TO FRACTION(5)",
    "Binary": "BYTE",
    "Null": "VARCHAR(1)",
}
"""The smallest type that holds all values. The smallest number of SMALLINT, INTEGER and BIGINT is Informix's NULL."""


def raw(text: str) -> Any:
    """Return a node of sqlglot that is written as ``text``."""
    return sge.Var(this=text)


def raw_type(text: str) -> Any:
    """Return a type of sqlglot that is written as ``text``."""
    return sge.DataType(this=sge.DataType.Type.USERDEFINED, kind=text)


def declaration(dtype: Any) -> str:
    """Return the type of a column. Raises ``UnsupportedBackendType`` for what Informix cannot store.

    Text of ``n`` characters may have ``4 n`` bytes. Text without a length is an LVARCHAR of 2048 bytes.
    """
    kind = type(dtype).__name__
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind == "String":
        if dtype.length is None:
            return "LVARCHAR"
        size = 4 * int(dtype.length)
        return f"VARCHAR({size})" if size <= 255 else f"LVARCHAR({min(size, LONGEST_TEXT)})"
    if (
        kind == "Decimal"
        and dtype.precision is not None
        and dtype.scale is not None
        and dtype.precision <= 32
    ):
        return f"DECIMAL({dtype.precision},{dtype.scale})"
    if kind == "Timestamp" and dtype.timezone is None:
        if dtype.scale is None or dtype.scale >= 5:  # the driver refuses a sixth digit that is not 0
            return "DATETIME YEAR TO FRACTION(5)"
        return "DATETIME YEAR TO " + (f"FRACTION({dtype.scale})" if dtype.scale else "SECOND")
    raise com.UnsupportedBackendType(f"Informix has no column type for {dtype}.")


class InformixType(SqlglotType):  # type: ignore[misc]
    """The type mapper of the compiler."""

    dialect = "informix"

    @classmethod
    def from_ibis(cls, dtype: Any) -> Any:
        """Return the type for a CAST or a column."""
        return raw_type(declaration(dtype))
