"""Statements without rows, transactions and pipelined executions, with a scripted peer (SQLI sections 7, 11, 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from tests.unit.operations.scripted_peer import Group, Peer, insert, new_session, other, rows, select

from informix_arrow.operations.batch_replies import ManyOutcome
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.executemany import CHUNK_ROWS, execute_many
from informix_arrow.operations.fetch import ReadOptions
from informix_arrow.operations.prepare import Outcome
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.session import Session, TransactionStatus
from informix_arrow.operations.transaction import commit, rollback
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import DataError, IntegrityError, ProgrammingError, ProtocolError

OK = [m.Done(rows=1)]


def execute(peer: Peer, session: Session, sql: str = "insert", *values: object) -> Outcome:
    outcome = peer.run(execute_statement(session, sql, values, ReadOptions()))
    assert isinstance(outcome, Outcome)
    return outcome


def test_an_insert_reports_rows_and_serial_and_is_released() -> None:
    peer, session = Peer([insert(2), [m.Done(rows=1, serial=77)]]), new_session(autocommit=True)
    assert execute(peer, session, "insert", 5, None) == Outcome(rows=1, serial=77)
    assert peer.names() == ["Prepare NDescribe WantDone", "Id Bind Execute", "Id Release"]
    assert [group[0] for group in peer.groups[1:]] == [m.Id(2), m.Id(2)]


@pytest.mark.parametrize("answer", [[], [m.Cost(1, 1)], [m.InsertDone(5, 0)]])
def test_an_answer_without_done_leaves_the_number_of_rows_unknown(answer: list[m.Message]) -> None:
    """0 would mean that the statement changed nothing."""
    peer, session = Peer([insert(2), answer]), new_session(autocommit=True)
    assert execute(peer, session, "insert", 5, None).rows == -1


def test_executions_of_which_one_has_an_answer_without_done_have_no_number_of_rows() -> None:
    peer, session = Peer([insert(1), OK, [], OK]), new_session(autocommit=True)
    outcome = peer.run(execute_many(session, "insert", 1, [(1,), (2,), (3,)]))
    assert (outcome.executed, outcome.uncounted) == (3, True)
    peer = Peer([insert(1), OK, OK])
    assert not peer.run(execute_many(new_session(autocommit=True), "insert", 1, [(1,), (2,)])).uncounted


def test_a_failed_execution_is_released_and_leaves_the_session_usable() -> None:
    peer, session = Peer([insert(), [m.Err(-268, -100, 0, "informix.u1")]]), new_session(autocommit=True)
    with pytest.raises(IntegrityError) as caught:
        execute(peer, session, "insert")
    assert (caught.value.sqlcode, caught.value.isamcode, caught.value.near) == (-268, -100, "informix.u1")
    assert session.usable_after(caught.value)
    peer.run(drain_pending_replies(session))
    assert peer.names()[-1] == "Id Release"


def test_a_failed_prepare_has_nothing_to_release() -> None:
    peer, session = Peer([[m.Err(-201, 0, 3, "")]]), new_session(autocommit=True)
    with pytest.raises(ProgrammingError) as caught:
        execute(peer, session, "inzert")
    assert caught.value.offset == 3
    assert session.usable_after(caught.value)
    assert peer.names() == ["Prepare NDescribe WantDone"]


def test_text_that_the_code_set_lacks_is_refused_before_anything_is_sent() -> None:
    peer, session = Peer([]), new_session()
    with pytest.raises(DataError, match="U\\+20AC") as caught:
        execute(peer, session, "insert into t values ('€')")
    assert session.usable_after(caught.value)
    assert peer.groups == []


def test_an_answer_without_describe_breaks_the_session() -> None:
    peer, session = Peer([[m.Done()]]), new_session()
    with pytest.raises(ProtocolError) as caught:
        execute(peer, session)
    assert not session.usable_after(caught.value)


def test_begin_is_sent_before_the_first_change_only() -> None:
    peer, session = Peer([insert(), [], OK, insert(), OK]), new_session()
    execute(peer, session)
    execute(peer, session)
    assert [name for name in peer.names() if "Release" not in name] == [
        "Prepare NDescribe WantDone",
        "Begin",
        "Id Execute",
        "Prepare NDescribe WantDone",
        "Id Execute",
    ]
    assert session.transaction is TransactionStatus.OPEN


@pytest.mark.parametrize(
    "state", [{"autocommit": True}, {"logged": False}, {"ansi": True}], ids=["autocommit", "unlogged", "ANSI"]
)
def test_begin_is_not_sent_where_it_does_not_belong(state: dict[str, bool]) -> None:
    peer, session = Peer([insert(), OK]), new_session(**state)
    execute(peer, session)
    assert "Begin" not in peer.names()


@pytest.mark.parametrize("kind", [StatementType.SET_LOCK_MODE, StatementType.SET_ISOLATION])
def test_settings_open_no_transaction(kind: StatementType) -> None:
    peer, session = Peer([other(kind), [m.Done()]]), new_session()
    execute(peer, session)
    assert "Begin" not in peer.names()


def test_queries_open_no_transaction() -> None:
    peer, session = Peer([select(), [*rows(1), m.Done()]]), new_session()
    peer.run(execute_statement(session, "select", (), ReadOptions()))
    assert "Begin" not in peer.names()


@pytest.mark.parametrize("code", [-201, -256])
def test_a_refused_begin_means_an_unlogged_database(code: int) -> None:
    peer, session = Peer([insert(), [m.Err(code)], OK]), new_session()
    assert execute(peer, session).rows == 1
    assert not session.logged
    assert session.transaction is TransactionStatus.NONE


def test_begin_inside_a_transaction_is_no_failure() -> None:
    peer, session = Peer([insert(), [m.Err(-535)], OK]), new_session()
    execute(peer, session)
    assert session.transaction is TransactionStatus.OPEN


def test_commit_and_rollback_send_nothing_without_a_transaction() -> None:
    peer, session = Peer([]), new_session()
    peer.run(commit(session))
    peer.run(rollback(session))
    assert peer.groups == []


@pytest.mark.parametrize(("end", "name"), [(commit, "Commit"), (rollback, "Rollback")])
def test_commit_and_rollback_end_the_transaction(end: object, name: str) -> None:
    peer, session = Peer([[m.XactStat(1, 0, 1)]]), new_session(transaction=TransactionStatus.OPEN)
    peer.run(end(session))  # type: ignore[operator]
    assert peer.names() == [name]
    assert session.transaction is TransactionStatus.NONE


def test_transactions_typed_as_sql_are_tracked() -> None:
    states = {
        StatementType.BEGIN_WORK: TransactionStatus.OPEN,
        StatementType.COMMIT_WORK: TransactionStatus.NONE,
        StatementType.ROLLBACK_WORK: TransactionStatus.NONE,
    }
    peer = Peer([answer for kind in states for answer in (other(kind), [m.Done()])])
    session = new_session(autocommit=True)
    for state in states.values():
        execute(peer, session)
        assert session.transaction is state


def test_a_commit_that_was_not_needed_is_no_failure() -> None:
    """After a procedure it is unknown whether the procedure has ended the transaction."""
    peer, session = Peer([[m.Err(-255)]]), new_session(transaction=TransactionStatus.UNKNOWN)
    peer.run(commit(session))
    assert session.transaction is TransactionStatus.NONE


def test_an_ansi_database_is_committed_after_each_change_with_autocommit() -> None:
    peer, session = Peer([insert(), OK, [], []]), new_session(ansi=True, autocommit=True)
    execute(peer, session)
    assert peer.names()[-1] == "Commit"


def many(
    peer: Peer, session: Session, parameters: Sequence[Sequence[object]] | Iterator[Sequence[object]]
) -> ManyOutcome:
    return peer.run(execute_many(session, "insert", 2, parameters))


def inserting(fail: frozenset[int] = frozenset()) -> Peer:
    """Return a peer that refuses the rows with numbers in ``fail``."""
    count = iter(range(1 << 30))

    def answer(group: Group) -> list[m.Message]:
        kinds = {type(message) for message in group}
        if m.Prepare in kinds:
            return insert()
        if m.Execute in kinds:
            return [m.Err(-268, -100, 0, "u1")] if next(count) in fail else [m.Done(rows=1), m.Cost()]
        return []

    return Peer(answer, piece=997)


@pytest.mark.parametrize("count", [0, 1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 3 * CHUNK_ROWS + 7])
def test_every_row_is_executed_and_counted(count: int) -> None:
    peer, session = inserting(), new_session(autocommit=True)
    outcome = many(peer, session, [(number, None) for number in range(count)])
    assert (outcome.executed, outcome.rows, outcome.errors) == (count, count, [])
    assert peer.names().count("Id Bind Execute") == count
    assert session.outstanding_requests == 0


def test_failed_rows_are_collected_with_their_numbers_and_stop_nobody() -> None:
    fail = frozenset({0, 99, CHUNK_ROWS, 2 * CHUNK_ROWS + 5})
    peer, session = inserting(fail), new_session(autocommit=True)
    total = 3 * CHUNK_ROWS
    outcome = many(peer, session, ((number, "x") for number in range(total)))
    assert {error.row for error in outcome.errors} == fail
    assert outcome.rows == total - len(fail)
    assert outcome.executed == total


def test_a_row_that_cannot_be_bound_ends_the_run_in_good_order() -> None:
    """Earlier rows are executed, later ones are not even read."""
    peer, session = inserting(), new_session(autocommit=True)

    def parameters() -> Iterator[Sequence[object]]:
        yield from ((number, "x") for number in range(CHUNK_ROWS + 3))
        yield (1, "x", "one too many")
        raise AssertionError("read past the bad row")

    with pytest.raises(ProgrammingError, match="3 values for 2") as caught:
        many(peer, session, parameters())
    assert caught.value.row == CHUNK_ROWS + 3
    assert session.usable_after(caught.value)
    assert peer.names().count("Id Bind Execute") == CHUNK_ROWS + 3
    assert peer.names()[-1] == "Id Release"


def test_an_error_of_the_callers_iterable_passes_through_and_leaves_the_session_usable() -> None:
    peer, session = inserting(), new_session(autocommit=True)

    def parameters() -> Iterator[Sequence[object]]:
        yield (1, "x")
        raise LookupError("my own")

    with pytest.raises(LookupError, match="my own") as caught:
        many(peer, session, parameters())
    assert session.usable_after(caught.value)
    assert peer.names().count("Id Bind Execute") == 1


def test_a_query_cannot_be_executed_many_times() -> None:
    peer, session = Peer([select(), []]), new_session()
    with pytest.raises(ProgrammingError, match="executemany"):
        many(peer, session, [(1, 2)])
    assert peer.names() == ["Prepare NDescribe WantDone", "Id Release"]


def test_replies_are_taken_in_while_rows_are_sent() -> None:
    """The transport may fill the buffer during a send. No byte of it may be lost."""
    peer, session = inserting(), new_session(autocommit=True)
    peer.piece = 1 << 20
    assert many(peer, session, [(number, "x") for number in range(5 * CHUNK_ROWS)]).rows == 5 * CHUNK_ROWS
    assert peer.steps.count("Receive") < 5
