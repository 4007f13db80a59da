"""The net effect of changes on one table: rows to be removed and rows to be added."""

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
    """The changes of one table, added up. A row that was both added and removed is in neither part.

    Rows are compared by all their columns. An UPDATE that passes keys on from row to row therefore works: a change
    removes the row as it was, and not the row that has its key now.

    Attributes
    ----------
    emptied
        Everything that was there before is removed first.
    schema
        The schema of the table's columns.
    removed, times
        Rows that are to be removed, each listed once, and how often each is removed.
    added
        Rows that are to be added, as often as they are listed.
    """

    emptied: bool
    schema: pa.Schema
    removed: pa.Table
    times: Counts
    added: pa.Table

    @property
    def rows(self) -> int:
        """The number of rows to be removed and added."""
        total: int = self.added.num_rows + int(self.times.sum())
        return total


def net_changes(changes: Sequence[Change]) -> NetChanges:
    """Add up the changes of one table, in their order. Changes before a truncate are dropped."""
    schema = _columns(changes[0])
    removed_batches: list[pa.RecordBatch] = []
    added_batches: list[pa.RecordBatch] = []
    emptied = False
    for change in changes:
        if _columns(change) != schema:
            raise OperationalError(
                f"The columns of {change.table} were changed within a transaction. Create its copy anew."
            )
        data = change.data
        operations = data.column("_op").cast(pa.string())
        emptying = np.flatnonzero(pc.equal(operations, "truncate").to_numpy(zero_copy_only=False))
        if len(emptying):  # anywhere: in a batch of several transactions, a table's changes stand together
            removed_batches.clear()
            added_batches.clear()
            emptied = True
            data = data.slice(int(emptying[-1]) + 1)
            operations = operations.slice(int(emptying[-1]) + 1)
        after = pa.RecordBatch.from_arrays(data.columns[2:-1], schema=schema)
        deleted = pc.equal(operations, "delete")
        updated = pc.equal(operations, "update")
        before = pa.RecordBatch.from_struct_array(data.column("_before").filter(updated))
        removed_batches += [
            after.filter(deleted),
            pa.RecordBatch.from_arrays(before.columns, schema=schema),
        ]
        added_batches.append(after.filter(pc.invert(deleted)))
    removed, times, added = _net_rows(
        pa.Table.from_batches(removed_batches, schema), pa.Table.from_batches(added_batches, schema)
    )
    return NetChanges(emptied, schema, removed, times, added)


def _net_rows(removed_rows: pa.Table, added_rows: pa.Table) -> tuple[pa.Table, Counts, pa.Table]:
    """Return the rows that are removed on balance, how often, and the rows that are added."""
    if not removed_rows.num_rows:
        return removed_rows, np.zeros(0, np.int64), added_rows
    rows = pa.concat_tables([removed_rows, added_rows])
    signs = np.ones(rows.num_rows, np.int64)
    signs[removed_rows.num_rows :] = -1
    counts = group_equal_rows(rows, {"sum": pa.array(signs), "first": pa.array(np.arange(rows.num_rows))})
    sums, positions = counts["sum_sum"].to_numpy(), counts["first_min"].to_numpy()
    order = np.argsort(positions)
    sums, positions = sums[order], positions[order]
    added = _take_rows(rows, positions[sums < 0])
    more = np.repeat(positions[sums < -1], -sums[sums < -1] - 1)  # rows that were added more than once
    if len(more):
        added = pa.concat_tables([added, rows.take(pa.array(more))])
    return _take_rows(rows, positions[sums > 0]), sums[sums > 0], added


def _take_rows(rows: pa.Table, positions: Counts) -> pa.Table:
    """Return the rows at these positions, which must be ascending."""
    mask = np.zeros(rows.num_rows, bool)
    mask[positions] = True
    return rows.filter(pa.array(mask))


def _columns(change: Change) -> pa.Schema:
    return pa.schema(list(change.data.schema)[2:-1])


def missing(table: str, rows: int, lacking: int) -> OperationalError:
    """Return the error for rows to be changed or removed that are not in the copy."""
    return OperationalError(
        f"{table} is not what the changes were made to. Of {rows:,} changed or deleted rows, {lacking:,} "
        "are missing from the target or differ there. Create the copy anew."
    )


def overtaken(where: str, name: str) -> OperationalError:
    """Return the error for two programs that apply changes to one target."""
    return OperationalError(
        f"{where}: Another program has applied changes ({name!r}) in the meantime. Only one program may do "
        "so at a time. Start the capture again with the token of the target."
    )
