"""Large objects with malicious servers and defective file objects: no content is truncated, no reply is misread."""

from __future__ import annotations

import array
import io
from collections.abc import Callable, Iterable

import pytest
from tests.unit.operations.scripted_lob_peer import Dialogue, FilePeer, LobServer, locator
from tests.unit.operations.scripted_peer import Group, Peer, arrived, insert, new_session
from tests.unit.operations.test_client_files import (
    SQL,
    execute,
    is_execute,
    read_dialogue,
    ready,
    write_dialogue,
)
from tests.unit.operations.test_lob_parameters import BLOB, BYTE, CLOB, INT, TEXT, Server
from tests.unit.operations.test_lob_parameters import insert as insert_values

from informix_arrow.operations.client_files import handle_file_request
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.executemany import execute_many
from informix_arrow.operations.fetch import ReadOptions
from informix_arrow.operations.message_stream import next_message
from informix_arrow.operations.object_sources import ClientFiles
from informix_arrow.operations.prepare import Outcome
from informix_arrow.operations.request_reply import IGNORED_REPLY, drain_pending_replies
from informix_arrow.operations.smart_objects import SmartObjectReader
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.errors import DataError, InterfaceError, OperationalError, ProtocolError
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.types import ColumnType


class Stubborn(io.RawIOBase):
    """A non-blocking pipe: it returns None while its bytes have not arrived."""

    def __init__(self, *parts: object) -> None:
        self.pieces = list(parts)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        return self.pieces.pop(0) if size and self.pieces else b""  # type: ignore[return-value]


class Odd(io.BytesIO):
    """A seekable file whose reads return ``make`` of the bytes."""

    def __init__(self, make: Callable[[bytes], object], content: bytes = b"abcd" * 1000) -> None:
        super().__init__(content)
        self.answer = make

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        return self.answer(data) if size else b""  # type: ignore[return-value]


@pytest.mark.parametrize("target", [BYTE, TEXT, BLOB, CLOB], ids=lambda target: target.sql)
@pytest.mark.parametrize(
    "parts", [(b"abc", None, b"def"), (b"abc", "def"), (None,)], ids=["later", "str", "none"]
)
def test_a_pipe_that_says_none_is_not_at_its_end(target: ColumnType, parts: tuple[object, ...]) -> None:
    """Regression: None was taken for the end, so the beginning of the content was stored as the whole."""
    server, session = Server(target, INT), new_session(autocommit=True)
    with pytest.raises(DataError, match=r"None|not bytes") as caught:
        insert_values(server, Stubborn(*parts), 12345, session=session)
    assert session.usable_after(caught.value)
    assert server.stored == []


@pytest.mark.parametrize("target", [BYTE, TEXT, BLOB], ids=lambda target: target.sql)
@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda data: data.decode(), "str, not bytes"),
        (lambda data: data + b"more", "returned 4004 bytes where 4000"),
        (lambda data: None, "returned None"),
        (lambda data: b"", "ended 4000 bytes before"),
        (lambda data: array.array("i", [1]), "array, not bytes"),
    ],
    ids=["str", "more", "none", "nothing", "array"],
)
def test_a_file_that_reads_wrongly_costs_its_row_and_no_more(
    target: ColumnType, make: Callable[[bytes], object], complaint: str
) -> None:
    server, session = Server(target, INT), new_session(autocommit=True)
    with pytest.raises(DataError, match=complaint) as caught:
        insert_values(server, Odd(make), 12345, session=session)
    assert session.usable_after(caught.value)
    assert server.stored == []
    assert insert_values(server, b"good", 1, session=session).rows == 1
    assert [*server.stored[0][1], *server.stored[0][2].values()].count(b"good") == 1


def test_a_view_of_wide_items_counts_its_bytes() -> None:
    for target in (BYTE, BLOB):
        server = Server(target, INT)
        file = Odd(lambda data: memoryview(data).cast("i") if len(data) % 4 == 0 else data)
        insert_values(server, file, 12345)
        assert b"abcd" * 1000 in [*server.stored[0][1], *server.stored[0][2].values()]


def test_an_error_of_a_blob_s_file_passes_through_before_anything_was_announced() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if size:
                raise OSError("no such tape")
            return b""

    server, session = Server(BLOB, INT), new_session(autocommit=True)
    with pytest.raises(OSError, match="no such tape") as caught:
        insert_values(server, Broken(b"abc"), 12345, session=session)
    assert session.usable_after(caught.value)
    assert session.idle_timeout is None


def test_a_file_that_takes_a_part_at_a_time_gets_all() -> None:
    class Slow(io.RawIOBase):
        taken = b""

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.taken += data[:3]
            return min(len(data), 3)

    slow = Slow()
    peer = FilePeer(
        [insert()], lambda g: write_dialogue("out.1", b"abcdefgh", b"ij") if is_execute(g) else None
    )
    execute(peer, ready({"out": slow}))
    assert slow.taken == b"abcdefghij"


@pytest.mark.parametrize("taken", [None, 0, 99, -1])
def test_a_raw_file_that_takes_nothing_is_an_error(taken: int | None) -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int | None:
            return taken

    peer = FilePeer([insert()], lambda g: write_dialogue("out.1", b"abc") if is_execute(g) else None)
    session = ready({"out": Full()})
    with pytest.raises(OperationalError, match=r"write\(\)") as caught:
        execute(peer, session)
    assert session.usable_after(caught.value)


def test_an_object_whose_write_says_nothing_is_believed() -> None:
    class Sink:
        taken = b""

        def write(self, data: bytes) -> None:
            self.taken += data

    sink = Sink()
    peer = FilePeer([insert()], lambda g: write_dialogue("out.1", b"abc", b"d") if is_execute(g) else None)
    execute(peer, ready({"out": sink}))
    assert sink.taken == b"abcd"


def test_a_mapping_that_fails_is_reported_to_the_caller() -> None:
    class Full(dict[str, bytes]):
        def __setitem__(self, name: str, data: bytes) -> None:
            raise KeyError("no room")

    peer = FilePeer([insert()], lambda g: write_dialogue("out.1", b"abc") if is_execute(g) else None)
    session = ready({"out": Full()})
    with pytest.raises(OperationalError, match="no room") as caught:
        execute(peer, session)
    assert session.usable_after(caught.value)


def half_written(*, error: bool) -> Callable[[Group], Dialogue | None]:
    """Return a dialogue that opens a file and writes to it, but never closes it."""

    def dialogue() -> Dialogue:
        yield [m.FileRequest(m.FileOp.OPEN, "out.1", 0o666, 0o1101)]
        yield [m.FileRequest(m.FileOp.WRITE), m.FileWrite(b"half")]
        return [m.Err(-206, near="t")] if error else [m.Done(rows=1)]

    return lambda group: dialogue() if is_execute(group) else None


def test_a_file_that_the_server_does_not_close_is_no_result() -> None:
    files: dict[str, bytes] = {}
    session = ready({"out": files})
    with pytest.raises(OperationalError, match="did not close") as caught:
        execute(FilePeer([insert()], half_written(error=False)), session)
    assert session.usable_after(caught.value)
    assert files == {}


def test_a_file_left_open_by_an_error_does_not_hinder_the_next_statement() -> None:
    files: dict[str, bytes] = {}
    session = ready({"out": files})
    peer = FilePeer([insert()], half_written(error=True))
    with pytest.raises(Exception, match="-206"):
        execute(peer, session)
    peer.run(drain_pending_replies(session))
    peer = FilePeer([insert()], lambda g: write_dialogue("out.2", b"whole") if is_execute(g) else None)
    execute(peer, session)
    assert files == {"out.2": b"whole"}


def test_a_file_that_was_left_open_cannot_be_read_once_it_is_withdrawn() -> None:
    """The file's content belongs to the block that registered it."""
    for name, value in (("in", b"secret"), ("out", dict[str, bytes]())):
        files = ClientFiles()
        files.register({name: value}, "latin-1")
        session = new_session(client_files=files)
        arrived(session, m.EndOfTurn())
        FilePeer([], lambda group: None).run(handle_file_request(session, m.FileRequest(m.FileOp.OPEN, name)))
        assert files.opened is not None
        files.forget([name])
        assert files.opened is None


@pytest.mark.parametrize("name", ["", "!"])
def test_a_name_that_begins_every_name_cannot_be_registered(name: str) -> None:
    with pytest.raises(InterfaceError, match="empty"):
        ClientFiles().register({name: {}}, "latin-1")


@pytest.mark.parametrize("name", ["/etc/passwd", "../in", "IN", "in ", "", "in\0"])
def test_only_the_very_name_is_served(name: str) -> None:
    peer = FilePeer([insert()], lambda group: read_dialogue(name, (100, -1)) if is_execute(group) else None)
    session = ready({"in": b"content"})
    with pytest.raises(OperationalError, match="no such name") as caught:
        execute(peer, session, SQL)
    assert session.usable_after(caught.value)


def test_a_request_in_a_reply_that_nobody_waits_for_ends_the_connection() -> None:
    """The SQ_EOT of the request must not be taken for the end of the reply: the server waits for the file."""
    session = ready({"in": b"content"})
    session.pending_replies.append(IGNORED_REPLY)
    peer = Peer([])
    framing = session.framing
    peer.outgoing += m.FileRequest(m.FileOp.OPEN, "in").encode(framing) + m.EndOfTurn().encode(framing)
    with pytest.raises(ProtocolError, match="client file") as caught:
        peer.run(drain_pending_replies(session))
    assert not session.usable_after(caught.value)


def test_a_request_in_the_middle_of_a_pipeline_ends_the_connection() -> None:
    session = ready({"in": b"content"})
    answers: list[list[m.Message]] = [insert(), [m.FileRequest(m.FileOp.OPEN, "in")], [m.Done(rows=1)]]
    with pytest.raises(ProtocolError, match="client file") as caught:
        Peer(answers).run(
            execute_many(session, "insert into t values (?, ?, ?)", 3, [(1, "a", 2), (2, "b", 3)])
        )
    assert not session.usable_after(caught.value)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ("0061 0000 7fffffff", "2147483647 bytes where"),
        ("0061 0000 00010001", "65537 bytes where 65536"),
        ("0061 0002 00000000", "operation 2"),
        ("0061 0000 00000000 0000 000c 0061 0000 00000001 0001 61 00 000c", "after its end"),
    ],
)
def test_a_read_that_brings_what_was_not_asked_for_ends_the_connection(bad: str, complaint: str) -> None:
    class Bad(Peer):
        lied = False

        def answer(self, group: list[m.Message]) -> None:
            if isinstance(group[0], m.LoData) and not self.lied:
                self.lied = True
                self.outgoing += bytes.fromhex(bad)
            else:
                super().answer(group)

    session = new_session()
    reads = SmartObjectReader()
    with pytest.raises(ProtocolError, match=complaint) as caught:
        Bad(LobServer(smart={1: b"abc"})).run(reads.begin(session, [((0, 0), locator(1), False)]))
    assert not session.usable_after(caught.value)


@pytest.mark.parametrize("size", [2**31 - 1, 2**30])
def test_a_message_that_announces_gigabytes_is_not_made_room_for(size: int) -> None:
    """The buffer grows with received bytes, never with the announced length."""
    session = new_session()
    peer = Peer([])
    peer.hang_up = True
    peer.outgoing += b"\x00\x0e" + bytes(2) + size.to_bytes(4, "big") + bytes(100)
    with pytest.raises((ProtocolError, OperationalError)):
        peer.run(next_message(session))
    assert len(session.buffer.data) < 1 << 20


def test_a_file_of_an_earlier_block_is_a_name_that_was_never_registered() -> None:
    session = ready({"in": b"content"})
    peer = FilePeer([insert()], lambda g: read_dialogue("in", (100, -1)) if is_execute(g) else None)
    execute(peer, session)
    peer.run(drain_pending_replies(session))
    session.files.forget(["in"])
    session.files.register({"other": b"x"}, "latin-1")
    peer = FilePeer([insert()], lambda g: read_dialogue("in", (100, -1)) if is_execute(g) else None)
    with pytest.raises(OperationalError, match="no such name"):
        execute(peer, session)


class Updates(Server):
    """A server that describes an UPDATE without columns and refuses text in place of content, like real servers."""

    asked = 0

    def answer(self, group: Group) -> Iterable[m.Message]:
        if isinstance(group[0], m.Prepare):
            self.prepared.append(group[0].sql)
            return [Describe.of_columns(StatementType.UPDATE, len(self.prepared) - 1, ()), m.Done()]
        self.asked += isinstance(group[-1], m.InputDescribeRequest)
        return super().answer(group)

    def dialogue(self, group: Group) -> Dialogue | None:
        def refused() -> Dialogue:
            return [m.Err(-617)]
            yield

        bound = [message.values for message in group if isinstance(message, m.Bind)]
        wrong = any(
            target == TEXT and value.type not in (11, 12) and value.data is not None
            for values in bound
            if len(values) == len(self.targets)
            for value, target in zip(values, self.targets, strict=True)
        )
        return refused() if wrong else super().dialogue(group)


@pytest.mark.parametrize("target", [TEXT, CLOB], ids=lambda target: target.sql)
def test_a_str_in_an_update_finds_its_text_column(target: ColumnType) -> None:
    server, session = Updates(target, INT), new_session(autocommit=True)
    sql = "update t set x = ? where id = ?"
    outcome = server.peer.run(execute_statement(session, sql, ("größe", 12345), ReadOptions()))
    assert isinstance(outcome, Outcome)
    assert outcome.rows == 1
    stored = [*server.stored[-1][1], *server.stored[-1][2].values()]
    assert "größe".encode("latin-1") in stored
    assert server.asked == 1


@pytest.mark.parametrize("first", ["erste", None, ""])
def test_many_updates_of_a_text_column_begin_with_whatever_they_like(first: str | None) -> None:
    server, session = Updates(TEXT, INT), new_session(autocommit=True)
    rows = [(first, 1), ("zweite", 2), (None, 3), ("", 4)]
    outcome = server.peer.run(execute_many(session, "update t set x = ? where id = ?", 2, rows))
    assert (outcome.rows, outcome.errors) == (4, [])
    contents = [values[0] for _, values, _ in server.stored]
    assert contents == [None if text is None else text.encode() for text, _ in rows]


def test_an_update_that_is_refused_for_another_reason_is_not_tried_again() -> None:
    server, session = Updates(INT, INT, answers={0: [m.Err(-617)]}), new_session(autocommit=True)
    with pytest.raises(Exception, match="-617"):
        server.peer.run(
            execute_statement(session, "update t set n = ? where id = ?", ("5", 1), ReadOptions())
        )
    assert server.executed == 1
    assert server.asked == 1
