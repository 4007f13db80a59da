"""Parsing of numbers, dates and datetimes from text, as Informix does in conversions and literals.

Every function raises SqlError with the code of SERVER-BEHAVIOUR section 1 for invalid text.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal, InvalidOperation

from ...wire.qualifiers import Field, Qualifier
from ..errors import SqlError

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MONEY = re.compile(r"([+-]?)(\$?)([+-]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(\$?)")
_DIGIT_GROUPS = re.compile(r"\d+")
_ISO = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})")
_COMPACT_DATE = re.compile(r"\d{6}|\d{8}")
_US = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{1,4})")

_DEFAULTS = {"YEAR": 1, "MONTH": 1, "DAY": 1, "HOUR": 0, "MINUTE": 0, "SECOND": 0}
_LIMITS = {
    "YEAR": (1, 9999),
    "MONTH": (1, 12),
    "DAY": (1, 31),
    "HOUR": (0, 23),
    "MINUTE": (0, 59),
    "SECOND": (0, 59),
}


def number(text: str) -> Decimal:
    """Parse a number. Raises -1213 if it is invalid. Blanks around it are ignored."""
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        raise SqlError(-1213)
    try:
        return Decimal(stripped)
    except InvalidOperation:
        raise SqlError(-1213) from None


def money(text: str) -> Decimal:
    """Parse a MONEY. Raises -1213 if it is invalid.

    The currency `$` may stand before or after the number, and commas may separate groups of three digits.
    """
    found = _MONEY.fullmatch(text.strip())
    if not found or (found[1] and found[3]) or (found[2] and found[5]):
        return number(text)
    return number(f"{found[1] or found[3] or ''}{found[4].replace(',', '')}")


def date(text: str, dbdate: str = "") -> dt.date:
    """Parse a DATE.

    yyyy-mm-dd is always valid, and so is the order of DBDATE (MDY4/ by default). There month and day may have two
    digits, the year two or four, and separators may be missing. Raises -1218 for text that is no date, -1204, -1205 or
    -1206 for a wrong year, month or day.
    """
    stripped = text.strip()
    found = _ISO.fullmatch(stripped)
    if found and len(found.group(1)) > 2:
        year, month, day = (int(x) for x in found.groups())
        return _date(year, month, day)
    order = (dbdate or "MDY4/").upper()[:3].replace("4", "").replace("2", "")
    if _COMPACT_DATE.fullmatch(stripped):
        pieces = (-4, -2) if order.startswith("Y") else (2, 4)
        stripped = "/".join((stripped[: pieces[0]], stripped[pieces[0] : pieces[1]], stripped[pieces[1] :]))
    if order.startswith("Y"):
        parts = _DIGIT_GROUPS.findall(stripped)
        if len(parts) == 3 and re.fullmatch(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,2}", stripped):
            return _date(_century(parts[0]), int(parts[1]), int(parts[2]))
        raise SqlError(-1218)
    found = _US.fullmatch(stripped)
    if not found:
        raise SqlError(-1218)
    first, second, year_text = found.groups()
    month, day = (int(second), int(first)) if order.startswith("D") else (int(first), int(second))
    return _date(_century(year_text), month, day)


def _century(text: str) -> int:
    year = int(text)
    return year + 2000 if len(text) <= 2 else year


def _date(year: int, month: int, day: int) -> dt.date:
    if not 1 <= year <= 9999:
        raise SqlError(-1204)
    if not 1 <= month <= 12:
        raise SqlError(-1205)
    try:
        return dt.date(year, month, day)
    except ValueError:
        raise SqlError(-1206) from None


def datetime_fields(text: str, qualifier: Qualifier) -> dict[str, int]:
    """Parse a DATETIME text such as `2026-01-31 10:00` for `YEAR TO MINUTE`. MICRO holds the fraction.

    Raises -1262 for a missing number, -1263 for a field out of range, -1264 for extra characters, -1261 for too many
    digits.
    """
    names = [name for name in qualifier.field_names if name != "FRACTION"]
    rest = text.strip()
    fields: dict[str, int] = {}
    for position, name in enumerate(names):
        found = re.match(r"\d+", rest)
        if not found:
            if position and not rest:
                raise SqlError(-1263)
            raise SqlError(-1262)
        digits = found.group()
        if len(digits) > (4 if name == "YEAR" else 2):
            raise SqlError(-1261)
        value = int(digits)
        if name == "YEAR" and len(digits) <= 2:
            value += 2000
        low, high = _LIMITS[name]
        if not low <= value <= high:
            raise SqlError(-1263)
        fields[name] = value
        rest = rest[found.end() :]
        if position + 1 < len(names):
            separator = {"YEAR": "-", "MONTH": "-", "DAY": " ", "HOUR": ":", "MINUTE": ":"}[name]
            if not rest:
                raise SqlError(-1263)
            if rest[0] != separator and not (name == "DAY" and rest[0] == "T"):
                raise SqlError(-1262)
            rest = rest[1:].lstrip() if separator == " " else rest[1:]
    fields["MICRO"] = 0
    if qualifier.has_seconds_fraction:
        if rest[:1] == "." or (qualifier.start == 12 and rest):
            rest = rest.removeprefix(".")
            found = re.match(r"\d*", rest)
            digits = found.group() if found else ""
            rest = rest[len(digits) :]
            kept = digits[: qualifier.fraction_digits]
            fields["MICRO"] = int((kept + "000000")[:6])
    elif rest[:1] == "." and rest[1:].isdigit():
        rest = ""  # a fraction beyond the qualifier is cut
    if rest.strip():
        raise SqlError(-1264)
    if "DAY" in fields and "MONTH" in fields:
        try:
            dt.date(fields.get("YEAR", 2000), fields["MONTH"], fields["DAY"])
        except ValueError:
            raise SqlError(-1263) from None
    return fields


def to_storage(fields: dict[str, int], qualifier: Qualifier) -> dt.datetime | dt.date | dt.time | str:
    """Return fields (with MICRO) as the Python value of the column's storage (result_types.datetime_storage)."""
    micro = fields.get("MICRO", 0)
    if qualifier.start == Field.YEAR:
        get = {**_DEFAULTS, **fields}
        if qualifier.end == Field.DAY:
            return dt.date(get["YEAR"], get["MONTH"], get["DAY"])
        return dt.datetime(
            get["YEAR"], get["MONTH"], get["DAY"], get["HOUR"], get["MINUTE"], get["SECOND"], micro
        )
    if qualifier.start == Field.HOUR:
        return dt.time(fields.get("HOUR", 0), fields.get("MINUTE", 0), fields.get("SECOND", 0), micro)
    return text_of(fields, qualifier)


def text_of(fields: dict[str, int], qualifier: Qualifier) -> str:
    """Format fields as Informix's literal text of fixed width."""
    separators = {"MONTH": "-", "DAY": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}
    out = ""
    for name in qualifier.field_names:
        if name == "FRACTION":
            digits = f"{fields.get('MICRO', 0):06d}"[: qualifier.fraction_digits]
            out += f".{digits}" if out else digits
            continue
        width = 4 if name == "YEAR" else 2
        out += (separators.get(name, "") if out else "") + f"{fields.get(name, _DEFAULTS[name]):0{width}d}"
    return out if qualifier.start != 12 else "." + out.removeprefix(".")


def fields_of(value: dt.date | dt.datetime | dt.time) -> dict[str, int]:
    """Return all fields of a Python date, datetime or time."""
    fields: dict[str, int] = {}
    if isinstance(value, dt.date):
        fields.update(YEAR=value.year, MONTH=value.month, DAY=value.day)
    if isinstance(value, (dt.datetime, dt.time)):
        fields.update(HOUR=value.hour, MINUTE=value.minute, SECOND=value.second, MICRO=value.microsecond)
    return fields


def extend_fields(fields: dict[str, int], qualifier: Qualifier) -> dict[str, int]:
    """Convert fields to a qualifier like EXTEND: missing leading fields come from the current date, trailing fields are
    minimal, the fraction is cut to its digits."""
    converted: dict[str, int] = {}
    seen = False
    for name in qualifier.field_names:
        if name == "FRACTION":
            unit = 10 ** (6 - qualifier.fraction_digits)
            converted["MICRO"] = fields.get("MICRO", 0) // unit * unit
        elif name in fields:
            converted[name] = fields[name]
            seen = True
        elif not seen and any(n in fields for n in qualifier.field_names):
            converted[name] = fields_of(dt.datetime.now())[name]
        else:
            converted[name] = _DEFAULTS[name]
    if "MONTH" in converted and "DAY" in converted:
        try:
            dt.date(converted.get("YEAR", 2000), converted["MONTH"], converted["DAY"])
        except ValueError:
            raise SqlError(-1267) from None
    return converted
