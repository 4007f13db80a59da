"""DATETIME and INTERVAL values: fields, texts and bytes (TYPES sections 6 and 7, JDBC section 7).

On the wire both are decimals whose base-100 digits are the fields from first to last. The exponent is the number
of digits down to the end of SECOND. A value may be normalised (leading zero digits dropped, exponent lowered) or
not; both are accepted.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .decimals import is_null_number, join_number, split_number
from .errors import DataError, ProtocolError
from .qualifiers import Field, Qualifier

# Minimum and maximum of each field of a DATETIME.
_LIMITS: dict[str, tuple[int, int]] = {
    "YEAR": (1, 9999),
    "MONTH": (1, 12),
    "DAY": (1, 31),
    "HOUR": (0, 23),
    "MINUTE": (0, 59),
    "SECOND": (0, 59),
    "FRACTION": (0, 99999),
}
_SEPARATOR = {"MONTH": "-", "DAY": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":", "FRACTION": "."}


class _QualifierLayout(NamedTuple):
    """The layout of values with a qualifier, computed once."""

    names: tuple[str, ...]
    limits: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]  # number of base-100 digits of each field before the fraction
    pairs: int
    full_exponent: int
    fraction_digits: int


@lru_cache(maxsize=512)
def _qualifier_layout(qualifier: Qualifier) -> _QualifierLayout:
    names = qualifier.field_names
    whole = [name for name in names if name != "FRACTION"]
    sizes = tuple((qualifier.leading + 1) // 2 if index == 0 else 1 for index in range(len(whole)))
    limits = tuple(_LIMITS[name] for name in names)
    return _QualifierLayout(
        names, limits, sizes, qualifier.pairs, qualifier.full_exponent, qualifier.fraction_digits
    )


@dataclass(frozen=True, slots=True)
class DatetimeValue:
    """A DATETIME with its qualifier, as a parameter carries it.

    ``fields`` runs from the qualifier's first field to its last. FRACTION(n) counts units of 10**-n seconds.
    """

    qualifier: Qualifier
    fields: tuple[int, ...]

    def get(self, name: str, default: int) -> int:
        """Return a field by name, or ``default`` if the qualifier does not have it."""
        names = _qualifier_layout(self.qualifier).names
        return self.fields[names.index(name)] if name in names else default

    @property
    def microsecond(self) -> int:
        """The fraction in microseconds."""
        if not self.qualifier.has_seconds_fraction:
            return 0
        return int(self.fields[-1] * 10 ** (6 - self.qualifier.fraction_digits))

    @property
    def text(self) -> str:
        """Informix's literal form: ``2026-08-31 12:30:15.123``, ``12-25 08``, ``.5``."""
        return format_datetime(self.fields, self.qualifier)

    def __str__(self) -> str:
        return self.text

    def to_datetime(self) -> dt.datetime:
        """Return a datetime. Missing months and days are 1, missing times 0. Raises ``DataError`` without a year."""
        if self.qualifier.start != Field.YEAR:
            raise DataError(f"DATETIME {self.qualifier.sql} {self.text} has no year.")
        try:
            return dt.datetime(
                self.fields[0],
                self.get("MONTH", 1),
                self.get("DAY", 1),
                self.get("HOUR", 0),
                self.get("MINUTE", 0),
                self.get("SECOND", 0),
                self.microsecond,
            )
        except ValueError as e:
            raise DataError(f"DATETIME {self.qualifier.sql} {self.text} is not valid: {e}.") from None

    def to_date(self) -> dt.date:
        """Return the date part. Raises ``DataError`` without a year."""
        return self.to_datetime().date()

    def to_time(self) -> dt.time:
        """Return the time part. Raises ``DataError`` without an hour."""
        if not (self.qualifier.start <= Field.HOUR <= self.qualifier.end):
            raise DataError(f"DATETIME {self.qualifier.sql} {self.text} has no hour.")
        return dt.time(self.get("HOUR", 0), self.get("MINUTE", 0), self.get("SECOND", 0), self.microsecond)

    def natural(self) -> dt.datetime | dt.date | dt.time | str:
        """Return the type that a column with this qualifier returns: the plan makes the same choice for Arrow."""
        start, end = self.qualifier.start, self.qualifier.end
        if start == Field.YEAR and end >= Field.HOUR:
            return self.to_datetime()
        if start == Field.YEAR and end == Field.DAY:
            return self.to_date()
        if start == Field.HOUR and end >= Field.MINUTE:
            return self.to_time()
        return self.text


@dataclass(frozen=True, slots=True)
class IntervalValue:
    """An INTERVAL with its qualifier. ``fields`` is as in :class:`DatetimeValue`, without negative values.

    ``intervals`` converts it from and to Python's and Arrow's own types.
    """

    qualifier: Qualifier
    negative: bool
    fields: tuple[int, ...]

    @property
    def months(self) -> int | None:
        """Signed months of the YEAR TO MONTH class. None for the other class."""
        if self.qualifier.start > Field.MONTH:
            return None
        parts = dict(zip(self.qualifier.field_names, self.fields, strict=True))
        total = parts.get("YEAR", 0) * 12 + parts.get("MONTH", 0)
        return -total if self.negative else total

    @property
    def microseconds(self) -> int | None:
        """Signed microseconds of the DAY TO FRACTION class. None for the other class."""
        if self.qualifier.start <= Field.MONTH:
            return None
        parts = dict(zip(self.qualifier.field_names, self.fields, strict=True))
        seconds = (parts.get("DAY", 0) * 24 + parts.get("HOUR", 0)) * 60 + parts.get("MINUTE", 0)
        seconds = seconds * 60 + parts.get("SECOND", 0)
        fraction = parts.get("FRACTION", 0) * 10 ** (6 - self.qualifier.fraction_digits)
        total = int(seconds * 1_000_000 + fraction)
        return -total if self.negative else total

    @property
    def text(self) -> str:
        """Informix's literal form: ``1-06``, ``-3 03:27:01.12345``."""
        text = format_datetime(self.fields, self.qualifier, interval=True)
        return "-" + text if self.negative else text

    def __str__(self) -> str:
        return self.text


def format_datetime(fields: Sequence[int], qualifier: Qualifier, interval: bool = False) -> str:
    """Return fields in Informix's literal form. The first field of an interval is as long as it needs to be."""
    texts: list[str] = []
    for name, value in zip(qualifier.field_names, fields, strict=True):
        if texts or name == "FRACTION":
            texts.append(_SEPARATOR[name])
        if name == "FRACTION":
            texts.append(f"{value:0{qualifier.fraction_digits}d}")
        elif interval and not texts and name in ("YEAR", "MONTH", "DAY", "SECOND"):
            texts.append(str(value))
        elif interval and not texts:
            texts.append(f"{value:0{min(qualifier.leading, 2)}d}")
        else:
            texts.append(f"{value:04d}" if name == "YEAR" else f"{value:02d}")
    return "".join(texts)


@lru_cache(maxsize=512)
def _literal(qualifier: Qualifier) -> re.Pattern[str]:
    pattern = ""
    for index, name in enumerate(qualifier.field_names):
        if name == "FRACTION":
            pattern += rf"(?:\.(\d{{1,{qualifier.fraction_digits}}}))?"
        else:
            digits = 4 if name == "YEAR" else 2
            separator = _SEPARATOR[name] if index else ""
            pattern += re.escape(separator).replace(r"\ ", "[ T]") + rf"(\d{{1,{digits}}})"
    return re.compile(pattern)


def parse_datetime(text: str, qualifier: Qualifier) -> tuple[int, ...]:
    """Parse a literal to fields. Its fraction may be shorter than the qualifier's.

    Raises ``DataError`` for text that does not fit.
    """
    match = _literal(qualifier).fullmatch(text.strip())
    if match is None:
        raise DataError(f"{text!r} is not a DATETIME {qualifier.sql}.")
    values = list(match.groups())
    if qualifier.has_seconds_fraction:
        values[-1] = (values[-1] or "").ljust(qualifier.fraction_digits, "0")
    return check_datetime([int(value) for value in values], qualifier)


def check_datetime(fields: Sequence[int], qualifier: Qualifier) -> tuple[int, ...]:
    """Return the fields if each is in its range. Raises ``DataError`` for the first that is not."""
    shape = _qualifier_layout(qualifier)
    for name, value, (low, high) in zip(shape.names, fields, shape.limits, strict=True):
        if not low <= value <= high:
            raise DataError(f"DATETIME {qualifier.sql}: {name} is {value}, but must be {low} to {high}.")
    return tuple(fields)


def datetime_fields(value: object, qualifier: Qualifier) -> tuple[int, ...]:
    """Return the fields of a datetime, date, time, text or DatetimeValue under ``qualifier``.

    Raises ``DataError`` for fields that the value does not have, and for parts that are finer than the qualifier's
    last field and not zero: nothing is cut. Parts coarser than the first field are left out.
    """
    if isinstance(value, str):
        return parse_datetime(value, qualifier)
    parts, microsecond = _fields_of(value)
    result = []
    for name in _qualifier_layout(qualifier).names:
        if name == "FRACTION" and microsecond is not None:
            result.append(microsecond // 10 ** (6 - qualifier.fraction_digits))
        elif name in parts:
            result.append(parts[name])
        else:
            raise DataError(f"{value!r} has no {name}, which DATETIME {qualifier.sql} needs.")
    finer = [name for name, code in _TIME_CODES if code > qualifier.end and parts.get(name)]
    rest = (microsecond or 0) % 10 ** (6 - qualifier.fraction_digits)
    if finer or rest or getattr(value, "nanosecond", 0):
        raise DataError(
            f"{value} has more precision than DATETIME {qualifier.sql} can store. Round or truncate it first."
        )
    return check_datetime(result, qualifier)


_TIME_CODES = (("HOUR", Field.HOUR), ("MINUTE", Field.MINUTE), ("SECOND", Field.SECOND))


def _fields_of(value: object) -> tuple[dict[str, int], int | None]:
    """Return the fields by name without the fraction, and the microseconds if the value has a time."""
    if isinstance(value, DatetimeValue):
        named = dict(zip(value.qualifier.field_names, value.fields, strict=True))
        return named, value.microsecond
    fields: dict[str, int] = {}
    microsecond: int | None = None
    if isinstance(value, (dt.datetime, dt.time)) and value.tzinfo is not None:
        raise DataError(
            f"{value!r} has a time zone, which Informix cannot store. Convert it to local time and drop the zone."
        )
    if isinstance(value, dt.date):
        fields.update(YEAR=value.year, MONTH=value.month, DAY=value.day)
        if not isinstance(value, dt.datetime):
            fields.update(HOUR=0, MINUTE=0, SECOND=0)
            microsecond = 0
    if isinstance(value, (dt.datetime, dt.time)):
        fields.update(HOUR=value.hour, MINUTE=value.minute, SECOND=value.second)
        microsecond = value.microsecond
    if not fields:
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in DATETIME.")
    return fields, microsecond


def unpack_fields(
    data: bytes, qualifier: Qualifier, *, cut: bool = False
) -> tuple[bool, tuple[int, ...]] | None:
    """Decode the sign and the fields of a DATETIME or INTERVAL. None for NULL.

    The exponent gives the digits their places. Digits beyond the qualifier's last must be zero (JDBC binds longer
    values than their qualifier, filled with zeros). The one exception is the second digit of a fraction's last
    pair, which ``cut`` drops. Only the range of digits is checked here, not that of fields.
    """
    if is_null_number(data):
        return None
    negative, exponent, digits = split_number(data)
    shape = _qualifier_layout(qualifier)
    shift = shape.full_exponent - exponent
    if shift < 0:
        raise ProtocolError(
            f"{qualifier.sql}: The exponent {exponent} is greater than {shape.full_exponent}: {data.hex()}."
        )
    count = shape.pairs
    pairs = bytes(shift) + digits if shift else digits
    if len(pairs) != count:
        if any(pairs[count:]):
            raise DataError(f"{qualifier.sql}: The value has digits after the last field: {data.hex()}.")
        pairs = pairs[:count].ljust(count, b"\0")
    fields: list[int] = []
    at = 0
    for size in shape.sizes:
        value = pairs[at]
        for pair in pairs[at + 1 : at + size]:
            value = value * 100 + pair
        fields.append(value)
        at += size
    if shape.fraction_digits:
        text = "".join([f"{pair:02d}" for pair in pairs[at:]])
        if not cut and text[shape.fraction_digits :].strip("0"):
            raise DataError(f"{qualifier.sql}: The value has digits after the last field: {data.hex()}.")
        fields.append(int(text[: shape.fraction_digits]))
    return negative, tuple(fields)


def pack_fields(
    fields: Sequence[int], qualifier: Qualifier, *, negative: bool = False, normalise: bool = True
) -> bytes:
    """Encode fields as ``qualifier.width`` bytes, the reverse of :func:`unpack_fields`. A negative zero becomes
    zero.

    ``normalise`` drops leading zero digits and lowers the exponent, as servers do. Without it the exponent is
    always the full one, as clients send it (JDBC section 6).
    """
    digits = bytearray()
    for index, (name, value) in enumerate(zip(_qualifier_layout(qualifier).names, fields, strict=True)):
        if name == "FRACTION":
            length = qualifier.fraction_digits
            text = f"{value:0{length}d}" + "0" * (length & 1)
        else:
            length = qualifier.leading if index == 0 else 2
            text = f"{value:0{length + (length & 1)}d}"
        if len(text) > length + (length & 1) or value < 0:
            raise DataError(f"{qualifier.sql}: {name} is {value}, which has more than {length} digits.")
        digits += bytes(int(text[at : at + 2]) for at in range(0, len(text), 2))
    exponent, width = qualifier.full_exponent, qualifier.width
    if not any(digits):
        return b"\x80" + bytes(width - 1)
    if normalise:
        significant = bytes(digits).lstrip(b"\0")
        exponent -= len(digits) - len(significant)
    else:
        significant = bytes(digits)
    data = join_number(negative, exponent, significant)
    return data + bytes(width - len(data))


def unpack_datetime(data: bytes, qualifier: Qualifier, *, cut: bool = False) -> DatetimeValue | None:
    """Decode a DATETIME and check its fields. None for NULL. ``cut`` is as in :func:`unpack_fields`.

    Raises ``DataError`` for a field out of range, ``ProtocolError`` for bytes that are not a DATETIME.
    """
    parts = unpack_fields(data, qualifier, cut=cut)
    if parts is None:
        return None
    negative, fields = parts
    if negative:
        raise ProtocolError(f"DATETIME {qualifier.sql}: The value is negative: {data.hex()}.")
    return DatetimeValue(qualifier, check_datetime(fields, qualifier))


def unpack_interval(data: bytes, qualifier: Qualifier, *, cut: bool = False) -> IntervalValue | None:
    """Decode an INTERVAL. None for NULL. ``cut`` is as in :func:`unpack_fields`."""
    parts = unpack_fields(data, qualifier, cut=cut)
    return None if parts is None else IntervalValue(qualifier, *parts)


def pack_interval(value: IntervalValue, *, normalise: bool = True) -> bytes:
    """Encode an INTERVAL. ``normalise`` is as in :func:`pack_fields`."""
    return pack_fields(value.fields, value.qualifier, negative=value.negative, normalise=normalise)
