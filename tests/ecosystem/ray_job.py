"""Reads tables with Ray. test_dask_ray_daft.py runs it where ray is installed. Argument: a URL."""

from __future__ import annotations

import json
import sys
from typing import Any

import ray

from informix_arrow.ray import InformixDatasource


def failure(action: Any) -> str:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - its text is looked at
        return f"{type(error).__name__}: {error}"
    return "nothing failed"


def read(*arguments: Any, **options: Any) -> Any:
    return ray.data.read_datasource(InformixDatasource(*arguments, **options))


def rows(dataset: Any) -> list[list[object]]:
    return [list(row.values()) for row in dataset.sort("k").take_all()]


def main(url: str) -> None:
    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False, log_to_driver=False)
    tasks = InformixDatasource(url, "many", "k", 4).get_read_tasks(2)
    plain = read(url, "plain", by="rowid")
    found = {
        "partitions": len(tasks),
        "wished": len(InformixDatasource(url, "many", "k").get_read_tasks(3)),
        "sums": [read(url, "many", "k", 4).sum("after"), read(url, "many", "k", 4).count()],
        "types": [str(kind) for kind in plain.materialize().schema().types],
        "planned": [str(kind) for kind in tasks[0].schema.types],
        "rows": rows(plain),
        "query": rows(
            read(url, "SELECT k, n, d FROM plain WHERE k > ?", "k", 2, parameters=(1,), decimals="float64")
        ),
        "none": read(url, "SELECT * FROM plain WHERE k < 0", "k", 3).count(),
        "shown": [repr(tasks[0].read_fn), repr(plain), read(url, "many", "k", 4).materialize().stats()],
        "failures": [
            failure(lambda: read(url, "nowhere").take_all()),
            failure(lambda: read(url, "many", "nowhere", 2).take_all()),
            failure(lambda: read(url, "SELECT k, 1 / (k - k) AS x FROM plain", "k", 2).take_all()),
        ],
    }
    print(json.dumps(found, default=str))
    ray.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
