"""Check that a Python value fits a column before it is sent, and round it if the caller allows that.

When a server converts a parameter to its column's type, it rounds numbers, cuts fractions of a second and drops
times of day silently. So values are checked against the type first, as the encoder of ``write_arrow`` checks Arrow
values. This module is the plain reference for that encoder, one value at a time.

Only silent losses are checked. What the server refuses by itself, and text that it reads by its own locale (dates,
localised numbers), is left to the server.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from .bind_values import plain_value
from .datetimes import IntervalValue
from .errors import DataError, InterfaceError, unfit_value
from .intervals import YearMonthInterval, interval_of, is_month_day_nano, parse_interval, split_month_day_nano
from .primitives import encode_strictly
from .qualifiers import Field, Qualifier
from .type_codes import DECIMAL_TYPES
from .types import ColumnType, TypeCode

#: What to do with digits that a column cannot hold: raise an error, round (halves away from zero), or truncate.
Inexact: TypeAlias = Literal["error", "round", "truncate"]
INEXACT: tuple[Inexact, ...] = ("error", "round", "truncate")

Assigner: TypeAlias = Callable[[Any], Any]

#: Width in bits of the integer types.
INTEGER_BITS = {
    TypeCode.SMALLINT: 16,
    TypeCode.INTEGER: 32,
    TypeCode.SERIAL: 32,
    TypeCode.BIGINT: 64,
    TypeCode.BIGSERIAL: 64,
    TypeCode.INT8: 64,
    TypeCode.SERIAL8: 64,
}
_EXACT = Context(prec=400, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_ROUNDING = {"round": ROUND_HALF_UP, "truncate": ROUND_DOWN}  # HALF_UP rounds halves away from zero
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,6})?")
_DATETIME_TEXT = re.compile(
    r"(?P<whole>[0-9]+(?:[-: T][0-9]+)*)(?:\.(?P<fraction>[0-9]+))?"
)  # Informix and ISO
_INTERVAL_TEXT = re.compile(r"(?P<head>[-+]?[0-9 :]*)\.(?P<fraction>[0-9]+)")
_SEPARATORS = re.compile(r"[-: T]")
_MIN_EXPONENT, _MAX_EXPONENT = -130, 125  # decimal exponents of a DECIMAL's first digit
_FIELDS = ("year", "month", "day", "hour", "minute", "second")

HINT = "Round it first, or use inexact='round' or inexact='truncate'."


@lru_cache(maxsize=1024)
def assigner(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner | None:
    """Return the check for values of a column of type ``target``. None if there is nothing to check.

    The check takes a value that is not None and returns the value to send, mostly the same one. It raises
    ``DataError`` for a value that the column would change, and names the option that allows it if there is one.
    ``encoding`` is the database's code set.
    """
    make = _maker(target)
    return None if make is None else make(target, inexact, encoding)


def _maker(ct: ColumnType) -> Callable[[ColumnType, Inexact, str], Assigner] | None:
    if ct.is_boolean or ct.is_large_object or ct.is_complex or ct.is_json:
        return None
    if ct.code in INTEGER_BITS:
        return _integers
    if ct.code in DECIMAL_TYPES:
        return _decimals
    if ct.code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT):
        return _floats
    if ct.content_width:
        return _texts
    by_code = {TypeCode.DATE: _dates, TypeCode.DATETIME: _datetimes, TypeCode.INTERVAL: _intervals}
    return by_code.get(TypeCode(ct.code)) if ct.code in by_code else None


def inexact_option(value: object) -> Inexact:
    """Return the value of an ``inexact=`` argument. Raises ``InterfaceError`` for an invalid one."""
    for choice in INEXACT:
        if value == choice:
            return choice
    raise InterfaceError(f"inexact={value!r}: It must be 'error', 'round' or 'truncate'.")


def round_to_finest(value: Any, inexact: Inexact) -> Any:
    """Round a value whose column is not described to five digits of a second, if ``inexact`` allows it.

    Five digits are what the finest DATETIME and INTERVAL hold.
    """
    if inexact == "error":
        return value
    value = plain_value(value, to_microseconds=True)
    if isinstance(value, dt.datetime | dt.time) and value == value and value.tzinfo is None:
        return _fraction(value, 5, "DATETIME", inexact)
    if isinstance(value, dt.timedelta) and value == value:
        return _truncate_interval(value, 10_000, inexact)
    return value


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _number(value: object) -> Decimal | None:
    """Return a number, or text that is a plain number, as a Decimal with all digits. None for anything else."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, bool | int):
        return Decimal(int(value))
    if isinstance(value, float):
        return Decimal(float.__repr__(value))  # from the shortest text, which is what the user meant
    if isinstance(value, str) and _NUMBER.fullmatch(text := value.strip(" ")):
        return Decimal(text)
    return None


def _bool_to_int(value: Any) -> Any:
    """Return True and False as 1 and 0, and any other value unchanged."""
    return int(value) if isinstance(value, bool) else value


def _integers(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    name, most = target.sql, (1 << (INTEGER_BITS[TypeCode(target.code)] - 1)) - 1

    def assign(value: Any) -> Any:
        if type(value) is not int:
            value = plain_value(value)
            number = _number(value)
            if number is None:
                return value
            if not number.is_finite():
                raise DataError(f"{value!r} cannot be stored in {name}.")
            integer = number if number.adjusted() > 20 else number.to_integral_value(
                _ROUNDING.get(inexact, ROUND_DOWN), _EXACT
            )  # fmt: skip
            if integer != number and inexact == "error":
                raise DataError(f"{value!r} has a fraction, but {name} stores whole numbers. {HINT}")
            if isinstance(value, str) and integer == number and abs(number) <= most:
                return value
            value = int(integer) if number.adjusted() <= 20 else most + 2
            if abs(value) > most:
                raise DataError(f"{number} is outside the range of {name}, -{most} to {most}.")
            return value
        if not -most <= value <= most:
            if value == -most - 1:
                raise DataError(f"{value} cannot be stored in {name}, where this number means NULL.")
            raise DataError(f"{value} is outside the range of {name}, -{most} to {most}.")
        return value

    return assign


def _decimals(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    name, precision, scale = target.sql, target.precision or 0, target.scale
    if scale is None:
        return _floating_decimals(name, precision, inexact)
    places = scale
    limit = 10 ** (precision - places)
    unit = Decimal((0, (1,), -places))

    def assign(value: Any) -> Any:
        if type(value) is int and -limit < value < limit:
            return value
        value = _bool_to_int(plain_value(value))
        number = _number(value)
        if number is None:
            return value
        if not number.is_finite():
            raise DataError(f"NaN and infinity cannot be stored in {name}.")
        if number and number.adjusted() >= precision - places:
            raise DataError(f"{value!r} has more digits than {name} can store.")
        exponent = number.as_tuple().exponent
        if isinstance(exponent, int) and exponent >= -places:
            return value
        fitting = number.quantize(unit, _ROUNDING.get(inexact, ROUND_DOWN), _EXACT)
        if fitting == number:  # only trailing zeros were cut
            return value if not isinstance(value, Decimal) else fitting
        if inexact == "error":
            raise DataError(f"{value!r} has more decimal places than {name} can store. {HINT}")
        if fitting and fitting.adjusted() >= precision - places:
            raise DataError(f"{value!r} has more digits than {name} can store.")
        return fitting

    return assign


def _floating_decimals(name: str, precision: int, inexact: Inexact) -> Assigner:
    nearest = Context(prec=precision, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
    chosen = Context(
        prec=precision, rounding=_ROUNDING.get(inexact, ROUND_DOWN), Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[]
    )

    def assign(value: Any) -> Any:
        value = _bool_to_int(plain_value(value))
        number = _number(value)
        if number is None:
            return value
        if not number.is_finite():
            raise DataError(f"NaN and infinity cannot be stored in {name}.")
        if number and not _MIN_EXPONENT <= number.adjusted() <= _MAX_EXPONENT:
            raise DataError(f"{value!r} is outside the range of {name}, 1E-130 to 9.99E125.")
        fitting = chosen.plus(number)
        if fitting == number:
            return value
        if isinstance(value, float):  # a floating column stores the nearest number
            return nearest.plus(Decimal(value))
        if inexact == "error":
            raise DataError(f"{value!r} has more digits than {name} can store. {HINT}")
        return fitting

    return assign


def _floats(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    name, code = target.sql, ">d" if target.code == TypeCode.FLOAT else ">f"

    def assign(value: Any) -> Any:
        if type(value) is float and code == ">d":
            return value
        value = _bool_to_int(plain_value(value))
        if isinstance(value, int):
            return _whole_float(value, name, code, inexact)
        number = _number(value)
        if number is None or not number.is_finite():
            return value
        nearest = float(number)
        try:
            struct.pack(code, nearest)
        except OverflowError:
            nearest = float("inf")
        if nearest in (float("inf"), float("-inf")):
            raise DataError(f"{value!r} is outside the range of {name}.")
        return nearest if isinstance(value, Decimal) else value

    return assign


def _whole_float(value: int, name: str, code: str, inexact: Inexact) -> int | float:
    """Return an int for a FLOAT or SMALLFLOAT column, rounded if it has more digits and ``inexact`` allows it."""
    bits = 53 if code == ">d" else 24
    spare = abs(value).bit_length() - bits
    if spare <= 0 or not abs(value) & ((1 << spare) - 1):
        magnitude = abs(value)
    elif inexact == "error":
        raise DataError(f"The integer {value} cannot be stored exactly in {name}. {HINT}")
    else:
        rest, unit = abs(value) & ((1 << spare) - 1), 1 << spare
        magnitude = abs(value) - rest + (unit if inexact == "round" and 2 * rest >= unit else 0)
    try:
        struct.pack(code, float(magnitude))
    except OverflowError:
        raise DataError(f"{value} is outside the range of {name}.") from None
    if magnitude == abs(value) and magnitude.bit_length() < 64:
        return value
    return float(-magnitude if value < 0 else magnitude)


# ---- text ------------------------------------------------------------------------------------------------------------


def _texts(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    name, most = target.sql, target.content_width
    always_fits = most // 4  # this many characters fit in any code set
    nul = {TypeCode.CHAR: "starts", TypeCode.NCHAR: "starts", TypeCode.VARCHAR: "is", TypeCode.NVARCHAR: "is"}
    null = nul.get(TypeCode(target.code))

    def assign(value: Any) -> Any:
        if type(value) is not str:
            value = plain_value(value)
            if type(value) is int or type(value) is dt.date:
                shown = str(value)
                if len(shown) > most:
                    raise DataError(f"The text of {len(shown)} bytes is too long for {name}.")
                return value
            if not isinstance(value, str):
                size = _written_size(value)
                if size > most:
                    raise DataError(
                        f"{value!r} takes {size} bytes as text, which is too long for {name}. Pass the text to store."
                    )
                return value
        if value[:1] == "\0" and null and (null == "starts" or len(value) == 1):
            what = "that starts with a NUL byte" if null == "starts" else "of one NUL byte"
            raise DataError(f"Text {what} cannot be stored in {name}, where it means NULL.")
        if len(value) > always_fits:
            size = len(encode_strictly(value, encoding, "the text"))
            if size > most:
                raise DataError(f"The text of {size} bytes is too long for {name}.")
        return value

    return assign


def _written_size(value: Any) -> int:
    """Return the minimum length in bytes of the text that a server makes of a number or a time. 0 for anything
    else."""
    if isinstance(value, bool) or value != value:
        return 0
    if isinstance(value, Decimal):
        if not value.is_finite():
            return 0
        plain = value.normalize(_EXACT)
        places = max(-int(plain.as_tuple().exponent), 0)
        return plain.is_signed() + max(plain.adjusted(), 0) + 1 + (places + 1 if places else 0)
    if isinstance(value, float):
        return len(repr(value).removesuffix(".0"))
    if isinstance(value, dt.datetime | dt.time):
        whole = 19 if isinstance(value, dt.datetime) else 8
        return whole + (6 if value.microsecond else 0)
    return len(f"{abs(value.days)} 00:00:00") if isinstance(value, dt.timedelta) else 0


# ---- times -----------------------------------------------------------------------------------------------------------


def _dates(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    def assign(value: Any) -> Any:
        if type(value) is dt.date:
            return value
        value = plain_value(value)
        if isinstance(value, dt.datetime) and value == value:
            if value.time() != dt.time(0) or getattr(value, "nanosecond", 0) != 0:
                raise DataError(f"{value} has a time of day, which DATE cannot store. Pass its date.")
            return value.date() if value.tzinfo is None else value
        if isinstance(value, float | Decimal):  # a number is days since 1899-12-31
            number = _number(value)
            if number is None or not number.is_finite():
                raise DataError(f"{value!r} cannot be stored in DATE.")
            if number.adjusted() > 9:
                raise DataError(f"{value!r} is outside the range of DATE.")
            days = number.to_integral_value(_ROUNDING.get(inexact, ROUND_DOWN), _EXACT)
            if days != number and inexact == "error":
                raise DataError(f"{value!r} has a fraction, but DATE stores whole days. {HINT}")
            return int(days)
        return value

    return assign


def _datetimes(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    qualifier = target.qualifier
    assert qualifier is not None
    name, start = target.sql, Field(qualifier.start)
    digits = qualifier.fraction_digits
    last = min(int(qualifier.end), int(Field.SECOND)) // 2  # index of the last field before the fraction
    finer = _FIELDS[last + 1 :]

    def assign(value: Any) -> Any:
        if type(value) is dt.datetime and start == Field.YEAR and not finer and not value.microsecond:
            return value
        value = plain_value(value, to_microseconds=inexact != "error")
        if isinstance(value, dt.datetime):
            if value != value or value.tzinfo is not None:  # pandas.NaT, or a zone, which binding refuses
                return value
            if start != Field.YEAR:
                raise DataError(f"{value} has a date, which {name} cannot store in full.")
        elif isinstance(value, dt.time):
            if start < Field.HOUR or value.tzinfo is not None:
                return value  # the server adds today's date
            lost = [field for field in _FIELDS[3 : int(start) // 2] if getattr(value, field)]
            if lost:
                raise DataError(
                    f"{value} has a part larger than the first field of {name}, which cannot be stored."
                )
        elif isinstance(value, dt.date):
            if start != Field.YEAR:
                raise DataError(f"{value} has a year, which {name} cannot store.")
            if any(getattr(value, field, 1) != 1 for field in finer if field in ("month", "day")):
                raise DataError(f"{value} has more precision than {name} can store.")
            return value
        elif isinstance(value, str) and (text := _DATETIME_TEXT.fullmatch(value.strip(" "))):
            return _moment_text(value, text, qualifier, name, inexact)
        else:
            return value
        value = _fraction(value, digits, name, inexact)
        for field in finer:
            lowest: object = 1 if field in ("month", "day") else 0
            if getattr(value, field, lowest) != lowest:
                raise DataError(f"{value} has more precision than {name} can store.")
        return value

    return assign


def _moment_text(value: str, text: re.Match[str], qualifier: Qualifier, name: str, inexact: Inexact) -> Any:
    """Check a DATETIME as text. Digits of a second that the column cannot hold are rounded if allowed: servers cut
    them."""
    fields, fraction = _SEPARATORS.split(text["whole"]), text["fraction"] or ""
    digits = qualifier.fraction_digits
    expected = (min(int(qualifier.end), int(Field.SECOND)) - int(qualifier.start)) // 2 + 1
    starts_alike = qualifier.start == Field.YEAR or (
        qualifier.start >= Field.HOUR and "-" not in text["whole"]
    )
    if len(fields) > expected and starts_alike and any(map(int, [*fields[expected:], fraction or "0"])):
        if (rounded := _whole_second(text, qualifier, expected, inexact)) is not None:
            return rounded
        raise DataError(f"{value!r} has more precision than {name} can store.")
    if len(fields) != expected or qualifier.end < Field.SECOND or not fraction[digits:].strip("0"):
        return value  # nothing would be lost; the server refuses invalid text itself
    if inexact == "error":
        raise DataError(f"{value!r} has more precision than {name} can store. {HINT}")
    nanos = int(fraction[:9].ljust(9, "0"))
    try:
        if qualifier.start == Field.YEAR:
            whole = dt.datetime.fromisoformat(text["whole"])
            return _round_datetime(whole, nanos, digits, value, name, inexact)
        if qualifier.start == Field.HOUR:
            time = dt.time.fromisoformat(text["whole"]).replace(microsecond=nanos // 1000)
            return _fraction(time, digits, name, inexact)
    except ValueError:
        return value
    head, seconds = text["whole"][: -len(fields[-1])], int(fields[-1])
    units = int(fraction[:digits] or 0) + (inexact == "round" and fraction[digits] >= "5")
    if units == 10**digits:
        seconds, units = seconds + 1, 0
        if seconds == 60:
            raise DataError(f"{value!r} cannot be rounded, because it is the last moment of a minute.")
    return f"{head}{seconds:02}.{units:0{digits}}" if digits else f"{head}{seconds:02}"


def _whole_second(text: re.Match[str], qualifier: Qualifier, expected: int, inexact: Inexact) -> Any:
    """Round a text to whole seconds. None if not allowed, or if parts finer than the last field would remain."""
    if inexact == "error" or qualifier.end < Field.HOUR or qualifier.start not in (Field.YEAR, Field.HOUR):
        return None
    value_type: Any = dt.datetime if qualifier.start == Field.YEAR else dt.time
    try:
        fraction = (text["fraction"] or "")[:6].ljust(6, "0")
        value = value_type.fromisoformat(f"{text['whole']}.{fraction}")
    except ValueError:
        return None
    value = _fraction(value, 0, qualifier.sql, inexact)
    names = _FIELDS if qualifier.start == Field.YEAR else _FIELDS[3:]
    return None if any(getattr(value, field) for field in names[expected:]) else value


def _fraction(value: Any, digits: int, name: str, inexact: Inexact) -> Any:
    """Round the fraction of a datetime or time to ``digits``. Raises ``DataError`` if that is not allowed."""
    nanos = value.microsecond * 1000 + getattr(value, "nanosecond", 0)
    unit = 10 ** (9 - digits)
    rest = nanos % unit
    if not rest:
        return value
    if isinstance(value, dt.datetime):
        whole = dt.datetime(value.year, value.month, value.day, value.hour, value.minute, value.second)
        return _round_datetime(whole, nanos, digits, value, name, inexact)
    if inexact == "error":
        raise DataError(f"{value} has more precision than {name} can store. {HINT}")
    nanos += unit - rest if inexact == "round" and 2 * rest >= unit else -rest
    if nanos < 10**9:
        return value.replace(microsecond=nanos // 1000)
    seconds = value.hour * 3600 + value.minute * 60 + value.second + 1
    if seconds == 86400:
        raise DataError(f"{value} cannot be rounded, because it is the last moment of a day.")
    return dt.time(seconds // 3600, seconds // 60 % 60, seconds % 60)


def _round_datetime(
    whole: dt.datetime, nanos: int, digits: int, value: object, name: str, inexact: Inexact
) -> dt.datetime:
    """Return a second plus its nanoseconds, rounded or cut to ``digits``."""
    if inexact == "error":
        raise DataError(f"{value} has more precision than {name} can store. {HINT}")
    unit = 10 ** (9 - digits)
    rest = nanos % unit
    nanos += unit - rest if inexact == "round" and 2 * rest >= unit else -rest
    try:
        return whole + dt.timedelta(microseconds=nanos // 1000)
    except OverflowError:
        raise DataError(f"{value} cannot be rounded, because it is the last moment of {name}.") from None


def _intervals(target: ColumnType, inexact: Inexact, encoding: str) -> Assigner:
    qualifier = target.qualifier
    assert qualifier is not None
    digits = qualifier.fraction_digits
    unit = 10 ** (9 - digits)

    def assign(value: Any) -> Any:
        value = plain_value(value, to_microseconds=inexact != "error" and not qualifier.is_year_month)
        if not qualifier.is_year_month and inexact != "error":
            value = _truncate_interval(value, unit, inexact)
        if isinstance(value, str):
            text = _INTERVAL_TEXT.fullmatch(value.strip(" "))
            if text is None or qualifier.end < Field.SECOND or not text["fraction"][digits:].strip("0"):
                return value  # nothing would be lost; the server refuses invalid text itself
            return interval_of_text(value, qualifier, inexact)
        if isinstance(value, bool) or not (
            isinstance(value, int | dt.timedelta | YearMonthInterval | IntervalValue)
            or is_month_day_nano(value)
        ):
            return value
        if value != value:  # pandas.NaT
            return value
        if isinstance(value, int) and qualifier.is_year_month:
            value = YearMonthInterval(int(value))
        return _check_interval(value, qualifier, unit)

    return assign


def interval_of_text(value: str, qualifier: Qualifier, inexact: Inexact) -> IntervalValue:
    """Parse Informix's literal (``5-03``, ``-3 04:05:06.75``) as an INTERVAL.

    Raises ``DataError`` for any other text, and for digits of a second that the type cannot hold unless
    ``inexact`` allows to drop them.
    """
    text = _INTERVAL_TEXT.fullmatch(value.strip(" "))
    if text is None or qualifier.end < Field.SECOND:
        return parse_interval(value, qualifier)
    head, digits = text["head"], qualifier.fraction_digits
    kept, lost = text["fraction"][:digits], text["fraction"][digits:]
    if lost.strip("0") and inexact == "error":
        raise unfit_value(
            value, f"has more precision than INTERVAL {qualifier.interval_sql} can store. {HINT}"
        )
    whole = parse_interval(f"{head}.{kept}" if digits else head, qualifier)
    if inexact != "round" or lost < "5":
        return whole
    assert whole.microseconds is not None
    amount = abs(whole.microseconds) + 10 ** (6 - digits)
    return interval_of(dt.timedelta(microseconds=-amount if head[:1] == "-" else amount), qualifier)


def _truncate_interval(value: Any, unit: int, inexact: Inexact) -> Any:
    """Round or cut a span to a multiple of ``unit`` nanoseconds."""
    nanos = _interval_nanoseconds(value)
    if nanos is None or not nanos % unit:
        return value
    rest = abs(nanos) % unit
    amount = abs(nanos) - rest + (unit if inexact == "round" and 2 * rest >= unit else 0)
    return dt.timedelta(microseconds=(amount if nanos > 0 else -amount) // 1000)


def _check_interval(value: Any, qualifier: Qualifier, unit: int) -> Any:
    nanos = _interval_nanoseconds(value)
    if nanos is not None and nanos % unit and not qualifier.is_year_month:
        raise DataError(
            f"{value} has more precision than INTERVAL {qualifier.interval_sql} can store. {HINT}"
        )
    interval_of(value, qualifier)
    return value


def _interval_nanoseconds(value: Any) -> int | None:
    """Return the nanoseconds of a span without months. None for anything else."""
    if isinstance(value, dt.timedelta) and value == value:
        whole = (value.days * 86400 + value.seconds) * 1_000_000 + value.microseconds
        return whole * 1000 + int(getattr(value, "nanoseconds", 0))
    if is_month_day_nano(value) and not value.months:
        return split_month_day_nano(value)[1]
    return None
