"""Reads tables with Daft by the recipe of docs/scale.md. test_dask_ray_daft.py runs it where daft is installed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import daft

import informix_arrow


def recipe() -> Any:
    text = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(from daft import.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {"informix_arrow": informix_arrow}
    exec(block, names)
    return names["InformixSource"]


def main(url: str) -> None:
    source = recipe()
    plain = source(url, "plain").read()
    many = source(url, "many", "k", 4)
    found = {
        "partitions": len(many.parts),
        "sums": [many.read().sum("after").to_pydict()["after"][0], many.read().count_rows()],
        "types": [str(field.dtype) for field in plain.schema()],
        "rows": [list(row.values()) for row in plain.sort("k").to_pylist()],
        "chosen": many.read().where(daft.col("after") == 7).select("k").to_pylist(),
    }
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
