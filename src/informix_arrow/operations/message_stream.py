"""The stream of one session: groups of messages out, messages in, one at a time (SQLI section 1)."""

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
_EXIT = m.Exit().encode(Framing())  # and this


def encode_group(session: Session, messages: Sequence[Message]) -> bytes:
    """Encode one client group, SQ_EOT included.

    Raises ``InterfaceError`` when a value does not fit its message, ``DataError`` when the connection's code
    set lacks a character. Nothing was sent then.
    """
    framing = session.framing
    try:
        return b"".join([message.encode(framing) for message in messages]) + _END
    except ValueError as error:
        raise InterfaceError(f"this cannot be sent: {error}") from error


def encode_message(session: Session, message: Message) -> bytes:
    """One message of a group. Raises as :func:`encode_group`."""
    try:
        return message.encode(session.framing)
    except ValueError as error:
        raise InterfaceError(f"this cannot be sent: {error}") from error


def with_outbox(session: Session, data: bytes | bytearray) -> bytes | bytearray:
    """``data``, a group about to be sent, behind what is to leave before it."""
    if session.outbox:
        data = bytes(session.outbox) + data
        session.outbox.clear()
    return data


def receive(session: Session, missing: int = 1) -> Exchange[None]:
    """Wait until at least ``missing`` more bytes are here. The server closing instead is an error."""
    buffer = session.buffer
    wanted = buffer.end - buffer.start + missing
    if wanted > buffer.max_bytes:
        raise reply_too_large(buffer.max_bytes)
    while buffer.end - buffer.start < wanted:
        with buffer.reserve() as room:
            count = yield Receive(room, session.idle_timeout)
        record_received(session, count)


def send_receive(session: Session, data: bytes | bytearray) -> SendReceive:
    """The step that sends ``data`` and waits for the first bytes of the answer; what it gives is for :func:`record_received`.

    For when no bytes lie in the buffer, such as a goodbye, which would have to be looked at first.
    """
    return SendReceive(data, session.buffer.reserve(), session.idle_timeout)


def record_received(session: Session, count: int) -> None:
    """So many bytes have come into the buffer's room; ``ConnectionLost`` for none, which is the end of all."""
    if not count:
        raise ConnectionLost("the server closed the connection while its answer was awaited")
    session.buffer.end += count


def next_message(session: Session) -> Exchange[object]:
    """Read one whole message, waiting for its bytes."""
    buffer, kept = session.buffer, None
    if buffer.start == buffer.end:
        yield from receive(session)
    while True:
        reader = Reader(buffer.data, buffer.start, buffer.end, kept)
        try:
            message = m.parse_server_message(reader, session.framing)
        except NeedMoreData as need:
            kept = reader.partial
            yield from receive(session, need.missing)
            continue
        buffer.start = reader.pos
        return message


def server_error(message: m.Err, statement: str | None = None) -> Error:
    """The exception for an SQ_ERR."""
    return database_error(message.sqlcode, message.isamcode, message.offset, message.near, statement)


def server_exit_error() -> Error:
    """The error for an SQ_EXIT that nobody asked for."""
    return ConnectionLost("the server ended the session (SQ_EXIT)")


def require_no_extra_data(session: Session, reading: int = 0) -> None:
    """``ProtocolError`` when there is more behind a reply than ``reading`` replies are owed for.

    It would pass for the answer to what is asked next: rows of one query for those of another. A server that says
    goodbye is heard when it is asked next.
    """
    buffer = session.buffer
    if buffer.start == buffer.end or len(session.pending_replies) > reading or session.outstanding_requests:
        return
    if buffer.data.startswith(_EXIT, buffer.start, buffer.end):
        return
    raise ProtocolError(
        f"the server sent {len(buffer)} more bytes behind the end of its answer, beginning with "
        f"{buffer.data[buffer.start : min(buffer.end, buffer.start + 8)].hex(' ')}: it is out of step, as "
        "the next answer would be taken for another's; connect again"
    )
