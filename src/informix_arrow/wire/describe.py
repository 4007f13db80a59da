"""Descriptors: the columns of a result, the parameters of a statement, and the plan compiled from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import pyarrow as pa

from .nested import nested_type
from .plan_ops import (
    DEFAULT_OPTIONS,
    FLAG_RAW,
    FLAG_REPLACE,
    TEXT_KINDS,
    Kind,
    PlanOp,
    TypeOptions,
    arrow_type_of_op,
    json_type,
    plan_op,
    text_type,
)
from .types import ColumnType, TypeCode


class StatementType(IntEnum):
    """Statement types of SQ_DESCRIBE (SERVER-BEHAVIOUR section 3)."""

    DATABASE = 1
    SELECT = 2
    SELECT_INTO_TEMP = 3
    UPDATE = 4  # with a WHERE clause
    DELETE = 5  # with a WHERE clause
    INSERT = 6
    UPDATE_CURRENT = 7
    DELETE_CURRENT = 8
    LOCK_TABLE = 10
    UNLOCK_TABLE = 11
    CREATE_DATABASE = 12
    DROP_DATABASE = 13
    CREATE_TABLE = 14
    DROP_TABLE = 15
    CREATE_INDEX = 16
    DROP_INDEX = 17
    GRANT = 18
    REVOKE = 19
    RENAME_TABLE = 20
    RENAME_COLUMN = 21
    ALTER_TABLE = 29
    UPDATE_STATISTICS = 30
    CLOSE_DATABASE = 31
    DELETE_ALL = 32
    UPDATE_ALL = 33
    BEGIN_WORK = 34
    COMMIT_WORK = 35
    ROLLBACK_WORK = 36
    SAVEPOINT = 37
    CREATE_VIEW = 40
    DROP_VIEW = 41
    CREATE_SYNONYM = 43
    DROP_SYNONYM = 44
    CREATE_TEMP_TABLE = 45
    SET_LOCK_MODE = 46
    ALTER_INDEX = 47
    SET_ISOLATION = 48
    SET_LOG = 49
    SET_EXPLAIN = 50
    CREATE_PROCEDURE = 53
    DROP_PROCEDURE = 54
    SET_CONSTRAINTS = 55
    EXECUTE_PROCEDURE = 56


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result.

    ``start`` is its offset in the longest tuple. Rows with variable columns are read from left to right and never
    addressed by it (SQLI section 8).
    """

    name: str
    type: ColumnType
    start: int = 0


def assign_offsets(columns: Iterable[Column]) -> tuple[tuple[Column, ...], int]:
    """Return the columns with their start offsets, and the size of the longest tuple."""
    placed: list[Column] = []
    at = 0
    for column in columns:
        placed.append(replace(column, start=at))
        at += column.type.max_width
    return tuple(placed), at


MAX_DOCUMENT = 32 << 20
"""Bytes of the longest JSON or BSON value that is accepted. MongoDB's limit is 16 MiB of BSON."""


@dataclass(frozen=True)
class Plan:
    """The plan that the codecs follow for one result: an op per column, the decoder's schema and the user's
    schema.

    ``decoded`` is the schema of the C decoder's batches: descriptors and locators of large objects, literal text
    of collections, plain strings. ``schema`` is the schema of the final batches: contents, lists and structs,
    string views and dictionaries. Columns that ``lobs="skip"`` leaves out are missing there. ``column_indexes``
    has, for each field of ``schema``, its index among the columns. Both schemas are known before the first row and
    are the same for every batch.
    """

    ops: tuple[PlanOp, ...]
    schema: Any  # pyarrow.Schema
    max_tuple: int  # bytes of the longest tuple
    decoded: Any  # pyarrow.Schema
    column_indexes: tuple[int, ...]

    @cached_property
    def tuple_limit(self) -> int:
        """Bytes of the longest tuple that is accepted: more than ``max_tuple`` if there are JSON or BSON columns, whose
        described length is not their longest value."""
        documents = [op for op in self.ops if op.kind in (Kind.LVARCHAR, Kind.OPAQUE) and op.arg > 0]
        return max(self.max_tuple, min(self.max_tuple + len(documents) * MAX_DOCUMENT, 0x7FFF_FFFF))


def compile_plan(
    columns: Sequence[Column],
    options: TypeOptions = DEFAULT_OPTIONS,
    *,
    bool_binary: bool = False,
    raw_text: bool = False,
) -> Plan:
    """Compile the plan of a result.

    Names are kept as they are, duplicates too. Fields stay nullable, because an outer join puts NULLs into NOT
    NULL columns. Their metadata, all in text:

    * ``informix.type``: the declared type, which re-creates the column; the name of a DISTINCT type
    * ``informix.source_type``: the source type of a DISTINCT type
    * ``informix.not_null``: ``true`` if the column is declared NOT NULL
    * ``informix.nested``: for collections and ROWs, ``arrow`` (list, struct) or ``literal`` (their SQL literal)

    With ``raw_text``, text is decoded as the bytes that it has on the wire, ``binary`` in ``decoded``, because the
    C decoder has no table for the code set. ``schema`` is the same as without.

    Raises ``NotSupportedError`` for the first column whose type has no codec.
    """
    ops: list[PlanOp] = []
    decoded: list[Any] = []
    final: list[Any] = []
    indexes: list[int] = []
    size = 0
    for index, column in enumerate(columns):
        ct = column.type
        size += ct.max_width
        op = plan_op(ct, options, bool_binary=bool_binary, column=column.name)
        if raw_text and op.kind in TEXT_KINDS:
            op = replace(op, flags=op.flags & ~FLAG_REPLACE | FLAG_RAW)
        ops.append(op)
        decoded.append(pa.field(column.name, arrow_type_of_op(op)))
        if options.lobs == "skip" and ct.is_large_object:
            continue
        indexes.append(index)
        final.append(_final_field(column, op, options))
    return Plan(tuple(ops), pa.schema(final), size, pa.schema(decoded), tuple(indexes))


def _final_field(column: Column, op: PlanOp, options: TypeOptions) -> Any:
    ct = column.type
    metadata = {"informix.type": ct.sql}
    source = ct.source
    if source is not None:
        metadata["informix.source_type"] = source.sql
    if ct.not_null:
        metadata["informix.not_null"] = "true"
    arrow = arrow_type_of_op(op)
    if ct.is_large_object:
        if options.lobs == "inline":
            text = (ct.code == TypeCode.TEXT or ct.is_clob) and options.encoding_errors != "binary"
            arrow = pa.large_utf8() if text else pa.large_binary()
    elif ct.is_complex:
        nested = nested_type(ct, options)
        metadata["informix.nested"] = "literal" if nested is None else "arrow"
        arrow = text_type(options) if nested is None else nested
    elif ct.is_json:
        arrow = json_type(options)
    elif ct.is_bson and options.bson == "json":
        arrow = json_type(replace(options, encoding_errors="strict"))  # what BSON becomes is always text
    elif op.kind in TEXT_KINDS:
        arrow = text_type(options)
    return pa.field(column.name, arrow, nullable=True, metadata=metadata)


def declared_type(field: pa.Field) -> ColumnType | None:
    """Return the Informix type that a field was read from; None if it has none that can be parsed here."""
    text = (field.metadata or {}).get(b"informix.type")
    try:
        return None if text is None else ColumnType.parse_sql(text.decode())
    except ValueError:  # a type of the database's own
        return None
