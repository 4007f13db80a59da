"""Statements described without being executed: the schema of their rows, and their parameters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.aio import connect as connect_async
from informix_arrow.server import Server


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("DROP TABLE IF EXISTS described")
        conn.execute(
            "CREATE TABLE described (id INT NOT NULL, name VARCHAR(30), price DECIMAL(8,2), day DATE, sentinel INT)"
        )
        conn.execute("INSERT INTO described VALUES (1, 'é', 1.25, TODAY, 7)")
    return url


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url, autocommit=True) as connection:
        yield connection


def test_the_schema_is_that_of_the_result(conn: ifx.Connection) -> None:
    cursor = conn.cursor()
    for sql in (
        "SELECT * FROM described",
        "SELECT name, price * 2 total, COUNT(*) n FROM described WHERE id = 1 GROUP BY 1, 2",
    ):
        assert cursor.adbc_execute_schema(sql) == cursor.execute(sql).fetch_arrow_table().schema
    placeholder = "SELECT id, day FROM described WHERE name = :name AND id > :least"
    assert cursor.adbc_execute_schema(placeholder, {"name": "x", "least": 0}).names == ["id", "day"]
    cursor.lobs = "skip"
    cursor.integer_aggregates = True
    counted = "SELECT COUNT(*) n FROM described"
    assert cursor.adbc_execute_schema(counted).types == [pa.int64()]


def test_nothing_is_executed(conn: ifx.Connection, url: str) -> None:
    cursor = conn.cursor()
    assert len(cursor.adbc_execute_schema("DELETE FROM described")) == 0
    assert len(cursor.adbc_prepare("DELETE FROM described")) == 0
    assert conn.execute("SELECT COUNT(*) FROM described").fetchall() == [(1,)]
    with ifx.connect(url) as other:
        other.cursor().adbc_execute_schema("SELECT * FROM described")
        assert not other.in_transaction


def test_parameters_have_the_names_and_types_of_their_columns(conn: ifx.Connection) -> None:
    cursor = conn.cursor()
    found = cursor.adbc_prepare("INSERT INTO described (price, name, id) VALUES (?, ?, ?)")
    assert found.names == ["price", "name", "id"]
    assert found.types == [pa.decimal128(8, 2), pa.string(), pa.int32()]
    updated = cursor.adbc_prepare("UPDATE described SET day = ?, sentinel = sentinel + 1 WHERE id = ?")
    assert updated.types == [pa.date32(), pa.int32()]
    assert len(cursor.adbc_prepare("SELECT * FROM described")) == 0
    # The statement is kept, and its description does not affect its execution.
    cursor.execute("INSERT INTO described (price, name, id) VALUES (?, ?, ?)", (1, "x", 2))
    assert cursor.execute("DELETE FROM described WHERE id = ?", (2,)).rowcount == 1


def test_errors_are_the_servers(conn: ifx.Connection) -> None:
    cursor = conn.cursor()
    for describe in (cursor.adbc_execute_schema, cursor.adbc_prepare):
        with pytest.raises(ifx.ProgrammingError, match="-217") as caught:
            describe("SELECT nope FROM described WHERE id = :id")
        assert caught.value.statement == "SELECT nope FROM described WHERE id = :id"
    cursor.close()
    with pytest.raises(ifx.InterfaceError, match="closed"):
        cursor.adbc_prepare("SELECT 1 FROM described")


def test_a_table_that_was_changed_is_described_anew(conn: ifx.Connection, url: str) -> None:
    with ifx.connect(url, autocommit=True) as other:
        other.execute("DROP TABLE IF EXISTS changing")
        other.execute("CREATE TABLE changing (a INT)")
        cursor = conn.cursor()
        assert cursor.adbc_execute_schema("SELECT * FROM changing").names == ["a"]
        other.execute("ALTER TABLE changing ADD b INT")
        assert cursor.adbc_execute_schema("SELECT * FROM changing").names == ["a", "b"]
        other.execute("DROP TABLE changing")


def test_with_asyncio(url: str) -> None:
    async def described() -> tuple[list[str], list[str]]:
        async with connect_async(url) as conn, conn.cursor() as cursor:
            rows = await cursor.adbc_execute_schema("SELECT id, name FROM described")
            return rows.names, (await cursor.adbc_prepare("DELETE FROM described WHERE id = ?")).names

    assert asyncio.run(described()) == (["id", "name"], [""])


def test_statistics_of_a_database(conn: ifx.Connection, url: str) -> None:
    """The embedded server has none. Statistics of another database are read only if it is named."""
    found = conn.adbc_get_statistics().read_all().to_pylist()
    assert [each["catalog_name"] for each in found] == [conn.database]
    assert conn.adbc_get_statistics(catalog_filter="no_such_database").read_all().num_rows == 0
    assert conn.adbc_get_statistics(table_name_filter="described").read_all().num_rows == 1
    assert conn.adbc_get_statistic_names().read_all().num_rows == 0

    async def read() -> pa.Table:
        async with connect_async(url) as other:
            return (await other.adbc_get_statistics()).read_all()

    assert asyncio.run(read()).to_pylist() == found
