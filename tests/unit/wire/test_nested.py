"""Collections and ROWs: their types by description, and their values as SQL literals (TYPES section 11)."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.wire.vectors import column_type, load

from informix_arrow.wire.errors import DataError
from informix_arrow.wire.nested import definition_of, format_literal, nested_type, parse_literal
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import ColumnType


def typed(definition: str) -> ColumnType:
    return ColumnType.parse_sql(definition)


def described(definition: str) -> ColumnType:
    """Return the type as described by DESCRIBE, with the definition unchanged."""
    code = {"S": 19, "M": 20, "L": 21, "R": 22, "C": 23}[definition.strip()[0].upper()]
    return ColumnType(code, 0, extended_id=2048, extended_name=definition)


@pytest.mark.parametrize(
    ("definition", "arrow"),
    [
        ("SET(INTEGER NOT NULL)", pa.list_(pa.int32())),
        ("multiset ( lvarchar  not   null )", pa.list_(pa.utf8())),
        ("LIST(SMALLINT)", pa.list_(pa.int16())),
        ("COLLECTION(DATE)", pa.list_(pa.date32())),
        ("SET(DECIMAL(8,2) NOT NULL)", pa.list_(pa.decimal128(8, 2))),
        ("SET(DECIMAL NOT NULL)", pa.list_(pa.float64())),
        ("SET(DATETIME YEAR TO FRACTION(3) NOT NULL)", pa.list_(pa.timestamp("ms"))),
        ("SET(INTERVAL YEAR TO MONTH NOT NULL)", pa.list_(pa.int32())),
        ("SET(INTERVAL DAY TO SECOND NOT NULL)", pa.list_(pa.duration("us"))),
        ("SET(BOOLEAN NOT NULL)", pa.list_(pa.bool_())),
        ("SET(JSON NOT NULL)", pa.list_(pa.utf8())),
        ("LIST(SET(FLOAT NOT NULL) NOT NULL)", pa.list_(pa.list_(pa.float64()))),
        ("ROW(name VARCHAR(20), age INTEGER)", pa.struct([("name", pa.utf8()), ("age", pa.int32())])),
        (
            'Row(a Row(b SmallFloat) , "c d" List(Row(e Int8) not null))',
            pa.struct(
                [
                    ("a", pa.struct([("b", pa.float32())])),
                    ("c d", pa.list_(pa.struct([("e", pa.int64())]))),
                ]
            ),
        ),
    ],
)
def test_a_description_gives_the_arrow_type_in_any_case_and_spacing(
    definition: str, arrow: pa.DataType
) -> None:
    assert nested_type(described(definition)) == arrow


@pytest.mark.parametrize(
    "definition",
    [
        "SET(person_t NOT NULL)",
        "SET(BLOB NOT NULL)",
        "ROW(a INTEGER, b BYTE)",
        "ROW(a INTEGER, a DATE)",
        "SET(myudt)",
        "SET",
        "ROW(a BSON)",
    ],
)
def test_what_the_description_does_not_report_stays_text(definition: str) -> None:
    assert nested_type(described(definition)) is None


def test_a_named_row_and_a_definition_of_another_kind_stay_text() -> None:
    assert definition_of(ColumnType.named_row("person_t")) is None
    assert definition_of(ColumnType(19, 0, extended_name="LIST(INTEGER)")) is None
    assert definition_of(ColumnType.integer()) is None


@parametrize_in_one_test(
    ("definition", "text", "value"),
    [
        ("SET(INTEGER NOT NULL)", "SET{1          ,2          }", [1, 2]),
        ("SET(INTEGER NOT NULL)", "  set {  -1, +2 }  ", [-1, 2]),
        ("SET(INTEGER)", "SET{}", []),
        ("LIST(INTEGER)", "LIST{ }", []),
        ("LIST(INTEGER)", "LIST{NULL,1, null }", [None, 1, None]),
        ("LIST(VARCHAR(9))", "LIST{NULL,'NULL','null'}", [None, "NULL", "null"]),
        ("MULTISET(CHAR(5))", "MULTISET{'a','a    '}", ["a", "a"]),
        ("MULTISET(VARCHAR(5))", "MULTISET{'a ',' b'}", ["a ", " b"]),
        (
            "LIST(VARCHAR(99))",
            "LIST{'it''s',\"it's\",\"say \"\"x\"\"\",'{,}()\"'}",
            ["it's", "it's", 'say "x"', '{,}()"'],
        ),
        ("LIST(VARCHAR(99))", "LIST{'','''',''''''}", ["", "'", "''"]),
        ("LIST(LVARCHAR)", "LIST{'zeile\n2','日本語'}", ["zeile\n2", "日本語"]),
        ("LIST(BIGINT)", "LIST{9223372036854775807,-9223372036854775807}", [2**63 - 1, -(2**63) + 1]),
        ("SET(FLOAT)", "SET{1.500000000000000,-1e300, .5,2.}", [1.5, -1e300, 0.5, 2.0]),
        ("SET(SMALLFLOAT)", "SET{1.5           }", [1.5]),
        ("SET(DECIMAL(8,2))", "SET{1.5       ,-12.00     }", [Decimal("1.50"), Decimal("-12.00")]),
        ("SET(MONEY(8,2))", "SET{$1.50,'-$12.00'}", [Decimal("1.50"), Decimal("-12.00")]),
        ("SET(DECIMAL(16))", "SET{1.5,1E10}", [1.5, 1e10]),
        ("SET(BOOLEAN)", "SET{'t','f',T,F}", [True, False, True, False]),
        ("SET(DATE)", "SET{'2024-02-29',2024-2-9}", [dt.date(2024, 2, 29), dt.date(2024, 2, 9)]),
        (
            "SET(DATETIME YEAR TO SECOND)",
            "SET{'2024-02-29 12:30:15',2024-02-29 12:30:15,datetime (2024-02-29 12:30:15) year to second}",
            [dt.datetime(2024, 2, 29, 12, 30, 15)] * 3,
        ),
        ("SET(DATETIME HOUR TO FRACTION(3))", "SET{'12:30:15.5'}", [dt.time(12, 30, 15, 500_000)]),
        ("SET(DATETIME MONTH TO DAY)", "SET{'02-29'}", ["02-29"]),
        ("SET(INTERVAL YEAR TO MONTH)", "SET{'   5-03',-0-11,INTERVAL (1-00) YEAR TO MONTH}", [63, -11, 12]),
        (
            "SET(INTERVAL DAY TO FRACTION(2))",
            "SET{' 3 04:05:06.70', -0 00:00:00.01 ,INTERVAL (1 00:00:00) DAY(2) TO FRACTION(2)}",
            [
                dt.timedelta(3, 4 * 3600 + 5 * 60 + 6, 700_000),
                -dt.timedelta(microseconds=10_000),
                dt.timedelta(1),
            ],
        ),
        ("SET(JSON)", "SET{'{\"a\": [1, ''x'']}'}", ['{"a": [1, \'x\']}']),
        ("ROW(name VARCHAR(20), age INTEGER)", "ROW('Alice',30         )", {"name": "Alice", "age": 30}),
        ("ROW(a DATE)", "row( NULL )", {"a": None}),
        ("LIST(SET(INTEGER))", "LIST{SET{1 },SET{},NULL}", [[1], [], None]),
        ("LIST(SET(INTEGER))", "LIST{'SET{1 }',\"SET{2,3}\"}", [[1], [2, 3]]),
        ("LIST(SET(CHAR(9)))", "LIST{'SET{''a'',''it''''s''}'}", [["a", "it's"]]),
        (
            "ROW(a ROW(b INTEGER, c LIST(VARCHAR(9))), d DATE)",
            "ROW(ROW(1,LIST{'x, y'}),'2024-02-29')",
            {"a": {"b": 1, "c": ["x, y"]}, "d": dt.date(2024, 2, 29)},
        ),
        ("COLLECTION(INTEGER)", "MULTISET{1,1}", [1, 1]),
    ],
    ids=str,
)  # fmt: skip
def test_a_literal_gives_its_value(definition: str, text: str, value: object) -> None:
    ct = described(definition)
    assert parse_literal(text, ct) == value
    arrow = nested_type(ct)
    assert pa.array([value], arrow).to_pylist() == [value]


@pytest.mark.parametrize(
    "vector", [v for v in load("types.json") if v["type"] in (19, 20, 21, 22) and v["value"]]
)
def test_the_literals_of_the_vectors_are_read(vector: dict[str, str]) -> None:
    element = {"SET": "INTEGER", "MULTISET": "CHAR(1)", "LIST": "CHAR(1)", "ROW": "a CHAR(9), b INTEGER"}
    definition = f"{vector['name']}({element[vector['name']]})"
    expected = {"SET": [1, 2], "MULTISET": ["a", "a"], "LIST": ["x", "y"], "ROW": {"a": "Alice", "b": 30}}
    text = bytes.fromhex(vector["tuple_hex"])[5:].decode()
    assert parse_literal(text, described(definition)) == expected[vector["name"]]
    with pytest.raises(DataError, match=r"The members of .* are not known"):
        parse_literal(text, column_type(vector))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "definition", "text", "value"),
    [
        ({"char_padding": "keep"}, "SET(CHAR(3))", "SET{'a  '}", ["a  "]),
        ({"decimals": "float64"}, "SET(DECIMAL(8,2))", "SET{1.25}", [1.25]),
        ({"floating_decimals": "string"}, "SET(DECIMAL(16))", "SET{1.250 }", ["1.250"]),
        ({"floating_decimals": pa.decimal128(38, 4)}, "SET(DECIMAL(16))", "SET{1.25}", [Decimal("1.2500")]),
        ({"integer_aggregates": True}, "SET(DECIMAL(9,0))", "SET{12}", [12]),
        (
            {"intervals": "month_day_nano"},
            "SET(INTERVAL MONTH TO MONTH)",
            "SET{5}",
            [pa.MonthDayNano([5, 0, 0])],
        ),
        (
            {"intervals": "month_day_nano"},
            "SET(INTERVAL DAY(9) TO SECOND)",
            "SET{-999999999 00:00:01}",
            [pa.MonthDayNano([0, -999_999_999, -1_000_000_000])],
        ),
        ({"strings": "dictionary"}, "SET(CHAR(3))", "SET{'a'}", ["a"]),
    ],
    ids=str,
)
def test_members_follow_the_options(
    options: dict[str, object], definition: str, text: str, value: object
) -> None:
    chosen = TypeOptions(**options)  # type: ignore[arg-type]
    assert parse_literal(text, typed(definition), chosen) == value
    assert pa.array([value], nested_type(typed(definition), chosen)).to_pylist() == [value]


@parametrize_in_one_test(
    ("definition", "text", "message"),
    [
        ("SET(INTEGER)", "", "SET was expected. The error is at position 1 at the end"),
        ("SET(INTEGER)", "LIST{1}", "SET was expected. The error is at position 1 before 'LIST"),
        ("SET(INTEGER)", "SET", "{ was expected. The error is at position 4"),
        ("SET(INTEGER)", "SET(1)", "{ was expected. The error is at position 4"),
        ("SET(INTEGER)", "SET{1", "A comma or } was expected. The error is at position 6"),
        ("SET(INTEGER)", "SET{1,}", "A value was expected. The error is at position 7"),
        ("SET(INTEGER)", "SET{,1}", "A value was expected. The error is at position 5"),
        ("SET(INTEGER)", "SET{1} x", "Unexpected text follows the value. The error is at position 8"),
        ("SET(INTEGER)", "SET{1 2}", "'1 2' is not a valid INTEGER. The error is at position 5"),
        ("SET(INTEGER)", "SET{1.0}", "'1.0' is not a valid INTEGER. The error is at position 5"),
        (
            "SET(INTEGER)",
            "SET{1,2147483648}",
            "2147483648 is outside the range of INTEGER. The error is at position 7",
        ),
        ("SET(INTEGER)", "SET{-2147483648}", "outside the range"),
        ("SET(INTEGER)", "SET{NULLX}", "'NULLX' is not a valid INTEGER"),
        ("SET(CHAR(3))", "SET{a}", "CHAR(3) must be in quotes. The error is at position 5"),
        ("SET(CHAR(3))", "SET{'a}", "The closing quote of a string is missing. The error is at position 5"),
        ("SET(CHAR(3))", "SET{'a'b}", "A comma or } was expected. The error is at position 8"),
        ("SET(FLOAT)", "SET{nan}", "'nan' is not a valid FLOAT"),
        ("SET(DECIMAL(5,2))", "SET{0.125}", "does not fit in DECIMAL(5,2). The error is at position 5"),
        ("SET(DECIMAL(5,2))", "SET{1234}", "does not fit in DECIMAL(5,2)"),
        ("SET(DECIMAL(5,2))", "SET{$1}", "'$1' is not a valid DECIMAL"),
        ("SET(BOOLEAN)", "SET{'x'}", "'x' is not a BOOLEAN"),
        ("SET(DATE)", "SET{'02/29/2024'}", "DBDATE must be Y4MD-"),
        ("SET(DATE)", "SET{'2023-02-29'}", "'2023-02-29' is not a date"),
        ("SET(DATETIME YEAR TO DAY)", "SET{'2024-13-01'}", "MONTH is 13"),
        (
            "SET(DATETIME YEAR TO DAY)",
            "SET{DATETIME (2024-12-01 12) YEAR TO HOUR}",
            "the declared type is DATETIME YEAR TO DAY",
        ),
        ("SET(DATETIME YEAR TO DAY)", "SET{DATETIME (2024-12-01)}", "The qualifier of DATETIME is missing"),
        ("SET(INTERVAL DAY TO SECOND)", "SET{'1 24:00:00'}", "HOUR is 24, but must be at most 23"),
        ("SET(INTERVAL DAY TO SECOND)", "SET{'100 00:00:00'}", "is not an INTERVAL DAY(2) TO SECOND"),
        (
            "ROW(a INTEGER, b INTEGER)",
            "ROW(1)",
            "The ROW has 2 fields, but the literal has only 1 values. The error is at position 6",
        ),
        (
            "ROW(a INTEGER)",
            "ROW(1,2)",
            "The literal has more values than the ROW has fields (1). The error is at position 7",
        ),
        ("ROW(a INTEGER)", "ROW{1}", "( was expected. The error is at position 4"),
        ("ROW(a INTEGER)", "ROW()", "A value was expected. The error is at position 5"),
        ("LIST(SET(INTEGER))", "LIST{'SET{1} 2'}", "Unexpected text follows a quoted value"),
        ("LIST(SET(INTEGER))", "LIST{1}", "SET was expected. The error is at position 6"),
        ("SET(person_t)", "SET{ROW(1)}", "The members of person_t are not known"),
    ],
)
def test_what_does_not_parse_is_an_error_with_its_position(definition: str, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_literal(text, described(definition))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("definition", "value", "text"),
    [
        ("SET(INTEGER)", [1, -2], "SET{1,-2}"),
        ("SET(INTEGER)", (), "SET{}"),
        ("LIST(INTEGER)", [1, None], "LIST{1,NULL}"),
        ("LIST(INTEGER)", [np.int64(5), pa.scalar(6)], "LIST{5,6}"),
        ("LIST(VARCHAR(9))", ["it's", '"', "NULL", ""], "LIST{'it''s','\"','NULL',''}"),
        ("LIST(VARCHAR(99))", ["'},ROW(1); DROP TABLE t--"], "LIST{'''},ROW(1); DROP TABLE t--'}"),
        ("LIST(FLOAT)", [1.5, 1e300, 3], "LIST{1.5,1e+300,3.0}"),
        ("LIST(DECIMAL(8,2))", [Decimal("1.5"), 2, 0.1], "LIST{1.50,2.00,0.10}"),
        ("LIST(DECIMAL(16))", [Decimal("1E+60")], "LIST{1E+60}"),
        ("LIST(BOOLEAN)", [True, False], "LIST{'t','f'}"),
        ("LIST(DATE)", [dt.date(1, 2, 3)], "LIST{'0001-02-03'}"),
        (
            "LIST(DATETIME YEAR TO MINUTE)",
            [dt.datetime(2024, 2, 29, 1, 5), "2024-02-29 01:05"],
            "LIST{DATETIME (2024-02-29 01:05) YEAR TO MINUTE,DATETIME (2024-02-29 01:05) YEAR TO MINUTE}",
        ),
        ("LIST(INTERVAL YEAR TO MONTH)", [-63], "LIST{INTERVAL (-5-03) YEAR(4) TO MONTH}"),
        ("LIST(INTERVAL DAY TO HOUR)", [dt.timedelta(hours=-25)], "LIST{INTERVAL (-1 01) DAY(2) TO HOUR}"),
        ("ROW(a CHAR(5), b INTEGER)", {"b": 30, "a": "Alice"}, "ROW('Alice',30)"),
        ("ROW(a CHAR(5), b INTEGER)", ["Alice", None], "ROW('Alice',NULL)"),
        ('ROW("c d" INTEGER)', {"c d": 1}, "ROW(1)"),
        ("LIST(SET(INTEGER))", [{1}, [2]], "LIST{SET{1},SET{2}}"),
        ("SET(JSON)", ['{"a": "\'"}'], "SET{'{\"a\": \"''\"}'}"),
    ],
    ids=str,
)
def test_a_value_is_written_as_its_literal(definition: str, value: object, text: str) -> None:
    assert format_literal(value, typed(definition)) == text


@parametrize_in_one_test(
    ("definition", "value", "message"),
    [
        ("SET(INTEGER NOT NULL)", [None], "None cannot be stored in a NOT NULL member"),
        ("SET(INTEGER)", "SET{1}", "A value of type str cannot be stored in SET(INTEGER)"),
        ("SET(INTEGER)", {"a": 1}, "A value of type dict cannot be stored in SET(INTEGER)"),
        ("SET(INTEGER)", ["1"], "A value of type str cannot be stored in INTEGER"),
        ("SET(INTEGER)", [True], "A value of type bool cannot be stored in INTEGER"),
        ("SET(INTEGER)", [2**31], "outside the range of INTEGER"),
        ("SET(SMALLINT)", [-32768], "outside the range of SMALLINT"),
        ("SET(CHAR(3))", ["abcd"], "text of 4 bytes is too long for CHAR(3)"),
        ("SET(CHAR(3))", [5], "A value of type int cannot be stored in CHAR(3)"),
        ("SET(CHAR(3))", [b"abc"], "A value of type bytes cannot be stored in CHAR(3)"),
        ("SET(FLOAT)", [math.nan], "nan cannot be stored in FLOAT"),
        ("SET(FLOAT)", [2**53 + 1], "cannot be stored in FLOAT"),
        ("SET(DECIMAL(5,2))", [0.125], "Round it or cast it first."),
        ("SET(DECIMAL(5,2))", [Decimal("NaN")], "cannot be stored in DECIMAL(5,2)"),
        ("SET(BOOLEAN)", [1], "A value of type int cannot be stored in BOOLEAN"),
        ("SET(DATE)", [dt.datetime(2024, 1, 1)], "A value of type datetime cannot be stored in DATE"),
        (
            "SET(DATETIME YEAR TO DAY)",
            [dt.datetime(2024, 1, 1, 1)],
            "more precision than DATETIME YEAR TO DAY",
        ),
        ("SET(INTERVAL DAY TO DAY)", [dt.timedelta(hours=1)], "more precision than INTERVAL DAY(2) TO DAY"),
        ("SET(INTERVAL DAY TO DAY)", [5], "A value of type int cannot be stored in INTERVAL DAY(2) TO DAY"),
        ("ROW(a INTEGER, b INTEGER)", {"a": 1}, "missing fields b"),
        ("ROW(a INTEGER)", {"a": 1, "z": 2}, "unknown fields z"),
        ("ROW(a INTEGER)", [1, 2], "has 1 fields, but the value has 2"),
        ("ROW(a INTEGER)", 5, "A value of type int cannot be stored in ROW(a INTEGER)"),
        ("SET(person_t)", [1], "The members of person_t are not known"),
        ("SET(BLOB)", [b""], "A value of type BLOB has no SQL literal"),
    ],
)
def test_a_value_that_its_type_cannot_hold_is_refused(definition: str, value: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        format_literal(value, typed(definition))
    assert message in str(caught.value)


def test_without_a_definition_nothing_can_be_written() -> None:
    with pytest.raises(DataError, match="SQL literal in a str"):
        format_literal([1], ColumnType(19, 0))
