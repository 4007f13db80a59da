"""Large results over the network: the server's memory, the time to the first row, and interruptions."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from tests.subprocess_server import ForkedCommand

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import QueryCanceled

from .raw import RawClient
from .test_server_login import eventually

MIB = 1 << 20
ROWS = 10_000_000
MANY = "SELECT a.id * 4000 + b.id n, a.tail FROM streamed a, streamed b"  # 16,000,000 rows


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    rows = pa.table({"id": pa.array(range(4000), pa.int32()), "tail": pa.array([77] * 4000, pa.int32())})
    with ifx.connect(url) as conn:
        conn.write_arrow("streamed", rows, mode="create")
        conn.execute("CREATE TABLE streamed_log (id INTEGER PRIMARY KEY, tail INTEGER)")
    return url


def resident(pid: int) -> int:
    """Return the bytes of a process in memory that it does not share."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.timeout(300)
def test_ten_million_rows_cost_the_server_no_memory_and_begin_at_once() -> None:
    with ForkedCommand("serve", "--port", "0", environment={"INFORMIX_ARROW_PASSWORD": "in4mix"}) as process:
        try:
            address = process.stdout.readline().removeprefix("listening on ").strip()
            with ifx.connect(f"informix://informix:in4mix@{address}/stores_demo?server=informix") as conn:
                conn.write_arrow("s", pa.table({"id": pa.array(range(10_000), pa.int32())}), mode="create")
                sql = "SELECT a.id, b.id tail FROM s a, s b WHERE b.id < 1000"
                conn.query("SELECT * FROM s").read_all()
                before, peak, rows, firsts = resident(process.pid), 0, 0, []
                for _ in range(3):
                    began = time.perf_counter()
                    cursor = conn.cursor()
                    cursor.execute(sql)
                    assert cursor.fetchone() is not None
                    firsts.append(time.perf_counter() - began)
                    cursor.close()
                began = time.perf_counter()
                for batch in conn.query(sql).batches():
                    rows += batch.num_rows
                    peak = max(peak, resident(process.pid))
                whole = time.perf_counter() - began
                assert rows == ROWS
                assert peak - before < 150 * MIB, (before / MIB, peak / MIB)
                assert min(firsts) < whole / 4, (firsts, whole)  # usually a fiftieth
        finally:
            process.terminate()
            assert process.wait(30) == 0


def test_the_first_rows_of_a_query_leave_before_it_is_done(url: str) -> None:
    """The query would never end: 4,000 to the power of 5 rows."""
    endless = "SELECT a.id n, e.tail FROM streamed a, streamed b, streamed c, streamed d, streamed e"
    with ifx.connect(url) as conn:
        with conn.cursor() as cursor:
            cursor.execute(endless)
            rows = cursor.fetchmany(3)
        assert len(rows) == 3
        assert {tail for _, tail in rows} == {77}
        assert conn.read_arrow("SELECT COUNT(*) n FROM streamed")["n"].to_pylist() == [4000]


def test_statements_run_between_the_fetches_of_a_large_result(url: str) -> None:
    sql = "SELECT a.id * 100 + b.id n, a.tail FROM streamed a, streamed b WHERE b.id < 100"
    with ifx.connect(url) as conn:
        conn.execute("DELETE FROM streamed_log WHERE 1 = 1")
        total = rows = 0
        with conn.cursor() as cursor, conn.cursor() as other:
            cursor.execute(sql)
            while batch := cursor.fetchmany(50_000):
                other.execute("INSERT INTO streamed_log VALUES (?, 77)", (rows,))
                other.execute("SELECT COUNT(*), 77 FROM streamed_log")
                assert other.fetchone()[1] == 77
                total += sum(n for n, _ in batch)
                rows += len(batch)
        assert rows == 400_000
        assert total == sum(range(400_000))
        assert conn.read_arrow("SELECT COUNT(*) n FROM streamed_log")["n"].to_pylist() == [8]


def test_a_large_result_that_is_canceled_leaves_the_session_in_order(url: str) -> None:
    with ifx.connect(url) as conn:
        over = threading.Event()

        def cancel() -> None:  # repeatedly, as nothing that could be cancelled runs between two fetches
            while not over.wait(0.05):
                conn.cancel()

        canceling = threading.Thread(target=cancel)
        batches = conn.query(MANY).batches()
        assert next(iter(batches)).num_rows
        canceling.start()
        try:
            with pytest.raises(QueryCanceled):
                for _ in batches:
                    pass
        finally:
            over.set()
            canceling.join()
        assert conn.read_arrow("SELECT COUNT(*) n FROM streamed")["n"].to_pylist() == [4000]


ENDLESS = "SELECT a.id n, e.tail FROM streamed a, streamed b, streamed c, streamed d, streamed e"


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_the_end_of_a_transaction_that_waits_for_a_held_result_can_be_cut_short(url: str, end: str) -> None:
    """The commit takes effect. Only rows of the result that did not exist yet are lost."""
    with ifx.connect(url, autocommit=False) as conn:
        conn.execute("DELETE FROM streamed_log WHERE 1 = 1")
        conn.commit()
        conn.execute("INSERT INTO streamed_log VALUES (1, 77)")
        with conn.cursor(withhold=True) as cursor:
            cursor.execute(ENDLESS)
            assert len(cursor.fetchmany(3)) == 3
            over = threading.Event()

            def cancel() -> None:
                while not over.wait(0.1):  # the first one may come before what it is meant for
                    conn.cancel()

            canceling = threading.Thread(target=cancel)
            canceling.start()
            try:
                getattr(conn, end)()
            finally:
                over.set()
                canceling.join()
            reader = cursor.fetch_record_batch()
            with pytest.raises(QueryCanceled):
                for _ in reader:
                    pass
        assert not conn.in_transaction
        found = conn.read_arrow("SELECT * FROM streamed_log").to_pylist()
        assert found == ([{"id": 1, "tail": 77}] if end == "commit" else [])


@pytest.mark.parametrize(
    "message", [m.Commit(), m.RollbackToSavepoint("s"), m.DbOpen("sysmaster"), m.DbClose()]
)
def test_what_waits_for_a_held_result_ends_when_the_client_goes(
    server: Server, url: str, message: m.Message
) -> None:
    before = server.sessions
    gone = RawClient(server, "stores_demo")
    if not isinstance(message, (m.DbOpen, m.DbClose)):
        gone.must(m.Begin())
        gone.must(m.SetSavepoint("s"))
    number = gone.prepare(ENDLESS).statement_id
    gone.must(m.Id(number), m.CursorName("c"), m.Hold(), m.Open())
    gone.must(m.Id(number), m.Fetch(64))
    gone.send(message, m.EndOfTurn())
    gone.socket.close()
    assert eventually(lambda: server.sessions == before)


def test_the_query_log_reports_that_a_result_is_incomplete(server: Server, url: str) -> None:
    with ifx.connect(url) as conn:
        with conn.cursor() as cursor:
            cursor.execute(MANY)
            assert cursor.fetchone() is not None
        conn.read_arrow("SELECT * FROM streamed")
    assert server.queries.matching("a.tail FROM streamed a")[-1].rows == -1
    assert server.queries.matching(r"\* FROM streamed")[-1].rows == 4000
