"""Internal errors of the server: the client's error, the entry in the log, and sessions that continue."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import informix_arrow
from informix_arrow.server import Server
from informix_arrow.server.errors import from_duckdb
from informix_arrow.server.session.engine_session import EngineSession
from informix_arrow.server.session.journal import WriteRecorder
from informix_arrow.server.session.open_result import duckdb_error
from informix_arrow.server.session.prepared_plan import PreparedPlan

FAULT = "a fault of the server, made for this test"


def failing(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> None:
    """Make statements with the word `broken` raise `problem` when they are executed."""

    def breaking(method: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: EngineSession, prepared: PreparedPlan, *args: Any, **options: Any) -> Any:
            if "broken" in prepared.sql:
                raise problem
            return method(self, prepared, *args, **options)

        return run

    for name in ("execute", "execute_many", "execute_batch", "query"):
        monkeypatch.setattr(EngineSession, name, breaking(getattr(EngineSession, name)))


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ZeroDivisionError(FAULT))


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT k AS broken, v FROM t", [()]),
        ("UPDATE t SET k = k + 1, v = 'broken'", [()]),
        ("INSERT INTO t (k, v) VALUES (?, 'broken')", [(5,)]),
        ("INSERT INTO t (k, v) VALUES (?, 'broken')", [(n,) for n in range(300)]),
    ],
)
def test_a_fault_of_the_server_is_an_internal_error_with_an_id_that_stands_in_its_log(
    sql: str, rows: list[tuple[int, ...]], caplog: pytest.LogCaptureFixture
) -> None:
    with Server() as server, informix_arrow.connect(server.url("stores_demo")) as conn:
        cursor = conn.cursor()
        cursor.execute("CREATE TABLE t (k INT, v VARCHAR(20))")
        cursor.execute("INSERT INTO t VALUES (1, 'one')")
        with (
            caplog.at_level(logging.ERROR, "informix_arrow.server"),
            pytest.raises(informix_arrow.InternalError) as caught,
        ):
            cursor.executemany(sql, rows) if rows[0] else cursor.execute(sql)
        assert (caught.value.sqlcode, caught.value.isamcode) == (-768, -172)
        name = caught.value.near
        assert name is not None
        assert re.fullmatch(r"fault [0-9a-f]{8}", name)
        assert name in str(caught.value)
        told = [record for record in caplog.records if name in record.getMessage()]
        assert len(told) == 1
        assert told[0].exc_info is not None
        assert str(told[0].exc_info[1]) == FAULT
        # The transaction and the session continue.
        cursor.execute("SELECT k, v FROM t")
        assert cursor.fetchall() == [(1, "one")]


@pytest.mark.usefixtures("broken")
def test_each_fault_of_the_server_has_an_id_of_its_own() -> None:
    with Server() as server, informix_arrow.connect(server.url("stores_demo")) as conn:
        names = set()
        for _ in range(3):
            with pytest.raises(informix_arrow.InternalError) as caught:
                conn.cursor().execute("SELECT tabid, tabname AS broken FROM systables")
            names.add(caught.value.near)
        assert len(names) == 3


@pytest.mark.parametrize("problem", [MemoryError(), pa.ArrowMemoryError("malloc of size 9 failed")])
@pytest.mark.parametrize("rows", [1, 300])
def test_memory_that_runs_out_is_reported_and_the_session_goes_on(
    monkeypatch: pytest.MonkeyPatch, problem: BaseException, rows: int
) -> None:
    failing(monkeypatch, problem)
    with Server() as server, informix_arrow.connect(server.url("stores_demo")) as conn:
        cursor = conn.cursor()
        cursor.execute("CREATE TABLE t (k INT, v VARCHAR(20))")
        cursor.execute("INSERT INTO t VALUES (1, 'one')")
        for sql, parameters in (
            ("SELECT k AS broken, v FROM t", None),
            ("UPDATE t SET v = 'broken'", None),
            ("INSERT INTO t (k, v) VALUES (?, 'broken')", [(n,) for n in range(rows)]),
        ):
            with pytest.raises(informix_arrow.OperationalError) as caught:
                cursor.executemany(sql, parameters) if parameters else cursor.execute(sql)
            assert caught.value.sqlcode == -208
        cursor.execute("SELECT k, v FROM t")
        assert cursor.fetchall() == [(1, "one")]


UNKNOWN = "INTERNAL Error: a complaint that nobody foresaw"


def test_a_complaint_of_duckdb_that_nobody_foresaw_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The error must not be -410, after which a client would prepare and execute the statement again."""

    def breaking(self: WriteRecorder, query: str, parameters: object = None) -> object:
        raise duckdb.InternalException(UNKNOWN)

    with Server() as server, informix_arrow.connect(server.url("stores_demo")) as conn:
        cursor = conn.cursor()
        cursor.execute("CREATE TABLE t (k INT, v VARCHAR(20))")
        cursor.execute("INSERT INTO t VALUES (1, 'one')")
        monkeypatch.setattr(WriteRecorder, "execute", breaking)
        with (
            caplog.at_level(logging.ERROR, "informix_arrow.server"),
            pytest.raises(informix_arrow.InternalError) as caught,
        ):
            cursor.execute("UPDATE t SET v = 'two'")
        assert (caught.value.sqlcode, caught.value.isamcode) == (-768, -172)
        told = [record for record in caplog.records if str(caught.value.near) in record.getMessage()]
        assert len(told) == 1
        assert UNKNOWN in told[0].getMessage()
        cursor.execute("SELECT k, v FROM t")
        assert cursor.fetchall() == [(1, "one")]


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (pa.ArrowMemoryError("malloc of size 9 failed"), -208),
        (MemoryError(), -208),
        (OSError("Out of Memory Error: could not allocate"), -208),
        (OSError("Invalid Input Error: a complaint that nobody foresaw"), -768),
    ],
)
def test_errors_of_a_reader_of_rows_are_distinguished(problem: Exception, code: int) -> None:
    assert from_duckdb(duckdb_error(problem)).sqlcode == code
