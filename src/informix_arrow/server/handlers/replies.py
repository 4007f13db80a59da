"""What is said to the client: messages, refusals, and what becomes of an error in a handler."""

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
"""Stands for an error whose own codes SQ_ERR cannot carry; the token tells them."""

_MAX_TOKEN = 255
_MAX_SHORT, _MAX_INT = 2**15 - 1, 2**31 - 1

M = TypeVar("M", bound=m.Message)


class ReplyWriter:
    """The replies of one session, in the order in which they are made.

    Parameters
    ----------
    peer
        The client.
    layout
        How messages are laid out just now.
    files
        A file of the client that is open when something is said was left open by a failure: it is closed first.

    Attributes
    ----------
    failed
        The group has had its error: the rest of it is passed over.
    """

    def __init__(self, peer: ClientStream, layout: MessageLayout, files: ClientFileTransfer) -> None:
        self.failed = False
        self._peer = peer
        self._layout = layout
        self._files = files

    def send(self, data: bytes | bytearray) -> None:
        """Append to the reply; it leaves when the messages at hand have been served, or when a handler waits
        for the client."""
        if self._files.name is not None:
            self._files.finish_transfer()
        self._peer.queue(data)

    def send_message(self, message: m.Message) -> None:
        self.send(message.encode(self._layout.framing))

    @property
    def requested_at(self) -> float:
        """When what is being answered had been asked, at the latest, by the monotonic clock."""
        return self._peer.last_received

    def wait_until_sent(self) -> None:
        """Between the pieces of a long reply: wait until the client has taken most of it."""
        self._peer.wait_until_sent()

    def send_error(self, problem: SqlError) -> None:
        """SQ_ERR, which ends the group."""
        log.debug("refused: %s", hide_secrets(str(problem)))
        framing = self._layout.framing
        near = problem.near.encode(framing.encoding, "replace")[:_MAX_TOKEN].decode(
            framing.encoding, "ignore"
        )
        self.failed = True
        offset = min(problem.offset, _MAX_INT if framing.no_64k_limit else _MAX_SHORT)
        if can_be_sent(problem):
            self.send_message(m.Err(problem.sqlcode, problem.isamcode, offset, near))
        else:
            log.error("an error that SQ_ERR cannot carry: %s", hide_secrets(str(problem)))
            self.send_message(
                m.Err(_CANNOT_BE_SENT, 0, offset, f"{problem.sqlcode}, {problem.isamcode}: {near}")
            )

    def call_handler(self, handler: Callable[[M], None], message: M) -> None:
        """Call a message's handler; what it raises is answered, except for what ends the session."""
        try:
            handler(message)
        except Exception as failure:
            if not self.answer_failure(failure, message):
                raise

    def answer_failure(self, failure: Exception, message: m.Message) -> bool:
        """Answer what a message's handler has raised, while it is being handled; False for what ends the session."""
        if isinstance(failure, SqlError):
            self.send_error(failure)
        elif isinstance(failure, (DataError, NotSupportedError)):
            self.send_error(encoding_error(failure))
        elif isinstance(failure, (ProtocolError, ClientDisconnected)):
            return False
        elif isinstance(failure, RecursionError):
            self.send_error(SqlError(-208, detail="the statement is nested too deeply"))
        elif isinstance(failure, duckdb.Error):
            self.send_error(from_duckdb(failure))
        elif isinstance(failure, MemoryError):  # Arrow's is one
            self.send_error(out_of_memory(failure))
        else:
            # The engine's faults must not end the session: its transaction would be lost with it.
            fault = internal_error()
            log.exception("%s: internal error in %s", fault.near, type(message).__name__)
            self.send_error(fault)
        return True
