"""Qualifiers of DATETIME and INTERVAL: which fields a value has (TYPES sections 6 and 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

FRACTION_START = 12
"""Code of FRACTION at the start of a qualifier; at its end FRACTION(n) is 10 + n."""


class Field(IntEnum):
    """Field codes. FRACTION is the start code. FRACTION1 .. FRACTION5 occur only as the end.

    12 is both "starts with FRACTION" and "ends with FRACTION(2)", depending on its place.
    """

    YEAR = 0
    MONTH = 2
    DAY = 4
    HOUR = 6
    MINUTE = 8
    SECOND = 10
    FRACTION1 = 11
    FRACTION2 = 12
    FRACTION3 = 13
    FRACTION4 = 14
    FRACTION5 = 15
    FRACTION = 12  # the start code; alias of FRACTION2


_STARTS: dict[int, str] = {
    0: "YEAR", 2: "MONTH", 4: "DAY", 6: "HOUR", 8: "MINUTE", 10: "SECOND", FRACTION_START: "FRACTION",
}  # fmt: skip
_START_CODES = {name: code for code, name in _STARTS.items()}
_QUALIFIER = re.compile(
    r"\s*(YEAR|MONTH|DAY|HOUR|MINUTE|SECOND|FRACTION)\s*(?:\(\s*(\d+)\s*\))?\s+TO\s+"
    r"(YEAR|MONTH|DAY|HOUR|MINUTE|SECOND|FRACTION)\s*(?:\(\s*(\d+)\s*\))?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Qualifier:
    """The range ``start`` TO ``end`` with the total number of decimal ``digits``.

    For DATETIME the first field has 4 digits (YEAR) or 2. For INTERVAL it has the leading precision. Encoded as
    ``digits << 8 | start << 4 | end``. Raises ``ValueError`` for an impossible combination.
    """

    start: int
    end: int
    digits: int

    def __post_init__(self) -> None:
        last_whole = min(self.end, 10)
        first_whole = min(self.start, 10)
        if self.start not in _STARTS or not (self.end in _STARTS or self.end in range(11, 16)):
            raise ValueError(
                f"A qualifier cannot have the start code {self.start} and the end code {self.end}."
            )
        if last_whole < first_whole or (self.start == FRACTION_START and self.end < 11):
            raise ValueError(f"The qualifier ends before it starts (codes {self.start} to {self.end}).")
        if self.start == FRACTION_START:
            if self.digits != self.end - 10:
                raise ValueError(
                    f"The qualifier FRACTION TO FRACTION({self.end - 10}) cannot have {self.digits} digits."
                )
        elif not 1 <= self.digits - (self.end - self.start) <= 9:
            raise ValueError(
                f"The qualifier with the codes {self.start} to {self.end} cannot have {self.digits} digits."
            )

    @property
    def encoded(self) -> int:
        """The short in DESCRIBE and in the precision word of SQ_BIND."""
        return self.digits << 8 | self.start << 4 | self.end

    @classmethod
    def from_encoded(cls, code: int) -> Qualifier:
        """Decode an encoded length. Cached, because the same few codes occur again and again."""
        return _from_encoded(code & 0xFFFF)

    @classmethod
    def datetime(cls, start: str | int, end: str | int) -> Qualifier:
        """Create DATETIME ``start`` TO ``end``, from names such as "YEAR" and "FRACTION(3)" or codes."""
        first, last = _code(start, True), _code(end, False)
        if first == FRACTION_START:
            return cls(first, last, last - 10)
        return cls(first, last, (4 if first == Field.YEAR else 2) + last - first)

    @classmethod
    def parse(cls, text: str, interval: bool = False) -> Qualifier:
        """Parse ``"YEAR TO FRACTION(3)"`` in any case. With ``interval`` the leading field may have a precision."""
        match = _QUALIFIER.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a qualifier such as YEAR TO SECOND.")
        first_name, leading, last_name, fraction = match.groups()
        if fraction is not None and last_name.upper() != "FRACTION":
            raise ValueError(f"{text!r} is not a qualifier. Only FRACTION has a precision at the end.")
        first = _START_CODES[first_name.upper()]
        last = _code(last_name.upper() if fraction is None else f"FRACTION({fraction})", False)
        if first == FRACTION_START:
            if leading is not None:
                raise ValueError(f"{text!r} is not a qualifier. Write the precision of FRACTION at the end.")
            return cls(first, last, last - 10)
        if leading is None:
            return cls(first, last, (4 if first == Field.YEAR else 2) + last - first)
        if not interval:
            raise ValueError(f"{text!r} is not a DATETIME qualifier. Only INTERVAL has a leading precision.")
        return cls(first, last, int(leading) + last - first)

    @property
    def leading(self) -> int:
        """Number of decimal digits of the first field."""
        if self.start == FRACTION_START:
            return self.digits
        return self.digits - (self.end - self.start)

    @property
    def fraction_digits(self) -> int:
        """Number of digits of FRACTION(n), 0 without one."""
        return max(self.end - 10, 0)

    @property
    def is_year_month(self) -> bool:
        """True if an INTERVAL with this qualifier is of the YEAR TO MONTH class."""
        return self.end <= Field.MONTH

    @property
    def is_interval(self) -> bool:
        """True if an INTERVAL can have this qualifier. YEAR and MONTH never mix with DAY to FRACTION."""
        return self.start > Field.MONTH or self.end <= Field.MONTH

    @property
    def has_seconds_fraction(self) -> bool:
        """True if the qualifier ends in FRACTION."""
        return self.end > Field.SECOND

    @property
    def whole_pairs(self) -> int:
        """Number of base-100 digits of the fields before the fraction."""
        if self.start == FRACTION_START:
            return 0
        return (self.leading + 1) // 2 + (min(self.end, 10) - self.start) // 2

    @property
    def pairs(self) -> int:
        """Number of base-100 digits of the whole value."""
        return self.whole_pairs + (self.fraction_digits + 1) // 2

    @property
    def width(self) -> int:
        """Number of bytes in a tuple: the exponent byte and the pairs."""
        return 1 + self.pairs

    @property
    def full_exponent(self) -> int:
        """Exponent of a value whose first pair is not zero.

        It is the number of pairs from the first field to SECOND, even if the qualifier ends before SECOND (JDBC
        section 7).
        """
        return self.whole_pairs + (10 - min(self.end, 10)) // 2

    @property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields from first to last."""
        names = [name for code, name in _STARTS.items() if self.start <= code <= min(self.end, 10)]
        if self.has_seconds_fraction:
            names = [name for name in names if name != "FRACTION"] + ["FRACTION"]
        return tuple(names)

    @property
    def sql(self) -> str:
        """``YEAR TO FRACTION(3)``; a DATETIME never shows its leading precision."""
        end = f"FRACTION({self.fraction_digits})" if self.has_seconds_fraction else _STARTS[self.end]
        return f"{_STARTS[self.start]} TO {end}"

    @property
    def interval_sql(self) -> str:
        """``DAY(3) TO SECOND``: with the leading precision, as INTERVAL is declared."""
        if self.start == FRACTION_START:
            return self.sql
        return self.sql.replace(" ", f"({self.leading}) ", 1)


def _code(name: str | int, start: bool) -> int:
    if isinstance(name, int):
        return int(name)
    text = name.upper().replace(" ", "")
    if text in _START_CODES and text != "FRACTION":
        return _START_CODES[text]
    if text == "FRACTION":
        return FRACTION_START if start else Field.FRACTION3.value
    match = re.fullmatch(r"FRACTION\(([1-5])\)", text)
    if match is None or start:
        raise ValueError(f"{name!r} is not a field of a qualifier, such as YEAR or SECOND.")
    return 10 + int(match.group(1))


@lru_cache(maxsize=512)
def _from_encoded(code: int) -> Qualifier:
    return Qualifier((code >> 4) & 0xF, code & 0xF, code >> 8)
