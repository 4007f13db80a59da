"""ScrollCursor: rows of a result in any order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from .cursor import Cursor
from .cursor_base import nothing_to_fetch
from .exchange.fetch import ServerCursor
from .exchange.large_objects import object_columns
from .exchange.scroll import Scroller
from .exchange.steps import Exchange
from .large_object import open_objects
from .rows import NO_ROW, RowFactory, Rows

if TYPE_CHECKING:
    from .connection import Connection

T = TypeVar("T")


class ScrollCursor(Cursor):
    """A cursor whose result stays on the server, to be gone through in any direction.

    Made by ``connection.cursor(scrollable=True)``. The fetch methods go forward from the current row; :meth:`scroll`
    (PEP 249) and the methods that begin with ``fetch_`` and end in ``first``, ``last``, ``prior``, ``absolute`` and
    ``relative`` go anywhere. Rows are counted from 0. The server takes a scroll cursor's rows once and keeps them:
    later changes do not show, and FOR UPDATE is refused.

    Each row costs the server a message of its own, though up to 256 share one round trip: to read large results from
    beginning to end, use a cursor that is not scrollable.
    """

    def __init__(
        self,
        connection: Connection,
        name: str = "",
        *,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> None:
        super().__init__(connection, name, withhold=withhold, row_factory=row_factory, scrollable=True)
        self._scroller: Scroller | None = None

    @property
    def rownumber(self) -> int | None:
        """0-based number of the row that the next fetch gives; None without a result (PEP 249)."""
        return None if self._scroller is None else self._scroller.rownumber

    def scroll(self, value: int = 0, mode: str = "relative") -> None:
        """Let the next fetch give another row (PEP 249).

        Parameters
        ----------
        value
            How far from the row that would come next, or with ``"absolute"`` the number of the row, from 0.
        mode
            ``"relative"`` (default), ``"absolute"``, ``"first"`` or ``"last"``, which do not look at ``value``.

        Raises
        ------
        IndexError
            There is no such row. The position is what it was.
        """
        self._run(self._require_scroller().scroll(self._connection._session, value, mode))

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """The next ``size`` rows (``arraysize`` by default), fewer at the end."""
        scroller = self._require_scroller()
        wanted = self.arraysize if size is None else size
        return self._run(scroller.take(self._connection._session, wanted))

    def fetchall(self) -> list[Any]:
        """All rows behind the current one."""
        return self._run(self._require_scroller().take(self._connection._session, None))

    def fetch_first(self) -> Any:
        """The first row; None when there is none."""
        return self._row(0)

    def fetch_last(self) -> Any:
        """The last row; None when there is none."""
        return self._row(-1, from_end=True)

    def fetch_prior(self) -> Any:
        """The row before the current one; None when there is none: the position is before the first row then."""
        return self._row(self._require_scroller().at - 1)

    def fetch_relative(self, offset: int) -> Any:
        """The row so many behind (negative: before) the current one; None, as :meth:`fetch_absolute`, when there is
        none.
        """
        return self._row(self._require_scroller().at + offset)

    def fetch_absolute(self, number: int) -> Any:
        """The row of this number, from 0; negative numbers count from the end, -1 is the last row.

        None when there is none: the position is before the first or behind the last row then, at the end that was
        missed.
        """
        return self._row(number, from_end=number < 0)

    def _row(self, number: int, *, from_end: bool = False) -> Any:
        scroller = self._require_scroller()
        session = self._connection._session
        found = self._run(scroller.row(session, number, from_end=from_end))
        return found[0] if found else None

    def _run(self, exchange: Exchange[T]) -> T:
        scroller = self._require_scroller()
        at = scroller.at
        try:
            return self._connection._run(exchange, self._timeout)
        except BaseException:
            scroller.at = (
                at  # the exchange may have run to its end, when a time limit was over: its rows are lost
            )
            raise

    def _require_scroller(self) -> Scroller:
        self._require_open()
        if self._scroller is None:
            raise nothing_to_fetch()
        return self._scroller

    def _require_rows(self) -> ServerCursor:
        return self._require_scroller().cursor

    def _open(self, cursor: ServerCursor) -> None:
        connection, make = self._connection, self._make
        columns = object_columns(cursor.columns) if cursor.lazy else ()
        lazy = {column.index: partial(open_objects, connection, cursor, column) for column in columns}

        def rows_of(batch: pa.RecordBatch) -> list[Any]:
            rows = Rows(make, lazy)
            rows.add(batch)
            return rows.take()

        self._scroller = Scroller(cursor, rows_of)

    def _drop_result(self) -> None:
        scroller, self._scroller = self._scroller, None
        if scroller is not None and not scroller.cursor.released and not self._connection.closed:
            session = self._connection._session
            try:
                self._connection._run(scroller.cursor.close(session))
            except BaseException:
                session.orphans.append(scroller.cursor)  # closed before what comes next
                raise

    def _next_row(self) -> Any:
        found = self._run(self._require_scroller().take(self._connection._session, 1))
        return found[0] if found else NO_ROW

    def _rest(self) -> Iterator[pa.RecordBatch]:
        scroller, session = self._require_scroller(), self._connection._session
        while (batch := self._run(scroller.next_batch(session))) is not None:
            yield batch

    def __del__(self) -> None:
        # Nothing is sent in finalizers: the connection closes the cursor before its next exchange.
        scroller: Scroller | None = getattr(self, "_scroller", None)
        if scroller is not None and not scroller.cursor.released:
            self._connection._session.orphans.append(scroller.cursor)
