"""Limits on what clients may use."""

from __future__ import annotations

import threading
from dataclasses import dataclass

MAX_MESSAGE = 64 << 20
"""Largest size of a message in bytes; a longer one ends the session. Groups may be longer, as their messages are served
one by one.
"""

LOGIN_MESSAGE = 64 << 10
"""Largest size of a message, in bytes, before a client has answered its PAM questions. No reply to one is longer."""

TOO_MANY_SESSIONS = -25571
"""SQLCODE for a login over the limit. A real server uses it when LIMITNUMSESSIONS is reached."""

MAX_UNAUTHENTICATED = 100
"""Connections that may be open in addition to the sessions: those that have not logged in yet."""


@dataclass(frozen=True)
class ServerLimits:
    """Limits of a server.

    `sessions`: number of logged-in clients. `login_seconds`: time from connecting to the first request after the login,
    with TLS, capabilities and PAM. `idle_seconds`: time for which a session may do nothing, or leave a reply unread;
    None for no limit.
    """

    sessions: int
    login_seconds: float
    idle_seconds: float | None

    def __post_init__(self) -> None:
        if self.sessions < 1:
            raise ValueError(f"max_sessions={self.sessions}: It must be at least 1.")
        if self.login_seconds <= 0:
            raise ValueError(f"login_timeout={self.login_seconds}: It must be greater than 0 seconds.")
        if self.idle_seconds is not None and self.idle_seconds <= 0:
            raise ValueError(
                f"idle_timeout={self.idle_seconds}: It must be greater than 0 seconds, or None for no limit."
            )


class SessionSlots:
    """Counter of the free places for logged-in sessions. Thread-safe."""

    def __init__(self, limits: ServerLimits) -> None:
        self._lock = threading.Lock()
        self._free = limits.sessions

    def acquire(self) -> bool:
        """Take a place; return False if none is free."""
        with self._lock:
            if not self._free:
                return False
            self._free -= 1
            return True

    def release(self) -> None:
        """Return a place."""
        with self._lock:
            self._free += 1
