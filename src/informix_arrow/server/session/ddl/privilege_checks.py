"""Checks whether the user may run a DDL statement, before it runs."""

from __future__ import annotations

from ...catalog import stored_names
from ...catalog.catalog import TableInfo
from ...catalog.privileges import DBA, RESOURCE
from ...errors import SqlError
from ...parse.classify import DdlStatement
from ...parse.ddl_nodes import (
    AlterTable,
    ConstraintDef,
    CreateIndex,
    CreateTable,
    CreateType,
    CreateView,
    DefineSequence,
    DropObject,
    DropType,
    RenameObject,
    SetObjects,
    TruncateTable,
)
from ...parse.spl.trigger_nodes import CreateTrigger
from ..session_privileges import NO_PRIVILEGE, NOT_OWNER
from . import object_modes
from .ddl_context import DdlContext

_NOT_OWNER = {"INDEX": -320, "SYNONYM": -579, "SEQUENCE": -635}


def check_privileges(context: DdlContext, statement: DdlStatement) -> None:
    """Check the privileges for a statement. Missing objects are reported by the statement itself.

    Raises -388 for a user who may not create anything in the database, and -313 or the like for one who neither owns
    the object nor has the privilege.
    """
    if context.privileges.is_administrator:
        return
    if isinstance(statement, CreateTable):
        if not statement.temporary:
            context.privileges.require_level(_required_level(context, statement.owner))
            _require_references_privilege(context, statement.name, statement.constraints)
    elif isinstance(statement, CreateView):
        if statement.owner:
            context.privileges.require_level(_required_level(context, statement.owner))
    elif isinstance(statement, (CreateType, DropType)):
        context.privileges.require_level(RESOURCE)
    elif isinstance(statement, DefineSequence):
        if statement.new:
            context.privileges.require_level(_required_level(context, statement.owner))
        else:
            _require_owner(context, statement.name, _NOT_OWNER["SEQUENCE"])
    elif isinstance(statement, CreateIndex):
        _require_owner_or_privilege(context, context.tables.find(None, statement.table), "x")
    elif isinstance(statement, CreateTrigger):
        context.privileges.require_level(_required_level(context, context.tables.named_owner(statement.name)))
        _require_owner(context, statement.table, NOT_OWNER)
    elif isinstance(statement, AlterTable):
        _require_owner_or_privilege(context, context.tables.find(None, statement.name), "a")
        _require_references_privilege(context, statement.name, statement.constraints)
    elif isinstance(statement, SetObjects):
        for changed, _ in object_modes.objects(context, statement):
            _require_owner_or_privilege(context, changed, "a")
    elif isinstance(statement, TruncateTable):
        info = context.tables.find(None, statement.name)
        _require_owner_or_privilege(context, info, "a")
        if info is not None:
            context.privileges.require(info, "d")
    elif isinstance(statement, DropObject):
        if statement.kind == "INDEX":
            _require_index_privilege(context, statement.name)
        else:
            _require_owner(context, statement.name, _NOT_OWNER.get(statement.kind, NOT_OWNER))
    elif isinstance(statement, RenameObject):
        if statement.kind == "INDEX":
            _require_index_privilege(context, statement.name)
        elif statement.kind == "CONSTRAINT":
            info = context.tables.constraint_owner(statement.name)
            if info is not None:
                context.privileges.require_owner(info.owner, statement.name)
        elif statement.kind == "SEQUENCE":
            _require_owner(context, statement.name, _NOT_OWNER["SEQUENCE"])
        else:
            _require_owner_or_privilege(context, context.tables.find(None, statement.name), "a")


def _required_level(context: DdlContext, owner: str) -> str:
    """Return the level that is required to create something: DBA for another owner."""
    return RESOURCE if owner in ("", context.privileges.acting_owner) else DBA


def _require_owner_or_privilege(context: DdlContext, info: TableInfo | None, letter: str) -> None:
    """Require the owner, or the privilege together with RESOURCE."""
    if info is None or info.temporary or context.privileges.owns(info.owner):
        return
    if info.kind != "T" or not context.privileges.has_privilege(info, letter):
        raise SqlError(NO_PRIVILEGE[letter], 0, 0, info.name)
    context.privileges.require_level(RESOURCE)


def _require_owner(context: DdlContext, name: str, code: int) -> None:
    if name in context.schema.temp_tables:
        return
    owner = stored_names.owner_of(context.transaction.catalog, context.current_database.require(), name)
    if owner is not None:
        context.privileges.require_owner(owner, name, code)


def _require_index_privilege(context: DdlContext, name: str) -> None:
    info = context.tables.index_owner(name)
    if info is not None and not info.temporary:
        context.privileges.require_owner(info.owner, name, _NOT_OWNER["INDEX"])


def _require_references_privilege(context: DdlContext, name: str, constraints: list[ConstraintDef]) -> None:
    for constraint in constraints:
        if constraint.kind != "R" or constraint.parent == name:
            continue
        parent = context.tables.find(None, constraint.parent)
        if parent is not None and not context.privileges.owns(parent.owner):
            context.privileges.require(parent, "r", constraint.parent_columns)
