"""An interrupt ends a statement during its long parsing and planning, long before it would be executed."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.unit.server.sql_session import Db

from informix_arrow.server.errors import SqlError
from informix_arrow.server.parse.parse_query import parse
from informix_arrow.server.session.engine_session import EngineSession

pytestmark = pytest.mark.slow

_MANY = 300
_TEXTS = ", ".join(f"'{i}'" for i in range(2 * _MANY))
LONG = {
    "conditions": "select tail from t where " + " and ".join(f"k <> {i}" for i in range(_MANY)),
    "alternatives": "select tail from t where " + " or ".join(f"k = {i}" for i in range(_MANY)),
    "a list": f"select tail from t where k in ({', '.join(map(str, range(2 * _MANY)))})",
    "a list of texts": f"select tail from t where name in ({_TEXTS})",
    "columns": f"select {', '.join(f'k + {i}' for i in range(_MANY))} from t",
    "a set": f"select set{{{', '.join(map(str, range(2 * _MANY)))}}} from t",
    "cases": f"select case {' '.join(f'when k = {i} then {i}' for i in range(_MANY))} end from t",
    "a change": "update t set tail = 1 where " + " or ".join(f"k = {i}" for i in range(_MANY)),
    "a removal": "delete from t where " + " or ".join(f"k = {i}" for i in range(_MANY)),
    "an insert": "insert into t (k) select k from t where " + " or ".join(f"k = {i}" for i in range(_MANY)),
}


def fill(db: Db) -> None:
    db.run("create table t (k integer, name varchar(9), tail integer)")


class Stopped(Exception):
    pass


@pytest.mark.parametrize("kind", ["conditions", "a list", "columns", "an insert"])
def test_the_parser_asks_for_each_operand_and_each_node(kind: str) -> None:
    sql, calls = LONG[kind], 0

    def check(at: int) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise Stopped

    parse(sql, False, lambda: check(0))
    whole = calls
    assert whole > 3 * _MANY
    for at in (1, whole // 3, whole):
        calls = 0
        with pytest.raises(Stopped):
            parse(sql, False, lambda at=at: check(at))  # type: ignore[misc]
        assert calls == at


@contextmanager
def _urged(session: EngineSession) -> Iterator[None]:
    """Interrupt the session again and again until the block ends, like the server."""
    done = threading.Event()

    def urge() -> None:
        while not done.wait(0.005):
            session.interrupt()

    thread = threading.Thread(target=urge)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _asking(session: EngineSession, monkeypatch: pytest.MonkeyPatch, at: int = 0) -> list[float]:
    """Return the CPU times, in seconds, at which the session checks for an interrupt. The check number ``at`` finds
    one."""
    asked: list[float] = []
    is_set = type(session.interrupted).is_set

    def ask() -> bool:
        asked.append(time.thread_time())
        if len(asked) == at:
            session.interrupt()
        return is_set(session.interrupted)

    monkeypatch.setattr(session.interrupted, "is_set", ask)
    return asked


@pytest.mark.parametrize("sql", LONG.values(), ids=LONG)
def test_an_interrupt_ends_the_planning(db: Db, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _asking(db.session, monkeypatch)
    gc.disable()  # a garbage collection takes as long as the planning
    try:
        began = time.thread_time()
        db.session.prepare(sql)
        ended = time.thread_time()
    finally:
        gc.enable()
    # After the last check DuckDB works, which is interrupted directly.
    silences = [b - a for a, b in itertools.pairwise([began, *asked])]
    assert max(silences) < (ended - began) / 2  # the longest time is for the tokens, which are made at once
    whole = len(asked)
    assert whole > 10 * _MANY
    for at in (2, whole // 3, whole):  # the first check is for interrupts of an earlier statement
        sql = f"{sql} "  # another text, as plans are cached
        asked = _asking(db.session, monkeypatch, at)
        with pytest.raises(SqlError) as caught:
            db.session.prepare(sql)
        assert caught.value.sqlcode == -213
        assert len(asked) == at
    monkeypatch.undo()
    assert db.rows("select tail from t") == []


def test_an_interrupted_plan_leaves_the_transaction_as_it_was(db: Db) -> None:
    db.session.begin()
    db.run("insert into t values (1, 'a', 7)")
    with _urged(db.session), pytest.raises(SqlError) as caught:
        db.session.prepare(LONG["conditions"])
    assert caught.value.sqlcode == -213
    assert db.rows("select tail from t") == [(7,)]
    db.session.commit()
    assert db.rows("select tail from t") == [(7,)]
