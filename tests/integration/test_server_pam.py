"""Questions and answers at login (SQLI section 18), with a client made of the wire layer."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import CLIENT_OFFER, Bit, Framing, bits_of, mask_of
from informix_arrow.wire.login import ConnectRequest

from .raw import RawClient, connect_request
from .test_server_login import everything_until_closed

CAPABLE = {"CLNT_PAM_CAPABLE": "1", "CLIENT_LOCALE": "en_US.utf8"}
QUESTIONS: dict[str, list[tuple[str, bool, str | None]]] = {
    "ann": [
        ("Welcome, Ann", False, None),
        ("Password: ", True, "päss wörd"),
        ("Colour? ", False, "blue"),
    ],
    "bob": [("PIN: ", True, "1234")],
    "nobody": [],
}


def pam_login(user: str, *, capable: bool = True) -> ConnectRequest:
    environment = CAPABLE if capable else {"CLIENT_LOCALE": "en_US.utf8"}
    return ConnectRequest(user, "ignored", "informix", environment=environment)


class PamClient(RawClient):
    """A client that has logged in up to SQ_PROTOCOLS. `talk` completes the login."""

    def __init__(self, server: Server, user: str, offer: bytes = CLIENT_OFFER) -> None:
        super().__init__(server, login=pam_login(user), negotiate=False)
        assert self.reply.kind == "accept"
        self.framing = self.framing.with_encoding("utf-8")
        (answer,) = self.ask(m.Protocols(offer))
        assert isinstance(answer, m.Protocols)
        self.framing = Framing.negotiate(offer, answer.mask, "utf-8")

    def talk(self, *answers: str) -> list[m.Message]:
        """Return all messages of the server, from SQ_ACK to its decision. Each question is answered."""
        left = list(answers)
        said: list[m.Message] = []
        self.send(m.Ack(), m.EndOfTurn())
        while True:
            message = self.receive()
            said.append(message)
            if isinstance(message, m.Exit):
                return said
            assert isinstance(self.receive(), m.EndOfTurn)
            if isinstance(message, m.Accept):
                return said
            assert isinstance(message, m.Challenge)
            if message.style in (1, 2):
                self.send(m.Response(left.pop(0)), m.EndOfTurn())


@pytest.fixture(scope="module")
def pam_server() -> Iterable[Server]:
    with Server(pam=QUESTIONS) as server:
        yield server


def test_right_answers_let_a_user_in_whatever_the_password(pam_server: Server) -> None:
    with PamClient(pam_server, "ann") as client:
        assert client.framing.pam
        assert client.talk("päss wörd", "blue") == [
            m.Challenge(4, "Welcome, Ann"),
            m.Challenge(1, "Password: "),
            m.Challenge(2, "Colour? "),
            m.Accept(),
        ]
        client.open_database("sysmaster")
        assert client.ask(m.Version()) == []


@pytest.mark.parametrize(
    "answers", [("wrong", "blue"), ("päss wörd", "Blue"), ("", ""), ("päss wörd ", "blue")]
)
def test_wrong_answers_are_reported_at_the_end_and_the_connection_closed(
    pam_server: Server, answers: Sequence[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with PamClient(pam_server, "ann") as client:
        assert client.talk(*answers)[1:] == [
            m.Challenge(1, "Password: "),
            m.Challenge(2, "Colour? "),
            m.Exit(),
        ]
        assert client.socket.recv(1) == b""
    assert not [answer for answer in ("päss wörd", "blue") if answer in caplog.text]


def test_a_user_without_questions_is_let_in_after_the_acknowledgement(pam_server: Server) -> None:
    with PamClient(pam_server, "nobody") as client:
        assert client.talk() == [m.Accept()]
        assert client.ask(m.Version()) == []


def test_other_users_log_in_by_password_and_are_asked_nothing(pam_server: Server) -> None:
    with RawClient(pam_server, "sysmaster") as client:
        assert not client.framing.pam
        assert client.ask(m.Version()) == []
    with RawClient(pam_server, login=connect_request(user="carol")) as client:
        assert client.reply.service_error == -951


def test_a_client_that_cannot_be_asked_is_refused_at_login(pam_server: Server) -> None:
    with RawClient(pam_server, login=pam_login("bob", capable=False)) as client:
        assert (client.reply.kind, client.reply.service_error) == ("reject", -951)


def test_a_client_that_does_not_offer_the_dialogue_is_cut_off(pam_server: Server) -> None:
    offer = mask_of(bits_of(CLIENT_OFFER) - {Bit.PAM}, 8)
    with RawClient(pam_server, login=pam_login("bob"), negotiate=False) as client:
        client.send(m.Protocols(offer), m.EndOfTurn())
        assert m.Accept().encode(Framing()) not in everything_until_closed(client.socket)


@pytest.mark.parametrize(
    "early",
    [
        m.DbOpen("sysmaster"),
        m.Prepare(0, "select 1 from systables"),
        m.Command("create table pam_early (a int)"),
        m.Info(()),
        m.Put(b"\0\0\0\1"),
        m.Response("1234"),
    ],
    ids=lambda message: type(message).__name__,
)
def test_nothing_is_served_before_the_dialogue_is_over(pam_server: Server, early: m.Message) -> None:
    with PamClient(pam_server, "bob") as client:
        client.send(early, m.EndOfTurn())
        assert everything_until_closed(client.socket) == b""


def test_nothing_but_an_answer_follows_a_question(pam_server: Server) -> None:
    with PamClient(pam_server, "bob") as client:
        assert client.ask(m.Ack()) == [m.Challenge(1, "PIN: ")]
        client.send(m.Ack(), m.EndOfTurn())
        assert everything_until_closed(client.socket) == b""


def test_an_answer_that_never_comes_ends_with_the_login_time_limit() -> None:
    with Server(pam=QUESTIONS, login_timeout=5.0) as server, PamClient(server, "bob") as client:
        assert client.ask(m.Ack()) == [m.Challenge(1, "PIN: ")]
        assert client.socket.recv(1) == b""


@pytest.mark.parametrize("answered", [0, 1])
def test_a_client_that_has_not_answered_can_park_no_more_than_an_answer_holds(answered: int) -> None:
    """Regression: it could make the server keep 64 MiB until the login timed out, on each of its connections."""
    with Server(pam=QUESTIONS, login_timeout=3600) as server, PamClient(server, "ann") as client:
        client.send(m.Ack(), m.EndOfTurn())
        for _ in range(2):  # the displayed text, and the first question
            client.receive()
            client.receive()
        if answered:
            client.send(m.Response("päss wörd"), m.EndOfTurn())
            client.receive()
            client.receive()
        long = m.Prepare(0, "x" * (1 << 20)).encode(client.framing)
        client.socket.sendall(long[:100])  # the length is enough for the server to refuse it
        assert everything_until_closed(client.socket) == b""


def test_an_answer_of_any_length_is_taken() -> None:
    answer = "ä" * 16_000
    with Server(pam={"ann": [("Novel: ", True, answer), ("Sure? ", False, "yes")]}) as server:
        with PamClient(server, "ann") as client:
            assert client.talk(answer, "yes")[-1] == m.Accept()
        with PamClient(server, "ann") as client:
            assert client.talk(answer + "a", "yes")[-1] == m.Exit()


def test_questions_may_come_from_a_function_of_the_user() -> None:
    def questions(user: str) -> list[tuple[str, bool, str | None]] | None:
        return [(f"Who is {user}? ", False, "me")] if user.startswith("x") else None

    with Server(pam=questions) as server:
        with PamClient(server, "xenia") as client:
            assert client.talk("me") == [m.Challenge(2, "Who is xenia? "), m.Accept()]
        with RawClient(server, "sysmaster") as client:
            assert client.ask(m.Version()) == []
