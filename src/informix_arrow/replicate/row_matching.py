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


def match_rows(gone: pa.Table, times: Counts, rows: pa.Table) -> tuple[Mask, Counts]:
    """Return which rows of a file are removed, and how often each row of ``gone`` is among them, at most ``times``.

    The rows of ``gone`` are distinct. NULLs are equal.
    """
    mask, found = np.zeros(rows.num_rows, bool), np.zeros(gone.num_rows, np.int64)
    near = np.flatnonzero(_candidate_rows(gone, rows))
    if not len(near):
        return mask, found
    both = pa.concat_tables([gone, rows.take(pa.array(near))])
    places = group_equal_rows(both, {"places": pa.array(np.arange(both.num_rows))})[
        "places_list"
    ].combine_chunks()
    groups = np.repeat(np.arange(len(places)), np.diff(places.offsets.to_numpy()))
    numbers = places.flatten().to_numpy()
    order = np.lexsort((numbers, groups))
    groups, numbers = groups[order], numbers[order]
    first = np.searchsorted(groups, groups)  # where the group begins
    rank = np.arange(len(groups)) - first
    wanted = numbers[first]  # the row of ``gone``, which comes before those of the file, if there is one
    chosen = (wanted < gone.num_rows) & (rank > 0)
    chosen[chosen] = rank[chosen] <= times[wanted[chosen]]
    mask[near[numbers[chosen] - gone.num_rows]] = True
    np.add.at(found, wanted[chosen], 1)
    return mask, found


def _candidate_rows(gone: pa.Table, rows: pa.Table) -> Mask:
    """Return the rows that may be among those that go, by the column with the most distinct values."""
    best, told = 0, -1
    for place, column in enumerate(gone.columns):
        values = pc.count_distinct(column, mode="all").as_py()
        if values > told:
            best, told = place, values
    values = _comparable(gone.column(best)).combine_chunks()
    mask: Mask = pc.is_in(_comparable(rows.column(best)), value_set=values).to_numpy()
    return mask


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Map -0.0 to 0.0: they are equal in databases, but not in Arrow's groups."""
    return pc.add(column, pa.scalar(0, column.type)) if pa.types.is_floating(column.type) else column
