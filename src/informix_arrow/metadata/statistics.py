"""ADBC's GetStatistics: row counts and distinct counts, as the catalogue has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa

from ..operations.io_steps import Exchange
from ..operations.session import Session
from . import queries as q
from .adbc import catalog_names, like_matcher
from .schemas import STATISTIC, STATISTIC_NAMES, STATISTIC_VALUE, STATISTICS, STATISTICS_OF_SCHEMA
from .table_names import catalogue, check_texts

#: ADBC's keys of the statistics that the catalogue has.
DISTINCT_COUNT, ROW_COUNT = 1, 6
_FLOAT64 = 2  # the type code of float64 in the union of values


class Statistic(NamedTuple):
    """One statistic of a table, or of a column. Its value is an estimate."""

    table: str
    column: str | None
    key: int
    value: float


@q.reads_catalogue
def get_statistics(
    session: Session,
    *,
    catalog_filter: str | None = None,
    db_schema_filter: str | None = None,
    table_name_filter: str | None = None,
) -> Exchange[pa.RecordBatchReader]:
    """Read the statistics of tables: :meth:`Metadata.adbc_get_statistics`."""
    check_texts(
        catalog_filter=catalog_filter,
        db_schema_filter=db_schema_filter,
        table_name_filter=table_name_filter,
    )
    names = yield from catalog_names(session)
    matches = like_matcher(catalog_filter)
    catalogs: dict[str, Mapping[str, Sequence[Statistic]]] = {}
    for name in filter(matches, names):
        # Other databases are read only if the filter names them: reading needs a privilege in each of them.
        if name == session.database or catalog_filter is not None:
            database = "" if name == session.database else name
            catalogs[name] = yield from _statistics(session, database, db_schema_filter, table_name_filter)
    return pa.RecordBatchReader.from_batches(STATISTICS, [statistics_batch(catalogs)])


def _statistics(
    session: Session, database: str, owner_filter: str | None, name_filter: str | None
) -> Exchange[dict[str, list[Statistic]]]:
    """Return the statistics of a database's tables by owner."""
    owner_matches, name_matches = like_matcher(owner_filter), like_matcher(name_filter)
    tables = {
        table.tabid: table
        for table in (yield from q.tables(session, database, "t.tabtype = 'T'"))
        if table.type == "TABLE" and owner_matches(table.owner) and name_matches(table.name)
    }
    rows = yield from q.rows_of(
        session,
        f"SELECT i.tabid, i.part1, i.nunique FROM {catalogue(database)}sysindexes i "
        "WHERE i.tabid >= ? ORDER BY i.tabid, i.part1",
        q.FIRST_USER_TABLE,
    )
    distinct: dict[int, dict[int, float]] = {}
    for tabid, part, count in rows:
        if tabid in tables and part and count:  # several indexes may begin with the same column
            distinct.setdefault(tabid, {})[abs(int(part))] = float(count)
    names = yield from q.column_names(session, database, distinct)
    found: dict[str, list[Statistic]] = {}
    for table in tables.values():
        of_table = found.setdefault(table.owner, [])
        if table.rows:  # 0 may also mean that UPDATE STATISTICS never ran
            of_table.append(Statistic(table.name, None, ROW_COUNT, float(table.rows)))
        of_table += [
            Statistic(table.name, names[table.tabid, number], DISTINCT_COUNT, count)
            for number, count in distinct.get(table.tabid, {}).items()
            if (table.tabid, number) in names
        ]
    return {owner: statistics for owner, statistics in found.items() if statistics}


def statistics_batch(catalogs: Mapping[str, Mapping[str, Sequence[Statistic]]]) -> pa.RecordBatch:
    """Return the statistics of catalogs, by owner, in the nested schema of GetStatistics."""
    groups = [(owner, found) for owners in catalogs.values() for owner, found in owners.items()]
    every = [each for _, found in groups for each in found]
    # pyarrow cannot make unions of Python values, so the nested arrays are put together here.
    values = pa.UnionArray.from_dense(
        pa.array([_FLOAT64] * len(every), pa.int8()),
        pa.array(range(len(every)), pa.int32()),
        [
            pa.array([each.value for each in every] if code == _FLOAT64 else [], field.type)
            for code, field in enumerate(STATISTIC_VALUE)
        ],
        [field.name for field in STATISTIC_VALUE],
    )
    statistics = pa.StructArray.from_arrays(
        [
            pa.array([each.table for each in every], pa.utf8()),
            pa.array([each.column for each in every], pa.utf8()),
            pa.array([each.key for each in every], pa.int16()),
            values,
            pa.array([True] * len(every), pa.bool_()),
        ],
        fields=list(STATISTIC),
    )
    schemas = pa.StructArray.from_arrays(
        [
            pa.array([owner for owner, _ in groups], pa.utf8()),
            _lists((len(found) for _, found in groups), statistics, STATISTICS_OF_SCHEMA.field(1).type),
        ],
        fields=list(STATISTICS_OF_SCHEMA),
    )
    columns = [
        pa.array(list(catalogs), pa.utf8()),
        _lists((len(owners) for owners in catalogs.values()), schemas, STATISTICS.field(1).type),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=STATISTICS)


def _lists(lengths: Iterable[int], values: Any, kind: Any) -> Any:
    """Return an array of lists of those lengths."""
    offsets = pa.array(accumulate(lengths, initial=0), pa.int32())
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def statistic_names() -> pa.RecordBatchReader:
    """Return the names of statistics that ADBC does not define: there are none."""
    return pa.RecordBatchReader.from_batches(STATISTIC_NAMES, [])
