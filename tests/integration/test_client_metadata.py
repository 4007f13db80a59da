"""Metadata as Arrow tables: names and types are as they were created, and as DESCRIBE returns them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.metadata import schemas
from informix_arrow.server import Server

OTHER = "metadata_other"

STATEMENTS = (
    "CREATE ROW TYPE md_address (street VARCHAR(30), number INTEGER)",
    "CREATE DISTINCT TYPE md_dollar AS DECIMAL(8,2)",
    "CREATE TABLE md_parent (a INTEGER NOT NULL, b VARCHAR(10) DEFAULT 'x y' NOT NULL, c INTEGER DEFAULT 5, "
    "d DATE DEFAULT TODAY, CHECK (c > 1) CONSTRAINT md_check, PRIMARY KEY (b, a) CONSTRAINT md_pk, "
    "UNIQUE (c) CONSTRAINT md_unique)",
    "CREATE TABLE md_child (x INTEGER, y VARCHAR(10), z INTEGER, "
    "FOREIGN KEY (y, x) REFERENCES md_parent CONSTRAINT md_fk_two, "
    "FOREIGN KEY (z) REFERENCES md_parent (c) CONSTRAINT md_fk_one)",
    "CREATE INDEX md_index ON md_child (z DESC, x)",
    "CREATE UNIQUE INDEX md_own_unique ON md_child (x, z)",
    "CREATE VIEW md_view (k, l) AS SELECT a, b FROM md_parent",
    "CREATE TABLE md_types (s SERIAL, b8 BIGSERIAL, sm SMALLINT DEFAULT -3, i INTEGER NOT NULL, bi BIGINT, i8 INT8, "
    "de DECIMAL(8,2) DEFAULT 1.50, fd DECIMAL(16), mo MONEY(10,2), fl FLOAT, sf SMALLFLOAT, c CHAR(7) NOT NULL, "
    "nc NCHAR(3), v VARCHAR(200,150), nv NVARCHAR(20), lv LVARCHAR(300), da DATE, "
    "dt DATETIME YEAR TO SECOND DEFAULT CURRENT YEAR TO SECOND, fr DATETIME YEAR TO FRACTION(5), "
    "h DATETIME HOUR TO FRACTION(3), md DATETIME MONTH TO DAY, iv INTERVAL DAY(3) TO SECOND, "
    "ym INTERVAL YEAR TO MONTH, "
    "bo BOOLEAN DEFAULT 't', by BYTE, te TEXT, bl BLOB, cl CLOB, ad md_address, dd md_dollar NOT NULL, "
    "li LIST(INTEGER NOT NULL), se SET(ROW(a INTEGER, b VARCHAR(5)) NOT NULL), "
    "ro ROW(x INTEGER, y LIST(DECIMAL(8,2) NOT NULL)), tail INTEGER)",
)
DROPS = (
    "DROP VIEW md_view", "DROP TABLE md_types", "DROP TABLE md_child", "DROP TABLE md_parent",
    "DROP TYPE md_dollar RESTRICT", "DROP ROW TYPE md_address RESTRICT",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(server: Server) -> Iterator[Server]:
    """A server with tables of every kind, and a second database with one table."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        for statement in STATEMENTS:
            connection.execute(statement)
        connection.execute(f"CREATE DATABASE {database_name(server, OTHER)} WITH LOG")
        connection.execute("CREATE TABLE md_elsewhere (id INTEGER NOT NULL PRIMARY KEY, w DATE)")
    yield server
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        for statement in (*DROPS, f"DROP DATABASE {database_name(server, OTHER)}"):
            connection.execute(statement)


@pytest.fixture(scope="module")
def conn(made: Server) -> Iterator[ifx.Connection]:
    """A connection that all tests share, because opening one takes longer than most statements."""
    with ifx.connect(made.url("stores_demo"), autocommit=True) as connection:
        yield connection


def other(conn: ifx.Connection) -> str:
    """Return the name of the second database on this server."""
    return conn.database.replace("stores_demo", OTHER)


def rows(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("tables", ()), ("columns", ("md_types",)), ("primary_key", ("md_parent",)), ("foreign_keys", ("md_child",)),
        ("indexes", ("md_child",)), ("fragments", ("md_child",)), ("procedures", ()), ("databases", ()),
        # tables without rows in the result
        ("tables", ("md_nothing",)), ("primary_key", ("md_child",)), ("foreign_keys", ("md_parent",)),
        ("indexes", ("md_view",)),
    ],
)  # fmt: skip
def test_every_table_has_its_fixed_schema(
    conn: ifx.Connection, method: str, arguments: tuple[str, ...]
) -> None:
    table = getattr(conn, method)(*arguments)
    assert table.schema == schemas.schema(schemas.ALL[method])
    table.validate(full=True)


def test_tables_are_found_by_pattern_and_type(conn: ifx.Connection, owner: str) -> None:
    assert rows(conn.tables("md%"), "table_catalog", "table_schema", "table_name", "table_type") == [
        (conn.database, owner, "md_child", "TABLE"),
        (conn.database, owner, "md_parent", "TABLE"),
        (conn.database, owner, "md_types", "TABLE"),
        (conn.database, owner, "md_view", "VIEW"),
    ]
    assert conn.tables("MD\\_VIEW".replace("\\", ""))["table_name"].to_pylist() == ["md_view"]
    assert conn.tables("md%", types=["view"])["table_name"].to_pylist() == ["md_view"]
    assert conn.tables("md%", owner=owner.upper()).num_rows == 4
    assert conn.tables("md%", owner="nobody").num_rows == 0
    described = conn.tables("md_child").to_pylist()[0]
    assert (described["column_count"], described["index_count"], described["lock_level"]) == (3, 4, "PAGE")
    assert described["row_size"] == 4 + 11 + 4
    assert described["created"] is not None


def test_the_tables_of_the_catalogue_are_shown_on_demand(conn: ifx.Connection) -> None:
    assert "systables" not in conn.tables()["table_name"].to_pylist()
    system = conn.tables("sys%", types=("SYSTEM TABLE",))
    assert {"systables", "syscolumns", "sysindices"} <= set(system["table_name"].to_pylist())
    assert set(system["table_type"].to_pylist()) == {"SYSTEM TABLE"}


def test_a_type_of_table_that_does_not_exist_is_refused_with_those_that_do(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.InterfaceError, match=r"Unknown table types: TABEL. Use .*TABLE"):
        conn.tables(types=["tabel"])
    with pytest.raises(ifx.InterfaceError, match="not a string"):
        conn.tables(types="VIEW")


@pytest.mark.parametrize("table", ["md_types", "md_parent", "md_child", "md_view"])
def test_columns_are_those_that_reading_describes(conn: ifx.Connection, table: str) -> None:
    found = conn.columns(table)
    with conn.query(f"SELECT * FROM {table}") as result:
        assert rows(found, "column_name", "data_type", "is_nullable") == [
            (column.name, column.type.sql, not column.type.not_null) for column in result.columns
        ]
        assert found["arrow_type"].to_pylist() == [str(field.type) for field in result.schema]
        assert found["type_code"].to_pylist() == [column.type.code for column in result.columns]
    assert found["ordinal_position"].to_pylist() == list(range(1, found.num_rows + 1))


def test_columns_report_sizes_and_defaults(conn: ifx.Connection) -> None:
    types = {row["column_name"]: row for row in conn.columns("md_types").to_pylist()}
    assert {name: row["column_default"] for name, row in types.items() if row["column_default"]} == {
        "sm": "-3", "de": "1.50", "dt": "CURRENT YEAR TO SECOND", "bo": "'t'",
    }  # fmt: skip
    assert {name for name, row in types.items() if row["is_serial"]} == {"s", "b8"}
    assert {
        name: row["character_maximum_length"]
        for name, row in types.items()
        if row["character_maximum_length"]
    } == {"c": 7, "nc": 3, "v": 200, "nv": 20, "lv": 300}
    assert (types["de"]["numeric_precision"], types["de"]["numeric_scale"]) == (8, 2)
    assert (types["fd"]["numeric_precision"], types["fd"]["numeric_scale"]) == (16, None)
    assert (types["i8"]["numeric_precision"], types["i8"]["numeric_scale"]) == (19, 0)
    assert types["v"]["type_length"] == 150 * 256 + 200
    parent = conn.columns("md_parent")
    assert parent["column_default"].to_pylist() == [None, "'x y'", "5", "TODAY"]


def test_defaults_make_the_same_defaults_again(conn: ifx.Connection) -> None:
    lines = [
        f"{row['column_name']} {row['data_type']} DEFAULT {row['column_default']}"
        for table in ("md_parent", "md_types")
        for row in conn.columns(table).to_pylist()
        if row["column_default"]
    ]
    conn.execute(f"CREATE TEMP TABLE md_again ({', '.join(lines)}, tail INTEGER)")
    conn.execute("INSERT INTO md_again (tail) VALUES (1)")
    ((b, c, _, sm, de, _, bo, tail),) = conn.execute("SELECT * FROM md_again").fetchall()
    assert (b, c, sm, str(de), bo, tail) == ("x y", 5, -3, "1.50", True, 1)


def test_keys_have_their_columns_in_the_order_of_the_key(conn: ifx.Connection) -> None:
    assert rows(conn.primary_key("md_parent"), "constraint_name", "column_name", "ordinal_position") == [
        ("md_pk", "b", 1),
        ("md_pk", "a", 2),
    ]
    assert rows(
        conn.foreign_keys("md_child"),
        "constraint_name",
        "column_name",
        "ordinal_position",
        "referenced_table_name",
        "referenced_column_name",
        "referenced_constraint_name",
        "delete_rule",
    ) == [
        ("md_fk_one", "z", 1, "md_parent", "c", "md_unique", "RESTRICT"),
        ("md_fk_two", "y", 1, "md_parent", "b", "md_pk", "RESTRICT"),
        ("md_fk_two", "x", 2, "md_parent", "a", "md_pk", "RESTRICT"),
    ]


def test_indexes_report_their_order_and_the_constraint_that_they_serve(conn: ifx.Connection) -> None:
    found = rows(
        conn.indexes("md_child"), "index_name", "is_unique", "column_name", "sort_order", "constraint_type"
    )
    assert [row for row in found if row[0] == "md_index"] == [
        ("md_index", False, "z", "DESC", None),
        ("md_index", False, "x", "ASC", None),
    ]
    assert [row for row in found if row[0] == "md_own_unique"] == [
        ("md_own_unique", True, "x", "ASC", None),
        ("md_own_unique", True, "z", "ASC", None),
    ]
    assert sorted(row[2:] for row in found if row[4]) == [
        ("x", "ASC", "FOREIGN KEY"), ("y", "ASC", "FOREIGN KEY"), ("z", "ASC", "FOREIGN KEY"),
    ]  # fmt: skip
    parent = conn.indexes("md_parent")
    assert set(rows(parent, "constraint_name", "constraint_type", "is_unique")) == {
        ("md_pk", "PRIMARY KEY", True),
        ("md_unique", "UNIQUE", True),
    }
    assert all(name[0] != " " for name in parent["index_name"].to_pylist())


def test_a_table_without_fragments_has_none(conn: ifx.Connection) -> None:
    assert conn.fragments("md_types").num_rows == 0


def test_databases_report_their_logging_and_locale(conn: ifx.Connection, owner: str) -> None:
    found = {row["database_name"]: row for row in conn.databases().to_pylist()}
    assert {conn.database, "sysmaster", other(conn)} <= set(found)
    assert (found[conn.database]["is_logged"], found[conn.database]["is_ansi"]) == (True, False)
    assert found[conn.database]["locale"] == "en_US.57372"
    assert found[conn.database]["owner"] == owner


def test_another_database_is_looked_into_by_its_name(conn: ifx.Connection, owner: str) -> None:
    assert rows(conn.tables(database=other(conn)), "table_catalog", "table_name") == [
        (other(conn), "md_elsewhere")
    ]
    assert rows(conn.columns(f"{other(conn)}:md_elsewhere"), "table_catalog", "column_name", "data_type") == [
        (other(conn), "id", "INTEGER"),
        (other(conn), "w", "DATE"),
    ]
    assert conn.primary_key(f"{other(conn)}:{owner}.md_elsewhere")["column_name"].to_pylist() == ["id"]
    assert conn.indexes(f"{other(conn)}:md_elsewhere")["is_unique"].to_pylist() == [True]


@pytest.mark.parametrize("method", ["columns", "primary_key", "foreign_keys", "indexes", "fragments"])
@pytest.mark.parametrize("name", ["md_missing", "nobody.md_child", f"{OTHER}:md_child", '"MD_CHILD"'])
def test_a_table_that_does_not_exist_is_an_error_and_no_empty_table(
    conn: ifx.Connection, method: str, name: str
) -> None:
    name = name.replace(OTHER, other(conn))
    with pytest.raises(ifx.ProgrammingError) as caught:
        getattr(conn, method)(name)
    assert caught.value.sqlcode == -206
    assert caught.value.near == name.rpartition(":")[2].rpartition(".")[2].strip('"')
    assert conn.columns("MD_Child").num_rows == 3


def test_a_database_that_does_not_exist_is_the_servers_error(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.OperationalError) as caught:
        conn.tables(database="md_nowhere")
    assert caught.value.sqlcode == -329
    assert conn.tables("md%").num_rows == 4


def test_names_with_capitals_and_quotes_are_found_in_double_quotes(made: Server) -> None:
    name = '"md ""odd"" näme"'
    with ifx.connect(made.url("stores_demo"), autocommit=True, env={"DELIMIDENT": "y"}) as conn:
        conn.execute(
            f'CREATE TABLE {name} ("Größe" INTEGER NOT NULL, "b ""c""" DATE DEFAULT TODAY, tail INTEGER)'
        )
        try:
            assert rows(conn.columns(name), "column_name", "data_type", "column_default") == [
                ("Größe", "INTEGER", None),
                ('b "c"', "DATE", "TODAY"),
                ("tail", "INTEGER", None),
            ]
            assert 'md "odd" näme' in conn.tables()["table_name"].to_pylist()
            assert conn.tables('md "ODD" n_me').num_rows == 1
            assert conn.adbc_get_table_schema(name).names == ["Größe", 'b "c"', "tail"]
        finally:
            conn.execute(f"DROP TABLE {name}")


def test_nothing_is_left_open_and_no_transaction_begins(made: Server) -> None:
    with ifx.connect(made.url("stores_demo")) as conn:
        conn.columns("md_types")
        conn.adbc_get_objects().read_all()
        assert not conn.in_transaction
        assert conn.read_arrow("SELECT COUNT(*) FROM md_types").num_rows == 1


# ---- ADBC's names -------------------------------------------------------------------------------


def objects(conn: ifx.Connection, **options: Any) -> dict[str, Any]:
    """Return the result of adbc_get_objects as catalog -> schema -> table -> the rest."""
    reader = conn.adbc_get_objects(**options)
    assert isinstance(reader, pa.RecordBatchReader)
    table = reader.read_all()
    assert table.schema == schemas.OBJECTS
    table.validate(full=True)
    return {
        catalog["catalog_name"]: None
        if catalog["catalog_db_schemas"] is None
        else {
            each["db_schema_name"]: None
            if each["db_schema_tables"] is None
            else {table["table_name"]: table for table in each["db_schema_tables"]}
            for each in catalog["catalog_db_schemas"]
        }
        for catalog in table.to_pylist()
    }


def test_get_objects_goes_as_deep_as_it_is_asked(conn: ifx.Connection, owner: str) -> None:
    catalogs = objects(conn, depth="catalogs")
    assert {conn.database, "sysmaster", other(conn)} <= set(catalogs)
    assert set(catalogs.values()) == {None}
    assert objects(conn, depth="db_schemas", catalog_filter=conn.database) == {
        conn.database: dict.fromkeys({"informix", owner})
    }
    tables = objects(conn, depth="tables", table_name_filter="md%")[conn.database][owner]
    assert {name: (t["table_type"], t["table_columns"]) for name, t in tables.items()} == {
        "md_child": ("TABLE", None), "md_parent": ("TABLE", None), "md_types": ("TABLE", None),
        "md_view": ("VIEW", None),
    }  # fmt: skip
    with pytest.raises(ifx.InterfaceError, match="depth must be"):
        conn.adbc_get_objects(depth="everything")  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", ["all", "columns"])
def test_get_objects_reports_columns_and_constraints(conn: ifx.Connection, depth: Any, owner: str) -> None:
    found = objects(conn, depth=depth, table_name_filter="md\\_%".replace("\\", ""))[conn.database][owner]
    columns = {c["column_name"]: c for c in found["md_types"]["table_columns"]}
    assert list(columns) == conn.columns("md_types")["column_name"].to_pylist()
    assert columns["de"]["xdbc_type_name"] == "DECIMAL(8,2)"
    assert (columns["de"]["xdbc_column_size"], columns["de"]["xdbc_decimal_digits"]) == (8, 2)
    assert (columns["c"]["xdbc_nullable"], columns["c"]["xdbc_is_nullable"]) == (0, "NO")
    assert columns["v"]["xdbc_char_octet_length"] == 200
    assert columns["s"]["xdbc_is_autoincrement"] is True
    assert (columns["dt"]["xdbc_data_type"], columns["dt"]["xdbc_sql_data_type"]) == (93, 9)
    usage = {"fk_catalog": conn.database, "fk_db_schema": owner, "fk_table": "md_parent"}
    constraints = {c["constraint_name"]: c for c in found["md_child"]["table_constraints"]}
    assert constraints["md_fk_two"] == {
        "constraint_name": "md_fk_two",
        "constraint_type": "FOREIGN KEY",
        "constraint_column_names": ["y", "x"],
        "constraint_column_usage": [
            {**usage, "fk_column_name": "b"},
            {**usage, "fk_column_name": "a"},
        ],
    }
    kinds = {
        c["constraint_name"]: (c["constraint_type"], c["constraint_column_names"])
        for c in found["md_parent"]["table_constraints"]
    }
    assert kinds == {
        "md_pk": ("PRIMARY KEY", ["b", "a"]), "md_unique": ("UNIQUE", ["c"]), "md_check": ("CHECK", []),
    }  # fmt: skip


def test_get_objects_filters_columns_and_types(conn: ifx.Connection, owner: str) -> None:
    found = objects(conn, table_name_filter="md%", table_types_filter=["view"], column_name_filter="k")
    (view,) = found[conn.database][owner].values()
    assert [column["column_name"] for column in view["table_columns"]] == ["k"]
    assert objects(conn, table_name_filter="MD%")[conn.database] == {each: {} for each in {"informix", owner}}
    assert objects(conn, db_schema_filter="nobody")[conn.database] == {}
    assert objects(conn, catalog_filter="nowhere") == {}


def test_get_objects_looks_into_other_databases_when_they_are_named(conn: ifx.Connection, owner: str) -> None:
    assert objects(conn, depth="catalogs")[other(conn)] is None
    assert objects(conn)[other(conn)] == {}  # not read
    found = objects(conn, catalog_filter=f"{other(conn)[:-2]}%", table_types_filter=["TABLE"])
    (table,) = found[other(conn)][owner].values()
    assert table["table_name"] == "md_elsewhere"
    assert [column["column_name"] for column in table["table_columns"]] == ["id", "w"]


def test_get_objects_of_everything_holds_the_catalogue_too(conn: ifx.Connection, owner: str) -> None:
    found = objects(conn)[conn.database]
    assert {"md_types", "md_view"} <= set(found[owner])
    assert [c["column_name"] for c in found["informix"]["systables"]["table_columns"]][:2] == [
        "tabname",
        "owner",
    ]


@pytest.mark.parametrize(
    "text",
    ["SELECT * FROM md_types", "select\n1", "(SELECT 1 FROM t) ", "WITH x AS (SELECT 1) SELECT * FROM x"],
)
def test_pandas_asking_for_a_statement_as_if_it_were_a_table_costs_no_round(
    made: Server, conn: ifx.Connection, text: str
) -> None:
    before = list(made.queries)[-9:]
    assert objects(conn, table_name_filter=text) == {}
    assert list(made.queries)[-9:] == before
    assert objects(conn, table_name_filter="selection", depth="tables")[conn.database] == {"informix": {}}


@pytest.mark.parametrize("table", ["md_types", "md_view", "informix.md_parent", "stores_demo:md_child"])
def test_the_schema_of_a_table_is_what_reading_gives(conn: ifx.Connection, table: str, owner: str) -> None:
    table = table.replace("stores_demo", conn.database).replace("informix", owner)
    with conn.query(f"SELECT * FROM {table}") as result:
        assert conn.adbc_get_table_schema(table).equals(result.schema, check_metadata=True)


def test_the_schema_of_a_table_is_found_by_its_parts(conn: ifx.Connection, owner: str) -> None:
    found = conn.adbc_get_table_schema("md_elsewhere", catalog_filter=other(conn), db_schema_filter=owner)
    assert found.names == ["id", "w"]
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.adbc_get_table_schema("md_missing")
    assert caught.value.sqlcode == -206


@pytest.mark.parametrize("catalog", ["x;y", "stores_demo:informix", "a b", "DROP TABLE t --"])
def test_what_is_no_name_of_a_database_gets_into_no_statement(conn: ifx.Connection, catalog: str) -> None:
    with pytest.raises(ifx.InterfaceError, match="not a database name"):
        conn.adbc_get_table_schema("md_types", catalog_filter=catalog)
    with pytest.raises(ifx.InterfaceError, match="not a database name"):
        conn.tables(database=catalog)


@pytest.mark.parametrize("wrong", [5, b"md%", ("md%",)])
def test_filters_that_are_no_texts_are_refused_and_cost_no_connection(
    conn: ifx.Connection, wrong: Any
) -> None:
    for call in (
        lambda: conn.tables(wrong),
        lambda: conn.tables(owner=wrong),
        lambda: conn.tables(types="TABLE"),
        lambda: conn.tables(types=[wrong]),
        lambda: conn.procedures(wrong),
        lambda: conn.adbc_get_objects(catalog_filter=wrong),
        lambda: conn.adbc_get_objects(table_types_filter=[wrong]),
        lambda: conn.adbc_get_table_schema("md_types", db_schema_filter=wrong),
    ):
        with pytest.raises(ifx.InterfaceError, match="must be a s"):
            call()
    assert not conn.closed


def test_a_table_may_have_a_colon_in_its_name(made: Server, owner: str) -> None:
    with ifx.connect(made.url("stores_demo"), autocommit=True, env={"DELIMIDENT": "y"}) as conn:
        conn.execute('CREATE TABLE "md a:b" (a INTEGER, tail INTEGER)')
        try:
            for name in ('"md a:b"', f'{conn.database}:"md a:b"', f'{owner}."md a:b"'):
                assert conn.adbc_get_table_schema(name).names == ["a", "tail"]
                assert conn.columns(name)["column_name"].to_pylist() == ["a", "tail"]
        finally:
            conn.execute('DROP TABLE "md a:b"')


def test_info_names_the_server_and_the_driver(conn: ifx.Connection) -> None:
    info = conn.adbc_get_info()
    assert info["vendor_name"] == "Informix"
    assert "Informix Dynamic Server" in info["vendor_version"]
    assert info["driver_name"] == "informix-arrow"
    assert info["driver_version"] == ifx.__version__
    assert conn.adbc_current_catalog == conn.database
    assert conn.adbc_get_table_types()[:2] == ["TABLE", "VIEW"]
    with pytest.raises(ifx.NotSupportedError, match=r"owner\.table"):
        _ = conn.adbc_current_db_schema


def test_the_asyncio_connection_reports_the_same(made: Server, conn: ifx.Connection) -> None:
    from informix_arrow import aio

    own = (conn.database, other(conn))  # other databases come and go if several runs share a server

    async def ask() -> dict[str, Any]:
        asked = await aio.connect(made.url("stores_demo"), autocommit=True)
        async with asked:
            with pytest.raises(ifx.ProgrammingError, match="-206"):
                await asked.columns("md_missing")
            return {
                "tables": await asked.tables("md%"),
                "columns": await asked.columns("md_types"),
                "primary_key": await asked.primary_key("md_parent"),
                "foreign_keys": await asked.foreign_keys("md_child"),
                "indexes": await asked.indexes("md_child"),
                "fragments": await asked.fragments("md_child"),
                "procedures": await asked.procedures("md%"),
                "databases": [x for x in (await asked.databases()).to_pylist() if x["database_name"] in own],
                "objects": (await asked.adbc_get_objects(table_name_filter="md%")).read_all(),
                "schema": await asked.adbc_get_table_schema("md_types"),
                "info": await asked.adbc_get_info(),
                "types": asked.adbc_get_table_types(),
                "catalog": asked.adbc_current_catalog,
            }

    assert asyncio.run(ask()) == {
        "tables": conn.tables("md%"),
        "columns": conn.columns("md_types"),
        "primary_key": conn.primary_key("md_parent"),
        "foreign_keys": conn.foreign_keys("md_child"),
        "indexes": conn.indexes("md_child"),
        "fragments": conn.fragments("md_child"),
        "procedures": conn.procedures("md%"),
        "databases": [x for x in conn.databases().to_pylist() if x["database_name"] in own],
        "objects": conn.adbc_get_objects(table_name_filter="md%").read_all(),
        "schema": conn.adbc_get_table_schema("md_types"),
        "info": conn.adbc_get_info(),
        "types": conn.adbc_get_table_types(),
        "catalog": conn.database,
    }
