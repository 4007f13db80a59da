"""A signal that one caller waits for and another sets, for threads and for tasks."""

from __future__ import annotations

import asyncio
import math
import threading
import time

from ..transport.blocking import WAKE_SECONDS


class Signal:
    """A signal between threads."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Set it; from any thread."""
        self._event.set()

    def wait(self, seconds: float | None) -> None:
        """Wait until it is set or ``seconds`` have passed (None = for ever); the caller checks which."""
        ends = math.inf if seconds is None else time.monotonic() + seconds
        # In steps, because a library such as Polars may have installed a signal handler, so that Ctrl-C ends no wait.
        while not self._event.wait(min(WAKE_SECONDS, max(ends - time.monotonic(), 0))):
            if time.monotonic() >= ends:
                return


class AsyncSignal:
    """A signal between the tasks of the running event loop."""

    def __init__(self) -> None:
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def set(self) -> None:
        """Set it; from within the event loop."""
        if not self._ready.done():
            self._ready.set_result(None)

    async def wait(self, seconds: float | None) -> None:
        """Wait until it is set or ``seconds`` have passed (None = for ever); the caller checks which.

        Not by wait_for(), which before Python 3.12 may swallow a cancellation.
        """
        timer = None
        if seconds is not None:
            timer = self._ready.get_loop().call_later(seconds, self.set)
        try:
            await self._ready
        finally:
            if timer is not None:
                timer.cancel()
