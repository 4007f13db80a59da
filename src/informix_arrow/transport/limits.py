"""The time limits of one run of an operation, the same for each transport."""

from __future__ import annotations

import math
import time

from ..operations.io_steps import Call, CancelReason, ConnectionLost

#: Seconds to wait for an interrupted call; then the connection is closed.
GRACE = 5.0
#: The byte that asks the server to end the running statement (SQLI section 2).
URGENT = b"B"


class TimeLimits:
    """The maximum length of the waits of one run. All times are seconds.

    Parameters
    ----------
    call
        The running call, if it may be interrupted; None for login and logout, which may not.
    read_timeout
        Silence allowed for a step without its own ``idle_timeout``; None = no limit.
    total_timeout
        For a run without ``call``: its maximum time in total (``login_timeout``).
    """

    __slots__ = ("_call", "_deadline", "_grace_ends", "_read_timeout", "_total")

    def __init__(
        self, call: Call | None, read_timeout: float | None, total_timeout: float | None = None
    ) -> None:
        self._call = call
        self._read_timeout = read_timeout
        self._total = total_timeout
        allowed = total_timeout if call is None else call.timeout
        self._deadline = self._grace_ends = math.inf
        if allowed is not None:
            self._deadline = (time.monotonic() if call is None else call.started_at) + allowed

    def exclude(self, seconds: float) -> None:
        """Exclude the time that a person has used to answer a question of a login (PAM)."""
        if self._call is None:
            self._deadline += seconds

    def remaining(self, began: float, idle_timeout: float | None) -> float:
        """Return how long a wait that began at ``began`` may continue before this is called again; may be
        ``inf``.

        Marks the call as one that is to end after its timeout. Raises ``ConnectionLost`` if waiting is useless:
        the peer was silent for too long, or does not react to an interrupt.
        """
        now = time.monotonic()
        limit = self._read_timeout if idle_timeout is None else idle_timeout
        ends = math.inf
        if limit is not None:
            ends = began + limit
            if now >= ends:
                setting = " (read_timeout)" if idle_timeout is None else ""
                raise ConnectionLost(f"The server was silent for {limit:g} s{setting}.")
        call = self._call
        if call is None:
            if now >= self._deadline:
                raise ConnectionLost(f"The login took longer than {self._total:g} s (login_timeout).")
            return min(ends, self._deadline) - now
        if call.cancel_reason is None:
            if now < self._deadline:
                return min(ends, self._deadline) - now
            call.cancel_reason = CancelReason.TIMEOUT
        if self._grace_ends == math.inf:
            self._grace_ends = now + GRACE
        if now >= self._grace_ends:
            call.grace_expired = True
            raise ConnectionLost(
                f"The server did not react to an interrupt within {GRACE:g} s. The connection is closed."
            )
        return min(ends, self._grace_ends) - now
