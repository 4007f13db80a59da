"""Decode and encode whole tuples: the plain reference that the C codecs are tested against.

There is one decoder and one encoder per :class:`~informix_arrow.wire.plan_ops.Kind`, in ``value_decoders`` and
``value_encoders``. The Python objects are those that pyarrow's ``to_pylist`` returns for the Arrow type of the
same kind. Parameters of SQ_BIND have their own forms: see ``bind_values``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .describe import Column
from .errors import Error, ProtocolError
from .plan_ops import DEFAULT_OPTIONS, TypeOptions, plan_op
from .primitives import NeedMoreData, Reader
from .value_decoders import DECODERS
from .value_encoders import ENCODERS


def decode_tuple(
    payload: bytes,
    columns: Sequence[Column],
    encoding: str,
    options: TypeOptions = DEFAULT_OPTIONS,
) -> tuple[object, ...]:
    """Decode one tuple.

    Raises ``ProtocolError`` if the bytes do not end exactly with the last column, and ``DataError`` (with
    ``column``) for a value that is invalid or does not fit its Arrow type.
    """
    reader = Reader(payload)
    values: list[object] = []
    for column in columns:
        op = plan_op(column.type, options, column=column.name)
        at = reader.pos
        try:
            values.append(DECODERS[op.kind](reader, op, encoding))
        except NeedMoreData:
            raise ProtocolError(
                f"Column {column.name!r}: The value at offset {at} is longer than the tuple ({len(payload)} bytes).",
                column=column.name,
            ) from None
        except Error as e:
            raise type(e)(f"Column {column.name!r}, offset {at}: {e}", column=column.name) from None
    if reader.remaining:
        raise ProtocolError(f"A tuple has {reader.remaining} bytes after its last column.")
    return tuple(values)


def encode_tuple(
    values: Sequence[object],
    columns: Sequence[Column],
    encoding: str,
    options: TypeOptions = DEFAULT_OPTIONS,
    *,
    bool_binary: bool = False,
) -> bytes:
    """Encode one tuple without its pad. ``bool_binary`` writes BOOLEAN as 0/1 (JDBC section 5, type 45).

    Accepts what :func:`decode_tuple` returns for any options. Text may be bytes only with
    ``encoding_errors="binary"``, which writes them as they are. Large objects are given as their descriptors and
    locators, collections and ROWs as their literals. Raises ``DataError`` (with ``column``) for a value that its
    column cannot hold, also for one whose bytes mean NULL.
    """
    if len(values) != len(columns):
        raise ValueError(f"There are {len(values)} values for {len(columns)} columns.")
    out = bytearray()
    for value, column in zip(values, columns, strict=True):
        op = plan_op(column.type, options, bool_binary=bool_binary, column=column.name)
        try:
            out += ENCODERS[op.kind](value, column.type, op, encoding)
        except Error as e:
            raise type(e)(f"Column {column.name!r}: {e}", column=column.name) from None
    return bytes(out)
