"""The login packets: request, acceptance, rejection, redirection (SQLI sections 3 and 4, JDBC section 1).

Only these packets have a header: ``ushort total length`` (itself included), ``byte kind``, ``byte 60``, ``short
options``. Strings are ASTR: counted with a closing NUL and never padded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

from .capabilities import codec_of_locale
from .errors import ProtocolError
from .primitives import NeedMoreData, Reader, Writer, astr

_T = TypeVar("_T")

HEADER_SIZE = 6
CAP_1 = 0x13C
"""The only Cap_1 that modern clients accept (JDBC section 1)."""

_PROTOCOL = 60
_GENERATION = 61
_CONREQ, _CONACC, _CONREJ, _REDIRECT = 1, 2, 3, 13
_KINDS: dict[int, Literal["accept", "reject", "redirect"]] = {
    _CONACC: "accept",
    _CONREJ: "reject",
    _REDIRECT: "redirect",
}
_CODES = {name: code for code, name in _KINDS.items()}

# Tags inside the packets.
_ASSOC, _ASCBINARY, _ASCBPARMS = 100, 101, 108
_INITRESP, _REDIRECTED, _INITREQ, _ENV, _PINFO, _MISC, _END = 102, 103, 104, 106, 107, 116, 127


def packet_length(first_two_bytes: bytes | bytearray | memoryview) -> int:
    """Return the length of a login packet, header included. Raises ``ProtocolError`` for an impossible length."""
    length = first_two_bytes[0] << 8 | first_two_bytes[1]
    if length < HEADER_SIZE:
        raise ProtocolError(f"The length {length} of the login packet is shorter than its header.")
    return length


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """CONREQ (SQLI section 3.2).

    ``environment`` keeps its order. ``CLIENT_LOCALE`` in it is the code set of all strings here (latin-1 without
    it). The database field stays empty, because the database is opened later.
    """

    user: str
    password: str = field(repr=False)
    server: str
    environment: Mapping[str, str] = field(default_factory=dict)
    application: str = ""
    pid: int = 0
    thread_id: int = 0
    host: str = ""
    cwd: str = ""
    database: str = ""
    version: str = "9.280"
    serial: str = "RDS#R000000"
    application_id: str = "sqli"
    cap1: int = CAP_1
    cap2: int = 0
    cap3: int = 0
    options: int = 3

    def encode(self) -> bytes:
        """Return the whole packet with its header. Raises ``ValueError`` for fields that are too long."""
        return self.frame().packet(self.password, self.pid, self.thread_id)

    def frame(self) -> ConnectFrame:
        """Return the packet without password, process and thread. It is the same for most logins of a process.

        Raises ``ValueError`` for fields that are too long.
        """
        codec = _codec(self.environment)
        caps = self.cap1, self.cap2, self.cap3, 1
        return ConnectFrame(
            codec,
            _encode_client(self.version, self.serial, self.application_id, caps, self.user, codec),
            _encode_target(self.options, self.server, self.database, tuple(self.environment.items()), codec),
            _encode_origin(self.host, self.cwd, self.application, codec),
        )

    @classmethod
    def parse(cls, data: bytes) -> ConnectRequest:
        """Parse a whole packet. Blocks 107 and 116 may be missing (SQLI section 3.2).

        Anything after an unknown tag is ignored if the server name is known by then. Raises ``ProtocolError`` for
        any other violation.
        """
        reader, kind, _ = _open(data)
        if kind != _CONREQ:
            raise ProtocolError(
                f"The login packet is of the kind {kind}, but a connection request ({_CONREQ}) was expected."
            )
        return _parse_complete(_parse_request, reader)


class ConnectFrame(NamedTuple):
    """The parts of a connection request around the password and the process."""

    codec: str  # Python codec of all text
    client: bytes
    target: bytes
    origin: bytes

    def packet(self, password: str, pid: int, thread_id: int = 0) -> bytes:
        """Return the whole packet with its header. Raises ``ValueError`` for fields that are too long."""
        # No password: the server must trust this host.
        secret = astr(_text(password, self.codec, "password"), "password") if password else b"\0\0"
        process = _pack(_PROCESS, _PINFO, 0, pid, thread_id)
        return _packet(_CONREQ, 0, b"".join((self.client, secret, self.target, process, self.origin)))


_BEGIN = (
    Writer()
    .short(_ASSOC)
    .short(_ASCBINARY)
    .int(_GENERATION)
    .astr(b"IEEEM")
    .short(_ASCBPARMS)
    .raw(b"sqlexec".ljust(12, b"\0"))
    .getvalue()
)
_TRANSPORT = (
    Writer()
    .raw(b"ol".ljust(8, b"\0"))
    .int(_GENERATION)
    .raw(b"tlitcp".ljust(8, b"\0"))
    .int(1)
    .short(_INITREQ)
    .short(11)
    .getvalue()
)


_CAPS, _PROCESS, _APPLICATION = struct.Struct(">iiih"), struct.Struct(">hiii"), struct.Struct(">hhii")
_HEADER = struct.Struct(">HBBh")


def _pack(layout: struct.Struct, *values: int) -> bytes:
    try:
        return layout.pack(*values)
    except struct.error as error:
        raise ValueError(f"A number does not fit in the login packet: {error}.") from None


def _encode_client(
    version: str, serial: str, application_id: str, caps: tuple[int, int, int, int], user: str, codec: str
) -> bytes:
    """Encode the first part of the packet, up to the user name."""
    w = Writer().raw(_BEGIN)
    for value in (version, serial, application_id):
        w.astr(_text(value, codec, "client identification"))
    return w.raw(_pack(_CAPS, *caps)).astr(_text(user, codec, "user name"), "user name").getvalue()


def _encode_target(
    options: int, server: str, database: str, pairs: tuple[tuple[str, str], ...], codec: str
) -> bytes:
    """Encode the part with server and database, up to the environment variables."""
    w = Writer().raw(_TRANSPORT).int(options)
    w.astr(_text(server, codec, "server name"), "server name")
    _optional(w, _text(database, codec, "database name")).raw(bytes(8)).short(_ENV).short(len(pairs))
    for name, setting in pairs:
        what = f"environment variable {name}"
        w.astr(_text(name, codec, what), what).astr(_text(setting, codec, what), what)
    return w.getvalue()


def _encode_origin(host: str, cwd: str, application: str, codec: str) -> bytes:
    """Encode the last part, from the host name to the end of the packet."""
    w = _optional(Writer(), _text(host, codec, "host name")).short(0)
    _optional(w, _text(cwd, codec, "working directory"))
    name = _text(application, codec, "application name")
    w.raw(_pack(_APPLICATION, _MISC, 10 + len(name) + 1, 0, 0)).astr(name, "application name")
    return w.short(_END).getvalue()


def _text(value: str, codec: str, what: str) -> bytes:
    try:
        return value.encode(codec, "surrogateescape")
    except UnicodeEncodeError:  # the value may be the password: do not show it
        raise ValueError(f"The {what} has a character that does not exist in the code set {codec}.") from None


def _parse_request(reader: Reader) -> ConnectRequest:
    _expect(reader, _ASSOC, "SQ_ASSOC")
    _expect(reader, _ASCBINARY, "SQ_ASCBINARY")
    reader.int()
    reader.astr("float format")
    _expect(reader, _ASCBPARMS, "SQ_ASCBPARMS")
    reader.skip(12)
    version, serial, application_id = (reader.astr("client identification") for _ in range(3))
    caps = reader.int(), reader.int(), reader.int()
    reader.short()
    user, password = reader.astr("user name"), reader.astr("password")
    reader.skip(8 + 4 + 8 + 4)
    _expect(reader, _INITREQ, "SQ_ASCINITREQ")
    reader.short()
    options = reader.int()
    server, database = reader.astr("server name"), reader.astr("database name")
    reader.skip(8)
    pairs: list[tuple[bytes, bytes]] = []
    pid = thread_id = 0
    host = cwd = application = b""
    while (tag := reader.short()) != _END:
        if tag == _ENV:
            pairs += [(reader.astr("name"), reader.astr("value")) for _ in range(reader.ushort())]
        elif tag == _PINFO:
            reader.int()
            pid, thread_id = reader.int(), reader.int()
            host = reader.astr("host name")
            reader.short()
            cwd = reader.astr("working directory")
        elif tag == _MISC:
            reader.short()
            reader.skip(8)
            application = reader.astr("application name")
        else:
            break
    raw = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
    codec = _codec(raw)

    def text(value: bytes) -> str:
        return value.decode(codec, "surrogateescape")

    return ConnectRequest(
        user=text(user),
        password=text(password),
        server=text(server),
        environment={text(name): text(value) for name, value in pairs},
        application=text(application),
        pid=pid,
        thread_id=thread_id,
        host=text(host),
        cwd=text(cwd),
        database=text(database),
        version=text(version),
        serial=text(serial),
        application_id=text(application_id),
        cap1=caps[0],
        cap2=caps[1],
        cap3=caps[2],
        options=options,
    )


@dataclass(frozen=True, slots=True)
class ConnectReply:
    """CONACC, CONREJ or REDIRECT (SQLI section 4).

    ``service_error`` is the SQLCODE of a rejected login, ``os_error`` an errno, ``server_name`` the server's real
    name, ``redirect`` the detail text of a redirection. In an acceptance the numbers at the end are informational.
    If they cannot be parsed, they count as absent.
    """

    kind: Literal["accept", "reject", "redirect"]
    server_name: str = ""
    version: str = ""
    serial: str = ""
    cap1: int = CAP_1
    cap2: int = 0
    cap3: int = 0
    service_error: int = 0
    os_error: int = 0
    warnings: int = 0
    redirect: str = ""
    float_format: str = "IEEEI"

    def encode(self) -> bytes:
        """Return the whole packet.

        An acceptance ends with warnings and an empty message list. A rejection ends after its two error codes,
        because that is the form JDBC accepts (JDBC section 1).
        """
        if self.kind == "reject" and self.service_error == 0:
            raise ValueError(
                "A rejection needs an error code. With 0 some clients continue, others report -408."
            )
        w = Writer().short(_ASSOC).short(_ASCBINARY).int(_GENERATION).astr(self.float_format.encode("ascii"))
        w.short(_ASCBPARMS).raw(b"srvinfx".ljust(12, b"\0"))
        for value in (self.version, self.serial, self.server_name):
            w.astr(value.encode("utf-8"), "server identification")
        w.int(self.cap1).int(self.cap2).int(self.cap3).short(0).short(0).short(0)
        w.raw(b"ol".ljust(8, b"\0")).int(_GENERATION).raw(b"soctcp".ljust(8, b"\0")).int(1)
        if self.kind == "redirect":
            w.short(_REDIRECTED).short(0).astr(self.redirect.encode("utf-8"), "redirection")
        else:
            w.short(_INITRESP).raw(bytes(6)).short(self.service_error).short(self.os_error)
            if self.kind == "accept":
                w.short(self.warnings).short(0)
        options = 0x1000 if self.kind == "accept" else 0
        return _packet(_CODES[self.kind], options, w.short(_END).getvalue())

    @classmethod
    @lru_cache(maxsize=16)
    def parse(cls, data: bytes) -> ConnectReply:
        """Parse a whole packet. Raises ``ProtocolError`` if it is not a login reply.

        Results are cached, because a server sends the same reply at each login.
        """
        reader, code, _ = _open(data)
        kind = _KINDS.get(code)
        if kind is None:
            raise ProtocolError(
                f"The login packet is of the kind {code}, but a reply (2, 3 or 13) was expected."
            )
        return _parse_complete(lambda r: _parse_reply(r, kind), reader)


def _parse_reply(reader: Reader, kind: Literal["accept", "reject", "redirect"]) -> ConnectReply:
    _expect(reader, _ASSOC, "SQ_ASSOC")
    _expect(reader, _ASCBINARY, "SQ_ASCBINARY")
    reader.int()
    float_format = reader.astr("float format")
    _expect(reader, _ASCBPARMS, "SQ_ASCBPARMS")
    reader.skip(12)
    version, serial, name = (reader.astr("server identification") for _ in range(3))
    reply = ConnectReply(
        kind,
        server_name=name.decode("utf-8", "replace"),
        version=version.decode("utf-8", "replace"),
        serial=serial.decode("utf-8", "replace"),
        cap1=reader.int(),
        cap2=reader.int(),
        cap3=reader.int(),
        float_format=float_format.decode("ascii", "replace"),
    )
    try:
        return _parse_outcome(reader, reply)
    except (NeedMoreData, ProtocolError):
        if kind == "accept":
            return reply
        raise


def _parse_outcome(reader: Reader, reply: ConnectReply) -> ConnectReply:
    reader.skip(2)
    reader.skip(max(reader.short(), 0))
    reader.skip(max(reader.short(), 0))
    reader.skip(24)
    tag = reader.short()
    if tag == _REDIRECTED:
        reader.short()
        return replace(reply, kind="redirect", redirect=reader.astr("redirection").decode("utf-8", "replace"))
    if tag != _INITRESP or reply.kind == "redirect":
        return reply
    reader.skip(6)
    if reader.remaining <= 2:  # JDBC's capture of an acceptance ends here: 102, six bytes, 127
        return reply
    service_error = reader.short()
    os_error = reader.short() if reader.remaining > 2 else 0
    warnings = reader.short() if reader.remaining > 2 else 0
    return replace(reply, service_error=service_error, os_error=os_error, warnings=warnings)


def _packet(kind: int, options: int, body: bytes) -> bytes:
    total = HEADER_SIZE + len(body)
    if total > 0xFFFF:
        raise ValueError(f"The login packet has {total} bytes. The maximum is 65535.")
    return _HEADER.pack(total, kind, _PROTOCOL, options) + body


def _open(data: bytes) -> tuple[Reader, int, int]:
    if len(data) < HEADER_SIZE or packet_length(data) != len(data):
        raise ProtocolError(f"The login packet has {len(data)} bytes, which does not match its length field.")
    reader = Reader(data, 2)
    kind, protocol, options = reader.byte(), reader.byte(), reader.short()
    if protocol != _PROTOCOL:
        raise ProtocolError(
            f"The login packet has the protocol byte {protocol}, but {_PROTOCOL} was expected."
        )
    return reader, kind, options


def _parse_complete(parse: Callable[[Reader], _T], reader: Reader) -> _T:
    """Parse a packet that is complete, so that a field that runs over its end is a ``ProtocolError``."""
    try:
        return parse(reader)
    except NeedMoreData:
        raise ProtocolError(
            f"The field at offset {reader.pos} of the login packet is longer than the packet."
        ) from None


def _expect(reader: Reader, tag: int, name: str) -> None:
    at = reader.pos
    actual = reader.short()
    if actual != tag:
        raise ProtocolError(f"The login packet has {actual} at offset {at}, but {name} ({tag}) was expected.")


def _optional(w: Writer, data: bytes) -> Writer:
    """Write an ASTR, or length 0 if it is empty."""
    return w.astr(data) if data else w.short(0)


def _codec(environment: Mapping[str, str]) -> str:
    try:
        return codec_of_locale(environment["CLIENT_LOCALE"])
    except (KeyError, ValueError):
        return "latin-1"
