"""Stream contents of large objects as they arrive, straight from the receive buffer to their destination.

Two messages carry contents. ``SQ_BLOB`` pieces, with an empty one after the last, are the reply to an
SQ_FETCHBLOB (SQLI section 14). An ``SQ_LODATA`` reply holds one read of an open smart large object (SQLI
section 15). Both may be larger than the receive buffer should become, so neither is parsed as a whole: each
piece is passed to its *sink* (``bytearray.extend``, or ``write`` of a file) as soon as it arrives.
"""

from __future__ import annotations

from collections.abc import Callable

from ..wire import messages as m
from ..wire.errors import Error, OperationalError, ProtocolError
from .io_steps import Exchange
from .message_stream import next_message, receive, server_error, server_exit_error
from .receive_buffer import reply_too_large
from .session import Session

Sink = Callable[[memoryview], object]

_BLOB, _LODATA = 39, 97
_MAX_GROWTH = 4  # bytes of a character, at most, for one of a single-byte code set
_INFORMATION = (m.Done, m.Cost, m.XactStat)


def discard_content(piece: memoryview) -> None:
    """Drop a piece: the sink for contents that are not wanted."""


def read_blob_reply(
    session: Session, sink: Sink, announced: int, *, exact: bool = False
) -> Exchange[tuple[int, Error | None]]:
    """Read the reply to one SQ_FETCHBLOB up to its SQ_EOT. Returns the number of bytes and the server's error.

    The server has announced that many bytes. If that is exact, the bytes beyond it are counted and dropped. If not,
    text may have grown by its conversion to another code set. Wire: ``{0027 PSTR piece}* 0027 0000 [DONE] [COST]
    EOT``. Raises ``ProtocolError`` if the end mark is missing, because a truncated value must not pass for a complete
    one, and if there is no end in sight.
    """
    most = announced if exact else None
    limit = _MAX_GROWTH * max(announced, 0) + session.buffer.max_bytes
    error: Error | None = None
    ended, count = False, 0
    while True:
        if (yield from _peek_tag(session)) == _BLOB:
            if ended:
                raise ProtocolError("A piece of a BYTE or TEXT value after the value's end.")
            ended, count = yield from _blob_pieces(session, sink, count, most, limit)
            continue
        message = yield from next_message(session)
        if isinstance(message, m.EndOfTurn):
            session.outstanding_requests -= 1
            if not ended and error is None:
                raise ProtocolError("The content of a BYTE or TEXT value has no end mark.")
            return count, error
        if isinstance(message, m.Err):
            error = error or server_error(message)
        elif isinstance(message, m.Exit):
            raise server_exit_error()
        elif not isinstance(message, _INFORMATION):
            raise ProtocolError(f"{type(message).__name__} does not belong in the reply to SQ_FETCHBLOB.")


def _blob_pieces(
    session: Session, sink: Sink, count: int, most: int | None, limit: int
) -> Exchange[tuple[bool, int]]:
    """Pass on consecutive SQ_BLOB pieces, up to ``limit`` bytes.

    Returns True after the empty piece, False before another message; and ``count`` plus their bytes.
    """
    buffer = session.buffer
    while True:
        if count > limit:
            raise reply_too_large(session.buffer.max_bytes)
        if most is not None and count > most:
            sink = discard_content
        data, at, end = buffer.data, buffer.start, buffer.end
        missing = 0
        with memoryview(data) as view:
            while True:  # inlined: a value has a thousand pieces per megabyte
                if end - at < 4:
                    missing = 4 - (end - at)
                    break
                if data[at] or data[at + 1] != _BLOB:
                    buffer.start = at
                    return False, count
                size = data[at + 2] << 8 | data[at + 3]
                if size > 0x7FFF:
                    raise ProtocolError(f"SQ_BLOB: negative length {size - 65536}.")
                stop = at + 4 + size
                padded = stop + (size & 1)
                if padded > end:
                    missing = padded - end
                    break
                if not size:
                    buffer.start = stop
                    return True, count
                sink(view[at + 4 : stop])
                count += size
                at = padded
        buffer.start = at
        if end - at >= 2 and (data[at] or data[at + 1] != _BLOB):
            return False, count
        yield from receive(session, missing)


def read_lodata_reply(session: Session, sink: Sink, most: int) -> Exchange[tuple[int, Error | None]]:
    """Read the reply to one SQ_LODATA read of ``most`` bytes up to its SQ_EOT. Returns their number and the
    server's error.

    Wire: ``0061 short op, int size, {PSTR piece}* of size bytes together, [short: size < 1] EOT``. No bytes
    mean the end of the object.
    """
    error: Error | None = None
    size: int | None = None
    while True:
        if (yield from _peek_tag(session)) == _LODATA:
            if size is not None:
                raise ProtocolError("Two SQ_LODATA in the reply to one read.")
            size = yield from _lodata_pieces(session, sink, most)
            continue
        message = yield from next_message(session)
        if isinstance(message, m.EndOfTurn):
            session.outstanding_requests -= 1
            if size is None and error is None:
                raise ProtocolError("The reply to a read of a smart large object holds no SQ_LODATA.")
            if size is not None and size < 0 and error is None:
                error = OperationalError(f"The server could not read a smart large object (result {size}).")
            return max(size or 0, 0), error
        if isinstance(message, m.Err):
            error = error or server_error(message)
        elif isinstance(message, m.Exit):
            raise server_exit_error()
        elif not isinstance(message, _INFORMATION):
            raise ProtocolError(f"{type(message).__name__} does not belong in the reply to SQ_LODATA.")


def _lodata_pieces(session: Session, sink: Sink, most: int) -> Exchange[int]:
    buffer = session.buffer
    yield from require_bytes(session, 8)
    at = buffer.start
    op = int.from_bytes(buffer.data[at + 2 : at + 4], "big", signed=True)
    size = int.from_bytes(buffer.data[at + 4 : at + 8], "big", signed=True)
    if op not in (m.LoOp.READ, m.LoOp.SEEK_READ):
        raise ProtocolError(f"SQ_LODATA: The answer to a read is for the operation {op}.")
    if size > most:
        raise ProtocolError(f"SQ_LODATA: {size} bytes where {most} were requested.")
    buffer.start = at + 8
    left = size
    while left > 0:
        yield from require_bytes(session, 2)
        at = buffer.start
        length = buffer.data[at] << 8 | buffer.data[at + 1]
        if not 0 < length <= min(left, 0x7FFF):
            raise ProtocolError(f"SQ_LODATA: a piece of {length} bytes where {left} are left.")
        yield from require_bytes(session, 2 + length + (length & 1))
        at = buffer.start + 2
        with memoryview(buffer.data) as view:
            sink(view[at : at + length])
        buffer.start = at + length + (length & 1)
        left -= length
    if size < 1:
        yield from require_bytes(session, 2)
        buffer.start += 2
    return size


def require_bytes(session: Session, count: int) -> Exchange[None]:
    """Wait until ``count`` bytes are unparsed."""
    while len(session.buffer) < count:
        yield from receive(session, count - len(session.buffer))


def _peek_tag(session: Session) -> Exchange[int]:
    yield from require_bytes(session, 2)
    buffer = session.buffer
    return buffer.data[buffer.start] << 8 | buffer.data[buffer.start + 1]
