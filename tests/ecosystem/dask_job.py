"""Reads tables with Dask and prints them. test_dask_ray_daft.py runs it where dask is installed. Argument: a URL."""

from __future__ import annotations

import json
import sys
from typing import Any

import dask.dataframe as dd

import informix_arrow.dask as ifx


def failure(action: Any) -> str:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - its text is looked at
        return f"{type(error).__name__}: {error}"
    return "nothing failed"


def main(url: str) -> None:
    many: dd.DataFrame = ifx.read(url, "many", "k", 4)
    plain = ifx.read(url, "plain", by="rowid").compute(scheduler="processes", num_workers=2)
    query = ifx.read(
        url, "SELECT k, n, d FROM plain WHERE k > ?", "k", 2, parameters=(1,), decimals="float64"
    )
    found = {
        "partitions": many.npartitions,
        "sums": [int(many["after"].sum().compute()), len(many), int(many["k"].count().compute())],
        "types": [str(kind) for kind in plain.dtypes],
        "planned": [str(kind) for kind in ifx.read(url, "plain").dtypes],
        "rows": plain.sort_values("k").astype(object).values.tolist(),
        "query": query.compute().sort_values("k").astype(object).values.tolist(),
        "none": len(ifx.read(url, "SELECT * FROM plain WHERE k < 0", "k", 3).compute()),
        "shown": [repr(many), repr(many.expr), str(many.dask), many.expr.tree_repr()],
        "failures": [
            failure(lambda: ifx.read(url, "nowhere")),
            failure(lambda: ifx.read(url, "many", "nowhere", 2)),
            failure(lambda: ifx.read(url, "SELECT k, 1 / (k - k) AS x FROM plain", "k", 2).compute()),
        ],
    }
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
