"""ADBC's metadata calls: GetObjects in its nested schema, table types, driver information."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import pyarrow as pa

from ..ingest.target_table import describe_table
from ..operations.io_steps import Exchange
from ..operations.session import Session
from ..wire.describe import compile_plan
from ..wire.errors import InterfaceError
from ..wire.qualifiers import Qualifier
from ..wire.types import ColumnType, TypeCode
from . import queries as q
from .catalog import CONSTRAINT_TYPES, SERIALS, precision, text_width
from .schemas import OBJECTS
from .table_names import TableName, catalogue, check_texts

Depth = Literal["all", "catalogs", "db_schemas", "tables", "columns"]
_DEPTHS = ("catalogs", "db_schemas", "tables", "columns")

# Numbers of SQL types in ODBC and JDBC; ODBC has additional numbers for datetimes.
_XDBC: dict[int, int] = {
    TypeCode.CHAR: 1, TypeCode.NCHAR: -15, TypeCode.VARCHAR: 12, TypeCode.NVARCHAR: -9, TypeCode.LVARCHAR: -1,
    TypeCode.SMALLINT: 5, TypeCode.INTEGER: 4, TypeCode.SERIAL: 4, TypeCode.BIGINT: -5, TypeCode.BIGSERIAL: -5,
    TypeCode.INT8: -5, TypeCode.SERIAL8: -5, TypeCode.FLOAT: 8, TypeCode.SMALLFLOAT: 7, TypeCode.DECIMAL: 3,
    TypeCode.MONEY: 3, TypeCode.DATE: 91, TypeCode.DATETIME: 93, TypeCode.INTERVAL: 1111, TypeCode.BYTE: -4,
    TypeCode.TEXT: -1, TypeCode.BOOL: 16, TypeCode.SET: 2003, TypeCode.MULTISET: 2003, TypeCode.LIST: 2003,
    TypeCode.COLLECTION: 2003, TypeCode.ROW: 2002,
}  # fmt: skip
_XDBC_OTHER, _TIME, _BOOLEAN, _LONG_TEXT, _LONG_BYTES, _BLOB, _CLOB = 1111, 92, 16, -1, -4, 2004, 2005
_DATETIME_GROUP = 9  # SQL_DATETIME; the subcode says which
_DATETIME_SUB = {91: 1, 92: 2, 93: 3}

# pandas passes SQL text as a table's name; no table has such a name.
_STATEMENT = re.compile(r"[\s(]*(SELECT|WITH|EXECUTE|CALL|VALUES)[\s(*].*", re.IGNORECASE | re.DOTALL)


@q.reads_catalogue
def get_objects(
    session: Session,
    *,
    depth: Depth = "all",
    catalog_filter: str | None = None,
    db_schema_filter: str | None = None,
    table_name_filter: str | None = None,
    table_types_filter: Sequence[str] | None = None,
    column_name_filter: str | None = None,
) -> Exchange[pa.RecordBatchReader]:
    """Read the nested schema of objects: :meth:`Metadata.adbc_get_objects`."""
    if depth not in ("all", *_DEPTHS):
        raise InterfaceError(f"depth must be all, {', '.join(_DEPTHS)}, got {depth!r}.")
    level = len(_DEPTHS) - 1 if depth == "all" else _DEPTHS.index(depth)
    check_texts(
        catalog_filter=catalog_filter,
        db_schema_filter=db_schema_filter,
        table_name_filter=table_name_filter,
        column_name_filter=column_name_filter,
    )
    types = (
        None if table_types_filter is None else [kind.upper() for kind in q.type_names(table_types_filter)]
    )
    if table_name_filter is not None and _STATEMENT.fullmatch(table_name_filter):
        return _reader([])
    names = yield from catalog_names(session)
    matches = like_matcher(catalog_filter)
    catalogs: list[dict[str, Any]] = []
    for name in filter(matches, names):
        # Other databases are read only if the filter names them: reading needs a privilege in each of them.
        inside = level > 0 and (name == session.database or catalog_filter is not None)
        schemas = (
            (
                yield from _schemas(
                    session,
                    "" if name == session.database else name,
                    name,
                    level,
                    db_schema_filter,
                    table_name_filter,
                    types,
                    column_name_filter,
                )
            )
            if inside
            else (None if level == 0 else [])
        )
        catalogs.append({"catalog_name": name, "catalog_db_schemas": schemas})
    return _reader(catalogs)


def catalog_names(session: Session) -> Exchange[list[str]]:
    """Return the names of the server's databases."""
    found = yield from q.rows_of(session, "SELECT d.name FROM sysmaster:sysdatabases d ORDER BY 1")
    names = [str(name) for (name,) in found]
    if session.database and session.database not in names:
        names.append(session.database)  # opened as database@server
    return names


def _reader(catalogs: list[dict[str, Any]]) -> pa.RecordBatchReader:
    batch = pa.RecordBatch.from_pylist(catalogs, OBJECTS)
    return pa.RecordBatchReader.from_batches(OBJECTS, [batch])


def _schemas(
    session: Session,
    database: str,
    catalog: str,
    level: int,
    owner_filter: str | None,
    name_filter: str | None,
    types: Sequence[str] | None,
    column_filter: str | None,
) -> Exchange[list[dict[str, Any]]]:
    owner_matches, name_matches = like_matcher(owner_filter), like_matcher(name_filter)
    column_matches = like_matcher(column_filter)
    owners = [owner for owner in (yield from q.owners(session, database)) if owner_matches(owner)]
    if level == 1:
        return [{"db_schema_name": owner, "db_schema_tables": None} for owner in owners]
    # A catalogue may have thousands of tables, so LIKE preselects them. It matches at least the names that the filter
    # matches, except for a backslash, which LIKE takes for an escape.
    by_name = name_filter is not None and "\\" not in name_filter
    all_tables = yield from q.named_tables(
        session, database, "t.tabname LIKE ?" if by_name else "", (name_filter,) if by_name else ()
    )
    selected = [
        table
        for table in all_tables
        if owner_matches(table.owner) and name_matches(table.name) and (types is None or table.type in types)
    ]
    columns: dict[int, list[dict[str, Any]]] = {}
    constraints: dict[int, list[dict[str, Any]]] = {}
    if level == 3 and selected:
        is_everything = not by_name and len(selected) == len(all_tables)
        condition, values = _condition(selected, all_of_them=is_everything)
        for column in (yield from q.columns(session, database, condition, values)):
            if column_matches(column.name):
                columns.setdefault(column.tabid, []).append(_column(column))
        constraints = yield from _constraints(session, database, catalog, condition, values)
    return [
        {
            "db_schema_name": owner,
            "db_schema_tables": [
                {
                    "table_name": table.name,
                    "table_type": table.type,
                    "table_columns": columns.get(table.tabid, []) if level == 3 else None,
                    "table_constraints": constraints.get(table.tabid, []) if level == 3 else None,
                }
                for table in selected
                if table.owner == owner
            ],
        }
        for owner in owners
    ]


_SHORT_LIST = 50


def _condition(tables: list[q.NamedTable], *, all_of_them: bool) -> tuple[str, tuple[int, ...]]:
    """Return a condition that the tables meet: a list if they are few, else a range that includes other tables."""
    if len(tables) < _SHORT_LIST and not all_of_them:
        return f"t.tabid IN ({', '.join(str(int(table.tabid)) for table in tables)})", ()
    return "t.tabid >= ?", (min(table.tabid for table in tables),)


def _constraints(
    session: Session, database: str, catalog: str, condition: str, values: Sequence[object]
) -> Exchange[dict[int, list[dict[str, Any]]]]:
    keys = yield from q.keys(session, database, condition, values)
    checks = yield from q.checks(session, database, condition, values)
    targets = yield from q.references(session, database, condition, values)
    tabids = {key.tabid for key in keys} | {target.tabid for target in targets.values()}
    names = yield from q.column_names(session, database, tabids)
    constraints: dict[int, list[dict[str, Any]]] = {}
    for key in (*keys, *checks):
        target = targets.get(key.number)
        usage = target and [
            {
                "fk_catalog": catalog,
                "fk_db_schema": target.owner,
                "fk_table": target.table,
                "fk_column_name": names.get((target.tabid, number), ""),
            }
            for number in target.columns
        ]
        constraints.setdefault(key.tabid, []).append(
            {
                "constraint_name": key.name,
                "constraint_type": CONSTRAINT_TYPES.get(key.kind, key.kind),
                "constraint_column_names": [names.get((key.tabid, number), "") for number in key.columns],
                "constraint_column_usage": usage or [],
            }
        )
    return constraints


def _column(column: q.TableColumn) -> dict[str, Any]:
    t = column.type
    kind = xdbc_type(t)
    digits, scale = precision(t)
    sub = _DATETIME_SUB.get(kind)
    return {
        "column_name": column.name,
        "ordinal_position": column.number,
        "remarks": None,
        "xdbc_data_type": kind,
        "xdbc_type_name": t.sql,
        "xdbc_column_size": digits if digits is not None else text_width(t),
        "xdbc_decimal_digits": scale,
        "xdbc_num_prec_radix": 10 if digits is not None else None,
        "xdbc_nullable": 0 if t.not_null else 1,
        "xdbc_column_def": column.default,
        "xdbc_sql_data_type": kind if sub is None else _DATETIME_GROUP,
        "xdbc_datetime_sub": sub,
        "xdbc_char_octet_length": text_width(t),
        "xdbc_is_nullable": "NO" if t.not_null else "YES",
        "xdbc_scope_catalog": None,
        "xdbc_scope_schema": None,
        "xdbc_scope_table": None,
        "xdbc_is_autoincrement": t.code in SERIALS,
        "xdbc_is_generatedcolumn": False,
    }


def xdbc_type(t: ColumnType) -> int:
    """Return the number of a type in ODBC and JDBC, or 1111, OTHER, if there is none."""
    if t.is_boolean:
        return _BOOLEAN
    if t.is_lvarchar or t.is_json:
        return _LONG_TEXT
    if t.is_bson:
        return _LONG_BYTES
    if t.is_blob or t.is_clob:
        return _BLOB if t.is_blob else _CLOB
    if t.code == TypeCode.DATETIME:
        try:
            names = Qualifier.from_encoded(t.encoded_length).field_names
        except ValueError:  # the catalogue has an invalid qualifier
            return _XDBC_OTHER
        if names[0] == "HOUR":
            return _TIME
        if names[0] != "YEAR":
            return _XDBC_OTHER
        return 91 if names == ("YEAR", "MONTH", "DAY") else 93
    return _XDBC.get(t.code, _XDBC_OTHER)


def table_schema(
    session: Session, table_name: str, catalog_filter: str | None, db_schema_filter: str | None
) -> Exchange[pa.Schema]:
    """Read the Arrow schema of a table: :meth:`Metadata.adbc_get_table_schema`."""
    check_texts(catalog_filter=catalog_filter, db_schema_filter=db_schema_filter)
    name = TableName.parse(table_name)
    database = name.database or catalog_filter or ""
    catalogue(database)  # raises if it is not a database name
    prefix = f"{database}:" if database else ""
    owner = name.owner or db_schema_filter or ""
    written = table_name.strip()[len(name.database) + 1 if name.database else 0 :]
    if name.owner or not owner:
        target = written
    else:
        target = f"'{owner.replace(chr(39), chr(39) * 2)}'.{written}"
    columns = yield from describe_table(session, f"{prefix}{target}")
    return compile_plan(columns).schema


@q.reads_catalogue
def info(session: Session) -> Exchange[dict[str | int, Any]]:
    """Read names and versions: :meth:`Metadata.adbc_get_info`."""
    ((text,),) = yield from q.rows_of(
        session, "SELECT DBINFO('version', 'full') FROM informix.systables WHERE tabid = 1"
    )
    try:
        driver_version = version("informix-arrow")
    except PackageNotFoundError:  # it runs from its source tree
        driver_version = "unknown"
    return {
        "vendor_name": "Informix",
        "vendor_version": str(text),
        "vendor_sql": True,
        "vendor_substrait": False,
        "driver_name": "informix-arrow",
        "driver_version": driver_version,
        "driver_arrow_version": pa.__version__,
        "driver_adbc_version": 1_001_000,
    }


def table_types() -> list[str]:
    """Return the table types that :func:`get_objects` knows."""
    return [*q.TABLE_TYPES.values(), q.SYSTEM_TABLE]


def like_matcher(pattern: str | None) -> Any:
    """Return a function that tests names against an ADBC filter, a case-sensitive LIKE pattern.

    ``%`` stands for any text and ``_`` for any character. None matches everything.
    """
    if pattern is None:
        return lambda name: True
    parts = {"%": ".*", "_": "."}
    compiled = re.compile("".join(parts.get(ch, re.escape(ch)) for ch in pattern), re.DOTALL)
    return lambda name: compiled.fullmatch(name) is not None
