"""What changes of one table come to: rows to be taken out and rows to be put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..cdc.open_transaction import Change
from ..wire.errors import OperationalError
from .row_matching import Counts, group_equal_rows


@dataclass(frozen=True, slots=True)
class NetChanges:
    """Changes of one table, added up: a row that was both put in and taken out again is in neither part.

    Rows are told apart by all their columns, so an UPDATE that passes keys on from row to row comes out right: what a
    change takes away is the row as it was, not whatever has its key.

    Attributes
    ----------
    emptied
        Everything that was there before goes first.
    schema
        Of the table's columns.
    gone, times
        Rows that are to be taken out, each once, and how often it is.
    come
        Rows that are to be put in, as often as they stand here.
    """

    emptied: bool
    schema: pa.Schema
    removed: pa.Table
    times: Counts
    added: pa.Table

    @property
    def rows(self) -> int:
        """How many rows are to be taken out and put in."""
        total: int = self.added.num_rows + int(self.times.sum())
        return total


def net_changes(changes: Sequence[Change]) -> NetChanges:
    """Take the changes of one table, in their order, together. What came before a truncate does not count."""
    schema = _columns(changes[0])
    removed_batches: list[pa.RecordBatch] = []
    come: list[pa.RecordBatch] = []
    emptied = False
    for change in changes:
        if _columns(change) != schema:
            raise OperationalError(
                f"the columns of {change.table} were changed within a transaction: make its copy anew"
            )
        data = change.data
        operations = data.column("_op").cast(pa.string())
        emptying = np.flatnonzero(pc.equal(operations, "truncate").to_numpy(zero_copy_only=False))
        if len(emptying):  # anywhere: a batch of several transactions has their changes of a table in one
            removed_batches.clear()
            come.clear()
            emptied = True
            data = data.slice(int(emptying[-1]) + 1)
            operations = operations.slice(int(emptying[-1]) + 1)
        after = pa.RecordBatch.from_arrays(data.columns[2:-1], schema=schema)
        deleted = pc.equal(operations, "delete")
        updated = pc.equal(operations, "update")
        before = pa.RecordBatch.from_struct_array(data.column("_before").filter(updated))
        removed_batches += [after.filter(deleted), pa.RecordBatch.from_arrays(before.columns, schema=schema)]
        come.append(after.filter(pc.invert(deleted)))
    removed, times, added = _net_rows(
        pa.Table.from_batches(removed_batches, schema), pa.Table.from_batches(come, schema)
    )
    return NetChanges(emptied, schema, removed, times, added)


def _net_rows(gone: pa.Table, come: pa.Table) -> tuple[pa.Table, Counts, pa.Table]:
    """Rows that are gone on the whole, how often, and rows that have come."""
    if not gone.num_rows:
        return gone, np.zeros(0, np.int64), come
    rows = pa.concat_tables([gone, come])
    signs = np.ones(rows.num_rows, np.int64)
    signs[gone.num_rows :] = -1
    counts = group_equal_rows(rows, {"sum": pa.array(signs), "first": pa.array(np.arange(rows.num_rows))})
    sums, places = counts["sum_sum"].to_numpy(), counts["first_min"].to_numpy()
    order = np.argsort(places)
    sums, places = sums[order], places[order]
    added = _take_rows(rows, places[sums < 0])
    more = np.repeat(places[sums < -1], -sums[sums < -1] - 1)  # of rows that have come more than once
    if len(more):
        added = pa.concat_tables([added, rows.take(pa.array(more))])
    return _take_rows(rows, places[sums > 0]), sums[sums > 0], added


def _take_rows(rows: pa.Table, places: Counts) -> pa.Table:
    """The rows at these places, which rise."""
    mask = np.zeros(rows.num_rows, bool)
    mask[places] = True
    return rows.filter(pa.array(mask))


def _columns(change: Change) -> pa.Schema:
    return pa.schema(list(change.data.schema)[2:-1])
