"""informix-arrow for asyncio: the operations of the blocking classes as coroutines, without threads.

>>> from informix_arrow import aio
>>> async with aio.connect("informix://user:password@host:9088/stores?server=ol_informix") as conn:
...     table = await conn.read_arrow("SELECT * FROM orders WHERE order_num > ?", (1000,))
"""

from __future__ import annotations

from .change_capture import AsyncChanges, capture, capture_off
from .connection import AsyncConnection, connect
from .cursor import AsyncCursor
from .partition_result import AsyncPartitionedResult, plan_partitions
from .pool import AsyncPool
from .result import AsyncResult
from .retry import run_transaction
from .scroll_cursor import AsyncScrollCursor
from .shortcuts import partition_read

__all__ = [
    "AsyncChanges",
    "AsyncConnection",
    "AsyncCursor",
    "AsyncPartitionedResult",
    "AsyncPool",
    "AsyncResult",
    "AsyncScrollCursor",
    "capture",
    "capture_off",
    "connect",
    "partition_read",
    "plan_partitions",
    "run_transaction",
]


def __dir__() -> list[str]:
    return list(__all__)
