"""What changes of one table come to: rows to be taken out and rows to be put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ..changes.open_transaction import Change
from ..wire.errors import OperationalError


@dataclass(frozen=True, slots=True)
class NetChanges:
    """Changes of one table, apart: rows that were, and rows that are, each as often as a change names it.

    Rows are told apart by all their columns, so an UPDATE that passes keys on from row to row comes out right: what a
    change takes away is the row as it was, not whatever has its key.
    """

    emptied: bool  # everything that was there before goes first
    schema: pa.Schema  # of the table's columns
    gone: pa.Table
    come: pa.Table


def net_changes(changes: Sequence[Change]) -> NetChanges:
    """Take the changes of one table, in their order, together. What came before a truncate does not count."""
    schema = _columns(changes[0])
    gone: list[pa.RecordBatch] = []
    come: list[pa.RecordBatch] = []
    emptied = False
    for change in changes:
        if _columns(change) != schema:
            raise OperationalError(
                f"the columns of {change.table} were changed within a transaction: make its copy anew"
            )
        operations = change.data.column("_op").cast(pa.string())
        if "truncate" in operations.to_pylist()[:1]:
            gone.clear()
            come.clear()
            emptied = True
            continue
        after = pa.RecordBatch.from_arrays(change.data.columns[2:-1], schema=schema)
        deleted = pc.equal(operations, "delete")
        updated = pc.equal(operations, "update")
        before = pa.RecordBatch.from_struct_array(change.data.column("_before").filter(updated))
        gone += [after.filter(deleted), pa.RecordBatch.from_arrays(before.columns, schema=schema)]
        come.append(after.filter(pc.invert(deleted)))
    return NetChanges(
        emptied, schema, pa.Table.from_batches(gone, schema), pa.Table.from_batches(come, schema)
    )


def _columns(change: Change) -> pa.Schema:
    return pa.schema([field.remove_metadata() for field in list(change.data.schema)[2:-1]])
