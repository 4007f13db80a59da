"""One client's session, from the first byte of its login to the end of its connection. Runs on a thread of
its own."""

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
    WantDone,
    parse_client_message,
)
from ...wire.primitives import NeedMoreData, Reader
from ..handlers.bulk_fast_path import ROW_TAGS
from ..handlers.client_stream import ClientDisconnected
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
    """What the server wants of its clients, and what all their sessions share."""

    users: Mapping[str, str] = field(repr=False)  # passwords by name
    server_name: str
    version: str
    limits: ServerLimits
    session_slots: SessionSlots
    faults: Faults
    query_log: QueryLog
    tls: ssl.SSLContext | None = None
    pam: Questions | None = field(default=None, repr=False)


# They are their tag and nothing else, and most of what is sent.
_TAG_ONLY: dict[bytes, Message] = {
    cls.TAG.to_bytes(2, "big"): cls()
    for cls in (EndOfTurn, Execute, Open, Close, Release, NDescribe, WantDone)
}

# They come with the same few bytes again and again.
_CACHED_MESSAGES = frozenset({Id, CursorName, Fetch})
_MAX_CACHED_BYTES = 64


class LoginRejected(Exception):
    """The login was answered with CONREJ."""


class ClientConnection:
    """Serves one connected socket until either side ends it; see `run`.

    `handle_urgent`, `urge`, `client_disconnected` and `abort` may come from other threads.
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
        self._aborted = False
        self._message_cache: dict[
            bytes, tuple[bytes, Message]
        ] = {}  # by tag: the same bytes are the same message
        self._message_cache_framing: Framing | None = None

    def run(self) -> None:
        """Log in, converse, clean up. Whatever the peer does ends here and nowhere else."""
        placed = False
        try:
            self._deadline = time.monotonic() + self._settings.limits.login_seconds
            if self._settings.tls is not None:
                self._stream.start_tls(self._settings.tls, self._deadline)
            request, dialogue = self._login()
            placed = self._settings.session_slots.acquire()
            if not placed:
                raise self._reject(TOO_MANY_SESSIONS, "the limit of sessions is reached")
            interruption = Interruption()
            interrupts = StatementInterrupts(interruption.request)
            framing = Framing(encoding=codec_of_locale(_locale_of(request)))
            client = ClientSide(self._stream, framing, interrupts)
            session = open_session(
                self._engine, request.user, dict(request.environment), client, interruption
            )
            self._engine_session = session
            self._executor = runner = InstrumentedExecutor(
                session, self._settings.faults, self._settings.query_log, self._stream.shutdown
            )
            self._stream.queue(self._accept_reply().encode())
            self._serve_session(session, runner, client, interrupts, dialogue)
            self._stream.drain(_LINGER_SECONDS)
        except LoginRejected as refused:
            log.info("login refused: %s", refused)
            self._stream.drain(_LINGER_SECONDS)
        except TlsFailed as problem:
            log.info("connection ended: %s", problem)
        except ClientDisconnected as gone:
            log.debug("session ended: %s", gone)
        except ProtocolError as problem:
            log.info("session ended, the client broke the protocol: %s", problem)
        except Exception:
            log.exception("session ended by an internal error")
        finally:
            try:
                if self._engine_session is not None:
                    self._engine_session.close()
            finally:
                # It goes now, not with Python's collector, which does not know what DuckDB holds for it.
                self._engine_session = self._executor = self._interrupts = None
                self._closed.set()
                if placed:
                    self._settings.session_slots.release()
                self._stream.finish()

    def handle_urgent(self) -> bool:
        """Take the urgent byte that has come, if nobody has yet, and heed it: stop the statement that runs or is
        about to; nothing when the session waits for its client. True when the engine must be urged. From the
        watcher's thread, and from the session's own.
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
        """Repeat an interrupt that has not worked yet; False when there is no need."""
        interrupts = self._interrupts
        return interrupts is not None and interrupts.repeat()

    def client_disconnected(self) -> bool:
        """The client has closed its end, and nobody waits for answers any more: its statement is stopped, and what it
        had sent ahead is not begun. True when the engine must be urged.
        """
        self._stream.client_closed = True
        session, interrupts = self._engine_session, self._interrupts
        if session is not None:
            session.client_disconnected()
        return interrupts is not None and interrupts.request()

    def abort(self) -> bool:
        """End the session: its connection is closed, its statement stopped. True when the engine must be
        urged.
        """
        self._aborted = self._stream.client_closed = True
        self._stream.shutdown()
        runner, interrupts = self._executor, self._interrupts
        if runner is not None:
            runner.release()
        return interrupts is not None and interrupts.request()

    @property
    def database(self) -> str | None:
        """The database that the session has open now."""
        session = self._engine_session
        return None if session is None else session.database

    def end(self, seconds: float) -> None:
        """End the connection from another thread, and wait until the session is closed, at most so long."""
        self._stream.shutdown()
        self._closed.wait(seconds)

    # ---- login ---------------------------------------------------------------------------------------------

    def _login(self) -> tuple[ConnectRequest, PamConversation | None]:
        """Read the connect request and check it; the PAM dialogue is still to come when there is one.
        LoginRefused after a CONREJ is queued (SQLI sections 3 and 4)."""
        header = self._read_login_bytes(4)
        if header[2] != _CONREQ or header[3] != _PROTOCOL:
            hint = (
                ": the client wants TLS, this listener has none" if header.startswith(_TLS_HANDSHAKE) else ""
            )
            raise ProtocolError(f"a connection began with {header.hex()}, which is no SQLI login{hint}")
        length = packet_length(header[:2])
        request = ConnectRequest.parse(self._read_login_bytes(length))
        self._stream.pos += length
        if request.server and request.server != self._settings.server_name:  # INFORMIXSERVER may be left out
            raise self._reject(_WRONG_SERVER, f"unknown server name {request.server!r}")
        dialogue = start_pam_conversation(self._settings.pam, request.user)
        if dialogue is None:
            # The comparison always happens, in constant time.
            wanted = self._settings.users.get(request.user)
            if not _equal_constant_time(request.password, wanted or "") or wanted is None:
                raise self._reject(_WRONG_LOGIN, "wrong user or password")
        elif dict(request.environment).get(_PAM_CAPABLE) != "1":
            raise self._reject(_WRONG_LOGIN, "the user has PAM questions and the client cannot be asked")
        try:
            codec_of_locale(_locale_of(request))
        except ValueError as problem:
            raise self._reject(_BAD_LOCALE, str(problem)) from problem
        return request, dialogue

    def _read_login_bytes(self, size: int) -> bytes:
        """The first `size` received bytes, which stay in the inbox."""
        stream = self._stream
        while stream.unread < size:
            if not stream.receive(self._deadline):
                raise ClientDisconnected("the client left before it logged in")
        return stream.inbox[stream.pos : stream.pos + size]

    def _accept_reply(self) -> ConnectReply:
        settings = self._settings
        return ConnectReply("accept", settings.server_name, settings.version, _SERIAL)

    def _reject(self, code: int, why: str) -> LoginRejected:
        settings = self._settings
        reply = ConnectReply("reject", settings.server_name, settings.version, _SERIAL, service_error=code)
        self._stream.queue(reply.encode())
        return LoginRejected(why)

    # ---- conversation --------------------------------------------------------------------------------------

    def _serve_session(
        self,
        session: EngineSession,
        runner: InstrumentedExecutor,
        client: ClientSide,
        interrupts: StatementInterrupts,
        dialogue: PamConversation | None,
    ) -> None:
        stream = self._stream
        stream.idle_timeout = self._settings.limits.idle_seconds
        self._interrupts = interrupts
        conversation = ProtocolSession(session, runner, client, stream, interrupts, dialogue)
        try:
            self._serve_messages(conversation, interrupts)
        finally:
            conversation.close()

    def _serve_messages(self, conversation: ProtocolSession, interrupts: StatementInterrupts) -> None:
        """Receive and answer until either side ends it."""
        stream = self._stream
        while not conversation.ended and not self._aborted:
            if stream.client_closed:
                raise ClientDisconnected("the client closed the connection")
            if stream.ready and self._serve(conversation):
                continue
            # An urgent byte follows the request that it is meant for. One that had come before the kernel was
            # found empty, with nothing left to parse, had nothing to stop; a later one belongs to what comes
            # now.
            requests = interrupts.requests
            received = None if stream.is_backlogged else stream.try_receive()
            if received is None:
                if interrupts.requests != requests:
                    continue  # it may have come just now: look once more
                if conversation.bulk_inserts.gathered is not None:
                    with self._engine.recovery:
                        settled = conversation.bulk_inserts.flush_complete_groups()
                    if settled:
                        continue
                if not (stream.unread or stream.is_backlogged):
                    interrupts.forget(requests)
                received = stream.receive(None if conversation.logged_in else self._deadline, looked=True)
            if not received:
                raise ClientDisconnected("the client closed the connection")

    def _serve(self, conversation: ProtocolSession) -> bool:
        """Answer what has arrived; False where more has to arrive first."""
        stream, framing = self._stream, conversation.framing
        with self._engine.recovery:
            stream.pos, unfinished = conversation.bulk_inserts.consume_rows(stream.inbox, stream.pos)
        stream.flush()
        if stream.skip_interrupts():
            return True
        messages = [] if unfinished else self._parse_messages(conversation, framing)
        if not messages:
            return False
        with self._engine.recovery:
            conversation.serve(messages, framing.encoding)
        stream.flush()
        return True

    def _parse_messages(self, conversation: ProtocolSession, framing: Framing) -> list[Message]:
        """The whole messages that have arrived, up to one that changes how the next are laid out, or to rows that
        are taken in bulk."""
        stream = self._stream
        inbox = stream.inbox
        messages: list[Message] = []
        reader = Reader(inbox, stream.pos)
        lately = self._message_cache
        if self._message_cache_framing is not framing:
            lately.clear()
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
                    and conversation.bulk_inserts.can_consume_next(inbox, pos, messages[-1])
                ):
                    break
                bare = _TAG_ONLY.get(tag)
                if bare is not None:
                    stream.pos = pos + 2
                    messages.append(bare)
                    continue
                before = lately.get(tag)
                if before is not None and inbox.startswith(before[0], pos):
                    stream.pos = pos + len(before[0])
                    messages.append(before[1])
                    continue
                reader.pos = pos
                message = parse_client_message(reader, framing)
                stream.pos = reader.pos
                messages.append(message)
                if type(message) in _CACHED_MESSAGES and stream.pos - pos <= _MAX_CACHED_BYTES:
                    lately[tag] = inbox[pos : stream.pos], message
                elif type(message) is Protocols:
                    break
        except NeedMoreData as more:
            if not messages:
                most = MAX_MESSAGE if conversation.logged_in else LOGIN_MESSAGE
                if stream.unread + more.missing > most:
                    raise ProtocolError(f"a message of more than {most} bytes") from None
                stream.require_bytes(more.missing)
        except ProtocolError:
            # What came before the rubbish is served and answered first; then it is met again, with nothing
            # before it.
            if not messages:
                raise
        return messages


def _locale_of(request: ConnectRequest) -> str:
    return dict(request.environment).get("CLIENT_LOCALE") or _DEFAULT_LOCALE


def _equal_constant_time(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
