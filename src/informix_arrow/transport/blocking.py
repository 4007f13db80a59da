"""Runs exchanges over a blocking TCP socket."""

from __future__ import annotations

import selectors
import socket
from typing import TypeVar

from ..exchange.steps import Connect, ConnectionLost, Exchange, Receive, Send, Step

T = TypeVar("T")


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
        patience = self._read_timeout
        try:
            if isinstance(step, Receive):
                if step.patience is not None:
                    patience = step.patience
                    self._socket.settimeout(patience)
                return self._socket.recv_into(step.into)
            if step.into is None:
                self._socket.sendall(step.data)
                return 0
            return self._send_and_receive(self._socket, step)
        except TimeoutError:
            raise ConnectionLost(f"the server was silent for {patience:g} s (read_timeout)") from None
        except OSError as error:
            raise ConnectionLost(f"the connection broke: {error.strerror or error}") from error

    def _connect(self, host: str, port: int) -> None:
        self.close()
        try:
            link = socket.create_connection((host, port), self._connect_timeout)
        except TimeoutError:
            raise ConnectionLost(
                f"no connection to {host}:{port} within {self._connect_timeout:g} s (connect_timeout)"
            ) from None
        except OSError as error:
            raise ConnectionLost(f"cannot connect to {host}:{port}: {error.strerror or error}") from error
        self._socket = link
        link.settimeout(self._read_timeout)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def _send_and_receive(self, link: socket.socket, step: Send) -> int:
        """Send all of ``step.data``; whenever that would wait, take in what has arrived."""
        assert step.into is not None
        data, into, received = memoryview(step.data), step.into, 0
        link.setblocking(False)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(link, selectors.EVENT_WRITE)
                while data:
                    try:
                        data = data[link.send(data) :]
                        continue
                    except (BlockingIOError, InterruptedError):
                        pass
                    reading = selectors.EVENT_READ if received < len(into) else 0
                    selector.modify(link, selectors.EVENT_WRITE | reading)
                    ready = selector.select(self._read_timeout)
                    if not ready:
                        raise TimeoutError
                    if ready[0][1] & selectors.EVENT_READ:
                        count = link.recv_into(into[received:])
                        if not count:
                            raise ConnectionLost(
                                "the server closed the connection while it was being sent to"
                            )
                        received += count
        finally:
            link.settimeout(self._read_timeout)
        return received
