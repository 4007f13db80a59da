"""Large objects read in groups of requests: the same values and errors as in single steps, within the window, in few
round trips."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from tests.stress import LONG_SOAK_ONLY
from tests.unit.operations.scripted_lob_peer import LobServer, descriptor, locator
from tests.unit.operations.scripted_peer import FRAMING, Peer, new_session

from informix_arrow.operations.io_steps import ConnectionLost
from informix_arrow.operations.large_objects import ObjectReader
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.result_description import ObjectColumn
from informix_arrow.operations.session import Session
from informix_arrow.operations.smart_objects import END_READ_BYTES, MAX_RUN_OBJECTS
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import Error, QueryCanceled

pytestmark = pytest.mark.slow

COLUMNS = (
    ObjectColumn(0, "photo", smart=False, text=False, exact=True),
    ObjectColumn(1, "film", smart=True, text=False, exact=False),
    ObjectColumn(2, "note", smart=False, text=True, exact=False),
    ObjectColumn(3, "story", smart=True, text=True, exact=False),
)
Contents = dict[int, bytes | m.Err]


class FlightPeer(Peer):
    """Counts the sends that are waited for, and how many bytes each requests."""

    def __init__(self, server: LobServer, piece: int = 1 << 20) -> None:
        super().__init__(server, piece)
        self.flights: list[list[str]] = []
        self.asked: list[int] = []
        self.sizes: dict[int, int] = {}

    def take(self, data: bytes) -> None:
        before = len(self.groups)
        super().take(data)
        groups = self.groups[before:]
        self.flights.append([type(group[-1]).__name__ for group in groups])
        asked = 0
        for group in groups:
            last = group[-1]
            if isinstance(last, m.LoData):
                asked += last.count
            elif isinstance(last, m.FetchBlob):
                asked += int.from_bytes(last.descriptor[16:20], "big")
        self.asked.append(asked)


def rows_of(numbers: list[list[int | None]], contents: Contents) -> pa.RecordBatch:
    """Return a row for each list of content numbers, one number for each column, and a sentinel."""

    def size(number: int) -> int:
        content = contents[number]
        return len(content) if isinstance(content, bytes) else 3

    arrays: list[pa.Array] = []
    for place, column in enumerate(COLUMNS):
        picked = [row[place] for row in numbers]
        if column.smart:
            arrays.append(pa.array([None if n is None else locator(n) for n in picked], pa.binary()))
        else:
            arrays.append(
                pa.array([None if n is None else descriptor(n, size(n)) for n in picked], pa.binary(56))
            )
    arrays.append(pa.array([4711] * len(numbers), pa.int32()))
    return pa.RecordBatch.from_arrays(arrays, names=[*(column.name for column in COLUMNS), "tail"])


def read_all(
    peer: Peer, session: Session, rows: pa.RecordBatch, columns: tuple[ObjectColumn, ...], budget: int
) -> tuple[list[list[bytes | None]], tuple[object, ...] | None]:
    """Return the contents by column, and the error of the row that ended them."""
    objects = ObjectReader(4, "select", columns, budget)
    found: list[list[bytes | None]] = [[] for _ in columns]
    start = 0
    while start < rows.num_rows:
        filled = peer.run(objects.read(session, rows, start, 0))
        for values, column in zip(found, columns, strict=True):
            values += filled.contents[column.index].to_arrow(filled.rows).to_pylist()
        start += filled.rows
        error = filled.error
        if error is not None:
            return found, (type(error), error.sqlcode, error.isamcode, error.row, error.column, str(error))
        assert filled.rows
    return found, None


def in_order(peer: Peer, session: Session, server: LobServer) -> None:
    peer.run(drain_pending_replies(session))
    assert (
        session.outstanding_requests,
        len(session.pending_replies),
        len(session.buffer),
        len(session.outbox),
    ) == (0, 0, 0, 0)
    assert server.open == {}


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(n, marks=LONG_SOAK_ONLY) for n in range(10, 40))]
)
def test_flights_bring_what_single_steps_bring(seed: int) -> None:
    """Random objects, NULLs, empty ones, some larger than the window, and some that the server refuses to open or to
    read: values, and the error with its row and column, are those of single steps."""
    random_ = random.Random(seed)
    sizes = [0, 1, 2, 3, 500, END_READ_BYTES - 1, END_READ_BYTES, END_READ_BYTES + 1, 20_000, 65_536, 70_000]
    contents: Contents = {n: random_.randbytes(random_.choice(sizes)) for n in range(30)}
    unreadable: dict[int, m.Err] = {}
    if seed % 2:
        for n in random_.sample(range(30), 2):
            if random_.random() < 0.5:
                contents[n] = m.Err(-9810, -111, 0, f"object {n}")
            else:
                unreadable[n] = m.Err(-9810, -139, 0, f"object {n}")
    contents[29] = random_.randbytes(120_001)  # larger than some of the windows
    count = random_.choice([1, 2, 17, 60, 150])
    picks: list[list[int | None]] = [
        [None if random_.random() < 0.2 else random_.randrange(30) for _ in COLUMNS] for _ in range(count)
    ]
    columns = tuple(random_.sample(COLUMNS, random_.randint(1, len(COLUMNS))))
    rows, budget = (
        rows_of(picks, contents),
        random_.choice([1 if count < 50 else 30_000, 50_000, 1 << 20, 16 << 20]),
    )

    def read(window: int, piece: int, most_open: int) -> object:
        server = LobServer(
            dict(contents), dict(contents), piece=30_000, most=random_.choice([1 << 30, 9000]),
            most_open=most_open,
        )  # fmt: skip
        server.read_errors = unreadable
        peer, session = Peer(server, piece), new_session(lob_window=window)
        found = read_all(peer, session, rows, columns, budget)
        in_order(peer, session, server)
        return found

    alone = read(0, 1 << 20, 1)
    for window in (1, 10_000, 100_000, 4 << 20, 64 << 20):
        assert read(window, random_.choice([777, 1 << 20]), random_.choice([1, 3, 20, 1 << 30])) == alone


@pytest.mark.parametrize(
    ("count", "size", "flights"),
    [
        (1, 10_000, 3),  # open, read, close
        (16, 10_000, 3),
        (17, 10_000, 4),
        (144, 10_000, 4),
        (145, 10_000, 5),
        (1000, 10_000, 11),
        (1000, 0, 11),
        (1000, 1, 11),
        (1000, 30_000, 14),
        (100, 300_000, 28),
    ],
)
def test_flights_of_smart_objects(count: int, size: int, flights: int) -> None:
    """The number of sends is exact: the first 16 objects show the size, then 128 at a time or what fits into 4 MiB.
    Closes are sent with the next requests, and the last of them alone."""
    contents: Contents = {1: bytes(size)}
    server = LobServer(smart=contents)
    peer, session = FlightPeer(server), new_session(lob_window=4 << 20)
    session.routines = {}
    rows = rows_of([[None, 1, None, None]] * count, contents)
    found, error = read_all(peer, session, rows, COLUMNS[1:2], 64 << 20)
    assert error is None
    assert found == [[bytes(size)] * count]
    assert peer.flights[0] == ["GetRoutine", "GetRoutine"]
    assert len(peer.flights) - 1 == flights
    in_order(peer, session, server)


@pytest.mark.parametrize(
    ("count", "size", "flights"),
    [
        (1, 10_000, 1),
        (128, 10_000, 1),
        (129, 10_000, 2),
        (1000, 10_000, 8),
        (100, 300_000, 8),
        (3, 5 << 20, 3),
    ],
)
def test_flights_of_byte_values(count: int, size: int, flights: int) -> None:
    contents: Contents = {1: bytes(size)}
    server = LobServer(contents, piece=32_000)
    peer, session = FlightPeer(server), new_session(lob_window=4 << 20)
    rows = rows_of([[1, None, None, None]] * count, contents)
    found, error = read_all(peer, session, rows, COLUMNS[:1], 64 << 20)
    assert error is None
    assert found == [[bytes(size)] * count]
    assert len(peer.flights) == flights


def test_single_steps_wait_for_each_answer() -> None:
    """Within one row, too, the next object is requested when the one before it has been read and closed."""
    contents: Contents = {n: bytes(n * 1000) for n in range(5)}
    server = LobServer(contents, contents, most_open=1)
    peer, session = FlightPeer(server), new_session(lob_window=0)
    session.routines = {}
    rows = rows_of([[n, n, n, 4 - n] for n in range(5)], contents)
    found, error = read_all(peer, session, rows, COLUMNS, 16 << 20)
    assert error is None
    assert [len(value or b"") for value in found[3]] == [4000, 3000, 2000, 1000, 0]
    flights = [[name for name in flight if name != "GetRoutine"] for flight in peer.flights]
    closes = 10  # not waited for: each is sent with the next step
    reads = 2 * (4 * 2 + 1)  # one that reads all, except for the empty object, and one that reads nothing
    assert sum(map(len, flights)) == 10 + 10 + reads + closes  # BYTE and TEXT, opens
    assert max(map(len, flights)) <= 2
    assert max(flight.count("LoData") + flight.count("FetchBlob") for flight in flights) == 1
    in_order(peer, session, server)


@pytest.mark.parametrize("window", [1 << 16, 1 << 18, 1 << 20, 4 << 20])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=LONG_SOAK_ONLY) for n in (2, 3))])
def test_no_more_is_asked_for_ahead_than_the_window(window: int, seed: int) -> None:
    """Only the next reads of a single object may exceed the window."""
    random_ = random.Random(seed)
    contents: Contents = {n: random_.randbytes(random_.choice([10, 5000, 90_000])) for n in range(50)}
    server = LobServer(contents, contents, piece=32_000)
    peer, session = FlightPeer(server), new_session(lob_window=window)
    rows = rows_of([[n % 50, (n * 7) % 50, None, n % 3] for n in range(100)], contents)
    _, error = read_all(peer, session, rows, COLUMNS, 16 << 20)
    assert error is None
    alone = 2 * (256 << 10)
    assert max(peer.asked) <= max(window, alone)
    assert sum(peer.asked) > window


def test_a_server_that_bears_few_open_objects_is_asked_for_few() -> None:
    contents: Contents = {n: bytes([n]) * 100 for n in range(200)}
    server = LobServer(smart=contents, most_open=20)
    peer, session = FlightPeer(server), new_session()
    rows = rows_of([[None, n, None, None] for n in range(200)], contents)
    found, error = read_all(peer, session, rows, COLUMNS[1:2], 16 << 20)
    assert error is None
    assert found == [[contents[n] for n in range(200)]]
    assert len(peer.flights) < 80  # four refusals, not one for each row
    in_order(peer, session, server)


@pytest.mark.parametrize("where", ["open", "read"])
@pytest.mark.parametrize("bad", [0, 5, 40, 199])
def test_an_interrupt_ends_the_call_and_is_no_error_of_a_row(where: str, bad: int) -> None:
    contents: Contents = {n: bytes(100) for n in range(200)}
    server = LobServer(smart=contents)
    if where == "open":
        server.smart[bad] = m.Err(-213)
    else:
        server.read_errors[bad] = m.Err(-213)
    peer, session = Peer(server), new_session()
    rows = rows_of([[None, n, None, None] for n in range(200)], contents)
    with pytest.raises(QueryCanceled) as caught:
        read_all(peer, session, rows, COLUMNS[1:2], 16 << 20)
    assert caught.value.row is None
    assert session.usable_after(caught.value)
    in_order(peer, session, server)


@pytest.mark.parametrize("code", [-213, -9810])
@pytest.mark.parametrize("bad", [0, 1, 6, 7, 31, 32, 33, 90])
def test_a_read_that_is_refused_says_nothing_of_the_end(code: int, bad: int) -> None:
    """The other one of two reads still returns bytes."""
    contents: Contents = {n: bytes(100) for n in range(60)}
    server = LobServer(smart=contents)
    reads = iter(range(1 << 20))
    answer = server.read
    server.read = lambda request: [m.Err(code)] if next(reads) == bad else answer(request)  # type: ignore[method-assign]
    peer, session = Peer(server), new_session()
    rows = rows_of([[None, n, None, None] for n in range(60)], contents)
    if code == -213:
        with pytest.raises(QueryCanceled):
            read_all(peer, session, rows, COLUMNS[1:2], 16 << 20)
    else:
        found, reported = read_all(peer, session, rows, COLUMNS[1:2], 16 << 20)
        assert reported is not None
        assert (reported[1], reported[3], len(found[0])) == (code, bad // 2, bad // 2)
    in_order(peer, session, server)


def test_a_server_that_goes_away_in_the_middle_costs_the_connection() -> None:
    """The server closes the connection after any number of its bytes."""
    contents: Contents = {n: bytes(1000) for n in range(40)}
    rows = rows_of([[n, n, None, None] for n in range(40)], contents)

    class Cut(Peer):
        def __init__(self, left: int) -> None:
            super().__init__(LobServer(contents, contents), 5000)
            self.left = left

        def deliver(self, into: memoryview) -> int:
            into = into[: self.left]
            count = super().deliver(into) if self.left else 0
            self.left -= count
            return count

        def do(self, step: object) -> int:
            self.hang_up = True
            return super().do(step)

    for left in range(0, 80_000, 3333):
        peer, session = Cut(left), new_session()
        with pytest.raises(ConnectionLost) as caught:
            read_all(peer, session, rows, COLUMNS[:2], 16 << 20)
        assert not session.usable_after(caught.value)


def test_the_framing_of_a_run_is_that_of_its_messages() -> None:
    """The requests of several objects are just their groups, one after the other."""
    contents: Contents = {n: bytes(10) for n in range(MAX_RUN_OBJECTS)}
    sent: list[bytes] = []

    class Kept(Peer):
        def take(self, data: bytes) -> None:
            sent.append(bytes(data))
            super().take(data)

    peer, session = Kept(LobServer(smart=contents)), new_session()
    read_all(
        peer, session, rows_of([[None, n, None, None] for n in contents], contents), COLUMNS[1:2], 16 << 20
    )
    encoded = [b"".join(each.encode(FRAMING) for each in (*group, m.EndOfTurn())) for group in peer.groups]
    assert b"".join(sent) == b"".join(encoded)


def test_errors_in_a_flight_keep_their_rows() -> None:
    """Two bad objects among the requests: the first one in the order of the rows is reported, whichever reply came
    first."""
    contents: Contents = {n: bytes([n]) for n in range(60)}
    server = LobServer(smart=contents)
    server.smart[50] = m.Err(-9810, -1)
    server.read_errors[30] = m.Err(-9810, -2)
    peer, session = Peer(server), new_session()
    found, reported = read_all(
        peer, session, rows_of([[None, n, None, None] for n in range(60)], contents), COLUMNS[1:2], 16 << 20
    )
    assert found == [[bytes([n]) for n in range(30)]]
    assert reported is not None
    assert issubclass(reported[0], Error)  # type: ignore[arg-type]
    assert reported[1:5] == (-9810, -2, 30, "film")
    in_order(peer, session, server)
