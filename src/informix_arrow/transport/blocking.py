"""Runs exchanges over a blocking TCP socket."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from typing import TypeVar

from ..exchange.steps import Connect, ConnectionLost, Exchange, Receive, Send, Step

T = TypeVar("T")

#: Seconds of one wait; without end there are many. Ctrl-C ends a wait only where the system call can be
#: interrupted: never on Windows, and nowhere for a plain recv() once a library (Polars, for one) has set up
#: its own signal handler.
WAKE = 0.5


class BlockingTransport:
    """One TCP connection, used by one thread at a time.

    Parameters
    ----------
    connect_timeout
        Seconds until the TCP connection must stand; None leaves it to the operating system.
    read_timeout
        Seconds of silence that are borne while bytes are awaited or cannot be sent; None waits for ever.
    """

    def __init__(self, *, connect_timeout: float | None, read_timeout: float | None) -> None:
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._socket: socket.socket | None = None
        self._timeout = 0.0  # what the socket was told last

    def run(self, exchange: Exchange[T]) -> T:
        """Drive ``exchange`` to its end and return its result.

        When the network fails or a time limit is over, ``ConnectionLost`` is thrown into the exchange, which
        may know what to do. Whatever else interrupts a wait (KeyboardInterrupt, say) ends the exchange and
        passes through.
        """
        try:
            step = next(exchange)
            while True:
                try:
                    answer = self._do(step)
                except ConnectionLost as error:
                    step = exchange.throw(error)
                else:
                    step = exchange.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            exchange.close()

    def close(self) -> None:
        """Close the socket; nothing is sent. May be called again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _do(self, step: Step) -> int:
        if isinstance(step, Connect):
            self._connect(step.host, step.port)
            return 0
        if self._socket is None:
            raise ConnectionLost("the connection is closed")
        link = self._socket
        try:
            if isinstance(step, Receive):
                into = step.into
                self._wake_up_often(link, step.patience)
                return self._patiently(lambda: link.recv_into(into), step.patience)
            if step.into is None:
                self._send(link, memoryview(step.data))
                return 0
            return self._send_and_receive(link, step)
        except OSError as error:
            raise ConnectionLost(f"the connection broke: {error.strerror or error}") from error

    def _send(self, link: socket.socket, data: memoryview) -> None:
        self._wake_up_often(link)
        sent = 0

        def send() -> int:
            return link.send(data[sent:])

        while sent < len(data):
            sent += self._patiently(send)

    def _wake_up_often(self, link: socket.socket, patience: float | None = None) -> None:
        limit = self._read_timeout if patience is None else patience
        timeout = WAKE if limit is None else min(limit, WAKE)
        if timeout != self._timeout:
            link.settimeout(timeout)
            self._timeout = timeout

    def _patiently(self, action: Callable[[], int], patience: float | None = None) -> int:
        """Do ``action`` again as long as it finds the socket not ready; ``ConnectionLost`` when patience is
        over (that may be noticed up to ``WAKE`` seconds late).

        Without a ``patience`` of its own the user's ``read_timeout`` counts.
        """
        limit = self._read_timeout if patience is None else patience
        began = time.monotonic()
        while True:
            try:
                return action()
            except TimeoutError as error:
                if error.errno is not None:  # ETIMEDOUT: the system has given the peer up
                    raise
                if limit is not None and time.monotonic() - began >= limit:
                    setting = " (read_timeout)" if patience is None else ""
                    raise ConnectionLost(f"the server was silent for {limit:g} s{setting}") from None

    def _connect(self, host: str, port: int) -> None:
        self.close()
        try:
            link = socket.create_connection((host, port), self._connect_timeout)
        except OSError as error:
            if isinstance(error, TimeoutError) and error.errno is None:
                raise ConnectionLost(
                    f"no connection to {host}:{port} within {self._connect_timeout:g} s (connect_timeout)"
                ) from None
            raise ConnectionLost(f"cannot connect to {host}:{port}: {error.strerror or error}") from error
        self._socket, self._timeout = link, -1.0
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def _send_and_receive(self, link: socket.socket, step: Send) -> int:
        """Send all of ``step.data``; whenever that would wait, take in what has arrived."""
        assert step.into is not None
        data, into, received = memoryview(step.data), step.into, 0
        link.setblocking(False)
        self._timeout = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(link, selectors.EVENT_WRITE)

            def ready() -> int:
                found = selector.select(WAKE if self._read_timeout is None else min(self._read_timeout, WAKE))
                if not found:
                    raise TimeoutError
                return found[0][1]

            while data:
                try:
                    data = data[link.send(data) :]
                    continue
                except (BlockingIOError, InterruptedError):
                    pass
                reading = selectors.EVENT_READ if received < len(into) else 0
                selector.modify(link, selectors.EVENT_WRITE | reading)
                if self._patiently(ready) & selectors.EVENT_READ:
                    count = link.recv_into(into[received:])
                    if not count:
                        raise ConnectionLost("the server closed the connection while it was being sent to")
                    received += count
        return received
