"""The time limits of one run of an exchange, the same for every transport."""

from __future__ import annotations

import math
import time

from ..operations.io_steps import Call, CancelReason, ConnectionLost

#: Seconds that an interrupted call is waited for; then the connection is closed.
GRACE = 5.0
#: The byte that asks the server to end the running statement (SQLI section 2).
URGENT = b"B"


class TimeLimits:
    """How long the waits of one run may last. All times are seconds.

    Parameters
    ----------
    call
        What runs, when it may be interrupted; None for logins and goodbyes, which may not.
    read_timeout
        Silence that is borne where a step has no patience of its own; None = any.
    whole
        For a run without ``call``: how long it may take in all (``login_timeout``).
    """

    __slots__ = ("_call", "_deadline", "_grace_ends", "_read_timeout", "_total")

    def __init__(self, call: Call | None, read_timeout: float | None, whole: float | None = None) -> None:
        self._call = call
        self._read_timeout = read_timeout
        self._total = whole
        allowed = whole if call is None else call.timeout
        self._deadline = self._grace_ends = math.inf
        if allowed is not None:
            self._deadline = (time.monotonic() if call is None else call.started_at) + allowed

    def exclude(self, seconds: float) -> None:
        """A person has used the time, who was asked a question in a login (PAM)."""
        if self._call is None:
            self._deadline += seconds

    def remaining(self, began: float, patience: float | None) -> float:
        """For how much longer a wait that began at ``began`` may go on before this is asked again; may be ``inf``.

        Marks the call as one that is to end when its time is over. ``ConnectionLost`` when waiting is of no use:
        the peer was silent for too long, or does not react to an interrupt.
        """
        now = time.monotonic()
        limit = self._read_timeout if patience is None else patience
        ends = math.inf
        if limit is not None:
            ends = began + limit
            if now >= ends:
                setting = " (read_timeout)" if patience is None else ""
                raise ConnectionLost(f"the server was silent for {limit:g} s{setting}")
        call = self._call
        if call is None:
            if now >= self._deadline:
                raise ConnectionLost(f"the login took longer than {self._total:g} s (login_timeout)")
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
                f"the server did not react to an interrupt within {GRACE:g} s; the connection is closed"
            )
        return min(ends, self._grace_ends) - now
