"""What DuckDB's own constraints do not find, or do not name.

To Informix NULL is one value of a key, to DuckDB never the same one: keys with a NULL in them are looked at here, which
costs others nothing. And DuckDB does not say which key several rows of one UPDATE have got together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from ..catalog.catalog import TableInfo, first_row, key_part, key_texts, nullable_columns
from ..errors import ISAM_DUPLICATE, SqlError
from ..types.quoting import quote_identifier
from .isolation import Isolation
from .transaction import SessionTransaction


def duplicate_error(kind: str, name: str) -> SqlError:
    """-239 for a unique index, -268 for a constraint."""
    return SqlError(-239 if kind == "I" else -268, ISAM_DUPLICATE, 0, f"informix.{name}")


def check_duplicate_keys(
    transaction: SessionTransaction, isolation: Isolation, info: TableInfo, changed: Collection[str]
) -> None:
    """-268 or -239 where an UPDATE of the columns `changed` has left a key with a NULL twice; inside
    `SessionTransaction.write`."""
    for key in info.keys:
        names = nullable_columns(info, key.columns)
        if not names or set(key.columns).isdisjoint(changed):
            continue
        isolation.require_fresh(info)
        missing = " OR ".join(f"{quote_identifier(name)} IS NULL" for name in names)
        group = ", ".join(key_part(info, name) for name in key.columns)
        query = f"SELECT 1 FROM {info.duck_name} WHERE {missing} GROUP BY {group} HAVING count(*) > 1 LIMIT 1"
        if first_row(transaction.con, query):
            raise duplicate_error(key.kind, key.name)


def check_duplicates_within(info: TableInfo, changed: Collection[str], columns: Mapping[str, Any]) -> None:
    """-268 or -239 where an UPDATE gives several of its rows one key: `columns` are all columns, as Arrow's, of the
    keys of which some are `changed`. DuckDB refuses them, too, but does not say which key it was."""
    for key in info.keys:
        if set(key.columns).isdisjoint(changed):
            continue
        nullable = nullable_columns(info, key.columns)
        if any(columns[name].null_count for name in key.columns if name not in nullable):
            continue  # that is what is wrong with them
        parts = [
            key_texts(columns[name]) if name in info.blank_padded else columns[name] for name in key.columns
        ]
        rows = pa.table(parts, list(key.columns))
        if rows.num_rows > 1 and rows.group_by(list(key.columns)).aggregate([]).num_rows < rows.num_rows:
            raise duplicate_error(key.kind, key.name)
