"""Random types and values of every kind: the Python reference reads back what it wrote, and the C codecs equal the
reference, bit for bit."""

from __future__ import annotations

import datetime as dt
import math
import struct
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.stress import examples
from tests.unit.native.decoder_support import SENTINEL, decode, new_decoder, stream, taken, tuple_message
from tests.unit.native.encoder_support import codepage_of, loaded, payloads

from informix_arrow.wire.codepages import decoder_table
from informix_arrow.wire.datetimes import IntervalValue, format_datetime
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, Error
from informix_arrow.wire.intervals import to_month_day_nano, to_timedelta
from informix_arrow.wire.nested import format_literal, nested_type, parse_literal
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, arrow_type_of_op, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import FLAG_DISTINCT, FLAG_NOT_NULL, ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

AFTER = Column("after", ColumnType.integer())
OPTIONS = [
    TypeOptions(),
    TypeOptions(char_padding="keep", strings="large", floating_decimals="string"),
    TypeOptions(intervals="month_day_nano", integer_aggregates=True, encoding_errors="replace"),
    TypeOptions(decimals="float64", encoding_errors="binary", char_padding="keep"),
]
FIELDS = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION"]
ENCODINGS = ["utf-8", "latin-1", "cp1252"]


@dataclass(frozen=True)
class Case:
    """A column type and a strategy for its values."""

    type: ColumnType
    values: st.SearchStrategy[object]


# ---- types and their values


def integers(bits: int) -> st.SearchStrategy[object]:
    top = 2 ** (bits - 1) - 1
    return st.integers(-top, top) | st.sampled_from([-top, -1, 0, 1, top])


def texts(size: int, encoding: str) -> st.SearchStrategy[str]:
    """Return a strategy for texts of at most ``size`` bytes, without NUL and trailing blanks, which a CHAR changes."""
    alphabet = st.characters(codec=encoding, exclude_characters="\0", exclude_categories=["Cs"])
    base = st.text(alphabet, max_size=min(size, 40))
    return base.map(lambda s: s.encode(encoding)[:size].decode(encoding, "ignore").rstrip(" "))


def decimals(precision: int, scale: int) -> st.SearchStrategy[object]:
    top = 10**precision - 1
    return (st.integers(-top, top) | st.sampled_from([-top, 0, top])).map(
        lambda n: Decimal((int(n < 0), tuple(map(int, str(abs(n)))), -scale))
    )


def floating(precision: int) -> st.SearchStrategy[object]:
    """Return a strategy for numbers of up to ``precision`` digits within the range, including -9.99E125."""
    top = 10 ** min(precision, 32) - 1

    def made(coefficient: int, leading: int) -> Decimal:
        digits = len(str(abs(coefficient)))
        return Decimal((int(coefficient < 0), tuple(map(int, str(abs(coefficient)))), leading - digits + 1))

    return st.builds(made, st.integers(-top, top), st.integers(-98, 125) | st.sampled_from([0, 125]))


def datetime_qualifiers() -> st.SearchStrategy[Qualifier]:
    pairs = [
        Qualifier.datetime(start, end)
        for i, start in enumerate(FIELDS)
        for end in [*FIELDS[i:6], *(f"FRACTION({n})" for n in range(1, 6))]
    ]
    return st.sampled_from(pairs)


def interval_qualifiers() -> st.SearchStrategy[Qualifier]:
    @st.composite
    def made(draw: st.DrawFn) -> Qualifier:
        start = draw(st.integers(0, 6))
        ends = FIELDS[start:2] if start < 2 else [*FIELDS[start:6], *(f"FRACTION({n})" for n in range(1, 6))]
        leading = f"({draw(st.integers(1, 9))})" if start < 6 else ""
        return Qualifier.parse(f"{FIELDS[start]}{leading} TO {draw(st.sampled_from(ends))}", interval=True)

    return made()


def moments(qualifier: Qualifier) -> st.SearchStrategy[str]:
    """Return a strategy for literals, which are valid for every kind of DATETIME."""

    def text(moment: dt.datetime) -> str:
        parts = {
            "YEAR": moment.year, "MONTH": moment.month, "DAY": moment.day, "HOUR": moment.hour,
            "MINUTE": moment.minute, "SECOND": moment.second,
            "FRACTION": moment.microsecond // 10 ** (6 - qualifier.fraction_digits),
        }  # fmt: skip
        return format_datetime([parts[name] for name in qualifier.field_names], qualifier)

    return (st.datetimes() | st.just(dt.datetime(2024, 2, 29))).map(text)


def spans(qualifier: Qualifier) -> st.SearchStrategy[IntervalValue]:
    tops = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
    limits = [tops.get(name, 10**qualifier.fraction_digits - 1) for name in qualifier.field_names]
    if qualifier.field_names[0] != "FRACTION":
        limits[0] = 10**qualifier.leading - 1
        if qualifier.field_names[0] == "YEAR":
            limits[0] = min(limits[0], 178_956_969)  # int32 months
        if qualifier.field_names[0] == "DAY":
            limits[0] = min(limits[0], 106_751_990)  # int64 microseconds
    fields = st.tuples(*(st.integers(0, limit) | st.sampled_from([0, limit]) for limit in limits))
    return st.builds(
        lambda negative, f: IntervalValue(qualifier, negative and any(f), f), st.booleans(), fields
    )


@st.composite
def cases(draw: st.DrawFn, encoding: str) -> Case:
    name = draw(st.sampled_from(sorted(MAKERS)))
    return MAKERS[name](draw, encoding)


def _decimal(draw: st.DrawFn, encoding: str) -> Case:
    precision = draw(st.integers(1, 32))
    scale = draw(st.integers(0, precision))
    make = draw(st.sampled_from([ColumnType.decimal, ColumnType.money]))
    return Case(make(precision, scale), decimals(precision, scale))


def _count(draw: st.DrawFn, encoding: str) -> Case:
    precision = draw(st.integers(1, 18))
    return Case(ColumnType.decimal(precision, 0), decimals(precision, 0))


def _floating(draw: st.DrawFn, encoding: str) -> Case:
    precision = draw(st.integers(1, 32))
    return Case(ColumnType.decimal(precision), floating(precision))


def _datetime(draw: st.DrawFn, encoding: str) -> Case:
    qualifier = draw(datetime_qualifiers())
    return Case(ColumnType.datetime(qualifier.sql), moments(qualifier))


def _interval(draw: st.DrawFn, encoding: str) -> Case:
    qualifier = draw(interval_qualifiers())
    return Case(ColumnType.interval(qualifier.interval_sql), spans(qualifier))


def _sized(make: str, top: int) -> object:
    def case(draw: st.DrawFn, encoding: str) -> Case:
        size = draw(st.integers(1, top))
        return Case(getattr(ColumnType, make)(size), texts(size, encoding))

    return case


def _nested(draw: st.DrawFn, encoding: str) -> Case:
    return Case(ColumnType.parse_sql("LIST(LVARCHAR NOT NULL)"), texts(300, encoding))


def _descriptor(data: bytes) -> bytes:
    return data[:39] + bytes((data[39] & 0xFE,)) + data[40:]


MAKERS: dict[str, object] = {
    "smallint": lambda d, e: Case(ColumnType.smallint(), integers(16)),
    "integer": lambda d, e: Case(
        d(st.sampled_from([ColumnType.integer(), ColumnType.serial()])), integers(32)
    ),
    "bigint": lambda d, e: Case(
        d(st.sampled_from([ColumnType.bigint(), ColumnType.bigserial()])), integers(64)
    ),
    "int8": lambda d, e: Case(d(st.sampled_from([ColumnType.int8(), ColumnType.serial8()])), integers(64)),
    "float": lambda d, e: Case(ColumnType.float_(), st.floats(allow_nan=False) | st.just(math.nan)),
    "smallfloat": lambda d, e: Case(ColumnType.smallfloat(), st.floats(width=32, allow_nan=False)),
    "date": lambda d, e: Case(ColumnType.date(), st.dates()),
    "boolean": lambda d, e: Case(ColumnType.boolean(), st.booleans()),
    "byte": lambda d, e: Case(
        d(st.sampled_from([ColumnType.byte(), ColumnType.text()])),
        st.binary(min_size=56, max_size=56).map(_descriptor),
    ),
    "blob": lambda d, e: Case(
        d(st.sampled_from([ColumnType.blob(), ColumnType.clob()])),
        st.binary(min_size=72, max_size=72)
        | st.binary(min_size=72, max_size=72).map(lambda b: b.hex().encode()),
    ),
    "opaque": lambda d, e: Case(ColumnType(40, 300, extended_name="myudt"), st.binary(max_size=300)),
    "json": lambda d, e: Case(ColumnType.parse_sql("JSON"), texts(300, e)),
    "char": _sized("char", 60),
    "nchar": _sized("nchar", 300),
    "varchar": _sized("varchar", 255),
    "nvarchar": _sized("nvarchar", 255),
    "lvarchar": _sized("lvarchar", 2000),
    "decimal": _decimal,
    "count": _count,
    "floating": _floating,
    "datetime": _datetime,
    "interval": _interval,
    "nested": _nested,
}


@st.composite
def results(draw: st.DrawFn) -> tuple[str, TypeOptions, list[Column], list[tuple[object, ...]]]:
    """Draw a code set, options, columns that are each followed by a sentinel, and rows."""
    encoding = draw(st.sampled_from(ENCODINGS))
    chosen = draw(st.lists(cases(encoding), min_size=1, max_size=6))
    columns = [column for i, c in enumerate(chosen) for column in (Column(f"c{i}", c.type), AFTER)]
    row = st.tuples(*(s for c in chosen for s in (st.none() | c.values, st.just(SENTINEL))))
    options, rows = draw(st.sampled_from(OPTIONS)), draw(st.lists(row, max_size=6))
    for column, values in zip(columns, zip(*rows, strict=True), strict=False):
        if plan_op(column.type, options).kind == Kind.DECIMAL_INT64:  # beyond int64 they are refused
            assume(all(value is None or -(2**63) <= value < 2**63 for value in values))
    return encoding, options, columns, rows


def same(ours: object, theirs: object) -> bool:
    """Return whether values are equal bit for bit: -0.0 is not 0.0, Decimal("1") not Decimal("1.0"), True not 1."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return struct.pack("d", ours) == struct.pack("d", theirs) or (math.isnan(ours) and math.isnan(theirs))
    return type(ours) is type(theirs) and ours == theirs and str(ours) == str(theirs)


def page(encoding: str) -> bytes | None:
    return None if encoding == "utf-8" else codepage_of(encoding)


# ---- the reference against itself


def expected(value: object, op: PlanOp, ct: ColumnType, encoding: str) -> object:
    """Return the value that a column of this op must have for a value of the strategies above."""
    if value is None:
        return None
    if isinstance(value, IntervalValue):
        if op.kind == Kind.INTERVAL_MDN:
            return to_month_day_nano(value)
        return value.months if op.kind == Kind.INTERVAL_MONTHS else to_timedelta(value)
    if op.kind == Kind.DECIMAL_FLOAT64:
        return float(value)  # type: ignore[arg-type]
    if op.kind == Kind.DECIMAL_STRING:
        return Decimal(value)  # type: ignore[arg-type]
    if op.kind == Kind.DECIMAL_INT64:
        return int(value)  # type: ignore[call-overload]
    if isinstance(value, str) and op.kind in (Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR):
        padded = value.encode(encoding).ljust(op.width) if op.kind == Kind.CHAR and not op.flags & 1 else None
        raw = value.encode(encoding) if padded is None else padded
        return raw if op.flags & 16 else raw.decode(encoding)
    return value


@given(results())
@settings(max_examples=examples(20), deadline=None)
def test_what_is_encoded_is_decoded_again(
    result: tuple[str, TypeOptions, list[Column], list[tuple[object, ...]]],
) -> None:
    encoding, options, columns, rows = result
    for row in rows:
        data = encode_tuple(row, columns, encoding)
        back = decode_tuple(data, columns, encoding, options)
        for given_value, found, column in zip(row, back, columns, strict=True):
            op = plan_op(column.type, options)
            wanted = expected(given_value, op, column.type, encoding)
            if op.kind == Kind.DECIMAL_STRING and found is not None:
                found = Decimal(found)  # type: ignore[arg-type]
                assert found == wanted
            elif op.kind.name.startswith("DATETIME") and found is not None:
                assert same_moment(given_value, found, column.type)
            else:
                assert same(found, wanted) or (found == wanted and op.kind == Kind.FLOAT32), (found, wanted)
        if options.decimals == "decimal128":  # not every float64 fits its DECIMAL(p,s) again
            again = [
                value if plan_op(column.type, options).kind != Kind.DECIMAL_FLOAT64 else stored
                for value, stored, column in zip(back, row, columns, strict=True)
            ]
            assert encode_tuple(again, columns, encoding, options) == data


def same_moment(text: object, found: object, ct: ColumnType) -> bool:
    qualifier = ct.qualifier
    assert qualifier is not None
    again = encode_tuple([found], [Column("c", ct)], "utf-8")
    return again == encode_tuple([text], [Column("c", ct)], "utf-8")


# ---- the C codecs against the reference


@given(results(), st.integers(0, 10_000))
@settings(max_examples=examples(40), deadline=None)
def test_the_c_decoder_gives_what_the_reference_gives_in_any_split(
    result: tuple[str, TypeOptions, list[Column], list[tuple[object, ...]]], cut: int
) -> None:
    encoding, options, columns, rows = result
    tuples = [encode_tuple(row, columns, encoding) for row in rows]
    ops = [plan_op(column.type, options) for column in columns]
    reply = stream(tuples)
    cut %= len(reply)
    (batch,) = decode(ops, [reply[:cut], reply[cut:]], codepage=decoder_table(encoding))
    assert batch.num_rows == len(rows)
    for i, column in enumerate(columns):
        for data, got in zip(tuples, batch.column(i).to_pylist(), strict=True):
            wanted = decode_tuple(data, columns, encoding, options)[i]
            assert same(got, wanted), (column, got, wanted)


NEARLY_OUT = (
    "utf-8",
    TypeOptions(),
    [Column("c0", ColumnType.parse_sql("DECIMAL(28)")), Column("after", ColumnType.parse_sql("INTEGER"))],
    [(Decimal("9.999999999999998497143989703E+125"), 77)],
)


@given(results())
@example(NEARLY_OUT)
@settings(max_examples=examples(40), deadline=None)
def test_the_c_encoder_writes_the_bytes_that_the_reference_writes(
    result: tuple[str, TypeOptions, list[Column], list[tuple[object, ...]]],
) -> None:
    encoding, options, columns, rows = result
    options = replace(options, decimals="decimal128")  # not every float64 fits its DECIMAL(p,s) again
    ops = [plan_op(column.type, options) for column in columns]
    tuples = [encode_tuple(row, columns, encoding) for row in rows]
    decoded = [decode_tuple(data, columns, encoding, options) for data in tuples]
    arrays = [pa.array([row[i] for row in decoded], arrow_type_of_op(op)) for i, op in enumerate(ops)]
    batch = pa.record_batch(arrays, [f"c{i}" for i in range(len(ops))])
    try:
        wanted = [encode_tuple(row, columns, encoding, options) for row in decoded]
    except DataError:  # the double nearest to 9.99..E125 is outside the range of DECIMAL
        with pytest.raises(DataError):
            payloads(loaded(batch, ops, page(encoding)))
        return
    assert payloads(loaded(batch, ops, page(encoding))) == wanted


RAW_CASES = [
    *(ColumnType.parse_sql(sql) for sql in (
        "SMALLINT", "INTEGER", "BIGINT", "INT8", "FLOAT", "SMALLFLOAT", "DATE", "BOOLEAN", "CHAR(9)", "VARCHAR(20)",
        "LVARCHAR(30)", "JSON", "BSON", "BLOB", "BYTE", "SET(INTEGER)", "DECIMAL(5,0)", "DECIMAL(8,2)",
        "DECIMAL(32,32)", "DECIMAL(4)", "DECIMAL(32)", "MONEY(9,3)", "DATETIME YEAR TO DAY",
        "DATETIME YEAR TO FRACTION(3)", "DATETIME HOUR TO SECOND", "DATETIME HOUR TO FRACTION(5)",
        "DATETIME MONTH TO DAY", "INTERVAL YEAR(4) TO MONTH", "INTERVAL YEAR(9) TO YEAR",
        "INTERVAL MONTH(3) TO MONTH", "INTERVAL DAY(2) TO SECOND", "INTERVAL DAY(9) TO FRACTION(5)",
        "INTERVAL HOUR(3) TO MINUTE", "INTERVAL SECOND(5) TO FRACTION(1)", "INTERVAL FRACTION TO FRACTION(3)",
    ))
]  # fmt: skip
LIKELY = st.sampled_from(
    [0, 0, 1, 2, 9, 10, 11, 12, 23, 31, 50, 59, 60, 90, 98, 99, 100, 0x20, 0x41, 0x74, 0x80, 0xC3, 0xFF]
)
FIRST = st.sampled_from(
    [0, 1, 0x36, 0x3A, 0x3D, 0x3F, 0x40, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC4, 0xC7, 0xC8, 0xFF]
)


@given(st.sampled_from(RAW_CASES), st.sampled_from(OPTIONS), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_any_bytes_are_a_value_or_an_error_for_both_decoders(
    ct: ColumnType, options: TypeOptions, data: st.DataObject
) -> None:
    """Mostly base-100 digits, so that many are valid. The reference may raise a DataError for a damaged value and C a
    ProtocolError. A value of one decoder is the same value of the other."""
    op = plan_op(ct, options)
    width = ct.width or data.draw(st.integers(0, 12))
    size = data.draw(st.sampled_from([width, width, width, max(width - 1, 0), width + 1]))
    rest = data.draw(st.lists(LIKELY, min_size=size, max_size=size))
    tuple_bytes = (bytes([data.draw(FIRST)]) + bytes(rest))[:size]
    wanted: object
    try:
        wanted = decode_tuple(tuple_bytes, [Column("c", ct)], "utf-8", options)[0]
    except Error:
        wanted = Error
    decoder = new_decoder([op])
    message = tuple_message(tuple_bytes)
    got: object
    try:
        decoder.feed(message, 0, len(message))
        got = taken(decoder, [op]).column(0)[0].as_py()
    except Error:
        got = Error
    assert (got is wanted is Error) or same(got, wanted), (tuple_bytes.hex(), got, wanted)


# ---- declared types and literals


@given(st.sampled_from(ENCODINGS).flatmap(cases), st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_a_declared_type_re_creates_its_column(case: Case, not_null: bool) -> None:
    ct = replace(case.type, flags=case.type.flags | (FLAG_NOT_NULL if not_null else 0))
    if ct.code == 40 and ct.extended_name == "myudt":
        return  # only a catalogue can resolve a name
    text = ct.sql + (" NOT NULL" if not_null else "")
    assert ColumnType.parse_sql(text) == ct
    assert ColumnType.parse_sql(f"  {text.lower()} ") == ct
    distinct = ColumnType.distinct("a_name", ct)
    assert distinct.flags & FLAG_DISTINCT
    assert distinct.source is not None
    if not ct.is_json and not ct.is_complex:  # these are described by the distinct type's name only
        assert replace(distinct.source, flags=0) == replace(ct, flags=0)


MEMBERS = [
    "smallint", "integer", "bigint", "int8", "float", "date", "boolean", "json", "char", "nchar", "varchar",
    "lvarchar", "decimal", "datetime", "interval",
]  # fmt: skip


@st.composite
def nested(draw: st.DrawFn, depth: int = 0) -> Case:
    """Draw a collection or ROW of random members, and random values for it."""
    kind = draw(st.sampled_from(["SET", "MULTISET", "LIST", "ROW"]))

    def member() -> Case:
        if depth < 2 and draw(st.integers(0, 3)) == 0:
            return draw(nested(depth + 1))
        case: Case = MAKERS[draw(st.sampled_from(MEMBERS))](draw, "utf-8")  # type: ignore[operator]
        if case.type.code == 3:
            return Case(case.type, st.floats(allow_nan=False, allow_infinity=False))
        return case

    if kind != "ROW":
        case = member()
        not_null = draw(st.booleans())
        text = f"{kind}({case.type.sql}{' NOT NULL' if not_null else ''})"
        items = case.values if not_null else st.none() | case.values
        return Case(ColumnType.parse_sql(text), st.lists(items, max_size=4))
    fields = {f"f{i}": member() for i in range(draw(st.integers(1, 4)))}
    text = ", ".join(f"{name} {case.type.sql}" for name, case in fields.items())
    values = st.fixed_dictionaries({name: st.none() | case.values for name, case in fields.items()})
    return Case(ColumnType.parse_sql(f"ROW({text})"), values)


@given(nested(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_a_literal_gives_back_the_value_that_it_was_made_of(case: Case, data: st.DataObject) -> None:
    value = data.draw(case.values)
    keep = TypeOptions(char_padding="keep", intervals="month_day_nano")
    text = format_literal(value, case.type, "utf-8")
    parsed = parse_literal(text, case.type, keep)
    assert format_literal(parsed, case.type, "utf-8") == text
    arrow = nested_type(case.type, keep)
    again = pa.array([parsed], arrow).to_pylist()[0]
    assert format_literal(again, case.type, "utf-8") == text
    assert _plain(parsed) == _plain(value)


def _plain(value: object) -> object:
    """Return values in one notation: moments as literals, durations as IntervalValues."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, IntervalValue):
        return to_month_day_nano(value)
    if isinstance(value, dt.datetime | dt.time | dt.date):
        return "moment"
    if isinstance(value, str) and any(mark.isdigit() for mark in value) and _is_moment(value):
        return "moment"
    return value


def _is_moment(text: str) -> bool:
    return set(text) <= set("0123456789-: .")


@given(nested(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_a_damaged_literal_is_a_value_or_a_data_error(case: Case, data: st.DataObject) -> None:
    """Any text yields a value or a DataError with its place: no crash, no endless loop."""
    text = format_literal(data.draw(case.values), case.type)
    at = data.draw(st.integers(0, len(text)))
    mark = data.draw(st.sampled_from(["", "'", '"', "{", "}", "(", ")", ",", " ", "NULL", "0", "\0"]))
    damaged = text[:at] + mark + text[at + data.draw(st.integers(0, 2)) :]
    message = "at position"
    try:
        parse_literal(damaged, case.type)
    except DataError as error:
        message = str(error)
    assert "at position" in message


# ---- completeness


def test_every_kind_is_drawn_by_some_type_under_some_options() -> None:
    """If this fails: a new kind of the plan needs a type in MAKERS, otherwise nothing here tests it."""
    of_row_images = {Kind.CHANGE_BOOL, Kind.CHANGE_LVARCHAR}  # these do not occur in tuples
    assert {plan_op(ct, options).kind for ct in RAW_CASES for options in OPTIONS} == set(Kind) - of_row_images
