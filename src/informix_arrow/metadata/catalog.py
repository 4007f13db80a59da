"""The operations behind the metadata methods. Each returns one Arrow table of :mod:`.schemas`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import pyarrow as pa

from ..operations.io_steps import Exchange
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
_BY_NUMBER = "t.tabid = ?"


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
def columns(session: Session, table: TableName) -> Exchange[pa.Table]:
    """Read the columns of a table: :meth:`Metadata.columns`."""
    described = yield from q.find_table(session, table)
    found = yield from q.columns(session, table.database, _BY_NUMBER, (described.tabid,))
    catalog = table.database or session.database
    return schemas.table(
        schemas.COLUMNS,
        (
            (
                catalog,
                described.owner,
                described.name,
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
def primary_key(session: Session, table: TableName) -> Exchange[pa.Table]:
    """Read the primary key of a table: :meth:`Metadata.primary_key`."""
    described = yield from q.find_table(session, table)
    found = yield from q.keys(session, table.database, _BY_NUMBER, (described.tabid,))
    names = yield from q.column_names(session, table.database, (described.tabid,))
    catalog = table.database or session.database
    return schemas.table(
        schemas.PRIMARY_KEY,
        (
            (catalog, described.owner, described.name, key.name, names.get((key.tabid, number)), place)
            for key in found
            if key.kind == "P"
            for place, number in enumerate(key.columns, 1)
        ),
    )


@q.reads_catalogue
def foreign_keys(session: Session, table: TableName) -> Exchange[pa.Table]:
    """Read the foreign keys of a table: :meth:`Metadata.foreign_keys`."""
    described = yield from q.find_table(session, table)
    found = yield from q.keys(session, table.database, _BY_NUMBER, (described.tabid,))
    targets = yield from q.references(session, table.database, _BY_NUMBER, (described.tabid,))
    tabids = {described.tabid, *(target.tabid for target in targets.values())}
    names = yield from q.column_names(session, table.database, tabids)
    catalog = table.database or session.database
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
                    described.owner,
                    described.name,
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
def indexes(session: Session, table: TableName) -> Exchange[pa.Table]:
    """Read the indexes of a table: :meth:`Metadata.indexes`."""
    described = yield from q.find_table(session, table)
    found = yield from q.indexes(session, table.database, described.tabid)
    served = yield from q.keys(session, table.database, _BY_NUMBER, (described.tabid,))
    names = yield from q.column_names(session, table.database, (described.tabid,))
    constraints = {key.index: key for key in served}
    catalog = table.database or session.database
    rows = []
    for index in found:
        key = constraints.get(index.name)
        for place, part in enumerate(index.column_numbers or (0,), 1):
            rows.append(
                (
                    catalog,
                    described.owner,
                    described.name,
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
def fragments(session: Session, table: TableName) -> Exchange[pa.Table]:
    """Read the fragments of a table: :meth:`Metadata.fragments`."""
    described = yield from q.find_table(session, table)
    found = yield from q.rows_of(
        session,
        "SELECT f.fragtype, f.indexname, f.partition, f.dbspace, f.evalpos, f.strategy, f.exprtext, f.partn, f.nrows, "
        f"f.npused FROM {catalogue(table.database)}sysfragments f WHERE f.tabid = ? ORDER BY 1, 2, 5",
        described.tabid,
    )
    catalog = table.database or session.database
    return schemas.table(
        schemas.FRAGMENTS,
        (
            (
                catalog,
                described.owner,
                described.name,
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
            for kind, index, partition, dbspace, position, strategy, text, number, rows, pages in found
        ),
    )


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
