"""BLOB and CLOB contents: the fast path that opens and closes them, and SQ_LODATA (SQLI sections 15 and 16).

A locator, as it stands in a tuple, is opened by the routine ``ifx_lo_open``, which gives a descriptor; reads
move its position; ``ifx_lo_close`` gives it back. The end of an object is known by a read that brings no
bytes, never by a short one. Several reads are on their way at a time, so that small objects cost two round
trips for as many of them as are wanted together, and large ones none per piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..wire import messages as m
from ..wire.errors import DataError, Error, ProtocolError
from ..wire.types import TypeCode
from .cancel import heed, wanted
from .object_streams import Sink, nowhere, read_lodata_reply
from .routines import routine_handle
from .session import Session
from .steps import Exchange, Send
from .stream import error_of, group, outgoing
from .turns import DISCARD, read_reply, settle

FIRST_READ = 64 << 10  # bytes asked for of each object at first, twice
READ = 256 << 10  # bytes of one later read; two are on their way
LOCATOR = 72  # bytes
READ_ONLY = 4  # LO_RDONLY

_CLOSE = "function informix.ifx_lo_close(integer)"
_INTEGER = 0x0A00  # precision word of an INTEGER parameter (SQLI section 9)

Key = tuple[int, int]


@dataclass(slots=True)
class _Ahead:
    """An object of which the beginning was read."""

    fd: int | None = None  # None once closed
    data: bytearray = field(default_factory=bytearray)
    ended: bool = False
    error: Error | None = None


@dataclass(slots=True, eq=False)
class SmartReads:
    """Reads many objects: the beginnings of several at once, what is left of each in turn.

    Between exchanges only beginnings that are whole objects are kept, so no descriptor is open.
    """

    _ahead: dict[Key, _Ahead] = field(default_factory=dict)

    def begin(self, session: Session, wanted: Sequence[tuple[Key, bytes, bool]]) -> Exchange[None]:
        """Open objects and read their beginnings. ``wanted``: key, locator as it came, whether it is a CLOB."""
        new = [item for item in wanted if item[0] not in self._ahead]
        requests = []
        for key, locator, clob in new:
            self._ahead[key] = ahead = _Ahead()
            try:
                request = yield from _open_request(session, locator, clob)
            except DataError as error:
                ahead.error = error
            else:
                requests.append((ahead, request))
        if not requests:
            return
        yield from _send(session, [request for _, request in requests])
        for ahead, _ in requests:
            ahead.fd, ahead.error = yield from _opened(session)
        opened = [ahead for ahead, _ in requests if ahead.fd is not None]
        yield from _send(
            session, [_read_request(session, ahead.fd, FIRST_READ) for ahead in opened for _ in range(2)]
        )
        closing = []
        for ahead in opened:
            for _ in range(2):
                sink = nowhere if ahead.error else ahead.data.extend
                size, refused = yield from read_lodata_reply(session, sink, FIRST_READ)
                ahead.error = ahead.error or refused
                if size and ahead.ended:
                    raise ProtocolError("bytes of a smart large object behind its end")
                ahead.ended = ahead.ended or not size
            if ahead.ended or ahead.error:
                closing.append(ahead.fd)
                ahead.fd = None
        yield from _close(session, closing)

    def finish(self, session: Session, key: Key, data: bytearray) -> Exchange[Error | None]:
        """Append an object's content to ``data``; its error is returned, what was appended is undefined then."""
        ahead = self._ahead.pop(key)
        if ahead.error is not None:
            return ahead.error
        data += ahead.data
        if ahead.fd is None:
            return None
        self._ahead[key] = ahead  # close_all() finds it there
        error = yield from read_on(session, ahead.fd, data.extend)
        del self._ahead[key]
        yield from _close(session, [ahead.fd])
        return error

    def close_all(self, session: Session) -> Exchange[None]:
        """Close what is open; whole objects are kept for the next call."""
        left = [key for key, ahead in self._ahead.items() if ahead.fd is not None]
        yield from _close(session, [self._ahead.pop(key).fd for key in left])


def read_object(
    session: Session, locator: bytes, clob: bool, offset: int, limit: int | None, sink: Sink
) -> Exchange[int]:
    """Read one object from ``offset`` on, at most ``limit`` bytes (None: to its end), and close it again.

    Returns how many bytes ``sink`` got; fewer than ``limit`` mean the end. Raises the server's error.
    """
    request = yield from _open_request(session, locator, clob)
    yield from _send(session, [request])
    fd, error = yield from _opened(session)
    if fd is None:
        assert error is not None
        raise error
    count = 0

    def counted(piece: memoryview) -> None:
        nonlocal count
        count += len(piece)
        sink(piece)

    error = yield from read_on(session, fd, counted, offset=offset, limit=limit)
    yield from _close(session, [fd])
    if error is not None:
        raise error
    return count


def read_on(
    session: Session, fd: int, sink: Sink, *, offset: int = 0, limit: int | None = None
) -> Exchange[Error | None]:
    """Read an open object from where it stands (``offset`` > 0: from there) to ``limit`` bytes or its end."""
    asked = done = owed = 0
    error: Error | None = None
    ended = False
    while True:
        if wanted(session) and not owed:
            yield from heed(session)
        while owed < 2 and not ended and error is None and (limit is None or asked < limit):
            if owed and wanted(session):
                break
            size = READ if limit is None else min(READ, limit - asked)
            seek = offset if not asked else 0
            yield from _send(session, [_read_request(session, fd, size, seek)])
            asked += size
            owed += 1
        if not owed:
            if error is not None or ended or limit is None or done >= limit:
                return error
            asked = done  # the server sent less than it was asked for, and this is not the end
            continue
        size, refused = yield from read_lodata_reply(
            session, sink if error is None and not ended else nowhere, READ
        )
        owed -= 1
        if refused is not None:
            error = error or refused
        elif not size:
            ended = True
        elif ended:
            error = error or ProtocolError("bytes of a smart large object behind its end")
        done += size


def locator_bytes(value: bytes) -> bytes:
    """A locator as 72 bytes, from those or from 144 hexadecimal digits (TYPES section 13).

    ``DataError`` for anything else.
    """
    if len(value) == LOCATOR:
        return value
    try:
        raw = bytes.fromhex(value.decode("ascii"))
    except ValueError:
        raw = b""
    if len(raw) != LOCATOR:
        raise DataError(f"a BLOB or CLOB locator of {len(value)} bytes that is none: {value[:16]!r}...")
    return raw


def _open_request(session: Session, locator: bytes, clob: bool) -> Exchange[bytes]:
    kind = "clob" if clob else "blob"
    raw = locator_bytes(locator)
    signature = f"function informix.ifx_lo_open({kind} ,integer)"
    database, handle = yield from routine_handle(session, signature)
    values = (
        m.BoundValue(TypeCode.SENDRECV.value, len(raw).to_bytes(4, "big") + raw, extended_name=kind),
        m.BoundValue(TypeCode.INTEGER.value, READ_ONLY.to_bytes(4, "big"), _INTEGER),
    )
    return group(session, (m.ExecuteRoutine(database, handle, len(values)), m.Bind(values)))


def _opened(session: Session) -> Exchange[tuple[int | None, Error | None]]:
    reply = yield from read_reply(session)
    if reply.error is not None:
        return None, error_of(reply.error)
    for message in reply.others:
        if isinstance(message, m.RoutineResult) and len(message.values) == 1:
            data = message.values[0].data
            if data is not None and len(data) in (2, 4, 8):
                return int.from_bytes(data, "big", signed=True), None
    raise ProtocolError("the server opened a smart large object without giving its descriptor")


def _read_request(session: Session, fd: int | None, size: int, offset: int = 0) -> bytes:
    assert fd is not None
    return group(session, (m.LoData.read(fd, size, offset or None),))


def _close(session: Session, descriptors: Sequence[int | None]) -> Exchange[None]:
    """Give descriptors back without waiting for the answers."""
    requests = []
    for fd in descriptors:
        assert fd is not None
        database, handle = yield from routine_handle(session, _CLOSE)
        value = m.BoundValue(TypeCode.INTEGER.value, fd.to_bytes(4, "big", signed=True), _INTEGER)
        requests.append(group(session, (m.ExecuteRoutine(database, handle, 1), m.Bind((value,)))))
    if requests:
        session.owed.extend([DISCARD] * len(requests))
        yield Send(outgoing(session, b"".join(requests)))


def _send(session: Session, requests: Sequence[bytes]) -> Exchange[None]:
    """Send groups whose replies this exchange reads."""
    if requests:
        yield from settle(session)  # answers to earlier closes come first
        session.own += len(requests)
        yield Send(b"".join(requests))
