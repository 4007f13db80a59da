"""A query that was executed before is executed by a shorter path: the results must be those of the general path."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from types import FrameType

import pytest
from tests.stress import LONG_SOAK_ONLY
from tests.unit.operations.scripted_peer import Group, Peer, new_session, rows, select

from informix_arrow.operations import execute as running
from informix_arrow.operations.batches import Batches
from informix_arrow.operations.execute import execute_statement, run_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.reexecute import SmallResult
from informix_arrow.operations.session import Session, SessionSettings, TransactionStatus
from informix_arrow.operations.statement_cache import StatementCache
from informix_arrow.rows.parameters import parse
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import Error

pytestmark = pytest.mark.slow

SQL = "SELECT id, name, sentinel FROM t WHERE id > ?"
OPTIONS = ReadOptions()
SPOILT = m.Tuple(0, b"\0\0\0\1" + b"\xff" + b"n1")  # a name longer than its tuple

#: The server's reply to the second OPEN. The first one returns two rows.
ANSWERS: dict[str, list[list[m.Message]]] = {
    "rows": [[*rows(3, 4, 5), m.Done(rows=3), m.Cost()]],
    "no row": [[m.Done(), m.Cost()]],
    "no costs": [[*rows(3), m.Done(rows=1)]],
    "no end": [[*rows(3)], [*rows(4), m.Done(rows=2)]],
    "many rows": [[*rows(*range(400))], [*rows(7), m.Done(rows=401)]],
    "costs first": [[m.Cost(), *rows(3), m.Done(rows=1)]],
    "an event": [[*rows(3), m.XactStat(1, 0, 0), m.Done(rows=1)]],
    "closed": [[*rows(3), m.Close()]],
    "an error": [[m.Err(-271, -107, 0, "t")]],
    "an error behind a row": [[*rows(3), m.Err(-271, -107, 0, "t")]],
    "not found": [[m.Err(100, 0, 0, "")]],
    "a stale statement": [[m.Err(-710, 0, 0, "t")]],
    "a spoilt row": [[*rows(3), SPOILT, m.Done(rows=2)]],
    "what does not belong here": [[*rows(3), *select(9)]],
}


@dataclass
class Seen:
    """The results of one run of the query, the groups of messages that it sent, and the session's state afterwards."""

    rows: list[tuple[int, int]] = field(default_factory=list)
    error: tuple[type, str] | None = None
    groups: list[str] = field(default_factory=list)
    state: tuple[object, ...] = ()


class Server:
    """A server that returns the script's replies to the second and later OPENs."""

    def __init__(self, script: list[list[m.Message]]) -> None:
        self.script = [[*rows(1, 2), m.Done(rows=2), m.Cost()], *script]

    def __call__(self, group: Group) -> list[m.Message]:
        if isinstance(group[0], m.Prepare):
            return select(3)
        if any(isinstance(message, m.Fetch) for message in group):
            return self.script.pop(0) if self.script else [m.Done()]
        return []


def second_run(script: list[list[m.Message]], piece: int, few: bool = False, **state: object) -> Seen:
    session = new_session(autocommit=True, statements=StatementCache(8))
    peer = Peer(Server(script))
    seen = Seen()
    _read(peer, session, Seen())
    for name, value in state.items():
        setattr(session, name, value)
    peer.groups.clear()
    peer.piece = piece
    _read(peer, session, seen, few)
    seen.state = (
        session.outstanding_requests,
        len(session.pending_replies),
        bytes(session.outbox),
        len(session.cursors),
        len(session.statements),
        len(session.buffer),
        session.transaction,
    )
    seen.groups = [*peer.names(), "and then"]
    peer.groups.clear()
    if seen.error is None or session.usable_after(Error("")):
        _read(peer, session, Seen())
    seen.groups += peer.names()
    return seen


def _read(peer: Peer, session: Session, seen: Seen, few: bool = False) -> None:
    try:
        rows = run_statement(session, parse(SQL), (0,), OPTIONS, as_rows=True)
        cursor = peer.run(rows if few else execute_statement(session, SQL, (0,), OPTIONS))
        if isinstance(cursor, SmallResult):
            seen.rows += [(row[0], row[-1]) for row in cursor.python_rows]
            batch = cursor.slice(0)
            assert list(zip(*batch.to_pydict().values(), strict=True)) == cursor.python_rows
            assert batch.schema == cursor.plan.schema
            return
        assert isinstance(cursor, ServerCursor)
        batches = Batches(cursor)
        while (batch := peer.run(batches.next(session))) is not None:
            seen.rows += zip(batch["id"].to_pylist(), batch["sentinel"].to_pylist(), strict=True)
    except Error as error:
        seen.error = (type(error), str(error))


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("piece", [1, 5, 31, 1 << 20])
@pytest.mark.parametrize("few", [False, True])
def test_the_short_way_is_the_long_way(
    answer: str, piece: int, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []

    def watched(*arguments: object) -> bool:
        taken.append(can_reexecute(*arguments))  # type: ignore[arg-type]
        return taken[-1]

    can_reexecute = running.can_reexecute
    monkeypatch.setattr(running, "can_reexecute", watched)
    short = second_run(ANSWERS[answer], piece, few)
    assert taken[0], "the query went the long way"
    monkeypatch.setattr(running, "can_reexecute", lambda *_: False)
    assert short == second_run(ANSWERS[answer], piece)


@pytest.mark.parametrize("answer", ["rows", "no end", "an error behind a row", "a spoilt row"])
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=LONG_SOAK_ONLY)])
def test_wherever_the_first_piece_of_the_answer_ends(
    answer: str, few: bool, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first piece ends at each byte of the reply, or at every third, or after it. It decides how far the short path
    goes."""
    pieces = range(1, 160, every)
    short = [second_run(ANSWERS[answer], piece, few) for piece in pieces]
    monkeypatch.setattr(running, "can_reexecute", lambda *_: False)
    for piece, seen in zip(pieces, short, strict=True):
        assert seen == second_run(ANSWERS[answer], piece), f"cut every {piece} bytes"


@pytest.mark.parametrize(
    "state",
    [
        {"ansi": True},
        {"transaction": TransactionStatus.OPEN},
        {"settings": SessionSettings("REPEATABLE READ", "", "REPEATABLE READ", "")},
    ],
    ids=["ansi", "transaction", "isolation"],
)
def test_it_is_the_long_way_in_other_sessions_too(
    state: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = second_run(ANSWERS["rows"], 1 << 20, **state)
    monkeypatch.setattr(running, "can_reexecute", lambda *_: False)
    assert short == second_run(ANSWERS["rows"], 1 << 20, **state)


def few_of(peer: Peer, session: Session, sql: str = SQL, number: int = 0) -> object:
    return peer.run(run_statement(session, parse(sql), (number,), OPTIONS, as_rows=True))


def test_rows_are_made_at_once_where_they_are_few_and_here() -> None:
    """The statement stays open: the next execution sends only OPEN, after the CLOSE of the last one."""
    session = new_session(autocommit=True, statements=StatementCache(8))
    peer = Peer(Server([[*rows(3, 4), m.Done(rows=2), m.Cost()], [m.Done()], [*rows(*range(200)), m.Done()]]))
    assert isinstance(few_of(peer, session), ServerCursor), "the first answer is read by a cursor"
    found = few_of(peer, session)
    assert isinstance(found, SmallResult)
    assert found.python_rows == [(3, "n3", 12345), (4, "n4", 12345)]
    found = few_of(peer, session)
    assert isinstance(found, SmallResult)
    assert found.python_rows == []
    assert found.slice(0).num_rows == 0
    assert isinstance(few_of(peer, session), ServerCursor), (
        "more than some thousand bytes are read as they arrive"
    )
    assert peer.names()[2:] == ["Id Close", "Id CursorName Bind Open Id Fetch"] * 3


def test_decoders_of_several_statements_do_not_meet() -> None:
    session = new_session(autocommit=True, statements=StatementCache(8))
    peer = Peer(lambda group: _echo(group))
    texts = [SQL, SQL + " AND id < 9"]
    for number in range(6):
        found = few_of(peer, session, texts[number % 2], number)
        if number > 1:
            assert isinstance(found, SmallResult)
            assert found.python_rows == [(7, "n7", 12345)]


def _echo(group: Group) -> list[m.Message]:
    if isinstance(group[0], m.Prepare):
        return select(3 if group[0].sql == SQL else 4)
    if any(isinstance(message, m.Fetch) for message in group):
        return [*rows(7), m.Done(rows=1), m.Cost()]
    return []


def test_a_network_that_breaks_is_reported_by_both() -> None:
    session = new_session(autocommit=True, statements=StatementCache(8))
    peer = Peer(Server([]))
    _read(peer, session, Seen())
    peer.answers, peer.hang_up, seen = [], True, Seen()
    _read(peer, session, seen)
    assert seen.error is not None
    assert "closed the connection" in seen.error[1]


def test_the_short_way_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts calls into the package without those of the peer, as a measure without a clock."""

    def calls() -> int:
        session, count = new_session(autocommit=True, statements=StatementCache(8)), 0
        peer = Peer(Server([ANSWERS["rows"][0]]))
        _read(peer, session, Seen())

        def counting(frame: FrameType, event: str, _: object) -> None:
            nonlocal count
            here = frame.f_code.co_filename
            count += event == "call" and f"{os.sep}operations{os.sep}" in here

        exchange = execute_statement(session, SQL, (0,), OPTIONS)
        before = sys.getprofile()
        sys.setprofile(counting)
        try:
            peer.run(exchange)
        finally:
            sys.setprofile(before)
        return count

    short = calls()
    monkeypatch.setattr(running, "can_reexecute", lambda *_: False)
    assert 2 * short < calls()
