"""The options of reads, and their form for the operations."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, TypedDict, cast

import pyarrow as pa

from ..dsn import Parameters
from ..dsn.parameters import CHECKS, check_value
from ..operations.execute import run_statement
from ..operations.fetch import ReadOptions, ServerCursor
from ..operations.io_steps import Exchange
from ..operations.session import Session
from ..rows.parameters import Values, parse
from ..wire.errors import InterfaceError
from ..wire.plan_ops import TypeOptions


class ReadKeywords(TypedDict, total=False):
    """The options of :meth:`Connection.query`, for the functions that pass them on."""

    batch_bytes: int
    batch_rows: int
    decimals: Literal["decimal128", "float64"]
    floating_decimals: Literal["float64", "string"] | pa.Decimal128Type
    char_padding: Literal["strip", "keep"]
    strings: Literal["utf8", "large", "view", "dictionary"]
    intervals: Literal["native", "month_day_nano"]
    lobs: Literal["inline", "skip"]
    nested: Literal["arrow", "text"]
    encoding_errors: Literal["strict", "replace", "binary"] | None
    integer_aggregates: bool
    json: Literal["text", "arrow"]
    bson: Literal["binary", "json"]
    isolation: str | None
    lock_wait: int | None


def start_query(
    session: Session, settings: Parameters, sql: str, parameters: Values, **options: Any
) -> Exchange[ServerCursor]:
    """Return the operation behind :meth:`Connection.query`. The arguments are checked at once.

    ``settings`` are those of the connection, ``options`` those of :class:`ReadKeywords`.
    """
    fetch_bytes, errors = settings.fetch_buffer_size, settings.encoding_errors
    try:
        read = _cached_options(fetch_bytes, errors, **options)
    except TypeError:  # an unhashable value
        read = _read_options(fetch_bytes, errors, **options)
    statement = parse(sql)
    exchange = run_statement(session, statement, statement.values(parameters), read, need_rows=True)
    return cast("Exchange[ServerCursor]", exchange)  # a statement without rows is refused


def _read_options(
    fetch_bytes: int,
    default_errors: str,
    *,
    batch_bytes: int = 16 << 20,
    batch_rows: int = 1 << 20,
    encoding_errors: str | None = None,
    isolation: str | None = None,
    lock_wait: int | None = None,
    **options: Any,
) -> ReadOptions:
    """Return the checked options of one query. Raises ``InterfaceError`` for an invalid value."""
    if options.get("lobs") == "lazy":
        raise InterfaceError(
            'lobs="lazy" cannot be used with Arrow columns. Use cursor.lobs = "lazy" and fetch rows, or '
            'lobs="inline", which streams the contents batch by batch.'
        )
    types = type_options(default_errors, encoding_errors=encoding_errors, **options)
    _check_size("batch_bytes", batch_bytes, 4096)
    _check_size("batch_rows", batch_rows, 1)
    return ReadOptions(
        types,
        batch_bytes,
        batch_rows,
        fetch_bytes=fetch_bytes,
        isolation=CHECKS["isolation"]("isolation", isolation) if isolation is not None else "",
        lock_wait=None if lock_wait is None else check_value("lock_wait", lock_wait),
    )


#: Cached, because programs use few combinations of options. ``typed``, because True is not 1 here.
_cached_options = lru_cache(maxsize=256, typed=True)(_read_options)


def type_options(default_errors: str, *, encoding_errors: str | None, **options: Any) -> TypeOptions:
    """Return the checked options for reading types. Raises ``InterfaceError`` for an invalid value.

    ``default_errors`` is the connection's ``encoding_errors``, used if there is none.
    """
    truth = options.get("integer_aggregates", False)
    if truth is not True and truth is not False:
        raise InterfaceError(f"integer_aggregates must be True or False, got {truth!r}.")
    unset = encoding_errors is None or encoding_errors == ""
    options["encoding_errors"] = default_errors if unset else encoding_errors
    try:
        return TypeOptions(**options)
    except ValueError as error:
        raise InterfaceError(str(error)) from None


def _check_size(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**63:
        raise InterfaceError(f"{name} must be a whole number of at least {least}, got {value!r}.")
