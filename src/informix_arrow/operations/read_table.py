"""Run a query and return its rows as a table, in one operation."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from .batches import Batches
from .execute import execute_statement
from .fetch import ReadOptions, ServerCursor
from .io_steps import Exchange
from .session import Session


def query_table(
    session: Session, sql: str, values: Sequence[object] = (), options: ReadOptions | None = None
) -> Exchange[pa.Table]:
    """Return all rows of a query, with one value for each ``?``. For results that are known to be small."""
    cursor = yield from execute_statement(session, sql, values, options or ReadOptions(), need_rows=True)
    assert isinstance(cursor, ServerCursor)
    batches = Batches(cursor)
    table_batches = []
    try:
        while (batch := (yield from batches.next(session))) is not None:
            table_batches.append(batch)
    except BaseException:
        batches.abandon(session)
        raise
    return pa.Table.from_batches(table_batches, batches.schema)
