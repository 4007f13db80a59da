"""What the C encoder costs per row and per value: `pytest benchmarks/test_encode.py`.

The row is the project's yardstick: INT, VARCHAR(64), INT, FLOAT, DATE (51 bytes on the wire here, with its
SQ_TUPLE header), encoded in pieces of 1 MiB as the server does for a fetch. Beside it, in the same run, a
copy of the same bytes. `ns_per_row` is the best round, in the extra info of the report.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from informix_arrow._encode import Encoder
from informix_arrow.wire.types import ColumnType, TypeOptions, arrow_type_of_op, plan_op

ROWS = 100_000
BUDGET = 1 << 20
ROW_TYPES = [
    ColumnType.integer(),
    ColumnType.varchar(64),
    ColumnType.integer(),
    ColumnType.float_(),
    ColumnType.date(),
]


def yardstick() -> pa.RecordBatch:
    random = np.random.default_rng(1)
    return pa.record_batch(
        [
            pa.array(random.integers(-1000, 1000, ROWS), pa.int32()),
            pa.array(["x" * n for n in random.integers(5, 40, ROWS)]),
            pa.array(np.arange(ROWS), pa.int32()),
            pa.array(random.random(ROWS)),
            pa.array(random.integers(0, 20_000, ROWS), pa.int32()).cast(pa.date32()),
        ],
        ["a", "v", "b", "f", "d"],
    )


def encode_all(encoder: Encoder, batch: pa.RecordBatch) -> int:
    encoder.load(*batch.__arrow_c_array__())
    size = 0
    while encoder.remaining:
        size += len(encoder.encode(BUDGET)[0])
    return size


def report(benchmark: Any, size: int) -> None:
    if benchmark.stats is None:  # --benchmark-disable
        return
    best = benchmark.stats.stats.min
    benchmark.extra_info["ns_per_row"] = round(best / ROWS * 1e9, 1)
    benchmark.extra_info["mb_per_second"] = round(size / best / 1e6)


def test_encode_the_yardstick_row(benchmark: Any) -> None:
    batch = yardstick()
    encoder = Encoder([plan_op(ct).as_tuple() for ct in ROW_TYPES], batch.schema.names)
    report(benchmark, benchmark(encode_all, encoder, batch))


def test_copy_the_same_bytes(benchmark: Any) -> None:
    batch = yardstick()
    encoder = Encoder([plan_op(ct).as_tuple() for ct in ROW_TYPES], batch.schema.names)
    pieces = []
    encoder.load(*batch.__arrow_c_array__())
    while encoder.remaining:
        pieces.append(encoder.encode(BUDGET)[0])
    report(benchmark, benchmark(lambda: sum(len(bytearray(piece)) for piece in pieces)))


def column(ct: ColumnType, options: TypeOptions) -> pa.Array:
    arrow = arrow_type_of_op(plan_op(ct, options))
    random = np.random.default_rng(2)
    if pa.types.is_decimal(arrow):
        unscaled = random.integers(-(10**9), 10**9, ROWS)
        return pa.array([Decimal(int(n)).scaleb(-arrow.scale) for n in unscaled], arrow)
    if pa.types.is_floating(arrow):
        return pa.array(np.round(random.random(ROWS) * 10_000, 3), arrow)
    if pa.types.is_string(arrow) and ct.code != 5:
        return pa.array(["x" * n for n in random.integers(1, 30, ROWS)], arrow)
    if pa.types.is_string(arrow):
        return pa.array([str(n / 1000) for n in random.integers(1, 10**9, ROWS)], arrow)
    if pa.types.is_boolean(arrow):
        return pa.array(random.random(ROWS) < 0.5)
    top = 86_400 if pa.types.is_time(arrow) else 2_000_000_000
    width = pa.int32() if arrow.bit_width == 32 else pa.int64()
    return pa.array(random.integers(0, top, ROWS), width).view(arrow)


KINDS: dict[str, tuple[ColumnType, TypeOptions]] = {
    "CHAR(30)": (ColumnType.char(30), TypeOptions()),
    "LVARCHAR(200)": (ColumnType.lvarchar(200), TypeOptions()),
    "BOOLEAN": (ColumnType.boolean(), TypeOptions()),
    "INT8": (ColumnType.int8(), TypeOptions()),
    "DECIMAL(12,2)": (ColumnType.decimal(12, 2), TypeOptions()),
    "DECIMAL(16) from float64": (ColumnType.decimal(16), TypeOptions()),
    "DECIMAL(16) from text": (ColumnType.decimal(16), TypeOptions(floating_decimals="string")),
    "DATETIME YEAR TO SECOND": (ColumnType.datetime("YEAR TO SECOND"), TypeOptions()),
    "DATETIME HOUR TO SECOND": (ColumnType.datetime("HOUR TO SECOND"), TypeOptions()),
}


@pytest.mark.parametrize("name", KINDS)
def test_encode_one_column(benchmark: Any, name: str) -> None:
    ct, options = KINDS[name]
    batch = pa.record_batch([column(ct, options)], ["c"])
    encoder = Encoder([plan_op(ct, options).as_tuple()], ["c"])
    report(benchmark, benchmark(encode_all, encoder, batch))
