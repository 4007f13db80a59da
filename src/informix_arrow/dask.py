"""Tables and queries as Dask DataFrames: ``ddf = informix_arrow.dask.read(url, "orders", "order_num", 16)``.

Each part of :func:`informix_arrow.plan_partitions` is a partition, read by a connection of its own on whichever
worker.

Extra ``[dask]``; the workers need informix-arrow, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
import pandas as pd  # type: ignore[import-untyped]

from .connection import connect
from .core.read_options import ReadKeywords
from .partition.partition import Partition
from .partition.planner import By
from .partition.result import plan_partitions
from .rows.parameters import Values

if TYPE_CHECKING:
    from typing_extensions import Unpack


def read(
    url: str,
    table_or_query: str,
    partition_on: str | None = None,
    partition_num: int | None = None,
    partition_range: tuple[Any, Any] | None = None,
    by: By = "auto",
    *,
    parameters: Values = (),
    **options: Unpack[ReadKeywords],
) -> dd.DataFrame:
    """A DataFrame of Arrow-backed columns, which is read when it is computed.

    Planning, and reading the schema, connects here and now; each part connects again where it is read, by ``url``,
    which travels there with its password. What parts see is a matter of when they are read. The arguments are those of
    :func:`informix_arrow.plan_partitions` and the options of :meth:`Connection.query`; so are the errors.
    """
    asked = (table_or_query, partition_on, partition_num, partition_range, by)
    with connect(url, autocommit=True) as connection:
        parts = plan_partitions(connection, *asked, parameters=parameters)
        with connection.query(parts[0].sql, parts[0].parameters, **options) as result:
            meta = _frame(result.schema.empty_table())
    return dd.from_map(_DaskPartitionReader(url, options), parts, meta=meta, label="informix")


@dataclass(frozen=True)
class _DaskPartitionReader:
    """Reads a part; Dask prints its graphs, and the URL is not to be seen there."""

    url: str = field(repr=False)
    options: ReadKeywords

    def __call__(self, part: Partition) -> pd.DataFrame:
        with connect(self.url, autocommit=True, application="informix-arrow dask") as connection:
            return _frame(connection.read_arrow(part.sql, part.parameters, **self.options))


def _frame(table: Any) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)
