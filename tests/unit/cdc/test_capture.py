"""Captured changes as users read them. The server is a stand-in: a connection that returns prepared replies."""

from __future__ import annotations

import struct
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from tests.internals import session_of
from tests.unit.cdc import change_records as w
from tests.unit.cdc.test_assembler import HEAD, item, order

from informix_arrow.cdc import capture
from informix_arrow.cdc.assembler import Assembler, CapturedTable
from informix_arrow.cdc.capture import Changes
from informix_arrow.cdc.requests import CaptureReader
from informix_arrow.cdc.table_batches import expected_schema
from informix_arrow.operations.io_steps import ConnectionLost, Receive, Send
from informix_arrow.operations.receive_buffer import ReceiveBuffer
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import (
    Error,
    InterfaceError,
    OperationalError,
    ProtocolError,
    QueryCanceled,
    Warning,
)
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import ColumnType

NUMBER = 0x0980_8027  # its low half is a negative short
COLUMNS = {
    "orders": (Column("id", ColumnType.integer(not_null=True)), Column("name", ColumnType.varchar(40))),
    "items": (Column("item", ColumnType.integer()), Column("note", ColumnType.lvarchar(200))),
}


def reply(data: bytes, piece: int = 32000) -> bytes:
    """Return the reply to one read (CDC section 3)."""
    body = b""
    for at in range(0, len(data), piece):
        part = data[at : at + piece]
        body += struct.pack(">h", len(part)) + part + b"\0" * (len(part) & 1)
    return struct.pack(">hhi", 97, 0, len(data)) + body + (b"" if data else b"\0\0") + b"\0\x0c"


class Refusal(bytes):
    """A reply to a read that is an error."""

    def __new__(cls, code: int) -> Refusal:
        return super().__new__(cls, m.Err(code).encode(Framing()) + b"\0\x0c")


class Written:
    """A connection that answers each read with the next of ``replies``: bytes, or an error to raise."""

    def __init__(self, replies: Iterator[bytes | BaseException], step: int) -> None:
        self.replies, self.step = replies, step
        self.reached: deque[bytes | BaseException] = deque()  # replies to requests that were sent
        self._session = Session(ReceiveBuffer(1 << 16), Framing(encoding="utf-8"))
        self._runner = self
        self.closed = self.abandoned = False
        self.sent: list[bytes] = []
        self.waiting = b""  # bytes of replies that were not received
        self.rows: list[tuple[Any, ...]] = []  # rows of queries
        self.executed: list[str] = []

    def _run(self, exchange: Any, timeout: float | None = None) -> Any:
        answer: int | None = None  # to begin with
        try:
            while True:
                step = exchange.send(answer)
                answer = 0
                if isinstance(step, Send):
                    requests = bytes(step.data)
                    for at in range(0, len(requests), 14):
                        self.sent.append(requests[at : at + 14])
                        self.reached.append(next(self.replies, b"never asked for"))
                else:
                    assert isinstance(step, Receive)
                    if not self.waiting:
                        found = self.reached.popleft()
                        if isinstance(found, BaseException):
                            self.closed = isinstance(found, ConnectionLost)
                            exchange.close()
                            raise found
                        self.waiting = found
                    answer = min(self.step, len(self.waiting))
                    step.into[:answer] = self.waiting[:answer]
                    self.waiting = self.waiting[answer:]
        except StopIteration as stop:
            return stop.value

    def execute(self, sql: str, arguments: tuple[Any, ...], *, timeout: float | None = None) -> Any:
        self.executed.append(sql)
        if not self.rows:
            raise OperationalError("nothing was written for this")
        row = self.rows.pop(0)

        class Cursor:
            def fetchone(self) -> tuple[Any, ...]:
                return row

            def close(self) -> None:
                pass

        return Cursor()

    def close(self) -> None:
        self.closed = True

    def abandon(self) -> None:
        self.closed = self.abandoned = True


Make = Callable[..., tuple[Changes, Written]]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Changes] = []

    def changes(
        *replies: bytes | BaseException,
        idle: float | None = 0,
        watchdog: float | None = None,
        step: int = 1 << 15,
        tables: tuple[str, ...] = ("orders", "items"),
        piece: int = 32000,
        records: int = 64,
    ) -> tuple[Changes, Written]:
        written = [one if isinstance(one, BaseException | Refusal) else reply(one, piece) for one in replies]
        connection = Written(iter(written), step)
        names = {"orders": ["id", "name", "qty"], "items": ["item", "note"]}
        captured = [CapturedTable(name, label, names[name]) for label, name in enumerate(tables, 1)]
        schemas = {name: expected_schema(COLUMNS[name], TypeOptions()) for name in tables}
        assembler = Assembler(captured, TypeOptions(), "utf-8")
        reads = CaptureReader(NUMBER, capture.READ_BYTES, records, assembler.write)
        found = Changes(
            cast(Any, connection), NUMBER, assembler, reads, schemas, idle, watchdog, close_timeout=1.0
        )
        made.append(found)
        return found, connection

    yield changes
    for each in made:
        each.close()


def one(lsn: int, key: int, tx: int = 7) -> bytes:
    return w.begin(lsn, tx) + order(40, lsn + 1, tx, key, "x") + w.commit(lsn + 2, tx)


def keys(transaction: Any) -> list[int]:
    return [key for change in transaction.batches for key in change.data.column(2).to_pylist()]


def test_transactions_come_one_by_one_each_with_its_token_until_it_is_quiet(make: Make) -> None:
    changes, connection = make(
        HEAD + one(10, 1) + one(20, 2)[:50], one(20, 2)[50:] + one(30, 3), w.timeout(40)
    )
    tokens = []
    for transaction in changes:
        assert changes.token == transaction.token
        tokens.append((keys(transaction), changes.token))
    assert tokens == [([1], "1-c-c"), ([2], "1-16-16"), ([3], "1-20-20")]
    assert changes.token == "1-28-20"
    assert connection.sent == [bytes.fromhex("0061 0000 8027 00040000 7d00 000c")] * 3


@pytest.mark.parametrize("step", [1, 7, 1 << 15])
@pytest.mark.parametrize("piece", [1, 33, 32000])
def test_replies_in_pieces_of_any_size(make: Make, step: int, piece: int) -> None:
    data = HEAD + one(10, 1) + one(20, 2)
    for cut in (1, 60, len(data) // 2, len(data) - 1):
        changes, _ = make(data[:cut], data[cut:], w.timeout(40), step=step, piece=piece)
        assert [keys(each) for each in changes] == [[1], [2]]


def test_reads_are_sent_ahead_while_replies_are_full_and_one_at_a_time_when_they_are_not(make: Make) -> None:
    full = [one(10 * n, n) for n in range(1, 20)]  # three records each
    changes, connection = make(HEAD + one(1, 0), *full, w.timeout(300), *[w.timeout(300)] * 40, records=3)
    sent = []
    for n, transaction in enumerate(changes):
        assert keys(transaction) == [n]
        sent.append(len(connection.sent))
    assert sent[:5] == [1, 4, 7, 12, 21]
    for _ in range(2):  # earlier reads are answered before quiet counts, and one more read reports it
        before = len(connection.sent)
        assert list(changes) == []
        assert len(connection.sent) == before + 1


def test_quiet_reported_by_reads_sent_ahead_is_older_than_the_current_read(make: Make) -> None:
    ahead = [one(10 * n, n) for n in range(1, 8)]  # 1, 2 and 4 reads, which are all full
    changes, _ = make(
        *(HEAD + one(1, 0), *ahead),
        *[w.timeout(100)] * 13,  # the first ends the iteration, the others are still to be received
        *(one(200, 9), w.timeout(300)),
        records=3,
    )
    assert len(list(changes)) == 8
    assert changes._reads.in_flight
    assert [keys(each) for each in changes] == [[9]]


def test_errors_of_reads_that_were_sent_ahead_are_for_who_reads_on(make: Make) -> None:
    changes, connection = make(
        *(HEAD + one(1, 0), one(10, 1), Refusal(-213), Refusal(-9810)), step=len(reply(one(10, 1))), records=3
    )
    found = iter(changes)
    assert [keys(next(found)) for _ in range(2)] == [[0], [1]]
    assert changes._reads.in_flight == 2
    connection._run(drain_pending_replies(session_of(connection)))  # as another statement does first
    assert not changes._reads.in_flight
    with pytest.raises(OperationalError) as caught:
        next(found)
    assert caught.value.sqlcode == -9810


def test_batches_take_transactions_together_and_keep_the_order_of_tables(make: Make) -> None:
    both = w.begin(50, 7) + item(40, 51, 7, 9, "n") + order(40, 52, 7, 8, "x") + w.commit(53, 7)
    data = HEAD + one(10, 1) + one(20, 2) + both + one(60, 4) + one(70, 5)
    changes, _ = make(data, w.timeout(80))
    found = list(changes.batches(max_rows=5, max_seconds=None))
    assert [(each.transactions, each.rows, each.commit_lsn, each.token) for each in found] == [
        (4, 5, 62, "1-3e-3e"),
        (1, 1, 72, "1-48-48"),
    ]
    assert [(change.table, change.data.column(2).to_pylist()) for change in found[0].batches] == [
        ("orders", [1, 2]),
        ("items", [9]),
        ("orders", [8, 4]),
    ]
    for change in found[0].batches:
        change.data.validate(full=True)
    assert found[0].commit_time.timestamp() == 1_700_000_001


def test_batches_of_no_seconds_are_what_is_there(make: Make) -> None:
    changes, _ = make(HEAD + one(10, 1) + one(20, 2), one(30, 3), w.timeout(40))
    assert [each.transactions for each in changes.batches(max_seconds=0)] == [2, 1]
    changes, _ = make(HEAD + one(10, 1) + one(20, 2), one(30, 3), w.timeout(40))
    assert [each.transactions for each in changes.batches(max_seconds=600)] == [3]


def test_tables_of_what_there_is_and_again_of_what_came_since(make: Make) -> None:
    changes, _ = make(
        *(HEAD + one(10, 1) + one(20, 2), w.timeout(30)),
        *(one(40, 3), w.timeout(50)),
        *(w.timeout(60),),
    )
    first = changes.as_tables()
    assert first["orders"].column("id").to_pylist() == [1, 2]
    assert first["items"].num_rows == 0
    assert first["items"].schema == changes.schema("items")
    assert changes.as_tables()["orders"].column("id").to_pylist() == [3]
    assert changes.as_tables()["orders"].num_rows == 0
    with pytest.raises(InterfaceError, match="as_tables"):
        changes.as_table()
    single, _ = make(w.schema("id integer", 4, 1, 0), w.timeout(1), tables=("orders",))
    assert single.as_table().num_rows == 0


def test_the_schema_is_known_before_anything_has_come(make: Make) -> None:
    changes, _ = make(w.timeout(1))
    assert changes.schema("items") == expected_schema(COLUMNS["items"], TypeOptions())
    assert changes.schema("items").field("_op").type == pa.dictionary(pa.int8(), pa.utf8())
    assert changes.schema("orders").field("id").metadata == {b"informix.type": b"INTEGER"}
    before = changes.schema("items")
    list(changes)
    read, _ = make(HEAD, w.timeout(1))
    list(read)
    assert read.schema("items") == before
    with pytest.raises(
        InterfaceError, match=r"'nothing' is not captured\. The captured tables are orders, items"
    ):
        changes.schema("nothing")


def test_a_lost_connection_ends_the_capture_and_the_token_says_where_to_go_on(make: Make) -> None:
    changes, connection = make(HEAD + one(10, 1), ConnectionLost("gone"))
    assert keys(next(iter(changes))) == [1]
    with pytest.raises(ConnectionLost, match="gone"):
        next(iter(changes))
    assert changes.token == "1-c-c"
    assert changes.closed
    with pytest.raises(
        InterfaceError, match=r"failed before \(gone\)\. Continue with a new one: start=changes\.token"
    ):
        next(iter(changes))
    assert connection.closed


def test_an_interrupted_read_loses_nothing(make: Make) -> None:
    changes, _ = make(
        HEAD + one(10, 1)[:30],
        QueryCanceled("cancelled"),
        KeyboardInterrupt(),
        one(10, 1)[30:],
        w.timeout(20),
    )
    with pytest.raises(QueryCanceled):
        next(iter(changes))
    with pytest.raises(KeyboardInterrupt):
        next(iter(changes))
    assert [keys(each) for each in changes] == [[1]]


def test_quiet_reported_before_the_read_began_does_not_count(make: Make) -> None:
    changes, _ = make(HEAD + one(10, 1) + w.timeout(15), one(20, 2), w.timeout(30))
    assert keys(next(iter(changes))) == [1]
    assert [keys(each) for each in changes] == [[2]]


def test_bytes_that_break_the_format_end_the_capture(make: Make) -> None:
    changes, connection = make(HEAD + one(10, 1) + b"\0\0\0\1" * 4)
    assert keys(next(iter(changes))) == [1]
    with pytest.raises(ProtocolError, match="packet scheme 1"):
        next(iter(changes))
    assert connection.closed
    assert changes.token == "1-c-c"


def test_an_empty_read_is_the_end_and_an_error(make: Make) -> None:
    changes, _ = make(b"")
    with pytest.raises(OperationalError, match="ended the stream"):
        next(iter(changes))


def test_an_error_record_ends_the_capture_with_informix_number(make: Make) -> None:
    changes, _ = make(HEAD + one(10, 1) + w.error(-83790))
    found = iter(changes)
    assert keys(next(found)) == [1]
    with pytest.raises(OperationalError, match="-83790") as caught:
        next(found)
    assert caught.value.sqlcode == -83790


def test_warnings_are_given(make: Make) -> None:
    changes, _ = make(HEAD + order(40, 5, 9, 1, "half") + w.commit(6, 9) + w.error(-1, 0), w.timeout(9))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(changes) == []
    assert [issubclass(each.category, Warning) for each in caught] == [True, True]
    assert changes.missed == 1


def ten_seconds_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the clock by one that advances ten seconds with each call."""
    now = iter(range(0, 1_000_000, 10))
    monkeypatch.setattr(capture, "time", SimpleNamespace(monotonic=lambda: float(next(now))))


def test_a_reader_that_stands_while_the_log_grows_is_an_error(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten_seconds_a_look(monkeypatch)
    changes, connection = make(*[w.timeout(69 << 32 | 0x1000)] * 60, idle=None, watchdog=60)
    connection.rows = [(69, 1000)]
    with pytest.raises(
        OperationalError, match=r"stays at 69:0x1000, although the log has reached 69:0x3e8000"
    ):
        next(iter(changes))
    assert [sql for sql in connection.executed if "syslogs" in sql] == [capture._LOG_END]


def test_a_reader_at_the_end_of_the_log_or_that_moves_is_none(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten_seconds_a_look(monkeypatch)
    still = [w.timeout(69 << 32 | 0x1000)] * 60
    moving = [w.timeout(69 << 32 | 0x1000 * n) for n in range(60)]
    changes, connection = make(*still, idle=500, watchdog=60)
    connection.rows = [(69, 2)] * 50
    assert list(changes) == []
    changes, connection = make(*moving, idle=500, watchdog=60)
    assert list(changes) == []
    assert connection.executed == []
    changes, connection = make(*still, idle=500, watchdog=60)  # no row says where the log ends
    assert list(changes) == []


@pytest.mark.parametrize(
    ("rows", "begun"),
    [
        ([(9 << 32 | 0x2010,), (9, 2)], 9 << 32 | 0x2010),
        ([(9 << 32 | 0x2FFF,), (9, 2)], 9 << 32 | 0x2FFF),
        ([(10 << 32,), (9, 2)], 10 << 32),
        ([(9 << 32 | 0x1FFF,), (9, 2)], None),  # before the end of the log at the first query
        ([(9 << 32 | 0x5000,), (9, 2)], None),  # after its end
        ([(0,), (9, 2)], None),
        ([(None,), (9, 2)], None),
        ([(9 << 32 | 0x2010,), ("x", 2)], None),
        ([(9 << 32 | 0x2010,)], None),  # the query raises an error
        ([], None),
    ],
)
def test_only_a_place_at_the_end_of_the_log_is_believed(
    rows: list[tuple[Any, ...]], begun: int | None
) -> None:
    connection = Written(iter(()), 1)
    connection.rows = [(9, 2), *rows]
    before = capture._log_end(cast(Any, connection))
    assert before == 9 << 32 | 0x2000
    assert capture._read_start_lsn(cast(Any, connection), 1, before) == begun
    assert capture._read_start_lsn(cast(Any, connection), 1, None) is None


def test_closing_says_so_to_the_server_once(make: Make) -> None:
    changes, connection = make(w.timeout(1))
    connection.rows = [(0,)]
    with changes:
        assert not changes.closed
    changes.close()
    assert connection.executed == [capture._CLOSE]
    assert connection.closed
    with pytest.raises(InterfaceError, match="closed"):
        next(iter(changes))
    assert "closed" in repr(changes)


def test_a_capture_that_is_dropped_is_warned_of() -> None:
    connection = Written(iter(()), 1)
    assembler = Assembler([], TypeOptions(), "utf-8")
    reads = CaptureReader(1, 1, 1, assembler.write)
    changes = Changes(cast(Any, connection), 1, assembler, reads, {}, None, None, 1.0)
    with pytest.warns(ResourceWarning, match="unclosed"):
        del changes
    assert connection.abandoned


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": []}, "tables is empty"),
        ({"tables": "orders"}, "must be a list"),
        ({"tables": ["a b"]}, "not a table name"),
        ({"tables": ["orders@x:a.b"]}, "Leave @ out|not a table"),
        ({"tables": ["orders"], "columns": {"items": ["a"]}}, "not among the tables"),
        ({"tables": {"orders": []}}, "are empty, or name one twice"),
        ({"tables": {"orders": ["a", "a"]}}, "are empty, or name one twice"),
        ({"tables": {"orders": "a"}}, "list of names"),
        ({"tables": ["orders"], "start": "5"}, "token"),
        ({"tables": ["orders"], "timeout": 0}, "timeout"),
        ({"tables": ["orders"], "timeout": 1.5}, "timeout"),
        ({"tables": ["orders"], "max_records": 101}, "max_records"),
        ({"tables": ["orders"], "transaction_bytes": 0}, "transaction_bytes"),
        ({"tables": ["orders"], "idle": -1}, "idle"),
        ({"tables": ["orders"], "watchdog": -1}, "watchdog"),
        ({"tables": ["orders"], "on_truncate": "x"}, "on_truncate"),
        ({"tables": ["orders"], "decimals": "x"}, "decimals"),
        ({"tables": ["orders"], "batch_rows": 0}, "batch_rows"),
        ({"connection": 5, "tables": ["orders"]}, "takes a URL"),
        ({"connection": "informix://u:p@nowhere:1?server=s", "tables": ["orders"]}, "names no database"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_asked(
    arguments: dict[str, Any], message: str
) -> None:
    given = {"connection": "informix://u:p@nowhere:1/stores?server=s", **arguments}
    with pytest.raises(InterfaceError, match=message):
        capture.capture(**given)


def test_batches_refuse_wrong_limits(make: Make) -> None:
    changes, _ = make(w.timeout(1))
    with pytest.raises(InterfaceError, match="max_rows"):
        changes.batches(max_rows=0)
    with pytest.raises(InterfaceError, match="max_seconds"):
        changes.batches(max_seconds=-1)


def test_errors_are_of_this_package() -> None:
    assert issubclass(ConnectionLost, Error)
