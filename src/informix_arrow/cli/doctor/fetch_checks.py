"""Checks of fetches that are sent ahead of their replies: what reading over a distance relies on."""

from __future__ import annotations

import pyarrow as pa

from ...operations.io_steps import Exchange
from ...operations.request_reply import Reply, pipeline, request
from ...operations.session import Session
from ...wire import messages as m
from .harness import CheckSkipped, Harness, ServerDiffers, check, expect_equal

_ROWS = 20_000
_FETCH_BYTES = 4096
_FETCHES = 200  # more than all rows need, at 12 bytes each
_SILENCE = 60.0  # seconds: a server that leaves out a reply would be waited for without end
_BAD_ROW = 15_000  # whose division by zero is the error in the middle of a result


@check(
    "fetches ahead",
    f"{_FETCHES} pipelined fetches: order, end of the rows, after an error, and in an abandoned result",
    "SQLI 7",
    "SQLI 11",
)
def _(bench: Harness) -> str:
    table = _numbers(bench)
    with bench.connect(read_timeout=_SILENCE) as connection:
        sql = f"SELECT a FROM {table} ORDER BY a"
        replies = connection._run(_fetch_ahead(connection._session, sql))
        end = _end_of(replies)
        sql = f"SELECT a, 1 / (a - {_BAD_ROW}) x FROM {table}"
        after = _after_error(connection._run(_fetch_ahead(connection._session, sql)))
        connection.ping()
    for window, rows in ((0, _ROWS // 20), (64 << 20, _ROWS)):
        with bench.connect(fetch_buffer_size=_FETCH_BYTES, fetch_window_bytes=window) as connection:
            sql = f"SELECT a FROM {table} WHERE a < {rows} ORDER BY a"
            with connection.query(sql, batch_bytes=4096) as result:
                first = next(iter(result.batches())).column(0).to_pylist()
            expect_equal(first, list(range(len(first))), "the first rows of a result that was left")
            whole = connection.read_arrow(sql).column(0).to_pylist()
            expect_equal(whole == list(range(rows)), True, f"all rows with {window:,} bytes ahead")
    return f"in order; behind the end: {end}; after an error: {after}"


def _numbers(bench: Harness) -> str:
    """Create a table with the numbers from 0 on, in no order that a reader could rely on."""
    table = bench.table("a INTEGER, tail CHAR(1)")
    data = pa.table({"a": pa.array(range(_ROWS), pa.int32()), "tail": ["x"] * _ROWS})
    bench.connection.write_arrow(table, data)
    return table


def _fetch_ahead(session: Session, sql: str) -> Exchange[list[Reply]]:
    """Open a query's cursor and send all fetches with that; return the reply to each. Closes the cursor."""
    prepared = yield from request(session, (m.Prepare(0, sql), m.NDescribe(), m.WantDone()))
    prepared.check(sql)
    assert prepared.describe is not None
    statement = m.Id(prepared.describe.statement_id)
    fetch = (statement, m.Fetch(_FETCH_BYTES))
    opening = (statement, m.CursorName(session.next_cursor_name()), m.Open(), *fetch)
    replies = yield from pipeline(session, [opening, *[fetch] * (_FETCHES - 1)])
    closing = yield from pipeline(session, [(statement, m.Close()), (statement, m.Release())])
    for reply in closing:
        reply.check(sql)
    return replies


def _end_of(replies: list[Reply]) -> str:
    """Check the replies of a whole result; return what came behind its last row."""
    numbers: list[int] = []
    last = len(replies)
    for position, reply in enumerate(replies):
        if position > last and reply.tuples:
            raise AssertionError(f"{len(reply.tuples)} rows arrived after the end of the rows")
        if position <= last:
            reply.check()
        numbers += [int.from_bytes(payload[:4], "big", signed=True) for payload in reply.tuples]
        if position < last and (reply.done is not None or not reply.tuples):
            last = position
    expect_equal(numbers == list(range(_ROWS)), True, "each row once, in order")
    return _kinds(replies[last + 1 :])


def _after_error(replies: list[Reply]) -> str:
    """Return what came after the reply with the error. Rows there are unexpected, but the client drops them."""
    failed = next((number for number, reply in enumerate(replies) if reply.error is not None), None)
    if failed is None:
        raise CheckSkipped("a division by zero is no error")
    behind = replies[failed + 1 :]
    rows = sum(len(reply.tuples) for reply in behind)
    if rows:
        raise ServerDiffers(f"{rows:,} rows come after an error")
    return _kinds(behind)


def _kinds(replies: list[Reply]) -> str:
    """Return what the replies consist of, such as ``DONE`` or ``-259``."""
    kinds = dict.fromkeys(
        str(reply.error.sqlcode)
        if reply.error is not None
        else "DONE"
        if reply.done is not None
        else "no row"
        for reply in replies
    )
    return ", ".join(kinds) or "nothing"
