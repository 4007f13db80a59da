"""Ctrl-C and what was committed: one does not come in between the other and its count."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from informix_arrow.cli.interrupts import Interrupts


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_for_the_end_of_the_block() -> None:
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:  # noqa: PT012
        interrupts.wait()
        os.kill(os.getpid(), signal.SIGINT)
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is before
    with Interrupts() as interrupts:
        interrupts.wait()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("ctrl_c")
def test_before_that_it_strikes_at_once() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        interrupts.wait()
        done.append(1)
    assert done == []


@pytest.mark.usefixtures("ctrl_c")
def test_an_error_of_the_block_goes_before_it() -> None:
    with pytest.raises(ZeroDivisionError), Interrupts() as interrupts:  # noqa: PT012
        interrupts.wait()
        os.kill(os.getpid(), signal.SIGINT)
        raise ZeroDivisionError


def test_threads_that_get_no_signals_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with Interrupts() as interrupts:
            interrupts.wait()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
