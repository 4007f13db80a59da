"""Compare two tables.

Both sides are read once, in parallel. Where the same rows come in the same order, nothing else is done. Slices
that differ are distributed over buckets by key, and each bucket counts its rows and sums their hashes. Buckets
whose counts and checksums agree hold the same rows, in whatever order.

The rows of the other buckets are read again. Buckets with too many rows are split into smaller ones, and the rows
that remain are compared one by one.

Buckets are ranges of the key if the key is one integer column and a database reports its bounds. Then reading
again is a query with a WHERE clause. Otherwise buckets are hashes of the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._hash import add_up
from .common_types import CommonColumns, column_indexes
from .row_hashes import mix, rows
from .sources import Ranges, TableSide, text_columns

BUCKETS = 1 << 14
MOST_ROWS = 100_000  # rows of both sides together that are held in memory and compared one by one
_DEEPEST = 5

Kind = Literal["changed", "only in A", "only in B"]
Progress = Callable[[int, int], None]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs between the two sides.

    ``key`` has the values of the key columns, or of all columns if there is no key. For a row that both sides
    have, ``columns`` lists each column that differs with both values.
    """

    kind: Kind
    key: dict[str, Any]
    columns: tuple[tuple[str, Any, Any], ...] = ()


@dataclass(slots=True)
class TableResult:
    """The result of comparing one table.

    ``differences`` are sorted by key. ``complete`` is False if there may be more than those listed. ``only_a`` and
    ``only_b`` are columns that only one side has. All other columns were compared.
    """

    rows_a: int = 0
    rows_b: int = 0
    key: tuple[str, ...] = ()
    differences: list[Difference] = field(default_factory=list)
    complete: bool = True
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """True if both sides have the same columns and rows."""
        return not self.differences and self.complete and not self.only_a and not self.only_b


def compare_tables(
    a: TableSide,
    b: TableSide,
    *,
    key: Sequence[str] = (),
    limit: int = 100,
    progress: Progress | None = None,
) -> TableResult:
    """Compare two tables.

    Parameters
    ----------
    a, b
        Tables of :class:`DatabaseSide`, :class:`FileSide` or :class:`DirectorySide`.
    key
        Columns that identify a row. Default: the primary key that either side knows, else whole rows.
    limit
        Maximum number of differences to find.
    progress
        Called with the number of rows and Arrow bytes read so far.

    Raises
    ------
    DataError
        A side cannot be read, or one of them lacks a key column.
    """
    schema_a = a.schema(None)
    schema_b = b.schema(schema_a)
    if schema_a is None:
        schema_a = a.schema(schema_b) or text_columns((a, b))
    schema_b = schema_b or schema_a
    common = CommonColumns.of(schema_a, schema_b)
    chosen = tuple(key) or a.key or b.key
    result = TableResult(key=tuple(chosen), only_a=common.only_a, only_b=common.only_b)
    if not common.names:
        return result
    comparison = _Comparison(
        (a, b), (schema_a, schema_b), common, column_indexes(common.names, chosen), limit, result, progress
    )
    comparison.run()
    return result


# ---- buckets ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ByRange:
    """Buckets of equal width over the values of a column.

    NULL is in the first bucket, and values out of range are in the first or last one.
    """

    column: int
    low: int
    width: int

    def index(self, batch: pa.RecordBatch, keys: Sequence[int]) -> Indices:
        values = np.asarray(batch.column(self.column).fill_null(self.low).cast(pa.int64()))
        above = np.maximum(values, self.low).view(np.uint64) - np.array(self.low).astype(np.int64).view(
            np.uint64
        )
        indices: Indices = np.minimum(above // np.uint64(self.width), np.uint64(BUCKETS - 1)).astype(np.int64)
        return indices

    def span(self, bucket: int) -> tuple[int, int]:
        low = self.low + bucket * self.width
        return low, low + self.width - 1


@dataclass(frozen=True, slots=True)
class _ByHash:
    """Buckets by a hash of the key, which differs at each level."""

    level: int

    def index(self, batch: pa.RecordBatch, keys: Sequence[int]) -> Indices:
        hashes = rows(batch, keys or range(batch.num_columns))
        indices: Indices = (mix(hashes + np.uint64(self.level)) % np.uint64(BUCKETS)).astype(np.int64)
        return indices


_Bucketing = _ByRange | _ByHash


@dataclass(frozen=True, slots=True)
class _Region:
    """The rows of the table that lie in chosen buckets at each level."""

    levels: tuple[tuple[_Bucketing, npt.NDArray[np.bool_]], ...] = ()
    ranges: Ranges | None = None

    def filter(self, batch: pa.RecordBatch, keys: Sequence[int]) -> pa.RecordBatch:
        if not self.levels:
            return batch
        selected = np.ones(batch.num_rows, bool)
        for bucketing, allowed in self.levels:
            selected &= allowed[bucketing.index(batch, keys)]
        return batch if selected.all() else batch.filter(pa.array(selected))


class _Sums:
    """The row count and checksum of each bucket of one side."""

    def __init__(self) -> None:
        self.rows = np.zeros(BUCKETS, np.int64)
        self.sums = np.zeros(BUCKETS, np.uint64)

    def add(self, batch: pa.RecordBatch, bucketing: _Bucketing, keys: Sequence[int]) -> None:
        if batch.num_rows == 0:
            return
        index = bucketing.index(batch, keys)
        add_up(self.rows, self.sums, index, rows(batch, range(batch.num_columns)))


# ---- the comparison --------------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class _Comparison:
    _sides: tuple[TableSide, TableSide]
    _schemas: tuple[pa.Schema, pa.Schema]
    _common: CommonColumns
    _keys: list[int]
    _limit: int
    _result: TableResult
    _progress: Progress | None
    _read: list[int] = field(default_factory=lambda: [0, 0], init=False)  # rows, bytes

    def run(self) -> None:
        """Find the differences."""
        self._search(_Region(), self._first_buckets(), 0)
        self._result.differences.sort(key=lambda each: [_sortable(value) for value in each.key.values()])

    def _first_buckets(self) -> _Bucketing:
        if len(self._keys) == 1 and pa.types.is_integer(self._common.types[self._keys[0]]):
            column = self._common.names[self._keys[0]]
            known = [bounds for side in self._sides if (bounds := side.bounds(column)) is not None]
            if known:
                low, high = min(each[0] for each in known), max(each[1] for each in known)
                return _ByRange(self._keys[0], low, (high - low) // BUCKETS + 1)
        return _ByHash(0)

    def _search(self, region: _Region, bucketing: _Bucketing, depth: int) -> None:
        """Find the differences within a region by the checksums of its buckets."""
        sums = _Sums(), _Sums()
        for part_a, part_b in self._side_by_side(region, count=depth == 0):
            sums[0].add(part_a, bucketing, self._keys)
            sums[1].add(part_b, bucketing, self._keys)
        differ = np.flatnonzero((sums[0].rows != sums[1].rows) | (sums[0].sums != sums[1].sums))
        size = sums[0].rows + sums[1].rows
        group: list[int] = []
        held = 0
        for bucket in map(int, differ):
            if len(self._result.differences) >= self._limit:
                self._result.complete = False
                return
            if size[bucket] > MOST_ROWS and depth < _DEEPEST:
                self._search(*self._inside(region, bucketing, bucket, depth + 1), depth + 1)
                continue
            if group and held + size[bucket] > MOST_ROWS:
                self._compare_rows(self._subregion(region, bucketing, group))
                group, held = [], 0
            group.append(bucket)
            held += int(size[bucket])
        if group:
            self._compare_rows(self._subregion(region, bucketing, group))

    def _subregion(self, region: _Region, bucketing: _Bucketing, buckets: Sequence[int]) -> _Region:
        """Return the part of a region that lies in some of its buckets."""
        allowed = np.zeros(BUCKETS, bool)
        allowed[list(buckets)] = True
        ranges = None
        if isinstance(bucketing, _ByRange) and buckets[0] > 0 and buckets[-1] < BUCKETS - 1:
            # Not for the first and last bucket: they also hold NULL and values out of range.
            spans: list[tuple[int, int]] = []
            for bucket in buckets:
                low, high = bucketing.span(bucket)
                if spans and spans[-1][1] + 1 == low:
                    spans[-1] = spans[-1][0], high
                else:
                    spans.append((low, high))
            ranges = Ranges(self._common.names[bucketing.column], tuple(spans))
        return _Region((*region.levels, (bucketing, allowed)), ranges or region.ranges)

    def _inside(
        self, region: _Region, bucketing: _Bucketing, bucket: int, depth: int
    ) -> tuple[_Region, _Bucketing]:
        """Return the region of a bucket that is too large, and the smaller buckets to split it into."""
        inner = self._subregion(region, bucketing, [bucket])
        if isinstance(bucketing, _ByRange) and bucketing.width > 1:
            low, _ = bucketing.span(bucket)
            return inner, _ByRange(bucketing.column, low, bucketing.width // BUCKETS + 1)
        return inner, _ByHash(depth)

    def _side_by_side(
        self, region: _Region, *, count: bool
    ) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """Yield the slices of both sides that differ.

        The two slices of a pair have equally many rows. After the end of one side its slices are empty.
        """
        streams = [self._rows(number, region, count) for number in (0, 1)]
        held = [next(stream, None) for stream in streams]
        while held[0] is not None and held[1] is not None:
            size = min(held[0].num_rows, held[1].num_rows)
            part_a, part_b = held[0].slice(0, size), held[1].slice(0, size)
            if not part_a.equals(part_b):
                yield part_a, part_b
            for number, batch in enumerate(held):
                assert batch is not None
                rest = batch.slice(size)
                held[number] = rest if rest.num_rows else next(streams[number], None)
        for number in (0, 1):
            batch = held[number]
            while batch is not None:
                nothing = batch.slice(0, 0)
                yield (batch, nothing) if number == 0 else (nothing, batch)
                batch = next(streams[number], None)

    def _rows(self, number: int, region: _Region, count: bool) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a region of one side in the common types, in batches that are not empty."""
        for batch in self._sides[number].batches(self._schemas[number], region.ranges):
            if count:
                if number == 0:
                    self._result.rows_a += batch.num_rows
                else:
                    self._result.rows_b += batch.num_rows
            self._read[0] += batch.num_rows
            self._read[1] += batch.nbytes
            if self._progress is not None:
                self._progress(*self._read)
            selected = region.filter(self._common.batch(batch), self._keys)
            if selected.num_rows:
                yield selected

    # ---- rows one by one -------------------------------------------------------------------------------------------

    def _compare_rows(self, region: _Region) -> None:
        """Compare the rows of a small region one by one, by their keys.

        This makes a Python object of each value.
        """
        by_key_a, by_key_b = (self._by_key(number, region) for number in (0, 1))
        names = self._common.names
        for key in dict.fromkeys((*by_key_a, *by_key_b)):
            rows_a, rows_b = by_key_a.get(key, []), by_key_b.get(key, [])
            if rows_a == rows_b:
                continue
            if self._keys and len(rows_a) == len(rows_b) == 1:
                values = zip(names, rows_a[0], rows_b[0], strict=True)
                changed = tuple((name, x, y) for name, x, y in values if not _equal(x, y))
                if changed:
                    self._add(Difference("changed", self._display_row(rows_a[0]), changed))
                continue
            counts = Counter(map(repr, rows_a)), Counter(map(repr, rows_b))
            for kind, these, others, candidates in (
                ("only in A", counts[0], counts[1], rows_a),
                ("only in B", counts[1], counts[0], rows_b),
            ):
                unmatched = these - others
                for row in candidates:
                    if unmatched[repr(row)] > 0:
                        unmatched[repr(row)] -= 1
                        self._add(Difference(kind, self._display_row(row)))  # type: ignore[arg-type]

    def _by_key(self, number: int, region: _Region) -> dict[str, list[tuple[Any, ...]]]:
        rows_by_key: dict[str, list[tuple[Any, ...]]] = {}
        for batch in self._rows(number, region, False):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                key = repr([row[place] for place in self._keys] if self._keys else row)
                rows_by_key.setdefault(key, []).append(row)
        return rows_by_key

    def _display_row(self, row: tuple[Any, ...]) -> dict[str, Any]:
        chosen = self._keys or range(len(row))
        return {self._common.names[place]: row[place] for place in chosen}

    def _add(self, difference: Difference) -> None:
        if len(self._result.differences) < self._limit:
            self._result.differences.append(difference)
        else:
            self._result.complete = False


def _equal(a: object, b: object) -> bool:
    return a == b or (a != a and b != b)  # NaN counts as equal to NaN


def _sortable(value: object) -> tuple[bool, str, Any]:
    """Return a sort key that puts NULL first and compares values of the same type only."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value is not None, "", value
    return value is not None, type(value).__name__, value if isinstance(value, str) else repr(value)
