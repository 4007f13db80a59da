"""The parameters of a connection: their names, what may stand for them, and what they may be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from ..wire.errors import InterfaceError

MIN_FETCH_BUFFER = 4096
MAX_FETCH_BUFFER = (1 << 31) - 1


#: Values of ``isolation`` and what SET ISOLATION TO calls them.
ISOLATIONS = {
    "dirty": "DIRTY READ",
    "committed": "COMMITTED READ",
    "last committed": "COMMITTED READ LAST COMMITTED",
    "cursor stability": "CURSOR STABILITY",
    "repeatable": "REPEATABLE READ",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener: where it is, what the server behind it is called, and whether it speaks TLS."""

    host: str
    port: int
    server: str
    tls: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """Everything that :func:`informix_arrow.connect` needs, checked and with defaults filled in."""

    host: str
    port: int = 9088  # TCP port, 1..65535
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""  # "" = open none
    server: str = ""  # DBSERVERNAME or an alias; some servers take none
    autocommit: bool = False
    connect_timeout: float | None = 15.0  # seconds for TCP, then for the login's answer; None = no limit
    read_timeout: float | None = None  # seconds of silence while an answer is awaited; None = wait for ever
    fetch_buffer_size: int = 1 << 20  # bytes of tuples in one fetch reply, 4096..2147483647
    client_locale: str = "en_US.utf8"  # CLIENT_LOCALE of the first login
    db_locale: str = ""  # DB_LOCALE; "" = ask the database
    isolation: str = ""  # one of ISOLATIONS; "" = as the server does by default
    lock_wait: int | None = (
        None  # seconds to wait for a lock; 0 = fail at once, -1 = for ever; None = server's default
    )
    encoding: str = ""  # Python codec of text on the wire; "" = the database's code set
    encoding_errors: str = "strict"  # bytes that are no text: "strict", "replace" or "binary"
    application: str = "informix-arrow"  # shown by onstat -g ses
    env: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # session variables, sent at login
    sqlhosts: str = ""  # path of the file that server names are looked up in; "" = as the environment says
    endpoints: tuple[
        Endpoint, ...
    ] = ()  # the members of a server group in the order to try; () = host and port


_KEYS = tuple(f.name for f in fields(Parameters) if f.name != "endpoints")
#: Names that people bring along from other drivers (lower case) and ours.
_ALIASES = {
    "hostname": "host",
    "service": "port",
    "uid": "user",
    "username": "user",
    "pwd": "password",
    "db": "database",
    "dbname": "database",
    "informixserver": "server",
    "informixsqlhosts": "sqlhosts",
    "fet_buf_size": "fetch_buffer_size",
    "login_timeout": "connect_timeout",
}


def is_known(key: str) -> bool:
    """Whether a key of any case is a parameter or another name of one."""
    return key.lower() in _ALIASES or key.lower() in _KEYS


def known(key: str, where: str, also: Mapping[str, object] = MappingProxyType({})) -> str:
    """The parameter that ``key`` means; ``InterfaceError`` with a suggestion for one that nobody knows.

    ``also`` holds what is known besides in the form of connection string at hand, for the suggestion.
    """
    name = _ALIASES.get(key.lower(), key.lower())
    if name in _KEYS:
        return name
    close = difflib.get_close_matches(name, [*_KEYS, *_ALIASES, *also], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(_KEYS)}"
    raise InterfaceError(f"unknown connection parameter {key!r} in {where}{hint}")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InterfaceError(f"{key} must be text, got {type(value).__name__}")
    if "\0" in value:
        raise InterfaceError(f"{key} must not contain a NUL character")
    return value


def _codec(key: str, value: object) -> str:
    name = _text(key, value)
    if not name:
        return ""
    try:
        ascii_stays = "Az09 '?\n".encode(name) == b"Az09 '?\n"
    except LookupError:
        raise InterfaceError(f"{key}: Python knows no codec {name!r}") from None
    if not ascii_stays:
        raise InterfaceError(f"{key}: {name!r} changes ASCII, which no code set of Informix does")
    return name


def _encoding_errors(key: str, value: object) -> str:
    allowed = ("strict", "replace", "binary")
    if value not in allowed:
        raise InterfaceError(f"{key} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return _text(key, value)


def _flag(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = value.lower() if isinstance(value, str) else ""
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise InterfaceError(f"{key} must be true or false, got {value!r}")


def _integer(low: int, high: int) -> Callable[[str, object], int]:
    def check(key: str, value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]+\s*", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise InterfaceError(f"{key} must be a whole number {low}..{high}, got {value!r}")
        return value

    return check


def _seconds(key: str, value: object) -> float | None:
    if isinstance(value, str):
        if value.lower() in ("", "none"):
            return None
        try:
            value = float(value)
        except ValueError:
            value = -1
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise InterfaceError(f"{key} must be a positive number of seconds (leave it out for no limit)")
    return float(value)


def _isolation(key: str, value: object) -> str:
    text = " ".join(_text(key, value).lower().replace("_", " ").split()).removesuffix(" read")
    if text and text not in ISOLATIONS:
        raise InterfaceError(f"{key} must be one of {', '.join(map(repr, ISOLATIONS))}, got {value!r}")
    return text


def _pairs(key: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise InterfaceError(f"{key} must be a mapping of session variables, such as {{'DBDATE': 'Y4MD-'}}")
    return MappingProxyType(
        {_text(key, name): _text(f"{key}[{name!r}]", text) for name, text in value.items()}
    )


CHECKS: dict[str, Callable[[str, object], Any]] = {
    "host": _text,
    "port": _integer(1, 65535),
    "user": _text,
    "password": _text,
    "database": _text,
    "server": _text,
    "autocommit": _flag,
    "connect_timeout": _seconds,
    "read_timeout": _seconds,
    "fetch_buffer_size": _integer(MIN_FETCH_BUFFER, MAX_FETCH_BUFFER),
    "client_locale": _text,
    "db_locale": _text,
    "isolation": _isolation,
    "lock_wait": _integer(-1, 32767),
    "encoding": _codec,
    "encoding_errors": _encoding_errors,
    "application": _text,
    "env": _pairs,
    "sqlhosts": _text,
}
"""How the value of each parameter is checked; each raises ``InterfaceError``."""
