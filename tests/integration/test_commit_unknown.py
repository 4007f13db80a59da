"""A COMMIT whose reply is lost: it is unknown whether the changes are permanent, which the error's class says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.integration.aio_support import run

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server
from informix_arrow.server.handlers.client_stream import ClientDisconnected
from informix_arrow.server.session.transaction import SessionTransaction

INSERT = "INSERT INTO commit_unknown VALUES (1, 12345)"
ROWS = pa.table({"id": pa.array([1], pa.int32()), "sentinel": pa.array([12345], pa.int32())})


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("DROP TABLE IF EXISTS commit_unknown")
        conn.execute("CREATE TABLE commit_unknown (id INT, sentinel INT)")
    return url


@pytest.fixture(params=[True, False], ids=["in effect", "not in effect"])
def answers_get_lost(
    request: pytest.FixtureRequest, url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Break the connection before the reply arrives, after the server has committed or instead."""
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("DELETE FROM commit_unknown")
    commit = SessionTransaction.commit

    def lost(self: SessionTransaction) -> None:
        if request.param:
            commit(self)
        raise ClientDisconnected("the answer is lost")

    with monkeypatch.context() as patch:
        patch.setattr(SessionTransaction, "commit", lost)
        yield
    with ifx.connect(url, lock_wait=30) as conn:
        found = conn.read_arrow("SELECT sentinel FROM commit_unknown")["sentinel"].to_pylist()
        assert found == [12345] * int(request.param)


def by_method(url: str) -> None:
    conn = ifx.connect(url)
    conn.execute(INSERT)
    try:
        conn.commit()
    finally:
        assert conn.closed


def by_sql(url: str) -> None:
    conn = ifx.connect(url)
    conn.execute(INSERT)
    conn.execute("COMMIT WORK")


def by_block(url: str) -> None:
    conn = ifx.connect(url)
    with conn.transaction(), conn.transaction():
        conn.execute(INSERT)


def by_connection(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute(INSERT)


def by_pool(url: str) -> None:
    with ifx.Pool(url, max_size=1) as pool, pool.connection() as conn:
        conn.execute(INSERT)


def by_load(url: str) -> None:
    ifx.connect(url).write_arrow("commit_unknown", ROWS)


def by_load_at_once(url: str) -> None:
    ifx.write_arrow("commit_unknown", ROWS, url)


WAYS: list[Callable[[str], Any]] = [
    by_method, by_sql, by_block, by_connection, by_pool, by_load, by_load_at_once
]  # fmt: skip


@pytest.mark.usefixtures("answers_get_lost")
@pytest.mark.parametrize("way", WAYS)
def test_a_lost_answer_to_commit_has_a_class_of_its_own(url: str, way: Callable[[str], Any]) -> None:
    with pytest.raises(
        ifx.CommitUnknown, match=r"may or may not be committed. Check before you repeat"
    ) as caught:
        way(url)
    assert isinstance(caught.value, ifx.OperationalError)
    assert isinstance(caught.value.__cause__, ifx.OperationalError)


@pytest.mark.usefixtures("answers_get_lost")
@pytest.mark.parametrize("way", ["method", "block", "connection", "pool", "load"])
def test_it_has_so_in_asyncio(url: str, way: str) -> None:
    async def main() -> None:
        if way == "pool":
            async with aio.AsyncPool(url, max_size=1) as pool, pool.connection() as conn:
                await conn.execute(INSERT)
        elif way == "connection":
            async with await aio.connect(url) as conn:
                await conn.execute(INSERT)
        else:
            conn = await aio.connect(url)
            try:
                if way == "load":
                    await conn.write_arrow("commit_unknown", ROWS)
                elif way == "block":
                    async with conn.transaction():
                        await conn.execute(INSERT)
                else:
                    await conn.execute(INSERT)
                    await conn.commit()
            finally:
                await conn.close()

    with pytest.raises(ifx.CommitUnknown, match="Check before you repeat"):
        run(main, debug=False)


def test_a_connection_that_was_lost_before_its_commit_has_committed_nothing(server: Server, url: str) -> None:
    conn = ifx.connect(url)
    server.faults.drop_next(matching="commit_unknown")
    with pytest.raises(ifx.OperationalError):
        conn.execute(INSERT)
    with pytest.raises(ifx.OperationalError) as caught:
        conn.commit()
    assert not isinstance(caught.value, ifx.CommitUnknown)
