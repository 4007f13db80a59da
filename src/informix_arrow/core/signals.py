"""A signal that one caller waits for and another gives: the same for threads and for tasks."""

from __future__ import annotations

import asyncio
import threading


class Signal:
    """For threads."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Give it; from any thread."""
        self._event.set()

    def wait(self, seconds: float | None) -> None:
        """Wait until it is given or the time is over (None = for ever); the caller finds out which."""
        self._event.wait(seconds)


class AsyncSignal:
    """For the tasks of the running event loop."""

    def __init__(self) -> None:
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def set(self) -> None:
        """Give it; from within the event loop."""
        if not self._ready.done():
            self._ready.set_result(None)

    async def wait(self, seconds: float | None) -> None:
        """Wait until it is given or the time is over (None = for ever); the caller finds out which.

        No wait_for(): before Python 3.12 it may swallow a cancellation.
        """
        timer = None
        if seconds is not None:
            timer = self._ready.get_loop().call_later(seconds, self.set)
        try:
            await self._ready
        finally:
            if timer is not None:
                timer.cancel()
