"""Large objects, collections and ROWs as parameters, with a scripted peer (SQLI sections 9, 14 and 15)."""

from __future__ import annotations

import io
import random
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.operations.scripted_lob_peer import Dialogue, FilePeer
from tests.unit.operations.scripted_peer import FRAMING, Group, arrived, new_session, rows, select

from informix_arrow.operations.client_files import handle_file_request
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.executemany import execute_many
from informix_arrow.operations.fetch import ReadOptions, ServerCursor
from informix_arrow.operations.io_steps import ConnectionLost
from informix_arrow.operations.lob_parameters import bind_row, send_bound
from informix_arrow.operations.object_sources import OpenFile, content_source
from informix_arrow.operations.prepare import Outcome
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column, StatementType
from informix_arrow.wire.errors import DataError, Error, NotSupportedError
from informix_arrow.wire.messages import Describe, InputDescribe
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType

BYTE, TEXT = ColumnType.byte(), ColumnType.text()
BLOB, CLOB = ColumnType.parse_sql("BLOB"), ColumnType.parse_sql("CLOB")
INT = ColumnType.integer()
DATA = random.Random(9).randbytes(300_001)


class Server:
    """A table whose parameters have ``targets``. ``stored`` has the values of each execution by the statement's text:
    plain parameters as bytes, contents instead of descriptors, and contents of files."""

    def __init__(
        self, *targets: ColumnType, answers: dict[int, list[m.Message]] | None = None, piece: int = 1 << 20
    ) -> None:
        self.targets = targets
        self.answers = answers or {}  # the reply to the n-th execution
        self.prepared: list[str] = []
        self.released: list[int] = []
        self.stored: list[tuple[str, list[bytes | None], dict[str, bytes]]] = []
        self.peer = FilePeer(self.answer, self.dialogue, piece)
        self.executed = 0

    def answer(self, group: Group) -> Iterable[m.Message]:
        first, last = group[0], group[-1]
        if isinstance(first, m.Prepare):
            self.prepared.append(first.sql)
            columns = [Column(f"c{i}", target) for i, target in enumerate(self.targets)]
            return [Describe.of_columns(StatementType.INSERT, len(self.prepared) - 1, columns), m.Done()]
        if isinstance(last, m.InputDescribeRequest):
            return [InputDescribe(self.targets)]
        if isinstance(last, m.Release):
            assert isinstance(first, m.Id)
            self.released.append(first.statement_id)
        return []

    def dialogue(self, group: Group) -> Dialogue | None:
        return self.execution(group) if isinstance(group[-1], m.Execute) else None

    def execution(self, group: Group) -> Dialogue:
        assert isinstance(group[0], m.Id)
        sql = self.prepared[group[0].statement_id]
        contents, values = self.contents(group), list[bytes | None]()
        for message in group:
            if isinstance(message, m.Bind):
                for value in message.values:
                    if value.type in (11, 12) and value.data is not None:
                        content = next(contents)
                        assert int.from_bytes(value.data[16:20], "big") == len(content)
                        values.append(content)
                    else:
                        values.append(value.data)
        files = {}
        for name in [word for word in sql.split("'") if word.startswith("ifx_arrow")]:
            answer = yield [m.FileRequest(m.FileOp.OPEN, name)]
            assert isinstance(answer, m.FileAnswer)
            answer = yield [m.FileRequest(m.FileOp.READ, buffer_size=32000, amount=-1)]
            if isinstance(answer, m.Err):
                return [m.Err(-9810, near=name)]
            files[name] = answer.data
            yield [m.FileRequest(m.FileOp.CLOSE)]
        self.stored.append((sql, values, files))
        self.executed += 1
        return self.answers.get(self.executed - 1, [m.Done(rows=1)])

    @staticmethod
    def contents(group: Group) -> Any:
        data = b""
        count = sum(message.count for message in group if isinstance(message, m.BlobBind))
        for message in group:
            if isinstance(message, m.BlobChunk):
                assert len(message.data) <= 1024
                data += message.data
                if not message.data:
                    count -= 1
                    yield data
                    data = b""
        assert (count, data) == (0, b"")


def insert(server: Server, *values: object, session: Session | None = None) -> Outcome:
    marks = ", ".join("?" * len(values))
    sql = f"insert into t values ({marks})"
    outcome = server.peer.run(
        execute_statement(session or new_session(autocommit=True), sql, values, ReadOptions())
    )
    assert isinstance(outcome, Outcome)
    return outcome


def in_chunks(data: bytes) -> io.RawIOBase:
    """Return a file that reads at most seven bytes at a time, and cannot seek."""

    class Pipe(io.RawIOBase):
        left = data

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            size = 7 if size < 0 else min(size, 7)
            part, self.left = self.left[:size], self.left[size:]
            return part

    return Pipe()


KINDS: list[Callable[[bytes], object]] = [bytes, bytearray, memoryview, io.BytesIO, in_chunks]


@parametrize_in_one_test("kind", KINDS, ids=["bytes", "bytearray", "memoryview", "file", "pipe"])
@parametrize_in_one_test("size", [0, 1, 2, 1023, 1024, 1025, 2048, 70_001])
@parametrize_in_one_test("piece", [1, 3, 1 << 20])
def test_byte_and_blob_take_bytes_of_every_kind(
    kind: Callable[[bytes], object], size: int, piece: int
) -> None:
    """The replies may arrive in pieces of any size, including requests for files."""
    data = DATA[:size]
    server = Server(BYTE, BLOB, TEXT, CLOB, INT, piece=piece)
    session = new_session(autocommit=True)
    outcome = insert(server, *[kind(data) for _ in range(4)], 12345, session=session)
    assert outcome.rows == 1
    (_, values, files) = server.stored[0]
    assert values == [data, data, (12345).to_bytes(4, "big")]
    assert list(files.values()) == [data, data]
    assert server.prepared[1].startswith("insert into t values (?, filetoblob('ifx_arrow")
    assert "?, filetoclob('ifx_arrow" in server.prepared[1]
    assert server.prepared[1].endswith("','client'), ?)")
    assert sorted(server.released) == [0, 1]
    assert not session.files
    assert session.outstanding_requests == 0


@pytest.mark.parametrize("text", ["", "x", "näme", "ÿ" * 2000])
def test_text_and_clob_take_str_and_text_files_in_the_database_code_set(text: str) -> None:
    server = Server(TEXT, CLOB, TEXT, CLOB, INT)
    insert(server, text, text, io.StringIO(text), io.StringIO(text), 12345)
    raw = text.encode("latin-1")
    _, values, files = server.stored[0]
    assert values == [raw, raw, (12345).to_bytes(4, "big")]
    assert list(files.values()) == [raw, raw]


def test_a_text_file_on_disk_is_encoded_and_left_open(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_text("größe\r\n" * 50_000, encoding="utf-8", newline="")
    server = Server(TEXT, INT)
    with path.open(encoding="utf-8", newline="") as file:
        insert(server, file, 12345)
        assert not file.closed
    assert server.stored[0][1][0] == ("größe\r\n" * 50_000).encode("latin-1")


def test_a_file_is_sent_from_where_it_stands() -> None:
    file = io.BytesIO(b"0123456789")
    file.seek(4)
    server = Server(BYTE, BLOB)
    other = io.BytesIO(b"0123456789")
    other.seek(9)
    insert(server, file, other)
    assert server.stored[0][1] == [b"456789"]
    assert list(server.stored[0][2].values()) == [b"9"]


def test_targets_are_asked_only_when_that_is_necessary() -> None:
    server = Server(INT, INT)
    insert(server, 1, 2)
    assert "Id InputDescribeRequest" not in server.peer.names()
    server = Server(INT, TEXT)
    insert(server, 1, 2)  # described as TEXT: a str would have to be sent as one
    assert server.peer.names().count("Id InputDescribeRequest") == 1


def test_null_stays_a_plain_null() -> None:
    server = Server(BYTE, BLOB, TEXT, CLOB, INT)
    insert(server, None, None, None, None, 12345)
    assert server.stored[0] == (server.prepared[0], [None] * 4 + [(12345).to_bytes(4, "big")], {})


@pytest.mark.parametrize(
    ("target", "value", "match"),
    [
        (BYTE, "text", "Parameter 2: A str cannot be stored in a BYTE"),
        (BLOB, "text", "A str cannot be stored in a BLOB"),
        (INT, b"bytes", "Bytes can be stored in BYTE, TEXT, BLOB and CLOB, not in INTEGER"),
        (ColumnType.varchar(20), b"bytes", "not in VARCHAR"),
        (INT, io.BytesIO(b""), "A file object can be stored in"),
        (TEXT, "\u20ac", "U\\+20AC"),
        (TEXT, io.StringIO("abc\u20ac"), "U\\+20AC"),
        (CLOB, "\udcff", "U\\+DCFF"),
        (ColumnType.varchar(20), "\udcff", "U\\+DCFF"),
        (INT, [1, 2], "type list cannot be sent as a parameter for INTEGER"),
    ],
)
def test_what_a_target_cannot_hold_is_refused_by_number_before_anything_runs(
    target: ColumnType, value: object, match: str
) -> None:
    server, session = Server(INT, target), new_session(autocommit=True)
    with pytest.raises(DataError, match=match) as caught:
        insert(server, 1, value, session=session)
    assert str(caught.value).startswith("Parameter 2: ")
    assert session.usable_after(caught.value)
    assert not any("Execute" in name for name in server.peer.names())
    assert len(server.released) == len(server.prepared)


def test_sql_text_that_the_code_set_lacks_is_refused_before_sending() -> None:
    server, session = Server(INT), new_session()
    for text in ("select '\u20ac'", "select '\udcff'"):
        with pytest.raises(DataError, match="does not exist"):
            server.peer.run(execute_statement(session, text, (), ReadOptions()))
    assert server.peer.groups == []


def test_an_error_of_a_file_object_passes_through_and_costs_nothing() -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            raise OSError("no such tape")

    for target in (BYTE, BLOB):
        server, session = Server(target), new_session(autocommit=True)
        with pytest.raises(OSError, match="no such tape") as caught:
            insert(server, Broken(), session=session)
        assert session.usable_after(caught.value)
        assert server.stored == []
        assert len(server.released) == 1


def test_a_file_that_ends_early_leaves_the_row_out_and_the_session_in_step() -> None:
    """Half of the content has been sent already, so the group ends without SQ_EXECUTE (JDBC section 6)."""

    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) if self.tell() < 200_000 else b""

    server, session = Server(BYTE, TEXT, INT), new_session(autocommit=True)
    with pytest.raises(DataError, match="ended") as caught:
        insert(server, Shrinking(DATA), "second", 12345, session=session)
    assert session.usable_after(caught.value)
    assert server.stored == []
    assert server.peer.groups[-2][-1] == m.BlobChunk(b"")
    bound = [message for message in server.peer.groups[-2] if isinstance(message, m.BlobChunk)]
    assert sum(not chunk.data for chunk in bound) == 2
    assert insert(server, b"x", "y", 1, session=session).rows == 1


def test_a_file_behind_a_blob_that_ends_early_ends_the_connection() -> None:
    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) if self.tell() < 200_000 else b""

    server, session = Server(BLOB), new_session(autocommit=True)
    with pytest.raises(ConnectionLost, match="while it was sent") as caught:
        insert(server, Shrinking(DATA), session=session)
    assert not session.usable_after(caught.value)
    assert not session.files


def test_the_servers_error_is_raised_and_everything_released() -> None:
    server = Server(BYTE, BLOB, answers={0: [m.Err(-268, -100, 0, "u1")]})
    session = new_session(autocommit=True)
    with pytest.raises(Error) as caught:
        insert(server, b"a", b"b", session=session)
    assert caught.value.sqlcode == -268
    assert caught.value.statement == "insert into t values (?, ?)"
    assert session.usable_after(caught.value)
    assert sorted(server.released) == [0, 1]
    assert not session.files


def drained(exchange: Any) -> tuple[int, int, int]:
    """Return the number of bytes sent, the largest send, and the most memory allocated meanwhile."""
    total = largest = 0
    tracemalloc.start()
    try:
        for step in exchange:
            total += len(step.data)
            largest = max(largest, len(step.data))
        return total, largest, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_twenty_megabytes_of_byte_are_not_copied_as_a_whole() -> None:
    session, data = new_session(), bytes(20 << 20)
    parameters = bind_row(session, (data,), (BYTE,))
    total, largest, peak = drained(send_bound(session, (m.Id(1),), parameters, (m.Execute(),)))
    assert total > len(data)
    assert largest < 600_000
    assert peak < 4 << 20


def test_twenty_megabytes_of_blob_are_not_copied_as_a_whole() -> None:
    session, data = new_session(), bytes(20 << 20)
    parameters = bind_row(session, (data,), (BLOB,))
    session.files.opened = OpenFile("x", source=parameters.files[0][2])
    arrived(session, m.EndOfTurn())
    total, largest, peak = drained(
        handle_file_request(session, m.FileRequest(m.FileOp.READ, buffer_size=32000, amount=-1))
    )
    assert total > len(data)
    assert largest < 600_000
    assert peak < 4 << 20


def many(server: Server, rows_: Iterable[Sequence[object]], session: Session) -> Any:
    count = len(server.targets)
    sql = f"insert into t values ({', '.join('?' * count)})"
    return server.peer.run(execute_many(session, sql, count, rows_))


def test_many_rows_with_nulls_mixed_in() -> None:
    """BLOB: one rewritten statement for each set of values that are not NULL, prepared once each."""
    server, session = Server(BYTE, BLOB, CLOB, INT), new_session(autocommit=True)
    given: list[tuple[object, ...]] = [
        (None, None, None, 0),
        (b"a", b"b", "c", 1),
        (b"", None, "", 2),
        (None, io.BytesIO(b"file"), None, 3),
        (memoryview(b"view"), bytearray(b"array"), "text", 4),
        (None, None, None, 5),
    ]
    outcome = many(server, iter(given), session)
    assert (outcome.executed, outcome.rows, outcome.errors) == (6, 6, [])
    assert [values[0] for _, values, _ in server.stored] == [None, b"a", b"", None, b"view", None]
    assert [list(files.values()) for _, _, files in server.stored] == [
        [], [b"b", b"c"], [b""], [b"file"], [b"array", b"text"], [],
    ]  # fmt: skip
    assert [values[-1] for _, values, _ in server.stored] == [n.to_bytes(4, "big") for n in range(6)]
    assert len(server.prepared) == 4
    assert sorted(server.released) == [0, 1, 2, 3]


def test_a_refused_row_of_many_is_collected_and_the_others_go_in() -> None:
    server = Server(BYTE, BLOB, answers={1: [m.Err(-268)]})
    session = new_session(autocommit=True)
    outcome = many(server, [(b"a", b"b"), (b"c", b"d"), (b"e", b"f")], session)
    assert (outcome.executed, outcome.rows) == (3, 2)
    assert [(error.sqlcode, error.row) for error in outcome.errors] == [(-268, 1)]


@pytest.mark.parametrize("bad", [(b"a", "no bytes"), (b"a",), "ab", 5])
def test_a_row_of_many_that_cannot_be_sent_ends_the_run(bad: object) -> None:
    server, session = Server(BYTE, BLOB), new_session(autocommit=True)
    with pytest.raises(Error) as caught:
        many(server, [(b"a", b"b"), bad, (b"e", b"f")], session)  # type: ignore[list-item]
    assert session.usable_after(caught.value)
    assert caught.value.row == 1
    assert len(server.stored) == 1
    assert len(server.released) == len(server.prepared)


def test_rows_that_fail_to_come_end_the_run() -> None:
    def given() -> Iterable[Sequence[object]]:
        yield (b"a", b"b")
        raise KeyError("rows")

    server, session = Server(BYTE, BLOB), new_session(autocommit=True)
    with pytest.raises(KeyError) as caught:
        many(server, given(), session)
    assert session.usable_after(caught.value)
    assert len(server.stored) == 1


def test_no_rows_at_all_are_fine() -> None:
    server = Server(BYTE, BLOB)
    outcome = many(server, [], new_session(autocommit=True))
    assert outcome.executed == 0
    assert server.stored == []


def test_a_server_that_does_not_describe_parameters_gets_bytes_as_byte() -> None:
    server = Server(INT)
    framing = replace(FRAMING, describe_input=False)
    insert(server, b"abc", session=new_session(framing=framing, autocommit=True))
    assert server.stored[0][1] == [b"abc"]


@pytest.mark.parametrize("target", [BYTE, TEXT])
def test_a_query_takes_byte_and_text_too(target: ColumnType) -> None:
    """EXECUTE FUNCTION f(?) with rows: the contents follow SQ_BIND in the group of the OPEN."""

    def answer(group: Group) -> Iterable[m.Message]:
        if isinstance(group[0], m.Prepare):
            return select()
        if isinstance(group[-1], m.InputDescribeRequest):
            return [InputDescribe((target,))]
        if isinstance(group[-1], m.Fetch):
            return [*rows(1), m.Done()]
        return []

    peer = FilePeer(answer, lambda group: None)
    session = new_session()
    cursor = peer.run(execute_statement(session, "execute function f(?)", (b"abc" * 1000,), ReadOptions()))
    assert isinstance(cursor, ServerCursor)
    opening = " ".join(peer.names()[2].split())
    assert opening == "Id CursorName Bind BlobBind BlobChunk BlobChunk BlobChunk BlobChunk Open Id Fetch"
    peer.run(cursor.close(session))
    assert session.outstanding_requests == 0
    target = BLOB
    with pytest.raises(NotSupportedError, match="BLOB and CLOB"):
        peer.run(execute_statement(session, "execute function f(?)", (b"abc",), ReadOptions()))


def test_the_bytes_of_a_bound_byte_value() -> None:
    """SQLI section 14: descriptor with the size at 16, BBIND, pieces, an empty one, then EXECUTE."""
    server = Server(BYTE, INT)
    sent = b""
    original = server.peer.take

    def take(data: bytes) -> None:
        nonlocal sent
        sent += data
        original(data)

    server.peer.take = take  # type: ignore[method-assign]
    insert(server, b"abc", 7)
    descriptor = bytes(16) + bytes.fromhex("00000003") + bytes(36)
    expected = (
        bytes.fromhex("0004 0000 0005 0002 000b 0000 0000")
        + descriptor
        + bytes.fromhex("0002 0000 0a00 00000007 0029 0001 0027 0003 61626300 0027 0000 0007 000c")
    )
    assert expected in sent


def test_collections_and_rows_become_literals() -> None:
    targets = [ColumnType.parse_sql(text) for text in ("SET(INTEGER NOT NULL)", "LIST(VARCHAR(20) NOT NULL)")]
    server = Server(*targets, INT)
    insert(server, [1, 2], ["a'b", "ö"], 12345)
    texts = []
    for value in server.stored[0][1][:2]:
        assert value is not None
        texts.append(Reader(value).pstr() if len(value) % 2 == 0 else value[2:])
    assert [text.decode("latin-1").replace(" ", "") for text in texts] == ["SET{1,2}", "LIST{'a''b','ö'}"]


def test_sources_read_any_part_any_number_of_times() -> None:
    for value in (DATA, io.BytesIO(DATA), in_chunks(DATA)):
        source = content_source(value, "utf-8")
        assert source.size == len(DATA)
        for offset, count in ((5, 100), (0, 10), (299_000, 1001), (5, 100)):
            assert bytes(source.read(offset, count)) == DATA[offset : offset + count]
        source.close()


def test_a_view_that_is_not_contiguous_is_sent_in_its_own_order() -> None:
    assert bytes(content_source(memoryview(b"abcdef")[::2], "utf-8").read(0, 3)) == b"ace"
    import array

    assert content_source(memoryview(array.array("h", [1, 2])), "utf-8").size == 4


def test_bytes_that_come_unannounced_in_a_later_row_are_refused() -> None:
    """The server would wait if a descriptor were sent without contents after it."""
    server, session = Server(INT), new_session(autocommit=True)
    with pytest.raises(DataError, match="Parameter 1 has bytes in a row") as caught:
        many(server, [(None,), (b"late",)], session)
    assert session.usable_after(caught.value)
    assert caught.value.row == 1
    assert len(server.stored) == 1


def test_many_small_byte_values_go_a_window_at_a_time() -> None:
    """200 rows: the groups of 64 rows at a time are sent before their replies are read."""
    server, session = Server(BYTE, INT), new_session(autocommit=True)
    outcome = many(server, [(b"x" * (number % 7), number) for number in range(200)], session)
    assert (outcome.executed, outcome.rows) == (200, 200)
    assert [values[0] for _, values, _ in server.stored] == [b"x" * (number % 7) for number in range(200)]
    steps = "".join(step[0] for step in server.peer.steps)
    assert "S" * 64 in steps
    assert "S" * 66 not in steps


def test_large_byte_values_do_not_pile_up() -> None:
    server, session = Server(BYTE), new_session(autocommit=True)
    outcome = many(server, [(DATA,) for _ in range(5)], session)
    assert outcome.rows == 5
    runs = "".join(step[0] for step in server.peer.steps).split("R")
    assert max(map(len, runs)) < 6


def test_a_file_that_ends_early_in_a_window_leaves_the_rows_before_it_in_effect() -> None:
    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) if self.tell() < 200_000 else b""

    server, session = Server(BYTE, INT), new_session(autocommit=True)
    rows_: list[Sequence[object]] = [(b"a", 1), (b"b", 2), (Shrinking(DATA), 3), (b"d", 4)]
    with pytest.raises(DataError, match="ended") as caught:
        many(server, rows_, session)
    assert caught.value.row == 2
    assert session.usable_after(caught.value)
    assert [values[0] for _, values, _ in server.stored] == [b"a", b"b"]
    assert insert(server, b"x", 1, session=session).rows == 1
