"""Uses a connection of type informix in Airflow. test_airflow.py runs it where Airflow is installed.

The connection informix_default is in the environment; its database has the table ``orders``. The results are printed
as JSON, a line for each step.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from unittest import mock

import pandas as pd
import pyarrow as pa
from airflow.providers.common.sql.hooks.handlers import fetch_all_handler
from airflow.providers_manager import ProvidersManager

import informix_arrow
from informix_arrow.airflow.hook import InformixHook

QUERY = "SELECT * FROM orders WHERE id > ? ORDER BY id"


def report(what: str, found: object) -> None:
    print("result " + json.dumps({what: found}, default=str), flush=True)


def main() -> None:
    manager = ProvidersManager()
    report("provider", "informix-arrow" in manager.providers)
    report("hook", manager.hooks["informix"].hook_class_name)  # type: ignore[union-attr]

    hook = InformixHook()
    report("test", hook.test_connection())
    report("records", hook.get_records(QUERY, (0,)))
    refused = mock.Mock(side_effect=AssertionError("this went by rows, not by Arrow"))
    rows = dict.fromkeys(("fetchone", "fetchmany", "fetchall", "__next__"), refused)
    with mock.patch.multiple(informix_arrow.Cursor, **rows):
        frame = hook.get_df(QUERY, (0,))
        report("pandas", [frame.values.tolist(), [str(each) for each in frame.dtypes]])
        exact = hook.get_df(QUERY, (0,), dtype_backend="pyarrow", index_col="id")
        report("exact", [str(each) for each in exact.dtypes])
        polars = hook.get_df(QUERY, (0,), df_type="polars")
        report("polars", [polars.rows(), [str(each) for each in polars.dtypes]])
        report("chunks", [part.shape for part in hook.get_df_by_chunks(QUERY, (0,), chunksize=2)])
        none = [part.shape for part in hook.get_df_by_chunks(QUERY, (9,), chunksize=2, df_type="polars")]
        report("none", none)
        try:
            hook.get_df(QUERY, (0,), parse_dates=["day"])
        except TypeError as error:
            report("option", str(error))

    lines = [
        (4, "d", Decimal("0.10"), dt.date(2026, 2, 1), dt.datetime(2026, 2, 1, 1), 4, 7),
        (5, None, None, None, None, None, 7),
    ]
    hook.insert_rows("orders", lines)
    report("inserted", hook.get_records(QUERY, (3,)))
    try:
        hook.insert_rows("orders", lines, replace=True)
    except informix_arrow.NotSupportedError as error:
        report("replace", str(error))
    report("written", hook.write_arrow("orders", pa.table({"id": [6], "sentinel": [7]})))
    report(
        "run",
        hook.run(
            ["DELETE FROM orders WHERE id = 6", "SELECT COUNT(*) FROM orders"], handler=fetch_all_handler
        ),
    )
    report("schema", hook.get_table_schema("orders"))
    report(
        "sqlalchemy",
        pd.read_sql("SELECT id FROM orders ORDER BY id", hook.get_sqlalchemy_engine())["id"].tolist(),
    )
    report(
        "other",
        InformixHook(schema="sysmaster").get_first("SELECT DBINFO('dbname') FROM systables WHERE tabid = 1"),
    )


main()
