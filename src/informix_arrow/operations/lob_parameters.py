"""Parameters that are more than a value in SQ_BIND: large objects, collections, ROWs.

They need the type of their target, which is requested from the server (SQ_CIDESCRIBE, JDBC section 5) if a value
or the statement's own description makes that necessary. Then:

* BYTE and TEXT are bound as a descriptor with their size, and their bytes follow after the parameters
  as SQ_BLOB pieces (SQLI section 14);
* BLOB and CLOB cannot be bound: the ``?`` becomes ``filetoblob('name', 'client')``, and the server's request
  for that file gets the bytes as its reply (SQLI section 15). The name is ours and nothing else is served;
* lists, dicts and tuples become the SQL literal of the collection or ROW.

Contents are sent in pieces, as views of the user's objects: a value is never copied as a whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from ..rows.parameters import placeholder_positions
from ..wire import messages as m
from ..wire.bind_values import bind_value
from ..wire.errors import DataError, Error, prefix_location
from ..wire.messages import Describe, InputDescribe, Message
from ..wire.types import ColumnType, TypeCode
from .io_steps import Exchange, Send
from .object_sources import ContentSource, content_source, is_object_value, is_readable
from .request_reply import request
from .session import Session

PIECE_BYTES = 1024  # bytes of one SQ_BLOB, as sent by JDBC (JDBC section 6)
BLOCK_BYTES = 256 << 10  # bytes of one send
_PIECE_HEAD = struct.pack(">hh", m.BlobChunk.TAG, PIECE_BYTES)
_PIECE_END = m.BlobChunk(b"")
_LARGEST = 0x7FFF_FFFF

Targets = tuple[ColumnType | None, ...]


@dataclass(slots=True)
class BoundParameters:
    """One row of parameters, ready to be sent."""

    values: tuple[m.BoundValue, ...]  # for the remaining ``?``
    sources: tuple[ContentSource, ...] = ()  # contents of the BYTE and TEXT values among them, in order
    files: tuple[
        tuple[int, bool, ContentSource], ...
    ] = ()  # BLOB and CLOB: number of the ``?``, is it a CLOB, content

    def close(self) -> None:
        """Drop the temporary copies of contents."""
        for source in (*self.sources, *(source for _, _, source in self.files)):
            source.close()


NO_PARAMETERS = BoundParameters(())

#: Types of most values, which are never contents or containers.
_SCALARS = frozenset({int, str, float, bool, type(None), Decimal, date, datetime})


def needs_targets(values: Sequence[object]) -> bool:
    """Return whether values can only be sent if the types of their targets are known."""
    if _SCALARS.issuperset(map(type, values)):
        return False
    return any(is_object_value(value) or is_container(value) for value in values)


def may_be_content(values: Sequence[object]) -> bool:
    """Return whether a value, a str, may be the content of a TEXT or CLOB."""
    return any(isinstance(value, str) for value in values)


def is_container(value: object) -> bool:
    """Return whether a parameter can only be a collection or a ROW. MonthDayNano is a subclass of tuple."""
    return isinstance(value, list | dict | tuple | Set) and not isinstance(value, pa.MonthDayNano)


def has_complex_columns(describe: Describe) -> bool:
    """True if a statement without rows describes columns whose parameters need more than a value in SQ_BIND."""
    return any(is_complex_target(column.type) for column in describe.columns)


def is_complex_target(target: ColumnType | None) -> bool:
    """Return whether values for a target are, or may be, more than a value in SQ_BIND, or depend on the target."""
    return target is not None and (
        target.is_large_object or target.is_complex or target.is_json or target.is_bson
    )


def ask_targets(session: Session, statement_id: int, count: int) -> Exchange[Targets]:
    """Return the types of a prepared statement's parameters; None for each that the server does not report."""
    unknown: Targets = (None,) * count
    if not session.framing.describe_input or not count:
        return unknown
    reply = yield from request(session, (m.Id(statement_id), m.InputDescribeRequest()))
    for message in reply.other_messages:
        if isinstance(message, InputDescribe) and len(message.columns) == count:
            return message.columns
    return unknown


def bind_row(session: Session, values: Sequence[object], targets: Targets) -> BoundParameters:
    """Bind one row of values for parameters of the given types.

    Raises ``DataError``, ``NotSupportedError`` or ``ProgrammingError`` naming the parameter (1-based) that
    cannot be sent. Errors of file objects pass through. Nothing was sent in any case.
    """
    if not values:
        return NO_PARAMETERS
    encoding = session.framing.encoding
    bound: list[m.BoundValue] = []
    sources: list[ContentSource] = []
    files: list[tuple[int, bool, ContentSource]] = []
    for number, (value, target) in enumerate(zip(values, targets, strict=True)):
        try:
            special = None if target is None and type(value) in _SCALARS else _as_content(value, target)
            if special is None:
                bound.append(_bind_scalar(value, encoding, target))
            elif target is not None and (target.is_blob or target.is_clob):
                files.append((number, target.is_clob, content_source(value, encoding)))
            else:
                source = content_source(value, encoding)
                bound.append(_descriptor(session, special, source.size))
                sources.append(source)
        except Error as error:
            prefix_location(error, f"Parameter {number + 1}")
            raise
    return BoundParameters(tuple(bound), tuple(sources), tuple(files))


def bind_in_exchange(session: Session, values: Sequence[object], targets: Targets) -> BoundParameters:
    """Bind a row by :func:`bind_row` between two replies: an error of a file object leaves the session usable."""
    try:
        return bind_row(session, values, targets)
    except Exception as error:
        if not isinstance(error, Error):
            session.caller_error = error
        raise


def refuse_contents(values: Sequence[m.BoundValue]) -> None:
    """Refuse bytes among values that are sent without their contents: a server would wait for those."""
    for number, value in enumerate(values, 1):
        if value.type == TypeCode.BYTE and value.data is not None:
            raise DataError(
                f"Parameter {number} has bytes in a row, but neither the first row nor the statement's "
                "description shows that it is a large object. Put a row with bytes first, or execute the "
                "rows one by one."
            )


def _as_content(value: object, target: ColumnType | None) -> int | None:
    """Return the type code to bind content as (any number for BLOB and CLOB), or None for an ordinary value."""
    special = is_object_value(value)
    if target is None:
        return TypeCode.BYTE.value if special else None
    if target.code == TypeCode.TEXT or target.is_clob:
        return TypeCode.TEXT.value if special or isinstance(value, str) else None
    if target.code == TypeCode.BYTE or target.is_blob:
        if isinstance(value, str):
            raise DataError(f"A str cannot be stored in a {target.sql}. Pass bytes.")
        return TypeCode.BYTE.value if special else None
    if is_readable(value):
        raise DataError(f"A file object can be stored in BYTE, TEXT, BLOB and CLOB, not in {target.sql}.")
    return None


def _bind_scalar(value: object, encoding: str, target: ColumnType | None) -> m.BoundValue:
    if isinstance(value, bytes | bytearray | memoryview):
        assert target is not None  # else it is bound as BYTE
        if target.code not in (TypeCode.UDTVAR, TypeCode.UDTFIXED):
            raise DataError(
                f"Bytes can be stored in BYTE, TEXT, BLOB and CLOB, not in {target.sql}. Pass a str."
            )
    return bind_value(value, encoding, target)


def _descriptor(session: Session, code: int, size: int) -> m.BoundValue:
    """Return a value whose content follows: all zero except the size (TYPES section 12)."""
    if size > _LARGEST:
        raise DataError(f"The value has {size} bytes. A BYTE or TEXT holds at most {_LARGEST}.")
    data = bytearray(session.framing.descriptor_size)
    data[16:20] = size.to_bytes(4, "big")
    return m.BoundValue(code, bytes(data))


def rewrite_with_file_functions(
    sql: str, parameters: BoundParameters, prefix: str
) -> tuple[str, dict[str, ContentSource]]:
    """Rewrite BLOB and CLOB parameters as calls of filetoblob and filetoclob. Returns the SQL and the files
    that it names.

    The names depend only on the parameters' numbers, so one prepared statement serves many rows.
    """
    files: dict[str, ContentSource] = {}
    places = placeholder_positions(sql)
    for number, clob, source in reversed(parameters.files):
        name = f"{prefix}_{number + 1}"
        files[name] = source
        function = "filetoclob" if clob else "filetoblob"
        at = places[number]
        sql = f"{sql[:at]}{function}('{name}','client'){sql[at + 1 :]}"
    return sql, files


def send_bound(
    session: Session, before: Sequence[Message], parameters: BoundParameters, after: Sequence[Message]
) -> Exchange[Exception | None]:
    """Send one group: ``before``, SQ_BIND, the contents, ``after``, SQ_EOT. The caller counts its reply.

    If a source fails in the middle, its value is ended there and ``after`` is left out: the server accepts a
    bind that is not used (JDBC section 6). The failure is returned, to be raised after the reply was read.
    """
    framing = session.framing
    out = bytearray(b"".join([message.encode(framing) for message in before]))
    if parameters.values:
        out += m.Bind(parameters.values).encode(framing)
    failure: Exception | None = None
    if parameters.sources:
        out += m.BlobBind(len(parameters.sources)).encode(framing)
        for source in parameters.sources:
            blocks = iter(()) if failure is not None else _blocks(source)
            while True:
                try:
                    block = next(blocks)
                except StopIteration:
                    break
                except Exception as error:  # noqa: BLE001 - raised by the caller
                    failure = error
                    break
                _add_pieces(out, block)
                if len(out) >= BLOCK_BYTES:
                    yield Send(bytes(out))
                    out = bytearray()
            out += _PIECE_END.encode(framing)
    if failure is None:
        out += b"".join([message.encode(framing) for message in after])
    yield Send(bytes(out) + m.EndOfTurn().encode(framing))
    return failure


def _blocks(source: ContentSource) -> Iterator[bytes | memoryview]:
    for at in range(0, source.size, BLOCK_BYTES):
        yield source.read(at, min(BLOCK_BYTES, source.size - at))


def _add_pieces(out: bytearray, block: bytes | memoryview) -> None:
    full_pieces = len(block) - len(block) % PIECE_BYTES
    for at in range(0, full_pieces, PIECE_BYTES):
        out += _PIECE_HEAD
        out += block[at : at + PIECE_BYTES]
    if full_pieces < len(block):
        left = len(block) - full_pieces
        out += _PIECE_HEAD[:2] + left.to_bytes(2, "big")
        out += block[full_pieces:]
        if left & 1:
            out.append(0)
