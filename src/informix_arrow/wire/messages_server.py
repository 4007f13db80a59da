"""Messages that only a server sends (SQLI sections 7 to 13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from .capabilities import Framing
from .errors import ProtocolError
from .message_base import Bare, Message
from .primitives import Reader, Writer, decode_text, encode_text

if TYPE_CHECKING:
    from typing_extensions import Self


_MOST_DATABASES_BYTES, _MOST_DATABASE_NAME = 1 << 20, 1024


@dataclass(frozen=True, slots=True)
class Err(Message):
    """SQ_ERR: the statement failed; the group goes on, usually with its EndOfTurn (SQLI section 10).

    Wire: ``short sqlcode, short isam code, int offset (short: without bit 62), PSTR near``. The code is
    signed and mostly negative; ``offset`` is a 1-based character position or 0; ``near`` is the token of the
    message text. After code -368 nothing follows the ISAM code. Codes 0 and -937 have a layout that is not
    known (JDBC section 5): they are refused in both directions.
    """

    TAG: ClassVar[int] = 13
    sqlcode: int
    isamcode: int = 0
    offset: int = 0
    near: str = ""

    def encode(self, framing: Framing) -> bytes:
        if self.sqlcode in (0, -937):
            raise ValueError(f"SQ_ERR with code {self.sqlcode} has a layout that is not known")
        w = Writer().short(self.TAG).short(self.sqlcode).short(self.isamcode)
        if self.sqlcode == -368:
            return w.getvalue()
        if framing.no_64k_limit:
            w.int(self.offset)
        else:
            w.short(self.offset)
        return w.pstr(encode_text(self.near, framing.encoding, "the error's token")).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        sqlcode = reader.short()
        if sqlcode in (0, -937):
            raise ProtocolError(f"SQ_ERR with code {sqlcode} has a layout that is not known", sqlcode=sqlcode)
        isamcode = reader.short()
        if sqlcode == -368:
            return cls(sqlcode, isamcode)
        offset = reader.int() if framing.no_64k_limit else reader.short()
        return cls(sqlcode, isamcode, offset, decode_text(reader.pstr("error token"), framing.encoding))


@dataclass(frozen=True, slots=True)
class Tuple(Message):
    """SQ_TUPLE: one row. Wire: ``short warnings, int size (short: without bit 63), payload, pad`` (SQLI 7.1).

    Whole results go through the C decoder; this class is for the odd row and for tests.
    """

    TAG: ClassVar[int] = 14
    warnings: int
    payload: bytes

    def encode(self, framing: Framing) -> bytes:
        size = len(self.payload)
        w = Writer().short(self.TAG).short(self.warnings)
        if framing.large_fetch:
            w.int(size)
        else:
            w.short(size)
        return w.raw(self.payload).pad(size).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        warnings = reader.short()
        at = reader.pos
        size = reader.int() if framing.large_fetch else reader.short()
        if size < 0:
            raise ProtocolError(f"SQ_TUPLE: negative size {size} at offset {at}")
        payload = reader.take(size)
        reader.pad(size)
        return cls(warnings, payload)


@dataclass(frozen=True, slots=True)
class Done(Message):
    """SQ_DONE: the statement ran, the database opened, or the cursor is exhausted (SQLI sections 7.5 and 10).

    Wire: ``short warnings, int rows, int rowid, int serial``; rows and rowid are longs with bit 70.
    ``warnings`` has one bit per sqlwarn flag; after DbOpen it tells the kind of database (JDBC section 3).
    """

    TAG: ClassVar[int] = 15
    warnings: int = 0
    rows: int = 0
    rowid: int = 0
    serial: int = 0

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(self.warnings)
        if framing.long_rowid:
            w.long(self.rows).long(self.rowid)
        else:
            w.int(self.rows).int(self.rowid)
        return w.int(self.serial).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        warnings = reader.short()
        if framing.long_rowid:
            return cls(warnings, reader.long(), reader.long(), reader.int())
        return cls(warnings, reader.int(), reader.int(), reader.int())


@dataclass(frozen=True, slots=True)
class KeysTuple(Tuple):
    """Message 136: the generated keys of one inserted row, described by message 135. Wire: as SQ_TUPLE."""

    TAG: ClassVar[int] = 136


@dataclass(frozen=True, slots=True)
class TupleId(Message):
    """SQ_TUPID: 1-based position of the row that a ScrollFetch gave. Wire: ``int row`` (SQLI section 13)."""

    TAG: ClassVar[int] = 25
    row: int

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).int(self.row).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.int())


@dataclass(frozen=True, slots=True)
class DbNames(Message):
    """SQ_DBLIST from a server. Wire: ``PSTR name * n, short 0`` (SQLI section 20)."""

    TAG: ClassVar[int] = 26
    names: tuple[str, ...]

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG)
        for name in self.names:
            if not name:
                raise ValueError("an empty database name would end the list")
            w.pstr(encode_text(name, framing.encoding, "a database name"))
        return w.short(0).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        begin = reader.pos

        def one_name() -> str:
            name = reader.pstr("database name")
            if len(name) > _MOST_DATABASE_NAME or reader.pos - begin > _MOST_DATABASES_BYTES:
                raise ProtocolError(
                    f"SQ_DBLIST: over {_MOST_DATABASES_BYTES:,} bytes of databases, or a name of over "
                    f"{_MOST_DATABASE_NAME}"
                )
            return decode_text(name, framing.encoding)

        return cls(tuple(reader.parts(one_name, None)))


@dataclass(frozen=True, slots=True)
class Cost(Message):
    """SQ_COST: the optimizer's estimates; may come anywhere or not at all. Wire: ``int rows, int cost``."""

    TAG: ClassVar[int] = 55
    rows: int = 0
    cost: int = 0

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).int(self.rows).int(self.cost).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.int(), reader.int())


@dataclass(frozen=True, slots=True)
class InsertDone(Message):
    """SQ_INSERTDONE: serial values of an INSERT; also sent, with zeros, when one is prepared (SQLI 7.4, 10).

    Wire: 10-byte INT8 (last SERIAL8), then with bit 54 a long (last BIGSERIAL).
    """

    TAG: ClassVar[int] = 94
    serial8: int = 0
    bigserial: int = 0

    def encode(self, framing: Framing) -> bytes:
        magnitude = abs(self.serial8)
        w = Writer().short(self.TAG).short(-1 if self.serial8 < 0 else 1)
        w.uint(magnitude & 0xFFFF_FFFF).uint(magnitude >> 32)
        if framing.bigint:
            w.long(self.bigserial)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        sign = reader.short()
        magnitude = reader.uint() | reader.uint() << 32
        serial8 = 0 if sign == 0 else -magnitude if sign < 0 else magnitude
        return cls(serial8, reader.long() if framing.bigint else 0)


@dataclass(frozen=True, slots=True)
class XactStat(Message):
    """SQ_XACTSTAT: the transaction state changed, on logged databases (SQLI section 10).

    Wire: ``short event, short new level, short old level``. The values are not documented: clients skip it.
    """

    TAG: ClassVar[int] = 99
    event: int
    new: int
    old: int

    def encode(self, framing: Framing) -> bytes:
        return Writer().short(self.TAG).short(self.event).short(self.new).short(self.old).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.short(), reader.short(), reader.short())


@dataclass(frozen=True, slots=True)
class Accept(Bare):
    """SQ_ACCEPT: the PAM dialogue succeeded (SQLI section 18)."""

    TAG: ClassVar[int] = 127


@dataclass(frozen=True, slots=True)
class Challenge(Message):
    """SQ_CHALLENGE: a question of a PAM dialogue. Wire: ``short style, PSTR text`` (SQLI section 18).

    Styles: 1 answer without echo, 2 answer with echo, 3 error text, 4 information; 3 and 4 want no answer.
    """

    TAG: ClassVar[int] = 129
    style: int
    text: str

    def encode(self, framing: Framing) -> bytes:
        text = encode_text(self.text, framing.encoding, "the challenge")
        return Writer().short(self.TAG).short(self.style).pstr(text, "the challenge").getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        return cls(reader.short(), decode_text(reader.pstr("challenge"), framing.encoding))
