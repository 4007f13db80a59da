"""Row images in the log of changes equal those recorded from Informix 15, byte for byte (docs/protocol/CDC.md)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.change_follower import records as parsed
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.cdc_log import records
from informix_arrow.server.cdc_log.row_images import TableImageEncoder
from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine

COLUMNS = (
    "id serial, si smallint, i8 int8, bi bigint, fl float, sf smallfloat, d decimal(12,3), m money(10,2), "
    "fdec decimal(10), dt date, ts datetime year to second, tf datetime year to fraction(3), "
    "hm datetime hour to minute, iv interval day(3) to second, ym interval year to month, b boolean, c char(5), "
    "nc nchar(4), bs bigserial, vc varchar(20,0), nv nvarchar(20,0), lv lvarchar(200)"
)

ROWS = [
    (
        "1, 12, 1234567890123, -9876543210, 3.25, -1.5, 12345.678, 99.95, 0.000123, mdy(3,15,2024), "
        "'2024-03-15 10:20:30', '2024-03-15 10:20:30.125', '07:05', '12 03:04:05', '3-07', 't', 'ab', 'ñü', 1, "
        "'hola ñ', 'nv', 'long text'",
        "00000008 00000003 0000000c "
        "00000001 000c 000171fb04cb0000011f fffffffdb34fe916 400a000000000000 bfc00000 c301172d43500000 c1635f000000 "
        "bf011700000000 0000b135 c71418030f0a141e c71418030f0a141e0c32 c30705 c40c03040500 c6030700 0001 6162202020 "
        "c3b1c3bc 0000000000000001 07686f6c6120c3b1 026e76 000a006c6f6e672074657874",
    ),
    (
        "1, -3, -5, 0, 0, -1.5, -0.500, 0.00, -12000, mdy(12,31,1899), '1999-12-31 23:59:59', "
        "'2024-03-15 10:20:30.125', '07:05', '12 03:04:05', '3-07', 'f', null, 'ñü', 1, '', 'nv', 'long text'",
        "00000001 00000003 0000000c "
        "00000001 fffd ffff0000000500000000 0000000000000000 0000000000000000 bfc00000 3f32000000000000 800000000000 "
        "3c625000000000 00000000 c713630c1f173b3b c71418030f0a141e0c32 c30705 c40c03040500 c6030700 0000 0020202020 "
        "c3b1c3bc 0000000000000001 00 026e76 000a006c6f6e672074657874",
    ),
    (
        "2, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, 2, "
        "null, null, null",
        "00000002 00000002 00000003 "
        "00000002 8000 00000000000000000000 8000000000000000 ffffffffffffffff ffffffff 0000000000000000 000000000000 "
        "00000000000000 80000000 0000000000000000 00000000000000000000 000000 000000000000 00000000 0100 0020202020 "
        "00202020 0000000000000002 0100 0100 000101",
    ),
]

NUMBERS = [
    ("decimal(11,3)", "-12345678.912", "3b57412b150850"),
    ("decimal(5,1)", "-1234.5", "3d574132"),
    ("decimal(11)", "12345678901", "c601172d435901"),
    ("interval day(3) to fraction(3)", "'123 04:05:06.789'", "c501170405064e5a"),
    ("interval minute(5) to fraction(1)", "'12345:06.7'", "c401172d0646"),
    ("datetime year to day", "'2024-03-15'", "c71418030f"),
]


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    return connect(fresh_engine)


def images_of(db: Db, name: str, codec: str = "utf-8") -> tuple[TableImageEncoder, pa.Table]:
    """Return the encoder of a table's row images, and its rows in storage form."""
    info = db.session.find_table(None, name)
    assert info is not None
    names = ", ".join(f'"{c.name}"' for c in info.columns)
    query = f"select {names} from {info.duck_name} order by rowid"
    return TableImageEncoder(info, codec), db.session.transaction.con.sql(query).to_arrow_table()


@pytest.mark.parametrize(("values", "image"), ROWS)
def test_images_that_informix_15_was_seen_to_make(db: Db, values: str, image: str) -> None:
    db.run(f"create table t ({COLUMNS})")
    db.run(f"insert into t values ({values})")
    images, rows = images_of(db, "t")
    assert [body.hex() for body in images.encode(rows)] == [bytes.fromhex(image).hex()]


def test_the_column_text_of_informix_15(db: Db) -> None:
    db.run(f"create table t ({COLUMNS})")
    ((number, head, text),) = parsed(records.schema(7, images_of(db, "t")[0].table.columns))
    assert number == 200
    assert text == COLUMNS.encode() + b"\0"
    assert [int.from_bytes(head[i : i + 4], "big") for i in range(0, 20, 4)] == [7, 0, 111, 19, 3]


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("interval year to month", "interval year to month"),
        ("interval year(5) to year", "interval year(5) to year"),
        ("interval month(4) to month", "interval month(4) to month"),
        ("interval day to hour", "interval day to hour"),
        ("interval hour(2) to fraction(2)", "interval hour to fraction(2)"),
        ("interval second to fraction", "interval second to fraction(3)"),
        ("int8", "int8"),
        ("serial8", "serial8"),
        ("money", "money(16,2)"),
        ("decimal", "decimal(16)"),
        ("datetime hour to fraction(1)", "datetime hour to fraction(1)"),
        ("lvarchar", "lvarchar(2048)"),
        ("nvarchar(7,3)", "nvarchar(7,3)"),
        ("char", "char(1)"),
    ],
)
def test_types_in_the_column_text(db: Db, declared: str, text: str) -> None:
    db.run(f"create table t (a {declared})")
    assert images_of(db, "t")[0].table.columns[0].declared == text


@pytest.mark.parametrize(("declared", "value", "image"), NUMBERS)
def test_numbers_and_moments_of_informix_15(db: Db, declared: str, value: str, image: str) -> None:
    db.run(f"create table t (a {declared}, behind smallint)")
    db.run(f"insert into t values ({value}, 258)")
    images, rows = images_of(db, "t")
    assert images.encode(rows) == [bytes.fromhex(image + "0102")]


def test_columns_of_variable_length_come_last_and_some_may_be_picked(db: Db) -> None:
    db.run("create table t (v varchar(10,2), a integer, w lvarchar(20), b smallint, x nvarchar(5))")
    db.run("insert into t values ('vv', 1, 'w', 2, null)")
    images, rows = images_of(db, "t")
    (body,) = images.encode(rows)
    assert body == bytes.fromhex("000000030000000400000002 00000001 0002 027676 00020077 0100")
    assert [(c.name, c.declared, c.width) for c in images.table.columns] == [
        ("a", "integer", 4), ("b", "smallint", 2), ("v", "varchar(10,2)", 0), ("w", "lvarchar(20)", 0),
        ("x", "nvarchar(5,0)", 0),
    ]  # fmt: skip
    assert records.projection(images.table, {"a", "b", "v", "w", "x"}) is None
    for wanted, expected in [
        ({"b"}, "0002"), ({"w"}, "00000004 00020077"), ({"a", "x", "v"}, "0000000300000002 00000001 027676 0100"),
    ]:  # fmt: skip
        pick = records.projection(images.table, wanted)
        assert pick is not None
        assert pick(body) == bytes.fromhex(expected)


def test_columns_that_cannot_be_captured_are_left_out(db: Db) -> None:
    db.run("create distinct type money_of as integer")
    db.run("create table t (a integer, b blob, c clob, d byte, e text, f set(integer not null), g row(x integer), "
           "h money_of, z smallint)")  # fmt: skip
    db.run("insert into t (a, z) values (1, 2)")
    images, rows = images_of(db, "t")
    assert [c.name for c in images.table.columns] == ["a", "z"]
    assert images.encode(rows) == [bytes.fromhex("00000001 0002")]


@pytest.mark.parametrize(
    ("codec", "text", "raw"), [("latin-1", "ñü", "f1fc"), ("shift_jis", "日本", "93fa967b")]
)
def test_text_is_in_the_code_set_of_its_database(db: Db, codec: str, text: str, raw: str) -> None:
    db.run("create table t (c char(8), v varchar(8), l lvarchar(8))")
    db.run("insert into t values (?, ?, ?)", text, text, text)
    db.run("insert into t values (null, null, null)")
    images, rows = images_of(db, "t", codec)
    n = len(raw) // 2
    c, v, lv = raw + "20" * (8 - n), f"{n:02x}{raw}", f"{n + 1:04x}00{raw}"
    assert images.encode(rows)[0].hex() == f"{n + 1:08x}{n + 3:08x}{c}{v}{lv}"
    assert images.encode(rows)[1].hex() == "0000000200000003" + "00" + "20" * 7 + "0100" + "000101"
    for column in ("c", "v", "l"):
        db.run("update t set c = 'x', v = 'x', l = 'x'")
        db.run(f"update t set {column} = '\U0001f600'")
        images, rows = images_of(db, "t", codec)
        with pytest.raises(SqlError) as refused:
            images.encode(rows)
        assert (refused.value.sqlcode, refused.value.near) == (-23103, column)


def test_only_columns_of_variable_length_and_many_rows(db: Db) -> None:
    db.run("create table t (v varchar(255))")
    db.many("insert into t values (?)", [("x" * (i % 256),) for i in range(9000)])
    images, rows = images_of(db, "t")
    assert images.encode(rows) == [
        (n + 1).to_bytes(4, "big") + bytes((n,)) + b"x" * n for n in (i % 256 for i in range(9000))
    ]
