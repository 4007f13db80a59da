"""Changes for the comparison of Debezium's Informix connector with ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import informix_arrow

RECORDED = Path(__file__).parent / "debezium" / "recorded.jsonl"
"""Output of Debezium 3.5.0.Final for :func:`make_changes` (test_debezium_source.py writes it)."""

TABLES = ("orders", "items")


def create_tables(conn: informix_arrow.Connection) -> None:
    conn.execute(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, name VARCHAR(20), amount DECIMAL(6,2), day DATE)"
    )
    conn.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, note VARCHAR(9))")


def make_changes(connect: Callable[[], informix_arrow.Connection]) -> None:
    """Make changes: single statements, a transaction with several changes, and two that overlap."""
    with connect() as conn, connect() as other:
        conn.execute("INSERT INTO orders VALUES (1, 'a \"b\" é', 1.50, '2024-02-29')")
        with conn.transaction():
            conn.execute("UPDATE orders SET name = NULL WHERE id = 1")
            conn.execute("INSERT INTO items VALUES (10, 'x')")
            conn.execute("INSERT INTO orders VALUES (2, '', -0.01, NULL)")
        with conn.transaction():
            conn.execute("INSERT INTO items VALUES (11, 'long')")
            with other.transaction():
                other.execute("INSERT INTO orders VALUES (3, 'inside', 3, NULL)")
                other.execute("INSERT INTO orders VALUES (4, 'inside', 4, NULL)")
            conn.execute("DELETE FROM items WHERE id = 10")
        conn.execute("DELETE FROM orders WHERE id = 1")
        conn.execute("TRUNCATE TABLE orders")


def never_decreasing(envelopes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return envelopes with ``change_lsn`` changed as Debezium does.

    Debezium never lets it decrease. Where transactions overlap, the earlier changes of the one that is committed last
    all get the position of the commit before them. Our envelopes keep each change's position.
    """
    found, greatest = [], 0
    for each in envelopes:
        greatest = max(greatest, int(each["source"]["change_lsn"]))
        found.append({**each, "source": {**each["source"], "change_lsn": str(greatest)}})
    return found


def comparable(envelopes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return envelopes without what differs from run to run.

    Positions become their ranks, transactions the order in which they appear, times the unit that they have. Values
    of columns are left out, as only Debezium's depend on its settings.
    """
    envelopes = list(envelopes)
    positions = ("commit_lsn", "change_lsn", "begin_lsn")
    ranks = sorted({int(each["source"][name]) for each in envelopes for name in positions})
    numbers = list(dict.fromkeys(each["source"]["txId"] for each in envelopes))
    found = []
    for each in envelopes:
        source = dict(each["source"])
        for name in positions:
            assert isinstance(source[name], str)
            source[name] = ranks.index(int(source[name]))
        assert isinstance(source["txId"], str)
        source["txId"] = numbers.index(source["txId"])
        assert isinstance(source["version"], str)
        source["version"] = "..."
        for times in (source, each):
            milliseconds, micro, nano = (times[f"ts_{unit}"] for unit in ("ms", "us", "ns"))
            assert (micro // 1000, nano // 1_000_000) == (milliseconds, milliseconds)
            assert milliseconds > 1_600_000_000_000
        kept = {name: value for name, value in source.items() if not name.startswith("ts_")}
        kept["fields"] = list(source)
        found.append(
            {
                "fields": list(each),
                "op": each["op"],
                "before": None if each["before"] is None else list(each["before"]),
                "after": None if each["after"] is None else list(each["after"]),
                "transaction": each["transaction"],
                "source": kept,
            }
        )
    return found
