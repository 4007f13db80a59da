"""Replies in very small pieces are parsed once, not once for each piece; and replies that never end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.operations.scripted_peer import COLUMNS, FRAMING, Peer, insert, new_session, rows, select
from tests.unit.operations.test_reply_limits import endless, flood, hostile

from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.prepare import prepare
from informix_arrow.operations.request_reply import drain_pending_replies, request
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column, StatementType
from informix_arrow.wire.errors import ProtocolError
from informix_arrow.wire.messages import Describe, InputDescribe
from informix_arrow.wire.primitives import NeedMoreData, Reader
from informix_arrow.wire.types import ColumnType, TypeCode

pytestmark = pytest.mark.slow

USVER = Framing(encoding="latin-1", usver=True)
MANY = [Column(f"c{n}", ColumnType.lvarchar(n % 5 + 1)) for n in range(1000)]

LONG = {
    "describe": (Describe.of_columns(StatementType.SELECT, 1, MANY), USVER),
    "short describe": (
        Describe.of_columns(StatementType.SELECT, 1, [Column("c", ColumnType.integer())] * 1000),
        FRAMING,
    ),
    "parameters": (InputDescribe(tuple(column.type for column in MANY)), USVER),
    "databases": (m.DbNames(tuple(f"db{n}" for n in range(1000))), FRAMING),
    "routine result": (
        m.RoutineResult(tuple([m.BoundValue(TypeCode.INTEGER.value, bytes(4), 0)] * 1000)),
        FRAMING,
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_a_message_of_many_parts_resumes_where_its_bytes_ended(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message, framing = LONG[name]
    data = message.encode(framing)
    whole = m.parse_server_message(Reader(data), framing)
    taken = [0]
    advance = Reader._advance

    def counted(self: Reader, size: int) -> int:
        taken[0] += 1
        return advance(self, size)

    monkeypatch.setattr(Reader, "_advance", counted)
    kept, attempts = None, 0
    for end in range(1, len(data) + 1):
        reader = Reader(data, 0, end, kept)
        attempts += 1
        try:
            found = m.parse_server_message(reader, framing)
        except NeedMoreData:
            kept = reader.partial
            continue
        assert end == len(data)
        assert found == whole
        assert reader.partial is None
    assert taken[0] < 25 * attempts  # the header and one part each time, however much was parsed before


DRIPPED: dict[str, Callable[[Session], Any]] = {
    "ask": lambda session: request(session, (m.DbList(),)),
    "prepare": lambda session: prepare(session, "select", 0),
}


@pytest.mark.parametrize("name", DRIPPED)
def test_a_large_reply_byte_for_byte_takes_no_longer_than_its_bytes(name: str) -> None:
    columns = tuple(Column(f"column_{n}", ColumnType.integer()) for n in range(2000))
    message = m.DbNames(tuple(f"database_{n}" for n in range(4000))) if name == "ask" else None
    answer = [message] if message else select(columns=columns)
    began = time.process_time()
    Peer([answer], piece=1).run(DRIPPED[name](new_session()))
    assert time.process_time() - began < 3  # parsing it again for each piece would take far longer


def test_what_is_kept_of_one_message_is_not_taken_for_another() -> None:
    session = new_session()
    lists = [m.DbNames(("a", "bb")), m.DbNames(("ccc",)), m.DbNames(())]
    reply = Peer([lists], piece=1).run(request(session, (m.DbList(),)))
    assert reply.other_messages == lists


def test_many_replies_byte_for_byte_are_counted_right() -> None:
    answer = [m.InsertDone(), m.Done(rows=1), m.Cost(), m.XactStat(1, 1, 0)]
    peer = Peer([insert(), answer], piece=1)
    peer.run(execute_statement(new_session(autocommit=True), "insert", (), ReadOptions()))


def an_open_cursor(session: Session, answer: list[m.Message]) -> ServerCursor:
    """Return a cursor whose first fetch has been sent."""
    cursor = Peer([select(), answer]).run(
        execute_statement(session, "select", (), ReadOptions(fetch_bytes=4096))
    )
    assert isinstance(cursor, ServerCursor)
    return cursor


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        (*rows(1), True),
        (m.XactStat(1, 1, 0), True),
        (*rows(1), False),
        (m.Tuple(0, b""), False),
        (m.XactStat(1, 1, 0), False),
    ],
    ids=["rows", "events", "rows passed over", "empty rows passed over", "events passed over"],
)
def test_a_fetch_reply_that_never_stops_is_refused(row: m.Message, wanted: bool) -> None:
    session = hostile()
    cursor = an_open_cursor(session, [*rows(1, 2)])
    if not cursor.in_flight:
        cursor.in_flight += 1
        session.pending_replies.append(cursor)
    if not wanted:
        cursor.decoder = None
    with pytest.raises(ProtocolError, match="max_reply_bytes"):
        flood(drain_pending_replies(session), endless(row, 2000))
    assert sum(1 for _ in cursor.ready_batches) < 100


def test_a_fetch_reply_within_the_limit_is_taken_in_whole() -> None:
    session = hostile()
    numbers = range(2000)
    peer = Peer([select(), [*rows(*numbers), m.Done(), m.Cost()]], piece=100)
    cursor = peer.run(execute_statement(session, "select", (), ReadOptions(fetch_bytes=4096)))
    assert isinstance(cursor, ServerCursor)
    assert len(COLUMNS) == len(cursor.columns)
    peer.run(drain_pending_replies(session))
    peer.run(next_batch(session, cursor))
    assert cursor.ended
