"""What all messages have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from .capabilities import Framing
from .primitives import Reader, Writer, decode_text, encode_text

if TYPE_CHECKING:
    from typing_extensions import Self


class Message(ABC):
    """One SQLI message: ``TAG`` (a short), then a body whose layout only its class knows (SQLI section 1).

    ``encode`` gives tag and body; ``parse`` reads the body of a message whose tag has been read. Both take
    the :class:`Framing` that the two ends negotiated. ``parse`` raises ``NeedMoreData`` while bytes are
    missing and ``ProtocolError`` when they are wrong; ``encode`` raises ``ValueError`` for a value that a
    field cannot hold and ``DataError`` for text that the connection's code set cannot express.
    """

    __slots__ = ()

    TAG: ClassVar[int]

    @abstractmethod
    def encode(self, framing: Framing) -> bytes:
        """Tag and body."""

    @classmethod
    @abstractmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        """Read the body; the tag has been read."""


class Bare(Message):
    """A message that is its tag and nothing else."""

    __slots__ = ()

    def encode(self, framing: Framing) -> bytes:
        return self.TAG.to_bytes(2, "big")

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls()


def encode_name(tag: int, name: str, framing: Framing) -> bytes:
    """A message that is one name."""
    return Writer().short(tag).pstr(encode_text(name, framing.encoding, "a name"), "a name").getvalue()


def parse_name(reader: Reader, framing: Framing) -> str:
    """A padded string that is a name."""
    return decode_text(reader.pstr("name"), framing.encoding)


TAG_NAMES: dict[int, str] = {
    1: "SQ_COMMAND", 2: "SQ_PREPARE", 3: "SQ_CURNAME", 4: "SQ_ID", 5: "SQ_BIND", 6: "SQ_OPEN",
    7: "SQ_EXECUTE", 8: "SQ_DESCRIBE", 9: "SQ_NFETCH", 10: "SQ_CLOSE", 11: "SQ_RELEASE", 12: "SQ_EOT",
    13: "SQ_ERR", 14: "SQ_TUPLE", 15: "SQ_DONE", 17: "SQ_PUT", 19: "SQ_CMMTWORK", 20: "SQ_RBWORK",
    21: "SQ_SVPOINT", 22: "SQ_NDESCRIBE", 23: "SQ_SFETCH", 24: "SQ_SCROLL", 25: "SQ_TUPID", 26: "SQ_DBLIST",
    35: "SQ_BEGIN", 36: "SQ_DBOPEN", 37: "SQ_DBCLOSE", 38: "SQ_FETCHBLOB", 39: "SQ_BLOB", 41: "SQ_BBIND",
    43: "SQ_HOLD", 47: "SQ_ISOLEVEL", 48: "SQ_LOCKWAIT", 49: "SQ_WANTDONE", 52: "SQ_SBBIND",
    53: "SQ_VERSION", 55: "SQ_COST", 56: "SQ_EXIT", 65: "SQ_XROLLBACK", 66: "SQ_XCLOSE", 67: "SQ_XCOMMIT",
    68: "SQ_XEND", 69: "SQ_XFORGET", 70: "SQ_XPREPARE", 71: "SQ_XRECOVER", 72: "SQ_XSTART", 73: "SQ_XERR",
    74: "SQ_XASTATE", 81: "SQ_INFO", 82: "SQ_XOPEN", 86: "SQ_REASSOC", 94: "SQ_INSERTDONE", 97: "SQ_LODATA",
    98: "SQ_FILE", 99: "SQ_XACTSTAT", 100: "SQ_RET_TYPE", 101: "SQ_GETROUTINE", 102: "SQ_EXFPROUTINE",
    103: "SQ_FPROUTINE", 104: "SQ_FPARAM", 106: "SQ_FILE_READ", 107: "SQ_FILE_WRITE", 108: "SQ_AUTOFREE",
    112: "SQ_CONNECT", 113: "SQ_SETCONN", 114: "SQ_DISCONNECT", 124: "SQ_CIDESCRIBE", 125: "SQ_IDESCRIBE",
    126: "SQ_PROTOCOLS", 127: "SQ_ACCEPT", 128: "SQ_ACK", 129: "SQ_CHALLENGE", 130: "SQ_RESPONSE",
    133: "SQ_VPUT", 134: "SQ_AUTOKEYS", 137: "SQ_SETSVPT", 138: "SQ_RELSVPT", 139: "SQ_RBSVPT",
    141: "SQ_BATCHSTART", 142: "SQ_BATCHEND",
}  # fmt: skip
"""Names of the tags, for error texts (SQLI section 6)."""


def tag_name(tag: int) -> str:
    """``SQ_TUPLE (14)``, or the bare number of an unknown tag."""
    name = TAG_NAMES.get(tag)
    return f"{name} ({tag})" if name else str(tag)
