"""Replies that the fuzzers truncate and corrupt: every supported type, NULLs and values of all lengths.

Made by the plain Python encoder from a fixed seed, so that a failure can be repeated.
"""

from __future__ import annotations

import datetime as dt
import os
import random
import struct
from collections.abc import Sequence
from decimal import Decimal

from informix_arrow.wire.describe import Column
from informix_arrow.wire.plan_ops import PlanOp, TypeOptions, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

SEED = int(os.environ.get("FUZZ_SEED", "20260831"))
END_OF_TURN = b"\x00\x0c"

OPTIONS = TypeOptions(floating_decimals="string")

TYPES = [
    ColumnType.serial(),
    ColumnType.smallint(),
    ColumnType.varchar(40),
    ColumnType.bigint(),
    ColumnType.int8(),
    ColumnType.float_(),
    ColumnType.smallfloat(),
    ColumnType.date(),
    ColumnType.boolean(),
    ColumnType.char(11),
    ColumnType.lvarchar(400),
    ColumnType.decimal(8, 2),
    ColumnType.decimal(32, 5),
    ColumnType.money(16, 2),
    ColumnType.decimal(16),
    ColumnType.datetime("YEAR TO SECOND"),
    ColumnType.datetime("YEAR TO FRACTION(5)"),
    ColumnType.datetime("YEAR TO DAY"),
    ColumnType.datetime("HOUR TO SECOND"),
    ColumnType.datetime("HOUR TO FRACTION(3)"),
    ColumnType.datetime("MONTH TO MINUTE"),
    ColumnType.integer(),
]
COLUMNS = [Column(f"c{i}", ct) for i, ct in enumerate(TYPES)]
OPS: list[PlanOp] = [plan_op(ct, OPTIONS) for ct in TYPES]
NAMES = [column.name for column in COLUMNS]


def _values(i: int, rng: random.Random) -> tuple[object, ...]:
    moment = dt.datetime(1, 1, 1) + dt.timedelta(
        seconds=rng.randrange(315_000_000_000), microseconds=rng.randrange(10**5) * 10
    )
    text = "".join(rng.choice("abc xyzäß€日") for _ in range(rng.choice([0, 1, 3, 8, 13])))
    row: list[object] = [
        i + 1,
        rng.randrange(-32767, 32768),
        text,
        rng.randrange(-(2**63) + 1, 2**63),
        rng.randrange(-(2**63) + 1, 2**63),
        rng.uniform(-1e9, 1e9),
        struct.unpack("f", struct.pack("f", rng.uniform(-10, 10)))[0],
        moment.date(),
        rng.random() < 0.5,
        "".join(rng.choice("no blank") for _ in range(rng.randrange(11))).rstrip(),
        text * rng.choice([1, 1, 2, 9]),
        Decimal(rng.randrange(-(10**8) + 1, 10**8)).scaleb(-2),
        Decimal((rng.randrange(2), tuple(rng.randrange(10) for _ in range(28)), -5)),
        Decimal(rng.randrange(10**9)).scaleb(-2),
        Decimal(rng.randrange(-(10**9), 10**9)).scaleb(rng.randrange(-20, 20)),
        moment.replace(microsecond=0),
        moment,
        moment.date(),
        moment.time().replace(microsecond=0),
        moment.time().replace(microsecond=moment.microsecond // 1000 * 1000),
        f"{moment:%m-%d %H:%M}",
        0x41424344 + i,  # ASCII, so that a text that wrongly includes it stays valid
    ]
    return tuple(None if at > 0 and rng.random() < 0.1 else value for at, value in enumerate(row))


def payloads(rows: int, plan: Sequence[int] | None = None) -> list[bytes]:
    """Return the tuples of a reply, without header and pad. `plan` selects columns by index."""
    rng = random.Random(SEED)
    picked = range(len(COLUMNS)) if plan is None else plan
    columns = [COLUMNS[i] for i in picked]
    made = (_values(i, rng) for i in range(rows))
    return [encode_tuple([values[i] for i in picked], columns, "utf-8") for values in made]


def message(payload: bytes) -> bytes:
    """Return one SQ_TUPLE (SQLI section 6)."""
    return struct.pack(">hhi", 14, 0, len(payload)) + payload + b"\x00" * (len(payload) & 1)


# ---- random plans: also with types and options that the reply above does not have


def _interval(text: str) -> ColumnType:
    return ColumnType(14, Qualifier.parse(text, interval=True).encoded)


MORE_TYPES = [
    _interval("YEAR(4) TO MONTH"),
    _interval("YEAR(9) TO MONTH"),
    _interval("MONTH(3) TO MONTH"),
    _interval("DAY(2) TO SECOND"),
    _interval("DAY(9) TO FRACTION(5)"),
    _interval("HOUR(5) TO FRACTION(3)"),
    _interval("SECOND(1) TO FRACTION(1)"),
    ColumnType.decimal(15, 0),
    ColumnType.decimal(32, 0),
    ColumnType(11, 56),
    ColumnType(12, 56),
    ColumnType(41, 72, extended_id=10, extended_name="blob"),
    ColumnType(19, 0),
]
OPTION_SETS = [
    OPTIONS,
    TypeOptions(intervals="month_day_nano", integer_aggregates=True),
    TypeOptions(encoding_errors="replace", char_padding="keep", decimals="float64"),
    TypeOptions(encoding_errors="replace", strings="large", integer_aggregates=True),
    TypeOptions(encoding_errors="binary", floating_decimals="string"),
    TypeOptions(encoding_errors="binary", strings="large"),
]


def _more_values(rng: random.Random) -> tuple[object, ...]:
    seconds = dt.timedelta(seconds=rng.randrange(-8_000_000, 8_000_001))
    text = "".join(rng.choice("1234, ä€") for _ in range(rng.choice([0, 1, 20, 40])))
    row: list[object] = [
        rng.randrange(-119_999, 120_000),
        rng.randrange(-(2**31), 2**31),
        rng.randrange(-999, 1000),
        seconds,
        seconds * rng.choice([1, 10, 1000]) + dt.timedelta(microseconds=rng.randrange(10**5) * 10),
        seconds + dt.timedelta(milliseconds=rng.randrange(1000)),
        dt.timedelta(milliseconds=rng.randrange(-99, 100) * 100),
        Decimal(rng.randrange(-(10**15) + 1, 10**15)),
        Decimal(rng.randrange(-(2**63), 2**63)),
        rng.randbytes(39) + bytes([rng.randrange(128) * 2]) + rng.randbytes(16),
        rng.randbytes(39) + bytes([rng.randrange(128) * 2]) + rng.randbytes(16),
        rng.randbytes(rng.choice([0, 1, 72, 144])),
        f"SET{{{text}}}",
    ]
    return tuple(None if rng.random() < 0.1 else value for value in row)


def random_reply(rng: random.Random, rows: int) -> tuple[list[Column], TypeOptions, list[bytes]]:
    """Return columns of random types, random options, and tuples. The last column is an INTEGER in half of the
    cases."""
    types = [*TYPES, *MORE_TYPES]
    picked = [rng.randrange(len(types)) for _ in range(rng.randint(1, 7))]
    if rng.random() < 0.5:
        picked.append(len(TYPES) - 1)
    columns = [Column(f"c{at}", types[i]) for at, i in enumerate(picked)]
    tuples = []
    for number in range(rows):
        values = _values(number, rng) + _more_values(rng)
        tuples.append(encode_tuple([values[i] for i in picked], columns, "utf-8"))
    return columns, rng.choice(OPTION_SETS), tuples
