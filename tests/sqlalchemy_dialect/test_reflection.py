"""The inspector reflects all properties of a database, with few queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Column, Connection, Engine, MetaData, Table

from informix_arrow.observing import Operation
from informix_arrow.server import Server

DDL = [
    """CREATE TABLE customer (
        id SERIAL(5) NOT NULL PRIMARY KEY CONSTRAINT pk_customer,
        name VARCHAR(20,5) DEFAULT 'it''s' NOT NULL,
        "Mixed Case" NVARCHAR(9), big INT8, small SMALLINT DEFAULT 7, money MONEY(10,2), floating DECIMAL(20),
        moment DATETIME YEAR TO MINUTE DEFAULT CURRENT YEAR TO MINUTE, hour DATETIME HOUR TO FRACTION(5),
        clock DATETIME HOUR TO MINUTE, birthday DATETIME MONTH TO DAY,
        day DATE DEFAULT TODAY, age INTERVAL YEAR TO MONTH, span INTERVAL DAY(9) TO FRACTION(5),
        ok BOOLEAN DEFAULT 't', notes TEXT, picture BYTE, story CLOB, blob BLOB, long LVARCHAR(3000), code NCHAR(3),
        tags SET(INTEGER NOT NULL), tail INT,
        UNIQUE (name, code) CONSTRAINT uq_customer, CHECK (small > 0 AND name <> '(') CONSTRAINT ck_small
    )""",
    "CREATE INDEX ix_desc ON customer (small DESC, day)",
    "CREATE UNIQUE INDEX ux_big ON customer (big)",
    """CREATE TABLE orders (
        num BIGSERIAL PRIMARY KEY CONSTRAINT pk_orders,
        customer INT REFERENCES customer (id) ON DELETE CASCADE CONSTRAINT fk_customer,
        up BIGINT REFERENCES orders (num) CONSTRAINT fk_up, tail INT
    )""",
    "CREATE VIEW seen (number, called) AS SELECT id, name FROM customer WHERE id < 100",
    "CREATE SEQUENCE numbers START WITH 10",
    "CREATE SYNONYM clients FOR customer",
]


@pytest.fixture
def shop(engine: Engine) -> Engine:
    with engine.begin() as connection:
        for statement in DDL:
            connection.exec_driver_sql(statement)
    return engine


def test_columns_have_their_exact_types_and_defaults(shop: Engine) -> None:
    found = sa.inspect(shop).get_columns("customer")
    assert [(c["name"], c["type"].compile(shop.dialect), c["nullable"], c["default"]) for c in found] == [
        ("id", "SERIAL", False, None),
        ("name", "VARCHAR(20)", False, "'it''s'"),
        ("Mixed Case", "NVARCHAR(9)", True, None),
        ("big", "INT8", True, None),
        ("small", "SMALLINT", True, "7"),
        ("money", "MONEY(10, 2)", True, None),
        ("floating", "DECIMAL(20)", True, None),
        ("moment", "DATETIME YEAR TO MINUTE", True, "CURRENT_TIMESTAMP"),
        ("hour", "DATETIME HOUR TO FRACTION(5)", True, None),
        ("clock", "DATETIME HOUR TO MINUTE", True, None),
        ("birthday", "DATETIME MONTH TO DAY", True, None),
        ("day", "DATE", True, "TODAY"),
        ("age", "INTERVAL YEAR(4) TO MONTH", True, None),
        ("span", "INTERVAL DAY(9) TO FRACTION(5)", True, None),
        ("ok", "BOOLEAN", True, "true"),
        ("notes", "TEXT", True, None),
        ("picture", "BYTE", True, None),
        ("story", "CLOB", True, None),
        ("blob", "BLOB", True, None),
        ("long", "LVARCHAR(3000)", True, None),
        ("code", "NCHAR(3)", True, None),
        ("tags", "SET(INTEGER NOT NULL)", True, None),
        ("tail", "INTEGER", True, None),
    ]
    kinds = {c["name"]: c["type"] for c in found}
    assert isinstance(kinds["clock"], sa.Time)
    assert not isinstance(kinds["clock"], sa.DateTime)
    assert isinstance(kinds["moment"], sa.DateTime)


def test_keys_indexes_and_checks_are_reported_by_name(shop: Engine) -> None:
    inspector = sa.inspect(shop)
    assert inspector.get_pk_constraint("customer") == {"constrained_columns": ["id"], "name": "pk_customer"}
    assert inspector.get_unique_constraints("customer") == [
        {"name": "uq_customer", "column_names": ["name", "code"]}
    ]
    assert inspector.get_check_constraints("customer") == [
        {"name": "ck_small", "sqltext": "small > 0 AND name <> '('"}
    ]
    assert inspector.get_indexes("customer") == [
        {
            "name": "ix_desc",
            "unique": False,
            "column_names": ["small", "day"],
            "column_sorting": {"small": ("desc",)},
        },
        {"name": "ux_big", "unique": True, "column_names": ["big"]},
    ]
    assert inspector.get_foreign_keys("orders") == [
        {
            "name": "fk_customer",
            "constrained_columns": ["customer"],
            "referred_schema": None,
            "referred_table": "customer",
            "referred_columns": ["id"],
            "options": {"ondelete": "CASCADE"},
        },
        {
            "name": "fk_up",
            "constrained_columns": ["up"],
            "referred_schema": None,
            "referred_table": "orders",
            "referred_columns": ["num"],
            "options": {},
        },
    ]
    assert inspector.get_indexes("orders") == []


def test_names_of_all_kinds(shop: Engine, owner: str) -> None:
    inspector = sa.inspect(shop)
    assert inspector.get_table_names() == ["customer", "orders"]
    assert inspector.get_view_names() == ["seen"]
    assert inspector.get_materialized_view_names() == []
    assert inspector.get_sequence_names() == ["numbers"]
    assert inspector.get_schema_names() == sorted({"informix", owner})
    assert inspector.default_schema_name == owner
    for name in ("customer", "seen", "clients", "systables"):
        assert inspector.has_table(name)
    assert not inspector.has_table("nowhere")
    assert not inspector.has_table("customer", schema="nobody")
    assert inspector.has_sequence("numbers")
    assert not inspector.has_sequence("customer")
    assert "select id, name from customer where id < 100" in inspector.get_view_definition("seen").lower()
    assert [c["name"] for c in inspector.get_columns("seen")] == ["number", "called"]
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nowhere")
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_view_definition("customer")


def test_a_view_with_quoted_names_is_created_again_from_its_text(shop: Engine) -> None:
    with shop.begin() as connection:
        connection.exec_driver_sql(
            'CREATE VIEW "Big View" ("Customer No", name) AS SELECT id, name FROM customer WITH CHECK OPTION'
        )
        text = sa.inspect(connection).get_view_definition("Big View")
        rows = connection.exec_driver_sql('SELECT "Customer No", name FROM "Big View"').fetchall()
        connection.exec_driver_sql('DROP VIEW "Big View"')
        connection.exec_driver_sql(text)
        assert sa.inspect(connection).get_view_definition("Big View") == text
        assert connection.exec_driver_sql('SELECT "Customer No", name FROM "Big View"').fetchall() == rows


def test_an_owner_is_a_schema(shop: Engine, owner: str) -> None:
    with shop.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE ann.hers (a INT, tail INT)")
    inspector = sa.inspect(shop)
    assert inspector.get_schema_names() == sorted({"ann", "informix", owner})
    assert inspector.get_table_names(schema="ann") == ["hers"]
    assert inspector.get_table_names() == ["customer", "hers", "orders"]
    table = Table("hers", MetaData(), schema="ann", autoload_with=shop)
    with shop.begin() as connection:
        connection.execute(table.insert().values(a=1, tail=2))
        assert connection.execute(sa.select(table)).one() == (1, 2)
    with_schema = sa.inspect(shop).get_foreign_keys("orders", schema=owner)
    assert {key["referred_schema"] for key in with_schema} == {owner}


def test_temporary_tables_and_synonyms_have_columns(shop: Engine) -> None:
    with shop.begin() as connection:
        table = Table(
            "scratch",
            MetaData(),
            Column("id", sa.Integer, primary_key=True),
            Column("name", sa.String(9), nullable=False),
            Column("moment", sa.DateTime),
            prefixes=["TEMPORARY"],
        )
        table.create(connection)
        inspector = sa.inspect(connection)
        assert inspector.has_table("scratch")
        assert "scratch" not in inspector.get_table_names()
        found = inspector.get_columns("scratch")
        assert [(c["name"], str(c["type"]), c["nullable"]) for c in found] == [
            ("id", "SERIAL", False),
            ("name", "VARCHAR(9)", False),
            ("moment", "DATETIME", True),
        ]
        assert inspector.get_indexes("scratch") == []
        assert [c["name"] for c in inspector.get_columns("clients")][:2] == ["id", "name"]
    shop.dispose()  # the temporary table belongs to the session, not to the transaction
    assert not sa.inspect(shop).has_table("scratch")


def test_what_was_reflected_makes_the_same_tables_again(shop: Engine, informix_server: Server) -> None:
    metadata = MetaData()
    metadata.reflect(shop)
    assert set(metadata.tables) == {"customer", "orders"}
    informix_server.create_database("sa_copy")
    copy = sa.create_engine(informix_server.url("sa_copy"))
    try:
        metadata.create_all(copy)
        for name in metadata.tables:
            here, there = sa.inspect(shop), sa.inspect(copy)
            assert [(c["name"], str(c["type"]), c["default"]) for c in here.get_columns(name)] == [
                (c["name"], str(c["type"]), c["default"]) for c in there.get_columns(name)
            ]
            for ask in ("get_pk_constraint", "get_foreign_keys", "get_indexes", "get_check_constraints"):
                assert getattr(here, ask)(name) == getattr(there, ask)(name)
    finally:
        copy.dispose()
        informix_server.drop_database("sa_copy")


def test_texts_keep_the_blanks_where_the_pieces_of_the_catalogue_meet(shop: Engine) -> None:
    conditions = {
        "n" * size: " AND ".join(f"{'n' * size} <> {number}" for number in range(20)) for size in range(1, 9)
    }
    with shop.begin() as connection:
        for name, condition in conditions.items():
            connection.exec_driver_sql(f"CREATE TABLE t_{name} ({name} INT, CHECK ({condition}))")
            connection.exec_driver_sql(
                f"CREATE VIEW v_{name} (n) AS SELECT {name} FROM t_{name} WHERE {condition}"
            )
    inspector = sa.inspect(shop)
    for name, condition in conditions.items():
        (check,) = inspector.get_check_constraints(f"t_{name}")
        assert check["sqltext"] == condition
        assert inspector.get_view_definition(f"v_{name}").endswith(f" FROM t_{name} WHERE {condition}")


def queries(server: Server, shop: Engine, ask: str) -> tuple[int, Any]:
    server.queries.clear()
    found = getattr(sa.inspect(shop), ask)()
    return len(server.queries.matching("systables|syscolumns|sysconstraints")), found


def test_many_tables_take_as_many_queries_as_one(shop: Engine, informix_server: Server) -> None:
    asks = (
        "get_multi_columns",
        "get_multi_pk_constraint",
        "get_multi_foreign_keys",
        "get_multi_indexes",
        "get_multi_unique_constraints",
        "get_multi_check_constraints",
    )
    few = {ask: queries(informix_server, shop, ask)[0] for ask in asks}
    with shop.begin() as connection:
        for number in range(8):
            connection.exec_driver_sql(
                f"CREATE TABLE more{number} (id INT PRIMARY KEY, up INT REFERENCES customer (id), "
                f"name VARCHAR(9) UNIQUE, tail INT CHECK (tail > 0))"
            )
            connection.exec_driver_sql(f"CREATE INDEX ix{number} ON more{number} (tail)")
    for ask in asks:
        count, found = queries(informix_server, shop, ask)
        assert count == few[ask] <= 4
        assert len(found) == 10
        assert found[None, "more7"]


def test_more_names_than_a_list_may_have_are_found_all_the_same(shop: Engine) -> None:
    names = ["customer", *(f"nothing{number}" for number in range(300))]
    found = sa.inspect(shop).get_multi_columns(filter_names=names)
    assert list(found) == [(None, "customer")]


def _round_trips(engine: Engine, work: Callable[[Connection], object]) -> int:
    """Return the number of round trips of some work on a connection that is already open."""
    with engine.connect() as connection:
        operations: list[Operation] = []
        driver: Any = connection.connection.driver_connection
        driver.add_observer(operations.append)
        work(connection)
        return sum(each.round_trips for each in operations)


def test_a_crawl_of_all_tables_takes_at_most_twelve_round_trips(shop: Engine) -> None:
    with shop.begin() as connection:
        for number in range(20):
            connection.exec_driver_sql(
                f"CREATE TABLE part{number} (id SERIAL PRIMARY KEY, up BIGINT REFERENCES orders (num), tail INT)"
            )
    found = MetaData()
    assert _round_trips(shop, lambda connection: found.reflect(connection)) <= 12
    assert len(found.tables) == 22
    assert {key.column.table.name for key in found.tables["part19"].foreign_keys} == {"orders"}
    assert found.tables["customer"].c["Mixed Case"].type.compile(shop.dialect) == "NVARCHAR(9)"


def test_each_further_table_takes_a_round_trip_for_each_kind_of_object(shop: Engine) -> None:
    def all_columns(connection: Connection) -> None:
        inspector = sa.inspect(connection)
        for name in ("customer", "orders", "seen"):
            assert inspector.get_columns(name)
            inspector.get_indexes(name)

    assert _round_trips(shop, all_columns) <= 17


def test_an_inspector_sees_what_was_changed_once_its_cache_is_cleared(shop: Engine) -> None:
    with shop.connect() as connection:
        inspector = sa.inspect(connection)
        assert "extra" not in [column["name"] for column in inspector.get_columns("orders")]
        connection.exec_driver_sql("ALTER TABLE orders ADD (extra INT)")
        inspector.clear_cache()
        assert inspector.get_columns("orders")[-1]["name"] == "extra"
