"""Ending statements by cancel() from other threads, time limits and Ctrl-C, and the state of the connection
afterwards."""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import runner_of, session_of, transport_of

import informix_arrow as ifx
from informix_arrow.operations.io_steps import CancelReason
from informix_arrow.server import Server
from informix_arrow.wire.errors import QueryCanceled, QueryTimeout

ENDLESS = (
    "SELECT COUNT(*) n FROM cancel_many a, cancel_many b, cancel_many c, cancel_many d "
    "WHERE a.id * b.id - c.id * d.id = 17"
)
LONG = 60.0  # seconds; no test should wait this long


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    rows = pa.table(
        {"id": pa.array(range(2000), pa.int32()), "sentinel": pa.array([12345] * 2000, pa.int32())}
    )
    with ifx.connect(url) as conn:
        for name in ("cancel_many", "cancel_target"):
            conn.execute(f"DROP TABLE IF EXISTS {name}")
        conn.write_arrow("cancel_many", rows, mode="create")
        conn.execute("CREATE TABLE cancel_target (id INT, sentinel INT)")
    return url


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url) as connection:
        connection.execute("DELETE FROM cancel_target")
        connection.commit()
        yield connection


def answers(conn: ifx.Connection) -> bool:
    """Return whether a statement gets its own reply."""
    number = random.randrange(1 << 30)
    found = conn.read_arrow("SELECT ?::INT n, 12345 sentinel FROM systables WHERE tabid = 1", (number,))
    return bool(found.to_pylist() == [{"n": number, "sentinel": 12345}])


class Background:
    """Runs a function in a thread, and keeps its exception or result."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self.error: BaseException | None = None
        self.result: Any = None

        def run() -> None:
            try:
                self.result = action()
            except BaseException as error:  # noqa: BLE001 - looked at by the test
                self.error = error

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def join(self) -> None:
        self.thread.join(LONG)
        assert not self.thread.is_alive()


def waiting(conn: ifx.Connection) -> None:
    """Wait until a call of ``conn`` in another thread waits for its reply."""
    transport, pause = transport_of(conn), threading.Event()
    for _ in range(int(LONG * 1000)):
        if transport._waiting:
            return
        pause.wait(0.001)
    raise AssertionError("nothing waits on the connection")


def test_cancel_ends_a_running_statement_and_leaves_the_connection_usable(conn: ifx.Connection) -> None:
    running = Background(lambda: conn.read_arrow(ENDLESS))
    waiting(conn)
    while running.thread.is_alive():  # it may still wait for the reply to its PREPARE
        conn.cancel()
        running.thread.join(0.05)
    assert isinstance(running.error, QueryCanceled)
    assert not isinstance(running.error, QueryTimeout)
    assert running.error.sqlcode == -213
    assert not conn.closed
    assert answers(conn)


def test_a_transaction_survives_a_canceled_statement(conn: ifx.Connection, url: str) -> None:
    conn.execute("INSERT INTO cancel_target VALUES (1, 12345)")
    with pytest.raises(QueryTimeout):
        conn.read_arrow(ENDLESS, timeout=0.05)
    assert conn.in_transaction
    conn.execute("INSERT INTO cancel_target VALUES (2, 12345)")
    conn.commit()
    assert ifx.read_arrow("SELECT id FROM cancel_target ORDER BY id", url)["id"].to_pylist() == [1, 2]


def test_a_statement_without_rows_is_canceled_and_undone(conn: ifx.Connection) -> None:
    sql = ENDLESS.replace("SELECT COUNT(*) n", "INSERT INTO cancel_target SELECT a.id, b.id")
    for _ in range(2):
        with pytest.raises(QueryTimeout) as caught:
            conn.cursor().execute(sql, timeout=0.05)
        assert caught.value.sqlcode == -213
        assert "0.05 s" in str(caught.value)
    assert conn.read_arrow("SELECT * FROM cancel_target").num_rows == 0


def test_cancel_without_a_statement_does_nothing(conn: ifx.Connection) -> None:
    for _ in range(20):
        conn.cancel()
        assert answers(conn)


def test_a_timeout_that_is_not_over_changes_nothing(conn: ifx.Connection) -> None:
    found = conn.read_arrow("SELECT id FROM cancel_many ORDER BY id", timeout=LONG)
    assert found["id"].to_pylist() == list(range(2000))


def test_eight_threads_cancel_at_once(conn: ifx.Connection) -> None:
    for _ in range(3):
        running = Background(lambda: conn.read_arrow(ENDLESS))
        waiting(conn)
        stop = threading.Event()

        def shout(stop: threading.Event = stop) -> None:
            while not stop.wait(0.001):
                conn.cancel()

        threads = [threading.Thread(target=shout) for _ in range(8)]
        for thread in threads:
            thread.start()
        running.join()
        stop.set()
        for thread in threads:
            thread.join(LONG)
        assert isinstance(running.error, QueryCanceled)
        assert answers(conn)


def test_every_answer_belongs_to_its_question_whenever_cancel_comes(conn: ifx.Connection) -> None:
    """A late urgent byte must not interrupt the next statement, nor leave a reply for it."""
    rng, go, end = random.Random(1), threading.Semaphore(0), threading.Event()

    def shout() -> None:
        pause = threading.Event()
        while go.acquire() and not end.is_set():
            pause.wait(rng.choice((0.0, 0.001, 0.003, 0.01)) * rng.random())
            conn.cancel()

    shouting = threading.Thread(target=shout)
    shouting.start()
    try:
        for number in range(150):
            count = number % 50
            sql = f"SELECT {number} n, a.id, 12345 sentinel FROM cancel_many a WHERE a.id < {count} ORDER BY a.id"
            go.release()
            try:
                found = conn.read_arrow(sql)
            except QueryCanceled:
                continue
            assert found["n"].to_pylist() == [number] * count
            assert found["id"].to_pylist() == list(range(count))
            assert set(found["sentinel"].to_pylist()) <= {12345}
    finally:
        end.set()
        go.release()
        shouting.join(LONG)
    assert not shouting.is_alive()
    assert answers(conn)
    assert not conn.closed


def test_after_a_call_that_ended_before_its_cancel_nothing_is_hit(conn: ifx.Connection) -> None:
    """The urgent byte is sent although the reply is already on its way. It must not affect the next statement."""
    transport = transport_of(conn)
    wait = transport._wait
    for number in range(50):
        call_was_asked = threading.Event()

        def late(*args: Any, seen: threading.Event = call_was_asked) -> None:
            if not seen.is_set():
                seen.set()
                transport.interrupt()  # requested here, and sent as soon as the wait begins
            wait(*args)

        transport._wait = late  # type: ignore[method-assign]
        try:
            conn.read_arrow(
                f"SELECT COUNT(*) n FROM cancel_target WHERE {number} = {number}"
            )  # waits in _wait
        except QueryCanceled:
            pass
        finally:
            del transport._wait  # type: ignore[method-assign]
        assert call_was_asked.is_set()
        assert answers(conn)


def test_cancel_while_rows_are_fetched(conn: ifx.Connection) -> None:
    sql = "SELECT a.id, b.id other, 12345 sentinel FROM cancel_many a, cancel_many b WHERE b.id < 400"
    seen = 0
    with conn.query(sql, batch_rows=1000) as result, pytest.raises(QueryCanceled):  # noqa: PT012
        for batch in result.batches():
            seen += batch.num_rows
            assert set(batch["sentinel"].to_pylist()) == {12345}
            if seen >= 200_000:
                _cancel_next(conn)
    assert 200_000 <= seen < 800_000
    assert answers(conn)


def _cancel_next(conn: ifx.Connection) -> None:
    """Cancel the next call of the connection as it begins."""
    link = runner_of(conn)
    run = link.transport.run

    def canceled(exchange: Any, call: Any = None, **keywords: Any) -> Any:
        del link.transport.run  # type: ignore[method-assign]
        call.cancel_reason = CancelReason.CANCEL
        return run(exchange, call, **keywords)

    link.transport.run = canceled  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize("times", [1, 2, 3], ids=["first time", "second", "third"])
@pytest.mark.parametrize("rows", [1, 2000], ids=["small", "large"])
def test_a_cancel_that_the_server_does_not_see_ends_the_opening_too(
    conn: ifx.Connection, rows: int, times: int
) -> None:
    """At each step the server has already replied, so there is nothing for it to interrupt."""
    sql = f"SELECT id, 'a long text, so that there are several fetches' text, {rows} n FROM cancel_many WHERE id < ?"
    for step in range(1, 30):
        conn.read_arrow(f"SELECT {step} n FROM systables WHERE tabid = 1")
        fresh = f"{sql} AND {step} = {step}"
        for _ in range(times - 1):
            conn.query(fresh, (rows,)).close()
        steps = _cancel_at(conn, step)
        error: QueryCanceled | None = None
        try:
            with conn.query(fresh, (rows,), batch_rows=50) as result:
                assert steps[0] < step, steps  # the call had ended before this step
                assert result.read_all().num_rows == rows
                break
        except QueryCanceled as canceled:
            error = canceled
        assert (type(error), error and error.sqlcode) == (QueryCanceled, -213)
        assert answers(conn)
    assert step > 1


def _cancel_at(conn: ifx.Connection, number: int) -> list[int]:
    """Cancel the next call at step ``number``, without sending a byte to the server. Return the number of its steps."""
    link = runner_of(conn)
    run = link.transport.run
    steps = [0]

    def canceled(exchange: Any, call: Any = None, **keywords: Any) -> Any:
        del link.transport.run  # type: ignore[method-assign]

        def stepping() -> Any:
            received = None
            while True:
                try:
                    step = exchange.send(received)
                except StopIteration as stop:
                    return stop.value
                received = yield step
                steps[0] += 1
                if steps[0] == number:
                    call.cancel_reason = CancelReason.CANCEL

        return run(stepping(), call, **keywords)

    link.transport.run = canceled  # type: ignore[method-assign,assignment]
    return steps


def test_cancel_while_loading_undoes_the_load(conn: ifx.Connection) -> None:
    begun, batch = threading.Event(), pa.record_batch({"id": [1] * 5000, "sentinel": [12345] * 5000})

    def endless() -> Iterator[pa.RecordBatch]:
        while True:
            begun.set()
            yield batch

    loading = Background(lambda: conn.write_arrow("cancel_target", endless()))
    assert begun.wait(LONG)
    while loading.thread.is_alive():
        conn.cancel()
        loading.thread.join(0.05)
    assert isinstance(loading.error, QueryCanceled)
    assert loading.error.sqlcode == -213
    assert not conn.closed
    assert conn.read_arrow("SELECT COUNT(*) n FROM cancel_target")["n"].to_pylist() == [0]


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_load_has_a_time_limit_too(conn: ifx.Connection, method: Any) -> None:
    batch = pa.record_batch({"id": [1] * 500, "sentinel": [12345] * 500})

    def endless() -> Iterator[pa.RecordBatch]:
        while True:
            yield batch

    with pytest.raises(QueryTimeout):
        conn.write_arrow("cancel_target", endless(), method=method, timeout=0.2)
    assert conn.read_arrow("SELECT COUNT(*) n FROM cancel_target")["n"].to_pylist() == [0]


def test_executemany_without_end_is_canceled(conn: ifx.Connection) -> None:
    def endless() -> Iterator[tuple[int, int]]:
        while True:
            yield (1, 12345)

    cursor = conn.cursor()
    with pytest.raises(QueryTimeout):
        cursor.executemany("INSERT INTO cancel_target VALUES (?, ?)", endless(), timeout=0.2)
    conn.rollback()
    assert conn.read_arrow("SELECT COUNT(*) n FROM cancel_target")["n"].to_pylist() == [0]


def test_a_connection_may_have_a_time_limit_for_all_its_calls(url: str) -> None:
    with ifx.connect(url, call_timeout=0.05) as conn:  # type: ignore[call-arg, unused-ignore]
        with pytest.raises(QueryTimeout):
            conn.read_arrow(ENDLESS)
        assert conn.read_arrow("SELECT COUNT(*) n FROM cancel_many", timeout=LONG)["n"].to_pylist() == [2000]


def test_whoever_waits_for_another_thread_has_a_time_limit_too(conn: ifx.Connection) -> None:
    has, leave = threading.Event(), threading.Event()

    def hold() -> bool:
        with runner_of(conn).lock:  # as a running exchange does
            has.set()
            return leave.wait(LONG)

    holding = Background(hold)
    assert has.wait(LONG)
    with pytest.raises(QueryTimeout, match="in use by another call"):
        conn.read_arrow("SELECT 1 n FROM systables WHERE tabid = 1", timeout=0.01)
    leave.set()
    holding.join()
    assert holding.result is True
    assert answers(conn)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("restart", [True, False])
def test_ctrl_c_ends_the_statement_and_the_connection_stays(conn: ifx.Connection, restart: bool) -> None:
    """This also holds if another library has installed a handler that lets system calls continue."""
    main = threading.main_thread().ident
    assert main is not None
    done = threading.Event()

    def press() -> None:
        waiting(conn)
        while not done.wait(0.2):
            if transport_of(conn)._waiting and runner_of(conn).session.call.cancel_reason is None:  # type: ignore[union-attr]
                signal.pthread_kill(main, signal.SIGINT)
                return

    signal.siginterrupt(signal.SIGINT, not restart)
    pressing = threading.Thread(target=press)
    pressing.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            conn.read_arrow(ENDLESS)
    finally:
        done.set()
        pressing.join(LONG)
        signal.siginterrupt(signal.SIGINT, True)
    assert not conn.closed
    assert answers(conn)


def test_a_result_that_ctrl_c_took_from_its_reader_is_released(conn: ifx.Connection) -> None:
    """The query succeeded, but its caller has no result to close. The driver must close its cursor."""
    transport = transport_of(conn)
    wait, struck = transport._readiness.wait, []  # type: ignore[union-attr]

    class Struck:
        def wait(self, reading: bool, writing: bool, seconds: float) -> bool:
            ready = wait(reading, writing, seconds)
            if not struck and ready:
                struck.append(True)
                raise KeyboardInterrupt
            return ready

    prepared = conn.query("SELECT id FROM cancel_many")  # so that the statement needs no PREPARE
    prepared.close()
    transport._readiness = Struck()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        conn.query("SELECT id FROM cancel_many")
    assert struck
    assert not conn.closed
    assert answers(conn)
    assert not session_of(conn).orphans


def test_a_server_that_does_not_react_costs_the_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from informix_arrow.transport import blocking, limits

    monkeypatch.setattr(limits, "GRACE", 0.05)
    monkeypatch.setattr(blocking, "send_urgent", lambda link, byte: True)  # the urgent byte gets lost
    conn = ifx.connect(url, lock_wait=int(LONG))
    with ifx.connect(url) as holding:
        # Not ENDLESS: it would never be stopped, and would use both cores during all following tests.
        holding.execute("LOCK TABLE cancel_target IN EXCLUSIVE MODE")
        with pytest.raises(QueryTimeout, match="did not react"):
            conn.execute("INSERT INTO cancel_target VALUES (1, 12345)", timeout=0.05)
    assert conn.closed
    with pytest.raises(ifx.OperationalError, match="connection was lost"):
        conn.commit()
    conn.close()


def test_ctrl_c_at_the_moment_when_the_lock_is_taken_does_not_leave_it_taken(conn: ifx.Connection) -> None:
    """Otherwise the connection would be locked for ever by a thread that does not know that it holds the lock."""
    link = runner_of(conn)
    lock: Any = link.lock

    class Struck:
        def acquire(self, timeout: float) -> bool:
            assert lock.acquire(timeout=timeout)
            raise KeyboardInterrupt

        def __getattr__(self, name: str) -> Any:
            return getattr(lock, name)

    link.lock = Struck()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        conn.read_arrow("SELECT id FROM cancel_target", timeout=LONG)
    link.lock = lock
    other = Background(lambda: answers(conn))
    other.join()
    assert other.result is True


def test_ctrl_c_while_an_error_is_looked_at_closes_the_connection(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After such an interrupt it is unknown whether requests and replies still match."""

    def struck(error: BaseException) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(session_of(conn)), "usable_after", lambda session, error: struck(error))
    with pytest.raises(KeyboardInterrupt):
        conn.read_arrow("SELECT nosuch FROM cancel_target")
    monkeypatch.undo()
    assert conn.closed
    with pytest.raises(ifx.OperationalError, match="connection was lost"):
        conn.ping()
