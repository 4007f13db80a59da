"""The client as a protocol session sees it: received bytes and bytes to send. The socket belongs to `server.net`."""

from __future__ import annotations

from typing import Protocol


class ClientDisconnected(Exception):
    """The connection ended: closed, reset, or silent beyond the time limit."""


class ClientSilent(ClientDisconnected):
    """The client was silent beyond the time limit of the login, or of an idle session."""


class ClientStream(Protocol):
    """The connection as a protocol session uses it.

    ``inbox[pos:]`` has not been parsed yet. `awaiting_client` is set while a statement waits for the client, which does
    not count as idle. `client_closed` is set, by another thread, when the client is gone: requests sent ahead are then
    not served. `last_received` is the time at which bytes arrived last, by the monotonic clock.
    """

    inbox: bytes
    pos: int
    awaiting_client: bool
    client_closed: bool
    last_received: float

    @property
    def unread(self) -> int:
        """Received bytes that have not been parsed yet."""

    @property
    def unsent(self) -> int:
        """Reply bytes that the connection has not accepted yet."""

    def queue(self, data: bytes | bytearray) -> None:
        """Append reply bytes, without waiting. A bytearray must not be used afterwards."""

    def flush(self) -> None:
        """Send what the connection accepts now. Raises ClientDisconnected if it is broken."""

    def wait_until_sent(self) -> None:
        """Wait until little is left unsent, between the parts of a long reply.

        Raises ClientDisconnected if the client leaves.
        """

    def receive(self) -> bool:
        """Wait for at least one more byte; return False at the end of the client's stream.

        Raises ClientDisconnected if the connection is broken.
        """

    def skip_interrupts(self) -> bool:
        """Skip interrupts that arrived as data where a message should begin; return whether there were any."""
