"""Limits of one client, and that it affects only itself when it reaches them."""

from __future__ import annotations

import logging
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from informix_arrow.server import Server
from informix_arrow.server.net.limits import MAX_UNAUTHENTICATED
from informix_arrow.wire import messages as m

from .raw import TIMEOUT, RawClient, connect_request
from .test_server_login import eventually, everything_until_closed


def test_a_login_over_the_limit_is_refused_with_25571_and_there_is_room_again_later() -> None:
    with Server(max_sessions=3) as server:
        clients = [RawClient(server, "sysmaster") for _ in range(3)]
        with RawClient(server) as late:
            assert (late.reply.kind, late.reply.service_error) == ("reject", -25571)
        clients.pop().socket.close()

        def fits() -> bool:
            with RawClient(server) as again:
                return again.reply.kind == "accept"

        assert eventually(fits)
        for client in clients:
            assert client.ask(m.Version()) == []
            client.socket.close()


def test_a_refused_login_takes_no_place() -> None:
    with Server(max_sessions=1) as server:
        for _ in range(20):
            with RawClient(server, login=connect_request(password="wrong")) as client:
                assert client.reply.service_error == -951
        with RawClient(server, "sysmaster") as client:
            assert client.ask(m.Version()) == []


def test_connections_beyond_all_places_are_closed_at_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "informix_arrow.server")
    with Server(max_sessions=1) as server, ExitStack() as stack:
        with RawClient(server, "sysmaster") as client:
            for _ in range(MAX_UNAUTHENTICATED):
                stack.enter_context(socket.create_connection(server.address, TIMEOUT))
            assert eventually(lambda: server.sessions == MAX_UNAUTHENTICATED + 1)
            with socket.create_connection(server.address, TIMEOUT) as late:
                assert everything_until_closed(late) == b""
            assert client.ask(m.Version()) == []
        assert "A connection was refused, because" in caplog.text


@pytest.mark.parametrize(
    ("setting", "value"), [("max_sessions", 0), ("login_timeout", 0.0), ("idle_timeout", -1.0)]
)
def test_limits_that_let_nobody_in_are_refused(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=setting):
        Server(**{setting: value}).start()  # type: ignore[arg-type]


def test_a_session_that_does_nothing_is_ended_and_its_transaction_rolled_back() -> None:
    with Server(idle_timeout=3.0) as server:
        with RawClient(server, "sysmaster") as idle:
            idle.command("create table idle_t (a int)")
            idle.must(m.Begin())
            idle.command("insert into idle_t values (1)")
            assert idle.socket.recv(1) == b""
        with RawClient(server, "sysmaster") as client:
            assert client.number("select count(*)::int from idle_t") == 0


def test_a_session_that_does_not_read_its_reply_is_ended() -> None:
    with Server(idle_timeout=3.0) as server, RawClient(server, "sysmaster") as client:
        client.command("create table unread (a lvarchar(30000))")
        client.command(f"insert into unread values ('{'x' * 29_000}')")
        query = client.prepare("select u.a from unread u, systables s, systables t").statement_id
        client.open_cursor(query)
        client.send(m.Id(query), m.Fetch(16 << 20), m.EndOfTurn())  # more than socket buffers hold
        assert eventually(lambda: server.sessions == 0)


def test_fifty_sessions_at_a_time_each_get_their_own_answers() -> None:
    number = 50
    with Server() as server, ExitStack() as stack:
        clients = [stack.enter_context(RawClient(server, "sysmaster")) for _ in range(number)]
        assert server.sessions == number
        clients[0].command("create table many_sessions (who int, what varchar(30))")

        def session(who: int) -> list[bytes]:
            client = clients[who]
            client.socket.settimeout(600)  # all of them are executing
            client.command(f"insert into many_sessions values ({who}, 'session {who}')")
            return client.select(f"select what, who from many_sessions where who = {who}")

        with ThreadPoolExecutor(number) as pool:
            for who, rows in enumerate(pool.map(session, range(number))):
                text = f"session {who}".encode()
                assert rows == [bytes([len(text)]) + text + struct.pack(">i", who)]
        assert clients[0].number("select count(*)::int from many_sessions") == number


def test_sessions_that_send_rubbish_stall_or_flood_harm_only_themselves() -> None:
    with Server() as server, ExitStack() as stack:
        good = stack.enter_context(RawClient(server, "sysmaster"))
        good.command("create table undisturbed (a int)")

        def works(value: int) -> None:
            good.command(f"insert into undisturbed values ({value})")
            assert good.number(f"select a from undisturbed where a = {value}") == value

        stalled = stack.enter_context(RawClient(server, "sysmaster"))
        stalled.socket.sendall(m.Prepare(0, "select 1 from systables").encode(stalled.framing)[:-7])
        works(1)
        for number, rubbish in enumerate(
            (b"\xff" * 100_000, bytes(1000), b"\x00\x02\x7f\xff" + b"?" * 50_000)
        ):
            with RawClient(server, "sysmaster") as bad:
                try:
                    bad.socket.sendall(rubbish)
                    bad.socket.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                everything_until_closed(bad.socket)
            works(2 + number)
        flood = stack.enter_context(RawClient(server, "sysmaster"))
        request = b"".join(x.encode(flood.framing) for x in (m.Protocols(b"\xff" * 8), m.EndOfTurn()))
        flood.socket.settimeout(0.5)
        try:
            for _ in range(1000):  # far more replies than the server keeps for one client
                flood.socket.sendall(request * 10_000)
        except (TimeoutError, ConnectionError):
            pass
        works(10)
        stalled.socket.settimeout(TIMEOUT)
        stalled.socket.sendall(m.Prepare(0, "select 1 from systables").encode(stalled.framing)[-7:])
        stalled.send(m.NDescribe(), m.WantDone(), m.EndOfTurn())
        assert stalled.receive_group()
        works(11)


def test_a_message_that_claims_to_be_huge_ends_its_session() -> None:
    with Server() as server, RawClient(server, "sysmaster") as client:
        client.socket.sendall(struct.pack(">hhi", 2, 0, 200 << 20))
        assert everything_until_closed(client.socket) == b""


def test_the_server_listens_on_loopback_by_default(caplog: pytest.LogCaptureFixture) -> None:
    with Server() as server:
        assert server.address[0] == "127.0.0.1"
    assert "without TLS" not in caplog.text


def test_listening_elsewhere_without_tls_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with Server(host="0.0.0.0") as server, RawClient(server):
        pass
    assert "Listening on 0.0.0.0 without TLS" in caplog.text


def test_no_password_is_ever_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "V3ry-s3cret"
    with Server(password=secret) as server:
        with RawClient(server, "sysmaster", login=connect_request(password=secret)) as client:
            client.error(m.Prepare(0, f"set encryption password '{secret}'"), m.NDescribe())
            client.error(m.Command(f"create user ann with password '{secret}'"), m.Execute())
            client.socket.sendall(b"\xff\xff")
            everything_until_closed(client.socket)
        with RawClient(server, login=connect_request(password=f"almost {secret}")) as client:
            assert client.reply.kind == "reject"
        with socket.create_connection(server.address, TIMEOUT) as sock:
            packet = connect_request(password=secret).encode()
            sock.sendall(packet[:6] + b"\xff" + packet[7:])
            everything_until_closed(sock)
        assert secret not in repr(server)
        assert secret not in repr(list(server.queries))
        assert [query for query in server.queries if "password '***'" in query.sql]
    assert caplog.records
    assert secret not in caplog.text
