"""SQL that measures and cuts texts in bytes of the database's code set."""

from __future__ import annotations

from ....wire.code_sets import is_multibyte
from ....wire.types import ColumnType
from ...types.quoting import lambda_sql, quote_string
from ...types.result_types import PADDED


def truncate_literal(value: str, t: ColumnType, codec: str) -> str:
    """Truncate a literal to a column of type `t`."""
    encoded = value.encode(codec, "replace")
    if len(encoded) > t.content_width:
        value = encoded[: t.content_width].decode(codec, "ignore")
    return value.rstrip(" ") if t.code in PADDED else value


_MAX_REPEATED_CHARS = 200
"""Maximum length of SQL that may be repeated three times."""


def has_wide_characters(codec: str) -> bool:
    """Return whether some characters of the code set take several bytes."""
    return codec in ("utf-8", "utf8") or is_multibyte(codec)


def slice_sql(sql: str, first: int, size: int, codec: str) -> str:
    """Return SQL of `text[first, last]` in bytes. Blanks replace cut characters."""
    by_characters = f"substr({sql}, {first}, {size})"
    if not has_wide_characters(codec):
        return by_characters
    by_bytes = f"_ifx_slice({sql}, {first}, {size}, {quote_string(codec)})"
    if len(sql) > _MAX_REPEATED_CHARS:
        return by_bytes
    return f"(CASE WHEN strlen({sql}) = length({sql}) THEN {by_characters} ELSE {by_bytes} END)"


def padded_sql(sql: str, width: int, codec: str) -> str:
    """Return SQL of a text padded with blanks to `width` bytes of the code set."""
    if not has_wide_characters(codec):
        return f"rpad({sql}, {width}, ' ')"
    return f"({sql} || repeat(' ', greatest(0, {width} - {byte_length(sql, codec)})))"


def byte_length(sql: str, codec: str) -> str:
    """Return SQL of a text's length in bytes of the code set."""
    if codec in ("utf-8", "utf8"):
        return f"strlen({sql})"
    return f"_ifx_bytes({sql}, {quote_string(codec)})" if is_multibyte(codec) else f"length({sql})"


def truncate_without_lambda_sql(sql: str, width: int, codec: str) -> str:
    """Return SQL like `truncate_sql` without a lambda, which DuckDB rejects in a CHECK. Slower if many texts are
    cut."""
    if not has_wide_characters(codec):
        return f"left({sql}, {width})"
    cut = f"_ifx_cut({sql}, {width}, {quote_string(codec)})"
    if len(sql) > _MAX_REPEATED_CHARS:
        return cut
    size = f"strlen({sql})" if codec in ("utf-8", "utf8") else f"4 * length({sql})"
    return f"(CASE WHEN {size} <= {width} THEN {sql} ELSE {cut} END)"


def truncate_sql(sql: str, width: int, codec: str) -> str:
    """Return SQL that cuts a text to `width` bytes of the code set, never inside a character."""
    if codec not in ("utf-8", "utf8"):
        return (
            f"_ifx_cut({sql}, {width}, {quote_string(codec)})"
            if is_multibyte(codec)
            else f"left({sql}, {width})"
        )
    if "SELECT" in sql:  # DuckDB rejects lambdas over a subquery
        return f"_ifx_cut({sql}, {width}, {quote_string(codec)})"
    return (
        f"(CASE WHEN strlen({sql}) <= {width} THEN {sql} ELSE left({sql}, list_max(list_filter("
        f"range(0, {width + 1}), {lambda_sql('i', f'strlen(left({sql}, i)) <= {width}')}))) END)"
    )
