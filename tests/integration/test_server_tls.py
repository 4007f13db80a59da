"""TLS from the first byte, and everything else works as without it."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.login import ConnectReply

from .raw import TIMEOUT, RawClient, connect_request, one
from .test_server_login import eventually, everything_until_closed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tls_certificates import Certificates


@pytest.fixture(scope="module")
def tls_server(certificates: Certificates) -> Iterator[Server]:
    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        yield server


@pytest.fixture
def trusting(certificates: Certificates) -> ssl.SSLContext:
    """Return the context of a client that trusts the tests' certificate authority."""
    return ssl.create_default_context(cafile=certificates.ca)


def test_a_client_that_trusts_the_authority_works_as_without_tls(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        assert isinstance(client.socket, ssl.SSLSocket)
        assert client.socket.version() in {"TLSv1.2", "TLSv1.3"}
        client.command("create table tls_basic (a int, b varchar(20))")
        client.command("insert into tls_basic values (42, 'forty-two')")
        assert client.number("select a from tls_basic") == 42


def test_the_url_says_that_tls_is_needed(tls_server: Server) -> None:
    assert tls_server.url("stores_demo").startswith("informixs://")


def test_tls_1_2_is_taken_and_tls_1_1_is_not(tls_server: Server, trusting: ssl.SSLContext) -> None:
    trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        assert isinstance(client.socket, ssl.SSLSocket)
        assert client.socket.version() == "TLSv1.2"
        assert client.ask() == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the refusal of old versions is what is tested
        trusting.minimum_version = ssl.TLSVersion.TLSv1_1
        trusting.maximum_version = ssl.TLSVersion.TLSv1_1
    trusting.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        RawClient(tls_server, tls=trusting)


def test_requests_and_replies_larger_than_any_buffer_arrive_whole(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        client.command("create table tls_large (id int, b lvarchar(30000))")
        text = "".join(chr(33 + i * 7 % 90) for i in range(29_999)).replace("'", "-")
        insert = m.Command(f"insert into tls_large values (7, '{text}')")
        for _ in range(60):
            client.send(insert, m.NDescribe(), m.Execute(), m.Release(), m.EndOfTurn())
        for reply in client.receive_groups(60):
            assert one(reply, m.Done).rows == 1
        rows = client.select("select b, id from tls_large")
        assert len(rows) == 60
        assert all(row.endswith(text.encode() + b"\0\0\0\x07") for row in rows)


def test_a_client_that_sends_everything_before_it_reads_anything_is_served(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        client.send(*[m.Version(), m.EndOfTurn()] * 30_000)
        assert client.receive_groups(30_000) == [[]] * 30_000


def test_a_login_in_records_of_one_byte_is_accepted(tls_server: Server, trusting: ssl.SSLContext) -> None:
    with (
        socket.create_connection(tls_server.address, TIMEOUT) as raw,
        trusting.wrap_socket(raw, server_hostname="localhost") as sock,
    ):
        for byte in connect_request().encode():
            sock.sendall(bytes([byte]))
        assert ConnectReply.parse(sock.recv(4096)).kind == "accept"


def test_records_that_come_in_single_bytes_of_tcp_are_put_together(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    engine = trusting.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(tls_server.address, TIMEOUT) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def trickle() -> None:
            for byte in outgoing.read():
                raw.sendall(bytes([byte]))

        while True:
            try:
                engine.do_handshake()
            except ssl.SSLWantReadError:
                trickle()
                incoming.write(raw.recv(65536))
            else:
                break
        engine.write(connect_request().encode())
        trickle()
        while True:
            try:
                reply = engine.read()
            except ssl.SSLWantReadError:
                incoming.write(raw.recv(65536))
            else:
                break
    assert ConnectReply.parse(reply).kind == "accept"


def test_the_server_says_goodbye_in_tls(tls_server: Server, trusting: ssl.SSLContext) -> None:
    with (
        socket.create_connection(tls_server.address, TIMEOUT) as raw,
        trusting.wrap_socket(raw, server_hostname="localhost", suppress_ragged_eofs=False) as sock,
    ):
        sock.sendall(connect_request(password="wrong").encode())
        reply = b""
        while piece := sock.recv(4096):  # SSLEOFError if the peer closed the connection without a TLS alert
            reply += piece
    assert ConnectReply.parse(reply).service_error == -951


def test_a_client_that_says_goodbye_in_tls_ends_its_session(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    before = tls_server.sessions
    client = RawClient(tls_server, "sysmaster", tls=trusting)
    assert isinstance(client.socket, ssl.SSLSocket)
    client.socket.unwrap().close()
    assert eventually(lambda: tls_server.sessions <= before)


def test_an_interrupt_goes_beside_tls_and_stops_the_statement(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        tls_server.faults.delay_next(3600, matching="tls_interrupt")
        client.send(m.Command("create table tls_interrupt (a int)"), m.Execute(), m.Release(), m.EndOfTurn())
        socket.socket.send(client.socket, b"B", socket.MSG_OOB)
        (error,) = client.receive_group()
        assert isinstance(error, m.Err)
        assert (error.sqlcode, error.isamcode) == (-213, -157)
        tls_server.faults.clear()  # it may have been stopped before its delay began
        client.command("create table tls_interrupt (a int)")
        client.command("insert into tls_interrupt values (5)")
        assert client.number("select a from tls_interrupt") == 5


def test_interrupts_between_many_requests_never_damage_the_stream(
    tls_server: Server, trusting: ssl.SSLContext
) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        for _ in range(200):
            client.send(m.Version(), m.EndOfTurn())
            socket.socket.send(client.socket, b"B", socket.MSG_OOB)
            assert client.receive_group() == []


def test_interrupts_in_a_row_never_damage_the_stream(tls_server: Server, trusting: ssl.SSLContext) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as client:
        for _ in range(20):
            for _ in range(3):
                client.send(m.Version(), m.EndOfTurn())
                for _ in range(3):
                    socket.socket.send(client.socket, b"B", socket.MSG_OOB)
            assert client.receive_groups(3) == [[]] * 3


def test_urgent_bytes_between_records_are_taken_out_however_the_records_arrive() -> None:
    from informix_arrow.server.net.tls import _RecordScanner

    records = [b"\x16\x03\x03\x00\x05BBBBB", b"\x17\x03\x03\x00\x00", b"\x17\x03\x03\x42\x42" + b"B" * 0x4242]
    received = b"B".join([b"BB", *records, b"BBB"])
    for size in (1, 2, 3, 5, 7, 1000, len(received)):
        clean = _RecordScanner(ord("B"))
        pieces = [clean.strip_urgent(received[at : at + size]) for at in range(0, len(received), size)]
        assert b"".join(pieces) == b"".join(records)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        connect_request().encode(),
        bytes(100),
        bytes.fromhex("160301020001000001fc0303") + bytes(600),
        b"\xff" * 70_000,
    ],
    ids=["http", "plain SQLI", "zeros", "broken hello", "ones"],
)
def test_what_is_no_tls_ends_its_own_connection_only(
    tls_server: Server, trusting: ssl.SSLContext, rubbish: bytes
) -> None:
    with RawClient(tls_server, "sysmaster", tls=trusting) as other:
        with socket.create_connection(tls_server.address, TIMEOUT) as sock:
            try:
                sock.sendall(rubbish)
            except (BrokenPipeError, ConnectionResetError):
                pass
            else:
                answer = everything_until_closed(sock)
                assert answer[:1] in {b"", b"\x15"}  # nothing, or a TLS alert
        assert other.ask() == []


def test_a_plain_client_of_a_tls_listener_is_explained_in_the_log(
    tls_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "informix_arrow.server")
    with socket.create_connection(tls_server.address, TIMEOUT) as sock:
        sock.sendall(connect_request().encode())
        everything_until_closed(sock)
    assert eventually(lambda: "The client may not be using TLS" in caplog.text)


def test_a_tls_client_of_a_plain_listener_is_explained_in_the_log(
    server: Server, trusting: ssl.SSLContext, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "informix_arrow.server")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        RawClient(server, tls=trusting)
    assert eventually(lambda: "The client uses TLS, but this listener does not." in caplog.text)


def test_nobody_waits_for_a_handshake_that_stalls(tls_server: Server, trusting: ssl.SSLContext) -> None:
    with socket.create_connection(tls_server.address, TIMEOUT) as stalled:
        stalled.sendall(b"\x16\x03\x01")
        with RawClient(tls_server, "sysmaster", tls=trusting) as client:
            assert client.ask() == []


def test_a_handshake_that_stalls_is_ended_after_the_login_time_limit(certificates: Certificates) -> None:
    server = Server(tls_cert=certificates.server, tls_key=certificates.server_key, login_timeout=0.2)
    with server, socket.create_connection(server.address, TIMEOUT) as stalled:
        stalled.sendall(b"\x16\x03\x01")
        assert everything_until_closed(stalled) == b""


def test_stopping_ends_tls_sessions_and_leaves_no_thread(
    certificates: Certificates, trusting: ssl.SSLContext
) -> None:
    before = set(threading.enumerate())
    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        client = RawClient(server, "sysmaster", tls=trusting)
        silent = socket.create_connection(server.address, TIMEOUT)
    client.socket.close()
    assert everything_until_closed(silent) == b""
    silent.close()
    assert set(threading.enumerate()) <= before


def test_with_a_client_ca_only_its_clients_get_in(
    certificates: Certificates, trusting: ssl.SSLContext
) -> None:
    server = Server(tls_cert=certificates.server, tls_key=certificates.server_key, tls_ca=certificates.ca)
    with server:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            RawClient(server, "sysmaster", tls=trusting)
        stranger = ssl.create_default_context(cafile=certificates.ca)
        stranger.load_cert_chain(certificates.stranger, certificates.stranger_key)
        with pytest.raises((ssl.SSLError, ConnectionError)):
            RawClient(server, "sysmaster", tls=stranger)
        trusting.load_cert_chain(certificates.client, certificates.client_key)
        with RawClient(server, "sysmaster", tls=trusting) as client:
            assert client.ask() == []


def test_a_key_that_is_encrypted_missing_or_anothers_is_refused_before_anything_starts(
    certificates: Certificates, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"is encrypted\. Pass it without a passphrase"):
        Server(tls_cert=certificates.server, tls_key=certificates.server_key_encrypted).start()
    with pytest.raises(ValueError, match=r"server\.pem .*cannot be used"):
        Server(tls_cert=certificates.server, tls_key=certificates.client_key).start()
    with pytest.raises(ValueError, match=r"nowhere\.pem"):
        Server(tls_cert=tmp_path / "nowhere.pem").start()
    with pytest.raises(ValueError, match="CA file"):
        Server(tls_cert=certificates.server, tls_key=certificates.server_key, tls_ca=tmp_path / "no").start()
    with pytest.raises(ValueError, match="need tls_cert"):
        Server(tls_key=certificates.server_key).start()


def test_certificate_and_key_may_be_in_one_file(
    certificates: Certificates, trusting: ssl.SSLContext, tmp_path: Path
) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(certificates.server.read_bytes() + certificates.server_key.read_bytes())
    with Server(tls_cert=both) as server, RawClient(server, tls=trusting) as client:
        assert client.reply.kind == "accept"
