"""Transactions in the three kinds of databases, blocks, isolation: the messages, their order, and what is not sent."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.unit.operations.scripted_peer import COLUMNS, Group, Peer, new_session, rows

from informix_arrow.operations.batches import Batches
from informix_arrow.operations.cursor_session_state import isolation_of, lock_wait_of, set_read_settings
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.executemany import execute_many
from informix_arrow.operations.fast_path import fast_path_call
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.load_transaction import LoadTransaction, LoadTransactionKind
from informix_arrow.operations.open_database import _LOCALE_QUERY as LOCALE_QUERY
from informix_arrow.operations.ping import ping
from informix_arrow.operations.request_reply import clear_orphans, drain_pending_replies
from informix_arrow.operations.session import Session, TransactionStatus
from informix_arrow.operations.statement_cache import StatementCache
from informix_arrow.operations.transaction import commit, is_for_update, is_savepoint_rollback, rollback
from informix_arrow.operations.transaction_blocks import begin_block, end_block
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import (
    Error,
    IntegrityError,
    InterfaceError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)
from informix_arrow.wire.messages import Describe

KINDS = {
    "SELECT": StatementType.SELECT,
    "INSERT": StatementType.INSERT,
    "UPDATE": StatementType.UPDATE,
    "BEGIN": StatementType.BEGIN_WORK,
    "COMMIT": StatementType.COMMIT_WORK,
    "ROLLBACK": StatementType.ROLLBACK_WORK,
    "DATABASE": StatementType.DATABASE,
    "EXECUTE": StatementType.EXECUTE_PROCEDURE,
    "CALL": StatementType.EXECUTE_PROCEDURE,
    "CLOSE": StatementType.CLOSE_DATABASE,
}


class Server:
    """Replies successfully to everything, and logs the messages that concern transactions."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.ends = True  # the first fetch is the last one; otherwise the fifth
        self.fetches: dict[int, int] = {}
        self.errors: dict[str, int] = {}  # SQLCODE of a reply by the entry in the log
        self.types: dict[int, StatementType] = {}
        self.texts: dict[int, str] = {}

    def __call__(self, group: Group) -> list[m.Message]:
        first, words = group[0], [type(message).__name__ for message in group]
        if isinstance(first, m.Prepare):
            number = next(n for n in range(99) if n not in self.texts)
            kind = KINDS[first.sql.replace("(", " ").split()[0].upper()]
            self.texts[number], self.types[number] = first.sql, kind
            rowful = kind == StatementType.SELECT or "FUNCTION" in first.sql
            return [
                Describe.of_columns(kind, number, COLUMNS if rowful or kind == StatementType.INSERT else ())
            ]
        if isinstance(first, m.Command):
            return self.note(first.sql)
        if not isinstance(first, m.Id):
            name = getattr(first, "name", "")
            return self.note(f"{words[0]} {name}".strip())
        if "Release" in words:
            self.texts.pop(first.statement_id, None)
            return []
        if "Execute" in words:
            return self.note(self.texts[first.statement_id]) or [m.Done(rows=1)]
        if "Open" in words:
            hold = " (hold)" if "Hold" in words else ""
            refused = self.note(f"OPEN {self.texts[first.statement_id]}{hold}")
            self.fetches[first.statement_id] = 1
            return refused or [*rows(1), *([m.Done()] if self.ends else [])]
        if "Fetch" in words:
            self.fetches[first.statement_id] += 1
            number = self.fetches[first.statement_id]
            return [*rows(number), *([m.Done()] if number == 5 else [])]
        return self.note("CLOSE") if "Close" in words else []

    def note(self, word: str) -> list[m.Message]:
        self.log.append(word)
        return [m.Err(self.errors[word])] if word in self.errors else []


def start(**state: object) -> tuple[Server, Peer, Session]:
    server = Server()
    return server, Peer(server), new_session(**state)


def ansi(autocommit: bool = True, **state: object) -> tuple[Server, Peer, Session]:
    return start(ansi=True, autocommit=autocommit, **state)


def do(peer: Peer, session: Session, sql: str, **options: object) -> object:
    done = peer.run(execute_statement(session, sql, (), ReadOptions(**options)))  # type: ignore[arg-type]
    peer.run(drain_pending_replies(session)) if not isinstance(done, ServerCursor) else None
    return done


def cursor(peer: Peer, session: Session, sql: str = "SELECT a", **options: object) -> ServerCursor:
    found = do(peer, session, sql, **options)
    assert isinstance(found, ServerCursor)
    return found


def read_on(peer: Peer, session: Session, found: ServerCursor) -> list[int]:
    batches, out = Batches(found), list[pa.RecordBatch]()
    while (batch := peer.run(batches.next(session))) is not None:
        out.append(batch)
    peer.run(drain_pending_replies(session))
    return [number for batch in out for number in batch["id"].to_pylist()]


def waits(steps: list[str]) -> int:
    """Return the round trips: how often something was sent and then waited for."""
    return sum(pair == ("Send", "Receive") for pair in itertools.pairwise(steps))


# ---- statements recognised by their text ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM t FOR UPDATE", True),
        ("select * from t for -- who?\n update of a, b", True),
        ("(SELECT * FROM t) {c} FOR/**/UPDATE", True),
        ("SELECT * FROM t", False),
        ("SELECT * FROM t WHERE a = 'FOR UPDATE'", False),
        ("SELECT * FROM t -- FOR UPDATE", False),
        ("SELECT update FROM t FOR READ ONLY", False),
        ('SELECT "FOR" update FROM t', False),
    ],
)
def test_a_query_for_update_is_known_by_its_words_outside_strings_and_comments(
    sql: str, expected: bool
) -> None:
    assert is_for_update(StatementType.SELECT, sql) is expected
    assert not is_for_update(StatementType.INSERT, sql)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("ROLLBACK WORK TO SAVEPOINT a", True),
        ("rollback to savepoint", True),
        ("ROLLBACK -- to savepoint\n WORK", False),
        ("rollback", False),
    ],
)
def test_a_rollback_to_a_savepoint_differs_from_one_of_everything(sql: str, expected: bool) -> None:
    assert is_savepoint_rollback(StatementType.ROLLBACK_WORK, sql) is expected


# ---- logged databases -------------------------------------------------------------------------------------------


def test_a_query_for_update_begins_a_transaction_with_autocommit_off() -> None:
    server, peer, session = start()
    read_on(peer, session, cursor(peer, session, "SELECT a FOR UPDATE"))
    retaining = "SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS"
    assert server.log[:3] == ["Begin", retaining, "OPEN SELECT a FOR UPDATE"]
    assert server.log[-1] == "SET ISOLATION TO COMMITTED READ"
    assert session.transaction is TransactionStatus.OPEN


@pytest.mark.parametrize("sql", ["SELECT a", "SELECT a FOR READ ONLY", "SELECT a -- FOR UPDATE"])
def test_other_queries_begin_none(sql: str) -> None:
    server, peer, session = start()
    read_on(peer, session, cursor(peer, session, sql))
    assert "Begin" not in server.log


def test_autocommit_sends_neither_begin_nor_commit_in_a_logged_database() -> None:
    server, peer, session = start(autocommit=True)
    do(peer, session, "INSERT 1")
    read_on(peer, session, cursor(peer, session, "SELECT a FOR UPDATE"))
    assert {"Begin", "Commit"}.isdisjoint(server.log)
    assert not any("RETAIN" in sql for sql in server.log)


@pytest.mark.parametrize("sql", ["commit work", "{c} ROLLBACK WORK", "rollback"])
def test_work_ended_by_sql_is_ended_here_too(sql: str) -> None:
    server, peer, session = start(transaction=TransactionStatus.OPEN)
    KINDS.setdefault("{C}", StatementType.ROLLBACK_WORK)
    do(peer, session, sql)
    assert session.transaction is TransactionStatus.NONE
    peer.run(commit(session))
    assert "Commit" not in server.log


def test_a_rollback_to_a_savepoint_leaves_the_transaction_open() -> None:
    _, peer, session = start(transaction=TransactionStatus.OPEN)
    do(peer, session, "ROLLBACK WORK TO SAVEPOINT a")
    assert session.transaction is TransactionStatus.OPEN


def test_after_a_procedure_the_next_change_makes_sure_that_it_is_in_a_transaction() -> None:
    """The procedure may have committed. Without a BEGIN the next change would be permanent at once."""
    server, peer, session = start()
    do(peer, session, "EXECUTE PROCEDURE p()")
    assert session.transaction is TransactionStatus.UNKNOWN
    server.errors["Begin"] = -535
    do(peer, session, "INSERT 1")
    do(peer, session, "INSERT 2")
    assert server.log == ["Begin", "EXECUTE PROCEDURE p()", "Begin", "INSERT 1", "INSERT 2"]
    peer.run(commit(session))
    assert server.log[-1] == "Commit"


# ---- ANSI databases ---------------------------------------------------------------------------------------------


def test_a_read_in_an_ansi_database_is_read_only_and_leaves_no_transaction_with_autocommit() -> None:
    server, peer, session = ansi()
    assert read_on(peer, session, cursor(peer, session)) == [1]
    assert server.log == ["SET TRANSACTION READ ONLY", "OPEN SELECT a (hold)", "CLOSE", "Commit"]
    assert session.transaction is TransactionStatus.NONE


def test_that_costs_no_wait() -> None:
    """SET TRANSACTION and COMMIT are sent with other messages."""
    counts = []
    for kind in (False, True):
        server, peer, session = start(ansi=kind, autocommit=True)
        for _ in range(3):
            assert read_on(peer, session, cursor(peer, session)) == [1]
        counts.append(waits(peer.steps))
        assert server.log.count("Commit") == 3 * kind
    assert counts[0] == counts[1]


@pytest.mark.parametrize("how", ["close", "drop", "error"])
def test_a_read_that_is_not_finished_leaves_no_transaction_either(how: str) -> None:
    server, peer, session = ansi()
    server.ends = False
    if how == "error":
        server.errors["OPEN SELECT a (hold)"] = -244
        with pytest.raises(Error):
            cursor(peer, session)
    else:
        found = cursor(peer, session)
        assert session.transaction is TransactionStatus.IMPLICIT_READ
        if how == "close":
            peer.run(found.close(session))
        else:
            session.orphans.append(found)
            peer.run(clear_orphans(session))
    peer.run(drain_pending_replies(session))
    assert server.log[-1] == "Commit"
    assert session.transaction is TransactionStatus.NONE
    assert server.texts == {}


def test_of_several_reads_the_last_one_commits() -> None:
    server, peer, session = ansi()
    server.ends = False
    one, two = cursor(peer, session, "SELECT a"), cursor(peer, session, "SELECT b")
    assert server.log.count("SET TRANSACTION READ ONLY") == 1
    peer.run(one.close(session))
    assert "Commit" not in server.log
    assert read_on(peer, session, two) == [1, 2, 3, 4, 5]
    assert server.log[-1] == "Commit"


def test_a_change_between_reads_is_committed_by_itself_and_the_reads_go_on() -> None:
    server, peer, session = ansi()
    server.ends = False
    found = cursor(peer, session)
    do(peer, session, "INSERT 1")
    assert server.log[2:] == ["Commit", "INSERT 1", "Commit"]  # not inside the read-only transaction
    assert read_on(peer, session, found) == [1, 2, 3, 4, 5]
    assert server.log[-1] == "Commit"
    assert session.transaction is TransactionStatus.NONE


def test_a_query_for_update_is_not_read_only() -> None:
    server, peer, session = ansi()
    read_on(peer, session, cursor(peer, session, "SELECT a FOR UPDATE"))
    assert server.log == ["OPEN SELECT a FOR UPDATE", "CLOSE", "Commit"]


def test_a_procedure_with_rows_is_committed_and_that_is_waited_for() -> None:
    server, peer, session = ansi()
    assert read_on(peer, session, cursor(peer, session, "EXECUTE FUNCTION f()")) == [1]
    assert server.log == ["OPEN EXECUTE FUNCTION f()", "CLOSE", "Commit"]
    assert session.transaction is TransactionStatus.NONE
    server.errors["Commit"] = -691
    with pytest.raises(IntegrityError):
        read_on(peer, session, cursor(peer, session, "EXECUTE FUNCTION f()"))


def test_a_failed_change_leaves_no_transaction_with_autocommit() -> None:
    server, peer, session = ansi()
    server.errors["INSERT 1"] = -268
    with pytest.raises(IntegrityError):
        do(peer, session, "INSERT 1")
    assert server.log == ["INSERT 1", "Commit"]
    server.log.clear()
    peer.run(execute_many(session, "INSERT 2", 0, [(), ()]))
    assert server.log == ["INSERT 2", "INSERT 2", "Commit"]


@pytest.mark.parametrize("end", [commit, rollback])
@pytest.mark.parametrize("how", ["a row that cannot be sent", "a statement that the server refuses"])
def test_what_a_failure_has_left_in_an_ansi_database_can_be_committed_and_undone(
    how: str, end: Callable[..., object]
) -> None:
    """Earlier rows, or the first half of a procedure: the server has opened a transaction for them."""
    server, peer, session = ansi(autocommit=False)
    if how == "a row that cannot be sent":
        with pytest.raises(ProgrammingError):
            peer.run(execute_many(session, "INSERT INTO t VALUES (?)", 1, [(1,), (2,), (object(),)]))
    else:
        server.errors["EXECUTE PROCEDURE p()"] = -746
        with pytest.raises(Error):
            do(peer, session, "EXECUTE PROCEDURE p()")
    assert session.transaction is TransactionStatus.OPEN
    peer.run(end(session))  # type: ignore[arg-type]
    assert server.log[-1] == ("Commit" if end is commit else "Rollback")
    assert session.transaction is TransactionStatus.NONE


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_call_of_the_fast_path_is_part_of_a_transaction_in_an_ansi_database(autocommit: bool) -> None:
    server, peer, session = ansi(autocommit=autocommit)
    session.routines["function f()"] = ("stores", 103)
    peer.run(fast_path_call(session, "function f()", ()))
    assert session.transaction is (TransactionStatus.NONE if autocommit else TransactionStatus.OPEN)
    peer.run(commit(session))
    assert server.log == ["ExecuteRoutine", "Commit"]


def test_a_call_of_the_fast_path_may_have_ended_the_transaction() -> None:
    _, peer, session = start()
    session.routines["function f()"] = ("stores", 103)
    peer.run(fast_path_call(session, "function f()", ()))
    assert session.transaction is TransactionStatus.UNKNOWN


def test_a_commit_whose_transaction_the_server_has_ended_is_an_error() -> None:
    server, peer, session = start(statements=StatementCache(8))
    server.errors["Commit"] = -255
    do(peer, session, "INSERT")
    do(peer, session, "INSERT")
    with pytest.raises(OperationalError, match="Nothing was committed") as caught:
        peer.run(commit(session))
    assert caught.value.sqlcode == -255
    assert session.usable_after(caught.value)
    assert session.transaction is TransactionStatus.NONE
    peer.run(commit(session))  # no transaction is open now
    server.errors["Rollback"] = -255
    do(peer, session, "INSERT")
    peer.run(rollback(session))


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("INSERT INTO t VALUES (1); COMMIT WORK", TransactionStatus.UNKNOWN),
        ("BEGIN WORK; INSERT INTO t VALUES (1); COMMIT WORK;", TransactionStatus.UNKNOWN),
        ("INSERT INTO t VALUES (1); -- COMMIT WORK", TransactionStatus.OPEN),
        ("INSERT INTO t VALUES ('; COMMIT WORK') ; \n", TransactionStatus.OPEN),
    ],
)
def test_of_several_statements_in_one_text_any_may_have_ended_the_transaction(
    sql: str, state: TransactionStatus
) -> None:
    server, peer, session = start()
    do(peer, session, sql)
    assert session.transaction is state
    server.errors["Commit"] = -255
    if state is TransactionStatus.UNKNOWN:
        peer.run(commit(session))


@pytest.mark.parametrize("is_ansi", [True, False])
def test_without_a_database_there_is_nothing_to_commit(is_ansi: bool) -> None:
    server, peer, session = start(ansi=is_ansi)
    do(peer, session, "CLOSE DATABASE")
    assert (session.database, session.logged, session.ansi) == ("", False, False)
    assert session.transaction is TransactionStatus.NONE
    peer.run(commit(session))
    assert server.log == ["CLOSE DATABASE"]


@pytest.mark.parametrize("sql", ["DATABASE other", "CLOSE DATABASE"])
@pytest.mark.parametrize("kind", ["logged", "ansi"])
def test_results_are_closed_before_their_database_and_touch_nobody_elses_statement(
    kind: str, sql: str
) -> None:
    """The server frees all statements with the database, and assigns their ids again."""
    server, peer, session = ansi() if kind == "ansi" else start()
    server.errors[f"OPEN {LOCALE_QUERY}"] = -201
    server.ends = False
    plain, named, dropped = (
        cursor(peer, session, isolation="dirty"),
        cursor(peer, session, "SELECT b", name="c1"),
        cursor(peer, session, "SELECT c"),
    )
    session.orphans.append(dropped)
    do(peer, session, sql)
    peer.run(clear_orphans(session))
    peer.run(drain_pending_replies(session))
    assert server.texts == {}
    assert (session.settings.overrides, session.settings.implicit_readers, session.cursors) == ([], 0, set())
    after = cursor(peer, session, "SELECT d")
    for old in (plain, named):
        with pytest.raises(InterfaceError, match="database was changed"):
            peer.run(Batches(old).next(session))
        peer.run(old.close(session))
    assert list(server.texts.values()) == ["SELECT d"]
    assert read_on(peer, session, after) == [1, 2, 3, 4, 5]


def test_a_database_whose_code_set_is_unknown_is_closed_again() -> None:
    """The text of that database would be decoded as that of the one before."""
    server, peer, session = start()
    with pytest.raises(NotSupportedError, match="encoding"):  # this peer's locale is "1"
        do(peer, session, "DATABASE other")
    assert server.log[-1] == "DbClose"
    assert (session.database, session.locale, session.logged, session.outstanding_requests) == (
        "",
        "",
        False,
        0,
    )


def test_the_users_own_encoding_outlives_a_change_of_the_database() -> None:
    _, peer, session = start(has_encoding_override=True)
    before = session.framing.encoding
    do(peer, session, "DATABASE other")
    assert (session.framing.encoding, session.locale, session.database) == (before, "1", "other")


def test_with_autocommit_off_the_first_query_opens_a_transaction_that_commit_ends() -> None:
    server, peer, session = ansi(autocommit=False)
    read_on(peer, session, cursor(peer, session))
    do(peer, session, "INSERT 1")
    assert server.log == ["OPEN SELECT a", "CLOSE", "INSERT 1"]
    assert session.transaction is TransactionStatus.OPEN
    peer.run(commit(session))
    assert server.log[-1] == "Commit"


def test_begin_typed_in_an_ansi_database_is_held_until_commit_also_with_autocommit() -> None:
    server, peer, session = ansi()
    do(peer, session, "BEGIN WORK")
    do(peer, session, "INSERT 1")
    read_on(peer, session, cursor(peer, session))
    assert server.log == ["BEGIN WORK", "INSERT 1", "OPEN SELECT a", "CLOSE"]
    do(peer, session, "COMMIT WORK")
    do(peer, session, "INSERT 2")
    assert server.log[-2:] == ["INSERT 2", "Commit"]


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_load_in_an_ansi_database_has_a_transaction_of_its_own(autocommit: bool) -> None:
    server, peer, session = ansi(autocommit=autocommit)
    server.ends = False
    found = cursor(peer, session) if autocommit else None
    server.errors["Begin"] = -535
    scope = peer.run(LoadTransaction.begin(session, None))
    assert scope.kind is LoadTransactionKind.OWN_TRANSACTION
    peer.run(scope.complete())
    assert server.log[-1] == "Commit"
    if found is not None:
        assert read_on(peer, session, found) == [1, 2, 3, 4, 5]


# ---- blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("autocommit", [True, False])
@pytest.mark.parametrize("keep", [True, False])
def test_a_block_is_a_transaction(autocommit: bool, keep: bool) -> None:
    server, peer, session = start(autocommit=autocommit)
    block = peer.run(begin_block(session))
    assert block.savepoint is None
    do(peer, session, "INSERT 1")
    peer.run(end_block(session, block, keep=keep))
    assert server.log == ["Begin", "INSERT 1", "Commit" if keep else "Rollback"]
    assert session.transaction is TransactionStatus.NONE
    assert session.blocks == []


def test_a_block_inside_a_block_is_a_savepoint() -> None:
    server, peer, session = start()
    outer = peer.run(begin_block(session))
    one = peer.run(begin_block(session))
    peer.run(end_block(session, one, keep=True))
    two = peer.run(begin_block(session, "mine"))
    three = peer.run(begin_block(session))
    assert (one.savepoint, two.savepoint, three.savepoint) == ("ifx_block_2", "mine", "ifx_block_3")
    peer.run(end_block(session, three, keep=False))
    peer.run(end_block(session, two, keep=False))
    peer.run(end_block(session, outer, keep=True))
    assert server.log == [
        "Begin",
        "SetSavepoint ifx_block_2",
        "ReleaseSavepoint ifx_block_2",
        "SetSavepoint mine",
        "SetSavepoint ifx_block_3",
        "RollbackToSavepoint ifx_block_3",
        "ReleaseSavepoint ifx_block_3",
        "RollbackToSavepoint mine",
        "ReleaseSavepoint mine",
        "Commit",
    ]


def test_a_block_in_the_users_own_transaction_does_not_end_it() -> None:
    server, peer, session = start()
    do(peer, session, "INSERT 1")
    block = peer.run(begin_block(session))
    assert block.savepoint is not None
    peer.run(end_block(session, block, keep=True))
    assert "Commit" not in server.log
    assert session.transaction is TransactionStatus.OPEN


@pytest.mark.parametrize("code", [-201, -256])
def test_a_database_without_log_refuses_blocks(code: int) -> None:
    _, peer, session = start(logged=False)
    with pytest.raises(NotSupportedError, match="no transaction log"):
        peer.run(begin_block(session))
    server, peer, session = start()  # treated as logged until BEGIN fails
    server.errors["Begin"] = code
    with pytest.raises(NotSupportedError, match="no transaction log") as caught:
        peer.run(begin_block(session))
    assert session.usable_after(caught.value)
    assert session.blocks == []


@pytest.mark.parametrize("end", [commit, rollback])
def test_commit_and_rollback_are_refused_inside_a_block(end: Callable[..., object]) -> None:
    server, peer, session = start()
    block = peer.run(begin_block(session))
    with pytest.raises(ProgrammingError, match=r"inside a transaction\(\) block") as caught:
        peer.run(end(session))  # type: ignore[arg-type]
    assert session.usable_after(caught.value)
    peer.run(end_block(session, block, keep=True))
    assert server.log == ["Begin", "Commit"]


@pytest.mark.parametrize("sql", ["COMMIT WORK", "rollback work", "BEGIN WORK", "DATABASE other"])
def test_sql_that_would_end_the_transaction_of_a_block_is_not_executed(sql: str) -> None:
    server, peer, session = start()
    peer.run(begin_block(session))
    with pytest.raises(ProgrammingError, match="not executed"):
        do(peer, session, sql)
    assert server.log == ["Begin"]
    do(peer, session, "ROLLBACK TO SAVEPOINT mine")
    assert server.log[-1] == "ROLLBACK TO SAVEPOINT mine"


def test_a_commit_that_fails_is_rolled_back() -> None:
    server, peer, session = start()
    block = peer.run(begin_block(session))
    server.errors["Commit"] = -691
    with pytest.raises(IntegrityError):
        peer.run(end_block(session, block, keep=True))
    assert server.log == ["Begin", "Commit", "Rollback"]
    assert (session.transaction, session.blocks) == (TransactionStatus.NONE, [])


def test_blocks_left_in_the_wrong_order_are_undone_and_refused() -> None:
    server, peer, session = start()
    outer = peer.run(begin_block(session))
    inner = peer.run(begin_block(session))
    with pytest.raises(ProgrammingError, match="reverse order"):
        peer.run(end_block(session, outer, keep=True))
    assert server.log[-1] == "Rollback"
    with pytest.raises(ProgrammingError, match="already ended"):
        peer.run(end_block(session, inner, keep=True))
    peer.run(end_block(session, inner, keep=False))  # as an exception does that leaves the block
    assert session.transaction is TransactionStatus.NONE


def test_a_block_cannot_be_the_savepoint_that_one_around_it_is() -> None:
    """On the server, the inner savepoint would replace the outer one."""
    server, peer, session = start()
    peer.run(begin_block(session))
    peer.run(begin_block(session, "mine"))
    with pytest.raises(ProgrammingError, match="already uses"):
        peer.run(begin_block(session, "MINE"))
    assert server.log == ["Begin", "SetSavepoint mine"]


def test_a_block_in_an_ansi_database_holds_its_work_also_with_autocommit() -> None:
    server, peer, session = ansi()
    server.ends = False
    found = cursor(peer, session)
    server.errors["Begin"] = -535
    block = peer.run(begin_block(session))
    do(peer, session, "INSERT 1")
    do(peer, session, "INSERT 2")
    peer.run(end_block(session, block, keep=True))
    assert server.log[2:] == ["Commit", "Begin", "INSERT 1", "INSERT 2", "Commit"]
    assert read_on(peer, session, found) == [1, 2, 3, 4, 5]


# ---- isolation and lock mode ------------------------------------------------------------------------------------


def test_a_read_has_its_own_isolation_and_lock_wait_and_puts_the_sessions_back() -> None:
    server, peer, session = start()
    peer.run(set_read_settings(session, "last committed", 5))
    server.log.clear()
    read_on(peer, session, cursor(peer, session, isolation="dirty", lock_wait=-1))
    assert server.log == [
        "SET ISOLATION TO DIRTY READ",
        "SET LOCK MODE TO WAIT",
        "OPEN SELECT a",
        "CLOSE",
        "SET ISOLATION TO COMMITTED READ LAST COMMITTED",
        "SET LOCK MODE TO WAIT 5",
    ]
    assert (isolation_of(session), lock_wait_of(session)) == ("last committed", 5)


@pytest.mark.parametrize(
    ("state", "default"),
    [
        ({}, "COMMITTED READ"),
        ({"logged": False}, "DIRTY READ"),
        ({"ansi": True, "transaction": TransactionStatus.OPEN}, "REPEATABLE READ"),
    ],
    ids=["logged", "unlogged", "ANSI"],
)
def test_what_nobody_has_set_goes_back_to_the_databases_default(
    state: dict[str, object], default: str
) -> None:
    server, peer, session = start(**state)
    read_on(peer, session, cursor(peer, session, isolation="cursor stability", lock_wait=3))
    assert server.log[-2:] == [f"SET ISOLATION TO {default}", "SET LOCK MODE TO NOT WAIT"]
    assert (isolation_of(session), lock_wait_of(session)) == (None, None)


@pytest.mark.parametrize("how", ["close", "drop", "refused open", "refused lock mode"])
def test_isolation_is_put_back_however_the_read_ends(how: str) -> None:
    server, peer, session = start()
    server.ends = False
    if how.startswith("refused"):
        server.errors["OPEN SELECT a" if how == "refused open" else "SET LOCK MODE TO WAIT 3"] = -244
        with pytest.raises(Error) as caught:
            cursor(peer, session, isolation="dirty", lock_wait=3)
        assert session.usable_after(caught.value)
    else:
        found = cursor(peer, session, isolation="dirty", lock_wait=3)
        if how == "close":
            peer.run(found.close(session))
        else:
            session.orphans.append(found)
            peer.run(clear_orphans(session))
    peer.run(drain_pending_replies(session))
    assert "SET ISOLATION TO COMMITTED READ" in server.log
    assert session.settings.isolation_now == session.settings.lock_mode_now == ""
    assert session.settings.overrides == []


def test_a_read_without_a_wish_between_two_others_reads_as_the_session_does() -> None:
    server, peer, session = start()
    server.ends = False
    one = cursor(peer, session, "SELECT a", isolation="dirty")
    two = cursor(peer, session, "SELECT b")
    assert server.log[:4] == [
        "SET ISOLATION TO DIRTY READ",
        "OPEN SELECT a",
        "SET ISOLATION TO COMMITTED READ",
        "OPEN SELECT b",
    ]
    peer.run(one.close(session))
    peer.run(two.close(session))
    assert server.log[4:] == ["CLOSE", "CLOSE"]


def test_a_refused_isolation_opens_nothing() -> None:
    server, peer, session = start()
    server.errors["SET ISOLATION TO DIRTY READ"] = -201
    with pytest.raises(ProgrammingError) as caught:
        cursor(peer, session, isolation="dirty")
    assert session.usable_after(caught.value)
    peer.run(drain_pending_replies(session))
    assert server.log == ["SET ISOLATION TO DIRTY READ"]
    assert server.texts == {}


@pytest.mark.parametrize(
    ("sql", "isolation"),
    [
        ("set isolation to dirty read", "dirty"),
        ("SET ISOLATION COMMITTED READ {c} LAST COMMITTED", "last committed"),
        ("SET ISOLATION TO CURSOR STABILITY -- x", "cursor stability"),
        ("SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS", "COMMITTED READ RETAIN UPDATE LOCKS"),
    ],
)
def test_isolation_typed_as_sql_is_what_reads_go_back_to(sql: str, isolation: str) -> None:
    server, peer, session = start()
    KINDS["SET"] = StatementType.SET_ISOLATION
    do(peer, session, sql)
    assert isolation_of(session) == isolation
    read_on(peer, session, cursor(peer, session, isolation="repeatable"))
    back = {"dirty": "DIRTY READ", "last committed": "COMMITTED READ LAST COMMITTED"}
    assert server.log[-1] == f"SET ISOLATION TO {back.get(isolation, isolation.upper())}"


@pytest.mark.parametrize(
    ("sql", "seconds"),
    [("set lock mode to wait 17", 17), ("SET LOCK MODE TO NOT WAIT", 0), ("SET LOCK MODE TO /**/ WAIT", -1)],
)
def test_a_lock_mode_typed_as_sql_is_known(sql: str, seconds: int) -> None:
    _, peer, session = start()
    KINDS["SET"] = StatementType.SET_LOCK_MODE
    do(peer, session, sql)
    assert lock_wait_of(session) == seconds


def test_a_ping_is_one_round_trip_and_opens_nothing() -> None:
    server, peer, session = ansi(autocommit=False)
    peer.run(ping(session))
    assert peer.names() == ["Info"]
    assert peer.steps == ["Send", "Receive"]
    assert session.transaction is TransactionStatus.NONE
    assert server.log == ["Info"]
