"""Requests and replies of one session: send a group of messages and read its reply to the end.

Pending replies and the outbox are described in :mod:`.session`; the functions here maintain them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..wire import messages as m
from ..wire.errors import Error, ProtocolError
from ..wire.messages import Describe, Message
from ..wire.primitives import NeedMoreData, Reader
from . import client_files
from .io_steps import Exchange, Send
from .message_stream import (
    encode_group,
    next_message,
    receive,
    record_received,
    require_no_extra_data,
    send_receive,
    server_error,
    server_exit_error,
    with_outbox,
)
from .receive_buffer import OBJECT_BYTES, reply_too_large
from .session import Session


@dataclass(slots=True)
class Reply:
    """The contents of one reply group, read up to its SQ_EOT. Costs and transaction events are left out."""

    describe: Describe | None = None
    done: m.Done | None = None
    insert_done: m.InsertDone | None = None
    error: m.Err | None = None
    tuples: list[bytes] = field(default_factory=list)
    other_messages: list[object] = field(default_factory=list)

    def check(self, statement: str | None = None) -> None:
        """Raise the database error that the reply holds, if it holds one."""
        if self.error is not None:
            raise server_error(self.error, statement)


def request(session: Session, messages: Sequence[Message]) -> Exchange[Reply]:
    """Send one group and read its reply to the end. An SQ_ERR is returned in the reply, not raised.

    Pending rows are read before sending, so that the server is never blocked by a full fetch reply while we
    send. Short pending replies are read after sending and need no wait of their own.
    """
    data = encode_group(session, messages)
    if session.pending_replies and any(reply.bulky for reply in session.pending_replies):
        yield from drain_pending_replies(session)
    session.outstanding_requests += 1
    began = session.clock()
    if session.pending_replies or session.buffer.start != session.buffer.end:
        yield Send(with_outbox(session, data))
        yield from drain_pending_replies(session)
    else:
        record_received(session, (yield send_receive(session, with_outbox(session, data))))
    reply = yield from read_reply(session)
    session.round_trip = min(session.round_trip, session.clock() - began)
    return reply


def pipeline(session: Session, groups: Sequence[Sequence[Message]]) -> Exchange[list[Reply]]:
    """Send several groups together and read their replies. No group may depend on the outcome of another."""
    return (yield from pipeline_encoded(session, [encode_group(session, messages) for messages in groups]))


def pipeline_encoded(session: Session, groups: Sequence[bytes]) -> Exchange[list[Reply]]:
    """Send groups that are already encoded as :func:`pipeline` does, and read their replies."""
    yield from send_pipeline(session, groups)
    replies = []
    for _ in groups:
        replies.append((yield from read_reply(session)))
    return replies


#: A function like :func:`send_pipeline`: sends encoded groups together.
Sender: TypeAlias = Callable[[Session, Sequence[bytes]], Exchange[bytes]]


def send_pipeline(session: Session, groups: Sequence[bytes]) -> Exchange[bytes]:
    """Send encoded groups together; the caller reads each reply with :func:`read_reply`.

    Returns a copy of the bytes received so far if there are few, else nothing. A caller that knows the usual
    replies and finds them there in full may skip them with :func:`consume_buffered_replies`.
    """
    if session.pending_replies:
        yield from drain_pending_replies(session)
    session.outstanding_requests += len(groups)
    buffer, data = session.buffer, b"".join(groups)
    if not data or buffer.start != buffer.end:
        yield Send(data)
        return b""
    record_received(session, (yield send_receive(session, data)))
    return (
        bytes(buffer.data[buffer.start : buffer.end])
        if buffer.end - buffer.start <= _MAX_COPIED_BYTES
        else b""
    )


def consume_buffered_replies(session: Session, groups: int) -> None:
    """Skip all received bytes, which the caller knows to be exactly the replies to ``groups`` groups."""
    session.buffer.start = session.buffer.end
    session.outstanding_requests -= groups


def send_all(session: Session, groups: Sequence[bytes]) -> Exchange[None]:
    """Send encoded groups together and keep what arrives meanwhile; the caller reads their replies.

    Pending replies are read as in :func:`request`: short ones after sending, so that they need no wait of their
    own.
    """
    if not groups:
        return
    if any(reply.bulky for reply in session.pending_replies):
        yield from drain_pending_replies(session)
    session.outstanding_requests += len(groups)
    with session.buffer.reserve() as room:
        arrived = yield Send(with_outbox(session, b"".join(groups)), room)
    session.buffer.end += arrived
    yield from drain_pending_replies(session)


def read_reply(session: Session) -> Exchange[Reply]:
    """Read the operation's own reply up to its SQ_EOT.

    Inlined, without a generator per message, because a load reads one reply per row.
    """
    reply, buffer, framing = Reply(), session.buffer, session.framing
    reply_bytes = 0  # bytes that the reply keeps, its objects included
    if buffer.start == buffer.end:  # the usual case, checked here because an exception would cost more
        yield from receive(session)
    reader = Reader(buffer.data, buffer.start, buffer.end)
    while True:
        if buffer.data.startswith(_EOT, reader.pos, reader.end):
            buffer.start = reader.pos + 2
            session.outstanding_requests -= 1
            require_no_extra_data(session)
            refused = client_files.pop_refusal(session, failed=reply.error is not None)
            if refused is not None:
                raise refused
            return reply
        try:
            message = m.parse_server_message(reader, framing)
        except NeedMoreData as need:
            yield from receive(session, need.missing)
            reader = Reader(buffer.data, buffer.start, buffer.end, reader.partial)
            continue
        begin, buffer.start = buffer.start, reader.pos
        kind = type(message)
        if kind is m.Exit:
            raise server_exit_error()
        # Compare exact classes, which have no subclasses: isinstance() on an abstract class is slower.
        if type(message) is m.FileRequest:
            yield from client_files.handle_file_request(session, message)
            reader = Reader(buffer.data, buffer.start, buffer.end)
            continue
        if type(message) is m.Done:
            reply.done = message
        elif type(message) is m.Err:
            reply.error = reply.error or message
        elif type(message) is m.InsertDone:
            reply.insert_done = message
        elif type(message) is Describe:
            reply.describe = message
        elif type(message) is m.Tuple:
            reply.tuples.append(message.payload)
            reply_bytes += len(message.payload) + OBJECT_BYTES
        elif kind not in _UNINFORMATIVE:
            reply.other_messages.append(message)
            reply_bytes += reader.pos - begin + 4 * OBJECT_BYTES
        if reply_bytes > buffer.max_bytes:
            raise reply_too_large(buffer.max_bytes)


_EOT = b"\x00\x0c"
_MAX_COPIED_BYTES = 64  # bytes
_UNINFORMATIVE = frozenset({m.Cost, m.XactStat, m.Close})


def drain_pending_replies(session: Session) -> Exchange[None]:
    """Read all pending replies in wire order. Errors in them go to their cursor, or are dropped."""
    while session.pending_replies:
        if session.outbox:
            yield Send(with_outbox(session, b""))
        yield from session.pending_replies[0].read_reply(session)


class IgnoredReply:
    """A pending reply that is read and dropped with its errors, such as the one to a RELEASE."""

    bulky = False

    def read_reply(self, session: Session) -> Exchange[None]:
        buffer = session.buffer
        if buffer.start == buffer.end:
            yield from receive(session)
        begin = buffer.start
        if buffer.end - begin > 1 and buffer.data[begin : begin + 2] == _EOT:  # the usual case
            buffer.start = begin + 2
            session.pending_replies.popleft()
            require_no_extra_data(session)
            return
        while not isinstance(message := (yield from next_message(session)), m.EndOfTurn):
            if isinstance(message, m.Exit):
                raise server_exit_error()
            if isinstance(message, m.FileRequest):  # its SQ_EOT would be mistaken for the reply's
                raise ProtocolError("The server asked for a client file although no statement uses one.")
        session.pending_replies.popleft()
        require_no_extra_data(session)


IGNORED_REPLY = IgnoredReply()


class DeferredReply:
    """The reply to a group that was sent ahead of others, checked once it has arrived. ``error`` is its SQ_ERR."""

    bulky = False

    def __init__(self) -> None:
        self.error: m.Err | None = None

    def read_reply(self, session: Session) -> Exchange[None]:
        while not isinstance(message := (yield from next_message(session)), m.EndOfTurn):
            if isinstance(message, m.Exit):
                raise server_exit_error()
            if isinstance(message, m.FileRequest):  # its SQ_EOT would be mistaken for the reply's
                raise ProtocolError("The server asked for a client file although no statement uses one.")
            if isinstance(message, m.Err):
                self.error = self.error or message
        session.pending_replies.popleft()
        require_no_extra_data(session)


def send_deferred(session: Session, messages: Sequence[Message]) -> DeferredReply:
    """Queue a group to be sent in front of the next one. Its reply is known once pending replies are drained."""
    reply = DeferredReply()
    session.outbox += encode_group(session, messages)
    session.pending_replies.append(reply)
    return reply


def queue(session: Session, data: bytes, groups: int = 1) -> None:
    """Queue ``groups`` encoded groups to be sent in front of the next one. Their replies are ignored."""
    session.outbox += data
    session.pending_replies.extend((IGNORED_REPLY,) * groups)


def flush(session: Session) -> Exchange[None]:
    """Send the queue now, for when no other request may follow for a long time."""
    if session.outbox:
        yield Send(with_outbox(session, b""))


def clear_orphans(session: Session) -> Exchange[None]:
    """Close the cursors whose results were dropped before they were read to the end."""
    while session.orphans:
        yield from session.orphans.popleft().close(session)


def close_cursors(session: Session, why: Error) -> Exchange[None]:
    """Close every open cursor. Later reads raise ``why`` instead of reporting the end of the rows."""
    for cursor in list(session.cursors):
        cursor.fail(why)
        yield from cursor.close(session)
