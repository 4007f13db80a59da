"""Limits for texts that may exceed Informix's maximum length: raises -881 before memory is allocated.

DuckDB creates texts of any length and cannot be interrupted meanwhile.
"""

from __future__ import annotations

from ...errors import SqlError
from ...types.quoting import lambda_sql
from ...types.result_types import LONGEST_TEXT
from ..scope import TypedExpression

_TOO_LONG = "error('IFX-881')"


def bounded_text_sql(sql: str, codec: str) -> str:
    """Return SQL that raises -881 if a text is too long. The result contains `sql` once."""
    size = "strlen" if codec in ("utf-8", "utf8") else "length"
    body = f"CASE WHEN {size}(_ifx_v) > {LONGEST_TEXT} THEN {_TOO_LONG} ELSE _ifx_v END"
    return f"list_transform([{sql}], {lambda_sql('_ifx_v', body)})[1]"


def bounded_count(ex: TypedExpression) -> tuple[str, int]:
    """Return SQL of a number of characters to create, and its maximum."""
    if ex.is_number_literal and ex.sql.isdigit():
        if int(ex.sql) > LONGEST_TEXT:
            raise SqlError(-881)
        return ex.sql, int(ex.sql)
    body = f"CASE WHEN _ifx_v > {LONGEST_TEXT} THEN {_TOO_LONG} ELSE _ifx_v END"
    return (
        f"CAST(list_transform([CAST({ex.sql} AS BIGINT)], {lambda_sql('_ifx_v', body)})[1] AS INTEGER)",
        LONGEST_TEXT,
    )
