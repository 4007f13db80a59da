"""BLOB and CLOB contents: the fast path that opens and closes them, and SQ_LODATA (SQLI sections 15 and 16).

A locator from a tuple is opened by the routine ``ifx_lo_open``, which returns a descriptor. Reads move its
position, and ``ifx_lo_close`` closes it. The end of an object is a read that returns no bytes, never a short
one.

Requests are pipelined. Each step needs the reply to the one before, so an object is opened in one pipeline and
read in the next. But the objects of a run are opened together and read together, and the next ones are opened
in the pipeline that reads these. So small objects cost one round trip for each run of them, and large ones one
for each window. ``Session.lob_window`` bounds what is requested ahead of its replies, in bytes; with 0 every
step waits for its reply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, DataError, Error, ProtocolError
from ..wire.types import TypeCode
from .cancel import cancel_requested, raise_if_cancelled
from .fast_path import routine_handles
from .io_steps import Exchange
from .message_stream import encode_group, server_error
from .object_streams import Sink, discard_content, read_lodata_reply
from .request_reply import flush, queue, read_reply, send_all
from .session import Session

MAX_RUN_OBJECTS = 128  # objects read together; as many more may be open
FIRST_RUN_OBJECTS = 16  # the sizes of these determine how much of the next ones to request
FIRST_READ_BYTES = 64 << 10  # bytes requested of each of those
READ_BYTES = 256 << 10  # bytes of one later read, and of a single step
END_READ_BYTES = 4 << 10  # bytes of the read after the first one, which should return none
MAX_READ_BYTES = 1 << 20  # maximum bytes requested in a first read
LOCATOR_BYTES = 72  # bytes
READ_ONLY = 4  # LO_RDONLY

_CLOSE = "function informix.ifx_lo_close(integer)"
_INTEGER = 0x0A00  # precision word of an INTEGER parameter (SQLI section 9)

ObjectKey = tuple[int, int]
ObjectRequest = tuple[ObjectKey, bytes, bool]
"""An object to be read: its key, its locator as it came, whether it is a CLOB."""


@dataclass(slots=True)
class _PendingObject:
    """An object that was opened, or whose beginning was read."""

    locator: bytes
    clob: bool
    fd: int | None = None  # None once closed
    data: bytearray = field(default_factory=bytearray)
    ended: bool = False
    error: Error | None = None
    open_alone: bool = False  # to be opened when no other is: without a window, or refused beside others


@dataclass(slots=True, eq=False)
class SmartObjectReader:
    """Reads many objects: the beginnings of several at once, the rest of each in turn.

    Between operations only beginnings that are complete objects are kept, so no descriptor is open.
    """

    _pending: dict[ObjectKey, _PendingObject] = field(default_factory=dict)
    _first_read_bytes: int = FIRST_READ_BYTES  # bytes of the next first reads
    _largest: int = -1  # bytes of the largest object finished since that was set
    _run_size: int = FIRST_RUN_OBJECTS  # objects of the next run
    _max_run_size: int = MAX_RUN_OBJECTS  # and of the ones after it
    _ahead_size: int = MAX_RUN_OBJECTS  # objects that may be opened ahead of their run

    @property
    def expected(self) -> int:
        """The estimated bytes that an object adds before it is read on."""
        return self._first_read_bytes + END_READ_BYTES

    @property
    def run_size(self) -> int:
        """Objects in the next run."""
        return self._run_size

    @property
    def ahead_size(self) -> int:
        """Objects after the run that may be opened in the same pipeline."""
        return self._ahead_size

    def begin(
        self, session: Session, run: Sequence[ObjectRequest], upcoming: Sequence[ObjectRequest] = ()
    ) -> Exchange[None]:
        """Read the beginnings of the objects of ``run``, and open those of ``upcoming`` in the same pipeline.

        Raises the error of an interrupted request; others are kept for :meth:`finish`. Without a window nothing
        is requested here: :meth:`finish` opens each object after the one before was read.
        """
        if not session.lob_window:
            self._pending.update(
                {key: _PendingObject(locator, clob, open_alone=True) for key, locator, clob in run}
            )
            return
        opening = yield from self._register(session, [item for item in run if item[0] not in self._pending])
        if opening:
            yield from self._pipeline_requests(session, opening, [], ())
        reading = [
            ahead
            for ahead in (self._pending[key] for key, _, _ in run)
            if ahead.fd is not None and not ahead.ended
        ]
        further = yield from self._register(
            session, [item for item in upcoming if item[0] not in self._pending]
        )
        sizes = (self._first_read_bytes, END_READ_BYTES)
        while reading or further:
            yield from self._pipeline_requests(session, further, reading, sizes)
            further = []
            for key, _, _ in upcoming:
                if self._pending[key].open_alone:
                    del self._pending[key]  # opened with its run
            upcoming = ()
            reading = [ahead for ahead in reading if ahead.fd is not None]
            buffered = sum(len(self._pending[key].data) for key, _, _ in run)
            share = min(READ_BYTES, (session.lob_window - buffered) // max(1, len(reading)) - END_READ_BYTES)
            if len(reading) < 2 or share < self._first_read_bytes:
                break  # the rest is read later, straight into its destination
            sizes = (share, END_READ_BYTES)
        self._run_size = self._max_run_size

    def finish(self, session: Session, key: ObjectKey, data: bytearray) -> Exchange[Error | None]:
        """Append an object's content to ``data``. Returns its error; what was appended is undefined then."""
        ahead = self._pending.pop(key)
        if ahead.open_alone:
            yield from self._open_alone(session, ahead)
        if ahead.error is not None:
            return ahead.error
        before = len(data)
        data += ahead.data
        error = None
        if ahead.fd is not None:
            self._pending[key] = ahead  # close_all() finds it there
            error = yield from read_from(session, ahead.fd, data.extend)
            del self._pending[key]
            yield from _close(session, [ahead.fd])
        self._largest = max(self._largest, len(data) - before)
        return error

    def adapt(self, session: Session) -> None:
        """Adapt the size of the next first reads to the objects that are finished."""
        if self._largest >= 0:
            room = self._largest + self._largest // 4
            most = max(END_READ_BYTES, min(MAX_READ_BYTES, session.lob_window))
            self._first_read_bytes = min(most, (room // END_READ_BYTES + 1) * END_READ_BYTES)
            self._largest = -1

    def close_all(self, session: Session) -> Exchange[None]:
        """Close what is open. Complete objects are kept for the next call."""
        left = [key for key, ahead in self._pending.items() if ahead.fd is not None or ahead.open_alone]
        yield from _close(session, [fd for key in left if (fd := self._pending.pop(key).fd) is not None])
        yield from flush(session)

    def _register(
        self, session: Session, new: Sequence[ObjectRequest]
    ) -> Exchange[list[tuple[_PendingObject, bytes]]]:
        """Register objects to be opened. Returns each with the request that opens it."""
        requests = []
        for key, locator, clob in new:
            self._pending[key] = ahead = _PendingObject(locator, clob)
            try:
                request = yield from _open_request(session, locator, clob)
            except DataError as error:
                ahead.error = error
            else:
                requests.append((ahead, request))
        return requests

    def _pipeline_requests(
        self,
        session: Session,
        opening: Sequence[tuple[_PendingObject, bytes]],
        reading: Sequence[_PendingObject],
        sizes: Sequence[int],
    ) -> Exchange[None]:
        """Open some objects and read from others in one pipeline. Objects that ended or failed are closed.

        The opens come first. Their replies are short, so whatever the server's buffers hold, it has received
        all but the reads when it begins to send contents.
        """
        requests = [request for _, request in opening]
        requests += [_read_request(session, ahead.fd, size) for ahead in reading for size in sizes]
        yield from send_all(session, requests)
        interrupted: Error | None = None
        open_objects = sum(ahead.fd is not None for ahead in self._pending.values())
        for ahead, _ in opening:
            ahead.fd, ahead.error = yield from _read_open_reply(session)
            if ahead.error is None:
                open_objects += 1
            elif ahead.error.sqlcode == INTERRUPTED:
                interrupted = ahead.error
            elif open_objects:  # perhaps only because of that: open it alone, and fewer at a time from now on
                ahead.error, ahead.open_alone = None, True
                self._ahead_size, self._max_run_size = 0, min(self._max_run_size, open_objects)
        closing = []
        for ahead in reading:
            for size in sizes:
                sink = discard_content if ahead.error else ahead.data.extend
                count, refused = yield from read_lodata_reply(session, sink, size)
                if refused is not None and refused.sqlcode == INTERRUPTED:
                    interrupted = refused
                ahead.error = ahead.error or refused
                if count and ahead.ended:
                    raise ProtocolError("Bytes of a smart large object after its end.")
                ahead.ended = ahead.ended or (refused is None and not count)
            if ahead.ended or ahead.error:
                closing.append(ahead.fd)
                ahead.fd = None
        yield from _close(session, closing)
        if interrupted is not None:
            raise interrupted

    def _open_alone(self, session: Session, ahead: _PendingObject) -> Exchange[None]:
        """Open an object while no other is open, for servers that allow only one."""
        yield from self._reset_open_objects(session)
        ahead.open_alone = False
        try:
            request = yield from _open_request(session, ahead.locator, ahead.clob)
        except DataError as error:
            ahead.error = error
            return
        yield from send_all(session, [request])
        ahead.fd, ahead.error = yield from _read_open_reply(session)

    def _reset_open_objects(self, session: Session) -> Exchange[None]:
        """Close what is open. Each is opened again, alone, when it is read."""
        left = [ahead for ahead in self._pending.values() if ahead.fd is not None]
        yield from _close(session, [ahead.fd for ahead in left])
        for ahead in left:
            ahead.fd, ahead.open_alone = None, True
            ahead.data.clear()


def read_object(
    session: Session, locator: bytes, clob: bool, offset: int, limit: int | None, sink: Sink
) -> Exchange[int]:
    """Read one object from ``offset`` on, at most ``limit`` bytes (None: to its end), and close it again.

    Returns how many bytes were passed to ``sink``; fewer than ``limit`` mean the end. Raises the server's
    error.
    """
    request = yield from _open_request(session, locator, clob)
    yield from send_all(session, [request])
    fd, error = yield from _read_open_reply(session)
    if fd is None:
        assert error is not None
        raise error
    count = 0

    def counted(piece: memoryview) -> None:
        nonlocal count
        count += len(piece)
        sink(piece)

    error = yield from read_from(session, fd, counted, offset=offset, limit=limit)
    yield from _close(session, [fd])
    yield from flush(session)
    if error is not None:
        raise error
    return count


def read_from(
    session: Session, fd: int, sink: Sink, *, offset: int = 0, limit: int | None = None
) -> Exchange[Error | None]:
    """Read an open object from its position (``offset`` > 0: from there) to ``limit`` bytes or its end."""
    requested = done = 0
    in_flight: deque[int] = deque()  # bytes of the reads in flight
    most = max(2, session.lob_window // READ_BYTES) if session.lob_window else 1  # reads in flight
    error: Error | None = None
    ended = False
    while True:
        if cancel_requested(session) and not in_flight:
            yield from raise_if_cancelled(session)
        requests = []
        room = most if len(in_flight) <= most // 2 else len(in_flight)
        while len(in_flight) < room and not ended and error is None and (limit is None or requested < limit):
            if in_flight and cancel_requested(session):
                break
            size = READ_BYTES if limit is None else min(READ_BYTES, limit - requested)
            seek = offset if not requested else 0
            requests.append(_read_request(session, fd, size, seek))
            requested += size
            in_flight.append(size)
        yield from send_all(session, requests)
        if not in_flight:
            if error is not None or ended or limit is None or done >= limit:
                return error
            requested = done  # the server sent less than requested, and this is not the end
            continue
        target = sink if error is None and not ended else discard_content
        size, refused = yield from read_lodata_reply(session, target, in_flight.popleft())
        if refused is not None:
            error = error or refused
        elif not size:
            ended = True
        elif ended:
            error = error or ProtocolError("Bytes of a smart large object after its end.")
        done += size


def locator_bytes(value: bytes) -> bytes:
    """Return a locator as 72 bytes, from those or from 144 hexadecimal digits (TYPES section 13).

    Raises ``DataError`` for anything else.
    """
    if len(value) == LOCATOR_BYTES:
        return value
    try:
        raw = bytes.fromhex(value.decode("ascii"))
    except ValueError:
        raw = b""
    if len(raw) != LOCATOR_BYTES:
        raise DataError(f"A BLOB or CLOB locator of {len(value)} bytes is invalid: {value[:16]!r}...")
    return raw


def _open_request(session: Session, locator: bytes, clob: bool) -> Exchange[bytes]:
    kind = "clob" if clob else "blob"
    raw = locator_bytes(locator)
    signature = f"function informix.ifx_lo_open({kind} ,integer)"
    (database, handle), _ = yield from routine_handles(session, signature, _CLOSE)
    values = (
        m.BoundValue(TypeCode.SENDRECV.value, len(raw).to_bytes(4, "big") + raw, extended_name=kind),
        m.BoundValue(TypeCode.INTEGER.value, READ_ONLY.to_bytes(4, "big"), _INTEGER),
    )
    return encode_group(session, (m.ExecuteRoutine(database, handle, len(values)), m.Bind(values)))


def _read_open_reply(session: Session) -> Exchange[tuple[int | None, Error | None]]:
    reply = yield from read_reply(session)
    if reply.error is not None:
        return None, server_error(reply.error)
    for message in reply.other_messages:
        if isinstance(message, m.RoutineResult) and len(message.values) == 1:
            data = message.values[0].data
            if data is not None and len(data) in (2, 4, 8):
                return int.from_bytes(data, "big", signed=True), None
    raise ProtocolError("The server opened a smart large object without giving its descriptor.")


def _read_request(session: Session, fd: int | None, size: int, offset: int = 0) -> bytes:
    assert fd is not None
    return encode_group(session, (m.LoData.read(fd, size, offset or None),))


def _close(session: Session, descriptors: Sequence[int | None]) -> Exchange[None]:
    """Close descriptors with the next request, without waiting for the replies."""
    for fd in descriptors:
        assert fd is not None
        ((database, handle),) = yield from routine_handles(session, _CLOSE)
        value = m.BoundValue(TypeCode.INTEGER.value, fd.to_bytes(4, "big", signed=True), _INTEGER)
        queue(session, encode_group(session, (m.ExecuteRoutine(database, handle, 1), m.Bind((value,)))))
