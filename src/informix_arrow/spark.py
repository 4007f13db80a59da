"""A data source for Spark 4: ``spark.dataSource.register(InformixDataSource)``, ``spark.read.format("informix")``.

Data stays in Arrow batches throughout. Options that Spark's JDBC source also has have the same names:

* Login: ``url``, or ``host``, ``port``, ``user``, ``database`` and ``server``; ``password``.
* Reads: ``dbtable`` or ``query``, ``partitionColumn``, ``lowerBound``, ``upperBound``, ``numPartitions``,
  ``partitionBy`` (``auto``, ``range``, ``rowid``, ``fragment``, ``mod``), ``isolation``, ``lockWait``, ``lobs``,
  ``consistency``, ``pushDownPredicate``.
* Writes: ``dbtable``, ``writeId``, ``timeZone``.

Reads are divided by `informix_arrow.plan_partitions`: each row is read by one task.

Each task of a write loads a staging table. At the end one transaction moves all rows and records the id of the write,
so that a repeated write has no further effect. Streams do the same, with the stream's id and the number of each batch.

Needs the extra ``[spark]``. The workers need informix-arrow, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from .connection import Connection, connect
from .core.read_options import ReadKeywords
from .ingest.target_table import quote
from .partition import filters as conditions
from .partition import staged_load
from .partition.conditions import Condition
from .partition.partition import Partition
from .partition.result import plan_partitions
from .wire.code_sets import can_encode
from .wire.errors import Error, InterfaceError, ProgrammingError, Warning
from .wire.types import ColumnType

_LOGIN = ("url", "host", "port", "user", "password", "database", "server")
_OPTIONS = (
    "dbtable", "query", "partitioncolumn", "lowerbound", "upperbound", "numpartitions", "partitionby", "isolation",
    "lockwait", "lobs", "consistency", "pushdownpredicate", "writeid", "timezone",
)  # fmt: skip
_STREAM = "sql.streaming.queryId"  # where Spark passes tasks the id of a stream, which its checkpoint keeps
_NO_WRITE_ID = (
    "This append has no option writeId. If the job is run again after an error, its rows may be written twice. Set "
    "writeId to a name that a repeated job uses again, such as 'orders-2026-11-23'."
)
_BATCH_BYTES = 4 << 20  # the JVM holds several batches of each task


class InformixDataSource(DataSource):  # type: ignore[misc]
    """The data source ``spark.read.format("informix")``; see the module for its options."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "informix"

    def schema(self) -> StructType:
        """Return the columns of the table or query as Spark's types."""
        source = _SourceOptions(self.options)
        with source.connect() as connection, source.probe(connection) as result:
            return from_arrow_schema(_for_spark(result.schema), prefer_timestamp_ntz=True)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader."""
        source = _SourceOptions(self.options)
        return (FilteringReader if source.push_down else InformixReader)(source, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return the writer of a DataFrame."""
        source = _SourceOptions(self.options)
        if source.write_id is None and not overwrite:
            warnings.warn(_NO_WRITE_ID, Warning, stacklevel=2)
        return InformixWriter(source, schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> InformixStreamWriter:
        """Return the writer of a stream, batch by batch."""
        if overwrite:
            raise InterfaceError("A stream is written in the output mode append.")
        return InformixStreamWriter(_SourceOptions(self.options), schema)


class InformixPartition(InputPartition):  # type: ignore[misc]
    """One partition, as it is sent to a worker."""

    def __init__(self, part: Partition) -> None:
        super().__init__(part.number)
        self.partition = part


class InformixReader(DataSourceReader):  # type: ignore[misc]
    """A reader that plans on the driver and reads on the workers, with a connection for each task."""

    def __init__(self, source: _SourceOptions, schema: StructType) -> None:
        self._source_options = source
        self._schema = schema

    def partitions(self) -> list[InformixPartition]:
        """Return the partitions, one for each task."""
        with self._source_options.connect() as connection:
            return [InformixPartition(part) for part in self._source_options.plan(connection)]

    def read(self, partition: InformixPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, in the types of the schema."""
        part = partition.partition
        schema = to_arrow_schema(self._schema, timezone="UTC")
        with (
            self._source_options.connect() as connection,
            connection.query(part.sql, part.parameters, **self._source_options.options) as result,
        ):
            for batch in result.batches():
                yield _cast(batch, schema)


class FilteringReader(InformixReader):
    """A reader that lets the server filter rows. Spark applies all filters again.

    A filter that the server cannot express exactly lets more rows through, never fewer.

    It is off by default: Spark up to 4.3 caches the plan with the DataFrame that was loaded. If you use that DataFrame
    again with other filters, or with none, you still get the rows of the first filters (fixed by SPARK-58551).
    """

    def __init__(self, source: _SourceOptions, schema: StructType) -> None:
        super().__init__(source, schema)
        self._filters: list[Filter] = []
        self.pushFilters = _FilterPushdown(self._filters)

    def partitions(self) -> list[InformixPartition]:
        """Return the partitions, with a WHERE clause for the filters."""
        with self._source_options.connect() as connection:
            parts = self._source_options.plan(connection)
            more = self._conditions(connection) if self._filters else []
        return [InformixPartition(conditions.with_conditions(part, more)) for part in parts]

    def _conditions(self, connection: Connection) -> list[Condition]:
        with self._source_options.probe(connection) as result:
            types = conditions.by_name(result.columns)
            usual = from_arrow_schema(_for_spark(result.schema), prefer_timestamp_ntz=True)
        same = {
            each.name for each in usual if each in self._schema.fields
        }  # not if the user has set other types
        found = []
        for each in self._filters:
            name = each.attribute[0]
            if len(each.attribute) == 1 and name in same and name in types:
                condition = _condition(each, types[name], connection)
                if condition is not None:
                    found.append(condition)
        return found


class _FilterPushdown:
    """The descriptor of ``pushFilters``.

    If the session has not enabled it, Spark does not call the method but refuses readers that override it. This
    descriptor shows Spark the inherited method.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, kept: list[Filter]) -> None:
        self._accepted_filters = kept

    def __call__(self, filters: list[Filter]) -> list[Filter]:
        self._accepted_filters[:] = [
            each for each in filters if isinstance(each, (*_COMPARED, In, IsNull, IsNotNull))
        ]
        return filters


_COMPARED = {
    EqualTo: "=", EqualNullSafe: "=", LessThan: "<", LessThanOrEqual: "<=", GreaterThan: ">",
    GreaterThanOrEqual: ">=", StringStartsWith: "LIKE",
}  # fmt: skip


def _condition(filter: Any, type: ColumnType, connection: Connection) -> Condition | None:
    """Return the condition for the server; None if it cannot express the filter."""
    try:
        name = quote(filter.attribute[0], connection._parameters.delimident)
    except ProgrammingError:
        return None
    if isinstance(filter, IsNull | IsNotNull):
        return conditions.is_null_condition(type, name, wanted=isinstance(filter, IsNull))
    values = filter.value if isinstance(filter, In) else [filter.value]
    codec = connection._session.framing.encoding
    if not all(can_encode(value, codec) for value in values if isinstance(value, str)):
        return None
    if isinstance(filter, In):
        return conditions.in_list(type, name, values)
    if filter.value is None:
        return (
            conditions.is_null_condition(type, name, wanted=True)
            if isinstance(filter, EqualNullSafe)
            else None
        )
    operator = _COMPARED[filter.__class__]
    if operator == "LIKE":
        return conditions.starts_with(type, name, filter.value)
    return conditions.comparison(type, name, operator, filter.value)


class StagedMessage(WriterCommitMessage):  # type: ignore[misc]
    """The result of a task, and its stream."""

    def __init__(self, staged: staged_load.StagedPart, stream: str | None = None) -> None:
        self.staged = staged
        self.stream = stream


class InformixWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """A writer with a staging table for each task. One transaction moves all rows."""

    def __init__(self, source: _SourceOptions, schema: StructType, *, overwrite: bool = False) -> None:
        self._source_options = source
        self._schema = schema
        self._overwrite = overwrite
        self._table = source.table()
        with source.connect() as connection:
            self._load = staged_load.begin(connection, self._table)
        self._id = source.write_id or self._load

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedMessage:
        """Write the rows of a task into a staging table."""
        schema = to_arrow_schema(self._schema, timezone="UTC")
        options = (
            {} if self._source_options.time_zone is None else {"time_zone": self._source_options.time_zone}
        )
        batches = (_cast(batch, schema) for batch in iterator)
        task = TaskContext.get()
        stream = None if task is None else task.getLocalProperty(_STREAM)
        with self._source_options.connect() as connection:
            return StagedMessage(
                staged_load.load(connection, self._table, self._load, schema, batches, **options), stream
            )

    def commit(self, messages: list[StagedMessage | None]) -> None:
        """Move what all tasks have staged. If this id was written before, do nothing and warn."""
        if not self._commit_staged(messages, self._id):
            rows = sum(each.staged.rows for each in messages if each is not None)
            text = f"A write with the id {self._id!r} was made before. The {rows:,} rows of this one were not written."
            warnings.warn(text, Warning, stacklevel=2)

    def abort(self, messages: list[StagedMessage | None]) -> None:
        """Drop the staging tables, including those of tasks that died."""
        with self._source_options.connect() as connection:
            staged_load.drop(connection, self._load)

    def _commit_staged(self, messages: list[StagedMessage | None], id: str, by: str | None = None) -> bool:
        staged = [each.staged for each in messages if each is not None]
        with self._source_options.connect() as connection:
            return staged_load.commit_and_clean_up(
                connection, self._table, staged, id, by=by, overwrite=self._overwrite
            )


class InformixStreamWriter(DataSourceStreamArrowWriter):  # type: ignore[misc]
    """A writer that writes each batch of a stream exactly once."""

    def __init__(self, source: _SourceOptions, schema: StructType) -> None:
        if source.write_id is None:
            raise InterfaceError(
                "A stream needs the option writeId, a name that stays the same when it is restarted. The "
                "name and the number of a batch identify batches that were already written."
            )
        self._writer = InformixWriter(source, schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedMessage:
        """Write the rows of a task into a staging table."""
        return self._writer.write(iterator)

    def commit(self, messages: list[StagedMessage | None], batchId: int) -> None:
        """Move a batch, unless that was done before. Raises an error if another checkpoint has written a batch of this
        number.
        """
        streams = {each.stream for each in messages if each is not None and each.stream}
        by = f"{self._writer._id}@{streams.pop()}" if len(streams) == 1 else None
        try:
            self._writer._commit_staged(messages, f"{self._writer._id}:{batchId}", by)
        except BaseException:
            with suppress(Error):  # even if Spark does not call abort()
                self.abort(messages, batchId)
            raise

    def abort(self, messages: list[StagedMessage | None], batchId: int) -> None:
        """Drop the staging tables of a batch, also of tasks that died, unless all tasks died."""
        # The load is not this writer's: Spark makes another writer for each commit.
        loads = {each.staged.load for each in messages if each is not None}
        with self._writer._source_options.connect() as connection:
            for load in loads:
                staged_load.drop(connection, load)


class _SourceOptions:
    """The checked options. It holds no connection, as it is sent to the workers."""

    def __init__(self, options: Mapping[str, str]) -> None:
        lowercased = {name.lower(): value for name, value in dict(options).items()}
        lowercased.pop("checkpointlocation", None)  # of a stream: Spark itself uses it
        unknown = sorted(lowercased.keys() - {*_LOGIN, *_OPTIONS})
        if unknown:
            raise InterfaceError(
                f"Unknown options: {', '.join(unknown)}. Use {', '.join((*_LOGIN, *_OPTIONS))}."
            )
        table, query = lowercased.get("dbtable"), lowercased.get("query")
        if (table is None) == (query is None):
            raise InterfaceError("Set either the option dbtable or the option query.")
        self._table = table
        self.source: str = lowercased["dbtable" if query is None else "query"]
        self.write_id = lowercased.get("writeid")
        self.time_zone = lowercased.get("timezone")
        self._login = {name: lowercased[name] for name in _LOGIN if name in lowercased}
        self._column = lowercased.get("partitioncolumn")
        self._by = lowercased.get("partitionby", "auto")
        self._number = _number("numPartitions", lowercased.get("numpartitions"))
        bounds = lowercased.get("lowerbound"), lowercased.get("upperbound")
        if (bounds[0] is None) != (bounds[1] is None):
            raise InterfaceError("lowerBound and upperBound must be given together.")
        self._bounds = None if bounds[0] is None else bounds
        self.options: ReadKeywords = {"batch_bytes": _BATCH_BYTES}
        if "isolation" in lowercased:
            self.options["isolation"] = lowercased["isolation"]
        consistency = lowercased.get("consistency", "none")
        if consistency == "last committed":
            if lowercased.get("isolation", consistency) != consistency:
                raise InterfaceError("consistency='last committed' sets the isolation. Leave isolation out.")
            self.options["isolation"] = consistency
        elif consistency == "lock":
            raise InterfaceError(
                "consistency='lock' needs a connection that stays open until the last task is done, which "
                "a data source in Python does not have. Lock the table yourself, or read with 'last "
                "committed'."
            )
        elif consistency != "none":
            raise InterfaceError(f"consistency must be 'none' or 'last committed', got {consistency!r}.")
        push_down = lowercased.get("pushdownpredicate", "false").lower()
        if push_down not in ("true", "false"):
            raise InterfaceError(f"pushDownPredicate must be true or false, got {push_down!r}.")
        self.push_down = push_down == "true"
        wait = _number("lockWait", lowercased.get("lockwait"))
        if wait is not None:
            self.options["lock_wait"] = wait
        if "lobs" in lowercased:
            self.options["lobs"] = lowercased["lobs"]  # type: ignore[typeddict-item]  # checked where it is read

    def connect(self) -> Connection:
        """Open a connection."""
        login: Any = self._login
        return connect(**login, autocommit=True, application="informix-arrow spark")

    def table(self) -> str:
        """The table that is written."""
        if self._table is None:
            raise InterfaceError("A query cannot be written to. Name the table with the option dbtable.")
        return self._table

    def plan(self, connection: Connection) -> list[Partition]:
        """Return the partitions: one, unless the options ask for more."""
        parts = self._column, self._number, self._bounds
        if parts == (None, None, None) and self._by == "auto":
            return plan_partitions(connection, self.source, partition_num=1)
        by: Any = self._by
        return plan_partitions(connection, self.source, *parts, by)

    def probe(self, connection: Connection) -> Any:
        """Open a result for its schema."""
        part = plan_partitions(connection, self.source, partition_num=1)[0]
        return connection.query(part.sql, **self.options)


def _number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise InterfaceError(f"{name} must be a whole number, got {text!r}.") from None


def _for_spark(schema: pa.Schema) -> pa.Schema:
    """Return the schema in types that Spark supports."""
    return pa.schema([each.with_type(_type(each.type)) for each in schema])


def _type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_time(kind):
        return pa.time64("us")
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    return kind


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns that Spark expects, by name. Spark checks only the first batch, but every one must fit."""
    missing = [name for name in schema.names if name not in batch.schema.names]
    if missing:
        present = ", ".join(batch.schema.names)
        raise InterfaceError(f"The schema requests {', '.join(missing)}, but the columns are {present}.")
    columns = [batch.column(field.name).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
