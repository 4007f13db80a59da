"""sqlhosts files: addresses of servers and groups of servers by name.

A line is ``dbservername nettype host service [options]``; a group is ``name group - - i=N,c=1`` and its members
have ``g=name`` among their options. The first line with a name counts. ``#`` begins a comment.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..wire.errors import InterfaceError, NotSupportedError
from .parameters import Endpoint

_TCP = ("soctcp", "tlitcp")
_TLS = ("socssl",)


@dataclass(frozen=True, slots=True)
class SqlhostsEntry:
    """One line of the file; ``options`` by their letters (``g``, ``c``, ``s`` ...)."""

    name: str
    nettype: str
    host: str
    service: str
    options: Mapping[str, str]
    line: int


def default_path(environ: Mapping[str, str]) -> str:
    """Return ``$INFORMIXSQLHOSTS``, else ``$INFORMIXDIR/etc/sqlhosts``; "" if neither is set."""
    if environ.get("INFORMIXSQLHOSTS"):
        return environ["INFORMIXSQLHOSTS"]
    return f"{environ['INFORMIXDIR']}/etc/sqlhosts" if environ.get("INFORMIXDIR") else ""


def read(path: Path, server: str) -> list[Endpoint]:
    """Return the addresses of ``server`` in the order to try them: one, or the members of a group.

    A group with ``c=1`` starts at a random member and continues in the file's order, to distribute clients.

    Raises
    ------
    InterfaceError
        The file cannot be read, has no such server or a malformed line for it; names file and line.
    NotSupportedError
        The server listens by shared memory, pipes or DRDA only.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise InterfaceError(f"The sqlhosts file {path} cannot be read ({error.strerror}).") from None
    entries = parse(text, str(path))
    server_entry = next((entry for entry in entries if entry.name == server), None)
    if server_entry is None:
        names = ", ".join(dict.fromkeys(entry.name for entry in entries)) or "nothing"
        raise InterfaceError(f"{path} has no server {server!r}. Its servers are {names}.")
    if server_entry.nettype != "group":
        return [_endpoint(server_entry, path)]
    members = [entry for entry in entries if entry.options.get("g") == server and entry.nettype != "group"]
    if not members:
        raise InterfaceError(f"The group {server!r} of {path} has no members (g={server}).")
    if server_entry.options.get("c") == "1":
        first = random.randrange(len(members))
        members = members[first:] + members[:first]
    return [_endpoint(entry, path) for entry in members]


def parse(text: str, path: str = "sqlhosts") -> list[SqlhostsEntry]:
    """Return all lines of a file. Raises ``InterfaceError`` for a malformed line."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) < 4:
            raise InterfaceError(
                f"Line {number} of {path} is malformed. Expected 'dbservername nettype host service [options]'."
            )
        options: dict[str, str] = {}
        for item in ",".join(words[4:]).split(","):
            key, _, value = item.partition("=")
            if key:
                options[key] = value
        entries.append(SqlhostsEntry(words[0], words[1].lower(), words[2], words[3], options, number))
    return entries


def is_tls(nettype: str) -> bool:
    """Return whether a nettype such as ``onsocssl`` is TLS. Raises ``NotSupportedError`` for one that is not TCP."""
    family, transport = nettype.lower()[:2], nettype.lower()[2:]
    if family in ("on", "ol") and transport in (*_TCP, *_TLS):
        return transport in _TLS
    kind = "local memory or pipes" if transport.startswith("ipc") else "not known here"
    if family == "dr":
        kind = "DRDA"
    raise NotSupportedError(f"The nettype {nettype!r} is {kind}. A TCP listener (onsoctcp) is needed.")


def _endpoint(entry: SqlhostsEntry, path: Path) -> Endpoint:
    where = f"Line {entry.line} of {path} ({entry.name})"
    tls = is_tls(entry.nettype)
    if "csm" in entry.options:
        raise NotSupportedError(f"{where}: csm= (communication support modules) is not supported. Use TLS.")
    if entry.options.get("s") == "6":
        raise InterfaceError(f"{where}: s=6 marks a port for other servers. Use a port for clients.")
    host = entry.host.removeprefix("*")
    if not host or host == "-":
        raise InterfaceError(f"{where} has no host that a client can connect to.")
    return Endpoint(host, _port(entry.service, where), entry.name, tls)


def _port(service: str, where: str) -> int:
    if service.isdecimal() and 0 < int(service) < 65536:
        return int(service)
    try:
        return socket.getservbyname(service, "tcp")
    except OSError:
        raise InterfaceError(
            f"{where}: The service {service!r} is neither a port number nor in the services file."
        ) from None
