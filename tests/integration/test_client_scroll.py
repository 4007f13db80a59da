"""Scroll cursors through the client, against the embedded server."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow import dbapi
from informix_arrow.operations.scroll import MAX_ROWS_AHEAD
from informix_arrow.server import Server

ROWS = 2 * MAX_ROWS_AHEAD + 100
QUERY = "SELECT id, name, tail FROM client_scroll ORDER BY id"


def text(number: int) -> str | None:
    """Return texts of even and odd lengths, empty ones, and NULLs."""
    return None if number % 11 == 3 else "é" * (number % 5)


EXPECTED = [(number, text(number), 12345) for number in range(ROWS)]


@pytest.fixture(scope="module")
def conn(server: Server) -> Iterator[ifx.Connection]:
    with dbapi.connect(server.url("stores_demo")) as connection:
        connection.execute("CREATE TEMP TABLE client_scroll (id INT, name VARCHAR(10), tail INT)")
        connection.cursor().executemany("INSERT INTO client_scroll VALUES (?, ?, ?)", EXPECTED)
        yield connection
        connection.rollback()


@pytest.fixture
def cur(conn: ifx.Connection) -> Iterator[ifx.ScrollCursor]:
    with conn.cursor(scrollable=True) as cursor:
        yield cursor.execute(QUERY)


def test_rows_come_forward_in_any_portions(cur: ifx.ScrollCursor) -> None:
    assert cur.rownumber == 0
    assert [cur.fetchone(), cur.fetchone()] == EXPECTED[:2]
    assert cur.fetchmany() == EXPECTED[2:3]
    assert cur.fetchmany(0) == []
    assert cur.fetchmany(5) == EXPECTED[3:8]
    assert cur.rownumber == 8
    assert next(cur) == EXPECTED[8]
    assert cur.fetchall() == EXPECTED[9:]
    assert cur.rownumber == ROWS
    assert cur.fetchone() is None
    assert cur.fetchmany(3) == cur.fetchall() == []


def test_what_counts_no_rows_is_refused_and_costs_no_connection(
    conn: ifx.Connection, cur: ifx.ScrollCursor
) -> None:
    number: Any = 1.5
    for call in (cur.fetchmany, cur.fetch_absolute, cur.scroll):
        with pytest.raises(ifx.InterfaceError, match="whole number"):
            call(number)
    with pytest.raises(ifx.InterfaceError, match="whole number"):
        cur.scroll(number, "absolute")
    assert not conn.closed
    assert cur.fetchone() == EXPECTED[0]


def test_one_row_after_the_other_are_all_rows(cur: ifx.ScrollCursor) -> None:
    assert list(cur) == EXPECTED


def test_the_current_row_moves_as_requested(cur: ifx.ScrollCursor) -> None:
    assert cur.fetch_last() == EXPECTED[-1]
    assert cur.fetchone() is None
    assert cur.fetch_prior() == EXPECTED[-1]
    assert cur.fetch_prior() == EXPECTED[-2]
    assert cur.fetch_relative(-10) == EXPECTED[-12]
    assert cur.fetch_relative(0) == EXPECTED[-12]
    assert cur.fetchone() == EXPECTED[-11]
    assert cur.fetch_first() == EXPECTED[0]
    assert cur.fetch_prior() is None
    assert cur.rownumber == 0
    assert cur.fetchone() == EXPECTED[0]
    assert cur.fetch_absolute(300) == EXPECTED[300]
    assert cur.fetch_absolute(-3) == EXPECTED[-3]
    assert cur.fetch_absolute(ROWS) is None
    assert cur.rownumber == ROWS
    assert cur.fetch_prior() == EXPECTED[-1]
    assert cur.fetch_absolute(-ROWS - 1) is None
    assert cur.fetchone() == EXPECTED[0]


def test_a_far_miss_leaves_the_position_behind_the_last_row(cur: ifx.ScrollCursor) -> None:
    """The first requested row does not exist, and the number of rows is still unknown."""
    assert cur.fetch_absolute(10 * ROWS) is None
    assert cur.rownumber == ROWS
    assert cur.fetchone() is None
    assert cur.fetch_prior() == EXPECTED[-1]


def test_scroll_sets_the_next_row(cur: ifx.ScrollCursor) -> None:
    cur.scroll(10, "absolute")
    assert cur.rownumber == 10
    assert cur.fetchone() == EXPECTED[10]
    cur.scroll(5)
    assert cur.fetchone() == EXPECTED[16]
    cur.scroll(-17, mode="relative")
    assert cur.fetchmany(2) == EXPECTED[:2]
    cur.scroll(0, "last")
    assert cur.fetchall() == EXPECTED[-1:]
    cur.scroll(0, mode="first")
    assert cur.fetchone() == EXPECTED[0]
    cur.scroll(0)
    assert cur.fetchone() == EXPECTED[1]


@pytest.mark.parametrize(
    ("value", "mode"),
    [(-1, "absolute"), (ROWS, "absolute"), (2**31, "absolute"), (-6, "relative"), (ROWS - 5, "relative")],
)
def test_scrolling_out_of_the_result_is_an_error_and_moves_nothing(
    cur: ifx.ScrollCursor, value: int, mode: str
) -> None:
    cur.scroll(5, "absolute")
    with pytest.raises(IndexError, match="outside of this result"):
        cur.scroll(value, mode)
    assert cur.rownumber == 5
    assert cur.fetchone() == EXPECTED[5]


def test_an_unknown_mode_is_refused(cur: ifx.ScrollCursor) -> None:
    with pytest.raises(ifx.InterfaceError, match='"relative", "absolute", "first" or "last"'):
        cur.scroll(1, "sideways")
    assert cur.fetchone() == EXPECTED[0]


def test_a_result_without_rows_has_no_row_anywhere(conn: ifx.Connection) -> None:
    with conn.cursor(scrollable=True) as cur:
        cur.execute("SELECT id FROM client_scroll WHERE id < 0")
        assert cur.description is not None
        moves = (
            cur.fetchone,
            cur.fetch_first,
            cur.fetch_last,
            cur.fetch_prior,
            lambda: cur.fetch_absolute(-1),
        )
        for move in (*moves, *moves):
            assert move() is None
        assert cur.fetchall() == []
        for value, mode in ((0, "absolute"), (0, "relative"), (0, "first"), (0, "last")):
            with pytest.raises(IndexError):
                cur.scroll(value, mode)
        assert cur.fetch_arrow_table().num_rows == 0


def test_a_random_walk_finds_what_a_list_would(conn: ifx.Connection) -> None:
    """A model of the position, with rows read ahead and without, in any combination."""
    chance = random.Random(20260901)
    with conn.cursor(scrollable=True) as cur:
        cur.execute(QUERY)
        at = -1
        for _ in range(400):
            move = chance.choice(["one", "many", "prior", "relative", "absolute", "scroll", "last", "first"])
            if move == "one":
                at = min(at + 1, ROWS)
                assert cur.fetchone() == (EXPECTED[at] if at < ROWS else None)
            elif move == "many":
                count = chance.choice([1, 2, 3, 50, MAX_ROWS_AHEAD, MAX_ROWS_AHEAD + 1])
                assert cur.fetchmany(count) == EXPECTED[at + 1 : at + 1 + count]
                at = at + count if at + count < ROWS else ROWS
            elif move == "scroll":
                target = chance.randrange(-3, ROWS + 3)
                if 0 <= target < ROWS:
                    cur.scroll(target, "absolute")
                    at = target - 1
                else:
                    with pytest.raises(IndexError):
                        cur.scroll(target, "absolute")
            else:
                if move == "prior":
                    target, found = at - 1, cur.fetch_prior()
                elif move == "relative":
                    step = chance.randrange(-40, 41)
                    target, found = at + step, cur.fetch_relative(step)
                elif move == "absolute":
                    target = chance.randrange(ROWS + 5)
                    found = cur.fetch_absolute(target)
                elif move == "last":
                    target, found = ROWS - 1, cur.fetch_last()
                else:
                    target, found = 0, cur.fetch_first()
                at = max(-1, min(target, ROWS))
                assert found == (EXPECTED[at] if 0 <= at < ROWS else None)
            assert cur.rownumber == min(at + 1, ROWS)


def test_types_are_those_of_other_cursors(conn: ifx.Connection) -> None:
    columns = (
        "id, name, id / 4 AS d, MDY(12, 31, 2025) AS day, INTERVAL (3 04) DAY TO HOUR AS span, "
        "id::BIGINT AS big, id::FLOAT AS real, 't'::BOOLEAN AS flag, tail"
    )
    query = f"SELECT {columns} FROM client_scroll WHERE id < 20 ORDER BY id"
    with conn.cursor(scrollable=True) as scrolling, conn.cursor() as plain:
        scrolling.execute(query)
        plain.execute(query)
        assert scrolling.description == plain.description
        assert scrolling.fetch_arrow_table().equals(plain.fetch_arrow_table())
        scrolling.scroll(0, "first")
        assert scrolling.fetchall() == plain.execute(query).fetchall()


def test_the_rest_comes_as_arrow(cur: ifx.ScrollCursor) -> None:
    cur.scroll(MAX_ROWS_AHEAD + 7, "absolute")
    table = cur.fetch_arrow_table()
    assert [tuple(row.values()) for row in table.to_pylist()] == EXPECTED[MAX_ROWS_AHEAD + 7 :]
    assert cur.fetch_prior() == EXPECTED[-1]
    cur.scroll(3, "absolute")
    reader = pa.RecordBatchReader.from_stream(cur.fetch_arrow())
    assert reader.read_next_batch().column(0)[0].as_py() == 3


def test_parameters_and_row_factories_work(conn: ifx.Connection) -> None:
    with conn.cursor(scrollable=True, row_factory="namedtuple") as cur:
        cur.execute("SELECT id, name FROM client_scroll WHERE id > ? ORDER BY id", (400,))
        assert cur.fetch_last().id == ROWS - 1
        assert cur.fetch_first()["id"] == 401
        cur.row_factory = "dict"
        assert cur.fetchone().id == 402
        cur.execute("SELECT id FROM client_scroll WHERE id = ?", (7,))
        assert cur.fetchone() == {"id": 7}


def test_other_statements_may_come_between(conn: ifx.Connection, cur: ifx.ScrollCursor) -> None:
    other = conn.cursor(scrollable=True).execute(
        "SELECT id FROM client_scroll WHERE id < 10 ORDER BY id DESC"
    )
    plain = conn.cursor().execute(QUERY)
    assert cur.fetchone() == EXPECTED[0]
    assert other.fetch_last() == (0,)
    assert plain.fetchone() == EXPECTED[0]
    assert cur.fetch_last() == EXPECTED[-1]
    assert conn.read_arrow("SELECT COUNT(*) AS n FROM client_scroll").to_pylist()[0]["n"] == ROWS
    assert other.fetch_prior() == (1,)
    assert plain.fetchmany(3) == EXPECTED[1:4]
    cur.close()
    assert other.fetch_first() == (9,)
    other.close()
    plain.close()


def test_a_failed_statement_leaves_the_cursor_usable(cur: ifx.ScrollCursor) -> None:
    with pytest.raises(ifx.ProgrammingError) as caught:
        cur.execute("SELECT nosuch FROM client_scroll")
    assert caught.value.sqlcode == -217
    for use in (cur.fetchone, cur.fetch_last, lambda: cur.scroll(0), cur.fetchall):
        with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
            use()
    assert cur.rownumber is None
    assert cur.execute(QUERY).fetch_absolute(77) == EXPECTED[77]


def test_a_statement_without_rows_runs_too(cur: ifx.ScrollCursor) -> None:
    assert cur.execute("UPDATE client_scroll SET tail = tail WHERE id < 3").rowcount == 3
    with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
        cur.fetch_first()


def test_rows_for_update_are_refused_by_the_server(cur: ifx.ScrollCursor) -> None:
    with pytest.raises(ifx.ProgrammingError) as caught:
        cur.execute("SELECT id FROM client_scroll FOR UPDATE")
    assert caught.value.sqlcode == -526
    assert cur.execute(QUERY).fetchone() == EXPECTED[0]


def test_a_closed_scroll_cursor_says_so(conn: ifx.Connection) -> None:
    cur = conn.cursor(scrollable=True).execute(QUERY)
    cur.close()
    cur.close()
    for use in (cur.fetchone, cur.fetch_prior, lambda: cur.scroll(1), lambda: cur.execute(QUERY)):
        with pytest.raises(ifx.InterfaceError, match="cursor is closed"):
            use()


def test_a_dropped_scroll_cursor_is_closed_before_the_next_statement(conn: ifx.Connection) -> None:
    before = len(session_of(conn).cursors)
    conn.cursor(scrollable=True).execute(QUERY).fetchone()
    assert conn.execute("SELECT COUNT(*) FROM client_scroll").fetchone() == (ROWS,)
    assert len(session_of(conn).cursors) == before


def test_a_forward_cursor_says_how_to_scroll(conn: ifx.Connection) -> None:
    cur = conn.execute(QUERY)
    with pytest.raises(ifx.NotSupportedError, match=r"cursor\(scrollable=True\)"):
        cur.scroll(1)
    assert cur.fetchone() == EXPECTED[0]
    cur.close()


@pytest.fixture
def objects(conn: ifx.Connection) -> Iterator[list[tuple[Any, ...]]]:
    rows = [
        (
            number,
            None if number % 5 == 4 else bytes([number]) * (number * 2000),
            "ä" * number,
            None if number % 7 == 3 else bytes([number]) * (number * 3400),
            "ß" * number,
            number + 12000,
        )
        for number in range(20)
    ]
    conn.execute("CREATE TEMP TABLE client_scroll_lobs (id INT, b BYTE, t TEXT, o BLOB, c CLOB, tail INT)")
    conn.cursor().executemany("INSERT INTO client_scroll_lobs VALUES (?, ?, ?, ?, ?, ?)", rows)
    yield rows
    conn.execute("DROP TABLE client_scroll_lobs")


LOBS = "SELECT id, b, t, o, c, tail FROM client_scroll_lobs ORDER BY id"


def test_large_objects_come_with_their_rows(conn: ifx.Connection, objects: list[tuple[Any, ...]]) -> None:
    with conn.cursor(scrollable=True) as cur:
        cur.execute(LOBS)
        assert cur.fetch_last() == objects[-1]
        assert cur.fetch_absolute(4) == objects[4]
        assert cur.fetch_prior() == objects[3]
        cur.scroll(0, "first")
        assert cur.fetchall() == objects
        cur.scroll(12, "absolute")
        assert [tuple(row.values()) for row in cur.fetch_arrow_table().to_pylist()] == objects[12:]


def test_large_objects_can_be_left_for_later(conn: ifx.Connection, objects: list[tuple[Any, ...]]) -> None:
    with conn.cursor(scrollable=True) as cur:
        cur.lobs = "lazy"
        cur.execute(LOBS)
        row = cur.fetch_absolute(13)
        first = cur.fetch_first()
        assert cur.fetch_absolute(4)[1] is None
        assert isinstance(row[1], io.BufferedIOBase)
        assert (
            row[0],
            row[1].read(),
            row[2].text().read(),
            row[3].read(),
            row[4].text().read(),
            row[5],
        ) == objects[13]
        assert first[1].read() == b""
        with pytest.raises(ifx.NotSupportedError, match="lazy"):
            cur.fetch_arrow()
        cur.lobs = "skip"
        assert cur.execute(LOBS).fetch_last() == (19, 12019)


def test_large_objects_come_with_the_rows_of_a_named_cursor(
    conn: ifx.Connection, objects: list[tuple[Any, ...]]
) -> None:
    writer = conn.cursor()
    with conn.cursor("scroll_lobs") as reader:
        reader.execute("SELECT id, b, t, o, c, tail FROM client_scroll_lobs FOR UPDATE")
        assert reader.fetchone() == objects[0]
        writer.execute("UPDATE client_scroll_lobs SET tail = -1 WHERE CURRENT OF scroll_lobs")
        assert reader.fetchall() == objects[1:]
    assert writer.execute("SELECT id FROM client_scroll_lobs WHERE tail = -1").fetchall() == [(0,)]


def test_rows_that_were_read_but_never_given_come_again(
    conn: ifx.Connection, cur: ifx.ScrollCursor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time limit may expire while the reply arrives: then the exchange ends normally, and its result is dropped."""
    run = conn._run

    def late(exchange: Any, timeout: float | None = None) -> Any:
        run(exchange, timeout)
        raise ifx.OperationalError("too late")

    cur.fetchmany(4)
    monkeypatch.setattr(conn, "_run", late)
    moves = (cur.fetchone, cur.fetchall, cur.fetch_last, lambda: cur.scroll(9), lambda: cur.fetchmany(5))
    for move in moves:
        with pytest.raises(ifx.OperationalError, match="too late"):
            move()
        assert cur.rownumber == 4
    monkeypatch.undo()
    assert cur.fetchall() == EXPECTED[4:]
