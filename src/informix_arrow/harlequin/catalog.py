"""The catalogue as a tree: databases, their tables, views and synonyms, and the columns of these.

Each level is queried when it is opened, through the session in which the statements run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from harlequin.catalog import CatalogItem, InteractiveCatalogItem

from ..connection import Connection
from ..wire.errors import Error
from ..wire.quoting import quote_if_needed
from .labels import of_type

_KINDS = {"TABLE": "t", "VIEW": "v", "SYNONYM": "sy", "PRIVATE SYNONYM": "sy", "EXTERNAL TABLE": "xt"}
_PREVIEW = 100


@dataclass
class Level(InteractiveCatalogItem):  # type: ignore[misc]
    """An item whose children are loaded with ``load()``."""

    load: Callable[[], list[CatalogItem]] = field(default=list, repr=False)

    def fetch_children(self) -> Sequence[CatalogItem]:
        """Return the children. If the server refuses them, an item with its error."""
        try:
            return self.load()
        except Error as error:
            text = str(error)
            return [CatalogItem(f"{self.qualified_identifier}?", query_name="", label=text, type_label="!")]


def _preview(item: Relation, driver: Any) -> None:
    driver.insert_text_in_new_buffer(f"SELECT FIRST {_PREVIEW} * FROM {item.query_name}")


@dataclass
class Relation(Level):
    """A table, a view or a synonym."""

    INTERACTIONS: ClassVar[Sequence[tuple[str, Any]] | None] = [(f"First {_PREVIEW} Rows", _preview)]


def databases(connection: Connection) -> list[CatalogItem]:
    """Return the databases of the server. Tables of the open one are loaded at once."""
    names = connection.databases()["database_name"].to_pylist()
    items: list[CatalogItem] = []
    for name in names:
        item = Level(
            qualified_identifier=name,
            query_name=name,
            label=name,
            type_label="db",
            type_name="DATABASE",
            load=partial(relations, connection, name),
        )
        if name == connection.database:
            item.children = item.fetch_children()
            item.loaded = True
        items.append(item)
    return items


def relations(connection: Connection, database: str) -> list[CatalogItem]:
    """Return the tables, views and synonyms of a database, without the system catalogue."""
    is_open = database == connection.database
    table = connection.tables(database="" if is_open else database)
    items: list[CatalogItem] = []
    for row in table.select(["table_schema", "table_name", "table_type"]).to_pylist():
        owner, name, kind = row["table_schema"], row["table_name"], row["table_type"]
        owned = f"'{owner}'.{quote_if_needed(name)}"
        full_name = f"{database}:{owned}"
        # Outside of ANSI databases a table's name is unique whatever its owner.
        query_name = full_name if not is_open else owned if connection.ansi else quote_if_needed(name)
        items.append(
            Relation(
                qualified_identifier=full_name,
                query_name=query_name,
                label=name,
                type_label=_KINDS.get(kind, "?"),
                type_name=kind,
                load=partial(columns, connection, full_name),
            )
        )
    return items


def columns(connection: Connection, table: str) -> list[CatalogItem]:
    """Return the columns of a table, by its full name."""
    found = connection.columns(table).select(["column_name", "data_type", "arrow_type"])
    return [
        CatalogItem(
            qualified_identifier=f"{table}.{quote_if_needed(row['column_name'])}",
            query_name=quote_if_needed(row["column_name"]),
            label=row["column_name"],
            type_label=of_type(row["arrow_type"]),
            type_name=row["data_type"],
        )
        for row in found.to_pylist()
    ]
