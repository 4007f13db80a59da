"""Queries of the catalogue tables, in plain SQL that every release understands.

Only tables that are certain to exist are joined. Tables that may be missing (defaults, extended types, locales) are
queried separately, and the rows are joined here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..operations.io_steps import Exchange
from ..operations.prepare import prepare_ahead
from ..operations.read_table import query_table
from ..operations.session import Session
from ..wire.errors import DataError, Error, InterfaceError, ProgrammingError
from ..wire.types import ColumnType
from .catalog_types import NO_EXTENDED, TypeCatalogue, default_text, needs_catalogue
from .table_names import TableName, catalogue, no_table

Row = tuple[Any, ...]
P = ParamSpec("P")
T = TypeVar("T")

TABLE_TYPES = {
    "T": "TABLE",
    "V": "VIEW",
    "S": "SYNONYM",
    "P": "PRIVATE SYNONYM",
    "E": "EXTERNAL TABLE",
}
SYSTEM_TABLE = "SYSTEM TABLE"
FIRST_USER_TABLE = 100
"""Tables with lower numbers belong to the catalogue itself."""

_PART_COUNT = 16
_LIST = 200  # maximum numbers in one IN list


@dataclass(frozen=True, slots=True)
class Table:
    """A row of systables."""

    name: str
    owner: str
    tabid: int
    type: str
    created: Any
    columns: int
    indexes: int
    row_size: int
    rows: float | None
    lock_level: str


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A row of syscolumns, decoded."""

    owner: str
    table: str
    tabid: int
    number: int
    name: str
    type: ColumnType
    default: str | None


@dataclass(frozen=True, slots=True)
class KeyConstraint:
    """A primary (P), unique (U) or foreign (R) key; a CHECK (C) has no columns."""

    owner: str  # of the table
    table: str
    number: int
    tabid: int
    kind: str
    name: str
    index: str
    columns: tuple[int, ...]

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> KeyConstraint:
        """Return the key of a row of :func:`keys_sql`."""
        owner, table, number, tabid, kind, name, index, *parts = row
        columns = tuple(abs(part) for part in parts if part)
        return cls(owner, table, number, tabid, kind, name, index, columns)


@dataclass(frozen=True, slots=True)
class Reference:
    """The key that a foreign key refers to."""

    constraint: str
    owner: str
    table: str
    tabid: int
    columns: tuple[int, ...]
    delete_rule: str


@dataclass(frozen=True, slots=True)
class CatalogIndex:
    """A row of sysindexes. A descending column has a negative number."""

    table_owner: str
    table: str
    tabid: int
    name: str
    owner: str
    unique: bool
    clustered: bool
    column_numbers: tuple[int, ...]


def reads_catalogue(operation: Callable[P, Exchange[T]]) -> Callable[P, Exchange[T]]:
    """Decorate an operation that interprets catalogue rows: raise ``DataError`` for rows that it cannot interpret.

    The server may return anything: NULL for a name, text for a number, too few columns. The protocol stays in step, and
    the cause is attached.
    """

    @wraps(operation)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Exchange[T]:
        try:
            return (yield from operation(*args, **kwargs))
        except Error:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as e:
            raise DataError(f"The server's system catalog cannot be interpreted: {e}.") from e

    return checked


def rows_of(session: Session, sql: str, *values: object) -> Exchange[list[Row]]:
    """Return all rows of a catalogue query as tuples, without trailing blanks in text."""
    table = yield from query_table(session, sql, values)
    columns = [column.to_pylist() for column in table.columns]
    return [
        tuple(v.rstrip(" ") if isinstance(v, str) else v for v in row) for row in zip(*columns, strict=True)
    ]


Query = tuple[str, Sequence[object]]
"""A query with a value for each ``?``."""


def rows_of_all(session: Session, *queries: Query) -> Exchange[list[list[Row]]]:
    """Return the rows of several queries as :func:`rows_of` does. They are prepared together, in one round trip."""
    yield from prepare_ahead(session, [sql for sql, _ in queries])
    found = []
    for sql, values in queries:
        found.append((yield from rows_of(session, sql, *values)))
    return found


def tables(
    session: Session, database: str = "", where: str = "", values: Sequence[object] = ()
) -> Exchange[list[Table]]:
    """Return tables, views and synonyms by owner and name. ``where`` is a condition on ``t``."""
    found = yield from rows_of(
        session,
        "SELECT t.tabname, t.owner, t.tabid, t.tabtype, t.created, t.ncols, t.nindexes, t.rowsize, t.nrows, "
        f"t.locklevel FROM {catalogue(database)}systables t "
        f"WHERE t.tabtype IN ('T', 'V', 'S', 'P', 'E'){where and ' AND ' + where} ORDER BY 2, 1, 3",
        *values,
    )
    return [
        Table(
            name,
            owner,
            tabid,
            _table_type(kind, tabid),
            created,
            ncols,
            nindexes,
            rowsize,
            nrows,
            lock or "",
        )
        for name, owner, tabid, kind, created, ncols, nindexes, rowsize, nrows, lock in found
    ]


class NamedTable(NamedTuple):
    """The columns of systables that a list of tables needs."""

    name: str
    owner: str
    tabid: int
    type: str


def named_tables(
    session: Session, database: str = "", where: str = "", values: Sequence[object] = ()
) -> Exchange[list[NamedTable]]:
    """Return tables, views and synonyms like :func:`tables`, with few columns, at a third of its cost."""
    found = yield from rows_of(
        session,
        f"SELECT t.tabname, t.owner, t.tabid, t.tabtype FROM {catalogue(database)}systables t "
        f"WHERE t.tabtype IN ('T', 'V', 'S', 'P', 'E'){where and ' AND ' + where} ORDER BY 2, 1, 3",
        *values,
    )
    return [NamedTable(name, owner, tabid, _table_type(kind, tabid)) for name, owner, tabid, kind in found]


def _table_type(kind: str | None, tabid: int) -> str:
    return (
        SYSTEM_TABLE if kind == "T" and tabid < FIRST_USER_TABLE else TABLE_TYPES.get(kind or "", kind or "")
    )


def owners(session: Session, database: str = "") -> Exchange[list[str]]:
    """Return the owners of tables, views and synonyms, sorted."""
    found = yield from rows_of(
        session,
        f"SELECT DISTINCT t.owner FROM {catalogue(database)}systables t "
        "WHERE t.tabtype IN ('T', 'V', 'S', 'P', 'E') ORDER BY 1",
    )
    return [owner for (owner,) in found]


def find_table(session: Session, name: TableName) -> Exchange[Table]:
    """Return the table for a name. A synonym is resolved to its table.

    Raises ``ProgrammingError``: -206 if there is none, or an error that lists the owners if several tables match.
    """
    found = yield from tables(session, name.database, "t.tabname = ?", (name.name,))
    found = [table for table in found if name.is_owned_by(table.owner)]
    if not found:
        raise no_table(name.name, name.database)
    if len(found) > 1:
        ((user,),) = yield from rows_of(session, "SELECT USER FROM informix.systables WHERE tabid = 1")
        mine = [table for table in found if table.owner == user]
        if len(mine) != 1:
            owners = ", ".join(table.owner for table in found)
            raise ProgrammingError(
                f"Several owners have a table {name.name!r}: {owners}. Write owner.table.", near=name.name
            )
        found = mine
    (table,) = found
    if table.type in (TABLE_TYPES["S"], TABLE_TYPES["P"]):
        return (yield from _resolve_synonym(session, name, table))
    return table


def _resolve_synonym(session: Session, name: TableName, synonym: Table) -> Exchange[Table]:
    rows = yield from rows_of(
        session,
        f"SELECT s.btabid, s.servername, s.dbname, s.owner, s.tabname FROM {catalogue(name.database)}syssyntable s "
        "WHERE s.tabid = ?",
        synonym.tabid,
    )
    if rows and rows[0][0]:
        found = yield from tables(session, name.database, "t.tabid = ?", (rows[0][0],))
        if found:
            return found[0]
    if rows and rows[0][4]:
        _, server, database, owner, table = rows[0]
        target = f"{database}{'@' + server if server else ''}:{owner}.{table}"
        raise ProgrammingError(f"{name.name!r} is a synonym of {target}. Name that table.", near=name.name)
    raise no_table(name.name, name.database)


def columns_sql(database: str, condition: str) -> str:
    """Return the query of the columns of the tables that meet ``condition`` (on ``t``)."""
    p = catalogue(database)
    return (
        "SELECT c.tabid, c.colno, c.colname, c.coltype, c.collength, c.extended_id, t.owner, t.tabname "
        f"FROM {p}systables t, {p}syscolumns c WHERE c.tabid = t.tabid AND {condition} ORDER BY 1, 2"
    )


def defaults_sql(database: str, condition: str) -> str:
    """Return the query of the defaults of these columns."""
    p = catalogue(database)
    # DEFAULT is a keyword; qualified by the table it is a column.
    return (
        f"SELECT d.tabid, d.colno, d.type, d.default FROM {p}systables t, {p}sysdefaults d "
        f"WHERE d.tabid = t.tabid AND {condition}"
    )


def columns(
    session: Session, database: str, condition: str, values: Sequence[object]
) -> Exchange[list[TableColumn]]:
    """Return the columns of the tables that meet ``condition`` (on ``t``), by table and position."""
    found, stored = yield from rows_of_all(
        session, (columns_sql(database, condition), values), (defaults_sql(database, condition), values)
    )
    extended = NO_EXTENDED
    if any(needs_catalogue(row[5] or 0) for row in found):
        extended = yield from type_catalogue(session, database)
    defaults = {(tabid, number): (kind, text) for tabid, number, kind, text in stored}
    decoded = []
    for tabid, number, name, word, length, extended_id, owner, table in found:
        t = extended.column_type(word, length, extended_id or 0)
        default = defaults.get((tabid, number))
        text = default_text(default[0], default[1], t) if default else None
        decoded.append(TableColumn(owner, table, tabid, number, name, t, text))
    return decoded


def type_queries(database: str) -> tuple[str, str]:
    """Return the queries of the extended types of a database, and of their attributes."""
    p = catalogue(database)
    return (
        f"SELECT x.extended_id, x.name, x.owner, x.type, x.source FROM {p}sysxtdtypes x",
        "SELECT a.extended_id, a.seqno, a.levelno, a.parent_no, a.fieldname, a.type, a.length, a.xtd_type_id "
        f"FROM {p}sysattrtypes a ORDER BY 1, 2",
    )


def type_catalogue(session: Session, database: str) -> Exchange[TypeCatalogue]:
    """Return the extended types of a database and their attributes."""
    types, attributes = yield from rows_of_all(session, *((sql, ()) for sql in type_queries(database)))
    return TypeCatalogue.of_rows(types, attributes)


def keys_sql(database: str, condition: str) -> str:
    """Return the query of :func:`keys`."""
    p = catalogue(database)
    return (
        f"SELECT t.owner, t.tabname, k.constrid, k.tabid, k.constrtype, k.constrname, k.idxname, {_index_parts('i')} "
        f"FROM {p}systables t, {p}sysconstraints k, {p}sysindexes i WHERE k.tabid = t.tabid "
        f"AND k.constrtype IN ('P', 'U', 'R') AND i.tabid = k.tabid AND i.idxname = k.idxname AND {condition} "
        "ORDER BY 4, 5, 6"
    )


def keys(
    session: Session, database: str, condition: str, values: Sequence[object]
) -> Exchange[list[KeyConstraint]]:
    """Return primary, unique and foreign keys of the tables that meet ``condition`` (on ``t``)."""
    found = yield from rows_of(session, keys_sql(database, condition), *values)
    return [KeyConstraint.of_row(row) for row in found]


def checks(
    session: Session, database: str, condition: str, values: Sequence[object]
) -> Exchange[list[KeyConstraint]]:
    """CHECK constraints: their names."""
    p = catalogue(database)
    found = yield from rows_of(
        session,
        "SELECT t.owner, t.tabname, k.constrid, k.tabid, k.constrtype, k.constrname "
        f"FROM {p}systables t, {p}sysconstraints k "
        f"WHERE k.tabid = t.tabid AND k.constrtype = 'C' AND {condition} ORDER BY 4, 6",
        *values,
    )
    return [
        KeyConstraint(owner, table, number, tabid, kind, name, "", ())
        for owner, table, number, tabid, kind, name in found
    ]


def references_sql(database: str, condition: str) -> str:
    """Return the query of :func:`references`."""
    p = catalogue(database)
    return (
        f"SELECT r.constrid, r.delrule, f.constrname, q.owner, q.tabname, q.tabid, {_index_parts('i')} "
        f"FROM {p}systables t, {p}sysconstraints k, {p}sysreferences r, {p}sysconstraints f, {p}systables q, "
        f"{p}sysindexes i WHERE k.tabid = t.tabid AND k.constrtype = 'R' AND r.constrid = k.constrid "
        "AND f.constrid = r.primary AND q.tabid = f.tabid AND i.tabid = f.tabid AND i.idxname = f.idxname "
        f"AND {condition}"
    )


def references(
    session: Session, database: str, condition: str, values: Sequence[object]
) -> Exchange[dict[int, Reference]]:
    """Return what the foreign keys of the tables that meet ``condition`` (on ``t``) refer to, by key number."""
    found = yield from rows_of(session, references_sql(database, condition), *values)
    return {
        number: Reference(
            name,
            owner,
            table,
            tabid,
            tuple(abs(part) for part in parts if part),
            "CASCADE" if rule == "C" else "RESTRICT",
        )
        for number, rule, name, owner, table, tabid, *parts in found
    }


def indexes_sql(database: str, condition: str) -> str:
    """Return the query of :func:`indexes`."""
    p = catalogue(database)
    return (
        f"SELECT t.owner, t.tabname, i.tabid, i.idxname, i.owner, i.idxtype, i.clustered, {_index_parts('i')} "
        f"FROM {p}systables t, {p}sysindexes i WHERE i.tabid = t.tabid AND {condition} ORDER BY 3, 4"
    )


def indexes(
    session: Session, database: str, condition: str, values: Sequence[object]
) -> Exchange[list[CatalogIndex]]:
    """Return the indexes of the tables that meet ``condition`` (on ``t``), including those of constraints."""
    found = yield from rows_of(session, indexes_sql(database, condition), *values)
    return [
        CatalogIndex(
            table_owner,
            table,
            tabid,
            name,
            owner,
            kind == "U",
            clustered == "C",
            tuple(part for part in parts if part),
        )
        for table_owner, table, tabid, name, owner, kind, clustered, *parts in found
    ]


def column_names_sql(database: str, condition: str) -> str:
    """Return the query of names of columns of the tables that meet ``condition`` (on ``c``)."""
    return f"SELECT c.tabid, c.colno, c.colname FROM {catalogue(database)}syscolumns c WHERE {condition}"


def column_names(
    session: Session, database: str, tabids: Iterable[int]
) -> Exchange[dict[tuple[int, int], str]]:
    """Return names of columns by table and number."""
    ids = sorted(set(tabids))
    names: dict[tuple[int, int], str] = {}
    for start in range(0, len(ids), _LIST):
        numbers = ", ".join(str(int(tabid)) for tabid in ids[start : start + _LIST])
        found = yield from rows_of(session, column_names_sql(database, f"c.tabid IN ({numbers})"))
        names.update({(tabid, number): name for tabid, number, name in found})
    return names


def rows_if_exists(session: Session, operation: Exchange[list[Row]]) -> Exchange[list[Row] | None]:
    """Return rows of a catalogue table, or None if the server lacks it or the user may not read it."""
    try:
        return (yield from operation)
    except Error as error:
        if not session.usable_after(error) or error.sqlcode not in (-206, -217, -272, -329, -387):
            raise
        return None


def type_filter(types: Sequence[str] | None, known: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that selects table types. Raises ``InterfaceError`` for an unknown type."""
    if types is None:
        return lambda kind: kind != SYSTEM_TABLE
    selected = {kind.upper() for kind in type_names(types)}
    all_types = set(known)
    if not selected <= all_types:
        raise InterfaceError(
            f"Unknown table types: {', '.join(sorted(selected - all_types))}. Use "
            f"{', '.join(sorted(all_types))}."
        )
    return lambda kind: kind in selected


def type_names(types: Sequence[str]) -> Sequence[str]:
    """Return table types unchanged. Raises ``InterfaceError`` if they are not a sequence of names."""
    if isinstance(types, str) or not all(isinstance(kind, str) for kind in types):
        raise InterfaceError(f"table types must be a sequence of names, not a string, got {types!r}.")
    return types


def _index_parts(alias: str) -> str:
    return ", ".join(f"{alias}.part{number}" for number in range(1, _PART_COUNT + 1))
