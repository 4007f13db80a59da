"""The names of a DDL statement's tables in a MODE ANSI database, where owner.name is unique and not name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ...parse.ddl_nodes import CreateSynonym, CreateTable, CreateView, DropObject, RenameObject
from ...parse.ddl_tokens import TableName
from ..session_tables import SessionTables

_Statement = TypeVar("_Statement")


def resolved_names(tables: SessionTables, statement: _Statement) -> _Statement:
    """Return a statement with the names under which its tables, views and synonyms are stored or will be."""
    if not tables.is_ansi or (isinstance(statement, DropObject) and statement.kind == "INDEX"):
        return statement

    def stored(name: TableName) -> str:
        return tables.stored_name(None, name, name.owner)

    found: Any = _replaced(statement, stored)
    given: Any = statement
    if isinstance(given, CreateTable) and given.temporary:
        found.name = str(given.name)
    elif isinstance(given, (CreateTable, CreateView, CreateSynonym)):
        found.name = tables.new_name(given.name, given.owner)
        if isinstance(given, CreateSynonym) and isinstance(given.table, TableName):
            found.table = tables.stored_name(given.database, given.table, given.table.owner)
    elif isinstance(given, RenameObject) and given.kind == "TABLE":
        info = tables.find(None, found.name)
        if info is not None and not info.temporary:
            found.new = tables.new_name(given.new, info.owner)
    return found  # type: ignore[no-any-return]


def _replaced(node: Any, stored: Callable[[TableName], str]) -> Any:
    """Return a copy of a node of a statement with the stored names of its tables."""
    if isinstance(node, TableName):
        return stored(node)
    if isinstance(node, list):
        return [_replaced(item, stored) for item in node]
    if is_dataclass(node) and not isinstance(node, type) and type(node).__module__.endswith(_NODES):
        changes = {f.name: _replaced(getattr(node, f.name), stored) for f in fields(node) if f.init}
        return replace(node, **changes)
    return node


_NODES = (".ddl_nodes", ".trigger_nodes")
