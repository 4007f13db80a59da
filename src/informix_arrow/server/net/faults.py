"""Fault injection, to test how a program handles errors.

    server.faults.fail_next(-268, isam=-100, matching="INSERT INTO orders")
    server.faults.delay_next(2.5, matching="SELECT")
    server.faults.drop_next(matching="COMMIT", after=True)
    server.faults.drop_after(100_000)

The first matching statement of any session takes a fault, which is then removed. A statement is one that a client
executes, not one that it prepares. BEGIN WORK, COMMIT WORK and ROLLBACK WORK, which drivers send by themselves, only
match if `matching` names them. Drivers may send other statements of their own, so use `matching` for yours.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass

_TRANSACTION_CONTROL = re.compile(r"\s*(?:begin|commit|rollback)\b", re.IGNORECASE)
_WORST_SQLCODE = -(1 << 31)


@dataclass(slots=True)
class Fault:
    """A fault of a statement: a delay of `seconds`, then the error (`sqlcode`, `isam`) or the end of the connection.

    It happens before the statement runs or, with `after`, between its execution and its reply.
    """

    seconds: float = 0.0
    sqlcode: int = 0
    isam: int = 0
    drops_connection: bool = False
    after: bool = False
    matching: re.Pattern[str] | None = None
    times: int = 1

    def matches(self, sql: str) -> bool:
        if self.matching is None:
            return _TRANSACTION_CONTROL.match(sql) is None
        return self.matching.search(sql) is not None


class Faults:
    """The faults that one server is to inject. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending_faults: list[Fault] = []
        self._drop_sizes: list[int] = []
        self.armed = False
        """True if any fault of a statement is pending."""

    def fail_next(
        self, sqlcode: int, isam: int = 0, *, matching: str | re.Pattern[str] | None = None, times: int = 1
    ) -> None:
        """Make the next statements fail with an error. They are not run.

        `sqlcode` and `isam` are those of SQ_ERR (negative; `isam` 0 for none). `matching` is a regular expression that
        is searched in the statement's text, ignoring case. `times` is the number of statements that fail.
        """
        if not _WORST_SQLCODE <= sqlcode < 0:
            raise ValueError(f"sqlcode={sqlcode}: It must be negative, as Informix's error codes are.")
        if not -(1 << 15) <= isam <= 0:
            raise ValueError(f"isam={isam}: It must be -32768 to 0.")
        self._add(Fault(sqlcode=sqlcode, isam=isam), matching, times)

    def delay_next(
        self, seconds: float, *, matching: str | re.Pattern[str] | None = None, times: int = 1
    ) -> None:
        """Delay the next statements before they run. The delay can be cancelled like any statement (-213)."""
        if seconds <= 0:
            raise ValueError(f"seconds={seconds}: It must be greater than 0.")
        self._add(Fault(seconds=seconds), matching, times)

    def drop_next(
        self, *, matching: str | re.Pattern[str] | None = None, times: int = 1, after: bool = False
    ) -> None:
        """Close the connection instead of replying to the next statement.

        The statement is not run. With `after=True` it is run first, but its client does not learn that.
        """
        self._add(Fault(drops_connection=True, after=after), matching, times)

    def drop_after(self, size: int) -> None:
        """Close the next connection that gets a reply, after the server has sent `size` bytes of replies on it."""
        if size < 0:
            raise ValueError(f"drop_after({size}): The number of bytes must be at least 0.")
        with self._lock:
            self._drop_sizes.append(size)

    def clear(self) -> None:
        """Remove the pending faults. A connection that has begun to count its bytes is still closed."""
        with self._lock:
            self._pending_faults.clear()
            self._drop_sizes.clear()
            self.armed = False

    @property
    def pending(self) -> int:
        """Number of pending faults of statements and connections."""
        with self._lock:
            return sum(fault.times for fault in self._pending_faults) + len(self._drop_sizes)

    def _add(self, fault: Fault, matching: str | re.Pattern[str] | None, times: int) -> None:
        if times < 1:
            raise ValueError(f"times={times}: It must be at least 1.")
        fault.times = times
        fault.matching = re.compile(matching, re.IGNORECASE) if isinstance(matching, str) else matching
        with self._lock:
            self._pending_faults.append(fault)
            self.armed = True

    # ---- for the sessions ----------------------------------------------------------------------------------

    def has_matching(self, sql: str) -> bool:
        """Return whether a pending fault matches the statement: its executions must then run one by one."""
        if not self.armed:
            return False
        with self._lock:
            return any(fault.matches(sql) for fault in self._pending_faults)

    def pop_matching(self, sql: str) -> Fault | None:
        """Return the oldest pending fault that matches the statement being executed, and count it as used."""
        if not self.armed:
            return None
        with self._lock:
            for fault in self._pending_faults:
                if fault.matches(sql):
                    fault.times -= 1
                    if not fault.times:
                        self._pending_faults.remove(fault)
                        self.armed = bool(self._pending_faults)
                    return fault
        return None

    def pop_drop_size(self) -> int | None:
        """Return the number of bytes after which the calling connection must be closed, None if it need not be."""
        if not self._drop_sizes:
            return None
        with self._lock:
            return self._drop_sizes.pop(0) if self._drop_sizes else None


class ConnectionDropper:
    """The `SendLimiter` of one connection for `drop_after`."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._bytes_remaining: int | None = None

    def allowed(self, size: int) -> int:
        """Return how many of `size` bytes may be sent now; 0 to close the connection."""
        if self._bytes_remaining is None:
            self._bytes_remaining = self._faults.pop_drop_size()
        return size if self._bytes_remaining is None else min(size, self._bytes_remaining)

    def sent(self, size: int) -> None:
        """Count sent bytes."""
        if self._bytes_remaining is not None:
            self._bytes_remaining -= size
