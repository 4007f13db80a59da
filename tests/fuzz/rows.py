"""Writes rows for fuzz_bulk.c: bound rows in several groups, in one group, and rows of an insert cursor, in every form
that clients send, from a fixed seed."""

from __future__ import annotations

import random
import struct
from decimal import Decimal
from pathlib import Path

import replies

from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.messages import BoundValue
from informix_arrow.wire.plan_ops import Kind
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple

STATEMENT = 3
GROUPS, ONE_GROUP, PUTS = 0, 1, 2
FRAMING = Framing(encoding="utf-8")


def _bound(value: object, ct: ColumnType, rng: random.Random) -> BoundValue:
    """Return a value as one of the clients binds it (JDBC section 6)."""
    if value is None:
        return BoundValue(rng.choice((0, 2, 43)), None, 0, -1)
    if ct.is_boolean and rng.random() < 0.5:
        return BoundValue(45, b"\0\0\0\1" + bytes((bool(value),)), 1, 0, "informix", "boolean")
    if ct.sql.startswith("DECIMAL"):
        value = Decimal(str(value))
    bound = bind_value(value, "utf-8")
    if isinstance(value, str) and rng.random() < 0.5:
        raw = bound.data[2:] if bound.data is not None else b""
        return BoundValue(43, len(raw).to_bytes(4, "big") + raw, 0, 0, "", rng.choice(("", "lvarchar")))
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.3:
        magnitude = abs(value)
        data = struct.pack(">hII", -1 if value < 0 else 1, magnitude & 0xFFFF_FFFF, magnitude >> 32)
        return BoundValue(17, data, 0x1300)
    return bound


def bound_row(payload: bytes, plan: list[int], rng: random.Random) -> m.Bind:
    """Return an SQ_BIND with the values of a tuple."""
    columns = [replies.COLUMNS[i] for i in plan]
    values = decode_tuple(payload, columns, "utf-8", replies.OPTIONS)
    pairs = zip(values, columns, strict=True)
    return m.Bind(tuple(_bound(value, column.type, rng) for value, column in pairs))


def stream(form: int, plan: list[int], count: int) -> bytes:
    """Return rows in one of the three forms, followed by a message that is not a row of that form."""
    rng = random.Random(replies.SEED)
    payloads = replies.payloads(count, plan)
    end = m.EndOfTurn().encode(FRAMING)
    if form == PUTS:
        return b"".join(m.Put(payload).encode(FRAMING) for payload in payloads) + end
    ident, execute = m.Id(STATEMENT).encode(FRAMING), m.Execute().encode(FRAMING)
    binds = [bound_row(payload, plan, rng).encode(FRAMING) for payload in payloads]
    if form == ONE_GROUP:
        return ident + b"".join(bind + execute for bind in binds) + end
    between = [rng.choice((b"", ident)) for _ in binds]
    return b"".join(ident + bind + x + execute + end for bind, x in zip(binds, between, strict=True)) + end


def write(directory: Path) -> list[str]:
    """Write files for fuzz_bulk.c: int32 form, int32 rows, int32 n, n ops of 4 int32, the bytes."""
    every = [i for i, op in enumerate(replies.OPS) if op.kind in _PLAIN]
    paths = []
    for form in (GROUPS, ONE_GROUP, PUTS):
        for plan in (every, every[::-1], *([i] for i in every), *([i, every[-1]] for i in every[:-1])):
            count = 60 if len(plan) > 2 else 8
            path = directory / f"rows{form}-{len(paths)}.bin"
            with path.open("wb") as file:
                head = [form, count, len(plan), *(part for i in plan for part in replies.OPS[i].as_tuple())]
                file.write(b"".join(part.to_bytes(4, "little", signed=True) for part in head))
                file.write(stream(form, plan, count))
            paths.append(str(path))
    return paths


_PLAIN = frozenset(range(Kind.INT16, Kind.DATETIME_TEXT))
