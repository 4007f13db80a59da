"""Statements that need more memory than the server has: they are refused or ended, and the server continues."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.internals import engine_of

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.server.session.duck_instance import DuckInstance

TOO_LONG = -881
LONGEST = 32739


@pytest.fixture(scope="module")
def small() -> Iterator[Server]:
    with Server(memory_limit="200MB", statement_memory_limit="60MB") as server:
        with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
            connection.execute("CREATE TABLE texts (k INTEGER, v LVARCHAR(20000), w LVARCHAR(20000))")
            connection.execute(
                "INSERT INTO texts SELECT tabid, rpad('x', 20000, 'y'), rpad('ü', 9000, 'ü') "
                "FROM systables WHERE tabid < 4"
            )
        yield server


@pytest.fixture
def connection(small: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(small.url("stores_demo"), autocommit=True) as connection:
        yield connection


def growing(times: int) -> str:
    """Return an expression for a text that is tripled ``times`` times."""
    source = "(SELECT v AS a FROM texts)"
    for _ in range(times):
        source = f"(SELECT a || a || a AS a FROM {source})"
    return source


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT rpad('x', 1500000000, 'y'), k FROM texts", ()),
        ("SELECT lpad('x', 1500000000, 'y'), k FROM texts", ()),
        ("SELECT lpad('x', k * 1500000, 'y'), k FROM texts", ()),
        ("SELECT rpad('x', ?, 'y'), k FROM texts", (1500000000,)),
        (f"SELECT rpad('x', {LONGEST + 1}, 'y'), k FROM texts", ()),
        ("SELECT space(1500000000), k FROM texts", ()),
        ("SELECT length(space(k * 1000000)), k FROM texts", ()),
        ("SELECT v || v, k FROM texts", ()),
        ("SELECT concat(v, v), k FROM texts", ()),
        ("SELECT ? || ?, k FROM texts", ("x" * 20000, "y" * 20000)),
        ("SELECT replace(v, 'y', v), k FROM texts", ()),
        ("SELECT replace(?, 'y', ?), k FROM texts", ("y" * 30000, "z" * 30000)),
        (f"SELECT length(a), 1 FROM {growing(20)}", ()),
        ("UPDATE texts SET w = rpad(w, 1500000000, 'y')", ()),
        ("INSERT INTO texts VALUES (9, 'x', lpad('x', 1500000000, 'y'))", ()),
        ("DELETE FROM texts WHERE rpad(v, k * 1000000, 'y') = 'z'", ()),
    ],
)
def test_a_text_longer_than_any_is_refused_before_it_is_made(
    connection: ifx.Connection, sql: str, parameters: tuple[object, ...]
) -> None:
    with pytest.raises(ifx.DataError) as caught:
        connection.execute(sql, parameters).fetchall()
    assert caught.value.sqlcode == TOO_LONG
    assert connection.execute("SELECT count(*), max(length(v)) FROM texts").fetchall() == [(3, 20000)]


def test_texts_that_fit_are_made_whole(connection: ifx.Connection) -> None:
    rows = connection.execute(
        f"SELECT rpad('x', {LONGEST}, 'y'), lpad('x', k, 'y'), rpad('x', k * 300, 'y'), replace(v, 'y', 'z'), "
        "rpad('x', NULL, 'y'), length(v || substr(v, 1, 12739)), k FROM texts WHERE k = 2"
    ).fetchall()
    assert rows == [("x" + "y" * (LONGEST - 1), "yx", "x" + "y" * 599, "x" + "z" * 19999, None, LONGEST, 2)]


def test_a_multibyte_text_is_measured_in_bytes(connection: ifx.Connection) -> None:
    """9000 letters of two bytes: twice that exceeds the limit of a text, although it has only 18000 letters."""
    with pytest.raises(ifx.DataError) as caught:
        connection.execute("SELECT w || w, k FROM texts").fetchall()
    assert caught.value.sqlcode == TOO_LONG
    assert connection.execute("SELECT length(w), k FROM texts WHERE k = 1").fetchone() == (18000, 1)


def test_a_statement_that_memory_does_not_suffice_for_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without temporary files the statement fails with -208. Other statements continue."""
    monkeypatch.setattr(DuckInstance, "_temporary", lambda *_: "")
    with (
        Server(memory_limit="40MB") as server,
        ifx.connect(server.url("stores_demo"), autocommit=True) as greedy,
        ifx.connect(server.url("stores_demo"), autocommit=True) as other,
    ):
        other.execute("CREATE TEMP TABLE mine (k INTEGER, v VARCHAR(20))")
        other.execute("INSERT INTO mine VALUES (1, 'here')")
        for _ in range(3):
            with pytest.raises(ifx.OperationalError) as caught:
                greedy.execute(
                    "SELECT count(DISTINCT rpad(a.tabname || b.tabname || a.tabid, 20000, b.tabname)), 1 "
                    "FROM systables a, systables b"
                ).fetchall()
            assert caught.value.sqlcode == -208
            assert other.execute("SELECT k, v FROM mine").fetchall() == [(1, "here")]
            assert greedy.execute("SELECT tabid, tabname FROM systables WHERE tabid = 1").fetchall() == [
                (1, "systables")
            ]


def test_an_endless_statement_ends_when_it_is_cancelled_and_its_memory_comes_back(small: Server) -> None:
    with ifx.connect(small.url("stores_demo"), autocommit=True) as connection:
        timer = threading.Timer(0.5, connection.cancel)
        timer.start()
        began = time.monotonic()
        with pytest.raises(ifx.QueryCanceled):
            connection.execute(
                "SELECT sum(length(rpad(a.tabname, 20000, b.tabname))), 1 FROM systables a, systables b, systables c, "
                "systables d"
            ).fetchall()
        timer.join()
        assert time.monotonic() - began < 20
        assert connection.execute("SELECT count(*), 1 FROM texts").fetchall() == [(3, 1)]


def held_by_duckdb(server: Server) -> int:
    """Return DuckDB's bytes in memory and in temporary files."""
    assert engine_of(server) is not None
    con = engine_of(server).connect()
    try:
        row = con.execute(
            "SELECT sum(memory_usage_bytes) + sum(temporary_storage_bytes) FROM duckdb_memory()"
        ).fetchone()
    finally:
        con.close()
    assert row is not None
    return int(row[0])


def test_the_memory_of_a_statement_comes_back_when_it_is_interrupted(small: Server) -> None:
    """One statement of each kind that collects much before its first row: sorting, grouping, joining."""
    cross = "FROM systables a, systables b, systables c, systables d"
    text = "rpad(a.tabname || b.tabname || c.tabid || d.tabid, 2000, b.tabname)"
    quiet = threading.Event()  # never set, only used to wait
    with ifx.connect(small.url("stores_demo"), autocommit=True) as connection:
        assert connection.execute("SELECT count(*), 1 FROM texts").fetchall() == [(3, 1)]
        before = held_by_duckdb(small)
        for sql in (
            f"SELECT {text} AS x, 1 {cross} ORDER BY 1",
            f"SELECT count(DISTINCT {text}), 1 {cross}",
            f"SELECT {text} AS x, count(*) {cross} GROUP BY 1",
        ):
            ended = threading.Event()

            def cancel_when_large(ended: threading.Event = ended) -> None:
                while not ended.wait(0.02) and held_by_duckdb(small) < before + (40 << 20):
                    pass
                connection.cancel()

            watcher = threading.Thread(target=cancel_when_large)
            watcher.start()
            try:
                with pytest.raises(ifx.QueryCanceled):
                    connection.execute(sql).fetchall()
            finally:
                ended.set()
                watcher.join()
            until = time.monotonic() + 60
            while held_by_duckdb(small) > before + (8 << 20) and time.monotonic() < until:
                quiet.wait(0.05)
            assert held_by_duckdb(small) <= before + (8 << 20), sql
            assert connection.execute("SELECT count(*), 1 FROM texts").fetchall() == [(3, 1)]


@pytest.mark.parametrize("amount", ["lots", "", "12", "1XB"])
def test_a_limit_that_is_none_is_named_at_the_start(amount: str) -> None:
    for setting in ("memory_limit", "statement_memory_limit"):
        if setting == "statement_memory_limit" and not amount:
            continue  # the default is half of memory_limit
        with pytest.raises(ValueError, match=rf"^{setting} must be an amount such as '2GB', not '{amount}'"):
            Server(**{setting: amount}).start()


def test_temporary_files_are_in_the_given_folder_and_removed(tmp_path: Path) -> None:
    with (
        Server(memory_limit="100MB", temp_directory=tmp_path / "spill") as server,
        ifx.connect(server.url("stores_demo"), autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE t (k INTEGER, v LVARCHAR(30000))")
        pairs = "FROM systables a, systables b WHERE b.tabid < 50"
        connection.execute(
            "INSERT INTO t SELECT a.tabid, rpad(a.tabname || b.tabid || 'x', 30000, a.tabid || b.tabname || b.tabid) "
            f"{pairs}"
        )
        assert any((tmp_path / "spill").iterdir())
        expected = connection.execute(f"SELECT count(*), 30000 {pairs}").fetchone()
        assert connection.execute("SELECT count(*), max(length(v)) FROM t").fetchone() == expected
    assert not (tmp_path / "spill").exists()
