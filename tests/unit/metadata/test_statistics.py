"""The nested table of GetStatistics, which pyarrow cannot create from Python values."""

from __future__ import annotations

from informix_arrow.metadata.schemas import STATISTICS
from informix_arrow.metadata.statistics import (
    DISTINCT_COUNT,
    ROW_COUNT,
    Statistic,
    statistic_names,
    statistics_batch,
)


def test_statistics_are_nested_by_catalog_and_owner() -> None:
    found = {
        "shop": {
            "informix": [
                Statistic("orders", None, ROW_COUNT, 1e6),
                Statistic("orders", "id", DISTINCT_COUNT, 999.0),
            ],
            "ann": [Statistic("größen", "n", DISTINCT_COUNT, 2.0)],
        },
        "empty": {},
        "other": {"bob": [Statistic("t", None, ROW_COUNT, 7.0)]},
    }
    batch = statistics_batch(found)
    batch.validate(full=True)
    assert batch.schema == STATISTICS
    assert batch.to_pylist() == [
        {
            "catalog_name": catalog,
            "catalog_db_schemas": [
                {
                    "db_schema_name": owner,
                    "db_schema_statistics": [
                        {
                            "table_name": each.table,
                            "column_name": each.column,
                            "statistic_key": each.key,
                            "statistic_value": each.value,
                            "statistic_is_approximate": True,
                        }
                        for each in statistics
                    ],
                }
                for owner, statistics in owners.items()
            ],
        }
        for catalog, owners in found.items()
    ]


def test_no_statistics_are_an_empty_table() -> None:
    batch = statistics_batch({})
    batch.validate(full=True)
    assert (batch.num_rows, batch.schema) == (0, STATISTICS)
    assert statistic_names().read_all().num_rows == 0
