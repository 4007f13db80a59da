"""Connection parameters from keywords, common forms of connection strings, sqlhosts files and the environment.

Precedence, highest first: a keyword of :func:`informix_arrow.connect`; the connection string; the environment
(``INFORMIXSERVER``, ``INFORMIXSQLHOSTS``, ``CLIENT_LOCALE``, ...: see :data:`ENVIRONMENT`); the sqlhosts file's
entry for the server's name, which provides host, port and protocol if nothing else did; the default of
:class:`Parameters`. An unknown key is an error with a suggestion, never ignored. Passwords appear in no repr
and no error text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..wire.errors import InterfaceError
from . import jdbc, odbc, sqlhosts, urls
from .parameters import (
    CHECKS,
    ISOLATIONS,
    MAX_FETCH_BUFFER,
    MIN_FETCH_BUFFER,
    Endpoint,
    Parameters,
    normalize_tls,
    resolve_name,
)

__all__ = ["ENVIRONMENT", "ISOLATIONS", "Endpoint", "Parameters", "refuse_unknown", "resolve"]

#: Environment variables that provide a parameter if nothing else does.
ENVIRONMENT = {
    "server": "INFORMIXSERVER",
    "client_locale": "CLIENT_LOCALE",
    "db_locale": "DB_LOCALE",
    "fetch_buffer_size": "FET_BUF_SIZE",
    "connect_timeout": "INFORMIXCONTIME",
}
#: Environment variables for the server: sent with the login unless ``env`` sets them.
SESSION_VARIABLES = (
    "DBDATE",
    "DBCENTURY",
    "DELIMIDENT",
    "GL_DATE",
    "GL_DATETIME",
    "OPTCOMPIND",
    "PDQPRIORITY",
)

_ASKED_FOR = frozenset((*ENVIRONMENT.values(), *SESSION_VARIABLES))
_PROCESS = os.environ
_KEPT_NAMES = _ASKED_FOR.union(map(os.fsencode, _ASKED_FOR))  # bytes, except on Windows
_MANY = 128  # variables; with more, going through them takes longer than looking up each of ours

_ADVICE = "Write informix://user:password@host:9088/database?server=..."


def refuse_unknown(keywords: Iterable[str], where: str, also: Iterable[str]) -> None:
    """Raise ``InterfaceError`` for a keyword that is not a connection parameter, long before a connection is
    opened.

    ``also`` are the keywords of ``where`` itself, for the suggestion.
    """
    for key in keywords:
        resolve_name(key, where, dict.fromkeys(also))


def resolve(
    url: str | None = None, environ: Mapping[str, str] | None = None, /, **keywords: object
) -> Parameters:
    """Build one set of parameters from a connection string, keywords, the environment and a sqlhosts file.

    Parameters
    ----------
    url
        One of the following, or None if keywords are sufficient.

        - ``informix://[user[:password]@]host[:port][/database][?key=value&...]``, all parts percent-decoded, an
          IPv6 host in square brackets; also ``informix+onsoctcp://``. With TLS ``informixs://``.
        - a JDBC URL: ``jdbc:informix-sqli://host:9088/stores:INFORMIXSERVER=ol_x;user=u;password=p``; also
          ``jdbc:informix:``, and ``jdbc:gbasedbt-sqli:`` with ``GBASEDBTSERVER``.
        - an ODBC or IfxPy string: ``SERVER=ol_x;DATABASE=stores;HOST=h;SERVICE=9088;UID=u;PWD=p``.
        - ``stores@ol_x``, ``@ol_x`` or ``stores``: the server is looked up in the sqlhosts file.
    environ
        The environment, ``os.environ`` by default.
    keywords
        Fields of :class:`Parameters`; None means "not given".

    Raises
    ------
    InterfaceError
        Unknown key, malformed string, missing host, value out of range, a server that is not in the sqlhosts
        file. The text never contains the password.
    NotSupportedError
        A known but unsupported protocol: shared memory, DRDA.
    """
    env = os.environ if environ is None else environ
    if url is not None and not isinstance(url, str):
        raise InterfaceError(
            "The connection must be given as a string such as "
            f"informix://user@host:9088/database?server=..., got {type(url).__name__}."
        )
    settings: dict[str, object] = {} if url is None else dict(_reader(url)(url))
    for key, value in keywords.items():
        if value is not None:
            settings[key if key in CHECKS else resolve_name(key, "connect()")] = value
    session, present = {}, _set_variables(env)
    if present:
        for key, name in ENVIRONMENT.items():
            if name in present and key not in settings and (text := env.get(name)):
                settings[key] = _within_limits(text) if key == "fetch_buffer_size" else text
        session = {name: text for name in SESSION_VARIABLES if name in present and (text := env.get(name))}
    return _checked_parameters(settings, session, env)


_Latest = tuple[Mapping[str, object], Sequence[type], Parameters]
_latest: _Latest = {}, (), Parameters("")
"""The settings of the last plain connection without its password, their types, and the resulting parameters."""

_SCALAR_TYPES = frozenset((str, int, float, bool))


def _checked_parameters(
    settings: dict[str, object], session: Mapping[str, str], env: Mapping[str, str]
) -> Parameters:
    """Return the checked parameters.

    Those of the last connection, if the same, are not checked again: programs connect to one server repeatedly.
    """
    global _latest
    password = CHECKS["password"]("password", settings.pop("password", ""))
    kinds = tuple(map(type, settings.values()))  # because True == 1
    before, kinds_before, parameters = _latest
    if settings == before and kinds == kinds_before and not session:
        return parameters.with_password(password)
    checked = {key: CHECKS[key](key, value) for key, value in settings.items()}
    if session:
        checked["env"] = CHECKS["env"]("env", {**session, **checked.get("env", {})})
    normalize_tls(checked)
    if not checked.get("host"):
        return _through_sqlhosts({**checked, "password": password}, env)
    parameters = Parameters.of(checked)
    if not session and _SCALAR_TYPES.issuperset(kinds) and not parameters.tls:
        _latest = settings, kinds, parameters
    return parameters.with_password(password)


def _set_variables(env: Mapping[str, str]) -> Collection[str]:
    """Return our environment variables that are set; may include others of ours."""
    # Going through os.environ, which decodes each name, takes 3 % of a login. In its internal dict, if it still
    # has one, a single call finds that none is set.
    internal = getattr(env, "_data", None) if env is _PROCESS else None
    if type(internal) is dict and _KEPT_NAMES.isdisjoint(internal):
        return ()
    return _ASKED_FOR.intersection(env) if len(env) < _MANY else _ASKED_FOR


def _within_limits(text: str) -> object:
    """Clamp FET_BUF_SIZE of an old environment, which may be below our minimum and was not meant for us."""
    return min(max(int(text), MIN_FETCH_BUFFER), MAX_FETCH_BUFFER) if text.isdecimal() else text


def _reader(url: str) -> Callable[[str], Mapping[str, object]]:
    """Return the parser for this form of connection string."""
    scheme = url.partition(":")[0].lower()
    if scheme == "jdbc":
        return jdbc.parse
    if "://" in url and "=" not in url.partition("://")[0]:
        return urls.parse
    if "=" in url:
        return odbc.parse
    return _name_at_server


def _name_at_server(text: str) -> Mapping[str, object]:
    """Parse ``database@server`` of ESQL programs, or either half."""
    database, at, server = text.strip().partition("@")
    if (
        not text.strip()
        or any(not (c.isalnum() or c in "_-.") for c in database + server)
        or (at and not server)
    ):
        raise InterfaceError(f"The form of this connection string is not known. {_ADVICE}")
    return {key: value for key, value in (("database", database), ("server", server)) if value}


def _through_sqlhosts(checked: dict[str, object], env: Mapping[str, str]) -> Parameters:
    """Set host and port from the sqlhosts file's entry for the server, or all members of a group in their order."""
    server = str(checked.get("server", ""))
    path = str(checked.get("sqlhosts") or sqlhosts.default_path(env))
    if not server or not path:
        missing = (
            "No host and no server name is given" if not server else "No host is given, and no sqlhosts file"
        )
        raise InterfaceError(
            f"{missing}. {_ADVICE} In Python, pass host=..., or server=... with INFORMIXSQLHOSTS or INFORMIXDIR set."
        )
    endpoints = sqlhosts.read(Path(path), server)
    if "tls" in checked:  # set elsewhere, with precedence
        endpoints = [replace(each, tls=bool(checked["tls"])) for each in endpoints]
    first = endpoints[0]
    checked.update(host=first.host, server=first.server, tls=first.tls)
    checked.setdefault("port", first.port)
    parameters = Parameters(**checked)  # type: ignore[arg-type]
    return replace(parameters, endpoints=tuple(endpoints)) if len(endpoints) > 1 else parameters
