"""Bind rows: SQ_BIND and its large objects for every row equal the messages that wire/ encodes."""

from __future__ import annotations

import datetime as dt
import json
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.encoder_support import (
    BIND,
    INTEGER,
    PUT,
    SENTINEL,
    TUPLE,
    bind_rows,
    bound,
    codepage_of,
    loaded,
    payload,
)

from informix_arrow.wire.bind_values import bind_value, blob_descriptor
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.datetimes import datetime_fields, pack_fields
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.messages import NULL_VALUE, Bind, BlobBind, BlobChunk, BoundValue
from informix_arrow.wire.plan_ops import FLAG_RAW, Kind, PlanOp, TypeOptions, arrow_type_of_op, plan_op
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType

FRAMING = Framing(encoding="utf-8")
HEAD, TAIL = bytes.fromhex("00040003"), bytes.fromhex("0007000c")
BYTE, TEXT = PlanOp(Kind.LOB, 56, 11, 0), PlanOp(Kind.LOB, 56, 12, 0)
LATIN1 = codepage_of("latin-1")

COLUMNS: list[tuple[PlanOp, ColumnType | None]] = [
    (plan_op(ct), ct)
    for ct in [
        ColumnType.smallint(),
        ColumnType.integer(),
        ColumnType.serial(),
        ColumnType.bigint(),
        ColumnType.int8(),
        ColumnType.smallfloat(),
        ColumnType.float_(),
        ColumnType.date(),
        ColumnType.boolean(),
        ColumnType.char(9),
        ColumnType.varchar(255),
        ColumnType.lvarchar(300),
        ColumnType.decimal(9, 2),
        ColumnType.money(16, 3),
        ColumnType.datetime("YEAR TO SECOND"),
        ColumnType.datetime("YEAR TO FRACTION(5)"),
        ColumnType.datetime("HOUR TO SECOND"),
    ]
]
COLUMNS += [(BYTE, None), (TEXT, None)]


def cells(op: PlanOp) -> st.SearchStrategy[Any]:
    """Return a strategy for Python values of a column, as in Arrow's to_pylist."""
    top = {Kind.INT16: 2**15, Kind.INT32: 2**31, Kind.INT64: 2**63, Kind.INT8: 2**63}
    texts = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
    if op.kind in top:
        return st.integers(1 - top[op.kind], top[op.kind] - 1)
    if op.kind == Kind.DECIMAL128:
        digits, scale = op.arg >> 8, op.arg & 255
        return st.integers(1 - 10**digits, 10**digits - 1).map(lambda n: Decimal(n).scaleb(-scale))
    if op.kind in (Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR):
        return texts.map(lambda s: s.encode()[: op.width].decode("utf-8", "ignore"))
    if op.kind == Kind.LOB:
        content = st.binary(max_size=40) | st.integers(0, 4000).map(lambda n: bytes([n % 251]) * n)
        return content if op.arg == 11 else texts
    if op.kind == Kind.DATETIME_TIMESTAMP:
        fraction = Qualifier.from_encoded(op.arg).fraction_digits
        step = 10 if fraction else 1_000_000
        return st.datetimes().map(lambda m: m.replace(microsecond=m.microsecond // step * step))
    return {
        Kind.FLOAT32: st.floats(width=32, allow_nan=False),
        Kind.FLOAT64: st.floats(allow_nan=False) | st.just(float("nan")),
        Kind.DATE: st.dates(),
        Kind.BOOL: st.booleans(),
        Kind.DATETIME_TIME32: st.times().map(lambda t: t.replace(microsecond=0)),
    }[op.kind]


def arrow_of(op: PlanOp) -> pa.DataType:
    if op.kind == Kind.LOB:
        return pa.large_binary() if op.arg == 11 else pa.large_utf8()
    return arrow_type_of_op(op)


def content_of(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def parameter(op: PlanOp, ct: ColumnType | None, value: Any) -> BoundValue:
    """Return a parameter as the encoder must write it: that of the reference, unless the column decides the form."""
    if value is None:
        return NULL_VALUE
    if op.kind in (Kind.INT64, Kind.INT8):
        return BoundValue(52, value.to_bytes(8, "big", signed=True), 0x1300)
    if op.kind == Kind.LOB:
        return BoundValue(op.arg or 11, blob_descriptor(len(content_of(value))))
    if op.kind in (Kind.DATETIME_TIMESTAMP, Kind.DATETIME_TIME32):  # the column's qualifier, normalised
        qualifier = Qualifier.from_encoded(op.arg)
        data = pack_fields(datetime_fields(value, qualifier), qualifier)
        return BoundValue(10, len(data).to_bytes(2, "big") + data, op.arg)
    reference = bind_value(value, "utf-8", ct)
    return reference._replace(precision=op.arg) if op.kind == Kind.DECIMAL128 else reference


def large_objects(ops: list[PlanOp], row: list[Any]) -> bytes:
    """Return SQ_BBIND and the chunks of 1024 bytes."""
    contents = [
        content_of(v) for op, v in zip(ops, row, strict=True) if op.kind == Kind.LOB and v is not None
    ]
    if not contents:
        return b""
    out = BlobBind(len(contents)).encode(FRAMING)
    for content in contents:
        pieces = [content[at : at + 1024] for at in range(0, len(content), 1024)]
        out += b"".join(BlobChunk(piece).encode(FRAMING) for piece in [*pieces, b""])
    return out


def expected_row(columns: list[tuple[PlanOp, ColumnType | None]], row: list[Any]) -> bytes:
    values = tuple(parameter(op, ct, value) for (op, ct), value in zip(columns, row, strict=True))
    message = Bind(values).encode(FRAMING)
    assert Bind.parse(Reader(message[2:]), FRAMING).values == values
    return HEAD + message + large_objects([op for op, _ in columns], row) + TAIL


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[PlanOp, ColumnType | None]], pa.RecordBatch, list[list[Any]]]:
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=7))
    columns.append((INTEGER, ColumnType.integer()))
    n = draw(st.integers(0, 12))
    data = [
        draw(st.lists(st.none() | cells(op), min_size=n, max_size=n), label=f"c{k} {op}")
        for k, (op, _) in enumerate(columns)
    ]
    start = draw(st.integers(0, n))
    length = draw(st.integers(0, n - start))
    arrays = [pa.array(values, arrow_of(op)) for (op, _), values in zip(columns, data, strict=True)]
    batch = pa.record_batch(arrays, [f"c{k}" for k in range(len(columns))]).slice(start, length)
    rows = [[values[i] for values in data] for i in range(start, start + length)]
    return columns, batch, rows


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.sampled_from([0, 1, 100, 500, 5000, 1 << 20]))
def test_bind_rows_are_those_of_the_messages(table: Any, budget: int) -> None:
    columns, batch, rows = table
    pieces = bind_rows(loaded(batch, [op for op, _ in columns]), budget, HEAD, TAIL)
    wanted = [expected_row(columns, row) for row in rows]
    assert b"".join(data for data, _ in pieces) == b"".join(wanted)
    at = 0
    for data, count in pieces:  # each piece has all rows that fit, and at most one beyond the budget
        assert len(data) == sum(map(len, wanted[at : at + count]))
        at += count
        assert at == len(wanted) or len(data) + len(wanted[at]) > budget


def test_a_timestamp_of_four_digit_years_is_bound_as_the_reference_binds_it() -> None:
    for value in (
        dt.datetime(2026, 8, 31, 12, 30, 15),
        dt.datetime(100, 1, 1),
        dt.datetime(9999, 12, 31, 23, 59, 59),
    ):
        op = plan_op(ColumnType.datetime("YEAR TO SECOND"))
        wanted = Bind((bind_value(value, "utf-8"),)).encode(FRAMING)[4:]
        assert bound(op, pa.array([value], pa.timestamp("us"))) == wanted


# ---- text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 2, 255, 256, 32766, 32767, 32768, 32769, 70_001])
def test_text_beyond_32767_bytes_is_bound_as_lvarchar(length: int) -> None:
    op = PlanOp(Kind.LVARCHAR, 0, 0, 0)
    for text in ("x" * length, "é" * (length // 2)):
        wanted = Bind((bind_value(text, "utf-8"),)).encode(FRAMING)[4:]
        got = bound(op, pa.array([text]))
        assert got[:2] == (b"\0\x2b" if len(text.encode()) > 32767 else b"\0\0")
        assert got == wanted


@pytest.mark.parametrize("length", [16383, 16384, 32766, 32767, 32768, 40_001])
def test_the_form_goes_by_the_bytes_of_the_code_page(length: int) -> None:
    """The text has twice as many bytes in UTF-8: too long for a CHAR there, but not in latin-1."""
    text = "é" * length
    wanted = Bind((bind_value(text, "latin-1"),)).encode(Framing(encoding="latin-1"))[4:]
    assert bound(PlanOp(Kind.LVARCHAR, 0, 0, 0), pa.array([text]), LATIN1) == wanted
    assert bound(PlanOp(Kind.CHAR, 32767, 0, 0), pa.array(["é" * 32767]), LATIN1)[6:8] == b"\x7f\xff"


def test_a_char_is_bound_without_its_padding_and_with_its_checks() -> None:
    op = plan_op(ColumnType.char(6))
    assert bound(op, pa.array(["ab"])).hex() == "0000000000000002" + "6162"
    assert bound(op, pa.array(["ab  "])).hex() == "0000000000000004" + "61622020"
    assert bound(op, pa.array([""])).hex() == "0000000000000000"
    for ct, text, why in [
        (ColumnType.char(6), "seven..", r"text of 7 bytes is too long for CHAR\(6\)"),
        (ColumnType.char(6), "\0", "starts with a NUL byte"),
        (ColumnType.varchar(6), "\0", "of one NUL byte"),
        (ColumnType.lvarchar(6), "seven..", r"too long for LVARCHAR\(6\)"),
    ]:
        with pytest.raises(DataError, match=f"Column 'c', row 0: .*{why}"):
            bound(plan_op(ct), pa.array([text]))


def test_a_number_that_means_null_is_refused_as_a_parameter_too() -> None:
    for ct, arrow, lowest in [
        (ColumnType.smallint(), pa.int16(), -(2**15)),
        (ColumnType.integer(), pa.int32(), -(2**31)),
        (ColumnType.bigint(), pa.int64(), -(2**63)),
    ]:
        with pytest.raises(DataError, match=f"{lowest} cannot be stored"):
            bound(plan_op(ct), pa.array([lowest], arrow))
    ones = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(b"\xff" * 8)])
    assert bound(plan_op(ColumnType.float_()), ones).hex() == "000300000000" + "7ff8000000000000"


def test_a_floating_decimal_is_bound_with_its_encoded_length() -> None:
    op = plan_op(ColumnType.decimal(16))
    assert bound(op, pa.array([1.5])).hex() == "0005000010ff0003c1013200"
    seen = plan_op(ColumnType.decimal(16), TypeOptions(floating_decimals=pa.decimal128(38, 6)))
    assert bound(seen, pa.array([Decimal("1.5")], pa.decimal128(38, 6))).hex() == "0005000011ff0003c1013200"


# ---- BYTE and TEXT -----------------------------------------------------------------------------------------

LENGTHS = [0, 1, 2, 13, 1023, 1024, 1025, 2047, 2048, 2049, 10_000, 100_001]
CONTENTS = [pa.binary(), pa.large_binary(), pa.binary_view()]


@parametrize_in_one_test("arrow", CONTENTS, ids=str)
@parametrize_in_one_test("length", LENGTHS)
def test_contents_travel_in_chunks_of_1024_bytes(length: int, arrow: pa.DataType) -> None:
    content = bytes(k % 251 for k in range(length))
    columns: list[tuple[PlanOp, ColumnType | None]] = [(BYTE, None), (INTEGER, None), (TEXT, None)]
    rows: list[list[Any]] = [[content, SENTINEL, b"after"], [None, SENTINEL, content], [content, 1, None]]
    rows += [[None, 2, None], [b"", 3, content]]
    arrays = [pa.array([row[k] for row in rows], pa.int32() if k == 1 else arrow) for k in range(3)]
    batch = pa.record_batch(arrays, ["b", "n", "t"])
    wanted = b"".join(expected_row(columns, row) for row in rows)
    for budget in (0, 1000, 3000, 1 << 20):
        pieces = bind_rows(loaded(batch, [op for op, _ in columns]), budget, HEAD, TAIL)
        assert b"".join(data for data, _ in pieces) == wanted


def test_a_row_of_nulls_has_no_large_objects_behind_it() -> None:
    assert bound(BYTE, pa.nulls(1, pa.binary())).hex() == "0000ffff0000"
    assert bound(BYTE, pa.array([b""])).hex().endswith("00290001" + "00270000")


def test_a_type_of_zero_is_byte_and_a_long_descriptor_stays_long() -> None:
    assert bound(PlanOp(Kind.LOB, 56, 0, 0), pa.array([b"x"])) == bound(BYTE, pa.array([b"x"]))
    got = bound(PlanOp(Kind.LOB, 68, 12, 0), pa.array([b"xyz"]))
    assert got[:6].hex() == "000c00000000"
    assert got[6:74] == bytes(16) + b"\0\0\0\3" + bytes(48)
    assert got[74:].hex() == "00290001" + "00270003" + b"xyz".hex() + "00" + "00270000"


@parametrize_in_one_test("arrow", [pa.utf8(), pa.large_utf8(), pa.string_view()], ids=str)
@parametrize_in_one_test("length", LENGTHS)
def test_text_content_goes_through_the_code_page_and_binary_does_not(length: int, arrow: pa.DataType) -> None:
    text = "aé" * (length // 2) + "z" * (length % 2)
    rows = pa.record_batch(
        [pa.array([text], arrow), pa.array([text.encode()]), pa.array([SENTINEL], pa.int32())],
        ["t", "b", "n"],
    )
    ((data, _),) = bind_rows(loaded(rows, [TEXT, BYTE, INTEGER], LATIN1))
    wanted = expected_row(
        [(TEXT, None), (BYTE, None), (INTEGER, None)], [text.encode("latin-1"), text.encode(), SENTINEL]
    )
    assert HEAD + data + TAIL == wanted


def test_a_character_outside_the_code_page_in_a_content_is_refused() -> None:
    with pytest.raises(DataError, match=r"Column 'c', row 0: .*The character U\+65E5"):
        bound(TEXT, pa.array(["ab" * 2000 + "日"]), LATIN1)


@pytest.mark.parametrize("framing", [TUPLE, PUT])
@pytest.mark.parametrize("arrow", [*CONTENTS, pa.utf8(), pa.large_utf8(), pa.string_view()], ids=str)
def test_a_content_is_never_taken_for_a_descriptor(arrow: pa.DataType, framing: int) -> None:
    """The content may happen to have the length of a descriptor."""
    cell: Any = "x" * 56 if "str" in str(arrow) else b"x" * 56
    encoder = loaded(pa.record_batch([pa.array([cell], arrow)], ["c"]), [TEXT])
    with pytest.raises(
        ValueError, match="Column 'c': TEXT is stored in a tuple as its descriptor, fixed_size_binary"
    ):
        encoder.encode(1000, framing)
    assert encoder.remaining == 1
    assert encoder.encode(1000, BIND)[1] == 1


def test_a_descriptor_is_never_taken_for_a_content() -> None:
    encoder = loaded(pa.record_batch([pa.array([b"x" * 56], pa.binary(56))], ["c"]), [BYTE])
    with pytest.raises(
        ValueError, match="Column 'c': BYTE takes its content as a parameter, and fixed_size_binary"
    ):
        encoder.encode(1000, BIND)
    assert encoder.remaining == 1


@pytest.mark.parametrize("width", [56, 68])
def test_a_descriptor_stands_in_a_tuple_as_it_is(width: int) -> None:
    op = PlanOp(Kind.LOB, width, 0, 0)
    descriptor = bytes(k * 2 for k in range(width))
    for column in (
        pa.array([descriptor], pa.binary(width)),
        pa.array([b"\xff" * width, descriptor, b"\xff" * width], pa.binary(width)).slice(1, 1),
    ):
        assert payload(op, column) == descriptor
    null = bytes(39) + b"\1" + bytes(width - 40)
    assert payload(op, pa.nulls(1, pa.binary(width))) == null
    with pytest.raises(
        DataError, match="The descriptor of a BYTE is marked as NULL, but the Arrow value is not NULL"
    ):
        payload(op, pa.array([null], pa.binary(width)))


BLOB = plan_op(ColumnType(41, 72, extended_id=10, extended_name="blob"))


@pytest.mark.parametrize("arrow", [*CONTENTS, pa.binary(72)], ids=str)
def test_opaque_values_stand_in_an_envelope(arrow: pa.DataType) -> None:
    locator = bytes(range(184, 256))
    assert payload(BLOB, pa.array([locator], arrow)) == b"\0\0\0\0\x48" + locator
    assert payload(BLOB, pa.nulls(1, arrow)) == b"\1\0\0\0\0"


def test_opaque_values_keep_their_length_and_any_byte() -> None:
    unbounded = PlanOp(Kind.OPAQUE, 0, 0, 0)
    for value in (b"", b"\0", b"\1\0", bytes(range(256)) * 300):
        assert payload(unbounded, pa.array([value]), LATIN1) == struct.pack(">bi", 0, len(value)) + value
    with pytest.raises(DataError, match="The value of 145 bytes is too long for an opaque type"):
        payload(BLOB, pa.array([b"x" * 145]))


def test_opaque_values_have_no_parameter_but_null() -> None:
    assert bound(BLOB, pa.nulls(1, pa.binary())).hex() == "0000ffff0000"
    with pytest.raises(
        DataError, match=r"Column 'c', row 0: an opaque type .* cannot be sent as a parameter"
    ):
        bound(BLOB, pa.array([b"x"]))


# ---- rows, budgets, arguments ------------------------------------------------------------------------------


def test_the_example_of_the_protocol_paper_comes_out() -> None:
    """SQLI sections 9 and 14, byte by byte: `SQ_ID 3, SQ_BIND of 3, EXECUTE, EOT`."""
    batch = pa.record_batch(
        [pa.array([7], pa.int32()), pa.array(["bob"]), pa.array([None], pa.float64())], ["a", "b", "c"]
    )
    ops = [plan_op(ct) for ct in (ColumnType.integer(), ColumnType.varchar(10), ColumnType.float_())]
    data, rows = loaded(batch, ops).encode(1000, BIND, HEAD, TAIL)
    assert rows == 1
    assert data.hex() == (
        "00040003"
        + "00050003"
        + "000200000a0000000007"
        + "000000000000"
        + "0003626f6200"
        + "0000ffff0000"
        + "0007000c"
    )


def recorded() -> list[Any]:
    """Return the parameters that IBM's driver sent in the same form as ours. Excluded are integers with the bytes of
    NULL, which it sends unchecked and we refuse, and a CHAR beyond 32767 bytes, which we send as an LVARCHAR."""
    path = Path(__file__).parent.parent.parent / "vectors" / "jdbc_binds.json"
    ours = ((2, 0x0A00), (52, 0x1300), (3, 0), (7, 0), (0, 0), (10, 0x066A))
    found = []
    for vector in json.loads(path.read_text(encoding="utf-8")):
        record = bytes.fromhex(vector["param_hex"])
        code, indicator, precision = struct.unpack_from(">HhH", record)
        if indicator != 0 or (code, precision) not in ours:
            continue
        null = code in (2, 52) and record[6:] == b"\x80".ljust(len(record) - 6, b"\0")
        if not null and not (code == 0 and int.from_bytes(record[6:8], "big") > 32767):
            found.append(pytest.param(code, record, id=vector["case"]))
    return found


@parametrize_in_one_test(("code", "record"), recorded())
def test_the_recorded_parameters_of_jdbc_come_out_of_their_values(code: int, record: bytes) -> None:
    data = record[6:]
    if code in (2, 52):
        number = int.from_bytes(data, "big", signed=True)
        got = bound(plan_op(ColumnType.integer() if code == 2 else ColumnType.bigint()), pa.array([number]))
    elif code == 3:
        got = bound(plan_op(ColumnType.float_()), pa.array(list(struct.unpack(">d", data))))
    elif code == 7:
        day = int.from_bytes(data, "big", signed=True) - 25568
        got = bound(plan_op(ColumnType.date()), pa.array([day], pa.int32()).view(pa.date32()))
    elif code == 10:
        seconds = data[3] * 3600 + data[4] * 60 + data[5]
        got = bound(
            plan_op(ColumnType.datetime("HOUR TO SECOND")),
            pa.array([seconds], pa.int32()).view(pa.time32("s")),
        )
    else:
        size = int.from_bytes(data[:2], "big")
        op = PlanOp(Kind.LVARCHAR, 0, 0, FLAG_RAW)
        got = bound(op, pa.array([data[2 : 2 + size]]))
    assert got == record


def test_there_are_recorded_parameters_of_every_common_type() -> None:
    assert {case.values[0] for case in recorded()} >= {0, 2, 3, 7, 52}


def test_a_budget_holds_as_many_rows_as_fit() -> None:
    batch = pa.record_batch([pa.array(range(10), pa.int32())], ["n"])
    size = 4 + 4 + 10 + 4
    for budget, rows in {
        0: 1,
        size - 1: 1,
        size: 1,
        2 * size - 1: 1,
        2 * size: 2,
        9 * size: 9,
        1 << 40: 10,
    }.items():
        data, count = loaded(batch, [INTEGER]).encode(budget, BIND, HEAD, TAIL)
        assert (count, len(data)) == (rows, rows * size)


def test_the_rows_before_a_bad_one_get_out_also_as_parameters() -> None:
    column = pa.array([b"good" * 1000, b"fine", b"\xff" * 3000], pa.binary()).view(pa.utf8())
    encoder = loaded(
        pa.record_batch([pa.array([1, 2, 3], pa.int8()), column], ["n", "t"]), [INTEGER, TEXT], LATIN1
    )
    data, rows = encoder.encode(1 << 20, BIND, HEAD, TAIL)
    assert rows == 2
    assert data.count(HEAD + b"\0\5\0\2") == 2
    for _ in range(2):
        with pytest.raises(DataError, match="Column 't', row 2: The text is not valid UTF-8") as info:
            encoder.encode(1 << 20, BIND, HEAD, TAIL)
        assert (info.value.row, info.value.column) == (2, "t")


def test_head_and_tail_are_whole_messages_of_bind_rows_only() -> None:
    batch = pa.record_batch([pa.array([1], pa.int32())], ["n"])
    encoder = loaded(batch, [INTEGER])
    for framing in (TUPLE, PUT):
        with pytest.raises(ValueError, match="head and tail can be used only with framing 2"):
            encoder.encode(100, framing, HEAD)
        with pytest.raises(ValueError, match="head and tail can be used only with framing 2"):
            encoder.encode(100, framing, tail=TAIL)
    with pytest.raises(ValueError, match="an even number of bytes"):
        encoder.encode(100, BIND, b"odd")
    with pytest.raises(ValueError, match="at most 65536"):
        encoder.encode(100, BIND, b"", bytes(65538))
    with pytest.raises(TypeError, match="bytes-like"):
        encoder.encode(100, BIND, "text")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"framing must be 0 .* not 3"):
        encoder.encode(100, 3)
    assert encoder.encode(100, BIND, memoryview(HEAD), bytearray(TAIL)) == (
        HEAD + b"\0\5\0\1" + bytes.fromhex("000200000a0000000001") + TAIL, 1,
    )  # fmt: skip
    assert encoder.encode(100, BIND, HEAD, TAIL) == (b"", 0)


def test_one_load_may_go_out_in_several_framings() -> None:
    """If the insert cursor is refused, the other rows are sent as parameters."""
    batch = pa.record_batch([pa.array(range(5), pa.int64()), pa.array(list("abcde"))], ["n", "v"])
    ops = [plan_op(ColumnType.integer()), plan_op(ColumnType.varchar(3))]
    encoder = loaded(batch, ops)
    first, rows = encoder.encode(30, PUT)
    assert (rows, first[:2]) == (2, b"\0\x11")
    ((data, rest),) = bind_rows(encoder)
    assert rest == 3
    assert data.count(b"\0\5\0\2") == 3
    assert data[8:14] == bytes.fromhex("0a0000000002")


def test_contents_of_many_megabytes_are_not_bounded_by_the_budget() -> None:
    content = bytes(range(256)) * 20_000
    batch = pa.record_batch([pa.array([content, b"x", content], pa.large_binary())], ["c"])
    pieces = bind_rows(loaded(batch, [BYTE]), 1 << 16)
    assert [rows for _, rows in pieces] == [1, 1, 1]
    chunks = pieces[0][0]
    assert len(chunks) == 4 + 62 + 4 + len(content) + 4 * 5000 + 4
    assert pieces[2] == pieces[0]
    assert chunks[70:74] == b"\0\x27\4\0"
