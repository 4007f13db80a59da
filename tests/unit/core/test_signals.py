"""Waiting for another thread, interrupted by Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from informix_arrow.core.signals import Signal


@pytest.mark.skipif(os.name != "posix", reason="no kill()")
@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.parametrize("seconds", [None, 60])
def test_ctrl_c_ends_a_wait_in_spite_of_another_library_s_handler(seconds: float | None) -> None:
    ready = Signal()
    timers = [threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)), threading.Timer(30, ready.set)]
    for each in timers:
        each.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ready.wait(seconds)
    assert time.monotonic() - began < 20
    timers[1].cancel()


def test_a_wait_ends_when_it_is_set_and_after_its_time() -> None:
    ready = Signal()
    began = time.monotonic()
    ready.wait(0.7)
    assert time.monotonic() - began >= 0.7
    ready.wait(0)
    threading.Timer(0.1, ready.set).start()
    ready.wait(None)
