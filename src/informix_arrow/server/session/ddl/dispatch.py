"""Dispatches a DDL statement to its module, and finds the names that it concerns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...parse.classify import DdlStatement
from ...parse.ddl_nodes import (
    AlterTable,
    CreateIndex,
    CreateSynonym,
    CreateTable,
    CreateType,
    CreateView,
    DefineRole,
    DefineSequence,
    DropObject,
    DropType,
    Grant,
    RenameObject,
    SetObjects,
    TruncateTable,
    UpdateStatistics,
)
from ...parse.spl.trigger_nodes import CreateTrigger, DropTrigger, SetTriggers
from . import (
    constraints,
    grants,
    indexes,
    object_modes,
    sequences,
    statistics,
    synonyms,
    tables,
    triggers,
    views,
)
from .alter import alter
from .ddl_context import DdlContext

_RUNNERS: dict[type[Any], Callable[[DdlContext, Any], int]] = {
    CreateTable: tables.create,
    CreateType: lambda context, statement: context.types.create(statement),
    DropType: lambda context, statement: context.types.drop(statement),
    CreateView: views.create,
    CreateSynonym: synonyms.create,
    DefineSequence: sequences.define,
    CreateIndex: indexes.create,
    Grant: grants.run,
    DefineRole: grants.run,
    CreateTrigger: triggers.create,
    DropTrigger: triggers.drop,
    SetTriggers: triggers.set_enabled,
    SetObjects: object_modes.set_modes,
    UpdateStatistics: statistics.update,
    AlterTable: alter,
    TruncateTable: tables.truncate,
}
_DROPS = {"INDEX": indexes.drop, "SYNONYM": synonyms.drop, "SEQUENCE": sequences.drop}
_RENAMES = {"INDEX": indexes.rename, "SEQUENCE": sequences.rename, "CONSTRAINT": constraints.rename}


def run(context: DdlContext, statement: DdlStatement) -> int:
    """Run one statement inside an open DuckDB transaction; return the rows affected."""
    if isinstance(statement, DropObject):
        return _DROPS.get(statement.kind, tables.drop)(context, statement)
    if isinstance(statement, RenameObject):
        return _RENAMES.get(statement.kind, tables.rename)(context, statement)
    return _RUNNERS[type(statement)](context, statement)


def affected_names(context: DdlContext, statement: DdlStatement) -> list[str]:
    """Return the tables and views that a statement creates, changes or drops, whether they exist or not.

    Those that only this session can see are left out.
    """
    if isinstance(statement, CreateTable) and statement.temporary:
        return []
    if isinstance(
        statement, (CreateTable, CreateView, CreateSynonym, DefineSequence, AlterTable, TruncateTable)
    ):
        return [statement.name]
    if isinstance(statement, CreateIndex):
        return [statement.table]
    if isinstance(statement, (CreateTrigger, DropTrigger, SetTriggers)):
        return triggers.tables_of(context, statement)
    if isinstance(statement, SetObjects):
        return [info.name for info, _ in object_modes.objects(context, statement) if not info.temporary]
    if isinstance(statement, RenameObject):
        if statement.kind in ("INDEX", "CONSTRAINT"):
            by_name = (
                context.tables.index_owner if statement.kind == "INDEX" else context.tables.constraint_owner
            )
            owner = by_name(statement.name)
            return [owner.name] if owner is not None else []
        return [statement.name] if statement.kind == "COLUMN" else [statement.name, statement.new]
    if isinstance(statement, DropObject):
        if statement.kind != "INDEX":
            return [statement.name]
        owner = context.tables.index_owner(statement.name)
        return [owner.name] if owner is not None else []
    return []


def catalog_names(context: DdlContext, statement: DdlStatement) -> list[tuple[str, str]]:
    """Return the names of indexes and constraints that a statement creates, each with its table of the catalogue.

    Those of temporary tables are left out: only this session can see them.
    """
    if isinstance(statement, CreateIndex):
        is_temporary = statement.table in context.schema.temp_tables
        return [] if is_temporary else [("sysindices", statement.name)]
    if isinstance(statement, RenameObject) and statement.kind == "INDEX":
        return [("sysindices", statement.new)]
    if isinstance(statement, RenameObject) and statement.kind == "CONSTRAINT":
        return [("sysconstraints", statement.new)]
    if isinstance(statement, CreateTable):
        is_temporary = statement.temporary
    elif isinstance(statement, AlterTable):
        is_temporary = statement.name in context.schema.temp_tables
    else:
        return []
    constraints_defined = [] if is_temporary else statement.constraints
    return [("sysconstraints", constraint.name) for constraint in constraints_defined if constraint.name]
