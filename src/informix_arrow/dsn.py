"""Where to connect and how: keywords, ``informix://`` URLs and the environment become one set of parameters.

Precedence, highest first: a keyword of :func:`informix_arrow.connect`; the URL; the environment
(``INFORMIXSERVER``, ``CLIENT_LOCALE``, ``DB_LOCALE``, ``FET_BUF_SIZE``); the default of :class:`Parameters`.
A key that nobody knows is an error with a suggestion, never ignored. Passwords appear in no repr and no error
text.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from .wire.errors import InterfaceError, NotSupportedError

MIN_FETCH_BUFFER = 4096
MAX_FETCH_BUFFER = (1 << 31) - 1


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
    encoding: str = ""  # Python codec of text on the wire; "" = the database's code set
    application: str = "informix-arrow"  # shown by onstat -g ses
    env: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # session variables, sent at login


_KEYS = tuple(f.name for f in fields(Parameters))
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
    "fet_buf_size": "fetch_buffer_size",
    "login_timeout": "connect_timeout",
}
#: Environment variables read when the parameter is given nowhere else.
_ENVIRONMENT = {
    "server": "INFORMIXSERVER",
    "client_locale": "CLIENT_LOCALE",
    "db_locale": "DB_LOCALE",
    "fetch_buffer_size": "FET_BUF_SIZE",
}


def resolve(
    url: str | None = None, environ: Mapping[str, str] | None = None, /, **keywords: object
) -> Parameters:
    """Make one set of parameters from a URL, keywords and the environment.

    Parameters
    ----------
    url
        ``informix://[user[:password]@]host[:port][/database][?key=value&...]``, all parts percent-decoded, an
        IPv6 host in square brackets. None when keywords say everything.
    environ
        The environment, ``os.environ`` by default.
    keywords
        Fields of :class:`Parameters`; None means "not given".

    Raises
    ------
    InterfaceError
        Unknown key, malformed URL, missing host, value out of range. The text never holds the password.
    NotSupportedError
        A form of connection string that is known but not yet supported.
    """
    given: dict[str, object] = {} if url is None else _parse_url(url)
    for key, value in keywords.items():
        if value is not None:
            given[_known(key, "connect()")] = value
    env = os.environ if environ is None else environ
    for key, name in _ENVIRONMENT.items():
        if key not in given and env.get(name):
            given[key] = env[name]
            # An old set-up's FET_BUF_SIZE may be below our minimum: raised, for it was not meant for us.
            if key == "fetch_buffer_size" and env[name].isdecimal():
                given[key] = min(max(int(env[name]), MIN_FETCH_BUFFER), MAX_FETCH_BUFFER)
    checked = {key: _CHECKS[key](key, value) for key, value in given.items()}
    if not checked.get("host"):
        raise InterfaceError(
            "no host given: pass host=... or a URL informix://user:password@host:9088/database"
        )
    return Parameters(**checked)


def _is_known(key: str) -> bool:
    return key.lower() in _ALIASES or key.lower() in _KEYS


def _known(key: str, where: str) -> str:
    name = _ALIASES.get(key.lower(), key.lower())
    if name in _KEYS:
        return name
    close = difflib.get_close_matches(name, [*_KEYS, *_ALIASES], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(_KEYS)}"
    raise InterfaceError(f"unknown connection parameter {key!r} in {where}{hint}")


def _parse_url(url: str) -> dict[str, object]:
    scheme = url.partition(":")[0].lower()
    if scheme in ("informixs", "informix+onsocssl"):
        raise NotSupportedError(
            f"{scheme}:// (TLS) is not supported yet; use informix:// on a trusted network"
        )
    if scheme == "jdbc":
        raise NotSupportedError(
            "JDBC URLs are not supported yet; write informix://user:password@host:port/database?server=..."
        )
    if not url.lower().startswith("informix://"):
        if "=" in url and ";" in url:
            raise NotSupportedError(
                "ODBC connection strings are not supported yet; "
                "write informix://user:password@host:port/database?server=..."
            )
        raise InterfaceError(
            "not an informix:// URL; write informix://user:password@host:9088/database?server=..."
        )
    if "#" in url:
        raise InterfaceError("a '#' in a connection URL must be written %23")
    parts = _split(url)
    if parts is None:
        raise InterfaceError(
            "malformed connection URL: the port must be a number, an IPv6 host in [ ], and '/', '?', '@' and "
            "':' inside a user, a password or a database name percent-encoded"
        )
    host, port = parts.hostname, parts.port
    # urlsplit lower-cases the host; fine for names and addresses alike.
    found: dict[str, object] = {}
    if host:
        found["host"] = unquote(host)
    if port is not None:
        found["port"] = port
    if parts.username is not None:
        found["user"] = unquote(parts.username)
    if parts.password is not None:
        found["password"] = unquote(parts.password)
    database = unquote(parts.path[1:])
    if database:
        found["database"] = database
    environment: dict[str, str] = {}
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key.startswith("env."):
            environment[key[4:]] = value
            continue
        name = _known(key, "the URL")
        if name in found:
            raise InterfaceError(f"the URL gives {name!r} twice")
        found[name] = value
    if environment:
        found["env"] = environment
    return found


def _split(url: str) -> SplitResult | None:
    """The URL's parts, None when it is malformed.

    Raised is nothing: urlsplit quotes what it dislikes, which may be the password, and an exception keeps the
    one that it was raised in. For the same reason a bare ``@`` behind the host is refused: what stands before
    it is most likely the end of a password that holds a ``/`` or a ``?``, and would be shown as the name of a
    database or a key.
    """
    if any(character < " " for character in url):
        return None  # urlsplit would drop some of them in silence
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    if "@" in parts.path:
        return None
    keys = [key for key, _ in parse_qsl(parts.query, keep_blank_values=True)]
    foreign = not all(key.startswith("env.") or _is_known(key) for key in keys)
    if foreign and "@" in parts.query and "@" not in parts.netloc:
        return None
    return parts


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
        if isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value):
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


def _pairs(key: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise InterfaceError(f"{key} must be a mapping of session variables, such as {{'DBDATE': 'Y4MD-'}}")
    return MappingProxyType(
        {_text(key, name): _text(f"{key}[{name!r}]", text) for name, text in value.items()}
    )


_CHECKS: dict[str, Callable[[str, object], Any]] = {
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
    "encoding": _codec,
    "application": _text,
    "env": _pairs,
}
