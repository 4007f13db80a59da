"""Scroll cursors and named cursors: the messages with a scripted peer (SQLI sections 7 and 13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.operations.scripted_peer import COLUMNS, FRAMING, Group, Peer, new_session, rows, select

from informix_arrow.operations.batches import Batches
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.io_steps import Call, CancelReason
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.scroll import MAX_ROWS_AHEAD, Scroller
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import (
    DataError,
    NotSupportedError,
    OperationalError,
    ProtocolError,
    QueryCanceled,
)
from informix_arrow.wire.types import ColumnType

DONE = [m.Done(), m.Cost()]
SFETCH = "Id ScrollFetch"


def make_rows(batch: pa.RecordBatch) -> list[Any]:
    assert set(batch["sentinel"].to_pylist()) <= {12345}
    return list(batch.column(0).to_pylist())


class Keeper:
    """A server with a result of ``count`` rows numbered from 100."""

    def __init__(
        self, count: int, *, number_first: bool = True, columns: tuple[Column, ...] = COLUMNS
    ) -> None:
        self.count = count
        self.number_first = number_first
        self.columns = columns
        self.made: Callable[[int], Sequence[m.Message]] = lambda number: rows(99 + number)
        self.fetched: list[tuple[int, int, int]] = []
        self.instead: dict[int, list[m.Message]] = {}  # replies to fetches of these 1-based numbers

    def __call__(self, group: Group) -> Sequence[m.Message]:
        if isinstance(group[0], m.Prepare):
            return select(3, self.columns)
        fetch = group[-1]
        if not isinstance(fetch, m.ScrollFetch):
            return ()
        assert group[0] == m.Id(3)
        self.fetched.append((fetch.how, fetch.target, fetch.size))
        number = self.count if fetch.how == m.ScrollFetch.LAST else fetch.target
        if number in self.instead:
            return self.instead[number]
        if not 1 <= number <= self.count:
            return DONE
        found = [m.TupleId(number), *self.made(number)]
        return [*(found if self.number_first else reversed(found)), *DONE]


def scroller(peer: Peer, session: Session, options: ReadOptions | None = None) -> Scroller:
    cursor = peer.run(execute_statement(session, "select", (), options or ReadOptions(scroll=True)))
    assert isinstance(cursor, ServerCursor)
    return Scroller(cursor, make_rows)


def steps(peer: Peer) -> list[str]:
    """Return the names of the messages since the last call."""
    done, peer.steps = peer.steps, []
    return done


def test_the_cursor_is_opened_as_jdbc_opens_it() -> None:
    """The OPEN fetches nothing. HOLD comes before SCROLL (JDBC section 5)."""
    for options, group in (
        (ReadOptions(scroll=True), "Id CursorName Scroll Open"),
        (ReadOptions(scroll=True, with_hold=True), "Id CursorName Hold Scroll Open"),
        (ReadOptions(name="c1"), "Id CursorName Open"),
        (ReadOptions(name="c1", with_hold=True), "Id CursorName Hold Open"),
        (ReadOptions(with_hold=True), "Id CursorName Hold Open Id Fetch"),
    ):
        peer, session = (
            Peer([select(), [] if options.scroll or options.name else [*rows(1), *DONE]]),
            new_session(),
        )
        peer.run(execute_statement(session, "select", (), options))
        assert peer.names()[1] == group
    peer, session = Peer([select(), []]), new_session()
    peer.run(
        execute_statement(session, "select ?", (5,), ReadOptions(scroll=True, with_hold=True, name="c1"))
    )
    assert peer.names()[1] == "Id CursorName Bind Hold Scroll Open"
    assert peer.groups[1][1] == m.CursorName("c1")


def test_a_move_is_asked_for_by_the_bytes_that_jdbc_sends() -> None:
    """JDBC's bytes of "absolute(5)", except for the statement's id."""
    move = (m.Id(1), m.ScrollFetch(m.ScrollFetch.ABSOLUTE, 5), m.EndOfTurn())
    assert (
        b"".join(message.encode(FRAMING) for message in move).hex() == "00040001001700060000000500001000000c"
    )
    keeper = Keeper(9)
    peer, session = Peer(keeper), new_session()
    rows_of = scroller(peer, session)
    assert peer.run(rows_of.fetch_row(session, 4)) == [104]
    assert keeper.fetched == [(m.ScrollFetch.ABSOLUTE, 5, 4096)]


@pytest.mark.parametrize("number_first", [True, False], ids=["number, row", "row, number"])
@pytest.mark.parametrize("piece", [1, 2, 5, 17, 1 << 20])
def test_any_way_of_cutting_the_replies_gives_the_same_rows(piece: int, number_first: bool) -> None:
    """The protocol papers have both orders of the row and its number."""
    peer, session = Peer(Keeper(20, number_first=number_first), piece), new_session()
    rows_of = scroller(peer, session)
    assert peer.run(rows_of.fetch(session, 7)) == list(range(100, 107))
    assert peer.run(rows_of.fetch_row(session, -1, from_end=True)) == [119]
    assert peer.run(rows_of.fetch_row(session, 2)) == [102]
    assert peer.run(rows_of.fetch(session, None)) == list(range(103, 120))
    assert session.outstanding_requests == 0
    assert not session.pending_replies


def test_many_rows_cost_one_round_trip() -> None:
    keeper = Keeper(1000)
    peer, session = Peer(keeper), new_session()
    rows_of = scroller(peer, session)
    steps(peer)
    assert peer.run(rows_of.fetch(session, 50)) == list(range(100, 150))
    assert steps(peer).count("Send") == 1
    assert [fetch[:2] for fetch in keeper.fetched] == [(6, number) for number in range(1, 51)]


def test_who_goes_row_by_row_is_read_ahead_for_and_who_jumps_is_not() -> None:
    keeper = Keeper(1000)
    peer, session = Peer(keeper), new_session()
    rows_of = scroller(peer, session)
    for number in range(31):
        assert peer.run(rows_of.fetch(session, 1)) == [100 + number]
    assert [fetch[1] for fetch in keeper.fetched] == list(range(1, 32))  # 1 + 2 + 4 + 8 + 16
    for number in (500, 30, 700):
        keeper.fetched.clear()
        assert peer.run(rows_of.fetch_row(session, number)) == [100 + number]
        assert [fetch[1] for fetch in keeper.fetched] in ([number + 1], [])
    keeper.fetched.clear()
    peer.run(rows_of.fetch_row(session, 2))
    peer.run(rows_of.fetch(session, None))
    assert len(keeper.fetched) <= 1 + 997 + MAX_ROWS_AHEAD


def test_wide_rows_are_asked_for_a_few_at_a_time_and_with_room_for_one() -> None:
    wide = (Column("text", ColumnType.char(30000)), Column("sentinel", ColumnType.integer()))
    keeper = Keeper(100, columns=wide)
    keeper.made = lambda number: [m.Tuple(0, b"x" * 30000 + (12345).to_bytes(4, "big"))]
    peer, session = Peer(keeper), new_session()
    rows_of = scroller(peer, session)
    steps(peer)
    assert peer.run(rows_of.fetch(session, 60)) == ["x" * 30000] * 60
    assert steps(peer).count("Send") == 2
    assert {size for _, _, size in keeper.fetched} == {30004}


def test_a_server_may_send_rows_behind_the_one_that_was_asked_for() -> None:
    """The client requests these rows again, so that no row is returned twice."""
    for reported in (1, 3):
        keeper = Keeper(3)
        keeper.instead[1] = [*rows(100, 101, 102), m.TupleId(reported)]
        peer, session = Peer(keeper), new_session()
        assert peer.run(scroller(peer, session).fetch(session, None)) == [100, 101, 102]


@pytest.mark.parametrize("reported", [1, 3, 0, -2])
def test_a_row_with_another_number_ends_the_session(reported: int) -> None:
    keeper = Keeper(9)
    keeper.instead[2] = [m.TupleId(reported), *rows(101)]
    peer, session = Peer(keeper), new_session()
    with pytest.raises(
        ProtocolError, match=f"Row 2 of a scroll cursor was requested, but row {reported} came"
    ) as caught:
        peer.run(scroller(peer, session).fetch_row(session, 1))
    assert not session.usable_after(caught.value)


def test_the_last_row_must_have_its_number() -> None:
    keeper = Keeper(9)
    keeper.instead[9] = [*rows(108), *DONE]
    peer, session = Peer(keeper), new_session()
    with pytest.raises(ProtocolError, match="without its number"):
        peer.run(scroller(peer, session).fetch_row(session, -1, from_end=True))


def test_a_row_that_fails_on_the_server_fails_when_its_turn_comes() -> None:
    """-244: another session has locked it. Rows before and after it are returned."""
    keeper = Keeper(9)
    keeper.instead[4] = [m.Err(-244, -107, 0, "t")]
    peer, session = Peer(keeper), new_session()
    rows_of = scroller(peer, session)
    assert peer.run(rows_of.fetch(session, 3)) == [100, 101, 102]
    for _ in range(2):
        with pytest.raises(OperationalError) as caught:
            peer.run(rows_of.fetch(session, 3))
        assert caught.value.sqlcode == -244
        assert session.usable_after(caught.value)
        assert rows_of.rownumber == 3
    with pytest.raises(OperationalError):
        peer.run(rows_of.fetch(session, None))
    assert rows_of.rownumber == 3
    assert peer.run(rows_of.fetch_row(session, 4)) == [104]
    del keeper.instead[4]
    peer.run(rows_of.scroll(session, 0, "first"))
    assert peer.run(rows_of.fetch(session, None)) == list(range(100, 109))


def test_rows_of_an_attempt_that_failed_come_again() -> None:
    keeper = Keeper(MAX_ROWS_AHEAD + 50)
    keeper.instead[MAX_ROWS_AHEAD + 10] = [m.Err(-244, -107, 0, "t")]
    peer, session = Peer(keeper), new_session()
    rows_of = scroller(peer, session)
    with pytest.raises(OperationalError):
        peer.run(rows_of.fetch(session, None))
    assert rows_of.rownumber == 0
    keeper.instead.clear()
    assert len(peer.run(rows_of.fetch(session, None))) == MAX_ROWS_AHEAD + 50


def test_a_value_that_is_none_is_reported_with_the_number_of_its_row_and_can_be_gone_past() -> None:
    """Byte ff is invalid UTF-8."""
    keeper = Keeper(9, columns=(Column("word", ColumnType.char(4)), Column("sentinel", ColumnType.integer())))
    keeper.made = lambda number: [
        m.Tuple(0, (b"ab\xffd" if number == 6 else b"w%03d" % number) + (12345).to_bytes(4, "big"))
    ]
    session = new_session()
    session.framing = session.framing.with_encoding("utf-8")
    peer = Peer(keeper)
    rows_of = scroller(peer, session)
    assert peer.run(rows_of.fetch(session, 3)) == ["w001", "w002", "w003"]
    assert peer.run(rows_of.fetch(session, 2)) == ["w004", "w005"]
    with pytest.raises(DataError, match="Column 'word', row 5") as caught:
        peer.run(rows_of.fetch(session, 3))
    assert (caught.value.row, caught.value.column) == (5, "word")
    assert session.usable_after(caught.value)
    assert rows_of.rownumber == 5
    assert peer.run(rows_of.fetch_row(session, 6)) == ["w007"]
    assert peer.run(rows_of.fetch(session, None)) == ["w008", "w009"]


def test_an_open_that_fails_releases_the_statement() -> None:
    peer, session = Peer([select(), [m.Err(-526)]]), new_session()
    with pytest.raises(Exception, match="-526") as caught:
        scroller(peer, session)
    assert session.usable_after(caught.value)
    peer.run(drain_pending_replies(session))
    assert peer.names()[2:] == ["Id Close", "Id Release"]
    assert not session.cursors


def named(peer: Peer, session: Session, **options: Any) -> Batches:
    cursor = peer.run(execute_statement(session, "select", (), ReadOptions(name="c1", **options)))
    assert isinstance(cursor, ServerCursor)
    return Batches(cursor)


def test_rows_of_a_named_cursor_are_fetched_when_they_are_asked_for() -> None:
    """WHERE CURRENT OF refers to the row fetched last, so nothing may be read ahead, and nothing closed too early."""
    peer, session = Peer([select(3), [], rows(7), rows(8), [*rows(9), *DONE]], piece=3), new_session()
    batches = named(peer, session)
    seen = []
    for number in range(3):
        assert len(peer.groups) == 2 + number
        batch = peer.run(batches.next(session))
        assert batch is not None
        seen += batch["id"].to_pylist()
    assert seen == [7, 8, 9]
    assert peer.names()[2:] == ["Id Fetch"] * 3
    width = 4 + 1 + 20 + 4
    assert peer.groups[2] == [m.Id(3), m.Fetch(width)]
    assert peer.run(batches.next(session)) is None
    peer.run(drain_pending_replies(session))
    assert peer.names()[5:] == ["Id Close", "Id Release"]
    assert peer.run(batches.next(session)) is None


def test_the_end_of_a_named_cursor_may_come_by_itself() -> None:
    for end in (DONE, [], [m.Err(100)]):
        peer, session = Peer([select(3), [], rows(7), list(end)]), new_session()
        batches = named(peer, session)
        assert peer.run(batches.next(session)) is not None
        assert peer.run(batches.next(session)) is None
        assert peer.run(batches.next(session)) is None


def test_several_rows_at_once_are_refused_where_they_would_shift_the_current_row() -> None:
    peer, session = Peer([select(3), [], rows(7, 8)]), new_session()
    batches = named(peer, session)
    with pytest.raises(NotSupportedError, match=r"2 rows of cursor 'c1' at once.*FOR UPDATE") as caught:
        peer.run(batches.next(session))
    assert session.usable_after(caught.value)
    peer.run(drain_pending_replies(session))
    assert peer.names()[3:] == ["Id Close", "Id Release"]


def test_a_named_cursor_that_the_server_has_closed_says_so() -> None:
    peer, session = Peer([select(3), [], rows(7), [m.Err(-259)]]), new_session()
    batches = named(peer, session)
    assert peer.run(batches.next(session)) is not None
    with pytest.raises(Exception, match="COMMIT and ROLLBACK close cursors") as caught:
        peer.run(batches.next(session))
    assert session.usable_after(caught.value)


def test_a_call_that_is_to_end_asks_for_no_more_rows() -> None:
    """An interrupt between two requests of a fetchall() does not affect the server."""
    keeper = Keeper(10 * MAX_ROWS_AHEAD)
    peer, session = Peer(keeper), new_session(autocommit=True)
    found = scroller(peer, session)
    session.call = Call(None)
    assert len(peer.run(found.fetch(session, 3))) == 3
    session.call.cancel_reason = CancelReason.CANCEL
    before = len(keeper.fetched)
    with pytest.raises(QueryCanceled):
        peer.run(found.fetch(session, None))
    assert (len(keeper.fetched), found.position) == (before, 2)
    session.call = None
    assert peer.run(found.fetch(session, 2)) == [103, 104]
