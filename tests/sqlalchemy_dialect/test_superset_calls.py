"""The calls that Superset's engine specification makes to a dialect and a cursor.

Superset 6.1.0 itself requires SQLAlchemy 1.4 (its `select_star` calls `select` with a list), so its calls are made here
as `BaseEngineSpec` makes them, with `select` as 2.0 takes it.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from sqlalchemy import Engine, Inspector, MetaData, Table, column, inspect, select, table, text
from sqlalchemy.sql import quoted_name

ROWS = [
    (1, "é", Decimal("12.50"), dt.date(2024, 2, 29), True, 7),
    (2, None, None, None, None, 7),
]


@pytest.fixture
def inspector(engine: Engine) -> Inspector:
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, customer VARCHAR(20), total DECIMAL(8,2), day DATE, "
            '"Paid up" BOOLEAN, sentinel INT)'
        )
        connection.exec_driver_sql("CREATE INDEX by_day ON orders (day)")
        connection.exec_driver_sql(
            "CREATE VIEW valued (id, total) AS SELECT id, total FROM orders WHERE total > 0"
        )
        for row in ROWS:
            connection.exec_driver_sql("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", row)
    return inspect(engine)


def test_it_lists_tables_and_views_of_an_owner_and_of_all(inspector: Inspector) -> None:
    owner = inspector.default_schema_name
    assert owner in inspector.get_schema_names()
    for schema in (None, owner):
        assert set(inspector.get_table_names(schema)) == {"orders"}
        assert set(inspector.get_view_names(schema)) == {"valued"}
        assert inspector.get_materialized_view_names(schema) == []


def test_it_describes_columns_by_types_that_it_can_write(engine: Engine, inspector: Inspector) -> None:
    owner = inspector.default_schema_name
    columns = inspector.get_columns("orders", schema=owner)
    types = [each["type"].compile(engine.dialect) for each in columns]
    assert types == ["INTEGER", "VARCHAR(20)", "DECIMAL(8, 2)", "DATE", "BOOLEAN", "INTEGER"]
    assert [each["name"] for each in inspector.get_columns("valued", schema=owner)] == ["id", "total"]
    assert [each["name"] for each in inspector.get_indexes("orders", schema=owner)] == ["by_day"]
    assert inspector.get_pk_constraint("orders", schema=owner)["constrained_columns"] == ["id"]
    with pytest.raises(NotImplementedError):  # Superset catches it: there are no comments
        inspector.get_table_comment("orders", schema=owner)


def test_its_preview_of_a_table_is_text_that_runs(engine: Engine, inspector: Inspector) -> None:
    owner = inspector.default_schema_name
    names = [column(each["name"]) for each in inspector.get_columns("orders", schema=owner)]
    preview = select(*names).select_from(table("orders", schema=owner)).limit(1)
    written = str(preview.compile(engine, compile_kwargs={"literal_binds": True}))
    star = select(text("*")).select_from(text(f"{owner}.orders")).limit(2)
    with engine.connect() as connection:
        assert connection.execute(text(written)).all() == ROWS[:1]
        found = connection.execute(text(str(star.compile(engine, compile_kwargs={"literal_binds": True}))))
        assert sorted(found.all()) == ROWS


def test_its_query_is_run_by_the_cursor_and_limited_in_text(engine: Engine, inspector: Inspector) -> None:
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute('SELECT\n  id,\n  "Paid up" AS paid\nFROM orders\nORDER BY\n  id\nLIMIT 2')
        assert [each[0] for each in cursor.description] == ["id", "paid"]
        assert [str(each[1]) for each in cursor.description] == ["INTEGER", "BOOLEAN"]
        assert cursor.fetchmany(1) == [(1, True)]
        assert cursor.fetchall() == [(2, None)]
        assert cursor.nextset() is None
    finally:
        raw.close()


def test_its_names_and_filters_are_quoted_as_the_database_reads_them(
    engine: Engine, inspector: Inspector
) -> None:
    preparer = engine.dialect.identifier_preparer
    assert (preparer.initial_quote, preparer.final_quote) == ('"', '"')
    assert preparer.quote("Paid up") == '"Paid up"'
    orders = Table("orders", MetaData(), autoload_with=engine)
    filtered = (
        select(orders.c["Paid up"].label(quoted_name("Paid?", True)))
        .where(orders.c.day >= dt.date(2024, 1, 1), orders.c.customer.like("é%"))
        .group_by(orders.c["Paid up"])
    )
    written = str(filtered.compile(engine, compile_kwargs={"literal_binds": True}))
    with engine.connect() as connection:
        assert connection.exec_driver_sql(written).mappings().all() == [{"Paid?": True}]
