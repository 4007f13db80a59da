"""Helpers for tests of the C encoder: single columns, whole batches, and the encoded messages."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

from informix_arrow._encode import Encoder
from informix_arrow.wire.plan_ops import Kind, PlanOp

INTEGER = PlanOp(Kind.INT32, 4, 0, 0)
TUPLE, PUT, BIND = 0, 1, 2

# The value of the column after the one under test. A read at a wrong offset cannot yield it by accident.
SENTINEL = 0x5EA51DE5


def loaded(batch: pa.RecordBatch, ops: Sequence[PlanOp], codepage: bytes | None = None) -> Encoder:
    encoder = Encoder([op.as_tuple() for op in ops], batch.schema.names, codepage=codepage)
    assert encoder.load(*batch.__arrow_c_array__()) == batch.num_rows
    return encoder


def payloads(encoder: Encoder, budget: int = 1 << 20, framing: int = TUPLE) -> list[bytes]:
    """Return the tuples of all remaining rows, and check every frame, pad, count and budget."""
    found: list[bytes] = []
    while encoder.remaining:
        before = encoder.remaining
        data, rows = encoder.encode(budget, framing)
        assert rows >= 1
        assert encoder.remaining == before - rows
        assert rows == 1 or len(data) <= budget
        pos = 0
        for _ in range(rows):
            if framing == TUPLE:
                tag, zero, size = struct.unpack_from(">hhi", data, pos)
                assert (tag, zero) == (14, 0)
            else:
                tag, size, one = struct.unpack_from(">hih", data, pos)
                assert (tag, one) == (17, 1)
            found.append(data[pos + 8 : pos + 8 + size])
            pos += 8 + size
            if size & 1:
                assert data[pos] == 0
                pos += 1
        assert pos == len(data)
    return found


def payload(op: PlanOp, column: pa.Array, codepage: bytes | None = None) -> bytes:
    """Return the bytes of one value, cut out of a tuple in which an INTEGER follows it."""
    batch = pa.record_batch([column, pa.array([SENTINEL], pa.int32())], ["c", "after"])
    (row,) = payloads(loaded(batch, [op, INTEGER], codepage))
    assert row[-4:] == struct.pack(">i", SENTINEL)
    return row[:-4]


def bind_rows(
    encoder: Encoder, budget: int = 1 << 20, head: bytes = b"", tail: bytes = b""
) -> list[tuple[bytes, int]]:
    """Return the pieces of all remaining rows as bind rows, and check every count and budget."""
    found: list[tuple[bytes, int]] = []
    while encoder.remaining:
        before = encoder.remaining
        data, rows = encoder.encode(budget, BIND, head, tail)
        assert rows >= 1
        assert encoder.remaining == before - rows
        assert rows == 1 or len(data) <= budget
        assert len(data) % 2 == 0
        found.append((data, rows))
    return found


def bound(op: PlanOp, column: pa.Array, codepage: bytes | None = None) -> bytes:
    """Return the record of one parameter, cut out of an SQ_BIND in which an INTEGER follows it, with the bytes after
    the last parameter (SQ_BBIND and its chunks)."""
    batch = pa.record_batch([column, pa.array([SENTINEL], pa.int32())], ["c", "after"])
    ((data, rows),) = bind_rows(loaded(batch, [op, INTEGER], codepage))
    after = struct.pack(">hhhi", 2, 0, 0x0A00, SENTINEL)
    assert rows == 1
    assert data[:4] == b"\0\5\0\2"
    assert data.count(after) == 1
    record, _, behind = data[4:].partition(after)
    return record + behind


def codepage_of(codec: str) -> bytes:
    """Return the encoder's table of a single-byte codec: the byte of each code point, 0 for none."""
    table = bytearray(65536)
    for byte in range(256):
        try:
            table[ord(bytes([byte]).decode(codec))] = byte
        except UnicodeDecodeError:
            continue
    return bytes(table)
