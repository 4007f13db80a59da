"""Arithmetic of DATE, DATETIME and INTERVAL.

The result types are those of IBM's table of expressions with times (ids_sqr_156): DATE - DATE is INTEGER, DATETIME -
DATETIME is INTERVAL, DATE + INTERVAL is DATETIME.
"""

from __future__ import annotations

from ....wire.qualifiers import Field, Qualifier
from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError
from ...types.intervals import (
    INCOMPATIBLE,
    add_sql,
    checked_sql,
    convert_units_sql,
    interval_type,
    is_interval,
    qualifier_of,
    same_class,
    smallest_step,
    widest,
    with_widest_lead,
)
from ...types.result_types import (
    DECIMALS,
    INTEGERS,
    as_decimal,
    datetime_storage,
    is_date_or_datetime,
    is_number,
    nullable,
)
from ..context import TranslationContext
from ..scope import TypedExpression
from .datetimes import checked_date_sql, extend_sql

_DAY_OF_TIMES = "DATE '2000-01-01'"
_YEAR_TO_DAY = Qualifier.parse("YEAR TO DAY")


def arithmetic(op: str, a: TypedExpression, b: TypedExpression, ctx: TranslationContext) -> TypedExpression:
    """Translate `a op b` if one operand is a date, datetime or interval. Raises -1260 for an invalid combination."""
    ta, tb = a.type, b.type
    assert ta is not None
    assert tb is not None
    if ta.code == TypeCode.DATE and tb.code == TypeCode.DATE and op == "-":
        return TypedExpression(f"CAST({a.sql} - {b.sql} AS INTEGER)", ColumnType.integer())
    if op == "+" and is_date_or_datetime(tb) and not is_date_or_datetime(ta):
        a, b, ta, tb = b, a, tb, ta
    if ta.code == TypeCode.DATE and is_number(tb) and op in "+-":
        days = b.sql if tb.code in INTEGERS else f"trunc({b.sql})"
        return TypedExpression(checked_date_sql(f"({a.sql} {op} CAST({days} AS INTEGER))"), ColumnType.date())
    if is_date_or_datetime(ta) and is_date_or_datetime(tb) and op == "-":
        return _difference(a, b, ctx)
    if is_date_or_datetime(ta) and is_interval(tb) and op in "+-":
        return _add_interval(op, a, b)
    if is_interval(ta) and is_interval(tb) and op in "+-":
        return _add(op, a, b)
    if is_interval(ta) and is_number(tb) and op in "*/":
        return _multiply(op, a, b)
    if is_interval(tb) and is_number(ta) and op == "*":
        return _multiply(op, b, a)
    raise SqlError(-1260)


def units_interval(number: TypedExpression, unit: str) -> TypedExpression:
    """Translate `number UNITS DAY`: an interval of that one field. A fraction is cut. Raises -1260 for an operand that
    is no number."""
    if number.type is None or not is_number(number.type):
        raise SqlError(-1260)
    qualifier = Qualifier.parse(f"{unit}(9) TO {unit}", interval=True)
    n = number.sql if number.type.code in INTEGERS else f"CAST(trunc({number.sql}) AS BIGINT)"
    sql = checked_sql(f"(CAST({n} AS BIGINT) * {smallest_step(qualifier)})", qualifier)
    return TypedExpression(sql, ColumnType.interval(qualifier.interval_sql))


def _qualifier(t: ColumnType) -> Qualifier:
    return t.qualifier or _YEAR_TO_DAY


def _difference(a: TypedExpression, b: TypedExpression, ctx: TranslationContext) -> TypedExpression:
    """Translate DATETIME - DATETIME. The result is months if both end at MONTH or before, else days to the finer end of
    both."""
    assert a.type is not None
    assert b.type is not None
    first, second = _qualifier(a.type), _qualifier(b.type)
    if "VARCHAR" in (datetime_storage(first), datetime_storage(second)):
        raise SqlError(INCOMPATIBLE)
    start, end = min(first.start, second.start), max(first.end, second.end)
    if first.start != second.start:
        # the operand without a date gets today's date
        target = Qualifier.datetime(start, end)
        left, right = (extend_sql(x.sql, x.type, target, ctx) for x in (a, b) if x.type is not None)
    else:
        left, right = a.sql, b.sql
    if start == Field.HOUR:
        left, right = f"({_DAY_OF_TIMES} + {left})", f"({_DAY_OF_TIMES} + {right})"
    if end <= Field.MONTH:
        span = Qualifier(start, end, 4 + end - start)
        sql = f"((year({left}) - year({right})) * 12 + month({left}) - month({right}))"
        return TypedExpression(checked_sql(f"CAST({sql} AS BIGINT)", span), interval_type(span))
    start = max(start, int(Field.DAY))
    leading = 8 if start == Field.DAY else 6
    span = Qualifier(start, end, leading + end - start)
    micros = f"(epoch_us(CAST({left} AS TIMESTAMP)) - epoch_us(CAST({right} AS TIMESTAMP)))"
    return TypedExpression(f"({micros} // 10)", interval_type(span))


def _add_interval(op: str, a: TypedExpression, b: TypedExpression) -> TypedExpression:
    """Translate a date or datetime plus or minus an interval.

    A DATE becomes the DATETIME with the interval's fields. A DATETIME must have these fields (-1266).
    """
    assert a.type is not None
    assert b.type is not None
    span = qualifier_of(b.type)
    if a.type.code == TypeCode.DATE:
        end = max(span.end, int(Field.DAY))
        target = Qualifier.datetime(Field.YEAR, end)
    else:
        target = _qualifier(a.type)
        if datetime_storage(target) == "VARCHAR":
            raise SqlError(INCOMPATIBLE)
        if min(span.end, 11) > min(target.end, 11) or (span.is_year_month and target.start > Field.MONTH):
            raise SqlError(INCOMPATIBLE)
    t = ColumnType(TypeCode.DATETIME.value, target.encoded)
    span_sql = b.sql
    if span.has_seconds_fraction and span.end > target.end:
        span_sql = f"({b.sql} // {10 ** (15 - target.end)} * {10 ** (15 - target.end)})"
    storage = datetime_storage(target)
    if storage == "TIME":
        moment = f"({_DAY_OF_TIMES} + {a.sql})"
        found = add_sql(moment, span_sql, span, op)
        sql = (
            f"(CASE WHEN CAST({found} AS DATE) <> {_DAY_OF_TIMES} THEN error('IFX-1267') "
            f"ELSE CAST({found} AS TIME) END)"
        )
        return TypedExpression(sql, t)
    found = add_sql(f"CAST({a.sql} AS TIMESTAMP)", span_sql, span, op)
    return TypedExpression(f"CAST({found} AS {storage})", nullable(t))


def _add(op: str, a: TypedExpression, b: TypedExpression) -> TypedExpression:
    """Translate the sum of intervals of one class. It ends where the first operand ends. Finer fields of the second are
    ignored."""
    assert a.type is not None
    assert b.type is not None
    first, second = qualifier_of(a.type), qualifier_of(b.type)
    same_class(first, second)
    both = widest(first, second)
    leading = min(both.leading, 9)
    target = (
        both
        if both.start == 12
        else with_widest_lead(Qualifier(both.start, first.end, leading + first.end - both.start))
    )
    other = b.sql
    if smallest_step(second) < smallest_step(first):
        other = convert_units_sql(
            b.sql, second, with_widest_lead(Qualifier(both.start, first.end, 9 + first.end - both.start))
        )
    return TypedExpression(
        checked_sql(f"(CAST({a.sql} AS HUGEINT) {op} {other})", target), interval_type(target)
    )


def _multiply(op: str, a: TypedExpression, b: TypedExpression) -> TypedExpression:
    """Translate an interval times or divided by a number. Units finer than the interval's last field are cut."""
    assert a.type is not None
    assert b.type is not None
    target = with_widest_lead(qualifier_of(a.type))
    number, units = b.sql, f"CAST({a.sql} AS HUGEINT)"
    exact = as_decimal(b.type) if b.type.code in INTEGERS or b.type.code in DECIMALS else None
    if exact is None or exact[0] > 19:
        found = f"CAST(trunc(CAST({a.sql} AS DOUBLE) {op} CAST({number} AS DOUBLE)) AS HUGEINT)"
    else:
        power = 10 ** exact[1]
        factor = f"CAST({number} * {power} AS HUGEINT)" if exact[1] else f"CAST({number} AS HUGEINT)"
        found = f"({units} * {factor} // {power})" if op == "*" else f"({units} * {power} // {factor})"
    sql = checked_sql(found, target)
    if op == "/":
        sql = f"(CASE WHEN {number} = 0 THEN error('IFX-1202') ELSE {sql} END)"
    return TypedExpression(sql, interval_type(target))
