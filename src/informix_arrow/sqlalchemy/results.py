"""Results whose rows are hidden from Python's cyclic garbage collector.

SQLAlchemy's Row is no tuple to the collector. While SQLAlchemy's own results make 100,000 rows, the collector traverses
all objects of the process several times, which takes far longer than making the rows. A row of plain values can be part
of no cycle except through what it shares with the others: the metadata and so the statement's columns. Here, rows are
made in chunks, and each chunk is untracked before the next one, as the collector itself does with tuples. The
collector's settings are not changed: it runs for everything else, in all threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.engine import CursorResult, MappingResult, Row, RowMapping, ScalarResult
from sqlalchemy.util import HasMemoized_ro_memoized_attribute

from .._decode import untrack, untracked
from .releases import RELEASE

CHUNK_ROWS = 512
"""Rows that are made before they are untracked: fewer than the collector allows between two of its runs."""


class _ChunkedRows:
    """Make rows in chunks, for each kind of result."""

    __slots__ = ()

    _row_class: type | None = None

    @HasMemoized_ro_memoized_attribute
    def _manyrow_getter(self) -> Callable[[Any, int | None], Sequence[Any]]:
        parent: Any = super()
        make = parent._manyrow_getter
        result: Any = self
        row_class, metadata = self._row_class, result._metadata

        def chunk_of(of: Any, count: int | None) -> Sequence[Any]:
            chunk: Sequence[Any] = make(of, count)
            if row_class is not None and isinstance(chunk, list):
                untrack(chunk, row_class, (metadata, metadata._key_to_index))
            return chunk

        def manyrows(of: Any, count: int | None) -> Sequence[Any]:
            if count is None or count <= CHUNK_ROWS:
                return chunk_of(of, count)
            rows: list[Any] = []
            while count > len(rows) and (more := chunk_of(of, min(CHUNK_ROWS, count - len(rows)))):
                rows += more
            return rows

        return manyrows

    def _allrows(self) -> Sequence[Any]:
        many: Any = self._manyrow_getter
        rows: list[Any] = []
        while more := many(self, CHUNK_ROWS):
            rows += more
        return rows


class InformixScalarResult(_ChunkedRows, ScalarResult[Any]):
    """Values of one column, whose rows are released chunk by chunk."""

    __slots__ = ()


class InformixMappingResult(_ChunkedRows, MappingResult):
    """Rows as mappings."""

    __slots__ = ()

    _row_class = RowMapping


class _FastRows(CursorResult[Any]):
    """Make the rows of plain values at once and untracked, with whatever each release of SQLAlchemy makes them by."""

    __slots__ = ()

    if RELEASE >= (2, 1):

        @HasMemoized_ro_memoized_attribute
        def _row_getter(self) -> tuple[Any, ...]:
            parent: Any = super()
            one, many, *others = parent._row_getter
            return (one, _untracked_rows(self) or many, *others)

    else:

        @HasMemoized_ro_memoized_attribute
        def _manyrow_getter(self) -> Callable[[Any, int | None], Sequence[Any]]:
            parent: Any = super()
            general: Callable[[Any, int | None], Sequence[Any]] = parent._manyrow_getter
            make = _untracked_rows(self)
            if make is None or self._unique_filter_state or self._post_creational_filter:
                return general
            make_rows = make

            def many(of: Any, count: int | None) -> Sequence[Any]:
                return make_rows(of._fetchmany_impl(of._yield_per if count is None else count))

            return many


def _untracked_rows(result: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
    """Return what makes untracked rows of a cursor's rows; None if values are converted, left out or logged."""
    metadata = result._metadata
    if (
        metadata._tuplefilter is not None
        or metadata._effective_processors is not None
        or result._row_logging_fn is not None
        or result._source_supports_scalars
    ):
        return None
    names = metadata._key_to_index
    first, shared = (metadata, None, names), (metadata, names)
    return lambda rows: untracked(Row, first, rows if isinstance(rows, list) else list(rows), shared)


class InformixCursorResult(_ChunkedRows, _FastRows):
    """Rows of a cursor."""

    __slots__ = ()

    _row_class = Row

    def scalars(self, index: Any = 0) -> ScalarResult[Any]:
        """Return the values of one column, as SQLAlchemy's method does."""
        return InformixScalarResult(self, index)

    def mappings(self) -> MappingResult:
        """Return the rows as mappings, as SQLAlchemy's method does."""
        return InformixMappingResult(self)
