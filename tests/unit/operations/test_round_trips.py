"""Sends, waits and round trips of a small statement with a scripted peer: counted, never timed."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from tests.unit.operations.scripted_peer import Group, Peer, new_session, rows, select
from tests.unit.operations.test_connect import PARAMETERS, LoginPeer

from informix_arrow.operations.batches import Batches
from informix_arrow.operations.connect import connect, disconnect
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.io_steps import run_without_io
from informix_arrow.operations.reset import InitialState, reset
from informix_arrow.operations.session import Session, SessionSettings, TransactionStatus
from informix_arrow.operations.statement_cache import StatementCache
from informix_arrow.operations.transaction import rollback
from informix_arrow.rows.python_rows import NO_ROW, RowBuffer
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import Error, OperationalError

OPEN, CLOSE = "Id CursorName Open Id Fetch", "Id Close"
SQL = "SELECT id, name, sentinel FROM t"


def answer(group: Group) -> list[m.Message]:
    if isinstance(group[0], m.Prepare):
        return select(3)
    if any(isinstance(message, m.Fetch) for message in group):
        return [*rows(1, 2), m.Done(rows=2), m.Cost()]
    return []


def caching(**state: object) -> Session:
    return new_session(**{"autocommit": True, "statements": StatementCache(8), **state})


def opened(peer: Peer, session: Session, sql: str = SQL, options: ReadOptions | None = None) -> ServerCursor:
    cursor = peer.run(execute_statement(session, sql, (), options or ReadOptions()))
    assert isinstance(cursor, ServerCursor)
    return cursor


def read(peer: Peer, session: Session, sql: str = SQL, options: ReadOptions | None = None) -> list[int]:
    batches = Batches(opened(peer, session, sql, options))
    found: list[int] = []
    while (batch := peer.run(batches.next(session))) is not None:
        assert batch["sentinel"].to_pylist() == [12345] * batch.num_rows
        found += batch["id"].to_pylist()
    return found


def round_trips(steps: list[str]) -> int:
    """Return how often the client waits for the reply to what it has sent."""
    return sum(step == "Receive" and before == "Send" for before, step in itertools.pairwise(steps))


def test_a_query_that_was_run_before_costs_one_send_and_one_receive() -> None:
    peer, session = Peer(answer), caching()
    assert read(peer, session) == [1, 2]
    for _ in range(3):
        peer.steps.clear()
        peer.groups.clear()
        assert read(peer, session) == [1, 2]
        assert peer.steps == ["Send", "Receive"]
        assert peer.names() == [CLOSE, OPEN], "the CLOSE of the run before rides in front"


def test_a_query_is_opened_by_the_same_bytes_each_time() -> None:
    """The cursor's name is the same each time, too: the statement has only one open cursor at a time."""
    peer, session = Peer(answer), caching()
    read(peer, session)
    read(peer, session)
    first, second = [group for group in peer.groups if isinstance(group[-1], m.Fetch)]
    assert first == second


def test_another_fetch_size_is_another_opening() -> None:
    peer, session = Peer(answer), caching()
    for size in (4096, 8192, 4096):
        read(peer, session, options=ReadOptions(fetch_bytes=size))
    asked = [group[-1].size for group in peer.groups if isinstance(group[-1], m.Fetch)]
    assert asked == [4096, 8192, 4096]


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 16, 1 << 20])
@pytest.mark.parametrize("cost", [True, False])
def test_the_end_of_a_reply_is_found_however_it_is_cut(piece: int, cost: bool) -> None:
    def answering(group: Group) -> list[m.Message]:
        behind = not any(
            isinstance(message, m.Prepare | m.Open) for message in group
        )  # a surplus fetch, or none
        said = [m.Done(), m.Cost()] if behind and isinstance(group[-1], m.Fetch) else answer(group)
        return said if cost else [message for message in said if not isinstance(message, m.Cost)]

    peer, session = Peer(answering, piece), caching()
    for _ in range(2):
        assert read(peer, session) == [1, 2]


def test_what_came_with_the_first_answer_is_read_without_the_server() -> None:
    peer, session = Peer(answer), caching()
    batches = Batches(opened(peer, session))
    assert batches.cursor.rows_reported
    batch = run_without_io(batches.next(session))
    assert batch is not None
    assert batch["id"].to_pylist() == [1, 2]
    assert run_without_io(batches.next(session)) is None


def test_rows_of_a_small_result_are_made_without_a_record_batch() -> None:
    peer, session = Peer(answer), caching()
    cursor = opened(peer, session)
    whole = cursor.pop_all_rows()
    assert whole is not None
    assert whole.num_rows == 2
    found = RowBuffer()
    found.add(whole)
    assert [(row[0], row[-1]) for row in found.fetch()] == [(1, 12345), (2, 12345)]
    assert found.next_row() is NO_ROW
    assert run_without_io(Batches(cursor).next(session)) is None, "nobody gets them twice"


def test_a_small_result_becomes_a_record_batch_where_one_is_wanted() -> None:
    peer, session = Peer(answer), caching()
    whole = opened(peer, session).pop_all_rows()
    assert whole is not None
    found = RowBuffer()
    found.add(whole)
    assert found.next_row()[0] == 1
    rest = found.remaining_batch()
    assert rest is not None
    assert (rest["id"].to_pylist(), rest["sentinel"].to_pylist()) == ([2], [12345])


def test_rows_are_not_taken_as_a_whole_where_there_is_more_to_them() -> None:
    peer, session = Peer([select(3), rows(1), [*rows(2), m.Done()]]), caching()
    assert opened(peer, session).pop_all_rows() is None, "more are to come"
    peer, session = Peer(answer), caching()
    cursor = opened(peer, session)
    assert run_without_io(Batches(cursor).next(session)) is not None
    assert cursor.pop_all_rows() is None, "a batch of them was made"


def test_rows_that_are_still_to_come_are_not_all_here() -> None:
    peer, session = Peer([select(3), rows(1), [*rows(2), m.Done()]]), caching()
    batches = Batches(opened(peer, session))
    assert not batches.cursor.rows_reported


def test_a_transaction_ends_behind_what_was_waiting() -> None:
    peer, session = Peer(answer), caching(autocommit=False)
    read(peer, session)
    session.transaction = TransactionStatus.OPEN
    peer.run(rollback(session))
    assert peer.names()[-2:] == [CLOSE, "Rollback"]


@pytest.mark.parametrize(
    ("sql", "state", "options"),
    [
        (SQL + " FOR UPDATE", {}, ReadOptions()),
        (
            SQL,
            {"settings": SessionSettings(isolation_now="REPEATABLE READ", isolation="REPEATABLE READ")},
            None,
        ),
        (
            SQL,
            {"settings": SessionSettings(isolation_now="CURSOR STABILITY", isolation="CURSOR STABILITY")},
            None,
        ),
        (SQL, {"ansi": True}, None),
        (SQL, {}, ReadOptions(with_hold=True)),
        (SQL, {}, ReadOptions(isolation="dirty")),
    ],
    ids=["for update", "repeatable", "cursor stability", "ANSI", "hold", "isolation of its own"],
)
def test_a_cursor_that_may_hold_locks_is_closed_at_once(
    sql: str, state: dict[str, object], options: ReadOptions | None
) -> None:
    peer, session = Peer(answer), caching(**state)
    assert read(peer, session, sql, options) == [1, 2]
    assert CLOSE in peer.names()
    assert not session.outbox


def test_a_connection_goes_back_to_its_pool_with_nothing_left_open() -> None:
    peer, session = Peer(answer), caching()
    ground = InitialState.capture(session)
    read(peer, session)
    assert CLOSE not in peer.names()
    peer.steps.clear()
    peer.run(reset(session, ground))
    assert peer.names()[-1] == CLOSE
    assert peer.steps == ["Send"], "nobody waits for the answer"
    peer.steps.clear()
    peer.run(reset(session, ground))
    assert peer.steps == [], "and there is nothing to be said a second time"


def test_the_goodbye_leaves_together_with_what_was_waiting() -> None:
    peer, session = (
        Peer(lambda group: [m.Exit()] if isinstance(group[0], m.Exit) else answer(group)),
        caching(),
    )
    read(peer, session)
    peer.steps.clear()
    peer.run(disconnect(session))
    assert peer.names()[-2:] == [CLOSE, "Exit"]
    assert round_trips(peer.steps) == 1


def test_a_connection_costs_four_round_trips() -> None:
    """Login, protocols, then the database with the query for its locale, then the rows of that query."""
    peer = LoginPeer()
    session = peer.run(connect(PARAMETERS))
    assert (session.database, session.locale, session.outstanding_requests) == ("stores", "en_US.57372", 0)
    assert round_trips(peer.steps) == 4


def test_isolation_and_lock_wait_cost_one_more_together() -> None:
    peer = LoginPeer()
    session = peer.run(connect(replace(PARAMETERS, isolation="dirty", lock_wait=5)))
    assert round_trips(peer.steps) == 5
    said = [group[0].sql for group in peer.groups if isinstance(group[0], m.Command)]
    assert said == ["SET ISOLATION TO DIRTY READ", "SET LOCK MODE TO WAIT 5"]
    assert (session.settings.isolation, session.settings.lock_mode_now) == ("DIRTY READ", "WAIT 5")


def test_of_two_settings_the_refused_one_is_reported_and_the_other_holds() -> None:
    peer = LoginPeer()
    converse = peer.answers
    assert callable(converse)

    def answers(group: Group) -> list[m.Message]:
        if isinstance(group[0], m.Command) and "ISOLATION" in group[0].sql:
            return [m.Err(-559)]
        return list(converse(group))

    peer.answers = answers
    with pytest.raises(Error) as caught:
        peer.run(connect(replace(PARAMETERS, isolation="dirty", lock_wait=5)))
    assert caught.value.sqlcode == -559
    assert peer.exits == 1


def test_a_connection_without_a_database_costs_three_round_trips() -> None:
    peer = LoginPeer()
    peer.run(connect(replace(PARAMETERS, database="")))
    assert round_trips(peer.steps) == 3


def test_an_ansi_database_is_left_without_a_transaction_by_the_question_for_its_locale() -> None:
    peer = LoginPeer()
    peer.warnings = 7
    session = peer.run(connect(PARAMETERS))
    assert session.ansi
    assert peer.names()[-1] == "Commit"
    assert round_trips(peer.steps) == 4


def test_no_locale_is_asked_for_behind_a_database_that_is_refused() -> None:
    peer = LoginPeer()
    peer.refuse = -329
    with pytest.raises(OperationalError) as caught:
        peer.run(connect(PARAMETERS))
    assert caught.value.sqlcode == -329
    assert OPEN not in peer.names()
    assert peer.exits == 1
