"""What a prepared statement is inside: DuckDB text, and which values it needs when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..catalog import TableInfo
from .lob_functions import Call, ClientFile

if TYPE_CHECKING:
    from ..spl.embedded import Arguments
    from ..spl.registry import Callee


ROUTINE_CALL = "_ifx_routine("
"""What a text has in it that calls user routines (spl/sql_calls.py)."""


@dataclass(slots=True)
class Needs:
    """Parameters and session values of one text: `used` are the numbers of the `?` that stand in it,
    `assigned` those that go into a column (converted and cut), `packed` those compared with a floating
    decimal's key, all others are compared or computed with. `files` are read before the run; their objects'
    locators are the session values file0, file1, ..."""

    params: list[ColumnType | None] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    assigned: set[int] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    packed: set[int] = field(default_factory=set)
    files: tuple[ClientFile, ...] = ()


@dataclass(slots=True)
class SelectPlan:
    """A query; `into` is the table of SELECT ... INTO TEMP (name, temporary). `shown` is the text whose rows the
    client gets, where `sql` gives values in storage form; empty when that is the same. `calls` names the call
    that makes a column's values row by row, if there is one.

    `tables` are those that are read. `keyed` is `sql` with the identities of its rows as columns k0, k1, ...
    (keyed.py), "" where it is no plain query of one table; `filtered` tells that it does not want all rows of that,
    and `for_update` that it locks those it gets.
    """

    sql: str
    columns: tuple[Column, ...]
    needs: Needs
    into: tuple[str, bool] | None = None
    packed: tuple[bool, ...] = ()
    shown: str = ""
    calls: tuple[Call | None, ...] = ()
    tables: tuple[TableInfo, ...] = ()
    keyed: str = ""
    filtered: bool = False
    for_update: bool = False


@dataclass(slots=True)
class InsertPlan:
    """INSERT. `values` has one entry per target: ("param", number), ("const", Python value), ("expr", SQL) or
    ("stored", SQL of the value in the column's storage: the engine makes a const of it for each row, see
    engine.py); None when the rows come from `select`."""

    info: TableInfo
    targets: tuple[str, ...]
    values: tuple[tuple[str, object], ...] | None
    select: SelectPlan | None
    needs: Needs

    @property
    def by_row(self) -> bool:
        """Rows cannot be taken together: some values are made one by one when the statement runs."""
        return self.values is not None and any(kind == "stored" for kind, _ in self.values)


@dataclass(slots=True)
class ModifyPlan:
    """UPDATE, DELETE or MERGE.

    `each` is set where every row has values of its own made for it: it finds the row ids, and `sql` is run for one
    of them, the session value `row`. `warnings` are known beforehand; `cut` tells whether texts will be cut. `probe`
    is a query that makes the calls of user routines that `sql` will make (spl/sql_calls.py), "" when there are none.

    `looks` tells that an UPDATE or DELETE reads other rows than those it changes, parents included; `made` is then the
    query for an UPDATE's new values, as m0, m1, ..., and of a MERGE `over` is the text that reads the rows of `source`
    as `_ifx_rows`: so that a replay does not look again.
    """

    sql: str
    info: TableInfo
    needs: Needs
    columns: tuple[Column, ...] = ()
    warnings: int = 0
    each: str = ""
    cut: str = ""
    then_insert: InsertPlan | None = None  # of a MERGE, behind `sql`, which may be ""
    alias: str = ""
    head: str = ""
    touched: str = ""
    cursor: str = ""
    whole: bool = True
    tables: tuple[TableInfo, ...] = ()
    probe: str = ""
    looks: bool = False
    made: str = ""
    source: str = ""
    over: str = ""


@dataclass(slots=True)
class StatementPlan:
    """Everything else, as ddl_parser and classify read it."""

    statement: object


@dataclass(slots=True)
class CallPlan:
    """EXECUTE FUNCTION, EXECUTE PROCEDURE or CALL of one routine."""

    callee: Callee
    arguments: Arguments
    columns: tuple[Column, ...]
    needs: Needs


Plan = SelectPlan | InsertPlan | ModifyPlan | StatementPlan | CallPlan
