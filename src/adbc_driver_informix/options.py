"""Options of the shared library's handles: names, values, and what each kind of handle takes.

A caller passes an option as text, bytes, an integer or a float, and asks for it as any of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn, TypeAlias

from informix_arrow.dsn.parameters import is_parameter

from .status import AdbcError, Status

Value: TypeAlias = str | bytes | int | float | None
"""The value of an option as it is set; None removes the option."""
Kind: TypeAlias = Literal["string", "bytes", "int", "double"]
"""The type in which an option is asked for."""

URI = "uri"
PASSWORD = "password"
AUTOCOMMIT = "adbc.connection.autocommit"
READ_ONLY = "adbc.connection.readonly"
CURRENT_CATALOG = "adbc.connection.catalog"
CURRENT_DB_SCHEMA = "adbc.connection.db_schema"
ISOLATION_LEVEL = "adbc.connection.transaction.isolation_level"
TARGET_TABLE = "adbc.ingest.target_table"
TARGET_CATALOG = "adbc.ingest.target_catalog"
TARGET_DB_SCHEMA = "adbc.ingest.target_db_schema"
INGEST_MODE = "adbc.ingest.mode"
INGEST_TEMPORARY = "adbc.ingest.temporary"
INCREMENTAL = "adbc.statement.exec.incremental"

ISOLATION_LEVELS = {
    "adbc.connection.transaction.isolation.default": "",
    "adbc.connection.transaction.isolation.read_uncommitted": "dirty",
    "adbc.connection.transaction.isolation.read_committed": "committed",
    # Informix's Repeatable Read locks what was read, ranges of indexes too: it is serializable.
    "adbc.connection.transaction.isolation.repeatable_read": "repeatable",
    "adbc.connection.transaction.isolation.serializable": "repeatable",
}
INGEST_MODES = {
    "adbc.ingest.mode.create": "create",
    "adbc.ingest.mode.append": "append",
    "adbc.ingest.mode.replace": "replace",
    "adbc.ingest.mode.create_append": "create_append",
}


def boolean(key: str, value: Value) -> bool:
    """Return the value of a switch, which ADBC writes as ``true`` or ``false``."""
    if value in ("true", "false"):
        return value == "true"
    if value in (0, 1):  # an integer option
        return bool(value)
    raise AdbcError(Status.INVALID_ARGUMENT, f"The option {key!r} must be 'true' or 'false', got {value!r}.")


def text(key: str, value: Value) -> str:
    """Return the value of an option that is text."""
    if isinstance(value, bytes):
        value = value.decode()
    if not isinstance(value, str):
        raise AdbcError(Status.INVALID_ARGUMENT, f"The option {key!r} must be text, got {value!r}.")
    return value


def whole_number(key: str, value: Value) -> int:
    """Return the value of an option that is an integer."""
    try:
        if isinstance(value, float) and not value.is_integer():
            raise ValueError
        return int(value or 0)
    except ValueError:
        raise AdbcError(
            Status.INVALID_ARGUMENT, f"The option {key!r} must be a whole number, got {value!r}."
        ) from None


def number(key: str, value: Value) -> float:
    """Return the value of an option that is a number."""
    try:
        return float(value or 0)
    except ValueError:
        raise AdbcError(
            Status.INVALID_ARGUMENT, f"The option {key!r} must be a number, got {value!r}."
        ) from None


def one_of(names: Mapping[str, str]) -> Callable[[str, Value], str]:
    """Return a check that a value is one of some names."""

    def check(key: str, value: Value) -> str:
        if value in names:
            return str(value)
        raise AdbcError(
            Status.INVALID_ARGUMENT, f"The option {key!r} must be one of {', '.join(names)}, got {value!r}."
        )

    return check


#: Options of statements, with the check of their values. Those of reads are keywords of Connection.query().
STATEMENT_OPTIONS: Mapping[str, Callable[[str, Value], Any]] = {
    TARGET_TABLE: text,
    TARGET_CATALOG: text,
    TARGET_DB_SCHEMA: text,
    INGEST_MODE: one_of(INGEST_MODES),
    INGEST_TEMPORARY: boolean,
    INCREMENTAL: boolean,
    "adbc.informix.timeout": number,
    "adbc.informix.inexact": text,
    "adbc.informix.partition_on": text,
    "adbc.informix.partition_num": whole_number,
    "adbc.informix.partition_by": text,
    "adbc.informix.batch_bytes": whole_number,
    "adbc.informix.batch_rows": whole_number,
    **{
        f"adbc.informix.{name}": text
        for name in (
            "decimals",
            "floating_decimals",
            "char_padding",
            "strings",
            "intervals",
            "lobs",
            "nested",
            "encoding_errors",
            "json",
            "bson",
        )
    },
    "adbc.informix.integer_aggregates": boolean,
}
#: Those that cursors do not have as attributes.
READ_OPTIONS = ("batch_bytes", "batch_rows", "decimals", "floating_decimals", "strings", "json")
CURSOR_OPTIONS = (
    "char_padding", "intervals", "lobs", "nested", "encoding_errors", "bson", "integer_aggregates",
)  # fmt: skip


def is_connect_keyword(key: str) -> bool:
    """Return whether an option is a keyword of ``informix_arrow.connect()``, ``uri`` or ``env.NAME``."""
    return key == URI or (key.startswith("env.") and len(key) > len("env.")) or is_parameter(key)


def connect_keywords(options: Mapping[str, Value]) -> dict[str, Any]:
    """Return options of :func:`is_connect_keyword`, without the URI, as keywords."""
    keywords: dict[str, Any] = {}
    env: dict[str, Value] = {}
    for key, value in options.items():
        if key.startswith("env."):
            env[key.removeprefix("env.")] = value
        elif key == "username":
            keywords["user"] = value
        elif key != URI:
            keywords[key] = value
    return {**keywords, "env": env} if env else keywords


def converted(key: str, value: object, kind: Kind) -> bytes | int | float:
    """Return the value of an option in the type in which it is asked for. Text ends with a NUL."""
    if kind in ("string", "bytes"):
        if isinstance(value, bytes):
            raw = value
        else:
            raw = (("true" if value else "false") if isinstance(value, bool) else str(value)).encode()
        return raw + b"\0" if kind == "string" else raw
    assert isinstance(value, str | bytes | int | float)
    return whole_number(key, value) if kind == "int" else number(key, value)


def refuse(key: str, handle: str) -> NoReturn:
    """Raise the error for setting an option that is not known."""
    raise AdbcError(Status.NOT_IMPLEMENTED, f"A {handle} has no option {key!r}. Check its name.")


def not_found(key: str, handle: str) -> NoReturn:
    """Raise the error for reading an option that is not known, or not set."""
    raise AdbcError(Status.NOT_FOUND, f"The {handle} has no value for the option {key!r}.")
