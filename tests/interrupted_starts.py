"""Simulates Ctrl-C while a thread is started: the caller cannot know whether the thread runs."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from informix_arrow.core import chunk_queue, ordered_merge
from informix_arrow.core.worker_group import WorkerGroup

#: When the thread whose start is interrupted begins to run.
BEGINS = ("never", "before", "later")


class InterruptedStart:
    """Interrupts the start of one worker thread of a partitioned read or load.

    Parameters
    ----------
    number
        Which worker, from 0.
    begins
        One of BEGINS.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, begins: str) -> None:
        self.number, self.begins = number, begins
        self.start = threading.Thread.start
        self.threads: list[threading.Thread] = []
        self.groups: list[WorkerGroup] = []
        monkeypatch.setattr(threading.Thread, "start", lambda thread: self.started(thread))
        for module in (chunk_queue, ordered_merge):
            monkeypatch.setattr(module, "WorkerGroup", self.group)

    def group(self, workers: int) -> WorkerGroup:
        self.groups.append(WorkerGroup(workers))
        return self.groups[-1]

    def started(self, thread: threading.Thread) -> None:
        target: Any = thread
        if getattr(target._target, "__name__", "") not in ("_read", "_run_loader"):
            self.start(thread)
            return
        self.threads.append(thread)
        interrupted = len(self.threads) == self.number + 1
        if not interrupted or self.begins == "before":
            self.start(thread)
        if interrupted:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Check after the call that all workers end, that each is counted once, and that a thread that begins only now
        does nothing."""
        assert len(self.threads) == self.number + 1
        [group] = self.groups
        self.join()  # those that are connecting are not waited for
        assert group.workers == 0
        if self.begins == "later":
            self.start(self.threads[-1])
            self.join()
            assert group.workers == 0

    def join(self) -> None:
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(30)
                assert not thread.is_alive()
