"""The Arrow types that a column accepts: others than its own if every value fits exactly, and the refused ones."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.encoder_support import INTEGER, bound, codepage_of, loaded, payload, payloads

from informix_arrow._encode import Encoder
from informix_arrow.wire.decimals import pack_decimal
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import FLAG_RAW, Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.types import ColumnType

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
KINDS = {
    "smallint": (ColumnType.smallint(), 2**15 - 1, "SMALLINT"),
    "integer": (ColumnType.integer(), 2**31 - 1, "INTEGER"),
    "bigint": (ColumnType.bigint(), 2**63 - 1, "BIGINT"),
    "int8": (ColumnType.int8(), 2**63 - 1, "INT8"),
    "serial8": (ColumnType.serial8(), 2**63 - 1, "INT8"),
}
BINARY = [pa.binary(), pa.large_binary(), pa.binary_view()]
TEXT = [pa.utf8(), pa.large_utf8(), pa.string_view()]


def refused(op: PlanOp, column: pa.Array, codepage: bytes | None = None) -> str:
    """Return the message of the refusal, which must be the same in a tuple and as a parameter."""
    with pytest.raises(DataError) as info:
        payload(op, column, codepage)
    assert (info.value.row, info.value.column) == (0, "c")
    with pytest.raises(DataError) as again:
        bound(op, column, codepage)
    assert str(again.value) == str(info.value)
    return str(info.value)


def limits(arrow: pa.DataType) -> tuple[int, int]:
    bits = arrow.bit_width
    return (0, 2**bits - 1) if str(arrow).startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


# ---- integers ----------------------------------------------------------------------------------------------


@parametrize_in_one_test("arrow", INTEGERS, ids=str)
@parametrize_in_one_test("name", KINDS)
def test_an_integer_of_any_width_is_taken_when_its_value_fits(name: str, arrow: pa.DataType) -> None:
    ct, top, sql = KINDS[name]
    op = plan_op(ct)
    own = pa.int64() if top > 2**32 else pa.int32() if top > 2**16 else pa.int16()
    low, high = limits(arrow)
    for value in sorted({0, 1, -1, 7, -100, 127, 255, top, -top, low, high, top - 1, top + 1, -top - 1}):
        if not low <= value <= high:
            continue
        column = pa.array([value], arrow)
        if abs(value) <= top:
            assert payload(op, column) == payload(op, pa.array([value], own))
            assert bound(op, column) == bound(op, pa.array([value], own))
        elif value == -top - 1:
            assert f"{value} cannot be stored in {sql}, where this number means NULL" in refused(op, column)
        else:
            assert f"{value} is outside the range of {sql}, -{top} to {top}" in refused(op, column)


def test_the_range_is_checked_row_by_row_and_nulls_are_not() -> None:
    batch = pa.record_batch([pa.array([1, None, -32767, 32768], pa.int64())], ["n"])
    encoder = Encoder([plan_op(ColumnType.smallint()).as_tuple()], ["n"])
    encoder.load(*batch.__arrow_c_array__())
    assert encoder.encode(1000)[1] == 3
    with pytest.raises(DataError, match="Column 'n', row 3: 32768 is outside the range of SMALLINT") as info:
        encoder.encode(1000)
    assert info.value.row == 3


def test_a_float_takes_narrow_floats_and_integers_that_are_exact() -> None:
    op = plan_op(ColumnType.float_())
    assert payload(op, pa.array([0.1], pa.float32())) == payload(op, pa.array([0.10000000149011612]))
    for value in (0, 1, -1, 2**53, -(2**53), 2**62, -(2**63)):
        assert payload(op, pa.array([value], pa.int64())) == struct.pack(">d", value)
    assert payload(op, pa.array([2**63], pa.uint64())) == struct.pack(">d", 2.0**63)
    for value in (2**53 + 1, -(2**53) - 1, 2**63 - 1):
        text = refused(op, pa.array([value], pa.int64()))
        assert f"The integer {value} cannot be stored exactly in FLOAT" in text
    assert "cannot be stored exactly in FLOAT" in refused(op, pa.array([2**64 - 1], pa.uint64()))


def test_a_date_takes_date64_when_it_is_whole_days() -> None:
    op = plan_op(ColumnType.date())
    for day in (0, 1, -1, -719162, 2932896):
        whole = pa.array([day * 86_400_000], pa.int64()).view(pa.date64())
        own = pa.array([day], pa.int32()).view(pa.date32())
        assert (payload(op, whole), bound(op, whole)) == (payload(op, own), bound(op, own))
    for millis in (1, -1, 86_400_001):
        part = pa.array([millis], pa.int64()).view(pa.date64())
        assert "The date64 has a time of day, which DATE cannot store" in refused(op, part)
    for day in (-719163, 2932897, 2**33, -(2**33)):
        beyond = pa.array([day * 86_400_000], pa.int64()).view(pa.date64())
        assert "outside the range of DATE" in refused(op, beyond)


# ---- DATETIME ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION(3)"])
def test_every_datetime_from_the_year_on_takes_dates_and_timestamps(end: str) -> None:
    op = plan_op(ColumnType.datetime(f"YEAR TO {end}"))
    day = dt.date(2026, 1, 1)
    wanted = payload(op, pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("us")))
    assert wanted[:1] == b"\xc7"
    for arrow in (pa.date32(), pa.date64()):
        assert payload(op, pa.array([day], arrow)) == wanted
    for unit in ("s", "ms", "ns"):
        assert payload(op, pa.array([dt.datetime(2026, 1, 1)], pa.timestamp(unit))) == wanted
    finer = {"YEAR": dt.date(2026, 2, 1), "MONTH": dt.date(2026, 1, 2)}.get(end)
    if finer:
        for arrow in (pa.date32(), pa.date64(), pa.timestamp("s")):
            text = refused(op, pa.array([finer]).cast(arrow))
            assert f"more precision than DATETIME YEAR TO {end} can store" in text
    if end == "DAY":
        text = refused(op, pa.array([dt.datetime(2026, 1, 1, 0, 0, 1)], pa.timestamp("s")))
        assert "more precision than DATETIME YEAR TO DAY can store" in text


def test_hour_to_hour_takes_times() -> None:
    op = plan_op(ColumnType.datetime("HOUR TO HOUR"))
    assert payload(op, pa.array([dt.time(17)], pa.time32("s"))).hex() == "c311"
    assert payload(op, pa.array(["17"])).hex() == "c311"
    assert "more precision than" in refused(op, pa.array([dt.time(17, 1)], pa.time64("us")))


# ---- DECIMAL -----------------------------------------------------------------------------------------------


DECIMALS = [
    pa.decimal32(9, 0), pa.decimal32(9, 5), pa.decimal32(5, -3), pa.decimal64(18, 0), pa.decimal64(18, 7),
    pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal128(20, 3), pa.decimal128(20, -4),
    pa.decimal256(76, 0), pa.decimal256(76, 40), pa.decimal256(50, 76), pa.decimal256(50, -20),
]  # fmt: skip


@st.composite
def decimal_cells(draw: st.DrawFn) -> tuple[pa.DataType, int, int, int | None]:
    arrow = draw(st.sampled_from(DECIMALS))
    digits = draw(st.integers(0, arrow.precision))
    unscaled = draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    zeros = draw(st.integers(0, digits))  # trailing zeros, so that smaller scales suffice
    unscaled = unscaled // 10**zeros * 10**zeros
    precision = draw(st.integers(1, 32))
    return arrow, unscaled, precision, draw(st.none() | st.integers(0, precision))


def decimal_array(arrow: pa.DataType, unscaled: int) -> pa.Array:
    """Create the array from bytes: pyarrow does not create every scale from Python's Decimal."""
    size = arrow.bit_width // 8
    return pa.Array.from_buffers(
        arrow, 1, [None, pa.py_buffer(unscaled.to_bytes(size, "little", signed=True))]
    )


@settings(max_examples=examples(60), deadline=None)
@given(decimal_cells())
def test_a_decimal_of_any_size_and_scale_is_taken_when_it_fits_exactly(
    case: tuple[pa.DataType, int, int, int | None],
) -> None:
    arrow, unscaled, precision, scale = case
    column = decimal_array(arrow, unscaled)
    kept = str(abs(unscaled)).strip("0")
    places = arrow.scale - (len(str(abs(unscaled))) - len(str(abs(unscaled)).rstrip("0")))
    whole = len(str(abs(unscaled))) - arrow.scale
    if unscaled == 0:
        fits = True
    elif scale is None:
        fits = len(kept) <= precision
    else:
        fits = places <= scale and whole <= precision - scale
    number = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -arrow.scale))
    ct = ColumnType.decimal(precision, scale)
    for options in (TypeOptions(), TypeOptions(decimals="float64"), TypeOptions(floating_decimals="string")):
        op = plan_op(ct, options)
        if fits:
            assert payload(op, column) == pack_decimal(number, op.width)
        else:
            assert "The number has more d" in refused(op, column)


@pytest.mark.parametrize("arrow", INTEGERS, ids=str)
def test_decimals_take_integers_of_any_width(arrow: pa.DataType) -> None:
    low, high = limits(arrow)
    for ct in (
        ColumnType.decimal(20, 0),
        ColumnType.decimal(32, 7),
        ColumnType.decimal(20),
        ColumnType.money(32, 2),
    ):
        op = plan_op(ct)
        for value in (low, high, 0, 100):
            assert payload(op, pa.array([value], arrow)) == pack_decimal(Decimal(value), op.width)
    narrow = plan_op(ColumnType.decimal(4, 2))
    assert payload(narrow, pa.array([99], arrow)).hex() == "c16300"
    assert "more digits than DECIMAL(4,2)" in refused(narrow, pa.array([100], arrow))


def test_a_decimal_without_places_takes_and_checks_int64() -> None:
    for digits in (1, 4, 15, 18, 19, 32):
        op = plan_op(ColumnType.decimal(digits, 0), TypeOptions(integer_aggregates=True))
        assert op.kind == Kind.DECIMAL_INT64
        for value in {10**digits - 1, 1 - 10**digits, 0, 1, -1, 2**63 - 1, -(2**63)}:
            if not -(2**63) <= value < 2**63:
                continue
            column = pa.array([value], pa.int64())
            if abs(value) < 10**digits:
                assert payload(op, column) == pack_decimal(Decimal(value), op.width)
                assert bound(op, column)[:8] == struct.pack(
                    ">hhHh", 5, 0, digits << 8, len(pack_decimal(Decimal(value)))
                )
            else:
                assert f"more digits than DECIMAL({digits},0)" in refused(op, column)
        assert payload(op, pa.nulls(1, pa.int64())) == bytes(op.width)
        assert payload(op, pa.array([Decimal(7)], pa.decimal128(3, 1))) == pack_decimal(Decimal(7), op.width)


def test_the_largest_decimal256_is_refused_and_not_misread() -> None:
    op = plan_op(ColumnType.decimal(32, 0))
    for unscaled in (2**255 - 1, -(2**255), 10**76 - 1, 10**40 + 1):
        assert "more digits" in refused(op, decimal_array(pa.decimal256(76, 0), unscaled))
    round_ = decimal_array(pa.decimal256(76, 44), 123 * 10**70)
    assert payload(op, round_) == pack_decimal(Decimal(123 * 10**26), op.width)


# ---- text and bytes ----------------------------------------------------------------------------------------

TEXTS = ["", "a", "twelve bytes", "thirteen byte", "é", "x" * 100, "日本語", "y" * 255]
CHARACTER = [ColumnType.char(255), ColumnType.varchar(255), ColumnType.lvarchar(400)]


@pytest.mark.parametrize("ct", CHARACTER, ids=lambda ct: ct.sql)
@pytest.mark.parametrize("arrow", TEXT, ids=str)
def test_text_of_every_arrow_form_gives_the_same_bytes(ct: ColumnType, arrow: pa.DataType) -> None:
    op = plan_op(ct)
    cells = [*TEXTS, None, "last"]
    for column in (
        pa.array(cells, arrow),
        pa.array(["dropped", *cells, "dropped"], arrow).slice(1, len(cells)),
    ):
        batch = pa.record_batch([column, pa.array(range(len(cells)), pa.int32())], ["c", "n"])
        own = pa.record_batch([pa.array(cells), pa.array(range(len(cells)), pa.int32())], ["c", "n"])
        assert payloads(loaded(batch, [op, INTEGER])) == payloads(loaded(own, [op, INTEGER]))
        assert loaded(batch, [op, INTEGER]).encode(1 << 20, 2) == loaded(own, [op, INTEGER]).encode(
            1 << 20, 2
        )


@pytest.mark.parametrize("index", INTEGERS, ids=str)
@pytest.mark.parametrize("values", TEXT, ids=str)
def test_dictionaries_of_text_are_taken_with_any_index_type(index: pa.DataType, values: pa.DataType) -> None:
    words = ["one", None, "two", "", "a word of many more letters"]
    picks = [0, 2, 4, None, 1, 3, 0, 4]
    column = pa.DictionaryArray.from_arrays(
        pa.array([9, *picks], pa.int64()).cast(index), pa.array(words + ["x"] * 5, values)
    ).slice(1)
    own = pa.array([None if k is None else words[k] for k in picks])
    for ct in CHARACTER:
        op = plan_op(ct)
        numbers = pa.array(range(len(picks)), pa.int32())
        got = loaded(pa.record_batch([column, numbers], ["c", "n"]), [op, INTEGER])
        assert payloads(got) == payloads(loaded(pa.record_batch([own, numbers], ["c", "n"]), [op, INTEGER]))
        got = loaded(pa.record_batch([column, numbers], ["c", "n"]), [op, INTEGER])
        wanted = loaded(pa.record_batch([own, numbers], ["c", "n"]), [op, INTEGER])
        assert got.encode(1 << 20, 2) == wanted.encode(1 << 20, 2)


def test_a_slice_of_a_dictionarys_values_counts_from_its_own_offset() -> None:
    words = pa.array(["no", "never", "yes", None, "perhaps"]).slice(2)
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1], pa.int8()), words)
    batch = pa.record_batch([column], ["c"])
    assert payloads(loaded(batch, [plan_op(ColumnType.varchar(9))])) == [b"\7perhaps", b"\3yes", b"\1\0"]


@pytest.mark.parametrize(
    ("index", "bad"),
    [(pa.int8(), 2), (pa.int8(), -1), (pa.uint64(), 2**64 - 1), (pa.int64(), 2**40), (pa.int64(), -(2**63))],
)
def test_a_dictionary_index_without_a_value_is_refused(index: pa.DataType, bad: int) -> None:
    raw = bad.to_bytes(index.bit_width // 8, "little", signed=bad < 0)
    indices = pa.Array.from_buffers(index, 1, [None, pa.py_buffer(raw)])
    for words in (pa.array(["a", "b"]), pa.array(["a", None])):
        column = pa.DictionaryArray.from_arrays(indices, words, safe=False)
        for ct in CHARACTER:
            assert "The Arrow dictionary has 2 values, but none with the index" in refused(
                plan_op(ct), column
            )


def test_dictionaries_go_through_the_code_page() -> None:
    column = pa.array(["é", "ab", "é"]).dictionary_encode()
    batch = pa.record_batch([column], ["c"])
    got = payloads(loaded(batch, [plan_op(ColumnType.varchar(2))], codepage_of("latin-1")))
    assert got == [b"\1\xe9", b"\2ab", b"\1\xe9"]


@pytest.mark.parametrize(
    "view",
    [
        struct.pack("<i4siI", -1, b"aaaa", 0, 0),
        struct.pack("<i4sii", 13, b"aaaa", 0, 4),  # one byte beyond the buffer
        struct.pack("<i4sii", 13, b"aaaa", 1, 0),  # no such buffer
        struct.pack("<i4sii", 13, b"aaaa", -1, 0),
        struct.pack("<i4sii", 13, b"aaaa", 0, -1),
        struct.pack("<i4sii", 2**31 - 1, b"aaaa", 0, 2**31 - 1),
    ],
)
def test_views_that_leave_their_buffers_are_refused(view: bytes) -> None:
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"a" * 16)])
    for ct in CHARACTER:
        assert "string offsets of the Arrow array are inconsistent" in refused(plan_op(ct), column)


@pytest.mark.parametrize("length", [1, 12, 13, 16, 17, 63, 64, 65, 255])
def test_views_are_read_to_the_last_byte_and_no_further(length: int) -> None:
    """The buffers have no slack, so a read beyond the end stops the build with AddressSanitizer."""
    text = bytes(range(65, 91)) * 10
    if length <= 12:
        view = struct.pack("<i12s", length, text[:length])
    else:
        view = struct.pack("<i4sii", length, text[3:7], 0, 3)
    pieces = [pa.py_buffer(text[: 3 + length])] if length > 12 else []
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), *pieces])
    wanted = text[:length] if length <= 12 else text[3 : 3 + length]
    assert payload(plan_op(ColumnType.varchar(255)), column) == bytes([length]) + wanted
    assert payload(plan_op(ColumnType.char(255)), column) == wanted.ljust(255)


def raw(ct: ColumnType) -> PlanOp:
    op = plan_op(ct)
    return PlanOp(op.kind, op.width, op.arg, op.flags | FLAG_RAW)


@pytest.mark.parametrize("arrow", BINARY, ids=str)
def test_raw_text_is_written_byte_for_byte(arrow: pa.DataType) -> None:
    """The text is neither checked as UTF-8 nor converted by the code page."""
    every = bytes(range(1, 256))
    for codepage in (None, codepage_of("latin-1")):
        assert payload(raw(ColumnType.char(260)), pa.array([every], arrow), codepage) == every.ljust(260)
        assert payload(raw(ColumnType.varchar(255)), pa.array([every], arrow), codepage) == b"\xff" + every
        wanted = struct.pack(">bi", 0, 255) + every
        assert payload(raw(ColumnType.lvarchar(300)), pa.array([every], arrow), codepage) == wanted
        assert bound(raw(ColumnType.varchar(255)), pa.array([every], arrow), codepage) == (
            bytes(6) + b"\0\xff" + every + b"\0"
        )
    assert payload(raw(ColumnType.varchar(4)), pa.nulls(1, arrow)) == b"\1\0"


def test_raw_text_keeps_the_checks_of_length_and_nul() -> None:
    assert "The value of 5 bytes is too long for CHAR(4)" in refused(
        raw(ColumnType.char(4)), pa.array([b"abcde"])
    )
    assert "The value of 5 bytes is too long for VARCHAR(4)" in refused(
        raw(ColumnType.varchar(4)), pa.array([b"abcde"])
    )
    assert "The value of 5 bytes is too long for LVARCHAR(4)" in refused(
        raw(ColumnType.lvarchar(4)), pa.array([b"abcde"])
    )
    assert "starts with a NUL byte" in refused(raw(ColumnType.char(4)), pa.array([b"\0a"]))
    assert "of one NUL byte" in refused(raw(ColumnType.varchar(4)), pa.array([b"\0"]))


# ---- refused columns ---------------------------------------------------------------------------------------

INTEGER_TEXT = (
    "an integer type, decimals of any size and scale, float64, float32, utf8, large_utf8 or string_view. "
)
TEXT_TEXT = "utf8, large_utf8, string_view or a dictionary of them. Cast it first."
DECIMAL_TEXT = "decimals of any size and scale, an integer type, float64 or float32. Cast it first."
WRONG: list[tuple[ColumnType, pa.DataType, str]] = [
    (ColumnType.smallint(), pa.float16(), f"float16 cannot be stored in SMALLINT, which takes {INTEGER_TEXT}"),
    (ColumnType.integer(), pa.bool_(), f"Arrow type bool cannot be stored in INTEGER, which takes {INTEGER_TEXT}"),
    (ColumnType.integer(), pa.binary(), f"Arrow type binary cannot be stored in INTEGER, which takes {INTEGER_TEXT}"),
    (ColumnType.integer(), pa.list_(pa.int32()), "Arrow type list cannot be stored in INTEGER"),
    (ColumnType.integer(), pa.struct([("a", pa.int32())]), "Arrow type struct cannot be stored in INTEGER"),
    (ColumnType.bigint(), pa.duration("s"), "Arrow type duration[s] cannot be stored in BIGINT"),
    (
        ColumnType.int8(),
        pa.dictionary(pa.int32(), pa.int64()),
        "dictionary of int64 cannot be stored in INT8, which takes no dictionary of these. Decode it to plain",
    ),
    (ColumnType.smallfloat(), pa.float64(), "cannot be stored in SMALLFLOAT, which takes float32 or an integer"),
    (ColumnType.float_(), pa.float16(), "float16 cannot be stored in FLOAT, which takes float64, float32"),
    (ColumnType.date(), pa.timestamp("s"), "timestamp[s] cannot be stored in DATE, which takes date32 or date64"),
    (ColumnType.boolean(), pa.int8(), "int8 cannot be stored in BOOLEAN, which takes bool. Cast it first"),
    (ColumnType.char(4), pa.binary(), f"Arrow type binary cannot be stored in CHAR(4), which takes {TEXT_TEXT}"),
    (ColumnType.varchar(4), pa.binary_view(), f"binary_view cannot be stored in VARCHAR(4), which takes {TEXT_TEXT}"),
    (ColumnType.lvarchar(4), pa.large_binary(), "Arrow type large_binary cannot be stored in LVARCHAR(4)"),
    (ColumnType.lvarchar(4), pa.int32(), "Arrow type int32 cannot be stored in LVARCHAR(4)"),
    (
        ColumnType.varchar(4),
        pa.dictionary(pa.int32(), pa.binary()),
        f"Arrow type dictionary of binary cannot be stored in VARCHAR(4), which takes {TEXT_TEXT}",
    ),
    (ColumnType.decimal(8, 2), pa.utf8(), f"utf8 cannot be stored in DECIMAL(8,2), which takes {DECIMAL_TEXT}"),
    (ColumnType.decimal(8), pa.float16(), f"float16 cannot be stored in DECIMAL(8), which takes {DECIMAL_TEXT}"),
    (
        ColumnType.datetime("YEAR TO SECOND"),
        pa.timestamp("s", "Europe/Berlin"),
        "timestamp[s, Europe/Berlin] cannot be stored in DATETIME YEAR TO SECOND, which takes date32, date64 or "
        "timestamp without a zone. Convert it to local time",
    ),
    (ColumnType.datetime("YEAR TO DAY"), pa.time32("s"), "time32[s] cannot be stored in DATETIME YEAR TO DAY"),
    (ColumnType.datetime("HOUR TO SECOND"), pa.timestamp("s"), "SECOND, which takes time32 or time64. Cast it first."),
    (ColumnType.datetime("MONTH TO DAY"), pa.date32(), "cannot be stored in DATETIME MONTH TO DAY, which takes utf8"),
    (ColumnType.datetime("MINUTE TO FRACTION(3)"), pa.time64("ns"), "stored in DATETIME MINUTE TO FRACTION(3)"),
    (ColumnType(11, 56), pa.int32(), "Arrow type int32 cannot be stored in BYTE, which takes binary, large_binary"),
    (ColumnType(11, 56), pa.binary(55), "Arrow type fixed_size_binary[55] cannot be stored in BYTE"),
    (ColumnType(41, 72, extended_name="blob"), pa.utf8(), "stored in an opaque type (BLOB, CLOB or user-defined)"),
]  # fmt: skip


@parametrize_in_one_test(("ct", "arrow", "why"), WRONG, ids=[f"{ct.sql}-{arrow}" for ct, arrow, _ in WRONG])
@parametrize_in_one_test("rows", [0, 2])
def test_an_arrow_type_that_does_not_fit_is_refused_by_column_and_types(
    ct: ColumnType, arrow: pa.DataType, why: str, rows: int
) -> None:
    batch = pa.record_batch([pa.nulls(rows, arrow)], ["odd"])
    with pytest.raises(ValueError, match="Column 'odd': ") as info:
        Encoder([plan_op(ct).as_tuple()], ["odd"]).load(*batch.__arrow_c_array__())
    assert why in str(info.value)


@pytest.mark.parametrize("arrow", TEXT, ids=str)
def test_raw_text_takes_no_text(arrow: pa.DataType) -> None:
    batch = pa.record_batch([pa.nulls(1, arrow)], ["odd"])
    with pytest.raises(ValueError, match=r"in this raw form\. Encode the text first"):
        loaded(batch, [raw(ColumnType.varchar(4))])


def test_what_a_stream_of_polars_or_pandas_may_hold_is_taken() -> None:
    """Their own exports through the C interface have string views, categories and narrow integers."""
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "s": ["short", "a text of more than twelve bytes", None],
            "c": pl.Series(["red", None, "red"], dtype=pl.Categorical),
            "e": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b"])),
            "n": pl.Series([1, None, 3], dtype=pl.UInt8),
            "d": pl.Series([dt.date(2026, 1, 1), None, dt.date(1999, 12, 31)]),
        }
    )
    types = [
        ColumnType.varchar(40),
        ColumnType.char(4),
        ColumnType.lvarchar(9),
        ColumnType.bigint(),
        ColumnType.date(),
    ]
    encoder = Encoder([plan_op(ct).as_tuple() for ct in types], frame.columns)
    (batch,) = pa.RecordBatchReader.from_stream(frame)
    encoder.load(*batch.__arrow_c_array__())
    wanted = [
        b"\5short" + b"red " + b"\0\0\0\0\1a" + struct.pack(">q", 1) + struct.pack(">i", 20454 + 25568),
        b"\x20a text of more than twelve bytes" + b"\0   " + b"\0\0\0\0\1b" + struct.pack(">q", -(2**63)),
        b"\1\0" + b"red " + b"\1\0\0\0\0" + struct.pack(">q", 3) + struct.pack(">i", 10956 + 25568),
    ]
    wanted[1] += b"\x80\0\0\0"
    assert payloads(encoder) == wanted
