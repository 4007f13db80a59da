"""TLS on the client's side: certificates are checked, failures have clear errors, and everything else works as
without."""

from __future__ import annotations

import random
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.fault_proxy import Fault, FaultProxy
from tests.internals import runner_of, socket_of, transport_of
from tests.tls_certificates import PASSWORD

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.transport.tls import explain
from informix_arrow.wire.errors import QueryTimeout

if TYPE_CHECKING:
    from tests.tls_certificates import Certificates


@pytest.fixture(scope="module")
def tls_server(certificates: Certificates) -> Iterator[Server]:
    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        rows = pa.table({"id": pa.array(range(2000), pa.int32()), "sentinel": pa.array([12345] * 2000)})
        with ifx.connect(server.url("stores_demo"), tls_ca=certificates.ca) as conn:
            conn.write_arrow("tls_rows", rows, mode="create")
        yield server


@pytest.fixture
def url(tls_server: Server) -> str:
    return tls_server.url("stores_demo").replace("informixs://", "informix://")


def works(conn: ifx.Connection) -> None:
    with conn:
        assert socket_of(conn).version() in ("TLSv1.2", "TLSv1.3")  # type: ignore[union-attr]
        found = conn.read_arrow("SELECT id, sentinel FROM tls_rows ORDER BY id")
        assert found["id"].to_pylist() == list(range(2000))
        assert set(found["sentinel"].to_pylist()) == {12345}


def test_a_certificate_of_a_ca_that_is_named_is_trusted(url: str, certificates: Certificates) -> None:
    works(ifx.connect(url, tls=True, tls_ca=certificates.ca))
    works(ifx.connect(url.replace("informix://", "informixs://"), tls_ca=str(certificates.ca)))
    works(ifx.connect(f"{url}&tls_ca={certificates.ca}"))  # an explicit option is used


def test_the_servers_own_certificate_may_be_named(url: str, certificates: Certificates) -> None:
    works(ifx.connect(url, tls_ca=certificates.server))


def test_a_context_of_ones_own(url: str, certificates: Certificates) -> None:
    works(ifx.connect(url, tls_context=ssl.create_default_context(cafile=certificates.ca)))


def test_a_trust_store_as_pkcs12(url: str, certificates: Certificates) -> None:
    works(ifx.connect(url, tls_ca=certificates.ca_p12, tls_ca_password=PASSWORD))
    with pytest.raises(ifx.InterfaceError, match=r"ca\.p12.*password is wrong"):
        ifx.connect(url, tls_ca=certificates.ca_p12, tls_ca_password="no")


def test_jdbc_and_odbc_and_sqlhosts_say_it_their_way(
    tls_server: Server, certificates: Certificates, tmp_path: Any
) -> None:
    host, port = tls_server.address
    store = f"SSL_TRUSTSTORE={certificates.ca};SSL_TRUSTSTOREPASSWORD=x"
    works(
        ifx.connect(
            f"jdbc:informix-sqli://{host}:{port}/stores_demo:INFORMIXSERVER=informix;user=informix;"
            f"password=in4mix;SSLCONNECTION=true;{store}"
        )
    )
    works(
        ifx.connect(
            f"SERVER=informix;DATABASE=stores_demo;HOST={host};SERVICE={port};PROTOCOL=onsocssl;UID=informix;PWD=in4mix",
            tls_ca=certificates.ca,
        )
    )
    sqlhosts = tmp_path / "sqlhosts"
    sqlhosts.write_text(f"informix onsocssl {host} {port}\n")
    works(
        ifx.connect(
            "stores_demo@informix",
            sqlhosts=str(sqlhosts),
            user="informix",
            password="in4mix",
            tls_ca=certificates.ca,
        )
    )


def test_a_certificate_that_nobody_vouches_for_is_refused(url: str, certificates: Certificates) -> None:
    for keywords in ({"tls": True}, {"tls_ca": certificates.other_ca}):
        with pytest.raises(ifx.OperationalError, match=r"not trusted.*tls_ca="):
            ifx.connect(url, **keywords)  # type: ignore[arg-type]


def test_a_certificate_that_is_out_of_date_is_refused_and_naming_it_does_not_help(
    certificates: Certificates,
) -> None:
    with Server(tls_cert=certificates.expired, tls_key=certificates.expired_key) as server:
        url = server.url("stores_demo")
        for trusted in (certificates.ca, certificates.expired):
            with pytest.raises(ifx.OperationalError, match="has expired") as caught:
                ifx.connect(url, tls_ca=trusted)
            assert "tls_ca=" not in str(caught.value)
        with ifx.connect(url, tls=True, tls_verify=False) as conn:
            conn.ping()


def test_without_verification_only_when_that_is_asked_for(url: str) -> None:
    works(ifx.connect(url, tls=True, tls_verify=False))


def test_a_certificate_for_another_name_is_refused_unless_the_name_is_given(
    certificates: Certificates,
) -> None:
    with Server(tls_cert=certificates.misnamed, tls_key=certificates.misnamed_key) as server:
        with pytest.raises(ifx.OperationalError, match=r"not for '127\.0\.0\.1'.*tls_hostname="):
            ifx.connect(server.url("stores_demo"), tls_ca=certificates.ca)
        with ifx.connect(
            server.url("stores_demo"), tls_ca=certificates.ca, tls_hostname="db.example"
        ) as conn:
            conn.ping()


@pytest.mark.parametrize("form", ["pem", "encrypted", "pkcs12"])
def test_a_certificate_of_the_client(certificates: Certificates, form: str) -> None:
    keywords: dict[str, Any] = {
        "pem": {"tls_cert": certificates.client, "tls_key": certificates.client_key},
        "encrypted": {
            "tls_cert": certificates.client,
            "tls_key": certificates.client_key_encrypted,
            "tls_key_password": PASSWORD,
        },
        "pkcs12": {"tls_pkcs12": certificates.client_p12, "tls_pkcs12_password": PASSWORD},
    }[form]
    server = Server(tls_cert=certificates.server, tls_key=certificates.server_key, tls_ca=certificates.ca)
    with server:
        url = server.url("stores_demo")
        with ifx.connect(url, tls_ca=certificates.ca, **keywords) as conn:
            conn.ping()
        with pytest.raises(ifx.OperationalError, match="certificate"):
            ifx.connect(url, tls_ca=certificates.ca)
        with pytest.raises(ifx.OperationalError, match="certificate"):
            ifx.connect(
                url, tls_ca=certificates.ca, tls_cert=certificates.stranger, tls_key=certificates.stranger_key
            )


def test_files_that_cannot_be_used_are_refused_by_name_and_before_connecting(
    certificates: Certificates, tmp_path: Any
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"informixs://u:s3cret@127.0.0.1:{nobody.getsockname()[1]}/d?server=s"
    store, kdb = tmp_path / "store.jks", tmp_path / "client.kdb"
    store.write_bytes(b"\xfe\xed\xfe\xed" + bytes(20))
    kdb.write_bytes(b"x" * 100)
    for keywords, error, text in (
        ({"tls_ca": tmp_path / "nosuch.pem"}, ifx.InterfaceError, r"tls_ca: .*nosuch\.pem cannot be read"),
        ({"tls_ca": store}, ifx.NotSupportedError, r"store\.jks .*keytool"),
        ({"tls_pkcs12": store}, ifx.NotSupportedError, r"store\.jks .*keytool"),
        ({"tls_cert": kdb}, ifx.NotSupportedError, r"client\.kdb .*gsk8capicmd_64"),
        ({"tls_ca": certificates.client_key}, ifx.InterfaceError, "no certificate"),
        ({"tls_cert": certificates.client}, ifx.InterfaceError, "cannot be used"),
        (
            {"tls_cert": certificates.client, "tls_key": certificates.server_key},
            ifx.InterfaceError,
            "must belong",
        ),
        (
            {"tls_cert": certificates.client, "tls_key": certificates.client_key_encrypted},
            ifx.InterfaceError,
            "is encrypted. Pass tls_key_password",
        ),
        (
            {
                "tls_cert": certificates.client,
                "tls_key": certificates.client_key_encrypted,
                "tls_key_password": "s3cret" * 200,
            },
            ifx.InterfaceError,
            "longer than OpenSSL supports",
        ),
        ({"tls_hostname": ".example"}, ifx.InterfaceError, r"tls_hostname: '\.example' is not a host name"),
        ({"tls_hostname": "a" * 70}, ifx.InterfaceError, "is not a host name"),
        ({"tls_pkcs12": certificates.client_p12}, ifx.InterfaceError, "password is wrong"),
        (
            {"tls_pkcs12": certificates.ca_p12, "tls_pkcs12_password": PASSWORD},
            ifx.InterfaceError,
            "no private key",
        ),
    ):
        with pytest.raises(error, match=text) as caught:
            ifx.connect(url, **keywords)  # type: ignore[arg-type]
        assert "s3cret" not in str(caught.value)


def test_pkcs12_without_the_package_says_what_to_install(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(ifx.InterfaceError, match=r"informix-arrow\[tls\]"):
        ifx.connect("informixs://h/d?server=s", tls_pkcs12=certificates.client_p12)


def test_a_plain_client_at_a_tls_port_says_what_to_do(url: str) -> None:
    with pytest.raises(ifx.OperationalError, match=r"TLS.*informixs://"):
        ifx.connect(url)


def test_a_tls_client_at_a_plain_port_says_what_to_do(server: Server) -> None:
    with pytest.raises(ifx.OperationalError, match=r"does not seem to speak TLS.*tls=False"):
        ifx.connect(server.url("stores_demo"), tls=True)


@pytest.mark.parametrize("kind", [ssl.SSLEOFError, ssl.SSLZeroReturnError])
def test_a_peer_that_hangs_up_in_the_handshake_does_not_speak_tls(kind: type[ssl.SSLError]) -> None:
    """Python 3.11.2 raises the second, 3.11.7 the first."""
    text = explain(kind(ssl.SSL_ERROR_ZERO_RETURN, "TLS/SSL connection has been closed (EOF)"), "db7")
    assert "does not seem to speak TLS" in text
    assert "tls=False" in text


def test_a_connection_that_breaks_later_is_not_taken_for_a_port_without_tls(
    url: str, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With OpenSSL 3 a broken connection is an error of TLS, with the same text as an error during the handshake."""

    def broken(*_: object) -> None:
        raise ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "unexpected eof while reading")

    conn = ifx.connect(url, tls_ca=certificates.ca)
    for step in ("_send_receive", "_send", "_receive"):
        monkeypatch.setattr(type(transport_of(conn)), step, broken)
    with pytest.raises(ifx.OperationalError, match=r"connection broke\. It ended in the middle of TLS"):
        conn.read_arrow("SELECT tabid FROM systables")
    assert conn.closed


def test_a_silent_port_is_given_up(certificates: Certificates) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ifx.OperationalError, match="TLS handshake in time"):
            ifx.connect(f"informixs://u@127.0.0.1:{port}/d?server=s", connect_timeout=0.05)


def test_old_versions_are_not_spoken(certificates: Certificates) -> None:
    from informix_arrow.transport.tls import TlsSettings

    assert TlsSettings(ca=str(certificates.ca)).make_context().minimum_version >= ssl.TLSVersion.TLSv1_2
    assert TlsSettings().make_context().minimum_version >= ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_loads_and_large_results_go_both_ways_at_once(
    url: str, certificates: Certificates, method: Any
) -> None:
    rows = pa.table(
        {"id": pa.array(range(60_000), pa.int32()), "text": ["é" * (n % 60) for n in range(60_000)]}
    )
    with ifx.connect(url, tls_ca=certificates.ca) as conn:
        conn.write_arrow("tls_load", rows, mode="replace", types={"text": "LVARCHAR(200)"}, method=method)
        found = conn.read_arrow("SELECT id, text FROM tls_load ORDER BY id")
        assert found.cast(rows.schema).equals(rows)


def test_an_interrupt_travels_beside_tls(url: str, certificates: Certificates) -> None:
    endless = (
        "SELECT COUNT(*) n FROM tls_rows a, tls_rows b, tls_rows c, tls_rows d "
        "WHERE a.id * b.id - c.id * d.id = 17"
    )
    with ifx.connect(url, tls_ca=certificates.ca) as conn:
        for _ in range(3):
            with pytest.raises(QueryTimeout):
                conn.read_arrow(endless, timeout=0.05)
            assert conn.read_arrow("SELECT COUNT(*) n FROM tls_rows")["n"].to_pylist() == [2000]


def test_no_secret_is_shown(url: str, certificates: Certificates) -> None:
    with ifx.connect(
        url, tls_ca=certificates.ca, tls_pkcs12=certificates.client_p12, tls_pkcs12_password=PASSWORD
    ) as conn:
        assert PASSWORD not in repr(conn)
        assert PASSWORD not in repr(conn._parameters)
        assert PASSWORD not in repr(vars(runner_of(conn)))


@pytest.mark.parametrize("side", ["server", "client"])
def test_what_was_changed_on_the_way_is_found_out_and_is_an_error_of_ours(
    tls_server: Server, url: str, certificates: Certificates, side: Any
) -> None:
    """A proxy changes any bit of any byte of the handshake, the login and a result."""
    rng = random.Random(f"tls {side}")
    with FaultProxy(tls_server.address) as proxy:
        options: dict[str, Any] = {"host": proxy.host, "port": proxy.port, "login_timeout": 2}
        ends = {"refused": 0, "right": 0}
        for _ in range(25):
            after = rng.choice([rng.randrange(200), rng.randrange(4000), rng.randrange(40_000)])
            proxy.fault = Fault(side, after, "spoil", 1 << rng.randrange(8))
            try:
                with ifx.connect(url, tls=True, tls_ca=certificates.ca, **options) as conn:
                    found = conn.read_arrow("SELECT id, sentinel FROM tls_rows ORDER BY id", timeout=2)
            except ifx.Error as error:
                assert tls_server.password not in str(error)  # noqa: PT017 - which error it is, is open
                ends["refused"] += 1
            else:  # the change came too late, or had no effect
                assert found["id"].to_pylist() == list(range(2000))
                assert set(found["sentinel"].to_pylist()) == {12345}
                ends["right"] += 1
        assert ends["refused"] > 5
