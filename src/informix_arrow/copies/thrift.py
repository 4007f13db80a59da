"""Thrift's compact protocol, as far as footers and page headers of Parquet files need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

Fields: TypeAlias = dict[int, tuple[int, bytes]]
"""A struct: for each number of a field its type, and its value in bytes."""


def varint(value: int) -> bytes:
    """A number that is not negative."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(value: int) -> bytes:
    """A whole number of up to 64 bits."""
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def binary(value: bytes | str) -> bytes:
    """Bytes or a text."""
    data = value.encode() if isinstance(value, str) else value
    return varint(len(data)) + data


def items(kind: int, values: Sequence[bytes]) -> bytes:
    """A list, whose items are of one type."""
    head = (
        bytes([len(values) << 4 | kind]) if len(values) < 15 else bytes([0xF0 | kind]) + varint(len(values))
    )
    return head + b"".join(values)


def struct(fields: Mapping[int, tuple[int, bytes]]) -> bytes:
    """Fields, in the order of their numbers."""
    told, last = bytearray(), 0
    for place, (kind, value) in sorted(fields.items()):
        step = place - last
        told += bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + number(place)
        told += value
        last = place
    return bytes(told) + b"\0"


def fields_of(data: bytes) -> Fields:
    """The fields of a struct that ``data`` holds."""
    found: Fields = {}
    at, last = 0, 0
    while data[at]:
        at, last, kind = _field(data, at, last)
        end = _after(data, at, kind)
        found[last] = kind, data[at:end]
        at = end
    return found


def _field(data: bytes, at: int, last: int) -> tuple[int, int, int]:
    """Behind the head of a field; its number and type."""
    head = data[at]
    if head >> 4:
        return at + 1, last + (head >> 4), head & 15
    told, at = _varint(data, at + 1)
    return at, told >> 1 ^ -(told & 1), head & 15


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        shift += 7
        if data[at - 1] < 0x80:
            return value, at


def _after(data: bytes, at: int, kind: int, *, item: bool = False) -> int:
    """Where a value ends that begins here."""
    if kind in (TRUE, FALSE):
        return at + item  # of a field, the type is the value
    if kind == BYTE:
        return at + 1
    if kind in (I16, I32, I64):
        return _varint(data, at)[1]
    if kind == DOUBLE:
        return at + 8
    if kind == BINARY:
        length, at = _varint(data, at)
        return at + length
    if kind in (LIST, SET):
        size, inner = data[at] >> 4, data[at] & 15
        at += 1
        if size == 15:
            size, at = _varint(data, at)
        for _ in range(size):
            at = _after(data, at, inner, item=True)
        return at
    if kind == STRUCT:
        last = 0
        while data[at]:
            at, last, kind = _field(data, at, last)
            at = _after(data, at, kind)
        return at + 1
    raise ValueError(f"a footer of Parquet has no values of type {kind}")
