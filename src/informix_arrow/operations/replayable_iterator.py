"""Iterator whose items can be read again until the server has accepted the statement that they are for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def raising_iterator(error: Exception) -> Iterator[Any]:
    """Yield nothing: raise ``error`` at the first item."""
    raise error
    yield  # a generator: raises at its first item


class ReplayableIterator(Generic[T]):
    """An iterator that keeps its items, from the first on, until :meth:`commit`."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._buffer: list[T] | None = []
        self._error: Exception | None = None  # raised by the source

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            item = next(self._items)
        except StopIteration:
            raise
        except Exception as error:
            self._error = error
            raise
        if self._buffer is not None:
            self._buffer.append(item)
        return item

    def commit(self) -> None:
        """Drop the kept items."""
        self._buffer = None

    def replay(self) -> Iterator[T]:
        """Return all items from the first on."""
        items = itertools.chain(self._buffer or (), self._items)
        return items if self._error is None else itertools.chain(items, raising_iterator(self._error))
