"""Messages of a client about statements, cursors and rows (SQLI sections 7 to 14, JDBC sections 4 to 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from .capabilities import Framing
from .column_types import ColumnType, has_type_name
from .errors import ProtocolError
from .message_base import Bare, Message, encode_name, parse_name
from .primitives import Reader, Writer, decode_text, encode_text

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Command(Message):
    """SQ_COMMAND: run a statement in one step; usually followed by NDescribe, Execute, Release (SQLI 7.4).

    Wire: ``short nparams, LSTR sql`` (its length is a short without bit 62).
    """

    TAG: ClassVar[int] = 1
    sql: str
    nparams: int = 0

    def encode(self, framing: Framing) -> bytes:
        return _encode_sql(self.TAG, self.nparams, self.sql, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        nparams, sql = _parse_sql(reader, framing)
        return cls(sql, nparams)


@dataclass(frozen=True, slots=True)
class Prepare(Message):
    """SQ_PREPARE: prepare a statement; the answer to the group is a Describe (SQLI section 7.1).

    Wire: ``short number of ?, LSTR sql`` (its length is a short without bit 62).
    """

    TAG: ClassVar[int] = 2
    nparams: int
    sql: str

    def encode(self, framing: Framing) -> bytes:
        return _encode_sql(self.TAG, self.nparams, self.sql, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(*_parse_sql(reader, framing))


def _encode_sql(tag: int, nparams: int, sql: str, framing: Framing) -> bytes:
    text = encode_text(sql, framing.encoding, "the statement")
    return Writer().short(tag).short(nparams).lstr(text, framing.no_64k_limit, "the statement").getvalue()


def _parse_sql(reader: Reader, framing: Framing) -> tuple[int, str]:
    nparams = reader.short()
    return nparams, decode_text(reader.lstr(framing.no_64k_limit, "SQL text"), framing.encoding)


@dataclass(frozen=True, slots=True)
class CursorName(Message):
    """SQ_CURNAME: name the cursor that the next Open opens. Wire: ``PSTR name`` (SQLI section 7.0)."""

    TAG: ClassVar[int] = 3
    name: str

    def encode(self, framing: Framing) -> bytes:
        return encode_name(self.TAG, self.name, framing)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(parse_name(reader, framing))


@dataclass(frozen=True, slots=True)
class Id(Message):
    """SQ_ID: address the statement that the following messages are about.

    Wire: ``short statement id``. The operation that follows is a message of its own (JDBC section 4).
    """

    TAG: ClassVar[int] = 4
    statement_id: int

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).short(self.statement_id).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.short())


@dataclass(frozen=True, slots=True)
class Open(Bare):
    """SQ_OPEN: open the cursor of the addressed statement."""

    TAG: ClassVar[int] = 6


@dataclass(frozen=True, slots=True)
class Execute(Bare):
    """SQ_EXECUTE: run the addressed statement, which gives no rows."""

    TAG: ClassVar[int] = 7


@dataclass(frozen=True, slots=True)
class Fetch(Message):
    """SQ_NFETCH: send tuples of the open cursor, about ``size`` bytes of them (SQLI section 7.5).

    Wire: ``int size (short: without bit 63), short array size`` (always 0 in what was seen).
    """

    TAG: ClassVar[int] = 9
    size: int
    array_size: int = 0

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG)
        if framing.large_fetch:
            w.int(self.size)
        else:
            w.short(self.size)
        return w.short(self.array_size).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        size = reader.int() if framing.large_fetch else reader.short()
        return cls(size, reader.short())


@dataclass(frozen=True, slots=True)
class Close(Bare):
    """SQ_CLOSE: close the cursor; from a server: the cursor has closed by itself (SQLI section 7.5)."""

    TAG: ClassVar[int] = 10


@dataclass(frozen=True, slots=True)
class Release(Bare):
    """SQ_RELEASE: free the addressed statement and its id."""

    TAG: ClassVar[int] = 11


@dataclass(frozen=True, slots=True)
class Put(Message):
    """SQ_PUT: rows for an open insert cursor (SQLI section 11, JDBC section 8).

    Wire: ``int tuple length, short count``, then ``count`` times ``tuple bytes, pad``: the rows of one message have one
    length, and each its own pad. JDBC puts many rows into one message where all columns are of fixed width, and one
    where they are not.
    """

    TAG: ClassVar[int] = 17
    tuple_bytes: bytes  # the first row
    more: tuple[bytes, ...] = ()  # the rows behind it

    @property
    def rows(self) -> tuple[bytes, ...]:
        """All rows."""
        return (self.tuple_bytes, *self.more)

    def encode(self, framing: Framing) -> bytes:
        size = len(self.tuple_bytes)
        if len(self.more) >= 0x7FFF or any(len(row) != size for row in self.more):
            raise ValueError("SQ_PUT: rows of different lengths, or more than 32767 of them")
        w = Writer().short(self.TAG).int(size).short(1 + len(self.more))
        for row in self.rows:
            w.raw(row).pad(size)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        size, count = reader.int(), reader.short()
        if size < 0 or count < 1:
            raise ProtocolError(f"SQ_PUT: tuple length {size}, count {count}")
        if count == 1:
            data = reader.take(size)
            reader.pad(size)
            return cls(data)
        stride = size + (size & 1)
        data = reader.take(stride * count)
        first, *more = (data[at * stride : at * stride + size] for at in range(count))
        return cls(first, tuple(more))


@dataclass(frozen=True, slots=True)
class NDescribe(Bare):
    """SQ_NDESCRIBE: describe what was just prepared."""

    TAG: ClassVar[int] = 22


@dataclass(frozen=True, slots=True)
class ScrollFetch(Message):
    """SQ_SFETCH: one row of a scroll cursor (SQLI section 13, JDBC section 10).

    Wire: ``short how, int target, int size`` (an int also without bit 63). ``how``: 1 next (the target is the
    absolute number wanted), 4 last, 6 absolute.
    """

    TAG: ClassVar[int] = 23
    NEXT: ClassVar[int] = 1
    LAST: ClassVar[int] = 4
    ABSOLUTE: ClassVar[int] = 6
    how: int
    target: int
    size: int = 4096

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).short(self.how).int(self.target).int(self.size).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.short(), reader.int(), reader.int())


@dataclass(frozen=True, slots=True)
class Scroll(Bare):
    """SQ_SCROLL: the cursor that the next Open opens can scroll."""

    TAG: ClassVar[int] = 24


@dataclass(frozen=True, slots=True)
class FetchBlob(Message):
    """SQ_FETCHBLOB: send the content behind a BYTE or TEXT descriptor. Wire: 56 bytes (68 with bit 70)."""

    TAG: ClassVar[int] = 38
    descriptor: bytes

    def encode(self, framing: Framing) -> bytes:
        if len(self.descriptor) != framing.descriptor_size:
            raise ValueError(f"a descriptor has {framing.descriptor_size} bytes, not {len(self.descriptor)}")
        return Writer().short(self.TAG).raw(self.descriptor).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.take(framing.descriptor_size))


@dataclass(frozen=True, slots=True)
class BlobChunk(Message):
    """SQ_BLOB: a piece of a BYTE or TEXT value, in both directions. Wire: ``PSTR data``; an empty one ends
    it."""

    TAG: ClassVar[int] = 39
    data: bytes

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).pstr(self.data, "a BYTE/TEXT piece").getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.pstr("BYTE/TEXT piece"))


@dataclass(frozen=True, slots=True)
class BlobBind(Message):
    """SQ_BBIND: BYTE and TEXT values follow as BlobChunks, after all values of a Bind. Wire: ``short
    count``."""

    TAG: ClassVar[int] = 41
    count: int

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).short(self.count).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.short())


@dataclass(frozen=True, slots=True)
class Hold(Bare):
    """SQ_HOLD: the cursor that the next Open opens outlives the transaction."""

    TAG: ClassVar[int] = 43


@dataclass(frozen=True, slots=True)
class WantDone(Bare):
    """SQ_WANTDONE: send an SQ_DONE with the description."""

    TAG: ClassVar[int] = 49


@dataclass(frozen=True, slots=True)
class RetType(Message):
    """SQ_RET_TYPE: in which form each column is wanted (direction 1) or will be put (0) (JDBC section 5).

    Wire: ``short direction, short n``, per column ``short type word, [PSTR owner, PSTR type name: type > 18
    and not 52, 53], int length``. It changes the wire form of BOOLEAN, LOB and other extended columns.
    """

    TAG: ClassVar[int] = 100
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
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        direction, count = reader.short(), reader.short()
        if count < 0:
            raise ProtocolError(f"SQ_RET_TYPE: {count} columns")
        types = []
        for _ in range(count):
            word = reader.ushort()
            owner = name = ""
            if has_type_name(word):
                owner, name = parse_name(reader, framing), parse_name(reader, framing)
            types.append(ColumnType.from_word(word, reader.int(), owner=owner, extended_name=name))
        return cls(direction, tuple(types))


@dataclass(frozen=True, slots=True)
class AutoFree(Bare):
    """SQ_AUTOFREE: release the statement when its cursor closes."""

    TAG: ClassVar[int] = 108


@dataclass(frozen=True, slots=True)
class InputDescribeRequest(Bare):
    """SQ_CIDESCRIBE: describe the parameters; the answer is an InputDescribe (JDBC section 5)."""

    TAG: ClassVar[int] = 124


@dataclass(frozen=True, slots=True)
class GeneratedKeys(Message):
    """Message 134: JDBC asks for generated keys (JDBC section 14).

    Wire: ``short mode``; mode 3 adds ``short n, PSTR name * n``. The reply to the execution has messages 135 and 136.
    """

    TAG: ClassVar[int] = 134
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
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        mode = reader.short()
        if mode == 1:
            return cls(mode)
        if mode != 3:
            raise ProtocolError(f"message 134 with mode {mode}, whose layout is not known")
        return cls(mode, tuple(parse_name(reader, framing) for _ in range(reader.short())))
