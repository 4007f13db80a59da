"""Reading the log of a server: a capture session looks like an open smart large object (CDC section 3).

A server returns few records in one read, so several reads are sent ahead, and their replies are pending
(:mod:`~informix_arrow.operations.session`). The number of reads depends on the replies: full replies double it, other
replies reset it to one. A read that is in flight when there are no more changes would have to be waited for.
"""

from __future__ import annotations

import struct

from ..operations.cancel import raise_if_cancelled
from ..operations.instrument import report
from ..operations.io_steps import Exchange, Send
from ..operations.message_stream import encode_group, with_outbox
from ..operations.object_streams import Sink, read_lodata_reply
from ..operations.request_reply import drain_pending_replies
from ..operations.session import Session
from ..wire import messages as m
from ..wire.errors import INTERRUPTED, Error, OperationalError

MAX_READS_AHEAD = 16
"""Maximum reads in flight."""

_REPLY = struct.Struct(">hhih")  # tag, operation, size, length of the first chunk
_EOT = b"\x00\x0c"


class CaptureReader:
    """The reads of one capture session. In ``session.pending_replies`` it stands once for each read in flight.

    Parameters
    ----------
    capture
        The number of the capture session.
    count
        Maximum bytes of one read.
    records
        Maximum records of one read, as set for the capture session.
    sink
        Called with the data of each reply.

    Attributes
    ----------
    requests_sent, replies_read
        Number of reads sent and of replies received since the beginning.
    """

    bulky = True

    def __init__(self, capture: int, count: int, records: int, sink: Sink) -> None:
        # The session number is an int, sent as a short (CDC section 3).
        self._request = m.LoData.read((capture & 0xFFFF ^ 0x8000) - 0x8000, count)
        self._count, self._records, self._sink = count, records, sink
        self._depth = 1
        self._replies_since_adapt = 0  # replies since the last `adapt_depth`
        self._short_replies = 0  # those with room for more bytes
        self._error: Error | None = None  # of a reply that was read for another operation
        self.requests_sent = self.replies_read = 0

    @property
    def in_flight(self) -> int:
        """Number of reads without a reply yet."""
        return self.requests_sent - self.replies_read

    def adapt_depth(self, records: int) -> None:
        """Adapt the number of reads in flight to the number of records received since the last call."""
        if not self._replies_since_adapt:
            return
        full = records >= self._short_replies * self._records
        self._depth = min(2 * self._depth, MAX_READS_AHEAD) if full else 1
        self._replies_since_adapt = self._short_replies = 0

    def read(self, session: Session) -> Exchange[None]:
        """Read at least one reply: :func:`read_changes`."""
        if self._error is not None:
            raise self._error
        if not self.in_flight:
            yield from drain_pending_replies(session)
            yield from self._send_reads(session)
        while session.pending_replies[0] is not self:
            yield from session.pending_replies[0].read_reply(session)
        error = yield from self._read_one(session)
        if error is not None:
            raise error
        while session.pending_replies and session.pending_replies[0] is self and self._read_buffered(session):
            pass
        if self._depth > 1 and 2 * self.in_flight <= self._depth:
            yield from self._send_reads(session)

    def read_reply(self, session: Session) -> Exchange[None]:
        """Read the next reply on behalf of another operation. Its error is kept for the next :meth:`read`."""
        error = yield from self._read_one(session)
        # INTERRUPTED is the effect of a late interrupt: nothing is lost.
        if error is not None and error.sqlcode != INTERRUPTED:
            self._error = self._error or error

    def _send_reads(self, session: Session) -> Exchange[None]:
        number = self._depth - self.in_flight
        request = encode_group(session, (self._request,)) * number
        session.pending_replies += (self,) * number
        self.requests_sent += number
        yield Send(with_outbox(session, request))

    def _read_one(self, session: Session) -> Exchange[Error | None]:
        """Read one reply and return the error that it holds."""
        session.pending_replies.popleft()
        session.outstanding_requests += 1
        self.replies_read += 1
        size, error = yield from read_lodata_reply(session, self._sink, self._count)
        if error is None and not size:
            error = OperationalError("The server ended the stream of changes.")
        self._record_size(size)
        return error

    def _read_buffered(self, session: Session) -> bool:
        """Take a reply that is completely in the buffer, in one piece, as nearly all are.

        Returns False if there is none.
        """
        buffer = session.buffer
        start = buffer.start
        if buffer.end - start < _REPLY.size:
            return False
        tag, operation, size, chunk = _REPLY.unpack_from(buffer.data, start)
        if tag != m.LoData.TAG or operation != m.LoOp.READ or size != chunk or not 0 < size <= self._count:
            return False
        start += _REPLY.size
        end = start + size + (size & 1)
        if end + len(_EOT) > buffer.end or buffer.data[end : end + len(_EOT)] != _EOT:
            return False
        session.pending_replies.popleft()
        self.replies_read += 1
        with memoryview(buffer.data) as view:
            self._sink(view[start : start + size])
        buffer.start = end + len(_EOT)
        self._record_size(size)
        return True

    def _record_size(self, size: int) -> None:
        self._replies_since_adapt += 1
        self._short_replies += size < self._count


def read_changes(session: Session, reads: CaptureReader) -> Exchange[None]:
    """Wait for the reply to at least one read of a capture session, and take all replies that were received completely.

    The server replies when it has a record, or when the timeout of the capture session expires. Data that was passed to
    the sink counts even if this raises: the server does not send it again.
    """
    report(session, "capture")
    yield from raise_if_cancelled(session)
    yield from reads.read(session)
