"""Reading the log of a server: a capture session looks like an open smart large object (CDC section 3).

A server gives few records in one read, so one that has a lot to give is asked for several reads at a time: they are
sent ahead, and their replies owed (:mod:`.session`). How many depends on what came: replies that are full let it
double, others bring it back to one, as a read that is on its way when there is nothing more has to be waited for.
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
"""Reads that are on their way at a time."""

_REPLY = struct.Struct(">hhih")  # tag, operation, size, length of the first piece
_EOT = b"\x00\x0c"


class CaptureReader:
    """The reads of one capture session. Stands in ``session.owed`` once for each that is on its way.

    Parameters
    ----------
    capture
        The number of the session.
    count
        Bytes of one read, at most.
    records
        Records of one read, at most, which the capture session was told.
    sink
        Takes what comes.

    Attributes
    ----------
    asked, answered
        How many reads were sent, and how many answered, since the beginning.
    """

    bulky = True

    def __init__(self, capture: int, count: int, records: int, sink: Sink) -> None:
        # A short on the wire, of an int (CDC section 3).
        self._request = m.LoData.read((capture & 0xFFFF ^ 0x8000) - 0x8000, count)
        self._count, self._records, self._sink = count, records, sink
        self._depth = 1
        self._replies_since_adapt = 0  # replies since `adapt_depth` was told
        self._short_replies = 0  # those of them that had room for more bytes
        self._error: Error | None = None  # of a reply that was taken in for somebody else
        self.requests_sent = self.replies_read = 0

    @property
    def in_flight(self) -> int:
        """Reads that were sent and not answered."""
        return self.requests_sent - self.replies_read

    def adapt_depth(self, records: int) -> None:
        """So many records were in the replies since this was told last."""
        if not self._replies_since_adapt:
            return
        full = records >= self._short_replies * self._records
        self._depth = min(2 * self._depth, MAX_READS_AHEAD) if full else 1
        self._replies_since_adapt = self._short_replies = 0

    def read(self, session: Session) -> Exchange[None]:
        """See :func:`read_changes`."""
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
        """Read the next reply while somebody else has the word; its error is for who reads on."""
        error = yield from self._read_one(session)
        if (
            error is not None and error.sqlcode != INTERRUPTED
        ):  # what a late interrupt has met, nothing is lost by
            self._error = self._error or error

    def _send_reads(self, session: Session) -> Exchange[None]:
        number = self._depth - self.in_flight
        request = encode_group(session, (self._request,)) * number
        session.pending_replies += (self,) * number
        self.requests_sent += number
        yield Send(with_outbox(session, request))

    def _read_one(self, session: Session) -> Exchange[Error | None]:
        """Read one reply; the error that it holds."""
        session.pending_replies.popleft()
        session.outstanding_requests += 1
        self.replies_read += 1
        size, error = yield from read_lodata_reply(session, self._sink, self._count)
        if error is None and not size:
            error = OperationalError(
                "the server has ended the stream of changes: a read of the capture session is empty"
            )
        self._record_size(size)
        return error

    def _read_buffered(self, session: Session) -> bool:
        """Take in a reply that is here whole, in one piece, as nearly all are; whether there is one."""
        buffer = session.buffer
        start = buffer.start
        if buffer.end - start < _REPLY.size:
            return False
        tag, operation, size, piece = _REPLY.unpack_from(buffer.data, start)
        if tag != m.LoData.TAG or operation != m.LoOp.READ or size != piece or not 0 < size <= self._count:
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
    """Wait for the reply to at least one read of a capture session; all that are here whole are taken in.

    The server answers when it has a record, or when the timeout of the capture session is over. What has gone to
    the sink counts, whatever this ends with: it is not sent again.
    """
    report(session, "capture")
    yield from raise_if_cancelled(session)
    yield from reads.read(session)
