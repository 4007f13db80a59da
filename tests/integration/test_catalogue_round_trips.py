"""Round trips of catalogue queries about many tables, counted by observers, never timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.comparison import DatabaseSide, compare_tables
from informix_arrow.observing import Operation
from informix_arrow.server import Server
from informix_arrow.transfer import export_database, import_database, open_or_create

TABLES = 12
DATABASE, COPY = "crawl_many", "crawl_copy"


@pytest.fixture(scope="module")
def many(server: Server) -> Iterator[Server]:
    """A server with a database of twelve tables with keys, indexes, checks, defaults, and a DISTINCT type."""
    server.create_database(DATABASE)
    with ifx.connect(server.url(DATABASE), autocommit=True) as connection:
        connection.execute("CREATE DISTINCT TYPE crawl_euro AS DECIMAL(8,2)")
        for number in range(TABLES):
            price = "crawl_euro" if number == 7 else "DECIMAL(8,2)"
            connection.execute(
                f"CREATE TABLE t{number:02} (id SERIAL PRIMARY KEY, name VARCHAR(20) DEFAULT 'x', price {price}, "
                f"up INT, CHECK (up > 0) CONSTRAINT ck{number:02})"
            )
            connection.execute(f"CREATE INDEX ix{number:02} ON t{number:02} (name DESC, up)")
            if number:
                connection.execute(
                    f"ALTER TABLE t{number:02} ADD CONSTRAINT FOREIGN KEY (up) REFERENCES t{number - 1:02} (id) "
                    f"CONSTRAINT fk{number:02}"
                )
            connection.execute(f"INSERT INTO t{number:02} VALUES (0, 'é', 1.5, NULL)")
        connection.execute("CREATE VIEW seen AS SELECT id, name FROM t03")
    yield server
    server.drop_database(DATABASE)


@contextmanager
def counted(connection: ifx.Connection) -> Iterator[Callable[[], int]]:
    """Yield a function that returns the round trips so far."""
    operations: list[Operation] = []
    connection.add_observer(operations.append)
    yield lambda: sum(each.round_trips for each in operations)
    connection.remove_observer(operations.append)


@pytest.fixture
def conn(many: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(many.url(DATABASE), autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("method", ["columns", "primary_key", "foreign_keys", "indexes", "fragments"])
def test_without_a_table_a_method_answers_for_all_of_them(conn: ifx.Connection, method: str) -> None:
    whole = getattr(conn, method)()
    for name in [f"t{number:02}" for number in (0, 1, 7, TABLES - 1)] + ["seen"]:
        of_table = getattr(conn, method)(name)
        rows = [each for each in whole.to_pylist() if each["table_name"] == name]
        assert rows == of_table.to_pylist()
    assert whole.num_rows > 0 or method == "fragments"


def test_all_columns_take_few_round_trips(conn: ifx.Connection) -> None:
    with counted(conn) as round_trips:
        conn.columns()
        assert round_trips() <= 8
        conn.indexes()
        conn.foreign_keys()
        conn.primary_key()
        assert round_trips() <= 20


def test_an_export_takes_one_round_trip_a_table_and_forty_more(conn: ifx.Connection, tmp_path: Path) -> None:
    with counted(conn) as round_trips:
        report = export_database(conn, tmp_path, format="unl")
        assert TABLES < round_trips() <= TABLES + 40
    assert list(report.tables.values()) == [1] * TABLES


def test_an_import_asks_once_for_what_concerns_all_tables(
    many: Server, conn: ifx.Connection, tmp_path: Path
) -> None:
    """Each table needs its CREATE, its load, its keys and its index. Counts and descriptions of all tables share
    queries."""
    directory = export_database(conn, tmp_path, format="unl").directory
    copy = database_name(many, COPY)
    try:
        with open_or_create(lambda name: ifx.connect(many.url(name), autocommit=True), copy) as target:
            operations: list[Operation] = []
            target.add_observer(operations.append)
            import_database(directory, target)
            counts = [each for each in operations if "COUNT(*)" in (each.statement or "")]
            empty = [each for each in operations if (each.statement or "").endswith("WHERE ? = ?")]
            assert len(counts) == 1
            assert [each.round_trips for each in empty] == [1] * TABLES
    finally:
        many.drop_database(COPY)


def test_a_comparison_asks_once_for_the_keys_of_all_tables(many: Server, conn: ifx.Connection) -> None:
    with ifx.connect(many.url(DATABASE), autocommit=True) as other, counted(conn) as round_trips:
        a, b = DatabaseSide(conn).tables(), DatabaseSide(other).tables()
        for name in a:
            result = compare_tables(a[name], b[name])
            assert (result.same, result.key) == (True, ("id",))
        assert round_trips() <= 7 * TABLES


def test_prepared_statements_save_a_round_trip_each(conn: ifx.Connection) -> None:
    statements = [f"SELECT id, name FROM t{number:02} WHERE id >= ?" for number in range(5)]
    with counted(conn) as round_trips:
        conn.prepare([*statements, "SELECT nothing FROM nowhere"])
        assert round_trips() == 1
        for statement in statements:
            assert conn.read_arrow(statement, (1,)).to_pylist() == [{"id": 1, "name": "é"}]
        assert round_trips() == 1 + len(statements)
        conn.prepare(statements)
        assert round_trips() == 1 + len(statements)
    with pytest.raises(ifx.ProgrammingError) as refused:
        conn.execute("SELECT nothing FROM nowhere")
    assert refused.value.sqlcode == -206


def test_nothing_is_prepared_where_nothing_is_kept(many: Server) -> None:
    with ifx.connect(many.url(DATABASE), autocommit=True, statement_cache_size=0) as connection:
        with counted(connection) as round_trips:
            connection.prepare(["SELECT id FROM t01", "SELECT id FROM t02"])
            assert round_trips() == 0
        assert connection.read_arrow("SELECT id FROM t01").num_rows == 1


def test_a_small_cache_is_not_overfilled(many: Server) -> None:
    statements = [f"SELECT id FROM t{number:02}" for number in range(5)]
    with ifx.connect(many.url(DATABASE), autocommit=True, statement_cache_size=2) as connection:
        connection.prepare(statements)
        for statement in statements * 2:
            assert connection.read_arrow(statement).num_rows == 1
