"""Change capture over the wire: the routines of syscdcv1, their errors, and reads that wait (docs/protocol/CDC.md)."""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from tests.change_follower import Follower, records
from tests.internals import engine_of

import informix_arrow
from informix_arrow.server import Server
from informix_arrow.server.cdc_log import reader as reader_module
from informix_arrow.server.session.captures import CaptureSession
from informix_arrow.wire import messages as m

from .raw import RawClient, Refused, connect_request, one

TABLE = "stores_demo:informix.t"
SQL = {
    "open": "execute function informix.cdc_opensess(?, ?, ?, ?, ?, ?)",
    "log": "execute function informix.cdc_set_fullrowlogging(?, ?)",
    "start": "execute function informix.cdc_startcapture(?, ?, ?, ?, ?)",
    "activate": "execute function informix.cdc_activatesess(?, ?)",
    "boundary": "execute function informix.cdc_recboundary(?)",
    "deactivate": "execute function informix.cdc_deactivatesess(?)",
    "end": "execute function informix.cdc_endcapture(?, 0, ?)",
    "close": "execute function informix.cdc_closesess(?)",
}


class Capturing(RawClient):
    """A connection to syscdcv1 with one capture session, that of the last `open`."""

    session = 0

    def __init__(self, server: Server) -> None:
        super().__init__(server, "syscdcv1", login=connect_request(locale="en_US.utf8"))
        self.framing = self.framing.with_encoding("utf-8")

    def call(self, routine: str, *arguments: object) -> int:
        (row,) = self.select(SQL[routine], *arguments)
        return int.from_bytes(row, "big", signed=True)

    def open(self, timeout: int = 0, most: int = 50) -> Capturing:
        self.session = self.call("open", "informix", 0, timeout, most, 1, 1)
        assert self.session > 0
        return self

    def watch(self, table: str = TABLE, label: int = 1, columns: str = "") -> Capturing:
        assert self.call("log", table, 1) == 0
        assert self.call("start", self.session, 0, table, columns, label) == 0
        return self

    def active(self, position: int = 0) -> Capturing:
        assert self.call("activate", self.session, position) == 0
        return self

    def message(self, count: int = 65536) -> m.LoData:
        return m.LoData(0, struct.unpack(">h", (self.session & 0xFFFF).to_bytes(2, "big"))[0], count)

    def read(self, count: int = 65536) -> bytes:
        reply = one(self.must(self.message(count)), m.LoDataReply)
        assert 0 < reply.size <= count
        assert len(reply.data) == reply.size
        return reply.data

    def read_all(self) -> bytes:
        """Return everything up to a TIMEOUT, without it."""
        data = b""
        while records(part := self.read())[0][0] != 201:
            data += part
        return data


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(users={"ann": "secret"}) as running:
        yield running


@pytest.fixture
def writer(server: Server) -> Iterator[informix_arrow.Connection]:
    with informix_arrow.connect(server.url("stores_demo"), autocommit=True) as connection:
        run(connection, "create table t (id integer primary key, n integer, name varchar(20))")
        yield connection


@pytest.fixture
def client(server: Server, writer: informix_arrow.Connection) -> Iterator[Capturing]:
    with Capturing(server) as connection:
        yield connection


def run(connection: informix_arrow.Connection, sql: str, *parameters: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def kinds(data: bytes) -> list[int]:
    return [number for number, _, _ in records(data)]


def test_changes_come_as_they_are_committed(client: Capturing, writer: informix_arrow.Connection) -> None:
    client.open().watch().active()
    follower = Follower({1: "t"})
    run(writer, "insert into t values (1, 10, 'alpha')")
    run(writer, "update t set name = null where id = 1")
    run(writer, "delete from t")
    follower.take(client.read_all())
    assert [t.changes for t in follower.committed] == [
        [("insert", "t", None, (1, 10, "alpha"))],
        [("update", "t", (1, 10, "alpha"), (1, 10, None))],
        [("delete", "t", (1, 10, None), None)],
    ]
    assert client.call("end", client.session, TABLE) == 0
    assert client.call("log", TABLE, 0) == 0
    assert client.call("close", client.session) == 0


def test_a_read_waits_for_the_next_change(client: Capturing, writer: informix_arrow.Connection) -> None:
    client.open(timeout=-1).watch().active()
    assert kinds(client.read()) == [200]
    client.send(client.message(), m.EndOfTurn())
    run(writer, "insert into t values (1, 10, 'alpha')")
    data = one(client.receive_group(), m.LoDataReply).data
    while 2 not in kinds(data):
        data += client.read()
    assert kinds(data) == [1, 40, 2]


def test_reads_that_are_sent_ahead_are_answered_one_by_one(
    client: Capturing, writer: informix_arrow.Connection
) -> None:
    client.open(timeout=-1, most=1).watch().active()
    client.send(*[client.message(), m.EndOfTurn()] * 4)
    assert kinds(one(client.receive_group(), m.LoDataReply).data) == [200]  # while the second one waits
    run(writer, "insert into t values (1, 10, 'alpha')")
    replies = client.receive_groups(3)
    assert [kinds(one(reply, m.LoDataReply).data) for reply in replies] == [[1], [40], [2]]


def test_a_read_without_changes_says_how_far_the_log_was_read(
    client: Capturing, writer: informix_arrow.Connection
) -> None:
    client.open(timeout=0).watch().active()
    run(writer, "insert into t values (1, 10, 'alpha')")
    *_, (_, commit, _) = records(client.read())
    ((number, told, _),) = records(client.read())
    assert number == 201
    assert struct.unpack(">Q", told)[0] > struct.unpack_from(">Q", commit)[0]
    client.call("close", client.session)
    client.open(timeout=1).watch().active()
    assert kinds(client.read()) == [200]
    began = time.monotonic()
    assert kinds(client.read()) == [201]
    assert time.monotonic() - began >= 0.9


@pytest.mark.parametrize("most", [1, 3, 256])
def test_most_records_of_a_reply(client: Capturing, writer: informix_arrow.Connection, most: int) -> None:
    client.open(0, most).watch().active()
    for i in range(50):
        run(writer, "insert into t values (?, 10, 'alpha')", i)
    found = []
    while (got := kinds(client.read())) != [201]:
        found.append(got)
    assert max(map(len, found)) == min(most, 151)
    assert [kind for part in found for kind in part] == [200, *[1, 40, 2] * 50]


@pytest.mark.parametrize("count", [1, 7, 23, 24, 37, 1000])
def test_records_that_are_cut_go_on_in_the_next_reply(
    client: Capturing, writer: informix_arrow.Connection, count: int
) -> None:
    client.open().watch().active()
    run(writer, "insert into t values (1, 10, 'alpha')")
    run(writer, "insert into t select id + 1, n, 'another, longer name' from t")
    data, wanted = b"", [200, 1, 40, 2, 1, 40, 2, 201]
    while not data.endswith(b"\0\0\0\xc9" + data[-8:]) or len(data) < 300:
        data += client.read(count)
    assert kinds(data)[: len(wanted)] == wanted


def test_what_is_left_of_a_record_may_be_skipped(
    client: Capturing, writer: informix_arrow.Connection
) -> None:
    client.open().watch().active()
    run(writer, "insert into t values (1, 10, 'alpha')")
    assert client.call("boundary", client.session) == 0
    client.read(20)
    assert client.call("boundary", client.session) == 1
    assert kinds(client.read()) == [1, 40, 2]


def test_large_replies_come_in_pieces(client: Capturing, writer: informix_arrow.Connection) -> None:
    run(writer, "create table wide (id integer, a lvarchar(30000))")
    client.open(0, 100).watch("stores_demo:informix.wide").active()
    for i in range(20):
        run(writer, "insert into wide values (?, ?)", i, "x" * 29_000)
    found = []
    data = b""
    while (part := client.read(1 << 20))[-24:-20] != b"\0\0\0\x18":
        data += part
        found.append(len(part))
    assert max(found) > 100_000
    assert kinds(data) == [200, *[1, 40, 2] * 20]


def test_some_columns_and_several_tables(client: Capturing, writer: informix_arrow.Connection) -> None:
    run(writer, "create table u (w varchar(10), id integer, v varchar(10))")
    client.open().watch(columns=" name , id").watch("stores_demo:informix.u", 77, "v,id").active()
    run(writer, "insert into u values ('w', 1, 'v')")
    run(writer, "insert into t values (1, 10, 'alpha')")
    run(writer, "truncate table u")
    follower = Follower({1: "t", 77: "u"})
    follower.take(client.read_all())
    assert [t.changes for t in follower.committed] == [
        [("insert", "u", None, (1, "v"))],
        [("insert", "t", None, (1, "alpha"))],
        [("truncate", "u", None, None)],
    ]
    assert client.call("end", client.session, "stores_demo:informix.u") == 0
    run(writer, "insert into u values ('w', 1, 'v')")
    run(writer, "insert into t values (2, 10, 'beta')")
    assert kinds(client.read_all()) == [1, 2, 1, 40, 2]
    assert client.call("start", client.session, 0, "stores_demo:informix.u", "id", 5) == 0
    assert kinds(client.read_all()) == [200]


def test_a_position_that_was_kept_loses_nothing(client: Capturing, writer: informix_arrow.Connection) -> None:
    client.open().watch().active()
    run(writer, "insert into t values (1, 10, 'alpha')")
    follower = Follower({1: "t"})
    follower.take(client.read_all())
    position = follower.begin_lsns[0]
    assert client.call("close", client.session) == 0
    run(writer, "insert into t values (2, 10, 'beta')")
    client.open().watch().active(position)
    again = Follower({1: "t"})
    again.take(client.read_all())
    assert [t.begin for t in again.committed][:1] == [position]
    assert len(again.committed) == 2


def test_errors_are_what_the_routines_return(client: Capturing, writer: informix_arrow.Connection) -> None:
    call = client.call
    run(writer, "create view w as select id from t")
    run(writer, "create table lob (id integer, b blob, x byte)")
    for arguments, code in [
        (("informix", 0, 1, 50, 9, 1), -83702), (("informix", 0, 1, 1000, 1, 1), -83724),
        (("informix", 0, 1, 0, 1, 1), -83724), (("informix", 5, 1, 50, 1, 1), -83709),
        (("another", 0, 1, 50, 1, 1), -83721), (("informix", 0, None, 50, 1, 1), -83712),
    ]:  # fmt: skip
        assert call("open", *arguments) == code
    client.open()
    s = client.session
    for name, code in [
        ("nowhere:informix.t", -83703), ("stores_demo:informix.u", -83705), ("stores_demo:informix.w", -83706),
        ("sysmaster:informix.sysdatabases", -83706), ("t", -83721), ("", -83721), (None, -83712),
    ]:  # fmt: skip
        assert call("log", name, 1) == code, name
        wanted = -83723 if code == -83721 else code
        assert call("start", s, 0, name, "", 1) == wanted, name
    assert call("start", s, 0, TABLE, "", 1) == -83706  # full row logging is off
    assert call("log", TABLE, 2) == -83722
    assert call("log", TABLE, 1) == 0
    assert call("log", "stores_demo:informix.lob", 1) == 0
    assert call("start", s, 0, TABLE, "id,nothing", 1) == -83707
    assert call("start", s, 0, TABLE, "id,,n", 1) == -83707
    assert call("start", s, 0, "stores_demo:informix.lob", "id,b", 1) == -83707
    assert call("start", s, 0, "stores_demo:informix.lob", "x", 1) == -83707
    assert call("start", s, 7, TABLE, "", 1) == -83722
    assert call("start", s + 1, 0, TABLE, "", 1) == -83708
    assert call("start", s, 0, TABLE, "", 1) == 0
    assert call("start", s, 0, TABLE, "", 2) == -83710
    assert call("end", s, "stores_demo:informix.lob") == -83711
    assert call("log", TABLE, 0) == -19816
    assert call("activate", s, -5) == -83722
    for position in (24, 1 << 40, 2 << 32 | 1):
        assert call("activate", s, position) == -83713, hex(position)
    with pytest.raises(Refused) as refused:
        client.read()
    assert refused.value.sqlcode == -9810  # it is not active
    assert call("activate", s, 0) == 0
    assert call("activate", s, 0) == -83715
    assert call("deactivate", s) == 0
    assert call("activate", s, 0) == 0
    for count in (0, -1):
        with pytest.raises(Refused) as refused:
            client.must(client.message(count))
        assert refused.value.sqlcode == -9810
    assert call("close", s) == 0
    for routine in ("close", "boundary", "deactivate"):
        assert call(routine, s) == -83708
    with pytest.raises(Refused) as refused:
        client.read()
    assert refused.value.sqlcode == -9810


def test_databases_without_a_log(server: Server, client: Capturing) -> None:
    server.create_database("plain", mode="unlogged")
    with informix_arrow.connect(server.url("plain")) as connection:
        run(connection, "create table t (a integer)")
    client.open()
    assert client.call("log", "plain:informix.t", 1) == -83704
    assert client.call("start", client.session, 0, "plain:informix.t", "", 1) == -83704


def test_who_may_not_capture(server: Server, writer: informix_arrow.Connection) -> None:
    with RawClient(server, "syscdcv1", login=connect_request("ann", "secret")) as client:
        assert client.error(m.Prepare(2, SQL["log"]), m.NDescribe(), m.WantDone()) == -674
        assert (
            client.error(m.Command("create table mine (a integer)"), m.NDescribe(), m.Execute(), m.Release())
            < 0
        )
    with RawClient(server, "stores_demo") as client:
        assert client.error(m.Prepare(2, SQL["log"]), m.NDescribe(), m.WantDone()) == -674


def test_from_another_database(server: Server, writer: informix_arrow.Connection) -> None:
    with RawClient(server, "stores_demo") as client:
        session = client.number("execute function syscdcv1:informix.cdc_opensess('informix', 0, 2, 50, 1, 1)")
        assert session > 0
        assert client.number(f"execute function syscdcv1:informix.cdc_set_fullrowlogging('{TABLE}', 1)") == 0
        assert client.number(f"execute function syscdcv1:informix.cdc_closesess({session})") == 0


def test_descriptors_are_no_smart_large_objects(client: Capturing) -> None:
    sessions = [client.open().session for _ in range(64)]
    assert len({session & 0xFFFF for session in sessions}) == 64
    assert all(1 <= session & 0xFFFF <= 32767 for session in sessions)
    assert client.call("open", "informix", 0, 0, 1, 1, 1) == -83720
    assert client.error(m.LoData(2, sessions[0] & 0xFFFF, 3, data=b"abc")) == -9810
    assert client.error(m.LoData(1, sessions[0] & 0xFFFF, 3)) == -9810


def test_the_catalogue_of_capture(
    client: Capturing, writer: informix_arrow.Connection, server: Server
) -> None:
    with informix_arrow.connect(server.url("syscdcv1")) as connection, connection.cursor() as cursor:

        def rows(sql: str) -> list[tuple[object, ...]]:
            return list(cursor.execute(sql).fetchall())

        assert rows("select * from syscdcvers") == [(1, 1)]
        assert rows("select recname from syscdcrectypes where recnum in (1, 200) order by 1") == [
            ("CDC_REC_BEGINTX",), ("CDC_REC_TABSCHEM",),
        ]  # fmt: skip
        assert rows("select errname from syscdcerrcodes where errcode = -83713") == [("CDC_E_LSN",)]
        assert [row[0] for row in rows("select * from syscdcpacketschemes")] == [66]
        assert rows("select * from syscdcsess") == []
        client.open(7, 9).watch(columns="id,name").active()
        ((session, position, timeout, status),) = rows(
            "select sessid, seqnum, timeout, status from syscdcsess"
        )
        assert (session, timeout, status) == (client.session, 7, 1)
        assert position == 2 << 32  # nothing has been logged
        assert rows(
            "select sessid, dbname, tabname, userdata, fixedcols, varcols, fixedbytes from syscdctabs"
        ) == [(client.session, "stores_demo", "t", 1, "id", "name", 4)]
        logs = "select uniqid, used, is_current from sysmaster:syslogs"
        assert rows(logs) == [(1, 0, 1)]
        for i in range(80):
            run(writer, "insert into t values (?, 1, 'x')", i)
        follower = Follower({1: "t"})
        data = b""
        while kinds(data)[-1:] != [2] or kinds(data).count(2) < 80:
            data += client.read()
        follower.take(data)
        (_, (number, used, current)) = rows(logs)
        assert (number, current) == (2, 1)
        assert number << 32 | used << 12 <= follower.commit_lsns[-1] < number << 32 | (used + 1) << 12
        assert rows("select uniqid, used from sysmaster:syslogfil where uniqid = 2") == [(2, used)]
        client.call("close", client.session)
        assert rows("select * from syscdcsess") == []
        assert rows("select * from syscdctabs") == []
        for code, said in [("-83713", "position"), ("'CDC_E_NOTAB'", "no such table"), ("1", "")]:
            ((text,),) = rows(f"execute function informix.cdc_errortext({code})")
            assert said in str(text)


# ---- transactions that are open when the logging is switched ---------------------------------------


def test_a_transaction_that_is_open_is_not_logged_by_half(
    server: Server,
    client: Capturing,
    writer: informix_arrow.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("informix_arrow.server.session.capture_routines._LOCK_SECONDS", 0.05)
    with informix_arrow.connect(server.url("stores_demo")) as other:
        run(other, "insert into t values (1, 1, 'early')")
        assert client.call("log", TABLE, 1) == -289
        run(other, "insert into t values (2, 2, 'late')")
        other.commit()
        run(other, "select count(*) from t")  # readers do not block it
        run(other, "lock table t in share mode")
        assert client.call("log", TABLE, 1) == 0
        other.rollback()
        start = 1 << 32
        run(other, "insert into t values (3, 3, 'three')")
        assert client.call("log", TABLE, 1) == 0  # no change, as it is on already
        assert client.call("log", TABLE, 0) == -289
        run(other, "insert into t values (4, 4, 'four')")
        other.commit()
        client.open().watch().active(start)
        follower = Follower({1: "t"})
        follower.take(client.read_all())
        (transaction,) = follower.committed
        assert [after[0] for _, _, _, after in transaction.changes if after] == [3, 4]
        assert client.call("end", client.session, TABLE) == 0
        assert client.call("log", TABLE, 0) == 0


def test_switching_the_logging_waits_for_transactions(
    server: Server,
    client: Capturing,
    writer: informix_arrow.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("informix_arrow.server.session.capture_routines._LOCK_SECONDS", 60.0)
    engine = engine_of(server)
    assert engine is not None
    answers: list[int] = []
    with informix_arrow.connect(server.url("stores_demo")) as other:
        run(other, "insert into t values (1, 1, 'one')")
        asking = threading.Thread(target=lambda: answers.append(client.call("log", TABLE, 1)))
        asking.start()
        deadline = time.monotonic() + 30
        while not engine.locks._blockers_by_waiter:
            assert time.monotonic() < deadline
            threading.Event().wait(0.005)
        run(other, "update t set n = 2 where id = 1")
        assert not answers
        other.commit()
        asking.join()
        assert answers == [0]
        assert engine.change_log.files() == []
        run(other, "update t set n = 3 where id = 1")
        other.commit()
    client.open().watch().active(1 << 32)
    assert kinds(client.read_all()) == [200, 1, 42, 43, 2]


def test_a_transaction_cannot_log_its_own_second_half(
    server: Server, writer: informix_arrow.Connection
) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("begin work")
        client.command("insert into t values (1, 1, 'one')")
        switch = f"execute function syscdcv1:informix.cdc_set_fullrowlogging('{TABLE}', 1)"
        assert client.number(switch) == -289
        client.command("rollback work")
        assert client.number(switch) == 0


# ---- ends of a waiting read ----------------------------------------------------------------------


def test_an_interrupt_ends_a_read_that_waits(client: Capturing, writer: informix_arrow.Connection) -> None:
    client.open(timeout=-1).watch().active()
    assert kinds(client.read()) == [200]
    client.send(client.message(), m.EndOfTurn())
    deadline = time.monotonic() + 30
    client.socket.settimeout(0.2)
    reply = None
    while reply is None:  # an interrupt before the read has begun has no effect
        assert time.monotonic() < deadline
        client.socket.send(b"B", socket.MSG_OOB)
        try:
            reply = client.receive_group()
        except TimeoutError:
            continue
    client.socket.settimeout(30)
    assert one(reply, m.Err).sqlcode == -213
    run(writer, "insert into t values (1, 10, 'alpha')")
    data = b""
    while 2 not in kinds(data):
        data += client.read()
    assert kinds(data) == [1, 40, 2]


def test_an_interrupt_ends_a_read_that_passes_over_a_long_transaction_of_others(
    server: Server, client: Capturing, writer: informix_arrow.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the log is not read first."""
    run(writer, "create table other (id integer)")
    client.open(timeout=-1).watch().active()
    assert client.call("log", "stores_demo:informix.other", 1) == 0
    assert kinds(client.read()) == [200]
    monkeypatch.setattr(reader_module, "_MAX_SKIPPED_BYTES", 256)
    takes = 0
    take = CaptureSession.read

    def interrupted(self: CaptureSession, size: int) -> bytes:
        nonlocal takes
        takes += 1
        if takes == 3:
            client.socket.send(b"B", socket.MSG_OOB)
            assert engine_of(server) is not None
            for session in engine_of(server).sessions.all():
                session.interrupted.wait(30 if session.capture_routines._sessions else 0)
        return take(self, size)

    with writer.transaction(), writer.cursor() as cursor:
        cursor.executemany("insert into other values (?)", [(i,) for i in range(1000)])
    assert kinds(client.read()) == [1]
    monkeypatch.setattr(CaptureSession, "read", interrupted)
    client.send(client.message(), m.EndOfTurn())
    assert one(client.receive_group(), m.Err).sqlcode == -213
    assert takes == 3
    assert kinds(client.read()) == [2]


def test_a_client_that_goes_away_ends_its_read(server: Server, client: Capturing) -> None:
    client.open(timeout=-1).watch().active()
    client.read()
    client.send(client.message(), m.EndOfTurn())
    client.socket.close()
    deadline = time.monotonic() + 30
    while server.sessions > 1:  # the writer's
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    with Capturing(server) as other:
        assert other.call("log", TABLE, 0) == 0  # there is no capture of it any more


def test_a_server_that_stops_ends_reads(server: Server, client: Capturing) -> None:
    client.open(timeout=-1).watch().active()
    client.read()
    client.send(client.message(), m.EndOfTurn())
    server.stop()
    with pytest.raises((ConnectionError, AssertionError)):
        one(client.receive_group(), m.LoDataReply)


def test_others_work_while_a_read_waits(server: Server, client: Capturing) -> None:
    """A database can be attached again while a session waits for changes."""
    client.open(timeout=-1).watch().active()
    client.read()
    client.send(client.message(), m.EndOfTurn())
    engine = engine_of(server)
    assert engine is not None
    deadline = time.monotonic() + 30
    while engine.recovery._active_count:
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def test_many_sessions_while_many_write(server: Server, client: Capturing) -> None:
    """Three readers, one of single records and one of few bytes, see the content that the tables have in the end."""
    readers = [client.open(0, 100).watch()]
    readers += [Capturing(server).open(0, 1).watch(), Capturing(server).open(0, 256).watch()]
    for reader in readers:
        reader.active()
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        try:
            with informix_arrow.connect(server.url("stores_demo")) as connection:
                run(connection, "set lock mode to wait")
                for step in range(22):
                    i = seed * 1000 + step
                    run(connection, "insert into t values (?, ?, ?)", i, step, f"{seed}-{step}")
                    if step % 3 == 0:
                        run(connection, "update t set n = n + 1, name = name || '!' where id = ?", i - i % 5)
                    if step % 7 == 0:
                        run(connection, "delete from t where id = ?", i - 1)
                    (connection.rollback if chance.random() < 0.2 else connection.commit)()
        except BaseException as problem:  # noqa: BLE001 (told in the test's own thread)
            errors.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with informix_arrow.connect(server.url("stores_demo")) as connection, connection.cursor() as cursor:
        expected = sorted(map(tuple, cursor.execute("select id, n, name from t").fetchall()), key=repr)
    for number, reader in enumerate(readers):
        follower, data = Follower({1: "t"}), b""
        while True:
            data += reader.read(61 if number == 2 else 65536)
            if data[-24:-20] == b"\0\0\0\x18":
                break
        follower.take(data)
        assert follower.tables()["t"] == expected
        assert follower.rolled_back
    for reader in readers[1:]:
        reader.socket.close()
