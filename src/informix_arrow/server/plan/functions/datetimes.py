"""Built-in functions of dates and times, and TO_CHAR, TO_DATE and TO_NUMBER."""

from __future__ import annotations

import re
from dataclasses import replace

from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError, not_supported
from ...types.literals import date, money
from ...types.number_masks import parse_mask
from ...types.quoting import quote_string
from ...types.result_types import (
    character,
    datetime_storage,
    is_character,
    is_date_or_datetime,
    is_number,
    text_type,
    without_serial,
)
from ..scope import TypedExpression
from ..values.casts import Values
from ..values.datetimes import checked_date_sql, checked_datetime_sql, parse_datetime_sql
from ..values.intervals import units_interval
from .handler import FunctionTable, FunctionTranslator
from .numbers import rounding
from .strings import text_argument

_WRONG_FORMAT = -1268


def _datetime_argument(v: Values, ex: TypedExpression) -> TypedExpression:
    ex = v.ctx.hint(ex, ColumnType.date())
    if ex.literal is not None:
        return TypedExpression(v.read_literal(ex.literal, ColumnType.date()), ColumnType.date())
    if ex.type is not None and not is_date_or_datetime(ex.type):
        raise SqlError(-1260)
    return ex


def _storage(t: ColumnType | None) -> str:
    return datetime_storage(t.qualifier) if t is not None and t.qualifier is not None else "DATE"


def _date_argument(v: Values, ex: TypedExpression) -> tuple[TypedExpression, ColumnType]:
    """Return a DATE, or a DATETIME that begins with a year, and its type."""
    moment = _datetime_argument(v, ex)
    if _storage(moment.type) in ("TIME", "VARCHAR"):
        raise SqlError(-1266)
    return moment, without_serial(moment.type) if moment.type is not None else ColumnType.date()


def _extract_field(duck: str) -> FunctionTranslator:
    """Translate YEAR, MONTH, DAY and WEEKDAY of a date or datetime."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        return TypedExpression(
            f"CAST({duck}({_datetime_argument(v, args[0]).sql}) AS SMALLINT)", ColumnType.smallint()
        )

    return handler


def _mdy(v: Values, args: list[TypedExpression]) -> TypedExpression:
    m, day, y = (f"CAST({v.ctx.as_count(a).sql} AS BIGINT)" for a in args)
    sql = (
        f"(CASE WHEN {m} NOT BETWEEN 1 AND 12 THEN error('IFX-1205') "
        f"WHEN {y} NOT BETWEEN 1 AND 9999 THEN error('IFX-1204') "
        f"WHEN {day} NOT BETWEEN 1 AND day(last_day(make_date({y}, {m}, 1))) THEN error('IFX-1206') "
        f"ELSE make_date({y}, {m}, {day}) END)"
    )
    return TypedExpression(sql, ColumnType.date())


def _date(v: Values, args: list[TypedExpression]) -> TypedExpression:
    a = v.ctx.hint(args[0], character(32))
    if a.literal is not None:
        return TypedExpression(
            f"DATE {quote_string(date(a.literal, v.ctx.dbdate).isoformat())}", ColumnType.date()
        )
    if a.type is not None and is_number(a.type):
        day = f"(DATE '1899-12-31' + CAST({a.sql} AS INTEGER))"
        return TypedExpression(checked_date_sql(day, of_number=True), ColumnType.date())
    if a.type is not None and is_character(a.type):
        return TypedExpression(f"CAST({v.as_type_of(a, ColumnType.date())} AS DATE)", ColumnType.date())
    return TypedExpression(f"CAST({a.sql} AS DATE)", ColumnType.date())


def _add_months(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate ADD_MONTHS. The last day of a month stays the last day."""
    moment, t = _date_argument(v, args[0])
    n = f"CAST({v.ctx.as_count(args[1]).sql} AS INTEGER)"
    shifted = f"({moment.sql} + to_months({n}))"
    last = f"(last_day(CAST({shifted} AS DATE)) + (CAST({moment.sql} AS TIMESTAMP) - date_trunc('day', {moment.sql})))"
    sql = f"CASE WHEN last_day({moment.sql}) = CAST({moment.sql} AS DATE) THEN {last} ELSE {shifted} END"
    return _computed(sql, t)


def _computed(sql: str, t: ColumnType) -> TypedExpression:
    return TypedExpression(checked_datetime_sql(f"CAST({sql} AS {_storage(t)})", _storage(t)), t)


def _months_between(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate MONTHS_BETWEEN: whole months between equal days of the month and between last days, else a month has 31
    days."""
    a, b = (f"CAST({_date_argument(v, argument)[0].sql} AS TIMESTAMP)" for argument in args)
    months = f"((year({a}) - year({b})) * 12 + month({a}) - month({b}))"
    whole_months = (
        f"(day({a}) = day({b}) OR (last_day({a}) = CAST({a} AS DATE) AND last_day({b}) = CAST({b} AS DATE)))"
    )
    days = f"((epoch({a}) - epoch(date_trunc('month', {a})) - epoch({b}) + epoch(date_trunc('month', {b}))) / 86400.0)"
    return TypedExpression(
        f"CAST({months} + CASE WHEN {whole_months} THEN 0 ELSE {days} / 31.0 END AS DOUBLE)",
        ColumnType.decimal(32),
    )


_DAYS = "['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']"


def _next_day(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate NEXT_DAY: the first such weekday after a date. At least three letters of its name are required."""
    moment, t = _date_argument(v, args[0])
    name = text_argument(v, args[1])
    number = f"list_position({_DAYS}, upper(left(trim({name.sql}), 3)))"
    days = f"((coalesce({number}, CAST(error('IFX-1268') AS INTEGER)) - 2 - dayofweek({moment.sql}) + 14) % 7 + 1)"
    return _computed(f"{moment.sql} + to_days(CAST({days} AS INTEGER))", t)


def _last_day(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate LAST_DAY. A DATETIME keeps its time of day."""
    moment, t = _date_argument(v, args[0])
    if t.code == TypeCode.DATE:
        return TypedExpression(f"last_day({moment.sql})", t)
    day = f"last_day({moment.sql}) + (CAST({moment.sql} AS TIMESTAMP) - date_trunc('day', {moment.sql}))"
    return TypedExpression(f"CAST({day} AS {_storage(t)})", t)


# ---- TRUNC and ROUND -----------------------------------------------------------------------------
_UNITS = {
    "year": "YEAR YYYY YYY YY Y SYEAR SYYYY",
    "quarter": "Q",
    "month": "MONTH MON MM RM",
    "day": "DDD DD J",
    "hour": "HH HH12 HH24",
    "minute": "MI",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_ROUND_UP = {  # what is added, and from which offset in the unit on
    "year": ("INTERVAL 1 YEAR", "INTERVAL 6 MONTHS"),
    "quarter": ("INTERVAL 3 MONTHS", "INTERVAL 1 MONTH + INTERVAL 15 DAYS"),
    "month": ("INTERVAL 1 MONTH", "INTERVAL 15 DAYS"),
    "day": ("INTERVAL 1 DAY", "INTERVAL 12 HOURS"),
    "hour": ("INTERVAL 1 HOUR", "INTERVAL 30 MINUTES"),
    "minute": ("INTERVAL 1 MINUTE", "INTERVAL 30 SECONDS"),
}


def _round_to_unit(duck: str) -> FunctionTranslator:
    """Translate TRUNC and ROUND of numbers, and of dates and datetimes to a unit of time."""
    numbers = rounding(duck)

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        if args[0].type is None or not is_date_or_datetime(args[0].type):
            return numbers(v, args)
        moment, t = _date_argument(v, args[0])
        layout = args[1].literal if len(args) > 1 else "DD"
        if layout is None:
            raise not_supported(f"{duck.upper()} of a date to a unit that is not a literal", -664)
        word = layout.strip().upper()
        if len(args) == 1:
            t = ColumnType.date()
        stamp = f"CAST({moment.sql} AS TIMESTAMP)"
        if word in ("DAY", "DY", "D"):  # a week begins on Sunday
            if duck == "round":
                stamp = f"({stamp} + INTERVAL 84 HOURS)"
            found = f"(date_trunc('day', {stamp}) - to_days(CAST(dayofweek({stamp}) AS INTEGER)))"
            return TypedExpression(f"CAST({found} AS {_storage(t)})", t)
        unit = _UNIT_OF.get(word)
        if unit is None:
            raise SqlError(_WRONG_FORMAT, 0, 0, layout)
        found = f"date_trunc('{unit}', {stamp})"
        if duck == "round":
            span, half = _ROUND_UP[unit]
            found = f"({found} + CASE WHEN {stamp} >= {found} + {half} THEN {span} ELSE INTERVAL 0 DAYS END)"
        return _computed(found, t)

    return handler


# ---- formats -------------------------------------------------------------------------------------
_DIRECTIVES = {
    "a": "%a", "A": "%A", "b": "%b", "B": "%B", "c": "%a %b %d %H:%M:%S %Y", "d": "%d", "D": "%m/%d/%y", "h": "%b",
    "H": "%H", "I": "%I", "iY": "%Y", "iy": "%y", "j": "%j", "m": "%m", "M": "%M", "n": "\n", "p": "%p",
    "r": "%I:%M:%S %p", "R": "%H:%M", "S": "%S", "t": "\t", "T": "%H:%M:%S", "w": "%w", "W": "%W", "x": "%m/%d/%Y",
    "X": "%H:%M:%S", "y": "%y", "Y": "%Y", "%": "%%",
}  # fmt: skip
"""GL_DATETIME directives in the default locale, and the strftime formats for them."""
_NOT_IN_STRFTIME = {"C": "century", "e": "day", "F": "fraction"}
"""Directives that strftime does not have. Other functions replace them (TO_CHAR only)."""
_DIRECTIVE = re.compile(r"%(i[Yy]|F[1-5]?|.?)", re.DOTALL)
_WORDS = (
    ("YYYY", "%Y"), ("HH24", "%H"), ("HH12", "%I"), ("MM", "%m"), ("DD", "%d"), ("MI", "%M"), ("SS", "%S"),
    ("YY", "%y"), ("HH", "%I"),
)  # fmt: skip


def strptime_format(layout: str) -> str:
    """Convert GL_DATETIME directives or Oracle's words to a strptime format. Raises -1268 for an unknown or empty
    format."""
    if not layout:
        raise SqlError(_WRONG_FORMAT, 0, 0, "", "The format is empty.")
    if "%" in layout:
        return "".join(
            {"day": "%d", "fraction": "%f"}.get(kind, "") if kind != "text" else piece
            for kind, piece in _split_format(layout.replace(".%F", "%F").replace("%F", ".%F"))
        )
    left = layout.upper()
    for word, code in _WORDS:
        left = left.replace(word, code)
    if re.search(r"[A-Z]", re.sub(r"%[a-zA-Z]", "", left)):
        raise SqlError(_WRONG_FORMAT, 0, 0, "", f"The format {layout!r} is not valid.")
    return left


def _split_format(layout: str) -> list[tuple[str, str]]:
    """Split a format into pieces: a "text" for strftime, or the kind of a directive that strftime lacks, with its
    digits."""
    segments: list[tuple[str, str]] = []
    at = 0
    for found in _DIRECTIVE.finditer(layout):
        word = found[1]
        if found.start() < at:
            continue
        segments.append(("text", layout[at : found.start()]))
        at = found.end()
        if word[:1] in _NOT_IN_STRFTIME:
            segments.append((_NOT_IN_STRFTIME[word[:1]], word[1:]))
        elif word in _DIRECTIVES:
            segments.append(("text", _DIRECTIVES[word]))
        else:
            raise SqlError(_WRONG_FORMAT, 0, 0, "", f"The format {layout!r} is not valid.")
    return [*segments, ("text", layout[at:])]


def _format_sql(moment: str, layout: str) -> str:
    """Return SQL that formats a moment. A fraction is truncated, and preceded by its point unless the format has
    one."""
    if "%" not in layout:
        return f"strftime({moment}, {quote_string(strptime_format(layout))})"
    expressions: list[str] = []
    before = ""
    for kind, piece in _split_format(layout):
        if kind == "text":
            before = before + piece
            continue
        if before:
            expressions.append(f"strftime({moment}, {quote_string(before)})")
        if kind == "century":
            expressions.append(f"left(strftime({moment}, '%Y'), 2)")
        elif kind == "day":
            expressions.append(f"lpad(CAST(day({moment}) AS VARCHAR), 2, ' ')")
        else:
            point = "" if before.endswith(".") else "'.' || "
            expressions.append(f"{point}left(strftime(CAST({moment} AS TIMESTAMP), '%f'), {piece or '3'})")
        before = ""
    if before or not expressions:
        expressions.append(f"strftime({moment}, {quote_string(before)})")
    return f"({' || '.join(expressions)})"


def _to_char(v: Values, args: list[TypedExpression]) -> TypedExpression:
    value = args[0]
    if len(args) == 2:
        if value.type is not None and is_number(value.type) and args[1].literal is not None:
            parse_mask(args[1].literal)
            plain = f"_ifx_plain({value.sql})" if value.is_packed_decimal else f"CAST({value.sql} AS VARCHAR)"
            return TypedExpression(f"_ifx_masked({plain}, {quote_string(args[1].literal)})", character(255))
        if value.type is None or not is_date_or_datetime(value.type):
            raise not_supported(
                "TO_CHAR with a format of a value that is neither a date or time nor a number", -664
            )
        if args[1].literal is None:
            raise not_supported("TO_CHAR with a format that is not a literal", -664)
        moment = value.sql
        if _storage(value.type) == "TIME":
            moment = f"(DATE '1200-01-01' + {moment})"
        return TypedExpression(_format_sql(moment, args[1].literal), character(255))
    return value if value.type is None or is_character(value.type) else v.cast(value, text_type(value.type))


def _to_date(v: Values, args: list[TypedExpression]) -> TypedExpression:
    value = text_argument(v, args[0])
    t = ColumnType.datetime("YEAR TO FRACTION(5)")
    if len(args) == 1:
        return TypedExpression(parse_datetime_sql(value.sql), t)
    if args[1].literal is None:
        raise not_supported("TO_DATE with a format that is not a literal", -664)
    # DuckDB accepts words such as infinity in any format, so they are replaced.
    text = f"regexp_replace(trim({value.sql}), '^-?(epoch|infinity)$', '?', 'i')"
    found = f"try_strptime({text}, {quote_string(strptime_format(args[1].literal))})"
    sql = f"(CASE WHEN {value.sql} IS NULL THEN NULL ELSE coalesce({found}, error('IFX-1277')) END)"
    return TypedExpression(checked_datetime_sql(sql, "TIMESTAMP"), t)


def _to_number(v: Values, args: list[TypedExpression]) -> TypedExpression:
    value = v.ctx.hint(args[0], character(64))
    if value.literal is not None and "$" in value.literal:
        value = replace(value, literal=f"{money(value.literal):f}")
    if value.type is not None and is_character(value.type) and value.literal is None:
        number = (
            f"(CASE WHEN contains({value.sql}, '$') THEN _ifx_money({value.sql}) "
            f"WHEN {value.sql} IS NOT NULL AND TRY_CAST({value.sql} AS DOUBLE) IS NULL "
            f"THEN error('IFX-1213') ELSE {value.sql} END)"
        )
        return TypedExpression(f"_ifx_key({number})", ColumnType.decimal(32), is_packed_decimal=True)
    return TypedExpression(v.key(value), ColumnType.decimal(32), is_packed_decimal=True)


def _to_interval(span: str, *units: str) -> FunctionTranslator:
    """Translate a function to an interval: of a number of one of the `units`, or of a text of the whole span."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        if len(args) == 1:
            t = ColumnType.interval(span)
            value = text_argument(v, args[0])
            return TypedExpression(f"_ifx_interval({value.sql}, {t.encoded_length})", t)
        unit = (args[1].literal or "").strip().upper()
        if unit not in units:
            raise SqlError(
                -664, 0, 0, args[1].literal or "", f"The unit must be a literal: {', '.join(units)}."
            )
        return units_interval(v.numeric(v.ctx.as_count(args[0])), unit)

    return handler


_DAY_TO_SECOND = _to_interval("DAY TO SECOND", "DAY", "HOUR", "MINUTE", "SECOND")
_YEAR_TO_MONTH = _to_interval("YEAR TO MONTH", "YEAR", "MONTH")

FUNCTIONS: FunctionTable = {
    "to_dsinterval": (1, 2, _DAY_TO_SECOND),
    "numtodsinterval": (2, 2, _DAY_TO_SECOND),
    "to_yminterval": (1, 2, _YEAR_TO_MONTH),
    "numtoyminterval": (2, 2, _YEAR_TO_MONTH),
    "year": (1, 1, _extract_field("year")),
    "month": (1, 1, _extract_field("month")),
    "day": (1, 1, _extract_field("day")),
    "weekday": (1, 1, _extract_field("dayofweek")),
    "quarter": (1, 1, _extract_field("quarter")),
    "mdy": (3, 3, _mdy),
    "date": (1, 1, _date),
    "add_months": (2, 2, _add_months),
    "months_between": (2, 2, _months_between),
    "next_day": (2, 2, _next_day),
    "last_day": (1, 1, _last_day),
    "round": (1, 2, _round_to_unit("round")),
    "trunc": (1, 2, _round_to_unit("trunc")),
    "to_char": (1, 2, _to_char),
    "to_date": (1, 2, _to_date),
    "to_number": (1, 1, _to_number),
}
