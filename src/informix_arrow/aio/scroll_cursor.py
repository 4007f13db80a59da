"""AsyncScrollCursor: the rows of a result in any order, for asyncio."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from ..core.async_flag import ASYNC
from ..core.connection_protocol import AsyncConnectionT
from ..core.cursor_base import no_result_error
from ..operations.fetch import ServerCursor
from ..operations.io_steps import Exchange
from ..operations.result_description import object_columns
from ..operations.scroll import Scroller
from ..rows.python_rows import NO_ROW, OpenLazily, RowBuffer, RowFactory
from .cursor import AsyncCursor

if not ASYNC:
    from ..large_object import open_objects

T = TypeVar("T")


class AsyncScrollCursor(AsyncCursor[AsyncConnectionT]):
    """A cursor whose result stays on the server and can be read in any direction.

    Made by ``connection.cursor(scrollable=True)``. The fetch methods move forward from the current row. :meth:`scroll`
    (PEP 249) and the methods ``fetch_first``, ``fetch_last``, ``fetch_prior``, ``fetch_absolute`` and
    ``fetch_relative`` go to any row. Rows are numbered from 0. The server reads a scroll cursor's rows once and keeps
    them: later changes are not visible, and FOR UPDATE is refused. After an error the position is unchanged.

    The server sends each row in a message of its own. Up to 256 rows share one round trip. To read large results from
    beginning to end, use a cursor that is not scrollable.
    """

    def __init__(
        self,
        connection: AsyncConnectionT,
        name: str = "",
        *,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> None:
        super().__init__(connection, name, withhold=withhold, row_factory=row_factory, scrollable=True)
        self._scroller: Scroller | None = None

    @property
    def rownumber(self) -> int | None:
        """0-based number of the row that the next fetch returns, or None without a result (PEP 249)."""
        return None if self._scroller is None else self._scroller.rownumber

    async def scroll(self, value: int = 0, mode: str = "relative") -> None:
        """Move the position, so that the next fetch returns another row (PEP 249).

        Parameters
        ----------
        value
            The distance from the row that would come next, or with ``"absolute"`` the number of the row, from 0.
        mode
            ``"relative"`` (default), ``"absolute"``, ``"first"`` or ``"last"``. The last two ignore ``value``.

        Raises
        ------
        IndexError
            There is no such row. The position is unchanged.
        """
        await self._run(self._require_scroller().scroll(self._connection._session, value, mode))

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return the next ``size`` rows (``arraysize`` by default), or fewer at the end.

        Raises ``InterfaceError`` if ``size`` is not a valid number.
        """
        scroller = self._require_scroller()
        return await self._run(scroller.fetch(self._connection._session, self._number_of_rows(size)))

    async def fetchall(self) -> list[Any]:
        """Return all rows after the current one."""
        return await self._run(self._require_scroller().fetch(self._connection._session, None))

    async def fetch_first(self) -> Any:
        """Return the first row, or None if there is none."""
        return await self._row(0)

    async def fetch_last(self) -> Any:
        """Return the last row, or None if there is none."""
        return await self._row(-1, from_end=True)

    async def fetch_prior(self) -> Any:
        """Return the row before the current one, or None if there is none.

        If there is none, the position is then before the first row.
        """
        return await self._row(self._require_scroller().position - 1)

    async def fetch_relative(self, offset: int) -> Any:
        """Return the row at this distance after (negative: before) the current one.

        Returns None if there is none, like :meth:`fetch_absolute`.
        """
        return await self._row(self._require_scroller().position + offset)

    async def fetch_absolute(self, number: int) -> Any:
        """Return the row with this number, from 0. Negative numbers count from the end: -1 is the last row.

        Returns None if there is none. The position is then before the first row or after the last one, depending on the
        end that was passed.
        """
        return await self._row(number, from_end=number < 0)

    if ASYNC:

        async def fetch_arrow_table(self) -> pa.Table:
            """Return the rows after the current one as a ``pyarrow.Table``."""
            scroller, session = self._require_scroller(), self._connection._session
            batches = []
            while (batch := await self._run(scroller.next_batch(session))) is not None:
                batches.append(batch)
            return pa.Table.from_batches(batches, scroller.cursor.plan.schema)
    else:

        def _rest(self) -> Iterator[pa.RecordBatch]:
            scroller, session = self._require_scroller(), self._connection._session
            while (batch := self._run(scroller.next_batch(session))) is not None:
                yield batch

    async def _row(self, number: int, *, from_end: bool = False) -> Any:
        scroller = self._require_scroller()
        rows = await self._run(scroller.fetch_row(self._connection._session, number, from_end=from_end))
        return rows[0] if rows else None

    async def _run(self, operation: Exchange[T]) -> T:
        scroller = self._require_scroller()
        position = scroller.position
        try:
            return await self._connection._run(operation, self._timeout)
        except BaseException:
            # After a timeout or a cancellation the operation may have run to its end, and its rows are lost.
            scroller.position = position
            raise

    def _require_scroller(self) -> Scroller:
        self._require_open()
        if self._scroller is None:
            raise no_result_error()
        return self._scroller

    def _require_rows(self) -> ServerCursor:
        return self._require_scroller().cursor

    def _open_result(self, cursor: ServerCursor) -> None:
        if ASYNC:
            make, lazy = self._make_row, self._decimal_converters(cursor)
        else:
            connection, make = self._connection, self._make_row
            columns = object_columns(cursor.columns) if cursor.lazy else ()
            opened = {column.index: partial(open_objects, connection, cursor, column) for column in columns}
            lazy: dict[int, OpenLazily] = {**opened, **self._decimal_converters(cursor)}

        def rows_of(batch: pa.RecordBatch) -> list[Any]:
            rows = RowBuffer(make, lazy)
            rows.add(batch)
            return rows.fetch()

        self._scroller = Scroller(cursor, rows_of)

    async def _drop_result(self) -> None:
        scroller, self._scroller = self._scroller, None
        if scroller is not None and not scroller.cursor.released and not self._connection.closed:
            session = self._connection._session
            try:
                await self._connection._run(scroller.cursor.close(session))
            except BaseException:
                session.orphans.append(scroller.cursor)  # closed before the next request
                raise

    def _abandon(self) -> None:
        scroller, self._scroller = self._scroller, None
        if scroller is not None and not scroller.cursor.released:
            self._connection._session.orphans.append(scroller.cursor)

    async def _next_row(self) -> Any:
        rows = await self._run(self._require_scroller().fetch(self._connection._session, 1))
        return rows[0] if rows else NO_ROW

    def __del__(self) -> None:
        # Finalizers send nothing: the connection closes the cursor before its next request.
        if getattr(self, "_scroller", None) is not None:
            self._abandon()
