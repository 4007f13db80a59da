"""``executemany`` that is interrupted, or has refused rows: which rows are in effect then, and how the error says
so."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from tests.integration.aio_support import run
from tests.integration.test_client_cancel import Background, _cancel_next
from tests.internals import session_of, socket_of

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.operations import adaptive_window
from informix_arrow.server import Server

ROWS = 100
UPDATE = "UPDATE many_flight SET n = many_slowly(n, ?) WHERE id = ?"


class Slow:
    """A routine of the server that waits for ``seconds``, 20 ms by default."""

    def __init__(self) -> None:
        self.calls = 0
        self.never = threading.Event()
        self.seconds = 0.02

    def __call__(self, before: int, after: int) -> int:
        self.calls += 1
        self.never.wait(self.seconds)
        return after


def registered(server: Server) -> Slow:
    routine = Slow()
    server.register("many_slowly", routine, parameters=("INTEGER", "INTEGER"), returns="INTEGER")
    return routine


@pytest.fixture(scope="module")
def slow(server: Server) -> Slow:
    return registered(server)


def create_table(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("CREATE TABLE many_flight (id INT PRIMARY KEY, n INT, sentinel INT)")
        conn.cursor().executemany(
            "INSERT INTO many_flight VALUES (?, ?, ?)", [(row, 0, 12345) for row in range(ROWS)]
        )


@pytest.fixture
def url(server: Server, slow: Slow) -> Iterator[str]:
    url = server.url("stores_demo")
    slow.calls, slow.seconds = 0, 0.02
    create_table(url)
    yield url
    with ifx.connect(url, lock_wait=30) as conn:
        conn.execute("DROP TABLE many_flight")


def changed(conn: ifx.Connection) -> list[int]:
    found = conn.read_arrow("SELECT id, sentinel FROM many_flight WHERE n = 7 ORDER BY id")
    assert set(found["sentinel"].to_pylist()) <= {12345}
    return list(found["id"].to_pylist())


def numbers(rows: int | tuple[int, ...] | None) -> list[int]:
    assert rows is not None
    return list(range(rows) if isinstance(rows, int) else rows)


def test_a_timed_out_call_in_a_transaction_is_undone_to_its_beginning(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("UPDATE many_flight SET n = 7 WHERE id = 99")
        conn.execute("SAVEPOINT mine")
        began = time.monotonic()
        with pytest.raises(ifx.QueryTimeout, match="The call was rolled back") as caught:
            conn.cursor().executemany(UPDATE, [(7, row) for row in range(ROWS)], timeout=0.3)
        assert time.monotonic() - began < 1.3  # 100 rows take 2 s
        assert caught.value.rows == 0
        assert caught.value.sqlcode == -213
        assert conn.in_transaction
        assert changed(conn) == [99]
        conn.execute("UPDATE many_flight SET n = 7 WHERE id = 98")
        conn.commit()
        assert changed(conn) == [98, 99]


def test_a_timed_out_call_with_autocommit_says_exactly_which_rows_are_in_effect(url: str) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        began = time.monotonic()
        with pytest.raises(ifx.QueryTimeout, match="in effect") as caught:
            conn.cursor().executemany(UPDATE, [(7, row) for row in range(ROWS)], timeout=0.3)
        assert time.monotonic() - began < 1.3
        found = changed(conn)
        assert numbers(caught.value.rows) == found
        assert 0 < len(found) < ROWS
        assert caught.value.row is None


def test_a_row_in_the_middle_that_was_hit_is_no_hole_unnamed(url: str, slow: Slow) -> None:
    """Rows that the server had received before the interrupt are still executed, after the interrupted one."""
    slow.seconds = 0.0

    def rows() -> Iterator[tuple[int, int]]:
        for row in range(ROWS):
            if row == 60:
                slow.seconds = 0.1  # longer than the earlier rows
            yield 7, row

    with ifx.connect(url, autocommit=True) as conn:
        with pytest.raises(ifx.QueryTimeout) as caught:
            conn.cursor().executemany(UPDATE, rows(), timeout=0.4)
        assert numbers(caught.value.rows) == changed(conn)


def test_a_canceled_call_is_undone_too_and_so_is_one_of_large_objects(server: Server, url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("CREATE TEMP TABLE many_flight_text (id INT, t TEXT, sentinel INT) WITH NO LOG")
        begun = threading.Event()

        def rows() -> Iterator[tuple[int, str, int]]:
            number = 0
            while True:
                begun.set()
                yield number, "x" * number, 12345
                number += 1

        cursor = conn.cursor()
        running = Background(
            lambda: cursor.executemany("INSERT INTO many_flight_text VALUES (?, ?, ?)", rows())
        )
        assert begun.wait(60)
        while running.thread.is_alive():
            conn.cancel()
            running.thread.join(0.05)
        assert isinstance(running.error, ifx.QueryCanceled)
        assert not isinstance(running.error, ifx.QueryTimeout)
        assert running.error.rows == 0
        assert conn.read_arrow("SELECT COUNT(*) n FROM many_flight_text")["n"].to_pylist() == [0]


def test_a_task_that_is_cancelled_leaves_nothing_in_its_transaction(url: str) -> None:
    async def main() -> None:
        async with await aio.connect(url) as conn:
            cursor = conn.cursor()
            running = asyncio.ensure_future(cursor.executemany(UPDATE, [(7, row) for row in range(ROWS)]))
            await asyncio.sleep(0.3)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            found = await conn.read_arrow("SELECT id FROM many_flight WHERE n = 7")
            assert found.num_rows == 0
            with pytest.raises(ifx.QueryTimeout) as caught:
                await cursor.executemany(UPDATE, [(7, row) for row in range(ROWS)], timeout=0.3)
            assert caught.value.rows == 0
            await conn.rollback()

    run(main, debug=False)


def test_one_error_names_every_refused_row_and_all_others_go_in(url: str) -> None:
    rows = [(number if number % 10 == 3 else 1000 + number, 7, 12345) for number in range(200)]
    refused = [number for number in range(200) if number % 10 == 3 and number < ROWS]
    for autocommit in (False, True):
        with ifx.connect(url, autocommit=autocommit) as conn:
            cursor = conn.cursor()
            with pytest.raises(ifx.IntegrityError) as caught:
                cursor.executemany("INSERT INTO many_flight VALUES (?, ?, ?)", rows)
            error = caught.value
            assert error.row == 3
            assert [each.row for each in error.refused] == refused
            assert {each.sqlcode for each in error.refused} == {-268}
            assert {each.isamcode for each in error.refused} == {-100}
            assert numbers(error.rows) == [number for number in range(200) if number not in refused]
            assert "10 of 200 rows were refused. The others were executed" in str(error)
            assert "3 (-268), 13 (-268)" in str(error)
            assert cursor.rowcount == 190
            assert len(changed(conn)) == 190
            conn.execute("DELETE FROM many_flight WHERE id >= 100 OR n = 7")
            conn.commit()


@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize("bad", [0, 1, 77, 399])
def test_stop_on_error_stops_exactly(url: str, autocommit: bool, bad: int) -> None:
    rows = [(5 if number in (bad, bad + 2) else 1000 + number, 7, 12345) for number in range(400)]
    with ifx.connect(url, autocommit=autocommit) as conn:
        cursor = conn.cursor()
        with pytest.raises(ifx.IntegrityError, match=f"Row {bad} was refused and the call stopped") as caught:
            cursor.executemany("INSERT INTO many_flight VALUES (?, ?, ?)", rows, stop_on_error=True)
        assert caught.value.row == bad
        assert caught.value.rows == bad == cursor.rowcount
        assert [tuple(each) for each in caught.value.refused] == [(bad, -268, -100)]
        assert changed(conn) == [1000 + number for number in range(bad)]
        cursor.executemany("INSERT INTO many_flight VALUES (?, ?, ?)", [(999, 8, 12345)], stop_on_error=True)
        assert cursor.rowcount == 1
        conn.commit()
        assert changed(conn) == [1000 + number for number in range(bad)]


def test_stop_on_error_of_rows_with_contents(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute(
            "CREATE TEMP TABLE many_flight_keys (id INT PRIMARY KEY, t TEXT, sentinel INT) WITH NO LOG"
        )
        rows = [(number % 40, f"text {number}", 12345) for number in range(90)]
        with pytest.raises(ifx.IntegrityError) as caught:
            conn.cursor().executemany(
                "INSERT INTO many_flight_keys VALUES (?, ?, ?)", rows, stop_on_error=True
            )
        assert (caught.value.row, caught.value.rows) == (40, 40)
        found = conn.read_arrow("SELECT id, t FROM many_flight_keys ORDER BY id")
        assert found["t"].to_pylist() == [f"text {number}" for number in range(40)]


def test_a_row_that_cannot_be_bound_reports_what_the_server_refused_before(url: str) -> None:
    rows: list[tuple[object, ...]] = [(200, 1, 1), (5, 1, 1), (201, 1, 1), (object(), 1, 1)]
    with ifx.connect(url) as conn:
        with pytest.raises(ifx.Error) as caught:
            conn.cursor().executemany("INSERT INTO many_flight VALUES (?, ?, ?)", rows)  # type: ignore[arg-type]
        assert caught.value.row == 3
        assert [each.row for each in caught.value.refused] == [1]
        assert caught.value.rows == (0, 2)
        conn.rollback()


def test_a_lost_connection_says_that_rows_may_be_in_effect(server: Server, url: str) -> None:
    for autocommit, text in ((False, "which the server rolls back"), (True, "Check before you repeat")):
        conn = ifx.connect(url, autocommit=autocommit)
        link = socket_of(conn)
        assert link is not None

        def rows(link: socket.socket = link) -> Iterator[tuple[int, int]]:
            for row in range(ROWS):
                if row == 5:
                    link.shutdown(socket.SHUT_RDWR)
                yield 7, row

        with pytest.raises(ifx.OperationalError, match=text):
            conn.cursor().executemany(UPDATE, rows())
        assert conn.closed


def test_what_was_sent_ahead_does_not_run_on_when_the_client_has_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server must not execute rows in its inbox once their client is gone."""
    monkeypatch.setattr(adaptive_window, "IN_FLIGHT_SECONDS", 1000.0)  # all rows at once, like another driver
    with (
        Server() as own
    ):  # a server whose last session is this one: the end of sessions of other tests would hide its end
        slow, url = registered(own), own.url("stores_demo")
        create_table(url)
        conn = ifx.connect(url, autocommit=True)
        cursor = conn.cursor()
        cursor.executemany(UPDATE, [(1, 0)])
        slow.calls, slow.seconds = 0, 0.1
        running = Background(lambda: cursor.executemany(UPDATE, [(7, row) for row in range(ROWS)]))
        while slow.calls < 3 and running.thread.is_alive():
            running.thread.join(0.01)
        assert session_of(conn).outstanding_requests == ROWS  # all of them have been sent
        link = socket_of(conn)
        assert link is not None
        link.shutdown(socket.SHUT_RDWR)
        running.join()
        conn.close()
        while own.sessions:
            slow.never.wait(0.01)
        assert slow.calls < 20
        with ifx.connect(url) as conn:
            begun = changed(conn)
        assert begun == list(range(len(begun)))


def test_a_call_that_is_over_before_its_first_row_says_that_none_is_in_effect(url: str) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        _cancel_next(conn)
        with pytest.raises(ifx.QueryCanceled) as caught:
            conn.cursor().executemany(UPDATE, [(7, row) for row in range(ROWS)])
        assert caught.value.rows == 0
        assert changed(conn) == []
