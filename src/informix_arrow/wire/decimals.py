"""Informix's decimal format: a sign and exponent byte, then base-100 digits (TYPES section 5).

The same format carries DECIMAL, MONEY, DATETIME and INTERVAL. A positive number has the top bit of its first
byte set and is ``0.d1d2d3... * 100**E`` with ``E = byte - 0xc0``. In a negative one the byte is inverted and
the digits are complemented: trailing zeros stay, the last digit that is not zero becomes ``100 - d``, all
before it ``99 - d``.
"""

from __future__ import annotations

from decimal import Decimal

from .errors import DataError, ProtocolError

MIN_EXPONENT, MAX_EXPONENT = -64, 63
MAX_DIGITS = 32

_PAIR_TEXT = tuple(f"{n:02d}" for n in range(100))
_NINES = bytes(99 - n if n <= 99 else 0 for n in range(256))


def is_null_number(data: bytes) -> bool:
    """NULL has two zero bytes in front: one is not enough, ``00 5a`` is -1E125 (TYPES section 5)."""
    return data[:2] == b"\0\0"[: len(data[:2])]


def split_number(data: bytes) -> tuple[bool, int, bytes]:
    """Negative, exponent E and plain base-100 digits of a number that is not NULL.

    ``ProtocolError`` for bytes that no decimal has.
    """
    if len(data) < 2:
        raise ProtocolError(f"a decimal of {len(data)} bytes: {data.hex()}")
    digits = data[1:]
    if max(digits) > 99:
        raise ProtocolError(f"a decimal with a digit above 99: {data.hex()}")
    if data[0] >= 0x80:
        return False, data[0] - 0xC0, digits
    return True, (data[0] ^ 0xFF) - 0xC0, _complement(digits)


def join_number(negative: bool, exponent: int, digits: bytes) -> bytes:
    """The reverse of :func:`split_number`; no padding is added."""
    if not MIN_EXPONENT <= exponent <= MAX_EXPONENT:
        raise DataError(f"a decimal with exponent {exponent} of 100; the limits are -64 and 63")
    if not negative:
        return bytes((exponent + 0xC0,)) + digits
    data = bytes(((exponent + 0xC0) ^ 0xFF,)) + _complement(digits)
    if is_null_number(data):
        raise DataError("a negative decimal this close to the limit would read as NULL")
    return data


def _complement(digits: bytes) -> bytes:
    """Its own inverse."""
    kept = digits.rstrip(b"\0")
    if not kept:
        return digits
    return kept[:-1].translate(_NINES) + bytes((100 - kept[-1],)) + bytes(len(digits) - len(kept))


def unpack_unscaled(data: bytes) -> tuple[int, int] | None:
    """``(coefficient, exponent)`` with value ``coefficient * 10**exponent``; None for NULL.

    The coefficient has no trailing decimal zeros, except that zero is ``(0, 0)``.
    """
    if is_null_number(data):
        return None
    negative, exponent, pairs = split_number(data)
    text = "".join([_PAIR_TEXT[pair] for pair in pairs])
    kept = text.rstrip("0")
    if not kept:
        return 0, 0
    coefficient = int(kept)
    return (-coefficient if negative else coefficient), 2 * exponent - len(kept)


def unpack_decimal(data: bytes) -> Decimal | None:
    """The value without trailing zeros in its fraction and never in exponent form: ``Decimal("100")``,
    ``1.5``."""
    number = unpack_unscaled(data)
    if number is None:
        return None
    coefficient, exponent = number
    if exponent > 0:
        coefficient, exponent = coefficient * 10**exponent, 0
    return make_decimal(coefficient, exponent)


def make_decimal(coefficient: int, exponent: int) -> Decimal:
    """An exact Decimal with just this exponent; arithmetic would round to the context's precision."""
    sign = 1 if coefficient < 0 else 0
    return Decimal((sign, tuple(map(int, str(abs(coefficient)))), exponent))


def pack_decimal(value: Decimal, width: int | None = None) -> bytes:
    """Pack into ``width`` bytes (zeros to the right), or into as many as needed.

    ``DataError`` when the value has more digits than fit or is out of range, and for NaN and infinities:
    nothing is rounded here.
    """
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"{value} cannot be a DECIMAL")
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0")
    if not kept:
        return b"\x80" + bytes((width or 2) - 1)
    exponent += len(text) - len(kept)
    if exponent & 1:
        kept += "0"
        exponent -= 1
    if len(kept) & 1:
        kept = "0" + kept
    pairs = bytes([int(kept[at : at + 2]) for at in range(0, len(kept), 2)])
    limit = MAX_DIGITS // 2 + 1 if width is None else width - 1
    if len(pairs) > limit:
        raise DataError(f"{value} has more digits than fit in {limit} base-100 digits")
    data = join_number(bool(sign), exponent // 2 + len(pairs), pairs)
    return data if width is None else data + bytes(width - len(data))
