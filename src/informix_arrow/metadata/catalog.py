"""The operations behind the metadata methods. Each returns one Arrow table of :mod:`.schemas`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pyarrow as pa

from ..operations.io_steps import Exchange
from ..operations.prepare import prepare_ahead
from ..operations.session import Session
from ..wire.describe import Column, compile_plan
from ..wire.errors import NotSupportedError, ProtocolError
from ..wire.types import ColumnType, TypeCode
from . import queries as q
from . import schemas
from .catalog_types import NO_EXTENDED, needs_catalogue
from .table_names import TableName, catalogue, check_texts

SERIALS = (TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL)
CONSTRAINT_TYPES = {"P": "PRIMARY KEY", "U": "UNIQUE", "R": "FOREIGN KEY", "C": "CHECK"}
_LOCK_LEVELS = {"P": "PAGE", "B": "PAGE", "R": "ROW", "T": "TABLE"}
_STRATEGIES = {
    "R": "ROUND ROBIN",
    "E": "EXPRESSION",
    "N": "INTERVAL",
    "L": "LIST",
    "I": "IN DBSPACE",
    "T": "TABLE",
    "H": "HIERARCHY",
}


@q.reads_catalogue
def tables(
    session: Session, pattern: str | None, owner: str | None, types: Sequence[str] | None, database: str
) -> Exchange[pa.Table]:
    """Read the tables, views and synonyms: :meth:`Metadata.tables`."""
    check_texts(pattern=pattern, owner=owner, database=database)
    is_selected = q.type_filter(types, (*q.TABLE_TYPES.values(), q.SYSTEM_TABLE))
    where, values = ("LOWER(t.tabname) LIKE ?", (pattern.lower(),)) if pattern else ("", ())
    found = yield from q.tables(session, database, where, values)
    catalog = database or session.database
    return schemas.table(
        schemas.TABLES,
        (
            (
                catalog,
                each.owner,
                each.name,
                each.type,
                each.tabid,
                each.created,
                each.columns,
                each.indexes,
                each.row_size,
                None if each.rows is None else int(each.rows),
                _LOCK_LEVELS.get(each.lock_level),
            )
            for each in found
            if is_selected(each.type) and (owner is None or each.owner.lower() == owner.lower())
        ),
    )


@q.reads_catalogue
def columns(session: Session, table: TableName | None) -> Exchange[pa.Table]:
    """Read the columns of a table, or of all: :meth:`Metadata.columns`."""
    scope = yield from _scope(session, table)
    found = yield from q.columns(session, scope.database, scope.condition, scope.values)
    catalog = scope.database or session.database
    return schemas.table(
        schemas.COLUMNS,
        (
            (
                catalog,
                each.owner,
                each.table,
                each.name,
                each.number,
                each.type.sql,
                not each.type.not_null,
                each.default,
                each.type.code in SERIALS,
                text_width(each.type),
                *precision(each.type),
                arrow_name(each.type),
                each.type.code,
                each.type.encoded_length,
                each.type.extended_id,
            )
            for each in found
        ),
    )


@q.reads_catalogue
def primary_key(session: Session, table: TableName | None) -> Exchange[pa.Table]:
    """Read the primary key of a table, or of all: :meth:`Metadata.primary_key`."""
    scope = yield from _scope(session, table)
    yield from prepare_ahead(session, (q.keys_sql(scope.database, scope.condition), scope.names_sql))
    found = yield from q.keys(session, scope.database, scope.condition, scope.values)
    names = yield from scope.column_names(session)
    catalog = scope.database or session.database
    return schemas.table(
        schemas.PRIMARY_KEY,
        (
            (catalog, key.owner, key.table, key.name, names.get((key.tabid, number)), place)
            for key in found
            if key.kind == "P"
            for place, number in enumerate(key.columns, 1)
        ),
    )


@q.reads_catalogue
def foreign_keys(session: Session, table: TableName | None) -> Exchange[pa.Table]:
    """Read the foreign keys of a table, or of all: :meth:`Metadata.foreign_keys`."""
    scope = yield from _scope(session, table)
    yield from prepare_ahead(
        session,
        (
            q.keys_sql(scope.database, scope.condition),
            q.references_sql(scope.database, scope.condition),
            scope.names_sql,
        ),
    )
    found = yield from q.keys(session, scope.database, scope.condition, scope.values)
    targets = yield from q.references(session, scope.database, scope.condition, scope.values)
    names = yield from scope.column_names(session)
    others = {target.tabid for target in targets.values()} - {tabid for tabid, _ in names}
    names = {**names, **(yield from q.column_names(session, scope.database, others))}
    catalog = scope.database or session.database
    rows = []
    for key in found:
        target = targets.get(key.number)
        if key.kind != "R" or target is None:
            continue
        # The columns of both keys correspond by position.
        for place, (number, other) in enumerate(zip_longest(key.columns, target.columns), 1):
            rows.append(
                (
                    catalog,
                    key.owner,
                    key.table,
                    key.name,
                    names.get((key.tabid, number)),
                    place,
                    target.owner,
                    target.table,
                    names.get((target.tabid, other)),
                    target.constraint,
                    target.delete_rule,
                )
            )
    return schemas.table(schemas.FOREIGN_KEYS, rows)


@q.reads_catalogue
def indexes(session: Session, table: TableName | None) -> Exchange[pa.Table]:
    """Read the indexes of a table, or of all: :meth:`Metadata.indexes`."""
    scope = yield from _scope(session, table)
    yield from prepare_ahead(
        session,
        (
            q.indexes_sql(scope.database, scope.condition),
            q.keys_sql(scope.database, scope.condition),
            scope.names_sql,
        ),
    )
    found = yield from q.indexes(session, scope.database, scope.condition, scope.values)
    served = yield from q.keys(session, scope.database, scope.condition, scope.values)
    names = yield from scope.column_names(session)
    constraints = {(key.tabid, key.index): key for key in served}
    catalog = scope.database or session.database
    rows = []
    for index in found:
        key = constraints.get((index.tabid, index.name))
        for place, part in enumerate(index.column_numbers or (0,), 1):
            rows.append(
                (
                    catalog,
                    index.table_owner,
                    index.table,
                    index.owner,
                    index.name.strip(),  # a generated name begins with a blank
                    index.unique,
                    index.clustered,
                    names.get((index.tabid, abs(part))),
                    place,
                    "DESC" if part < 0 else "ASC",
                    key.name if key else None,
                    CONSTRAINT_TYPES.get(key.kind, key.kind) if key else None,
                )
            )
    return schemas.table(schemas.INDEXES, rows)


@q.reads_catalogue
def fragments(session: Session, table: TableName | None) -> Exchange[pa.Table]:
    """Read the fragments of a table, or of all: :meth:`Metadata.fragments`."""
    scope = yield from _scope(session, table)
    p = catalogue(scope.database)
    found = yield from q.rows_of(
        session,
        "SELECT t.owner, t.tabname, f.tabid, f.fragtype, f.indexname, f.partition, f.dbspace, f.evalpos, f.strategy, "
        f"f.exprtext, f.partn, f.nrows, f.npused FROM {p}systables t, {p}sysfragments f WHERE f.tabid = t.tabid "
        f"AND {scope.condition} ORDER BY 3, 4, 5, 8",
        *scope.values,
    )
    catalog = scope.database or session.database
    return schemas.table(
        schemas.FRAGMENTS,
        (
            (
                catalog,
                owner,
                name,
                "INDEX" if kind == "I" else "TABLE",
                index or None,
                partition or None,
                dbspace or None,
                position,
                _STRATEGIES.get(strategy, strategy),
                text.strip() if text else None,
                number,
                _to_integer(rows),
                _to_integer(pages),
            )
            for owner, name, _, kind, index, partition, dbspace, position, strategy, text, number, rows, pages in found
        ),
    )


@dataclass(frozen=True, slots=True)
class _Scope:
    """The tables that a method reads: the one that was named, or all of the users' tables."""

    database: str
    tabid: int | None

    def condition_on(self, alias: str) -> str:
        """Return the condition on the ``tabid`` of a table of the catalogue."""
        return f"{alias}.tabid = ?" if self.tabid is not None else f"{alias}.tabid >= ?"

    @property
    def condition(self) -> str:
        """The condition on systables as ``t``."""
        return self.condition_on("t")

    @property
    def values(self) -> tuple[int, ...]:
        """The value of the condition."""
        return (q.FIRST_USER_TABLE if self.tabid is None else self.tabid,)

    @property
    def names_sql(self) -> str:
        """The query of names of columns."""
        return q.column_names_sql(self.database, self.condition_on("c"))

    def column_names(self, session: Session) -> Exchange[dict[tuple[int, int], str]]:
        """Return the names of columns by table and number."""
        found = yield from q.rows_of(session, self.names_sql, *self.values)
        return {(tabid, number): name for tabid, number, name in found}


def _scope(session: Session, table: TableName | None) -> Exchange[_Scope]:
    if table is None:
        return _Scope("", None)
    described = yield from q.find_table(session, table)
    return _Scope(table.database, described.tabid)


_INPUT, _INOUT, _MANY_RETURNED, _OUT, _RETURNED = 1, 2, 3, 4, 5  # paramattr of sysproccolumns


@q.reads_catalogue
def procedures(session: Session, pattern: str | None, database: str) -> Exchange[pa.Table]:
    """Read the procedures and functions: :meth:`Metadata.procedures`."""
    check_texts(pattern=pattern, database=database)
    p = catalogue(database)
    where, values = (" WHERE LOWER(r.procname) LIKE ?", (pattern.lower(),)) if pattern else ("", ())
    found = yield from q.rows_of(
        session,
        "SELECT r.procid, r.owner, r.procname, r.isproc, r.numargs, r.mode "
        f"FROM {p}sysprocedures r{where} ORDER BY 2, 3, 1",
        *values,
    )
    # Built-in routines have a mode in lower case.
    found = [row for row in found if not (row[5] or "").islower()]
    arguments: dict[int, list[q.Row]] = {}
    argument_rows = None
    if found:
        argument_rows = yield from q.rows_if_exists(
            session,
            q.rows_of(
                session,
                "SELECT a.procid, a.paramid, a.paramname, a.paramtype, a.paramlen, a.paramxid, a.paramattr "
                f"FROM {p}sysproccolumns a, {p}sysprocedures r WHERE a.procid = r.procid"
                f"{where.replace(' WHERE', ' AND')} ORDER BY 1, 2",
                *values,
            ),
        )
    extended = NO_EXTENDED
    if any(needs_catalogue(row[5] or 0) for row in argument_rows or ()):
        extended = yield from q.type_catalogue(session, database)
    for row in argument_rows or ():
        arguments.setdefault(row[0], []).append(row)

    def listed(procid: int, kinds: tuple[int, ...]) -> str | None:
        if argument_rows is None:
            return None
        parts = []
        for _, _, name, word, length, extended_id, attribute in arguments.get(procid, ()):
            if attribute in kinds:
                mode = {_INOUT: "INOUT ", _OUT: "OUT "}.get(attribute, "")
                t = extended.column_type(word, length, extended_id or 0)
                parts.append(f"{mode}{name or ''} {t.sql}".strip())
        return ", ".join(parts)

    catalog = database or session.database
    return schemas.table(
        schemas.PROCEDURES,
        (
            (
                catalog,
                owner,
                name,
                "PROCEDURE" if isproc in ("t", "T", True) else "FUNCTION",
                procid,
                count,
                listed(procid, (_INPUT, _INOUT, _OUT)),
                listed(procid, (_RETURNED, _MANY_RETURNED)),
            )
            for procid, owner, name, isproc, count, _ in found
        ),
    )


@q.reads_catalogue
def databases(session: Session) -> Exchange[pa.Table]:
    """Read the databases: :meth:`Metadata.databases`."""
    found = yield from q.rows_of(
        session,
        "SELECT d.name, d.owner, d.created, d.is_logging, d.is_buff_log, d.is_ansi FROM sysmaster:sysdatabases d "
        "ORDER BY 1",
    )
    locales = yield from q.rows_if_exists(
        session, q.rows_of(session, "SELECT l.dbs_dbsname, l.dbs_collate FROM sysmaster:sysdbslocale l")
    )
    locale_by_database: dict[Any, Any] = dict(locales or ())
    return schemas.table(
        schemas.DATABASES,
        (
            (name, owner, created, bool(logged), bool(buffered), bool(ansi), locale_by_database.get(name))
            for name, owner, created, logged, buffered, ansi in found
        ),
    )


def precision(t: ColumnType) -> tuple[int | None, int | None]:
    """Return the decimal digits of an exact number, and the digits after the point."""
    if t.precision is not None:
        return t.precision, t.scale
    digits_by_code: dict[int, int] = {
        TypeCode.SMALLINT: 5,
        TypeCode.INTEGER: 10,
        TypeCode.SERIAL: 10,
        TypeCode.BIGINT: 19,
        TypeCode.BIGSERIAL: 19,
        TypeCode.INT8: 19,
        TypeCode.SERIAL8: 19,
    }
    digits = digits_by_code.get(t.code)
    return digits, None if digits is None else 0


def text_width(t: ColumnType) -> int | None:
    """Return the maximum bytes of a value of a character type."""
    return t.content_width or None if not (t.is_complex or t.is_json) else None


def arrow_name(t: ColumnType) -> str | None:
    """Return the name of the Arrow type that reading gives."""
    try:
        return str(compile_plan((Column("", t),)).schema.field(0).type)
    except (NotSupportedError, ProtocolError):  # ProtocolError: the catalogue has an invalid type
        return None


def _to_integer(number: float | None) -> int | None:
    return None if number is None else int(number)
