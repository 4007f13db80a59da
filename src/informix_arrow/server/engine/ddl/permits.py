"""Whether the user may do what a statement that defines does; asked before it is done."""

from __future__ import annotations

from ...errors import SqlError
from ...grammar.classify import DdlStatement
from ...grammar.ddl_nodes import (
    AlterTable,
    ConstraintDef,
    CreateIndex,
    CreateTable,
    CreateType,
    CreateView,
    Drop,
    DropType,
    Rename,
    Sequence,
    Truncate,
)
from ...grammar.spl.trigger_nodes import CreateTrigger
from ...schema import stored_names
from ...schema.catalog import TableInfo
from ...schema.privileges import DBA, RESOURCE
from ..rights import NO_PRIVILEGE, NOT_OWNER
from .workbench import Workbench

_NOT_OWNER = {"INDEX": -320, "SYNONYM": -579, "SEQUENCE": -635}


def require(bench: Workbench, statement: DdlStatement) -> None:
    """-388 for who may make nothing in the database, -313 and its like for who neither owns something nor was granted
    the privilege. What does not exist is left to the statement."""
    if bench.rights.unlimited:
        return
    if isinstance(statement, CreateTable):
        if not statement.temporary:
            bench.rights.require_level(_for_owner(bench, statement.owner))
            _references(bench, statement.name, statement.constraints)
    elif isinstance(statement, CreateView):
        if statement.owner:
            bench.rights.require_level(_for_owner(bench, statement.owner))
    elif isinstance(statement, (CreateType, DropType)):
        bench.rights.require_level(RESOURCE)
    elif isinstance(statement, Sequence):
        if statement.new:
            bench.rights.require_level(RESOURCE)
        else:
            _owner(bench, statement.name, _NOT_OWNER["SEQUENCE"])
    elif isinstance(statement, CreateIndex):
        _owner_or(bench, bench.tables.find(None, statement.table), "x")
    elif isinstance(statement, CreateTrigger):
        bench.rights.require_level(RESOURCE)
        _owner(bench, statement.table, NOT_OWNER)
    elif isinstance(statement, AlterTable):
        _owner_or(bench, bench.tables.find(None, statement.name), "a")
        _references(bench, statement.name, statement.constraints)
    elif isinstance(statement, Truncate):
        info = bench.tables.find(None, statement.name)
        _owner_or(bench, info, "a")
        if info is not None:
            bench.rights.require(info, "d")
    elif isinstance(statement, Drop):
        if statement.kind == "INDEX":
            _index(bench, statement.name)
        else:
            _owner(bench, statement.name, _NOT_OWNER.get(statement.kind, NOT_OWNER))
    elif isinstance(statement, Rename):
        if statement.kind == "INDEX":
            _index(bench, statement.name)
        elif statement.kind == "CONSTRAINT":
            info = bench.tables.constraint_owner(statement.name)
            if info is not None:
                bench.rights.require_owner(info.owner, statement.name)
        elif statement.kind == "SEQUENCE":
            _owner(bench, statement.name, _NOT_OWNER["SEQUENCE"])
        else:
            _owner_or(bench, bench.tables.find(None, statement.name), "a")


def _for_owner(bench: Workbench, owner: str) -> str:
    """What it takes to make something: to make it another's takes a DBA."""
    return RESOURCE if owner in ("", bench.environment.user) else DBA


def _owner_or(bench: Workbench, info: TableInfo | None, letter: str) -> None:
    """The owner, or who has the privilege and RESOURCE with it."""
    if info is None or info.temporary or bench.rights.owns(info.owner):
        return
    if info.kind != "T" or not bench.rights.may(info, letter):
        raise SqlError(NO_PRIVILEGE[letter], 0, 0, info.name)
    bench.rights.require_level(RESOURCE)


def _owner(bench: Workbench, name: str, code: int) -> None:
    if name in bench.schema.temp_tables:
        return
    owner = stored_names.owner_of(bench.transaction.con, bench.database.require(), name)
    if owner is not None:
        bench.rights.require_owner(owner, name, code)


def _index(bench: Workbench, name: str) -> None:
    info = bench.tables.index_owner(name)
    if info is not None and not info.temporary:
        bench.rights.require_owner(info.owner, name, _NOT_OWNER["INDEX"])


def _references(bench: Workbench, name: str, constraints: list[ConstraintDef]) -> None:
    for constraint in constraints:
        if constraint.kind != "R" or constraint.parent == name:
            continue
        parent = bench.tables.find(None, constraint.parent)
        if parent is not None and not bench.rights.owns(parent.owner):
            bench.rights.require(parent, "r", constraint.parent_columns)
