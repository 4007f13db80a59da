"""TLS for the listener, ``onsocssl`` in Informix (SQLI section 1). It begins with the first byte; SQLI inside is
unchanged.

The TLS engine works in memory, between the session's stream and its raw socket. The socket stays accessible for that
reason: the urgent byte of an interrupt is sent outside TLS, as one raw byte of TCP (SQLI section 2), and is taken as
without TLS.
"""

from __future__ import annotations

import os
import ssl
from typing import NoReturn

_READ_SIZE = 256 << 10


class TlsError(Exception):
    """The peer's TLS is wrong or not acceptable; the text gives the reason."""


def server_context(
    certificate: str | os.PathLike[str],
    key: str | os.PathLike[str] | None = None,
    client_ca: str | os.PathLike[str] | None = None,
) -> ssl.SSLContext:
    """Return the SSL context of a TLS listener: TLS 1.2 or later.

    `certificate` is a PEM file with the server's certificate and those between it and its CA. `key` is its private key
    (PEM, not encrypted; None: it is in the same file). With `client_ca`, a PEM file, only clients are accepted whose
    certificate one of its CAs has signed. Raises ValueError naming the file that cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION

    def encrypted() -> NoReturn:  # OpenSSL would otherwise prompt on the terminal
        raise ValueError(
            f"The TLS key {key or certificate} is encrypted. Pass it without a passphrase "
            "(openssl pkey -in KEY -out PLAIN)."
        )

    try:
        context.load_cert_chain(certificate, key, password=encrypted)
    except OSError as problem:  # includes SSLError
        raise ValueError(
            f"The TLS certificate {certificate} with the key {key or certificate} cannot be used: {problem}"
        ) from problem
    if client_ca is not None:
        try:
            context.load_verify_locations(client_ca)
        except OSError as problem:
            raise ValueError(f"The CA file {client_ca} for clients cannot be used: {problem}") from problem
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class _RecordScanner:
    """Finds the boundaries of TLS records in what a peer sends.

    TCP distinguishes only the last of several urgent bytes from data. Earlier ones may stand between two records, where
    `strip_urgent` removes them. No record begins with that byte.
    """

    _HEADER = 5  # type, version (2), length (2)

    def __init__(self, urgent: int) -> None:
        self._urgent = urgent
        self._header = b""
        self._body_bytes_remaining = 0  # of the current record

    def strip_urgent(self, received: bytes) -> bytes:
        """Return the received bytes without urgent ones between records."""
        chunks = []
        pos, end = 0, len(received)
        while pos < end:
            if self._body_bytes_remaining:
                chunk = received[pos : pos + self._body_bytes_remaining]
                self._body_bytes_remaining -= len(chunk)
            elif not self._header and received[pos] == self._urgent:
                pos += 1
                continue
            else:
                chunk = received[pos : pos + self._HEADER - len(self._header)]
                self._header += chunk
                if len(self._header) == self._HEADER:
                    self._body_bytes_remaining = int.from_bytes(self._header[3:], "big")
                    self._header = b""
            chunks.append(chunk)
            pos += len(chunk)
        return b"".join(chunks)


class TlsLayer:
    """One connection's TLS, without its socket. Used by one thread.

    `urgent` is the byte that the peer may send outside TLS. `outgoing` must be sent after every call, also after one
    that raised: it may contain an alert. `ended` is true if the peer has ended its side.
    """

    def __init__(self, context: ssl.SSLContext, urgent: int) -> None:
        self.ended = False
        self._records = _RecordScanner(urgent)
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._engine = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    def handshake(self, received: bytes) -> bool:
        """Continue the handshake; return True when it is done, False if it needs more bytes. Raises TlsError."""
        self._incoming.write(self._records.strip_urgent(received))
        try:
            self._engine.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError as problem:
            raise TlsError(_error_text(problem)) from problem
        return True

    def decrypt(self, received: bytes) -> bytes:
        """Decrypt the received bytes, as far as possible.

        Raises TlsError for bytes that are not TLS of this connection.
        """
        self._incoming.write(self._records.strip_urgent(received))
        parts = []
        try:
            while part := self._engine.read(_READ_SIZE):
                parts.append(part)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        except ssl.SSLError as problem:
            raise TlsError(_error_text(problem)) from problem
        return b"".join(parts)

    def encrypt(self, data: memoryview) -> None:
        """Encrypt bytes into `outgoing`."""
        at = 0
        while at < len(data):
            with data[at:] as rest:
                at += self._engine.write(rest)

    def close(self) -> None:
        """Put the end of our side into `outgoing`, without waiting for that of the peer."""
        try:
            self._engine.unwrap()
        except (ssl.SSLError, ValueError):  # it waits for the peer's end, or there is no session to end
            return

    def outgoing(self) -> bytes:
        """Remove and return the bytes for the socket."""
        return self._outgoing.read()


def _error_text(problem: ssl.SSLError) -> str:
    """Return OpenSSL's reason without its file and line, with the most likely cause."""
    reason = (problem.reason or str(problem)).replace("_", " ").lower()
    if problem.reason in {"WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "UNEXPECTED_MESSAGE"}:
        return f"{reason}. The client may not be using TLS."
    if problem.reason and "ALERT" in problem.reason:
        return f"the client refused it: {reason}"
    return reason
