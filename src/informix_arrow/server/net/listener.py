"""The listening socket: accepts connections, starts a thread for each, and watches all of them for urgent bytes.

A session's thread cannot read its socket while the engine works for it. The listener's thread polls every socket for
urgent data (the interrupt, SQLI section 2) and for a client that has closed its connection, and for nothing else.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

log = logging.getLogger("informix_arrow.server")

_BACKLOG = 256
_JOIN_SECONDS = 10.0
_RETRY_MILLISECONDS = 250
"""Pause of accepting when the process has no file descriptor left."""
_POLL_HANGUP = getattr(select, "POLLRDHUP", 0)
"""The client has closed its end. Only poll on Linux reports it; elsewhere the session finds out when it reads."""
_INTERRUPT_REPEAT_MILLISECONDS = 20
"""Interval at which an interrupt is repeated until the statement has ended."""


class ServedConnection(Protocol):
    """A connection as the listener uses it."""

    def run(self) -> None: ...
    def handle_urgent(self) -> bool: ...
    def abort(self) -> bool: ...
    def repeat_interrupt(self) -> bool: ...
    def client_disconnected(self) -> bool: ...


S = TypeVar("S", bound=ServedConnection)


class Listener(Generic[S]):
    """Accepts connections on one address until it is stopped.

    Parameters
    ----------
    host, port
        Address to listen on; port 0 takes a free one, which `address` has after `start`.
    serve
        Returns the object that serves an accepted, non-inheritable socket. It must not close the socket: the listener
        does so when its `run` has returned.
    most
        Number of connections that may be open; further ones are closed as soon as they are accepted.
    """

    def __init__(self, host: str, port: int, serve: Callable[[socket.socket], S], most: int) -> None:
        self._requested_address = (host, port)
        self._make_session = serve
        self._max_connections = most
        self._sessions: dict[int, tuple[S, socket.socket, threading.Thread]] = {}
        self._ended_fds: deque[int] = deque()
        self._interrupting: set[int] = set()
        self._stopping = False
        self._unfinished_threads: list[threading.Thread] = []
        self._listening_socket: socket.socket | None = None
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port in use; OSError if it is not listening."""
        if self._listening_socket is None:
            raise OSError("The server is not listening.")
        name = self._listening_socket.getsockname()
        return str(name[0]), int(name[1])

    @property
    def sessions(self) -> list[S]:
        """Return the sessions that are open now."""
        return [session for session, _, _ in list(self._sessions.values())]

    def start(self) -> None:
        """Bind and serve on a new thread. OSError if the address is not available."""
        host, _ = self._requested_address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening_socket = socket.create_server(
            self._requested_address, family=family, backlog=_BACKLOG
        )
        self._listening_socket.setblocking(False)
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="informix-arrow listener", daemon=True)
        self._thread.start()

    def stop(self) -> list[threading.Thread]:
        """Stop accepting, end every session and wait for their threads.

        Returns the threads that have not ended in time because their statement cannot be stopped.
        """
        if self._thread is None or self._listening_socket is None:
            return []
        self._stopping = True
        self._wake()
        self._thread.join()
        self._thread = None
        for sock in (self._listening_socket, self._wake_reader, self._wake_writer):
            sock.close()
        self._listening_socket = None
        unfinished, self._unfinished_threads = self._unfinished_threads, []
        return unfinished

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # a full pipe also wakes the thread
            self._wake_writer.send(b"\0")

    def _run(self) -> None:
        assert self._listening_socket is not None
        self._poll = poll = select.poll()
        poll.register(self._wake_reader, select.POLLIN)
        poll.register(self._listening_socket, select.POLLIN)
        listening, waking = self._listening_socket.fileno(), self._wake_reader.fileno()
        paused = False
        while not self._stopping:
            timeout = (
                _INTERRUPT_REPEAT_MILLISECONDS
                if self._interrupting
                else _RETRY_MILLISECONDS
                if paused
                else None
            )
            for fd, events in poll.poll(timeout):
                if fd == waking:
                    with contextlib.suppress(BlockingIOError):
                        self._wake_reader.recv(4096)
                elif fd == listening:
                    paused = not self._accept(self._listening_socket)
                    if paused:
                        poll.unregister(listening)
                elif fd in self._sessions:
                    self._handle_event(fd, events)
            if paused:
                poll.register(listening, select.POLLIN)
            self._reap()
            self._interrupting = {fd for fd in self._interrupting if self._sessions[fd][0].repeat_interrupt()}
        self._end_all()

    def _accept(self, listening: socket.socket) -> bool:
        """Accept the waiting connections; return False if the process cannot accept another one now."""
        while True:
            try:
                sock, _ = listening.accept()
            except BlockingIOError:
                return True
            except ConnectionError:
                continue  # closed before it was accepted
            except OSError as problem:
                log.warning("A connection cannot be accepted: %s", problem)
                return False
            if len(self._sessions) >= self._max_connections:
                log.warning("A connection was refused, because %d are already open.", self._max_connections)
                sock.close()
                continue
            try:
                self._start_session(sock)
            except (OSError, RuntimeError) as problem:  # already reset, or no thread available
                log.warning("A connection cannot be served: %s", problem)
                sock.close()

    def _start_session(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 0)
        session = self._make_session(sock)
        fd = sock.fileno()

        def run() -> None:
            try:
                session.run()
            finally:
                self._ended_fds.append(fd)
                self._wake()

        thread = threading.Thread(target=run, name=f"informix-arrow session {fd}", daemon=True)
        self._sessions[fd] = (session, sock, thread)
        self._poll.register(fd, select.POLLPRI | _POLL_HANGUP)
        try:
            thread.start()
        except RuntimeError:
            del self._sessions[fd]
            self._poll.unregister(fd)
            raise

    def _handle_event(self, fd: int, events: int) -> None:
        """Handle an urgent byte, or a broken connection whose session's thread may be in the engine."""
        session, _, _ = self._sessions[fd]
        if events & select.POLLPRI and session.handle_urgent():
            self._interrupting.add(fd)
        if events & _POLL_HANGUP:
            self._poll.modify(fd, select.POLLPRI)
            if session.client_disconnected():
                self._interrupting.add(fd)
        if events & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
            self._poll.unregister(fd)  # it would be reported repeatedly
            if session.abort():
                self._interrupting.add(fd)

    def _reap(self) -> None:
        while self._ended_fds:
            fd = self._ended_fds.popleft()
            _, sock, thread = self._sessions.pop(fd)
            self._interrupting.discard(fd)
            with contextlib.suppress(KeyError):  # _handle_event may have removed it
                self._poll.unregister(fd)
            thread.join()
            sock.close()

    def _end_all(self) -> None:
        for session, _, _ in self._sessions.values():
            session.abort()
        deadline = time.monotonic() + _JOIN_SECONDS
        for session, sock, thread in self._sessions.values():
            while thread.is_alive() and time.monotonic() < deadline:
                thread.join(_INTERRUPT_REPEAT_MILLISECONDS / 1000)
                session.repeat_interrupt()
            if thread.is_alive():
                log.warning("%s did not end within %.0f s.", thread.name, _JOIN_SECONDS)
                self._unfinished_threads.append(thread)
            sock.close()
        self._sessions.clear()
        self._ended_fds.clear()
        self._interrupting.clear()
