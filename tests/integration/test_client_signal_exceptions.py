"""Exceptions raised at any point, as by a signal handler: Ctrl-C, or the soft time limit of a task."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from tests.internals import runner_of
from tests.stress import LONG_SOAK_ONLY

import informix_arrow as ifx
from informix_arrow.server import Server

pytestmark = pytest.mark.slow


class Struck(BaseException):
    pass


class Strike:
    """Raises ``Struck`` after ``number`` places where Python handles signals: at the beginning of each function, and
    after each call of a C function. An exception in a finalizer is not propagated."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.where = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_return"):
            return
        if self.left:
            self.left -= 1
            return
        sys.setprofile(None)
        self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}, {event} {frame.f_code.co_name}"
        raise Struck

    def __enter__(self) -> Strike:
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


@pytest.fixture(scope="module")
def url(server: Server) -> Iterator[str]:
    url = server.url("stores_demo")
    with ifx.connect(url) as conn:
        conn.execute("CREATE TABLE struck (k INT)")
        conn.execute("CREATE TABLE struck_source (k INT)")
        conn.cursor().executemany("INSERT INTO struck_source VALUES (?)", [(k,) for k in range(5)])
    yield url
    with ifx.connect(url, lock_wait=30) as conn:
        conn.execute("DROP TABLE struck")
        conn.execute("DROP TABLE struck_source")


def block(conn: ifx.Connection) -> None:
    with conn.transaction():
        conn.execute("INSERT INTO struck VALUES (1)")


def table(conn: ifx.Connection) -> None:
    conn.read_arrow("SELECT k FROM struck_source WHERE k < ?", (3,), timeout=60)


def cursor(conn: ifx.Connection) -> None:
    with conn.cursor() as cur:
        cur.execute("SELECT k FROM struck_source ORDER BY k")
        cur.fetchone()
        cur.fetchmany(3)


def _usable(conn: ifx.Connection) -> str:
    """Return the error of a statement on the connection in another thread; "" if there is none."""
    found: list[str] = []

    def look() -> None:
        try:
            assert conn.execute("SELECT 4711 FROM systables WHERE tabid = 1").fetchall() == [(4711,)]
            conn.commit()
        except BaseException as error:  # noqa: BLE001 - told
            found.append(repr(error))
        else:
            found.append("")

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(60)
    return found[0] if found else "it hangs"


every_23rd_place = pytest.mark.parametrize("step", [23, pytest.param(1, marks=LONG_SOAK_ONLY)])


@pytest.mark.timeout(240)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@every_23rd_place
@pytest.mark.parametrize("work", [block, table, cursor], ids=lambda work: work.__name__)
def test_a_connection_is_usable_or_closed_wherever_it_was_struck(
    url: str, work: Callable[[ifx.Connection], None], step: int
) -> None:
    struck, usable, wrong = 0, 0, []
    for number in itertools.count(0, step):
        with ifx.connect(url) as conn:
            strike = Strike(number)
            try:
                with strike:
                    work(conn)
            except (Struck, ifx.Error):
                assert strike.where
            if not strike.where:
                break
            struck += 1
            if conn.closed:
                continue
            usable += 1
            if why := _usable(conn):
                wrong.append(f"{strike.where}: {why}")
                runner_of(conn).abandon()
    assert wrong == []
    assert 0 < usable < struck


@pytest.mark.timeout(240)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@every_23rd_place
@pytest.mark.parametrize("fresh", [True, False], ids=["opened", "idle"])
def test_a_pool_loses_no_member_wherever_its_holder_was_struck(url: str, fresh: bool, step: int) -> None:
    struck, wrong = 0, []
    for number in itertools.count(0, step):
        with ifx.Pool(url, max_size=1, timeout=5) as pool:
            if not fresh:
                with pool.connection():
                    pass
            strike = Strike(number)
            try:
                with strike, pool.connection() as conn:
                    conn.ping()
            except Struck:
                pass
            if not strike.where:
                break
            struck += 1
            conn = None  # type: ignore[assignment] - as a caller forgets it
            try:
                with pool.connection() as other:
                    assert other.execute("SELECT 4711 FROM systables WHERE tabid = 1").fetchall() == [(4711,)]
                    assert pool.statistics.size == pool.statistics.in_use == 1
            except (ifx.Error, AssertionError) as error:
                wrong.append(f"{strike.where}: {error}")
    assert wrong == []
    assert struck > 100 / step
