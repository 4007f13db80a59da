"""Tables and queries as Ray Datasets: ``ray.data.read_datasource(InformixDatasource(url, "orders", "order_num", 16))``.

Each part of :func:`informix_arrow.plan_partitions` is a read task with a connection of its own. Blocks are Arrow tables
with the types of :meth:`Connection.query`.

Needs the extra ``[ray]``. The workers need informix-arrow, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from .connection import connect
from .core.read_options import ReadKeywords
from .partition.partition import Partition
from .partition.planner import By
from .partition.result import plan_partitions
from .rows.parameters import Values

if TYPE_CHECKING:
    from typing_extensions import Unpack


class InformixDatasource(Datasource):  # type: ignore[misc]
    """A data source with the arguments of :func:`informix_arrow.plan_partitions` and options of
    :meth:`Connection.query`.

    Without ``partition_num``, Ray chooses the number of parts. Planning connects on the driver. Each task connects with
    ``url``, which is sent to it with its password. Each part sees the data as it is when the part is read.
    """

    def __init__(
        self,
        url: str,
        table_or_query: str,
        partition_on: str | None = None,
        partition_num: int | None = None,
        partition_range: tuple[Any, Any] | None = None,
        by: By = "auto",
        *,
        parameters: Values = (),
        **options: Unpack[ReadKeywords],
    ) -> None:
        super().__init__()
        self._url, self._source, self._number = url, table_or_query, partition_num
        self._column, self._range, self._by = partition_on, partition_range, by
        self._parameters, self._options = parameters, options

    def get_name(self) -> str:
        """Return the name of the data source."""
        return "Informix"

    def estimate_inmemory_data_size(self) -> int | None:
        """Return None: the size is unknown."""
        return None

    def get_read_tasks(self, parallelism: int, *others: object, **more: object) -> list[ReadTask]:
        """Return a read task for each part."""
        request = (self._source, self._column, self._number or max(parallelism, 1), self._range, self._by)
        with connect(self._url, autocommit=True) as connection:
            parts = plan_partitions(connection, *request, parameters=self._parameters)
            with connection.query(parts[0].sql, parts[0].parameters, **self._options) as result:
                schema = result.schema
        unknown = BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
        return [
            ReadTask(_RayPartitionReader(self._url, part, self._options), unknown, schema=schema)
            for part in parts
        ]


@dataclass(frozen=True)
class _RayPartitionReader:
    """A reader of a part. Its representation hides the URL."""

    url: str = field(repr=False)
    partition: Partition
    options: ReadKeywords

    def __call__(self) -> Iterator[pa.Table]:
        with (
            connect(self.url, autocommit=True, application="informix-arrow ray") as connection,
            connection.query(self.partition.sql, self.partition.parameters, **self.options) as result,
        ):
            yield result.schema.empty_table()  # a part without rows has a schema, too
            for batch in result.batches():
                yield pa.Table.from_batches([batch], result.schema)
