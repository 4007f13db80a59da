"""Rows that a query FOR UPDATE has returned are locked until its transaction ends, with every kind of cursor."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from tests.integration.aio_support import run
from tests.integration.test_client_cancel import Background

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

QUERY = "SELECT id, balance, sentinel FROM for_update WHERE id < 5 ORDER BY id FOR UPDATE"


DEADLOCK = (-143, -154, -107, -113)  # ISAM codes of a deadlock, and of a lock timeout


ISOLATIONS = [None, "dirty", "committed", "last committed", "cursor stability", "repeatable"]
_OBSERVERS: dict[str, ifx.Connection] = {}
"""Connections that read committed rows, by URL. All tests share them."""


@pytest.fixture(scope="module")
def table(server: Server) -> Iterator[str]:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE for_update (id INT PRIMARY KEY, balance INT, sentinel INT)")
        rows = [(row, 100, 12345) for row in range(8)]
        conn.cursor().executemany("INSERT INTO for_update VALUES (?, ?, ?)", rows)
    yield url
    while _OBSERVERS:
        _OBSERVERS.popitem()[1].close()
    with ifx.connect(url, autocommit=True, lock_wait=30) as conn:
        conn.execute("DROP TABLE for_update")


@pytest.fixture
def url(table: str) -> str:
    """URL of a database with the table, whose rows have a balance of 100 and no locks."""
    with ifx.connect(table, autocommit=True, lock_wait=30) as conn:
        conn.execute("UPDATE for_update SET balance = 100")
    return table


def locked(url: str) -> list[int]:
    """Return the rows that another session cannot change."""
    found = []
    if url not in _OBSERVERS:
        _OBSERVERS[url] = ifx.connect(url)
    other = _OBSERVERS[url]
    for row in range(8):
        try:
            other.execute("UPDATE for_update SET balance = 0 WHERE id = ?", (row,))
        except ifx.OperationalError:
            found.append(row)
        other.rollback()
    return found


def by_cursor(conn: ifx.Connection) -> int:
    return len(conn.cursor().execute(QUERY).fetchall())


def by_table(conn: ifx.Connection) -> int:
    return conn.read_arrow(QUERY).num_rows


def by_name(conn: ifx.Connection) -> int:
    return len(conn.cursor("named").execute(QUERY).fetchall())


def by_two_at_once(conn: ifx.Connection) -> int:
    """Read with two cursors. Other results are opened and closed meanwhile, with other isolation levels."""
    first, second = conn.cursor(), conn.cursor()
    first.execute(QUERY)
    rows = [first.fetchone()]
    conn.read_arrow("SELECT tabid FROM systables WHERE tabid = 1", isolation="dirty")
    second.execute("SELECT id FROM for_update WHERE id < 2 FOR UPDATE").fetchall()
    conn.read_arrow("SELECT tabid FROM systables WHERE tabid = 1")
    rows += first.fetchall()
    return len(rows)


@pytest.mark.parametrize(
    ("read", "isolation"),
    [
        *((read, isolation) for read in (by_cursor, by_table) for isolation in ISOLATIONS),
        *((read, isolation) for read in (by_name, by_two_at_once) for isolation in (None, "last committed")),
    ],
)
def test_rows_handed_out_stay_locked_until_the_transaction_ends(
    url: str, read: Callable[[ifx.Connection], int], isolation: str | None
) -> None:
    keywords = {} if isolation is None else {"isolation": isolation}
    with ifx.connect(url, **keywords) as conn:
        assert read(conn) == 5
        assert locked(url) == [0, 1, 2, 3, 4]
        conn.read_arrow("SELECT tabid FROM systables WHERE tabid = 1")
        assert conn.isolation == isolation
        assert locked(url) == [0, 1, 2, 3, 4]
        conn.rollback()
        assert locked(url) == []
        assert conn.read_arrow("SELECT sentinel FROM for_update").num_rows == 8
        assert conn.isolation == isolation


def test_a_result_that_was_left_half_read_keeps_what_it_has_handed_out(url: str) -> None:
    with ifx.connect(url) as conn:
        cursor = conn.cursor().execute(QUERY)
        assert cursor.fetchone() == (0, 100, 12345)
        assert cursor.fetchone() == (1, 100, 12345)
        cursor.close()
        conn.ping()
        assert {0, 1} <= set(locked(url)) <= {0, 1, 2, 3, 4}
        conn.commit()
        assert locked(url) == []


def test_rows_stay_locked_in_asyncio_too(url: str) -> None:
    async def main() -> None:
        async with await aio.connect(url) as conn:
            assert (await conn.read_arrow(QUERY)).num_rows == 5
            assert locked(url) == [0, 1, 2, 3, 4]
            await conn.rollback()
            assert locked(url) == []

    run(main, debug=False)


@pytest.mark.parametrize("arrow", [False, True])
def test_money_that_is_transferred_by_many_is_neither_made_nor_lost(url: str, arrow: bool) -> None:
    def transfers(seed: int) -> None:
        rng = random.Random(seed)
        with ifx.connect(url, lock_wait=30) as conn:
            for _ in range(8):
                one, two = sorted(rng.sample(range(8), 2))
                sql = "SELECT id, balance FROM for_update WHERE id IN (?, ?) FOR UPDATE"
                try:
                    if arrow:
                        found = conn.read_arrow(sql, (one, two)).to_pylist()
                        balances = {row["id"]: row["balance"] for row in found}
                    else:
                        balances = dict(conn.cursor().execute(sql, (one, two)).fetchall())
                    amount = rng.randrange(1, 20)
                    for row, change in ((one, -amount), (two, amount)):
                        new = balances[row] + change
                        conn.execute("UPDATE for_update SET balance = ? WHERE id = ?", (new, row))
                    conn.commit()
                except ifx.OperationalError as error:
                    if error.isamcode not in DEADLOCK:
                        raise
                    conn.rollback()

    threads = [Background(lambda seed=seed: transfers(seed)) for seed in range(4)]  # type: ignore[misc]
    for each in threads:
        each.join()
        assert each.error is None, each.error
    with ifx.connect(url) as conn:
        found = conn.read_arrow("SELECT SUM(balance) s, MIN(sentinel) t FROM for_update").to_pylist()
        assert [(int(row["s"]), row["t"]) for row in found] == [(800, 12345)]
