"""Locators: the 72 bytes in a BLOB or CLOB column that identify an object stored elsewhere.

They are opaque to clients (TYPES section 13):

    4 bytes "IFLO", 1 version, 1 kind (1 BLOB, 2 CLOB), 2 zero, 8 object id, 8 database, 48 zero
"""

from __future__ import annotations

import hashlib
import struct
from typing import Literal

from ...wire.type_codes import LOCATOR_SIZE
from ..errors import SqlError

Kind = Literal["blob", "clob"]

_HEAD = struct.Struct(">4sBBHQ8s")
_MAGIC = b"IFLO"
_KINDS: dict[Kind, int] = {"blob": 1, "clob": 2}
BAD_LOCATOR = -9810
"""The bytes do not identify a large object."""


def bad_locator(detail: str) -> SqlError:
    """Return SqlError -9810 for a locator that identifies no large object."""
    return SqlError(BAD_LOCATOR, 0, 0, "", detail)


def database_tag(database: str) -> bytes:
    """Return the tag that identifies the object's database in a locator."""
    return hashlib.blake2b(database.encode(), digest_size=8).digest()


def make_locator(kind: Kind, number: int, database: str) -> bytes:
    """Return the locator of an object."""
    return _HEAD.pack(_MAGIC, 1, _KINDS[kind], 0, number, database_tag(database)).ljust(LOCATOR_SIZE, b"\0")


def kind_of(locator: bytes) -> Kind:
    """Return "blob" or "clob". Raises -9810 for bytes that are no locator of this server."""
    if len(locator) != LOCATOR_SIZE or locator[:5] != _MAGIC + b"\x01" or locator[5] not in (1, 2):
        raise bad_locator(f"{len(locator)} bytes that are no locator")
    return "blob" if locator[5] == 1 else "clob"


def locator_number(locator: bytes) -> int:
    """Return the number of the object in its database. Raises -9810 for bytes that are no locator."""
    kind_of(locator)
    return int(_HEAD.unpack_from(locator)[4])


def tag_of(locator: bytes) -> bytes:
    """Return the tag of the object's database. Raises -9810 for bytes that are no locator."""
    kind_of(locator)
    return bytes(_HEAD.unpack_from(locator)[5])


def as_locator(value: object, kind: Kind) -> bytes:
    """Return a locator from raw bytes or 144 hexadecimal digits. Raises -9810 for anything else, -9634 for digits of
    the other kind."""
    if isinstance(value, str):
        try:
            raw = bytes.fromhex(value.strip())
        except ValueError:
            raise bad_locator("no hexadecimal text of a locator") from None
    elif isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(value)
    else:
        raise SqlError(-9634, 0, 0, kind, f"A value of type {type(value).__name__} is not a {kind.upper()}.")
    # JDBC creates the objects of CLOB columns as BLOBs (JDBC section 11). Raw bytes may be of either kind.
    if kind_of(raw) != kind and isinstance(value, str):
        raise SqlError(-9634, 0, 0, kind, f"The locator is not that of a {kind.upper()}.")
    return raw
