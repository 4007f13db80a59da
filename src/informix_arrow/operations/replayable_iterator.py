"""Data that can be had once more, as long as the server has not accepted the statement that it is for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def raising_iterator(error: Exception) -> Iterator[Any]:
    """Items of which the first raises ``error``."""
    raise error
    yield  # a generator: it raises when it is asked for its first item


class ReplayableIterator(Generic[T]):
    """Items of an iterator, from the first on, until they are :meth:`commit`."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._buffer: list[T] | None = []
        self._error: Exception | None = None  # that ended them

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
        """Forget the items."""
        self._buffer = None

    def replay(self) -> Iterator[T]:
        """All items from the first on."""
        items = itertools.chain(self._buffer or (), self._items)
        return items if self._error is None else itertools.chain(items, raising_iterator(self._error))
