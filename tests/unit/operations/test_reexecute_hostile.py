"""A repeated small query whose reply is corrupted: it returns the rows in the reply or an error, and the next query
returns its own rows or an error. On both paths of the client for a query that it has executed before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.operations.scripted_peer import FRAMING, Group, Peer, new_session, rows, select

from informix_arrow.operations import execute as running
from informix_arrow.operations.batches import Batches
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.session import Session
from informix_arrow.operations.statement_cache import StatementCache
from informix_arrow.rows.parameters import parse
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import Error
from informix_arrow.wire.primitives import NeedMoreData, Reader

pytestmark = pytest.mark.slow

SQL = "SELECT id, name, sentinel FROM t WHERE id > ?"
OPTIONS = ReadOptions()
Row = tuple[int | None, str | None, int | None]

FRAMES = [message.encode(FRAMING) for message in (*rows(3, 4), m.Done(rows=2), m.Cost(), m.EndOfTurn())]
ANSWER = b"".join(FRAMES)
ERROR = m.Err(-271, -107, 0, "t").encode(FRAMING)
WORDS = (b"\0\0", b"\xff\xff", b"\x7f\xff", b"\x80\0", b"\0\x0c", b"\0\x0e", b"\0\x0f", b"\0\x08", b"\0\x38")


def changed() -> Iterator[tuple[str, bytes]]:
    """Yield replies with each byte changed."""
    for at, byte in enumerate(ANSWER):
        for other in (byte ^ 1, byte ^ 0xFF):
            yield f"{at} becomes {other:02x}", ANSWER[:at] + bytes([other]) + ANSWER[at + 1 :]


def cut() -> Iterator[tuple[str, bytes]]:
    """Yield replies that end at each byte, that lack bytes, or have bytes twice."""
    for at in range(len(ANSWER)):
        yield f"ends at {at}", ANSWER[:at]
        for count in (1, 2):
            yield f"{count} missing at {at}", ANSWER[:at] + ANSWER[at + count :]
            yield f"{count} twice at {at}", ANSWER[: at + count] + ANSWER[at:]


def words() -> Iterator[tuple[str, bytes]]:
    """Yield replies with other lengths, counts and tags."""
    for at in range(len(ANSWER) - 1):
        for word in WORDS:
            yield f"{at} becomes {word.hex()}", ANSWER[:at] + word + ANSWER[at + 2 :]


def frames() -> Iterator[tuple[str, bytes]]:
    """Yield replies with missing, repeated or swapped messages, with an error between two of them, or several ends."""
    number = len(FRAMES)
    for at in range(number):
        yield f"no message {at}", b"".join(FRAMES[:at] + FRAMES[at + 1 :])
        for times in (2, 3, 50):
            yield (
                f"message {at} {times} times",
                b"".join(FRAMES[:at] + FRAMES[at : at + 1] * times + FRAMES[at + 1 :]),
            )
        for other in range(at):
            swapped = list(FRAMES)
            swapped[at], swapped[other] = swapped[other], swapped[at]
            yield f"messages {other} and {at} change places", b"".join(swapped)
    for at in range(number + 1):
        for name, frame in (("error", ERROR), ("exit", m.Exit().encode(FRAMING)), ("rubbish", b"\x7b\x7b")):
            yield f"{name} before {at}", b"".join([*FRAMES[:at], frame, *FRAMES[at:]])
    yield "answered twice", ANSWER + ANSWER
    yield "answered twice, the last time without rows", ANSWER + b"".join(FRAMES[2:])


def reported(answer: bytes) -> list[Row] | None:
    """Return the rows of a reply to a fetch; None if it is invalid."""
    reader, found, last = Reader(answer), [], False
    while True:
        try:
            message = m.parse_server_message(reader, FRAMING)
        except (Error, NeedMoreData):
            return None
        match message:
            case m.Tuple():
                row = decoded(message.payload)
                if row is None:
                    return None
                found.append(row)
            case m.Done() | m.Close():
                last = True
            case m.Err():
                if not last and message.sqlcode != 100:
                    return None
                last = True
            case m.EndOfTurn():
                left = answer[reader.pos :]
                return None if left and not left.startswith(b"\0\x38") else found
            case m.Cost() | m.XactStat() | m.TupleId() | m.InsertDone():
                pass
            case _:
                return None


def decoded(payload: bytes) -> Row | None:
    """Decode INTEGER, VARCHAR(20), INTEGER by hand; None if the bytes are not that."""
    if len(payload) < 9 or len(payload) != 9 + payload[4] or payload[4] > 20:
        return None
    name = payload[5:-4]

    def number(raw: bytes) -> int | None:
        return None if raw == b"\x80\0\0\0" else int.from_bytes(raw, "big", signed=True)

    return number(payload[:4]), None if name == b"\0" else name.decode("latin-1"), number(payload[-4:])


class Spoilt(Peer):
    """Replies to the second OPEN with the given bytes and to all others correctly. Sends nothing without a request."""

    def __init__(self, answer: bytes, piece: int) -> None:
        super().__init__(self.replies, piece)
        self.hang_up = True
        self.opened = 0
        self.spoilt: bytes | None = answer

    def replies(self, group: Group) -> Iterable[m.Message]:
        if isinstance(group[0], m.Prepare):
            return select(3)
        if any(isinstance(message, m.Open) for message in group):
            self.opened += 1
            return [*rows(100 + self.opened), m.Done(rows=1), m.Cost()]
        return [m.Done()] if any(isinstance(message, m.Fetch) for message in group) else []

    def answer(self, group: Group) -> None:
        if self.opened == 1 and any(isinstance(message, m.Open) for message in group):
            self.opened, spoilt = 2, self.spoilt
            assert spoilt is not None
            self.outgoing += spoilt
            return
        super().answer(group)


def read(peer: Peer, session: Session, way: str) -> list[Row]:
    values = (0,)
    exchange = (
        running.run_statement(session, parse(SQL), values, OPTIONS, as_rows=True)
        if way == "run_statement"
        else running.execute_statement(session, SQL, values, OPTIONS)
    )
    cursor: Any = peer.run(exchange)
    if not isinstance(cursor, ServerCursor):  # its rows were read at once
        return list(cursor.python_rows)
    batches, found = Batches(cursor), []
    while (batch := peer.run(batches.next(session))) is not None:
        found += list(zip(*batch.to_pydict().values(), strict=True))
    return found


#: By batches and by rows, which have different code.
WAYS = ["run", "run_statement"]


def meet(answer: bytes, piece: int, way: str) -> None:
    """Execute the query four times, with this as the second reply."""
    session = new_session(autocommit=True, statements=StatementCache(8))
    peer = Spoilt(answer, piece)
    assert read(peer, session, way) == [(101, "n101", 12345)]
    found, usable = attempted(peer, session, way)
    assert found == reported(answer)
    for number in (103, 104):
        if usable:
            found, usable = attempted(peer, session, way)
            assert found in ([(number, f"n{number}", 12345)], None)


def attempted(peer: Peer, session: Session, way: str) -> tuple[list[Row] | None, bool]:
    """Return the rows, or None for an error of this package; and whether the connection is usable."""
    try:
        return read(peer, session, way), True
    except Error as error:
        return None, session.usable_after(error)


@parametrize_in_one_test(
    ("name", "answer"),
    [*changed(), *cut(), *frames()],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("way", WAYS)
def test_a_spoilt_answer_ends_in_its_rows_or_in_an_error(name: str, answer: bytes, way: str) -> None:
    meet(answer, 1 << 20, way)


@parametrize_in_one_test(
    ("name", "answer"), words(), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("way", WAYS)
def test_lengths_and_tags_that_are_others_end_in_rows_or_in_an_error(
    name: str, answer: bytes, way: str
) -> None:
    meet(answer, 1 << 20, way)


@parametrize_in_one_test(
    ("name", "answer"), frames(), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("piece", [1, 7, len(FRAMES[0])])
@pytest.mark.parametrize("way", WAYS)
def test_wherever_its_pieces_end(name: str, answer: bytes, piece: int, way: str) -> None:
    """Bytes after the end of a reply are noticed if they arrive with it."""
    spoilt = reported(answer) is None and reported(answer.partition(FRAMES[-1])[0] + FRAMES[-1]) is not None
    if not spoilt:
        meet(answer, piece, way)
