"""How the rows of one load are dealt to several loaders: few wait, each goes to one, and its number stays known."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..bulk.feed import PIECE_ROWS
from ..bulk.source import ENOUGH, Dealt, Interrupted
from .crew import LOOK, AnySignal, Crew, Stopped
from .waiting import AsyncSignal, Signal

_SHARES = 4  # pieces for each loader, where the data is small enough to be divided so


@dataclass(frozen=True, slots=True)
class Deal:
    """Batches that stand one behind the other in the data, from row ``first`` on."""

    first: int
    batches: tuple[pa.RecordBatch, ...]


class Dealing:
    """The books of one load by several loaders.

    Whoever has the data offers deals, as many as there are loaders may wait, and each loader takes the next one when it
    has sent what it had.
    """

    def __init__(self, loaders: int) -> None:
        self.crew = Crew(loaders)
        self.ended = False  # nothing more is offered
        self.dealt = False  # anything was
        self._lock = self.crew.lock
        self._room = loaders
        self._waiting: deque[Deal] = deque()

    def offer(self, deal: Deal, signal: AnySignal) -> bool:
        """Give a deal to whoever takes it. False when too many wait: the signal tells when to try again."""
        with self._lock:
            self.crew.check()
            if len(self._waiting) >= self._room:
                self.crew.wakes(signal)
                return False
            self._waiting.append(deal)
            self.dealt = True
            self.crew.changed()
            return True

    def end(self) -> None:
        """All was offered."""
        with self._lock:
            self.ended = True
            self.crew.changed()

    def take(self, signal: AnySignal | None = None) -> Deal | None:
        """The next deal; None when there is none now: then either all is :attr:`over`, or the signal tells when."""
        with self._lock:
            self.crew.check()
            if self._waiting:
                self.crew.changed()
                return self._waiting.popleft()
            if signal is not None and not self.ended:
                self.crew.wakes(signal)
            return None

    @property
    def over(self) -> bool:
        """Whether nothing more is to be had."""
        with self._lock:
            return self.crew.stopped or (self.ended and not self._waiting)


def shares(rows: int | None, loaders: int) -> int:
    """Rows of a deal, of data with so many rows in all; None when nobody knows."""
    if rows is None:
        return PIECE_ROWS
    return min(PIECE_ROWS, max(ENOUGH, -(-rows // (_SHARES * loaders))))


class Sorter:
    """Makes deals of batches: large ones are cut, small ones go together, and the rows are counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._least = min(ENOUGH, most)
        self._first = 0
        self._held: list[pa.RecordBatch] = []
        self._rows = 0  # of these

    @property
    def rows(self) -> int:
        """How many there were so far."""
        return self._first + self._rows

    def add(self, batch: pa.RecordBatch) -> Iterator[Deal]:
        """Take a batch; the deals that are ready now."""
        for start in range(0, batch.num_rows, self._most):
            piece = batch.slice(start, self._most)
            self._held.append(piece)
            self._rows += piece.num_rows
            if self._rows >= self._least:
                yield from self.rest()

    def rest(self) -> Iterator[Deal]:
        """What is left as a deal of its own, if anything is."""
        if self._held:
            first, self._first = self._first, self._first + self._rows
            held, self._held, self._rows = tuple(self._held), [], 0
            yield Deal(first, held)


class _AnyHand(Dealt):
    """The deals of one loader, batch by batch; with the rows' numbers in the data as a column, if it has a name."""

    def __init__(self, dealing: Dealing, schema: pa.Schema, number: str = "") -> None:
        self.schema = schema.append(pa.field(number, pa.int64(), nullable=False)) if number else schema
        self._number = number
        self._dealing = dealing
        self._batches: deque[pa.RecordBatch] = deque()
        self._next = 0  # number of the next batch's first row

    def draw(self, signal: AnySignal | None = None) -> bool:
        """Whether there is something in the hand, with a new deal if one waits; else the signal tells when to try
        again. Raises :class:`Stopped`."""
        if self._batches:
            return True
        deal = self._dealing.take(signal)
        if deal is None:
            return False
        self._next = deal.first
        self._batches.extend(deal.batches)
        return True

    def _play(self) -> pa.RecordBatch:
        batch = self._batches.popleft()
        self.first, self._next = self._next, self._next + batch.num_rows
        if not self._number:
            return batch
        numbers = pa.array(np.arange(self.first, self._next))
        return pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=self.schema)


class Hand(_AnyHand):
    """For a thread: iterating waits."""

    dry = False

    def anything(self) -> bool:
        """Wait for the first deal; False when there is none for this loader."""
        while not self.draw(signal := Signal()):
            if self._dealing.over:
                self._dealing.crew.check()
                return False
            signal.wait(LOOK)
        return True

    def __next__(self) -> pa.RecordBatch:
        if not self.anything():
            raise StopIteration
        return self._play()


class AsyncHand(_AnyHand):
    """For a task."""

    def __init__(self, dealing: Dealing, schema: pa.Schema, number: str = "") -> None:
        super().__init__(dealing, schema, number)
        self._failure: Exception | None = None

    @property
    def dry(self) -> bool:  # type: ignore[override]
        """Whether nothing is here and something may still come."""
        return self._failure is None and not self._batches and not self._dealing.over

    async def anything(self) -> bool:
        """Wait for the first deal; False when there is none for this loader."""
        while not self.draw(signal := AsyncSignal()):
            if self._dealing.over:
                self._dealing.crew.check()
                return False
            await signal.wait(LOOK)
        return True

    async def more(self) -> None:
        """Wait for a deal, or the end."""
        try:
            await self.anything()
        except asyncio.CancelledError as error:
            self._failure = Interrupted()
            self._failure.__cause__ = error
        except Stopped as error:
            self._failure = error

    def __next__(self) -> pa.RecordBatch:
        if self._failure is not None:
            raise self._failure
        if not self.draw():
            raise StopIteration
        return self._play()
