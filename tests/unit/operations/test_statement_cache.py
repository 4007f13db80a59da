"""Reuse of prepared statements, with a scripted peer: round trips, stale statements, release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.operations.scripted_peer import COLUMNS, DistantPeer, Group, Peer, new_session, rows

from informix_arrow.operations.batch_replies import ManyOutcome
from informix_arrow.operations.batches import Batches
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.executemany import execute_many
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.session import Session
from informix_arrow.operations.statement_cache import MAX_TEXT_LENGTH, StatementCache
from informix_arrow.operations.transaction import rollback
from informix_arrow.operations.transaction_blocks import begin_block, end_block
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column, Plan, StatementType, compile_plan
from informix_arrow.wire.errors import Error, ProgrammingError
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.types import ColumnType

WIDER = (*COLUMNS, Column("more", ColumnType.integer()))


class Server:
    """Assigns statement ids, lowest free first, and records the text of each.

    ``stale`` holds ids whose use fails with ``code``, until they are released. SELECTs return two rows.
    """

    def __init__(self, code: int = -710) -> None:
        self.texts: dict[int, str] = {}
        self.columns: tuple[Column, ...] = COLUMNS
        self.stale: set[int] = set()
        self.always_stale = False
        self.ends = True  # every fetch is the last one
        self.code = code
        self.log: list[str] = []
        self.fail: set[int] = set()  # numbers of executions that fail with -268
        self.executions = 0

    def __call__(self, group: Group) -> list[m.Message]:
        first = group[0]
        if isinstance(first, m.Prepare):
            number = next(n for n in range(99) if n not in self.texts)
            self.texts[number] = first.sql
            self.log.append(f"PREPARE {number}")
            kind = _kind(first.sql)
            columns = self.columns if kind in (StatementType.SELECT, StatementType.INSERT) else ()
            return [Describe.of_columns(kind, number, columns), m.Done()]
        if not isinstance(first, m.Id):
            self.log.append(type(first).__name__)
            return []
        number, words = first.statement_id, [type(message).__name__ for message in group[1:]]
        if "Release" in words:
            self.log.append(f"RELEASE {number}")
            del self.texts[number]
            self.stale.discard(number)
            return []
        if words == ["Close"]:
            return []
        self.log.append(
            f"{'EXECUTE' if 'Execute' in words else 'OPEN' if 'Open' in words else words[-1]} {number}"
        )
        assert number in self.texts, "a statement that was released"
        if number in self.stale or self.always_stale:
            return [m.Err(self.code, 0, 0, "t")]
        if "Execute" in words:
            self.executions += 1
            if self.executions in self.fail:
                return [m.Err(-268, -100, 0, "u1")]
            return [m.Done(rows=1)]
        if "Fetch" in words:
            end: list[m.Message] = [m.Done()] if self.ends else []
            return [*rows(1, 2), *end] if self.columns is COLUMNS else end
        return []


def _kind(sql: str) -> StatementType:
    kinds = {"SELECT": StatementType.SELECT, "INSERT": StatementType.INSERT, "UPDATE": StatementType.UPDATE}
    return kinds.get(sql.split()[0].upper(), StatementType.CREATE_TABLE)


def caching(**state: object) -> Session:
    return new_session(**{"autocommit": True, "statements": StatementCache(8), **state})


def do(peer: Peer, session: Session, sql: str, *values: object, options: ReadOptions | None = None) -> object:
    return peer.run(execute_statement(session, sql, values, options or ReadOptions()))


def read(peer: Peer, session: Session, sql: str, *values: object) -> list[int]:
    cursor = do(peer, session, sql, *values)
    assert isinstance(cursor, ServerCursor)
    batches, found = Batches(cursor), list[pa.RecordBatch]()
    while (batch := peer.run(batches.next(session))) is not None:
        found.append(batch)
    peer.run(drain_pending_replies(session))
    return [number for batch in found for number in batch["id"].to_pylist()]


def test_a_query_is_prepared_once_and_opened_again() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    for _ in range(3):
        assert read(peer, session, "SELECT a") == [1, 2]
    assert server.log == ["PREPARE 0", "OPEN 0", "OPEN 0", "OPEN 0"]


def test_a_change_is_prepared_once_and_executed_again_with_other_values() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    for number in range(3):
        do(peer, session, "INSERT INTO t VALUES (?)", number)
    assert server.log == ["PREPARE 0", "EXECUTE 0", "EXECUTE 0", "EXECUTE 0"]
    bound = [
        message.values[0].data for group in peer.groups for message in group if isinstance(message, m.Bind)
    ]
    assert len(set(bound)) == 3


def test_the_plan_is_compiled_once_for_each_way_of_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    from informix_arrow.operations import open_cursor
    from informix_arrow.wire.plan_ops import TypeOptions

    compiled = list[object]()

    def counting(*arguments: Any, **options: Any) -> Plan:
        compiled.append(arguments)
        return compile_plan(*arguments, **options)

    monkeypatch.setattr(open_cursor, "compile_plan", counting)
    server, session = Server(), caching()
    peer = Peer(server)
    for _ in range(3):
        read(peer, session, "SELECT a")
    assert len(compiled) == 1
    cursor = do(peer, session, "SELECT a", options=ReadOptions(TypeOptions(strings="large")))
    assert isinstance(cursor, ServerCursor)
    assert cursor.plan.schema.field("name").type == pa.large_utf8()
    assert len(compiled) == 2


def test_a_statement_whose_cursor_is_open_is_not_used_by_somebody_else() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    server.ends = False
    first = do(peer, session, "SELECT a")
    second = do(peer, session, "SELECT a")
    assert isinstance(first, ServerCursor)
    assert isinstance(second, ServerCursor)
    assert (first.statement_id, second.statement_id) == (0, 1)
    peer.run(first.close(session))
    peer.run(second.close(session))
    server.ends = True
    assert read(peer, session, "SELECT a") == [1, 2]
    assert server.log.count("PREPARE 0") == 1
    assert len(session.statements) == 1


def test_the_least_recently_used_statement_goes_first() -> None:
    server, session = Server(), caching()
    session.statements.size = 2
    peer = Peer(server)
    for sql in ("SELECT a", "SELECT b", "SELECT a", "SELECT c"):
        read(peer, session, sql)
    assert sorted(server.texts.values()) == ["SELECT a", "SELECT c"]
    assert server.log[-1] == "RELEASE 1"


def test_without_a_cache_everything_is_released() -> None:
    server, session = Server(), new_session(autocommit=True)
    peer = Peer(server)
    read(peer, session, "SELECT a")
    do(peer, session, "INSERT INTO t VALUES (1)")
    peer.run(drain_pending_replies(session))
    assert server.texts == {}


def test_a_text_full_of_data_is_not_kept() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    do(peer, session, "INSERT INTO t VALUES ('" + "x" * MAX_TEXT_LENGTH + "')")
    peer.run(drain_pending_replies(session))
    assert server.texts == {}


def test_an_unlogged_database_keeps_queries_only() -> None:
    """A statement that failed has kept part of its effect there, so it must not be repeated."""
    server, session = Server(), caching(logged=False)
    peer = Peer(server)
    do(peer, session, "UPDATE t SET a = 1")
    read(peer, session, "SELECT a")
    peer.run(drain_pending_replies(session))
    assert list(server.texts.values()) == ["SELECT a"]


@pytest.mark.parametrize("code", [-208, -258, -267, -285, -410, -710])
def test_a_stale_statement_is_prepared_anew_and_nobody_notices(code: int) -> None:
    server, session = Server(code), caching()
    peer = Peer(server)
    read(peer, session, "SELECT a")
    do(peer, session, "UPDATE t SET a = 1")
    server.log.clear()
    server.stale = {0}
    server.columns = WIDER
    cursor = do(peer, session, "SELECT a")
    assert isinstance(cursor, ServerCursor)
    assert cursor.plan.schema.names == ["id", "name", "sentinel", "more"]
    peer.run(drain_pending_replies(session))
    assert server.log == ["OPEN 0", "RELEASE 0", "PREPARE 0", "OPEN 0"]


def test_a_stale_change_is_executed_once() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    do(peer, session, "UPDATE t SET a = 1")
    server.stale = {0}
    do(peer, session, "UPDATE t SET a = 1")
    assert server.executions == 2


def test_a_statement_that_stays_stale_is_an_error_the_second_time() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    read(peer, session, "SELECT a")
    server.always_stale = True
    with pytest.raises(Error) as caught:
        read(peer, session, "SELECT a")
    assert caught.value.sqlcode == -710
    assert session.usable_after(caught.value)
    assert sum(entry.startswith("PREPARE") for entry in server.log) == 2
    peer.run(drain_pending_replies(session))
    assert server.texts == {}


def test_the_same_error_of_a_fresh_statement_is_not_tried_again() -> None:
    server, session = Server(), caching()
    server.always_stale = True
    with pytest.raises(Error):
        read(Peer(server), session, "SELECT a")
    assert sum(entry.startswith("PREPARE") for entry in server.log) == 1


def test_a_failed_statement_is_released() -> None:
    server, session = Server(), caching()
    server.fail = {2}
    peer = Peer(server)
    do(peer, session, "INSERT INTO t VALUES (1)")
    with pytest.raises(Error):
        do(peer, session, "INSERT INTO t VALUES (1)")
    peer.run(drain_pending_replies(session))
    assert server.texts == {}
    do(peer, session, "INSERT INTO t VALUES (1)")
    assert server.executions == 3


@pytest.mark.parametrize("sql", ["CREATE TABLE t (a INT)", "SET ENVIRONMENT x '1'", "GRANT SELECT ON t TO u"])
def test_what_may_change_the_meaning_of_statements_empties_the_cache(sql: str) -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    server.ends = False
    open_one = do(peer, session, "SELECT open")
    server.ends = True
    assert isinstance(open_one, ServerCursor)
    read(peer, session, "SELECT a")
    do(peer, session, sql)
    peer.run(open_one.close(session))  # in use at that moment, so it is not kept afterwards
    peer.run(drain_pending_replies(session))
    assert len(session.statements) == 0
    assert server.texts == {}
    server.log.clear()
    read(peer, session, "SELECT a")
    assert server.log[0].startswith("PREPARE")


def test_a_rollback_after_ddl_empties_the_cache_again() -> None:
    server, session = Server(), caching()
    session.autocommit = False
    peer = Peer(server)
    do(peer, session, "CREATE TABLE t (a INT)")
    read(peer, session, "SELECT a")
    peer.run(rollback(session))
    assert len(session.statements) == 0
    read(peer, session, "SELECT a")
    do(peer, session, "UPDATE t SET a = 1")
    peer.run(rollback(session))
    assert len(session.statements) == 2


def test_a_rollback_to_a_savepoint_does_not_hide_ddl_that_was_before_it() -> None:
    server, session = Server(), caching()
    session.autocommit = False
    peer = Peer(server)
    do(peer, session, "CREATE TABLE t (a INT)")
    block = peer.run(begin_block(session))
    peer.run(end_block(session, block, keep=False))
    read(peer, session, "SELECT a")
    assert len(session.statements) == 1
    peer.run(rollback(session))
    assert len(session.statements) == 0


def many(peer: Peer, session: Session, data: Sequence[object] | Iterator[object]) -> ManyOutcome:
    return peer.run(execute_many(session, "INSERT INTO t VALUES (?)", 1, data))  # type: ignore[arg-type]


def test_executemany_uses_its_statement_again() -> None:
    server, session = Server(), caching()
    peer = Peer(server, piece=37)
    assert many(peer, session, [(n,) for n in range(3)]).rows == 3
    assert many(peer, session, [(n,) for n in range(700)]).rows == 700
    assert server.log.count("PREPARE 0") == 1
    assert server.executions == 703


@pytest.mark.parametrize(("autocommit", "expected"), [(True, [3, 1, 1]), (False, [4, 2, 2])])
def test_a_small_executemany_costs_a_round_trip_and_its_begin(autocommit: bool, expected: list[int]) -> None:
    session = caching(autocommit=autocommit, clock=lambda: 0.0)
    peer, costs = DistantPeer(Server()), []
    for _ in range(3):
        peer.steps.clear()
        many(peer, session, [(n,) for n in range(10)])
        costs.append(peer.round_trips)
        peer.run(rollback(session))
    assert costs == expected


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 1000])
def test_a_stale_statement_of_executemany_is_prepared_anew_and_every_row_goes_in_once(count: int) -> None:
    server, session = Server(), caching()
    peer = Peer(server, piece=101)
    many(peer, session, [(0,)])
    server.stale = {0}
    peer.groups.clear()
    outcome = many(peer, session, ((n,) for n in range(count)))
    assert (outcome.executed, outcome.rows, outcome.errors) == (count, count, [])
    assert server.executions == 1 + count
    sent = [g[1].values[0].data for g in peer.groups if isinstance(g[0], m.Id) and isinstance(g[1], m.Bind)]
    assert len(set(sent[-count:])) == count
    assert count < len(sent) <= count + min(count, 256)  # at most the first chunk was sent in vain


def test_an_error_of_the_rows_survives_the_second_attempt() -> None:
    """The iterable is used up by then. Its error must not be taken for its end."""
    server, session = Server(), caching()
    peer = Peer(server)
    many(peer, session, [(0,)])
    server.stale = {0}

    def data() -> Iterator[object]:
        yield (1,)
        yield (2,)
        raise LookupError("my own")

    with pytest.raises(LookupError, match="my own") as caught:
        many(peer, session, data())
    assert session.usable_after(caught.value)
    assert server.executions == 3


def test_errors_of_single_rows_are_no_sign_of_a_stale_statement() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    many(peer, session, [(0,)])
    server.fail = {2}
    outcome = many(peer, session, [(1,), (2,), (3,)])
    assert [error.row for error in outcome.errors] == [0]
    assert outcome.rows == 2
    assert server.log.count("PREPARE 0") == 1


def test_a_repeated_number_sends_its_value_twice() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    outcome = peer.run(execute_many(session, "INSERT INTO t VALUES (:2, :1, :2)", 3, [(1, 20), (3, 40)]))
    assert outcome.rows == 2
    sent = [
        [int.from_bytes(v.data or b"", "big") for v in g[1].values]
        for g in peer.groups
        if isinstance(g[1], m.Bind)
    ]
    assert sent == [[20, 1, 20], [40, 3, 40]]
    assert server.texts[0] == "INSERT INTO t VALUES (?, ?, ?)"


def test_named_rows_are_taken_from_mappings() -> None:
    server, session = Server(), caching()
    peer = Peer(server)
    data: list[object] = [{"a": 1, "b": 2}, {"b": 4, "a": 3}]
    outcome = peer.run(execute_many(session, "INSERT INTO t VALUES (:a, :b, :a)", 3, data))  # type: ignore[arg-type]
    assert outcome.rows == 2
    with pytest.raises(ProgrammingError, match="No value for :b") as caught:
        peer.run(execute_many(session, "INSERT INTO t VALUES (:a, :b, :a)", 3, [{"a": 1}]))
    assert caught.value.row == 0
    assert session.usable_after(caught.value)


def test_columns_of_loaded_tables_are_kept_as_long_as_statements_are() -> None:
    cache = StatementCache(2)
    for name in ("a", "b", "c"):
        cache.store_table(name, COLUMNS)
    assert list(cache.tables) == ["b", "c"]
    cache.invalidate_after(StatementType.INSERT)
    assert list(cache.tables) == ["b", "c"]
    cache.clear()
    assert not cache.tables
    StatementCache(0).store_table("a", COLUMNS)


@pytest.mark.parametrize(
    ("kind", "several"),
    [
        (StatementType.EXECUTE_PROCEDURE, False),
        (StatementType.UPDATE, True),
        (StatementType.CREATE_TABLE, False),
    ],
)
def test_what_may_begin_a_transaction_unseen_lets_loads_ask_again(kind: StatementType, several: bool) -> None:
    cache = StatementCache(2)
    cache.store_table("a", COLUMNS)
    cache.invalidate_after(kind, several=several)
    assert not cache.tables
