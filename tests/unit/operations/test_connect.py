"""Logging in, negotiating, opening a database, and detecting its code set (SQLI sections 3 to 5, JDBC section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise

import pytest
from tests.unit.operations.scripted_peer import Group, Peer, new_session, select

from informix_arrow.dsn import Parameters
from informix_arrow.operations import capability_cache
from informix_arrow.operations.connect import connect, disconnect
from informix_arrow.operations.io_steps import ConnectionLost
from informix_arrow.operations.request_reply import drain_pending_replies
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import CLIENT_OFFER, Framing, server_answer
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import (
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProtocolError,
)
from informix_arrow.wire.login import ConnectReply, ConnectRequest
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

SITE = (Column("site", ColumnType.varchar(128)),)
PARAMETERS = Parameters("db.example", user="alice", password="s3cret", database="stores", server="ol_x")
ACCEPT = ConnectReply("accept", server_name="ol_real", version="IBM Informix Dynamic Server Version 15")


class LoginPeer(Peer):
    """A server that accepts every login and whose database has the locale ``locale``."""

    def __init__(
        self, locale: str = "en_US.57372", reply: ConnectReply = ACCEPT, piece: int = 1 << 20
    ) -> None:
        super().__init__(self.converse, piece)
        self.locale = locale
        self.reply = reply
        self.requests: list[ConnectRequest] = []
        self.mask: bytes | None = None
        self.refuse: int | None = None  # SQLCODE for DBOPEN
        self.warnings = 5
        self.exits = 0

    def take(self, data: bytes) -> None:
        if data[2:4] == b"\x01\x3c":
            self.requests.append(ConnectRequest.parse(data))
            self.outgoing[:] = self.reply.encode()
        else:
            super().take(data)

    def converse(self, group: Group) -> list[m.Message]:
        match group[0]:
            case m.Protocols(mask=mask):
                return [m.Protocols(self.mask or server_answer(mask))]
            case m.DbOpen():
                return [m.Err(self.refuse)] if self.refuse else [m.Done(warnings=self.warnings)]
            case m.Prepare(sql=sql):
                assert "' GL_CTYPE'" in sql
                return select(0, SITE)
            case m.Exit():
                self.exits += 1
                return [m.Exit()]
            case m.Id() if isinstance(group[-1], m.Fetch):
                site = encode_tuple((self.locale,), SITE, "ascii")
                return [m.Tuple(0, site), m.Done()] if self.locale else [m.Done()]
        return []


@pytest.mark.parametrize("piece", [1, 5, 1 << 20])
def test_a_login_opens_the_database_and_learns_what_it_is(piece: int) -> None:
    peer = LoginPeer(piece=piece)
    session = peer.run(connect(PARAMETERS))
    assert peer.steps[0] == "Connect"
    assert (session.server_name, session.database, session.locale) == ("ol_real", "stores", "en_US.57372")
    assert (session.logged, session.ansi, session.framing.encoding) == (True, False, "utf-8")
    request = peer.requests[0]
    assert (request.user, request.password, request.server, request.database) == (
        "alice",
        "s3cret",
        "ol_x",
        "",
    )
    assert request.environment["CLIENT_LOCALE"] == "en_US.utf8"
    assert "DB_LOCALE" not in request.environment
    assert peer.names()[:3] == ["Protocols", "Info", "DbOpen"]
    peer.run(drain_pending_replies(session))
    assert peer.names()[-1] == "Id Release"


KNOWN = replace(PARAMETERS, db_locale="en_US.utf8")


def state(session: Session) -> dict[str, object]:
    """Return what a login has found out, without the buffer and objects that cannot be compared."""
    found = {field.name: getattr(session, field.name) for field in fields(session)}
    for name in ("buffer", "statements", "round_trip", "clock"):
        del found[name]
    return found


@pytest.mark.parametrize("warnings", [0, 1, 5, 7])
@pytest.mark.parametrize("mask", [None, bytes(9), bytes(8), b"\xff" * 5 + b"\xf7" + b"\xff" * 2])
def test_answers_that_come_whole_mean_what_they_mean_in_pieces(mask: bytes | None, warnings: int) -> None:
    """Complete replies are compared with those of the last login. In pieces they are parsed message by message."""
    states = []
    for piece in (1 << 20, 1 << 20, 1):
        peer = LoginPeer(piece=piece)
        peer.mask, peer.warnings = mask, warnings
        session = peer.run(connect(KNOWN))
        states.append(state(session))
        assert len(session.buffer) == 0
        peer.run(disconnect(session))
        assert peer.exits == 1
    assert states[0] == states[1] == states[2]
    assert (states[0]["ansi"], states[0]["logged"]) == (bool(warnings & 2), bool(warnings & 3))


@pytest.mark.parametrize(
    "among",
    [[m.Cost(1, 2)], [m.XactStat(1, 2, 3)], [m.Done(warnings=0)], [m.Done(warnings=2), m.Cost()]],
    ids=lambda among: " ".join(type(message).__name__ for message in among),
)
@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_more_than_the_usual_answer_to_the_opening_is_read_like_any(
    among: list[m.Message], piece: int
) -> None:
    peer = LoginPeer(piece=piece)
    usual = peer.converse
    peer.answers = lambda group: [*among, *usual(group)] if isinstance(group[0], m.DbOpen) else usual(group)
    session = peer.run(connect(KNOWN))
    assert (session.logged, session.ansi, session.outstanding_requests, len(session.buffer)) == (
        True,
        False,
        0,
        0,
    )


@pytest.mark.parametrize("group_of", [m.Protocols, m.DbOpen])
def test_what_comes_behind_a_usual_answer_breaks_the_login(group_of: type[m.Message]) -> None:
    peer = LoginPeer()
    usual = peer.converse

    def converse(group: Group) -> list[m.Message]:
        said = usual(group)
        return [*said, m.EndOfTurn(), m.Cost()] if isinstance(group[0], group_of) else said

    peer.answers = converse
    with pytest.raises(ProtocolError, match="can no longer be assigned"):
        peer.run(connect(KNOWN))


def test_the_opening_s_error_is_known_from_no_other_answer() -> None:
    LoginPeer().run(connect(KNOWN))
    peer = LoginPeer()
    peer.refuse = -329
    with pytest.raises(OperationalError, match="-329"):
        peer.run(connect(KNOWN))
    assert peer.exits == 1


def flights(peer: LoginPeer) -> int:
    """Return how often something was sent and a reply then waited for."""
    return sum(step == "Receive" and before == "Send" for before, step in pairwise(peer.steps))


def known_peer(*, piece: int = 1 << 20) -> LoginPeer:
    """Return a peer to which this process has logged in before."""
    LoginPeer().run(connect(KNOWN))
    return LoginPeer(piece=piece)


@pytest.mark.parametrize("first", [1, 14, 1 << 20])
@pytest.mark.parametrize("piece", [1, 5, 1 << 20])
@pytest.mark.parametrize("given", [KNOWN, PARAMETERS, replace(KNOWN, database="")], ids=repr)
def test_a_known_server_is_asked_in_one_flight(given: Parameters, piece: int, first: int) -> None:
    """The first reply may have arrived in any pieces."""
    peers = [LoginPeer(piece=first), LoginPeer(piece=piece), LoginPeer(piece=piece)]
    states = []
    for peer, parameters in zip(peers, (given, given, replace(given, login_ahead=False)), strict=True):
        session = peer.run(connect(parameters))
        peer.run(drain_pending_replies(session))
        states.append(state(session))
        assert len(session.buffer) == 0
    assert states[0] == states[1] == states[2]
    assert peers[0].groups == peers[1].groups == peers[2].groups
    assert flights(peers[0]) - 1 == flights(peers[1]) == flights(peers[2]) - 1


class TalkativePeer(LoginPeer):
    """Sends more than its capabilities when it is asked for them."""

    def converse(self, group: Group) -> list[m.Message]:
        more = [m.Done()] if isinstance(group[0], m.Protocols) else []
        return [*super().converse(group), *more]


def test_a_server_that_says_more_than_what_it_can_do_is_not_known() -> None:
    for _ in range(2):
        peer = TalkativePeer()
        peer.run(connect(KNOWN))
        assert flights(peer) == 3


def test_a_known_server_s_refusal_of_a_database_is_the_same_error() -> None:
    peer = known_peer()
    peer.refuse = -387
    with pytest.raises(OperationalError, match="-387"):
        peer.run(connect(KNOWN))
    assert (peer.exits, peer.steps.count("Connect")) == (1, 1)
    peer = LoginPeer()
    peer.run(connect(KNOWN))
    assert flights(peer) == 2


@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_a_server_that_agrees_on_something_else_now_is_logged_in_to_anew(piece: int) -> None:
    """The messages were encoded for the earlier agreement, so that connection cannot be used."""
    peer = known_peer(piece=piece)
    plain = peer.mask = bytes(8)
    peer.take = _deaf_after_a_flight(peer)  # type: ignore[method-assign]
    session = peer.run(connect(KNOWN))
    assert peer.steps.count("Connect") == 2
    assert session.framing == Framing.negotiate(CLIENT_OFFER, plain, "utf-8")
    later = LoginPeer()
    later.run(connect(KNOWN))
    assert flights(later) == 3


def _deaf_after_a_flight(peer: LoginPeer) -> Callable[[bytes], None]:
    """Accept only the first of several groups: the meaning of the others depends on the reply to it."""
    take = peer.take

    def some(data: bytes) -> None:
        offer = m.Protocols(CLIENT_OFFER).encode(Framing()) + b"\0\x0c"
        take(offer if data.startswith(offer) else data)

    return some


@pytest.mark.parametrize("keeps", range(36))
def test_a_known_server_that_breaks_off_is_logged_in_to_step_by_step(keeps: int) -> None:
    """The server closes the connection at each byte of its reply. Only time is lost."""
    peer = known_peer()
    take, cut = peer.take, []

    def some(data: bytes) -> None:
        take(data)
        if not cut and data[2:4] != b"\x01\x3c":
            cut.append(len(peer.outgoing))
            del peer.outgoing[keeps:]
            peer.hang_up = True

    peer.take = some  # type: ignore[method-assign]
    session = peer.run(connect(KNOWN))
    assert cut == [36]
    assert (session.database, session.logged, session.outstanding_requests) == ("stores", True, 0)
    assert peer.steps.count("Connect") == 2
    assert peer.names()[-3:] == ["Protocols", "Info", "DbOpen"]
    later = LoginPeer()
    later.run(connect(KNOWN))
    assert flights(later) == 3, "it is sent nothing ahead any more"


def test_a_known_server_that_is_gone_is_not_asked_for_ever() -> None:
    peer = known_peer()
    take = peer.take

    def deaf(data: bytes) -> None:
        if data[2:4] == b"\x01\x3c":
            take(data)

    peer.take, peer.hang_up = deaf, True  # type: ignore[method-assign]
    with pytest.raises(ConnectionLost, match="closed the connection") as caught:
        peer.run(connect(KNOWN))
    assert peer.steps.count("Connect") == 2
    assert caught.value.__context__ is None


def test_the_error_of_a_known_server_that_refuses_the_offer_is_reported() -> None:
    peer = known_peer()
    usual = peer.converse
    peer.answers = lambda group: [m.Err(-408)] if isinstance(group[0], m.Protocols) else usual(group)
    with pytest.raises(InternalError, match="-408"):
        peer.run(connect(KNOWN))
    assert peer.names()[-1] == "Protocols", "it was asked step by step before it was believed"


def test_variables_that_a_known_server_refuses_do_not_matter() -> None:
    peer = known_peer()
    usual = peer.converse
    peer.answers = lambda group: [m.Err(-201)] if isinstance(group[0], m.Info) else usual(group)
    assert peer.run(connect(KNOWN)).database == "stores"
    assert peer.steps.count("Connect") == 1


def test_a_server_that_asks_questions_is_sent_nothing_ahead() -> None:
    for _ in range(2):
        peer = pam_peer([m.Accept()])
        peer.run(connect(KNOWN))
        assert peer.names() == ["Protocols", "Ack", "Info", "DbOpen"]
        assert flights(peer) == 4
    capability_cache.clear()
    LoginPeer().run(connect(KNOWN))
    peer = pam_peer([m.Accept()])  # the server requires PAM now
    peer.take = _deaf_after_a_flight(peer)  # type: ignore[method-assign]
    peer.run(connect(KNOWN))
    assert peer.names() == ["Protocols", "Protocols", "Ack", "Info", "DbOpen"]


def test_servers_are_known_by_where_they_are_and_not_without_end() -> None:
    LoginPeer().run(connect(KNOWN))
    peer = LoginPeer()
    peer.run(connect(replace(KNOWN, port=1)))
    assert flights(peer) == 3
    for number in range(1000):
        capability_cache.store(("h", number, False), b"x")
    assert len(capability_cache._capability_cache) <= 256
    capability_cache.invalidate(("h", 999, False))
    capability_cache.store(("h", 999, False), b"x")
    assert capability_cache.get(("h", 999, False)) == b""


def test_another_code_set_makes_a_second_login() -> None:
    """Nothing has to be converted then: CLIENT_LOCALE and DB_LOCALE are both the database's own."""
    peer = LoginPeer("en_US.819")
    session = peer.run(connect(PARAMETERS))
    assert session.framing.encoding == "latin-1"
    assert peer.steps.count("Connect") == 2
    assert peer.exits == 1
    environment = peer.requests[1].environment
    assert (environment["CLIENT_LOCALE"], environment["DB_LOCALE"]) == ("en_US.819", "en_US.819")


@pytest.mark.parametrize(
    "given", [{"db_locale": "en_US.8859-1"}, {"client_locale": "de_DE.819"}, {"encoding": "latin-1"}]
)
def test_a_locale_that_fits_saves_the_second_login(given: dict[str, str]) -> None:
    peer = LoginPeer("en_US.819")
    session = peer.run(connect(replace(PARAMETERS, **given)))  # type: ignore[arg-type]
    assert session.framing.encoding == "latin-1"
    assert len(peer.requests) == 1


def test_a_known_locale_is_taken_for_the_database_s_own() -> None:
    peer = LoginPeer("en_US.819")
    session = peer.run(connect(replace(PARAMETERS, db_locale="en_US.8859-1")))
    assert peer.names() == ["Protocols", "Info", "DbOpen"]
    assert peer.requests[0].environment["DB_LOCALE"] == "en_US.8859-1"
    assert (session.locale, session.framing.encoding) == ("en_US.8859-1", "latin-1")


def test_a_locale_that_the_server_says_is_another_is_asked_for() -> None:
    peer = LoginPeer("en_US.57372")
    peer.warnings = 5 | 0x40
    session = peer.run(connect(replace(PARAMETERS, db_locale="en_US.8859-1")))
    assert (session.locale, session.framing.encoding, session.logged) == ("en_US.57372", "utf-8", True)
    assert [request.environment["DB_LOCALE"] for request in peer.requests] == ["en_US.8859-1", "en_US.57372"]


def test_a_database_that_does_not_report_its_locale_keeps_the_logins() -> None:
    session = LoginPeer("").run(connect(PARAMETERS))
    assert session.framing.encoding == "utf-8"


def test_a_code_set_that_nobody_knows_is_refused_by_name() -> None:
    peer = LoginPeer("tlh_QO.klingon")
    with pytest.raises(NotSupportedError, match=r"tlh_QO\.klingon"):
        peer.run(connect(PARAMETERS))
    assert peer.exits == 1


def test_without_a_database_none_is_opened() -> None:
    peer = LoginPeer()
    session = peer.run(connect(replace(PARAMETERS, database="")))
    assert peer.names() == ["Protocols", "Info"]
    assert (session.database, session.logged) == ("", False)


@pytest.mark.parametrize(
    ("warnings", "logged", "ansi"), [(4, False, False), (5, True, False), (7, True, True)]
)
def test_the_warnings_of_the_open_report_the_kind_of_database(
    warnings: int, logged: bool, ansi: bool
) -> None:
    peer = LoginPeer()
    peer.warnings = warnings
    session = peer.run(connect(PARAMETERS))
    assert (session.logged, session.ansi) == (logged, ansi)


def test_a_refused_login_names_user_and_code_but_never_the_password() -> None:
    peer = LoginPeer(reply=ConnectReply("reject", service_error=-951))
    with pytest.raises(OperationalError) as caught:
        peer.run(connect(PARAMETERS))
    assert caught.value.sqlcode == -951
    assert "s3cret" not in str(caught.value)


def test_a_missing_database_is_reported_and_the_session_ended() -> None:
    peer = LoginPeer()
    peer.refuse = -329
    with pytest.raises(OperationalError) as caught:
        peer.run(connect(PARAMETERS))
    assert caught.value.sqlcode == -329
    assert peer.exits == 1


def test_a_redirection_is_refused_with_its_target() -> None:
    peer = LoginPeer(reply=ConnectReply("redirect", redirect="a|b|elsewhere"))
    with pytest.raises(NotSupportedError, match="elsewhere"):
        peer.run(connect(PARAMETERS))


def test_an_older_protocol_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="0x133"):
        LoginPeer(reply=replace(ACCEPT, cap1=0x133)).run(connect(PARAMETERS))


def pam_peer(*said: list[m.Message]) -> LoginPeer:
    """Return a listener that replies to SQ_ACK and each SQ_RESPONSE with the next item of ``said``."""
    peer, left = LoginPeer(), list(said)
    mask = bytearray(server_answer(bytes(8)))
    mask[5] |= 0x08  # bit 44
    peer.mask = bytes(mask)
    converse = peer.answers
    assert callable(converse)

    def answers(group: Group) -> list[m.Message]:
        return left.pop(0) if isinstance(group[0], m.Ack | m.Response) else list(converse(group))

    peer.answers = answers
    return peer


@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_the_questions_of_pam_are_answered_one_after_the_other(piece: int) -> None:
    peer = pam_peer(
        [m.Challenge(4, "Hello"), m.EndOfTurn(), m.Challenge(1, "Password: ")],
        [m.Challenge(3, "Nearly"), m.EndOfTurn(), m.Challenge(2, "Code: ")],
        [m.Accept()],
    )
    peer.piece = piece
    asked: list[tuple[str, bool]] = []

    def answer(prompt: str, echo: bool) -> str:
        asked.append((prompt, echo))
        return f"answer {len(asked)}"

    session = peer.run(connect(replace(PARAMETERS, pam=answer)))
    assert asked == [("Hello\nPassword: ", False), ("Nearly\nCode: ", True)]
    said = [group[0].text for group in peer.groups if isinstance(group[0], m.Response)]
    assert said == ["answer 1", "answer 2"]
    assert (session.database, session.outstanding_requests) == ("stores", 0)


def test_pam_that_says_no_is_an_error_with_its_words() -> None:
    peer = pam_peer([m.Challenge(3, "Account locked"), m.Exit()])
    with pytest.raises(OperationalError, match="Account locked"):
        peer.run(connect(PARAMETERS))


def test_pam_that_asks_nobody_says_what_to_do() -> None:
    peer = pam_peer([m.Challenge(1, "Password: ")])
    with pytest.raises(OperationalError, match=r"'Password:'.*pam="):
        peer.run(connect(PARAMETERS))


def test_anything_else_in_a_pam_dialogue_breaks_the_protocol() -> None:
    peer = pam_peer([m.Done()])
    with pytest.raises(ProtocolError, match=r"Done.*PAM"):
        peer.run(connect(PARAMETERS))


def test_a_listener_that_speaks_tls_is_recognised() -> None:
    peer = LoginPeer()
    peer.reply = _Bytes(b"\x15\x03\x03\x00\x02\x02\x46")  # type: ignore[assignment]
    with pytest.raises(ConnectionLost, match=r"speaks TLS.*informixs://"):
        peer.run(connect(PARAMETERS))
    peer = LoginPeer()
    peer.reply, peer.hang_up = _Bytes(b""), True  # type: ignore[assignment]
    with pytest.raises(ConnectionLost, match=r"closed the connection.*informixs://"):
        peer.run(connect(PARAMETERS))


class _Bytes:
    """An invalid login reply."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def encode(self) -> bytes:
        return self.data


def test_a_login_that_cannot_be_sent_is_refused_without_the_password() -> None:
    with pytest.raises(InterfaceError) as caught:
        LoginPeer().run(connect(replace(PARAMETERS, password="p\0w")))
    assert "p\0w" not in str(caught.value)


class RubbishPeer(Peer):
    """A server that is not Informix."""

    def take(self, data: bytes) -> None:
        self.outgoing += b"\x00\x20HTTP/1.1 400 Bad Request\r\n......"


def test_rubbish_for_a_login_reply_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolError):
        RubbishPeer([]).run(connect(PARAMETERS))


@pytest.mark.parametrize("goodbye", [[m.Exit()], [m.XactStat(1, 0, 1), m.Exit()], []])
def test_leaving_takes_any_goodbye(goodbye: list[m.Message]) -> None:
    peer, session = Peer([goodbye]), new_session()
    peer.run(disconnect(session))
    assert peer.names() == ["Exit"]


def test_leaving_takes_silence_too() -> None:
    peer, session = Peer([]), new_session()
    peer.hang_up = True
    peer.run(disconnect(session))
    assert isinstance(session, Session)


def test_isolation_and_lock_wait_are_set_after_the_database_was_opened() -> None:
    peer = LoginPeer()
    peer.run(connect(replace(PARAMETERS, isolation="last committed", lock_wait=10)))
    commands = [message.sql for group in peer.groups for message in group if isinstance(message, m.Command)]
    assert commands == ["SET ISOLATION TO COMMITTED READ LAST COMMITTED", "SET LOCK MODE TO WAIT 10"]
    for wait, sql in ((0, "SET LOCK MODE TO NOT WAIT"), (-1, "SET LOCK MODE TO WAIT")):
        peer = LoginPeer()
        peer.run(connect(replace(PARAMETERS, lock_wait=wait)))
        assert [g.sql for group in peer.groups for g in group if isinstance(g, m.Command)] == [sql]
