"""Parse JDBC URLs of Informix and of GBase 8s.

``jdbc:informix-sqli://host:port/database:INFORMIXSERVER=name;user=u;password=p``: a colon before the first
property, semicolons between them. Database, port and all properties may be missing; a port may be a service's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..wire.errors import InterfaceError
from .properties import translate

_SCHEMES = ("jdbc:informix-sqli:", "jdbc:informix:", "jdbc:gbasedbt-sqli:", "jdbc:gbasedbt:")
_ADDRESS = re.compile(
    r"//(?P<host>\[[^\]]*\]|[^:/;]*)(?::(?P<port>[^/:;=]+))?(?:/(?P<database>[^:;/]*))?(?::(?P<properties>.*))?",
    re.DOTALL,
)
_NAME = re.compile(r"\s*[A-Za-z_][\w.]*\s*")
_BARE = re.compile(r"(?:/(?P<database>[^:;/]*))?(?::?(?P<properties>.*))?", re.DOTALL)


def parse(url: str) -> Mapping[str, object]:
    """Return the parameters of a JDBC URL. Errors name the part that is wrong, but never quote the URL."""
    scheme = next((known for known in _SCHEMES if url.lower().startswith(known)), None)
    if scheme is None:
        raise InterfaceError(
            "This is not a JDBC URL of Informix. Write jdbc:informix-sqli://host:port/database"
        )
    rest = url[len(scheme) :].strip()
    match = (_ADDRESS if rest.startswith("//") else _BARE).fullmatch(rest)
    if match is None:
        raise InterfaceError(
            "The JDBC URL is malformed. Write "
            "jdbc:informix-sqli://host:port/database:INFORMIXSERVER=name;user=..."
        )
    parts = match.groupdict()
    pairs = [(key, parts[key] or "") for key in ("host", "port", "database") if parts.get(key)]
    pairs = [(key, value.strip("[]") if key == "host" else value) for key, value in pairs]
    return translate([*pairs, *_properties(parts.get("properties") or "")], "the JDBC URL")


def _properties(text: str) -> list[tuple[str, str]]:
    """Split ``NAME=value;NAME=value;``. A value ends at the next semicolon: these URLs have no quoting."""
    properties = []
    for number, item in enumerate(text.split(";"), 1):
        if not item.strip():
            continue
        key, equals, value = item.partition("=")
        if not equals or not _NAME.fullmatch(key):  # an error could quote a password as an unknown name
            raise InterfaceError(f"Property {number} of the JDBC URL is not NAME=value (text withheld).")
        properties.append((key, value))
    return properties
