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
    TruncateTable,
)
from ...parse.spl.trigger_nodes import CreateTrigger
from ..session_privileges import NO_PRIVILEGE, NOT_OWNER
from .ddl_context import DdlContext

_NOT_OWNER = {"INDEX": -320, "SYNONYM": -579, "SEQUENCE": -635}


def check_privileges(bench: DdlContext, statement: DdlStatement) -> None:
    """Check the privileges for a statement. Missing objects are reported by the statement itself.

    Raises -388 for a user who may not create anything in the database, and -313 or the like for one who neither owns
    the object nor has the privilege.
    """
    if bench.privileges.is_administrator:
        return
    if isinstance(statement, CreateTable):
        if not statement.temporary:
            bench.privileges.require_level(_required_level(bench, statement.owner))
            _require_references_privilege(bench, statement.name, statement.constraints)
    elif isinstance(statement, CreateView):
        if statement.owner:
            bench.privileges.require_level(_required_level(bench, statement.owner))
    elif isinstance(statement, (CreateType, DropType)):
        bench.privileges.require_level(RESOURCE)
    elif isinstance(statement, DefineSequence):
        if statement.new:
            bench.privileges.require_level(RESOURCE)
        else:
            _require_owner(bench, statement.name, _NOT_OWNER["SEQUENCE"])
    elif isinstance(statement, CreateIndex):
        _require_owner_or_privilege(bench, bench.tables.find(None, statement.table), "x")
    elif isinstance(statement, CreateTrigger):
        bench.privileges.require_level(RESOURCE)
        _require_owner(bench, statement.table, NOT_OWNER)
    elif isinstance(statement, AlterTable):
        _require_owner_or_privilege(bench, bench.tables.find(None, statement.name), "a")
        _require_references_privilege(bench, statement.name, statement.constraints)
    elif isinstance(statement, TruncateTable):
        info = bench.tables.find(None, statement.name)
        _require_owner_or_privilege(bench, info, "a")
        if info is not None:
            bench.privileges.require(info, "d")
    elif isinstance(statement, DropObject):
        if statement.kind == "INDEX":
            _require_index_privilege(bench, statement.name)
        else:
            _require_owner(bench, statement.name, _NOT_OWNER.get(statement.kind, NOT_OWNER))
    elif isinstance(statement, RenameObject):
        if statement.kind == "INDEX":
            _require_index_privilege(bench, statement.name)
        elif statement.kind == "CONSTRAINT":
            info = bench.tables.constraint_owner(statement.name)
            if info is not None:
                bench.privileges.require_owner(info.owner, statement.name)
        elif statement.kind == "SEQUENCE":
            _require_owner(bench, statement.name, _NOT_OWNER["SEQUENCE"])
        else:
            _require_owner_or_privilege(bench, bench.tables.find(None, statement.name), "a")


def _required_level(bench: DdlContext, owner: str) -> str:
    """Return the level that is required to create something: DBA for another owner."""
    return RESOURCE if owner in ("", bench.environment.user) else DBA


def _require_owner_or_privilege(bench: DdlContext, info: TableInfo | None, letter: str) -> None:
    """Require the owner, or the privilege together with RESOURCE."""
    if info is None or info.temporary or bench.privileges.owns(info.owner):
        return
    if info.kind != "T" or not bench.privileges.has_privilege(info, letter):
        raise SqlError(NO_PRIVILEGE[letter], 0, 0, info.name)
    bench.privileges.require_level(RESOURCE)


def _require_owner(bench: DdlContext, name: str, code: int) -> None:
    if name in bench.schema.temp_tables:
        return
    owner = stored_names.owner_of(bench.transaction.con, bench.current_database.require(), name)
    if owner is not None:
        bench.privileges.require_owner(owner, name, code)


def _require_index_privilege(bench: DdlContext, name: str) -> None:
    info = bench.tables.index_owner(name)
    if info is not None and not info.temporary:
        bench.privileges.require_owner(info.owner, name, _NOT_OWNER["INDEX"])


def _require_references_privilege(bench: DdlContext, name: str, constraints: list[ConstraintDef]) -> None:
    for constraint in constraints:
        if constraint.kind != "R" or constraint.parent == name:
            continue
        parent = bench.tables.find(None, constraint.parent)
        if parent is not None and not bench.privileges.owns(parent.owner):
            bench.privileges.require(parent, "r", constraint.parent_columns)
