"""Reading rows: the messages around fetches, with a scripted peer (SQLI sections 7.1 to 7.5)."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from tests.internals import batch_of
from tests.unit.operations.scripted_peer import (
    COLUMNS,
    FRAMING,
    Group,
    Peer,
    arrived,
    insert,
    new_session,
    rows,
    select,
)

from informix_arrow.operations.batches import Batches
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import DecodedBatch, ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.io_steps import ConnectionLost
from informix_arrow.operations.open_cursor import make_cursor
from informix_arrow.operations.request_reply import clear_orphans, drain_pending_replies
from informix_arrow.operations.session import Session
from informix_arrow.rows.python_rows import DecodedRows, RowBuffer
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import (
    DataError,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    ProtocolError,
)
from informix_arrow.wire.types import ColumnType

DONE = [m.Done(), m.Cost()]
OPEN = "Id CursorName Open Id Fetch"
FETCH = "Id Fetch"


def open_query(peer: Peer, session: Session, sql: str = "select", **options: int) -> ServerCursor:
    cursor = peer.run(execute_statement(session, sql, (), ReadOptions(**options)))  # type: ignore[arg-type]
    assert isinstance(cursor, ServerCursor)
    return cursor


def to_batch(cursor: ServerCursor, taken: DecodedBatch | None) -> pa.RecordBatch:
    assert taken is not None
    batch = batch_of(cursor.plan.schema.__arrow_c_schema__(), taken[0])
    assert batch.num_rows == taken[1]
    return batch


def read(peer: Peer, session: Session, cursor: ServerCursor) -> list[int]:
    """Return the ids of all remaining rows."""
    found: list[int] = []
    while (taken := peer.run(next_batch(session, cursor))) is not None:
        batch = to_batch(cursor, taken)
        assert set(batch["sentinel"].to_pylist()) <= {12345}
        assert batch["name"].to_pylist() == [f"n{number}" for number in batch["id"].to_pylist()]
        found += batch["id"].to_pylist()
    return found


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 18, 1 << 20])
def test_any_way_of_cutting_the_replies_gives_the_same_rows(piece: int) -> None:
    """TCP may split replies anywhere. Surplus fetches are answered by DONE and have no effect."""

    def answer(group: Group) -> list[m.Message]:
        kinds = {type(message) for message in group}
        if m.Prepare in kinds:
            return select()
        if m.Fetch in kinds:
            fetches.append(1)
            batches = {1: rows(1, 2, 3), 2: rows(4), 3: [*rows(5, 6), *DONE]}
            return batches.get(len(fetches), list(DONE))
        return []

    fetches: list[int] = []
    peer, session = Peer(answer, piece), new_session()
    cursor = open_query(peer, session)
    assert read(peer, session, cursor) == [1, 2, 3, 4, 5, 6]
    peer.run(drain_pending_replies(session))
    assert not session.pending_replies
    assert session.outstanding_requests == 0
    assert peer.names()[-2:] == ["Id Close", "Id Release"]


def test_a_small_result_costs_no_surplus_fetch() -> None:
    peer, session = Peer([select(), [*rows(1, 2), *DONE]]), new_session()
    assert read(peer, session, open_query(peer, session)) == [1, 2]
    peer.run(drain_pending_replies(session))
    assert peer.names() == ["Prepare NDescribe WantDone", OPEN, "Id Close", "Id Release"]


def test_the_next_fetch_leaves_before_the_reply_is_decoded() -> None:
    """The reply has no DONE, so more rows will come. They are requested at once, and only once."""
    peer, session = Peer([select(), rows(1, 2), [*rows(3), *DONE]]), new_session()
    open_query(peer, session)
    assert peer.names()[1:] == [OPEN, FETCH]


def test_a_reply_without_tuples_ends_the_rows() -> None:
    peer, session = Peer([select(), rows(1), []]), new_session()
    assert read(peer, session, open_query(peer, session)) == [1]


@pytest.mark.parametrize("end", [m.Close(), m.Err(100)], ids=["SQ_CLOSE", "SQ_ERR 100"])
def test_other_signs_of_the_end_are_understood(end: m.Message) -> None:
    peer, session = Peer([select(), [*rows(1), end]]), new_session()
    assert read(peer, session, open_query(peer, session)) == [1]


def test_a_surplus_fetch_may_be_refused() -> None:
    peer, session = Peer([select(), rows(1), [*rows(2, 3, 4), *DONE], [m.Err(-259)]], piece=30), new_session()
    assert read(peer, session, open_query(peer, session)) == [1, 2, 3, 4]
    peer.run(drain_pending_replies(session))
    assert session.outstanding_requests == 0
    assert peer.names().count(FETCH) == 2


def test_rows_behind_the_end_are_never_dropped_in_silence() -> None:
    """After the end was reported, rows in the reply to a surplus fetch are an error."""
    peer, session = Peer([select(), rows(1), [*rows(2, 3, 4), *DONE], rows(5, 6)], piece=30), new_session()
    assert read(peer, session, open_query(peer, session)) == [1, 2, 3, 4]
    with pytest.raises(ProtocolError, match="sent 2 more rows after the end of a result") as caught:
        peer.run(drain_pending_replies(session))
    assert caught.value.statement


def test_a_result_without_rows_has_a_schema_and_no_batch() -> None:
    peer, session = Peer([select(), DONE]), new_session()
    cursor = open_query(peer, session)
    assert cursor.plan.schema.names == ["id", "name", "sentinel"]
    assert peer.run(next_batch(session, cursor)) is None


def test_batches_are_cut_by_rows() -> None:
    peer, session = Peer([select(), [*rows(1, 2, 3, 4, 5), *DONE]]), new_session()
    cursor = open_query(peer, session, batch_rows=2)
    sizes = []
    while (taken := peer.run(next_batch(session, cursor))) is not None:
        sizes.append(to_batch(cursor, taken).num_rows)
    assert sizes == [2, 2, 1]


def test_another_statement_first_takes_in_the_rows_on_their_way() -> None:
    """Two results are read alternately on one connection. Each gets its own rows."""

    def answer(group: Group) -> list[m.Message]:
        kinds = {type(message) for message in group}
        statement = next((x.statement_id for x in group if isinstance(x, m.Id)), None)
        if m.Prepare in kinds:
            prepared.append(1)
            return select(len(prepared) - 1)
        if m.Fetch in kinds:
            assert statement is not None
            served[statement] += 1
            number = served[statement]
            base = 100 * statement + 2 * number
            return rows(base, base + 1) if number < 4 else [*rows(base), *DONE] if number == 4 else DONE
        return []

    prepared: list[int] = []
    served = {0: 0, 1: 0}
    peer, session = Peer(answer, 25), new_session()
    first = open_query(peer, session, batch_rows=1)
    second = open_query(peer, session, batch_rows=1)
    found: dict[int, list[int]] = {0: [], 1: []}
    while True:
        both = [peer.run(next_batch(session, cursor)) for cursor in (first, second)]
        if both == [None, None]:
            break
        for number, (cursor, taken) in enumerate(zip((first, second), both, strict=True)):
            if taken is not None:
                found[number] += to_batch(cursor, taken)["id"].to_pylist()
    assert found[0] == [2, 3, 4, 5, 6, 7, 8]
    assert found[1] == [102, 103, 104, 105, 106, 107, 108]


def test_an_error_instead_of_rows_is_raised_by_the_query_and_the_statement_released() -> None:
    peer, session = Peer([select(3), [m.Err(-206, -111, 15, "nosuch")]]), new_session()
    with pytest.raises(ProgrammingError) as caught:
        open_query(peer, session, "select * from nosuch")
    assert (caught.value.sqlcode, caught.value.statement) == (-206, "select * from nosuch")
    assert session.usable_after(caught.value)
    assert peer.names()[-2:] == ["Id Close", "Id Release"]
    assert peer.groups[-1][0] == m.Id(3)
    assert not session.pending_replies


def test_an_error_in_the_middle_of_the_rows_leaves_the_session_usable() -> None:
    peer, session = Peer([select(), rows(1), [*rows(2), m.Err(-244, -107)]]), new_session()
    cursor = open_query(peer, session)
    with pytest.raises(Exception, match="-244") as caught:
        read(peer, session, cursor)
    assert session.usable_after(caught.value)
    assert not session.pending_replies


DATED = (Column("day", ColumnType.char(4)), Column("sentinel", ColumnType.integer()))


def test_a_value_that_cannot_be_decoded_costs_the_result_but_not_the_session() -> None:
    """Byte ff is invalid UTF-8. The rest of the reply is skipped by its headers, and so is the next reply."""
    good = m.Tuple(0, b"abcd" + (12345).to_bytes(4, "big"))
    bad = m.Tuple(0, b"ab\xffd" + (12345).to_bytes(4, "big"))
    session = new_session()
    session.framing = session.framing.with_encoding("utf-8")
    peer = Peer([select(0, DATED), [good, bad, good], [good, good, *DONE]])
    cursor = open_query(peer, session)
    before = to_batch(cursor, peer.run(next_batch(session, cursor)))
    assert before.to_pylist() == [{"day": "abcd", "sentinel": 12345}]  # rows before it are returned
    with pytest.raises(DataError) as caught:
        peer.run(next_batch(session, cursor))
    assert (caught.value.row, caught.value.column) == (1, "day")
    assert session.usable_after(caught.value)
    assert not session.pending_replies
    assert len(session.buffer) == 0
    assert peer.names()[-2:] == ["Id Close", "Id Release"]


def test_a_closed_cursor_drops_the_rows_on_their_way() -> None:
    peer, session = Peer([select(), rows(*range(50)), [*rows(51), *DONE]], piece=40), new_session()
    cursor = open_query(peer, session)
    peer.run(cursor.close(session))
    assert not session.pending_replies
    assert peer.run(next_batch(session, cursor)) is None
    peer.run(cursor.close(session))
    assert peer.names().count("Id Release") == 1


@pytest.mark.parametrize("large", [True, False], ids=["sizes of 4 bytes", "sizes of 2 bytes"])
@pytest.mark.parametrize("piece", [1, 2, 3, 7, 19, 1 << 20])
def test_rows_that_nobody_wants_are_passed_over_however_they_are_cut(piece: int, large: bool) -> None:
    """Rows of even and odd lengths, empty ones and long ones, whose bytes look like headers."""
    session = new_session(framing=replace(FRAMING, large_fetch=large))
    sizes = [0, 1, 2, 3, 17, 600, 5, 0, 9001]
    data = b"".join(
        m.Tuple(0, b"\0\x0e" * size + b"x" * (size % 2)).encode(session.framing) for size in sizes
    )
    data += m.Done().encode(session.framing) + m.EndOfTurn().encode(session.framing)
    cursor = make_cursor(session, 0, "select", COLUMNS, ReadOptions())
    cursor.decoder, cursor.in_flight, cursor.released = None, 1, True
    session.pending_replies.append(cursor)
    peer = Peer([], piece)
    peer.outgoing += data
    peer.run(cursor.read_reply(session))
    assert not peer.outgoing
    assert len(session.buffer) == 0
    assert (cursor.ended, cursor.in_flight, list(session.pending_replies)) == (True, 0, [])


def test_of_whole_rows_that_nobody_wants_no_messages_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(*_: object) -> m.Tuple:
        raise AssertionError("a message was made of a row that nobody wants")

    monkeypatch.setattr(m.Tuple, "parse", parsed)
    peer, session = Peer([select(), rows(*range(5000)), [*rows(5001), *DONE]]), new_session()
    session.buffer.reserve(1 << 20)  # all of them are in one piece
    peer.run(open_query(peer, session).close(session))
    assert not session.pending_replies
    assert len(session.buffer) == 0


def test_a_negative_length_among_rows_that_nobody_wants_breaks_the_session() -> None:
    session = new_session()
    cursor = make_cursor(session, 0, "select", COLUMNS, ReadOptions())
    cursor.decoder, cursor.in_flight = None, 1
    session.pending_replies.append(cursor)
    arrived(session, *rows(1), m.Tuple(0, b"four"))
    size = session.buffer.end - 8
    session.buffer.data[size : size + 4] = (-4).to_bytes(4, "big", signed=True)
    with pytest.raises(ProtocolError, match=f"SQ_TUPLE: The size -4 at offset {size}") as caught:
        Peer([]).run(cursor.read_reply(session))
    assert not session.usable_after(caught.value)


def test_a_forgotten_cursor_is_released_later() -> None:
    peer, session = Peer([select(), rows(*range(50)), [*rows(51), *DONE]], piece=40), new_session()
    session.orphans.append(open_query(peer, session))
    assert "Id Release" not in peer.names()
    peer.run(clear_orphans(session))
    assert peer.names()[-1] == "Id Release"
    assert not session.pending_replies


def test_a_statement_without_rows_is_not_executed_by_a_query() -> None:
    peer, session = Peer([insert(), []]), new_session()
    with pytest.raises(ProgrammingError, match="was not executed"):
        peer.run(execute_statement(session, "insert ...", (), ReadOptions(), need_rows=True))
    assert peer.names() == ["Prepare NDescribe WantDone", "Id Release"]


def test_a_type_that_cannot_be_read_is_refused_by_name_and_released() -> None:
    columns = (Column("photo", ColumnType(99, 4)), *COLUMNS)
    peer, session = Peer([select(0, columns), []]), new_session()
    with pytest.raises(NotSupportedError, match="photo") as caught:
        open_query(peer, session)
    assert session.usable_after(caught.value)
    assert peer.names() == ["Prepare NDescribe WantDone", "Id Release"]


@pytest.mark.parametrize(("large", "size"), [(True, 1 << 20), (False, 32767)])
def test_the_fetch_size_is_cut_to_what_the_server_negotiated(large: bool, size: int) -> None:
    """Without bit 63 the size is a signed short (SQLI section 5.1)."""
    session = new_session(framing=replace(FRAMING, large_fetch=large))
    cursor = make_cursor(session, 0, "select", COLUMNS, ReadOptions(fetch_bytes=1 << 20))
    assert cursor.fetch_bytes == size


def test_a_lost_connection_is_reported_and_unusable() -> None:
    peer, session = Peer([select(), rows(1)]), new_session()
    peer.hang_up = True
    cursor = open_query(peer, session)
    with pytest.raises(ConnectionLost) as caught:
        read(peer, session, cursor)
    assert not session.usable_after(caught.value)


def test_a_message_out_of_place_breaks_the_session() -> None:
    peer, session = Peer([select(), [*rows(1), m.DbNames(("a",))]]), new_session()
    with pytest.raises(ProtocolError) as caught:
        read(peer, session, open_query(peer, session))
    assert not session.usable_after(caught.value)


DAYS = (
    Column("id", ColumnType.integer()),
    Column("day", ColumnType.date()),
    Column("sentinel", ColumnType.integer()),
)


def day_rows(count: int, bad: int | None) -> list[m.Message]:
    """Return rows with an invalid day in row ``bad``."""
    return [
        m.Tuple(
            0,
            b"".join(
                n.to_bytes(4, "big", signed=True) for n in (row, 2**31 - 1 if row == bad else row, 12345)
            ),
        )
        for row in range(count)
    ]


@pytest.mark.parametrize("batch_rows", [1, 7, 1 << 20])
@pytest.mark.parametrize("bad", [0, 1, 6, 7, 8, 20, 29])
@pytest.mark.parametrize("way", ["next", "next_decoded"])
def test_rows_before_one_that_cannot_be_read_come_first_and_those_behind_it_never(
    way: str, bad: int, batch_rows: int
) -> None:
    """The rows are read as batches and as rows of the decoder. The first row of each is read as a Python row, the
    others as Arrow."""
    session = new_session()
    peer = Peer([select(columns=DAYS), [*day_rows(30, bad), *DONE], [], []], piece=64)
    batches = Batches(open_query(peer, session, batch_rows=batch_rows))
    take = getattr(batches, way)
    reader = RowBuffer()
    found: list[tuple[object, ...]] = []

    def read() -> None:
        while (batch := peer.run(take(session))) is not None:
            assert isinstance(batch, DecodedRows if way == "next_decoded" else pa.RecordBatch)
            reader.add(batch)
            found.extend(reader.fetch(1))
            rest = reader.remaining_batch()
            found.extend([] if rest is None else [tuple(row.values()) for row in rest.to_pylist()])

    with pytest.raises(DataError) as caught:
        read()
    assert [(row[0], row[2]) for row in found] == [(number, 12345) for number in range(bad)]
    assert (caught.value.row, caught.value.column) == (bad, "day")
    batches.fail(caught.value)
    with pytest.raises(InterfaceError, match="Reading this result failed before"):
        read()
    peer.run(drain_pending_replies(session))
    assert session.usable_after(caught.value)
    assert not session.cursors
