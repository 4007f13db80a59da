"""Values and functions as DuckDB SQL. Names are `wire.quoting.double_quoted`."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from ...wire.quoting import double_quoted


def quote_string(value: str) -> str:
    """Quote a DuckDB string literal."""
    return "'" + value.replace("'", "''") + "'"


def value_sql(value: object) -> str:
    """Return a storage value, also bytes, lists and dicts, as a DuckDB literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, Decimal)):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, dt.time):
        return f"TIME '{value.isoformat()}'"
    if isinstance(value, list):
        return f"list_value({', '.join(map(value_sql, value))})"
    if isinstance(value, dict):
        return f"struct_pack({', '.join(f'{double_quoted(k)} := {value_sql(v)}' for k, v in value.items())})"
    return quote_string(str(value))


def lambda_sql(variable: str, body: str) -> str:
    """Return DuckDB SQL for a function of one variable."""
    return f"lambda {variable}: {body}"
