"""The window of fetches: when it grows, its limits, and how it ends, over a simulated link with its own clock."""

from __future__ import annotations

import math
from collections import deque

import pytest
from tests.internals import batch_of
from tests.unit.operations.scripted_peer import Group, Peer, new_session, other, rows, select

from informix_arrow.operations.connect import disconnect
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import DISCARD_SECONDS, ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.fetch_window import MAX_FETCHES, FetchWindow
from informix_arrow.operations.io_steps import Call, CancelReason, ConnectionLost, Receive
from informix_arrow.operations.request_reply import drain_pending_replies, request
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import Error, QueryCanceled

pytestmark = pytest.mark.slow

DONE = [m.Done(), m.Cost()]
ROWS_PER_REPLY = 3


class Link(Peer):
    """A server at a distance of ``trip`` seconds, on a link of ``speed`` bytes a second, with a clock.

    The query has ``replies`` replies of three rows, the last with one row and SQ_DONE. Fetch number ``error_at``
    and all after it are answered by an error. ``work`` is the time that the server takes for each reply.
    """

    def __init__(
        self, trip: float, speed: float = 1e9, replies: int = 100, error_at: int = 0, work: float = 0.0
    ) -> None:
        super().__init__(self.replies_to)
        self.trip, self.speed, self.replies, self.error_at, self.work = trip, speed, replies, error_at, work
        self.now = 0.0
        self.arriving: deque[tuple[float, bytes]] = deque()
        self.fetches = 0
        self.waits = 0
        self.most_on_their_way = 0  # replies to fetches, including the one being read
        self.served_until = self.line_free = 0.0

    def session(self, **state: object) -> Session:
        session = new_session(round_trip=self.trip, **{"fetch_window": 1 << 20, **state})
        session.clock = lambda: self.now
        return session

    def replies_to(self, group: Group) -> list[m.Message]:
        kinds = {type(message) for message in group}
        if m.Prepare in kinds:
            return select()
        if m.Command in kinds:
            return other(StatementType.UPDATE)
        if m.Fetch not in kinds:
            return []
        self.fetches += 1
        first = ROWS_PER_REPLY * (self.fetches - 1)
        if self.error_at and self.fetches >= self.error_at:
            return [m.Err(-244, -107)]
        if self.fetches > self.replies:
            return list(DONE)
        if self.fetches == self.replies:
            return [*rows(first), *DONE]
        return rows(*range(first, first + ROWS_PER_REPLY))

    def answer(self, group: Group) -> None:
        super().answer(group)
        data = bytes(self.outgoing)
        self.outgoing.clear()
        fetch = any(isinstance(message, m.Fetch) for message in group)
        begun = max(self.served_until, self.now + self.trip / 2)
        self.served_until = begun + (self.work if fetch else 0.0)
        sent = max(self.served_until, self.line_free)
        self.line_free = sent + len(data) / self.speed
        begins = self.line_free - len(data[7:]) / self.speed
        if len(data) / self.speed > 0.001:  # its first bytes arrive before the others
            self.arriving.append((begins + self.trip / 2, data[:7]))
            data = data[7:]
        self.arriving.append((self.line_free + self.trip / 2, data))
        on_their_way = sum(len(each) > 7 for _, each in self.arriving)
        self.most_on_their_way = max(self.most_on_their_way, on_their_way)

    def do(self, step: object) -> int:
        if isinstance(step, Receive) and not self.outgoing:
            assert self.arriving, "the exchange waits for bytes that nobody will send"
            if self.arriving[0][0] > self.now:
                silence = self.arriving[0][0] - self.now
                if step.idle_timeout is not None and silence > step.idle_timeout:
                    self.now += step.idle_timeout
                    raise ConnectionLost("The server was silent")
                self.now = self.arriving[0][0]
                self.waits += 1
            while self.arriving and self.arriving[0][0] <= self.now:
                self.outgoing += self.arriving.popleft()[1]
        return super().do(step)


def opened(link: Link, session: Session, **options: int) -> ServerCursor:
    cursor = link.run(execute_statement(session, "select", (), ReadOptions(fetch_bytes=4096, **options)))
    assert isinstance(cursor, ServerCursor)
    return cursor


def read(link: Link, session: Session, cursor: ServerCursor, found: list[int] | None = None) -> list[int]:
    found = [] if found is None else found
    while (taken := link.run(next_batch(session, cursor))) is not None:
        batch = batch_of(cursor.plan.schema.__arrow_c_schema__(), taken[0])
        assert set(batch["sentinel"].to_pylist()) == {12345}
        found += batch["id"].to_pylist()
    return found


def all_rows(replies: int) -> list[int]:
    return list(range(ROWS_PER_REPLY * (replies - 1) + 1))


@pytest.mark.parametrize("replies", [1, 2, 3, 5, 17, 100, 999])
def test_every_row_comes_once_and_the_replies_cost_few_round_trips(replies: int) -> None:
    link = Link(0.1, replies=replies)
    session = link.session()
    cursor = opened(link, session)
    began = link.now
    assert read(link, session, cursor) == all_rows(replies)
    assert link.now - began <= 0.1 * 6.5
    link.run(drain_pending_replies(session))
    assert not session.pending_replies
    assert cursor.in_flight == 0
    assert link.names()[-2:] == ["Id Close", "Id Release"]


def test_one_fetch_at_a_time_costs_a_round_trip_each() -> None:
    """The window avoids these round trips, and fetch_window_bytes=0 restores them."""
    link = Link(0.1, replies=20)
    session = link.session(fetch_window=0)
    cursor = opened(link, session)
    assert read(link, session, cursor) == all_rows(20)
    assert link.most_on_their_way == 1
    assert link.now > 20 * 0.1
    assert link.fetches == 20


def test_a_result_of_one_reply_is_asked_for_once() -> None:
    link = Link(0.1, replies=1)
    session = link.session()
    assert read(link, session, opened(link, session)) == [0]
    link.run(drain_pending_replies(session))
    assert link.fetches == 1
    assert link.names() == [
        "Prepare NDescribe WantDone",
        "Id CursorName Open Id Fetch",
        "Id Close",
        "Id Release",
    ]


@pytest.mark.parametrize(
    ("limit", "most", "replies"),
    [(4096, 2, 300), (8192, 3, 300), (5 * 4096, 6, 300), (1 << 30, MAX_FETCHES + 1, 4000)],
)
def test_the_window_is_bounded_in_bytes_and_fetches(limit: int, most: int, replies: int) -> None:
    """The limit includes the reply that is being read."""
    link = Link(0.1, replies=replies)
    session = link.session(fetch_window=limit)
    assert read(link, session, opened(link, session)) == all_rows(replies)
    assert link.most_on_their_way <= most
    assert link.most_on_their_way >= most // 2


def test_a_server_that_is_slow_itself_is_not_asked_ahead_for_more_than_seconds() -> None:
    """A distance of a millisecond, and half a second of work for each reply: eight replies take four seconds."""
    link = Link(0.001, replies=60, work=0.5)
    session = link.session()
    assert read(link, session, opened(link, session)) == all_rows(60)
    assert link.most_on_their_way <= 9


def test_a_slow_line_is_not_filled_for_more_than_seconds() -> None:
    """Replies of some 60 bytes over a link of 100 bytes a second."""
    link = Link(0.02, speed=100, replies=60)
    session = link.session()
    assert read(link, session, opened(link, session)) == all_rows(60)
    assert link.most_on_their_way <= 9


def test_a_near_server_is_asked_ahead_for_one() -> None:
    """The round trip does not matter if the replies take much longer, so a larger window has no effect."""
    link = Link(0.0001, replies=300, work=0.002)
    session = link.session()
    cursor = opened(link, session)
    assert read(link, session, cursor) == all_rows(300)
    assert link.most_on_their_way <= 4
    assert cursor.window is not None
    assert cursor.window.ahead <= 2


def test_a_caller_that_is_slow_leaves_the_window_as_it_is() -> None:
    """Replies that arrived while the caller was busy make the network look infinitely fast."""
    link = Link(0.01, speed=6000, replies=200)
    session = link.session()
    cursor = opened(link, session, batch_rows=6)
    found: list[int] = []
    while (taken := link.run(next_batch(session, cursor))) is not None:
        found += batch_of(cursor.plan.schema.__arrow_c_schema__(), taken[0])["id"].to_pylist()
        link.now += 1.0
    assert found == all_rows(200)
    assert link.most_on_their_way <= 4


@pytest.mark.parametrize(
    ("trip", "seconds", "ahead"),
    [
        (0.2, 0.0099, 32),  # far away over a fast link: as many as arrive in several round trips
        (0.02, 0.0099, 4),
        (0.02, 0.05, 1),
        (0.1, None, 32),  # in one piece
        (0.0002, None, 1),  # near: one fetch ahead, as without a window
        (0.0002, 0.003, 1),
        (math.inf, 0.01, 1),  # the distance is unknown
    ],
)
def test_the_first_window_comes_from_the_first_reply(trip: float, seconds: float | None, ahead: int) -> None:
    session = new_session()
    session.clock, session.round_trip = lambda: 100.0, trip
    arriving = None if seconds is None else 100.0 - seconds
    assert FetchWindow(session, 64, None, arriving).ahead == ahead
    assert FetchWindow(session, 64, 10.0, arriving).ahead == (ahead if trip < math.inf else 1)
    assert FetchWindow(session, 3, None, arriving).ahead == min(ahead, 3)
    soon = (arriving or 100.0) - 0.0001  # the first bytes arrived soon, whatever the session has measured
    assert FetchWindow(session, 64, soon, arriving).ahead == 1


def test_a_long_result_costs_few_round_trips_beside_its_bytes() -> None:
    """The first reply, the second one, the first window, and then as much as the link transfers."""
    link = Link(0.1, speed=60e3, replies=900)  # a reply per millisecond
    session = link.session()
    cursor = opened(link, session)
    began = link.now
    assert read(link, session, cursor) == all_rows(900)
    assert link.now - began <= 0.9 + 3.5 * 0.1


def test_a_statement_behind_a_long_result_costs_one_round_trip() -> None:
    """The replies to surplus fetches are read with the statement's own."""
    link = Link(0.1, replies=900)
    session = link.session()
    assert read(link, session, opened(link, session)) == all_rows(900)
    assert session.pending_replies
    began = link.now
    assert link.run(request(session, (m.Command("update"),))).error is None
    assert link.now - began <= 0.11
    assert not session.pending_replies


def test_a_window_that_brought_nothing_is_given_up_and_tried_again_later() -> None:
    session = new_session()
    now = [0.0]
    session.clock, session.round_trip = lambda: now[0], 0.001
    window = FetchWindow(session, 100, requested_at=None, arriving_since=-0.05)
    window.begin_round(2)
    seen = []
    for _ in range(60):
        for _ in range(window.ahead):
            now[0] += 0.05  # each reply takes as long, however many fetches were sent
            window.record_reply()
        seen.append(window.ahead)
        window.begin_round(window.ahead)
    assert set(seen) == {1, 2}
    assert seen.count(2) <= 5
    assert seen.count(2) >= 2


@pytest.mark.parametrize("batches", [0, 1, 2, 3, 5, 8, 13, 21, 34])
def test_a_result_that_is_closed_early_leaves_the_session_in_step(batches: int) -> None:
    link = Link(0.05, replies=40)
    session = link.session()
    cursor = opened(link, session, batch_rows=3)
    for _ in range(batches):
        link.run(next_batch(session, cursor))
    began = link.now
    link.run(cursor.close(session))
    assert link.now - began <= 0.2
    assert not session.pending_replies
    assert link.run(request(session, (m.Command("update"),))).error is None
    assert len(session.buffer) == 0


def test_an_error_ends_the_result_once_and_later_replies_do_not_matter() -> None:
    link = Link(0.1, replies=90, error_at=40)
    session = link.session()
    cursor = opened(link, session, batch_rows=ROWS_PER_REPLY)
    found: list[int] = []
    with pytest.raises(Error, match="-244") as caught:
        read(link, session, cursor, found)
    assert session.usable_after(caught.value)
    assert found == list(range(39 * ROWS_PER_REPLY))
    link.run(drain_pending_replies(session))
    assert link.fetches > 40
    assert link.run(request(session, (m.Command("update"),))).error is None


def test_another_request_receives_what_is_on_its_way_and_little_is_sent_ahead_from_then_on() -> None:
    """The rows are kept for their reader, and need memory until it reads them."""
    link = Link(0.1, replies=200)
    session = link.session()
    cursor = opened(link, session, batch_rows=ROWS_PER_REPLY)
    found: list[int] = []
    for number in range(300):
        taken = link.run(next_batch(session, cursor))
        if taken is None:
            break
        found += batch_of(cursor.plan.schema.__arrow_c_schema__(), taken[0])["id"].to_pylist()
        if number == 30:
            assert link.most_on_their_way > 10
        if number >= 30 and number % 10 == 0:
            link.run(request(session, (m.Command("update"),)))
            assert cursor.in_flight == 0
            link.most_on_their_way = 0
    assert found == all_rows(200)
    assert link.most_on_their_way <= 2


def test_a_cancelled_call_ends_without_the_rest_of_its_batch() -> None:
    """A cancelled call sends no more fetches and reads the pending replies, and the next call gets its own reply."""
    link = Link(0.1, replies=500)
    session = link.session()
    cursor = opened(link, session, batch_rows=30)
    for _ in range(3):
        link.run(next_batch(session, cursor))
    assert cursor.in_flight > 10
    before = link.fetches
    session.call = Call(cancel_reason=CancelReason.CANCEL, interrupt_sent=False)
    cursor.ready_batches.clear()
    with pytest.raises(QueryCanceled):
        link.run(next_batch(session, cursor))
    assert link.fetches == before
    session.call = Call()
    assert not session.pending_replies
    assert link.run(request(session, (m.Command("update"),))).error is None


def test_discarding_what_is_on_its_way_has_a_time_limit() -> None:
    """A server that was fast and is slow now: the connection is closed, and the error says what to do."""
    link = Link(0.1, replies=500)
    session = link.session()
    cursor = opened(link, session, batch_rows=6)
    for _ in range(20):
        link.run(next_batch(session, cursor))
    assert cursor.in_flight > 10
    link.arriving = deque((at + 3.0 * number, data) for number, (at, data) in enumerate(link.arriving, 1))
    began = link.now
    with pytest.raises(ConnectionLost) as caught:
        link.run(cursor.close(session))
    assert link.now - began <= DISCARD_SECONDS + 3.0
    assert not session.usable_after(caught.value)


def test_replies_that_still_arrive_in_time_are_waited_for() -> None:
    link = Link(0.1, replies=500)
    session = link.session()
    cursor = opened(link, session, batch_rows=6)
    for _ in range(20):
        link.run(next_batch(session, cursor))
    link.arriving = deque((at + 0.01 * number, data) for number, (at, data) in enumerate(link.arriving, 1))
    link.run(cursor.close(session))
    assert not session.pending_replies
    assert session.idle_timeout is None


def test_logging_off_does_not_keep_the_rows_on_their_way() -> None:
    link = Link(0.1, replies=500)
    session = link.session()
    cursor = opened(link, session, batch_rows=6)
    for _ in range(20):
        link.run(next_batch(session, cursor))
    before = len(cursor.ready_batches)
    link.run(disconnect(session))
    assert len(cursor.ready_batches) == before
    assert link.names()[-1] == "Exit"


def test_fetches_of_a_large_window_leave_together() -> None:
    link = Link(0.1, replies=900)
    session = link.session()
    read(link, session, opened(link, session))
    assert link.fetches >= 900
    assert link.steps.count("Send") < 100


@pytest.mark.parametrize("sql", ["select", "select for update"])
def test_a_result_for_update_is_fetched_one_ahead(sql: str) -> None:
    """The rows are locked when they are fetched."""
    link = Link(0.1, replies=20)
    session = link.session()
    cursor = link.run(execute_statement(session, sql, (), ReadOptions(fetch_bytes=4096)))
    assert isinstance(cursor, ServerCursor)
    assert read(link, session, cursor) == all_rows(20)
    assert (link.most_on_their_way <= 2) is (sql != "select")
