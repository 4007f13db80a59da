"""The state of one client session: what both ends agreed on, and which replies are still to come.

After login SQLI has neither packets nor lengths: the client sends groups of messages, each closed by SQ_EOT,
and the server answers group by group, in order (SQLI section 1). So a session must know at every moment which
replies are on their way. They are of two sorts:

*own*
    the reply that the running exchange waits for. There is none between exchanges.
*owed*
    replies that were asked for ahead of need: a prefetched NFETCH, which belongs to a server cursor, or the
    answer to a CLOSE or RELEASE that nobody waits for. ``Session.owed`` lists them in wire order. The next
    exchange takes them in before it reads its own reply; rows go to their cursor, so several results can be
    read alternately.

Between exchanges the buffer stands at the start of a message and the first owed reply may be half read. An
exchange that ends in any other state has broken the session, and its runner must close it
(:meth:`Session.usable_after`).

What nobody waits for need not leave at once: a CLOSE behind the last row, a RELEASE. Such groups lie in
``Session.outbox``, their answers on ``owed`` already, and leave in front of the next group, which saves them a system
call of their own (:func:`.turns.queue`). So whoever sends a group either settles first or sends what
:func:`.stream.outgoing` makes of it. Groups that end locks or a transaction are not left lying there.

Only data is here. :mod:`.stream` reads and writes messages, :mod:`.turns` sends groups and reads their replies; what
the session is asked to do with them stands above those two.
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
    """Somebody to whom the reply at the head of the line belongs."""

    @property
    def bulky(self) -> bool:
        """Whether the reply may be large, so that it must be read before anything else is sent."""
        ...

    def read_reply(self, session: Session) -> Exchange[None]:
        """Read the reply to its SQ_EOT and take it off ``session.owed``."""
        ...


@runtime_checkable
class Orphan(Protocol):
    """A server cursor that nobody will read any more."""

    def close(self, session: Session) -> Exchange[None]:
        """Close and release it on the server."""
        ...


class OpenCursor(Orphan, Protocol):
    """A server cursor that may still be read."""

    def fail(self, error: Error) -> None:
        """Let whoever reads on get ``error``."""
        ...

    def transaction_ended(self) -> None:
        """Take notice of a COMMIT or ROLLBACK: the server has closed it, unless it is WITH HOLD."""
        ...


class TransactionStatus(Enum):
    """Whether a transaction is open on the server, as far as the client can tell."""

    NONE = "none"
    OPEN = "open"
    UNKNOWN = "unknown"  # it was open, and a procedure ran that may have ended it
    IMPLICIT_READ = (
        "reading"  # autocommit in an ANSI database: results began it, and it ends with the last of them
    )


@dataclass(slots=True, eq=False)
class TransactionBlockState:
    """One ``transaction()`` block (:mod:`.blocks`)."""

    savepoint: str | None  # None: it is a transaction of its own


@dataclass(slots=True)
class SessionSettings:
    """How the session reads, in the words of SET ISOLATION TO and SET LOCK MODE TO; "" is the server's default."""

    isolation: str = ""
    lock_mode: str = ""
    isolation_now: str = ""  # differs while a result is open that asked for another one
    lock_mode_now: str = ""
    overrides: list[tuple[str, str]] = field(default_factory=list)  # of open results that asked for something
    implicit_readers: int = 0  # open results that hold a transaction of the kind READING


@dataclass(slots=True)
class Session:
    """The state that the exchanges of one connection share. No sockets here, and no locks: one exchange at a
    time.
    """

    buffer: ReceiveBuffer
    framing: Framing
    database: str = ""
    server_name: str = ""
    server_version: str = ""  # as announced at login; not the product version (SQLI section 4)
    locale: str = ""  # of the open database, "" when none is open
    has_encoding_override: bool = False  # the user has said how text is encoded, whatever databases say
    logged: bool = False
    ansi: bool = False
    autocommit: bool = False
    inexact: Inexact = (
        "error"  # what becomes of digits that a column has no room for, unless a call says otherwise
    )
    transaction: TransactionStatus = TransactionStatus.NONE
    blocks: list[TransactionBlockState] = field(
        default_factory=list
    )  # transaction() blocks that are open, the innermost last
    statements: StatementCache = field(
        default_factory=StatementCache
    )  # prepared and idle; keeps none by default
    settings: SessionSettings = field(default_factory=SessionSettings)  # isolation and lock mode
    pending_replies: deque[PendingReply] = field(default_factory=deque)
    outbox: bytearray = field(default_factory=bytearray)  # groups to be sent in front of the next one
    outstanding_requests: int = (
        0  # groups sent by the running exchange whose replies were not read to their end
    )
    orphans: deque[Orphan] = field(default_factory=deque)  # cursors whose Result was dropped half read
    cursors: set[OpenCursor] = field(default_factory=set)  # all that are open on the server, orphans included
    cursor_names: int = 0
    routines: dict[str, tuple[str, int]] = field(
        default_factory=dict
    )  # handles of the fast path, by signature
    lob_window: int = 4 << 20  # bytes of large objects asked for or sent ahead of answers; 0 = step by step
    client_files: ClientFiles | None = None  # None = nobody has asked for :attr:`files` yet
    clock: Callable[[], float] = time.monotonic  # seconds; how long replies take is learnt by it
    round_trip: float = math.inf  # the shortest that was seen, seconds
    idle_timeout: float | None = None  # seconds of silence borne now; None = as the user said
    call: Call | None = None  # the call that runs, between exchanges the last one
    caller_error: BaseException | None = None  # an error of the caller's own, handed back in good order

    @property
    def files(self) -> ClientFiles:
        """What SQ_FILE may be answered from."""
        if self.client_files is None:
            self.client_files = ClientFiles()
        return self.client_files

    def usable_after(self, error: BaseException) -> bool:
        """Whether the conversation is still in step after ``error`` left an exchange.

        Only errors that the exchanges raise on purpose can leave it so; an interruption such as
        KeyboardInterrupt may have struck between any two instructions.
        """
        if error is self.caller_error:
            return self.outstanding_requests == 0
        lost = isinstance(error, ProtocolError | ConnectionLost | CommitUnknown)
        return isinstance(error, Error) and not lost and self.outstanding_requests == 0

    def next_cursor_name(self) -> str:
        """A cursor name that this session has not used: ``_ifxc`` and 13 digits (SQLI section 7.0)."""
        self.cursor_names += 1
        return f"_ifxc{self.cursor_names:013d}"
