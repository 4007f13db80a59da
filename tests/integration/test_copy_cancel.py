"""Ctrl-C during a copy, for each target: writing stops, and the target has the old rows or the new ones.

A repeated copy then ends as if it had never been interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest
from tests.integration import copy_targets
from tests.stress import LONG

import informix_arrow as ifx
import informix_arrow.server
from informix_arrow import replicate
from informix_arrow.server import Server

pytestmark = pytest.mark.embedded  # interrupts calls of the client, and delays the server

SIDE = 1200
ALL_ROWS = SIDE * SIDE  # rows of the view: some 15 batches
OPTIONS: dict[str, dict[str, Any]] = {"full": {}, "append": {"run_id": "monday"}}


@pytest.fixture
def empty(server: Server) -> Iterator[ifx.Connection]:
    """A connection to a new database."""
    server.create_database("cancelled_source")
    with ifx.connect(server.url("cancelled_source"), autocommit=True) as connection:
        yield connection
    server.drop_database("cancelled_source")


@pytest.fixture
def source(empty: ifx.Connection) -> ifx.Connection:
    """A database with a view of many rows."""
    names = {"k": pa.array(range(SIDE), pa.int32()), "name": ["é" * (k % 5) for k in range(SIDE)]}
    empty.execute("CREATE TABLE side (k INT, name VARCHAR(9))")
    empty.write_arrow("side", pa.table(names))
    empty.execute("CREATE VIEW pairs (k, l, name, tail) AS SELECT a.k, b.k, b.name, 4711 FROM side a, side b")
    return empty


@pytest.fixture(params=copy_targets.KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path, server: Server) -> Iterator[str]:
    with copy_targets.made(request.param, tmp_path, server, "cancelled_target") as text:
        yield text


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def held(target: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in copy_targets.held(target, "pairs").to_pylist())


def expected(k: int, *numbers: int) -> list[tuple[Any, ...]]:
    return [(k, number, "é" * (number % 5), 4711) for number in numbers]


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.parametrize("mode", OPTIONS)
def test_a_copy_can_be_cancelled_while_its_target_writes(
    source: ifx.Connection, target: str, mode: str
) -> None:
    ifx.copy(source, target, ["pairs"], where="k = 0 AND l < 3")
    before = expected(0, 0, 1, 2)
    assert held(target) == before
    batches: list[int] = []

    def progress(rows: int, size: int) -> None:
        batches.append(rows)
        if len(batches) == 2:
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        ifx.copy(source, target, ["pairs"], mode=mode, progress=progress, **OPTIONS[mode])
    assert sum(batches) < ALL_ROWS  # it stopped before the end
    assert held(target) == before
    copies = ifx.copy(source, target, ["pairs"], mode=mode, where="k = 1 AND l < 2", **OPTIONS[mode])
    assert [(each.rows, each.already_copied) for each in copies] == [(2, False)]
    assert held(target) == [*(before if mode != "full" else []), *expected(1, 0, 1)]


WRITES = ("replace", "append", "merge")  # methods with which targets begin to write
REPLICATE = str(Path(replicate.__file__).parent)
SERVER = str(Path(informix_arrow.server.__file__).parent)
#: Number of calls at which a copy is interrupted, from the first to the last. More if all targets are tested.
STEPS = 6 if os.environ.get("INFORMIX_ARROW_COPY_TARGETS") else 3
MOVED: dict[str, dict[str, Any]] = {
    "full": {},
    "append": {"where": "id > 2"},
    "merge": {"where": "id > 2", "key": "id"},
}


class Interrupter:
    """Interrupts this process at one call of a function of the package `replicate`, made by a thread that copies.

    Calls count from the target's first write. ``at=0`` is the first call of all, while the caller still starts threads;
    ``None`` only counts.
    """

    def __init__(self, at: int | None) -> None:
        self.at, self.calls, self.sent = at, 0, False
        self._lock = threading.Lock()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(SERVER):
            sys.setprofile(None)  # not in threads of the server, whose calls are not part of the copy
            return
        if event != "call" or not code.co_filename.startswith(REPLICATE):
            return
        with self._lock:
            if self.calls or code.co_name in WRITES:
                self.calls += 1
            hit = self.calls == self.at and not self.sent
            self.sent = self.sent or hit
        if hit:
            interrupt()
            time.sleep(0.1)  # until the caller has passed it to the target


@pytest.fixture
def moved(empty: ifx.Connection) -> ifx.Connection:
    empty.execute("CREATE TABLE moved (id INT PRIMARY KEY, name VARCHAR(9), tail INT)")
    with empty.cursor() as cursor:
        cursor.executemany("INSERT INTO moved VALUES (?, ?, 1)", [(id, "é" * (id % 4)) for id in range(9)])
    return empty


def rows_of(target: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in copy_targets.held(target, "moved").to_pylist())


def old_and_new(moved: ifx.Connection, target: str, mode: str) -> tuple[list[Any], list[Any]]:
    """Copy six rows, then change all rows in the source. Return the target's rows now, and after a copy with
    ``mode``."""

    def rows(tail: int, *ids: int) -> list[Any]:
        return [(id, "é" * (id % 4), tail) for id in ids]

    moved.execute("UPDATE moved SET tail = 1 WHERE id >= 0")
    ifx.copy(moved, target, ["moved"], where="id < 6")
    moved.execute("UPDATE moved SET tail = 2 WHERE id >= 0")
    old = rows(1, *range(6))
    assert rows_of(target) == old
    new = {
        "full": rows(2, *range(9)),
        "append": rows(1, *range(6)) + rows(2, *range(3, 9)),
        "merge": rows(1, *range(3)) + rows(2, *range(3, 9)),
    }
    return old, sorted(new[mode])


def copy_moved(moved: ifx.Connection, target: str, mode: str, run: str) -> None:
    run_id = {"run_id": run} if mode == "append" else {}
    ifx.copy(moved, target, ["moved"], mode=mode, **MOVED[mode], **run_id)


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.skipif(sys.gettrace() is not None, reason="counts calls")
@pytest.mark.parametrize("mode", MOVED)
def test_a_copy_that_is_cancelled_at_some_step_leaves_the_old_rows_or_the_new(
    moved: ifx.Connection, target: str, mode: str
) -> None:
    found = []
    steps: list[int | None] = [None]
    while steps:
        at = steps.pop(0)
        run = f"run {at}"
        old, new = old_and_new(moved, target, mode)
        interrupter = Interrupter(at)
        threading.setprofile(interrupter)
        try:
            copy_moved(moved, target, mode, run)
            cancelled = False
        except KeyboardInterrupt:
            cancelled = True
        finally:
            threading.setprofile(None)
        assert cancelled == interrupter.sent, at
        if at is None:
            last = interrupter.calls - 1
            steps = [1 + number * last // (STEPS - 1) for number in range(STEPS)]
            if mode == "full":  # calls before the first write are the same in each mode
                steps.insert(0, 0)
            assert rows_of(target) == new
            continue
        if cancelled:
            found.append(rows_of(target))
            assert found[-1] in (old, new), at
            assert at != 1 or found[-1] == old  # before any row is written
        copy_moved(moved, target, mode, run)
        assert rows_of(target) == new, at
    assert len(found) >= STEPS - (mode != "full")  # the number of calls may differ by some


#: Each target and each mode at least once; all pairs in a long soak. Only the caller is interrupted again, and it is
#: the same for all targets.
AGAIN_AND_AGAIN = [
    (kind, mode)
    for number, kind in enumerate(copy_targets.KINDS)
    for place, mode in enumerate(MOVED)
    if LONG or number % len(MOVED) == place
]


class ImpatientInterrupter(Interrupter):
    """Interrupts the copy three times. The copying thread continues after the second one, which ends the wait for
    it."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.copying, self.raised = False, 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        before = self.sent
        super().__call__(frame, event, argument)
        ends = time.monotonic() + 10
        while self.sent > before and self.raised < 2 and time.monotonic() < ends:
            time.sleep(0.005)

    def handle(self, *_: object) -> None:
        if self.copying:
            self.raised += 1
            raise KeyboardInterrupt

    def again(self) -> None:
        ends = time.monotonic() + 60
        while not self.sent and self.copying and time.monotonic() < ends:
            time.sleep(0.005)
        for _ in range(2):
            time.sleep(0.03)
            interrupt()


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.skipif(sys.gettrace() is not None, reason="counts calls")
@pytest.mark.parametrize("at", [1, 25] if LONG else [25])
@pytest.mark.parametrize(("target", "mode"), AGAIN_AND_AGAIN, indirect=["target"])
def test_a_copy_that_is_cancelled_again_and_again_leaves_the_old_rows_or_the_new(
    moved: ifx.Connection, target: str, mode: str, at: int, server: Server
) -> None:
    old, new = old_and_new(moved, target, mode)
    sessions = server.sessions
    interrupter = ImpatientInterrupter(at)
    before = signal.signal(signal.SIGINT, interrupter.handle)
    signal.siginterrupt(signal.SIGINT, False)
    interrupter.copying = True
    thread = threading.Thread(target=interrupter.again)
    thread.start()
    threading.setprofile(interrupter)
    try:
        copy_moved(moved, target, mode, "monday")
    except KeyboardInterrupt:
        pass
    finally:
        interrupter.copying = False
        threading.setprofile(None)
        thread.join()
        signal.signal(signal.SIGINT, before)
    for each in threading.enumerate():
        if each.name.startswith("copy_"):
            each.join(30)
            assert not each.is_alive()
    assert interrupter.raised >= 2
    assert rows_of(target) in (old, new)
    copy_moved(moved, target, mode, "monday")
    assert rows_of(target) == new
    ends = time.monotonic() + 30
    while server.sessions > sessions and time.monotonic() < ends:
        time.sleep(0.05)
    assert server.sessions <= sessions


STATEMENTS = {
    "full": r"^SELECT COUNT\(\*\) FROM moved",
    "append": r"^INSERT INTO moved \(",
    "merge": r"^DELETE FROM moved",
}


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.parametrize(
    ("mode", "ended_by"),
    [("full", "time limit"), ("append", "cancel"), ("merge", "cancel"), ("merge", "time limit")],
)
def test_a_copy_into_informix_is_ended_while_a_statement_of_its_merge_runs(
    moved: ifx.Connection, server: Server, tmp_path: Path, mode: str, ended_by: str
) -> None:
    with copy_targets.made("informix", tmp_path, server, "cancelled_target") as target:
        old, new = old_and_new(moved, target, mode)
        limited = target + ("&" if "?" in target else "?") + "read_timeout=2"
        server.faults.delay_next(1000, matching=STATEMENTS[mode])
        with ExitStack() as stack:
            stack.callback(server.faults.clear)
            if ended_by == "cancel":
                stack.enter_context(interrupted_when(lambda: not server.faults.armed))
                with pytest.raises(KeyboardInterrupt):
                    copy_moved(moved, target, mode, "monday")
            else:
                with pytest.raises(ifx.CopyFailed, match="read_timeout"):
                    copy_moved(moved, limited, mode, "monday")
            assert not server.faults.armed
        assert rows_of(target) == old
        copy_moved(moved, target, mode, "monday")
        assert rows_of(target) == new


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.skipif("postgresql" not in copy_targets.KINDS, reason="needs PostgreSQL and its driver")
@pytest.mark.parametrize("mode", MOVED)
def test_a_copy_into_postgresql_is_ended_while_a_statement_waits(
    moved: ifx.Connection, server: Server, tmp_path: Path, mode: str
) -> None:
    with copy_targets.made("postgresql", tmp_path, server, f"cancelled_{mode}") as target:
        old, new = old_and_new(moved, target, mode)
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"

        def waits() -> bool:
            with copy_targets.postgres_cursor(waiting, target) as cursor:
                return cursor.fetchone() is not None

        with copy_targets.postgres_cursor("BEGIN", target) as cursor:
            cursor.execute("LOCK TABLE moved IN SHARE MODE")
            with interrupted_when(waits), pytest.raises(KeyboardInterrupt):
                copy_moved(moved, target, mode, "monday")
            cursor.execute("ROLLBACK")
        assert rows_of(target) == old
        copy_moved(moved, target, mode, "monday")
        assert rows_of(target) == new


@contextmanager
def interrupted_when(holds: Callable[[], bool]) -> Iterator[None]:
    """Interrupt this process within the block as soon as ``holds()`` is true, or after a minute."""

    def wait() -> None:
        ends = time.monotonic() + 60
        while not holds() and time.monotonic() < ends:
            time.sleep(0.05)
        interrupt()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()
