"""Descriptors: what columns a result has, what parameters a statement takes, and the plan compiled from
them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from .capabilities import Framing
from .errors import ProtocolError
from .message_base import Message
from .nested import nested_type
from .primitives import Reader, Writer, encode_text
from .types import (
    DEFAULT_OPTIONS,
    FLAG_RAW,
    FLAG_REPLACE,
    TEXT_KINDS,
    ColumnType,
    PlanOp,
    TypeCode,
    TypeOptions,
    arrow_type_of_op,
    plan_op,
    text_type,
)

if TYPE_CHECKING:
    from typing_extensions import Self

_TUPLE_SIZE_SHORT_MAX = 0x7FFF


class StatementType(IntEnum):
    """Statement types of SQ_DESCRIBE (SERVER-BEHAVIOUR section 3)."""

    DATABASE = 1
    SELECT = 2
    SELECT_INTO_TEMP = 3
    UPDATE = 4  # with WHERE
    DELETE = 5  # with WHERE
    INSERT = 6
    UPDATE_CURRENT = 7
    DELETE_CURRENT = 8
    LOCK_TABLE = 10
    UNLOCK_TABLE = 11
    CREATE_DATABASE = 12
    DROP_DATABASE = 13
    CREATE_TABLE = 14
    DROP_TABLE = 15
    CREATE_INDEX = 16
    DROP_INDEX = 17
    GRANT = 18
    REVOKE = 19
    RENAME_TABLE = 20
    RENAME_COLUMN = 21
    ALTER_TABLE = 29
    UPDATE_STATISTICS = 30
    CLOSE_DATABASE = 31
    DELETE_ALL = 32
    UPDATE_ALL = 33
    BEGIN_WORK = 34
    COMMIT_WORK = 35
    ROLLBACK_WORK = 36
    SAVEPOINT = 37
    CREATE_VIEW = 40
    DROP_VIEW = 41
    CREATE_SYNONYM = 43
    DROP_SYNONYM = 44
    CREATE_TEMP_TABLE = 45
    SET_LOCK_MODE = 46
    ALTER_INDEX = 47
    SET_ISOLATION = 48
    SET_LOG = 49
    SET_EXPLAIN = 50
    CREATE_PROCEDURE = 53
    DROP_PROCEDURE = 54
    SET_CONSTRAINTS = 55
    EXECUTE_PROCEDURE = 56


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result. ``start`` is its place in the longest tuple: rows with variable columns are
    walked from the left and never addressed by it (SQLI section 8)."""

    name: str
    type: ColumnType
    start: int = 0


#: Bytes of a name in a description; identifiers have at most 128 characters, signatures of ROW types are longer.
_MOST_NAME = 32767
#: Bytes of the names of all columns together, where they overlap.
_MOST_NAMES = 16 << 20


def lay_out(columns: Iterable[Column]) -> tuple[tuple[Column, ...], int]:
    """Give the columns their start positions; the second item is the size of the longest tuple."""
    placed: list[Column] = []
    at = 0
    for column in columns:
        placed.append(replace(column, start=at))
        at += column.type.max_width
    return tuple(placed), at


@dataclass(frozen=True, slots=True)
class Describe(Message):
    """SQ_DESCRIBE: the answer to a prepare (SQLI section 8, JDBC section 5).

    Wire::

        short statement type | short statement id | int estimated cost | short tuple size (int: bit 69)
        short n fields | int string table size (short: without bit 50)
        n times: int name offset (short: without bit 50) | int start | short type word
                 int extended id | PSTR owner | PSTR type name | short | short | int source type | int length
                 (without bit 2 the type word is followed by short length only)
        names, each with a NUL, padded to even; absent when n is 0

    A tuple size above 32767 travels as 32767 when the field is a short, because clients take it as a hint;
    it is read as unsigned, because JDBC takes 33400 there.
    """

    TAG: ClassVar[int] = 8
    statement_type: int
    statement_id: int
    estimate: int
    tuple_size: int
    columns: tuple[Column, ...]

    @classmethod
    def of_columns(
        cls, statement_type: int, statement_id: int, columns: Iterable[Column], estimate: int = 0
    ) -> Self:
        """A descriptor with start positions and tuple size worked out."""
        placed, size = lay_out(columns)
        return cls(statement_type, statement_id, estimate, size, placed)

    @property
    def has_rows(self) -> bool:
        """Whether running it gives rows. An INSERT describes columns too, so their number does not tell (SQLI
        7.4)."""
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
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        statement_type, statement_id, estimate = reader.short(), reader.short(), reader.int()
        tuple_size = reader.int() if framing.large_tuple else reader.ushort()
        count = reader.short()
        table_size = _get_offset(reader, framing)
        if count < 0 or table_size < 0 or tuple_size < 0:
            raise ProtocolError(
                f"SQ_DESCRIBE: {count} fields, string table of {table_size} bytes, tuple size {tuple_size}"
            )
        if table_size > count * _MOST_NAME:
            raise ProtocolError(f"SQ_DESCRIBE: a string table of {table_size} bytes for {count} columns")

        def one_field() -> tuple[int, int, ColumnType]:
            offset = _get_offset(reader, framing)
            start, word = reader.int(), reader.ushort()
            if framing.usver:
                return offset, start, _get_extended(reader, word, framing)
            return offset, start, ColumnType.from_word(word, reader.ushort())

        fields = reader.parts(one_field, count)
        names = b""
        if count:
            names = reader.take(table_size)
            reader.pad(table_size)
        columns, left = [], max(table_size, _MOST_NAMES)  # columns of one name may share it
        for offset, start, ct in fields:
            name = _name_at(names, offset, left)
            left -= len(name)
            columns.append(Column(name.decode(framing.encoding, "replace"), ct, start))
        return cls(statement_type, statement_id, estimate, tuple_size, tuple(columns))


@dataclass(frozen=True, slots=True)
class KeysDescribe(Describe):
    """Message 135: describes the generated keys of an INSERT, whose values come in message 136 (found with JDBC
    15.0.0.1.1, which asks by message 134). Wire: as SQ_DESCRIBE."""

    TAG: ClassVar[int] = 135


@dataclass(frozen=True, slots=True)
class InputDescribe(Message):
    """SQ_IDESCRIBE: the parameters of a statement, the answer to :class:`InputDescribeRequest` (JDBC section
    5).

    Wire: ``short n, short 0``, then per parameter ``short type word, int extended id, PSTR owner, PSTR type
    name, short, short, int source type, int length``. JDBC 15 counts by the first short; with anything but 0 in
    the second it waits for bytes that never come when a described parameter is nullable. Without parameters it reads
    no second short.
    """

    TAG: ClassVar[int] = 125
    columns: tuple[ColumnType, ...]

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(len(self.columns))
        if self.columns:
            w.short(0)
        for ct in self.columns:
            _put_extended(w.ushort(ct.word), ct, framing)
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> Self:
        count = reader.short()
        if count < 0:
            raise ProtocolError(f"SQ_IDESCRIBE: {count} parameters")
        if count:
            reader.short()
        return cls(tuple(reader.parts(lambda: _get_extended(reader, reader.ushort(), framing), count)))


def _put_offset(w: Writer, value: int, framing: Framing) -> None:
    if framing.four_byte_offset:
        w.int(value)
    else:
        w.short(value)


def _get_offset(reader: Reader, framing: Framing) -> int:
    return reader.int() if framing.four_byte_offset else reader.short()


def _put_extended(w: Writer, ct: ColumnType, framing: Framing) -> None:
    """What follows the type word in the long form; reference and alignment are 0 as in every answer that was
    seen."""
    w.int(ct.extended_id)
    w.pstr(encode_text(ct.owner, framing.encoding, "type owner"), "type owner")
    w.pstr(encode_text(ct.extended_name, framing.encoding, "type name"), "type name")
    w.short(0).short(0).int(ct.source_type).int(ct.encoded_length)


def _get_extended(reader: Reader, word: int, framing: Framing) -> ColumnType:
    extended_id = reader.int()
    # They go into Arrow's metadata, so bytes that are no text are replaced.
    owner = _type_name(reader, "type owner", framing).rstrip(" ")
    name = _type_name(reader, "type name", framing)
    reader.skip(4)
    source_type, length = reader.int(), reader.int()
    return ColumnType.from_word(word, length, extended_id, owner, name, source_type)


def _type_name(reader: Reader, what: str, framing: Framing) -> str:
    data = reader.pstr(what)
    if len(data) > _MOST_NAME:
        raise ProtocolError(f"{what} of {len(data)} bytes")
    return data.decode(framing.encoding, "replace")


def _name_at(names: bytes, offset: int, left: int) -> bytes:
    """A column's name of at most ``left`` bytes. It becomes an Arrow field name, so bytes that are no text are replaced
    by the caller, not smuggled."""
    if not 0 <= offset <= len(names):
        raise ProtocolError(
            f"SQ_DESCRIBE: name offset {offset} outside the string table of {len(names)} bytes"
        )
    end = names.find(b"\0", offset)
    end = end if end >= 0 else len(names)
    if end - offset > left:
        raise ProtocolError("SQ_DESCRIBE: the columns' names overlap and take too much together")
    return names[offset:end]


@dataclass(frozen=True)
class Plan:
    """What the codecs follow for one result: an op per column, what they hand over, and what users get.

    ``decoded`` is the schema of the C decoder's batches: descriptors and locators of large objects, literal
    text of collections, plain strings. ``schema`` is the schema of the final batches: contents, lists and
    structs, string views and dictionaries; columns that ``lobs="skip"`` leaves out are missing there.
    ``kept`` has, for each field of ``schema``, its index among the columns. Both schemas are known before the
    first row and are the same for every batch.
    """

    ops: tuple[PlanOp, ...]
    schema: Any  # pyarrow.Schema
    max_tuple: int  # bytes of the longest tuple
    decoded: Any  # pyarrow.Schema
    kept: tuple[int, ...]


def compile_plan(
    columns: Sequence[Column],
    options: TypeOptions = DEFAULT_OPTIONS,
    *,
    bool_binary: bool = False,
    raw_text: bool = False,
) -> Plan:
    """Compile the plan of a result.

    Names are kept as they are, duplicates too. Fields stay nullable, because an outer join brings NULLs into
    NOT NULL columns. Their metadata, all in text:

    * ``informix.type``: the declared type, which re-creates the column; a DISTINCT type's name
    * ``informix.source_type``: the type that a DISTINCT type is made of
    * ``informix.not_null``: ``true`` where the column is declared so
    * ``informix.nested``: of collections and ROWs, ``arrow`` (list, struct) or ``literal`` (their SQL literal)

    ``raw_text``: text is decoded as the bytes that it has on the wire, ``binary`` in ``decoded``, because the
    C decoder has no table for the code set; ``schema`` is the same as without.

    Raises ``NotSupportedError`` naming the first column that no codec handles.
    """
    ops: list[PlanOp] = []
    decoded: list[Any] = []
    final: list[Any] = []
    kept: list[int] = []
    for index, column in enumerate(columns):
        ct = column.type
        op = plan_op(ct, options, bool_binary=bool_binary, column=column.name)
        if raw_text and op.kind in TEXT_KINDS:
            op = replace(op, flags=op.flags & ~FLAG_REPLACE | FLAG_RAW)
        ops.append(op)
        decoded.append(pa.field(column.name, arrow_type_of_op(op)))
        if ct.is_large_object and options.lobs == "skip":
            continue
        kept.append(index)
        final.append(_final_field(column, op, options))
    size = sum(column.type.max_width for column in columns)
    return Plan(tuple(ops), pa.schema(final), size, pa.schema(decoded), tuple(kept))


def _final_field(column: Column, op: PlanOp, options: TypeOptions) -> Any:
    ct = column.type
    metadata = {"informix.type": ct.sql}
    source = ct.source
    if source is not None:
        metadata["informix.source_type"] = source.sql
    if ct.not_null:
        metadata["informix.not_null"] = "true"
    arrow = arrow_type_of_op(op)
    if ct.is_large_object:
        if options.lobs == "inline":
            text = (ct.code == TypeCode.TEXT or ct.is_clob) and options.encoding_errors != "binary"
            arrow = pa.large_utf8() if text else pa.large_binary()
    elif ct.is_complex:
        nested = nested_type(ct, options)
        metadata["informix.nested"] = "literal" if nested is None else "arrow"
        arrow = text_type(options) if nested is None else nested
    elif op.kind in TEXT_KINDS:
        arrow = text_type(options)
    return pa.field(column.name, arrow, nullable=True, metadata=metadata)
