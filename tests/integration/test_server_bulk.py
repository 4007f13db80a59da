"""Rows that the server processes in bulk: each has the same reply and the same stored values as a single row."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.stress import LONG

from informix_arrow.server import Server
from informix_arrow.server.handlers.bulk import BulkRowReader
from informix_arrow.server.session.engine_session import EngineSession
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.messages import BoundValue
from informix_arrow.wire.values import decode_tuple, encode_tuple

from .raw import EOT, RawClient, one

FORMS = ("groups", "one group", "puts")
EXECUTE = m.Execute()


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows in each batch that the engine has received."""
    seen: list[int] = []
    execute_batch = EngineSession.execute_batch

    def spy(self: EngineSession, prepared: Any, batch: Any, **options: Any) -> Any:
        seen.append(batch.num_rows)
        return execute_batch(self, prepared, batch, **options)

    monkeypatch.setattr(EngineSession, "execute_batch", spy)
    return seen


@pytest.fixture
def without_fast_path(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function that disables the fast path, so that Python handles every row."""
    return lambda: monkeypatch.setattr(BulkRowReader, "for_statement", classmethod(lambda cls, *_: None))


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    with RawClient(server, "stores_demo") as connected:
        yield connected


class Load:
    """One prepared INSERT and its rows on the wire. A row is a tuple of Python values or bound values."""

    def __init__(self, client: RawClient, sql: str) -> None:
        self.client = client
        described = client.prepare(sql, sql.count("?"))
        self.id = described.statement_id
        self.columns = [Column(column.name, column.type) for column in described.columns]
        self.opened = False

    def bind(self, row: Sequence[object]) -> m.Bind:
        bound = self.client.bind(*[None if isinstance(v, BoundValue) else v for v in row])
        return m.Bind(
            tuple(v if isinstance(v, BoundValue) else b for v, b in zip(row, bound.values, strict=True))
        )

    def wire(self, form: str, rows: Sequence[Sequence[object]], group: int = 10**9) -> tuple[bytes, int]:
        """Return the rows in one of the forms, in groups of ``group`` rows, and the number of groups."""
        framing = self.client.framing
        ident, end = m.Id(self.id).encode(framing), EOT.encode(framing)
        if form == "groups":
            return b"".join(
                ident + self.bind(row).encode(framing) + EXECUTE.encode(framing) + end for row in rows
            ), len(rows)
        parts: list[bytes] = []
        starts = range(0, len(rows), group)
        for start in starts:
            parts.append(ident)
            if form == "puts" and not self.opened:
                parts += [m.CursorName("put").encode(framing), m.Open().encode(framing)]
                self.opened = True
            for row in rows[start : start + group]:
                if form == "puts":
                    parts.append(m.Put(encode_tuple(row, self.columns, framing.encoding)).encode(framing))
                else:
                    parts += [self.bind(row).encode(framing), EXECUTE.encode(framing)]
            parts.append(end)
        return b"".join(parts), len(starts)

    def send(
        self, form: str, rows: Sequence[Sequence[object]], group: int = 10**9, pieces: Sequence[int] = ()
    ) -> list[list[m.Message]]:
        """Send everything, cut at the places in `pieces`, while the replies are read."""
        data, groups = self.wire(form, rows, group)
        cuts = [0, *sorted(cut % len(data) for cut in pieces), len(data)]

        def write() -> None:
            for start, stop in itertools.pairwise(cuts):
                self.client.socket.sendall(data[start:stop])

        writer = threading.Thread(target=write)
        writer.start()
        try:
            return self.client.receive_groups(groups)
        finally:
            writer.join()


def table(client: RawClient, name: str, columns: str) -> str:
    client.command(f"CREATE TEMP TABLE {name} ({columns})")
    return name


def errors(groups: Sequence[Sequence[m.Message]]) -> list[tuple[int, int, str]]:
    """Return (reply, sqlcode, token) of each error. Replies are counted over all groups by their SQ_DONE or SQ_ERR."""
    answers = [x for group in groups for x in group if isinstance(x, (m.Done, m.Err))]
    return [(n, x.sqlcode, x.near) for n, x in enumerate(answers) if isinstance(x, m.Err)]


def rows_done(groups: Sequence[Sequence[m.Message]]) -> int:
    return sum(x.rows for group in groups for x in group if isinstance(x, m.Done))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transaction", [False, True], ids=["autocommit", "transaction"])
def test_a_load_of_the_seeds_table_reaches_the_engine_in_batches_and_is_complete(
    client: RawClient, batches: list[int], form: str, transaction: bool
) -> None:
    name = table(client, "t_seed", "k INT, name VARCHAR(64), n INT, x FLOAT, d DATE")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)")
    day = dt.date(2026, 1, 1)
    rows = [(k, f"customer {k}" if k % 7 else None, -k, k / 8, day) for k in range(3000)]
    if transaction:
        client.must(m.Begin())
    groups = load.send(form, rows, 1500)
    if transaction:
        client.must(m.Commit())
    assert errors(groups) == []
    assert rows_done(groups) == len(rows)
    assert sum(batches) >= len(rows) - 10  # a check of the speed: single rows take a hundred times longer
    assert client.number(f"SELECT COUNT(DISTINCT k)::INT FROM {name}") == len(rows)
    assert client.number(f"SELECT SUM(n)::INT FROM {name}") == -sum(range(3000))
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE name IS NULL") == len(range(0, 3000, 7))


CONSTRAINED = "k INT PRIMARY KEY, a INT NOT NULL, b INT CHECK (b < 1000000), tail INT"
BAD = {"duplicate": (-5, 1, 1), "null": (None, None, 1), "check": (None, 1, 2_000_000)}
CODE = {"duplicate": -268, "null": -391, "check": -530}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transaction", [False, True], ids=["autocommit", "transaction"])
@pytest.mark.parametrize("kind", list(BAD))
@pytest.mark.parametrize("count", [1, 300])
def test_one_bad_row_at_the_first_middle_and_last_place(
    client: RawClient, form: str, transaction: bool, kind: str, count: int
) -> None:
    name = table(client, "t_bad", CONSTRAINED)
    client.command(f"INSERT INTO {name} VALUES (-5, 0, 0, 0)")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?, ?)")
    taken, inside = 1, 0
    for turn, at in enumerate(sorted({0, count // 2, count - 1})):
        rows = [(turn * count + k, 1, k, k) for k in range(count)]
        key, a, b = BAD[kind]
        rows[at] = (rows[at][0] if key is None else key, a, b, -1)  # type: ignore[assignment]
        if transaction:
            client.must(m.Begin())
        groups = load.send(form, rows)
        if form == "groups":
            assert [(n, code) for n, code, _ in errors(groups)] == [(at, CODE[kind])]
            assert rows_done(groups) == count - 1
            inside = count - 1
        else:
            assert [code for _, code, _ in errors(groups)] == [CODE[kind]]
            assert rows_done(groups) == at
            inside = at
        if transaction:
            client.must(m.Commit())
        taken += inside
        load.opened = load.opened and not transaction  # the commit has closed the cursor
        assert client.number(f"SELECT COUNT(*)::INT FROM {name}") == taken
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE tail = -1") == 0


def test_every_row_of_many_fails_with_an_error_of_its_own(client: RawClient) -> None:
    name = table(client, "t_all", CONSTRAINED)
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?, ?)")
    groups = load.send("groups", [(k, None, 1, k) for k in range(3000)])
    assert errors(groups) == [(k, -391, "a") for k in range(3000)]
    assert client.number(f"SELECT COUNT(*)::INT FROM {name}") == 0
    assert errors(load.send("groups", [(1, 1, 1, 1)])) == []


def test_a_row_may_take_the_key_of_an_earlier_one_that_failed_for_another_reason(client: RawClient) -> None:
    name = table(client, "t_key", "k INT PRIMARY KEY, u INT UNIQUE, b INT CHECK (b < 10), tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?, ?)")
    rows = [
        (1, 1, 99, 0),  # violates the CHECK, so its key is not stored
        (1, 2, 1, 1),
        (1, 3, 1, 2),  # duplicate k, so its u is not stored
        (2, 3, 1, 3),
        (3, None, 1, 4),
        (4, None, 1, 5),  # NULL is a value of u like any other
        (5, 2, 1, 6),  # duplicate u
    ]
    for transaction in (False, True):
        client.command(f"DELETE FROM {name}")
        if transaction:
            client.must(m.Begin())
        groups = load.send("groups", rows)
        if transaction:
            client.must(m.Commit())
        assert [(n, code) for n, code, _ in errors(groups)] == [(0, -530), (2, -268), (5, -268), (6, -268)]
        found = client.select(f"SELECT tail FROM {name} ORDER BY tail")
        assert [int.from_bytes(row, "big") for row in found] == [1, 3, 4]


def test_serials_are_assigned_in_order_and_each_reply_reports_its_own(
    client: RawClient, batches: list[int]
) -> None:
    name = table(client, "t_serial", "id SERIAL, big BIGSERIAL, k INT UNIQUE, tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?, ?)")
    given = [0, 0, 50, 0, None, 7, 0]
    rows = [(value, 0, n, n) for n, value in enumerate(given)] * 2
    groups = load.send("groups", rows)
    assert [(n, code) for n, code, _ in errors(groups)] == [(n, -268) for n in range(7, 14)]
    assert [one(group, m.Done).serial for group in groups[:7]] == [1, 2, 50, 51, 52, 7, 53]
    assert [one(group, m.InsertDone).bigserial for group in groups[:7]] == [1, 2, 3, 4, 5, 6, 7]
    assert sum(batches) == 14
    # Refused rows use up their serial values, so gaps remain.
    (last,) = load.send("groups", [(0, 0, 100, 100)])
    assert one(last, m.Done).serial == 54 + sum(value in (0, None) for value in given)
    assert one(last, m.InsertDone).bigserial == 15
    done = one(load.send("puts", [(0, 0, k, k) for k in range(200, 210)])[0], m.Done)
    assert (done.rows, done.serial) == (10, 69)


def test_a_negative_serial8_travels_with_its_sign(client: RawClient) -> None:
    name = table(client, "t_serial8", "id SERIAL8, tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    groups = load.send("groups", [(-5_000_000_000, 1), (5_000_000_000, 2), (0, 3)])
    assert [one(group, m.InsertDone).serial8 for group in groups] == [
        -5_000_000_000,
        5_000_000_000,
        5_000_000_001,
    ]


def test_rows_behind_the_first_error_of_a_group_take_no_serial(client: RawClient, batches: list[int]) -> None:
    name = table(client, "t_stop", "id SERIAL, k INT UNIQUE")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    groups = load.send("one group", [(0, 1), (0, 2), (0, 1), (0, 3), (0, 4)])
    assert [(n, code) for n, code, _ in errors(groups)] == [(2, -268)]
    (done,) = load.send("groups", [(0, 5)])
    assert one(done, m.Done).serial == 4


def test_a_text_that_is_cut_is_reported_in_its_own_reply(client: RawClient, batches: list[int]) -> None:
    name = table(client, "t_cut", "a VARCHAR(5), b CHAR(3), tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?)")
    rows = [
        ("12345", "abc", 0),
        ("123456", "abc", 1),
        ("ééé", "ab ", 2),
        ("1", "abc   ", 3),
        ("1", "abcd", 4),
    ]
    groups = load.send("groups", rows)
    assert [one(group, m.Done).warnings for group in groups] == [0, 1, 1, 0, 1]
    assert sum(batches) == 5
    found = [bytes(row) for row in client.select(f"SELECT a, b FROM {name} ORDER BY tail")]
    assert found == [b"\x0512345abc", b"\x0512345abc", "\x04éé".encode() + b"ab ", b"\x011abc", b"\x011abc"]


@pytest.mark.parametrize("form", ["groups", "one group"])
def test_values_that_need_a_conversion_of_their_own_are_taken_among_the_others(
    client: RawClient, batches: list[int], form: str
) -> None:
    name = table(client, "t_odd", "k INT, d DATE, tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?, ?)")
    odd = {10: "12", 999: 13.0, 1000: "14", 1600: "99", 1601: "15"}
    rows = [(odd.get(n, n), "2026-01-31" if n == 1200 else dt.date(2026, 1, 1), n) for n in range(2000)]
    groups = load.send(form, rows)
    assert errors(groups) == []
    assert rows_done(groups) == 2000
    assert sum(batches) > 1200
    assert client.number(f"SELECT k FROM {name} WHERE tail = 1600") == 99
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE d = '01/31/2026' AND tail = 1200") == 1
    texts = [(str(n), dt.date(2026, 1, 1), n) for n in range(1200)]
    assert errors(load.send(form, texts)) == []
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE k = tail") == 3200 - len(odd)


def test_a_value_that_cannot_be_converted_fails_its_own_row_only(client: RawClient) -> None:
    name = table(client, "t_wrong", "k SMALLINT, tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    rows = [(40000 if n % 100 == 50 else "x" if n % 100 == 51 else n % 100, n) for n in range(1000)]
    expected = [(n, -1214 if n % 100 == 50 else -1213) for n in range(1000) if n % 100 in (50, 51)]
    assert [(n, code) for n, code, _ in errors(load.send("groups", rows))] == expected
    assert client.number(f"SELECT COUNT(*)::INT FROM {name}") == 980


def test_months_that_are_put_are_stored_none_of_them_too(client: RawClient, batches: list[int]) -> None:
    name = table(client, "t_months", "span INTERVAL YEAR TO MONTH, tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    assert rows_done(load.send("puts", [(14, 1), (0, 2), (None, 3), (-25, 4)])) == 4
    assert sum(batches) == 4
    for tail, text in ((1, "1-02"), (2, "0-00"), (4, "-2-01")):
        sql = (
            f"SELECT COUNT(*)::INT FROM {name} WHERE tail = {tail} AND span = INTERVAL({text}) YEAR TO MONTH"
        )
        assert client.number(sql) == 1
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE span IS NULL") == 1


def test_constants_defaults_and_today_stand_beside_parameters(client: RawClient, batches: list[int]) -> None:
    name = table(client, "t_const", "a INT, b VARCHAR(5), c INT DEFAULT 4, d DATE, e DECIMAL(6,2), tail INT")
    load = Load(client, f"INSERT INTO {name} (tail, b, d, a, e) VALUES (?, 'constant', TODAY, ?, 1.005)")
    groups = load.send("groups", [(n, n * 2) for n in range(100)])
    assert errors(groups) == []
    assert {one(group, m.Done).warnings for group in groups} == {1}  # the constant is too long
    assert sum(batches) == 100
    where = "b = 'const' AND c = 4 AND d = TODAY AND a = 2 * tail AND e = 1.01"
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE {where}") == 100


def test_foreign_keys_are_checked_row_by_row(client: RawClient, batches: list[int]) -> None:
    client.command("CREATE TABLE t_parent (id INT PRIMARY KEY)")
    client.command("CREATE TABLE t_child (id INT, parent INT REFERENCES t_parent (id))")
    try:
        client.command("INSERT INTO t_parent VALUES (1)")
        load = Load(client, "INSERT INTO t_child VALUES (?, ?)")
        for transaction in (False, True):
            if transaction:
                client.must(m.Begin())
            groups = load.send("groups", [(n, (1, 2, None)[n % 3]) for n in range(30)])
            if transaction:
                client.must(m.Rollback())
            assert [(n, code) for n, code, _ in errors(groups)] == [(n, -691) for n in range(1, 30, 3)]
        assert sum(batches) == 60
        assert client.number("SELECT COUNT(*)::INT FROM t_child") == 20
    finally:
        client.command("DROP TABLE t_child")
        client.command("DROP TABLE t_parent")


def test_rows_of_a_table_that_was_altered_since_the_statement_was_prepared(client: RawClient) -> None:
    client.command("CREATE TABLE t_altered (k SMALLINT, tail INT)")
    try:
        load = Load(client, "INSERT INTO t_altered VALUES (?, ?)")
        assert errors(load.send("groups", [(n, n) for n in range(10)])) == []
        client.command("ALTER TABLE t_altered MODIFY (k DECIMAL(9,1))")
        rows = [(n, n) for n in range(10, 20)] + [(70000, 20), (Decimal("1.25"), 21)]
        assert errors(load.send("groups", rows)) == []
        assert client.number("SELECT COUNT(*)::INT FROM t_altered WHERE k = 1.3 AND tail = 21") == 1
        assert client.number("SELECT COUNT(*)::INT FROM t_altered WHERE k = tail") == 20
    finally:
        client.command("DROP TABLE t_altered")


def test_other_messages_between_rows_see_the_rows_before_them(client: RawClient) -> None:
    name = table(client, "t_between", "k INT, tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    second = Load(client, f"INSERT INTO {name} VALUES (?, 100)")
    update = client.prepare(f"UPDATE {name} SET tail = tail + 1").statement_id
    framing = client.framing
    touch = b"".join(part.encode(framing) for part in (m.Id(update), EXECUTE, EOT))
    data = load.wire("groups", [(1, 1), (2, 2)])[0] + second.wire("groups", [(3,)])[0] + touch
    data += load.wire("groups", [(4, 4)])[0] + load.wire("one group", [(5, 5), (6, 6)])[0] + touch
    client.socket.sendall(data)
    groups = client.receive_groups(7)
    assert [[x.rows for x in group if isinstance(x, m.Done)] for group in groups] == [
        [1], [1], [1], [3], [1], [1, 1], [6],
    ]  # fmt: skip
    found = client.select(f"SELECT tail FROM {name} ORDER BY k")
    assert [int.from_bytes(row, "big") for row in found] == [3, 4, 102, 5, 6, 7]


def test_rows_in_single_bytes_are_understood(client: RawClient) -> None:
    name = table(client, "t_single", "k INT, name VARCHAR(20)")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    for form in FORMS:
        rows = [(n, f"row {n}") for n in range(4)]
        groups = load.send(form, rows, pieces=range(1000))
        assert errors(groups) == []
        assert rows_done(groups) == 4
    assert client.number(f"SELECT COUNT(*)::INT FROM {name} WHERE name = 'row ' || k") == 12


def test_a_row_longer_than_what_is_waited_for_goes_the_other_way(client: RawClient) -> None:
    name = table(client, "t_long", "a LVARCHAR(32000), tail INT")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    rows = [("x" * 31_000, 1), ("y" * 3_000_000, 2), ("z" * 10, 3)]
    groups = load.send("groups", rows)
    assert errors(groups) == []
    assert [one(group, m.Done).warnings for group in groups] == [0, 1, 0]
    assert client.number(f"SELECT SUM(LENGTH(a))::INT FROM {name}") == 31_000 + 32_000 + 10


def test_a_client_that_leaves_in_the_middle_of_its_rows_leaves_nothing_in_a_transaction(
    server: Server,
) -> None:
    with RawClient(server, "stores_demo") as observer:
        observer.command("CREATE TABLE t_left (k INT)")
        for form in FORMS:
            with RawClient(server, "stores_demo") as client:
                client.must(m.Begin())
                load = Load(client, "INSERT INTO t_left VALUES (?)")
                data, _ = load.wire(form, [(n,) for n in range(3000)])
                client.socket.sendall(data[: len(data) // 2 + 1])
        assert observer.number("SELECT COUNT(*)::INT FROM t_left") == 0
        observer.command("DROP TABLE t_left")


# ---- the fast path and Python, side by side ---------------------------------------------------------

COLUMNS: list[tuple[str, Callable[[random.Random], object]]] = [
    ("SMALLINT", lambda r: r.choice((r.randrange(-99, 99), 32767, -32767))),
    ("INTEGER", lambda r: r.choice((r.randrange(-9, 9), 2**31 - 1))),
    ("BIGINT", lambda r: r.choice((r.randrange(-9, 9), 2**63 - 1))),
    ("INT8", lambda r: r.randrange(-(10**12), 10**12)),
    ("FLOAT", lambda r: r.choice((0.0, -0.0, 0.5, 1e300, r.random()))),
    ("SMALLFLOAT", lambda r: float(r.choice((0, 0.5, -1.25)))),
    ("DECIMAL(8,2)", lambda r: Decimal(r.randrange(-(10**7), 10**7)) / 100),
    ("DECIMAL(16)", lambda r: Decimal(r.randrange(10**6)).scaleb(r.randrange(-20, 20))),
    ("MONEY(12,4)", lambda r: Decimal(r.randrange(10**9)) / 10000),
    ("CHAR(6)", lambda r: "".join(r.choices("ab é ", k=r.randrange(4)))),
    ("VARCHAR(8)", lambda r: "".join(r.choices("xyß ", k=r.randrange(5)))),
    ("LVARCHAR(300)", lambda r: "long " * r.randrange(50)),
    ("BOOLEAN", lambda r: r.random() < 0.5),
    ("DATE", lambda r: dt.date.fromordinal(r.randrange(1, 3652059))),
    ("DATETIME YEAR TO DAY", lambda r: dt.date.fromordinal(r.randrange(1, 3652059))),
    ("DATETIME YEAR TO SECOND", lambda r: dt.datetime(r.randrange(1, 9999), 2, 28, 23, r.randrange(60), 59)),
    ("DATETIME YEAR TO FRACTION(3)", lambda r: dt.datetime(1969, 12, 31, 1, 2, 3, 1000 * r.randrange(1000))),
    ("DATETIME HOUR TO MINUTE", lambda r: dt.time(r.randrange(24), r.randrange(60))),
    ("DATETIME HOUR TO FRACTION(5)", lambda r: dt.time(1, 2, 3, 10 * r.randrange(10**5))),
    (
        "INTERVAL DAY(4) TO SECOND",
        lambda r: dt.timedelta(seconds=r.choice((0, r.randrange(-(10**8), 10**8)))),
    ),
    ("DATETIME MONTH TO DAY", lambda r: f"{r.randrange(1, 13):02d}-{r.randrange(1, 29):02d}"),
]
ODD: list[Callable[[random.Random], object]] = [
    lambda r: str(r.randrange(100)),
    lambda r: "2020-02-30",
    lambda r: "t",
    lambda r: r.random() * 1e6,
    lambda r: Decimal("12345678.005"),
    lambda r: 2**40,
    lambda r: "far too long for many a column é",
    lambda r: dt.datetime(2024, 2, 29, 12, 30, 15, 123450),
    lambda r: BoundValue(0, b"\0\2\xc3\x28"),  # invalid UTF-8
    lambda r: BoundValue(10, b"\0\3\xc7\x14\x18", 0x0E0A),
]


def random_load(r: random.Random, form: str) -> tuple[str, str, list[tuple[object, ...]]]:
    """Return the columns of a table, the INSERT's VALUES and rows for it."""
    chosen = r.sample(COLUMNS, r.randrange(1, 6))
    declared = [f"c{n} {sql}{' NOT NULL' if r.random() < 0.3 else ''}" for n, (sql, _) in enumerate(chosen)]
    keyed = [n for n, (sql, _) in enumerate(chosen) if "LVARCHAR" not in sql and sql != "BOOLEAN"]
    if keyed and r.random() < 0.5:
        declared.append(
            f"UNIQUE ({', '.join(f'c{n}' for n in r.sample(keyed, r.randrange(1, len(keyed) + 1)))})"
        )
    columns = (
        f"id SERIAL, {declared[0]}, k INT UNIQUE CHECK (k <> 13), {', '.join([*declared[1:], 'tail INT'])}"
    )
    names = ["id", "c0", "k", *(f"c{n}" for n in range(1, len(chosen))), "tail"]
    makers = [
        lambda r: r.choice((0, 0, 0, r.randrange(1, 500))),
        chosen[0][1],
        None,
        *(x for _, x in chosen[1:]),
    ]
    constant = form != "puts" and r.random() < 0.2
    values = ["?"] * len(names)
    if constant:
        values[-1] = "77"
    rows: list[tuple[object, ...]] = []
    for number in range(r.choice((1, 2, 3, 40, 400))):
        row: list[object] = []
        for place, make in enumerate(makers):
            if make is None:
                row.append(r.randrange(30) if r.random() < 0.1 else 100 + number)
            elif r.random() < 0.05:
                row.append(None)
            elif form != "puts" and place and r.random() < 0.02:
                row.append(r.choice(ODD)(r))
            else:
                row.append(make(r))
        rows.append((*row, *(() if constant else (number,))))
    return columns, f"({', '.join(names)}) VALUES ({', '.join(values)})", rows


def run_load(
    server: Server,
    columns: str,
    values: str,
    rows: Sequence[Sequence[object]],
    form: str,
    plan: tuple[Any, ...],
) -> tuple[list[list[m.Message]], list[bytes]]:
    transaction, group, pieces = plan
    with RawClient(server, "stores_demo") as client:
        name = table(client, "t_side", columns)
        load = Load(client, f"INSERT INTO {name} {values}")
        groups: list[list[m.Message]] = []
        if transaction:
            client.must(m.Begin())
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            if half:
                groups += load.send(form, half, group, pieces)
        if transaction:
            groups.append(client.ask(m.Commit()))
        order = ", ".join(
            str(n + 1) for n in range(columns.count(" ") and values.split(")")[0].count(",") + 1)
        )
        return groups, client.select(f"SELECT * FROM {name} ORDER BY {order}")


def nameless(groups: list[list[m.Message]]) -> list[list[m.Message]]:
    """Return replies without the table's number in the names of its constraints."""
    return [
        [replace(x, near=re.sub(r"\d+_", "_", x.near)) if isinstance(x, m.Err) else x for x in group]
        for group in groups
    ]


@pytest.mark.soak
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(12))
def test_the_fast_path_and_python_give_the_same_replies_and_the_same_table(
    server: Server, without_fast_path: Callable[[], None], batches: list[int], form: str, seed: int
) -> None:
    r = random.Random(f"{form} {seed}")
    cases = []
    for _ in range(4 if LONG else 2):
        columns, values, rows = random_load(r, form)
        pieces = [r.randrange(1 << 20) for _ in range(r.randrange(4))]
        plan = (r.random() < 0.5, r.choice((10**9, 7, 100)), pieces)
        cases.append((columns, values, rows, form, plan))
    fast_path = [run_load(server, *case) for case in cases]
    taken = sum(batches)
    assert taken > 0
    without_fast_path()
    for case, (replies, stored) in zip(cases, fast_path, strict=True):
        expected_replies, expected_stored = run_load(server, *case)
        assert nameless(replies) == nameless(expected_replies), case
        assert stored == expected_stored, case
    assert sum(batches) == taken  # no further batch took the fast path


ALONE: list[tuple[str, list[tuple[object, ...]]]] = [
    (
        "id SERIAL, v VARCHAR(3) NOT NULL, k INT UNIQUE CHECK (k <> 13), b BOOLEAN, tail INT",
        [
            (0, "abc", 1, True, 1), (7, "abcdef", 2, None, 2), (0, "", 2, False, 3), (0, None, 3, True, 4),
            (0, "x", 13, True, 5), (0, "x", "4", True, 6), (0, "x", "four", True, 7), (0, "x", None, False, None),
            (0, "x", 2**40, False, 8), (8, "x", 9, False, 9), (0, "x", 10, False, 10),
        ],
    ),
    (
        "id SERIAL8, s SMALLINT, f FLOAT, c CHAR(4) DEFAULT 'none', k INT UNIQUE, tail INT",
        [(-5, 1, 0.5, "\u00e4 ", 1, 1), (0, 32768, 1.5, "far too long", 2, 2), (0, -32768, -0.0, None, 3, 3),
         (0, 1.5, 3, "c", 4, 4), (-5, 1, 1.0, "c", 1, 5), (0, 1, Decimal("1.25"), dt.date(2024, 2, 29), 6, 6)],
    ),
]  # fmt: skip


@pytest.mark.parametrize("transaction", [False, True], ids=["autocommit", "transaction"])
@pytest.mark.parametrize("case", [0, 1])
def test_a_row_that_comes_alone_is_answered_and_stored_as_by_python(
    server: Server, without_fast_path: Callable[[], None], case: int, transaction: bool
) -> None:
    columns, rows = ALONE[case]

    def run(name: str) -> tuple[list[list[m.Message]], list[bytes], list[bytes]]:
        with RawClient(server, "stores_demo") as client:
            client.command(f"CREATE TABLE {name} ({columns})")
            load = Load(client, f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})")
            if transaction:
                client.must(m.Begin())
            groups = [group for row in rows for group in load.send("groups", [row])]
            told = client.select("SELECT DBINFO('sqlca.sqlerrd1') FROM systables WHERE tabid = 1")
            if transaction:
                groups.append(client.ask(m.Commit()))
            stored = client.select(f"SELECT * FROM {name} ORDER BY tail")
            client.command(f"DROP TABLE {name}")
        return groups, stored, told

    fast_path = run("t_alone")
    without_fast_path()
    expected = run("t_alone")
    assert errors(fast_path[0])  # some are refused
    assert nameless(fast_path[0]) == nameless(expected[0])
    assert fast_path[1:] == expected[1:]


@pytest.mark.parametrize("rows", [2, 3, 1001])
@pytest.mark.parametrize("bad", [None, 0, 1, -1])
def test_many_rows_of_one_put_are_rows_like_any_other(client: RawClient, rows: int, bad: int | None) -> None:
    """Fixed columns of odd length, as JDBC sends them. A duplicate key counts the rows before it, and no later one."""
    name = table(client, "t_together", "k INT PRIMARY KEY, c CHAR(3)")
    client.command(f"INSERT INTO {name} VALUES (-5, 'old')")
    load = Load(client, f"INSERT INTO {name} VALUES (?, ?)")
    wrong = None if bad is None else bad % rows
    values = [(-5 if n == wrong else n, "abc"[: n % 4]) for n in range(rows)]
    first, *more = (encode_tuple(row, load.columns, client.framing.encoding) for row in values)
    opening = (m.Id(load.id), m.CursorName("put"), m.Open(), m.Put(first, tuple(more)), EOT)
    client.socket.sendall(b"".join(message.encode(client.framing) for message in opening))
    (reply,) = client.receive_groups(1)
    good = rows if wrong is None else wrong
    assert rows_done([reply]) == good
    assert [code for _, code, _ in errors([reply])] == ([] if wrong is None else [-268])
    found = [
        decode_tuple(row, load.columns, client.framing.encoding)
        for row in client.select(f"SELECT k, c FROM {name} WHERE k >= 0 ORDER BY k")
    ]
    assert found == values[:good]
