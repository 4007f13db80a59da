"""One client's connection, from the first byte of its login to its end. It runs on a thread of its own."""

from __future__ import annotations

import hmac
import logging
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...wire.capabilities import Framing, codec_of_locale
from ...wire.errors import ProtocolError
from ...wire.login import ConnectReply, ConnectRequest, packet_length
from ...wire.messages import (
    Ack,
    Close,
    CursorName,
    EndOfTurn,
    Execute,
    Fetch,
    Id,
    Message,
    NDescribe,
    Open,
    Protocols,
    Release,
    Response,
    WantDone,
    parse_client_message,
    tag_name,
)
from ...wire.primitives import NeedMoreData, Reader
from ..handlers.bulk_fast_path import ROW_TAGS
from ..handlers.client_stream import ClientDisconnected, ClientSilent
from ..handlers.interrupts import StatementInterrupts
from ..handlers.pam import PamConversation, Questions, start_pam_conversation
from ..handlers.protocol_session import ClientSide, ProtocolSession
from ..session.engine import Engine
from ..session.engine_session import EngineSession, open_session
from ..session.lock_owner import Interruption
from .faults import ConnectionDropper, Faults
from .instrumented_executor import InstrumentedExecutor
from .limits import LOGIN_MESSAGE, MAX_MESSAGE, TOO_MANY_SESSIONS, ServerLimits, SessionSlots
from .query_log import QueryLog
from .socket_stream import INTERRUPT, Stream, TlsFailed

log = logging.getLogger("informix_arrow.server")

_MESSAGES_AT_A_TIME = 32768
_LINGER_SECONDS = 5.0
_CONREQ, _PROTOCOL = 1, 0x3C
_TLS_HANDSHAKE = b"\x16\x03"
_PAM_CAPABLE = "CLNT_PAM_CAPABLE"
_DEFAULT_LOCALE = "en_US.819"
_WRONG_SERVER, _WRONG_LOGIN, _BAD_LOCALE = -761, -951, -23101
_SERIAL = "RDS#N000000"


@dataclass(frozen=True)
class ServerSettings:
    """Requirements on clients, and what all their sessions share."""

    users: Mapping[str, str] = field(repr=False)  # passwords by name
    server_name: str
    version: str
    limits: ServerLimits
    session_slots: SessionSlots
    faults: Faults
    query_log: QueryLog
    tls: ssl.SSLContext | None = None
    pam: Questions | None = field(default=None, repr=False)


# These messages consist of their tag only, and are most of what is sent.
_TAG_ONLY: dict[bytes, Message] = {
    cls.TAG.to_bytes(2, "big"): cls()
    for cls in (EndOfTurn, Execute, Open, Close, Release, NDescribe, WantDone)
}

# Their bytes rarely differ from one message to the next.
_CACHED_MESSAGES = frozenset({Id, CursorName, Fetch})
_MAX_CACHED_BYTES = 64

# The login goes on while a client sends only these: capabilities, and answers to PAM.
_LOGIN_MESSAGES = frozenset({Protocols, Ack, Response, EndOfTurn})


class LoginRejected(Exception):
    """The login was answered with CONREJ."""


class ClientConnection:
    """Serves one connected socket until either side ends it; see `run`.

    `handle_urgent`, `repeat_interrupt`, `client_disconnected` and `abort` may be called from other threads.
    """

    def __init__(self, sock: socket.socket, settings: ServerSettings, engine: Engine) -> None:
        self._sock = sock
        self._settings = settings
        self._engine = engine
        self._stream = Stream(sock, self.handle_urgent, ConnectionDropper(settings.faults))
        self._interrupts: StatementInterrupts | None = None
        self._engine_session: EngineSession | None = None
        self._executor: InstrumentedExecutor | None = None
        self._closed = threading.Event()
        self._deadline = 0.0  # of the login
        self._login_complete = False  # a request that belongs to no login has been served
        self._aborted = False
        # By tag: the same bytes are the same message.
        self._message_cache: dict[bytes, tuple[bytes, Message]] = {}
        self._message_cache_framing: Framing | None = None

    def run(self) -> None:
        """Log in, serve the client, clean up. All errors of the peer are handled here."""
        placed = False
        try:
            self._deadline = time.monotonic() + self._settings.limits.login_seconds
            if self._settings.tls is not None:
                self._stream.start_tls(self._settings.tls, self._deadline)
            request, pam_conversation = self._login()
            placed = self._settings.session_slots.acquire()
            if not placed:
                raise self._reject(TOO_MANY_SESSIONS, "The maximum number of sessions is reached.")
            interruption = Interruption()
            interrupts = StatementInterrupts(interruption.request)
            framing = Framing(encoding=codec_of_locale(_locale_of(request)))
            client = ClientSide(self._stream, framing, interrupts)
            session = open_session(
                self._engine, request.user, dict(request.environment), client, interruption
            )
            self._engine_session = session
            self._executor = executor = InstrumentedExecutor(
                session, self._settings.faults, self._settings.query_log, self._stream.shutdown
            )
            accepted = ConnectReply("accept", self._settings.server_name, self._settings.version, _SERIAL)
            self._stream.queue(accepted.encode())
            self._serve_session(session, executor, client, interrupts, pam_conversation)
            self._stream.drain(_LINGER_SECONDS)
        except LoginRejected as refused:
            log.info("Login refused: %s", refused)
            self._stream.drain(_LINGER_SECONDS)
        except TlsFailed as problem:
            log.info("Connection ended: %s", problem)
        except ClientSilent as silent:
            if self._login_complete:
                log.debug("Session ended: %s", silent)
            else:
                log.warning("Login from %s ended: %s", self._peer_address(), self._describe_stall())
        except ClientDisconnected as gone:
            log.debug("Session ended: %s", gone)
        except ProtocolError as problem:
            log.info("Session ended, because the client violated the protocol: %s", problem)
        except Exception:
            log.exception("Session ended by an internal error.")
        finally:
            try:
                if self._engine_session is not None:
                    self._engine_session.close()
            finally:
                # Closed now and not by the garbage collector, which does not know the size of what DuckDB holds for it.
                self._engine_session = self._executor = self._interrupts = None
                self._closed.set()
                if placed:
                    self._settings.session_slots.release()
                self._stream.finish()

    def handle_urgent(self) -> bool:
        """Take the urgent byte that has arrived, unless another thread has, and stop the current statement or the next
        one.

        It has no effect while the session waits for its client. Returns True if the interrupt must be repeated. Called
        from the watcher's thread and from the session's own.
        """
        interrupts = self._interrupts
        with self._stream.urgent_lock:
            try:
                byte = self._sock.recv(1, socket.MSG_OOB)
            except OSError:
                return False
            if byte != bytes([INTERRUPT]) or interrupts is None:
                return False
            if self._stream.idle and not self._stream.has_kernel_data():
                return False
            return interrupts.request()

    def repeat_interrupt(self) -> bool:
        """Repeat an interrupt that has not taken effect yet; return False when there is no need."""
        interrupts = self._interrupts
        return interrupts is not None and interrupts.repeat()

    def client_disconnected(self) -> bool:
        """Stop the statement because the client has closed its end. Requests that it had sent ahead are not served.

        Returns True if the interrupt must be repeated.
        """
        self._stream.client_closed = True
        session, interrupts = self._engine_session, self._interrupts
        if session is not None:
            session.client_disconnected()
        return interrupts is not None and interrupts.request()

    def abort(self) -> bool:
        """End the session: close its connection and stop its statement.

        Returns True if the interrupt must be repeated.
        """
        self._aborted = self._stream.client_closed = True
        self._stream.shutdown()
        executor, interrupts = self._executor, self._interrupts
        if executor is not None:
            executor.release()
        return interrupts is not None and interrupts.request()

    @property
    def database(self) -> str | None:
        """Name of the database that the session has open."""
        session = self._engine_session
        return None if session is None else session.database

    def end(self, seconds: float) -> None:
        """End the connection from another thread, and wait at most `seconds` until the session is closed."""
        self._stream.shutdown()
        self._closed.wait(seconds)

    # ---- login ---------------------------------------------------------------------------------------------

    def _login(self) -> tuple[ConnectRequest, PamConversation | None]:
        """Read the connect request and check it; return it with the PAM conversation that must follow, if any.

        Raises `LoginRejected` after a CONREJ is queued (SQLI sections 3 and 4).
        """
        header = self._read_login_bytes(4)
        if header[2] != _CONREQ or header[3] != _PROTOCOL:
            hint = (
                " The client uses TLS, but this listener does not."
                if header.startswith(_TLS_HANDSHAKE)
                else ""
            )
            raise ProtocolError(
                f"The connection started with {header.hex()}, which is not an SQLI login.{hint}"
            )
        length = packet_length(header[:2])
        request = ConnectRequest.parse(self._read_login_bytes(length))
        self._stream.pos += length
        if request.server and request.server != self._settings.server_name:  # INFORMIXSERVER may be missing
            raise self._reject(_WRONG_SERVER, f"The server name {request.server!r} is not known.")
        pam_conversation = start_pam_conversation(self._settings.pam, request.user)
        if pam_conversation is None:
            # The comparison always happens, in constant time.
            password = self._settings.users.get(request.user)
            if not _equal_constant_time(request.password, password or "") or password is None:
                raise self._reject(_WRONG_LOGIN, "The user or the password is wrong.")
        elif dict(request.environment).get(_PAM_CAPABLE) != "1":
            raise self._reject(
                _WRONG_LOGIN, "The user must answer PAM challenges, but the client does not support them."
            )
        try:
            codec_of_locale(_locale_of(request))
        except ValueError as problem:
            raise self._reject(_BAD_LOCALE, str(problem)) from problem
        return request, pam_conversation

    def _read_login_bytes(self, size: int) -> bytes:
        """Return the first `size` received bytes, which stay in the inbox."""
        stream = self._stream
        while stream.unread < size:
            if not stream.receive(self._deadline):
                raise ClientDisconnected("The client closed the connection before it logged in.")
        return stream.inbox[stream.pos : stream.pos + size]

    def _peer_address(self) -> str:
        try:
            return str(self._sock.getpeername()[0])
        except OSError:
            return "a client that has gone"

    def _describe_stall(self) -> str:
        """Describe what a login that ran into its time limit was waiting for."""
        stream = self._stream
        if not stream.unread:
            received = "and nothing was received"
        elif self._engine_session is None:
            received = f"but {stream.unread} bytes of a connection request were received"
        else:
            tag = tag_name(int.from_bytes(stream.inbox[stream.pos : stream.pos + 2], "big"))
            received = f"but {stream.unread} bytes of the message {tag} were received"
        return f"It was not complete after {self._settings.limits.login_seconds:g} s, {received}."

    def _reject(self, code: int, why: str) -> LoginRejected:
        settings = self._settings
        reply = ConnectReply("reject", settings.server_name, settings.version, _SERIAL, service_error=code)
        self._stream.queue(reply.encode())
        return LoginRejected(why)

    # ---- messages -----------------------------------------------------------------------------------------

    def _serve_session(
        self,
        session: EngineSession,
        executor: InstrumentedExecutor,
        client: ClientSide,
        interrupts: StatementInterrupts,
        pam_conversation: PamConversation | None,
    ) -> None:
        stream = self._stream
        stream.idle_timeout = self._settings.limits.idle_seconds
        self._interrupts = interrupts
        protocol_session = ProtocolSession(session, executor, client, stream, interrupts, pam_conversation)
        try:
            self._serve_messages(protocol_session, interrupts)
        finally:
            protocol_session.close()

    def _serve_messages(self, protocol_session: ProtocolSession, interrupts: StatementInterrupts) -> None:
        """Receive and reply until either side ends the connection."""
        stream = self._stream
        while not protocol_session.ended and not self._aborted:
            if stream.client_closed:
                raise ClientDisconnected("The client closed the connection.")
            if stream.ready and self._serve(protocol_session):
                continue
            # An urgent byte follows the request that it is meant for. If it came before the kernel's buffer was found
            # empty, with nothing left to parse, there was nothing to stop. A later one belongs to the next request.
            requests = interrupts.requests
            received = None if stream.is_backlogged else stream.try_receive()
            if received is None:
                if interrupts.requests != requests:
                    continue  # it may have come just now: check again
                if protocol_session.bulk_inserts.pending_statement is not None:
                    with self._engine.recovery:
                        settled = protocol_session.bulk_inserts.flush_complete_groups()
                    if settled:
                        continue
                if not (stream.unread or stream.is_backlogged):
                    interrupts.forget(requests)
                received = stream.receive(None if self._login_complete else self._deadline, kernel_empty=True)
            if not received:
                raise ClientDisconnected("The client closed the connection.")

    def _serve(self, protocol_session: ProtocolSession) -> bool:
        """Reply to what has arrived; return False if more has to arrive first."""
        stream, framing = self._stream, protocol_session.framing
        with self._engine.recovery:
            stream.pos, unfinished = protocol_session.bulk_inserts.consume_rows(stream.inbox, stream.pos)
        stream.flush()
        if stream.skip_interrupts():
            return True
        messages = [] if unfinished else self._parse_messages(protocol_session, framing)
        if not messages:
            return False
        with self._engine.recovery:
            protocol_session.serve(messages, framing.encoding)
        stream.flush()
        if not self._login_complete:
            self._login_complete = protocol_session.logged_in and any(
                type(message) not in _LOGIN_MESSAGES for message in messages
            )
        return True

    def _parse_messages(self, protocol_session: ProtocolSession, framing: Framing) -> list[Message]:
        """Return the complete messages that have arrived.

        They end at one that changes the layout of the next, or at rows for the bulk path.
        """
        stream = self._stream
        inbox = stream.inbox
        messages: list[Message] = []
        reader = Reader(inbox, stream.pos)
        cache = self._message_cache
        if self._message_cache_framing is not framing:
            cache.clear()
            self._message_cache_framing = framing
        try:
            while len(messages) < _MESSAGES_AT_A_TIME:
                pos = stream.pos
                if messages and pos == len(inbox):
                    break
                tag = inbox[pos : pos + 2]
                if (
                    messages
                    and tag in ROW_TAGS
                    and protocol_session.bulk_inserts.can_consume_next(inbox, pos, messages[-1])
                ):
                    break
                tag_only = _TAG_ONLY.get(tag)
                if tag_only is not None:
                    stream.pos = pos + 2
                    messages.append(tag_only)
                    continue
                before = cache.get(tag)
                if before is not None and inbox.startswith(before[0], pos):
                    stream.pos = pos + len(before[0])
                    messages.append(before[1])
                    continue
                reader.pos = pos
                message = parse_client_message(reader, framing)
                stream.pos = reader.pos
                messages.append(message)
                if type(message) in _CACHED_MESSAGES and stream.pos - pos <= _MAX_CACHED_BYTES:
                    cache[tag] = inbox[pos : stream.pos], message
                elif type(message) is Protocols:
                    break
        except NeedMoreData as more:
            if not messages:
                size_limit = MAX_MESSAGE if protocol_session.logged_in else LOGIN_MESSAGE
                if stream.unread + more.missing > size_limit:
                    raise ProtocolError(
                        f"The client sent a message of more than {size_limit} bytes."
                    ) from None
                stream.require_bytes(more.missing)
        except ProtocolError:
            # Messages before the malformed one are served first. It is then parsed again, as the first one.
            if not messages:
                raise
        return messages


def _locale_of(request: ConnectRequest) -> str:
    return dict(request.environment).get("CLIENT_LOCALE") or _DEFAULT_LOCALE


def _equal_constant_time(received: str, expected: str) -> bool:
    return hmac.compare_digest(received.encode("utf-8", "surrogateescape"), expected.encode())
