"""Messages of the fast path: routines called by a handle, without SQL (SQLI section 16, JDBC section 11).

Two of their tags mean different things by direction: 101 is :class:`GetRoutine` from a client and
:class:`RoutineHandle` from a server, 104 is :class:`WantParameters` from a client and :class:`RoutineParameters`
from a server. The layouts for OUT parameters are in no reference. They were found by varying bytes and watching
IBM's JDBC driver (docs/protocol/CORRECTIONS.md).
"""

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import Reader, Writer, decode_text, encode_text
from .base import Message
from .binds import BoundValue, encode_result_value, parse_result_value
from .fields import Int, Short, Text, parse_name

if TYPE_CHECKING:
    from typing_extensions import Self

_BY_SIGNATURE, _BY_NUMBER = 0, 1


@dataclass(frozen=True, slots=True)
class RoutineQuestion(Message, tag=131, sent_by="client"):
    """Message 131: JDBC asks about a routine whose number it knows.

    What it asks is not known. A single SQ_EOT is a sufficient reply to the two of them that it sends.

    Wire: ``byte 1, PSTR database, int number``. The single byte leaves the rest of the group on an odd offset.
    """

    database: str
    number: int

    def encode(self, framing: Framing) -> bytes:
        name = encode_text(self.database, framing.encoding, "a database name")
        return (
            Writer()
            .short(self.TAG)
            .byte(_BY_NUMBER)
            .pstr(name, "a database name")
            .int(self.number)
            .getvalue()
        )

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        kind = reader.byte()
        if kind != _BY_NUMBER:
            raise ProtocolError(f"Message 131: The kind {kind} is not known.")
        return cls(parse_name(reader, framing), reader.int())


@dataclass(frozen=True, slots=True)
class GetRoutine(Message, tag=101, sent_by="client"):
    """SQ_GETROUTINE: look up a routine for the fast path (SQLI section 16).

    The routine is given by its signature or, if ``number`` is set, by its number in the database that
    ``signature`` names.

    Wire: ``byte 0, int length (short: without bit 62), signature, pad if its length is odd, short 0``; by number
    ``byte 1``, the database's name in place of the signature, ``int number, short 1``. The single byte leaves the
    rest of the group on an odd offset. A server without the fast path replies SQ_ERR -674.
    """

    signature: str
    number: int | None = None

    def encode(self, framing: Framing) -> bytes:
        text = encode_text(self.signature, framing.encoding, "the signature")
        w = Writer().short(self.TAG).byte(_BY_SIGNATURE if self.number is None else _BY_NUMBER)
        w.lstr(text, framing.no_64k_limit)
        return (w.short(0) if self.number is None else w.int(self.number).short(1)).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        by_number = reader.byte() == _BY_NUMBER
        signature = decode_text(reader.lstr(framing.no_64k_limit, "signature"), framing.encoding)
        number = reader.int() if by_number else None
        reader.short()
        return cls(signature, number)


@dataclass(frozen=True, slots=True)
class RoutineHandle(Message, tag=101, sent_by="server"):
    """SQ_GETROUTINE of a server: the handle of a routine (SQLI section 16). Wire: ``PSTR database, int handle``."""

    database: Annotated[str, Text("a database name")]
    handle: Int


@dataclass(frozen=True, slots=True)
class ExecuteRoutine(Message, tag=102, sent_by="client"):
    """SQ_EXFPROUTINE: call a routine by its handle. Its arguments follow as a Bind (SQLI section 16).

    Wire: ``PSTR database, int handle, short number of arguments, short 0``. JDBC leaves the database empty from
    the second call of a routine on (JDBC section 11).
    """

    database: Annotated[str, Text("a database name")]
    handle: Int
    nparams: Short
    fparam: Short = 0


@dataclass(frozen=True, slots=True)
class RoutineResult(Message, tag=103, sent_by="server"):
    """SQ_FPROUTINE: what a routine returned (SQLI section 16).

    Wire: ``short n``, then per value what SQ_BIND has per parameter: ``short type, [PSTR owner, PSTR type name:
    type > 18 and not 52, 53, or distinct], short indicator, short precision, data``, padded to even.
    """

    values: tuple[BoundValue, ...]

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(len(self.values))
        for value in self.values:
            w.raw(encode_result_value(value, framing))
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        count = reader.short()
        if count < 0:
            raise ProtocolError(f"SQ_FPROUTINE: The number of values is {count}.")
        return cls(tuple(reader.read_list(lambda: parse_result_value(reader, framing), count)))


@dataclass(frozen=True, slots=True)
class WantParameters(Message, tag=104, sent_by="client"):
    """SQ_FPARAM of a client, after the arguments of a call with OUT parameters: request their types and values.

    Wire: ``short 1``, twelve zero bytes, ``byte 1``, for every routine.
    """

    _BODY: ClassVar[bytes] = b"\0\1" + bytes(12) + b"\1"

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).raw(self._BODY).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        if reader.read_bytes(len(cls._BODY)) != cls._BODY:
            raise ProtocolError("SQ_FPARAM: The layout of the client's message is not known.")
        return cls()


class RoutineParameter(NamedTuple):
    """An argument of a call: the number of its type, and whether it is an OUT parameter."""

    type: int
    out: bool


@dataclass(frozen=True, slots=True)
class RoutineParameters(Message, tag=104, sent_by="server"):
    """SQ_FPARAM of a server, before the :class:`RoutineResult` of a call with OUT parameters: the types of the
    values.

    The values of OUT parameters come first, those that the routine returns after them.

    Wire: ``short 1``, 31 bytes that JDBC ignores; ``short n`` and n types of what is returned; ``short n, short
    0`` and for each argument a type and ``short 1`` for OUT, 0 for others. A type is ``short type, int, int, byte,
    short, short``, where zeros are sufficient after the first.
    """

    returned: tuple[int, ...]
    arguments: tuple[RoutineParameter, ...]

    _TYPE: ClassVar[struct.Struct] = struct.Struct(">hiibhh")
    _HEAD: ClassVar[bytes] = b"\0\1" + bytes(31)

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).raw(self._HEAD).short(len(self.returned))
        for code in self.returned:
            w.raw(self._TYPE.pack(code, 0, 0, 0, 0, 0))
        w.short(len(self.arguments)).short(0)
        for argument in self.arguments:
            w.raw(self._TYPE.pack(argument.type, 0, 0, 0, 0, 0)).short(argument.out)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        if reader.read_bytes(len(cls._HEAD)) != cls._HEAD:
            raise ProtocolError("SQ_FPARAM: The layout of the server's message is not known.")
        returned = tuple(cls._type(reader) for _ in range(_count(reader)))
        count = _count(reader)
        if reader.short() != 0:
            raise ProtocolError("SQ_FPARAM: The layout of the server's message is not known.")
        return cls(
            returned, tuple(RoutineParameter(cls._type(reader), reader.short() == 1) for _ in range(count))
        )

    @classmethod
    def _type(cls, reader: Reader) -> int:
        code, *rest = cls._TYPE.unpack(reader.read_bytes(cls._TYPE.size))
        if any(rest):
            raise ProtocolError("SQ_FPARAM: The layout of the server's message is not known.")
        return int(code)


def _count(reader: Reader) -> int:
    count = reader.short()
    if count < 0:
        raise ProtocolError(f"SQ_FPARAM: The number of types is {count}.")
    return count
