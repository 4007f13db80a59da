"""Open the data of a load: anything that exports Arrow data, as one stream of record batches."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import threading
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..wire.errors import InterfaceError, QueryTimeout

MIN_READY_ROWS = 4096  # wait for small batches until they have this many rows together


@dataclass(frozen=True, slots=True)
class BatchSource:
    """The data of one load. It is read once, batch by batch."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    total: int | None  # number of rows, None if not known beforehand


class SourceInterrupted(Exception):
    """The task was cancelled while it waited for its data. The cause is the ``CancelledError``."""


class ArrivingBatches(Iterator[pa.RecordBatch]):
    """The batches of a source that arrive by themselves. Iterating gives those that are here and then stops.

    A subclass has ``wait_for_batches``, which waits for more.
    """

    schema: pa.Schema

    def __init__(self) -> None:
        self._ready: deque[pa.RecordBatch] = deque()
        self._ended = False
        self._failure: BaseException | None = None  # raised after the batches before it

    @property
    def is_starved(self) -> bool:
        """True if no batch is ready and more may come."""
        return not self._ready and not self._ended

    def __next__(self) -> pa.RecordBatch:
        if self._ready:
            return self._ready.popleft()
        if self._failure is not None:
            raise self._failure
        raise StopIteration


class AsyncBatchSource(ArrivingBatches):
    """Record batches of an async iterable, created by :meth:`open`. :meth:`wait_for_batches` waits for more."""

    def __init__(self, items: AsyncIterator[object]) -> None:
        super().__init__()
        self._items = items
        self._number = 0  # number of the next batch

    @classmethod
    async def open(
        cls, data: AsyncIterable[object], schema: pa.Schema | None = None, *, timeout: float | None = None
    ) -> AsyncBatchSource:
        """Wait for the first batch, unless the schema is given.

        Raises ``InterfaceError`` if there is none, and ``QueryTimeout`` if it takes longer than ``timeout`` seconds.
        """
        source = cls(aiter(data))
        if schema is None:
            first = await _first_item(source._items, timeout)
            if first is None:
                raise _empty()
            batch = _to_batch(first)
            schema = batch.schema
            source._ready.append(batch)
            source._number = 1
        source.schema = schema
        return source

    async def wait_for_batches(self) -> None:
        """Wait until batches with ``MIN_READY_ROWS`` rows are ready, or the last one. Errors are raised by the
        iteration."""
        rows = 0
        try:
            while rows < MIN_READY_ROWS:
                batch = _check_batch(await anext(self._items), self._number, self.schema)
                self._number += 1
                self._ready.append(batch)
                rows += batch.num_rows
        except StopAsyncIteration:
            self._ended = True
        except asyncio.CancelledError as error:
            self._fail(SourceInterrupted())
            assert self._failure is not None
            self._failure.__cause__ = error
        except Exception as error:  # noqa: BLE001 - __next__ raises it
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._ended, self._failure = True, error


async def _first_item(items: AsyncIterator[object], timeout: float | None) -> object:
    """Return the first item, None if there is none. Raises ``QueryTimeout``."""
    if timeout is None:
        return await anext(items, None)
    # Not wait_for(), which before Python 3.12 may swallow a cancellation.
    fetching = asyncio.ensure_future(_next_or_none(items))
    try:
        await asyncio.wait({fetching}, timeout=timeout)
        if fetching.done():
            return fetching.result()
    finally:
        if not fetching.done():
            fetching.cancel()
            await asyncio.wait({fetching})
    raise no_data_in_time(timeout)


async def _next_or_none(items: AsyncIterator[object]) -> object:
    return await anext(items, None)


async def yielding_batches(batches: Iterator[pa.RecordBatch]) -> AsyncIterator[pa.RecordBatch]:
    """Yield the batches of a plain iterator. Other tasks run, and the call can be ended, after each."""
    for batch in batches:
        yield batch
        await asyncio.sleep(0)


def no_data_in_time(timeout: float) -> QueryTimeout:
    """Return the error of a load whose data did not begin in time."""
    return QueryTimeout(
        f"The call took longer than {timeout:g} s (timeout). The data returned no batch in that time. Nothing "
        "was sent."
    )


def is_streamed(data: object) -> bool:
    """Return whether data is pulled from a source that may have to be waited for. Other data is in memory."""
    return (
        not isinstance(data, AsyncBatchSource | SharedBatchSource)
        and not hasattr(data, "__len__")
        and not hasattr(data, "__arrow_c_array__")
        and (isinstance(data, Iterable) or hasattr(data, "__arrow_c_stream__"))
    )


class ThreadedBatchSource(ArrivingBatches):
    """Record batches of data that is read in a thread of its own, so that waiting for it can be ended.

    Nothing can interrupt an iterator that waits for a file, a network or a lock. Here the thread waits for it, and the
    load does not have to. :meth:`wait_for_batches` requests more. The thread reads only what was requested: about
    ``MIN_READY_ROWS`` rows at a time.

    Parameters
    ----------
    data
        As for :func:`open_source`, which the thread calls.
    """

    total: int | None

    def __init__(self, data: object) -> None:
        super().__init__()
        self._data = data
        self._closed = False
        self._requests = threading.Semaphore(0)
        self._requested = True  # the schema
        self._arrived = threading.Event()
        self.thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._read,), name="informix-arrow data", daemon=True
        )

    @classmethod
    def open(cls, data: object, timeout: float) -> ThreadedBatchSource:
        """Wait for the schema. Raises as :func:`open_source`, and ``QueryTimeout`` after ``timeout`` seconds."""
        source = cls(data)
        source.thread.start()
        try:
            ends = time.monotonic() + timeout
            while not source.wait_for_batches(min(max(ends - time.monotonic(), 0.0), 0.5)):
                if time.monotonic() >= ends:
                    raise no_data_in_time(timeout)
            if source._failure is not None:
                raise source._failure
        except BaseException:
            source.close()
            raise
        return source

    def wait_for_batches(self, seconds: float) -> bool:
        """Wait for at most ``seconds``. Return whether batches, or the end, have arrived."""
        if not self._requested:
            self._requested = True
            self._arrived.clear()
            self._requests.release()
        if not self._arrived.wait(seconds):
            return False
        self._requested = False
        return True

    def close(self) -> None:
        """Read no more. If the thread waits for the data, it ends once a batch or an error has arrived."""
        self._closed = True
        self._requests.release()

    def _read(self) -> None:
        """Read the data, as far as it is requested. Runs in the thread."""
        try:
            source = open_source(self._data)
            self.schema, self.total = source.schema, source.total
            self._arrived.set()
            while not self._ended:
                self._requests.acquire()
                rows = 0
                while rows < MIN_READY_ROWS and not self._ended:
                    if self._closed:
                        return
                    batch = next(source.batches, None)
                    if batch is None:
                        self._ended = True
                    else:
                        self._ready.append(batch)
                        rows += batch.num_rows
                self._arrived.set()
        except BaseException as error:  # noqa: BLE001 - __next__ raises it
            self._failure, self._ended = error, True
            self._arrived.set()


class SharedBatchSource(Iterator[pa.RecordBatch]):
    """The batches that one of several loaders gets. The others get the rows in between.

    While :attr:`is_starved` is true, iterating stops if no batch is ready, and :meth:`wait_for_batches` waits for
    more, as in :class:`AsyncBatchSource`.
    """

    schema: pa.Schema
    first_row: int  # number of the last batch's first row, counted over the whole data
    is_starved: bool

    async def wait_for_batches(self) -> None:
        """Wait for more batches, or the end. Errors are raised by the iteration."""
        raise NotImplementedError


def open_source(data: Any) -> BatchSource:
    """Open ``data``: ``__arrow_c_stream__``, ``__arrow_c_array__``, or an iterable of record batches.

    Raises ``InterfaceError`` for anything else, and for an iterable without any batch, which has no schema.
    """
    if isinstance(data, AsyncBatchSource | SharedBatchSource):
        return BatchSource(data.schema, data, None)
    if isinstance(data, ThreadedBatchSource):
        return BatchSource(data.schema, data, data.total)
    _refuse_objects(data)
    source = _open_data(_with_index(data))
    for each in source.schema:
        kind = getattr(each.type, "extension_name", None) or (each.metadata or {}).get(
            b"ARROW:extension:name"
        )
        if kind in ("pandas.period", b"pandas.period"):
            raise InterfaceError(
                f"The column {each.name!r} holds periods of pandas, which are plain numbers in Arrow. "
                "Convert them to timestamps (Series.dt.to_timestamp()) or text (Series.astype(str))."
            )
    return source


def _with_index(data: Any) -> Any:
    """Return a pandas frame with its index as a column if the index is a named range.

    pandas exports any other named index as a column by itself, but not this one.
    """
    index: Any = getattr(data, "index", None)
    if type(index).__name__ != "RangeIndex" or index.name is None or not hasattr(data, "reset_index"):
        return data
    try:
        return data.reset_index()
    except ValueError as error:
        raise InterfaceError(
            f"The index {index.name!r} of the frame has the name of a column: {error}"
        ) from None


def _refuse_objects(data: Any) -> None:
    """Raise ``InterfaceError`` for a Polars frame with Python objects, or one that is lazy.

    Polars exports the addresses of Python objects as bytes.
    """
    if type(data).__module__.partition(".")[0] != "polars":
        return
    if type(data).__name__ == "LazyFrame":
        raise InterfaceError("A LazyFrame is a query that has not run yet. Pass the result of its collect().")
    for name, kind in getattr(data, "schema", {}).items():
        if str(kind) == "Object":
            raise InterfaceError(
                f"The column {name!r} holds Python objects, which Polars exports as addresses only. Convert "
                "it to text or another type."
            )


def _open_data(data: Any) -> BatchSource:
    if isinstance(data, pa.Table):
        return BatchSource(data.schema, iter(data.to_batches()), data.num_rows)
    if isinstance(data, pa.RecordBatch):
        return BatchSource(data.schema, iter((data,)), data.num_rows)
    if not isinstance(data, pa.RecordBatchReader):
        if hasattr(data, "__arrow_c_stream__"):
            data = _reader(data)
        elif hasattr(data, "__arrow_c_array__"):
            batch = _batch(data)
            return BatchSource(batch.schema, iter((batch,)), batch.num_rows)
        else:
            return _from_iterable(data)
    return BatchSource(data.schema, iter(data), None)


def _reader(data: Any) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, ValueError) as error:  # a Series, or a frame with a duplicate column name
        raise InterfaceError(f"{type(data).__name__} is not a table: {error}") from None


def _batch(data: Any) -> pa.RecordBatch:
    try:
        return pa.record_batch(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InterfaceError(f"{type(data).__name__} is not a record batch: {error}") from None


def _from_iterable(data: object) -> BatchSource:
    if isinstance(data, dict):
        raise InterfaceError(
            "A dict cannot be written. Convert it to a table, for example with pyarrow.table(data)."
        )
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InterfaceError(
            f"A {type(data).__name__} cannot be written. Pass a pyarrow Table or RecordBatch, a Polars or "
            "pandas DataFrame, anything else with __arrow_c_stream__, or an iterable of record batches."
        )
    items = iter(data)
    first = next(items, None)
    if first is None:
        raise _empty()
    batch = _to_batch(first)
    return BatchSource(batch.schema, _checked_batches(itertools.chain((batch,), items), batch.schema), None)


def _to_batch(item: object) -> pa.RecordBatch:
    if isinstance(item, pa.RecordBatch):
        return item
    if hasattr(item, "__arrow_c_array__"):
        return _batch(item)
    raise InterfaceError(f"The iterable must return record batches, but returned a {type(item).__name__}.")


def _checked_batches(items: Iterator[object], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for number, item in enumerate(items):
        yield _check_batch(item, number, schema)


def _check_batch(item: object, number: int, schema: pa.Schema) -> pa.RecordBatch:
    batch = _to_batch(item)
    if not batch.schema.equals(schema):
        raise InterfaceError(f"Record batch {number} has other columns or types than the first one.")
    return batch


def _empty() -> InterfaceError:
    return InterfaceError(
        "The iterable returned no record batch, so its columns are not known. Nothing was written."
    )
