"""The client after it has sent an urgent byte: it begins no new request, and a harmless statement absorbs a late
interrupt."""

from __future__ import annotations

import pytest
from tests.unit.operations.scripted_peer import Peer, insert, new_session, rows, select

from informix_arrow.operations import cancel
from informix_arrow.operations.io_steps import Call, CancelReason, ConnectionLost, Exchange
from informix_arrow.operations.prepare import prepare
from informix_arrow.operations.session import Session, TransactionStatus
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import ProgrammingError, QueryCanceled, QueryTimeout, database_error

HARMLESS = [select(7), [*rows(1), m.Done()]]
ABSORBED = ["Prepare NDescribe WantDone", "Id CursorName Open Id Fetch", "Id Close", "Id Release"]


def nothing() -> Exchange[str]:
    return "done"
    yield


def call(**state: object) -> Call:
    made = Call()
    for name, value in state.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize("hit", [False, True])
def test_a_byte_is_absorbed_before_the_next_call_whatever_it_met(hit: bool) -> None:
    peer, session = Peer(HARMLESS), new_session(call=call(interrupt_sent=True, interrupted=hit))
    now = Call()
    assert peer.run(cancel.interruptible(session, now, nothing())) == "done"
    assert peer.names() == ABSORBED
    assert session.call is now
    assert (now.interrupt_sent, session.outstanding_requests, session.transaction) == (
        False,
        0,
        TransactionStatus.NONE,
    )


def test_results_that_nobody_reads_are_closed_before_another_statement_is_begun() -> None:
    """Otherwise a server may first have to store all their rows. The embedded one did, and reacted to nothing
    meanwhile."""
    peer, session = Peer(HARMLESS), new_session(call=call(interrupt_sent=True))
    closed: list[list[str]] = []

    class Dropped:
        def close(self, session: Session) -> Exchange[None]:
            closed.append(peer.names())
            return
            yield

    session.orphans.append(Dropped())
    assert peer.run(cancel.interruptible(session, Call(), nothing())) == "done"
    assert closed == [[]]
    assert peer.names() == ABSORBED


@pytest.mark.parametrize("last", [None, call(), call(cancel_reason=CancelReason.CANCEL)])
def test_where_no_byte_was_sent_nothing_is_absorbed(last: Call | None) -> None:
    peer, session = Peer([]), new_session(call=last)
    assert peer.run(cancel.interruptible(session, Call(), nothing())) == "done"
    assert peer.names() == []


@pytest.mark.parametrize(
    "answers", [[[m.Err(-213, -157)]], [select(7), [m.Err(-213, -157)]], [select(7), [m.Err(-111)]]]
)
def test_the_statement_in_between_may_fail(answers: list[list[m.Message]]) -> None:
    peer, session = Peer(answers), new_session(call=call(interrupt_sent=True))
    assert peer.run(cancel.interruptible(session, Call(), nothing())) == "done"
    assert session.outstanding_requests == 0


def test_no_second_byte_leaves_while_the_first_is_absorbed() -> None:
    session, now = new_session(call=call(interrupt_sent=True)), Call()
    exchange = cancel.interruptible(session, now, nothing())
    next(exchange)
    assert now.interrupt_sent
    exchange.close()


def test_without_a_database_the_list_of_databases_does() -> None:
    peer, session = Peer([[m.DbNames(("a",))]]), new_session(call=call(interrupt_sent=True), database="")
    peer.run(cancel.interruptible(session, Call(), nothing()))
    assert peer.names() == ["DbList"]


@pytest.mark.parametrize(("before", "commits"), [(TransactionStatus.NONE, 1), (TransactionStatus.OPEN, 0)])
def test_in_an_ansi_database_it_leaves_no_transaction_behind(before: TransactionStatus, commits: int) -> None:
    peer = Peer([*HARMLESS, []])
    session = new_session(call=call(interrupt_sent=True), ansi=True, transaction=before)
    peer.run(cancel.interruptible(session, Call(), nothing()))
    assert peer.names().count("Commit") == commits
    assert session.transaction is before


def test_an_exchange_that_is_to_end_begins_nothing_and_raises_once() -> None:
    peer, session = Peer([insert()]), new_session(call=call(cancel_reason=CancelReason.CANCEL))
    with pytest.raises(QueryCanceled) as caught:
        peer.run(prepare(session, "INSERT INTO t VALUES (1)", 0))
    assert caught.value.sqlcode == -213
    assert peer.names() == []
    peer.run(prepare(session, "DROP TABLE staging", 0))  # cleaning up may send requests
    assert peer.names() == ["Prepare NDescribe WantDone"]


def test_a_byte_that_was_sent_is_absorbed_before_the_exchange_is_cancelled() -> None:
    """Otherwise it would interrupt the requests that clean up."""
    made = call(cancel_reason=CancelReason.TIMEOUT, interrupt_sent=True)
    peer, session = Peer(HARMLESS), new_session(call=made)
    with pytest.raises(QueryCanceled):
        peer.run(cancel.raise_if_cancelled(session))
    assert peer.names() == ABSORBED
    assert made.interrupted


def test_a_call_whose_statement_was_hit_goes_on_to_its_end() -> None:
    session = new_session(call=call(cancel_reason=CancelReason.CANCEL, interrupt_sent=True))
    assert cancel.cancel_requested(session)
    cancel.record_interrupt(session.call, database_error(-213, -157))  # type: ignore[arg-type]
    assert not cancel.cancel_requested(session)


def interrupted(reason: CancelReason, **state: object) -> Call:
    return call(cancel_reason=reason, interrupt_sent=True, timeout=2.5, **state)


def test_what_the_caller_gets() -> None:
    hit = database_error(-213, -157, statement="SELECT 1")
    assert isinstance(hit, QueryCanceled)
    assert not isinstance(hit, QueryTimeout)
    assert cancel.translate_error(interrupted(CancelReason.CANCEL), hit) is hit
    late = cancel.translate_error(interrupted(CancelReason.TIMEOUT), hit)
    assert isinstance(late, QueryTimeout)
    assert (late.sqlcode, late.isamcode, late.statement) == (-213, -157, "SELECT 1")
    assert "2.5 s" in str(late)
    struck = KeyboardInterrupt()
    assert cancel.translate_error(interrupted(CancelReason.BREAK, pending_exception=struck), hit) is struck


def test_errors_that_have_nothing_to_do_with_it_stay_as_they_are() -> None:
    for error in (ProgrammingError("x"), ConnectionLost("cut"), ZeroDivisionError()):
        for reason in (CancelReason.CANCEL, CancelReason.TIMEOUT):
            assert cancel.translate_error(interrupted(reason), error) is error
        assert cancel.translate_error(Call(), error) is error


@pytest.mark.parametrize(
    ("reason", "kind"), [(CancelReason.TIMEOUT, QueryTimeout), (CancelReason.CANCEL, QueryCanceled)]
)
def test_the_reason_names_a_server_that_did_not_react(reason: CancelReason, kind: type[Exception]) -> None:
    lost = ConnectionLost("the server did not react")
    error = cancel.translate_error(interrupted(reason, grace_expired=True), lost)
    assert type(error) is kind
    assert "did not react" in str(error)
    assert error.sqlcode == -213  # type: ignore[attr-defined]


def test_a_result_that_nobody_gets_is_left_to_the_connection() -> None:
    class Cursor:
        def close(self, session: Session) -> Exchange[None]:
            yield from nothing()

    session, cursor = new_session(), Cursor()
    cancel.discard_result(session, cursor)
    cancel.discard_result(session, None)
    cancel.discard_result(session, 17)
    assert list(session.orphans) == [cursor]
