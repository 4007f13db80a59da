"""What a prepared statement is inside: DuckDB text, and which values it needs when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..schema.catalog import ColumnInfo, TableInfo

WARN_CUT = 0x01
"""A character value was cut to its column (SERVER-BEHAVIOUR section 4)."""

ROUTINE_CALL = "_ifx_routine("
"""What a text has in it that calls user routines (routines/sql_calls.py)."""


Call = Literal["lotofile", "ifx_lo_open"]
"""A call that the engine makes for each row of a result."""


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file of the client that becomes an object: its name, or the number of the parameter that tells it."""

    kind: Literal["blob", "clob"]
    name: str
    parameter: int = -1


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


@dataclass(frozen=True, slots=True)
class Cut:
    """Why a text may have no room in a `column` that it is given to: the `literal` has none; a parameter with one of
    these numbers may have none; it has none where one of `conditions` holds for a row."""

    column: str
    literal: bool
    params: frozenset[int]
    conditions: tuple[str, ...]


@dataclass(slots=True)
class SelectPlan:
    """A query; `into` is the table of SELECT ... INTO TEMP (name, temporary). `shown` is the text whose rows the
    client gets, where `sql` gives values in storage form; empty when that is the same. `calls` names the call
    that makes a column's values row by row, if there is one.

    `tables` are those that are read. `keyed` is `sql` with the identities of its rows as columns k0, k1, ...
    (keyed.py), "" where it is no plain query of one table; `filtered` tells that it does not want all rows of that,
    `for_update` that it locks those it gets, and `few` that it has one row, having no FROM, or
    that a key allows for one.

    `fixed` tells that it is of the system catalogue alone, which no change of the schema makes another: the plan holds
    as long as the databases are there. There is little to read, and much to plan.
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
    few: bool = False
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class RowPlan:
    """INSERT of one row into a table of which DuckDB knows all rules.

    `columns` are all of the table with where their values come from: ("param", number), ("const", Python value) or
    ("omitted", None). `serials` are the places of its serials among them. `keys` are its keys: name, places, the query
    that finds a row with one, and that for one with NULL in it. `checked` tells that there are CHECKs. `sql` inserts
    the values of all columns.
    """

    columns: tuple[tuple[ColumnInfo, str, object], ...]
    serials: tuple[tuple[int, ColumnInfo], ...]
    keys: tuple[tuple[str, tuple[int, ...], str, str], ...]
    checked: bool
    sql: str


@dataclass(slots=True)
class InsertPlan:
    """INSERT. `values` has one entry per target: ("param", number), ("const", Python value), ("expr", SQL) or
    ("stored", SQL of the value in the column's storage: the engine makes a const of it for each row, see
    engine.py); None when the rows come from `select`. `row` is for one row that needs nothing else. `read` are the
    tables that expressions read."""

    info: TableInfo
    targets: tuple[str, ...]
    values: tuple[tuple[str, object], ...] | None
    select: SelectPlan | None
    needs: Needs
    row: RowPlan | None = None
    read: tuple[TableInfo, ...] = ()

    @property
    def by_row(self) -> bool:
        """Rows cannot be taken together: some values are made one by one when the statement runs."""
        return self.values is not None and any(kind == "stored" for kind, _ in self.values)


@dataclass(slots=True)
class ModifyPlan:
    """UPDATE, DELETE or MERGE.

    `each` is set where every row has values of its own made for it: it finds the row ids, and `sql` is run for one
    of them, the session value `row`. `warnings` are known beforehand; `cut` is a query for the first column whose text
    will be cut, by the conditions in `cuts`, which are of all columns. `probe` is a query that makes the calls of user
    routines that `sql` will make, "" when there are none.

    `looks` tells that an UPDATE or DELETE reads other rows than those it changes, parents included; `made` is then the
    query for an UPDATE's new values, as m0, m1, ...: so that a replay does not look again. `merges` tells that it is a
    MERGE; `then_insert` are the rows that it inserts.

    `by_key` are the values of the primary key of the one row that an UPDATE or DELETE changes, where that is all that
    there is to it and they are integers: "p1" for the value bound to that name, or the value itself.

    `rows` is set where triggers want to see each row, or the log of changes does: the query for all its columns, beside
    the new values m0, m1, ... where there are any.

    `rekeys` tells that an UPDATE changes columns of a key; `made` has all columns of such keys then. `whole` tells that
    the table is locked and not its rows.

    `tables` are all that the statement meets, `read` those of its subqueries and of the source of a MERGE.
    """

    sql: str
    info: TableInfo
    needs: Needs
    columns: tuple[Column, ...] = ()
    warnings: int = 0
    each: str = ""
    cut: str = ""
    cuts: tuple[Cut, ...] = ()
    then_insert: InsertPlan | None = None
    alias: str = ""
    head: str = ""
    touched: str = ""
    cursor: str = ""
    whole: bool = True
    tables: tuple[TableInfo, ...] = ()
    read: tuple[TableInfo, ...] = ()
    probe: str = ""
    looks: bool = False
    rekeys: bool = False
    made: str = ""
    merges: bool = False
    by_key: tuple[str | int, ...] = ()
    rows: str = ""


@dataclass(slots=True)
class StatementPlan:
    """Everything else, as ddl_parser and classify read it."""

    statement: object


@dataclass(slots=True)
class CallPlan:
    """EXECUTE FUNCTION, EXECUTE PROCEDURE or CALL of one routine; who makes such a plan adds what is called."""

    columns: tuple[Column, ...]
    needs: Needs


Plan = SelectPlan | InsertPlan | ModifyPlan | StatementPlan | CallPlan
