"""Messages of a client about the session and its transactions (SQLI sections 5, 12, 18 to 20)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from .capabilities import Framing
from .errors import ProtocolError
from .message_base import Bare, Message, encode_name, parse_name
from .primitives import Reader, Writer, decode_text, encode_text

if TYPE_CHECKING:
    from typing_extensions import Self


_INFO_END = 0
_INFO_ENVIRONMENT = 6


@dataclass(frozen=True, slots=True)
class EndOfTurn(Bare):
    """SQ_EOT: ends a group of messages, in both directions; each request group gets one reply group."""

    TAG: ClassVar[int] = 12


@dataclass(frozen=True, slots=True)
class Commit(Bare):
    """SQ_CMMTWORK."""

    TAG: ClassVar[int] = 19


@dataclass(frozen=True, slots=True)
class Rollback(Message):
    """SQ_RBWORK. Wire: ``short 0`` when bit 56 is in force, without which a server waits for it (SQLI 12)."""

    TAG: ClassVar[int] = 20

    def encode(self, framing: Framing) -> bytes:
        return b"\0\x14\0\0" if framing.savepoints else b"\0\x14"

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        if framing.savepoints:
            reader.short()
        return cls()


@dataclass(frozen=True, slots=True)
class DbList(Bare):
    """SQ_DBLIST: name the databases; the answer is :class:`DbNames` (JDBC section 12)."""

    TAG: ClassVar[int] = 26


@dataclass(frozen=True, slots=True)
class Begin(Bare):
    """SQ_BEGIN: begin a transaction."""

    TAG: ClassVar[int] = 35


@dataclass(frozen=True, slots=True)
class DbOpen(Message):
    """SQ_DBOPEN: make a database current. Wire: ``PSTR name, short mode`` (0 shared; SQLI section 5.3)."""

    TAG: ClassVar[int] = 36
    name: str
    mode: int = 0

    def encode(self, framing: Framing) -> bytes:
        name = encode_text(self.name, framing.encoding, "the database name")
        return Writer().short(self.TAG).pstr(name, "the database name").short(self.mode).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(parse_name(reader, framing), reader.short())


@dataclass(frozen=True, slots=True)
class DbClose(Bare):
    """SQ_DBCLOSE: close the current database."""

    TAG: ClassVar[int] = 37


@dataclass(frozen=True, slots=True)
class Version(Bare):
    """SQ_VERSION: JDBC's "are you there?"; a bare EndOfTurn is answer enough (JDBC section 9)."""

    TAG: ClassVar[int] = 53


@dataclass(frozen=True, slots=True)
class Exit(Bare):
    """SQ_EXIT: the end of the session; no EndOfTurn follows. A server may answer with the same."""

    TAG: ClassVar[int] = 56


@dataclass(frozen=True, slots=True)
class Info(Message):
    """SQ_INFO: the session's environment (SQLI section 5.2).

    Wire: blocks ``short kind, short length, content`` up to a ``short 0``. Kind 6 holds the environment:
    ``short longest name, short longest value (both rounded up to even), {PSTR name, PSTR value}*, short 0``.
    ``other`` keeps blocks of other kinds as (kind, content).
    """

    TAG: ClassVar[int] = 81
    environment: tuple[tuple[str, str], ...] = ()
    other: tuple[tuple[int, bytes], ...] = ()

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG)
        if self.environment:
            pairs = Writer()
            longest = [0, 0]
            for pair in self.environment:
                for index, text in enumerate(pair):
                    data = encode_text(text, framing.encoding, "an environment variable")
                    longest[index] = max(longest[index], len(data) + 1 & ~1)
                    pairs.pstr(data, "an environment variable")
            w.short(_INFO_ENVIRONMENT).short(6 + len(pairs)).short(longest[0]).short(longest[1])
            w.raw(pairs.getvalue()).short(0)
        for kind, content in self.other:
            w.short(kind).short(len(content)).raw(content).pad(len(content))
        return w.short(_INFO_END).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        environment: list[tuple[str, str]] = []
        other: list[tuple[int, bytes]] = []
        while (kind := reader.short()) != _INFO_END:
            size = reader.short()
            if size < 0:
                raise ProtocolError(f"SQ_INFO: negative block length {size}")
            content = reader.take(size)
            reader.pad(size)
            if kind == _INFO_ENVIRONMENT:
                environment += _parse_environment(content, framing)
            else:
                other.append((kind, content))
        return cls(tuple(environment), tuple(other))


def _parse_environment(content: bytes, framing: Framing) -> list[tuple[str, str]]:
    """The pairs of an environment block. All of it has arrived, so what runs over its end is a violation."""
    reader = Reader(content)
    pairs = []
    if reader.left < 4:
        raise ProtocolError(f"SQ_INFO: environment block of {len(content)} bytes")
    reader.skip(4)
    while reader.left > 2:
        if reader.left < 4:
            raise ProtocolError("SQ_INFO: environment block ends inside a pair")
        name = _inner_pstr(reader)
        pairs.append(
            (decode_text(name, framing.encoding), decode_text(_inner_pstr(reader), framing.encoding))
        )
    return pairs


def _inner_pstr(reader: Reader) -> bytes:
    size = reader.short() if reader.left >= 2 else -1
    if not 0 <= size + (size & 1) <= reader.left:
        raise ProtocolError(f"SQ_INFO: string of {size} bytes runs over its block")
    data = reader.take(size)
    reader.pad(size)
    return data


@dataclass(frozen=True, slots=True)
class Protocols(Message):
    """SQ_PROTOCOLS: the capability bitmap, in both directions. Wire: ``PSTR mask`` (SQLI section 5.1)."""

    TAG: ClassVar[int] = 126
    mask: bytes

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).pstr(self.mask, "the capability mask").getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.pstr("capability mask"))


@dataclass(frozen=True, slots=True)
class Ack(Bare):
    """SQ_ACK: "go on", when bit 44 or 59 is in force (SQLI section 18)."""

    TAG: ClassVar[int] = 128


@dataclass(frozen=True, slots=True)
class Response(Message):
    """SQ_RESPONSE: the answer to a PAM challenge. Wire: ``PSTR text``. It may be a password: never shown."""

    TAG: ClassVar[int] = 130
    text: str = field(repr=False)

    def encode(self, framing: Framing) -> bytes:
        return encode_name(self.TAG, self.text, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(parse_name(reader, framing))


@dataclass(frozen=True, slots=True)
class SetSavepoint(Message):
    """SQ_SETSVPT: set a savepoint. Wire: ``PSTR name, short unique`` (JDBC section 9)."""

    TAG: ClassVar[int] = 137
    name: str
    unique: bool = False

    def encode(self, framing: Framing) -> bytes:
        return encode_name(self.TAG, self.name, framing) + (b"\0\x01" if self.unique else b"\0\0")

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(parse_name(reader, framing), bool(reader.short()))


@dataclass(frozen=True, slots=True)
class ReleaseSavepoint(Message):
    """SQ_RELSVPT: forget a savepoint. Wire: ``PSTR name``."""

    TAG: ClassVar[int] = 138
    name: str

    def encode(self, framing: Framing) -> bytes:
        return encode_name(self.TAG, self.name, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(parse_name(reader, framing))


@dataclass(frozen=True, slots=True)
class RollbackToSavepoint(Message):
    """SQ_RBSVPT: undo what came after a savepoint. Wire: ``PSTR name``."""

    TAG: ClassVar[int] = 139
    name: str

    def encode(self, framing: Framing) -> bytes:
        return encode_name(self.TAG, self.name, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(parse_name(reader, framing))
