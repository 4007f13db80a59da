"""Change records become committed transactions: interleaved, rolled back, split, too large for memory (CDC sections 4
and 6)."""

from __future__ import annotations

import random
import struct
from typing import Any

import pyarrow as pa
import pytest
from tests.stress import LONG_SOAK_ONLY
from tests.unit.cdc import change_records as w

from informix_arrow.cdc.assembler import Assembler, CapturedTable, Transaction
from informix_arrow.cdc.table_batches import Sizes, nulls
from informix_arrow.cdc.token import Token, lsn_text
from informix_arrow.wire.errors import DataError, Error, InterfaceError, OperationalError, ProtocolError
from informix_arrow.wire.plan_ops import TypeOptions

ORDERS = w.schema("id integer, qty smallint, name varchar(40,0)", 6, 2, 1, label=1)
ITEMS = w.schema("item integer, note lvarchar(200)", 4, 1, 1, label=2)


def order(number: int, lsn: int, tx: int, key: int, name: str | None, qty: int = 5) -> bytes:
    return w.row(number, lsn, tx, struct.pack(">ih", key, qty), w.varchar(name), label=1)


def item(number: int, lsn: int, tx: int, key: int, note: str | None) -> bytes:
    return w.row(number, lsn, tx, struct.pack(">i", key), w.lvarchar(note), label=2)


def assembler(**options: Any) -> Assembler:
    tables = [
        CapturedTable("orders", 1, ["id", "name", "qty"]),
        CapturedTable("s:ann.items", 2, ["item", "note"]),
    ]
    chosen = TypeOptions(**options.pop("types", {}))
    return Assembler(tables, chosen, options.pop("encoding", "utf-8"), **options)


def read(made: Assembler, *pieces: bytes) -> list[Transaction]:
    found = []
    for piece in pieces:
        made.write(piece)
        while (transaction := made.next()) is not None:
            found.append(transaction)
    return found


def reported(transaction: Transaction) -> list[tuple[Any, ...]]:
    """Return the changes of a transaction as tuples: table, operation, values, and old values if there are any."""
    return [
        (change.table, row["_op"], *[value for name, value in row.items() if name not in ("_op", "_before")])
        + ((tuple(row["_before"].values()),) if row["_before"] is not None else ())
        for change in transaction.batches
        for row in change.data.to_pylist()
    ]


HEAD = ORDERS + ITEMS


def test_a_transaction_has_its_changes_in_order_by_table_and_run() -> None:
    data = (
        HEAD
        + w.begin(100, 7, 1_700_000_000, 501)
        + order(40, 101, 7, 1, "a")
        + order(40, 102, 7, 2, None)
        + item(40, 103, 7, 10, "é")
        + order(42, 104, 7, 1, "a")
        + order(43, 105, 7, 1, "b", qty=6)
        + order(41, 106, 7, 2, None)
        + w.commit(107, 7, 1_700_000_009)
    )
    (done,) = read(assembler(), data)
    assert reported(done) == [
        ("orders", "insert", 101, 1, "a", 5),
        ("orders", "insert", 102, 2, None, 5),
        ("s:ann.items", "insert", 103, 10, "é"),
        ("orders", "update", 105, 1, "b", 6, (1, "a", 5)),
        ("orders", "delete", 106, 2, None, 5),
    ]
    assert [(change.table, change.data.num_rows) for change in done.batches] == [
        ("orders", 2),
        ("s:ann.items", 1),
        ("orders", 2),
    ]
    assert (done.begin_lsn, done.commit_lsn, done.transaction, done.user) == (100, 107, 7, 501)
    assert done.begin_time.timestamp() == 1_700_000_000
    assert done.commit_time.isoformat() == "2023-11-14T22:13:29+00:00"
    assert done.rows == 5
    assert done.token == "1-6b-6b"


def test_the_schema_is_one_for_all_batches_and_keeps_the_declared_types() -> None:
    made = assembler()
    assert made.schema("orders") is None
    data = HEAD + w.begin(1, 7) + order(40, 2, 7, 1, "a") + w.commit(3, 7)
    (one,) = read(made, data)
    schema = made.schema("orders")
    assert schema is not None
    assert schema.names == ["_op", "_lsn", "id", "name", "qty", "_before"]
    assert schema.field("name").metadata == {b"informix.type": b"VARCHAR(40)"}
    assert schema.field("_before").type == pa.struct(
        [("id", pa.int32()), ("name", pa.utf8()), ("qty", pa.int16())]
    )
    for change in one.batches:
        assert change.data.schema == schema
        change.data.validate(full=True)
    with pytest.raises(KeyError):
        made.schema("nothing")


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=LONG_SOAK_ONLY)])
def test_cut_at_every_byte_the_transactions_are_the_same(every: int) -> None:
    data = (
        HEAD
        + w.begin(100, 7)
        + order(40, 101, 7, 1, "a")
        + w.begin(102, 8)
        + order(42, 103, 8, 9, "x")
        + order(42, 104, 7, 1, "a")
        + order(43, 105, 8, 9, "y")
        + order(43, 106, 7, 1, "b")
        + w.commit(107, 8)
        + item(41, 108, 7, 4, None)
        + w.commit(109, 7)
        + w.timeout(110)
    )
    expected = [reported(one) for one in read(assembler(), data)]
    assert [len(one) for one in expected] == [1, 3]
    for cut in range(0, len(data), every):
        assert [reported(one) for one in read(assembler(), data[:cut], data[cut:])] == expected
    assert [
        reported(one) for one in read(assembler(), *(data[i : i + 1] for i in range(len(data))))
    ] == expected


def test_interleaved_transactions_come_in_the_order_of_their_commits_and_numbers_are_used_again() -> None:
    data = (
        HEAD
        + w.begin(100, 7)
        + w.begin(101, 8)
        + order(40, 102, 7, 1, "first")
        + order(40, 103, 8, 2, "second")
        + w.commit(104, 8)
        + w.begin(105, 8)
        + order(40, 106, 8, 3, "third")
        + w.rollback(107, 8)
        + w.begin(108, 8)
        + order(40, 109, 8, 4, "fourth")
        + w.commit(110, 7)
        + w.commit(111, 8)
    )
    found = read(assembler(), data)
    assert [(one.transaction, one.commit_lsn, reported(one)[0][3]) for one in found] == [
        (8, 104, 2),
        (7, 110, 1),
        (8, 111, 4),
    ]
    assert [one.token for one in found] == ["1-64-68", "1-6c-6e", "1-6f-6f"]


def test_a_token_loses_nothing_and_gives_nothing_twice_wherever_reading_ends() -> None:
    log: list[tuple[int, bytes]] = []
    rng = random.Random(18)
    open_, lsn, key = set(), 1000, 0
    while len(log) < 200 or open_:
        lsn += rng.randrange(1, 5)
        tx = rng.randrange(5)
        if tx not in open_:
            if len(log) < 200:
                open_.add(tx)
                log.append((lsn, w.begin(lsn, tx)))
        elif rng.random() < (0.3 if len(log) < 200 else 1):
            open_.discard(tx)
            log.append((lsn, w.commit(lsn, tx) if rng.random() < 0.8 else w.rollback(lsn, tx)))
        else:
            key += 1
            log.append((lsn, order(40, lsn, tx, key, "x")))

    def stream_from(restart: int) -> bytes:
        return HEAD + b"".join(data for at, data in log if at >= restart)

    everything = [reported(one) for one in read(assembler(), stream_from(0))]
    assert len(everything) > 20
    for stop in range(1, len(everything)):
        first = read(assembler(), stream_from(0))[:stop]
        token = Token.parse(first[-1].token)
        rest = read(assembler(start=token), stream_from(token.restart))
        assert [reported(one) for one in [*first, *rest]] == everything


def test_a_rollback_to_a_savepoint_undoes_what_came_after_it_and_keeps_what_follows() -> None:
    """The example of IBM's guide: insert 2000, insert 2001, roll back to before them, insert 2."""
    data = (
        HEAD
        + w.begin(100, 7)
        + order(40, 101, 7, 1, "stays")
        + order(40, 110, 7, 2000, "goes")
        + item(40, 111, 7, 5, "goes")
        + order(40, 112, 7, 2001, "goes")
        + w.discard(110, 7)
        + order(40, 113, 7, 2, "stays")
        + w.commit(114, 7)
    )
    (done,) = read(assembler(), data)
    assert [row[3] for row in reported(done)] == [1, 2]
    assert [change.data.num_rows for change in done.batches] == [1, 1]


@pytest.mark.parametrize("cut", [102, 103])
def test_an_update_that_was_cut_short_by_its_undoing_is_gone(cut: int) -> None:
    data = (
        HEAD
        + w.begin(100, 7)
        + order(40, 101, 7, 1, "a")
        + order(42, 102, 7, 1, "a")
        + order(43, 103, 7, 1, "b")
        + order(42, 104, 7, 1, "b")
        + w.discard(cut, 7)
        + w.commit(105, 7)
    )
    (done,) = read(assembler(), data)
    assert [row[1] for row in reported(done)] == ["insert"]


def test_everything_undone_is_no_transaction_but_moves_the_token() -> None:
    made = assembler()
    data = HEAD + w.begin(100, 7) + order(40, 101, 7, 1, "a") + w.discard(101, 7) + w.commit(102, 7)
    assert read(made, data + w.begin(103, 8) + w.commit(104, 8)) == []
    assert made.token == Token(104, 104)


def test_quiet_reads_say_how_far_the_log_was_read_and_move_the_token() -> None:
    made = assembler()
    assert made.token is None
    read(made, HEAD + w.timeout(500))
    assert made.idle
    assert (made.token, made.quiet_at) == (Token(500, 0), 500)
    read(made, w.begin(600, 7))
    assert not made.idle
    read(made, w.timeout(700))
    assert made.token == Token(500, 0)  # the open transaction must be read again
    read(made, order(40, 701, 7, 1, "a") + w.commit(702, 7) + w.timeout(800))
    assert made.token == Token(800, 702)


def test_transactions_that_had_begun_before_the_capture_are_left_out_with_a_warning() -> None:
    made = assembler()
    assert read(made, HEAD + order(40, 101, 7, 1, "half") + w.truncate(101, 9) + w.commit(102, 7)) == []
    (text,) = made.warnings()
    assert "committed at 0:0x66 began before the capture" in text
    assert made.missed == 1
    assert read(made, w.rollback(103, 9)) == []
    assert made.warnings() == []


def test_a_truncate_is_a_change_of_its_own_or_ignored_or_an_error() -> None:
    data = (
        HEAD
        + w.begin(100, 7)
        + order(40, 101, 7, 1, "a")
        + w.truncate(102, 7, 1)
        + order(40, 103, 7, 2, "b")
        + w.commit(104, 7)
    )
    (done,) = read(assembler(), data)
    assert reported(done) == [
        ("orders", "insert", 101, 1, "a", 5),
        ("orders", "truncate", 102, None, None, None),
        ("orders", "insert", 103, 2, "b", 5),
    ]
    (done,) = read(assembler(on_truncate="ignore"), data)
    assert [row[1] for row in reported(done)] == ["insert", "insert"]
    with pytest.raises(OperationalError, match="orders was emptied by TRUNCATE"):
        read(assembler(on_truncate="error"), data)
    undone = data[: -len(w.commit(104, 7))] + w.rollback(104, 7)
    assert read(assembler(on_truncate="error"), undone) == []


def test_a_changed_description_counts_from_there_on_also_within_a_transaction() -> None:
    wider = w.schema("id integer, qty integer, name varchar(40,0)", 8, 2, 1, label=1)
    data = (
        HEAD
        + w.begin(100, 7)
        + order(40, 101, 7, 1, "a")
        + wider
        + w.row(40, 102, 7, struct.pack(">ii", 2, 70_000), w.varchar("b"))
        + w.commit(103, 7)
    )
    made = assembler()
    (done,) = read(made, data)
    assert [change.data.column("qty").to_pylist() for change in done.batches] == [[5], [70_000]]
    assert [change.data.schema.field("qty").type for change in done.batches] == [pa.int16(), pa.int32()]
    (same,) = read(
        assembler(),
        HEAD + w.begin(1, 7) + order(40, 2, 7, 1, "") + ORDERS + order(40, 3, 7, 2, "") + w.commit(4, 7),
    )
    assert len(same.batches) == 1


def test_error_records_end_the_capture_or_warn() -> None:
    made = assembler()
    read(made, HEAD + w.error(-83790, 0))
    (text,) = made.warnings()
    assert "-83790" in text
    with pytest.raises(OperationalError, match="session has ended") as caught:
        read(made, w.error(-83713))
    assert caught.value.sqlcode == -83713


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (w.begin(1, 7) + order(40, 2, 7, 1, "a"), "before its columns were described"),
        (w.begin(1, 7) + w.truncate(2, 7, 1), "emptied before its columns"),
        (HEAD + w.begin(1, 7) + w.row(40, 2, 7, b"", label=3), "user data 3"),
        (w.schema("a integer", 4, 1, 0, label=9), "user data 9"),
        (HEAD + w.begin(1, 7) + w.begin(2, 7), "begins at 0:0x2 while another"),
        (HEAD + w.begin(1, 7) + order(42, 2, 7, 1, "a") + w.commit(3, 7), "not its UPDAFT"),
        (HEAD + w.begin(1, 7) + order(42, 2, 7, 1, "a") + item(40, 3, 7, 1, ""), "not its UPDAFT"),
        (HEAD + w.begin(1, 7) + order(42, 2, 7, 1, "a") + w.truncate(3, 7, 2), "not its UPDAFT"),
        (HEAD + w.begin(1, 7) + order(43, 2, 7, 1, "a"), "without an UPDBEF before it"),
        (HEAD + w.begin(1, 7) + w.row(40, 2, 7, b"\0" * 6, label=1), "header of 36"),
        (w.schema("_op integer", 4, 1, 0), "column '_op'"),
        (w.schema("a integer, a integer", 8, 2, 0), "column 'a'"),
        (w.schema("a blob", 76, 1, 0), "Column 'a' has the type BLOB"),
    ],
)
def test_streams_that_cannot_be_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(Error, match=message) as caught:
        read(assembler(), data)
    assert isinstance(caught.value, ProtocolError | Error)


def test_open_transactions_beyond_the_limit_lie_in_a_file_and_come_back_whole() -> None:
    def log(made: Assembler) -> list[Transaction]:
        found = read(made, HEAD, w.begin(1, 7), w.begin(2, 8))
        lsn = 3
        for key in range(400):
            found += read(made, order(40, lsn, 7, key, "text" * 9), item(40, lsn + 1, 8, key, "n"))
            lsn += 2
            if key % 50 == 49:
                found += read(made, order(42, lsn, 7, key, "é"), order(43, lsn + 1, 7, key, "ü"))
                found += read(made, item(41, lsn + 2, 7, key, None))
                lsn += 3
            if key == 300:
                found += read(made, w.discard(lsn - 150, 7))
        return found + read(made, w.commit(lsn, 8), w.commit(lsn + 1, 7))

    small, large = log(assembler(transaction_bytes=2000)), log(assembler())
    assert [one.batches.spilled for one in small] == [True, True]
    assert [one.batches.spilled for one in large] == [False, False]
    assert [reported(one) for one in small] == [reported(one) for one in large]
    assert small[1].rows == large[1].rows > 300
    again = small[1].batches
    assert (
        again[0].data.equals(large[1].batches[0].data)
        or again[0].data.num_rows < large[1].batches[0].data.num_rows
    )
    assert [change.table for change in again[:1]] == ["orders"]
    again.close()
    with pytest.raises(IndexError):
        again[0]


def test_open_transactions_stay_within_their_memory() -> None:
    made = assembler(transaction_bytes=100_000, sizes=Sizes(bytes=20_000))
    read(made, HEAD, w.begin(1, 7))
    for lsn in range(2, 20_000, 100):
        read(made, b"".join(order(40, lsn + i, 7, i, "x" * 40) for i in range(100)))
        assert sum(one.bytes for one in made._open.values()) <= 100_000
    (done,) = read(made, w.commit(30_000, 7))
    assert done.rows == 200 * 100
    assert max(change.data.nbytes for change in done.batches) < 60_000


def test_no_room_for_the_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(OperationalError, match=r"transaction_bytes.*No space left"):
        read(assembler(transaction_bytes=10), HEAD, w.begin(1, 7), order(40, 2, 7, 1, "a"))


def test_closing_drops_open_transactions() -> None:
    made = assembler(transaction_bytes=10)
    read(made, HEAD, w.begin(1, 7), order(40, 2, 7, 1, "a"))
    made.close()
    assert read(made, w.commit(3, 7)) == []


def test_text_of_other_code_sets() -> None:
    for encoding, text in (("iso8859-15", "10 €"), ("gb18030", "日本"), ("shift_jis", "日本")):
        raw = text.encode(encoding)
        data = (
            HEAD
            + w.begin(1, 7)
            + w.row(42, 2, 7, struct.pack(">ih", 1, 2), bytes((len(raw),)) + raw)
            + w.row(43, 3, 7, struct.pack(">ih", 1, 2), bytes((len(raw),)) + raw)
            + w.commit(4, 7)
        )
        (done,) = read(assembler(encoding=encoding), data)
        assert reported(done) == [("orders", "update", 3, 1, text, 2, (1, text, 2))]
        bad = data.replace(raw, b"\xff" * len(raw))
        if encoding != "iso8859-15":
            with pytest.raises(DataError, match="orders"):
                read(assembler(encoding=encoding), bad)


def test_floating_decimals_that_lose_digits_are_reported_once() -> None:
    text = w.schema("d decimal(20)", 12, 1, 0)
    value = bytes.fromhex("ca") + bytes((12, 34, 56, 78, 90, 12, 34, 56, 78, 90)) + b"\0"
    data = text + b"".join(
        w.begin(lsn, 7) + w.row(40, lsn + 1, 7, value) + w.commit(lsn + 2, 7) for lsn in (10, 20)
    )
    made = assembler()
    read(made, data)
    (warning,) = made.warnings()
    assert "Column 'd' of orders" in warning
    made = assembler(types={"floating_decimals": "string"})
    found = read(made, data)
    assert made.warnings() == []
    assert reported(found[0])[0][3] == "12345678901234567890"


def test_tokens_are_read_back_and_nothing_else_is() -> None:
    token = Token(69 << 32 | 0x1000, 69 << 32 | 0x1100)
    assert str(token) == "1-4500001000-4500001100"
    assert Token.parse(str(token)) == token
    assert lsn_text(28 << 32 | 0xAA5050) == "28:0xaa5050"
    wrong: Any
    for wrong in (
        "",
        "1-1",
        "2-1-1",
        "1-x-1",
        "1-1-1 ",
        "1-fffffffffffffffff-1",
        "1-8000000000000000-1",
        5,
        None,
    ):
        with pytest.raises(InterfaceError, match="token"):
            Token.parse(wrong)


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 5000])
def test_nulls_of_all_types_are_valid_and_null(rows: int) -> None:
    types = [
        pa.bool_(),
        pa.int16(),
        pa.int64(),
        pa.float32(),
        pa.decimal128(20, 3),
        pa.date32(),
        pa.utf8(),
        pa.binary(),
    ]
    types += [
        pa.timestamp("us"),
        pa.duration("us"),
        pa.time32("s"),
        pa.month_day_nano_interval(),
        pa.large_utf8(),
    ]
    whole = pa.struct([(f"c{i}", one) for i, one in enumerate(types)])
    for one in [*types, whole]:
        found = nulls(one, rows)
        found.validate(full=True)
        assert len(found) == found.null_count == rows
        assert found.to_pylist() == [None] * rows
