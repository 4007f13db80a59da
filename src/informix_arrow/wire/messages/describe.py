"""Descriptions of the columns, generated keys and parameters of a statement (SQLI section 8)."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..capabilities import Framing
from ..describe import Column, StatementType, assign_offsets
from ..errors import ProtocolError
from ..primitives import Reader, Writer, encode_text
from ..types import ColumnType
from .base import Message

if TYPE_CHECKING:
    from typing_extensions import Self

_TUPLE_SIZE_SHORT_MAX = 0x7FFF
#: Maximum bytes of a name. Identifiers have at most 128 characters, but signatures of ROW types are longer.
_MOST_NAME = 32767
#: Maximum bytes of the names of all columns together, if they overlap.
_MOST_NAMES = 16 << 20

# The numbers at the beginning, with tuple sizes of 4 and of 2 bytes: statement type, statement id, estimate, tuple
# size, number of columns.
_HEAD = {True: struct.Struct(">hhiih"), False: struct.Struct(">hhiHh")}
# The numbers in front of a column's type, with name offsets of 4 and of 2 bytes: name offset, start, type word.
_FIELD_HEAD = {True: struct.Struct(">iiH"), False: struct.Struct(">hiH")}
# Behind a type's name: two shorts without a meaning for clients, source type, length.
_EXTENDED_TAIL = struct.Struct(">4xii")


@dataclass(frozen=True, slots=True)
class Describe(Message, tag=8, sent_by="server"):
    """SQ_DESCRIBE: the reply to a prepare (SQLI section 8, JDBC section 5).

    Wire::

        short statement type | short statement id | int estimated cost | short tuple size (int: bit 69)
        short n fields | int string table size (short: without bit 50)
        n times: int name offset (short: without bit 50) | int start | short type word
                 int extended id | PSTR owner | PSTR type name | short | short | int source type | int length
                 (without bit 2 the type word is followed by short length only)
        names, each with a NUL, padded to even; absent when n is 0

    A tuple size above 32767 is sent as 32767 if the field is a short, because clients take it as a hint. It is
    read as unsigned, because JDBC accepts 33400 there.
    """

    statement_type: int
    statement_id: int
    estimate: int
    tuple_size: int
    columns: tuple[Column, ...]

    @classmethod
    def of_columns(
        cls, statement_type: int, statement_id: int, columns: Iterable[Column], estimate: int = 0
    ) -> "Self":
        """Create a descriptor, with start offsets and tuple size computed from the columns."""
        placed, size = assign_offsets(columns)
        return cls(statement_type, statement_id, estimate, size, placed)

    @property
    def has_rows(self) -> bool:
        """True if the statement returns rows. Their columns do not decide it, because an INSERT describes columns
        too (SQLI 7.4)."""
        if self.statement_type == StatementType.EXECUTE_PROCEDURE:
            return bool(self.columns)
        return self.statement_type == StatementType.SELECT

    def encode(self, framing: Framing) -> bytes:
        names = bytearray()
        offsets = []
        for column in self.columns:
            offsets.append(len(names))
            names += encode_text(column.name, framing.encoding, "column name") + b"\0"
        w = Writer().short(self.TAG).short(self.statement_type).short(self.statement_id).int(self.estimate)
        if framing.large_tuple:
            w.int(self.tuple_size)
        else:
            w.short(min(self.tuple_size, _TUPLE_SIZE_SHORT_MAX))
        w.short(len(self.columns))
        _put_offset(w, len(names), framing)
        for column, offset in zip(self.columns, offsets, strict=True):
            _put_offset(w, offset, framing)
            w.int(column.start).ushort(column.type.word)
            if framing.usver:
                _put_extended(w, column.type, framing)
            else:
                w.ushort(column.type.encoded_length)
        return w.raw(names).pad(len(names)).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        head = _HEAD[framing.large_tuple]
        statement_type, statement_id, estimate, tuple_size, count = reader.unpack(head)
        table_size = reader.int() if framing.four_byte_offset else reader.short()
        if count < 0 or table_size < 0 or tuple_size < 0:
            raise ProtocolError(
                f"SQ_DESCRIBE: The number of fields ({count}) or the size of the string table ({table_size}) or of the "
                f"tuple ({tuple_size}) is negative."
            )
        if table_size > count * _MOST_NAME:
            raise ProtocolError(
                f"SQ_DESCRIBE: The string table of {table_size} bytes is too long for {count} columns."
            )

        field_head = _FIELD_HEAD[framing.four_byte_offset]

        def one_field() -> tuple[int, int, ColumnType]:
            offset, start, word = reader.unpack(field_head)
            if framing.usver:
                return offset, start, _get_extended(reader, word, framing)
            return offset, start, ColumnType.from_word(word, reader.ushort())

        fields = reader.read_list(one_field, count)
        names = b""
        if count:
            names = reader.read_bytes(table_size)
            reader.pad(table_size)
        columns, left = [], max(table_size, _MOST_NAMES)  # columns of the same name may share one
        for offset, start, ct in fields:
            name = _name_at(names, offset, left)
            left -= len(name)
            columns.append(Column(name.decode(framing.encoding, "replace"), ct, start))
        return cls(statement_type, statement_id, estimate, tuple_size, tuple(columns))


@dataclass(frozen=True, slots=True)
class KeysDescribe(Describe, tag=135, sent_by="server"):
    """Message 135: describes the generated keys of an INSERT, whose values are in message 136.

    Found with JDBC 15.0.0.1.1, which requests it with message 134. Wire: as SQ_DESCRIBE.
    """


@dataclass(frozen=True, slots=True)
class InputDescribe(Message, tag=125, sent_by="server"):
    """SQ_IDESCRIBE: the parameters of a statement, the reply to :class:`InputDescribeRequest` (JDBC section 5).

    Wire: ``short n, short 0``, then per parameter ``short type word, int extended id, PSTR owner, PSTR type name,
    short, short, int source type, int length``. JDBC 15 counts by the first short. If the second is not 0 and a
    described parameter is nullable, it waits for bytes that never come. Without parameters it reads no second
    short.
    """

    columns: tuple[ColumnType, ...]

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(len(self.columns))
        if self.columns:
            w.short(0)
        for ct in self.columns:
            _put_extended(w.ushort(ct.word), ct, framing)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        count = reader.short()
        if count < 0:
            raise ProtocolError(f"SQ_IDESCRIBE: The number of parameters is {count}.")
        if count:
            reader.short()
        return cls(tuple(reader.read_list(lambda: _get_extended(reader, reader.ushort(), framing), count)))


def _put_offset(w: Writer, value: int, framing: Framing) -> None:
    if framing.four_byte_offset:
        w.int(value)
    else:
        w.short(value)


def _put_extended(w: Writer, ct: ColumnType, framing: Framing) -> None:
    """Write what follows the type word in the long form.

    Reference and alignment are 0, as in every reply that was seen.
    """
    w.int(ct.extended_id)
    w.pstr(encode_text(ct.owner, framing.encoding, "type owner"), "type owner")
    w.pstr(encode_text(ct.extended_name, framing.encoding, "type name"), "type name")
    w.short(0).short(0).int(ct.source_type).int(ct.encoded_length)


def _get_extended(reader: Reader, word: int, framing: Framing) -> ColumnType:
    extended_id = reader.int()
    # Names become Arrow metadata, so invalid bytes are replaced.
    owner = _type_name(reader, "type owner", framing).rstrip(" ")
    name = _type_name(reader, "type name", framing)
    source_type, length = reader.unpack(_EXTENDED_TAIL)
    return ColumnType.from_word(word, length, extended_id, owner, name, source_type)


def _type_name(reader: Reader, what: str, framing: Framing) -> str:
    data = reader.pstr(what)
    if len(data) > _MOST_NAME:
        raise ProtocolError(f"A {what} has {len(data)} bytes. The maximum is {_MOST_NAME}.")
    return data.decode(framing.encoding, "replace")


def _name_at(names: bytes, offset: int, remaining: int) -> bytes:
    """Return a column's name of at most ``remaining`` bytes from the string table."""
    if not 0 <= offset <= len(names):
        raise ProtocolError(
            f"SQ_DESCRIBE: The name offset {offset} is outside the string table of {len(names)} bytes."
        )
    end = names.find(b"\0", offset)
    end = end if end >= 0 else len(names)
    if end - offset > remaining:
        raise ProtocolError("SQ_DESCRIBE: The column names overlap and are too long in total.")
    return names[offset:end]
