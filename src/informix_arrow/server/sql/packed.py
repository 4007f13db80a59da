"""Floating DECIMAL(p) columns: exact values in an order-preserving text.

DuckDB has no decimal type without a fixed scale. A column of the floating type therefore stores a key whose
byte order is the numeric order and whose equality is numeric equality, so that comparisons, ORDER BY,
DISTINCT, GROUP BY, MIN, MAX, keys and indexes are exact. Arithmetic, SUM and AVG go through DOUBLE and are
rounded to 15 digits.

    positive   6 eee ddd...      eee = exponent + 500, ddd = significant digits without trailing zeros
    zero       5
    negative   4 ccc ccc... ~    nines' complements of the same, closed by a character above all digits
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from ..errors import SqlError

_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_MAX_EXPONENT = 125
_MIN_EXPONENT = -130


def encode(value: Decimal, precision: int) -> str:
    """The key of a number, rounded to `precision` digits; -1226 beyond 1E-130 .. 9.99E125."""
    if not value.is_finite():
        raise SqlError(-1226)
    value = Context(prec=precision, rounding=ROUND_HALF_UP).plus(value)
    if not value:
        return "5"
    exponent = value.adjusted()
    if not _MIN_EXPONENT <= exponent <= _MAX_EXPONENT:
        raise SqlError(-1226)
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    body = f"{exponent + 500:03d}{digits}"
    return f"4{body.translate(_COMPLEMENT)}~" if value < 0 else f"6{body}"


def decode(key: str) -> Decimal:
    """The number of a key."""
    if key == "5":
        return Decimal(0)
    negative = key[0] == "4"
    body = key[1:-1].translate(_COMPLEMENT) if negative else key[1:]
    exponent, digits = int(body[:3]) - 500, body[3:]
    return Decimal((int(negative), tuple(map(int, digits)), exponent - len(digits) + 1))


def unpack_sql(sql: str) -> str:
    """DuckDB text: the key `sql` as DOUBLE."""
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
    """DuckDB text: a number `sql` as a key, through DOUBLE with 15 digits."""
    text = f"printf('%.14e', abs(CAST({sql} AS DOUBLE)))"
    body = (
        f"(lpad(CAST(CAST(substr({text}, 18) AS INTEGER) + 500 AS VARCHAR), 3, '0') || "
        f"rtrim(replace(left({text}, 16), '.', ''), '0'))"
    )
    return (
        f"(CASE WHEN {sql} = 0 THEN '5' WHEN {sql} > 0 THEN '6' || {body} "
        f"WHEN {sql} < 0 THEN '4' || translate({body}, '0123456789', '9876543210') || '~' END)"
    )
