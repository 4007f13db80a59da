"""The queue of a parallel read: no batch is lost or duplicated, memory stays within the limit, no reader waits for
ever."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from informix_arrow import InterfaceError
from informix_arrow.core.ordered_merge import MemoryBudget, OrderedMergeQueue
from informix_arrow.core.worker_group import WorkStopped

ROOM = 100


@dataclass(frozen=True)
class Part:
    number: int


class Mark:
    """A signal that records whether it was set."""

    given = False

    def set(self) -> None:
        self.given = True


def batch(part: int, place: int, size: int) -> pa.RecordBatch:
    """Return a batch of ``size`` bytes whose column name identifies it."""
    return pa.record_batch({f"{part}.{place}": pa.array([0] * size, pa.int8())})


def label(found: pa.RecordBatch) -> tuple[int, int]:
    part, place = found.schema.names[0].split(".")
    return int(part), int(place)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 2 * ROOM), max_size=5), min_size=1, max_size=6),
    st.integers(1, 4),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_every_batch_is_handed_out_once_and_in_order(
    sizes: list[list[int]], readers: int, ordered: bool, random: object
) -> None:
    """Readers take turns in random order. A reader without room waits until its signal is set."""
    core = OrderedMergeQueue([Part(number) for number in range(len(sizes))], readers, ROOM, ordered=ordered)
    reading: list[tuple[int, int] | None] = [None] * readers  # for each reader: the part, and its next batch
    waits: dict[int, Mark] = {}
    through: set[int] = set()
    waiting = 0
    found: list[tuple[int, int]] = []
    signal: Mark | None = None
    for _ in range(10_000):
        if core.is_finished:
            break
        able = [n for n in range(readers) if n not in through and not (n in waits and not waits[n].given)]
        consumer = signal is None or signal.given
        assert able or consumer, "everybody waits"
        who = random.choice([*able, *([-1] * consumer)])  # type: ignore[attr-defined]
        if who < 0:
            signal = Mark()
            taken = core.next_batch(signal)
            if taken is not None:
                waiting -= taken.nbytes
                found.append(label(taken))
                signal = None
            continue
        waits.pop(who, None)
        at = reading[who]
        if at is None:
            part = core.claim()
            if part is None:
                through.add(who)
                assert core.reader_exiting() == (len(through) == len(reading))
                core.worker_group.worker_exited()
                continue
            reading[who] = at = (part, 0)
        part, place = at
        if place == len(sizes[part]):
            core.mark_read(part)
            reading[who] = None
            continue
        piece = batch(part, place, sizes[part][place])
        mark = Mark()
        if core.put(part, piece, mark):
            waiting += piece.nbytes
            assert waiting <= ROOM + 2 * ROOM * (2 if ordered else 1)  # an awaited batch may be larger
            reading[who] = (part, place + 1)
        else:
            waits[who] = mark
    everything = [(part, place) for part, each in enumerate(sizes) for place in range(len(each))]
    assert sorted(found) == everything
    if ordered:
        assert found == everything
    for part in range(len(sizes)):
        assert [place for number, place in found if number == part] == list(range(len(sizes[part])))


def test_the_first_failure_counts_and_stops_everybody() -> None:
    core = OrderedMergeQueue([Part(0), Part(1), Part(2)], 2, ROOM, ordered=False)
    assert core.claim() == 0
    first, second = ValueError("first"), ValueError("second")
    core.worker_group.fail(first)
    core.worker_group.fail(second)
    assert core.worker_group.failure is first
    assert core.is_finished
    for action in (core.claim, lambda: core.put(0, batch(0, 0, 1), Mark())):
        with pytest.raises(WorkStopped):
            action()


def test_who_waits_for_the_others_does_not_wait_for_those_that_connect() -> None:
    core = OrderedMergeQueue([Part(0), Part(1)], 2, ROOM, ordered=False)
    core.worker_group.change_connecting(1)
    mark = Mark()
    assert core.worker_group.has_active_workers(mark)
    core.stop()
    assert mark.given
    assert core.reader_exiting()
    assert core.worker_group.has_active_workers(), "it has something to put away yet"
    core.worker_group.worker_exited()
    assert not core.worker_group.has_active_workers()
    with pytest.raises(WorkStopped):
        core.worker_group.change_connecting(-1)
    assert not core.reader_exiting(), "once"
    core.worker_group.worker_exited()


def test_who_connects_may_be_the_last_one_that_reads() -> None:
    core = OrderedMergeQueue([Part(0), Part(1)], 2, ROOM, ordered=False)
    core.worker_group.change_connecting(1)
    core.claim()
    core.mark_read(0)
    assert not core.reader_exiting(), "a part is left, for the one that connects"
    core.worker_group.worker_exited()
    core.worker_group.change_connecting(-1)
    core.claim()
    core.mark_read(1)
    assert core.reader_exiting()
    core.worker_group.worker_exited()


def test_a_budget_is_divided_among_connections() -> None:
    usual = MemoryBudget.divide(256 << 20, 4, 16 << 20, 1 << 20)
    assert (usual.batch_bytes, usual.fetch_bytes) == (8 << 20, 1 << 20)
    small = MemoryBudget.divide(4 << 20, 4, 16 << 20, 1 << 20)
    assert small.fetch_bytes == 128 << 10
    for shares, budget in ((usual, 256 << 20), (small, 4 << 20)):
        assert shares.queue_bytes >= 0
        used = shares.connections * (shares.batch_bytes + 2 * shares.fetch_bytes) + shares.queue_bytes
        assert used == budget


@pytest.mark.parametrize("budget", [0, (4 << 20) - 1, 1e9, True, None])
def test_a_budget_that_is_too_small_or_none_is_refused(budget: object) -> None:
    with pytest.raises(
        InterfaceError, match="memory_budget must be at least 4194304 bytes for 4 connections"
    ):
        MemoryBudget.divide(budget, 4, 16 << 20, 1 << 20)
