"""Runs asyncio code in tests, in debug mode and with all warnings of asyncio as errors."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Coroutine, Generator, Iterator
from types import FrameType
from typing import Any, TypeVar
from unittest import mock

from tests.stress import seconds

T = TypeVar("T")

#: Seconds of random tests.
SOAK = seconds(5.0)

_COMPLAINTS = ("never retrieved", "was destroyed", "unclosed", "Exception in callback", "Unhandled")


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if any(each in text for each in _COMPLAINTS):
            self.texts.append(text)


_walk_stack = traceback.walk_stack


def _innermost(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """Return only the innermost frame for ``traceback.extract_stack()``. Stacks of other threads, which pytest-timeout
    prints, are complete."""
    stack = _walk_stack(frame)
    return itertools.islice(stack, 1) if frame is sys._getframe(2) else stack


def run(main: Callable[[], Coroutine[Any, Any, T]], *, debug: bool = True) -> T:
    """Run ``main`` with ``asyncio.run`` and check its end: no warnings of unclosed resources, unawaited coroutines or
    ignored exceptions, no tasks left, and no use of the loop's thread pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # collect garbage of earlier tests first
    complaints = _Complaints()
    unraisable: list[str] = []
    hook = sys.unraisablehook

    async def whole() -> T:
        loop = asyncio.get_running_loop()
        found = await main()
        assert getattr(loop, "_default_executor", None) is None, "the loop's thread pool was used"
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"{len(left)} tasks are left, such as {next(iter(left))}"
        return found

    logger = logging.getLogger("asyncio")
    logger.addHandler(complaints)
    sys.unraisablehook = lambda info: unraisable.append(repr(info.exc_value))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            warnings.filterwarnings("error", message=".*never awaited")
            # Debug mode stores ten frames for each callback and all frames for each future: half of the CPU time.
            with (
                mock.patch.object(asyncio.constants, "DEBUG_STACK_DEPTH", 1),
                mock.patch.object(traceback, "walk_stack", _innermost),
            ):
                found = asyncio.run(whole(), debug=debug)
            gc.collect()
    finally:
        sys.unraisablehook = hook
        logger.removeHandler(complaints)
    assert complaints.texts == []
    assert unraisable == []
    return found


class CancelAt:
    """Awaits a coroutine and cancels the task when the coroutine suspends for the ``count``-th time, from 1."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], count: int) -> None:
        self.coroutine = coroutine
        self.count = count
        self.suspensions = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self.coroutine.__await__()
        throw: BaseException | None = None
        while True:
            try:
                waiting = next(steps) if throw is None else steps.throw(throw)
            except StopIteration as stop:
                return stop.value
            finally:
                throw = None  # break the reference cycle: the exception's frames hold this variable
            self.suspensions += 1
            if self.suspensions == self.count:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            try:
                yield waiting
            except BaseException as error:  # noqa: BLE001 - the coroutine's to deal with
                throw = error


def open_files() -> int:
    """Return the number of open file descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until another task has made ``condition()`` true."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 60
    while not condition():
        assert loop.time() < deadline
        await asyncio.sleep(0.001)
