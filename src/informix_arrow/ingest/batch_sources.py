"""Open the data of a load: anything that exports Arrow data, as one stream of record batches."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..wire.errors import InterfaceError

MIN_READY_ROWS = 4096  # wait for small batches until they have this many rows together


@dataclass(frozen=True, slots=True)
class BatchSource:
    """The data of one load. It is read once, batch by batch."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    total: int | None  # number of rows, None if not known beforehand


class SourceInterrupted(Exception):
    """The task was cancelled while it waited for its data. The cause is the ``CancelledError``."""


class AsyncBatchSource(Iterator[pa.RecordBatch]):
    """Record batches of an async iterable, created by :meth:`open`.

    Iterating gives the batches that have arrived and then stops. :meth:`wait_for_batches` waits for more.
    """

    def __init__(self, items: AsyncIterator[object]) -> None:
        self.schema: pa.Schema
        self._items = items
        self._number = 0  # number of the next batch
        self._ready: deque[pa.RecordBatch] = deque()
        self._ended = False
        self._failure: Exception | None = None

    @classmethod
    async def open(cls, data: AsyncIterable[object], schema: pa.Schema | None = None) -> AsyncBatchSource:
        """Wait for the first batch, unless the schema is given. Raises ``InterfaceError`` if there is none."""
        source = cls(aiter(data))
        if schema is None:
            first = await anext(source._items, None)
            if first is None:
                raise _empty()
            batch = _to_batch(first)
            schema = batch.schema
            source._ready.append(batch)
            source._number = 1
        source.schema = schema
        return source

    @property
    def is_starved(self) -> bool:
        """True if no batch is ready and more may come."""
        return not self._ready and not self._ended

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

    def __next__(self) -> pa.RecordBatch:
        if self._ready:
            return self._ready.popleft()
        if self._failure is not None:
            raise self._failure
        raise StopIteration


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
    _refuse_objects(data)
    source = _open_data(_with_index(data))
    for each in source.schema:
        kind = getattr(each.type, "extension_name", None) or (each.metadata or {}).get(
            b"ARROW:extension:name"
        )
        if kind in ("pandas.period", b"pandas.period"):
            raise InterfaceError(
                f"the column {each.name!r} holds periods of pandas, of which Arrow data has nothing but a number: "
                "make timestamps of it (Series.dt.to_timestamp()) or text (Series.astype(str))"
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
            f"the index {index.name!r} of the frame has the name of a column: {error}"
        ) from None


def _refuse_objects(data: Any) -> None:
    """Raise ``InterfaceError`` for a Polars frame with Python objects, or one that is lazy.

    Polars exports the addresses of Python objects as bytes.
    """
    if type(data).__module__.partition(".")[0] != "polars":
        return
    if type(data).__name__ == "LazyFrame":
        raise InterfaceError("a LazyFrame is a query that has not run yet: pass what its collect() gives")
    for name, kind in getattr(data, "schema", {}).items():
        if str(kind) == "Object":
            raise InterfaceError(
                f"the column {name!r} holds Python objects, of which Polars hands out addresses only: make text of it, "
                "or another type"
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
        raise InterfaceError(f"{type(data).__name__} is no table: {error}") from None


def _batch(data: Any) -> pa.RecordBatch:
    try:
        return pa.record_batch(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InterfaceError(f"{type(data).__name__} is no record batch: {error}") from None


def _from_iterable(data: object) -> BatchSource:
    if isinstance(data, dict):
        raise InterfaceError(
            "a dict cannot be written: make a table of it, by pyarrow.table(data) for instance"
        )
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InterfaceError(
            f"a {type(data).__name__} cannot be written: pass a pyarrow Table or RecordBatch, a Polars or pandas "
            "DataFrame, anything else with __arrow_c_stream__, or an iterable of record batches"
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
    raise InterfaceError(f"the iterable must give record batches, it gave a {type(item).__name__}")


def _checked_batches(items: Iterator[object], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for number, item in enumerate(items):
        yield _check_batch(item, number, schema)


def _check_batch(item: object, number: int, schema: pa.Schema) -> pa.RecordBatch:
    batch = _to_batch(item)
    if not batch.schema.equals(schema):
        raise InterfaceError(f"record batch {number} has other columns or types than the first one")
    return batch


def _empty() -> InterfaceError:
    return InterfaceError(
        "the iterable held no record batch, so its columns are not known: nothing was written"
    )
