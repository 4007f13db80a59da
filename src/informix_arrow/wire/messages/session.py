"""Messages of a client about the session and its transactions (SQLI sections 5, 12, 18 to 20)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import Reader, Writer, decode_text, encode_text
from .base import Bare, Message
from .fields import Data, Flag, Name, Short, Text

if TYPE_CHECKING:
    from typing_extensions import Self


_INFO_END = 0
_INFO_ENVIRONMENT = 6
_INFO_LIMIT = 0xFFFF  # no larger block can state its length


@dataclass(frozen=True, slots=True)
class EndOfTurn(Bare, tag=12, sent_by="both"):
    """SQ_EOT: ends a group of messages, in both directions. Each request group gets one reply group."""


@dataclass(frozen=True, slots=True)
class Commit(Bare, tag=19, sent_by="client"):
    """SQ_CMMTWORK: commit the transaction."""


@dataclass(frozen=True, slots=True)
class Rollback(Message, tag=20, sent_by="client"):
    """SQ_RBWORK: roll back the transaction. Wire: ``short 0`` if bit 56 is in force: a server then waits for it
    (SQLI 12)."""

    def encode(self, framing: Framing) -> bytes:
        return b"\0\x14\0\0" if framing.savepoints else b"\0\x14"

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        if framing.savepoints:
            reader.short()
        return cls()


@dataclass(frozen=True, slots=True)
class DbList(Bare, tag=26, sent_by="client"):
    """SQ_DBLIST: list the databases. The reply is :class:`DbNames` (JDBC section 12)."""


@dataclass(frozen=True, slots=True)
class Begin(Bare, tag=35, sent_by="client"):
    """SQ_BEGIN: begin a transaction."""


@dataclass(frozen=True, slots=True)
class DbOpen(Message, tag=36, sent_by="client"):
    """SQ_DBOPEN: open a database and make it current. Wire: ``PSTR name, short mode`` (0 shared; SQLI section
    5.3)."""

    name: Annotated[str, Text("the database name")]
    mode: Short = 0


@dataclass(frozen=True, slots=True)
class DbClose(Bare, tag=37, sent_by="client"):
    """SQ_DBCLOSE: close the current database."""


@dataclass(frozen=True, slots=True)
class Version(Bare, tag=53, sent_by="client"):
    """SQ_VERSION: JDBC's check that the connection works. A bare EndOfTurn is a sufficient reply (JDBC section 9)."""


@dataclass(frozen=True, slots=True)
class Exit(Bare, tag=56, sent_by="both"):
    """SQ_EXIT: the end of the session. No EndOfTurn follows. A server may reply with the same."""


@dataclass(frozen=True, slots=True)
class Info(Message, tag=81, sent_by="client"):
    """SQ_INFO: the session's environment (SQLI section 5.2).

    Wire: blocks ``short kind, short length, content`` up to a ``short 0``. Kind 6 holds the environment: ``short
    longest name, short longest value (both rounded up to even), {PSTR name, PSTR value}*, short 0``. The length of
    kind 6 and its maxima are not used for parsing, because clients differ: libsqli counts the ``short 0`` after the
    block too. ``other`` has blocks of other kinds as (kind, content).
    """

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
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        environment: list[tuple[str, str]] = []
        other: list[tuple[int, bytes]] = []
        while (kind := reader.short()) != _INFO_END:
            size = reader.short()
            if kind == _INFO_ENVIRONMENT:
                environment += _parse_environment(reader, framing)
            elif size < 0:
                raise ProtocolError(f"SQ_INFO: The block length {size} is negative.")
            else:
                other.append((kind, reader.read_bytes(size)))
                reader.pad(size)
        return cls(tuple(environment), tuple(other))


def _parse_environment(reader: Reader, framing: Framing) -> list[tuple[str, str]]:
    """Parse the pairs of an environment block up to the empty name after them."""
    reader.skip(4)
    start = reader.pos
    pairs = []
    while name := reader.pstr("SQ_INFO: a name"):
        pairs.append(
            (
                decode_text(name, framing.encoding),
                decode_text(reader.pstr("SQ_INFO: a value"), framing.encoding),
            )
        )
        if reader.pos - start > _INFO_LIMIT:
            raise ProtocolError(f"SQ_INFO: The environment is longer than {_INFO_LIMIT} bytes.")
    return pairs


@dataclass(frozen=True, slots=True)
class Protocols(Message, tag=126, sent_by="both"):
    """SQ_PROTOCOLS: the capability bitmap, in both directions. Wire: ``PSTR mask`` (SQLI section 5.1)."""

    mask: Annotated[bytes, Data("the capability mask")]


@dataclass(frozen=True, slots=True)
class Ack(Bare, tag=128, sent_by="client"):
    """SQ_ACK: the peer may continue, if bit 44 or 59 is in force (SQLI section 18)."""


@dataclass(frozen=True, slots=True)
class Response(Message, tag=130, sent_by="client"):
    """SQ_RESPONSE: the response to a PAM challenge. Wire: ``PSTR text``. It may be a password, so it is never
    shown."""

    text: Name = field(repr=False)


@dataclass(frozen=True, slots=True)
class SetSavepoint(Message, tag=137, sent_by="client"):
    """SQ_SETSVPT: set a savepoint. Wire: ``PSTR name, short unique`` (JDBC section 9)."""

    name: Name
    unique: Annotated[bool, Flag()] = False


@dataclass(frozen=True, slots=True)
class ReleaseSavepoint(Message, tag=138, sent_by="client"):
    """SQ_RELSVPT: release a savepoint. Wire: ``PSTR name``."""

    name: Name


@dataclass(frozen=True, slots=True)
class RollbackToSavepoint(Message, tag=139, sent_by="client"):
    """SQ_RBSVPT: roll back to a savepoint. Wire: ``PSTR name``."""

    name: Name
