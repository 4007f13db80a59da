"""Column types, the plan compiled from them, and the invariants that the C codecs depend on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow.wire import plan_ops
from informix_arrow.wire import types as t
from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.encode_fault import EncodeStatus
from informix_arrow.wire.errors import NotSupportedError, ProtocolError
from informix_arrow.wire.plan_ops import DEFAULT_OPTIONS, Kind, TypeOptions, arrow_type, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType, TypeCode
from informix_arrow.wire.value_decoders import DECODERS
from informix_arrow.wire.value_encoders import ENCODERS

PLAN_H = Path(__file__).parents[3] / "src" / "informix_arrow" / "native" / "plan.h"

# Declared type, encoded type word and length, maximum bytes in a tuple, default Arrow type.
TABLE = [
    ("SMALLINT", 1, 2, 2, pa.int16()),
    ("INTEGER", 2, 4, 4, pa.int32()),
    ("SERIAL", 6, 4, 4, pa.int32()),
    ("BIGINT", 52, 8, 8, pa.int64()),
    ("BIGSERIAL", 53, 8, 8, pa.int64()),
    ("INT8", 17, 10, 10, pa.int64()),
    ("SERIAL8", 18, 10, 10, pa.int64()),
    ("SMALLFLOAT", 4, 4, 4, pa.float32()),
    ("FLOAT", 3, 8, 8, pa.float64()),
    ("DATE", 7, 4, 4, pa.date32()),
    ("BOOLEAN", 41, 1, 6, pa.bool_()),
    ("CHAR(10)", 0, 10, 10, pa.utf8()),
    ("NCHAR(10)", 15, 10, 10, pa.utf8()),
    ("VARCHAR(20)", 13, 20, 21, pa.utf8()),
    ("VARCHAR(100,10)", 13, 0x0A64, 101, pa.utf8()),
    ("NVARCHAR(255)", 16, 255, 256, pa.utf8()),
    ("LVARCHAR(500)", 40, 500, 505, pa.utf8()),
    ("DECIMAL(8,2)", 5, 0x0802, 5, pa.decimal128(8, 2)),
    ("DECIMAL(32,31)", 5, 0x201F, 18, pa.decimal128(32, 31)),
    ("DECIMAL(5,0)", 5, 0x0500, 4, pa.decimal128(5, 0)),
    ("DECIMAL(16)", 5, 0x10FF, 10, pa.float64()),
    ("MONEY(16,2)", 8, 0x1002, 9, pa.decimal128(16, 2)),
    ("DATETIME YEAR TO DAY", 10, 0x0804, 5, pa.date32()),
    ("DATETIME YEAR TO HOUR", 10, 0x0A06, 6, pa.timestamp("s")),
    ("DATETIME YEAR TO MINUTE", 10, 0x0C08, 7, pa.timestamp("s")),
    ("DATETIME YEAR TO SECOND", 10, 0x0E0A, 8, pa.timestamp("s")),
    ("DATETIME YEAR TO FRACTION(1)", 10, 0x0F0B, 9, pa.timestamp("ms")),
    ("DATETIME YEAR TO FRACTION(3)", 10, 0x110D, 10, pa.timestamp("ms")),
    ("DATETIME YEAR TO FRACTION(4)", 10, 0x120E, 10, pa.timestamp("us")),
    ("DATETIME YEAR TO FRACTION(5)", 10, 0x130F, 11, pa.timestamp("us")),
    ("DATETIME HOUR TO MINUTE", 10, 0x0468, 3, pa.time32("s")),
    ("DATETIME HOUR TO SECOND", 10, 0x066A, 4, pa.time32("s")),
    ("DATETIME HOUR TO FRACTION(3)", 10, 0x096D, 6, pa.time64("us")),
    ("DATETIME YEAR TO YEAR", 10, 0x0400, 3, pa.utf8()),
    ("DATETIME YEAR TO MONTH", 10, 0x0602, 4, pa.utf8()),
    ("DATETIME MONTH TO DAY", 10, 0x0424, 3, pa.utf8()),
    ("DATETIME HOUR TO HOUR", 10, 0x0266, 2, pa.utf8()),
    ("DATETIME SECOND TO FRACTION(2)", 10, 0x04AC, 3, pa.utf8()),
    ("DATETIME FRACTION TO FRACTION(5)", 10, 0x05CF, 4, pa.utf8()),
]
ENVELOPE = 5 + 32768  # the maximum length of a collection or opaque value
TABLE += [
    ("INTERVAL YEAR(4) TO MONTH", 14, 0x0602, 4, pa.int32()),
    ("INTERVAL YEAR(9) TO YEAR", 14, 0x0900, 6, pa.int32()),
    ("INTERVAL MONTH(3) TO MONTH", 14, 0x0322, 3, pa.int32()),
    ("INTERVAL DAY(2) TO SECOND", 14, 0x084A, 5, pa.duration("us")),
    ("INTERVAL DAY(9) TO FRACTION(5)", 14, 0x144F, 12, pa.duration("us")),
    ("INTERVAL SECOND(2) TO FRACTION(3)", 14, 0x05AD, 4, pa.duration("us")),
    ("INTERVAL FRACTION TO FRACTION(5)", 14, 0x05CF, 4, pa.duration("us")),
    ("BYTE", 11, 56, 56, pa.binary(56)),
    ("TEXT", 12, 56, 56, pa.binary(56)),
    ("BLOB", 41, 72, 149, pa.binary()),
    ("CLOB", 41, 72, 149, pa.binary()),
    ("JSON", 40, 4096, ENVELOPE, pa.utf8()),
    ("BSON", 40, 4096, ENVELOPE, pa.binary()),
    ("SET(INTEGER NOT NULL)", 19, 0, ENVELOPE, pa.utf8()),
    ("MULTISET(VARCHAR(20) NOT NULL)", 20, 0, ENVELOPE, pa.utf8()),
    ("LIST(DECIMAL(8,2))", 21, 0, ENVELOPE, pa.utf8()),
    ("ROW(name VARCHAR(20), age INTEGER NOT NULL)", 22, 0, ENVELOPE, pa.utf8()),
]


@parametrize_in_one_test(("sql", "code", "encoded", "width", "arrow"), TABLE, ids=lambda v: str(v))
def test_a_declared_type_has_its_code_length_width_and_arrow_type(
    sql: str, code: int, encoded: int, width: int, arrow: object
) -> None:
    ct = ColumnType.parse_sql(sql)
    assert (ct.code, ct.encoded_length, ct.max_width, ct.sql) == (code, encoded, width, sql)
    assert arrow_type(ct) == arrow
    spelled = ColumnType.parse_sql(f"  {sql.lower().replace('(', ' ( ')}  not  null ")
    assert spelled == replace(ct, flags=t.FLAG_NOT_NULL)
    assert ColumnType.parse_sql(ct.sql) == ct


@parametrize_in_one_test(
    ("text", "sql"),
    [
        ("int", "INTEGER"),
        ("Double  Precision", "FLOAT"),
        ("float(20)", "FLOAT"),
        ("real", "SMALLFLOAT"),
        ("serial(100)", "SERIAL"),
        ("numeric(5,1)", "DECIMAL(5,1)"),
        ("dec", "DECIMAL(16)"),
        ("money", "MONEY(16,2)"),
        ("money(8)", "MONEY(8,2)"),
        ("char", "CHAR(1)"),
        ("character varying (20, 5)", "VARCHAR(20,5)"),
        ("lvarchar", "LVARCHAR(2048)"),
        ("datetime year to fraction", "DATETIME YEAR TO FRACTION(3)"),
        ("interval day(3) to second", "INTERVAL DAY(3) TO SECOND"),
        ("interval year to month", "INTERVAL YEAR(4) TO MONTH"),
        ("interval month to month", "INTERVAL MONTH(2) TO MONTH"),
        ("interval day to fraction", "INTERVAL DAY(2) TO FRACTION(3)"),
        ("interval second to fraction(5)", "INTERVAL SECOND(2) TO FRACTION(5)"),
        ("interval second(9) to second", "INTERVAL SECOND(9) TO SECOND"),
        ("interval fraction to fraction", "INTERVAL FRACTION TO FRACTION(3)"),
        ("decimal", "DECIMAL(16)"),
        ("double precision(5)", "FLOAT"),
        ("character", "CHAR(1)"),
        ("char varying(9)", "VARCHAR(9)"),
        ("national character (9)", "NCHAR(9)"),
        ("NATIONAL CHAR", "NCHAR(1)"),
        ("national  character varying ( 9 , 3 )", "NVARCHAR(9,3)"),
        ("set( smallint not null )", "SET(SMALLINT NOT NULL)"),
        ("List (Set(lvarchar NOT NULL) not null)", "LIST(SET(LVARCHAR(2048) NOT NULL) NOT NULL)"),
        (
            "row( a int , b row(c char(3),d datetime year to day) )",
            "ROW(a INTEGER, b ROW(c CHAR(3), d DATETIME YEAR TO DAY))",
        ),
        ('ROW("odd, name" date, x decimal ( 5 , 2 ))', 'ROW("odd, name" DATE, x DECIMAL(5,2))'),
        ("SET(person_t NOT NULL)", "SET(person_t NOT NULL)"),
    ],
)
def test_synonyms_and_defaults_are_understood(text: str, sql: str) -> None:
    assert ColumnType.parse_sql(text).sql == sql


@parametrize_in_one_test(
    "text",
    [
        "", "INTEGER(4)", "VARCHAR(300)", "VARCHAR(10,20)", "CHAR(0)", "DECIMAL(33,2)", "DECIMAL(5,6)",
        "LVARCHAR(40000)", "DATETIME SECOND TO YEAR", "DATETIME YEAR TO SECOND(3)",
        "DATETIME YEAR(4) TO DAY", "DATETIME YEAR TO FRACTION(6)", "GEOMETRY", "CHAR(5", "DATETIME",
        "INTERVAL YEAR TO DAY", "INTERVAL MONTH TO SECOND", "INTERVAL DAY(10) TO DAY", "INTERVAL",
        "INTERVAL FRACTION(2) TO FRACTION(5)", "SET", "SET()", "SET(INTEGER", "SET(INTEGER, DATE)", "ROW(a)",
        "ROW(a INTEGER,)", "ROW(a INTEGER(3))", "SET(INTEGER))", "LIST(VARCHAR(300))", "SET(5)", "BLOB(5)",
    ],
)  # fmt: skip
def test_what_is_no_informix_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ColumnType.parse_sql(text)


def test_a_type_that_no_codec_knows_is_refused_by_type_and_column() -> None:
    for ct in (ColumnType(TypeCode.NULL, 0), ColumnType(44, 8), ColumnType(99, 8)):
        with pytest.raises(NotSupportedError, match=f"'shape' has the type {ct.sql}") as caught:
            compile_plan([Column("ok", ColumnType.integer()), Column("shape", ct)])
        assert caught.value.column == "shape"


@pytest.mark.parametrize(
    "ct",
    [
        ColumnType(TypeCode.DATETIME, 0xFFFF),
        ColumnType(TypeCode.DATETIME, 0x0E03),
        ColumnType(TypeCode.DATETIME, 0),
        ColumnType(TypeCode.DECIMAL, 0),
        ColumnType(TypeCode.DECIMAL, 0x0509),
        ColumnType(TypeCode.CHAR, -1),
        ColumnType(TypeCode.INTERVAL, 0x0804),  # YEAR TO DAY mixes the classes
        ColumnType(TypeCode.INTERVAL, 0xFF0A),
    ],
)
def test_an_impossible_description_is_a_protocol_error(ct: ColumnType) -> None:
    with pytest.raises(ProtocolError, match="'c'"):
        plan_op(ct, column="c")


def test_every_qualifier_survives_encoding_and_text() -> None:
    starts = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION"]
    ends = [*starts[:6], *(f"FRACTION({n})" for n in range(1, 6))]
    count = 0
    for i, start in enumerate(starts):
        for end in ends[min(i, 6) :]:
            qualifier = Qualifier.datetime(start, end)
            assert Qualifier.from_encoded(qualifier.encoded) == qualifier
            assert Qualifier.parse(qualifier.sql.lower()) == qualifier
            assert qualifier.width == (qualifier.digits + (qualifier.end & 1) + 3) // 2
            count += 1
    assert count == 11 + 10 + 9 + 8 + 7 + 6 + 5


@pytest.mark.parametrize(
    ("options", "sql", "arrow"),
    [
        (TypeOptions(decimals="float64"), "DECIMAL(8,2)", pa.float64()),
        (TypeOptions(floating_decimals="string"), "DECIMAL(16)", pa.utf8()),
        (TypeOptions(floating_decimals=pa.decimal128(38, 10)), "DECIMAL(16)", pa.decimal128(38, 10)),
        (TypeOptions(floating_decimals="string"), "DECIMAL(8,2)", pa.decimal128(8, 2)),
        (TypeOptions(strings="large"), "VARCHAR(5)", pa.large_utf8()),
        (TypeOptions(strings="large"), "DATETIME MONTH TO DAY", pa.utf8()),
    ],
    ids=str,
)
def test_options_choose_the_arrow_type(options: TypeOptions, sql: str, arrow: object) -> None:
    assert arrow_type(ColumnType.parse_sql(sql), options) == arrow


def test_plan_ops_carry_what_plan_h_says() -> None:
    def op(
        sql: str, options: TypeOptions = DEFAULT_OPTIONS, binary: bool = False
    ) -> tuple[int, int, int, int]:
        return plan_op(ColumnType.parse_sql(sql), options, bool_binary=binary).as_tuple()

    assert op("CHAR(10)") == (Kind.CHAR, 10, 0, plan_ops.FLAG_TRIM)
    assert op("CHAR(10)", TypeOptions(char_padding="keep", strings="large")) == (
        Kind.CHAR,
        10,
        0,
        plan_ops.FLAG_LARGE,
    )
    assert op("VARCHAR(20,5)") == (Kind.VARCHAR, 20, 0, 0)
    assert op("LVARCHAR(500)") == (Kind.LVARCHAR, 500, 0, 0)
    assert op("BOOLEAN") == (Kind.BOOL, 6, 0, 0)
    assert op("BOOLEAN", binary=True) == (Kind.BOOL, 6, 0, plan_ops.FLAG_BINARY_BOOL)
    assert op("DECIMAL(8,2)") == (Kind.DECIMAL128, 5, 0x0802, 0)
    assert op("DECIMAL(16)") == (Kind.DECIMAL_FLOAT64, 10, 0x10FF, 0)
    floating = TypeOptions(floating_decimals=pa.decimal128(38, 10))
    assert op("DECIMAL(16)", floating) == (Kind.DECIMAL128, 10, 38 << 8 | 10, 0)
    assert op("DATETIME YEAR TO SECOND") == (Kind.DATETIME_TIMESTAMP, 8, 0x0E0A, 0)


@pytest.mark.parametrize(
    "bad",
    [
        {"decimals": "x"},
        {"floating_decimals": "float"},
        {"char_padding": "no"},
        {"strings": "views"},
        {"intervals": "days"},
        {"lobs": "all"},
        {"nested": "json"},
        {"encoding_errors": "ignore"},
    ],
)
def test_an_unknown_option_is_refused_by_name(bad: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        TypeOptions(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ct", "boolean", "lvarchar"),
    [
        (ColumnType(41, 1, extended_id=5), True, False),
        (ColumnType(41, 1, extended_name="boolean"), True, False),
        (ColumnType(45, 1), True, False),
        (ColumnType(41, 1, flags=t.FLAG_DISTINCT | t.FLAG_DISTINCT_BOOLEAN), True, False),
        (ColumnType(41, 72, extended_id=10, extended_name="blob"), False, False),
        (ColumnType(40, 500, extended_id=1), False, True),
        (ColumnType(43, 500), False, True),
        (ColumnType(40, 500, flags=t.FLAG_DISTINCT | t.FLAG_DISTINCT_LVARCHAR), False, True),
        (ColumnType(40, 500, extended_name="json"), False, False),
        (ColumnType(41, 1, extended_name=" Boolean "), True, False),
        (ColumnType(40, 500, extended_name="LVARCHAR"), False, True),
    ],
)
def test_boolean_and_lvarchar_are_known_in_all_their_forms(
    ct: ColumnType, boolean: bool, lvarchar: bool
) -> None:
    assert (ct.is_boolean, ct.is_lvarchar) == (boolean, lvarchar)


def test_a_plan_keeps_duplicate_names_and_reports_the_declared_type() -> None:
    plan = compile_plan(
        [Column("a", ColumnType.serial(not_null=True)), Column("a", ColumnType.decimal(8, 2))]
    )
    assert plan.schema.names == ["a", "a"]
    assert plan.schema.field(0).metadata == {b"informix.type": b"SERIAL", b"informix.not_null": b"true"}
    assert plan.schema.field(1).metadata == {b"informix.type": b"DECIMAL(8,2)"}
    assert all(field.nullable for field in plan.schema)
    assert plan.max_tuple == 9


def field_of(sql: str | ColumnType, **options: object) -> pa.Field:
    ct = ColumnType.parse_sql(sql) if isinstance(sql, str) else sql
    plan = compile_plan([Column("c", ct), Column("after", ColumnType.integer())], TypeOptions(**options))  # type: ignore[arg-type]
    assert plan.schema.names == plan.decoded.names == ["c", "after"]
    assert plan.column_indexes == (0, 1)
    return plan.schema.field(0)


@parametrize_in_one_test(
    ("sql", "options", "arrow"),
    [
        ("BYTE", {}, pa.large_binary()),
        ("BLOB", {}, pa.large_binary()),
        ("TEXT", {}, pa.large_utf8()),
        ("CLOB", {}, pa.large_utf8()),
        ("CLOB", {"strings": "view"}, pa.large_utf8()),
        ("TEXT", {"encoding_errors": "binary"}, pa.large_binary()),
        ("TEXT", {"lobs": "lazy"}, pa.binary(56)),
        ("CLOB", {"lobs": "lazy"}, pa.binary()),
        ("VARCHAR(9)", {"strings": "view"}, pa.string_view()),
        ("CHAR(9)", {"strings": "dictionary"}, pa.dictionary(pa.int32(), pa.utf8())),
        ("LVARCHAR(9)", {"strings": "large"}, pa.large_utf8()),
        ("JSON", {"strings": "large"}, pa.large_utf8()),
        ("BSON", {}, pa.binary()),
        ("VARCHAR(9)", {"encoding_errors": "binary"}, pa.binary()),
        ("VARCHAR(9)", {"encoding_errors": "binary", "strings": "large"}, pa.large_binary()),
        ("VARCHAR(9)", {"encoding_errors": "binary", "strings": "view"}, pa.binary_view()),
        ("VARCHAR(9)", {"encoding_errors": "replace"}, pa.utf8()),
        ("DATETIME MONTH TO DAY", {"strings": "view", "encoding_errors": "binary"}, pa.utf8()),
        ("DECIMAL(16)", {"floating_decimals": "string", "strings": "large"}, pa.utf8()),
        ("DECIMAL(15,0)", {"integer_aggregates": True}, pa.int64()),
        ("DECIMAL(15,1)", {"integer_aggregates": True}, pa.decimal128(15, 1)),
        ("INTERVAL DAY TO DAY", {"intervals": "month_day_nano"}, pa.month_day_nano_interval()),
        ("SET(INTEGER NOT NULL)", {}, pa.list_(pa.int32())),
        ("SET(INTEGER NOT NULL)", {"nested": "text"}, pa.utf8()),
        ("SET(INTEGER NOT NULL)", {"nested": "text", "strings": "view"}, pa.string_view()),
        ("SET(INTEGER NOT NULL)", {"encoding_errors": "binary"}, pa.binary()),
        ("LIST(VARCHAR(9))", {"strings": "view"}, pa.list_(pa.utf8())),
        ("ROW(a DATE, b LIST(CHAR(3)))", {"strings": "large"},
         pa.struct([("a", pa.date32()), ("b", pa.list_(pa.large_utf8()))])),
        ("SET(person_t NOT NULL)", {}, pa.utf8()),
    ],
    ids=str,
)  # fmt: skip
def test_users_get_the_type_that_the_options_say(sql: str, options: dict[str, object], arrow: object) -> None:
    field = field_of(sql, **options)
    assert field.type == arrow
    assert field.metadata[b"informix.type"] == sql.replace("DAY TO DAY", "DAY(2) TO DAY").encode()
    if sql[:3] in ("SET", "LIS", "ROW"):
        nested = b"arrow" if pa.types.is_nested(arrow) else b"literal"
        assert field.metadata[b"informix.nested"] == nested
    else:
        assert b"informix.nested" not in field.metadata


def test_skipped_large_objects_are_decoded_but_not_handed_out() -> None:
    columns = [
        Column("a", ColumnType.text()),
        Column("b", ColumnType.integer()),
        Column("c", ColumnType.blob()),
        Column("d", ColumnType.date()),
    ]
    plan = compile_plan(columns, TypeOptions(lobs="skip"))
    assert plan.decoded.names == ["a", "b", "c", "d"]
    assert [op.kind for op in plan.ops] == [Kind.LOB, Kind.INT32, Kind.OPAQUE, Kind.DATE]
    assert (plan.schema.names, plan.column_indexes) == (["b", "d"], (1, 3))


def test_text_that_the_decoder_cannot_transcode_is_decoded_raw_and_promised_as_text() -> None:
    columns = [
        Column("a", ColumnType.char(5)),
        Column("b", ColumnType.parse_sql("SET(CHAR(3) NOT NULL)")),
        Column("c", ColumnType.datetime("MONTH TO DAY")),
    ]
    for errors in ("strict", "replace"):
        options = TypeOptions(encoding_errors=errors)  # type: ignore[arg-type]
        plan = compile_plan(columns, options, raw_text=True)
        assert [field.type for field in plan.decoded] == [pa.binary(), pa.binary(), pa.utf8()]
        assert [op.flags for op in plan.ops] == [plan_ops.FLAG_TRIM | plan_ops.FLAG_RAW, plan_ops.FLAG_RAW, 0]
        assert plan.schema == compile_plan(columns, options).schema
    large = compile_plan(columns, TypeOptions(strings="large"), raw_text=True)
    assert large.decoded.field(0).type == pa.large_binary()


def test_a_distinct_type_has_its_name_and_its_source() -> None:
    cases = [
        (ColumnType.decimal(8, 2), 5, t.FLAG_DISTINCT),
        (ColumnType.lvarchar(300), 40, t.FLAG_DISTINCT | t.FLAG_DISTINCT_LVARCHAR),
        (ColumnType.boolean(), 41, t.FLAG_DISTINCT | t.FLAG_DISTINCT_BOOLEAN),
        (ColumnType.clob(), 41, t.FLAG_DISTINCT),
        (ColumnType.interval("DAY TO SECOND"), 14, t.FLAG_DISTINCT),
    ]
    for source, code, flags in cases:
        ct = ColumnType.distinct("euro", source, 2049, "joe", not_null=True)
        assert (ct.code, ct.flags, ct.extended_id) == (code, flags | t.FLAG_NOT_NULL, 2049)
        assert ct.sql == "euro"
        assert ct.source is not None
        assert ct.source.not_null
        assert replace(ct.source, flags=0) == source
        plain, distinct = field_of(source), field_of(ct)
        assert distinct.type == plain.type
        assert distinct.metadata == {
            b"informix.type": b"euro",
            b"informix.source_type": source.sql.encode(),
            b"informix.not_null": b"true",
        }
        assert plan_op(ct) == plan_op(source)
        assert ct.max_width == source.max_width
    assert ColumnType.integer().source is None


def test_a_named_row_goes_by_its_name_and_is_read_as_its_literal() -> None:
    ct = ColumnType.named_row("person_t", 2050, "joe")
    assert (ct.code, ct.flags, ct.sql, ct.max_width) == (22, t.FLAG_NAMED_ROW, "person_t", ENVELOPE)
    field = field_of(ct)
    assert field.type == pa.utf8()
    assert field.metadata == {b"informix.type": b"person_t", b"informix.nested": b"literal"}


def test_the_longest_collection_is_as_long_as_described_but_never_below_32768() -> None:
    assert ColumnType(19, 100_000, extended_name="SET(INTEGER)").max_width == 100_005
    assert plan_op(ColumnType(19, 100_000)).width == 100_000
    assert ColumnType(40, 10, extended_name="myudt").max_width == ENVELOPE
    assert plan_op(ColumnType(40, 10, extended_name="myudt")).width == 32768


def test_a_definition_that_cannot_be_read_is_kept_and_read_as_text() -> None:
    for name in ("SET(INTEGER", "whatever", "LIST(INTEGER)"):  # the last one is not a SET
        ct = ColumnType(19, 0, extended_name=name)
        field = field_of(ct)
        assert field.type == pa.utf8()
        assert field.metadata[b"informix.type"] == name.encode()
    assert ColumnType(19, 0).sql == "SET"


@pytest.mark.parametrize(
    ("ct", "blob", "clob", "large"),
    [
        (ColumnType(41, 72, extended_id=10), True, False, True),
        (ColumnType(41, 72, extended_name="Clob"), False, True, True),
        (ColumnType(41, 72, t.FLAG_DISTINCT, 2048, "joe", "photo", 10), True, False, True),
        (ColumnType(44, 72, extended_name="blob"), True, False, True),
        (ColumnType(11, 56), False, False, True),
        (ColumnType(40, 72, extended_name="blobby"), False, False, False),
        (ColumnType.boolean(), False, False, False),
        (ColumnType.char(5), False, False, False),
    ],
)
def test_large_objects_are_known_in_all_their_forms(
    ct: ColumnType, blob: bool, clob: bool, large: bool
) -> None:
    assert (ct.is_blob, ct.is_clob, ct.is_large_object) == (blob, clob, large)


# ---- invariants that the fast path depends on
# ----------------------------------------------------------------------


def test_kinds_and_flags_have_the_numbers_of_the_c_code() -> None:
    """If this fails: run `python tools/kinds.py`, and change plan.h and plan_ops together. The C codecs depend on these
    numbers."""
    text = PLAN_H.read_text()
    lines = re.findall(r"^IA_KIND\((\w+), +(\d+),", PLAN_H.with_name("kinds.def").read_text(), re.MULTILINE)
    assert lines == [(kind.name, str(kind.value)) for kind in Kind]
    flags = {name: int(number) for name, number in re.findall(r"#define IA_FLAG_(\w+) (\d+)", text)}
    assert flags == {
        "TRIM": plan_ops.FLAG_TRIM,
        "BINARY_BOOL": plan_ops.FLAG_BINARY_BOOL,
        "LARGE": plan_ops.FLAG_LARGE,
        "REPLACE": plan_ops.FLAG_REPLACE,
        "RAW": plan_ops.FLAG_RAW,
        "ROUND": plan_ops.FLAG_ROUND,
        "TRUNCATE": plan_ops.FLAG_TRUNCATE,
    }


def test_encode_statuses_have_the_numbers_of_the_c_code() -> None:
    """If this fails: change encode_status.h and encode_fault.py together. The server maps these numbers to SQLCODEs."""
    text = PLAN_H.with_name("encode_status.h").read_text()
    names = re.findall(r"^    IA_ENC_(\w+)(?: = 0)?,? ", text.split("enum ia_enc_status {")[1], re.MULTILINE)
    assert names[0] == "OK"
    assert names[1:] == [status.name for status in EncodeStatus]
    assert [status.value for status in EncodeStatus] == list(range(1, len(names)))


def test_fixed_width_kinds_need_no_qualifier_bits() -> None:
    """If this fails: a kind that the codecs decode by its width alone must have arg 0 and one width for all its types.
    If a new type breaks this, give it its own kind."""
    by_width = {
        Kind.INT16: 2, Kind.INT32: 4, Kind.INT64: 8, Kind.INT8: 10, Kind.FLOAT32: 4, Kind.FLOAT64: 8,
        Kind.DATE: 4,
    }  # fmt: skip
    seen = set()
    for sql, *_ in TABLE:
        op = plan_op(ColumnType.parse_sql(sql))
        if op.kind in by_width:
            assert (op.width, op.arg, op.flags) == (by_width[op.kind], 0, 0), sql
            seen.add(op.kind)
    assert seen == set(by_width)


def test_every_kind_has_a_reference_decoder_and_encoder() -> None:
    """If this fails: a kind added to kinds.def needs its Python counterpart in wire/values.py, by which the C codecs
    are tested."""
    assert set(DECODERS) == set(ENCODERS) == set(Kind)


def test_flagged_type_codes_never_equal_plain_ones() -> None:
    """If this fails: flags are above the low byte. A plan that compared whole type words would take a NOT NULL column
    for another type; compare ColumnType.code, never .word."""
    flags = [
        t.FLAG_NOT_NULL, t.FLAG_HOST_VARIABLE, t.FLAG_DISTINCT, t.FLAG_NAMED_ROW, t.FLAG_DISTINCT_LVARCHAR,
        t.FLAG_DISTINCT_BOOLEAN, t.FLAG_CLIENT_COLLECTION,
    ]  # fmt: skip
    assert max(TypeCode) < 0x100 <= min(flags)
    for code in TypeCode:
        for flag in flags:
            ct = ColumnType.from_word(code | flag, 4)
            assert (ct.code, ct.flags, ct.word) == (code, flag, code | flag)


@parametrize_in_one_test("sql", [row[0] for row in TABLE])
def test_not_null_changes_nothing_in_the_plan(sql: str) -> None:
    assert plan_op(ColumnType.parse_sql(sql)) == plan_op(ColumnType.parse_sql(sql + " NOT NULL"))
