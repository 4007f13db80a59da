"""INTERVAL values: storage, parsing, formatting and conversion between qualifiers.

The two classes never mix (TYPES section 7). YEAR TO MONTH is stored as months, DAY TO FRACTION in units of 10
microseconds, both as BIGINT. Comparison, order and arithmetic are those of whole numbers and exact. The qualifier
belongs to the column, not to the value.
"""

from __future__ import annotations

import re

from ...wire.datetimes import IntervalValue
from ...wire.qualifiers import FRACTION_START, Field, Qualifier
from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError

SECOND = 100_000
DAY = 86_400 * SECOND
_UNITS = {
    "YEAR": 12, "MONTH": 1, "DAY": DAY, "HOUR": 3600 * SECOND, "MINUTE": 60 * SECOND, "SECOND": SECOND,
}  # fmt: skip
_LIMITS = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
_SEPARATORS = {"MONTH": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}

INCOMPATIBLE = -1266
OVERFLOW = -1265


def is_interval(t: ColumnType | None) -> bool:
    return t is not None and t.code == TypeCode.INTERVAL


def qualifier_of(t: ColumnType) -> Qualifier:
    """Return the qualifier of an INTERVAL type."""
    qualifier = t.qualifier
    if qualifier is None:
        raise SqlError(INCOMPATIBLE)
    return qualifier


def _first_digits(name: str, qualifier: Qualifier) -> int:
    """Return the minimum number of digits of the first field: `01:30`, but `1 02:03` and `5.25`."""
    return min(qualifier.leading, 2) if name in ("HOUR", "MINUTE") else 1


def _fields_without_fraction(qualifier: Qualifier) -> list[str]:
    return [name for name in qualifier.field_names if name != "FRACTION"]


def smallest_step(qualifier: Qualifier) -> int:
    """Return the smallest nonzero value of the qualifier in storage units."""
    if qualifier.has_seconds_fraction:
        return int(10 ** (5 - qualifier.fraction_digits))
    return _UNITS[_fields_without_fraction(qualifier)[-1]]


def magnitude_limit(qualifier: Qualifier) -> int:
    """Return the smallest magnitude, in storage units, that has too many digits for the first field."""
    if qualifier.start == FRACTION_START:
        return SECOND
    return int(10**qualifier.leading * _UNITS[_fields_without_fraction(qualifier)[0]])


def with_widest_lead(qualifier: Qualifier) -> Qualifier:
    """Return the qualifier with nine digits in its first field, the type of computed intervals."""
    if qualifier.start == FRACTION_START:
        return qualifier
    return Qualifier(qualifier.start, qualifier.end, 9 + qualifier.end - qualifier.start)


def same_class(a: Qualifier, b: Qualifier) -> None:
    """Raise -1266 unless both qualifiers belong to the same class."""
    if a.is_year_month != b.is_year_month:
        raise SqlError(INCOMPATIBLE)


def widest(a: Qualifier, b: Qualifier) -> Qualifier:
    """Return a qualifier that holds every value of both. Raises -1266 for different classes."""
    same_class(a, b)
    start, end = min(a.start, b.start), max(a.end, b.end)
    if start == FRACTION_START:
        return Qualifier(start, end, end - 10)
    leading = max(a.leading, b.leading) if a.start == b.start else 9
    return Qualifier(start, end, leading + end - start)


def interval_type(qualifier: Qualifier) -> ColumnType:
    return ColumnType(TypeCode.INTERVAL.value, qualifier.encoded)


# ---- values ------------------------------------------------------------------------------------
def parse(text: str, qualifier: Qualifier) -> int:
    """Parse an INTERVAL text such as `-3 04:05:06` for DAY TO SECOND. Return storage units.

    Raises -1261 for too many digits in the first field, -1262 for a missing number or a wrong separator, -1263 for a
    field that is missing or out of range, -1264 for extra characters. Digits of the fraction beyond the qualifier are
    cut.
    """
    rest = text.strip()
    negative = rest[:1] == "-"
    if rest[:1] in ("-", "+"):
        rest = rest[1:].lstrip()
    total = 0
    names = _fields_without_fraction(qualifier)
    for position, name in enumerate(names):
        found = re.match(r"\d+", rest)
        if not found:
            raise SqlError(-1263 if position and not rest else -1262)
        digits = found.group()
        if len(digits.lstrip("0")) > (2 if position else qualifier.leading):
            raise SqlError(-1263 if position else -1261)
        value = int(digits)
        if position and value > _LIMITS[name]:
            raise SqlError(-1263)
        total += value * _UNITS[name]
        rest = rest[found.end() :]
        if position + 1 < len(names):
            separator = _SEPARATORS[names[position + 1]]
            if not rest:
                raise SqlError(-1263)
            if rest[0] != separator:
                raise SqlError(-1262)
            rest = rest.lstrip() if separator == " " else rest[1:]
    if qualifier.end >= Field.SECOND and (rest[:1] == "." or (qualifier.start == FRACTION_START and rest)):
        found = re.match(r"\.?(\d*)", rest)
        digits = found.group(1) if found else ""
        if not digits:
            raise SqlError(-1262)
        rest = rest[found.end() :] if found else rest
        total += int(digits[: qualifier.fraction_digits].ljust(5, "0"))
    elif qualifier.start == FRACTION_START:
        raise SqlError(-1262)
    if rest.strip():
        raise SqlError(-1264)
    return -total if negative else total


def format_units(units: int, qualifier: Qualifier) -> str:
    """Format a stored interval as Informix text without padding: `1-06`, `-3 03:27:01.12345`, `.5`."""
    rest, out = abs(units), ""
    for position, name in enumerate(_fields_without_fraction(qualifier)):
        value, rest = divmod(rest, _UNITS[name])
        if position:
            out += f"{_SEPARATORS[name]}{value:02d}"
        else:
            out = str(value).rjust(_first_digits(name, qualifier), "0")
    if qualifier.has_seconds_fraction:
        out += "." + f"{rest:05d}"[: qualifier.fraction_digits]
    return f"-{out}" if units < 0 else out


def units_of(value: IntervalValue) -> int:
    """Return a parameter in storage units, with all its fields."""
    months = value.months
    if months is not None:
        return months
    micros = value.microseconds or 0
    return micros // 10 if micros >= 0 else -(-micros // 10)


def value_of(units: int, qualifier: Qualifier) -> IntervalValue:
    """Return a stored interval as an IntervalValue, the class of parameters."""
    rest = abs(units)
    fields = []
    for name in _fields_without_fraction(qualifier):
        value, rest = divmod(rest, _UNITS[name])
        fields.append(value)
    if qualifier.has_seconds_fraction:
        fields.append(rest // smallest_step(qualifier))
    return IntervalValue(qualifier, units < 0, tuple(fields))


def convert_units(units: int, source: Qualifier, qualifier: Qualifier) -> int:
    """Convert a stored interval to another qualifier. Finer fields are cut. Raises -1265 for too many digits."""
    same_class(source, qualifier)
    if abs(units) >= magnitude_limit(qualifier):
        raise SqlError(OVERFLOW)
    unit = smallest_step(qualifier)
    truncated = abs(units) // unit * unit
    return -truncated if units < 0 else truncated


# ---- DuckDB text -------------------------------------------------------------------------------
def convert_units_sql(sql: str, source: Qualifier, qualifier: Qualifier) -> str:
    """Return `convert_units` as SQL. The result is `sql` itself if nothing can be lost."""
    same_class(source, qualifier)
    unit = smallest_step(qualifier)
    cut = f"({sql} // {unit} * {unit})" if unit > smallest_step(source) else sql
    if magnitude_limit(qualifier) >= magnitude_limit(source):
        return cut
    return _range_checked_sql(sql, cut, qualifier)


def _range_checked_sql(sql: str, cut: str, qualifier: Qualifier) -> str:
    too_large = f"abs({sql}) >= {magnitude_limit(qualifier)}"
    return f"(CASE WHEN {too_large} THEN error('IFX{OVERFLOW}') ELSE CAST({cut} AS BIGINT) END)"


def checked_sql(sql: str, qualifier: Qualifier) -> str:
    """Return SQL that fits a computed number of units to the qualifier: cut to its step, -1265 for too many digits."""
    unit = smallest_step(qualifier)
    cut = f"{sql} // {unit} * {unit}" if unit > 1 else sql
    return _range_checked_sql(sql, cut, qualifier)


def text_sql(sql: str, qualifier: Qualifier) -> str:
    """Return `format_units` as SQL."""
    size = f"abs({sql})"
    fields: list[str] = []
    above = 0
    for name in _fields_without_fraction(qualifier):
        unit = _UNITS[name]
        value = f"({size} % {above} // {unit})" if above else f"({size} // {unit})"
        written = f"CAST({value} AS VARCHAR)"
        if above:
            fields.append(f"'{_SEPARATORS[name]}' || lpad({written}, 2, '0')")
        elif _first_digits(name, qualifier) == 2:
            fields.append(f"CASE WHEN {value} < 10 THEN '0' ELSE '' END || {written}")
        else:
            fields.append(written)
        above = unit
    if qualifier.has_seconds_fraction:
        n = qualifier.fraction_digits
        fields.append(
            f"'.' || lpad(CAST({size} % {SECOND} // {smallest_step(qualifier)} AS VARCHAR), {n}, '0')"
        )
    return f"(CASE WHEN {sql} < 0 THEN '-' ELSE '' END || {' || '.join(fields)})"


def text_width(qualifier: Qualifier) -> int:
    """Return the length of the longest text of the qualifier's values."""
    return 1 + len(format_units(magnitude_limit(qualifier) - 1, qualifier))


def add_sql(moment: str, span: str, qualifier: Qualifier, op: str) -> str:
    """Return SQL for a TIMESTAMP plus or minus a stored interval.

    It raises -1267 for a day that the month does not have, or a year outside of 1 to 9999.
    """
    if qualifier.is_year_month:
        found = f"({moment} {op} to_months(CAST({span} AS INTEGER)))"
        wrong, most = f"day({found}) <> day({moment}) OR ", 9999 * 12
    else:
        found = (
            f"({moment} {op} (to_days(CAST({span} // {DAY} AS INTEGER)) + "
            f"to_microseconds(({span} % {DAY}) * 10)))"
        )
        wrong, most = "", 9999 * 366 * DAY
    return (
        f"(CASE WHEN abs({span}) > {most} THEN error('IFX-1267') "  # DuckDB may overflow beyond this
        f"WHEN {wrong}year({found}) NOT BETWEEN 1 AND 9999 THEN error('IFX-1267') ELSE {found} END)"
    )
