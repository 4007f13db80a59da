"""capture() against the embedded server: changes made by SQL are returned once they are committed."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

pytestmark = pytest.mark.usefixtures("quick_captures")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server for this module alone: full row logging is switched on and off."""
    with Server(threads=1) as running:
        yield running


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    """A connection of the module that creates and drops the tables of each test."""
    with ifx.connect(server.url("stores_demo"), autocommit=True, lock_wait=30) as conn:
        yield conn


@pytest.fixture
def url(server: Server, shared_connection: ifx.Connection) -> Iterator[str]:
    shared_connection.execute(
        "CREATE TABLE cp_orders (id INTEGER PRIMARY KEY, name VARCHAR(40), ok BOOLEAN, note LVARCHAR(300), "
        "price DECIMAL(8,2), day DATE, code CHAR(5), tail SMALLINT)"
    )
    shared_connection.execute("CREATE TABLE cp_items (item INTEGER, order_id INTEGER)")
    found = server.url("stores_demo")
    yield found
    ifx.capture_off(found, ["cp_orders", "cp_items"])
    shared_connection.execute("DROP TABLE cp_items")
    shared_connection.execute("DROP TABLE cp_orders")


TABLES = ["cp_orders", "cp_items"]


def begun(url: str, tables: Any = TABLES) -> str:
    """Start a capture and return the token of the current position."""
    with ifx.capture(url, tables, idle=0, timeout=1) as changes:
        assert list(changes) == []
        assert changes.token is not None
        return changes.token


def told(transaction: Any) -> list[tuple[Any, ...]]:
    return [
        (change.table, row["_op"], *list(row.values())[2:-1])
        for change in transaction.batches
        for row in change.data.to_pylist()
    ]


FULL = (1, "é", True, "long", Decimal("1.50"), dt.date(2024, 2, 29), "ab", 7)
NULLS = (2, None, None, None, None, None, None, None)


def test_changes_come_as_they_were_made_and_what_was_undone_does_not(url: str) -> None:
    token = begun(url)
    with ifx.connect(url) as conn:
        cursor = conn.cursor()
        for row in (FULL, NULLS):
            cursor.execute("INSERT INTO cp_orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        cursor.execute("INSERT INTO cp_items VALUES (10, 1)")
        cursor.execute("SAVEPOINT here")
        cursor.execute("INSERT INTO cp_items VALUES (11, 1)")
        cursor.execute("ROLLBACK TO SAVEPOINT here")
        cursor.execute("UPDATE cp_orders SET name = NULL, tail = tail + 1 WHERE id = 1")
        conn.commit()
        cursor.execute("DELETE FROM cp_orders")
        conn.rollback()
        cursor.execute("DELETE FROM cp_orders WHERE id = 2")
        conn.commit()
    with ifx.capture(url, TABLES, start=token, idle=0, timeout=1) as changes:
        first, second = changes
        last = changes.token
    assert told(first) == [
        ("cp_orders", "insert", *FULL),
        ("cp_orders", "insert", *NULLS),
        ("cp_items", "insert", 10, 1),
        ("cp_orders", "update", 1, None, *FULL[2:7], 8),
    ]
    assert list(list(first.batches)[-1].data.to_pylist()[0]["_before"].values()) == list(FULL)
    assert told(second) == [("cp_orders", "delete", *NULLS)]
    assert first.commit_lsn < second.begin_lsn < second.commit_lsn
    assert dt.timedelta(0) <= second.commit_time - first.commit_time < dt.timedelta(hours=1)
    with ifx.capture(url, TABLES, start=first.token, idle=0, timeout=1) as changes:
        assert [told(each) for each in changes] == [told(second)]
    with ifx.capture(url, TABLES, start=last, idle=0, timeout=1) as changes:
        assert list(changes) == []


def test_changes_that_are_made_while_somebody_waits_for_them(url: str) -> None:
    with ifx.capture(url, ["cp_items"], timeout=30) as changes, ifx.connect(url, autocommit=True) as conn:
        for number in range(5):
            conn.execute("INSERT INTO cp_items VALUES (?, ?)", (number, -number))
            assert told(next(iter(changes))) == [("cp_items", "insert", number, -number)]


def test_columns_are_those_that_were_asked_for_in_that_order(url: str) -> None:
    wanted = {"cp_orders": ["tail", "note", "id"]}
    token = begun(url, wanted)
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("INSERT INTO cp_orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)", FULL)
    with ifx.capture(url, wanted, start=token, idle=0, timeout=1) as changes:
        before = changes.schema("cp_orders")
        table = changes.as_table()
        assert table.schema == before == changes.schema("cp_orders")
    assert table.schema.names == ["_op", "_lsn", "tail", "note", "id", "_before"]
    assert table.select(["tail", "note", "id"]).to_pylist() == [{"tail": 7, "note": "long", "id": 1}]


def test_many_rows_in_one_transaction_spill_and_come_back(url: str) -> None:
    token = begun(url, ["cp_items"])
    with ifx.connect(url) as conn:
        conn.cursor().executemany("INSERT INTO cp_items VALUES (?, ?)", [(n, -n) for n in range(5000)])
        conn.execute("UPDATE cp_items SET order_id = item")
        conn.commit()
    with ifx.capture(url, ["cp_items"], start=token, idle=0, timeout=1, transaction_bytes=70_000) as changes:
        (one,) = changes
        assert one.batches.spilled
        rows = [row for change in one.batches for row in change.data.to_pylist()]
    assert len(rows) == 10_000
    assert [row["item"] for row in rows[:5000]] == list(range(5000))
    assert {(row["_op"], row["order_id"] - row["item"]) for row in rows[5000:]} == {("update", 0)}
    assert {row["_before"]["order_id"] + row["_before"]["item"] for row in rows[5000:]} == {0}


def test_columns_whose_names_take_quotes(url: str) -> None:
    values = {"id": 1, "two words": 2, "Größe": "x", 'a"b': "yz", "c,d": 3, "maß": 4, "tail": 5}
    with ifx.connect(url, autocommit=True, env={"DELIMIDENT": "y"}) as conn:
        conn.execute(
            'CREATE TABLE cp_names (id INTEGER, "two words" INTEGER, "Größe" VARCHAR(10), "a""b" CHAR(2), '
            '"c,d" INTEGER, maß INTEGER, tail INTEGER)'
        )
        for columns in (None, *([name] for name in values), list(values)[::-1]):
            with ifx.capture(conn, {"cp_names": columns}, timeout=1, idle=0) as changes:
                conn.execute("INSERT INTO cp_names VALUES (1, 2, 'x', 'yz', 3, 4, 5)")
                (row,) = changes.as_table().to_pylist()
            wanted = list(values) if columns is None else columns
            assert {name: row[name] for name in row if not name.startswith("_")} == {
                name: values[name] for name in wanted
            }
        ifx.capture_off(url, ["cp_names"])
        conn.execute("DROP TABLE cp_names")


@pytest.mark.parametrize(
    ("tables", "sqlcode", "text"),
    [
        (["cp_none"], -83705, "'cp_none'"),
        (["cp_view"], -83706, "which is a view"),
        (["cp_synonym"], -83706, "which is a synonym"),
        ({"cp_orders": ["id", "nothing"]}, -83707, "nothing"),
        (["cp_blob"], -83707, r"doc \(TEXT\).*columns=\{'cp_blob': \['id'\]\}"),
    ],
)
def test_what_cannot_be_captured_is_refused_before_anything_starts(
    url: str, tables: Any, sqlcode: int, text: str
) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE VIEW cp_view AS SELECT id FROM cp_orders")
        conn.execute("CREATE SYNONYM cp_synonym FOR cp_orders")
        conn.execute("CREATE TABLE cp_blob (id INTEGER, doc TEXT)")
        try:
            with pytest.raises(ifx.Error, match=text) as caught:
                ifx.capture(url, tables)
            assert caught.value.sqlcode == sqlcode
        finally:
            logged = "SELECT COUNT(*) FROM sysmaster:sysptnhdr WHERE BITAND(flags, 67108864) > 0"
            assert conn.read_arrow(logged).column(0).to_pylist() == [0]
            conn.execute("DROP VIEW cp_view")
            conn.execute("DROP SYNONYM cp_synonym")
            conn.execute("DROP TABLE cp_blob")


def test_a_database_without_a_log_is_refused(server: Server) -> None:
    with ifx.connect(server.url(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE cp_unlogged")
        conn.execute("CREATE TABLE t (a INTEGER)")
        with pytest.raises(ifx.NotSupportedError, match="has no log") as caught:
            ifx.capture(server.url("cp_unlogged"), ["t"])
        assert caught.value.sqlcode == -83704
        conn.execute("CLOSE DATABASE")
        conn.execute("DROP DATABASE cp_unlogged")


def test_databases_of_several_locales_are_refused(server: Server, url: str) -> None:
    server.create_database("cp_latin", locale="en_US.819")
    with ifx.connect(server.url("cp_latin"), autocommit=True) as conn:
        conn.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(ifx.NotSupportedError, match=r"different locales.*cp_latin"):
        ifx.capture(url, ["cp_orders", "cp_latin:t"])
    server.drop_database("cp_latin")


def test_missing_privileges_to_capture_are_reported_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Server(users={"ann": "secret"}, threads=1) as running:
        own = running.url("stores_demo")
        with ifx.connect(own, autocommit=True) as conn:
            conn.execute("CREATE TABLE t (a INTEGER, tail INTEGER)")
            conn.execute("CREATE DATABASE closed WITH LOG")
        host, port = running.address
        hers = f"informix://ann:secret@{host}:{port}/stores_demo?server={running.server_name}"
        for database, sqlcode in (("syscdcv1", -674), ("closed", -387)):
            monkeypatch.setattr("informix_arrow.cdc.capture.DATABASE", database)
            with pytest.raises(
                ifx.OperationalError, match=r"may not capture changes.*the user informix"
            ) as caught:
                ifx.capture(hers, ["t"])
            assert caught.value.sqlcode == sqlcode
        monkeypatch.setattr("informix_arrow.cdc.capture.DATABASE", "nowhere")
        with pytest.raises(ifx.OperationalError, match=r"syscdcv1\.sql") as caught:
            ifx.capture(own, ["t"])
        assert caught.value.sqlcode == -83701
        monkeypatch.undo()
        with pytest.raises(ifx.ProgrammingError, match="full row logging"):  # full row logging is off
            ifx.capture(own, ["t"], set_full_row_logging=False)


def test_a_table_that_a_transaction_has_changed_is_reported_with_what_to_do(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("informix_arrow.server.session.capture_routines._LOCK_SECONDS", 0.05)
    with ifx.connect(url) as open_one:
        open_one.execute("INSERT INTO cp_items VALUES (1, 2)")
        with pytest.raises(ifx.OperationalError, match=r"cp_items.*is still open,.*lock_wait") as caught:
            ifx.capture(url, ["cp_items"])
        assert caught.value.sqlcode == -289
        open_one.rollback()
        ifx.capture(url, ["cp_items"]).close()


def test_a_position_that_is_not_in_the_log_is_refused(url: str) -> None:
    with pytest.raises(ifx.OperationalError, match="no longer in the log") as caught:
        ifx.capture(url, TABLES, start="1-7fffffff00000000-7fffffff00000000")
    assert caught.value.sqlcode == -83713


def test_full_row_logging_stays_on_until_it_is_switched_off(url: str) -> None:
    begun(url, ["cp_items"])
    with ifx.connect(url, autocommit=True) as conn:
        with pytest.raises(ifx.Error):
            conn.execute("ALTER TABLE cp_items ADD (more INTEGER)")
        ifx.capture_off(url, ["cp_items"])
        conn.execute("ALTER TABLE cp_items ADD (more INTEGER)")
        with pytest.raises(ifx.ProgrammingError, match="full row logging"):
            ifx.capture(url, ["cp_items"], set_full_row_logging=False)


def test_a_capture_has_a_token_before_anything_came(url: str) -> None:
    with ifx.connect(url) as late, ifx.connect(url, autocommit=True) as conn:
        for tables in (["cp_orders"], TABLES):  # at first the log has no file yet
            with ifx.capture(url, tables, timeout=1) as changes:
                token = changes.token
            assert token is not None
            conn.execute("INSERT INTO cp_items VALUES (1, 2)")
        late.execute("INSERT INTO cp_items VALUES (3, 4)")
        with ifx.capture(
            url, TABLES, timeout=1
        ) as changes:  # transactions open now are returned completely, those committed before are not
            token = changes.token
        late.execute("INSERT INTO cp_items VALUES (5, 6)")
        late.commit()
        conn.execute("INSERT INTO cp_items VALUES (7, 8)")
    with ifx.capture(url, TABLES, start=token, timeout=1, idle=0) as changes:
        assert [[row[2] for row in told(each)] for each in changes] == [[3, 5], [7]]


def test_closing_in_the_middle_of_what_was_sent_ahead(url: str, server: Server) -> None:
    token = begun(url, ["cp_items"])
    with ifx.connect(url, autocommit=True) as conn:
        for at in range(0, 2000, 50):
            conn.write_arrow("cp_items", pa.table({"item": range(at, at + 50), "order_id": [at] * 50}))
    with ifx.capture(url, ["cp_items"], start=token, timeout=1, max_records=5) as changes:
        for number, transaction in enumerate(changes):
            assert transaction.batches[0].data.column("item").to_pylist() == list(
                range(number * 50, number * 50 + 50)
            )
            if number == 20:
                break
        assert changes._reads.in_flight > 1
        token = changes.token or ""
    with ifx.connect(server.url("syscdcv1")) as conn:  # the server knows it and has replied
        assert conn.execute("SELECT COUNT(*) FROM syscdcsess").fetchone() == (0,)
    with ifx.capture(url, ["cp_items"], start=token, timeout=1, idle=0) as changes:
        assert changes.as_table().column("item").to_pylist() == list(range(1050, 2000))


def test_asyncio_and_a_cancelled_read_loses_nothing(url: str) -> None:
    async def main() -> list[Any]:
        async with (
            aio.capture(url, ["cp_items"], timeout=1, idle=0) as changes,
            aio.connect(url, autocommit=True) as conn,
        ):
            waiting = asyncio.ensure_future(anext(aiter(changes)))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await conn.execute("INSERT INTO cp_items VALUES (1, 2)")
            await conn.execute("INSERT INTO cp_items VALUES (3, 4)")
            assert "cp_items" in repr(changes)
            return [told(each) async for each in changes]

    assert asyncio.run(main()) == [[("cp_items", "insert", 1, 2)], [("cp_items", "insert", 3, 4)]]
