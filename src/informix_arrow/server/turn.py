"""What all parts of a conversation share: the session's state, and how it answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..wire import messages as m
from ..wire.capabilities import Framing, codec_of_locale
from ..wire.errors import DataError, NotSupportedError, ProtocolError
from ..wire.messages import BoundValue
from .cursors import refusal
from .engine_session import EngineSession
from .errors import SqlError, can_be_sent
from .interrupts import Interrupts
from .query_log import without_secrets
from .statements import Statement, Statements
from .stream import PeerGone, Stream

log = logging.getLogger("informix_arrow.server")

MAX_SQL = 4 << 20
"""Characters of one statement; -460 above."""

BEGAN, ENDED = m.XactStat(1, 1, 0), m.XactStat(1, 0, 1)
"""A transaction began, a transaction ended (SERVER-BEHAVIOUR section 8)."""

INTERNAL_ERROR = -999
"""Answer to a fault of the server itself, which its log describes."""

_MAX_TOKEN = 255
_MAX_SHORT, _MAX_INT = 2**15 - 1, 2**31 - 1


class Turn:
    """The state of one session after its login. See `Conversation`, which is the whole of it."""

    def __init__(
        self, engine: EngineSession, framing: Framing, stream: Stream, interrupts: Interrupts
    ) -> None:
        self.framing = framing
        self.ended = False
        self._engine = engine
        self._stream = stream
        self._interrupts = interrupts
        self._statements = Statements()
        self._current: Statement | None = None  # whom the last SQ_ID named
        self._failed = False  # the group has had its error
        self._logged = False  # the database has transactions
        self._text_encoding = framing.encoding

    def _guarded(self, handler: Callable[[Any], None], message: m.Message) -> None:
        try:
            handler(message)
        except SqlError as problem:
            self._refuse(problem)
        except (DataError, NotSupportedError) as problem:
            self._refuse(refusal(problem))
        except (ProtocolError, PeerGone):
            raise
        except RecursionError:
            self._refuse(SqlError(-208, detail="the statement is nested too deeply"))
        except Exception:
            # The engine's faults must not end the session: its transaction would be lost with it.
            log.exception("internal error in %s", type(message).__name__)
            self._refuse(SqlError(INTERNAL_ERROR))

    def _send(self, data: bytes | bytearray) -> None:
        """Append to the reply; it leaves when the messages at hand have been served, or when a handler waits
        for the client."""
        self._stream.queue(data)

    def _reply(self, message: m.Message) -> None:
        self._send(message.encode(self.framing))

    def _refuse(self, problem: SqlError) -> None:
        log.debug("refused: %s", without_secrets(str(problem)))
        near = problem.near.encode(self.framing.encoding, "replace")[:_MAX_TOKEN].decode(
            self.framing.encoding, "ignore"
        )
        self._failed = True
        offset = min(problem.offset, _MAX_INT if self.framing.no_64k_limit else _MAX_SHORT)
        if can_be_sent(problem):
            self._reply(m.Err(problem.sqlcode, problem.isamcode, offset, near))
        else:
            log.error("an error that SQ_ERR cannot carry: %s", without_secrets(str(problem)))
            self._reply(m.Err(INTERNAL_ERROR, 0, offset, f"{problem.sqlcode}, {problem.isamcode}: {near}"))

    def _statement(self, missing: int = -258) -> Statement:
        """The statement that the last SQ_ID named; SqlError `missing` when there is none."""
        if self._current is None:
            raise SqlError(missing)
        return self._current

    def _take_bound(self, statement: Statement) -> tuple[BoundValue, ...] | None:
        """The values of the last SQ_BIND, for the one execution that uses them. -605 when contents of BYTE or
        TEXT values are missing: their descriptors are no values."""
        bound, missing = statement.bound, statement.awaited
        statement.bound, statement.awaited = None, ()
        if missing:
            raise SqlError(-605, detail=f"{len(missing)} BYTE/TEXT values without their contents")
        return bound

    def _sql(self, text: str) -> str:
        if self._text_encoding != self.framing.encoding:  # a database was opened since the text was received
            raw = text.encode(self._text_encoding, "surrogateescape")
            text = raw.decode(self.framing.encoding, "surrogateescape")
        if len(text) > MAX_SQL:
            raise SqlError(-460)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as problem:
            raise SqlError(-202, offset=problem.start + 1) from problem
        return text

    def _opened(self, warnings: int) -> None:
        """Another database is current: its code set is that of all text from here on (JDBC section 3)."""
        for statement in self._statements:
            statement.cursor = None
        if self._engine.database is None:
            self._logged = False
            return
        self._logged = bool(warnings & 1)
        self.framing = self.framing.with_encoding(codec_of_locale(self._engine.locale))

    def _close_cursors(self) -> None:
        """End of a transaction: cursors without HOLD are closed (SQLI section 12)."""
        for statement in self._statements:
            if not statement.hold:
                statement.cursor = None
