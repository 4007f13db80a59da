"""The catalogue of a database as SQLAlchemy's dictionaries, by one query for each kind of object and any number of
tables.

Each function returns a dictionary by table name. Trailing blanks of names are removed where the catalogue's columns are
CHAR. The catalogue lists the columns of a constraint or an index by number, in up to sixteen columns of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.engine import Connection

from ..metadata import queries
from ..metadata.catalog_types import (
    NO_EXTENDED,
    TypeCatalogue,
    default_text,
    needs_catalogue,
)
from ..metadata.queries import KeyConstraint
from ..wire.types import ColumnType, TypeCode
from .types import (
    BIGSERIAL,
    BSON,
    BYTE,
    DATETIME,
    DATETIME_QUALIFIER,
    INT8,
    INTERVAL,
    LVARCHAR,
    MONEY,
    SERIAL,
    SERIAL8,
    SMALLFLOAT,
    TIME,
    TIME_QUALIFIER,
    DeclaredType,
)

FIRST_USER_TABLE = 100
TABLES, VIEWS, SEQUENCES, SYNONYMS = "TE", "V", "Q", "SP"
_LIST = 200  # most names in one IN list; longer lists are filtered in Python

# The queries that describe tables, with a place for the condition on systables as ``t``.
_TABLES = "SELECT t.tabname FROM informix.systables t WHERE {condition} ORDER BY 1"
_COLUMNS = queries.columns_sql("", "{condition}")
_DEFAULTS = queries.defaults_sql("", "{condition}")
_KEYS = queries.keys_sql("", "{condition}")
_REFERENCES = queries.references_sql("", "{condition}")
_INDEXES = queries.indexes_sql("", "{condition}")
_EXTENDED_TYPES, _ATTRIBUTES = queries.type_queries("")
_CHECKS = (
    "SELECT t.tabname, k.constrname, c.checktext || '.' "
    "FROM informix.systables t, informix.sysconstraints k, informix.syschecks c "
    "WHERE k.tabid = t.tabid AND k.constrtype = 'C' AND c.constrid = k.constrid AND c.type IN ('T', 's') "
    "AND {condition} ORDER BY t.tabname, k.constrname, c.seqno"
)
_QUERIES = (_EXTENDED_TYPES, _ATTRIBUTES, _COLUMNS, _DEFAULTS, _KEYS, _REFERENCES, _INDEXES, _CHECKS)

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class TableFilter:
    """The tables that are to be reflected.

    Attributes
    ----------
    names
        Their names, which may include those of the catalogue; None = all tables of users.
    owner
        Their owner; "" = any.
    kinds
        Letters of ``tabtype``.
    """

    names: frozenset[str] | None = None
    owner: str = ""
    kinds: str = TABLES + VIEWS

    def condition(self) -> tuple[str, tuple[str, ...]]:
        """The condition on systables as ``t``, and its parameters."""
        parts = [f"t.tabtype IN ({', '.join(repr(kind) for kind in self.kinds)})"]
        values: tuple[str, ...] = ()
        if self.names is None:
            parts.append(f"t.tabid >= {FIRST_USER_TABLE}")
        elif len(self.names) <= _LIST:
            parts.append(f"t.tabname IN ({', '.join('?' * len(self.names)) or 'NULL'})")
            values += tuple(self.names)
        if self.owner:
            parts.append("t.owner = ?")
            values += (self.owner,)
        return " AND ".join(parts), values

    def has(self, name: str) -> bool:
        """Return whether a table of this name is selected, as far as the query did not filter it."""
        return self.names is None or name in self.names


class Catalogue:
    """The catalogue of a connection's database. Each query is sent once, as long as ``cache`` is the same.

    Parameters
    ----------
    connection
        The connection.
    cache
        Where the rows of queries are kept: the ``info_cache`` of an Inspector, which it clears with ``clear_cache()``.
        None = they are not kept.
    """

    def __init__(self, connection: Connection, cache: dict[Any, Any] | None = None) -> None:
        self._connection = connection
        self._cache: dict[Any, Any] = {} if cache is None else cache

    def raw_rows(self, sql: str, values: Iterable[object] = ()) -> Sequence[Row]:
        """Return all rows of a query."""
        key = ("informix_arrow", sql, tuple(values))
        if key not in self._cache:
            self._cache[key] = self._connection.exec_driver_sql(sql, tuple(values)).all()
        found: Sequence[Row] = self._cache[key]
        return found

    def rows(self, sql: str, values: Iterable[object] = ()) -> list[Row]:
        """Return all rows of a query, without trailing blanks in texts."""
        return [
            [v.rstrip(" ") if isinstance(v, str) else v for v in row] for row in self.raw_rows(sql, values)
        ]

    def about(self, query: str, table_filter: TableFilter) -> list[Row]:
        """Return all rows of a query with a place for the condition on tables."""
        condition, values = table_filter.condition()
        return self.rows(query.format(condition=condition), values)

    def prepare(self, table_filter: TableFilter) -> None:
        """Prepare the queries that describe tables, in one round trip instead of one for each."""
        condition, _ = table_filter.condition()
        key = ("informix_arrow.prepared", condition)
        if key not in self._cache:
            self._cache[key] = True
            connection: Any = self._connection.connection.dbapi_connection
            connection.prepare([sql.format(condition=condition) for sql in _QUERIES])


def tables(catalogue: Catalogue, table_filter: TableFilter) -> list[str]:
    """Return names, sorted."""
    found = catalogue.about(_TABLES, table_filter)
    return [name for (name,) in found if table_filter.has(name)]


def described_tables(catalogue: Catalogue, table_filter: TableFilter) -> list[str]:
    """Return the names of tables that have columns, sorted, from the query that :func:`columns` needs too."""
    names = {row[-1] for row in catalogue.about(_COLUMNS, table_filter)}
    return sorted(name for name in names if table_filter.has(name))


def owners(catalogue: Catalogue) -> list[str]:
    """Return the owners of objects of the database."""
    found = catalogue.rows("SELECT DISTINCT t.owner FROM informix.systables t ORDER BY 1")
    return [owner for (owner,) in found if owner]


def view_text(catalogue: Catalogue, table_filter: TableFilter) -> str:
    """Return the CREATE VIEW statement, "" if there is no such view. The catalogue stores it in pieces."""
    condition, values = table_filter.condition()
    found = catalogue.raw_rows(
        "SELECT v.viewtext || '.' FROM informix.systables t, informix.sysviews v "
        f"WHERE v.tabid = t.tabid AND {condition} ORDER BY v.seqno",
        values,
    )
    return "".join(piece[:-1] for (piece,) in found).strip()  # the point kept the blanks at a piece's end


# ---- columns ---------------------------------------------------------------------------------------------------------


def columns(catalogue: Catalogue, table_filter: TableFilter) -> dict[str, list[dict[str, Any]]]:
    """Return the columns of tables, in their order."""
    found = catalogue.about(_COLUMNS, table_filter)
    extended = NO_EXTENDED
    if any(needs_catalogue(row[5] or 0) for row in found):
        extended = TypeCatalogue.of_rows(catalogue.rows(_EXTENDED_TYPES), catalogue.rows(_ATTRIBUTES))
    defaults = {
        (tabid, number): (kind, text)
        for tabid, number, kind, text in catalogue.about(_DEFAULTS, table_filter)
    }
    columns_by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for tabid, number, name, word, length, extended_id, _, table in found:
        if not table_filter.has(table):
            continue
        declared = extended.column_type(word, length, extended_id or 0)
        default = defaults.get((tabid, number))
        text = default_text(default[0], default[1], declared) if default else None
        columns_by_table[table].append(_column(name, declared, _standard(text, declared)))
    return columns_by_table


def _standard(default: str | None, declared: ColumnType) -> str | None:
    """Return a default in standard SQL if possible, so that it can be taken to other databases and back."""
    if default is None:
        return None
    if declared.is_boolean:
        return {"'t'": "true", "'f'": "false"}.get(default.lower(), default)
    if declared.code == TypeCode.DATETIME and default.upper().startswith("CURRENT"):
        return "CURRENT_TIMESTAMP"
    return default


def described_columns(description: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the columns of a result, for tables that are in no catalogue: temporary ones, and those behind
    synonyms."""
    return [
        {**_column(name, ColumnType.parse_sql(str(declared)), None), "nullable": nullable}
        for name, declared, _, _, _, _, nullable in description
    ]


def _column(name: str, declared: ColumnType, default: str | None) -> dict[str, Any]:
    return {
        "name": name,
        "type": column_type(declared),
        "nullable": not declared.not_null,
        "default": default,
        "autoincrement": declared.code in (TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL),
    }


_SIMPLE_TYPES: dict[int, type[sqltypes.TypeEngine[Any]]] = {
    TypeCode.SMALLINT: sqltypes.SMALLINT,
    TypeCode.INTEGER: sqltypes.INTEGER,
    TypeCode.BIGINT: sqltypes.BIGINT,
    TypeCode.INT8: INT8,
    TypeCode.SERIAL: SERIAL,
    TypeCode.SERIAL8: SERIAL8,
    TypeCode.BIGSERIAL: BIGSERIAL,
    TypeCode.FLOAT: sqltypes.FLOAT,
    TypeCode.SMALLFLOAT: SMALLFLOAT,
    TypeCode.DATE: sqltypes.DATE,
    TypeCode.BYTE: BYTE,
    TypeCode.TEXT: sqltypes.TEXT,
}
_SIZED: dict[int, type[sqltypes.String]] = {
    TypeCode.CHAR: sqltypes.CHAR,
    TypeCode.NCHAR: sqltypes.NCHAR,
    TypeCode.VARCHAR: sqltypes.VARCHAR,
    TypeCode.NVARCHAR: sqltypes.NVARCHAR,
}


def column_type(declared: ColumnType) -> sqltypes.TypeEngine[Any]:
    """Return SQLAlchemy's type for a declaration; a :class:`DeclaredType` if there is none."""
    if declared.is_boolean:
        return sqltypes.BOOLEAN()
    if declared.is_lvarchar:
        return LVARCHAR(declared.content_width)
    if declared.is_blob:
        return sqltypes.BLOB()
    if declared.is_clob:
        return sqltypes.CLOB()
    if declared.is_json or declared.is_bson:
        return sqltypes.JSON() if declared.is_json else BSON()
    if declared.code in _SIMPLE_TYPES:
        return _SIMPLE_TYPES[declared.code]()
    if declared.code in _SIZED:
        return _SIZED[declared.code](declared.content_width)
    if declared.code == TypeCode.DECIMAL:
        return sqltypes.DECIMAL(declared.precision, declared.scale)
    if declared.code == TypeCode.MONEY:
        return MONEY(declared.precision, declared.scale)
    qualifier = declared.sql.partition(" ")[2]
    if declared.code == TypeCode.DATETIME:
        if qualifier == DATETIME_QUALIFIER:
            return sqltypes.DATETIME()
        if qualifier == TIME_QUALIFIER:
            return sqltypes.TIME()
        return TIME(qualifier) if qualifier.startswith("HOUR TO ") else DATETIME(qualifier)
    if declared.code == TypeCode.INTERVAL:
        return INTERVAL(qualifier)
    return DeclaredType(declared.sql)


# ---- keys, indexes, checks -------------------------------------------------------------------------------------------


def primary_keys(catalogue: Catalogue, table_filter: TableFilter) -> dict[str, dict[str, Any]]:
    """Return the primary key of each table that has one."""
    names = _column_names(catalogue, table_filter)
    return {
        key.table: {"constrained_columns": _column_list(names, key.tabid, key.columns), "name": key.name}
        for key in _keys(catalogue, table_filter, "P")
    }


def unique_constraints(catalogue: Catalogue, table_filter: TableFilter) -> dict[str, list[dict[str, Any]]]:
    """Return UNIQUE constraints by name."""
    names = _column_names(catalogue, table_filter)
    constraints: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key in _keys(catalogue, table_filter, "U"):
        columns_of_key = _column_list(names, key.tabid, key.columns)
        constraints[key.table].append({"name": key.name, "column_names": columns_of_key})
    return constraints


def foreign_keys(catalogue: Catalogue, table_filter: TableFilter) -> dict[str, list[dict[str, Any]]]:
    """Return foreign keys by name. ``referred_schema`` is the owner of the other table."""
    targets = {row[0]: row for row in catalogue.about(_REFERENCES, table_filter)}
    names = _column_names(catalogue, table_filter)
    known = {tabid for tabid, _ in names}
    names = {**names, **_names_of(catalogue, {row[5] for row in targets.values()} - known)}
    keys_by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key in _keys(catalogue, table_filter, "R"):
        if key.number not in targets:
            continue
        _, rule, _, owner, referred, other, *referred_parts = targets[key.number]
        keys_by_table[key.table].append(
            {
                "name": key.name,
                "constrained_columns": _column_list(names, key.tabid, key.columns),
                "referred_schema": owner,
                "referred_table": referred,
                "referred_columns": _column_list(names, other, referred_parts),
                "options": {"ondelete": "CASCADE"} if rule == "C" else {},
            }
        )
    return keys_by_table


def indexes(catalogue: Catalogue, table_filter: TableFilter) -> dict[str, list[dict[str, Any]]]:
    """Return indexes by name, without those that the server created for a constraint."""
    names = _column_names(catalogue, table_filter)
    of_constraints = {(key.tabid, key.index) for key in _keys(catalogue, table_filter, "PUR")}
    indexes_by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for _, table, tabid, name, _, kind, _, *parts in catalogue.about(_INDEXES, table_filter):
        # The server names an index that it creates itself " 100_1". No name of a user begins like that.
        its_own = (tabid, name) in of_constraints and name.lstrip().startswith(f"{tabid}_")
        places = [part for part in parts if part]
        if its_own or not places or not table_filter.has(table):
            continue
        index: dict[str, Any] = {
            "name": name,
            "unique": kind == "U",
            "column_names": _column_list(names, tabid, places),
        }
        sorting = {names[tabid, -part]: ("desc",) for part in places if part < 0}
        if sorting:
            index["column_sorting"] = sorting
        indexes_by_table[table].append(index)
    return indexes_by_table


def check_constraints(catalogue: Catalogue, table_filter: TableFilter) -> dict[str, list[dict[str, Any]]]:
    """Return CHECK constraints by name. The catalogue stores their texts in pieces."""
    condition, values = table_filter.condition()
    texts: dict[tuple[str, str], str] = defaultdict(str)
    for table, name, piece in catalogue.raw_rows(_CHECKS.format(condition=condition), values):
        texts[table.rstrip(" "), name.rstrip(" ")] += piece[:-1]  # the point kept the blanks at its end
    checks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (table, name), text in texts.items():
        if table_filter.has(table):
            checks[table].append({"name": name, "sqltext": _without_parentheses(text)})
    return checks


def _without_parentheses(text: str) -> str:
    """Return the condition of a CHECK's text, without the parentheses around it."""
    text = text.strip()
    if not text.startswith("("):
        return text
    depth, quote = 0, ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
            if not depth:
                return text[1:-1].strip() if place == len(text) - 1 else text
    return text


def _keys(catalogue: Catalogue, table_filter: TableFilter, kinds: str) -> list[KeyConstraint]:
    found = map(KeyConstraint.of_row, catalogue.about(_KEYS, table_filter))
    return [key for key in found if key.kind in kinds and table_filter.has(key.table)]


def _column_names(catalogue: Catalogue, table_filter: TableFilter) -> dict[tuple[int, int], str]:
    found = catalogue.about(_COLUMNS, table_filter)
    return {(tabid, number): name for tabid, number, name, *_ in found}


def _names_of(catalogue: Catalogue, tabids: Collection[int]) -> dict[tuple[int, int], str]:
    names: dict[tuple[int, int], str] = {}
    needed = sorted(tabids)
    for start in range(0, len(needed), _LIST):
        numbers = ", ".join(str(int(tabid)) for tabid in needed[start : start + _LIST])
        for tabid, number, name in catalogue.rows(queries.column_names_sql("", f"c.tabid IN ({numbers})")):
            names[tabid, number] = name
    return names


def _column_list(names: dict[tuple[int, int], str], tabid: int, parts: Iterable[int]) -> list[str]:
    return [names[tabid, abs(part)] for part in parts if part]
