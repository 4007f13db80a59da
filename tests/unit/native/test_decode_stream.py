"""The decoder and the stream: splits at any byte, ends of batches, capsules, permanent errors, threads."""

from __future__ import annotations

import gc
import struct
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.native.decoder_support import (
    END_OF_TURN,
    INTEGER,
    MAX_TUPLE,
    SENTINEL,
    SENTINEL_BYTES,
    decode,
    names,
    new_decoder,
    stream,
    taken,
    tuple_message,
)

from informix_arrow._decode import FULL, NEED_MORE, OTHER, Decoder
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import Kind, PlanOp

VARCHAR = PlanOp(Kind.VARCHAR, 64, 0, 0)
LVARCHAR = PlanOp(Kind.LVARCHAR, 64, 0, 0)
CHAR8 = PlanOp(Kind.CHAR, 8, 0, 1)
BOOL = PlanOp(Kind.BOOL, 6, 0, 0)
DECIMAL = PlanOp(Kind.DECIMAL128, 5, 8 << 8 | 2, 0)


def integer(value: int) -> bytes:
    return struct.pack(">i", value)


def varchar(text: str) -> bytes:
    return bytes([len(text.encode())]) + text.encode()


MIXED = [INTEGER, VARCHAR, BOOL, DECIMAL, INTEGER]
MIXED_PAYLOADS = [
    integer(i)
    + (b"\x01\x00" if i % 3 == 0 else varchar("wörter " * (i % 4)))
    + (b"\x01\x00\x00\x00\x00" if i % 5 == 0 else b"\x00\x00\x00\x00\x01" + b"tf"[i % 2 : i % 2 + 1])
    + bytes.fromhex("c20c223800" if i % 2 else "3d57412c00")
    + SENTINEL_BYTES
    for i in range(7)
]


def test_a_reply_cut_anywhere_gives_the_same_batch() -> None:
    """TCP may deliver the reply in any two pieces. The batch must be the same."""
    reply = stream(MIXED_PAYLOADS)
    (whole,) = decode(MIXED, [reply])
    assert whole.column(4).to_pylist() == [SENTINEL] * len(MIXED_PAYLOADS)
    for cut in range(len(reply) + 1):
        (parts,) = decode(MIXED, [reply[:cut], reply[cut:]])
        assert parts.equals(whole), cut


def test_a_reply_that_arrives_byte_by_byte_gives_the_same_batch() -> None:
    reply = stream(MIXED_PAYLOADS)
    (parts,) = decode(MIXED, [reply[i : i + 1] for i in range(len(reply))])
    assert parts.equals(decode(MIXED, [reply])[0])


def test_every_prefix_yields_exactly_its_whole_tuples() -> None:
    reply = stream(MIXED_PAYLOADS)
    ends = [0]
    for payload in MIXED_PAYLOADS:
        ends.append(ends[-1] + len(tuple_message(payload)))
    for length in range(len(reply)):
        decoder = new_decoder(MIXED)
        position, status = decoder.feed(reply, 0, length)
        whole = max(i for i, end in enumerate(ends) if end <= length)
        assert (position, decoder.rows) == (ends[whole], whole)
        assert status == (NEED_MORE if length < ends[-1] + 2 else OTHER)


def test_no_byte_outside_start_and_end_is_looked_at() -> None:
    """Bytes before and after could be another row, or freed memory."""
    reply = stream(MIXED_PAYLOADS)
    (whole,) = decode(MIXED, [reply])
    for junk in (b"\xff" * 40, stream(MIXED_PAYLOADS)[1:]):
        decoder = new_decoder(MIXED)
        position, status = decoder.feed(junk + reply[:-2] + junk, len(junk), len(junk) + len(reply) - 2)
        assert (position, status) == (len(junk) + len(reply) - 2, NEED_MORE)
        assert taken(decoder, MIXED).equals(whole)


def test_the_last_text_of_the_buffer_may_end_on_its_last_byte() -> None:
    """The 16-byte copy must not be used when fewer bytes remain."""
    for length in range(64):
        text = "x" * length
        decoder = new_decoder([VARCHAR])
        data = tuple_message(varchar(text))
        decoder.feed(data, 0, len(data))
        assert taken(decoder, [VARCHAR]).column(0).to_pylist() == [text]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_like_object_is_taken(kind: type) -> None:
    decoder = new_decoder([INTEGER])
    data = kind(tuple_message(integer(5)))
    assert decoder.feed(data, 0, len(data)) == (12, NEED_MORE)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2), (0, 99), (99, 99), (0, 1 << 80)])
def test_a_range_outside_the_data_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=r"are outside the|cannot fit"):
        new_decoder([INTEGER]).feed(b"1234", start, end)


def test_an_empty_range_needs_more() -> None:
    decoder = new_decoder([INTEGER])
    assert decoder.feed(b"", 0, 0) == (0, NEED_MORE)
    assert decoder.feed(b"abc", 2, 2) == (2, NEED_MORE)


def test_a_result_without_rows_has_a_batch_of_every_type() -> None:
    (batch,) = decode(MIXED, [END_OF_TURN])
    assert batch.num_rows == 0
    assert batch.schema.names == names(MIXED)


def test_a_plan_without_columns_counts_its_empty_tuples() -> None:
    decoder = new_decoder([])
    data = stream([b"", b""])
    assert decoder.feed(data, 0, len(data)) == (16, OTHER)
    assert decoder.rows == 2


# ---- batches


def test_a_batch_is_full_at_batch_rows() -> None:
    reply = stream(integer(i) for i in range(25))
    batches = decode([INTEGER], [reply], batch_rows=10)
    assert [b.num_rows for b in batches] == [10, 10, 5]
    assert pa.Table.from_batches(batches).column(0).to_pylist() == list(range(25))


def test_a_full_decoder_stays_full_until_its_batch_is_taken() -> None:
    decoder = new_decoder([INTEGER], batch_rows=1)
    data = stream([integer(1), integer(2)])
    assert decoder.feed(data, 0, len(data)) == (12, FULL)
    assert decoder.feed(data, 12, len(data)) == (12, FULL)
    decoder.take()
    assert decoder.feed(data, 12, len(data)) == (24, FULL)


def test_a_batch_is_full_at_batch_bytes_of_arrow_data() -> None:
    reply = stream(integer(i) + varchar("x" * 50) for i in range(1000))
    batches = decode([INTEGER, VARCHAR], [reply], batch_bytes=10_000)
    sizes = [b.nbytes for b in batches]
    assert len(batches) > 5
    assert all(9_500 < size < 10_500 for size in sizes[:-1])


def test_a_row_larger_than_batch_bytes_makes_a_batch_of_its_own() -> None:
    reply = stream(integer(i) + varchar("y" * 200) for i in range(3))
    assert [b.num_rows for b in decode([INTEGER, VARCHAR], [reply], batch_bytes=1)] == [1, 1, 1]


@parametrize_in_one_test("rows", [1, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 5000])
@parametrize_in_one_test("pattern", ["none", "all", "third", "last", "first"])
def test_validity_is_right_at_every_word_border(rows: int, pattern: str) -> None:
    def null(i: int) -> bool:
        return {"none": False, "all": True, "third": i % 3 == 0, "last": i == rows - 1, "first": i == 0}[
            pattern
        ]

    payloads = [
        (b"\x80\x00\x00\x00" if null(i) else integer(i))
        + (b"\x01\x00" if null(i) else varchar(str(i)))
        + (b"\x01\x00\x00\x00\x00" if null(i) else b"\x00\x00\x00\x00\x01" + bytes([i % 7 == 0]))
        for i in range(rows)
    ]
    (batch,) = decode([INTEGER, VARCHAR, BOOL], [stream(payloads)])
    wanted = [None if null(i) else i for i in range(rows)]
    assert batch.column(0).to_pylist() == wanted
    assert batch.column(1).to_pylist() == [None if v is None else str(v) for v in wanted]
    assert batch.column(2).to_pylist() == [None if v is None else v % 7 == 0 for v in wanted]
    for column in batch.columns:
        assert column.null_count == wanted.count(None)
        assert (column.buffers()[0] is None) == (wanted.count(None) == 0)


def test_values_under_nulls_are_zero() -> None:
    """Deterministic output: a batch does not contain old bytes of the memory."""
    (batch,) = decode([INTEGER, INTEGER], [stream([integer(-(2**31)) + integer(5)])])
    values = batch.column(0).buffers()[1]
    assert values is not None
    assert values.to_pybytes()[:4] == bytes(4)


def test_a_single_row_costs_little_memory() -> None:
    """Buffers are not reserved for batch_rows rows in advance (a wide table and a one-row query)."""
    ops = [INTEGER, VARCHAR] * 50
    decoder = new_decoder(ops, batch_rows=1 << 24)
    data = tuple_message((integer(1) + varchar("abc")) * 50)
    decoder.feed(data, 0, len(data))
    assert taken(decoder, ops).nbytes < 1 << 20


def test_large_strings_have_64_bit_offsets() -> None:
    op = PlanOp(Kind.LVARCHAR, 64, 0, 4)
    (batch,) = decode([op, INTEGER], [stream([b"\x00\x00\x00\x00\x03abc" + SENTINEL_BYTES] * 70)])
    assert batch.column(0).type == pa.large_utf8()
    assert batch.column(0).to_pylist() == ["abc"] * 70


def test_a_long_text_is_taken_beyond_its_declared_length_up_to_max_tuple() -> None:
    text = "ä" * 40_000
    raw = b"\x00" + struct.pack(">I", len(text.encode())) + text.encode()
    (batch,) = decode([LVARCHAR, INTEGER], [stream([raw + SENTINEL_BYTES])])
    assert batch.column(0).to_pylist() == [text]


# ---- errors


def fails(ops: Sequence[PlanOp], payloads: Sequence[bytes], error: type[Exception], match: str) -> Exception:
    decoder = new_decoder(ops)
    data = stream(payloads)
    with pytest.raises(error, match=match) as caught:
        decoder.feed(data, 0, len(data))
    with pytest.raises(error, match=match):  # permanent: the position in the stream is unknown
        decoder.feed(data, 0, len(data))
    return caught.value


def test_a_tuple_with_bytes_left_over_is_a_protocol_error_that_counts_them() -> None:
    error = fails(
        [INTEGER], [integer(1), integer(2) + b"abc"], ProtocolError, r"3 bytes are left .* tuple of 7"
    )
    assert isinstance(error, ProtocolError)
    assert (error.row, error.column) == (1, None)


@pytest.mark.parametrize(
    ("payload", "column"),
    [
        (b"", "c0"),
        (b"\x00\x00\x00", "c0"),
        (integer(1), "c1"),
        (integer(1) + b"\x05abc", "c1"),
        (integer(1) + b"\x03abc", "c2"),
        (integer(1) + b"\x03abc" + b"\x00\x00\x00\x00", "c2"),
        (integer(1) + b"\x03abc" + b"\x00\x00\x00\x00\x09abc" + integer(1), "c2"),
        (integer(1) + b"\x03abc" + b"\x00\xff\xff\xff\xffabc" + integer(1), "c2"),
        (integer(1) + b"\x03abc" + b"\x00\x00\x00\x00\x03abc" + b"\x00", "c3"),
    ],
)
def test_a_tuple_that_ends_too_early_names_the_column(payload: bytes, column: str) -> None:
    error = fails(
        [INTEGER, VARCHAR, LVARCHAR, INTEGER], [payload], ProtocolError, rf"Column '{column}', row 0, offset"
    )
    assert isinstance(error, ProtocolError)
    assert (error.row, error.column) == (0, column)


def test_rows_are_counted_over_the_whole_result_in_errors() -> None:
    decoder = new_decoder([INTEGER], batch_rows=10)
    data = stream([integer(i) for i in range(25)] + [b"\x00"])
    position = 0
    for _ in range(2):
        position, status = decoder.feed(data, position, len(data))
        assert status == FULL
        decoder.take()
    with pytest.raises(ProtocolError) as caught:
        decoder.feed(data, position, len(data))
    assert caught.value.row == 25
    assert taken(decoder, [INTEGER]).column(0).to_pylist() == list(range(20, 25))  # complete rows before it


def test_the_batch_after_an_error_holds_only_whole_rows() -> None:
    """Columns before the bad one have already stored a value of the incomplete row."""
    decoder = new_decoder([INTEGER, VARCHAR, BOOL])
    good = integer(7) + varchar("good") + b"\x00\x00\x00\x00\x01t"
    data = stream([good, integer(8) + varchar("bad") + b"\x00\x00\x00\x00\x01?"])
    with pytest.raises(ProtocolError, match="neither true nor false"):
        decoder.feed(data, 0, len(data))
    assert taken(decoder, [INTEGER, VARCHAR, BOOL]).to_pylist() == [{"c0": 7, "c1": "good", "c2": True}]


def test_a_tuple_larger_than_described_is_refused_before_it_arrives() -> None:
    """A corrupted size must not make the client wait for gigabytes."""
    for size in (MAX_TUPLE + 1, 2**31 - 1, -1, -(2**31)):
        decoder = new_decoder([INTEGER])
        with pytest.raises(ProtocolError, match=r"Row 0: The tuple has -?\d+ bytes"):
            decoder.feed(struct.pack(">hhi", 14, 0, size), 0, 8)
        assert decoder.rows == 0


def test_a_data_error_stays_a_data_error() -> None:
    error = fails([VARCHAR], [b"\x01\xff"], DataError, "not UTF-8")
    assert isinstance(error, DataError)
    assert (error.row, error.column) == (0, "c0")


# ---- construction


@pytest.mark.parametrize(
    "op",
    [
        (0, 4, 0, 0),
        (20, 4, 0, 0),
        (-1, 4, 0, 0),
        (Kind.INT32, 8, 0, 0),
        (Kind.CHAR, 0, 0, 0),
        (Kind.CHAR, -5, 0, 0),
        (Kind.DECIMAL128, 1, 8 << 8 | 2, 0),
        (Kind.DECIMAL128, 19, 8 << 8 | 2, 0),
        (Kind.DECIMAL128, 5, 39 << 8, 0),
        (Kind.DECIMAL128, 5, 0, 0),
        (Kind.DECIMAL128, 5, 8 << 8 | 255, 0),
        (Kind.DATETIME_TIMESTAMP, 8, 0x066A, 0),
        (Kind.DATETIME_TIMESTAMP, 9, 0x0E0A, 0),
        (Kind.DATETIME_TIMESTAMP, 8, 0x0F0A, 0),
        (Kind.DATETIME_DATE32, 8, 0x0E0A, 0),
        (Kind.DATETIME_TIME32, 6, 0x096D, 0),
        (Kind.DATETIME_TIME64, 4, 0x066A, 0),
        (Kind.DATETIME_TEXT, 3, 0xFFFF, 0),
    ],
)
def test_an_op_that_makes_no_sense_is_refused_by_column(op: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"Column 'bad': The op"):
        Decoder([INTEGER.as_tuple(), op], ["good", "bad"], batch_rows=1, batch_bytes=1, max_tuple=1)


def test_arguments_are_checked() -> None:
    good = [INTEGER.as_tuple()]
    with pytest.raises(TypeError, match="batch_rows"):
        Decoder(good, ["a"], batch_bytes=1, max_tuple=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="1 ops, but 2 names"):
        Decoder(good, ["a", "b"], batch_rows=1, batch_bytes=1, max_tuple=1)
    with pytest.raises(ValueError, match="positive"):
        Decoder(good, ["a"], batch_rows=0, batch_bytes=1, max_tuple=1)
    with pytest.raises(ValueError, match="2147483647"):
        Decoder(good, ["a"], batch_rows=1, batch_bytes=1, max_tuple=1 << 31)
    with pytest.raises(TypeError):
        Decoder([(1, 2)], ["a"], batch_rows=1, batch_bytes=1, max_tuple=1)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="strings"):
        Decoder(good, [5], batch_rows=1, batch_bytes=1, max_tuple=1)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="1024 bytes"):
        Decoder(good, ["a"], batch_rows=1, batch_bytes=1, max_tuple=1, codepage=b"")
    with pytest.raises(ValueError, match="entry of byte 1 "):
        Decoder(
            good,
            ["a"],
            batch_rows=1,
            batch_bytes=1,
            max_tuple=1,
            codepage=bytes(4) + b"\x01\xff\0\0" + bytes(1016),
        )


# ---- capsules and threads


def allocated_batches(rows: int) -> Decoder:
    decoder = new_decoder([INTEGER, VARCHAR])
    data = stream([integer(i) + varchar(str(i)) for i in range(rows)])
    decoder.feed(data, 0, len(data))
    return decoder


def test_a_capsule_that_nobody_imports_releases_its_batch() -> None:
    """The decoder is freed before the capsule, and neither crashes. The sanitizers check it, too
    (tests/fuzz)."""
    decoder = allocated_batches(100)
    capsule = decoder.take()
    assert "arrow_array" in repr(capsule)
    del decoder
    gc.collect()
    del capsule
    gc.collect()


def test_batches_outlive_their_decoder_and_each_other() -> None:
    decoder = new_decoder([INTEGER, VARCHAR], batch_rows=100)
    data = stream([integer(i) + varchar(str(i)) for i in range(500)])
    position, batches = 0, []
    while decoder.total_rows < 500:
        position, _ = decoder.feed(data, position, len(data))
        batches.append(taken(decoder, [INTEGER, VARCHAR]))
        if decoder.total_rows == 200:
            del batches[0]  # its buffers return to the decoder, which must not affect the second batch
    del decoder
    gc.collect()
    table = pa.Table.from_batches(batches)
    assert table.column(0).to_pylist() == list(range(100, 500))
    assert table.column(1).to_pylist() == [str(i) for i in range(100, 500)]


def test_a_column_may_be_kept_when_the_rest_of_its_batch_is_dropped() -> None:
    """pyarrow moves the children out of the struct array. Each owns its buffers."""
    decoder = allocated_batches(1000)
    kept = taken(decoder, [INTEGER, VARCHAR]).column(1)
    again = stream([integer(-1) + varchar("other")] * 1000)
    decoder.feed(again, 0, len(again))
    taken(decoder, [INTEGER, VARCHAR])
    assert kept.to_pylist() == [str(i) for i in range(1000)]


def test_buffers_of_a_dropped_batch_are_used_again() -> None:
    """New memory for each batch would cost as much as decoding it, because of page faults."""
    decoder = new_decoder([INTEGER], batch_rows=100_000)
    data = stream([integer(i) for i in range(300_000)])
    position, addresses = 0, []
    for _ in range(3):
        position, status = decoder.feed(data, position, len(data))
        assert status == FULL
        values = taken(decoder, [INTEGER]).column(0).buffers()[1]
        assert values is not None
        addresses.append(values.address)
        del values
    assert addresses[1] == addresses[2]


@pytest.mark.skipif(
    sys.platform != "linux", reason="the size of the address space is read and limited as on Linux"
)
def test_buffers_of_a_dropped_batch_that_was_not_full_are_filled_before_they_grow() -> None:
    """The first batch of a result reserves more memory than its rows need (64 MB here). The next result of that size
    must not: growing by copying costs half as much as decoding."""
    import resource

    ops = [INTEGER] * 8
    decoder = new_decoder(ops, batch_rows=10_000_000)
    data = stream([b"".join(map(integer, range(i, i + 8))) for i in range(40_000)])

    def batch() -> pa.RecordBatch:
        assert decoder.feed(data, 0, len(data) - 2) == (len(data) - 2, NEED_MORE)
        return taken(decoder, ops)

    first = batch().column(7).to_pylist()
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + (24 << 20), limits[1]))
    try:
        again = batch()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert again.column(7).to_pylist() == first == list(range(7, 40_007))


def test_a_decoder_shared_by_threads_refuses_the_second_and_does_not_crash() -> None:
    data = stream([integer(i) + varchar("some text here") for i in range(200_000)])
    decoder = new_decoder([INTEGER, VARCHAR], batch_rows=1000)
    refused: list[RuntimeError] = []
    start = threading.Barrier(4)

    def work() -> None:
        position = 0
        start.wait()
        while position < len(data) - 2:
            try:
                position, status = decoder.feed(data, position, len(data))
                if status == FULL:
                    decoder.take()
            except RuntimeError as error:
                refused.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert decoder.total_rows == 4 * 200_000
    assert all("another thread" in str(error) for error in refused)
