"""The child of test_capture.py's memory: reads changes and counts them. Arguments: URL, table, token, changes."""

from __future__ import annotations

import json
import sys

import informix_arrow as ifx
from memory_child import resident


def main(url: str, table: str, token: str, wanted: int) -> dict[str, object]:
    rows = 0
    over_time: list[float] = []
    with ifx.capture(url, [table], start=token, timeout=1) as changes:
        for transaction in changes:
            rows += sum(change.data.num_rows for change in transaction.batches)
            if rows >= 100_000 * (len(over_time) + 1):
                over_time.append(round(resident("VmRSS"), 1))
            if rows >= wanted:
                break
    return {
        "growth_mb": over_time[-1] - over_time[0],
        "peak_mb": resident("VmHWM"),
        "over_time": over_time,
    }


if __name__ == "__main__":
    address, name, start, count = sys.argv[1:]
    print(json.dumps(main(address, name, start, int(count))))
