"""Functions that open connections themselves: ``partition_read``, and in the blocking module also ``read_arrow`` and
``write_arrow``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.async_flag import ASYNC
from ..core.awaitable_context import AwaitableContext
from ..core.ordered_merge import DEFAULT_BUDGET
from ..core.read_options import ReadKeywords
from ..dsn import resolve
from ..partition.planner import By, partition_request
from ..rows.parameters import Values
from .connection import AsyncConnection, open_base_connection
from .partition_result import AsyncPartitionedResult, Consistency, inherited_read_options, read_parts

if not ASYNC:
    import pyarrow as pa

    from ..ingest.arguments import WriteKeywords
    from ..ingest.report import WriteReport
    from .connection import connect

if TYPE_CHECKING:
    from typing_extensions import Unpack


def partition_read(
    connection: AsyncConnection | str,
    table_or_query: str,
    partition_on: str | None = None,
    partition_num: int | None = None,
    partition_range: tuple[Any, Any] | None = None,
    by: By = "auto",
    *,
    parameters: Values = (),
    connections: int | None = None,
    ordered: bool = False,
    memory_budget: int = DEFAULT_BUDGET,
    consistency: Consistency = "none",
    timeout: float | None = None,
    **options: Unpack[ReadKeywords],
) -> AwaitableContext[AsyncPartitionedResult]:
    """Read a table or a query over several connections at the same time, and stream its rows::

        async with partition_read("informix://u:p@db1:9088/stores?server=ol_x", "orders", "order_num", 8) as result:
            async for batch in result.batches():
                ...

    In asyncio also ``result = await partition_read(...)``. Wrong arguments raise at once, before the ``await``.

    Parameters
    ----------
    connection
        A URL, in any form that ``connect`` takes, or an open connection, whose settings are used to open others. These
        do not see its uncommitted changes or its TEMP tables.
    table_or_query, partition_on, partition_num, partition_range, by, parameters
        As for :func:`plan_partitions`.
    connections
        Number of connections that read. By default one for each part, 8 at most.
    ordered
        True: the batches of each part follow those of the part before. False (default): in the order of their arrival.
    memory_budget
        Bytes for everything that was read but not taken yet, 256 MiB by default, at least 1 MiB for each connection:
        fetch replies, batches being built, and waiting batches. ``batch_bytes`` and the fetch buffers of the
        connections are reduced to fit it. A row that is larger than its share is still read.
    consistency
        What the parts see of changes that others make during the read. ``"none"`` (default): each part sees what is
        committed when it is read, so a row whose key changes may be read twice or not at all. ``"last committed"``: the
        same, but without waiting for locks. ``"lock"``: one more connection holds ``LOCK TABLE .. IN SHARE MODE`` from
        before the plan until all parts are read. All parts then see one state. Writers wait or fail meanwhile.
    timeout
        Seconds for planning, and for each part: for its query, and then for each of its batches.
    options
        As for :meth:`AsyncConnection.query`.

    Returns
    -------
    AsyncPartitionedResult
        Single use. Its schema is known at once.

    Raises
    ------
    InterfaceError
        An argument is wrong. Nothing was read.
    Error
        An error of planning, connecting, locking or the first part's query.
    """
    request = partition_request(
        table_or_query,
        parameters,
        partition_on=partition_on,
        partition_num=partition_num,
        partition_range=partition_range,
        by=by,
    )
    if isinstance(connection, AsyncConnection):
        connection._require_open()
        settings, options = connection._reconnect_parameters(), inherited_read_options(connection, options)
    else:
        settings = resolve(connection, autocommit=True)
    begin = partial(
        read_parts,
        open_base_connection,
        settings,
        request,
        connections=connections,
        ordered=ordered,
        memory_budget=memory_budget,
        consistency=consistency,
        timeout=timeout,
        options=options,
    )
    if ASYNC:
        return AwaitableContext(begin)
    else:
        return begin()


if not ASYNC:

    def read_arrow(
        sql: str,
        connection: AsyncConnection | str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        **options: Unpack[ReadKeywords],
    ) -> pa.Table:
        """Run a query and read all its rows into one table: ``read_arrow("SELECT ...", "informix://...")``.

        ``connection`` is an open :class:`AsyncConnection`, or a URL to connect to for this query only. Parameters,
        options and errors are those of :meth:`AsyncConnection.query`.
        """
        if isinstance(connection, AsyncConnection):
            return connection.read_arrow(sql, parameters, timeout=timeout, **options)
        with connect(connection, autocommit=True) as new:
            return new.read_arrow(sql, parameters, timeout=timeout, **options)

    def write_arrow(
        table: str,
        data: Any,
        connection: AsyncConnection | str,
        *,
        timeout: float | None = None,
        **options: Unpack[WriteKeywords],
    ) -> WriteReport:
        """Load Arrow data into a table: ``write_arrow("orders", frame, "informix://...")``.

        ``connection`` is an open :class:`AsyncConnection`, or a URL to connect to for this load only. Options and
        errors are those of :meth:`AsyncConnection.write_arrow`.
        """
        if isinstance(connection, AsyncConnection):
            return connection.write_arrow(table, data, timeout=timeout, **options)
        with connect(connection, autocommit=True) as new:
            return new.write_arrow(table, data, timeout=timeout, **options)
