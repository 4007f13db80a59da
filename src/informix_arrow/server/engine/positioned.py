"""Cursors FOR UPDATE: one row at a time, locked and read when it is fetched, for UPDATE and DELETE WHERE CURRENT OF.

A real server sends the rows of such a cursor one by one, too, since a row in the client's buffer would be locked
before the program has come to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Protocol

from ..planning.plans import SelectPlan
from ..schema.catalog import TableInfo
from ..types.result_cast import cast_table
from .environment import Environment
from .isolation import Isolation, key_of
from .locks import Key, Mode
from .prepared import QueryResult
from .running import Runner, values_in
from .spool import Spool
from .transaction import Transaction


def _keys(spool: Spool) -> Iterator[Key]:
    """What identifies the rows, one after the other. No generator: who stops in the middle goes on later."""
    batches = iter(spool.take, None)
    return chain.from_iterable(
        zip(*(c.to_pylist() for c in batch.columns), strict=True) for batch in batches if batch is not None
    )


class Positioned(Protocol):
    """What WHERE CURRENT OF needs of a cursor.

    Attributes
    ----------
    info
        The table that its rows are of.
    current
        What identifies the current row; None where there is none, and after it was deleted.
    """

    info: TableInfo

    @property
    def current(self) -> Key | None: ...
    @current.setter
    def current(self, key: Key | None) -> None: ...


class UpdateRows:
    """The rows of one open cursor. Which rows it will come to is known when it is opened; a row that is gone when
    its turn comes, or does not fit the query any more, is passed over.

    Attributes
    ----------
    info
        The table that the rows are of.
    current
        The identity of the row fetched last, None before the first, after the last, once it was deleted, and when
        the transaction has ended in which it was locked.
    """

    def __init__(
        self,
        environment: Environment,
        transaction: Transaction,
        isolation: Isolation,
        runner: Runner,
        plan: SelectPlan,
        values: dict[str, object],
    ) -> None:
        self._environment = environment
        self._transaction = transaction
        self._isolation = isolation
        self._runner = runner
        self._plan = plan
        self._values = values
        (self.info,) = plan.tables
        self.columns = plan.columns
        self._begun_in = transaction.number
        self._current: Key | None = None
        self._spool = isolation.keys_for_update(plan, values)
        self._keys = _keys(self._spool)
        self._waiting: Key | None = None  # its turn has come, but it was locked
        names = key_of(self.info)
        rows = ", ".join(f"c{i}" for i in range(len(plan.columns)))
        match = " AND ".join(f"{name} = ${name}" for name in names)
        one = f"SELECT {rows} FROM ({plan.keyed}) WHERE {match}"
        self._text = plan.shown.replace(f"({plan.sql})", f"({one})") if plan.shown else one

    @property
    def current(self) -> Key | None:
        return self._current if self._begun_in == self._transaction.number else None

    @current.setter
    def current(self, key: Key | None) -> None:
        self._current = key
        self._begun_in = self._transaction.number

    def next(self) -> QueryResult | None:
        """The next row; None behind the last. SqlError -263 when another session has locked it: the next call comes
        to the same row. -398 when the transaction is over."""
        self._isolation.require_transaction()
        self.leave()
        for key in self._to_come():
            self._waiting = key
            self._isolation.lock_row(self.info, key, Mode.UPDATE)
            self._waiting = None
            row = self._row(key)
            if row is not None:
                self.current = key
                return row
            self._isolation.leave_row(self.info, key)
        return None

    def leave(self) -> None:
        """The current row is none any more; unlocked if it was not changed."""
        if self.current is not None:
            self._isolation.leave_row(self.info, self.current)
        self._current = None

    def close(self) -> None:
        """No further row is wanted; the current one is unlocked if it was not changed."""
        self.leave()
        self._keys, self._waiting = iter(()), None
        self._spool.close()

    def _to_come(self) -> Iterator[Key]:
        if self._waiting is not None:
            yield self._waiting
        yield from self._keys

    def _row(self, key: Key) -> QueryResult | None:
        plan, runner = self._plan, self._runner
        values: dict[str, Any] = {**self._values, **{f"k{i}": part for i, part in enumerate(key)}}
        found = self._transaction.read(lambda: runner.arrow(self._text, values_in(self._text, values) or {}))
        if not found.num_rows:
            return None
        return QueryResult(
            plan.columns, cast_table(found, plan.columns, self._environment.codec, plan.packed)
        )
