"""The parameters of a connection: names, aliases and allowed values."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ssl import SSLContext
from types import MappingProxyType
from typing import Any

from ..wire.assignment import Inexact, inexact_option
from ..wire.errors import InterfaceError

MIN_FETCH_BUFFER = 4096
MAX_FETCH_BUFFER = (1 << 31) - 1


#: Values of ``isolation`` and their names in SET ISOLATION TO.
ISOLATIONS = {
    "dirty": "DIRTY READ",
    "committed": "COMMITTED READ",
    "last committed": "COMMITTED READ LAST COMMITTED",
    "cursor stability": "CURSOR STABILITY",
    "repeatable": "REPEATABLE READ",
}


#: Answers a PAM login: ``(prompt, echo) -> answer``; echo is False if the answer must not be visible.
Pam = Callable[[str, bool], str]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener: its address, its server's name, and whether it uses TLS."""

    host: str
    port: int
    server: str
    tls: bool = False


# Without slots: all fields are set at once in the instance's dictionary, which speeds up each login.
@dataclass(frozen=True)
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
    read_timeout: float | None = None  # seconds of silence while a reply is awaited; None = wait for ever
    fetch_buffer_size: int = 1 << 20  # bytes of tuples in one fetch reply, 4096..2147483647
    max_reply_bytes: int = (
        256 << 20
    )  # of one reply beyond batches and contents of large objects, 1 MiB..1 GiB
    client_locale: str = "en_US.utf8"  # CLIENT_LOCALE of the first login
    db_locale: str = ""  # DB_LOCALE; "" = ask the database
    isolation: str = ""  # one of ISOLATIONS; "" = the server's default
    lock_wait: int | None = (
        None  # seconds to wait for a lock; 0 = fail at once, -1 = for ever; None = server's default
    )
    statement_cache_size: int = 64  # prepared statements kept for their next execution; 0 = none
    fetch_window_bytes: int = 64 << 20  # of fetch replies on their way, to 1 GiB; 0 = one fetch at a time
    lob_window_bytes: int = (
        4 << 20
    )  # of large objects requested or sent ahead of their replies, to 256 MiB; 0 = each step waits for its reply
    encoding: str = ""  # Python codec of text on the wire; "" = the database's code set
    encoding_errors: str = "strict"  # bytes that are not valid text: "strict", "replace" or "binary"
    inexact: Inexact = "error"  # digits that a column cannot hold: "error", "round" or "truncate"
    log_parameters: bool = False  # observers and logs see values: parameters, and literals in statements
    trace: str = ""  # file to which the wire messages are appended; "" = none
    application: str = "informix-arrow"  # shown by onstat -g ses
    env: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # session variables, sent at login
    sqlhosts: str = ""  # path of the file for looking up server names; "" = from the environment
    endpoints: tuple[
        Endpoint, ...
    ] = ()  # the members of a server group in the order to try; () = host and port
    login_timeout: float | None = 30.0  # seconds to open the session in total; None = no limit
    login_ahead: bool = (
        True  # to a server known from an earlier login: negotiate and open the database in one flight
    )
    call_timeout: float | None = None  # seconds for each call that talks to the server; None = no limit
    keepalive: bool | float = True  # TCP keepalive; a number = seconds of silence before the first probe
    pam: Pam | None = field(default=None, repr=False)  # answers the questions of a PAM login
    tls: bool = False  # TLS from the first byte
    tls_ca: str = ""  # file of trusted certificates, PEM or PKCS#12; "" = the system's
    tls_ca_password: str = field(default="", repr=False)
    tls_cert: str = ""  # the client's certificate, PEM
    tls_key: str = ""  # its key, PEM; "" = in the same file
    tls_key_password: str = field(default="", repr=False)
    tls_pkcs12: str = ""  # the client's certificate and key
    tls_pkcs12_password: str = field(default="", repr=False)
    tls_context: SSLContext | None = field(default=None, repr=False)  # instead of the files
    tls_verify: bool = True  # check the server's certificate and its name
    tls_hostname: str = ""  # the name that the certificate must have; "" = host

    @classmethod
    def of(cls, checked: Mapping[str, Any]) -> Parameters:
        """Return parameters with these values, ``host`` among them, and defaults, as ``Parameters(**checked)``.

        It takes a tenth of the time. Unknown names are not refused.
        """
        parameters = object.__new__(cls)
        parameters.__dict__.update(_DEFAULTS)
        parameters.__dict__.update(checked)
        return parameters

    def with_password(self, password: str) -> Parameters:
        """Return the same parameters with another ``password``; dataclasses.replace() would take ten times as long."""
        copy = object.__new__(Parameters)
        object.__setattr__(copy, "__dict__", {**self.__dict__, "password": password})
        return copy

    @property
    def delimident(self) -> bool:
        """True if double quotes enclose names in the session's statements, not strings."""
        return self.env.get("DELIMIDENT", "n").lower() not in ("n", "no", "0", "")


_DEFAULTS = {name: value for name, value in Parameters("").__dict__.items() if name != "host"}
_KEYS = tuple(f.name for f in fields(Parameters) if f.name != "endpoints")
_KNOWN_KEYS = frozenset(_KEYS)
_TLS = tuple(key for key in _KEYS if key.startswith("tls_"))
_ABOUT_TLS = frozenset(_TLS)
#: Names in other drivers (lower case) and ours.
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
    "ssl": "tls",
    "sslrootcert": "tls_ca",
    "ssl_context": "tls_context",
}


def is_parameter(key: str) -> bool:
    """Return whether a key, in any case, is a parameter or an alias of one."""
    return key.lower() in _ALIASES or key.lower() in _KEYS


def resolve_name(key: str, where: str, also: Mapping[str, object] = MappingProxyType({})) -> str:
    """Return the parameter that ``key`` means. Raises ``InterfaceError`` with a suggestion for an unknown one.

    ``also`` holds other known keys of this form of connection string, for the suggestion.
    """
    if key in _KNOWN_KEYS:
        return key
    name = _ALIASES.get(key.lower(), key.lower())
    if name in _KNOWN_KEYS:
        return name
    if name == "timeout":
        raise InterfaceError(
            f"{key!r} in {where} is ambiguous. Use connect_timeout (until TCP and TLS are connected), "
            "login_timeout (until the connection is usable), call_timeout (for each call) or read_timeout "
            "(while the server is silent)."
        )
    close = difflib.get_close_matches(name, [*_KEYS, *_ALIASES, *also], n=1)
    hint = f". Did you mean {close[0]!r}?" if close else f". The parameters are {', '.join(_KEYS)}."
    raise InterfaceError(f"Unknown connection parameter {key!r} in {where}{hint}")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InterfaceError(f"{key} must be text, got {type(value).__name__}.")
    if "\0" in value:
        raise InterfaceError(f"{key} must not contain a NUL character.")
    return value


def _codec(key: str, value: object) -> str:
    name = _text(key, value)
    if not name:
        return ""
    try:
        ascii_stays = "Az09 '?\n".encode(name) == b"Az09 '?\n"
    except LookupError:
        raise InterfaceError(f"{key}: Python knows no codec {name!r}.") from None
    if not ascii_stays:
        raise InterfaceError(f"{key}: {name!r} changes ASCII characters, which no code set of Informix does.")
    return name


def _encoding_errors(key: str, value: object) -> str:
    allowed = ("strict", "replace", "binary")
    if value not in allowed:
        raise InterfaceError(f"{key} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")
    return _text(key, value)


def _flag(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = value.lower() if isinstance(value, str) else ""
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise InterfaceError(f"{key} must be true or false, got {value!r}.")


def _integer(low: int, high: int) -> Callable[[str, object], int]:
    def check(key: str, value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]+\s*", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise InterfaceError(f"{key} must be a whole number {low}..{high}, got {value!r}.")
        return value

    return check


def _seconds(key: str, value: object) -> float | None:
    original = value
    if isinstance(value, str):
        if value.lower() in ("", "none"):
            return None
        try:
            value = float(value)
        except ValueError:
            value = -1
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise InterfaceError(
            f"{key} must be a positive number of seconds (leave it out for no limit), got {original!r}."
        )
    return float(value)


def _keepalive(key: str, value: object) -> bool | float:
    if isinstance(value, bool | str):
        try:
            return _flag(key, value)
        except InterfaceError:
            if isinstance(value, bool):
                raise
    seconds = _seconds(key, value)
    if seconds is not None and seconds >= 1 << 31:
        raise InterfaceError(
            f"{key} must be true, false or a number of seconds below {1 << 31}, got {value!r}."
        )
    return seconds if seconds is not None else True


def _pam(key: str, value: object) -> Pam:
    if not callable(value):
        raise InterfaceError(f"{key} must be a function of (prompt, echo) that returns the answer.")
    callback: Pam = value
    return callback


def _context(key: str, value: object) -> SSLContext:
    if not isinstance(value, SSLContext):
        raise InterfaceError(f"{key} must be an ssl.SSLContext, got {type(value).__name__}.")
    return value


def _path(key: str, value: object) -> str:
    return _text(key, os.fspath(value) if isinstance(value, os.PathLike) else value)


def _isolation(key: str, value: object) -> str:
    text = " ".join(_text(key, value).lower().replace("_", " ").split()).removesuffix(" read")
    if text and text not in ISOLATIONS:
        raise InterfaceError(f"{key} must be one of {', '.join(map(repr, ISOLATIONS))}, got {value!r}.")
    return text


def _pairs(key: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise InterfaceError(f"{key} must be a mapping of session variables, such as {{'DBDATE': 'Y4MD-'}}.")
    return MappingProxyType(
        {_text(key, name): _text(f"{key}[{name!r}]", text) for name, text in value.items()}
    )


def normalize_tls(settings: dict[str, Any]) -> None:
    """Set ``tls`` if another TLS parameter is given. Raises ``InterfaceError`` for contradictory ones."""
    if _ABOUT_TLS.isdisjoint(settings):
        return
    tls_keys = [key for key in _TLS if settings.get(key) not in (None, "")]
    if tls_keys and settings.setdefault("tls", True) is False:
        raise InterfaceError(
            f"{tls_keys[0]} is given, but TLS is switched off by tls=False or a plain protocol. Remove one "
            "of the two."
        )
    if (
        settings.get("tls_context") is not None
        and len(tls_keys) > 1
        and tls_keys != ["tls_context", "tls_hostname"]
    ):
        other = next(key for key in tls_keys if key not in ("tls_context", "tls_hostname"))
        raise InterfaceError(f"{other} cannot be combined with tls_context. Set it in the context.")
    if settings.get("tls_key") and not settings.get("tls_cert"):
        raise InterfaceError("tls_key is given without tls_cert. Give both.")
    if settings.get("tls_cert") and settings.get("tls_pkcs12"):
        raise InterfaceError("tls_cert and tls_pkcs12 both name the client's certificate. Give one of them.")


CHECKS: dict[str, Callable[[str, object], Any]] = {
    "host": _text,
    "port": _integer(1, 65535),
    "user": _text,
    "password": _text,
    "database": _text,
    "server": _text,
    "autocommit": _flag,
    "log_parameters": _flag,
    "connect_timeout": _seconds,
    "read_timeout": _seconds,
    "fetch_buffer_size": _integer(MIN_FETCH_BUFFER, MAX_FETCH_BUFFER),
    "max_reply_bytes": _integer(1 << 20, 1 << 30),
    "client_locale": _text,
    "db_locale": _text,
    "isolation": _isolation,
    "lock_wait": _integer(-1, 32767),
    "statement_cache_size": _integer(0, 10_000),
    "fetch_window_bytes": _integer(0, 1 << 30),
    "lob_window_bytes": _integer(0, 256 << 20),
    "encoding": _codec,
    "encoding_errors": _encoding_errors,
    "inexact": lambda _, value: inexact_option(value),
    "application": _text,
    "trace": _path,
    "env": _pairs,
    "sqlhosts": _path,
    "login_timeout": _seconds,
    "login_ahead": _flag,
    "call_timeout": _seconds,
    "keepalive": _keepalive,
    "pam": _pam,
    "tls": _flag,
    "tls_ca": _path,
    "tls_ca_password": _text,
    "tls_cert": _path,
    "tls_key": _path,
    "tls_key_password": _text,
    "tls_pkcs12": _path,
    "tls_pkcs12_password": _text,
    "tls_context": _context,
    "tls_verify": _flag,
    "tls_hostname": _text,
}
"""The check of each parameter's value; each raises ``InterfaceError``."""


def check_value(key: str, value: object, name: str = "") -> Any:
    """Return the checked value that a program passes for a parameter, called ``name`` there.

    A str is not accepted as a number, as it is in a connection string. ``InterfaceError`` names what is
    allowed.
    """
    if isinstance(value, str) and CHECKS[key] in _OF_NUMBERS:
        value = _NotANumber(value)
    return CHECKS[key](name or key, value)


class _NotANumber:
    """A str where a number is required."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return repr(self._text)


_OF_NUMBERS = (CHECKS["lock_wait"], _seconds)
