"""Built-in functions of dates and times, and TO_CHAR, TO_DATE, TO_NUMBER."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError, not_supported
from .context import Ex
from .literals import date
from .names import text
from .number_functions import Handler, rounding
from .result_types import character, datetime_storage, is_character, is_moment, is_number, plain, text_type
from .text_functions import text_arg

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator

_WRONG_FORMAT = -1268


def _moment(tr: ExpressionTranslator, ex: Ex) -> Ex:
    ex = tr.ctx.hint(ex, ColumnType.date())
    if ex.literal is not None:
        return Ex(tr.ctx.read_literal(ex.literal, ColumnType.date()), ColumnType.date())
    if ex.type is not None and not is_moment(ex.type):
        raise SqlError(-1260)
    return ex


def _storage(t: ColumnType | None) -> str:
    return datetime_storage(t.qualifier) if t is not None and t.qualifier is not None else "DATE"


def _dated(tr: ExpressionTranslator, ex: Ex) -> tuple[Ex, ColumnType]:
    """A DATE, or a DATETIME that begins with a year, and its type."""
    moment = _moment(tr, ex)
    if _storage(moment.type) in ("TIME", "VARCHAR"):
        raise SqlError(-1266)
    return moment, plain(moment.type) if moment.type is not None else ColumnType.date()


def _part(duck: str) -> Handler:
    """YEAR, MONTH, DAY, WEEKDAY of a date or datetime."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        return Ex(f"CAST({duck}({_moment(tr, args[0]).sql}) AS SMALLINT)", ColumnType.smallint())

    return handler


def _mdy(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    m, day, y = (f"CAST({tr.ctx.hint(a, ColumnType.integer()).sql} AS BIGINT)" for a in args)
    sql = (
        f"(CASE WHEN {m} NOT BETWEEN 1 AND 12 THEN error('IFX-1205') "
        f"WHEN {y} NOT BETWEEN 1 AND 9999 THEN error('IFX-1204') "
        f"WHEN {day} NOT BETWEEN 1 AND day(last_day(make_date({y}, {m}, 1))) THEN error('IFX-1206') "
        f"ELSE make_date({y}, {m}, {day}) END)"
    )
    return Ex(sql, ColumnType.date())


def _date(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    a = tr.ctx.hint(args[0], character(32))
    if a.literal is not None:
        return Ex(f"DATE {text(date(a.literal, tr.ctx.dbdate).isoformat())}", ColumnType.date())
    if a.type is not None and is_number(a.type):
        return Ex(f"(DATE '1899-12-31' + CAST({a.sql} AS INTEGER))", ColumnType.date())
    if a.type is not None and is_character(a.type):
        return Ex(f"CAST({tr.ctx.as_type_of(a, ColumnType.date())} AS DATE)", ColumnType.date())
    return Ex(f"CAST({a.sql} AS DATE)", ColumnType.date())


def _add_months(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """The last day of a month stays one."""
    moment, t = _dated(tr, args[0])
    n = f"CAST({tr.ctx.hint(args[1], ColumnType.integer()).sql} AS INTEGER)"
    there = f"({moment.sql} + to_months({n}))"
    last = f"(last_day(CAST({there} AS DATE)) + (CAST({moment.sql} AS TIMESTAMP) - date_trunc('day', {moment.sql})))"
    sql = f"CASE WHEN last_day({moment.sql}) = CAST({moment.sql} AS DATE) THEN {last} ELSE {there} END"
    return Ex(f"CAST({sql} AS {_storage(t)})", t)


def _months_between(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """Whole months between equal days of a month and between last days; else a month has 31 days."""
    a, b = (f"CAST({_dated(tr, each)[0].sql} AS TIMESTAMP)" for each in args)
    months = f"((year({a}) - year({b})) * 12 + month({a}) - month({b}))"
    whole = (
        f"(day({a}) = day({b}) OR (last_day({a}) = CAST({a} AS DATE) AND last_day({b}) = CAST({b} AS DATE)))"
    )
    days = f"((epoch({a}) - epoch(date_trunc('month', {a})) - epoch({b}) + epoch(date_trunc('month', {b}))) / 86400.0)"
    return Ex(
        f"CAST({months} + CASE WHEN {whole} THEN 0 ELSE {days} / 31.0 END AS DOUBLE)", ColumnType.decimal(32)
    )


_DAYS = "['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']"


def _next_day(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """The first such day of the week behind a date; at least the first three letters of its name are given."""
    moment, t = _dated(tr, args[0])
    name = text_arg(tr, args[1])
    number = f"list_position({_DAYS}, upper(left(trim({name.sql}), 3)))"
    days = f"((coalesce({number}, CAST(error('IFX-1268') AS INTEGER)) - 2 - dayofweek({moment.sql}) + 14) % 7 + 1)"
    return Ex(f"CAST({moment.sql} + to_days(CAST({days} AS INTEGER)) AS {_storage(t)})", t)


def _last_day(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    """A DATETIME keeps its time of day."""
    moment, t = _dated(tr, args[0])
    if t.code == TypeCode.DATE:
        return Ex(f"last_day({moment.sql})", t)
    day = f"last_day({moment.sql}) + (CAST({moment.sql} AS TIMESTAMP) - date_trunc('day', {moment.sql}))"
    return Ex(f"CAST({day} AS {_storage(t)})", t)


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
_ROUND_UP = {  # what is added, and from which point of the unit on
    "year": ("INTERVAL 1 YEAR", "INTERVAL 6 MONTHS"),
    "quarter": ("INTERVAL 3 MONTHS", "INTERVAL 1 MONTH + INTERVAL 15 DAYS"),
    "month": ("INTERVAL 1 MONTH", "INTERVAL 15 DAYS"),
    "day": ("INTERVAL 1 DAY", "INTERVAL 12 HOURS"),
    "hour": ("INTERVAL 1 HOUR", "INTERVAL 30 MINUTES"),
    "minute": ("INTERVAL 1 MINUTE", "INTERVAL 30 SECONDS"),
}


def _to_unit(duck: str) -> Handler:
    """TRUNC and ROUND of numbers, and of dates and datetimes to a unit of time."""
    numbers = rounding(duck)

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        if args[0].type is None or not is_moment(args[0].type):
            return numbers(tr, args)
        moment, t = _dated(tr, args[0])
        layout = args[1].literal if len(args) > 1 else "DD"
        if layout is None:
            raise not_supported(f"{duck.upper()} of a date to a unit that is no literal", -664)
        word = layout.strip().upper()
        if len(args) == 1:
            t = ColumnType.date()
        stamp = f"CAST({moment.sql} AS TIMESTAMP)"
        if word in ("DAY", "DY", "D"):  # a week begins on Sunday
            if duck == "round":
                stamp = f"({stamp} + INTERVAL 84 HOURS)"
            found = f"(date_trunc('day', {stamp}) - to_days(CAST(dayofweek({stamp}) AS INTEGER)))"
            return Ex(f"CAST({found} AS {_storage(t)})", t)
        unit = _UNIT_OF.get(word)
        if unit is None:
            raise SqlError(_WRONG_FORMAT, 0, 0, layout)
        found = f"date_trunc('{unit}', {stamp})"
        if duck == "round":
            span, half = _ROUND_UP[unit]
            found = f"({found} + CASE WHEN {stamp} >= {found} + {half} THEN {span} ELSE INTERVAL 0 DAYS END)"
        return Ex(f"CAST({found} AS {_storage(t)})", t)

    return handler


# ---- texts ---------------------------------------------------------------------------------------
_CODES = frozenset("YymdHMSbBaAjpI")
_WORDS = (
    ("YYYY", "%Y"), ("HH24", "%H"), ("HH12", "%I"), ("MM", "%m"), ("DD", "%d"), ("MI", "%M"), ("SS", "%S"),
    ("YY", "%y"), ("HH", "%I"),
)  # fmt: skip


def layout_of(layout: str) -> str:
    """GL_DATETIME's letters, or Oracle's words, as strftime's; -1268 for those that are not known."""
    if "%" in layout:
        out = layout.replace("%iY", "%Y").replace("%R", "%H:%M").replace("%T", "%H:%M:%S")
        out = out.replace("%D", "%m/%d/%y").replace("%h", "%b").replace("%e", "%d")
        if any(found not in _CODES for found in re.findall(r"%(.?)", out.replace("%%", ""))):
            raise SqlError(_WRONG_FORMAT, 0, 0, "", f"format {layout!r}")
        return out
    left = layout.upper()
    for word, code in _WORDS:
        left = left.replace(word, code)
    if re.search(r"[A-Z]", re.sub(r"%[a-zA-Z]", "", left)):
        raise SqlError(_WRONG_FORMAT, 0, 0, "", f"format {layout!r}")
    return left


def _to_char(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = args[0]
    if len(args) == 2:
        if value.type is None or not is_moment(value.type):
            raise not_supported("TO_CHAR with a format for a number", -664)
        if args[1].literal is None:
            raise not_supported("TO_CHAR with a format that is no literal", -664)
        moment = value.sql
        if _storage(value.type) == "TIME":
            moment = f"(DATE '1200-01-01' + {moment})"
        return Ex(f"strftime({moment}, {text(layout_of(args[1].literal))})", character(64))
    return value if value.type is None or is_character(value.type) else tr.cast(value, text_type(value.type))


def _to_date(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = text_arg(tr, args[0])
    t = ColumnType.datetime("YEAR TO FRACTION(5)")
    if len(args) == 1:
        return Ex(f"CAST({value.sql} AS TIMESTAMP)", t)
    if args[1].literal is None:
        raise not_supported("TO_DATE with a format that is no literal", -664)
    found = f"try_strptime(trim({value.sql}), {text(layout_of(args[1].literal))})"
    return Ex(f"(CASE WHEN {value.sql} IS NULL THEN NULL ELSE coalesce({found}, error('IFX-1277')) END)", t)


def _to_number(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    value = tr.ctx.hint(args[0], character(64))
    if value.type is not None and is_character(value.type) and value.literal is None:
        number = (
            f"(CASE WHEN TRY_CAST({value.sql} AS DOUBLE) IS NULL THEN error('IFX-1213') ELSE {value.sql} END)"
        )
        return Ex(f"_ifx_key({number})", ColumnType.decimal(32), packed=True)
    return Ex(tr.key(value), ColumnType.decimal(32), packed=True)


FUNCTIONS: dict[str, tuple[int, int, Handler]] = {
    "year": (1, 1, _part("year")),
    "month": (1, 1, _part("month")),
    "day": (1, 1, _part("day")),
    "weekday": (1, 1, _part("dayofweek")),
    "quarter": (1, 1, _part("quarter")),
    "mdy": (3, 3, _mdy),
    "date": (1, 1, _date),
    "add_months": (2, 2, _add_months),
    "months_between": (2, 2, _months_between),
    "next_day": (2, 2, _next_day),
    "last_day": (1, 1, _last_day),
    "round": (1, 2, _to_unit("round")),
    "trunc": (1, 2, _to_unit("trunc")),
    "to_char": (1, 2, _to_char),
    "to_date": (1, 2, _to_date),
    "to_number": (1, 1, _to_number),
}
