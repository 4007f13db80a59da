"""What an exchange may ask of the transport that runs it.

An exchange is a generator: it yields one of the steps below, is sent back an ``int``, and returns its result.
It never touches a socket, a clock or a thread, so the blocking and the asyncio transport run the very same
conversations.

========================  ==============================================================================
step                      what the runner answers
========================  ==============================================================================
``Connect(host, port)``   0, once a fresh connection to that address stands (an earlier one is closed)
``Send(data)``            0, once all of ``data`` was handed to the operating system
``Send(data, into)``      bytes that arrived *meanwhile* and now lie at the start of ``into``
``Receive(into)``         bytes that now lie at the start of ``into``, at least 1; 0 = the peer closed
========================  ==============================================================================

A step that fails is answered by :class:`ConnectionLost`, thrown into the exchange.

``Send`` with ``into`` is how a pipeline stays free of deadlock: a server that cannot get rid of its replies
stops reading, so whoever sends much must take in replies while sending (SQLI section 11).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from ..wire.errors import OperationalError

T = TypeVar("T")


class ConnectionLost(OperationalError):
    """The connection could not be made, or broke or fell silent under an exchange; it cannot be used any
    more.
    """


@dataclass(frozen=True, slots=True)
class Connect:
    """Open the transport to ``host``:``port``; a connection that is open already is closed first."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send all of ``data``; with ``into``, also take in what arrives while the sending waits."""

    data: bytes
    into: memoryview | None = None


@dataclass(frozen=True, slots=True)
class Receive:
    """Wait until at least one byte arrives and put as many as there are into ``into``.

    ``patience`` is how many seconds of silence end the connection from here on; None leaves it at the user's
    setting.
    """

    into: memoryview
    patience: float | None = None


Step: TypeAlias = Connect | Send | Receive
Exchange: TypeAlias = Generator[Step, int, T]
