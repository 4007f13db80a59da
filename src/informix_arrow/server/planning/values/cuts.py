"""Texts measured and cut in bytes of the database's code set."""

from __future__ import annotations

from ....wire.code_sets import is_multibyte
from ....wire.types import ColumnType
from ...types.names import function, text
from ...types.result_types import PADDED


def cut(value: str, t: ColumnType, codec: str) -> str:
    """A literal as a column of type `t` keeps it."""
    encoded = value.encode(codec, "replace")
    if len(encoded) > t.content_width:
        value = encoded[: t.content_width].decode(codec, "ignore")
    return value.rstrip(" ") if t.code in PADDED else value


def byte_length(sql: str, codec: str) -> str:
    """SQL that counts a text's bytes in the code set."""
    if codec in ("utf-8", "utf8"):
        return f"strlen({sql})"
    return f"_ifx_bytes({sql}, {text(codec)})" if is_multibyte(codec) else f"length({sql})"


def cut_sql(sql: str, width: int, codec: str) -> str:
    """SQL that cuts a text to `width` bytes of the code set, never inside a character."""
    if codec not in ("utf-8", "utf8"):
        return f"_ifx_cut({sql}, {width}, {text(codec)})" if is_multibyte(codec) else f"left({sql}, {width})"
    return (
        f"(CASE WHEN strlen({sql}) <= {width} THEN {sql} ELSE left({sql}, list_max(list_filter("
        f"range(0, {width + 1}), {function('i', f'strlen(left({sql}, i)) <= {width}')}))) END)"
    )
