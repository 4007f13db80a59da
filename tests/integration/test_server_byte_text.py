"""BYTE and TEXT: contents sent after their bound descriptors, and contents fetched by descriptors."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import pytest

from informix_arrow.server import Server
from informix_arrow.server.net.socket_stream import SEND_BACKLOG, Stream
from informix_arrow.wire import messages as m
from informix_arrow.wire.messages import BoundValue

from .raw import EOT, RawClient, Refused, one
from .test_server_login import eventually

BYTE, TEXT = 11, 12
SIZES = (0, 1, 2, 1023, 1024, 1025, 32766, 32767, 100_001)


def content(size: int) -> bytes:
    return bytes((k * 7 + k // 251) & 0xFF for k in range(size))


def descriptor(size: int) -> bytes:
    """Return a descriptor as clients bind it: the size and zeros."""
    return size.to_bytes(4, "big", signed=True).rjust(20, b"\0").ljust(56, b"\0")


def pieces(*contents: bytes, size: int = 1024) -> list[m.Message]:
    """Return SQ_BBIND and the contents."""
    found: list[m.Message] = [m.BlobBind(len(contents))]
    for each in contents:
        found += [m.BlobChunk(each[at : at + size]) for at in range(0, len(each), size)]
        found.append(m.BlobChunk(b""))
    return found


def bound(client: RawClient, key: int, values: Sequence[bytes | None], kind: int = BYTE) -> m.Bind:
    """Return the parameters: a key, large values, the key again."""
    key_value = client.bind(key).values[0]
    large = [
        client.bind(None).values[0] if v is None else BoundValue(kind, descriptor(len(v))) for v in values
    ]
    return m.Bind((key_value, *large, key_value))


def insert(
    client: RawClient, statement: int, key: int, *values: bytes | None, kind: int = BYTE, size: int = 1024
) -> list[m.Message]:
    """Return the messages of one execution, without SQ_EOT."""
    there = [value for value in values if value is not None]
    contents = pieces(*there, size=size) if there else []
    return [m.Id(statement), bound(client, key, values, kind), *contents, m.Execute()]


def fetch_content(client: RawClient, statement: int, described: bytes) -> bytes:
    reply = client.must(m.Id(statement), m.FetchBlob(described))
    assert all(isinstance(message, m.BlobChunk) for message in reply)
    found = [message.data for message in reply if isinstance(message, m.BlobChunk)]
    assert found[-1] == b""
    assert all(found[:-1])
    return b"".join(found)


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_lob (id INT, b BYTE, t TEXT, tail INT)")
        yield client


def filled(client: RawClient, rows: Sequence[tuple[bytes | None, bytes | None]]) -> None:
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    for key, row in enumerate(rows):
        reply = client.must(*insert(client, statement, key, *row))
        assert one(reply, m.Done).rows == 1
    client.must(m.Id(statement), m.Release())


def opened(client: RawClient, sql: str, *more: m.Message) -> int:
    statement = client.prepare(sql).statement_id
    client.must(m.Id(statement), m.CursorName("c"), *more, m.Open())
    return statement


def test_contents_come_back_in_any_order_as_often_as_wanted_until_the_cursor_closes(
    client: RawClient,
) -> None:
    rows = [(content(size), content(size + 1)[1:]) for size in SIZES]
    rows += [(None, b"only text"), (b"only byte", None), (None, None)]
    filled(client, rows)
    query = opened(client, "SELECT id, b, t, tail FROM t_lob ORDER BY id")
    tuples: list[bytes] = []
    done = None
    while done is None:
        payloads, done = client.fetch(query, 300)
        tuples += payloads
    assert len(tuples) == len(rows)
    descriptors = {}
    for key, payload in enumerate(tuples):
        assert len(payload) == 4 + 56 + 56 + 4
        assert payload[:4] == payload[-4:] == key.to_bytes(4, "big")
        descriptors[key] = payload[4:60], payload[60:116]
    for key in [*reversed(range(len(rows))), 3, 3, 0]:
        for described, wanted in zip(descriptors[key], rows[key], strict=True):
            assert described[39] == (wanted is None)
            if wanted is None:
                assert client.error(m.Id(query), m.FetchBlob(described)) == -602
                continue
            first, last, size = struct.unpack_from(">iii", described, 8)
            assert (first, last - first + 1, size) == (0, len(wanted), len(wanted))
            assert fetch_content(client, query, described) == wanted
    client.must(m.Id(query), m.Close())
    assert client.error(m.Id(query), m.FetchBlob(descriptors[0][0])) == -259


def test_a_scroll_cursors_rows_have_their_contents_too(client: RawClient) -> None:
    rows = [(content(size), b"text %d" % size) for size in (5, 70_000, 0, 1)]
    filled(client, rows)
    query = opened(client, "SELECT tail, t, b, id FROM t_lob ORDER BY id", m.Scroll())
    for position in (4, 2, 1, 3, 2):
        reply = client.must(m.Id(query), m.ScrollFetch(6, position))
        payload = one(reply, m.Tuple).payload
        assert payload[:4] == payload[-4:] == (position - 1).to_bytes(4, "big")
        assert fetch_content(client, query, payload[60:116]) == rows[position - 1][0]
        assert fetch_content(client, query, payload[4:60]) == rows[position - 1][1]


@pytest.mark.parametrize("piece", [1, 1024, 32767])
def test_contents_may_come_in_pieces_of_any_size_and_as_either_type(client: RawClient, piece: int) -> None:
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    values = (content(2049), content(3))
    for key, kind in enumerate((BYTE, TEXT)):
        client.must(*insert(client, statement, key, *values, kind=kind, size=piece))
    query = opened(client, "SELECT b, t, tail FROM t_lob ORDER BY id")
    payloads, _ = client.fetch(query)
    for key, payload in enumerate(payloads):
        assert payload[-4:] == key.to_bytes(4, "big")
        assert fetch_content(client, query, payload[:56]) == values[0]
        assert fetch_content(client, query, payload[56:112]) == values[1]


def test_300_executes_with_contents_are_taken_before_a_reply_is_read(client: RawClient) -> None:
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    for key in range(300):
        value = None if key % 7 == 0 else content(key * 11)
        client.send(*insert(client, statement, key, value, b"%d" % key), EOT)
    groups = client.receive_groups(300)
    assert all(one(group, m.Done).rows == 1 for group in groups)
    query = opened(client, "SELECT id, b, tail FROM t_lob ORDER BY id")
    payloads, done = client.fetch(query, 1 << 20)
    assert done is not None
    for key, payload in enumerate(payloads):
        assert payload[:4] == payload[-4:] == key.to_bytes(4, "big")
        if key % 7:
            assert fetch_content(client, query, payload[4:60]) == content(key * 11)
        else:
            assert payload[4 + 39] == 1


def test_a_row_whose_contents_are_wrong_fails_alone_among_pipelined_ones(client: RawClient) -> None:
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    good = insert(client, statement, 1, b"one", b"eins")
    short = [m.Id(statement), bound(client, 2, (b"two", b"zwei")), *pieces(b"two", b"zwe"), m.Execute()]
    client.send(*good, EOT, *short, EOT, *good, EOT)
    groups = client.receive_groups(3)
    assert [type(group[0]) for group in groups] == [m.InsertDone, m.Err, m.InsertDone]
    assert client.number("SELECT COUNT(*)::INT FROM t_lob") == 2


def wrong_contents() -> dict[str, list[m.Message]]:
    ten, text = content(10), b"abc"
    return {
        "no SQ_BBIND": [],
        "one content for two": pieces(ten),
        "three contents for two": pieces(ten, text, b""),
        "two announced, one comes": [m.BlobBind(2), *pieces(ten)[1:]],
        "the second never ends": pieces(ten, text)[:-1],
        "nothing after the announcement": [m.BlobBind(2)],
        "shorter than announced": pieces(ten[:9], text),
        "longer than announced": pieces(ten + b"x", text),
        "a negative number": [m.BlobBind(-1)],
        "none announced": [m.BlobBind(0)],
        "pieces without announcement": pieces(ten, text)[1:],
        "announced twice": [*pieces(ten), m.BlobBind(2)],
    }


@pytest.mark.parametrize("case", wrong_contents())
@pytest.mark.parametrize("apart", [False, True])
def test_contents_that_are_not_what_was_bound_are_refused_and_the_wire_stays_in_step(
    client: RawClient, case: str, apart: bool
) -> None:
    """This also holds if the execution is sent in a separate group, which must not run with half of its values."""
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    bind = [m.Id(statement), bound(client, 1, (content(10), b"abc")), *wrong_contents()[case]]
    if apart:
        client.ask(*bind)
        assert client.error(m.Id(statement), m.Execute()) in (-605, -254)
    else:
        assert client.error(*bind, m.Execute()) == -605
    assert client.number("SELECT COUNT(*)::INT FROM t_lob") == 0
    assert one(client.must(*insert(client, statement, 5, b"fine", None)), m.Done).rows == 1
    assert client.number("SELECT tail FROM t_lob") == 5


def test_an_unknown_size_and_a_text_of_jdbc_are_accepted(client: RawClient) -> None:
    """JDBC announces -1 for a stream of unknown length and 11 for every string bound to TEXT."""
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    key = client.bind(1).values[0]
    values = m.Bind((key, BoundValue(BYTE, descriptor(-1)), BoundValue(TEXT, descriptor(11)), key))
    client.must(m.Id(statement), values, *pieces(content(5000), b"t" * 4000), m.Execute())
    query = opened(client, "SELECT b, t, tail FROM t_lob")
    (payload,), _ = client.fetch(query)
    assert fetch_content(client, query, payload[:56]) == content(5000)
    assert fetch_content(client, query, payload[56:112]) == b"t" * 4000
    assert payload[112:] == b"\0\0\0\1"


def test_a_descriptor_that_the_cursor_has_not_given_is_refused(client: RawClient) -> None:
    filled(client, [(b"abc", b"def"), (b"ghi", b"jkl")])
    first = opened(client, "SELECT b, tail FROM t_lob ORDER BY id")
    second = opened(client, "SELECT b, tail FROM t_lob ORDER BY id")
    described = client.fetch(first)[0][0][:56]
    assert client.error(m.Id(second), m.FetchBlob(described)) == -602  # nothing fetched by the second
    other = client.fetch(second)[0][0][:56]
    changed = described[:19] + b"\2" + described[20:]
    row = described[:55] + b"\7" + described[56:]
    column = described[:47] + b"\1" + described[48:]
    for wrong in (other, changed, row, column, b"\0" * 56, b"\xff" * 56, descriptor(3)):
        assert client.error(m.Id(first), m.FetchBlob(wrong)) == -602
    assert fetch_content(client, first, described) == b"abc"
    client.must(m.Id(first), m.CursorName("again"), m.Open())
    client.fetch(first)
    assert client.error(m.Id(first), m.FetchBlob(described)) == -602  # the descriptor of the previous opening
    update = client.prepare("INSERT INTO t_lob VALUES (1, NULL, NULL, 1)").statement_id
    assert client.error(m.Id(update), m.FetchBlob(described)) == -259


def test_a_long_content_is_sent_as_the_client_takes_it(
    client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four requests for 16 MB each arrive before anything is read. The server holds a few unsent MB at most."""
    peak = 0
    queue = Stream.queue

    def watched(self: Stream, data: bytes | bytearray) -> None:
        nonlocal peak
        queue(self, data)
        peak = max(peak, len(self._outbox))

    size = 16 << 20
    value = content(1 << 20) * 16
    statement = client.prepare("INSERT INTO t_lob VALUES (?, ?, ?, ?)", 4).statement_id
    client.must(*insert(client, statement, 1, value, None, size=32000))
    query = opened(client, "SELECT b, tail FROM t_lob")
    (payload,), _ = client.fetch(query)
    monkeypatch.setattr(Stream, "queue", watched)
    for _ in range(4):
        client.send(m.Id(query), m.FetchBlob(payload[:56]), EOT)
    for group in client.receive_groups(4):
        got = b"".join(message.data for message in group if isinstance(message, m.BlobChunk))
        assert len(got) == size
        assert got == value
    assert 0 < peak < 2 * SEND_BACKLOG


def test_a_client_that_leaves_in_the_middle_of_a_content_ends_its_session(server: Server) -> None:
    before = server.sessions
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_lob_gone (b BYTE, tail INT)")
        statement = client.prepare("INSERT INTO t_lob_gone VALUES (?, 1)", 1).statement_id
        value = content(1 << 20) * 8
        bind = m.Bind((BoundValue(BYTE, descriptor(len(value))),))
        client.must(m.Id(statement), bind, *pieces(value, size=32000), m.Execute())
        query = opened(client, "SELECT b, tail FROM t_lob_gone")
        (payload,), _ = client.fetch(query)
        client.send(m.Id(query), m.FetchBlob(payload[:56]), EOT)
    assert eventually(lambda: server.sessions <= before)  # an earlier test's session may be ending


def test_the_first_error_of_a_group_passes_over_the_contents_behind_it(client: RawClient) -> None:
    with pytest.raises(Refused) as caught:
        client.must(m.Id(77), m.Bind(()), *pieces(b"abc"), m.Execute())
    assert caught.value.sqlcode == -258
    assert client.ask() == []
