"""The pool on the embedded server: lending, waiting, checking and retiring connections."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.fault_proxy import eventually
from tests.internals import runner_of, session_of, transport_of

import informix_arrow as ifx
from informix_arrow.aio import AsyncPool
from informix_arrow.pool import Pool
from informix_arrow.server import Server
from informix_arrow.wire.errors import QueryCanceled, QueryTimeout

from .aio_support import SOAK, open_files

ONE = "SELECT 1 AS v FROM systables WHERE tabid = 1"


@pytest.fixture
def make(server: Server) -> Iterator[Callable[..., Pool]]:
    pools: list[Pool] = []

    def pool(**keywords: object) -> Pool:
        pools.append(Pool(server.url("stores_demo"), **keywords))  # type: ignore[arg-type]
        return pools[-1]

    yield pool
    for each in pools:
        each.close()
        assert each.statistics.size == each.statistics.in_use


def until(condition: Callable[[], bool]) -> None:
    """Wait until another thread has made ``condition()`` true."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)


def test_a_connection_is_lent_again_after_it_came_back(make: Callable[..., Pool]) -> None:
    pool = make()
    with pool.connection() as first:
        assert first.read_arrow(ONE).num_rows == 1
    with pool.connection() as second:
        assert session_of(second) is session_of(first)
    s = pool.statistics
    assert (s.size, s.idle, s.in_use, s.served, s.opened) == (1, 1, 0, 2, 1)


def test_min_size_is_opened_at_once_and_no_more_than_max_size_ever(make: Callable[..., Pool]) -> None:
    pool = make(min_size=2, max_size=3, timeout=0)
    assert pool.statistics.opened == 2
    lent = [pool.acquire() for _ in range(3)]
    assert len({id(each) for each in lent}) == 3
    with pytest.raises(ifx.OperationalError, match=r"within 0.05 seconds. All 3 are in use"):
        pool.acquire(timeout=0.05)
    with pytest.raises(ifx.OperationalError, match=r"within 0 seconds"):
        pool.acquire()
    assert pool.statistics.timeouts == 2
    for each in lent:
        pool.release(each)
    assert pool.statistics.idle == 3


def test_whoever_asks_first_is_served_first(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1)
    held = pool.acquire()
    order: list[int] = []
    threads = []
    for number in range(5):

        def work(number: int = number) -> None:
            with pool.connection():
                order.append(number)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        until(lambda number=number: pool.statistics.waiting == number + 1)  # type: ignore[misc]
    pool.release(held)
    for thread in threads:
        thread.join(60)
    assert order == [0, 1, 2, 3, 4]
    assert pool.statistics.opened == 1


def test_work_that_was_not_committed_is_undone_and_the_next_borrower_sees_nothing_of_it(
    make: Callable[..., Pool],
) -> None:
    pool = make(max_size=1)
    with pool.connection() as conn:
        conn.execute("CREATE TABLE pool_rows (a INT)")
    conn = pool.acquire()
    conn.execute("INSERT INTO pool_rows VALUES (1)")
    assert conn.in_transaction
    pool.release(conn)
    with pool.connection() as conn:
        assert not conn.in_transaction
        assert conn.read_arrow("SELECT a FROM pool_rows").num_rows == 0
        conn.execute("DROP TABLE pool_rows")


def test_a_block_that_raises_rolls_back(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1)
    with pool.connection() as conn:
        conn.execute("CREATE TABLE pool_raises (a INT)")

    def fail(conn: ifx.Connection) -> None:
        conn.execute("INSERT INTO pool_raises VALUES (1)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), pool.connection() as conn:
        fail(conn)
    with pool.connection() as conn:
        assert conn.read_arrow("SELECT a FROM pool_raises").num_rows == 0
        conn.execute("DROP TABLE pool_raises")


def test_a_connection_that_was_closed_or_lost_is_replaced(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1, check_after=0)
    with pool.connection() as first:
        first.close()
    assert (pool.statistics.broken, pool.statistics.size) == (1, 0)
    with pool.connection() as second:
        assert session_of(second) is not session_of(first)
    transport_of(second).close()  # as if the network had failed unnoticed
    with pool.connection() as third:
        assert third.read_arrow(ONE).num_rows == 1
    assert session_of(third) is not session_of(second)
    assert pool.statistics.broken == 2


def test_connections_are_retired_for_their_age_and_for_being_idle(make: Callable[..., Pool]) -> None:
    pool = make(max_age=0.0)
    pool.release(pool.acquire())
    assert (pool.statistics.retired, pool.statistics.idle) == (1, 0)
    pool = make(min_size=1, max_size=3, max_idle=0.0)
    for each in [pool.acquire(), pool.acquire(), pool.acquire()]:
        pool.release(each)
    pool.release(pool.acquire())
    assert pool.statistics.retired == 2  # down to min_size


def test_what_was_not_lent_cannot_be_given_back(make: Callable[..., Pool], server: Server) -> None:
    pool = make()
    conn = pool.acquire()
    pool.release(conn)
    with pytest.raises(ifx.InterfaceError, match="already returned"):
        pool.release(conn)
    with ifx.connect(server.url("stores_demo")) as foreign, pytest.raises(ifx.InterfaceError):
        pool.release(foreign)


def test_what_was_given_back_is_refused_while_another_one_uses_it(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1)
    with pool.connection() as old:
        cursor = old.execute("SELECT tabid FROM systables ORDER BY tabid")
        cursor.fetchone()
        named = old.cursor("stale")
        result = old.query(ONE)
        maker = old.transaction()
    with pool.connection() as new:
        assert session_of(new) is session_of(old)
        new.execute("CREATE TEMP TABLE pool_stale (a INT)")
        new.autocommit = False
        new.execute("INSERT INTO pool_stale VALUES (1)")
        assert new.in_transaction
        assert (old.closed, old.in_transaction) == (True, False)
        for use in (
            cursor.fetchall,
            lambda: old.execute("INSERT INTO pool_stale VALUES (2)"),
            lambda: old.read_arrow(ONE),
            lambda: old.execute(ONE, timeout=30),
            lambda: cursor.execute(ONE),
            lambda: named.execute(ONE),
            lambda: cursor.executemany("INSERT INTO pool_stale VALUES (?)", [(2,)]),
            result.read_all,
            old.commit,
            old.rollback,
            old.ping,
            old.cursor,
            old.tables,
            lambda: old.write_arrow("pool_stale", new.read_arrow(ONE)),
            lambda: setattr(old, "autocommit", True),
            lambda: setattr(old, "isolation", "dirty"),
            maker.__enter__,
        ):
            with pytest.raises(ifx.InterfaceError, match="returned to its pool"):
                use()
        cursor.close()
        result.close()
        old.cancel()
        old.close()
        assert new.in_transaction
        assert new.read_arrow("SELECT a FROM pool_stale")["a"].to_pylist() == [1]
        new.execute("DROP TABLE pool_stale")


def test_who_waits_for_a_connection_that_is_given_back_meanwhile_is_refused(
    make: Callable[..., Pool],
) -> None:
    pool = make(max_size=1)
    old = pool.acquire()
    failed: list[BaseException] = []

    def use() -> None:
        try:
            old.execute("CREATE TEMP TABLE pool_late (a INT)")
        except ifx.InterfaceError as error:
            failed.append(error)

    thread = threading.Thread(target=use)
    with runner_of(old).lock:  # as if a statement were running
        thread.start()
        threading.Event().wait(0.05)
        pool.release(old)
    thread.join(60)
    assert ["returned to its pool" in str(error) for error in failed] == [True]


def test_a_block_whose_connection_was_given_back_inside_it_commits_nothing_of_another_ones(
    make: Callable[..., Pool],
) -> None:
    pool = make(max_size=1)
    lent: list[ifx.Connection] = []

    def give_back_early() -> None:
        with pool.connection() as old:
            pool.release(old)
            lent.append(pool.acquire())
            lent[0].execute("CREATE TEMP TABLE pool_early (a INT)")
            lent[0].execute("INSERT INTO pool_early VALUES (1)")

    with pytest.raises(ifx.InterfaceError, match="already returned"):
        give_back_early()
    assert lent[0].in_transaction
    pool.release(lent[0])


def test_a_closed_pool_lends_nothing_and_wakes_those_who_wait(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1)
    held = pool.acquire()
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            pool.acquire()
        except ifx.InterfaceError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: pool.statistics.waiting == 1)
    pool.close()
    thread.join(60)
    assert [str(e) for e in errors] == ["The pool is closed."]
    with pytest.raises(ifx.InterfaceError, match="The pool is closed"):
        pool.acquire()
    pool.release(held)
    assert held.closed
    assert pool.statistics.size == 0


def test_a_connection_that_cannot_be_opened_frees_its_place_for_the_next(server: Server) -> None:
    pool = Pool(server.url("stores_demo"), max_size=1, password="wrong")
    for _ in range(3):
        with pytest.raises(ifx.OperationalError, match="-951"):
            pool.acquire()
    assert pool.statistics.size == 0


@pytest.mark.parametrize(
    ("url", "keywords", "match"),
    [
        (5, {}, "The connection must be given as a string such as informix://.*, got int"),
        ("nonsense://", {}, "not an informix:// URL"),
        ("informix://u:p@h/d?server=s", {"port": "abc"}, "port must be a whole number"),
    ],
)
def test_where_to_connect_is_looked_at_when_the_pool_is_made(url: Any, keywords: Any, match: str) -> None:
    for kind in (Pool, AsyncPool):
        with pytest.raises(ifx.InterfaceError, match=match):
            kind(url, **keywords)


def test_configure_sets_up_every_connection(make: Callable[..., Pool]) -> None:
    pool = make(configure=lambda conn: conn.execute("CREATE TEMP TABLE mine (a INT)"))
    lent = [pool.acquire(), pool.acquire()]
    for each in lent:
        assert each.read_arrow("SELECT a FROM mine").num_rows == 0
        pool.release(each)


def test_many_threads_get_their_own_answers(make: Callable[..., Pool]) -> None:
    pool = make(max_size=4)
    wrong: list[object] = []

    def work(number: int) -> None:
        for n in range(20):
            token = number * 1000 + n
            with pool.connection() as conn:
                sql = "SELECT ?::INT AS v FROM systables WHERE tabid = 1"
                got = conn.read_arrow(sql, (token,))["v"][0].as_py()
            if got != token:
                wrong.append((token, got))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    s = pool.statistics
    assert s.served == 240
    assert s.opened <= 4


def test_a_member_comes_back_clean_and_results_of_its_former_holder_end_with_an_error(
    make: Callable[..., Pool],
) -> None:
    pool = make(max_size=1, fetch_buffer_size=4096)
    with pool.connection() as conn:
        conn.execute("CREATE TABLE pool_clean (a INT, text VARCHAR(200))")
        conn.cursor().executemany(
            "INSERT INTO pool_clean VALUES (?, ?)", [(n, "x" * 200) for n in range(500)]
        )
    conn = pool.acquire()
    conn.autocommit = True
    conn.isolation = "dirty"
    conn.lock_wait = 7
    conn.row_factory = "dict"
    batches = conn.query("SELECT * FROM pool_clean", batch_rows=10).batches()
    next(batches)
    pool.release(conn)
    with pytest.raises(ifx.InterfaceError, match="returned to its pool"):
        next(batches)
    with pool.connection() as again:
        assert session_of(again) is session_of(conn)
        assert (again.autocommit, again.isolation, again.lock_wait) == (False, None, None)
        assert again.row_factory == "tuple"
        assert session_of(again).cursors == set()
        again.execute("DROP TABLE pool_clean")


def test_a_connection_in_another_database_is_replaced(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1, autocommit=True)
    with pool.connection() as conn:
        own = conn.database
        conn.execute("DATABASE sysmaster")
    with pool.connection() as other:
        assert session_of(other) is not session_of(conn)
        assert other.database == own
    assert conn.closed


def test_work_that_was_lost_with_its_connection_is_an_error_of_the_block(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1)
    with pool.connection() as conn:
        conn.execute("CREATE TEMP TABLE lost_work (a INT)")

    def lose() -> None:
        with pool.connection() as conn:
            conn.execute("INSERT INTO lost_work VALUES (1)")
            transport_of(conn).close()
            with pytest.raises(ifx.OperationalError):
                conn.read_arrow(ONE)

    with pytest.raises(ifx.OperationalError, match="was lost"):
        lose()


def test_the_reset_hook_is_called_at_every_return_and_its_error_costs_the_connection(
    make: Callable[..., Pool],
) -> None:
    seen: list[bool] = []

    def reset(conn: ifx.Connection) -> None:
        seen.append(conn.in_transaction)
        if len(seen) == 2:
            raise ZeroDivisionError

    pool = make(max_size=1, reset=reset)
    with pool.connection() as first:
        first.execute("CREATE TEMP TABLE reset_rows (a INT)")
    with pytest.raises(ZeroDivisionError), pool.connection() as second:
        assert session_of(second) is session_of(first)
    assert first.closed
    assert (pool.statistics.size, pool.statistics.broken) == (0, 1)
    with pool.connection() as third:
        assert session_of(third) is not session_of(first)
    assert seen == [False] * 3


def test_closing_waits_for_borrowed_connections_on_request(make: Callable[..., Pool]) -> None:
    pool = make(max_size=1)
    held = pool.acquire()
    closing = threading.Thread(target=pool.close, args=(60,))
    closing.start()
    until(lambda: pool._core.closed)
    assert held.read_arrow(ONE).num_rows == 1
    assert closing.is_alive()
    pool.release(held)
    closing.join(60)
    assert not closing.is_alive()
    assert held.closed


@pytest.mark.soak
def test_threads_with_random_cancels_get_their_own_answers_and_the_pool_serves_on(
    server_process: str,
) -> None:
    rows = 2000
    with ifx.connect(server_process) as conn:
        conn.execute("CREATE TABLE pool_soak (id INT NOT NULL, sentinel INT)")
        conn.cursor().executemany("INSERT INTO pool_soak VALUES (?, 12345)", [(n,) for n in range(rows)])
    before = open_files()
    threads_before = threading.active_count()
    counts = {"answered": 0, "interrupted": 0, "late": 0}
    wrong: list[object] = []
    ends = time.monotonic() + SOAK

    def once(conn: ifx.Connection, rng: random.Random, longest: float | None) -> None:
        number = rng.randrange(rows)
        if rng.random() < 0.3:
            sql = "SELECT id, sentinel FROM pool_soak WHERE id >= ? ORDER BY id"
            for batch in conn.query(sql, (number,), batch_rows=300).batches():
                ids = batch["id"].to_pylist()
                if ids != list(range(number, number + len(ids))):
                    wrong.append(("pattern", number, ids))
                number += len(ids)
            if number != rows:
                wrong.append(("short", number))
        else:
            sql = "SELECT ?::INT AS v, 12345 AS sentinel FROM systables WHERE tabid = 1"
            timeout = None if longest is None else rng.choice((None, None, rng.uniform(0.0005, longest)))
            found = conn.read_arrow(sql, (number,), timeout=timeout).to_pylist()
            if found != [{"v": number, "sentinel": 12345}]:
                wrong.append((number, found))

    pool = Pool(server_process, min_size=4, max_size=4, timeout=None, fetch_buffer_size=8192)

    def work(seed: int) -> None:
        rng = random.Random(seed)
        try:
            while time.monotonic() < ends:
                try:
                    with pool.connection() as conn:
                        once(conn, rng, 0.01)
                    counts["answered"] += 1
                except QueryTimeout:
                    counts["late"] += 1
                except QueryCanceled:
                    counts["interrupted"] += 1
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(24)]
    for thread in threads:
        thread.start()
    rng = random.Random(0)
    while time.monotonic() < ends:
        threading.Event().wait(rng.uniform(0, 0.01))
        lent = list(pool._core._lent.values())
        if lent:
            rng.choice(lent).connection.cancel()
    for thread in threads:
        thread.join(120)
    assert wrong == []
    assert (pool.statistics.in_use, pool.statistics.waiting) == (0, 0)
    held = [pool.acquire(60) for _ in range(4)]
    for each in held:
        once(each, rng, None)
        assert session_of(each).cursors == set()
    for each in held:
        pool.release(each)
    pool.close()
    assert wrong == []
    assert pool.statistics.size == 0
    # Fewer, if a session of an earlier test has ended meanwhile.
    eventually(lambda: open_files() <= before, "files are closed")
    eventually(lambda: threading.active_count() <= threads_before, "threads end")
    print(counts)  # shown by pytest -s
    assert all(counts.values())


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (2, 1), (0, 0)])
def test_sizes_that_make_no_sense_are_refused(low: int, high: int) -> None:
    with pytest.raises(ifx.InterfaceError, match="min_size"):
        Pool("informix://h/d", min_size=low, max_size=high)


def test_the_password_is_in_no_repr(server: Server) -> None:
    with Pool(server.url("stores_demo")) as pool:
        assert server.password not in repr(pool)
