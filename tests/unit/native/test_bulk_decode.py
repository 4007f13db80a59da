"""Rows decoded in bulk in C have the values of the Python decoder, or decoding stops before the row."""

from __future__ import annotations

import datetime as dt
import math
import random
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.internals import batch_of
from tests.stress import examples

from informix_arrow._bulk import (
    FULL,
    NEED_MORE,
    OTHER,
    SHAPE_GROUPS,
    SHAPE_ONE_GROUP,
    SHAPE_UNKNOWN,
    BulkReader,
)
from informix_arrow.server.errors import SqlError
from informix_arrow.server.handlers.bulk import OPTIONS
from informix_arrow.server.types.conversions import ValueConverter
from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value, bound_to_python
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.codepages import decoder_table
from informix_arrow.wire.describe import Column
from informix_arrow.wire.messages import BoundValue
from informix_arrow.wire.plan_ops import arrow_type, plan_op
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

STATEMENT = 7
TAIL = ColumnType.integer()
EOT, EXECUTE = m.EndOfTurn(), m.Execute()


class Rows:
    """A reader of rows of some types, and functions that encode rows for it."""

    def __init__(self, *types: ColumnType, encoding: str = "utf-8", batch_rows: int = 1000) -> None:
        self.types = types
        self.framing = Framing(encoding=encoding)
        self.schema = pa.schema([(f"c{n}", arrow_type(ct, OPTIONS)) for n, ct in enumerate(types)])
        ops = [plan_op(ct, OPTIONS).as_tuple() for ct in types]
        self.reader = BulkReader(ops, batch_rows, 1 << 24, 1 << 20, decoder_table(encoding))

    def bind(self, *values: BoundValue) -> bytes:
        return m.Bind(values).encode(self.framing)

    def group(self, *values: object, statement: int = STATEMENT) -> bytes:
        """Return the bytes of SQ_ID, SQ_BIND, SQ_EXECUTE, SQ_EOT."""
        bound = [v if isinstance(v, BoundValue) else bind_value(v, self.framing.encoding) for v in values]
        return b"".join(
            part.encode(self.framing) for part in (m.Id(statement), m.Bind(tuple(bound)), EXECUTE, EOT)
        )

    def put(self, *values: object) -> bytes:
        columns = [Column(f"c{n}", ct) for n, ct in enumerate(self.types)]
        return m.Put(encode_tuple(values, columns, self.framing.encoding)).encode(self.framing)

    def take(self) -> list[tuple[Any, ...]]:
        batch = batch_of(self.schema.__arrow_c_schema__(), self.reader.take())
        batch.validate(full=True)
        return list(zip(*[column.to_pylist() for column in batch.columns], strict=True))


def named(code: int, owner: str, name: str, data: bytes | None, precision: int = 0) -> BoundValue:
    return BoundValue(code, data, precision, 0 if data is not None else -1, owner, name)


def short(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def long(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def as_stored(ct: ColumnType, bound: BoundValue, encoding: str) -> object:
    """Return the value that Python stores for a parameter. Raises an error if it is refused."""
    return _one(ValueConverter(ct, encoding), bound_to_python(bound, encoding))


def _one(converter: ValueConverter, value: object) -> object:
    converted = converter.convert_column([value])
    for error in converted.errors.values():
        raise error
    return converted.array[0].as_py()


def as_taken(ct: ColumnType, value: object, encoding: str) -> object:
    """Return the value that the engine stores for a value from the reader (row_inserts)."""
    if ct.sql.startswith(("DECIMAL", "MONEY")) and isinstance(value, str):
        value = Decimal(value)
    if isinstance(value, (str, Decimal, pa.MonthDayNano)):
        return _one(ValueConverter(ct, encoding), value)
    return value


def same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack(">d", a) == struct.pack(">d", b) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


INTEGERS = (
    BoundValue(1, struct.pack(">h", -12), 0x0500),
    BoundValue(2, struct.pack(">i", 1), 0x0A00),
    BoundValue(2, struct.pack(">i", 32767), 0x0A00),
    BoundValue(6, struct.pack(">i", 5), 0x0A00),
    BoundValue(52, struct.pack(">q", -32767), 0x1300),
    BoundValue(53, struct.pack(">q", 0), 0x1300),
    BoundValue(17, struct.pack(">hII", -1, 77, 0), 0x1300),
    BoundValue(18, struct.pack(">hII", 1, 78, 0), 0x1300),
    BoundValue(1, struct.pack(">h", -0x8000)),
    BoundValue(2, struct.pack(">i", -0x80000000)),
    BoundValue(52, struct.pack(">q", -(2**63))),
    BoundValue(17, struct.pack(">hII", 0, 9, 9)),
    bind_value(Decimal("1200"), "utf-8"),
    bind_value(Decimal("-31"), "utf-8"),
)
WIDE = (
    BoundValue(2, struct.pack(">i", -0x7FFFFFFF)),
    BoundValue(52, struct.pack(">q", 2**31 - 1)),
)
WIDEST = (
    BoundValue(52, struct.pack(">q", 2**63 - 1)),
    BoundValue(17, struct.pack(">hII", -1, 0xFFFFFFFF, 0x7FFFFFFF)),
    bind_value(Decimal(-(2**63) + 1), "utf-8"),
)
FLOATS = (
    BoundValue(3, struct.pack(">d", 0.1)),
    BoundValue(3, struct.pack(">d", -0.0)),
    BoundValue(3, struct.pack(">d", math.inf)),
    BoundValue(3, struct.pack(">d", math.nan)),
    BoundValue(3, b"\xff" * 8),
    BoundValue(4, struct.pack(">f", 0.1)),
    BoundValue(4, b"\xff" * 4),
    bind_value(Decimal("0.1"), "utf-8"),
    bind_value(Decimal("-12345678901234567890.5"), "utf-8"),
)
DECIMALS = (
    bind_value(Decimal("123.45"), "utf-8"),
    bind_value(Decimal("-0.005"), "utf-8"),
    bind_value(Decimal("0.0049999999999999999999999999999"), "utf-8"),
    bind_value(Decimal("-999999.994"), "utf-8"),
    bind_value(Decimal("1E-60"), "utf-8"),
    bind_value(Decimal(0), "utf-8"),
    BoundValue(8, short(b"\xc1\x05\x32\0\0"), 0),  # MONEY with trailing zeros
)
TEXTS = (
    bind_value("", "utf-8"),
    bind_value("plain", "utf-8"),
    bind_value("blanks   ", "utf-8"),
    bind_value("         ", "utf-8"),
    bind_value("żółć 日本 🎉", "utf-8"),
    bind_value("x" * 300, "utf-8"),
    bind_value("é" * 31 + "   ", "utf-8"),
    BoundValue(13, short(b"varchar"), 20),
    BoundValue(15, short(b"nchar")),
    BoundValue(16, short(b"nvarchar ")),
    named(43, "", "", long(b"lvarchar")),
    named(43, "informix", "lvarchar", long(b"odd")),
    named(43, "a", "bc", long(b"")),
)
BOOLEANS = (
    BoundValue(0, b"\0\1t"),
    BoundValue(0, b"\0\1F"),
    named(45, "informix", "boolean", long(b"\1"), 1),
    named(45, "informix", "boolean", long(b"\0"), 1),
    named(45, "", "", long(b"T")),
    BoundValue(1, b"\0\1"),
    BoundValue(1, b"\0\0"),
)
MOMENTS = (
    bind_value(dt.datetime(2024, 2, 29, 23, 59, 58), "utf-8"),
    bind_value(dt.datetime(1, 1, 1), "utf-8"),
    bind_value(dt.datetime(9999, 12, 31, 23, 59, 59, 999990), "utf-8"),
    bind_value(dt.datetime(1969, 12, 31, 23, 59, 59, 123450), "utf-8"),
    BoundValue(10, short(b"\xc7\x14\x18\x02\x1d\x0c\x22\x38\x63\x63\x63"), 0x130F),  # drops the sixth digit
    BoundValue(10, short(b"\xc7\x14\x18\x02\x1d\x0c\x22\x38\0\0\0"), 0x0E0A),  # more digits than declared
    BoundValue(10, short(b"\xc7\x14\x18\x02\x1d"), 0x0804),
    BoundValue(10, short(b"\xc7\x14\x18\x02\x1d\x0c"), 0x0A06),
)
TIMES = (
    bind_value(dt.time(0, 0), "utf-8"),
    bind_value(dt.time(23, 59, 59), "utf-8"),
    bind_value(dt.time(1, 2, 3, 45670), "utf-8"),
    BoundValue(10, short(b"\xc1\x05"), 0x066A),  # normalised: 00:00:05
)
DATES = (
    bind_value(dt.date(1, 1, 1), "utf-8"),
    bind_value(dt.date(9999, 12, 31), "utf-8"),
    bind_value(dt.date(1899, 12, 31), "utf-8"),
    BoundValue(7, struct.pack(">i", -0x80000000)),
)
DAY_SPANS = (
    BoundValue(14, short(b"\xc4\x05\x01\x02\x03"), 0x084A),  # 5 01:02:03, DAY(2) TO SECOND
    BoundValue(14, short(b"\x3b\x5e\x62\x61\x61"), 0x084A),  # -5 01:02:03
    BoundValue(14, short(b"\xc3\x01\x02\x03"), 0x084A),  # normalised: 0 01:02:03
    BoundValue(14, short(b"\xc4\x63\x17\x3b\x3b\x63\x63\x5a\0"), 0x0D4F),  # an extra zero digit
    BoundValue(14, short(b"\x80\0\0\0"), 0x066A),
)
MONTH_SPANS = (
    BoundValue(14, short(b"\xc7\0\x0c\x0b"), 0x0602),  # 12-11, YEAR(4) TO MONTH
    BoundValue(14, short(b"\xc5\x07"), 0x0222),  # 7, MONTH(2) TO MONTH
    BoundValue(14, short(b"\x80\0"), 0x0222),
    BoundValue(14, short(b"\x3a\x5d"), 0x0222),  # -7
)
# Column type -> values that the reader accepts. The types of the first release are identified by their Arrow type.
PLAIN: list[tuple[ColumnType, Sequence[BoundValue]]] = [
    (ColumnType.smallint(), INTEGERS),
    (ColumnType.integer(), INTEGERS + WIDE),
    (ColumnType.serial(), INTEGERS + WIDE),
    (ColumnType.bigint(), INTEGERS + WIDE + WIDEST),
    (ColumnType.int8(), INTEGERS + WIDE + WIDEST),
    (ColumnType.serial8(), INTEGERS + WIDE + WIDEST),
    (ColumnType.bigserial(), INTEGERS + WIDE + WIDEST),
    (ColumnType.float_(), FLOATS + INTEGERS + WIDEST),
    (ColumnType.smallfloat(), FLOATS + INTEGERS),
    (ColumnType.decimal(8, 2), DECIMALS + INTEGERS),
    (ColumnType.decimal(32, 10), DECIMALS + INTEGERS + WIDEST),
    (ColumnType.decimal(16), DECIMALS + INTEGERS + WIDE),
    (ColumnType.char(10), TEXTS),
    (ColumnType.char(64), TEXTS),
    (ColumnType.nchar(5), TEXTS),
    (ColumnType.varchar(64), TEXTS),
    (ColumnType.nvarchar(7), TEXTS),
    (ColumnType.lvarchar(300), TEXTS),
    (ColumnType.boolean(), BOOLEANS),
    (ColumnType.date(), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO DAY"), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO HOUR"), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO MINUTE"), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO SECOND"), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO FRACTION(1)"), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO FRACTION(3)"), DATES + MOMENTS),
    (ColumnType.datetime("YEAR TO FRACTION(5)"), DATES + MOMENTS),
    (ColumnType.datetime("HOUR TO MINUTE"), TIMES + MOMENTS[:4]),
    (ColumnType.datetime("HOUR TO SECOND"), TIMES + MOMENTS[:4]),
    (ColumnType.datetime("HOUR TO FRACTION(2)"), TIMES + MOMENTS[:4]),
    (ColumnType.datetime("HOUR TO FRACTION(5)"), TIMES + MOMENTS[:4]),
    (ColumnType.interval("DAY(3) TO FRACTION(5)"), DAY_SPANS),
    (ColumnType.interval("HOUR(4) TO MINUTE"), DAY_SPANS),
    (ColumnType.interval("YEAR TO MONTH"), MONTH_SPANS),
    (ColumnType.interval("MONTH(3) TO MONTH"), MONTH_SPANS),
]
TYPES = [ct for ct, _ in PLAIN]
BOUND = [
    *INTEGERS,
    *WIDE,
    *WIDEST,
    *FLOATS,
    *DECIMALS,
    *TEXTS,
    *BOOLEANS,
    *MOMENTS,
    *TIMES,
    *DATES,
    *DAY_SPANS,
    *MONTH_SPANS,
]


@parametrize_in_one_test(("ct", "bound"), PLAIN, ids=[ct.sql for ct in TYPES])
def test_a_plain_value_is_decoded_as_python_stores_it(ct: ColumnType, bound: Sequence[BoundValue]) -> None:
    rows = Rows(ct, TAIL)
    data = b"".join(rows.group(value, n) for n, value in enumerate(bound))
    data += rows.group(BoundValue(0, None, 0, -1), -1) + rows.group(named(40, "x", "yz", None), -2)
    assert rows.reader.feed_binds(data, 0, STATEMENT, SHAPE_UNKNOWN) == (len(data), NEED_MORE, SHAPE_GROUPS)
    taken = rows.take()
    assert [tail for _, tail in taken] == [*range(len(bound)), -1, -2]
    assert taken[-1][0] is None
    assert taken[-2][0] is None
    for value, (found, _) in zip(bound, taken, strict=False):
        expected = as_stored(ct, value, "utf-8")
        assert same(as_taken(ct, found, "utf-8"), expected), (value, found, expected)


def python_way(ct: ColumnType, wire: bytes, framing: Framing) -> object:
    """Return the value that Python stores for the first parameter of an SQ_BIND."""
    message = m.parse_client_message(Reader(wire), framing)
    assert isinstance(message, m.Bind)
    assert message.encode(framing) == wire
    return as_stored(ct, message.values[0], "utf-8")


def outcome(make: Callable[[], object]) -> object:
    """Return the result of ``make()`` or the exception that it raises."""
    try:
        return make()
    except Exception as problem:  # noqa: BLE001 - however it refuses it
        return problem


@parametrize_in_one_test(("ct", "own"), PLAIN, ids=[ct.sql for ct in TYPES])
def test_decoded_values_are_those_that_python_stores_and_none_that_it_refuses(
    ct: ColumnType, own: Sequence[BoundValue]
) -> None:
    r = random.Random(ct.sql)
    rows = Rows(ct, TAIL)
    taken = 0
    count = examples(150)
    for _ in range(count):
        bound = r.choice(r.choice((BOUND, own)))
        data = bytearray(bound.data or b"")
        for _ in range(r.choice((0, 1, 1, 2))):
            if data:
                data[r.randrange(len(data))] = r.choice((0, 1, 0x7F, 0x80, 0xC0, 0xFF, r.randrange(256)))
        bound = bound._replace(
            data=bytes(data), precision=r.choice((bound.precision, 0x0E0A, 0x130F, r.randrange(65536)))
        )
        wire = m.Bind((bound, bind_value(1, "utf-8"))).encode(rows.framing)
        expected = outcome(lambda: python_way(ct, wire, rows.framing))  # noqa: B023 - called at once
        whole = (
            m.Id(STATEMENT).encode(rows.framing)
            + wire
            + EXECUTE.encode(rows.framing)
            + EOT.encode(rows.framing)
        )
        pos, status, _ = rows.reader.feed_binds(whole, 0, STATEMENT, SHAPE_UNKNOWN)
        if pos == 0:
            assert status in (OTHER, NEED_MORE)
            continue
        ((found, tail),) = rows.take()
        stored = outcome(lambda: as_taken(ct, found, "utf-8"))  # noqa: B023
        assert tail == 1
        if isinstance(stored, SqlError):  # then the engine refuses the value with the same code
            assert isinstance(expected, SqlError)
            assert stored.sqlcode == expected.sqlcode
            continue
        assert same(stored, expected), (bound, found, expected)
        taken += 1
    assert taken > count // 60


def test_text_of_a_single_byte_code_set_is_transcoded_and_a_byte_that_it_lacks_ends_the_run() -> None:
    rows = Rows(ColumnType.varchar(20), ColumnType.char(9), TAIL, encoding="cp1252")
    good = rows.group("héł€"[:2] + "€", "ÿ ", 1)
    bad = good.replace("é".encode("cp1252"), b"\x81")
    pos, status, _ = rows.reader.feed_binds(good + bad + good, 0, STATEMENT, SHAPE_UNKNOWN)
    assert (pos, status) == (len(good), OTHER)
    assert rows.take() == [("hé€", "ÿ", 1)]


def test_bytes_that_are_no_utf8_end_the_run_and_the_rows_before_are_whole() -> None:
    rows = Rows(ColumnType.varchar(20), TAIL)
    good = [rows.group(f"row {n} é", n) for n in range(70)]
    bad = rows.group("é", 1).replace("é".encode(), b"\xc3\x28")
    data = b"".join(good) + bad + good[0]
    pos, status, _ = rows.reader.feed_binds(data, 0, STATEMENT, SHAPE_UNKNOWN)
    assert (pos, status) == (len(data) - len(bad) - len(good[0]), OTHER)
    pos, status, _ = rows.reader.feed_binds(data, pos + len(bad), STATEMENT, SHAPE_GROUPS)
    assert (pos, status) == (len(data), NEED_MORE)
    assert rows.take() == [*((f"row {n} é", n) for n in range(70)), ("row 0 é", 0)]


@pytest.mark.parametrize("form", ["groups", "one group", "ids between", "puts"])
def test_a_run_cut_anywhere_never_gives_a_part_of_a_row(form: str) -> None:
    types = (ColumnType.varchar(20), ColumnType.boolean(), ColumnType.decimal(8, 2), TAIL)
    values = [(f"r{n}" * (n % 5), n % 2 == 0, Decimal(n) / 4, n) for n in range(8)]
    values[3] = (None, None, None, 3)  # type: ignore[assignment]
    probe = Rows(*types)
    ident, execute, eot = (part.encode(probe.framing) for part in (m.Id(STATEMENT), EXECUTE, EOT))
    binds = [probe.bind(*(bind_value(v, "utf-8") for v in row)) for row in values]
    pieces = {
        "groups": [ident + bind + execute + eot for bind in binds],
        "one group": [(ident if n == 0 else b"") + bind + execute for n, bind in enumerate(binds)],
        "ids between": [ident + bind + ident + execute + eot for bind in binds],
        "puts": [probe.put(*row) for row in values],
    }[form]
    data = b"".join(pieces)
    ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    for cut in range(len(data) + 1):
        rows = Rows(*types)
        whole = sum(end <= cut for end in ends)
        if form == "one group" and cut in (ends[0], ends[0] + 1):
            whole = 0  # it is unknown yet whether SQ_EOT belongs to the row
        if form == "puts":
            pos, status = rows.reader.feed_puts(data[:cut], 0)
        else:
            pos, status, shape = rows.reader.feed_binds(data[:cut], 0, STATEMENT, SHAPE_UNKNOWN)
        assert status == NEED_MORE
        assert pos == (ends[whole - 1] if whole else 0)
        assert rows.reader.rows == whole
        if form == "puts":
            pos, status = rows.reader.feed_puts(data, pos)
        else:
            pos, status, shape = rows.reader.feed_binds(data, pos, STATEMENT, shape)
            assert shape == (SHAPE_ONE_GROUP if form == "one group" else SHAPE_GROUPS)
        assert (pos, status) == (len(data), NEED_MORE)
        assert rows.take() == values


def test_a_run_ends_before_another_statement_another_message_and_another_number_of_parameters() -> None:
    for stranger in (
        lambda rows: rows.group("x", 2, statement=8),
        lambda rows: m.Id(STATEMENT).encode(rows.framing) + m.Release().encode(rows.framing),
        lambda rows: m.Begin().encode(rows.framing) + EOT.encode(rows.framing),
        lambda rows: rows.group("x"),
        lambda rows: rows.group("x", 2, 3),
        lambda rows: rows.bind(bind_value("x", "utf-8"), bind_value(1, "utf-8")) + EOT.encode(rows.framing),
        lambda rows: rows.group("x", 2)[:-2] + m.WantDone().encode(rows.framing) + EOT.encode(rows.framing),
        lambda rows: rows.group(named(40, "informix", "json", long(b"{}")), 2),
    ):
        rows = Rows(ColumnType.varchar(20), TAIL)
        row = rows.group("x", 1)
        data = row + row + stranger(rows)
        assert rows.reader.feed_binds(data, 0, STATEMENT, SHAPE_UNKNOWN) == (
            2 * len(row),
            OTHER,
            SHAPE_GROUPS,
        )
        assert rows.take() == [("x", 1), ("x", 1)]


def test_one_group_ends_before_its_end_of_turn_which_is_left() -> None:
    rows = Rows(TAIL)
    data = b"".join(
        part.encode(rows.framing)
        for part in (
            m.Id(STATEMENT),
            *(x for n in range(3) for x in (m.Bind((bind_value(n, "utf-8"),)), EXECUTE)),
            EOT,
        )
    )
    assert rows.reader.feed_binds(data, 0, STATEMENT, SHAPE_UNKNOWN) == (
        len(data) - 2,
        OTHER,
        SHAPE_ONE_GROUP,
    )
    assert rows.take() == [(0,), (1,), (2,)]


def test_a_batch_is_full_at_its_rows_and_the_next_goes_on() -> None:
    rows = Rows(ColumnType.varchar(20), TAIL, batch_rows=64)
    group = [rows.group(f"n{n}", n) for n in range(150)]
    data = b"".join(group)
    pos, taken = 0, []
    for count, expected in ((64, FULL), (64, FULL), (22, NEED_MORE)):
        pos, status, _ = rows.reader.feed_binds(data, pos, STATEMENT, SHAPE_UNKNOWN)
        assert status == expected
        assert rows.reader.rows == count
        taken += rows.take()
    assert pos == len(data)
    assert taken == [(f"n{n}", n) for n in range(150)]


ONE_ROW: list[tuple[ColumnType, list[object]]] = [
    (ColumnType.smallint(), [0, 32767, -32767, None]),
    (ColumnType.integer(), [2**31 - 1, -(2**31) + 1, None]),
    (ColumnType.bigint(), [2**63 - 1, -(2**63) + 1, None]),
    (ColumnType.int8(), [-(10**15), None]),
    (ColumnType.float_(), [-0.0, 1e300, None]),
    (ColumnType.smallfloat(), [0.5, -1.25, None]),
    (ColumnType.boolean(), [True, False, None]),
    (ColumnType.char(6), ["a \u00e4", "", None]),
    (ColumnType.varchar(8), ["\u00df ", "", None]),
    (ColumnType.lvarchar(300), ["long " * 50, None]),
]


@pytest.mark.parametrize("form", ["groups", "puts"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_one_row_as_python_objects_is_what_it_is_as_arrow(encoding: str, form: str) -> None:
    for ct, values in ONE_ROW:
        rows = Rows(ct, TAIL, encoding=encoding)
        for value in values:
            data = rows.group(value, 77) if form == "groups" else rows.put(value, 77)
            for _ in range(2):  # no state of a row affects the next one
                for take in (rows.reader.take_values, lambda rows=rows: rows.take()[0]):
                    if form == "groups":
                        rows.reader.feed_binds(data, 0, STATEMENT, SHAPE_UNKNOWN)
                    else:
                        rows.reader.feed_puts(data, 0)
                    assert rows.reader.rows == 1
                    row = take()
                    assert repr(row) == repr((value, 77)), ct.sql
                    assert rows.reader.rows == 0


def test_rows_that_are_none_or_more_or_of_other_types_stay_for_arrow() -> None:
    rows = Rows(ColumnType.integer(), TAIL)
    assert rows.reader.take_values() is None
    rows.reader.feed_binds(rows.group(1, 77) + rows.group(2, 78), 0, STATEMENT, SHAPE_UNKNOWN)
    assert rows.reader.take_values() is None
    assert rows.take() == [(1, 77), (2, 78)]
    for ct, value in ((ColumnType.date(), dt.date(2024, 2, 29)), (ColumnType.decimal(8, 2), Decimal("1.25"))):
        rows = Rows(ct, TAIL)
        rows.reader.feed_binds(rows.group(value, 77), 0, STATEMENT, SHAPE_UNKNOWN)
        assert rows.reader.take_values() is None
        assert rows.take() == [(value, 77)]


def test_rows_go_on_as_arrow_after_one_that_was_taken_as_objects() -> None:
    rows = Rows(ColumnType.varchar(20), TAIL)
    rows.reader.feed_binds(rows.group(None, None), 0, STATEMENT, SHAPE_UNKNOWN)
    assert rows.reader.take_values() == (None, None)
    wanted = [(None if n % 3 == 0 else f"text {n}", n) for n in range(200)]
    data = b"".join(rows.group(*row) for row in wanted)
    assert rows.reader.feed_binds(data, 0, STATEMENT, SHAPE_UNKNOWN)[0] == len(data)
    assert rows.take() == wanted


def test_puts_are_taken_as_decode_tuple_reads_them() -> None:
    types = (
        ColumnType.smallint(), ColumnType.integer(), ColumnType.bigint(), ColumnType.int8(), ColumnType.float_(),
        ColumnType.smallfloat(), ColumnType.date(), ColumnType.boolean(), ColumnType.char(7), ColumnType.varchar(20),
        ColumnType.lvarchar(300), ColumnType.decimal(12, 3), ColumnType.decimal(16),
        ColumnType.datetime("YEAR TO FRACTION(3)"), ColumnType.datetime("HOUR TO SECOND"),
        ColumnType.datetime("MONTH TO DAY"), TAIL,
    )  # fmt: skip
    rows = Rows(*types)
    columns = [Column(f"c{n}", ct) for n, ct in enumerate(types)]
    moment = dt.datetime(2020, 2, 29, 1, 2, 3, 456000)
    values = (
        1, -2, 3, -4, 0.5, 1.5, moment.date(), True, "ab", "czé", "long", Decimal("1.250"), Decimal("12.5"), moment,
        dt.time(4, 5, 6), "02-29", 9,
    )  # fmt: skip
    nothing = (*[None] * (len(types) - 1), 10)
    data = rows.put(*values) + rows.put(*nothing)
    row = encode_tuple(values, columns, "utf-8")
    other = m.Put(row, (row,)).encode(rows.framing)  # several rows in one message are decoded elsewhere
    assert rows.reader.feed_puts(data + other, 0) == (len(data), OTHER)
    found = rows.take()
    payload = encode_tuple(values, columns, "utf-8")
    expected = decode_tuple(payload, columns, "utf-8", OPTIONS)
    assert list(map(str, found[0])) == list(map(str, expected))
    assert found[1] == nothing


def test_a_put_whose_bytes_are_wrong_is_left_and_the_rows_before_are_whole() -> None:
    rows = Rows(ColumnType.varchar(20), TAIL)
    good = rows.put("good", 1)
    long_text = m.Put(b"\x30abc\0\0\0\1").encode(rows.framing)
    not_text = m.Put(b"\x01\xff\0\0\0\1").encode(rows.framing)
    for bad in (long_text, not_text, m.Put(b"").encode(rows.framing), struct.pack(">hih", 17, -1, 1)):
        assert rows.reader.feed_puts(good + bad + good, 0) == (len(good), OTHER)
        assert rows.reader.feed_puts(good, 0) == (len(good), NEED_MORE)
        assert rows.take() == [("good", 1), ("good", 1)]


@pytest.mark.parametrize("form", ["binds", "puts"])
def test_random_damage_never_crashes_and_the_rows_before_it_are_whole(form: str) -> None:
    r = random.Random(form)
    types = (
        ColumnType.varchar(20),
        ColumnType.char(5),
        ColumnType.decimal(8, 2),
        ColumnType.datetime("YEAR TO SECOND"),
        TAIL,
    )
    rows = Rows(*types, batch_rows=5)
    values = [(f"é{n}" * (n % 4), "ab", Decimal(n), dt.datetime(2000, 1, 1 + n), n) for n in range(9)]
    pieces = [rows.put(*row) if form == "puts" else rows.group(*row) for row in values]
    for _ in range(4000):
        data = bytearray(b"".join(pieces))
        first = len(data)
        for _ in range(r.randrange(1, 5)):
            at = r.randrange(len(data))
            first = min(first, at)
            data[at] = r.randrange(256)
        del data[len(data) - r.randrange(20) :]
        pos, found = 0, []
        for _ in range(5):
            if form == "puts":
                pos, status = rows.reader.feed_puts(data, pos)
            else:
                pos, status, _ = rows.reader.feed_binds(data, pos, STATEMENT, SHAPE_UNKNOWN)
            found += rows.take()
            if status != FULL:
                break
        untouched = 0
        while sum(map(len, pieces[: untouched + 1])) <= min(first, len(data)):
            untouched += 1
        assert found[:untouched] == values[:untouched]


def test_a_reader_refuses_nonsense_of_its_own_caller() -> None:
    with pytest.raises(ValueError, match="codepage"):
        BulkReader([(2, 4, 0, 0)], 1, 1, 1, b"short")
    with pytest.raises(ValueError, match="Column 0"):
        BulkReader([(99, 4, 0, 0)], 1, 1, 1)
    with pytest.raises(ValueError, match="positive"):
        BulkReader([], 0, 1, 1)
    reader = BulkReader([(2, 4, 0, 0)], 1, 1, 1)
    with pytest.raises(ValueError, match="is outside the"):
        reader.feed_puts(b"abc", 4)
    with pytest.raises(ValueError, match="shape"):
        reader.feed_binds(b"", 0, 1, 3)
