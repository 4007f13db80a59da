"""One client's session, from the first byte of its login to the end of its connection. Runs on a thread of
its own."""

from __future__ import annotations

import hmac
import logging
import socket
import ssl
import time
from dataclasses import dataclass, field

from ..wire.capabilities import Framing, codec_of_locale
from ..wire.errors import ProtocolError
from ..wire.login import ConnectReply, ConnectRequest, packet_length
from ..wire.messages import EndOfTurn, Execute, Message, Protocols, parse_client_message
from ..wire.primitives import NeedMoreData, Reader
from .conversation import Conversation
from .engine import Engine
from .faults import ConnectionCutter, Faults
from .interrupts import Interrupts
from .limits import MAX_MESSAGE, TOO_MANY_SESSIONS, Limits, Places
from .pam import Dialogue, Questions, questions_of
from .query_log import QueryLog
from .stream import INTERRUPT, PeerGone, Stream, TlsFailed
from .watching import WatchedSession

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
class Settings:
    """What the server wants of its clients, and what all their sessions share."""

    user: str
    password: str = field(repr=False)
    server_name: str
    version: str
    limits: Limits
    places: Places
    faults: Faults
    queries: QueryLog
    tls: ssl.SSLContext | None = None
    pam: Questions | None = field(default=None, repr=False)


# A load is mostly these two, which are their tag and nothing else.
_BARE: dict[bytes, Message] = {cls.TAG.to_bytes(2, "big"): cls() for cls in (EndOfTurn, Execute)}


class LoginRefused(Exception):
    """The login was answered with CONREJ."""


class Session:
    """Serves one connected socket until either side ends it; see `run`.

    `take_urgent`, `urge` and `abort` may come from other threads.
    """

    def __init__(self, sock: socket.socket, settings: Settings, engine: Engine) -> None:
        self._sock = sock
        self._settings = settings
        self._engine = engine
        self._stream = Stream(sock, self.take_urgent, ConnectionCutter(settings.faults))
        self._interrupts: Interrupts | None = None
        self._watched: WatchedSession | None = None
        self._deadline = 0.0  # of the login
        self._aborted = False

    def run(self) -> None:
        """Log in, converse, clean up. Whatever the peer does ends here and nowhere else."""
        placed = False
        try:
            self._deadline = time.monotonic() + self._settings.limits.login_seconds
            if self._settings.tls is not None:
                self._stream.start_tls(self._settings.tls, self._deadline)
            request, dialogue = self._login()
            placed = self._settings.places.take()
            if not placed:
                raise self._refuse(TOO_MANY_SESSIONS, "the limit of sessions is reached")
            self._watched = engine = self._new_session(request)
            self._stream.queue(self._acceptance().encode())
            self._converse(engine, _locale_of(request), dialogue)
            self._stream.drain(_LINGER_SECONDS)
        except LoginRefused as refused:
            log.info("login refused: %s", refused)
            self._stream.drain(_LINGER_SECONDS)
        except TlsFailed as problem:
            log.info("connection ended: %s", problem)
        except PeerGone as gone:
            log.debug("session ended: %s", gone)
        except ProtocolError as problem:
            log.info("session ended, the client broke the protocol: %s", problem)
        except Exception:
            log.exception("session ended by an internal error")
        finally:
            try:
                if self._watched is not None:
                    self._watched.close()
            finally:
                if placed:
                    self._settings.places.give_back()
                self._stream.finish()

    def _new_session(self, request: ConnectRequest) -> WatchedSession:
        engine, settings = self._engine, self._settings
        return engine.adopt(
            WatchedSession(
                engine,
                request.user,
                dict(request.environment),
                engine.new_session_id(),
                faults=settings.faults,
                queries=settings.queries,
                cut=self._stream.shutdown,
            )
        )

    def take_urgent(self) -> bool:
        """Take the urgent byte that has come, if nobody has yet, and heed it: stop the statement that runs or is
        about to; nothing when the session waits for its client. True when the engine must be urged. From the
        watcher's thread, and from the session's own.
        """
        interrupts = self._interrupts
        with self._stream.urgency:
            try:
                byte = self._sock.recv(1, socket.MSG_OOB)
            except OSError:
                return False
            if byte != bytes([INTERRUPT]) or interrupts is None:
                return False
            if self._stream.idle and not self._stream.arrived():
                return False
            return interrupts.request()

    def urge(self) -> bool:
        """Repeat an interrupt that has not worked yet; False when there is no need."""
        return self._interrupts is not None and self._interrupts.urge()

    def client_left(self) -> None:
        """The client sends nothing more: what it has sent is still answered, but no lock is waited for."""
        if self._watched is not None:
            self._watched.client_left()

    def abort(self) -> bool:
        """End the session: its connection is closed, its statement stopped. True when the engine must be
        urged.
        """
        self._aborted = True
        self._stream.shutdown()
        if self._watched is not None:
            self._watched.release()
        return self._interrupts is not None and self._interrupts.request()

    # ---- login ---------------------------------------------------------------------------------------------

    def _login(self) -> tuple[ConnectRequest, Dialogue | None]:
        """Read the connect request and check it; the PAM dialogue is still to come when there is one.
        LoginRefused after a CONREJ is queued (SQLI sections 3 and 4)."""
        header = self._exactly(4)
        if header[2] != _CONREQ or header[3] != _PROTOCOL:
            hint = (
                ": the client wants TLS, this listener has none" if header.startswith(_TLS_HANDSHAKE) else ""
            )
            raise ProtocolError(f"a connection began with {header.hex()}, which is no SQLI login{hint}")
        length = packet_length(header[:2])
        request = ConnectRequest.parse(self._exactly(length))
        self._stream.pos += length
        if request.server != self._settings.server_name:
            raise self._refuse(_WRONG_SERVER, f"unknown server name {request.server!r}")
        dialogue = questions_of(self._settings.pam, request.user)
        if dialogue is None:
            # Both comparisons always happen, each in constant time.
            user = _same(request.user, self._settings.user)
            password = _same(request.password, self._settings.password)
            if not (user and password):
                raise self._refuse(_WRONG_LOGIN, "wrong user or password")
        elif dict(request.environment).get(_PAM_CAPABLE) != "1":
            raise self._refuse(_WRONG_LOGIN, "the user has PAM questions and the client cannot be asked")
        try:
            codec_of_locale(_locale_of(request))
        except ValueError as problem:
            raise self._refuse(_BAD_LOCALE, str(problem)) from problem
        return request, dialogue

    def _exactly(self, size: int) -> bytes:
        """The first `size` received bytes, which stay in the inbox."""
        stream = self._stream
        while stream.unread < size:
            if not stream.receive(self._deadline):
                raise PeerGone("the client left before it logged in")
        return stream.inbox[stream.pos : stream.pos + size]

    def _acceptance(self) -> ConnectReply:
        settings = self._settings
        return ConnectReply("accept", settings.server_name, settings.version, _SERIAL)

    def _refuse(self, code: int, why: str) -> LoginRefused:
        settings = self._settings
        reply = ConnectReply("reject", settings.server_name, settings.version, _SERIAL, service_error=code)
        self._stream.queue(reply.encode())
        return LoginRefused(why)

    # ---- conversation --------------------------------------------------------------------------------------

    def _converse(self, engine: WatchedSession, locale: str, dialogue: Dialogue | None) -> None:
        stream = self._stream
        stream.patience = self._settings.limits.idle_seconds
        self._interrupts = interrupts = Interrupts(engine.interrupt)
        conversation = Conversation(
            engine, Framing(encoding=codec_of_locale(locale)), stream, interrupts, dialogue
        )
        while not conversation.ended and not self._aborted:
            if not stream.holding:
                framing = conversation.framing
                stream.pos, unfinished = conversation.take_rows(stream.inbox, stream.pos)
                stream.flush()
                if stream.pass_over_interrupts():
                    continue
                messages = [] if unfinished else self._parse(conversation)
                if messages:
                    conversation.serve(messages, framing.encoding)
                    stream.flush()
                    continue
            # An urgent byte follows the request that it is meant for. One that had come before the kernel was
            # found empty, with nothing left to parse, had nothing to stop; a later one belongs to what comes
            # now.
            requests = interrupts.requests
            received = None if stream.full else stream.receive_now()
            if received is None:
                if interrupts.requests != requests:
                    continue  # it may have come just now: look once more
                if conversation.settle_groups():
                    continue
                if not (stream.unread or stream.full):
                    interrupts.forget(requests)
                received = stream.receive(None if conversation.admitted else self._deadline)
            if not received:
                raise PeerGone("the client closed the connection")

    def _parse(self, conversation: Conversation) -> list[Message]:
        """The whole messages that have arrived, up to one that changes how the next are laid out, or to rows that
        are taken in bulk."""
        framing = conversation.framing
        stream = self._stream
        inbox = stream.inbox
        messages: list[Message] = []
        reader = Reader(inbox, stream.pos)
        try:
            while len(messages) < _MESSAGES_AT_A_TIME:
                pos = stream.pos
                if messages and conversation.rows_ahead(inbox, pos, messages[-1]):
                    break
                bare = _BARE.get(inbox[pos : pos + 2])
                if bare is not None:
                    stream.pos = pos + 2
                    messages.append(bare)
                    continue
                reader.pos = pos
                message = parse_client_message(reader, framing)
                stream.pos = reader.pos
                messages.append(message)
                if type(message) is Protocols:
                    break
        except NeedMoreData as more:
            if not messages:
                if stream.unread + more.missing > MAX_MESSAGE:
                    raise ProtocolError(f"a message of more than {MAX_MESSAGE} bytes") from None
                stream.hold(more.missing)
        except ProtocolError:
            # What came before the rubbish is served and answered first; then it is met again, with nothing
            # before it.
            if not messages:
                raise
        return messages


def _locale_of(request: ConnectRequest) -> str:
    return dict(request.environment).get("CLIENT_LOCALE") or _DEFAULT_LOCALE


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
