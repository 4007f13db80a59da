"""Change records written by hand (CDC section 4), and row images read by hand, as references for the decoders."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from informix_arrow.wire.changes import image_width
from informix_arrow.wire.describe import Column
from informix_arrow.wire.plan_ops import TypeOptions, plan_op
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.value_decoders import DECODERS

INSERT, DELETE, BEFORE, AFTER = 40, 41, 42, 43


def record(number: int, fields: bytes, lengths: Sequence[int] = (), payload: bytes = b"") -> bytes:
    """Return a record: common header, the fields of its kind, lengths of variable columns, payload."""
    rest = fields + b"".join(struct.pack(">i", length) for length in lengths)
    return struct.pack(">iiii", 16 + len(rest), len(payload), 66, number) + rest + payload


def begin(lsn: int, tx: int, time: int = 1_700_000_000, user: int = 200) -> bytes:
    return record(1, struct.pack(">qiqi", lsn, tx, time, user))


def commit(lsn: int, tx: int, time: int = 1_700_000_001) -> bytes:
    return record(2, struct.pack(">qiq", lsn, tx, time))


def rollback(lsn: int, tx: int) -> bytes:
    return record(3, struct.pack(">qi", lsn, tx))


def row(
    number: int, lsn: int, tx: int, fixed: bytes, *variable: bytes, label: int = 1, flags: int = 0
) -> bytes:
    """Return an INSERT, DELETE, UPDBEF or UPDAFT. ``variable`` has the values with their own prefixes."""
    fields = struct.pack(">qiii", lsn, tx, label, flags)
    return record(number, fields, [len(value) for value in variable], fixed + b"".join(variable))


def discard(lsn: int, tx: int) -> bytes:
    return record(62, struct.pack(">qi", lsn, tx))


def truncate(lsn: int, tx: int, label: int = 1) -> bytes:
    return record(119, struct.pack(">qii", lsn, tx, label))


def schema(text: str, fixed_bytes: int, fixed: int, variable: int, label: int = 1) -> bytes:
    return record(
        200, struct.pack(">iiiii", label, 0, fixed_bytes, fixed, variable), (), text.encode() + b"\0"
    )


def timeout(lsn: int) -> bytes:
    return record(201, struct.pack(">q", lsn))


def error(code: int, flags: int = 1) -> bytes:
    return record(202, struct.pack(">ii", flags, code))


def varchar(value: str | None) -> bytes:
    """Return a VARCHAR of a row image."""
    raw = b"\0" if value is None else value.encode()
    return bytes((len(raw),)) + raw


def lvarchar(value: str | None) -> bytes:
    """Return an LVARCHAR of a row image."""
    if value is None:
        return b"\0\1\1"
    return struct.pack(">H", len(value.encode()) + 1) + b"\0" + value.encode()


def read_image(payload: bytes, lengths: Sequence[int], columns: Sequence[Column]) -> list[object]:
    """Read a row image with the Python reader of tuples, except for the two types that row images encode
    differently."""
    values: list[object] = []
    at = 0
    variable = iter(lengths)
    for column in columns:
        ct = column.type
        varies = ct.is_lvarchar or ct.sql.lower().startswith(("varchar", "nvarchar"))
        width = next(variable) if varies else image_width(column)
        piece = payload[at : at + width]
        assert len(piece) == width
        at += width
        if ct.is_boolean:
            values.append({b"\0\1": True, b"\0\0": False, b"\1\0": None}[piece])
        elif ct.is_lvarchar:
            assert struct.unpack(">H", piece[:2])[0] == width - 2
            values.append(None if piece[2] else piece[3:].decode())
        else:
            values.append(_plain(piece, ct))
    assert at == len(payload)
    return values


def _plain(piece: bytes, ct: ColumnType) -> object:
    op = plan_op(ct, TypeOptions())
    reader = Reader(bytearray(piece), 0, len(piece))
    value = DECODERS[op.kind](reader, op, "utf-8")
    assert reader.pos == len(piece)
    return value
