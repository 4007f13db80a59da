"""informix_arrow.aio: reading, writing, transactions and interruptions on one connection."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import warnings
from collections.abc import AsyncIterator

import pyarrow as pa
import pytest
from tests.internals import session_of, stream_of

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.operations.fetch import ServerCursor
from informix_arrow.server import Server
from informix_arrow.wire.errors import QueryCanceled, QueryTimeout

from .aio_support import run, until

COUNT = 3000
ONE = "SELECT 1 AS v FROM systables WHERE tabid = 1"
# Runs too long for any test to wait for its end.
SLOW = "SELECT COUNT(*) AS n FROM aio_rows a, aio_rows b, aio_rows c WHERE MOD(a.id * b.id + c.id, 7919) = 8000 - a.id"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    """Create a table of 3,000 rows with some NULLs and a sentinel as last column, and return the database's URL."""
    with ifx.connect(server.url("stores_demo")) as conn:
        conn.execute("DROP TABLE IF EXISTS aio_rows")
        conn.execute("CREATE TABLE aio_rows (id INT NOT NULL, name VARCHAR(40), sentinel INT)")
        rows = [(n, None if n % 7 == 0 else f"näme {n}") for n in range(COUNT)]
        conn.cursor().executemany("INSERT INTO aio_rows VALUES (?, ?, 12345)", rows)
    return server.url("stores_demo")


def numbers(*batches: pa.RecordBatch) -> list[int]:
    found: list[int] = []
    for batch in batches:
        assert set(batch["sentinel"].to_pylist()) == {12345}
        found += batch["id"].to_pylist()
    return found


# ---- connecting ---------------------------------------------------------------------------------------------------


def test_a_connection_is_opened_by_await_and_by_async_with(url: str) -> None:
    async def main() -> None:
        conn = await aio.connect(url)
        assert not conn.closed
        await conn.close()
        await conn.close()
        async with aio.connect(url) as other:
            assert (await other.read_arrow(ONE))["v"].to_pylist() == [1]
        for each in (conn, other):
            assert each.closed
            with pytest.raises(ifx.InterfaceError, match="closed"):
                await each.read_arrow(ONE)

    run(main)


def test_connect_has_the_parameters_of_the_blocking_one_and_refuses_wrong_ones_at_once() -> None:
    assert inspect.signature(aio.connect).parameters == inspect.signature(ifx.connect).parameters
    with pytest.raises(ifx.InterfaceError, match="Did you mean"):
        aio.connect("informix://h/d", databas="x")


def test_errors_of_the_login_and_of_the_network_arrive(url: str) -> None:
    async def main() -> None:
        with pytest.raises(ifx.OperationalError, match="-951"):
            await aio.connect(url, password="wrong")
        with pytest.raises(ifx.OperationalError, match="Cannot connect"):
            await aio.connect("informix://u:p@127.0.0.1:1/d?server=s")

    run(main)


def test_a_connection_that_nobody_closed_is_reported_and_the_password_is_not(
    url: str, server: Server
) -> None:
    async def main() -> None:
        conn = await aio.connect(url)
        assert server.password not in repr(conn)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del conn
            gc.collect()
        assert any("unclosed <informix_arrow.aio.AsyncConnection" in str(each.message) for each in caught)
        await asyncio.sleep(0)

    run(main)


# ---- reading ------------------------------------------------------------------------------------------------------


def test_a_table_is_the_same_as_the_blocking_connection_reads_it(url: str) -> None:
    sql = "SELECT * FROM aio_rows WHERE id >= ? ORDER BY id"
    with ifx.connect(url, fetch_buffer_size=4096) as blocking:
        expected = blocking.read_arrow(sql, (17,), strings="large")

    async def main() -> None:
        async with aio.connect(url, fetch_buffer_size=4096) as conn:
            assert (await conn.read_arrow(sql, (17,), strings="large")).equals(expected)

    run(main)


def test_batches_come_by_async_for_and_the_schema_is_known_before(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            async with conn.query("SELECT * FROM aio_rows ORDER BY id", batch_rows=1000) as result:
                assert result.schema.names == ["id", "name", "sentinel"]
                assert pa.schema(result) == result.schema
                assert [c.name for c in result.columns] == result.schema.names
                batches = [batch async for batch in result.batches()]
                assert [batch.num_rows for batch in batches] == [1000] * 3
                assert numbers(*batches) == list(range(COUNT))
                with pytest.raises(ifx.InterfaceError, match="already read"):
                    result.batches()
            result = await conn.query("SELECT * FROM aio_rows WHERE id < 0")
            assert (await result.read_all()).schema == result.schema
            with pytest.raises(ifx.ProgrammingError, match="1 placeholder"):
                conn.query("SELECT * FROM aio_rows WHERE id = ?")

    run(main)


def test_results_of_two_tasks_alternate_on_one_connection(url: str) -> None:
    async def read(conn: aio.AsyncConnection, rest: int) -> list[int]:
        sql = "SELECT id, sentinel FROM aio_rows WHERE MOD(id, 5) = ? ORDER BY id"
        async with conn.query(sql, (rest,), batch_rows=50) as result:
            return numbers(*[batch async for batch in result.batches()])

    async def ask(conn: aio.AsyncConnection, number: int) -> list[int]:
        return numbers(
            *(await conn.read_arrow("SELECT * FROM aio_rows WHERE id = ?", (number,))).to_batches()
        )

    async def main() -> None:
        async with aio.connect(url, fetch_buffer_size=4096) as conn:
            found = await asyncio.gather(
                *[read(conn, rest) for rest in range(5)], *[ask(conn, number) for number in range(40)]
            )
        assert found == [list(range(rest, COUNT, 5)) for rest in range(5)] + [[n] for n in range(40)]

    run(main)


def test_a_result_that_was_left_half_read_frees_its_statement(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url, fetch_buffer_size=4096) as conn:
            for _ in range(20):
                result = await conn.query("SELECT * FROM aio_rows", batch_rows=10)
                async for _batch in result.batches():
                    break
                await conn.query("SELECT id FROM aio_rows", batch_rows=10)
            del result
            gc.collect()
            await conn.read_arrow(ONE)
            assert session_of(conn).cursors == set()

    run(main)


def test_a_value_that_cannot_be_read_ends_the_result_and_its_rest_never_passes_for_the_end(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url, encoding="ascii", fetch_buffer_size=4096) as conn:
            result = await conn.query("SELECT name FROM aio_rows WHERE id >= 7 ORDER BY id")
            batches = result.batches()
            assert (await anext(batches)).num_rows == 1
            with pytest.raises(ifx.DataError) as caught:
                await anext(batches)
            assert caught.value.row == 1
            with pytest.raises(ifx.InterfaceError, match="rows were lost"):
                await anext(batches)
            assert (await conn.read_arrow(ONE)).num_rows == 1

    run(main)


def test_metadata_are_those_of_the_blocking_connection(url: str) -> None:
    with ifx.connect(url) as blocking:
        expected = {
            "tables": blocking.tables("aio_r%"),
            "columns": blocking.columns("aio_rows"),
            "databases": blocking.databases(),
            "indexes": blocking.indexes("aio_rows"),
        }
        schema = blocking.adbc_get_table_schema("aio_rows")
    assert expected["tables"].num_rows == 1
    assert expected["columns"].num_rows == 3

    async def main() -> None:
        async with aio.connect(url) as conn:
            assert (await conn.tables("aio_r%")).equals(expected["tables"])
            assert (await conn.columns("aio_rows")).equals(expected["columns"])
            assert (await conn.databases()).equals(expected["databases"])
            assert (await conn.indexes("aio_rows")).equals(expected["indexes"])
            assert (await conn.adbc_get_table_schema("aio_rows")).equals(schema)
            for empty in (conn.primary_key, conn.foreign_keys, conn.fragments):
                assert (await empty("aio_rows")).num_rows == 0
            assert (await conn.procedures("no_such%")).num_rows == 0

    run(main)


# ---- cursors ------------------------------------------------------------------------------------------------------


def test_a_cursor_executes_and_fetches(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            await conn.execute("CREATE TEMP TABLE aio_cursor (a SERIAL, b VARCHAR(10), sentinel INT)")
            async with conn.cursor() as cur:
                await cur.executemany(
                    "INSERT INTO aio_cursor (b, sentinel) VALUES (?, 12345)",
                    [(f"b{n}",) for n in range(2500)],
                )
                assert cur.rowcount == 2500
                assert cur.lastrowid == 2500
                await cur.execute("SELECT a, b FROM aio_cursor WHERE sentinel = ? ORDER BY a", (12345,))
                assert cur.description is not None
                assert [item[0] for item in cur.description] == ["a", "b"]
                assert await cur.fetchone() == (1, "b0")
                assert await cur.fetchmany(2) == [(2, "b1"), (3, "b2")]
                assert await anext(cur) == (4, "b3")
                assert cur.rownumber == 4
                rest = await cur.fetch_arrow_table()
                assert rest["a"].to_pylist() == list(range(5, 2501))
                assert await cur.fetchone() is None
            with pytest.raises(ifx.InterfaceError, match="cursor is closed"):
                await cur.execute(ONE)
            conn.row_factory = "dict"
            rows = [row async for row in await conn.execute("SELECT FIRST 2 a FROM aio_cursor ORDER BY a")]
            assert rows == [{"a": 1}, {"a": 2}]
            assert len(await (await conn.execute("SELECT b FROM aio_cursor")).fetchall()) == 2500
            cur = conn.cursor()
            cur.lobs = "lazy"
            with pytest.raises(ifx.NotSupportedError, match="inline"):
                await cur.execute(ONE)
            cur.lobs = "inline"
            await cur.execute("DELETE FROM aio_cursor WHERE a > 10")
            assert cur.rowcount == 2490
            with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
                await cur.fetchone()

    run(main)


# ---- writing ------------------------------------------------------------------------------------------------------

TABLE = pa.table({"a": pa.array(range(10_000), pa.int32()), "b": [f"text {n}" for n in range(10_000)]})


def test_arrow_data_is_written_from_memory_and_from_an_async_iterable(url: str) -> None:
    async def arriving() -> AsyncIterator[pa.RecordBatch]:
        for batch in TABLE.to_batches(max_chunksize=777):
            await asyncio.sleep(0)
            yield batch

    async def main() -> None:
        async with aio.connect(url) as conn:
            await conn.execute("CREATE TEMP TABLE aio_write (a INT, b VARCHAR(20))")
            for data, options in ((TABLE, {}), (arriving(), {}), (arriving(), {"method": "pipeline"})):
                report = await conn.write_arrow("aio_write", data, **options)
                assert report.rows == TABLE.num_rows
                assert (await conn.read_arrow("SELECT a, b FROM aio_write ORDER BY a")).equals(TABLE)
                await conn.execute("DELETE FROM aio_write")
                await conn.commit()
            cur = conn.cursor()
            assert await cur.adbc_ingest("aio_write", TABLE, mode="append") == TABLE.num_rows

    run(main)


def test_a_result_of_another_connection_is_copied_and_one_of_the_same_refused(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as reader, aio.connect(url) as writer:
            await writer.execute("CREATE TEMP TABLE aio_copy (id INT, name VARCHAR(40), sentinel INT)")
            async with reader.query("SELECT * FROM aio_rows", batch_rows=300) as result:
                assert (await writer.write_arrow("aio_copy", result)).rows == COUNT
            sql = "SELECT * FROM {} ORDER BY id"
            copied, original = [
                await each.read_arrow(sql.format(name))
                for each, name in ((writer, "aio_copy"), (reader, "aio_rows"))
            ]
            assert copied.to_pylist() == original.to_pylist()
            result = await writer.query("SELECT * FROM aio_copy")
            with pytest.raises(ifx.InterfaceError, match="the connection that reads it"):
                await writer.write_arrow("aio_copy", result)
            with pytest.raises(ifx.InterfaceError, match="in the middle of a statement"):
                # Deadlock: its batches wait for the write, which waits for them.
                await writer.write_arrow("aio_copy", rebatched(writer))

    async def rebatched(conn: aio.AsyncConnection) -> AsyncIterator[pa.RecordBatch]:
        async with conn.query("SELECT * FROM aio_copy", batch_rows=100) as result:
            async for batch in result.batches():
                yield batch

    run(main)


def test_data_that_fails_or_is_cancelled_half_way_leaves_nothing_behind(url: str) -> None:
    class Broken(Exception):
        pass

    stuck = asyncio.Event()

    async def failing(error: bool) -> AsyncIterator[pa.RecordBatch]:
        for number, batch in enumerate(TABLE.to_batches(max_chunksize=5000)):
            if number:
                if error:
                    raise Broken
                stuck.set()
                await asyncio.Event().wait()
            yield batch

    async def main() -> None:
        async with aio.connect(url) as conn:
            await conn.execute("CREATE TEMP TABLE aio_fails (a INT, b VARCHAR(20))")
            await conn.commit()
            with pytest.raises(Broken):
                await conn.write_arrow("aio_fails", failing(error=True))
            assert (await conn.read_arrow("SELECT a FROM aio_fails")).num_rows == 0
            writing = asyncio.ensure_future(conn.write_arrow("aio_fails", failing(error=False)))
            await stuck.wait()
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            assert not conn.in_transaction
            assert (await conn.read_arrow("SELECT a FROM aio_fails")).num_rows == 0
            with pytest.raises(ifx.InterfaceError, match="returned no record batch"):
                await conn.write_arrow("aio_fails", nothing())

    async def nothing() -> AsyncIterator[pa.RecordBatch]:
        for batch in ():
            yield batch

    run(main)


# ---- transactions -------------------------------------------------------------------------------------------------


def test_transaction_blocks_nest_and_a_cancellation_undoes_them(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            await conn.execute("CREATE TEMP TABLE aio_tx (a INT)")
            await conn.commit()

            async def rows() -> list[int]:
                return (await conn.read_arrow("SELECT a FROM aio_tx ORDER BY a"))["a"].to_pylist()

            async def inner() -> None:
                async with conn.transaction():
                    await conn.execute("INSERT INTO aio_tx VALUES (2)")
                    raise ZeroDivisionError

            async with conn.transaction():
                await conn.execute("INSERT INTO aio_tx VALUES (1)")
                with pytest.raises(ZeroDivisionError):
                    await inner()
                await conn.execute("INSERT INTO aio_tx VALUES (3)")
            assert await rows() == [1, 3]
            entered = asyncio.Event()

            async def stuck() -> None:
                async with conn.transaction():
                    await conn.execute("INSERT INTO aio_tx VALUES (4)")
                    entered.set()
                    await asyncio.Event().wait()

            task = asyncio.ensure_future(stuck())
            await entered.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await rows() == [1, 3]
            assert not conn.in_transaction
            await conn.execute("INSERT INTO aio_tx VALUES (5)")
            await conn.rollback()
            assert await rows() == [1, 3]

    run(main)


def test_autocommit_isolation_and_lock_wait_can_be_set(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            assert (conn.autocommit, conn.isolation, conn.lock_wait) == (False, None, None)
            conn.autocommit = True
            await conn.set_isolation("dirty")
            await conn.set_lock_wait(3)
            assert (conn.autocommit, conn.isolation, conn.lock_wait) == (True, "dirty", 3)
            await conn.execute("CREATE TEMP TABLE aio_auto (a INT)")
            assert not conn.in_transaction
            await conn.ping()

    run(main)


# ---- interruptions ------------------------------------------------------------------------------------------------


async def begun(conn: aio.AsyncConnection) -> None:
    """Wait until another task has opened its cursor and waits for rows."""
    await until(lambda: any(isinstance(each, ServerCursor) for each in session_of(conn).pending_replies))


def test_a_cancelled_task_leaves_a_connection_that_answers_the_next_question(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            for number in range(3):
                task = asyncio.ensure_future(conn.read_arrow(SLOW))
                await begun(conn)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert not conn.closed
                sql = "SELECT id, sentinel FROM aio_rows WHERE id = ?"
                assert numbers(*(await conn.read_arrow(sql, (number,))).to_batches()) == [number]

    run(main)


def test_a_task_that_is_cancelled_while_it_waits_for_its_turn_takes_nothing_with_it(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            running = asyncio.ensure_future(conn.read_arrow(SLOW))
            await begun(conn)
            waiting = [asyncio.ensure_future(conn.read_arrow(ONE)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[1].cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting[1]
            conn.cancel()
            with pytest.raises(QueryCanceled) as caught:
                await running
            assert caught.value.sqlcode == -213
            for each in (waiting[0], waiting[2]):
                assert (await each)["v"].to_pylist() == [1]

    run(main)


def test_a_statement_that_takes_too_long_is_ended(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            with pytest.raises(QueryTimeout):
                await conn.read_arrow(SLOW, timeout=0.2)
            assert (await conn.read_arrow(ONE)).num_rows == 1
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(conn.read_arrow(SLOW), 0.2)
            assert (await conn.read_arrow(ONE)).num_rows == 1

    run(main)


def test_a_server_that_goes_away_closes_the_connection_and_says_so(url: str) -> None:
    async def main() -> None:
        conn = await aio.connect(url)
        wire = stream_of(conn)
        assert wire is not None
        assert wire._transport is not None
        wire._transport.abort()  # as if the network had failed
        with pytest.raises(ifx.OperationalError):
            await conn.read_arrow(ONE)
        assert conn.closed
        with pytest.raises(ifx.OperationalError, match="was lost"):
            await conn.read_arrow(ONE)
        await conn.close()

    run(main)


def test_no_thread_is_started(url: str) -> None:
    started: list[str] = []
    original = threading.Thread.start

    def start(self: threading.Thread) -> None:
        if threading.current_thread() is threading.main_thread():
            started.append(self.name)
        original(self)

    async def main() -> None:
        async with aio.connect(url) as conn:
            await conn.read_arrow("SELECT * FROM aio_rows")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        run(main)
    assert started == []
