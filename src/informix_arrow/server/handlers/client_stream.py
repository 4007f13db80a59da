"""The client, as a conversation sees it: bytes that have come and bytes that leave. The socket behind it is the
edge's."""

from __future__ import annotations

from typing import Protocol


class ClientDisconnected(Exception):
    """The connection ended: closed, reset, or silent beyond the time limit given."""


class ClientStream(Protocol):
    """What the parts of a conversation need of the connection.

    ``inbox[pos:]`` is what has not been parsed yet. `awaiting_client` is set while a statement waits for the client, which
    is no idleness. `client_closed` is set, by another thread, when the client has gone: what it had sent ahead is not served.
    `last_received` is when bytes came last, by the monotonic clock.
    """

    inbox: bytes
    pos: int
    awaiting_client: bool
    client_closed: bool
    last_received: float

    @property
    def unread(self) -> int:
        """Received bytes that nobody has parsed yet."""

    def queue(self, data: bytes | bytearray) -> None:
        """Append reply bytes, without waiting. A bytearray is given away: nobody else changes or reads it any more."""

    def flush(self) -> None:
        """Send what the connection takes now. PeerGone when it broke."""

    def wait_until_sent(self) -> None:
        """Wait until little is left unsent; for whoever makes a long reply. PeerGone when the client leaves."""

    def receive(self) -> bool:
        """Wait for at least one more byte; False at the end of the client's stream. PeerGone when it broke."""

    def skip_interrupts(self) -> bool:
        """Where a message should begin: pass over interrupts that came as data; whether there were any."""
