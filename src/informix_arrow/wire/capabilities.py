"""The feature bitmap of SQ_PROTOCOLS, and what each bit changes on the wire (SQLI section 5.1, JDBC section 2).

Bits are numbered from the top bit of byte 0. A feature is in force if both ends have it. Only the bits that change
framing matter to the codec. They become one :class:`Framing` that every message takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache

from .code_sets import codec_of_locale, is_multibyte, locale_code

__all__ = [
    "CLIENT_OFFER",
    "PRESET",
    "SERVER_ANSWER",
    "Bit",
    "Framing",
    "bits_of",
    "codec_of_locale",
    "is_multibyte",
    "locale_code",
    "mask_of",
    "server_answer",
]

CLIENT_OFFER = bytes.fromhex("fffc7ffc3c8caa97")
"""What our client offers: eight bytes, so that bits 69 and 70 can never be in force (SQLI 5.1)."""

SERVER_ANSWER = bytes.fromhex("bdbe9ffe7fb7ffeff8")
"""What our server has: the answer of 14.10.FC7W1, which all JDBC releases work with (JDBC section 2)."""


class Bit(IntEnum):
    """Capability bits with a known meaning."""

    USVER = 2  # DESCRIBE fields in their long form
    LONG_IDENTIFIERS = 10
    VARIABLE_VARCHAR = 13  # VARCHAR with its length byte instead of padded to its maximum
    DESCRIBE_INPUT = 34
    LONG_LVARCHAR = 37
    PAM = 44
    GENERATED_KEYS = 48
    SESSION_INFO = 49
    FOUR_BYTE_OFFSET = 50  # string table size and name offsets of DESCRIBE are ints
    GLS = 51
    NAMED_PARAMETERS = 52  # JDBC: SQ_CIDESCRIBE has SQ_ID in front
    BIGINT = 54  # INSERTDONE carries a BIGSERIAL
    SAVEPOINTS = 56  # RBWORK carries a short; savepoint messages exist
    PRIVATE_SERVER = 59
    BATCH = 61
    NO_64K_LIMIT = 62  # SQL text length and SQ_ERR offset are ints
    LARGE_FETCH = 63  # NFETCH buffer size and tuple length are ints
    LARGE_TUPLE = 69  # DESCRIBE tuple size is an int
    LONG_ROWID = 70  # DONE's rows and rowid are longs; BYTE/TEXT descriptors have 68 bytes


PRESET = frozenset({0, Bit.USVER, 3, 4, Bit.SESSION_INFO, Bit.GLS})
"""Bits that hold without negotiation once Cap_1 is 0x13c (SQLI 5.1)."""


def bits_of(mask: bytes) -> frozenset[int]:
    """Return the numbers of the bits that are set in ``mask``."""
    return frozenset(
        index * 8 + bit for index, value in enumerate(mask) for bit in range(8) if value & (0x80 >> bit)
    )


def mask_of(bits: Iterable[int], size: int) -> bytes:
    """Return a mask of ``size`` bytes with ``bits`` set. Bits beyond it are left out."""
    mask = bytearray(size)
    for bit in bits:
        if bit < size * 8:
            mask[bit // 8] |= 0x80 >> (bit % 8)
    return bytes(mask)


@dataclass(frozen=True, slots=True)
class Framing:
    """Everything that changes how later messages are laid out.

    The defaults are what every modern client and server agree on.
    """

    usver: bool = True
    describe_input: bool = True
    named_parameters: bool = True  # SQ_CIDESCRIBE is addressed by SQ_ID
    four_byte_offset: bool = True
    bigint: bool = True
    savepoints: bool = True
    no_64k_limit: bool = True
    large_fetch: bool = True
    large_tuple: bool = False
    long_rowid: bool = False
    pam: bool = False
    encoding: str = "latin-1"  # Python codec of all text on this connection

    def __hash__(self) -> int:
        # These fields usually suffice to tell framings apart. Hashing all of them would take ten times as long.
        return hash(self.encoding)

    @classmethod
    @lru_cache(maxsize=64)
    def negotiate(cls, offer: bytes, answer: bytes, encoding: str = "latin-1") -> Framing:
        """Return the framing that results from the client's ``offer`` and the server's ``answer`` (SQLI 5.1, JDBC
        section 2)."""
        both = (bits_of(offer) & bits_of(answer)) | PRESET
        return cls(
            usver=Bit.USVER in both,
            describe_input=Bit.DESCRIBE_INPUT in both,
            named_parameters=Bit.NAMED_PARAMETERS in both,
            four_byte_offset=Bit.FOUR_BYTE_OFFSET in both,
            bigint=Bit.BIGINT in both,
            savepoints=Bit.SAVEPOINTS in both,
            no_64k_limit=Bit.NO_64K_LIMIT in both,
            large_fetch=Bit.LARGE_FETCH in both,
            large_tuple=Bit.LARGE_TUPLE in both,
            long_rowid=Bit.LONG_ROWID in both,
            pam=Bit.PAM in both,
            encoding=encoding,
        )

    def with_encoding(self, encoding: str) -> Framing:
        """Return the same layout with text in another code set."""
        return replace(self, encoding=encoding)

    @property
    def descriptor_size(self) -> int:
        """Size in bytes of a BYTE/TEXT descriptor (TYPES section 12)."""
        return 68 if self.long_rowid else 56


def server_answer(offer: bytes, *, pam: bool = False) -> bytes:
    """Return the answer of our server: nine bytes.

    Bits from 64 up are set only if the client offered them (JDBC section 2). That includes the bit for a PAM
    dialogue, which is set if there is to be one (SQLI section 18).
    """
    offered = bits_of(offer)
    answer = {bit for bit in bits_of(SERVER_ANSWER) if bit < 64 or bit in offered}
    if pam:
        answer |= {Bit.PAM} & offered
    return mask_of(answer, len(SERVER_ANSWER))
