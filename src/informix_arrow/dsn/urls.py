"""Parse ``informix://`` and ``informixs://`` URLs."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from ..wire.errors import InterfaceError
from .parameters import is_parameter, resolve_name

_TLS = ("informixs", "informix+onsocssl")
_UNENCRYPTED_SCHEMES = ("informix", "informix+onsoctcp", "informix+ontlitcp")


def parse(url: str) -> Mapping[str, object]:
    """Parse ``informix://[user[:password]@]host[:port][/database][?key=value&...]``, all parts percent-decoded."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in (*_UNENCRYPTED_SCHEMES, *_TLS):
        raise InterfaceError(
            "This is not an informix:// URL. Write informix://user:password@host:9088/database?server=..."
        )
    if "#" in url:
        raise InterfaceError("A '#' in a connection URL must be written %23.")
    parts = _split(f"informix://{rest}")
    if parts is None:
        raise InterfaceError(
            "The connection URL is malformed. The port must be a number up to 65535. An IPv6 host must be in brackets "
            "[]. The characters '/', '?', '@' and ':' inside a user, a password or a database name must be "
            "percent-encoded."
        )
    host, port = parts.hostname, parts.port
    # urlsplit converts the host to lower case, which is fine for names and addresses.
    parameters: dict[str, object] = {"tls": True} if scheme.lower() in _TLS else {}
    if host:
        parameters["host"] = unquote(host)
    if port is not None:
        parameters["port"] = port
    if parts.username is not None:
        parameters["user"] = unquote(parts.username)
    if parts.password is not None:
        parameters["password"] = unquote(parts.password)
    database = unquote(parts.path[1:])
    if database:
        parameters["database"] = database
    environment: dict[str, str] = {}
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key.startswith("env."):
            environment[key[4:]] = value
            continue
        name = resolve_name(key, "the URL")
        if name in parameters:
            raise InterfaceError(f"The URL gives {name!r} twice.")
        parameters[name] = value
    if environment:
        parameters["env"] = environment
    return parameters


def _split(url: str) -> SplitResult | None:
    """Return the URL's parts, or None if it is malformed.

    It does not raise, because urlsplit quotes what it rejects, which may be the password, and an exception
    keeps the one during which it was raised. For the same reason a bare ``@`` after the host is refused: the
    text before it is most likely the end of a password that contains a ``/`` or a ``?``, and would be shown as
    the name of a database or a key.
    """
    if any(character < " " for character in url):
        return None  # urlsplit would silently drop some of them
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    if "@" in parts.path:
        return None
    keys = [key for key, _ in parse_qsl(parts.query, keep_blank_values=True)]
    foreign = not all(key.startswith("env.") or is_parameter(key) for key in keys)
    if foreign and "@" in parts.query and "@" not in parts.netloc:
        return None
    return parts
