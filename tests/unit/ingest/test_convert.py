"""Conversion of Arrow columns for a load: the accepted types of each column, changed values, and refused ones."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow.ingest.convert import Converter, converter
from informix_arrow.ingest.report import RejectedRows, show_value
from informix_arrow.ingest.row_feed import ArrowRowSource
from informix_arrow.operations.bulk_insert import RowFraming, RowGroup
from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bound_to_python
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, ProgrammingError
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple

FRAMING = Framing(encoding="utf-8")
SENTINEL = Column("tail", ColumnType.integer())


def way(ct: ColumnType, array: pa.Array, encoding: str = "utf-8") -> Converter:
    return converter(Column("c", ct), "c", array.type, encoding)


def sent(ct: ColumnType, array: pa.Array, encoding: str = "utf-8") -> list[object]:
    """Return the values that a server reads from the PUT rows of one column, which a sentinel follows."""
    feed = feed_of(ct, array, encoding)
    rows: list[object] = []
    while (group := feed.next_group(RowFraming.PUT, 1 << 16, 1 << 30)) is not None:
        reader = Reader(group.data)
        framing = FRAMING.with_encoding(encoding)
        while reader.remaining:
            message = m.parse_client_message(reader, framing)
            assert isinstance(message, m.Put)
            value, tail = decode_tuple(message.tuple_bytes, (Column("c", ct), SENTINEL), encoding)
            assert tail == 12345
            rows.append(value)
    return rows


def feed_of(
    ct: ColumnType, array: pa.Array, encoding: str = "utf-8", rejects: RejectedRows | None = None
) -> ArrowRowSource:
    tail = pa.array([12345] * len(array), pa.int32())
    data = pa.record_batch([array, tail], ["c", "tail"])
    ways = [way(ct, array, encoding), converter(SENTINEL, "tail", pa.int32(), encoding)]
    return ArrowRowSource(iter([data]), ways, encoding, b"", b"", rejects)


BIG = 2**40
BROKEN = pa.Array.from_buffers(  # "a", and two bytes of invalid UTF-8
    pa.utf8(), 2, [None, pa.py_buffer(struct.pack("=3i", 0, 1, 3)), pa.py_buffer(b"a\xff\xfe")]
)
MOMENT = datetime(2026, 1, 2, 3, 4, 5)
ACCEPTED: list[tuple[str, pa.Array, list[object]]] = [
    ("SMALLINT", pa.array([1, None, -32767], pa.int64()), [1, None, -32767]),
    ("SMALLINT", pa.array([True, None, False]), [1, None, 0]),
    ("INTEGER", pa.array([1.0, None, -7.0]), [1, None, -7]),
    ("INTEGER", pa.array(["12", None, "-7"]), [12, None, -7]),
    ("INTEGER", pa.array([Decimal("12.00"), None, Decimal("-7")], pa.decimal128(10, 2)), [12, None, -7]),
    ("BIGINT", pa.array([1, None], pa.uint64()), [1, None]),
    ("INT8", pa.array([BIG, None, -BIG]), [BIG, None, -BIG]),
    ("FLOAT", pa.array([1, None, BIG]), [1.0, None, float(BIG)]),
    ("FLOAT", pa.array(["0.1", None, "-1e3"]), [0.1, None, -1000.0]),
    ("FLOAT", pa.array([Decimal("0.1"), None], pa.decimal128(20, 7)), [0.1, None]),
    ("FLOAT", pa.array([0.5, None], pa.float16()), [0.5, None]),
    ("SMALLFLOAT", pa.array([0.25, None, 3], pa.float64()), [0.25, None, 3.0]),
    ("SMALLFLOAT", pa.array([7, None]), [7.0, None]),
    ("DECIMAL(8,2)", pa.array([7, None, -7]), [Decimal(7), None, Decimal(-7)]),
    ("DECIMAL(8,2)", pa.array([1.25, None, 0.1]), [Decimal("1.25"), None, Decimal("0.1")]),
    ("DECIMAL(8,2)", pa.array([0.1, None], pa.float32()), [Decimal("0.1"), None]),
    ("DECIMAL(8,2)", pa.array(["1.25", None, "-7"]), [Decimal("1.25"), None, Decimal(-7)]),
    ("DECIMAL(8,2)", pa.array([Decimal("1.2500"), None], pa.decimal256(40, 4)), [Decimal("1.25"), None]),
    ("DECIMAL(30,20)", pa.array([2**30, None]), [Decimal(2**30), None]),
    ("CHAR(6)", pa.array(["é", None, ""]), ["é", None, ""]),
    ("CHAR(6)", pa.array([12, None, -3]), ["12", None, "-3"]),
    ("VARCHAR(10)", pa.array([date(2026, 1, 2), None]), ["2026-01-02", None]),
    ("VARCHAR(10)", pa.array(["a", None, "b"]).dictionary_encode(), ["a", None, "b"]),
    ("VARCHAR(10)", pa.array(["a", None, "longer"], pa.string_view()), ["a", None, "longer"]),
    ("LVARCHAR(50)", pa.array(["a" * 50, None], pa.large_utf8()), ["a" * 50, None]),
    ("VARCHAR(10)", pa.array([b"by", None], pa.binary()), ["by", None]),
    ("INTEGER", pa.array([5, None, 5]).dictionary_encode(), [5, None, 5]),
    ("BOOLEAN", pa.array([True, None, False]), [True, None, False]),
    ("DATE", pa.array([date(2026, 1, 2), None]), [date(2026, 1, 2), None]),
    ("DATE", pa.array([datetime(2026, 1, 2), None], pa.timestamp("ns")), [date(2026, 1, 2), None]),
    ("DATE", pa.array(["2026-01-02", None]), [date(2026, 1, 2), None]),
    ("DATETIME YEAR TO SECOND", pa.array([MOMENT, None], pa.timestamp("ns")), [MOMENT, None]),
    ("DATETIME YEAR TO SECOND", pa.array([date(2026, 1, 2), None]), [datetime(2026, 1, 2), None]),
    ("DATETIME YEAR TO SECOND", pa.array(["2026-01-02 03:04:05", None]), [MOMENT, None]),
    ("INTEGER", pa.nulls(3), [None, None, None]),
    ("VARCHAR(10)", pa.nulls(2), [None, None]),
    ("SERIAL", pa.array([5, None, 0], pa.int64()), [5, 0, 0]),
    ("INTEGER", pa.array([1, 2, None, 4, 5], pa.int64())[1:4], [2, None, 4]),
]


@parametrize_in_one_test(
    ("declared", "array", "expected"), ACCEPTED, ids=lambda v: str(getattr(v, "type", v))[:40]
)
def test_what_fits_arrives_exactly(declared: str, array: pa.Array, expected: list[object]) -> None:
    assert sent(ColumnType.parse_sql(declared), array) == expected


REFUSED: list[tuple[str, pa.Array, int, str]] = [
    ("SMALLINT", pa.array([1, 32768, -32768], pa.int64()), 1, "32768"),
    ("SMALLINT", pa.array([1, 2, -32768], pa.int64()), 2, "NULL"),
    ("INTEGER", pa.array([1.0, 1.5]), 1, "1.5"),
    ("INTEGER", pa.array([1.0, float("nan")]), 1, "nan"),
    ("INTEGER", pa.array(["1", "two"]), 1, "two"),
    ("BIGINT", pa.array([1, 2**63], pa.uint64()), 1, str(2**63)),
    ("SMALLFLOAT", pa.array([1.0, 1e300]), 1, "beyond the range"),
    ("DECIMAL(4,2)", pa.array([99.99, 100.0]), 1, "100"),
    ("DECIMAL(4,2)", pa.array([0.25, 0.125]), 1, "0.125"),
    ("DECIMAL(4,2)", pa.array(["0.25", "0.125"]), 1, "0.125"),
    ("DECIMAL(4,2)", pa.array([Decimal("1.250"), Decimal("1.255")], pa.decimal128(9, 3)), 1, "1.255"),
    ("VARCHAR(4)", pa.array(["four", "fünf"]), 1, "5 bytes"),
    ("CHAR(4)", pa.array(["four", "fünf"]), 1, "5 bytes"),
    ("DATE", pa.array([datetime(2026, 1, 1), MOMENT]), 1, "time of day"),
    ("DATE", pa.array(["2026-01-02", "2026-02-30"]), 1, "2026-02-30"),
    ("DATETIME YEAR TO SECOND", pa.array([MOMENT, MOMENT.replace(microsecond=1)]), 1, "more precision"),
]


@pytest.mark.parametrize(
    ("declared", "array", "row", "text"), REFUSED, ids=lambda v: str(getattr(v, "type", v))[:40]
)
def test_what_does_not_fit_is_refused_with_row_column_and_value(
    declared: str, array: pa.Array, row: int, text: str
) -> None:
    ct = ColumnType.parse_sql(declared)
    with pytest.raises(DataError) as caught:
        sent(ct, array)
    assert (caught.value.row, caught.value.column) == (row, "c")
    assert text in str(caught.value)
    assert show_value(array, row, 100).strip("'\"") in str(caught.value)
    assert "on_error='collect'" in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "array", "text"),
    [
        ("SMALLINT", pa.array([32768]), "32768 is outside the range of SMALLINT, -32767 to 32767."),
        ("FLOAT", pa.array(["1e999"]), "'1e999' is beyond the range of FLOAT."),
        (
            "VARCHAR(4)",
            pa.array(["fünf"]),
            "The text of 5 bytes is too long for VARCHAR(4). The value is 'fünf'.",
        ),
        ("INTERVAL DAY TO HOUR", pa.array(["abc"]), "'abc' is not an INTERVAL DAY(2) TO HOUR."),
        ("DATE", pa.array([MOMENT]), f"{MOMENT!r} cannot be stored in DATE: It has a time of day."),
        ("BOOLEAN", pa.array(["x"]), "'x' is not a BOOLEAN (expected t or f, true or false, 1 or 0)."),
    ],
)
def test_an_error_shows_the_value_once(declared: str, array: pa.Array, text: str) -> None:
    with pytest.raises(DataError) as caught:
        sent(ColumnType.parse_sql(declared), array)
    assert str(caught.value).partition("\n")[0] == f"Column 'c': {text}"


@parametrize_in_one_test(
    ("declared", "array", "row", "text"), REFUSED, ids=lambda v: str(getattr(v, "type", v))[:40]
)
@parametrize_in_one_test("form", [RowFraming.PUT, RowFraming.BIND])
def test_rows_that_do_not_fit_are_set_aside_and_the_others_sent(
    declared: str, array: pa.Array, row: int, text: str, form: RowFraming
) -> None:
    ct = ColumnType.parse_sql(declared)
    array = pa.concat_arrays([array.slice(0, 1)] * 3 + [array.slice(row, 1)] + [array.slice(0, 1)] * 2)
    rejects = RejectedRows(pa.schema([("c", array.type), ("tail", pa.int32())]))
    feed = feed_of(ct, array, rejects=rejects)
    groups: list[RowGroup] = []
    while (group := feed.next_group(form, 60, 1 << 30)) is not None:
        groups.append(group)
    assert sum(group.count for group in groups) == 5
    assert rejects.table().column("row").to_pylist() == [3]
    assert repr(rejects.table().column("c").to_pylist()) == repr(array.slice(3, 1).to_pylist())
    assert text in rejects.table().column("message")[0].as_py()
    places = [feed._find(group, index)[1] for group in groups for index in range(group.count)]
    assert places == [0, 1, 2, 4, 5]


def test_every_bad_row_of_a_large_column_is_found() -> None:
    bad = {0, 1, 17, 4095, 4096, 9_998, 9_999}
    values = pa.array([70_000 if n in bad else 5 for n in range(10_000)])
    found = dict(
        way(ColumnType.smallint(), values).bad_rows(
            pa.array([1.5 if n in bad else 1.0 for n in range(10_000)])
        )
    )
    assert set(found) == set()  # SMALLINT needs no conversion: the encoder checks the range
    moments = pa.array([86_401 if n in bad else 86_400 for n in range(10_000)], pa.timestamp("s"))
    found = dict(way(ColumnType.date(), moments).bad_rows(moments))
    assert set(found) == bad


def test_bad_rows_of_text_that_repeats_itself_are_found_by_its_values() -> None:
    texts = ["2026-01-01", None, "no date", "2026-02-30", "2026-01-02", "no date"] * 40
    array = pa.array(texts)
    date_way = way(ColumnType.date(), array)
    calls: list[int] = []

    def count(each: pa.Array) -> pa.Array:
        calls.append(len(each))
        return each

    counting = replace(date_way, steps=(count, *date_way.steps))
    found = list(counting.bad_rows(array))
    assert [place for place, _ in found] == [
        n for n, text in enumerate(texts) if text in ("no date", "2026-02-30")
    ]
    assert all(repr(texts[place])[1:-1] in why for place, why in found)
    assert sum(calls) < len(texts)
    short = array.slice(0, 6)
    assert [place for place, _ in date_way.bad_rows(short)] == [2, 3, 5]
    assert list(date_way.bad_rows(pa.array(texts, pa.large_utf8()))) == found


def test_rows_refused_by_conversion_and_by_the_encoder_keep_their_numbers() -> None:
    """Row numbers refer to the data, whether the conversion refuses (1.5) or the encoder (-32768, which means NULL)."""
    floats = pa.array([1.0, 1.5, 2.0, -32768.0, 3.0, 2.5, 4.0])
    rejects = RejectedRows(pa.schema([("c", floats.type), ("tail", pa.int32())]))
    feed = feed_of(ColumnType.smallint(), floats, rejects=rejects)
    groups = []
    while (group := feed.next_group(RowFraming.PUT, 1 << 16, 2)) is not None:
        groups.append(group)
    assert [group.count for group in groups] == [2, 2]
    assert rejects.table().column("row").to_pylist() == [1, 3, 5]
    assert [feed._find(group, index)[1] for group in groups for index in range(group.count)] == [0, 2, 4, 6]


IMPOSSIBLE = [
    ("INTEGER", pa.date32()),
    ("BOOLEAN", pa.int32()),
    ("CHAR(10)", pa.float64()),
    ("CHAR(10)", pa.bool_()),
    ("DATE", pa.int32()),
    ("DATETIME YEAR TO SECOND", pa.timestamp("us", "UTC")),
    ("DATETIME HOUR TO SECOND", pa.timestamp("us")),
    ("DECIMAL(8,2)", pa.date32()),
    ("FLOAT", pa.list_(pa.float64())),
    ("INTEGER", pa.struct([("a", pa.int32())])),
]


@pytest.mark.parametrize(("declared", "source"), IMPOSSIBLE, ids=str)
def test_types_that_do_not_fit_are_refused_with_both_names(declared: str, source: pa.DataType) -> None:
    with pytest.raises(ProgrammingError) as caught:
        converter(Column("c", ColumnType.parse_sql(declared)), "c", source, "utf-8")
    assert declared in str(caught.value)
    assert str(source) in str(caught.value)
    assert caught.value.column == "c"


def test_a_time_zone_is_never_dropped() -> None:
    with pytest.raises(ProgrammingError, match="stores no time zone"):
        converter(
            Column("c", ColumnType.parse_sql("DATETIME YEAR TO SECOND")),
            "c",
            pa.timestamp("s", "UTC"),
            "utf-8",
        )


@pytest.mark.parametrize(
    ("declared", "array", "encoding", "expected"),
    [
        ("BLOB", pa.array([b"", None, b"\0x"]), "utf-8", [b"", None, b"\0x"]),
        ("BLOB", pa.array([b"ab", None], pa.binary(2)), "utf-8", [b"ab", None]),
        ("BLOB", pa.array([b"ab", None], pa.binary_view()), "utf-8", [b"ab", None]),
        ("BLOB", pa.array([b"ab", None]).dictionary_encode(), "utf-8", [b"ab", None]),
        ("BLOB", pa.nulls(1), "utf-8", [None]),
        ("CLOB", pa.array(["", None, "é€"], pa.large_utf8()), "utf-8", [b"", None, "é€".encode()]),
        ("CLOB", pa.array(["é", None], pa.string_view()), "latin-1", ["é".encode("latin-1"), None]),
        ("CLOB", pa.array([b"\xff"]), "utf-8", [b"\xff"]),
    ],
    ids=str,
)
def test_smart_large_objects_become_the_bytes_of_their_contents(
    declared: str, array: pa.Array, encoding: str, expected: list[bytes | None]
) -> None:
    feed = feed_of(ColumnType.parse_sql(declared), array, encoding)
    found = []
    while (group := feed.next_group(RowFraming.BIND, 1, 1)) is not None:
        assert group.count == 1
        (content,) = feed.contents(group)
        found.append(None if content is None else bytes(content))
    assert found == expected


@pytest.mark.parametrize(
    ("declared", "array", "encoding"),
    [
        ("CLOB", pa.array(["ok", "€"]), "latin-1"),
        ("CLOB", BROKEN, "utf-8"),
        ("VARCHAR(9)", BROKEN, "utf-8"),
        ("LVARCHAR(9)", BROKEN, "latin-1"),
        ("CHAR(9)", pa.array(["ok", "a€"]), "latin-1"),
        ("VARCHAR(9)", pa.array(["ok", "a€"]), "euc_jp"),
        ("INTEGER", pa.array(["1", "0x1F"]), "utf-8"),
        ("FLOAT", pa.array(["1e300", "1e400"]), "utf-8"),
        ("DATE", pa.array([0, 10**7], pa.int32()).cast(pa.date32()), "utf-8"),
        ("DATE", pa.array([0, -(10**7)], pa.int32()).cast(pa.date32()), "utf-8"),
        ("DATETIME YEAR TO SECOND", pa.array([0, 2**62], pa.timestamp("s")), "utf-8"),
        ("DATETIME YEAR TO SECOND", pa.array([0, 1], pa.timestamp("ns")), "utf-8"),
        ("DATETIME HOUR TO SECOND", pa.array([0, 1], pa.time64("ns")), "utf-8"),
        ("INTERVAL DAY(3) TO SECOND", pa.array([0, 1], pa.duration("ns")), "utf-8"),
        ("LIST(INTEGER NOT NULL)", pa.array([[1], [None]]), "utf-8"),
        ("LIST(INTEGER NOT NULL)", pa.array([[1], [2**40]]), "utf-8"),
        ("ROW(a VARCHAR(2))", pa.array([{"a": "ok"}, {"a": "too long"}]), "utf-8"),
    ],
    ids=str,
)
def test_the_second_row_is_refused_by_number_whatever_python_makes_of_its_value(
    declared: str, array: pa.Array, encoding: str
) -> None:
    """Some of these have no Python value, which must not hide the reason of the refusal."""
    ct = ColumnType.parse_sql(declared)
    feed = feed_of(ct, array, encoding)
    first = feed.next_group(RowFraming.BIND, 1 << 20, 1 << 20)
    assert first is not None
    assert first.count == 1
    with pytest.raises(DataError) as caught:
        feed.next_group(RowFraming.BIND, 1 << 20, 1 << 20)
    assert (caught.value.row, caught.value.column) == (1, "c")
    feed.describe_failed_row(())
    assert "Row 1 (c=" in str(caught.value)
    rejects = RejectedRows(pa.schema([("c", array.type), ("tail", pa.int32())]))
    feed = feed_of(ct, array, encoding, rejects)
    only = feed.next_group(RowFraming.BIND, 1 << 20, 1 << 20)
    assert only is not None
    assert only.count == 1
    assert feed.next_group(RowFraming.BIND, 1 << 20, 1 << 20) is None
    assert rejects.table().column("row").to_pylist() == [1]


@pytest.mark.parametrize(
    ("encoding", "text"), [("latin-1", "é"), ("cp1252", "€"), ("gbk", "中文"), ("shift_jis", "ア")]
)
def test_text_travels_in_the_databases_code_set(encoding: str, text: str) -> None:
    assert sent(ColumnType.varchar(10), pa.array([text, None, "a" + text]), encoding) == [
        text,
        None,
        "a" + text,
    ]
    with pytest.raises(DataError) as caught:
        sent(ColumnType.varchar(10), pa.array(["a", "\U0001f600"]), encoding)
    assert caught.value.row == 1


def test_months_and_days_of_arrow_go_into_intervals() -> None:
    days, months = ColumnType.interval("DAY(4) TO FRACTION(5)"), ColumnType.interval("YEAR(4) TO MONTH")
    assert sent(days, pa.array([86_400_000_010, None], pa.duration("us"))) == [
        timedelta(days=1, microseconds=10), None
    ]  # fmt: skip
    assert sent(months, pa.array([14, None, -14], pa.int32())) == [14, None, -14]
    assert sent(months, pa.array([pa.MonthDayNano((14, 0, 0)), None], pa.month_day_nano_interval())) == [
        14,
        None,
    ]
    with pytest.raises(DataError):
        sent(months, pa.array([pa.MonthDayNano((14, 1, 0))], pa.month_day_nano_interval()))


def bound(group: RowGroup) -> list[tuple[Any, ...]]:
    """Return the parameters of BIND rows as a server reads them."""
    reader = Reader(group.data)
    rows = []
    while reader.remaining:
        message = m.parse_client_message(reader, FRAMING)
        assert isinstance(message, m.Bind)
        rows.append(tuple(bound_to_python(value, "utf-8") for value in message.values))
    return rows


def test_rows_sent_again_are_those_behind_the_refused_one() -> None:
    data = [
        pa.record_batch({"c": pa.array(range(start, start + 7), pa.int32())}) for start in range(0, 70, 7)
    ]
    feed = ArrowRowSource(
        iter(data),
        [converter(Column("c", ColumnType.integer()), "c", pa.int32(), "utf-8")],
        "utf-8",
        b"",
        b"",
        piece_rows=5,
    )
    group = feed.next_group(RowFraming.PUT, 1 << 20, 40)
    assert group is not None
    assert group.count == 40
    for start in (0, 1, 6, 7, 23, 39, 40):
        again = list(feed.resend_from(group, start, 50, 4))
        assert [row for each in again for row in bound(each)] == [(n,) for n in range(start, 40)]
        assert all(each.count <= 4 for each in again)
        assert [feed._find(each, 0)[0].first_row + feed._find(each, 0)[1] for each in again[:1]] == (
            [start] if start < 40 else []
        )
    rest = feed.next_group(RowFraming.BIND, 1 << 20, 1000)
    assert rest is not None
    assert bound(rest) == [(n,) for n in range(40, 70)]
    assert feed.next_group(RowFraming.BIND, 1 << 20, 1000) is None
