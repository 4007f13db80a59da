"""AwaitableContext: an object opened by ``await``, or by ``async with`` for a block."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T", bound=AbstractAsyncContextManager[Any])


class AwaitableContext(Generic[T]):
    """``x = await context``, or ``async with context as x``. Opens nothing before that; can be used once."""

    def __init__(self, open: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._open = open
        self._context: T | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        return self._open().__await__()

    async def __aenter__(self) -> T:
        self._context = await self
        await self._context.__aenter__()
        return self._context

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        opened, self._context = self._context, None
        if opened is not None:
            await opened.__aexit__(kind, error, trace)
