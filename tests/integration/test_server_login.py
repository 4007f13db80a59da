"""Logins: accepted and refused ones, and connections that never log in."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import CLIENT_OFFER
from informix_arrow.wire.login import ConnectReply, ConnectRequest

from .raw import EOT, TIMEOUT, RawClient, connect_request

if TYPE_CHECKING:
    from pathlib import Path


def everything_until_closed(sock: socket.socket) -> bytes:
    """Return what the server sends before it closes the connection. A reset counts as closing."""
    data = b""
    try:
        while piece := sock.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def eventually(condition: Callable[[], bool]) -> bool:
    """Return whether the condition becomes true within the time limit."""
    never = threading.Event()
    return any(condition() or never.wait(0.01) for _ in range(int(TIMEOUT * 100)))


def test_the_acceptance_names_the_server_and_its_version(server: Server) -> None:
    with RawClient(server) as client:
        assert client.reply.kind == "accept"
        assert client.reply.server_name == "informix"
        assert client.reply.cap1 == 0x13C
        assert client.reply.version == "Informix Dynamic Server Version 9.59"


def test_a_wrong_password_is_rejected_with_951_and_the_connection_closed(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.create_connection(server.address, TIMEOUT) as sock:
        sock.sendall(connect_request(password="s3cret-but-wrong").encode())
        reply = ConnectReply.parse(everything_until_closed(sock))
    assert (reply.kind, reply.service_error) == ("reject", -951)
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize("password", ["", "in4mi", "in4mix ", "IN4MIX", "\u20ac"])
def test_passwords_that_only_resemble_the_right_one_are_rejected(server: Server, password: str) -> None:
    login = connect_request(password=password, locale="en_US.utf8")
    with RawClient(server, login=login) as client:
        assert client.reply.service_error == -951


def test_a_wrong_user_is_rejected_with_951(server: Server) -> None:
    with RawClient(server, login=connect_request(user="nobody")) as client:
        assert client.reply.service_error == -951


def test_a_wrong_server_name_is_rejected_with_761_and_the_right_one(server: Server) -> None:
    with RawClient(server, login=connect_request(server="elsewhere")) as client:
        assert client.reply.service_error == -761
        assert client.reply.server_name == "informix"


def test_a_login_without_a_server_name_receives_it(server: Server) -> None:
    with RawClient(server, login=connect_request(server="")) as client:
        assert client.reply.kind == "accept"
        assert client.reply.server_name == "informix"


def test_a_locale_whose_code_set_is_unknown_is_rejected(server: Server) -> None:
    with RawClient(server, login=connect_request(locale="xx_XX.ebcdic-42")) as client:
        assert client.reply.service_error == -23101


def test_every_prefix_of_a_login_may_be_the_last_that_is_heard_of_a_client(server: Server) -> None:
    packet = connect_request().encode()
    before = server.sessions
    for length in range(len(packet)):
        with socket.create_connection(server.address, TIMEOUT) as sock:
            sock.sendall(packet[:length])
    with RawClient(server, "sysmaster"):
        pass
    assert eventually(lambda: server.sessions <= before)


def test_a_login_that_comes_byte_by_byte_is_accepted(server: Server) -> None:
    with socket.create_connection(server.address, TIMEOUT) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in connect_request().encode():
            sock.sendall(bytes([byte]))
        reply = sock.recv(4096)
    assert ConnectReply.parse(reply).kind == "accept"


@pytest.mark.parametrize(
    "rubbish",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        bytes.fromhex("160301020001000001fc0303") + bytes(500),  # a TLS hello
        bytes(64),
        b"\xff" * 70000,
        bytes.fromhex("0006013c0000"),  # a login packet with only a header
        bytes.fromhex("0020013c0000") + b"\xff" * 26,
    ],
    ids=["http", "tls", "zeros", "ones", "header only", "no login inside"],
)
def test_what_is_no_login_ends_the_connection_at_once(server: Server, rubbish: bytes) -> None:
    with socket.create_connection(server.address, TIMEOUT) as sock:
        try:
            sock.sendall(rubbish)
        except (BrokenPipeError, ConnectionResetError):
            return
        assert everything_until_closed(sock) == b""


def test_a_silent_peer_is_dropped_after_the_login_time_limit() -> None:
    with Server(login_timeout=0.05) as server, socket.create_connection(server.address, TIMEOUT) as sock:
        sock.sendall(b"\x01")
        assert everything_until_closed(sock) == b""


def test_eight_and_nine_offered_bytes_get_the_bits_that_were_offered(server: Server) -> None:
    with RawClient(server) as client:
        (short,) = client.ask(m.Protocols(CLIENT_OFFER))
        (long,) = client.ask(m.Protocols(CLIENT_OFFER + b"\x06"))
    assert isinstance(short, m.Protocols)
    assert isinstance(long, m.Protocols)
    assert short.mask[:8] == long.mask[:8] == bytes.fromhex("bdbe9ffe7fb7ffef")
    assert short.mask[8] == 0
    assert long.mask[8] & 0x06 == 0


def test_an_unknown_database_is_refused_and_another_may_be_opened(server: Server) -> None:
    with RawClient(server) as client:
        assert client.error(m.DbOpen("no_such_database")) == -329
        assert client.open_database("sysmaster").warnings & 1


def test_without_a_database_statements_are_refused_but_the_session_lives(server: Server) -> None:
    with RawClient(server) as client:
        assert client.error(m.Prepare(0, "select 1 from systables"), m.NDescribe(), m.WantDone()) < 0
        client.open_database("stores_demo")


def test_the_databases_are_listed(server: Server) -> None:
    with RawClient(server) as client:
        (names,) = client.ask(m.DbList())
    assert isinstance(names, m.DbNames)
    assert {"sysmaster", "stores_demo"} <= set(names.names)


def test_exit_is_answered_and_the_connection_closed(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        client.send(m.Exit())
        assert isinstance(client.receive(), m.Exit)
        assert client.socket.recv(1) == b""


def test_session_environment_version_and_empty_groups_get_a_bare_end_of_turn(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        assert client.ask(m.Info((("DBTEMP", "/tmp"), ("SUBQCACHESZ", "10")))) == []
        assert client.ask(m.Version()) == []
        assert client.ask() == []


#: Sent by libsqli. Its length, 0x28, includes the end of the blocks. That of JDBC would be 0x26.
LIBSQLI_INFO = bytes.fromhex(
    "0051 0006 0028 000c 0004 0006 444254454d50 0004 2f746d70 000c 5355425143414348452053 5a 0002 3130 0000 0000 000c"
)


def test_the_environment_of_libsqli_is_answered_and_the_session_goes_on(server: Server) -> None:
    with RawClient(server) as client:
        client.socket.sendall(LIBSQLI_INFO)
        assert client.receive_group() == []
        client.open_database("sysmaster")
        assert client.number("select 7 from systables where tabid = 1") == 7


@pytest.mark.parametrize(
    ("negotiate", "sent", "said"),
    [
        (False, b"", "and nothing was received"),
        (True, b"", "and nothing was received"),
        (True, LIBSQLI_INFO[:-6], "but 42 bytes of the message SQ_INFO (81) were received"),
    ],
    ids=["before the capabilities", "after them", "in the environment"],
)
def test_a_login_that_stalls_after_its_acceptance_is_ended_and_logged(
    negotiate: bool, sent: bytes, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "informix_arrow.server")
    with Server(login_timeout=3.0) as server, RawClient(server, negotiate=negotiate) as client:
        client.socket.sendall(sent)
        assert client.socket.recv(1) == b""
        assert f"Login from 127.0.0.1 ended: It was not complete after 3 s, {said}" in caplog.text


def test_a_connection_request_that_stalls_is_ended_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "informix_arrow.server")
    with Server(login_timeout=0.3) as server, socket.create_connection(server.address, TIMEOUT) as stalled:
        stalled.sendall(connect_request(password="s3cret").encode()[:-1])
        assert everything_until_closed(stalled) == b""
        assert "bytes of a connection request were received" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_session_that_is_open_may_be_idle_beyond_the_time_of_a_login() -> None:
    with Server(login_timeout=2.0) as server, RawClient(server, "sysmaster") as client:
        client.socket.settimeout(3.0)
        with pytest.raises(TimeoutError):
            client.socket.recv(1)
        client.socket.settimeout(TIMEOUT)
        assert client.number("select 7 from systables where tabid = 1") == 7


def test_stopping_ends_open_sessions_and_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with Server(tmp_path / "databases") as server:
        clients = [RawClient(server, "stores_demo") for _ in range(3)]
        silent = socket.create_connection(server.address, TIMEOUT)
    for client in clients:
        assert everything_until_closed(client.socket) == b""
        client.socket.close()
    assert everything_until_closed(silent) == b""
    silent.close()
    assert set(threading.enumerate()) <= before
    with pytest.raises(RuntimeError):
        _ = server.address


def test_a_server_can_be_started_again(tmp_path: Path) -> None:
    server = Server(tmp_path / "databases")
    for _ in range(2):
        with server, RawClient(server, "stores_demo") as client:
            assert client.ask(EOT) == []
            client.receive_group()
    with server, pytest.raises(RuntimeError):
        server.start()


def test_the_password_is_in_the_url_but_not_in_the_repr() -> None:
    with Server(password="p@ss/wörd") as server:
        assert "p@ss" not in repr(server)
        assert server.url("stores_demo") == (
            f"informix://informix:p%40ss%2Fw%C3%B6rd@127.0.0.1:{server.port}/stores_demo?server=informix"
        )


def test_each_of_several_users_logs_in_with_his_own_password() -> None:
    with Server(users={"ann": "f1rst", "bob": "two", "informix": "in4mix"}) as server:

        def login(user: str, password: str) -> str:
            request = ConnectRequest(user, password, "informix", environment={"CLIENT_LOCALE": "en_US.utf8"})
            with RawClient(server, login=request, negotiate=False) as client:
                return client.reply.kind

        for user, password in (("ann", "f1rst"), ("bob", "two"), ("informix", "in4mix")):
            assert login(user, password) == "accept"
        for user, password in (("ann", "s3cond"), ("ann", ""), ("carl", ""), ("", ""), ("bob", "in4mix")):
            assert login(user, password) == "reject"
    assert "f1rst" not in repr(server)


def test_two_passwords_for_one_user_are_refused_before_anything_is_opened() -> None:
    with pytest.raises(ValueError, match="users= and password= have different passwords for 'ann'") as caught:
        Server(user="ann", password="s3cret", users={"ann": "0ther"}).start()
    assert "s3cret" not in str(caught.value)
    assert "0ther" not in str(caught.value)
