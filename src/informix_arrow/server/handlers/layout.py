"""How the messages of one session are laid out just now."""

from __future__ import annotations

from ...wire.capabilities import Framing
from ..errors import SqlError

MAX_SQL = 4 << 20
"""Characters of one statement; -460 above."""


class MessageLayout:
    """What all parts of a conversation read and write messages by.

    Attributes
    ----------
    framing
        For replies, and for what is received from here on; SQ_PROTOCOLS and the opened database change it.
    text_encoding
        The code set that the messages at hand were decoded by, which may be an earlier one.
    """

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.text_encoding = framing.encoding

    def decode_sql(self, text: str) -> str:
        """A received text that is SQL. -460 for one that is too long, -202 for one with what is no character."""
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
