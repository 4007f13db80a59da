"""Reference clients over TLS, connected to a listener of the tests."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.interop.reference_clients import reference_client_missing

from informix_arrow.server import Server

from .jdbc.driver import Jdbc, JdbcError
from .jdbc.toolchain import Java, Unavailable, program
from .target import Target

if TYPE_CHECKING:
    from tests.tls_certificates import Certificates

STORE_PASSWORD = "changeit"


@pytest.fixture(scope="module")
def tls_server(certificates: Certificates) -> Iterator[Server]:
    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        yield server


@pytest.fixture(scope="module")
def tls_target(tls_server: Server) -> Target:
    return Target("localhost", tls_server.port, tls_server.user, tls_server.password, tls_server.server_name)


@pytest.fixture(scope="module")
def tls_jdbc(
    java: Java, certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Jdbc]:
    """A JVM that trusts the tests' certificate authority."""
    store = tmp_path_factory.mktemp("trusted") / "trust.p12"
    try:
        keytool = program("keytool", "it comes with a JDK")
    except Unavailable as missing:
        reference_client_missing(str(missing))
    subprocess.run(
        [
            *(keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", str(certificates.ca)),
            *("-keystore", str(store), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    properties = {
        "javax.net.ssl.trustStore": str(store),
        "javax.net.ssl.trustStorePassword": STORE_PASSWORD,
        "javax.net.ssl.trustStoreType": "PKCS12",
    }
    jdbc = Jdbc(java, **properties)
    yield jdbc
    jdbc.stop()


@pytest.mark.reference_client
def test_jdbc_works_over_tls(tls_jdbc: Jdbc, tls_target: Target) -> None:
    tls_jdbc.ask("connect", url=tls_target.jdbc_url("stores_demo", SSLCONNECTION="true"))
    tls_jdbc.update("create table jdbc_tls (id int, v nvarchar(40), s int)")
    rows = [[str(n), "é€" * (n % 9), str(-n)] for n in range(100)]
    assert (
        tls_jdbc.insert("insert into jdbc_tls values (?, ?, ?)", ["Int", "String", "Int"], rows) == [1] * 100
    )
    _, found = tls_jdbc.query("select id, v, s from jdbc_tls order by id", ["Int", "String", "Int"])
    assert found == rows
    with pytest.raises(JdbcError) as error:
        tls_jdbc.update("select nothing")
    assert error.value.code < 0
    tls_jdbc.ask("close")


@pytest.mark.reference_client
def test_jdbc_without_tls_is_refused_by_a_tls_listener(tls_jdbc: Jdbc, tls_target: Target) -> None:
    with pytest.raises(JdbcError):
        tls_jdbc.ask("connect", url=tls_target.jdbc_url("stores_demo"))


@pytest.mark.reference_client
def test_informix_driver_works_over_tls_and_verifies(tls_target: Target, certificates: Certificates) -> None:
    try:
        import informix_db
    except ImportError:
        reference_client_missing("informix-driver is not installed (pip install informix-driver)")
    connection = informix_db.connect(
        tls_target.host,
        tls_target.port,
        user=tls_target.user,
        password=tls_target.password,
        database="stores_demo",
        server=tls_target.server,
        client_locale="en_US.utf8",
        autocommit=True,
        connect_timeout=60.0,
        read_timeout=60.0,
        tls=ssl.create_default_context(cafile=certificates.ca),
    )
    try:
        cursor = connection.cursor()
        cursor.execute("create table peer_tls (id int, v nvarchar(40), s int)")
        rows = [(n, "é€" * (n % 9), -n) for n in range(300)]
        cursor.executemany("insert into peer_tls values (?, ?, ?)", rows)
        cursor.execute("select id, v, s from peer_tls order by id")
        assert cursor.fetchall() == rows
    finally:
        connection.close()
