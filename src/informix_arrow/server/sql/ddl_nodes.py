"""DDL statements as the reader hands them on."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire.types import ColumnType


@dataclass(slots=True)
class ColumnDef:
    name: str
    type: ColumnType
    default: tuple[str, str] | None = None
    serial_start: int = 1


@dataclass(slots=True)
class ConstraintDef:
    """P, U, C or R; `condition` is the text of a CHECK."""

    kind: str
    columns: list[str]
    name: str = ""
    condition: str = ""
    parent: str = ""
    parent_columns: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CreateTable:
    name: str
    temporary: bool
    columns: list[ColumnDef]
    constraints: list[ConstraintDef]
    if_not_exists: bool = False
    query: str = ""


@dataclass(slots=True)
class Drop:
    kind: str  # TABLE, VIEW, INDEX
    name: str
    if_exists: bool = False


@dataclass(slots=True)
class CreateIndex:
    name: str
    table: str
    unique: bool
    parts: list[tuple[str, bool]]
    if_not_exists: bool = False


@dataclass(slots=True)
class CreateView:
    name: str
    columns: list[str]
    query: str


@dataclass(slots=True)
class AlterTable:
    """`actions`: ("add", ColumnDef, constraints, before), ("drop", name), ("constraint", ConstraintDef),
    ("drop constraint", name), ("modify", ColumnDef, constraints)."""

    name: str
    actions: list[tuple[object, ...]]


@dataclass(slots=True)
class Rename:
    kind: str
    name: str
    new: str
    column: str = ""


@dataclass(slots=True)
class Truncate:
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
