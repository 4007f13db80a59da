"""Fast loads of data frames through SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from sqlalchemy.engine import Connection

from ..operations.transaction import begin_without_autocommit
from .releases import await_


def arrow_insert(
    table: Any, connection: Connection, keys: Sequence[str], rows: Iterable[Sequence[Any]]
) -> int:
    """Insert rows for ``DataFrame.to_sql(method=arrow_insert)``, as Arrow data in the open transaction.

    ``frame.to_sql("orders", engine, if_exists="append", index=False, method=arrow_insert)``. A value that its column
    cannot hold exactly is refused, as by ``write_arrow``. The row number in the error counts from the start of a chunk
    (``chunksize=``).

    Parameters
    ----------
    table
        pandas' ``SQLTable``.
    connection
        The connection whose transaction the rows become a part of.
    keys, rows
        Names of columns, and their values row by row.

    Returns
    -------
    int
        The number of rows loaded.
    """
    driver: Any = connection.connection.driver_connection
    columns = [list(column) for column in zip(*rows, strict=True)]
    if not columns:
        return 0
    data = pa.table([pa.array(column, from_pandas=True) for column in columns], names=list(keys))
    preparer = connection.dialect.identifier_preparer
    name = preparer.quote(table.name)
    owned = name if table.schema is None else f"{preparer.quote_schema(table.schema)}.{name}"
    wait: Any = await_ if connection.dialect.is_async else _done
    # Begin SQLAlchemy's transaction, as the driver would with the first row. The load is a part of it.
    wait(driver._run(begin_without_autocommit(driver._session)))
    loaded: int = wait(driver.write_arrow(owned, data, columns=list(keys))).rows
    return loaded


def _done(result: Any) -> Any:
    return result
