"""The current layout of the messages of one session."""

from __future__ import annotations

from ...wire.capabilities import Framing
from ..errors import SqlError

MAX_SQL = 4 << 20
"""Largest number of characters of one statement; -460 above."""


class MessageLayout:
    """The settings by which a protocol session reads and writes messages.

    Attributes
    ----------
    framing
        For replies, and for messages received from now on. SQ_PROTOCOLS and the opened database change it.
    text_encoding
        The code set by which the current messages were decoded, which may be an earlier one.
    """

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.text_encoding = framing.encoding

    def decode_sql(self, text: str) -> str:
        """Return a received text that is SQL. -460 if it is too long, -202 if it contains an invalid character."""
        if self.text_encoding != self.framing.encoding:  # a database was opened since the text was received
            raw = text.encode(self.text_encoding, "surrogateescape")
            text = raw.decode(self.framing.encoding, "surrogateescape")
        if len(text) > MAX_SQL:
            raise SqlError(-460)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as problem:
            raise SqlError(-202, offset=problem.start + 1) from problem
        return text
