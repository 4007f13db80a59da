"""Loads with a scripted peer: windows, replies, refused rows, lost connections (SQLI section 11, JDBC 8)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.operations.scripted_peer import COLUMNS, FRAMING, DistantPeer, Peer, new_session
from tests.unit.operations.scripted_peer import Group as Messages

from informix_arrow.operations.batch_replies import BatchReplyReader, ManyOutcome
from informix_arrow.operations.bulk_insert import (
    CachedTableMetadata,
    Loader,
    LoadOutcome,
    LoadSpec,
    RowFraming,
    RowGroup,
)
from informix_arrow.operations.io_steps import ConnectionLost, Exchange, Receive, Send, split_send_receive
from informix_arrow.operations.load_transaction import LoadTransaction, LoadTransactionKind
from informix_arrow.operations.session import Session, TransactionStatus
from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import Error, IntegrityError, InternalError, OperationalError, ProtocolError
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

ID = 5
DUPLICATE = m.Err(-268, -100, 0, "informix.u100_1")


def row_of(number: int) -> tuple[object, ...]:
    return (number, f"n{number}", 12345)


def put(number: int) -> bytes:
    return m.Put(encode_tuple(row_of(number), COLUMNS, FRAMING.encoding)).encode(FRAMING)


def bind(number: int) -> bytes:
    values = tuple(bind_value(value, FRAMING.encoding) for value in row_of(number))
    parts = (m.Id(ID), m.Bind(values), m.Execute(), m.EndOfTurn())
    return b"".join(part.encode(FRAMING) for part in parts)


@dataclass
class Numbers:
    """A source of the rows 0 .. count, ``at_once`` in a group."""

    count: int
    at_once: int = 10
    taken: int = 0
    refusals: list[tuple[int, int | None]] = field(default_factory=list)
    fails_at: int | None = None
    failure: Exception = field(default_factory=lambda: LookupError("the data ended in an error"))
    source_error: Exception | None = None

    def wait(self) -> Exchange[None]:
        yield from ()

    def next_group(self, form: RowFraming, budget: int, most: int) -> RowGroup | None:
        if self.fails_at is not None and self.taken >= self.fails_at:
            self.source_error = self.failure
            raise self.failure
        rows = list(range(self.taken, min(self.taken + min(self.at_once, most), self.count)))
        self.taken += len(rows)
        return self.group(form, rows) if rows else None

    def resend_from(self, group: RowGroup, start: int, budget: int, most: int) -> Iterator[RowGroup]:
        assert isinstance(group.origin, list)
        rows = group.origin[start:]
        for at in range(0, len(rows), 3):
            yield self.group(RowFraming.BIND, rows[at : at + 3])

    def record_rejected(self, group: RowGroup, index: int, error: Error) -> None:
        assert isinstance(group.origin, list)
        self.refusals.append((group.origin[index], error.sqlcode))

    def locate_error(self, group: RowGroup, index: int, error: Error) -> Error:
        assert isinstance(group.origin, list)
        error.row = group.origin[index]
        return error

    def group(self, form: RowFraming, rows: list[int]) -> RowGroup:
        encode = put if form is RowFraming.PUT else bind
        return RowGroup(b"".join(encode(number) for number in rows), len(rows), rows)


@dataclass
class Table:
    """The server's side: the rows that it has, those that it refuses, and how it counts."""

    bad: frozenset[int] = frozenset()
    error: m.Err = DUPLICATE
    no_cursor: bool = False
    serials: bool = False
    miscounts: bool = False
    cuts: int | None = None  # the row whose text it truncates
    rows: list[int] = field(default_factory=list)

    def __call__(self, messages: Messages) -> list[m.Message]:
        kinds = {type(message) for message in messages}
        if m.Open in kinds:
            return [m.Err(-201)] if self.no_cursor else []
        if m.Put in kinds:
            return self.put([message for message in messages if isinstance(message, m.Put)])
        if m.Execute in kinds:
            number = next(
                int.from_bytes(one.values[0].data or b"", "big")
                for one in messages
                if isinstance(one, m.Bind)
            )
            return self.execute(number)
        return []

    def put(self, messages: list[m.Put]) -> list[m.Message]:
        done = 0
        for message in messages:
            number = int.from_bytes(message.tuple_bytes[:4], "big")
            if number in self.bad:
                return [m.Done(0, done), self.error]
            self.rows.append(number)
            done += 1
        return [m.Done(int(self.cuts in self.rows), done - self.miscounts), m.Cost()]

    def execute(self, number: int) -> list[m.Message]:
        if number in self.bad:
            return [self.error]
        self.rows.append(number)
        serial = len(self.rows) if self.serials else 0
        done = m.Done(int(number == self.cuts), 1, 0x101 + number % 7, serial)
        return [m.InsertDone(), done, m.Cost(1, 1), m.XactStat(1, 1, 0)]


def load(
    feed: Numbers,
    table: Table,
    *,
    kind: LoadTransactionKind = LoadTransactionKind.OWN_TRANSACTION,
    piece: int = 1 << 20,
    progress: Callable[[LoadOutcome], None] = lambda outcome: None,
    session: Session | None = None,
    method: str = "auto",
    collect: bool = False,
    commit_every: int | None = None,
) -> tuple[LoadOutcome, Peer, Session]:
    session = session or new_session(transaction=TransactionStatus.OPEN)
    peer = Peer(table, piece)
    job = job_of(method, collect, commit_every)
    loader = Loader(session, job, feed, LoadTransaction(session, kind), progress)
    return peer.run(loader.run()), peer, session


def job_of(
    method: str = "auto",
    collect: bool = False,
    commit_every: int | None = None,
    known: CachedTableMetadata | None = None,
) -> LoadSpec:
    types = tuple(column.type for column in COLUMNS)
    return LoadSpec(
        ID, "insert", StatementType.INSERT, types, method, collect, commit_every, cached_metadata=known
    )


@parametrize_in_one_test("piece", [1, 7, 1 << 20])
@parametrize_in_one_test("count", [0, 1, 10, 11, 95])
@parametrize_in_one_test("method", ["put", "pipeline"])
def test_every_row_arrives_in_order_however_replies_are_cut(method: str, count: int, piece: int) -> None:
    table = Table()
    outcome, _, session = load(Numbers(count), table, method=method, piece=piece)
    assert table.rows == list(range(count))
    assert (outcome.rows, outcome.answered, outcome.method) == (count, count, method)
    assert session.outstanding_requests == 0


def test_an_insert_cursor_is_opened_typed_and_closed_once() -> None:
    _, peer, _ = load(Numbers(20), Table())
    assert peer.names() == [
        "Id CursorName Open RetType", " ".join(["Id", *["Put"] * 10]), " ".join(["Id", *["Put"] * 10]), "Id Close",
    ]  # fmt: skip


def test_boolean_and_lvarchar_are_put_in_the_forms_that_jdbc_asks_for() -> None:
    from informix_arrow.operations.bulk_insert import put_type

    assert put_type(ColumnType.boolean(not_null=True)) == ColumnType(45, 1, 0, 0, "informix", "boolean")
    assert put_type(ColumnType.lvarchar(300)) == ColumnType(43, 300)
    assert put_type(ColumnType.varchar(20, not_null=True)) == ColumnType.varchar(20)


def test_where_there_is_no_insert_cursor_rows_are_executed() -> None:
    table = Table(no_cursor=True)
    outcome, _, _ = load(Numbers(25), table)
    assert (table.rows, outcome.method) == (list(range(25)), "pipeline")
    with pytest.raises(Error) as caught:
        load(Numbers(25), Table(no_cursor=True), method="put")
    assert caught.value.sqlcode == -201


@pytest.mark.parametrize("kind", [LoadTransactionKind.OWN_TRANSACTION, LoadTransactionKind.NONE])
@pytest.mark.parametrize("bad", [0, 4, 9, 10, 94], ids=lambda n: f"row {n}")
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_refused_row_ends_the_load_with_its_number(
    method: str, bad: int, kind: LoadTransactionKind
) -> None:
    session = new_session(transaction=TransactionStatus.OPEN)
    with pytest.raises(IntegrityError) as caught:
        load(Numbers(95), Table(frozenset({bad})), method=method, session=session, kind=kind)
    assert (caught.value.row, caught.value.sqlcode, caught.value.isamcode) == (bad, -268, -100)
    assert session.usable_after(caught.value)


def test_in_an_unlogged_database_nothing_is_put_behind_a_refused_row() -> None:
    table = Table(frozenset({14}))
    with pytest.raises(IntegrityError):
        load(Numbers(95), table, kind=LoadTransactionKind.NONE)
    assert table.rows == list(range(14))


@pytest.mark.parametrize(
    "bad",
    [{0}, {9}, {10}, {94}, {0, 1, 2}, {3, 14, 15, 29, 94}, set(range(95)), set(range(0, 95, 2))],
    ids=lambda s: f"{min(s)}..{max(s)} ({len(s)})",
)
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_refused_rows_are_set_aside_and_the_others_go_in_in_order(method: str, bad: set[int]) -> None:
    table, feed = Table(frozenset(bad)), Numbers(95)
    outcome, _, session = load(feed, table, method=method, collect=True)
    assert table.rows == [number for number in range(95) if number not in bad]
    assert feed.refusals == [(number, -268) for number in sorted(bad)]
    assert (outcome.rows, outcome.answered) == (95 - len(bad), 95)
    assert session.outstanding_requests == 0


@pytest.mark.parametrize("method", ["put", "pipeline"])
@pytest.mark.parametrize(
    ("error", "row"),
    [(m.Err(-458), 14), (m.Err(-271, -131), 14), (m.Err(-213, -157), None)],
    ids=["long transaction", "disk full", "interrupted"],
)
def test_what_every_later_row_would_meet_is_no_matter_of_one_row(
    error: m.Err, row: int | None, method: str
) -> None:
    """An interrupt does not concern any row: the one that it hit is a coincidence."""
    feed = Numbers(95)
    with pytest.raises(OperationalError) as caught:
        load(feed, Table(frozenset({14}), error), collect=True, method=method)
    assert (caught.value.row, caught.value.sqlcode) == (row, error.sqlcode)
    assert feed.refusals == []


@pytest.mark.parametrize(
    "answer", [[], [m.Err(-255)], [m.Err(-458)]], ids=["undone", "ended before", "refused"]
)
def test_a_scope_distinguishes_undoing_from_finding_nothing_to_undo(answer: list[m.Message]) -> None:
    session = new_session(transaction=TransactionStatus.OPEN)
    scope = LoadTransaction(session, LoadTransactionKind.OWN_TRANSACTION)
    undone = Peer(lambda messages: answer).run(scope.rollback())
    code = answer[0].sqlcode if answer and isinstance(answer[0], m.Err) else None
    assert (undone, scope.ended_by_server) == (code != -458, code == -255)
    assert (session.transaction is TransactionStatus.NONE) == undone


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_commits_come_after_exactly_so_many_rows(method: str) -> None:
    table = Table()
    outcome, peer, _ = load(Numbers(95, at_once=7), table, method=method, commit_every=20)
    loaded = list(
        itertools.accumulate(
            sum(isinstance(one, m.Put | m.Execute) for one in group) for group in peer.groups
        )
    )
    commits = [rows for rows, name in zip(loaded, peer.names(), strict=True) if name == "Commit"]
    assert commits == [20, 40, 60, 80]
    assert peer.names().count("Begin") == 4
    assert (table.rows, outcome.rows) == (list(range(95)), 95)


def test_the_cursor_is_opened_again_after_a_commit_and_typed_no_more() -> None:
    _, peer, _ = load(Numbers(20), Table(), commit_every=10)
    assert [name for name in peer.names() if "Open" in name] == [
        "Id CursorName Open RetType",
        "Id CursorName Open",
    ]


def test_a_server_that_counts_other_rows_than_were_put_is_not_believed() -> None:
    session = new_session(transaction=TransactionStatus.OPEN)
    with pytest.raises(InternalError, match="9 of 10 rows"):
        load(Numbers(30), Table(miscounts=True), session=session)
    assert session.outstanding_requests == 0


def test_an_error_of_the_data_passes_through_when_all_replies_are_read() -> None:
    session = new_session(transaction=TransactionStatus.OPEN)
    with pytest.raises(LookupError) as caught:
        load(Numbers(95, fails_at=50), Table(), session=session)
    assert session.usable_after(caught.value)


def test_an_error_of_the_progress_callback_passes_through_too() -> None:
    session = new_session(transaction=TransactionStatus.OPEN)

    def progress(outcome: LoadOutcome) -> None:
        raise KeyError(outcome.rows)

    with pytest.raises(KeyError) as caught:
        load(Numbers(95), Table(), session=session, progress=progress)
    assert session.usable_after(caught.value)


def test_progress_never_reports_rows_that_were_not_answered() -> None:
    seen: list[int] = []
    table = Table()

    def progress(outcome: LoadOutcome) -> None:
        assert outcome.answered <= len(table.rows)
        seen.append(outcome.answered)

    load(Numbers(95), table, progress=progress)
    assert seen == sorted(seen)
    assert seen[-1] == 95


def test_at_most_three_put_groups_are_on_their_way() -> None:
    """If this fails: a load of any size must hold only one window, and must notice a peer that does not reply."""
    session = new_session(transaction=TransactionStatus.OPEN)
    types = tuple(column.type for column in COLUMNS)
    feed = Numbers(1_000_000)
    loader = Loader(
        session,
        LoadSpec(ID, "i", 6, types),
        feed,
        LoadTransaction(session, LoadTransactionKind.OWN_TRANSACTION),
        lambda outcome: None,
    )
    exchange = split_send_receive(loader.run())
    step = next(exchange)
    sends = 0
    answered = False
    while not isinstance(step, Receive) or not answered:
        if isinstance(step, Send):
            sends += 1
            step = exchange.send(0)
        else:
            assert isinstance(step, Receive)
            answered = True  # the reply to OPEN; no PUT is ever answered
            step.into[:2] = m.EndOfTurn().encode(FRAMING)
            step = exchange.send(2)
            if isinstance(step, Receive):
                break
    while isinstance(step, Send):
        sends += 1
        step = exchange.send(0)
    assert sends == 1 + 3
    assert feed.taken == 4 * 10
    with pytest.raises(ConnectionLost):
        exchange.throw(ConnectionLost("gone"))
    assert not session.usable_after(ConnectionLost("gone"))


# ---- replies -----------------------------------------------------------------------------------------------


def replies_to(session: Session, answers: list[list[m.Message]], piece: int) -> ManyOutcome:
    """Pass the encoded replies to a reply reader, ``piece`` bytes at a time, and return its outcome."""
    data = b"".join(message.encode(FRAMING) for answer in answers for message in (*answer, m.EndOfTurn()))
    outcome = ManyOutcome()
    session.outstanding_requests = len(answers)
    exchange: Exchange[None] = BatchReplyReader(session, "insert", StatementType.INSERT).read(
        outcome, len(answers)
    )
    at = 0
    try:
        step = next(exchange)
        while True:
            assert isinstance(step, Receive)
            count = min(piece, len(data) - at, len(step.into))
            assert count, "more bytes wanted than there are"
            step.into[:count] = data[at : at + count]
            at += count
            step = exchange.send(count)
    except StopIteration:
        assert at == len(data)
        assert session.buffer.start == session.buffer.end
        assert session.outstanding_requests == 0
        return outcome


PLAIN: list[m.Message] = [m.InsertDone(), m.Done(0, 1, 0x101), m.Cost(1, 1)]


@pytest.mark.parametrize("piece", [1, 13, 46, 47, 1000, 1 << 20])
def test_equal_replies_are_counted_one_by_one(piece: int) -> None:
    outcome = replies_to(new_session(), [PLAIN] * 300, piece)
    assert (outcome.executed, outcome.rows, outcome.serial, outcome.errors, outcome.truncated_rows) == (
        300,
        300,
        0,
        [],
        [],
    )


@pytest.mark.parametrize("piece", [1, 97, 1 << 20])
def test_serials_and_row_ids_that_grow_are_followed(piece: int) -> None:
    answers: list[list[m.Message]] = [
        [m.InsertDone(), m.Done(0, 1, 0x100 + n, 1000 + n), m.Cost(n, n)] for n in range(200)
    ]
    outcome = replies_to(new_session(), answers, piece)
    assert (outcome.rows, outcome.serial) == (200, 1199)


@pytest.mark.parametrize("negative", [False, True])
def test_large_serials_are_reported(negative: bool) -> None:
    sign = -1 if negative else 1
    makes: list[Callable[[int], m.InsertDone]] = [
        lambda n: m.InsertDone(sign * (2**40 + n), 0),
        lambda n: m.InsertDone(0, sign * (2**50 + n)),
    ]
    for make in makes:
        answers: list[list[m.Message]] = [[make(n), m.Done(0, 1, 7, 0)] for n in range(70)]
        assert replies_to(new_session(), answers, 64).serial in (sign * (2**40 + 69), sign * (2**50 + 69))


@pytest.mark.parametrize("piece", [1, 50, 1 << 20])
@pytest.mark.parametrize("at", [0, 1, 63, 64, 65, 150, 299])
def test_an_error_among_equal_replies_keeps_its_place(at: int, piece: int) -> None:
    answers = [PLAIN] * at + [[DUPLICATE]] + [PLAIN] * (299 - at)
    outcome = replies_to(new_session(), [list(answer) for answer in answers], piece)
    assert [error.row for error in outcome.errors] == [at]
    assert (outcome.executed, outcome.rows) == (300, 299)


def test_other_row_counts_and_cut_text_are_seen_among_equal_replies() -> None:
    answers: list[list[m.Message]] = [list(PLAIN) for _ in range(100)]
    answers[40] = [m.InsertDone(), m.Done(1, 1, 0x101), m.Cost(1, 1)]
    answers[41] = [m.InsertDone(), m.Done(0, 5, 0x101), m.Cost(1, 1)]
    answers[42] = [m.InsertDone(), m.Done(0, 0, 0x101), m.Cost(1, 1)]
    outcome = replies_to(new_session(), answers, 1 << 20)
    assert (outcome.executed, outcome.rows, outcome.truncated_rows) == (100, 97 + 1 + 5, [40])


def test_replies_of_an_unknown_make_are_read_all_the_same() -> None:
    answers: list[list[m.Message]] = [
        [m.Done(0, 1), m.TupleId(3)],
        [m.XactStat(1, 1, 0), m.Done(0, 2)],
        [],
    ] * 30
    outcome = replies_to(new_session(), answers, 11)
    assert (outcome.executed, outcome.rows) == (90, 90)


def test_rubbish_among_replies_breaks_the_session() -> None:
    session = new_session()
    session.outstanding_requests = 2
    exchange = BatchReplyReader(session, "insert", StatementType.INSERT).read(ManyOutcome(), 2)
    step = next(exchange)
    assert isinstance(step, Receive)
    step.into[:4] = b"\x7f\x7f\0\0"
    with pytest.raises(ProtocolError) as caught:
        exchange.send(4)
    assert not session.usable_after(caught.value)


# ---- repeated loads with a statement that is known -----------------------------------------------------------------


@dataclass
class Before:
    """Knowledge about the table, and a count of how often the server was asked whether it is still true."""

    had_rejections: bool = False
    asked: int = 0

    def verify(self) -> Exchange[None]:
        self.asked += 1
        yield from ()


def load_again(
    feed: Numbers, table: Callable[[Messages], list[m.Message]], session: Session, **options: bool
) -> tuple[LoadOutcome, DistantPeer, LoadTransaction, Loader, Before]:
    known, peer = Before(), DistantPeer(table)
    scope = LoadTransaction.begin_deferred(session, None)
    loader = Loader(session, job_of("put", known=known, **options), feed, scope, lambda outcome: None)

    def whole() -> Exchange[LoadOutcome]:
        outcome = yield from loader.run()
        yield from scope.complete()
        return outcome

    outcome = peer.run(whole())
    return outcome, peer, scope, loader, known


def test_a_small_load_by_a_known_statement_waits_twice() -> None:
    table, session = Table(), new_session()
    outcome, peer, scope, loader, known = load_again(Numbers(5), table, session)
    assert peer.names() == [
        "Begin",
        "Id CursorName Open RetType",
        "Id Put Put Put Put Put",
        "Id Close",
        "Commit",
    ]
    assert peer.round_trips == 2
    assert (outcome.rows, table.rows, scope.commits, loader.first_rows_accepted) == (
        5,
        [0, 1, 2, 3, 4],
        1,
        True,
    )
    assert (known.asked, loader.metadata_verified, session.transaction) == (0, False, TransactionStatus.NONE)


def test_a_large_load_by_a_known_statement_asks_once_whether_it_is_still_true() -> None:
    table = Table()
    outcome, _, _, loader, known = load_again(Numbers(95), table, new_session())
    assert (outcome.rows, table.rows) == (95, list(range(95)))
    assert (known.asked, loader.metadata_verified) == (1, True)


def test_a_begin_that_finds_a_transaction_open_leaves_it_to_the_user() -> None:
    table, session = Table(), new_session()

    def server(messages: Messages) -> list[m.Message]:
        return [m.Err(-535)] if isinstance(messages[0], m.Begin) else table(messages)

    _, peer, scope, _, _ = load_again(Numbers(5), server, session)
    assert (scope.kind, session.transaction) == (LoadTransactionKind.SAVEPOINT, TransactionStatus.OPEN)
    assert "Commit" not in peer.names()
    assert peer.run(scope.rollback()) is False


def test_a_begin_that_is_refused_is_an_error_with_all_answers_read() -> None:
    session, table = new_session(), Table()

    def server(messages: Messages) -> list[m.Message]:
        return [m.Err(-458)] if isinstance(messages[0], m.Begin) else table(messages)

    with pytest.raises(Error) as caught:
        load_again(Numbers(5), server, session)
    assert caught.value.sqlcode == -458
    assert session.usable_after(caught.value)
    assert not session.pending_replies


@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize("where", [m.Open, m.Put])
def test_a_statement_that_is_out_of_date_is_no_fault_of_a_row(where: type[m.Message], collect: bool) -> None:
    session, feed = new_session(transaction=TransactionStatus.OPEN), Numbers(5)

    def server(messages: Messages) -> list[m.Message]:
        if any(isinstance(message, where) for message in messages):
            return [m.Err(-710)]
        return [m.Err(-259)] if where is m.Open and isinstance(messages[-1], m.Put | m.Close) else []

    with pytest.raises(Error) as caught:
        load_again(feed, server, session, collect=collect)
    assert caught.value.sqlcode == -710
    assert feed.refusals == []
    assert session.usable_after(caught.value)
