"""Decoding alone, without server or socket.

A realistic row: 1,000,000 tuples of INT, VARCHAR(64), INT, FLOAT, DATE, 38 bytes each. Side by side in one run: our C
decoder, a plain memcpy of the same bytes (the floor) and informix-driver's row decoder (a Python function that it
generates per result), called as a black box and on fewer rows. `extra_info` has nanoseconds per row and MB/s of wire,
median and interquartile range.

Each type by itself (`test_type_*`): rows of 8 columns of one type, so that the cost of a row is shared; the C decoder,
a memcpy of the same bytes, and the plain Python reference on fewer rows. `extra_info` has nanoseconds per value, and
the goal where there is one. See benchmarks/README.md.
"""

from __future__ import annotations

import datetime as dt
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow._decode import FULL, NEED_MORE, Decoder
from informix_arrow.wire.describe import Column, Plan, compile_plan
from informix_arrow.wire.plan_ops import DEFAULT_OPTIONS, TypeOptions
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

ROWS = 1_000_000
DRIVER_ROWS = 50_000
BATCH_BYTES = 16 << 20
RECEIVE_BUFFER = 1 << 20

COLUMNS = [
    Column("k", ColumnType.integer()),
    Column("name", ColumnType.varchar(64)),
    Column("n", ColumnType.integer()),
    Column("x", ColumnType.float_()),
    Column("d", ColumnType.date()),
]
PLAN = compile_plan(COLUMNS)
ROW = "rows of INT, VARCHAR(64), INT, FLOAT, DATE"


def tuples(rows: int) -> bytes:
    """The SQ_TUPLE messages of a reply; names are 7 to 11 bytes long, 9 on average, none is NULL."""
    out = bytearray()
    for i in range(rows):
        name = b"customer-%d" % i
        name = name[-(7 + i % 5) :]
        payload = struct.pack(f">iB{len(name)}sidi", i, len(name), name, -i, i / 8, 45_000 + i % 1000)
        out += struct.pack(">hhi", 14, 0, len(payload)) + payload + b"\x00" * (len(payload) & 1)
    return bytes(out)


@pytest.fixture(scope="module")
def wire() -> bytes:
    data = tuples(ROWS)
    assert 37 <= len(data) / ROWS <= 39
    return data


def report(
    benchmark: BenchmarkFixture, who: str, rows: int, wire_bytes: int, subject: str = "decode " + ROW
) -> None:
    stats: Any = benchmark.stats
    median, spread = stats.stats.median, stats.stats.iqr
    benchmark.extra_info["ns_per_row"] = round(median / rows * 1e9, 1)
    benchmark.extra_info["ns_per_row_iqr"] = round(spread / rows * 1e9, 1)
    benchmark.extra_info["mb_per_s"] = round(wire_bytes / median / 1e6)
    benchmark.extra_info["rows"] = rows
    benchmark.extra_info.update(subject=subject, who=who)


def new_decoder(columns: Sequence[Column] = COLUMNS, plan: Plan = PLAN) -> Decoder:
    return Decoder(
        [op.as_tuple() for op in plan.ops],
        [column.name for column in columns],
        batch_rows=1 << 30,
        batch_bytes=BATCH_BYTES,
        max_tuple=plan.max_tuple,
    )


def feed(
    decoder: Decoder, data: bytes | bytearray, start: int, end: int, take: Callable[[Decoder], object]
) -> int:
    """Decode the whole tuples of ``data[start:end]``, a batch taken whenever one is full; where the rest begins."""
    status = FULL
    while status == FULL:
        start, status = decoder.feed(data, start, end)
        if status == FULL:
            take(decoder)
    assert status == NEED_MORE
    return start


def decode(
    data: bytes,
    take: Callable[[Decoder], object],
    columns: Sequence[Column] = COLUMNS,
    plan: Plan = PLAN,
) -> int:
    """As the client does it: whole receive buffers. Returns the rows."""
    decoder = new_decoder(columns, plan)
    position, end = 0, 0
    while end < len(data):
        end = min(position + RECEIVE_BUFFER, len(data))
        position = feed(decoder, data, position, end, take)
    take(decoder)
    return decoder.total_rows


def payloads_of(data: bytes) -> list[bytes]:
    """The tuples that are in SQ_TUPLE messages."""
    payloads, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from(">i", data, at + 4)
        payloads.append(data[at + 8 : at + 8 + size])
        at += 8 + size + (size & 1)
    return payloads


def test_codec_decode_c_batches_dropped(benchmark: BenchmarkFixture, wire: bytes) -> None:
    """Streaming: each batch is dropped before the next, and its memory used again."""
    rows = benchmark.pedantic(decode, args=(wire, lambda d: d.take()), rounds=15, warmup_rounds=2)
    assert rows == ROWS
    report(benchmark, "C, batches dropped", ROWS, len(wire))


def test_codec_decode_c_batches_kept(benchmark: BenchmarkFixture, wire: bytes) -> None:
    """As read_arrow: all batches are kept, so that all memory is fresh (page faults are part of the figure)."""

    def keep() -> pa.Table:
        batches: list[pa.RecordBatch] = []

        def take(decoder: Decoder) -> None:
            schema = PLAN.schema.__arrow_c_schema__()
            batches.append(pa.RecordBatch._import_from_c_capsule(schema, decoder.take()))

        decode(wire, take)
        return pa.Table.from_batches(batches)

    table = benchmark.pedantic(keep, rounds=15, warmup_rounds=2)
    assert table.num_rows == ROWS
    assert table.column("k").to_pylist()[-1] == ROWS - 1
    report(benchmark, "C, batches kept", ROWS, len(wire))


@pytest.mark.parametrize("who", ["C, batches dropped", "memcpy of the same bytes", "Python reference"])
def test_codec_100_columns(benchmark: BenchmarkFixture, who: str) -> None:
    """Rows of 20 of the rows above side by side."""
    rows = 500 if who == "Python reference" else ROWS // 20
    payload = b"".join(payloads_of(tuples(20)))
    data = wire_of([payload]) * rows
    columns = [Column(f"c{number}", COLUMNS[number % 5].type) for number in range(100)]
    plan = compile_plan(columns)
    target = memoryview(bytearray(len(data)))

    def copy() -> None:
        target[:] = data

    works: dict[str, Callable[[], object]] = {
        "C, batches dropped": lambda: decode(data, lambda decoder: decoder.take(), columns, plan),
        "memcpy of the same bytes": copy,
        "Python reference": lambda: [decode_tuple(payload, columns, "utf-8") for _ in range(rows)],
    }
    result = benchmark.pedantic(works[who], rounds=10, warmup_rounds=2)
    assert result is None or (result if isinstance(result, int) else len(result)) == rows
    report(benchmark, who, rows, len(data), "decode rows of 100 columns")


def test_codec_memcpy_of_the_same_bytes(benchmark: BenchmarkFixture, wire: bytes) -> None:
    target = memoryview(bytearray(len(wire)))

    def copy() -> None:
        target[:] = wire

    benchmark.pedantic(copy, rounds=15, warmup_rounds=2)
    report(benchmark, "memcpy of the same bytes", ROWS, len(wire))


@pytest.fixture(scope="module")
def driver() -> Any:
    """informix-driver's modules, its column descriptions and its generated row decoder."""
    resultset = pytest.importorskip("informix_db._resultset")
    protocol = pytest.importorskip("informix_db._protocol")
    columns = [
        resultset.ColumnInfo(column.name, column.type.code, column.type.code, column.type.encoded_length)
        for column in COLUMNS
    ]
    readers = resultset.compile_column_readers(columns)
    return resultset, protocol, columns, readers, resultset.compile_row_decoder(readers, columns)


def test_codec_informix_driver_tuples(benchmark: BenchmarkFixture, wire: bytes, driver: Any) -> None:
    """Its whole way from the message to a row of Python objects."""
    resultset, protocol, columns, readers, row_decoder = driver

    def rows() -> list[tuple[object, ...]]:
        reader = protocol.IfxStreamReader(BytesIO(wire))
        out = []
        for _ in range(DRIVER_ROWS):
            reader.read_short()
            out.append(resultset.parse_tuple_payload(reader, columns, "utf-8", readers, row_decoder))
        return out

    result = benchmark.pedantic(rows, rounds=7, warmup_rounds=1)
    assert result[-1][0] == DRIVER_ROWS - 1
    report(benchmark, "informix-driver, from message to tuple", DRIVER_ROWS, len(tuples(DRIVER_ROWS)))


def test_codec_informix_driver_row_function_alone(benchmark: BenchmarkFixture, driver: Any) -> None:
    """Only the generated function, on payloads that are cut out already: the best that it can do."""
    row_decoder = driver[-1]
    assert row_decoder is not None
    data = tuples(DRIVER_ROWS)
    payloads = payloads_of(data)

    def rows() -> list[tuple[object, ...]]:
        return [row_decoder(payload, 0, "utf-8") for payload in payloads]

    result = benchmark.pedantic(rows, rounds=7, warmup_rounds=1)
    assert result[-1][0] == DRIVER_ROWS - 1
    report(benchmark, "informix-driver, its row function alone", DRIVER_ROWS, len(data))


# ---- one type at a time

TYPE_COLUMNS = 8
TYPE_ROWS = (
    20_000  # of which every 2,500th is the first again: about 1 to 6 MB, more than the caches near the core
)
DISTINCT_ROWS = 2_500
REFERENCE_ROWS = 500

Draw = Callable[[random.Random], object]


@dataclass(frozen=True)
class TypeCase:
    """One type to measure: what its columns hold, and the goal in ns per value, if there is one."""

    type: ColumnType
    draw: Draw
    goal: float | None = None
    options: TypeOptions = DEFAULT_OPTIONS


def moment(rng: random.Random) -> dt.datetime:
    seconds, fraction = rng.randrange(3_000_000_000), rng.randrange(10**5) * 10
    return dt.datetime(1950, 1, 1) + dt.timedelta(seconds=seconds, microseconds=fraction)


def text(most: int, letters: str = "abcdefghijk lmnop") -> Draw:
    """1 to `most` bytes, the last no blank."""
    return lambda rng: "".join(rng.choice(letters) for _ in range(rng.randrange(most))) + "x"


def number(digits: int, scale: int) -> Draw:
    """Of either sign and any length, as amounts are."""
    return lambda rng: Decimal(
        rng.randrange(-(10**digits) + 1, 10**digits) // 10 ** rng.randrange(digits - 2)
    ).scaleb(-scale)


def interval(qualifier: str) -> ColumnType:
    return ColumnType(14, Qualifier.parse(qualifier, interval=True).encoded)


def duration(rng: random.Random) -> dt.timedelta:
    return dt.timedelta(seconds=rng.randrange(-8_000_000, 8_000_001))


TYPE_CASES: dict[str, TypeCase] = {
    "SMALLINT": TypeCase(ColumnType.smallint(), lambda rng: rng.randrange(-32767, 32768), 4),
    "INTEGER": TypeCase(ColumnType.integer(), lambda rng: rng.randrange(-(2**31) + 1, 2**31), 4),
    "BIGINT": TypeCase(ColumnType.bigint(), lambda rng: rng.randrange(-(2**63) + 1, 2**63), 4),
    "INT8": TypeCase(ColumnType.int8(), lambda rng: rng.randrange(-(2**63) + 1, 2**63), 4),
    "FLOAT": TypeCase(ColumnType.float_(), lambda rng: rng.uniform(-1e9, 1e9), 4),
    "SMALLFLOAT": TypeCase(ColumnType.smallfloat(), lambda rng: float(rng.randrange(-(2**24), 2**24)), 4),
    "DATE": TypeCase(ColumnType.date(), lambda rng: moment(rng).date(), 4),
    "BOOLEAN": TypeCase(ColumnType.boolean(), lambda rng: rng.random() < 0.5),
    "CHAR(8)": TypeCase(ColumnType.char(8), text(8), 12),
    "CHAR(32)": TypeCase(ColumnType.char(32), text(32), 12),
    "VARCHAR(16)": TypeCase(ColumnType.varchar(16), text(16), 12),
    "VARCHAR(32)": TypeCase(ColumnType.varchar(32), text(32), 12),
    "VARCHAR(32) with umlauts": TypeCase(ColumnType.varchar(32), text(20, "abcdefghiäöü"), 12),
    "LVARCHAR(32)": TypeCase(ColumnType.lvarchar(32), text(32), 12),
    "DECIMAL(8,2)": TypeCase(ColumnType.decimal(8, 2), number(8, 2), 15),
    "DECIMAL(16,2)": TypeCase(ColumnType.decimal(16, 2), number(16, 2), 15),
    "DECIMAL(16,3)": TypeCase(ColumnType.decimal(16, 3), number(13, 3)),
    "DECIMAL(32,4)": TypeCase(ColumnType.decimal(32, 4), number(30, 4)),
    "DECIMAL(16) as float64": TypeCase(ColumnType.decimal(16), number(12, 4)),
    "DECIMAL(15,0) as int64": TypeCase(
        ColumnType.decimal(15, 0), number(9, 0), options=TypeOptions(integer_aggregates=True)
    ),
    "DATETIME YEAR TO DAY": TypeCase(ColumnType.datetime("YEAR TO DAY"), lambda rng: moment(rng).date(), 20),
    "DATETIME YEAR TO SECOND": TypeCase(
        ColumnType.datetime("YEAR TO SECOND"), lambda rng: moment(rng).replace(microsecond=0), 20
    ),
    "DATETIME YEAR TO FRACTION(5)": TypeCase(ColumnType.datetime("YEAR TO FRACTION(5)"), moment, 20),
    "DATETIME HOUR TO SECOND": TypeCase(
        ColumnType.datetime("HOUR TO SECOND"), lambda rng: moment(rng).time().replace(microsecond=0), 20
    ),
    "DATETIME MONTH TO DAY": TypeCase(
        ColumnType.datetime("MONTH TO DAY"), lambda rng: f"{moment(rng):%m-%d}"
    ),
    "INTERVAL YEAR TO MONTH": TypeCase(
        interval("YEAR(4) TO MONTH"), lambda rng: rng.randrange(-99999, 100000)
    ),
    "INTERVAL DAY TO SECOND": TypeCase(interval("DAY(2) TO SECOND"), duration, 20),
    "INTERVAL DAY(9) TO FRACTION(5)": TypeCase(
        interval("DAY(9) TO FRACTION(5)"),
        lambda rng: duration(rng) * 50 + dt.timedelta(microseconds=rng.randrange(10**5) * 10),
    ),
    "BYTE descriptor": TypeCase(ColumnType(11, 56), lambda rng: rng.randbytes(32) + bytes(24)),
}


@cache
def type_columns(name: str) -> list[Column]:
    return [Column(f"c{i}", TYPE_CASES[name].type) for i in range(TYPE_COLUMNS)]


@cache
def type_payloads(name: str) -> list[bytes]:
    """The distinct tuples; a twentieth of the values is NULL."""
    rng, draw = random.Random(name), TYPE_CASES[name].draw
    rows = (
        [None if rng.random() < 0.05 else draw(rng) for _ in range(TYPE_COLUMNS)]
        for _ in range(DISTINCT_ROWS)
    )
    return [encode_tuple(row, type_columns(name), "utf-8", TYPE_CASES[name].options) for row in rows]


def wire_of(payloads: list[bytes]) -> bytes:
    """The tuples as messages."""
    return b"".join([struct.pack(">hhi", 14, 0, len(p)) + p + b"\0" * (len(p) & 1) for p in payloads])


@cache
def type_wire(name: str) -> bytes:
    return wire_of(type_payloads(name)) * (TYPE_ROWS // DISTINCT_ROWS)


def report_type(benchmark: BenchmarkFixture, who: str, name: str, rows: int) -> None:
    stats: Any = benchmark.stats
    values = rows * TYPE_COLUMNS
    benchmark.extra_info.update(subject=f"decode {name}", who=who, rows=values)
    benchmark.extra_info["ns_per_row"] = (
        stats.stats.median / values * 1e9
    )  # a row of the report is a value here
    benchmark.extra_info["ns_per_value"] = round(stats.stats.median / values * 1e9, 2)
    benchmark.extra_info["ns_per_value_min"] = round(stats.stats.min / values * 1e9, 2)
    benchmark.extra_info["ns_per_value_iqr"] = round(stats.stats.iqr / values * 1e9, 2)
    benchmark.extra_info["wire_bytes_per_value"] = round(len(type_wire(name)) / TYPE_ROWS / TYPE_COLUMNS, 1)
    if TYPE_CASES[name].goal is not None:
        benchmark.extra_info["goal_ns_per_value"] = TYPE_CASES[name].goal


@pytest.mark.parametrize("name", TYPE_CASES)
def test_type_decode_c(benchmark: BenchmarkFixture, name: str) -> None:
    """Streaming: one receive buffer with all rows, one batch, whose memory is used again."""
    benchmark.group = name
    columns, case, wire = type_columns(name), TYPE_CASES[name], type_wire(name)
    plan = compile_plan(columns, case.options)
    decoder = Decoder(
        [op.as_tuple() for op in plan.ops],
        [column.name for column in columns],
        batch_rows=1 << 30,
        batch_bytes=1 << 30,
        max_tuple=plan.max_tuple,
    )

    def feed() -> int:
        assert decoder.feed(wire, 0, len(wire)) == (len(wire), NEED_MORE)
        rows = decoder.rows
        decoder.take()
        return rows

    assert benchmark.pedantic(feed, rounds=40, warmup_rounds=3) == TYPE_ROWS
    report_type(benchmark, "C", name, TYPE_ROWS)


@pytest.mark.parametrize("name", TYPE_CASES)
def test_type_memcpy_of_the_same_bytes(benchmark: BenchmarkFixture, name: str) -> None:
    benchmark.group = name
    wire = type_wire(name)
    target = memoryview(bytearray(len(wire)))

    def copy() -> None:
        target[:] = wire

    benchmark.pedantic(copy, rounds=40, warmup_rounds=3)
    report_type(benchmark, "memcpy", name, TYPE_ROWS)


@pytest.mark.parametrize("name", TYPE_CASES)
def test_type_python_reference(benchmark: BenchmarkFixture, name: str) -> None:
    """wire/values.py: one Python object per value."""
    benchmark.group = name
    columns, options, payloads = (
        type_columns(name),
        TYPE_CASES[name].options,
        type_payloads(name)[:REFERENCE_ROWS],
    )

    def rows() -> list[tuple[object, ...]]:
        return [decode_tuple(payload, columns, "utf-8", options) for payload in payloads]

    assert len(benchmark.pedantic(rows, rounds=5, warmup_rounds=1)) == REFERENCE_ROWS
    report_type(benchmark, "Python reference", name, REFERENCE_ROWS)
