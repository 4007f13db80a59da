"""Parsed DDL statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...wire.types import ColumnType


@dataclass(slots=True)
class ColumnDef:
    name: str
    type: ColumnType
    default: tuple[str, str] | None = None
    serial_start: int = 1


@dataclass(slots=True)
class ConstraintDef:
    """A constraint of kind P, U, C or R. `condition` is the text of a CHECK.

    `no_validate` is NOVALIDATE: existing rows need not satisfy the constraint. `disabled` is DISABLED.
    """

    kind: str
    columns: list[str]
    name: str = ""
    condition: str = ""
    parent: str = ""
    parent_columns: list[str] = field(default_factory=list)
    cascade: bool = False
    no_validate: bool = False
    disabled: bool = False


@dataclass(slots=True)
class StorageOptions:
    """Storage clauses, which are stored only for the catalogue.

    Sizes are in KB. `lock` is R(ow), P(age) or T(able). `strategy` of FRAGMENT BY is that of sysfragments (R round
    robin, E expression). `fragments` are (dbspace, expression). `parts` are the numbers of the fragments, from the same
    sequence as those of tables.
    """

    extent: int = 16
    next: int = 16
    lock: str = "P"
    strategy: str = ""
    fragments: list[tuple[str, str]] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)


@dataclass(slots=True)
class CreateTable:
    name: str
    temporary: bool
    columns: list[ColumnDef]
    constraints: list[ConstraintDef]
    if_not_exists: bool = False
    query: str = ""
    storage: StorageOptions = field(default_factory=StorageOptions)
    owner: str = ""  # "" for the user who creates it


@dataclass(slots=True)
class DropObject:
    kind: str  # TABLE, VIEW, INDEX, SYNONYM, SEQUENCE
    name: str
    if_exists: bool = False
    restrict: bool = False  # fail if other objects depend on it; else they are dropped too


@dataclass(slots=True)
class CreateIndex:
    name: str
    table: str
    unique: bool
    key_columns: list[tuple[str, bool]]
    if_not_exists: bool = False
    functions: list[str] = field(
        default_factory=list
    )  # those of a functional index, with their columns above
    disabled: bool = False


@dataclass(slots=True)
class CreateView:
    name: str
    columns: list[str]
    query: str
    if_not_exists: bool = False
    checked: bool = False  # WITH CHECK OPTION
    owner: str = ""  # "" for the user who creates it


@dataclass(slots=True)
class AddColumn:
    """ADD of ALTER TABLE: a new column with its constraints, before the column `before`, at the end if that is ""."""

    column: ColumnDef
    constraints: list[ConstraintDef]
    before: str = ""


@dataclass(slots=True)
class ModifyColumn:
    """MODIFY of ALTER TABLE: the new definition of a column, with its constraints."""

    column: ColumnDef
    constraints: list[ConstraintDef]


@dataclass(slots=True)
class DropColumn:
    """DROP of ALTER TABLE."""

    name: str


@dataclass(slots=True)
class AddConstraint:
    """ADD CONSTRAINT of ALTER TABLE."""

    constraint: ConstraintDef


@dataclass(slots=True)
class DropConstraint:
    """DROP CONSTRAINT of ALTER TABLE."""

    name: str


@dataclass(slots=True)
class ChangeStorage:
    """The storage clauses of ALTER TABLE: the fields of `StorageOptions` that change."""

    fields: dict[str, Any]


AlterAction = AddColumn | ModifyColumn | DropColumn | AddConstraint | DropConstraint | ChangeStorage


@dataclass(slots=True)
class AlterTable:
    """ALTER TABLE with its actions in order."""

    name: str
    actions: list[AlterAction]

    @property
    def constraints(self) -> list[ConstraintDef]:
        """All constraints that the table gets."""
        found: list[ConstraintDef] = []
        for action in self.actions:
            if isinstance(action, AddConstraint):
                found.append(action.constraint)
            elif isinstance(action, (AddColumn, ModifyColumn)):
                found += action.constraints
        return found


@dataclass(slots=True)
class CreateSynonym:
    """CREATE SYNONYM. `database` is None for a table of the current one."""

    name: str
    database: str | None
    table: str
    private: bool = False
    if_not_exists: bool = False
    owner: str = ""  # "" for the user who creates it


@dataclass(slots=True)
class DefineSequence:
    """CREATE SEQUENCE (`new`) or ALTER SEQUENCE. Options that are not given are None."""

    name: str
    new: bool
    increment: int | None = None
    start: int | None = None
    low: int | None = None
    high: int | None = None
    no_low: bool = False
    no_high: bool = False
    cycle: bool | None = None
    cache: int | None = None
    order: bool | None = None
    if_not_exists: bool = False
    owner: str = ""  # "" for the user who creates it


@dataclass(slots=True)
class RenameObject:
    kind: str
    name: str
    new: str
    column: str = ""


@dataclass(slots=True)
class TruncateTable:
    name: str


@dataclass(slots=True)
class CreateType:
    """CREATE ROW TYPE (`definition` is ROW(...)) and CREATE DISTINCT TYPE (the source's declaration)."""

    kind: str
    name: str
    definition: str
    if_not_exists: bool = False


@dataclass(slots=True)
class DropType:
    """DROP ROW TYPE and DROP TYPE."""

    kind: str
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """GRANT, or REVOKE (`revoke`).

    `kind` is "database" (CONNECT, RESOURCE, DBA), "table", "routine", or "role". For "role", `privileges` holds the
    names of the roles. A privilege on columns has their names, None for all columns.

    `option` is WITH GRANT OPTION, or RESTRICT of a REVOKE. `grantor` is that of AS, "" for the current user. `types`
    are the types of a routine's arguments, None if none were given. `default` is true for a role that becomes the
    grantees' default.
    """

    revoke: bool
    kind: str
    privileges: tuple[tuple[str, tuple[str, ...] | None], ...]
    grantees: tuple[str, ...]
    name: str = ""
    option: bool = False
    grantor: str = ""
    types: tuple[ColumnType, ...] | None = None
    specific: bool = False
    default: bool = False


@dataclass(frozen=True, slots=True)
class DefineRole:
    """CREATE ROLE, or DROP ROLE (`drop`). `if_needed` is IF NOT EXISTS, or IF EXISTS."""

    name: str
    drop: bool
    if_needed: bool


@dataclass(frozen=True, slots=True)
class SetObjects:
    """SET CONSTRAINTS, INDEXES or a list of both (`kinds`), for a table or with names. FILTERING counts as enabled."""

    kinds: frozenset[str]
    enabled: bool
    names: tuple[str, ...] = ()
    table: str = ""


@dataclass(frozen=True, slots=True)
class UpdateStatistics:
    """The objects of UPDATE STATISTICS: a table with some of its columns, or a routine with the types of its arguments.

    `types` is None if none were given. Without `table` and `routine` it applies to all objects.
    """

    table: str = ""
    columns: tuple[str, ...] = ()
    routine: str = ""
    types: tuple[ColumnType, ...] | None = None
    specific: bool = False
