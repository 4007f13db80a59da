"""TLS of the client: its settings, and explanations of its failures.

There is no STARTTLS: a listener uses TLS from the first byte (``onsocssl``) or never (SQLI section 2).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..wire.errors import InterfaceError, NotSupportedError

_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")  # Java's own formats, JKS and JCEKS


@dataclass(slots=True)
class TlsSettings:
    """TLS settings; the fields are the connection parameters of the same names with ``tls_`` in front."""

    ca: str = ""  # file of the CAs, or of the server's own certificate; "" = the system's CAs
    ca_password: str = field(default="", repr=False)  # of a PKCS#12 file
    cert: str = ""  # the client's certificate
    key: str = ""  # its private key; "" = in the same file
    key_password: str = field(default="", repr=False)
    pkcs12: str = ""  # certificate and key in one file
    pkcs12_password: str = field(default="", repr=False)
    context: ssl.SSLContext | None = None  # instead of all of the above
    verify: bool = True
    hostname: str = ""  # the name that the server's certificate must have; "" = the host
    _cached_context: ssl.SSLContext | None = field(default=None, repr=False)

    def make_context(self) -> ssl.SSLContext:
        """Return the settings as an SSLContext: TLS 1.2 or later, the server's certificate and name checked.

        Raises ``InterfaceError`` if a file cannot be read or has the wrong contents, and ``NotSupportedError``
        for a file in a format that only other programs read.
        """
        try:
            self.hostname.encode("idna")
        except UnicodeError:
            raise InterfaceError(f"tls_hostname: {self.hostname!r} is not a host name.") from None
        if self.context is not None:
            return self.context
        if self._cached_context is None:
            context = ssl.create_default_context() if not self.ca else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            if self.ca:
                self._trust(context)
            if not self.verify:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if self.pkcs12:
                _load_pkcs12(context, self.pkcs12, self.pkcs12_password)
            elif self.cert:
                self._load_pem(context)
            self._cached_context = context
        return self._cached_context

    def _trust(self, context: ssl.SSLContext) -> None:
        # A certificate that the user names is trusted, whether it is a CA's or not, and GSKit's certificates
        # often lack some of what RFC 5280 requires.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        data = _read("tls_ca", self.ca)
        if not data.lstrip().startswith(b"-----") and b"-----BEGIN" not in data:
            _, certificates = _pkcs12("tls_ca", self.ca, data, self.ca_password)
            if not certificates:
                raise InterfaceError(f"tls_ca: {self.ca} holds no certificate.")
            context.load_verify_locations(cadata=b"".join(certificates))
            return
        try:
            context.load_verify_locations(cadata=data.decode("ascii", "ignore"))
        except ssl.SSLError as error:
            raise InterfaceError(
                f"tls_ca: {self.ca} has no certificate in PEM form ({_reason(error)})."
            ) from None

    def _load_pem(self, context: ssl.SSLContext) -> None:
        for name, path in (("tls_cert", self.cert), ("tls_key", self.key)):
            if path:
                _refuse_foreign(name, path, _read(name, path))
        try:
            # Always pass a password: otherwise OpenSSL would prompt for it on the terminal.
            context.load_cert_chain(self.cert, self.key or None, password=self.key_password or _no_password)
        except _PasswordMissing:
            raise InterfaceError(
                f"The private key {self.key or self.cert} is encrypted. Pass tls_key_password."
            ) from None
        except ValueError:
            raise InterfaceError("tls_key_password is longer than OpenSSL supports.") from None
        except ssl.SSLError as error:
            raise InterfaceError(
                f"tls_cert {self.cert} with tls_key {self.key or '(the same file)'} cannot be used "
                f"({_reason(error)}). Both must be PEM files. The key must belong to the certificate, and "
                "tls_key_password to the key."
            ) from None


class _PasswordMissing(Exception):
    """OpenSSL asked for a password that was not given."""


def _no_password() -> str:
    raise _PasswordMissing


def _read(name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InterfaceError(f"{name}: The file {path} cannot be read ({error.strerror}).") from None


def _refuse_foreign(name: str, path: str, data: bytes) -> None:
    """Raise ``NotSupportedError`` with advice for the key stores of Java and GSKit."""
    if data.startswith(_JKS):
        raise NotSupportedError(
            f"{name}: {path} is a Java key store (JKS), which only Java reads. Convert it with keytool "
            f"-importkeystore -srckeystore {path} -destkeystore store.p12 -deststoretype PKCS12"
        )
    if path.lower().endswith((".kdb", ".sth")):
        raise NotSupportedError(
            f"{name}: {path} is a key database of GSKit. Export it to PKCS#12 with gsk8capicmd_64 -cert "
            f"-export -db {path} -stashed -target store.p12 -target_type pkcs12"
        )


def _pkcs12(name: str, path: str, data: bytes, password: str) -> tuple[object, list[bytes]]:
    """Return the private key (or None) and all certificates in DER, the key's own first."""
    _refuse_foreign(name, path, data)
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
    except ImportError:
        raise InterfaceError(
            f"{name}: PKCS#12 files such as {path} need the package cryptography. Run pip install "
            "'informix-arrow[tls]', or convert the file to PEM: openssl pkcs12 -in FILE -out store.pem"
        ) from None
    try:
        store = pkcs12.load_pkcs12(data, password.encode() if password else None)
    except (ValueError, TypeError):
        raise InterfaceError(
            f"{name}: {path} is neither PEM nor PKCS#12, or its password is wrong."
        ) from None
    certificates = [each for each in (store.cert, *store.additional_certs) if each is not None]
    return store.key, [each.certificate.public_bytes(Encoding.DER) for each in certificates]


def _load_pkcs12(context: ssl.SSLContext, path: str, password: str) -> None:
    from ssl import DER_cert_to_PEM_cert

    key, certificates = _pkcs12("tls_pkcs12", path, _read("tls_pkcs12", path), password)
    if key is None or not certificates:
        raise InterfaceError(f"tls_pkcs12: {path} holds no private key with its certificate.")
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
    )

    # Python's ssl loads keys from files only. This one is encrypted, readable only by its owner, and removed at
    # once.
    word = secrets.token_hex(32)
    pem = key.private_bytes(  # type: ignore[attr-defined]
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(word.encode())
    )
    pem += "".join(map(DER_cert_to_PEM_cert, certificates)).encode()
    handle, name = tempfile.mkstemp(prefix="informix-arrow-", suffix=".pem")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
        context.load_cert_chain(name, password=word)
    except ssl.SSLError as error:
        raise InterfaceError(f"tls_pkcs12: {path} cannot be used ({_reason(error)}).") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def explain(error: OSError, host: str, *, established: bool = False) -> str:
    """Explain a failed TLS handshake with ``host``, or a failure after TLS was ``established``, and say what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = getattr(error, "verify_message", "") or _reason(error)
        if "mismatch" in why.lower() or "not valid for" in why.lower():
            return (
                f"The certificate of the TLS listener is not for {host!r} ({why}). Connect to the name in the "
                "certificate, or pass that name as tls_hostname=..."
            )
        if error.verify_code in (_NOT_YET_VALID, _EXPIRED):
            return (
                f"The certificate of the TLS listener at {host!r}, or one in its chain, has expired or is not yet "
                f"valid ({why}). Check the clock of this machine. If it is right, the certificate must be renewed."
            )
        return (
            f"The certificate of the TLS listener at {host!r} is not trusted ({why}). Name its CA, or the certificate "
            "itself, as a PEM file with tls_ca=... tls_verify=False encrypts without checking who the server is."
        )
    if isinstance(error, ssl.SSLError):
        reason = (getattr(error, "reason", None) or "").upper()
        if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason:
            return (
                f"The TLS listener refused the handshake ({_reason(error)}). It may require a client certificate "
                "(tls_cert=..., tls_key=..., or tls_pkcs12=...)."
            )
        if "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason):
            return f"The TLS listener does not accept the client's certificate ({_reason(error)})."
        if "PROTOCOL_VERSION" in reason or "UNSUPPORTED_PROTOCOL" in reason or "NO_PROTOCOLS" in reason:
            return f"The listener does not support TLS 1.2 or later ({_reason(error)})."
        # A peer that hangs up: the release of Python decides which of the two is raised
        ended = isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError))
        if not ended and reason not in _NO_TLS:
            return f"TLS failed ({_reason(error)})."
        detail = _reason(error)
    else:
        detail = error.strerror or str(error)
    if established:
        return f"It ended in the middle of TLS ({detail})."
    return (
        f"The listener at {host!r} does not seem to speak TLS ({detail}). Use its TLS port (onsocssl), or connect "
        "without TLS (informix://, tls=False)."
    )


_NOT_YET_VALID, _EXPIRED = 9, 10  # X509_V_ERR_ of OpenSSL
_NO_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING", "RECORD_LAYER_FAILURE", "UNEXPECTED_MESSAGE"}
)


def _reason(error: ssl.SSLError) -> str:
    """Return OpenSSL's message without its file and line."""
    return (getattr(error, "reason", None) or error.strerror or str(error)).replace("_", " ").lower()
