"""A DAG with operators of the common SQL provider and a task that uses the hook; test_airflow.py runs it."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path

from airflow.providers.common.sql.operators.sql import SQLColumnCheckOperator, SQLExecuteQueryOperator
from airflow.sdk import dag, task

from informix_arrow.airflow.hook import InformixHook


@dag(schedule=None, start_date=dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), catchup=False)
def nightly() -> None:
    select = SQLExecuteQueryOperator(
        task_id="select",
        conn_id="informix_default",
        sql="SELECT id, customer FROM orders WHERE sentinel = ? AND id < 4 ORDER BY id",
        parameters=(7,),
    )
    check = SQLColumnCheckOperator(
        task_id="check",
        conn_id="informix_default",
        table="orders",
        column_mapping={"id": {"null_check": {"equal_to": 0}, "min": {"equal_to": 1}}},
    )

    @task
    def frame(selected: list[list[object]]) -> None:
        read = InformixHook().get_df("SELECT id FROM orders WHERE id < 4 ORDER BY id")
        found = {"selected": selected, "frame": read["id"].tolist()}
        Path(os.environ["AIRFLOW_HOME"], "found.json").write_text(json.dumps(found))

    select >> check >> frame(select.output)


nightly()
