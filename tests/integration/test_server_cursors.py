"""Cursors: the rows that a fetch returns, the end of the data, and effects of several cursors on each other."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from informix_arrow.server import Server
from informix_arrow.server.handlers.cursors import SelectCursor
from informix_arrow.server.session.prepared_plan import QueryResult
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.types import ColumnType

from .raw import RawClient, one

ROWS = 1000


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    """A session with a table of 1,000 rows: k 0..999, a text, a flag and a sentinel."""
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_rows (k INT, name VARCHAR(20), flag BOOLEAN, tail INT)")
        insert = client.prepare("INSERT INTO t_rows VALUES (?, ?, ?, ?)", 4).statement_id
        for k in range(ROWS):
            client.send(m.Id(insert), client.bind(k, f"row {k}", bool(k & 1), -k), m.Execute(), m.EndOfTurn())
        client.receive_groups(ROWS)
        client.must(m.Id(insert), m.Release())
        yield client


def ints(payloads: list[bytes]) -> list[int]:
    return [int.from_bytes(payload[:4], "big", signed=True) for payload in payloads]


@pytest.mark.parametrize("budget", [1, 12, 100, 4096, 1 << 20, 0x7FFF_FFFF])
def test_a_fetch_stays_within_its_budget_and_done_comes_only_at_the_end(
    client: RawClient, budget: int
) -> None:
    query = client.prepare("SELECT k FROM t_rows ORDER BY k").statement_id
    client.open_cursor(query)
    rows: list[int] = []
    done = None
    while done is None:
        payloads, done = client.fetch(query, budget)
        assert len(payloads) == 1 or sum(8 + 4 for _ in payloads) <= budget
        assert payloads, "a reply without rows must say that they are over"
        rows += ints(payloads)
        assert (done is None) == (len(rows) < ROWS)
    assert rows == list(range(ROWS))
    assert done.rows == ROWS
    assert client.fetch(query, budget) == ([], done)


def test_a_row_larger_than_the_budget_comes_whole(client: RawClient) -> None:
    client.command("CREATE TEMP TABLE t_wide (a LVARCHAR(32000), tail INT)")
    insert = client.prepare("INSERT INTO t_wide VALUES (?, ?)", 2).statement_id
    for k in range(3):
        client.must(m.Id(insert), client.bind("x" * 31999, k), m.Execute())
    query = client.prepare("SELECT a, tail FROM t_wide ORDER BY tail").statement_id
    client.open_cursor(query)
    for k in range(3):
        payloads, done = client.fetch(query, 4096)
        assert [len(payload) for payload in payloads] == [5 + 31999 + 4]
        assert payloads[0][-4:] == k.to_bytes(4, "big")
        assert (done is not None) == (k == 2)


def test_an_empty_result_is_a_done_without_rows(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows WHERE k < 0").statement_id
    client.open_cursor(query)
    payloads, done = client.fetch(query)
    assert payloads == []
    assert done is not None
    assert done.rows == 0


def test_open_and_the_first_fetch_may_share_a_group(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows WHERE k < 3 ORDER BY k").statement_id
    reply = client.must(m.Id(query), m.CursorName("c"), m.Open(), m.Id(query), m.Fetch(4096))
    assert [type(message).__name__ for message in reply] == ["Tuple"] * 3 + ["Done", "Cost"]


def test_two_cursors_are_read_in_turn_without_mixing(client: RawClient) -> None:
    up = client.prepare("SELECT k FROM t_rows ORDER BY k").statement_id
    down = client.prepare("SELECT k FROM t_rows ORDER BY k DESC").statement_id
    client.open_cursor(up)
    client.open_cursor(down)
    rows: dict[int, list[int]] = {up: [], down: []}
    open_ones = {up, down}
    while open_ones:
        for query in sorted(open_ones):
            payloads, done = client.fetch(query, 500)
            rows[query] += ints(payloads)
            if done is not None:
                open_ones.discard(query)
    assert rows[up] == list(range(ROWS))
    assert rows[down] == list(range(ROWS))[::-1]


def test_a_cursor_goes_on_while_other_statements_run(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows ORDER BY k").statement_id
    client.open_cursor(query)
    rows = ints(client.fetch(query, 1000)[0])
    client.command("CREATE TEMP TABLE t_between (a INT)")
    client.command("INSERT INTO t_between VALUES (1)")
    assert client.number("SELECT a FROM t_between") == 1
    done = None
    while done is None:
        payloads, done = client.fetch(query, 1000)
        rows += ints(payloads)
    assert rows == list(range(ROWS))


def test_a_statement_can_be_opened_again_with_other_parameters(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows WHERE k >= ? ORDER BY k", 1).statement_id
    for first in (998, 5, 999):
        client.open_cursor(query, first)
        assert ints(client.fetch(query)[0])[0] == first
    client.must(m.Id(query), m.Close())
    assert client.error(m.Id(query), m.Fetch(4096)) == -259


def test_the_same_bytes_again_mean_what_is_true_by_then(client: RawClient) -> None:
    """The server does not parse the bytes of Id, cursor name and fetch again, but executes them again."""
    client.command("CREATE TEMP TABLE t_again (a INT)")
    query = client.prepare("SELECT a FROM t_again WHERE a >= ? ORDER BY a", 1).statement_id

    def read(least: int) -> list[int]:
        client.open_cursor(query, least)
        found = ints(client.fetch(query)[0])
        client.must(m.Id(query), m.Close())
        return found

    assert read(1) == []
    for row in (1, 2):
        client.command(f"INSERT INTO t_again VALUES ({row})")
        assert [read(1), read(2), read(1)] == [[1, 2][:row], [2][: row - 1], [1, 2][:row]]
    client.must(m.Id(query), m.Release())
    assert client.error(m.Id(query), m.Fetch(4096)) < 0
    client.command("DROP TABLE t_again")
    client.command("CREATE TEMP TABLE t_again (a INT)")
    client.command("INSERT INTO t_again VALUES (7)")
    query = client.prepare("SELECT a FROM t_again WHERE a >= ? ORDER BY a", 1).statement_id
    assert [read(1), read(8), read(7)] == [[7], [], [7]]


def test_a_fetch_from_an_unopened_cursor_is_an_error_and_closing_it_is_none(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows").statement_id
    assert client.error(m.Id(query), m.Fetch(4096)) == -259
    assert client.must(m.Id(query), m.Close()) == []


def test_booleans_are_letters_unless_asked_for_in_binary(client: RawClient) -> None:
    sql = "SELECT flag, tail FROM t_rows WHERE k < 2 ORDER BY k"
    query = client.prepare(sql).statement_id
    client.open_cursor(query)
    payloads, _ = client.fetch(query)
    assert [payload[5:6] for payload in payloads] == [b"f", b"t"]
    wanted = m.RetType(m.RetType.FETCH, (ColumnType(45, 1, 0, 0, "informix", "boolean"), ColumnType(2, 4)))
    client.open_cursor(query)
    reply = client.must(m.Id(query), wanted, m.Fetch(4096))
    payloads = [message.payload for message in reply if isinstance(message, m.Tuple)]
    assert [payload[:6] for payload in payloads] == [
        bytes.fromhex("000000000100"),
        bytes.fromhex("000000000101"),
    ]
    client.open_cursor(query)  # sent once per statement
    assert client.fetch(query)[0] == payloads


def test_a_scroll_cursor_goes_to_any_row_and_says_where_it_is(client: RawClient) -> None:
    query = client.prepare("SELECT k, tail FROM t_rows ORDER BY k").statement_id
    client.must(m.Id(query), m.CursorName("s"), m.Scroll(), m.Open())

    def move(how: int, row: int) -> tuple[int, int] | None:
        reply = client.must(m.Id(query), m.ScrollFetch(how, row))
        if not any(isinstance(message, m.Tuple) for message in reply):
            return None
        return one(reply, m.TupleId).row, ints([one(reply, m.Tuple).payload])[0]

    assert move(m.ScrollFetch.NEXT, 1) == (1, 0)
    assert move(m.ScrollFetch.NEXT, 2) == (2, 1)
    assert move(m.ScrollFetch.LAST, 0) == (ROWS, ROWS - 1)
    assert move(m.ScrollFetch.ABSOLUTE, 500) == (500, 499)
    assert move(m.ScrollFetch.NEXT, 1) == (1, 0)  # like JDBC after beforeFirst()
    previous, relative = 2, 5
    assert move(m.ScrollFetch.ABSOLUTE, ROWS + 1) is None
    assert move(previous, 0) == (ROWS, ROWS - 1)
    assert move(m.ScrollFetch.ABSOLUTE, 0) is None
    assert move(previous, 0) is None
    assert move(relative, 3) == (3, 2)
    assert move(relative, -1) == (2, 1)
    assert client.error(m.Id(query), m.ScrollFetch(99, 1)) == -285


def test_an_empty_scroll_cursor_has_no_rows(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows WHERE k < 0").statement_id
    client.must(m.Id(query), m.CursorName("s"), m.Scroll(), m.Open())
    for how in (m.ScrollFetch.LAST, m.ScrollFetch.ABSOLUTE):
        assert one(client.must(m.Id(query), m.ScrollFetch(how, 0)), m.Done).rows == 0


def test_a_scroll_cursor_cannot_be_for_update(client: RawClient) -> None:
    reply = client.ask(m.Prepare(0, "SELECT k FROM t_rows FOR UPDATE"), m.NDescribe(), m.WantDone())
    errors = [message for message in reply if isinstance(message, m.Err)]
    if not errors:
        statement = one(reply, m.Describe).statement_id
        assert client.error(m.Id(statement), m.CursorName("s"), m.Scroll(), m.Open()) == -526


def test_the_end_of_a_transaction_closes_cursors_without_hold(client: RawClient) -> None:
    sql = "SELECT k FROM t_rows ORDER BY k"
    plain, hold = client.prepare(sql).statement_id, client.prepare(sql).statement_id
    client.must(m.Begin())
    client.open_cursor(plain)
    client.must(m.Id(hold), m.CursorName("h"), m.Hold(), m.Open())
    assert ints(client.fetch(plain, 1)[0]) == ints(client.fetch(hold, 1)[0]) == [0]
    client.must(m.Commit())
    assert client.error(m.Id(plain), m.Fetch(1)) == -259
    assert ints(client.fetch(hold, 1)[0]) == [1]


def test_a_refused_commit_closes_no_cursor(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows ORDER BY k").statement_id
    client.open_cursor(query)
    assert client.error(m.Commit()) == -255
    assert ints(client.fetch(query, 1)[0]) == [0]


def test_autofree_releases_the_statement_when_its_cursor_closes(client: RawClient) -> None:
    query = client.prepare("SELECT k FROM t_rows").statement_id
    client.must(m.Id(query), m.CursorName("a"), m.AutoFree(), m.Open())
    client.must(m.Id(query), m.Close())
    assert client.error(m.Id(query), m.Open()) == -258
    assert client.prepare("SELECT k FROM t_rows").statement_id == query


def test_a_character_that_the_code_set_lacks_ends_the_rows_with_an_error(server: Server) -> None:
    table = pa.table({"name": ["plain", "5 €", "plain"], "tail": pa.array([1, 2, 3], pa.int32())})
    columns = (Column("name", ColumnType.varchar(10)), Column("tail", ColumnType.integer()))
    cursor = SelectCursor(QueryResult(columns, table))
    assert cursor.fetch(4096, "latin-1", {}).count(b"plain") == 1
    assert cursor.fetch(4096, "latin-1", {}) == b""
    assert cursor.failure is not None
    assert (cursor.failure.sqlcode, cursor.failure.near) == (-23103, "name")
    assert not cursor.exhausted


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("k - 2147483647 - 1", -1215),
        ("(k - 32768)::smallint", -1214),
        ("(k - 9223372036854775808)::bigint", -1284),
        ("(k - 9223372036854775808)::int8", -1284),
    ],
)
def test_a_value_that_cannot_be_sent_leaves_the_session_usable(
    client: RawClient, value: str, code: int
) -> None:
    """INTEGER's smallest value stands for NULL on the wire. It is an error, never a NULL that was not stored."""
    query = client.prepare(f"SELECT {value}, tail FROM t_rows WHERE k = 0").statement_id
    client.open_cursor(query)
    assert client.error(m.Id(query), m.Fetch(4096)) == code
    assert client.number("SELECT COUNT(*)::INT FROM t_rows") == ROWS


def test_a_text_that_is_prepared_again_begins_anew(client: RawClient) -> None:
    """State of the earlier statement must not remain: types (SQ_RETTYPE), unread rows, another open cursor."""
    sql = "SELECT flag, k FROM t_rows WHERE k < 4 ORDER BY k"
    first = client.prepare(sql).statement_id
    wanted = (ColumnType.boolean(), ColumnType.integer())
    binary = m.RetType(m.RetType.FETCH, (ColumnType(45, 1), wanted[1]))
    client.must(m.Id(first), binary)
    client.open_cursor(first)
    asked, _ = client.fetch(first, 4096)
    client.must(m.Id(first), m.Close())
    client.must(m.Id(first), m.Release())
    found = []
    for budget in (1, 4096, 4096):
        again = client.prepare(sql).statement_id
        client.open_cursor(again)
        other = client.prepare(sql).statement_id
        client.open_cursor(other)
        rows, _ = client.fetch(again, budget)
        found.append((rows, client.fetch(other, 4096)[0]))
        for statement in (again, other):
            client.must(m.Id(statement), m.Close())
            client.must(m.Id(statement), m.Release())
    plain = found[0][1]
    assert len(plain) == len(asked) == 4
    assert plain != asked
    assert found == [(plain[:1], plain), (plain, plain), (plain, plain)]
