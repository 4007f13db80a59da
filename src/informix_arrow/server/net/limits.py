"""How much one server lets its clients take."""

from __future__ import annotations

import threading
from dataclasses import dataclass

MAX_MESSAGE = 64 << 20
"""Bytes of one message; a longer one ends the session. Groups may be longer: they are served message by
message."""

LOGIN_MESSAGE = 64 << 10
"""Bytes of one message of a client that has not answered its PAM questions; no answer is longer."""

TOO_MANY_SESSIONS = -25571
"""What a login over the limit is answered; so does a real server whose LIMITNUMSESSIONS is reached."""

MAX_UNAUTHENTICATED = 100
"""Connections that may be open beyond the sessions: those that have not logged in yet."""


@dataclass(frozen=True)
class ServerLimits:
    """Limits of a server.

    `sessions`: logged-in clients at a time. `login_seconds`: from connecting to the end of the login, TLS and PAM
    included. `idle_seconds`: how long a session may do nothing, or leave a reply unread; None for ever.
    """

    sessions: int
    login_seconds: float
    idle_seconds: float | None

    def __post_init__(self) -> None:
        if self.sessions < 1:
            raise ValueError(f"max_sessions={self.sessions}: it must be at least 1")
        if self.login_seconds <= 0:
            raise ValueError(f"login_timeout={self.login_seconds}: it must be above 0 seconds")
        if self.idle_seconds is not None and self.idle_seconds <= 0:
            raise ValueError(
                f"idle_timeout={self.idle_seconds}: it must be above 0 seconds, or None for no limit"
            )


class SessionSlots:
    """The places for logged-in sessions. Thread-safe."""

    def __init__(self, limits: ServerLimits) -> None:
        self._lock = threading.Lock()
        self._free = limits.sessions

    def acquire(self) -> bool:
        """Take a place; False when there is none."""
        with self._lock:
            if not self._free:
                return False
            self._free -= 1
            return True

    def release(self) -> None:
        """One that was taken."""
        with self._lock:
            self._free += 1
