"""Types and defaults from catalogue rows as real servers store them, names of tables, and ADBC's filters."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from tests.unit.operations.scripted_peer import new_session

from informix_arrow.metadata import adbc, catalog, queries
from informix_arrow.metadata.adbc import like_matcher, xdbc_type
from informix_arrow.metadata.catalog_types import (
    NO_EXTENDED,
    Attribute,
    ExtendedType,
    TypeCatalogue,
    default_text,
    needs_catalogue,
)
from informix_arrow.metadata.table_names import TableName, catalogue
from informix_arrow.operations.io_steps import Exchange, run_without_io
from informix_arrow.operations.session import Session
from informix_arrow.wire.errors import DataError, InterfaceError
from informix_arrow.wire.types import ColumnType


@pytest.mark.parametrize(
    ("word", "length", "declared"),
    [
        (0, 20, "CHAR(20)"),
        (262, 4, "SERIAL"),
        (13, 100, "VARCHAR(100)"),
        (13, 2660, "VARCHAR(100,10)"),
        (13, -26936, "VARCHAR(200,150)"),  # with a reserve of 128 or more the short is negative
        (16, 5200, "NVARCHAR(80,20)"),
        (5, 2562, "DECIMAL(10,2)"),
        (5, 16 * 256 + 255, "DECIMAL(16)"),
        (8, 4098, "MONEY(16,2)"),
        (10, 0x0E0A, "DATETIME YEAR TO SECOND"),
        (10, 0x130F, "DATETIME YEAR TO FRACTION(5)"),
        (14, 0x094A, "INTERVAL DAY(3) TO SECOND"),
        (43, 500, "LVARCHAR(500)"),
        (45, 1, "BOOLEAN"),
        (52, 8, "BIGINT"),
        (11, 56, "BYTE"),
    ],
)
def test_type_words_and_lengths_of_real_servers_are_understood(word: int, length: int, declared: str) -> None:
    t = NO_EXTENDED.column_type(word, length, 0)
    assert t.sql == declared
    assert t.not_null == bool(word & 0x100)


@pytest.mark.parametrize(
    ("word", "length", "extended_id", "declared"),
    [
        (40, 300, 1, "LVARCHAR(300)"),
        (41, 1, 5, "BOOLEAN"),
        (41, 72, 10, "BLOB"),
        (41, 72, 11, "CLOB"),
        (41 | 0x100, 1, 5, "BOOLEAN"),
    ],
)
def test_built_in_extended_types_need_no_catalogue(
    word: int, length: int, extended_id: int, declared: str
) -> None:
    assert not needs_catalogue(extended_id)
    assert NO_EXTENDED.column_type(word, length, extended_id).sql == declared


def attribute(seqno: int, name: str, word: int, length: int, **rest: int) -> Attribute:
    return Attribute(
        seqno, rest.get("level", 1), rest.get("parent", 0), name, word, length, rest.get("extended_id", 0)
    )


CATALOGUE = TypeCatalogue(
    {
        100: ExtendedType("", "informix", 19, 0),
        101: ExtendedType("", "informix", 22, 0),
        102: ExtendedType("addr_t", "ann", 22, 0),
        103: ExtendedType("dollar", "ann", 5, 0),
        104: ExtendedType("point", "ann", 41, 0),
        105: ExtendedType("", "informix", 21, 0),
        106: ExtendedType("", "informix", 20, 0),
    },
    {
        100: [attribute(1, "", 2 | 0x100, 4)],
        # ROW(a INTEGER, b SET(ROW(c DATE, d LIST(SMALLINT NOT NULL)) NOT NULL), e DECIMAL(8,2))
        101: [
            attribute(1, "a", 2, 4),
            attribute(2, "b", 19, 0),
            attribute(3, "", 22 | 0x100, 0, level=2, parent=2),
            attribute(4, "c", 7, 4, level=3, parent=3),
            attribute(5, "d", 21, 0, level=3, parent=3),
            attribute(6, "", 1 | 0x100, 2, level=4, parent=5),
            attribute(7, "e", 5, 2050),
        ],
        105: [attribute(1, "", 22 | 0x1100, 0, extended_id=102)],
        106: [attribute(1, "", 20 | 0x100, 0, extended_id=106)],  # a type that contains itself
    },
)


@pytest.mark.parametrize(
    ("word", "length", "extended_id", "declared"),
    [
        (19, 0, 100, "SET(INTEGER NOT NULL)"),
        (
            22,
            0,
            101,
            "ROW(a INTEGER, b SET(ROW(c DATE, d LIST(SMALLINT NOT NULL)) NOT NULL), e DECIMAL(8,2))",
        ),
        (22 | 0x1000, 0, 102, "addr_t"),
        (5 | 0x800, 2050, 103, "dollar"),
        (41, 16, 104, "point"),
        (21, 0, 105, "LIST(addr_t NOT NULL)"),
        (19, 0, 999, "SET"),
        (41, 16, 999, "type 41"),
    ],
)
def test_extended_types_come_from_the_catalogue(
    word: int, length: int, extended_id: int, declared: str
) -> None:
    assert needs_catalogue(extended_id)
    assert CATALOGUE.column_type(word, length, extended_id).sql == declared


def test_a_type_that_is_made_of_itself_comes_to_an_end() -> None:
    assert "MULTISET" in CATALOGUE.column_type(20, 0, 106).sql


@pytest.mark.parametrize(
    ("kind", "stored", "declared", "expected"),
    [
        ("L", "x y", "CHAR(5)", "'x y'"),
        ("L", "it's", "VARCHAR(9)", "'it''s'"),
        ("L", "", "LVARCHAR(9)", "''"),
        ("L", "AAAAAF 5", "INTEGER", "5"),
        ("L", "AAAAAF -3.50", "DECIMAL(8,2)", "-3.50"),
        ("L", "7", "INTEGER", "7"),
        ("L", "AAAbcd 01/31/2026", "DATE", "'01/31/2026'"),
        ("L", "AAAbcd 2026-01-31 10:00:00", "DATETIME YEAR TO SECOND", "'2026-01-31 10:00:00'"),
        ("L", "AA t", "BOOLEAN", "'t'"),
        ("C", None, "DATETIME YEAR TO FRACTION(3)", "CURRENT YEAR TO FRACTION(3)"),
        ("T", None, "DATE", "TODAY"),
        ("U", None, "CHAR(32)", "USER"),
        ("S", None, "CHAR(32)", "DBSERVERNAME"),
        ("N", None, "INTEGER", None),
    ],
)
def test_defaults_are_given_as_sql(
    kind: str, stored: str | None, declared: str, expected: str | None
) -> None:
    assert default_text(kind, stored, ColumnType.parse_sql(declared)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Orders", TableName("orders")),
        (" orders ", TableName("orders")),
        ('"Orders"', TableName("Orders")),
        ('"my ""big"" table"', TableName('my "big" table')),
        ("Ann.Orders", TableName("orders", "ann")),
        ("'Ann'.orders", TableName("orders", "Ann", exact_owner=True)),
        ('"Ann".orders', TableName("orders", "Ann", exact_owner=True)),
        ("Stores:orders", TableName("orders", database="stores")),
        ('stores@ol_one:"Ann"."Big"', TableName("Big", "Ann", "stores@ol_one", True)),
        ("größe", TableName("größe")),
    ],
)
def test_tables_are_named_as_in_sql(text: str, expected: TableName) -> None:
    assert TableName.parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "a b", "a;b", "a.b.c", "x:y:z", "a'b", "1a", "orders; DROP TABLE x", None, 7]
)
def test_what_is_no_name_is_refused_before_anything_is_sent(text: object) -> None:
    with pytest.raises(InterfaceError, match="not a table name"):
        TableName.parse(text)


@pytest.mark.parametrize("database", ["a b", "x'; --", "a:b", "1"])
def test_what_is_no_database_is_refused(database: str) -> None:
    with pytest.raises(InterfaceError, match="not a database name"):
        catalogue(database)


def test_an_owner_is_compared_exactly_only_when_quoted() -> None:
    assert TableName.parse("ANN.t").is_owned_by("ann")
    assert TableName.parse("ann.t").is_owned_by("ANN")
    assert not TableName.parse("'ann'.t").is_owned_by("ANN")
    assert TableName.parse("t").is_owned_by("anybody")


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (None, "anything", None),
        ("orders", "orders", "Orders"),
        ("ord%", "orders", "xorders"),
        ("o_ders", "orders", "oders"),
        ("a.b", "a.b", "axb"),
        ("%", "", None),
        ("[a]", "[a]", "a"),
    ],
)
def test_filters_are_patterns_of_like(pattern: str | None, yes: str, no: str | None) -> None:
    assert like_matcher(pattern)(yes)
    assert no is None or not like_matcher(pattern)(no)


@pytest.mark.parametrize(
    ("declared", "number"),
    [
        ("CHAR(3)", 1), ("VARCHAR(3)", 12), ("NVARCHAR(3)", -9), ("LVARCHAR(30)", -1), ("SMALLINT", 5), ("SERIAL", 4),
        ("BIGINT", -5), ("DECIMAL(8,2)", 3), ("FLOAT", 8), ("SMALLFLOAT", 7), ("DATE", 91),
        ("DATETIME YEAR TO DAY", 91), ("DATETIME YEAR TO SECOND", 93), ("DATETIME HOUR TO SECOND", 92),
        ("DATETIME MONTH TO DAY", 1111), ("INTERVAL DAY TO SECOND", 1111), ("BOOLEAN", 16), ("BLOB", 2004),
        ("CLOB", 2005), ("TEXT", -1), ("BYTE", -4), ("SET(INTEGER NOT NULL)", 2003), ("ROW(a INTEGER)", 2002),
    ],
)  # fmt: skip
def test_types_have_their_numbers_of_odbc(declared: str, number: int) -> None:
    assert xdbc_type(ColumnType.parse_sql(declared)) == number


@pytest.mark.parametrize(
    ("word", "length", "declared"),
    [
        (10, 0x0E04, "DATETIME of length 3588"),
        (10 + 0x0100, 0, "DATETIME of length 0"),
        (14, 0x0414, "INTERVAL of length 1044"),
        (14, -1, "INTERVAL of length 65535"),
    ],
)
def test_types_that_cannot_be_are_shown_as_they_are(word: int, length: int, declared: str) -> None:
    found = NO_EXTENDED.column_type(word, length, 0)
    assert found.sql == declared
    assert catalog.arrow_name(found) is None
    assert xdbc_type(found) == 1111
    assert default_text("C", None, found) == "CURRENT"


KEY = ("ann", "t", 7, 101, "\x0e", "k", "ix", 1, *(0,) * 15)
STRANGE: dict[str, list[tuple[Any, ...]]] = {
    "SELECT DISTINCT t.owner": [("ann",)],
    "t.tabname, t.owner, t.tabid, t.tabtype FROM": [("t", "ann", 101, "\x0e")],
    "systables t WHERE": [
        ("t", "ann", 101, "\x0e", datetime.date(2024, 2, 29), 2, 1, 8, 0.0, "é"),
        ("u", "ann", 102, None, None, 2, 0, 8, None, None),
    ],
    "sysconstraints k, informix.sysindexes": [KEY],
    "sysconstraints k WHERE": [],
    "sysreferences": [],
    "sysindexes i WHERE": [("ann", "t", 101, "ix", "ann", "?", "?", 1, -2, *(0,) * 14)],
    "SELECT c.tabid, c.colno, c.colname FROM": [(101, 1, "a"), (101, 2, "b")],
    "syscolumns c WHERE": [
        (101, 1, "a", 10, 0x0E04, 0, "ann", "t"),
        (101, 2, "b", 2, 4, 0, "ann", "t"),
    ],
    "sysdefaults": [(101, 1, "\x0e", "x")],
    "sysdatabases": [("d",)],
}


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose server has unknown codes in its catalogue."""

    def rows_of(session: Session, sql: str, *values: object) -> Exchange[list[tuple[Any, ...]]]:
        yield from ()
        return next(rows for words, rows in STRANGE.items() if words in sql)

    monkeypatch.setattr(queries, "rows_of", rows_of)
    return new_session()


def test_letters_of_the_catalogue_that_nobody_knows_are_shown_as_they_are(strange: Session) -> None:
    tables = run_without_io(catalog.tables(strange, None, None, None, ""))
    assert tables.column("table_type").to_pylist() == ["\x0e", ""]
    assert tables.column("lock_level").to_pylist() == [None, None]
    assert tables.column("row_count").to_pylist() == [0, None]


def test_constraints_and_types_that_nobody_knows_are_shown_as_they_are(
    strange: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STRANGE, "systables t WHERE", STRANGE["systables t WHERE"][:1])
    name = TableName("t")
    indexes = run_without_io(catalog.indexes(strange, name))
    assert indexes.column("constraint_type").to_pylist() == ["\x0e", "\x0e"]
    assert indexes.column("column_name").to_pylist() == ["a", "b"]
    columns = run_without_io(catalog.columns(strange, name))
    assert columns.column("data_type").to_pylist() == ["DATETIME of length 3588", "INTEGER"]
    assert columns.column("arrow_type").to_pylist() == [None, "int32"]
    (database,) = run_without_io(adbc.get_objects(strange)).read_all().to_pylist()
    (table,) = database["catalog_db_schemas"][0]["db_schema_tables"]
    assert table["table_type"] == table["table_constraints"][0]["constraint_type"] == "\x0e"
    assert [column["xdbc_type_name"] for column in table["table_columns"]] == [
        "DATETIME of length 3588",
        "INTEGER",
    ]


@pytest.mark.parametrize(
    "row",
    [
        (None, None, 101, "T", None, 2, 0, 8, 0.0, "P"),
        ("t", "ann", "x", "T", None, 2, 0, 8, 0.0, "P"),
        ("t", "ann", 101, "T", "no date", 2, 0, 8, 0.0, "P"),
        ("t", "ann", 101, "T", None, 2, 0, 8, float("inf"), "P"),
        ("t", "ann", 101),
        (),
    ],
)
def test_rows_of_the_catalogue_that_nothing_can_be_made_of_are_an_error_of_ours(
    strange: Session, monkeypatch: pytest.MonkeyPatch, row: tuple[Any, ...]
) -> None:
    monkeypatch.setitem(STRANGE, "systables t WHERE", [("é", "ann", 100, "T", None, 2, 0, 8, 0.0, "R"), row])
    with pytest.raises(DataError, match="catalog cannot be interpreted") as caught:
        run_without_io(catalog.tables(strange, None, "ann", None, ""))
    assert strange.usable_after(caught.value)
