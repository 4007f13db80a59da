"""Turns of one session: a group is sent, its reply is read to the end; replies that were owed are taken in before.

What :class:`.session.Session` says of owed replies and of the outbox is kept here.
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
    """What one reply group held, its closing SQ_EOT read. Costs and transaction events are left out."""

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
    """Send one group and read its reply to the end. An SQ_ERR is in the reply, not raised.

    Owed rows are taken in before sending, so that the server is never stuck with a full fetch reply while we
    send; short owed answers are read after sending and cost no wait of their own.
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
    """Send several groups in one flight and read their replies. None of them may depend on how another fared."""
    return (yield from pipeline_encoded(session, [encode_group(session, messages) for messages in groups]))


def pipeline_encoded(session: Session, groups: Sequence[bytes]) -> Exchange[list[Reply]]:
    """:func:`pipeline` with groups that were encoded before."""
    yield from send_pipeline(session, groups)
    replies = []
    for _ in groups:
        replies.append((yield from read_reply(session)))
    return replies


#: Sends encoded groups in one flight; as :func:`send_pipeline`.
Sender: TypeAlias = Callable[[Session, Sequence[bytes]], Exchange[bytes]]


def send_pipeline(session: Session, groups: Sequence[bytes]) -> Exchange[bytes]:
    """Send encoded groups in one flight; their replies are for :func:`read_reply`, one by one.

    Returned is a copy of what has come of them, while that is little, else nothing: whoever knows what the server says
    as a rule, and finds it there in full, may pass over it by :func:`consume_buffered_replies` instead.
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
    """Pass over all that has come: the replies to so many groups, as the caller has seen, and nothing behind them."""
    session.buffer.start = session.buffer.end
    session.outstanding_requests -= groups


def send_all(session: Session, groups: Sequence[bytes]) -> Exchange[None]:
    """Send encoded groups in one flight, keeping what arrives meanwhile; their replies are the caller's to read.

    Owed replies are taken in as by :func:`request`: short ones behind the sending, so that they cost no wait.
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
    """Read the exchange's own reply to its SQ_EOT.

    Written flat, without a generator per message: a load reads a reply for each of its rows.
    """
    reply, buffer, framing = Reply(), session.buffer, session.framing
    held = 0  # bytes of what the reply keeps, the objects counted
    if buffer.start == buffer.end:  # as a rule: no need to find that out by an exception
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
        buffer.start = reader.pos
        kind = type(message)
        if kind is m.Exit:
            raise server_exit_error()
        # Their very classes, which have none beneath them: to ask an abstract class what is an instance takes longer.
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
            held += len(message.payload) + OBJECT_BYTES
        elif kind not in _UNINFORMATIVE:
            reply.other_messages.append(message)
            held += 4 * OBJECT_BYTES
        if held > buffer.max_bytes:
            raise reply_too_large(buffer.max_bytes)


_EOT = b"\x00\x0c"
_MAX_COPIED_BYTES = 64  # bytes
_UNINFORMATIVE = frozenset({m.Cost, m.XactStat, m.Close})


def drain_pending_replies(session: Session) -> Exchange[None]:
    """Take in every owed reply, in wire order. Errors in them concern their cursor, or nobody."""
    while session.pending_replies:
        if session.outbox:
            yield Send(with_outbox(session, b""))
        yield from session.pending_replies[0].read_reply(session)


class IgnoredReply:
    """An owed reply that nobody waits for, such as the answer to a RELEASE: read and dropped, errors
    included.
    """

    bulky = False

    def read_reply(self, session: Session) -> Exchange[None]:
        buffer = session.buffer
        if buffer.start == buffer.end:
            yield from receive(session)
        begin = buffer.start
        if buffer.end - begin > 1 and buffer.data[begin : begin + 2] == _EOT:  # nearly always
            buffer.start = begin + 2
            session.pending_replies.popleft()
            require_no_extra_data(session)
            return
        while not isinstance(message := (yield from next_message(session)), m.EndOfTurn):
            if isinstance(message, m.Exit):
                raise server_exit_error()
            if isinstance(message, m.FileRequest):  # its SQ_EOT would pass for the reply's
                raise ProtocolError("the server asked for a client file where it had nothing to do with any")
        session.pending_replies.popleft()
        require_no_extra_data(session)


IGNORED_REPLY = IgnoredReply()


class DeferredReply:
    """The reply to a group that went ahead of others, to be judged when it has come. ``error`` is its SQ_ERR."""

    bulky = False

    def __init__(self) -> None:
        self.error: m.Err | None = None

    def read_reply(self, session: Session) -> Exchange[None]:
        while not isinstance(message := (yield from next_message(session)), m.EndOfTurn):
            if isinstance(message, m.Exit):
                raise server_exit_error()
            if isinstance(message, m.FileRequest):  # its SQ_EOT would pass for the reply's
                raise ProtocolError("the server asked for a client file where it had nothing to do with any")
            if isinstance(message, m.Err):
                self.error = self.error or message
        session.pending_replies.popleft()
        require_no_extra_data(session)


def send_deferred(session: Session, messages: Sequence[Message]) -> DeferredReply:
    """Let a group leave in front of the next one; what the server says of it is known when owed replies are settled."""
    answer = DeferredReply()
    session.outbox += encode_group(session, messages)
    session.pending_replies.append(answer)
    return answer


def queue(session: Session, data: bytes, groups: int = 1) -> None:
    """Let ``data``, so many groups, leave in front of the next one; nobody waits for their answers."""
    session.outbox += data
    session.pending_replies.extend((IGNORED_REPLY,) * groups)


def flush(session: Session) -> Exchange[None]:
    """Send what is queued, now; for when nothing may come after it for long."""
    if session.outbox:
        yield Send(with_outbox(session, b""))


def clear_orphans(session: Session) -> Exchange[None]:
    """Close the cursors that were dropped half read."""
    while session.orphans:
        yield from session.orphans.popleft().close(session)


def close_cursors(session: Session, why: Error) -> Exchange[None]:
    """Close every cursor that is open; who reads on gets ``why``, not the end of the rows."""
    for cursor in list(session.cursors):
        cursor.fail(why)
        yield from cursor.close(session)
