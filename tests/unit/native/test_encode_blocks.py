"""Rows encoded in blocks have the same bytes and errors as row by row."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.encoder_support import PUT, TUPLE, payloads

from informix_arrow._encode import Encoder
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import plan_op
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

#: Column types, their Arrow types and functions that draw a value. Blocks write these narrow types.
NARROW = [
    (ColumnType.smallint(), pa.int16(), lambda rng: rng.choice([0, -32767, 32767, rng.randrange(-99, 99)])),
    (
        ColumnType.integer(),
        pa.int32(),
        lambda rng: rng.choice([0, -(2**31) + 1, 2**31 - 1, rng.randrange(9**9)]),
    ),
    (
        ColumnType.bigint(),
        pa.int64(),
        lambda rng: rng.choice([0, -(2**63) + 1, 2**63 - 1, rng.randrange(9**19)]),
    ),
    (
        ColumnType.int8(),
        pa.int64(),
        lambda rng: rng.choice([0, -(2**63) + 1, 2**63 - 1, -rng.randrange(9**19)]),
    ),
    (ColumnType.smallfloat(), pa.float32(), lambda rng: rng.choice([0.0, -0.0, 1.5, -2.25, float("inf")])),
    (ColumnType.float_(), pa.float64(), lambda rng: rng.choice([0.0, -0.0, 1e300, rng.random()])),
    (ColumnType.date(), pa.date32(), lambda rng: dt.date.fromordinal(rng.randrange(1, 3652060))),
]
OTHERS = [
    (ColumnType.varchar(70), pa.utf8(), lambda rng: "ä" * rng.randrange(3) + "x" * rng.randrange(66)),
    (ColumnType.varchar(70), pa.large_utf8(), lambda rng: "y" * rng.randrange(70)),
    (ColumnType.lvarchar(400), pa.utf8(), lambda rng: "z" * rng.randrange(300)),
    (ColumnType.char(9), pa.utf8(), lambda rng: "c" * rng.randrange(9)),
    (ColumnType.boolean(), pa.bool_(), lambda rng: rng.random() < 0.5),
    (ColumnType.integer(), pa.int64(), lambda rng: rng.randrange(-99, 99)),
    (
        ColumnType.datetime("YEAR TO DAY"),
        pa.date32(),
        lambda rng: dt.date.fromordinal(rng.randrange(1, 3652060)),
    ),
]


def _decimals(precision: int, scale: int) -> Callable[[random.Random], Decimal]:
    top = 10**precision - 1
    places = [top, -top, 0, 1, -1]
    return lambda rng: Decimal(f"{rng.choice([*places, rng.randrange(-top, top + 1)])}E-{scale}")


def _moments(step: int) -> Callable[[random.Random], dt.datetime]:
    """Return a function that draws a moment: the first or the last one in steps of ``step`` microseconds, or one
    between."""
    first = dt.datetime(1, 1, 1)
    last = (dt.datetime.max - first) // dt.timedelta(microseconds=step)
    return lambda rng: (
        first + dt.timedelta(microseconds=step) * rng.choice([0, last, rng.randrange(last + 1)])
    )


def pieces(
    types: list[ColumnType], batch: pa.RecordBatch, *, budget: int, framing: int, blocks: bool = True
) -> list[object]:
    """Return the result of each call of encode(), with an error in its place."""
    encoder = Encoder([plan_op(ct).as_tuple() for ct in types], batch.schema.names, blocks=blocks)
    encoder.load(*batch.__arrow_c_array__())
    found: list[object] = []
    while encoder.remaining:
        try:
            found.append(encoder.encode(budget, framing))
        except DataError as error:
            found.append((str(error), error.row, error.column))
            break
    return found


@given(
    st.lists(st.sampled_from(range(len(NARROW))), min_size=1, max_size=16),
    st.lists(st.sampled_from(range(len(OTHERS))), max_size=3),
    st.integers(0, 300),
    st.integers(0, 9),
    st.sampled_from([0, 0.1, 1]),
    st.sampled_from([0, 100, 3000, 1 << 20]),
    st.sampled_from([TUPLE, PUT]),
    st.integers(0),
)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_rows_are_the_same_bytes_by_blocks_and_row_by_row(
    narrow: list[int],
    others: list[int],
    rows: int,
    offset: int,
    nulls: float,
    budget: int,
    framing: int,
    seed: int,
) -> None:
    rng = random.Random(seed)
    picked = [NARROW[k] for k in narrow] + [OTHERS[k] for k in others]
    rng.shuffle(picked)
    types = [ct for ct, _, _ in picked]
    values = [
        [None if rng.random() < nulls else draw(rng) for _ in range(rows + offset)] for _, _, draw in picked
    ]
    arrays = [pa.array(column, arrow) for column, (_, arrow, _) in zip(values, picked, strict=True)]
    batch = pa.record_batch(arrays, [f"c{k}" for k in range(len(arrays))]).slice(offset)
    wanted = pieces(types, batch, budget=budget, framing=framing, blocks=False)
    assert pieces(types, batch, budget=budget, framing=framing) == wanted
    if rows and budget:
        columns = [Column(f"c{k}", ct) for k, ct in enumerate(types)]
        encoder = Encoder([plan_op(ct).as_tuple() for ct in types], batch.schema.names)
        encoder.load(*batch.__arrow_c_array__())
        tuples = payloads(encoder, budget, framing)
        for row in {0, rows // 2, rows - 1}:
            value = [column[offset + row] for column in values]
            assert tuples[row] == encode_tuple(value, columns, "utf-8")


@parametrize_in_one_test("row", [0, 7, 40, 63, 64, 100, 199])
@parametrize_in_one_test(
    ("ct", "array"),
    [
        (ColumnType.smallint(), np.int16(-32768)),
        (ColumnType.integer(), np.int32(-(2**31))),
        (ColumnType.bigint(), np.int64(-(2**63))),
        (ColumnType.int8(), np.int64(-(2**63))),
    ],
    ids=["SMALLINT", "INTEGER", "BIGINT", "INT8"],
)
def test_a_value_that_would_be_null_is_refused_by_row_and_column(
    ct: ColumnType, array: np.generic, row: int
) -> None:
    values = np.arange(200).astype(array.dtype)
    values[row] = array
    types = [ColumnType.integer(), ct, ColumnType.integer()]
    after = pa.array(range(200), pa.int32())
    batch = pa.record_batch([after, pa.array(values), after], ["a", "b", "c"])
    found = pieces(types, batch, budget=1 << 20, framing=TUPLE)
    assert found == pieces(types, batch, budget=1 << 20, framing=TUPLE, blocks=False)
    assert found[-1][1:] == (row, "b")  # type: ignore[index]


def test_numbers_that_wire_reads_as_null_and_days_out_of_range_are_what_they_are_row_by_row() -> None:
    """A NaN with all bits set is NULL on the wire. The last DATE is in the year 9999."""
    ones = np.full(100, -1, np.int64).view(np.float64)
    singles = np.full(100, -1, np.int32).view(np.float32)
    days = pa.array([2932896 + (row == 70) for row in range(100)], pa.int32()).cast(pa.date32())
    types = [ColumnType.float_(), ColumnType.smallfloat(), ColumnType.date()]
    batch = pa.record_batch([pa.array(ones), pa.array(singles), days], ["f", "s", "d"])
    found = pieces(types, batch, budget=1 << 20, framing=PUT)
    assert found == pieces(types, batch, budget=1 << 20, framing=PUT, blocks=False)
    assert len(found) == 2
    assert found[1][1:] == (70, "d")  # type: ignore[index]


#: By position in NARROW: strided columns that form groups of 16 bytes (4444, 88, 844, 484, 448), and some that do not.
RUNS = [[1, 4, 6, 1], [2, 5], [5, 6, 1], [1, 5, 6], [4, 1, 2], [0, 2, 3, 1, 1], [1, 2, 2, 1, 0]]


@pytest.mark.parametrize("nulls", [0.0, 0.3])
def test_runs_of_strided_columns_between_texts_are_the_same_bytes(nulls: float) -> None:
    """Every group, before and after texts, far from the end of the row and near it; with tails of all lengths."""
    rng = random.Random(nulls)
    picked: list[tuple[ColumnType, pa.DataType, Callable[[random.Random], object]]] = []
    for run in RUNS:
        picked += [NARROW[k] for k in run]
        picked.append(
            (ColumnType.varchar(200), pa.utf8(), lambda rng: "t" * rng.choice([0, 1, 15, 64, 65, 130, 200]))
        )
    picked += [NARROW[0], OTHERS[3], OTHERS[6], NARROW[1]]
    values = [[None if rng.random() < nulls else draw(rng) for _ in range(203)] for _, _, draw in picked]
    types = [ct for ct, _, _ in picked]
    whole = pa.record_batch(
        [pa.array(column, arrow) for column, (_, arrow, _) in zip(values, picked, strict=True)],
        [f"c{k}" for k in range(len(picked))],
    )
    for first, rows in [(0, 203), (3, 8), (1, 9), (5, 31), (0, 62), (7, 63), (2, 64), (9, 129)]:
        batch = whole.slice(first, rows)
        wanted = pieces(types, batch, budget=1 << 20, framing=TUPLE, blocks=False)
        assert pieces(types, batch, budget=1 << 20, framing=TUPLE) == wanted


@pytest.mark.parametrize("front", [11, 13, 14, 15, 30])
def test_texts_near_the_end_of_a_row_leave_the_next_row_as_it_is(front: int) -> None:
    """Copies of whole vectors overwrite bytes of the next row, whose own texts begin within 64 bytes or later."""
    rng = random.Random(front)
    texts = [
        pa.array([None if k % 11 == 5 else "t" * rng.choice(sizes) for k in range(150)])
        for sizes in ([0, 1, 2], [0, 64], range(40))
    ]
    numbers = pa.array([-k for k in range(150)], pa.int32())
    columns: list[pa.Array] = [numbers] * front
    types = [ColumnType.integer()] * front
    for text in (*texts, texts[2].fill_null("")):
        columns += [text, numbers, numbers]
        types += [ColumnType.varchar(70), ColumnType.integer(), ColumnType.integer()]
    batch = pa.record_batch(columns, [f"c{k}" for k in range(len(columns))])
    found = pieces(types, batch, budget=1 << 20, framing=TUPLE)
    assert found == pieces(types, batch, budget=1 << 20, framing=TUPLE, blocks=False)
    assert found[0][1] == 150  # type: ignore[index]


@pytest.mark.parametrize("row", [0, 20, 199])
@pytest.mark.parametrize("wrong", ["\0", "x" * 71])
def test_a_text_with_no_encoding_among_others_by_columns_is_refused_by_row(row: int, wrong: str) -> None:
    """The text would read as NULL, or is too long. There is enough room after it for texts to be written by columns."""
    texts = ["y" * (k % 70) for k in range(200)]
    texts[row] = wrong
    numbers = pa.array(range(200), pa.int64())
    types = [ColumnType.varchar(70), *[ColumnType.bigint()] * 9]
    batch = pa.record_batch([pa.array(texts), *[numbers] * 9], [f"c{k}" for k in range(10)])
    found = pieces(types, batch, budget=1 << 20, framing=PUT)
    assert found == pieces(types, batch, budget=1 << 20, framing=PUT, blocks=False)
    assert found[-1][1:] == (row, "c0")  # type: ignore[index]


def test_what_lies_under_a_null_is_nobodys_business() -> None:
    """The values under NULLs are the numbers that stand for NULL, invalid days, and texts that are too long."""
    mask = np.arange(100) % 7 == 3
    numbers = np.where(mask, -(2**31), np.arange(100)).astype(np.int32)
    days = pa.Array.from_buffers(pa.date32(), 100, pa.array(numbers, mask=mask).buffers(), int(mask.sum()))
    wide = np.where(mask, -(2**63), np.arange(100))
    texts = pa.array(["z" * 250 if m else "w" for m in mask])
    bits = pa.array(numbers, mask=mask).buffers()[0]
    texts = pa.Array.from_buffers(pa.utf8(), 100, [bits, *texts.buffers()[1:]], int(mask.sum()))
    columns = [
        texts,
        pa.array(numbers, mask=mask),
        pa.array(wide, mask=mask),
        days,
        *[pa.array(wide, mask=mask)] * 8,
    ]
    types = [
        ColumnType.varchar(70),
        ColumnType.integer(),
        ColumnType.bigint(),
        ColumnType.date(),
        *[ColumnType.bigint()] * 8,
    ]
    batch = pa.record_batch(columns, [f"c{k}" for k in range(len(columns))])
    found = pieces(types, batch, budget=1 << 20, framing=PUT)
    assert found == pieces(types, batch, budget=1 << 20, framing=PUT, blocks=False)
    assert found[0][1] == 100  # type: ignore[index]


#: Rows whose values are all NULL: the first and the last of vectors and of blocks.
EDGES = frozenset({0, 1, 3, 4, 7, 8, 15, 16, 31, 32, 62, 63, 64, 65, 71, 72, 95, 96, 126, 127})
#: Types written row by row between the strided columns: their least and greatest values and some between, of odd and
#: even scales.
PACKED = [
    *[
        (ColumnType.decimal(precision, scale), pa.decimal128(precision, scale), _decimals(precision, scale))
        for precision, scale in [(1, 1), (5, 0), (8, 3), (16, 2), (17, 17), (31, 7), (32, 0), (32, 32)]
    ],
    (ColumnType.datetime("YEAR TO FRACTION(5)"), pa.timestamp("us"), _moments(10)),
    (ColumnType.datetime("YEAR TO SECOND"), pa.timestamp("s"), _moments(10**6)),
    (ColumnType.datetime("HOUR TO SECOND"), pa.time32("s"), lambda rng: _moments(10**6)(rng).time()),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("text", [False, True])
def test_tails_of_every_length_up_to_two_blocks_are_the_same_bytes(packed: bool, text: bool) -> None:
    """The columns also begin at odd offsets. The bytes equal those of the Python encoder."""
    rng = random.Random(packed * 2 + text)
    # Blocks are for rows of mostly strided columns.
    strided = NARROW * (5 if packed else 1)
    picked = [*strided, *PACKED * packed, *OTHERS[:1] * text, *strided]
    types = [ct for ct, _, _ in picked]
    values = [[None if row in EDGES else draw(rng) for row in range(129)] for _, _, draw in picked]
    names = [f"c{k}" for k in range(len(picked))]
    whole = pa.record_batch(
        [pa.array(column, arrow) for column, (_, arrow, _) in zip(values, picked, strict=True)], names
    )
    columns = [Column(name, ct) for name, ct in zip(names, types, strict=True)]
    wire = [encode_tuple(row, columns, "utf-8") for row in zip(*values, strict=True)]
    for rows in range(130):
        batch = whole.slice(min(rows % 5, 129 - rows), rows)
        wanted = pieces(types, batch, budget=1 << 20, framing=TUPLE, blocks=False)
        assert pieces(types, batch, budget=1 << 20, framing=TUPLE) == wanted
    encoder = Encoder([plan_op(ct).as_tuple() for ct in types], names)
    encoder.load(*whole.__arrow_c_array__())
    assert payloads(encoder, 1 << 20, TUPLE) == wire
