"""Encoded values are decoded to equal ones, by the Python reference and by the C decoder."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stress import examples
from tests.unit.native.decoder_support import new_decoder, stream, taken
from tests.unit.native.encoder_support import PUT, codepage_of, loaded, payloads

from informix_arrow.wire.describe import Column
from informix_arrow.wire.plan_ops import FLAG_RAW, Kind, PlanOp, TypeOptions, arrow_type_of_op, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

FIELDS = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", *(f"FRACTION({n})" for n in range(1, 6))]
STARTS = [*FIELDS[:6], "FRACTION"]
LATIN1 = codepage_of("latin-1")
# byte -> {length, UTF-8 bytes}: the same code page for the decoder
LATIN1_DECODING = b"".join(
    bytes([len(c)]) + c.ljust(3, b"\0") for c in (bytes([b]).decode("latin-1").encode() for b in range(256))
)
LATIN1_DECODING = b"\1\0\0\0" + LATIN1_DECODING[4:]


@st.composite
def qualifiers(draw: st.DrawFn) -> Qualifier:
    start = draw(st.integers(0, 6))
    return Qualifier.datetime(STARTS[start], FIELDS[draw(st.integers(start, len(FIELDS) - 1))])


@st.composite
def intervals(draw: st.DrawFn) -> Qualifier:
    first, last = draw(st.sampled_from([("YEAR", "YEAR"), ("YEAR", "MONTH"), ("MONTH", "MONTH"), ("", "")]))
    if not first:
        start = draw(st.integers(2, 6))
        first, last = STARTS[start], FIELDS[draw(st.integers(start, len(FIELDS) - 1))]
    leading = "" if first == "FRACTION" else f"({draw(st.integers(1, 9))})"
    return Qualifier.parse(f"{first}{leading} TO {last}", interval=True)


@st.composite
def decimals(draw: st.DrawFn) -> ColumnType:
    precision = draw(st.integers(1, 32))
    scale = draw(st.none() | st.integers(0, precision))
    return ColumnType.decimal(precision, scale)


COLUMN_TYPES = st.one_of(
    st.sampled_from(
        [
            ColumnType.smallint(),
            ColumnType.integer(),
            ColumnType.bigint(),
            ColumnType.int8(),
            ColumnType.serial8(),
            ColumnType.smallfloat(),
            ColumnType.float_(),
            ColumnType.date(),
            ColumnType.boolean(),
        ]
    ),
    st.integers(1, 70).map(ColumnType.char),
    st.integers(1, 255).map(ColumnType.varchar),
    st.integers(1, 600).map(ColumnType.lvarchar),
    decimals(),
    qualifiers().map(lambda q: ColumnType(10, q.encoded)),
    intervals().map(lambda q: ColumnType(14, q.encoded)),
    st.sampled_from(
        [
            ColumnType(11, 56),
            ColumnType(12, 56),
            ColumnType(41, 72, extended_id=10, extended_name="blob"),
            ColumnType(40, 0, extended_id=2048, extended_name="point"),
            ColumnType(20, 0, extended_name="MULTISET(INTEGER NOT NULL)"),
        ]
    ),
)

OPTIONS = st.builds(
    TypeOptions,
    floating_decimals=st.sampled_from(["float64", "string", pa.decimal128(38, 10)]),
    strings=st.sampled_from(["utf8", "large"]),
    intervals=st.sampled_from(["native", "month_day_nano"]),
    integer_aggregates=st.booleans(),
    encoding_errors=st.sampled_from(["strict", "binary"]),
)


def texts(limit: int, encoding: str) -> st.SearchStrategy[str]:
    """Return a strategy for texts of at most `limit` bytes, without a NUL and without the trailing blanks that CHAR
    drops."""
    letters = st.characters(codec=encoding, exclude_categories=["Cs"], exclude_characters="\0")
    return st.text(letters, max_size=limit).map(
        lambda s: s.encode(encoding)[:limit].decode(encoding, "ignore").rstrip(" ")
    )


def unscaled(digits: int) -> st.SearchStrategy[int]:
    """Return a strategy for integers of up to ``digits`` digits, with all lengths equally likely."""
    return st.integers(0, digits).flatmap(lambda n: st.integers(-(10**n) + 1, 10**n - 1))


def decimal_of(number: int, exponent: int) -> Decimal:
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), exponent))


def values(ct: ColumnType, op: PlanOp, encoding: str) -> st.SearchStrategy[Any]:
    """Return a strategy for Python values that the column can hold, as in Arrow's to_pylist."""
    if op.kind in (Kind.INT16, Kind.INT32, Kind.INT64, Kind.INT8):
        top = 2 ** ({Kind.INT16: 16, Kind.INT32: 32}.get(op.kind, 64) - 1) - 1
        return st.integers(-top, top)
    if op.kind in (Kind.FLOAT32, Kind.FLOAT64):
        return st.floats(allow_nan=False, width=32 if op.kind == Kind.FLOAT32 else 64)
    if op.kind in (Kind.DATE, Kind.DATETIME_DATE32):
        return st.dates()
    if op.kind == Kind.BOOL:
        return st.booleans()
    if op.kind in (Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR):
        limit = ct.content_width or 300
        if op.flags & FLAG_RAW:
            return st.binary(max_size=limit).map(lambda b: b.lstrip(b"\0").rstrip(b" "))
        return texts(limit, encoding)
    if op.kind == Kind.LOB:
        return st.integers(0, 2**31 - 1).map(
            lambda n: bytes(16) + n.to_bytes(4, "big") + bytes(op.width - 20)
        )
    if op.kind == Kind.OPAQUE:
        return st.binary(max_size=op.width or 300)
    if op.kind == Kind.DECIMAL_INT64:
        return unscaled(min(ct.precision or 0, 18))
    if op.kind in (Kind.INTERVAL_MONTHS, Kind.INTERVAL_DURATION, Kind.INTERVAL_MDN):
        return spans(Qualifier.from_encoded(op.arg), op.kind)
    if op.kind == Kind.DECIMAL128:
        precision, scale = op.arg >> 8, op.arg & 255
        digits = min(precision, ct.precision or 0)
        if ct.scale is None:  # digits of the column, fraction digits of the Arrow type
            return unscaled(digits).map(lambda n: decimal_of(n, -scale))
        return unscaled(precision).map(lambda n: decimal_of(n, -scale))
    if op.kind == Kind.DECIMAL_STRING:
        return st.builds(decimal_of, unscaled(ct.precision or 0), st.integers(-90, 90)).map(plain)
    if op.kind == Kind.DECIMAL_FLOAT64:
        exact = st.builds(decimal_of, unscaled(min(ct.precision or 0, 15)), st.integers(-90, 90))
        return exact.map(lambda d: abs(float(d)) if d == 0 else float(d))
    qualifier = Qualifier.from_encoded(op.arg)
    return st.datetimes().map(lambda moment: cut(moment, qualifier, op.kind))


UNITS = {0: 12, 2: 1, 4: 86400, 6: 3600, 8: 60, 10: 1}  # in months for years, in seconds for the others


def spans(qualifier: Qualifier, kind: Kind) -> st.SearchStrategy[Any]:
    """Return a strategy for intervals within the qualifier and the Arrow type, with all lengths equally likely."""
    fraction = qualifier.fraction_digits
    unit = UNITS[min(qualifier.end, 10)] * 10**fraction if not fraction else 1  # in units of the last field
    first = 10**fraction if qualifier.start == 12 else UNITS[qualifier.start] * 10**fraction
    top = (10**fraction if qualifier.start == 12 else 10**qualifier.leading * first) // unit - 1
    if qualifier.is_year_month:
        top = min(top, (2**31 - 1) // unit)
    elif kind == Kind.INTERVAL_DURATION:
        top = min(top, (2**63 - 1) // (10 ** (6 - fraction) * unit))

    def made(amount: int) -> Any:
        amount *= unit
        if qualifier.is_year_month:
            return amount if kind == Kind.INTERVAL_MONTHS else pa.MonthDayNano([amount, 0, 0])
        if kind == Kind.INTERVAL_DURATION:
            return dt.timedelta(microseconds=amount * 10 ** (6 - fraction))
        days, rest = divmod(abs(amount), 86400 * 10**fraction)
        sign = -1 if amount < 0 else 1
        return pa.MonthDayNano([0, sign * days, sign * rest * 10 ** (9 - fraction)])

    sizes = st.integers(0, max(len(str(top)) - 1, 0)).map(lambda n: min(top, 10 ** (n + 1)))
    return sizes.flatmap(lambda limit: st.integers(-limit, limit)).map(made)


def plain(number: Decimal) -> str:
    """Return the decoder's text of a number: no exponent, no trailing zeros in the fraction."""
    if number == 0:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def cut(moment: dt.datetime, qualifier: Qualifier, kind: Kind) -> object:
    """Return the fields of a moment that the qualifier has."""
    step = 10 ** (6 - qualifier.fraction_digits)
    moment = moment.replace(microsecond=moment.microsecond // step * step)
    if qualifier.end < 10:
        moment = moment.replace(second=0)
    if qualifier.end < 8:
        moment = moment.replace(minute=0)
    if qualifier.end < 6:
        moment = moment.replace(hour=0)
    if kind == Kind.DATETIME_TIMESTAMP:
        return moment
    if kind in (Kind.DATETIME_TIME32, Kind.DATETIME_TIME64):
        return moment.time()
    parts = [
        f"{moment.year:04d}", f"-{moment.month:02d}", f"-{moment.day:02d}",
        f" {moment.hour:02d}", f":{moment.minute:02d}", f":{moment.second:02d}",
        f".{moment.microsecond:06d}"[: 1 + qualifier.fraction_digits],
    ]  # fmt: skip
    first, last = qualifier.start // 2, 6 if qualifier.fraction_digits else qualifier.end // 2
    text = "".join(parts[first : last + 1])
    return text if first == 6 else text.lstrip("-: ")


@st.composite
def tables(draw: st.DrawFn, encoding: str) -> tuple[list[Column], TypeOptions, pa.RecordBatch]:
    types = draw(st.lists(COLUMN_TYPES, min_size=1, max_size=6))
    options = draw(OPTIONS)
    rows = draw(st.integers(0, 12))
    columns, arrays = [], []
    for number, ct in enumerate([*types, ColumnType.integer()]):
        op = plan_op(ct, options)
        cell = st.none() | values(ct, op, encoding)
        cells = draw(st.lists(cell, min_size=rows, max_size=rows), label=f"c{number} {ct.sql}")
        columns.append(Column(f"c{number}", ct))
        arrays.append(pa.array(cells, arrow_type_of_op(op)))
    return columns, options, pa.record_batch(arrays, [c.name for c in columns])


Table = tuple[list[Column], TypeOptions, pa.RecordBatch]


def check(table: Table, encoding: str, budget: int, framing: int) -> None:
    columns, options, batch = table
    ops = [plan_op(c.type, options) for c in columns]
    utf8 = encoding == "utf-8"
    tuples = payloads(loaded(batch, ops, None if utf8 else LATIN1), budget, framing)
    expected = [tuple(row.values()) for row in batch.to_pylist()]

    assert [decode_tuple(t, columns, encoding, options) for t in tuples] == expected
    assert [encode_tuple(row, columns, encoding, options) for row in expected] == tuples

    decoder = new_decoder(ops, codepage=None if utf8 else LATIN1_DECODING)
    data = stream(tuples)
    assert decoder.feed(data, 0, len(data)) == (len(data) - 2, 1)
    assert taken(decoder, ops).to_pylist() == batch.to_pylist()


SETTINGS = settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SETTINGS
@given(tables("utf-8"), st.sampled_from([0, 100, 1 << 16]), st.sampled_from([0, PUT]))
def test_rows_read_back_equal_in_utf8(table: Table, budget: int, framing: int) -> None:
    check(table, "utf-8", budget, framing)


@SETTINGS
@given(tables("latin-1"), st.sampled_from([0, 100, 1 << 16]), st.sampled_from([0, PUT]))
def test_rows_read_back_equal_in_a_single_byte_code_page(table: Table, budget: int, framing: int) -> None:
    check(table, "latin-1", budget, framing)
