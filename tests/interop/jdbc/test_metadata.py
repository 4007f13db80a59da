"""DatabaseMetaData of IBM's driver on the embedded server's catalogue, compared with our own metadata.

The driver queries systables and related tables with its own SQL (JDBC section 12): an independent reader of the same
rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from ..values import UTF8
from .driver import Jdbc

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

_numbers = itertools.count(1)

#: (declaration, java.sql.Types, size, fraction digits, default as JDBC shows it)
COLUMNS = (
    ("SERIAL NOT NULL", 4, 10, 0, None),
    ("SMALLINT DEFAULT -7", 5, 5, 0, "-7"),
    ("INTEGER", 4, 10, 0, None),
    ("BIGINT", -5, 19, 0, None),
    ("INT8", -5, 19, 0, None),
    ("DECIMAL(8,2) DEFAULT 3.50 NOT NULL", 3, 8, 2, "3.50"),
    ("MONEY(10,4)", 3, 10, 4, None),
    ("FLOAT", 6, 15, 0, None),
    ("SMALLFLOAT", 7, 7, 0, None),
    ("CHAR(7) DEFAULT 'x y' NOT NULL", 1, 7, 0, "'x y'"),
    ("NCHAR(5)", -15, 5, 0, None),
    ("VARCHAR(200,150)", 12, 200, 0, None),
    ("NVARCHAR(20)", -9, 20, 0, None),
    ("LVARCHAR(500)", -1, 500, 0, None),
    ("DATE DEFAULT TODAY", 91, 10, 0, "today"),
    ("DATETIME YEAR TO SECOND DEFAULT CURRENT YEAR TO SECOND", 93, 19, 0, "current"),
    ("DATETIME YEAR TO FRACTION(3)", 93, 23, 3, None),
    ("BOOLEAN", 16, 1, 0, None),
    ("TEXT", -1, 2147483647, 0, None),
    ("INTEGER", 4, 10, 0, None),
)


@pytest.fixture
def family(ours: Callable[[str], Connection]) -> Iterator[tuple[str, str, str]]:
    """Create a parent, a child that refers to it by a composite and a single key, and a view. Yield their names."""
    run = ours(UTF8).execute
    number = next(_numbers)
    parent, child, view = (f"meta_{number}_{what}" for what in ("parent", "child", "view"))
    run(
        f"CREATE TABLE {parent} (a INTEGER NOT NULL, b VARCHAR(10) NOT NULL, c INTEGER, "
        f"PRIMARY KEY (b, a) CONSTRAINT {parent}_pk, UNIQUE (c) CONSTRAINT {parent}_u)"
    )
    run(
        f"CREATE TABLE {child} (x INTEGER, y VARCHAR(10), z INTEGER, "
        f"FOREIGN KEY (y, x) REFERENCES {parent} CONSTRAINT {child}_1, "
        f"FOREIGN KEY (z) REFERENCES {parent} (c) CONSTRAINT {child}_2)"
    )
    run(f"CREATE INDEX {child}_i ON {child} (z DESC, x)")
    run(f"CREATE VIEW {view} (k, l) AS SELECT a, b FROM {parent}")
    yield parent, child, view
    for statement in (f"VIEW {view}", f"TABLE {child}", f"TABLE {parent}"):
        run(f"DROP {statement}")


def test_columns_have_their_types_sizes_and_defaults(
    jdbc: Callable[..., Jdbc], jdbc_release: str, new_table: Callable[[str, str], str]
) -> None:
    table = new_table(UTF8, ", ".join(f"c{n} {each[0]}" for n, each in enumerate(COLUMNS, 1)))
    found = jdbc(UTF8).metadata("getColumns", table)
    assert [row["COLUMN_NAME"] for row in found] == [f"c{n}" for n in range(1, len(COLUMNS) + 1)]
    for row, (declared, kind, size, scale, default) in zip(found, COLUMNS, strict=True):
        if default is not None and jdbc_release.startswith("4.10."):  # it shows literals without their quotes
            default = default.strip("'")
        shown = (row["DATA_TYPE"], row["COLUMN_SIZE"], row["DECIMAL_DIGITS"], row["COLUMN_DEF"])
        assert shown == (str(kind), str(size), str(scale), default), declared
        assert row["IS_NULLABLE"] == ("NO" if "NOT NULL" in declared else "YES"), declared
        assert row["IS_AUTOINCREMENT"] == ("YES" if "SERIAL" in declared else "NO"), declared


def test_the_names_of_datetime_types_are_whole(
    jdbc: Callable[..., Jdbc], new_table: Callable[[str, str], str]
) -> None:
    table = new_table(
        UTF8, "a DATETIME YEAR TO SECOND, b DATETIME HOUR TO MINUTE, c INTERVAL DAY(3) TO SECOND"
    )
    assert [row["TYPE_NAME"] for row in jdbc(UTF8).metadata("getColumns", table)] == [
        "datetime year to second",
        "datetime hour to minute",
        "interval day to second",
    ]


def test_tables_and_views_are_found_by_pattern_and_type(
    jdbc: Callable[..., Jdbc], family: tuple[str, str, str]
) -> None:
    parent, child, view = family
    other = jdbc(UTF8)
    prefix = parent.rpartition("_")[0]
    everything = {row["TABLE_NAME"]: row["TABLE_TYPE"] for row in other.metadata("getTables", f"{prefix}%")}
    assert everything == {parent: "TABLE", child: "TABLE", view: "VIEW"}
    assert [row["TABLE_NAME"] for row in other.metadata("getTables", f"{prefix}%", "VIEW")] == [view]
    assert "systables" in {row["TABLE_NAME"] for row in other.metadata("getTables", "sys%", "SYSTEM TABLE")}


def test_keys_pair_their_columns_by_place(jdbc: Callable[..., Jdbc], family: tuple[str, str, str]) -> None:
    parent, child, _ = family
    other = jdbc(UTF8)
    key = {row["COLUMN_NAME"]: row["KEY_SEQ"] for row in other.metadata("getPrimaryKeys", parent)}
    assert key == {"b": "1", "a": "2"}
    expected = {
        (f"{child}_1", "1", "y", "b", f"{parent}_pk"),
        (f"{child}_1", "2", "x", "a", f"{parent}_pk"),
        (f"{child}_2", "1", "z", "c", f"{parent}_u"),
    }
    for call, arguments in (
        ("getImportedKeys", (child,)),
        ("getExportedKeys", (parent,)),
        ("getCrossReference", (parent, child)),
    ):
        rows = other.metadata(call, *arguments)
        found = {
            (row["FK_NAME"], row["KEY_SEQ"], row["FKCOLUMN_NAME"], row["PKCOLUMN_NAME"], row["PK_NAME"])
            for row in rows
        }
        assert found == expected, call
        assert {(row["PKTABLE_NAME"], row["FKTABLE_NAME"]) for row in rows} == {(parent, child)}


def test_indexes_of_keys_and_of_users(jdbc: Callable[..., Jdbc], family: tuple[str, str, str]) -> None:
    parent, child, _ = family
    other = jdbc(UTF8)
    found = [
        (row["INDEX_NAME"], row["NON_UNIQUE"], row["ORDINAL_POSITION"], row["COLUMN_NAME"])
        for row in other.metadata("getIndexInfo", child)
    ]
    assert [row for row in found if row[0] == f"{child}_i"] == [
        (f"{child}_i", "1", "1", "z"), (f"{child}_i", "1", "2", "x"),
    ]  # fmt: skip
    assert sorted(row[2:] for row in found if row[0] != f"{child}_i") == [("1", "y"), ("1", "z"), ("2", "x")]
    assert {row["NON_UNIQUE"] for row in other.metadata("getIndexInfo", parent)} == {"0"}


def test_our_metadata_are_the_same(
    jdbc: Callable[..., Jdbc], ours: Callable[[str], Connection], family: tuple[str, str, str]
) -> None:
    parent, child, _ = family
    other, mine = jdbc(UTF8), ours(UTF8)
    for table in (parent, child):
        theirs = [
            (row["COLUMN_NAME"], row["ORDINAL_POSITION"], row["IS_NULLABLE"])
            for row in other.metadata("getColumns", table)
        ]
        own = mine.columns(table)
        assert theirs == [
            (name, str(place), "YES" if null else "NO")
            for name, place, null in zip(
                own["column_name"].to_pylist(),
                own["ordinal_position"].to_pylist(),
                own["is_nullable"].to_pylist(),
                strict=True,
            )
        ]
    imported = {
        (row["FK_NAME"], row["FKCOLUMN_NAME"], row["PKTABLE_NAME"], row["PKCOLUMN_NAME"], row["PK_NAME"])
        for row in other.metadata("getImportedKeys", child)
    }
    assert imported == {
        (
            row["constraint_name"],
            row["column_name"],
            row["referenced_table_name"],
            row["referenced_column_name"],
            row["referenced_constraint_name"],
        )
        for row in mine.foreign_keys(child).to_pylist()
    }
    listed = {(row["INDEX_NAME"], row["COLUMN_NAME"]) for row in other.metadata("getIndexInfo", child)}
    assert listed == {(row["index_name"], row["column_name"]) for row in mine.indexes(child).to_pylist()}


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("getProcedures", ("%",)),
        ("getTypeInfo", ()),
        ("getUDTs", ("%",)),
        ("getSuperTables", ("%",)),
        ("getVersionColumns", ("systables",)),
    ],
)
def test_every_other_call_is_answered(
    jdbc: Callable[..., Jdbc], call: str, arguments: tuple[str, ...]
) -> None:
    other = jdbc(UTF8)
    other.metadata(call, *arguments)
    assert other.query("SELECT tabid FROM systables WHERE tabid = 1", ("Int",))[1] == [["1"]]


def test_the_parameters_and_results_of_routines(
    jdbc: Callable[..., Jdbc], ours: Callable[[str], Connection]
) -> None:
    run = ours(UTF8).execute
    name = f"meta_{next(_numbers)}_routine"
    run(
        f"CREATE FUNCTION {name}(a INTEGER, b DECIMAL(8,2) DEFAULT 1.5, c DATETIME YEAR TO SECOND, "
        "INOUT d VARCHAR(20), e LVARCHAR(500), f BOOLEAN) RETURNING BIGINT AS x, CHAR(7) AS y; "
        "RETURN 1, 'a'; END FUNCTION"
    )
    try:
        other = jdbc(UTF8)
        (found,) = other.metadata("getProcedures", name)
        assert (found["PROCEDURE_SCHEM"], found["SPECIFIC_NAME"]) == ("informix", name)
        shown = [
            tuple(row[part] for part in ("COLUMN_NAME", "COLUMN_TYPE", "DATA_TYPE", "TYPE_NAME", "LENGTH"))
            for row in other.metadata("getProcedureColumns", name)
        ]
        one = other.metadata("getProcedureColumns", name, "b")
    finally:
        run(f"DROP FUNCTION {name}")
    assert shown == [
        ("x", "3", "-5", "bigint", "8"), ("y", "3", "1", "char", "7"), ("a", "1", "4", "integer", "4"),
        ("b", "1", "3", "decimal", "5"), ("c", "1", "93", "datetime year to second", "8"),
        ("d", "2", "12", "varchar", "20"), ("e", "1", "-1", "lvarchar", "500"), ("f", "1", "16", "boolean", "1"),
    ]  # fmt: skip
    assert [(row["COLUMN_NAME"], row["PRECISION"], row["SCALE"]) for row in one] == [("b", "8", "2")]


def test_privileges_are_those_that_a_table_begins_with_and_that_are_granted(
    jdbc: Callable[..., Jdbc], ours: Callable[[str], Connection], family: tuple[str, str, str]
) -> None:
    parent, _, view = family
    other = jdbc(UTF8)
    for name, grantee, expected in (
        (parent, "public", {"SELECT", "UPDATE", "INSERT", "DELETE", "INDEX"}),
        (view, "informix", {"SELECT", "UPDATE", "INSERT", "DELETE"}),  # only the owner has any
    ):
        rows = other.metadata("getTablePrivileges", name)
        assert {row["PRIVELEGE"] for row in rows} == expected  # the driver's own spelling
        assert {row["GRANTEE"] for row in rows} == {grantee}
    columns = other.metadata("getColumnPrivileges", parent)
    assert {row["COLUMN_NAME"] for row in columns} == {"a", "b", "c"}
    other.update(f"grant select on {view} to ann with grant option")
    rows = other.metadata("getTablePrivileges", view)
    # the driver returns the grantee as GRANTOR, too, so the grantor is read from the catalogue
    assert [(row["PRIVELEGE"], row["IS_GRANTABLE"]) for row in rows if row["GRANTEE"] == "ann"] == [
        ("SELECT", "YES")
    ]
    granted = "select trim(grantor), tabauth from systabauth where grantee = 'ann'"
    assert ours(UTF8).execute(granted).fetchall() == [("informix", "S--------")]
    other.update(f"revoke select on {view} from ann")
    assert {row["GRANTEE"] for row in other.metadata("getTablePrivileges", view)} == {"informix"}
