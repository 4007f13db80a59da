"""The objects that depend on a table and are lost when it is dropped."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ..operations.io_steps import Exchange
from ..operations.open_database import query_rows
from ..operations.session import Session
from ..wire.describe import Column
from ..wire.errors import Error
from ..wire.plan_ops import arrow_type
from ..wire.types import ColumnType
from .target_table import bare_name, split_table

_KINDS = {"P": "primary key", "U": "unique constraint", "R": "foreign key", "C": "check"}
_EVENTS = {"I": "INSERT", "U": "UPDATE", "D": "DELETE", "S": "SELECT"}


def same_columns(columns: Sequence[Column], declared: Sequence[tuple[str, str, pa.DataType | None]]) -> bool:
    """Return whether a table has the given columns, in any order.

    A column matches if it has the declared type, or is read as the Arrow type that is given next to it.
    """
    types = {column.name.lower(): column.type for column in columns}
    if len(types) != len(columns) or {name.lower() for name, _, _ in declared} != types.keys():
        return False
    return all(_same_type(types[name.lower()], text, arrow) for name, text, arrow in declared)


def _same_type(ct: ColumnType, text: str, arrow: pa.DataType | None) -> bool:
    if ct.sql.upper() == text.upper():
        return True
    if arrow is None or ct.is_large_object or ct.is_complex:
        return False
    return bool(_canonical_type(arrow_type(ct)) == _canonical_type(arrow))


def _canonical_type(arrow: pa.DataType) -> pa.DataType:
    """Return one type for all layouts of text and all units of timestamps."""
    while pa.types.is_dictionary(arrow):
        arrow = arrow.value_type
    if pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow):
        return pa.utf8()
    if pa.types.is_timestamp(arrow) and arrow.tz is None:
        return pa.timestamp("us")
    return arrow


def referring_foreign_keys(session: Session, table: str) -> Exchange[list[str]]:
    """Return the foreign keys of other tables that refer to a table, as ``constraint of table``."""
    catalog, where = _catalog_location(table)
    rows = yield from _rows(
        session,
        f"SELECT c.constrname, o.tabname FROM {catalog}systables t, {catalog}sysreferences r, "
        f"{catalog}sysconstraints c, {catalog}systables o WHERE {where} AND r.ptabid = t.tabid "
        "AND c.constrid = r.constrid AND o.tabid = c.tabid AND o.tabid <> t.tabid",
    )
    return [f"{_text(name)} of {_text(other)}" for name, other in rows]


def dependencies_of(session: Session, table: str, columns: Sequence[Column]) -> Exchange[list[str]]:
    """Return keys, indexes, defaults, grants and triggers of a table as texts. NOT NULL is part of a column."""
    catalog, where = _catalog_location(table)
    dependencies: list[str] = []
    parts = ", ".join(f"i.part{number}" for number in range(1, 17))

    def rows_about_table(columns: str, source: str) -> Exchange[list[tuple[object, ...]]]:
        """Read a table of the catalogue. The last letter of ``source`` is its alias."""
        sql = f"SELECT {columns} FROM {catalog}systables t, {catalog}{source} WHERE {where}"
        return _rows(session, f"{sql} AND {source[-1]}.tabid = t.tabid")

    rows = yield from rows_about_table("c.constrtype, c.constrname, c.idxname", "sysconstraints c")
    key_indexes = {_text(index) for _, _, index in rows}  # not listed: the constraints are
    dependencies += [
        f"{_KINDS[_text(kind)]} {_text(name)}" for kind, name, _ in rows if _text(kind) in _KINDS
    ]
    rows = yield from rows_about_table(f"i.idxname, {parts}", "sysindexes i")
    for name, *numbers in rows:
        names = [_column(columns, number) for number in numbers if isinstance(number, int) and number]
        if _text(name) not in key_indexes:
            dependencies.append(f"index {_text(name)} ({', '.join(names)})")
    rows = yield from rows_about_table("d.colno, d.type", "sysdefaults d")
    dependencies += [
        f"default of {_column(columns, number)}" for number, _ in rows if isinstance(number, int)
    ]
    rows = yield from rows_about_table("a.grantee, a.tabauth, t.owner", "systabauth a")
    dependencies += [
        f"grant to {_text(who)} ({_text(what)})" for who, what, owner in rows if _text(who) != _text(owner)
    ]
    rows = yield from rows_about_table("g.event, g.trigname", "systriggers g")
    dependencies += [
        f"trigger {_text(name)} ({_EVENTS.get(_text(event).upper(), 'event')})" for event, name in rows
    ]
    return dependencies


def views_and_synonyms(session: Session, table: str) -> Exchange[set[str]]:
    """Return all views and synonyms of a table's database.

    Those that a DROP TABLE removed are the difference between before and after.
    """
    catalog, _ = _catalog_location(table)
    rows = yield from _rows(
        session,
        f"SELECT tabtype, owner, tabname FROM {catalog}systables WHERE tabid >= 100 AND tabtype IN ('V', 'S', 'P')",
    )
    return {
        f"{'view' if _text(kind) == 'V' else 'synonym'} {_text(name)} of {_text(owner)}"
        for kind, owner, name in rows
    }


def _rows(session: Session, sql: str) -> Exchange[list[tuple[object, ...]]]:
    """Return the rows of a catalog query. No rows if the server has no such catalog table."""
    try:
        return list((yield from query_rows(session, sql)))
    except Error as error:
        if error.sqlcode not in (-206, -217) or not session.usable_after(error):
            raise
        return []


def _catalog_location(table: str) -> tuple[str, str]:
    """Return the prefix of the catalog that knows a table, and the condition that finds it there as ``t``."""
    database, owner = split_table(table)
    owned = f" AND t.owner = '{owner}'" if owner else ""
    name = bare_name(table).replace("'", "''")
    return (f"{database}:" if database else ""), f"t.tabname = '{name}'{owned}"


def _text(value: object) -> str:
    return str(value).strip()


def _column(columns: Sequence[Column], number: int) -> str:
    at = abs(number)
    return columns[at - 1].name if 1 <= at <= len(columns) else f"column {at}"
