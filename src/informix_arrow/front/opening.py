"""What is opened by ``await``, and by ``async with`` for a block."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T", bound=AbstractAsyncContextManager[Any])


class Opening(Generic[T]):
    """``x = await opening``, or ``async with opening as x``. Nothing happens before; it serves once."""

    def __init__(self, open: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._open = open
        self._opened: T | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        return self._open().__await__()

    async def __aenter__(self) -> T:
        self._opened = await self
        await self._opened.__aenter__()
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.__aexit__(kind, error, trace)
