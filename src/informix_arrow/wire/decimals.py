"""Informix's decimal format: a sign and exponent byte, then base-100 digits (TYPES section 5).

The same format carries DECIMAL, MONEY, DATETIME and INTERVAL. A positive number has the top bit of its first byte
set and is ``0.d1d2d3... * 100**E`` with ``E = byte - 0xc0``. In a negative number the byte is inverted and the
digits are complemented: trailing zeros stay, the last digit that is not zero becomes ``100 - d``, and all digits
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
    """Return whether a number is NULL: all bytes are zero.

    ``00 5a`` is -1E125, and ``00 00 0a`` -9.99E125 (TYPES section 5). JDBC looks at two bytes only and takes the
    latter for NULL.
    """
    return not any(data)


def split_number(data: bytes) -> tuple[bool, int, bytes]:
    """Split a number that is not NULL into its sign, the exponent E and plain base-100 digits.

    Raises ``ProtocolError`` for bytes that are not a decimal.
    """
    if len(data) < 2:
        raise ProtocolError(f"A decimal has {len(data)} bytes: {data.hex()}.")
    digits = data[1:]
    if max(digits) > 99:
        raise ProtocolError(f"A decimal has a base-100 digit greater than 99: {data.hex()}.")
    if data[0] >= 0x80:
        return False, data[0] - 0xC0, digits
    return True, (data[0] ^ 0xFF) - 0xC0, _complement(digits)


def join_number(negative: bool, exponent: int, digits: bytes) -> bytes:
    """Encode sign, exponent and digits, the reverse of :func:`split_number`. No padding is added."""
    if not MIN_EXPONENT <= exponent <= MAX_EXPONENT:
        raise DataError(f"A decimal has the base-100 exponent {exponent}, but it must be -64 to 63.")
    if not negative:
        return bytes((exponent + 0xC0,)) + digits
    return bytes(((exponent + 0xC0) ^ 0xFF,)) + _complement(digits)


def _complement(digits: bytes) -> bytes:
    """Complement the digits of a negative number. Applied twice it gives the digits back."""
    significant = digits.rstrip(b"\0")
    if not significant:
        return digits
    return (
        significant[:-1].translate(_NINES)
        + bytes((100 - significant[-1],))
        + bytes(len(digits) - len(significant))
    )


def unpack_unscaled(data: bytes) -> tuple[int, int] | None:
    """Return ``(coefficient, exponent)`` with value ``coefficient * 10**exponent``. None for NULL.

    The coefficient has no trailing decimal zeros, except that zero is ``(0, 0)``.
    """
    if is_null_number(data):
        return None
    negative, exponent, pairs = split_number(data)
    text = "".join([_PAIR_TEXT[pair] for pair in pairs])
    significant = text.rstrip("0")
    if not significant:
        return 0, 0
    coefficient = int(significant)
    return (-coefficient if negative else coefficient), 2 * exponent - len(significant)


def unpack_decimal(data: bytes) -> Decimal | None:
    """Decode a number without trailing zeros in its fraction and never in exponent form: ``Decimal("100")``,
    ``1.5``."""
    number = unpack_unscaled(data)
    if number is None:
        return None
    coefficient, exponent = number
    if exponent > 0:
        coefficient, exponent = coefficient * 10**exponent, 0
    return make_decimal(coefficient, exponent)


def make_decimal(coefficient: int, exponent: int) -> Decimal:
    """Return an exact Decimal with just this exponent. Arithmetic would round to the context's precision."""
    sign = 1 if coefficient < 0 else 0
    return Decimal((sign, tuple(map(int, str(abs(coefficient)))), exponent))


def fit_decimal(number: Decimal, precision: int, scale: int, what: str) -> Decimal:
    """Return the same number with exactly ``scale`` places. Nothing is rounded.

    Raises ``DataError`` if it has more places, or more than ``precision`` digits in all.
    """
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"{number} cannot be stored in {what}.")
    significant = "".join(map(str, digits)).lstrip("0")
    exponent += len(significant) - len(significant.rstrip("0"))
    significant = significant.rstrip("0")
    if not significant:
        return make_decimal(0, -scale)
    if exponent < -scale or len(significant) + exponent > precision - scale:
        raise DataError(f"{number} does not fit in {what}.")
    coefficient = int(significant) * 10 ** (exponent + scale)
    return make_decimal(-coefficient if sign else coefficient, -scale)


def decimal_of(value: object, precision: int, scale: int | None, what: str) -> Decimal:
    """Return a Decimal, int, float or text as the number that a DECIMAL column stores. A floating column has
    ``scale`` None.

    Decimals, ints and texts must fit exactly. A float stands for its shortest text, which must fit a fixed scale
    exactly. A floating column gets the number of its precision that is nearest to the float. Raises ``DataError``
    for a number that does not fit, and for NaN and infinities.
    """
    if isinstance(value, bool) or not isinstance(value, (Decimal, int, float, str)):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in {what}.")
    try:
        number = Decimal(repr(float(value)) if isinstance(value, float) else value)
    except ArithmeticError:
        raise DataError(f"{value!r} is not a number.") from None
    if not number.is_finite():
        raise DataError(f"{value} cannot be stored in {what}.")
    if scale is not None:
        try:
            return fit_decimal(number, precision, scale, what)
        except DataError as e:
            hint = " Round it or cast it first." if isinstance(value, float) else ""
            raise DataError(f"{e}{hint}") from None
    if significant_digits(number) > precision:
        if not isinstance(value, float):
            raise DataError(f"{value} has more digits than {what} can store ({precision}).")
        number = Decimal(f"{value:.{precision - 1}e}")  # correctly rounded from the exact value of the float
    return number


def significant_digits(number: Decimal) -> int:
    """Return the number of digits from the first to the last that is not 0."""
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def pack_decimal(value: Decimal, width: int | None = None) -> bytes:
    """Encode a number in ``width`` bytes (zeros to the right), or in as many as needed.

    Raises ``DataError`` if the value has more digits than fit or is out of range, and for NaN and infinities.
    Nothing is rounded here.
    """
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"{value} cannot be stored in DECIMAL.")
    text = "".join(map(str, digits)).lstrip("0")
    significant = text.rstrip("0")
    if not significant:
        return b"\x80" + bytes((width or 2) - 1)
    exponent += len(text) - len(significant)
    if exponent & 1:
        significant += "0"
        exponent -= 1
    if len(significant) & 1:
        significant = "0" + significant
    pairs = bytes([int(significant[at : at + 2]) for at in range(0, len(significant), 2)])
    limit = MAX_DIGITS // 2 + 1 if width is None else width - 1
    if len(pairs) > limit:
        raise DataError(f"{value} has more digits than fit in {limit} base-100 digits.")
    data = join_number(bool(sign), exponent // 2 + len(pairs), pairs)
    return data if width is None else data + bytes(width - len(data))
