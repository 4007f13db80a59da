"""Rows as in a change record: the columns of fixed width back to back, then those of variable length
(docs/protocol/CDC.md, the row image)."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..._encode import Encoder
from ...wire.code_sets import is_multibyte
from ...wire.codepages import encoder_table
from ...wire.describe import Column
from ...wire.errors import DataError
from ...wire.plan_ops import Kind, PlanOp, plan_op
from ...wire.types import TypeCode
from ..catalog.catalog import ColumnInfo, TableInfo
from ..errors import SqlError
from ..types.column_converter import as_array
from ..types.multibyte_text import MultibyteTextEncoder
from ..types.nested_types import is_nested, is_simple_large, lob_kind
from ..types.result_cast import cast_column, numbers_of_keys, result_type
from ..types.result_types import RESULT_OPTIONS, VARYING, is_floating_decimal

_TUPLE_HEADER = 8  # size of the SQ_TUPLE header before its payload
_NULL_VARCHAR = b"\x01\x00"
_NULL_LVARCHAR = b"\x00\x01\x01"
_NO_CHARACTER = -23103
_BATCH_ROWS = 4096
_DEFAULT_DIGITS = re.compile(r"^interval (?:(year)\(4\)|(?!year)(\w+)\(2\))")


@dataclass(frozen=True, slots=True)
class LoggedColumn:
    """A column in the log: its type as in CREATE TABLE, and its width in bytes, 0 for variable length."""

    name: str
    declared: str
    width: int


@dataclass(frozen=True, slots=True)
class LoggedTable:
    """A table in the log.

    `columns` are the logged columns in the order of the row image: those of fixed width, then the others, each in the
    order of the table.
    """

    database: str
    tabid: int
    owner: str
    name: str
    columns: tuple[LoggedColumn, ...]

    @property
    def variable(self) -> int:
        """The number of columns of variable length."""
        return sum(not column.width for column in self.columns)


def is_logged(column: ColumnInfo) -> bool:
    """Return whether values of the column are logged. Large objects, collections, ROWs, DISTINCT and opaque types are
    not."""
    t = column.type
    if is_nested(t) or is_simple_large(t) or lob_kind(t) or (t.extended_name and not t.is_boolean):
        return t.is_lvarchar and not t.is_json
    return True


def declared_type(column: ColumnInfo) -> str:
    """Return the type as in TABSCHEMA: in lower case, a VARCHAR always with its reserve."""
    t = column.type
    if t.code in VARYING:
        name = "varchar" if t.sql.startswith("VARCHAR") else "nvarchar"
        return f"{name}({t.content_width},{t.encoded_length >> 8 & 0xFF})"
    if t.code == TypeCode.INTERVAL:
        return _DEFAULT_DIGITS.sub(lambda m: f"interval {m[1] or m[2]}", t.sql.lower())
    return t.sql.lower()


class TableImageEncoder:
    """Encodes rows of a table in storage form as row images.

    Parameters
    ----------
    info
        The table.
    codec
        Python codec of the database's code set.

    Attributes
    ----------
    table
        The table's description for the log.
    """

    def __init__(self, info: TableInfo, codec: str) -> None:
        self._codec = codec
        wanted = [column for column in info.columns if is_logged(column)]
        self._variable = [c for c in wanted if c.type.code in VARYING or c.type.is_lvarchar]
        self._fixed = [c for c in wanted if c not in self._variable]
        ops = [_fixed_op(column) for column in self._fixed]
        described = [Column(c.name, c.type) for c in self._fixed]
        self._raw = MultibyteTextEncoder(described, ops, codec) if is_multibyte(codec) else None
        if self._raw is not None:
            ops = self._raw.ops
        self._width = sum(op.width for op in ops)
        self._ops = [op.as_tuple() for op in ops]
        self._lengths = struct.Struct(f">{len(self._variable)}I")
        self.table = LoggedTable(
            info.database,
            info.tabid,
            info.owner,
            info.name,
            tuple(
                [
                    LoggedColumn(c.name, declared_type(c), op.width)
                    for c, op in zip(self._fixed, ops, strict=True)
                ]
                + [LoggedColumn(c.name, declared_type(c), 0) for c in self._variable]
            ),
        )

    def encode(self, rows: pa.Table) -> list[bytes]:
        """Return the log body of each row: the lengths of its columns of variable length, and its image.

        `rows` has all columns by name, in storage form. Raises -23103 for a character that the database's code set
        lacks.
        """
        images: list[bytes] = []
        for start in range(0, rows.num_rows, _BATCH_ROWS):
            images += self._encode(rows.slice(start, _BATCH_ROWS))
        return images

    def _encode(self, rows: pa.Table) -> list[bytes]:
        fixed = self._fixed_parts(rows)
        if not self._variable:
            return fixed
        parts = [_variable_parts(column, rows.column(column.name), self._codec) for column in self._variable]
        pack, join = self._lengths.pack, b"".join
        return [
            pack(*map(len, values)) + start + join(values)
            for start, values in zip(fixed, zip(*parts, strict=True), strict=True)
        ]

    def _fixed_parts(self, rows: pa.Table) -> list[bytes]:
        n = rows.num_rows
        if not self._fixed:
            return [b""] * n
        names = [column.name for column in self._fixed]
        arrays = [_wire_column(column, rows.column(column.name), self._codec) for column in self._fixed]
        batch = pa.RecordBatch.from_arrays([as_array(array) for array in arrays], names=names)
        try:
            if self._raw is not None:
                batch = self._raw.wire_form(batch)
            encoder = Encoder(
                self._ops, names, codepage=None if self._raw is not None else encoder_table(self._codec)
            )
            encoder.load(*batch.__arrow_c_array__())
            messages = memoryview(b"".join(_encode_all(encoder)))
        except DataError as problem:
            raise SqlError(_NO_CHARACTER, near=problem.column or "", detail=str(problem)) from problem
        width = self._width
        stride = _TUPLE_HEADER + width + (width & 1)
        if len(messages) != n * stride:
            raise RuntimeError(f"There are {len(messages)} bytes for {n} rows of {stride} bytes.")
        return [bytes(messages[at : at + width]) for at in range(_TUPLE_HEADER, n * stride, stride)]


def _encode_all(encoder: Encoder) -> list[bytearray]:
    encoded = []
    while encoder.remaining:
        encoded.append(encoder.encode(16 << 20)[0])
    return encoded


def _fixed_op(column: ColumnInfo) -> PlanOp:
    if column.type.is_boolean:
        return PlanOp(Kind.INT16, 2, 0, 0)
    return plan_op(column.type, RESULT_OPTIONS, column=column.name)


def _as_chunked_array(array: Any) -> Any:
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _wire_column(column: ColumnInfo, array: Any, codec: str) -> Any:
    """Convert a column of fixed width to the encoder's input."""
    t, array = column.type, _as_chunked_array(array)
    if t.is_boolean:  # a NULL flag byte, then the value
        values = as_array(array)
        flags = np.where(
            values.is_null().to_numpy(zero_copy_only=False),
            0x0100,
            values.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int16),
        )
        return pa.array(flags.astype(np.int16))
    if is_floating_decimal(t):
        array = numbers_of_keys(array)
    return cast_column(array, t, result_type(t), codec)


def _variable_parts(column: ColumnInfo, array: Any, codec: str) -> Sequence[bytes]:
    """Return the bytes of each row's value, including its length prefix."""
    t = column.type
    texts = cast_column(_as_chunked_array(array), t, result_type(t), codec).to_pylist()
    try:
        encoded = [None if text is None else text.encode(codec) for text in texts]
    except UnicodeEncodeError as problem:
        raise SqlError(
            _NO_CHARACTER,
            near=column.name,
            detail=f"The database's code set has no character U+{ord(problem.object[problem.start]):04X}.",
        ) from None
    if t.is_lvarchar:
        return [
            _NULL_LVARCHAR if text is None else (len(text) + 1).to_bytes(2, "big") + b"\x00" + text
            for text in encoded
        ]
    return [_NULL_VARCHAR if text is None else bytes((len(text),)) + text for text in encoded]
