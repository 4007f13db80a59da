"""The blocking transport over real sockets: time limits, lost peers, sending while replies accumulate."""

from __future__ import annotations

import contextlib
import errno
import random
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from tests.internals import readiness_of

from informix_arrow.operations.io_steps import (
    Call,
    CancelReason,
    Connect,
    ConnectionLost,
    Exchange,
    Receive,
    Send,
    SendReceive,
    split_send_receive,
)
from informix_arrow.transport import blocking, limits
from informix_arrow.transport.blocking import BlockingTransport
from informix_arrow.transport.sockets import resolve


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def transport(read_timeout: float | None = 10.0) -> BlockingTransport:
    return BlockingTransport(connect_timeout=10.0, read_timeout=read_timeout)


def at(listener: socket.socket) -> Connect:
    host, port = listener.getsockname()
    return Connect(host, port)


def test_silence_beyond_the_read_timeout_is_a_lost_connection(listener: socket.socket) -> None:
    def wait() -> Exchange[None]:
        yield at(listener)
        yield Receive(memoryview(bytearray(10)))

    link = transport(0.02)
    with pytest.raises(ConnectionLost, match=r"0\.02 s"):
        link.run(wait())
    link.close()


def test_an_exchange_may_be_less_patient_than_the_user(listener: socket.socket) -> None:
    def wait() -> Exchange[str]:
        yield at(listener)
        try:
            yield Receive(memoryview(bytearray(10)), idle_timeout=0.02)
        except ConnectionLost:
            return "gone on"
        return "answered"

    link = transport(None)
    assert link.run(wait()) == "gone on"
    link.close()


def test_nobody_listening_is_reported_with_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    def knock() -> Exchange[None]:
        yield Connect("127.0.0.1", port)

    with pytest.raises(ConnectionLost, match=rf"Cannot connect to 127\.0\.0\.1:{port}"):
        transport().run(knock())


def test_a_closed_transport_says_so() -> None:
    def speak() -> Exchange[None]:
        yield Send(b"x")

    with pytest.raises(ConnectionLost, match="closed"):
        transport().run(speak())


def test_connecting_again_closes_the_first_connection(listener: socket.socket) -> None:
    def twice() -> Exchange[None]:
        yield at(listener)
        yield at(listener)

    link = transport()
    link.run(twice())
    first, _ = listener.accept()
    with first:
        first.settimeout(10)
        assert first.recv(1) == b""
    link.close()


def test_replies_are_taken_in_while_much_is_sent(listener: socket.socket) -> None:
    """The server stops reading until its replies are read, so a plain send would wait for ever."""
    request, reply = b"q" * (16 << 20), b"r" * (8 << 20)

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.sendall(reply)
            left = len(request)
            while left:
                left -= len(peer.recv(1 << 20))
            peer.sendall(b"!")

    def talk() -> Exchange[bytes]:
        into = bytearray(len(reply) + 1)
        yield at(listener)
        count = yield Send(request, memoryview(into))
        while count < len(into):
            count += yield Receive(memoryview(into)[count:])
        return bytes(into)

    server = threading.Thread(target=serve)
    server.start()
    link = transport()
    assert link.run(talk()) == reply + b"!"
    link.close()
    server.join(10)
    assert not server.is_alive()


@pytest.mark.parametrize("limits", [(None, None), (10.0, None), (0.1, None), (None, 10.0)])
def test_a_question_is_sent_and_its_answer_received(
    listener: socket.socket, limits: tuple[float | None, float | None]
) -> None:
    """Every kind of time limit is tested, also with a long request, which is not sent at once."""
    read_timeout, timeout = limits
    link = transport(read_timeout)
    questions = [b"q", b"r" * (16 << 20), b"s"]

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            for question in questions:
                left = len(question)
                while left:
                    left -= len(peer.recv(min(left, 1 << 20)))
                peer.sendall(question[:1] * 3)
            peer.recv(1)

    def talk() -> Exchange[list[bytes]]:
        yield at(listener)
        answers = []
        for question in questions:
            into = bytearray(10)
            count = yield SendReceive(question, memoryview(into))
            answers.append(bytes(into[:count]))
        into = bytearray(10)
        assert (yield SendReceive(b"?", memoryview(into))) == 0, "the peer has gone"
        return answers

    server = threading.Thread(target=serve)
    server.start()
    assert link.run(talk(), Call(timeout, started_at=time.monotonic())) == [b"qqq", b"rrr", b"sss"]
    link.close()
    server.join(10)


def test_silence_behind_a_question_counts_from_its_beginning(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocking, "WAKE_SECONDS", 0.02)
    link = transport(0.03)
    asked: list[float] = []

    def talk() -> Exchange[None]:
        yield at(listener)
        readiness = readiness_of(link)
        assert readiness is not None
        wait = readiness.wait
        monkeypatch.setattr(
            readiness, "wait", lambda r, w, seconds: asked.append(seconds) or wait(r, w, seconds)
        )
        yield SendReceive(b"?", memoryview(bytearray(10)))

    with pytest.raises(ConnectionLost, match=r"0\.03 s"):
        link.run(talk(), Call())
    first = 0.02 if link._socket_waits else 0.0  # the socket itself has waited for so long
    assert first or asked[0] == 0.02
    assert first + sum(asked) < 0.04
    link.close()


# If the signal arrives while a socket is created, Python closes the socket and warns.
@pytest.mark.filterwarnings("ignore:Exception ignored .*<socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of its own here")
def test_a_signal_that_strikes_a_question_loses_no_answer(listener: socket.socket) -> None:
    """The signal arrives during the wait for a reply, or when the reply has just arrived and has not been returned
    yet."""
    questions, struck, passed = 40, 0, 0

    def serve() -> None:
        while True:
            peer, _ = listener.accept()
            with peer, contextlib.suppress(ConnectionError):  # the connection may be dropped in the middle
                while data := peer.recv(8):
                    peer.sendall(data)  # the urgent byte is separate from these
                    if data == b"the end!":
                        return

    def talk(fresh: bool, ends: bool = False) -> Exchange[list[int]]:
        found = []
        if fresh:
            yield at(listener)
        into = bytearray(8)
        for number in range(questions):
            count = yield SendReceive(number.to_bytes(8, "big"), memoryview(into))
            while count < 8:
                count += yield Receive(memoryview(into)[count:])
            found.append(int.from_bytes(into, "big"))
        if ends:
            yield Send(b"the end!")
        return found

    def strike(*_: object) -> None:
        raise KeyboardInterrupt

    server = threading.Thread(target=serve)
    server.start()
    before = signal.signal(signal.SIGALRM, strike)
    link, fresh = transport(), True
    try:
        for _ in range(400):
            call = Call()
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0.00002, 0.0015))
                found = link.run(talk(fresh), call)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:  # not during a wait: the connection cannot be used any more
                passed += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
                link.close()
                link, fresh = transport(), True
                continue
            fresh = False
            struck += call.pending_exception is not None
            call.pending_exception = None
            assert found == list(range(questions))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        link.close()
        link = transport()
        link.run(talk(True, ends=True))
        link.close()
        server.join(10)
    assert struck > 0, (struck, passed)


def test_who_looks_at_steps_sees_a_question_and_an_answer() -> None:
    def talk() -> Exchange[str]:
        try:
            yield SendReceive(b"q", memoryview(bytearray(3)), 7.0)
        except ConnectionLost:
            return f"lost {(yield Send(b'x'))}"
        return "answered"

    exchange, into = split_send_receive(talk()), None
    assert next(exchange) == Send(b"q")
    into = exchange.send(0)
    assert isinstance(into, Receive)
    assert (len(into.into), into.idle_timeout) == (3, 7.0)
    assert exchange.throw(ConnectionLost("gone")) == Send(b"x")
    with pytest.raises(StopIteration) as stop:
        exchange.send(5)
    assert stop.value.value == "lost 5"


def test_a_peer_that_hangs_up_during_a_send_is_reported(listener: socket.socket) -> None:
    def talk() -> Exchange[None]:
        yield at(listener)
        peer, _ = listener.accept()
        peer.close()
        yield Send(b"q" * (64 << 20), memoryview(bytearray(100)))

    link = transport()
    with pytest.raises(ConnectionLost):
        link.run(talk())
    link.close()


def test_a_wait_without_limit_begins_anew_after_each_wake_up(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocking, "WAKE_SECONDS", 0.01)
    waits: list[float] = []

    def talk() -> Exchange[int]:
        yield at(listener)
        peer, _ = listener.accept()
        readiness = readiness_of(link)
        assert readiness is not None
        wait = readiness.wait

        def counted(reading: bool, writing: bool, seconds: float) -> bool:
            waits.append(seconds)
            if len(waits) == 3:
                peer.sendall(b"abc")
            return wait(reading, writing, seconds)

        monkeypatch.setattr(readiness, "wait", counted)
        with peer:
            return (yield Receive(memoryview(bytearray(10))))

    link = transport(None)
    assert link.run(talk()) == 3
    assert len(waits) >= 3
    assert max(waits) <= 0.01
    link.close()


def test_a_peer_given_up_by_the_system_is_a_lost_connection(listener: socket.socket) -> None:
    """ETIMEDOUT is a TimeoutError, too, but not one of our time limits."""

    class GivenUp:
        def wait(self, reading: bool, writing: bool, seconds: float) -> bool:
            raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    def wait() -> Exchange[None]:
        yield at(listener)
        link._readiness = GivenUp()  # type: ignore[assignment]
        yield Receive(memoryview(bytearray(10)))

    link = transport(None)
    with pytest.raises(ConnectionLost, match="Connection timed out"):
        link.run(wait(), Call())
    link.close()


def test_an_attempt_given_up_by_the_system_is_reported_with_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def knock() -> Exchange[None]:
        yield Connect("127.0.0.1", 9)

    link = BlockingTransport(connect_timeout=None, read_timeout=None)

    def give_up(*_: object) -> None:
        raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    monkeypatch.setattr(link, "_connect_socket", give_up)
    with pytest.raises(ConnectionLost, match=r"Cannot connect to 127\.0\.0\.1:9 \(Connection timed out"):
        link.run(knock())


def test_the_next_address_of_a_name_is_tried(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, port = listener.getsockname()
    with socket.create_server(("127.0.0.1", 0)) as gone:
        dead = gone.getsockname()
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, address) for address in (dead, (host, port))]
    monkeypatch.setattr(blocking, "resolve", lambda *_: found)

    def talk() -> Exchange[None]:
        yield Connect("db.example", port)
        yield Send(b"x")

    link = transport()
    link.run(talk())
    peer, _ = listener.accept()
    with peer:
        assert peer.recv(1) == b"x"
    link.close()


def test_a_name_that_is_not_resolved_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def never_ends(*_: object) -> list[object]:
        asked.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", never_ends)

    def knock() -> Exchange[None]:
        yield Connect("slow.example", 9088)

    try:
        with pytest.raises(ConnectionLost, match=r"'slow\.example' was not resolved"):
            BlockingTransport(connect_timeout=0.02, read_timeout=None).run(knock())
    finally:
        asked.set()


def test_nobody_is_asked_for_the_address_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(host: object, *_: object) -> list[object]:
        asked.append(host)
        raise OSError("nobody knows it")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    (found,) = resolve("127.0.0.1", 9088, 60)
    assert found == (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, ("127.0.0.1", 9088))
    assert not asked
    others = ["localhost", "127.1", "::1", "1.2.3.4.5", "1.2.3.04"]
    for other in others:
        with pytest.raises(ConnectionLost, match="nobody knows it"):
            resolve(other, 9088, 60)
    assert asked == others


def test_a_login_as_a_whole_may_have_a_limit(listener: socket.socket) -> None:
    """After the limit, every further step fails at once."""
    failures = 0

    def stubborn() -> Exchange[None]:
        nonlocal failures
        for _ in range(3):
            try:
                yield at(listener)
                yield Receive(memoryview(bytearray(10)))
            except ConnectionLost as error:
                failures += 1
                last = error
        raise last

    link = transport(None)
    with pytest.raises(ConnectionLost, match="login_timeout"):
        link.run(stubborn(), total_timeout=0.02)
    assert failures == 3
    link.close()


def test_keepalive_is_set_as_asked(listener: socket.socket) -> None:
    def knock() -> Exchange[None]:
        yield at(listener)

    for keepalive, wanted in ((True, 1), (False, 0), (77.0, 1)):
        link = BlockingTransport(connect_timeout=10, read_timeout=None, keepalive=keepalive)
        link.run(knock())
        assert link._socket is not None
        assert link._socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == wanted
        if keepalive == 77.0 and hasattr(socket, "TCP_KEEPIDLE"):
            assert link._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 77
        link.close()


def interrupted(
    listener: socket.socket, link: BlockingTransport, call: Call, answer: bytes, question: bytes = b""
) -> Exchange[int]:
    """Wait for a reply that arrives after the urgent byte was sent, after a request if one is given."""
    yield at(listener)
    peer, _ = listener.accept()
    asked = threading.Event()

    def serve() -> None:
        with peer:
            assert not question or peer.recv(len(question)) == question, (
                "the urgent byte follows the question"
            )
            poll = select.poll()
            poll.register(peer, select.POLLPRI)
            if poll.poll(30_000) and peer.recv(1, socket.MSG_OOB) == b"B":
                asked.set()
                peer.sendall(answer)

    server = threading.Thread(target=serve)
    server.start()
    try:
        into = memoryview(bytearray(10))
        return (yield SendReceive(question, into) if question else Receive(into))
    finally:
        server.join(60)
        assert asked.is_set()


@pytest.mark.parametrize("question", [b"", b"?"])
def test_a_call_whose_time_is_over_asks_the_server_to_stop(listener: socket.socket, question: bytes) -> None:
    link, call = transport(None), Call(0.02, started_at=time.monotonic())
    assert link.run(interrupted(listener, link, call, b"abc", question), call) == 3
    assert (call.cancel_reason, call.interrupt_sent) == (CancelReason.TIMEOUT, True)
    link.close()


@pytest.mark.parametrize("question", [b"", b"?"])
def test_an_interrupt_before_the_wait_is_sent_when_the_wait_begins(
    listener: socket.socket, question: bytes
) -> None:
    link, call = transport(None), Call()

    def talk() -> Exchange[int]:
        link.interrupt()
        assert not call.interrupt_sent
        return (yield from interrupted(listener, link, call, b"abcd", question))

    assert link.run(talk(), call) == 4
    assert (call.cancel_reason, call.interrupt_sent) == (CancelReason.CANCEL, True)
    link.interrupt()  # no call runs
    link.close()


def test_whatever_strikes_a_wait_is_kept_for_later(listener: socket.socket) -> None:
    class Struck(Exception):
        pass

    link, call = transport(None), Call()

    def talk() -> Exchange[int]:
        exchange = interrupted(listener, link, call, b"abcde")
        answer = yield next(exchange)
        step = exchange.send(answer)
        readiness = readiness_of(link)
        assert readiness is not None
        wait = readiness.wait

        def strike(reading: bool, writing: bool, seconds: float) -> bool:
            readiness.wait = wait  # type: ignore[method-assign]
            raise Struck

        readiness.wait = strike  # type: ignore[method-assign]
        answer = yield step
        try:
            exchange.send(answer)
        except StopIteration as stop:
            return int(stop.value)
        raise AssertionError("it asks for more")

    assert link.run(talk(), call) == 5
    assert isinstance(call.pending_exception, Struck)
    assert (call.cancel_reason, call.interrupt_sent) == (CancelReason.BREAK, True)
    link.close()


def test_a_server_that_does_not_react_is_left_after_the_grace(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "GRACE", 0.02)

    def talk() -> Exchange[None]:
        yield at(listener)
        yield Receive(memoryview(bytearray(10)))

    link, call = transport(None), Call(0.01, started_at=time.monotonic())
    with pytest.raises(ConnectionLost, match="did not react"):
        link.run(talk(), call)
    assert call.grace_expired
    link.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_wait_although_system_calls_are_restarted(listener: socket.socket) -> None:
    """Polars and others install handlers with SA_RESTART: a recv() without a time limit would continue for ever."""
    done = threading.Event()

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.recv(1)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            done.wait(10)

    def wait() -> Exchange[None]:
        yield at(listener)
        yield Send(b"x")
        yield Receive(memoryview(bytearray(10)))

    peer = threading.Thread(target=serve)
    link = transport(None)
    signal.siginterrupt(signal.SIGINT, False)
    try:
        peer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            link.run(wait())
        assert time.monotonic() - began < 5
    finally:
        signal.siginterrupt(signal.SIGINT, True)
        done.set()
        peer.join(10)
        link.close()
