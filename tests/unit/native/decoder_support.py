"""Helpers for tests of the C decoder: streams of tuples, and their batches."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.internals import batch_of

from informix_arrow._decode import FULL, OTHER, Decoder
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import Kind, PlanOp, arrow_type_of_op

INTEGER = PlanOp(Kind.INT32, 4, 0, 0)
END_OF_TURN = b"\x00\x0c"
MAX_TUPLE = 1 << 20

# The value of the column after the one under test. A read at a wrong offset cannot yield it by accident.
SENTINEL = 0x5EA51DE5
SENTINEL_BYTES = struct.pack(">i", SENTINEL)


def tuple_message(payload: bytes) -> bytes:
    """Return one SQ_TUPLE: tag 14, warnings, size, payload, a 00 if the size is odd (SQLI section 6)."""
    return struct.pack(">hhi", 14, 0, len(payload)) + payload + b"\x00" * (len(payload) & 1)


def put_message(payload: bytes, tuples: int = 1) -> bytes:
    """Return one SQ_PUT: tag 17, size, number of tuples, payload, a 00 if the size is odd (SQLI section 11)."""
    return struct.pack(">hih", 17, len(payload), tuples) + payload + b"\x00" * (len(payload) & 1)


def stream(payloads: Iterable[bytes]) -> bytes:
    """Return a whole reply: the tuples and the end of the turn."""
    return b"".join(map(tuple_message, payloads)) + END_OF_TURN


def names(ops: Sequence[PlanOp]) -> list[str]:
    return [f"c{i}" for i in range(len(ops))]


def new_decoder(
    ops: Sequence[PlanOp],
    *,
    batch_rows: int = 1 << 20,
    batch_bytes: int = 1 << 30,
    max_tuple: int = MAX_TUPLE,
    codepage: bytes | None = None,
    framing: int = 0,
    blocks: bool = True,
) -> Decoder:
    return Decoder(
        [op.as_tuple() for op in ops],
        names(ops),
        batch_rows=batch_rows,
        batch_bytes=batch_bytes,
        max_tuple=max_tuple,
        codepage=codepage,
        framing=framing,
        blocks=blocks,
    )


def taken(decoder: Decoder, ops: Sequence[PlanOp]) -> pa.RecordBatch:
    """Return the decoder's batch in pyarrow, and check every invariant of its layout."""
    schema = pa.schema(list(zip(names(ops), map(arrow_type_of_op, ops), strict=True)))
    batch = batch_of(schema.__arrow_c_schema__(), decoder.take())
    batch.validate(full=True)
    return batch


def decode(
    ops: Sequence[PlanOp],
    pieces: Sequence[bytes],
    *,
    batch_rows: int = 1 << 20,
    batch_bytes: int = 1 << 30,
    codepage: bytes | None = None,
) -> list[pa.RecordBatch]:
    """Decode a reply that arrives in `pieces`, up to the end of the turn. Return at least one batch."""
    decoder = new_decoder(ops, batch_rows=batch_rows, batch_bytes=batch_bytes, codepage=codepage)
    batches: list[pa.RecordBatch] = []
    rest = b""
    status = -1
    for piece in pieces:
        data = rest + piece
        position, status = decoder.feed(data, 0, len(data))
        while status == FULL:
            batches.append(taken(decoder, ops))
            position, status = decoder.feed(data, position, len(data))
        rest = data[position:]
    assert (status, rest) == (OTHER, END_OF_TURN)
    if decoder.rows or not batches:
        batches.append(taken(decoder, ops))
    assert decoder.total_rows == sum(batch.num_rows for batch in batches)
    return batches


def decode_one(op: PlanOp, values: Sequence[bytes], *, codepage: bytes | None = None) -> pa.Array:
    """Decode one column of the given wire values. An INTEGER before and after each detects a wrong width."""
    reply = stream(SENTINEL_BYTES + value + SENTINEL_BYTES for value in values)
    (batch,) = decode([INTEGER, op, INTEGER], [reply], codepage=codepage)
    assert batch.column(0).to_pylist() == batch.column(2).to_pylist() == [SENTINEL] * len(values)
    return batch.column(1)


def refuses(op: PlanOp, raw: bytes, error: type[Exception], match: str) -> None:
    """Check that the value is refused with the error, which names its row and column."""
    with pytest.raises(error, match=match) as caught:
        decode_one(op, [raw])
    assert isinstance(caught.value, (DataError, ProtocolError))
    assert (caught.value.row, caught.value.column) == (0, "c1")
    assert "offset 4 in the tuple" in str(caught.value)


def pack_decimal(value: Decimal, width: int) -> bytes:
    """Encode a decimal (TYPES section 5) from its digits as text: a readable version, independent of the C code."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    if exponent % 2:
        text, exponent = text + "0", exponent - 1
    text = "0" * (len(text) % 2) + text
    pairs = [int(text[i : i + 2]) for i in range(0, len(text), 2)]
    power = len(pairs) + exponent // 2
    while pairs and pairs[-1] == 0:
        pairs.pop()
    if not pairs:
        return b"\x80" + bytes(width - 1)
    assert len(pairs) < width, (value, width)
    first = 0x80 + power + 64
    if sign:
        first ^= 0xFF
        pairs = [99 - d for d in pairs[:-1]] + [100 - pairs[-1]]
    return bytes([first, *pairs]).ljust(width, b"\x00")
