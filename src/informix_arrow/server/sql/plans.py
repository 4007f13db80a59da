"""What a prepared statement is inside: DuckDB text, and which values it needs when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..catalog import TableInfo


@dataclass(slots=True)
class Needs:
    """Parameters and session values of one text: `used` are the numbers of the `?` that stand in it,
    `assigned` those that go into a column (converted and cut), `packed` those compared with a floating
    decimal's key, all others are compared or computed with."""

    params: list[ColumnType | None] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    assigned: set[int] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    packed: set[int] = field(default_factory=set)


@dataclass(slots=True)
class SelectPlan:
    """A query; `into` is the table of SELECT ... INTO TEMP (name, temporary)."""

    sql: str
    columns: tuple[Column, ...]
    needs: Needs
    into: tuple[str, bool] | None = None
    packed: tuple[bool, ...] = ()


@dataclass(slots=True)
class InsertPlan:
    """INSERT. `values` has one entry per target: ("param", number), ("const", Python value) or ("expr",
    SQL); None when the rows come from `select`."""

    info: TableInfo
    targets: tuple[str, ...]
    values: tuple[tuple[str, object], ...] | None
    select: SelectPlan | None
    needs: Needs


@dataclass(slots=True)
class ModifyPlan:
    """UPDATE, DELETE or MERGE."""

    sql: str
    info: TableInfo
    needs: Needs
    columns: tuple[Column, ...] = ()
    warnings: int = 0


@dataclass(slots=True)
class StatementPlan:
    """Everything else, as ddl_parser and classify read it."""

    statement: object


Plan = SelectPlan | InsertPlan | ModifyPlan | StatementPlan
