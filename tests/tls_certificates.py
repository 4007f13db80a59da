"""Certificates for tests of TLS: a certificate authority, a server, a client, and invalid ones."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

PASSWORD = "certificate-s3cret"
"""The password of all encrypted keys."""


@dataclass(frozen=True)
class Certificates:
    """Paths of the certificates and keys, as PEM files unless stated otherwise."""

    ca: Path  # the authority's certificate
    other_ca: Path  # of an authority that has signed nothing
    server: Path  # for localhost, 127.0.0.1 and ::1
    server_key: Path
    server_key_encrypted: Path
    expired: Path  # for the same names, and out of date
    expired_key: Path
    misnamed: Path  # for db.example, signed by the same authority
    misnamed_key: Path
    client: Path
    client_key: Path
    client_key_encrypted: Path
    stranger: Path  # a client's, signed by the other authority
    stranger_key: Path
    client_p12: Path  # PKCS#12: certificate and key of the client
    ca_p12: Path  # PKCS#12: the authority's certificate alone, as a Java trust store holds it


_SIGNS = x509.KeyUsage(
    digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
    key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
)  # fmt: skip


class _Authority:
    def __init__(self, name: str) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = _certificate(name, self.key, None, None, ())


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey | None,
    names: tuple[str, ...],
    days: tuple[int, int] = (-1, 2),
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=days[0]))
        .not_valid_after(now + datetime.timedelta(days=days[1]))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), False)
    signer = issuer_key or key
    # Python 3.13 rejects an authority without either of them.
    if issuer is None:
        builder = builder.add_extension(_SIGNS, critical=True)
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    return builder.add_extension(authority, critical=False).sign(signer, hashes.SHA256())


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def make_certificates(directory: Path) -> Certificates:
    """Create all certificates as files in ``directory``. They are valid for two days."""
    authority, stranger = _Authority("test authority"), _Authority("another authority")

    def write(name: str, data: bytes) -> Path:
        path = directory / name
        path.write_bytes(data)
        return path

    def pem(certificate: x509.Certificate) -> bytes:
        return certificate.public_bytes(Encoding.PEM)

    def plain(key: ec.EllipticCurvePrivateKey) -> bytes:
        return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def issue(
        name: str, *names: str, by: _Authority = authority, days: tuple[int, int] = (-1, 2)
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        key = ec.generate_private_key(ec.SECP256R1())
        return _certificate(name, key, by.certificate, by.key, names, days), key

    server, server_key = issue("informix", "localhost", "127.0.0.1", "::1")
    expired, expired_key = issue("informix", "localhost", "127.0.0.1", "::1", days=(-9, -2))
    misnamed, misnamed_key = issue("db.example", "db.example")
    client, client_key = issue("client")
    unknown, unknown_key = issue("stranger", by=stranger)
    secret = BestAvailableEncryption(PASSWORD.encode())
    return Certificates(
        ca=write("ca.pem", pem(authority.certificate)),
        other_ca=write("other_ca.pem", pem(stranger.certificate)),
        server=write("server.pem", pem(server)),
        server_key=write("server.key", plain(server_key)),
        server_key_encrypted=write(
            "server_encrypted.key", server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret)
        ),
        expired=write("expired.pem", pem(expired)),
        expired_key=write("expired.key", plain(expired_key)),
        misnamed=write("misnamed.pem", pem(misnamed)),
        misnamed_key=write("misnamed.key", plain(misnamed_key)),
        client=write("client.pem", pem(client)),
        client_key=write("client.key", plain(client_key)),
        client_key_encrypted=write(
            "client_encrypted.key", client_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret)
        ),
        stranger=write("stranger.pem", pem(unknown)),
        stranger_key=write("stranger.key", plain(unknown_key)),
        client_p12=write(
            "client.p12",
            pkcs12.serialize_key_and_certificates(
                b"client", client_key, client, [authority.certificate], secret
            ),
        ),
        ca_p12=write(
            "ca.p12",
            pkcs12.serialize_key_and_certificates(b"ca", None, authority.certificate, None, secret),
        ),
    )


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """The certificates, created once for all tests."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))
