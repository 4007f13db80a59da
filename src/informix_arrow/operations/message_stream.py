"""The message stream of one session: sends groups of messages, receives messages one at a time (SQLI section
1).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..wire import messages as m
from ..wire.capabilities import Framing
from ..wire.errors import Error, InterfaceError, ProtocolError, database_error
from ..wire.messages import Message
from ..wire.primitives import NeedMoreData, Reader
from .io_steps import ConnectionLost, Exchange, Receive, SendReceive
from .receive_buffer import reply_too_large
from .session import Session

_END = m.EndOfTurn().encode(Framing())  # the same in every framing
_EXIT = m.Exit().encode(Framing())  # as is this


def encode_group(session: Session, messages: Sequence[Message]) -> bytes:
    """Encode one client group, SQ_EOT included.

    Raises ``InterfaceError`` if a value does not fit its message, and ``DataError`` if the connection's code
    set lacks a character. Nothing was sent in either case.
    """
    framing = session.framing
    try:
        return b"".join([message.encode(framing) for message in messages]) + _END
    except ValueError as error:
        raise InterfaceError(f"This cannot be sent: {error}") from error


def encode_message(session: Session, message: Message) -> bytes:
    """Encode one message of a group. Raises as :func:`encode_group`."""
    try:
        return message.encode(session.framing)
    except ValueError as error:
        raise InterfaceError(f"This cannot be sent: {error}") from error


def with_outbox(session: Session, data: bytes | bytearray) -> bytes | bytearray:
    """Return ``data``, a group about to be sent, with the queued groups in front of it."""
    if session.outbox:
        data = bytes(session.outbox) + data
        session.outbox.clear()
    return data


def receive(session: Session, missing: int = 1) -> Exchange[None]:
    """Wait until at least ``missing`` more bytes have arrived. Raises if the server closes instead."""
    buffer = session.buffer
    needed = buffer.end - buffer.start + missing
    if needed > buffer.max_bytes:
        raise reply_too_large(buffer.max_bytes)
    while buffer.end - buffer.start < needed:
        with buffer.reserve() as room:
            count = yield Receive(room, session.idle_timeout)
        record_received(session, count)


def send_receive(session: Session, data: bytes | bytearray) -> SendReceive:
    """Return the step that sends ``data`` and waits for the first bytes of the reply.

    Pass its result to :func:`record_received`. Use it only when the buffer is empty: buffered bytes, such as a
    goodbye of the server, would have to be read first.
    """
    return SendReceive(data, session.buffer.reserve(), session.idle_timeout)


def record_received(session: Session, count: int) -> None:
    """Add ``count`` received bytes to the buffer. Raises ``ConnectionLost`` for 0, the end of the stream."""
    if not count:
        raise ConnectionLost("The server closed the connection before it replied.")
    session.buffer.end += count


def next_message(session: Session) -> Exchange[object]:
    """Read one complete message, waiting for its bytes."""
    buffer, partial = session.buffer, None
    if buffer.start == buffer.end:
        yield from receive(session)
    while True:
        reader = Reader(buffer.data, buffer.start, buffer.end, partial)
        try:
            message = m.parse_server_message(reader, session.framing)
        except NeedMoreData as need:
            partial = reader.partial
            yield from receive(session, need.missing)
            continue
        buffer.start = reader.pos
        return message


def server_error(message: m.Err, statement: str | None = None) -> Error:
    """Return the exception for an SQ_ERR."""
    return database_error(message.sqlcode, message.isamcode, message.offset, message.near, statement)


def server_exit_error() -> Error:
    """Return the error for an SQ_EXIT that the client did not request."""
    return ConnectionLost("The server ended the session (SQ_EXIT).")


def require_no_extra_data(session: Session, reading: int = 0) -> None:
    """Raise ``ProtocolError`` if more bytes follow a reply than ``reading`` pending replies explain.

    Such bytes would be mistaken for the reply to the next request: rows of one query for those of another. An
    SQ_EXIT is left for the next request.
    """
    buffer = session.buffer
    if buffer.start == buffer.end or len(session.pending_replies) > reading or session.outstanding_requests:
        return
    if buffer.data.startswith(_EXIT, buffer.start, buffer.end):
        return
    raise ProtocolError(
        f"The server sent {len(buffer)} more bytes after the end of its answer, beginning with "
        f"{buffer.data[buffer.start : min(buffer.end, buffer.start + 8)].hex(' ')}. Its answers can no longer "
        "be assigned to requests. Connect again."
    )
