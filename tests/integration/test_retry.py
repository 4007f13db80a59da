"""run_transaction() repeats whole transactions if that may help and is safe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.aio_support import run

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server
from informix_arrow.server.handlers.client_stream import ClientDisconnected
from informix_arrow.server.session.transaction import SessionTransaction

ADD = "UPDATE retrying SET n = n + 1, sentinel = 12345 WHERE id = 1"


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE retrying (id INT PRIMARY KEY, n INT, sentinel INT)")
        conn.execute("INSERT INTO retrying VALUES (1, 0, 0)")
    yield url
    with ifx.connect(url, autocommit=True, lock_wait=30) as conn:
        conn.execute("DROP TABLE retrying")


def numbers(url: str) -> list[dict[str, int]]:
    with ifx.connect(url, lock_wait=30) as conn:
        found: list[dict[str, int]] = conn.read_arrow("SELECT n, sentinel FROM retrying").to_pylist()
        return found


ONCE = [{"n": 1, "sentinel": 12345}]


@pytest.mark.parametrize("kind", ["pool", "connection", "url"])
def test_a_lock_that_passes_is_waited_for_with_the_whole_transaction(url: str, kind: str) -> None:
    attempts = 0
    holder = ifx.connect(url)
    holder.execute("UPDATE retrying SET n = n WHERE id = 1")

    def work(conn: ifx.Connection) -> str:
        nonlocal attempts
        attempts += 1
        if attempts == 3:
            holder.rollback()
        conn.execute("INSERT INTO retrying VALUES (?, 7, 7)", (attempts + 10,))
        conn.execute(ADD)
        return f"{attempts} attempts"

    pool = ifx.Pool(url, max_size=1)
    conn = ifx.connect(url)
    where: ifx.Pool | ifx.Connection | str = {"pool": pool, "connection": conn, "url": url}[kind]  # type: ignore[assignment]
    assert ifx.run_transaction(where, work, backoff=0) == "3 attempts"
    assert not conn.in_transaction
    conn.close()
    pool.close()
    holder.close()
    assert numbers(url) == [*ONCE, {"n": 7, "sentinel": 7}]  # of the attempt that committed


def test_the_last_attempts_error_is_raised(url: str) -> None:
    attempts = []
    with ifx.connect(url) as holder, ifx.connect(url) as conn:
        holder.execute("UPDATE retrying SET n = n WHERE id = 1")
        with pytest.raises(ifx.OperationalError) as caught:
            ifx.run_transaction(
                conn, lambda conn: (attempts.append(1), conn.execute(ADD)), retries=2, backoff=0
            )
        assert caught.value.transient
        assert len(attempts) == 3
        assert not conn.in_transaction
        with pytest.raises(ifx.OperationalError):
            ifx.run_transaction(conn, lambda conn: (attempts.append(1), conn.execute(ADD)), retries=0)
        assert len(attempts) == 4
    assert numbers(url) == [{"n": 0, "sentinel": 0}]


def test_what_does_not_pass_by_itself_is_not_repeated(url: str) -> None:
    attempts = []

    def work(conn: ifx.Connection) -> None:
        attempts.append(conn.execute(ADD))
        conn.execute("INSERT INTO retrying VALUES (1, 1, 1)")

    with pytest.raises(ifx.IntegrityError) as caught:
        ifx.run_transaction(url, work)
    assert not caught.value.transient
    with pytest.raises(ZeroDivisionError):
        ifx.run_transaction(url, lambda conn: (attempts.append(conn.execute(ADD)), 1 // 0))
    assert len(attempts) == 2
    assert numbers(url) == [{"n": 0, "sentinel": 0}]


def test_a_lost_connection_is_replaced_where_there_is_another(server: Server, url: str) -> None:
    with ifx.Pool(url, max_size=1) as pool:
        server.faults.drop_next(matching="UPDATE retrying")
        ifx.run_transaction(pool, lambda conn: conn.execute(ADD), backoff=0)
    with ifx.connect(url) as conn:
        server.faults.drop_next(matching="UPDATE retrying")
        with pytest.raises(ifx.OperationalError) as caught:
            ifx.run_transaction(conn, lambda conn: conn.execute(ADD), backoff=0)
        assert caught.value.transient
        assert conn.closed
        with pytest.raises(ifx.OperationalError, match="lost") as caught:
            conn.execute(ADD)
        assert caught.value.transient
    assert numbers(url) == ONCE


@pytest.mark.parametrize("commits", [True, False])
def test_a_commit_in_doubt_is_never_repeated(
    url: str, commits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, attempts = SessionTransaction.commit, []

    def lost(self: SessionTransaction) -> None:
        if commits:
            commit(self)
        raise ClientDisconnected("the answer is lost")

    with monkeypatch.context() as patch:
        patch.setattr(SessionTransaction, "commit", lost)
        with pytest.raises(ifx.CommitUnknown) as caught:
            ifx.run_transaction(url, lambda conn: attempts.append(conn.execute(ADD)), backoff=0)
    assert not caught.value.transient
    assert len(attempts) == 1
    assert numbers(url)[0]["n"] == int(commits)


def test_it_runs_so_in_asyncio(server: Server, url: str) -> None:
    attempts = 0

    async def work(conn: aio.AsyncConnection) -> int:
        nonlocal attempts
        attempts += 1
        await conn.execute(ADD)
        return attempts

    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1) as pool:
            for where in (pool, url):
                server.faults.drop_next(matching="UPDATE retrying")
                await aio.run_transaction(where, work, backoff=0)

    run(main, debug=False)
    assert attempts == 4
    assert numbers(url)[0] == {"n": 2, "sentinel": 12345}


def test_wrong_use_is_reported(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute(ADD)
        for where, given, text in (
            (conn, {}, "transaction open"),
            (url, {"retries": -1}, "retries"),
            (url, {"backoff": float("nan")}, "backoff"),
            (5, {}, "got int"),
        ):
            with pytest.raises(ifx.InterfaceError, match=text):
                ifx.run_transaction(where, lambda conn: conn.execute(ADD), **given)  # type: ignore[arg-type]
        conn.rollback()


def test_which_errors_pass_by_themselves(url: str) -> None:
    with ifx.connect(url) as conn, ifx.connect(url) as other:
        other.execute("LOCK TABLE retrying IN EXCLUSIVE MODE")
        for sql in (
            ADD,
            "SELECT n FROM retrying",
            "DELETE FROM retrying",
            "LOCK TABLE retrying IN SHARE MODE",
        ):
            with pytest.raises(ifx.OperationalError) as caught:
                conn.execute(sql).fetchall()
            assert caught.value.transient, sql
        other.rollback()
        for sql in ("SELEC", "SELECT * FROM nosuch", "INSERT INTO retrying VALUES ('x', 1, 1)"):
            with pytest.raises(ifx.Error) as wrong:
                conn.execute(sql)
            assert not wrong.value.transient, sql
        with pytest.raises(ifx.QueryTimeout) as late:
            conn.execute(
                "SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, syscolumns d", timeout=0.01
            )
        assert not late.value.transient
    with pytest.raises(ifx.OperationalError) as unreachable:
        ifx.connect("informix://u:p@127.0.0.1:1/d?server=s")
    assert unreachable.value.transient
    with pytest.raises(ifx.OperationalError) as refused:
        ifx.connect(url, password="wrong")
    assert not refused.value.transient
    with ifx.Pool(url, max_size=1) as pool, pool.connection():
        with pytest.raises(ifx.OperationalError, match="max_size") as full:
            pool.acquire(timeout=0.01)
        assert full.value.transient
