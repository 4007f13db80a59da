"""TO_CHAR of numbers: the formatting masks of Informix's manuals (ESQL/C, numeric-formatting masks).

    &  a digit, or 0      *  a digit, or *      #  a digit, or a blank      <  a digit, or nothing
    ,  between digits     .  the point          (  )  around negative numbers
    -  a sign for negative numbers alone        +  a sign for all           $  the currency

Several of `$ - + (` in a row print one character, as far to the right as possible. All but one of them can print a
digit. A number that does not fit becomes asterisks. A number without a place for its sign is printed without it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

from ..errors import not_supported

_FILLS = {"&": "0", "*": "*", "#": " ", "<": ""}
_FLOATING = "$-+("
_DIGITS = "".join(_FILLS) + _FLOATING
_FRACTION = re.compile(r"([*&#<$\-]*)(\)?)([^*&#<$\-+(),.]*)")
_AMBIGUOUS = re.compile(r"\)|--+\$[$,]*\$|\+\++\$[$,]*\$|\(\(+\$[$,]*\$|[&*].*[$\-+(]")
"""Masks that are ambiguous, or whose signs before the point cannot move."""
_WIDE = Context(prec=160, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class NumberMask:
    """A parsed mask.

    `integer_cells` is the part before the point, `fraction_digits` the number of digits after it, `point` whether the
    mask has a point. `closing` is the closing parenthesis, `suffix` the text after the number.
    """

    integer_cells: str
    point: bool
    fraction_digits: int
    closing: str
    suffix: str
    width: int


@lru_cache(256)
def parse_mask(mask: str) -> NumberMask:
    """Parse a mask. Raises -664 for a mask without digit characters, or with another notation (`9,999.99`)."""
    left, point, right = mask.partition(".")
    close = tail = ""
    if not point:
        left, close = (left[:-1], ")") if left.endswith(")") else (left, "")
    found = _FRACTION.fullmatch(right)
    fraction_digits = 0
    if found is not None and point:
        fraction_digits, close, tail = len(found[1]), found[2], found[3]
    if (
        found is None
        or _AMBIGUOUS.search(left)
        or re.search(r"\d", mask)
        or not _integer_digits(left) + fraction_digits
    ):
        raise not_supported(f"TO_CHAR of a number with the format {mask!r}", -664)
    return NumberMask(left, bool(point), fraction_digits, close, tail, len(mask))


def _integer_digits(left: str) -> int:
    """Return the number of digits that fit before the point."""
    return sum(c in _DIGITS for c in left) - len(set(left) & set(_FLOATING))


def format_number(number: str, mask: str) -> str:
    """Format a number, given as text, with a mask."""
    m = parse_mask(mask)
    value = Decimal(number)
    text = f"{value.copy_abs().quantize(Decimal(1).scaleb(-m.fraction_digits), context=_WIDE):f}"
    integer_digits, _, fraction = text.partition(".")
    integer_digits = integer_digits.lstrip("0")
    negative = value < 0 and (integer_digits + fraction).strip("0") != ""
    if len(integer_digits) > _integer_digits(m.integer_cells):
        return "*" * m.width
    end = {"": "", ")": ")" if negative else " "}[m.closing]
    return (
        _format_integer(m.integer_cells, integer_digits, negative)
        + ("." if m.point else "")
        + fraction
        + end
        + m.suffix
    )


def _format_integer(left: str, digits: str, negative: bool) -> str:
    """Format the part before the point. Cells are filled from the right: digits, then the moving characters, then
    blanks."""
    cells: list[str | None] = [None if c in _DIGITS + "," else c for c in left]
    first, rest = len(left), digits
    for at in range(len(left) - 1, -1, -1):
        c = left[at]
        if c == "," and rest and first < len(left):
            cells[at] = ","
        elif c in _DIGITS and (rest or c in "&*"):
            cells[at], rest = (rest[-1], rest[:-1]) if rest else (_FILLS[c], "")
            first = at
        elif c == "," and not rest and left[:at].rstrip(",")[-1:] in ("&", "*"):
            cells[at] = _FILLS[left[:at].rstrip(",")[-1]]
    signs = {"$": "$", "-": "- "[not negative], "+": "-+"[not negative], "(": "( "[not negative]}
    limit = next((i for i, cell in enumerate(cells) if cell and left[i] in _DIGITS + ","), len(left))
    for symbol in sorted(set(left) & set(_FLOATING), key=left.rindex, reverse=True):
        run = re.search(re.escape(symbol) + f"[{re.escape(symbol)},]*", left)
        several = left.count(symbol) > 1
        reach = run.end() - 1 if run is not None and several else left.index(symbol)
        limit = min(limit - 1, reach)
        cells[limit] = signs[symbol]
    return "".join(_fill_character(left, at) if cell is None else cell for at, cell in enumerate(cells))


def _fill_character(integer_cells: str, at: int) -> str:
    """Return the fill character of an empty cell. A comma takes that of the cell before it."""
    while integer_cells[at] == "," and at:
        at -= 1
    return _FILLS.get(integer_cells[at], " ")
