"""Socket options and helpers of the transports."""

from __future__ import annotations

import contextlib
import ipaddress
import math
import select
import socket
import struct
import sys
import threading
import time
from functools import cache
from typing import Any

from ..operations.io_steps import ConnectionLost

Address = tuple[int, int, int, Any]  # family, kind and protocol of the socket, address

#: The flag for calls that must not wait on a socket set up by :func:`waits_by_itself`; no effect on other systems.
NOT_WAITING = getattr(socket, "MSG_DONTWAIT", 0)


def set_up(link: socket.socket, keepalive: bool | float) -> None:
    """Disable delays of small messages, and set ``keepalive`` as in the connection's parameter of that name."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1 if keepalive else 0)
    if keepalive and keepalive is not True:
        idle = max(1, round(keepalive))
        # If the system allows: seconds before the first probe, seconds between probes, and their number.
        for name, value in (("TCP_KEEPIDLE", idle), ("TCP_KEEPINTVL", max(1, idle // 6)), ("TCP_KEEPCNT", 6)):
            option = getattr(socket, "TCP_KEEPALIVE" if name == "TCP_KEEPIDLE" else name, None)
            option = getattr(socket, name, option)
            if option is not None:
                with contextlib.suppress(OSError):
                    link.setsockopt(socket.IPPROTO_TCP, option, value)


def waits_by_itself(link: socket.socket, seconds: float) -> bool:
    """Let a receive wait for at most ``seconds`` on its own, if the system supports it. Returns whether it
    does.

    That saves the system call that checks for data first. If it is not supported, the socket never waits.

    Only Linux is supported: there such a wait is not restarted after a signal handler (signal(7)), and every
    call can be told not to wait.
    """
    limit = _timeval(seconds)
    if limit:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    link.setblocking(bool(limit))
    return bool(limit)


@cache
def _timeval(seconds: float) -> bytes:
    """Return seconds as a timeval of 64-bit Linux; b"" on other systems."""
    if not sys.platform.startswith("linux") or struct.calcsize("l") < 8:
        return b""
    whole_seconds = int(seconds)
    return struct.pack("ll", whole_seconds, round((seconds - whole_seconds) * 1e6))


def send_urgent(link: socket.socket, byte: bytes) -> bool:
    """Send the urgent byte, outside of TLS (SQLI section 2). Returns False if it cannot be sent now."""
    try:
        # The plain socket's method: that of an SSLSocket would encrypt the byte.
        return bool(socket.socket.send(link, byte, socket.MSG_OOB | NOT_WAITING))
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True  # the connection is gone: the wait for the reply will raise


#: The event that the peer will send no more although received bytes wait; available on Linux and some others.
_PEER_CLOSED = getattr(select, "POLLRDHUP", 0)


def has_unsolicited_data(link: socket.socket, *, expecting: bool) -> bool:
    """Return whether the peer has closed the connection or unexpected bytes have arrived. Does not wait.

    If ``expecting`` bytes, only the former is checked, and only if the system can distinguish it.
    """
    if link.fileno() < 0:
        return True
    if not hasattr(select, "poll"):  # Windows
        return not expecting and bool(select.select([link], [], [], 0)[0])
    poll = select.poll()
    poll.register(
        link, _PEER_CLOSED | (0 if expecting else select.POLLIN)
    )  # POLLERR and POLLHUP are always reported
    return bool(poll.poll(0))


def resolve(host: str, port: int, seconds: float) -> list[Address]:
    """Return the addresses of a host. Raises ``ConnectionLost`` if it has none or if that takes too long.

    The system's resolver has no time limit and ignores Ctrl-C, so it runs in a thread of its own, which ends
    when the resolver gives up.
    """
    if _is_ipv4(host):
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, (host, port))]
    addresses: list[Address] = []
    failure: list[OSError] = []

    def look_up() -> None:
        try:
            for family, kind, protocol, _, address in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM):
                addresses.append((family, kind, protocol, address))
        except OSError as error:
            failure.append(error)
        except UnicodeError:
            failure.append(OSError("the host name is malformed"))

    if is_address(host):
        look_up()
    else:
        thread = threading.Thread(target=look_up, name=f"informix-arrow lookup of {host}", daemon=True)
        thread.start()
        ends = time.monotonic() + seconds
        while thread.is_alive():
            left = ends - time.monotonic()
            if left <= 0:
                raise ConnectionLost(f"The host name {host!r} was not resolved within {seconds:.3g} s.")
            thread.join(min(left, 0.5))  # in pieces, for Ctrl-C
    if failure:
        raise ConnectionLost(
            f"Cannot connect to {host}:{port} ({failure[0].strerror or failure[0]})."
        ) from failure[0]
    return addresses


def _is_ipv4(host: str) -> bool:
    """Return whether ``host`` is an IPv4 address, which needs no lookup."""
    try:
        socket.inet_pton(socket.AF_INET, host)
    except (OSError, ValueError):  # ValueError: not ASCII
        return False
    return True


def is_address(host: str) -> bool:
    """Return whether ``host`` is an IP address."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


_READABLE, _WRITABLE = getattr(select, "POLLIN", 0), getattr(select, "POLLOUT", 0)


class Readiness:
    """Waits until a socket can be read or written."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._events = 0
        self._poll = select.poll() if hasattr(select, "poll") else None

    def wait(self, reading: bool, writing: bool, seconds: float) -> bool:
        """Wait for at most ``seconds``. Returns whether the socket is ready.

        Errors of the socket count as readiness: using it will raise them.
        """
        if self._poll is None:  # Windows
            link = [self._link]
            return any(select.select(link if reading else [], link if writing else [], link, seconds))
        events = (_READABLE if reading else 0) | (_WRITABLE if writing else 0)
        if events != self._events:
            self._poll.register(self._link, events)
            self._events = events
        return bool(self._poll.poll(math.ceil(seconds * 1000)))
