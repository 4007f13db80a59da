"""Repeated loads into one table: two round trips, and every change of the table in between is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

ROWS = pa.table({"a": [1, 2, 3], "b": ["one", "two", "three"], "sentinel": [12345] * 3})


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    return server.url("stores_demo")


@pytest.fixture
def other(url: str) -> Iterator[ifx.Connection]:
    """Another session, and a table ``again``."""
    with ifx.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS again")
        connection.execute("CREATE TABLE again (a INT PRIMARY KEY, b VARCHAR(8), sentinel INT)")
        yield connection
        connection.execute("DROP TABLE IF EXISTS again")


@pytest.fixture
def conn(url: str, other: ifx.Connection) -> Iterator[ifx.Connection]:
    """A session that has loaded three rows into ``again``."""
    with ifx.connect(url, autocommit=True) as connection:
        connection.write_arrow("again", ROWS)
        yield connection


def rows(first: int, count: int = 3, **columns: list[Any]) -> pa.Table:
    numbers = list(range(first, first + count))
    plain = {"a": numbers, "b": [f"n{n}" for n in numbers], "sentinel": [12345] * count}
    return pa.table({**plain, **columns})


def trips(conn: ifx.Connection, work: Callable[[], object]) -> int:
    """Return the number of times that ``work`` waits for the server."""
    seen: list[ifx.observing.Operation] = []
    conn.add_observer(seen.append)
    try:
        work()
    finally:
        conn.remove_observer(seen.append)
    return sum(each.round_trips for each in seen)


def found(other: ifx.Connection, columns: str = "a, b, sentinel") -> list[tuple[Any, ...]]:
    return other.cursor().execute(f"SELECT {columns} FROM again ORDER BY a").fetchall()


PLAIN = [(1, "one", 12345), (2, "two", 12345), (3, "three", 12345)]


@pytest.mark.parametrize("method", ["auto", "put", "pipeline"])
def test_another_load_costs_two_round_trips(conn: ifx.Connection, other: ifx.Connection, method: Any) -> None:
    conn.write_arrow("again", rows(4), method=method)
    for first in (7, 10):
        assert trips(conn, partial(conn.write_arrow, "again", rows(first), method=method)) == 2
    assert found(other) == PLAIN + [(n, f"n{n}", 12345) for n in range(4, 13)]


def test_another_load_in_a_transaction_costs_two_round_trips(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    conn.execute("BEGIN WORK")
    report: Any = None

    def load() -> None:
        nonlocal report
        report = conn.write_arrow("again", rows(4))

    assert trips(conn, load) == 2
    assert report.transaction == "savepoint"
    with pytest.raises(ifx.IntegrityError):
        conn.write_arrow("again", rows(6))
    assert conn.in_transaction
    conn.commit()
    assert [row[0] for row in found(other)] == [1, 2, 3, 4, 5, 6]


def test_without_a_cache_every_load_asks(url: str, other: ifx.Connection) -> None:
    with ifx.connect(url, autocommit=True, statement_cache_size=0) as conn:
        costs = [trips(conn, partial(conn.write_arrow, "again", rows(n))) for n in (1, 4)]
    assert costs[0] == costs[1] > 2
    assert len(found(other)) == 6


# ---- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 2])
def test_a_refused_row_undoes_the_load_and_is_named(
    conn: ifx.Connection, other: ifx.Connection, at: int
) -> None:
    numbers = [4, 5, 6]
    numbers[at] = 2
    for _ in range(2):
        with pytest.raises(ifx.IntegrityError, match="Nothing of it is in the table") as caught:
            conn.write_arrow("again", rows(4, a=numbers))
        assert caught.value.row == at
        assert not conn.in_transaction
    assert found(other) == PLAIN
    conn.write_arrow("again", rows(4))
    assert len(found(other)) == 6


def test_a_value_that_does_not_fit_undoes_the_load(conn: ifx.Connection, other: ifx.Connection) -> None:
    for at in (0, 2):
        texts = ["x", "y", "z"]
        texts[at] = "far too long for eight"
        with pytest.raises(ifx.DataError) as caught:
            conn.write_arrow("again", rows(4, b=texts))
        assert (caught.value.row, caught.value.column) == (at, "b")
        assert not conn.in_transaction
    assert found(other) == PLAIN


def test_data_that_fails_undoes_the_load(conn: ifx.Connection, other: ifx.Connection) -> None:
    def failing(good: int) -> Iterator[pa.RecordBatch]:
        for number in range(good):
            yield rows(4 + number, 1).to_batches()[0]
        raise LookupError("the data ended in an error")

    for good in (1, 3):
        with pytest.raises(LookupError):
            conn.write_arrow("again", failing(good))
        assert not conn.in_transaction
    assert found(other) == PLAIN


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_refused_rows_are_set_aside(
    conn: ifx.Connection, other: ifx.Connection, method: Any, at: int
) -> None:
    conn.write_arrow("again", rows(90), method=method)
    numbers = [4, 5, 6]
    numbers[at] = 2
    good = [n for n in numbers if n != 2]
    data = rows(4, a=numbers)
    report: Any = conn.write_arrow("again", data, method=method, on_error="collect")
    assert report.rejected.select(["row", "sqlcode", "a"]).to_pylist() == [
        {"row": at, "sqlcode": -268, "a": 2}
    ]
    assert [row[0] for row in found(other)] == [1, 2, 3, *good, 90, 91, 92]


def test_rows_that_are_refused_here_do_not_cut_those_behind_a_refused_one_in_pieces(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    count = 3000
    numbers, texts = list(range(10, 10 + count)), ["x"] * count
    for at in range(25, count, 50):
        numbers[at], texts[at + 10] = 2, "far too long for eight"
    report: Any = None

    def load() -> None:
        nonlocal report
        report = conn.write_arrow("again", rows(10, count, a=numbers, b=texts), on_error="collect")

    assert trips(conn, load) <= 12  # there are 60 rows of either kind
    assert (report.rows, report.rejected.num_rows) == (count - 120, 120)
    assert report.batches <= 4
    reasons = report.rejected["sqlcode"].to_pylist()
    assert (reasons.count(-268), reasons.count(None)) == (60, 60)
    assert [row[0] for row in found(other)[3:]] == [
        number for at, number in enumerate(numbers) if at % 50 not in (25, 35)
    ]


# ---- what has changed meanwhile ----------------------------------------------------------------------------------


@pytest.mark.parametrize("collect", ["abort", "collect"])
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_table_made_anew_by_another_session_gets_the_right_columns(
    conn: ifx.Connection, other: ifx.Connection, method: Any, collect: Any
) -> None:
    conn.write_arrow("again", rows(4), method=method)
    other.execute("DROP TABLE again")
    other.execute("CREATE TABLE again (sentinel BIGINT, b CHAR(12), a DECIMAL(8,2))")
    report = conn.write_arrow("again", ROWS, method=method, on_error=collect)
    assert (report.rows, report.rejected.num_rows) == (3, 0)
    assert found(other) == [(Decimal(a), b, s) for a, b, s in PLAIN]
    assert trips(conn, lambda: conn.write_arrow("again", rows(4), method=method)) == 2
    assert found(other)[3:] == [(Decimal(n), f"n{n}", 12345) for n in (4, 5, 6)]


@pytest.mark.parametrize("collect", ["abort", "collect"])
def test_a_column_that_another_session_has_widened_takes_longer_values(
    conn: ifx.Connection, other: ifx.Connection, collect: Any
) -> None:
    other.execute("ALTER TABLE again MODIFY (b VARCHAR(40))")
    texts = ["far too long for eight", "y", "z"]
    for first, order in ((4, texts), (7, texts[::-1])):
        assert conn.write_arrow("again", rows(first, b=order), on_error=collect).rows == 3
    assert [row[1] for row in found(other)[3:]] == texts + texts[::-1]


def test_a_large_load_notices_a_change_too(conn: ifx.Connection, other: ifx.Connection) -> None:
    other.execute("ALTER TABLE again MODIFY (b VARCHAR(40))")
    texts = ["x"] * 1000
    texts[900] = "far too long for eight"
    report = conn.write_arrow("again", rows(10, 1000, b=texts), group_bytes=1000, on_error="collect")
    assert (report.rows, report.rejected.num_rows, report.batches > 10) == (1000, 0, True)
    assert other.read_arrow("SELECT MAX(LENGTH(b)) longest, COUNT(*) n FROM again").to_pylist() == [
        {"longest": 22, "n": 1003}
    ]


@pytest.mark.parametrize("collect", ["abort", "collect"])
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_large_load_goes_on_where_nothing_has_changed(
    conn: ifx.Connection, other: ifx.Connection, method: Any, collect: Any
) -> None:
    options: dict[str, Any] = {
        "method": method,
        "on_error": collect,
        "group_bytes": 1000,
        "window_bytes": 1000,
    }
    conn.write_arrow("again", rows(4), method=method)
    for first in (1000, 2000):
        assert conn.write_arrow("again", rows(first, 500), **options).rows == 500
    assert [row[0] for row in found(other)] == [1, 2, 3, 4, 5, 6, *range(1000, 1500), *range(2000, 2500)]


@pytest.mark.parametrize(
    "texts", [["x", "far too long for eight", "y"], ["far too long for eight", "x", "y"]]
)
def test_a_value_refused_by_what_is_known_is_refused_by_what_is_true(
    conn: ifx.Connection, other: ifx.Connection, texts: list[str]
) -> None:
    for first in (4, 8):
        report = conn.write_arrow("again", rows(first, b=texts), on_error="collect")
        assert (report.rows, report.rejected["b"].to_pylist()) == (2, ["far too long for eight"])
    assert len(found(other)) == 7


def test_a_column_that_another_session_has_added_is_filled(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    other.execute("ALTER TABLE again ADD (more INT BEFORE sentinel)")
    conn.write_arrow("again", rows(4, more=[7, 8, 9]))
    assert found(other, "a, more, sentinel")[3:] == [(4, 7, 12345), (5, 8, 12345), (6, 9, 12345)]


def test_a_column_that_another_session_has_dropped_is_reported(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    other.execute("ALTER TABLE again DROP (b)")
    with pytest.raises(ifx.ProgrammingError, match="has no column b"):
        conn.write_arrow("again", rows(4))
    assert not conn.in_transaction
    conn.write_arrow("again", rows(4).drop(["b"]))
    assert len(found(other, "a, sentinel")) == 6


def test_a_table_that_another_session_has_dropped_is_reported(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    other.execute("DROP TABLE again")
    for _ in range(2):
        with pytest.raises(ifx.ProgrammingError) as caught:
            conn.write_arrow("again", rows(4))
        assert caught.value.sqlcode == -206
        assert not conn.in_transaction
    other.execute("CREATE TABLE again (a INT, b VARCHAR(8), sentinel INT)")
    conn.write_arrow("again", ROWS)
    assert found(other) == PLAIN


def test_a_change_of_the_session_itself_that_is_undone_is_noticed(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    conn.execute("BEGIN WORK")
    conn.execute("ALTER TABLE again MODIFY (b VARCHAR(40))")
    conn.write_arrow("again", rows(4, b=["longer than eight", "y", "z"]))
    conn.rollback()
    with pytest.raises(ifx.DataError):
        conn.write_arrow("again", rows(4, b=["longer than eight", "y", "z"]))
    conn.write_arrow("again", rows(4))
    assert len(found(other)) == 6


def test_a_transaction_that_a_procedure_has_begun_is_not_committed(
    conn: ifx.Connection, other: ifx.Connection
) -> None:
    other.execute("CREATE PROCEDURE begins() BEGIN WORK; END PROCEDURE")
    try:
        conn.execute("EXECUTE PROCEDURE begins()")
        assert conn.write_arrow("again", rows(4)).transaction == "savepoint"
        conn.rollback()
        assert found(other) == PLAIN
    finally:
        conn.rollback()
        other.execute("DROP PROCEDURE begins")
