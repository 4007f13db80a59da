"""The number of rows that a load reports when something else fails: the data, the progress callback, the
transaction."""

from __future__ import annotations

import pytest
from tests.unit.operations.scripted_peer import COLUMNS, Peer, new_session
from tests.unit.operations.scripted_peer import Group as Messages
from tests.unit.operations.test_bulk_insert import ID, Numbers, Table, load

from informix_arrow.operations.bulk_insert import Loader, LoadOutcome, LoadSpec
from informix_arrow.operations.io_steps import ConnectionLost
from informix_arrow.operations.load_transaction import LoadTransaction, LoadTransactionKind
from informix_arrow.operations.session import TransactionStatus
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import DataError, IntegrityError, OperationalError


def loader_of(
    feed: Numbers,
    method: str,
    *,
    collect: bool = False,
    kind: LoadTransactionKind = LoadTransactionKind.OWN_TRANSACTION,
) -> Loader:
    session = new_session(transaction=TransactionStatus.OPEN)
    job = LoadSpec(
        ID, "insert", StatementType.INSERT, tuple(column.type for column in COLUMNS), method, collect
    )
    return Loader(session, job, feed, LoadTransaction(session, kind), lambda outcome: None)


@pytest.mark.parametrize("kind", [LoadTransactionKind.OWN_TRANSACTION, LoadTransactionKind.NONE])
@pytest.mark.parametrize("fails_at", [10, 20, 50, 90])
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_rows_on_their_way_when_the_data_fails_are_counted(
    method: str, fails_at: int, kind: LoadTransactionKind
) -> None:
    """An unlogged database keeps them, and the error says how many there are."""
    table, feed = Table(), Numbers(95, fails_at=fails_at)
    loader = loader_of(feed, method, kind=kind)
    with pytest.raises(LookupError):
        Peer(table).run(loader.run())
    assert len(table.rows) == fails_at
    assert (loader.outcome.rows, loader.outcome.answered) == (fails_at, fails_at)


@pytest.mark.parametrize("bad", [40, 49])
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_row_refused_before_the_data_failed_is_the_first_failure(method: str, bad: int) -> None:
    feed = Numbers(95, fails_at=50, failure=DataError("row 50 does not fit", row=50))
    with pytest.raises(IntegrityError) as caught:
        load(feed, Table(frozenset({bad})), method=method)
    assert caught.value.row == bad


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_rows_behind_a_refused_one_are_in_before_the_datas_error_is_raised(method: str) -> None:
    table, feed = Table(frozenset({43})), Numbers(95, fails_at=50)
    with pytest.raises(LookupError):
        load(feed, table, method=method, collect=True)
    assert table.rows == [n for n in range(50) if n != 43]
    assert feed.refusals == [(43, -268)]


def test_a_connection_lost_by_the_data_is_not_this_connection() -> None:
    """Data may be read through another connection. If that breaks, this one is still usable."""
    gone = ConnectionLost("the other server is down")
    session = new_session(transaction=TransactionStatus.OPEN)
    with pytest.raises(ConnectionLost) as caught:
        load(Numbers(95, fails_at=50, failure=gone), Table(), session=session)
    assert caught.value is gone
    assert session.usable_after(gone)


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_all_answers_are_counted_when_the_progress_callback_fails(method: str) -> None:
    table, feed = Table(), Numbers(95)
    loader = loader_of(feed, method)

    def progress(outcome: LoadOutcome) -> None:
        raise KeyError(outcome.rows)

    loader._progress = progress
    with pytest.raises(KeyError):
        Peer(table).run(loader.run())
    assert loader.outcome.rows == len(table.rows)


@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_text_that_the_server_cuts_ends_the_load(method: str, collect: bool) -> None:
    """Lengths are checked before rows are sent, so the server truncates only what the check could not know."""
    with pytest.raises(DataError, match="The server truncated text") as caught:
        load(Numbers(95), Table(cuts=34), method=method, collect=collect)
    if method == "pipeline":
        assert caught.value.row == 34


@pytest.mark.parametrize(("rows", "commits"), [(40, 2), (41, 3), (20, 1), (0, 1)])
def test_no_empty_transaction_follows_the_last_commit(rows: int, commits: int) -> None:
    session = new_session(transaction=TransactionStatus.OPEN)
    scope = LoadTransaction(session, LoadTransactionKind.OWN_TRANSACTION)
    types = tuple(column.type for column in COLUMNS)
    job = LoadSpec(ID, "insert", StatementType.INSERT, types, commit_every=20)
    loader = Loader(session, job, Numbers(rows), scope, lambda outcome: None)
    peer = Peer(Table())
    peer.run(loader.run())
    peer.run(scope.complete())
    assert peer.names().count("Commit") == scope.commits == commits
    assert (loader.outcome.commits, loader.outcome.committed) == (rows // 20, rows // 20 * 20)


def test_nothing_is_sent_when_the_next_transaction_does_not_begin() -> None:
    table = Table()

    def answer(messages: Messages) -> list[m.Message]:
        if any(isinstance(message, m.Begin) for message in messages):
            return [m.Err(-535)]
        return table(messages)

    session = new_session(transaction=TransactionStatus.OPEN)
    types = tuple(column.type for column in COLUMNS)
    job = LoadSpec(ID, "insert", StatementType.INSERT, types, commit_every=20)
    loader = Loader(
        session,
        job,
        Numbers(95),
        LoadTransaction(session, LoadTransactionKind.OWN_TRANSACTION),
        lambda outcome: None,
    )
    with pytest.raises(OperationalError, match="did not begin"):
        Peer(answer).run(loader.run())
    assert table.rows == list(range(20))
