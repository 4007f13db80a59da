"""Results whose rows Python's cyclic garbage collector need not look at.

A Row is no tuple to it: while SQLAlchemy's own results make 100,000 of them it goes through all that the process holds
several times over, which takes far longer than to make them. A row of plain values can be part of no cycle but one
through what it shares with the others, the metadata and so the statement's columns. Rows are made in parts here, and
each part is taken out of the collector's sight before the next, as it does itself with tuples. Its settings are left
alone: it goes on for all else, in all threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.engine import CursorResult, MappingResult, Row, RowMapping, ScalarResult
from sqlalchemy.util import HasMemoized_ro_memoized_attribute

from .._decode import untrack, untracked

CHUNK_ROWS = 512
"""Rows that are made before the collector is told of them: fewer than it lets be made between two of its rounds."""


class _ChunkedRows:
    """How rows are made in numbers, for each kind of result."""

    __slots__ = ()

    _row_class: type | None = None

    @HasMemoized_ro_memoized_attribute
    def _manyrow_getter(self) -> Callable[[Any, int | None], Sequence[Any]]:
        parent: Any = super()
        make = parent._manyrow_getter
        result: Any = self
        row_class, metadata = self._row_class, result._metadata

        def part(of: Any, count: int | None) -> Sequence[Any]:
            chunk: Sequence[Any] = make(of, count)
            if row_class is not None and isinstance(chunk, list):
                untrack(chunk, row_class, (metadata, metadata._key_to_index))
            return chunk

        def manyrows(of: Any, count: int | None) -> Sequence[Any]:
            if count is None or count <= CHUNK_ROWS:
                return part(of, count)
            rows: list[Any] = []
            while count > len(rows) and (more := part(of, min(CHUNK_ROWS, count - len(rows)))):
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
    """Values of one column, whose rows are let go of part by part."""

    __slots__ = ()


class InformixMappingResult(_ChunkedRows, MappingResult):
    """Rows as mappings."""

    __slots__ = ()

    _row_class = RowMapping


class InformixCursorResult(_ChunkedRows, CursorResult[Any]):
    """Rows."""

    __slots__ = ()

    _row_class = Row

    @HasMemoized_ro_memoized_attribute
    def _row_getter(self) -> tuple[Any, ...]:
        parent: Any = super()
        one, many, *others = parent._row_getter
        metadata: Any = self._metadata
        if (
            metadata._tuplefilter is None
            and metadata._effective_processors is None
            and self._row_logging_fn is None
            and not self._source_supports_scalars
        ):
            names = metadata._key_to_index
            first, shared = (metadata, None, names), (metadata, names)

            def many(rows: Sequence[Any]) -> list[Any]:
                return untracked(Row, first, rows if isinstance(rows, list) else list(rows), shared)

        return (one, many, *others)

    def scalars(self, index: Any = 0) -> ScalarResult[Any]:
        """As SQLAlchemy's."""
        return InformixScalarResult(self, index)

    def mappings(self) -> MappingResult:
        """As SQLAlchemy's."""
        return InformixMappingResult(self)
