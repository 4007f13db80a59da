"""Tables and queries as Dask DataFrames: ``ddf = informix_arrow.dask.read(url, "orders", "order_num", 16)``.

Each part of :func:`informix_arrow.plan_partitions` is a partition, which any worker reads over its own connection.

Needs the extra ``[dask]``. The workers need informix-arrow, too.
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
    """Return a DataFrame of Arrow-backed columns, which is read when it is computed.

    Planning and reading the schema connect at once. Each part connects again on its worker with ``url``, which is sent
    there with its password. Each part sees the data as it is when the part is read. The arguments are those of
    :func:`informix_arrow.plan_partitions` and the options of :meth:`Connection.query`, and so are the errors.
    """
    request = (table_or_query, partition_on, partition_num, partition_range, by)
    with connect(url, autocommit=True) as connection:
        parts = plan_partitions(connection, *request, parameters=parameters)
        with connection.query(parts[0].sql, parts[0].parameters, **options) as result:
            meta = _frame(result.schema.empty_table())
    return dd.from_map(_DaskPartitionReader(url, options), parts, meta=meta, label="informix")


@dataclass(frozen=True)
class _DaskPartitionReader:
    """A reader of a part. Its representation hides the URL, because Dask prints its graphs."""

    url: str = field(repr=False)
    options: ReadKeywords

    def __call__(self, part: Partition) -> pd.DataFrame:
        with connect(self.url, autocommit=True, application="informix-arrow dask") as connection:
            return _frame(connection.read_arrow(part.sql, part.parameters, **self.options))


def _frame(table: Any) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)
