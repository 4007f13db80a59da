"""Examples of typed user code. test_typing_examples.py checks them with ``mypy --strict``; they are not run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from typing_extensions import assert_type

import informix_arrow as ifx
from informix_arrow import aio, dbapi

URL = "informix://user:password@db1:9088/stores?server=ol_stores"


def connecting() -> ifx.Connection:
    conn = ifx.connect(
        URL, autocommit=True, isolation="last committed", lock_wait=10, statement_cache_size=128
    )
    assert_type(conn.isolation, str | None)
    assert_type(conn.lock_wait, int | None)
    assert_type(conn.database, str)
    assert_type(conn.in_transaction, bool)
    conn.isolation = "dirty"
    conn.lock_wait = -1
    conn.autocommit = False
    conn.ping()
    return conn


def reading(conn: ifx.Connection, day: date) -> int:
    table = conn.read_arrow("SELECT * FROM orders WHERE day >= ?", (day,), timeout=30, isolation="dirty")
    conn.read_arrow("SELECT * FROM orders WHERE day >= :day", {"day": day})
    ifx.read_arrow("SELECT * FROM orders WHERE day >= :1", URL, [day], strings="large")
    with conn.query("SELECT * FROM orders", batch_rows=10_000, decimals="float64", lock_wait=5) as result:
        assert_type(result, ifx.Result)
        return sum(int(batch.num_rows) for batch in result.batches()) + int(table.num_rows)


def writing(conn: ifx.Connection, frame: object) -> int:
    report = conn.write_arrow("orders", frame, mode="append", on_error="collect")
    assert_type(report, ifx.WriteReport)
    return report.rows


def cursors(conn: ifx.Connection) -> Iterator[tuple[Any, ...]]:
    with conn.cursor() as cursor:
        cursor.execute("INSERT INTO orders VALUES (?, ?)", (1, None))
        cursor.executemany("INSERT INTO orders VALUES (:a, :b)", [{"a": 1, "b": 2}])
        cursor.executemany("INSERT INTO orders VALUES (?, ?)", ((n, n) for n in range(10)))
        assert_type(cursor.rowcount, int)
        assert_type(cursor.lastrowid, int | None)
        yield from cursor.execute("SELECT a, b FROM orders").fetchmany(100)
    found = conn.execute("SELECT COUNT(*) FROM orders").fetchone()
    if found is not None:
        yield found


def what_belongs_to(conn: ifx.Connection) -> ifx.Connection:
    assert_type(conn.cursor().connection, ifx.Connection)
    assert_type(conn.cursor(scrollable=True).connection, ifx.Connection)
    with conn.transaction() as block:
        assert_type(block.connection, ifx.Connection)
    return of_any_cursor(conn.execute("SELECT a FROM orders"))


def of_any_cursor(cursor: ifx.Cursor) -> ifx.Connection:
    conn: ifx.Connection = cursor.connection
    return conn


async def asyncio(conn: aio.AsyncConnection) -> None:
    assert_type((await conn.execute("SELECT a FROM orders")).connection, aio.AsyncConnection)
    async with conn.query("SELECT * FROM orders", strings="large") as result:
        assert_type(result, aio.AsyncResult)
    async with aio.connect(URL, autocommit=True) as own:
        assert_type(own, aio.AsyncConnection)


class Integration(ifx.Connection):
    """A subclass that an integration registers. The attribute `connection` of its cursors has this class."""

    def cursor_of_mine(self) -> None:
        assert_type(Integration.cursor(self).connection, Integration)


def transactions(conn: ifx.Connection) -> None:
    with conn.transaction() as outer:
        assert_type(outer.savepoint_name, str | None)
        with conn.transaction("mine", force_rollback=True):
            conn.execute("DELETE FROM orders")
        raise ifx.Rollback(outer)


def pooling() -> int:
    with ifx.Pool(URL, min_size=1, max_size=8) as pool, pool.connection() as conn:
        assert_type(conn, ifx.Connection)
        return int(conn.read_arrow("SELECT * FROM orders").num_rows)


def repeated(pool: ifx.Pool) -> str:
    def work(conn: ifx.Connection) -> str:
        return str(conn.execute("SELECT a FROM orders").fetchone())

    assert_type(ifx.run_transaction(pool, work, retries=5, backoff=0.5), str)
    return ifx.run_transaction(ifx.connect(URL, tls_ca_password="x"), work)


def failing(conn: ifx.Connection) -> str | None:
    try:
        with conn.transaction():
            conn.execute("UPDATE orders SET a = 1")
    except ifx.OperationalError as error:
        assert_type(error.sqlcode, int | None)
        assert_type(error.statement, str | None)
        return error.near
    return None


def by_the_book() -> None:
    conn = dbapi.connect(URL)
    conn.cursor().execute("SELECT 1 FROM systables").fetchall()
    conn.rollback()
    conn.close()
