"""Making a session: login, capabilities, environment, database (SQLI sections 3 to 5), and ending it.

Text on the wire is in the database's code set (JDBC section 3), and servers convert when CLIENT_LOCALE names
another. Nobody shall convert: when the database turns out to have another code set than the login said, the
client logs in once more, with CLIENT_LOCALE and DB_LOCALE naming the database's own.

The first login to a server waits for what the server can do before it opens the database, as IBM's drivers do. Later
ones send both in one flight, laid out as was agreed on then (:mod:`.known_servers`). Should the server answer otherwise
now, or break off, nothing of that login is used: it is made anew, step by step, as are all later ones there.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial

from ..dsn import Parameters
from ..wire import messages as m
from ..wire.capabilities import CLIENT_OFFER, Framing, codec_of_locale
from ..wire.errors import (
    Error,
    InterfaceError,
    NotSupportedError,
    OperationalError,
    ProtocolError,
    database_error,
)
from ..wire.login import CAP_1, ConnectFrame, ConnectReply, ConnectRequest, packet_length
from ..wire.primitives import NeedMoreData
from . import capability_cache
from .cursor_session_state import set_read_settings
from .io_steps import Connect, ConnectionLost, Exchange, Send
from .message_stream import next_message, receive, record_received, send_receive, with_outbox
from .open_database import codec_for, open_database
from .pam import authenticate
from .receive_buffer import ReceiveBuffer
from .request_reply import (
    Reply,
    Sender,
    consume_buffered_replies,
    drain_pending_replies,
    read_reply,
    send_pipeline,
)
from .session import Session

#: Seconds that an unresponsive server is waited for when the session ends.
LOGOUT_TIMEOUT = 5.0
#: Bytes of the receive buffer, however large the replies are: the decoder takes rows as they arrive, and what was
#: received is still in the processor's cache then. Rows that are longer make it grow.
RECEIVE_BUFFER_BYTES = 320 << 10


# Groups that say the same in every session, encoded: nothing that is agreed on changes how they are laid out.
_END = m.EndOfTurn().encode(Framing())
_CAPABILITY_OFFER = m.Protocols(CLIENT_OFFER).encode(Framing()) + _END
# Sent in front of what comes behind the login, without a wait of its own.
_SETTINGS = (m.Info((("DBTEMP", "/tmp"), ("SUBQCACHESZ", "10"))).encode(Framing()) + _END,)
_EXIT = m.Exit().encode(Framing())
_LAST = (m.Exit, m.EndOfTurn)
_TLS_ALERT = b"\x15\x03"
_TLS_HINT = "If the listener speaks TLS (onsocssl), connect with informixs:// or tls=True"


def connect(parameters: Parameters) -> Exchange[Session]:
    """Make a session as ``parameters`` say and open the database.

    Raises the server's errors (-951 user or password, -761 server name, -329 no such database ...), and
    ``NotSupportedError`` when the database's code set is not known. Of several endpoints the first that answers a
    login is taken, whatever the answer; ``ConnectionLost`` of the last one when none does.
    """
    session = yield from _connect(parameters, ahead=parameters.login_ahead)
    if session is None:
        session = yield from _connect(parameters, ahead=False)
        assert session is not None
    return session


def _connect(parameters: Parameters, *, ahead: bool) -> Exchange[Session | None]:
    """:func:`connect`, ``ahead`` of a known server's answer. None when it did not answer as was expected: then it is a
    known one no more."""
    locale = parameters.db_locale or parameters.client_locale
    if not parameters.endpoints:
        session, expected = yield from _log_in(parameters, locale, parameters.db_locale, ahead)
    for each in _endpoint_parameters(parameters):
        parameters = each
        try:
            session, expected = yield from _log_in(parameters, locale, parameters.db_locale, ahead)
            break
        except ConnectionLost:
            if not parameters.endpoints:
                raise
    try:
        found = yield from _set_up_session(session, parameters, parameters.db_locale, expected)
        if (
            found != parameters.db_locale
            and found
            and not parameters.encoding
            and codec_for(found) != session.framing.encoding
        ):
            yield from disconnect(session)
            session, expected = yield from _log_in(parameters, found, found, ahead)
            yield from _set_up_session(session, parameters, found, expected)
        session.locale = found
        session.statements.size = parameters.statement_cache_size
        session.lob_window = parameters.lob_window_bytes
        if parameters.isolation or parameters.lock_wait is not None:
            yield from set_read_settings(session, parameters.isolation, parameters.lock_wait)
    except Error as error:
        if session.usable_after(error):
            yield from disconnect(session)
        raise
    except _UnexpectedReply:
        capability_cache.invalidate(_listener_address(parameters))
        return None
    return session


class _UnexpectedReply(Exception):
    """What was sent ahead was not answered as it should be."""


def _listener_address(parameters: Parameters) -> capability_cache.ListenerAddress:
    return parameters.host, parameters.port, parameters.tls


def _set_up_session(session: Session, parameters: Parameters, locale: str, expected: bytes) -> Exchange[str]:
    """What comes behind a login: variables, and the database, whose locale is returned, "" without one. In front of
    them goes the offer, where an answer to it is ``expected``."""
    send: Sender = partial(_send_capability_offer, expected) if expected else send_pipeline
    try:
        if parameters.database:
            return (
                yield from open_database(
                    session, parameters.database, before=_SETTINGS, known=locale, send=send
                )
            )
        yield from send(session, _SETTINGS)
        for _ in _SETTINGS:
            yield from read_reply(session)
    except (ConnectionLost, ProtocolError):
        if not expected:
            raise
        raise _UnexpectedReply from None
    return ""


def _send_capability_offer(expected: bytes, session: Session, groups: Sequence[bytes]) -> Exchange[bytes]:
    """:func:`send_pipeline` with the offer in front, and its answer read."""
    agreed, began = session.framing, session.clock()
    answer = yield from send_pipeline(session, (_CAPABILITY_OFFER, *groups))
    session.round_trip = min(session.round_trip, session.clock() - began)
    if answer.startswith(expected):
        session.buffer.start += len(expected)
        session.outstanding_requests -= 1
        return answer[len(expected) :]
    session.framing = _framing(agreed.encoding)
    try:
        found, _ = yield from _read_negotiation_reply(session)
    except Error:  # also one that the server says: to the offer alone it said none
        raise _UnexpectedReply from None
    if found != agreed:
        raise _UnexpectedReply
    session.framing = agreed
    return b""


def _endpoint_parameters(parameters: Parameters) -> Iterator[Parameters]:
    """The parameters for each endpoint in turn, if there are any; ``endpoints`` holds those that are left."""
    for number, end in enumerate(parameters.endpoints, 1):
        left = parameters.endpoints[number:]
        yield replace(
            parameters, host=end.host, port=end.port, server=end.server, tls=end.tls, endpoints=left
        )


def disconnect(session: Session) -> Exchange[None]:
    """Say goodbye and wait until the server has ended the session; it rolls back an open transaction.

    The transport is of no further use afterwards. A server that does not answer is left after ``GOODBYE``
    seconds.
    """
    session.idle_timeout = LOGOUT_TIMEOUT
    try:
        if session.pending_replies and any(reply.bulky for reply in session.pending_replies):
            yield from drain_pending_replies(session)
        session.outstanding_requests += 1
        buffer = session.buffer
        if session.pending_replies or buffer.start != buffer.end:
            yield Send(with_outbox(session, _EXIT))
            yield from drain_pending_replies(session)
        else:
            record_received(session, (yield send_receive(session, with_outbox(session, _EXIT))))
            if buffer.data.startswith(_EXIT, buffer.start, buffer.end):  # nearly always
                return
        # Transaction events may come first, then SQ_EXIT or SQ_EOT, or just the end of the connection (SQLI
        # 19).
        while type((yield from next_message(session))) not in _LAST:
            pass
    except OperationalError:
        pass  # gone without a word: gone all the same


def _log_in(
    parameters: Parameters, client_locale: str, db_locale: str, ahead: bool
) -> Exchange[tuple[Session, bytes]]:
    """Log in and negotiate; or, ``ahead``, take a known server's word of last time for what is agreed on, and return
    that: its answer is still to be asked for."""
    framing = _framing(parameters.encoding or _codec(client_locale))
    # Refused before anything is connected to. In no variable as it is: a debugger shows those, with the password.
    packet = iter((_login_packet(parameters, client_locale, db_locale),))
    yield Connect(parameters.host, parameters.port, parameters.tls)
    yield Send(next(packet))  # no Ask, which would be at hand, with the password, while the answer is awaited
    # The server is at work: what is needed behind its answer is made now.
    session = Session(
        ReceiveBuffer(RECEIVE_BUFFER_BYTES, parameters.max_reply_bytes),
        framing,
        autocommit=parameters.autocommit,
        inexact=parameters.inexact,
        has_encoding_override=bool(parameters.encoding),
        outstanding_requests=1,
    )
    expected = capability_cache.get(_listener_address(parameters)) if ahead else b""
    agreed = _parse_agreed_framing(expected, framing.encoding) if expected else None
    # Not every port is a listener of SQLI: whoever waits for us to go on speaking is not waited for for ever.
    limit = parameters.connect_timeout
    if limit is not None and (parameters.read_timeout is None or limit < parameters.read_timeout):
        session.idle_timeout = limit
    reply = yield from _login_reply(session, parameters.tls)
    session.outstanding_requests -= 1
    session.idle_timeout = None
    _check_login_reply(reply, parameters)
    session.server_name, session.server_version = reply.server_name, reply.version
    if agreed is not None:
        session.framing = agreed
        return session, expected
    yield from _negotiate(session, parameters)
    return session, b""


@cache
def _framing(encoding: str) -> Framing:
    """How messages are laid out before anything is agreed on."""
    return Framing(encoding=encoding)


def _login_packet(parameters: Parameters, client_locale: str, db_locale: str) -> bytes:
    """The connection request. Nothing that holds the password is kept."""
    p = parameters
    try:
        frame = _connect_frame(
            p.user,
            p.server,
            p.application,
            _working_directory(),
            client_locale,
            db_locale,
            tuple(p.env.items()) if p.env else (),
        )
        return frame.packet(p.password, os.getpid())
    except ValueError as error:
        raise InterfaceError(f"the login request cannot be sent: {error}") from None


@lru_cache(maxsize=16)
def _connect_frame(
    user: str,
    server: str,
    application: str,
    cwd: str,
    client_locale: str,
    db_locale: str,
    own: tuple[tuple[str, str], ...],
) -> ConnectFrame:
    """What is the same in most logins of a process; ``own`` are the user's variables, behind ours. Raises as
    :meth:`.ConnectRequest.frame`."""
    environment = {
        "DBPATH": ".",
        "CLIENT_LOCALE": client_locale,
        **({"DB_LOCALE": db_locale} if db_locale else {}),
        "CLNT_PAM_CAPABLE": "1",
        "DBDATE": "Y4MD-",
        "IFX_UPDDESC": "1",
        "NODEFDAC": "no",
        **dict(own),
    }
    request = ConnectRequest(
        user=user,
        password="",
        server=server,
        environment=environment,
        application=application,
        host=platform.node(),
        cwd=cwd,
    )
    return request.frame()


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted under us; the server only shows it
        return ""


def _codec(locale: str) -> str:
    try:
        return codec_of_locale(locale)
    except ValueError as error:
        raise InterfaceError(f"client_locale or db_locale: {error}") from None


def _login_reply(session: Session, tls: bool) -> Exchange[ConnectReply]:
    """Read the one packet that has a length in front (SQLI section 4)."""
    buffer = session.buffer
    while buffer.end - buffer.start < 2:
        try:
            yield from receive(session)
        except ConnectionLost as error:
            if tls:
                raise
            raise ConnectionLost(f"{error}. {_TLS_HINT}") from None
    if buffer.data.startswith(_TLS_ALERT, buffer.start, buffer.end):
        raise ConnectionLost(
            "the listener speaks TLS, and this connection does not: use informixs:// or tls=True, or its plain port"
        )
    length = packet_length(buffer.data[buffer.start : buffer.start + 2])
    while buffer.end - buffer.start < length:
        yield from receive(session)
    answer = bytes(buffer.data[buffer.start : buffer.start + length])
    buffer.start += length
    return ConnectReply.parse(answer)


def _check_login_reply(reply: ConnectReply, parameters: Parameters) -> None:
    """Raise unless the server let us in."""
    if reply.kind == "reject":
        if not reply.service_error:
            raise OperationalError("the server refused the login without saying why")
        # Errors of a login have no token: what they speak of is what we sent.
        near = {-951: parameters.user, -952: parameters.user, -761: parameters.server}
        raise database_error(reply.service_error, near=near.get(reply.service_error, ""))
    if reply.kind == "redirect":
        raise NotSupportedError(
            f"the server redirects to {reply.redirect!r}: not followed; connect there if you trust it"
        )
    if reply.cap1 != CAP_1:
        raise NotSupportedError(
            f"the server speaks an older protocol (Cap_1 {reply.cap1:#x}); Informix 11.70 or later is needed"
        )


@lru_cache(maxsize=16)
def _parse_agreed_framing(answer: bytes, encoding: str) -> Framing | None:
    """What holds after this answer to the offer; None unless it is whole and holds nothing but a mask. Servers say the
    same at each login."""
    try:
        mask, *rest = m.parse_group(answer, _framing(encoding), client=False)
    except (NeedMoreData, Error, ValueError):  # the last: it is empty
        return None
    if not isinstance(mask, m.Protocols) or rest != [m.EndOfTurn()]:
        return None
    return Framing.negotiate(CLIENT_OFFER, mask.mask, encoding)


def _negotiate(session: Session, parameters: Parameters) -> Exchange[None]:
    encoding = session.framing.encoding
    began = session.clock()
    answer = yield from send_pipeline(session, (_CAPABILITY_OFFER,))
    agreed = _parse_agreed_framing(answer, encoding)
    if agreed is not None:
        consume_buffered_replies(session, 1)
    else:  # it came in pieces, or says more than the usual
        agreed, answer = yield from _read_negotiation_reply(session)
    if answer and not agreed.pam:
        capability_cache.store(_listener_address(parameters), answer)
    session.round_trip = min(session.round_trip, session.clock() - began)
    session.framing = agreed
    if agreed.pam:
        yield from authenticate(session, parameters.pam)


def _read_negotiation_reply(session: Session) -> Exchange[tuple[Framing, bytes]]:
    """Read the answer to the offer: what holds after it, and its bytes where it is the usual one, a mask and no
    more."""
    reply = yield from read_reply(session)
    reply.check()
    masks = [message.mask for message in reply.other_messages if isinstance(message, m.Protocols)]
    if not masks:
        raise ProtocolError("the server's answer to SQ_PROTOCOLS holds no mask")
    framing, usual = session.framing, b""
    if reply == Reply(other_messages=[m.Protocols(masks[0])]):
        usual = m.Protocols(masks[0]).encode(framing) + m.EndOfTurn().encode(framing)
    return Framing.negotiate(CLIENT_OFFER, masks[0], framing.encoding), usual
