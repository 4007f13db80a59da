"""Rows encoded by blocks are the same bytes as row by row, and what is wrong with one is said the same."""

from __future__ import annotations

import datetime as dt
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from informix_arrow._encode import Encoder
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.types import ColumnType, plan_op
from informix_arrow.wire.values import encode_tuple

from .encoding import PUT, TUPLE, payloads

#: Column types, their Arrow types and how to draw a value: the narrow ones are written by blocks.
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


def pieces(
    types: list[ColumnType], batch: pa.RecordBatch, *, budget: int, framing: int, blocks: bool
) -> list[object]:
    """What each call of encode() gives, an error in its place."""
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
    st.lists(st.sampled_from(range(len(NARROW))), min_size=1, max_size=9),
    st.lists(st.sampled_from(range(len(OTHERS))), max_size=3),
    st.integers(0, 300),
    st.integers(0, 9),
    st.sampled_from([0, 0.1, 1]),
    st.sampled_from([0, 100, 3000, 1 << 20]),
    st.sampled_from([TUPLE, PUT]),
    st.integers(0),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
    assert pieces(types, batch, budget=budget, framing=framing, blocks=True) == wanted
    if rows and budget:
        columns = [Column(f"c{k}", ct) for k, ct in enumerate(types)]
        encoder = Encoder([plan_op(ct).as_tuple() for ct in types], batch.schema.names)
        encoder.load(*batch.__arrow_c_array__())
        tuples = payloads(encoder, budget, framing)
        for row in {0, rows // 2, rows - 1}:
            value = [column[offset + row] for column in values]
            assert tuples[row] == encode_tuple(value, columns, "utf-8")


@pytest.mark.parametrize("row", [0, 7, 40, 63, 64, 100, 199])
@pytest.mark.parametrize(
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
    found = pieces(types, batch, budget=1 << 20, framing=TUPLE, blocks=True)
    assert found == pieces(types, batch, budget=1 << 20, framing=TUPLE, blocks=False)
    assert found[-1][1:] == (row, "b")  # type: ignore[index]


def test_numbers_that_wire_reads_as_null_and_days_out_of_range_are_what_they_are_row_by_row() -> None:
    """NaN of all ones is NULL on the wire; a DATE ends with the year 9999."""
    ones = np.full(100, -1, np.int64).view(np.float64)
    singles = np.full(100, -1, np.int32).view(np.float32)
    days = pa.array([2932896 + (row == 70) for row in range(100)], pa.int32()).cast(pa.date32())
    types = [ColumnType.float_(), ColumnType.smallfloat(), ColumnType.date()]
    batch = pa.record_batch([pa.array(ones), pa.array(singles), days], ["f", "s", "d"])
    found = pieces(types, batch, budget=1 << 20, framing=PUT, blocks=True)
    assert found == pieces(types, batch, budget=1 << 20, framing=PUT, blocks=False)
    assert len(found) == 2
    assert found[1][1:] == (70, "d")  # type: ignore[index]
