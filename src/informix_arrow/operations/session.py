"""The state of one client session: the agreed settings and the replies that are still to come.

After login SQLI has neither packets nor lengths: the client sends groups of messages, each closed by SQ_EOT,
and the server replies group by group, in order (SQLI section 1). So a session must always know which replies
are on their way. There are two sorts:

*own*
    the reply that the running operation waits for. There is none between operations.
*pending*
    replies that were requested ahead of need: a prefetched NFETCH, which belongs to a server cursor, or the
    reply to a CLOSE or RELEASE that needs no wait. ``Session.pending_replies`` lists them in wire order. The
    next operation reads them before its own reply. Rows go to their cursor, so several results can be read
    alternately.

Between operations the buffer starts at a message boundary, and the first pending reply may be half read. An
operation that ends in any other state has broken the session, and its runner must close it
(:meth:`Session.usable_after`).

Groups whose replies do not matter, such as a CLOSE after the last row or a RELEASE, need not be sent at once.
They stay in ``Session.outbox``, their replies already in ``pending_replies``, and are sent in front of the next
group, which saves a system call (:func:`.request_reply.queue`). Code that sends a group must therefore drain
pending replies first or send the result of :func:`.message_stream.with_outbox`. Groups that end locks or a
transaction are sent at once.

This module holds data only. :mod:`.message_stream` reads and writes messages, :mod:`.request_reply` sends
groups and reads their replies, and the operations build on these two.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

from ..wire.assignment import Inexact
from ..wire.capabilities import Framing
from ..wire.errors import CommitUnknown, Error, ProtocolError
from .io_steps import Call, ConnectionLost, Exchange
from .object_sources import ClientFiles
from .receive_buffer import ReceiveBuffer
from .statement_cache import StatementCache


class PendingReply(Protocol):
    """The receiver of the next pending reply."""

    @property
    def bulky(self) -> bool:
        """True if the reply may be large, so that it must be read before anything else is sent."""

    def read_reply(self, session: Session) -> Exchange[None]:
        """Read the reply up to its SQ_EOT and remove it from ``session.pending_replies``."""


@runtime_checkable
class Orphan(Protocol):
    """A server cursor whose result was dropped."""

    def close(self, session: Session) -> Exchange[None]:
        """Close and release it on the server."""


class OpenCursor(Orphan, Protocol):
    """A server cursor that may still be read."""

    def fail(self, error: Error) -> None:
        """Make later reads raise ``error``."""

    def transaction_ended(self) -> None:
        """Note a COMMIT or ROLLBACK: the server has closed the cursor, unless it is WITH HOLD."""


class TransactionStatus(Enum):
    """Transaction state of the server, as far as the client can tell."""

    NONE = "none"
    OPEN = "open"
    UNKNOWN = "unknown"  # it was open, and then a procedure ran that may have ended it
    IMPLICIT_READ = (
        "reading"  # autocommit in an ANSI database: results began it, and it ends with the last of them
    )


@dataclass(slots=True, eq=False)
class TransactionBlockState:
    """One ``transaction()`` block (:mod:`.transaction_blocks`)."""

    savepoint: str | None  # None: the block is a transaction of its own


@dataclass(slots=True)
class SessionSettings:
    """Isolation and lock mode, as in SET ISOLATION TO and SET LOCK MODE TO; "" is the server's default."""

    isolation: str = ""
    lock_mode: str = ""
    isolation_now: str = ""  # differs while a result is open that requested another one
    lock_mode_now: str = ""
    overrides: list[tuple[str, str]] = field(default_factory=list)  # of open results that requested their own
    implicit_readers: int = 0  # open results that hold a transaction of the kind READING


@dataclass(slots=True)
class Session:
    """The state that the operations of one connection share. No sockets, no locks: one operation runs at a time."""

    buffer: ReceiveBuffer
    framing: Framing
    database: str = ""
    server_name: str = ""
    server_version: str = ""  # as announced at login; not the product version (SQLI section 4)
    locale: str = ""  # of the open database, "" when none is open
    has_encoding_override: bool = False  # the user chose the encoding, whatever a database says
    logged: bool = False
    ansi: bool = False
    autocommit: bool = False
    inexact: Inexact = (
        "error"  # what happens to digits that a column cannot hold, unless a call says otherwise
    )
    transaction: TransactionStatus = TransactionStatus.NONE
    blocks: list[TransactionBlockState] = field(
        default_factory=list
    )  # open transaction() blocks, the innermost last
    statements: StatementCache = field(
        default_factory=StatementCache
    )  # prepared and idle; holds none by default
    settings: SessionSettings = field(default_factory=SessionSettings)  # isolation and lock mode
    pending_replies: deque[PendingReply] = field(default_factory=deque)
    outbox: bytearray = field(default_factory=bytearray)  # groups to be sent in front of the next one
    outstanding_requests: int = (
        0  # groups sent by the running operation whose replies were not read to their end
    )
    orphans: deque[Orphan] = field(default_factory=deque)  # cursors whose Result was dropped half read
    cursors: set[OpenCursor] = field(default_factory=set)  # all that are open on the server, orphans included
    cursor_names: int = 0
    routines: dict[str, tuple[str, int]] = field(
        default_factory=dict
    )  # handles of the fast path, by signature
    fetch_window: int = 64 << 20  # bytes of fetch replies on their way; 0 = one fetch at a time
    lob_window: int = 4 << 20  # bytes of large objects requested or sent ahead of replies; 0 = step by step
    client_files: ClientFiles | None = None  # None = :attr:`files` was not used yet
    clock: Callable[[], float] = time.monotonic  # seconds; measures how long replies take
    round_trip: float = math.inf  # the shortest seen, seconds
    idle_timeout: float | None = None  # seconds of silence allowed now; None = the user's setting
    call: Call | None = None  # the running call; between operations the last one
    caller_error: BaseException | None = None  # raised by the caller's code: the session stays usable

    @property
    def files(self) -> ClientFiles:
        """The files that the session may send or receive for SQ_FILE."""
        if self.client_files is None:
            self.client_files = ClientFiles()
        return self.client_files

    def usable_after(self, error: BaseException) -> bool:
        """Return whether the session is still in step after ``error`` left an operation.

        Only errors that operations raise on purpose can leave it in step. An interruption such as
        KeyboardInterrupt may have occurred between any two instructions.
        """
        if error is self.caller_error:
            return self.outstanding_requests == 0
        lost = isinstance(error, ProtocolError | ConnectionLost | CommitUnknown)
        return isinstance(error, Error) and not lost and self.outstanding_requests == 0

    def next_cursor_name(self) -> str:
        """Return a cursor name that this session has not used: ``_ifxc`` and 13 digits (SQLI section 7.0)."""
        self.cursor_names += 1
        return f"_ifxc{self.cursor_names:013d}"
