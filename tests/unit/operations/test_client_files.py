"""Replies to SQ_FILE, with a peer that asks in the middle of its own replies (SQLI section 15)."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.operations.scripted_lob_peer import Dialogue, FilePeer
from tests.unit.operations.scripted_peer import Group, insert, new_session, rows, select

from informix_arrow.operations.client_files import refuse_in_pipeline, refuse_unregistered
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.io_steps import ConnectionLost
from informix_arrow.operations.object_sources import ClientFiles
from informix_arrow.operations.prepare import Outcome
from informix_arrow.operations.request_reply import request
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import InterfaceError, NotSupportedError, OperationalError, ProtocolError

SQL = "insert into t values (filetoblob('in', 'client'))"


def is_execute(group: Group) -> bool:
    return any(isinstance(message, m.Execute) for message in group)


def read_dialogue(name: str, *reads: tuple[int, int], found: list[bytes] | None = None) -> Dialogue:
    """Return a dialogue that opens a file, reads ``(buffer size, amount)`` as often as given, closes it, and ends with
    one row inserted."""
    answer = yield [m.FileRequest(m.FileOp.OPEN, name, 0o666)]
    if isinstance(answer, m.Err):
        return [m.Err(-9810, near=name)]
    for buffer_size, amount in reads:
        answer = yield [m.FileRequest(m.FileOp.READ, buffer_size=buffer_size, amount=amount)]
        if isinstance(answer, m.Err):
            return [m.Err(-9810, near=name)]
        if found is not None:
            found.append(answer.data)
    yield [m.FileRequest(m.FileOp.CLOSE)]
    return [m.Done(rows=1)]


def write_dialogue(name: str, *pieces: bytes) -> Dialogue:
    """Return a dialogue that opens a file, writes the pieces, and closes it."""
    answer = yield [m.FileRequest(m.FileOp.OPEN, name, 0o666, 0o1101)]
    if isinstance(answer, m.Err):
        return [m.Err(-9810, near=name)]
    answer = yield [m.FileRequest(m.FileOp.WRITE), *map(m.FileWrite, pieces)]
    if isinstance(answer, m.Err):
        return [m.Err(-9810, near=name)]
    assert answer.written == sum(map(len, pieces))
    yield [m.FileRequest(m.FileOp.CLOSE)]
    return [m.Done(rows=1)]


def execute(peer: FilePeer, session: Session, sql: str = SQL) -> object:
    return peer.run(execute_statement(session, sql, (), ReadOptions()))


def ready(files: dict[str, object], **state: object) -> Session:
    session = new_session(autocommit=True, **state)
    session.files.register(files, "latin-1")
    return session


CONTENT = random.Random(3).randbytes(100_001)


@pytest.mark.parametrize("piece", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize(
    "kind",
    [bytes, bytearray, lambda content: memoryview(content), io.BytesIO],
    ids=["bytes", "bytearray", "memoryview", "file"],
)
def test_a_registered_file_is_read_in_any_way_that_the_server_likes(
    piece: int, kind: Callable[[bytes], object]
) -> None:
    found: list[bytes] = []
    reads = [(32000, 10), (1, 3), (7, 50_000), (32767, 1), (32000, -1), (32000, 100)]
    peer = FilePeer(
        [insert()],
        lambda group: read_dialogue("in", *reads, found=found) if is_execute(group) else None,
        piece,
    )
    session = ready({"in": kind(CONTENT)})
    outcome = execute(peer, session)
    assert isinstance(outcome, Outcome)
    assert outcome.rows == 1
    assert b"".join(found) == CONTENT
    assert [len(data) for data in found] == [10, 3, 50_000, 1, 100_001 - 50_014, 0]
    assert session.outstanding_requests == 0


def test_a_file_may_be_opened_again_and_begins_anew() -> None:
    """An UPDATE of many rows reads it once per row. A file object is read from its position at registration."""
    found: list[bytes] = []

    def dialogue(group: Group) -> Dialogue | None:
        if not is_execute(group):
            return None

        def twice() -> Dialogue:
            for _ in range(2):
                yield from read_dialogue("in", (100, 4), (100, -1), found=found)
            return [m.Done(rows=2)]

        return twice()

    file = io.BytesIO(b"....0123456789")
    file.seek(4)
    execute(FilePeer([insert()], dialogue), ready({"in": file}))
    assert found == [b"0123", b"456789"] * 2


def test_large_answers_leave_in_pieces() -> None:
    """5 MB: no send is much larger than a block."""
    data = bytes(5 << 20)
    sizes: list[int] = []

    class Watching(FilePeer):
        def take(self, data: bytes) -> None:
            sizes.append(len(data))
            super().take(b"")
            self.incoming += data
            if data.endswith(b"\x00\x0c"):
                super().take(b"")

    found: list[bytes] = []
    peer = Watching(
        [insert()], lambda group: read_dialogue("in", (32000, -1), found=found) if is_execute(group) else None
    )
    execute(peer, ready({"in": data}))
    assert found == [data]
    assert max(sizes) < 300_000


@pytest.mark.parametrize("name", ["other", "in2", "IN", "/etc/passwd", "../in", "in/../../etc/passwd", ""])
def test_no_other_name_is_ever_served(name: str, tmp_path: Path) -> None:
    peer = FilePeer([insert()], lambda group: read_dialogue(name, (32000, -1)) if is_execute(group) else None)
    session = ready({"in": b"mine"})
    with pytest.raises(OperationalError, match="refused") as caught:
        execute(peer, session)
    assert session.usable_after(caught.value)
    assert isinstance(peer.answers_seen[0], m.Err)
    assert len(peer.answers_seen) == 1
    assert session.idle_timeout is None
    assert session.files.refused is None


def test_a_real_file_is_not_touched_even_if_its_name_was_asked_for(tmp_path: Path) -> None:
    real = tmp_path / "secret"
    real.write_bytes(b"secret")
    for dialogue in (read_dialogue(str(real), (32000, -1)), write_dialogue(str(real), b"x")):
        peer = FilePeer([insert()], lambda group, d=dialogue: d if is_execute(group) else None)  # type: ignore[misc]
        with pytest.raises(OperationalError, match="no such name was registered"):
            execute(peer, ready({"in": b""}))
    assert real.read_bytes() == b"secret"


def test_a_server_that_asks_where_nothing_was_registered_is_refused() -> None:
    """A stored procedure may ask, which the statement's text does not show."""
    peer = FilePeer([insert()], lambda group: read_dialogue("x", (100, -1)) if is_execute(group) else None)
    session = ready({})
    with pytest.raises(OperationalError, match="refused"):
        execute(peer, session, "execute procedure p()")


@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_a_dict_takes_each_file_under_the_name_that_it_got(piece: int) -> None:
    made: dict[str, bytes] = {}

    def dialogue(group: Group) -> Dialogue | None:
        if not is_execute(group):
            return None

        def two() -> Dialogue:
            yield from write_dialogue("out.0001", b"abc", b"", b"defg")
            yield from write_dialogue("out.0002")
            return [m.Done(rows=2)]

        return two()

    session = ready({"out": made})
    execute(FilePeer([insert()], dialogue, piece), session)
    assert made == {"out.0001": b"abcdefg", "out.0002": b""}


def test_files_are_written_while_rows_are_fetched() -> None:
    """LOTOFILE in a select list: the request arrives between two rows (SQLI section 15)."""
    made: dict[str, bytes] = {}

    def dialogue(group: Group) -> Dialogue | None:
        if not any(isinstance(message, m.Open) for message in group):
            return None

        def between() -> Dialogue:
            answer = yield [m.FileRequest(m.FileOp.OPEN, "out.1")]
            assert answer == m.FileAnswer(m.FileOp.OPEN)
            yield [m.FileRequest(m.FileOp.WRITE), m.FileWrite(b"abc")]
            yield [m.FileRequest(m.FileOp.CLOSE)]
            return [*rows(1, 2), m.Done()]

        return between()

    for piece in (1, 1 << 20):
        session = ready({"out": made})
        peer = FilePeer([select()], dialogue, piece)
        cursor = execute(peer, session, "select lotofile(c, 'out', 'client') from t")
        assert isinstance(cursor, ServerCursor)
        count = 0
        while peer.run(next_batch(session, cursor)) is not None:
            count += 1
        assert count == 1
        assert made == {"out.1": b"abc"}
        made.clear()


def read_to_the_end(peer: FilePeer, session: Session) -> None:
    cursor = execute(peer, session, "select lotofile(c, 'out', 'client') from t")
    assert isinstance(cursor, ServerCursor)
    while peer.run(next_batch(session, cursor)) is not None:
        pass


def test_a_refusal_while_rows_are_fetched_ends_the_result_and_not_the_session() -> None:
    def dialogue(group: Group) -> Dialogue | None:
        if not any(isinstance(message, m.Open) for message in group):
            return None

        def refused() -> Dialogue:
            answer = yield [m.FileRequest(m.FileOp.OPEN, "elsewhere")]
            assert isinstance(answer, m.Err)
            return [*rows(1), m.Err(-9810)]

        return refused()

    session = ready({"out": {}})
    peer = FilePeer([select()], dialogue)
    with pytest.raises(OperationalError, match=r"elsewhere|-9810") as caught:
        read_to_the_end(peer, session)
    assert session.usable_after(caught.value)
    assert session.files.refused is None


def test_an_object_takes_one_file_only() -> None:
    sink = io.BytesIO()

    def dialogue(group: Group) -> Dialogue | None:
        if not is_execute(group):
            return None

        def two() -> Dialogue:
            yield from write_dialogue("out.1", b"abc")
            return (yield from write_dialogue("out.2", b"def"))

        return two()

    with pytest.raises(OperationalError, match="Register a dict"):
        execute(FilePeer([insert()], dialogue), ready({"out": sink}))
    assert sink.getvalue() == b"abc"


def test_a_sink_that_fails_is_reported_to_the_server_and_to_the_caller() -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            raise OSError("disk full")

    peer = FilePeer([insert()], lambda group: write_dialogue("out.1", b"abc") if is_execute(group) else None)
    session = ready({"out": Full()})
    with pytest.raises(OperationalError, match="disk full") as caught:
        execute(peer, session)
    assert session.usable_after(caught.value)


def test_a_source_that_fails_in_the_middle_ends_the_connection() -> None:
    """The number of bytes was announced, so no other bytes can be sent instead."""

    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) if self.tell() < 200_000 else b""

    peer = FilePeer([insert()], lambda group: read_dialogue("in", (32000, -1)) if is_execute(group) else None)
    session = ready({"in": Shrinking(bytes(400_000))})
    with pytest.raises(ConnectionLost, match="while it was sent") as caught:
        execute(peer, session)
    assert not session.usable_after(caught.value)


@pytest.mark.parametrize(
    "request_",
    [
        [m.FileRequest(m.FileOp.READ, buffer_size=100, amount=-1)],
        [m.FileRequest(m.FileOp.WRITE), m.FileWrite(b"abc")],
    ],
    ids=["read", "write"],
)
def test_a_request_for_a_file_that_is_not_open_is_refused(request_: list[m.Message]) -> None:
    def dialogue(group: Group) -> Dialogue | None:
        def asking() -> Dialogue:
            answer = yield request_
            assert isinstance(answer, m.Err)
            return [m.Err(-9810)]

        return asking() if is_execute(group) else None

    with pytest.raises(OperationalError, match="not open"):
        execute(FilePeer([insert()], dialogue), ready({"in": b"x", "out": {}}))


def test_a_request_that_does_not_end_is_a_protocol_error() -> None:
    def dialogue(group: Group) -> Dialogue | None:
        def odd() -> Dialogue:
            yield [m.FileRequest(m.FileOp.OPEN, "in"), m.Done()]
            return []

        return odd() if is_execute(group) else None

    with pytest.raises(ProtocolError):
        execute(FilePeer([insert()], dialogue), ready({"in": b"x"}))


@pytest.mark.parametrize(
    ("sql", "function"),
    [
        (SQL, "filetoblob"),
        ("insert into t values (FileToClob ( '/tmp/x' , 'CLIENT'))", "FileToClob"),
        ("select lotofile(c, 'out!', 'client') from t", "lotofile"),
        ("select lotofile /* x */ (c, 'it''s', \"client\") from t", "lotofile"),
    ],
)
def test_client_files_in_sql_are_refused_before_sending_unless_registered(sql: str, function: str) -> None:
    with pytest.raises(NotSupportedError, match=function) as caught:
        next(execute_statement(new_session(), sql, (), ReadOptions()))
    assert "client_files" in str(caught.value)
    files = ClientFiles()
    files.register({"in": b""}, "utf-8")
    refuse_unregistered(sql, files)
    with pytest.raises(NotSupportedError, match="executemany"):
        refuse_in_pipeline(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "select 'filetoblob(''x'', ''client'')' from t",
        "select a -- filetoblob('x', 'client')\nfrom t",
        "insert into t values (filetoblob('x', 'server'))",
        "select lotofile from t",
        "select filetoblobs, 'client' from t",
    ],
)
def test_what_only_looks_like_client_files_is_sent(sql: str) -> None:
    refuse_unregistered(sql, ClientFiles())
    refuse_in_pipeline(sql)


def test_names_cannot_be_registered_twice() -> None:
    files = ClientFiles()
    files.register({"a": b"", "b": {}}, "utf-8")
    for name in ("a", "b", ""):
        with pytest.raises(InterfaceError, match="in use"):
            files.register({name: b""}, "utf-8")
    files.forget(["a"])
    files.register({"a": b"again"}, "utf-8")


def test_what_is_no_file_cannot_be_registered() -> None:
    with pytest.raises(InterfaceError, match="int"):
        ClientFiles().register({"a": 5}, "utf-8")


def test_an_empty_file_open_for_both_is_written_one_with_content_is_read() -> None:
    files = ClientFiles()
    files.register({"empty": io.BytesIO(), "full": io.BytesIO(b"abc")}, "utf-8")
    assert set(files.sinks) == {"empty"}
    assert set(files.sources) == {"full"}


def test_requests_may_come_in_any_reply() -> None:
    """The server may also ask in the reply to an SQ_COMMAND, which executes a statement, too."""
    found: list[bytes] = []
    session = ready({"in": b"abc"})
    peer = FilePeer([], lambda group: read_dialogue("in", (100, -1), found=found))
    reply = peer.run(request(session, (m.Command("insert ..."),)))
    assert reply.done == m.Done(rows=1)
    assert found == [b"abc"]
