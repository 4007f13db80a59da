"""What may be written: anything that hands out Arrow data, as one stream of record batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..wire.errors import InterfaceError


@dataclass(frozen=True, slots=True)
class Source:
    """The data of one load: read once, batch by batch."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    total: int | None  # rows, None when nobody knows beforehand


def open_source(data: Any) -> Source:
    """Open ``data``: ``__arrow_c_stream__``, ``__arrow_c_array__``, or an iterable of record batches.

    Raises ``InterfaceError`` for what is none of these, and for an iterable without any batch, which has no
    schema.
    """
    if isinstance(data, pa.Table):
        return Source(data.schema, iter(data.to_batches()), data.num_rows)
    if isinstance(data, pa.RecordBatch):
        return Source(data.schema, iter((data,)), data.num_rows)
    if not isinstance(data, pa.RecordBatchReader):
        if hasattr(data, "__arrow_c_stream__"):
            data = _reader(data)
        elif hasattr(data, "__arrow_c_array__"):
            batch = _batch(data)
            return Source(batch.schema, iter((batch,)), batch.num_rows)
        else:
            return _from_iterable(data)
    return Source(data.schema, iter(data), None)


def _reader(data: Any) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowException as error:  # a chunked array, a series: one column without a name
        raise InterfaceError(f"{type(data).__name__} is no table: {error}") from None


def _batch(data: Any) -> pa.RecordBatch:
    try:
        return pa.record_batch(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InterfaceError(f"{type(data).__name__} is no record batch: {error}") from None


def _from_iterable(data: object) -> Source:
    if isinstance(data, str | bytes | dict) or not isinstance(data, Iterable):
        raise InterfaceError(
            f"a {type(data).__name__} cannot be written: pass a pyarrow Table or RecordBatch, a Polars or pandas "
            "DataFrame, anything else with __arrow_c_stream__, or an iterable of record batches"
        )
    items = iter(data)
    first = next(items, None)
    if first is None:
        raise InterfaceError(
            "the iterable held no record batch, so its columns are not known: nothing was written"
        )
    batch = _one(first)
    return Source(batch.schema, _alike(itertools.chain((batch,), items), batch.schema), None)


def _one(item: object) -> pa.RecordBatch:
    if isinstance(item, pa.RecordBatch):
        return item
    if hasattr(item, "__arrow_c_array__"):
        return _batch(item)
    raise InterfaceError(f"the iterable must give record batches, it gave a {type(item).__name__}")


def _alike(items: Iterator[object], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for number, item in enumerate(items):
        batch = _one(item)
        if not batch.schema.equals(schema):
            raise InterfaceError(f"record batch {number} has other columns or types than the first one")
        yield batch
