"""The base class of messages, and the registry of message classes by tag (SQLI section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import Reader
from .fields import FieldCodec, FieldTable, field_codecs

if TYPE_CHECKING:
    from typing_extensions import Self

_FROM_CLIENT: dict[int, type[Message]] = {}
_FROM_SERVER: dict[int, type[Message]] = {}
_REGISTRY = {"client": (_FROM_CLIENT,), "server": (_FROM_SERVER,), "both": (_FROM_CLIENT, _FROM_SERVER)}


class Message:
    """One SQLI message: ``TAG`` (a short), then a body whose layout only its class knows (SQLI section 1).

    A message is a frozen dataclass whose fields are in the order of the wire, each annotated with its codec
    (:mod:`.fields`). A class whose layout is not a plain list of fields has its own ``encode`` and ``parse``. The
    module of such annotations must not have ``from __future__ import annotations``, because they are evaluated
    when the class is created.

    ``encode`` returns tag and body. ``parse`` reads the body of a message whose tag has been read. Both take the
    :class:`Framing` that client and server negotiated. ``parse`` raises ``NeedMoreData`` while bytes are missing
    and ``ProtocolError`` if they are invalid. ``encode`` raises ``ValueError`` for a value that a field cannot
    hold and ``DataError`` for text that the connection's code set cannot express.
    """

    __slots__ = ()

    TAG: ClassVar[int]
    _SENT_BY: ClassVar[str]
    TABLE: ClassVar[FieldTable]
    _FIELDS: ClassVar[dict[str, FieldCodec]] = {}

    def __init_subclass__(
        cls, *, tag: int | None = None, sent_by: Literal["client", "server", "both", ""] = ""
    ) -> None:
        """Register a message under its tag, for parsing what its sender sends.

        A message without ``sent_by`` is parsed only if its class is expected (:func:`parse_as`).
        """
        super().__init_subclass__()
        # dataclass(slots=True) creates each class again, without these arguments but with the attributes set here.
        if tag is not None:
            cls.TAG = tag
            cls._SENT_BY = sent_by
        if "encode" not in cls.__dict__:
            cls._add_fields()
        for known in _REGISTRY.get(cls.__dict__.get("_SENT_BY", ""), ()):
            other = known.setdefault(cls.TAG, cls)
            if other.__qualname__ != cls.__qualname__:
                raise TypeError(f"{other.__qualname__} and {cls.__qualname__} have the same tag {cls.TAG}.")
            known[cls.TAG] = cls

    @classmethod
    def _add_fields(cls) -> None:
        fields = dict(cls._FIELDS)
        for name, codec in field_codecs(cls.__annotations__).items():
            if codec is None:
                raise TypeError(f"{cls.__qualname__}.{name} has no codec, and the class has no encode().")
            fields[name] = codec
        cls._FIELDS = fields
        cls.TABLE = FieldTable(cls.TAG, fields)

    def encode(self, framing: Framing) -> bytes:
        """Return tag and body."""
        return self.TABLE.encode(self, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        """Parse the body. The tag has been read."""
        return cls.TABLE.parse(cls, reader, framing)


class Bare(Message):
    """A message that consists of its tag only."""

    __slots__ = ()

    def encode(self, framing: Framing) -> bytes:
        return self.TAG.to_bytes(2, "big")

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls()


def parse_client_message(reader: Reader, framing: Framing) -> Message:
    """Parse one message of a client, starting with the tag.

    After ``NeedMoreData``, ``reader.pos`` is undefined: parse again from the message's first byte when more has
    arrived. Raises ``ProtocolError`` for an unknown tag.
    """
    return _parse(_FROM_CLIENT, "client", reader, framing)


def parse_server_message(reader: Reader, framing: Framing) -> Message:
    """Parse one message of a server, starting with the tag. Raises the errors of :func:`parse_client_message`."""
    return _parse(_FROM_SERVER, "server", reader, framing)


def _parse(known: dict[int, type[Message]], peer: str, reader: Reader, framing: Framing) -> Message:
    at = reader.pos
    tag = reader.short()
    cls = known.get(tag)
    if cls is None:
        raise ProtocolError(
            f"The {peer} sent the message {tag_name(tag)} at offset {at}, which was not expected."
        )
    message = cls.parse(reader, framing)
    reader.partial = None
    return message


def parse_group(data: bytes, framing: Framing, *, client: bool) -> list[Message]:
    """Parse all messages in ``data``, which must be complete. For tests, traces and tools."""
    reader = Reader(data)
    parse = parse_client_message if client else parse_server_message
    messages = []
    while reader.remaining:
        messages.append(parse(reader, framing))
    return messages


_M = TypeVar("_M", bound=Message)


def parse_as(cls: type[_M], reader: Reader, framing: Framing) -> _M:
    """Parse one message of the expected class, starting with the tag. Raises ``ProtocolError`` for another tag."""
    expect_tag(cls.TAG, reader)
    return cls.parse(reader, framing)


def expect_tag(tag: int, reader: Reader) -> None:
    """Read a tag. Raises ``ProtocolError`` if it is not the expected one."""
    at = reader.pos
    actual = reader.short()
    if actual != tag:
        raise ProtocolError(
            f"{tag_name(tag)} was expected at offset {at}, but {tag_name(actual)} was received."
        )


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
    """Return a tag's name such as ``SQ_TUPLE (14)``, or the bare number of an unknown tag."""
    name = TAG_NAMES.get(tag)
    return f"{name} ({tag})" if name else str(tag)
