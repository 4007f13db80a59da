"""Duplicate keys that DuckDB's own constraints do not find or do not name.

Informix treats NULL as one value of a key, DuckDB treats every NULL as different. Keys that contain a NULL are
therefore checked here; other keys cost nothing. DuckDB also does not report which key several rows of one UPDATE share.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from ...wire.quoting import double_quoted
from ..catalog.catalog import TableInfo, first_row, key_part, key_texts, nullable_columns
from ..errors import ISAM_DUPLICATE, SqlError
from .isolation import Isolation
from .transaction import SessionTransaction


def duplicate_error(kind: str, name: str) -> SqlError:
    """Return the error for a duplicate key: -239 for a unique index, -268 for a constraint."""
    return SqlError(-239 if kind == "I" else -268, ISAM_DUPLICATE, 0, f"informix.{name}")


def check_duplicate_keys(
    transaction: SessionTransaction, isolation: Isolation, info: TableInfo, changed: Collection[str]
) -> None:
    """Raise -268 or -239 if an UPDATE of the columns `changed` has produced a duplicate key that contains a NULL.

    For use inside `SessionTransaction.write`.
    """
    for key in info.keys:
        names = nullable_columns(info, key.columns)
        if not names or set(key.columns).isdisjoint(changed):
            continue
        isolation.require_fresh(info)
        missing = " OR ".join(f"{double_quoted(name)} IS NULL" for name in names)
        group = ", ".join(key_part(info, name) for name in key.columns)
        query = f"SELECT 1 FROM {info.duck_name} WHERE {missing} GROUP BY {group} HAVING count(*) > 1 LIMIT 1"
        if first_row(transaction.con, query):
            raise duplicate_error(key.kind, key.name)


def check_duplicates_within(info: TableInfo, changed: Collection[str], columns: Mapping[str, Any]) -> None:
    """Raise -268 or -239 if an UPDATE gives several of its rows one key.

    `columns` holds the Arrow columns of all keys that contain a column of `changed`. DuckDB refuses such rows, too, but
    does not report which key it was.
    """
    for key in info.keys:
        if set(key.columns).isdisjoint(changed):
            continue
        nullable = nullable_columns(info, key.columns)
        if any(columns[name].null_count for name in key.columns if name not in nullable):
            continue  # a NULL in such a column is the error of these rows
        parts = [
            key_texts(columns[name]) if name in info.blank_padded else columns[name] for name in key.columns
        ]
        rows = pa.table(parts, list(key.columns))
        if rows.num_rows > 1 and rows.group_by(list(key.columns)).aggregate([]).num_rows < rows.num_rows:
            raise duplicate_error(key.kind, key.name)
