"""Files of the client that a statement reads or writes, with SQ_FILE in the middle of a reply."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from informix_arrow.server import Server
from informix_arrow.server.handlers.interrupts import StatementInterrupts
from informix_arrow.wire import messages as m

from .raw import EOT, RawClient, one
from .test_server_login import eventually

OPEN, CLOSE, READ, WRITE = m.FileOp.OPEN, m.FileOp.CLOSE, m.FileOp.READ, m.FileOp.WRITE


def content(size: int) -> bytes:
    return bytes((k * 7 + k // 251) & 0xFF for k in range(size))


class FileClient(RawClient):
    """A client with files that replies like informix-driver. `asked` records the server's requests."""

    def begin(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[m.FileRequest] = []
        self.piece = 32000
        self.open_file = ""

    def receive(self) -> m.Message:
        """Return the next message that is not a request for a file. Requests are answered."""
        while isinstance(message := super().receive(), m.FileRequest):
            self.asked.append(message)
            self.socket.sendall(self.answer(message))
        return message

    def answer(self, request: m.FileRequest) -> bytes:
        data = b""
        while not isinstance(message := super().receive(), m.EndOfTurn):
            assert request.op == WRITE
            assert isinstance(message, m.FileWrite)
            assert 0 < len(message.data) <= 32767
            data += message.data
        if request.op == OPEN:
            self.open_file = request.name
            if request.flags:
                self.files[request.name] = b""
        if request.op == WRITE:
            self.files[self.open_file] += data
            return m.FileAnswer(request.op, written=len(data)).encode(self.framing)
        given = self.files[self.open_file] if request.op == READ else b""
        return m.FileAnswer(request.op, given).encode(self.framing, self.piece)

    def operations(self) -> list[int]:
        """Return the operations requested since the last call."""
        asked, self.asked = self.asked, []
        return [request.op for request in asked]


@pytest.fixture
def client(server: Server) -> Iterator[FileClient]:
    with FileClient(server) as client:
        client.begin()
        client.open_database("stores_demo")
        client.command("CREATE TEMP TABLE t_file (id INT, b BLOB, c CLOB, tail INT)")
        yield client


def written(client: FileClient, column: str, key: int) -> bytes | None:
    """Return a value through LOTOFILE, and check its sentinel."""
    client.asked = []
    (row,) = client.select(
        f"SELECT id, LOTOFILE({column}, '/out', 'client'), tail FROM t_file WHERE id = {key}"
    )
    assert row[:4] == row[-4:] == key.to_bytes(4, "big")
    if row[4] == 1:
        assert client.asked == []
        return None
    name = row[9:-4].decode()
    assert client.asked[0].name == name
    assert name.startswith("/out.")
    return client.files[name]


@pytest.mark.parametrize("size", [0, 1, 1023, 31999, 32000, 32001, 65536, 1_100_000])
@pytest.mark.parametrize("piece", [1000, 32767])
def test_a_file_of_the_client_becomes_an_object_and_the_object_a_file(
    client: FileClient, size: int, piece: int
) -> None:
    client.piece = piece
    client.files = {"/in": content(size)}
    reply = client.command("INSERT INTO t_file VALUES (1, FILETOBLOB('/in', 'client'), NULL, 1)")
    assert one(reply, m.Done).rows == 1
    assert client.operations() == [OPEN, READ, CLOSE]
    assert written(client, "b", 1) == content(size)
    assert client.operations() == ([OPEN, WRITE, CLOSE] if size else [OPEN, CLOSE])
    assert written(client, "c", 1) is None


def test_several_files_and_values_in_one_statement(client: FileClient) -> None:
    client.files = {"/a": b"first", "/b": "zweitens é".encode()}
    insert = "INSERT INTO t_file VALUES (?, filetoblob('/a', 'client'), filetoclob('/b', 'client'), ?)"
    statement = client.prepare(insert, 2).statement_id
    client.must(m.Id(statement), client.bind(3, 3), m.Execute())
    assert client.operations() == [OPEN, READ, CLOSE] * 2
    assert written(client, "b", 3) == b"first"
    assert written(client, "c", 3) == "zweitens é".encode()
    client.files["/b"] = b"instead"
    client.command("UPDATE t_file SET b = filetoblob('/b', 'client') WHERE id = 3")
    assert written(client, "b", 3) == b"instead"
    assert written(client, "c", 3) == "zweitens é".encode()


def test_each_row_of_a_result_gets_its_file_before_it_is_sent(client: FileClient) -> None:
    for key in range(5):
        client.files["/in"] = content(key * 100)
        client.command(f"INSERT INTO t_file VALUES ({key}, filetoblob('/in', 'client'), NULL, {key})")
    client.asked = []
    rows = client.select("SELECT LOTOFILE(b, '/many', 'client'), tail FROM t_file ORDER BY id")
    names = [row[5:-4].decode() for row in rows]
    assert len(set(names)) == 5
    assert [client.files[name] for name in names] == [content(key * 100) for key in range(5)]
    assert [row[-4:] for row in rows] == [key.to_bytes(4, "big") for key in range(5)]


def test_a_name_with_an_exclamation_mark_is_used_as_it_is(client: FileClient) -> None:
    client.files = {"/in": b"abc"}
    client.command("INSERT INTO t_file VALUES (1, filetoblob('/in', 'client'), NULL, 1)")
    (row,) = client.select("SELECT LOTOFILE(b, '/exactly!', 'client'), tail FROM t_file")
    assert row[5:-4] == b"/exactly"
    assert client.files["/exactly"] == b"abc"


def test_pipelined_executes_that_ask_for_files_are_answered_one_after_the_other(client: FileClient) -> None:
    """All requests are sent before the first file request is read, like informix-driver's executemany."""
    insert = "INSERT INTO t_file VALUES (?, filetoblob('/in', 'client'), NULL, ?)"
    statement = client.prepare(insert, 2).statement_id
    client.files = {"/in": content(40_000)}
    for key in range(20):
        client.send(m.Id(statement), client.bind(key, key), m.Execute(), EOT)
    for _ in range(20):
        assert one(client.receive_group(), m.Done).rows == 1
    assert client.operations() == [OPEN, READ, CLOSE] * 20
    assert client.number("SELECT COUNT(*)::INT FROM t_file") == 20
    assert written(client, "b", 19) == content(40_000)


def test_a_statement_that_fails_after_its_file_leaves_the_wire_in_step(client: FileClient) -> None:
    client.command("CREATE TEMP TABLE t_file_key (id INT PRIMARY KEY, b BLOB, tail INT)")
    client.files = {"/in": content(100_000)}
    insert = "INSERT INTO t_file_key VALUES (1, filetoblob('/in', 'client'), 1)"
    client.command(insert)
    assert client.error(m.Command(insert), m.NDescribe(), m.Execute(), m.Release()) == -268
    assert client.number("SELECT COUNT(*)::INT FROM t_file_key") == 1


# Possible replies of a client -> the error, None if the connection cannot continue.
ANSWERS: dict[str, tuple[m.FileOp, Callable[[RawClient], bytes], int | None]] = {
    "the file cannot be opened": (
        OPEN,
        lambda c: m.Err(-9805).encode(c.framing) + EOT.encode(c.framing),
        -9805,
    ),
    "it cannot be read": (READ, lambda c: m.Err(-9806).encode(c.framing) + EOT.encode(c.framing), -9806),
    "a negative size": (READ, lambda c: m.FileTotal(-1).encode(c.framing) + EOT.encode(c.framing), -9810),
    "an error at the close": (CLOSE, lambda c: m.Err(-9807).encode(c.framing) + EOT.encode(c.framing), -9807),
    "rubbish at the open": (OPEN, lambda c: b"\x7f\xff\x12\x34", None),
    "another question's answer": (
        OPEN,
        lambda c: m.FileTotal(0).encode(c.framing) + EOT.encode(c.framing),
        None,
    ),
    "an empty piece": (
        READ,
        lambda c: m.FileTotal(3).encode(c.framing) + m.FileRead(b"").encode(c.framing),
        None,
    ),
    "more than was announced": (
        READ,
        lambda c: m.FileTotal(2).encode(c.framing) + m.FileRead(b"abc").encode(c.framing),
        None,
    ),
    "no end": (
        READ,
        lambda c: (
            m.FileTotal(3).encode(c.framing) + m.FileRead(b"abc").encode(c.framing) + struct.pack(">h", 7)
        ),
        None,
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_a_client_that_answers_otherwise_gets_an_error_or_loses_its_connection(
    client: FileClient, case: str, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    where, wrong, code = ANSWERS[case]
    client.files = {"/in": b"abc"}
    usual = client.answer

    def answer(request: m.FileRequest) -> bytes:
        given = usual(request)
        return wrong(client) if request.op == where else given

    monkeypatch.setattr(client, "answer", answer)
    client.must(m.Begin())
    group = (
        m.Command("INSERT INTO t_file VALUES (1, filetoblob('/in', 'client'), NULL, 1)"),
        m.NDescribe(),
        m.Execute(),
        m.Release(),
    )
    if code is None:
        with pytest.raises(ConnectionError):
            client.ask(*group)
        return
    assert client.error(*group) == code
    monkeypatch.undo()
    assert client.number("SELECT COUNT(*)::INT FROM t_file") == 0
    client.command("INSERT INTO t_file VALUES (2, filetoblob('/in', 'client'), NULL, 2)")
    assert written(client, "b", 2) == b"abc"


def test_a_client_that_has_not_written_all_is_not_believed(
    client: FileClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.files = {"/in": content(1000)}
    client.command("INSERT INTO t_file VALUES (1, filetoblob('/in', 'client'), NULL, 1)")
    usual = client.answer

    def answer(request: m.FileRequest) -> bytes:
        given = usual(request)
        return m.FileAnswer(WRITE, written=999).encode(client.framing) if request.op == WRITE else given

    monkeypatch.setattr(client, "answer", answer)
    query = client.prepare("SELECT LOTOFILE(b, '/out', 'client'), tail FROM t_file").statement_id
    client.must(m.Id(query), m.CursorName("c"), m.Open())
    assert client.error(m.Id(query), m.Fetch(4096)) == -9810
    assert client.number("SELECT tail FROM t_file") == 1


def test_a_client_that_leaves_when_it_is_asked_ends_its_session_and_its_transaction(server: Server) -> None:
    with RawClient(server, "stores_demo") as keeper:
        keeper.command("CREATE TABLE t_file_gone (id INT, b BLOB, tail INT)")
        before = server.sessions
        with RawClient(server, "stores_demo") as client:
            client.must(m.Begin())
            client.command("INSERT INTO t_file_gone VALUES (1, NULL, 1)")
            insert = "INSERT INTO t_file_gone VALUES (2, filetoblob('/in', 'client'), 2)"
            client.send(m.Command(insert), m.NDescribe(), m.Execute(), m.Release(), EOT)
            assert isinstance(client.receive(), m.FileRequest)
        assert eventually(lambda: server.sessions <= before)  # an earlier test's session may be ending
        assert keeper.number("SELECT COUNT(*)::INT FROM t_file_gone") == 0
        keeper.command("DROP TABLE t_file_gone")


def test_an_interrupt_while_the_client_is_asked_stops_the_statement(
    client: FileClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.files = {"/in": content(100_000)}
    usual, request, noticed = client.answer, StatementInterrupts.request, threading.Event()

    def watched(self: StatementInterrupts) -> bool:
        urge = request(self)
        noticed.set()
        return urge

    def answer(asked: m.FileRequest) -> bytes:
        if asked.op == READ:
            client.socket.send(b"B", socket.MSG_OOB)
            assert noticed.wait(30)
        return usual(asked)

    monkeypatch.setattr(StatementInterrupts, "request", watched)
    monkeypatch.setattr(client, "answer", answer)
    insert = "INSERT INTO t_file VALUES (1, filetoblob('/in', 'client'), NULL, 1)"
    assert client.error(m.Command(insert), m.NDescribe(), m.Execute(), m.Release()) == -213
    assert client.operations() == [OPEN, READ, CLOSE]
    monkeypatch.undo()
    assert client.number("SELECT COUNT(*)::INT FROM t_file") == 0
    client.command(insert)
    assert written(client, "b", 1) == content(100_000)
