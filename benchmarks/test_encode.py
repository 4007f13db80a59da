"""What the C encoder costs per row and per value: `pytest benchmarks/test_encode.py`.

The row is the project's yardstick: INT, VARCHAR(64), INT, FLOAT, DATE (51 bytes as an SQ_PUT, 87 as a bind row with
its SQ_ID and SQ_EXECUTE), encoded in pieces of 1 MiB as a load sends them and the server's fetches do. Beside it, in
the same run, a copy of the same bytes and the Python reference. Where the row is one column, a figure is the cost of a
value with 8 bytes of frame.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from informix_arrow._encode import Encoder
from informix_arrow.wire.bind_values import bind_value
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column
from informix_arrow.wire.messages import Bind
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, arrow_type_of_op, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

ROWS = 100_000
REFERENCE_ROWS = 2_000
BUDGET = 1 << 20
TUPLE, PUT, BIND = 0, 1, 2
HEAD, TAIL = bytes.fromhex("00040003"), bytes.fromhex("0007000c")
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


def pieces_of(encoder: Encoder, batch: pa.RecordBatch, framing: int) -> list[bytes]:
    head, tail = (HEAD, TAIL) if framing == BIND else (b"", b"")
    encoder.load(*batch.__arrow_c_array__())
    pieces = []
    while encoder.remaining:
        pieces.append(encoder.encode(BUDGET, framing, head, tail)[0])
    return pieces


def encode_all(encoder: Encoder, batch: pa.RecordBatch, framing: int) -> int:
    """As a load does it: a piece is given away before the next is made."""
    head, tail = (HEAD, TAIL) if framing == BIND else (b"", b"")
    encoder.load(*batch.__arrow_c_array__())
    size = 0
    while encoder.remaining:
        size += len(encoder.encode(BUDGET, framing, head, tail)[0])
    return size


def run(
    benchmark: Any, subject: str, who: str, work: Callable[[], int], rows: int = ROWS, rounds: int = 15
) -> None:
    """Time ``work``, which returns the bytes that it made of ``rows`` rows."""
    benchmark.group = subject
    size = benchmark.pedantic(work, rounds=rounds, warmup_rounds=2)
    if benchmark.stats is None:  # --benchmark-disable
        return
    stats = benchmark.stats.stats
    benchmark.extra_info.update(
        subject=subject,
        who=who,
        rows=rows,
        ns_per_row=stats.median / rows * 1e9,
        ns_per_row_iqr=stats.iqr / rows * 1e9,
        bytes_per_row=round(size / rows, 1),
        mb_per_s=round(size / stats.median / 1e6),
    )


# ---- the row of a load -------------------------------------------------------------------------------------

FRAMINGS = {"tuple": TUPLE, "put": PUT, "bind": BIND}
ROW = "encode rows of INT, VARCHAR(64), INT, FLOAT, DATE"


def yardstick_encoder(batch: pa.RecordBatch) -> Encoder:
    return Encoder([plan_op(ct).as_tuple() for ct in ROW_TYPES], batch.schema.names)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_encode_the_yardstick_row(benchmark: Any, framing: str) -> None:
    batch = yardstick()
    encoder = yardstick_encoder(batch)
    run(benchmark, ROW, f"C, {framing}", lambda: encode_all(encoder, batch, FRAMINGS[framing]))


@pytest.mark.parametrize("framing", FRAMINGS)
def test_copy_the_same_bytes(benchmark: Any, framing: str) -> None:
    batch = yardstick()
    pieces = pieces_of(yardstick_encoder(batch), batch, FRAMINGS[framing])
    run(benchmark, ROW, f"memcpy, {framing}", lambda: sum(len(bytearray(piece)) for piece in pieces))


@pytest.mark.parametrize("framing", ["tuple", "bind"])
def test_encode_the_yardstick_row_in_python(benchmark: Any, framing: str) -> None:
    rows = [tuple(row.values()) for row in yardstick().slice(0, REFERENCE_ROWS).to_pylist()]
    columns = [Column(name, ct) for name, ct in zip("avbfd", ROW_TYPES, strict=True)]
    wire = Framing(encoding="utf-8")

    def tuples() -> int:
        return sum(len(encode_tuple(row, columns, "utf-8")) for row in rows)

    def binds() -> int:
        return sum(len(Bind(tuple(bind_value(v, "utf-8") for v in row)).encode(wire)) for row in rows)

    work = binds if framing == "bind" else tuples
    run(benchmark, ROW, f"Python reference, {framing}", work, REFERENCE_ROWS, rounds=10)


def test_encode_100_columns(benchmark: Any) -> None:
    """20 times the yardstick's columns in one row."""
    batch = yardstick().slice(0, ROWS // 20)
    wide = pa.record_batch(batch.columns * 20, [f"c{number}" for number in range(100)])
    encoder = Encoder([plan_op(ct).as_tuple() for ct in ROW_TYPES] * 20, wide.schema.names)
    run(
        benchmark,
        "encode rows of 100 columns",
        "C, tuple",
        lambda: encode_all(encoder, wide, TUPLE),
        wide.num_rows,
    )


# ---- single columns ----------------------------------------------------------------------------------------


def interval(text: str) -> ColumnType:
    return ColumnType(14, Qualifier.parse(text, interval=True).encoded)


def column(ct: ColumnType, options: TypeOptions) -> pa.Array:
    op = plan_op(ct, options)
    arrow = arrow_type_of_op(op)
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
    if pa.types.is_fixed_size_binary(arrow):
        return pa.array([bytes(16) + int(n).to_bytes(4, "big") + bytes(36) for n in range(ROWS)], arrow)
    if pa.types.is_binary(arrow):
        return pa.array([bytes([n % 251]) * 72 for n in range(ROWS)], arrow)
    if arrow == pa.month_day_nano_interval():
        nanos = random.integers(0, 86_400_000, ROWS)
        return pa.array([pa.MonthDayNano([0, int(n) % 99, int(n) * 1_000_000]) for n in nanos], arrow)
    top = {"time32[s]": 86_400, "duration[us]": 86_400_000, "int16": 30_000, "date32[day]": 20_000}.get(
        str(arrow), 2_000_000_000
    )
    width = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[arrow.bit_width]
    values = random.integers(0, 9_999 if op.kind == Kind.INTERVAL_MONTHS else top, ROWS)
    return pa.array(values * (1000 if str(arrow) == "duration[us]" else 1), width).view(arrow)


DEFAULT = TypeOptions()
KINDS: dict[str, tuple[ColumnType, TypeOptions]] = {
    "SMALLINT": (ColumnType.smallint(), DEFAULT),
    "INTEGER": (ColumnType.integer(), DEFAULT),
    "BIGINT": (ColumnType.bigint(), DEFAULT),
    "INT8": (ColumnType.int8(), DEFAULT),
    "FLOAT": (ColumnType.float_(), DEFAULT),
    "DATE": (ColumnType.date(), DEFAULT),
    "BOOLEAN": (ColumnType.boolean(), DEFAULT),
    "CHAR(30)": (ColumnType.char(30), DEFAULT),
    "VARCHAR(30)": (ColumnType.varchar(30), DEFAULT),
    "LVARCHAR(200)": (ColumnType.lvarchar(200), DEFAULT),
    "DECIMAL(16,2)": (ColumnType.decimal(16, 2), DEFAULT),
    "DECIMAL(10,0) from int64": (ColumnType.decimal(10, 0), TypeOptions(integer_aggregates=True)),
    "DECIMAL(16) from float64": (ColumnType.decimal(16), DEFAULT),
    "DECIMAL(16) from text": (ColumnType.decimal(16), TypeOptions(floating_decimals="string")),
    "DATETIME YEAR TO SECOND": (ColumnType.datetime("YEAR TO SECOND"), DEFAULT),
    "DATETIME YEAR TO FRACTION(3)": (ColumnType.datetime("YEAR TO FRACTION(3)"), DEFAULT),
    "DATETIME HOUR TO SECOND": (ColumnType.datetime("HOUR TO SECOND"), DEFAULT),
    "INTERVAL YEAR(4) TO MONTH": (interval("YEAR(4) TO MONTH"), DEFAULT),
    "INTERVAL DAY(4) TO FRACTION(3)": (interval("DAY(4) TO FRACTION(3)"), DEFAULT),
    "INTERVAL DAY(4) TO FRACTION(3) from month_day_nano": (
        interval("DAY(4) TO FRACTION(3)"),
        TypeOptions(intervals="month_day_nano"),
    ),
    "BYTE, its descriptor": (ColumnType(11, 56), DEFAULT),
    "BLOB, its locator": (ColumnType(41, 72, extended_id=10, extended_name="blob"), DEFAULT),
}
TEXT_FORMS = {
    "string_view": pa.string_view(),
    "large_utf8": pa.large_utf8(),
    "dictionary": pa.dictionary(pa.int32(), pa.utf8()),
}


@cache
def single(ct: ColumnType, options: TypeOptions) -> tuple[Encoder, pa.RecordBatch, PlanOp]:
    op = plan_op(ct, options)
    return Encoder([op.as_tuple()], ["c"]), pa.record_batch([column(ct, options)], ["c"]), op


@pytest.mark.parametrize("name", KINDS)
def test_encode_one_column(benchmark: Any, name: str) -> None:
    encoder, batch, _ = single(*KINDS[name])
    run(benchmark, f"encode {name}", "C", lambda: encode_all(encoder, batch, TUPLE))


@pytest.mark.parametrize("name", [name for name in KINDS if "BLOB" not in name and "BYTE" not in name])
def test_bind_one_column(benchmark: Any, name: str) -> None:
    encoder, batch, _ = single(*KINDS[name])
    run(benchmark, f"encode {name}", "C, bind", lambda: encode_all(encoder, batch, BIND))


@pytest.mark.parametrize("name", KINDS)
def test_copy_the_bytes_of_one_column(benchmark: Any, name: str) -> None:
    encoder, batch, _ = single(*KINDS[name])
    pieces = pieces_of(encoder, batch, TUPLE)
    run(benchmark, f"encode {name}", "memcpy", lambda: sum(len(bytearray(piece)) for piece in pieces))


@pytest.mark.parametrize("name", KINDS)
def test_encode_one_column_in_python(benchmark: Any, name: str) -> None:
    ct, options = KINDS[name]
    _, batch, _ = single(ct, options)
    rows = [(value,) for value in batch.column(0).slice(0, REFERENCE_ROWS).to_pylist()]
    columns = [Column("c", ct)]

    def reference() -> int:
        return sum(len(encode_tuple(row, columns, "utf-8", options)) for row in rows)

    run(benchmark, f"encode {name}", "Python reference", reference, REFERENCE_ROWS, rounds=5)


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_encode_varchar_from_another_arrow_form(benchmark: Any, form: str) -> None:
    ct = ColumnType.varchar(30)
    encoder, batch, _ = single(ct, DEFAULT)
    texts = batch.column(0)
    cast = texts.dictionary_encode() if form == "dictionary" else texts.cast(TEXT_FORMS[form])
    given = pa.record_batch([cast], ["c"])
    run(benchmark, f"encode VARCHAR(30) from {form}", "C", lambda: encode_all(encoder, given, TUPLE))


def test_bind_contents_of_10_kb(benchmark: Any) -> None:
    batch = pa.record_batch([pa.array([bytes(10_000)] * 1000)], ["c"])
    encoder = Encoder([(int(Kind.LOB), 56, 11, 0)], ["c"])
    subject = "encode BYTE contents of 10 kB"
    run(benchmark, subject, "C, bind", lambda: encode_all(encoder, batch, BIND), 1000)
