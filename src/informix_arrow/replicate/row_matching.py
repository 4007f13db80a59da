"""Find the rows that are to be removed among the rows of a file."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Counts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
Mask: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"


def group_equal_rows(rows: pa.Table, columns: dict[str, pa.Array]) -> pa.Table:
    """Group equal rows and return the aggregates ``{name}_{function}`` that pyarrow makes of the columns."""
    names = [str(number) for number in range(rows.num_columns)]
    keyed = pa.Table.from_arrays([*map(_comparable, rows.columns), *columns.values()], [*names, *columns])
    hows = {"sum": "sum", "first": "min", "places": "list"}
    return keyed.group_by(names).aggregate([(name, hows[name]) for name in columns])


def match_rows(removed: pa.Table, times: Counts, rows: pa.Table) -> tuple[Mask, Counts]:
    """Return which rows of a file are removed, and how often each row of ``removed`` is among them, at most ``times``.

    The rows of ``removed`` are distinct. NULLs are equal.
    """
    mask, counts = np.zeros(rows.num_rows, bool), np.zeros(removed.num_rows, np.int64)
    candidates = np.flatnonzero(_candidate_rows(removed, rows))
    if not len(candidates):
        return mask, counts
    both = pa.concat_tables([removed, rows.take(pa.array(candidates))])
    positions = group_equal_rows(both, {"places": pa.array(np.arange(both.num_rows))})[
        "places_list"
    ].combine_chunks()
    groups = np.repeat(np.arange(len(positions)), np.diff(positions.offsets.to_numpy()))
    numbers = positions.flatten().to_numpy()
    order = np.lexsort((numbers, groups))
    groups, numbers = groups[order], numbers[order]
    first = np.searchsorted(groups, groups)  # where the group begins
    rank = np.arange(len(groups)) - first
    owner = numbers[first]  # the row of ``removed``, which comes before those of the file, if there is one
    matched = (owner < removed.num_rows) & (rank > 0)
    matched[matched] = rank[matched] <= times[owner[matched]]
    mask[candidates[numbers[matched] - removed.num_rows]] = True
    np.add.at(counts, owner[matched], 1)
    return mask, counts


def _candidate_rows(removed: pa.Table, rows: pa.Table) -> Mask:
    """Return the rows that may be among those that go, by the column with the most distinct values."""
    best, most_values = 0, -1
    for index, column in enumerate(removed.columns):
        values = pc.count_distinct(column, mode="all").as_py()
        if values > most_values:
            best, most_values = index, values
    values = _comparable(removed.column(best)).combine_chunks()
    mask: Mask = pc.is_in(_comparable(rows.column(best)), value_set=values).to_numpy()
    return mask


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Map -0.0 to 0.0: they are equal in databases, but not in Arrow's groups."""
    return pc.add(column, pa.scalar(0, column.type)) if pa.types.is_floating(column.type) else column
