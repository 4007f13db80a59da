"""Plans of prepared statements: DuckDB SQL, and the values that it needs at execution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..catalog.catalog import ColumnInfo, TableInfo

WARN_CUT = 0x01
"""Warning: a character value was truncated to its column (SERVER-BEHAVIOUR section 4)."""

ROUTINE_CALL = "_ifx_routine("
"""Marks SQL that calls user routines (routines/sql_calls.py)."""


RowCall = Literal["lotofile", "ifx_lo_open"]
"""A call that the session makes for each row of a result."""


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file of the client that becomes a large object: its name, or the number of the parameter that contains the
    name."""

    kind: Literal["blob", "clob"]
    name: str
    parameter: int = -1


@dataclass(slots=True)
class BindRequirements:
    """Parameters and session values of one SQL text.

    `used_params` are the numbers of the `?` in the text. `assigned_params` are assigned to a column (converted and
    truncated). `packed_params` are compared with the key of a floating decimal. All others are compared or computed
    with. `files` are read before execution: the locators of their objects are the session values file0, file1, ...
    """

    params: list[ColumnType | None] = field(default_factory=list)
    used_params: set[int] = field(default_factory=set)
    assigned_params: set[int] = field(default_factory=set)
    session_values: set[str] = field(default_factory=set)
    packed_params: set[int] = field(default_factory=set)
    files: tuple[ClientFile, ...] = ()


@dataclass(frozen=True, slots=True)
class TruncationCause:
    """The reasons why a text may be too long for the `column` that it is assigned to.

    `literal` is true if a literal is too long. `params` are the numbers of parameters that may be. `conditions` are SQL
    conditions, any of which means that the text of a row is too long.
    """

    column: str
    literal: bool
    params: frozenset[int]
    conditions: tuple[str, ...]


@dataclass(slots=True)
class SelectPlan:
    """The plan of a query.

    `into` is the table of SELECT ... INTO TEMP (name, temporary). `client_sql` returns the rows for the client if `sql`
    returns values in storage form; it is empty if both are the same. `row_calls` has the call that computes a column's
    values row by row, or None. `tables` are the tables that are read.

    `with_row_ids` is `sql` with the identities of its rows as columns k0, k1, ... (row_identity.py). It is "" unless
    the query is a plain query of one table. `filtered` is true if that query has a WHERE, `for_update` if it locks its
    rows. `at_most_one_row` is true if it has no FROM, or if a key restricts it to one row.

    `catalog_only` is true if the query reads only the system catalogue. The plan stays valid through schema changes as
    long as the databases exist. This pays because such queries take long to plan and read little.
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
    """INSERT of one row into a table all of whose rules DuckDB knows.

    `columns` are all columns of the table with the sources of their values: ("param", number), ("const", Python value)
    or ("omitted", None). `serials` are the positions of the serials among them. `keys` are the keys: name, positions,
    the query that finds a row with the key, and the query for a key that contains NULL. `has_checks` is true if there
    are CHECK constraints. `sql` inserts the values of all columns.
    """

    columns: tuple[tuple[ColumnInfo, str, object], ...]
    serials: tuple[tuple[int, ColumnInfo], ...]
    keys: tuple[tuple[str, tuple[int, ...], str, str], ...]
    has_checks: bool
    sql: str


@dataclass(slots=True)
class InsertPlan:
    """The plan of an INSERT.

    `values` has one entry for each target: ("param", number), ("const", Python value), ("expr", SQL) or ("stored", SQL
    of the value in the column's storage form, which the session evaluates for each row). It is None if the rows come
    from `select`. `row` is set if one row needs nothing else. `read_tables` are the tables that expressions read.
    """

    info: TableInfo
    targets: tuple[str, ...]
    values: tuple[tuple[str, object], ...] | None
    select: SelectPlan | None
    needs: BindRequirements
    row: SingleRowPlan | None = None
    read_tables: tuple[TableInfo, ...] = ()

    @property
    def evaluates_per_row(self) -> bool:
        """True if some values are computed row by row, so that rows cannot be inserted together."""
        return self.values is not None and any(kind == "stored" for kind, _ in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyPlan:
    """Common fields of the plans of UPDATE, DELETE and MERGE. Each method of execution has its own subclass.

    Attributes
    ----------
    columns
        The columns that an UPDATE sets. Empty for a DELETE or MERGE.
    warnings
        The warnings that are known before execution.
    cuts
        For each new value, the reasons why a text may be truncated.
    tables, read
        All tables of the statement, and those that only subqueries and the source of a MERGE read.
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
    """UPDATE or DELETE of a view with INSTEAD OF triggers.

    `rows_query` returns the new values as m0, m1, ... and all columns of the view, prefixed with _.
    """

    rows_query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowwiseModify(ModifyPlan):
    """UPDATE that creates a large object from a client's file for each row.

    `row_ids` returns DuckDB's row ids. `sql` updates the row whose id is the session value `row`.
    """

    row_ids: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsModify(ModifyPlan):
    """Change of rows whose identities are found first, as k0, k1, ... (row_identity.py).

    Attributes
    ----------
    alias
        The alias of the table in the statement.
    head
        The statement before its WHERE. It is executed for a set of identities if there is no `values_query`.
    values_query
        The query that reads the rows before the change, without a WHERE: the new values of an UPDATE as m0, m1, ...,
        the identities, and old values of columns, prefixed with _. The old values are those of all columns if triggers
        or the change log need each row, else those of the keys that the UPDATE changes. "" if nothing must be read.
    changes_keys
        True if an UPDATE sets columns of a key.
    cut_query
        The query that finds the first column whose text will be truncated, by the conditions of `cuts`. "" if none can
        be.
    """

    alias: str
    head: str
    values_query: str = ""
    changes_keys: bool = False
    cut_query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModify(RowsModify):
    """UPDATE or DELETE of the rows that match a WHERE.

    Attributes
    ----------
    sql
        The statement for all rows at once.
    row_ids
        The query of the identities of its rows.
    probe
        A query that makes the same calls of user routines as `sql`, "" if there are none.
    reads_rows
        True if the identities are needed even if the whole table is locked or belongs to the session: a replay of the
        journal must not evaluate the statement again, or triggers or the change log need the rows.
    """

    sql: str
    row_ids: str
    probe: str = ""
    reads_rows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedModify(SetModify):
    """UPDATE or DELETE of the one row with an integer primary key, without any further effect.

    `key` has the values of the key: "p1" for the value bound to that name, or the value itself.
    """

    key: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorModify(RowsModify):
    """UPDATE or DELETE with WHERE CURRENT OF `cursor`.

    `sql` changes the row whose identity is bound to k0, k1, .... `probe` has the meaning of `SetModify.probe`.
    """

    cursor: str
    sql: str
    probe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeChange(RowsModify):
    """The change of the matching rows in a MERGE: an UPDATE, or a DELETE if there are no `columns`.

    `row_ids` is the query of their identities, with one identity for each matching row of the source.
    """

    row_ids: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan(ModifyPlan):
    """MERGE: a change of the rows that match and an INSERT of those that do not. One of them may be missing."""

    change: MergeChange | None
    insert: InsertPlan | None


@dataclass(slots=True)
class UtilityPlan:
    """Any other statement, as parsed by ddl_parser and classify."""

    statement: object


@dataclass(slots=True)
class CallPlan:
    """EXECUTE FUNCTION, EXECUTE PROCEDURE or CALL of one routine. The creator of the plan adds the routine."""

    columns: tuple[Column, ...]
    needs: BindRequirements


Plan = SelectPlan | InsertPlan | ModifyPlan | UtilityPlan | CallPlan
