"""Connection.read_arrow and query against the embedded server."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow.server import Server

COUNT = 3000


@pytest.fixture(scope="module")
def table(server: Server) -> str:
    """Create a table of 3,000 rows with some NULLs and a sentinel as last column."""
    with ifx.connect(server.url("stores_demo")) as conn:
        conn.execute("DROP TABLE IF EXISTS client_read")
        conn.execute(
            "CREATE TABLE client_read (id INT NOT NULL, name VARCHAR(40), price DECIMAL(8,2), sentinel INT)"
        )
        conn.cursor().executemany("INSERT INTO client_read VALUES (?, ?, ?, 12345)", map(row, range(COUNT)))
    return "client_read"


def row(number: int) -> tuple[int, str | None, Decimal | None]:
    return (
        number,
        None if number % 7 == 0 else f"näme {number}",
        None if number % 11 == 0 else Decimal(number) / 4,
    )


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    """A connection that all tests share, because opening one takes longer than most statements."""
    with ifx.connect(server.url("stores_demo")) as connection:
        yield connection


@pytest.fixture
def conn(shared_connection: ifx.Connection) -> Iterator[ifx.Connection]:
    yield shared_connection
    shared_connection.rollback()


def expected(*numbers: int) -> list[dict[str, object]]:
    rows = []
    for number in numbers:
        key, name, price = row(number)
        rows.append({"id": key, "name": name, "price": price, "sentinel": 12345})
    return rows


def test_a_table_comes_back_as_it_was_put_in(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT * FROM {table} ORDER BY id")
    assert found.to_pylist() == expected(*range(COUNT))
    assert found.schema.types == [pa.int32(), pa.string(), pa.decimal128(8, 2), pa.int32()]
    assert found.schema.field("price").metadata[b"informix.type"] == b"DECIMAL(8,2)"


@pytest.mark.parametrize("fetch_buffer_size", [4096, 10000, 1 << 20])
def test_the_size_of_fetches_does_not_show(server: Server, table: str, fetch_buffer_size: int) -> None:
    with ifx.connect(server.url("stores_demo"), fetch_buffer_size=fetch_buffer_size) as conn:
        found = conn.read_arrow(f"SELECT id, sentinel FROM {table} ORDER BY id")
    assert found["id"].to_pylist() == list(range(COUNT))
    assert set(found["sentinel"].to_pylist()) == {12345}


def test_parameters_are_bound(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT * FROM {table} WHERE id >= ? AND id < ? ORDER BY id", (10, 13))
    assert found.to_pylist() == expected(10, 11, 12)
    assert conn.read_arrow(f"SELECT id FROM {table} WHERE name = ?", ["näme 8"])["id"].to_pylist() == [8]


def test_a_result_without_rows_has_its_schema(conn: ifx.Connection, table: str) -> None:
    with conn.query(f"SELECT * FROM {table} WHERE id < 0") as result:
        assert result.schema.names == ["id", "name", "price", "sentinel"]
        assert list(result.batches()) == []
    empty = conn.read_arrow(f"SELECT * FROM {table} WHERE id < 0")
    assert empty.num_rows == 0
    assert empty.schema == result.schema


def test_batches_respect_rows_and_bytes(conn: ifx.Connection, table: str) -> None:
    sizes = [b.num_rows for b in conn.query(f"SELECT * FROM {table}", batch_rows=1000).batches()]
    assert sizes == [1000, 1000, 1000]
    batches = list(conn.query(f"SELECT * FROM {table}", batch_bytes=8192).batches())
    assert len(batches) > 5
    assert sum(b.num_rows for b in batches) == COUNT


def test_several_results_are_read_in_turns(conn: ifx.Connection, table: str) -> None:
    sql = f"SELECT id FROM {table} WHERE MOD(id, 3) = ? ORDER BY id"
    streams = [conn.query(sql, (rest,), batch_rows=100).batches() for rest in range(3)]
    found: list[list[int]] = [[], [], []]
    for batches in zip(*streams, strict=True):
        for rest, batch in enumerate(batches):
            found[rest] += batch["id"].to_pylist()
        assert conn.read_arrow(f"SELECT FIRST 1 id FROM {table} WHERE id = 5")["id"].to_pylist() == [5]
    assert found == [list(range(rest, COUNT, 3)) for rest in range(3)]


def test_a_result_is_read_once(conn: ifx.Connection, table: str) -> None:
    result = conn.query(f"SELECT id FROM {table}")
    assert result.read_all().num_rows == COUNT
    for again in (result.read_all, result.batches, result.__arrow_c_stream__):
        with pytest.raises(ifx.InterfaceError, match="already read"):
            again()
    assert result.schema.names == ["id"]


def test_a_result_is_not_iterable(conn: ifx.Connection, table: str) -> None:
    """Consumers that find an iterable take its first batch for the whole result."""
    with conn.query(f"SELECT id FROM {table}") as result, pytest.raises(TypeError):
        iter(result)  # type: ignore[call-overload]


def test_a_closed_result_gives_no_more_rows(conn: ifx.Connection, table: str) -> None:
    result = conn.query(f"SELECT id FROM {table}", batch_rows=10)
    batches = result.batches()
    next(batches)
    result.close()
    with pytest.raises(ifx.InterfaceError, match="closed"):
        next(batches)
    with pytest.raises(ifx.InterfaceError, match="closed"):
        result.batches()
    assert conn.read_arrow(f"SELECT id FROM {table} WHERE id = 1").num_rows == 1


def test_dropped_results_free_their_statements(server: Server, table: str) -> None:
    """Statement ids start at 0, lowest free first. The id after many dropped results shows that none was leaked."""
    with ifx.connect(server.url("stores_demo")) as conn:
        for _ in range(20):
            conn.query(f"SELECT id FROM {table}", batch_rows=10)
            for _batch in conn.query(f"SELECT id FROM {table}", batch_rows=10).batches():
                break
        gc.collect()
        conn.read_arrow(f"SELECT id FROM {table} WHERE id = 1")
        assert conn.query(f"SELECT id FROM {table}")._cursor.statement_id < 3


def test_a_result_may_be_read_in_another_thread_while_this_one_asks(conn: ifx.Connection, table: str) -> None:
    result = conn.query(f"SELECT id FROM {table} ORDER BY id", batch_rows=50)
    found: list[int] = []

    def read() -> None:
        for batch in pa.RecordBatchReader.from_stream(result):
            found.extend(batch["id"].to_pylist())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(50):
        assert conn.read_arrow(f"SELECT id FROM {table} WHERE id = ?", (number,))["id"].to_pylist() == [
            number
        ]
    reader.join(30)
    assert found == list(range(COUNT))


def test_a_url_is_enough_for_one_query(server: Server, table: str) -> None:
    url = server.url("stores_demo")
    found = ifx.read_arrow(f"SELECT id FROM {table} WHERE id < ? ORDER BY id", url, (3,))
    assert found["id"].to_pylist() == [0, 1, 2]
    with ifx.connect(url) as conn:
        assert ifx.read_arrow(f"SELECT id FROM {table}", conn, batch_rows=7).num_rows == COUNT


def test_a_query_takes_no_statement_without_rows(conn: ifx.Connection, table: str) -> None:
    with pytest.raises(ifx.ProgrammingError, match="was not executed"):
        conn.query(f"DELETE FROM {table}")
    assert conn.read_arrow(f"SELECT id FROM {table}").num_rows == COUNT


def test_wrong_arguments_are_refused_before_anything_is_sent(conn: ifx.Connection, table: str) -> None:
    with pytest.raises(ifx.ProgrammingError, match="1 placeholder"):
        conn.read_arrow(f"SELECT * FROM {table} WHERE id = ?")
    with pytest.raises(ifx.InterfaceError, match="decimals"):
        conn.query(f"SELECT * FROM {table}", decimals="text")  # type: ignore[arg-type]
    with pytest.raises(ifx.InterfaceError, match="batch_bytes"):
        conn.query(f"SELECT * FROM {table}", batch_bytes=1)
    for size in (1e6, "9000", None, 2**63):
        with pytest.raises(ifx.InterfaceError, match="batch_rows must be a whole number"):
            conn.query(f"SELECT * FROM {table}", batch_rows=size)  # type: ignore[arg-type]
    assert not conn.closed


def test_options_change_the_types(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT name, price FROM {table}", decimals="float64", strings="large")
    assert found.schema.types == [pa.large_string(), pa.float64()]


def test_a_value_that_cannot_be_read_names_row_and_column_and_leaves_the_connection_usable(
    server: Server, conn: ifx.Connection
) -> None:
    """The connection is configured to decode text as ASCII. Row 700 holds another character."""
    conn.execute("CREATE TABLE client_damage (id INT, name VARCHAR(10), sentinel INT)")
    rows = [(n, "ä" if n == 700 else "a") for n in range(1000)]
    conn.cursor().executemany("INSERT INTO client_damage VALUES (?, ?, 12345)", rows)
    conn.commit()
    sql = "SELECT name, sentinel FROM client_damage ORDER BY id"
    with ifx.connect(server.url("stores_demo"), encoding="ascii", fetch_buffer_size=4096) as other:
        for _ in range(3):
            with pytest.raises(ifx.DataError) as caught:
                other.read_arrow(sql)
            assert (caught.value.row, caught.value.column) == (700, "name")
            assert caught.value.statement == sql
        batches = other.query(sql, batch_rows=100).batches()
        assert [next(batches).num_rows for _ in range(7)] == [100] * 7
        with pytest.raises(ifx.DataError):
            next(batches)
        assert other.read_arrow("SELECT id FROM client_damage").num_rows == 1000


def test_after_an_error_the_rest_of_a_result_never_passes_for_its_end(
    server: Server, conn: ifx.Connection
) -> None:
    conn.execute("CREATE TABLE client_sticky (id INT, name VARCHAR(10))")
    conn.cursor().executemany("INSERT INTO client_sticky VALUES (?, ?)", [(1, "a"), (2, "ä"), (3, "b")])
    conn.commit()
    sql = "SELECT name FROM client_sticky ORDER BY id"
    with ifx.connect(server.url("stores_demo"), encoding="ascii") as other:
        batches = other.query(sql).batches()
        assert next(batches)["name"].to_pylist() == ["a"]
        with pytest.raises(ifx.DataError):
            next(batches)
        for _ in range(2):
            with pytest.raises(ifx.InterfaceError, match="rows were lost"):
                next(batches)
        cur = other.cursor()
        cur.execute(sql)
        assert cur.fetchone() == ("a",)
        with pytest.raises(ifx.DataError):
            cur.fetchall()
        with pytest.raises(ifx.InterfaceError, match="rows were lost"):
            cur.fetchone()


def test_text_travels_in_the_code_set_of_the_database(server: Server) -> None:
    """The client logs in to a database in latin-1 a second time, so that nothing has to be converted."""
    server.create_database("client_latin", locale="en_US.8859-1")
    try:
        with ifx.connect(server.url("client_latin"), autocommit=True) as conn:
            conn.execute("CREATE TABLE text_in_latin (name VARCHAR(20), sentinel INT)")
            conn.execute("INSERT INTO text_in_latin VALUES ('é' || ?, 12345)", ("ü",))
            found = conn.read_arrow("SELECT * FROM text_in_latin WHERE name = 'éü'")
            assert found.to_pylist() == [{"name": "éü", "sentinel": 12345}]
            with pytest.raises(ifx.DataError, match=r"U\+20AC"):
                conn.read_arrow("SELECT * FROM text_in_latin WHERE name = ?", ("€",))
            with pytest.raises(ifx.DataError, match=r"U\+20AC"):
                conn.read_arrow("SELECT * FROM text_in_latin WHERE name = '€'")
            assert conn.read_arrow("SELECT * FROM text_in_latin").num_rows == 1
    finally:
        server.drop_database("client_latin")


VALUES: list[tuple[str, object]] = [
    ("SMALLINT", -32767),
    ("INT", 2147483647),
    ("BIGINT", -9223372036854775807),
    ("INT8", 2**40),
    ("SMALLFLOAT", 0.5),
    ("FLOAT", -1.25e300),
    ("DATE", date(1899, 12, 31)),
    ("BOOLEAN", True),
    ("CHAR(10)", "padded"),
    ("NCHAR(5)", "ö"),
    ("VARCHAR(10)", "kept  "),
    ("NVARCHAR(10)", ""),
    ("LVARCHAR(3000)", "x" * 2999),
    ("DECIMAL(16,4)", Decimal("-123456789012.3456")),
    ("DECIMAL(32,0)", Decimal("-" + "9" * 32)),
    ("MONEY(10,2)", Decimal("99.99")),
    ("DATETIME YEAR TO SECOND", datetime(2026, 11, 21, 1, 2, 3)),
    ("DATETIME YEAR TO FRACTION(5)", datetime(2026, 11, 21, 1, 2, 3, 123450)),
    ("DATETIME YEAR TO DAY", date(2024, 2, 29)),
    ("DATETIME HOUR TO SECOND", time(23, 59, 58)),
]


@pytest.mark.parametrize(("sql_type", "value"), VALUES, ids=[name for name, _ in VALUES])
def test_every_type_takes_a_value_and_null_through_the_wire_and_back(
    conn: ifx.Connection, sql_type: str, value: object
) -> None:
    conn.execute(f"CREATE TEMP TABLE client_type (v {sql_type}, sentinel INT)")
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO client_type VALUES (?, ?)", [(value, 1), (None, 2)])
        found = conn.read_arrow("SELECT v, sentinel FROM client_type ORDER BY sentinel")
        assert found.to_pylist() == [{"v": value, "sentinel": 1}, {"v": None, "sentinel": 2}]
        cur.execute("SELECT v, sentinel FROM client_type ORDER BY sentinel")
        assert cur.fetchall() == [(value, 1), (None, 2)]
        assert cur.description is not None
        assert found.schema.field("v").metadata[b"informix.type"].decode() == str(cur.description[0][1])
    conn.execute("DROP TABLE client_type")


@pytest.mark.parametrize("before", ["", "  \n", "-- a comment\n", "{ a comment }", "/* a ? comment */ "])
def test_the_text_before_a_query_does_not_matter(conn: ifx.Connection, table: str, before: str) -> None:
    assert conn.read_arrow(f"{before}SELECT id FROM {table} WHERE id = ?", (3,))["id"].to_pylist() == [3]


def _act_at_random(
    conn: ifx.Connection,
    table: str,
    rng: random.Random,
    results: list[tuple[ifx.Result, Iterator[pa.RecordBatch], list[int]]],
) -> None:
    """Open, read or drop one of the results, or execute a statement. A function, so that no name keeps a result."""
    act = rng.randrange(8)
    if act < 2 and len(results) < 5:
        sql = f"SELECT id, sentinel FROM {table} WHERE id >= ? ORDER BY id"
        start = rng.randrange(COUNT)
        result = conn.query(sql, (start,), batch_rows=rng.choice((1, 50, 700)))
        results.append((result, result.batches(), [start]))
    elif act < 5 and results:
        chosen = rng.choice(results)
        batch, position = next(chosen[1], None), chosen[2]
        if batch is None:
            assert position == [COUNT]
            results.remove(chosen)
        else:
            ids = batch["id"].to_pylist()
            assert ids == list(range(position[0], position[0] + len(ids)))
            assert set(batch["sentinel"].to_pylist()) == {12345}
            position[0] += len(ids)
    elif act == 5 and results:
        result, _, _ = results.pop(rng.randrange(len(results)))
        if rng.random() < 0.5:
            result.close()
        del result
    elif act == 6:
        key = rng.randrange(COUNT)
        found = conn.read_arrow(f"SELECT id FROM {table} WHERE id = ?", (key,))
        assert found["id"].to_pylist() == [key]
    elif act == 7:
        with pytest.raises(ifx.ProgrammingError):
            conn.execute(rng.choice((f"SELECT nosuch FROM {table}", "SELEKT", "SELECT * FROM nosuch")))


@pytest.mark.parametrize("seed", range(3))
def test_any_interleaving_of_results_statements_and_errors_keeps_every_row_in_its_place(
    server: Server, table: str, seed: int
) -> None:
    rng = random.Random(seed)
    results: list[tuple[ifx.Result, Iterator[pa.RecordBatch], list[int]]] = []
    with ifx.connect(server.url("stores_demo"), fetch_buffer_size=4096) as conn:
        for _ in range(250):
            _act_at_random(conn, table, rng, results)
        results.clear()
        # The lowest free id: only the idle statements of the cache are on the server.
        conn.ping()  # releases dropped statements
        idle = len(session_of(conn).statements)
        assert conn.query(f"SELECT id, id FROM {table}")._cursor.statement_id <= idle
