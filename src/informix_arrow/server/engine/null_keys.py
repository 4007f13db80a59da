"""Keys with a NULL in them: to Informix NULL is one value of a key, to DuckDB never the same one.

DuckDB's own constraints see to keys without NULL. What is here costs those nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from ..errors import ISAM_DUPLICATE, SqlError
from ..schema.catalog import TableInfo, first_row, nullable_columns
from ..types.names import quote
from .isolation import Isolation
from .transaction import Transaction


def duplicate(kind: str, name: str) -> SqlError:
    """-239 for a unique index, -268 for a constraint."""
    return SqlError(-239 if kind == "I" else -268, ISAM_DUPLICATE, 0, f"informix.{name}")


def refuse_repeated(
    transaction: Transaction, isolation: Isolation, info: TableInfo, changed: Collection[str]
) -> None:
    """-268 or -239 where an UPDATE of the columns `changed` has left a key with a NULL twice; inside
    `Transaction.write`."""
    for key in info.keys:
        names = nullable_columns(info, key.columns)
        if not names or set(key.columns).isdisjoint(changed):
            continue
        isolation.require_fresh(info)
        missing = " OR ".join(f"{quote(name)} IS NULL" for name in names)
        group = ", ".join(map(quote, key.columns))
        query = f"SELECT 1 FROM {info.duck} WHERE {missing} GROUP BY {group} HAVING count(*) > 1 LIMIT 1"
        if first_row(transaction.con, query):
            raise duplicate(key.kind, key.name)
