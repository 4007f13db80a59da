"""Informix column types, and the way from each to an op of the codecs' plan and to an Arrow type (TYPES
section 2).

The pieces live in ``column_types``, ``qualifiers`` and ``plan_ops``; this module is the door.
"""

from __future__ import annotations

from .column_types import (
    COMPLEX_CODES,
    FLAG_CLIENT_COLLECTION,
    FLAG_DISTINCT,
    FLAG_DISTINCT_BOOLEAN,
    FLAG_DISTINCT_LVARCHAR,
    FLAG_HOST_VARIABLE,
    FLAG_NAMED_ROW,
    FLAG_NOT_NULL,
    ColumnType,
    TypeCode,
    has_type_name,
)
from .plan_ops import (
    DEFAULT_OPTIONS,
    FLAG_BINARY_BOOL,
    FLAG_LARGE,
    FLAG_RAW,
    FLAG_REPLACE,
    FLAG_ROUND,
    FLAG_TRIM,
    FLAG_TRUNCATE,
    TEXT_KINDS,
    Kind,
    PlanOp,
    TypeOptions,
    arrow_type,
    arrow_type_of_op,
    plan_op,
    text_type,
)
from .qualifiers import FRACTION_START, Field, Qualifier

__all__ = [
    "COMPLEX_CODES",
    "DEFAULT_OPTIONS",
    "FLAG_BINARY_BOOL",
    "FLAG_CLIENT_COLLECTION",
    "FLAG_DISTINCT",
    "FLAG_DISTINCT_BOOLEAN",
    "FLAG_DISTINCT_LVARCHAR",
    "FLAG_HOST_VARIABLE",
    "FLAG_LARGE",
    "FLAG_NAMED_ROW",
    "FLAG_NOT_NULL",
    "FLAG_RAW",
    "FLAG_REPLACE",
    "FLAG_ROUND",
    "FLAG_TRIM",
    "FLAG_TRUNCATE",
    "FRACTION_START",
    "TEXT_KINDS",
    "ColumnType",
    "Field",
    "Kind",
    "PlanOp",
    "Qualifier",
    "TypeCode",
    "TypeOptions",
    "arrow_type",
    "arrow_type_of_op",
    "has_type_name",
    "plan_op",
    "text_type",
]
