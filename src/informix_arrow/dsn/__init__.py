"""Where to connect and how: keywords, the connection strings that people have, sqlhosts files and the environment
become one set of parameters.

Precedence, highest first: a keyword of :func:`informix_arrow.connect`; the connection string; the environment
(``INFORMIXSERVER``, ``INFORMIXSQLHOSTS``, ``CLIENT_LOCALE``, ...: see :data:`ENVIRONMENT`); the entry of the
sqlhosts file that the server's name stands for, which gives host, port and protocol where nothing else did; the
default of :class:`Parameters`. A key that nobody knows is an error with a suggestion, never ignored. Passwords
appear in no repr and no error text.
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

#: Environment variables read when the parameter is given nowhere else.
ENVIRONMENT = {
    "server": "INFORMIXSERVER",
    "client_locale": "CLIENT_LOCALE",
    "db_locale": "DB_LOCALE",
    "fetch_buffer_size": "FET_BUF_SIZE",
    "connect_timeout": "INFORMIXCONTIME",
}
#: Environment variables that the server understands: sent with the login unless ``env`` names them itself.
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
_KEPT_NAMES = _ASKED_FOR.union(map(os.fsencode, _ASKED_FOR))  # in bytes, but on Windows
_MANY = 128  # variables: with more it takes longer to go through them than to ask for each of ours

_ADVICE = "write informix://user:password@host:9088/database?server=..."


def refuse_unknown(keywords: Iterable[str], where: str, also: Iterable[str]) -> None:
    """``InterfaceError`` for a keyword that no connection has, long before one is opened; ``also`` are those that
    ``where`` takes itself, for the suggestion."""
    for key in keywords:
        resolve_name(key, where, dict.fromkeys(also))


def resolve(
    url: str | None = None, environ: Mapping[str, str] | None = None, /, **keywords: object
) -> Parameters:
    """Make one set of parameters from a connection string, keywords, the environment and a sqlhosts file.

    Parameters
    ----------
    url
        One of the following, or None when keywords say everything.

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
        Unknown key, malformed string, missing host, value out of range, a server that the sqlhosts file does not
        have. The text never holds the password.
    NotSupportedError
        A way to connect that is known but not supported: shared memory, DRDA.
    """
    env = os.environ if environ is None else environ
    if url is not None and not isinstance(url, str):
        raise InterfaceError(
            f"a connection is told by a text such as informix://user@host:9088/database?server=..., got "
            f"{type(url).__name__}"
        )
    settings: dict[str, object] = {} if url is None else dict(_reader(url)(url))
    for key, value in keywords.items():
        if value is not None:
            settings[key if key in CHECKS else resolve_name(key, "connect()")] = value
    session, there = {}, _set_variables(env)
    if there:
        for key, name in ENVIRONMENT.items():
            if name in there and key not in settings and (text := env.get(name)):
                settings[key] = _within_limits(text) if key == "fetch_buffer_size" else text
        session = {name: text for name in SESSION_VARIABLES if name in there and (text := env.get(name))}
    return _checked_parameters(settings, session, env)


_Latest = tuple[Mapping[str, object], Sequence[type], Parameters]
_latest: _Latest = {}, (), Parameters("")
"""What the last plain connection was given, but for its password, the types of that, and what it came to."""

_SCALAR_TYPES = frozenset((str, int, float, bool))


def _checked_parameters(
    given: dict[str, object], session: Mapping[str, str], env: Mapping[str, str]
) -> Parameters:
    """The parameters, checked. What was checked for the last connection, and is the same, is not checked again:
    programs connect to one place over and over."""
    global _latest
    password = CHECKS["password"]("password", given.pop("password", ""))
    kinds = tuple(map(type, given.values()))  # True is 1 to Python
    before, kinds_before, found = _latest
    if given == before and kinds == kinds_before and not session:
        return found.with_password(password)
    checked = {key: CHECKS[key](key, value) for key, value in given.items()}
    if session:
        checked["env"] = CHECKS["env"]("env", {**session, **checked.get("env", {})})
    normalize_tls(checked)
    if not checked.get("host"):
        return _through_sqlhosts({**checked, "password": password}, env)
    found = Parameters.of(checked)
    if not session and _SCALAR_TYPES.issuperset(kinds) and not found.tls:
        _latest = given, kinds, found
    return found.with_password(password)


def _set_variables(env: Mapping[str, str]) -> Collection[str]:
    """Those of our variables that are set, and perhaps others of ours."""
    # To go through os.environ, which decodes each name, takes 3 % of a login; in what it keeps them in, if it still
    # does so, none is found by one call.
    kept = getattr(env, "_data", None) if env is _PROCESS else None
    if type(kept) is dict and _KEPT_NAMES.isdisjoint(kept):
        return ()
    return _ASKED_FOR.intersection(env) if len(env) < _MANY else _ASKED_FOR


def _within_limits(text: str) -> object:
    """An old set-up's FET_BUF_SIZE may be below our minimum: raised, for it was not meant for us."""
    return min(max(int(text), MIN_FETCH_BUFFER), MAX_FETCH_BUFFER) if text.isdecimal() else text


def _reader(url: str) -> Callable[[str], Mapping[str, object]]:
    """Who reads this form of connection string."""
    scheme = url.partition(":")[0].lower()
    if scheme == "jdbc":
        return jdbc.parse
    if "://" in url and "=" not in url.partition("://")[0]:
        return urls.parse
    if "=" in url:
        return odbc.parse
    return _name_at_server


def _name_at_server(text: str) -> Mapping[str, object]:
    """``database@server`` of ESQL programs, or either half."""
    database, at, server = text.strip().partition("@")
    if (
        not text.strip()
        or any(not (c.isalnum() or c in "_-.") for c in database + server)
        or (at and not server)
    ):
        raise InterfaceError(f"not a connection string that is known here; {_ADVICE}")
    return {key: value for key, value in (("database", database), ("server", server)) if value}


def _through_sqlhosts(checked: dict[str, object], env: Mapping[str, str]) -> Parameters:
    """Host and port from the sqlhosts file's entry for the server, all members of a group in their order."""
    server = str(checked.get("server", ""))
    path = str(checked.get("sqlhosts") or sqlhosts.default_path(env))
    if not server or not path:
        missing = "no host and no server name given" if not server else "no host given and no sqlhosts file"
        raise InterfaceError(
            f"{missing}: pass host=..., or server=... with INFORMIXSQLHOSTS or INFORMIXDIR set; or {_ADVICE}"
        )
    endpoints = sqlhosts.read(Path(path), server)
    if "tls" in checked:  # said elsewhere: that counts
        endpoints = [replace(each, tls=bool(checked["tls"])) for each in endpoints]
    first = endpoints[0]
    checked.update(host=first.host, server=first.server, tls=first.tls)
    checked.setdefault("port", first.port)
    found = Parameters(**checked)  # type: ignore[arg-type]
    return replace(found, endpoints=tuple(endpoints)) if len(endpoints) > 1 else found
