"""Messages of a client about statements, cursors and rows (SQLI sections 7 to 14, JDBC sections 4 to 10)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import Reader, Writer, encode_text
from ..types import ColumnType, has_type_name
from .base import Bare, Message
from .fields import Data, Int, LongText, Name, Number, Short, parse_name

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Prepare(Message, tag=2, sent_by="client"):
    """SQ_PREPARE: prepare a statement. The reply to the group is a Describe (SQLI section 7.1).

    Wire: ``short number of ?, LSTR sql`` (its length is a short without bit 62).
    """

    nparams: Short
    sql: Annotated[str, LongText("the statement")]


@dataclass(frozen=True, slots=True)
class Command(Message, tag=1, sent_by="client"):
    """SQ_COMMAND: run a statement in one step. Usually NDescribe, Execute, Release follow (SQLI 7.4).

    Wire: ``short number of ?, LSTR sql`` (its length is a short without bit 62).
    """

    sql: str
    nparams: int = 0

    def encode(self, framing: Framing) -> bytes:
        return Prepare.TABLE.encode(self, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        return Prepare.TABLE.parse(lambda nparams, sql: cls(sql, nparams), reader, framing)


@dataclass(frozen=True, slots=True)
class CursorName(Message, tag=3, sent_by="client"):
    """SQ_CURNAME: name the cursor that the next Open opens. Wire: ``PSTR name`` (SQLI section 7.0)."""

    name: Name


@dataclass(frozen=True, slots=True)
class Id(Message, tag=4, sent_by="client"):
    """SQ_ID: select the statement that the following messages are about.

    Wire: ``short statement id``. The operation that follows is a message of its own (JDBC section 4).
    """

    statement_id: Short


@dataclass(frozen=True, slots=True)
class Open(Bare, tag=6, sent_by="client"):
    """SQ_OPEN: open the cursor of the selected statement."""


@dataclass(frozen=True, slots=True)
class Execute(Bare, tag=7, sent_by="client"):
    """SQ_EXECUTE: run the selected statement, which returns no rows."""


@dataclass(frozen=True, slots=True)
class Fetch(Message, tag=9, sent_by="client"):
    """SQ_NFETCH: request tuples of the open cursor, about ``size`` bytes of them (SQLI section 7.5).

    Wire: ``int size (short: without bit 63), short array size`` (always 0 in the captures).
    """

    size: Annotated[int, Number("h", "i", "large_fetch")]
    array_size: Short = 0


@dataclass(frozen=True, slots=True)
class Close(Bare, tag=10, sent_by="both"):
    """SQ_CLOSE: close the cursor. From a server: the cursor was closed automatically (SQLI section 7.5)."""


@dataclass(frozen=True, slots=True)
class Release(Bare, tag=11, sent_by="client"):
    """SQ_RELEASE: free the selected statement and its id."""


@dataclass(frozen=True, slots=True)
class Put(Message, tag=17, sent_by="client"):
    """SQ_PUT: rows for an open insert cursor (SQLI section 11, JDBC section 8).

    Wire: ``int tuple length, short count``, then ``count`` times ``tuple bytes, pad``. The rows of one message
    have one length, and each has its own pad. JDBC puts many rows into one message if all columns have a fixed
    width, and otherwise one.
    """

    tuple_bytes: bytes  # the bytes of the first row
    more: tuple[bytes, ...] = ()  # those of the rows after it

    @property
    def rows(self) -> tuple[bytes, ...]:
        """Return the bytes of all rows."""
        return (self.tuple_bytes, *self.more)

    def encode(self, framing: Framing) -> bytes:
        size = len(self.tuple_bytes)
        if len(self.more) >= 0x7FFF or any(len(row) != size for row in self.more):
            raise ValueError("SQ_PUT: The rows have different lengths, or there are more than 32767 of them.")
        w = Writer().short(self.TAG).int(size).short(1 + len(self.more))
        for row in self.rows:
            w.raw(row).pad(size)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        size, count = reader.int(), reader.short()
        if size < 0 or count < 1:
            raise ProtocolError(f"SQ_PUT: The tuple length {size} or the count {count} is not valid.")
        if count == 1:
            data = reader.read_bytes(size)
            reader.pad(size)
            return cls(data)
        stride = size + (size & 1)
        data = reader.read_bytes(stride * count)
        first, *more = (data[at * stride : at * stride + size] for at in range(count))
        return cls(first, tuple(more))


@dataclass(frozen=True, slots=True)
class NDescribe(Bare, tag=22, sent_by="client"):
    """SQ_NDESCRIBE: describe the statement that was just prepared."""


@dataclass(frozen=True, slots=True)
class ScrollFetch(Message, tag=23, sent_by="client"):
    """SQ_SFETCH: one row of a scroll cursor (SQLI section 13, JDBC section 10).

    Wire: ``short how, int target, int size`` (an int also without bit 63). ``how``: 1 next (the target is the
    absolute row number), 4 last, 6 absolute.
    """

    NEXT: ClassVar[int] = 1
    LAST: ClassVar[int] = 4
    ABSOLUTE: ClassVar[int] = 6
    how: Short
    target: Int
    size: Int = 4096


@dataclass(frozen=True, slots=True)
class Scroll(Bare, tag=24, sent_by="client"):
    """SQ_SCROLL: make the cursor that the next Open opens a scroll cursor."""


@dataclass(frozen=True, slots=True)
class FetchBlob(Message, tag=38, sent_by="client"):
    """SQ_FETCHBLOB: request the content of a BYTE or TEXT descriptor. Wire: 56 bytes (68 with bit 70)."""

    descriptor: bytes

    def encode(self, framing: Framing) -> bytes:
        if len(self.descriptor) != framing.descriptor_size:
            raise ValueError(
                f"SQ_FETCHBLOB: The descriptor must have {framing.descriptor_size} bytes, not {len(self.descriptor)}."
            )
        return Writer().short(self.TAG).raw(self.descriptor).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        return cls(reader.read_bytes(framing.descriptor_size))


@dataclass(frozen=True, slots=True)
class BlobChunk(Message, tag=39, sent_by="both"):
    """SQ_BLOB: a piece of a BYTE or TEXT value, in both directions. Wire: ``PSTR data``. An empty piece ends the
    value."""

    data: Annotated[bytes, Data("a BYTE/TEXT piece")]


@dataclass(frozen=True, slots=True)
class BlobBind(Message, tag=41, sent_by="client"):
    """SQ_BBIND: BYTE and TEXT values follow as BlobChunks, after all values of a Bind. Wire: ``short count``."""

    count: Short


@dataclass(frozen=True, slots=True)
class Hold(Bare, tag=43, sent_by="client"):
    """SQ_HOLD: keep the cursor that the next Open opens beyond the end of the transaction."""


@dataclass(frozen=True, slots=True)
class WantDone(Bare, tag=49, sent_by="client"):
    """SQ_WANTDONE: request an SQ_DONE with the description."""


@dataclass(frozen=True, slots=True)
class RetType(Message, tag=100, sent_by="client"):
    """SQ_RET_TYPE: the form in which the client reads (direction 1) or puts (0) each column (JDBC section 5).

    Wire: ``short direction, short n``, per column ``short type word, [PSTR owner, PSTR type name: type > 18 and
    not 52, 53], int length``. It changes the wire form of BOOLEAN, LOB and other extended columns.
    """

    PUT: ClassVar[int] = 0
    FETCH: ClassVar[int] = 1
    direction: int
    types: tuple[ColumnType, ...]

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(self.direction).short(len(self.types))
        for ct in self.types:
            w.ushort(ct.word)
            if has_type_name(ct.code):
                w.pstr(encode_text(ct.owner, framing.encoding, "type owner"))
                w.pstr(encode_text(ct.extended_name, framing.encoding, "type name"))
            w.int(ct.encoded_length)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        direction, count = reader.short(), reader.short()
        if count < 0:
            raise ProtocolError(f"SQ_RET_TYPE: The number of columns is {count}.")
        types = []
        for _ in range(count):
            word = reader.ushort()
            owner = name = ""
            if has_type_name(word):
                owner, name = parse_name(reader, framing), parse_name(reader, framing)
            types.append(ColumnType.from_word(word, reader.int(), owner=owner, extended_name=name))
        return cls(direction, tuple(types))


@dataclass(frozen=True, slots=True)
class AutoFree(Bare, tag=108, sent_by="client"):
    """SQ_AUTOFREE: release the statement when its cursor closes."""


@dataclass(frozen=True, slots=True)
class InputDescribeRequest(Bare, tag=124, sent_by="client"):
    """SQ_CIDESCRIBE: describe the parameters. The reply is an InputDescribe (JDBC section 5)."""


@dataclass(frozen=True, slots=True)
class GeneratedKeys(Message, tag=134, sent_by="client"):
    """Message 134: JDBC requests generated keys (JDBC section 14).

    Wire: ``short mode``; mode 3 adds ``short n, PSTR name * n``. The reply to the execution has messages 135 and
    136.
    """

    mode: int = 1
    names: tuple[str, ...] = ()

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(self.mode)
        if self.mode == 3:
            w.short(len(self.names))
            for name in self.names:
                w.pstr(encode_text(name, framing.encoding, "column name"))
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        mode = reader.short()
        if mode == 1:
            return cls(mode)
        if mode != 3:
            raise ProtocolError(f"Message 134: The mode {mode} is not known.")
        return cls(mode, tuple(parse_name(reader, framing) for _ in range(reader.short())))
