"""Cursors FOR UPDATE: one row at a time, locked and read when it is fetched, for UPDATE and DELETE WHERE CURRENT OF.

A real server also sends the rows of such a cursor one by one, since a row in the client's buffer would be locked before
the program has fetched it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Protocol

from ..catalog.catalog import TableInfo
from ..plan.plans import SelectPlan
from ..types.result_cast import cast_table
from .duck_executor import DuckExecutor, select_values
from .environment import SessionEnvironment
from .isolation import Isolation, key_column_names
from .locks import LockMode, RowKey
from .prepared_plan import QueryResult
from .spool import BatchSpool
from .transaction import SessionTransaction


def _iterate_keys(spool: BatchSpool) -> Iterator[RowKey]:
    """Return an iterator over the identities of the rows.

    It is not a generator, so that a caller whose loop was left by an exception can continue.
    """
    batches = iter(spool.pop, None)
    return chain.from_iterable(
        zip(*(c.to_pylist() for c in batch.columns), strict=True) for batch in batches if batch is not None
    )


class PositionedCursor(Protocol):
    """A cursor as WHERE CURRENT OF uses it.

    Attributes
    ----------
    info
        The table that its rows are of.
    current
        Identity of the current row; None if there is none, and after it was deleted.
    """

    info: TableInfo

    @property
    def current(self) -> RowKey | None: ...
    @current.setter
    def current(self, key: RowKey | None) -> None: ...


class UpdateCursorRows:
    """The rows of one open cursor.

    Its set of rows is determined when it is opened. A row is skipped if it is gone when it is fetched or no longer
    matches the query.

    Attributes
    ----------
    info
        The table that the rows are of.
    current
        Identity of the row fetched last. None before the first, after the last, after the row was deleted, and after
        the end of the transaction in which it was locked.
    """

    def __init__(
        self,
        environment: SessionEnvironment,
        transaction: SessionTransaction,
        isolation: Isolation,
        executor: DuckExecutor,
        plan: SelectPlan,
        values: dict[str, object],
    ) -> None:
        self._environment = environment
        self._transaction = transaction
        self._isolation = isolation
        self._executor = executor
        self._plan = plan
        self._values = values
        (self.info,) = plan.tables
        self.columns = plan.columns
        self._transaction_number = transaction.number
        self._current: RowKey | None = None
        self._spool = isolation.keys_for_update(plan, values)
        self._keys = _iterate_keys(self._spool)
        self._locked_key: RowKey | None = None  # the next row, if it was locked by another session
        names = key_column_names(self.info)
        rows = ", ".join(f"c{i}" for i in range(len(plan.columns)))
        match = " AND ".join(f"{name} = ${name}" for name in names)
        query = f"SELECT {rows} FROM ({plan.with_row_ids}) WHERE {match}"
        self._row_query = plan.client_sql.replace(f"({plan.sql})", f"({query})") if plan.client_sql else query

    @property
    def current(self) -> RowKey | None:
        return self._current if self._transaction_number == self._transaction.number else None

    @current.setter
    def current(self, key: RowKey | None) -> None:
        self._current = key
        self._transaction_number = self._transaction.number

    def next(self) -> QueryResult | None:
        """Return the next row; None after the last one.

        Raises SqlError -263 if another session has locked it: the next call tries the same row. -398 if the transaction
        is over.
        """
        self._isolation.require_transaction()
        self.release_current()
        locked = () if self._locked_key is None else (self._locked_key,)
        for key in chain(locked, self._keys):
            self._locked_key = key
            self._isolation.lock_row(self.info, key, LockMode.UPDATE)
            self._locked_key = None
            row = self._read_row(key)
            if row is not None:
                self.current = key
                return row
            self._isolation.release_row(self.info, key)
        return None

    def release_current(self) -> None:
        """Leave the current row; it is unlocked if it was not changed."""
        if self.current is not None:
            self._isolation.release_row(self.info, self.current)
        self._current = None

    def close(self) -> None:
        """Close the cursor; the current row is unlocked if it was not changed."""
        self.release_current()
        self._keys, self._locked_key = iter(()), None
        self._spool.close()

    def _read_row(self, key: RowKey) -> QueryResult | None:
        plan, executor = self._plan, self._executor
        values: dict[str, Any] = {**self._values, **{f"k{i}": part for i, part in enumerate(key)}}
        table = self._transaction.read(
            lambda: executor.query_table(self._row_query, select_values(self._row_query, values) or {})
        )
        if not table.num_rows:
            return None
        return QueryResult(
            plan.columns, cast_table(table, plan.columns, self._environment.codec, plan.packed_decimals)
        )
