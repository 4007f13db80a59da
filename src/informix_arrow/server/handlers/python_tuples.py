"""Encodes a few rows of Python objects as SQ_TUPLE messages: for one row Arrow takes longer than finding it.

Only values that certainly fit their column are encoded here. All others go through Arrow, which reports errors.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Sequence
from typing import Any

from ...wire.describe import Column
from ...wire.messages import Tuple
from ...wire.plan_ops import FLAG_BINARY_BOOL, FLAG_RAW, Kind, PlanOp
from ...wire.type_codes import DATE_EPOCH

_HEAD = struct.Struct(">hhi")
_ENVELOPE_NULL = b"\1\0\0\0\0"

ValueEncoder = Callable[[Any], bytes]
"""Encodes one column's value (TYPES); UnsupportedValue for one that may not fit."""


class UnsupportedValue(Exception):
    """A value that may not fit its column."""


class PythonTupleEncoder:
    """Encodes rows of one result."""

    def __init__(self, puts: Sequence[ValueEncoder]) -> None:
        self._value_encoders = puts

    @classmethod
    def for_columns(
        cls, columns: Sequence[Column], ops: Sequence[PlanOp], encoding: str
    ) -> PythonTupleEncoder | None:
        """Return an encoder for the columns, None if a column's type is not supported.

        `encoding` is a code set of one byte per character, or UTF-8.
        """
        puts = []
        for column, op in zip(columns, ops, strict=True):
            make = _ENCODER_FACTORIES.get(op.kind)
            if make is None or op.flags & FLAG_RAW:
                return None
            puts.append(make(op, column.type.content_width, encoding))
        return cls(puts)

    def encode(self, rows: Sequence[Sequence[Any]]) -> list[bytes] | None:
        """Return one SQ_TUPLE message for each row; None if a value of any of them is not supported."""
        puts = self._value_encoders
        messages = []
        try:
            for row in rows:
                payload = b"".join([put(value) for put, value in zip(puts, row, strict=True)])
                size = len(payload)
                messages.append(_HEAD.pack(Tuple.TAG, 0, size) + payload + b"\0" * (size & 1))
        except (UnsupportedValue, UnicodeEncodeError):
            return None
        return messages


def _integer(op: PlanOp, _: int, __: str) -> ValueEncoder:
    width = {Kind.INT16: 2, Kind.INT32: 4, Kind.INT64: 8}[op.kind]
    null, end = b"\x80" + bytes(width - 1), 1 << (8 * width - 1)

    def put(value: Any) -> bytes:
        if value is None:
            return null
        if type(value) is not int or not -end < value < end:  # the smallest value represents NULL
            raise UnsupportedValue
        return value.to_bytes(width, "big", signed=True)

    return put


def _float(_: PlanOp, __: int, ___: str) -> ValueEncoder:
    pack = struct.Struct(">d").pack

    def put(value: Any) -> bytes:
        if value is None:
            return b"\xff" * 8
        if type(value) is not float or value != value:
            raise UnsupportedValue
        return pack(value)

    return put


def _date(_: PlanOp, __: int, ___: str) -> ValueEncoder:
    def put(value: Any) -> bytes:
        if value is None:
            return b"\x80\0\0\0"
        if type(value) is not dt.date:
            raise UnsupportedValue
        return (value.toordinal() - DATE_EPOCH).to_bytes(4, "big", signed=True)

    return put


def _bool(op: PlanOp, _: int, __: str) -> ValueEncoder:
    false, true = (b"\0", b"\1") if op.flags & FLAG_BINARY_BOOL else (b"f", b"t")

    def put(value: Any) -> bytes:
        if value is None:
            return _ENVELOPE_NULL
        if type(value) is not bool:
            raise UnsupportedValue
        return b"\0\0\0\0\1" + (true if value else false)

    return put


def _text(value: Any, width: int, encoding: str) -> bytes:
    if type(value) is not str or "\0" in value:
        raise UnsupportedValue
    data = value.encode(encoding)
    if len(data) > width:
        raise UnsupportedValue
    return data


def _char(op: PlanOp, width: int, encoding: str) -> ValueEncoder:
    def put(value: Any) -> bytes:
        if value is None:
            return b"\0".ljust(op.width)
        return _text(value, width, encoding).ljust(op.width)

    return put


def _varchar(_: PlanOp, width: int, encoding: str) -> ValueEncoder:
    def put(value: Any) -> bytes:
        if value is None:
            return b"\1\0"
        data = _text(value, width, encoding)
        return bytes((len(data),)) + data

    return put


def _lvarchar(_: PlanOp, width: int, encoding: str) -> ValueEncoder:
    def put(value: Any) -> bytes:
        if value is None:
            return _ENVELOPE_NULL
        data = _text(value, width, encoding)
        return b"\0" + len(data).to_bytes(4, "big") + data

    return put


_ENCODER_FACTORIES: dict[Kind, Callable[[PlanOp, int, str], ValueEncoder]] = {
    Kind.INT16: _integer,
    Kind.INT32: _integer,
    Kind.INT64: _integer,
    Kind.FLOAT64: _float,
    Kind.DATE: _date,
    Kind.BOOL: _bool,
    Kind.CHAR: _char,
    Kind.VARCHAR: _varchar,
    Kind.LVARCHAR: _lvarchar,
}
