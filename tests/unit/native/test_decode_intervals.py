"""INTERVAL of every qualifier and leading precision against the Python reference (TYPES section 7)."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.decoder_support import decode_one, new_decoder, refuses, taken, tuple_message

from informix_arrow.wire.datetimes import IntervalValue, pack_interval, unpack_interval
from informix_arrow.wire.errors import DataError, Error, ProtocolError
from informix_arrow.wire.intervals import check_interval, to_month_day_nano, to_months, to_timedelta
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType

MONTH_DAY_NANO = TypeOptions(intervals="month_day_nano")
DAY_US = 86_400_000_000
LONGEST_DURATION = 2**63 - 1


def qualifiers() -> list[Qualifier]:
    """Return all qualifiers: both classes, leading precisions 1 to 9, every last field."""
    found = []
    for start in (0, 2, 4, 6, 8, 10):
        ends = (0, 2) if start <= 2 else (4, 6, 8, 10, 11, 12, 13, 14, 15)
        for end in ends:
            if end >= start:
                found += [Qualifier(start, end, leading + end - start) for leading in range(1, 10)]
    return found + [Qualifier(12, end, end - 10) for end in range(11, 16)]


QUALIFIERS = qualifiers()
LIMITS = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}


def greatest(qualifier: Qualifier) -> list[int]:
    """Return the greatest value of each field."""
    found = []
    for index, name in enumerate(qualifier.field_names):
        if name == "FRACTION":
            found.append(10**qualifier.fraction_digits - 1)
        else:
            found.append(10**qualifier.leading - 1 if index == 0 else LIMITS[name])
    return found


def samples(qualifier: Qualifier) -> Iterator[IntervalValue]:
    """Yield zero, the greatest value, each field alone as 1 and as its greatest, one of every length; all with both
    signs."""
    limits = greatest(qualifier)
    rows = [tuple(0 for _ in limits), tuple(limits), tuple((limit + 1) // 2 for limit in limits)]
    for index, limit in enumerate(limits):
        rows += [tuple(v if i == index else 0 for i in range(len(limits))) for v in (1, limit)]
    rows += [(10**n, *limits[1:]) for n in range(qualifier.leading if qualifier.start < 12 else 0)]
    rng = random.Random(qualifier.encoded)
    rows += [tuple(rng.randint(0, limit) for limit in limits) for _ in range(5)]
    for fields in rows:
        yield IntervalValue(qualifier, False, fields)
        if any(fields):
            yield IntervalValue(qualifier, True, fields)


def test_there_are_this_many_qualifiers() -> None:
    """3 of years and months and 30 of days to fractions, each with 9 leading precisions, and FRACTION's 5."""
    assert len(set(QUALIFIERS)) == len(QUALIFIERS) == (3 + 30) * 9 + 5


def fits(value: IntervalValue, op: PlanOp) -> bool:
    """Return whether the Arrow type of a kind can hold the value."""
    if value.qualifier.is_year_month:
        return -(2**31) <= (value.months or 0) < 2**31
    return op.kind == Kind.INTERVAL_MDN or abs(value.microseconds or 0) <= LONGEST_DURATION


@pytest.mark.slow
@parametrize_in_one_test("qualifier", QUALIFIERS, ids=lambda q: q.interval_sql)
@parametrize_in_one_test("normalise", [True, False], ids=["normalised", "full"])
def test_every_qualifier_decodes_to_what_the_reference_says(qualifier: Qualifier, normalise: bool) -> None:
    ct = ColumnType(14, qualifier.encoded)
    all_values = list(samples(qualifier))
    natural = to_months if qualifier.is_year_month else to_timedelta
    for op, convert in ((plan_op(ct), natural), (plan_op(ct, MONTH_DAY_NANO), to_month_day_nano)):
        values = [value for value in all_values if fits(value, op)]
        assert len(values) > 8
        raw = [pack_interval(value, normalise=normalise) for value in values]
        column = decode_one(op, [*raw, bytes(qualifier.width)])
        assert column.to_pylist() == [*map(convert, values), None]


@parametrize_in_one_test("qualifier", QUALIFIERS, ids=lambda q: q.interval_sql)
def test_every_field_above_its_greatest_value_is_refused(qualifier: Qualifier) -> None:
    """Each pair of digits of the greatest value plus one. A leading field of odd length begins with a 9."""
    op = plan_op(ColumnType(14, qualifier.encoded), MONTH_DAY_NANO)
    limits = greatest(qualifier)
    pairs = pack_interval(IntervalValue(qualifier, False, tuple(limits)))[1:]
    first = 0xC0 + qualifier.full_exponent
    for negative in (False, True):
        for at, pair in enumerate(pairs):
            if pair == 99 or (qualifier.fraction_digits % 2 and at == len(pairs) - 1):
                continue
            damaged = bytearray(len(pairs))
            damaged[at] = pair + 1
            raw = bytes([first, *damaged])
            if negative:
                raw = bytes([first ^ 0xFF, *(99 for _ in range(at)), 100 - pair - 1]).ljust(len(raw), b"\0")
            name = "digits" if at == 0 and qualifier.leading % 2 else "but must be at most"
            refuses(op, raw, DataError, name)
        if qualifier.fraction_digits % 2:
            last = bytes([first ^ 0xFF, *([99] * (len(pairs) - 1)), 95]) if negative else None
            raw = last or bytes([first, *bytes(len(pairs) - 1), 5])
            refuses(op, raw, DataError, rf"more digits than FRACTION\({qualifier.fraction_digits}\)")


def interval(text: str, kind: Kind | None = None) -> PlanOp:
    op = plan_op(ColumnType(14, Qualifier.parse(text, interval=True).encoded))
    return op if kind is None else PlanOp(kind, op.width, op.arg, op.flags)


def test_intervals_that_are_packed_wrongly_are_refused() -> None:
    op = interval("DAY(2) TO SECOND")
    refuses(op, bytes.fromhex("c501020304"), ProtocolError, "exponent 5 is greater than 4")
    refuses(op, bytes.fromhex("3a01020304"), ProtocolError, "exponent 5 is greater than 4")
    refuses(op, bytes.fromhex("c464000000"), ProtocolError, "greater than 99")
    refuses(op, bytes.fromhex("c400000064"), ProtocolError, "greater than 99")
    refuses(op, bytes.fromhex("c001020304"), DataError, "after the last field of the qualifier")
    refuses(op, bytes.fromhex("8000000001"), DataError, "after the last field of the qualifier")
    refuses(op, bytes.fromhex("c401180000"), DataError, "hour is 24, but must be at most 23")
    refuses(op, bytes.fromhex("c401003c00"), DataError, "minute is 60, but must be at most 59")
    refuses(op, bytes.fromhex("c40100003c"), DataError, "second is 60, but must be at most 59")
    refuses(
        interval("YEAR(4) TO MONTH"),
        bytes.fromhex("c701010c"),
        DataError,
        "month is 12, but must be at most 11",
    )
    refuses(interval("YEAR(3) TO MONTH"), bytes.fromhex("c70a0000"), DataError, "more than 3 digits")


def test_only_fields_behind_the_first_are_limited() -> None:
    assert decode_one(interval("MINUTE(2) TO SECOND"), [bytes.fromhex("c2633b")]).to_pylist() == [
        dt.timedelta(minutes=99, seconds=59)
    ]
    assert decode_one(interval("MONTH(2) TO MONTH"), [bytes.fromhex("c563")]).to_pylist() == [99]
    assert decode_one(interval("HOUR(4) TO HOUR"), [bytes.fromhex("c46363")]).to_pylist() == [
        dt.timedelta(hours=9999)
    ]


@pytest.mark.parametrize("zero", ["8000000000", "c400000000", "c100000000", "3b00000000", "7f00000000"])
def test_zero_is_accepted_in_every_spelling_of_the_sign_and_exponent(zero: str) -> None:
    assert decode_one(interval("DAY(2) TO SECOND"), [bytes.fromhex(zero)]).to_pylist() == [dt.timedelta(0)]


def day9(days: int, micros: int = 0) -> bytes:
    """Return a DAY(9) TO FRACTION(5)."""
    qualifier = Qualifier.parse("DAY(9) TO FRACTION(5)", interval=True)
    seconds, fraction = divmod(micros, 1_000_000)
    fields = (abs(days), seconds // 3600, seconds // 60 % 60, seconds % 60, fraction // 10)
    return pack_interval(IntervalValue(qualifier, days < 0, fields))


def test_durations_are_exact_up_to_the_last_microsecond_that_int64_holds() -> None:
    days, rest = divmod(LONGEST_DURATION // 10 * 10, DAY_US)
    assert days == 106_751_991
    op = interval("DAY(9) TO FRACTION(5)")
    column = decode_one(op, [day9(days, rest), day9(-days, rest)])
    assert column.cast(pa.int64()).to_pylist() == [LONGEST_DURATION - 7, -LONGEST_DURATION + 7]
    for raw in (
        day9(days, rest + 10),
        day9(-days, rest + 10),
        day9(days + 1),
        day9(999_999_999, DAY_US - 10),
    ):
        refuses(
            op,
            raw,
            DataError,
            r'days do not fit in duration\[us\] \(106751991 days\)\. Use intervals="month_day_nano"',
        )


def test_month_day_nano_holds_every_day9_with_the_sign_on_both_parts() -> None:
    op = interval("DAY(9) TO FRACTION(5)", Kind.INTERVAL_MDN)
    (long, back, short) = decode_one(
        op, [day9(999_999_999, DAY_US - 10), day9(-999_999_999, DAY_US - 10), day9(0, 10)]
    ).to_pylist()
    assert long == pa.MonthDayNano([0, 999_999_999, 86_399_999_990_000])
    assert back == pa.MonthDayNano([0, -999_999_999, -86_399_999_990_000])
    assert short == pa.MonthDayNano([0, 0, 10_000])


def test_more_months_than_int32_are_a_data_error() -> None:
    qualifier = Qualifier.parse("YEAR(9) TO MONTH", interval=True)
    for kind in (Kind.INTERVAL_MONTHS, Kind.INTERVAL_MDN):
        op = interval("YEAR(9) TO MONTH", kind)
        for negative, years, months in ((False, 178_956_970, 7), (True, 178_956_970, 8)):
            last = pack_interval(IntervalValue(qualifier, negative, (years, months)))
            (got,) = decode_one(op, [last]).to_pylist()
            total = -(2**31) if negative else 2**31 - 1
            assert got == (total if kind == Kind.INTERVAL_MONTHS else pa.MonthDayNano([total, 0, 0]))
            beyond = pack_interval(IntervalValue(qualifier, negative, (years, months + 1)))
            refuses(op, beyond, DataError, "months do not fit in int32")


def test_null_intervals_are_zero_bytes_only() -> None:
    op = interval("DAY(2) TO SECOND")
    for kind in (Kind.INTERVAL_DURATION, Kind.INTERVAL_MDN):
        nulls = PlanOp(kind, op.width, op.arg, 0)
        assert decode_one(nulls, [bytes(5), bytes.fromhex("c401000000"), bytes(5)]).null_count == 2
    refuses(op, bytes.fromhex("0000000001"), ProtocolError, "exponent 63")


def reference(raw: bytes, qualifier: Qualifier, op: PlanOp) -> object:
    try:
        value = unpack_interval(raw, qualifier)
        if value is None:
            return None
        check_interval(value.fields, qualifier)
        if op.kind == Kind.INTERVAL_MDN:
            return to_month_day_nano(value)
        return to_months(value) if qualifier.is_year_month else to_timedelta(value)
    except Error as error:
        return type(error)


PAIRS = st.sampled_from([0, 0, 0, 1, 9, 10, 11, 12, 23, 24, 50, 59, 60, 90, 99, 99, 99, 100, 255])


@given(st.data())
@settings(max_examples=examples(120), deadline=None)
def test_any_bytes_at_all_are_the_interval_that_the_reference_sees_or_refused_alike(
    data: st.DataObject,
) -> None:
    qualifier = data.draw(st.sampled_from(QUALIFIERS))
    options = data.draw(st.sampled_from([TypeOptions(), MONTH_DAY_NANO]))
    op = plan_op(ColumnType(14, qualifier.encoded), options)
    exponent = data.draw(st.integers(-4, qualifier.full_exponent + 1) | st.integers(-64, 63)) + 0xC0
    first = data.draw(st.sampled_from([exponent, exponent ^ 0xFF, 0, 0x80]))
    raw = bytes([first, *data.draw(st.lists(PAIRS, min_size=op.width - 1, max_size=op.width - 1))])
    message = tuple_message(raw)
    decoder = new_decoder([op])
    ours: object
    try:
        # Garbage after the value, which loads of 16 bytes must not include.
        decoder.feed(message + b"\x63" * data.draw(st.integers(0, 20)), 0, len(message))
        ours = taken(decoder, [op]).column(0)[0].as_py()
    except Error as error:
        ours = type(error)
    assert ours == reference(raw, qualifier, op), raw.hex()


@pytest.mark.parametrize(
    "op",
    [
        (Kind.INTERVAL_MONTHS, 5, 0x084A, 0),  # DAY(2) TO SECOND
        (Kind.INTERVAL_DURATION, 4, 0x0602, 0),  # YEAR(4) TO MONTH
        (Kind.INTERVAL_MDN, 5, 0x0602, 0),  # too wide
        (Kind.INTERVAL_MDN, 4, 0x0C04, 0),  # YEAR TO DAY
        (Kind.INTERVAL_MDN, 2, 0x0044, 0),  # DAY(0)
        (Kind.INTERVAL_MDN, 6, 0x0A44, 0),  # DAY(10)
        (Kind.INTERVAL_MDN, 3, 0x0264, 0),  # HOUR TO DAY
        (Kind.INTERVAL_MDN, 3, 0x0245, 0),
        (Kind.INTERVAL_MDN, 3, 0x04CD, 0),  # FRACTION TO FRACTION(3) has 3 digits
        (Kind.INTERVAL_MDN, 2, -1, 0),
        (Kind.INTERVAL_MDN, 2, 0x10222, 0),
    ],
)
def test_a_qualifier_that_no_interval_has_is_refused(op: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="the qualifier does not"):
        new_decoder([PlanOp(Kind(op[0]), *op[1:])])
