"""Reading and loading by one call, over a connection or a URL to connect to for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .bulk.api import WriteKeywords
from .bulk.report import WriteReport
from .connection import Connection, connect
from .front.reading import ReadKeywords
from .shaping.parameters import Values

if TYPE_CHECKING:
    from typing_extensions import Unpack


def read_arrow(
    sql: str,
    connection: Connection | str,
    parameters: Values = (),
    *,
    timeout: float | None = None,
    **options: Unpack[ReadKeywords],
) -> pa.Table:
    """Run a query and read all its rows into one table: ``read_arrow("SELECT ...", "informix://...")``.

    ``connection`` is an open :class:`Connection`, or a URL to connect to for this query alone. Parameters,
    options and errors are those of :meth:`Connection.query`.
    """
    if isinstance(connection, Connection):
        return connection.read_arrow(sql, parameters, timeout=timeout, **options)
    with connect(connection, autocommit=True) as own:
        return own.read_arrow(sql, parameters, timeout=timeout, **options)


def write_arrow(
    table: str,
    data: Any,
    connection: Connection | str,
    *,
    timeout: float | None = None,
    **options: Unpack[WriteKeywords],
) -> WriteReport:
    """Load Arrow data into a table: ``write_arrow("orders", frame, "informix://...")``.

    ``connection`` is an open :class:`Connection`, or a URL to connect to for this load alone. Options and errors
    are those of :meth:`Connection.write_arrow`.
    """
    if isinstance(connection, Connection):
        return connection.write_arrow(table, data, timeout=timeout, **options)
    with connect(connection, autocommit=True) as own:
        return own.write_arrow(table, data, timeout=timeout, **options)
