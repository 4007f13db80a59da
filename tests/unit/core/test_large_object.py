"""LargeObject, the file-like view of one value, against a scripted peer."""

from __future__ import annotations

import io
import random
import shutil
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.operations.scripted_lob_peer import LobServer, descriptor, locator
from tests.unit.operations.scripted_peer import Peer, new_session

from informix_arrow.connection import Connection
from informix_arrow.large_object import LargeObject
from informix_arrow.operations.fetch import ServerCursor
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.result_description import ObjectColumn
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import DataError, Error, InterfaceError
from informix_arrow.wire.plan_ops import TypeOptions

CONTENT = random.Random(4).randbytes(600_001)


class Opened:
    """A LargeObject with its peer and session."""

    def __init__(
        self,
        content: bytes | m.Err,
        *,
        smart: bool,
        text: bool = False,
        encoding: str = "utf-8",
        errors: str = "strict",
    ) -> None:
        self.server = LobServer({1: content}, {1: content})
        self.peer, self.session = Peer(self.server), new_session()
        self.cursor = cast(
            ServerCursor,
            SimpleNamespace(
                released=False,
                statement_id=4,
                shape=SimpleNamespace(
                    encoding=encoding,
                    types=TypeOptions(encoding_errors=errors),  # type: ignore[arg-type]
                ),
            ),
        )
        connection = cast(Connection, SimpleNamespace(_session=self.session, _run=self.peer.run))
        size = len(content) if isinstance(content, bytes) else 0
        handle = locator(1) if smart else descriptor(1, size)
        column = ObjectColumn(0, "photo", smart=smart, text=text, exact=False)
        self.object = LargeObject(connection, self.cursor, column, handle)

    def requests(self) -> int:
        """Return the number of sends so far."""
        return self.peer.steps.count("Send")

    def settle(self) -> None:
        self.peer.run(drain_pending_replies(self.session))
        assert self.server.open == {}
        assert self.session.outstanding_requests == 0


@pytest.fixture(params=[True, False], ids=["BLOB", "BYTE"])
def smart(request: Any) -> bool:
    return bool(request.param)


def test_all_of_it_at_once(smart: bool) -> None:
    opened = Opened(CONTENT, smart=smart)
    assert opened.object.read() == CONTENT
    assert opened.object.read() == b""
    assert opened.object.tell() == len(CONTENT)
    opened.settle()


@pytest.mark.parametrize("size", [1000, 99_999, 262_144, 262_145, 500_000, 600_001, 700_000])
def test_piece_by_piece(smart: bool, size: int) -> None:
    opened = Opened(CONTENT, smart=smart)
    found = []
    while piece := opened.object.read(size):
        found.append(piece)
    assert b"".join(found) == CONTENT
    assert {len(piece) for piece in found[:-1]} <= {size}
    opened.settle()


def test_reading_little_at_a_time_asks_seldom() -> None:
    """600 kB in pieces of 100 bytes: the object reads ahead, so a handful of requests is enough."""
    opened = Opened(CONTENT, smart=True)
    while opened.object.read(100):
        pass
    assert opened.requests() < 20


def test_nothing_is_asked_for_before_the_first_read(smart: bool) -> None:
    opened = Opened(CONTENT, smart=smart)
    assert opened.object.tell() == 0
    assert opened.object.readable()
    assert opened.object.seekable()
    assert not opened.object.writable()
    assert opened.requests() == 0


def test_seek_and_tell_are_those_of_a_file(smart: bool) -> None:
    opened, file = Opened(CONTENT, smart=smart).object, io.BytesIO(CONTENT)
    random_ = random.Random(8)
    for _ in range(200):
        action = random_.randrange(4)
        if action == 0:
            place = random_.randrange(650_000)
            assert opened.seek(place) == file.seek(place)
        elif action == 1:
            offset = random_.randrange(-min(file.tell(), 1000), 1000)
            assert opened.seek(offset, io.SEEK_CUR) == file.seek(offset, io.SEEK_CUR)
        elif action == 2 and random_.random() < 0.1:
            assert opened.seek(-7, io.SEEK_END) == file.seek(-7, io.SEEK_END)
        else:
            size = random_.choice([0, 1, 100, 5000, 300_000])
            assert opened.read(size) == file.read(size)
        assert opened.tell() == file.tell()


def test_a_place_before_the_beginning_is_an_error(smart: bool) -> None:
    opened = Opened(b"abc", smart=smart).object
    with pytest.raises(ValueError, match=r"-1|negative"):
        opened.seek(-1)
    with pytest.raises(ValueError, match=r"whence|7"):
        opened.seek(0, 7)
    assert opened.read() == b"abc"


def test_readinto_and_copying_to_a_file(smart: bool) -> None:
    opened = Opened(CONTENT, smart=smart).object
    buffer = bytearray(10)
    assert opened.readinto(buffer) == 10
    assert buffer == CONTENT[:10]
    target = io.BytesIO()
    shutil.copyfileobj(opened, target)
    assert target.getvalue() == CONTENT[10:]
    assert opened.readinto(buffer) == 0


def test_closing_ends_it_and_costs_nothing(smart: bool) -> None:
    opened = Opened(CONTENT, smart=smart)
    with opened.object as file:
        assert file.read(5) == CONTENT[:5]
    assert file.closed
    file.close()
    for use in (file.read, file.tell, lambda: file.seek(0), file.text):
        with pytest.raises(ValueError, match="closed"):
            use()
    opened.settle()


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_text_is_decoded_by_the_database_code_set(smart: bool, errors: str) -> None:
    text = "größe\r\nzwei\n" * 5000
    opened = Opened(text.encode("latin-1"), smart=smart, text=True, encoding="latin-1", errors=errors)
    assert opened.object.text().read() == text
    opened = Opened("日本\n語".encode("cp932"), smart=smart, text=True, encoding="cp932", errors=errors)
    assert list(opened.object.text()) == ["日本\n", "語"]


def test_bytes_that_are_no_text(smart: bool) -> None:
    with pytest.raises(UnicodeDecodeError):
        Opened(b"ok\xff", smart=smart, text=True).object.text().read()
    assert Opened(b"ok\xff", smart=smart, text=True, errors="replace").object.text().read() == "ok\ufffd"
    with pytest.raises(DataError, match="photo"):
        Opened(b"ok", smart=smart).object.text()


def test_the_servers_error_is_raised_and_the_object_can_be_tried_again(smart: bool) -> None:
    opened = Opened(m.Err(-602, -111), smart=smart)
    with pytest.raises(Error) as caught:
        opened.object.read()
    assert caught.value.sqlcode == -602
    assert opened.session.usable_after(caught.value)
    opened.server.simple[1] = opened.server.smart[1] = b"again"
    assert opened.object.read() == b"again"
    opened.settle()


def test_a_byte_value_must_be_read_while_the_cursor_is_on_its_result() -> None:
    early, late = Opened(b"early", smart=False), Opened(b"late", smart=False)
    assert early.object.read(2) == b"ea"
    for opened in (early, late):
        opened.cursor.released = True
    assert early.object.read() == b"rly"
    with pytest.raises(InterfaceError, match=r"photo.*before the cursor's next execute"):
        late.object.read()
    assert late.requests() == 0


def test_a_blob_can_be_read_when_the_cursor_has_gone_on() -> None:
    opened = Opened(b"film", smart=True)
    opened.cursor.released = True
    assert opened.object.read() == b"film"


def test_its_text_form_names_kind_and_column() -> None:
    assert (
        repr(Opened(b"", smart=True, text=True).object)
        == "<informix_arrow.LargeObject CLOB of column 'photo'>"
    )
    assert repr(Opened(b"", smart=False).object) == "<informix_arrow.LargeObject BYTE of column 'photo'>"
