"""Reading BYTE, TEXT, BLOB and CLOB contents with a scripted peer (SQLI sections 14 to 16)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.internals import batch_of
from tests.stress import LONG_SOAK_ONLY
from tests.unit.operations.scripted_lob_peer import CLOSE, LobServer, descriptor, locator
from tests.unit.operations.scripted_peer import Group, Peer, new_session

from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.large_objects import ObjectContents, ObjectReader, read_blob
from informix_arrow.operations.message_stream import encode_group
from informix_arrow.operations.object_streams import read_blob_reply
from informix_arrow.operations.request_reply import drain_pending_replies, send_all
from informix_arrow.operations.result_description import ObjectColumn
from informix_arrow.operations.session import Session
from informix_arrow.operations.smart_objects import FIRST_READ_BYTES, READ_BYTES, read_object
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column, StatementType
from informix_arrow.wire.errors import DataError, Error, OperationalError, ProtocolError
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import ColumnType

PHOTO = ObjectColumn(1, "photo", smart=False, text=False, exact=True)
NOTE = ObjectColumn(1, "note", smart=False, text=True, exact=False)
FILM = ObjectColumn(2, "film", smart=True, text=False, exact=False)
STORY = ObjectColumn(2, "story", smart=True, text=True, exact=False)

CONTENTS: dict[int, bytes] = {
    0: b"",
    1: b"x",
    2: bytes(range(256)),
    3: b"odd" * 333,
    4: b"even" * 500,
    5: random.Random(5).randbytes(5001),
    6: b"\x00\x0c" * 7,  # looks like SQ_EOT
    7: b"\x00\x27\x00\x00",  # looks like an end mark
}


def batch(
    *numbers: int | None, contents: dict[int, bytes] = CONTENTS, hexadecimal: bool = True
) -> pa.RecordBatch:
    """Return a batch with an id, a descriptor, a locator and a sentinel. None is a NULL."""

    def size(number: int) -> int:
        content = contents.get(number, b"")
        return len(content) if isinstance(content, bytes) else 3

    handles = [None if number is None else descriptor(number, size(number)) for number in numbers]
    places = [None if number is None else locator(number) for number in numbers]
    if hexadecimal:
        places = [None if place is None else place.hex().encode() for place in places]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(range(len(numbers)), pa.int32()),
            pa.array(handles, pa.binary(56)),
            pa.array(places, pa.binary()),
            pa.array([12345] * len(numbers), pa.int32()),
        ],
        names=["id", "photo", "film", "sentinel"],
    )


def reader(*columns: ObjectColumn, budget: int = 16 << 20) -> ObjectReader:
    return ObjectReader(4, "select", columns, budget)


def values(filled: ObjectContents, column: ObjectColumn) -> list[bytes | None]:
    found: list[bytes | None] = filled.contents[column.index].to_arrow(filled.rows).to_pylist()
    return found


def read_all(
    peer: Peer, session: Session, objects: ObjectReader, rows: pa.RecordBatch
) -> tuple[dict[str, list[bytes | None]], list[int], Error | None]:
    """Return all contents by column, the sizes of the pieces, and the error that ended them."""
    found: dict[str, list[bytes | None]] = {column.name: [] for column in objects.columns}
    pieces: list[int] = []
    start = 0
    while start < rows.num_rows:
        filled = peer.run(objects.read(session, rows, start, 0))
        for column in objects.columns:
            found[column.name] += values(filled, column)
        if filled.rows:
            pieces.append(filled.rows)
        start += filled.rows
        if filled.error is not None:
            return found, pieces, filled.error
    return found, pieces, None


@parametrize_in_one_test("piece", [1, 2, 3, 5, 64, 1001, 1 << 20])
@parametrize_in_one_test("columns", [(PHOTO,), (FILM,), (PHOTO, FILM), (NOTE, STORY)], ids=str)
def test_contents_come_whole_in_any_way_that_the_network_cuts_them(
    piece: int, columns: tuple[ObjectColumn, ...]
) -> None:
    numbers = [3, None, 0, 1, 2, 7, 6, None, 4, 5, 5]
    server = LobServer(dict(CONTENTS), dict(CONTENTS))
    peer, session = Peer(server, piece), new_session()
    found, pieces, error = read_all(peer, session, reader(*columns), batch(*numbers))
    expected = [None if number is None else CONTENTS[number] for number in numbers]
    assert found == {column.name: expected for column in columns}
    assert (pieces, error) == ([len(numbers)], None)
    peer.run(drain_pending_replies(session))
    assert (session.outstanding_requests, len(session.pending_replies), len(session.buffer)) == (0, 0, 0)
    assert server.open == {}


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=LONG_SOAK_ONLY)])
def test_contents_survive_a_cut_at_every_byte(every: int) -> None:
    """The first receive ends at each byte of the replies in turn, or at every third."""
    small = {0: b"", 1: b"a", 2: b"ab", 3: b"abc"}
    rows = batch(0, 1, None, 2, 3, contents=small)
    for cut in range(1, 700, every):

        class Cut(Peer):
            first = True

            def deliver(self, into: memoryview) -> int:
                self.piece = cut if self.first else 1 << 20  # noqa: B023 - used within its turn
                self.first = False
                return super().deliver(into)

        server = LobServer(dict(small), dict(small), piece=2)
        peer, session = Cut(server), new_session()
        found, _, error = read_all(peer, session, reader(PHOTO, FILM), rows)
        assert error is None
        assert found == {name: [b"", b"a", None, b"ab", b"abc"] for name in ("photo", "film")}, cut


def test_a_locator_may_come_as_72_bytes() -> None:
    server = LobServer(smart=dict(CONTENTS))
    found, _, _ = read_all(Peer(server), new_session(), reader(FILM), batch(5, hexadecimal=False))
    assert found == {"film": [CONTENTS[5]]}


def test_many_values_cost_few_round_trips() -> None:
    """64 rows of BYTE: all are requested in one send, whose replies are read afterwards."""
    server = LobServer(dict(CONTENTS))
    peer, session = Peer(server), new_session()
    found, _, _ = read_all(peer, session, reader(PHOTO), batch(*[2, 1] * 32))
    assert found["photo"] == [CONTENTS[2], CONTENTS[1]] * 32
    assert peer.steps.count("Send") == 1


def test_many_small_smart_objects_cost_few_round_trips() -> None:
    """Two routines looked up at once, 16 objects opened, those read and the others opened, the first closed and the
    others read, and those closed: one send each."""
    server = LobServer(smart=dict(CONTENTS))
    peer, session = Peer(server), new_session()
    read_all(peer, session, reader(FILM), batch(*[2, 1] * 32))
    assert peer.steps.count("Send") == 5
    assert server.signatures == ["function informix.ifx_lo_open(blob ,integer)", CLOSE]
    assert server.opened == 64


def test_routines_are_looked_up_once_per_connection() -> None:
    server = LobServer(smart=dict(CONTENTS))
    peer, session = Peer(server), new_session()
    for column in (FILM, STORY, FILM, STORY):
        read_all(peer, session, reader(column), batch(3))
    assert len(server.signatures) == 3
    assert "function informix.ifx_lo_open(clob ,integer)" in server.signatures


@parametrize_in_one_test(
    "size",
    [
        FIRST_READ_BYTES - 1,
        FIRST_READ_BYTES,
        FIRST_READ_BYTES + 1,
        2 * FIRST_READ_BYTES,
        2 * FIRST_READ_BYTES + 1,
    ],
)
@parametrize_in_one_test("more", [0, READ_BYTES, 5 * READ_BYTES + 77])
@parametrize_in_one_test("most", [1 << 30, 32000])
def test_smart_objects_of_any_size_come_whole(size: int, more: int, most: int) -> None:
    """A read that returns nothing is the end. Short reads in the middle (``most``) are not."""
    content = random.Random(size).randbytes(size + more)
    server = LobServer(smart={1: content, 2: b"next"}, most=most, piece=30000)
    peer, session = Peer(server, 70001), new_session()
    found, _, error = read_all(peer, session, reader(FILM), batch(1, 2, None, 1, contents={}))
    assert error is None
    assert found == {"film": [content, b"next", None, content]}
    peer.run(drain_pending_replies(session))
    assert server.open == {}


@pytest.mark.parametrize("column", [PHOTO, FILM], ids=["BYTE", "BLOB"])
@pytest.mark.parametrize("budget", [4096, 20_000, 100_000])
def test_batches_end_where_their_contents_reach_the_budget(column: ObjectColumn, budget: int) -> None:
    """200 values of up to 10 kB, 1 MB together: no piece is larger than the budget and one value."""
    random_ = random.Random(budget)
    contents = {number: random_.randbytes(random_.randrange(10_000)) for number in range(200)}
    server = LobServer(dict(contents), dict(contents))
    peer, session = Peer(server), new_session()
    objects = reader(column, budget=budget)
    rows = batch(*range(200), contents=contents)
    found: list[bytes | None] = []
    start = 0
    while start < 200:
        filled = peer.run(objects.read(session, rows, start, 0))
        got = values(filled, column)
        assert sum(len(value or b"") for value in got[:-1]) < budget
        assert len(filled.contents[column.index].data) < budget + 10_000
        found += got
        start += filled.rows
    assert found == [contents[number] for number in range(200)]


def test_a_large_object_makes_a_batch_of_its_own_and_leaves_nothing_open() -> None:
    """Objects that were opened ahead are closed if the batch ends before them, and opened again."""
    contents = {1: b"small", 2: b"B" * 900_000, 3: b"C" * 900_000, 4: b"D"}
    server = LobServer(smart=dict(contents))
    peer, session = Peer(server), new_session()
    objects = reader(FILM, budget=500_000)
    rows = batch(1, 2, 3, 4, contents={})
    sizes = []
    start = 0
    while start < 4:
        filled = peer.run(objects.read(session, rows, start, 0))
        peer.run(drain_pending_replies(session))
        assert server.open == {}
        assert values(filled, FILM) == [contents[start + 1 + i] for i in range(filled.rows)]
        sizes.append(filled.rows)
        start += filled.rows
    assert sizes == [2, 1, 1]


@pytest.mark.parametrize("bad", [0, 1, 3, 5])
def test_an_error_of_one_value_ends_the_rows_before_it_and_the_session_stays_in_step(bad: int) -> None:
    numbers = [1, 2, 3, 4, 5, 6]
    contents: dict[int, bytes | m.Err] = {**CONTENTS, numbers[bad]: m.Err(-602, -111, 0, "photo")}
    for column in (PHOTO, FILM):
        server = LobServer(dict(contents), dict(contents))
        peer, session = Peer(server), new_session()
        found, _, error = read_all(peer, session, reader(column), batch(*numbers))
        assert found[column.name] == [CONTENTS[number] for number in numbers[:bad]]
        assert error is not None
        assert (error.sqlcode, error.row, error.column, error.statement) == (-602, bad, column.name, "select")
        assert f"row {bad}" in str(error)
        assert session.usable_after(error)
        peer.run(drain_pending_replies(session))
        assert server.open == {}
        assert len(session.buffer) == 0


def test_an_object_that_opens_but_cannot_be_read_is_closed() -> None:
    server = LobServer(smart={1: b"one", 2: b"two", 3: b"three"})
    server.read_errors[2] = m.Err(-9810, -139)
    peer, session = Peer(server), new_session()
    found, _, error = read_all(peer, session, reader(FILM), batch(1, 2, 3))
    assert found == {"film": [b"one"]}
    assert error is not None
    assert error.sqlcode == -9810
    peer.run(drain_pending_replies(session))
    assert server.open == {}
    assert server.opened == 3


def test_an_error_in_the_middle_of_a_large_object_leaves_no_descriptor_open() -> None:
    server = LobServer(smart={1: b"x" * 2_000_000, 2: b"two"})
    peer, session = Peer(server), new_session()
    reads = 0
    answer = server.read

    def failing(request: m.LoData) -> list[m.Message]:
        nonlocal reads
        reads += 1
        return [m.Err(-9810)] if reads == 7 else answer(request)

    server.read = failing  # type: ignore[method-assign]
    found, _, error = read_all(peer, session, reader(FILM), batch(2, 1, contents={}))
    assert found == {"film": [b"two"]}
    assert error is not None
    assert error.row == 1
    peer.run(drain_pending_replies(session))
    assert server.open == {}
    assert session.usable_after(error)


def test_an_error_in_one_column_cuts_the_others_to_the_same_rows() -> None:
    simple: dict[int, bytes | m.Err] = {**CONTENTS, 3: m.Err(-602)}
    server = LobServer(simple, dict(CONTENTS))
    found, _, error = read_all(Peer(server), new_session(), reader(PHOTO, FILM), batch(1, 2, 3, 4))
    assert found == {"photo": [CONTENTS[1], CONTENTS[2]], "film": [CONTENTS[1], CONTENTS[2]]}
    assert error is not None
    assert (error.row, error.column) == (2, "photo")


def test_a_locator_that_is_none_is_an_error_of_its_row() -> None:
    rows = batch(1, 2)
    rows = rows.set_column(2, "film", pa.array([locator(1).hex().encode(), b"zz"], pa.binary()))
    server = LobServer(smart=dict(CONTENTS))
    peer, session = Peer(server), new_session()
    found, _, error = read_all(peer, session, reader(FILM), rows)
    assert found == {"film": [CONTENTS[1]]}
    assert isinstance(error, DataError)
    assert error.row == 1
    assert session.usable_after(error)


def test_fewer_bytes_than_announced_are_an_error_of_their_row() -> None:
    """A truncated value must not be taken for a whole one."""
    server = LobServer({1: b"whole", 2: b"cut"})
    rows = batch(1, contents={1: b"whole"})
    short = pa.RecordBatch.from_arrays(
        [*batch(1).columns[:1], pa.array([descriptor(2, 30)], pa.binary(56)), *batch(1).columns[2:]],
        names=rows.schema.names,
    )
    filled = Peer(server).run(reader(PHOTO).read(new_session(), short, 0, 40))
    assert filled.rows == 0
    assert isinstance(filled.error, DataError)
    assert filled.error.row == 40
    assert "30" in str(filled.error)
    assert "3" in str(filled.error)


def test_more_bytes_than_announced_are_an_error_of_their_row_and_not_kept() -> None:
    """Endless data from a server does not need endless memory, and the next value is read."""
    session = new_session()
    kept: list[int] = []

    def sink(piece: memoryview) -> None:
        kept.append(len(piece))

    many = 2_000_000
    peer = Peer(LobServer({1: bytes(many), 2: b"next"}), piece=1 << 16)
    peer.run(
        send_all(session, [encode_group(session, (m.Id(4), m.FetchBlob(descriptor(n, 30)))) for n in (1, 2)])
    )
    assert peer.run(read_blob_reply(session, sink, 30, exact=True)) == (many, None)
    assert sum(kept) < 1 << 17
    kept.clear()
    assert peer.run(read_blob_reply(session, sink, 4, exact=True)) == (4, None)
    assert sum(kept) == 4

    rows = batch(1)
    longer = pa.RecordBatch.from_arrays(
        [*rows.columns[:1], pa.array([descriptor(1, 30)], pa.binary(56)), *rows.columns[2:]],
        names=rows.schema.names,
    )
    filled = peer.run(reader(PHOTO).read(session, longer, 0, 40))
    assert isinstance(filled.error, DataError)
    assert (filled.rows, filled.error.row) == (0, 40)
    assert "announced 30 bytes but sent 2000000" in str(filled.error)
    assert session.usable_after(filled.error)


@pytest.mark.parametrize(
    "reply",
    [
        [m.BlobChunk(b"abc")],
        [],
        [m.BlobChunk(b""), m.BlobChunk(b"more"), m.BlobChunk(b"")],
        [m.Tuple(0, b"row")],
    ],
    ids=["no end mark", "nothing", "two values", "a row"],
)
def test_a_reply_that_is_no_content_ends_the_connection(reply: list[m.Message]) -> None:
    session = new_session()
    with pytest.raises(ProtocolError) as caught:
        Peer([reply]).run(read_blob(session, 4, descriptor(1, 3), bytearray().extend))
    assert not session.usable_after(caught.value)


def test_a_piece_with_a_negative_length_ends_the_connection() -> None:
    session = new_session()

    class Bad(Peer):
        def answer(self, group: object) -> None:
            self.outgoing += b"\x00\x27\xff\xff"

    with pytest.raises(ProtocolError, match="negative length -1"):
        Bad([]).run(read_blob(session, 4, descriptor(1, 3), bytearray().extend))


@pytest.mark.parametrize(
    "bad", ["0061 0000 00000003 0004 61626364", "0061 0000 00000003 0000", "0061 0000 00000001 ffff"]
)
def test_a_read_whose_pieces_do_not_add_up_ends_the_connection(bad: str) -> None:
    server = LobServer(smart={1: b"abc"})

    class Bad(Peer):
        def answer(self, group: list[m.Message]) -> None:
            if isinstance(group[0], m.LoData):
                self.outgoing += bytes.fromhex(bad)
            else:
                super().answer(group)

    session = new_session()
    with pytest.raises(ProtocolError, match="SQ_LODATA") as caught:
        Bad(server).run(reader(FILM).read(session, batch(1), 0, 0))
    assert not session.usable_after(caught.value)


@pytest.mark.parametrize("limit", [1, 5, READ_BYTES + 5])
def test_a_part_that_is_longer_than_what_was_asked_for_ends_the_connection(limit: int) -> None:
    """The caller never receives bytes that were not requested."""
    server = LobServer(smart={1: bytes(2 * READ_BYTES)})
    data = bytearray()

    def read(request: m.LoData) -> list[m.Message]:
        return [m.LoDataReply.of_data(request.op, bytes(request.count + (request.count < READ_BYTES)))]

    server.read = read  # type: ignore[method-assign]
    session = new_session()
    with pytest.raises(
        ProtocolError, match=f"{limit % READ_BYTES + 1} bytes where {limit % READ_BYTES} were requested"
    ) as caught:
        Peer(server).run(read_object(session, locator(1), False, 0, limit, data.extend))
    assert len(data) == limit - limit % READ_BYTES
    assert not session.usable_after(caught.value)


def test_a_failed_read_that_says_no_more_than_that_is_an_error() -> None:
    server = LobServer(smart={1: b"abc"})
    server.read = lambda request: [m.LoDataReply(request.op, -1, status=-7)]  # type: ignore[method-assign]
    session = new_session()
    peer = Peer(server)
    with pytest.raises(OperationalError, match="result -1") as caught:
        peer.run(read_object(session, locator(1), False, 0, None, bytearray().extend))
    assert session.usable_after(caught.value)
    peer.run(drain_pending_replies(session))
    assert server.open == {}


def test_a_server_without_the_fast_path_says_so() -> None:
    session = new_session()
    peer = Peer([[m.Err(-674, 0, 0, "ifx_lo_open")], [m.Err(-674, 0, 0, "ifx_lo_close")]])
    with pytest.raises(Error) as caught:
        peer.run(reader(FILM).read(session, batch(1), 0, 0))
    assert caught.value.sqlcode == -674
    assert session.usable_after(caught.value)


@parametrize_in_one_test("offset", [0, 1, 99_999, 600_000, 700_000])
@parametrize_in_one_test("limit", [None, 0, 1, 1000, READ_BYTES, 3 * READ_BYTES + 1])
def test_a_part_of_an_object_can_be_read(offset: int, limit: int | None) -> None:
    content = random.Random(1).randbytes(600_000)
    server = LobServer(smart={1: content}, most=100_000)
    peer, session = Peer(server, 33333), new_session()
    data = bytearray()
    count = peer.run(read_object(session, locator(1), False, offset, limit, data.extend))
    assert bytes(data) == content[offset : None if limit is None else offset + limit]
    assert count == len(data)
    peer.run(drain_pending_replies(session))
    assert server.open == {}


# ---- with the cursor around it --------------------------------------------------------------------------------------

COLUMNS = (
    Column("id", ColumnType.integer(not_null=True)),
    Column("photo", ColumnType.byte()),
    Column("sentinel", ColumnType.integer()),
)


def tuples(*numbers: int) -> list[m.Message]:
    return [
        m.Tuple(
            0,
            number.to_bytes(4, "big")
            + descriptor(number, len(CONTENTS[number]))
            + (12345).to_bytes(4, "big"),
        )
        for number in numbers
    ]


class Conversation:
    """A server with two fetch replies of rows, and their contents."""

    def __init__(self) -> None:
        self.lobs = LobServer(dict(CONTENTS))
        self.fetches: dict[int, int] = {}
        self.prepared = 0

    def __call__(self, group: Group) -> Iterable[m.Message]:
        if isinstance(group[0], m.Prepare):
            self.prepared += 1
            return [Describe.of_columns(StatementType.SELECT, self.prepared - 1, COLUMNS), m.Done()]
        if isinstance(group[-1], m.Fetch):
            assert isinstance(group[0], m.Id)
            number = self.fetches[group[0].statement_id] = self.fetches.get(group[0].statement_id, 0) + 1
            return {1: tuples(1, 2, 3), 2: [*tuples(4, 5), m.Done()]}.get(number, [m.Done()])
        return self.lobs(group)


def opened(peer: Peer, session: Session, **options: Any) -> ServerCursor:
    cursor = peer.run(execute_statement(session, "select", (), ReadOptions(**options)))
    assert isinstance(cursor, ServerCursor)
    return cursor


def contents_of(peer: Peer, session: Session, cursor: ServerCursor) -> Iterator[bytes | None]:
    """Yield the contents of the remaining rows like a Result."""
    row = 0
    while (taken := peer.run(next_batch(session, cursor))) is not None:
        rows = batch_of(cursor.plan.decoded.__arrow_c_schema__(), taken[0])
        assert rows.num_rows == taken[1]
        assert set(rows["sentinel"].to_pylist()) == {12345}
        start = 0
        while start < rows.num_rows:
            assert cursor.objects is not None
            filled = peer.run(cursor.objects.read(session, rows, start, row))
            yield from values(filled, PHOTO)
            start += filled.rows
            assert filled.error is None
        row += rows.num_rows


@pytest.mark.parametrize("piece", [1, 3, 57, 1 << 20])
def test_the_cursor_stays_open_until_the_last_content_was_read(piece: int) -> None:
    """The descriptors become invalid when it is closed (SQLI section 14)."""
    peer, session = Peer(Conversation(), piece), new_session()
    cursor = opened(peer, session, batch_rows=2)
    assert list(contents_of(peer, session, cursor)) == [CONTENTS[number] for number in (1, 2, 3, 4, 5)]
    peer.run(drain_pending_replies(session))
    names = peer.names()
    assert names.count("Id FetchBlob") == 5
    assert max(place for place, name in enumerate(names) if name == "Id FetchBlob") < names.index("Id Close")
    assert names[-2:] == ["Id Close", "Id Release"]
    assert (session.outstanding_requests, len(session.pending_replies), len(session.buffer)) == (0, 0, 0)


def test_two_results_with_contents_are_read_in_turns() -> None:
    peer, session = Peer(Conversation(), 100), new_session()
    one, two = opened(peer, session, batch_rows=1), opened(peer, session, batch_rows=1)
    found = list(zip(contents_of(peer, session, one), contents_of(peer, session, two), strict=True))
    assert found == [(CONTENTS[number], CONTENTS[number]) for number in (1, 2, 3, 4, 5)]
    peer.run(drain_pending_replies(session))
    assert peer.names().count("Id Close") == 2


def test_a_result_that_is_closed_in_the_middle_is_released_once() -> None:
    peer, session = Peer(Conversation()), new_session()
    cursor = opened(peer, session, batch_rows=2)
    reading = contents_of(peer, session, cursor)
    assert next(reading) == CONTENTS[1]
    peer.run(cursor.close(session))
    assert peer.names()[-2:] == ["Id Close", "Id Release"]
    assert (session.outstanding_requests, len(session.pending_replies), len(session.buffer)) == (0, 0, 0)


def test_skipped_objects_are_not_asked_for_and_hold_nothing_up() -> None:
    peer, session = Peer(Conversation()), new_session()
    cursor = opened(peer, session, types=TypeOptions(lobs="skip"))
    assert cursor.objects is None
    while peer.run(next_batch(session, cursor)) is not None:
        pass
    assert "Id FetchBlob" not in peer.names()
    peer.run(drain_pending_replies(session))
    assert peer.names()[-2:] == ["Id Close", "Id Release"]


def test_a_lazy_result_stays_open_until_it_is_closed() -> None:
    peer, session = Peer(Conversation()), new_session()
    cursor = opened(peer, session, types=TypeOptions(lobs="lazy"))
    while peer.run(next_batch(session, cursor)) is not None:
        pass
    assert "Id Close" not in peer.names()
    data = bytearray()
    peer.run(read_blob(session, cursor.statement_id, descriptor(4, 2000), data.extend))
    assert data == CONTENTS[4]
    peer.run(cursor.close(session))
    assert peer.names()[-2:] == ["Id Close", "Id Release"]
