"""Batches of several transactions, in which neighbouring changes of one table become one record batch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from .assembler import Transaction
from .open_transaction import Change


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Several consecutive committed transactions.

    Attributes
    ----------
    batches
        Their changes in order, as in a :class:`Transaction`. A run of changes of one table is one batch, also across
        transactions.
    transactions
        Number of transactions.
    commit_lsn, commit_time
        Those of the last transaction.
    first_commit_lsn
        That of the first transaction.
    token
        The position after the last transaction, to continue a capture.
    """

    batches: Sequence[Change]
    transactions: int
    commit_lsn: int
    commit_time: dt.datetime
    token: str
    first_commit_lsn: int

    @property
    def rows(self) -> int:
        """Number of changes."""
        return sum(change.data.num_rows for change in self.batches)


def merge_transactions(transactions: Sequence[Transaction]) -> ChangeBatch:
    """Merge one or more transactions."""
    runs: list[tuple[str, list[pa.RecordBatch]]] = []
    for transaction in transactions:
        for change in transaction.batches:
            if runs and runs[-1][0] == change.table and runs[-1][1][0].schema == change.data.schema:
                runs[-1][1].append(change.data)
            else:
                runs.append((change.table, [change.data]))
    changes = [Change(table, batch) for table, batches in runs for batch in _concat_batches(batches)]
    last = transactions[-1]
    return ChangeBatch(
        changes, len(transactions), last.commit_lsn, last.commit_time, last.token, transactions[0].commit_lsn
    )


def _concat_batches(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Concatenate batches into one, or into several if one cannot hold them."""
    if len(batches) == 1:
        return batches
    joined: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined
