"""Decoding alone, without server or socket: 1,000,000 tuples of INT, VARCHAR(64), INT, FLOAT, DATE, 38 bytes each.

Side by side in one run: our C decoder, a plain memcpy of the same bytes (the floor) and informix-driver's row decoder
(a Python function that it generates per result), called as a black box and on fewer rows. `extra_info` has nanoseconds
per row and MB/s of wire, median and interquartile range. See benchmarks/README.md.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow._decode import FULL, NEED_MORE, Decoder
from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.types import ColumnType

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


def report(benchmark: BenchmarkFixture, rows: int, wire_bytes: int) -> None:
    stats: Any = benchmark.stats
    median, spread = stats.stats.median, stats.stats.iqr
    benchmark.extra_info["ns_per_row"] = round(median / rows * 1e9, 1)
    benchmark.extra_info["ns_per_row_iqr"] = round(spread / rows * 1e9, 1)
    benchmark.extra_info["mb_per_s"] = round(wire_bytes / median / 1e6)
    benchmark.extra_info["rows"] = rows


def decode(data: bytes, take: Callable[[Decoder], object]) -> int:
    """As the client does it: whole receive buffers, a batch taken whenever one is full. Returns the rows."""
    ops = [op.as_tuple() for op in PLAN.ops]
    names = [column.name for column in COLUMNS]
    decoder = Decoder(ops, names, batch_rows=1 << 30, batch_bytes=BATCH_BYTES, max_tuple=PLAN.max_tuple)
    position, end = 0, 0
    while end < len(data):
        end = min(position + RECEIVE_BUFFER, len(data))
        status = FULL
        while status == FULL:
            position, status = decoder.feed(data, position, end)
            if status == FULL:
                take(decoder)
        assert status == NEED_MORE
    take(decoder)
    return decoder.total_rows


def test_codec_decode_c_batches_dropped(benchmark: BenchmarkFixture, wire: bytes) -> None:
    """Streaming: each batch is dropped before the next, and its memory used again."""
    rows = benchmark.pedantic(decode, args=(wire, lambda d: d.take()), rounds=15, warmup_rounds=2)
    assert rows == ROWS
    report(benchmark, ROWS, len(wire))


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
    report(benchmark, ROWS, len(wire))


def test_codec_memcpy_of_the_same_bytes(benchmark: BenchmarkFixture, wire: bytes) -> None:
    target = memoryview(bytearray(len(wire)))

    def copy() -> None:
        target[:] = wire

    benchmark.pedantic(copy, rounds=15, warmup_rounds=2)
    report(benchmark, ROWS, len(wire))


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
    report(benchmark, DRIVER_ROWS, len(tuples(DRIVER_ROWS)))


def test_codec_informix_driver_row_function_alone(benchmark: BenchmarkFixture, driver: Any) -> None:
    """Only the generated function, on payloads that are cut out already: the best that it can do."""
    row_decoder = driver[-1]
    assert row_decoder is not None
    data = tuples(DRIVER_ROWS)
    payloads, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from(">i", data, at + 4)
        payloads.append(data[at + 8 : at + 8 + size])
        at += 8 + size + (size & 1)

    def rows() -> list[tuple[object, ...]]:
        return [row_decoder(payload, 0, "utf-8") for payload in payloads]

    result = benchmark.pedantic(rows, rounds=7, warmup_rounds=1)
    assert result[-1][0] == DRIVER_ROWS - 1
    report(benchmark, DRIVER_ROWS, len(data))
