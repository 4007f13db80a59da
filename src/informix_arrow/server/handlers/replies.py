"""Replies to the client: messages, refusals, and the conversion of a handler's exception to an error."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

import duckdb

from ...wire import messages as m
from ...wire.errors import DataError, NotSupportedError, ProtocolError
from ...wire.redaction import hide_secrets
from ..errors import SqlError, can_be_sent, from_duckdb, internal_error, out_of_memory
from .client_files import ClientFileTransfer
from .client_stream import ClientDisconnected, ClientStream
from .cursors import encoding_error
from .layout import MessageLayout

log = logging.getLogger("informix_arrow.server")

_CANNOT_BE_SENT = -999
"""Stands for an error whose own codes SQ_ERR cannot carry; the token contains them."""

_MAX_TOKEN = 255
_MAX_SHORT, _MAX_INT = 2**15 - 1, 2**31 - 1

M = TypeVar("M", bound=m.Message)


class ReplyWriter:
    """The replies of one session, in order.

    Parameters
    ----------
    peer
        The client's stream.
    layout
        The current layout of messages.
    files
        The client's files. One that is open when a reply is sent was left open by a failure, and is closed first.

    Attributes
    ----------
    failed
        True if the group has had its error: the rest of it is skipped.
    """

    def __init__(self, peer: ClientStream, layout: MessageLayout, files: ClientFileTransfer) -> None:
        self.failed = False
        self._peer = peer
        self._layout = layout
        self._files = files

    def send(self, data: bytes | bytearray) -> None:
        """Append to the reply.

        It is sent when the current messages have been served, or when a handler waits for the client.
        """
        if self._files.name is not None:
            self._files.finish_transfer()
        self._peer.queue(data)

    def send_message(self, message: m.Message) -> None:
        self.send(message.encode(self._layout.framing))

    @property
    def requested_at(self) -> float:
        """Latest possible time of the request that is being served, by the monotonic clock."""
        return self._peer.last_received

    @property
    def unsent(self) -> int:
        """Reply bytes that were not sent yet."""
        return self._peer.unsent

    def wait_until_sent(self) -> None:
        """Wait, between the pieces of a long reply, until the client has received most of it."""
        self._peer.wait_until_sent()

    def send_error(self, problem: SqlError) -> None:
        """Send SQ_ERR, which ends the group."""
        log.debug("Refused: %s", hide_secrets(str(problem)))
        framing = self._layout.framing
        near = problem.near.encode(framing.encoding, "replace")[:_MAX_TOKEN].decode(
            framing.encoding, "ignore"
        )
        self.failed = True
        offset = min(problem.offset, _MAX_INT if framing.no_64k_limit else _MAX_SHORT)
        if can_be_sent(problem):
            self.send_message(m.Err(problem.sqlcode, problem.isamcode, offset, near))
        else:
            log.error("The error cannot be sent as SQ_ERR: %s", hide_secrets(str(problem)))
            self.send_message(
                m.Err(_CANNOT_BE_SENT, 0, offset, f"{problem.sqlcode}, {problem.isamcode}: {near}")
            )

    def call_handler(self, handler: Callable[[M], None], message: M) -> None:
        """Call a message's handler. Exceptions become an error reply, except those that end the session."""
        try:
            handler(message)
        except Exception as failure:
            if not self.reply_to_failure(failure, message):
                raise

    def reply_to_failure(self, failure: Exception, message: m.Message) -> bool:
        """Reply to an exception of a message's handler, while it is being handled; return False if it ends the
        session.
        """
        if isinstance(failure, SqlError):
            self.send_error(failure)
        elif isinstance(failure, (DataError, NotSupportedError)):
            self.send_error(encoding_error(failure))
        elif isinstance(failure, (ProtocolError, ClientDisconnected)):
            return False
        elif isinstance(failure, RecursionError):
            self.send_error(SqlError(-208, detail="The statement is nested too deeply."))
        elif isinstance(failure, duckdb.Error):
            self.send_error(from_duckdb(failure))
        elif isinstance(failure, MemoryError):  # includes Arrow's
            self.send_error(out_of_memory(failure))
        else:
            # Faults of the engine must not end the session: its transaction would be lost with it.
            fault = internal_error()
            log.exception("%s: Internal error in %s.", fault.near, type(message).__name__)
            self.send_error(fault)
        return True
