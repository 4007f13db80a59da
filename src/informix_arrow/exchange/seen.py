"""Data that can be had once more, as long as the server has not accepted the statement that it is for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def failing(error: Exception) -> Iterator[Any]:
    """Items of which the first raises ``error``."""
    raise error
    yield  # a generator: it raises when it is asked for its first item


class Seen(Generic[T]):
    """Items of an iterator, from the first on, until they are :meth:`accepted`."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._seen: list[T] | None = []
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
        if self._seen is not None:
            self._seen.append(item)
        return item

    def accepted(self) -> None:
        """Forget the items."""
        self._seen = None

    def again(self) -> Iterator[T]:
        """All items from the first on."""
        items = itertools.chain(self._seen or (), self._items)
        return items if self._error is None else itertools.chain(items, failing(self._error))
