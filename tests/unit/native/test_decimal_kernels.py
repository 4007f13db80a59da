"""DECIMALs of every precision and scale and DATETIMEs of every qualifier: equal by blocks, by rows and in Python."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.native.decoder_support import INTEGER
from tests.unit.native.encoder_support import TUPLE, payloads
from tests.unit.native.test_decode_kernels import assert_same, messages, outcome
from tests.unit.native.test_decode_reference import equal, moment_text

from informix_arrow._encode import Encoder
from informix_arrow.wire.describe import Column
from informix_arrow.wire.plan_ops import arrow_type_of_op, plan_op
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

COUNT = 24


def numbers(precision: int, scale: int, rng: random.Random) -> list[Decimal | None]:
    """Return numbers of every length up to the maximum, with zeros at either end, of both signs."""
    top = 10**precision
    found: list[Decimal | None] = [None, Decimal(0)]
    for value in (top - 1, 1 - top, top // 10, -(top // 10), 1, -1):
        found.append(Decimal(f"{value}E-{scale}"))
    while len(found) < COUNT:
        drawn = (
            rng.randrange(1 - top, top)
            // 10 ** rng.randrange(precision + 1)
            * 10 ** rng.choice([0, 0, 1, 2, 5])
        )
        if abs(drawn) < top:
            found.append(Decimal(f"{drawn}E-{scale}"))
    return found


@parametrize_in_one_test("precision", range(1, 33))
def test_decimals_of_every_scale_are_the_same_by_every_way(precision: int) -> None:
    """If this fails: ia_b100_small, ia_b100_wide or ia_pack_eight, ia_pack_sixteen compute other digits."""
    rng = random.Random(precision)
    columns = [Column(f"c{scale}", ColumnType.decimal(precision, scale)) for scale in range(precision + 1)]
    columns.append(Column("after", ColumnType.integer()))
    ops = [plan_op(column.type) for column in columns]
    values = [numbers(precision, scale, rng) for scale in range(precision + 1)] + [list(range(COUNT))]
    rows = list(zip(*values, strict=True))
    wire = [encode_tuple(row, columns, "utf-8") for row in rows]
    data = messages(wire)
    wanted = outcome(False, ops, data)
    assert wanted[3] == ""
    (batch,) = wanted[0]
    for got, row in zip(batch.to_pylist(), rows, strict=True):
        assert tuple(got.values()) == row
    assert_same(outcome(True, ops, data), wanted)
    given = pa.record_batch(
        [pa.array(column, arrow_type_of_op(op)) for column, op in zip(values, ops, strict=True)],
        [column.name for column in columns],
    )
    encoder = Encoder([op.as_tuple() for op in ops], given.schema.names)
    encoder.load(*given.__arrow_c_array__())
    assert payloads(encoder, 1 << 20, TUPLE) == wire


@pytest.mark.parametrize("precision", [17, 19, 24, 31, 32])
def test_damaged_decimals_of_many_pairs_are_refused_the_same_by_blocks(precision: int) -> None:
    """The decimals have any exponent, base-100 digits above 99, digits beyond the scale, or too many digits."""
    rng = random.Random(precision)
    for scale in (0, 1, 7, 10, precision):
        ct = ColumnType.decimal(precision, scale)
        ops = [plan_op(ct), INTEGER]
        for number in numbers(precision, scale, rng)[2:]:
            good = encode_tuple([number, 5], [Column("d", ct), Column("i", ColumnType.integer())], "utf-8")
            bad = bytearray(good)
            bad[rng.randrange(2) and rng.randrange(ops[0].width)] ^= rng.choice([1, 2, 3, 8, 64, 128, 255])
            data = messages([good] * 9 + [bytes(bad)] + [good] * 9)
            wanted = outcome(False, ops, data)
            assert_same(outcome(True, ops, data), wanted)


#: Every qualifier as start and end; ends 11 to 15 are FRACTION(1) to FRACTION(5).
QUALIFIERS = [(start, end) for start in range(0, 11, 2) for end in [*range(start, 11, 2), *range(11, 16)]]


def test_datetimes_of_every_qualifier_are_the_same_by_every_way() -> None:
    rng = random.Random(6)
    moments = [
        dt.datetime(1, 1, 1),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999990),
        dt.datetime(2000, 2, 29, 0, 0, 1),
    ]
    moments += [
        dt.datetime(1, 1, 1)
        + dt.timedelta(seconds=rng.randrange(315_000_000_000), microseconds=rng.randrange(10**5) * 10)
        for _ in range(COUNT - 4)
    ]
    for start, end in QUALIFIERS:
        encoded = ((4 if start == 0 else 2) + end - start) << 8 | start << 4 | end
        ct = ColumnType(10, encoded)
        columns = [Column("m", ct), Column("after", ColumnType.integer())]
        ops = [plan_op(ct), INTEGER]
        wire = [encode_tuple([None, 0], columns, "utf-8")]
        for number, moment in enumerate(moments):
            made = moment if start == 0 else moment.replace(year=2024, day=min(moment.day, 28))
            wire.append(encode_tuple([moment_text(made, start, end), number], columns, "utf-8"))
        data = messages(wire)
        wanted = outcome(False, ops, data)
        assert wanted[3] == ""
        (batch,) = wanted[0]
        for got, payload in zip(batch.to_pylist(), wire, strict=True):
            reference = decode_tuple(payload, columns, "utf-8")
            assert all(equal(o, t) for o, t in zip(got.values(), reference, strict=True))
        assert_same(outcome(True, ops, data), wanted)
        encoder = Encoder([op.as_tuple() for op in ops], batch.schema.names)
        encoder.load(*batch.__arrow_c_array__())
        assert payloads(encoder, 1 << 20, TUPLE) == wire, (start, end)
