"""The names of a DDL statement's objects in a MODE ANSI database, where owner.name is unique and not name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ...catalog import owned_names
from ...errors import OWNER_MARK
from ...parse.ddl_nodes import CreateSynonym, CreateTable, CreateView, DefineSequence, RenameObject
from ...parse.ddl_tokens import ConstraintName, IndexName, TableName
from ..session_tables import SessionTables

_Statement = TypeVar("_Statement")


def resolved_names(tables: SessionTables, statement: _Statement) -> _Statement:
    """Return a statement with the names under which its objects are stored or will be.

    Triggers and routines keep the names that they have in the statement: they are found by name and owner.
    """
    if not tables.is_ansi:
        return statement
    found: Any = _replaced(statement, tables)
    given: Any = statement
    if isinstance(given, CreateTable) and given.temporary:
        found.name = str(given.name)
    elif isinstance(given, (CreateTable, CreateView, CreateSynonym, DefineSequence)):
        if not isinstance(given, DefineSequence) or given.new:
            found.name = tables.new_name(given.name)
            found.owner = tables.named_owner(given.name)
        if isinstance(given, CreateSynonym):
            found.table = tables.stored_name(given.database, given.table)
    elif isinstance(given, RenameObject):
        found.new = _new_name(tables, given, found.name)
    return found  # type: ignore[no-any-return]


def _new_name(tables: SessionTables, statement: RenameObject, stored: str) -> str:
    """Return the name under which a renamed object will be stored. Its owner stays."""
    new = str(statement.new)
    if statement.kind in ("INDEX", "CONSTRAINT"):
        owner = stored.partition(OWNER_MARK)[2] or tables.owner(statement.name)
        return owned_names.with_owner(new, owner)
    if statement.kind == "COLUMN" or stored in tables.temporary_names:
        return new
    return tables.new_name(new, tables.owner(statement.name))


def _replaced(node: Any, tables: SessionTables) -> Any:
    """Return a copy of a node of a statement with the stored names of its objects."""
    if isinstance(node, TableName):
        return tables.stored_name(None, node)
    if isinstance(node, IndexName):
        return tables.stored_index_name(node)
    if isinstance(node, ConstraintName):
        return tables.stored_constraint_name(node) if node else ""
    if isinstance(node, (list, tuple)):
        return type(node)(_replaced(item, tables) for item in node)
    if is_dataclass(node) and not isinstance(node, type) and type(node).__module__.endswith(_NODES):
        changes = {f.name: _replaced(getattr(node, f.name), tables) for f in fields(node) if f.init}
        return replace(node, **changes)
    return node


_NODES = (".ddl_nodes", ".trigger_nodes")
