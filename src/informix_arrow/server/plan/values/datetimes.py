"""DATE and DATETIME as DuckDB SQL: formatting, parsing, range checks and EXTEND."""

from __future__ import annotations

from ....wire.qualifiers import Field, Qualifier
from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError, not_supported
from ...types.quoting import quote_string
from ...types.result_types import datetime_storage, is_character
from ..context import TranslationContext

_FORMAT = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S"}
_SEPARATORS = {"MONTH": "-", "DAY": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}


_FIRST, _LAST = "DATE '0001-01-01'", "DATE '9999-12-31'"


def checked_date_sql(sql: str, *, of_number: bool = False) -> str:
    """Return SQL that checks the range of a computed DATE, as DuckDB's DATE reaches beyond the years 1 to 9999.

    It raises -1267, or -1218 for the day of a number. errors.py recognises them by the casts. `sql` occurs once in the
    result, as sums can be nested.
    """
    unsigned = "UBIGINT" if of_number else "UINTEGER"
    sql = f"({_LAST} - CAST(CAST({_LAST} - {sql} AS {unsigned}) AS INTEGER))"
    return f"({_FIRST} + CAST(CAST({sql} - {_FIRST} AS {unsigned}) AS INTEGER))"


def checked_datetime_sql(sql: str, storage: str) -> str:
    """Return SQL that checks the range of a computed DATE or DATETIME, like `checked_date_sql`."""
    if storage == "DATE":
        return checked_date_sql(sql)
    if storage != "TIMESTAMP":
        return sql
    beyond = f"{sql} < TIMESTAMP '0001-01-01' OR CAST({sql} AS DATE) > {_LAST}"
    return f"(CASE WHEN {beyond} THEN CAST(error('IFX-1267') AS TIMESTAMP) ELSE {sql} END)"


_MOMENT = r"\s*\d+-\d+-\d+([ T]+\d+:\d+(:\d+(\.\d*)?)?)?\s*"


def parse_datetime_sql(sql: str) -> str:
    """Return SQL that parses a DATETIME, with a day at least. Raises -1262 for any other text.

    DuckDB would accept words such as "infinity" and "epoch", and ignore time zones.
    """
    found = checked_datetime_sql(f"CAST(trim({sql}) AS TIMESTAMP)", "TIMESTAMP")
    wrong = f"NOT regexp_full_match({sql}, {quote_string(_MOMENT)})"
    return f"(CASE WHEN {wrong} THEN CAST(error('IFX-1262') AS TIMESTAMP) ELSE {found} END)"


def moment_text(sql: str, t: ColumnType, dbdate: str = "") -> str:
    """Return SQL that formats a stored DATE or DATETIME as Informix's text."""
    if t.code == TypeCode.DATE:
        order = (dbdate or "MDY4/").upper()
        separator = order[-1] if order[-1] in "/-." else ("/" if not order.endswith("0") else "")
        fields = [c for c in order if c in "MDY"]
        pieces = {"M": "%m", "D": "%d", "Y": "%y" if "2" in order else "%Y"}
        return f"strftime({sql}, {quote_string(separator.join(pieces[f] for f in fields))})"
    qualifier = t.qualifier
    if qualifier is None or datetime_storage(qualifier) == "VARCHAR":
        return sql
    layout = ""
    for name in qualifier.field_names:
        if name != "FRACTION":
            layout += (_SEPARATORS[name] if layout else "") + _FORMAT[name]
    if qualifier.start == Field.HOUR:
        sql = f"(DATE '2000-01-01' + {sql})"
    if not qualifier.has_seconds_fraction:
        return f"strftime({sql}, {quote_string(layout)})"
    prefix_width = len("00:00:00.") if qualifier.start == Field.HOUR else len("2000-01-01 00:00:00.")
    width = prefix_width + qualifier.fraction_digits
    return f"left(strftime({sql}, {quote_string(layout + '.%f')}), {width})"


def extend_sql(sql: str, source: ColumnType, qualifier: Qualifier, ctx: TranslationContext) -> str:
    """Return SQL of EXTEND: a stored DATE or DATETIME as the storage of another qualifier."""
    if source.code == TypeCode.DATETIME and source.qualifier is not None:
        storage = datetime_storage(source.qualifier)
        if storage == "VARCHAR":
            if source.qualifier == qualifier:
                return sql
            raise SqlError(-1266)
        if storage == "TIME":
            sql = f"(CAST({ctx.session_value('now')} AS DATE) + {sql})"
        elif storage == "DATE":
            sql = f"CAST({sql} AS TIMESTAMP)"
    elif is_character(source):
        sql = parse_datetime_sql(sql)
    else:
        sql = f"CAST({sql} AS TIMESTAMP)"
    target_storage = datetime_storage(qualifier)
    if target_storage == "DATE":
        return f"CAST({sql} AS DATE)"
    if target_storage == "VARCHAR":
        layout = ""
        for name in qualifier.field_names:
            if name == "FRACTION":
                raise not_supported("EXTEND to a DATETIME of this qualifier", -1266)
            layout += (_SEPARATORS[name] if layout else "") + _FORMAT[name]
        return f"strftime({sql}, {quote_string(layout)})"
    if qualifier.has_seconds_fraction:
        unit = 10 ** (6 - qualifier.fraction_digits)
        if unit > 1:
            sql = f"({sql} - to_microseconds(microsecond({sql}) % {unit}))"
    else:
        unit_name = ["year", "month", "day", "hour", "minute", "second"][qualifier.end // 2]
        sql = f"date_trunc('{unit_name}', {sql})"
    return f"CAST({sql} AS TIME)" if target_storage == "TIME" else f"CAST({sql} AS TIMESTAMP)"
