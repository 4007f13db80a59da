"""Ctrl-C and what was committed: one does not come in between the other and its count."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from informix_arrow.cli.interrupts import Interrupts

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


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


def test_ctrl_c_while_a_command_is_imported_ends_as_later(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes a second on a slow machine, and ended with a traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("informix_arrow.cli.import_module", interrupted)
    ran = cli("query", "informix://nowhere/d", "SELECT 1")
    assert (ran.code, ran.out, ran.err) == (130, "", "informix-arrow: interrupted\n")
