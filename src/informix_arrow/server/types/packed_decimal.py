"""Floating DECIMAL(p) columns: exact values in an order-preserving text.

DuckDB has no decimal type without a fixed scale. A column of the floating type therefore stores a key whose
byte order is the numeric order and whose equality is numeric equality, so that comparisons, ORDER BY,
DISTINCT, GROUP BY, MIN, MAX, keys and indexes are exact. Arithmetic, SUM, AVG, ROUND and texts are done on keys in
Python (sql_functions.py), to 32 digits; only functions such as SQRT go through DOUBLE, and have its 15 digits.

    positive   6 eee ddd...      eee = exponent + 500, ddd = significant digits without trailing zeros
    zero       5
    negative   4 ccc ccc... ~    nines' complements of the same, closed by a character above all digits
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal

from ..errors import SqlError
from .literals import number

_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_NON_FINITE = frozenset({"inf", "-inf", "nan"})  # values of a DOUBLE that raise -1226
_MAX_EXPONENT = 125
_MIN_EXPONENT = -130


_ROUNDING = tuple(Context(prec=max(p, 1), rounding=ROUND_HALF_UP) for p in range(33))


def encode(value: Decimal, precision: int) -> str:
    """Return the key of a number rounded to `precision` digits. Raises -1226 outside of 1E-130 .. 9.99E125."""
    if not value.is_finite():
        raise SqlError(-1226)
    value = _ROUNDING[precision].plus(value)
    if not value:
        return "5"
    exponent = value.adjusted()
    if not _MIN_EXPONENT <= exponent <= _MAX_EXPONENT:
        raise SqlError(-1226)
    negative = value < 0
    digits = f"{value:E}".partition("E")[0].replace(".", "").lstrip("-").rstrip("0")
    body = f"{exponent + 500:03d}{digits}"
    return f"4{body.translate(_COMPLEMENT)}~" if negative else f"6{body}"


def decode(key: str) -> Decimal:
    """Return the number of a key."""
    if key == "5":
        return Decimal(0)
    negative = key[0] == "4"
    body = key[1:-1].translate(_COMPLEMENT) if negative else key[1:]
    return Decimal(f"{'-' if negative else ''}{body[3]}.{body[4:]}E{int(body[:3]) - 500}")


def unpack_sql(sql: str) -> str:
    """Return DuckDB SQL for the key `sql` as DOUBLE."""
    complement = f"translate(rtrim({sql}, '~'), '0123456789', '9876543210')"

    def number(key: str) -> str:
        return (
            f"CAST(substr({key}, 5, 1) || '.' || substr({key}, 6) || '0e' || "
            f"(CAST(substr({key}, 2, 3) AS INTEGER) - 500) AS DOUBLE)"
        )

    return (
        f"(CASE left({sql}, 1) WHEN '5' THEN 0e0 WHEN '6' THEN {number(sql)} "
        f"WHEN '4' THEN -({number(complement)}) END)"
    )


def pack_sql(sql: str) -> str:
    """Return DuckDB SQL for the key of a number `sql`, through DOUBLE with 15 digits."""
    text = f"printf('%.14e', abs(CAST({sql} AS DOUBLE)))"
    body = (
        f"(lpad(CAST(CAST(substr({text}, 18) AS INTEGER) + 500 AS VARCHAR), 3, '0') || "
        f"rtrim(replace(left({text}, 16), '.', ''), '0'))"
    )
    return (
        f"(CASE WHEN {sql} = 0 THEN '5' WHEN {sql} > 0 THEN '6' || {body} "
        f"WHEN {sql} < 0 THEN '4' || translate({body}, '0123456789', '9876543210') || '~' END)"
    )


# ---- arithmetic on keys in Python, which sql_functions.py registers with DuckDB ----------------------
DIGITS = 32
_WORK = Context(prec=DIGITS, rounding=ROUND_HALF_UP, Emax=999, Emin=-999)
_EXACT = Context(prec=600)


def to_decimal_text(key: str) -> str:
    """Return the number of a key as decimal text with all its digits and no exponent."""
    return decimal_text(decode(key))


def decimal_text(value: Decimal) -> str:
    """Return decimal text without exponent and trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def key_of(text: str) -> str:
    """Return the key of a number that DuckDB or a client has written as text. Raises -1213 for invalid text."""
    stripped = text.strip()
    return encode(Decimal(stripped) if stripped in _NON_FINITE else number(stripped), DIGITS)


def add(a: str, b: str) -> str:
    return encode(_WORK.add(decode(a), decode(b)), DIGITS)


def subtract(a: str, b: str) -> str:
    return encode(_WORK.subtract(decode(a), decode(b)), DIGITS)


def multiply(a: str, b: str) -> str:
    return encode(_WORK.multiply(decode(a), decode(b)), DIGITS)


def divide(a: str, b: str) -> str:
    """Divide. Raises -1202 for a division by zero."""
    if b == "5":
        raise SqlError(-1202)
    return encode(_WORK.divide(decode(a), decode(b)), DIGITS)


def remainder(a: str, b: str) -> str:
    """Return the remainder of a / b, with the sign of a."""
    if b == "5":
        raise SqlError(-1202)
    return encode(_EXACT.remainder(decode(a), decode(b)), DIGITS)


def negate(a: str) -> str:
    return encode(decode(a).copy_negate(), DIGITS)


def magnitude(a: str) -> str:
    return encode(decode(a).copy_abs(), DIGITS)


def sum_keys(keys: list[str | None]) -> str:
    """Return the sum of a group's keys, of which one at least is not NULL."""
    numbers = [decode(key) for key in keys if key is not None]
    sum_ = numbers[0]
    for other in numbers[1:]:
        sum_ = _EXACT.add(sum_, other)
    return encode(sum_, DIGITS)


def round_to_precision(key: str, precision: int) -> str:
    """Round a key to a column's digits."""
    return encode(decode(key), precision)


def _quantize(key: str, exponent: int, rounding: str) -> Decimal:
    return decode(key).quantize(Decimal((0, (1,), exponent)), rounding, _EXACT)


def round_key(key: str, digits: int) -> str:
    """ROUND(x, digits)."""
    return encode(_quantize(key, -digits, ROUND_HALF_UP), DIGITS)


def truncate_key(key: str, digits: int) -> str:
    """TRUNC(x, digits)."""
    return encode(_quantize(key, -digits, ROUND_DOWN), DIGITS)


def to_integral_text(key: str, direction: str) -> str:
    """Return the number as text without fraction. `direction` is down (towards zero), ceil or floor."""
    rounding = {"down": ROUND_DOWN, "ceil": ROUND_CEILING, "floor": ROUND_FLOOR}[direction]
    return f"{_quantize(key, 0, rounding):f}"


def to_fixed_text(key: str, precision: int, scale: int) -> str:
    """Return the number as text with `scale` digits after the point. Raises -1226 if it has more than `precision`
    digits."""
    value = _quantize(key, -scale, ROUND_HALF_UP)
    if value and value.adjusted() >= precision - scale:
        raise SqlError(-1226)
    return f"{value:f}"
