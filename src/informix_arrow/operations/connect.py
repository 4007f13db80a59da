"""Open a session: login, capabilities, environment, database (SQLI sections 3 to 5). And end it.

Text on the wire is in the database's code set (JDBC section 3), and servers convert if CLIENT_LOCALE names
another. The server must not convert: if the database has another code set than the login said, the client logs
in once more, with CLIENT_LOCALE and DB_LOCALE naming the database's own.

The first login to a server waits for its capabilities before it opens the database, as IBM's drivers do. Later
logins send both together, encoded with the capabilities agreed on before (:mod:`.capability_cache`). If the
server then replies differently, or disconnects, that login is discarded and repeated step by step, as are all
later ones to this server.
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

#: Seconds to wait for an unresponsive server when the session ends.
LOGOUT_TIMEOUT = 5.0
#: Bytes of the receive buffer, however large the replies are: the decoder reads rows as they arrive, and received
#: bytes are then still in the processor's cache. It grows for longer rows.
RECEIVE_BUFFER_BYTES = 320 << 10


# Encoded groups that are the same in every session: no capability changes their layout.
_END = m.EndOfTurn().encode(Framing())
_CAPABILITY_OFFER = m.Protocols(CLIENT_OFFER).encode(Framing()) + _END
# Sent in front of the first request after the login, without a wait of its own.
_SETTINGS = (m.Info((("DBTEMP", "/tmp"), ("SUBQCACHESZ", "10"))).encode(Framing()) + _END,)
_EXIT = m.Exit().encode(Framing())
_LAST = (m.Exit, m.EndOfTurn)
_TLS_ALERT = b"\x15\x03"
_TLS_HINT = "If the listener speaks TLS (onsocssl), connect with informixs:// or tls=True."


def connect(parameters: Parameters) -> Exchange[Session]:
    """Open a session with ``parameters``, and the database that they name.

    Raises the server's errors (-951 user or password, -761 server name, -329 no such database ...), and
    ``NotSupportedError`` if the database's code set is unknown. Of several endpoints, the first that replies to
    a login is used, whatever the reply. If none does, the ``ConnectionLost`` of the last one is raised.
    """
    session = yield from _connect(parameters, ahead=parameters.login_ahead)
    if session is None:
        session = yield from _connect(parameters, ahead=False)
        assert session is not None
    return session


def _connect(parameters: Parameters, *, ahead: bool) -> Exchange[Session | None]:
    """Open a session. With ``ahead``, do not wait for the expected capability reply of a known server.

    Returns None if the reply was not the expected one; the server is then no longer a known one.
    """
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
        actual_locale = yield from _set_up_session(session, parameters, parameters.db_locale, expected)
        if (
            actual_locale != parameters.db_locale
            and actual_locale
            and not parameters.encoding
            and codec_for(actual_locale) != session.framing.encoding
        ):
            yield from disconnect(session)
            session, expected = yield from _log_in(parameters, actual_locale, actual_locale, ahead)
            yield from _set_up_session(session, parameters, actual_locale, expected)
        session.locale = actual_locale
        session.statements.size = parameters.statement_cache_size
        session.fetch_window = parameters.fetch_window_bytes
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
    """The reply to a request sent ahead was not the expected one."""


def _listener_address(parameters: Parameters) -> capability_cache.ListenerAddress:
    return parameters.host, parameters.port, parameters.tls


def _set_up_session(session: Session, parameters: Parameters, locale: str, expected: bytes) -> Exchange[str]:
    """Set variables and open the database after a login. Returns the database's locale, or "" without a
    database.

    If the capability reply is ``expected``, the offer is sent in front.
    """
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
    """Send the capability offer and ``groups`` by :func:`send_pipeline`, and read the reply to the offer."""
    agreed, began = session.framing, session.clock()
    replies = yield from send_pipeline(session, (_CAPABILITY_OFFER, *groups))
    session.round_trip = min(session.round_trip, session.clock() - began)
    if replies.startswith(expected):
        session.buffer.start += len(expected)
        session.outstanding_requests -= 1
        return replies[len(expected) :]
    session.framing = _framing(agreed.encoding)
    try:
        framing, _ = yield from _read_negotiation_reply(session)
    except Error:  # also a server error: the offer alone raises none
        raise _UnexpectedReply from None
    if framing != agreed:
        raise _UnexpectedReply
    session.framing = agreed
    return b""


def _endpoint_parameters(parameters: Parameters) -> Iterator[Parameters]:
    """Yield the parameters for each endpoint in turn; ``endpoints`` holds the remaining ones."""
    for number, end in enumerate(parameters.endpoints, 1):
        left = parameters.endpoints[number:]
        yield replace(
            parameters, host=end.host, port=end.port, server=end.server, tls=end.tls, endpoints=left
        )


def disconnect(session: Session) -> Exchange[None]:
    """Log off and wait until the server has ended the session. It rolls back an open transaction.

    The transport cannot be used afterwards. An unresponsive server is given up after ``LOGOUT_TIMEOUT``
    seconds.
    """
    session.idle_timeout = LOGOUT_TIMEOUT
    try:
        for cursor in session.cursors:  # rows that are still on their way are not wanted
            cursor.fail(InterfaceError("The connection is closed."))
        if session.pending_replies and any(reply.bulky for reply in session.pending_replies):
            yield from drain_pending_replies(session)
        session.outstanding_requests += 1
        buffer = session.buffer
        if session.pending_replies or buffer.start != buffer.end:
            yield Send(with_outbox(session, _EXIT))
            yield from drain_pending_replies(session)
        else:
            record_received(session, (yield send_receive(session, with_outbox(session, _EXIT))))
            if buffer.data.startswith(_EXIT, buffer.start, buffer.end):  # the usual case
                return
        # Transaction events may come first, then SQ_EXIT or SQ_EOT, or just the end of the connection (SQLI 19).
        while type((yield from next_message(session))) not in _LAST:
            pass
    except OperationalError:
        pass  # disconnected without a reply, which is fine


def _log_in(
    parameters: Parameters, client_locale: str, db_locale: str, ahead: bool
) -> Exchange[tuple[Session, bytes]]:
    """Log in and negotiate capabilities. Returns the session and the expected capability reply, b"" if it was
    read.

    With ``ahead``, the known server's last capabilities are used, and the caller has to send the offer.
    """
    framing = _framing(parameters.encoding or _codec(client_locale))
    # Validated before connecting. Not kept in a variable, because debuggers show variables, and it holds the
    # password.
    packet = iter((_login_packet(parameters, client_locale, db_locale),))
    yield Connect(parameters.host, parameters.port, parameters.tls)
    yield Send(next(packet))  # not SendReceive, which would keep the password while waiting for the reply
    # Prepare what is needed after the reply while the server is working.
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
    # The port may not be an SQLI listener: do not wait forever for a peer that waits for us.
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
    """Return the message layout before capabilities are agreed on."""
    return Framing(encoding=encoding)


def _login_packet(parameters: Parameters, client_locale: str, db_locale: str) -> bytes:
    """Return the connection request. Nothing that holds the password is kept."""
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
        raise InterfaceError(f"The login request cannot be sent: {error}") from None


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
    """Return the part that most logins of a process share. Raises as :meth:`.ConnectRequest.frame`.

    ``own`` are the user's variables, which follow the standard ones.
    """
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
    except OSError:  # it was deleted; the server only displays it
        return ""


def _codec(locale: str) -> str:
    try:
        return codec_of_locale(locale)
    except ValueError as error:
        raise InterfaceError(f"client_locale or db_locale: {error}") from None


def _login_reply(session: Session, tls: bool) -> Exchange[ConnectReply]:
    """Read the login reply, the one packet with a length in front (SQLI section 4)."""
    buffer = session.buffer
    while buffer.end - buffer.start < 2:
        try:
            yield from receive(session)
        except ConnectionLost as error:
            if tls:
                raise
            raise ConnectionLost(f"{error} {_TLS_HINT}") from None
    if buffer.data.startswith(_TLS_ALERT, buffer.start, buffer.end):
        raise ConnectionLost(
            "The listener speaks TLS, but this connection does not. Use informixs:// or tls=True, or the "
            "plain port."
        )
    length = packet_length(buffer.data[buffer.start : buffer.start + 2])
    while buffer.end - buffer.start < length:
        yield from receive(session)
    packet = bytes(buffer.data[buffer.start : buffer.start + length])
    buffer.start += length
    return ConnectReply.parse(packet)


def _check_login_reply(reply: ConnectReply, parameters: Parameters) -> None:
    """Raise unless the server accepted the login."""
    if reply.kind == "reject":
        if not reply.service_error:
            raise OperationalError("The server refused the login without a reason.")
        # Login errors have no token: add the parameter that they refer to.
        near = {-951: parameters.user, -952: parameters.user, -761: parameters.server}
        raise database_error(reply.service_error, near=near.get(reply.service_error, ""))
    if reply.kind == "redirect":
        raise NotSupportedError(
            f"The server redirects to {reply.redirect!r}. The redirect was not followed. Connect there if "
            "you trust it."
        )
    if reply.cap1 != CAP_1:
        raise NotSupportedError(
            f"The server speaks an older protocol (Cap_1 {reply.cap1:#x}). Informix 11.70 or later is needed."
        )


@lru_cache(maxsize=16)
def _parse_agreed_framing(reply: bytes, encoding: str) -> Framing | None:
    """Return the layout agreed on by this reply to the offer, or None unless it is complete and holds only a
    mask.

    Cached, because servers reply the same at each login.
    """
    try:
        mask, *rest = m.parse_group(reply, _framing(encoding), client=False)
    except (NeedMoreData, Error, ValueError):  # ValueError: it is empty
        return None
    if not isinstance(mask, m.Protocols) or rest != [m.EndOfTurn()]:
        return None
    return Framing.negotiate(CLIENT_OFFER, mask.mask, encoding)


def _negotiate(session: Session, parameters: Parameters) -> Exchange[None]:
    encoding = session.framing.encoding
    began = session.clock()
    reply = yield from send_pipeline(session, (_CAPABILITY_OFFER,))
    agreed = _parse_agreed_framing(reply, encoding)
    if agreed is not None:
        consume_buffered_replies(session, 1)
    else:  # it came in pieces, or contains more than usual
        agreed, reply = yield from _read_negotiation_reply(session)
    if reply and not agreed.pam:
        capability_cache.store(_listener_address(parameters), reply)
    session.round_trip = min(session.round_trip, session.clock() - began)
    session.framing = agreed
    if agreed.pam:
        yield from authenticate(session, parameters.pam)


def _read_negotiation_reply(session: Session) -> Exchange[tuple[Framing, bytes]]:
    """Read the reply to the offer. Returns the layout, and the reply's bytes if it is the usual one, only a mask."""
    reply = yield from read_reply(session)
    reply.check()
    masks = [message.mask for message in reply.other_messages if isinstance(message, m.Protocols)]
    if not masks:
        raise ProtocolError("The server's answer to SQ_PROTOCOLS holds no mask.")
    framing, usual = session.framing, b""
    if reply == Reply(other_messages=[m.Protocols(masks[0])]):
        usual = m.Protocols(masks[0]).encode(framing) + m.EndOfTurn().encode(framing)
    return Framing.negotiate(CLIENT_OFFER, masks[0], framing.encoding), usual
