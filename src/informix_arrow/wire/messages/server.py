"""Messages that only a server sends (SQLI sections 7 to 13)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import Reader, Writer, decode_text, encode_text
from .base import Bare, Message
from .fields import Int, Int8, Number, OptionalNumber, RowBytes, Short, Text

if TYPE_CHECKING:
    from typing_extensions import Self


RowNumber = Annotated[int, Number("i", "q", "long_rowid")]

_MOST_DATABASES_BYTES, _MOST_DATABASE_NAME = 1 << 20, 1024


@dataclass(frozen=True, slots=True)
class Err(Message, tag=13, sent_by="server"):
    """SQ_ERR: the statement failed. The reply continues, usually with its EndOfTurn (SQLI section 10).

    Wire: ``short sqlcode, short isam code, int offset (short: without bit 62), PSTR near``. The code is signed and
    mostly negative. ``offset`` is a 1-based character position or 0. ``near`` is the token of the message text.
    After code -368 nothing follows the ISAM code. Codes 0 and -937 have a layout that is not known (JDBC section
    5). They are refused in both directions.
    """

    sqlcode: int
    isamcode: int = 0
    offset: int = 0
    near: str = ""

    def encode(self, framing: Framing) -> bytes:
        if self.sqlcode in (0, -937):
            raise ValueError(f"SQ_ERR: The layout for SQLCODE {self.sqlcode} is not known.")
        w = Writer().short(self.TAG).short(self.sqlcode).short(self.isamcode)
        if self.sqlcode == -368:
            return w.getvalue()
        if framing.no_64k_limit:
            w.int(self.offset)
        else:
            w.short(self.offset)
        return w.pstr(encode_text(self.near, framing.encoding, "the error's token")).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        sqlcode = reader.short()
        if sqlcode in (0, -937):
            raise ProtocolError(f"SQ_ERR: The layout for SQLCODE {sqlcode} is not known.", sqlcode=sqlcode)
        isamcode = reader.short()
        if sqlcode == -368:
            return cls(sqlcode, isamcode)
        offset = reader.int() if framing.no_64k_limit else reader.short()
        return cls(sqlcode, isamcode, offset, decode_text(reader.pstr("error token"), framing.encoding))


@dataclass(frozen=True, slots=True)
class Tuple(Message, tag=14, sent_by="server"):
    """SQ_TUPLE: one row. Wire: ``short warnings, int size (short: without bit 63), payload, pad`` (SQLI 7.1).

    Whole results are decoded by the C decoder. This class is for single rows and for tests.
    """

    warnings: Short
    payload: Annotated[bytes, RowBytes("SQ_TUPLE")]


@dataclass(frozen=True, slots=True)
class Done(Message, tag=15, sent_by="server"):
    """SQ_DONE: the statement ran, the database was opened, or the cursor is exhausted (SQLI sections 7.5 and 10).

    Wire: ``short warnings, int rows, int rowid, int serial``; rows and rowid are longs with bit 70. ``warnings``
    has one bit per sqlwarn flag. After DbOpen it is the kind of database (JDBC section 3).
    """

    warnings: Short = 0
    rows: RowNumber = 0
    rowid: RowNumber = 0
    serial: Int = 0


@dataclass(frozen=True, slots=True)
class KeysTuple(Tuple, tag=136, sent_by="server"):
    """Message 136: the generated keys of one inserted row, described by message 135. Wire: as SQ_TUPLE."""


@dataclass(frozen=True, slots=True)
class TupleId(Message, tag=25, sent_by="server"):
    """SQ_TUPID: 1-based position of the row that a ScrollFetch returned. Wire: ``int row`` (SQLI section 13)."""

    row: Int


@dataclass(frozen=True, slots=True)
class DbNames(Message, tag=26, sent_by="server"):
    """SQ_DBLIST from a server. Wire: ``PSTR name * n, short 0`` (SQLI section 20)."""

    names: tuple[str, ...]

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG)
        for name in self.names:
            if not name:
                raise ValueError("SQ_DBLIST: A database name cannot be empty.")
            w.pstr(encode_text(name, framing.encoding, "a database name"))
        return w.short(0).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        begin = reader.pos

        def one_name() -> str:
            name = reader.pstr("database name")
            if len(name) > _MOST_DATABASE_NAME or reader.pos - begin > _MOST_DATABASES_BYTES:
                raise ProtocolError(
                    f"SQ_DBLIST: The list of databases is longer than {_MOST_DATABASES_BYTES:,} bytes, or a "
                    f"name is longer than {_MOST_DATABASE_NAME} bytes."
                )
            return decode_text(name, framing.encoding)

        return cls(tuple(reader.read_list(one_name, None)))


@dataclass(frozen=True, slots=True)
class Cost(Message, tag=55, sent_by="server"):
    """SQ_COST: the optimizer's estimates. It may come anywhere or not at all. Wire: ``int rows, int cost``."""

    rows: Int = 0
    cost: Int = 0


@dataclass(frozen=True, slots=True)
class InsertDone(Message, tag=94, sent_by="server"):
    """SQ_INSERTDONE: serial values of an INSERT. Also sent, with zeros, when one is prepared (SQLI 7.4, 10).

    Wire: 10-byte INT8 (last SERIAL8), then with bit 54 a long (last BIGSERIAL).
    """

    serial8: Annotated[int, Int8()] = 0
    bigserial: Annotated[int, OptionalNumber("q", "bigint")] = 0


@dataclass(frozen=True, slots=True)
class XactStat(Message, tag=99, sent_by="server"):
    """SQ_XACTSTAT: the transaction state changed, on logged databases (SQLI section 10).

    Wire: ``short event, short new level, short old level``. The values are not documented, and clients skip it.
    """

    event: Short
    new: Short
    old: Short


@dataclass(frozen=True, slots=True)
class Accept(Bare, tag=127, sent_by="server"):
    """SQ_ACCEPT: the PAM dialogue succeeded (SQLI section 18)."""


@dataclass(frozen=True, slots=True)
class Challenge(Message, tag=129, sent_by="server"):
    """SQ_CHALLENGE: a prompt of a PAM dialogue. Wire: ``short style, PSTR text`` (SQLI section 18).

    Styles: 1 prompt without echo, 2 prompt with echo, 3 error text, 4 information. 3 and 4 need no response.
    """

    style: Short
    text: Annotated[str, Text("the challenge")]
