"""Parse change records, which a server reads from its log (CDC section 4), one at a time from a stream of bytes.

Row images are decoded by ``_changes.ImageDecoder``, from the plan that :func:`image_plan` compiles. Of row
records, this module parses only the header, to find the table they belong to.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from .describe import Column, Plan, compile_plan
from .errors import NotSupportedError, ProtocolError
from .plan_ops import FLAG_RAW, Kind, PlanOp, TypeOptions
from .type_codes import TypeCode
from .type_names import cut_at_commas, name_and_type
from .types import ColumnType

BEGIN, COMMIT, ROLLBACK = 1, 2, 3
INSERT, DELETE, UPDATE_BEFORE, UPDATE_AFTER = 40, 41, 42, 43
DISCARD, TRUNCATE, TABLE_SCHEMA, TIMEOUT, ERROR = 62, 119, 200, 201, 202

#: Numbers of the records that hold a row image.
ROWS = range(INSERT, UPDATE_AFTER + 1)

SCHEME = 66  # CDC_PKTSCHEME_LRECBINARY
#: Upper limit of a record's size in bytes. An Informix row has at most 32 KiB, without the contents of long texts.
MAX_RECORD_BYTES = 64 << 20

_COMMON = struct.Struct(">iiii")
_LAYOUTS = {
    BEGIN: struct.Struct(">qiqi"),
    COMMIT: struct.Struct(">qiq"),
    ROLLBACK: struct.Struct(">qi"),
    INSERT: struct.Struct(">qiii"),
    DELETE: struct.Struct(">qiii"),
    UPDATE_BEFORE: struct.Struct(">qiii"),
    UPDATE_AFTER: struct.Struct(">qiii"),
    DISCARD: struct.Struct(">qi"),
    TRUNCATE: struct.Struct(">qii"),
    TABLE_SCHEMA: struct.Struct(">iiiii"),
    TIMEOUT: struct.Struct(">q"),
    ERROR: struct.Struct(">ii"),
}
_NAMES = {
    BEGIN: "BEGINTX",
    COMMIT: "COMMTX",
    ROLLBACK: "RBTX",
    INSERT: "INSERT",
    DELETE: "DELETE",
    UPDATE_BEFORE: "UPDBEF",
    UPDATE_AFTER: "UPDAFT",
    DISCARD: "DISCARD",
    TRUNCATE: "TRUNCATE",
    TABLE_SCHEMA: "TABSCHEMA",
    TIMEOUT: "TIMEOUT",
    ERROR: "ERROR",
}


@dataclass(frozen=True, slots=True)
class BeginRecord:
    """BEGINTX: a transaction began. ``user`` is the user id of the operating system, ``time`` is in seconds (UTC)."""

    lsn: int
    transaction: int
    time: int
    user: int


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """COMMTX: a transaction was committed."""

    lsn: int
    transaction: int
    time: int


@dataclass(frozen=True, slots=True)
class RollbackRecord:
    """RBTX: a transaction was rolled back, so that none of its records count."""

    lsn: int
    transaction: int


@dataclass(frozen=True, slots=True)
class RowRecord:
    """The header of INSERT, DELETE, UPDBEF or UPDAFT. ``label`` is the user data of ``cdc_startcapture``."""

    number: int
    lsn: int
    transaction: int
    label: int


@dataclass(frozen=True, slots=True)
class DiscardRecord:
    """DISCARD: the earlier records of this transaction with this LSN or a greater one do not count."""

    lsn: int
    transaction: int


@dataclass(frozen=True, slots=True)
class TruncateRecord:
    """TRUNCATE: the table was emptied."""

    lsn: int
    transaction: int
    label: int


@dataclass(frozen=True, slots=True)
class TableSchemaRecord:
    """TABSCHEMA: the columns of a table's row images. The last ``variable`` columns have values of varying length."""

    label: int
    fixed_bytes: int
    variable: int
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class TimeoutRecord:
    """TIMEOUT: there was nothing to return. ``lsn`` is how far the log was read."""

    lsn: int


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """ERROR: capturing failed. ``final`` is True if the session cannot continue."""

    code: int
    final: bool


Record = (
    BeginRecord
    | CommitRecord
    | RollbackRecord
    | RowRecord
    | DiscardRecord
    | TruncateRecord
    | TableSchemaRecord
    | TimeoutRecord
    | ErrorRecord
)


def parse_record(data: bytes | bytearray, start: int, end: int) -> tuple[Record | None, int] | None:
    """Parse the record at ``data[start:end]``. Return it and the position after it, or None if it is incomplete.

    A record with an unknown number is skipped: None is returned in its place. Raises ``ProtocolError`` for invalid
    sizes.
    """
    if end - start < _COMMON.size:
        return None
    header, payload, scheme, number = _COMMON.unpack_from(data, start)
    name = _NAMES.get(number, f"number {number}")
    if scheme != SCHEME:
        raise ProtocolError(f"A change record has the packet scheme {scheme}, but {SCHEME} was expected.")
    if header < _COMMON.size or payload < 0 or header + payload > MAX_RECORD_BYTES:
        raise ProtocolError(
            f"A change record ({name}) has a header of {header} bytes and {payload} bytes after it."
        )
    behind = start + header + payload
    if behind > end:
        return None
    layout = _LAYOUTS.get(number)
    if layout is None:
        return None, behind
    least = _COMMON.size + layout.size
    if (header != least) if number not in ROWS else (header < least or (header - least) % 4):
        raise ProtocolError(f"A change record ({name}) has a header of {header} bytes, but needs {least}.")
    if payload and number not in ROWS and number not in (TABLE_SCHEMA, ERROR):
        raise ProtocolError(
            f"A change record ({name}) has {payload} bytes after its header, but none were expected."
        )
    fields = layout.unpack_from(data, start + _COMMON.size)
    if number in ROWS:
        return RowRecord(number, *fields[:3]), behind
    if number == TABLE_SCHEMA:
        text = bytes(data[start + header : behind])
        return _table_schema(fields, text), behind
    if number == ERROR:
        return ErrorRecord(fields[1], bool(fields[0] & 1)), behind
    return _FIXED_RECORDS[number](*fields), behind


_FIXED_RECORDS = {
    BEGIN: BeginRecord,
    COMMIT: CommitRecord,
    ROLLBACK: RollbackRecord,
    DISCARD: DiscardRecord,
    TRUNCATE: TruncateRecord,
    TIMEOUT: TimeoutRecord,
}


def read_name(text: str) -> str:
    """Return a column's name, given as it is in lists of columns and in TABSCHEMA: written by :func:`quote_if_needed`.

    No source says how real servers write names that need double quotes (CDC section 8).
    """
    text = text.strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return text[1:-1].replace('""', '"')
    return text.lower()


def _table_schema(fields: tuple[int, ...], text: bytes) -> TableSchemaRecord:
    label, _, fixed_bytes, fixed, variable = fields
    try:
        declared = text.removesuffix(b"\0").decode("utf-8")
        columns = tuple(_column(part) for part in cut_at_commas(declared))
    except ValueError as error:
        raise ProtocolError(f"TABSCHEMA: The columns cannot be read: {error}") from None
    varying = [_varies(column.type) for column in columns]
    if fixed < 0 or variable < 0 or varying != [False] * fixed + [True] * variable:
        raise ProtocolError(
            f"TABSCHEMA: The header announces {fixed} fixed and {variable} variable columns, but the columns are "
            f"{declared!r}."
        )
    width = sum(image_width(column) for column in columns[:fixed])
    if width != fixed_bytes:
        raise ProtocolError(
            f"TABSCHEMA: The header announces {fixed_bytes} bytes of fixed columns, but they take {width}: "
            f"{declared!r}."
        )
    return TableSchemaRecord(label, fixed_bytes, variable, columns)


def _column(text: str) -> Column:
    parts = name_and_type(text)
    if parts is None:
        raise ValueError(f"{text.strip()!r} is not a column name with a type.")
    name, declared = parts
    return Column(read_name(name) if name.startswith('"') else name, ColumnType.parse_sql(declared))


def _varies(ct: ColumnType) -> bool:
    return ct.code in (TypeCode.VARCHAR, TypeCode.NVARCHAR) or ct.is_lvarchar


def is_captured(ct: ColumnType) -> bool:
    """Return whether the log holds the values of a column of this type, so that they can be captured.

    It does not for large objects, collections, ROWs and opaque types (CDC section 5).
    """
    if ct.is_boolean or ct.is_lvarchar:
        return True
    return _varies(ct) or (ct.width is not None and not ct.is_large_object and not ct.is_complex)


_LOCATOR = 76  # bytes of a BLOB or CLOB in a row image: 4 bytes and the locator


def image_width(column: Column) -> int:
    """Return the size in bytes of a fixed column in a row image."""
    if column.type.is_boolean:
        return 2
    if column.type.is_blob or column.type.is_clob:
        return _LOCATOR
    width = column.type.width
    if width is None:
        raise ProtocolError(
            f"TABSCHEMA: Column {column.name!r} has the type {column.type.sql}, which cannot be captured."
        )
    return width


@dataclass(frozen=True, slots=True)
class ImagePlan:
    """The plan for decoding the row images of one table with ``_changes.ImageDecoder``.

    ``ops`` and ``names`` begin with the record's number and LSN, and so does ``decoded``, the schema of the
    decoder's batches. ``plan`` is the plan of the table's columns alone.
    """

    ops: tuple[tuple[int, int, int, int], ...]
    names: tuple[str, ...]
    max_image: int
    decoded: pa.Schema
    plan: Plan


_FRONT_OPS = (PlanOp(Kind.INT16, 2, 0, 0), PlanOp(Kind.INT64, 8, 0, 0))
_FRONT_FIELDS = (pa.field("record", pa.int16()), pa.field("lsn", pa.int64()))
_IN_IMAGES = {Kind.BOOL: (Kind.CHANGE_BOOL, 2), Kind.LVARCHAR: (Kind.CHANGE_LVARCHAR, None)}


def image_plan(columns: Sequence[Column], options: TypeOptions, *, raw_text: bool) -> ImagePlan:
    """Compile the plan of a table's row images. ``raw_text`` is as in ``compile_plan``.

    Raises ``NotSupportedError`` for a column that cannot be captured.
    """
    for column in columns:
        if not is_captured(column.type):
            raise NotSupportedError(
                f"Column {column.name!r} has the type {column.type.sql}, whose values are not in the log. "
                "Leave it out of the columns.",
                column=column.name,
            )
    plan = compile_plan(columns, options, raw_text=raw_text)
    ops = list(_FRONT_OPS)
    longest = 0
    for op, column in zip(plan.ops, columns, strict=True):
        kind, width = _IN_IMAGES.get(op.kind, (op.kind, op.width))
        ops.append(replace(op, kind=kind, width=op.width if width is None else width))
        longest += column.type.max_width
    assert not any(op.flags & FLAG_RAW for op in ops) or raw_text or options.encoding_errors == "binary"
    return ImagePlan(
        tuple(op.as_tuple() for op in ops),
        tuple(field.name for field in _FRONT_FIELDS) + tuple(column.name for column in columns),
        longest,
        pa.schema([*_FRONT_FIELDS, *plan.decoded]),
        plan,
    )
