"""Reading the log of a server: a capture session looks like an open smart large object (CDC section 3)."""

from __future__ import annotations

from ..wire import messages as m
from ..wire.errors import OperationalError
from .cancel import heed
from .object_streams import Sink, read_lodata_reply
from .observed import tell
from .session import Session
from .steps import Exchange, Send
from .stream import group, outgoing
from .turns import settle


def read_changes(session: Session, capture: int, count: int, sink: Sink) -> Exchange[int]:
    """One read of the capture session ``capture``, of at most ``count`` bytes: what comes goes to ``sink``.

    The server answers when it has a record, or when the timeout of the capture session is over. What has gone to
    ``sink`` counts, whatever this ends with: it is not sent again.
    """
    tell(session, "capture")
    yield from heed(session)
    yield from settle(session)
    descriptor = (capture & 0xFFFF ^ 0x8000) - 0x8000  # a short on the wire, of an int (CDC section 3)
    request = group(session, (m.LoData.read(descriptor, count),))
    session.own += 1
    yield Send(outgoing(session, request))
    size, error = yield from read_lodata_reply(session, sink, count)
    if error is not None:
        raise error
    if not size:
        raise OperationalError(
            "the server has ended the stream of changes: a read of the capture session is empty"
        )
    return size
