"""What a prepared statement is inside: DuckDB text, and which values it needs when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..catalog.catalog import ColumnInfo, TableInfo

WARN_CUT = 0x01
"""A character value was cut to its column (SERVER-BEHAVIOUR section 4)."""

ROUTINE_CALL = "_ifx_routine("
"""What a text has in it that calls user routines (routines/sql_calls.py)."""


RowCall = Literal["lotofile", "ifx_lo_open"]
"""A call that the engine makes for each row of a result."""


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file of the client that becomes an object: its name, or the number of the parameter that tells it."""

    kind: Literal["blob", "clob"]
    name: str
    parameter: int = -1


@dataclass(slots=True)
class BindRequirements:
    """Parameters and session values of one text: `used_params` are the numbers of the `?` that stand in it,
    `assigned_params` those that go into a column (converted and cut), `packed` those compared with a floating
    decimal's key, all others are compared or computed with. `files` are read before the run; their objects'
    locators are the session values file0, file1, ..."""

    params: list[ColumnType | None] = field(default_factory=list)
    used_params: set[int] = field(default_factory=set)
    assigned_params: set[int] = field(default_factory=set)
    session_values: set[str] = field(default_factory=set)
    packed_params: set[int] = field(default_factory=set)
    files: tuple[ClientFile, ...] = ()


@dataclass(frozen=True, slots=True)
class TruncationCause:
    """Why a text may have no room in a `column` that it is given to: the `literal` has none; a parameter with one of
    these numbers may have none; it has none where one of `conditions` holds for a row."""

    column: str
    literal: bool
    params: frozenset[int]
    conditions: tuple[str, ...]


@dataclass(slots=True)
class SelectPlan:
    """A query; `into` is the table of SELECT ... INTO TEMP (name, temporary). `client_sql` is the text whose rows the
    client gets, where `sql` gives values in storage form; empty when that is the same. `row_calls` names the call
    that makes a column's values row by row, if there is one.

    `tables` are those that are read. `with_row_ids` is `sql` with the identities of its rows as columns k0, k1, ...
    (keyed.py), "" where it is no plain query of one table; `filtered` tells that it does not want all rows of that,
    `for_update` that it locks those it gets, and `at_most_one_row` that it has one row, having no FROM, or
    that a key allows for one.

    `catalog_only` tells that it is of the system catalogue alone, which no change of the schema makes another: the plan holds
    as long as the databases are there. There is little to read, and much to plan.
    """

    sql: str
    columns: tuple[Column, ...]
    needs: BindRequirements
    into: tuple[str, bool] | None = None
    packed_decimals: tuple[bool, ...] = ()
    client_sql: str = ""
    row_calls: tuple[RowCall | None, ...] = ()
    tables: tuple[TableInfo, ...] = ()
    with_row_ids: str = ""
    filtered: bool = False
    for_update: bool = False
    at_most_one_row: bool = False
    catalog_only: bool = False


@dataclass(frozen=True, slots=True)
class SingleRowPlan:
    """INSERT of one row into a table of which DuckDB knows all rules.

    `columns` are all of the table with where their values come from: ("param", number), ("const", Python value) or
    ("omitted", None). `serials` are the places of its serials among them. `keys` are its keys: name, places, the query
    that finds a row with one, and that for one with NULL in it. `has_checks` tells that there are CHECKs. `sql` inserts
    the values of all columns.
    """

    columns: tuple[tuple[ColumnInfo, str, object], ...]
    serials: tuple[tuple[int, ColumnInfo], ...]
    keys: tuple[tuple[str, tuple[int, ...], str, str], ...]
    has_checks: bool
    sql: str


@dataclass(slots=True)
class InsertPlan:
    """INSERT. `values` has one entry per target: ("param", number), ("const", Python value), ("expr", SQL) or
    ("stored", SQL of the value in the column's storage: the engine makes a const of it for each row, see
    engine.py); None when the rows come from `select`. `row` is for one row that needs nothing else. `read_tables` are the
    tables that expressions read."""

    info: TableInfo
    targets: tuple[str, ...]
    values: tuple[tuple[str, object], ...] | None
    select: SelectPlan | None
    needs: BindRequirements
    row: SingleRowPlan | None = None
    read_tables: tuple[TableInfo, ...] = ()

    @property
    def evaluates_per_row(self) -> bool:
        """Rows cannot be taken together: some values are made one by one when the statement runs."""
        return self.values is not None and any(kind == "stored" for kind, _ in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyPlan:
    """What the plans of all UPDATE, DELETE and MERGE statements have in common. Each way to run such a statement is a
    subclass of its own.

    Attributes
    ----------
    columns
        The columns that an UPDATE sets; none for a DELETE or MERGE.
    warnings
        The warnings that are known before the statement runs.
    cuts
        For each new value, how a text may be cut to its column.
    tables, read
        All tables of the statement, and those of them that only subqueries and the source of a MERGE read.
    """

    info: TableInfo
    needs: BindRequirements
    columns: tuple[Column, ...] = ()
    warnings: int = 0
    cuts: tuple[TruncationCause, ...] = ()
    tables: tuple[TableInfo, ...] = ()
    read: tuple[TableInfo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewModify(ModifyPlan):
    """An UPDATE or DELETE of a view whose rows go to INSTEAD OF triggers.

    `rows_query` gives the new values as m0, m1, ... and all columns of the view, with a _ before their names.
    """

    rows_query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowwiseModify(ModifyPlan):
    """An UPDATE that makes a large object of a client's file for each row.

    `row_ids` finds DuckDB's row ids; `sql` updates the row whose id is the session value `row`.
    """

    row_ids: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsModify(ModifyPlan):
    """A change of rows whose identities are found before, as k0, k1, ... (keyed.py).

    Attributes
    ----------
    alias
        What the statement calls the table.
    head
        The statement up to its WHERE. It is run for a set of identities where there is no `values_query`.
    values_query
        Reads the rows before they are changed: the new values of an UPDATE as m0, m1, ... beside the identities and the
        old values of some columns, with a _ before their names; without a WHERE. The old values are of all columns
        where triggers or the log of changes want to see each row, else of the keys that the UPDATE changes. "" where
        nothing has to be read.
    changes_keys
        Whether an UPDATE sets columns of a key.
    cut_query
        Finds the first column whose text will be cut, by the conditions of `cuts`; "" where none can be.
    """

    alias: str
    head: str
    values_query: str = ""
    changes_keys: bool = False
    cut_query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModify(RowsModify):
    """An UPDATE or DELETE of the rows that fit a WHERE.

    Attributes
    ----------
    sql
        The statement for all of its rows at once.
    row_ids
        The query for the identities of its rows.
    probe
        A query that makes the calls of user routines that `sql` will make, "" when there are none.
    reads_rows
        Whether the identities are needed even where the table is locked as a whole, or is the session's own: a replay
        of the journal must not evaluate the statement again, or triggers or the log want to see the rows.
    """

    sql: str
    row_ids: str
    probe: str = ""
    reads_rows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedModify(SetModify):
    """An UPDATE or DELETE of the one row of a primary key of integers that does nothing else.

    `key` has the values of the key: "p1" for the value that is bound to that name, or the value itself.
    """

    key: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorModify(RowsModify):
    """An UPDATE or DELETE with WHERE CURRENT OF `cursor`.

    `sql` changes the row whose identity is bound to k0, k1, ..., and `probe` is as that of `SetModify`.
    """

    cursor: str
    sql: str
    probe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeChange(RowsModify):
    """What a MERGE does to the rows that match: an UPDATE, or a DELETE where there are no `columns`.

    `row_ids` is the query for their identities, which gives one for each row of the source that matches.
    """

    row_ids: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan(ModifyPlan):
    """MERGE: a change of the rows that match and an INSERT of those that do not, of which one may be missing."""

    change: MergeChange | None
    insert: InsertPlan | None


@dataclass(slots=True)
class UtilityPlan:
    """Everything else, as ddl_parser and classify read it."""

    statement: object


@dataclass(slots=True)
class CallPlan:
    """EXECUTE FUNCTION, EXECUTE PROCEDURE or CALL of one routine; who makes such a plan adds what is called."""

    columns: tuple[Column, ...]
    needs: BindRequirements


Plan = SelectPlan | InsertPlan | ModifyPlan | UtilityPlan | CallPlan
